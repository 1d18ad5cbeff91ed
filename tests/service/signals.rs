//! Signals and readiness.

use std::os::unix::net::UnixDatagram;

use rustix::process::Signal;

use super::program::{SILENCE, Service, ask};

const TELNET: &[&str] = &["--no-dns", "--telnet", "0"];

#[test]
fn it_says_when_it_is_ready_and_when_it_stops() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(SILENCE)).unwrap();
    let arguments = [&["serve", "--ephemeral"], TELNET].concat();
    let mut service = Service::start(&arguments, &[("NOTIFY_SOCKET", path.to_str().unwrap())]);
    let next = || {
        let mut buffer = [0; 256];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    assert_eq!(next(), "READY=1\n");
    service.gets(Signal::HUP);
    let reloading = next();
    assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
    assert_eq!(next(), "READY=1\n");
    service.gets(Signal::TERM);
    assert_eq!(next(), "STOPPING=1\n");
    assert!(service.ends().success());
}

#[test]
fn interrupt_and_terminate_end_it_cleanly() {
    for signal in [Signal::INT, Signal::TERM] {
        let arguments = [&["serve", "--ephemeral", "--dns", "127.0.0.1:0"], &TELNET[1..]].concat();
        let mut service = Service::start(&arguments, &[]);
        let address = service.address("Telnet on ");
        let stream = std::net::TcpStream::connect(address).unwrap();
        service.gets(signal);
        assert!(service.ends().success(), "{signal:?}");
        drop(stream);
    }
}

#[test]
fn hangup_reads_the_configuration_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("startup.cfg");
    let path = file.to_str().unwrap();
    std::fs::write(&file, "hostname before\n").unwrap();
    let arguments = [&["serve", "--config", path], TELNET].concat();
    let mut service = Service::start(&arguments, &[]);
    let address = service.address("Telnet on ");
    assert!(ask(address, "exit\r").contains("telnet@before>"));
    std::fs::write(&file, "hostname after\ntelnet timeout 999\n").unwrap();
    service.gets(Signal::HUP);
    service.says("configuration read again");
    service.says("rejected=1");
    assert!(ask(address, "exit\r").contains("telnet@after>"));
    // A file that has gone changes nothing.
    std::fs::remove_file(&file).unwrap();
    service.gets(Signal::HUP);
    let line = service.says("configuration not read again");
    assert!(line.contains(path), "{line}");
    assert!(ask(address, "exit\r").contains("telnet@after>"));
}

#[test]
fn hangup_reads_the_files_of_a_lab_again() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["east", "west"] {
        let text = format!("hostname {name}\n");
        std::fs::write(folder.path().join(format!("{name}.cfg")), text).unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let arguments = [&["serve", "lab", path], TELNET].concat();
    let mut service = Service::start(&arguments, &[]);
    let line = service.says("Telnet on ");
    let (_, west) = line.rsplit_once(", ").unwrap();
    let west = west.strip_suffix(" (west)").unwrap().parse().unwrap();
    assert!(ask(west, "exit\r").contains("telnet@west>"));
    std::fs::write(folder.path().join("west.cfg"), "hostname far-west\n").unwrap();
    service.gets(Signal::HUP);
    service.says("configuration read again");
    assert!(ask(west, "exit\r").contains("telnet@far-west>"));
}
