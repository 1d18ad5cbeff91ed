//! Playing many session files: finding them, and the status that a command ends with.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Subject;
use super::error::Error;
use super::notation::SessionFile;
use super::place::Place;
use super::player;
use super::report;
use super::rewrite;

/// What the name of a session file ends in.
const EXTENSION: &str = "session";

/// How session files are played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Every character is compared in every file.
    pub strict: bool,
    /// The session is written as it appears on the screen.
    pub show: bool,
    /// Blocks that no longer fit are replaced in the file.
    pub rewrite: bool,
}

/// What came of playing session files, as the exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Everything agrees.
    Agree = 0,
    /// Something differs, or was rewritten.
    Differ = 1,
    /// A file cannot be read, or is no session.
    Unreadable = 2,
}

impl Status {
    /// The exit status of a program.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// The session files that the paths name, sorted: a file is taken as it is, a folder searched for
/// `*.session` with everything below it.
///
/// # Errors
///
/// If a path cannot be read, or a folder holds no session.
pub fn find<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        let failed = |source| Error::Read { path: path.to_owned(), source };
        if !fs::metadata(path).map_err(failed)?.is_dir() {
            files.push(path.to_owned());
            continue;
        }
        let found = below(path)?;
        if found.is_empty() {
            return Err(Error::NoSession { path: path.to_owned() });
        }
        files.extend(found);
    }
    files.sort();
    files.dedup();
    Ok(files)
}

/// The session files below a folder. Links to folders are not followed: they may lead in circles.
fn below(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |source| Error::Read { path: folder.clone(), source };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            if entry.file_type().map_err(failed)?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == EXTENSION) {
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// Plays one session file and writes what differs.
///
/// # Errors
///
/// If the file cannot be played to its end or rewritten, or `out` cannot be written.
pub fn replay(
    path: &Path,
    subject: &mut dyn Subject,
    options: Options,
    out: &mut dyn Write,
) -> Result<Status, Error> {
    let file = SessionFile::read(path)?;
    let comparison = Place::of(path).comparison(options.strict);
    let outcome = if options.show {
        player::play(&file, subject, comparison, out)?
    } else {
        player::play(&file, subject, comparison, &mut io::sink())?
    };
    if outcome.agrees() {
        return Ok(Status::Agree);
    }
    report::write_report(path, file.text(), &outcome, out)?;
    if options.rewrite
        && let Some(text) = rewrite::rewritten(&file, &outcome)
    {
        rewrite::replace(path, &text)?;
        writeln!(out, "{}: rewritten", path.display())?;
    }
    Ok(Status::Differ)
}

/// Plays session files, each against a fresh subject, and ends with a line that sums up.
///
/// What is wrong with a file is written and does not keep the others from being played.
///
/// # Errors
///
/// If `out` cannot be written.
pub fn run<P: AsRef<Path>>(
    paths: &[P],
    fresh: &mut dyn FnMut() -> Box<dyn Subject>,
    options: Options,
    out: &mut dyn Write,
) -> io::Result<Status> {
    let mut counts = [0_usize; 3];
    let mut files = Vec::new();
    for path in paths {
        match find(&[path]) {
            Ok(found) => files.extend(found),
            Err(error) => {
                writeln!(out, "{error}")?;
                counts[usize::from(Status::Unreadable.code())] += 1;
            }
        }
    }
    files.sort();
    files.dedup();
    for file in &files {
        if options.show && files.len() > 1 {
            writeln!(out, "@ {}", file.display())?;
        }
        let status = match replay(file, &mut *fresh(), options, out) {
            Ok(status) => status,
            Err(Error::Output(error)) => return Err(error),
            Err(error) => {
                writeln!(out, "{error}")?;
                Status::Unreadable
            }
        };
        counts[usize::from(status.code())] += 1;
    }
    let [agree, differ, unreadable] = counts;
    let all = agree + differ + unreadable;
    let mut parts = vec![format!("{agree} {}", if agree == 1 { "agrees" } else { "agree" })];
    if differ > 0 {
        parts.push(format!("{differ} {}", if differ == 1 { "differs" } else { "differ" }));
    }
    if unreadable > 0 {
        parts.push(format!("{unreadable} unreadable"));
    }
    let noun = if all == 1 { "session" } else { "sessions" };
    writeln!(out, "{all} {noun}: {}", parts.join(", "))?;
    Ok(if unreadable > 0 {
        Status::Unreadable
    } else if differ > 0 {
        Status::Differ
    } else {
        Status::Agree
    })
}
