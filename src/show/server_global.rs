//! `show server global`, `session` and `traffic` (base-cli 6.4). No sample is at hand: sections,
//! fields and their order are the guide's, the columns are ours.

use super::page::Page;
use super::server_real::number;
use super::table::{Block, Column};
use crate::health::sessions::{Counts, SessionView, sum};
use crate::health::state::{States, Status};
use crate::model::balancing::ServerHealth;
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
    page.line(format!("  Reassign-threshold : {}", global.reassign_threshold));
    page.line("  Reassign-limit     : 3");
    page.line("Layer 3 Health Check Parameters");
    page.line(format!("  Ping-interval      : {}", global.ping_interval));
    page.line(format!("  Ping-retries       : {}", global.ping_retries));
    page.finish()
}

/// `show server session`: the table that ends it on the device. A connection takes two sessions, one
/// for each direction (SLB guide).
pub fn server_session(snapshot: &Snapshot, states: &States, sessions: &SessionView) -> String {
    let mut page = Page::default();
    page.line(
        "Server State - 0: disabled, 1:enabled, 2:failed, 3:test, 4:suspect, 5:grace_dn, 6:active,",
    );
    page.line("               8:await-unbind, 9:await-delete");
    page.line("");
    let configured = snapshot.balancing.real.iter().map(|real| (real, real.health(states, None)));
    let waiting = sessions.real.iter().map(|real| (real, ServerHealth::AwaitDelete));
    let rows: Vec<[String; 7]> = configured
        .chain(waiting)
        .map(|(real, health)| {
            let Counts { current, total, peak } = sum(sessions.of_real(real, None));
            let in_use = u64::from(current) * 2;
            let numbers = [u64::from(current), total, 0, in_use, u64::from(peak)];
            let mut cells = std::array::from_fn(|_| String::new());
            cells[0].clone_from(&real.name);
            cells[1] = number(health).to_string();
            for (cell, number) in cells[2..].iter_mut().zip(numbers) {
                *cell = number.to_string();
            }
            cells
        })
        .collect();
    page.block(0, &Block::new(&COLUMNS, &rows));
    page.finish()
}

/// `show server traffic`, as far as there is anything to count. No packet passes, so none is
/// counted; what waits for its end stands in the queue of deletions.
pub fn server_traffic(status: Status, sessions: &SessionView) -> String {
    let mut page = Page::default();
    let table = status.sessions;
    let queued = u64::from(sessions.draining()) * 2;
    let available = table.maximum.saturating_sub(table.used);
    let rows = [
        [("Drops", 0), ("Aged", sessions.ended * 2)],
        [("Current connections", sessions.current().into()), ("Total connections", sessions.total)],
        [("Sessions in DEL_Q", queued), ("Sessions force deleted", sessions.forced * 2)],
        [("Avail. Sessions", available), ("Total Sessions", table.maximum)],
    ];
    for [left, right] in rows {
        page.line(format!("{:<23}= {:>10}   {:<23}= {:>10}", left.0, left.1, right.0, right.1));
    }
    page.finish()
}
