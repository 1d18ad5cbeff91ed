//! Texts over several lines, typed line by line at a prompt: banners.

use std::sync::Arc;

use crate::cli::matcher::{self, Hit};
use crate::cli::session::Session;
use crate::cli::words;
use crate::config::delimited::{self, Text};
use crate::grammar::Command;
use crate::grammar::link::Message;
use crate::grammar::value::{Value, ValueType};

/// A text over several lines that is being typed, or has just ended.
#[derive(Clone, Debug)]
pub(super) struct TypedText {
    /// The line that began it.
    hit: Hit,
    /// Which of its values the text is.
    argument: usize,
    text: Text,
}

impl TypedText {
    /// Whether its end has not come yet.
    pub(super) fn is_open(&self) -> bool {
        !self.text.is_closed()
    }
}

impl Session {
    /// Begins to read a text between delimiters, if the command takes one.
    pub(super) fn begin_text(&mut self, command: &Command, hit: &Hit) -> Option<String> {
        let argument = hit.values.iter().position(|(argument, _)| {
            command.arguments[usize::from(*argument)].value_type == ValueType::Delimited
        })?;
        let Value::Text(first) = &hit.values[argument].1 else { return None };
        let text = Text::open(first)?;
        let typed = TypedText { hit: hit.clone(), argument, text };
        let mut answer = self.keep_text(&typed);
        if typed.is_open() {
            let places = [("delimiter", typed.text.delimiter())];
            answer = self.appliance.grammar.message(Message::EnterText, &places);
        }
        self.text = Some(typed);
        Some(answer)
    }

    /// Takes a line as one of the text that is being typed; `None` if it is none of it.
    pub(super) fn type_text(&mut self, line: &str) -> Option<String> {
        let mut typed = self.text.take()?;
        if typed.text.is_closed() {
            let is_next = typed.text.goes_on_with(line) && !self.begins_text(line.trim());
            if !is_next {
                return None;
            }
        }
        typed.text.add(line);
        let answer = self.keep_text(&typed);
        self.text = Some(typed);
        Some(answer)
    }

    /// Keeps a text as soon as it has an end.
    fn keep_text(&mut self, typed: &TypedText) -> String {
        if !typed.text.is_closed() {
            return String::new();
        }
        let grammar = Arc::clone(&self.appliance.grammar);
        let mut hit = typed.hit.clone();
        hit.values[typed.argument].1 = Value::Text(typed.text.saved_form().into());
        match self.execute(grammar.command(hit.command), &hit, "") {
            Ok(text) => text,
            Err(refusal) => refusal.text(&grammar),
        }
    }

    /// Whether a line begins a text of its own.
    fn begins_text(&self, line: &str) -> bool {
        let grammar = &self.appliance.grammar;
        let words = words::split(line);
        matcher::match_line(grammar, self.level().mode, &words, line).is_ok_and(|hit| {
            let arguments = &grammar.command(hit.command).arguments;
            hit.values.iter().any(|(argument, value)| {
                arguments[usize::from(*argument)].value_type == ValueType::Delimited
                    && delimited::opens_saved_form(value)
            })
        })
    }
}
