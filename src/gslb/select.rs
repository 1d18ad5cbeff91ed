//! One question from beginning to end: choose, count, arrange.

use std::net::IpAddr;

use crate::clock::Moment;
use crate::gslb::choose::{Candidates, Choice, View, choose};
use crate::gslb::domain::{Decision, DomainChange, Selection};
use crate::gslb::observe::Observer;
use crate::gslb::reply::arrange;
use crate::gslb::{by_weight, metric};
use crate::health::state::States;
use crate::model::snapshot::{Family, Host, Snapshot};

/// Chooses the best address, counts it, and gives the order of the reply.
///
/// The order is a list of positions in `host.addresses`; it is empty if the host has no address of
/// the family, and nothing counts then. The domain is locked while the choice is made and counted.
/// The client's entry in the prefix cache is made before, so that this question is its first.
pub fn select(
    snapshot: &Snapshot,
    states: &States,
    host: &Host,
    family: Family,
    client: IpAddr,
    now: Moment,
) -> (Choice, Candidates) {
    renew_client(snapshot, states, client, now);
    select_for(snapshot, states, host, family, client, now)
}

/// Makes the client's entry in the prefix cache, or renews it.
pub fn renew_client(snapshot: &Snapshot, states: &States, client: IpAddr, now: Moment) {
    states.prefixes.touch(client, &snapshot.global_policy().rtt, now);
}

/// As [`select`], for a client whose entry in the prefix cache is of this moment.
pub fn select_for(
    snapshot: &Snapshot,
    states: &States,
    host: &Host,
    family: Family,
    client: IpAddr,
    now: Moment,
) -> (Choice, Candidates) {
    let choice = choose_and_count(snapshot, states, host, family, client, now, None);
    (choice, arrange(snapshot.policy_of(host), host, family, choice))
}

/// Chooses for a reply of the DNS server behind, and counts: among the addresses that it offers, or
/// among all candidates. The order of the reply is the server's but for the best, so it is not made
/// here.
pub fn select_for_reply(
    snapshot: &Snapshot,
    states: &States,
    host: &Host,
    offered: Option<&[IpAddr]>,
    client: IpAddr,
    now: Moment,
) -> Choice {
    renew_client(snapshot, states, client, now);
    choose_and_count(snapshot, states, host, Family::V4, client, now, offered)
}

#[inline]
fn choose_and_count(
    snapshot: &Snapshot,
    states: &States,
    host: &Host,
    family: Family,
    client: IpAddr,
    now: Moment,
    offered: Option<&[IpAddr]>,
) -> Choice {
    let mut domain = host.domain.lock();
    let weight = by_weight::weight_of(snapshot, snapshot.policy_of(host));
    if let Some(weight) = weight
        && offered.is_none()
    {
        let view = |domain| View::new(snapshot, states, host, domain, family, client, now);
        let tie = |left: &[usize]| break_tie(&view(&domain), left);
        if let Some(choice) = by_weight::choose(snapshot, host, &domain, family, weight, tie) {
            let chosen = choice.best.zip(choice.decision);
            let selection =
                chosen.map(|chosen| Selection::of(snapshot, host, &domain, family, chosen));
            domain.count(family, selection);
            return choice;
        }
    }
    let view = View::new(snapshot, states, host, &domain, family, client, now).among(offered);
    let (choice, change) = choose_unheard(&view);
    domain.apply(change);
    choice
}

/// Chooses, and nobody hears how. Apart, so that the short way has the registers to itself.
#[inline(never)]
fn choose_unheard(view: &View<'_>) -> (Choice, DomainChange) {
    choose(view, &mut ())
}

/// Picks one of several that weigh the same.
#[inline(never)]
fn break_tie(view: &View<'_>, left: &[usize]) -> (usize, Decision) {
    metric::break_tie(view, left, &mut ())
}

/// Chooses as [`select`] would, or as [`select_for_reply`] if addresses are offered, lets an observer
/// hear how, and counts nothing. The order is that of a reply of the appliance's own.
#[allow(clippy::too_many_arguments, reason = "what a choice depends on, and who listens")]
pub fn explain(
    snapshot: &Snapshot,
    states: &States,
    host: &Host,
    family: Family,
    offered: Option<&[IpAddr]>,
    client: IpAddr,
    now: Moment,
    observer: &mut impl Observer,
) -> (Choice, Candidates) {
    let choice = {
        let domain = host.domain.lock();
        let view = View::new(snapshot, states, host, &domain, family, client, now).among(offered);
        choose(&view, observer).0
    };
    (choice, arrange(snapshot.policy_of(host), host, family, choice))
}
