//! What is kept is printed, read back as the same, and taken away by `no`.

use adxemu::grammar::value::ValueType;
use adxemu::grammar::{Grammar, Storage, Verb};

use crate::grammar::count::Count;
use crate::grammar::desk::Desk;
use crate::grammar::lines::{Line, Script, keeping};
use crate::grammar::small::small;
use crate::grammar::values;

#[test]
fn statements_of_the_device_are_printed_read_back_and_removed() {
    let count = check(&Grammar::built_in().unwrap());
    count.require(
        "device",
        &[
            ("statements", 250),
            ("round trips", 600),
            ("printed as typed", 200),
            ("removals", 250),
            ("removals beside others", 100),
            ("removals of what is absent", 250),
        ],
    );
}

#[test]
fn statements_of_the_small_grammar_are_printed_read_back_and_removed() {
    let count = check(&small());
    count.require("small", &[("statements", 20), ("round trips", 40), ("removals", 20)]);
}

fn check(grammar: &Grammar) -> Count {
    let mut count = Count::default();
    for (command, mode) in keeping(grammar) {
        count.one("statements");
        for form in 0..command.printed_forms {
            for n in 0..2 {
                let line = Line::new(grammar, command, mode, form, n);
                check_print(&line, &mut count);
                check_removal(&line, &mut count);
            }
            check_ends(&Line::new(grammar, command, mode, form, 0), &mut count);
            check_neighbour(
                &Line::new(grammar, command, mode, form, 0),
                &apart(Line::new(grammar, command, mode, form, 1)),
                &mut count,
            );
        }
        // Another way of writing it is kept as the same.
        for form in command.printed_forms..command.forms.len() {
            let other =
                Desk::accepted(grammar, &Script::of(&Line::new(grammar, command, mode, form, 0)));
            let printed = (0..command.printed_forms).any(|form| {
                let line = Line::new(grammar, command, mode, form, 0);
                Desk::accepted(grammar, &Script::of(&line)).is_same(&other)
            });
            assert!(printed, "{}", command.syntax);
            count.one("second syntax lines");
        }
    }
    count
}

fn storage<'a>(line: &Line<'a>) -> &'a Storage {
    line.command.storage.as_ref().unwrap()
}

fn check_print(line: &Line<'_>, count: &mut Count) {
    let desk = Desk::accepted(line.grammar, &Script::of(line));
    desk.require_round_trip();
    count.one("round trips");
    let storage = storage(line);
    let is_plain = storage.defaults.is_empty()
        && !storage.default_on
        && !line.command.arguments.iter().any(|one| one.value_type == ValueType::Delimited);
    let is_printed = !matches!(line.command.verb, Verb::Open(_)) || !storage.key.is_empty();
    if is_plain && is_printed {
        assert_eq!(desk.number_of(line.command.id), 1, "{}", line.text());
        let lines = desk.lines();
        assert!(lines.contains(&line.text()), "{} is not in {lines:#?}", line.text());
        count.one("printed as typed");
    }
}

/// Whether the device adds the line again when it is removed: the one that adds it is needed.
fn comes_back(line: &Line<'_>) -> bool {
    let adding = line.grammar.adding(line.mode, storage(line).kept);
    adding
        .and_then(|adding| adding.storage.as_ref())
        .is_some_and(|adding| storage(line).needs.iter().any(|need| need.kept == Some(adding.kept)))
}

/// Values at both ends of their types are read back as they were.
fn check_ends(line: &Line<'_>, count: &mut Count) {
    if !storage(line).above.is_empty() || storage(line).hashed {
        return;
    }
    for (index, piece) in line.pieces.iter().enumerate() {
        let Some(argument) = piece.argument else { continue };
        let value_type = &line.command.arguments[argument].value_type;
        for end in values::ends(line.grammar, value_type, line.node(piece.place)) {
            let mut other = line.clone();
            other.pieces[index].text = end;
            let desk = Desk::accepted(line.grammar, &Script::of(&other));
            desk.require_round_trip();
            count.one("round trips");
        }
    }
}

/// `no`, however much is left out behind it, restores what was there before.
fn check_removal(line: &Line<'_>, count: &mut Count) {
    let grammar = line.grammar;
    let needed = line.needed();
    let before = Desk::accepted(grammar, &needed);
    let with = Script::of(line);
    let storage = storage(line);
    // What says the default is not there to be removed.
    let is_kept = Desk::accepted(grammar, &with).number_kept(storage.kept, None) > 0;
    if comes_back(line) || !(is_kept || storage.default_on || storage.key.is_empty()) {
        return;
    }
    for text in line.negations() {
        let without = Desk::accepted(grammar, &with.and(line.mode, &text));
        if storage.default_on || storage.no_kept {
            // The absence of the statement is not what `no` says.
            assert_eq!(without.number_kept(storage.kept, Some(true)), 1, "{text}");
            without.require_round_trip();
            count.one("kept no forms");
            continue;
        }
        without.require_same(&before);
        count.one("removals");
        let again = with.and(line.mode, &text).and(line.mode, &text);
        let absent = needed.and(line.mode, &text);
        for script in [again, absent] {
            let lists = storage.gathers.is_some() && !text.ends_with(&fixed_words(line));
            if lists || (storage.absent.is_some() && !storage.key.is_empty()) {
                // Told in words of its own.
                let answer = Desk::refused(grammar, &script);
                assert!(answer.len() > 1 && !answer.contains('{'), "{text}: {answer}");
            } else if storage.key.is_empty() {
                // `no` of a switch that is off says nothing.
                Desk::accepted(grammar, &script).require_same(&before);
            } else {
                let answer = Desk::refused(grammar, &script);
                let words = text.strip_prefix("no ").unwrap();
                assert!(answer.contains(words), "{text}: {answer}");
            }
            count.one("removals of what is absent");
        }
    }
}

fn fixed_words(line: &Line<'_>) -> String {
    line.command.fixed_words()
}

/// The line with an address of another network, if it holds one of an interface.
fn apart(mut line: Line<'_>) -> Line<'_> {
    if let Some(rule) = storage(&line).apart {
        for piece in &mut line.pieces {
            match piece.argument {
                Some(argument) if argument == rule.address => {
                    "203.0.113.1".clone_into(&mut piece.text);
                }
                Some(argument) if argument == rule.mask => {
                    "255.255.255.0".clone_into(&mut piece.text);
                }
                _ => {}
            }
        }
    }
    line
}

/// Removing one of two statements leaves the other.
fn check_neighbour(one: &Line<'_>, other: &Line<'_>, count: &mut Count) {
    let storage = storage(one);
    let differs = storage.key.iter().any(|key| one.value_of(*key) != other.value_of(*key));
    if !differs || comes_back(one) || storage.default_on || storage.no_kept {
        return;
    }
    let mut before = one.needed();
    before.add_all(&other.needed()).add(one);
    let alone = Desk::accepted(one.grammar, &before);
    for text in other.negations() {
        let script = before.and(other.mode, &other.text());
        let both = Desk::accepted(one.grammar, &script);
        both.require_round_trip();
        let after = Desk::accepted(one.grammar, &script.and(other.mode, &text));
        after.require_same(&alone);
        assert!(!both.is_same(&alone), "{}", other.text());
        count.one("removals beside others");
    }
}
