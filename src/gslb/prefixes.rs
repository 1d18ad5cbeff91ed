//! All that is known of the prefixes around an address: built-in and configured regions, static
//! prefixes and the entries of the prefix cache, as `show gslb cache` lists them (guide p. 179).

use std::net::IpAddr;

use crate::clock::Moment;
use crate::gslb::regions::{built_in, region_of_client};
use crate::health::prefix::Prefix;
use crate::health::rtt::{Measurements, Origin};
use crate::health::state::States;
use crate::model::region::Region;
use crate::model::snapshot::Snapshot;

/// A prefix and where it comes from; several sources may be true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownPrefix {
    /// The prefix.
    pub prefix: Prefix,
    /// The region that counts for it.
    pub region: Region,
    /// The built-in table has it.
    pub built_in: bool,
    /// A `geo-prefix` line has it.
    pub geo_prefix: bool,
    /// A static prefix has it.
    pub is_static: bool,
    /// Why the prefix cache has it; all false if it has not.
    pub origin: Origin,
    /// Round-trip times by management address of the site device.
    pub measurements: Vec<(IpAddr, Measurements)>,
}

/// The prefixes that hold an address, the shortest first.
#[must_use]
pub fn known_prefixes(
    snapshot: &Snapshot,
    states: &States,
    address: IpAddr,
    now: Moment,
) -> Vec<KnownPrefix> {
    let parameters = &snapshot.global_policy().rtt;
    let mut list = KnownPrefixes { snapshot, address, found: Vec::new() };
    if let Some(located) = built_in(address) {
        list.mark(located.prefix, |known| {
            known.built_in = true;
            known.region = located.region;
        });
    }
    for &(network, length, region) in &parameters.geo_prefixes {
        list.mark(Prefix::new(network, length), |known| {
            known.geo_prefix = true;
            known.region = region;
        });
    }
    for &(network, length) in &parameters.static_prefixes {
        list.mark(Prefix::new(network, length), |known| known.is_static = true);
    }
    for entry in states.prefixes.entries_of(address, parameters, now) {
        list.mark(entry.prefix, |known| {
            known.origin = entry.origin;
            known.measurements = entry.measurements;
        });
    }
    list.found.sort_by_key(|known| known.prefix.length());
    list.found
}

struct KnownPrefixes<'a> {
    snapshot: &'a Snapshot,
    address: IpAddr,
    found: Vec<KnownPrefix>,
}

impl KnownPrefixes<'_> {
    /// Says something of a prefix, if it holds the address.
    fn mark(&mut self, prefix: Prefix, say: impl FnOnce(&mut KnownPrefix)) {
        if !prefix.contains(self.address) {
            return;
        }
        let place = self.found.iter().position(|known| known.prefix == prefix);
        let place = place.unwrap_or_else(|| {
            self.found.push(KnownPrefix {
                prefix,
                region: region_of_client(self.snapshot, prefix.network()),
                built_in: false,
                geo_prefix: false,
                is_static: false,
                origin: Origin::default(),
                measurements: Vec::new(),
            });
            self.found.len() - 1
        });
        say(&mut self.found[place]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::{World, ip};

    fn known(world: &World, address: &str) -> Vec<KnownPrefix> {
        known_prefixes(&world.snapshot, &world.states, ip(address), world.now)
    }

    #[test]
    fn a_built_in_entry() {
        let world = World::new();
        let list = known(&world, "61.1.1.1");
        assert_eq!(list.len(), 1);
        assert_eq!(
            (list[0].prefix.to_string(), list[0].region),
            ("60.0.0.0/7".into(), Region::Asia)
        );
        assert!(list[0].built_in && !list[0].geo_prefix && !list[0].is_static);
        assert_eq!(known(&world, "10.1.1.1"), []);
    }

    #[test]
    fn sources_of_one_prefix_are_one_line() {
        let mut world = World::new()
            .policy(|policy| {
                policy.rtt.geo_prefixes = vec![(ip("1.1.0.0"), 20, Region::Asia)];
                policy.rtt.static_prefixes = vec![(ip("1.1.1.0"), 24)];
            })
            .host("www.a.com", &["1.1.1.1"]);
        world.client = ip("1.1.2.2");
        world.run("www.a.com", 1);
        let list = known(&world, "1.1.1.1");
        let names: Vec<String> = list.iter().map(|known| known.prefix.to_string()).collect();
        assert_eq!(names, ["1.1.0.0/20", "1.1.1.0/24"]);
        assert!(list[0].geo_prefix && list[0].origin.client_query && !list[0].is_static);
        assert!(list[1].is_static && !list[1].origin.client_query);
        assert_eq!((list[0].region, list[1].region), (Region::Asia, Region::Asia));
    }
}
