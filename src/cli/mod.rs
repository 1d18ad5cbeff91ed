//! The shell: a typed line to what it does, with help and completion at every place.

mod access;
mod actions;
pub mod complete;
pub mod filter;
pub mod help;
pub mod matcher;
pub mod pager;
mod reports;
pub mod session;
pub mod sessions;
mod typed_text;
pub mod words;
