//! Weighted site: as weighted IP, with the weight of the site spread over its candidates
//! (guide p. 42 to 44). A real address has no site and weighs 0.

use super::relative_weight::RelativeWeight;
use super::{FEW, Rule};
use crate::gslb::choose::View;
use crate::gslb::observe::Figure;
use crate::model::snapshot::SiteId;

pub(super) struct WeightedSite;

/// Stands for the site of a real address; a list of sites is never so long.
const NO_SITE: u32 = u32::MAX;

impl Rule for WeightedSite {
    type Figure = RelativeWeight;

    fn figure(view: &View<'_>, position: usize, candidates: &[usize]) -> RelativeWeight {
        let site = site_of(view, position);
        let same = candidates.iter().filter(|&&other| site_of(view, other) == site).count();
        figure(view, position, site, u32::try_from(same).unwrap_or(u32::MAX))
    }

    fn figures(view: &View<'_>, candidates: &[usize], figures: &mut [RelativeWeight]) {
        let (mut few, mut many);
        let sites: &mut [u32] = if candidates.len() <= FEW {
            few = [NO_SITE; FEW];
            &mut few[..candidates.len()]
        } else {
            many = vec![NO_SITE; candidates.len()];
            &mut many
        };
        for (place, &position) in candidates.iter().enumerate() {
            let site = site_of(view, position);
            let id = site.map_or(NO_SITE, |site| site.0);
            let mut shared_by = 1;
            for (other, earlier) in sites[..place].iter().zip(figures.iter_mut()) {
                if *other == id {
                    earlier.shared_by += 1;
                    shared_by += 1;
                }
            }
            sites[place] = id;
            figures[place] = figure(view, position, site, shared_by);
        }
    }

    fn test(_view: &View<'_>, figures: &[RelativeWeight]) -> impl Fn(RelativeWeight) -> bool {
        RelativeWeight::least(figures)
    }

    fn tell(figure: RelativeWeight) -> Figure {
        figure.tell()
    }
}

#[inline]
fn site_of(view: &View<'_>, position: usize) -> Option<SiteId> {
    view.snapshot.owner_of(view.address(position)).map(|server| server.site)
}

/// The figure of a candidate whose site has so many of them. Only candidates that reached the
/// metric share the weight (decisions 4.3).
#[inline]
fn figure(
    view: &View<'_>,
    position: usize,
    site: Option<SiteId>,
    shared_by: u32,
) -> RelativeWeight {
    RelativeWeight {
        selections: view.selections(position),
        weight: site.map_or(0, |site| view.snapshot.sites[site.index()].weight.into()),
        shared_by,
    }
}
