//! The choice of a gateway host: a pure function of the domain, what is measured and who was used
//! when. It changes nothing; the caller counts the choice under the domain's lock.

use std::cmp::Reverse;

use crate::names::named_enum;
use crate::sna::domain::{Holding, Resource, SnaDomain, SystemId};
use crate::sna::state::LuStatus;
use crate::sna::tally::DomainState;

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
    let choice = |system, pass| Choice { system, pass };
    let pass = |accepted: &[LuStatus]| {
        resources.iter().find_map(|resource| {
            let holdings = domain.holdings(*resource).iter();
            let available = holdings.filter(|holding| has_lu(holding, accepted));
            best(domain, state, available.map(|holding| holding.system))
        })
    };
    if let Some(system) = pass(&[LuStatus::Active]) {
        return Some(choice(system, Pass::First));
    }
    if let Some(system) = pass(&[LuStatus::Active, LuStatus::Inactive]) {
        return Some(choice(system, Pass::Second));
    }
    let preferred = domain.holdings(*resources.first()?).iter();
    let system = preferred
        .map(|holding| holding.system)
        .min_by_key(|system| (used_at(domain, state, *system), *system))?;
    Some(choice(system, Pass::LeastRecentlyUsed))
}

fn has_lu(holding: &Holding, accepted: &[LuStatus]) -> bool {
    holding.lus.iter().any(|lu| accepted.contains(&lu.status()))
}

fn best(
    domain: &SnaDomain,
    state: &DomainState,
    systems: impl Iterator<Item = SystemId>,
) -> Option<SystemId> {
    // What is measured is read once for each system: it may change meanwhile.
    systems
        .map(|system| {
            let measured = &domain.systems[system.index()].state;
            let rest = (Reverse(measured.bandwidth()), used_at(domain, state, system), system);
            (measured.load(), rest)
        })
        .min_by(|(load, rest), (other_load, other_rest)| {
            load.total_cmp(other_load).then_with(|| rest.cmp(other_rest))
        })
        .map(|(_, (.., system))| system)
}

/// The number of the answer that used the system last; 0: never.
fn used_at(domain: &SnaDomain, state: &DomainState, system: SystemId) -> u64 {
    let name = &domain.systems[system.index()].name;
    state.system(system.index(), name).map_or(0, |tally| tally.used_at)
}
