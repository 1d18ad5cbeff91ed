//! One emulated appliance: everything that its sessions and its sockets share.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};

use crate::clock::Clock;
use crate::counters::Counters;
use crate::health::state::States;
use crate::model::snapshot::Snapshot;

/// One emulated appliance.
#[derive(Debug)]
pub struct Appliance {
    /// The process-wide clock.
    pub clock: Arc<dyn Clock>,
    /// Counters that are only shown.
    pub counters: Counters,
    /// What health checks and site devices report.
    pub states: States,
    snapshot: ArcSwap<Snapshot>,
}

impl Appliance {
    /// An appliance with an empty configuration.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Appliance {
            clock,
            counters: Counters::default(),
            states: States::default(),
            snapshot: ArcSwap::from_pointee(Snapshot::empty("ServerIronADX")),
        }
    }

    /// The present meaning of the configuration, with every accepted line in it.
    pub fn current(&self) -> Guard<Arc<Snapshot>> {
        self.snapshot.load()
    }

    /// Publishes a snapshot made by hand; for tests and benchmarks below the command line.
    pub fn publish(&self, snapshot: Snapshot) {
        self.snapshot.store(Arc::new(snapshot));
    }
}
