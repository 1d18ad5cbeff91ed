//! DNS servers of other makes, started for a test and ended with it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use tempfile::TempDir;

use super::program::{BOUND, Running};

/// A server that answers on the loopback address.
pub(crate) struct Server {
    running: Running,
    /// Where it answers, over both transports.
    pub(crate) port: u16,
    /// All its files.
    pub(crate) folder: TempDir,
    /// What it says; the end of it is the end of the server.
    log: Receiver<String>,
}

impl Server {
    /// Starts a program on a port that the system picks, and waits until it says one of the marks.
    ///
    /// The file with its configuration, which is made of the path of its folder and of the port,
    /// stands behind the arguments.
    pub(crate) fn start(
        program: &str,
        arguments: &[&str],
        folder: TempDir,
        marks: &[&str],
        configuration: impl Fn(&str, u16) -> String,
    ) -> Self {
        let file = folder.path().join("configuration");
        let started = Instant::now();
        loop {
            let port = free_port();
            fs::write(&file, configuration(folder.path().to_str().unwrap(), port)).unwrap();
            let mut child = Command::new(program)
                .args(arguments)
                .arg(&file)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let stderr = BufReader::new(child.stderr.take().unwrap());
            let running = Running(child);
            let (sender, log) = channel();
            thread::spawn(move || {
                // What nobody listens to any more is read all the same, so that the server can write.
                for line in stderr.lines().map_while(Result::ok) {
                    let _ = sender.send(line);
                }
            });
            let mut said = Vec::new();
            while let Ok(line) = log.recv_timeout(BOUND) {
                if marks.iter().any(|mark| line.contains(mark)) {
                    return Server { running, port, folder, log };
                }
                said.push(line);
            }
            // Somebody else may have taken the port.
            assert!(started.elapsed() < BOUND, "{program} does not start: {said:#?}");
        }
    }

    /// Sends a signal to the server, by its process id.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.running.0.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }
}

impl Drop for Server {
    /// Ends the server and all that it has started.
    fn drop(&mut self) {
        self.signal("-TERM");
        // Its processes share the log. A server that does not end is killed behind this.
        let started = Instant::now();
        while self.log.recv_timeout(BOUND).is_ok() && started.elapsed() < BOUND {}
    }
}

/// A port of the loopback address that is free for both transports.
fn free_port() -> u16 {
    loop {
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        if TcpListener::bind(udp.local_addr().unwrap()).is_ok() {
            return udp.local_addr().unwrap().port();
        }
    }
}
