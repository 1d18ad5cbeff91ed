//! A simulation as JSON, CSV and HTML.

use std::io::{self, Write};

use maud::{Markup, html};

use super::charts::{self, Areas, Bar};
use super::page::{page, scrolled};
use crate::show::{percentage, points};
use crate::whatif::simulation::{DomainReport, Figures, Row, Simulation};

/// Writes one JSON document and a line break.
///
/// # Errors
///
/// Those of the writer.
pub fn json(found: &Simulation, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, found)?;
    out.write_all(b"\n")
}

/// Writes a line for each address and each site of each name at each side.
///
/// # Errors
///
/// Those of the writer.
pub fn csv(found: &Simulation, out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record([
        "name",
        "type",
        "side",
        "row",
        "address",
        "site",
        "selected",
        "selected_share",
        "received",
        "received_share",
        "ideal_share",
        "difference",
    ])?;
    for domain in &found.domains {
        for (place, side) in found.sides.iter().enumerate() {
            let mut line = |row: &str, address: &str, site: &str, figures: &Figures| {
                let text = |share: Option<f64>| share.map(|one| one.to_string());
                table.write_record([
                    domain.name.as_str(),
                    domain.record_type,
                    side.name,
                    row,
                    address,
                    site,
                    &figures.selected.to_string(),
                    &figures.selected_share.to_string(),
                    &figures.received.to_string(),
                    &figures.received_share.to_string(),
                    &text(figures.ideal_share).unwrap_or_default(),
                    &text(figures.difference).unwrap_or_default(),
                ])
            };
            for row in &domain.addresses {
                let Some(figures) = &row.sides[place] else { continue };
                let address = row.answer.map(|one| one.to_string()).unwrap_or_default();
                line("address", &address, row.site.as_deref().unwrap_or_default(), figures)?;
            }
            for row in &domain.sites {
                let Some(figures) = &row.sides[place] else { continue };
                line("site", "", row.answer.as_deref().unwrap_or_default(), figures)?;
            }
        }
    }
    table.flush()
}

/// The page of a simulation.
pub fn html(found: &Simulation) -> String {
    let input = &found.input;
    let body = html! {
        p.lead {
            (input.questions) " questions in " (format!("{:.1}", input.seconds)) " s"
            @if let Some(log) = &input.log { " from the log " code { (log) } }
            @if let (Some(clients), Some(seed)) = (input.clients, input.seed) {
                " from " (clients) " clients, seed " (seed)
            }
            @if input.resolvers > 0 {
                ", through " (input.resolvers) " resolvers"
                @if input.caches { " that keep answers for their TTL" }
            }
            "."
        }
        ul {
            @for side in &found.sides {
                li {
                    @if found.sides.len() > 1 { strong { (side.name) } ": " }
                    code { (side.subject) } ", " (side.questions) " questions"
                    @if input.caches { ", of which " (side.asked) " reached the appliance" }
                }
            }
            @if let Some(change) = &found.change {
                li {
                    "Change: " code { (change.file) } " after " (change.questions) " questions ("
                    (format!("{:.1}", change.seconds)) " s), counters "
                    @if change.clears { "cleared" } @else { "kept" }
                }
            }
        }
        @if !found.notes.is_empty() {
            h2 { "Notes" }
            ul.notes { @for note in &found.notes { li { (note) } } }
        }
        @for (place, domain) in found.domains.iter().enumerate() {
            (domain_section(found, place, domain))
        }
        h2 { "How to read this" }
        p {
            "An answer counts for its first address, which is the one that most clients use. The ideal share is what \
             weights and tie-breaker give an address for each question by itself, whatever was counted before; a difference \
             comes from counters that remember, from persistence, or from caches between clients and appliance."
        }
    };
    page("Simulation of a GSLB configuration", found, &body)
}

