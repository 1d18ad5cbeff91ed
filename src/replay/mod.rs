//! Session files: what a person would see on the screen, played again and compared.
//!
//! ```text
//!  x.session ─ notation ─► SessionFile ─► player ◄──── Subject (the appliance, or a fake)
//!                                           │ output of each step
//!                                 compare ◄─┤
//!                                           ▼
//!                        Outcome ─► report (unified diff)
//!                           └─ align ─► rewrite (the file, atomically)
//! ```
//!
//! The notation is specified in `transcripts/README.md`. This module knows nothing about the
//! appliance: it types into a [`Subject`] and reads what that shows.

mod align;
pub mod appliance;
mod compare;
mod error;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod mirror;
mod notation;
mod place;
mod player;
mod report;
mod rewrite;
mod run;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use compare::Comparison;
pub use error::{Error, Problem};
pub use notation::SessionFile;
pub use place::Place;
pub use player::{Difference, DifferenceKind, Outcome, play};
pub use run::{Options, Status, find, replay, run};

/// What a session file is played against.
///
/// The text that [`help`](Subject::help) and [`complete`](Subject::complete) leave on the line
/// stays with the subject: what is typed next is added to it, until a line is entered or
/// interrupted.
pub trait Subject {
    /// The prompt that stands at the left of the next line, e.g. `ServerIronADX(config)#`.
    fn prompt(&mut self) -> String;

    /// Types text and Enter; gives what appears on the screen up to the next prompt.
    fn line(&mut self, typed: &str) -> String;

    /// Types text and the help key; gives the list. The text stays on the line.
    fn help(&mut self, typed: &str) -> String;

    /// Types text and Tab. The completed text stays on the line.
    fn complete(&mut self, typed: &str) -> Completion;

    /// Presses Ctrl-C; gives what appears. The line is empty afterwards.
    fn interrupt(&mut self) -> String;

    /// Presses Ctrl-Z; gives what appears. The line is empty afterwards.
    fn end(&mut self) -> String;

    /// Runs an `emulate` command, given without that word, from outside the session: `query
    /// www.gslb.com a`. If it begins with `no`, it is the command `no emulate ...`.
    fn emulate(&mut self, command: &str) -> String;

    /// Whether `emulate` has a command that begins with this word. A session file with a directive
    /// of another word is not played.
    fn knows(&self, _word: &str) -> bool {
        true
    }

    /// Restarts from a startup configuration; gives what appears.
    ///
    /// # Errors
    ///
    /// Why the file cannot be loaded at all.
    fn load(&mut self, path: &Path) -> Result<String, String>;

    /// Starts the appliances of a lab; gives what appears.
    ///
    /// # Errors
    ///
    /// Why the folder cannot be loaded at all.
    fn lab(&mut self, path: &Path) -> Result<String, String>;

    /// The counters that moved since the last time, one a line.
    fn counters(&mut self) -> String;

    /// Types text and Enter with the pager on, at pages of `length` lines; each key answers one
    /// stop of the pager. When the keys are used up, Ctrl-C answers.
    fn page(&mut self, length: usize, keys: &[Key], typed: &str) -> String;

    /// Checks what must hold at the end of every session; each broken invariant is a line.
    fn invariants(&mut self) -> Vec<String>;
}

/// What Tab did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The whole text that stands on the line now.
    pub line: String,
    /// The list shown, if there was more than one way to complete.
    pub list: String,
}

/// A key that answers the pager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The next page.
    Space,
    /// The next line.
    Return,
    /// No more.
    Interrupt,
}
