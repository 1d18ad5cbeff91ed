//! Round-trip time between site device and client: the smallest, and those that exceed it by no
//! more than the tolerance, in percent of the larger one (guide p. 9, 53 to 55).
//!
//! A share of the questions of each client prefix skips the metric (decisions 4.6). It does not
//! look at questions for IPv6.

use super::{Rule, reported};
use crate::gslb::choose::View;
use crate::gslb::explore::ExploreStep;
use crate::gslb::observe::{Figure, Skip};
use crate::health::rtt::prefix_of;
use crate::model::policy::Metric;
use crate::model::snapshot::{Family, SiteServer};

pub(super) struct RoundTripTime;

/// What this question adds to the way of its client's prefix to a question that skips the metric;
/// `None` if the policy does not use the metric, or the client has no prefix.
pub(in crate::gslb) fn explore(view: &View<'_>) -> Option<ExploreStep> {
    let policy = view.policy();
    if view.family == Family::V6 || !policy.metrics.contains(&Metric::RoundTripTime) {
        return None;
    }
    let parameters = &view.snapshot.global_policy().rtt;
    let prefix = prefix_of(view.client, parameters)?;
    let percentage = policy.rtt.explore_percentage;
    Some(view.domain.explore.step(prefix, percentage, parameters.cache_interval, view.now))
}

impl Rule for RoundTripTime {
    type Figure = Option<u32>;

    fn skip(view: &View<'_>) -> Option<Skip> {
        if view.family == Family::V6 {
            return Some(Skip::NotForIpv6);
        }
        view.explores().then_some(Skip::Explore)
    }

    fn figure(view: &View<'_>, position: usize, _candidates: &[usize]) -> Option<u32> {
        let mut figure = [None];
        Self::figures(view, &[position], &mut figure);
        figure[0]
    }

    /// One look into the prefix cache serves all candidates.
    fn figures(view: &View<'_>, candidates: &[usize], figures: &mut [Option<u32>]) {
        let parameters = &view.snapshot.global_policy().rtt;
        let source = view.policy().rtt.source;
        view.states.prefixes.look(view.client, parameters, view.now, |measured| {
            for (figure, &position) in figures.iter_mut().zip(candidates) {
                let device = view.snapshot.owner_of(view.address(position));
                let device = device.filter(|_| reported::by_device(view, position).is_some());
                let of_device =
                    |device: &SiteServer| measured.iter().find(|(at, _)| *at == device.address);
                *figure = device
                    .and_then(of_device)
                    .and_then(|(_, one)| one.usable(source, view.snapshot.rtt.dns_probe));
            }
        });
    }

    fn test(view: &View<'_>, figures: &[Option<u32>]) -> impl Fn(Option<u32>) -> bool {
        let tolerance = u64::from(view.policy().rtt.tolerance);
        let least = figures.iter().copied().flatten().min();
        reported::compared(least, move |rtt: u32, least: u32| {
            u64::from(rtt - least) * 100 <= tolerance * u64::from(rtt)
        })
    }

