//! The metrics, one to a file, and the tie-breakers.
//!
//! A metric is a `Rule`: it has a figure for each candidate and a test that says which figures
//! stay. It sees only the candidates that the metrics before it left over.

mod active_bindings;
mod capacity;
mod connection_load;
mod flashback;
mod geographic;
mod health_check;
mod least_response;
mod num_session;
mod preference;
mod relative_weight;
mod reported;
mod round_robin;
mod round_trip_time;
mod weighted_ip;
mod weighted_round_robin;
mod weighted_site;

use self::active_bindings::ActiveBindings;
pub use self::active_bindings::active_bindings;
use self::capacity::Capacity;
use self::connection_load::ConnectionLoad;
use self::flashback::Flashback;
use self::geographic::Geographic;
pub use self::geographic::client_region;
use self::health_check::HealthCheck;
pub(super) use self::least_response::least_selected;
use self::num_session::NumSession;
use self::preference::Preference;
pub(super) use self::relative_weight::RelativeWeight;
use self::round_trip_time::RoundTripTime;
pub(super) use self::round_trip_time::explore;
use self::weighted_ip::WeightedIp;
use self::weighted_site::WeightedSite;
use smallvec::SmallVec;

use crate::gslb::choose::View;
use crate::gslb::domain::Decision;
use crate::gslb::observe::{Figure, Observer, Skip};
use crate::model::policy::{Metric, TieBreaker};

/// What a metric looks at, and who stays.
trait Rule {
    /// What the metric knows about one candidate.
    type Figure: Copy + Default;

    /// Why the metric does not look at this question at all, if so.
    fn skip(view: &View<'_>) -> Option<Skip> {
        let _ = view;
        None
    }

