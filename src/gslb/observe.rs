//! Who wants to hear how a choice came about: `emulate explain`, and nobody on the usual path.

use std::fmt;

use crate::gslb::domain::Decision;
use crate::health::load::AverageLoad;
use crate::health::state::{Delays, Sessions};
use crate::model::region::Region;

/// Hears, metric by metric, who stays and who goes.
///
/// The methods do nothing unless they are written, so `()` hears nothing and costs nothing.
pub trait Observer {
    /// Whether it does anything at all with what it hears.
    const LISTENS: bool = true;

    /// One candidate was looked at: `figure` is what counted, `kept` whether it goes on.
    ///
    /// Called for every candidate that reached the metric, in the order of the list.
    fn judged(&mut self, by: Decision, position: usize, figure: Figure, kept: bool) {
        let _ = (by, position, figure, kept);
    }

    /// A metric passed everybody on.
    fn skipped(&mut self, by: Decision, reason: Skip) {
        let _ = (by, reason);
    }
}

impl Observer for () {
    const LISTENS: bool = false;
}

/// What a metric knows about one candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Whether it passes its health checks.
    Healthy(bool),
    /// Selections so far against a weight; the least `selections * shared_by / weight` stays.
    RelativeWeight {
        /// Times it was chosen for this domain.
        selections: u64,
        /// Configured weight; 0 is never chosen unless all are 0.
        weight: u32,
        /// Candidates that share the weight.
        shared_by: u32,
    },
    /// Times it was chosen for this domain.
    Selections(u64),
    /// Its place in the rotation: how many surviving addresses come before it.
    Turn(u32),
    /// The turn of its site in weighted round robin.
    SiteRun {
        /// Weight of the site; 0 gets no turn unless all are 0.
        weight: u32,
        /// Selections in a row that have gone to the site.
        run: u32,
        /// Selections in a row that its weight gives it.
        share: u32,
    },
    /// Administrative preference of its site device; `None`: it belongs to none.
    Preference(Option<u8>),
    /// Session table of its site device; `None`: no report.
    SessionTable(Option<Sessions>),
    /// Free sessions of its site device; `None`: no report.
    AvailableSessions(Option<u64>),
    /// New connections a second at its site device; `None`: no complete sample.
    Load(Option<AverageLoad>),
    /// Active bindings, and how often the address was chosen.
    ActiveBindings {
        /// Active bindings.
        count: u32,
        /// Times it was chosen for this domain.
        selections: u64,
    },
    /// Delays of its health checks; `None`: it failed them.
    Delays(Option<Delays>),
    /// The region it is in.
    Region(Region),
    /// Round-trip time between its site device and the client, unit 100 microseconds; `None`: not
    /// measured.
    RoundTripTime(Option<u32>),
    /// It owns the client's bucket of the hash table.
    Bucket {
        /// The bucket.
        bucket: u8,
        /// Whether it passes its health checks.
        healthy: bool,
    },
    /// It is the address of the client's sticky session.
    Session {
        /// Seconds for which the session lives on if nobody asks.
        remaining: u64,
        /// Whether it passes its health checks.
        healthy: bool,
    },
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Figure::Healthy(true) => write!(f, "ACTIVE"),
            Figure::Healthy(false) => write!(f, "DOWN"),
            Figure::RelativeWeight { selections, weight, shared_by } => {
                write!(f, "selected {selections}, weight {weight}")?;
                if shared_by > 1 {
                    write!(f, "/{shared_by}")?;
                }
                if weight == 0 {
                    return Ok(());
                }
                // Ten-thousandths, rounded down; the metric itself compares without dividing.
                let relative = u128::from(selections) * u128::from(shared_by) * 10_000;
                let relative = relative / u128::from(weight);
                write!(f, ": {}.{:04}", relative / 10_000, relative % 10_000)
            }
            Figure::Selections(selections) => write!(f, "selected {selections}"),
            Figure::Turn(0) => write!(f, "next in turn"),
            Figure::Turn(turn) => write!(f, "{turn} before it"),
            Figure::SiteRun { weight: 0, .. } => write!(f, "site weight 0"),
            Figure::SiteRun { weight, run, share } => {
                write!(f, "site weight {weight}: {run} of {share} in a row")
            }
            Figure::Preference(Some(preference)) => write!(f, "preference {preference}"),
            Figure::Preference(None) => write!(f, "no preference"),
            Figure::SessionTable(Some(Sessions { used, maximum })) => {
                let percent = u128::from(used) * 100 / u128::from(maximum.max(1));
                write!(f, "{used} of {maximum} sessions: {percent}%")
            }
            Figure::AvailableSessions(Some(available)) => write!(f, "{available} sessions free"),
            Figure::Load(Some(average)) => {
                write!(f, "{} new connections a second", average.whole())
            }
            Figure::ActiveBindings { count, selections } => {
                write!(f, "{count} active bindings, selected {selections}")
            }
            Figure::Delays(Some(Delays { tcp, application })) => {
                write!(f, "TCP {tcp}, application {application} (x100us)")
            }
            Figure::RoundTripTime(Some(rtt)) => write!(f, "{rtt} (x100us)"),
            Figure::RoundTripTime(None) => write!(f, "not measured"),
            Figure::Bucket { bucket, healthy } => {
                write!(f, "bucket {bucket}, {}", Figure::Healthy(healthy))
            }
            Figure::Session { remaining, healthy } => {
                write!(f, "sticky for {remaining} s, {}", Figure::Healthy(healthy))
            }
            Figure::Region(region) => write!(f, "{}", region.display()),
            Figure::Delays(None) => write!(f, "no delay"),
            Figure::Load(None) => write!(f, "no sample"),
            Figure::SessionTable(None) | Figure::AvailableSessions(None) => write!(f, "no report"),
        }
    }
}

/// Why a metric passed everybody on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// No candidate passes, and the metric is not one that may leave nobody.
    NobodyPasses,
    /// It does not look at questions for IPv6.
    NotForIpv6,
    /// No limit is configured, or not in both policies.
    NoLimit,
    /// This question of the client's prefix explores.
    Explore,
    /// The client has no entry in the prefix cache, and the cache is full.
    CacheFull,
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Skip::NobodyPasses => write!(f, "nobody passes"),
            Skip::NotForIpv6 => write!(f, "not for IPv6"),
            Skip::NoLimit => write!(f, "no limit"),
            Skip::Explore => write!(f, "exploring"),
            Skip::CacheFull => write!(f, "prefix cache full"),
        }
    }
}
