//! Least response: the candidate that was chosen least often for this domain; the first in the
//! list among equals (guide p. 36; `gslb-config.md` 3.13).

use crate::gslb::choose::View;
use crate::gslb::domain::Decision;
use crate::gslb::observe::{Figure, Observer};

/// Picks the candidate that was chosen least often; `candidates` is never empty.
pub(super) fn pick(view: &View<'_>, candidates: &[usize], observer: &mut impl Observer) -> usize {
    let all = candidates.iter().copied();
    least_selected(view, all, Decision::LeastResponse, observer).unwrap_or(candidates[0])
}

/// The one of these that was chosen least often, if there is any.
pub(in crate::gslb) fn least_selected<O: Observer>(
    view: &View<'_>,
    candidates: impl Iterator<Item = usize> + Clone,
    by: Decision,
    observer: &mut O,
) -> Option<usize> {
    let best = candidates.clone().min_by_key(|&position| view.selections(position))?;
    if O::LISTENS {
        for position in candidates {
            let figure = Figure::Selections(view.selections(position));
            observer.judged(by, position, figure, position == best);
        }
    }
    Some(best)
}
