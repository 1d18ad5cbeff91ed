//! What is left when something fails: every single and every double failure of sites, site devices
//! and addresses, worst first.
//!
//! A device that fails takes its VIPs along, unless another device that is alive reports them too,
//! and its reports end; a site takes its devices along. An address that fails by itself fails its
//! health checks. Shares are those of [`Pool`](crate::gslb::pool::Pool), so they hold whatever was counted before. What a
//! failure does to one name depends only on what failed of that name, so every name is looked at by
//! itself: the pairs that matter to a name are few, however many there are in all.

mod elements;
mod matrix;
mod target;

use std::net::IpAddr;

use serde::Serialize;

use crate::whatif::subject::Subject;
use elements::Elements;
use matrix::Matrix;
use target::Targets;

/// Version of the document; it changes when a reader of the old one would fail.
pub const VERSION: u32 = 1;

/// What is left when something fails.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failures {
    /// [`VERSION`].
    pub version: u32,
    /// The configuration.
    pub subject: String,
    /// Groups of clients, each with the address that stands for it.
    pub clients: Vec<ClientGroup>,
    /// What can fail.
    pub elements: Vec<Element>,
    /// What every name gets when nothing fails.
    pub baseline: Vec<NameOutcome>,
    /// One thing fails.
    pub single: Cases,
    /// Two things fail.
    pub double: Cases,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Clients that are treated alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientGroup {
    /// A region, or a prefix that the configuration or the measurements name.
    pub name: String,
    /// The address that stands for them.
    pub address: IpAddr,
}

/// Something that can fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Element {
    /// `site`, `device` or `address`.
    pub kind: &'static str,
    /// Its name, or its address.
    pub name: String,
    /// The addresses of hosts that fail with it.
    pub addresses: Vec<IpAddr>,
}

/// Failures of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cases {
    /// How many there are.
    pub count: u64,
    /// After how many of them some clients get an address that has failed, or none.
    pub dead: u64,
    /// After how many of them everybody gets an address that lives, but some another one.
    pub moved: u64,
    /// The worst of them, the worst first.
    pub worst: Vec<Case>,
}

/// One failure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// What fails.
    pub failed: Vec<String>,
    /// The part of all names and client groups that get an address that has failed, or none.
    pub dead_share: f64,
    /// The part that gets another address than before.
    pub moved_share: f64,
    /// What becomes of the names that it touches, the worst first.
    pub names: Vec<NameOutcome>,
    /// Names that it touches and that are not listed.
    pub further_names: u64,
}

/// What the clients of one name get.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NameOutcome {
    /// The name.
    pub name: String,
    /// `A` or `AAAA`.
    #[serde(rename = "type")]
    pub record_type: &'static str,
    /// By clients; groups that get the same stand together.
    pub clients: Vec<GroupOutcome>,
}

/// What some clients get.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupOutcome {
    /// The groups; all of them stand as `all clients`.
    pub groups: Vec<String>,
    /// The shares of the first addresses, parts of 1; empty: there is no answer.
    pub shares: Vec<AddressShare>,
    /// There is no best address: the list goes out as it stands.
    pub no_best: bool,
    /// The part that gets an address that has failed, or none.
    pub dead_share: f64,
}

/// The share of an address.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AddressShare {
    /// The address.
    pub address: IpAddr,
    /// Its site.
    pub site: Option<String>,
    /// Its part of 1.
    pub share: f64,
    /// Whether it lives.
    pub alive: bool,
}

/// Names that are listed for one failure at most.
const MOST_NAMES: usize = 20;

/// Finds out what is left after every single and every double failure; of each kind the `most`
/// worst are told in full.
pub fn failures(subject: &Subject, most: usize) -> Failures {
    failures_until(subject, most, &|| false)
}

/// The same until somebody wants it to stop: then of the names that were looked at by then, at least one.
pub fn failures_until(subject: &Subject, most: usize, stops: &dyn Fn() -> bool) -> Failures {
    let (started, mut notes) = subject.start();
    let snapshot = std::sync::Arc::clone(&started.appliance().current());
    let elements = Elements::of(&snapshot);
    let mut targets = Targets::new(&started, &snapshot, &elements);
    if !super::worker::answers(&snapshot, &started.appliance().states) {
        notes.push(
            "hosts get no address today: the appliance answers by itself only in cache-proxy mode \
             with override, and no DNS server behind is in service; what follows is what the policy would choose"
                .to_owned(),
        );
    }
    for server in snapshot.servers.iter().filter(|server| server.is_self) {
        let site = &snapshot.sites[server.site.index()].name;
        notes.push(format!(
            "site {site} holds this controller itself: while it is gone, what is told here is what \
             another controller with the same configuration answers"
        ));
    }
    notes.extend(targets.notes());
    let all = targets.list.len();
    let matrix = Matrix::new(&elements, &mut targets, stops);
    let looked_at = targets.list.len();
    if looked_at < all {
        notes.push(format!(
            "stopped: {looked_at} of {all} names and types were looked at, and all that is told here is about these"
        ));
    }
    let single = matrix.single(&elements, &mut targets, most);
    let double = matrix.double(&elements, &mut targets, most);
    Failures {
        version: VERSION,
        subject: subject.name.clone(),
        clients: targets.groups().to_vec(),
        baseline: targets.baseline(),
        elements: elements.list,
        single,
        double,
        notes,
    }
}

/// Six digits are more than anybody reads.
fn rounded(share: f64) -> f64 {
    let rounded = (share * 1e6).round() / 1e6;
    // No report shows a zero with a sign.
    if rounded == 0.0 { 0.0 } else { rounded }
}
