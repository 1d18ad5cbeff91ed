//! Where lines come from and where output goes.

pub mod console;
mod bindings;
pub mod lines;
mod messages;
pub mod quiet;
