//! What several reports say about an address or a site device and no field of the snapshot holds.

use std::net::IpAddr;
use std::sync::atomic::Ordering;

use super::percent;
use crate::health::state::Connection;
use crate::model::region::Region;
use crate::model::snapshot::{Address, Host, SiteServer, Snapshot};

/// The location of a site device: what is configured for its site, else what its management
/// address says (guide p. 130).
pub(super) fn server_location(snapshot: &Snapshot, server: &SiteServer) -> Region {
    let configured = snapshot.sites[server.site.index()].location;
    configured.unwrap_or_else(|| region_of(snapshot, server.address))
}

/// The location of an address of a host: a VIP stands where its site device stands, any other
/// address where the address itself says (guide p. 9).
pub(super) fn location(snapshot: &Snapshot, address: &Address) -> Region {
    match snapshot.owner_of(address) {
        Some(server) => server_location(snapshot, server),
        None => region_of(snapshot, address.ip),
    }
}

/// The region of the longest configured prefix around an address, else the default location.
fn region_of(snapshot: &Snapshot, address: IpAddr) -> Region {
    let prefixes = &snapshot.global_policy().rtt.geo_prefixes;
    prefixes
        .iter()
        .filter(|(prefix, length, _)| covers(*prefix, *length, address))
        .max_by_key(|(_, length, _)| *length)
        .map_or(snapshot.default_location, |(_, _, region)| *region)
}

/// Whether the first `length` bits of `prefix` and of `address` agree.
fn covers(prefix: IpAddr, length: u8, address: IpAddr) -> bool {
    let (different, bits) = match (prefix, address) {
        (IpAddr::V4(prefix), IpAddr::V4(address)) => {
            (u128::from(prefix.to_bits() ^ address.to_bits()), 32)
        }
        (IpAddr::V6(prefix), IpAddr::V6(address)) => (prefix.to_bits() ^ address.to_bits(), 128),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
    };
    different.checked_shr(bits - u32::from(length).min(bits)).unwrap_or(0) == 0
}

/// The session table of a site device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sessions {
    /// Sessions in use.
    pub(super) used: u64,
    /// Size of the table.
    pub(super) maximum: u64,
}

impl Sessions {
    /// The used part, in percent.
    pub(super) fn utilisation(self) -> u64 {
        percent(self.used, self.maximum)
    }

    /// Sessions that are free.
    pub(super) fn available(self) -> u64 {
        self.maximum.saturating_sub(self.used)
    }
}

/// Whether the reports of a site device can be trusted: its connection stands, or it is the
/// controller itself (decisions 3.6).
pub(super) fn is_reporting(server: &SiteServer) -> bool {
    server.is_self || server.state.connection() == Connection::Established
}

/// The session table that a site device reports, if it does.
pub(super) fn sessions(server: &SiteServer) -> Option<Sessions> {
    is_reporting(server).then(|| Sessions {
        used: server.state.sessions_used.load(Ordering::Relaxed),
        maximum: server.state.sessions_maximum.load(Ordering::Relaxed),
    })
}

/// The active bindings of an address for its host: one for each application that passes its
/// checks (decisions 3.8), or of the tracked application only, or the smallest count (guide p. 48,
/// 49). A host without applications has one.
pub(super) fn active_bindings(host: &Host, address: &Address) -> u64 {
    let bindings = |application| u64::from(address.state.passes(&[application]));
    if let Some(tracked) = host.track_port {
        return bindings(tracked);
    }
    let counts = host.applications.iter().map(|application| bindings(*application));
    if host.applications.is_empty() {
        1
    } else if host.min_active_bindings {
        counts.min().unwrap_or(0)
    } else {
        counts.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Application;
    use crate::show::sample::Sample;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn prefixes_cover_by_their_length() {
        assert!(covers(ip("192.0.2.0"), 24, ip("192.0.2.255")));
        assert!(!covers(ip("192.0.2.0"), 24, ip("192.0.3.0")));
        assert!(covers(ip("192.0.2.0"), 0, ip("203.0.113.1")));
        assert!(covers(ip("192.0.2.1"), 32, ip("192.0.2.1")));
        assert!(!covers(ip("192.0.2.1"), 32, ip("192.0.2.0")));
        assert!(covers(ip("2001:db8::"), 32, ip("2001:db8:1::1")));
        assert!(covers(ip("2001:db8::"), 0, ip("::1")));
        assert!(!covers(ip("2001:db8::1"), 128, ip("2001:db8::2")));
        assert!(!covers(ip("0.0.0.0"), 0, ip("2001:db8::1")));
    }

    #[test]
    fn the_site_says_more_than_the_longest_prefix() {
        let mut sample = Sample::new();
        sample.site("one", 0).server(None, "192.0.2.1").site("two", 0).server(None, "192.0.2.2");
        let mut snapshot = sample.snapshot();
        snapshot.default_location = Region::SouthAmerica;
        let two = &snapshot.servers[1];
        assert_eq!(server_location(&snapshot, two), Region::SouthAmerica);

        let prefixes = &mut snapshot.policies[0].rtt.geo_prefixes;
        prefixes.push((ip("192.0.2.0"), 24, Region::Asia));
        prefixes.push((ip("192.0.0.0"), 16, Region::Africa));
        snapshot.sites[0].location = Some(Region::Europe);
        assert_eq!(server_location(&snapshot, &snapshot.servers[0]), Region::Europe);
        assert_eq!(server_location(&snapshot, &snapshot.servers[1]), Region::Asia);
    }

    #[test]
    fn bindings_follow_the_applications_of_the_host() {
        const HTTP: Application = Application(80);
        const SSL: Application = Application(443);
        let mut sample = Sample::new();
        sample.zone("b.c").host("a", &[]).address("192.0.2.1");
        let mut snapshot = sample.snapshot();
        let host = &mut snapshot.hosts[0];
        assert_eq!(active_bindings(host, &host.addresses[0]), 1);
        host.applications = vec![HTTP, SSL];
        assert_eq!(active_bindings(host, &host.addresses[0]), 2);
        host.addresses[0].state.set_up(Some(SSL), false);
        assert_eq!(active_bindings(host, &host.addresses[0]), 1);
        host.min_active_bindings = true;
        assert_eq!(active_bindings(host, &host.addresses[0]), 0);
        host.track_port = Some(HTTP);
        assert_eq!(active_bindings(host, &host.addresses[0]), 1);
    }
}
