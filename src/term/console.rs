//! The console: a terminal with line editing, help at once on `?`, and completion on Tab.
//!
//! rustyline edits the line and nothing else. What its keys cannot do themselves they note down
//! (`bindings`); the loop here does it and gives the line back for editing where it was left.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustyline::config::{Config, Configurer as _};
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{ColorMode, Editor, Event, EventHandler};

use super::bindings::{Bindings, Note, Notes, Wish, lock};
use super::keys::TerminalKeys;
use super::mask::Mask;
use super::messages::{self, Watch, Watcher};
use super::quiet::{Quiet, Settings};
use crate::cli::pager;
use crate::cli::session::Session;
use crate::cli::words;
use crate::grammar::link::Message;

/// Lines that the history holds; it is not saved to disk, for it could hold passwords.
const HISTORY: usize = 20;

type LineEditor = Editor<Watcher, MemHistory>;

/// A session on the terminal of the program.
pub struct Console {
    session: Arc<Mutex<Session>>,
    editor: LineEditor,
    notes: Notes,
    watch: Arc<Watch>,
    /// Prints messages above the line; ends when the editor is gone.
    thread: Option<JoinHandle<()>>,
    /// Last, so that the terminal is set back behind everything else.
    quiet: Option<Quiet>,
}

impl Console {
    /// Sets the terminal up for a session.
    ///
    /// # Errors
    ///
    /// The terminal fails.
    pub fn new(session: Session) -> io::Result<Self> {
        let watch = Watch::new(Arc::clone(session.appliance()));
        let session = Arc::new(Mutex::new(session));
        let (mut editor, notes) = editor(&session, &watch).map_err(io_error)?;
        let (thread, quiet) = match editor.create_external_printer() {
            Ok(printer) => {
                let thread =
                    messages::print_above(Arc::clone(&watch), Arc::clone(&session), printer)?;
                (Some(thread), Quiet::begin())
            }
            // A terminal that cannot move its cursor: the system edits the line, and messages are
            // printed between two lines only.
            Err(_) => (None, None),
        };
        Ok(Console { session, editor, notes, watch, thread, quiet })
    }

    /// What the terminal must be set back to by one that ends the program from another thread.
    pub fn settings(&self) -> Option<Settings> {
        self.quiet.as_ref().map(Quiet::settings)
    }

    /// Runs the session until it is over.
    ///
    /// # Errors
    ///
    /// The terminal fails.
    pub fn run(mut self, output: &mut dyn Write) -> io::Result<()> {
        let result = play(&self.session, &mut self.editor, &self.notes, &self.watch, output);
        self.watch.end();
        drop(self.editor);
        if let Some(thread) = self.thread {
            // It has nothing to tell; a panic of it has been reported.
            let _ = thread.join();
        }
        result
    }
}

fn editor(
    session: &Arc<Mutex<Session>>,
    watch: &Arc<Watch>,
) -> rustyline::Result<(LineEditor, Notes)> {
    let mut config = Config::builder()
        // A pasted block runs line by line, as on the device.
        .bracketed_paste(false)
        // Nothing is coloured; what hides a password goes the way of colours.
        .color_mode(ColorMode::Forced)
        .auto_add_history(false)
        .max_history_size(HISTORY)?;
    // Logs of a session stay readable.
    config.enable_synchronized_output(false);
    let config = config.build();
    let history = MemHistory::with_config(&config);
    let mut editor = Editor::with_history(config, history)?;
    editor.set_helper(Some(Watcher { watch: Arc::clone(watch), mask: Mask::default() }));
    let (keys, notes) = Bindings::new(Arc::clone(session));
    editor.bind_sequence(Event::Any, EventHandler::Conditional(Box::new(keys)));
    Ok((editor, notes))
}

fn play(
    session: &Mutex<Session>,
    editor: &mut LineEditor,
    notes: &Notes,
    watch: &Watch,
    output: &mut dyn Write,
) -> io::Result<()> {
    // What stands left and right of the cursor when the next line begins.
    let mut given = (String::new(), String::new());
    while !lock(session).is_over() {
        let (above, prompt) = {
            let mut session = lock(session);
            for message in session.notices() {
                output.write_all(message.as_bytes())?;
            }
            if let Some(helper) = editor.helper() {
                helper.mask.on.set(session.asks_secret());
            }
            split_prompt(session.prompt())
        };
        output.write_all(above.as_bytes())?;
        output.flush()?;
        let (left, right) = std::mem::take(&mut given);
        let line = editor.readline_with_initial(&prompt, (&left, &right));
        watch.leave();
        let mut session = lock(session);
        match (line, notes.take()) {
            (Ok(line), Some(note)) => given = grant(&mut session, note, &line, output)?,
            (Ok(line), None) => {
                // Only a terminal without editing lets a line end like that.
                if let Some(before) = line.strip_suffix('?')
                    && session.question().is_none()
                    && !words::is_inside_quotes(before)
                {
                    show(&session, &session.help(before), output)?;
                    continue;
                }
                if !line.trim().is_empty() && session.question().is_none() {
                    editor.add_history_entry(&line).map_err(io_error)?;
                }
                let text = session.run(&line);
                show(&session, &text, output)?;
            }
            (Err(ReadlineError::Interrupted), _) => session.interrupt(),
            (Err(ReadlineError::Eof), _) => break,
            (Err(ReadlineError::Io(error)), _) if error.kind() == io::ErrorKind::InvalidData => {
                // Bytes that are no UTF-8: the line they stand in is lost, and that is said.
                let grammar = &session.appliance().grammar;
                let replacement = char::REPLACEMENT_CHARACTER.to_string();
                let text = grammar.message(Message::InvalidInput, &[("rest", &replacement)]);
                output.write_all(text.as_bytes())?;
            }
            (Err(error), _) => return Err(io_error(error)),
        }
    }
    output.flush()
}

/// A question may have more than one line: only its last line is edited.
fn split_prompt(prompt: String) -> (String, String) {
    match prompt.rfind('\n') {
        Some(end) => (prompt[..=end].to_owned(), prompt[end + 1..].to_owned()),
        None => (String::new(), prompt),
    }
}

/// Does what a key wanted; gives the line to go on with, left and right of the cursor.
fn grant(
    session: &mut Session,
    note: Note,
    line: &str,
    output: &mut dyn Write,
) -> io::Result<(String, String)> {
    let (left, right) = line.split_at_checked(note.place).unwrap_or((line, ""));
    match note.wish {
        Wish::Help => show(session, &session.help(left), output)?,
        Wish::List(list) => show(session, &list, output)?,
        Wish::Again => {}
        Wish::End => {
            session.end();
            return Ok((String::new(), String::new()));
        }
    }
    Ok((left.to_owned(), right.to_owned()))
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

fn io_error(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        other => io::Error::other(other),
    }
}
