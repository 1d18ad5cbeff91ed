//! What is looked at: one configuration, a lab of them, or a copy of an appliance that runs.
//!
//! A [`Subject`] is text, so it can be started any number of times, each time as an appliance of
//! its own with a clock that is driven: whoever tries something on one of them changes no other.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use crate::appliance::Appliance;
use crate::cli::session::Session;
use crate::clock::{Clock, DrivenClock, Moment};
use crate::config::capture;
use crate::config::render::{self, Secrets};
use crate::dns::{Responder, Settings};
use crate::grammar::Grammar;
use crate::gslb::choose::View;
use crate::gslb::pool::Pool;
use crate::lab::{Files, Lab};
use crate::model::snapshot::{Family, Host, Snapshot};
use crate::store;
use crate::whatif::Problem;

/// A configuration, or several that make a lab, as text.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What it is called in reports.
    pub name: String,
    grammar: Arc<Grammar>,
    settings: Settings,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    /// One configuration, and scenarios that are played at its console.
    One { text: String, scenarios: Vec<(String, String)> },
    /// The files of a lab.
    Lab(Files),
    /// What runs: each appliance with the settings of its emulated world, the console's first.
    Running(Vec<Running>),
}

#[derive(Clone, Debug)]
struct Running {
    appliance: Arc<Appliance>,
    name: String,
    configuration: String,
    world: String,
}

/// A subject that was started.
#[derive(Debug)]
pub struct Started {
    /// What answers questions: the only appliance, or the controller of a lab.
    pub responder: Arc<Responder>,
    /// The clock of all its appliances.
    pub clock: Arc<DrivenClock>,
    /// The lab, if it is one.
    pub lab: Option<Arc<Lab>>,
}

impl Subject {
    /// Reads a file, or the folder of a lab; further scenarios are played after those of the folder.
    ///
    /// # Errors
    ///
    /// Something cannot be read, or a folder holds no configuration.
    pub fn read(
        grammar: &Arc<Grammar>,
        settings: Settings,
        path: &Path,
        scenarios: &[impl AsRef<Path>],
    ) -> Result<Self, Problem> {
        let mut further = Vec::new();
        for path in scenarios {
            let path = path.as_ref();
            further.push((path.to_string_lossy().into_owned(), store::read_text(path)?));
        }
        let source = if path.is_dir() {
            let mut files = Files::read(grammar, path)?;
            files.scenarios.extend(further);
            Source::Lab(files)
        } else {
            let text = capture::clean(grammar, &store::read_text(path)?).into_owned();
            Source::One { text, scenarios: further }
        };
        let name = path.to_string_lossy().into_owned();
        Ok(Subject { name, grammar: Arc::clone(grammar), settings, source })
    }

    /// A configuration that is at hand as text.
    pub fn of_text(grammar: &Arc<Grammar>, name: &str, text: &str) -> Self {
        let source = Source::One { text: text.to_owned(), scenarios: Vec::new() };
        let settings = Settings::default();
        Subject { name: name.to_owned(), grammar: Arc::clone(grammar), settings, source }
    }

    /// A copy of an appliance as it runs now, with the other appliances of its lab.
    ///
    /// It begins with the present counts, rotation and persistence. What is measured is made anew
    /// from the settings of the emulated world: of several round-trip times that were smoothed into
    /// one, the last counts.
    pub fn of_running(responder: &Responder) -> Self {
        let appliance = &responder.appliance;
        let mut running = vec![Running::of(appliance, String::new())];
        if let Some(lab) = appliance.lab() {
            for member in lab.members() {
                let copy = Running::of(&member.responder.appliance, member.name.clone());
                if Arc::ptr_eq(&member.responder.appliance, appliance) {
                    running[0] = copy;
                } else {
                    running.push(copy);
                }
            }
        }
        Subject {
            name: appliance.current().device_name.clone(),
            grammar: Arc::clone(&appliance.grammar),
            settings: responder.settings,
            source: Source::Running(running),
        }
    }

    /// What may be typed.
    pub fn grammar(&self) -> &Arc<Grammar> {
        &self.grammar
    }

    /// How questions are answered.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The configurations with their names, that of the only appliance or the controller first if
    /// it runs; those of a lab in the order of their names.
    pub fn configurations(&self) -> Vec<(&str, &str)> {
        match &self.source {
            Source::One { text, .. } => vec![(&self.name, text)],
            Source::Lab(files) => {
                let named = files.configurations.iter();
                named.map(|(name, text)| (name.as_str(), text.as_str())).collect()
            }
            Source::Running(members) => {
                let named = members.iter();
                named.map(|one| (one.name.as_str(), one.configuration.as_str())).collect()
            }
        }
    }

    /// The appliance that it is a copy of.
    pub fn original(&self) -> Option<&Arc<Appliance>> {
        match &self.source {
            Source::Running(members) => members.first().map(|member| &member.appliance),
            Source::One { .. } | Source::Lab(_) => None,
        }
    }

