//! The settings of the emulated world to the measured state that they stand for.

use crate::config::tree::Reading;
use crate::grammar::link::Kept;
use crate::health::state::{
    Connection, DEFAULT_SESSIONS, ReportedVip, ServerState, Sessions, States,
};
use crate::model::snapshot::Application;
use crate::sna::{DEFAULT_BANDWIDTH, LuStatus};

/// What else must happen after a change of the measured state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: a snapshot sees the change through its cells.
    State,
    /// The owners of VIPs change: a new snapshot is due.
    Snapshot,
}

/// Brings about (`kept`) or takes back a setting.
pub fn apply(states: &States, reading: &Reading<'_>, kept: bool) -> Effect {
    #[allow(clippy::wildcard_enum_match_arm, reason = "only statements of the world come here")]
    match reading.kept() {
        Some(Kept::EmulateVip) => {
            report_vip(states, reading, kept);
            return Effect::Snapshot;
        }
        Some(Kept::EmulateHealth) => {
            set_health(states, reading, None, kept);
        }
        Some(Kept::EmulateApplicationHealth) => {
            set_health(states, reading, reading.number("app").map(Application), kept);
        }
        Some(Kept::EmulateConnection) => {
            let state = reading.word("state").and_then(Connection::from_name);
            let state = state.filter(|_| kept).unwrap_or(Connection::Established);
            with_server(states, reading, |server| server.set_connection(state));
        }
        Some(Kept::EmulateSessions) => {
            let used = reading.number("used").filter(|_| kept).unwrap_or(0);
            let maximum = reading.number("maximum").filter(|_| kept).unwrap_or(DEFAULT_SESSIONS);
            with_server(states, reading, |server| server.set_sessions(Sessions { used, maximum }));
        }
        Some(Kept::EmulateCpu) => {
            let percent = reading.number("percent").filter(|_| kept).unwrap_or(0);
            with_server(states, reading, |server| {
                server.cpu.store(percent, std::sync::atomic::Ordering::Relaxed);
            });
        }
        Some(Kept::EmulateConnectionRate) => {
            let rates: Vec<u32> = if kept { reading.numbers("rate").collect() } else { Vec::new() };
            with_server(states, reading, |server| server.load().set_rate(&rates));
        }
        Some(Kept::EmulateBindings) => {
            if let (Some(vip), Some(application)) = (reading.address("vip"), reading.number("app"))
            {
                let application = Application(application);
                let count = reading.number("count").filter(|_| kept).unwrap_or(1);
                with_server(states, reading, |server| {
                    server.set_active_bindings(vip, application, count);
                });
            }
        }
        Some(Kept::EmulateSnaSystem) => set_sna_system(states, reading, kept),
        Some(Kept::EmulateSnaLu) => {
            if let (Some(domain), Some(lu)) = (reading.text("domain"), reading.text("lu")) {
                let status = reading.word("status").and_then(LuStatus::from_name);
                let status = status.filter(|_| kept).unwrap_or(LuStatus::Active);
                states.sna.lu(domain, lu).set_status(status);
            }
        }
        _ => {}
    }
    Effect::State
}

fn report_vip(states: &States, reading: &Reading<'_>, kept: bool) {
    let Some(address) = reading.address("vip") else { return };
    with_server(states, reading, |server| {
        if kept {
            let applications = reading.numbers("app").map(Application).collect();
            server.report_vip(ReportedVip { address, applications, standby: false });
        } else {
            server.withdraw_vip(address);
        }
    });
}

fn set_health(
    states: &States,
    reading: &Reading<'_>,
    application: Option<Application>,
    kept: bool,
) {
    let up = !kept || reading.word("state") != Some(DOWN);
    if let Some(ip) = reading.address("ip") {
        states.address(ip).set_up(application, up);
    }
}

/// What a setting does not say has its default: one that stays with a new value is taken back
/// before it is made again.
fn set_sna_system(states: &States, reading: &Reading<'_>, kept: bool) {
    let (Some(domain), Some(system)) = (reading.text("domain"), reading.text("system")) else {
        return;
    };
    let load = reading.text("load").and_then(|load| load.parse().ok()).filter(|_| kept);
    let bandwidth = reading.number("bandwidth").filter(|_| kept);
    let state = states.sna.system(domain, system);
    state.set_load(load.unwrap_or(0.0));
    state.set_bandwidth(bandwidth.unwrap_or(DEFAULT_BANDWIDTH));
}

/// The name of the failed state in the grammar's type of health results.
const DOWN: &str = "down";

fn with_server(states: &States, reading: &Reading<'_>, change: impl FnOnce(&ServerState)) {
    if let Some(address) = reading.address("si") {
        change(&states.server(address));
    }
}
