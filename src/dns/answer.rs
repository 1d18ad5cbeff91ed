//! The answer to a question, as plain data.
//!
//! Looks the name up, lets the policy choose, and says what the reply will hold, or that the question
//! goes to the DNS server behind ([`crate::dns::relay`] takes its reply). Knows nothing of bytes on
//! the wire nor of counters.

use std::net::IpAddr;

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::RecordType;
use smallvec::SmallVec;

use crate::behind::reply::Reply;
use crate::clock::Moment;
use crate::dns::name;
use crate::dns::question::Question;
use crate::gslb;
use crate::health::state::States;
use crate::model::balancing::DnsServer;
use crate::model::policy::{DEFAULT_TTL, Intercept};
use crate::model::snapshot::{ErrorCode, Family, Host, NameEntry, Snapshot};
use crate::sna::{self, SnaDomain};

/// IPv6 addresses in a reply to a client that takes no more than 512 bytes (guide chapter 2).
pub const IPV6_LIMIT: usize = 8;

/// IPv6 addresses in a reply to a client that takes more (guide chapter 2).
pub const IPV6_LIMIT_LARGE: usize = 40;

/// Everything that an answer depends on beside the question.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The configuration.
    pub snapshot: &'a Snapshot,
    /// What is measured.
    pub states: &'a States,
    /// Whether negative answers carry an SOA record.
    pub strict: bool,
    /// Whether the client takes replies of more than 512 bytes.
    pub takes_large_replies: bool,
    /// Who asks, as the policy sees it.
    pub client: IpAddr,
    /// When.
    pub now: Moment,
}

/// What a reply says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The return code.
    pub code: ResponseCode,
    /// AA: the appliance speaks for the name.
    pub authoritative: bool,
    /// The answer section, best address first. All are of one family.
    pub records: SmallVec<[AddressRecord; 8]>,
    /// What else is in the answer section.
    pub minimal_any: Option<MinimalAny>,
    /// The authority section.
    pub soa: Option<Soa>,
    /// What the DNS server behind says instead of all that.
    pub relayed: Option<Box<Reply>>,
    /// Why the answer is what it is.
    pub origin: Origin,
}

/// An A or AAAA record at the name that was asked for (RFC 1035 section 3.4.1, RFC 3596).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRecord {
    /// The address.
    pub address: IpAddr,
    /// Its TTL, seconds.
    pub ttl: u32,
}

/// The SOA record of a negative answer (RFC 2308 section 3), made up from the zone's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Soa {
    /// Where the zone's name begins within the name that was asked for.
    pub zone_offset: usize,
    /// How long the negative answer may be kept, seconds.
    pub ttl: u32,
}

/// The record that answers a question of type ANY where there is no rule of the device: HINFO, as
/// small as can be (RFC 8482 section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimalAny {
    /// Its TTL, seconds.
    pub ttl: u32,
}

/// Why an answer is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The policy put addresses of a configured host in order.
    Policy,
    /// The name lies in an SNA gateway domain.
    SnaDomain,
    /// The type is none that is answered at this host (guide p. 190).
    UnsupportedType,
    /// A configured host lies below the name, which itself holds nothing (RFC 4592 section 2.2.2).
    EmptyNonTerminal,
    /// As `Policy`, for a question that was intercepted (guide p. 95).
    Intercepted,
    /// The DNS server behind has answered.
    ServerBehind,
    /// The question would have to go to the DNS server behind, and there is none.
    NoServerBehind,
    /// The name is none of ours.
    UnknownName,
    /// The message holds no question that could be answered.
    Rejected,
}

/// What is done with a question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "made once for a question, and mostly an answer")]
pub enum Plan {
    /// It is answered.
    Answer(Answer),
    /// It is dropped without a reply: nobody may say that its type is not supported.
    Drop,
    /// It is dropped without a reply: no DNS server behind is in service to give it to.
    NobodyThere,
    /// It goes to the DNS server behind.
    Relay(Errand),
}

/// A question that goes to the DNS server behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errand {
    /// Whether the policy of a configured host may apply to the reply.
    pub by_policy: bool,
    /// Whether the question was meant for another server (guide p. 95).
    pub intercepted: bool,
}

/// Answers a question of class IN, or says what else is done with it.
#[must_use]
pub fn answer(view: &View<'_>, question: &Question<'_>) -> Plan {
    let key = name::key(question.name());
    match view.snapshot.lookup(&key) {
        Some(NameEntry::Host(host)) => {
            answer_at_host(view, question, &key, &view.snapshot.hosts[host.index()])
        }
        // No host stands at or below an SNA gateway domain, so the order does not matter.
        entry => match view.snapshot.sna_domain_of(&key) {
            Some((domain, offset)) => {
                Plan::Answer(answer_in_sna_domain(view, question, &key, domain, offset))
            }
            None => match view.server() {
                DnsServer::Up => {
                    // An alias may lead to a configured host (guide p. 22).
                    let by_policy = view.snapshot.global_policy().dns.cname_detect;
                    Plan::Relay(Errand { by_policy, intercepted: false })
                }
                DnsServer::Down => Plan::NobodyThere,
                DnsServer::Missing if entry.is_some() => {
                    Plan::Answer(answer_below_zone(view, &key))
                }
                DnsServer::Missing => {
                    Plan::Answer(Answer::of_code(ResponseCode::Refused, Origin::UnknownName))
                }
            },
        },
    }
}

