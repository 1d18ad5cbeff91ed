//! What lines cost, counted and not timed: how often a statement was looked at.
//!
//! Reading n lines, typed or from a file, costs O(n). A search from end to end that creeps into
//! what is done for each line shows here on every machine alike.

use std::cell::Cell;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::appliance::Appliance;
use crate::cli::session::Session;
use crate::clock::DrivenClock;
use crate::config::edit::Trees;
use crate::config::load;
use crate::dns::{Responder, Settings};
use crate::grammar::Grammar;

thread_local! {
    static LOOKS: Cell<u64> = const { Cell::new(0) };
}

/// A statement is looked at.
pub(super) fn look() {
    LOOKS.set(LOOKS.get() + 1);
}

/// How often statements were looked at meanwhile, on this thread.
fn looks(work: impl FnOnce()) -> u64 {
    let before = LOOKS.get();
    work();
    LOOKS.get() - before
}

/// How many times as many lines.
const FACTOR: u64 = 10;

/// Lines of all kinds that grow in number: blocks, keys, groups, lists and opaque lines.
fn lines(count: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut number = 0;
    while lines.len() < count {
        let zone = number / 100;
        if number % 100 == 0 {
            lines.push(format!("gslb site s{zone}"));
            lines.push(format!(" si-name d{zone} 10.0.{}.{}", zone / 250, zone % 250));
            lines.push(format!("server real r{zone} 10.1.{}.{}", zone / 250, zone % 250));
            lines.push(" port http".to_owned());
            lines.push(format!("csw-rule x{zone} unknown words"));
            lines.push(format!("gslb dns zone z{zone}.example.com"));
        }
        let address = format!("10.2.{}.{}", number / 250, number % 250);
        lines.push(format!(" host-info h{number} http"));
        lines.push(format!(" host-info h{number} ip-list {address}"));
        lines.push(format!(" host-info h{number} ip-weight {address} {}", number % 100));
        number += 1;
    }
    lines.truncate(count);
    lines
}

fn require_linear(what: &str, work: impl Fn(usize) -> u64) {
    let (few, many) = (work(2_000), work(2_000 * 10));
    assert!(few >= 2_000, "{what}: {few} looks, is anything counted?");
    // A tenth more for tables that grow in steps.
    assert!(many <= few * (FACTOR + 1), "{what}: {few} looks for 2,000 lines, {many} for 20,000");
}

#[test]
fn a_file_costs_as_much_as_it_has_lines() {
    let grammar = Grammar::built_in().unwrap();
    require_linear("load", |count| {
        let text = lines(count).iter().fold(String::new(), |mut text, line| {
            writeln!(text, "{line}").unwrap();
            text
        });
        looks(|| {
            let mut trees = Trees::default();
            let report = load::load(&grammar, &mut trees, &text);
            assert!(report.rejected.is_empty(), "{:?}", report.rejected.first());
        })
    });
}

#[test]
fn a_paste_costs_as_much_as_it_has_lines() {
    let grammar = Arc::new(Grammar::built_in().unwrap());
    require_linear("paste", |count| {
        let clock = Arc::new(DrivenClock::new());
        let appliance = Arc::new(Appliance::new(Arc::clone(&grammar), clock, None));
        let mut session =
            Session::configuring(Arc::new(Responder { appliance, settings: Settings::default() }));
        // What a console does for each line.
        looks(|| {
            for line in lines(count) {
                session.notices();
                assert!(!session.prompt().is_empty());
                session.run(&line);
            }
            session.run("end");
            session.appliance().current();
        })
    });
}

/// The measure sees a search from end to end for every line.
#[test]
fn a_search_for_every_line_would_be_seen() {
    let grammar = Grammar::built_in().unwrap();
    let squared = |count: usize| {
        let mut trees = Trees::default();
        looks(|| {
            for number in 0..count {
                let text = format!("csw-rule a{number} x\nsystem-max t{number} 1\n");
                load::load(&grammar, &mut trees, &text);
                assert!(trees.configuration.root.statements().count() > 0);
            }
        })
    };
    assert!(squared(1_000) > squared(100) * 50);
}
