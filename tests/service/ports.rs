//! Ports of remote sessions and of metrics.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use super::program::{Service, ask};

#[test]
fn metrics_over_http() {
    let arguments = ["serve", "demo", "--dns", "127.0.0.1:0", "--metrics", "0"];
    let mut service = Service::start(&arguments, &[]);
    let address = service.address("Metrics on http://");
    let get = |what: &str| {
        ask(address, &format!("{what} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
    };
    let page = get("GET /metrics");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    assert!(page.contains("application/openmetrics-text"), "{page}");
    assert!(page.contains("\nadxemu_dns_questions_total{transport=\"udp\"} 0\n"), "{page}");
    assert!(page.contains("\nadxemu_address_healthy{domain=\"a.b.c\","), "{page}");
    assert!(get("GET /").starts_with("HTTP/1.1 404 "));
    assert!(get("POST /metrics").starts_with("HTTP/1.1 405 "));
    assert!(ask(address, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
}

/// The table of docs/service.md has every metric, and none that there is not.
#[test]
fn metrics_are_those_of_the_documentation() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/service.md");
    let text = std::fs::read_to_string(path).unwrap();
    let documented: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `adxemu_")?.split('`').next())
        .collect();
    let mut service =
        Service::start(&["serve", "demo", "--dns", "127.0.0.1:0", "--metrics", "0"], &[]);
    let address = service.address("Metrics on http://");
    let page = ask(address, "GET /metrics HTTP/1.0\r\n\r\n");
    let given: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("adxemu_")?.split(['{', ' ']).next())
        .collect();
    assert_eq!(documented, given);
}

#[test]
fn a_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for option in ["--telnet", "--ssh", "--metrics"] {
        let done = Command::new(env!("CARGO_BIN_EXE_adxemu"))
            .args(["serve", "--ephemeral", "--no-dns", option, &address])
            .output()
            .unwrap();
        let line = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{option}: {line}");
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(line.contains(&address) && line.contains("in use"), "{line}");
    }
}

#[test]
fn a_range_that_ends_too_soon() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["east", "west"] {
        std::fs::write(folder.path().join(format!("{name}.cfg")), "\n").unwrap();
    }
    let done = Command::new(env!("CARGO_BIN_EXE_adxemu"))
        .args(["serve", "lab", folder.path().to_str().unwrap(), "--no-dns", "--telnet", "65535"])
        .output()
        .unwrap();
    let line = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(2), "{line}");
    assert_eq!(line, "adxemu: no port is left for west: the range begins at 127.0.0.1:65535\n");
}
