//! One emulated appliance: everything that its sessions and its sockets share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::{ArcSwap, Guard};

use crate::clock::{Clock, Moment};
use crate::config::edit::{Outcome, Trees};
use crate::config::load::{self, Rejected};
use crate::config::render::{self, Secrets};
use crate::config::tree::{Reading, Statement, Tree};
use crate::counters::Counters;
use crate::grammar::Grammar;
use crate::grammar::link::Kept;
use crate::health::state::States;
use crate::log::Log;
use crate::model::project::{self, BootSettings, DEFAULT_DEVICE_NAME};
use crate::model::snapshot::Snapshot;
use crate::model::world::{self, Effect};
use crate::store::{Saved, StateDirectory, StoreError};

/// One emulated appliance.
#[derive(Debug)]
pub struct Appliance {
    /// What may be typed.
    pub grammar: Arc<Grammar>,
    /// The process-wide clock.
    pub clock: Arc<dyn Clock>,
    /// Counters that are only shown.
    pub counters: Counters,
    /// What health checks and site devices report.
    pub states: States,
    /// Messages for the console and the log buffer.
    pub log: Log,
    configuration: Mutex<Configuration>,
    /// Whether the snapshot is older than the configuration.
    is_stale: AtomicBool,
    snapshot: ArcSwap<Snapshot>,
    /// When the appliance was started last, in milliseconds of the clock.
    started: AtomicU64,
    /// Where a save goes.
    store: Option<StateDirectory>,
}

/// What becomes of settings of the emulated world in a startup configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scenario {
    /// They count: the file is read for the first time.
    Count,
    /// The emulated world stays as it is.
    Stay,
}

/// What was typed and what is saved.
#[derive(Debug, Default)]
pub struct Configuration {
    /// What was typed.
    pub trees: Trees,
    /// The saved configuration.
    pub startup: String,
    /// Lines of the startup configuration that were put aside.
    pub rejected: Vec<Rejected>,
    boot: BootSettings,
}

impl Appliance {
    /// An appliance with an empty configuration. `store` is where it saves to; without one a save
    /// lasts as long as the program.
    pub fn new(
        grammar: Arc<Grammar>,
        clock: Arc<dyn Clock>,
        store: Option<StateDirectory>,
    ) -> Self {
        let started = clock.now().as_millis();
        Appliance {
            grammar,
            clock,
            counters: Counters::default(),
            states: States::default(),
            log: Log::default(),
            configuration: Mutex::default(),
            is_stale: AtomicBool::new(false),
            snapshot: ArcSwap::from_pointee(Snapshot::empty(DEFAULT_DEVICE_NAME)),
            started: AtomicU64::new(started),
            store,
        }
    }

    /// An appliance with the built-in grammar that saves nothing; for tests and benchmarks.
    ///
    /// # Panics
    ///
    /// The built-in grammar does not load, which a test rules out.
    pub fn in_memory(clock: Arc<dyn Clock>) -> Self {
        let grammar = Grammar::built_in().expect("the built-in grammar loads");
        Appliance::new(Arc::new(grammar), clock, None)
    }

    /// Starts from what the store holds, if it holds anything.
    ///
    /// # Errors
    ///
    /// A file is there and cannot be read.
    pub fn start_from_store(&self) -> Result<(), StoreError> {
        let Some(store) = &self.store else { return Ok(()) };
        let saved = store.load()?.unwrap_or_default();
        self.start_with(&saved.startup);
        self.load_world(&saved.world);
        Ok(())
    }

    /// Makes `text` the startup configuration and starts from it. Settings of the emulated world in
    /// it count now and are not part of the startup configuration.
    pub fn start_with(&self, text: &str) {
        text.clone_into(&mut self.configuration().startup);
        self.restart_with(Scenario::Count);
    }

    /// Restarts: the running configuration is read from the startup configuration; counters,
    /// rotation and uptime begin anew; the emulated world and the clock stay (decisions 1.5).
    pub fn restart(&self) {
        self.restart_with(Scenario::Stay);
    }

    fn restart_with(&self, scenario: Scenario) {
        let mut configuration = self.configuration();
        configuration.trees.configuration = Tree::default();
        let startup = std::mem::take(&mut configuration.startup);
        let mut report = match scenario {
            Scenario::Count => load::load(&self.grammar, &mut configuration.trees, &startup),
            Scenario::Stay => {
                let mut trees = Trees::default();
                let report = load::load(&self.grammar, &mut trees, &startup);
                configuration.trees.configuration = trees.configuration;
                report
            }
        };
        if scenario == Scenario::Stay {
            report.world.clear();
        }
        configuration.startup = startup;
        configuration.rejected = report.rejected;
        configuration.boot =
            project::boot_settings(&self.grammar, &configuration.trees.configuration);
        self.apply_world(&report.world);
        self.counters.clear();
        self.log.restart();
        self.started.store(self.clock.now().as_millis(), Ordering::Relaxed);
        self.publish_from(&configuration, &Snapshot::empty(DEFAULT_DEVICE_NAME));
    }

