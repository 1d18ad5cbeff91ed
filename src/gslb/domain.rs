//! The state of one domain name that a choice reads and changes: counts, rotation, persistence.
//!
//! [`crate::gslb::choose`] reads a [`DomainState`] and says what changes; the caller applies the
//! change while it holds the domain's lock.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;

use crate::gslb::explore::{Explore, ExploreStep};
use crate::gslb::hash_persistence::{self, HashTables};
use crate::gslb::hash_table::HashTable;
use crate::gslb::sticky::{StickySession, StickySessions};
use crate::model::policy::{Metric, TieBreaker};
use crate::model::snapshot::{Address, Family, Host, SiteId, Snapshot};
use crate::names::named_enum;

named_enum! {
    /// What made an address the best one; the name stands in the brackets of the metric counters.
    pub enum Decision {
        /// Server health.
        HealthCheck = "health-check",
        /// Weight of the address.
        WeightedIp = "weighted-ip",
        /// Weight of the site.
        WeightedSite = "weighted-site",
        /// Session capacity threshold.
        Capacity = "capacity",
        /// Active bindings.
        ActiveBindings = "active-bindings",
        /// Round-trip time.
        RoundTripTime = "round-trip-time",
        /// Location.
        Geographic = "geographic",
        /// Connection load.
        ConnectionLoad = "connection-load",
        /// Available sessions.
        NumSession = "num-session",
        /// FlashBack.
        Flashback = "flashback",
        /// Preference.
        Preference = "preference",
        /// Least response.
        LeastResponse = "least-response",
        /// Round robin.
        RoundRobin = "round-robin",
        /// Weighted round robin.
        WeightedRoundRobin = "round-robin-weighted",
        /// An affinity definition; counted on a line of its own.
        Affinity = "affinity",
        /// Hash persistence; counted on a line of its own.
        HashPersistence = "persistent-hash",
        /// Sticky persistence; counted on a line of its own.
        Sticky = "sticky",
    }
}

impl From<Metric> for Decision {
    fn from(metric: Metric) -> Self {
        match metric {
            Metric::HealthCheck => Decision::HealthCheck,
            Metric::WeightedIp => Decision::WeightedIp,
            Metric::WeightedSite => Decision::WeightedSite,
            Metric::Capacity => Decision::Capacity,
            Metric::ActiveBindings => Decision::ActiveBindings,
            Metric::RoundTripTime => Decision::RoundTripTime,
            Metric::Geographic => Decision::Geographic,
            Metric::ConnectionLoad => Decision::ConnectionLoad,
            Metric::NumSession => Decision::NumSession,
            Metric::Flashback => Decision::Flashback,
            Metric::Preference => Decision::Preference,
        }
    }
}

impl From<TieBreaker> for Decision {
    fn from(tie_breaker: TieBreaker) -> Self {
        match tie_breaker {
            TieBreaker::LeastResponse => Decision::LeastResponse,
            TieBreaker::RoundRobin => Decision::RoundRobin,
            TieBreaker::WeightedRoundRobin => Decision::WeightedRoundRobin,
        }
    }
}

/// The place of an address in [`DomainState::tallies`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub u32);

impl Slot {
    /// The position in the list.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How often one address was chosen for this domain, and by what.
///
/// The fields stay in this order, so that those which every choice needs are fetched together.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Tally {
    /// Times it was chosen.
    pub selections: u64,
    /// The address.
    pub address: IpAddr,
    /// Whether the present snapshot uses the slot.
    in_use: bool,
    /// What decided, and how often: one or two rules for nearly every address, ever, which take no
    /// memory of their own. The counts add up to `selections`.
    deciders: [Option<Decision>; 2],
    counts: [u64; 2],
    /// Number of the domain's selection that chose it last; 0: never. Clearing counters does not
    /// reset it.
    pub selected_at: u64,
    /// Other rules that decided.
    more: Option<Box<Counts>>,
}

/// Selections by what decided.
type Counts = SmallVec<[(Decision, u64); 2]>;

