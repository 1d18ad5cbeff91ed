//! Where there are no pseudo-terminals nothing stands between the terminal and the line editor, and
//! a text is never divided into pages.

use std::io;

use super::quiet::Quiet;
use crate::cli::pager::Keys;

/// There is none.
#[derive(Clone, Debug)]
pub(super) enum Feeder {}

impl Feeder {
    /// Starts nothing.
    ///
    /// # Errors
    ///
    /// Always.
    pub(super) fn start(_quiet: &Quiet) -> io::Result<Self> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// The editor wants the next keys.
    pub(super) fn go_on(&self) {
        match *self {}
    }

    /// Whether nothing more will be typed.
    pub(super) fn is_over(&self) -> bool {
        match *self {}
    }
}

impl Keys for Feeder {
    fn next_key(&mut self) -> io::Result<Option<char>> {
        match *self {}
    }
}
