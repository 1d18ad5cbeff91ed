//! Spoilt grammar files are refused at their place, and the message says what is wrong.

use adxemu::grammar::{FILES, Grammar, GrammarError};
use proptest::prelude::*;

use crate::grammar::count::config;

/// A file that is well, for the spoilt one to build on.
const SOUND: &str = "\
mode user prompt \"{host}>\"
mode config prompt \"{host}(config)#\" root
mode inner prompt \"{host}(inner-{name})#\" parent config

type colour
    red    Red
    blue   Blue

in config

[no] block <name:name/9>
    block    Block
    <name>   Name
    = open inner per <name>, as site

[no] entry <name:name/9>
    entry    Entry
    <name>   Name
    = keep per <name>, as zone
";

/// Loads a text behind the sound file and the messages of the device.
fn load(text: &str) -> Result<Grammar, GrammarError> {
    let messages = FILES.iter().find(|(name, _)| *name == "messages").unwrap();
    Grammar::load(&[*messages, ("sound.grammar", SOUND), ("spoilt.grammar", text)])
}

/// A spoilt text, the place of the error in it, and what is said of it.
type Case = (&'static str, (usize, usize), &'static str);

/// Lines that do not follow the notation.
const NOTATION: &[Case] = &[
    ("\tx", (1, 1), "a tab; indent with blanks"),
    ("in config\na\n    a  A\tB", (3, 9), "a tab; indent with blanks"),
    ("    a  A", (1, 5), "an indented line belongs under a type, command or message"),
    ("in config\n  a", (2, 3), "an indented line belongs under a type, command or message"),
    ("type %", (1, 6), "the name of a type expected"),
    ("type x as", (1, 8), "the name of a type expected"),
    ("type x\n    a A", (2, 5), "two blanks and a help text expected"),
    ("type x\n    <a>  A", (2, 5), "a word, `word = number` or a range expected"),
    ("type x\n    9-1  A", (2, 5), "9 is above 1"),
    ("type x\n    1-99999999999999999999  A", (2, 5), "a word or a range of 64 bits expected"),
    ("mode x", (1, 7), "a mode: NAME prompt \"…\" [parent NAME] [root] expected"),
    ("mode x prompt \"", (1, 15), "a mode: NAME prompt \"…\" [parent NAME] [root] expected"),
    (
        "mode x prompt \"\" root more",
        (1, 23),
        "a mode: NAME prompt \"…\" [parent NAME] [root] expected",
    ),
    ("in config,", (1, 10), "modes: NAME[+], … expected"),
    ("message ?", (1, 9), "the name of a message expected"),
    ("in config\nshow <zone zone>", (2, 6), "a syntax line expected"),
    ("in config\nshow [x", (2, 6), "a syntax line expected"),
    ("in config\nshow {a | }", (2, 6), "a syntax line expected"),
    ("in config\nshow <x:1-", (2, 6), "a syntax line expected"),
    ("in config\na\n    a A", (3, 5), "two blanks and a help text expected"),
    ("in config\na\n    = keep once", (3, 7), "not a clause"),
    ("in config\na\n    = keep one, as", (3, 17), "not a clause"),
    ("in config\na\n    = leave end", (3, 13), "a comma and another clause expected"),
    ("in config\na\n    = from \"x", (3, 7), "not a clause"),
    ("in config\na\n    = leave, also \"<\"", (3, 14), "not a clause"),
];