const _: () = assert!(size_of::<Tally>() <= 64, "there are hundreds of thousands of them");

impl Tally {
    /// An address that was never chosen.
    #[must_use]
    pub const fn new(address: IpAddr) -> Self {
        Tally {
            address,
            selections: 0,
            selected_at: 0,
            deciders: [None; 2],
            counts: [0; 2],
            more: None,
            in_use: true,
        }
    }

    /// Times that each rule chose this address, if it ever did; in no particular order.
    pub fn decisions(&self) -> impl Iterator<Item = (Decision, u64)> {
        let few = self.deciders.iter().zip(self.counts);
        let few = few.filter_map(|(decider, count)| Some(((*decider)?, count)));
        few.chain(self.more.iter().flat_map(|more| more.iter().copied()))
    }

    /// Times that `decision` chose this address.
    #[must_use]
    pub fn by(&self, decision: Decision) -> u64 {
        self.decisions().find(|(known, _)| *known == decision).map_or(0, |(_, count)| count)
    }

    /// Counts so many selections more, which `decision` made.
    #[inline]
    pub fn add(&mut self, decision: Decision, times: u64) {
        self.selections += times;
        for (decider, count) in self.deciders.iter_mut().zip(&mut self.counts) {
            if *decider.get_or_insert(decision) == decision {
                *count += times;
                return;
            }
        }
        self.add_to_more(decision, times);
    }

    #[cold]
    fn add_to_more(&mut self, decision: Decision, times: u64) {
        let more = self.more.get_or_insert_default();
        match more.iter_mut().find(|(known, _)| *known == decision) {
            Some((_, count)) => *count += times,
            None => more.push((decision, times)),
        }
    }

    /// Sets the counts to zero.
    fn clear(&mut self) {
        let Tally { address, in_use, selected_at, .. } = *self;
        *self = Tally { in_use, selected_at, ..Tally::new(address) };
    }
}

/// Where the rotation of one family stands; clearing counters does not reset it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rotation {
    /// The address selected last, by whatever means.
    pub last: Option<IpAddr>,
    /// Where it stood then: addresses of the family before it.
    pub place: u32,
    /// Selections in a row that went to the site of `last`; 1 if it belongs to none.
    pub run: u32,
}

/// Everything about a domain that a choice depends on and changes.
///
/// The fields stay in this order, so that those which every choice needs are fetched together.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct DomainState {
    /// Counts by slot.
    pub tallies: Box<[Tally]>,
    /// Questions for which the policy ran, by family (`Family::index`).
    pub requests: [u64; 2],
    /// Selections ever made, which gives each its number; never cleared.
    pub serial: u64,
    /// Rotation by family.
    pub rotation: [Rotation; 2],
    /// How far each client prefix is on its way to a question that skips round-trip time.
    pub explore: Explore,
    /// Buckets of hash persistence by family.
    pub hash_tables: HashTables,
    /// Sessions of sticky persistence.
    pub sticky: StickySessions,
}

/// What one question changes in the domain's state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainChange {
    /// The family for which the policy ran; `None`: it did not, and nothing counts.
    pub family: Option<Family>,
    /// The address that was chosen; `None`: there is no best.
    pub selection: Option<Selection>,
    /// The step of the client's prefix towards skipping round-trip time, if that is in use.
    pub explored: Option<ExploreStep>,
    /// The hash table that the addresses demand, and the bucket that was used.
    pub hash: HashChange,
    /// The sticky session that was made or used again.
    pub sticky: Option<StickySession>,
}

/// What one question changes in the hash table of its family.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HashChange {
    /// The new table; `None`: it stays, which is the usual case.
    pub table: Option<Box<HashTable>>,
    /// The bucket that decided.
    pub hit: Option<u8>,
}

/// The address that a question chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Its tally.
    pub slot: Slot,
    /// The address.
    pub address: IpAddr,
    /// What decided.
    pub decision: Decision,
    /// Addresses of the family before it in the list.
    pub place: u32,
    /// Selections in a row that went to its site, with this one.
    pub run: u32,
}

