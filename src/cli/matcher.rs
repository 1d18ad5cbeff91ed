//! Words and mode to a command, or to the place where they stop being one.

use std::cell::OnceCell;

use smallvec::SmallVec;

use crate::cli::words::Word;
use crate::config::tree::{Values, same_value};
use crate::grammar::expand::{self, Token};
use crate::grammar::link::Message;
use crate::grammar::trie::{Leaf, NodeId, Step};
use crate::grammar::value::{Value, ValueType};
use crate::grammar::{CommandId, Grammar, ModeId};

/// A line that is a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The command.
    pub command: CommandId,
    /// Whether it is the derived `no` form.
    pub negated: bool,
    /// The values of its arguments.
    pub values: Values,
    /// The mode that has it: the session's own or one above.
    pub mode: ModeId,
}

/// A line that is no command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The first word that does not fit; the number of words if the line is too short.
    pub word: usize,
    /// Why it does not fit.
    pub why: Why,
}

/// Why a word does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// Nothing like it can stand here.
    Unknown,
    /// It is the beginning of each of these.
    Ambiguous(Vec<String>),
    /// It is a number outside this range.
    OutOfRange(u64, u64),
    /// It is a number outside this range, of which this is said.
    Outside(Message, u64, u64),
    /// It is no port where one must stand.
    NoPort,
    /// It is none of the values that a type of choices has, and the type says this of it.
    NoSuch(Message),
    /// More words are needed.
    Incomplete,
}

