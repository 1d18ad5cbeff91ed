//! What must hold for every host, whatever its weights and whatever is down.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::gslb::affinity::Affinity;
use crate::gslb::testing::ip;
use crate::health::prefix::Prefix;
use crate::health::rtt::{Method, RttReport};
use crate::health::smoothing::Smoothing;
use crate::health::state::{Connection, Delays};
use crate::model::policy::{HashPersistence, Sticky};
use crate::model::region::Region;
use crate::model::snapshot::ServerId;

/// A host in a world, with what is measured there.
#[derive(Clone, Debug)]
struct Case {
    addresses: Vec<AddressCase>,
    sites: [SiteCase; 4],
    metrics: Vec<Metric>,
    tie_breaker: TieBreaker,
    persistence: Persistence,
    questions: usize,
}

/// An address: its site, or none, and what is measured of it.
#[derive(Clone, Debug)]
struct AddressCase {
    site: Option<u8>,
    weight: u8,
    healthy: bool,
    delays: (u8, u8),
}

/// A site with one device and what that reports.
#[derive(Clone, Debug)]
struct SiteCase {
    weight: u8,
    preference: u8,
    sessions: u64,
    load: u32,
    rtt: Option<u32>,
    location: Option<Region>,
    connected: bool,
}

#[derive(Clone, Copy, Debug)]
enum Persistence {
    None,
    Hash { weighted: bool },
    Sticky,
    Affinity,
}

fn address() -> impl Strategy<Value = AddressCase> {
    (option::of(0_u8..4), 0_u8..=100, any::<bool>(), any::<(u8, u8)>())
        .prop_map(|(site, weight, healthy, delays)| AddressCase { site, weight, healthy, delays })
}

