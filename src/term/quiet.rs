//! The terminal of the console: no echo, no line discipline of the system, no signal keys.
//!
//! What is typed reaches the program as it is, however fast it comes, and what the program writes
//! reaches the terminal as it is. What the terminal was before comes back when the guard goes.

use std::io;
use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The settings that a terminal had before.
#[derive(Clone, Debug)]
pub struct Settings {
    terminal: Arc<OwnedFd>,
    original: Termios,
}

/// Keeps a terminal quiet as long as it lives.
#[derive(Debug)]
pub struct Quiet {
    settings: Settings,
    quiet: Termios,
}

impl Quiet {
    /// Makes standard input quiet.
    ///
    /// # Errors
    ///
    /// It is no terminal that could be.
    pub fn begin() -> io::Result<Self> {
        // Something else may take the place of the terminal on standard input.
        let terminal = Arc::new(rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?);
        let original = tcgetattr(&terminal)?;
        let mut quiet = original.clone();
        quiet.make_raw();
        // What was typed before the program was there is kept.
        tcsetattr(&terminal, OptionalActions::Drain, &quiet)?;
        Ok(Quiet { settings: Settings { terminal, original }, quiet })
    }

    /// Makes it quiet again, after something else had the terminal.
    pub(super) fn again(&self) {
        // A terminal that has gone needs nothing any more.
        let _ = tcsetattr(&self.settings.terminal, OptionalActions::Drain, &self.quiet);
    }

    /// The terminal.
    pub(super) fn terminal(&self) -> &Arc<OwnedFd> {
        &self.settings.terminal
    }

    /// The settings to go back to, for one that ends the program from another thread.
    pub fn settings(&self) -> Settings {
        self.settings.clone()
    }
}

impl Settings {
    /// Sets the terminal back to them.
    pub fn restore(&self) {
        // A terminal that has gone needs nothing any more.
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.original);
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        self.settings.restore();
    }
}
