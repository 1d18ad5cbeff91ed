//! The grammar: what may be typed, what is kept of it, what help there is.
//!
//! Loaded from the files of `grammar/`, whose notation `grammar/README.md` specifies. Nothing here
//! knows a single command of the device.

mod clauses;
pub mod expand;
pub mod link;
mod load;
pub mod notation;
pub mod ports;
pub mod reference;
mod shared;
mod syntax;
pub mod trie;
pub mod value;
mod whole;

use std::fmt;

use arcstr::ArcStr;
use hashbrown::HashMap;
use smallvec::{SmallVec, smallvec};

use crate::grammar::expand::{Form, Token};
use crate::grammar::link::{Action, Kept, Message, Report};
use crate::grammar::notation::Position;
use crate::grammar::trie::{NodeId, Step, Trie};
use crate::grammar::value::{ChoiceType, Value, ValueType, print_quoted};

/// A grammar file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct GrammarError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Index of a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModeId(pub usize);

/// Index of a command; the order is the order of the stanzas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommandId(pub u32);

impl CommandId {
    /// Its place among the commands of the grammar.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a form of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormId(pub u16);

/// Everything that the files of `grammar/` say.
#[derive(Debug)]
pub struct Grammar {
    /// Choice types.
    pub choices: Vec<ChoiceType>,
    /// Modes.
    pub modes: Vec<Mode>,
    /// Commands in the order of their stanzas.
    pub commands: Vec<Command>,
    tries: Vec<Trie>,
    messages: Vec<Vec<String>>,
    /// The opening commands that a `ref` names, by the name of their statement.
    references: Vec<Kept>,
    /// The command that keeps a name in a mode.
    by_kept: HashMap<(ModeId, Kept), CommandId>,
    /// The commands whose statements are removed together with those of that name, by mode.
    dependents: HashMap<(ModeId, Kept), Vec<CommandId>>,
    /// The commands whose statements go with the last other one of their group, by mode.
    group_dependents: HashMap<ModeId, Vec<CommandId>>,
    /// The command that adds a line of that name by itself, by mode.
    adding: HashMap<(ModeId, Kept), CommandId>,
    /// The first command of a mode whose statements stand in groups; its place is theirs.
    group_section: HashMap<ModeId, CommandId>,
    /// The commands that claim a domain name with everything below it.
    wide_claims: Vec<CommandId>,
}

/// A mode.
#[derive(Clone, Debug)]
pub struct Mode {
    /// Its name.
    pub name: String,
    /// The prompt with its `{places}`.
    pub prompt: String,
    /// The mode that it lies in.
    pub parent: Option<ModeId>,
    /// Whether its block is the whole configuration.
    pub root: bool,
}

/// A command.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its index.
    pub id: CommandId,
    /// The syntax line as it stands in the file.
    pub syntax: String,
    /// Where it stands.
    pub position: Position,
    /// The modes that have it.
    pub modes: Vec<ModeId>,
    /// Whether it has `no` forms.
    pub negatable: bool,
    /// Its arguments in the order of their first appearance.
    pub arguments: Vec<Argument>,
    /// Its forms; those of `also` lines stand behind `printed_forms`.
    pub forms: Vec<Form>,
    /// How many of the forms belong to the syntax line itself.
    pub printed_forms: usize,
    /// What it does.
    pub verb: Verb,
    /// What is kept of it, for a command that keeps or opens.
    pub storage: Option<Box<Storage>>,
    /// How far the emulator models it.
    pub level: Level,
    /// Who may use it.
    pub privilege: Privilege,
    /// Arguments at which the names of statements are completed that are there.
    pub suggestions: Vec<(usize, Kept)>,
    /// The page that says so.
    pub evidence: Option<String>,
    /// Whether help leaves it out.
    pub hidden: bool,
    /// Help texts by token (`word` or `<argument>`).
    pub help: Vec<(ArcStr, ArcStr)>,
}

