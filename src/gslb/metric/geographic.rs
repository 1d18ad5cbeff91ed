//! Geographic location: servers in the region of the client (guide p. 9, 130).
//!
//! If no candidate is in the client's region, the metric decides nothing. If the prefix cache is
//! full and has no entry for the client, it is skipped, or takes the default location for the
//! client where `use-default-location` says so (guide p. 56).

use std::net::IpAddr;

use super::Rule;
use crate::clock::Moment;
use crate::gslb::choose::View;
use crate::gslb::observe::{Figure, Skip};
use crate::gslb::regions::{region_of_address, region_of_client};
use crate::health::state::States;
use crate::model::policy::Policy;
use crate::model::region::Region;
use crate::model::snapshot::Snapshot;

pub(super) struct Geographic;

impl Rule for Geographic {
    type Figure = Region;

    fn skip(view: &View<'_>) -> Option<Skip> {
        if view.policy().use_default_location {
            return None;
        }
        let parameters = &view.snapshot.global_policy().rtt;
        let is_full = view.states.prefixes.is_full_for(view.client, parameters, view.now);
        is_full.then_some(Skip::CacheFull)
    }

    fn figure(view: &View<'_>, position: usize, _candidates: &[usize]) -> Region {
        region_of_address(view.snapshot, view.address(position))
    }

    fn test(view: &View<'_>, _figures: &[Region]) -> impl Fn(Region) -> bool {
        let View { snapshot, states, client, now, .. } = *view;
        let client = client_region(snapshot, states, view.policy(), client, now);
        move |server| server == client
    }

    fn tell(region: Region) -> Figure {
        Figure::Region(region)
    }
}

/// The region that the metric takes the client to be in: with `use-default-location` and a full
/// prefix cache the default location.
#[must_use]
pub fn client_region(
    snapshot: &Snapshot,
    states: &States,
    policy: &Policy,
    client: IpAddr,
    now: Moment,
) -> Region {
    let parameters = &snapshot.global_policy().rtt;
    if policy.use_default_location && states.prefixes.is_full_for(client, parameters, now) {
        return snapshot.default_location;
    }
    region_of_client(snapshot, client)
}

#[cfg(test)]
mod tests {
    use crate::gslb::choose::Choice;
    use crate::gslb::domain::Decision;
    use crate::gslb::testing::{World, ip};
    use crate::health::rtt::PrefixCache;
    use crate::model::policy::Metric;
    use crate::model::region::Region;
    use crate::model::snapshot::Family;

    const WWW: &str = "www.a.com";
    const US_CLIENT: &str = "63.1.1.1";
    const BRAZILIAN_CLIENT: &str = "200.1.1.1";

    /// A North and a South American site.
    fn americas(order: &[Metric]) -> World {
        let mut world = World::new()
            .site("north", 0, &["1.1.1.1"])
            .site("south", 0, &["1.1.1.2"])
            .change_site("south", |site| site.location = Some(Region::SouthAmerica))
            .metrics(order)
            .host(WWW, &["1.1.1.1", "1.1.1.2"]);
        world.client = ip(BRAZILIAN_CLIENT);
        world
    }

    #[test]
    fn servers_of_the_clients_region_stay() {
        let mut world = americas(&[Metric::HealthCheck, Metric::Geographic]);
        assert_eq!(world.run(WWW, 2), [2, 2]);
        assert_eq!(world.decision(WWW), Some(Decision::Geographic));
        world.client = ip(US_CLIENT);
        assert_eq!(world.run(WWW, 2), [1, 1]);
        world.client = ip("193.1.1.1");
        assert_eq!(world.decision(WWW), Some(Decision::LeastResponse), "nobody is in Europe");
    }

    #[test]
    fn v9_the_nearest_site_down_and_no_backing_out() {
        let world = americas(&[Metric::Geographic, Metric::HealthCheck]);
        world.down("1.1.1.2");
        let (choice, reply) = world.select(WWW, Family::V4);
        assert_eq!(choice, Choice::NONE);
        assert_eq!(reply, ["1.1.1.1", "1.1.1.2"]);
    }

    #[test]
    fn v10_health_first_finds_the_other_site() {
        let world = americas(&[Metric::HealthCheck, Metric::Geographic]);
        world.down("1.1.1.2");
        assert_eq!(world.ask(WWW).as_deref(), Some("1.1.1.1"));
    }

    #[test]
    fn a_vip_is_where_its_site_device_is() {
        let mut world = World::new()
            .site("a", 0, &["1.1.1.1"])
            .site("b", 0, &[])
            .device("200.9.9.9", &["1.1.1.2"])
            .metrics(&[Metric::Geographic])
            .host(WWW, &["1.1.1.1", "1.1.1.2", "193.0.0.1"]);
        world.client = ip(BRAZILIAN_CLIENT);
        assert_eq!(world.run(WWW, 2), [2, 2]);
        world.client = ip("194.0.0.1");
        assert_eq!(world.run(WWW, 2), [3, 3], "a real address is where it is itself");
        let world = world.policy(|policy| {
            policy.rtt.geo_prefixes = vec![(ip("200.9.0.0"), 16, Region::Europe)];
        });
        assert_eq!(world.run(WWW, 2), [2, 3], "geo-prefix of the management address");
        let world = world.change_site("b", |site| site.location = Some(Region::Africa));
        assert_eq!(world.run(WWW, 2), [3, 3], "geo-location of the site comes first");
    }

    #[test]
    fn a_full_prefix_cache_skips_the_metric_or_takes_the_default_location() {
        let mut world = americas(&[Metric::Geographic]);
        world.states.prefixes = PrefixCache::with_room_for(0);
        assert_eq!(world.decision(WWW), Some(Decision::LeastResponse));
        let world = world.policy(|policy| policy.use_default_location = true);
        assert_eq!(world.run(WWW, 2), [1, 1], "the default location is North America");
    }

    #[test]
    fn v27_a_dual_list() {
        let mut world = World::new()
            .site("us", 0, &["2001:db8::56", "209.157.22.210"])
            .site("other", 0, &["2001:db8::ab", "192.108.22.111"])
            .change_site("us", |site| site.location = Some(Region::NorthAmerica))
            .change_site("other", |site| site.location = Some(Region::Asia))
            .metrics(&[Metric::HealthCheck, Metric::Geographic])
            .host(WWW, &["192.108.22.111", "209.157.22.210", "2001:db8::56", "2001:db8::ab"]);
        world.client = ip(US_CLIENT);
        assert_eq!(world.select(WWW, Family::V6).1, ["2001:db8::56", "2001:db8::ab"]);
        assert_eq!(world.select(WWW, Family::V4).1, ["209.157.22.210", "192.108.22.111"]);
        let world = world.policy(|policy| policy.dns.best_only = true);
        assert_eq!(world.select(WWW, Family::V6).1, ["2001:db8::56"]);
        world.down("2001:db8::56");
        assert_eq!(world.select(WWW, Family::V6).1, ["2001:db8::ab"]);
    }
}