/// The answer of an SNA gateway domain, whose name begins at `offset` within the name of the
/// question. Nothing stands behind, so the appliance always speaks for it.
fn answer_in_sna_domain(
    view: &View<'_>,
    question: &Question<'_>,
    key: &[u8],
    domain: &SnaDomain,
    offset: usize,
) -> Answer {
    let family = match question.record_type {
        RecordType::A => Some(Family::V4),
        RecordType::AAAA => Some(Family::V6),
        _ => None,
    };
    let outcome = sna::select(domain, &key[..offset], family, view.client, view.now);
    let ttl = domain.ttl;
    let (code, address) = match outcome {
        sna::Outcome::Address(address) => (ResponseCode::NoError, Some(address)),
        sna::Outcome::NoData => (ResponseCode::NoError, None),
        sna::Outcome::NoName => (ResponseCode::NXDomain, None),
    };
    // The name exists; of what it has, ANY may be told as little as this.
    let is_any = question.record_type == RecordType::ANY && outcome == sna::Outcome::NoData;
    let is_negative = address.is_none() && !is_any;
    Answer {
        authoritative: true,
        minimal_any: is_any.then_some(MinimalAny { ttl }),
        records: address.into_iter().map(|address| AddressRecord { address, ttl }).collect(),
        soa: (view.strict && is_negative).then_some(Soa { zone_offset: offset, ttl }),
        ..Answer::of_code(code, Origin::SnaDomain)
    }
}

/// Which way a question for a configured host goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The appliance answers with addresses of this family.
    Own(Family),
    /// The same for a question that was meant for another server (guide p. 95).
    Intercepted(Family),
    /// To the DNS server behind.
    Relay(Errand),
    /// To the DNS server behind, but there is none.
    NoServer,
    /// To the DNS server behind, but none is in service.
    NobodyThere,
    /// Nowhere: the type is none that is answered here (guide p. 190).
    Unsupported,
}

/// The modes of the proxy (guide p. 31 to 34, 91 to 98, 188 to 190; decisions 5).
#[must_use]
pub fn way(snapshot: &Snapshot, states: &States, host: &Host, wanted: RecordType) -> Way {
    let dns = &snapshot.global_policy().dns;
    let server = snapshot.balancing.dns_server(states);
    let has_address = |family: &Family| host.positions(*family).next().is_some();
    if let Some(family) = family(wanted, host).filter(has_address) {
        let server_parses_any = !dns.override_ && server == DnsServer::Up;
        if snapshot.answers_itself(host, family)
            && !(wanted == RecordType::ANY && server_parses_any)
        {
            return Way::Own(family);
        }
        let is_intercepted = dns.transparent_intercept == Some(Intercept::WithPolicy);
        if is_intercepted && !dns.cache_proxy && dns.override_ && host.has_list() {
            return Way::Intercepted(family);
        }
    }
    let is_balanced = matches!(wanted, RecordType::A | RecordType::ANY);
    match server {
        DnsServer::Up => Way::Relay(Errand {
            by_policy: is_balanced
                && !(dns.cache_proxy && dns.override_ && host.has_list())
                && dns.transparent_intercept != Some(Intercept::Unchanged),
            intercepted: dns.transparent_intercept.is_some() && !dns.cache_proxy,
        }),
        // With cache proxy and override nothing is expected of a server.
        DnsServer::Missing
            if !(dns.cache_proxy && (dns.override_ || !is_balanced))
                && dns.transparent_intercept.is_none() =>
        {
            Way::NoServer
        }
        DnsServer::Down if !snapshot.handles_errors() => Way::NobodyThere,
        DnsServer::Missing | DnsServer::Down => Way::Unsupported,
    }
}

fn answer_at_host(view: &View<'_>, question: &Question<'_>, key: &[u8], host: &Host) -> Plan {
    match way(view.snapshot, view.states, host, question.record_type) {
        Way::Own(family) => Plan::Answer(answer_by_policy(view, host, family, Origin::Policy)),
        Way::Intercepted(family) => {
            Plan::Answer(answer_by_policy(view, host, family, Origin::Intercepted))
        }
        Way::Relay(errand) => Plan::Relay(errand),
        Way::NoServer => {
            Plan::Answer(Answer::of_code(ResponseCode::ServFail, Origin::NoServerBehind))
        }
        Way::NobodyThere => Plan::NobodyThere,
        Way::Unsupported => answer_unsupported(view, key, host),
    }
}

