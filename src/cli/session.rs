//! One user: the levels it is in, and what a typed line does.
//!
//! Plain synchronous code without a terminal: a console, a file of lines, a session file and a
//! remote login bring only another source of lines.

use std::sync::Arc;

use crate::appliance::Appliance;
use crate::cli::complete::{self, Completion};
use crate::cli::files::Which;
use crate::cli::interrupt::Interrupt;
pub use crate::cli::question::Question;
use crate::cli::sessions::{Line, LineKind, Ticket};
use crate::cli::typed_text::TypedText;
use crate::cli::words;
use crate::cli::{access, actions, help, matcher, pager};
use crate::config::edit::Place;
use crate::config::load::stop_message;
use crate::config::tree::Path;
use crate::dns::Responder;
use crate::grammar::link::{Kept, Message};
use crate::grammar::{Grammar, ModeId, Privilege};
use crate::model::access::User;
use crate::show::{RttSimulation, log_line};

/// One user of an appliance.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a state of its own")]
pub struct Session {
    pub(super) appliance: Arc<Appliance>,
    /// What answers questions: those of `emulate query` take the same path as any other.
    pub(super) responder: Arc<Responder>,
    /// Where the session is, outermost level first; never empty.
    pub(super) levels: Vec<Place>,
    /// A question that the next line answers.
    pub(super) question: Option<Question>,
    /// Where it came in.
    pub(super) line: Line,
    /// Its place among the open sessions; none for a session that only runs one command.
    ticket: Option<Ticket>,
    /// Its user, if it had to name one.
    pub(super) user: Option<String>,
    /// What its user may do at the privileged level and below.
    pub(super) privilege: Privilege,
    /// Whether it began at the privileged level, so that leaving that ends it.
    pub(super) landed_privileged: bool,
    /// What is simulated at the level of the simulator of round-trip times.
    pub(super) simulation: Option<RttSimulation>,
    /// Restarts of the appliance that it has seen.
    restarts: u64,
    /// What it shows of the log.
    pub(super) log: LogView,
    /// Slot and number of the processor that its innermost level is at, if it is at one.
    pub(super) processor: (u16, u16),
    /// Whether it has changed the configuration since it entered it.
    pub(super) has_changed: bool,
    /// A text over several lines that is being typed, or has just ended.
    pub(super) text: Option<TypedText>,
    /// How output is divided into pages.
    pub page: Page,
    /// Whether the lines of a batch buffer run.
    pub(super) runs_batch: bool,
    /// Control-C while a line runs.
    pub(super) interruption: Interrupt,
    /// Wrong answers to who its user is.
    pub(super) refused: u32,
    /// Whether the session is over.
    pub(super) is_over: bool,
}

/// What a session shows of the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogView {
    /// Whether messages are printed as they come.
    pub(super) monitor: bool,
    /// The number of the first message that has not been.
    unseen: u64,
}

/// How output is divided into pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// What this session was told; `None`: as the configuration says.
    pub on: Option<bool>,
    /// Lines of a page; 0 turns the division off.
    pub length: usize,
}

impl Default for Page {
    fn default() -> Self {
        Page { on: None, length: pager::DEFAULT_LENGTH }
    }
}

/// Names of the modes that the program itself enters.
const USER: &str = "user";
pub(super) const PRIVILEGED: &str = "privileged";

/// The longest line that is looked at, bytes; the rest of a longer one is cut off.
pub const LONGEST_LINE: usize = 4096;

impl Session {
    /// A session of the console, at the user level.
    pub fn new(responder: Arc<Responder>) -> Self {
        let mut session = Self::unlisted(responder);
        session.enter_line(Line::Console);
        if access::access(&session).asks_console {
            access::begin(&mut session);
        }
        session
    }

    /// A session that came in on a line and is asked who it is, if the configuration says so.
    pub fn remote(responder: Arc<Responder>, line: Line) -> Self {
        let mut session = Self::unlisted(responder);
        session.enter_line(line);
        access::begin(&mut session);
        access::announce(&session);
        session
    }

