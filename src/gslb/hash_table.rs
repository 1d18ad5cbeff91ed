//! The table of hash persistence: which address owns which bucket (guide p. 70 to 82).
//!
//! The addresses are dealt to the buckets in ascending order, round and round; with weights each
//! takes as many buckets in a row as its weight says. The result depends on the set of addresses
//! only, so two appliances agree without talking to each other. An address that is lost gives up
//! its own buckets and no others; one that is new or recovered, or a changed weight, deals the
//! whole table again, unless that is disabled.

use std::net::IpAddr;

use crate::clock::Moment;
use crate::health::prefix::Prefix;

/// Buckets of a table.
pub const BUCKETS: usize = 256;

/// The buckets of one domain and family.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HashTable {
    weighted: bool,
    /// Who may own buckets, in ascending order.
    members: Vec<Member>,
    /// The owner of each bucket; empty if there are no members.
    owners: Vec<IpAddr>,
    /// Questions that used each bucket; empty as long as there were none.
    hits: Vec<u64>,
    needs_rehash: bool,
    /// Whether somebody was told that it needs a rehash.
    announced: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Member {
    address: IpAddr,
    weight: u8,
    /// Since when it is known to be down, if it may keep its buckets for a while.
    down_since: Option<Moment>,
}

/// An address that may own buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The address.
    pub address: IpAddr,
    /// Its hash weight; 0 gets no buckets. Without weights it is 1.
    pub weight: u8,
    /// Whether it passes its health checks.
    pub healthy: bool,
}

/// What a table does when the addresses change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Buckets in proportion to the weights.
    pub weighted: bool,
    /// New and recovered addresses deal the table again.
    pub rehash: bool,
    /// Changed weights deal the table again.
    pub weight_rehash: bool,
    /// Seconds for which an address that is down keeps its buckets, where `rehash` is off.
    pub patience: u32,
}

/// The bucket of a client: the sum of the bytes of its address, of which only the first
/// `prefix_length` bits count, modulo 256 (guide p. 72).
///
/// The length is one of IPv4: 32 and more is the whole address, also of an IPv6 client.
#[must_use]
pub fn bucket_of(client: IpAddr, prefix_length: u8) -> u8 {
    let sum = |octets: &[u8]| octets.iter().fold(0_u8, |sum, octet| sum.wrapping_add(*octet));
    let whole = prefix_length >= 32;
    let network = Prefix::new(client, prefix_length).network();
    match if whole { client } else { network } {
        IpAddr::V4(address) => sum(&address.octets()),
        IpAddr::V6(address) => sum(&address.octets()),
    }
}

impl HashTable {
    /// The owner of a bucket.
    #[must_use]
    pub fn owner(&self, bucket: u8) -> Option<IpAddr> {
        self.owners.get(usize::from(bucket)).copied()
    }

    /// Owner and hits of each bucket in order; nothing if nobody owns buckets.
    pub fn buckets(&self) -> impl Iterator<Item = (IpAddr, u64)> {
        let hits = self.hits.iter().copied().chain(std::iter::repeat(0));
        self.owners.iter().copied().zip(hits)
    }

    /// Whether a rehash was due and not made, because it is disabled.
    #[must_use]
    pub const fn needs_rehash(&self) -> bool {
        self.needs_rehash
    }

    /// Whether somebody should be told that a rehash is due; says so once for each time.
    pub fn announce(&mut self) -> bool {
        self.needs_rehash && !std::mem::replace(&mut self.announced, true)
    }

    /// Counts a question that used a bucket.
    pub fn hit(&mut self, bucket: u8) {
        self.hits.resize(BUCKETS, 0);
        self.hits[usize::from(bucket)] += 1;
    }

    /// Takes all buckets away, so that they are dealt anew; the hits stay.
    pub fn forget_owners(&mut self) {
        self.members.clear();
        self.owners.clear();
        self.needs_rehash = false;
        self.announced = false;
    }

