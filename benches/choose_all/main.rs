//! One choice with every metric on, three candidates and a prefix cache of 100,000 entries.
//!
//! A question of a client that asked lately stays below 1 microsecond. Where each question comes from
//! another prefix, so that what is known of it is in no cache of the processor, the limit is 1.5.
//! Both are times of the processor. `work.sh choose 100000` counts the instructions of the first.
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
    group.bench_function("one client", |bencher| bencher.iter(|| black_box(crowd.ask(4711))));
    group.bench_function("every client in turn", |bencher| {
        bencher.iter(|| {
            // A step without a common divisor comes to every prefix, far from the one before.
            number = (number + 61_803) % PREFIXES;
            black_box(crowd.ask(number))
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = choices
}
criterion_main!(benches);
