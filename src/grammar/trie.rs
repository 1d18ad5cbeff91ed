//! The forms of all commands of a mode as one trie, which answers every question of the shell:
//! match, help, completion, abbreviation.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arcstr::ArcStr;

use crate::grammar::expand::{self, Token};
use crate::grammar::notation::Spellings;
use crate::grammar::value::{ChoiceType, Fit, Value, ValueType, starts_with_ignoring_case};
use crate::grammar::{Argument, Command, CommandId, FormId};

/// Index of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// Where every line begins.
    pub const ROOT: NodeId = NodeId(0);

    /// The node at an index.
    pub(super) fn at(index: usize) -> Self {
        NodeId(u32::try_from(index).expect("a grammar fits 32 bits"))
    }

    /// The index.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The trie of one mode: where its lines begin, and the nodes behind, which all modes share.
#[derive(Debug)]
pub struct Trie {
    root: Node,
    behind: Arc<[Node]>,
}

/// A trie to which commands are added.
#[derive(Debug)]
pub(super) struct Draft {
    nodes: Vec<Node>,
}

/// What may stand at one place of a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Words that may follow.
    pub words: Box<[WordEdge]>,
    /// Values that may follow.
    pub arguments: Box<[ArgumentEdge]>,
    /// The command that is complete here.
    pub leaf: Option<Leaf>,
}

/// A word, and what follows it.
#[derive(Debug, PartialEq, Eq)]
pub struct WordEdge {
    /// The printed spelling first.
    pub spellings: Spellings,
    /// Help text; empty until some command has given it.
    pub help: ArcStr,
    /// Not listed by help: only hidden commands lie behind it.
    pub hidden: bool,
    /// The command whose stanza gave the help, or the first that uses the word.
    pub command: CommandId,
    /// The next place.
    pub target: NodeId,
}

/// A value, and what follows it.
#[derive(Debug, PartialEq, Eq)]
pub struct ArgumentEdge {
    /// Name of the argument.
    pub name: ArcStr,
    /// Its type.
    pub value_type: ValueType,
    /// Help text; empty until some command has given it.
    pub help: ArcStr,
    /// Not listed by help.
    pub hidden: bool,
    /// The command whose stanza gave the help, or the first that uses the value.
    pub command: CommandId,
    /// The next place.
    pub target: NodeId,
}

/// A complete command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Leaf {
    /// The command.
    pub command: CommandId,
    /// Which of its forms.
    pub form: FormId,
    /// How many tokens of the form it takes: `no` may leave out what follows the key.
    pub length: u16,
    /// Whether it is the derived `no` form.
    pub negated: bool,
    /// Whether `no` is a word of the command's own syntax line.
    own_no: bool,
}

impl Leaf {
    /// What stands on the way to it, for the command that it is of.
    pub fn form_of(self, command: &Command) -> &[Token] {
        &command.forms[usize::from(self.form.0)][..usize::from(self.length)]
    }
}

/// Where a word leads at a node.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Along a word.
    Word(NodeId),
    /// Along a value.
    Value(NodeId, Value),
    /// Nowhere: it could be each of these.
    Ambiguous(Vec<String>),
    /// Nowhere: the only value possible is a number in this range.
    OutOfRange(u64, u64),
    /// Nowhere.
    Unknown,
}

/// Why a command does not fit into the trie.
#[derive(Debug)]
pub(super) enum Conflict {
    /// Two commands are written the same way.
    Same(CommandId),
    /// Two arguments at one place cannot be told apart.
    Arguments(String, String),
    /// Two help texts for one word.
    Help(String, String, String),
}

impl Trie {
    /// The trie of a mode from the node that its lines begin at, and the nodes of all modes.
    pub(super) fn new(root: Node, behind: Arc<[Node]>) -> Self {
        Trie { root, behind }
    }

