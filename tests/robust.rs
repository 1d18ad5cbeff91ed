//! What the world does to the program: kills, full disks, strange files, ports that are taken. The
//! real program each time.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "everything in this crate is part of a test")]

mod robust {
    pub(crate) mod program;

    mod files;
    mod kills;
    mod ports;
    mod state;
}
