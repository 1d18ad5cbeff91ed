//! The live network: what the program sends beyond the sockets that it listens on.
//!
//! Without `--live` nothing is sent to any address that a configuration names (emulated-world 1).
//! Every connection and every datagram of ours begins at [`gate`], which knows what is allowed and
//! where it really goes; `tests/architecture.rs` finds what does not.
//!
//! ```text
//!  snapshot, gate ─ plan ─► timetable ─ due ─► probe ─► result ─► health::state ─► answers
//! ```

pub mod checker;
pub mod gate;
pub mod probe;
pub mod timetable;
