//! Where lines come from and where output goes.
//!
//! ```text
//!  console ─────────┐                               ┌─ keys ─ editor ─ drawing
//!                   ├─ connection ─ bytes ─► shell ─┤
//!  remote sessions ─┘              ◄─ text ─        └─ cli::session, cli::pager
//!
//!  a pipe or a file ─ lines ──────────────────────────► cli::session
//! ```
//!
//! `shell` is a machine: bytes in, text out. It is the same on the console, over Telnet and over
//! SSH; what reads and writes knows no command, and no command knows where it was typed.

pub(crate) mod connection;
#[cfg(unix)]
pub mod console;
pub mod drawing;
pub mod editor;
pub mod keys;
pub mod lines;
#[cfg(unix)]
pub mod quiet;
pub mod shell;
mod utf8;