/// An argument of a command.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its name.
    pub name: ArcStr,
    /// Its type.
    pub value_type: ValueType,
    /// Whether it takes several values.
    pub repeated: bool,
    /// The places of free text where words or other values can stand too: there, text that looks
    /// like one of them must be printed in quotes.
    rivals: Vec<(ModeId, NodeId)>,
}

impl Argument {
    /// Whether it holds a password or the like, by its name in the grammar.
    pub fn is_secret(&self) -> bool {
        self.name == SECRET
    }
}

/// The name that the grammar gives to arguments which displays mask.
const SECRET: &str = "secret";

/// What a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Keeps a statement.
    Keep,
    /// Keeps a statement that has a block, and enters its mode.
    Open(ModeId),
    /// Enters a mode that has no statement of its own.
    Enter(ModeId),
    /// Leaves the mode.
    Leave,
    /// Leaves all configuration modes.
    End,
    /// Prints a report.
    Show(Report),
    /// Does something.
    Do(Action),
    /// Removes statements of the block.
    Clear(Vec<Target>),
    /// Gives the statement that opened the block its values, then does something.
    Alter(Option<Action>),
    /// Lets all changes count that wait in the blocks of statements of that name.
    Apply(Kept),
    /// Swallows the line.
    Accept,
}

/// What a `clear` removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Statements of that name.
    Name(Kept),
    /// Only their `no` forms.
    Negated(Kept),
    /// All statements of the group that the argument names.
    Group(usize),
    /// Statements of that name whose values are those of the arguments of the same names.
    With(Kept, Vec<usize>),
}

/// How statements of a command are kept.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is an attribute of the notation")]
pub struct Storage {
    /// The name of the statement.
    pub kept: Kept,
    /// The arguments that make up its key.
    pub key: Vec<usize>,
    /// The arguments of `keep each`: each set of values for them is a statement of its own. They
    /// are the last ones of the key.
    pub each: Vec<usize>,
    /// It belongs to the emulated world.
    pub world: bool,
    /// The argument whose value the group shares.
    pub group: Option<usize>,
    /// Values that are not kept.
    pub defaults: Vec<(usize, Value)>,
    /// Absence means on; the `no` form is the statement.
    pub default_on: bool,
    /// The `no` form is a statement too.
    pub no_kept: bool,
    /// Arguments left out keep their old values.
    pub merge: bool,
    /// The most statements of this name in a block.
    pub at_most: Option<u64>,
    /// A repeated argument whose values must differ.
    pub unique: Option<usize>,
    /// The most values of a repeated argument.
    pub most: Option<Most>,
    /// What the first statement of its kind must say.
    pub first: Option<First>,
    /// The domain name that it claims.
    pub claim: Option<Claim>,
    /// Statements that go when this one is kept.
    pub excludes: Vec<Kept>,
    /// Statements whose keys are other ones than its own.
    pub differs: Option<Difference>,
    /// Statements that must be there.
    pub needs: Vec<Need>,
    /// What counts like a statement that must be there: an address that was learned.
    pub learned: Option<LearnedAddress>,
    /// Pairs of values that exclude each other.
    pub rejects: Vec<Rejection>,
    /// Pairs of numbers of which the first must not exceed the second.
    pub above: Vec<Above>,
    /// Pairs of numbers with at most so many from the one to the other.
    pub spans: Vec<Span>,
    /// Pairs of numbers between which some do not lie.
    pub avoids: Vec<Avoidance>,
    /// What is said of numbers outside of their range, where it is said in words of its own.
    pub bounds: Vec<Bounds>,
    /// What is said if a `no` form finds nothing.
    pub absent: Option<Message>,
    /// What is said of a line that would give a statement that is there other values.
    pub once: Option<Message>,
    /// The argument, a list of ports, to which each line adds its own and each `no` form takes its own
    /// away.
    pub gathers: Option<usize>,
    /// The ports that must be there.
    pub fitted: Option<Fitted>,
    /// An address of an interface, which lies apart from those of the others.
    pub apart: Option<Apart>,
    /// Names of statements of which one must stand in the block, if the line is typed, with what is
    /// said if none does.
    pub wants: Vec<(Kept, Message)>,
    /// What must be in the block of the statement that a `ref` names, if the line is typed.
    pub whole: Option<Whole>,
    /// While the statement that opened its block is referred to, a change counts only once it is
    /// applied.
    pub waits: bool,
    /// Repeating the line is told to the program again, though it changes nothing that is kept.
    pub again: bool,
    /// The message if a reference forbids to remove it.
    pub in_use: Option<Message>,
    /// Entries on one printed line.
    pub pack: Option<usize>,
    /// The line that the device adds below.
    pub adds: Option<String>,
    /// Its secret is kept as a hash.
    pub hashed: bool,
    /// What follows it in a file is kept as it is.
    pub verbatim: bool,
}

