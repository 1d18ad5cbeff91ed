//! Remote sessions: Telnet and SSH (base-cli 1.1, 1.5, 2.4 to 2.6).
//!
//! ```text
//!  socket ─ telnet ─┐                                ┌─ editor ─ drawing
//!                   ├─ connection ─ bytes ─► shell ──┤
//!  socket ─ ssh ────┘              ◄─ text ─         └─ cli::session, cli::pager
//! ```
//!
//! `shell` is a machine: bytes in, text out. What reads and writes sockets knows no command, and
//! no command knows that it was typed far away.

mod admission;
mod connection;
pub mod drawing;
pub mod editor;
pub mod host_keys;
pub mod keys;
pub mod server;
pub mod shell;
mod ssh;
pub mod telnet;

pub use admission::Limits;
pub use ssh::Algorithms;