/// Names that mean nothing, and names that come twice.
const NAMES: &[Case] = &[
    ("type colour\n    a  A", (1, 6), "a second type colour"),
    ("type x", (1, 6), "a type without values"),
    ("type x\n    a  A\n    a  B", (3, 5), "a stands here twice"),
    ("type x as Nothing\n    a  A", (1, 6), "no enum is called Nothing"),
    ("type x as Region\n    mars  Mars", (1, 6), "Region has no mars"),
    ("type x as Region\n    asia  Asia", (1, 6), "Region has n-america, the type has not"),
    ("mode config prompt \"\"", (1, 6), "a second mode config"),
    ("mode x prompt \"\" root", (1, 6), "a second root mode"),
    ("mode x prompt \"\" parent nowhere", (1, 1), "no mode is called nowhere"),
    ("mode x prompt \"\" parent x", (1, 6), "a mode cannot lie in itself"),
    ("in nowhere", (1, 1), "no mode is called nowhere"),
    ("a\n    = leave", (1, 1), "a command before the first `in` line"),
    ("message nothing\n    x", (1, 9), "no message is called nothing"),
    ("message more\n    x", (1, 9), "a second message more"),
    ("in config\na <x:nothing>\n    = leave", (2, 3), "no type is called nothing"),
    ("in config\na <x:text/9>\n    = leave", (2, 3), "text takes no size"),
    ("in config\na b <x:9-1>\n    = leave", (2, 5), "9 is above 1"),
    ("in config\na <x:ref nothing>\n    = leave", (2, 3), "no statement is called nothing"),
    (
        "in config\na <x:ref capacity>\n    = leave",
        (2, 3),
        "capacity has no key that could be referred to",
    ),
    ("in config\na <x:ref si>\n    = keep per <x>, as si", (2, 3), "`ref si` refers to itself"),
    ("in config\na <x:1-2> [<x:1-3>]\n    = leave", (2, 3), "<x> stands here with two types"),
    ("in config\na\n    = show nothing", (3, 7), "no report is called nothing"),
    ("in config\na\n    = do nothing", (3, 7), "no action is called nothing"),
    ("in config\na\n    = enter nothing", (3, 7), "no mode is called nothing"),
    ("in config\na\n    = clear nothing", (3, 7), "no statement is called nothing"),
    ("in config\na\n    = clear group <x>", (3, 7), "the syntax line has no <x>"),
    ("in config\na\n    = keep one, as nothing", (3, 17), "no statement is called nothing"),
    ("in config\na\n    = leave, level high", (3, 14), "no level is called high"),
    ("in config\na\n    = keep per <x>, as capacity", (3, 7), "the syntax line has no <x>"),
    (
        "in config\na\n    a  A\n    = keep one, as site",
        (2, 1),
        "sound.grammar:11 keeps site in the same mode",
    ),
];

