//! One appliance that answers its part of the questions of a simulation.
//!
//! Choices of one name follow each other, those of two names do not touch: so each worker has an
//! appliance of its own and answers the questions for some of the names, all of them in order.

use std::sync::Arc;

use hashbrown::HashMap;
use hickory_proto::rr::RecordType;

use crate::clock::{Clock as _, Moment};
use crate::dns::answer::{self, Answer, Plan, View};
use crate::dns::answer_question;
use crate::gslb;
use crate::gslb::domain::Decision;
use crate::health::state::States;
use crate::model::balancing::DnsServer;
use crate::model::policy::Intercept;
use crate::model::snapshot::{Family, Host, HostId, NameEntry, Snapshot};
use crate::whatif::asked::{Asked, DomainId, Domains, Name, NameId};
use crate::whatif::change::Change;
use crate::whatif::simulation::{Decided, Placed};
use crate::whatif::subject::{Started, Subject};
use crate::whatif::tally::{PHASES, Tally};

/// Questions that are handed to all workers together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Names that the questions are the first to ask for.
    pub(super) names: Vec<Arc<Name>>,
    /// The change is made before the first of them.
    pub(super) changes: bool,
    /// The questions, in order of time.
    pub(super) asked: Vec<Asked>,
}

/// What all workers of a run share.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    /// All domains.
    pub(super) domains: &'a Domains,
    /// Whether resolvers keep answers.
    pub(super) caches: bool,
    /// The change, if there is one.
    pub(super) change: Option<&'a Change>,
    /// By domain: whether it is of interest what each client gets.
    pub(super) remembers_clients: &'a [bool],
    /// Whether choices look at the prefix cache.
    pub(super) depends_on_order: bool,
}

/// What is asked for at a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Addresses of one family.
    Addresses(Family),
    /// Anything else.
    Other,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] =
        [Kind::Addresses(Family::V4), Kind::Addresses(Family::V6), Kind::Other];

    const fn index(self) -> usize {
        match self {
            Kind::Addresses(family) => family.index(),
            Kind::Other => 2,
        }
    }
}

/// What was counted of one domain.
#[derive(Debug, Default)]
pub(super) struct DomainTally {
    /// By kind of question.
    pub(super) kinds: [Option<Box<Tally>>; Kind::ALL.len()],
    /// At the end of each part, what the configuration says of it, and what decided.
    pub(super) ends: [Option<End>; PHASES],
}

/// What the end of a part of a run looks like at one domain.
#[derive(Clone, Debug, Default)]
pub(super) struct End {
    /// Where each address is.
    pub(super) placed: Vec<Placed>,
    /// The name of its host policy.
    pub(super) policy: Option<String>,
    /// What decided, by family.
    pub(super) decided: [Vec<Decided>; 2],
}

/// What a worker has counted.
#[derive(Debug)]
pub(super) struct Counted {
    /// By domain.
    pub(super) domains: Vec<Option<DomainTally>>,
    /// Questions for other names, in each part.
    pub(super) others: [u64; PHASES],
}

/// An answer in the cache of a resolver.
#[derive(Clone, Copy, Debug)]
struct Cached {
    until: Moment,
    first: Option<std::net::IpAddr>,
}

/// One appliance and its part of the names.
pub(super) struct Worker<'a> {
    shared: &'a Shared<'a>,
    /// Its number among the workers, and how many there are.
    part: (usize, usize),
    started: Started,
    snapshot: Arc<Snapshot>,
    names: Vec<(Arc<Name>, RecordType)>,
    /// The hosts of the names in the present snapshot.
    hosts: Vec<Option<HostId>>,
    caches: HashMap<(u32, NameId), Cached>,
    tallies: Vec<Option<DomainTally>>,
    others: [u64; PHASES],
    /// What the counts by decision were when the part began, by domain.
    before: Vec<[Vec<Decided>; 2]>,
    phase: usize,
    /// The moment of the first question.
    base: Moment,
    /// Milliseconds by which a change moved the clock on.
    ahead: u64,
}

