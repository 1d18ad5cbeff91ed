//! One piece of work, for a profiler or an instruction counter: `work load LINES`,
//! `work paste LINES`, `work line HOSTS`, `work answer QUESTIONS`, `work choose QUESTIONS`,
//! `work nothing`.

#[path = "../benches/choose_all/crowd.rs"]
mod crowd;
#[path = "../benches/appliance/workload.rs"]
mod workload;

use std::process::ExitCode;
use std::sync::Arc;

use adxemu::appliance::Appliance;
use adxemu::cli::session::Session;
use adxemu::clock::DrivenClock;
use adxemu::dns::{Responder, Settings};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let work = arguments.next().unwrap_or_default();
    let size = arguments.next().and_then(|size| size.parse().ok()).unwrap_or(2_000);
    let appliance = Arc::new(Appliance::in_memory(Arc::new(DrivenClock::default())));
    let responder =
        Arc::new(Responder { appliance: Arc::clone(&appliance), settings: Settings::default() });
    match work.as_str() {
        "nothing" => {}
        "load" => appliance.start_with(&workload::lines(size)),
        "paste" => {
            let mut session = Session::privileged(responder);
            session.run("configure terminal");
            for line in workload::lines(size).lines() {
                session.run(line.trim_start());
                session.prompt();
            }
            session.end();
        }
        "line" => {
            appliance.start_with(&workload::configuration(size));
            let mut session = Session::privileged(responder);
            session.run("configure terminal");
            session.run("gslb dns zone zone0.example.com");
            session.run("host-info new http");
            appliance.current();
        }
        "answer" => {
            appliance.start_with(&workload::configuration(1_000));
            let mut session = Session::privileged(responder);
            session.run(&format!("emulate query h7.zone3.example.com count {size}"));
        }
        "choose" => {
            let crowd = crowd::Crowd::gather();
            let best = (0..size).filter_map(|_| std::hint::black_box(crowd.ask(4711))).count();
            return ExitCode::from(u8::from(best != size));
        }
        _ => return ExitCode::from(2),
    }
    let snapshot = appliance.current();
    // The result must not be optimised away.
    ExitCode::from(u8::from(std::hint::black_box(snapshot.hosts.len()) == usize::MAX))
}
