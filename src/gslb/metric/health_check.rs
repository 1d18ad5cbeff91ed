//! Server health: every check of every application of the host must pass (guide p. 35).

use super::Rule;
use crate::gslb::choose::View;
use crate::gslb::observe::Figure;

pub(super) struct HealthCheck;

/// Whether there is nobody to take away.
pub(super) fn all_pass(view: &View<'_>, candidates: &[usize]) -> bool {
    candidates.iter().all(|&position| view.host.is_healthy(view.address(position)))
}

impl Rule for HealthCheck {
    type Figure = bool;

    fn figure(view: &View<'_>, position: usize, _candidates: &[usize]) -> bool {
        view.host.is_healthy(view.address(position))
    }

    fn test(_view: &View<'_>, _figures: &[bool]) -> impl Fn(bool) -> bool {
        |healthy| healthy
    }

    fn tell(healthy: bool) -> Figure {
        Figure::Healthy(healthy)
    }
}
