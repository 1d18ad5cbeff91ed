//! Real DNS servers of other makes behind the proxy: Knot and NSD with a zone file, asked through the
//! program by dig.

use std::fs;
use std::process::Command;
use std::time::Instant;

use super::program::{BOUND, Program, are_here};
use super::server::Server;

/// Whose server it is.
#[derive(Clone, Copy, Debug)]
enum Make {
    /// Debian: knot.
    Knot,
    /// Debian: nsd.
    Nsd,
}

const EACH: [Make; 2] = [Make::Knot, Make::Nsd];

impl Make {
    const fn program(self) -> &'static str {
        match self {
            Make::Knot => "knotd",
            Make::Nsd => "nsd",
        }
    }

    /// Its configuration: everything in one folder, one socket on the loopback address, no limit on
    /// how often the same client asks.
    fn configuration(self, folder: &str, port: u16) -> String {
        match self {
            Make::Knot => format!(
                "\
server:
    rundir: \"{folder}\"
    listen: 127.0.0.1@{port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: info
database:
    storage: \"{folder}\"
template:
  - id: default
    storage: \"{folder}\"
    zonefile-sync: -1
    journal-content: none
zone:
  - domain: example.com
    file: zone
"
            ),
            Make::Nsd => format!(
                "\
server:
    ip-address: 127.0.0.1@{port}
    server-count: 1
    username: \"\"
    chroot: \"\"
    zonesdir: \"{folder}\"
    zonelistfile: \"{folder}/zones\"
    xfrdfile: \"{folder}/transfers\"
    xfrdir: \"{folder}\"
    pidfile: \"{folder}/nsd.pid\"
    database: \"\"
    rrl-ratelimit: 0
remote-control:
    control-enable: no
zone:
    name: example.com
    zonefile: zone
"
            ),
        }
    }

    /// Starts it and gives it this zone.
    fn start(self, zone: &str) -> Server {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("zone"), zone).unwrap();
        // NSD stays in the foreground only if told so; Knot does by itself.
        let arguments: &[&str] = if matches!(self, Make::Nsd) { &["-d", "-c"] } else { &["-c"] };
        let marks = ["server started", "nsd started"];
        Server::start(self.program(), arguments, folder, &marks, |folder, port| {
            self.configuration(folder, port)
        })
    }
}

/// Serves another zone, and waits until the server does.
fn reload(server: &Server, zone: &str, question: &str, answer: &str) {
    fs::write(server.folder.path().join("zone"), zone).unwrap();
    server.signal("-HUP");
    let started = Instant::now();
    loop {
        let port = server.port.to_string();
        let arguments = ["-r", "@127.0.0.1", "-p", &port, question, "+short", "+time=20"];
        let output = Command::new("dig").args(arguments).output().unwrap();
        if String::from_utf8(output.stdout).unwrap().lines().any(|line| line == answer) {
            return;
        }
        assert!(started.elapsed() < BOUND, "no {answer} after the reload");
    }
}

/// The zone that is served, with these addresses of `www`.
fn zone(serial: u32, www: &[&str]) -> String {
    use std::fmt::Write as _;
    let mut text = format!(
        "\
$ORIGIN example.com.
$TTL 300
@ SOA ns1 hostmaster {serial} 3600 900 604800 60
@ NS ns1
ns1 A 192.0.2.53
ftp A 192.0.2.21
six AAAA 2001:db8::6
alias CNAME www
resolver A 127.0.0.1
"
    );
    for address in www {
        writeln!(text, "www A {address}").unwrap();
    }
    for last in 1..=100 {
        writeln!(text, "many A 192.0.2.{last}").unwrap();
    }
    text
}

/// The appliance before a server at this port.
fn configuration(port: u16, more: &str) -> String {
    format!(
        "\
server real ns-1 192.0.2.53
 port dns
 port dns proxy
!
server virtual vip 198.51.100.53
 port dns
 bind dns ns-1 dns
!
gslb dns zone example.com
 host-info www http
!
{more}
emulate map 192.0.2.53 dns 127.0.0.1:{port}
"
    )
}