impl Selection {
    /// What choosing the address at this position of the host's list changes.
    #[inline]
    #[must_use]
    pub fn of(
        snapshot: &Snapshot,
        host: &Host,
        domain: &DomainState,
        family: Family,
        (best, decision): (usize, Decision),
    ) -> Self {
        let address = &host.addresses[best];
        let place = host.positions(family).take_while(|&other| other < best).count();
        let rotation = &domain.rotation[family.index()];
        let site = snapshot.owner_of(address).map(|server| server.site);
        let stays = site.is_some() && site == rotation.site_of_last(snapshot, host);
        Selection {
            slot: address.slot,
            address: address.ip,
            decision,
            place: u32::try_from(place).unwrap_or(u32::MAX),
            run: if stays { rotation.run.saturating_add(1) } else { 1 },
        }
    }
}

impl Rotation {
    /// The site of the address that was selected last, if it is still in the host's list.
    #[must_use]
    pub fn site_of_last(&self, snapshot: &Snapshot, host: &Host) -> Option<SiteId> {
        let last = self.last?;
        let address = host.addresses.iter().find(|known| known.ip == last)?;
        snapshot.owner_of(address).map(|server| server.site)
    }
}

impl DomainState {
    /// Questions for which the policy ran, both families together.
    #[must_use]
    pub fn total_requests(&self) -> u64 {
        self.requests[0] + self.requests[1]
    }

    /// How often an address of the host was chosen, and by what.
    ///
    /// `None` if the domain has no such slot any more, which a question sees that still runs on a
    /// snapshot from before a change.
    #[inline]
    #[must_use]
    pub fn tally_of(&self, address: &Address) -> Option<&Tally> {
        let tally = self.tallies.get(address.slot.index())?;
        (tally.address == address.ip).then_some(tally)
    }

    /// Counts a question and moves the rotation on.
    pub fn apply(&mut self, change: DomainChange) {
        let Some(family) = change.family else { return };
        if let Some(step) = change.explored {
            self.explore.apply(step);
        }
        hash_persistence::apply(&mut self.hash_tables, family, change.hash);
        if let Some(session) = change.sticky {
            self.sticky.keep(family, session);
        }
        self.count(family, change.selection);
    }

    /// Counts a question for which nothing but an address was chosen, if that.
    #[inline]
    pub fn count(&mut self, family: Family, selection: Option<Selection>) {
        self.requests[family.index()] += 1;
        let Some(selection) = selection else { return };
        self.serial += 1;
        let Selection { slot, address, decision, place, run } = selection;
        self.rotation[family.index()] = Rotation { last: Some(address), place, run };
        // A question that still runs on an earlier snapshot may choose an address whose slot now
        // belongs to another one: it counts nowhere.
        if let Some(tally) = self.tallies.get_mut(slot.index())
            && tally.address == address
        {
            tally.add(decision, 1);
            tally.selected_at = self.serial;
        }
    }

    /// Deals all buckets of hash persistence again, at the next question.
    pub fn rehash(&mut self) {
        for table in self.hash_tables.iter_mut().flatten() {
            table.forget_owners();
        }
    }

    /// Forgets what is bound to a time or a client: sessions, hash tables, steps towards exploring.
    pub fn forget_persistence(&mut self) {
        self.explore = Explore::default();
        self.hash_tables = HashTables::default();
        self.sticky = StickySessions::default();
    }

    /// Sets all counts to zero; rotation stays where it is.
    pub fn clear_counts(&mut self) {
        self.requests = [0; 2];
        for tally in &mut self.tallies {
            tally.clear();
        }
    }

