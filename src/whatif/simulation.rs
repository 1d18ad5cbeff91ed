//! What a simulation found: plain data, the same for every form of report. `docs/what-if.md`
//! specifies the fields.

use std::net::IpAddr;

use serde::Serialize;

use crate::model::snapshot::{Address, Snapshot};

/// Version of the document; it changes when a reader of the old one would fail.
pub const VERSION: u32 = 1;

/// What a simulation found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Simulation {
    /// [`VERSION`].
    pub version: u32,
    /// What was asked, and by whom.
    pub input: Input,
    /// The change, if there was one.
    pub change: Option<ChangeMade>,
    /// What is set side by side: one run, two runs, or the parts of a run before and after a change.
    pub sides: Vec<Side>,
    /// The names that were asked for, in configured order.
    pub domains: Vec<DomainReport>,
    /// What a reader should know about the figures.
    pub notes: Vec<String>,
}

/// What was asked, and by whom.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Input {
    /// The query log; `None`: a population that was drawn.
    pub log: Option<String>,
    /// The seed of the population.
    pub seed: Option<u64>,
    /// Clients of the population.
    pub clients: Option<u32>,
    /// Questions of clients.
    pub questions: u64,
    /// Time between the first question and the last, seconds.
    pub seconds: f64,
    /// Resolvers between clients and appliance; 0: clients ask it themselves.
    pub resolvers: u32,
    /// Whether the resolvers keep answers for their TTL.
    pub caches: bool,
}

/// A change that was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeMade {
    /// The file of its commands.
    pub file: String,
    /// After how many questions.
    pub questions: u64,
    /// When, in seconds since the first question.
    pub seconds: f64,
    /// Whether the counts of all names were zeroed with it.
    pub clears: bool,
}

/// One of the things that are set side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// What it is called: `all`, `before`, `after`.
    pub name: &'static str,
    /// The configuration.
    pub subject: String,
    /// Questions of clients.
    pub questions: u64,
    /// Questions that reached the appliance.
    pub asked: u64,
    /// Questions for names that are no domain of the configuration.
    pub other_names: u64,
}

/// One name and one type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DomainReport {
    /// The name.
    pub name: String,
    /// `A`, `AAAA` or `other`.
    #[serde(rename = "type")]
    pub record_type: &'static str,
    /// By side.
    pub sides: Vec<DomainSide>,
    /// What was answered first, each address in the order of the list; `None` stands for answers
    /// without an address.
    pub addresses: Vec<Row<Option<IpAddr>>>,
    /// The same by site; `None` stands for addresses that belong to no site.
    pub sites: Vec<Row<Option<String>>>,
    /// Clients whose address is another one afterwards, where the policy binds clients.
    pub moved: Option<Moved>,
    /// What clients got over time: one for each run.
    pub timelines: Vec<TimelineReport>,
}

/// One name and one type at one side.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DomainSide {
    /// The host policy in force; `None`: the global one.
    pub policy: Option<String>,
    /// Questions of clients.
    pub questions: u64,
    /// Questions that reached the appliance.
    pub asked: u64,
    /// Questions of clients that got no address.
    pub unanswered: u64,
    /// Questions without a best address: the reply was the list as it stands.
    pub no_best: u64,
    /// Replies by return code.
    pub codes: Vec<CodeCount>,
    /// What decided, by falling count.
    pub decided_by: Vec<Decided>,
    /// How many of the first answers of the appliance in a row were the same address.
    pub first_run: Option<FirstRunReport>,
}

/// Replies with a return code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CodeCount {
    /// The mnemonic, or `dropped`.
    pub code: &'static str,
    /// How many.
    pub count: u64,
}

/// How often a rule decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Decided {
    /// The rule, as the counters of the device name it.
    pub by: &'static str,
    /// How often.
    pub count: u64,
}

/// The first answers in a row that were the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FirstRunReport {
    /// The address.
    pub address: Option<IpAddr>,
    /// How many.
    pub length: u64,
}

/// Where an address is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Placed {
    /// The address.
    pub address: IpAddr,
    /// Its site.
    pub site: Option<String>,
}

/// What was counted of an address or a site.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row<T> {
    /// The address or the site.
    pub answer: T,
    /// The site of an address; of two, the last that was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// By side; `None`: it was not there and not answered.
    pub sides: Vec<Option<Figures>>,
}

/// What was counted of an address or a site at one side. Shares are parts of 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Answers of the appliance that began with it.
    pub selected: u64,
    /// Their share of the questions that reached the appliance.
    pub selected_share: f64,
    /// Answers that clients got, from the appliance or a cache, that began with it.
    pub received: u64,
    /// Their share of the questions of clients.
    pub received_share: f64,
    /// The share that weights and tie-breaker give it, whatever was counted before; `None`: there
    /// is no such share.
    pub ideal_share: Option<f64>,
    /// `received_share` less `ideal_share`.
    pub difference: Option<f64>,
}

/// Clients whose address is another one afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// Clients that asked on both sides.
    pub clients: u64,
    /// Those of them whose address is another one.
    pub moved: u64,
    /// Whether there were more clients than are remembered.
    pub capped: bool,
}

/// What clients got over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimelineReport {
    /// Length of a piece, seconds.
    pub piece_seconds: f64,
    /// For each row of `addresses` the counts by piece.
    pub counts: Vec<Vec<u64>>,
}

impl Placed {
    pub(super) fn of(snapshot: &Snapshot, address: &Address) -> Self {
        let site = snapshot.site_of(address).map(|site| site.name.clone());
        Placed { address: address.ip, site }
    }
}