    /// The node of an index.
    pub fn node(&self, id: NodeId) -> &Node {
        match id.index() {
            0 => &self.root,
            index => &self.behind[index - 1],
        }
    }

    /// The commands that are complete at a node or behind it.
    pub fn commands_behind(&self, id: NodeId) -> BTreeSet<CommandId> {
        let mut commands = BTreeSet::new();
        // Values that may be repeated lead back to where they came from.
        let mut seen = vec![false; self.behind.len() + 1];
        let mut places = vec![id];
        while let Some(place) = places.pop() {
            if std::mem::replace(&mut seen[place.index()], true) {
                continue;
            }
            let node = self.node(place);
            commands.extend(node.leaf.map(|leaf| leaf.command));
            places.extend(node.targets());
        }
        commands
    }

    /// The node that each token of an inserted form stands at.
    pub fn places_of(&self, form: &[Token], arguments: &[Argument]) -> Vec<NodeId> {
        let mut place = NodeId::ROOT;
        let mut places = Vec::with_capacity(form.len());
        for token in form {
            places.push(place);
            let node = self.node(place);
            let target = match token {
                Token::Word(spellings) => {
                    let mut words = node.words.iter();
                    words.find(|edge| edge.spellings[0] == spellings[0]).map(|edge| edge.target)
                }
                Token::Argument { argument, .. } => {
                    let argument = &arguments[*argument];
                    let is_it = |edge: &&ArgumentEdge| {
                        edge.name == argument.name && edge.value_type == argument.value_type
                    };
                    node.arguments.iter().find(is_it).map(|edge| edge.target)
                }
            };
            let Some(target) = target else { break };
            place = target;
        }
        places
    }

    /// Follows one word from a node, in the order exact word, typed value, unique prefix, free word.
    pub fn step(&self, place: NodeId, word: &str, quoted: bool, choices: &[ChoiceType]) -> Step {
        let node = self.node(place);
        let mut beginnings: Vec<(&str, Step)> = Vec::new();
        if !quoted {
            let first = word.as_bytes().first().map(u8::to_ascii_lowercase);
            for edge in &node.words {
                let mut begins = false;
                for spelling in edge.spellings.iter() {
                    // Most words of a long list differ in their first character already.
                    if spelling.as_bytes().first().map(u8::to_ascii_lowercase) != first {
                        continue;
                    }
                    if spelling.eq_ignore_ascii_case(word) {
                        return Step::Word(edge.target);
                    }
                    begins |= starts_with_ignoring_case(spelling, word);
                }
                if begins {
                    beginnings.push((&edge.spellings[0], Step::Word(edge.target)));
                }
            }
        }
        let mut typed = None;
        let mut free = None;
        let mut out_of_range = None;
        for edge in &node.arguments {
            match edge.value_type.fit(choices, word, quoted) {
                Fit::Exact(value) => return Step::Value(edge.target, value),
                Fit::Typed(value) => {
                    // A whole number is one before it is a number with a fraction.
                    let whole = matches!(edge.value_type, ValueType::Range(..));
                    if typed.is_none() || whole {
                        typed = Some(Step::Value(edge.target, value));
                    }
                }
                Fit::Free(value) => free = Some(Step::Value(edge.target, value)),
                Fit::Beginnings(positions) => {
                    if let ValueType::Choice(id) = edge.value_type {
                        let choice_type = &choices[id.0];
                        beginnings.extend(positions.into_iter().map(|position| {
                            let value = Step::Value(edge.target, choice_type.value(position));
                            (choice_type.words[position].word.as_str(), value)
                        }));
                    }
                }
                Fit::OutOfRange(low, high) => {
                    out_of_range = Some(match out_of_range {
                        None => (low, high),
                        // More than one range: the number is outside all of them together.
                        Some((lowest, highest)) => (low.min(lowest), high.max(highest)),
                    });
                }
                Fit::No => {}
            }
        }
        if let Some(step) = typed {
            return step;
        }
        match beginnings.len() {
            0 => {}
            1 => {
                if let Some((_, step)) = beginnings.pop() {
                    return step;
                }
            }
            _ => {
                let names = beginnings.iter().map(|(name, _)| (*name).to_owned()).collect();
                return Step::Ambiguous(names);
            }
        }
        if let Some(step) = free {
            return step;
        }
        match out_of_range {
            Some((low, high)) => Step::OutOfRange(low, high),
            None => Step::Unknown,
        }
    }
}

