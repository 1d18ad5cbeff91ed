//! Hash persistence: a client always gets the address that owns its bucket (guide p. 70 to 82).
//!
//! Changes of the addresses are noticed when a question arrives; the table that results is part
//! of what the choice changes.

use std::net::{IpAddr, Ipv4Addr};

use smallvec::SmallVec;

use crate::clock::Moment;

use crate::gslb::choose::View;
use crate::gslb::domain::{Decision, HashChange};
use crate::gslb::hash_table::{HashTable, Owner, Rules, bucket_of};
use crate::gslb::observe::{Figure, Observer};
use crate::health::state::States;
use crate::model::policy::HashPersistence;
use crate::model::snapshot::{Family, Host, Snapshot};

/// The owner of the client's bucket, and what changes; `None` if the policy does not hash.
///
/// There is no owner if no healthy address has a hash weight, and while an owner that is down may
/// still keep its buckets: then the metrics decide.
#[inline]
pub(super) fn pick(
    view: &View<'_>,
    observer: &mut impl Observer,
) -> Option<(Option<usize>, HashChange)> {
    Some(pick_by(view, view.policy().hash.as_ref()?, observer))
}

fn pick_by(
    view: &View<'_>,
    parameters: &HashPersistence,
    observer: &mut impl Observer,
) -> (Option<usize>, HashChange) {
    let known = view.domain.hash_tables[view.family.index()].as_deref();
    let refreshed = refresh(view, parameters, known);
    let table = refreshed.as_ref().or(known);
    let bucket = bucket_of(view.client, parameters.prefix_length);
    let owner = table.and_then(|table| table.owner(bucket));
    let best = owner
        .and_then(|owner| view.host.addresses.iter().position(|address| address.ip == owner))
        .filter(|&position| {
            let healthy = view.host.is_healthy(view.address(position));
            let figure = Figure::Bucket { bucket, healthy };
            observer.judged(Decision::HashPersistence, position, figure, healthy);
            healthy
        });
    let hit = best.map(|_| bucket);
    (best, HashChange { table: refreshed.map(Box::new), hit })
}

/// The table as it should be now, for a display; `None` if the policy does not hash.
#[must_use]
pub fn hash_table(view: &View<'_>) -> Option<HashTable> {
    let parameters = view.policy().hash.as_ref()?;
    let known = view.domain.hash_tables[view.family.index()].as_deref();
    refresh(view, parameters, known).or_else(|| known.cloned())
}

/// Lets the tables of a host follow the health of its addresses without a question; returns
/// whether one of them has begun to wait for a rehash that is disabled.
pub fn follow_health(snapshot: &Snapshot, states: &States, host: &Host, now: Moment) -> bool {
    let Some(parameters) = &snapshot.policy_of(host).hash else { return false };
    let mut domain = host.domain.lock();
    let mut waits = false;
    for family in [Family::V4, Family::V6] {
        if host.positions(family).next().is_none() {
            continue;
        }
        let client = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let view = View::new(snapshot, states, host, &domain, family, client, now);
        let known = domain.hash_tables[family.index()].as_deref();
        let refreshed = refresh(&view, parameters, known).map(Box::new);
        let table = &mut domain.hash_tables[family.index()];
        if refreshed.is_some() {
            *table = refreshed;
        }
        waits |= table.as_mut().is_some_and(|table| table.announce());
    }
    waits
}

fn refresh(
    view: &View<'_>,
    parameters: &HashPersistence,
    known: Option<&HashTable>,
) -> Option<HashTable> {
    let owners: SmallVec<[Owner; 8]> = view
        .host
        .positions(view.family)
        .map(|position| {
            let address = view.address(position);
            Owner {
                address: address.ip,
                weight: if parameters.weighted { address.hash_weight.unwrap_or(1) } else { 1 },
                healthy: view.host.is_healthy(address),
            }
        })
        .collect();
    let rules = rules(view, parameters);
    match known {
        Some(table) => table.refreshed(&owners, rules, view.now),
        None => HashTable::default().refreshed(&owners, rules, view.now),
    }
}

fn rules(view: &View<'_>, parameters: &HashPersistence) -> Rules {
    let hold_down = u64::from(parameters.hold_down_minutes) * 60;
    // For some minutes after the start addresses come up one after another (guide p. 74).
    let starting = view.now.since(view.states.started()).as_secs() < hold_down;
    Rules {
        weighted: parameters.weighted,
        rehash: starting || parameters.rehash_disabled.is_none(),
        weight_rehash: starting || !parameters.weight_rehash_disabled,
        patience: parameters.rehash_disabled.unwrap_or(0),
    }
}

/// The hash tables of a domain, by `Family::index`; `None`: no question has needed one yet.
pub type HashTables = [Option<Box<HashTable>>; 2];

