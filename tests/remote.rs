//! Remote sessions: what programs that log in expect, R1 to R22 of the notes on clients.
//!
//! `shell` types at the machine without sockets; `telnet` and `ssh` use sockets of the loopback
//! device. The real programs are in `tests/clients`.

#![allow(clippy::unwrap_used, reason = "everything in this crate is part of a test")]

mod remote {
    pub(crate) mod at_home;

    mod interrupt;
    mod limits;
    mod shell;
    mod ssh;
    mod telnet;
}
