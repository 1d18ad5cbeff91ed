//! Runs a simulation: one stream of questions through one or two configurations.
//!
//! The stream is drawn or read once, in order, and handed to workers in batches. Each worker has an
//! appliance of its own and answers the questions for its part of the names. Choices of a name
//! depend on nothing that questions for other names change, but for the prefix cache: where
//! round-trip times are known, or the default location stands in when the cache is full, one worker
//! answers everything. So the result is the same for any number of workers.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use crate::model::snapshot::Snapshot;
use crate::whatif::Problem;
use crate::whatif::asked::{Asked, Domains, Names};
use crate::whatif::change::{Change, When};
use crate::whatif::log::QueryLog;
use crate::whatif::population::{Draw, Population};
use crate::whatif::report::assemble::{Facts, assemble};
use crate::whatif::simulation::Simulation;
use crate::whatif::subject::{Started, Subject};
use crate::whatif::worker::{Batch, Counted, Shared, Worker};

/// What is simulated.
#[derive(Debug)]
pub struct Plan {
    /// One configuration, or two that get the same questions.
    pub subjects: Vec<Subject>,
    /// A change to the first of them.
    pub change: Option<Change>,
    /// Resolvers between clients and appliance; 0: none.
    pub resolvers: u32,
    /// Whether the resolvers keep answers for their TTL.
    pub caches: bool,
    /// Workers at most; at least 1.
    pub threads: usize,
}

/// Where the questions come from.
pub enum Questions {
    /// A population that is drawn.
    Drawn(Draw),
    /// A query log.
    Log {
        /// Its name.
        name: String,
        /// Its questions.
        log: QueryLog,
    },
}

/// How far a simulation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Questions so far.
    pub questions: u64,
    /// Parts of the work that are done, of `total`: questions, or bytes of a log.
    pub done: u64,
    /// All parts; 0: not known.
    pub total: u64,
}

/// Questions in a batch.
const BATCH: usize = 4096;

/// Batches that wait for a worker at most.
const WAITING: usize = 4;

