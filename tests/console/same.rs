//! The console and the machine behind every session: the same keys show the same screen.
//!
//! The machine is played in this process with a session of the console; the program on its terminal
//! must come to show what it shows, however the keys are cut into pieces on their way.

use std::num::NonZeroU16;
use std::sync::Arc;

use adxemu::appliance::Appliance;
use adxemu::cli::session::Session;
use adxemu::clock::DrivenClock;
use adxemu::dns::{Responder, Settings};
use adxemu::term::shell::Shell;

use super::terminal::Terminal;

const ROWS: u16 = 300;
const COLUMNS: u16 = 80;

/// The editor on a terminal of its own.
struct Played {
    shell: Shell,
    parser: vt100::Parser,
}

impl Played {
    fn start() -> Self {
        let appliance = Arc::new(Appliance::in_memory(Arc::new(DrivenClock::new())));
        let responder = Arc::new(Responder { appliance, settings: Settings::default() });
        let mut shell = Shell::new(Session::new(responder));
        shell.set_width(COLUMNS.into());
        let size = |number| NonZeroU16::new(number).unwrap();
        Played { shell, parser: vt100::Parser::new(size(ROWS), size(COLUMNS), 0) }
    }

    fn type_keys(&mut self, keys: &[u8]) {
        self.shell.receive(keys);
        while self.shell.can_go_on() {
            self.shell.go_on();
        }
        self.parser.process(self.shell.take_output().as_bytes());
    }

    /// The lines down to the cursor, and the column of the cursor.
    fn screen(&self) -> (Vec<String>, usize) {
        let screen = self.parser.screen();
        let (row, column) = screen.cursor_position();
        let rows = screen.rows(0, COLUMNS).take(usize::from(row) + 1);
        (rows.map(|row| row.trim_end().to_owned()).collect(), column.into())
    }
}

/// What the program shows from its first prompt on.
fn shown(terminal: &Terminal) -> (Vec<String>, usize) {
    let screen = terminal.screen();
    let first = screen.iter().position(|line| line.starts_with("ServerIronADX"));
    (screen[first.unwrap_or(0)..].to_vec(), terminal.column())
}

/// Types these in turn at both, and waits after each until both show the same.
fn compare<'k>(keys: impl IntoIterator<Item = &'k [u8]>) {
    let mut terminal = Terminal::sized(ROWS, COLUMNS, "xterm", &["--ephemeral", "--no-dns"]);
    terminal.wait_for_line("ServerIronADX>");
    let mut played = Played::start();
    played.type_keys(b"");
    for keys in keys {
        terminal.type_keys(keys);
        played.type_keys(keys);
        let expected = played.screen();
        let what =
            format!("{} behind {:?}", expected.0.join("\n"), keys.escape_ascii().to_string());
        terminal.wait_until(&what, |terminal| shown(terminal) == expected);
    }
}

#[test]
fn editing() {
    compare(
        [
            "enable\r",
            "conf t\r",
            "hostname abc\x01\x06\x06x\x05y",
            "\x02\x02\x04\x08z\x14",
            "\x17\x19\x19",
            "\x1bb\x1bfq\x1b\x7f",
            "\x1b[D\x1b[D\x1b[3~\x1b[H\x1b[C\x1b[F",
            "\x0b\x15\x19",
            "\x18\r",
            "gslb site \u{f6}\u{e4}\x7f\x7fx\r",
            "half\x03",
            "half\x1a",
            "\x1a",
            "\x04x",
        ]
        .map(str::as_bytes),
    );
}

#[test]
fn help_and_completion() {
    compare(
        [
            "?",
            "en?",
            "\t",
            "\r",
            "conf\tt\t",
            "\r",
            "gslb \t",
            "?",
            "\x15gs\t",
            "site \"a b?c",
            "\"\r",
            "xyz ?",
            "\x15we\x02?",
            "\x05\t",
            "\x15\tz\x03",
            "\x0c\x12",
        ]
        .map(str::as_bytes),
    );
}

#[test]
fn history() {
    let (up, down) = ("\x1b[A", "\x1b[B");
    compare(
        [
            "enable\r\r  \rshow clock | include nothing\r",
            up,
            up,
            up,
            down,
            "x",
            "\x10\x0e",
            down,
            "\x15half",
            up,
            down,
            "\r",
        ]
        .map(str::as_bytes),
    );
}

#[test]
fn lines_over_several_rows() {
    let long = "x".repeat(200);
    compare(
        [
            "enable\r",
            &long,
            "\x01y",
            "\x05\x02z",
            "\x15",
            &long[..66],
            "\x08",
            "ab",
            "\x01\x1b[C\x05",
            "\x17",
            &long[..90],
            "?",
            "\x03",
        ]
        .map(str::as_bytes),
    );
}

#[test]
fn questions() {
    compare(
        [
            "enable\r",
            "reload\r",
            "?\t\x08n",
            "\r",
            "reload\r",
            "\x03",
            "conf t\r",
            "enable super-user-password secret\r",
            "\x1a\x1a",
            "enable\r",
            "wrong",
        ]
        .map(str::as_bytes),
    );
}

#[test]
fn bytes_that_are_no_text() {
    compare([
        b"enable\r".as_slice(),
        b"conf t\r",
        b"hostname K\xf6ln",
        b"\r",
        b"x\xff\x9b\xc3",
        b"\r",
    ]);
}

#[test]
fn any_keys() {
    const KEYS: &[&str] = &[
        "a",
        "s",
        "h",
        " ",
        "o",
        "w",
        "x",
        "\u{f6}",
        "\u{20ac}",
        "\x01",
        "\x02",
        "\x05",
        "\x06",
        "\x0b",
        "\x0c",
        "\x15",
        "\x17",
        "\x19",
        "\x7f",
        "\x04x",
        "\x14",
        "\x1b[D",
        "\x1b[C",
        "\x1b[A",
        "\x1b[B",
        "\x1b[H",
        "\x1b[F",
        "\x1b[3~",
        "\x1bb",
        "\x1bf",
        "\x1bd",
        "\x1b\x7f",
        "?",
        "\t",
        "show ",
        "show version | include Nothing",
        "\x03",
        "\x12",
        "\x18",
    ];
    let mut random = fastrand::Rng::with_seed(11);
    let chunks: Vec<Vec<u8>> = (0..60)
        .map(|_| {
            let keys = (0..random.usize(1..8)).map(|_| *random.choice(KEYS).unwrap());
            keys.collect::<String>().into_bytes()
        })
        .collect();
    let begin = [b"enable\rskip-page-display\r".to_vec()];
    // Each beginning stays on one screen.
    for chunks in chunks.chunks(12) {
        let all = begin.iter().chain(chunks);
        compare(all.map(Vec::as_slice));
    }
}
