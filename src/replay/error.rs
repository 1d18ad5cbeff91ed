//! What can be wrong with a session file, as opposed to what can differ in it.

use std::io;
use std::path::PathBuf;

use super::notation::{FILE_LIMIT, LINE_LIMIT, PAGE_LENGTHS};

/// Why a session could not be played to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file or folder cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The path names neither a folder nor a regular file.
    #[error("{}: not a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The folder holds no session.
    #[error("{}: no session file below this folder", path.display())]
    NoSession {
        /// The folder.
        path: PathBuf,
    },
    /// The file is larger than any session.
    #[error("{}: more than {FILE_LIMIT} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// A line of the file breaks a rule of the notation.
    #[error("{}:{line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The rule.
        problem: Problem,
    },
    /// The rewritten file cannot be put in the place of the old one.
    #[error("{}: cannot be rewritten: {source}", path.display())]
    Rewrite {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The report or the shown session cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(#[from] io::Error),
}

/// A rule of the notation that a line breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The bytes are not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// The line is longer than any line of a session.
    #[error("a line of more than {LINE_LIMIT} bytes")]
    LineTooLong,
    /// `@` stands before something that is neither a blank nor a word.
    #[error("`@` needs a blank or a word behind it; output that begins with `@` is written `@@`")]
    NotADirective,
    /// The word behind `@` is none that is known.
    #[error("unknown directive `@{0}`")]
    UnknownDirective(String),
    /// The directive lacks its text.
    #[error("`@{directive}` needs {what}")]
    Missing {
        /// The directive.
        directive: &'static str,
        /// What it needs.
        what: &'static str,
    },
    /// The directive takes no text.
    #[error("`@{0}` takes nothing behind it")]
    Surplus(&'static str),
    /// The length of a page is no number, or out of range.
    #[error(
        "`@page` needs a number of lines from {} to {}",
        PAGE_LENGTHS.start(),
        PAGE_LENGTHS.end()
    )]
    PageLength,
    /// A key of `@page` that the pager does not have.
    #[error("`{0}` is no key of the pager (`<SPACE>`, `<CR>`, `<^C>`)")]
    UnknownKey(String),
    /// A key that is followed by more text.
    #[error("`{0}` must end the line")]
    KeyInside(&'static str),
    /// `<^Z>` behind text that was typed on this line.
    #[error("`<^Z>` must be typed on an empty line, or on text that already stands there")]
    TextBeforeEnd,
    /// Text that is neither a prompt line nor the output of a step.
    #[error("this output belongs to no step; the prompt is `{prompt}`")]
    Orphan {
        /// The prompt that stands there.
        prompt: String,
    },
    /// A directive about the next step, without one.
    #[error("`@{0}` has no step after it")]
    NoStepAfter(&'static str),
    /// The same directive twice before one step.
    #[error("`@{0}` stands twice before one step")]
    Twice(&'static str),
    /// `@page` before a step that no pager touches.
    #[error("`@page` must be followed by a line that is typed with Enter")]
    PageWithoutLine,
    /// What `@load` or `@lab` names cannot be loaded.
    #[error("cannot load: {0}")]
    Load(String),
    /// The file has no step.
    #[error("the session has no step")]
    NoStep,
}
