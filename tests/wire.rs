//! The responder as its clients see it: over loopback sockets, and in memory against any bytes.
//!
//! Replies are read with `hickory-proto`, which has no part in reading the questions.

#![allow(clippy::unwrap_used, reason = "everything in this crate is part of a test")]

mod wire {
    pub(crate) mod messages;
    pub(crate) mod scripted;
    pub(crate) mod world;

    pub(crate) mod behind;
    mod cookies;
    mod edns;
    mod extended_errors;
    mod gateways;
    mod learning;
    mod live_client;
    mod mutation;
    mod rate;
    mod sockets;
    mod streams;
}
