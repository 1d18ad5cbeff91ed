//! `ping` and `traceroute`, answered by the emulated world: nothing is sent anywhere.

use std::fmt::Write as _;
use std::net::IpAddr;

use crate::cli::session::Session;

/// Routers that a packet may pass.
const MOST_HOPS: u8 = 30;

/// `ping`: an address answers unless `emulate health` says that it is down.
pub(super) fn ping(session: &Session, target: IpAddr, count: u32) -> String {
    let reachable = session.appliance.states.is_reachable(target);
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "Sending {count}, 16-byte ICMP Echo to {target}, timeout 5000 msec, TTL 64\n\
         Type Control-c to abort"
    );
    for _ in 0..count {
        let _ = if reachable {
            writeln!(out, "Reply from {target:<16}: bytes=16 time<1ms TTL=64")
        } else {
            writeln!(out, "Request timed out.")
        };
    }
    let _ = if reachable {
        writeln!(
            out,
            "Success rate is 100 percent ({count}/{count}), round-trip min/avg/max=0/0/0 ms."
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
