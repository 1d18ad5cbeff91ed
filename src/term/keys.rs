//! Single keys of the terminal, for the pager.

use std::io;

use crate::cli::pager::Keys;

/// The terminal on standard input, read key by key.
///
/// The terminal is put into raw mode when it is opened and back into its old mode when it is
/// dropped, so it must not outlive one text.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct TerminalKeys {
    before: rustix::termios::Termios,
}

#[cfg(unix)]
impl TerminalKeys {
    /// Puts the terminal into raw mode; line breaks of the output stay what they are.
    ///
    /// # Errors
    ///
    /// Standard input is no terminal.
    pub(super) fn open() -> io::Result<Self> {
        use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex};
        let before = termios::tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        // Control-C is a key of the pager here, not a signal.
        raw.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        termios::tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(TerminalKeys { before })
    }
}

#[cfg(unix)]
impl Drop for TerminalKeys {
    fn drop(&mut self) {
        // A terminal that is gone has no mode to go back to.
        let _ = rustix::termios::tcsetattr(
            io::stdin(),
            rustix::termios::OptionalActions::Now,
            &self.before,
        );
    }
}

#[cfg(unix)]
impl Keys for TerminalKeys {
    fn next_key(&mut self) -> io::Result<Option<char>> {
        // One byte at a time, and past the buffer of the standard library: what is typed ahead
        // belongs to the line editor.
        let mut bytes = Vec::with_capacity(4);
        loop {
            let mut byte = [0];
            match rustix::io::read(io::stdin(), &mut byte) {
                Ok(0) => return Ok(None),
                Ok(_) => bytes.push(byte[0]),
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            match std::str::from_utf8(&bytes) {
                Ok(text) => return Ok(text.chars().next()),
                Err(error) if error.error_len().is_some() => {
                    return Ok(Some(char::REPLACEMENT_CHARACTER));
                }
                Err(_) => {}
            }
        }
    }
}

/// Without raw mode a text is never divided.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct TerminalKeys {}

#[cfg(not(unix))]
impl TerminalKeys {
    /// No single keys are to be had.
    ///
    /// # Errors
    ///
    /// Always.
    pub(super) fn open() -> io::Result<Self> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

#[cfg(not(unix))]
impl Keys for TerminalKeys {
    fn next_key(&mut self) -> io::Result<Option<char>> {
        Ok(None)
    }
}
