//! Help and Tab at every word of every form of every command.

use adxemu::cli::complete::{self, Completion};
use adxemu::cli::help::{self, Names};
use adxemu::grammar::link::Kept;
use adxemu::grammar::trie::Node;
use adxemu::grammar::value::{Value, ValueType, starts_with_ignoring_case};
use adxemu::grammar::{Command, Grammar, ModeId};

use crate::grammar::count::Count;
use crate::grammar::lines::{Line, Piece, everywhere};
use crate::grammar::small::small;

/// A name that exists, with a blank in it and one without.
const LIVE: [&str; 2] = ["Zq-live", "Yq live"];

/// Names as a device with two statements of every kind has them.
struct Live;

impl Names for Live {
    fn names(&self, _: Kept, _: &[(&[Kept], Value)]) -> Vec<String> {
        LIVE.map(str::to_owned).to_vec()
    }

    fn values_of(&self, _: Kept, _: &str, _: &[(&[Kept], Value)]) -> Vec<String> {
        Vec::new()
    }

    fn values_in(&self, _: ModeId, _: &Command, _: usize) -> Vec<String> {
        Vec::new()
    }
}

#[test]
fn help_and_tab_lead_through_every_line_of_the_device() {
    let count = check(&Grammar::built_in().unwrap());
    count.require(
        "device",
        &[
            ("places of help", 3000),
            ("ends of lines", 500),
            ("completed words", 1500),
            ("words with several endings", 10),
            ("hidden words", 1),
            ("references", 10),
        ],
    );
}

#[test]
fn help_and_tab_lead_through_every_line_of_the_small_grammar() {
    let count = check(&small());
    count.require("small", &[("places of help", 50), ("references", 1), ("hidden words", 1)]);
}

fn check(grammar: &Grammar) -> Count {
    let mut count = Count::default();
    for (command, mode) in everywhere(grammar) {
        for form in 0..command.forms.len() {
            let line = Line::new(grammar, command, mode, form, 0);
            for index in 0..line.pieces.len() {
                check_help(&line, index, &mut count);
                check_tab(&line, index, &mut count);
            }
            let listing = help::list(grammar, mode, &line.before(line.pieces.len()), &Live);
            assert!(listing.unwrap().complete, "{}", line.text());
            count.one("ends of lines");
        }
    }
    count
}

/// Whether help leaves a piece out: only hidden commands and second syntax lines lie behind it.
fn is_hidden(line: &Line<'_>, piece: &Piece) -> bool {
    let node = line.node(piece.place);
    match piece.argument {
        None => {
            let edge = node.words.iter().find(|edge| edge.spellings[0] == piece.text);
            edge.unwrap().hidden
        }
        Some(argument) => {
            let argument = &line.command.arguments[argument];
            let edge = node
                .arguments
                .iter()
                .find(|edge| edge.name == argument.name && edge.value_type == argument.value_type);
            edge.unwrap().hidden
        }
    }
}

