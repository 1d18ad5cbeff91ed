//! `show server real` (gslb-show 16.3).

use super::page::Page;
use super::table::{Block, Column};
use crate::health::state::States;
use crate::model::balancing::{DEFAULT_PORT, RealKind, RealServer, ServerHealth};
use crate::model::snapshot::Snapshot;
use crate::show::PortNames;

const LEGEND: [&str; 5] = [
    "Real Servers Info",
    "========================",
    "State(St) - ACT:active, ENB:enabled, FAL:failed, TST:test, DIS:disabled,",
    "            UNK:unknown, UNB:unbind, AWU:await-unbind, AWD:await-delete",
    "            HLD:held-down",
];

const COLUMNS: [Column; 10] = [
    Column::left(&["Port", "----"], 7),
    Column::left(&["St", "--"], 3),
    Column::left(&["Ms", "--"], 2),
    Column::left(&["CurConn", "-------"], 7),
    Column::left(&["TotConn", "-------"], 7),
    Column::left(&["Rx-pkts", "-------"], 8),
    Column::left(&["Tx-pkts", "-------"], 8),
    Column::left(&["Rx-octet", "--------"], 10),
    Column::left(&["Tx-octet", "--------"], 10),
    Column::left(&["Reas", "----"], 4),
];

/// `show server real [<name>]`; `None` if there is no such server.
///
/// No traffic passes the emulator, so all counters of connections and packets are 0.
pub fn server_real(
    snapshot: &Snapshot,
    states: &States,
    names: PortNames<'_>,
    name: Option<&str>,
) -> Option<String> {
    let balancing = &snapshot.balancing;
    let wanted = |real: &RealServer| name.is_none_or(|name| real.name.eq_ignore_ascii_case(name));
    let mut page = Page::default();
    for line in LEGEND {
        page.line(line);
    }
    let follows = balancing.follows();
    let mut found = false;
    for (place, real) in balancing.real.iter().enumerate().filter(|(_, real)| wanted(real)) {
        found = true;
        page.line("");
        head(&mut page, states, real);
        let mut rows: Vec<[String; 10]> = real
            .ports
            .iter()
            .map(|port| {
                let health = balancing.port_health(states, place, port);
                let followed = follows.get(&(place, port.application)).map_or(&[][..], |all| all);
                let master = balancing.master_health(states, place, followed);
                let master = master.map_or(0, number).to_string();
                row(&names(port.application), code(health), &master)
            })
            .collect();
        rows.push(row(&names(DEFAULT_PORT), code(ServerHealth::Unbound), "0"));
        page.line("");
        page.block(0, &Block::new(&COLUMNS, &rows));
        page.line("");
        page.line("Server  Total  0       0       0        0        0          0          0");
    }
    (found || name.is_none()).then(|| page.finish())
}

fn head(page: &mut Page, states: &States, real: &RealServer) {
    let state = word(real.health(states, None));
    let address = real.address.map_or_else(|| "0.0.0.0".to_owned(), |address| address.to_string());
    page.line(format!("Name: {:<18}State: {state:<20}IP:{address}:   1", real.name));
    page.line(format!(
        "Mac: 0000.0000.0000     Weight: {:<19}MaxConn: {}",
        real.weight, real.max_connections
    ));
    page.line("SrcNAT: not-cfg, not-op                            DstNAT: not-cfg, not-op");
    let remote = if real.kind == RealKind::Remote { "Yes" } else { "No" };
    page.line(format!("Remote server: {remote:<9}Dynamic: No                Server-resets: 0"));
}

/// `master` is the state of the ports that the port follows (Virtual ADX SLB guide p. 49).
fn row(port: &str, state: &str, master: &str) -> [String; 10] {
    let mut cells = std::array::from_fn(|_| "0".to_owned());
    port.clone_into(&mut cells[0]);
    state.clone_into(&mut cells[1]);
    master.clone_into(&mut cells[2]);
    cells
}

/// The three letters of a state (gslb-show 16.2).
pub(super) const fn code(health: ServerHealth) -> &'static str {
    match health {
        ServerHealth::Active => "ACT",
        ServerHealth::Failed => "FAL",
        ServerHealth::Disabled => "DIS",
        ServerHealth::Unbound => "UNB",
        ServerHealth::Enabled => "ENB",
    }
}

/// The word of a state with a capital letter.
pub(super) const fn word(health: ServerHealth) -> &'static str {
    match health {
        ServerHealth::Active => "Active",
        ServerHealth::Failed => "Failed",
        ServerHealth::Disabled => "Disabled",
        ServerHealth::Unbound => "Unbound",
        ServerHealth::Enabled => "Enabled",
    }
}

/// The number of a state (gslb-show 16.2).
pub(super) const fn number(health: ServerHealth) -> u8 {
    match health {
        ServerHealth::Disabled => 0,
        ServerHealth::Enabled | ServerHealth::Unbound => 1,
        ServerHealth::Failed => 2,
        ServerHealth::Active => 6,
    }
}