/// Statements of one block that share their keys with no statement of another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Their names.
    pub from: Vec<Kept>,
    /// What is said if one of them has that key.
    pub message: Message,
}

/// A statement that must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Its name; `None`: any statement of the group.
    pub kept: Option<Kept>,
    /// What is said if it is not there.
    pub message: Message,
}

/// An address that was learned from the DNS server behind for a domain name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedAddress {
    /// The argument that holds the address.
    pub address: usize,
    /// The arguments of the line, or of the one above its block, that make up the name.
    pub name: Vec<String>,
}

/// How many values a repeated argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Most {
    /// The argument.
    pub argument: usize,
    /// The most values.
    pub most: u64,
    /// What is said of more.
    pub message: Message,
}

/// What the first statement of its kind in a block must say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First {
    /// The argument.
    pub argument: usize,
    /// The only value that it may have.
    pub value: Value,
    /// What is said of another one.
    pub message: Message,
}

/// A domain name that a statement claims. A name that is claimed together with all names below it
/// cannot be at or above a name that another statement claims alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// All names below it are claimed too.
    pub below: bool,
    /// The arguments whose values are the name when they are joined by dots: of this statement or
    /// else of the one whose block it stands in.
    pub parts: Vec<String>,
    /// What is said if the name is claimed already.
    pub message: Message,
}

/// Two values of one argument that exclude each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The argument.
    pub argument: usize,
    /// One value.
    pub value: Value,
    /// The other.
    pub with: Value,
    /// What is said.
    pub message: Message,
}

/// A number that must not exceed another one of the same line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Above {
    /// The argument.
    pub argument: usize,
    /// The argument that holds the highest number allowed.
    pub limit: usize,
    /// What is said if it does.
    pub message: Message,
}

/// How many numbers there may be from one to another one of the same line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The argument that holds the first.
    pub first: usize,
    /// The argument that holds the last.
    pub last: usize,
    /// The most.
    pub most: u64,
    /// What is said of more.
    pub message: Message,
}

/// Numbers that must not lie from one to another one of the same line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Avoidance {
    /// The argument that holds the first.
    pub first: usize,
    /// The argument that holds the last.
    pub last: usize,
    /// The numbers.
    pub numbers: Vec<u64>,
    /// What is said if one lies there.
    pub message: Message,
}

/// What is said of a number outside of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The argument that holds the number.
    pub argument: usize,
    /// What is said of one that is too low.
    pub low: Message,
    /// What is said of one that is too high.
    pub high: Message,
}

/// Ports that must be there, if the line is typed: a file may come from another model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The argument that holds a port or a list of ports.
    pub argument: usize,
    /// The statements of the modules, whose key is a slot.
    pub modules: Kept,
    /// What is said of a port that its slot has not.
    pub no_port: Message,
    /// What is said of a port of a slot that is not there.
    pub no_slot: Message,
}

