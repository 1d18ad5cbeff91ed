//! `emulate explain`: which address a question would get, and why; metric by metric in order, who
//! was dropped and by which numbers. An extension of ours.

mod outlook;

use std::net::IpAddr;

use self::outlook::Outlook;
use super::page::Page;
use super::table::{Block, Column};
use super::{DEVICE_WORD, percent};
use crate::clock::Moment;
use crate::gslb;
use crate::gslb::affinity::affinity_of;
use crate::gslb::choose::Choice;
use crate::gslb::domain::Decision;
use crate::gslb::hash_table::bucket_of;
use crate::gslb::metric::client_region;
use crate::gslb::observe::{Figure, Observer, Skip};
use crate::gslb::regions::{region_of_address, region_of_client};
use crate::health::state::States;
use crate::model::policy::Metric;
use crate::model::snapshot::{Family, Host, Snapshot};

/// A question that is explained and not asked.
#[derive(Clone, Copy, Debug)]
pub struct Explained<'a> {
    /// The configuration.
    pub snapshot: &'a Snapshot,
    /// What is measured.
    pub states: &'a States,
    /// The host.
    pub host: &'a Host,
    /// The family that is asked for.
    pub family: Family,
    /// Who asks.
    pub client: IpAddr,
    /// When.
    pub now: Moment,
}

const CANDIDATES: [Column; 8] = [
    Column::left(&["Candidate", "========="], 0),
    Column::left(&["Type", "===="], 7).gap(2),
    Column::left(&["Site", "===="], 0).gap(2),
    Column::left(&[DEVICE_WORD, "=="], 0).gap(2),
    Column::left(&["State", "====="], 6).gap(2),
    Column::left(&["Location", "========"], 0).gap(2),
    Column::right(&["Selected", "========"], 0).gap(2),
    Column::left(&["(%)", "==="], 0),
];

const STEPS: [Column; 4] = [
    Column::left(&["Step", "===="], 20),
    Column::left(&["Candidate", "========="], 0).gap(2),
    Column::left(&["Figure", "======"], 0).gap(2),
    Column::left(&["Verdict", "======="], 0).gap(2),
];

/// Explains a choice: candidates, steps, and what would be answered. Counts nothing.
pub fn explain(question: &Explained<'_>) -> String {
    let mut page = Page::default();
    let snapshot = question.snapshot;
    let mut trace = Trace::default();
    let outlook = Outlook::of(snapshot, question.states, question.host, question.family);
    let (choice, reply) = gslb::explain(
        snapshot,
        question.states,
        question.host,
        question.family,
        outlook.offered(snapshot),
        question.client,
        question.now,
        &mut trace,
    );
    question.print_head(&mut page, &outlook);
    let candidates = question.candidates(outlook.offered(snapshot));
    if candidates.is_empty() {
        page.part();
        page.line("No candidates: the host has no address of this family.");
        return page.finish();
    }
    page.part();
    page.block(0, &Block::new(&CANDIDATES, &candidates));
    if outlook.chooses {
        page.part();
        page.block(0, &Block::new(&STEPS, &question.steps(&trace, choice)));
    }
    page.part();
    if outlook.chooses {
        page.line(match (choice.best, choice.decision) {
            (Some(best), Some(decision)) => {
                format!("Best: {}, by {}", question.address(best), decision.name())
            }
            _ => "Best: none, the reply goes out unchanged".to_owned(),
        });
    }
    let reply: Vec<String> = reply.iter().map(|&position| question.address(position)).collect();
    page.line(format!("Reply: {}", outlook.reply(snapshot, choice.best, &reply)));
    page.finish()
}

