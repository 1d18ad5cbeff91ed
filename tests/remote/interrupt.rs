//! Control-C while a line runs, and sessions that stand still.

use super::at_home::{ACCOUNTS, Home, Typist, Wire};

const HOST: &str = "gslb dns zone example.com\n host-info www http\n\
    host-info www ip-list 192.0.2.1\ngslb policy\n dns override\n dns cache-proxy\n";

/// What appears when a line is typed, and these keys while it runs: it has been shown by then.
fn interrupted(typist: &mut Typist, line: &str, keys: &str) -> String {
    typist.types("");
    typist.shell.receive(line.as_bytes());
    typist.shell.receive(b"\r");
    typist.shell.go_on();
    assert!(typist.shell.take_output().ends_with("\r\n"), "the line ends before it runs");
    typist.types(keys)
}

#[test]
fn a_series_of_questions_ends_with_what_was_counted() {
    let mut typist = Typist::console(HOST);
    typist.types("enable\r");
    let line = "emulate query www.example.com count 1000000";
    let shown = interrupted(&mut typist, line, "\x03");
    assert!(shown.contains("Questions: 0 of 1000000\r\n"), "{shown}");
    assert!(shown.ends_with("\r\nServerIronADX#"), "{shown}");
    // What was typed ahead of the key goes with it; what stands behind it counts.
    let shown = interrupted(&mut typist, line, "hostname x\r\x03show clo");
    assert!(shown.ends_with("\r\nServerIronADX#show clo"), "{shown}");
    assert!(!shown.contains("hostname"), "{shown}");
    // Without the key it runs to its end, and so does a line behind it.
    let shown = interrupted(&mut typist, "\x15emulate query www.example.com count 3", "");
    assert!(shown.contains("Questions: 3\r\n"), "{shown}");
}

#[test]
fn what_has_been_counted_so_far_is_told() {
    let (line, count) = ("emulate query www.example.com count 1000000", 100);
    let mut typist = Typist::console(HOST);
    typist.types("enable\r");
    typist.shell.receive(line.as_bytes());
    typist.shell.receive(b"\r");
    typist.shell.go_on();
    let interruption = typist.shell.session().interruption().clone();
    let responder = typist.responder.clone();
    let asked = || {
        let snapshot = responder.appliance.current();
        snapshot.hosts[0].domain.lock().total_requests()
    };
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            typist.shell.go_on();
            typist.shell.take_output()
        });
        while asked() < count {
            std::thread::yield_now();
        }
        interruption.take(b"\x03");
        let shown = running.join().unwrap();
        let told = shown.split("Questions: ").nth(1).unwrap();
        let told: u64 = told.split(' ').next().unwrap().parse().unwrap();
        assert!((count..1_000_000).contains(&told) && told == asked(), "{shown}");
        assert!(shown.contains(&format!("192.0.2.1  {told:>5}   100%")), "{shown}");
    });
}

#[test]
fn a_simulation_ends_with_what_was_counted() {
    let mut typist = Typist::console(HOST);
    typist.types("enable\rskip-page-display\r");
    let shown = interrupted(&mut typist, "emulate simulate 10000000", "\x03");
    assert!(shown.contains("stopped after 4096 questions"), "{shown}");
}

#[test]
fn a_key_that_no_line_hears_is_a_key() {
    let mut typist = Typist::console("");
    typist.types("enable\r");
    let shown = interrupted(&mut typist, "show clock", "\x03abc\x03conf t\r");
    assert!(shown.ends_with("ServerIronADX#abc\r\nServerIronADX#conf t\r\nServerIronADX(config)#"));
}

#[test]
fn over_the_network_the_key_reaches_the_line_that_runs() {
    let home = Home::start(HOST);
    let mut wire = Wire::to(home.telnet);
    wire.types("enable\remulate query www.example.com count 1000000\r");
    wire.waits_for("count 1000000\r\n");
    wire.types("\x03");
    wire.waits_for(" of 1000000\r\n");
}

#[test]
fn a_console_that_stands_still_is_logged_out() {
    let configuration = format!("{ACCOUNTS}enable aaa console\nconsole timeout 2\n");
    let mut typist = Typist::console(&configuration);
    typist.types("admin\rone\renable\radmin\rone\rconf t\rhostname half");
    assert_eq!(typist.waits(119), "");
    assert_eq!(typist.waits(1), "\r\nPlease Enter Login Name: ");
    assert!(!typist.shell.is_over());
    let log = typist.responder.appliance.log.since(0);
    let logout = "Security: console logout by admin";
    assert_eq!(log.iter().filter(|entry| entry.text == logout).count(), 1);
    // Nothing is said again, and the next user begins afresh.
    assert_eq!(typist.waits(1000), "");
    let shown = typist.types("oper\rtwo\r\x10");
    assert!(shown.ends_with("\r\nServerIronADX>"), "{shown}");
}

#[test]
fn a_console_that_asks_nobody_goes_back_to_the_user_level() {
    let mut typist = Typist::console("console timeout 1\n");
    typist.types("enable\rterminal length 5\rshow gslb default\r");
    assert_eq!(typist.waits(60), "\r\nServerIronADX>");
    assert_eq!(typist.waits(600), "");
    // A key in time begins the time anew.
    typist.types("enable\r");
    typist.waits(59);
    typist.types("x");
    assert_eq!(typist.waits(59), "");
    assert_eq!(typist.waits(1), "\r\nServerIronADX>");
    // Never, if the time is 0.
    typist.types("enable\rconf t\rconsole timeout 0\r");
    assert_eq!(typist.waits(1_000_000), "");
}