impl<'a> Worker<'a> {
    /// Starts an appliance of the subject.
    pub(super) fn start(shared: &'a Shared<'a>, subject: &Subject, part: (usize, usize)) -> Self {
        let (started, _) = subject.start();
        let snapshot = Arc::clone(&started.appliance().current());
        let base = started.appliance().clock.now();
        let mut worker = Worker {
            shared,
            part,
            started,
            snapshot,
            names: Vec::new(),
            hosts: Vec::new(),
            caches: HashMap::new(),
            tallies: shared.domains.list().iter().map(|_| None).collect(),
            others: [0; PHASES],
            before: Vec::new(),
            phase: 0,
            base,
            ahead: 0,
        };
        worker.begin_part();
        worker
    }

    /// Answers a batch.
    pub(super) fn take(&mut self, batch: &Batch) {
        if batch.changes {
            self.change();
        }
        for name in &batch.names {
            let record_type = name.question().record_type;
            self.hosts.push(self.host_of(name));
            self.names.push((Arc::clone(name), record_type));
        }
        for asked in &batch.asked {
            self.ask(asked);
        }
    }

    /// Ends the last part.
    pub(super) fn finish(mut self) -> Counted {
        self.end_part();
        Counted { domains: self.tallies, others: self.others }
    }

    fn is_mine(&self, domain: DomainId) -> bool {
        domain.index() % self.part.1 == self.part.0
    }

    fn ask(&mut self, asked: &Asked) {
        let now = Moment::from_millis(
            self.base.as_millis().saturating_add(asked.at).saturating_add(self.ahead),
        );
        if now.as_secs() > self.started.clock.now().as_secs() {
            self.started.pass_time(now);
            self.look_again();
        }
        let Some(id) = asked.name else {
            if self.part.0 == 0 {
                self.others[self.phase] += 1;
            }
            return;
        };
        let (name, record_type) = &self.names[id.index()];
        if !self.is_mine(name.domain) {
            return;
        }
        let record_type = *record_type;
        let host = self.hosts[id.index()].map(|host| &*self.snapshot.hosts[host.index()]);
        let kind = kind_of(record_type, host);
        let remembers = self.shared.remembers_clients[name.domain.index()];
        let domain = self.tallies[name.domain.index()].get_or_insert_default();
        let tally =
            domain.kinds[kind.index()].get_or_insert_with(|| Box::new(Tally::new(remembers)));
        let key = asked.resolver.filter(|_| self.shared.caches).map(|resolver| (resolver, id));
        if let Some(cached) = key.and_then(|key| self.caches.get(&key))
            && now < cached.until
        {
            tally.received(self.phase, asked.at, asked.client, cached.first);
            return;
        }
        let states = &self.started.appliance().states;
        if let (Some(host), Kind::Addresses(family)) = (host, kind)
            && answers(&self.snapshot, states)
        {
            if self.shared.depends_on_order {
                gslb::renew_client(&self.snapshot, states, asked.asker, now);
            }
            if host.positions(family).next().is_some() {
                let pool = self.started.pool_at(&self.snapshot, host, family, asked.asker, now);
                tally.pool(self.phase, host, pool);
            }
        }
        let settings = self.started.responder.settings;
        let view = View {
            snapshot: &self.snapshot,
            states,
            strict: settings.strict_dns,
            takes_large_replies: true,
            client: asked.asker,
            now,
        };
        let question = name.question();
        let answer = match answer::answer(&view, &question) {
            Plan::Answer(answer) => Some(answer),
            Plan::Drop | Plan::NobodyThere => None,
            Plan::Relay(_) => {
                let appliance = self.started.appliance();
                answer_question(appliance, settings, asked.asker, &question)
            }
        };
        let address = answer.as_ref().and_then(Answer::first_address);
        tally.selected(self.phase, address, answer.as_ref().map(|answer| answer.code));
        tally.received(self.phase, asked.at, asked.client, address);
        if let (Some(key), Some(ttl)) = (key, answer.as_ref().and_then(time_to_live)) {
            self.caches.insert(key, Cached { until: now.plus_secs(ttl), first: address });
        }
    }

