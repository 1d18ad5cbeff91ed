//! Where lines come from and where output goes.

mod bindings;
pub mod console;
mod keys;
pub mod lines;
mod mask;
mod messages;
pub mod quiet;
