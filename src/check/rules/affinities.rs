//! Affinities: which device the clients of a prefix prefer.

use crate::check::rule::{Found, Rule, Severity, Subject};
use crate::grammar::link::Kept;

/// An affinity for a device that is not there.
pub(in crate::check) static AFFINITY_WITHOUT_DEVICE: Rule = Rule {
    name: "affinity-without-device",
    severity: Severity::Warning,
    summary: "The site of an affinity has no such device, so its clients prefer nobody.",
    evidence: "GSLB guide p. 85, 86",
    look: Some(affinity_without_device),
};

fn affinity_without_device(subject: &Subject<'_>) -> Vec<Found> {
    let places = subject.places;
    // An affinity whose device is not there is not in the snapshot.
    let with_device: Vec<Option<usize>> = subject
        .snapshot
        .affinities
        .iter()
        .map(|affinity| match affinity.group {
            Some(group) => places.line(Kept::AffinityPrefer, &[&group, &affinity.clients]),
            None => places.line(Kept::AffinityPrefer, &[&affinity.clients]),
        })
        .collect();
    let mut lines: Vec<usize> = places
        .all(Kept::AffinityPrefer)
        .map(|entry| entry.line)
        .filter(|line| !with_device.contains(&Some(*line)))
        .collect();
    lines.sort_unstable();
    let message = "the site has no such device, so these clients prefer nobody";
    lines.into_iter().map(|line| Found::new(Some(line), message)).collect()
}
