//! A session on a line of bytes: what a remote user types in, what the terminal shows out.
//!
//! A machine without sockets and threads. Whoever runs it hands it what arrives and takes what it
//! writes; in between it goes on line by line, so that nobody has to wait for a thousand lines
//! that were pasted at once, and its output never grows beyond that of one line.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::connection::line_settings;
use super::editor::{Editor, Kind, Wish};
use super::keys::{Decoder, Key};
use crate::cli::complete::Completion;
use crate::cli::interrupt;
use crate::cli::pager::Pager;
use crate::cli::session::Session;
use crate::cli::sessions::LineKind;
use crate::clock::Moment;
use crate::grammar::Grammar;

/// Bytes that are typed ahead before whoever runs the shell should wait with more.
pub const MUCH_TYPED_AHEAD: usize = 64 * 1024;

/// Bytes that are typed ahead at most.
pub const MOST_TYPED_AHEAD: usize = 4 * 1024 * 1024;

/// Bytes that are made into keys together.
const BYTES_AT_ONCE: usize = 256;

/// Lines that are run before somebody takes the output.
const LINES_AT_ONCE: usize = 16;

/// What is written before somebody takes it, about; then the keys wait.
const ENOUGH_OUTPUT: usize = 16 * 1024;

/// How long a session rests after a wrong password, in seconds; twice as long after each further
/// one, up to the last.
const RESTS: [u64; 4] = [1, 2, 4, 8];

/// A session on a line of bytes.
#[derive(Debug)]
pub struct Shell {
    session: Session,
    editor: Editor,
    decoder: Decoder,
    /// Bytes that have arrived and were not looked at.
    bytes: VecDeque<u8>,
    /// Keys of those that were.
    keys: VecDeque<Key>,
    pager: Option<Pager<Arc<Grammar>>>,
    /// A line that waits until its end has been shown: it may take long.
    line: Option<String>,
    /// Whether what is typed is dropped up to a Control-C that has done its work.
    drops: bool,
    output: String,
    /// Wrong passwords that have been answered for.
    refused: u32,
    /// Until when nothing that is typed counts, after a wrong password.
    rests: Option<Moment>,
    last_input: Moment,
    is_over: bool,
}

impl Shell {
    /// Begins with what appears before the first prompt, and the prompt.
    pub fn new(mut session: Session) -> Self {
        let mut output = String::new();
        push_lines(&mut output, &session.greeting());
        for notice in session.notices() {
            push_lines(&mut output, &notice);
        }
        let refused = session.refused();
        let last_input = session.appliance().clock.now();
        let mut shell = Shell {
            session,
            editor: Editor::default(),
            decoder: Decoder::default(),
            bytes: VecDeque::new(),
            keys: VecDeque::new(),
            pager: None,
            line: None,
            drops: false,
            output,
            refused,
            rests: None,
            last_input,
            is_over: false,
        };
        shell.prompt();
        shell
    }

