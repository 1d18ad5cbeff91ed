//! A thousand SSH sessions: what one costs in memory, and how long a hundred take that work at once.
//!
//!     cargo bench --bench sessions
//!
//! The program runs as a process of its own, as `adxemu serve`; the clients are all in this one. Each
//! logs in with a password, as a session does. The run ends with an error if a figure passes its
//! bound. Linux only: memory is read from `/proc`.

#![allow(clippy::unwrap_used, reason = "a benchmark ends at the first thing that is wrong")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use russh::client::{self, Handle};
use russh::keys::PublicKeyOrCertificate;
use russh::{Channel, ChannelMsg};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Sessions that are open, and how many of them work at once.
const SESSIONS: usize = 1000;
const WORKING: usize = 100;

/// Lines that each of these runs, one after the other.
const LINES: usize = 20;

/// Logins at the same time: fewer than may stand at the door.
const LOGINS: usize = 32;

/// Bounds: kibibytes of a session, and how long a line may take while the others work.
const MOST_KIBIBYTES: u64 = 256;
const LONGEST_LINE: Duration = Duration::from_secs(5);

const CONFIGURATION: &str = "username admin password one\nenable skip-page-display\n\
    aaa authentication login default local\naaa authentication login privilege-mode\n";

struct Trusting;

impl client::Handler for Trusting {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        _key: &PublicKeyOrCertificate,
    ) -> Result<bool, Self::Error> {
        Ok(true)
    }
}

/// The program.
struct Program {
    child: Child,
    _stderr: BufReader<ChildStderr>,
    address: SocketAddr,
}

impl Program {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let configuration = folder.path().join("startup.cfg");
        std::fs::write(&configuration, CONFIGURATION).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_adxemu"))
            .args(["serve", "--no-dns", "--ssh", "0", "--config"])
            .arg(&configuration)
            .env("ADXEMU_LOG", "info,russh=off")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let address = loop {
            assert!(stderr.read_line(&mut said).unwrap() > 0, "{said}");
            if let Some((_, address)) = said.rsplit_once("SSH on ") {
                break address.trim_end().parse().unwrap();
            }
        };
        Program { child, _stderr: stderr, address }
    }

    /// Memory that it has in use, in KiB.
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A session at its prompt.
struct Session {
    _handle: Handle<Trusting>,
    channel: Channel<client::Msg>,
}

impl Session {
    async fn open(address: SocketAddr) -> Self {
        let config = Arc::new(client::Config::default());
        let mut handle = client::connect(config, address, Trusting).await.unwrap();
        assert!(handle.authenticate_password("admin", "one").await.unwrap().success());
        let channel = handle.channel_open_session().await.unwrap();
        channel.request_pty(true, "xterm", 80, 24, 0, 0, &[]).await.unwrap();
        channel.request_shell(true).await.unwrap();
        let mut session = Session { _handle: handle, channel };
        session.waits_for_prompt().await;
        session
    }

    async fn waits_for_prompt(&mut self) {
        let mut shown = Vec::new();
        while !shown.ends_with(b"\nSSH@ServerIronADX#") && shown != b"SSH@ServerIronADX#" {
            match self.channel.wait().await {
                Some(ChannelMsg::Data { data }) => shown.extend_from_slice(&data),
                Some(_) => {}
                None => panic!("ended: {}", String::from_utf8_lossy(&shown)),
            }
        }
    }

    /// Runs lines; gives how long the slowest took.
    async fn works(&mut self) -> Duration {
        let mut longest = Duration::ZERO;
        for _ in 0..LINES {
            let begin = Instant::now();
            self.channel.data_bytes("show running-config\r").await.unwrap();
            self.waits_for_prompt().await;
            longest = longest.max(begin.elapsed());
        }
        longest
    }
}

fn main() {
    let program = Program::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut output = std::io::stdout().lock();
    runtime.block_on(async {
        // What the first sessions need once is no part of what one costs.
        let address = program.address;
        let _first = open(address, LOGINS).await;
        let before = program.memory();
        let begin = Instant::now();
        let mut sessions = open(address, SESSIONS).await;
        let opened = begin.elapsed();
        let after = program.memory();
        let each = after.saturating_sub(before) / u64::try_from(SESSIONS).unwrap();
        writeln!(
            output,
            "{SESSIONS} sessions opened in {:.1} s, a password checked for each",
            opened.as_secs_f64()
        )
        .unwrap();
        writeln!(
            output,
            "memory: {before} KiB before, {after} KiB with them, {each} KiB a session"
        )
        .unwrap();
        let begin = Instant::now();
        let mut working = JoinSet::new();
        for mut session in sessions.drain(..WORKING) {
            working.spawn(async move {
                let longest = session.works().await;
                (longest, session)
            });
        }
        let mut longest = Duration::ZERO;
        while let Some(done) = working.join_next().await {
            let (one, session) = done.unwrap();
            longest = longest.max(one);
            sessions.push(session);
        }
        let lines = f64::from(u32::try_from(WORKING * LINES).unwrap());
        writeln!(
            output,
            "{WORKING} at once: {:.0} lines a second, the slowest in {:.0} ms; memory {} KiB",
            lines / begin.elapsed().as_secs_f64(),
            longest.as_secs_f64() * 1e3,
            program.memory(),
        )
        .unwrap();
        assert!(each <= MOST_KIBIBYTES, "{each} KiB a session");
        assert!(longest <= LONGEST_LINE, "{longest:?} for a line");
    });
}

/// Opens sessions, some at the same time.
async fn open(address: SocketAddr, count: usize) -> Vec<Session> {
    let places = Arc::new(Semaphore::new(LOGINS));
    let mut opening = JoinSet::new();
    for _ in 0..count {
        let places = Arc::clone(&places);
        opening.spawn(async move {
            let _place = places.acquire_owned().await.unwrap();
            Session::open(address).await
        });
    }
    opening.join_all().await
}
