//! Findings for people.
//!
//! Errors and warnings stand as compilers write them: `FILE:LINE:COLUMN: severity: message [rule]`, and
//! below it the line with a mark at the column. The same finding on lines that follow one another is
//! written once. Notes come last, counted by command, since a real configuration is mostly
//! lines that are only kept. The counts of each file end it.

use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use arcstr::ArcStr;
use hashbrown::{HashMap, HashSet};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::check::lines::KEPT;
use crate::check::rule::{Finding, Severity};
use crate::check::{Checked, Summary};
use crate::cli::words;
use crate::config::render::MASK;
use crate::grammar::expand::Token;
use crate::grammar::{Command, Grammar};

/// Writes findings and counts. Where no colour is wanted the writer takes it out again.
///
/// # Errors
///
/// Those of the writer.
pub fn write(grammar: &Grammar, files: &[Checked], out: &mut dyn Write) -> io::Result<()> {
    let secrets = Secrets::of(grammar);
    for file in files {
        let source: Vec<&str> = file.source.lines().collect();
        for group in grouped(&file.findings) {
            finding(&file.name, &group, &source, &secrets, out)?;
        }
        notes(file, out)?;
    }
    if files.iter().any(|file| !file.findings.is_empty()) {
        by_rule(files, out)?;
        writeln!(out)?;
    }
    for file in files {
        counts(&file.name, &file.summary(), out)?;
    }
    if files.len() > 1 {
        counts("all files", &Summary::of(files), out)?;
    }
    Ok(())
}

/// A finding, and on how many lines that follow one another it was made.
struct Group<'a> {
    first: &'a Finding,
    lines: usize,
}

/// Errors and warnings; the same one on the next line belongs to the one before.
fn grouped(findings: &[Finding]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut open: HashMap<(&str, usize, &str), usize> = HashMap::new();
    for finding in findings.iter().filter(|one| one.rule.severity > Severity::Note) {
        let key = (finding.rule.name, finding.column, finding.message.as_str());
        let group = open.get(&key).map(|place| &mut groups[*place]);
        if let Some(group) = group.filter(|one| one.first.line + one.lines == finding.line) {
            group.lines += 1;
        } else {
            open.insert(key, groups.len());
            groups.push(Group { first: finding, lines: 1 });
        }
    }
    groups
}

fn finding(
    name: &str,
    group: &Group<'_>,
    source: &[&str],
    secrets: &Secrets,
    out: &mut dyn Write,
) -> io::Result<()> {
    let bold = Style::new().bold();
    let dim = Style::new().dimmed();
    let Finding { rule, line, column, message } = group.first;
    let style = style_of(rule.severity);
    let severity = rule.severity.name();
    let message = without_severity(message);
    write!(out, "{bold}{name}:{line}:{column}:{bold:#} {style}{severity}:{style:#} ")?;
    writeln!(out, "{bold}{message}{bold:#} {dim}[{}]{dim:#}", rule.name)?;
    let text = line.checked_sub(1).and_then(|place| source.get(place)).copied().unwrap_or_default();
    if !text.trim().is_empty() {
        let shown = Excerpt::of(&secrets.masked(text), *column);
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(out, " {dim}{number} |{dim:#} {}", shown.text)?;
        let (blanks, mark) = (" ".repeat(shown.before), "^".repeat(shown.width));
        writeln!(out, " {dim}{margin} |{dim:#} {blanks}{style}{mark}{style:#}")?;
    }
    match group.lines - 1 {
        0 => Ok(()),
        1 => writeln!(out, "   {dim}and the next line{dim:#}"),
        more => writeln!(out, "   {dim}and the next {more} lines{dim:#}"),
    }
}

/// The severity stands before the message already.
fn without_severity(message: &str) -> &str {
    ["error - ", "error: "]
        .into_iter()
        .find_map(|word| {
            let start = message.get(..word.len())?;
            start.eq_ignore_ascii_case(word).then(|| &message[word.len()..])
        })
        .unwrap_or(message)
}

/// A line as it is shown, and where its mark stands.
#[derive(Debug, PartialEq, Eq)]
struct Excerpt {
    text: String,
    /// Columns of the screen before the mark.
    before: usize,
    /// Columns of the screen that the mark takes: those of a word.
    width: usize,
}

/// The most characters of a line that are shown.
const WIDEST: usize = 100;

impl Excerpt {
    /// Shows a line around the column, counted in characters from 1. What would move the cursor or
    /// worse is replaced.
    fn of(line: &str, column: usize) -> Self {
        let characters: Vec<char> = line
            .chars()
            .map(|one| match one {
                '\t' => ' ',
                one if one.is_control() || one.width() == Some(0) => char::REPLACEMENT_CHARACTER,
                one => one,
            })
            .collect();
        let mark = column.saturating_sub(1).min(characters.len());
        let word = characters[mark..].iter().take_while(|one| !one.is_whitespace()).count().max(1);
        // The mark stands in the first part of what is shown.
        let start = if mark < WIDEST / 2 { 0 } else { mark - WIDEST / 4 };
        let end = characters.len().min(start + WIDEST);
        let part = |from: usize, to: usize| -> String { characters[from..to].iter().collect() };
        let lead = if start > 0 { "..." } else { "" };
        let tail = if end < characters.len() { "..." } else { "" };
        let marked = part(mark, (mark + word).min(end).max(mark));
        Excerpt {
            text: format!("{lead}{}{tail}", part(start, end)),
            before: lead.len() + part(start, mark).width(),
            width: marked.width().max(1),
        }
    }
}

