//! Choices and counts are those of [`choose`](crate::gslb::choose::choose), whatever the policy.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::gslb::affinity::Affinity;
use crate::gslb::choose::{self, View};
use crate::gslb::domain::DomainState;
use crate::gslb::testing::{World, ip};
use crate::health::prefix::Prefix;
use crate::model::policy::{HashPersistence, Sticky, TieBreaker};
use crate::model::snapshot::ServerId;

const WWW: &str = "www.gslb.com";

#[derive(Clone, Debug)]
struct AddressCase {
    family: Family,
    site: Option<usize>,
    weight: Option<u8>,
    is_candidate: bool,
}

#[derive(Clone, Debug)]
struct Case {
    addresses: Vec<AddressCase>,
    site_weights: [u8; 3],
    metric: Metric,
    tie_breaker: TieBreaker,
    /// Selections of each address before the first question.
    selections: Vec<u64>,
    /// For each question its family, and an address that goes down or comes up before.
    questions: Vec<(Family, Option<(usize, bool)>)>,
}

fn family() -> impl Strategy<Value = Family> {
    prop_oneof![4 => Just(Family::V4), 1 => Just(Family::V6)]
}

fn weight() -> impl Strategy<Value = u8> {
    prop_oneof![1 => Just(0), 2 => 1_u8..=3, 2 => 0_u8..=100]
}

fn case() -> impl Strategy<Value = Case> {
    let address = (family(), option::of(0..3_usize), option::of(weight()), any::<bool>());
    let address = address.prop_map(|(family, site, weight, is_candidate)| AddressCase {
        family,
        site,
        weight,
        is_candidate: is_candidate || site != Some(0),
    });
    let change = option::of((any::<prop::sample::Index>(), any::<bool>()));
    let selections = prop_oneof![Just(0), 0_u64..9, Just(u64::MAX - 100)];
    (
        vec(address, 1..=12),
        [weight(), weight(), weight()],
        select(vec![Metric::WeightedSite, Metric::WeightedIp]),
        select(TieBreaker::ALL),
        vec(selections, 12),
        vec((family(), change), 1..40),
    )
        .prop_map(|(addresses, site_weights, metric, tie_breaker, selections, questions)| {
            let place =
                |(index, up): (prop::sample::Index, bool)| (index.index(addresses.len()), up);
            let questions = questions.into_iter().map(|(family, one)| (family, one.map(place)));
            let questions = questions.collect();
            Case { addresses, site_weights, metric, tie_breaker, selections, questions }
        })
}

fn name(place: usize, family: Family) -> String {
    match family {
        Family::V4 => format!("192.0.2.{place}"),
        Family::V6 => format!("2001:db8::{place}"),
    }
}

fn world(case: &Case) -> World {
    let names: Vec<String> =
        case.addresses.iter().enumerate().map(|(at, one)| name(at, one.family)).collect();
    let list: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut world = World::new()
        .metrics(&[Metric::HealthCheck, case.metric])
        .tie_breaker(case.tie_breaker)
        .host(WWW, &list);
    for (number, weight) in case.site_weights.into_iter().enumerate() {
        let vips = case.addresses.iter().zip(&list).filter(|(one, _)| one.site == Some(number));
        let vips: Vec<&str> = vips.map(|(_, name)| *name).collect();
        world = world.site(&format!("site{number}"), weight, &vips);
    }
    let world = world.change_host(WWW, |host| {
        for (address, one) in host.addresses.iter_mut().zip(&case.addresses) {
            address.weight = one.weight;
            address.is_candidate = one.is_candidate;
        }
    });
    world.domain(WWW, |domain| {
        for (tally, selections) in domain.tallies.iter_mut().zip(&case.selections) {
            tally.selections = *selections;
        }
    });
    world
}

/// The choice by the way that every policy may take, counted.
fn in_general(world: &World, family: Family) -> Choice {
    let host = world.host_named(WWW);
    let World { snapshot, states, client, now } = world;
    let mut domain = host.domain.lock();
    let view = View::new(snapshot, states, host, &domain, family, *client, *now);
    let (choice, change) = choose::choose(&view, &mut ());
    domain.apply(change);
    choice
}

fn state(world: &World) -> String {
    world.domain(WWW, |domain: &mut DomainState| format!("{domain:?}"))
}

proptest! {
    #[test]
    fn choices_and_counts_are_those_of_the_general_way(case in case()) {
        let (short, general) = (world(&case), world(&case));
        for (family, change) in case.questions {
            if let Some((place, up)) = change {
                let name = name(place, case.addresses[place].family);
                for world in [&short, &general] {
                    if up { world.up(&name) } else { world.down(&name) }
                }
            }
            let choice = short.select(WWW, family).0;
            prop_assert_eq!(choice, in_general(&general, family));
            prop_assert_eq!(state(&short), state(&general));
        }
    }
}

fn chooses_here(world: &World) -> bool {
    world.view(WWW, |view| {
        let View { snapshot, host, domain, family, .. } = *view;
        let tie = |left: &[usize]| (left[0], Decision::LeastResponse);
        weight_of(snapshot, view.policy())
            .and_then(|weight| super::choose(snapshot, host, domain, family, weight, tie))
            .is_some()
    })
}

#[test]
fn a_policy_that_looks_at_more_is_left_alone() {
    let weighted = || {
        let world = World::new().site("SanJose", 50, &["192.0.2.1"]).host(WWW, &["192.0.2.1"]);
        world.metrics(&[Metric::HealthCheck, Metric::WeightedSite])
    };
    assert!(chooses_here(&weighted()));
    assert!(!chooses_here(&weighted().metrics(&[Metric::WeightedSite])));
    assert!(!chooses_here(&weighted().metrics(&[Metric::WeightedSite, Metric::HealthCheck])));
    assert!(!chooses_here(&weighted().policy(|policy| policy.sticky = Some(Sticky::default()))));
    let hashed = weighted().policy(|policy| policy.hash = Some(HashPersistence::default()));
    assert!(!chooses_here(&hashed));
    let mut bound = weighted();
    bound.snapshot.affinities.push(Affinity {
        group: None,
        clients: Prefix::new(ip("203.0.113.0"), 24),
        server: ServerId(0),
    });
    assert!(!chooses_here(&bound));
}

#[test]
fn more_addresses_than_are_weighed_here_are_left_alone() {
    let names: Vec<String> = (1..=Positions::MOST + 1).map(|at| format!("192.0.2.{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let world = |count| {
        World::new().host(WWW, &names[..count]).metrics(&[Metric::HealthCheck, Metric::WeightedIp])
    };
    assert!(chooses_here(&world(Positions::MOST)));
    assert!(!chooses_here(&world(Positions::MOST + 1)));
    assert!(!chooses_here(&world(0)));
}

#[test]
fn two_candidates_of_one_site_are_left_alone() {
    let vips = ["192.0.2.1", "192.0.2.2"];
    let world = World::new().site("SanJose", 50, &vips).host(WWW, &vips);
    assert!(!chooses_here(&world.metrics(&[Metric::HealthCheck, Metric::WeightedSite])));
}
