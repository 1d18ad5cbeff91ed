//! What if: simulations against closed forms, against real questions over a socket, and their
//! reports against each other.

#![allow(
    clippy::format_push_string,
    clippy::unwrap_used,
    reason = "everything in this crate is part of a test"
)]

mod whatif {
    pub(crate) mod subjects;

    mod shares;
    mod socket;
}
