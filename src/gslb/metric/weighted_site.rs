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
        figure(view, position, site, same)
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
        for ((site, out), &position) in sites.iter_mut().zip(figures.iter_mut()).zip(candidates) {
            let of_candidate = site_of(view, position);
            *site = of_candidate.map_or(NO_SITE, |site| site.0);
            *out = figure(view, position, of_candidate, 0);
        }
        for (out, site) in figures.iter_mut().zip(sites.iter()) {
            out.shared_by = sites.iter().map(|other| u32::from(other == site)).sum();
        }
    }

    fn test(_view: &View<'_>, figures: &[RelativeWeight]) -> impl Fn(RelativeWeight) -> bool {
        RelativeWeight::least(figures)
    }

    fn tell(figure: RelativeWeight) -> Figure {
        figure.tell()
    }
}

fn site_of(view: &View<'_>, position: usize) -> Option<SiteId> {
    view.snapshot.owner_of(view.address(position)).map(|server| server.site)
}

/// The figure of a candidate whose site has so many of them. Only candidates that reached the
/// metric share the weight (decisions 4.3).
fn figure(
    view: &View<'_>,
    position: usize,
    site: Option<SiteId>,
    shared_by: usize,
) -> RelativeWeight {
    RelativeWeight {
        selections: view.selections(position),
        weight: site.map_or(0, |site| view.snapshot.sites[site.index()].weight.into()),
        shared_by: u32::try_from(shared_by).unwrap_or(u32::MAX),
    }
}
