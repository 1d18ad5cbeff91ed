//! Weighted site: as weighted IP, with the weight of the site spread over its candidates
//! (guide p. 42 to 44). A real address has no site and weighs 0.

use super::Rule;
use super::relative_weight::RelativeWeight;
use crate::gslb::choose::View;
use crate::gslb::observe::Figure;

pub(super) struct WeightedSite;

impl Rule for WeightedSite {
    type Figure = RelativeWeight;

    fn figure(view: &View<'_>, position: usize, candidates: &[usize]) -> RelativeWeight {
        let site_of =
            |position| view.snapshot.owner_of(view.address(position)).map(|server| server.site);
        let site = site_of(position);
        // Only candidates that reached the metric share the weight (decisions 4.3).
        let shared_by = candidates.iter().filter(|&&other| site_of(other) == site).count();
        RelativeWeight {
            selections: view.selections(position),
            weight: view.site(position).map_or(0, |site| site.weight.into()),
            shared_by: u32::try_from(shared_by).unwrap_or(u32::MAX),
        }
    }

    fn test(_view: &View<'_>, figures: &[RelativeWeight]) -> impl Fn(RelativeWeight) -> bool {
        RelativeWeight::least(figures)
    }

    fn tell(figure: RelativeWeight) -> Figure {
        figure.tell()
    }
}
