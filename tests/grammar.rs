//! Tests drawn from the grammar: no command is named here, so a new stanza is tested by being
//! there.
//!
//! Every check takes a grammar and gives the number of things that it looked at. It is run over
//! the grammar of the device and over a small one of the tests' own, which holds what the notation
//! has and the device has not.

#![allow(clippy::unwrap_used, reason = "everything in this crate is part of a test")]

mod grammar {
    pub(crate) mod count;
    pub(crate) mod desk;
    pub(crate) mod lines;
    pub(crate) mod small;
    pub(crate) mod trees;
    pub(crate) mod values;

    mod help;
    mod kept;
    mod links;
    mod listed;
    mod refused;
    mod rules;
    mod sessions;
    mod spoilt;
    mod typed;
}
