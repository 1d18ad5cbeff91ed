//! Weighted round robin: each site as often in a row as its weight, divided by the greatest common
//! divisor of the weights, says; inside a site its addresses take turns (an extension of ours,
//! `selection-pipeline.md`).
//!
//! The choice stays with the site of the last selection while that site survives and its run is
//! shorter than its share; then the next site has its turn. Sites stand in the order in which they
//! first appear in the address list. A real address has no site and weighs 0. If nobody has a
//! weight, it is plain round robin.

use smallvec::SmallVec;

use super::round_robin;
use crate::gslb::choose::{Candidates, View};
use crate::gslb::domain::Decision;
use crate::gslb::observe::{Figure, Observer};
use crate::model::snapshot::SiteId;

/// Picks the next candidate in turn; `candidates` is never empty.
pub(super) fn pick(view: &View<'_>, candidates: &[usize], observer: &mut impl Observer) -> usize {
    let weighted: Candidates =
        candidates.iter().copied().filter(|&position| weight(view, position) > 0).collect();
    if weighted.is_empty() {
        return round_robin::pick(view, candidates, Decision::WeightedRoundRobin, observer);
    }
    let best = next_of_site(view, &weighted, turn(view, &weighted));
    let rotation = view.domain.rotation[view.family.index()];
    let (last, divisor) =
        (rotation.site_of_last(view.snapshot, view.host), divisor(view, &weighted));
    for &position in candidates {
        let weight = weight(view, position);
        let is_last = last.is_some() && site(view, position) == last;
        let run = if is_last { rotation.run } else { 0 };
        let figure = Figure::SiteRun { weight, run, share: weight / divisor };
        observer.judged(Decision::WeightedRoundRobin, position, figure, position == best);
    }
    best
}

/// The site whose turn it is, among the sites of `weighted`.
fn turn(view: &View<'_>, weighted: &[usize]) -> Option<SiteId> {
    let rotation = view.domain.rotation[view.family.index()];
    let Some(last) = rotation.site_of_last(view.snapshot, view.host) else {
        // Nobody was selected yet, or no site can be told from it: go on where it stood.
        let next = round_robin::first_from(weighted, round_robin::start(view));
        return site(view, weighted[next]);
    };
    let survivor = weighted.iter().copied().find(|&position| site(view, position) == Some(last));
    if let Some(position) = survivor
        && rotation.run < weight(view, position) / divisor(view, weighted)
    {
        return Some(last);
    }
    // The sites of the whole list, so that one which is down keeps its place in the order.
    let mut order: SmallVec<[SiteId; 8]> = SmallVec::new();
    for position in view.host.positions(view.family) {
        if let Some(site) = site(view, position)
            && !order.contains(&site)
        {
            order.push(site);
        }
    }
    let place = order.iter().position(|&site| site == last).map_or(0, |place| place + 1);
    let (before, after) = order.split_at(place);
    let mut round = after.iter().chain(before);
    round
        .find(|&&next| weighted.iter().any(|&position| site(view, position) == Some(next)))
        .copied()
}

/// The candidate of this site that comes after the address of the site that was selected last.
fn next_of_site(view: &View<'_>, weighted: &[usize], turn: Option<SiteId>) -> usize {
    let of_site: Candidates =
        weighted.iter().copied().filter(|&position| site(view, position) == turn).collect();
    let last = view
        .host
        .positions(view.family)
        .filter(|&position| site(view, position) == turn)
        .map(|position| (view.tally(position).map_or(0, |tally| tally.selected_at), position))
        .filter(|(selected_at, _)| *selected_at > 0)
        .max();
    let start = last.map_or(0, |(_, position)| position + 1);
    of_site[round_robin::first_from(&of_site, start)]
}

/// The greatest common divisor of the weights of these, which are not 0.
fn divisor(view: &View<'_>, weighted: &[usize]) -> u32 {
    weighted.iter().map(|&position| weight(view, position)).fold(0, gcd)
}

fn site(view: &View<'_>, position: usize) -> Option<SiteId> {
    view.snapshot.owner_of(view.address(position)).map(|server| server.site)
}

fn weight(view: &View<'_>, position: usize) -> u32 {
    view.site(position).map_or(0, |site| site.weight.into())
}

fn gcd(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { gcd(other, one % other) }
}
