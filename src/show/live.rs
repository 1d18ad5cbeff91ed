//! `show emulate live` (ours): who is checked over the network, and with which result.

use std::net::IpAddr;

use super::PortNames;
use super::page::Page;
use super::table::{Block, Column};
use crate::clock::Moment;
use crate::health::state::States;
use crate::live::gate::{Allowed, Gate};
use crate::live::timetable::{Entry, Finding, Timetable};
use crate::model::check_rules::{Greeting, Protocol};
use crate::model::snapshot::Application;

const COLUMNS: [Column; 8] = [
    Column::left(&["Address", "-------"], 15),
    Column::left(&["Port", "----"], 7).gap(2),
    Column::left(&["Check", "-----"], 6).gap(2),
    Column::left(&["Goes to", "-------"], 15).gap(2),
    Column::left(&["State", "-----"], 8).gap(2),
    Column::right(&["Fails", "-----"], 5).gap(2),
    Column::right(&["Next", "----"], 5).gap(2),
    Column::left(&["Last result", "-----------"], 11).gap(2),
];

/// `show emulate live`.
pub fn live(
    gate: &Gate,
    states: &States,
    timetable: &Timetable,
    names: PortNames<'_>,
    now: Moment,
) -> String {
    let mut page = Page::default();
    page.line(match gate.allowed() {
        Allowed::Nothing => "Nothing is sent: the program was started without --live",
        Allowed::Mapped => "Checks go where emulate map leads, and nowhere else",
        Allowed::All => "Checks go to the configured addresses, or where emulate map leads",
    });
    let rows: Vec<[String; 8]> = timetable
        .entries()
        .map(|((address, application), entry)| {
            row(gate, states, *address, *application, entry, names, now)
        })
        .collect();
    if gate.allowed() == Allowed::Nothing {
        return page.finish();
    }
    if rows.is_empty() {
        page.line("Nothing is checked");
        return page.finish();
    }
    page.line("");
    page.block(0, &Block::new(&COLUMNS, &rows));
    page.finish()
}

fn row(
    gate: &Gate,
    states: &States,
    address: IpAddr,
    application: Application,
    entry: &Entry,
    names: PortNames<'_>,
    now: Moment,
) -> [String; 8] {
    let is_said = states.address(address).is_said(application);
    let state = match entry.is_up {
        _ if is_said => "emulated",
        Some(true) => "ACTIVE",
        Some(false) => "DOWN",
        None => "-",
    };
    let next = match entry.due {
        Some(due) if !is_said => format!("{} s", due.since(now).as_secs()),
        _ => "-".to_owned(),
    };
    [
        address.to_string(),
        names(application),
        word(&entry.check.protocol).to_owned(),
        gate.route(address, application.0)
            .map_or_else(|_| "-".to_owned(), |route| route.to_string()),
        state.to_owned(),
        entry.failures.to_string(),
        next,
        entry.last.as_ref().map_or_else(|| "-".to_owned(), result),
    ]
}

/// The names of the checks are those of the applications.
fn word(protocol: &Protocol) -> &'static str {
    match protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
        Protocol::Dns(_) => "dns",
        Protocol::Http(_) => "http",
        Protocol::Ssl => "ssl",
        Protocol::Ldap => "ldap",
        Protocol::Greeting(Greeting::Ftp) => "ftp",
        Protocol::Greeting(Greeting::Smtp) => "smtp",
        Protocol::Greeting(Greeting::Pop3) => "pop3",
        Protocol::Greeting(Greeting::Imap4) => "imap4",
        Protocol::Greeting(Greeting::Nntp) => "nntp",
        Protocol::Greeting(Greeting::Telnet) => "telnet",
    }
}

fn result(finding: &Finding) -> String {
    match finding {
        Finding::Passed { connection, application } => {
            let times: Vec<String> = [("connected", connection), ("answered", application)]
                .into_iter()
                .filter_map(|(what, time)| {
                    time.map(|time| format!("{what} in {:.1} ms", time.as_secs_f64() * 1000.0))
                })
                .collect();
            if times.is_empty() { "not closed".to_owned() } else { times.join(", ") }
        }
        Finding::Failed { reason, .. } => reason.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::live::timetable::Plan;
    use crate::model::check_rules::Check;

    const FIRST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const SECOND: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn check(protocol: Protocol) -> Arc<Check> {
        Arc::new(Check { protocol, interval: 5, retries: 3, keepalive: true, fast_bringup: true })
    }

    fn names(port: Application) -> String {
        if port.0 == 443 { "ssl".to_owned() } else { port.0.to_string() }
    }

    #[test]
    fn each_target_has_its_line() {
        let (gate, states, mut table) = (Gate::default(), States::default(), Timetable::default());
        let shown = |gate: &Gate, table: &Timetable| {
            live(gate, &states, table, &names, Moment::ZERO.plus_secs(2))
        };
        assert_eq!(
            shown(&gate, &table),
            "Nothing is sent: the program was started without --live\n"
        );
        gate.open(Allowed::All);
        gate.map(SECOND, 8080, "localhost:80");
        assert!(shown(&gate, &table).ends_with("\nNothing is checked\n"));
        let plan: Plan = [
            ((FIRST, Application(443)), check(Protocol::Ssl)),
            ((FIRST, Application(8080)), check(Protocol::Tcp)),
            ((SECOND, Application(8080)), check(Protocol::Udp)),
        ]
        .into();
        table.follow(plan, Moment::ZERO);
        let job = table.start_next(Moment::ZERO).unwrap();
        let finding = Finding::Passed {
            connection: Some(Duration::from_micros(250)),
            application: Some(Duration::from_millis(12)),
        };
        table.finish(&job, finding);
        let job = table.start_next(Moment::ZERO).unwrap();
        let reason = "connection refused".to_owned();
        table.finish(&job, Finding::Failed { connected: false, reason });
        states.address(SECOND).set_up(None, false);
        assert_eq!(
            shown(&gate, &table),
            "\
Checks go to the configured addresses, or where emulate map leads

Address          Port     Check   Goes to          State     Fails   Next  Last result
-------          ----     -----   -------          -----     -----   ----  -----------
192.0.2.1        ssl      ssl     192.0.2.1:443    ACTIVE        0    3 s  connected in 0.2 ms, answered in 12.0 ms
192.0.2.1        8080     tcp     192.0.2.1:8080   DOWN          1    3 s  connection refused
192.0.2.2        8080     udp     localhost:80     emulated      0      -  -
"
        );
    }
}
