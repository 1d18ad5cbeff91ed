//! The state directory: one program at a time, and errors that keep what is saved.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::process::Command;

use super::program::{play, program, refused, text, with_pipes};

const SAVE: &str = "enable\nconfigure terminal\nhostname first\nend\nwrite memory\n";

#[test]
fn a_second_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--no-dns", "--state", folder.path().to_str().unwrap()];
    let mut first = program(&arguments).spawn().unwrap();
    let mut output = first.stdout.take().unwrap();
    first.stdin.as_mut().unwrap().write_all(b"enable\n").unwrap();
    // It has the directory when it echoes its first line.
    output.read_exact(&mut [0; "ServerIronADX>enable\n".len()]).unwrap();
    let line = refused(&play(program(&arguments), ""));
    assert!(line.contains("is in use by another adxemu"), "{line}");
    let serving = [&["serve"], &arguments[..]].concat();
    refused(&play(program(&serving), ""));
    drop(first.stdin.take());
    output.read_to_end(&mut Vec::new()).unwrap();
    assert!(first.wait().unwrap().success());
    assert!(play(program(&arguments), "").status.success(), "then it is free");
}

#[test]
fn a_full_disk_is_an_error_and_what_was_saved_stays() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    let output = play(program(&["--no-dns", "--state", state]), SAVE);
    assert!(text(&output.stdout).contains(".Write startup-config done."));
    let before = std::fs::read(folder.path().join("startup-config")).unwrap();

    let mut lines = "enable\nconfigure terminal\nhostname second\n".to_owned();
    lines += "gslb dns zone example.com\n";
    for host in 0..500 {
        writeln!(lines, "host-info h{host} ip-list 192.0.2.1").unwrap();
    }
    lines += "end\nwrite memory\nshow version\n";
    // Files of at most 8 blocks of 512 or 1,024 bytes: as a disk that fills up, but for this
    // program only.
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -f 8; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_adxemu")])
        .args(["--no-dns", "--state", state]);
    let output = play(with_pipes(limited), &lines);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{:?} {}", output.status, text(&output.stderr));
    assert!(shown.contains("\nError - startup-config not written: "), "{shown}");
    assert!(!shown.contains("done."), "{shown}");
    assert!(shown.contains("second#show version"), "the session goes on: {shown}");
    assert_eq!(std::fs::read(folder.path().join("startup-config")).unwrap(), before);
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 2, "the file and the lock, and nothing half");
}

#[test]
fn a_directory_in_the_place_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    std::fs::create_dir(folder.path().join("startup-config")).unwrap();
    let line = refused(&play(program(&["--no-dns", "--state", state]), ""));
    assert!(line.contains("startup-config: "), "{line}");
}

#[test]
fn a_directory_that_comes_into_the_place_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    let mut child = program(&["--no-dns", "--state", state]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    input.write_all(b"enable\n").unwrap();
    output.read_exact(&mut [0; "ServerIronADX>enable\n".len()]).unwrap();
    std::fs::create_dir_all(folder.path().join("startup-config/x")).unwrap();
    input.write_all(b"write memory\n").unwrap();
    drop(input);
    let mut shown = String::new();
    output.read_to_string(&mut shown).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(shown.contains("Error - startup-config not written: "), "{shown}");
}

#[test]
fn a_file_in_the_place_of_the_directory() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let line = refused(&play(program(&["--no-dns", "--state", file.path().to_str().unwrap()]), ""));
    assert!(line.contains(file.path().to_str().unwrap()), "{line}");
}
