//! Sample lines of every command, and what must be there before one of them is accepted.

use adxemu::cli::{matcher, words};
use adxemu::config::tree::{Path, key_of};
use adxemu::grammar::expand::Token;
use adxemu::grammar::link::Kept;
use adxemu::grammar::trie::{Node, NodeId};
use adxemu::grammar::value::ValueType;
use adxemu::grammar::{Argument, Command, Grammar, ModeId, Need, Verb};

use crate::grammar::values;

/// A line of one form of a command, word by word.
#[derive(Clone, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) grammar: &'a Grammar,
    pub(crate) command: &'a Command,
    pub(crate) mode: ModeId,
    pub(crate) pieces: Vec<Piece>,
}

/// A word of a line, or the value of one argument.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// As it is typed.
    pub(crate) text: String,
    /// The argument that it is a value of; `None` for a word.
    pub(crate) argument: Option<usize>,
    /// Where in the trie it stands.
    pub(crate) place: NodeId,
}

/// Every command in every mode that has it.
pub(crate) fn everywhere(grammar: &Grammar) -> impl Iterator<Item = (&Command, ModeId)> {
    grammar
        .commands
        .iter()
        .flat_map(|command| command.modes.iter().map(move |mode| (command, *mode)))
}

/// Every command that keeps something, in every mode of the configuration that has it; those of
/// the emulated world, which every mode has and which stand in one block, in the outermost alone.
pub(crate) fn keeping(grammar: &Grammar) -> impl Iterator<Item = (&Command, ModeId)> {
    let root = root(grammar);
    everywhere(grammar).filter(move |(command, mode)| {
        command.storage.as_ref().is_some_and(|storage| {
            grammar.is_within(*mode, root) && (!storage.world || *mode == root)
        })
    })
}

/// The mode whose block is the whole configuration.
pub(crate) fn root(grammar: &Grammar) -> ModeId {
    ModeId(grammar.modes.iter().position(|mode| mode.root).unwrap())
}

impl<'a> Line<'a> {
    /// A line of a form whose arguments take their `n`th values.
    pub(crate) fn new(
        grammar: &'a Grammar,
        command: &'a Command,
        mode: ModeId,
        form: usize,
        n: usize,
    ) -> Self {
        Self::with(grammar, command, mode, form, &|argument| {
            values::value(grammar, &command.arguments[argument].value_type, n)
        })
    }

    /// A line of a form with chosen values.
    pub(crate) fn with(
        grammar: &'a Grammar,
        command: &'a Command,
        mode: ModeId,
        form: usize,
        value: &dyn Fn(usize) -> String,
    ) -> Self {
        // A password in clear would be kept as another hash every time.
        let is_hashed = command.storage.as_ref().is_some_and(|storage| storage.hashed);
        let value = |argument: usize| {
            let text = value(argument);
            if is_hashed && command.arguments[argument].is_secret() {
                format!("8 $1$zq${}", text.replace(|one: char| !one.is_ascii_alphanumeric(), ""))
            } else {
                text
            }
        };
        let mut line = Line { grammar, command, mode, pieces: Vec::new() };
        let mut place = NodeId::ROOT;
        for token in &command.forms[form] {
            let node = grammar.trie(mode).node(place);
            let (text, argument, next) = match token {
                Token::Word(spellings) => {
                    (spellings[0].to_string(), None, after_word(node, &spellings[0]))
                }
                Token::Argument { argument, .. } => {
                    let next = after_argument(node, &command.arguments[*argument]);
                    (value(*argument), Some(*argument), next)
                }
            };
            line.pieces.push(Piece { text, argument, place });
            place = next;
        }
        line
    }

    /// The line of the first form with the `n`th values, but for arguments of these names.
    pub(crate) fn first_with(
        grammar: &'a Grammar,
        command: &'a Command,
        mode: ModeId,
        n: usize,
        given: &[(&str, String)],
    ) -> Self {
        let form = (0..command.printed_forms)
            .find(|form| given.iter().all(|(name, _)| has_argument(command, *form, name)))
            .unwrap_or(0);
        Self::with(grammar, command, mode, form, &|argument| {
            let argument = &command.arguments[argument];
            let found = given.iter().find(|(name, _)| *name == argument.name);
            found.map_or_else(
                || values::value(grammar, &argument.value_type, n),
                |(_, text)| text.clone(),
            )
        })
    }

    /// The line as typed.
    pub(crate) fn text(&self) -> String {
        join(self.pieces.iter().map(|piece| piece.text.as_str()))
    }

    /// The line as typed up to a piece, with a blank behind it.
    pub(crate) fn before(&self, piece: usize) -> String {
        self.pieces[..piece].iter().flat_map(|piece| [piece.text.as_str(), " "]).collect()
    }

