//! What the appliance itself asks a real DNS server behind: the addresses of its hosts, and of the
//! host names in user records of SNA gateway domains.

use std::collections::BTreeMap;
use std::net::{IpAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use adxemu::appliance::Appliance;
use adxemu::cli::session::Session;
use adxemu::dns::client::ClientQuery;

use super::behind::{CONFIGURATION, served_with};
use super::messages::{A, AAAA};
use super::scripted::{answer_with, code};
use super::world::{PATIENCE, Served, any_port};

const NXDOMAIN: u8 = 3;
const SERVFAIL: u8 = 2;

/// What a server says to a question.
#[derive(Clone)]
enum Said {
    Addresses(Vec<IpAddr>),
    Code(u8),
    Nothing,
}

/// A DNS server over UDP, and what it was asked. A question that nothing was said of is one for a
/// name that does not exist.
#[derive(Default)]
struct Behind {
    said: Mutex<BTreeMap<(String, u16), Said>>,
    asked: Mutex<Vec<(String, u16)>>,
}

impl Behind {
    fn start() -> (Arc<Self>, u16) {
        let behind = Arc::new(Behind::default());
        let socket = UdpSocket::bind(any_port()).unwrap();
        let port = socket.local_addr().unwrap().port();
        let answering = Arc::clone(&behind);
        thread::spawn(move || {
            let mut buffer = [0; 512];
            while let Ok((length, client)) = socket.recv_from(&mut buffer) {
                if let Some(reply) = answering.reply(&buffer[..length]) {
                    socket.send_to(&reply, client).unwrap();
                }
            }
        });
        (behind, port)
    }

    fn reply(&self, asked: &[u8]) -> Option<Vec<u8>> {
        let question = (name_of(asked), u16::from(asked[asked.len() - 3]));
        let said = self.said.lock().unwrap().get(&question).cloned();
        self.asked.lock().unwrap().push(question);
        match said.unwrap_or(Said::Code(NXDOMAIN)) {
            Said::Addresses(addresses) => Some(answer_with(asked, &addresses)),
            Said::Code(number) => Some(code(asked, number)),
            Said::Nothing => None,
        }
    }

    fn say(&self, name: &str, record_type: u16, said: Said) {
        self.said.lock().unwrap().insert((name.to_owned(), record_type), said);
    }

    fn say_addresses(&self, name: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.say(name, A, Said::Addresses(addresses));
    }

    /// How often it was asked.
    fn count(&self, name: &str, record_type: u16) -> usize {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|(known, of)| known == name && *of == record_type).count()
    }
}

/// The name in a question, in lower case.
fn name_of(asked: &[u8]) -> String {
    let mut labels = Vec::new();
    let mut rest = &asked[12..];
    while rest[0] != 0 {
        let (label, behind) = rest[1..].split_at(usize::from(rest[0]));
        labels.push(String::from_utf8(label.to_ascii_lowercase()).unwrap());
        rest = behind;
    }
    labels.join(".")
}

/// Waits for something that another thread does.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        thread::yield_now();
    }
}

/// The addresses that the appliance knows of a host.
fn known(appliance: &Appliance, host: usize) -> Vec<String> {
    let snapshot = appliance.current();
    snapshot.hosts[host].addresses.iter().map(|address| address.ip.to_string()).collect()
}

fn until_known(served: &Served, host: usize, expected: &[&str]) {
    until(&format!("{expected:?}"), || known(&served.responder.appliance, host) == expected);
}

/// The next check interval: the appliance asks for everything anew.
fn check(served: &Served) {
    let appliance = &served.responder.appliance;
    appliance.clock.advance(30);
    appliance.pass_time();
}

/// Lets check intervals pass until so much is known of the first host.
fn check_until_known(served: &Served, expected: &[&str]) {
    until(&format!("{expected:?}"), || {
        check(served);
        known(&served.responder.appliance, 0) == expected
    });
}

fn type_lines(served: &Served, lines: &[&str]) {
    let mut session = Session::privileged(Arc::clone(&served.responder));
    for line in lines {
        assert_eq!(session.run(line), "", "{line}");
    }
}

const WWW: &str = "www.example.com";

#[test]
fn addresses_are_learned_as_soon_as_the_server_can_be_asked() {
    let (behind, port) = Behind::start();
    behind.say_addresses(WWW, &["192.0.2.1", "192.0.2.2"]);
    let configuration = CONFIGURATION.to_owned() + "gslb policy\n dns cache-proxy\n";
    let served = served_with(&configuration, port);
    until_known(&served, 0, &["192.0.2.1", "192.0.2.2"]);
    assert_eq!((behind.count(WWW, A), behind.count(WWW, AAAA)), (1, 0), "IPv4 only");
    // What is known is answered without the server.
    let reply = ClientQuery::new(WWW, None).unwrap();
    let reply = reply.run(&served.responder.appliance, served.responder.settings);
    assert!(reply.starts_with("NOERROR aa  answer 2\n"), "{reply}");
    assert_eq!(behind.count(WWW, A), 1);
}