/// Clauses that do not fit their command.
const CLAUSES: &[Case] = &[
    ("in config\na", (2, 1), "a command without a verb"),
    ("in config\na\n    = leave\n    = end", (4, 7), "a second verb"),
    ("in config\na\n    = keep one", (2, 1), "a command that keeps needs `as NAME`"),
    ("in config\na\n    = leave, as capacity", (3, 14), "`as` is for commands that keep"),
    ("in config\na\n    = leave, merge", (3, 14), "this command keeps nothing"),
    ("in config\na\n    = keep one, as capacity, as flashback", (3, 30), "said twice"),
    ("in config\n[no] a\n    = leave", (2, 1), "only a command that keeps can have `[no]`"),
    (
        "in config\na\n    = keep one, as capacity, default on",
        (3, 30),
        "a command without `[no]` has no `no` form to keep",
    ),
    (
        "in config\na\n    = keep one, as capacity, no kept",
        (3, 30),
        "a command without `[no]` has no `no` form to keep",
    ),
    (
        "in config\na <x:1-9>\n    = keep one, as capacity, default <x> 10",
        (3, 30),
        "10 is no value of <x>",
    ),
    (
        "in config\na <x:1-9>\n    = keep one, as capacity, unique <x>",
        (3, 30),
        "<x> takes one value only",
    ),
    (
        "in config\na <x:colour>\n    = keep one, as capacity, rejects <x> red with blue else more",
        (3, 30),
        "<x> takes one value only",
    ),
    (
        "in config\na <x:colour>...\n    = keep one, as capacity, rejects <x> red with pink else more",
        (3, 30),
        "pink is no value of <x>",
    ),
    (
        "in config\na <x:colour>...\n    = keep one, as capacity, rejects <x> red with blue else nothing",
        (3, 30),
        "no message is called nothing",
    ),
    (
        "in config\na <x:1-9>\n    = keep per <x>, as capacity, first <x> 0 else no-such-entry",
        (3, 34),
        "0 is no value of <x>",
    ),
    (
        "in config\na <x:1-9>\n    a  A\n    <x>  X\n    = keep per <x>, as capacity, first <x> 1 else no-such-entry",
        (2, 1),
        "`first` needs `at-most` here and at all that it excludes",
    ),
    (
        "in config\na <x:1-9>\n    = keep per <x>, as capacity, at-most 0",
        (3, 34),
        "a number of at least 1 expected",
    ),
    (
        "in config\na <x:1-9>...\n    = keep each <x>, as capacity, pack 0",
        (3, 35),
        "a number of at least 1 expected",
    ),
    (
        "in config\na <x:1-9>\n    = keep per <x>, as capacity, pack 4",
        (3, 34),
        "`pack` is for `keep each`",
    ),
    (
        "in config\na <x:1-9>\n    = keep each <x>, as capacity",
        (3, 7),
        "`keep each` needs all arguments with `...` and no other",
    ),
    (
        "in config\na {<x:1-9> <y:1-9>}...\n    = keep each <x>, as capacity",
        (3, 7),
        "`keep each` needs all arguments with `...` and no other",
    ),
    ("in config\na {<x:1-9> b}...\n    = leave", (2, 1), "only arguments can repeat together"),
    (
        "in config\na <x:1-9>... <y:1-9>\n    = leave",
        (2, 1),
        "only a word can follow an argument with `...`",
    ),
    (
        "in config\na [b] [<x:1-2>]\n    = keep one, as capacity",
        (2, 1),
        "two forms hold the same values; make the word a value of a choice type",
    ),
    (
        "in config\na <x:1-9>\n    = keep one, as capacity, also \"b <y:1-9>\"",
        (3, 30),
        "«b <y:1-9>» has other arguments",
    ),
    (
        "in config\na <x:1-9>\n    a  A\n    <x>  X\n    = keep per <x>, as capacity, under preference else more",
        (2, 1),
        "preference is not kept in the modes of this command",
    ),
    (
        "in config\na <x:1-9>\n    a  A\n    <x>  X\n    = keep per <x>, as capacity, excludes preference",
        (2, 1),
        "preference is not kept in the modes of this command",
    ),
    (
        "in config\na <x:1-9>\n    a  A\n    <x>  X\n    = keep per <x>, as capacity, differs from zone else more",
        (2, 1),
        "zone has another key, or does not differ from this",
    ),
    (
        "in config\na <x:1-9>\n    = keep per <x>, as capacity, differs from zone",
        (3, 34),
        "not a clause",
    ),
    (
        "in config\na <x:1-9>\n    a  A\n    <x>  X\n    = keep per <x>, as capacity, under zone else no-such-host",
        (2, 1),
        "the message no-such-host has a place {host}, the syntax line no <host>",
    ),
    (
        "in inner\na <size:1-9>\n    a  A\n    <size>  S\n    = alter",
        (2, 1),
        "`[no] block <name:name/9>` has no such argument, or it is a key",
    ),
    (
        "in config\na <size:1-9>\n    a  A\n    <size>  S\n    = alter",
        (2, 1),
        "no statement opens the block of `alter`",
    ),
    (
        "in config\na\n    a  A\n    = open inner, as capacity",
        (2, 1),
        "the prompt of inner has a place {name}, the key no <name>",
    ),
    (
        "in config\na\n    a  A\n    = keep one, as capacity, adds \"b\"",
        (2, 1),
        "«b» is no line that is kept in config",
    ),
    (
        "in config\na\n    a  A\n    = keep one, as capacity, adds \"entry <name>\"",
        (2, 1),
        "«entry <name>» is no line that is kept in config",
    ),
    (
        "in config\na <name:name/9>\n    a  A\n    <name>  X\n    = keep per <name>, as capacity, adds \"entry <name>\"",
        (2, 1),
        "`adds` is for `keep one` or for statements of one `group`",
    ),
    (
        "in config\na <x:1-9>\n    = keep per <x>, as capacity, needs zone else more",
        (3, 34),
        "`needs` is for `group`; a statement that needs another says `under`",
    ),
    (
        "in config\na <x:1-9> <y:1-9>\n    a  A\n    <x>  X\n    <y>  Y\n    = keep per <x> <y>, as capacity, group <x>, needs group else more",
        (2, 1),
        "`needs group` is for a statement whose only key is its `group`",
    ),
];