impl Explained<'_> {
    fn address(&self, position: usize) -> String {
        self.host.addresses[position].ip.to_string()
    }

    fn print_head(&self, page: &mut Page, outlook: &Outlook) {
        let record_type = match self.family {
            Family::V4 => "A",
            Family::V6 => "AAAA",
        };
        let region = region_of_client(self.snapshot, self.client).display();
        page.line(format!(
            "{} {record_type}, asked by {} ({region})",
            self.host.domain_name, self.client
        ));
        match &self.snapshot.policy_of(self.host).name {
            Some(name) => page.line(format!("Policy: host policy {name}")),
            None => page.line("Policy: global"),
        }
        if let Some(note) = outlook.note {
            page.line(format!("Note: {note}"));
        }
    }

    /// A row for each candidate: each address of the family, or each of those that are offered.
    fn candidates(&self, offered: Option<&[IpAddr]>) -> Vec<[String; CANDIDATES.len()]> {
        let tallies = self.host.domain.lock().tallies.clone();
        let count = |position: usize| {
            let slot = self.host.addresses[position].slot.index();
            tallies.get(slot).map_or(0, |tally| tally.selections)
        };
        let total = (0..self.host.addresses.len()).map(count).sum();
        self.host
            .positions(self.family)
            .map(|position| (position, &self.host.addresses[position]))
            .filter(|(_, address)| offered.is_none_or(|offered| offered.contains(&address.ip)))
            .map(|(position, address)| {
                let site = self.snapshot.site_of(address).map(|site| site.name.clone());
                let device = self.snapshot.owner_of(address).map(|one| one.address.to_string());
                [
                    address.ip.to_string(),
                    if address.owner.is_some() { "v-ip" } else { "real-ip" }.to_owned(),
                    site.unwrap_or_else(|| NONE.to_owned()),
                    device.unwrap_or_else(|| NONE.to_owned()),
                    if self.host.is_healthy(address) { "ACTIVE" } else { "DOWN" }.to_owned(),
                    region_of_address(self.snapshot, address).display().to_owned(),
                    count(position).to_string(),
                    format!("({}%)", percent(count(position), total)),
                ]
            })
            .collect()
    }

    /// One row for each candidate that a step looked at, or one row for all if it found them alike,
    /// and one for a step that looked at none.
    fn steps(&self, trace: &Trace, choice: Choice) -> Vec<[String; STEPS.len()]> {
        let mut rows = Vec::new();
        let policy = self.snapshot.policy_of(self.host);
        let not_reached = if choice.best.is_some() { NOT_NEEDED } else { "nobody left" };
        if let Some(remark) = self.affinity_remark(trace) {
            self.step(&mut rows, trace, Decision::Affinity, choice, &remark);
        }
        // What decides alone leaves the steps after it without work.
        let is_open = |before: &[Decision]| choice.decision.is_none_or(|by| !before.contains(&by));
        if let Some(hash) = &policy.hash {
            let remark = if is_open(&[Decision::Affinity]) {
                let bucket = bucket_of(self.client, hash.prefix_length);
                format!("bucket {bucket} has no owner")
            } else {
                NOT_NEEDED.to_owned()
            };
            self.step(&mut rows, trace, Decision::HashPersistence, choice, &remark);
        }
        if policy.sticky.is_some() {
            let is_open = is_open(&[Decision::Affinity, Decision::HashPersistence]);
            let remark = if is_open { "no session of the client" } else { NOT_NEEDED };
            self.step(&mut rows, trace, Decision::Sticky, choice, remark);
        }
        for &metric in &policy.metrics {
            let first = rows.len();
            self.step(&mut rows, trace, metric.into(), choice, not_reached);
            if let Some(parameter) = self.parameter(metric) {
                let name = &mut rows[first][0];
                *name = format!("{name} ({parameter})");
            }
        }
        self.step(&mut rows, trace, policy.tie_breaker.into(), choice, not_reached);
        rows
    }

    /// What the figures of a metric are held against.
    fn parameter(&self, metric: Metric) -> Option<String> {
        let policy = self.snapshot.policy_of(self.host);
        match metric {
            Metric::HealthCheck | Metric::Preference => None,
            Metric::WeightedIp | Metric::WeightedSite => Some("least selected/weight".to_owned()),
            Metric::Capacity => Some(format!("below {}%", policy.capacity_threshold)),
            Metric::ActiveBindings if policy.weighted_selection => Some("in proportion".to_owned()),
            Metric::ActiveBindings => Some("most".to_owned()),
            Metric::RoundTripTime => Some(format!("least, within {}%", policy.rtt.tolerance)),
            Metric::Geographic => {
                let region =
                    client_region(self.snapshot, self.states, policy, self.client, self.now);
                Some(format!("client in {}", region.display()))
            }
            Metric::ConnectionLoad => {
                let limit = self.snapshot.global_policy().connection_load.limit;
                limit.map(|limit| format!("up to {limit}"))
            }
            Metric::NumSession => Some(format!("most, within {}%", policy.session_tolerance)),
            Metric::Flashback => Some(format!(
                "least, within {}%, TCP {}%",
                policy.flashback_application_tolerance, policy.flashback_tcp_tolerance
            )),
        }
    }

    /// What to say of affinity before its candidates; `None`: the host's group has no affinities.
    fn affinity_remark(&self, trace: &Trace) -> Option<String> {
        let group = self.host.affinity_group;
        if !self.snapshot.affinities.iter().any(|affinity| affinity.group == group) {
            return None;
        }
        let Some(affinity) = affinity_of(self.snapshot, self.host, self.client) else {
            return Some("no prefix holds the client".to_owned());
        };
        let device = self.snapshot.servers[affinity.server.index()].address;
        let prefers = format!("clients of {} prefer {device}", affinity.clients);
        let has_address = trace.step(Decision::Affinity).is_some();
        Some(if has_address { prefers } else { format!("{prefers}: no active address of it") })
    }

    fn step(
        &self,
        rows: &mut Vec<[String; STEPS.len()]>,
        trace: &Trace,
        by: Decision,
        choice: Choice,
        remark: &str,
    ) {
        let mut name = by.name().to_owned();
        let mut row = |address: String, figure: String, verdict: &str| {
            rows.push([std::mem::take(&mut name), address, figure, verdict.to_owned()]);
        };
        let Some(step) = trace.step(by) else {
            row(NONE.to_owned(), remark.to_owned(), NONE);
            return;
        };
        if by == Decision::Affinity {
            row(NONE.to_owned(), remark.to_owned(), NONE);
        }
        if let Some(alike) = step.all_alike() {
            let word = if alike.kept { "stay" } else { "dropped" };
            let all = format!("all {}", step.verdicts.len());
            row(all, alike.figure.to_string(), word);
        }
        let each = if step.all_alike().is_some() { &[] } else { step.verdicts.as_slice() };
        for verdict in each {
            let is_best = choice.decision == Some(by) && choice.best == Some(verdict.position);
            let word = match (verdict.kept, is_best) {
                (false, _) => "dropped",
                (true, false) => "stays",
                (true, true) => "best",
            };
            row(self.address(verdict.position), verdict.figure.to_string(), word);
        }
        if let Some(skip) = step.skipped {
            row(NONE.to_owned(), skip.to_string(), "all stay");
        }
    }
}