/// Looks for a line in a mode and, if the mode does not know its first word, in the modes above.
///
/// # Errors
///
/// Where the line stops being a command, as far as the mode that understood most of it tells.
pub fn match_line(
    grammar: &Grammar,
    mode: ModeId,
    words: &[Word<'_>],
    line: &str,
) -> Result<Hit, Stop> {
    let mut deepest: Option<Stop> = None;
    for mode in grammar.search_path(mode) {
        match match_in(grammar, mode, words, line) {
            Ok(hit) => return Ok(hit),
            Err(stop) => {
                // A word that this mode takes for the beginning of a longer one may be the very
                // word of a mode above (`enable`, `ip access-list`): only a line that fits there
                // as a whole is taken. What is ambiguous or out of range here stays so.
                let is_final = !stop.is_unknown();
                // At the same word, what it means somewhere says more than that it means nothing.
                let says_more =
                    |known: &Stop| stop.word > known.word || (stop.word == known.word && is_final);
                if deepest.as_ref().is_none_or(says_more) {
                    deepest = Some(stop);
                }
                if is_final {
                    break;
                }
            }
        }
    }
    Err(deepest.unwrap_or(Stop { word: 0, why: Why::Unknown }))
}

impl Stop {
    fn is_unknown(&self) -> bool {
        matches!(self.why, Why::Unknown | Why::NoPort)
    }
}

/// Looks for a line in one mode only.
///
/// # Errors
///
/// Where the line stops being a command of that mode.
pub fn match_in(
    grammar: &Grammar,
    mode: ModeId,
    words: &[Word<'_>],
    line: &str,
) -> Result<Hit, Stop> {
    let walk = match walk(grammar, mode, words, line) {
        Err(stop) => return Err(first_told(grammar, mode, words, line, stop)),
        Ok(walk) => walk,
    };
    let stop = Stop { word: words.len(), why: Why::Incomplete };
    let leaf = grammar.trie(mode).node(walk.place).leaf.ok_or(stop)?;
    let values = bind(grammar, leaf, walk.values);
    if let Some(behind) = repeats(grammar, leaf, &values) {
        return Err(Stop { word: words.len() - behind, why: Why::Unknown });
    }
    Ok(Hit { command: leaf.command, negated: leaf.negated, values, mode })
}

/// What is told of a line with a number outside of its range: a word behind it that cannot stand there
/// comes first (base-cli 2.1), and the number may be told in words of its command.
fn first_told(grammar: &Grammar, mode: ModeId, words: &[Word<'_>], line: &str, stop: Stop) -> Stop {
    let Why::OutOfRange(low, high) = stop.why else { return stop };
    let number = words.get(stop.word).map_or("", |word| word.text);
    // As if numbers of the ranges stood there.
    let insides: Vec<OnceCell<String>> = vec![OnceCell::new(); words.len()];
    let mut corrected = words.to_vec();
    let mut place = (stop.word, low);
    let walk = loop {
        let (word, low) = place;
        corrected[word].text = insides[word].get_or_init(|| low.to_string());
        match walk(grammar, mode, &corrected, line) {
            Ok(walk) => break walk,
            Err(Stop { word, why: Why::OutOfRange(low, _) }) if insides[word].get().is_none() => {
                place = (word, low);
            }
            Err(behind) if behind.is_unknown() => return behind,
            Err(_) => return stop,
        }
    };
    let Some(leaf) = grammar.trie(mode).node(walk.place).leaf else { return stop };
    let values = bind(grammar, leaf, walk.values);
    let command = grammar.command(leaf.command);
    let bounds = command.storage.as_ref().map_or(&[][..], |storage| &storage.bounds);
    let said = bounds.iter().find(|one| {
        let is_range = command.arguments[one.argument].value_type == ValueType::Range(low, high);
        is_range && values.iter().any(|(place, _)| usize::from(*place) == one.argument)
    });
    let Some(said) = said else { return stop };
    let is_low = number.parse::<u64>().is_ok_and(|number| number < low);
    let message = if is_low { said.low } else { said.high };
    Stop { why: Why::Outside(message, low, high), ..stop }
}

/// A value that may occur once and occurs again cannot stand there: how many words from the end.
fn repeats(grammar: &Grammar, leaf: Leaf, values: &Values) -> Option<usize> {
    let command = grammar.command(leaf.command);
    let unique = command.storage.as_ref()?.unique?;
    let ignores_case = command.arguments[unique].value_type.ignores_case();
    let listed: Vec<&Value> = values
        .iter()
        .filter(|(argument, _)| usize::from(*argument) == unique)
        .map(|(_, value)| value)
        .collect();
    let place = (0..listed.len()).find(|place| {
        listed[..*place].iter().any(|known| same_value(known, listed[*place], ignores_case))
    })?;
    let form = leaf.form_of(command);
    Some(listed.len() - place + form.len() - expand::repetition(form).end)
}

/// Where words lead in a mode.
#[derive(Debug)]
pub struct Walk {
    /// The node behind the last word.
    pub place: NodeId,
    /// The values on the way.
    pub values: SmallVec<[Value; 4]>,
}

/// Follows words from the beginning of a line.
///
/// # Errors
///
/// The first word that does not fit.
pub fn walk(grammar: &Grammar, mode: ModeId, words: &[Word<'_>], line: &str) -> Result<Walk, Stop> {
    let trie = grammar.trie(mode);
    let mut place = NodeId::ROOT;
    let mut values = SmallVec::new();
    for (index, word) in words.iter().enumerate() {
        match trie.step(place, word.text, word.quoted, &grammar.choices) {
            Step::Word(target) => place = target,
            Step::Value(target, value) => {
                let taker = trie
                    .node(place)
                    .arguments
                    .iter()
                    .find(|edge| edge.target == target && edge.value_type.takes_the_rest());
                place = target;
                if let Some(edge) = taker {
                    let rest = edge.value_type.rest(line[word.start..].trim_end());
                    values.push(rest.ok_or(Stop { word: index, why: Why::Unknown })?);
                    break;
                }
                values.push(value);
            }
            Step::Ambiguous(names) => {
                return Err(Stop { word: index, why: Why::Ambiguous(names) });
            }
            Step::OutOfRange(low, high) => {
                return Err(Stop { word: index, why: Why::OutOfRange(low, high) });
            }
            Step::Unknown => {
                let takes_port = trie.node(place).arguments.iter();
                let mut ports = takes_port.filter(|edge| edge.value_type == ValueType::Port);
                let unknown = if ports.next().is_some() { Why::NoPort } else { Why::Unknown };
                let why = no_such(grammar, mode, place).map_or(unknown, Why::NoSuch);
                return Err(Stop { word: index, why });
            }
        }
    }
    Ok(Walk { place, values })
}

/// What a type of choices that could stand here says of a word that is none of them.
fn no_such(grammar: &Grammar, mode: ModeId, place: NodeId) -> Option<Message> {
    let edges = &grammar.trie(mode).node(place).arguments;
    edges.iter().find_map(|edge| match edge.value_type {
        ValueType::Choice(id) => grammar.choices[id.0].otherwise,
        _ => None,
    })
}

/// Gives the values on a path to the arguments of the form that the path is written in.
fn bind(grammar: &Grammar, leaf: Leaf, values: SmallVec<[Value; 4]>) -> Values {
    let form = leaf.form_of(grammar.command(leaf.command));
    let argument_of = |token: &Token| match token {
        Token::Argument { argument, .. } => u8::try_from(*argument).ok(),
        Token::Word(_) => None,
    };
    let repetition = expand::repetition(form);
    let before = form[..repetition.start].iter().filter_map(argument_of);
    let again = form[repetition.clone()].iter().filter_map(argument_of);
    let behind = form[repetition.end..].iter().filter_map(argument_of);
    let repeated = values.len().saturating_sub(before.clone().count() + behind.clone().count());
    let arguments = before.chain(again.cycle().take(repeated)).chain(behind);
    let mut bound: Values = arguments.zip(values).collect();
    bound.sort_by_key(|(argument, _)| *argument);
    bound
}
