//! The choice: a pure function of snapshot, measured state, the domain's own state, question and
//! time. It changes nothing; it says what changes, and the caller applies that under the domain's
//! lock. It can be run a million times in a test.

use std::net::IpAddr;

use crate::clock::Moment;
use crate::gslb::domain::{Decision, DomainState};
use crate::health::state::States;
use crate::model::snapshot::{Family, Host, Snapshot};

/// Everything that a choice may look at.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The configuration.
    pub snapshot: &'a Snapshot,
    /// What is measured.
    pub states: &'a States,
    /// The host that was asked for.
    pub host: &'a Host,
    /// Its counts and rotation.
    pub domain: &'a DomainState,
    /// The family that was asked for.
    pub family: Family,
    /// Who asks: the local DNS server of the client (guide p. 9).
    pub client: IpAddr,
    /// When.
    pub now: Moment,
}

/// The result of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Position of the best address in `host.addresses`; `None`: there is no best, and the reply
    /// goes out unchanged.
    pub best: Option<usize>,
    /// What decided; `None` exactly if there is no best.
    pub decision: Option<Decision>,
}

/// What a choice changes in the domain's state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainChange {}
