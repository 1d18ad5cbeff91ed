//! Makes the health checks of the configured addresses over the network (`--live`).
//!
//! What is checked follows from the snapshots and from what the gate lets through; when, from the
//! [`Timetable`]; how, from [`super::probe`]. Results go to the same cells as `emulate health`, which
//! wins: what is said is not checked at all. So does what a site device of a lab reports, which then
//! is the one who checks (gslb-advanced 3.7).

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::appliance::Appliance;
use crate::health::state::{AddressState, Delays};
use crate::live::gate::{Gate, Route};
use crate::live::probe::probe;
use crate::live::timetable::{Finding, Job, Plan, Target, Timetable};
use crate::model::check_rules::Check;
use crate::model::policy::Metric;
use crate::model::snapshot::{Application, Host, Snapshot};

/// The most checks at a time. More would wait for the same processor and look slower than they are.
const MOST: u16 = 64;

/// Checks the addresses of one appliance, or of all of a lab.
#[derive(Debug)]
pub struct Checker {
    /// All share their addresses, the gate and the timetable.
    appliances: Vec<Arc<Appliance>>,
    permits: Arc<Semaphore>,
    /// What the plan was made from.
    followed: Mutex<Option<Followed>>,
}

#[derive(Debug)]
struct Followed {
    snapshots: Vec<Arc<Snapshot>>,
    gate: u64,
}

impl Checker {
    /// A checker of these appliances, which stand in one lab if they are several; `None` if there is
    /// none.
    #[must_use]
    pub fn new(appliances: Vec<Arc<Appliance>>) -> Option<Arc<Self>> {
        if appliances.is_empty() {
            return None;
        }
        let permits = Arc::new(Semaphore::new(MOST.into()));
        Some(Arc::new(Checker { appliances, permits, followed: Mutex::default() }))
    }

    /// Begins what has fallen due; to be called within a runtime, about once a second.
    pub fn tick(self: &Arc<Self>) {
        self.follow();
        self.start_due();
    }

    /// Waits until no check is under way nor due.
    pub async fn idle(self: &Arc<Self>) {
        loop {
            // Every check holds one. While somebody waits for all of them none is begun.
            drop(self.permits.acquire_many(MOST.into()).await);
            if !self.start_due() {
                return;
            }
        }
    }

    /// Makes the plan anew if something it is made from is another one.
    fn follow(&self) {
        let snapshots: Vec<Arc<Snapshot>> =
            self.appliances.iter().map(|appliance| Arc::clone(&appliance.current())).collect();
        let gate = self.gate().version();
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = followed.as_ref().is_some_and(|old| {
            old.gate == gate
                && old.snapshots.iter().zip(&snapshots).all(|(one, other)| Arc::ptr_eq(one, other))
        });
        if is_same {
            return;
        }
        let plan = plan(&snapshots, self.gate());
        let gone = self.timetable().follow(plan, self.first().clock.now());
        *followed = Some(Followed { snapshots, gate });
        drop(followed);
        for (address, application) in &gone {
            self.state(*address).forget_measured(*application);
        }
        if !gone.is_empty() {
            self.tell();
        }
    }

    /// Begins what is due, as far as there is room; says whether that is anything.
    fn start_due(self: &Arc<Self>) -> bool {
        let now = self.first().clock.now();
        let mut begun = false;
        while let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            let Some(job) = self.timetable().start_next(now) else { break };
            let (address, application) = job.target;
            let state = self.state(address);
            let route = self.gate().route(address, application.0);
            match route {
                Ok(route) if !state.is_said(application) => {
                    tokio::spawn(Arc::clone(self).check(job, route, permit));
                    begun = true;
                }
                Ok(_) | Err(_) => {
                    state.forget_measured(application);
                    self.timetable().skip(&job);
                }
            }
        }
        begun
    }

    async fn check(self: Arc<Self>, job: Job, route: Route, permit: OwnedSemaphorePermit) {
        let (address, _) = job.target;
        let finding = probe(&route, address, &job.check).await;
        self.enter(&job, finding);
        drop(permit);
        self.start_due();
    }

    /// Enters a result into the timetable and the state of the address.
    fn enter(&self, job: &Job, finding: Finding) {
        let (address, application) = job.target;
        let delays = delays(&finding);
        let Some(is_up) = self.timetable().finish(job, finding) else { return };
        let state = self.state(address);
        if let Some((connection, application)) = delays {
            let known = state.delays();
            state.set_measured_delays(Delays {
                tcp: connection.unwrap_or(known.tcp),
                application: application.unwrap_or(known.application),
            });
        }
        if state.set_measured(application, is_up) {
            self.tell();
        }
    }

    /// Tells everybody that a state is another one.
    fn tell(&self) {
        for appliance in &self.appliances {
            appliance.something_measured();
        }
    }

    fn first(&self) -> &Appliance {
        &self.appliances[0]
    }

    fn gate(&self) -> &Gate {
        &self.first().gate
    }

    fn state(&self, address: IpAddr) -> Arc<AddressState> {
        self.first().states.address(address)
    }

    fn timetable(&self) -> MutexGuard<'_, Timetable> {
        self.first().timetable()
    }
}

/// The delays of a check that passed, unit 100 microseconds; what took any time took one at least.
fn delays(finding: &Finding) -> Option<(Option<u32>, Option<u32>)> {
    let units = |duration: Duration| {
        u32::try_from(duration.as_micros().div_ceil(100)).unwrap_or(u32::MAX).max(1)
    };
    match finding {
        Finding::Passed { connection, application } => {
            Some((connection.map(units), application.map(units)))
        }
        Finding::Failed { .. } => None,
    }
}

/// What is to be checked: the addresses of hosts for their applications, and bound ports of real
/// servers.
fn plan(snapshots: &[Arc<Snapshot>], gate: &Gate) -> Plan {
    let mut plan = Plan::new();
    for snapshot in snapshots {
        let rules = &snapshot.balancing.checks;
        for host in snapshot.hosts.iter().filter(|host| is_checked(snapshot, host)) {
            for address in &host.addresses {
                for application in &host.applications {
                    let check = rules.of_host(address.ip, *application);
                    add(&mut plan, gate, (address.ip, *application), check);
                }
            }
        }
        for (address, port) in snapshot.balancing.bound_ports() {
            add(&mut plan, gate, (address, port), rules.of_server(address, port));
        }
    }
    plan
}

/// Whether the policy of a host has a use for checks (GSLB guide p. 35; gslb-config 3.3).
fn is_checked(snapshot: &Snapshot, host: &Host) -> bool {
    let metrics = &snapshot.policy_of(host).metrics;
    metrics.contains(&Metric::HealthCheck) || metrics.contains(&Metric::Flashback)
}

fn add(plan: &mut Plan, gate: &Gate, target: Target, check: Check) {
    let (address, Application(port)) = target;
    if gate.route(address, port).is_err() {
        return;
    }
    match plan.get(&target) {
        // Who wants it checked for good wins.
        Some(known) if known.keepalive || !check.keepalive => {}
        Some(_) | None => {
            plan.insert(target, Arc::new(check));
        }
    }
}

#[cfg(test)]
mod tests;
