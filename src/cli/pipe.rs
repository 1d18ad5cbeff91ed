//! The `|` behind a display, as it is typed: which filter it names, and help for it (base-cli 2.5).

use crate::cli::filter::{Filter, OutputFilter};
use crate::cli::help;
use crate::cli::matcher::{self, Stop};
use crate::cli::session::Session;
use crate::cli::words::{self, Word};
use crate::config::load::stop_message;
use crate::grammar::link::Message;
use crate::grammar::value::{Fit, ValueType};
use crate::grammar::{Command, Grammar, Verb};

/// The type of the grammar that lists the filters.
const FILTERS: &str = "output-filter";

impl Session {
    /// The filter behind a `|`, for a command whose output can be filtered.
    pub(super) fn filter(
        &self,
        grammar: &Grammar,
        command: &Command,
        words: Option<&[Word<'_>]>,
        line: &str,
    ) -> Result<Option<OutputFilter>, String> {
        let Some(words) = words else { return Ok(None) };
        let unknown = |place: usize| Stop { word: place, why: matcher::Why::Unknown };
        if !matches!(command.verb, Verb::Show(_)) {
            return Err(stop_message(grammar, &unknown(0), words, line));
        }
        let incomplete = grammar.message(Message::IncompleteCommand, &[]);
        let word = words.get(1).ok_or_else(|| incomplete.clone())?;
        let filter = self
            .filter_named(word)
            .ok_or_else(|| stop_message(grammar, &unknown(1), words, line))?;
        let pattern = words.get(2).ok_or(incomplete)?;
        // Blanks belong to the pattern, as on the device; quotes around all of it do not.
        let whole = words.len() == 3 && pattern.quoted;
        let text = if whole { pattern.text } else { line[pattern.start..].trim_end() };
        let filter = OutputFilter::new(filter, text)
            .ok_or_else(|| grammar.message(Message::BadPattern, &[("pattern", text)]))?;
        Ok(Some(filter))
    }

    fn filter_named(&self, word: &Word<'_>) -> Option<Filter> {
        let grammar = &self.appliance.grammar;
        let place = grammar.choices.iter().position(|choice| choice.name == FILTERS)?;
        let choice = &grammar.choices[place];
        let choice_type = ValueType::Choice(crate::grammar::value::TypeId(place));
        let name = match choice_type.fit(&grammar.choices, word.text, word.quoted) {
            Fit::Exact(value) => choice.word_of(&value),
            Fit::Beginnings(places) if places.len() == 1 => choice.words[places[0]].word.clone(),
            Fit::Beginnings(_) | Fit::Typed(_) | Fit::Free(_) | Fit::OutOfRange(..) | Fit::No => {
                return None;
            }
        };
        Filter::from_name(&name)
    }

    /// Help behind a `|`.
    pub(super) fn filter_help(&self, text: &str) -> Option<String> {
        let grammar = &self.appliance.grammar;
        let words = words::split(text);
        let place = words::pipe(&words).filter(|place| *place > 0)?;
        let ends_in_word = words.last().is_some_and(|word| word.end == text.len());
        let behind = &words[place + 1..];
        let listing = match (behind.len(), ends_in_word) {
            (0, false) | (1, true) => {
                let beginning = behind.first().map_or("", |word| word.text);
                let choice = grammar.choice_type(FILTERS)?;
                let candidates = choice.words.iter().filter(|word| {
                    beginning.is_empty()
                        || crate::grammar::value::starts_with_ignoring_case(&word.word, beginning)
                });
                candidates
                    .map(|word| help::Candidate {
                        word: word.word.clone(),
                        help: word.help.clone(),
                        literal: true,
                    })
                    .collect()
            }
            (0, true) => return None,
            _ => vec![help::Candidate {
                word: ValueType::Line.placeholder().to_owned(),
                help: grammar.phrase(Message::HelpPattern).to_owned(),
                literal: false,
            }],
        };
        let listing = help::Listing { candidates: listing, ..help::Listing::default() };
        Some(help::layout(grammar, &listing))
    }
}
