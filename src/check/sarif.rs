//! Findings as SARIF 2.1.0 (OASIS standard of 27 March 2020), for the tools that show them beside
//! the lines of a change.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::check::Checked;
use crate::check::rule::{Finding, RULES, Rule};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Writes one SARIF log with one run, and a line break.
///
/// # Errors
///
/// Those of the writer.
pub fn write(files: &[Checked], out: &mut dyn Write) -> io::Result<()> {
    let results: Vec<Value> = files
        .iter()
        .enumerate()
        .flat_map(|(place, file)| {
            file.findings.iter().map(move |finding| result(place, &file.name, finding))
        })
        .collect();
    let artifacts: Vec<Value> =
        files.iter().map(|file| json!({ "location": { "uri": uri(&file.name) } })).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": env!("CARGO_PKG_NAME"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": RULES.iter().map(|rule| description(rule)).collect::<Vec<_>>(),
            }},
            "invocations": [{ "executionSuccessful": true }],
            "columnKind": "unicodeCodePoints",
            "artifacts": artifacts,
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    out.write_all(b"\n")
}

fn description(rule: &Rule) -> Value {
    json!({
        "id": rule.name,
        "shortDescription": { "text": rule.summary },
        "help": { "text": format!("Evidence: {}", rule.evidence) },
        // The names of our severities are those of the standard (section 3.27.10).
        "defaultConfiguration": { "level": rule.severity.name() },
    })
}

/// `place` is that of the file among the artifacts.
fn result(place: usize, name: &str, finding: &Finding) -> Value {
    json!({
        "ruleId": finding.rule.name,
        "ruleIndex": RULES.iter().position(|rule| **rule == *finding.rule),
        "level": finding.rule.severity.name(),
        "message": { "text": finding.message },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(name), "index": place },
            "region": { "startLine": finding.line, "startColumn": finding.column },
        }}],
    })
}

/// A file name as a URI reference (RFC 3986 section 2.1, 4.2); an absolute one as a `file` URI (RFC 8089).
fn uri(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    if name.starts_with('/') {
        out.push_str("file://");
    }
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            b'\\' if cfg!(windows) => out.push('/'),
            _ => {
                // Writing to a String cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn file_names_become_uri_references() {
        assert_eq!(uri("labs/two sites/ü.cfg"), "labs/two%20sites/%C3%BC.cfg");
        assert_eq!(uri("/etc/a:b.cfg"), "file:///etc/a%3Ab.cfg");
    }
}
