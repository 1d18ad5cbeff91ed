//! `show gslb site` (guide p. 165 to 167): the site devices and what they report.
//!
//! The pages themselves were not available; the words are those of the device family, the layout
//! is ours.

use std::sync::atomic::Ordering;

use super::page::Page;
use super::table::{Block, Column};
use super::{DEVICE_WORD, facts};
use crate::health::state::{Connection, ReportedVip};
use crate::model::policy::Metric;
use crate::model::snapshot::{ProtocolPort, Site, SiteServer, Snapshot};

const REPORT: [Column; 5] = [
    Column::left(&["Current num.", "sessions"], 0),
    Column::left(&["Session", "util(%)"], 0).gap(2),
    Column::left(&["CPU load", "(%)"], 0).gap(4),
    Column::left(&["Preference"], 0).gap(4),
    Column::left(&["Location"], 0).gap(4),
];

const VIPS: [Column; 2] = [Column::left(&[], 25), Column::left(&[], 0).gap(2)];

/// `show gslb site [<site>]` (guide p. 165); `None` if there is no site of that name.
pub fn sites(snapshot: &Snapshot, site: Option<&str>) -> Option<String> {
    let mut page = Page::default();
    print_port(&mut page, snapshot.protocol_port);
    match site {
        Some(name) => print_site(&mut page, snapshot, snapshot.site(name)?),
        None => {
            for site in &snapshot.sites {
                print_site(&mut page, snapshot, site);
            }
        }
    }
    Some(page.finish())
}

/// The port of the protocol, if it is or will be another one than usual; the line is ours.
fn print_port(page: &mut Page, port: ProtocolPort) {
    let ProtocolPort { live, configured } = port;
    if port == ProtocolPort::default() {
        return;
    }
    page.part();
    if live == configured {
        page.line(format!("GSLB protocol port: {live}"));
    } else {
        page.line(format!("GSLB protocol port: {live}, {configured} after saving and a restart"));
    }
}

fn print_site(page: &mut Page, snapshot: &Snapshot, site: &Site) {
    page.part();
    page.line(format!("SITE: {}", site.name));
    for id in &site.servers {
        print_server(page, snapshot, &snapshot.servers[id.index()]);
    }
}

fn print_server(page: &mut Page, snapshot: &Snapshot, server: &SiteServer) {
    page.part();
    match &server.name {
        Some(name) => page.line(format!("{DEVICE_WORD}: {name} {}:", server.address)),
        None => page.line(format!("{DEVICE_WORD}: {}:", server.address)),
    }
    page.line(format!("state: {}", state_words(server)));
    page.part();
    page.block(0, &Block::new(&REPORT, &[report(snapshot, server)]));
    if snapshot.global_policy().metrics.contains(&Metric::ConnectionLoad) {
        page.part();
        page.line(load_line(snapshot, server));
    }
    page.part();
    page.line("Virtual IPs:");
    let vips: Vec<String> = server.state.vips().iter().map(vip).collect();
    let pairs: Vec<[String; 2]> = vips
        .chunks(2)
        .map(|pair| [pair[0].clone(), pair.get(1).cloned().unwrap_or_default()])
        .collect();
    page.block(0, &Block::new(&VIPS, &pairs));
}

/// The state of the connection; the words for a connection that was lost are ours.
fn state_words(server: &SiteServer) -> &'static str {
    if server.is_self {
        return "SELF";
    }
    match server.state.connection() {
        Connection::Established => "CONNECTION ESTABLISHED",
        Connection::Attempting => "ATTEMPTING CONNECTION",
        Connection::Down => "CONNECTION DOWN",
    }
}

/// What the device reports, `--` if it has stopped, and what is configured for it.
fn report(snapshot: &Snapshot, server: &SiteServer) -> [String; 5] {
    let [used, utilisation, cpu] = match facts::sessions(server) {
        Some(sessions) => [
            sessions.used.to_string(),
            sessions.utilisation().to_string(),
            server.state.cpu.load(Ordering::Relaxed).to_string(),
        ],
        None => ["--"; 3].map(str::to_owned),
    };
    let location = facts::server_location(snapshot, server).display();
    [used, utilisation, cpu, server.preference.to_string(), location.to_owned()]
}

