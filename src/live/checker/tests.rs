//! Real servers on loopback, a driven clock: time passes only when a test says so.

use std::net::SocketAddr;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;
use crate::clock::DrivenClock;
use crate::live::gate::Allowed;

const CONFIGURATION: &str = "\
server port 8080
 tcp keepalive 2 1
gslb dns zone example.com
 host-info www 8080
 host-info www ip-list 192.0.2.1
 host-info www ip-list 192.0.2.2
gslb policy
 dns cache-proxy
 dns override
";

const FIRST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
const SECOND: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));
const PORT: Application = Application(8080);

fn appliance(text: &str) -> Arc<Appliance> {
    let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
    appliance.start_with(text);
    assert!(appliance.configuration().rejected.is_empty());
    Arc::new(appliance)
}

/// Takes connections until it is stopped.
async fn server() -> (SocketAddr, JoinHandle<()>) {
    server_at("127.0.0.1:0").await
}

async fn server_at(address: &str) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.shutdown().await;
        }
    });
    (address, task)
}

async fn stop(server: JoinHandle<()>) {
    server.abort();
    // Its listener is closed once it has ended.
    let _ = server.await;
}

fn map(appliance: &Appliance, address: IpAddr, socket: SocketAddr) {
    let answer = appliance.add_to_running(&format!("emulate map {address} 8080 {socket}\n"));
    assert!(answer.is_empty(), "{answer:?}");
}

/// Lets seconds pass, each with its checks.
async fn pass(checker: &Arc<Checker>, seconds: u64) {
    for _ in 0..seconds {
        checker.first().clock.advance(1);
        checker.tick();
        checker.idle().await;
    }
}

fn up(appliance: &Appliance, address: IpAddr) -> bool {
    appliance.states.address(address).passes(&[PORT])
}

#[tokio::test]
async fn a_server_that_stops_is_down_after_its_retries() {
    let appliance = appliance(CONFIGURATION);
    appliance.gate.open(Allowed::Mapped);
    let (socket, task) = server().await;
    map(&appliance, FIRST, socket);
    let checker = Checker::new(vec![Arc::clone(&appliance)]).unwrap();
    checker.tick();
    checker.idle().await;
    assert!(up(&appliance, FIRST) && up(&appliance, SECOND), "what is not mapped is not checked");
    assert_eq!(appliance.timetable().entries().count(), 1);
    assert!(appliance.states.address(FIRST).delays().tcp > 0);
    stop(task).await;
    // Interval 2, one retry: checks at 2 and at 4.
    pass(&checker, 3).await;
    assert!(up(&appliance, FIRST));
    pass(&checker, 1).await;
    assert!(!up(&appliance, FIRST));
    // It comes back at the same place: up with the next check.
    let listener = TcpListener::bind(socket).await.unwrap();
    pass(&checker, 2).await;
    assert!(up(&appliance, FIRST));
    drop(listener);
}

#[tokio::test]
async fn without_leave_nothing_is_checked() {
    let appliance = appliance(CONFIGURATION);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    map(&appliance, FIRST, listener.local_addr().unwrap());
    let checker = Checker::new(vec![Arc::clone(&appliance)]).unwrap();
    pass(&checker, 10).await;
    assert_eq!(appliance.timetable().entries().count(), 0);
    let nobody = tokio::time::timeout(Duration::ZERO, listener.accept()).await;
    assert!(nobody.is_err(), "nobody has connected");
}

#[tokio::test]
async fn what_is_said_wins_and_is_not_checked() {
    let appliance = appliance(CONFIGURATION);
    appliance.gate.open(Allowed::Mapped);
    let (socket, task) = server().await;
    stop(task).await;
    map(&appliance, FIRST, socket);
    let checker = Checker::new(vec![Arc::clone(&appliance)]).unwrap();
    pass(&checker, 1).await;
    assert!(!up(&appliance, FIRST), "the first result counts at once");
    appliance.add_to_running("emulate health 192.0.2.1 up\n");
    assert!(up(&appliance, FIRST));
    let listener = TcpListener::bind(socket).await.unwrap();
    pass(&checker, 10).await;
    assert!(up(&appliance, FIRST));
    assert!(tokio::time::timeout(Duration::ZERO, listener.accept()).await.is_err());
    drop(listener);
    appliance.add_to_running("no emulate health 192.0.2.1\n");
    pass(&checker, 2).await;
    assert!(!up(&appliance, FIRST), "it is checked again");
}

#[tokio::test]
async fn what_is_configured_no_more_is_forgotten() {
    let appliance = appliance(CONFIGURATION);
    appliance.gate.open(Allowed::Mapped);
    let (socket, task) = server().await;
    stop(task).await;
    map(&appliance, FIRST, socket);
    let checker = Checker::new(vec![Arc::clone(&appliance)]).unwrap();
    pass(&checker, 1).await;
    assert!(!up(&appliance, FIRST));
    appliance.add_to_running(&format!("no emulate map {FIRST} 8080\n"));
    pass(&checker, 1).await;
    assert!(up(&appliance, FIRST), "nobody knows anything of it");
    map(&appliance, FIRST, socket);
    pass(&checker, 1).await;
    assert!(!up(&appliance, FIRST));
    appliance.add_to_running("gslb policy\n no health-check\n");
    pass(&checker, 1).await;
    assert_eq!(appliance.timetable().entries().count(), 0, "nobody wants to know");
}

#[tokio::test]
async fn a_bound_port_without_keepalive_is_checked_until_it_is_up() {
    let text = "\
server real rs1 192.0.2.1
 port 8080
server virtual vs1 192.0.2.100
 port 8080
 bind 8080 rs1 8080
";
    let appliance = appliance(text);
    appliance.gate.open(Allowed::Mapped);
    let (socket, task) = server().await;
    stop(task).await;
    map(&appliance, FIRST, socket);
    let checker = Checker::new(vec![Arc::clone(&appliance)]).unwrap();
    pass(&checker, 1).await;
    assert!(!up(&appliance, FIRST));
    let listener = TcpListener::bind(socket).await.unwrap();
    pass(&checker, 5).await;
    assert!(up(&appliance, FIRST));
    drop(listener);
    pass(&checker, 100).await;
    assert!(up(&appliance, FIRST), "nobody looks any more");
    appliance.add_to_running("server real rs1\n port 8080 keepalive\n");
    pass(&checker, 20).await;
    assert!(!up(&appliance, FIRST), "now somebody does");
}

#[tokio::test]
async fn many_servers_are_checked_a_few_at_a_time() {
    let lines = (1..=200).map(|number| format!(" host-info many ip-list 127.0.1.{number}"));
    let zone = "gslb dns zone example.net\n host-info many 8080".to_owned();
    let lines: Vec<String> = [CONFIGURATION.to_owned(), zone].into_iter().chain(lines).collect();
    let appliance = appliance(&lines.join("\n"));
    let (socket, _task) = server_at("0.0.0.0:0").await;
    let port = socket.port();
    appliance.gate.open(Allowed::Mapped);
    for number in 0..200 {
        let address = format!("127.0.1.{}", number + 1);
        appliance.gate.map(address.parse().unwrap(), 8080, &format!("{address}:{port}"));
    }
    let checker = Checker::new(vec![Arc::clone(&appliance)]).unwrap();
    checker.tick();
    checker.idle().await;
    let table = appliance.timetable();
    assert_eq!(table.entries().count(), 200);
    assert!(table.entries().all(|(_, entry)| entry.is_up == Some(true)));
}
