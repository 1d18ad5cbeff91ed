//! One check of one server: connect, and ask what the application is asked.
//!
//! Every check has a deadline and every read a bound, so that a server which says nothing, or never
//! stops, costs no more than one that works.

mod dns;
mod greeting;
mod http;
mod ldap;
mod ssl;
mod udp;

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::clock::Stopwatch;
use crate::live::gate::Route;
use crate::live::timetable::Finding;
use crate::model::check_rules::{Check, Protocol};

/// The longest that a check may take, seconds; one with a shorter interval has that.
const PATIENCE: u16 = 5;

/// Makes a check. `address` is the one that is configured, wherever the route leads.
pub async fn probe(route: &Route, address: IpAddr, check: &Check) -> Finding {
    let patience = Duration::from_secs(check.interval.min(PATIENCE).into());
    match &check.protocol {
        Protocol::Dns(question) => finding(None, dns::ask(route, question), patience).await,
        Protocol::Udp => match timeout(patience, udp::knock(route)).await {
            Ok(Err(reason)) => Finding::Failed { connected: false, reason },
            Ok(Ok(())) | Err(_) => Finding::Passed { connection: None, application: None },
        },
        Protocol::Tcp
        | Protocol::Http(_)
        | Protocol::Ssl
        | Protocol::Greeting(_)
        | Protocol::Ldap => {
            let watch = Stopwatch::start();
            let stream = match timeout(patience, route.connect()).await {
                Ok(Ok(stream)) => stream,
                Ok(Err(error)) => {
                    return Finding::Failed { connected: false, reason: words(&error) };
                }
                Err(_) => {
                    let reason = format!("no connection in {} s", patience.as_secs());
                    return Finding::Failed { connected: false, reason };
                }
            };
            let connection = watch.elapsed();
            if check.protocol == Protocol::Tcp {
                return Finding::Passed { connection: Some(connection), application: None };
            }
            let left = patience.saturating_sub(connection);
            finding(Some(connection), converse(stream, address, &check.protocol), left).await
        }
    }
}

/// Asks over a connection what the application is asked.
async fn converse(
    mut stream: TcpStream,
    address: IpAddr,
    protocol: &Protocol,
) -> Result<(), String> {
    match protocol {
        Protocol::Http(request) => http::ask(&mut stream, address, request).await,
        Protocol::Ssl => ssl::shake_hands(stream, address).await,
        Protocol::Greeting(greeting) => greeting::listen(&mut stream, *greeting).await,
        Protocol::Ldap => ldap::bind(&mut stream).await,
        Protocol::Tcp | Protocol::Udp | Protocol::Dns(_) => Ok(()),
    }
}

/// What follows from what the application does.
async fn finding(
    connection: Option<Duration>,
    asked: impl Future<Output = Result<(), String>>,
    patience: Duration,
) -> Finding {
    let watch = Stopwatch::start();
    let connected = connection.is_some();
    match timeout(patience, asked).await {
        Ok(Ok(())) => Finding::Passed { connection, application: Some(watch.elapsed()) },
        Ok(Err(reason)) => Finding::Failed { connected, reason },
        Err(_) => Finding::Failed { connected, reason: "no answer in time".to_owned() },
    }
}

/// What the system says, in the words that a user expects.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::ConnectionReset => "connection reset".to_owned(),
        io::ErrorKind::UnexpectedEof => "closed before it answered".to_owned(),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            "no way there".to_owned()
        }
        io::ErrorKind::TimedOut => "no answer in time".to_owned(),
        _ => shown(error.to_string().as_bytes()),
    }
}

/// What a server sent, so that it can be shown: printable, and not long.
fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 40;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut text: String = line.trim_ascii().iter().take(MOST).copied().map(plain).collect();
    if line.trim_ascii().len() > MOST {
        text.push_str("...");
    }
    text
}

fn plain(byte: u8) -> char {
    if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '.' }
}

#[cfg(test)]
mod tests;
