//! The shell: a typed line to what it does, with help and completion at every place.

mod access;
mod actions;
pub mod complete;
mod confirm;
mod execute;
mod files;
pub mod filter;
mod gslb;
pub mod help;
pub mod interrupt;
mod levels;
mod live_names;
pub mod matcher;
mod operator;
pub mod pager;
mod pipe;
pub mod question;
mod reach;
mod reports;
mod schedule;
pub mod session;
pub mod sessions;
mod stored;
mod typed_text;
mod what_if;
pub mod words;