/// Runs a simulation; `progress` is called now and then, and may end it: then the questions so far are
/// what was found.
///
/// # Errors
///
/// There is nothing to ask for, a line of the change is refused, or a log cannot be read.
pub fn simulate(
    plan: &Plan,
    questions: Questions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Simulation, Problem> {
    let prepared = Prepared::new(plan)?;
    let mut names = Names::default();
    let mut source = Source::new(plan, questions, &prepared, &mut names)?;
    let shared: Vec<Shared<'_>> = plan
        .subjects
        .iter()
        .map(|_| Shared {
            domains: &prepared.domains,
            caches: plan.caches,
            change: plan.change.as_ref(),
            remembers_clients: &prepared.remembers_clients,
            depends_on_order: prepared.depends_on_order,
        })
        .collect();
    let parts = if prepared.depends_on_order {
        1
    } else {
        plan.threads.max(1).min(prepared.domains.list().len().max(1))
    };
    let mut facts = Facts::default();
    let counted = thread::scope(|scope| {
        let mut senders = Vec::new();
        let mut workers = Vec::new();
        for (subject, shared) in plan.subjects.iter().zip(&shared) {
            for part in 0..parts {
                let (sender, receiver) = sync_channel::<Arc<Batch>>(WAITING);
                senders.push(sender);
                workers.push(scope.spawn(move || {
                    let mut worker = Worker::start(shared, subject, (part, parts));
                    while let Ok(batch) = receiver.recv() {
                        worker.take(&batch);
                    }
                    worker.finish()
                }));
            }
        }
        let fed = feed(plan, &prepared, &mut source, &mut names, &senders, &mut facts, progress);
        // Workers end when nothing more can come.
        drop(senders);
        let mut counted = Vec::new();
        for worker in workers {
            match worker.join() {
                Ok(one) => counted.push(one),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        fed.map(|()| counted)
    })?;
    if let Some(change) = &plan.change
        && facts.changed_at.is_none()
        && !facts.stopped
    {
        let count = facts.questions;
        return Err(Problem::NoChange(format!("{}, of {count} questions", change.when)));
    }
    source.tell(&mut facts);
    let mut runs: Vec<Counted> = Vec::new();
    for (place, one) in counted.into_iter().enumerate() {
        if place % parts == 0 { runs.push(one) } else { merge(runs.last_mut(), one) }
    }
    Ok(assemble(plan, &prepared, &facts, runs))
}

/// Adds what another worker of the same run counted: each domain was counted by one of them.
fn merge(into: Option<&mut Counted>, other: Counted) {
    let Some(into) = into else { return };
    for (mine, other) in into.domains.iter_mut().zip(other.domains) {
        if other.is_some() {
            *mine = other;
        }
    }
    for (mine, other) in into.others.iter_mut().zip(other.others) {
        *mine += other;
    }
}

/// Hands all questions to the workers.
fn feed(
    plan: &Plan,
    prepared: &Prepared,
    source: &mut Source,
    names: &mut Names,
    senders: &[SyncSender<Arc<Batch>>],
    facts: &mut Facts,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(), Problem> {
    let mut known = 0;
    let mut batch = Batch::default();
    let mut send = |batch: &mut Batch, names: &Names| {
        batch.names = names.since(known).to_vec();
        known = names.len();
        let batch = Arc::new(std::mem::take(batch));
        for sender in senders {
            // A worker that is gone has panicked, which its end tells.
            let _ = sender.send(Arc::clone(&batch));
        }
    };
    let mut waiting = plan.change.as_ref().map(|change| change.when);
    while let Some(asked) = source.ask(&prepared.domains, names)? {
        let is_due = match waiting {
            None => false,
            Some(When::Questions(count)) => facts.questions >= count,
            Some(When::Seconds(seconds)) => asked.at >= seconds.saturating_mul(1000),
        };
        if is_due {
            waiting = None;
            send(&mut batch, names);
            batch.changes = true;
            facts.changed_at = Some((facts.questions, asked.at));
        }
        facts.questions += 1;
        facts.last = asked.at;
        batch.asked.push(asked);
        if batch.asked.len() >= BATCH {
            send(&mut batch, names);
            if progress(source.progress(facts.questions)).is_break() {
                facts.stopped = true;
                break;
            }
        }
    }
    send(&mut batch, names);
    // It has come to its end already.
    let _ = progress(source.progress(facts.questions));
    Ok(())
}

/// What is known before the first question.
#[derive(Debug)]
pub(super) struct Prepared {
    /// All domains.
    pub(super) domains: Domains,
    /// The subjects as they begin, and the first one after the change.
    pub(super) probes: Vec<Started>,
    /// By domain: whether it is of interest what each client gets.
    remembers_clients: Vec<bool>,
    /// Whether answers for one name may depend on questions for another.
    depends_on_order: bool,
    /// What was said about scenario files, and lines that count for nothing.
    pub(super) notes: Vec<String>,
}

impl Prepared {
    fn new(plan: &Plan) -> Result<Self, Problem> {
        let mut probes = Vec::new();
        let mut notes = Vec::new();
        for subject in &plan.subjects {
            let (started, complaints) = subject.start();
            notes.extend(complaints);
            let rejected = started.appliance().configuration().rejected.len();
            if rejected > 0 {
                let name = &subject.name;
                notes.push(format!("{name}: {rejected} lines are refused (adxemu check)"));
            }
            probes.push(started);
        }
        if let (Some(change), Some(subject)) = (&plan.change, plan.subjects.first()) {
            let (started, _) = subject.start();
            let refused = change.apply(&started);
            if !refused.is_empty() {
                return Err(Problem::Change(refused));
            }
            probes.push(started);
        }
        let mut domains = Domains::default();
        for probe in &probes {
            domains.add(&probe.appliance().current());
        }
        let binds = |snapshot: &Snapshot, domain: &str| {
            let mut hosts = snapshot.hosts.iter();
            let host = hosts.find(|host| host.domain_name.eq_ignore_ascii_case(domain));
            let policy = host.map(|host| snapshot.policy_of(host));
            policy.is_some_and(|policy| policy.hash.is_some() || policy.sticky.is_some())
        };
        let is_compared = probes.len() > 1;
        let remembers = |domain: &str| {
            let mut probes = probes.iter();
            is_compared && probes.any(|probe| binds(&probe.appliance().current(), domain))
        };
        let remembers_clients =
            domains.list().iter().map(|domain| remembers(&domain.name)).collect();
        let depends_on_order = probes.iter().any(depends_on_order);
        Ok(Prepared { domains, probes, remembers_clients, depends_on_order, notes })
    }
}

/// Whether answers for one name may depend on questions for another: those keep entries of the
/// prefix cache alive, or fill it.
fn depends_on_order(probe: &Started) -> bool {
    let (_, measured) = probe.appliance().states.prefixes.size();
    let snapshot = probe.appliance().current();
    measured > 0 || snapshot.policies.iter().any(|policy| policy.use_default_location)
}

/// Where the next question comes from.
enum Source {
    Drawn { population: Population, draw: Draw },
    Log { name: String, log: QueryLog },
}

impl Source {
    fn new(
        plan: &Plan,
        questions: Questions,
        prepared: &Prepared,
        names: &mut Names,
    ) -> Result<Self, Problem> {
        Ok(match questions {
            Questions::Log { name, log } => Source::Log { name, log },
            Questions::Drawn(draw) => {
                let current = |probe: &Started| Arc::clone(&probe.appliance().current());
                let snapshots: Vec<Arc<Snapshot>> = prepared.probes.iter().map(current).collect();
                let snapshots: Vec<&Snapshot> = snapshots.iter().map(|one| &**one).collect();
                let domains = &prepared.domains;
                let population =
                    Population::new(&draw, plan.resolvers, domains, &snapshots, names)?;
                Source::Drawn { population, draw }
            }
        })
    }

    fn ask(&mut self, domains: &Domains, names: &mut Names) -> Result<Option<Asked>, Problem> {
        match self {
            Source::Drawn { population, .. } => Ok(population.ask()),
            Source::Log { log, .. } => log.ask(domains, names),
        }
    }

    fn progress(&self, questions: u64) -> Progress {
        let (done, total) = match self {
            Source::Drawn { draw, .. } => (questions, draw.questions),
            Source::Log { log, .. } => log.progress(),
        };
        Progress { questions, done, total }
    }

    /// Tells what it was.
    fn tell(&self, facts: &mut Facts) {
        match self {
            Source::Drawn { draw, .. } => {
                facts.seed = Some(draw.seed);
                facts.clients = Some(draw.clients);
            }
            Source::Log { name, log } => {
                facts.log = Some(name.clone());
                facts.late = log.late();
                facts.skipped = log.skipped();
            }
        }
    }
}
