//! Where lines come from and where output goes.

mod bindings;
pub mod console;
#[cfg_attr(not(unix), path = "no_feeder.rs")]
mod feeder;
pub mod lines;
mod mask;
mod messages;
pub mod quiet;
#[cfg(unix)]
mod utf8;
