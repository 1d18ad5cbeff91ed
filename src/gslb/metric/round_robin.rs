//! Round robin: the first surviving address after the one selected last for this domain and
//! family, by whatever means, in the order of the list and around its end (decisions 4.2).
//!
//! If the address selected last is no longer in the list, the rotation goes on at the place where
//! it stood, so that its successor is not passed over.

use crate::gslb::choose::View;
use crate::gslb::domain::Decision;
use crate::gslb::observe::{Figure, Observer};

/// Picks the next candidate in turn; `candidates` is never empty.
pub(super) fn pick(
    view: &View<'_>,
    candidates: &[usize],
    by: Decision,
    observer: &mut impl Observer,
) -> usize {
    let next = first_from(candidates, start(view));
    for (index, &position) in candidates.iter().enumerate() {
        let turn = (index + candidates.len() - next) % candidates.len();
        let figure = Figure::Turn(u32::try_from(turn).unwrap_or(u32::MAX));
        observer.judged(by, position, figure, turn == 0);
    }
    candidates[next]
}

/// The position in `host.addresses` at which the search for the next address begins.
pub(super) fn start(view: &View<'_>) -> usize {
    let rotation = view.domain.rotation[view.family.index()];
    let Some(last) = rotation.last else { return 0 };
    match view.host.addresses.iter().position(|address| address.ip == last) {
        Some(position) => position + 1,
        None => view.host.positions(view.family).nth(rotation.place as usize).unwrap_or(0),
    }
}

/// The index of the first candidate at or after a position, around the end of the list.
pub(super) fn first_from(candidates: &[usize], start: usize) -> usize {
    candidates.iter().position(|&position| position >= start).unwrap_or(0)
}
