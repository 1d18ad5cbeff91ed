//! The real program on a pseudo-terminal, as a user sees it: keys in, a screen out.
//!
//! Only what needs a terminal is tested here; what a line does is the subject of the session files.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "everything in this crate is part of a test")]

mod console {
    pub(crate) mod terminal;

    mod completion;
    mod help;
    mod keys;
    mod messages;
    mod pager;
    mod paste;
    mod restore;
}
