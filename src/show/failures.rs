//! What is left when something fails, as tables for a terminal: the worst first.

use super::counted;
use super::page::Page;
use super::simulation::percentage;
use super::table::{Block, Column};
use crate::whatif::failures::{Case, Cases, Failures, GroupOutcome, NameOutcome};

const CASES: [Column; 6] = [
    Column::left(&["Failed", "======"], 24),
    Column::right(&["Dead", "===="], 6).gap(2),
    Column::right(&["Moved", "====="], 6).gap(2),
    Column::left(&["Name", "===="], 0).gap(2),
    Column::left(&["Clients", "======="], 0).gap(2),
    Column::left(&["Get", "==="], 0).gap(2),
];

const BASELINE: [Column; 3] = [
    Column::left(&["Name", "===="], 0),
    Column::left(&["Clients", "======="], 0).gap(2),
    Column::left(&["Get", "==="], 0).gap(2),
];

/// Rows of one failure at most.
const MOST_ROWS: usize = 8;

/// The tables of a failure matrix.
pub fn failures(found: &Failures) -> String {
    let mut page = Page::default();
    page.line(format!("{}: {}", found.subject, extent(found)));
    let groups: Vec<&str> = found.clients.iter().map(|group| group.name.as_str()).collect();
    page.line(format!("Clients: {}", groups.join(", ")));
    page.part();
    page.line("Nothing fails");
    let rows: Vec<[String; 3]> = found
        .baseline
        .iter()
        .flat_map(|name| name.clients.iter().map(move |group| (name, group)))
        .map(|(name, group)| [title(name), group.groups.join(", "), answers(group)])
        .collect();
    page.block(2, &Block::new(&BASELINE, &rows));
    cases(&mut page, "One thing fails", &found.single);
    cases(&mut page, "Two things fail", &found.double);
    page.part();
    page.line("Dead: part of all names and clients whose first address has failed, or is none.");
    page.line("Moved: part that gets another address than before. (!) marks what has failed.");
    for note in &found.notes {
        page.line(format!("Note: {note}"));
    }
    page.finish()
}

/// How much there is that can fail, and to whom it matters.
pub fn extent(found: &Failures) -> String {
    let count = |kind: &str| found.elements.iter().filter(|one| one.kind == kind).count();
    let names = found.baseline.len();
    format!(
        "{}, {}, {}; {}",
        counted(count("site"), "site", "sites"),
        counted(count("device"), "site device", "site devices"),
        counted(count("address"), "address", "addresses"),
        counted(names, "name and type", "names and types")
    )
}

fn cases(page: &mut Page, heading: &str, cases: &Cases) {
    page.part();
    page.line(format!(
        "{heading}: {} cases, {} with dead answers, {} that only move clients",
        cases.count, cases.dead, cases.moved
    ));
    let shown = u64::try_from(cases.worst.len()).unwrap_or(u64::MAX);
    if shown == 0 {
        return;
    }
    if shown < cases.count {
        page.line(format!("  The {shown} worst:"));
    }
    let rows: Vec<[String; 6]> = cases.worst.iter().flat_map(rows_of).collect();
    page.block(2, &Block::new(&CASES, &rows));
}

fn rows_of(case: &Case) -> Vec<[String; 6]> {
    let mut heads = case.failed.iter();
    let mut rows: Vec<[String; 6]> = Vec::new();
    let outcomes: Vec<[String; 3]> = case
        .names
        .iter()
        .flat_map(|name| name.clients.iter().map(move |group| (name, group)))
        .map(|(name, group)| [title(name), group.groups.join(", "), answers(group)])
        .collect();
    let hidden = outcomes.len().saturating_sub(MOST_ROWS);
    let mut outcomes = outcomes.into_iter().take(MOST_ROWS);
    let mut is_first = true;
    loop {
        let (head, outcome) = (heads.next(), outcomes.next());
        if head.is_none() && outcome.is_none() && !is_first {
            break;
        }
        let [name, clients, get] = outcome.unwrap_or_else(|| {
            let text = if is_first { "nothing changes" } else { "" };
            [text.to_owned(), String::new(), String::new()]
        });
        let sign = if is_first { "" } else { "+ " };
        let head = head.map(|head| format!("{sign}{head}")).unwrap_or_default();
        let shares = if is_first {
            [percentage(case.dead_share), percentage(case.moved_share)]
        } else {
            [String::new(), String::new()]
        };
        let [dead, moved] = shares;
        rows.push([head, dead, moved, name, clients, get]);
        is_first = false;
    }
    let further = case.further_names;
    if hidden > 0 || further > 0 {
        let mut row: [String; 6] = Default::default();
        row[3] = match further {
            0 => format!("({hidden} further rows)"),
            _ => format!("({hidden} further rows, and {further} further names)"),
        };
        rows.push(row);
    }
    rows
}

fn title(name: &NameOutcome) -> String {
    format!("{} {}", name.name, name.record_type)
}

/// What some clients get, in words.
fn answers(group: &GroupOutcome) -> String {
    let shares: Vec<String> = group
        .shares
        .iter()
        .map(|one| {
            let mark = if one.alive { "" } else { " (!)" };
            format!("{}{mark} {}", one.address, percentage(one.share))
        })
        .collect();
    if group.no_best {
        format!("the whole list, first {}", shares.join(", "))
    } else {
        shares.join(", ")
    }
}
