//! `show server global` and `show server session` (base-cli 6.4). No sample is at hand: sections,
//! fields and their order are the guide's, the columns are ours.

use super::page::Page;
use super::server_real::number;
use super::table::{Block, Column};
use crate::health::state::States;
use crate::model::snapshot::Snapshot;

const COLUMNS: [Column; 7] = [
    Column::left(&["Real Server"], 16),
    Column::left(&["St"], 2),
    Column::left(&["CurrConn"], 8).gap(2),
    Column::left(&["TotConn"], 8).gap(2),
    Column::left(&["TotRevConn"], 10).gap(2),
    Column::left(&["CurrSess"], 8).gap(2),
    Column::left(&["PeakConn"], 8).gap(2),
];

/// `show server global` (Virtual ADX SLB guide p. 369, table 40).
pub fn server_global(snapshot: &Snapshot) -> String {
    let global = &snapshot.balancing.global;
    let mut page = Page::default();
    page.line("SLB Parameters");
    page.line(format!("  Predictor          : {}", global.predictor));
    page.line(format!("  Force-deletion     : {}", u8::from(global.force_delete)));
    page.line("  Reassign-threshold : 20");
    page.line("  Reassign-limit     : 3");
    page.line("Layer 3 Health Check Parameters");
    page.line(format!("  Ping-interval      : {}", global.ping_interval));
    page.line(format!("  Ping-retries       : {}", global.ping_retries));
    page.finish()
}

/// `show server session`: the table that ends it on the device.
pub fn server_session(snapshot: &Snapshot, states: &States) -> String {
    let mut page = Page::default();
    page.line(
        "Server State - 0: disabled, 1:enabled, 2:failed, 3:test, 4:suspect, 5:grace_dn, 6:active",
    );
    page.line("");
    let rows: Vec<[String; 7]> = snapshot
        .balancing
        .real
        .iter()
        .map(|real| {
            let mut cells = std::array::from_fn(|_| "0".to_owned());
            cells[0].clone_from(&real.name);
            cells[1] = number(real.health(states, None)).to_string();
            cells
        })
        .collect();
    page.block(0, &Block::new(&COLUMNS, &rows));
    page.finish()
}
