//! Configurations, and simulations of them.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use adxemu::grammar::Grammar;
use adxemu::whatif::change::{Change, When};
use adxemu::whatif::population::Draw;
use adxemu::whatif::run::{Plan, Questions, simulate};
use adxemu::whatif::simulation::{DomainReport, Simulation};
use adxemu::whatif::subject::Subject;

pub(crate) fn grammar() -> &'static Arc<Grammar> {
    static GRAMMAR: OnceLock<Arc<Grammar>> = OnceLock::new();
    GRAMMAR.get_or_init(|| Arc::new(Grammar::built_in().unwrap()))
}

pub(crate) fn subject(text: &str) -> Subject {
    Subject::of_text(grammar(), "test.cfg", text)
}

/// Weights of addresses of `www.example.com`: 192.0.2.10, .20 and so on.
pub(crate) fn weighted_ip(weights: &[u8]) -> String {
    let mut text = "gslb policy\n dns cache-proxy\n dns override\n weighted-ip\n!\n".to_owned();
    text += "gslb dns zone example.com\n host-info www http\n";
    for place in 1..=weights.len() {
        text += &format!(" host-info www ip-list 192.0.2.{place}0\n");
    }
    text + &weights_of(weights)
}

/// The lines that give these weights.
pub(crate) fn weights_of(weights: &[u8]) -> String {
    let lines = weights
        .iter()
        .zip(1..)
        .map(|(weight, place)| format!(" host-info www ip-weight 192.0.2.{place}0 {weight}\n"));
    lines.collect()
}

/// As [`weights_of`], to be pasted.
pub(crate) fn reweighted(weights: &[u8]) -> String {
    format!("gslb dns zone example.com\n{}", weights_of(weights))
}

pub(crate) fn plan(subjects: &[&str]) -> Plan {
    Plan {
        subjects: subjects.iter().map(|text| subject(text)).collect(),
        change: None,
        resolvers: 0,
        caches: false,
        threads: 2,
    }
}

pub(crate) fn changed(text: &str, change: &str, after: u64, clears: bool) -> Plan {
    let change = Change {
        name: "change.txt".to_owned(),
        text: change.to_owned(),
        when: When::Questions(after),
        clears,
    };
    Plan { change: Some(change), ..plan(&[text]) }
}

pub(crate) fn draw(questions: u64) -> Draw {
    Draw { questions, ..Draw::default() }
}

pub(crate) fn run(plan: &Plan, draw: Draw) -> Simulation {
    simulate(plan, Questions::Drawn(draw), &mut |_| ControlFlow::Continue(())).unwrap()
}

/// How often each address of a name was answered by the appliance at a side.
pub(crate) fn selected(domain: &DomainReport, side: usize) -> Vec<u64> {
    let rows = domain.addresses.iter();
    rows.map(|row| row.sides[side].map_or(0, |figures| figures.selected)).collect()
}

/// The same for what clients got.
pub(crate) fn received(domain: &DomainReport, side: usize) -> Vec<u64> {
    let rows = domain.addresses.iter();
    rows.map(|row| row.sides[side].map_or(0, |figures| figures.received)).collect()
}