/// Stands where there is nothing to say.
const NONE: &str = "-";
const NOT_NEEDED: &str = "not needed";

/// What an observer heard, step by step.
#[derive(Debug, Default)]
struct Trace {
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    by: Decision,
    verdicts: Vec<Verdict>,
    skipped: Option<Skip>,
}

#[derive(Debug)]
struct Verdict {
    position: usize,
    figure: Figure,
    kept: bool,
}

impl Step {
    /// The verdict on each of several candidates, if it found no difference between them.
    fn all_alike(&self) -> Option<&Verdict> {
        let (first, others) = self.verdicts.split_first()?;
        let is_alike = |other: &Verdict| other.figure == first.figure && other.kept == first.kept;
        (!others.is_empty() && others.iter().all(is_alike)).then_some(first)
    }
}

impl Trace {
    fn step(&self, by: Decision) -> Option<&Step> {
        self.steps.iter().find(|step| step.by == by)
    }

    fn step_mut(&mut self, by: Decision) -> &mut Step {
        let known = self.steps.iter().position(|step| step.by == by);
        let place = known.unwrap_or_else(|| {
            self.steps.push(Step { by, verdicts: Vec::new(), skipped: None });
            self.steps.len() - 1
        });
        &mut self.steps[place]
    }
}

impl Observer for Trace {
    fn judged(&mut self, by: Decision, position: usize, figure: Figure, kept: bool) {
        self.step_mut(by).verdicts.push(Verdict { position, figure, kept });
    }

