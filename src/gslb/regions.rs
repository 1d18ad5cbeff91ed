//! Where addresses are: the built-in table of continental prefixes, and what overrides it.
//!
//! The table follows who administers a block in the registries of IANA: the first octets of IPv4,
//! and the blocks of IPv6 that the regional registries hold. Adjacent blocks of one region are one
//! entry. Special-purpose prefixes and 1.0.0.0/8 have no region (decisions 3.9).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::health::prefix::Prefix;
use crate::model::region::Region::{self, Africa, Asia, Europe, NorthAmerica, SouthAmerica};
use crate::model::snapshot::{Address, Snapshot};

/// A region with the prefix that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// The entry that matches.
    pub prefix: Prefix,
    /// Its region.
    pub region: Region,
    /// Whether the entry is a `geo-prefix`.
    pub configured: bool,
}

/// The most specific `geo-prefix` that holds the address, else the built-in entry (guide p. 130).
#[must_use]
pub fn locate(snapshot: &Snapshot, address: IpAddr) -> Option<Located> {
    configured(snapshot, address).or_else(|| built_in(address))
}

/// The most specific `geo-prefix` that holds the address.
fn configured(snapshot: &Snapshot, address: IpAddr) -> Option<Located> {
    let all = snapshot.global_policy().rtt.geo_prefixes.iter();
    all.map(|&(network, length, region)| (Prefix::new(network, length), region))
        .filter(|(prefix, _)| prefix.contains(address))
        .max_by_key(|(prefix, _)| prefix.length())
        .map(|(prefix, region)| Located { prefix, region, configured: true })
}

/// The region of a client, the default location if nothing is known of it (decisions 3.9).
#[must_use]
pub fn region_of_client(snapshot: &Snapshot, client: IpAddr) -> Region {
    let configured = configured(snapshot, client).map(|located| located.region);
    configured.or_else(|| built_in_region(client)).unwrap_or(snapshot.default_location)
}

/// The region of an address of a host.
///
/// A VIP is where its site is said to be, else where the management address of its device is; a
/// real address is where it is itself (guide p. 130).
#[must_use]
pub fn region_of_address(snapshot: &Snapshot, address: &Address) -> Region {
    if let Some(location) = snapshot.site_of(address).and_then(|site| site.location) {
        return location;
    }
    let place = snapshot.owner_of(address).map_or(address.ip, |device| device.address);
    region_of_client(snapshot, place)
}

/// The built-in entry that holds an address.
#[must_use]
pub fn built_in(address: IpAddr) -> Option<Located> {
    let found = match address {
        IpAddr::V4(address) => v4_entry(address).map(|(first, length, region)| {
            (Prefix::new(Ipv4Addr::new(first, 0, 0, 0).into(), length), region)
        }),
        IpAddr::V6(address) => v6_entry(address),
    };
    found.map(|(prefix, region)| Located { prefix, region, configured: false })
}

/// What the built-in table says of an address.
fn built_in_region(address: IpAddr) -> Option<Region> {
    match address {
        IpAddr::V4(address) => v4_entry(address).map(|(_, _, region)| region),
        IpAddr::V6(address) => v6_entry(address).map(|(_, region)| region),
    }
}

fn v4_entry(address: Ipv4Addr) -> Option<(u8, u8, Region)> {
    V4_BY_OCTET[usize::from(address.octets()[0])].filter(|_| !is_special_v4(address))
}

fn v6_entry(address: Ipv6Addr) -> Option<(Prefix, Region)> {
    if is_special_v6(address) {
        return None;
    }
    V6.iter().find_map(|&(first, second, length, region)| {
        let prefix = Prefix::new(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0).into(), length);
        prefix.contains(address.into()).then_some((prefix, region))
    })
}

/// Every built-in entry: IPv4, then IPv6, each in ascending order.
pub fn built_in_entries() -> impl Iterator<Item = Located> {
    let v4 = V4.iter().map(|&(first, length, region)| {
        (Prefix::new(Ipv4Addr::new(first, 0, 0, 0).into(), length), region)
    });
    let v6 = V6.iter().map(|&(first, second, length, region)| {
        (Prefix::new(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0).into(), length), region)
    });
    v4.chain(v6).map(|(prefix, region)| Located { prefix, region, configured: false })
}

/// Private, shared, loopback, link-local, documentation, benchmark, multicast and reserved.
fn is_special_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    match (first, second) {
        (0 | 10 | 127 | 224.., _)
        | (100, 64..=127)
        | (169, 254)
        | (172, 16..=31)
        | (192, 168)
        | (198, 18 | 19) => true,
        (192, 0) => third == 0 || third == 2,
        (198, 51) => third == 100,
        (203, 0) => third == 113,
        (192, 88) => third == 99,
        _ => false,
    }
}

