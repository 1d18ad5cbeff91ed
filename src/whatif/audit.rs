//! What an appliance does today, in words: made to be handed to people who decide about a change.

mod concerns;
mod feeds;
mod reload;
mod words;

use std::net::IpAddr;
use std::sync::Arc;

use serde::Serialize;

use crate::check::rule::Severity;
use crate::check::{self, Summary};
use crate::config::render;
use crate::health::state::Connection;
use crate::model::policy::{DEFAULT_TTL, Policy};
use crate::model::region::Region;
use crate::model::snapshot::{Host, PolicyId, Snapshot};
use crate::whatif::subject::{Started, Subject};

/// Version of the document; it changes when a reader of the old one would fail.
pub const VERSION: u32 = 1;

/// What an appliance does today.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// [`VERSION`].
    pub version: u32,
    /// The configuration.
    pub subject: String,
    /// The device's own name.
    pub device_name: String,
    /// Sites with their devices.
    pub sites: Vec<SiteAudit>,
    /// Policies that a host uses.
    pub policies: Vec<PolicyAudit>,
    /// Hosts in configured order.
    pub hosts: Vec<HostAudit>,
    /// What deserves a look, the gravest first.
    pub concerns: Vec<Concern>,
    /// How the appliance answers what no policy decides.
    pub answers: Vec<String>,
    /// What a reload loses or changes.
    pub reload: Vec<String>,
    /// What is assumed about the world, as commands.
    pub assumed: Vec<String>,
    /// What `check` says of each configuration.
    pub files: Vec<FileAudit>,
}

/// A site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteAudit {
    /// Its name.
    pub name: String,
    /// Its weight.
    pub weight: u8,
    /// The region that it is said to be in.
    pub location: Option<&'static str>,
    /// Its devices.
    pub devices: Vec<DeviceAudit>,
}

/// A site device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceAudit {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its management address.
    pub address: IpAddr,
    /// Its preference.
    pub preference: u8,
    /// The state of its connection.
    pub connection: &'static str,
    /// The VIPs that it reports.
    pub vips: Vec<IpAddr>,
}

/// A policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyAudit {
    /// The name of a host policy; `None`: the global one.
    pub name: Option<String>,
    /// How many hosts use it.
    pub hosts: usize,
    /// What decides, in order.
    pub steps: Vec<Step>,
    /// How replies are changed, and what binds clients.
    pub replies: Vec<String>,
    /// TTL of the answers, seconds.
    pub ttl: u32,
}

/// One step of a choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The metric or tie-breaker, as the counters of the device name it.
    pub rule: &'static str,
    /// What it does.
    pub words: String,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostAudit {
    /// Its domain name.
    pub name: String,
    /// Its host policy; `None`: the global one.
    pub policy: Option<String>,
    /// What is checked.
    pub applications: Vec<String>,
    /// TTL of its answers, seconds.
    pub ttl: u32,
    /// Its addresses in order.
    pub addresses: Vec<AddressAudit>,
    /// In one sentence: who gets what.
    pub summary: String,
    /// Metrics in force that cannot decide anything for this host.
    pub idle: Vec<Step>,
}

/// An address of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AddressAudit {
    /// The address.
    pub address: IpAddr,
    /// Its site.
    pub site: Option<String>,
    /// The site device that reports it.
    pub device: Option<IpAddr>,
    /// Its weight.
    pub weight: Option<u8>,
    /// Its weight of hash persistence.
    pub hash_weight: Option<u8>,
    /// Whether it passes its checks.
    pub healthy: bool,
}

/// Something that deserves a look.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Concern {
    /// `high`, `medium` or `low`.
    pub gravity: Gravity,
    /// What it is about: a host, a policy, the device.
    pub about: String,
    /// What is the matter, in one or two sentences.
    pub text: String,
}

/// How grave a concern is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Gravity {
    /// Clients get no service, or a failed address.
    High,
    /// It hardly works as it is meant.
    Medium,
    /// Worth knowing.
    Low,
}

impl Gravity {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Gravity::High => "high",
            Gravity::Medium => "medium",
            Gravity::Low => "low",
        }
    }
}

/// What `check` says of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileAudit {
    /// Its name.
    pub name: String,
    /// Its lines by what they are, and the findings by severity.
    pub summary: Summary,
    /// Findings of severity warning and error.
    pub findings: Vec<FileFinding>,
}

/// A finding of `check`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileFinding {
    /// The rule.
    pub rule: &'static str,
    /// `warning` or `error`.
    pub severity: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// What is the matter.
    pub message: String,
    /// Where it is said that this is so.
    pub evidence: &'static str,
}

/// Audits a configuration, a lab, or an appliance that runs.
pub fn audit(subject: &Subject) -> Audit {
    audit_until(subject, &|| false)
}