/// The addresses of a host in the order that its policy gives them.
fn answer_by_policy(view: &View<'_>, host: &Host, family: Family, origin: Origin) -> Answer {
    let ttl = view.snapshot.ttl_of(host);
    let (_, mut positions) =
        gslb::select(view.snapshot, view.states, host, family, view.client, view.now);
    if family == Family::V6 {
        let large = view.takes_large_replies;
        positions.truncate(if large { IPV6_LIMIT_LARGE } else { IPV6_LIMIT });
    }
    let record = |position: usize| AddressRecord { address: host.addresses[position].ip, ttl };
    Answer {
        authoritative: true,
        records: positions.into_iter().map(record).collect(),
        ..Answer::of_code(ResponseCode::NoError, origin)
    }
}

/// The family that a type of question asks for at this host; `None`: the type is unsupported.
#[must_use]
pub fn family(record_type: RecordType, host: &Host) -> Option<Family> {
    match record_type {
        RecordType::A => Some(Family::V4),
        // One family for each reply: the IPv4 list if there is one (decisions 5.4).
        RecordType::ANY if host.positions(Family::V4).next().is_some() => Some(Family::V4),
        RecordType::AAAA | RecordType::ANY => Some(Family::V6),
        _ => None,
    }
}

/// Error handling (guide p. 188 to 191): an empty answer with the configured code, or none at all.
fn answer_unsupported(view: &View<'_>, key: &[u8], host: &Host) -> Plan {
    let responder = view.snapshot.responder;
    if !view.snapshot.handles_errors() {
        return Plan::Drop;
    }
    let code = response_code(responder.error_code);
    let is_negative = matches!(code, ResponseCode::NoError | ResponseCode::NXDomain);
    let zone = &view.snapshot.zones[host.zone.index()].name;
    let zone_offset = if view.strict && is_negative { offset_of_zone(key, zone) } else { None };
    let ttl = view.snapshot.policy_of(host).dns.ttl.unwrap_or(DEFAULT_TTL);
    Plan::Answer(Answer {
        authoritative: true,
        soa: zone_offset.map(|zone_offset| Soa { zone_offset, ttl }),
        ..Answer::of_code(code, Origin::UnsupportedType)
    })
}

fn answer_below_zone(view: &View<'_>, key: &[u8]) -> Answer {
    // The closest zone is the one whose name begins first.
    let zones = view.snapshot.zones.iter().filter(|_| view.strict);
    let zone_offset = zones.filter_map(|zone| offset_of_zone(key, &zone.name)).min();
    let ttl = view.snapshot.global_policy().dns.ttl.unwrap_or(DEFAULT_TTL);
    Answer {
        authoritative: true,
        soa: zone_offset.map(|zone_offset| Soa { zone_offset, ttl }),
        ..Answer::of_code(ResponseCode::NoError, Origin::EmptyNonTerminal)
    }
}

fn offset_of_zone(key: &[u8], zone: &str) -> Option<usize> {
    name::offset_of_ancestor(key, &name::key_of_text(zone)?)
}

/// The return code of that name.
pub(crate) const fn response_code(code: ErrorCode) -> ResponseCode {
    match code {
        ErrorCode::FormatError => ResponseCode::FormErr,
        ErrorCode::NoError => ResponseCode::NoError,
        ErrorCode::NotImplemented => ResponseCode::NotImp,
        ErrorCode::NameError => ResponseCode::NXDomain,
        ErrorCode::Refused => ResponseCode::Refused,
        ErrorCode::ServerFailure => ResponseCode::ServFail,
    }
}

impl View<'_> {
    /// Whether there is a DNS server behind.
    fn server(&self) -> DnsServer {
        self.snapshot.balancing.dns_server(self.states)
    }
}

impl Answer {
    /// What the DNS server behind says.
    #[must_use]
    pub fn relayed(reply: Reply) -> Self {
        let code = reply.code;
        Answer {
            authoritative: reply.authoritative,
            relayed: Some(Box::new(reply)),
            ..Answer::of_code(code, Origin::ServerBehind)
        }
    }

    /// The first address that the client gets.
    #[must_use]
    pub fn first_address(&self) -> Option<IpAddr> {
        let own = self.records.first().map(|record| record.address);
        own.or_else(|| {
            let relayed = self.relayed.as_deref()?;
            relayed.answers.iter().find_map(|record| record.data.ip_addr())
        })
    }

    /// An answer that consists of a return code.
    #[must_use]
    pub fn of_code(code: ResponseCode, origin: Origin) -> Self {
        Answer {
            code,
            authoritative: false,
            records: SmallVec::new(),
            minimal_any: None,
            soa: None,
            relayed: None,
            origin,
        }
    }
}

#[cfg(test)]
mod tests;
