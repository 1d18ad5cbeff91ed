//! A terminal with the program on it.
//!
//! Nothing here sleeps: a test waits for what the screen must show, and fails when the program has
//! written nothing for so long that it never will.

use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use pty_process::blocking::{Command, Pty};

/// How long the program may be silent while a test waits for it.
const SILENCE: Duration = Duration::from_mins(1);

/// The program on a terminal.
pub(crate) struct Terminal {
    pty: Arc<Pty>,
    child: Child,
    /// What the program writes, from a thread that always reads: the program never waits for a
    /// test that is still typing.
    chunks: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    /// Everything that was written.
    written: Vec<u8>,
}

impl Terminal {
    /// The program on a terminal of 24 rows and 80 columns, at its first prompt.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut terminal = Self::sized(24, 80, "xterm", arguments);
        terminal.wait_for_line("ServerIronADX>");
        terminal
    }

    /// The same without DNS and state, in the configuration.
    pub(crate) fn configuring() -> Self {
        let mut terminal = Self::start(&["--ephemeral", "--no-dns"]);
        terminal.type_keys("enable\rconfigure terminal\r");
        terminal.wait_for_line("ServerIronADX(config)#");
        terminal
    }

    /// The program on a terminal of any size and kind.
    pub(crate) fn sized(rows: u16, columns: u16, kind: &str, arguments: &[&str]) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(pty_process::Size::new(rows, columns)).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_adxemu"))
            .args(arguments)
            .env("TERM", kind)
            .spawn(pts)
            .unwrap();
        let pty = Arc::new(pty);
        let (sender, chunks) = channel();
        let reading = Arc::clone(&pty);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65536];
            // A terminal without a program gives an error, which is its end.
            while let Ok(length @ 1..) = (&*reading).read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        let size = |number| NonZeroU16::new(number).unwrap();
        let parser = vt100::Parser::new(size(rows), size(columns), 10_000);
        Terminal { pty, child, chunks, parser, written: Vec::new() }
    }

    /// Presses keys, all in one write.
    pub(crate) fn type_keys(&self, keys: impl AsRef<[u8]>) {
        (&*self.pty).write_all(keys.as_ref()).unwrap();
    }

    /// Waits until a condition holds for this terminal.
    pub(crate) fn wait_until(&mut self, what: &str, holds: impl Fn(&Terminal) -> bool) {
        while !holds(self) {
            let Ok(chunk) = self.chunks.recv_timeout(SILENCE) else {
                panic!("waited for {what}; the screen shows:\n{}", self.screen().join("\n"));
            };
            self.parser.process(&chunk);
            self.written.extend_from_slice(&chunk);
        }
    }

    /// Waits until the line of the cursor is `line`, blanks at its end aside.
    pub(crate) fn wait_for_line(&mut self, line: &str) {
        self.wait_until(line, |terminal| terminal.line() == line);
    }

    /// Waits until the last lines of the screen are these, the line of the cursor last.
    pub(crate) fn wait_for_lines(&mut self, lines: &[&str]) {
        self.wait_until(&lines.join("\n"), |terminal| terminal.screen().ends_with(&owned(lines)));
    }

    /// The lines of the screen down to that of the cursor, without blanks at their ends.
    pub(crate) fn screen(&self) -> Vec<String> {
        let screen = self.parser.screen();
        let (row, _) = screen.cursor_position();
        let columns = screen.size().1.get();
        let rows = screen.rows(0, columns).take(usize::from(row) + 1);
        rows.map(|row| row.trim_end().to_owned()).collect()
    }

    /// The line of the cursor.
    pub(crate) fn line(&self) -> String {
        self.screen().pop().unwrap_or_default()
    }

    /// The column of the cursor, from 0.
    pub(crate) fn column(&self) -> usize {
        self.parser.screen().cursor_position().1.into()
    }

    /// The row of the cursor, from 0.
    pub(crate) fn row(&self) -> usize {
        self.parser.screen().cursor_position().0.into()
    }

    /// Everything that was written so far.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.written).into_owned()
    }

    /// The terminal itself, whichever program is on it.
    pub(crate) fn device(&self) -> &Pty {
        &self.pty
    }

    /// The number of the program's process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end of the program.
    pub(crate) fn wait_for_end(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}
