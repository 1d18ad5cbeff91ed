//! The meaning of a configuration: typed, immutable, made anew from the statement tree.

pub mod policy;
pub mod region;
pub mod snapshot;