/// Documentation; the other special prefixes lie outside the table.
fn is_special_v6(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [0x2001, 0xdb8, ..])
}

/// First octet, length and region of each IPv4 entry, in ascending order.
#[rustfmt::skip]
const V4: &[(u8, u8, Region)] = &[
    (2, 8, Europe), (3, 8, NorthAmerica), (4, 8, NorthAmerica), (5, 8, Europe),
    (6, 7, NorthAmerica), (8, 7, NorthAmerica), (11, 8, NorthAmerica), (12, 7, NorthAmerica),
    (14, 8, Asia), (15, 8, NorthAmerica), (16, 5, NorthAmerica), (24, 8, NorthAmerica),
    (25, 8, Europe), (26, 8, NorthAmerica), (27, 8, Asia), (28, 7, NorthAmerica),
    (30, 8, NorthAmerica), (31, 8, Europe), (32, 6, NorthAmerica), (36, 8, Asia), (37, 8, Europe),
    (38, 8, NorthAmerica), (39, 8, Asia), (40, 8, NorthAmerica), (41, 8, Africa), (42, 7, Asia),
    (44, 7, NorthAmerica), (46, 8, Europe), (47, 8, NorthAmerica), (48, 8, NorthAmerica),
    (49, 8, Asia), (50, 8, NorthAmerica), (51, 8, Europe), (52, 8, NorthAmerica), (53, 8, Europe),
    (54, 7, NorthAmerica), (56, 8, NorthAmerica), (57, 8, Europe), (58, 7, Asia), (60, 7, Asia),
    (62, 8, Europe), (63, 8, NorthAmerica), (64, 5, NorthAmerica), (72, 6, NorthAmerica),
    (76, 8, NorthAmerica), (77, 8, Europe), (78, 7, Europe), (80, 4, Europe), (96, 6, NorthAmerica),
    (100, 8, NorthAmerica), (101, 8, Asia), (102, 8, Africa), (103, 8, Asia),
    (104, 8, NorthAmerica), (105, 8, Africa), (106, 8, Asia), (107, 8, NorthAmerica),
    (108, 8, NorthAmerica), (109, 8, Europe), (110, 7, Asia), (112, 5, Asia), (120, 6, Asia),
    (124, 7, Asia), (126, 8, Asia), (128, 6, NorthAmerica), (132, 8, NorthAmerica), (133, 8, Asia),
    (134, 7, NorthAmerica), (136, 6, NorthAmerica), (140, 8, NorthAmerica), (141, 8, Europe),
    (142, 7, NorthAmerica), (144, 8, NorthAmerica), (145, 8, Europe), (146, 7, NorthAmerica),
    (148, 7, NorthAmerica), (150, 8, Asia), (151, 8, Europe), (152, 8, NorthAmerica),
    (153, 8, Asia), (154, 8, Africa), (155, 8, NorthAmerica), (156, 6, NorthAmerica),
    (160, 7, NorthAmerica), (162, 8, NorthAmerica), (163, 8, Asia), (164, 6, NorthAmerica),
    (168, 7, NorthAmerica), (170, 8, NorthAmerica), (171, 8, Asia), (172, 7, NorthAmerica),
    (174, 8, NorthAmerica), (175, 8, Asia), (176, 8, Europe), (177, 8, SouthAmerica),
    (178, 8, Europe), (179, 8, SouthAmerica), (180, 8, Asia), (181, 8, SouthAmerica),
    (182, 7, Asia), (184, 8, NorthAmerica), (185, 8, Europe), (186, 7, SouthAmerica),
    (188, 8, Europe), (189, 8, SouthAmerica), (190, 7, SouthAmerica), (192, 8, NorthAmerica),
    (193, 8, Europe), (194, 7, Europe), (196, 7, Africa), (198, 7, NorthAmerica),
    (200, 7, SouthAmerica), (202, 7, Asia), (204, 6, NorthAmerica), (208, 7, NorthAmerica),
    (210, 7, Asia), (212, 7, Europe), (214, 7, NorthAmerica), (216, 8, NorthAmerica),
    (217, 8, Europe), (218, 7, Asia), (220, 6, Asia),
];

/// The entry that holds a first octet; every question looks up several.
static V4_BY_OCTET: [Option<(u8, u8, Region)>; 256] = {
    let mut table = [None; 256];
    let mut entry = 0;
    while entry < V4.len() {
        let (first, length, _) = V4[entry];
        let mut octet = 0;
        while octet < 256 >> length {
            table[first as usize + octet] = Some(V4[entry]);
            octet += 1;
        }
        entry += 1;
    }
    table
};

