//! Answers for names of an SNA gateway domain of 10,000 LUs, from bytes to bytes. Each stays below
//! 5 microseconds.
#![allow(missing_docs, reason = "the macros of criterion make undocumented functions")]

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use adxemu::appliance::Appliance;
use adxemu::clock::DrivenClock;
use adxemu::dns::name::key_of_text;
use adxemu::dns::{Settings, Transport, respond};
use criterion::{Criterion, criterion_group, criterion_main};

const SYSTEMS: usize = 50;
const POOLS: usize = 100;
const LUS: usize = 10_000;
/// User records, each with a network of its own.
const RECORDS: usize = 5_000;

/// LUs lie on the systems in turn and in blocks in the pools, so that each pool is on all systems.
fn configuration() -> String {
    let mut text = String::from("sna-domain sna.example.com\n");
    // Writing to a String cannot fail.
    for system in 0..SYSTEMS {
        let _ = writeln!(text, " system gw{system} 192.0.2.{}", system + 1);
    }
    for lu in 0..LUS {
        let (system, pool) = (lu % SYSTEMS, lu / (LUS / POOLS));
        let _ = writeln!(text, " lu LU{lu} system gw{system} pool POOL{pool}");
    }
    for record in 0..RECORDS {
        let (pool, alternate) = (record % POOLS, (record + 1) % POOLS);
        let (high, low) = (record / 256, record % 256);
        let _ = writeln!(
            text,
            " user-record SITE{record} default-resource POOL{pool} POOL{alternate}\n \
             user-record SITE{record} ip-address 10.{high}.{low}.0/24"
        );
    }
    text.push_str("!\n");
    text
}

/// The same domain with every LU in use, which makes each pass look at all LUs of the pools.
fn all_in_use() -> String {
    let mut text = configuration();
    for lu in 0..LUS {
        let _ = writeln!(text, "emulate sna sna.example.com lu LU{lu} in-use");
    }
    text
}

fn question(name: &str) -> Vec<u8> {
    let mut message = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00".to_vec();
    message.extend(key_of_text(name).expect("a domain name"));
    message.extend([0, 1, 0, 1]);
    message
}

fn appliance(text: &str) -> Appliance {
    let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
    appliance.start_with(text);
    assert!(appliance.configuration().rejected.is_empty(), "the configuration is accepted");
    appliance
}

fn answers(criterion: &mut Criterion) {
    let client = IpAddr::V4(Ipv4Addr::new(10, 7, 3, 53));
    let mut group = criterion.benchmark_group("sna");
    let idle = appliance(&configuration());
    let busy = appliance(&all_in_use());
    for (label, appliance, name) in [
        ("keyword", &idle, "glb.sna.example.com"),
        ("user record", &idle, "site4711.sna.example.com"),
        ("pool", &idle, "pool42.sna.example.com"),
        ("lu", &idle, "lu9999.sna.example.com"),
        ("keyword, all in use", &busy, "glb.sna.example.com"),
    ] {
        let message = question(name);
        let mut reply = Vec::new();
        let mut ask = || {
            let settings = Settings::default();
            respond(appliance, settings, &message, client, Transport::Udp, &mut reply)
        };
        assert!(ask(), "{name} is answered");
        group.bench_function(label, |bencher| bencher.iter(&mut ask));
    }
    group.finish();
}

criterion_group!(benches, answers);
criterion_main!(benches);
