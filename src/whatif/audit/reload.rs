//! What a reload loses or changes.

use similar::{ChangeTag, TextDiff};

use crate::config::edit::Trees;
use crate::config::load;
use crate::config::render::{self, Secrets};
use crate::model::snapshot::Snapshot;
use crate::whatif::subject::{Started, Subject};

/// Lines that are told one by one at most.
const MOST_LINES: usize = 50;

/// What a reload loses or changes.
pub(super) fn losses(subject: &Subject, started: &Started, snapshot: &Snapshot) -> Vec<String> {
    let mut losses = Vec::new();
    if let Some(original) = subject.original() {
        let configuration = original.configuration();
        let grammar = &original.grammar;
        let mut saved = Trees::default();
        load::load(grammar, &mut saved, &configuration.startup.text());
        let saved = render::body(grammar, &saved.configuration, Secrets::Masked);
        let running = render::body(grammar, &configuration.trees.configuration, Secrets::Masked);
        drop(configuration);
        losses.extend(unsaved(&saved, &running));
    }
    for line in &started.appliance().configuration().rejected {
        let reason = line.reason.lines().next().unwrap_or_default();
        losses.push(format!(
            "Line {} is refused whenever the file is read: {}: {reason}",
            line.line,
            line.text.trim()
        ));
    }
    losses.push(
        "All counts of selections: shares begin anew, and what counters had to catch up with is \
         forgotten."
            .to_owned(),
    );
    losses.push("The turn of every rotation, and the uptime.".to_owned());
    let uses = |what: fn(&crate::model::policy::Policy) -> bool| {
        snapshot.hosts.iter().filter(|host| what(snapshot.policy_of(host))).count()
    };
    let sticky = uses(|policy| policy.sticky.is_some());
    if sticky > 0 {
        losses.push(format!(
            "All sticky sessions of {sticky} hosts: clients may get another address."
        ));
    }
    let hashed = uses(|policy| policy.hash.is_some());
    if hashed > 0 {
        losses.push(format!(
            "The hash tables of {hashed} hosts: they are dealt anew among the addresses that are \
             healthy by then, and again as others come up during the hold-down time."
        ));
    }
    if snapshot.global_policy().metrics.contains(&crate::model::policy::Metric::RoundTripTime) {
        losses.push("Whatever was learned of clients: prefixes and round-trip times.".to_owned());
    }
    losses.push("The log buffer.".to_owned());
    losses
}

/// Lines that are not saved.
fn unsaved(saved: &str, running: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(saved, running);
    let mut lines: Vec<String> = diff
        .iter_all_changes()
        .filter_map(|change| {
            let line = change.value().trim_end();
            match change.tag() {
                ChangeTag::Equal => None,
                _ if line.trim() == "!" => None,
                ChangeTag::Insert => Some(format!("Not saved, lost at a reload: {}", line.trim())),
                ChangeTag::Delete => {
                    Some(format!("Saved, and back after a reload: {}", line.trim()))
                }
            }
        })
        .collect();
    let further = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    if further > 0 {
        lines.push(format!("{further} further lines that differ from what is saved."));
    }
    lines
}