    /// Gives each address its slot, keeping the counts of those that are still there.
    ///
    /// A slot that an earlier call gave up is used again only now, so that a question which still
    /// runs on the snapshot before counts nowhere else.
    pub fn assign_slots(&mut self, addresses: &[IpAddr]) -> Vec<Slot> {
        if self.tallies.is_empty() && are_few_and_different(addresses) {
            // A domain that begins, as all do at a start.
            self.tallies = addresses.iter().map(|address| Tally::new(*address)).collect();
            return (0..).map(Slot).take(addresses.len()).collect();
        }
        let free: Vec<usize> = positions(&self.tallies, |tally| !tally.in_use);
        let mut free = free.into_iter();
        let mut slots = Vec::with_capacity(addresses.len());
        let mut tallies = std::mem::take(&mut self.tallies).into_vec();
        tallies.reserve_exact(addresses.len().saturating_sub(tallies.len()));
        for address in addresses {
            let known = tallies.iter().position(|tally| tally.address == *address);
            let place = known
                .or_else(|| free.find(|place| !tallies[*place].in_use))
                .unwrap_or(tallies.len());
            match tallies.get_mut(place) {
                Some(tally) if tally.in_use => {}
                Some(tally) => *tally = Tally::new(*address),
                None => tallies.push(Tally::new(*address)),
            }
            // A slot beyond 32 bits cannot be; it would count nowhere.
            slots.push(Slot(u32::try_from(place).unwrap_or(u32::MAX)));
        }
        for (place, tally) in tallies.iter_mut().enumerate() {
            tally.in_use = slots.iter().any(|slot| slot.index() == place);
        }
        self.tallies = tallies.into_boxed_slice();
        slots
    }
}

/// Whether addresses are different ones, and so few that it costs little to know.
fn are_few_and_different(addresses: &[IpAddr]) -> bool {
    let is_new = |place: usize| !addresses[..place].contains(&addresses[place]);
    addresses.len() <= 8 && (0..addresses.len()).all(is_new)
}

fn positions<T>(items: &[T], wanted: impl Fn(&T) -> bool) -> Vec<usize> {
    items.iter().enumerate().filter(|(_, item)| wanted(item)).map(|(place, _)| place).collect()
}

/// A domain's state behind its lock.
#[derive(Debug, Default)]
pub struct Domain {
    state: Mutex<DomainState>,
}

impl Domain {
    /// Locks the state. A choice holds the lock for well under a microsecond.
    pub fn lock(&self) -> MutexGuard<'_, DomainState> {
        // A panic while the lock is held cannot leave half a change: changes are plain additions.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn counts_follow_an_address_through_a_change_of_the_list() {
        let mut state = DomainState::default();
        let slots = state.assign_slots(&[ip(1), ip(2)]);
        state.tallies[slots[1].index()].selections = 7;
        let slots = state.assign_slots(&[ip(2), ip(3)]);
        assert_eq!(state.tallies[slots[0].index()].selections, 7);
        assert_eq!(state.tallies[slots[1].index()].selections, 0);
    }

    #[test]
    fn a_tally_counts_every_rule_that_decided() {
        let mut tally = Tally::new(ip(1));
        for (times, decision) in (1..).zip(Decision::ALL.iter().copied()) {
            tally.add(decision, times);
            tally.add(decision, times);
        }
        for (times, decision) in (1..).zip(Decision::ALL.iter().copied()) {
            assert_eq!(tally.by(decision), 2 * times, "{decision:?}");
        }
        assert_eq!(tally.selections, tally.decisions().map(|(_, count)| count).sum::<u64>());
        tally.selected_at = 5;
        tally.clear();
        assert_eq!((tally.selections, tally.decisions().count(), tally.selected_at), (0, 0, 5));
    }

    #[test]
    fn an_address_that_comes_back_starts_at_zero() {
        let mut state = DomainState::default();
        let slots = state.assign_slots(&[ip(1)]);
        state.tallies[slots[0].index()].selections = 7;
        state.assign_slots(&[]);
        let slots = state.assign_slots(&[ip(1)]);
        assert_eq!(state.tallies[slots[0].index()].selections, 0);
    }

    #[test]
    fn slots_are_used_again() {
        let mut state = DomainState::default();
        for round in 0..100 {
            state.assign_slots(&[ip(round)]);
        }
        assert!(state.tallies.len() <= 2);
    }
}
