//! The text of a grammar file to its stanzas.
//!
//! Knows the notation of `grammar/README.md` and nothing of what the names in it mean. Lines are
//! taken apart by indentation; each line is parsed with nom. Every error has file, line and column.

use std::sync::Arc;

use arcstr::ArcStr;
use nom::Parser;
use nom::bytes::complete::tag;
use nom::character::complete::{char, space0, space1};
use nom::combinator::{all_consuming, opt};
use nom::multi::separated_list1;
use nom::sequence::{pair, preceded, terminated};

use crate::grammar::GrammarError;
use crate::grammar::syntax::{choice_value, clause, enum_name, items, name, string};

/// A word in all its spellings, the printed one first.
pub type Spellings = Arc<[ArcStr]>;

/// Where something stands in a grammar file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Name of the file.
    pub file: ArcStr,
    /// Line, from 1.
    pub line: usize,
    /// Column where it begins, from 1.
    pub column: usize,
}

impl CommandStanza {
    /// An error at an argument of the syntax line.
    pub fn fault_at(&self, argument: &str, message: impl Into<String>) -> GrammarError {
        let place = self.text.find(&format!("<{argument}:")).unwrap_or_default();
        self.position.error(place + 1, message)
    }
}

impl Position {
    /// An error here.
    pub fn fault(&self, message: impl Into<String>) -> GrammarError {
        self.error(self.column, message)
    }

    /// Another column of this line.
    fn at(&self, column: usize) -> Position {
        Position { column, ..self.clone() }
    }

    /// An error at a column (from 1) of this line.
    pub fn error(&self, column: usize, message: impl Into<String>) -> GrammarError {
        GrammarError {
            file: self.file.to_string(),
            line: self.line,
            column,
            message: message.into(),
        }
    }
}

/// One entry of a grammar file.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// `type NAME [as ENUM]`.
    Type(TypeStanza),
    /// `mode NAME prompt "…" [parent NAME] [root]`.
    Mode(ModeStanza),
    /// `in NAME[+], …`.
    Section(Vec<SectionMode>),
    /// A command.
    Command(CommandStanza),
    /// `message NAME` and its text.
    Message(MessageStanza),
}

/// A choice type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeStanza {
    /// Name of the type.
    pub name: String,
    /// The enum that its words are tied to.
    pub linked: Option<String>,
    /// The type whose values it has besides its own.
    pub like: Option<String>,
    /// The message for a word that is none of its values.
    pub otherwise: Option<String>,
    /// Its values.
    pub values: Vec<ChoiceLine>,
    /// Where it stands.
    pub position: Position,
}

/// A value of a choice type.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceLine {
    /// A word, or a range of numbers.
    pub value: ChoiceValue,
    /// Its help text.
    pub help: String,
    /// Where it stands.
    pub position: Position,
}

/// What a choice is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceValue {
    /// A word, and the number that it stands for.
    Word(String, Option<u64>),
    /// Numbers from the first to the second.
    Range(u64, u64),
}

/// A mode.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeStanza {
    /// Name of the mode.
    pub name: String,
    /// Text of the prompt with `{places}`.
    pub prompt: String,
    /// The mode that it lies in.
    pub parent: Option<String>,
    /// Whether its block is the whole configuration.
    pub root: bool,
    /// Where it stands.
    pub position: Position,
}

/// One mode of a section line; an empty name stands for `any`.
#[derive(Clone, Debug, PartialEq)]
pub struct SectionMode {
    /// Name of the mode, empty for `any`.
    pub name: String,
    /// Whether all modes below it are meant too.
    pub below: bool,
    /// Where it stands.
    pub position: Position,
}

/// A command as written.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandStanza {
    /// The syntax line as it stands in the file.
    pub text: String,
    /// Whether it begins with `[no]`.
    pub negatable: bool,
    /// Its items behind that.
    pub items: Vec<Item>,
    /// Help lines: token, text, position.
    pub help: Vec<HelpLine>,
    /// Clauses with their positions.
    pub clauses: Vec<(Clause, Position)>,
    /// Where it stands.
    pub position: Position,
}

/// The help text of a word or an argument.
#[derive(Clone, Debug, PartialEq)]
pub struct HelpLine {
    /// A word, or `<name>`.
    pub token: String,
    /// The text.
    pub text: String,
    /// Where it stands.
    pub position: Position,
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageStanza {
    /// Its name.
    pub name: String,
    /// Its lines.
    pub lines: Vec<String>,
    /// Where it stands.
    pub position: Position,
}

/// A part of a syntax line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A word in its spellings, the printed one first.
    Word(Spellings),
    /// `<name:type>`, and whether it repeats.
    Argument {
        /// Name of the argument.
        name: String,
        /// Its type as written.
        kind: TypeName,
        /// `...` behind it.
        repeated: bool,
    },
    /// `[a | b]`: one of these, or nothing.
    Optional(Vec<Vec<Item>>),
    /// `{a | b}`: one of these.
    Choice(Vec<Vec<Item>>),
    /// `{<a:…> <b:…>}...`: these values together, once or more.
    Repeated(Vec<Item>),
}

