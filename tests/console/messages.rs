//! Messages of the appliance appear above a line that is half typed.

use std::io::Write as _;
use std::net::{SocketAddr, UdpSocket};

use super::terminal::Terminal;

#[test]
fn a_message_leaves_the_half_typed_line_alone() {
    // A host, and no way to answer for it: the first question makes the appliance say so.
    let mut configuration = tempfile::NamedTempFile::new().unwrap();
    configuration
        .write_all(
            b"gslb dns zone example.com\n host-info www http\n host-info www ip-list 192.0.2.1\n",
        )
        .unwrap();
    let path = configuration.path().to_str().unwrap().to_owned();
    let mut terminal = Terminal::start(&["--config", &path, "--dns", "127.0.0.1:0"]);
    let server = dns_address(&terminal);
    terminal.type_keys("enable\rshow clo\x1b[D");
    terminal.wait_for_line("ServerIronADX#show clo");
    let column = "ServerIronADX#show cl".len();
    terminal.wait_until("the cursor", |terminal| terminal.column() == column);

    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    let question =
        b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07example\x03com\x00\x00\x01\x00\x01";
    client.send_to(question, server).unwrap();
    terminal.wait_until("the message and the line", |terminal| {
        terminal.screen().ends_with(&[
            "no DNS server behind: use dns cache-proxy and dns override".to_owned(),
            "ServerIronADX#show clo".to_owned(),
        ]) && terminal.column() == column
    });
    // The line still is what it was.
    terminal.type_keys("\x05ck\r");
    terminal.wait_until("the time", |terminal| {
        let screen = terminal.screen();
        let [.., typed, time, prompt] = screen.as_slice() else { return false };
        typed == "ServerIronADX#show clock" && time.contains("GMT") && prompt == "ServerIronADX#"
    });
    terminal.type_keys("\x04");
    assert!(terminal.wait_for_end().success(), "the thread of the messages ends too");
}

/// Where DNS answers, as the start text says.
fn dns_address(terminal: &Terminal) -> SocketAddr {
    let screen = terminal.screen();
    let line = screen.iter().find_map(|line| line.strip_prefix("DNS answering on ")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}
