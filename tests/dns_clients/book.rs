//! Point by point what testers hold servers to.

use super::program::{Program, clients_are_here};

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

fn serve(name: &str, options: &[&str]) -> Program {
    Program::serve(name, CONFIGURATION, options)
}

#[test]
fn cookies_are_good_to_all_of_them() {
    if !clients_are_here() {
        return;
    }
    let program = serve("cookies", &[]);
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
    let program = serve("reasons", &[]);
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
    let program = serve("names", &[]);
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

/// Report U80.
#[test]
fn strict_negative_answers_have_an_soa() {
    if !clients_are_here() {
        return;
    }
    let program = serve("strict", &["--strict-dns"]);
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
    let program = serve("tcp", &[]);
    let names = ["www.example.com", "www.sub.example.com", "www.example.net"];
    let arguments: Vec<&str> = ["+tcp", "+keepopen"].iter().chain(&names).copied().collect();
    for client in ["dig", "kdig"] {
        let text = program.expect(client, &arguments, &["192.0.2.1", "192.0.2.4", "192.0.2.5"]);
        assert_eq!(text.matches("status: NOERROR").count(), 3, "{text}");
    }
    program.expect("drill", &["-t", "www.example.com"], &["rcode: NOERROR", "192.0.2.1"]);
}
