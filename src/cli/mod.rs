//! The shell: a typed line to what it does, with help and completion at every place.

pub mod complete;
pub mod help;
pub mod matcher;
pub mod words;
