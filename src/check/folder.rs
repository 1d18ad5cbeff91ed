//! The files of a lab together: what each of them means once all appliances have reported.

use std::path::Path;
use std::sync::Arc;

use crate::check::lines::{Line, Standing};
use crate::check::rule::{Finding, REJECTED_LINE};
use crate::check::rules::lab::{LabSubject, Member, look};
use crate::check::{Checked, Read};
use crate::clock::{Clock, DrivenClock};
use crate::dns::Settings;
use crate::grammar::Grammar;
use crate::lab::{Files, Lab, LabError};

/// Checks the configurations and scenarios of a folder as those of one lab.
///
/// # Errors
///
/// A file cannot be read, or there is no configuration.
pub fn check_lab(grammar: &Arc<Grammar>, folder: &Path) -> Result<Vec<Checked>, LabError> {
    let Files { configurations, scenarios } = Files::read(grammar, folder)?;
    let clock: Arc<dyn Clock> = Arc::new(DrivenClock::new());
    let lab = Lab::of(grammar, &clock, Settings::default(), configurations.clone());
    let scenarios: Vec<Checked> = scenarios
        .iter()
        .map(|(name, text)| scenario(&path_of(folder, name), text, &lab.play(name, text)))
        .collect();
    let mut members = Vec::with_capacity(configurations.len());
    let mut files = Vec::with_capacity(configurations.len() + scenarios.len());
    for (member, (name, text)) in lab.members().iter().zip(&configurations) {
        let snapshot = Arc::clone(&member.responder.appliance.current());
        let file = format!("{name}.{}", Lab::CONFIGURATION);
        let path = path_of(folder, &file);
        let (checked, places) =
            Read::new(grammar, text).with_meaning(grammar, &path, text, &snapshot);
        files.push(checked);
        members.push(Member { name: file, snapshot, places });
    }
    for (place, rule, found) in look(&LabSubject { grammar, members: &members }) {
        files[place].findings.push(found.of(rule));
    }
    for file in &mut files {
        file.settle();
    }
    files.extend(scenarios);
    Ok(files)
}

fn path_of(folder: &Path, name: &str) -> String {
    folder.join(name).to_string_lossy().into_owned()
}

/// A scenario: every line is a command, and one that is answered is taken as refused.
fn scenario(name: &str, text: &str, answers: &[(usize, String)]) -> Checked {
    let mut answers = answers.iter().peekable();
    let mut findings = Vec::new();
    let lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| {
            let column = line.chars().take_while(|one| one.is_whitespace()).count() + 1;
            let content = line.trim_ascii();
            let mut told =
                Line { standing: Standing::Modelled, column, command: None, reason: None };
            if content.is_empty() || content.starts_with('!') {
                told.standing = Standing::Silent;
            }
            if let Some((_, answer)) = answers.next_if(|(number, _)| *number == index + 1) {
                told.standing = Standing::Rejected;
                told.reason = Some(answer.clone());
                let (line, message) = (index + 1, answer.clone());
                findings.push(Finding { rule: &REJECTED_LINE, line, column, message });
            }
            told
        })
        .collect();
    Checked { name: name.to_owned(), source: text.to_owned(), lines, findings }
}
