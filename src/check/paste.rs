//! Where pasting a file at a prompt ends in another state than loading it.
//!
//! Both really happen: the loader reads the file, and a session of an appliance of its own gets the
//! same lines typed at its configuration level. Only if the two statement trees differ in the end
//! are the lines told apart that took another way. Lines that the emulator does not know are left
//! out of that: every one of them is lost when it is pasted, which its own finding says.

use std::sync::Arc;

use crate::appliance::Appliance;
use crate::check::rule::{Finding, PASTE_DIFFERS};
use crate::cli::matcher;
use crate::cli::session::Session;
use crate::cli::words;
use crate::clock::DrivenClock;
use crate::config::edit::{Place, Trees};
use crate::config::load::{Fate, Heard, Listener};
use crate::config::render::{self, Secrets};
use crate::dns::{Responder, Settings};
use crate::grammar::{Grammar, Verb};

/// The key that asks for help wherever it is typed outside quotes (decisions 1.6).
const HELP_KEY: char = '?';

/// Types every line that the loader reads at a prompt.
#[derive(Debug)]
pub(super) struct Paste {
    session: Session,
    suspects: Vec<Finding>,
}

impl Paste {
    /// A fresh appliance with a session at its configuration level.
    pub(super) fn new(grammar: &Arc<Grammar>) -> Self {
        let clock = Arc::new(DrivenClock::new());
        let appliance = Arc::new(Appliance::new(Arc::clone(grammar), clock, None));
        let responder = Arc::new(Responder { appliance, settings: Settings::default() });
        Paste { session: Session::configuring(responder), suspects: Vec::new() }
    }

    /// What differs from the trees of the loader.
    pub(super) fn compare(self, loaded: &mut Trees) -> Vec<Finding> {
        let appliance = Arc::clone(self.session.appliance());
        let grammar = &appliance.grammar;
        let pasted = appliance.configuration();
        loaded.configuration.root.forget_opaque();
        let body = |trees: &Trees| render::body(grammar, &trees.configuration, Secrets::Stored);
        let world = |trees: &Trees| render::world(grammar, &trees.world);
        let same = body(loaded) == body(&pasted.trees) && world(loaded) == world(&pasted.trees);
        if same { Vec::new() } else { self.suspects }
    }

    fn suspect(&mut self, line: &Heard<'_>, message: String) {
        let column = line.text.chars().take_while(|one| one.is_whitespace()).count() + 1;
        let finding = Finding { rule: &PASTE_DIFFERS, line: line.number, column, message };
        self.suspects.push(finding);
    }

    /// Types a line; gives the block that took it, or what the device says instead.
    fn typed(&mut self, text: &str) -> Result<Place, Answer> {
        let grammar = Arc::clone(&self.session.appliance().grammar);
        let line = text.trim();
        let words = words::split(line);
        let place = match matcher::match_line(&grammar, self.session.level().mode, &words, line) {
            Ok(hit) => {
                let is_kept = match grammar.command(hit.command).verb {
                    Verb::Show(_) | Verb::Do(_) => false,
                    Verb::Keep
                    | Verb::Open(_)
                    | Verb::Enter(_)
                    | Verb::Leave
                    | Verb::End
                    | Verb::Clear(_)
                    | Verb::Alter(_)
                    | Verb::Apply(_)
                    | Verb::Accept => true,
                };
                if !is_kept {
                    // It prints or does something, which a file may not hold.
                    return Err(Answer::NotKept);
                }
                self.session.place_of(hit.mode)
            }
            Err(_) => self.session.level().clone(),
        };
        let answer = self.session.run(text);
        match answer.lines().next() {
            None => Ok(place),
            Some(first) => Err(Answer::Refused(first.to_owned())),
        }
    }
}

/// What a line gets that is not kept.
enum Answer {
    /// It is a command that keeps nothing.
    NotKept,
    /// The first line of what the device says.
    Refused(String),
}

impl Listener for Paste {
    fn hear(&mut self, line: &Heard<'_>) {
        if matches!(line.fate, Fate::Silent) {
            self.session.run(line.text);
            return;
        }
        let text = without_help_keys(line.text);
        if text.len() < line.text.len() {
            self.suspect(line, "`?` asks for help when it is pasted and is lost".to_owned());
        }
        let typed = self.typed(&text);
        let message = match (&line.fate, typed) {
            (Fate::Accepted { .. }, Ok(place)) if place == *line.place => return,
            (Fate::Accepted { .. }, Ok(place)) => {
                format!("pasted, it is taken at {}", self.name_of(&place))
            }
            (Fate::Accepted { .. }, Err(Answer::Refused(answer))) => {
                format!("pasted, it is refused: {answer}")
            }
            (Fate::Opaque, Ok(place)) => {
                format!("not known here; pasted, it is taken at {}", self.name_of(&place))
            }
            (Fate::Rejected { .. }, Ok(place)) => {
                format!("refused in a file; pasted, it is taken at {}", self.name_of(&place))
            }
            (Fate::Continued { opaque: true }, Ok(place)) => {
                format!(
                    "goes on with the line above; pasted, it is taken at {}",
                    self.name_of(&place)
                )
            }
            (Fate::Silent | Fate::Continued { .. } | Fate::Opaque | Fate::Rejected { .. }, _)
            | (Fate::Accepted { .. }, Err(Answer::NotKept)) => return,
        };
        self.suspect(line, message);
    }
}

impl Paste {
    /// A block as a reader of the file knows it: by the line that opens it.
    fn name_of(&self, place: &Place) -> String {
        let appliance = self.session.appliance();
        let grammar = &appliance.grammar;
        let configuration = appliance.configuration();
        let Some((last, outer)) = place.path.split_last() else {
            return format!("level {}", grammar.mode(place.mode).name);
        };
        let block = configuration.trees.configuration.block(grammar, &outer.to_vec());
        let statement = block.and_then(|block| block.find(grammar.command(last.0), &last.1));
        match statement {
            Some(statement) => format!("`{}`", render::line(grammar, statement)),
            None => format!("level {}", grammar.mode(place.mode).name),
        }
    }
}

/// The line without the characters that ask for help.
fn without_help_keys(line: &str) -> String {
    if !line.contains(HELP_KEY) {
        return line.to_owned();
    }
    let mut kept = String::with_capacity(line.len());
    for one in line.chars() {
        if one != HELP_KEY || words::is_inside_quotes(&kept) {
            kept.push(one);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_key_is_text_inside_quotes() {
        assert_eq!(without_help_keys("a ?b \"c?\" ?"), "a b \"c?\" ");
    }
}
