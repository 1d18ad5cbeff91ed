//! The choice of a gateway host: a pure function of the domain, what is measured and who was used
//! when. It changes nothing; the caller counts the choice under the domain's lock.

use std::cmp::Reverse;

use crate::names::named_enum;
use crate::sna::domain::{Holding, Resource, SnaDomain, SystemId};
use crate::sna::state::LuStatus;
use crate::sna::tally::{DomainState, SystemTally};

named_enum! {
    /// What chose a system (guide p. E-4, E-7).
    pub enum Pass {
        /// It has an active LU.
        First = "first",
        /// It has an inactive LU, and no resource of the list has an active one.
        Second = "second",
        /// Nothing is available; it is the one that was not used for the longest time.
        LeastRecentlyUsed = "least-recently-used",
    }
}

/// The result of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The system.
    pub system: SystemId,
    /// What chose it.
    pub pass: Pass,
}

/// Chooses a system for a list of resources, the preferred one first; `None` if the list is empty.
///
/// The first resource that has an available LU decides. Of its systems with such an LU the one with
/// the lowest load average is taken, then the one with the highest bandwidth (guide p. E-4), then
/// the least recently used, then the first one configured (ours).
#[must_use]
pub fn choose(domain: &SnaDomain, state: &DomainState, resources: &[Resource]) -> Option<Choice> {
    let tallies = state.systems(domain.arrangement);
    let holdings = |resource: &Resource| domain.holdings(*resource).iter();
    let mut any_inactive = false;
    for resource in resources {
        let active = holdings(resource).filter(|holding| {
            let status = best_status(holding);
            any_inactive |= status == LuStatus::Inactive;
            status == LuStatus::Active
        });
        if let Some(system) = best(domain, tallies, active) {
            return Some(Choice { system, pass: Pass::First });
        }
    }
    // An LU that has become active meanwhile counts as well.
    for resource in resources.iter().filter(|_| any_inactive) {
        let available = holdings(resource).filter(|one| best_status(one) != LuStatus::InUse);
        if let Some(system) = best(domain, tallies, available) {
            return Some(Choice { system, pass: Pass::Second });
        }
    }
    let preferred = holdings(resources.first()?).map(|holding| holding.system);
    let system = preferred.min_by_key(|system| (used_at(tallies, *system), *system))?;
    Some(Choice { system, pass: Pass::LeastRecentlyUsed })
}

/// Active if one of the LUs is, else inactive if one is.
fn best_status(holding: &Holding) -> LuStatus {
    let mut best = LuStatus::InUse;
    for lu in &holding.lus {
        match lu.status() {
            LuStatus::Active => return LuStatus::Active,
            LuStatus::Inactive => best = LuStatus::Inactive,
            LuStatus::InUse => {}
        }
    }
    best
}

fn best<'a>(
    domain: &SnaDomain,
    tallies: &[SystemTally],
    holdings: impl Iterator<Item = &'a Holding>,
) -> Option<SystemId> {
    // What is measured is read once for each system: it may change meanwhile.
    holdings
        .map(|holding| {
            let system = holding.system;
            let measured = &domain.systems[system.index()].state;
            let rest = (Reverse(measured.bandwidth()), used_at(tallies, system), system);
            (measured.load(), rest)
        })
        .min_by(|(load, rest), (other_load, other_rest)| {
            load.total_cmp(other_load).then_with(|| rest.cmp(other_rest))
        })
        .map(|(_, (.., system))| system)
}

/// The number of the answer that used the system last; 0: never.
fn used_at(tallies: &[SystemTally], system: SystemId) -> u64 {
    tallies.get(system.index()).map_or(0, |tally| tally.used_at)
}