impl Draft {
    /// A trie without commands.
    pub(super) fn new() -> Self {
        Draft { nodes: vec![Node::default()] }
    }

    /// What may stand at each place.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Its nodes, the root first. Each leads to later ones, but for values that may be repeated.
    pub(super) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }

    /// Adds one form of a command. `negation` is the help text of `no` for a derived form.
    ///
    /// # Errors
    ///
    /// It cannot be told from a form that is there, or gives a second help text.
    pub(super) fn insert(
        &mut self,
        command: &Command,
        form: FormId,
        tokens: &[Token],
        negation: Option<(&Spellings, &ArcStr)>,
    ) -> Result<(), Conflict> {
        let mut place = NodeId::ROOT;
        let negated = negation.is_some();
        let hidden = command.hidden || usize::from(form.0) >= command.printed_forms;
        if let Some((no, help)) = negation {
            place = self.word_target(place, no, command, Some(help), hidden)?;
        }
        // What repeats, if the form is not cut off before its end.
        let repetition = expand::repetition(tokens);
        let mut behind_first = None;
        for (index, token) in tokens.iter().enumerate() {
            place = match token {
                Token::Word(spellings) => {
                    let help = command.help_of(&spellings[0]);
                    self.word_target(place, spellings, command, help, hidden)?
                }
                Token::Argument { argument, .. } => {
                    let argument = &command.arguments[*argument];
                    self.argument_target(place, argument, None, command, hidden)?
                }
            };
            if index == repetition.start {
                behind_first = Some(place);
            }
            if index + 1 == repetition.end
                && let (Some(target), Some(Token::Argument { argument, .. })) =
                    (behind_first, tokens.get(repetition.start))
            {
                let argument = &command.arguments[*argument];
                self.argument_target(place, argument, Some(target), command, hidden)?;
            }
        }
        let own_no = tokens
            .first()
            .is_some_and(|token| matches!(token, Token::Word(spellings) if spellings[0] == "no"));
        let length = u16::try_from(tokens.len()).unwrap_or(u16::MAX);
        let leaf = Leaf { command: command.id, form, length, negated, own_no };
        let node = &mut self.nodes[place.index()];
        match node.leaf {
            None => node.leaf = Some(leaf),
            // A command that begins with `no` itself beats the derived form.
            Some(old) if old.negated && leaf.own_no => node.leaf = Some(leaf),
            Some(old) if old.own_no && leaf.negated => {}
            Some(old) if old.command == leaf.command => {}
            Some(old) => return Err(Conflict::Same(old.command)),
        }
        Ok(())
    }

    fn word_target(
        &mut self,
        place: NodeId,
        spellings: &Spellings,
        command: &Command,
        help: Option<&ArcStr>,
        hidden: bool,
    ) -> Result<NodeId, Conflict> {
        let node = &mut self.nodes[place.index()];
        let known = node.words.iter_mut().find(|edge| edge.spellings[0] == spellings[0]);
        if let Some(edge) = known {
            merge_help(&mut edge.help, help, &spellings[0])?;
            edge.hidden &= hidden;
            if !Arc::ptr_eq(&edge.spellings, spellings)
                && spellings.iter().any(|one| !edge.spellings.contains(one))
            {
                let new = spellings.iter().filter(|one| !edge.spellings.contains(one));
                edge.spellings = edge.spellings.iter().chain(new).cloned().collect();
            }
            return Ok(edge.target);
        }
        let target = NodeId::at(self.nodes.len());
        let edge = WordEdge {
            spellings: Arc::clone(spellings),
            help: help.cloned().unwrap_or_default(),
            hidden,
            command: command.id,
            target,
        };
        append(&mut self.nodes[place.index()].words, edge);
        self.nodes.push(Node::default());
        Ok(target)
    }

    /// Where a value leads from `place`: to a new node, unless it leads back to one that is there.
    fn argument_target(
        &mut self,
        place: NodeId,
        argument: &Argument,
        back_to: Option<NodeId>,
        command: &Command,
        hidden: bool,
    ) -> Result<NodeId, Conflict> {
        let help = command.help_of_argument(&argument.name);
        let node = &mut self.nodes[place.index()];
        for edge in &mut node.arguments {
            if edge.value_type == argument.value_type && edge.name == argument.name {
                merge_help(&mut edge.help, help, &argument.name)?;
                edge.hidden &= hidden;
                return Ok(edge.target);
            }
            if cannot_be_told_apart(&edge.value_type, &argument.value_type) {
                let names = (edge.name.to_string(), argument.name.to_string());
                return Err(Conflict::Arguments(names.0, names.1));
            }
        }
        let target = back_to.unwrap_or_else(|| {
            self.nodes.push(Node::default());
            NodeId::at(self.nodes.len() - 1)
        });
        let edge = ArgumentEdge {
            name: argument.name.clone(),
            value_type: argument.value_type.clone(),
            help: help.cloned().unwrap_or_default(),
            hidden,
            command: command.id,
            target,
        };
        append(&mut self.nodes[place.index()].arguments, edge);
        Ok(target)
    }
}

