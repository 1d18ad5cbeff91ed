//! What `docs/architecture.md` says is so: named files, modules and functions exist, and quoted
//! blocks stand in the files that they are quoted from.

#![allow(clippy::unwrap_used, reason = "everything in this crate is part of a test")]

use std::fs;
use std::path::{Path, PathBuf};

/// The document, from the root of the package, where tests are run.
const DOCUMENT: &str = "docs/architecture.md";

/// What a screen of two pages holds.
const MOST_LINES: usize = 170;

/// A quoted block: its language, the file that the text before it names last, and its lines.
struct Quote {
    language: String,
    file: Option<String>,
    lines: Vec<String>,
}

fn document() -> String {
    fs::read_to_string(DOCUMENT).unwrap()
}

/// The quoted blocks, and the text between them.
fn parts() -> (Vec<Quote>, String) {
    let mut quotes: Vec<Quote> = Vec::new();
    let mut prose = String::new();
    let mut is_quoted = false;
    for line in document().lines() {
        match line.strip_prefix("```") {
            Some(language) if !is_quoted => {
                is_quoted = true;
                let paragraph = prose.trim_end().rsplit("\n\n").next().unwrap_or_default();
                let file = spans(paragraph).into_iter().rfind(|span| is_file(span));
                quotes.push(Quote { language: language.to_owned(), file, lines: Vec::new() });
            }
            Some(_) => is_quoted = false,
            None if is_quoted => quotes.last_mut().unwrap().lines.push(line.to_owned()),
            None => {
                prose.push_str(line);
                prose.push('\n');
            }
        }
    }
    (quotes, prose)
}

/// What stands between backticks.
fn spans(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a span names a file or a folder of the repository.
fn is_file(span: &str) -> bool {
    let is_path = |one: char| one.is_ascii_alphanumeric() || "-_./".contains(one);
    let has_ending = [".rs", ".md", ".grammar", ".toml"].iter().any(|end| span.ends_with(end));
    span.chars().all(is_path) && (span.contains('/') || has_ending)
}

/// The lines without blanks at their ends, and without empty ones.
fn trimmed<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    lines.map(str::trim).filter(|line| !line.is_empty()).collect()
}

#[test]
fn it_is_two_pages_long() {
    let lines = document().lines().count();
    assert!(lines <= MOST_LINES, "{lines} lines");
}

#[test]
fn quoted_blocks_stand_in_their_files() {
    let (quotes, _) = parts();
    let mut seen = 0;
    for quote in quotes.iter().filter(|quote| quote.language != "text") {
        let file =
            quote.file.as_ref().unwrap_or_else(|| panic!("of which file? {:?}", quote.lines));
        let text = fs::read_to_string(file).unwrap();
        let wanted = trimmed(quote.lines.iter().map(String::as_str));
        let held = trimmed(text.lines());
        let stands = held.windows(wanted.len()).any(|window| window == wanted);
        assert!(!wanted.is_empty() && stands, "{file} has not:\n{}", quote.lines.join("\n"));
        seen += 1;
    }
    assert!(seen >= 9, "only {seen} quoted blocks");
}

#[test]
fn named_files_exist() {
    let (_, prose) = parts();
    let files: Vec<String> = spans(&prose).into_iter().filter(|span| is_file(span)).collect();
    for file in &files {
        assert!(Path::new(file).exists(), "{file}");
    }
    assert!(files.len() >= 20, "only {} files", files.len());
}

/// `module::item` names a module of the library, and an item of it if it has a second part.
#[test]
fn named_modules_and_items_exist() {
    let (quotes, prose) = parts();
    let picture = quotes.iter().find(|quote| quote.language == "text").unwrap().lines.join("\n");
    let is_name = |one: char| one.is_ascii_alphanumeric() || one == '_' || one == ':';
    let names: Vec<String> = spans(&prose)
        .into_iter()
        .chain(picture.split(|one: char| !is_name(one)).map(str::to_owned))
        .filter(|name| name.contains("::") && name.chars().all(is_name))
        .collect();
    for name in &names {
        assert!(exists(name), "{name}");
    }
    assert!(names.len() >= 20, "only {} names", names.len());
}

fn exists(name: &str) -> bool {
    let mut path = PathBuf::from("src");
    let mut parts = name.split("::").peekable();
    while let Some(part) = parts.peek() {
        if !path.join(part).is_dir() && !path.join(part).with_extension("rs").is_file() {
            break;
        }
        path.push(parts.next().unwrap());
    }
    let file = if path.is_dir() { path.join("mod.rs") } else { path.with_extension("rs") };
    let beside = path.with_extension("rs");
    let text: String = [file, beside]
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok())
        .collect::<Vec<_>>()
        .concat();
    // What is left names items: a type and its function, or a function alone.
    !text.is_empty()
        && parts.all(|item| {
            ["fn", "struct", "enum", "trait", "const"].iter().any(|kind| {
                text.match_indices(&format!("{kind} {item}")).any(|(place, found)| {
                    let behind = text[place + found.len()..].chars().next();
                    behind.is_none_or(|one| !one.is_ascii_alphanumeric() && one != '_')
                })
            })
        })
}

/// What begins a connection or sends to somebody who has not asked.
const LEAVES: [&str; 6] = [
    "TcpStream::connect",
    "TcpSocket",
    "lookup_host",
    "to_socket_addrs",
    ".connect(",
    "connect_timeout",
];

/// The file that may do so.
const GATE: &str = "src/live/gate.rs";

#[test]
fn packets_leave_by_the_gate_only() {
    let mut folders = vec![PathBuf::from("src")];
    let mut at_the_gate = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            // Tests are clients of their own sockets.
            let program = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let is_test = path.components().any(|part| part.as_os_str() == "tests")
                || path.file_stem().is_some_and(|name| name == "tests");
            for (number, line) in program.lines().enumerate().filter(|_| !is_test) {
                let leaves = LEAVES.iter().any(|one| line.contains(one))
                    && !line.trim_start().starts_with("//")
                    // Connections that come from the gate.
                    && !line.contains("route.connect(")
                    && !line.contains("connector.connect(")
                    // The responder's own socket, with another one of its own.
                    && !line.contains("self.worker.connect(self.own.local_addr()?)");
                if leaves && path == Path::new(GATE) {
                    at_the_gate += 1;
                } else {
                    assert!(!leaves, "{}:{}: {line}", path.display(), number + 1);
                }
            }
        }
    }
    assert!(at_the_gate >= 3, "the gate is watched at the wrong place");
}