    /// The `no` forms of the line that are derived, the shortest first.
    pub(crate) fn negations(&self) -> Vec<String> {
        if !self.command.negatable {
            return Vec::new();
        }
        let key = self.command.storage.as_ref().map_or(&[][..], |one| one.key.as_slice());
        let last = self
            .pieces
            .iter()
            .rposition(|piece| piece.argument.is_none_or(|argument| key.contains(&argument)))
            .unwrap();
        let trie = self.grammar.trie(self.mode);
        (last + 1..=self.pieces.len())
            .filter(|length| {
                // A command that begins with `no` itself beats the derived form.
                let mut place = after_word(trie.node(NodeId::ROOT), "no");
                for piece in &self.pieces[..*length] {
                    place = self.step(place, piece);
                }
                trie.node(place).leaf.is_some_and(|leaf| leaf.command == self.command.id)
            })
            .map(|length| format!("no {}", join(texts(&self.pieces[..length]))))
            .collect()
    }

    /// The node behind a piece that stands at `place`.
    pub(crate) fn step(&self, place: NodeId, piece: &Piece) -> NodeId {
        let node = self.node(place);
        match piece.argument {
            None => after_word(node, &piece.text),
            Some(argument) => after_argument(node, &self.command.arguments[argument]),
        }
    }

    pub(crate) fn node(&self, place: NodeId) -> &'a Node {
        self.grammar.trie(self.mode).node(place)
    }

    /// The value of an argument, as typed.
    pub(crate) fn value_of(&self, argument: usize) -> Option<&str> {
        let piece = self.pieces.iter().find(|piece| piece.argument == Some(argument))?;
        Some(&piece.text)
    }

    /// The values of arguments by name, as typed.
    fn named(&self) -> Vec<(&'a str, String)> {
        let named = |piece: &Piece| {
            let argument = &self.command.arguments[piece.argument?];
            Some((argument.name.as_str(), piece.text.clone()))
        };
        self.pieces.iter().filter_map(named).collect()
    }

    /// Everything that must be there before this line is accepted: the block that it stands in,
    /// what its arguments refer to, and the statements that it needs.
    pub(crate) fn needed(&self) -> Script<'a> {
        self.needed_but(None)
    }

    /// The same without what meets one need.
    pub(crate) fn needed_but(&self, left_out: Option<Need>) -> Script<'a> {
        let mut script = Script::new(self.grammar);
        // Nothing is typed there, but its block is opened.
        script.add_text(self.mode, "");
        for piece in &self.pieces {
            if let Some(argument) = piece.argument
                && let ValueType::Reference(targets, _) =
                    &self.command.arguments[argument].value_type
            {
                script.add_with_needs(&referred(self.grammar, targets[0], &piece.text));
            }
        }
        for need in self.command.storage.iter().flat_map(|storage| &storage.needs) {
            let line = self.need(*need);
            if Some(*need) == left_out {
                script.add_all(&line.needed());
            } else {
                script.add_with_needs(&line);
            }
        }
        script
    }

    /// A line that meets a need of this one.
    pub(crate) fn need(&self, need: Need) -> Line<'a> {
        match need.kept {
            Some(kept) => self.related(kept),
            None => self.of_same_group(),
        }
    }

    /// A line of the statement called `kept` with the same values under the same names.
    pub(crate) fn related(&self, kept: Kept) -> Line<'a> {
        let other = self.grammar.keeping(self.mode, kept).unwrap();
        let given: Vec<_> =
            self.named().into_iter().filter(|(name, _)| other.argument(name).is_some()).collect();
        Line::first_with(self.grammar, other, self.mode, 0, &given)
    }

    /// Another statement of the same group, which needs no group itself.
    fn of_same_group(&self) -> Line<'a> {
        let group = self.command.storage.as_ref().and_then(|storage| storage.group).unwrap();
        let group_name = self.command.arguments[group].name.as_str();
        let value = self.value_of(group).unwrap().to_owned();
        let other = self
            .grammar
            .commands
            .iter()
            .find(|other| {
                let makes_groups = other
                    .storage
                    .as_ref()
                    .is_some_and(|storage| storage.group.is_some() && storage.needs.is_empty());
                makes_groups && other.modes.contains(&self.mode) && other.id != self.command.id
            })
            .unwrap();
        Line::first_with(self.grammar, other, self.mode, 0, &[(group_name, value)])
    }
}

