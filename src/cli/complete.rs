//! Completion of the word before the cursor: the Tab key.

use crate::cli::help::{self, Names};
use crate::cli::matcher::Stop;
use crate::grammar::{Grammar, ModeId};

/// What Tab does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Text to insert at the cursor.
    Insert(String),
    /// Several words are possible: show them as help does.
    List(String),
    /// Nothing begins like that.
    Nothing,
}

/// Completes the last word of `text`.
pub fn complete(grammar: &Grammar, mode: ModeId, text: &str, names: &dyn Names) -> Completion {
    let listing = match help::list(grammar, mode, text, names) {
        Ok(listing) => listing,
        Err(Stop { .. }) => return Completion::Nothing,
    };
    if listing.beginning.is_empty() {
        return Completion::List(help::layout(grammar, &listing));
    }
    let mut words: Vec<&str> = listing
        .candidates
        .iter()
        .filter(|candidate| candidate.literal)
        .map(|candidate| candidate.word.as_str())
        .collect();
    // The very word is complete, also where it begins another one.
    if words.len() > 1
        && let Some(exact) = words.iter().find(|word| word.eq_ignore_ascii_case(&listing.beginning))
    {
        words = vec![exact];
    }
    match words.as_slice() {
        [] => Completion::Nothing,
        [word] => {
            let rest = &word[listing.beginning.len()..];
            // A name with blanks was begun with a quote, which its end needs.
            let close = if crate::cli::words::is_inside_quotes(text) { "\" " } else { " " };
            Completion::Insert(format!("{rest}{close}"))
        }
        several => {
            let common = common_beginning(several);
            if common > listing.beginning.len() {
                Completion::Insert(several[0][listing.beginning.len()..common].to_owned())
            } else {
                Completion::List(help::layout(grammar, &listing))
            }
        }
    }
}

/// Length of what all words begin with, in any case.
fn common_beginning(words: &[&str]) -> usize {
    let first = words[0];
    let mut common = 0;
    for (place, character) in first.char_indices() {
        let end = place + character.len_utf8();
        let shared = words.iter().all(|word| {
            word.get(..end).is_some_and(|start| start.eq_ignore_ascii_case(&first[..end]))
        });
        if !shared {
            break;
        }
        common = end;
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_beginning_ignores_case() {
        assert_eq!(common_beginning(&["host-info", "Hostname"]), 4);
        assert_eq!(common_beginning(&["a", "b"]), 0);
    }
}
