//! The choice by health and one weight, in one walk over the addresses.
//!
//! Many policies that are in production look at nothing else. [`choose`](crate::gslb::choose::choose)
//! has room for every metric, for persistence and for observers, and that costs more than such a choice
//! itself. This module makes the same choice (`by_weight/tests.rs`) without lists and figures, and
//! leaves every other policy to it.

use std::cmp::Ordering;
use std::iter;

use crate::gslb::choose::{Candidates, Choice};
use crate::gslb::domain::{Decision, DomainState};
use crate::gslb::metric::RelativeWeight;
use crate::model::policy::{Metric, Policy};
use crate::model::snapshot::{Address, Family, Host, Snapshot};

/// What is weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// The site, whose weight its candidates share.
    OfSite,
    /// The address.
    OfAddress,
}

impl From<Weight> for Decision {
    fn from(weight: Weight) -> Self {
        match weight {
            Weight::OfSite => Decision::WeightedSite,
            Weight::OfAddress => Decision::WeightedIp,
        }
    }
}

/// The weight by which a policy chooses, if it looks at health and that alone.
#[inline]
pub(super) fn weight_of(snapshot: &Snapshot, policy: &Policy) -> Option<Weight> {
    let weight = match *policy.metrics {
        [Metric::HealthCheck, Metric::WeightedSite] => Weight::OfSite,
        [Metric::HealthCheck, Metric::WeightedIp] => Weight::OfAddress,
        _ => return None,
    };
    let is_alone =
        policy.hash.is_none() && policy.sticky.is_none() && snapshot.affinities.is_empty();
    is_alone.then_some(weight)
}

/// Chooses among all candidates of the host, whose policy is of this weight; `tie` picks one of several
/// that are left.
///
/// `None`: there is no candidate, there are too many, or two may share the weight of their site, and
/// [`choose`](crate::gslb::choose::choose) has to say what becomes of them.
#[inline]
pub(super) fn choose(
    snapshot: &Snapshot,
    host: &Host,
    domain: &DomainState,
    family: Family,
    weight: Weight,
    tie: impl FnOnce(&[usize]) -> (usize, Decision),
) -> Option<Choice> {
    if host.addresses.len() > Positions::MOST {
        return None;
    }
    let left = match weight {
        Weight::OfAddress => weigh_addresses(host, domain, family),
        Weight::OfSite => weigh_sites(snapshot, host, domain, family)?,
    };
    if !left.has_candidates {
        return None;
    }
    if left.healthy.is_empty() {
        return Some(Choice::NONE);
    }
    if let Some(best) = left.healthy.only() {
        return Some(Choice::of(best, Decision::HealthCheck));
    }
    let least = if left.least.is_empty() { left.healthy } else { left.least };
    if let Some(best) = least.only() {
        return Some(Choice::of(best, weight.into()));
    }
    let (best, decision) = tie(&least.iter().collect::<Candidates>());
    Some(Choice::of(best, decision))
}

/// The walk by weights of addresses. Apart, so that it has the registers to itself, as the other one.
#[inline(never)]
fn weigh_addresses(host: &Host, domain: &DomainState, family: Family) -> Left {
    Left::of(host, domain, family, |address| address.weight.unwrap_or(0))
}

/// The walk by weights of sites; `None`: two candidates may be of one site.
#[inline(never)]
fn weigh_sites(
    snapshot: &Snapshot,
    host: &Host,
    domain: &DomainState,
    family: Family,
) -> Option<Left> {
    let (servers, sites) = (&*snapshot.servers, &*snapshot.sites);
    // A bit for each site, which two sites may have in common: then nobody is wrong, but slower.
    let (mut seen, mut twice) = (0_u64, 0_u64);
    let left = Left::of(host, domain, family, |address| {
        let Some(server) = address.owner else { return 0 };
        let site = servers[server.index()].site;
        let bit = 1 << (site.0 % u64::BITS);
        twice |= seen & bit;
        seen |= bit;
        sites[site.index()].weight
    });
    (twice == 0).then_some(left)
}

/// Who is left after each of the two metrics.
struct Left {
    has_candidates: bool,
    healthy: Positions,
    /// Those of the least relative weight; empty if nobody has a weight, and then all stay.
    least: Positions,
}

impl Left {
    /// The host has at most [`Positions::MOST`] addresses.
    #[inline]
    fn of(
        host: &Host,
        domain: &DomainState,
        family: Family,
        mut weight_of: impl FnMut(&Address) -> u8,
    ) -> Left {
        let mut left =
            Left { has_candidates: false, healthy: Positions::NONE, least: Positions::NONE };
        // More than that of whoever has a weight.
        let mut least = RelativeWeight { selections: 1, weight: 0, shared_by: 1 };
        let mut place = Positions::FIRST;
        for address in &host.addresses {
            let this = place;
            place = place.next();
            if !address.is_candidate || Family::of(address.ip) != family {
                continue;
            }
            left.has_candidates = true;
            if !host.is_healthy(address) {
                continue;
            }
            left.healthy.add(this);
            let weight = weight_of(address);
            if weight == 0 {
                continue;
            }
            let selections = domain.tally_of(address).map_or(0, |tally| tally.selections);
            let figure = RelativeWeight { selections, weight: weight.into(), shared_by: 1 };
            match figure.compare(least) {
                Ordering::Less => {
                    least = figure;
                    left.least = this;
                }
                Ordering::Equal => left.least.add(this),
                Ordering::Greater => {}
            }
        }
        left
    }
}

/// Some of the addresses of a host: a bit for each position in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Positions(u64);

impl Positions {
    /// Addresses that a list may have at most.
    const MOST: usize = u64::BITS as usize;
    const NONE: Positions = Positions(0);

    /// The first position alone.
    const FIRST: Positions = Positions(1);

    /// Each position one further.
    #[inline]
    const fn next(self) -> Self {
        Positions(self.0 << 1)
    }

    #[inline]
    const fn add(&mut self, others: Positions) {
        self.0 |= others.0;
    }

    const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The position, if there is exactly one.
    #[inline]
    fn only(self) -> Option<usize> {
        self.0.is_power_of_two().then(|| self.0.trailing_zeros() as usize)
    }

    /// In the order of the list.
    #[inline]
    fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        iter::from_fn(move || {
            let position = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(position)
        })
    }
}

#[cfg(test)]
mod tests;
