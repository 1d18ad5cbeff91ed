//! What clients may take.

use std::fmt::Write as _;
use std::io::Read as _;
use std::net::TcpStream;

use adxemu::remote::{Algorithms, Limits};
use adxemu::term::shell::MOST_TYPED_AHEAD;

use super::at_home::{ACCOUNTS, Home, SILENCE, Wire};

#[test]
fn there_are_only_so_many_that_have_not_said_who_they_are() {
    let limits = Limits { newcomers: 2, ..Limits::default() };
    let home = Home::with(ACCOUNTS, limits, Algorithms::Safe);
    let mut wires = [Wire::to(home.telnet), Wire::to(home.telnet)];
    for wire in &mut wires {
        wire.waits_for("Please Enter Login Name: ");
    }
    assert_eq!(Wire::to(home.telnet).waits_for_end(), "");
    // SSH has the same door.
    assert_eq!(Wire::to(home.ssh).waits_for_end(), "");
    wires[0].types("admin\rone\r");
    wires[0].waits_for("telnet@ServerIronADX>");
    Wire::to(home.telnet).waits_for("Please Enter Login Name: ");
}

#[test]
fn clients_of_ssh_may_be_given_less_time() {
    let home = Home::start(&format!("{ACCOUNTS}ip ssh timeout 30\n"));
    let mut telnet = Wire::to(home.telnet);
    telnet.waits_for("Please Enter Login Name: ");
    let mut ssh = TcpStream::connect(home.ssh).unwrap();
    ssh.set_read_timeout(Some(SILENCE)).unwrap();
    let mut version = [0; 8];
    ssh.read_exact(&mut version).unwrap();
    home.waits(29);
    telnet.types("a");
    telnet.waits_for("a");
    home.waits(1);
    // Whether it is closed or reset.
    let _ = ssh.read_to_end(&mut Vec::new());
    telnet.types("b");
    telnet.waits_for("b");
}

#[test]
fn who_does_not_say_who_it_is_must_go() {
    let home = Home::start(ACCOUNTS);
    let mut telnet = Wire::to(home.telnet);
    telnet.waits_for("Please Enter Login Name: ");
    let mut ssh = TcpStream::connect(home.ssh).unwrap();
    ssh.set_read_timeout(Some(SILENCE)).unwrap();
    let mut version = [0; 8];
    ssh.read_exact(&mut version).unwrap();
    assert_eq!(&version, b"SSH-2.0-");
    home.waits(119);
    telnet.types("a");
    telnet.waits_for("a");
    home.waits(1);
    telnet.waits_for_end();
    let mut rest = Vec::new();
    // Whether it is closed or reset.
    let _ = ssh.read_to_end(&mut rest);
}

#[test]
fn three_wrong_passwords_end_a_session() {
    let home = Home::start(ACCOUNTS);
    let mut wire = Wire::to(home.telnet);
    for _ in 0..3 {
        wire.waits_for("Please Enter Login Name: ");
        wire.types("admin\rtwo\r");
        wire.waits_for("Error - Incorrect username or password.\r\n");
        home.waits(8);
    }
    wire.waits_for_end();
}

/// A client that never reads holds up nobody else, and neither does it take room without bound.
#[test]
fn a_client_that_does_not_read() {
    let mut configuration = String::from("enable skip-page-display\n");
    for number in 0..2000 {
        writeln!(configuration, "gslb site s{number}\n weight 1").unwrap();
    }
    let home = Home::start(&configuration);
    let mut stuck = Wire::to(home.telnet);
    stuck.types("enable\r");
    stuck.waits_for("ServerIronADX#");
    // Hundreds of megabytes of output, which nobody takes.
    stuck.types("show running-config\r".repeat(10_000));
    let mut other = Wire::to(home.telnet);
    other.waits_for("telnet@ServerIronADX>");
    other.types("enable\rkill telnet 1\r");
    other.waits_for("ServerIronADX#");
    other.types("show clock\r");
    other.waits_for("#show clock\r\n");
    // The one that was stuck is told nothing, but its connection ends.
    while stuck.stream.read(&mut vec![0; 1 << 20]).is_ok_and(|length| length > 0) {}
}

#[test]
fn what_is_typed_ahead_is_bounded() {
    let mut configuration = String::from("enable skip-page-display\n");
    for number in 0..2000 {
        writeln!(configuration, "gslb site s{number}\n weight 1").unwrap();
    }
    let home = Home::start(&configuration);
    let wire = Wire::to(home.telnet);
    let line = b"show running-config\r".repeat(1000);
    wire.stream.set_write_timeout(Some(SILENCE)).unwrap();
    // It is ended in the middle of what it sends, or behind it.
    let mut sent = 0;
    while sent < 4 * MOST_TYPED_AHEAD {
        match std::io::Write::write(&mut (&wire.stream), &line) {
            Ok(length) => sent += length,
            Err(error) => {
                assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "nobody ended it");
                return;
            }
        }
    }
    panic!("{sent} bytes were taken");
}
