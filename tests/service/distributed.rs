//! The files of `dist` that are made from the program are current.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What is made, with the arguments that print it.
const MADE: &[(&str, &[&str])] = &[
    ("adxemu.1", &["man"]),
    ("completions/adxemu.bash", &["completions", "bash"]),
    ("completions/_adxemu", &["completions", "zsh"]),
    ("completions/adxemu.fish", &["completions", "fish"]),
];

#[test]
fn files_of_dist_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist");
    let mut old: Vec<PathBuf> = Vec::new();
    for (name, arguments) in MADE {
        let done = Command::new(env!("CARGO_BIN_EXE_adxemu")).args(*arguments).output().unwrap();
        assert!(done.status.success());
        let path = folder.join(name);
        if std::fs::read(&path).ok() != Some(done.stdout.clone()) {
            if std::env::var_os("ADXEMU_BLESS").is_some() {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, &done.stdout).unwrap();
            }
            old.push(path);
        }
    }
    assert!(old.is_empty(), "{old:?} are old; ADXEMU_BLESS=1 writes them anew");
}

#[test]
fn a_page_for_each_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("man");
    let done = Command::new(env!("CARGO_BIN_EXE_adxemu")).arg("man").arg(&path).output().unwrap();
    assert!(done.status.success());
    for name in ["adxemu.1", "adxemu-serve.1", "adxemu-serve-lab.1", "adxemu-check.1"] {
        let text = std::fs::read_to_string(path.join(name)).unwrap();
        assert!(text.contains(".SH OPTIONS"), "{name}");
    }
}

/// The unit starts the program with arguments that it has.
#[test]
fn the_unit_starts_a_program_that_there_is() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist/adxemu.service");
    let text = std::fs::read_to_string(unit).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let arguments = line.split(' ').skip(1);
    let done =
        Command::new(env!("CARGO_BIN_EXE_adxemu")).args(arguments).arg("--help").output().unwrap();
    assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
}
