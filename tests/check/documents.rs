//! The documents that programs read: JSON against its schema, SARIF against the rules of its standard,
//! and `docs/check.md` against both.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::HashSet;

use adxemu::check::{self, Checked, rule::RULES};
use serde_json::Value;

use super::super::grammar;

const SCHEMA: &str = include_str!("../../docs/check.schema.json");
const GUIDE: &str = include_str!("../../docs/check.md");

/// Files with every standing and with findings of every severity.
fn files() -> Vec<Checked> {
    let texts = [
        (
            "labs/two sites/ü.cfg",
            "!\nver 12.4\ncontext default\ngslb site A\n weight 5\n weight 500\n frobnicate 7\n  more\n",
        ),
        ("/etc/adx/a.cfg", "gslb policy\n weighted-ip\n weighted-site\nbanner motd ^C\nA\n^C\n"),
        ("empty.cfg", ""),
    ];
    texts.iter().map(|(name, text)| check::check(grammar(), name, text)).collect()
}

fn json(files: &[Checked]) -> Value {
    let mut out = Vec::new();
    check::json::write(grammar(), files, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn json_keeps_to_its_schema() {
    let validator = validator();
    let document = json(&files());
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    let standings: HashSet<&str> = document["files"][0]["lines"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|line| line["standing"].as_str())
        .collect();
    assert_eq!(standings.len(), 6, "the example has every standing: {standings:?}");
    assert!(validator.is_valid(&json(&[])), "no file at all");
}

#[test]
fn the_schema_refuses_what_is_wrong() {
    let validator = validator();
    let spoil = |path: &str, value: Value| {
        let mut document = json(&files());
        *document.pointer_mut(path).expect(path) = value;
        assert!(!validator.is_valid(&document), "{path}");
    };
    spoil("/version", 2.into());
    spoil("/files/0/lines/0/line", 0.into());
    spoil("/files/0/lines/0/standing", "odd".into());
    spoil("/files/0/lines/5/reason", Value::Null);
    spoil("/files/0/findings/0/severity", "fatal".into());
    spoil("/files/0/findings/0/message", "".into());
    spoil("/summary/errors", (-1).into());
    let mut document = json(&files());
    document["files"][0]["lines"][5].as_object_mut().unwrap().remove("reason");
    assert!(!validator.is_valid(&document), "a rejected line has a reason");
}

#[test]
fn the_example_of_the_guide_is_what_is_written() {
    let begin = GUIDE.find("```json\n").unwrap() + "```json\n".len();
    let end = begin + GUIDE[begin..].find("```").unwrap();
    let example: Value = serde_json::from_str(&GUIDE[begin..end]).unwrap();
    assert!(validator().is_valid(&example));
    let file = check::check(grammar(), "site.cfg", "gslb site A\n weight 101\n");
    assert_eq!(json(&[file]), example);
}

#[test]
fn the_guide_lists_every_rule() {
    for rule in RULES {
        let row = format!("| `{}` | {} | ", rule.name, rule.severity.name());
        assert_eq!(GUIDE.matches(&row).count(), 1, "{}", rule.name);
    }
    let rows = GUIDE.lines().filter(|line| {
        ["note", "warning", "error"].iter().any(|name| line.contains(&format!("` | {name} | ")))
    });
    assert_eq!(rows.count(), RULES.len(), "and no others");
}

/// Rules of OASIS SARIF 2.1.0 with errata 01, by section.
#[test]
fn sarif_keeps_to_its_standard() {
    let files = files();
    let mut out = Vec::new();
    check::sarif::write(&files, &mut out).unwrap();
    let log: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(log["version"], "2.1.0", "3.13.2");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"), "3.13.3");
    let runs = log["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!(run["columnKind"], "unicodeCodePoints", "3.14.17");
    for invocation in run["invocations"].as_array().unwrap() {
        assert!(invocation["executionSuccessful"].is_boolean(), "3.20.14");
    }

    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "adxemu", "3.19.8");
    let parts: Vec<&str> = driver["semanticVersion"].as_str().unwrap().split('.').collect();
    assert!(parts.len() == 3 && parts.iter().all(|part| part.parse::<u32>().is_ok()), "3.19.12");
    let rules = driver["rules"].as_array().unwrap();
    let mut ids = HashSet::new();
    for rule in rules {
        assert!(ids.insert(rule["id"].as_str().unwrap()), "3.49.3: ids are unique");
        let text = rule["shortDescription"]["text"].as_str().unwrap();
        assert!(text.ends_with('.') && !text.contains('\n'), "3.11.3, 3.49.9: {text}");
        assert!(!rule["help"]["text"].as_str().unwrap().is_empty(), "3.49.13");
        let level = rule["defaultConfiguration"]["level"].as_str().unwrap();
        assert!(["none", "note", "warning", "error"].contains(&level), "3.50.3");
    }

    let artifacts = run["artifacts"].as_array().unwrap();
    assert_eq!(artifacts.len(), files.len());
    for artifact in artifacts {
        assert_uri(artifact["location"]["uri"].as_str().unwrap());
    }
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), files.iter().map(|file| file.findings.len()).sum::<usize>());
    assert!(results.len() >= 5);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"], "3.27.6: the index is that of the id");
        assert_eq!(result["level"], rules[index]["defaultConfiguration"]["level"], "3.27.10");
        assert!(!result["message"]["text"].as_str().unwrap().is_empty(), "3.27.11");
        let locations = result["locations"].as_array().unwrap();
        assert_eq!(locations.len(), 1, "3.27.12");
        let physical = &locations[0]["physicalLocation"];
        let artifact = usize::try_from(physical["artifactLocation"]["index"].as_u64().unwrap());
        let location = &artifacts[artifact.unwrap()]["location"];
        assert_eq!(location["uri"], physical["artifactLocation"]["uri"], "3.4.5");
        for part in ["startLine", "startColumn"] {
            assert!(physical["region"][part].as_u64().unwrap() >= 1, "3.30.5, 3.30.6");
        }
    }
}

/// Section 3.4.3: a valid URI reference (RFC 3986), a `file` URI if it is absolute.
fn assert_uri(uri: &str) {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:%".contains(&byte);
    assert!(uri.bytes().all(is_allowed), "{uri}");
    assert!(!uri.starts_with('/') || uri.starts_with("//"), "{uri}: no scheme");
    let first = uri.split('/').next().unwrap_or_default();
    assert!(first == "file:" || !first.contains(':'), "{uri}: a colon would end a scheme");
}