/// Words behind which a secret stands, as the grammar says, each with the words that may follow it
/// instead.
struct Secrets {
    words: HashMap<String, HashSet<String>>,
}

impl Secrets {
    fn of(grammar: &Grammar) -> Self {
        let mut words: HashMap<String, HashSet<String>> = HashMap::new();
        for (last, token, command) in parts(grammar) {
            if let Token::Argument { argument, .. } = token
                && command.arguments[*argument].is_secret()
            {
                for word in last {
                    words.entry(word.to_lowercase()).or_default();
                }
            }
        }
        for (last, token, _) in parts(grammar) {
            let Token::Word(spellings) = token else { continue };
            for word in last {
                if let Some(others) = words.get_mut(&word.to_lowercase()) {
                    others.extend(spellings.iter().map(|one| one.to_lowercase()));
                }
            }
        }
        Secrets { words }
    }

    /// The line without what stands behind such a word, also in a line that no command matches.
    fn masked(&self, line: &str) -> String {
        let all = words::split(line);
        let found = all.iter().enumerate().find(|(place, word)| {
            let others = self.words.get(&word.text.to_lowercase());
            let next = all.get(place + 1).map(|next| next.text.to_lowercase());
            others.is_some_and(|others| next.is_none_or(|next| !others.contains(&next)))
        });
        let found = found.map(|(_, word)| word);
        match found.filter(|word| !line[word.end..].trim().is_empty()) {
            Some(word) => format!("{} {MASK}", &line[..word.end]),
            None => line.to_owned(),
        }
    }
}

/// How many lines are named of those that a note is about.
const NAMED_LINES: usize = 3;

/// Every part of every line of the grammar, with the spellings of the last word before it.
fn parts(grammar: &Grammar) -> Vec<(&[ArcStr], &Token, &Command)> {
    let mut parts = Vec::new();
    for command in &grammar.commands {
        for form in &command.forms {
            let mut last: &[ArcStr] = &[];
            for token in form {
                parts.push((last, token, command));
                if let Token::Word(spellings) = token {
                    last = spellings;
                }
            }
        }
    }
    parts
}

