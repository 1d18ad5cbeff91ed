//! Where lines come from and where output goes.

pub mod console;
pub mod lines;
