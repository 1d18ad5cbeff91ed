//! Telnet over a socket.

use super::at_home::{ACCOUNTS, Home, Wire};

#[test]
fn a_session_from_beginning_to_end() {
    let home = Home::start(ACCOUNTS);
    let mut wire = Wire::to(home.telnet);
    wire.waits_for("Please Enter Login Name: ");
    wire.types("admin\r\n");
    wire.waits_for("Please Enter Password: ");
    wire.types("one\r");
    wire.waits_for("telnet@ServerIronADX>");
    wire.types("show who\r\0");
    let who = wire.waits_for("ServerIronADX>");
    assert!(
        who.contains(" 1      established, client ip address 127.0.0.1, user is admin"),
        "{who}"
    );
    wire.types("exit\r\n");
    assert!(wire.waits_for_end().ends_with("exit\r\n"));
    assert!(home.responder.appliance.log.since(0).iter().any(|one| one.text.contains("logout")));
}

#[test]
fn everything_in_one_write() {
    let home = Home::start("");
    let mut wire = Wire::to(home.telnet);
    wire.types("enable\r\nskip-page-display\r\nshow version\r\nlogout\r\nexit\r\nexit\r\n");
    let all = wire.waits_for_end();
    // What was sent before the end arrives, although more was typed than was read.
    assert!(all.contains("System uptime is"), "{all}");
    assert!(all.ends_with("logout\r\n"), "{all}");
}

#[test]
fn the_width_of_the_window_counts() {
    let home = Home::start("");
    let mut wire = Wire::to(home.telnet);
    wire.waits_for("telnet@ServerIronADX>");
    // 40 columns.
    wire.types([255, 251, 31, 255, 250, 31, 0, 40, 0, 24, 255, 240]);
    let line = "x".repeat(60);
    wire.types(&line);
    wire.waits_for(&line);
    // To the beginning of the line: two rows up, and behind the prompt.
    wire.types("\x01");
    wire.waits_for("\x1b[2A\x1b[21C");
}

#[test]
fn a_client_that_closes_its_side_gets_its_answers() {
    let home = Home::start("");
    let mut wire = Wire::to(home.telnet);
    wire.types("enable\nshow clock\n");
    wire.stream.shutdown(std::net::Shutdown::Write).unwrap();
    let all = wire.waits_for_end();
    assert!(all.contains("#show clock\r\n"), "{all}");
}

#[test]
fn killed_and_idle_sessions_end() {
    let home = Home::start("telnet timeout 5\n");
    let mut wires = [Wire::to(home.telnet), Wire::to(home.telnet)];
    for wire in &mut wires {
        wire.waits_for("telnet@ServerIronADX>");
        wire.types("enable\r");
        wire.waits_for("ServerIronADX#");
    }
    let [one, other] = &mut wires;
    let number = if one_is_first(one) { 2 } else { 1 };
    one.types(format!("kill telnet {number}\r"));
    other.waits_for_end();
    one.waits_for("ServerIronADX#");
    home.waits(299);
    one.types("show clock\r");
    one.waits_for("ServerIronADX#");
    home.waits(300);
    one.waits_for_end();
    assert!(home.responder.appliance.sessions.list().is_empty());
}

/// Whether this session is the first of two: the one that has just typed something.
fn one_is_first(wire: &mut Wire) -> bool {
    wire.types("terminal monitor\r");
    wire.waits_for("ServerIronADX#");
    wire.types("show who\r");
    wire.waits_for("ServerIronADX#")
        .contains(" 1      established, client ip address 127.0.0.1, monitor")
}

#[test]
fn messages_reach_a_session_that_waits() {
    let home = Home::start("");
    let mut wire = Wire::to(home.telnet);
    wire.waits_for("telnet@ServerIronADX>");
    wire.types("enable\rterminal monitor\r");
    wire.waits_for("ServerIronADX#");
    wire.waits_for("ServerIronADX#");
    let mut other = Wire::to(home.telnet);
    other.waits_for("telnet@ServerIronADX>");
    other.types("enable\rconfigure terminal\rhostname renamed\rend\r");
    other.waits_for("renamed#");
    wire.waits_for("Running-config was changed");
}

#[test]
fn telnet_can_be_turned_off() {
    let home = Home::start("no telnet server\n");
    assert_eq!(Wire::to(home.telnet).waits_for_end(), "");
}

#[test]
fn a_restart_ends_remote_sessions() {
    let home = Home::start("");
    let mut wire = Wire::to(home.telnet);
    wire.types("enable\rreload\ry\r");
    wire.waits_for("Are you sure?");
    wire.waits_for_end();
}

#[test]
fn the_end_of_the_server_ends_sessions() {
    let mut home = Home::start("");
    let mut wire = Wire::to(home.telnet);
    wire.waits_for("telnet@ServerIronADX>");
    home.ends();
    wire.waits_for_end();
    assert!(std::net::TcpStream::connect(home.telnet).is_err());
}
