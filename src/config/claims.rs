//! Domain names that statements claim, so that no two of them answer for one name.
//!
//! A statement claims a name alone (a host of a zone) or together with everything below it. The
//! first kind is looked up in constant time; for the second, which is rare, the tree is searched.

use crate::config::check::Refusal;
use crate::config::tree::{Block, Path, Tree, Values};
use crate::grammar::value::Value;
use crate::grammar::{Claim, Command, Grammar};

/// A line with the line above its block, if it has one.
#[derive(Clone, Copy)]
struct Lines<'a> {
    own: (&'a Command, &'a Values),
    above: Option<(&'a Command, &'a Values)>,
}

/// Checks that nobody else claims the name of a statement that would stand in the block at `path`.
///
/// # Errors
///
/// What the statement says for that case.
pub(super) fn check(
    grammar: &Grammar,
    tree: &Tree,
    path: &Path,
    claim: &Claim,
    command: &Command,
    values: &Values,
) -> Result<(), Refusal> {
    let above = path.last().map(|(opener, key)| (grammar.command(*opener), key));
    let lines = Lines { own: (command, values), above };
    let name = lines.name(claim);
    let other = if claim.below {
        below(grammar, &tree.root, None, &name)
    } else {
        at_or_above(grammar, &tree.root, &name)
    };
    match other {
        None => Ok(()),
        Some(other) => {
            let refusal = lines.fill(Refusal::new(claim.message));
            Err(other.fill(refusal))
        }
    }
}

/// A statement that claims a name alone, at or below `name`.
fn below<'a>(
    grammar: &'a Grammar,
    block: &'a Block,
    above: Option<(&'a Command, &'a Values)>,
    name: &str,
) -> Option<Lines<'a>> {
    block.statements().find_map(|statement| {
        let command = grammar.command(statement.command);
        let lines = Lines { own: (command, &statement.values), above };
        let claim = command.storage.as_ref().and_then(|storage| storage.claim.as_ref());
        let claims = claim.is_some_and(|claim| {
            // Most lie elsewhere, which their last part shows.
            let tail = claim.parts.last().and_then(|part| lines.part(part)).unwrap_or_default();
            !claim.below
                && (ends_with(tail, name) || ends_with(name, tail))
                && ends_with(&lines.name(claim), name)
        });
        if claims {
            return Some(lines);
        }
        let inner = statement.block.as_deref()?;
        below(grammar, inner, Some((command, &statement.values)), name)
    })
}

/// A statement that claims a name at or above `name` with everything below it.
fn at_or_above<'a>(grammar: &'a Grammar, root: &'a Block, name: &str) -> Option<Lines<'a>> {
    let starts = name.match_indices('.').map(|(dot, _)| dot + 1);
    std::iter::once(0).chain(starts).find_map(|start| {
        grammar.wide_claims().find_map(|command| {
            let argument = *command.storage.as_ref()?.key.first()?;
            let mut key = Values::new();
            key.push((u8::try_from(argument).ok()?, Value::Text(name[start..].into())));
            let statement = root.find(command, &key)?;
            Some(Lines { own: (command, &statement.values), above: None })
        })
    })
}

impl<'a> Lines<'a> {
    /// The text of an argument, of the line itself or else of the one above.
    fn part(&self, name: &str) -> Option<&'a str> {
        let of = |(command, values): (&'a Command, &'a Values)| {
            let argument = command.argument(name)?;
            values.iter().find_map(|(position, value)| match value {
                Value::Text(text) if usize::from(*position) == argument => Some(&**text),
                _ => None,
            })
        };
        of(self.own).or_else(|| self.above.and_then(of))
    }

    /// The name that is claimed, in lower case.
    fn name(&self, claim: &Claim) -> String {
        self.joined(&claim.parts)
    }

    fn joined(&self, parts: &[String]) -> String {
        let parts: Vec<&str> = parts.iter().filter_map(|part| self.part(part)).collect();
        parts.join(".").to_ascii_lowercase()
    }

    /// Adds what the lines say to the places of a message.
    fn fill(&self, refusal: Refusal) -> Refusal {
        let names = |(command, _): (&'a Command, &'a Values)| {
            command.arguments.iter().map(|argument| argument.name.as_str())
        };
        let all = names(self.own).chain(self.above.into_iter().flat_map(names));
        all.fold(refusal, |refusal, name| match self.part(name) {
            Some(text) => refusal.with(name.to_owned(), text),
            None => refusal,
        })
    }
}

/// The domain name that arguments of a line, or of the one above its block, make up together.
pub(super) fn name_of(
    grammar: &Grammar,
    path: &Path,
    parts: &[String],
    command: &Command,
    values: &Values,
) -> String {
    let above = path.last().map(|(opener, key)| (grammar.command(*opener), key));
    Lines { own: (command, values), above }.joined(parts)
}

/// Whether `name` is `ancestor` or lies below it, in any case.
fn ends_with(name: &str, ancestor: &str) -> bool {
    let Some(start) = name.len().checked_sub(ancestor.len()) else { return false };
    let (before, end) = name.as_bytes().split_at(start);
    end.eq_ignore_ascii_case(ancestor.as_bytes()) && before.last().is_none_or(|last| *last == b'.')
}

#[cfg(test)]
mod tests {
    use super::ends_with;

    #[test]
    fn ancestors_end_at_dots() {
        assert!(ends_with("a.Example.com", "example.com"));
        assert!(ends_with("example.com", "example.com"));
        assert!(!ends_with("myexample.com", "example.com"));
        assert!(!ends_with("example.com", "a.example.com"));
    }
}