    fn skipped(&mut self, by: Decision, reason: Skip) {
        self.step_mut(by).skipped = Some(reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::{World, ip};
    use crate::model::policy::{HashPersistence, Metric, Sticky, TieBreaker};

    const WWW: &str = "www.gslb.com";

    fn text(world: &World) -> String {
        let question = Explained {
            snapshot: &world.snapshot,
            states: &world.states,
            host: world.host_named(WWW),
            family: Family::V4,
            client: world.client,
            now: world.now,
        };
        explain(&question)
    }

    fn world() -> World {
        World::new()
            .site("SanJose", 50, &["1.1.1.1"])
            .site("London", 20, &["1.1.1.2"])
            .metrics(&[Metric::HealthCheck, Metric::WeightedSite, Metric::NumSession])
            .policy(|policy| {
                policy.dns.cache_proxy = true;
                policy.dns.override_ = true;
            })
            .host(WWW, &["1.1.1.1", "1.1.1.2", "192.0.2.9"])
    }

    #[test]
    fn who_was_dropped_and_by_which_numbers() {
        let world = world();
        world.down("192.0.2.9");
        world.run(WWW, 3);
        let expected = "\
www.gslb.com A, asked by 127.0.0.1 (N-AM)
Policy: global

Candidate  Type     Site     SI          State   Location  Selected (%)
=========  ====     ====     ==          =====   ========  ======== ===
1.1.1.1    v-ip     SanJose  10.255.1.1  ACTIVE  N-AM             2 (66%)
1.1.1.2    v-ip     London   10.255.2.1  ACTIVE  N-AM             1 (33%)
192.0.2.9  real-ip  -        -           DOWN    N-AM             0 (0%)

Step                                   Candidate  Figure                         Verdict
====                                   =========  ======                         =======
health-check                           1.1.1.1    ACTIVE                         stays
                                       1.1.1.2    ACTIVE                         stays
                                       192.0.2.9  DOWN                           dropped
weighted-site (least selected/weight)  1.1.1.1    selected 2, weight 50: 0.0400  best
                                       1.1.1.2    selected 1, weight 20: 0.0500  dropped
num-session (most, within 10%)         -          not needed                     -
least-response                         -          not needed                     -

Best: 1.1.1.1, by weighted-site
Reply: 1.1.1.1, 1.1.1.2, 192.0.2.9
";
        assert_eq!(text(&world), expected);
        assert_eq!(text(&world), expected, "nothing was counted");
    }

    #[test]
    fn no_best() {
        let world = world();
        for address in ["1.1.1.1", "1.1.1.2", "192.0.2.9"] {
            world.down(address);
        }
        let text = text(&world);
        let expected = "
health-check                           all 3      DOWN         dropped
weighted-site (least selected/weight)  -          nobody left  -
num-session (most, within 10%)         -          nobody left  -
least-response                         -          nobody left  -

Best: none, the reply goes out unchanged
";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn what_a_step_finds_alike_is_one_row() {
        let world = world().metrics(&[Metric::HealthCheck, Metric::Capacity, Metric::Geographic]);
        let expected = "
health-check                 all 3      ACTIVE                     stay
capacity (below 90%)         1.1.1.1    0 of 2000000 sessions: 0%  stays
                             1.1.1.2    90 of 100 sessions: 90%    dropped
                             192.0.2.9  no report                  stays
geographic (client in N-AM)  all 2      N-AM                       stay
";
        world.sessions("10.255.2.1", 90, 100);
        let text = text(&world);
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn whose_turn_it_is_among_the_sites() {
        let world = world().metrics(&[]).tie_breaker(TieBreaker::WeightedRoundRobin);
        world.run(WWW, 3);
        let text = text(&world);
        let expected = "
round-robin-weighted  1.1.1.1    site weight 50: 3 of 5 in a row  best
                      1.1.1.2    site weight 20: 0 of 2 in a row  dropped
                      192.0.2.9  site weight 0                    dropped
";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn persistence_comes_first() {
        let mut world = world()
            .policy(|policy| {
                policy.hash = Some(HashPersistence::default());
                policy.sticky = Some(Sticky::default());
            })
            .change_host(WWW, |host| host.affinity_group = Some(7));
        world.client = ip("1.1.1.43");
        world.snapshot.affinities = vec![crate::gslb::affinity::Affinity {
            group: Some(7),
            clients: crate::health::prefix::Prefix::new(ip("1.0.0.0"), 8),
            server: crate::model::snapshot::ServerId(1),
        }];
        let by_affinity = text(&world);
        let expected = "
affinity                               -          clients of 1.0.0.0/8 prefer 10.255.2.1  -
                                       1.1.1.2    selected 0                              best
persistent-hash                        -          not needed                              -
sticky                                 -          not needed                              -
health-check                           -          not needed                              -
";
        assert!(by_affinity.contains(expected), "{by_affinity}");
        world.down("1.1.1.2");
        let by_hash = text(&world);
        let expected = "
affinity                               -          clients of 1.0.0.0/8 prefer 10.255.2.1: no active address of it  -
persistent-hash                        1.1.1.1    bucket 46, ACTIVE                                                best
sticky                                 -          not needed                                                       -
";
        assert!(by_hash.contains(expected), "{by_hash}");
    }
}
