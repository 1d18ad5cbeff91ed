//! `show server virtual` (gslb-show 16.3).

use super::page::Page;
use super::server_real::word;
use super::table::{Block, Column};
use crate::health::sessions::{Counts, SessionView, sum};
use crate::model::balancing::{DEFAULT_PORT, Port, ServerHealth, VirtualServer};
use crate::model::snapshot::Snapshot;
use crate::show::PortNames;

const COLUMNS: [Column; 9] = [
    Column::left(&["Port", "----"], 7),
    Column::left(&["State", "-----"], 8),
    Column::left(&["Sticky", "------"], 6).gap(2),
    Column::left(&["Concur", "------"], 6).gap(2),
    Column::left(&["Proxy", "-----"], 5).gap(2),
    Column::left(&["DSR", "---"], 3).gap(2),
    Column::left(&["CurConn", "-------"], 7).gap(2),
    Column::left(&["TotConn", "-------"], 7).gap(2),
    Column::left(&["PeakConn", "--------"], 8).gap(3),
];

/// `show server virtual [<name>]`; `None` if there is no such server.
pub fn server_virtual(
    snapshot: &Snapshot,
    sessions: &SessionView,
    names: PortNames<'_>,
    name: Option<&str>,
) -> Option<String> {
    let wanted =
        |server: &&VirtualServer| name.is_none_or(|name| server.name.eq_ignore_ascii_case(name));
    let mut page = Page::default();
    page.line("Virtual Servers Info");
    let mut found = false;
    for server in snapshot.balancing.virtual_.iter().filter(wanted) {
        found = true;
        let state = if server.disabled { "Disabled" } else { "Enabled" };
        block(&mut page, snapshot, sessions, names, server, state);
    }
    for server in sessions.virtual_.iter().filter(wanted) {
        found = true;
        block(&mut page, snapshot, sessions, names, server, word(ServerHealth::AwaitDelete));
    }
    (found || name.is_none()).then(|| page.finish())
}

fn block(
    page: &mut Page,
    snapshot: &Snapshot,
    sessions: &SessionView,
    names: PortNames<'_>,
    server: &VirtualServer,
    state: &str,
) {
    page.line("");
    let address =
        server.address.map_or_else(|| "0.0.0.0".to_owned(), |address| address.to_string());
    page.line(format!("Name: {:<18}State: {state:<20}IP:{address}:   1", server.name));
    let predictor = server.predictor.as_deref().unwrap_or(&snapshot.balancing.global.predictor);
    let total = sum(sessions.of_virtual(server, None)).total;
    page.line(format!("Pred: {predictor:<18}ACL-Id: 0                  TotalConn: {total}"));
    page.line("");
    let default = Port { dsr: server.default_dsr, ..Port::new(DEFAULT_PORT) };
    let rows: Vec<[String; 9]> = std::iter::once(&default)
        .chain(&server.ports)
        .map(|port| row(names, port, sum(sessions.of_virtual(server, Some(port.application)))))
        .collect();
    page.block(0, &Block::new(&COLUMNS, &rows));
}

fn row(names: PortNames<'_>, port: &Port, counts: Counts) -> [String; 9] {
    let state = if port.disabled { "disabled" } else { "enabled" };
    let yes = |on| if on { "YES" } else { "NO" };
    let Counts { current, total, peak } = counts;
    let numbers = [u64::from(current), total, u64::from(peak)].map(|number| number.to_string());
    let [current, total, peak] = numbers;
    let words = [&names(port.application), state, yes(port.sticky), "NO", "NO", yes(port.dsr)]
        .map(str::to_owned);
    let [name, state, sticky, concurrent, proxy, dsr] = words;
    [name, state, sticky, concurrent, proxy, dsr, current, total, peak]
}