    /// Starts it, with the lines of scenarios that were refused.
    ///
    /// # Panics
    ///
    /// Never: what runs has an appliance.
    pub fn start(&self) -> (Started, Vec<String>) {
        match &self.source {
            Source::One { text, scenarios } => self.start_one(text, scenarios),
            Source::Lab(files) => {
                let lab_clock = Arc::new(DrivenClock::new());
                let lab = self.lab(&lab_clock, files.configurations.clone());
                for (name, text) in &files.scenarios {
                    lab.play(name, text);
                }
                let responder = Arc::clone(&lab.controller().responder);
                let complaints = lab.complaints();
                (Started { responder, clock: lab_clock, lab: Some(lab) }, complaints)
            }
            Source::Running(members) => (self.start_copy(members), Vec::new()),
        }
    }

    fn start_one(&self, text: &str, scenarios: &[(String, String)]) -> (Started, Vec<String>) {
        let clock = Arc::new(DrivenClock::new());
        let appliance = Appliance::new(Arc::clone(&self.grammar), clock.clone(), None);
        appliance.start_with(text);
        let responder =
            Arc::new(Responder { appliance: Arc::new(appliance), settings: self.settings });
        let mut complaints = Vec::new();
        for (name, text) in scenarios {
            let mut session = Session::privileged(Arc::clone(&responder));
            for (number, line) in text.lines().enumerate() {
                if let Some(first) = session.run(line).lines().next() {
                    complaints.push(format!("{name}:{}: {first}", number + 1));
                }
            }
        }
        (Started { responder, clock, lab: None }, complaints)
    }

    fn lab(&self, clock: &Arc<DrivenClock>, files: Vec<(String, String)>) -> Arc<Lab> {
        let clock: Arc<dyn Clock> = Arc::<DrivenClock>::clone(clock);
        Lab::of(&self.grammar, &clock, self.settings, files)
    }

    fn start_copy(&self, members: &[Running]) -> Started {
        let now = members.first().map_or(Moment::ZERO, |one| one.appliance.clock.now());
        let clock = Arc::new(DrivenClock::at(now));
        let (responders, lab) = if let [only] = members {
            let appliance = Appliance::new(Arc::clone(&self.grammar), clock.clone(), None);
            appliance.start_with(&only.configuration);
            let appliance = Arc::new(appliance);
            (vec![Arc::new(Responder { appliance, settings: self.settings })], None)
        } else {
            let files =
                members.iter().map(|one| (one.name.clone(), one.configuration.clone())).collect();
            let lab = self.lab(&clock, files);
            let members = lab.members().iter();
            (members.map(|member| Arc::clone(&member.responder)).collect(), Some(lab))
        };
        // What the devices report comes first, and what was said about it afterwards.
        for responder in &responders {
            drop(responder.appliance.current());
        }
        for (responder, member) in responders.iter().zip(members) {
            responder.appliance.load_world(&member.world);
        }
        // What was said of a real server changes what its device reports.
        if let Some(lab) = &lab {
            lab.something_changed();
        }
        for (responder, member) in responders.iter().zip(members) {
            responder.appliance.go_on_from(&member.appliance);
        }
        let responder = responders.into_iter().next().expect("there is one for each member");
        Started { responder, clock, lab }
    }
}

impl Running {
    fn of(appliance: &Arc<Appliance>, name: String) -> Self {
        let configuration = appliance.configuration();
        let trees = &configuration.trees;
        let grammar = &appliance.grammar;
        Running {
            name,
            configuration: render::body(grammar, &trees.configuration, Secrets::Stored),
            world: render::world(grammar, &trees.world),
            appliance: Arc::clone(appliance),
        }
    }
}

impl Started {
    /// Lets time pass up to a moment, with everything that falls due.
    pub fn pass_time(&self, until: Moment) {
        let seconds = until.as_secs().saturating_sub(self.clock.now().as_secs());
        if seconds == 0 {
            return;
        }
        self.clock.advance(seconds);
        match &self.lab {
            Some(lab) => lab.pass_time(),
            None => self.responder.appliance.pass_time(),
        }
    }

    /// The appliance that answers.
    pub fn appliance(&self) -> &Arc<Appliance> {
        &self.responder.appliance
    }

    /// Who shares the questions of a client for a host of its present snapshot, now.
    pub fn pool(&self, snapshot: &Snapshot, host: &Host, family: Family, client: IpAddr) -> Pool {
        self.pool_at(snapshot, host, family, client, self.clock.now())
    }

    /// The same at a moment, which may lie within the present second.
    pub fn pool_at(
        &self,
        snapshot: &Snapshot,
        host: &Host,
        family: Family,
        client: IpAddr,
        now: Moment,
    ) -> Pool {
        let states = &self.appliance().states;
        let domain = host.domain.lock();
        Pool::of(&View::new(snapshot, states, host, &domain, family, client, now))
    }

    /// Zeroes the counts of all its names, as the command that clears them does.
    pub fn clear_counts(&self) {
        let snapshot = self.appliance().current();
        for host in &snapshot.hosts {
            host.domain.lock().clear_counts();
        }
        for domain in &snapshot.sna_domains {
            domain.tallies.lock().clear_counts();
        }
    }
}