/// Notes of a file, a row for each command.
fn notes(file: &Checked, out: &mut dyn Write) -> io::Result<()> {
    let mut rows: Vec<(&str, Vec<usize>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let notes = file.findings.iter().filter(|one| one.rule.severity == Severity::Note);
    let mut all = 0;
    for note in notes {
        all += 1;
        let place = *places.entry(&note.message).or_insert_with(|| {
            rows.push((&note.message, Vec::new()));
            rows.len() - 1
        });
        rows[place].1.push(note.line);
    }
    let Some(rule) =
        file.findings.iter().map(|one| one.rule).find(|rule| rule.severity == Severity::Note)
    else {
        return Ok(());
    };
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let style = style_of(Severity::Note);
    let (name, lines) = (&file.name, plural(all, "line"));
    let are = if all == 1 { "is" } else { "are" };
    write!(out, "{bold}{name}:{bold:#} {style}note:{style:#} ")?;
    writeln!(out, "{lines} {are} {} {dim}[{}]{dim:#}", KEPT.trim_end_matches(": "), rule.name)?;
    rows.sort_by_key(|(_, lines)| std::cmp::Reverse(lines.len()));
    for (message, lines) in rows {
        let syntax = without_types(message.strip_prefix(KEPT).unwrap_or(message));
        let (count, named) = (lines.len(), named(&lines));
        writeln!(out, " {count:>6}  {syntax}  {dim}{named}{dim:#}")?;
    }
    Ok(())
}

/// The first of the lines by number.
fn named(lines: &[usize]) -> String {
    let mut text = if lines.len() == 1 { "line ".to_owned() } else { "lines ".to_owned() };
    for (place, line) in lines.iter().take(NAMED_LINES).enumerate() {
        let comma = if place > 0 { ", " } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(text, "{comma}{line}");
    }
    if lines.len() > NAMED_LINES {
        text.push_str(", ...");
    }
    text
}

/// A syntax line as a manual would print it: without the types of its arguments.
fn without_types(syntax: &str) -> String {
    let mut text = String::with_capacity(syntax.len());
    let mut in_type = false;
    let mut in_argument = false;
    for one in syntax.chars() {
        match one {
            '<' => in_argument = true,
            '>' => (in_argument, in_type) = (false, false),
            ':' if in_argument => in_type = true,
            _ => {}
        }
        if !in_type {
            text.push(one);
        }
    }
    text
}

/// More errors and warnings than this are also counted by their rules.
const MANY: usize = 20;

fn by_rule(files: &[Checked], out: &mut dyn Write) -> io::Result<()> {
    let grave = files.iter().flat_map(|file| &file.findings);
    let grave = grave.filter(|one| one.rule.severity > Severity::Note);
    let mut rows: Vec<(&Finding, usize)> = Vec::new();
    for finding in grave {
        match rows.iter_mut().find(|(known, _)| known.rule == finding.rule) {
            Some((_, count)) => *count += 1,
            None => rows.push((finding, 1)),
        }
    }
    if rows.iter().map(|(_, count)| count).sum::<usize>() <= MANY {
        return Ok(());
    }
    rows.sort_by_key(|(first, count)| std::cmp::Reverse((first.rule.severity, *count)));
    writeln!(out)?;
    for (first, count) in rows {
        let style = style_of(first.rule.severity);
        let severity = first.rule.severity.name();
        writeln!(out, " {count:>6}  {style}{severity:<7}{style:#}  {}", first.rule.name)?;
    }
    Ok(())
}

fn style_of(severity: Severity) -> Style {
    match severity {
        Severity::Note => AnsiColor::Cyan.on_default(),
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
        Severity::Error => AnsiColor::Red.on_default().bold(),
    }
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

fn counts(name: &str, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Summary { lines, silent, modelled, kept, accepted, opaque, rejected, .. } = *summary;
    let Summary { errors, warnings, notes, .. } = *summary;
    let bold = Style::new().bold();
    write!(out, "{bold}{name}:{bold:#} {}", plural(lines, "line"))?;
    let standings = [
        (modelled, "modelled"),
        (kept, "kept"),
        (accepted, "accepted"),
        (opaque, "opaque"),
        (rejected, "rejected"),
        (silent, "silent"),
    ];
    let standings = standings.into_iter().filter(|(count, _)| *count > 0);
    for (place, (count, word)) in standings.enumerate() {
        let before = if place == 0 { " (" } else { ", " };
        write!(out, "{before}{count} {word}")?;
    }
    write!(out, "{}: ", if lines > 0 { ")" } else { "" })?;
    let found = [(errors, Severity::Error), (warnings, Severity::Warning), (notes, Severity::Note)];
    let found: Vec<_> = found.into_iter().filter(|(count, _)| *count > 0).collect();
    for (place, (count, severity)) in found.iter().enumerate() {
        let style = style_of(*severity);
        let comma = if place > 0 { ", " } else { "" };
        write!(out, "{comma}{style}{}{style:#}", plural(*count, severity.name()))?;
    }
    writeln!(out, "{}", if found.is_empty() { "nothing to report" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_below_the_word() {
        let excerpt = Excerpt::of(" weight 101 x", 9);
        assert_eq!((excerpt.before, excerpt.width), (8, 3));
        let wide = Excerpt::of("\tname 日本 101", 10);
        assert_eq!(wide.text, " name 日本 101");
        assert_eq!((wide.before, wide.width), (11, 3));
        assert_eq!(Excerpt::of("short", 40).before, 5);
        assert_eq!(Excerpt::of("", 1), Excerpt { text: String::new(), before: 0, width: 1 });
    }

    #[test]
    fn long_lines_are_cut_around_the_mark() {
        let line = format!("{} bad {}", "x".repeat(300), "y".repeat(300));
        let excerpt = Excerpt::of(&line, 302);
        let shown: String = excerpt.text.chars().skip(excerpt.before).take(3).collect();
        assert_eq!(shown, "bad");
        assert_eq!(excerpt.text.chars().count(), WIDEST + 6);
    }

    #[test]
    fn nothing_of_a_file_controls_the_terminal() {
        let excerpt = Excerpt::of("a\u{1b}[31m\u{202e}b", 1);
        assert!(!excerpt.text.contains(['\u{1b}', '\u{202e}']), "{excerpt:?}");
    }

    #[test]
    fn secrets_are_masked_in_any_line() {
        let secrets = Secrets::of(&Grammar::built_in().unwrap());
        let masked = secrets.masked(" username x privilege 9 password hunter2");
        assert_eq!(masked, " username x privilege 9 password .....");
        assert_eq!(secrets.masked("frob Community s ro"), "frob Community .....");
        assert_eq!(secrets.masked("enable hunter2"), "enable .....");
        assert_eq!(secrets.masked("enable password-display"), "enable password-display");
        assert_eq!(secrets.masked(" port http"), " port http");
    }

    #[test]
    fn the_severity_is_said_once() {
        assert_eq!(without_severity("Error - 101 is too much"), "101 is too much");
        assert_eq!(without_severity("error: no"), "no");
        assert_eq!(without_severity("Invalid input -> é"), "Invalid input -> é");
    }
}
