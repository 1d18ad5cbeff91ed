//! Keeps the documents true: plays the sessions in them, looks their grammar up, counts what they
//! count.
//!
//! A fenced block that says ```` ```session ```` is a session file of its own, compared character
//! by character; one that says ```` ```grammar ```` stands in a file of `grammar/` as it is.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adxemu::grammar::{Grammar, Level, reference};
use adxemu::replay::appliance::Played;
use adxemu::replay::{self, Options, Status};

/// A fenced block of a document.
struct Block {
    language: String,
    /// The line of the document on which its text begins, from 1.
    line: usize,
    text: String,
}

#[test]
fn sessions_of_the_readme_play() {
    assert!(plays("README.md") > 0, "README.md shows no session");
}

#[test]
fn sessions_of_the_notation_play() {
    assert!(plays("transcripts/README.md") > 0, "transcripts/README.md shows no session");
}

#[test]
fn sessions_of_the_grammar_notation_play() {
    assert!(plays("grammar/README.md") > 0, "grammar/README.md shows no session");
}

#[test]
fn stanzas_of_the_grammar_notation_are_those_of_the_grammar() {
    let mut files = String::new();
    for entry in fs::read_dir("grammar").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "grammar") {
            files.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    let blocks = blocks_of("grammar/README.md", "grammar");
    assert!(!blocks.is_empty(), "grammar/README.md shows no stanza");
    for block in blocks {
        assert!(files.contains(&block.text), "no stanza of the grammar:\n{}", block.text);
    }
}

/// README.md says how far the emulation goes; the numbers are those of the grammar.
///
/// With `ADXEMU_BLESS=1` they are written anew, and the run fails, so that a second look accepts
/// it.
#[test]
fn counts_of_the_readme_are_those_of_the_grammar() {
    let grammar = Grammar::built_in().unwrap();
    let readme = fs::read_to_string("README.md").unwrap();
    let mut expected = String::new();
    for line in readme.lines() {
        let level = [Level::Modelled, Level::Kept, Level::Accepted]
            .into_iter()
            .find(|level| line.starts_with(&format!("| {level} | ")));
        let meaning = line.split(" | ").nth(2);
        match (level, meaning) {
            (Some(level), Some(meaning)) => {
                let count = reference::count(&grammar, level);
                write!(expected, "| {level} | {count} | {meaning}").expect("a string takes all");
            }
            _ if line.starts_with(ALL_COMMANDS.0) && line.ends_with(ALL_COMMANDS.1) => {
                let count = grammar.commands.len();
                let (before, after) = ALL_COMMANDS;
                write!(expected, "{before}{count}{after}").expect("a string takes all");
            }
            _ => expected += line,
        }
        expected.push('\n');
    }
    for level in [Level::Modelled, Level::Kept, Level::Accepted] {
        assert!(expected.contains(&format!("| {level} | ")), "README.md has no row for {level}");
    }
    assert!(expected.contains(ALL_COMMANDS.1), "README.md does not count the commands");
    if readme != expected && env::var_os(BLESS).is_some_and(|value| value == "1") {
        fs::write("README.md", &expected).unwrap();
    }
    assert!(readme == expected, "the counts of README.md are old; {BLESS}=1 writes them anew");
}

/// What stands around the number of all commands.
const ALL_COMMANDS: (&str, &str) = ("The grammar knows ", " commands, `no` forms not counted:");
/// Set to `1`, rewrites what is derived.
const BLESS: &str = "ADXEMU_BLESS";

/// A link into the repository leads somewhere.
#[test]
fn links_of_the_documents_lead_somewhere() {
    for document in ["README.md", "CHANGELOG.md", "docs/differences.md", "transcripts/README.md"] {
        let folder = Path::new(document).parent().unwrap();
        for target in links(&fs::read_to_string(document).unwrap()) {
            let path: PathBuf = folder.join(target.split('#').next().unwrap());
            assert!(path.exists(), "{document}: {target} is not there");
        }
    }
}

/// The targets of links that are no addresses.
fn links(text: &str) -> Vec<String> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| !target.contains("://"))
        .map(str::to_owned)
        .collect()
}

/// Plays the sessions of a document, each against a fresh appliance; gives how many there are.
fn plays(document: &str) -> usize {
    let grammar = Arc::new(Grammar::built_in().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let blocks = blocks_of(document, "session");
    let mut differences = String::new();
    for block in &blocks {
        let path = folder.path().join(format!("line-{}.session", block.line));
        fs::write(&path, &block.text).unwrap();
        let options = Options { strict: true, ..Options::default() };
        let mut subject = Played::fresh(Arc::clone(&grammar));
        let mut report = Vec::new();
        let status = replay::replay(&path, &mut subject, options, &mut report);
        if !matches!(status, Ok(Status::Agree)) {
            let report = String::from_utf8_lossy(&report);
            writeln!(differences, "{document}, session of line {}: {status:?}", block.line)
                .expect("a string takes all");
            differences += &report;
        }
    }
    assert!(differences.is_empty(), "{differences}");
    blocks.len()
}

fn blocks_of(document: &str, language: &str) -> Vec<Block> {
    let text = fs::read_to_string(document).unwrap();
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => {
                let language = language.to_owned();
                open = Some(Block { language, line: index + 2, text: String::new() });
            }
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => {
                block.text += line;
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{document}: a fence is not closed");
    blocks.retain(|block| block.language == language);
    blocks
}
