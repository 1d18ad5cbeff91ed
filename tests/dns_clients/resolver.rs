//! A caching resolver between the program and its client: BIND, which asks the program only.

use std::net::SocketAddr;
use std::process::Command;
use std::time::Instant;

use super::program::{BOUND, Program, are_here};
use super::server::Server;

/// A resolver that asks at this address for names of the zone.
fn resolver(behind: SocketAddr) -> Server {
    let folder = tempfile::tempdir().unwrap();
    Server::start("named", &["-g", "-c"], folder, &[" running"], |folder, port| {
        format!(
            "\
options {{
    directory \"{folder}\";
    listen-on port {port} {{ 127.0.0.1; }};
    listen-on-v6 {{ none; }};
    pid-file none;
    session-keyfile none;
    recursion yes;
    dnssec-validation no;
    empty-zones-enable no;
    notify no;
}};
controls {{ }};
zone \"example.com\" {{
    type forward;
    forward only;
    forwarders {{ {} port {}; }};
}};
",
            behind.ip(),
            behind.port()
        )
    })
}

/// The code that a client of the resolver gets.
fn code(resolver: &Server, record_type: &str) -> String {
    let port = resolver.port.to_string();
    let output = Command::new("dig")
        .args(["-r", "@127.0.0.1", "-p", &port, "+tries=1", "+time=20", "www.example.com"])
        .arg(record_type)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, rest) = text.split_once("status: ").unwrap_or_else(|| panic!("{text}"));
    rest.split(',').next().unwrap().to_owned()
}

const CONFIGURATION: &str = "\
gslb dns-rcode nxdomain
gslb dns zone example.com
 host-info www http
 host-info www ip-list 192.0.2.1
gslb policy
 dns cache-proxy
 dns override
 dns ttl 300
";

/// Report U19: with `gslb dns-rcode nxdomain` a resolver that has asked for AAAA takes the name to be
/// absent, and its clients get no A record either, although the appliance would give one.
///
/// How long depends on the SOA record, which the device does not send: without one the resolver may
/// not keep the answer (RFC 2308 section 5; BIND does for what is left of the second), with one it
/// keeps it.
#[test]
fn nxdomain_for_one_type_makes_the_name_vanish() {
    if !are_here(&["named", "dig"], "-v") {
        return;
    }
    for options in [&[][..], &["--strict-dns"]] {
        let name = format!("resolver{}", options.concat());
        let program = Program::serve(&name, CONFIGURATION, options);
        let resolver = resolver(program.address);
        assert_eq!(code(&resolver, "AAAA"), "NXDOMAIN");
        if options.is_empty() {
            let started = Instant::now();
            while code(&resolver, "A") != "NOERROR" {
                assert!(started.elapsed() < BOUND, "the answer is kept");
            }
        } else {
            assert_eq!(code(&resolver, "A"), "NXDOMAIN");
        }
        program.expect("dig", &["www.example.com"], &["status: NOERROR", "192.0.2.1"]);
    }
}
