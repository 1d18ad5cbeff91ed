//! What was found, written down: put together from the counts, and as JSON, CSV and HTML.

pub(super) mod assemble;
pub mod audit;
mod charts;
pub mod failures;
mod page;
pub mod simulation;
