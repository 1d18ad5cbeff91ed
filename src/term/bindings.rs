//! Bindings that mean something else to the device than to the line editor.
//!
//! A handler cannot draw and returns one command. A unique completion is such a command; for a list
//! it leaves a note and accepts the line as it stands, and the console prints and gives the line
//! back where it was left.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustyline::{
    Cmd, ConditionalEventHandler, Event, EventContext, KeyCode, KeyEvent, Modifiers, Movement,
    RepeatCount,
};

use super::feeder::Feeder;
use crate::cli::complete::Completion;
use crate::cli::session::{LONGEST_LINE, Session};
use crate::cli::words;

/// What a key wants that the line editor cannot do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// The list of what may stand before the cursor.
    Help,
    /// That list, made already.
    List(String),
    /// The line once more on a new line.
    Again,
    /// Out of the configuration.
    End,
}

/// A wish with the place of the cursor, bytes from the beginning of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) wish: Wish,
    pub(super) place: usize,
}

/// The handler of every key.
pub(super) struct Bindings {
    session: Arc<Mutex<Session>>,
    state: Arc<Mutex<State>>,
    /// Waits behind each key that may end the line.
    feeder: Option<Feeder>,
}

#[derive(Default)]
struct State {
    note: Option<Note>,
    /// Whether the last key was a carriage return, which a line feed may belong to.
    after_return: bool,
}

/// Where the notes of the keys are found.
pub(super) struct Notes(Arc<Mutex<State>>);

impl Notes {
    /// Takes the note of the key that ended the last line, if it left one.
    pub(super) fn take(&self) -> Option<Note> {
        lock(&self.0).note.take()
    }
}

impl Bindings {
    pub(super) fn new(session: Arc<Mutex<Session>>, feeder: Option<Feeder>) -> (Self, Notes) {
        let state = Arc::<Mutex<State>>::default();
        let notes = Notes(Arc::clone(&state));
        (Bindings { session, state, feeder }, notes)
    }

    fn wish(&self, wish: Wish, place: usize) -> Cmd {
        lock(&self.state).note = Some(Note { wish, place });
        Cmd::AcceptLine
    }

    fn complete(&self, before: &str) -> Cmd {
        let completion = lock(&self.session).complete(before);
        match completion {
            Completion::Insert(text) => Cmd::Insert(1, text),
            Completion::List(list) => self.wish(Wish::List(list), before.len()),
            Completion::Nothing => Cmd::Noop,
        }
    }
}

impl ConditionalEventHandler for Bindings {
    fn handle(
        &self,
        event: &Event,
        count: RepeatCount,
        _positive: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let key = *event.get(0)?;
        let command = self.command(key, count, context);
        // The feeder waits for the next line unless this one goes on.
        if may_end_line(key) && !ends_line(key, command.as_ref(), context.line()) {
            self.feeder.iter().for_each(Feeder::go_on);
        }
        command
    }
}

/// Whether the feeder waits behind a key. Of a sequence that the editor does not know, nobody can
/// tell where it ended.
fn may_end_line(KeyEvent(code, modifiers): KeyEvent) -> bool {
    match code {
        KeyCode::Enter | KeyCode::Tab | KeyCode::UnknownEscSeq | KeyCode::Char('?') => true,
        KeyCode::Char(letter) if modifiers == Modifiers::CTRL => {
            matches!(letter, 'C' | 'D' | 'I' | 'J' | 'L' | 'M' | 'R' | 'Z')
        }
        _ => false,
    }
}

/// Whether the editor gives the line away at a key; without a command it does what it is used to.
fn ends_line(KeyEvent(code, modifiers): KeyEvent, command: Option<&Cmd>, line: &str) -> bool {
    match (command, code) {
        (Some(command), _) => *command == Cmd::AcceptLine,
        (None, KeyCode::Enter) => true,
        (None, KeyCode::Char('C' | 'J' | 'M')) => modifiers == Modifiers::CTRL,
        (None, KeyCode::Char('D')) => modifiers == Modifiers::CTRL && line.is_empty(),
        (None, _) => false,
    }
}

impl Bindings {
    fn command(
        &self,
        KeyEvent(code, modifiers): KeyEvent,
        count: RepeatCount,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let is_plain = modifiers == Modifiers::NONE;
        let is_control = modifiers == Modifiers::CTRL;
        let after_return = {
            let mut state = lock(&self.state);
            let is_return = is_plain && code == KeyCode::Enter;
            std::mem::replace(&mut state.after_return, is_return)
        };
        let line = context.line();
        let before = line.get(..context.pos()).unwrap_or(line);
        match code {
            // Carriage return and line feed together end one line.
            KeyCode::Char('J') if is_control && after_return && line.is_empty() => Some(Cmd::Noop),
            KeyCode::Char('?') if is_plain => {
                // Inside an open quote, in an answer and in a text it is an ordinary character
                // (decisions 1.6).
                let is_text = words::is_inside_quotes(before) || lock(&self.session).takes_text();
                (!is_text).then(|| self.wish(Wish::Help, before.len()))
            }
            KeyCode::Tab if is_plain => Some(if lock(&self.session).takes_text() {
                Cmd::Noop
            } else {
                self.complete(before)
            }),
            KeyCode::BackTab => Some(Cmd::Noop),
            // Enter in a sequence is no Enter, and nothing is taken as it stands.
            KeyCode::Enter if !is_plain => Some(Cmd::Noop),
            KeyCode::Char('Q' | 'V') if is_control => Some(Cmd::Noop),
            KeyCode::Char('Z') if is_control => Some(self.wish(Wish::End, 0)),
            KeyCode::Char('L' | 'R') if is_control => Some(self.wish(Wish::Again, before.len())),
            KeyCode::Char('X') if is_control => Some(Cmd::Kill(Movement::BeginningOfLine)),
            KeyCode::Char('D') if is_control && line.is_empty() => {
                // It leaves at `>` and `#`, and nowhere else (decisions 1.1).
                let session = lock(&self.session);
                let leaves = session.is_outside_configuration() && session.question().is_none();
                (!leaves).then_some(Cmd::Noop)
            }
            // A line does not grow beyond what is looked at.
            KeyCode::Char('Y') if is_control => is_full(line, 1).then_some(Cmd::Noop),
            KeyCode::Char(_) if !is_control => is_full(line, count).then_some(Cmd::Noop),
            _ => None,
        }
    }
}

fn is_full(line: &str, more: RepeatCount) -> bool {
    line.len() + usize::from(more) > LONGEST_LINE
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while it was held has ended the program already.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
