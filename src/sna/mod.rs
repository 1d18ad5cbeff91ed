//! Domains of an SNA gateway manager: DNS names that lead to the gateway host with a free LU.
//!
//! Source: the Server Configuration Guide of `SunLink` SNA 9.1 PU2.1, appendices B and E. A question
//! names an LU, a pool of LUs or a user record, or it names a keyword and the user record is found
//! by the address of the DNS server that asks. [`fn@select`] is the whole of it for one question.

mod choose;
mod domain;
mod select;
mod state;
mod tally;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use self::choose::{Choice, Pass, choose};
pub use self::domain::{
    DEFAULT_KEYWORD, DEFAULT_TTL, Holding, Lu, LuId, Matcher, Named, Plan, Pool, PoolId, RecordId,
    Resource, SnaDomain, System, SystemId, UserRecord,
};
pub use self::select::{Outcome, select};
pub use self::state::{DEFAULT_BANDWIDTH, LuState, LuStatus, SnaStates, SystemState};
pub use self::tally::{Arrangement, DomainState, RecordTally, SystemTally, Tallies};