    fn tell(rtt: Option<u32>) -> Figure {
        Figure::RoundTripTime(rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::domain::Decision;
    use crate::gslb::testing::{World, ip};
    use crate::health::prefix::Prefix;
    use crate::health::rtt::{Method, RttReport};
    use crate::health::smoothing::Smoothing;
    use crate::health::state::Connection;
    use crate::model::policy::RttSource;

    const WWW: &str = "www.a.com";

    /// Three sites whose devices report these times for the client.
    fn rtts(all: [Option<u32>; 3]) -> World {
        let mut world = World::new()
            .site("a", 0, &["1.1.1.1", "2001:db8::1"])
            .site("b", 0, &["1.1.1.2", "2001:db8::2"])
            .site("c", 0, &["1.1.1.3"])
            .metrics(&[Metric::HealthCheck, Metric::RoundTripTime])
            .policy(|policy| policy.rtt.explore_percentage = 0)
            .host(WWW, &["1.1.1.1", "1.1.1.2", "1.1.1.3", "2001:db8::1", "2001:db8::2"]);
        world.client = ip("201.53.10.1");
        for (site, rtt) in (1..).zip(all) {
            if let Some(rtt) = rtt {
                send(&world, site, Method::Passive, rtt);
            }
        }
        world
    }

    fn send(world: &World, site: u8, method: Method, rtt: u32) {
        let clients = Prefix::new(world.client, 32);
        let server = ip(&format!("10.255.{site}.1"));
        let report = RttReport { clients, server, method, rtt, failed: false };
        let parameters = &world.snapshot.global_policy().rtt;
        world.states.prefixes.report(&report, Smoothing::Off, parameters, world.now);
    }

    #[test]
    fn the_smallest_and_those_within_the_tolerance_stay() {
        assert_eq!(rtts([Some(20), Some(7), Some(9)]).run(WWW, 2), [2, 2]);
        assert_eq!(rtts([Some(100), Some(90), Some(101)]).run(WWW, 3), [1, 2, 1]);
        let world = rtts([Some(20), Some(7), Some(9)]);
        assert_eq!(world.decision(WWW), Some(Decision::RoundTripTime));
        let world = world.policy(|policy| policy.rtt.tolerance = 70);
        assert_eq!(world.run(WWW, 2), [1, 3], "65 percent of 20");
        assert_eq!(rtts([Some(0), Some(0), Some(1)]).run(WWW, 3), [1, 2, 1]);
    }

    #[test]
    fn without_data_a_candidate_stays_only_if_nobody_has_any() {
        assert_eq!(rtts([None, Some(99), None]).run(WWW, 2), [2, 2]);
        assert_eq!(rtts([None, None, None]).run(WWW, 3), [1, 2, 3]);
        let world = rtts([Some(1), Some(99), None]);
        world.server("10.255.1.1").set_connection(Connection::Down);
        assert_eq!(world.run(WWW, 1), [2]);
        let mut world = rtts([Some(1), Some(99), None]);
        world.client = ip("202.1.1.1");
        assert_eq!(world.run(WWW, 3), [1, 2, 3], "another prefix");
    }

    #[test]
    fn every_twentieth_question_of_a_prefix_explores() {
        let world = rtts([Some(1), None, None]).policy(|policy| policy.rtt.explore_percentage = 5);
        let run = world.run(WWW, 40);
        let explored: Vec<usize> =
            run.iter().enumerate().filter(|(_, one)| **one != 1).map(|(at, _)| at + 1).collect();
        assert_eq!(explored, [20, 40]);
    }

    #[test]
    fn prefixes_and_domains_explore_apart() {
        let ftp = "ftp.a.com";
        let mut world = rtts([Some(1), None, None])
            .policy(|policy| policy.rtt.explore_percentage = 50)
            .host(ftp, &["1.1.1.1", "1.1.1.2"]);
        world.run(WWW, 1);
        world.run(ftp, 1);
        world.client = ip("202.1.1.1");
        world.run(WWW, 1);
        world.client = ip("201.53.10.1");
        assert_eq!(world.decision(WWW), Some(Decision::LeastResponse));
        assert_eq!(world.decision(ftp), Some(Decision::LeastResponse));
    }

    #[test]
    fn ipv6_is_not_looked_at() {
        let world = rtts([Some(50), Some(7), None]);
        assert_eq!(world.select(WWW, Family::V6).0.best, Some(3));
        assert_eq!(world.select(WWW, Family::V6).0.best, Some(4));
    }

    #[test]
    fn the_mode_of_the_policy_counts() {
        let world = rtts([None, Some(12), Some(3)])
            .policy(|policy| policy.rtt.source = RttSource::ActiveOnly);
        send(&world, 1, Method::ActiveIcmp, 7);
        assert_eq!(world.run(WWW, 2), [1, 1], "guide p. 148");
        let world = world.policy(|policy| policy.rtt.source = RttSource::ActiveAndPassive);
        assert_eq!(world.run(WWW, 2), [3, 3]);
        let world = world.policy(|policy| policy.rtt.source = RttSource::PassiveOnly);
        assert_eq!(world.run(WWW, 1), [3]);
    }

    #[test]
    fn questions_keep_the_entry_of_their_prefix_alive() {
        let mut world = rtts([Some(50), Some(7), None]);
        for _ in 0..3 {
            world.now = world.now.plus_secs(100);
            assert_eq!(world.run(WWW, 1), [2]);
        }
        world.now = world.now.plus_secs(120);
        assert_eq!(world.decision(WWW), Some(Decision::LeastResponse));
    }
}
