//! One choice with every metric on, three candidates and a prefix cache of 100,000 entries.
//!
//! Clients ask as resolvers do, some often and most seldom (Zipf's law): a question stays below 1
//! microsecond. On both sides of that stand one client that asks again and again, and clients that
//! each ask once, so that what is known of them is in no cache of the processor; 1.5 is the limit of
//! those. Times are those of the processor. `work.sh choose 100000` counts the instructions of the
//! first.
#![allow(missing_docs, reason = "the macros of criterion make undocumented functions")]

#[path = "../appliance/cpu_time.rs"]
mod cpu_time;
mod crowd;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};

use crate::cpu_time::CpuTime;
use crate::crowd::{Crowd, PREFIXES};

fn choices(criterion: &mut Criterion<CpuTime>) {
    let crowd = Crowd::gather();
    let mut group = criterion.benchmark_group("choose, all metrics");
    let mut number = 0;
    let questions = questions();
    let mut next = questions.iter().cycle();
    group.bench_function("one client", |bencher| bencher.iter(|| black_box(crowd.ask(4711))));
    group.bench_function("clients by Zipf's law", |bencher| {
        bencher.iter(|| black_box(next.next().map(|client| crowd.ask(*client))));
    });
    group.bench_function("every client in turn", |bencher| {
        bencher.iter(|| {
            // A step without a common divisor comes to every prefix, far from the one before.
            number = (number + 61_803) % PREFIXES;
            black_box(crowd.ask(number))
        });
    });
    group.finish();
}

/// Clients of a long row of questions: the n-th most frequent asks 1/n as often as the first.
/// Frequent ones lie anywhere among the prefixes.
fn questions() -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut clients: Vec<u32> = (0..PREFIXES).collect();
    random.shuffle(&mut clients);
    let mut sum = 0.0;
    let sums: Vec<f64> = (1..=PREFIXES)
        .map(|rank| {
            sum += 1.0 / f64::from(rank);
            sum
        })
        .collect();
    let draw = |_| {
        let place = random.f64() * sum;
        clients[sums.partition_point(|until| *until <= place).min(clients.len() - 1)]
    };
    (0..1 << 20).map(draw).collect()
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = choices
}
criterion_main!(benches);
