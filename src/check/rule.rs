//! The rules: each has a name, a severity, its evidence, and one function that looks.

use crate::check::places::Places;
use crate::check::rules::{addresses, affinities, device, lab, policies, references, servers};
use crate::grammar::Grammar;
use crate::model::snapshot::Snapshot;
use crate::names::named_enum;

named_enum! {
    /// How grave a finding is; the order is that of gravity.
    pub enum Severity {
        /// Worth knowing; nothing is wrong.
        Note = "note",
        /// It works, but hardly as its author means it.
        Warning = "warning",
        /// A line is lost.
        Error = "error",
    }
}

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// Its name, stable between releases.
    pub name: &'static str,
    /// How grave its findings are.
    pub severity: Severity,
    /// What it looks for, in one sentence.
    pub summary: &'static str,
    /// Where it is said that this is so.
    pub evidence: &'static str,
    /// What looks for it in a whole configuration; `None`: it is heard while the file is read, or is
    /// about several files.
    pub look: Option<fn(&Subject<'_>) -> Vec<Found>>,
}

/// Rules are one and the same if their names are.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// What a rule looks at.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The grammar that read it.
    pub grammar: &'a Grammar,
    /// The meaning of the configuration.
    pub snapshot: &'a Snapshot,
    /// Where each statement stands in the file.
    pub places: &'a Places,
}

/// Something that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The line, from 1; `None`: the file as a whole.
    pub line: Option<usize>,
    /// What is the matter, in one sentence.
    pub message: String,
}

impl Found {
    /// Something on a line.
    pub fn new(line: Option<usize>, message: impl Into<String>) -> Self {
        Found { line, message: message.into() }
    }

    /// Names the rule that found it.
    pub fn of(self, rule: &'static Rule) -> Finding {
        Finding { rule, line: self.line.unwrap_or(1), column: 1, message: self.message }
    }
}

/// Something that the author of a configuration should look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is the matter.
    pub message: String,
}

/// A line that the device would refuse.
pub static REJECTED_LINE: Rule = Rule {
    name: "rejected-line",
    severity: Severity::Error,
    summary: "The line is refused and put aside; all others count.",
    evidence: "decisions 7.1",
    look: None,
};

/// A weight that vanishes when the device restarts.
pub static WEIGHT_LOST: Rule = Rule {
    name: "weight-lost-at-reload",
    severity: Severity::Error,
    summary: "A weight of an address that no earlier line of the list names is refused at a reload.",
    evidence: "decisions 3.2; GSLB guide p. 42",
    look: None,
};

/// A line that is kept as it is.
pub static OPAQUE_LINE: Rule = Rule {
    name: "opaque-line",
    severity: Severity::Warning,
    summary: "The emulator does not know the line; it is kept as it is and printed in its place.",
    evidence: "decisions 7.1",
    look: None,
};

/// A line without effect.
pub static KEPT_LINE: Rule = Rule {
    name: "kept-line",
    severity: Severity::Note,
    summary: "The line is stored, checked and printed, but changes nothing that the emulator does.",
    evidence: "decisions 7.1",
    look: None,
};

/// A line that says what is said already.
pub static REPEATED_LINE: Rule = Rule {
    name: "repeated-line",
    severity: Severity::Warning,
    summary: "An earlier line says the same.",
    evidence: "decisions 1.7",
    look: None,
};

/// A line that takes the place of an earlier one.
pub static REPLACED_LINE: Rule = Rule {
    name: "replaced-line",
    severity: Severity::Warning,
    summary: "A later line for the same thing says something else, so this one does not count.",
    evidence: "decisions 1.7",
    look: None,
};

/// Two lines that exclude each other.
pub static EXCLUDED_LINE: Rule = Rule {
    name: "excluded-line",
    severity: Severity::Warning,
    summary: "A later line excludes this one (weighted-ip and weighted-site), which is dropped.",
    evidence: "decisions 3.4; GSLB guide p. 35",
    look: None,
};

/// Pasting differs from loading.
pub static PASTE_DIFFERS: Rule = Rule {
    name: "paste-differs",
    severity: Severity::Warning,
    summary: "Pasted at a prompt the file would end in another state than loaded from a file.",
    evidence: "decisions 7.1",
    look: None,
};

/// All rules, in the order in which they are listed.
pub static RULES: &[&Rule] = &[
    &REJECTED_LINE,
    &WEIGHT_LOST,
    &OPAQUE_LINE,
    &KEPT_LINE,
    &REPEATED_LINE,
    &REPLACED_LINE,
    &EXCLUDED_LINE,
    &PASTE_DIFFERS,
    &addresses::ADDRESS_IN_NO_SITE,
    &addresses::HOST_WITHOUT_ADDRESSES,
    &addresses::WEIGHT_WITHOUT_EFFECT,
    &policies::METRIC_WITHOUT_DATA,
    &policies::UNREACHABLE_METRIC,
    &policies::ACTIVE_ONLY_WITHOUT_OVERRIDE,
    &policies::UNUSED_POLICY,
    &affinities::AFFINITY_WITHOUT_DEVICE,
    &device::NO_DNS_VIP,
    &device::DEVICE_LIMIT,
    &servers::UNKNOWN_SERVER,
    &servers::UNKNOWN_HEALTH_POLICY,
    &servers::UNKNOWN_PORT_RANGE,
    &servers::UNBOUND_PORT,
    &servers::TRACKED_PORT_UNBOUND,
    &references::UNKNOWN_NAME,
    &references::UNKNOWN_ACCESS_LIST,
    &lab::NO_CONTROLLER,
    &lab::UNKNOWN_SITE_DEVICE,
    &lab::UNUSED_SITE_DEVICE,
    &lab::PROTOCOL_OFF,
    &lab::PROTOCOL_PORT_DIFFERS,
    &lab::ADDRESS_OF_TWO_DEVICES,
    &lab::VIP_OF_TWO_DEVICES,
    &lab::APPLICATION_NOT_AT_VIP,
    &lab::SAME_HOST_NAME,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_in_one_style() {
        for (place, rule) in RULES.iter().enumerate() {
            assert!(rule.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
            assert!(!rule.evidence.is_empty() && rule.summary.ends_with('.'), "{}", rule.name);
            assert!(RULES[..place].iter().all(|other| other.name != rule.name), "{}", rule.name);
        }
    }
}
