//! What `show gslb dns zone` and `show gslb dns detail` have in common: the view of a host, the
//! lines above it and the rows of its addresses (guide p. 42, 90, 91, 171, 238 to 240).

use std::sync::atomic::Ordering;

use super::page::Page;
use super::percent;
use super::table::{Block, Column};
use crate::gslb::domain::Tally;
use crate::gslb::regions::region_of_address;
use crate::model::snapshot::{Address, Host, Snapshot, Source, Zone};

const COLUMNS: [Column; 10] = [
    Column::left(&[], 1),
    Column::left(&[], 16),
    Column::left(&[], 4),
    Column::left(&[], 8),
    Column::left(&[], 6),
    Column::left(&[], 6),
    Column::right(&["TCP"], 4).above(&["Flashback", "delay", "(x100us)"]),
    Column::right(&["APP"], 4),
    Column::right(&["Count"], 6).gap(3).above(&["DNS resp.", "selection", "counters"]),
    Column::left(&["(%)"], 0),
];

/// An address of a host with what is known about it at this moment.
pub(super) struct AddressView<'a> {
    /// The address and where it comes from.
    pub(super) address: &'a Address,
    /// Whether it can be chosen as best, healthy or not.
    candidate: bool,
    /// Whether all checks of the host pass here.
    healthy: bool,
    /// How often it was chosen, and by what.
    pub(super) tally: Tally,
}

/// Prints one zone or, without a name, all of them; `None` if there is no zone of that name.
///
/// `print_details` adds what stands below the row of an address.
pub(super) fn print_zones<'a>(
    snapshot: &'a Snapshot,
    name: Option<&str>,
    print_details: impl Fn(&mut Page, &'a Host, &AddressView<'a>),
) -> Option<String> {
    let mut page = Page::default();
    match name {
        Some(name) => print_zone(&mut page, snapshot, snapshot.zone(name)?, &print_details),
        None => {
            for zone in &snapshot.zones {
                print_zone(&mut page, snapshot, zone, &print_details);
            }
        }
    }
    Some(page.finish())
}

fn print_zone<'a>(
    page: &mut Page,
    snapshot: &'a Snapshot,
    zone: &'a Zone,
    print_details: &impl Fn(&mut Page, &'a Host, &AddressView<'a>),
) {
    page.part();
    page.line(format!("ZONE: {}", zone.name));
    for (place, id) in zone.hosts.iter().enumerate() {
        if place > 0 {
            page.part();
        }
        let host = &snapshot.hosts[id.index()];
        let addresses = addresses(snapshot, host);
        page.line(format!("HOST: {}:", host.name()));
        page.line(policy_line(snapshot, host));
        page.line(group_line(host));
        let block = Block::new(&COLUMNS, &rows(snapshot, &addresses));
        for heading in &block.headings {
            page.line(heading);
        }
        for (row, address) in block.rows.iter().zip(&addresses) {
            page.line(row);
            print_details(page, host, address);
        }
    }
}

fn policy_line(snapshot: &Snapshot, host: &Host) -> String {
    match &snapshot.policy_of(host).name {
        Some(name) => format!("(Host GSLB policy: {name})"),
        None => "(Global GSLB policy)".to_owned(),
    }
}

fn group_line(host: &Host) -> String {
    match host.affinity_group {
        Some(group) => format!("GSLB affinity group: {group}"),
        None => "GSLB affinity group: global".to_owned(),
    }
}

/// The addresses of a host; their counts are read under one lock and so belong together.
fn addresses<'a>(snapshot: &'a Snapshot, host: &'a Host) -> Vec<AddressView<'a>> {
    let only_configured = snapshot.global_policy().dns.override_;
    let tallies = host.domain.lock().tallies.clone();
    host.addresses
        .iter()
        .map(|address| AddressView {
            address,
            candidate: address.is_candidate && (!only_configured || address.source != Source::Dns),
            healthy: host.is_healthy(address),
            tally: match tallies.get(address.slot.index()) {
                Some(tally) => tally.clone(),
                None => Tally::new(address.ip),
            },
        })
        .collect()
}

fn rows(snapshot: &Snapshot, addresses: &[AddressView]) -> Vec<[String; COLUMNS.len()]> {
    let total = addresses.iter().map(|view| view.tally.selections).sum();
    addresses.iter().map(|view| view.row(snapshot, total)).collect()
}

impl AddressView<'_> {
    /// The cells of the row; `total` counts the selections of all addresses of the host.
    fn row(&self, snapshot: &Snapshot, total: u64) -> [String; COLUMNS.len()] {
        let address = self.address;
        let count = self.tally.selections;
        let delay = |value: u32| if self.healthy { value.to_string() } else { "--".to_owned() };
        [
            if self.candidate { "*" } else { "" }.to_owned(),
            format!("{}:", address.ip),
            address.source.name().to_owned(),
            if address.owner.is_some() { "v-ip" } else { "real-ip" }.to_owned(),
            if self.healthy { "ACTIVE" } else { "DOWN" }.to_owned(),
            region_of_address(snapshot, address).display().to_owned(),
            delay(address.state.flashback_tcp.load(Ordering::Relaxed)),
            delay(address.state.flashback_application.load(Ordering::Relaxed)),
            count.to_string(),
            format!("({}%)", percent(count, total)),
        ]
    }
}