fn site() -> impl Strategy<Value = SiteCase> {
    let reported = (0_u64..=100, 0_u32..300, option::of(0_u32..100));
    let location = option::of(select(Region::ALL));
    (0_u8..=100, any::<u8>(), reported, location, any::<bool>()).prop_map(
        |(weight, preference, (sessions, load, rtt), location, connected)| SiteCase {
            weight,
            preference,
            sessions,
            load,
            rtt,
            location,
            connected,
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let order = (Just(Metric::ALL.to_vec()).prop_shuffle(), 0..=Metric::ALL.len());
    let persistence = prop_oneof![
        3 => Just(Persistence::None),
        1 => any::<bool>().prop_map(|weighted| Persistence::Hash { weighted }),
        1 => Just(Persistence::Sticky),
        1 => Just(Persistence::Affinity),
    ];
    let sites = [site(), site(), site(), site()];
    (vec(address(), 1..12), sites, order, select(TieBreaker::ALL), persistence, 1_usize..40)
        .prop_map(|(addresses, sites, (mut metrics, kept), tie_breaker, persistence, questions)| {
            metrics.truncate(kept);
            Case { addresses, sites, metrics, tie_breaker, persistence, questions }
        })
}

fn name(position: usize) -> String {
    format!("1.1.1.{}", position + 1)
}

fn world(case: &Case) -> World {
    let names: Vec<String> = (0..case.addresses.len()).map(name).collect();
    let mut world =
        World::new().metrics(&case.metrics).tie_breaker(case.tie_breaker).policy(|policy| {
            policy.connection_load.limit = Some(150);
            match case.persistence {
                Persistence::None | Persistence::Affinity => {}
                Persistence::Hash { weighted } => {
                    policy.hash = Some(HashPersistence { weighted, ..Default::default() });
                }
                Persistence::Sticky => policy.sticky = Some(Sticky::default()),
            }
        });
    for (number, site) in case.sites.iter().enumerate() {
        let of_site = |one: &AddressCase| one.site.map(usize::from) == Some(number);
        let vips = names.iter().zip(&case.addresses).filter(|(_, one)| of_site(one));
        let vips: Vec<&str> = vips.map(|(name, _)| name.as_str()).collect();
        let device = format!("10.255.{}.1", number + 1);
        world = world
            .site(&format!("site{number}"), site.weight, &vips)
            .change_site(&format!("site{number}"), |one| one.location = site.location)
            .change_device(&device, |one| one.preference = site.preference);
        report(&world, &device, site);
    }
    let weighted: Vec<(&str, u8)> =
        names.iter().zip(&case.addresses).map(|(name, one)| (name.as_str(), one.weight)).collect();
    world = world.weighted_host(WWW, &weighted);
    if let Persistence::Affinity = case.persistence {
        let clients = Prefix::new(world.client, 0);
        let server = ServerId(1);
        world.snapshot.affinities = vec![Affinity { group: None, clients, server }];
    }
    for (name, one) in names.iter().zip(&case.addresses) {
        let (tcp, application) = (one.delays.0.into(), one.delays.1.into());
        world.state(name).set_delays(Delays { tcp, application });
        world.state(name).set_up(None, one.healthy);
    }
    world
}

fn report(world: &World, device: &str, site: &SiteCase) {
    world.sessions(device, site.sessions, 100);
    let server = world.server(device);
    for _ in 0..5 {
        server.load().record_second(site.load, 5);
    }
    if !site.connected {
        server.set_connection(Connection::Down);
    }
    if let Some(rtt) = site.rtt {
        let report = RttReport {
            clients: Prefix::new(world.client, 32),
            server: ip(device),
            method: Method::Passive,
            rtt,
            failed: false,
        };
        let parameters = &world.snapshot.global_policy().rtt;
        world.states.prefixes.report(&report, Smoothing::Off, parameters, world.now);
    }
}

fn weighted(weights: &[u8], metric: Metric) -> World {
    let names: Vec<String> = (0..weights.len()).map(name).collect();
    let mut world = World::new().metrics(&[Metric::HealthCheck, metric]);
    for (name, weight) in names.iter().zip(weights) {
        world = world.site(name, *weight, &[name]);
    }
    let list: Vec<(&str, u8)> =
        names.iter().map(String::as_str).zip(weights.iter().copied()).collect();
    world.weighted_host(WWW, &list)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_answer_is_one_of_the_candidates_and_counts_add_up(case in case()) {
        let world = world(&case);
        let mut best = 0;
        for question in 1..=case.questions {
            let (choice, reply) = world.select(WWW, Family::V4);
            prop_assert_eq!(choice.best.is_some(), choice.decision.is_some());
            prop_assert_eq!(reply.len(), case.addresses.len());
            if let Some(position) = choice.best {
                best += 1;
                prop_assert!(position < case.addresses.len());
                prop_assert_eq!(&reply[0], &name(position));
                let checked = case.metrics.contains(&Metric::HealthCheck)
                    || choice.decision == Some(Decision::HashPersistence)
                    || choice.decision == Some(Decision::Sticky)
                    || choice.decision == Some(Decision::Affinity);
                prop_assert!(!checked || case.addresses[position].healthy);
            }
            let (requests, tallies) =
                world.domain(WWW, |domain| (domain.total_requests(), domain.tallies.clone()));
            prop_assert_eq!(requests, question as u64);
            prop_assert_eq!(tallies.iter().map(|tally| tally.selections).sum::<u64>(), best);
            for tally in tallies {
                prop_assert_eq!(tally.selections, tally.decisions().map(|(_, count)| count).sum::<u64>());
            }
        }
    }

    #[test]
    fn the_same_inputs_give_the_same_run(case in case()) {
        prop_assert_eq!(
            world(&case).run(WWW, case.questions),
            world(&case).run(WWW, case.questions)
        );
    }

    #[test]
    fn explaining_foretells_the_next_answer(case in case()) {
        let world = world(&case);
        for _ in 0..case.questions {
            let foretold = world.explain(WWW, &mut ());
            prop_assert_eq!(foretold, world.select(WWW, Family::V4).0);
        }
    }

    #[test]
    fn a_healthy_address_is_found_if_health_comes_first(mut case in case()) {
        case.metrics.retain(|metric| {
            !matches!(metric, Metric::HealthCheck | Metric::Preference)
        });
        case.metrics.insert(0, Metric::HealthCheck);
        let any_healthy = case.addresses.iter().any(|address| address.healthy);
        prop_assert_eq!(world(&case).ask(WWW).is_some(), any_healthy);
    }

    #[test]
    fn without_health_and_preference_there_is_always_a_best(mut case in case()) {
        case.metrics.retain(|metric| {
            !matches!(metric, Metric::HealthCheck | Metric::Preference)
        });
        prop_assert!(!world(&case).run(WWW, case.questions).contains(&0));
    }

    #[test]
    fn counts_add_up_while_health_changes(
        case in case(),
        flips in vec((any::<prop::sample::Index>(), any::<bool>()), 0..40),
    ) {
        let world = world(&case);
        for (which, healthy) in flips {
            let address = name(which.index(case.addresses.len()));
            world.state(&address).set_up(None, healthy);
            world.select(WWW, Family::V4);
        }
        for tally in world.domain(WWW, |domain| domain.tallies.clone()) {
            prop_assert_eq!(tally.selections, tally.decisions().map(|(_, count)| count).sum::<u64>());
        }
    }

    /// Decisions 4.11, with exact fractions: everything is multiplied by the sum of the weights.
    #[test]
    fn weighted_counts_stay_near_their_share(
        weights in vec(1_u8..=100, 2..9),
        questions in 1_usize..200,
        site in any::<bool>(),
    ) {
        let metric = if site { Metric::WeightedSite } else { Metric::WeightedIp };
        let world = weighted(&weights, metric);
        let sum: i64 = weights.iter().map(|weight| i64::from(*weight)).sum();
        let room = if weights.len() == 2 { 1 } else { i64::try_from(weights.len()).unwrap() - 1 };
        for question in 1..=questions {
            world.select(WWW, Family::V4);
            for (count, weight) in world.counts(WWW).into_iter().zip(&weights) {
                let count = i64::try_from(count).unwrap() * sum;
                let ideal = i64::try_from(question).unwrap() * i64::from(*weight);
                prop_assert!(count - ideal < sum);
                prop_assert!(ideal - count < room * sum);
            }
        }
    }

    #[test]
    fn equal_metrics_share_evenly(addresses in 1_usize..12, questions in 0_usize..60) {
        for tie_breaker in TieBreaker::ALL {
            let names: Vec<String> = (0..addresses).map(name).collect();
            let list: Vec<&str> = names.iter().map(String::as_str).collect();
            let world = World::new().host(WWW, &list).tie_breaker(*tie_breaker);
            world.run(WWW, questions);
            let counts = world.counts(WWW);
            let spread = counts.iter().max().unwrap() - counts.iter().min().unwrap();
            prop_assert!(spread <= 1, "{tie_breaker:?} {counts:?}");
        }
    }

    #[test]
    fn weighted_round_robin_is_exact_after_each_full_round(weights in vec(1_u8..=12, 1..6)) {
        let world = weighted(&weights, Metric::HealthCheck)
            .metrics(&[Metric::HealthCheck])
            .tie_breaker(TieBreaker::WeightedRoundRobin);
        let round: usize = weights.iter().map(|weight| usize::from(*weight)).sum();
        world.run(WWW, 2 * round);
        let twice: Vec<u64> = weights.iter().map(|weight| 2 * u64::from(*weight)).collect();
        if weights.len() > 1 {
            prop_assert_eq!(world.counts(WWW), twice);
        }
    }
}
