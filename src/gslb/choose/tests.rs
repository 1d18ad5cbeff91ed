use super::*;
use crate::gslb::observe::{Figure, Skip};
use crate::gslb::testing::World;
use crate::model::policy::TieBreaker;

mod properties;
mod vectors;

const WWW: &str = "www.gslb.com";
const ABC: [&str; 3] = ["1.1.1.1", "1.1.1.2", "1.1.1.3"];

#[test]
fn a_family_without_addresses_counts_nothing() {
    let world = World::new().host(WWW, &["1.1.1.1"]);
    let (choice, reply) = world.select(WWW, Family::V6);
    assert_eq!((choice, reply), (Choice::NONE, Vec::new()));
    assert_eq!(world.domain(WWW, |domain| domain.total_requests()), 0);
}

#[test]
fn a_question_without_a_best_counts_as_a_request() {
    let world = World::new().host(WWW, &ABC);
    for address in ABC {
        world.down(address);
    }
    let (choice, reply) = world.select(WWW, Family::V4);
    assert_eq!(choice, Choice::NONE);
    assert_eq!(reply, ABC);
    assert_eq!(world.domain(WWW, |domain| domain.requests), [1, 0]);
    assert_eq!(world.counts(WWW), [0, 0, 0]);
}

#[test]
fn the_families_are_chosen_and_counted_apart() {
    let world = World::new().host(WWW, &["1.1.1.1", "2001:db8::1", "2001:db8::2"]);
    let (choice, reply) = world.select(WWW, Family::V6);
    assert_eq!(choice.best, Some(1));
    assert_eq!(reply, ["2001:db8::1", "2001:db8::2"]);
    assert_eq!(world.domain(WWW, |domain| domain.requests), [0, 1]);
    assert_eq!(world.ask(WWW).as_deref(), Some("1.1.1.1"));
}

#[test]
fn the_metric_that_leaves_one_decides() {
    let world = World::new().host(WWW, &ABC);
    world.down("1.1.1.1");
    world.down("1.1.1.3");
    assert_eq!(world.decision(WWW), Some(Decision::HealthCheck));
    world.up("1.1.1.1");
    assert_eq!(world.decision(WWW), Some(Decision::LeastResponse));
    assert_eq!(world.counts(WWW), [1, 1, 0]);
}

#[test]
fn a_host_with_one_address_is_credited_to_the_first_metric() {
    let order = [Metric::Geographic, Metric::HealthCheck];
    let world = World::new().host(WWW, &["1.1.1.1"]).metrics(&order);
    assert_eq!(world.decision(WWW), Some(Decision::Geographic));
    world.down("1.1.1.1");
    assert_eq!(world.decision(WWW), None, "health is checked wherever it stands");
    let world = World::new().host(WWW, &["1.1.1.1"]).metrics(&[]);
    assert_eq!(world.decision(WWW), Some(Decision::LeastResponse));
}

#[test]
fn health_still_counts_after_another_metric_has_decided() {
    let world = World::new()
        .weighted_host(WWW, &[("1.1.1.1", 10), ("1.1.1.2", 0)])
        .metrics(&[Metric::WeightedIp, Metric::HealthCheck]);
    assert_eq!(world.decision(WWW), Some(Decision::WeightedIp));
    world.down("1.1.1.1");
    assert_eq!(world.ask(WWW), None, "there is no backing out");
}

#[test]
fn without_health_check_a_failed_address_may_be_best() {
    let world = World::new().host(WWW, &ABC).metrics(&[]);
    world.down("1.1.1.1");
    assert_eq!(world.ask(WWW).as_deref(), Some("1.1.1.1"));
}

#[test]
fn counts_of_a_domain_are_its_own() {
    let ftp = "ftp.gslb.com";
    let world = World::new().host(WWW, &ABC).host(ftp, &ABC);
    assert_eq!(world.run(WWW, 2), [1, 2]);
    assert_eq!(world.run(ftp, 2), [1, 2]);
    assert_eq!(world.counts(WWW), [1, 1, 0]);
}

#[test]
fn an_observer_hears_every_metric_and_changes_nothing() {
    #[derive(Default)]
    struct Ear(Vec<(Decision, usize, Figure, bool)>, Vec<(Decision, Skip)>);
    impl Observer for Ear {
        fn judged(&mut self, by: Decision, position: usize, figure: Figure, kept: bool) {
            self.0.push((by, position, figure, kept));
        }
        fn skipped(&mut self, by: Decision, reason: Skip) {
            self.1.push((by, reason));
        }
    }
    let world = World::new()
        .weighted_host(WWW, &[("1.1.1.1", 50), ("1.1.1.2", 50), ("1.1.1.3", 10)])
        .metrics(&[Metric::HealthCheck, Metric::WeightedIp]);
    world.down("1.1.1.3");
    let mut ear = Ear::default();
    let choice = world.explain(WWW, &mut ear);
    let idle = Figure::RelativeWeight { selections: 0, weight: 50, shared_by: 1 };
    assert_eq!(choice, Choice::of(0, Decision::LeastResponse));
    assert_eq!(
        ear.0,
        [
            (Decision::HealthCheck, 0, Figure::Healthy(true), true),
            (Decision::HealthCheck, 1, Figure::Healthy(true), true),
            (Decision::HealthCheck, 2, Figure::Healthy(false), false),
            (Decision::WeightedIp, 0, idle, true),
            (Decision::WeightedIp, 1, idle, true),
            (Decision::LeastResponse, 0, Figure::Selections(0), true),
            (Decision::LeastResponse, 1, Figure::Selections(0), false),
        ]
    );
    assert_eq!(ear.1, []);
    assert_eq!(world.counts(WWW), [0, 0, 0]);
    assert_eq!(world.domain(WWW, |domain| domain.total_requests()), 0);
}

