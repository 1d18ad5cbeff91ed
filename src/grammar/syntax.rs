//! The parts of the notation as parsers: names, syntax lines, clauses.

use arcstr::ArcStr;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while1};
use nom::character::complete::{char, digit1, space0, space1};
use nom::combinator::{all_consuming, map, map_opt, map_res, opt, recognize, verify};
use nom::multi::{many1, separated_list1};
use nom::sequence::{delimited, pair, preceded, separated_pair, terminated};
use nom::{IResult, Parser};

use crate::grammar::notation::{ChoiceValue, Clause, ClearTarget, Item, TypeName};

fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-_.".contains(character)
}

pub(super) fn name(input: &str) -> IResult<&str, String> {
    map(take_while1(is_name_character), str::to_owned).parse(input)
}

pub(super) fn enum_name(input: &str) -> IResult<&str, String> {
    map(take_while1(|c: char| c.is_ascii_alphanumeric()), str::to_owned).parse(input)
}

pub(super) fn string(input: &str) -> IResult<&str, String> {
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

pub(super) fn choice_value(input: &str) -> IResult<&str, ChoiceValue> {
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

pub(super) fn items(input: &str) -> IResult<&str, Vec<Item>> {
    many1(preceded(space0, item)).parse(input)
}

fn alternatives(input: &str) -> IResult<&str, Vec<Vec<Item>>> {
    separated_list1((space0, char('|')), items).parse(input)
}

fn item(input: &str) -> IResult<&str, Item> {
    alt((
        map(argument, |(name, kind, repeated)| Item::Argument { name, kind, repeated }),
        map(delimited(char('['), alternatives, (space0, char(']'))), Item::Optional),
        map(
            terminated(delimited(char('{'), items, (space0, char('}'))), tag("...")),
            Item::Repeated,
        ),
        map(delimited(char('{'), alternatives, (space0, char('}'))), Item::Choice),
        map(separated_list1(char('/'), word), |words| {
            Item::Word(words.into_iter().map(ArcStr::from).collect())
        }),
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
        map(preceded((tag("ref"), space1), separated_list1(char('/'), name)), TypeName::Reference),
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

pub(super) fn clause(input: &str) -> IResult<&str, Clause> {
    alt((verb_clause, identity_clause, rule_clause, comparison_clause, device_clause)).parse(input)
}

fn verb_clause(input: &str) -> IResult<&str, Clause> {
    alt((
        map(phrase("keep one"), |()| Clause::KeepOne),
        map(after("keep per", argument_references), Clause::KeepPer),
        map(
            after(
                "keep each",
                pair(argument_references, opt(preceded(space1, after("per", argument_references)))),
            ),
            |(entry, key)| Clause::KeepEach { entry, key: key.unwrap_or_default() },
        ),
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
        map(after("alter then", name), |action| Clause::Alter(Some(action))),
        map(phrase("alter"), |()| Clause::Alter(None)),
        map(after("apply", name), Clause::Apply),
    ))
    .parse(input)
}

fn comparison_clause(input: &str) -> IResult<&str, Clause> {
    alt((
        map(
            after(
                "spans",
                (
                    argument_reference,
                    preceded(space1, argument_reference),
                    preceded(space1, number),
                    preceded(space1, after("else", name)),
                ),
            ),
            |(first, last, most, message)| Clause::Spans { first, last, most, message },
        ),
        map(
            after(
                "avoids",
                (
                    argument_reference,
                    preceded(space1, argument_reference),
                    preceded(space1, name),
                    preceded(space1, after("else", name)),
                ),
            ),
            |(first, last, choices, message)| Clause::Avoids { first, last, choices, message },
        ),
        map_opt(after("differs from", names), |mut from| {
            let message = from.pop()?;
            let is_last = from.pop()? == "else" && !from.is_empty();
            is_last.then_some(Clause::Differs { from, message })
        }),
        map(phrase("waits"), |()| Clause::Waits),
    ))
    .parse(input)
}

/// Rules about the device itself, and what is said where they forbid a line.
fn device_clause(input: &str) -> IResult<&str, Clause> {
    alt((
        map(
            after(
                "bounds",
                (
                    argument_reference,
                    preceded(space1, after("else", name)),
                    preceded(space1, after("else", name)),
                ),
            ),
            |(argument, low, high)| Clause::Bounds { argument, low, high },
        ),
        map(after("absent else", name), Clause::Absent),
        map(after("once else", name), Clause::Once),
        map(after("gathers", argument_reference), Clause::Gathers),
        map(
            after(
                "fitted",
                (
                    argument_reference,
                    preceded(space1, name),
                    preceded(space1, after("else", name)),
                    preceded(space1, after("else", name)),
                ),
            ),
            |(argument, modules, port, slot)| Clause::Fitted { argument, modules, port, slot },
        ),
        map(
            after(
                "apart",
                (
                    argument_reference,
                    preceded(space1, argument_reference),
                    preceded(space1, argument_reference),
                ),
            ),
            |(address, mask, kind)| Clause::Apart { address, mask, kind },
        ),
        map(after("wants", name_else_message), |(name, message)| Clause::Wants { name, message }),
        map(
            after("whole", (argument_reference, preceded(space1, names_else), name)),
            |(argument, names, message)| Clause::Whole { argument, names, message },
        ),
    ))
    .parse(input)
}

/// Names up to an `else`.
fn names_else(input: &str) -> IResult<&str, Vec<String>> {
    let is_name = verify(name, |name: &str| name != "else");
    terminated(separated_list1(space1, is_name), (space1, tag("else"), space1)).parse(input)
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
        map(
            after("suggests", separated_pair(argument_reference, space1, names)),
            |(argument, names)| Clause::Suggests(argument, names),
        ),
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
                "first",
                (
                    argument_reference,
                    preceded(space1, value_text),
                    preceded(space1, after("else", name)),
                ),
            ),
            |(argument, value, message)| Clause::First { argument, value, message },
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
                "learned",
                separated_pair(argument_reference, space1, after("of", argument_references)),
            ),
            |(address, name)| Clause::Learned { address, name },
        ),
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
