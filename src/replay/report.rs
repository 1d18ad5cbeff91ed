//! What a person reads about a session that differs.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use super::place::Place;
use super::player::{Difference, DifferenceKind, Keep, Outcome};

/// How to accept what is shown.
const ACCEPT: &str = "to accept: ADXEMU_BLESS=1 cargo test --test transcripts";
/// How many differences of one file are shown.
const SHOWN: usize = 3;
/// How many lines of context stand around a change.
const CONTEXT: usize = 3;
/// How many lines of each side are compared for display, which bounds the time it takes.
const COMPARED: usize = 2000;
/// How many lines of a diff are shown.
const DIFF_LINES: usize = 120;

/// Writes what differs in one file. Nothing is written if all agrees.
pub(super) fn write_report(
    path: &Path,
    text: &str,
    outcome: &Outcome,
    out: &mut dyn Write,
) -> io::Result<()> {
    let path_name = path.display();
    for difference in outcome.differences.iter().take(SHOWN) {
        let step = text.lines().nth(difference.line - 1).unwrap_or_default();
        writeln!(out, "{path_name}:{}: {}", difference.line, headline(difference))?;
        writeln!(out, "  typed: {}", visible(&difference.typed))?;
        writeln!(out, "  mode:  {}", visible(mode(&difference.prompt)))?;
        writeln!(out, "--- {path_name}\n+++ {path_name} as played")?;
        out.write_all(unified_diff(difference, step).as_bytes())?;
        if let Some(remark) = why_kept(difference) {
            writeln!(out, "{remark}")?;
        }
    }
    let more = outcome.differences.len().saturating_sub(SHOWN);
    if more > 0 {
        let noun = if more == 1 { "difference" } else { "differences" };
        writeln!(out, "{path_name}: {more} more {noun}")?;
    }
    for invariant in &outcome.invariants {
        writeln!(out, "{path_name}: broken invariant: {}", visible(invariant))?;
    }
    let can_be_accepted = outcome
        .differences
        .iter()
        .any(|difference| difference.kind == DifferenceKind::Output { keep: None });
    if !outcome.is_in_step() {
        writeln!(out, "not rewritten by a tool: mend the prompts and typed lines first")
    } else if Place::of(path).manual && !outcome.differences.is_empty() {
        writeln!(out, "never rewritten by a tool: this session is evidence")
    } else if can_be_accepted {
        writeln!(out, "{ACCEPT}")
    } else {
        Ok(())
    }
}

fn headline(difference: &Difference) -> &'static str {
    match difference.kind {
        DifferenceKind::Output { .. } => "the output differs",
        DifferenceKind::Prompt => "the prompt differs",
        DifferenceKind::Standing => "the line does not begin with the text that stands there",
        DifferenceKind::NoLongerBroken => "no longer broken: remove `@broken`",
    }
}

fn why_kept(difference: &Difference) -> Option<String> {
    match difference.kind {
        DifferenceKind::Output { keep: Some(Keep::Pinned) } => {
            Some("never rewritten by a tool: the output is pinned".to_owned())
        }
        DifferenceKind::Output { keep: Some(Keep::Input(line)) } => Some(format!(
            "not rewritten by a tool: line {line} may be a prompt line of another device"
        )),
        _ => None,
    }
}

/// The mode in a prompt, with its parentheses; `#` or `>` outside of all.
fn mode(prompt: &str) -> &str {
    let start = prompt.find('(').unwrap_or(prompt.len().saturating_sub(1));
    let mode = prompt.get(start..).unwrap_or(prompt);
    mode.rfind(')').map_or(mode, |end| &mode[..=end])
}