/// A type as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeName {
    /// `LO-HI`.
    Range(u64, u64),
    /// `word/MAX` and its kin.
    Sized(String, u64),
    /// `ref NAME`, or one of several.
    Reference(Vec<String>),
    /// A built-in type or the name of a choice type.
    Named(String),
}

/// A clause of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is the clause of that name in grammar/README.md")]
pub enum Clause {
    KeepOne,
    KeepPer(Vec<String>),
    KeepEach { entry: Vec<String>, key: Vec<String> },
    Open { mode: String, key: Vec<String> },
    Enter(String),
    Leave,
    End,
    Show(String),
    Do(String),
    Clear(Vec<ClearTarget>),
    Alter(Option<String>),
    As(String),
    World,
    Group(String),
    Default(String, String),
    DefaultOn,
    NoKept,
    Merge,
    AtMost(u64),
    Unique(String),
    Most { argument: String, most: u64, message: String },
    First { argument: String, value: String, message: String },
    Claims { below: bool, parts: Vec<String>, message: String },
    Excludes(Vec<String>),
    Differs { from: Vec<String>, message: String },
    Needs { name: String, message: String },
    Learned { address: String, name: Vec<String> },
    Under { name: String, message: String },
    Rejects { argument: String, value: String, with: String, message: String },
    Spans { first: String, last: String, most: u64, message: String },
    Avoids { first: String, last: String, choices: String, message: String },
    Waits,
    Bounds { argument: String, low: String, high: String },
    Absent(String),
    Once(String),
    Gathers(String),
    Fitted { argument: String, modules: String, port: String, slot: String },
    Apart { address: String, mask: String, kind: String },
    Wants { name: String, message: String },
    Whole { argument: String, names: Vec<String>, message: String },
    Apply(String),
    RejectsAbove { argument: String, limit: String, message: String },
    Again,
    InUse(String),
    Pack(u64),
    Verbatim,
    Adds(String),
    Also(String, Vec<Item>),
    From(String),
    Level(String),
    Hidden,
    Suggests(String, Vec<String>),
    Hashed,
    Privilege(u64),
}

/// What a `clear` removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClearTarget {
    /// Statements of that name.
    Name(String),
    /// The `no` forms of that name.
    Negated(String),
    /// All statements of the group that the argument names.
    Group(String),
    /// The statements of that name with these values.
    With(String, Vec<String>),
}

/// Reads a grammar file.
///
/// # Errors
///
/// The first line that does not follow the notation.
pub fn parse(file: &str, text: &str) -> Result<Vec<Entry>, GrammarError> {
    let mut entries: Vec<Entry> = Vec::new();
    let file = ArcStr::from(file);
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_end();
        let column = line.len() - line.trim_start().len() + 1;
        let position = Position { file: file.clone(), line: index + 1, column };
        if line.contains('\t') {
            let column = line.find('\t').map_or(1, |place| place + 1);
            return Err(position.error(column, "a tab; indent with blanks"));
        }
        let content = line.trim_start();
        if let Some(place) = too_deep(line) {
            return Err(position.error(place + 1, format!("more than {DEEPEST} brackets deep")));
        }
        if content.is_empty() || (content.starts_with('#') && !in_message(&entries, line)) {
            continue;
        }
        if line.starts_with(' ') {
            let indent = line.len() - content.len();
            match entries.last_mut() {
                Some(entry) => add_to(entry, content, indent, position)?,
                None => return Err(position.error(indent + 1, NOWHERE)),
            }
        } else {
            entries.push(parse_head(content, position)?);
        }
    }
    Ok(entries)
}

/// The most brackets and braces in one another: nobody reads more, and each costs a call.
const DEEPEST: usize = 16;

/// Where a line goes deeper into brackets and braces than that.
fn too_deep(line: &str) -> Option<usize> {
    let mut depth = 0_usize;
    line.bytes().position(|byte| {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEPEST
    })
}

/// What is said of an indented line that stands under nothing that could own it.
const NOWHERE: &str = "an indented line belongs under a type, command or message";

fn in_message(entries: &[Entry], line: &str) -> bool {
    line.starts_with(' ') && matches!(entries.last(), Some(Entry::Message(_)))
}

