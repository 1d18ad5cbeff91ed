//! Active bindings: real servers that are bound to the VIP and active (guide p. 48, 49).
//!
//! The highest count wins. With `weighted-selection` the counts are weights instead, and the
//! choices are distributed in proportion to them.

use super::Rule;
use super::relative_weight::RelativeWeight;
use crate::gslb::choose::View;
use crate::gslb::observe::Figure;
use crate::model::snapshot::{Address, Application, Host, Snapshot};

pub(super) struct ActiveBindings;

impl Rule for ActiveBindings {
    /// The count stands as weight.
    type Figure = RelativeWeight;

    fn figure(view: &View<'_>, position: usize, _candidates: &[usize]) -> RelativeWeight {
        RelativeWeight {
            selections: view.selections(position),
            weight: active_bindings(view.snapshot, view.host, view.address(position)),
            shared_by: 1,
        }
    }

    fn test(view: &View<'_>, figures: &[RelativeWeight]) -> impl Fn(RelativeWeight) -> bool {
        let in_proportion = view.policy().weighted_selection;
        let least = in_proportion.then(|| RelativeWeight::least(figures));
        let highest = figures.iter().map(|figure| figure.weight).max();
        move |figure| match &least {
            Some(least) => least(figure),
            None => Some(figure.weight) == highest,
        }
    }

    fn tell(figure: RelativeWeight) -> Figure {
        Figure::ActiveBindings { count: figure.weight, selections: figure.selections }
    }
}

/// The active bindings of an address, as the metric counts them and the displays show them.
///
/// They are those of the tracked application, else the smallest count of the host's applications
/// if the host asks for that, else all of them together. A real address and a VIP of a device with
/// an old agent have 1 if they are healthy, else 0; so has a VIP of a host without applications.
#[must_use]
pub fn active_bindings(snapshot: &Snapshot, host: &Host, address: &Address) -> u32 {
    let device = snapshot.owner_of(address).filter(|device| device.state.has_new_agent());
    let Some(device) = device else {
        return u32::from(host.is_healthy(address));
    };
    let count = |application: Application| {
        // Nobody said otherwise: one, if the application passes its check (decisions 3.8).
        let reported = device.state.active_bindings(address.ip, application);
        reported.unwrap_or_else(|| u32::from(address.state.passes(&[application])))
    };
    if let Some(tracked) = host.track_port {
        return count(tracked);
    }
    let counts = host.applications.iter().copied().map(count);
    if host.applications.is_empty() {
        u32::from(host.is_healthy(address))
    } else if host.min_active_bindings {
        counts.min().unwrap_or(0)
    } else {
        counts.fold(0, u32::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::{World, ip};
    use crate::health::state::ReportedVip;
    use crate::model::policy::Metric;

    const WWW: &str = "www.a.com";
    const HTTP: Application = Application(80);
    const SSL: Application = Application(443);

    fn bindings(counts: [u32; 2]) -> World {
        let world = World::new()
            .site("a", 0, &["1.1.1.1"])
            .site("b", 0, &["1.1.1.2"])
            .metrics(&[Metric::ActiveBindings])
            .host(WWW, &["1.1.1.1", "1.1.1.2"]);
        for (number, count) in (1..).zip(counts) {
            set(&world, number, HTTP, count);
        }
        world
    }

    fn set(world: &World, number: u8, application: Application, count: u32) {
        let device = world.server(&format!("10.255.{number}.1"));
        device.set_active_bindings(ip(&format!("1.1.1.{number}")), application, count);
    }

    fn counts(world: &World) -> Vec<u32> {
        let host = world.host_named(WWW);
        let count = |address| active_bindings(&world.snapshot, host, address);
        host.addresses.iter().map(count).collect()
    }

    #[test]
    fn v17_the_highest_wins() {
        assert_eq!(bindings([2, 1]).run(WWW, 3), [1, 1, 1]);
        assert_eq!(bindings([2, 2]).run(WWW, 3), [1, 2, 1]);
        assert_eq!(bindings([0, 0]).run(WWW, 3), [1, 2, 1]);
    }

    #[test]
    fn v18_in_proportion_with_weighted_selection() {
        let world = bindings([2, 1]).policy(|policy| policy.weighted_selection = true);
        assert_eq!(world.run(WWW, 6), [1, 2, 1, 2, 1, 1]);
        let world = bindings([2, 0]).policy(|policy| policy.weighted_selection = true);
        assert_eq!(world.run(WWW, 3), [1, 1, 1]);
        let world = bindings([0, 0]).policy(|policy| policy.weighted_selection = true);
        assert_eq!(world.run(WWW, 3), [1, 2, 1]);
    }

    #[test]
    fn the_applications_of_the_host_count() {
        let world = bindings([2, 1]).change_host(WWW, |host| host.applications.push(SSL));
        set(&world, 2, SSL, 5);
        assert_eq!(counts(&world), [3, 6], "one each where nobody said otherwise");
        let world = world.change_host(WWW, |host| host.min_active_bindings = true);
        assert_eq!(counts(&world), [1, 1]);
        let world = world.change_host(WWW, |host| host.track_port = Some(SSL));
        assert_eq!(counts(&world), [1, 5]);
        world.server("10.255.2.1").forget_active_bindings(ip("1.1.1.2"), SSL);
        assert_eq!(counts(&world), [1, 1]);
    }

    #[test]
    fn an_application_that_the_vip_does_not_have_counts_nothing() {
        let world = bindings([1, 1]).change_host(WWW, |host| host.applications = vec![SSL].into());
        let vip = ReportedVip { address: ip("1.1.1.1"), applications: vec![HTTP], standby: false };
        world.server("10.255.1.1").report_vip(vip);
        assert_eq!(counts(&world), [0, 1]);
    }

    #[test]
    fn real_addresses_and_old_agents_count_one_if_healthy() {
        let world = bindings([7, 7]).list(WWW, &["1.1.1.1", "1.1.1.2", "9.9.9.9"]);
        world.server("10.255.1.1").set_new_agent(false);
        assert_eq!(counts(&world), [1, 7, 1]);
        world.down("1.1.1.1");
        world.down("9.9.9.9");
        assert_eq!(counts(&world), [0, 7, 0]);
    }
}
