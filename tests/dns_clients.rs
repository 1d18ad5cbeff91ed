//! The real program asked by dig, kdig and drill, point by point of what testers hold servers to.
//!
//! Without one of them these tests say so and pass, unless `ADXEMU_REQUIRE_DIG` is set, as `.ci/run`
//! does. Debian: dnsutils, knot-dnsutils, ldnsutils.

#![allow(clippy::unwrap_used, reason = "everything in this crate is part of a test")]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

/// What a run without the tools must not pass over.
const REQUIRE: &str = "ADXEMU_REQUIRE_DIG";

const CONFIGURATION: &str = "\
gslb dns zone example.com
 host-info www http
 host-info www ip-list 192.0.2.1
 host-info www ip-list 192.0.2.2
 host-info www ip-list 2001:db8::1
 host-info a.b http
 host-info a.b ip-list 192.0.2.3
gslb dns zone sub.example.com
 host-info www http
 host-info www ip-list 192.0.2.4
gslb dns zone example.net
 host-info www http
 host-info www ip-list 192.0.2.5
gslb policy
 dns cache-proxy
 dns override
";

/// Whether all three clients are installed.
fn clients_are_here() -> bool {
    let missing = ["dig", "kdig", "drill"]
        .into_iter()
        .find(|client| Command::new(client).arg("-v").output().is_err());
    let Some(missing) = missing else { return true };
    assert!(
        std::env::var_os(REQUIRE).is_none(),
        "{missing} is not installed, and {REQUIRE} is set"
    );
    // The harness shows what is written directly always.
    let mut stderr = std::io::stderr();
    writeln!(stderr, "skipped: {missing} is not installed").unwrap();
    false
}

/// The program while a test asks it.
struct Program {
    child: Child,
    /// Stays open, so that the program can go on writing to it.
    _stderr: BufReader<ChildStderr>,
    address: SocketAddr,
}

impl Program {
    /// Serves the configuration with these options. `name` tells the files of the tests apart.
    fn start(name: &str, options: &[&str]) -> Self {
        Self::start_with(name, CONFIGURATION, options)
    }

    /// The same with another configuration.
    fn start_with(name: &str, configuration: &str, options: &[&str]) -> Self {
        let path: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.cfg"));
        std::fs::write(&path, configuration).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_adxemu"))
            .args(["serve", "--dns", "127.0.0.1:0", "--config"])
            .arg(&path)
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while stderr.read_line(&mut said).unwrap() > 0 {
            let last = said.lines().last().unwrap_or_default();
            if let Some((_, rest)) = last.split_once("DNS answering on ") {
                let address = rest.split(' ').next().unwrap().parse().unwrap();
                return Program { child, _stderr: stderr, address };
            }
        }
        panic!("the program ended with {:?} and said\n{said}", child.wait());
    }

    fn run(&self, client: &str, arguments: &[&str]) -> String {
        let port = self.address.port().to_string();
        let server = format!("@{}", self.address.ip());
        let mut command = Command::new(client);
        match client {
            // `-r` keeps a `.digrc` of the user out.
            "dig" => command.args(["-r", &server, "-p", &port, "+tries=1", "+time=20"]),
            "kdig" => command.args([&server, "-p", &port, "+retry=0", "+time=20"]),
            _ => command.args(["-p", &port, &server]),
        };
        let output = command.args(arguments).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{client} {arguments:?}: {text}");
        text
    }

