//! An appliance with every metric on and a crowd of clients in its prefix cache, for the bench of
//! the choice and for `examples/work.rs`.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use adxemu::appliance::Appliance;
use adxemu::clock::{Clock, DrivenClock, Moment};
use adxemu::gslb;
use adxemu::health::prefix::Prefix;
use adxemu::health::rtt::{Method, RttReport};
use adxemu::health::smoothing::Smoothing;
use adxemu::model::snapshot::{Family, Snapshot};

/// Client prefixes in the cache, each with a round-trip time of every site.
pub(crate) const PREFIXES: u32 = 100_000;

/// The metrics let everybody through, so that each of them and the tie-breaker has work to do.
fn configuration() -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for site in 1..=3 {
        let _ = writeln!(text, "gslb site site{site}\n si-name 198.51.100.{site}");
    }
    text.push_str("gslb dns zone gslb.com\n host-info www http\n");
    for site in 1..=3 {
        let _ = writeln!(text, " host-info www ip-list 192.0.2.{site}");
    }
    text.push_str(
        "gslb policy\n dns override\n dns cache-proxy\n weighted-site\n active-bindings\n \
         flashback\n preference\n connection-load limit 1000\n round-trip-time cache-prefix 24\n",
    );
    for site in 1..=3 {
        let _ = writeln!(text, "emulate si 198.51.100.{site} vip 192.0.2.{site} http");
        let _ = writeln!(text, "emulate si 198.51.100.{site} bindings 192.0.2.{site} http 2");
        let _ = writeln!(text, "emulate si 198.51.100.{site} connection-rate 100");
        let _ = writeln!(text, "emulate flashback 192.0.2.{site} tcp 5 app 15");
    }
    text
}

/// The appliance and its configuration.
pub(crate) struct Crowd {
    appliance: Appliance,
    snapshot: Arc<Snapshot>,
    now: Moment,
}

impl Crowd {
    /// Every client has asked, and every site device has reported its round-trip time.
    pub(crate) fn gather() -> Self {
        let clock = Arc::new(DrivenClock::new());
        let appliance = Appliance::in_memory(Arc::clone(&clock) as Arc<dyn Clock>);
        appliance.start_with(&configuration());
        assert!(appliance.configuration().rejected.is_empty(), "the configuration is accepted");
        // All samples of the connection load are complete then.
        clock.advance(60);
        appliance.pass_time();
        let snapshot = Arc::clone(&appliance.current());
        let parameters = &snapshot.global_policy().rtt;
        let now = appliance.clock.now();
        for number in 0..PREFIXES {
            for server in &snapshot.servers {
                let report = RttReport {
                    clients: Prefix::new(client(number), 24),
                    server: server.address,
                    method: Method::Passive,
                    rtt: 70,
                    failed: false,
                };
                appliance.states.prefixes.report(&report, Smoothing::Standard, parameters, now);
            }
            appliance.states.prefixes.touch(client(number), parameters, now);
        }
        assert_eq!(appliance.states.prefixes.size(), (100_000, 300_000));
        Crowd { appliance, snapshot, now }
    }

    /// A question of the n-th client; the place of the address that it gets.
    pub(crate) fn ask(&self, number: u32) -> Option<usize> {
        let Crowd { appliance, snapshot, now } = self;
        let host = &snapshot.hosts[0];
        gslb::select(snapshot, &appliance.states, host, Family::V4, client(number), *now).0.best
    }
}

/// The n-th client, in a prefix of its own.
fn client(number: u32) -> IpAddr {
    Ipv4Addr::from_bits(0x0b00_0001 + (number << 8)).into()
}