/// Applies what a question changed in the table of its family.
#[inline]
pub(super) fn apply(tables: &mut HashTables, family: Family, change: HashChange) {
    let table = &mut tables[family.index()];
    if change.table.is_some() {
        *table = change.table;
    }
    if let (Some(bucket), Some(table)) = (change.hit, table) {
        table.hit(bucket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::{World, ip};

    const WWW: &str = "www.gslb.com";

    fn hashed(change: impl FnOnce(&mut HashPersistence)) -> World {
        let mut parameters = HashPersistence::default();
        change(&mut parameters);
        World::new()
            .host(WWW, &["1.1.1.44", "1.1.1.42", "1.1.1.43"])
            .policy(|policy| policy.hash = Some(parameters))
    }

    /// The address that each of these clients gets, by its last octet.
    fn answers(world: &mut World, clients: [&str; 3]) -> [u8; 3] {
        clients.map(|client| {
            world.client = ip(client);
            match world.ask(WWW).map(|address| ip(&address)) {
                Some(std::net::IpAddr::V4(address)) => address.octets()[3],
                _ => 0,
            }
        })
    }

    #[test]
    fn the_owner_of_the_bucket_is_best_and_counted_apart() {
        let mut world = hashed(|_| {});
        let clients = ["0.0.0.3", "0.0.0.4", "0.0.0.5"];
        assert_eq!(answers(&mut world, clients), [42, 43, 44]);
        assert_eq!(answers(&mut world, clients), [42, 43, 44]);
        assert_eq!(world.decision(WWW), Some(Decision::HashPersistence));
        let hits = world.domain(WWW, |domain| {
            let table = domain.hash_tables[0].as_ref().unwrap();
            table.buckets().map(|(_, hits)| hits).take(6).collect::<Vec<_>>()
        });
        assert_eq!(hits, [0, 0, 0, 2, 2, 3]);
    }

    #[test]
    fn only_the_clients_of_a_lost_address_move() {
        let mut world = hashed(|_| {});
        let clients = ["0.0.0.3", "0.0.0.4", "0.0.0.5"];
        answers(&mut world, clients);
        world.down("1.1.1.43");
        let [first, moved, last] = answers(&mut world, clients);
        assert_eq!((first, last), (42, 44));
        assert!(moved == 42 || moved == 44);
        world.up("1.1.1.43");
        assert_eq!(answers(&mut world, clients), [42, 43, 44]);
    }

    #[test]
    fn a_disabled_rehash_counts_after_the_hold_down() {
        let mut world = hashed(|hash| hash.rehash_disabled = Some(5));
        let clients = ["0.0.0.3", "0.0.0.4", "0.0.0.5"];
        world.down("1.1.1.43");
        assert_eq!(answers(&mut world, clients), [44, 42, 44]);
        world.up("1.1.1.43");
        assert_eq!(answers(&mut world, clients), [42, 43, 44], "within five minutes of the start");
        world.now = world.now.plus_secs(300);
        world.down("1.1.1.43");
        answers(&mut world, clients);
        assert_eq!(world.decision(WWW), Some(Decision::HashPersistence));
        world.client = ip("0.0.0.4");
        assert_eq!(world.decision(WWW), Some(Decision::LeastResponse), "its owner may come back");
        world.now = world.now.plus_secs(5);
        assert_eq!(world.decision(WWW), Some(Decision::HashPersistence));
        world.up("1.1.1.43");
        let [_, moved, _] = answers(&mut world, clients);
        assert_ne!(moved, 43);
        let waits = |domain: &mut crate::gslb::domain::DomainState| {
            domain.hash_tables[0].as_ref().unwrap().needs_rehash()
        };
        assert!(world.domain(WWW, waits));
        world.domain(WWW, crate::gslb::domain::DomainState::rehash);
        assert_eq!(answers(&mut world, clients), [42, 43, 44]);
    }

    #[test]
    fn weights_zero_alone_leave_it_to_the_metrics() {
        let mut world = hashed(|hash| hash.weighted = true).change_host(WWW, |host| {
            host.addresses[1].hash_weight = Some(0);
            host.addresses[2].hash_weight = Some(0);
        });
        let clients = ["0.0.0.3", "0.0.0.4", "0.0.0.5"];
        assert_eq!(answers(&mut world, clients), [44, 44, 44]);
        world.down("1.1.1.44");
        assert_eq!(world.decision(WWW), Some(Decision::LeastResponse));
        world.down("1.1.1.42");
        world.down("1.1.1.43");
        assert_eq!(world.ask(WWW), None);
    }

    #[test]
    fn a_display_sees_the_table_before_any_question() {
        let world = hashed(|_| {});
        let owner = world.view(WWW, |view| hash_table(view).unwrap().owner(0));
        assert_eq!(owner, Some(ip("1.1.1.42")));
    }

    #[test]
    fn tables_follow_health_without_questions() {
        let mut world = hashed(|hash| hash.rehash_disabled = Some(60)).change_host(WWW, |host| {
            host.addresses.remove(2);
        });
        let follow = |world: &World| {
            follow_health(&world.snapshot, &world.states, world.host_named(WWW), world.now)
        };
        let owner = |world: &World| {
            world.domain(WWW, |domain| domain.hash_tables[0].as_ref().unwrap().owner(0))
        };
        world.now = world.now.plus_secs(300);
        assert!(!follow(&world));
        assert_eq!(owner(&world), Some(ip("1.1.1.42")));
        world.down("1.1.1.42");
        assert!(!follow(&world));
        world.now = world.now.plus_secs(60);
        assert_eq!(owner(&world), Some(ip("1.1.1.42")));
        assert!(!follow(&world));
        assert_eq!(owner(&world), Some(ip("1.1.1.44")));
        world.up("1.1.1.42");
        assert!(follow(&world), "it gets no buckets now");
        assert!(!follow(&world), "said once");
        assert_eq!(owner(&world), Some(ip("1.1.1.44")));
    }

    #[test]
    fn a_prefix_falls_into_one_bucket() {
        let mut world = hashed(|hash| hash.prefix_length = 24);
        let answers = answers(&mut world, ["0.0.0.3", "0.0.0.4", "0.0.0.5"]);
        assert_eq!(answers, [42; 3]);
    }
}
