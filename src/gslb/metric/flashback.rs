//! FlashBack: how fast the health checks of an address were answered (guide p. 36, 52).
//!
//! If the host has an application with a check of its own (Layer 7), those delays are compared
//! first: who is slower than the fastest by more than the tolerance goes. Those left are compared
//! by the delay of the TCP check (Layer 4) in the same way. The tolerance is in percent of the
//! slower one. A failed address has no delay and stays only if all have failed.

use super::{Rule, reported};
use crate::gslb::choose::View;
use crate::gslb::observe::Figure;
use crate::health::state::Delays;

/// Ports whose application the device knows, so that it has a check of its own (guide p. 22; 53, 69
/// and 80 from memory): ftp, telnet, smtp, dns, tftp, http, pop3, nntp, imap4, ldap, ssl.
const KNOWN_PORTS: [u16; 11] = [21, 23, 25, 53, 69, 80, 110, 119, 143, 389, 443];

pub(super) struct Flashback;

impl Rule for Flashback {
    type Figure = Option<Delays>;

    fn figure(view: &View<'_>, position: usize, _candidates: &[usize]) -> Option<Delays> {
        let address = view.address(position);
        view.host.is_healthy(address).then(|| address.state.delays())
    }

    fn test(view: &View<'_>, figures: &[Option<Delays>]) -> impl Fn(Option<Delays>) -> bool {
        let policy = view.policy();
        let application_tolerance = policy.flashback_application_tolerance;
        let tcp_tolerance = policy.flashback_tcp_tolerance;
        let checked =
            view.host.applications.iter().any(|application| KNOWN_PORTS.contains(&application.0));
        let near = move |delays: Delays, fastest: u32| {
            !checked || is_near(delays.application, fastest, application_tolerance)
        };
        let known = || figures.iter().copied().flatten();
        let fastest_application = known().map(|delays| delays.application).min();
        let fastest_tcp = fastest_application.and_then(|fastest| {
            known().filter(|delays| near(*delays, fastest)).map(|delays| delays.tcp).min()
        });
        reported::compared(fastest_application.zip(fastest_tcp), move |delays, (app, tcp)| {
            near(delays, app) && is_near(delays.tcp, tcp, tcp_tolerance)
        })
    }

    fn tell(delays: Option<Delays>) -> Figure {
        Figure::Delays(delays)
    }
}

/// Whether `delay` is longer than `fastest` by no more than `tolerance` percent of itself.
fn is_near(delay: u32, fastest: u32, tolerance: u8) -> bool {
    let difference = u64::from(delay.saturating_sub(fastest));
    difference * 100 <= u64::from(tolerance) * u64::from(delay)
}

#[cfg(test)]
mod tests {
    use crate::gslb::testing::World;
    use crate::health::state::Delays;
    use crate::model::policy::Metric;
    use crate::model::snapshot::Application;

    const WWW: &str = "www.a.com";

    fn delays(all: [(u32, u32); 3]) -> World {
        let list = ["1.1.1.1", "1.1.1.2", "1.1.1.3"];
        let world = World::new().metrics(&[Metric::Flashback]).host(WWW, &list);
        for (address, (tcp, application)) in list.into_iter().zip(all) {
            world.state(address).set_delays(Delays { tcp, application });
        }
        world
    }

    #[test]
    fn the_application_delay_is_compared_first() {
        assert_eq!(delays([(1, 100), (9, 50), (1, 100)]).run(WWW, 2), [2, 2]);
        assert_eq!(delays([(9, 100), (9, 90), (9, 101)]).run(WWW, 3), [1, 2, 1]);
    }

    #[test]
    fn then_the_tcp_delay() {
        assert_eq!(delays([(20, 100), (10, 95), (1, 200)]).run(WWW, 2), [2, 2]);
        assert_eq!(delays([(0, 0), (0, 0), (0, 0)]).run(WWW, 3), [1, 2, 3]);
    }

    #[test]
    fn each_tolerance_is_its_own() {
        let world = delays([(100, 100), (60, 100), (100, 60)])
            .policy(|policy| policy.flashback_application_tolerance = 40);
        assert_eq!(world.run(WWW, 2), [2, 2]);
        let world = world.policy(|policy| policy.flashback_tcp_tolerance = 40);
        assert_eq!(world.run(WWW, 3), [1, 3, 1]);
    }

    #[test]
    fn an_unknown_application_has_only_the_tcp_check() {
        let world = delays([(10, 900), (10, 100), (50, 100)])
            .change_host(WWW, |host| host.applications = vec![Application(8080)].into());
        assert_eq!(world.run(WWW, 3), [1, 2, 1]);
    }

    #[test]
    fn a_failed_address_has_no_delay() {
        let world = delays([(0, 0), (9, 9), (9, 9)]);
        world.down("1.1.1.1");
        assert_eq!(world.run(WWW, 2), [2, 3]);
        world.down("1.1.1.2");
        world.down("1.1.1.3");
        assert_eq!(world.run(WWW, 1), [1]);
    }
}
