//! Pasted blocks and type-ahead: no line is lost, none is printed twice.

use std::fmt::Write as _;
use std::sync::Arc;

use adxemu::appliance::Appliance;
use adxemu::clock::DrivenClock;
use adxemu::config::render::{self, Secrets};
use adxemu::store::StateDirectory;

use super::terminal::Terminal;

/// A configuration of 2,000 lines.
fn configuration() -> String {
    let mut text = String::new();
    for zone in 0..20 {
        writeln!(text, "gslb dns zone zone{zone}.example.com").unwrap();
        for host in 0..33 {
            writeln!(text, " host-info h{host} http").unwrap();
            writeln!(text, " host-info h{host} ip-list 10.{zone}.0.{host}").unwrap();
            writeln!(text, " host-info h{host} ip-weight 10.{zone}.0.{host} {host}").unwrap();
        }
    }
    assert_eq!(text.lines().count(), 2000);
    text
}

#[test]
fn two_thousand_lines_in_one_write() {
    let text = configuration();
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    let mut terminal = Terminal::start(&["--no-dns", "--state", state]);
    terminal.type_keys("enable\rconfigure terminal\r");
    terminal.wait_for_line("ServerIronADX(config)#");
    terminal.type_keys(text.replace('\n', "\r"));
    terminal.type_keys("end\rwrite memory\r");
    terminal.wait_for_lines(&[".Write startup-config done.", "ServerIronADX#"]);

    terminal.type_keys("\x04");
    assert!(terminal.wait_for_end().success());
    let saved = StateDirectory::open(folder.path()).unwrap().load().unwrap().unwrap();
    let expected = Appliance::in_memory(Arc::new(DrivenClock::default()));
    expected.start_with(&text);
    let configuration = expected.configuration();
    let body = render::body(&expected.grammar, &configuration.trees.configuration, Secrets::Stored);
    assert_eq!(saved.startup, body);
    assert!(body.lines().count() >= 2000);
}

#[test]
fn what_is_typed_ahead_appears_once() {
    let mut terminal = Terminal::configuring();
    let row = terminal.row();
    terminal.type_keys("hostname a\rgslb site x\rexit\rhostname b\rhostname c");
    terminal.wait_for_line("b(config)#hostname c");
    let expected = [
        "ServerIronADX(config)#hostname a",
        "a(config)#gslb site x",
        "a(config-gslb-site-x)#exit",
        "a(config)#hostname b",
        "b(config)#hostname c",
    ];
    assert_eq!(terminal.screen()[row..], expected);
}
