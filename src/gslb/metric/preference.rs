//! Administrative preference: the highest value wins, 0 removes (guide p. 36).
//!
//! A real address has no preference: it stays only if nobody who has one is left.

use super::Rule;
use crate::gslb::choose::View;
use crate::gslb::observe::Figure;

pub(super) struct Preference;

impl Rule for Preference {
    type Figure = Option<u8>;

    fn figure(view: &View<'_>, position: usize, _candidates: &[usize]) -> Option<u8> {
        view.snapshot.owner_of(view.address(position)).map(|server| server.preference)
    }

    fn test(_view: &View<'_>, figures: &[Option<u8>]) -> impl Fn(Option<u8>) -> bool {
        // `None` is less than any value, so it is the highest only if there is no other.
        let highest = figures.iter().copied().filter(|figure| *figure != Some(0)).max();
        move |figure| Some(figure) == highest
    }

    fn tell(preference: Option<u8>) -> Figure {
        Figure::Preference(preference)
    }
}

#[cfg(test)]
mod tests {
    use crate::gslb::domain::Decision;
    use crate::gslb::testing::World;
    use crate::model::policy::Metric;

    const WWW: &str = "www.a.com";

    fn korea_and_usa(korea: u8, usa: u8) -> World {
        World::new()
            .site("Korea", 0, &["1.1.1.1"])
            .site("USA", 0, &["2.2.2.2"])
            .change_device("10.255.1.1", |device| device.preference = korea)
            .change_device("10.255.2.1", |device| device.preference = usa)
            .metrics(&[Metric::HealthCheck, Metric::Preference])
            .host(WWW, &["1.1.1.1", "2.2.2.2"])
    }

    #[test]
    fn the_highest_wins() {
        let world = korea_and_usa(128, 255);
        assert_eq!(world.run(WWW, 3), [2, 2, 2]);
        assert_eq!(world.decision(WWW), Some(Decision::Preference));
        assert_eq!(korea_and_usa(128, 128).run(WWW, 3), [1, 2, 1]);
    }

    #[test]
    fn zero_removes_while_the_metric_is_used() {
        assert_eq!(korea_and_usa(0, 0).ask(WWW), None);
        assert_eq!(korea_and_usa(0, 1).run(WWW, 2), [2, 2]);
        let world = korea_and_usa(0, 0).metrics(&[Metric::HealthCheck]);
        assert_eq!(world.run(WWW, 2), [1, 2]);
    }

    #[test]
    fn a_real_address_stays_only_if_no_device_is_left() {
        let list = ["9.9.9.9", "1.1.1.1", "2.2.2.2"];
        assert_eq!(korea_and_usa(1, 0).list(WWW, &list).run(WWW, 2), [2, 2]);
        assert_eq!(korea_and_usa(0, 0).list(WWW, &list).run(WWW, 2), [1, 1]);
    }
}
