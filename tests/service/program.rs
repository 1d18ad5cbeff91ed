//! A service that is running.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// How long a peer may be silent while a test waits for it.
pub(crate) const SILENCE: Duration = Duration::from_mins(1);

/// The program; ended when the value is dropped.
pub(crate) struct Service {
    child: Child,
    /// Lines of its log, from a thread that always reads.
    log: Receiver<String>,
}

impl Service {
    /// Starts it with these arguments and variables.
    pub(crate) fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_adxemu"))
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, log) = channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Service { child, log }
    }

    /// Waits for a line of the log that holds this text; gives the line.
    pub(crate) fn says(&mut self, text: &str) -> String {
        let mut all = String::new();
        while let Ok(line) = self.log.recv_timeout(SILENCE) {
            if line.contains(text) {
                return line;
            }
            all = all + &line + "\n";
        }
        panic!("waited for {text}: {all}");
    }

    /// The address that a line of the log ends with, behind this text.
    pub(crate) fn address(&mut self, text: &str) -> SocketAddr {
        let line = self.says(text);
        let (_, rest) = line.split_once(text).unwrap();
        let end = rest.find(['/', ' ', ',']).unwrap_or(rest.len());
        rest[..end].parse().unwrap()
    }

    /// Sends it a signal.
    pub(crate) fn gets(&self, signal: Signal) {
        let process = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(process, signal).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn ends(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is answered to these bytes, up to the end of the connection.
pub(crate) fn ask(address: SocketAddr, bytes: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(SILENCE)).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}
