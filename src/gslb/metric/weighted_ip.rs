//! Weighted IP: selections of an address against its weight (guide p. 40 to 42).

use super::Rule;
use super::relative_weight::RelativeWeight;
use crate::gslb::choose::View;
use crate::gslb::observe::Figure;

pub(super) struct WeightedIp;

impl Rule for WeightedIp {
    type Figure = RelativeWeight;

    fn figure(view: &View<'_>, position: usize, _candidates: &[usize]) -> RelativeWeight {
        RelativeWeight {
            selections: view.selections(position),
            weight: view.address(position).weight.unwrap_or(0).into(),
            shared_by: 1,
        }
    }

    fn test(_view: &View<'_>, figures: &[RelativeWeight]) -> impl Fn(RelativeWeight) -> bool {
        RelativeWeight::least(figures)
    }

    fn tell(figure: RelativeWeight) -> Figure {
        figure.tell()
    }
}
