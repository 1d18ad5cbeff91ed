//! Findings for programs. `docs/check.md` specifies the document.

use std::io::{self, Write};

use serde::Serialize;

use crate::check::lines::Line;
use crate::check::rule::Finding;
use crate::check::{Checked, Summary};
use crate::grammar::Grammar;

/// Version of the document; it changes when a reader of the old one would fail.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    files: Vec<FileReport<'a>>,
    summary: Summary,
}

#[derive(Serialize)]
struct FileReport<'a> {
    file: &'a str,
    lines: Vec<LineReport<'a>>,
    findings: Vec<FindingReport<'a>>,
    summary: Summary,
}

#[derive(Serialize)]
struct LineReport<'a> {
    line: usize,
    column: usize,
    standing: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct FindingReport<'a> {
    rule: &'static str,
    severity: &'static str,
    line: usize,
    column: usize,
    message: &'a str,
    evidence: &'static str,
}

/// Writes one JSON document and a line break.
///
/// # Errors
///
/// Those of the writer.
pub fn write(grammar: &Grammar, files: &[Checked], out: &mut dyn Write) -> io::Result<()> {
    let reports = files.iter().map(|file| FileReport {
        file: &file.name,
        lines: file.lines.iter().enumerate().map(|(at, line)| of_line(grammar, at, line)).collect(),
        findings: file.findings.iter().map(of_finding).collect(),
        summary: file.summary(),
    });
    let document =
        Document { version: VERSION, files: reports.collect(), summary: Summary::of(files) };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}

fn of_line<'a>(grammar: &'a Grammar, at: usize, line: &'a Line) -> LineReport<'a> {
    LineReport {
        line: at + 1,
        column: line.column,
        standing: line.standing.name(),
        command: line.command.map(|command| grammar.command(command).syntax.as_str()),
        reason: line.reason.as_deref(),
    }
}

fn of_finding(finding: &Finding) -> FindingReport<'_> {
    FindingReport {
        rule: finding.rule.name,
        severity: finding.rule.severity.name(),
        line: finding.line,
        column: finding.column,
        message: &finding.message,
        evidence: finding.rule.evidence,
    }
}
