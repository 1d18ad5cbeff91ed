//! The real program while a test asks it with dig, kdig and drill, or over a socket.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// What a run without the tools must not pass over.
const REQUIRE: &str = "ADXEMU_REQUIRE_DIG";

/// Long enough that only what hangs exceeds it.
pub(crate) const BOUND: Duration = Duration::from_mins(1);

/// Whether these programs of others are installed; `version` is what asks each for its version.
///
/// Without one of them a test says so and passes, unless `ADXEMU_REQUIRE_DIG` is set, as `.ci/run`
/// does.
pub(crate) fn are_here(programs: &[&str], version: &str) -> bool {
    let is_missing = |program: &&&str| Command::new(program).arg(version).output().is_err();
    let Some(missing) = programs.iter().find(is_missing) else { return true };
    assert!(env::var_os(REQUIRE).is_none(), "{missing} is not installed, and {REQUIRE} is set");
    // The harness shows what is written directly always.
    let mut stderr = std::io::stderr();
    writeln!(stderr, "skipped: {missing} is not installed").unwrap();
    false
}

/// Whether all three clients are installed. Debian: dnsutils, knot-dnsutils, ldnsutils.
pub(crate) fn clients_are_here() -> bool {
    are_here(&["dig", "kdig", "drill"], "-v")
}

/// A program that is ended with the test, so that one that fails leaves nothing behind.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail when it has ended, which is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program.
pub(crate) struct Program {
    running: Running,
    stdout: BufReader<ChildStdout>,
    /// Stays open, so that the program can go on writing to it.
    _stderr: BufReader<ChildStderr>,
    /// Where DNS answers.
    pub(crate) address: SocketAddr,
}

impl Program {
    /// Starts the program on a port that the system picks, and waits until it says where DNS answers.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_adxemu"))
            .args(["--dns", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut running = Running(child);
        let mut said = String::new();
        while stderr.read_line(&mut said).unwrap() > 0 {
            let last = said.lines().last().unwrap_or_default();
            if let Some((_, rest)) = last.split_once("DNS answering on ") {
                let address = rest.split(' ').next().unwrap().parse().unwrap();
                return Program { running, stdout, _stderr: stderr, address };
            }
        }
        panic!("the program ended with {:?} and said\n{said}", running.0.wait());
    }

    /// Serves this configuration with these options. `name` tells the files of the tests apart.
    pub(crate) fn serve(name: &str, configuration: &str, options: &[&str]) -> Self {
        Self::with_file(&["serve"], name, configuration, options)
    }

    /// A privileged session on an appliance with this configuration.
    pub(crate) fn shell(name: &str, configuration: &str, options: &[&str]) -> Self {
        let mut program = Self::with_file(&["shell"], name, configuration, options);
        program.run("enable");
        program
    }

    fn with_file(command: &[&str], name: &str, configuration: &str, options: &[&str]) -> Self {
        let path: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.cfg"));
        std::fs::write(&path, configuration).unwrap();
        Self::start(&[command, &["--config", path.to_str().unwrap()], options].concat())
    }

    /// Types lines, and gives what the program prints until they are done.
    pub(crate) fn run(&mut self, lines: &str) -> String {
        // A session echoes a remark and does nothing.
        const END: &str = "! done";
        let stdin = self.running.0.stdin.as_mut().unwrap();
        writeln!(stdin, "{lines}\n{END}").unwrap();
        let mut printed = String::new();
        loop {
            let before = printed.len();
            assert!(self.stdout.read_line(&mut printed).unwrap() > 0, "it has ended:\n{printed}");
            if printed[before..].trim_end().ends_with(END) {
                return printed;
            }
        }
    }

    /// Types a line again and again until all these words are in what the program prints.
    pub(crate) fn run_until(&mut self, line: &str, words: &[&str]) {
        let started = Instant::now();
        loop {
            let printed = self.run(line);
            if words.iter().all(|word| printed.contains(word)) {
                return;
            }
            assert!(started.elapsed() < BOUND, "{words:?} are not in\n{printed}");
        }
    }

    /// What a client prints, which must find it good.
    pub(crate) fn ask(&self, client: &str, arguments: &[&str]) -> String {
        let output = self.client(client).args(arguments).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{client} {arguments:?}: {text}");
        // dig says so of what cannot be read, or stands behind the last record.
        for fault in ["extra bytes at end", "malformed", "Got bad packet", "parsing"] {
            assert!(!text.contains(fault), "{client} {arguments:?}: {text}");
        }
        text
    }

    /// A client that is to ask the program.
    pub(crate) fn client(&self, client: &str) -> Command {
        let port = self.address.port().to_string();
        let server = format!("@{}", self.address.ip());
        let mut command = Command::new(client);
        match client {
            // `-r` keeps a `.digrc` of the user out.
            "dig" => command.args(["-r", &server, "-p", &port, "+tries=1", "+time=20"]),
            "kdig" => command.args([&server, "-p", &port, "+retry=0", "+time=20"]),
            _ => command.args(["-p", &port, &server]),
        };
        command
    }

    /// All that these words must be in what the client prints.
    pub(crate) fn expect(&self, client: &str, arguments: &[&str], words: &[&str]) -> String {
        let text = self.ask(client, arguments);
        for word in words {
            assert!(text.contains(word), "{client} {arguments:?}: no `{word}` in\n{text}");
        }
        text
    }

    /// Types lines, ends the input, and gives what the program printed until its end.
    pub(crate) fn type_to_the_end(mut self, lines: &str) -> String {
        let child = &mut self.running.0;
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(lines.as_bytes()).unwrap();
        drop(stdin);
        let mut log = String::new();
        self.stdout.read_to_string(&mut log).unwrap();
        assert!(child.wait().unwrap().success());
        log
    }

    /// Stops the program as an operator would; a serving one then ends well.
    pub(crate) fn terminate(mut self) {
        let id = self.running.0.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
        assert!(self.running.0.wait().unwrap().success());
    }
}