    /// The figure of the candidate at `position`; `candidates` are all that reached the metric.
    fn figure(view: &View<'_>, position: usize, candidates: &[usize]) -> Self::Figure;

    /// Finds out the figures of all candidates, in their order, each in its place of `figures`,
    /// which is as long; for rules that can do it together.
    fn figures(view: &View<'_>, candidates: &[usize], figures: &mut [Self::Figure]) {
        for (figure, &position) in figures.iter_mut().zip(candidates) {
            *figure = Self::figure(view, position, candidates);
        }
    }

    /// The test that each figure must pass, made from all of them; they are never empty.
    fn test(view: &View<'_>, figures: &[Self::Figure]) -> impl Fn(Self::Figure) -> bool;

    /// The figure as an observer hears it.
    fn tell(figure: Self::Figure) -> Figure;
}

/// Candidates whose figures take no allocation.
const FEW: usize = 8;

/// Applies one metric: moves the candidates that pass to the front, in their order, and says how many
/// they are.
#[must_use]
pub(super) fn apply<O: Observer>(
    metric: Metric,
    view: &View<'_>,
    candidates: &mut [usize],
    observer: &mut O,
) -> usize {
    match metric {
        // The usual case, and nobody wants to hear of it.
        Metric::HealthCheck if !O::LISTENS && health_check::all_pass(view, candidates) => {
            candidates.len()
        }
        Metric::HealthCheck => sift::<HealthCheck, _>(metric, view, candidates, observer),
        Metric::WeightedIp => sift::<WeightedIp, _>(metric, view, candidates, observer),
        Metric::WeightedSite => sift::<WeightedSite, _>(metric, view, candidates, observer),
        Metric::Capacity => sift::<Capacity, _>(metric, view, candidates, observer),
        Metric::ConnectionLoad => sift::<ConnectionLoad, _>(metric, view, candidates, observer),
        Metric::ActiveBindings => sift::<ActiveBindings, _>(metric, view, candidates, observer),
        Metric::Flashback => sift::<Flashback, _>(metric, view, candidates, observer),
        Metric::RoundTripTime => sift::<RoundTripTime, _>(metric, view, candidates, observer),
        Metric::Geographic => sift::<Geographic, _>(metric, view, candidates, observer),
        Metric::NumSession => sift::<NumSession, _>(metric, view, candidates, observer),
        Metric::Preference => sift::<Preference, _>(metric, view, candidates, observer),
    }
}

/// The weights by which a metric deals its choices out, one for each candidate; `None`: it deals
/// nothing out, because it is not of that kind or nobody has a weight.
///
/// A weight that several candidates share stands beside the number of them.
pub(super) fn proportions(
    metric: Metric,
    view: &View<'_>,
    candidates: &[usize],
) -> Option<Proportions> {
    let of = |weight: relative_weight::RelativeWeight| (weight.weight, weight.shared_by.max(1));
    let each = candidates.iter();
    let proportions: Proportions = match metric {
        Metric::WeightedIp => {
            each.map(|&one| of(WeightedIp::figure(view, one, candidates))).collect()
        }
        Metric::WeightedSite => {
            each.map(|&one| of(WeightedSite::figure(view, one, candidates))).collect()
        }
        Metric::ActiveBindings if view.policy().weighted_selection => {
            each.map(|&one| of(ActiveBindings::figure(view, one, candidates))).collect()
        }
        Metric::ActiveBindings
        | Metric::HealthCheck
        | Metric::Capacity
        | Metric::RoundTripTime
        | Metric::Geographic
        | Metric::ConnectionLoad
        | Metric::NumSession
        | Metric::Flashback
        | Metric::Preference => return None,
    };
    proportions.iter().any(|(weight, _)| *weight > 0).then_some(proportions)
}

/// The weights by which the tie-breaker deals its choices out; everybody weighs the same unless the
/// sites have turns in proportion to their weights.
pub(super) fn tie_proportions(view: &View<'_>, candidates: &[usize]) -> Proportions {
    let weighted = match view.policy().tie_breaker {
        TieBreaker::WeightedRoundRobin => proportions(Metric::WeightedSite, view, candidates),
        TieBreaker::LeastResponse | TieBreaker::RoundRobin => None,
    };
    weighted.unwrap_or_else(|| candidates.iter().map(|_| (1, 1)).collect())
}

/// A weight and how many candidates share it, in the order of the candidates.
pub(super) type Proportions = SmallVec<[(u32, u32); FEW]>;

/// Picks one of several candidates; `candidates` is never empty.
pub(super) fn break_tie(
    view: &View<'_>,
    candidates: &[usize],
    observer: &mut impl Observer,
) -> (usize, Decision) {
    let tie_breaker = view.policy().tie_breaker;
    let best = match tie_breaker {
        TieBreaker::LeastResponse => least_response::pick(view, candidates, observer),
        TieBreaker::RoundRobin => {
            round_robin::pick(view, candidates, TieBreaker::RoundRobin.into(), observer)
        }
        TieBreaker::WeightedRoundRobin => weighted_round_robin::pick(view, candidates, observer),
    };
    (best, tie_breaker.into())
}

/// Whether a metric may leave nobody, so that there is no best; others then pass everybody on.
const fn may_leave_nobody(metric: Metric) -> bool {
    match metric {
        Metric::HealthCheck | Metric::Preference => true,
        Metric::WeightedIp
        | Metric::WeightedSite
        | Metric::Capacity
        | Metric::ActiveBindings
        | Metric::RoundTripTime
        | Metric::Geographic
        | Metric::ConnectionLoad
        | Metric::NumSession
        | Metric::Flashback => false,
    }
}

fn sift<R: Rule, O: Observer>(
    metric: Metric,
    view: &View<'_>,
    candidates: &mut [usize],
    observer: &mut O,
) -> usize {
    if let Some(reason) = R::skip(view) {
        observer.skipped(metric.into(), reason);
        return candidates.len();
    }
    let (mut few, mut many);
    let figures: &mut [R::Figure] = if candidates.len() <= FEW {
        few = [R::Figure::default(); FEW];
        &mut few[..candidates.len()]
    } else {
        many = vec![R::Figure::default(); candidates.len()];
        &mut many
    };
    R::figures(view, candidates, figures);
    let figures = &*figures;
    let passes = R::test(view, figures);
    if O::LISTENS {
        let all_stay = !may_leave_nobody(metric) && !figures.iter().any(|&figure| passes(figure));
        for (&figure, &position) in figures.iter().zip(candidates.iter()) {
            observer.judged(metric.into(), position, R::tell(figure), all_stay || passes(figure));
        }
    }
    let mut left = 0;
    for (place, &figure) in figures.iter().enumerate() {
        if passes(figure) {
            candidates[left] = candidates[place];
            left += 1;
        }
    }
    if left == 0 && !may_leave_nobody(metric) {
        // Nobody was moved.
        observer.skipped(metric.into(), Skip::NobodyPasses);
        return candidates.len();
    }
    left
}
