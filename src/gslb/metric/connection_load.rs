//! Connection load: the average of new connections a second must not exceed the limit (guide
//! p. 49 to 51).
//!
//! The limit of a host-level policy only switches the metric on; the values are those of the
//! global policy (guide p. 119). The metric does not look at questions for IPv6.

use super::{Rule, reported};
use crate::gslb::choose::View;
use crate::gslb::observe::{Figure, Skip};
use crate::health::load::AverageLoad;
use crate::model::snapshot::Family;

pub(super) struct ConnectionLoad;

/// The limit in force, unless the metric does not look at this question.
fn limit(view: &View<'_>) -> Result<u32, Skip> {
    if view.family == Family::V6 {
        return Err(Skip::NotForIpv6);
    }
    let switch = view.policy().connection_load.limit;
    switch.and(view.snapshot.global_policy().connection_load.limit).ok_or(Skip::NoLimit)
}

impl Rule for ConnectionLoad {
    type Figure = Option<AverageLoad>;

    fn skip(view: &View<'_>) -> Option<Skip> {
        limit(view).err()
    }

    fn figure(view: &View<'_>, position: usize, _candidates: &[usize]) -> Option<AverageLoad> {
        let parameters = &view.snapshot.global_policy().connection_load;
        reported::by_device(view, position)?.load().average(parameters)
    }

    fn test(
        view: &View<'_>,
        _figures: &[Option<AverageLoad>],
    ) -> impl Fn(Option<AverageLoad>) -> bool {
        let limit = limit(view).unwrap_or(u32::MAX);
        reported::within(move |average: AverageLoad| average.is_within(limit))
    }

    fn tell(average: Option<AverageLoad>) -> Figure {
        Figure::Load(average)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::World;
    use crate::health::state::Connection;
    use crate::model::policy::Metric;

    const WWW: &str = "www.a.com";

    /// Korea at 120 and USA at 80 new connections a second.
    fn korea_and_usa() -> World {
        let world = World::new()
            .site("Korea", 0, &["1.1.1.1", "2001:db8::1"])
            .site("USA", 0, &["2.2.2.2", "2001:db8::2"])
            .metrics(&[Metric::ConnectionLoad])
            .policy(|policy| policy.connection_load.limit = Some(100))
            .host(WWW, &["1.1.1.1", "2.2.2.2", "2001:db8::1", "2001:db8::2"]);
        world.server("10.255.1.1").load().set_rate(&[100, 110, 120, 130, 140, 120]);
        world.server("10.255.2.1").load().set_rate(&[80]);
        world
    }

    fn pass_seconds(world: &World, seconds: usize) {
        for _ in 0..seconds {
            world.server("10.255.1.1").load().pass_second(5);
            world.server("10.255.2.1").load().pass_second(5);
        }
    }

    #[test]
    fn a_site_above_the_limit_is_passed_over() {
        let world = korea_and_usa();
        pass_seconds(&world, 4);
        assert_eq!(world.run(WWW, 2), [1, 2], "without a sample a candidate passes");
        pass_seconds(&world, 1);
        assert_eq!(world.run(WWW, 3), [2, 2, 2]);
        let world = world.policy(|policy| policy.connection_load.limit = Some(120));
        assert_eq!(world.run(WWW, 1), [1], "at the limit is within it");
    }

    #[test]
    fn without_a_report_or_for_ipv6_a_candidate_passes() {
        let world = korea_and_usa();
        pass_seconds(&world, 5);
        assert_eq!(world.select(WWW, Family::V6).0.best, Some(2));
        assert_eq!(world.select(WWW, Family::V6).0.best, Some(3));
        world.server("10.255.1.1").set_connection(Connection::Down);
        assert_eq!(world.run(WWW, 2), [1, 2]);
    }

    #[test]
    fn a_host_policy_switches_and_the_global_policy_says_the_limit() {
        let world = korea_and_usa().host_policy(WWW, |policy| {
            policy.metrics = vec![Metric::ConnectionLoad];
            policy.connection_load.limit = Some(1);
        });
        pass_seconds(&world, 5);
        assert_eq!(world.run(WWW, 2), [2, 2]);
        let world = world.host_policy(WWW, |policy| {
            policy.metrics = vec![Metric::ConnectionLoad];
            policy.connection_load.limit = None;
        });
        assert_eq!(world.run(WWW, 2), [1, 1]);
    }
}
