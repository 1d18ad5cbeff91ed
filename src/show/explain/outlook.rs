//! What becomes of a question before and after the choice: who answers it, among which addresses is
//! chosen, and what the client gets.

use std::net::IpAddr;

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::rdata::A;
use hickory_proto::rr::{Name, RData, Record, RecordType};

use crate::behind::reply::Reply;
use crate::dns::answer::{self, Way};
use crate::dns::name;
use crate::dns::relay::{self, Balanced};
use crate::health::state::States;
use crate::model::snapshot::{Family, Host, Snapshot};

/// What is known of a question before the choice.
#[derive(Debug)]
pub(super) struct Outlook {
    /// What a reader must know of it; `None`: the appliance answers by itself.
    pub(super) note: Option<&'static str>,
    /// Whether the policy of the host has a say.
    pub(super) chooses: bool,
    ending: Ending,
}

/// What the client gets.
#[derive(Debug)]
enum Ending {
    /// What the appliance makes of its choice.
    Own,
    /// The reply of the DNS server behind with the policy applied; among all candidates if the list
    /// overrides it, else among the addresses that it holds.
    PutInOrder(Box<(Reply, Balanced)>),
    /// Something that the choice has no part in.
    Fixed(&'static str),
}

const UNCHANGED: &str = "that of the DNS server behind, unchanged";

impl Outlook {
    /// Looks at a question for the addresses of a host, and asks nobody.
    pub(super) fn of(snapshot: &Snapshot, states: &States, host: &Host, family: Family) -> Self {
        let wanted = match family {
            Family::V4 => RecordType::A,
            Family::V6 => RecordType::AAAA,
        };
        let fixed = |note, reply| Outlook {
            note: Some(note),
            chooses: false,
            ending: Ending::Fixed(reply),
        };
        let own = |note| Outlook { note, chooses: true, ending: Ending::Own };
        let errand = match answer::way(snapshot, states, host, wanted) {
            Way::Own(_) | Way::Unsupported => return own(None),
            Way::Intercepted(_) => {
                return own(Some("the question is intercepted, and answered from here"));
            }
            Way::NoServer => {
                return fixed(
                    "no choice: there is no DNS server behind",
                    "none, but the code SERVFAIL",
                );
            }
            Way::NobodyThere => {
                let note = "no choice: no DNS server behind is in service";
                return fixed(note, "none at all");
            }
            Way::Relay(errand) => errand,
        };
        if !errand.by_policy {
            let note = if errand.intercepted {
                "no choice: the question is redirected to the DNS server behind"
            } else {
                "no choice: the DNS server behind answers"
            };
            return fixed(note, UNCHANGED);
        }
        let Some(wire) = name::key_of_text(&host.domain_name) else {
            return own(None);
        };
        let reply = expected(snapshot, states, host, &wire);
        let found = relay::balanced(snapshot, &wire, wanted, &reply);
        let is_own =
            |found: &Balanced| snapshot.hosts[found.host.index()].domain_name == host.domain_name;
        let Some(found) = found.filter(is_own) else {
            let note = "no choice: the DNS server behind has no address at this name";
            return fixed(note, UNCHANGED);
        };
        let chooses = !relay::is_left_alone(snapshot, host);
        let note = if !chooses {
            "no choice: the DNS server behind answers, and with dns override a host needs a list"
        } else if snapshot.global_policy().dns.override_ {
            "the DNS server behind answers, and the best of the list takes the place of its addresses"
        } else if errand.intercepted {
            "the question is redirected to the DNS server behind, and its reply is put in order"
        } else {
            "the DNS server behind answers, and its reply is put in order"
        };
        Outlook { note: Some(note), chooses, ending: Ending::PutInOrder(Box::new((reply, found))) }
    }

    /// The addresses among which is chosen; `None`: all candidates of the host.
    pub(super) fn offered(&self, snapshot: &Snapshot) -> Option<&[IpAddr]> {
        match &self.ending {
            Ending::PutInOrder(offer) if !snapshot.global_policy().dns.override_ => {
                Some(&offer.1.addresses)
            }
            _ => None,
        }
    }

    /// What the client gets, given the best address and the order of a reply of the appliance's own.
    pub(super) fn reply(self, snapshot: &Snapshot, best: Option<usize>, own: &[String]) -> String {
        match self.ending {
            Ending::Own => own.join(", "),
            Ending::Fixed(text) => text.to_owned(),
            Ending::PutInOrder(offer) => {
                let (mut reply, found) = *offer;
                relay::arrange(snapshot, &found, best, &mut reply);
                let addresses = reply.answers.iter().filter_map(|record| record.data.ip_addr());
                addresses.map(|address| address.to_string()).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// What the DNS server behind is going to say of a host: what somebody said that it does, else what it
/// said the last time.
fn expected(snapshot: &Snapshot, states: &States, host: &Host, wire: &[u8]) -> Reply {
    if let Some(said) = states.dns_server.answer(wire, RecordType::A) {
        return said;
    }
    let learned = states.learned.of(&host.domain_name).unwrap_or_default();
    if learned.addresses.is_empty() {
        return states.dns_server.answer_with(snapshot, wire, RecordType::A);
    }
    let mut reply = Reply::of_code(ResponseCode::NoError, true);
    let owner = Name::from_ascii(&host.domain_name).unwrap_or_default();
    reply.answers = learned
        .addresses
        .iter()
        .filter_map(|address| match address {
            IpAddr::V4(address) => Some(RData::A(A(*address))),
            IpAddr::V6(_) => None,
        })
        .map(|data| Record::from_rdata(owner.clone(), learned.ttl, data))
        .collect();
    reply
}
