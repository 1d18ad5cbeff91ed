//! Checks over the network from outside: a real web server is stopped and started while the real
//! program is asked.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::program::{Program, Running, are_here};

/// Seconds between two checks, and retries.
const INTERVAL: u64 = 2;
const RETRIES: u64 = 1;

/// The longest that a change may take to be seen: the check before it has just begun, then the first
/// that fails and its retries, each at most as long as an interval; the program looks once a second.
const BOUND: Duration = Duration::from_secs((INTERVAL + 1) * (RETRIES + 2) + INTERVAL);

/// A web server of Python on this port, once it answers.
fn web_server(port: u16) -> Running {
    let child = Command::new("python3")
        .args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()])
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let server = Running(child);
    let started = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(started.elapsed() < Duration::from_mins(1), "the web server does not start");
        std::thread::yield_now();
    }
    server
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// The addresses of `www.example.com`, best first.
fn ask(dns: SocketAddr) -> Vec<Ipv4Addr> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.connect(dns).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket
        .send(b"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07example\x03com\x00\x00\x01\x00\x01")
        .unwrap();
    let mut reply = [0; 512];
    let length = socket.recv(&mut reply).unwrap();
    assert_eq!(reply[3] & 0x0f, 0, "NOERROR");
    let count = usize::from(reply[7]);
    // Each record takes 16 bytes at the end, its address the last four.
    (1..=count)
        .rev()
        .map(|place| {
            let end = length - 16 * (place - 1);
            let bytes: [u8; 4] = reply[end - 4..end].try_into().unwrap();
            Ipv4Addr::from(bytes)
        })
        .collect()
}

/// Asks until the answer holds so many addresses; how long that took.
fn wait_for(dns: SocketAddr, count: usize) -> Duration {
    let started = Instant::now();
    loop {
        let addresses = ask(dns);
        assert!(!addresses.is_empty(), "there is always an answer");
        if addresses.len() == count {
            return started.elapsed();
        }
        // The bound is twice what is asked for, since other programs use the machine too.
        assert!(started.elapsed() < 2 * BOUND, "still {addresses:?}");
    }
}

#[test]
fn a_web_server_that_stops_leaves_the_answers_and_comes_back() {
    if !are_here(&["python3"], "-V") {
        return;
    }
    let ports = [free_port(), free_port()];
    let steady = web_server(ports[0]);
    let first = web_server(ports[1]);
    let configuration = format!(
        "\
server port 80
 tcp keepalive {INTERVAL} {RETRIES}
gslb dns zone example.com
 host-info www http
 host-info www ip-list 192.0.2.1
 host-info www ip-list 192.0.2.2
gslb policy
 dns cache-proxy
 dns override
 dns active-only
emulate map 192.0.2.1 http 127.0.0.1:{}
emulate map 192.0.2.2 http 127.0.0.1:{}
",
        ports[0], ports[1]
    );
    let program = Program::serve("web-server", &configuration, &["--live=mapped"]);
    let dns = program.address;
    let both = [Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(192, 0, 2, 2)];
    let mut up = ask(dns);
    up.sort_unstable();
    assert_eq!(up, both, "nothing is known to be down");

    drop(first);
    wait_for(dns, 1);
    for _ in 0..1000 {
        assert_eq!(ask(dns), both[..1], "no wrong answer once it is known");
    }
    let second = web_server(ports[1]);
    wait_for(dns, 2);
    for _ in 0..1000 {
        assert_eq!(ask(dns).len(), 2);
    }
    // All are down: the reply goes out unchanged (GSLB guide p. 31).
    drop(second);
    wait_for(dns, 1);
    drop(steady);
    wait_for(dns, 2);
}
