//! Counts to the data of a report: names in configured order, addresses in the order of the list,
//! and what is compared side by side.

use std::net::IpAddr;

use crate::dns::client::code_name;
use crate::model::snapshot::Family;
use crate::whatif::asked::DomainId;
use crate::whatif::run::{Plan, Prepared};
use crate::whatif::simulation::{
    ChangeMade, CodeCount, Decided, DomainReport, DomainSide, Figures, FirstRunReport, Input,
    Moved, Row, Side, Simulation, TimelineReport, VERSION,
};
use crate::whatif::tally::{Clients, Counts, Phase, Tally};
use crate::whatif::worker::{Counted, End, Kind, answers};

/// What is known of a run beside its counts.
#[derive(Debug, Default)]
pub(in crate::whatif) struct Facts {
    /// Questions of clients.
    pub(in crate::whatif) questions: u64,
    /// When the last one was asked, milliseconds since the first.
    pub(in crate::whatif) last: u64,
    /// After how many questions, and at which millisecond, the change was made.
    pub(in crate::whatif) changed_at: Option<(u64, u64)>,
    /// The seed of the population.
    pub(in crate::whatif) seed: Option<u64>,
    /// Clients of the population.
    pub(in crate::whatif) clients: Option<u32>,
    /// The query log.
    pub(in crate::whatif) log: Option<String>,
    /// Questions of the log that stood behind a later one.
    pub(in crate::whatif) late: u64,
    /// Records of the log that were no question to a server.
    pub(in crate::whatif) skipped: u64,
    /// Whether somebody ended it before its end.
    pub(in crate::whatif) stopped: bool,
}

/// Where the counts of a side are: the run, and the part of it.
#[derive(Clone, Copy)]
struct At {
    run: usize,
    phase: usize,
}

/// Puts a report together.
pub(in crate::whatif) fn assemble(
    plan: &Plan,
    prepared: &Prepared,
    facts: &Facts,
    mut runs: Vec<Counted>,
) -> Simulation {
    let at = |run, phase| At { run, phase };
    let places: Vec<(&'static str, At)> = match (runs.len(), facts.changed_at) {
        (1, Some(_)) => vec![("before", at(0, 0)), ("after", at(0, 1))],
        (1, None) => vec![("all", at(0, 0))],
        (_, _) => vec![("before", at(0, 0)), ("after", at(1, 0))],
    };
    let mut domains = Vec::new();
    for id in prepared.domains.ids() {
        for kind in Kind::ALL {
            domains.extend(domain_report(prepared, &mut runs, &places, id, kind));
        }
    }
    let sides: Vec<Side> = places
        .iter()
        .zip(0..)
        .map(|((name, at), place)| {
            let others = runs[at.run].others[at.phase];
            let sum = |of: fn(&DomainSide) -> u64| -> u64 {
                domains.iter().filter_map(|domain| domain.sides.get(place)).map(of).sum()
            };
            Side {
                name,
                subject: plan.subjects[at.run].name.clone(),
                questions: sum(|side| side.questions) + others,
                asked: sum(|side| side.asked) + others,
                other_names: others,
            }
        })
        .collect();
    Simulation {
        version: VERSION,
        input: Input {
            log: facts.log.clone(),
            seed: facts.seed,
            clients: facts.clients,
            questions: facts.questions,
            seconds: seconds(facts.last),
            resolvers: plan.resolvers,
            caches: plan.caches,
        },
        change: plan.change.as_ref().zip(facts.changed_at).map(|(change, (questions, at))| {
            ChangeMade {
                file: change.name.clone(),
                questions,
                seconds: seconds(at),
                clears: change.clears,
            }
        }),
        notes: notes(plan, prepared, facts, &sides, &domains),
        sides,
        domains,
    }
}

/// Milliseconds as seconds.
#[allow(clippy::cast_precision_loss, reason = "exact for 285,000 years")]
fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}