    /// What the table becomes with these addresses; `None` if it stays as it is.
    #[must_use]
    pub fn refreshed(&self, owners: &[Owner], rules: Rules, now: Moment) -> Option<HashTable> {
        let find = |member: &Member| owners.iter().find(|owner| owner.address == member.address);
        let joined = owners.iter().any(|owner| {
            owner.may_own() && !self.members.iter().any(|one| one.address == owner.address)
        });
        let reweighted = self
            .members
            .iter()
            .any(|member| find(member).is_some_and(|owner| owner.weight != member.weight));
        if rules.weighted != self.weighted
            || joined && (rules.rehash || self.members.is_empty())
            || reweighted && rules.weight_rehash
        {
            return Some(self.dealt_anew(owners, rules));
        }
        let patience = if rules.rehash { 0 } else { u64::from(rules.patience) };
        let down_since = |member: &Member| match find(member) {
            Some(owner) if !owner.healthy => Some(member.down_since.unwrap_or(now)),
            Some(_) | None => None,
        };
        let is_lost = |member: &Member| {
            let down = down_since(member);
            find(member).is_none() || down.is_some_and(|at| now.since(at).as_secs() >= patience)
        };
        let needs_rehash = joined || reweighted;
        let unchanged = self.needs_rehash == needs_rehash
            && !self.members.iter().any(|one| is_lost(one) || down_since(one) != one.down_since);
        if unchanged {
            return None;
        }
        let mut table = HashTable { needs_rehash, ..self.clone() };
        table.announced &= needs_rehash;
        table.members.retain_mut(|member| {
            member.down_since = down_since(member);
            !is_lost(member)
        });
        if table.members.is_empty() {
            return Some(self.dealt_anew(owners, rules));
        }
        let members = &table.members;
        let mut heirs = deal(members);
        for owner in &mut table.owners {
            if !members.iter().any(|member| member.address == *owner)
                && let Some(heir) = heirs.next()
            {
                *owner = heir;
            }
        }
        drop(heirs);
        Some(table)
    }

    /// A table in which all buckets are dealt, with the hits of this one.
    fn dealt_anew(&self, owners: &[Owner], rules: Rules) -> HashTable {
        let mut members: Vec<Member> = owners
            .iter()
            .filter(|owner| owner.may_own())
            .map(|owner| Member { address: owner.address, weight: owner.weight, down_since: None })
            .collect();
        members.sort_by_key(|member| member.address);
        let owners = deal(&members).take(BUCKETS).collect();
        let hits = self.hits.clone();
        let weighted = rules.weighted;
        HashTable { weighted, members, owners, hits, needs_rehash: false, announced: false }
    }
}

impl Owner {
    fn may_own(&self) -> bool {
        self.healthy && self.weight > 0
    }
}