    /// Reads settings of the emulated world, one command a line.
    pub fn load_world(&self, text: &str) {
        let mut configuration = self.configuration();
        let report = load::load(&self.grammar, &mut configuration.trees, text);
        configuration.rejected.extend(report.rejected);
        self.apply_world(&report.world);
        self.is_stale.store(true, Ordering::Release);
    }

    /// Locks what was typed, to read it.
    pub fn configuration(&self) -> MutexGuard<'_, Configuration> {
        // A panic in between cannot leave half a line: a line is checked before it changes a tree.
        self.configuration.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what was typed by one line.
    ///
    /// # Errors
    ///
    /// Those of `change`, which then has changed nothing.
    pub fn edit<E>(
        &self,
        change: impl FnOnce(&Grammar, &mut Trees) -> Result<Outcome, E>,
    ) -> Result<(), E> {
        let mut configuration = self.configuration();
        let outcome = change(&self.grammar, &mut configuration.trees)?;
        self.apply_world(&outcome.world);
        if outcome.changed {
            self.is_stale.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Removes all settings of the emulated world; zeroes counters, and the clock if it is driven.
    pub fn reset_world(&self) {
        let mut configuration = self.configuration();
        configuration.trees.world = Tree::default();
        self.states.reset();
        self.counters.clear();
        for host in &self.snapshot.load().hosts {
            host.domain.lock().clear_counts();
        }
        if self.clock.reset() {
            self.started.store(0, Ordering::Relaxed);
        }
        self.is_stale.store(true, Ordering::Release);
    }

    /// The name that begins every prompt, as the last line left it.
    pub fn device_name(&self, tree: &Tree) -> String {
        tree.global(&self.grammar, Kept::Hostname)
            .and_then(|statement| statement.text("name"))
            .unwrap_or(DEFAULT_DEVICE_NAME)
            .to_owned()
    }

    /// Saves the running configuration and the settings of the emulated world.
    ///
    /// # Errors
    ///
    /// They cannot be written; then what was saved before is still there.
    pub fn save(&self) -> Result<(), StoreError> {
        let mut configuration = self.configuration();
        let trees = &configuration.trees;
        let saved = Saved {
            startup: render::body(&self.grammar, &trees.configuration, Secrets::Stored),
            world: render::world(&self.grammar, &trees.world),
        };
        if let Some(store) = &self.store {
            store.save(&saved)?;
        }
        configuration.startup = saved.startup;
        Ok(())
    }

    /// Whether the running configuration differs from the saved one.
    pub fn is_unsaved(&self) -> bool {
        let configuration = self.configuration();
        let tree = &configuration.trees.configuration;
        let running = render::body(&self.grammar, tree, Secrets::Stored);
        // What was loaded may be written in another way: compare what it means.
        let mut saved = Trees::default();
        load::load(&self.grammar, &mut saved, &configuration.startup);
        running != render::body(&self.grammar, &saved.configuration, Secrets::Stored)
    }

    /// The present meaning of the configuration, with every accepted line in it.
    pub fn current(&self) -> Guard<Arc<Snapshot>> {
        if self.is_stale.load(Ordering::Acquire) {
            let configuration = self.configuration();
            if self.is_stale.swap(false, Ordering::AcqRel) {
                let previous = self.snapshot.load_full();
                self.publish_from(&configuration, &previous);
            }
        }
        self.snapshot.load()
    }

    /// Publishes a snapshot made by hand; for tests and benchmarks below the command line.
    pub fn publish(&self, snapshot: Snapshot) {
        self.snapshot.store(Arc::new(snapshot));
    }

    /// What has passed since the appliance was started, in seconds.
    pub fn uptime(&self) -> u64 {
        let started = Moment::from_millis(self.started.load(Ordering::Relaxed));
        self.clock.now().since(started).as_secs()
    }

    fn publish_from(&self, configuration: &Configuration, previous: &Snapshot) {
        let tree = &configuration.trees.configuration;
        let snapshot =
            project::project(&self.grammar, tree, &self.states, configuration.boot, previous);
        self.is_stale.store(false, Ordering::Release);
        self.snapshot.store(Arc::new(snapshot));
        self.states.collect();
    }

    fn apply_world(&self, changes: &[(bool, Statement)]) {
        for (kept, statement) in changes {
            let reading = Reading { grammar: &self.grammar, statement };
            if world::apply(&self.states, &reading, *kept) == Effect::Snapshot {
                self.is_stale.store(true, Ordering::Release);
            }
        }
    }
}