fn are_servers_here() -> bool {
    // Both want an argument and then end.
    are_here(&["knotd", "nsd"], "-h") && are_here(&["dig"], "-v")
}

/// The addresses that dig prints.
fn addresses(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("192.0.2.")).collect()
}

/// Reports U22 and U23.
#[test]
fn plain_proxy_puts_the_best_address_on_top() {
    if !are_servers_here() {
        return;
    }
    for make in EACH {
        let server = make.start(&zone(1, &["192.0.2.1", "192.0.2.2"]));
        let text = configuration(server.port, "");
        let mut program = Program::shell(&format!("proxy-{make:?}"), &text, &["--live=mapped"]);
        // Both, as often as each other; who is first the least selected one says.
        let firsts: Vec<String> = (0..6)
            .map(|_| {
                let printed = program.ask("dig", &["www.example.com", "+short"]);
                assert_eq!(addresses(&printed).len(), 2, "{printed}");
                addresses(&printed)[0].to_owned()
            })
            .collect();
        assert!(firsts.chunks(2).all(|pair| pair[0] != pair[1]), "{firsts:?}");
        let header =
            ["status: NOERROR", "flags: qr aa rd;", "ANSWER: 2", "\t10\tIN\tA\t192.0.2.1\n"];
        for transport in ["+notcp", "+tcp"] {
            program.expect("dig", &["www.example.com", transport], &header);
        }
        let kept = program.expect("dig", &["wWw.eXample.com"], &["wWw.eXample.com.\t"]);
        assert!(!kept.contains("www.example.com"), "{kept}");
        // Names and types that are not balanced come back as the server has them.
        program.expect("dig", &["ftp.example.com"], &["\t300\tIN\tA\t192.0.2.21"]);
        program.expect("dig", &["six.example.com", "AAAA"], &["\t300\tIN\tAAAA\t2001:db8::6"]);
        let negative = ["flags: qr aa rd;", "ANSWER: 0, AUTHORITY: 1", "SOA\tns1.example.com."];
        program.expect("dig", &["www.example.com", "MX"], &[&negative[..], &["NOERROR"]].concat());
        let absent = ["nowhere.example.com"];
        program.expect("dig", &absent, &[&negative[..], &["status: NXDOMAIN"]].concat());
        program.expect("dig", &["www.example.net"], &["status: REFUSED", "ANSWER: 0"]);
        // An alias is not followed, so its addresses keep TTL and order.
        let alias =
            ["CNAME\twww.example.com.", "\t300\tIN\tA\t192.0.2.1", "\t300\tIN\tA\t192.0.2.2"];
        program.expect("dig", &["alias.example.com"], &alias);
        // A hundred addresses: the server is asked over TCP, the client gets what fits, or all.
        let cut = ["many.example.com", "+ignore", "+noedns"];
        program.expect("dig", &cut, &["flags: qr aa tc rd;", "ANSWER: 28,"]);
        program.expect("dig", &["many.example.com"], &["Truncated, retrying", "ANSWER: 100,"]);
        program.expect("dig", &["many.example.com", "+tcp"], &["flags: qr aa rd;", "ANSWER: 100,"]);
        let known = program.run("show gslb dns zone");
        assert!(known.contains("* 192.0.2.1:       dns  real-ip"), "{known}");
    }
}

/// Report U22.
#[test]
fn an_alias_is_followed_if_it_is_to_be_detected() {
    if !are_servers_here() {
        return;
    }
    for make in EACH {
        let server = make.start(&zone(1, &["192.0.2.1", "192.0.2.2"]));
        let text = configuration(server.port, "gslb policy\n dns cname-detect\n!");
        let program = Program::serve(&format!("alias-{make:?}"), &text, &["--live=mapped"]);
        let ask = || {
            let words = ["\t10\tIN\tCNAME\twww.example.com.", "\t10\tIN\tA\t192.0.2.1\n"];
            program.expect("dig", &["alias.example.com"], &words);
            program.ask("dig", &["alias.example.com", "+short"])
        };
        let (first, second) = (ask(), ask());
        assert_eq!(addresses(&first), addresses(&second), "every second one is not seen");
        let other = program.ask("dig", &["alias.example.com", "+short"]);
        assert_ne!(addresses(&other), addresses(&first), "the best changes");
    }
}

