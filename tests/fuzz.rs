//! A short run of every fuzz target (docs/robustness.md), always with the same inputs.

#![allow(clippy::unwrap_used, reason = "everything in this crate is part of a test")]

#[path = "../fuzz/driver.rs"]
mod driver;
#[path = "../fuzz/targets.rs"]
mod targets;

use std::path::Path;

fn survives(name: &str, count: u64) {
    let target = targets::TARGETS.iter().find(|(known, _)| *known == name).unwrap();
    let seeds = driver::seeds(name);
    assert!(!seeds.is_empty());
    if let Err(failure) = driver::run(*target, &seeds, count, 1) {
        panic!("input {} fails: {}", failure.number, failure.input.escape_ascii());
    }
}

#[test]
fn grammar_files() {
    survives("grammar", 3_000);
}

#[test]
fn session_files() {
    survives("session", 3_000);
}

#[test]
fn questions() {
    survives("question", 20_000);
}

#[test]
fn replies_of_the_server_behind() {
    survives("reply", 20_000);
}

#[test]
fn master_files() {
    survives("master-file", 5_000);
}

#[test]
fn configurations() {
    survives("configuration", 1_000);
}

#[test]
fn lines() {
    survives("line", 300);
}

#[test]
fn terminals() {
    survives("terminal", 1_000);
}

/// A driver that finds nothing proves nothing.
#[test]
fn the_driver_finds_a_fault_and_makes_it_short() {
    fn faulty(input: &[u8]) {
        assert!(!input.windows(2).any(|pair| pair == b"!!"), "two marks");
    }
    let seeds = [b"a line! and! another!\n".repeat(4)];
    let failure = driver::run(("faulty", faulty), &seeds, 100_000, 1).err().unwrap();
    assert_eq!(failure.input, b"!!");
}

#[test]
fn every_target_is_one_of_cargo_fuzz() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    for (name, _) in targets::TARGETS {
        let path = format!("fuzz_targets/{name}.rs");
        assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"{path}\"")), "{name}");
        let source = std::fs::read_to_string(folder.join(path)).unwrap();
        let call = format!("targets::{}(data)", name.replace('-', "_"));
        assert!(source.contains(&call), "{name}");
    }
}
