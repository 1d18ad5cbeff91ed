//! Least response: the candidate that was chosen least often for this domain; the first in the
//! list among equals (guide p. 36; `gslb-config.md` 3.13).

use crate::gslb::choose::View;
use crate::gslb::domain::Decision;
use crate::gslb::observe::{Figure, Observer};

/// Picks the candidate that was chosen least often; `candidates` is never empty.
pub(super) fn pick(view: &View<'_>, candidates: &[usize], observer: &mut impl Observer) -> usize {
    let (mut best, mut fewest) = (candidates[0], view.selections(candidates[0]));
    for &position in &candidates[1..] {
        let selections = view.selections(position);
        if selections < fewest {
            (best, fewest) = (position, selections);
        }
    }
    for &position in candidates {
        let figure = Figure::Selections(view.selections(position));
        observer.judged(Decision::LeastResponse, position, figure, position == best);
    }
    best
}
