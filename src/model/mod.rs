//! The meaning of a configuration: typed, immutable, made anew from the statement tree.

pub mod access;
pub mod balancing;
pub mod banners;
pub mod check_rules;
pub mod checks;
pub mod draft;
pub mod hosts;
pub mod logging;
pub mod network;
pub mod policy;
pub mod project;
pub mod region;
mod site;
mod sna;
pub mod snapshot;
pub mod time_zone;
pub mod world;
