//! Ports that cannot be had: the shell goes on without DNS, `serve` ends (decisions 1).

use std::net::UdpSocket;

use super::program::{play, program, refused, text};

#[test]
fn a_port_in_use() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = play(program(&["--ephemeral", "--dns", &address]), "enable\n");
    assert!(output.status.success());
    let said = text(&output.stderr);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("DNS not answering: "), "{said}");
    assert!(lines[0].contains(&address) && lines[0].contains("in use"), "{said}");
    assert_eq!(lines.len(), 2, "that and how to begin: {said}");
    assert!(text(&output.stdout).ends_with("No password has been assigned yet...\n"));

    let line = refused(&play(program(&["serve", "--ephemeral", "--dns", &address]), ""));
    assert!(line.contains(&address) && line.contains("in use"), "{line}");
}

#[test]
fn an_address_of_another_machine() {
    // A documentation address.
    let arguments = ["--ephemeral", "--dns", "192.0.2.53:5353"];
    let output = play(program(&arguments), "");
    assert!(output.status.success());
    assert!(text(&output.stderr).starts_with("DNS not answering: "), "{}", text(&output.stderr));
    let line = refused(&play(program(&[&["serve"], &arguments[..]].concat()), ""));
    assert!(line.contains("no such address"), "{line}");
}
