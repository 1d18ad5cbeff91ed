//! The way of one appliance to real DNS servers behind: who is asked, on which runtime, and how many
//! questions are under way.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak, mpsc};

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::appliance::Appliance;
use crate::behind::live::{self, Query};
use crate::behind::reply::Reply;
use crate::dns::name;
use crate::health::state::States;
use crate::live::gate::{Allowed, Gate};
use crate::model::snapshot::Snapshot;

use hickory_proto::rr::RecordType;

/// The most questions of clients that are under way; further ones get no reply.
const MOST: usize = 512;

/// The most of the appliance's own questions that are under way.
const MOST_OWN: usize = 16;

/// The way to real servers; closed until the program goes live.
#[derive(Debug)]
pub struct Upstream {
    place: OnceLock<(Handle, Weak<Appliance>)>,
    permits: Arc<Semaphore>,
    /// Whether the appliance's own questions are under way.
    is_learning: AtomicBool,
}

impl Default for Upstream {
    fn default() -> Self {
        Upstream {
            place: OnceLock::new(),
            permits: Arc::new(Semaphore::new(MOST)),
            is_learning: AtomicBool::new(false),
        }
    }
}

impl Upstream {
    /// Opens the way for an appliance, once.
    pub fn open(&self, runtime: &Handle, appliance: &Arc<Appliance>) {
        // A second runtime is ignored: an appliance never moves.
        let _ = self.place.set((runtime.clone(), Arc::downgrade(appliance)));
    }

    /// The real servers that may be asked; none: the emulated one answers.
    pub fn servers(&self, gate: &Gate, snapshot: &Snapshot, states: &States) -> Vec<(IpAddr, u16)> {
        if self.place.get().is_none() || gate.allowed() == Allowed::Nothing {
            return Vec::new();
        }
        let servers = snapshot.balancing.dns_servers(states);
        let addresses = servers.filter_map(|(server, port)| Some((server.address?, port)));
        addresses.filter(|(address, port)| gate.route(*address, *port).is_ok()).collect()
    }

    /// Leave to have one more question under way.
    pub fn admit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }

    /// Asks and waits, on a thread that may wait.
    pub fn ask_and_wait(
        &self,
        gate: &Arc<Gate>,
        servers: Vec<(IpAddr, u16)>,
        query: Query,
    ) -> Option<Reply> {
        let (runtime, _) = self.place.get()?;
        let (sender, receiver) = mpsc::channel();
        let gate = Arc::clone(gate);
        runtime.spawn(async move {
            // Nobody listens any more if it took too long.
            let _ = sender.send(live::ask(&gate, &servers, &query).await);
        });
        receiver.recv_timeout(live::LONGEST * 2).ok().flatten()
    }

    /// Asks for the addresses of these names and hands the replies to the appliance. What is still
    /// under way from the last time is not asked for again.
    pub fn learn(&self, gate: &Arc<Gate>, servers: Vec<(IpAddr, u16)>, names: Vec<String>) {
        let Some((runtime, appliance)) = self.place.get() else { return };
        if names.is_empty() || self.is_learning.swap(true, Ordering::AcqRel) {
            return;
        }
        let (gate, appliance) = (Arc::clone(gate), Weak::clone(appliance));
        runtime.spawn(async move {
            let servers = Arc::new(servers);
            let mut running = JoinSet::new();
            for name in names {
                if running.len() >= MOST_OWN {
                    running.join_next().await;
                }
                let (gate, servers) = (Arc::clone(&gate), Arc::clone(&servers));
                let appliance = Weak::clone(&appliance);
                running.spawn(async move { ask_for(&name, &gate, &servers, &appliance).await });
            }
            while running.join_next().await.is_some() {}
            if let Some(appliance) = appliance.upgrade() {
                appliance.upstream.is_learning.store(false, Ordering::Release);
            }
        });
    }
}

async fn ask_for(name: &str, gate: &Gate, servers: &[(IpAddr, u16)], appliance: &Weak<Appliance>) {
    let Some(wire) = name::key_of_text(name) else { return };
    let mut replies = Vec::new();
    for record_type in [RecordType::A, RecordType::AAAA] {
        let query = Query::own(&wire, record_type);
        if let Some(reply) = live::ask(gate, servers, &query).await {
            replies.push(reply);
        }
    }
    if let Some(appliance) = appliance.upgrade() {
        appliance.take_learned(name, &replies);
    }
}
