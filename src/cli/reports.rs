//! What the `show` commands print: each report with what it needs of the appliance.

use std::fmt::Write as _;

use similar::TextDiff;

use crate::cli::session::Session;
use crate::config::edit::{Refusal, Trees, no_such_reference};
use crate::config::load;
use crate::config::render::{self, Secrets};
use crate::config::tree::Reading;
use crate::grammar::link::{Kept, Report};
use crate::model::snapshot::Snapshot;
use crate::show;
use crate::sna::SnaDomain;

/// Prints a report.
///
/// # Errors
///
/// Something that it names is not there.
pub(super) fn print(
    session: &Session,
    report: Report,
    arguments: &Reading<'_>,
) -> Result<String, Refusal> {
    let appliance = &session.appliance;
    let snapshot = appliance.current();
    let zone = arguments.text("zone");
    let missing = |kept: Kept, name: &str| {
        let name = arguments.text(name).unwrap_or_default();
        no_such_reference(kept, name)
    };
    Ok(match report {
        Report::RunningConfig => running(session),
        Report::StartupConfig => startup(session),
        Report::Clock => show::clock(appliance.clock.wall_seconds()),
        Report::Version => show::version(appliance.uptime(), appliance.clock.wall_seconds()),
        Report::DefaultPolicy => show::default_policy(),
        Report::Policy => show::global_policy(&snapshot),
        Report::HostPolicyAll => show::host_policies(&snapshot),
        Report::HostPolicyName => {
            let name = arguments.text("name").unwrap_or_default();
            show::host_policy(&snapshot, name).ok_or_else(|| missing(Kept::HostPolicy, "name"))?
        }
        Report::DnsZone => {
            show::dns_zone(&snapshot, zone).ok_or_else(|| missing(Kept::Zone, "zone"))?
        }
        Report::DnsDetail => {
            show::dns_detail(&snapshot, zone).ok_or_else(|| missing(Kept::Zone, "zone"))?
        }
        Report::Site => {
            let site = arguments.text("site");
            show::sites(&snapshot, site).ok_or_else(|| missing(Kept::Site, "site"))?
        }
        Report::SnaDomain => {
            let domains = sna_domains(&snapshot, arguments.text("domain"))?;
            show::sna_domains(&domains, appliance.clock.now(), appliance.clock.wall_seconds())
        }
        Report::TrafficSite => show::traffic_site(&snapshot),
        Report::GlobalStat => show::global_stat(&appliance.counters),
        Report::Resources => show::resources(&snapshot, &show::Usage::default()),
        Report::Emulate => {
            let configuration = appliance.configuration();
            render::world(&appliance.grammar, &configuration.trees.world)
        }
        Report::EmulateRejected => rejected(session),
        Report::EmulateDiff => difference(session),
        Report::EmulateDns => show::dns_counters(&appliance.counters, &appliance.drops),
    })
}

/// The SNA gateway domain of that name, or all of them.
///
/// # Errors
///
/// There is none of that name.
pub(super) fn sna_domains<'a>(
    snapshot: &'a Snapshot,
    name: Option<&str>,
) -> Result<Vec<&'a SnaDomain>, Refusal> {
    let Some(name) = name else { return Ok(snapshot.sna_domains.iter().collect()) };
    let domain = snapshot.sna_domain(name);
    domain.map(|domain| vec![domain]).ok_or_else(|| no_such_reference(Kept::SnaDomain, name))
}

fn running(session: &Session) -> String {
    let configuration = session.appliance.configuration();
    let tree = &configuration.trees.configuration;
    render::running_configuration(&session.appliance.grammar, tree, Secrets::Masked)
}

/// The saved file (base-cli 3.1), with its secrets masked.
fn startup(session: &Session) -> String {
    let mut out = String::from(
        "!\nStartup-config data location is flash memory\n!\nStartup configuration:\n",
    );
    out.push_str(&startup_body(session, Secrets::Masked));
    out
}

/// The saved configuration as it would run after a restart.
fn startup_body(session: &Session, secrets: Secrets) -> String {
    let grammar = &session.appliance.grammar;
    let mut trees = Trees::default();
    load::load(grammar, &mut trees, &session.appliance.configuration().startup);
    render::body(grammar, &trees.configuration, secrets)
}

fn rejected(session: &Session) -> String {
    let configuration = session.appliance.configuration();
    let mut out = String::new();
    for line in &configuration.rejected {
        let reason = line.reason.lines().next().unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(out, "line {}: {}\n    {reason}", line.line, line.text);
    }
    out
}

/// What a restart would lose, as a unified diff.
fn difference(session: &Session) -> String {
    let startup = startup_body(session, Secrets::Masked);
    let configuration = session.appliance.configuration();
    let tree = &configuration.trees.configuration;
    let running = render::body(&session.appliance.grammar, tree, Secrets::Masked);
    TextDiff::from_lines(&startup, &running)
        .unified_diff()
        .context_radius(3)
        .header("startup-config", "running-config")
        .to_string()
}