    /// The terminal has that many columns; 0 if it does not know them itself.
    pub fn set_width(&mut self, columns: usize) {
        self.editor.set_width(columns);
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Whether the session is over.
    pub fn is_over(&self) -> bool {
        self.is_over || self.session.is_over()
    }

    /// Bytes that wait to be looked at. A caller that receives more than [`MOST_TYPED_AHEAD`] of
    /// them lets it grow without bound.
    pub fn typed_ahead(&self) -> usize {
        self.bytes.len() + self.keys.len()
    }

    /// Whether [`Shell::go_on`] would do something.
    pub fn can_go_on(&mut self) -> bool {
        let waits = self.line.is_some() || !self.keys.is_empty() || !self.bytes.is_empty();
        waits && !self.is_over() && !self.is_resting()
    }

    /// Takes bytes that were typed; they wait until [`Shell::go_on`].
    pub fn receive(&mut self, mut bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.last_input = self.session.appliance().clock.now();
        if self.line.is_some() {
            self.session.interruption().take(bytes);
        }
        if self.drops {
            let Some(place) = bytes.iter().position(|byte| *byte == interrupt::KEY) else { return };
            self.drops = false;
            bytes = &bytes[place + 1..];
        }
        self.bytes.extend(bytes);
    }

    /// Goes on with what was typed, for some lines or until there is enough to write. To be called
    /// as long as it [can](Self::can_go_on), its output taken in between.
    pub fn go_on(&mut self) {
        let mut lines = 0;
        if let Some(line) = self.line.take() {
            self.run(&line);
            lines += 1;
        }
        while lines < LINES_AT_ONCE && self.output.len() < ENOUGH_OUTPUT && self.can_go_on() {
            let Some(key) = self.next_key() else { break };
            lines += usize::from(self.take(key));
        }
    }

    /// Takes what is to be written.
    pub fn take_output(&mut self) -> String {
        std::mem::take(&mut self.output)
    }

    /// Shows what the appliance has to say, above the line that is being edited.
    pub fn show_notices(&mut self) {
        // What falls into a page of output appears behind it.
        if self.pager.is_some() || self.line.is_some() || self.is_over() {
            return;
        }
        let notices = self.session.notices();
        if notices.is_empty() {
            return;
        }
        self.editor.wipe(&mut self.output);
        for notice in notices {
            push_lines(&mut self.output, &notice);
        }
        self.prompt();
    }

    /// Shows the line that is being edited once more, on a line of its own.
    pub fn show_again(&mut self) {
        if self.pager.is_none() && self.line.is_none() && !self.is_over() {
            self.editor.leave(&mut self.output);
            self.prompt();
        }
    }

    /// Logs the user of a console out who has typed nothing for too long: with what is asked, the page
    /// of output and the line that is half typed. The console goes on. Sessions of other lines end
    /// instead, which is left to whoever runs them.
    pub fn pass_time(&mut self) {
        let settings = line_settings(self.session.appliance());
        let is_console = self.session.line_kind() == LineKind::Console;
        let longest = settings.console_idle.filter(|_| is_console && self.line.is_none());
        if longest.is_none_or(|longest| self.idle() < longest) || self.is_over() {
            return;
        }
        if !self.session.log_out() {
            return;
        }
        self.last_input = self.session.appliance().clock.now();
        self.bytes.clear();
        self.keys.clear();
        if self.pager.take().is_some() {
            push_lines(&mut self.output, "\n");
        } else {
            self.editor.give_up(&mut self.output);
        }
        self.prompt();
    }

    /// For how long nothing was typed.
    pub fn idle(&self) -> Duration {
        self.session.appliance().clock.now().since(self.last_input)
    }

    /// Whether it rests after a wrong password, and nothing that was typed counts yet.
    pub fn is_resting(&mut self) -> bool {
        let now = self.session.appliance().clock.now();
        self.rests = self.rests.filter(|until| now < *until);
        self.rests.is_some()
    }

    fn next_key(&mut self) -> Option<Key> {
        while self.keys.is_empty() && !self.bytes.is_empty() {
            let bytes: Vec<u8> = self.bytes.drain(..self.bytes.len().min(BYTES_AT_ONCE)).collect();
            self.decoder.push(&bytes, &mut self.keys);
        }
        if self.bytes.is_empty() {
            // What a paste has grown it to is given back.
            self.bytes.shrink_to(MUCH_TYPED_AHEAD);
        }
        self.keys.pop_front()
    }

    /// Takes a key; whether it ended a line.
    fn take(&mut self, key: Key) -> bool {
        if let Some(pager) = &mut self.pager {
            if let Some(character) = key.character() {
                let shown = pager.key(character);
                let is_over = pager.is_over();
                push_lines(&mut self.output, &shown);
                if is_over {
                    self.pager = None;
                    self.prompt();
                }
            }
            return true;
        }
        let Some(wish) = self.editor.key(key, &mut self.output) else { return false };
        self.grant(wish)
    }

    /// Does what a key wants; whether that ended a line.
    fn grant(&mut self, wish: Wish) -> bool {
        match wish {
            Wish::Run(line) => {
                self.session.interruption().clear();
                // Whoever has typed ahead does not wait for an echo.
                if self.typed_ahead() == 0 {
                    self.line = Some(line);
                } else {
                    self.run(&line);
                }
            }
            Wish::Help(text) => {
                let list = self.session.help(&text);
                self.show(&list);
            }
            Wish::Complete(text) => match self.session.complete(&text) {
                Completion::Insert(rest) => {
                    self.editor.insert(&rest, &mut self.output);
                    return false;
                }
                Completion::List(list) => {
                    self.editor.leave(&mut self.output);
                    self.show(&list);
                }
                Completion::Nothing => return false,
            },
            Wish::End => {
                self.session.end();
                self.prompt();
            }
            Wish::Interrupt => {
                self.session.interrupt();
                self.prompt();
            }
            Wish::Leave => {
                // It leaves at `>` and `#`, and nowhere else (decisions 1.1).
                let leaves = self.session.is_outside_configuration();
                if !leaves || self.session.takes_text() {
                    return false;
                }
                push_lines(&mut self.output, "\n");
                self.is_over = true;
            }
        }
        true
    }

    fn run(&mut self, line: &str) {
        let text = self.session.run(line);
        // Nobody stands still who waits.
        self.last_input = self.session.appliance().clock.now();
        if self.session.interruption().was_heard() {
            // What was typed before the Control-C goes with it.
            self.keys.clear();
            self.drops = true;
            let bytes: Vec<u8> = self.bytes.drain(..).collect();
            self.receive(&bytes);
        }
        self.rest_after_refusal();
        self.show(&text);
    }

    /// Shows a text, and the next prompt with the line that was being edited, if one was.
    fn show(&mut self, text: &str) {
        self.page(text);
        if self.pager.is_none() && !self.is_over() {
            self.prompt();
        }
    }

    fn page(&mut self, text: &str) {
        let Some(length) = self.session.page_length() else {
            push_lines(&mut self.output, text);
            return;
        };
        let grammar = Arc::clone(&self.session.appliance().grammar);
        let (shown, pager) = Pager::start(grammar, text, length);
        push_lines(&mut self.output, &shown);
        self.pager = pager;
    }

    fn prompt(&mut self) {
        for notice in self.session.notices() {
            push_lines(&mut self.output, &notice);
        }
        let prompt = self.prompt_line();
        let kind = match (self.session.asks_secret(), self.session.takes_text()) {
            (true, _) => Kind::Secret,
            (false, true) => Kind::Answer,
            (false, false) => Kind::Command,
        };
        self.editor.show(&prompt, kind, &mut self.output);
    }

    /// The last line of what stands left of the cursor; what is above it is written.
    fn prompt_line(&mut self) -> String {
        let mut prompt = self.session.prompt();
        if let Some(end) = prompt.rfind('\n') {
            push_lines(&mut self.output, &prompt[..=end]);
            prompt.drain(..=end);
        }
        prompt
    }

    fn rest_after_refusal(&mut self) {
        let refused = self.session.refused();
        if refused == self.refused {
            return;
        }
        self.refused = refused;
        let which = usize::try_from(refused).unwrap_or(usize::MAX).clamp(1, RESTS.len()) - 1;
        let now = self.session.appliance().clock.now();
        self.rests = Some(now.plus_secs(RESTS[which]));
    }
}

/// Writes text with the line breaks of a terminal.
fn push_lines(output: &mut String, text: &str) {
    let mut lines = text.split('\n');
    output.push_str(lines.next().unwrap_or_default());
    for line in lines {
        output.push_str("\r\n");
        output.push_str(line);
    }
}