    /// All that these words must be in what the client prints.
    fn expect(&self, client: &str, arguments: &[&str], words: &[&str]) -> String {
        let text = self.run(client, arguments);
        for word in words {
            assert!(text.contains(word), "{client} {arguments:?}: no `{word}` in\n{text}");
        }
        text
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail when it has ended, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The list of `docs/dns-compliance.md`, as its words describe it, asked with dig.
#[test]
fn the_compliance_list_passes() {
    if !clients_are_here() {
        return;
    }
    let addresses = |host: &str, count: u8| -> String {
        let line = |last| format!(" host-info {host} ip-list 192.0.2.{last}\n");
        (1..=count).map(line).collect()
    };
    let configuration = [
        "gslb dns zone example.com\n host-info www http\n host-info many http\n",
        &addresses("www", 3),
        &addresses("many", 100),
        "gslb policy\n dns cache-proxy\n dns override\n",
    ];
    let program = Program::start_with("compliance", &configuration.concat(), &[]);
    let document = std::fs::read_to_string("docs/dns-compliance.md").unwrap();
    let rows = document.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let mut asked = 0;
    let mut wrong = String::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [what, dig, over_udp, over_tcp] = cells[..] else { panic!("{row}") };
        let mut options: Vec<&str> = dig.trim_matches('`').split(' ').collect();
        let has_name = options[0].contains(".example.") || options.contains(&"+header-only");
        if !has_name {
            options.insert(0, "www.example.com");
        }
        for (transport, expected) in [("+notcp", over_udp), ("+tcp", over_tcp)] {
            let expected = if expected == "the same" { over_udp } else { expected };
            let common = ["+norec", "+noad", "+nocookie", "+noednsneg", "+ignore", transport];
            let arguments: Vec<&str> = common.into_iter().chain(options.iter().copied()).collect();
            let words = in_words(&program.run("dig", &arguments));
            if words != expected {
                writeln!(wrong, "{what}, {transport}: {words}, not {expected}").unwrap();
            }
            asked += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(asked > 60, "only {asked} questions");
}

/// What dig prints in the words of the list.
fn in_words(text: &str) -> String {
    let behind = |mark: &str| text.split_once(mark).map(|(_, rest)| rest);
    let code = behind("status: ").unwrap().split(',').next().unwrap();
    let flags = behind(";; flags: qr").unwrap().split(';').next().unwrap();
    let answers = behind("ANSWER: ").unwrap().split(',').next().unwrap();
    let mut words = format!("{code}{flags}, {answers} answers, ");
    if text.contains("MBZ: 0x") {
        words.insert_str(0, "a reserved flag is set: ");
    }
    let Some(opt) = behind("; EDNS: version: ") else { return words + "no OPT" };
    words += "OPT";
    let mut lines = opt.lines();
    let first = lines.next().unwrap();
    if first != "0, flags:; udp: 1232" {
        write!(words, " saying {first}").unwrap();
    }
    for option in lines.take_while(|line| line.starts_with("; ")) {
        let name = option[2..].split(':').next().unwrap();
        write!(words, " with {name}").unwrap();
    }
    words
}

#[test]
fn cookies_are_good_to_all_of_them() {
    if !clients_are_here() {
        return;
    }
    let program = Program::start("cookies", &[]);
    let text = program.expect("dig", &["www.example.com", "+cookie"], &["COOKIE: ", "(good)"]);
    let cookie = text.split("COOKIE: ").nth(1).unwrap().split(' ').next().unwrap();
    assert_eq!(cookie.len(), 48);
    let again = format!("+cookie={cookie}");
    program.expect("dig", &["www.example.com", &again], &["status: NOERROR", cookie]);
    program.expect("dig", &["+header-only", "+cookie"], &["status: NOERROR", "QUERY: 0", "(good)"]);
    program.expect("dig", &["+header-only", &again], &["status: NOERROR", cookie]);
    let forged = format!("+cookie={}0000", &cookie[..44]);
    program.expect("dig", &["+header-only", &forged], &["BADCOOKIE, retrying"]);
    program.expect("kdig", &["www.example.com", "+cookie"], &["status: NOERROR", ";; COOKIE: "]);
    // A cookie of a length that cannot be.
    program.expect(
        "dig",
        &["www.example.com", "+nocookie", "+ednsopt=10:0102"],
        &["status: FORMERR"],
    );
}

#[test]
fn refusals_have_their_reason() {
    if !clients_are_here() {
        return;
    }
    let program = Program::start("reasons", &[]);
    for client in ["dig", "kdig"] {
        let unknown = ["nowhere.example.org", "+edns=0"];
        program.expect(client, &unknown, &["status: REFUSED", "EDE: 20 (Not Authoritative)"]);
    }
    program.expect("dig", &["www.example.com", "AXFR", "+edns=0"], &["Transfer failed"]);
    program.expect("dig", &["version.bind", "TXT", "CH", "+edns=0"], &["REFUSED", "EDE: 21"]);
    let text = program.expect("dig", &["nowhere.example.org", "+noedns"], &["status: REFUSED"]);
    assert!(!text.contains("EDE"), "{text}");
    program.expect("drill", &["nowhere.example.org"], &["rcode: REFUSED"]);
    program.expect("dig", &["www.example.com", "+opcode=notify"], &["status: NOTIMP"]);
}

#[test]
fn names_are_found_as_the_book_has_it() {
    if !clients_are_here() {
        return;
    }
    let program = Program::start("names", &[]);
    for client in ["dig", "kdig", "drill"] {
        if client != "kdig" {
            // The spelling of the question is kept; kdig changes it before it asks.
            program.expect(client, &["wWw.eXample.Com"], &["wWw.eXample.Com.\t", "192.0.2.1"]);
        }
        // The longest zone wins, and the same host name in several zones is several names.
        let text = program.expect(client, &["www.sub.example.com"], &["192.0.2.4"]);
        assert!(!text.contains("192.0.2.1"), "{text}");
        program.expect(client, &["www.example.net"], &["192.0.2.5"]);
        // An empty non-terminal exists, and what has no such type too.
        for arguments in
            [&["b.example.com"][..], &["www.example.net", "AAAA"], &["a.b.example.com", "MX"]]
        {
            let text = program.expect(client, arguments, &["NOERROR", "ANSWER: 0", "AUTHORITY: 0"]);
            assert!(text.contains(" aa"), "{text}");
        }
        program.expect(client, &["www.example.com", "AAAA"], &["2001:db8::1"]);
    }
}

#[test]
fn strict_negative_answers_have_an_soa() {
    if !clients_are_here() {
        return;
    }
    let program = Program::start("strict", &["--strict-dns"]);
    for client in ["dig", "kdig", "drill"] {
        let soa = ["AUTHORITY: 1", "SOA", "hostmaster."];
        for (name, zone) in [
            ("www.example.com", "example.com."),
            ("b.example.com", "example.com."),
            ("www.sub.example.com", "sub.example.com."),
        ] {
            let text = program.expect(client, &[name, "MX"], &soa);
            let line = text.lines().find(|line| line.contains("SOA")).unwrap();
            assert!(line.starts_with(zone), "{line}");
        }
    }
}

#[test]
fn one_connection_takes_several_questions() {
    if !clients_are_here() {
        return;
    }
    let program = Program::start("tcp", &[]);
    let names = ["www.example.com", "www.sub.example.com", "www.example.net"];
    let arguments: Vec<&str> = ["+tcp", "+keepopen"].iter().chain(&names).copied().collect();
    for client in ["dig", "kdig"] {
        let text = program.expect(client, &arguments, &["192.0.2.1", "192.0.2.4", "192.0.2.5"]);
        assert_eq!(text.matches("status: NOERROR").count(), 3, "{text}");
    }
    program.expect("drill", &["-t", "www.example.com"], &["rcode: NOERROR", "192.0.2.1"]);
}
