//! The program with lines on its standard input.

use std::io::Write as _;
use std::process::{Child, Command, Output, Stdio};

/// The program, to be started with pipes.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adxemu"));
    command.args(arguments);
    with_pipes(command)
}

/// The same with its standard input, output and error on pipes.
pub(crate) fn with_pipes(mut command: Command) -> Command {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Gives lines to a program and waits for its end.
pub(crate) fn play(mut command: Command, lines: &str) -> Output {
    let mut child = command.spawn().unwrap();
    give(&mut child, lines);
    child.wait_with_output().unwrap()
}

/// Gives lines to a running program and closes its input.
pub(crate) fn give(child: &mut Child, lines: &str) {
    let mut input = child.stdin.take().unwrap();
    match input.write_all(lines.as_bytes()) {
        // It ends before it has read them all, as it may.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        result => result.unwrap(),
    }
}

/// What it wrote, as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// That it ended with status 2 and one line that says why; gives the line.
pub(crate) fn refused(output: &Output) -> String {
    let line = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.starts_with("adxemu: "), "{line}");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    line
}