/// Parses a line that begins an entry.
fn parse_head(line: &str, position: Position) -> Result<Entry, GrammarError> {
    if let Some(rest) = keyword(line, "type") {
        let (name, linked, base, otherwise) = run(
            (
                name,
                opt(preceded((space1, tag("as"), space1), enum_name)),
                opt(preceded((space1, tag("like"), space1), self::name)),
                opt(preceded((space1, tag("else"), space1), self::name)),
            ),
            rest,
            line,
            &position,
            "the name of a type",
        )?;
        let values = Vec::new();
        return Ok(Entry::Type(TypeStanza {
            name,
            linked,
            like: base,
            otherwise,
            values,
            position,
        }));
    }
    if let Some(rest) = keyword(line, "mode") {
        let (name, prompt, parent, root) = run(
            (
                name,
                preceded((space1, tag("prompt"), space1), string),
                opt(preceded((space1, tag("parent"), space1), name)),
                opt(preceded(space1, tag("root"))),
            ),
            rest,
            line,
            &position,
            "a mode: NAME prompt \"…\" [parent NAME] [root]",
        )?;
        let root = root.is_some();
        return Ok(Entry::Mode(ModeStanza { name, prompt, parent, root, position }));
    }
    if let Some(rest) = keyword(line, "in") {
        let modes = run(
            separated_list1((space0, char(','), space0), pair(name, opt(char('+')))),
            rest,
            line,
            &position,
            "modes: NAME[+], …",
        )?;
        let section = modes
            .into_iter()
            .map(|(name, below)| SectionMode {
                name: if name == "any" { String::new() } else { name },
                below: below.is_some(),
                position: position.clone(),
            })
            .collect();
        return Ok(Entry::Section(section));
    }
    if let Some(rest) = keyword(line, "message") {
        let name = run(name, rest, line, &position, "the name of a message")?;
        return Ok(Entry::Message(MessageStanza { name, lines: Vec::new(), position }));
    }
    let (negatable, rest) = match line.strip_prefix("[no] ") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let items = run(items, rest, line, &position, "a syntax line")?;
    Ok(Entry::Command(CommandStanza {
        text: line.to_owned(),
        negatable,
        items,
        help: Vec::new(),
        clauses: Vec::new(),
        position,
    }))
}

/// Adds an indented line to the entry that it stands under.
fn add_to(
    entry: &mut Entry,
    content: &str,
    indent: usize,
    position: Position,
) -> Result<(), GrammarError> {
    let column = indent + 1;
    match entry {
        Entry::Command(command) => {
            if let Some(rest) = content.strip_prefix("= ") {
                let place = |tail: &str| indent + content.len() - tail.len() + 1;
                let mut rest = rest.trim_start();
                loop {
                    let position = position.at(place(rest));
                    let (tail, clause) =
                        clause(rest).map_err(|_| position.fault("not a clause"))?;
                    command.clauses.push((clause, position.clone()));
                    let tail = tail.trim_start();
                    if tail.is_empty() {
                        return Ok(());
                    }
                    let next = tail.strip_prefix(',').ok_or_else(|| {
                        position.error(place(tail), "a comma and another clause expected")
                    })?;
                    rest = next.trim_start();
                }
            } else {
                let (token, text) = token_and_help(content)
                    .ok_or_else(|| position.error(column, "two blanks and a help text expected"))?;
                command.help.push(HelpLine { token, text, position });
                Ok(())
            }
        }
        Entry::Type(stanza) => {
            let (token, help) = token_and_help(content)
                .ok_or_else(|| position.error(column, "two blanks and a help text expected"))?;
            let value = all_consuming(choice_value)
                .parse(&token)
                .map_err(|_| position.error(column, "a word, `word = number` or a range expected"))?
                .1;
            match &value {
                ChoiceValue::Range(low, high) if low > high => {
                    return Err(position.error(column, format!("{low} is above {high}")));
                }
                // A range whose numbers are too large is no word.
                ChoiceValue::Word(word, _)
                    if word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') =>
                {
                    return Err(position.error(column, "a word or a range of 64 bits expected"));
                }
                ChoiceValue::Range(..) | ChoiceValue::Word(..) => {}
            }
            stanza.values.push(ChoiceLine { value, help, position });
            Ok(())
        }
        Entry::Message(message) => {
            // Four blanks belong to the notation; more are part of the text.
            let extra = indent.saturating_sub(4);
            message.lines.push(format!("{}{content}", " ".repeat(extra)));
            Ok(())
        }
        Entry::Mode(_) | Entry::Section(_) => Err(position.error(column, NOWHERE)),
    }
}

fn token_and_help(content: &str) -> Option<(String, String)> {
    let gap = content.find("  ")?;
    let text = content[gap..].trim();
    (!text.is_empty()).then(|| (content[..gap].to_owned(), text.to_owned()))
}

