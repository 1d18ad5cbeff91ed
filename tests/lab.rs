//! Several appliances in one process: reports, failures, recoveries, and how many there may be.

use std::fmt::Write as _;
use std::sync::Arc;

use adxemu::cli::session::Session;
use adxemu::clock::{Clock, DrivenClock};
use adxemu::dns::Settings;
use adxemu::grammar::Grammar;
use adxemu::health::state::Connection;
use adxemu::lab::Lab;

/// A lab of a controller and `count` site devices with a VIP each.
fn lab(count: usize) -> Arc<Lab> {
    let grammar = Arc::new(Grammar::built_in().expect("the built-in grammar loads"));
    let clock: Arc<dyn Clock> = Arc::new(DrivenClock::new());
    let mut controller =
        String::from("hostname controller\ngslb policy\n dns override\n dns cache-proxy\n!\n");
    let mut zone = String::from("gslb dns zone b.c\n host-info a http\n");
    let mut files = Vec::new();
    for number in 1..=count {
        let network = format!("10.{}.{}", number / 250, number % 250);
        writeln!(controller, "gslb site s{number}\n si-name {network}.1\n!").expect("to a string");
        writeln!(zone, " host-info a ip-list {network}.80").expect("to a string");
        let site = format!(
            "hostname slb{number}\nip address {network}.1 255.255.255.0\ngslb protocol\n\
             server real web {network}.31\n port http\n!\n\
             server virtual vip {network}.80\n port http\n bind http web http\n!\n"
        );
        files.push((format!("slb{number}"), site));
    }
    files.insert(0, ("controller".to_owned(), controller + &zone));
    Lab::of(&grammar, &clock, Settings::default(), files)
}

fn at(lab: &Lab, name: &str) -> Session {
    Session::privileged(Arc::clone(&lab.member(name).expect("a member").responder))
}

/// Addresses of the host that are up, by what the controller knows.
fn up(lab: &Lab) -> Vec<String> {
    let snapshot = lab.controller().responder.appliance.current();
    let host = &snapshot.hosts[0];
    let healthy = host.addresses.iter().filter(|address| host.is_healthy(address));
    healthy.map(|address| address.ip.to_string()).collect()
}

#[test]
fn failures_and_recoveries_travel_to_the_controller() {
    let lab = lab(2);
    let mut site = at(&lab, "slb2");
    assert_eq!(up(&lab), ["10.0.1.80", "10.0.2.80"]);
    for (line, left) in [
        ("emulate health 10.0.2.31 http down", 1),
        ("emulate health 10.0.2.31 http up", 2),
        ("emulate health 10.0.2.31 down", 1),
        ("no emulate health 10.0.2.31 down", 2),
    ] {
        assert_eq!(site.run(line), "", "{line}");
        assert_eq!(up(&lab).len(), left, "{line}");
    }
    let mut controller = at(&lab, "controller");
    assert_eq!(controller.run("emulate health 10.0.1.31 down"), "", "the world is one");
    assert_eq!(up(&lab), ["10.0.2.80"]);
    assert_eq!(controller.run("emulate reset"), "");
    assert_eq!(up(&lab).len(), 2);
    let snapshot = lab.controller().responder.appliance.current();
    assert!(snapshot.hosts[0].addresses.iter().all(|address| address.owner.is_some()));
}

#[test]
fn what_is_unbound_disabled_or_removed_is_no_vip_any_more() {
    let lab = lab(1);
    let mut site = at(&lab, "slb1");
    let owners = || {
        let snapshot = lab.controller().responder.appliance.current();
        snapshot.hosts[0].addresses.iter().filter(|address| address.owner.is_some()).count()
    };
    assert_eq!(owners(), 1);
    for (lines, count, healthy) in [
        (&["conf t", "server virtual vip", "no bind http web http"][..], 1, 0),
        (&["bind http web http"], 1, 1),
        (&["disable"], 0, 0),
        (&["no disable"], 1, 1),
        (&["server real web", "port http disable"], 1, 0),
        (&["no port http disable"], 1, 1),
        (&["no server virtual vip"], 0, 1),
    ] {
        for line in lines {
            assert_eq!(site.run(line), "", "{line}");
        }
        assert_eq!((owners(), up(&lab).len()), (count, healthy), "{lines:?}");
    }
}

#[test]
fn a_device_that_is_off_takes_its_vips_with_it() {
    let lab = lab(2);
    let connection = || {
        let snapshot = lab.controller().responder.appliance.current();
        snapshot.servers[1].state.connection()
    };
    let mut controller = at(&lab, "controller");
    assert_eq!(controller.run("emulate health 10.0.2.1 down"), "");
    assert_eq!((up(&lab), connection()), (vec!["10.0.1.80".to_owned()], Connection::Down));
    assert_eq!(controller.run("emulate health 10.0.2.1 up"), "");
    assert_eq!((up(&lab).len(), connection()), (2, Connection::Established));
}

#[test]
fn an_application_without_a_port_at_its_vip_is_down() {
    let lab = lab(1);
    let mut controller = at(&lab, "controller");
    for (line, healthy) in
        [("conf t", 1), ("gslb dns zone b.c", 1), ("host-info a ssl", 0), ("no host-info a ssl", 1)]
    {
        assert_eq!(controller.run(line), "", "{line}");
        assert_eq!(up(&lab).len(), healthy, "{line}");
    }
    assert_eq!(controller.run("host-info a ssl"), "");
    let mut site = at(&lab, "slb1");
    for line in ["conf t", "server virtual vip", "port default"] {
        assert_eq!(site.run(line), "", "{line}");
    }
    assert_eq!(up(&lab).len(), 1, "the default port stands for all others");
}

