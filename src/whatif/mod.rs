//! What if: what a configuration does to traffic before it is made, what is left when something
//! fails, and what an appliance does today.
//!
//! All of it works on copies (`subject`): nothing that is looked at here changes what runs. The
//! results are plain data (`simulation`, `failures`, `audit`), which `report` and `crate::show`
//! write down.

pub mod asked;
pub mod audit;
pub mod change;
pub mod failures;
pub mod log;
pub mod population;
pub mod report;
pub mod run;
pub mod simulation;
pub mod subject;
mod tally;
mod worker;

use crate::lab::LabError;
use crate::store::StoreError;

/// Why nothing can be said.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// A file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A report cannot be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A lab cannot be started.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// Something in a query log cannot be read.
    #[error("{place}: {reason}")]
    Log {
        /// The file, and where in it.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The parts of all places of clients are 0.
    #[error("there are no clients: all parts are 0")]
    NoClients,
    /// No name can be asked for.
    #[error("there is nothing to ask for: no host is configured, and no name was given")]
    NothingToAsk,
    /// The lines of a change that were refused.
    #[error("lines of the change are refused:\n{}", .0.join("\n"))]
    Change(Vec<String>),
    /// The questions ended before the change.
    #[error("the change is never reached: {0}")]
    NoChange(String),
}

impl Problem {
    fn log(place: &str, reason: &dyn std::fmt::Display) -> Self {
        Problem::Log { place: place.to_owned(), reason: reason.to_string() }
    }
}