/// An address of an interface. No other interface has one of its network, and its own interface has
/// no second one but those that say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// The argument that holds the address.
    pub address: usize,
    /// The argument that holds its netmask.
    pub mask: usize,
    /// The argument that is there for a second address of a network.
    pub secondary: usize,
}

/// What must be in the block of the statement that a `ref` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The `ref`.
    pub argument: usize,
    /// Names of statements of which there must be one each.
    pub parts: Vec<Kept>,
    /// What is said if one is missing.
    pub message: Message,
}

/// What a user may do (Administration guide p. 105), and what it takes to use a command. The
/// order is that of falling rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Privilege {
    /// Everything: level 0.
    Full,
    /// Settings of ports, and looking: level 4.
    Ports,
    /// Looking: level 5.
    Read,
}

impl Privilege {
    /// The privilege of that number.
    pub fn from_number(number: u64) -> Option<Self> {
        [Privilege::Full, Privilege::Ports, Privilege::Read]
            .into_iter()
            .find(|privilege| u64::from(privilege.number()) == number)
    }

    /// The number that the device gives it: 0, 4 or 5.
    pub fn number(self) -> u8 {
        match self {
            Privilege::Full => 0,
            Privilege::Ports => 4,
            Privilege::Read => 5,
        }
    }

    /// Whether a user of this privilege may use what needs `needed`.
    pub fn covers(self, needed: Privilege) -> bool {
        self <= needed
    }
}

/// How far the emulator models a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It changes what the emulator does.
    Modelled,
    /// Stored, checked and printed, without effect.
    Kept,
    /// Swallowed.
    Accepted,
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Level::Modelled => "modelled",
            Level::Kept => "kept",
            Level::Accepted => "accepted",
        })
    }
}

/// The files that are compiled into the program, in the order in which they are read.
pub const FILES: &[(&str, &str)] = &[
    ("00-types.grammar", include_str!("../../grammar/00-types.grammar")),
    ("10-exec.grammar", include_str!("../../grammar/10-exec.grammar")),
    ("11-system.grammar", include_str!("../../grammar/11-system.grammar")),
    ("12-version.grammar", include_str!("../../grammar/12-version.grammar")),
    ("14-gslb-exec.grammar", include_str!("../../grammar/14-gslb-exec.grammar")),
    ("15-module.grammar", include_str!("../../grammar/15-module.grammar")),
    ("17-operator.grammar", include_str!("../../grammar/17-operator.grammar")),
    ("20-server.grammar", include_str!("../../grammar/20-server.grammar")),
    ("21-server-show.grammar", include_str!("../../grammar/21-server-show.grammar")),
    ("22-cache-group.grammar", include_str!("../../grammar/22-cache-group.grammar")),
    ("30-gslb.grammar", include_str!("../../grammar/30-gslb.grammar")),
    ("31-site.grammar", include_str!("../../grammar/31-site.grammar")),
    ("32-host-policy.grammar", include_str!("../../grammar/32-host-policy.grammar")),
    ("33-zone.grammar", include_str!("../../grammar/33-zone.grammar")),
    ("34-policy.grammar", include_str!("../../grammar/34-policy.grammar")),
    ("36-sna.grammar", include_str!("../../grammar/36-sna.grammar")),
    ("40-vlan.grammar", include_str!("../../grammar/40-vlan.grammar")),
    ("50-globals.grammar", include_str!("../../grammar/50-globals.grammar")),
    ("52-role.grammar", include_str!("../../grammar/52-role.grammar")),
    ("55-vrf.grammar", include_str!("../../grammar/55-vrf.grammar")),
    ("60-interface.grammar", include_str!("../../grammar/60-interface.grammar")),
    ("70-access-list.grammar", include_str!("../../grammar/70-access-list.grammar")),
    ("75-context.grammar", include_str!("../../grammar/75-context.grammar")),
    ("80-emulate.grammar", include_str!("../../grammar/80-emulate.grammar")),
    ("messages", include_str!("../../grammar/messages")),
];

