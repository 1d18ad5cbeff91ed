//! Every name that the program has for the grammar is used by it, and the reference is current.

use std::collections::BTreeSet;

use adxemu::grammar::link::{Action, Kept, Message, Report};
use adxemu::grammar::{FILES, Grammar, Level, Verb, reference};

/// Set to `1`, rewrites `grammar/REFERENCE.md`.
const BLESS: &str = "ADXEMU_BLESS";

/// Where the reference stands, from the root of the package, where tests are run.
const REFERENCE: &str = "grammar/REFERENCE.md";

#[test]
fn every_statement_of_the_program_is_kept_by_a_stanza() {
    let grammar = Grammar::built_in().unwrap();
    let used: BTreeSet<Kept> = grammar
        .commands
        .iter()
        .filter_map(|command| command.storage.as_ref().map(|storage| storage.kept))
        .collect();
    assert_all_used(Kept::ALL, &used, |one| one.name());
}

#[test]
fn every_report_of_the_program_is_shown_by_a_stanza() {
    let grammar = Grammar::built_in().unwrap();
    let used: BTreeSet<Report> = grammar
        .commands
        .iter()
        .filter_map(|command| match &command.verb {
            Verb::Show(report) => Some(*report),
            _ => None,
        })
        .collect();
    assert_all_used(Report::ALL, &used, |one| one.name());
}

#[test]
fn every_action_of_the_program_is_done_by_a_stanza() {
    let grammar = Grammar::built_in().unwrap();
    let used: BTreeSet<Action> = grammar
        .commands
        .iter()
        .filter_map(|command| match &command.verb {
            Verb::Do(action) => Some(*action),
            Verb::Alter(action) => *action,
            _ => None,
        })
        .collect();
    assert_all_used(Action::ALL, &used, |one| one.name());
}

/// Messages of what is still to come. Once one is said, the list is wrong and the test says so.
const NOT_SAID_YET: &[&str] = &[];

/// The loader refuses a file of messages that lacks one or has one more; the program must say each.
#[test]
fn every_message_is_said_by_the_program_or_by_a_stanza() {
    let grammar = Grammar::built_in().unwrap();
    let mut used: BTreeSet<Message> = BTreeSet::new();
    for storage in grammar.commands.iter().filter_map(|command| command.storage.as_ref()) {
        used.extend(storage.needs.iter().map(|need| need.message));
        used.extend(storage.rejects.iter().map(|rejection| rejection.message));
        used.extend(storage.above.iter().map(|rule| rule.message));
        used.extend(storage.spans.iter().map(|rule| rule.message));
        used.extend(storage.avoids.iter().map(|rule| rule.message));
        used.extend(storage.most.map(|rule| rule.message));
        used.extend(storage.first.as_ref().map(|rule| rule.message));
        used.extend(storage.claim.as_ref().map(|claim| claim.message));
        used.extend(storage.differs.as_ref().map(|rule| rule.message));
        used.extend(storage.in_use);
        used.extend(storage.bounds.iter().flat_map(|rule| [rule.low, rule.high]));
        used.extend(storage.absent);
        used.extend(storage.once);
        used.extend(storage.fitted.iter().flat_map(|rule| [rule.no_port, rule.no_slot]));
        used.extend(storage.wants.iter().map(|(_, message)| *message));
        used.extend(storage.whole.as_ref().map(|rule| rule.message));
    }
    let sources = sources();
    let mut silent = Vec::new();
    for message in Message::ALL.iter().filter(|message| !used.contains(*message)) {
        let variant = format!("Message::{message:?}");
        let is_said = sources.iter().any(|source| {
            source.match_indices(&variant).any(|(place, _)| {
                // Another variant may begin like this one.
                let behind = source[place + variant.len()..].chars().next();
                behind.is_none_or(|one| !one.is_ascii_alphanumeric())
            })
        });
        if !is_said {
            silent.push(message.name());
        }
    }
    assert_eq!(silent, NOT_SAID_YET, "nothing says these");
}

