//! What the `show` commands print: each report with what it needs of the appliance.

use std::fmt::Write as _;
use std::net::Ipv4Addr;

use similar::TextDiff;

use crate::cli::access;
use crate::cli::gslb;
use crate::cli::operator;
use crate::cli::session::Session;
use crate::cli::what_if;
use crate::config::edit::{Refusal, Trees, no_such_reference};
use crate::config::load;
use crate::config::references;
use crate::config::render::{self, Secrets};
use crate::config::tree::{Reading, Tree};
use crate::grammar::link::{Kept, Message, Report};
use crate::grammar::{Grammar, Privilege, Verb};
use crate::model::network::Network;
use crate::model::snapshot::Snapshot;
use crate::show;
use crate::sna::SnaDomain;

/// Prints a report.
///
/// # Errors
///
/// Something that it names is not there.
#[allow(clippy::too_many_lines, reason = "one arm for each report of the grammar")]
pub(super) fn print(
    session: &Session,
    report: Report,
    arguments: &Reading<'_>,
) -> Result<String, Refusal> {
    let appliance = &session.appliance;
    let snapshot = appliance.current();
    let now = appliance.clock.now();
    let zone = arguments.text("zone");
    let missing = |kept: Kept, name: &str| {
        let name = arguments.text(name).unwrap_or_default();
        no_such_reference(kept, name)
    };
    let sessions = || {
        let states = &appliance.states;
        states.sessions.view(&snapshot.balancing, states, now)
    };
    Ok(match report {
        Report::RunningConfig => running(session),
        Report::RunningConfigSection => {
            let word = arguments.word("section").unwrap_or_default();
            let configuration = appliance.configuration();
            let tree = &configuration.trees.configuration;
            render::beginning_with(&appliance.grammar, tree, secrets(session, tree), word)
        }
        Report::RunningConfigContext => {
            let name = arguments.text("name").unwrap_or_default();
            let configuration = appliance.configuration();
            let tree = &configuration.trees.configuration;
            // The default context is what is configured outside all others.
            let other = Some(name).filter(|name| !name.eq_ignore_ascii_case(DEFAULT_CONTEXT));
            let secrets = secrets(session, tree);
            let text = render::of_context(&appliance.grammar, tree, secrets, other);
            if text.is_empty() && other.is_some() {
                let words = format!("context {name}");
                return Err(Refusal::new(Message::NoSuchEntry).with("words", words));
            }
            text
        }
        Report::StartupConfig => startup(session),
        Report::Logging => {
            let log = &appliance.log;
            show::logging(&appliance.log_settings(), &log.totals(), &log.since(0))
        }
        Report::Arp => {
            show::arp(&network(session), &|address| appliance.states.is_reachable(address))
        }
        Report::Chassis => show::chassis(),
        Report::Flash => show::flash(&appliance.flash, appliance.configuration().startup.len()),
        Report::InterfacesBrief => show::interfaces_brief(&network(session)),
        Report::Ip => show::ip(&network(session)),
        Report::Media => show::media(arguments.number("port")),
        Report::Memory => show::memory(),
        Report::Module => {
            let configuration = appliance.configuration();
            let tree = &configuration.trees.configuration;
            let modules = operator::modules(&appliance.grammar, tree);
            let others = modules.iter().filter(|(slot, _)| *slot != operator::MANAGEMENT_SLOT);
            let others: Vec<(u16, &str, bool)> = others
                .map(|(slot, kind)| (*slot, kind.as_str(), appliance.modules.is_on(*slot)))
                .collect();
            show::module(&others)
        }
        Report::Aliases => session.aliases(),
        Report::MacAddresses => show::mac_addresses(&network(session), &|address| {
            appliance.states.is_reachable(address)
        }),
        Report::Snmp => {
            let configuration = appliance.configuration();
            show::snmp(&appliance.grammar, &configuration.trees.configuration)
        }
        Report::Statistics => show::statistics(),
        Report::Telnet => show::telnet(&appliance.sessions.list(), appliance.clock.now()),
        Report::Reload => {
            let left = appliance.restart_due().map(|due| due.since(appliance.clock.now()));
            let zone = appliance.time_zone().name;
            let due = appliance.restart_local_seconds();
            show::reload(left.map(|left| left.as_secs()), due, &zone)
        }
        Report::TechSupport => tech_support(session, arguments)?,
        Report::Users => {
            let shows = hashes_are_shown(session);
            show::users(access::access(session).users(), shows)
        }
        Report::Vlan => {
            let id = arguments.number("id");
            show::vlan(&network(session), id).ok_or_else(|| {
                let id = id.unwrap_or_default().to_string();
                Refusal::new(Message::NoSuchVlan).with("id", id)
            })?
        }
        Report::Who => show::who(&appliance.sessions.list(), appliance.clock.now()),
        Report::Clock => show::clock(appliance.local_seconds(), &appliance.time_zone().name),
        Report::Version => {
            let zone = appliance.time_zone().name;
            show::version(appliance.uptime(), appliance.local_seconds(), &zone)
        }
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
        Report::HealthPolicies => show::health_policies(&snapshot, &appliance.states, &|port| {
            render::port_name(&session.appliance.grammar, port)
        }),
        Report::PortPolicies => {
            let names = |port| render::port_name(&session.appliance.grammar, port);
            show::port_policies(&snapshot, &names)
        }
        Report::PortRanges => show::port_ranges(&snapshot),
        Report::ServerReal => {
            let names = |port| render::port_name(&session.appliance.grammar, port);
            let (states, sessions) = (&appliance.states, sessions());
            show::server_real(&snapshot, states, &sessions, &names, arguments.text("name"))
                .ok_or_else(|| missing(Kept::RealServer, "name"))?
        }
        Report::ServerVirtual => {
            let names = |port| render::port_name(&session.appliance.grammar, port);
            show::server_virtual(&snapshot, &sessions(), &names, arguments.text("name"))
                .ok_or_else(|| missing(Kept::VirtualServer, "name"))?
        }
        Report::ServerBind => {
            let names = |port| render::port_name(&session.appliance.grammar, port);
            show::server_bind(&snapshot, &appliance.states, &sessions(), &names)
        }
        Report::ServerSession => show::server_session(&snapshot, &appliance.states, &sessions()),
        Report::ServerTraffic => show::server_traffic(appliance.states.own().status, &sessions()),
        Report::ServerGlobal => show::server_global(&snapshot),
        Report::SnaDomain => {
            let domains = sna_domains(&snapshot, arguments.text("domain"))?;
            show::sna_domains(&domains, appliance.clock.now(), appliance.local_seconds())
        }
        Report::TrafficSite => show::traffic_site(&snapshot),
        Report::GlobalStat => show::global_stat(&appliance.counters),
        Report::Resources => show::resources(&snapshot, &usage(session)),
        Report::Cache => {
            let lengths =
                arguments.number("low").unwrap_or(0)..=arguments.number("high").unwrap_or(u8::MAX);
            let address = arguments.address("address").unwrap_or(Ipv4Addr::UNSPECIFIED.into());
            show::cache(&snapshot, &appliance.states, address, &lengths, now)
        }
        Report::HashTables => show::hash_tables(
            &snapshot,
            &appliance.states,
            snapshot.hosts.iter().map(|host| &**host),
            now,
        ),
        Report::HashTable => {
            let host = gslb::host_named(&snapshot, arguments)?;
            show::hash_tables(&snapshot, &appliance.states, std::iter::once(host), now)
        }
        Report::Sessions => show::sessions(&snapshot, now, arguments.number("offset").unwrap_or(0)),
        Report::SessionDetail => {
            let index = arguments.number::<usize>("index");
            show::session_detail(&snapshot, now, index).ok_or_else(|| {
                let words = format!("session {}", index.unwrap_or_default());
                Refusal::new(Message::NoSuchEntry).with("words", words)
            })?
        }
        Report::Emulate => emulated(session),
        Report::EmulateExplain => gslb::explain(session, arguments)?,
        Report::EmulateRejected => rejected(session),
        Report::EmulateDiff => difference(session),
        Report::EmulateLive => {
            let names = |port| render::port_name(&session.appliance.grammar, port);
            let now = appliance.clock.now();
            let timetable = appliance.timetable();
            show::live(&appliance.gate, &appliance.states, &timetable, &names, now)
        }
        Report::EmulateAudit => what_if::audit(session),
        Report::EmulateFailures => what_if::failures(session, arguments),
        Report::EmulateSimulate => what_if::simulate(session, arguments)?,
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

/// The name of the context that is always there (Administration guide p. 141).
const DEFAULT_CONTEXT: &str = "default";

fn running(session: &Session) -> String {
    let configuration = session.appliance.configuration();
    let tree = &configuration.trees.configuration;
    let grammar = &session.appliance.grammar;
    displayed(render::running_configuration(grammar, tree, secrets(session, tree)))
}

/// A configuration as a display: an empty line stands behind its `end`, which is in no file and in
/// no count of bytes (base-cli 3.1).
fn displayed(mut configuration: String) -> String {
    configuration.push('\n');
    configuration
}

/// How a display shows secrets: hashes to super-users if the configuration says so (base-cli 3.1).
fn secrets(session: &Session, tree: &Tree) -> Secrets {
    let grammar = &session.appliance.grammar;
    let shows = tree.global(grammar, Kept::EnablePasswordDisplay).is_some();
    if shows && session.privilege == Privilege::Full { Secrets::Hashed } else { Secrets::Masked }
}

fn hashes_are_shown(session: &Session) -> bool {
    let configuration = session.appliance.configuration();
    secrets(session, &configuration.trees.configuration) == Secrets::Hashed
}

fn network(session: &Session) -> Network {
    let configuration = session.appliance.configuration();
    Network::read(&session.appliance.grammar, &configuration.trees.configuration)
}

/// What somebody who helps wants to see, each display under its title.
fn tech_support(session: &Session, arguments: &Reading<'_>) -> Result<String, Refusal> {
    let mut out = String::new();
    for report in TECH_SUPPORT {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "==========================================================");
        let _ = writeln!(out, "BEGIN : {}", command_of(arguments.grammar, *report));
        let _ = writeln!(out, "==========================================================");
        out.push_str(print(session, *report, arguments)?.trim_end());
        out.push_str("\n\n");
    }
    Ok(out)
}

/// The words that print a report, without what may be left out.
fn command_of(grammar: &Grammar, report: Report) -> &str {
    // Where several do, the last one is the display and not a way to save.
    let command = grammar.commands.iter().rfind(|command| command.verb == Verb::Show(report));
    let syntax = command.map_or("", |command| command.syntax.as_str());
    syntax.split_once(" [").map_or(syntax, |(words, _)| words)
}

/// The displays of `show tech-support`; none of them takes an argument that must be there.
const TECH_SUPPORT: &[Report] = &[
    Report::Version,
    Report::Chassis,
    Report::Module,
    Report::Flash,
    Report::Memory,
    Report::RunningConfig,
    Report::InterfacesBrief,
    Report::Vlan,
    Report::Ip,
    Report::Arp,
    Report::Who,
    Report::Site,
    Report::DnsZone,
    Report::Logging,
];

/// The saved file (base-cli 3.1), with its secrets masked.
fn startup(session: &Session) -> String {
    let mut out = String::from(
        "!\nStartup-config data location is flash memory\n!\nStartup configuration:\n",
    );
    let secrets = secrets(session, &session.appliance.configuration().trees.configuration);
    out.push_str(&startup_body(session, secrets));
    displayed(out)
}

/// The saved configuration as it would run after a restart.
fn startup_body(session: &Session, secrets: Secrets) -> String {
    let grammar = &session.appliance.grammar;
    let mut trees = Trees::default();
    let startup = session.appliance.configuration().startup.clone();
    load::load(grammar, &mut trees, &startup.text());
    render::body(grammar, &trees.configuration, secrets)
}

/// What is in use beside the configuration.
fn usage(session: &Session) -> show::Usage {
    let appliance = &session.appliance;
    let snapshot = appliance.current();
    let cache = &appliance.states.prefixes;
    cache.expire(&snapshot.global_policy().rtt, appliance.clock.now());
    let (prefix_entries, rtt_entries) = cache.size();
    show::Usage { affinities: snapshot.affinities.len(), prefix_entries, rtt_entries }
}

/// The settings of the emulated world as commands. One that names what is not configured any more
/// sleeps, and stands behind `!`, so that it can be pasted with the others (decisions 3.6).
fn emulated(session: &Session) -> String {
    let grammar = &session.appliance.grammar;
    let configuration = session.appliance.configuration();
    let trees = &configuration.trees;
    let mut out = String::new();
    for statement in render::in_order(&trees.world) {
        let command = grammar.command(statement.command);
        let tree = &trees.configuration;
        let mut missing = references::unresolved(grammar, tree, command, &statement.values);
        let sleeps = missing.next().is_some();
        let mark = if sleeps { "! " } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{mark}{}", render::line(grammar, statement));
    }
    out
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
