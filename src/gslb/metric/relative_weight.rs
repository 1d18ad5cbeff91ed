//! How often a candidate was chosen against the share that its weight gives it.
//!
//! The candidate with the least `selections / weight` stays (guide p. 41, 43). Weight 0 is never
//! chosen, unless all weights are 0: then everybody stays.

use std::cmp::Ordering;

use crate::gslb::observe::Figure;

/// The relative weight of one candidate, kept as a fraction.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::gslb) struct RelativeWeight {
    /// Times it was chosen for this domain.
    pub(in crate::gslb) selections: u64,
    /// Configured weight.
    pub(in crate::gslb) weight: u32,
    /// Candidates that share this weight, at least 1.
    pub(in crate::gslb) shared_by: u32,
}

impl RelativeWeight {
    /// The test that the least relative weights pass.
    pub(super) fn least(figures: &[RelativeWeight]) -> impl Fn(RelativeWeight) -> bool + use<> {
        let least = figures
            .iter()
            .copied()
            .filter(|figure| figure.weight > 0)
            .min_by(|one, other| one.compare(*other));
        move |figure| match least {
            Some(least) => figure.weight > 0 && figure.compare(least) == Ordering::Equal,
            None => true,
        }
    }

    /// The figure as an observer hears it.
    pub(super) fn tell(self) -> Figure {
        Figure::RelativeWeight {
            selections: self.selections,
            weight: self.weight,
            shared_by: self.shared_by,
        }
    }

    /// Compares `selections * shared_by / weight` without dividing. Every product fits 128 bits.
    #[inline]
    pub(in crate::gslb) fn compare(self, other: RelativeWeight) -> Ordering {
        let product = |one: RelativeWeight, weight: u32| {
            u128::from(one.selections) * u128::from(u64::from(one.shared_by) * u64::from(weight))
        };
        product(self, other.weight).cmp(&product(other, self.weight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_figures_are_compared_without_overflow() {
        let figures = [
            RelativeWeight { selections: u64::MAX, weight: u32::MAX, shared_by: u32::MAX },
            RelativeWeight { selections: u64::MAX - 1, weight: u32::MAX, shared_by: u32::MAX },
        ];
        let passes = RelativeWeight::least(&figures);
        assert!(!passes(figures[0]));
        assert!(passes(figures[1]));
    }

    #[test]
    fn everybody_stays_when_all_weights_are_zero() {
        let idle = RelativeWeight { selections: 0, weight: 0, shared_by: 1 };
        let busy = RelativeWeight { selections: 9, weight: 0, shared_by: 1 };
        let passes = RelativeWeight::least(&[idle, busy]);
        assert!(passes(idle) && passes(busy));
    }
}
