//! Keeps `docs/worked-numbers.md` true: each worked number and each report has a session or a test
//! that names it, and whatever a session or a test names is listed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

use crate::{TRANSCRIPTS, files_below, is_session};

const LIST: &str = "docs/worked-numbers.md";
/// The folder of tests; a place that does not begin with it is a session below `transcripts/`.
const TESTS: &str = "tests";
/// What a row says in the place of its sessions and tests, followed by the reason.
const NONE: &str = "none:";
/// Numbers of which none may be missing.
const WHOLE: [(char, RangeInclusive<u32>); 3] = [('V', 1..=28), ('U', 1..=31), ('U', 68..=84)];

/// Checks the list against all files below `transcripts/`, and against all tests.
pub(crate) fn are_played(files: &[PathBuf]) -> Result<(), Failed> {
    let listed = listed(&fs::read_to_string(LIST)?)?;
    let mut wrong = Vec::new();
    for (kind, numbers) in WHOLE {
        let missing = numbers.map(|number| format!("{kind}{number}"));
        wrong.extend(
            missing
                .filter(|number| !listed.contains_key(number))
                .map(|number| format!("{number} has no row")),
        );
    }
    let mut named: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for path in files.iter().filter(|path| is_session(path)) {
        let relative = path.strip_prefix(TRANSCRIPTS)?.to_owned();
        named.insert(relative, numbers_of_remarks(&fs::read_to_string(path)?, "@ "));
    }
    for path in files_below(Path::new(TESTS))? {
        // This file speaks of all of them.
        if path.extension().is_some_and(|end| end == "rs") && !path.ends_with(file!()) {
            let numbers = numbers_of_remarks(&fs::read_to_string(&path)?, "//");
            named.insert(path, numbers);
        }
    }
    for (number, sessions) in &listed {
        for session in sessions {
            match named.get(Path::new(session)) {
                None => wrong.push(format!("{number}: there is no {session}")),
                Some(numbers) if !numbers.contains(number) => {
                    wrong.push(format!("{session} does not name {number}"));
                }
                Some(_) => {}
            }
        }
    }
    for (path, numbers) in &named {
        for number in numbers {
            match listed.get(number) {
                None => wrong.push(format!("{}: {number} has no row", path.display())),
                // A row without a session may be behind: whoever plays the case writes it in.
                Some(sessions) if sessions.is_empty() => {}
                Some(sessions) if sessions.iter().any(|session| Path::new(session) == path) => {}
                Some(_) => wrong.push(format!("{number} is played in {} too", path.display())),
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{LIST}: {}", wrong.join("; ")).into()) }
}

/// The rows of the list: sessions by number, none where the row says why.
fn listed(text: &str) -> Result<BTreeMap<String, Vec<String>>, Failed> {
    let mut listed = BTreeMap::new();
    let rows = text.lines().filter(|line| line.starts_with("| V") || line.starts_with("| U"));
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [numbers, _, place] = cells[..] else {
            return Err(format!("{LIST}: not three cells: {row}").into());
        };
        let sessions: Vec<String> = match place.strip_prefix(NONE) {
            Some(reason) if reason.trim().is_empty() => {
                return Err(format!("{LIST}: no reason: {row}").into());
            }
            Some(_) => Vec::new(),
            None => place.split(", ").map(str::to_owned).collect(),
        };
        for number in numbers.split(", ") {
            if listed.insert(number.to_owned(), sessions.clone()).is_some() {
                return Err(format!("{LIST}: {number} has two rows").into());
            }
        }
    }
    Ok(listed)
}

/// The numbers that lines which begin like this name: a letter V or U, digits, perhaps a prime.
fn numbers_of_remarks(text: &str, mark: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| line.trim_start().strip_prefix(mark))
        .flat_map(|remark| remark.split(|found: char| !found.is_alphanumeric() && found != '\''))
        .filter(|word| {
            let digits = word.strip_prefix(['V', 'U']).unwrap_or_default();
            let digits = digits.strip_suffix('\'').unwrap_or(digits);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
        .map(str::to_owned)
        .collect()
}
