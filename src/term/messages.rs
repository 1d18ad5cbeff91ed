//! Messages of the appliance above the line that is being edited.
//!
//! A thread of its own waits for them and hands them to the line editor, which prints them above
//! the prompt and draws prompt and text again. It does so only while a line is being edited: in
//! between, the console prints what waits, in order with its own output.
//!
//! The editor's queue holds one message, and a second one waits until the first is drawn. So the
//! console never waits for this thread while the editor exists. And the editor draws messages only
//! when no key is waiting: one that falls into a pasted block appears behind it.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustyline::completion::Completer;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, ExternalPrinter, Helper};

use crate::appliance::Appliance;
use crate::cli::session::Session;
use crate::log::Taking;
use crate::term::bindings::lock;
use crate::term::mask::Mask;

/// Knows whether a line is being edited. The editor itself tells: it asks its hinter when it has
/// set up the terminal and draws, and its validator when the line is accepted and the terminal
/// still is as it set it.
pub(super) struct Watch {
    appliance: Arc<Appliance>,
    phase: AtomicU8,
}

const BETWEEN: u8 = 0;
const EDITING: u8 = 1;
const OVER: u8 = 2;

impl Watch {
    pub(super) fn new(appliance: Arc<Appliance>) -> Arc<Self> {
        Arc::new(Watch { appliance, phase: AtomicU8::new(BETWEEN) })
    }

    /// A line is no longer edited.
    pub(super) fn leave(&self) {
        self.phase.store(BETWEEN, Ordering::SeqCst);
    }

    /// There will be no more lines.
    pub(super) fn end(&self) {
        self.phase.store(OVER, Ordering::SeqCst);
        self.appliance.log.wake();
    }

    fn enter(&self) {
        if self.phase.swap(EDITING, Ordering::SeqCst) != EDITING {
            self.appliance.log.wake();
        }
    }

    fn taking(&self) -> Taking {
        match self.phase.load(Ordering::SeqCst) {
            EDITING => Taking::Now,
            OVER => Taking::Never,
            _ => Taking::Later,
        }
    }
}

/// Starts the thread; it ends after [`Watch::end`] once the editor is gone.
pub(super) fn print_above(
    watch: Arc<Watch>,
    session: Arc<Mutex<Session>>,
    mut printer: impl ExternalPrinter + Send + 'static,
) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("console messages".to_owned()).spawn(move || {
        let mut seen = watch.appliance.log.next_number();
        while let Some(next) = watch.appliance.log.wait_when(seen, || watch.taking()) {
            seen = next;
            let messages = lock(&session).notices();
            if !messages.is_empty() && printer.print(messages.concat()).is_err() {
                break;
            }
        }
    })
}

/// What the editor asks on its way through a line.
pub(super) struct Watcher {
    pub(super) watch: Arc<Watch>,
    /// Hides the answer to a question for a password.
    pub(super) mask: Mask,
}

impl Helper for Watcher {}

impl Highlighter for Watcher {
    fn highlight<'l>(&self, line: &'l str, place: usize) -> Cow<'l, str> {
        self.mask.highlight(line, place)
    }

    fn highlight_char(&self, line: &str, place: usize, kind: CmdKind) -> bool {
        self.mask.highlight_char(line, place, kind)
    }
}

impl Completer for Watcher {
    type Candidate = String;
}

impl Hinter for Watcher {
    type Hint = String;

    fn hint(&self, _line: &str, _place: usize, _context: &Context<'_>) -> Option<String> {
        self.watch.enter();
        None
    }
}

impl Validator for Watcher {
    fn validate(
        &self,
        _context: &mut ValidationContext<'_>,
    ) -> rustyline::Result<ValidationResult> {
        self.watch.leave();
        Ok(ValidationResult::Valid(None))
    }
}