#[test]
fn round_robin_goes_through_the_list_and_around() {
    let world = World::new().host(WWW, &ABC).tie_breaker(TieBreaker::RoundRobin);
    assert_eq!(world.run(WWW, 7), [1, 2, 3, 1, 2, 3, 1]);
}

#[test]
fn round_robin_goes_on_after_a_selection_by_other_means() {
    let world = World::new().host(WWW, &ABC).tie_breaker(TieBreaker::RoundRobin);
    world.down("1.1.1.1");
    world.down("1.1.1.3");
    assert_eq!(world.decision(WWW), Some(Decision::HealthCheck));
    world.up("1.1.1.1");
    world.up("1.1.1.3");
    assert_eq!(world.run(WWW, 3), [3, 1, 2]);
}

#[test]
fn round_robin_passes_over_failed_addresses_and_survives_cleared_counters() {
    let world = World::new().host(WWW, &ABC).tie_breaker(TieBreaker::RoundRobin);
    assert_eq!(world.run(WWW, 2), [1, 2]);
    world.down("1.1.1.2");
    world.domain(WWW, DomainState::clear_counts);
    assert_eq!(world.run(WWW, 3), [3, 1, 3]);
}

#[test]
fn round_robin_goes_on_in_place_of_a_removed_address() {
    let world = World::new().host(WWW, &ABC).tie_breaker(TieBreaker::RoundRobin);
    assert_eq!(world.run(WWW, 2), [1, 2]);
    let world = world.list(WWW, &["1.1.1.1", "1.1.1.3"]);
    assert_eq!(world.ask(WWW).as_deref(), Some("1.1.1.3"));
    let world = world.list(WWW, &["1.1.1.1"]).list(WWW, &["1.1.1.1", "1.1.1.2"]);
    assert_eq!(world.ask(WWW).as_deref(), Some("1.1.1.2"));
}

#[test]
fn round_robin_of_the_families_is_apart() {
    let world = World::new()
        .host(WWW, &["2001:db8::1", "1.1.1.1", "2001:db8::2", "1.1.1.2"])
        .tie_breaker(TieBreaker::RoundRobin);
    assert_eq!(world.run(WWW, 3), [2, 4, 2]);
    assert_eq!(world.select(WWW, Family::V6).0.best, Some(0));
    assert_eq!(world.select(WWW, Family::V6).0.best, Some(2));
    assert_eq!(world.run(WWW, 1), [4]);
}

fn korea_and_usa(weights: (u8, u8)) -> World {
    World::new()
        .site("Korea", weights.0, &["1.1.1.1"])
        .site("USA", weights.1, &["2.2.2.2"])
        .tie_breaker(TieBreaker::WeightedRoundRobin)
        .host(WWW, &["1.1.1.1", "2.2.2.2"])
}

#[test]
fn weighted_round_robin_follows_the_site_weights() {
    assert_eq!(korea_and_usa((2, 1)).run(WWW, 6), [1, 1, 2, 1, 1, 2]);
    assert_eq!(korea_and_usa((100, 50)).run(WWW, 6), [1, 1, 2, 1, 1, 2]);
    assert_eq!(korea_and_usa((50, 50)).run(WWW, 4), [1, 2, 1, 2]);
    assert_eq!(korea_and_usa((2, 3)).run(WWW, 7), [1, 1, 2, 2, 2, 1, 1]);
}

#[test]
fn weighted_round_robin_gives_weight_zero_nothing_unless_all_are_zero() {
    assert_eq!(korea_and_usa((0, 1)).run(WWW, 3), [2, 2, 2]);
    let world = korea_and_usa((0, 0));
    assert_eq!(world.run(WWW, 3), [1, 2, 1]);
    assert_eq!(world.decision(WWW), Some(Decision::WeightedRoundRobin));
    let world = korea_and_usa((2, 1)).list(WWW, &["9.9.9.9", "1.1.1.1", "2.2.2.2"]);
    assert_eq!(world.run(WWW, 4), [2, 2, 3, 2], "a real address has weight 0");
}

#[test]
fn weighted_round_robin_rotates_inside_a_site() {
    let world = World::new()
        .site("Korea", 1, &["1.1.1.1", "1.1.1.3"])
        .site("USA", 1, &["2.2.2.2"])
        .tie_breaker(TieBreaker::WeightedRoundRobin)
        .host(WWW, &["1.1.1.1", "2.2.2.2", "1.1.1.3"]);
    assert_eq!(world.run(WWW, 6), [1, 2, 3, 2, 1, 2]);
}

#[test]
fn weighted_round_robin_goes_on_when_a_site_is_lost_and_comes_back() {
    let world = korea_and_usa((2, 1));
    assert_eq!(world.run(WWW, 1), [1]);
    world.down("1.1.1.1");
    assert_eq!(world.run(WWW, 2), [2, 2], "alone, its share does not matter");
    world.up("1.1.1.1");
    assert_eq!(world.run(WWW, 3), [1, 1, 2]);
}

#[test]
fn weighted_round_robin_keeps_the_order_of_the_sites() {
    let world = World::new()
        .site("A", 1, &["1.1.1.1", "1.1.1.3"])
        .site("B", 1, &["1.1.1.2"])
        .site("C", 1, &["1.1.1.4"])
        .tie_breaker(TieBreaker::WeightedRoundRobin)
        .host(WWW, &["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"]);
    assert_eq!(world.run(WWW, 6), [1, 2, 4, 3, 2, 4]);
    world.down("1.1.1.4");
    world.run(WWW, 2);
    world.down("1.1.1.2");
    world.up("1.1.1.4");
    assert_eq!(world.ask(WWW).as_deref(), Some("1.1.1.4"), "C follows B, though B is down");
}
