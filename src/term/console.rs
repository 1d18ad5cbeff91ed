//! The console: a terminal with line editing, help at once on `?`, and completion on Tab.
//!
//! rustyline edits the line and nothing else. A handler cannot draw, so `?`, Tab with several
//! candidates, and Control-Z only leave a note and accept the line; the loop here reads the note,
//! prints, and gives the line back for editing where it was left.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustyline::config::Config;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{
    Cmd, ConditionalEventHandler, Editor, Event, EventContext, EventHandler, KeyEvent, RepeatCount,
};

use crate::cli::complete::Completion;
use crate::cli::pager;
use crate::cli::session::Session;
use crate::cli::words;
use crate::term::keys::TerminalKeys;
use crate::term::mask::Mask;

/// Lines that the history holds; it is not saved to disk, for it could hold passwords.
const HISTORY: usize = 20;

/// What a key wants that rustyline cannot do itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Help,
    Complete,
    End,
}

/// The wish of the last key, with the cursor's place.
type Note = Arc<Mutex<Option<(Wish, usize)>>>;

/// A key that leaves a note and accepts the line as it stands.
struct Key {
    wish: Wish,
    note: Note,
    /// Whether a question is being answered, where the key is an ordinary character.
    answering: Arc<AtomicBool>,
}

impl ConditionalEventHandler for Key {
    fn handle(
        &self,
        _event: &Event,
        _count: RepeatCount,
        _positive: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let before = &context.line()[..context.pos()];
        let answering = self.answering.load(Ordering::Relaxed);
        if self.wish == Wish::Help && (answering || words::is_inside_quotes(before)) {
            // Inside an open quote `?` is an ordinary character (decisions 1.6).
            return None;
        }
        let mut note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        *note = Some((self.wish, context.pos()));
        Some(Cmd::AcceptLine)
    }
}

/// Runs a session on the terminal until it is over.
///
/// # Errors
///
/// The terminal fails.
pub fn run(session: &mut Session, output: &mut dyn Write) -> io::Result<()> {
    let config = Config::builder()
        // A pasted block runs line by line, as on the device.
        .bracketed_paste(false)
        .auto_add_history(false)
        .max_history_size(HISTORY)
        .map_err(io::Error::other)?
        .build();
    let history = MemHistory::with_config(&config);
    let mut editor: Editor<Mask, MemHistory> =
        Editor::with_history(config, history).map_err(io::Error::other)?;
    editor.set_helper(Some(Mask::default()));
    let note: Note = Arc::default();
    let answering: Arc<AtomicBool> = Arc::default();
    bind(&mut editor, &note, &answering);
    let mut pending = (String::new(), String::new());
    while !session.is_over() {
        for message in session.notices() {
            output.write_all(message.as_bytes())?;
        }
        output.flush()?;
        let prompt = session.prompt();
        // A question of more than one line: only its last line is edited.
        let (above, prompt) = match prompt.rsplit_once('\n') {
            Some((above, last)) => (format!("{above}\n"), last.to_owned()),
            None => (String::new(), prompt),
        };
        output.write_all(above.as_bytes())?;
        output.flush()?;
        let initial = std::mem::take(&mut pending);
        let is_question = session.question().is_some();
        answering.store(is_question, Ordering::Relaxed);
        if let Some(mask) = editor.helper() {
            mask.on.set(session.asks_secret());
        }
        let line = editor.readline_with_initial(&prompt, (&initial.0, &initial.1));
        let wish = note.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (line, wish) {
            (Ok(line), Some((wish, place))) => {
                pending = grant(session, wish, &line, place, output)?;
            }
            (Ok(line), None) => {
                if !line.trim().is_empty() && !is_question {
                    editor.add_history_entry(&line).map_err(io::Error::other)?;
                }
                let text = session.run(&line);
                show(session, &text, output)?;
            }
            (Err(ReadlineError::Interrupted), _) => session.interrupt(),
            (Err(ReadlineError::Eof), _) => {
                // Control-D on an empty line leaves at `>` and `#`, and nowhere else.
                if session.is_outside_configuration() {
                    break;
                }
            }
            (Err(ReadlineError::Io(error)), _) => return Err(error),
            (Err(error), _) => return Err(io::Error::other(error)),
        }
    }
    output.flush()
}

/// Shows a text, one page at a time if the session says so.
fn show(session: &Session, text: &str, output: &mut dyn Write) -> io::Result<()> {
    match (session.page_length(), TerminalKeys::open()) {
        (Some(length), Ok(mut keys)) => {
            pager::show(&session.appliance().grammar, text, length, &mut keys, output)
        }
        _ => output.write_all(text.as_bytes()),
    }
}

fn bind(editor: &mut Editor<Mask, MemHistory>, note: &Note, answering: &Arc<AtomicBool>) {
    let keys = [
        (KeyEvent::from('?'), Wish::Help),
        (KeyEvent(rustyline::KeyCode::Tab, rustyline::Modifiers::NONE), Wish::Complete),
        (KeyEvent::ctrl('I'), Wish::Complete),
        (KeyEvent::ctrl('Z'), Wish::End),
    ];
    for (key, wish) in keys {
        let answering = Arc::clone(answering);
        let handler = Key { wish, note: Arc::clone(note), answering };
        editor.bind_sequence(key, EventHandler::Conditional(Box::new(handler)));
    }
}

/// Does what a key wanted; gives the line to go on with, left and right of the cursor.
fn grant(
    session: &mut Session,
    wish: Wish,
    line: &str,
    place: usize,
    output: &mut dyn Write,
) -> io::Result<(String, String)> {
    let place = place.min(line.len());
    let (left, right) =
        if line.is_char_boundary(place) { line.split_at(place) } else { (line, "") };
    match wish {
        Wish::Help => {
            let text = session.help(left);
            show(session, &text, output)?;
        }
        Wish::Complete => match session.complete(left) {
            Completion::Insert(text) => {
                // Back onto the line that the accepted key has left.
                output.write_all(b"\x1b[A")?;
                output.flush()?;
                return Ok((format!("{left}{text}"), right.to_owned()));
            }
            Completion::List(list) => output.write_all(list.as_bytes())?,
            Completion::Nothing => {
                output.write_all(b"\x1b[A")?;
                output.flush()?;
            }
        },
        Wish::End => {
            session.end();
            return Ok((String::new(), String::new()));
        }
    }
    Ok((left.to_owned(), right.to_owned()))
}
