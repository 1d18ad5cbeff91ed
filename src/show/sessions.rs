//! `show session all` and `show session detail` (guide p. 68): the sessions of sticky persistence.

use super::page::Page;
use super::table::{Block, Column};
use crate::clock::Moment;
use crate::gslb::sticky::StickySession;
use crate::model::snapshot::{Host, Snapshot};

const COLUMNS: [Column; 9] = [
    Column::left(&["Index", "====="], 5),
    Column::left(&["Src-IP", "======"], 15),
    Column::left(&["Dst-IP", "======"], 15),
    Column::left(&["S-port", "======"], 6),
    Column::left(&["D-port", "======"], 6),
    Column::left(&["Age", "==="], 3),
    Column::left(&["Next", "===="], 6),
    Column::left(&["Serv", "===="], 4),
    Column::left(&["Flags", "========="], 0),
];

/// What marks a sticky session in the table of all sessions (guide p. 68).
const STICKY_DESTINATION: &str = "255.0.255.0";
const STICKY_PORTS: [&str; 2] = ["7", "8"];
const STICKY_FLAGS: &str = "SLB3 H";

/// The age, in minutes, at which a session is removed (guide p. 68).
const LAST_AGE: u64 = 62;

/// `show session all [<offset>]`: the sticky sessions, from this index on. Sessions of other kinds
/// are not emulated.
pub fn sessions(snapshot: &Snapshot, now: Moment, offset: usize) -> String {
    let rows: Vec<[String; COLUMNS.len()]> =
        list(snapshot, now).iter().enumerate().skip(offset).map(row).collect();
    let mut page = Page::default();
    page.line("Session Info:");
    page.line("Flags - 0:UDP, 1:TCP, 2:IP, 3:INT, 4:INVD, H: sessInHash, N: sessInNextEntry");
    page.block(0, &Block::new(&COLUMNS, &rows));
    page.finish()
}

/// `show session detail [<index>]`: one sticky session, or all; `None` if there is no such session.
///
/// The address behind `by` is that of the device itself, which is left out if it has none.
pub fn session_detail(snapshot: &Snapshot, now: Moment, index: Option<usize>) -> Option<String> {
    let list = list(snapshot, now);
    let mut page = Page::default();
    let chosen = match index {
        None => 0..list.len(),
        Some(index) => index..index.checked_add(1).filter(|end| *end <= list.len())?,
    };
    for index in chosen {
        let Listed { host, session, .. } = &list[index];
        let by = snapshot.own_addresses.first().map(|own| format!(" by {own}"));
        page.line(format!("Session at index: {index}"));
        page.line(format!("sticky GSLB session for client {}", session.clients.network()));
        page.line(format!(
            "query name {}: selected IP {}{}",
            host.domain_name,
            session.address,
            by.unwrap_or_default()
        ));
    }
    Some(page.finish())
}

struct Listed<'a> {
    host: &'a Host,
    session: StickySession,
    /// Seconds for which it lives on.
    remaining: u64,
}

/// The living sessions, host by host, the one idle for the longest time first.
fn list(snapshot: &Snapshot, now: Moment) -> Vec<Listed<'_>> {
    let mut all = Vec::new();
    for host in &snapshot.hosts {
        let Some(parameters) = &snapshot.policy_of(host).sticky else { continue };
        let sessions = host.domain.lock().sticky.list(parameters, now);
        all.extend(sessions.into_iter().map(|session| Listed {
            host,
            session,
            remaining: session.remaining(parameters, now),
        }));
    }
    all
}

fn row((index, listed): (usize, &Listed<'_>)) -> [String; COLUMNS.len()] {
    let age = LAST_AGE.saturating_sub(listed.remaining.div_ceil(60));
    let [source_port, destination_port] = STICKY_PORTS.map(str::to_owned);
    [
        index.to_string(),
        listed.session.clients.network().to_string(),
        STICKY_DESTINATION.to_owned(),
        source_port,
        destination_port,
        age.to_string(),
        "000000".to_owned(),
        "n/a".to_owned(),
        STICKY_FLAGS.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::{World, ip};
    use crate::model::policy::Sticky;

    fn world() -> World {
        let sticky = Sticky { prefix_length: 24, ..Sticky::default() };
        let mut world = World::new()
            .policy(|policy| policy.sticky = Some(sticky))
            .host("www.gslb.com", &["100.1.1.10"]);
        world.snapshot.own_addresses.push(ip("100.1.1.11"));
        world.client = ip("100.1.1.7");
        world.run("www.gslb.com", 1);
        world.now = world.now.plus_secs(61);
        world.client = ip("100.1.2.7");
        world.run("www.gslb.com", 1);
        world
    }

    #[test]
    fn sessions_with_their_age() {
        let world = world();
        let expected = "\
Session Info:
Flags - 0:UDP, 1:TCP, 2:IP, 3:INT, 4:INVD, H: sessInHash, N: sessInNextEntry
Index Src-IP          Dst-IP          S-port D-port Age Next   Serv Flags
===== ======          ======          ====== ====== === ====   ==== =========
0     100.1.1.0       255.0.255.0     7      8      58  000000 n/a  SLB3 H
1     100.1.2.0       255.0.255.0     7      8      57  000000 n/a  SLB3 H
";
        assert_eq!(sessions(&world.snapshot, world.now, 0), expected);
        let from_one = sessions(&world.snapshot, world.now, 1);
        assert!(from_one.ends_with("=========\n1     100.1.2.0       255.0.255.0     7      8      57  000000 n/a  SLB3 H\n"));
        assert_eq!(sessions(&world.snapshot, world.now, 2).lines().count(), 4);
    }

    #[test]
    fn one_session_in_detail() {
        let world = world();
        let detail = |index| session_detail(&world.snapshot, world.now, index);
        let expected = "\
Session at index: 1
sticky GSLB session for client 100.1.2.0
query name www.gslb.com: selected IP 100.1.1.10 by 100.1.1.11
";
        assert_eq!(detail(Some(1)).as_deref(), Some(expected));
        assert_eq!(detail(Some(2)), None);
        assert_eq!(detail(Some(usize::MAX)), None);
        assert_eq!(detail(None).unwrap().lines().count(), 6);
    }
}