    fn change(&mut self) {
        self.end_part();
        let before = self.started.clock.now();
        if let Some(change) = self.shared.change {
            // What is refused was told before anything was asked.
            let _ = change.apply(&self.started);
        }
        let passed = self.started.clock.now().since(before).as_millis();
        self.ahead = self.ahead.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX));
        self.look_again();
        self.phase = PHASES - 1;
        self.begin_part();
    }

    /// Takes the newest snapshot.
    fn look_again(&mut self) {
        let snapshot = self.started.appliance().current();
        if !Arc::ptr_eq(&snapshot, &self.snapshot) {
            self.snapshot = Arc::clone(&snapshot);
            self.hosts = self.names.iter().map(|(name, _)| self.host_of(name)).collect();
        }
    }

    fn host_of(&self, name: &Name) -> Option<HostId> {
        let key = crate::dns::name::key(name.question().name());
        match self.snapshot.lookup(&key) {
            Some(NameEntry::Host(host)) => Some(host),
            Some(NameEntry::EmptyNonTerminal) | None => None,
        }
    }

    /// The host of a domain in the present snapshot.
    fn host_of_domain(&self, domain: DomainId) -> Option<&Host> {
        let key = crate::dns::name::key_of_text(&self.shared.domains.get(domain).name)?;
        match self.snapshot.lookup(&key) {
            Some(NameEntry::Host(host)) => Some(&self.snapshot.hosts[host.index()]),
            Some(NameEntry::EmptyNonTerminal) | None => None,
        }
    }

    fn begin_part(&mut self) {
        let domains = self.shared.domains.ids();
        self.before = domains
            .map(|domain| match self.host_of_domain(domain) {
                Some(host) if self.is_mine(domain) => decided(host),
                Some(_) | None => Default::default(),
            })
            .collect();
    }

    fn end_part(&mut self) {
        for domain in self.shared.domains.ids() {
            let Some(mut tally) = self.tallies[domain.index()].take() else { continue };
            if let Some(host) = self.host_of_domain(domain) {
                for kind in tally.kinds.iter_mut().flatten() {
                    kind.settle(self.phase, host);
                }
                tally.ends[self.phase] = Some(self.end_of(host, &self.before[domain.index()]));
            }
            self.tallies[domain.index()] = Some(tally);
        }
    }

    fn end_of(&self, host: &Host, before: &[Vec<Decided>; 2]) -> End {
        let snapshot = &self.snapshot;
        let mut decided = decided(host);
        for (now, before) in decided.iter_mut().zip(before) {
            for one in now.iter_mut() {
                let known = before.iter().find(|known| known.by == one.by);
                one.count = one.count.saturating_sub(known.map_or(0, |known| known.count));
            }
            now.retain(|one| one.count > 0);
        }
        End {
            placed: host.addresses.iter().map(|one| Placed::of(snapshot, one)).collect(),
            policy: snapshot.policy_of(host).name.clone(),
            decided,
        }
    }
}

/// Whether configured hosts get addresses: the appliance answers by itself (decisions 5.1), or with
/// what the DNS server behind says.
pub(super) fn answers(snapshot: &Snapshot, states: &States) -> bool {
    let dns = &snapshot.global_policy().dns;
    let by_itself = dns.cache_proxy || dns.transparent_intercept == Some(Intercept::WithPolicy);
    dns.override_ && by_itself || snapshot.balancing.dns_server(states) == DnsServer::Up
}

fn kind_of(record_type: RecordType, host: Option<&Host>) -> Kind {
    let family = match (host, record_type) {
        (Some(host), _) => answer::family(record_type, host),
        (None, RecordType::A) => Some(Family::V4),
        (None, RecordType::AAAA) => Some(Family::V6),
        (None, _) => None,
    };
    family.map_or(Kind::Other, Kind::Addresses)
}

/// How long a resolver may keep an answer, seconds. Negative answers without an SOA record are not
/// kept (RFC 2308 section 5).
fn time_to_live(answer: &Answer) -> Option<u64> {
    let ttl = match (answer.records.first(), answer.soa) {
        (Some(record), _) => record.ttl,
        (None, Some(soa)) => soa.ttl,
        (None, None) => return None,
    };
    (ttl > 0).then_some(ttl.into())
}

/// How often each rule decided for the addresses of each family.
fn decided(host: &Host) -> [Vec<Decided>; 2] {
    let state = host.domain.lock();
    [Family::V4, Family::V6].map(|family| {
        let of = |by: Decision| {
            let tallies = host
                .positions(family)
                .filter_map(|position| state.tallies.get(host.addresses[position].slot.index()));
            Decided { by: by.name(), count: tallies.map(|tally| tally.by(by)).sum() }
        };
        Decision::ALL.iter().map(|by| of(*by)).filter(|one| one.count > 0).collect()
    })
}
