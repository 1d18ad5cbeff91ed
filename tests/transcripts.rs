//! Plays the session files under `transcripts/`, one test for each.
//!
//! With `ADXEMU_BLESS=1` blocks that no longer fit are rewritten. A run that rewrote anything
//! fails, so that only a second look accepts it.

mod transcripts {
    pub(crate) mod worked_numbers;
}

use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use adxemu::grammar::Grammar;
use adxemu::replay::appliance::Played;
use adxemu::replay::{self, Options, Status, Subject};
use libtest_mimic::{Arguments, Failed, Trial};

/// The folder of session files, relative to the root of the package, where tests are run.
const TRANSCRIPTS: &str = "transcripts";
/// Set to `1`, rewrites the session files.
const BLESS: &str = "ADXEMU_BLESS";
/// What the names of files under `transcripts/` may end in: sessions, and what they load.
const EXTENSIONS: [&str; 4] = ["session", "cfg", "emu", "zone"];

/// An appliance fresh from the factory, at its privileged prompt.
fn fresh() -> Box<dyn Subject> {
    let grammar = Grammar::built_in().expect("the built-in grammar loads");
    Box::new(Played::fresh(Arc::new(grammar)))
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::from_args();
    let rewrite = env::var_os(BLESS).is_some_and(|value| value == "1");
    let options = Options { rewrite, ..Options::default() };

    let files = files_below(Path::new(TRANSCRIPTS))?;
    let mut trials = vec![Trial::test("every file is used", {
        let files = files.clone();
        move || every_file_is_used(&files)
    })];
    trials.push(Trial::test("every worked number is played", {
        let files = files.clone();
        move || transcripts::worked_numbers::are_played(&files)
    }));
    for path in files.into_iter().filter(|path| is_session(path)) {
        let name = path.display().to_string();
        trials.push(Trial::test(name, move || play(&path, options)));
    }
    Ok(libtest_mimic::run(&arguments, trials).exit_code())
}

fn play(path: &Path, options: Options) -> Result<(), Failed> {
    let mut report = Vec::new();
    match replay::replay(path, &mut *fresh(), options, &mut report)? {
        Status::Agree => Ok(()),
        Status::Differ | Status::Unreadable => Err(Failed::from(String::from_utf8_lossy(&report))),
    }
}

/// A file with another ending would never be played, and nobody would miss it.
fn every_file_is_used(files: &[PathBuf]) -> Result<(), Failed> {
    let is_used = |path: &Path| {
        path.file_name() == Some(OsStr::new("README.md"))
            || path.extension().is_some_and(|found| EXTENSIONS.iter().any(|known| found == *known))
    };
    let unused: Vec<_> =
        files.iter().filter(|path| !is_used(path)).map(|path| path.display().to_string()).collect();
    if unused.is_empty() { Ok(()) } else { Err(format!("not used: {}", unused.join(", ")).into()) }
}

fn is_session(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "session")
}

/// Every file below a folder, sorted.
fn files_below(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}
