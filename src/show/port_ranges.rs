//! `show port-range`: ranges of ports (Virtual ADX SLB guide p. 66). The layout is ours.

use super::page::Page;
use super::table::{Block, Column};
use crate::model::snapshot::Snapshot;

const COLUMNS: [Column; 5] = [
    Column::left(&["Name", "===="], 16),
    Column::right(&["First", "====="], 5).gap(2),
    Column::right(&["Last", "===="], 5).gap(2),
    Column::right(&["Ports", "====="], 5).gap(2),
    Column::left(&["Change", "======"], 6).gap(2),
];

/// `show port-range`: each range with the ports that count, and whether a change waits for `apply
/// port-range`.
pub fn port_ranges(snapshot: &Snapshot) -> String {
    let cell = |port: Option<u16>| port.map_or_else(|| "-".to_owned(), |port| port.to_string());
    let ranges = &snapshot.balancing.ranges;
    let rows: Vec<[String; 5]> = ranges
        .iter()
        .map(|range| {
            let last = range.applications().last().map(|port| port.0);
            [
                range.name.clone(),
                cell(range.ports.map(|(first, _)| first)),
                cell(last),
                range.applications().count().to_string(),
                if range.is_pending { "pending" } else { "-" }.to_owned(),
            ]
        })
        .collect();
    let mut page = Page::default();
    page.block(0, &Block::new(&COLUMNS, &rows));
    page.finish()
}
