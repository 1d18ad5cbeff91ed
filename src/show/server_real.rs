//! `show server real` (gslb-show 16.3).

use super::page::Page;
use super::table::{Block, Column};
use crate::health::sessions::{Counts, SessionView, sum};
use crate::health::state::States;
use crate::model::balancing::{DEFAULT_PORT, RealKind, RealServer, ServerHealth};
use crate::model::snapshot::Snapshot;
use crate::show::PortNames;
use crate::show::network::neighbour;

const LEGEND: [&str; 5] = [
    "Real Servers Info",
    "========================",
    "State(St) - ACT:active, ENB:enabled, FAL:failed, TST:test, DIS:disabled,",
    "            UNK:unknown, UNB:unbind, AWU:await-unbind, AWD:await-delete",
    "            GDN:grace-dn, HLD:held-down",
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
/// No traffic passes the emulator, so all counters of packets are 0.
pub fn server_real(
    snapshot: &Snapshot,
    states: &States,
    sessions: &SessionView,
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
        let mut rows: Vec<[String; 10]> = real
            .ports
            .iter()
            .map(|port| {
                let health = balancing.port_health(states, place, port);
                let health = sessions.port_health(real, port.application, health);
                let followed = follows.get(&(place, port.application)).map_or(&[][..], |all| all);
                let master = balancing.master_health(states, place, followed);
                let counts = sum(sessions.of_real(real, Some(port.application)));
                row(&names(port.application), health, master, counts)
            })
            .collect();
        rows.extend(sessions.ports_of(real).map(|port| {
            let counts = sum(sessions.of_real(real, Some(port.application)));
            row(&names(port.application), ServerHealth::AwaitDelete, None, counts)
        }));
        server(&mut page, real, real.health(states, None), rows, sessions, names);
    }
    for real in sessions.real.iter().filter(|real| wanted(real)) {
        found = true;
        let rows = real.ports.iter().map(|port| {
            let health = sessions.port_health(real, port.application, ServerHealth::Unbound);
            let counts = sum(sessions.of_real(real, Some(port.application)));
            row(&names(port.application), health, None, counts)
        });
        let rows = rows.collect();
        server(&mut page, real, ServerHealth::AwaitDelete, rows, sessions, names);
    }
    (found || name.is_none()).then(|| page.finish())
}

/// A server with its ports; the default port is the last of them.
fn server(
    page: &mut Page,
    real: &RealServer,
    health: ServerHealth,
    mut rows: Vec<[String; 10]>,
    sessions: &SessionView,
    names: PortNames<'_>,
) {
    page.line("");
    head(page, real, health);
    let default = sessions.port_health(real, DEFAULT_PORT, ServerHealth::Unbound);
    let counts = sum(sessions.of_real(real, Some(DEFAULT_PORT)));
    rows.push(row(&names(DEFAULT_PORT), default, None, counts));
    page.line("");
    page.block(0, &Block::new(&COLUMNS, &rows));
    page.line("");
    let Counts { current, total, .. } = sum(sessions.of_real(real, None));
    page.line(format!(
        "Server  Total  {current:<7} {total:<7} 0        0        0          0          0"
    ));
}

/// The hardware address of a server, as `show arp` has it; none of one that does not answer, or lies behind
/// a router.
fn mac(real: &RealServer, health: ServerHealth) -> String {
    let answers = !matches!(health, ServerHealth::Failed | ServerHealth::Enabled);
    let is_near = real.kind != RealKind::Remote && answers;
    let address = real.address.filter(|address| is_near && address.is_ipv4());
    address.map_or_else(|| "0000.0000.0000".to_owned(), neighbour)
}

fn head(page: &mut Page, real: &RealServer, health: ServerHealth) {
    let state = word(health);
    let address = real.address.map_or_else(|| "0.0.0.0".to_owned(), |address| address.to_string());
    page.line(format!("Name: {:<18}State: {state:<20}IP:{address}:   1", real.name));
    page.line(format!(
        "Mac: {:<19}Weight: {:<19}MaxConn: {}",
        mac(real, health),
        real.weight,
        real.max_connections
    ));
    page.line("SrcNAT: not-cfg, not-op                            DstNAT: not-cfg, not-op");
    let remote = if real.kind == RealKind::Remote { "Yes" } else { "No" };
    page.line(format!("Remote server: {remote:<9}Dynamic: No                Server-resets: 0"));
}

/// `master` is the state of the ports that the port follows (Virtual ADX SLB guide p. 49).
fn row(
    port: &str,
    health: ServerHealth,
    master: Option<ServerHealth>,
    counts: Counts,
) -> [String; 10] {
    let mut cells = std::array::from_fn(|_| "0".to_owned());
    port.clone_into(&mut cells[0]);
    code(health).clone_into(&mut cells[1]);
    cells[2] = master.map_or(0, number).to_string();
    cells[3] = counts.current.to_string();
    cells[4] = counts.total.to_string();
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
        ServerHealth::GraceDown => "GDN",
        ServerHealth::AwaitUnbind => "AWU",
        ServerHealth::AwaitDelete => "AWD",
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
        ServerHealth::GraceDown => "Grace-dn",
        ServerHealth::AwaitUnbind => "Await-unbind",
        ServerHealth::AwaitDelete => "Await-delete",
    }
}

/// The number of a state (gslb-show 16.2).
pub(super) const fn number(health: ServerHealth) -> u8 {
    match health {
        ServerHealth::Disabled => 0,
        ServerHealth::Enabled | ServerHealth::Unbound => 1,
        ServerHealth::Failed => 2,
        ServerHealth::GraceDown => 5,
        ServerHealth::Active => 6,
        ServerHealth::AwaitUnbind => 8,
        ServerHealth::AwaitDelete => 9,
    }
}
