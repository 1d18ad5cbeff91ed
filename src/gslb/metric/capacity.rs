//! Session capacity threshold: the session table of the site device must be used less than the
//! threshold says (guide p. 8, 52). A table used exactly to the threshold does not pass.

use super::{Rule, reported};
use crate::gslb::choose::View;
use crate::gslb::observe::Figure;
use crate::health::state::{ServerState, Sessions};

pub(super) struct Capacity;

impl Rule for Capacity {
    type Figure = Option<Sessions>;

    fn figure(view: &View<'_>, position: usize, _candidates: &[usize]) -> Option<Sessions> {
        reported::by_device(view, position).map(ServerState::sessions)
    }

    fn test(view: &View<'_>, _figures: &[Option<Sessions>]) -> impl Fn(Option<Sessions>) -> bool {
        let threshold = u128::from(view.policy().capacity_threshold);
        reported::within(move |sessions: Sessions| {
            u128::from(sessions.used) * 100 < u128::from(sessions.maximum) * threshold
        })
    }

    fn tell(sessions: Option<Sessions>) -> Figure {
        Figure::SessionTable(sessions)
    }
}

#[cfg(test)]
mod tests {
    use crate::gslb::testing::World;
    use crate::health::state::Connection;
    use crate::model::policy::Metric;

    const WWW: &str = "www.a.com";

    fn used(percents: [u64; 3]) -> World {
        let world = World::new()
            .site("a", 0, &["1.1.1.1"])
            .site("b", 0, &["1.1.1.2"])
            .site("c", 0, &["1.1.1.3"])
            .metrics(&[Metric::Capacity])
            .host(WWW, &["1.1.1.1", "1.1.1.2", "1.1.1.3"]);
        for (site, percent) in (1..).zip(percents) {
            world.sessions(&format!("10.255.{site}.1"), percent, 100);
        }
        world
    }

    #[test]
    fn v8_below_the_threshold_only() {
        assert_eq!(used([91, 89, 90]).run(WWW, 2), [2, 2]);
        let world = used([91, 99, 100]).policy(|policy| policy.capacity_threshold = 99);
        assert_eq!(world.run(WWW, 2), [1, 1]);
    }

    #[test]
    fn everybody_passes_if_nobody_does() {
        assert_eq!(used([100, 100, 100]).run(WWW, 3), [1, 2, 3]);
    }

    #[test]
    fn without_a_report_a_candidate_passes() {
        let world = used([0, 95, 95]);
        world.server("10.255.2.1").set_connection(Connection::Down);
        assert_eq!(world.run(WWW, 3), [1, 2, 1]);
        let world = used([95, 95, 0]).list(WWW, &["9.9.9.9", "1.1.1.1", "1.1.1.3"]);
        assert_eq!(world.run(WWW, 3), [1, 3, 1]);
    }
}
