//! The choice: a pure function of snapshot, measured state, the domain's own state, question and
//! time. It changes nothing; it says what changes, and the caller applies that under the domain's
//! lock. It can be run a million times in a test.

use std::net::IpAddr;

use smallvec::SmallVec;

use crate::clock::Moment;
pub use crate::gslb::domain::DomainChange;
use crate::gslb::domain::{Decision, DomainState, HashChange, Selection, Tally};
use crate::gslb::explore::ExploreStep;
use crate::gslb::observe::Observer;
use crate::gslb::{affinity, hash_persistence, metric, sticky};
use crate::health::state::States;
use crate::model::policy::{Metric, Policy};
use crate::model::snapshot::{Address, Family, Host, Site, Snapshot};

/// Positions in `host.addresses`, in the order of that list.
pub type Candidates = SmallVec<[usize; 8]>;

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
    /// Only these addresses can be chosen: those of the reply of the DNS server behind (guide p. 2).
    /// `None`: every candidate of the host.
    offered: Option<&'a [IpAddr]>,
    /// What the question adds to the way of its client's prefix to one that skips round-trip time,
    /// if that is in use.
    explored: Option<ExploreStep>,
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

/// Chooses the best address of the host for this question.
///
/// Without an address of the family nothing is chosen and nothing counts (decisions 4.9).
/// Affinity, hash persistence and sticky persistence come first, in this order, and may decide
/// alone. Otherwise the metrics of the host's policy are applied in their order, each to what the ones
/// before left over. The metric that leaves one address decides; `health-check` is still applied
/// to that address wherever it stands in the order, no other metric is; a host with one address
/// from the start is credited to the first metric (decisions 4.1). If several are left after all
/// metrics, the tie-breaker picks one of them.
pub fn choose(view: &View<'_>, observer: &mut impl Observer) -> (Choice, DomainChange) {
    let mut candidates = view.host.candidates(view.family);
    if let Some(offered) = view.offered {
        candidates.retain(|position| offered.contains(&view.address(*position).ip));
    }
    if candidates.is_empty() {
        return (Choice::NONE, DomainChange::default());
    }
    let (persistent, hash) = persistence(view, &candidates, observer);
    let choice = persistent.unwrap_or_else(|| by_metrics(view, candidates, observer));
    let chosen = choice.best.zip(choice.decision);
    let change = DomainChange {
        family: Some(view.family),
        selection: chosen.map(|chosen| {
            Selection::of(view.snapshot, view.host, view.domain, view.family, chosen)
        }),
        explored: view.explored,
        hash,
        sticky: chosen.and_then(|(best, decision)| sticky::session_of(view, best, decision)),
    };
    (choice, change)
}

/// The choice by affinity, else by hash, else by a sticky session; `None`: the metrics decide.
fn persistence(
    view: &View<'_>,
    candidates: &[usize],
    observer: &mut impl Observer,
) -> (Option<Choice>, HashChange) {
    if let Some(best) = affinity::pick(view, candidates, observer) {
        return (Some(Choice::of(best, Decision::Affinity)), HashChange::default());
    }
    let (hashed, mut change) = hash_persistence::pick(view, observer).unwrap_or_default();
    let is_candidate = |best: &usize| candidates.contains(best);
    let hashed = hashed.filter(is_candidate);
    if hashed.is_none() {
        change.hit = None;
    }
    let choice = match hashed {
        Some(best) => Some(Choice::of(best, Decision::HashPersistence)),
        None => sticky::pick(view, observer)
            .filter(is_candidate)
            .map(|best| Choice::of(best, Decision::Sticky)),
    };
    (choice, change)
}

fn by_metrics(view: &View<'_>, mut candidates: Candidates, observer: &mut impl Observer) -> Choice {
    let (left, decided) = run_metrics(view, &mut candidates, observer);
    match (left, decided) {
        ([], _) => Choice::NONE,
        ([best, ..], Some(decision)) => Choice::of(*best, decision),
        (left, None) => {
            let (best, decision) = metric::break_tie(view, left, observer);
            Choice::of(best, decision)
        }
    }
}

/// The candidates that are left after all metrics, moved to the front, and what has decided if one is.
fn run_metrics<'a>(
    view: &View<'_>,
    candidates: &'a mut [usize],
    observer: &mut impl Observer,
) -> (&'a [usize], Option<Decision>) {
    let policy = view.policy();
    let mut left = candidates.len();
    let mut decided = (left == 1).then(|| first_decision(policy));
    for &metric in &policy.metrics {
        if decided.is_some() && metric != Metric::HealthCheck {
            continue;
        }
        left = metric::apply(metric, view, &mut candidates[..left], observer);
        if left == 0 {
            break;
        }
        if left == 1 && decided.is_none() {
            decided = Some(metric.into());
        }
    }
    (&candidates[..left], decided)
}

/// What a choice without alternative is credited to.
fn first_decision(policy: &Policy) -> Decision {
    policy.metrics.first().map_or_else(|| policy.tie_breaker.into(), |&metric| metric.into())
}

impl Choice {
    /// There is no best.
    pub const NONE: Choice = Choice { best: None, decision: None };

    /// The address at this position, because of `decision`.
    #[must_use]
    pub const fn of(best: usize, decision: Decision) -> Self {
        Choice { best: Some(best), decision: Some(decision) }
    }
}

impl<'a> View<'a> {
    /// Everything that the choice for this question may look at.
    #[inline]
    #[must_use]
    pub fn new(
        snapshot: &'a Snapshot,
        states: &'a States,
        host: &'a Host,
        domain: &'a DomainState,
        family: Family,
        client: IpAddr,
        now: Moment,
    ) -> Self {
        let mut view = View {
            snapshot,
            states,
            host,
            domain,
            family,
            client,
            now,
            offered: None,
            explored: None,
        };
        view.explored = metric::explore(&view);
        view
    }

    /// The same, but only these addresses can be chosen.
    #[must_use]
    pub const fn among(mut self, offered: Option<&'a [IpAddr]>) -> Self {
        self.offered = offered;
        self
    }

    /// Whether round-trip time is not looked at, so that other sites get a chance to be measured.
    #[inline]
    #[must_use]
    pub fn explores(&self) -> bool {
        self.explored.is_some_and(|step| step.skips)
    }

    /// The policy of the host.
    #[inline]
    #[must_use]
    pub fn policy(&self) -> &'a Policy {
        self.snapshot.policy_of(self.host)
    }

    /// The address at a position of the host's list.
    #[inline]
    #[must_use]
    pub fn address(&self, position: usize) -> &'a Address {
        &self.host.addresses[position]
    }

    /// The site at which the address at this position is a VIP.
    #[inline]
    #[must_use]
    pub fn site(&self, position: usize) -> Option<&'a Site> {
        self.snapshot.site_of(self.address(position))
    }

    /// How often the address at this position was chosen, and by what.
    ///
    /// `None` if the domain has no such slot any more, which a question sees that still runs on a
    /// snapshot from before a change.
    #[inline]
    #[must_use]
    pub fn tally(&self, position: usize) -> Option<&'a Tally> {
        self.domain.tally_of(self.address(position))
    }

    /// How often the address at this position was chosen for this domain.
    #[inline]
    #[must_use]
    pub fn selections(&self, position: usize) -> u64 {
        self.tally(position).map_or(0, |tally| tally.selections)
    }
}

#[cfg(test)]
mod tests;
