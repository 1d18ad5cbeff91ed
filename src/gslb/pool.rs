//! What a question would be dealt among, whatever was counted before.
//!
//! Weighted metrics and tie-breakers follow counters, so that what they choose next depends on all
//! that they chose before. The pool leaves the counters out: it holds the addresses among which
//! they deal, each with its share. A long run of questions approaches these shares; what deviates
//! from them comes from counters that remember another configuration or other candidates.

use smallvec::SmallVec;

use crate::gslb::affinity::affinity_of;
use crate::gslb::choose::{Candidates, View};
use crate::gslb::metric::{self, Proportions};
use crate::model::policy::{HashPersistence, Metric};

/// The addresses among which a question is dealt.
///
/// Empty exactly if there would be no best address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    members: SmallVec<[Member; 8]>,
}

/// An address of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Member {
    /// Its position in `host.addresses`.
    position: usize,
    /// Its weight, above 0.
    weight: u32,
    /// How many members share that weight, at least 1.
    shared_by: u32,
}

impl Pool {
    /// The pool of a question.
    ///
    /// Affinity and hash persistence come first, as in a choice; a hash deals its buckets in
    /// proportion to the hash weights, which are the shares of clients that are spread evenly. A
    /// sticky session only repeats what was dealt, so it does not take part. The first metric that
    /// deals in proportion ends the search, since what stands behind it decides only among equals;
    /// but if a health check stands behind it, and an address that has a share is down, there is no
    /// best address as soon as it is the turn of that one, and it stays its turn.
    #[must_use]
    pub fn of(view: &View<'_>) -> Self {
        let mut candidates = view.host.candidates(view.family);
        if candidates.is_empty() {
            return Pool::default();
        }
        if let Some(pool) = of_affinity(view, &candidates).or_else(|| of_hash(view, &candidates)) {
            return pool;
        }
        let metrics = &view.policy().metrics;
        for (place, &metric) in metrics.iter().enumerate() {
            if candidates.len() == 1 && metric != Metric::HealthCheck {
                continue;
            }
            if let Some(proportions) = metric::proportions(metric, view, &candidates) {
                let pool = Pool::new(&candidates, &proportions);
                let is_checked_later = metrics[place..].contains(&Metric::HealthCheck);
                let healthy = |position| view.host.is_healthy(view.address(position));
                let stalls = is_checked_later && !pool.positions().all(healthy);
                return if stalls { Pool::default() } else { pool };
            }
            let left = metric::apply(metric, view, &mut candidates, &mut ());
            candidates.truncate(left);
            if candidates.is_empty() {
                return Pool::default();
            }
        }
        Pool::new(&candidates, &metric::tie_proportions(view, &candidates))
    }

    fn new(candidates: &[usize], proportions: &Proportions) -> Self {
        let members = candidates.iter().zip(proportions);
        let weighted = members.filter(|(_, (weight, _))| *weight > 0);
        Pool {
            members: weighted
                .map(|(&position, &(weight, shared_by))| Member { position, weight, shared_by })
                .collect(),
        }
    }

    /// Whether there would be no best address.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Its addresses as positions in `host.addresses`, in the order of the list.
    pub fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().map(|member| member.position)
    }

    /// Each address with its share; the shares of a pool that is not empty add up to 1.
    pub fn shares(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let of = |member: &Member| f64::from(member.weight) / f64::from(member.shared_by);
        let total: f64 = self.members.iter().map(of).sum();
        self.members.iter().map(move |member| (member.position, of(member) / total))
    }
}

/// The VIPs of the device that the client's affinity names, dealt evenly.
fn of_affinity(view: &View<'_>, candidates: &[usize]) -> Option<Pool> {
    let affinity = affinity_of(view.snapshot, view.host, view.client)?;
    let preferred: Candidates = candidates
        .iter()
        .copied()
        .filter(|&position| {
            let address = view.address(position);
            address.owner == Some(affinity.server) && view.host.is_healthy(address)
        })
        .collect();
    let even: Proportions = preferred.iter().map(|_| (1, 1)).collect();
    Some(Pool::new(&preferred, &even)).filter(|pool| !pool.is_empty())
}

