//! The console: the terminal of the program, as another source of keys for a [`Shell`].
//!
//! A thread reads the terminal, since nothing else can wait for it everywhere; what is left to do
//! is that of every other session (`connection`).

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::termios::tcgetwinsize;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::connection::{self, Ending, Input, Sink, Source};
use super::quiet::{Quiet, Settings};
use super::shell::Shell;
use crate::cli::session::Session;

/// Bytes that are read at once.
const READ_BYTES: usize = 4096;

/// A terminal that the program does not ask how wide it is: it could not move its cursor up.
const DUMB: &str = "dumb";

/// A session on the terminal of the program.
#[derive(Debug)]
pub struct Console {
    shell: Shell,
    quiet: Quiet,
}

impl Console {
    /// Whether there is a terminal to have a session on.
    pub fn is_there() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Sets the terminal up for a session.
    ///
    /// # Errors
    ///
    /// The terminal fails.
    pub fn new(session: Session) -> io::Result<Self> {
        Ok(Console { shell: Shell::new(session), quiet: Quiet::begin()? })
    }

    /// What the terminal must be set back to by one that ends the program from another thread.
    pub fn settings(&self) -> Settings {
        self.quiet.settings()
    }

    /// Runs the session until it is over or its terminal is gone.
    ///
    /// # Errors
    ///
    /// The terminal cannot be read, or a line ended the thread that it ran on.
    pub fn run(self, runtime: &Runtime) -> io::Result<()> {
        let Console { mut shell, quiet } = self;
        // One piece waits; more wait in the terminal.
        let (sender, typed) = channel(1);
        let terminal = Arc::clone(quiet.terminal());
        let keys = std::thread::Builder::new().name("keys".to_owned());
        // It waits for a key when the program ends, and ends with it.
        keys.spawn(move || read_keys(&terminal, &sender))?;
        let ending = runtime.block_on(async {
            let resized = signal(SignalKind::window_change())?;
            let resumed = signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?;
            let mut source = Keys { typed, resized, resumed, quiet };
            shell.set_width(source.width());
            Ok::<_, io::Error>(connection::run(shell, &mut source, &mut Screen, None::<()>).await)
        })?;
        match ending {
            Ending::Fault => Err(io::Error::other("a line could not be run to its end")),
            _ => Ok(()),
        }
    }
}

/// Hands on what is typed, until the terminal or the session is gone.
fn read_keys(terminal: &OwnedFd, sender: &Sender<Vec<u8>>) {
    let mut buffer = [0; READ_BYTES];
    loop {
        match rustix::io::read(terminal, &mut buffer) {
            Ok(0) => return,
            Ok(length) => {
                if sender.blocking_send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

struct Keys {
    typed: Receiver<Vec<u8>>,
    resized: Signal,
    /// The program goes on after it was stopped; the terminal was somebody else's meanwhile.
    resumed: Signal,
    quiet: Quiet,
}

impl Keys {
    /// The columns of the terminal; 0 if they are of no use.
    fn width(&self) -> usize {
        let kind = std::env::var_os("TERM").unwrap_or_default();
        if kind.is_empty() || kind == DUMB {
            return 0;
        }
        tcgetwinsize(self.quiet.terminal()).map_or(0, |size| size.ws_col.into())
    }
}

impl Source for Keys {
    async fn next(&mut self) -> Option<Input> {
        tokio::select! {
            typed = self.typed.recv() => typed.map(Input::Typed),
            Some(()) = self.resized.recv() => Some(Input::Width(self.width())),
            Some(()) = self.resumed.recv() => {
                self.quiet.again();
                Some(Input::Again)
            }
        }
    }
}

/// What the terminal shows. A terminal that stands still holds up its own session only.
struct Screen;

impl Sink for Screen {
    async fn send(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        let mut output = io::stdout();
        output.write_all(&bytes)?;
        output.flush()
    }
}
