//! The nodes that the tries of all modes share: a command that many modes have leads through the same
//! places in each of them, so that of 14,000 nodes 2,700 are different.

use std::hash::BuildHasher as _;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::grammar::trie::{Draft, Node, NodeId};

/// The nodes behind the roots, each of them different.
#[derive(Default)]
pub(super) struct SharedNodes {
    nodes: Vec<Node>,
    /// Places of the nodes by what they hold.
    known: HashTable<NodeId>,
    hasher: DefaultHashBuilder,
}

impl SharedNodes {
    /// Takes the nodes of a trie over; returns its root.
    pub(super) fn share(&mut self, draft: Draft) -> Node {
        let mut nodes = draft.into_nodes();
        let mut places = vec![NodeId::ROOT; nodes.len()];
        // What leads back to a node needs its place before the node is known, so nobody shares that node.
        let mut leads_back = vec![false; nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            for target in node.targets().map(NodeId::index).filter(|target| *target <= index) {
                leads_back[target] = true;
            }
        }
        for (place, _) in places.iter_mut().zip(&leads_back).filter(|(_, leads_back)| **leads_back)
        {
            *place = self.enter(Node::default());
        }
        // All else leads to nodes that were added later.
        for index in (1..nodes.len()).rev() {
            let node = moved(std::mem::take(&mut nodes[index]), &places);
            if leads_back[index] {
                self.nodes[places[index].index() - 1] = node;
            } else {
                places[index] = self.place_of(node);
            }
        }
        moved(std::mem::take(&mut nodes[0]), &places)
    }

    /// All nodes, for the tries.
    pub(super) fn finish(self) -> Arc<[Node]> {
        self.nodes.into()
    }

    /// Where a node is, or is from now on.
    fn place_of(&mut self, node: Node) -> NodeId {
        let hash = self.hasher.hash_one(&node);
        let nodes = &self.nodes;
        if let Some(place) = self.known.find(hash, |place| nodes[place.index() - 1] == node) {
            return *place;
        }
        let place = self.enter(node);
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        let hash_of = |place: &NodeId| hasher.hash_one(&nodes[place.index() - 1]);
        self.known.insert_unique(hash, place, hash_of);
        place
    }

    fn enter(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId::at(self.nodes.len())
    }
}

/// A node that leads to the new places of what it has led to.
fn moved(mut node: Node, places: &[NodeId]) -> Node {
    for target in node.targets_mut() {
        *target = places[target.index()];
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::trie::Step;
    use crate::grammar::{FILES, Grammar, ModeId};

    const TEXT: &str = "
mode user    prompt \"{host}>\"
mode config  prompt \"{host}(config)#\" root

in any

touch {all [<seconds:5-9>] | <entry:prefix>...}
    touch       Touch something
    all         Everything
    <seconds>   How long
    <entry>     One of them
    = level accepted

in config

touch none
    none        Nothing
    = level accepted
";

    /// What may stand behind words, in each of the two modes.
    fn behind<'a>(grammar: &'a Grammar, words: &str) -> [&'a Node; 2] {
        [ModeId(0), ModeId(1)].map(|mode| {
            let trie = grammar.trie(mode);
            let place = words.split(' ').fold(NodeId::ROOT, |place, word| {
                match trie.step(place, word, false, &grammar.choices) {
                    Step::Word(next) | Step::Value(next, _) => next,
                    other => panic!("{words}: {word} is {other:?}"),
                }
            });
            trie.node(place)
        })
    }

    fn grammar() -> Grammar {
        let messages = FILES.iter().find(|(name, _)| *name == "messages").unwrap();
        Grammar::load(&[*messages, ("test.grammar", TEXT)]).unwrap()
    }

    #[test]
    fn what_is_alike_is_there_once() {
        let grammar = grammar();
        for words in ["touch all", "touch all 7"] {
            let [user, config] = behind(&grammar, words);
            assert!(user.leaf.is_some() && std::ptr::eq(user, config), "{words}");
        }
    }

    #[test]
    fn a_mode_that_has_more_has_places_of_its_own() {
        let [user, config] = behind(&grammar(), "touch").map(|node| node.words.len());
        assert_eq!((user, config), (1, 2));
    }

    #[test]
    fn what_repeats_leads_back_in_each_mode() {
        let grammar = grammar();
        let once = behind(&grammar, "touch 10.0.0.0/8");
        let often = behind(&grammar, "touch 10.0.0.0/8 10.0.0.0/9 10.0.0.0/10");
        for (once, often) in once.into_iter().zip(often) {
            assert!(once.leaf.is_some() && std::ptr::eq(once, often));
        }
        let trie = grammar.trie(ModeId(0));
        assert_eq!(trie.commands_behind(NodeId::ROOT).len(), 1);
    }
}
