//! One choice with every metric on, three candidates and a prefix cache of 100,000 entries.
//! It stays below 1 microsecond a question.
#![allow(missing_docs, reason = "the macros of criterion make undocumented functions")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use adxemu::appliance::Appliance;
use adxemu::clock::{Clock as _, DrivenClock};
use adxemu::gslb;
use adxemu::health::prefix::Prefix;
use adxemu::health::rtt::{Method, RttReport};
use adxemu::health::smoothing::Smoothing;
use adxemu::model::snapshot::Family;
use criterion::{Criterion, criterion_group, criterion_main};

/// Client prefixes in the cache, each with a round-trip time of every site.
const PREFIXES: u32 = 100_000;

/// The metrics let everybody through, so that each of them and the tie-breaker has work to do.
fn configuration() -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for site in 1..=3 {
        let _ = writeln!(text, "gslb site site{site}\n weight 30\n si-name 198.51.100.{site}");
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
        let _ = writeln!(text, "emulate si 198.51.100.{site} vip 192.0.2.{site}");
    }
    text
}

/// The n-th client, in a prefix of its own.
fn client(number: u32) -> IpAddr {
    Ipv4Addr::from_bits(0x0b00_0001 + (number << 8)).into()
}

fn choices(criterion: &mut Criterion) {
    let clock = Arc::new(DrivenClock::new());
    let appliance = Appliance::in_memory(clock.clone());
    appliance.start_with(&configuration());
    assert!(appliance.configuration().rejected.is_empty(), "the configuration is accepted");
    let snapshot = Arc::clone(&appliance.current());
    let parameters = &snapshot.global_policy().rtt;
    let now = clock.now();
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
    let host = &snapshot.hosts[0];
    let ask =
        |number| gslb::select(&snapshot, &appliance.states, host, Family::V4, client(number), now);
    let mut group = criterion.benchmark_group("choose, all metrics");
    let mut number = 0;
    group.bench_function("one client", |bencher| bencher.iter(|| black_box(ask(4711))));
    group.bench_function("every client in turn", |bencher| {
        bencher.iter(|| {
            // A step without a common divisor comes to every prefix, far from the one before.
            number = (number + 61_803) % PREFIXES;
            black_box(ask(number))
        });
    });
    group.finish();
}

criterion_group!(benches, choices);
criterion_main!(benches);
