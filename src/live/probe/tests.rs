use std::net::SocketAddr;
use std::sync::Arc;

use hickory_proto::op::{Message, MessageType};
use hickory_proto::rr::{RData, Record};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, UdpSocket};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

use super::*;
use crate::live::gate::{Allowed, Gate};
use crate::model::check_rules::{DnsQuestion, Greeting, HttpRequest, MatchList, MatchText};

const SERVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

fn route_to(socket: SocketAddr) -> Route {
    let gate = Gate::default();
    gate.open(Allowed::Mapped);
    gate.map(SERVER, 80, &socket.to_string());
    gate.route(SERVER, 80).unwrap()
}

fn check(protocol: Protocol) -> Check {
    Check { protocol, interval: 5, retries: 3, keepalive: true, fast_bringup: true }
}

/// A server that takes one connection, waits for `heard` if that is not empty, says `says` and
/// closes.
async fn server(heard: &'static [u8], says: &'static [u8]) -> Route {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let route = route_to(listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = Vec::new();
        while !bytes.windows(heard.len().max(1)).any(|window| window == heard) && !heard.is_empty()
        {
            let mut piece = [0; 512];
            match stream.read(&mut piece).await {
                Ok(0) | Err(_) => break,
                Ok(length) => bytes.extend_from_slice(&piece[..length]),
            }
        }
        let _ = stream.write_all(says).await;
        let _ = stream.shutdown().await;
        // Until the other side has closed too: what it had not read yet would else be lost.
        let mut rest = [0; 512];
        while stream.read(&mut rest).await.is_ok_and(|length| length > 0) {}
    });
    route
}

/// How a check ends with a server that hears `heard` and says `says`.
async fn result(
    protocol: Protocol,
    heard: &'static [u8],
    says: &'static [u8],
) -> Result<(), String> {
    match probe(&server(heard, says).await, SERVER, &check(protocol)).await {
        Finding::Passed { connection, application } => {
            assert!(connection.is_some() && application.is_some());
            Ok(())
        }
        Finding::Failed { connected, reason } => {
            assert!(connected, "{reason}");
            Err(reason)
        }
    }
}

fn http(
    request: &str,
    codes: &[(u16, u16)],
    rules: &[(&str, bool)],
    default_down: bool,
) -> Protocol {
    let texts = |wanted: bool| {
        let texts = rules.iter().filter(|(_, up)| *up == wanted);
        texts.map(|(text, _)| MatchText { start: (*text).into(), end: None }).collect()
    };
    let list = MatchList { up: texts(true), down: texts(false), default_down };
    let is_used = !rules.is_empty() || default_down;
    Protocol::Http(Box::new(HttpRequest {
        request: request.into(),
        status_codes: codes.to_vec(),
        matches: is_used.then(|| Arc::new(list)),
    }))
}

#[tokio::test]
async fn a_connection_is_enough_for_a_port() {
    let route = server(b"", b"").await;
    let found = probe(&route, SERVER, &check(Protocol::Tcp)).await;
    assert!(
        matches!(found, Finding::Passed { connection: Some(_), application: None }),
        "{found:?}"
    );
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for protocol in [Protocol::Tcp, Protocol::Ssl, Protocol::Ldap] {
        assert_eq!(
            probe(&route_to(closed), SERVER, &check(protocol)).await,
            Finding::Failed { connected: false, reason: "connection refused".to_owned() }
        );
    }
}

#[tokio::test]
async fn the_return_code_of_a_web_server_counts() {
    let ask =
        |says| result(http("HEAD /", &[(200, 299), (401, 401)], &[], false), b"\r\n\r\n", says);
    assert_eq!(ask(b"HTTP/1.1 200 OK\r\n\r\n").await, Ok(()));
    assert_eq!(ask(b"HTTP/1.0 204 No Content\r\nA: b\r\n\r\n").await, Ok(()));
    assert_eq!(ask(b"HTTP/1.1 401 Unauthorized\r\n\r\n").await, Ok(()));
    assert_eq!(ask(b"HTTP/1.1 301 Moved\r\n\r\n").await, Err("answered 301".to_owned()));
    assert_eq!(ask(b"HTTP/1.1 503 No\r\n\r\n").await, Err("answered 503".to_owned()));
    let closed = Err("closed before it answered".to_owned());
    assert_eq!(ask(b"").await, closed);
    assert_eq!(ask(b"HTTP/1.1 200 OK\r\n").await, closed);
    let error = ask(b"SSH-2.0-OpenSSH\r\n").await.unwrap_err();
    assert_eq!(error, "does not speak HTTP: SSH-2.0-OpenSSH");
}