impl Grammar {
    /// The grammar that is compiled in.
    ///
    /// # Errors
    ///
    /// None in a released program: a test loads it.
    pub fn built_in() -> Result<Self, GrammarError> {
        Self::load(FILES)
    }

    /// Loads a grammar from files: names and texts, in order.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with file, line and column.
    pub fn load<N: AsRef<str>, T: AsRef<str>>(files: &[(N, T)]) -> Result<Self, GrammarError> {
        load::load(files)
    }

    /// A mode.
    pub fn mode(&self, mode: ModeId) -> &Mode {
        &self.modes[mode.0]
    }

    /// The mode of that name.
    pub fn mode_named(&self, name: &str) -> Option<ModeId> {
        self.modes.iter().position(|mode| mode.name == name).map(ModeId)
    }

    /// The mode whose block is the whole configuration.
    pub fn root_mode(&self) -> Option<ModeId> {
        self.modes.iter().position(|mode| mode.root).map(ModeId)
    }

    /// A command.
    pub fn command(&self, command: CommandId) -> &Command {
        &self.commands[command.index()]
    }

    /// The command whose statements have that name, in a mode.
    pub fn keeping(&self, mode: ModeId, kept: Kept) -> Option<&Command> {
        self.by_kept.get(&(mode, kept)).map(|command| self.command(*command))
    }

    /// The commands whose statements go when a statement of that name goes.
    pub fn dependents(&self, mode: ModeId, kept: Kept) -> &[CommandId] {
        self.dependents.get(&(mode, kept)).map_or(&[], Vec::as_slice)
    }

    /// The commands whose statements need another one of their group.
    pub fn group_dependents(&self, mode: ModeId) -> &[CommandId] {
        self.group_dependents.get(&mode).map_or(&[], Vec::as_slice)
    }

    /// The command whose statements the device completes with a statement of that name.
    pub fn adding(&self, mode: ModeId, kept: Kept) -> Option<&Command> {
        self.adding.get(&(mode, kept)).map(|command| self.command(*command))
    }

    /// Where the groups of a mode stand among its other statements.
    pub fn group_section(&self, mode: ModeId) -> Option<CommandId> {
        self.group_section.get(&mode).copied()
    }

    /// The commands whose statements claim a domain name with everything below it.
    pub fn wide_claims(&self) -> impl Iterator<Item = &Command> {
        self.wide_claims.iter().map(|command| self.command(*command))
    }

    /// The trie of a mode.
    pub fn trie(&self, mode: ModeId) -> &Trie {
        &self.tries[mode.0]
    }

    /// The modes in which a line is looked for: the mode itself, then its parents up to the root
    /// mode. Outside the configuration only the mode itself.
    pub fn search_path(&self, mode: ModeId) -> SmallVec<[ModeId; 4]> {
        let mut path = smallvec![mode];
        let mut place = mode;
        while !self.mode(place).root {
            let Some(parent) = self.mode(place).parent else { return smallvec![mode] };
            path.push(parent);
            place = parent;
        }
        path
    }

    /// Whether `mode` is `ancestor` or lies below it.
    pub fn is_within(&self, mode: ModeId, ancestor: ModeId) -> bool {
        let mut place = Some(mode);
        while let Some(mode) = place {
            if mode == ancestor {
                return true;
            }
            place = self.mode(mode).parent;
        }
        false
    }

    /// Whether the last keys of statements of that name are the values of some `ref`.
    pub fn is_referenced(&self, kept: Kept) -> bool {
        self.references.contains(&kept)
    }

    /// Prints a value of an argument so that it is read back as the same in every mode of its
    /// command.
    pub fn print_value(&self, argument: &Argument, value: &Value, out: &mut String) {
        if let Value::Text(text) = value {
            let is_taken_for_another = argument.rivals.iter().any(|(mode, place)| {
                let step = self.trie(*mode).step(*place, text, false, &self.choices);
                !matches!(step, Step::Value(_, read) if read == *value)
            });
            if is_taken_for_another {
                print_quoted(text, out);
                return;
            }
        }
        argument.value_type.print(&self.choices, value, out);
    }

