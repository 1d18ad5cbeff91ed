//! One emulated appliance: everything that its sessions and its sockets share.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::{ArcSwap, Guard};

use crate::cli::sessions::Sessions;
use crate::clock::{Clock, Moment};
use crate::config::edit::{Outcome, Trees};
use crate::config::load::{self, Rejected};
use crate::config::render::{self, Secrets};
use crate::config::tree::{Reading, Statement};
use crate::counters::Counters;
use crate::grammar::Grammar;
use crate::grammar::link::Kept;
use crate::health::state::States;
use crate::log::status::StatusWatch;
use crate::log::{Log, Stamp};
use crate::model::logging::{LogLevel, LogSettings};
use crate::model::project::{self, BootSettings, DEFAULT_DEVICE_NAME};
use crate::model::snapshot::Snapshot;
use crate::model::world::{self, Effect};
use crate::store::{StateDirectory, StoreError};
use crate::tftp::TftpServer;

/// The moment of a restart that nobody has asked for.
const NEVER: u64 = u64::MAX;

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
    /// The sessions that are open.
    pub sessions: Sessions,
    /// Messages for the console and the log buffer.
    pub log: Log,
    configuration: Mutex<Configuration>,
    /// Whether the snapshot is older than the configuration.
    is_stale: AtomicBool,
    snapshot: ArcSwap<Snapshot>,
    /// When the appliance was started last, in milliseconds of the clock.
    started: AtomicU64,
    /// How often it was started again.
    restarts: AtomicU64,
    /// Seconds that the time of day is ahead of the clock's, or behind; what nobody has set is 0.
    time_set: AtomicI64,
    /// Whether somebody has set the time of day.
    is_time_set: AtomicBool,
    /// When it is to restart by itself, in milliseconds of the clock.
    restart_due: AtomicU64,
    /// What was known of addresses and devices when somebody looked last.
    watch: Mutex<StatusWatch>,
    /// Whether something may have changed since.
    is_unwatched: AtomicBool,
    /// Whether the settings of the log are older than the configuration.
    is_log_stale: AtomicBool,
    /// The files that stand for those of TFTP servers.
    pub tftp: TftpServer,
    /// Where a save goes.
    store: Option<StateDirectory>,
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
        let appliance = Appliance {
            grammar,
            clock,
            counters: Counters::default(),
            states: States::default(),
            sessions: Sessions::default(),
            log: Log::default(),
            configuration: Mutex::default(),
            is_stale: AtomicBool::new(false),
            snapshot: ArcSwap::from_pointee(Snapshot::empty(DEFAULT_DEVICE_NAME)),
            started: AtomicU64::new(started),
            restarts: AtomicU64::new(0),
            time_set: AtomicI64::new(0),
            is_time_set: AtomicBool::new(false),
            restart_due: AtomicU64::new(NEVER),
            watch: Mutex::default(),
            is_unwatched: AtomicBool::new(false),
            is_log_stale: AtomicBool::new(false),
            tftp: TftpServer::new(store.as_ref().map(StateDirectory::path)),
            store,
        };
        appliance.record(LogLevel::Informational, "Cold start");
        appliance
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
        let startup = store.startup()?.unwrap_or_default();
        let world = store.world()?.unwrap_or_default();
        self.start_with(&startup);
        self.load_world(&world);
        Ok(())
    }

    /// Makes `text` the startup configuration and starts from it.
    pub fn start_with(&self, text: &str) {
        text.clone_into(&mut self.configuration().startup);
        self.restart();
    }

    /// Restarts: the running configuration is read from the startup configuration; counters,
    /// rotation and uptime begin anew; the emulated world and the clock stay (decisions 1.5).
    pub fn restart(&self) {
        let mut configuration = self.configuration();
        configuration.trees.configuration = crate::config::tree::Tree::default();
        let startup = std::mem::take(&mut configuration.startup);
        let report = load::load(&self.grammar, &mut configuration.trees, &startup);
        configuration.startup = report.without_passwords(startup);
        configuration.rejected = report.rejected;
        configuration.boot =
            project::boot_settings(&self.grammar, &configuration.trees.configuration);
        self.apply_world(&report.world);
        self.counters.clear();
        self.log.restart();
        self.is_log_stale.store(true, Ordering::Release);
        self.watch().clear();
        self.started.store(self.clock.now().as_millis(), Ordering::Relaxed);
        self.restarts.fetch_add(1, Ordering::Relaxed);
        self.restart_due.store(NEVER, Ordering::Relaxed);
        self.publish_from(&configuration, &Snapshot::empty(DEFAULT_DEVICE_NAME));
        drop(configuration);
        self.is_unwatched.store(true, Ordering::Release);
        self.record(LogLevel::Informational, "Warm start");
    }

    /// How often the appliance was started again since the program began.
    pub fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Relaxed)
    }

    /// Restarts at a moment; `None` takes that back.
    pub fn schedule_restart(&self, due: Option<Moment>) {
        self.restart_due.store(due.map_or(NEVER, Moment::as_millis), Ordering::Relaxed);
    }

    /// When the appliance is to restart by itself.
    pub fn restart_due(&self) -> Option<Moment> {
        let due = self.restart_due.load(Ordering::Relaxed);
        (due != NEVER).then_some(Moment::from_millis(due))
    }

    /// Restarts if it is time to. Asked wherever somebody meets the appliance: at a line and at a
    /// question, which costs one comparison while no restart is due.
    pub fn restart_if_due(&self) {
        let due = self.restart_due.load(Ordering::Relaxed);
        if due == NEVER || self.clock.now().as_millis() < due {
            return;
        }
        // Only one of those who meet it at that moment restarts it.
        let taken =
            self.restart_due.compare_exchange(due, NEVER, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_ok() {
            self.restart();
        }
    }

    /// The time of day, as seconds since 1970-01-01 00:00:00 UTC.
    pub fn wall_seconds(&self) -> u64 {
        self.clock.wall_seconds().saturating_add_signed(self.time_set.load(Ordering::Relaxed))
    }

    /// Sets the time of day.
    pub fn set_wall_seconds(&self, seconds: u64) {
        let ahead = i128::from(seconds) - i128::from(self.clock.wall_seconds());
        self.time_set.store(i64::try_from(ahead).unwrap_or(0), Ordering::Relaxed);
        self.is_time_set.store(true, Ordering::Relaxed);
    }

    /// The settings of the log as the last line left them.
    pub fn log_settings(&self) -> LogSettings {
        if self.is_log_stale.swap(false, Ordering::AcqRel) {
            let configuration = self.configuration();
            let tree = &configuration.trees.configuration;
            self.log.set(LogSettings::read(&self.grammar, tree));
        }
        self.log.settings()
    }

    /// Puts a message into the log buffer. Not to be called while the configuration is locked.
    pub fn record(&self, level: LogLevel, text: impl Into<String>) {
        self.log_settings();
        let wall = self.is_time_set.load(Ordering::Relaxed).then(|| self.wall_seconds());
        self.log.record(Stamp { uptime: self.uptime(), wall }, level, text.into());
    }

    /// Puts messages about what came up or went down into the log buffer. Costs nothing if
    /// nothing was changed since the last time.
    pub fn record_status(&self) {
        if !self.is_unwatched.swap(false, Ordering::AcqRel) {
            return;
        }
        let messages = self.watch().look(&self.current());
        for message in messages {
            self.record(LogLevel::Notification, message);
        }
    }

    fn watch(&self) -> MutexGuard<'_, StatusWatch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads settings of the emulated world, one command a line.
    pub fn load_world(&self, text: &str) {
        let mut configuration = self.configuration();
        let report = load::load(&self.grammar, &mut configuration.trees, text);
        configuration.rejected.extend(report.rejected);
        self.apply_world(&report.world);
        self.is_stale.store(true, Ordering::Release);
        self.is_unwatched.store(true, Ordering::Release);
    }

    /// Locks what was typed, to read it.
    pub fn configuration(&self) -> MutexGuard<'_, Configuration> {
        // A panic in between cannot leave half a line: a line is checked before it changes a tree.
        self.configuration.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what was typed by one line; gives whether it is another one now.
    ///
    /// # Errors
    ///
    /// Those of `change`, which then has changed nothing.
    pub fn edit<E>(
        &self,
        change: impl FnOnce(&Grammar, &mut Trees) -> Result<Outcome, E>,
    ) -> Result<bool, E> {
        let mut configuration = self.configuration();
        let outcome = change(&self.grammar, &mut configuration.trees)?;
        self.apply_world(&outcome.world);
        if outcome.changed {
            self.is_stale.store(true, Ordering::Release);
            self.is_log_stale.store(true, Ordering::Release);
        }
        if outcome.changed || !outcome.world.is_empty() {
            self.is_unwatched.store(true, Ordering::Release);
        }
        Ok(outcome.changed)
    }

    /// Removes all settings of the emulated world; zeroes counters, and the clock if it is driven.
    pub fn reset_world(&self) {
        let mut configuration = self.configuration();
        configuration.trees.world = crate::config::tree::Tree::default();
        self.states.reset();
        self.counters.clear();
        for host in &self.snapshot.load().hosts {
            host.domain.lock().clear_counts();
        }
        if self.clock.reset() {
            self.started.store(0, Ordering::Relaxed);
        }
        self.is_stale.store(true, Ordering::Release);
        self.is_unwatched.store(true, Ordering::Release);
    }

    /// The name that begins every prompt, as the last line left it.
    pub fn device_name(&self, tree: &crate::config::tree::Tree) -> String {
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
        let text = render::body(&self.grammar, &trees.configuration, Secrets::Stored);
        let world = render::world(&self.grammar, &trees.world);
        if let Some(store) = &self.store {
            store.save(&text, &world)?;
        }
        configuration.startup = text;
        Ok(())
    }

    /// Adds the lines of a file to the running configuration; gives those that were put aside.
    pub fn add_to_running(&self, text: &str) -> Vec<Rejected> {
        let mut configuration = self.configuration();
        let report = load::load(&self.grammar, &mut configuration.trees, text);
        self.apply_world(&report.world);
        self.is_stale.store(true, Ordering::Release);
        self.is_log_stale.store(true, Ordering::Release);
        self.is_unwatched.store(true, Ordering::Release);
        report.rejected
    }

    /// Replaces the saved configuration; gives the lines that a restart will put aside.
    ///
    /// # Errors
    ///
    /// It cannot be written; then what was saved before is still there.
    pub fn replace_startup(&self, text: &str) -> Result<Vec<Rejected>, StoreError> {
        let report = load::load(&self.grammar, &mut Trees::default(), text);
        let startup = report.without_passwords(text.to_owned());
        let mut configuration = self.configuration();
        if let Some(store) = &self.store {
            store.save_startup(&startup)?;
        }
        configuration.startup = startup;
        Ok(report.rejected)
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
        self.restart_if_due();
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
