//! Lines of every form of every command find their command: in full, in any case, in every
//! spelling, abbreviated as far as the trie allows, and with `no`.

use adxemu::cli::matcher::{self, Hit, Stop, Why};
use adxemu::cli::words;
use adxemu::grammar::trie::Node;
use adxemu::grammar::value::{ValueType, starts_with_ignoring_case};
use adxemu::grammar::{Grammar, ModeId, Storage};

use crate::grammar::count::Count;
use crate::grammar::lines::{Line, Piece, everywhere};
use crate::grammar::small::small;
use crate::grammar::values;

#[test]
fn lines_of_the_device_find_their_commands() {
    let count = check(&Grammar::built_in().unwrap());
    count.require(
        "device",
        &[
            ("commands", 200),
            ("lines", 1000),
            ("ends", 500),
            ("spellings", 10),
            ("abbreviations", 1000),
            ("letters too few", 300),
            ("no forms", 300),
            ("repeated values", 20),
        ],
    );
}

#[test]
fn lines_of_the_small_grammar_find_their_commands() {
    let count = check(&small());
    count.require(
        "small",
        &[("commands", 30), ("ends", 40), ("spellings", 1), ("repeated values", 3)],
    );
}

fn check(grammar: &Grammar) -> Count {
    let mut count = Count::default();
    for (command, mode) in everywhere(grammar) {
        count.one("commands");
        for form in 0..command.forms.len() {
            let line = Line::new(grammar, command, mode, form, 0);
            require_found(&line, &line.text(), false);
            count.one("lines");
            check_case(&line);
            check_spellings(&line, &mut count);
            check_abbreviations(&line, &mut count);
            check_negations(&line, &mut count);
            check_ends(&line, &mut count);
            check_repetition(&line, &mut count);
        }
    }
    count
}

fn find(grammar: &Grammar, mode: ModeId, text: &str) -> Result<Hit, Stop> {
    matcher::match_in(grammar, mode, &words::split(text), text)
}

/// Requires that a text is a line of the command, in its mode and from the session's view.
fn require_found(line: &Line<'_>, text: &str, negated: bool) -> Hit {
    let hit = match find(line.grammar, line.mode, text) {
        Ok(hit) => hit,
        Err(stop) => panic!("{text}: {stop:?}, in {}", line.grammar.mode(line.mode).name),
    };
    let found = line.grammar.command(hit.command);
    assert_eq!(found.id, line.command.id, "{text} is {}", found.syntax);
    assert_eq!(hit.negated, negated, "{text}");
    let searched = matcher::match_line(line.grammar, line.mode, &words::split(text), text);
    assert_eq!(searched.as_ref(), Ok(&hit), "{text}");
    hit
}

fn check_case(line: &Line<'_>) {
    let mut upper = line.clone();
    for piece in upper.pieces.iter_mut().filter(|piece| piece.argument.is_none()) {
        piece.text.make_ascii_uppercase();
    }
    let hit = require_found(line, &upper.text(), false);
    assert_eq!(hit, require_found(line, &line.text(), false), "{}", upper.text());
}

fn check_spellings(line: &Line<'_>, count: &mut Count) {
    for (index, piece) in line.pieces.iter().enumerate() {
        if piece.argument.is_some() {
            continue;
        }
        let node = line.node(piece.place);
        let edge = node.words.iter().find(|edge| edge.spellings[0] == piece.text).unwrap();
        for spelling in &edge.spellings[1..] {
            let mut other = line.clone();
            other.pieces[index].text = spelling.to_string();
            require_found(line, &other.text(), false);
            count.one("spellings");
        }
    }
}

/// Everything that can be abbreviated at a node: words, each in its spellings, and choices.
fn names_at(grammar: &Grammar, node: &Node) -> Vec<Vec<String>> {
    let mut names: Vec<Vec<String>> = node
        .words
        .iter()
        .map(|edge| edge.spellings.iter().map(ToString::to_string).collect())
        .collect();
    for edge in &node.arguments {
        if let ValueType::Choice(id) = edge.value_type {
            let words = &grammar.choices[id.0].words;
            names.extend(words.iter().map(|word| vec![word.word.clone()]));
        }
    }
    names
}

/// How many letters of a name tell it from all others at a node.
fn letters_needed(grammar: &Grammar, node: &Node, name: &str) -> usize {
    let others: Vec<Vec<String>> = names_at(grammar, node)
        .into_iter()
        .filter(|spellings| !spellings.iter().any(|one| one == name))
        .collect();
    let is_shared = |length: usize| {
        others.iter().flatten().any(|other| starts_with_ignoring_case(other, &name[..length]))
    };
    (1..=name.len()).find(|length| !is_shared(*length)).unwrap_or(name.len())
}