/// Help that is missing, twice, or for nothing; commands that are written alike.
const WHOLE: &[Case] = &[
    ("in config\na\n    = leave", (2, 1), "no help text for a"),
    ("in config\na <x:1-9>\n    a  A\n    = leave", (2, 1), "no help text for <x>"),
    ("in config\na\n    a  A\n    b  B\n    = leave", (4, 5), "the syntax line has no b"),
    ("in config\na\n    a  A\n    a  A\n    = leave", (4, 5), "a second help text for a"),
    (
        "in config\na\n    a  A\n    = leave\n\na b\n    a  Other\n    b  B\n    = leave",
        (6, 1),
        "two help texts for a: «A» and «Other»",
    ),
    (
        "in config\na\n    a  A\n    = leave\n\na\n    = end",
        (6, 1),
        "written like a (spoilt.grammar:2)",
    ),
    (
        "in config\n[no] entry <other:word/9>\n    <other>  O\n    = keep per <other>, as capacity",
        (2, 1),
        "<name> and <other> stand at one place and cannot be told apart",
    ),
    (
        "in config\na <x:1-9>\n    a  A\n    <x>  X\n    = leave\n\na <y:5-6>\n    <y>  Y\n    = end",
        (7, 1),
        "<x> and <y> stand at one place and cannot be told apart",
    ),
];

#[test]
fn the_sound_file_loads() {
    if let Err(error) = load("") {
        panic!("{error}");
    }
}

#[test]
fn spoilt_files_are_refused_at_their_place() {
    let all = [NOTATION, NAMES, CLAUSES, WHOLE].concat();
    let mut wrong = Vec::new();
    for (text, (line, column), message) in &all {
        let expected = format!("spoilt.grammar:{line}:{column}: {message}");
        let found = match load(text) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        };
        if found != expected {
            wrong.push(format!("{text}\n  expected {expected}\n  found    {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all.len() > 80);
}

#[test]
fn what_would_grow_without_bound_is_refused() {
    let deep = format!("in config\na {}b{}\n    = leave", "[".repeat(500), "]".repeat(500));
    let error = load(&deep).unwrap_err();
    assert_eq!(error.to_string(), "spoilt.grammar:2:19: more than 16 brackets deep");

    let wide = format!("in config\na{}\n    = leave", " [b | c]".repeat(6));
    assert_eq!(load(&wide).unwrap_err().message, "more than 256 forms");

    let many = (0..256).map(|n| format!(" <x{n}:1-2>")).collect::<Vec<_>>().concat();
    let error = load(&format!("in config\na{many}\n    = leave")).unwrap_err();
    assert_eq!(error.message, "more than 255 arguments");
}

#[test]
fn a_message_that_is_missing_is_named() {
    let error = Grammar::load(&[("sound.grammar", SOUND)]).unwrap_err();
    assert_eq!(error.to_string(), "messages:1:1: the message invalid-input is missing");
}

#[test]
fn a_whole_grammar_without_a_statement_of_the_program_is_refused() {
    // The file whose statements nothing else in the grammar refers to.
    let files: Vec<_> = FILES.iter().filter(|(name, _)| !name.starts_with("40-")).collect();
    assert_eq!(files.len() + 1, FILES.len());
    let files: Vec<(&str, &str)> = files.into_iter().copied().collect();
    let error = Grammar::load(&files).unwrap_err();
    assert!(error.message.starts_with("no command keeps "), "{error}");
}

/// The text of the device's grammar files, one after the other.
fn device_text() -> String {
    FILES.iter().map(|(_, text)| *text).collect::<Vec<_>>().join("\n")
}

proptest! {
    #![proptest_config(config(64))]

    /// Any damage is answered by an error within the file, or by a grammar; never by a panic.
    #[test]
    fn damaged_files_are_read_without_a_panic(
        place in any::<prop::sample::Index>(),
        length in 0_usize..40,
        patch in "[\\[\\]{}<>|:/.=, \"a-z0-9\n\u{e4}-]{0,20}",
    ) {
        let text = device_text();
        let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        let from = place.index(places.len());
        let to = (from + length).min(places.len() - 1);
        let damaged = format!("{}{patch}{}", &text[..places[from]], &text[places[to]..]);
        if let Err(error) = Grammar::load(&[("all.grammar", &damaged)]) {
            prop_assert!(!error.message.is_empty());
            let lines = damaged.lines().count();
            prop_assert!((1..=lines).contains(&error.line), "{error} of {lines} lines");
            prop_assert!(error.column >= 1);
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "(?s).{0,400}") {
        let _ = Grammar::load(&[("any.grammar", &text)]);
    }
}