/// The diff of the lines of one difference, as part of the diff of the whole file.
fn unified_diff(difference: &Difference, step: &str) -> String {
    // The line of the step stands before its output, the one behind `@broken` after that.
    let (before, after) = match difference.kind {
        DifferenceKind::Output { .. } => (Some(step), None),
        DifferenceKind::NoLongerBroken if difference.line == difference.first + 1 => {
            (None, Some(step))
        }
        _ => (None, None),
    };
    let side = |lines: &[String]| -> Vec<String> {
        let lines = lines.iter().map(String::as_str).take(COMPARED);
        before.into_iter().chain(lines).chain(after).map(visible).collect()
    };
    let old = side(&difference.old);
    let new = side(&difference.new);
    let first = difference.first - usize::from(before.is_some());

    let mut lines = Vec::new();
    for hunk in group_diff_ops(capture_diff_slices(Algorithm::Myers, &old, &new), CONTEXT) {
        lines.push(hunk_header(&hunk, first));
        for operation in hunk {
            let (removed, added) = (operation.old_range(), operation.new_range());
            if let DiffOp::Equal { .. } = operation {
                lines.extend(old[removed].iter().map(|line| format!(" {line}")));
            } else {
                lines.extend(old[removed].iter().map(|line| format!("-{line}")));
                lines.extend(new[added].iter().map(|line| format!("+{line}")));
            }
        }
    }
    let cut = difference.old.len().max(difference.new.len()) > COMPARED;
    let hidden = lines.len().saturating_sub(DIFF_LINES);
    let mut text = String::new();
    for line in lines.iter().take(DIFF_LINES) {
        text.push_str(line);
        text.push('\n');
    }
    if hidden > 0 || cut {
        let least = if cut { "at least " } else { "" };
        let _ = writeln!(text, "({least}{hidden} more lines)");
    }
    text
}

/// `@@ -12,3 +12,4 @@`, where the lines count from that of the file.
fn hunk_header(hunk: &[DiffOp], first: usize) -> String {
    let range = |range: fn(&DiffOp) -> std::ops::Range<usize>| {
        let start = hunk.first().map_or(0, |operation| range(operation).start);
        let end = hunk.last().map_or(start, |operation| range(operation).end);
        // Of an empty range the line before it is given.
        (first + start - usize::from(start == end), end - start)
    };
    let (old_start, old_length) = range(DiffOp::old_range);
    let (new_start, new_length) = range(DiffOp::new_range);
    format!("@@ -{old_start},{old_length} +{new_start},{new_length} @@")
}

/// A line without characters that would move the cursor of a terminal.
fn visible(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for character in line.chars() {
        if character.is_control() && character != '\t' {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(old: &[&str], new: &[&str]) -> Difference {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        Difference {
            kind: DifferenceKind::Output { keep: None },
            line: 9,
            typed: "show".into(),
            prompt: "adx#".into(),
            old: lines(old),
            new: lines(new),
            first: 10,
        }
    }

    #[test]
    fn hunks_count_lines_as_the_file_does() {
        let diff = unified_diff(&difference(&["a", "b"], &["a", "c"]), "adx#show");
        assert_eq!(diff, "@@ -9,3 +9,3 @@\n adx#show\n a\n-b\n+c\n");
        let diff = unified_diff(&difference(&[], &["c"]), "adx#show");
        assert_eq!(diff, "@@ -9,1 +9,2 @@\n adx#show\n+c\n");
    }

    #[test]
    fn a_line_cannot_move_the_cursor() {
        let diff = unified_diff(&difference(&["a\tb"], &["\u{1b}[2J"]), "adx#show");
        assert!(diff.ends_with("-a\tb\n+\\u{1b}[2J\n"), "{diff}");
    }

    #[test]
    fn long_diffs_are_cut() {
        let lines: Vec<_> = (0..100_000).map(|number| number.to_string()).collect();
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        let diff = unified_diff(&difference(&vec!["x"; lines.len()], &lines), "adx#show");
        assert_eq!(diff.lines().count(), DIFF_LINES + 1);
        assert!(diff.ends_with("(at least 3882 more lines)\n"), "{diff}");
    }

    #[test]
    fn the_mode_is_that_of_the_prompt() {
        assert_eq!(mode("adx(config-gslb-policy)#"), "(config-gslb-policy)");
        assert_eq!(mode("adx#"), "#");
        assert_eq!(mode("adx>"), ">");
        assert_eq!(mode(""), "");
    }
}
