//! The DNS responder: bytes of a question in, bytes of a reply out.
//!
//! ```text
//!  message ─ question ─► Question
//! ```

pub mod name;
pub mod question;