    /// Whether a statement of that name can be removed while a `ref` to it stands.
    pub fn can_vanish(&self, kept: Kept) -> bool {
        let mut keeping = self.commands.iter().filter_map(|command| command.storage.as_ref());
        keeping.any(|storage| storage.kept == kept && storage.in_use.is_none())
    }

    /// The text of a message with its places filled in; every line ends with a line break.
    pub fn message(&self, message: Message, places: &[(&str, &str)]) -> String {
        let mut text = String::new();
        for line in &self.messages[message as usize] {
            fill(line, places, &mut text);
            text.push('\n');
        }
        text
    }

    /// The text of a message of one line, without a line break.
    pub fn phrase(&self, message: Message) -> &str {
        self.messages[message as usize].first().map_or("", String::as_str)
    }

    /// The statement of that name in any of the modes of its kind; for messages and references.
    pub fn choice_type(&self, name: &str) -> Option<&ChoiceType> {
        self.choices.iter().find(|choice| choice.name == name)
    }
}

impl Command {
    /// The help text of a token, if this stanza gives it.
    pub fn help_of(&self, token: &str) -> Option<&ArcStr> {
        self.help.iter().find(|(known, _)| known == token).map(|(_, text)| text)
    }

    /// The help text of an argument, if this stanza gives it.
    pub fn help_of_argument(&self, name: &str) -> Option<&ArcStr> {
        let is_it = |token: &ArcStr| {
            let inner = token.strip_prefix('<').and_then(|token| token.strip_suffix('>'));
            inner == Some(name)
        };
        self.help.iter().find(|(known, _)| is_it(known)).map(|(_, text)| text)
    }

    /// Whether what it keeps belongs to the emulated world.
    pub fn is_of_world(&self) -> bool {
        self.storage.as_ref().is_some_and(|storage| storage.world)
    }

    /// The words that it begins with.
    pub fn fixed_words(&self) -> String {
        let words = self.forms.first().into_iter().flatten().map_while(|token| match token {
            Token::Word(spellings) => Some(spellings[0].as_str()),
            Token::Argument { .. } => None,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Position of an argument.
    pub fn argument(&self, name: &str) -> Option<usize> {
        self.arguments.iter().position(|argument| argument.name == name)
    }
}

/// Puts values into the `{places}` of a text, in one pass: a value may hold braces of its own.
fn fill(text: &str, places: &[(&str, &str)], out: &mut String) {
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        out.push_str(&rest[..start]);
        let place = &rest[start + 1..];
        let found = place.find('}').and_then(|end| {
            let name = &place[..end];
            places.iter().find(|(known, _)| *known == name).map(|(_, value)| (end, *value))
        });
        if let Some((end, value)) = found {
            out.push_str(value);
            rest = &place[end + 1..];
        } else {
            out.push('{');
            rest = place;
        }
    }
    out.push_str(rest);
}

/// A prompt with its places filled in.
pub fn fill_places(text: &str, places: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    fill(text, places, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_braces_are_not_filled_again() {
        assert_eq!(fill_places("{a} {b} {c}", &[("a", "{b}"), ("b", "2")]), "{b} 2 {c}");
    }

    #[test]
    fn every_file_of_the_folder_is_compiled_in() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("grammar");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let known = FILES.iter().any(|(file, _)| *file == name);
            assert!(
                known || matches!(name.as_str(), "README.md" | "REFERENCE.md"),
                "{name} is not compiled in"
            );
        }
    }

    #[test]
    fn the_built_in_grammar_loads() {
        if let Err(error) = Grammar::built_in() {
            panic!("{error}");
        }
    }
}