    /// A session whose user has been checked already, as SSH does it, by
    /// [`Access::account`](crate::model::access::Access::account).
    pub fn of_user(responder: Arc<Responder>, line: Line, user: &User) -> Self {
        let mut session = Self::unlisted(responder);
        session.enter_line(line);
        session.set_user(&user.name);
        if access::access(&session).begins_privileged {
            session.land_privileged(user.privilege);
        }
        session.question = access::behind_banner(&session, None);
        access::record_login(&session);
        session
    }

    /// A session of the console, at the privileged level.
    pub fn privileged(responder: Arc<Responder>) -> Self {
        let mut session = Self::unlisted(responder);
        session.enter_line(Line::Console);
        session.enter_privileged(Privilege::Full);
        session
    }

    /// A session that nobody sees.
    fn unlisted(responder: Arc<Responder>) -> Self {
        let appliance = Arc::clone(&responder.appliance);
        let user = mode(&appliance.grammar, USER);
        let (restarts, unseen) = (appliance.restarts(), appliance.log.next_number());
        Session {
            appliance,
            responder,
            levels: vec![Place { mode: user, path: Path::new() }],
            question: None,
            line: Line::Console,
            ticket: None,
            user: None,
            privilege: Privilege::Full,
            landed_privileged: false,
            simulation: None,
            restarts,
            log: LogView { monitor: false, unseen },
            processor: (0, 0),
            has_changed: false,
            text: None,
            page: Page::default(),
            runs_batch: false,
            interruption: Interrupt::default(),
            refused: 0,
            is_over: false,
        }
    }

    fn enter_line(&mut self, line: Line) {
        self.line = line;
        self.ticket = Some(self.appliance.sessions.enter(line, self.appliance.clock.now()));
    }

    /// What appears before the first prompt of a remote session (base-cli 1.5).
    pub fn greeting(&self) -> String {
        access::greeting(self)
    }

    /// Puts into the log that a user was refused who never got a session, as SSH does it.
    pub fn record_refusal(appliance: &Appliance, line: Line, user: &str, attempts: u8) {
        access::record_refusal(appliance, line, user, attempts);
    }

    /// A session at the level at which a configuration file begins.
    pub fn configuring(responder: Arc<Responder>) -> Self {
        let mut session = Self::privileged(responder);
        let grammar = &session.appliance.grammar;
        if let Some(mode) = grammar.modes.iter().position(|mode| mode.root).map(ModeId) {
            session.levels.push(Place { mode, path: Path::new() });
        }
        session
    }

    /// Whether the session is over.
    pub fn is_over(&self) -> bool {
        self.is_over || self.is_killed()
    }

    /// Whether somebody else wants it to end.
    pub fn is_killed(&self) -> bool {
        self.ticket.as_ref().is_some_and(Ticket::is_killed)
    }

    /// Whether it has still to be said who its user is.
    pub fn is_logging_in(&self) -> bool {
        self.question.as_ref().is_some_and(Question::is_login)
    }

    /// The kind of the line that it came in on.
    pub fn line_kind(&self) -> LineKind {
        self.line.kind()
    }

    /// The question that the next line answers.
    pub fn question(&self) -> Option<&Question> {
        self.question.as_ref()
    }

    /// Whether the next line is an answer, or one of a text over several lines: no key means help
    /// or completion there.
    pub fn takes_text(&self) -> bool {
        self.question.is_some() || self.text.as_ref().is_some_and(TypedText::is_open)
    }

    /// Whether what is typed next must not be shown.
    pub fn asks_secret(&self) -> bool {
        self.question.as_ref().is_some_and(Question::is_secret)
    }

    /// What ends a line that runs for long, from another thread.
    pub fn interruption(&self) -> &Interrupt {
        &self.interruption
    }

    /// How often it was answered wrongly who its user is.
    pub fn refused(&self) -> u32 {
        self.refused
    }

    pub(super) fn set_user(&mut self, name: &str) {
        self.user = Some(name.to_owned());
        if let Some(ticket) = &self.ticket {
            ticket.update(|session| session.user = Some(name.to_owned()));
        }
    }

    /// The appliance of the session.
    pub fn appliance(&self) -> &Arc<Appliance> {
        &self.appliance
    }

