//! What must hold for every host, whatever its weights and whatever is down.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// A host in a world: for each address its site (one of four, or none), weight and health.
#[derive(Clone, Debug)]
struct Case {
    addresses: Vec<(Option<u8>, u8, bool)>,
    site_weights: [u8; 4],
    metrics: Vec<Metric>,
    tie_breaker: TieBreaker,
    questions: usize,
}

fn case() -> impl Strategy<Value = Case> {
    let address = (proptest::option::of(0_u8..4), 0_u8..=100, any::<bool>());
    let metrics = Just(Metric::ALL.to_vec()).prop_shuffle();
    let kept = 0..=Metric::ALL.len();
    let tie_breaker = proptest::sample::select(TieBreaker::ALL);
    (vec(address, 1..12), any::<[u8; 4]>(), metrics, kept, tie_breaker, 1_usize..40).prop_map(
        |(addresses, weights, mut metrics, kept, tie_breaker, questions)| {
            metrics.truncate(kept);
            let site_weights = weights.map(|weight| weight % 101);
            Case { addresses, site_weights, metrics, tie_breaker, questions }
        },
    )
}

fn name(position: usize) -> String {
    format!("1.1.1.{}", position + 1)
}

fn world(case: &Case) -> World {
    let names: Vec<String> = (0..case.addresses.len()).map(name).collect();
    let mut world = World::new().metrics(&case.metrics).tie_breaker(case.tie_breaker);
    for (site, weight) in case.site_weights.into_iter().enumerate() {
        let vips: Vec<&str> = names
            .iter()
            .zip(&case.addresses)
            .filter(|(_, (of, _, _))| of.is_some_and(|of| usize::from(of) == site))
            .map(|(name, _)| name.as_str())
            .collect();
        world = world.site(&format!("site{site}"), weight, &vips);
    }
    let weighted: Vec<(&str, u8)> = names
        .iter()
        .zip(&case.addresses)
        .map(|(name, (_, weight, _))| (name.as_str(), *weight))
        .collect();
    world = world.weighted_host(WWW, &weighted);
    for (name, (_, _, healthy)) in names.iter().zip(&case.addresses) {
        if !healthy {
            world.down(name);
        }
    }
    world
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
                let checked = case.metrics.contains(&Metric::HealthCheck);
                prop_assert!(!checked || case.addresses[position].2);
            }
            let (requests, tallies) =
                world.domain(WWW, |domain| (domain.total_requests(), domain.tallies.clone()));
            prop_assert_eq!(requests, question as u64);
            prop_assert_eq!(tallies.iter().map(|tally| tally.selections).sum::<u64>(), best);
            for tally in tallies {
                prop_assert_eq!(tally.selections, tally.decisions.iter().sum::<u64>());
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
        case.metrics.retain(|metric| *metric != Metric::HealthCheck);
        case.metrics.insert(0, Metric::HealthCheck);
        let any_healthy = case.addresses.iter().any(|(_, _, healthy)| *healthy);
        prop_assert_eq!(world(&case).ask(WWW).is_some(), any_healthy);
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