impl Default for Draft {
    fn default() -> Self {
        Self::new()
    }
}

/// Where a node leads and what is complete there tells most nodes apart.
impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.leaf.hash(state);
        self.targets().for_each(|target| target.hash(state));
    }
}

impl Node {
    /// The places that may follow.
    pub(super) fn targets(&self) -> impl Iterator<Item = NodeId> {
        let words = self.words.iter().map(|edge| edge.target);
        words.chain(self.arguments.iter().map(|edge| edge.target))
    }

    /// The same, to be changed.
    pub(super) fn targets_mut(&mut self) -> impl Iterator<Item = &mut NodeId> {
        let words = self.words.iter_mut().map(|edge| &mut edge.target);
        words.chain(self.arguments.iter_mut().map(|edge| &mut edge.target))
    }
}

/// Adds to a list that keeps no spare room: most nodes have one edge, and there are thousands of nodes.
fn append<T>(list: &mut Box<[T]>, one: T) {
    let mut all = std::mem::take(list).into_vec();
    all.reserve_exact(1);
    all.push(one);
    *list = all.into_boxed_slice();
}

fn merge_help(known: &mut ArcStr, new: Option<&ArcStr>, token: &str) -> Result<(), Conflict> {
    match new {
        None => Ok(()),
        Some(new) if known.is_empty() => {
            known.clone_from(new);
            Ok(())
        }
        Some(new) if known == new => Ok(()),
        Some(new) => Err(Conflict::Help(token.to_owned(), known.to_string(), new.to_string())),
    }
}

/// Whether one word could fit both types without anything to prefer one of them.
fn cannot_be_told_apart(one: &ValueType, other: &ValueType) -> bool {
    let is_number = |value_type: &ValueType| matches!(value_type, ValueType::Range(..));
    let is_address = |value_type: &ValueType| match value_type {
        ValueType::Address | ValueType::Ipv4 | ValueType::Ipv6 | ValueType::Mask => true,
        ValueType::Reference(_, base) => matches!(**base, ValueType::Address),
        _ => false,
    };
    (one.is_free() && other.is_free())
        || (is_number(one) && is_number(other))
        || (is_address(one) && is_address(other))
}