/// The members round and round, each as often in a row as its weight says.
fn deal(members: &[Member]) -> impl Iterator<Item = IpAddr> {
    members
        .iter()
        .flat_map(|member| std::iter::repeat_n(member.address, member.weight.into()))
        .cycle()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::ip;

    const PLAIN: Rules = Rules { weighted: false, rehash: true, weight_rehash: true, patience: 5 };
    const KEPT: Rules = Rules { rehash: false, weight_rehash: false, ..PLAIN };

    fn owners(all: &[(u8, u8)]) -> Vec<Owner> {
        let owner = |&(last, weight)| Owner {
            address: IpAddr::from([1, 1, 1, last]),
            weight,
            healthy: true,
        };
        all.iter().map(owner).collect()
    }

    /// The last octets of the first buckets.
    fn first(table: &HashTable, count: usize) -> Vec<u8> {
        let last = |(address, _): (IpAddr, u64)| match address {
            IpAddr::V4(address) => address.octets()[3],
            IpAddr::V6(_) => 0,
        };
        table.buckets().take(count).map(last).collect()
    }

    fn table(all: &[(u8, u8)], rules: Rules) -> HashTable {
        HashTable::default().refreshed(&owners(all), rules, Moment::ZERO).unwrap()
    }

    #[test]
    fn v20_v21_the_bucket_is_the_sum_of_the_octets() {
        assert_eq!(bucket_of(ip("1.1.1.42"), 32), 45);
        assert_eq!(bucket_of(ip("172.168.10.1"), 32), 95);
        let buckets: Vec<u8> =
            (10..15).map(|last| bucket_of(IpAddr::from([10, 15, 102, last]), 32)).collect();
        assert_eq!(buckets, [137, 138, 139, 140, 141]);
        assert_eq!(bucket_of(ip("1.1.1.42"), 24), 3);
        assert_eq!(bucket_of(ip("2001:db8::1"), 32), 0x20 + 0x01 + 0x0d + 0xb8 + 0x01);
    }

    #[test]
    fn v22_v23_dealt_in_ascending_order_and_given_up_when_lost() {
        let before = table(&[(44, 1), (42, 1)], PLAIN);
        assert_eq!(first(&before, 4), [42, 44, 42, 44]);
        assert_eq!(before.buckets().count(), BUCKETS);
        assert_eq!(first(&before, BUCKETS).last(), Some(&44));
        let after = before.refreshed(&owners(&[(42, 1)]), PLAIN, Moment::ZERO).unwrap();
        assert_eq!(first(&after, BUCKETS), [42; BUCKETS]);
    }

    #[test]
    fn v24_a_new_address_deals_the_table_again() {
        let before = table(&[(42, 1), (44, 1)], PLAIN);
        let three = owners(&[(42, 1), (44, 1), (43, 1)]);
        let after = before.refreshed(&three, PLAIN, Moment::ZERO).unwrap();
        assert_eq!(first(&after, 10), [42, 43, 44, 42, 43, 44, 42, 43, 44, 42]);
        assert_eq!(after.refreshed(&three, PLAIN, Moment::ZERO), None);
    }

    #[test]
    fn v25_unless_rehash_is_disabled() {
        let before = table(&[(42, 1), (44, 1)], KEPT);
        let three = owners(&[(42, 1), (44, 1), (43, 1)]);
        let after = before.refreshed(&three, KEPT, Moment::ZERO).unwrap();
        assert_eq!(first(&after, BUCKETS), first(&before, BUCKETS));
        assert!(after.needs_rehash() && !before.needs_rehash());
        assert_eq!(after.refreshed(&three, KEPT, Moment::ZERO), None);
    }

    #[test]
    fn v25_weighted() {
        let rules = Rules { weighted: true, ..PLAIN };
        let before = table(&[(42, 1), (43, 1), (44, 2)], rules);
        assert_eq!(first(&before, 8), [42, 43, 44, 44, 42, 43, 44, 44]);
        assert_eq!(first(&before, BUCKETS).last(), Some(&44));
        let after = before.refreshed(&owners(&[(42, 1), (43, 1)]), rules, Moment::ZERO).unwrap();
        assert_eq!(first(&after, 8), [42, 43, 42, 43, 42, 43, 42, 43]);
        let after =
            after.refreshed(&owners(&[(42, 1), (43, 1), (44, 2)]), rules, Moment::ZERO).unwrap();
        assert_eq!(first(&after, BUCKETS), first(&before, BUCKETS));
        let row = table(&[(1, 2), (2, 3)], rules);
        assert_eq!(first(&row, 6), [1, 1, 2, 2, 2, 1], "the whole weight in a row");
    }

    #[test]
    fn a_changed_weight_deals_the_table_again_unless_disabled() {
        let rules = Rules { weighted: true, ..PLAIN };
        let before = table(&[(42, 1), (43, 1)], rules);
        let changed = owners(&[(42, 2), (43, 1)]);
        let after = before.refreshed(&changed, rules, Moment::ZERO).unwrap();
        assert_eq!(first(&after, 4), [42, 42, 43, 42]);
        let kept = before
            .refreshed(&changed, Rules { weight_rehash: false, ..rules }, Moment::ZERO)
            .unwrap();
        assert_eq!(first(&kept, BUCKETS), first(&before, BUCKETS));
        assert!(kept.needs_rehash());
    }

    #[test]
    fn weight_zero_owns_nothing() {
        let rules = Rules { weighted: true, ..PLAIN };
        assert_eq!(first(&table(&[(42, 0), (43, 1)], rules), 2), [43, 43]);
        let none = HashTable::default().refreshed(&owners(&[(42, 0)]), rules, Moment::ZERO);
        assert_eq!(none.unwrap().owner(7), None);
    }

    #[test]
    fn an_address_that_is_down_keeps_its_buckets_for_a_while() {
        let before = table(&[(42, 1), (44, 1)], KEPT);
        let mut all = owners(&[(42, 1), (44, 1)]);
        all[1].healthy = false;
        let at = |seconds| Moment::ZERO.plus_secs(seconds);
        let waiting = before.refreshed(&all, KEPT, at(10)).unwrap();
        assert_eq!(first(&waiting, BUCKETS), first(&before, BUCKETS));
        assert_eq!(waiting.refreshed(&all, KEPT, at(14)), None);
        let lost = waiting.refreshed(&all, KEPT, at(15)).unwrap();
        assert_eq!(first(&lost, BUCKETS), [42; BUCKETS]);
        all[1].healthy = true;
        let back = waiting.refreshed(&all, KEPT, at(14)).unwrap();
        assert_eq!(back, before, "it came back in time");
        let late = lost.refreshed(&all, KEPT, at(16)).unwrap();
        assert_eq!(first(&late, BUCKETS), [42; BUCKETS]);
        assert!(late.needs_rehash());
    }

    #[test]
    fn when_all_owners_are_lost_whoever_is_there_takes_over() {
        let before = table(&[(42, 1)], KEPT);
        let after = before.refreshed(&owners(&[(43, 1)]), KEPT, Moment::ZERO).unwrap();
        assert_eq!(first(&after, 2), [43, 43]);
        let empty = after.refreshed(&[], KEPT, Moment::ZERO).unwrap();
        assert_eq!(empty.buckets().count(), 0);
        assert_eq!(empty.refreshed(&[], KEPT, Moment::ZERO), None);
    }

    #[test]
    fn hits_outlive_a_rehash() {
        let mut before = table(&[(42, 1)], PLAIN);
        before.hit(139);
        before.hit(139);
        let after = before.refreshed(&owners(&[(42, 1), (43, 1)]), PLAIN, Moment::ZERO).unwrap();
        assert_eq!(after.buckets().nth(139), Some((ip("1.1.1.43"), 2)));
    }
}
