//! What may stand at a place of a line: the lists of `?`.

use crate::cli::matcher::{self, Stop, Why};
use crate::cli::words::{self, Word};
use crate::grammar::link::{Kept, Message};
use crate::grammar::trie::{ArgumentEdge, Node, NodeId, Step};
use crate::grammar::value::{Fit, Value, ValueType, starts_with_ignoring_case};
use crate::grammar::{Command, Grammar, ModeId};

/// One thing that may stand at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The word, or what stands for a value.
    pub word: String,
    /// Its help text.
    pub help: String,
    /// Whether the word can be typed as it stands.
    pub literal: bool,
}

/// Names that exist now, for completion of references.
pub trait Names {
    /// The last keys of the statements of that name that a `ref` can name, in order of entry.
    /// `before` holds the values of the line that name something themselves: what stands in the
    /// block of one of them is looked for there.
    fn names(&self, kept: Kept, before: &[(&[Kept], Value)]) -> Vec<String>;

    /// What the statements of that name have for the argument of that name, or else as their last
    /// key; `before` as for [`Names::names`].
    fn values_of(&self, kept: Kept, argument: &str, before: &[(&[Kept], Value)]) -> Vec<String>;

    /// What the statements of a command have for an argument in the present block of a mode.
    fn values_in(&self, mode: ModeId, command: &Command, argument: usize) -> Vec<String>;
}

/// What may stand at the end of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The candidates in the order of the list.
    pub candidates: Vec<Candidate>,
    /// Whether the line is a command as it stands.
    pub complete: bool,
    /// Whether the output of that command can be filtered.
    pub filtered: bool,
    /// The beginning of the last word that the candidates go on from.
    pub beginning: String,
}

/// Lists what may stand at the end of `text`.
///
/// # Errors
///
/// Where the text before its last word stops fitting, or that nothing begins with the last word.
pub fn list(
    grammar: &Grammar,
    mode: ModeId,
    text: &str,
    names: &dyn Names,
) -> Result<Listing, Stop> {
    let words = words::split(text);
    let ends_in_word =
        words.last().is_some_and(|word| word.end == text.len() && is_open(word, text));
    let (before, beginning) = match words.split_last() {
        Some((last, before)) if ends_in_word => (before, Some(*last)),
        _ => (words.as_slice(), None),
    };
    let mut deepest: Option<Stop> = None;
    for mode in grammar.search_path(mode) {
        match list_in(grammar, mode, before, beginning, text, names) {
            Ok(listing) => return Ok(listing),
            Err(stop) => {
                if deepest.as_ref().is_none_or(|known| stop.word > known.word) {
                    deepest = Some(stop);
                }
            }
        }
    }
    Err(deepest.unwrap_or(Stop { word: 0, why: Why::Unknown }))
}

/// A word that more characters may belong to: it is not closed by a quote.
fn is_open(word: &Word<'_>, text: &str) -> bool {
    !word.quoted || words::is_inside_quotes(text)
}

