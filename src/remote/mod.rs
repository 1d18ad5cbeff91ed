//! Remote sessions: Telnet and SSH (base-cli 1.1, 1.5, 2.4 to 2.6).
//!
//! Sockets, protocols, and who may come in. What a session does with the bytes that it gets is that
//! of the console too (`term`).

mod admission;
pub mod host_keys;
pub mod server;
mod ssh;
pub mod telnet;

pub use admission::Limits;
pub use ssh::Algorithms;
