//! The modes of the DNS proxy with the emulated server behind (`emulate dns-server`), asked by dig,
//! kdig and drill.

use super::program::{Program, clients_are_here};

/// The appliance with a server behind that says this.
fn configuration(policy: &str) -> String {
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
 host-info ftp ftp
 host-info ftp ip-list 192.0.2.70
!
gslb policy
{policy}
!
emulate dns-server www.example.com 192.0.2.10 192.0.2.20 ttl 300
emulate dns-server ftp.example.com 192.0.2.50 192.0.2.60 ttl 300
emulate dns-server alias.example.com cname www.example.com ttl 300
emulate dns-server gone.example.com nxdomain
"
    )
}

/// The addresses of an answer in their order, each with its TTL.
fn records(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter(|line| !line.starts_with(';'));
    let fields = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let addresses = fields.filter(|fields| fields.get(3) == Some(&"A"));
    addresses.map(|fields| (fields[4].to_owned(), fields[1].to_owned())).collect()
}

fn list(addresses: &[&str], ttl: &str) -> Vec<(String, String)> {
    addresses.iter().map(|address| ((*address).to_owned(), ttl.to_owned())).collect()
}

/// Both orders of two addresses, whatever was asked before.
fn take_turns(program: &Program, name: &str, one: &str, other: &str) {
    let mut seen = Vec::new();
    for client in ["dig", "kdig", "drill", "dig"] {
        let text = program.ask(client, &[name]);
        assert!(text.contains("NOERROR") && text.contains(" qr aa rd"), "{text}");
        seen.push(records(&text));
    }
    let (first, second) = (list(&[one, other], "10"), list(&[other, one], "10"));
    let expected = [&first, &second, &first, &second];
    assert!(seen.iter().eq(expected), "{seen:?}");
}

#[test]
fn plain_proxy() {
    if !clients_are_here() {
        return;
    }
    let mut program = Program::shell("plain", &configuration(" dns active-only"), &[]);
    take_turns(&program, "www.example.com", "192.0.2.10", "192.0.2.20");
    for client in ["dig", "kdig", "drill"] {
        let text = program.expect(client, &["alias.example.com"], &["CNAME\twww.example.com."]);
        assert_eq!(records(&text), list(&["192.0.2.10", "192.0.2.20"], "300"), "left alone");
        for name in ["gone.example.com", "nowhere.example.com"] {
            program.expect(client, &[name], &["NXDOMAIN", "ANSWER: 0", " aa"]);
        }
        program.expect(client, &["www.example.com", "MX"], &["NOERROR", "ANSWER: 0"]);
    }
    let lines = "emulate health 192.0.2.20 down\nemulate health 192.0.2.60 down";
    program.run(lines);
    for _ in 0..3 {
        for (name, address) in
            [("www.example.com", "192.0.2.10"), ("ftp.example.com", "192.0.2.50")]
        {
            assert_eq!(records(&program.ask("dig", &[name])), list(&[address], "10"));
        }
    }
    // With override the best of the list stands alone; a host without a list is left alone.
    program.run("configure terminal\ngslb policy\ndns override\nend");
    assert_eq!(records(&program.ask("dig", &["ftp.example.com"])), list(&["192.0.2.70"], "10"));
    assert_eq!(records(&program.ask("dig", &["www.example.com"])), list(&["192.0.2.10"], "300"));
    let counted = program.run("show gslb global-stat");
    assert!(counted.contains("Redirect           =          0    Direct response    =          0"));
}

#[test]
fn transparent_intercept() {
    if !clients_are_here() {
        return;
    }
    let text = configuration(" dns transparent-intercept");
    let mut program = Program::shell("intercept", &text, &[]);
    // Redirected, with the policy.
    take_turns(&program, "www.example.com", "192.0.2.10", "192.0.2.20");
    take_turns(&program, "ftp.example.com", "192.0.2.50", "192.0.2.60");
    program.expect("dig", &["nowhere.example.com"], &["NXDOMAIN", "flags: qr aa rd;"]);
    // Answered directly, where there is a list.
    program.run("configure terminal\ngslb policy\ndns override");
    for client in ["dig", "kdig", "drill"] {
        let text = program.expect(client, &["ftp.example.com"], &["NOERROR", " qr aa rd"]);
        assert_eq!(records(&text), list(&["192.0.2.70"], "10"));
        let text = program.ask(client, &["www.example.com"]);
        assert_eq!(records(&text), list(&["192.0.2.10", "192.0.2.20"], "300"), "left alone");
    }
    let counted = program.run("show gslb global-stat");
    let line = "Redirect           =         11    Direct response    =          3";
    assert!(counted.contains(line), "{counted}");
    // Redirected, and the reply unchanged.
    program.run("no dns override\ndns transparent-intercept redirect-only");
    for _ in 0..2 {
        let text = program.ask("dig", &["ftp.example.com"]);
        assert_eq!(records(&text), list(&["192.0.2.50", "192.0.2.60"], "300"));
    }
    // Nobody is behind: the direct answer needs nobody, all else gets no reply.
    program.run("dns transparent-intercept\ndns override\nemulate health 192.0.2.53 down");
    let direct = program.ask("dig", &["ftp.example.com"]);
    assert_eq!(records(&direct), list(&["192.0.2.70"], "10"));
    let nothing = program.client("dig").args(["www.example.com", "+time=1"]).output().unwrap();
    assert!(!nothing.status.success(), "{}", String::from_utf8_lossy(&nothing.stdout));
    program.run_until("", &["no DNS server behind answers"]);
}
