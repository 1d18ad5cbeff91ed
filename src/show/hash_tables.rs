//! `show gslb phash table` (guide p. 71, 76): the buckets of hash persistence.

use std::net::{IpAddr, Ipv4Addr};

use super::page::Page;
use crate::clock::Moment;
use crate::gslb::choose::View;
use crate::gslb::hash_persistence::hash_table;
use crate::health::state::States;
use crate::model::snapshot::{Family, Host, Snapshot};

/// `show gslb phash table`: the tables of these hosts, one line for each bucket.
///
/// The misspelling is the device's. With more than one table each has a heading, which is ours.
pub fn hash_tables<'a>(
    snapshot: &'a Snapshot,
    states: &States,
    hosts: impl Iterator<Item = &'a Host>,
    now: Moment,
) -> String {
    let mut tables = Vec::new();
    for host in hosts {
        let domain = host.domain.lock();
        for family in [Family::V4, Family::V6] {
            let client = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
            let view = View::new(snapshot, states, host, &domain, family, client, now);
            let has_address = host.positions(family).next().is_some();
            tables.extend(
                has_address.then(|| hash_table(&view)).flatten().map(|table| (host, family, table)),
            );
        }
    }
    let mut page = Page::default();
    for (host, family, table) in &tables {
        if tables.len() > 1 {
            let record_type = if *family == Family::V4 { "A" } else { "AAAA" };
            page.part();
            page.line(format!("ZONE: {}", snapshot.zones[host.zone.index()].name));
            page.line(format!("HOST: {}: {record_type}", host.name()));
        }
        for (bucket, (address, hits)) in table.buckets().enumerate() {
            page.line(format!("backet {bucket}: ip {address}, hit count {hits}"));
        }
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::{World, ip};
    use crate::model::policy::HashPersistence;

    fn text(world: &World) -> String {
        {
            let hosts = world.snapshot.hosts.iter().map(|host| &**host);
            hash_tables(&world.snapshot, &world.states, hosts, world.now)
        }
    }

    #[test]
    fn the_hits_of_the_guide() {
        let mut world = World::new()
            .policy(|policy| policy.hash = Some(HashPersistence::default()))
            .host("www.gslb.com", &["10.15.101.162", "10.15.101.161"]);
        for (last, questions) in (10..15).zip([5, 4, 3, 2, 1]) {
            world.client = ip(&format!("10.15.102.{last}"));
            world.run("www.gslb.com", questions);
        }
        let text = text(&world);
        assert_eq!(text.lines().count(), 256);
        let expected = "
backet 136: ip 10.15.101.161, hit count 0
backet 137: ip 10.15.101.162, hit count 5
backet 138: ip 10.15.101.161, hit count 4
backet 139: ip 10.15.101.162, hit count 3
backet 140: ip 10.15.101.161, hit count 2
backet 141: ip 10.15.101.162, hit count 1
backet 142: ip 10.15.101.161, hit count 0
";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn several_tables_have_headings() {
        let world = World::new()
            .policy(|policy| policy.hash = Some(HashPersistence::default()))
            .host("www.gslb.com", &["192.0.2.1", "2001:db8::1"])
            .host("ftp.gslb.com", &[]);
        let text = text(&world);
        assert!(text.starts_with("ZONE: gslb.com\nHOST: www: A\nbacket 0: ip 192.0.2.1, hit"));
        assert!(text.contains("\n\nZONE: gslb.com\nHOST: www: AAAA\nbacket 0: ip 2001:db8::1,"));
        assert_eq!(text.lines().count(), 2 * 258 + 1);
    }
}