/// A line that makes the last key of a statement called `kept` that value.
fn referred<'a>(grammar: &'a Grammar, kept: Kept, value: &str) -> Line<'a> {
    let (command, mode) = keeping(grammar)
        .find(|(command, _)| command.storage.as_ref().is_some_and(|one| one.kept == kept))
        .unwrap();
    let key = *command.storage.as_ref().unwrap().key.last().unwrap();
    let name = command.arguments[key].name.as_str();
    Line::first_with(grammar, command, mode, 0, &[(name, value.to_owned())])
}

fn has_argument(command: &Command, form: usize, name: &str) -> bool {
    command.forms[form].iter().any(|token| match token {
        Token::Argument { argument, .. } => command.arguments[*argument].name == name,
        Token::Word(_) => false,
    })
}

fn texts(pieces: &[Piece]) -> impl Iterator<Item = &str> {
    pieces.iter().map(|piece| piece.text.as_str())
}

fn join<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    texts.collect::<Vec<_>>().join(" ")
}

/// The node behind a word.
pub(crate) fn after_word(node: &Node, word: &str) -> NodeId {
    node.words.iter().find(|edge| edge.spellings.iter().any(|one| one == word)).unwrap().target
}

fn after_argument(node: &Node, argument: &Argument) -> NodeId {
    let is_it = |name: &str, value_type: &ValueType| {
        name == argument.name && *value_type == argument.value_type
    };
    node.arguments.iter().find(|edge| is_it(&edge.name, &edge.value_type)).unwrap().target
}

/// Lines of several modes, as a configuration file.
#[derive(Clone, Debug)]
pub(crate) struct Script<'a> {
    grammar: &'a Grammar,
    entries: Vec<(ModeId, String)>,
}

impl<'a> Script<'a> {
    pub(crate) fn new(grammar: &'a Grammar) -> Self {
        Script { grammar, entries: Vec::new() }
    }

    /// A line with all that it needs before it.
    pub(crate) fn of(line: &Line<'a>) -> Self {
        let mut script = line.needed();
        script.add(line);
        script
    }

    /// Adds a line.
    pub(crate) fn add(&mut self, line: &Line<'a>) -> &mut Self {
        self.add_text(line.mode, &line.text())
    }

    /// Adds a text as a line of a mode.
    pub(crate) fn add_text(&mut self, mode: ModeId, text: &str) -> &mut Self {
        self.entries.push((mode, text.to_owned()));
        self
    }

    /// Adds a line and, before it, all that it needs.
    pub(crate) fn add_with_needs(&mut self, line: &Line<'a>) -> &mut Self {
        self.add_all(&line.needed());
        self.add(line)
    }

    pub(crate) fn add_all(&mut self, other: &Script<'a>) -> &mut Self {
        self.entries.extend(other.entries.iter().cloned());
        self
    }

    /// This script and one more line of a mode.
    pub(crate) fn and(&self, mode: ModeId, text: &str) -> Self {
        let mut script = self.clone();
        script.add_text(mode, text);
        script
    }

    /// The file.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (mode, line) in &self.entries {
            // This returns to the outermost level, also from a block that takes all as it is.
            text.push_str("end\n");
            for opening in way_into(self.grammar, *mode) {
                text.push_str(&opening);
                text.push('\n');
            }
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// The lines that lead from the outermost level into a mode, with what they need.
pub(crate) fn way_into(grammar: &Grammar, mode: ModeId) -> Vec<String> {
    if grammar.mode(mode).root {
        return Vec::new();
    }
    let (command, outer) = opening(grammar, mode);
    let line = Line::new(grammar, command, outer, 0, 0);
    assert!(command.storage.as_ref().unwrap().needs.is_empty(), "an opening line that needs more");
    let mut way = way_into(grammar, outer);
    for (wanted, _) in &command.storage.as_ref().unwrap().wants {
        let wanted = grammar.keeping(outer, *wanted).unwrap();
        way.push(Line::new(grammar, wanted, outer, 0, 0).text());
    }
    way.push(line.text());
    way
}

/// The block that [`way_into`] leads to.
pub(crate) fn path_into(grammar: &Grammar, mode: ModeId) -> Path {
    if grammar.mode(mode).root {
        return Path::new();
    }
    let (command, outer) = opening(grammar, mode);
    let text = Line::new(grammar, command, outer, 0, 0).text();
    let hit = matcher::match_in(grammar, outer, &words::split(&text), &text).unwrap();
    let mut path = path_into(grammar, outer);
    path.push((command.id, key_of(command, &hit.values)));
    path
}

/// The first command that opens a mode, and a mode that has it.
fn opening(grammar: &Grammar, mode: ModeId) -> (&Command, ModeId) {
    keeping(grammar).find(|(command, _)| command.verb == Verb::Open(mode)).unwrap()
}
