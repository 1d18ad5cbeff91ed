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
use super::feeder::Feeder;
use super::mask::Mask;
use super::messages::{self, Watch, Watcher};
use super::quiet::{Quiet, Settings};
use crate::cli::pager;
use crate::cli::session::Session;
use crate::cli::words;

/// Lines that the history holds; it is not saved to disk, for it could hold passwords.
const HISTORY: usize = 20;

type LineEditor = Editor<Watcher, MemHistory>;

/// A session on the terminal of the program.
pub struct Console {
    session: Arc<Mutex<Session>>,
    editor: LineEditor,
    notes: Notes,
    /// Hands over what is typed; none where the system edits the line.
    feeder: Option<Feeder>,
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
        let mut editor = editor(&watch).map_err(io_error)?;
        let (mut thread, mut quiet, mut feeder) = (None, None, None);
        // A terminal that cannot move its cursor: the system edits the line, and messages are
        // printed between two lines only.
        if let Ok(printer) = editor.create_external_printer() {
            let (watch, session) = (Arc::clone(&watch), Arc::clone(&session));
            thread = Some(messages::print_above(watch, session, printer)?);
            quiet = Quiet::begin();
            // Without one a text is never divided into pages.
            feeder = quiet.as_ref().and_then(|quiet| Feeder::start(quiet).ok());
        }
        let (keys, notes) = Bindings::new(Arc::clone(&session), feeder.clone());
        editor.bind_sequence(Event::Any, EventHandler::Conditional(Box::new(keys)));
        Ok(Console { session, editor, notes, feeder, watch, thread, quiet })
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
        let result = self.play(output);
        self.watch.end();
        drop(self.editor);
        if let Some(thread) = self.thread {
            // It has nothing to tell; a panic of it has been reported.
            let _ = thread.join();
        }
        result
    }

    fn play(&mut self, output: &mut dyn Write) -> io::Result<()> {
        // What stands left and right of the cursor when the next line begins.
        let mut given = (String::new(), String::new());
        while !lock(&self.session).is_over() {
            let prompt = self.begin_line(output)?;
            let (left, right) = std::mem::take(&mut given);
            let line = self.editor.readline_with_initial(&prompt, (&left, &right));
            self.watch.leave();
            let mut session = lock(&self.session);
            match (line, self.notes.take()) {
                (Ok(line), Some(note)) => {
                    given = grant(&mut session, note, &line, self.feeder.as_ref(), output)?;
                }
                (Ok(line), None) => {
                    // Only a terminal without editing lets a line end like that.
                    if let Some(before) = line.strip_suffix('?')
                        && !session.takes_text()
                        && !words::is_inside_quotes(before)
                    {
                        show(&session, &session.help(before), self.feeder.as_ref(), output)?;
                        continue;
                    }
                    if !line.trim().is_empty() && !session.takes_text() {
                        self.editor.add_history_entry(&line).map_err(io_error)?;
                    }
                    let text = session.run(&line);
                    show(&session, &text, self.feeder.as_ref(), output)?;
                }
                (Err(ReadlineError::Interrupted), _) => session.interrupt(),
                (Err(ReadlineError::Eof), _) => break,
                // The terminal is gone.
                (Err(_), _) if self.feeder.as_ref().is_some_and(Feeder::is_over) => break,
                (Err(error), _) => return Err(io_error(error)),
            }
        }
        output.flush()
    }

    /// Prints what stands above the next line; gives what stands left of it.
    fn begin_line(&self, output: &mut dyn Write) -> io::Result<String> {
        let (above, prompt) = {
            let mut session = lock(&self.session);
            for message in session.notices() {
                output.write_all(message.as_bytes())?;
            }
            if let Some(helper) = self.editor.helper() {
                helper.mask.on.set(session.asks_secret());
            }
            split_prompt(session.prompt())
        };
        output.write_all(above.as_bytes())?;
        output.flush()?;
        self.feeder.iter().for_each(Feeder::go_on);
        Ok(prompt)
    }
}

fn editor(watch: &Arc<Watch>) -> rustyline::Result<LineEditor> {
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
    Ok(editor)
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
    feeder: Option<&Feeder>,
    output: &mut dyn Write,
) -> io::Result<(String, String)> {
    let (left, right) = line.split_at_checked(note.place).unwrap_or((line, ""));
    match note.wish {
        Wish::Help => show(session, &session.help(left), feeder, output)?,
        Wish::List(list) => show(session, &list, feeder, output)?,
        Wish::Again => {}
        Wish::End => {
            session.end();
            return Ok((String::new(), String::new()));
        }
    }
    Ok((left.to_owned(), right.to_owned()))
}

/// Shows a text, one page at a time if the session says so.
fn show(
    session: &Session,
    text: &str,
    feeder: Option<&Feeder>,
    output: &mut dyn Write,
) -> io::Result<()> {
    match (session.page_length(), feeder) {
        (Some(length), Some(feeder)) => {
            let grammar = &session.appliance().grammar;
            pager::show(grammar, text, length, &mut feeder.clone(), output)
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