#[test]
fn they_are_learned_again_at_each_check_interval() {
    let (behind, port) = Behind::start();
    behind.say_addresses(WWW, &["192.0.2.1"]);
    let served = served_with(CONFIGURATION, port);
    until_known(&served, 0, &["192.0.2.1"]);
    behind.say_addresses(WWW, &["192.0.2.7", "192.0.2.8"]);
    check(&served);
    until_known(&served, 0, &["192.0.2.7", "192.0.2.8"]);

    // A server that fails has said nothing; the question after it shows that its answer was taken.
    behind.say(WWW, A, Said::Code(SERVFAIL));
    check(&served);
    until("the question that fails", || behind.count(WWW, A) == 3);
    behind.say_addresses(WWW, &["192.0.2.8", "192.0.2.7", "192.0.2.9"]);
    until("another question", || {
        assert!(known(&served.responder.appliance, 0).len() >= 2, "nothing is forgotten");
        check(&served);
        known(&served.responder.appliance, 0).len() == 3
    });

    // An empty answer and NXDOMAIN have. A question of the loop above may be under way still.
    behind.say_addresses(WWW, &[]);
    check_until_known(&served, &[]);
    behind.say_addresses(WWW, &["192.0.2.1"]);
    check_until_known(&served, &["192.0.2.1"]);
    behind.say(WWW, A, Said::Code(NXDOMAIN));
    check_until_known(&served, &[]);
}

#[test]
fn a_name_without_an_answer_holds_up_no_other_one() {
    let (behind, port) = Behind::start();
    behind.say(WWW, A, Said::Nothing);
    let served = served_with(CONFIGURATION, port);
    until("the first question", || behind.count(WWW, A) == 1);
    behind.say_addresses("ftp.example.com", &["192.0.2.21"]);
    type_lines(&served, &["configure terminal", "gslb dns zone example.com", "host-info ftp ftp"]);
    until_known(&served, 1, &["192.0.2.21"]);
}

#[test]
fn a_server_that_is_mapped_later_is_asked_at_once() {
    let (behind, port) = Behind::start();
    behind.say_addresses(WWW, &["192.0.2.1"]);
    let (_, other) = Behind::start();
    let served = served_with(CONFIGURATION, other);
    until_known(&served, 0, &[]);
    type_lines(&served, &[&format!("emulate map 192.0.2.53 dns 127.0.0.1:{port}")]);
    until_known(&served, 0, &["192.0.2.1"]);
}

/// `ip-hostname`: the name of the DNS server that asks is looked up in the server behind.
#[test]
fn host_names_of_user_records_are_looked_up() {
    const RESOLVER: &str = "ns.site1.example.com";
    let (behind, port) = Behind::start();
    behind.say_addresses(RESOLVER, &["198.51.100.53"]);
    behind.say(RESOLVER, AAAA, Said::Addresses(vec!["2001:db8::53".parse().unwrap()]));
    let configuration = CONFIGURATION.to_owned()
        + "sna-domain sna.example.com
 system gw1 192.0.2.11
 lu LU01 system gw1 pool POOL-1
 user-record SITE1 default-resource POOL-1
 user-record SITE1 ip-hostname ns.site1.example.com
";
    let served = served_with(&configuration, port);
    let is_known = |from: &str| {
        let mut query = ClientQuery::new("glb.sna.example.com", None).unwrap();
        query.from = from.parse().unwrap();
        let reply = query.run(&served.responder.appliance, served.responder.settings);
        match reply.lines().next().unwrap() {
            "NOERROR aa  answer 1" => true,
            "NXDOMAIN aa  answer 0" => false,
            other => panic!("{other}"),
        }
    };
    until("the resolver is known", || is_known("198.51.100.53"));
    assert!(is_known("2001:db8::53"), "both families");
    assert!(!is_known("198.51.100.54"));

    // The server does not answer for one of the families: then nothing is other than before.
    behind.say(RESOLVER, AAAA, Said::Code(SERVFAIL));
    behind.say_addresses(RESOLVER, &["198.51.100.54"]);
    check(&served);
    until("the question that fails", || behind.count(RESOLVER, AAAA) == 2);
    behind.say(RESOLVER, AAAA, Said::Addresses(Vec::new()));
    until("another question", || {
        assert!(is_known("198.51.100.53") || is_known("198.51.100.54"));
        check(&served);
        is_known("198.51.100.54")
    });
    assert!(!is_known("198.51.100.53") && !is_known("2001:db8::53"));
}
