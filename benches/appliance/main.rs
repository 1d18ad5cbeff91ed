//! The work that users wait for, with what it costs at several sizes. `docs/performance.md` holds
//! the figures and the limits.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

mod cpu_time;
mod workload;

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use adxemu::appliance::Appliance;
use adxemu::cli::session::Session;
use adxemu::cli::{matcher, words};
use adxemu::clock::DrivenClock;
use adxemu::config::edit::Trees;
use adxemu::config::load;
use adxemu::dns::{Responder, Settings, Transport};
use adxemu::grammar::Grammar;
use adxemu::gslb::choose::{View, choose};
use adxemu::model::project::{self, BootSettings};
use adxemu::model::snapshot::{Family, Snapshot};
use cpu_time::CpuTime;
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));

fn appliance(hosts: usize) -> Arc<Appliance> {
    let appliance = Arc::new(Appliance::in_memory(Arc::new(DrivenClock::default())));
    appliance.start_with(&workload::configuration(hosts));
    appliance
}

fn responder(appliance: &Arc<Appliance>) -> Arc<Responder> {
    Arc::new(Responder { appliance: Arc::clone(appliance), settings: Settings::default() })
}

/// A line to its command.
fn match_line(criterion: &mut Criterion<CpuTime>) {
    let grammar = Grammar::built_in().unwrap();
    let mode = grammar.mode_named("gslb-dns").unwrap();
    let line = "host-info www ip-weight 192.0.2.1 10";
    criterion.bench_function("match a line", |bencher| {
        bencher.iter(|| {
            let words = words::split(black_box(line));
            matcher::match_line(&grammar, mode, &words, line).unwrap()
        });
    });
}

/// A file to statements.
fn load_file(criterion: &mut Criterion<CpuTime>) {
    let grammar = Grammar::built_in().unwrap();
    let mut group = criterion.benchmark_group("load");
    group.sample_size(20);
    for lines in [2_000, 20_000, 200_000] {
        let text = workload::lines(lines);
        let lines = text.lines().count();
        group.throughput(Throughput::Elements(lines as u64));
        group.bench_with_input(BenchmarkId::from_parameter(lines), &text, |bencher, text| {
            // To drop the statements is no part of a load.
            bencher.iter_with_large_drop(|| {
                let mut trees = Trees::default();
                let report = load::load(&grammar, &mut trees, text);
                assert!(report.rejected.is_empty() && report.opaque.is_empty());
                trees
            });
        });
    }
    group.finish();
}

/// Lines typed one after the other, each with its prompt.
fn paste(criterion: &mut Criterion<CpuTime>) {
    let mut group = criterion.benchmark_group("paste");
    group.sample_size(20);
    for lines in [2_000, 20_000] {
        let text = workload::lines(lines);
        group.throughput(Throughput::Elements(text.lines().count() as u64));
        group.bench_with_input(BenchmarkId::from_parameter(lines), &text, |bencher, text| {
            let session = || {
                let mut session = Session::privileged(responder(&appliance(0)));
                session.run("configure terminal");
                session
            };
            bencher.iter_batched_ref(
                session,
                |session| {
                    for line in text.lines() {
                        black_box(session.run(line));
                        black_box(session.prompt());
                    }
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// The pure choice.
fn choose_address(criterion: &mut Criterion<CpuTime>) {
    let appliance = appliance(1_000);
    let snapshot = appliance.current();
    let host = &snapshot.hosts[500];
    criterion.bench_function("choose", |bencher| {
        bencher.iter(|| {
            let domain = host.domain.lock();
            let now = appliance.clock.now();
            let states = &appliance.states;
            let view = View::new(&snapshot, states, host, &domain, Family::V4, CLIENT, now);
            choose(black_box(&view), &mut ())
        });
    });
}

/// A question to its reply, in memory.
fn answer(criterion: &mut Criterion<CpuTime>) {
    let responder = responder(&appliance(1_000));
    let mut question = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00".to_vec();
    for label in ["h7", "zone3", "example", "com"] {
        question.push(u8::try_from(label.len()).unwrap());
        question.extend_from_slice(label.as_bytes());
    }
    question.extend_from_slice(b"\x00\x00\x01\x00\x01");
    let mut reply = Vec::new();
    criterion.bench_function("answer", |bencher| {
        bencher.iter(|| {
            assert!(responder.respond(black_box(&question), CLIENT, Transport::Udp, &mut reply));
        });
    });
}

/// Statements to the typed configuration.
fn snapshot(criterion: &mut Criterion<CpuTime>) {
    let mut group = criterion.benchmark_group("snapshot");
    group.sample_size(20);
    for hosts in [1_000, 10_000] {
        let appliance = appliance(hosts);
        group.throughput(Throughput::Elements(hosts as u64));
        group.bench_function(BenchmarkId::from_parameter(hosts), |bencher| {
            let configuration = appliance.configuration();
            let tree = &configuration.trees.configuration;
            let previous = Snapshot::empty("x");
            bencher.iter_with_large_drop(|| {
                let boot = BootSettings::default();
                project::project(&appliance.grammar, tree, &appliance.states, boot, &previous)
            });
        });
    }
    group.finish();
}

/// One typed line with many hosts configured, up to the moment when a question meets it.
fn typed_line(criterion: &mut Criterion<CpuTime>) {
    let mut group = criterion.benchmark_group("typed line");
    group.sample_size(20);
    for hosts in [1_000, 10_000] {
        let appliance = appliance(hosts);
        let mut session = Session::privileged(responder(&appliance));
        for line in ["configure terminal", "gslb dns zone zone0.example.com"] {
            assert_eq!(session.run(line), "");
        }
        let mut on = false;
        group.bench_function(BenchmarkId::from_parameter(hosts), |bencher| {
            bencher.iter(|| {
                on = !on;
                let line = if on { "host-info new http" } else { "no host-info new http" };
                assert_eq!(session.run(line), "");
                black_box(appliance.current().hosts.len())
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = match_line, load_file, paste, choose_address, answer, snapshot, typed_line
}
criterion_main!(benches);
