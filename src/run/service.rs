//! The program as a service: no prompt, a log on standard error, readiness, reload, metrics.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use tracing::{error, info, warn};
use tracing_subscriber::filter::EnvFilter;

use super::{
    Failure, Started, check_servers, keep_time, listen, listening_text, metrics_text, runtime,
    workers_of_a_server,
};
use crate::arguments::Options;

/// The variable that says what is logged, in the form of `tracing_subscriber::EnvFilter`.
const LOG_VARIABLE: &str = "ADXEMU_LOG";

/// What is logged if it says nothing.
const DEFAULT_LOG: &str = "info,russh=error";

/// Serves until it is told to stop.
pub(super) fn serve(options: &Options, started: &Started) -> Result<ExitCode, Failure> {
    let runtime = runtime()?;
    // Signals count from here on, also while sockets are opened.
    let mut signals = runtime.block_on(async { Signals::new() })?;
    let server =
        listen(options, &runtime, &started.responder, workers_of_a_server()).transpose()?;
    let remote = started.remote(options, &runtime)?;
    let metrics = started.metrics(options, &runtime)?;
    // What keeps the program from serving is said in one plain line; what follows is a log.
    begin_log();
    keep_time(&runtime, started);
    check_servers(&runtime, started);
    for complaint in started.complaints().lines() {
        warn!("{complaint}");
    }
    let rejected = started.appliance().configuration().rejected.len();
    if rejected > 0 {
        warn!(rejected, "lines of the configuration do not count: show emulate rejected");
    }
    if let Some(server) = &server {
        say(&listening_text(started.appliance(), server));
    }
    if let Some(remote) = &remote {
        say(&remote.text);
        for line in remote.warning.lines() {
            warn!("{line}");
        }
    }
    if let Some(metrics) = &metrics {
        say(&metrics_text(started.appliance(), metrics));
    }
    notify(Stage::Ready);
    runtime.block_on(async {
        while signals.next().await == Signal::Reload {
            reload(options, started);
        }
    });
    notify(Stage::Stopping);
    info!("told to stop");
    runtime.block_on(async {
        if let Some(remote) = remote {
            remote.server.shutdown().await;
        }
        if let Some(metrics) = metrics {
            metrics.shutdown().await;
        }
        if let Some(server) = server {
            server.shutdown().await;
        }
    });
    Ok(ExitCode::SUCCESS)
}

/// From now on logs go to standard error; a journal or a file gets no colours.
fn begin_log() {
    // The library of SSH would tell every step that a client does not get right.
    let given = std::env::var(LOG_VARIABLE).unwrap_or_else(|_| DEFAULT_LOG.to_owned());
    let filter = EnvFilter::builder().parse_lossy(given);
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr);
    // Who has begun a log before keeps it.
    let _ = log.try_init();
}

fn say(text: &str) {
    for line in text.lines() {
        info!("{line}");
    }
}

/// How far the service is, for whoever has started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Ready,
    Reloading,
    Stopping,
}

/// Tells whoever started the service, if it wants to know.
#[cfg(target_os = "linux")]
fn notify(stage: Stage) {
    use sd_notify::NotifyState;
    let mut states = vec![match stage {
        Stage::Ready => NotifyState::Ready,
        Stage::Reloading => NotifyState::Reloading,
        Stage::Stopping => NotifyState::Stopping,
    }];
    if stage == Stage::Reloading {
        states.extend(NotifyState::monotonic_usec_now());
    }
    if let Err(error) = sd_notify::notify(&states) {
        warn!(%error, "cannot tell that the service is ready or stops");
    }
}

/// Nobody wants to know on other systems.
#[cfg(not(target_os = "linux"))]
fn notify(_stage: Stage) {}

/// Reads the configuration again and restarts from it. What cannot be read changes nothing.
fn reload(options: &Options, started: &Started) {
    notify(Stage::Reloading);
    match started.reload(options) {
        Ok(()) => {
            info!("configuration read again");
            for (name, responder) in started.appliances() {
                let rejected = responder.appliance.configuration().rejected.len();
                if rejected > 0 {
                    warn!(name, rejected, "lines of the configuration do not count");
                }
            }
        }
        Err(error) => error!(%error, "configuration not read again"),
    }
    notify(Stage::Ready);
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Stop,
    Reload,
}

/// The signals that a service listens to.
#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::Stop,
            _ = self.interrupt.recv() => Signal::Stop,
            _ = self.hangup.recv() => Signal::Reload,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Signals)
    }

    async fn next(&mut self) -> Signal {
        // A console that cannot be listened to cannot stop the program in this way either.
        let _ = tokio::signal::ctrl_c().await;
        Signal::Stop
    }
}