/// The average that the connection load metric compares with its limit; the line is ours.
fn load_line(snapshot: &Snapshot, server: &SiteServer) -> String {
    let parameters = &snapshot.global_policy().connection_load;
    let average = server.state.load().average(parameters).filter(|_| facts::is_reporting(server));
    match average {
        Some(average) => format!("Connection load: {}", average.whole()),
        None => "Connection load: --".to_owned(),
    }
}

/// A VIP with the letter of its state: active, or standby of a pair (guide p. 162).
fn vip(vip: &ReportedVip) -> String {
    format!("{}({})", vip.address, if vip.standby { 'S' } else { 'A' })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::sample::Sample;

    /// The guide's running example (p. 187) with the numbers of the old reference.
    fn guide() -> Sample {
        let mut sample = Sample::new();
        sample.site("sunnyvale", 0).server(Some("slb-1"), "209.157.22.209");
        sample.vip("209.157.22.227").vip("209.157.22.103").sessions(500_000, 1_000_000);
        sample.cpu(35);
        sample.server(Some("slb-2"), "209.157.22.210");
        sample.standby_vip("209.157.22.227").sessions(1, 1_000_000).cpu(35);
        sample
    }

    const GUIDE: &str = "\
SITE: sunnyvale

SI: slb-1 209.157.22.209:
state: CONNECTION ESTABLISHED

Current num.  Session    CPU load    Preference    Location
sessions      util(%)    (%)
500000        50         35          128           N-AM

Virtual IPs:
209.157.22.227(A)          209.157.22.103(A)

SI: slb-2 209.157.22.210:
state: CONNECTION ESTABLISHED

Current num.  Session    CPU load    Preference    Location
sessions      util(%)    (%)
1             0          35          128           N-AM

Virtual IPs:
209.157.22.227(S)
";

    #[test]
    fn the_running_example_of_the_guide() {
        let snapshot = guide().snapshot();
        assert_eq!(sites(&snapshot, None).unwrap(), GUIDE);
        assert_eq!(sites(&snapshot, Some("Sunnyvale")).unwrap(), GUIDE);
        assert_eq!(sites(&snapshot, Some("sunny")), None);
    }

    #[test]
    fn devices_without_name_connection_or_vips() {
        let mut sample = Sample::new();
        sample.site("empty", 0).site("two", 0).server(None, "2001:db8::1");
        sample.vip("2001:db8:1111:2222:3333:4444:5555:6666").vip("192.0.2.1").vip("192.0.2.2");
        sample.sessions(12_345_678_901_234, 0).server(None, "192.0.2.9");
        let mut snapshot = sample.snapshot();
        snapshot.servers[0].is_self = true;
        snapshot.servers[0].preference = 0;
        snapshot.servers[1].state.set_connection(Connection::Attempting);
        let expected = "\
SITE: empty

SITE: two

SI: 2001:db8::1:
state: SELF

Current num.    Session    CPU load    Preference    Location
sessions        util(%)    (%)
12345678901234  0          0           0             N-AM

Virtual IPs:
2001:db8:1111:2222:3333:4444:5555:6666(A)  192.0.2.1(A)
192.0.2.2(A)

SI: 192.0.2.9:
state: ATTEMPTING CONNECTION

Current num.  Session    CPU load    Preference    Location
sessions      util(%)    (%)
--            --         --          128           N-AM

Virtual IPs:
";
        assert_eq!(sites(&snapshot, None).unwrap(), expected);
    }

    #[test]
    fn a_lost_connection_shows_no_data_and_keeps_the_vips() {
        let snapshot = guide().snapshot();
        snapshot.servers[1].state.set_connection(Connection::Down);
        let text = sites(&snapshot, None).unwrap();
        assert!(text.contains("209.157.22.210:\nstate: CONNECTION DOWN\n"), "{text}");
        assert!(text.ends_with("Virtual IPs:\n209.157.22.227(S)\n"), "{text}");
    }

    #[test]
    fn two_reads_are_identical() {
        let snapshot = guide().snapshot();
        assert_eq!(sites(&snapshot, None), sites(&snapshot, None));
    }
}
