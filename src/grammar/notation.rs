//! The text of a grammar file to its stanzas.
//!
//! Knows the notation of `grammar/README.md` and nothing of what the names in it mean. Lines are
//! taken apart by indentation; each line is parsed with nom. Every error has file, line and column.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while1};
use nom::character::complete::{char, digit1, space0, space1};
use nom::combinator::{all_consuming, map, map_res, opt, recognize};
use nom::multi::{many1, separated_list1};
use nom::sequence::{delimited, pair, preceded, separated_pair, terminated};
use nom::{IResult, Parser};

use crate::grammar::GrammarError;

/// Where a line of a grammar file stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
}

impl Position {
    /// An error at a column (from 1) of this line.
    pub fn error(&self, column: usize, message: impl Into<String>) -> GrammarError {
        GrammarError { file: self.file.clone(), line: self.line, column, message: message.into() }
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
    Word(Vec<String>),
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
}

/// A type as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeName {
    /// `LO-HI`.
    Range(u64, u64),
    /// `word/MAX` and its kin.
    Sized(String, u64),
    /// `ref NAME`.
    Reference(String),
    /// A built-in type or the name of a choice type.
    Named(String),
}

/// A clause of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is the clause of that name in grammar/README.md")]
pub enum Clause {
    KeepOne,
    KeepPer(Vec<String>),
    KeepEach(String),
    Open { mode: String, key: Vec<String> },
    Enter(String),
    Leave,
    End,
    Show(String),
    Do(String),
    Clear(Vec<ClearTarget>),
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
    Claims { below: bool, parts: Vec<String>, message: String },
    Excludes(Vec<String>),
    Needs { name: String, message: String },
    Under { name: String, message: String },
    Rejects { argument: String, value: String, with: String, message: String },
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
    for (index, line) in text.lines().enumerate() {
        let position = Position { file: file.to_owned(), line: index + 1 };
        let line = line.trim_end();
        if line.contains('\t') {
            let column = line.find('\t').map_or(1, |place| place + 1);
            return Err(position.error(column, "a tab; indent with blanks"));
        }
        let content = line.trim_start();
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

/// What is said of an indented line that stands under nothing that could own it.
const NOWHERE: &str = "an indented line belongs under a type, command or message";

fn in_message(entries: &[Entry], line: &str) -> bool {
    line.starts_with(' ') && matches!(entries.last(), Some(Entry::Message(_)))
}

/// Parses a line that begins an entry.
fn parse_head(line: &str, position: Position) -> Result<Entry, GrammarError> {
    if let Some(rest) = keyword(line, "type") {
        let (name, linked) = run(
            pair(name, opt(preceded((space1, tag("as"), space1), enum_name))),
            rest,
            line,
            &position,
            "the name of a type",
        )?;
        return Ok(Entry::Type(TypeStanza { name, linked, values: Vec::new(), position }));
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
                let parsed = separated_list1((space0, char(','), space0), clause).parse(rest);
                match parsed {
                    Ok((tail, clauses)) if tail.trim().is_empty() => {
                        let placed = clauses.into_iter().map(|clause| (clause, position.clone()));
                        command.clauses.extend(placed);
                        Ok(())
                    }
                    Ok((tail, _)) => Err(position.error(place(tail), "not a clause")),
                    Err(error) => {
                        let tail = rest_of(&error).unwrap_or(rest);
                        Err(position.error(place(tail), "not a clause"))
                    }
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
            if let ChoiceValue::Range(low, high) = value
                && low > high
            {
                return Err(position.error(column, format!("{low} is above {high}")));
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

fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-_.".contains(character)
}

fn name(input: &str) -> IResult<&str, String> {
    map(take_while1(is_name_character), str::to_owned).parse(input)
}

fn enum_name(input: &str) -> IResult<&str, String> {
    map(take_while1(|c: char| c.is_ascii_alphanumeric()), str::to_owned).parse(input)
}

fn string(input: &str) -> IResult<&str, String> {
    // A backslash makes the next character part of the text.
    let (rest, _) = char('"').parse(input)?;
    let mut text = String::new();
    let mut characters = rest.char_indices();
    while let Some((place, character)) = characters.next() {
        match character {
            '"' => return Ok((&rest[place + 1..], text)),
            '\\' => match characters.next() {
                Some((_, escaped)) => text.push(escaped),
                None => break,
            },
            other => text.push(other),
        }
    }
    Err(nom::Err::Error(nom::error::Error::new(input, nom::error::ErrorKind::Char)))
}

fn number(input: &str) -> IResult<&str, u64> {
    map_res(digit1, str::parse).parse(input)
}

fn range(input: &str) -> IResult<&str, (u64, u64)> {
    separated_pair(number, char('-'), number).parse(input)
}

fn choice_value(input: &str) -> IResult<&str, ChoiceValue> {
    alt((
        map(all_consuming(range), |(low, high)| ChoiceValue::Range(low, high)),
        map(
            all_consuming(pair(word, opt(preceded((space0, char('='), space0), number)))),
            |(word, number)| ChoiceValue::Word(word, number),
        ),
    ))
    .parse(input)
}

fn word(input: &str) -> IResult<&str, String> {
    let is_word = |character: char| is_name_character(character) || "!:*?+".contains(character);
    map(take_while1(is_word), str::to_owned).parse(input)
}

fn items(input: &str) -> IResult<&str, Vec<Item>> {
    many1(preceded(space0, item)).parse(input)
}

fn alternatives(input: &str) -> IResult<&str, Vec<Vec<Item>>> {
    separated_list1((space0, char('|')), items).parse(input)
}

fn item(input: &str) -> IResult<&str, Item> {
    alt((
        map(argument, |(name, kind, repeated)| Item::Argument { name, kind, repeated }),
        map(delimited(char('['), alternatives, (space0, char(']'))), Item::Optional),
        map(delimited(char('{'), alternatives, (space0, char('}'))), Item::Choice),
        map(separated_list1(char('/'), word), Item::Word),
    ))
    .parse(input)
}

fn argument(input: &str) -> IResult<&str, (String, TypeName, bool)> {
    let inner = separated_pair(name, char(':'), type_name);
    let (rest, (name, kind)) = delimited(char('<'), inner, char('>')).parse(input)?;
    let (rest, repeated) = opt(tag("...")).parse(rest)?;
    Ok((rest, (name, kind, repeated.is_some())))
}

fn type_name(input: &str) -> IResult<&str, TypeName> {
    alt((
        map(range, |(low, high)| TypeName::Range(low, high)),
        map(preceded((tag("ref"), space1), name), TypeName::Reference),
        map(separated_pair(name, char('/'), number), |(name, size)| TypeName::Sized(name, size)),
        map(name, TypeName::Named),
    ))
    .parse(input)
}

fn argument_reference(input: &str) -> IResult<&str, String> {
    delimited(char('<'), name, char('>')).parse(input)
}

fn argument_references(input: &str) -> IResult<&str, Vec<String>> {
    separated_list1(space1, argument_reference).parse(input)
}

fn names(input: &str) -> IResult<&str, Vec<String>> {
    separated_list1(space1, name).parse(input)
}

fn phrase<'a>(
    words: &'static str,
) -> impl Parser<&'a str, Output = (), Error = nom::error::Error<&'a str>> {
    move |input: &'a str| {
        let mut rest = input;
        for (index, word) in words.split(' ').enumerate() {
            if index > 0 {
                rest = space1(rest)?.0;
            }
            let (after, found) = recognize(name).parse(rest)?;
            if found != word {
                let kind = nom::error::ErrorKind::Tag;
                return Err(nom::Err::Error(nom::error::Error::new(input, kind)));
            }
            rest = after;
        }
        Ok((rest, ()))
    }
}

/// `phrase` and what follows it after a blank.
fn after<'a, T>(
    words: &'static str,
    parser: impl Parser<&'a str, Output = T, Error = nom::error::Error<&'a str>>,
) -> impl Parser<&'a str, Output = T, Error = nom::error::Error<&'a str>> {
    preceded((phrase(words), space1), parser)
}

fn clear_target(input: &str) -> IResult<&str, ClearTarget> {
    alt((
        map(after("no", name), ClearTarget::Negated),
        map(after("group", argument_reference), ClearTarget::Group),
        map(pair(name, preceded(space1, after("with", argument_references))), |(name, with)| {
            ClearTarget::With(name, with)
        }),
        map(name, ClearTarget::Name),
    ))
    .parse(input)
}

fn name_else_message(input: &str) -> IResult<&str, (String, String)> {
    separated_pair(name, (space1, tag("else"), space1), name).parse(input)
}

fn value_text(input: &str) -> IResult<&str, String> {
    alt((string, map(take_while1(|c: char| !c.is_whitespace() && c != ','), str::to_owned)))
        .parse(input)
}

fn clause(input: &str) -> IResult<&str, Clause> {
    alt((alt((verb_clause, identity_clause)), rule_clause)).parse(input)
}

fn verb_clause(input: &str) -> IResult<&str, Clause> {
    alt((
        map(phrase("keep one"), |()| Clause::KeepOne),
        map(after("keep per", argument_references), Clause::KeepPer),
        map(after("keep each", argument_reference), Clause::KeepEach),
        map(
            after("open", pair(name, opt(preceded(space1, after("per", argument_references))))),
            |(mode, key)| Clause::Open { mode, key: key.unwrap_or_default() },
        ),
        map(after("enter", name), Clause::Enter),
        map(phrase("leave"), |()| Clause::Leave),
        map(phrase("end"), |()| Clause::End),
        map(after("show", name), Clause::Show),
        map(after("do", name), Clause::Do),
        map(after("clear", separated_list1(space1, clear_target)), Clause::Clear),
    ))
    .parse(input)
}

fn identity_clause(input: &str) -> IResult<&str, Clause> {
    alt((
        map(after("as", name), Clause::As),
        map(phrase("world"), |()| Clause::World),
        map(after("group", argument_reference), Clause::Group),
        map_res(after("also", string), |syntax| {
            let parsed = all_consuming(items).parse(&syntax).map(|(_, items)| items);
            parsed.map(|items| Clause::Also(syntax.clone(), items)).map_err(|_| "no syntax line")
        }),
        map(after("from", string), Clause::From),
        map(after("level", name), Clause::Level),
        map(phrase("hidden"), |()| Clause::Hidden),
        map(after("privilege", number), Clause::Privilege),
    ))
    .parse(input)
}

fn rule_clause(input: &str) -> IResult<&str, Clause> {
    alt((
        map(phrase("default on"), |()| Clause::DefaultOn),
        map(
            after("default", separated_pair(argument_reference, space1, value_text)),
            |(argument, value)| Clause::Default(argument, value),
        ),
        map(phrase("no kept"), |()| Clause::NoKept),
        map(phrase("merge"), |()| Clause::Merge),
        map(phrase("again"), |()| Clause::Again),
        map(
            after(
                "rejects",
                (
                    argument_reference,
                    preceded(space1, after("above", argument_reference)),
                    preceded(space1, after("else", name)),
                ),
            ),
            |(argument, limit, message)| Clause::RejectsAbove { argument, limit, message },
        ),
        map(phrase("hashed"), |()| Clause::Hashed),
        map(after("at-most", number), Clause::AtMost),
        map(after("unique", argument_reference), Clause::Unique),
        map(
            after(
                "most",
                (
                    argument_reference,
                    preceded(space1, number),
                    preceded(space1, after("else", name)),
                ),
            ),
            |(argument, most, message)| Clause::Most { argument, most, message },
        ),
        map(
            after(
                "claims",
                (
                    opt(terminated(phrase("below"), space1)),
                    argument_references,
                    preceded(space1, after("else", name)),
                ),
            ),
            |(below, parts, message)| Clause::Claims { below: below.is_some(), parts, message },
        ),
        map(after("excludes", names), Clause::Excludes),
        map(after("needs", name_else_message), |(name, message)| Clause::Needs { name, message }),
        map(after("under", name_else_message), |(name, message)| Clause::Under { name, message }),
        map(
            after(
                "rejects",
                (
                    argument_reference,
                    preceded(space1, value_text),
                    preceded(space1, after("with", value_text)),
                    preceded(space1, after("else", name)),
                ),
            ),
            |(argument, value, with, message)| Clause::Rejects { argument, value, with, message },
        ),
        map(after("in-use", name), Clause::InUse),
        map(after("pack", number), Clause::Pack),
        map(after("adds", string), Clause::Adds),
        map(phrase("verbatim"), |()| Clause::Verbatim),
    ))
    .parse(input)
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
        let stanza = command("a/b {c | <n:1-5>} [<m:metric>...]\n");
        assert_eq!(stanza.items[0], Item::Word(vec!["a".to_owned(), "b".to_owned()]));
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