    /// The lines of a page of output; `None` while output is not divided (base-cli 2.4).
    pub fn page_length(&self) -> Option<usize> {
        let on = self.page.on.unwrap_or_else(|| {
            let configuration = self.appliance.configuration();
            let tree = &configuration.trees.configuration;
            tree.global(&self.appliance.grammar, Kept::EnableSkipPageDisplay).is_none()
        });
        (on && self.page.length > 0).then_some(self.page.length)
    }

    /// Types a line and Enter. Gives what appears up to the next prompt; every line of it ends
    /// with a line break.
    pub fn run(&mut self, line: &str) -> String {
        self.appliance.restart_if_due();
        if self.restarts != self.appliance.restarts() {
            // What was typed was meant for a level that is gone.
            self.restart();
            return self.appliance.grammar.message(Message::LineIgnored, &[]);
        }
        self.leave_vanished_levels();
        let text = self.run_line(line);
        if self.restarts != self.appliance.restarts() {
            // The line let the time pass up to a restart that was scheduled.
            self.restart();
        }
        self.note_change();
        self.update_ticket();
        text
    }

    /// Puts it into the log that the configuration was changed, once it is left.
    pub(super) fn note_change(&mut self) {
        if self.has_changed && self.is_outside_configuration() {
            self.has_changed = false;
            self.record_change(Which::Running);
        }
    }

    /// Lets other sessions see what this one is doing.
    pub(super) fn update_ticket(&self) {
        let (monitor, configures) = (self.log.monitor, !self.is_outside_configuration());
        if let Some(ticket) = &self.ticket {
            ticket.update(|session| {
                session.monitor = monitor;
                session.configures = configures;
            });
        }
    }

    /// Who does something, for log messages (base-cli 3.2).
    pub(super) fn origin(&self) -> String {
        let user = self.user.as_ref().map(|user| format!("by user {user} ")).unwrap_or_default();
        match self.line {
            Line::Console => format!("{user}from console"),
            Line::Telnet(client) => format!("{user}from telnet client {client}"),
            Line::Ssh(client) => format!("{user}from ssh client {client}"),
        }
    }

    /// What appears before the next prompt: messages for the console, and log messages if this
    /// session prints them as they come.
    pub fn notices(&mut self) -> Vec<String> {
        let is_console = self.line == Line::Console && self.ticket.is_some();
        let mut notices = if is_console { self.appliance.log.take() } else { Vec::new() };
        let shows = self.log.monitor || (is_console && self.appliance.log_settings().console);
        if shows {
            self.appliance.record_status();
            let unseen = self.appliance.log.since(self.log.unseen);
            notices.extend(unseen.iter().map(|entry| format!("{}\n", log_line(entry))));
        }
        self.log.unseen = self.appliance.log.next_number();
        notices
    }

    pub(super) fn run_line(&mut self, line: &str) -> String {
        let line = cut(line);
        let now = self.appliance.clock.now();
        if let Some(ticket) = &self.ticket {
            ticket.update(|session| session.last_input = now);
        }
        if let Some(question) = self.question.take() {
            // Blanks at the ends may belong to a password.
            return actions::answer(self, question, line.trim_end_matches(['\r', '\n']));
        }
        if let Some(answer) = self.type_text(line) {
            return answer;
        }
        let line = line.trim();
        let expanded = self.expanded(line);
        let line = expanded.as_deref().unwrap_or(line);
        // An interactive `!` line is ignored, and the level stays (base-cli 1.4).
        if line.is_empty() || line.starts_with('!') {
            return String::new();
        }
        let grammar = Arc::clone(&self.appliance.grammar);
        let words = words::split(line);
        let (words, filter) = match words::pipe(&words) {
            Some(place) if place > 0 => (&words[..place], Some(&words[place..])),
            _ => (words.as_slice(), None),
        };
        let hit = match matcher::match_line(&grammar, self.level().mode, words, line) {
            Ok(hit) => hit,
            Err(stop) => return stop_message(&grammar, &stop, words, line),
        };
        let command = grammar.command(hit.command);
        if !access::may(self, command, &hit, words, line) {
            let level = self.privilege.number().to_string();
            return grammar.message(Message::NotAllowed, &[("level", &level)]);
        }
        let filter = match self.filter(&grammar, command, filter, line) {
            Ok(filter) => filter,
            Err(text) => return text,
        };
        if let Some(answer) = self.begin_text(command, &hit) {
            return answer;
        }
        let behind_no = words.get(1).map_or("", |word| line[word.start..].trim_end());
        match self.execute(command, &hit, behind_no) {
            Ok(text) => match filter {
                Some(filter) => filter.apply(&text),
                None => text,
            },
            Err(refusal) => refusal.text(&grammar),
        }
    }

