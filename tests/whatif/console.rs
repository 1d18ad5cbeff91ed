//! What if at a console: of an appliance that runs, also in a lab, without touching it.

use std::sync::Arc;

use adxemu::cli::session::Session;
use adxemu::clock::{Clock, DrivenClock};
use adxemu::dns::Settings;
use adxemu::lab::Lab;

use crate::whatif::subjects::grammar;

const CONTROLLER: &str = "\
hostname controller\ngslb protocol\nip address 198.51.100.9 255.255.255.0\n\
gslb site a\n weight 75\n si-name 198.51.100.1\n!\ngslb site b\n weight 25\n si-name 198.51.100.2\n!\n\
gslb dns zone example.com\n host-info www http\n host-info www ip-list 192.0.2.10\n \
host-info www ip-list 192.0.2.20\n!\n\
gslb policy\n dns cache-proxy\n dns override\n weighted-site\n!\n";

fn device(number: u8) -> String {
    format!(
        "hostname slb{number}\nip address 198.51.100.{number} 255.255.255.0\ngslb protocol\n\
         server real web 10.0.0.{number}\n port http\n!\n\
         server virtual vip 192.0.2.{number}0\n port http\n bind http web http\n!\n"
    )
}

fn lab() -> Arc<Lab> {
    let clock: Arc<dyn Clock> = Arc::new(DrivenClock::new());
    let files = vec![
        ("controller".to_owned(), CONTROLLER.to_owned()),
        ("slb1".to_owned(), device(1)),
        ("slb2".to_owned(), device(2)),
    ];
    Lab::of(grammar(), &clock, Settings::default(), files)
}

#[test]
fn a_lab_is_copied_with_its_reports_and_stays_as_it_is() {
    let lab = lab();
    let mut session = Session::privileged(Arc::clone(&lab.controller().responder));
    session.run("emulate query www.example.com count 10");
    let before = session.run("show gslb traffic site") + &session.run("show gslb global-stat");
    let told = session.run("emulate simulate 1000");
    assert!(told.contains("192.0.2.10       a               750  75.0%  75.0%    0.0"), "{told}");
    assert!(told.contains("192.0.2.20       b               250  25.0%  25.0%    0.0"), "{told}");
    assert!(session.run("emulate failures").contains("site a"));
    assert!(session.run("emulate audit").contains("# Audit of controller"));
    let after = session.run("show gslb traffic site") + &session.run("show gslb global-stat");
    assert_eq!(before, after);
}

#[test]
fn what_was_said_about_the_world_holds_for_the_copy() {
    let lab = lab();
    let mut session = Session::privileged(Arc::clone(&lab.controller().responder));
    assert_eq!(session.run("emulate health 192.0.2.10 down"), "");
    let told = session.run("emulate simulate 100");
    assert!(told.contains("192.0.2.20       b               100 100.0% 100.0%    0.0"), "{told}");
    assert_eq!(session.run("no emulate health 192.0.2.10"), "");
    // A real server of another appliance of the lab.
    let mut other = Session::privileged(Arc::clone(&lab.member("slb2").unwrap().responder));
    assert_eq!(other.run("emulate health 10.0.0.2 down"), "");
    let told = session.run("emulate simulate 100");
    assert!(told.contains("192.0.2.10       a               100 100.0% 100.0%    0.0"), "{told}");
    assert!(other.run("emulate audit").contains("# Audit of slb2"));
    assert!(other.run("emulate simulate 5").starts_with("Error - there is nothing to ask for"));
}

/// A session whose user has typed Control-C while the next line runs, which must hear it.
fn run_interrupted(session: &mut Session, line: &str) -> String {
    let interruption = session.interruption().clone();
    interruption.clear();
    interruption.take(b"x\x03");
    let told = session.run(line);
    assert!(interruption.was_heard(), "{line}: {told}");
    interruption.clear();
    told
}

#[test]
fn control_c_ends_long_lines_with_what_is_done() {
    let lab = lab();
    let mut session = Session::privileged(Arc::clone(&lab.controller().responder));
    for line in ["configure terminal", "gslb dns zone example.com", "host-info ftp ftp"] {
        assert_eq!(session.run(line), "");
    }
    assert_eq!(session.run("host-info ftp ip-list 192.0.2.20"), "");
    assert_eq!(session.run("end"), "");

    let whole = session.run("emulate failures");
    let told = run_interrupted(&mut session, "emulate failures");
    let note = "Note: stopped: 1 of 2 names and types were looked at";
    assert!(told.contains(note) && !whole.contains("stopped"), "{told}");
    assert!(told.contains("www.example.com") && !told.contains("ftp.example.com"), "{told}");
    assert!(whole.contains("ftp.example.com"));
    // Its shares are parts of what was looked at.
    assert!(told.contains("1 name and type"), "{told}");

    let whole = session.run("emulate audit");
    let told = run_interrupted(&mut session, "emulate audit");
    assert!(told.contains("Stopped: 1 of 2 hosts were looked at") && !whole.contains("Stopped"));
    assert!(whole.contains("ftp.example.com") && !told.contains("ftp.example.com"), "{told}");

    let told = run_interrupted(&mut session, "ping 192.0.2.10 count 1000");
    assert_eq!(told.matches("Reply from").count(), 1, "{told}");
    assert!(told.ends_with("(1/1), round-trip min/avg/max=0/0/0 ms.\n"), "{told}");
    assert_eq!(session.run("emulate health 192.0.2.10 down"), "");
    let told = run_interrupted(&mut session, "ping 192.0.2.10 count 1000");
    assert_eq!(told.matches("Request timed out.").count(), 1, "{told}");

    // What ran before goes on to its end.
    assert_eq!(session.run("ping 192.0.2.20 count 7").matches("Reply from").count(), 7);
}
