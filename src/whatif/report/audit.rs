//! An audit as Markdown, HTML and JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use maud::{Markup, html};

use super::page::{page, scrolled};
use crate::show::counted;
use crate::whatif::audit::{AddressAudit, Audit, DeviceAudit, FileAudit, HostAudit, PolicyAudit};

/// Writes one JSON document and a line break.
///
/// # Errors
///
/// Those of the writer.
pub fn json(found: &Audit, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, found)?;
    out.write_all(b"\n")
}

/// The audit as Markdown.
pub fn markdown(found: &Audit) -> String {
    let mut text = Markdown::default();
    text.line(&format!("# Audit of {}", escaped(&found.device_name)));
    text.blank();
    text.line(&format!("Configuration: {}. {}.", escaped(&found.subject), extent(found)));
    text.heading("Concerns");
    if found.concerns.is_empty() {
        text.line("None.");
    }
    for one in &found.concerns {
        text.item(&format!(
            "**{}**, {}: {}",
            one.gravity.name(),
            escaped(&one.about),
            escaped(&one.text)
        ));
    }
    text.heading("Sites");
    text.table(
        &["Site", "Weight", "Location", "Device", "Preference", "Connection", "VIPs"],
        &site_rows(found),
    );
    text.heading("Policies");
    for policy in &found.policies {
        text.policy(policy);
    }
    text.heading("Hosts");
    for host in &found.hosts {
        text.host(host);
    }
    text.list("What no policy decides", &found.answers);
    text.list("What a reload loses", &found.reload);
    text.heading("Findings in the files");
    for file in &found.files {
        text.file(file);
    }
    if !found.assumed.is_empty() {
        text.heading("What is assumed about the world");
        text.line("```text");
        for line in &found.assumed {
            text.line(line);
        }
        text.line("```");
    }
    text.text
}

/// How much there is.
fn extent(found: &Audit) -> String {
    format!(
        "{}, {}, {} in use",
        counted(found.sites.len(), "site", "sites"),
        counted(found.hosts.len(), "host", "hosts"),
        counted(found.policies.len(), "policy", "policies")
    )
}

/// Policy, checks, TTL, and who gets what.
fn host_line(host: &HostAudit) -> String {
    let checked = match &host.applications[..] {
        [] => "nothing".to_owned(),
        applications => applications.join(", "),
    };
    format!(
        "Policy: {}. Checked: {checked}. TTL: {} s. {}",
        host.policy.as_deref().unwrap_or("global"),
        host.ttl,
        host.summary
    )
}

fn file_line(file: &FileAudit) -> String {
    let summary = &file.summary;
    format!(
        "{} lines: {} modelled, {} kept, {} accepted, {} opaque, {} rejected, {} silent; {} errors, \
         {} warnings, {} notes",
        summary.lines,
        summary.modelled,
        summary.kept,
        summary.accepted,
        summary.opaque,
        summary.rejected,
        summary.silent,
        summary.errors,
        summary.warnings,
        summary.notes
    )
}

/// Markdown in the making.
#[derive(Default)]
struct Markdown {
    text: String,
}

impl Markdown {
    fn line(&mut self, line: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{line}");
    }

    /// An empty line, unless there is one already.
    fn blank(&mut self) {
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn heading(&mut self, heading: &str) {
        self.blank();
        self.line(&format!("## {heading}"));
        self.blank();
    }

    fn policy(&mut self, policy: &PolicyAudit) {
        self.blank();
        self.line(&format!("### {}", escaped(&policy_title(policy))));
        self.blank();
        for (number, step) in (1..).zip(&policy.steps) {
            self.line(&format!("{number}. **{}**: {}", step.rule, escaped(&step.words)));
        }
        self.blank();
        for reply in &policy.replies {
            self.item(&escaped(reply));
        }
        self.item(&format!("TTL of the answers: {} s.", policy.ttl));
    }

    fn host(&mut self, host: &HostAudit) {
        self.blank();
        self.line(&format!("### {}", escaped(&host.name)));
        self.blank();
        self.line(&escaped(&host_line(host)));
        self.blank();
        self.table(&ADDRESSES, &host.addresses.iter().map(address_row).collect::<Vec<_>>());
        if !host.idle.is_empty() {
            self.blank();
            self.line("Metrics in force that cannot decide here:");
            self.blank();
        }
        for step in &host.idle {
            self.item(&format!("**{}**: {}", step.rule, escaped(&step.words)));
        }
    }

    fn file(&mut self, file: &FileAudit) {
        self.item(&format!("{}: {}", escaped(&file.name), file_line(file)));
        for finding in &file.findings {
            self.line(&format!(
                "  - line {}, {} `{}`: {} ({})",
                finding.line,
                finding.severity,
                finding.rule,
                escaped(&finding.message),
                escaped(finding.evidence)
            ));
        }
    }

    fn item(&mut self, item: &str) {
        self.line(&format!("- {item}"));
    }

    fn list(&mut self, heading: &str, items: &[String]) {
        self.heading(heading);
        for item in items {
            self.item(&escaped(item));
        }
    }

    fn table<const N: usize>(&mut self, headings: &[&str; N], rows: &[[String; N]]) {
        if rows.is_empty() {
            self.line("None.");
            return;
        }
        self.line(&format!("| {} |", headings.join(" | ")));
        self.line(&format!("| {} |", headings.map(|_| "---").join(" | ")));
        for row in rows {
            let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
            self.line(&format!("| {} |", cells.join(" | ")));
        }
    }
}

/// A text in which nothing is taken for Markdown.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for one in text.chars() {
        match one {
            '\\' | '|' | '*' | '_' | '<' | '>' | '[' | ']' | '#' => {
                out.push('\\');
                out.push(one);
            }
            '\n' | '\r' => out.push(' '),
            one => out.push(one),
        }
    }
    out
}

