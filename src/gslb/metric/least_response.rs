//! Least response: the candidate that was chosen least often for this domain; the first in the
//! list among equals (guide p. 36; `gslb-config.md` 3.13).

use smallvec::SmallVec;

use crate::gslb::choose::View;
use crate::gslb::domain::Decision;
use crate::gslb::observe::{Figure, Observer};

/// Picks the candidate that was chosen least often; `candidates` is never empty.
pub(super) fn pick(view: &View<'_>, candidates: &[usize], observer: &mut impl Observer) -> usize {
    let all = candidates.iter().copied();
    least_selected(view, all, Decision::LeastResponse, observer).unwrap_or(candidates[0])
}

/// The one of these that was chosen least often, if there is any.
pub(in crate::gslb) fn least_selected(
    view: &View<'_>,
    candidates: impl Iterator<Item = usize>,
    by: Decision,
    observer: &mut impl Observer,
) -> Option<usize> {
    let counted: SmallVec<[(usize, u64); 8]> =
        candidates.map(|position| (position, view.selections(position))).collect();
    let (best, _) = *counted.iter().min_by_key(|(_, selections)| *selections)?;
    for &(position, selections) in &counted {
        observer.judged(by, position, Figure::Selections(selections), position == best);
    }
    Some(best)
}
