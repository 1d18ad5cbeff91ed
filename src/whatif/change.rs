//! A change: commands of a file that are typed at a prompt at some moment, as they would be pasted.

use std::path::Path;

use crate::cli::session::Session;
use crate::cli::{matcher, words};
use crate::grammar::Verb;
use crate::store;
use crate::whatif::Problem;
use crate::whatif::subject::Started;

/// Commands, when they are typed, and what becomes of the counters.
#[derive(Clone, Debug)]
pub struct Change {
    /// Name of the file.
    pub name: String,
    /// Its lines.
    pub text: String,
    /// When.
    pub when: When,
    /// Whether the counts of all names are zeroed right after it, as an operator could do; the
    /// device itself keeps them.
    pub clears: bool,
}

/// When a change is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After so many questions.
    Questions(u64),
    /// So many seconds after the first question.
    Seconds(u64),
}

impl When {
    /// Reads `1000` as a number of questions and `30s` as seconds.
    pub fn read(text: &str) -> Option<Self> {
        match text.strip_suffix('s') {
            Some(seconds) => seconds.parse().ok().map(When::Seconds),
            None => text.parse().ok().map(When::Questions),
        }
    }
}

impl std::fmt::Display for When {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            When::Questions(count) => write!(f, "after {count} questions"),
            When::Seconds(seconds) => write!(f, "after {seconds} s"),
        }
    }
}

/// How the texts of the device begin that say that something cannot be done.
const ERROR: &str = "Error";

impl Change {
    /// Reads a file of commands.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn read(path: &Path, when: When, clears: bool) -> Result<Self, Problem> {
        let text = store::read_text(path)?;
        Ok(Change { name: path.to_string_lossy().into_owned(), text, when, clears })
    }

    /// Types the commands; gives what was refused, each with its place.
    ///
    /// They begin at the privileged level if the first of them is known there, else at the level of
    /// the configuration: a snippet of a configuration and the log of a whole session both work.
    pub fn apply(&self, to: &Started) -> Vec<String> {
        let mut session = Session::privileged(to.responder.clone());
        let first = self.text.lines().find(|line| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('!')
        });
        if first.is_none_or(|line| verb(&session, line).is_none()) {
            session = Session::configuring(to.responder.clone());
        }
        let mut refused = Vec::new();
        for (number, line) in self.text.lines().enumerate() {
            let verb = verb(&session, line);
            let answers = session.question().is_some();
            let answer = session.run(line);
            let Some(first) = answer.lines().next().filter(|_| !answers) else { continue };
            let prints = matches!(verb, Some(Verb::Show(_) | Verb::Do(_)));
            if !prints || first.starts_with(ERROR) {
                refused.push(format!("{}:{}: {}: {first}", self.name, number + 1, line.trim()));
            }
        }
        if self.clears {
            to.clear_counts();
        }
        refused
    }
}

/// What a line does at the present level of a session; `None`: it is no command there.
fn verb(session: &Session, line: &str) -> Option<Verb> {
    let grammar = &session.appliance().grammar;
    let words = words::split(line.trim());
    let hit = matcher::match_line(grammar, session.level().mode, &words, line.trim()).ok()?;
    Some(grammar.command(hit.command).verb.clone())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::grammar::Grammar;
    use crate::whatif::subject::Subject;

    fn refused(text: &str) -> Vec<String> {
        let grammar = Arc::new(Grammar::built_in().unwrap());
        let (started, _) = Subject::of_text(&grammar, "a", "hostname before\n").start();
        let change = Change {
            name: "change".to_owned(),
            text: text.to_owned(),
            when: When::Questions(0),
            clears: false,
        };
        let refused = change.apply(&started);
        let name = started.appliance().current().device_name.clone();
        assert_eq!(name == "after", text.contains("hostname after"), "{name}");
        refused
    }

    #[test]
    fn a_snippet_and_a_whole_session_both_work() {
        assert_eq!(refused("hostname after\n"), [""; 0]);
        let session = "! a comment\nconfigure terminal\nhostname after\nend\nshow version\n";
        assert_eq!(refused(session), [""; 0]);
    }

    #[test]
    fn what_is_refused_is_told_with_its_place() {
        let told = refused("hostname after\ngslb policy\n frobnicate 5\n capacity threshold 500\n");
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("change:3: frobnicate 5: Invalid input"), "{told:?}");
        assert!(told[1].starts_with("change:4: capacity threshold 500: Error - "), "{told:?}");
    }

    #[test]
    fn moments_are_read() {
        assert_eq!(When::read("1000"), Some(When::Questions(1000)));
        assert_eq!(When::read("30s"), Some(When::Seconds(30)));
        for bad in ["", "s", "-1", "1m", "1.5s"] {
            assert_eq!(When::read(bad), None, "{bad}");
        }
    }
}
