//! What if: simulations against closed forms, against real questions over a socket, and their
//! reports against each other.

#![allow(
    clippy::float_cmp,
    clippy::format_push_string,
    clippy::too_many_lines,
    clippy::unwrap_used,
    reason = "everything in this crate is part of a test"
)]

mod whatif {
    pub(crate) mod subjects;

    mod audit;
    mod console;
    mod failures;
    mod reports;
    mod shares;
    mod socket;
}
