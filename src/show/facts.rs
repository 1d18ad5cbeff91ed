//! What several reports say about an address or a site device and no field of the snapshot holds.

use std::sync::atomic::Ordering;

use super::percent;
use crate::gslb::regions::region_of_client;
use crate::health::state::Connection;
use crate::model::region::Region;
use crate::model::snapshot::{SiteServer, Snapshot};

/// The location of a site device: what is configured for its site, else what its management
/// address says (guide p. 130).
pub(super) fn server_location(snapshot: &Snapshot, server: &SiteServer) -> Region {
    let configured = snapshot.sites[server.site.index()].location;
    configured.unwrap_or_else(|| region_of_client(snapshot, server.address))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::ip;
    use crate::show::sample::Sample;

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
}