fn keyword<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    line.strip_prefix(word)?.strip_prefix(' ').map(str::trim_start)
}

/// Runs a parser over the whole of `rest`, which is the end of `line`.
fn run<'a, T>(
    parser: impl Parser<&'a str, Output = T, Error = nom::error::Error<&'a str>>,
    rest: &'a str,
    line: &str,
    position: &Position,
    expected: &str,
) -> Result<T, GrammarError> {
    let mut parser = terminated(parser, space0);
    let column = |tail: &str| line.len() - tail.len() + 1;
    match parser.parse(rest) {
        Ok(("", value)) => Ok(value),
        Ok((tail, _)) => Err(position.error(column(tail), format!("{expected} expected"))),
        Err(error) => {
            let tail = rest_of(&error).unwrap_or(rest);
            Err(position.error(column(tail), format!("{expected} expected")))
        }
    }
}

fn rest_of<'a>(error: &nom::Err<nom::error::Error<&'a str>>) -> Option<&'a str> {
    match error {
        nom::Err::Error(error) | nom::Err::Failure(error) => Some(error.input),
        nom::Err::Incomplete(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> CommandStanza {
        match parse("test", text).unwrap().remove(0) {
            Entry::Command(command) => command,
            other => panic!("not a command: {other:?}"),
        }
    }

    #[test]
    fn reads_a_command_with_help_and_clauses() {
        let stanza = command(
            "[no] si-name [<name:name/16>] <addr:ip> [<preference:0-255>]\n    \
             si-name  Device\n    <addr>   Address\n    \
             = keep per <addr>, default <preference> 128, merge, as si\n    \
             = from \"GSLB guide p. 6, 36\"\n",
        );
        assert!(stanza.negatable);
        assert_eq!(stanza.items.len(), 4);
        assert_eq!(stanza.help[0].token, "si-name");
        assert_eq!(stanza.clauses.len(), 5);
        assert_eq!(stanza.clauses[4].0, Clause::From("GSLB guide p. 6, 36".to_owned()));
    }

    #[test]
    fn reads_spellings_choices_and_repetition() {
        let pairs = command("a {<n:1-5> <m:name/4>}...\n");
        assert!(matches!(&pairs.items[1], Item::Repeated(items) if items.len() == 2));
        let stanza = command("a/b {c | <n:1-5>} [<m:metric>...]\n");
        assert_eq!(
            stanza.items[0],
            Item::Word([arcstr::literal!("a"), arcstr::literal!("b")].into())
        );
        assert!(matches!(&stanza.items[1], Item::Choice(branches) if branches.len() == 2));
        assert!(matches!(&stanza.items[2], Item::Optional(branches)
            if matches!(branches[0][0], Item::Argument { repeated: true, .. })));
    }

    #[test]
    fn reads_rules_about_values_and_names() {
        let stanza = command(
            "user <a:label/8> <b:label/8>...\n    \
             = most <b> 8 else too-many, claims <a> <zone> else taken\n    \
             = claims below <a> else taken\n    \
             = clear lu with <a> <b> no lu lu\n",
        );
        let clauses: Vec<Clause> = stanza.clauses.into_iter().map(|(clause, _)| clause).collect();
        let text = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let claims = |below, parts| Clause::Claims { below, parts, message: "taken".to_owned() };
        let message = "too-many".to_owned();
        assert_eq!(
            clauses,
            [
                Clause::Most { argument: "b".to_owned(), most: 8, message },
                claims(false, text(&["a", "zone"])),
                claims(true, text(&["a"])),
                Clause::Clear(vec![
                    ClearTarget::With("lu".to_owned(), text(&["a", "b"])),
                    ClearTarget::Negated("lu".to_owned()),
                    ClearTarget::Name("lu".to_owned()),
                ]),
            ]
        );
    }

    #[test]
    fn an_error_has_line_and_column() {
        let error = parse("x.grammar", "# fine\n\nshow <zone zone>\n").unwrap_err();
        assert_eq!((error.line, error.column), (3, 6));
        let error = parse("x.grammar", "weight\n    = keep once\n").unwrap_err();
        assert_eq!((error.line, error.column), (2, 7));
        let error = parse("x.grammar", "    lost\n").unwrap_err();
        assert_eq!((error.line, error.column), (1, 5));
    }

    #[test]
    fn a_message_keeps_its_own_indentation() {
        let entries = parse("m", "message reload\n    a\n      b {x}\n    # c\n").unwrap();
        let Entry::Message(message) = &entries[0] else { panic!("not a message") };
        assert_eq!(message.lines, ["a", "  b {x}", "# c"]);
    }
}
