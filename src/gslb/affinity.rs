//! Affinity: clients of a prefix get the VIPs of one site device (guide p. 85 to 91).
//!
//! Only the longest prefix that holds the client counts. If the host has VIPs of its device that
//! pass their health checks, the one that was chosen least often is the best, before any metric.
//! Otherwise the choice goes on as if there were no affinity.

use std::net::IpAddr;

use crate::gslb::choose::View;
use crate::gslb::domain::Decision;
use crate::gslb::metric;
use crate::gslb::observe::Observer;
use crate::health::prefix::Prefix;
use crate::model::snapshot::{Host, ServerId, Snapshot};

/// Binds clients to a site device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affinity {
    /// The group it belongs to; `None`: the global set, for hosts without a group.
    pub group: Option<u8>,
    /// The clients (0-31 bits; 0 fits every client).
    pub clients: Prefix,
    /// The site device.
    pub server: ServerId,
}

/// The best address by affinity, if affinity decides.
#[inline]
pub(super) fn pick(
    view: &View<'_>,
    candidates: &[usize],
    observer: &mut impl Observer,
) -> Option<usize> {
    let affinity = affinity_of(view.snapshot, view.host, view.client)?;
    let preferred = candidates.iter().copied().filter(|&position| {
        let address = view.address(position);
        address.owner == Some(affinity.server) && view.host.is_healthy(address)
    });
    metric::least_selected(view, preferred, Decision::Affinity, observer)
}

/// The affinity that counts for the client: the longest prefix of the host's group.
#[inline]
#[must_use]
pub fn affinity_of<'a>(
    snapshot: &'a Snapshot,
    host: &Host,
    client: IpAddr,
) -> Option<&'a Affinity> {
    snapshot
        .affinities
        .iter()
        .filter(|one| one.group == host.affinity_group && one.clients.contains(client))
        .max_by_key(|one| one.clients.length())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::choose::Candidates;
    use crate::gslb::testing::{World, ip};
    use crate::model::snapshot::Family;

    const WWW: &str = "www.a.com";

    fn affinity(group: Option<u8>, clients: &str, length: u8, server: u32) -> Affinity {
        Affinity { group, clients: Prefix::new(ip(clients), length), server: ServerId(server) }
    }

    /// Two devices of one site; the second has two VIPs.
    fn sunnyvale() -> World {
        let mut world = World::new()
            .site("sunnyvale", 0, &["1.1.1.1"])
            .device("209.157.22.210", &["1.1.1.2", "1.1.1.3"])
            .host(WWW, &["1.1.1.1", "1.1.1.2", "1.1.1.3", "9.9.9.9"]);
        world.client = ip("192.108.1.100");
        world
    }

    fn pick(world: &mut World, affinities: &[Affinity]) -> Option<usize> {
        world.snapshot.affinities = affinities.to_vec();
        world.view(WWW, |view| {
            let candidates: Candidates = view.host.positions(Family::V4).collect();
            super::pick(view, &candidates, &mut ())
        })
    }

    #[test]
    fn the_longest_prefix_counts_alone() {
        let affinities = [affinity(None, "192.0.0.0", 8, 0), affinity(None, "192.108.0.0", 16, 1)];
        let mut world = sunnyvale();
        assert_eq!(pick(&mut world, &affinities), Some(1));
        world.down("1.1.1.2");
        assert_eq!(pick(&mut world, &affinities), Some(2));
        world.down("1.1.1.3");
        assert_eq!(pick(&mut world, &affinities), None, "the shorter one does not step in");
    }

    #[test]
    fn the_least_selected_vip_of_the_device_wins() {
        let mut world = sunnyvale();
        world.down("1.1.1.1");
        assert_eq!(world.run(WWW, 1), [2]);
        world.up("1.1.1.1");
        assert_eq!(pick(&mut world, &[affinity(None, "0.0.0.0", 0, 1)]), Some(2));
    }

    #[test]
    fn a_host_with_a_group_uses_that_group_only() {
        let affinities = [affinity(None, "0.0.0.0", 0, 0), affinity(Some(7), "192.0.0.0", 8, 1)];
        assert_eq!(pick(&mut sunnyvale(), &affinities), Some(0));
        let mut world = sunnyvale().change_host(WWW, |host| host.affinity_group = Some(7));
        assert_eq!(pick(&mut world, &affinities), Some(1));
        let mut world = sunnyvale().change_host(WWW, |host| host.affinity_group = Some(8));
        assert_eq!(pick(&mut world, &affinities), None);
    }
}
