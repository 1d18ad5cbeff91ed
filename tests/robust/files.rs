//! `--config`: files that are not there, that are none, that are too large, that are no UTF-8.

use std::io::Write as _;

use super::program::{play, program, refused, text};

fn play_config(path: &str, lines: &str) -> std::process::Output {
    play(program(&["--no-dns", "--config", path]), lines)
}

#[test]
fn a_missing_file() {
    let line = refused(&play_config("/nonexistent/startup.cfg", ""));
    assert!(line.contains("/nonexistent/startup.cfg: "), "{line}");
    refused(&play(program(&["serve", "--no-dns", "--config", "/nonexistent"]), ""));
}

#[test]
fn a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let line = refused(&play_config(folder.path().to_str().unwrap(), ""));
    assert!(line.contains(folder.path().to_str().unwrap()), "{line}");
}

#[test]
fn a_file_larger_than_any_configuration() {
    let file = tempfile::NamedTempFile::new().unwrap();
    // No byte of it is on the disk.
    file.as_file().set_len(adxemu::store::MOST_BYTES + 1).unwrap();
    let line = refused(&play_config(file.path().to_str().unwrap(), ""));
    assert!(line.contains("is larger than 268435456 bytes"), "{line}");
}

#[test]
fn bytes_that_are_no_utf_8_are_latin_1() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"hostname K\xf6ln\n").unwrap();
    let output = play_config(file.path().to_str().unwrap(), "enable\n");
    assert!(output.status.success());
    assert!(text(&output.stdout).starts_with("K\u{f6}ln>enable\n"), "{}", text(&output.stdout));
}

#[test]
fn a_line_that_does_not_count_is_reported_and_the_others_count() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"hostname a\nip address 10.0.0.1 255.0.255.0\nhostname b\n").unwrap();
    let output = play_config(file.path().to_str().unwrap(), "enable\n");
    assert!(output.status.success());
    assert!(text(&output.stdout).starts_with("b>enable\n"));
}

#[test]
fn a_line_that_is_no_utf_8_is_latin_1_and_costs_no_other() {
    let mut child = program(&["--no-dns", "--ephemeral"]).spawn().unwrap();
    let mut lines =
        b"enable\nconfigure terminal\nhostname K\xf6ln\nhostname K\xc3\xb6ln2\n".to_vec();
    // The cut of a line that is too long goes through a character.
    lines.extend_from_slice(b"!");
    lines.extend_from_slice("\u{e9}".repeat(3000).as_bytes());
    lines.extend_from_slice(b"\nhostname last\nexit\n");
    child.stdin.take().unwrap().write_all(&lines).unwrap();
    let output = child.wait_with_output().unwrap();
    let shown = text(&output.stdout);
    assert!(shown.contains("K\u{f6}ln(config)#hostname K\u{f6}ln2\n"), "{shown}");
    assert!(shown.contains("K\u{f6}ln2(config)#!\u{e9}\u{e9}"), "{shown}");
    assert!(!shown.contains('\u{c3}') && !shown.contains("Invalid"), "{shown}");
    assert!(shown.ends_with("last(config)#exit\n"), "{shown}");
}

#[test]
fn input_that_is_no_text() {
    let mut random = fastrand::Rng::with_seed(11);
    let bytes: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(200_000).collect();
    let mut child = program(&["--no-dns", "--ephemeral"]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // A line may say `exit`.
        let _ = input.write_all(&bytes);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
}
