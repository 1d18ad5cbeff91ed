//! `ping`, `traceroute` and `telnet`, answered by the emulated world: nothing is sent anywhere.

use std::fmt::Write as _;
use std::net::IpAddr;

use hickory_proto::rr::RecordType;

use crate::behind::emulated::EmulatedServer;
use crate::cli::session::Session;
use crate::config::edit::Refusal;
use crate::config::tree::{Reading, Tree};
use crate::dns::name;
use crate::grammar::Grammar;
use crate::grammar::link::{Kept, Message};
use crate::model::snapshot::Snapshot;

/// Routers that a packet may pass.
const MOST_HOPS: u8 = 30;

/// The address that a command names. A name is looked up as the device would, if it has a server to
/// ask: the emulated one answers, and no selection is made or counted.
///
/// # Errors
///
/// Nobody knows the name.
pub(super) fn target(session: &Session, arguments: &Reading<'_>) -> Result<IpAddr, Refusal> {
    if let Some(address) = arguments.address("target") {
        return Ok(address);
    }
    let name = arguments.text("name").unwrap_or_default();
    // No name of the Internet ends with a number (RFC 3696 section 2): it is a damaged address.
    if name.rsplit('.').next().is_some_and(|last| last.bytes().all(|one| one.is_ascii_digit())) {
        return Err(Refusal::new(Message::InvalidInput).with("rest", name));
    }
    let unknown = |message| Refusal::new(message).with("name", name);
    let grammar = &session.appliance.grammar;
    let domain = {
        let configuration = session.appliance.configuration();
        let tree = &configuration.trees.configuration;
        if tree.global(grammar, Kept::IpDnsServerAddress).is_none() {
            return Err(unknown(Message::NoResolver));
        }
        domain_name(grammar, tree)
    };
    let snapshot = session.appliance.current();
    // As it stands, then completed by the domain of the device.
    let completed = domain.map(|domain| format!("{name}.{domain}"));
    let server = &session.appliance.states.dns_server;
    address_of(server, &snapshot, name)
        .or_else(|| completed.and_then(|name| address_of(server, &snapshot, &name)))
        .ok_or_else(|| unknown(Message::UnknownHost))
}

fn domain_name(grammar: &Grammar, tree: &Tree) -> Option<String> {
    let statement = tree.global(grammar, Kept::IpDnsDomainName)?;
    statement.text("domain").map(str::to_owned)
}

/// The first address that the server behind has for a name, of IPv4 if there is one.
fn address_of(server: &EmulatedServer, snapshot: &Snapshot, name: &str) -> Option<IpAddr> {
    let wire_name = name::key_of_text(name)?;
    [RecordType::A, RecordType::AAAA].into_iter().find_map(|record_type| {
        let reply = server.answer_with(snapshot, &wire_name, record_type);
        reply.answers.iter().find_map(|record| record.data.ip_addr())
    })
}

/// `ping`: an address answers unless `emulate health` says that it is down. Control-C ends it behind the
/// reply that is being waited for.
pub(super) fn ping(session: &Session, target: IpAddr, count: u32) -> String {
    let reachable = session.appliance.states.is_reachable(target);
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "Sending {count}, 16-byte ICMP Echo to {target}, timeout 5000 msec, TTL 64\n\
         Type Control-c to abort"
    );
    let mut sent = 0;
    while sent < count {
        sent += 1;
        let _ = if reachable {
            writeln!(out, "Reply from {target:<16}: bytes=16 time<1ms TTL=64")
        } else {
            writeln!(out, "Request timed out.")
        };
        if session.interruption().is_wanted() {
            break;
        }
    }
    let _ = if reachable {
        writeln!(
            out,
            "Success rate is 100 percent ({sent}/{sent}), round-trip min/avg/max=0/0/0 ms."
        )
    } else {
        writeln!(out, "No reply from remote host.")
    };
    out
}

/// `traceroute`: over the router, if there is one and the target lies behind it.
pub(super) fn traceroute(session: &Session, target: IpAddr) -> String {
    let (router, is_near) = {
        let configuration = session.appliance.configuration();
        let tree = &configuration.trees.configuration;
        let network = crate::model::network::Network::read(&session.appliance.grammar, tree);
        let is_near = network.is_near(target);
        (network.gateway, is_near)
    };
    let reachable = session.appliance.states.is_reachable(target);
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "Type Control-c to abort\nTracing the route to IP node {target} from 1 to {MOST_HOPS} hops\n"
    );
    let mut hop = 1;
    if let Some(router) = router.filter(|router| !is_near && *router != target) {
        let _ = writeln!(out, "{hop:>3}    <1 ms   <1 ms   <1 ms {router}");
        hop += 1;
    }
    if reachable {
        let _ = writeln!(out, "{hop:>3}    <1 ms   <1 ms   <1 ms {target}");
    } else {
        for hop in hop..=MOST_HOPS {
            let _ = writeln!(out, "{hop:>3}    *       *       *       ?");
        }
    }
    out
}

/// `telnet`: a host that is up has nobody behind that port, in the emulated world.
pub(super) fn telnet(session: &Session, target: IpAddr) -> Refusal {
    let reachable = session.appliance.states.is_reachable(target);
    let message = if reachable { Message::TelnetRefused } else { Message::TelnetTimedOut };
    Refusal::new(message).with("target", target.to_string())
}
