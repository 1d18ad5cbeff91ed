//! A syntax line to its forms: brackets and braces written out.

use std::ops::Range;

use crate::grammar::GrammarError;
use crate::grammar::notation::{CommandStanza, Item, Spellings};

/// The most forms that one command may have.
pub const MOST_FORMS: usize = 256;

/// One way of writing a command, without choices.
pub type Form = Vec<Token>;

/// A part of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A word in its spellings.
    Word(Spellings),
    /// An argument of the command, by its position in the list of arguments.
    Argument {
        /// Position in `Command::arguments`.
        argument: usize,
        /// Whether it may follow again. Those that may stand together, and follow again together.
        repeated: bool,
    },
}

/// Writes out the choices of a command. `argument` gives the position of an argument by its name.
///
/// # Errors
///
/// There are too many forms, a second argument is repeated, a value that could be one more follows
/// a repeated argument, or something else than arguments is repeated.
pub fn forms(
    stanza: &CommandStanza,
    items: &[Item],
    argument: &impl Fn(&str) -> usize,
) -> Result<Vec<Form>, GrammarError> {
    let mut forms = sequence(items, argument, stanza)?;
    // The same form can arise twice (`[a] [a]`); it means the same.
    let mut seen: Vec<Form> = Vec::with_capacity(forms.len());
    forms.retain(|form| {
        let new = !seen.contains(form);
        if new {
            seen.push(form.clone());
        }
        new
    });
    for form in &forms {
        let behind = &form[repetition(form).end..];
        // A word tells where the repetition ends; a value could be one more of it.
        if matches!(behind.first(), Some(Token::Argument { .. }))
            || behind.iter().any(Token::is_repeated)
        {
            return Err(stanza.position.fault("only a word can follow an argument with `...`"));
        }
    }
    Ok(forms)
}

fn sequence(
    items: &[Item],
    argument: &impl Fn(&str) -> usize,
    stanza: &CommandStanza,
) -> Result<Vec<Form>, GrammarError> {
    let mut forms: Vec<Form> = vec![Vec::new()];
    for item in items {
        let tails: Vec<Form> = match item {
            Item::Word(spellings) => vec![vec![Token::Word(spellings.clone())]],
            Item::Argument { name, repeated, .. } => {
                vec![vec![Token::Argument { argument: argument(name), repeated: *repeated }]]
            }
            Item::Repeated(entry) => vec![repeated_entry(entry, argument, stanza)?],
            Item::Optional(branches) => {
                let mut tails = vec![Vec::new()];
                for branch in branches {
                    tails.extend(sequence(branch, argument, stanza)?);
                }
                tails
            }
            Item::Choice(branches) => {
                let mut tails = Vec::new();
                for branch in branches {
                    tails.extend(sequence(branch, argument, stanza)?);
                }
                tails
            }
        };
        if forms.len() * tails.len() > MOST_FORMS {
            let message = format!("more than {MOST_FORMS} forms");
            return Err(stanza.position.fault(message));
        }
        forms = forms
            .iter()
            .flat_map(|form| tails.iter().map(move |tail| [form.as_slice(), tail].concat()))
            .collect();
    }
    Ok(forms)
}

/// The arguments of an entry that repeats.
fn repeated_entry(
    entry: &[Item],
    argument: &impl Fn(&str) -> usize,
    stanza: &CommandStanza,
) -> Result<Form, GrammarError> {
    let tokens = entry.iter().map(|item| match item {
        Item::Argument { name, repeated: false, .. } => {
            Ok(Token::Argument { argument: argument(name), repeated: true })
        }
        _ => Err(stanza.position.fault("only arguments can repeat together")),
    });
    tokens.collect()
}

impl Token {
    fn is_repeated(&self) -> bool {
        matches!(self, Token::Argument { repeated: true, .. })
    }
}

/// The arguments of a form that follow again together; an empty range if there are none.
pub fn repetition(form: &[Token]) -> Range<usize> {
    let start = form.iter().position(Token::is_repeated).unwrap_or(form.len());
    let length = form[start..].iter().take_while(|token| token.is_repeated()).count();
    start..start + length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::notation::{Entry, parse};

    fn count(syntax: &str) -> Result<usize, GrammarError> {
        let Entry::Command(stanza) = parse("test", syntax)?.remove(0) else { panic!("no command") };
        forms(&stanza, &stanza.items, &|_| 0).map(|forms| forms.len())
    }

    #[test]
    fn brackets_and_braces_are_written_out() {
        assert_eq!(count("a [b] {c | d}").unwrap(), 4);
        assert_eq!(count("a [b | c [d]]").unwrap(), 4);
    }

    #[test]
    fn too_many_forms_are_refused() {
        let syntax = format!("a{}", " [b]".repeat(9));
        assert!(count(&syntax.replace("[b]", "{b | c}")).is_err());
    }

    #[test]
    fn only_a_word_follows_a_repeated_argument() {
        assert_eq!(count("a <x:1-2>... [b <y:1-2>]").unwrap(), 2);
        assert!(count("a <x:1-2>... <y:1-2>").is_err());
        assert!(count("a <x:1-2>... b <y:1-2>...").is_err());
        assert!(count("a {<x:1-2> <y:1-2>}... <z:1-2>").is_err());
        assert!(count("a {<x:1-2> b}...").is_err());
        assert_eq!(count("a {<x:1-2> <y:1-2>}...").unwrap(), 1);
    }
}
