//! Findings for people.
//!
//! One line for each finding, as compilers write them: `FILE:LINE:COLUMN: severity: message
//! [rule]`. Notes of one rule on lines that follow one another are drawn together, since a real
//! configuration is mostly lines that are only kept.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::check::rule::{Finding, Severity};
use crate::check::{Checked, Summary};

/// Writes findings and counts. Where no colour is wanted the writer takes it out again.
///
/// # Errors
///
/// Those of the writer.
pub fn write(files: &[Checked], out: &mut dyn Write) -> io::Result<()> {
    for file in files {
        let mut rest = file.findings.as_slice();
        while let Some(first) = rest.first() {
            let run = run_length(rest);
            finding(&file.name, first, run, out)?;
            rest = &rest[run..];
        }
    }
    for file in files {
        counts(&file.name, &file.summary(), out)?;
    }
    if files.len() > 1 {
        counts("all files", &Summary::of(files), out)?;
    }
    Ok(())
}

/// How many findings at the beginning are drawn together.
fn run_length(findings: &[Finding]) -> usize {
    let first = &findings[0];
    if first.rule.severity != Severity::Note {
        return 1;
    }
    let follows = |pair: &[Finding]| {
        pair[1].rule == first.rule && (pair[0].line..=pair[0].line + 1).contains(&pair[1].line)
    };
    1 + findings.windows(2).take_while(|pair| follows(pair)).count()
}

fn finding(name: &str, first: &Finding, run: usize, out: &mut dyn Write) -> io::Result<()> {
    let bold = Style::new().bold();
    let style = style_of(first.rule.severity);
    let severity = first.rule.severity.name();
    let rule = first.rule.name;
    let (line, column) = (first.line, first.column);
    write!(out, "{bold}{name}:{line}:{column}:{bold:#} {style}{severity}:{style:#} ")?;
    if run > 1 {
        writeln!(out, "{run} lines from here on: {} [{rule}]", first.rule.summary)
    } else {
        writeln!(out, "{} [{rule}]", first.message)
    }
}

fn style_of(severity: Severity) -> Style {
    match severity {
        Severity::Note => AnsiColor::Cyan.on_default(),
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
        Severity::Error => AnsiColor::Red.on_default().bold(),
    }
}

fn counts(name: &str, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Summary { lines, silent, modelled, kept, accepted, opaque, rejected, .. } = *summary;
    let Summary { errors, warnings, notes, .. } = *summary;
    writeln!(
        out,
        "{name}: {lines} lines: {modelled} modelled, {kept} kept, {accepted} accepted, \
         {opaque} opaque, {rejected} rejected, {silent} silent; \
         {errors} errors, {warnings} warnings, {notes} notes"
    )
}