#[test]
fn what_a_device_has_itself_travels_with_its_reports() {
    let lab = lab(1);
    let mut site = at(&lab, "slb1");
    let state = || {
        let snapshot = lab.controller().responder.appliance.current();
        std::sync::Arc::clone(&snapshot.servers[0].state)
    };
    for line in
        ["emulate own sessions 500 1000", "emulate own cpu 35", "emulate own connection-rate 10 20"]
    {
        assert_eq!(site.run(line), "", "{line}");
    }
    assert_eq!((state().sessions().used, state().load().rate()), (0, 0), "on its way");
    assert_eq!(site.run("emulate clock advance 1"), "");
    assert_eq!(state().load().rate(), 10);
    assert_eq!(site.run("emulate clock advance 29"), "");
    assert_eq!((state().sessions().used, state().load().rate()), (500, 20));
    // What is said at the controller stays until the device has something new to say.
    let mut controller = at(&lab, "controller");
    assert_eq!(controller.run("emulate si 10.0.1.1 sessions 7 1000"), "");
    assert_eq!(controller.run("emulate clock advance 60"), "");
    assert_eq!(state().sessions().used, 7);
    assert_eq!(site.run("no emulate own sessions"), "");
    assert_eq!(site.run("emulate clock advance 30"), "");
    assert_eq!(state().sessions().used, 0);
    // While the connection is lost nothing arrives; afterwards it arrives at once.
    assert_eq!(site.run("emulate health 10.0.1.1 down"), "");
    assert_eq!(site.run("emulate own sessions 9 1000"), "");
    assert_eq!(site.run("emulate clock advance 60"), "");
    assert_eq!(state().sessions().used, 0);
    assert_eq!(site.run("emulate health 10.0.1.1 up"), "");
    assert_eq!(state().sessions().used, 9);
}

#[test]
fn settings_in_the_files_come_after_the_first_reports() {
    let grammar = Arc::new(Grammar::built_in().expect("the built-in grammar loads"));
    let clock: Arc<dyn Clock> = Arc::new(DrivenClock::new());
    let files = [
        (
            "controller",
            "gslb site s\n si-name 192.0.2.1\n!\nemulate si 192.0.2.1 connection down\n\
             emulate si 192.0.2.1 sessions 5 10\n",
        ),
        ("slb", "ip address 192.0.2.1 255.255.255.0\ngslb protocol\nemulate own cpu 40\n"),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec();
    let lab = Lab::of(&grammar, &clock, Settings::default(), files);
    let snapshot = Arc::clone(&lab.controller().responder.appliance.current());
    let state = &snapshot.servers[0].state;
    assert_eq!(state.connection(), Connection::Down);
    assert_eq!(state.cpu.load(std::sync::atomic::Ordering::Relaxed), 40, "came before it was lost");
}

#[test]
fn a_device_without_the_protocol_does_not_answer() {
    let lab = lab(1);
    let connection = || {
        let snapshot = lab.controller().responder.appliance.current();
        snapshot.servers[0].state.connection()
    };
    assert_eq!(connection(), Connection::Established);
    let mut site = at(&lab, "SLB1");
    assert_eq!(site.run("conf t"), "");
    assert_eq!(site.run("no gslb protocol"), "");
    assert_eq!(connection(), Connection::Attempting);
    assert_eq!(site.run("gslb protocol"), "");
    assert_eq!(connection(), Connection::Established);
    // What is set by hand stays until the device reports something else.
    let mut controller = at(&lab, "controller");
    assert_eq!(controller.run("emulate si 10.0.1.1 connection down"), "");
    assert_eq!(site.run("ip default-gateway 10.0.1.254"), "");
    assert_eq!(connection(), Connection::Down);
}

#[test]
fn devices_on_different_ports_do_not_reach_each_other() {
    let lab = lab(1);
    let connection = || {
        let snapshot = lab.controller().responder.appliance.current();
        snapshot.servers[0].state.connection()
    };
    let run = |name: &str, lines: &[&str]| {
        let mut session = at(&lab, name);
        for line in lines {
            session.run(line);
        }
    };
    let change = ["conf t", "gslb communication 1182", "write memory"];
    let restart = ["reload", "y"];
    run("slb1", &change);
    assert_eq!(connection(), Connection::Established, "the port in use is still the old one");
    run("slb1", &restart);
    assert_eq!(connection(), Connection::Attempting);
    run("controller", &change);
    assert_eq!(connection(), Connection::Attempting);
    run("controller", &restart);
    assert_eq!(connection(), Connection::Established);
}

#[test]
fn consoles_move_between_the_appliances() {
    let lab = lab(2);
    let mut session = at(&lab, "controller");
    assert_eq!(session.run("emulate console slb2"), "");
    assert_eq!(session.prompt(), "slb2#");
    assert_eq!(session.run("emulate console nowhere"), "Error - appliance nowhere not found\n");
    assert_eq!(session.prompt(), "slb2#");
    let answers = lab.play("x.emu", "emulate health 10.0.1.31 down\n! remark\nfrobnicate\n");
    assert_eq!(answers, [(3, "Invalid input -> frobnicate".to_owned())]);
    assert_eq!(lab.complaints(), ["x.emu:3: Invalid input -> frobnicate"]);
    assert_eq!(up(&lab), ["10.0.2.80"]);
}

#[test]
fn two_hundred_appliances() {
    let lab = lab(200);
    assert_eq!(lab.members().len(), 201);
    assert_eq!(up(&lab).len(), 200);
    let mut site = at(&lab, "slb77");
    assert_eq!(site.run("emulate health 10.0.77.31 down"), "");
    assert_eq!(up(&lab).len(), 199);
}
