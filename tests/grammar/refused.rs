//! Values just outside their types, and lines that end too early, are refused at their place and
//! in the right words.

use adxemu::cli::matcher::{self, Stop, Why};
use adxemu::cli::words;
use adxemu::config::load::stop_message;
use adxemu::grammar::Grammar;
use adxemu::grammar::trie::Node;
use adxemu::grammar::value::{Fit, ValueType, starts_with_ignoring_case};

use crate::grammar::count::Count;
use crate::grammar::lines::{Line, everywhere};
use crate::grammar::small::small;
use crate::grammar::values;

#[test]
fn values_outside_their_types_are_refused_by_the_device() {
    let count = check(&Grammar::built_in().unwrap());
    count.require(
        "device",
        &[("numbers out of range", 300), ("words that do not fit", 500), ("lines too short", 500)],
    );
}

#[test]
fn values_outside_their_types_are_refused_by_the_small_grammar() {
    let count = check(&small());
    count.require(
        "small",
        &[("numbers out of range", 3), ("words that do not fit", 40), ("lines too short", 20)],
    );
}

fn check(grammar: &Grammar) -> Count {
    let mut count = Count::default();
    for (command, mode) in everywhere(grammar) {
        for form in 0..command.forms.len() {
            let line = Line::new(grammar, command, mode, form, 0);
            for index in 0..line.pieces.len() {
                check_values(&line, index, &mut count);
                check_end(&line, index, &mut count);
            }
        }
    }
    count
}

fn check_values(line: &Line<'_>, index: usize, count: &mut Count) {
    let piece = &line.pieces[index];
    let Some(argument) = piece.argument else { return };
    let value_type = &line.command.arguments[argument].value_type;
    for text in values::outside(line.grammar, value_type) {
        let mut wrong = line.clone();
        wrong.pieces[index].text.clone_from(&text);
        let typed = wrong.text();
        let words = words::split(&typed);
        let place = words::split(&line.before(index)).len();
        check_type(line.grammar, value_type, words[place]);
        // Something else that can stand here may take it.
        let Some(mut why) = expected(line.grammar, line.node(piece.place), words[place]) else {
            count.one("words that fit something else");
            continue;
        };
        if let (Why::OutOfRange(low, high), Some(storage)) = (&why, &line.command.storage)
            && let Some(said) = storage.bounds.iter().find(|one| one.argument == argument)
        {
            let is_low = text.parse::<u64>().is_ok_and(|number| number < *low);
            why = Why::Outside(if is_low { said.low } else { said.high }, *low, *high);
        }
        let stop = matcher::match_in(line.grammar, line.mode, &words, &typed).unwrap_err();
        assert_eq!(stop, Stop { word: place, why: why.clone() }, "{typed}");
        let message = stop_message(line.grammar, &stop, &words, &typed);
        let first = message.lines().next().unwrap();
        if let Why::NoSuch(_) = why {
            assert!(first.contains(words[place].text), "{typed}: {first}");
            assert!(!first.contains('{'), "{typed}: {first}");
            count.one("words with an answer of their own");
        } else if let Why::Outside(..) = why {
            assert!(first.len() > 1 && !first.contains('{'), "{typed}: {first}");
            count.one("numbers with an answer of their own");
        } else if let Why::OutOfRange(low, high) = why {
            let behind = first.split_once(&text).map_or("", |(_, behind)| behind);
            let numbers: Vec<u64> =
                behind.split(' ').filter_map(|word| word.parse().ok()).collect();
            assert_eq!(numbers, [low, high], "{typed}: {first}");
            count.one("numbers out of range");
        } else {
            assert!(first.ends_with(&typed[words[place].start..]), "{typed}: {first}");
            count.one("words that do not fit");
        }
        check_session(line, place, &typed);
    }
}

/// The type itself refuses the word: as a number outside its range, or as no value at all.
fn check_type(grammar: &Grammar, value_type: &ValueType, word: words::Word<'_>) {
    let takes_numbers = match value_type {
        ValueType::Range(..) => true,
        ValueType::Choice(id) => !grammar.choices[id.0].ranges.is_empty(),
        ValueType::Reference(_, base) => return check_type(grammar, base, word),
        _ => false,
    };
    let is_number = !word.quoted && word.text.bytes().all(|byte| byte.is_ascii_digit());
    let fit = value_type.fit(&grammar.choices, word.text, word.quoted);
    if takes_numbers && is_number {
        assert!(matches!(fit, Fit::OutOfRange(..)), "{value_type:?} takes {word:?}: {fit:?}");
    } else {
        assert_eq!(fit, Fit::No, "{value_type:?} takes {word:?}");
    }
}

/// From a session's view a mode above may understand more of the line, never less.
fn check_session(line: &Line<'_>, place: usize, typed: &str) {
    let words = words::split(typed);
    match matcher::match_line(line.grammar, line.mode, &words, typed) {
        Ok(hit) => assert_ne!(hit.mode, line.mode, "{typed}"),
        Err(stop) => assert!(stop.word >= place, "{typed}: {stop:?}"),
    }
}

/// Why no edge of a node takes a word; `None` if one does.
fn expected(grammar: &Grammar, node: &Node, word: words::Word<'_>) -> Option<Why> {
    let words = node.words.iter().flat_map(|edge| edge.spellings.iter());
    if !word.quoted && words.into_iter().any(|one| starts_with_ignoring_case(one, word.text)) {
        return None;
    }
    let otherwise = node.arguments.iter().find_map(|edge| match edge.value_type {
        ValueType::Choice(id) => grammar.choices[id.0].otherwise,
        _ => None,
    });
    let takes_port = node.arguments.iter().any(|edge| edge.value_type == ValueType::Port);
    let unknown = if takes_port { Why::NoPort } else { Why::Unknown };
    let mut why = otherwise.map_or(unknown, Why::NoSuch);
    for edge in &node.arguments {
        match edge.value_type.fit(&grammar.choices, word.text, word.quoted) {
            Fit::No => {}
            Fit::OutOfRange(low, high) => {
                why = match why {
                    Why::OutOfRange(lowest, highest) => {
                        Why::OutOfRange(low.min(lowest), high.max(highest))
                    }
                    _ => Why::OutOfRange(low, high),
                };
            }
            Fit::Exact(_) | Fit::Typed(_) | Fit::Free(_) | Fit::Beginnings(_) => return None,
        }
    }
    // A type of choices may have its own answer to a word that is none of them.
    if why == Why::Unknown {
        let answer = node.arguments.iter().find_map(|edge| match edge.value_type {
            ValueType::Choice(id) => grammar.choices[id.0].otherwise,
            _ => None,
        });
        why = answer.map_or(why, Why::NoSuch);
    }
    Some(why)
}

/// A line that ends before a piece is incomplete, unless it is a command by then.
fn check_end(line: &Line<'_>, index: usize, count: &mut Count) {
    let piece = &line.pieces[index];
    if index == 0 || line.node(piece.place).leaf.is_some() {
        return;
    }
    let typed = line.before(index);
    let words = words::split(&typed);
    let stop = matcher::match_in(line.grammar, line.mode, &words, &typed).unwrap_err();
    assert_eq!(stop, Stop { word: words.len(), why: Why::Incomplete }, "{typed}");
    count.one("lines too short");
}