/// The same until somebody wants it to stop: then of the hosts that were looked at by then, at least one.
pub fn audit_until(subject: &Subject, stops: &dyn Fn() -> bool) -> Audit {
    let (started, complaints) = subject.start();
    let snapshot = Arc::clone(&started.appliance().current());
    let mut concerns = concerns::concerns(&started, &snapshot);
    let mut hosts = Vec::new();
    for host in &snapshot.hosts {
        if !hosts.is_empty() && stops() {
            break;
        }
        concerns::of_host(&started, &snapshot, host, &mut concerns);
        hosts.push(host_audit(&started, &snapshot, host));
    }
    if hosts.len() < snapshot.hosts.len() {
        let (looked_at, all) = (hosts.len(), snapshot.hosts.len());
        let text =
            format!("Stopped: {looked_at} of {all} hosts were looked at, the others are left out.");
        let about = "audit".to_owned();
        concerns.insert(0, Concern { gravity: Gravity::High, about, text });
    }
    concerns.extend(complaints.into_iter().map(|text| Concern {
        gravity: Gravity::Medium,
        about: "scenario".to_owned(),
        text,
    }));
    // The gravest first; those of one gravity stay in the order of the configuration.
    concerns.sort_by_key(|concern| concern.gravity);
    Audit {
        version: VERSION,
        subject: subject.name.clone(),
        device_name: snapshot.device_name.clone(),
        sites: sites(&snapshot),
        policies: policies(&snapshot),
        hosts,
        concerns,
        answers: words::answers(&snapshot, &started.appliance().states),
        reload: reload::losses(subject, &started, &snapshot),
        assumed: assumed(&started),
        files: files(subject),
    }
}

fn sites(snapshot: &Snapshot) -> Vec<SiteAudit> {
    let device = |server: &crate::model::snapshot::SiteServer| DeviceAudit {
        name: server.name.clone(),
        address: server.address,
        preference: server.preference,
        connection: match server.state.connection() {
            Connection::Established if server.is_self => "this device",
            other => other.name(),
        },
        vips: server.state.vips().iter().map(|vip| vip.address).collect(),
    };
    snapshot
        .sites
        .iter()
        .map(|site| SiteAudit {
            name: site.name.clone(),
            weight: site.weight,
            location: site.location.map(Region::name),
            devices: site
                .servers
                .iter()
                .map(|server| device(&snapshot.servers[server.index()]))
                .collect(),
        })
        .collect()
}

fn policies(snapshot: &Snapshot) -> Vec<PolicyAudit> {
    let of = |(place, policy): (usize, &Policy)| {
        let id = PolicyId::from_index(place);
        let hosts = snapshot.hosts.iter().filter(|host| host.policy == id).count();
        (hosts > 0 || policy.name.is_none()).then(|| PolicyAudit {
            name: policy.name.clone(),
            hosts,
            steps: words::steps(policy),
            replies: words::replies(policy),
            ttl: policy.dns.ttl.unwrap_or(DEFAULT_TTL),
        })
    };
    snapshot.policies.iter().enumerate().filter_map(of).collect()
}

fn host_audit(started: &Started, snapshot: &Snapshot, host: &Host) -> HostAudit {
    let policy = snapshot.policy_of(host);
    HostAudit {
        name: host.domain_name.to_string(),
        policy: policy.name.clone(),
        applications: host
            .applications
            .iter()
            .map(|one| one.name(&started.appliance().grammar))
            .collect(),
        ttl: policy.dns.ttl.unwrap_or(DEFAULT_TTL),
        addresses: host
            .addresses
            .iter()
            .map(|address| AddressAudit {
                address: address.ip,
                site: snapshot.site_of(address).map(|site| site.name.clone()),
                device: snapshot.owner_of(address).map(|device| device.address),
                weight: address.weight,
                hash_weight: address.hash_weight,
                healthy: host.is_healthy(address),
            })
            .collect(),
        summary: words::summary(started, snapshot, host),
        idle: feeds::idle(started, snapshot, host),
    }
}

/// The settings of the emulated world.
fn assumed(started: &Started) -> Vec<String> {
    let appliance = started.appliance();
    let configuration = appliance.configuration();
    let text = render::world(&appliance.grammar, &configuration.trees.world);
    text.lines().map(str::to_owned).collect()
}

/// A rule of `check` that looks at one file, while here the reports of all devices are known.
const IN_NO_SITE: &str = "address-in-no-site";

fn files(subject: &Subject) -> Vec<FileAudit> {
    let mut files = Vec::new();
    for (name, text) in subject.configurations() {
        let checked = check::check(subject.grammar(), name, text);
        let grave = checked
            .findings
            .iter()
            .filter(|one| one.rule.severity > Severity::Note && one.rule.name != IN_NO_SITE);
        files.push(FileAudit {
            name: if name.is_empty() { subject.name.clone() } else { name.to_owned() },
            summary: checked.summary(),
            findings: grave
                .map(|finding| FileFinding {
                    rule: finding.rule.name,
                    severity: finding.rule.severity.name(),
                    line: finding.line,
                    message: finding.message.clone(),
                    evidence: finding.rule.evidence,
                })
                .collect(),
        });
    }
    files
}