    /// The list of what may stand behind `text`: the help key.
    pub fn help(&self, text: &str) -> String {
        let grammar = &self.appliance.grammar;
        let text = cut(text);
        if let Some(listing) = self.filter_help(text) {
            return listing;
        }
        match help::list(grammar, self.level().mode, text, self) {
            Ok(listing) => help::layout(grammar, &listing),
            Err(stop) => stop_message(grammar, &stop, &words::split(text), text),
        }
    }

    /// Completes the last word of `text`: the Tab key.
    pub fn complete(&self, text: &str) -> Completion {
        complete::complete(&self.appliance.grammar, self.level().mode, cut(text), self)
    }

    /// Gives up what is being asked: Control-C.
    pub fn interrupt(&mut self) {
        self.question = None;
        self.text = None;
    }

    /// Ends what its user does, who types no more; whether there was something to end. Whoever comes
    /// next is asked again who it is, if the configuration says so.
    pub fn log_out(&mut self) -> bool {
        let fresh = self.is_at_user_level() && self.user.is_none() && self.question.is_none();
        if fresh || self.is_logging_in() {
            return false;
        }
        self.interrupt();
        self.levels.truncate(1);
        self.note_change();
        if self.user.is_some() {
            access::record_logout(self);
            self.user = None;
        }
        self.landed_privileged = false;
        self.page = Page::default();
        self.log.monitor = false;
        if let Some(ticket) = &self.ticket {
            ticket.update(|session| session.user = None);
        }
        if access::access(self).asks_console {
            access::begin(self);
        }
        self.update_ticket();
        true
    }

    /// Runs a command of the emulated world from outside the levels of this session.
    pub fn emulate(&mut self, command: &str) -> String {
        let mut outside = Session::unlisted(Arc::clone(&self.responder));
        outside.enter_privileged(Privilege::Full);
        let text = match command.strip_prefix("no ") {
            Some(command) => outside.run(&format!("no emulate {command}")),
            None => outside.run(&format!("emulate {command}")),
        };
        if self.restarts == self.appliance.restarts() {
            self.leave_vanished_levels();
        } else {
            self.restart();
        }
        text
    }

    /// Whether there is an `emulate` command of that word.
    pub fn knows_emulation(&self, word: &str) -> bool {
        let grammar = &self.appliance.grammar;
        let text = format!("emulate {word}");
        let words = words::split(&text);
        let privileged = mode(grammar, PRIVILEGED);
        let word = words.get(1).map_or("", |word| word.text);
        word.eq_ignore_ascii_case("no") || matcher::walk(grammar, privileged, &words, &text).is_ok()
    }

    /// Goes back to the privileged level, as after a restart of the appliance.
    pub fn restart(&mut self) {
        self.restarts = self.appliance.restarts();
        // A connection to the device does not outlive its restart.
        self.is_over |= self.line != Line::Console;
        self.log = LogView { monitor: false, unseen: 0 };
        self.has_changed = false;
        self.question = None;
        self.page = Page::default();
        self.enter_privileged(Privilege::Full);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Who never said who it is has not logged in.
        if self.ticket.is_some() && self.user.is_some() {
            access::record_logout(self);
        }
    }
}

pub(super) fn mode(grammar: &Grammar, name: &str) -> ModeId {
    grammar.mode_named(name).unwrap_or(ModeId(0))
}

/// The part of a line that is looked at.
fn cut(line: &str) -> &str {
    let mut end = line.len().min(LONGEST_LINE);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}
