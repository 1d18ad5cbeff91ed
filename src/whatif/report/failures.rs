//! A failure matrix as JSON, CSV and HTML.

use std::io::{self, Write};

use maud::{Markup, html};

use super::page::{page, scrolled};
use crate::show::{failures_extent, percentage};
use crate::whatif::failures::{Cases, Failures, GroupOutcome, NameOutcome};

/// Writes one JSON document and a line break.
///
/// # Errors
///
/// Those of the writer.
pub fn json(found: &Failures, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, found)?;
    out.write_all(b"\n")
}

/// Writes a line for each address that each group of clients gets in each case.
///
/// # Errors
///
/// Those of the writer.
pub fn csv(found: &Failures, out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record([
        "failures",
        "rank",
        "failed",
        "dead_share",
        "moved_share",
        "name",
        "type",
        "clients",
        "address",
        "site",
        "share",
        "alive",
        "no_best",
    ])?;
    let mut lines = |head: [String; 5], names: &[NameOutcome]| -> io::Result<()> {
        for name in names {
            for group in &name.clients {
                for one in &group.shares {
                    let tail = [
                        name.name.clone(),
                        name.record_type.to_owned(),
                        group.groups.join(" "),
                        one.address.to_string(),
                        one.site.clone().unwrap_or_default(),
                        one.share.to_string(),
                        one.alive.to_string(),
                        group.no_best.to_string(),
                    ];
                    table.write_record(head.iter().chain(&tail))?;
                }
            }
        }
        Ok(())
    };
    let nothing = ["0", "0", "", "0", "0"].map(str::to_owned);
    lines(nothing, &found.baseline)?;
    for (failures, cases) in [(1, &found.single), (2, &found.double)] {
        for (rank, case) in (1..).zip(&cases.worst) {
            let head = [
                failures.to_string(),
                rank.to_string(),
                case.failed.join(" + "),
                case.dead_share.to_string(),
                case.moved_share.to_string(),
            ];
            lines(head, &case.names)?;
        }
    }
    table.flush()
}

/// The page of a failure matrix.
pub fn html(found: &Failures) -> String {
    let body = html! {
        p.lead { code { (found.subject) } ": " (failures_extent(found)) "." }
        ul {
            (summary("One thing fails", &found.single))
            (summary("Two things fail", &found.double))
        }
        @if !found.notes.is_empty() {
            h2 { "Notes" }
            ul.notes { @for note in &found.notes { li { (note) } } }
        }
        (cases("One thing fails", &found.single))
        (cases("Two things fail", &found.double))
        h2 { "Nothing fails" }
        (scrolled("What clients get when nothing fails", &html! {
            table {
                caption { "What clients get when nothing fails" }
                thead { tr { th scope="col" { "Name" } th scope="col" { "Clients" } th scope="col" { "Get" } } }
                tbody {
                    @for name in &found.baseline {
                        @for group in &name.clients {
                            tr {
                                th scope="row" { (name.name) " " (name.record_type) }
                                td { (group.groups.join(", ")) }
                                td { (answers(group)) }
                            }
                        }
                    }
                }
            }
        }))
        h2 { "How to read this" }
        p {
            "A device that fails takes its VIPs along, unless another device that is alive reports them too; a site takes \
             its devices along. Dead is the part of all names and groups of clients whose first address has failed, or \
             that get none; moved the part that gets another address than before. Shares hold whatever was counted before."
        }
        p {
            "Groups of clients: "
            @for (place, group) in found.clients.iter().enumerate() {
                @if place > 0 { ", " }
                (group.name) " (" (group.address) ")"
            }
            "."
        }
    };
    page("What is left when something fails", found, &body)
}

fn summary(heading: &str, cases: &Cases) -> Markup {
    html! {
        li {
            strong { (heading) } ": " (cases.count) " cases, "
            span.bad[cases.dead > 0] { (cases.dead) " with dead answers" }
            ", " (cases.moved) " that only move clients"
        }
    }
}

fn cases(heading: &str, cases: &Cases) -> Markup {
    let table = html! {
        table {
            caption { (heading) ": the " (cases.worst.len()) " worst of " (cases.count) " cases" }
            thead {
                tr {
                    th scope="col" { "Failed" }
                    th.number scope="col" { "Dead" }
                    th.number scope="col" { "Moved" }
                    th scope="col" { "What clients get" }
                }
            }
            tbody {
                @for case in &cases.worst {
                    tr {
                        th scope="row" {
                            @for (place, failed) in case.failed.iter().enumerate() {
                                @if place > 0 { br; "and " }
                                (failed)
                            }
                        }
                        td.number { span.bad[case.dead_share > 0.0] { (percentage(case.dead_share)) } }
                        td.number { (percentage(case.moved_share)) }
                        td {
                            @if case.names.is_empty() { "nothing changes" }
                            @for name in &case.names {
                                @for group in &name.clients {
                                    div {
                                        strong { (name.name) " " (name.record_type) }
                                        ", " (group.groups.join(", ")) ": " (answers(group))
                                    }
                                }
                            }
                            @if case.further_names > 0 { div { "and " (case.further_names) " further names" } }
                        }
                    }
                }
            }
        }
    };
    html! {
        h2 { (heading) }
        (scrolled(heading, &table))
    }
}

fn answers(group: &GroupOutcome) -> Markup {
    html! {
        @if group.no_best { "the whole list, first " }
        @for (place, one) in group.shares.iter().enumerate() {
            @if place > 0 { ", " }
            (one.address) " " (percentage(one.share))
            @if !one.alive { " " span.bad { "failed" } }
        }
    }
}
