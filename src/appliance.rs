//! One emulated appliance: everything that its sessions and its sockets share.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use arc_swap::{ArcSwap, Guard};
use hashbrown::HashMap;
use tokio::runtime::Handle;

use crate::behind::learn::{self, Which};
use crate::behind::reply::Reply;
use crate::behind::upstream::Upstream;
use crate::cli::sessions::Sessions;
use crate::clock::{Clock, Moment};
use crate::config::edit::{Change, Outcome, Trees};
use crate::config::load::{self, Rejected};
use crate::config::render::{self, Secrets};
use crate::config::saved::SavedText;
use crate::config::tree::{Reading, Tree};
use crate::counters::Counters;
use crate::dns::drops::Drops;
use crate::flash::Flash;
use crate::grammar::Grammar;
use crate::grammar::link::{Kept, Message};
use crate::gslb::hash_persistence;
use crate::health::own::Own;
use crate::health::schedule::{Event, Periods, Schedule};
use crate::health::sessions::Deletion;
use crate::health::state::States;
use crate::lab::Lab;
use crate::live::gate::Gate;
use crate::live::timetable::Timetable;
use crate::log::status::StatusWatch;
use crate::log::{Log, Stamp};
use crate::model::hosts;
use crate::model::logging::{LogLevel, LogSettings};
use crate::model::network::Network;
use crate::model::project::{self, BootSettings, DEFAULT_DEVICE_NAME};
use crate::model::snapshot::{NameEntry, Snapshot};
use crate::model::time_zone::TimeZone;
use crate::model::world::{self, Effect, RttReports, World};
use crate::modules::Modules;
use crate::store::{Saved, StateDirectory, StoreError};
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
    /// Questions that the system dropped before they were read.
    pub drops: Drops,
    /// What health checks and site devices report.
    pub states: States,
    /// The way to the live network; it is closed unless `--live` opens it.
    pub gate: Arc<Gate>,
    /// Checks over the network.
    timetable: Arc<Mutex<Timetable>>,
    /// The way to real DNS servers behind.
    pub upstream: Upstream,
    /// The sessions that are open.
    pub sessions: Sessions,
    /// Messages for the console and the log buffer.
    pub log: Log,
    /// The lab that the appliance stands in; set once.
    lab: OnceLock<Weak<Lab>>,
    /// What the appliance told itself as its own site device, outside a lab.
    told: Mutex<HashMap<IpAddr, Own>>,
    /// Real and virtual servers whose end is still to be told.
    deleted: Mutex<Vec<Deletion>>,
    configuration: Mutex<Configuration>,
    /// Whether the snapshot is older than the configuration.
    is_stale: AtomicBool,
    /// Whether the last question for the DNS server behind got no answer.
    is_server_silent: AtomicBool,
    snapshot: ArcSwap<Snapshot>,
    /// When the appliance was started last, in milliseconds of the clock.
    started: AtomicU64,
    /// Up to when everything has happened that falls due.
    schedule: Mutex<Schedule>,
    /// How often it was started again.
    restarts: AtomicU64,
    /// Seconds that the time of day is ahead of the clock's, or behind; what nobody has set is 0.
    time_set: AtomicI64,
    /// Whether somebody has set the time of day.
    is_time_set: AtomicBool,
    /// When it is to restart by itself, in milliseconds of the clock.
    restart_due: AtomicU64,
    /// The same by the wall clock, in seconds: the two are not read at the same instant, and what is shown
    /// stays as it is.
    restart_wall: AtomicU64,
    /// What was known of addresses and devices when somebody looked last.
    watch: Mutex<StatusWatch>,
    /// Whether something may have changed since.
    is_unwatched: AtomicBool,
    /// Whether the settings of the log are older than the configuration.
    is_log_stale: AtomicBool,
    /// Images of the software.
    pub flash: Flash,
    /// Modules that are out of use.
    pub modules: Modules,
    /// The files that stand for those of TFTP servers.
    pub tftp: TftpServer,
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
    pub startup: SavedText,
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
            drops: Drops::default(),
            states: States::default(),
            gate: Arc::default(),
            timetable: Arc::default(),
            upstream: Upstream::default(),
            sessions: Sessions::default(),
            log: Log::default(),
            lab: OnceLock::new(),
            told: Mutex::default(),
            deleted: Mutex::default(),
            configuration: Mutex::default(),
            is_stale: AtomicBool::new(false),
            is_server_silent: AtomicBool::new(false),
            snapshot: ArcSwap::from_pointee(Snapshot::empty(DEFAULT_DEVICE_NAME)),
            started: AtomicU64::new(started),
            schedule: Mutex::default(),
            restarts: AtomicU64::new(0),
            time_set: AtomicI64::new(0),
            is_time_set: AtomicBool::new(false),
            restart_due: AtomicU64::new(NEVER),
            restart_wall: AtomicU64::new(0),
            watch: Mutex::default(),
            is_unwatched: AtomicBool::new(false),
            is_log_stale: AtomicBool::new(false),
            flash: Flash::default(),
            modules: Modules::default(),
            tftp: TftpServer::new(store.as_ref().map(StateDirectory::path)),
            store,
        };
        appliance.record(LogLevel::Informational, "Cold start");
        appliance
    }

    /// An appliance that saves nothing and looks at the same servers as another one: results of
    /// health checks, and the way to the live network, hold for both.
    pub fn beside(other: &Appliance) -> Self {
        let states = States::beside(&other.states);
        let appliance = Appliance::new(Arc::clone(&other.grammar), Arc::clone(&other.clock), None);
        Appliance {
            states,
            gate: Arc::clone(&other.gate),
            timetable: Arc::clone(&other.timetable),
            ..appliance
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
        self.restart_with(text, Scenario::Count);
    }

    /// Restarts: the running configuration is read from the startup configuration; counters,
    /// rotation and uptime begin anew; the emulated world and the clock stay (decisions 1.5).
    pub fn restart(&self) {
        let startup = self.configuration().startup.clone();
        self.restart_with(&startup.text(), Scenario::Stay);
    }

    fn restart_with(&self, startup: &str, scenario: Scenario) {
        let mut configuration = self.configuration();
        configuration.trees.configuration = Tree::default();
        let mut report = match scenario {
            Scenario::Count => load::load(&self.grammar, &mut configuration.trees, startup),
            Scenario::Stay => {
                let mut trees = Trees::default();
                let report = load::load(&self.grammar, &mut trees, startup);
                configuration.trees.configuration = trees.configuration;
                report
            }
        };
        if scenario == Scenario::Stay {
            report.world.clear();
        }
        configuration.startup = SavedText::from(&*report.without_passwords(startup));
        configuration.rejected = report.rejected;
        configuration.boot =
            project::boot_settings(&self.grammar, &configuration.trees.configuration);
        self.counters.clear();
        self.log.restart();
        self.is_log_stale.store(true, Ordering::Release);
        self.watch().clear();
        let now = self.clock.now();
        self.started.store(now.as_millis(), Ordering::Relaxed);
        self.modules.restart();
        self.states.start(now);
        self.states.learned.clear();
        self.states.sessions.restart();
        self.deleted().clear();
        self.is_server_silent.store(false, Ordering::Relaxed);
        self.restarts.fetch_add(1, Ordering::Relaxed);
        self.restart_due.store(NEVER, Ordering::Relaxed);
        let tree = &configuration.trees.configuration;
        let nothing = Snapshot::empty(DEFAULT_DEVICE_NAME);
        // Before the snapshot is made, as in `publish_from`.
        self.is_stale.store(false, Ordering::SeqCst);
        let mut snapshot =
            project::project(&self.grammar, tree, &self.states, configuration.boot, &nothing);
        // Nobody has the snapshot yet, so what the devices report can still be entered.
        if self.apply_to(&snapshot, &report.world) == Effect::Snapshot {
            hosts::assign_owners(&mut snapshot);
        }
        if self.learn_from(&snapshot, Which::New) {
            snapshot =
                project::project(&self.grammar, tree, &self.states, configuration.boot, &snapshot);
        }
        self.tell_itself(&snapshot);
        self.publish(snapshot);
        self.states.collect();
        drop(configuration);
        if let Some(lab) = self.lab() {
            lab.something_changed();
        }
        self.is_unwatched.store(true, Ordering::Release);
        self.record(LogLevel::Informational, "Warm start");
    }

    /// How often the appliance was started again since the program began.
    pub fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Relaxed)
    }

    /// Restarts after so many seconds; `None` takes that back.
    pub fn schedule_restart(&self, left: Option<u64>) {
        let due = left.map(|left| self.clock.now().plus_secs(left));
        let wall = self.clock.wall_seconds().saturating_add(left.unwrap_or(0));
        self.restart_wall.store(wall, Ordering::Relaxed);
        self.restart_due.store(due.map_or(NEVER, Moment::as_millis), Ordering::Relaxed);
    }

    /// The time of day at which the appliance is to restart by itself, as [`Appliance::local_seconds`].
    pub fn restart_local_seconds(&self) -> u64 {
        self.restart_wall.load(Ordering::Relaxed).saturating_add_signed(self.ahead())
    }

    /// When the appliance is to restart by itself.
    pub fn restart_due(&self) -> Option<Moment> {
        let due = self.restart_due.load(Ordering::Relaxed);
        (due != NEVER).then_some(Moment::from_millis(due))
    }

    /// Restarts if it is time to: at every line, and whenever time passes.
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
            self.log.say(self.grammar.message(Message::Restarted, &[]));
        }
    }

    /// The time of day, as seconds since midnight of 1970-01-01 in the zone of the device.
    pub fn local_seconds(&self) -> u64 {
        self.clock.wall_seconds().saturating_add_signed(self.ahead())
    }

    /// Seconds that the time of day is ahead of the clock's.
    fn ahead(&self) -> i64 {
        self.time_set.load(Ordering::Relaxed).saturating_add(self.time_zone().ahead)
    }

    /// The time zone of the device. Not to be called while the configuration is locked.
    pub fn time_zone(&self) -> TimeZone {
        let configuration = self.configuration();
        TimeZone::read(&self.grammar, &configuration.trees.configuration)
    }

    /// Sets the time of day in the zone of the device.
    pub fn set_local_seconds(&self, seconds: u64) {
        let local = i128::from(seconds) - i128::from(self.time_zone().ahead);
        let ahead = local - i128::from(self.clock.wall_seconds());
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
        let wall = self.is_time_set.load(Ordering::Relaxed).then(|| self.local_seconds());
        self.log.record(Stamp { uptime: self.uptime(), wall }, level, text.into());
    }

    /// Puts messages about what came up or went down into the log buffer. Costs nothing if
    /// nothing was changed since the last time.
    pub fn record_status(&self) {
        if !self.is_unwatched.swap(false, Ordering::AcqRel) {
            return;
        }
        let network = {
            let configuration = self.configuration();
            Network::read(&self.grammar, &configuration.trees.configuration)
        };
        let messages = self.watch().look(&self.current(), &self.states, &network);
        for (level, message) in messages {
            self.record(level, message);
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
        self.apply_world(&configuration, &report.world);
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
        if let Some(lab) = self.lab().filter(|_| outcome.changed) {
            lab.something_changed();
        }
        self.apply_world(&configuration, &outcome.world);
        if outcome.changed && outcome.world.is_empty() {
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
        configuration.trees.world = Tree::default();
        self.states.reset();
        self.gate.unmap_all();
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.counters.clear();
        for domain in &self.snapshot.load().sna_domains {
            // The clock begins anew, so no moment before counts any more.
            domain.tallies.lock().reset();
        }
        let is_reset = self.clock.reset();
        if is_reset {
            self.started.store(0, Ordering::Relaxed);
            self.states.start(Moment::ZERO);
        }
        for host in &self.snapshot.load().hosts {
            let mut domain = host.domain.lock();
            domain.clear_counts();
            if is_reset {
                domain.forget_persistence();
            }
        }
        self.is_stale.store(true, Ordering::Release);
        self.is_unwatched.store(true, Ordering::Release);
        drop(configuration);
        if is_reset {
            self.schedule().restart(Moment::ZERO);
        }
        if let Some(lab) = self.lab() {
            lab.tell_again();
        }
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
        configuration.startup = SavedText::from(saved.startup.as_str());
        Ok(())
    }

    /// Adds the lines of a file to the running configuration; gives those that were put aside.
    pub fn add_to_running(&self, text: &str) -> Vec<Rejected> {
        let mut configuration = self.configuration();
        let report = load::load(&self.grammar, &mut configuration.trees, text);
        self.apply_world(&configuration, &report.world);
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
        let startup = report.without_passwords(text);
        let mut configuration = self.configuration();
        if let Some(store) = &self.store {
            store.save_startup(&startup)?;
        }
        configuration.startup = SavedText::from(&*startup);
        Ok(report.rejected)
    }

    /// Whether the running configuration differs from the saved one.
    pub fn is_unsaved(&self) -> bool {
        let configuration = self.configuration();
        let tree = &configuration.trees.configuration;
        let running = render::body(&self.grammar, tree, Secrets::Stored);
        // What was loaded may be written in another way: compare what it means.
        let mut saved = Trees::default();
        let learned = &self.states.learned;
        load::load_knowing(&self.grammar, &mut saved, &configuration.startup.text(), learned);
        running != render::body(&self.grammar, &saved.configuration, Secrets::Stored)
    }

    /// The lab that the appliance stands in.
    pub fn lab(&self) -> Option<Arc<Lab>> {
        self.lab.get()?.upgrade()
    }

    /// Puts the appliance into a lab, once.
    pub(crate) fn join(&self, lab: &Arc<Lab>) {
        // A second lab is ignored: an appliance never moves.
        let _ = self.lab.set(Arc::downgrade(lab));
    }

    /// Remembers to tell that a server is gone: the device does so some time after the line.
    pub fn announce_deletion(&self, deletion: Deletion) {
        self.deleted().push(deletion);
    }

    /// Tells which servers are gone; one that has sessions is not yet (base-cli 2.1).
    fn tell_deletions(&self, now: Moment) {
        let is_over = |one: &mut Deletion| !self.states.sessions.is_waiting(one, now);
        let over: Vec<Deletion> = self.deleted().extract_if(.., is_over).collect();
        for Deletion { name, .. } in over {
            self.log.say(self.grammar.message(Message::ServerDeleted, &[("name", &name)]));
        }
    }

    fn deleted(&self) -> MutexGuard<'_, Vec<Deletion>> {
        self.deleted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The present meaning of the configuration, with every accepted line in it and everything
    /// that the other appliances of the lab have reported.
    pub fn current(&self) -> Guard<Arc<Snapshot>> {
        if let Some(lab) = self.lab() {
            lab.deliver();
        }
        self.own_current()
    }

    /// The checks over the network, with their results.
    pub fn timetable(&self) -> MutexGuard<'_, Timetable> {
        // A panic in between loses one check, which is then not made again; results stay.
        self.timetable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A check over the network has changed the state of an address.
    pub(crate) fn something_measured(&self) {
        self.is_unwatched.store(true, Ordering::Release);
        if let Some(lab) = self.lab() {
            lab.something_changed();
        }
    }

    /// Whether VIPs have other owners than the snapshot knows.
    pub(crate) fn owners_changed(&self) {
        self.is_stale.store(true, Ordering::Release);
    }

    /// The present meaning of the configuration by itself.
    pub(crate) fn own_current(&self) -> Guard<Arc<Snapshot>> {
        if self.is_stale.load(Ordering::Acquire) {
            let configuration = self.configuration();
            if self.is_stale.swap(false, Ordering::AcqRel) {
                let previous = self.snapshot.load_full();
                self.publish_from(&configuration, &previous);
                self.learn_new(&configuration);
            }
        }
        self.snapshot.load()
    }

    /// Publishes a snapshot made by hand; for tests and benchmarks below the command line.
    pub fn publish(&self, snapshot: Snapshot) {
        self.snapshot.store(Arc::new(snapshot));
    }

    /// Goes on where another appliance with the same configuration stands: counts, rotation,
    /// persistence and the time since its start. Both stay apart from then on.
    ///
    /// What is measured is not taken over; settings of the emulated world make it.
    pub fn go_on_from(&self, other: &Appliance) {
        let (snapshot, others) = (Arc::clone(&self.current()), Arc::clone(&other.current()));
        for host in &others.hosts {
            if let Some(NameEntry::Host(own)) =
                snapshot.lookup(&hosts::wire_name(&host.domain_name))
            {
                let state = host.domain.lock().clone();
                *snapshot.hosts[own.index()].domain.lock() = state;
            }
        }
        for domain in &others.sna_domains {
            if let Some(own) = snapshot.sna_domain(&domain.name) {
                let tallies = domain.tallies.lock().clone();
                *own.tallies.lock() = tallies;
            }
        }
        let boot = other.configuration().boot;
        self.configuration().boot = boot;
        // The places of the counts are those of the other one until they are assigned anew.
        self.is_stale.store(true, Ordering::Release);
        self.started.store(other.started.load(Ordering::Relaxed), Ordering::Relaxed);
        self.states.start(other.states.started());
        self.schedule().restart(self.clock.now());
    }

    /// What has passed since the appliance was started, in seconds.
    pub fn uptime(&self) -> u64 {
        let started = Moment::from_millis(self.started.load(Ordering::Relaxed));
        self.clock.now().since(started).as_secs()
    }

    /// Lets everything happen that has fallen due by now. To be called when the clock was moved,
    /// and on a real clock once a second.
    pub fn pass_time(&self) {
        self.restart_if_due();
        if self.log_settings().console || self.sessions.list().iter().any(|one| one.monitor) {
            self.record_status();
        }
        // The schedule is locked before the configuration, here and nowhere the other way round.
        let mut schedule = self.schedule();
        let snapshot = Arc::clone(&self.current());
        let policy = snapshot.global_policy();
        let sample = policy.connection_load.sampling_rate;
        let periods =
            Periods { status: policy.status_interval, check: policy.dns.check_interval, sample };
        schedule.advance(self.clock.now(), periods, |moment, event| match event {
            Event::Second => {
                self.states.pass_second(sample);
                self.states.sessions.settle(moment);
                self.tell_deletions(moment);
                if let Some(dots) = self.flash.finish() {
                    self.log.say(dots + &self.grammar.message(Message::FlashDone, &[]));
                }
            }
            Event::Status => self.states.report_status(),
            Event::Health => self.follow_health(&snapshot, moment),
            Event::Check => self.learn_again(&snapshot),
            Event::Ageing => self.forget_old(&snapshot, moment),
        });
        drop(schedule);
        // Sessions may have waited for the time.
        self.log.wake();
    }

    fn follow_health(&self, snapshot: &Snapshot, now: Moment) {
        for host in &snapshot.hosts {
            if hash_persistence::follow_health(snapshot, &self.states, host, now) {
                let places = [("name", &*host.domain_name)];
                self.log.say(self.grammar.message(Message::RehashNeeded, &places));
            }
        }
    }

    fn forget_old(&self, snapshot: &Snapshot, now: Moment) {
        self.states.prefixes.expire(&snapshot.global_policy().rtt, now);
        for host in &snapshot.hosts {
            let parameters = snapshot.policy_of(host).sticky.clone().unwrap_or_default();
            host.domain.lock().sticky.expire(&parameters, now);
        }
    }

    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        // A panic in between loses reports, and the next ones come in order.
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns the addresses of names that nobody has asked for yet: at once when a host is
    /// configured (guide p. 32). Where other servers can be reached than before, all names are asked
    /// for.
    fn learn_new(&self, configuration: &Configuration) {
        let snapshot = self.snapshot.load_full();
        let is_other = self.upstream.has_other_ways(&self.gate);
        let which = if is_other { Which::All } else { Which::New };
        if self.learn_from(&snapshot, which) {
            self.publish_from(configuration, &snapshot);
        }
    }

    /// Learns the addresses of all names again: at each check interval.
    fn learn_again(&self, snapshot: &Snapshot) {
        if self.learn_from(snapshot, Which::All) {
            self.is_stale.store(true, Ordering::Release);
            self.is_unwatched.store(true, Ordering::Release);
        }
    }

    /// Takes note of whether a question for the DNS server behind got an answer, and says so when
    /// that is not as it was the last time.
    pub(crate) fn note_server_behind(&self, answers: bool) {
        if !answers {
            Counters::count(&self.counters.forwarded_unanswered);
        }
        if self.is_server_silent.load(Ordering::Relaxed) == answers
            && self.is_server_silent.swap(!answers, Ordering::Relaxed) == answers
        {
            let message = if answers { Message::ServerAnswers } else { Message::ServerSilent };
            self.log.say(self.grammar.message(message, &[]));
        }
    }

    /// Asks the emulated server now, and lets a real one be asked; whether anything changed by now.
    fn learn_from(&self, snapshot: &Snapshot, which: Which) -> bool {
        let servers = self.upstream.servers(&self.gate, snapshot, &self.states);
        let learned = learn::learn(snapshot, &self.states, which, !servers.is_empty());
        self.upstream.learn(&self.gate, servers, learned.to_ask);
        learned.has_changed
    }

    /// Takes in what a real DNS server behind said of a name.
    pub(crate) fn take_learned(&self, name: &str, replies: &[Reply]) {
        if learn::take_replies(&self.current(), &self.states, name, replies) {
            self.is_stale.store(true, Ordering::Release);
            self.is_unwatched.store(true, Ordering::Release);
        }
    }

    /// Lets real DNS servers behind be asked on this runtime, as far as the gate is open, and asks
    /// them for the addresses of the hosts.
    pub fn go_live(self: &Arc<Self>, runtime: &Handle) {
        self.upstream.open(runtime, self);
        self.is_stale.store(true, Ordering::Release);
        drop(self.own_current());
    }

    /// Learns addresses from a reply that a client gets; whether they are new, and the snapshot is
    /// another one now.
    pub(crate) fn learn_in_passing(&self, name: &str, addresses: &[IpAddr], ttl: u32) -> bool {
        let now = self.clock.now();
        let is_new = self.states.learned.learn_in_passing(name, addresses, ttl, now);
        if is_new {
            self.is_stale.store(true, Ordering::Release);
            self.is_unwatched.store(true, Ordering::Release);
        }
        is_new
    }

    fn publish_from(&self, configuration: &Configuration, previous: &Snapshot) {
        let tree = &configuration.trees.configuration;
        // Before, and not behind: what is learned while the snapshot is made may not be in it.
        self.is_stale.store(false, Ordering::SeqCst);
        let snapshot =
            project::project(&self.grammar, tree, &self.states, configuration.boot, previous);
        self.tell_itself(&snapshot);
        let (before, after) = (&previous.balancing, &snapshot.balancing);
        let back = self.states.sessions.follow(before, after, self.clock.now());
        if !back.is_empty() {
            self.deleted().retain(|one| !back.iter().any(|other| other.is_same(one)));
        }
        self.snapshot.store(Arc::new(snapshot));
        self.states.collect();
    }

    /// Tells the appliance as its own site device what it has; in a lab the lab does.
    fn tell_itself(&self, snapshot: &Snapshot) {
        if self.lab.get().is_some() {
            return;
        }
        let own = self.states.own();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        for server in snapshot.servers.iter().filter(|server| server.is_self) {
            let before = told.get(&server.address);
            // What was never set is no report: settings made for the device stay.
            if before.unwrap_or(&Own::default()) != &own {
                own.tell(&server.state, before);
                let (states, server_address) = (&self.states, server.address);
                let reports = RttReports { states, snapshot, server: server_address };
                reports.tell(&own, before, self.clock.now());
                // No report has to travel.
                server.state.report_status();
                told.insert(server.address, own.clone());
            }
        }
    }

    /// Makes the settings of the emulated world again, for they take precedence over what the
    /// devices of a lab reported meanwhile (emulated-world 1). Samples of measurements are not
    /// taken again.
    pub(crate) fn apply_world_again(&self) {
        let configuration = self.configuration();
        let statements = configuration.trees.world.root.statements();
        let settings: Vec<Change> = statements
            .filter(|statement| {
                let storage = self.grammar.command(statement.command).storage.as_ref();
                storage.is_some_and(|storage| !storage.again)
            })
            .map(|statement| Change {
                kept: true,
                statement: statement.without_block(),
                file: None,
            })
            .collect();
        self.apply_world(&configuration, &settings);
    }

    fn apply_world(&self, configuration: &Configuration, changes: &[Change]) {
        if changes.is_empty() {
            return;
        }
        // Whoever looks at the snapshot wants every line of the configuration in it.
        let looks = |change: &Change| {
            let statement = &change.statement;
            world::needs_snapshot(&Reading { grammar: &self.grammar, statement })
        };
        if self.is_stale.load(Ordering::Acquire) && changes.iter().any(looks) {
            let previous = self.snapshot.load_full();
            self.publish_from(configuration, &previous);
        }
        match self.apply_to(&self.snapshot.load(), changes) {
            Effect::State => {}
            Effect::Itself => self.tell_itself(&self.snapshot.load()),
            Effect::Snapshot => self.is_stale.store(true, Ordering::Release),
        }
    }

    /// Applies settings of the emulated world; says whether the owners of VIPs are others now.
    fn apply_to(&self, snapshot: &Snapshot, changes: &[Change]) -> Effect {
        let world =
            World { states: &self.states, snapshot, gate: &self.gate, now: self.clock.now() };
        let mut effect = Effect::State;
        for Change { kept, statement, file } in changes {
            let reading = Reading { grammar: &self.grammar, statement };
            effect = effect.max(world::apply(world, &reading, *kept, file.as_ref()));
        }
        effect
    }
}