#[test]
fn cache_proxy_learns_and_outlives_the_server() {
    const SHOW: &str = "show gslb dns zone";
    if !are_servers_here() {
        return;
    }
    for make in EACH {
        let server = make.start(&zone(1, &["192.0.2.1", "192.0.2.2"]));
        let text = configuration(server.port, "gslb policy\n dns cache-proxy\n!");
        let mut program = Program::shell(&format!("cache-{make:?}"), &text, &["--live=mapped"]);
        program.run_until(SHOW, &["* 192.0.2.1:", "* 192.0.2.2:"]);
        let www = ["www.example.com"];
        let own = program.expect("dig", &www, &["flags: qr aa rd;", "ANSWER: 2", "\t10\tIN\tA\t"]);
        assert!(own.contains("192.0.2.1") && own.contains("192.0.2.2"), "{own}");
        let counted = program.run("show gslb global-stat");
        assert!(counted.contains("  Direct response    =          1\n"), "{counted}");

        reload(&server, &zone(2, &["192.0.2.7", "192.0.2.8"]), "www.example.com", "192.0.2.7");
        program.expect("dig", &www, &["192.0.2.1"]);
        program.run("emulate clock advance 30");
        program.run_until(SHOW, &["* 192.0.2.7:", "* 192.0.2.8:"]);
        program.expect("dig", &www, &["ANSWER: 2", "192.0.2.7", "192.0.2.8"]);
        program.expect("dig", &["ftp.example.com"], &["192.0.2.21"]);

        // Without the server what was learned is answered, and nothing else is made up.
        drop(server);
        let mut dig = program.client("dig");
        let nothing = dig.args(["ftp.example.com", "+time=1"]).output().unwrap();
        assert!(!nothing.status.success(), "{}", String::from_utf8_lossy(&nothing.stdout));
        program.expect("dig", &www, &["ANSWER: 2", "192.0.2.7", "192.0.2.8"]);
        program.run_until("", &["no DNS server behind answers"]);

        let other = make.start(&zone(3, &["192.0.2.3"]));
        program.run(&format!("emulate map 192.0.2.53 dns 127.0.0.1:{}", other.port));
        program.run_until(SHOW, &["* 192.0.2.3:"]);
        program.expect("dig", &www, &["ANSWER: 1", "192.0.2.3"]);
        program.expect("dig", &["ftp.example.com"], &["192.0.2.21"]);
    }
}

/// `ip-hostname` in a user record of an SNA gateway domain: the name of who asks is looked up there.
#[test]
fn who_asks_is_known_by_a_name_in_the_server() {
    if !are_servers_here() {
        return;
    }
    for make in EACH {
        let server = make.start(&zone(1, &["192.0.2.1"]));
        let domain = "\
sna-domain sna.example.com
 system gw1 192.0.2.11
 lu LU01 system gw1 pool POOL-1
 user-record SITE1 default-resource POOL-1
 user-record SITE1 ip-hostname resolver.example.com
!";
        let text = configuration(server.port, domain);
        let mut program = Program::shell(&format!("sna-{make:?}"), &text, &["--live=mapped"]);
        program.run_until(
            "emulate query glb.sna.example.com",
            &["NOERROR aa  answer 1", "IN A 192.0.2.11"],
        );
        let glb = "glb.sna.example.com";
        program.expect("dig", &["-b", "127.0.0.1", glb], &["status: NOERROR", "192.0.2.11"]);
        program.expect("dig", &["-b", "127.0.0.2", glb], &["status: NXDOMAIN"]);
    }
}
