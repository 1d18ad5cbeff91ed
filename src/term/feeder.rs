//! What is typed goes to the line editor one line at a time, however fast it comes.
//!
//! The editor reads ahead: of a block that arrives at once it would hold the keys that are meant
//! for the pager, and lose what stands behind a Control-C. So it sits on a pseudo-terminal of its
//! own. A thread reads the real one and hands over what is typed up to a key that may end a line;
//! behind such a key it waits until somebody says who wants the next one: the editor, for the key
//! did not end the line or the next line begins, or the pager.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::fd::OwnedFd;
use rustix::pty::OpenptFlags;
use rustix::termios;

use super::quiet::Quiet;
use super::utf8::Decoder;
use crate::cli::pager::Keys;

/// The keys of a user on their way to whoever wants them.
#[derive(Clone, Debug)]
pub(super) struct Feeder {
    gate: Arc<Gate>,
}

#[derive(Debug)]
struct Gate {
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct State {
    wanted: Wanted,
    /// The key that the pager asked for.
    key: Option<char>,
    /// Whether nothing more will be typed.
    is_over: bool,
}

/// Who wants the next key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wanted {
    /// Nobody: a line is being run.
    #[default]
    Nobody,
    /// The line editor.
    Editor,
    /// The pager.
    Pager,
}

impl Feeder {
    /// Takes the place of a quiet terminal on standard input.
    ///
    /// # Errors
    ///
    /// There is no pseudo-terminal to be had; then standard input is what it was.
    pub(super) fn start(quiet: &Quiet) -> io::Result<Self> {
        let ours = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
        rustix::pty::grantpt(&ours)?;
        rustix::pty::unlockpt(&ours)?;
        let name = rustix::pty::ptsname(&ours, Vec::new())?;
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
        let theirs = rustix::fs::open(name, flags, rustix::fs::Mode::empty())?;
        let mut modes = termios::tcgetattr(&theirs)?;
        modes.make_raw();
        termios::tcsetattr(&theirs, termios::OptionalActions::Now, &modes)?;
        let feeder =
            Feeder { gate: Arc::new(Gate { state: Mutex::default(), bell: Condvar::new() }) };
        let (gate, from) = (Arc::clone(&feeder.gate), Arc::clone(quiet.terminal()));
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || {
            feed(&gate, &from, &ours);
            // Before `ours` is closed, by which the editor learns that its terminal has ended.
            gate.change(|state| state.is_over = true);
        })?;
        rustix::stdio::dup2_stdin(&theirs)?;
        Ok(feeder)
    }

    /// The editor wants the next keys, up to one that may end the line.
    pub(super) fn go_on(&self) {
        self.gate.change(|state| state.wanted = Wanted::Editor);
    }

    /// Whether nothing more will be typed.
    pub(super) fn is_over(&self) -> bool {
        self.gate.lock().is_over
    }
}

/// The keys of the pager.
impl Keys for Feeder {
    fn next_key(&mut self) -> io::Result<Option<char>> {
        self.gate.change(|state| state.wanted = Wanted::Pager);
        let mut state = self.gate.lock();
        loop {
            if let Some(key) = state.key.take() {
                return Ok(Some(key));
            }
            if state.is_over {
                return Ok(None);
            }
            state = self.gate.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.bell.notify_all();
    }

    /// Waits until somebody wants a key; the pager has it then, and the editor is left to the
    /// caller.
    fn pass(&self, key: char) -> Wanted {
        let mut state = self.lock();
        while state.wanted == Wanted::Nobody {
            state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let wanted = state.wanted;
        if wanted == Wanted::Pager {
            state.wanted = Wanted::Nobody;
            state.key = Some(key);
            self.bell.notify_all();
        }
        wanted
    }
}

/// Hands over keys until the terminal or the editor is gone.
fn feed(gate: &Gate, terminal: &OwnedFd, editor: &OwnedFd) {
    let mut decoder = Decoder::default();
    let mut keys: VecDeque<char> = VecDeque::new();
    let mut sequence = Sequence::default();
    let mut buffer = [0; 4096];
    loop {
        let mut piece = String::new();
        while let Some(key) = keys.pop_front() {
            if gate.pass(key) == Wanted::Pager {
                continue;
            }
            piece.push(key);
            let is_alone = sequence.take(key);
            if is_alone && may_end_line(key) {
                // Before the editor can have seen it, for it answers.
                gate.change(|state| state.wanted = Wanted::Nobody);
                if write_all(editor, piece.as_bytes()).is_err() {
                    return;
                }
                piece.clear();
            }
        }
        if write_all(editor, piece.as_bytes()).is_err() {
            return;
        }
        match rustix::io::read(terminal, &mut buffer) {
            Ok(0) => return,
            Ok(length) => decoder.take(&buffer[..length], &mut keys),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Whether the editor may give the line away at a key: Enter, help, completion, Control-C, D, L, R
/// and Z. `Bindings` says of each whether it did.
pub(super) fn may_end_line(key: char) -> bool {
    matches!(key, '\r' | '\n' | '?' | '\t' | '\u{3}' | '\u{4}' | '\u{c}' | '\u{12}' | '\u{1a}')
}

fn write_all(to: &OwnedFd, mut bytes: &[u8]) -> rustix::io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Knows which characters belong to an escape sequence: none of them ends a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sequence {
    #[default]
    None,
    /// Behind ESC.
    Escape,
    /// Behind ESC `[`.
    Parameters,
    /// Behind ESC `O`.
    Single,
}

impl Sequence {
    /// Takes the next character; whether it stands for itself.
    fn take(&mut self, character: char) -> bool {
        let before = *self;
        *self = match (before, character) {
            (Sequence::None | Sequence::Escape, '\u{1b}') => Sequence::Escape,
            (Sequence::Escape, '[') | (Sequence::Parameters, ' '..='?') => Sequence::Parameters,
            (Sequence::Escape, 'O') => Sequence::Single,
            _ => Sequence::None,
        };
        before == Sequence::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_sequences_end_no_line() {
        let alone = |text: &str| -> String {
            let mut sequence = Sequence::default();
            text.chars().filter(|one| sequence.take(*one)).collect()
        };
        assert_eq!(alone("a\r?\t"), "a\r?\t");
        assert_eq!(alone("\u{1b}\rb\r"), "\u{1b}b\r");
        assert_eq!(alone("\u{1b}[A\r"), "\u{1b}\r");
        assert_eq!(alone("\u{1b}[1;5C?"), "\u{1b}?");
        assert_eq!(alone("\u{1b}OP\t"), "\u{1b}\t");
        assert_eq!(alone("\u{1b}\u{1b}[A\r"), "\u{1b}\r");
        // Many terminals send such things when nobody asked.
        assert_eq!(alone("\u{1b}[?1;2c\r"), "\u{1b}\r");
    }
}
