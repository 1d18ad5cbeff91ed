//! The way of one appliance to real DNS servers behind: who is asked, on which runtime, and how many
//! questions are under way.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak, mpsc};

use hashbrown::HashSet;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

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

/// No version of a gate.
const NEVER: u64 = u64::MAX;

/// The way to real servers; closed until the program goes live.
#[derive(Debug)]
pub struct Upstream {
    place: OnceLock<(Handle, Weak<Appliance>)>,
    permits: Arc<Semaphore>,
    own_permits: Arc<Semaphore>,
    /// Names that the appliance itself has asked for, without an answer yet, and the version of the gate
    /// through which it did.
    own: Mutex<HashSet<(u64, String)>>,
    /// The version of the gate when it was looked at last.
    seen: AtomicU64,
}

impl Default for Upstream {
    fn default() -> Self {
        Upstream {
            place: OnceLock::new(),
            permits: Arc::new(Semaphore::new(MOST)),
            own_permits: Arc::new(Semaphore::new(MOST_OWN)),
            own: Mutex::default(),
            seen: AtomicU64::new(NEVER),
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

    /// Whether other servers may be reached than when this was asked last, or the way is open since.
    pub fn has_other_ways(&self, gate: &Gate) -> bool {
        let version = gate.version();
        self.place.get().is_some() && self.seen.swap(version, Ordering::Relaxed) != version
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

    /// Asks for the addresses of these names and hands the replies to the appliance. A name that has
    /// been asked for and not been answered yet is not asked for again, unless others can be reached by
    /// now; what those said that were asked before then does not count any more.
    pub fn learn(
        &self,
        gate: &Arc<Gate>,
        servers: Vec<(IpAddr, u16)>,
        names: Vec<(String, &'static [RecordType])>,
    ) {
        let Some((runtime, appliance)) = self.place.get() else { return };
        let servers = Arc::new(servers);
        let version = gate.version();
        let mut own = self.own();
        for (name, types) in names {
            if !own.insert((version, name.clone())) {
                continue;
            }
            let (gate, servers) = (Arc::clone(gate), Arc::clone(&servers));
            let (permits, appliance) = (Arc::clone(&self.own_permits), Weak::clone(appliance));
            runtime.spawn(async move {
                // It is never closed.
                let _permit = permits.acquire().await;
                let replies = ask_all(&name, types, &gate, &servers).await;
                let Some(appliance) = appliance.upgrade() else { return };
                let is_new = gate.version() == version;
                let asked = (version, name);
                appliance.upstream.own().remove(&asked);
                if let Some(replies) = replies.filter(|_| is_new) {
                    appliance.take_learned(&asked.1, &replies);
                }
            });
        }
    }

    fn own(&self) -> MutexGuard<'_, HashSet<(u64, String)>> {
        // Whoever holds the lock changes one entry in one step.
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a server says of a name to each of these types; `None`: not to all of them, and what is
/// known by now stays.
async fn ask_all(
    name: &str,
    types: &[RecordType],
    gate: &Gate,
    servers: &[(IpAddr, u16)],
) -> Option<Vec<Reply>> {
    let wire = name::key_of_text(name)?;
    let mut replies = Vec::with_capacity(types.len());
    for record_type in types {
        replies.push(live::ask(gate, servers, &Query::own(&wire, *record_type)).await?);
    }
    Some(replies)
}
