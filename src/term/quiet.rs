//! The terminal between two lines: no echo, no line discipline of the system, no signal keys.
//!
//! The line editor sets the terminal up for each line and back again behind it. In between, the
//! system would echo what is typed ahead, so that it stood there twice, keep at most one line of
//! 4,095 bytes of it, and turn Control-C into the end of the program. So the terminal is quiet as
//! long as the session lasts, and what it was before comes back when the guard goes.

#[cfg(unix)]
use std::sync::Arc;

#[cfg(unix)]
use rustix::fd::OwnedFd;

/// The settings that a terminal had before.
#[derive(Clone, Debug)]
pub struct Settings {
    #[cfg(unix)]
    terminal: Arc<OwnedFd>,
    #[cfg(unix)]
    original: rustix::termios::Termios,
}

/// Keeps a terminal quiet as long as it lives.
#[derive(Debug)]
pub struct Quiet {
    settings: Settings,
}

impl Quiet {
    /// Makes standard input quiet; `None` if it is no terminal that could be.
    #[cfg(unix)]
    pub fn begin() -> Option<Self> {
        use rustix::termios::{InputModes, LocalModes, OptionalActions, tcgetattr, tcsetattr};
        // Something else may take the place of the terminal on standard input.
        let terminal = Arc::new(rustix::io::fcntl_dupfd_cloexec(std::io::stdin(), 3).ok()?);
        let original = tcgetattr(&terminal).ok()?;
        let mut quiet = original.clone();
        quiet.local_modes -=
            LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN;
        quiet.input_modes -= InputModes::ICRNL | InputModes::IXON;
        // What was typed before the program was there is kept.
        tcsetattr(&terminal, OptionalActions::Drain, &quiet).ok()?;
        Some(Quiet { settings: Settings { terminal, original } })
    }

    /// Elsewhere the line editor does what can be done.
    #[cfg(not(unix))]
    pub fn begin() -> Option<Self> {
        None
    }

    /// The terminal.
    #[cfg(unix)]
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
        #[cfg(unix)]
        {
            use rustix::termios::{OptionalActions, tcsetattr};
            // A terminal that has gone needs nothing any more.
            let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.original);
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        self.settings.restore();
    }
}