/// The columns of the addresses of a host.
const ADDRESSES: [&str; 6] = ["Address", "Site", "Device", "Weight", "Hash weight", "State"];

fn policy_title(policy: &PolicyAudit) -> String {
    let name = match &policy.name {
        Some(name) => format!("Host policy {name}"),
        None => "Global policy".to_owned(),
    };
    format!("{name}, used by {}", counted(policy.hosts, "host", "hosts"))
}

fn site_rows(found: &Audit) -> Vec<[String; 7]> {
    let mut rows = Vec::new();
    for site in &found.sites {
        let begin = |device: Option<&DeviceAudit>| {
            let [address, preference, connection, vips] = device.map_or_else(
                || ["none", "-", "-", "-"].map(str::to_owned),
                |device| {
                    let name = device.name.as_deref().map(|name| format!("{name} "));
                    let vips: Vec<String> = device.vips.iter().map(ToString::to_string).collect();
                    [
                        format!("{}{}", name.unwrap_or_default(), device.address),
                        device.preference.to_string(),
                        device.connection.to_owned(),
                        if vips.is_empty() { "none".to_owned() } else { vips.join(", ") },
                    ]
                },
            );
            [
                site.name.clone(),
                site.weight.to_string(),
                site.location.unwrap_or("-").to_owned(),
                address,
                preference,
                connection,
                vips,
            ]
        };
        if site.devices.is_empty() {
            rows.push(begin(None));
        }
        rows.extend(site.devices.iter().map(|device| begin(Some(device))));
    }
    rows
}

fn address_row(address: &AddressAudit) -> [String; 6] {
    let weight = |weight: Option<u8>| weight.map_or_else(|| "-".to_owned(), |one| one.to_string());
    [
        address.address.to_string(),
        address.site.clone().unwrap_or_else(|| "-".to_owned()),
        address.device.map_or_else(|| "-".to_owned(), |device| device.to_string()),
        weight(address.weight),
        weight(address.hash_weight),
        if address.healthy { "healthy" } else { "failed" }.to_owned(),
    ]
}

/// The page of an audit.
pub fn html(found: &Audit) -> String {
    let body = html! {
        p.lead {
            "Configuration " code { (found.subject) } ": " (extent(found)) "."
        }
        h2 { "Concerns" }
        @if found.concerns.is_empty() { p { "None." } }
        ul {
            @for one in &found.concerns {
                li { strong.bad[one.gravity.name() == "high"] { (one.gravity.name()) } ", " (one.about) ": " (one.text) }
            }
        }
        h2 { "Sites" }
        (table("Sites and their devices", &["Site", "Weight", "Location", "Device", "Preference", "Connection", "VIPs"], &site_rows(found)))
        h2 { "Policies" }
        @for policy in &found.policies {
            h3 { (policy_title(policy)) }
            ol { @for step in &policy.steps { li { strong { (step.rule) } ": " (step.words) } } }
            ul {
                @for reply in &policy.replies { li { (reply) } }
                li { "TTL of the answers: " (policy.ttl) " s." }
            }
        }
        h2 { "Hosts" }
        @for host in &found.hosts {
            h3 { (host.name) }
            p { (host_line(host)) }
            (table(&format!("Addresses of {}", host.name), &ADDRESSES,
                &host.addresses.iter().map(address_row).collect::<Vec<_>>()))
            @if !host.idle.is_empty() {
                p { "Metrics in force that cannot decide here:" }
                ul { @for step in &host.idle { li { strong { (step.rule) } ": " (step.words) } } }
            }
        }
        (list("What no policy decides", &found.answers))
        (list("What a reload loses", &found.reload))
        h2 { "Findings in the files" }
        @for file in &found.files {
            h3 { code { (file.name) } }
            p { (file_line(file)) "." }
            @if !file.findings.is_empty() {
                ul {
                    @for finding in &file.findings {
                        li {
                            "line " (finding.line) ", " (finding.severity) " " code { (finding.rule) } ": "
                            (finding.message) " (" (finding.evidence) ")"
                        }
                    }
                }
            }
        }
        @if !found.assumed.is_empty() {
            h2 { "What is assumed about the world" }
            (scrolled("What is assumed about the world", &html! { pre { code { (found.assumed.join("\n")) } } }))
        }
    };
    page(&format!("Audit of {}", found.device_name), found, &body)
}

fn list(heading: &str, items: &[String]) -> Markup {
    html! {
        h2 { (heading) }
        ul { @for item in items { li { (item) } } }
    }
}

fn table<const N: usize>(caption: &str, headings: &[&str; N], rows: &[[String; N]]) -> Markup {
    if rows.is_empty() {
        return html! { p { "None." } };
    }
    let table = html! {
        table {
            caption { (caption) }
            thead { tr { @for heading in headings { th scope="col" { (heading) } } } }
            tbody {
                @for row in rows {
                    tr { @for (place, cell) in row.iter().enumerate() {
                        @if place == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                    } }
                }
            }
        }
    };
    scrolled(caption, &table)
}