fn check_abbreviations(line: &Line<'_>, count: &mut Count) {
    let can_be_short = |piece: &Piece| match piece.argument {
        None => true,
        Some(argument) => {
            matches!(line.command.arguments[argument].value_type, ValueType::Choice(_))
                && piece.text.starts_with(|first: char| first.is_ascii_alphabetic())
        }
    };
    let mut shortest = line.clone();
    for (index, piece) in line.pieces.iter().enumerate() {
        if !can_be_short(piece) {
            continue;
        }
        let needed = letters_needed(line.grammar, line.node(piece.place), &piece.text);
        shortest.pieces[index].text.truncate(needed);
        if needed == 1 {
            continue;
        }
        let mut shorter = line.clone();
        shorter.pieces[index].text.truncate(needed - 1);
        let text = shorter.text();
        let known = names_at(line.grammar, line.node(piece.place));
        if known.iter().flatten().any(|name| *name == shorter.pieces[index].text) {
            continue;
        }
        match find(line.grammar, line.mode, &text) {
            Err(Stop { word, why: Why::Ambiguous(names) }) => {
                assert_eq!(word, words::split(&line.before(index)).len(), "{text}");
                assert!(names.len() > 1, "{text}: {names:?}");
            }
            other => panic!("{text} is not ambiguous: {other:?}"),
        }
        count.one("letters too few");
    }
    let hit = require_found(line, &shortest.text(), false);
    assert_eq!(hit, require_found(line, &line.text(), false), "{}", shortest.text());
    count.one("abbreviations");
}

fn check_negations(line: &Line<'_>, count: &mut Count) {
    for text in line.negations() {
        require_found(line, &text, true);
        require_found(line, &text.to_ascii_uppercase().replacen("NO ", "n ", 0), true);
        count.one("no forms");
    }
}

fn check_ends(line: &Line<'_>, count: &mut Count) {
    for (index, piece) in line.pieces.iter().enumerate() {
        let Some(argument) = piece.argument else { continue };
        let value_type = &line.command.arguments[argument].value_type;
        for end in values::ends(line.grammar, value_type, line.node(piece.place)) {
            let mut other = line.clone();
            other.pieces[index].text = end;
            let hit = require_found(line, &other.text(), false);
            let bound = hit.values.iter().filter(|(one, _)| usize::from(*one) == argument);
            assert_eq!(bound.count(), 1, "{}", other.text());
            count.one("ends");
        }
    }
}

/// What repeats takes several entries, and the same one twice only where that is allowed.
fn check_repetition(line: &Line<'_>, count: &mut Count) {
    let is_repeated = |piece: &&Piece| {
        piece.argument.is_some_and(|argument| line.command.arguments[argument].repeated)
    };
    let repeated: Vec<usize> =
        line.pieces.iter().filter(is_repeated).filter_map(|piece| piece.argument).collect();
    let [.., last] = repeated[..] else { return };
    let entry = |n: usize| {
        let text = |argument: &usize| {
            values::value(line.grammar, &line.command.arguments[*argument].value_type, n)
        };
        repeated.iter().map(text).collect::<Vec<_>>().join(" ")
    };
    // The further entries stand behind the first one, before a word that ends the list.
    let first = line.pieces.iter().rposition(|piece| is_repeated(&piece)).unwrap();
    let (head, tail) = line.pieces.split_at(first + 1);
    let joined = |pieces: &[Piece]| {
        pieces.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>().join(" ")
    };
    let with = |more: &[String]| {
        [joined(head), more.join(" "), joined(tail)].join(" ").trim_end().to_owned()
    };
    let text = with(&[entry(1), entry(2), entry(3)]);
    let hit = require_found(line, &text, false);
    for argument in &repeated {
        let value_type = &line.command.arguments[*argument].value_type;
        let bound: Vec<String> = hit
            .values
            .iter()
            .filter(|(one, _)| usize::from(*one) == *argument)
            .map(|(_, value)| {
                let mut text = String::new();
                value_type.print(&line.grammar.choices, value, &mut text);
                text
            })
            .collect();
        let typed: Vec<String> =
            (0..4).map(|n| values::value(line.grammar, value_type, n)).collect();
        assert_eq!(bound, typed, "{text}");
    }
    count.one("repeated values");
    if repeated.len() > 1 && tail.is_empty() {
        let (short, _) = text.rsplit_once(' ').unwrap();
        let stop = find(line.grammar, line.mode, short).unwrap_err();
        assert_eq!(stop.why, Why::Incomplete, "{short}");
    }

    let storage: Option<&Storage> = line.command.storage.as_deref();
    let unique = storage.is_some_and(|storage| storage.unique == Some(last));
    let twice = with(&[entry(1), entry(2), entry(3), entry(1)]);
    match find(line.grammar, line.mode, &twice) {
        Err(stop) if unique => {
            let place = words::split(&twice).len() - 1 - tail.len();
            assert_eq!(stop, Stop { word: place, why: Why::Unknown }, "{twice}");
        }
        Ok(_) if !unique => {}
        other => panic!("{twice}: {other:?}"),
    }
}
