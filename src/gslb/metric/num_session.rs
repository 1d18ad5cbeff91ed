//! Available session capacity: the site device with the most free sessions, and those that have
//! fewer by no more than the tolerance, in percent of the most (guide p. 10, 52).

use super::{Rule, reported};
use crate::gslb::choose::View;
use crate::gslb::observe::Figure;

pub(super) struct NumSession;

impl Rule for NumSession {
    type Figure = Option<u64>;

    fn figure(view: &View<'_>, position: usize, _candidates: &[usize]) -> Option<u64> {
        reported::by_device(view, position).map(|device| device.sessions().available())
    }

    fn test(view: &View<'_>, figures: &[Option<u64>]) -> impl Fn(Option<u64>) -> bool {
        let tolerance = u128::from(view.policy().session_tolerance);
        let most = figures.iter().copied().flatten().max();
        reported::compared(most, move |available: u64, most: u64| {
            u128::from(most - available) * 100 <= tolerance * u128::from(most)
        })
    }

    fn tell(available: Option<u64>) -> Figure {
        Figure::AvailableSessions(available)
    }
}

#[cfg(test)]
mod tests {
    use crate::gslb::testing::World;
    use crate::health::state::Connection;
    use crate::model::policy::Metric;

    const WWW: &str = "www.a.com";

    fn available(sessions: [u64; 3]) -> World {
        let world = World::new()
            .site("a", 0, &["1.1.1.1"])
            .site("b", 0, &["1.1.1.2"])
            .site("c", 0, &["1.1.1.3"])
            .metrics(&[Metric::NumSession])
            .host(WWW, &["1.1.1.1", "1.1.1.2", "1.1.1.3"]);
        for (site, sessions) in (1..).zip(sessions) {
            world.sessions(&format!("10.255.{site}.1"), 2_000_000 - sessions, 2_000_000);
        }
        world
    }

    #[test]
    fn v7_within_ten_percent_of_the_most() {
        assert_eq!(available([1_000_000, 800_000, 950_000]).run(WWW, 4), [1, 3, 1, 3]);
        assert_eq!(available([1_000_000, 900_000, 899_999]).run(WWW, 4), [1, 2, 1, 2]);
    }

    #[test]
    fn tolerance_of_nothing_and_of_everything() {
        let world = available([2, 1, 2]).policy(|policy| policy.session_tolerance = 0);
        assert_eq!(world.run(WWW, 3), [1, 3, 1]);
        let world = available([2, 0, 2]).policy(|policy| policy.session_tolerance = 100);
        assert_eq!(world.run(WWW, 3), [1, 2, 3]);
        assert_eq!(available([0, 0, 0]).run(WWW, 3), [1, 2, 3]);
    }

    #[test]
    fn without_a_report_a_candidate_stays_only_among_its_like() {
        let world = available([5, 5, 5]);
        world.server("10.255.1.1").set_connection(Connection::Down);
        assert_eq!(world.run(WWW, 3), [2, 3, 2]);
        world.server("10.255.2.1").set_connection(Connection::Attempting);
        world.server("10.255.3.1").set_connection(Connection::Down);
        assert_eq!(world.run(WWW, 1), [1]);
    }
}
