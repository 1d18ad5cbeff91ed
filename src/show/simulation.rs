//! What a simulation found, as tables for a terminal: one for each name and type, with one row for
//! each address and one for each site that has several.

use super::page::Page;
use super::table::{Block, Column};
use crate::whatif::simulation::{DomainReport, DomainSide, Figures, Input, Row, Simulation};

/// The columns before the figures.
const FIRST: [Column; 2] =
    [Column::left(&["Address", "======="], 15), Column::left(&["Site", "===="], 8).gap(2)];

/// The figures of a side: what the appliance answered.
const ANSWERS: [Column; 2] =
    [Column::right(&["Answers", "======="], 9).gap(2), Column::right(&["Share", "====="], 6)];

/// The same, where clients get something else.
const SELECTED: [Column; 2] =
    [Column::right(&["Selected", "========"], 9).gap(2), Column::right(&["Share", "====="], 6)];

/// What clients got, where caches stand between.
const RECEIVED: [Column; 2] =
    [Column::right(&["Clients", "======="], 8).gap(1), Column::right(&["Share", "====="], 6)];

/// What is compared.
const COMPARED: [Column; 2] =
    [Column::right(&["Ideal", "====="], 6), Column::right(&["Diff", "===="], 6)];

/// What stands where there is nothing to say.
const NONE: &str = "-";

/// The tables of a simulation.
pub fn simulation(found: &Simulation) -> String {
    let mut page = Page::default();
    page.line(asked(&found.input));
    for (place, side) in found.sides.iter().enumerate() {
        let is_named = found.sides.len() > 1;
        let name = if is_named { format!("{}: ", side.name) } else { String::new() };
        let reached = if found.input.caches {
            format!(", {} reached the appliance", side.asked)
        } else {
            String::new()
        };
        let change = found.change.as_ref().filter(|_| place == 1).map(|change| {
            let counters = if change.clears { "counters cleared" } else { "counters kept" };
            format!(" and {}, {counters}", change.file)
        });
        let change = change.unwrap_or_default();
        page.line(format!("{name}{}{change}: {} questions{reached}", side.subject, side.questions));
    }
    for domain in &found.domains {
        page.part();
        print_domain(&mut page, found, domain);
    }
    if !found.notes.is_empty() {
        page.part();
    }
    for note in &found.notes {
        page.line(format!("Note: {note}"));
    }
    page.finish()
}

fn asked(input: &Input) -> String {
    let source = match (&input.log, input.clients, input.seed) {
        (Some(log), _, _) => format!("from {log}"),
        (None, Some(clients), Some(seed)) => format!("from {clients} clients, seed {seed}"),
        (None, _, _) => String::new(),
    };
    let resolvers = match (input.resolvers, input.caches) {
        (0, _) => String::new(),
        (count, true) => format!(", through {count} resolvers that keep answers"),
        (count, false) => format!(", through {count} resolvers"),
    };
    format!("{} questions in {:.1} s {source}{resolvers}", input.questions, input.seconds)
}

fn print_domain(page: &mut Page, found: &Simulation, domain: &DomainReport) {
    page.line(format!("{} {}", domain.name, domain.record_type));
    let policies: Vec<&Option<String>> = domain.sides.iter().map(|side| &side.policy).collect();
    if policies.iter().any(|policy| policy.is_some()) {
        let name = |policy: &&Option<String>| policy.as_deref().unwrap_or("global").to_owned();
        let mut names: Vec<String> = policies.iter().map(name).collect();
        names.dedup();
        page.line(format!("  Policy: {}", names.join(", afterwards ")));
    }
    let caches = found.input.caches;
    let mut columns = FIRST.to_vec();
    for side in &found.sides {
        let mut figures = if caches { [SELECTED, RECEIVED].concat() } else { ANSWERS.to_vec() };
        figures.extend(COMPARED);
        if found.sides.len() > 1 {
            let name: &'static [&'static str] =
                if side.name == "before" { &["before"] } else { &["after"] };
            figures[0] = figures[0].above(name);
        }
        columns.extend(figures);
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for row in &domain.addresses {
        let address = row.answer.map_or_else(|| "no address".to_owned(), |one| one.to_string());
        let site = row.site.clone().unwrap_or_else(|| NONE.to_owned());
        rows.push(cells(address, site, &row.sides, caches));
    }
    let several = |row: &&Row<Option<String>>| {
        row.answer.is_some()
            && domain.addresses.iter().filter(|one| one.site == row.answer).count() > 1
    };
    for row in domain.sites.iter().filter(several) {
        let site = row.answer.clone().unwrap_or_default();
        rows.push(cells("(all of site)".to_owned(), site, &row.sides, caches));
    }
    page.block(2, &Block::of(&columns, &rows));
    for (side, named) in domain.sides.iter().zip(&found.sides) {
        let name = if found.sides.len() > 1 { format!(" {}", named.name) } else { String::new() };
        print_side(page, &name, side);
    }
    if let Some(moved) = &domain.moved {
        let percent = super::percent(moved.moved, moved.clients);
        let capped = if moved.capped { ", of those that are remembered" } else { "" };
        page.line(format!(
            "  Moved clients: {} of {} ({percent}%){capped}",
            moved.moved, moved.clients
        ));
    }
}

fn cells(name: String, site: String, sides: &[Option<Figures>], caches: bool) -> Vec<String> {
    let mut cells = vec![name, site];
    for side in sides {
        let Some(figures) = side else {
            cells.extend(std::iter::repeat_n(NONE.to_owned(), if caches { 6 } else { 4 }));
            continue;
        };
        cells.push(figures.selected.to_string());
        cells.push(percentage(figures.selected_share));
        if caches {
            cells.push(figures.received.to_string());
            cells.push(percentage(figures.received_share));
        }
        cells.push(figures.ideal_share.map_or_else(|| NONE.to_owned(), percentage));
        cells.push(figures.difference.map_or_else(|| NONE.to_owned(), points));
    }
    cells
}

fn print_side(page: &mut Page, name: &str, side: &DomainSide) {
    let decided: Vec<String> =
        side.decided_by.iter().map(|one| format!("{} {}", one.by, one.count)).collect();
    if !decided.is_empty() {
        page.line(format!("  Decided{name} by: {}", decided.join(", ")));
    }
    if side.no_best > 0 {
        page.line(format!(
            "  No best address{name}: {} questions; the list goes out as it stands",
            side.no_best
        ));
    }
    let codes: Vec<String> = side
        .codes
        .iter()
        .filter(|one| one.code != "NOERROR")
        .map(|one| format!("{} {}", one.code, one.count))
        .collect();
    if !codes.is_empty() {
        page.line(format!("  Replies{name}: {}", codes.join(", ")));
    }
}

/// A share with one digit behind the point.
pub fn percentage(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// A difference of shares in percentage points.
pub fn points(difference: f64) -> String {
    let text = format!("{:+.1}", difference * 100.0);
    // What rounds to nothing has no sign.
    if matches!(text.as_str(), "+0.0" | "-0.0") { "0.0".to_owned() } else { text }
}
