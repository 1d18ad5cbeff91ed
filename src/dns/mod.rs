//! The DNS responder: bytes of a question in, bytes of a reply out.
//!
//! ```text
//!  message ─ question ─► Question ─ answer ─► Answer (data) ─ encode ─► reply
//! ```
//!
//! [`respond()`] runs the three steps and counts. [`serve`] feeds it from sockets and [`client`]
//! from the command line, so that both see the same appliance.

pub mod answer;
#[cfg(target_os = "linux")]
mod batch_socket;
pub mod client;
pub mod cookie;
mod datagram;
pub mod drops;
pub mod encode;
pub mod extended_error;
pub mod fast;
pub mod name;
#[cfg(any(test, not(target_os = "linux")))]
mod plain_socket;
pub mod question;
pub mod rate;
pub mod relay;
mod respond;
pub mod serve;
mod tcp;
mod waker;

pub use encode::Transport;
pub(crate) use respond::answer_question;
pub use respond::{Begun, Deferred, Responder, Settings, begin, respond};
pub(crate) use tcp::{Gate, Pass};
