//! `show gslb resources` (guide p. 222): what the configuration uses, and what a device can hold.

use super::DEVICE_WORD;
use super::page::Page;
use super::table::{Block, Column};
use crate::model::snapshot::Snapshot;

/// What is used and does not stand in the snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Affinity definitions of all groups.
    pub affinities: usize,
    /// Entries of the prefix cache.
    pub prefix_entries: usize,
    /// Round-trip times in the prefix cache.
    pub rtt_entries: usize,
}

/// How much of a kind there is, and how much a device can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The kind, as the display names it.
    pub name: String,
    /// How many there are.
    pub current: usize,
    /// How many there may be.
    pub maximum: usize,
}

const COLUMNS: [Column; 3] = [
    Column::left(&[""], 22),
    Column::right(&["Current"], 0).gap(4),
    Column::right(&["Maximum"], 0).gap(4),
];

/// What is used, and how much a device can hold of it.
///
/// The limits are shown and never enforced (decisions 3.7). The guide gives those of zones, hosts
/// and static prefixes; the others are ours.
pub fn usages(snapshot: &Snapshot, usage: &Usage) -> Vec<Limit> {
    let vips = snapshot.servers.iter().map(|server| server.state.vips().len()).sum();
    let applications = snapshot.hosts.iter().map(|host| host.applications.len()).sum();
    let addresses = snapshot.hosts.iter().map(|host| host.addresses.len()).sum();
    let static_prefixes = snapshot.global_policy().rtt.static_prefixes.len();
    let row = |name: &str, current, maximum| Limit { name: name.to_owned(), current, maximum };
    vec![
        row("sites", snapshot.sites.len(), 100),
        row(&format!("{DEVICE_WORD}s"), snapshot.servers.len(), 200),
        row(&format!("{DEVICE_WORD}'s VIPs"), vips, 2048),
        row("dns zones", snapshot.zones.len(), 256),
        row("dns hosts", snapshot.hosts.len(), 600),
        row("health-check app.", applications, 1000),
        row("dns IP addrs.", addresses, 4096),
        row("affinities", usage.affinities, 50),
        row("static prefixes", static_prefixes, 250),
        row("prefix cache", usage.prefix_entries, 10_000),
        row("RTT entries", usage.rtt_entries, 10_000),
    ]
}

/// `show gslb resources` (guide p. 222).
pub fn resources(snapshot: &Snapshot, usage: &Usage) -> String {
    let rows: Vec<[String; 3]> = usages(snapshot, usage)
        .into_iter()
        .map(|one| [one.name, one.current.to_string(), one.maximum.to_string()])
        .collect();
    let mut page = Page::default();
    page.line("GSLB resource usage:");
    page.block(0, &Block::new(&COLUMNS, &rows));
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::sample::{FTP, HTTP, Sample};

    #[test]
    fn a_small_configuration() {
        let mut sample = Sample::new();
        sample.site("one", 0).server(None, "10.1.1.1").vip("10.1.1.11").vip("10.1.1.12");
        sample.server(None, "10.1.1.2").vip("10.1.1.21");
        sample.zone("b.c").host("a", &[HTTP, FTP]).address("10.1.1.11").address("10.1.1.21");
        sample.host("b", &[HTTP]).address("10.1.1.11");
        let snapshot = sample.snapshot();
        let usage = Usage { affinities: 2, prefix_entries: 107, rtt_entries: 12_345_678 };
        let expected = "\
GSLB resource usage:
                           Current    Maximum
sites                            1        100
SIs                              2        200
SI's VIPs                        3       2048
dns zones                        1        256
dns hosts                        2        600
health-check app.                3       1000
dns IP addrs.                    3       4096
affinities                       2         50
static prefixes                  0        250
prefix cache                   107      10000
RTT entries               12345678      10000
";
        assert_eq!(resources(&snapshot, &usage), expected);
        assert_eq!(resources(&snapshot, &usage), resources(&snapshot, &usage));
    }

    #[test]
    fn the_layout_of_an_empty_configuration() {
        let text = resources(&Sample::new().snapshot(), &Usage::default());
        let lines: Vec<&str> = text.lines().take(3).collect();
        let expected = [
            "GSLB resource usage:",
            "                          Current    Maximum",
            "sites                           0        100",
        ];
        assert_eq!(lines, expected);
    }
}
