//! Where lines come from and where output goes.

pub mod console;
mod keys;
pub mod lines;
mod mask;
mod messages;
mod pager_keys;
pub mod quiet;