#[tokio::test]
async fn the_request_is_the_configured_one() {
    let protocol = http("GET /status.html", &[(200, 200)], &[], false);
    assert_eq!(
        result(
            protocol,
            b"GET /status.html HTTP/1.0\r\nHost: 192.0.2.1\r\n",
            b"HTTP/1.0 200 OK\r\n\r\n"
        )
        .await,
        Ok(())
    );
}

#[tokio::test]
async fn texts_decide() {
    let rules = [("not well", false), ("well", true)];
    let ask = |says, default_down| {
        result(http("GET /", &[(200, 299)], &rules, default_down), b"\r\n\r\n", says)
    };
    let mismatch = Err("its content does not match".to_owned());
    assert_eq!(ask(b"HTTP/1.1 200 OK\r\n\r\nall is well", true).await, Ok(()));
    assert_eq!(ask(b"HTTP/1.1 200 OK\r\n\r\nall is not well", false).await, mismatch);
    assert_eq!(ask(b"HTTP/1.1 200 OK\r\n\r\nnothing", true).await, mismatch);
    assert_eq!(ask(b"HTTP/1.1 200 well\r\nX: well\r\n\r\nnothing", false).await, Ok(()));
    assert_eq!(
        ask(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell, not well", false).await,
        Ok(()),
        "what follows the body does not count"
    );
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let route = route_to(listener.local_addr().unwrap());
    tokio::spawn(async move {
        for head in [&b"HTTP/1.1 200 OK\r\nA: "[..], b"HTTP/1.1 200 OK\r\n\r\n"] {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(head).await.unwrap();
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
        }
    });
    let endless = check(http("GET /", &[(200, 299)], &[("y", true)], true));
    for expected in ["the head of its answer does not end", "its content does not match"] {
        let Finding::Failed { reason, .. } = probe(&route, SERVER, &endless).await else {
            panic!()
        };
        assert_eq!(reason, expected);
    }
}

#[tokio::test]
async fn servers_that_greet_are_known_by_it() {
    let cases: [(Greeting, &[u8], &[u8]); 8] = [
        (Greeting::Ftp, b"220 ready\r\n", b"421 busy\r\n"),
        (Greeting::Ftp, b"220-many\r\n220 lines\r\n", b"120 soon\r\n"),
        (Greeting::Smtp, b"220 mail.example.com ESMTP\r\n", b"554 no\r\n"),
        (Greeting::Pop3, b"+OK\r\n", b"-ERR\r\n"),
        (Greeting::Imap4, b"* OK IMAP4rev2\r\n", b"* BYE\r\n"),
        (Greeting::Imap4, b"* PREAUTH\r\n", b"OK\r\n"),
        (Greeting::Nntp, b"201 no posting\r\n", b"400 gone\r\n"),
        (Greeting::Telnet, b"\xff\xfd\x18", b""),
    ];
    for (greeting, good, bad) in cases {
        let protocol = || Protocol::Greeting(greeting);
        assert_eq!(result(protocol(), b"", good).await, Ok(()), "{greeting:?}");
        assert!(result(protocol(), b"", bad).await.is_err(), "{greeting:?}");
    }
    let reason = result(Protocol::Greeting(Greeting::Smtp), b"", b"554 \x1b[31mno\r\n").await;
    assert_eq!(reason, Err("greeted with 554 .[31mno".to_owned()), "nothing reaches a terminal");
    let silent = result(Protocol::Greeting(Greeting::Pop3), b"", b"").await;
    assert_eq!(silent, Err("closed before it greeted".to_owned()));
}

#[tokio::test]
async fn a_directory_server_must_let_somebody_in() {
    let request = b"\x60\x07\x02\x01\x03\x04\x00\x80\x00";
    let yes = b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00";
    let no = b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x35\x04\x00\x04\x00";
    assert_eq!(result(Protocol::Ldap, request, yes).await, Ok(()));
    assert_eq!(
        result(Protocol::Ldap, request, no).await,
        Err("refused the bind with 53".to_owned())
    );
    let other = result(Protocol::Ldap, request, b"hello").await;
    assert_eq!(other, Err("does not speak LDAP".to_owned()));
}

#[tokio::test]
async fn a_secure_server_must_shake_hands() {
    let made = rcgen::generate_simple_self_signed(["www.example.com".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()).into();
    let configuration = tokio_rustls::rustls::ServerConfig::builder_with_provider(Arc::new(
        tokio_rustls::rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .unwrap()
    .with_no_client_auth()
    .with_single_cert(vec![made.cert.der().clone()], key)
    .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(configuration));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let route = route_to(listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let _ = acceptor.accept(stream).await;
    });
    let found = probe(&route, SERVER, &check(Protocol::Ssl)).await;
    assert!(matches!(found, Finding::Passed { application: Some(_), .. }), "{found:?}");
    let plain = result(Protocol::Ssl, b"\x16\x03\x01", b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    assert!(plain.unwrap_err().starts_with("no handshake: "));
}

/// A DNS server that answers one question, after a datagram that is no answer to it.
async fn dns_server(change: fn(&mut Message)) -> Route {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let route = route_to(socket.local_addr().unwrap());
    tokio::spawn(async move {
        let mut bytes = vec![0; 512];
        let (length, client) = socket.recv_from(&mut bytes).await.unwrap();
        let mut message = Message::from_vec(&bytes[..length]).unwrap();
        message.metadata.message_type = MessageType::Response;
        let mut other = message.clone();
        other.metadata.id ^= 1;
        change(&mut message);
        for datagram in [b"?".to_vec(), other.to_vec().unwrap(), message.to_vec().unwrap()] {
            socket.send_to(&datagram, client).await.unwrap();
        }
    });
    route
}

#[tokio::test]
async fn a_dns_server_must_know_what_it_is_asked() {
    let ask = async |question: DnsQuestion, change| {
        let route = dns_server(change).await;
        match probe(&route, SERVER, &check(Protocol::Dns(question))).await {
            Finding::Passed { connection: None, application: Some(_) } => String::new(),
            Finding::Failed { connected: false, reason } => reason,
            other => panic!("{other:?}"),
        }
    };
    let nothing = |_: &mut Message| {};
    let refuse = |message: &mut Message| {
        message.metadata.response_code = hickory_proto::op::ResponseCode::Refused;
    };
    let address = |message: &mut Message| {
        let name = message.queries[0].name().clone();
        let data = RData::A(std::net::Ipv4Addr::new(192, 0, 2, 9).into());
        message.add_answer(Record::from_rdata(name, 10, data));
    };
    let www = || DnsQuestion::Address("www.example.com".into());
    assert_eq!(ask(DnsQuestion::Any, nothing).await, "");
    assert_eq!(ask(DnsQuestion::Any, refuse).await, "");
    assert_eq!(ask(www(), address).await, "");
    assert_eq!(ask(www(), nothing).await, "answered without the record");
    assert_eq!(ask(www(), refuse).await, "answered REFUSED");
    assert_eq!(
        ask(DnsQuestion::Zone("example.com".into()), address).await,
        "answered without the record"
    );
    let nobody = UdpSocket::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let found = probe(&route_to(nobody), SERVER, &check(Protocol::Dns(DnsQuestion::Any))).await;
    assert_eq!(
        found,
        Finding::Failed { connected: false, reason: "connection refused".to_owned() }
    );
}

#[tokio::test]
async fn a_udp_port_must_not_be_closed() {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let route = route_to(socket.local_addr().unwrap());
    let answer = async {
        let (_, client) = socket.recv_from(&mut [0; 16]).await.unwrap();
        socket.send_to(b"what?", client).await.unwrap();
    };
    let udp = check(Protocol::Udp);
    let (found, ()) = tokio::join!(probe(&route, SERVER, &udp), answer);
    assert_eq!(found, Finding::Passed { connection: None, application: None });
    drop(socket);
    assert_eq!(
        probe(&route, SERVER, &udp).await,
        Finding::Failed { connected: false, reason: "connection refused".to_owned() }
    );
}