fn domain_report(
    prepared: &Prepared,
    runs: &mut [Counted],
    places: &[(&'static str, At)],
    id: DomainId,
    kind: Kind,
) -> Option<DomainReport> {
    let domain = prepared.domains.get(id);
    let index = Kind::ALL.iter().position(|one| *one == kind)?;
    let mut found: Vec<Option<Box<Tally>>> = Vec::new();
    let mut ends: Vec<[Option<End>; 2]> = Vec::new();
    for run in runs.iter_mut() {
        let tally = run.domains[id.index()].as_mut();
        ends.push(tally.as_ref().map(|tally| tally.ends.clone()).unwrap_or_default());
        found.push(tally.and_then(|tally| tally.kinds[index].take()));
    }
    if found.iter().all(Option::is_none) {
        return None;
    }
    let empty = Tally::default();
    let tallies: Vec<&Tally> = found.iter().map(|one| one.as_deref().unwrap_or(&empty)).collect();
    let views: Vec<View<'_>> = places
        .iter()
        .map(|(_, at)| View {
            tally: tallies[at.run],
            phase: &tallies[at.run].phases[at.phase],
            end: ends[at.run][at.phase].as_ref(),
        })
        .collect();
    let answers = answers_in_order(&views, kind);
    let addresses: Vec<Row<Option<IpAddr>>> =
        answers.iter().map(|answer| row_of_address(*answer, &views)).collect();
    Some(DomainReport {
        name: domain.name.clone(),
        record_type: match kind {
            Kind::Addresses(Family::V4) => "A",
            Kind::Addresses(Family::V6) => "AAAA",
            Kind::Other => "other",
        },
        sides: views.iter().map(|view| side_of(view, kind)).collect(),
        sites: rows_of_sites(&addresses, &views),
        moved: moved(&tallies, places),
        timelines: timelines(&tallies, &answers),
        addresses,
    })
}

/// The counts of one name at one side.
struct View<'a> {
    tally: &'a Tally,
    phase: &'a Phase,
    end: Option<&'a End>,
}

/// The addresses of the list in its order, then others that were answered, then no address.
fn answers_in_order(views: &[View<'_>], kind: Kind) -> Vec<Option<IpAddr>> {
    let mut answers: Vec<Option<IpAddr>> = Vec::new();
    let mut add = |answer: Option<IpAddr>| {
        if !answers.contains(&answer) {
            answers.push(answer);
        }
    };
    if let Kind::Addresses(family) = kind {
        let listed = views.iter().filter_map(|view| view.end).flat_map(|end| &end.placed);
        for placed in listed.filter(|placed| Family::of(placed.address) == family) {
            add(Some(placed.address));
        }
    }
    let answered = || views.iter().flat_map(|view| view.tally.answers.iter().copied());
    answered().flatten().map(Some).for_each(&mut add);
    answered().filter(Option::is_none).for_each(&mut add);
    answers
}

fn row_of_address(answer: Option<IpAddr>, views: &[View<'_>]) -> Row<Option<IpAddr>> {
    let placed = |view: &View<'_>| {
        let end = view.end?;
        end.placed.iter().find(|placed| Some(placed.address) == answer).cloned()
    };
    let sides = views
        .iter()
        .map(|view| {
            let place = view.tally.answers.iter().position(|known| *known == answer);
            let counts =
                place.and_then(|place| view.phase.counts.get(place)).copied().unwrap_or_default();
            if placed(view).is_none() && counts == Counts::default() {
                return None;
            }
            let share = place.and_then(|place| view.phase.shares.get(place)).copied();
            let ideal = view.has_ideal().then(|| share.unwrap_or(0.0));
            Some(view.figures(counts.selected, counts.received, ideal))
        })
        .collect();
    let site = views.iter().rev().filter_map(placed).find_map(|placed| placed.site);
    Row { answer, site, sides }
}

/// The sites in the order of their first address, if there is any.
fn rows_of_sites(
    addresses: &[Row<Option<IpAddr>>],
    views: &[View<'_>],
) -> Vec<Row<Option<String>>> {
    let mut rows: Vec<Row<Option<String>>> = Vec::new();
    for (place, view) in views.iter().enumerate() {
        for row in addresses.iter().filter(|row| row.answer.is_some()) {
            let Some(figures) = row.sides[place] else { continue };
            let placed = view.end.iter().flat_map(|end| &end.placed);
            let site = placed
                .clone()
                .find(|placed| Some(placed.address) == row.answer)
                .and_then(|placed| placed.site.clone());
            let known = rows.iter().position(|known| known.answer == site);
            let known = known.unwrap_or_else(|| {
                rows.push(Row { answer: site, site: None, sides: vec![None; views.len()] });
                rows.len() - 1
            });
            let sum = rows[known].sides[place].get_or_insert_default();
            let ideal = figures.ideal_share.map(|share| share + sum.ideal_share.unwrap_or(0.0));
            let (selected, received) =
                (sum.selected + figures.selected, sum.received + figures.received);
            *sum = Figures {
                selected,
                selected_share: share(selected, view.phase.asked),
                received,
                received_share: share(received, view.phase.questions),
                ideal_share: ideal.map(rounded),
                difference: ideal
                    .map(|ideal| rounded(share(received, view.phase.questions) - ideal)),
            };
        }
    }
    rows
}

impl View<'_> {
    /// Whether there are shares to compare with.
    fn has_ideal(&self) -> bool {
        self.phase.shares.iter().any(|share| *share > 0.0)
    }

    /// `ideal` is a sum over the questions that reached the appliance.
    fn figures(&self, selected: u64, received: u64, ideal: Option<f64>) -> Figures {
        let received_share = share(received, self.phase.questions);
        let ideal_share = ideal.map(|sum| rounded(sum / number(self.phase.asked).max(1.0)));
        Figures {
            selected,
            selected_share: share(selected, self.phase.asked),
            received,
            received_share,
            ideal_share,
            difference: ideal_share.map(|ideal| rounded(received_share - ideal)),
        }
    }
}

fn side_of(view: &View<'_>, kind: Kind) -> DomainSide {
    let phase = view.phase;
    let nothing = view.tally.answers.iter().position(Option::is_none);
    let unanswered = nothing.and_then(|place| phase.counts.get(place));
    let mut codes: Vec<CodeCount> = phase
        .codes
        .iter()
        .map(|(code, count)| CodeCount { code: code.map_or("dropped", code_name), count: *count })
        .collect();
    codes.sort_by_key(|one| std::cmp::Reverse(one.count));
    let mut decided_by: Vec<Decided> = match (kind, view.end) {
        (Kind::Addresses(family), Some(end)) => end.decided[family.index()].clone(),
        _ => Vec::new(),
    };
    decided_by.sort_by_key(|one| std::cmp::Reverse(one.count));
    DomainSide {
        policy: view.end.and_then(|end| end.policy.clone()),
        questions: phase.questions,
        asked: phase.asked,
        unanswered: unanswered.map_or(0, |counts| counts.received),
        no_best: phase.no_best,
        codes,
        decided_by,
        first_run: phase.first_run.map(|run| FirstRunReport {
            address: view.tally.answers[run.answer],
            length: run.length,
        }),
    }
}

/// Compares what each client got last on the first side with what it got on the other.
fn moved(tallies: &[&Tally], places: &[(&'static str, At)]) -> Option<Moved> {
    let [(_, before), (_, after)] = places else { return None };
    let of = |at: &At| tallies[at.run].clients.as_ref();
    let (earlier, later): (&Clients, &Clients) = of(before).zip(of(after))?;
    let answer =
        |at: &At, place: u32| tallies[at.run].answers.get(place as usize).copied().flatten();
    let (mut clients, mut moved) = (0, 0);
    for (client, got) in &earlier.got {
        let first = got[before.phase];
        let then = later.got.get(client).and_then(|got| got[after.phase]);
        if let (Some(first), Some(then)) = (first, then) {
            clients += 1;
            moved += u64::from(answer(before, first) != answer(after, then));
        }
    }
    Some(Moved { clients, moved, capped: earlier.is_full || later.is_full })
}

/// What clients got over time, by the rows of the report, all in pieces of the same length.
fn timelines(tallies: &[&Tally], answers: &[Option<IpAddr>]) -> Vec<TimelineReport> {
    let width = tallies.iter().map(|tally| tally.timeline.width).max().unwrap_or(1);
    let widened: Vec<_> = tallies
        .iter()
        .map(|tally| {
            let mut timeline = tally.timeline.clone();
            timeline.widen_to(width);
            timeline
        })
        .collect();
    let pieces = widened.iter().map(|timeline| timeline.pieces.len()).max().unwrap_or(0);
    tallies
        .iter()
        .zip(&widened)
        .map(|(tally, timeline)| {
            let counts = answers
                .iter()
                .map(|answer| {
                    let place = tally.answers.iter().position(|known| known == answer);
                    let count = |piece: usize| {
                        let counts = timeline.pieces.get(piece)?;
                        counts.get(place?).copied()
                    };
                    (0..pieces).map(|piece| count(piece).unwrap_or(0)).collect()
                })
                .collect();
            TimelineReport { piece_seconds: seconds(width), counts }
        })
        .collect()
}

/// What a reader should know about the figures.
fn notes(
    plan: &Plan,
    prepared: &Prepared,
    facts: &Facts,
    sides: &[Side],
    domains: &[DomainReport],
) -> Vec<String> {
    let mut notes = prepared.notes.clone();
    for (probe, subject) in prepared.probes.iter().zip(&plan.subjects) {
        let snapshot = probe.appliance().current();
        if !snapshot.hosts.is_empty() && !answers(&snapshot, &probe.appliance().states) {
            notes.push(format!(
                "{}: hosts get no address: the appliance answers by itself only in cache-proxy mode \
                 with override, and no DNS server behind is in service",
                subject.name
            ));
        }
    }
    if facts.stopped {
        notes.push(format!("stopped after {} questions", facts.questions));
    }
    if facts.skipped > 0 {
        notes.push(format!("{} records of the log are no questions to a server", facts.skipped));
    }
    if facts.late > 0 {
        notes.push(format!("{} questions stood behind a later one in the log", facts.late));
    }
    if let Some(others) = sides.iter().map(|side| side.other_names).max().filter(|one| *one > 0) {
        notes.push(format!(
            "{others} questions were for names that are no host of the configuration"
        ));
    }
    if plan.caches {
        let asked: u64 = sides.iter().map(|side| side.asked).sum();
        let questions: u64 = sides.iter().map(|side| side.questions).sum();
        notes.push(format!(
            "caches answered {} of {questions} questions; what the appliance counts are the other \
             {asked}",
            questions - asked
        ));
    }
    if facts.changed_at.is_some() {
        notes.extend(domains.iter().filter_map(catch_up));
    }
    notes
}

/// A run of one address right after a change is long from this many answers on, and if it is longer
/// than the shares make likely by themselves.
const LONG_RUN: u64 = 10;

/// What is to be said of the answers right after a change.
fn catch_up(domain: &DomainReport) -> Option<String> {
    let run = domain.sides.get(1)?.first_run.as_ref()?;
    let address = run.address?;
    let row = domain.addresses.iter().find(|row| row.answer == Some(address))?;
    let ideal = row.sides.get(1)?.as_ref()?.ideal_share?;
    (run.length >= LONG_RUN && ideal < 0.999).then(|| {
        format!(
            "{} {}: the first {} answers after the change were all {address}, whose share is \
             {:.1}%: counters from before it are caught up with",
            domain.name,
            domain.record_type,
            run.length,
            ideal * 100.0
        )
    })
}

/// A count as a number to calculate with.
#[allow(clippy::cast_precision_loss, reason = "exact up to 2^53 questions")]
fn number(count: u64) -> f64 {
    count as f64
}

/// A part of a whole, and 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { rounded(number(part) / number(whole)) }
}

/// Six digits are more than anybody reads, and the same in every form of report.
fn rounded(share: f64) -> f64 {
    let rounded = (share * 1e6).round() / 1e6;
    // No report shows a zero with a sign.
    if rounded == 0.0 { 0.0 } else { rounded }
}
