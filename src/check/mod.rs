//! `adxemu check`: what the emulator makes of a configuration, line by line, and what its author
//! should look at.
//!
//! [`check`] reads one configuration as the appliance would and listens to the loader; then every
//! rule of [`rule::RULES`] looks at the whole. [`check_lab`] does the same with those of a lab, each of
//! which then means what it means with the reports of the others. The results are plain data, which [`text`], [`json`]
//! and [`sarif`] write down.

mod folder;
pub mod json;
pub mod lines;
mod paste;
pub mod places;
pub mod rule;
mod rules;
pub mod sarif;
pub mod text;

use std::sync::Arc;

use crate::appliance::Appliance;
use crate::check::lines::{Line, Lines, Standing};
use crate::check::paste::Paste;
use crate::check::places::Places;
use crate::check::rule::{Finding, RULES, Severity, Subject};
use crate::check::rules::references::unknown_names;
use crate::clock::DrivenClock;
use crate::config::edit::Trees;
use crate::config::load;
use crate::grammar::Grammar;
use crate::model::snapshot::Snapshot;

pub use folder::check_lab;

/// What was found in one file.
#[derive(Debug)]
pub struct Checked {
    /// Name of the file, as it was given.
    pub name: String,
    /// Every line of it, in order.
    pub lines: Vec<Line>,
    /// What its author should look at, in the order of the lines.
    pub findings: Vec<Finding>,
}

/// How many lines of each kind there are, and how many findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Lines of the files.
    pub lines: usize,
    /// Lines on which nothing stands, or only a comment.
    pub silent: usize,
    /// Lines that change what the emulator does.
    pub modelled: usize,
    /// Lines that are stored, checked and printed, without effect.
    pub kept: usize,
    /// Lines that are taken and forgotten.
    pub accepted: usize,
    /// Lines that the emulator does not know and keeps as they are.
    pub opaque: usize,
    /// Lines that were put aside.
    pub rejected: usize,
    /// Findings of severity error.
    pub errors: usize,
    /// Findings of severity warning.
    pub warnings: usize,
    /// Findings of severity note.
    pub notes: usize,
}

/// Checks one configuration. `name` is only carried along.
pub fn check(grammar: &Arc<Grammar>, name: &str, text: &str) -> Checked {
    let read = Read::new(grammar, text);
    // The meaning of the lines is what the appliance itself makes of them.
    let appliance = Appliance::new(Arc::clone(grammar), Arc::new(DrivenClock::new()), None);
    appliance.start_with(text);
    let snapshot = appliance.current();
    read.with_meaning(grammar, name, &snapshot).0
}

/// What was heard while a file was read.
struct Read {
    lines: Vec<Line>,
    places: Places,
    findings: Vec<Finding>,
}

impl Read {
    fn new(grammar: &Arc<Grammar>, text: &str) -> Self {
        let mut listeners = (Lines::new(grammar), Paste::new(grammar));
        let mut trees = Trees::default();
        load::load_heard(grammar, &mut trees, text, &mut listeners);
        let (Lines { lines, places, mut findings, .. }, paste) = listeners;
        findings.extend(unknown_names(grammar, &trees.configuration, &places));
        findings.extend(paste.compare(&mut trees));
        Read { lines, places, findings }
    }

    /// Adds what the rules about a whole configuration find.
    fn with_meaning(self, grammar: &Grammar, name: &str, snapshot: &Snapshot) -> (Checked, Places) {
        let Read { lines, places, mut findings } = self;
        let subject = Subject { grammar, snapshot, places: &places };
        for rule in RULES {
            if let Some(look) = rule.look {
                findings.extend(look(&subject).into_iter().map(|found| found.of(rule)));
            }
        }
        let mut checked = Checked { name: name.to_owned(), lines, findings };
        checked.sort();
        (checked, places)
    }
}

impl Checked {
    /// Brings the findings into the order of the lines.
    fn sort(&mut self) {
        // Stable: what one rule says of a line stays together.
        self.findings.sort_by_key(|finding| (finding.line, finding.column));
    }

    /// The counts of this file.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary { lines: self.lines.len(), ..Summary::default() };
        for line in &self.lines {
            *match line.standing {
                Standing::Silent => &mut summary.silent,
                Standing::Modelled => &mut summary.modelled,
                Standing::Kept => &mut summary.kept,
                Standing::Accepted => &mut summary.accepted,
                Standing::Opaque => &mut summary.opaque,
                Standing::Rejected => &mut summary.rejected,
            } += 1;
        }
        for finding in &self.findings {
            *match finding.rule.severity {
                Severity::Error => &mut summary.errors,
                Severity::Warning => &mut summary.warnings,
                Severity::Note => &mut summary.notes,
            } += 1;
        }
        summary
    }

    /// The gravest severity of its findings.
    pub fn gravest(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.rule.severity).max()
    }
}

impl Summary {
    /// The counts of several files together.
    pub fn of(files: &[Checked]) -> Self {
        files.iter().map(Checked::summary).fold(Summary::default(), |sum, one| Summary {
            lines: sum.lines + one.lines,
            silent: sum.silent + one.silent,
            modelled: sum.modelled + one.modelled,
            kept: sum.kept + one.kept,
            accepted: sum.accepted + one.accepted,
            opaque: sum.opaque + one.opaque,
            rejected: sum.rejected + one.rejected,
            errors: sum.errors + one.errors,
            warnings: sum.warnings + one.warnings,
            notes: sum.notes + one.notes,
        })
    }
}