/// The healthy addresses in proportion to their hash weights.
fn of_hash(view: &View<'_>, candidates: &[usize]) -> Option<Pool> {
    let HashPersistence { weighted, .. } = view.policy().hash.as_ref()?;
    let weights: Proportions = candidates
        .iter()
        .map(|&position| {
            let address = view.address(position);
            let weight = if *weighted { address.hash_weight.unwrap_or(1) } else { 1 };
            (if view.host.is_healthy(address) { weight.into() } else { 0 }, 1)
        })
        .collect();
    Some(Pool::new(candidates, &weights)).filter(|pool| !pool.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::gslb::affinity::Affinity;
    use crate::gslb::testing::{World, ip};
    use crate::health::prefix::Prefix;
    use crate::model::policy::TieBreaker;
    use crate::model::snapshot::ServerId;

    const WWW: &str = "www.a.com";

    /// Shares in thousandths by the place in the list.
    fn shares(world: &World) -> Vec<(usize, u32)> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        let thousandths = |share: f64| (share * 1000.0).round() as u32;
        world.view(WWW, |view| {
            Pool::of(view).shares().map(|(at, share)| (at, thousandths(share))).collect()
        })
    }

    fn weighted() -> World {
        World::new()
            .metrics(&[Metric::HealthCheck, Metric::WeightedIp])
            .weighted_host(WWW, &[("192.0.2.1", 50), ("192.0.2.2", 30), ("192.0.2.3", 20)])
    }

    #[test]
    fn weights_of_addresses_are_shares_among_the_healthy() {
        let world = weighted();
        assert_eq!(shares(&world), [(0, 500), (1, 300), (2, 200)]);
        world.down("192.0.2.1");
        assert_eq!(shares(&world), [(1, 600), (2, 400)]);
        world.down("192.0.2.2");
        world.down("192.0.2.3");
        assert_eq!(shares(&world), []);
    }

    #[test]
    fn counters_do_not_take_part() {
        let world = weighted();
        world.run(WWW, 7);
        assert_eq!(shares(&world), [(0, 500), (1, 300), (2, 200)]);
    }

    #[test]
    fn the_weight_of_a_site_is_shared_by_its_candidates() {
        let world = World::new()
            .site("a", 60, &["192.0.2.1", "192.0.2.2"])
            .site("b", 40, &["192.0.2.3"])
            .metrics(&[Metric::HealthCheck, Metric::WeightedSite])
            .host(WWW, &["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]);
        assert_eq!(shares(&world), [(0, 300), (1, 300), (2, 400)]);
        world.down("192.0.2.2");
        assert_eq!(shares(&world), [(0, 600), (2, 400)]);
        let world = world.metrics(&[]).tie_breaker(TieBreaker::WeightedRoundRobin);
        assert_eq!(shares(&world), [(0, 300), (1, 300), (2, 400)]);
    }

    #[test]
    fn without_weights_everybody_has_the_same_share() {
        let world = World::new()
            .metrics(&[Metric::HealthCheck, Metric::WeightedIp, Metric::WeightedSite])
            .host(WWW, &["192.0.2.1", "192.0.2.2"]);
        assert_eq!(shares(&world), [(0, 500), (1, 500)]);
    }

    #[test]
    fn a_check_behind_the_weights_stalls_when_it_is_the_turn_of_a_dead_address() {
        let world = weighted().metrics(&[Metric::WeightedIp, Metric::HealthCheck]);
        assert_eq!(shares(&world), [(0, 500), (1, 300), (2, 200)]);
        world.down("192.0.2.2");
        assert_eq!(shares(&world), []);
        world.run(WWW, 2);
        assert_eq!(world.run(WWW, 5), [0; 5], "no best, again and again");
    }

    #[test]
    fn affinity_and_hash_come_before_the_metrics() {
        let mut world = weighted().site("a", 0, &["192.0.2.3"]);
        let clients = Prefix::new(ip("127.0.0.0"), 8);
        world.snapshot.affinities.push(Affinity { group: None, clients, server: ServerId(0) });
        assert_eq!(shares(&world), [(2, 1000)]);
        world.down("192.0.2.3");
        assert_eq!(shares(&world), [(0, 625), (1, 375)]);
        let world = world
            .policy(|policy| {
                policy.hash =
                    Some(HashPersistence { weighted: true, ..HashPersistence::default() });
            })
            .change_host(WWW, |host| host.addresses[1].hash_weight = Some(3));
        assert_eq!(shares(&world), [(0, 250), (1, 750)]);
    }

    proptest! {
        /// A long run gives each address its share, to within the bounds of decisions 4.11.
        #[test]
        fn a_long_run_approaches_the_shares(
            weights in proptest::collection::vec(0_u8..=100, 2..6),
            down in 0_usize..6,
        ) {
            let names: Vec<String> = (1..=weights.len()).map(|n| format!("192.0.2.{n}")).collect();
            let list: Vec<(&str, u8)> =
                names.iter().map(String::as_str).zip(weights.iter().copied()).collect();
            let world = World::new()
                .metrics(&[Metric::HealthCheck, Metric::WeightedIp])
                .weighted_host(WWW, &list);
            if down < names.len() {
                world.down(&names[down]);
            }
            let pool = world.view(WWW, Pool::of);
            let chosen = world.run(WWW, 500);
            let least = f64::from(u32::try_from(names.len()).unwrap());
            for (position, share) in pool.shares() {
                let count = chosen.iter().filter(|&&one| one == position + 1).count();
                let count = f64::from(u32::try_from(count).unwrap());
                prop_assert!((count - 500.0 * share).abs() <= least, "{position} {count} {share}");
            }
            let members: Vec<usize> = pool.positions().collect();
            prop_assert!(chosen.iter().all(|&one| one > 0 && members.contains(&(one - 1))));
        }
    }
}