#[test]
fn every_stanza_says_on_what_evidence_it_stands() {
    let grammar = Grammar::built_in().unwrap();
    for command in &grammar.commands {
        let position = &command.position;
        let has_evidence = command.evidence.as_ref().is_some_and(|text| !text.trim().is_empty());
        assert!(has_evidence, "{}:{}: {}", position.file, position.line, command.syntax);
    }
}

/// To rewrite the file: `ADXEMU_BLESS=1 cargo test --test grammar reference`.
#[test]
fn the_reference_is_current() {
    let current = reference::markdown(&Grammar::built_in().unwrap());
    let written = std::fs::read_to_string(REFERENCE).unwrap_or_default();
    if written == current {
        return;
    }
    if std::env::var_os(BLESS).is_some_and(|value| value == "1") {
        std::fs::write(REFERENCE, &current).unwrap();
        panic!("{REFERENCE} was rewritten: look at what changed");
    }
    let different = written.lines().zip(current.lines()).position(|(one, other)| one != other);
    let line = different.unwrap_or_else(|| written.lines().count().min(current.lines().count()));
    panic!(
        "{REFERENCE} is not what the grammar says, from line {}: {:?}\n\
         to rewrite it: {BLESS}=1 cargo test --test grammar reference",
        line + 1,
        current.lines().nth(line),
    );
}

#[test]
fn the_reference_counts_every_command_once() {
    let grammar = Grammar::built_in().unwrap();
    let text = reference::markdown(&grammar);
    let of = |level| reference::count(&grammar, level);
    let sum = of(Level::Modelled) + of(Level::Kept) + of(Level::Accepted);
    assert_eq!(sum, grammar.commands.len());
    for level in [Level::Modelled, Level::Kept, Level::Accepted] {
        assert!(of(level) > 0);
        let row = format!("\n| {level} | {} |", of(level));
        assert_eq!(text.matches(&row).count(), 1, "{row}");
    }
    for command in &grammar.commands {
        let cell = format!("| `{}` |", command.syntax.replace('|', "\\|"));
        assert!(text.contains(&cell), "{cell}");
    }
}

#[test]
fn the_program_prints_the_reference() {
    let grammar = Grammar::built_in().unwrap();
    let print = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_adxemu"))
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(output.stderr, b"");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(print(&["commands", "--markdown"]), reference::markdown(&grammar));
    let plain = print(&["commands"]);
    assert_eq!(plain, reference::text(&grammar));
    for command in &grammar.commands {
        assert!(plain.contains(&command.syntax), "{}", command.syntax);
    }
}

/// The folder that `--grammar` names takes the place of the files in the program.
#[test]
fn another_folder_of_grammar_files_is_used_without_a_build() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        let text = text.replace("Configure from this session", "Enter the tests' own mode");
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    std::fs::write(folder.path().join("README.md"), "no grammar").unwrap();
    let run = || {
        std::process::Command::new(env!("CARGO_BIN_EXE_adxemu"))
            .args(["commands", "--markdown", "--grammar"])
            .arg(folder.path())
            .output()
            .unwrap()
    };
    let output = run();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("Enter the tests' own mode"));

    // A spoilt file is refused at its place.
    std::fs::write(folder.path().join("99-more.grammar"), "in config\n\nword <x:1-\n").unwrap();
    let output = run();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("99-more.grammar:3:"), "{message}");
}

fn assert_all_used<T: Ord + Copy>(
    all: &[T],
    used: &BTreeSet<T>,
    name: impl Fn(&T) -> &'static str,
) {
    let unused: Vec<&str> = all.iter().filter(|one| !used.contains(one)).map(name).collect();
    assert!(unused.is_empty(), "no stanza uses {unused:?}");
    assert_eq!(used.len(), all.len());
}

/// The texts of all source files but the list of names itself.
fn sources() -> Vec<String> {
    let mut sources = Vec::new();
    let mut folders = vec![std::path::PathBuf::from("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|one| one == "rs") && !path.ends_with("link.rs")
            {
                sources.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    sources
}