/// Help behind the words before a piece lists it, and so does help on its first letter.
fn check_help(line: &Line<'_>, index: usize, count: &mut Count) {
    let piece = &line.pieces[index];
    let before = line.before(index);
    let hidden = is_hidden(line, piece);
    let listed = |text: &str, word: &str| {
        help::list(line.grammar, line.mode, text, &Live)
            .is_ok_and(|listing| listing.candidates.iter().any(|one| one.word == word))
    };
    let argument = piece.argument.map(|argument| &line.command.arguments[argument]);
    let value_type = argument.map(|argument| &argument.value_type);
    let expected: Vec<String> = match value_type {
        None => vec![piece.text.clone()],
        Some(ValueType::Choice(id)) => {
            line.grammar.choices[id.0].words.iter().map(|word| word.word.clone()).collect()
        }
        Some(other) => vec![other.placeholder().to_owned()],
    };
    for word in &expected {
        if hidden {
            assert!(!listed(&before, word) || piece.argument.is_some(), "{before}? shows {word}");
            count.one("hidden words");
            continue;
        }
        assert!(listed(&before, word), "{before}? lacks {word}");
        count.one("places of help");
        if matches!(value_type, None | Some(ValueType::Choice(_))) {
            let text = format!("{before}{}", &word[..1]);
            assert!(listed(&text, word), "{text}? lacks {word}");
        }
    }
    if hidden {
        return;
    }
    // What is typed for a value is listed as what stands for it.
    if let Some(other) = value_type
        && !matches!(other, ValueType::Choice(_))
        && !piece.text.contains(' ')
    {
        let text = format!("{before}{}", piece.text);
        assert!(
            listed(&text, other.placeholder()) || piece.text.ends_with('"'),
            "{text}? lacks {}",
            other.placeholder()
        );
    }
    if let Some(ValueType::Reference(..)) = value_type {
        for name in LIVE {
            assert!(listed(&before, name), "{before}? lacks {name}");
            count.one("references");
        }
        let text = format!("{before}{}", &LIVE[0][..3]);
        let inserted = Completion::Insert(format!("{} ", &LIVE[0][3..]));
        assert_eq!(complete::complete(line.grammar, line.mode, &text, &Live), inserted, "{text}");
        // A name with blanks is begun with a quote, and its end is a quote.
        let text = format!("{before}\"{}", &LIVE[1][..3]);
        let inserted = Completion::Insert(format!("{}\" ", &LIVE[1][3..]));
        assert_eq!(complete::complete(line.grammar, line.mode, &text, &Live), inserted, "{text}");
    }
}

/// Tab behind all letters of a word but the last completes it, unless other words end otherwise.
fn check_tab(line: &Line<'_>, index: usize, count: &mut Count) {
    let piece = &line.pieces[index];
    let is_word = match piece.argument {
        None => true,
        Some(argument) => {
            matches!(line.command.arguments[argument].value_type, ValueType::Choice(_))
                && piece.text.starts_with(|first: char| first.is_ascii_alphabetic())
        }
    };
    if !is_word || piece.text.len() < 2 || is_hidden(line, piece) {
        return;
    }
    let (beginning, last) = piece.text.split_at(piece.text.len() - 1);
    let text = format!("{}{beginning}", line.before(index));
    let found = complete::complete(line.grammar, line.mode, &text, &Live);
    let endings = words_from(line.grammar, line.node(piece.place), beginning);
    if endings.len() == 1 {
        assert_eq!(found, Completion::Insert(format!("{last} ")), "{text}");
        count.one("completed words");
        return;
    }
    count.one("words with several endings");
    if endings.iter().any(|word| word == beginning) {
        assert_eq!(found, Completion::Insert(" ".to_owned()), "{text}");
    } else {
        match found {
            Completion::List(shown) => assert!(shown.contains(&piece.text), "{text}: {shown}"),
            Completion::Insert(more) => {
                assert!(!more.ends_with(' ') && more.starts_with(last), "{text}: «{more}»");
            }
            Completion::Nothing => panic!("{text}: nothing"),
        }
    }
}

/// The visible words and choices of a node that begin like that.
fn words_from(grammar: &Grammar, node: &Node, beginning: &str) -> Vec<String> {
    let mut words: Vec<String> = node
        .words
        .iter()
        .filter(|edge| !edge.hidden)
        .filter_map(|edge| {
            let mut spellings = edge.spellings.iter().map(ToString::to_string);
            spellings.find(|word| starts_with_ignoring_case(word, beginning))
        })
        .collect();
    for edge in node.arguments.iter().filter(|edge| !edge.hidden) {
        match &edge.value_type {
            ValueType::Choice(id) => words.extend(
                grammar.choices[id.0]
                    .words
                    .iter()
                    .map(|word| word.word.clone())
                    .filter(|word| starts_with_ignoring_case(word, beginning)),
            ),
            ValueType::Reference(..) => words.extend(
                LIVE.map(str::to_owned)
                    .into_iter()
                    .filter(|word| starts_with_ignoring_case(word, beginning)),
            ),
            _ => {}
        }
    }
    words.sort_unstable();
    words.dedup();
    words
}