/// First two groups, length and region of each IPv6 entry.
#[rustfmt::skip]
const V6: &[(u16, u16, u8, Region)] = &[
    (0x2001, 0x0200, 23, Asia), (0x2001, 0x0400, 23, NorthAmerica), (0x2001, 0x0600, 23, Europe),
    (0x2001, 0x0800, 22, Europe), (0x2001, 0x0c00, 22, Asia), (0x2001, 0x1200, 23, SouthAmerica),
    (0x2001, 0x1400, 22, Europe), (0x2001, 0x1800, 23, NorthAmerica), (0x2001, 0x1a00, 23, Europe),
    (0x2001, 0x1c00, 22, Europe), (0x2001, 0x2000, 19, Europe), (0x2001, 0x4000, 23, Europe),
    (0x2001, 0x4200, 23, Africa), (0x2001, 0x4400, 23, Asia), (0x2001, 0x4600, 23, Europe),
    (0x2001, 0x4800, 23, NorthAmerica), (0x2001, 0x4a00, 23, Europe), (0x2001, 0x4c00, 23, Europe),
    (0x2001, 0x5000, 20, Europe), (0x2001, 0x8000, 19, Asia), (0x2001, 0xa000, 19, Asia),
    (0x2003, 0x0000, 18, Europe), (0x2400, 0x0000, 11, Asia), (0x2600, 0x0000, 12, NorthAmerica),
    (0x2610, 0x0000, 23, NorthAmerica), (0x2620, 0x0000, 23, NorthAmerica),
    (0x2630, 0x0000, 12, NorthAmerica), (0x2800, 0x0000, 12, SouthAmerica),
    (0x2a00, 0x0000, 11, Europe), (0x2c00, 0x0000, 12, Africa),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::{World, ip};

    fn region(address: &str) -> Option<Region> {
        built_in(ip(address)).map(|located| located.region)
    }

    #[test]
    fn first_octets_have_the_region_of_their_registry() {
        assert_eq!(region("209.157.22.210"), Some(NorthAmerica));
        assert_eq!(region("8.8.8.8"), Some(NorthAmerica));
        assert_eq!(region("193.0.0.1"), Some(Europe));
        assert_eq!(region("41.0.0.1"), Some(Africa));
        assert_eq!(region("200.1.1.1"), Some(SouthAmerica));
        assert_eq!(region("223.255.255.255"), Some(Asia));
    }

    #[test]
    fn adjacent_blocks_are_one_entry() {
        let located = built_in(ip("61.1.1.1")).unwrap();
        assert_eq!(located.prefix.to_string(), "60.0.0.0/7");
        assert_eq!(located.region, Asia);
    }

    #[test]
    fn special_prefixes_have_no_region() {
        for address in [
            "0.0.0.0",
            "1.1.1.101",
            "10.10.10.200",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.1.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "fe80::1",
            "fd00::1",
            "2001:db8::56",
            "ff02::1",
        ] {
            assert_eq!(region(address), None, "{address}");
        }
        assert_eq!(region("172.32.0.1"), Some(NorthAmerica));
        assert_eq!(region("100.128.0.1"), Some(NorthAmerica));
    }

    #[test]
    fn ipv6_blocks_have_the_region_of_their_registry() {
        assert_eq!(region("2001:4200::1"), Some(Africa));
        assert_eq!(region("2001:500::1"), Some(NorthAmerica));
        assert_eq!(region("2606:4700::1"), Some(NorthAmerica));
        assert_eq!(region("2a02::1"), Some(Europe));
        assert_eq!(region("2404:6800::1"), Some(Asia));
        assert_eq!(region("2801::1"), Some(SouthAmerica));
        assert_eq!(region("2002::1"), None);
    }

    #[test]
    fn the_entries_are_apart_and_in_order() {
        let entries: Vec<Located> = built_in_entries().collect();
        for (index, entry) in entries.iter().enumerate() {
            for other in &entries[index + 1..] {
                assert!(!entry.prefix.contains(other.prefix.network()), "{entry:?} {other:?}");
            }
        }
        assert!(
            entries.windows(2).all(|pair| { pair[0].prefix.network() < pair[1].prefix.network() })
        );
    }

    #[test]
    fn the_longest_configured_prefix_comes_first() {
        let world = World::new().policy(|policy| {
            policy.rtt.geo_prefixes = vec![
                (ip("24.0.0.0"), 8, Africa),
                (ip("24.192.0.0"), 24, Europe),
                (ip("24.192.0.0"), 16, Asia),
            ];
        });
        let region = |address| region_of_client(&world.snapshot, ip(address));
        assert_eq!(region("24.192.0.9"), Europe);
        assert_eq!(region("24.192.1.9"), Asia);
        assert_eq!(region("24.1.1.1"), Africa);
        assert_eq!(region("23.1.1.1"), NorthAmerica);
        assert_eq!(region("1.1.1.1"), NorthAmerica, "the default location");
    }
}