fn domain_section(found: &Simulation, place: usize, domain: &DomainReport) -> Markup {
    let title = format!("{} {}", domain.name, domain.record_type);
    let name = |row: &Row<Option<std::net::IpAddr>>| {
        let address = row.answer.map_or_else(|| "no address".to_owned(), |one| one.to_string());
        match &row.site {
            Some(site) => format!("{address} ({site})"),
            None => address,
        }
    };
    let names: Vec<String> = domain.addresses.iter().map(name).collect();
    let rows: Vec<Bar> = domain
        .addresses
        .iter()
        .zip(&names)
        .map(|(row, name)| Bar {
            name: name.clone(),
            sides: row
                .sides
                .iter()
                .map(|side| side.map_or((0.0, None), |one| (one.received_share, one.ideal_share)))
                .collect(),
        })
        .collect();
    let side_names: Vec<&str> = found
        .sides
        .iter()
        .map(|side| if found.sides.len() > 1 { side.name } else { "share of the answers" })
        .collect();
    html! {
        h2 id=(format!("domain-{place}")) { (title) }
        (side_facts(found, domain))
        (scrolled(&format!("Figures of {title}"), &table(found, domain)))
        (charts::bars(&format!("bars-{place}"), &format!("Shares of the first addresses that clients of {title} got"), &side_names, &rows))
        @for (run, timeline) in domain.timelines.iter().enumerate() {
            @let of = if domain.timelines.len() > 1 { format!(", {}", side_names[run]) } else { String::new() };
            (charts::areas(
                &format!("time-{place}-{run}"),
                &format!("What clients of {title} got over time{of}"),
                &Areas {
                    names: &names,
                    counts: &timeline.counts,
                    piece_seconds: timeline.piece_seconds,
                    change: found.change.as_ref().map(|change| change.seconds),
                },
            ))
        }
    }
}

fn side_facts(found: &Simulation, domain: &DomainReport) -> Markup {
    html! {
        ul {
            @for (side, named) in domain.sides.iter().zip(&found.sides) {
                li {
                    @if found.sides.len() > 1 { strong { (named.name) } ": " }
                    "policy " (side.policy.as_deref().unwrap_or("global"))
                    ", " (side.questions) " questions"
                    @if found.input.caches { ", " (side.asked) " reached the appliance" }
                    @if !side.decided_by.is_empty() {
                        "; decided by "
                        @for (place, one) in side.decided_by.iter().enumerate() {
                            @if place > 0 { ", " }
                            (one.by) " " (one.count)
                        }
                    }
                    @if side.no_best > 0 {
                        "; " span.bad { (side.no_best) " without a best address" }
                    }
                    @if side.unanswered > 0 {
                        "; " span.bad { (side.unanswered) " without any address" }
                    }
                }
            }
            @if let Some(moved) = &domain.moved {
                li { "Clients whose address is another one afterwards: " (moved.moved) " of " (moved.clients) }
            }
        }
    }
}

fn table(found: &Simulation, domain: &DomainReport) -> Markup {
    let caches = found.input.caches;
    let several = found.sides.len() > 1;
    let columns = if caches { 6 } else { 4 };
    let is_site_of_many = |row: &&Row<Option<String>>| {
        row.answer.is_some()
            && domain.addresses.iter().filter(|one| one.site == row.answer).count() > 1
    };
    html! {
        table {
            caption { "Answers by their first address" }
            thead {
                @if several {
                    tr {
                        th colspan="2" { span { "Side" } }
                        @for side in &found.sides { th scope="colgroup" colspan=(columns) { (side.name) } }
                    }
                }
                tr {
                    th scope="col" { "Address" }
                    th scope="col" { "Site" }
                    @for _ in &found.sides {
                        @if caches {
                            th.number scope="col" { "Selected" }
                            th.number scope="col" { "Share" }
                            th.number scope="col" { "Clients got" }
                        } @else {
                            th.number scope="col" { "Answers" }
                        }
                        th.number scope="col" { "Share" }
                        th.number scope="col" { "Ideal" }
                        th.number scope="col" { "Difference" }
                    }
                }
            }
            tbody {
                @for row in &domain.addresses {
                    tr {
                        th scope="row" {
                            @match row.answer { Some(address) => (address), None => "no address" }
                        }
                        td { (row.site.as_deref().unwrap_or("-")) }
                        @for side in &row.sides { (figures(*side, caches)) }
                    }
                }
                @for row in domain.sites.iter().filter(is_site_of_many) {
                    tr.sum {
                        th scope="row" { "all of the site" }
                        td { (row.answer.as_deref().unwrap_or("-")) }
                        @for side in &row.sides { (figures(*side, caches)) }
                    }
                }
            }
        }
    }
}

fn figures(side: Option<Figures>, caches: bool) -> Markup {
    let Some(figures) = side else {
        return html! { @for _ in 0..if caches { 6 } else { 4 } { td.number { "-" } } };
    };
    html! {
        td.number { (figures.selected) }
        td.number { (percentage(figures.selected_share)) }
        @if caches {
            td.number { (figures.received) }
            td.number { (percentage(figures.received_share)) }
        }
        td.number { @match figures.ideal_share { Some(share) => (percentage(share)), None => "-" } }
        td.number { @match figures.difference { Some(difference) => (points(difference)), None => "-" } }
    }
}