fn list_in(
    grammar: &Grammar,
    mode: ModeId,
    before: &[Word<'_>],
    beginning: Option<Word<'_>>,
    text: &str,
    names: &dyn Names,
) -> Result<Listing, Stop> {
    let walk = matcher::walk(grammar, mode, before, text)?;
    let node = grammar.trie(mode).node(walk.place);
    let beginning_text = beginning.map_or("", |word| word.text);
    let mut candidates = Vec::new();
    if beginning.is_none_or(|word| !word.quoted) {
        words_of(node, beginning_text, &mut candidates);
    }
    let above = references_on(grammar, mode, before, node);
    values_of(grammar, node, beginning, names, &above, &mut candidates);
    names_of(grammar, mode, node, beginning, names, &above, &mut candidates);
    let complete = beginning.is_none() && node.leaf.is_some() && !before.is_empty();
    let filtered = complete
        && node.leaf.is_some_and(|leaf| {
            matches!(grammar.command(leaf.command).verb, crate::grammar::Verb::Show(_))
        });
    if candidates.is_empty() && !complete {
        let why = if beginning.is_none() { Why::Incomplete } else { Why::Unknown };
        return Err(Stop { word: before.len(), why });
    }
    // Values stand behind the words, as on the device; each part in alphabetical order.
    candidates.sort_by(|one, other| {
        (!one.literal, one.word.as_str()).cmp(&(!other.literal, other.word.as_str()))
    });
    candidates.dedup_by(|one, other| one.word == other.word && one.help == other.help);
    Ok(Listing { candidates, complete, filtered, beginning: beginning_text.to_owned() })
}

/// The values on the way to a node that name something, where that matters.
fn references_on<'a>(
    grammar: &'a Grammar,
    mode: ModeId,
    before: &[Word<'_>],
    node: &Node,
) -> Vec<(&'a [Kept], Value)> {
    let may_name = |edge: &ArgumentEdge| {
        matches!(edge.value_type, ValueType::Reference(..)) || edge.value_type.is_free()
    };
    if !node.arguments.iter().any(may_name) {
        return Vec::new();
    }
    let trie = grammar.trie(mode);
    let mut place = NodeId::ROOT;
    let mut above = Vec::new();
    for word in before {
        match trie.step(place, word.text, word.quoted, &grammar.choices) {
            Step::Word(target) => place = target,
            Step::Value(target, value) => {
                let edges = trie.node(place).arguments.iter();
                let targets =
                    edges.filter(|edge| edge.target == target).find_map(|edge| {
                        match &edge.value_type {
                            ValueType::Reference(targets, _) => Some(&targets[..]),
                            _ => None,
                        }
                    });
                above.extend(targets.map(|targets| (targets, value)));
                place = target;
            }
            Step::Ambiguous(_) | Step::OutOfRange(..) | Step::Unknown => break,
        }
    }
    above
}

fn words_of(node: &Node, beginning: &str, candidates: &mut Vec<Candidate>) {
    for edge in node.words.iter().filter(|edge| !edge.hidden) {
        let spelling = edge.spellings.iter().find(|spelling| {
            beginning.is_empty() || starts_with_ignoring_case(spelling, beginning)
        });
        if let Some(spelling) = spelling {
            candidates.push(Candidate {
                word: spelling.to_string(),
                help: edge.help.to_string(),
                literal: true,
            });
        }
    }
}

fn values_of(
    grammar: &Grammar,
    node: &Node,
    beginning: Option<Word<'_>>,
    names: &dyn Names,
    above: &[(&[Kept], Value)],
    candidates: &mut Vec<Candidate>,
) {
    let text = beginning.map_or("", |word| word.text);
    for edge in node.arguments.iter().filter(|edge| !edge.hidden) {
        if let ValueType::Choice(id) = edge.value_type {
            let choice = &grammar.choices[id.0];
            for word in &choice.words {
                if text.is_empty() || starts_with_ignoring_case(&word.word, text) {
                    candidates.push(Candidate {
                        word: word.word.clone(),
                        help: word.help.clone(),
                        literal: true,
                    });
                }
            }
            for (low, high, help) in &choice.ranges {
                let fits = ValueType::Range(*low, *high);
                // A range of one number is that number.
                let number = low.to_string();
                if low == high && number.starts_with(text) {
                    let help = help.clone();
                    candidates.push(Candidate { word: number, help, literal: true });
                } else if low != high
                    && (text.is_empty() || fits.fit(&grammar.choices, text, false) != Fit::No)
                {
                    candidates.push(placeholder(&fits, help));
                }
            }
            continue;
        }
        if let ValueType::Reference(targets, _) = &edge.value_type {
            for name in targets.iter().flat_map(|kept| names.names(*kept, above)) {
                if text.is_empty() || starts_with_ignoring_case(&name, text) {
                    let help = edge.help.to_string();
                    candidates.push(Candidate { word: name, help, literal: true });
                }
            }
        }
        let quoted = beginning.is_some_and(|word| word.quoted);
        let could_be = text.is_empty()
            || edge.value_type.fit(&grammar.choices, text, quoted) != Fit::No
            || begins_value(&edge.value_type, text);
        if could_be {
            candidates.push(placeholder(&edge.value_type, &edge.help));
        }
    }
}

/// Names that stand in no `ref`: those that the stanza suggests, and behind their first letters those
/// that the lines of this command have made before.
fn names_of(
    grammar: &Grammar,
    mode: ModeId,
    node: &Node,
    beginning: Option<Word<'_>>,
    names: &dyn Names,
    above: &[(&[Kept], Value)],
    candidates: &mut Vec<Candidate>,
) {
    let text = beginning.map_or("", |word| word.text);
    let is_name = |edge: &&ArgumentEdge| {
        edge.value_type.is_free()
            && !edge.value_type.takes_the_rest()
            && !matches!(edge.value_type, ValueType::Reference(..))
    };
    for edge in node.arguments.iter().filter(|edge| !edge.hidden).filter(is_name) {
        let mut found = Vec::new();
        for command in grammar.trie(mode).commands_behind(edge.target) {
            let command = grammar.command(command);
            let Some(argument) = command.argument(&edge.name) else { continue };
            for (_, kept) in command.suggestions.iter().filter(|(one, _)| *one == argument) {
                found.extend(names.values_of(*kept, &edge.name, above));
            }
            if command.storage.is_some()
                && !text.is_empty()
                && !command.arguments[argument].is_secret()
            {
                found.extend(names.values_in(mode, command, argument));
            }
        }
        found.retain(|word| text.is_empty() || starts_with_ignoring_case(word, text));
        found.sort_unstable();
        found.dedup();
        for word in found {
            candidates.push(Candidate { word, help: edge.help.to_string(), literal: true });
        }
    }
}

/// Whether more characters could make the text a value of an address type.
fn begins_value(value_type: &ValueType, text: &str) -> bool {
    let is_part =
        |more: &str| text.chars().all(|one| one.is_ascii_hexdigit() || more.contains(one));
    match value_type {
        ValueType::Ipv4 | ValueType::Mask => {
            text.chars().all(|one| one.is_ascii_digit() || one == '.')
        }
        ValueType::Address | ValueType::Ipv6 => is_part(".:"),
        ValueType::Prefix => is_part(".:/"),
        ValueType::Ipv4Prefix(_) => {
            text.chars().all(|one| one.is_ascii_digit() || one == '.' || one == '/')
        }
        ValueType::Mac => is_part("."),
        ValueType::Decimal => text.chars().all(|one| one.is_ascii_digit() || one == '.'),
        ValueType::Port => text.chars().all(|one| one.is_ascii_digit() || one == '/'),
        ValueType::Reference(_, base) => begins_value(base, text),
        ValueType::HostPort => true,
        ValueType::Range(..)
        | ValueType::Word(_)
        | ValueType::Name(_)
        | ValueType::Domain(_)
        | ValueType::Label(_)
        | ValueType::QueryName(_)
        | ValueType::Quoted
        | ValueType::Line
        | ValueType::PortList
        | ValueType::Delimited
        | ValueType::MasterFile
        | ValueType::Choice(_) => false,
    }
}

fn placeholder(value_type: &ValueType, help: &str) -> Candidate {
    let help = match value_type {
        ValueType::Range(low, high) => format!("{help} (valid range is {low} to {high})."),
        _ => help.to_owned(),
    };
    Candidate { word: value_type.placeholder().to_owned(), help, literal: false }
}

/// Where help texts begin at the latest.
const WIDEST_WORD: usize = 30;

/// Width of the screen that texts are wrapped to.
const SCREEN: usize = 79;

/// Lays out a list by the rules of base-cli 2.2.
pub fn layout(grammar: &Grammar, listing: &Listing) -> String {
    let mut rows: Vec<(&str, &str)> = listing
        .candidates
        .iter()
        .map(|candidate| (candidate.word.as_str(), candidate.help.as_str()))
        .collect();
    if listing.filtered {
        rows.push(("|", grammar.phrase(Message::HelpPipe)));
    }
    let widest = rows.iter().map(|(word, _)| word.chars().count()).max().unwrap_or(0);
    let column = 2 + widest.min(WIDEST_WORD) + 3;
    let mut out = String::new();
    for (word, help) in rows {
        let mut line = format!("  {word}");
        pad(&mut line, column);
        let mut first = true;
        for part in wrap(help, SCREEN.saturating_sub(column).max(20)) {
            if !first {
                line = " ".repeat(column);
            }
            first = false;
            line.push_str(part);
            out.push_str(line.trim_end());
            out.push('\n');
            line.clear();
        }
        if first {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    if listing.complete {
        out.push_str("  <cr>\n");
    }
    out
}

fn pad(line: &mut String, column: usize) {
    let width = line.chars().count();
    let blanks = if width + 1 > column { 1 } else { column - width };
    line.extend(std::iter::repeat_n(' ', blanks));
}

/// Parts of a text of at most `width` characters, broken at blanks.
fn wrap(text: &str, width: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut end = 0;
    let mut characters = 0;
    for (place, word) in word_places(text) {
        let length = word.chars().count();
        if characters > 0 && characters + 1 + length > width {
            parts.push(&text[start..end]);
            start = place;
            characters = length;
        } else {
            characters += length + usize::from(characters > 0);
        }
        end = place + word.len();
    }
    if end > start {
        parts.push(&text[start..end]);
    }
    parts
}

fn word_places(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(' ').scan(0, |place, word| {
        let start = *place;
        *place += word.len() + 1;
        Some((start, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_wrap_at_blanks() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("", 7), Vec::<&str>::new());
        assert_eq!(wrap("incomprehensible x", 5), ["incomprehensible", "x"]);
    }
}
