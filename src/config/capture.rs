//! What a terminal log adds to a configuration, taken off again.
//!
//! [`clean`] is a pure function from text to text with as many lines: what is no part of the
//! configuration becomes an empty line, so line numbers stay those of the file. A text that is no
//! log comes back as it is, but for line ends.
//!
//! What is recognised: CR LF and CR line ends, a byte order mark, characters that a terminal would
//! have acted on (backspaces, carriage returns, escape sequences), the pager's line, prompts with
//! what was typed at them, and the headings of the displays that show a configuration. Of several
//! such displays the last one counts.

use std::borrow::Cow;

use crate::cli::matcher;
use crate::cli::words;
use crate::grammar::link::{Kept, Message, Report};
use crate::grammar::{Grammar, ModeId, Verb};
use crate::model::project::DEFAULT_DEVICE_NAME;

/// How the headings of displays begin, without the `!` that makes a comment of them on most
/// releases (base-cli 3.1).
const HEADINGS: &[&str] = &[
    "Building configuration",
    "Current configuration",
    "Startup-config data location",
    "Startup configuration",
];

/// Columns of the terminal that a log may move in; what is written further right is cut off.
const WIDEST: usize = 4096;

/// The configuration in a text, line for line.
pub fn clean<'a>(grammar: &Grammar, text: &'a str) -> Cow<'a, str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if is_clean(grammar, text) {
        return Cow::Borrowed(text);
    }
    let text = if text.contains('\n') {
        Cow::Borrowed(text)
    } else {
        // Clients end lines with CR alone (base-cli 2.6).
        Cow::Owned(text.replace('\r', "\n"))
    };
    let pager = grammar.phrase(Message::More);
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(|line| shown(line, pager)).collect();
    let log = Log::of(grammar, &lines);
    let mut out = String::with_capacity(text.len());
    for (number, line) in lines.iter().enumerate() {
        out.push_str(log.content(number, line));
        out.push('\n');
    }
    // `split` gives one piece more than there are line breaks.
    out.pop();
    Cow::Owned(out)
}

/// Whether nothing in a text can be a trace of a terminal: a configuration as a program writes it,
/// of any length.
fn is_clean(grammar: &Grammar, text: &str) -> bool {
    let pager = grammar.phrase(Message::More);
    // Controls but for tab and line feed, of which those beyond ASCII begin with 0xC2, and the ends of prompts.
    let may_be_trace = |byte: u8| matches!(byte, 0..=8 | 11..=31 | 0x7f | 0xc2 | b'#' | b'>');
    // Whole pieces without a way out of them, which the compiler turns into a few instructions.
    let mut pieces = text.as_bytes().chunks(1024);
    !pieces.any(|piece| piece.iter().fold(false, |any, byte| any | may_be_trace(*byte)))
        && (pager.is_empty() || !text.contains(pager))
        && !text.as_bytes().split(|byte| *byte == b'\n').any(is_heading)
}

/// A line as it stands on the screen in the end.
fn shown<'a>(line: &'a str, pager: &str) -> Cow<'a, str> {
    // CR LF, and CR NUL of Telnet.
    let line = line.trim_end_matches(['\r', '\0']);
    let acts = |one: char| one.is_control() && one != '\t';
    let drawn = if line.contains(acts) { Cow::Owned(draw(line)) } else { Cow::Borrowed(line) };
    if pager.is_empty() || !drawn.contains(pager) {
        return drawn;
    }
    Cow::Owned(drawn.replace(pager, ""))
}

/// Writes a line on a screen: backspace and carriage return move, characters overwrite.
fn draw(line: &str) -> String {
    let mut screen: Vec<char> = Vec::new();
    let mut column: usize = 0;
    let mut rest = line.chars();
    while let Some(one) = rest.next() {
        match one {
            '\u{8}' => column = column.saturating_sub(1),
            '\r' => column = 0,
            '\u{1b}' => skip_sequence(&mut rest),
            '\u{3}' => {
                // Control-C ends the lines of a banner; on paper it is written ^C.
                put(&mut screen, &mut column, '^');
                put(&mut screen, &mut column, 'C');
            }
            one if one.is_control() && one != '\t' => {}
            one => put(&mut screen, &mut column, one),
        }
    }
    let text: String = screen.into_iter().collect();
    text.trim_end().to_owned()
}

fn put(screen: &mut Vec<char>, column: &mut usize, one: char) {
    if *column >= WIDEST {
        return;
    }
    match screen.get_mut(*column) {
        Some(old) => *old = one,
        None => screen.push(one),
    }
    *column += 1;
}

/// The rest of an escape sequence (ECMA-48 section 5.4): up to its final character.
fn skip_sequence(rest: &mut std::str::Chars<'_>) {
    if rest.as_str().starts_with('[') {
        rest.next();
        for one in rest.by_ref() {
            if ('\u{40}'..='\u{7e}').contains(&one) {
                break;
            }
        }
    } else {
        rest.next();
    }
}

/// A line that begins with a prompt.
struct Prompt<'a> {
    host: &'a str,
    /// Whether the prompt is that of a configuration mode.
    configures: bool,
    typed: &'a str,
}

/// What a log holds.
struct Log {
    /// What to take of each line, if the text is a log.
    takes: Option<Vec<Take>>,
    /// The device's name, if single prompts are all that was added.
    stray: Option<String>,
}

/// What is taken of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Take {
    /// All of it.
    Whole,
    /// What was typed at its prompt.
    Typed,
    /// Nothing.
    Nothing,
}

impl Log {
    fn of(grammar: &Grammar, lines: &[Cow<'_, str>]) -> Self {
        let prompts: Vec<(usize, Prompt<'_>)> = lines
            .iter()
            .enumerate()
            .filter_map(|(number, line)| Some((number, prompt(grammar, line)?)))
            .collect();
        if prompts.is_empty() {
            return Log { takes: None, stray: None };
        }
        let shows = |prompt: &Prompt<'_>| shows_configuration(grammar, prompt.typed);
        let speaks: Vec<&str> = prompts
            .iter()
            .filter(|(_, prompt)| shows(prompt) || (prompt.configures && !prompt.typed.is_empty()))
            .map(|(_, prompt)| prompt.host)
            .collect();
        if speaks.is_empty() {
            return Log { takes: None, stray: Some(configured_name(grammar, lines)) };
        }
        let mut takes = vec![Take::Nothing; lines.len()];
        let own: Vec<&(usize, Prompt<'_>)> =
            prompts.iter().filter(|(_, prompt)| speaks.contains(&prompt.host)).collect();
        let last_display = own.iter().rposition(|(_, prompt)| shows(prompt));
        for (place, (number, prompt)) in own.iter().enumerate().skip(last_display.unwrap_or(0)) {
            if Some(place) == last_display {
                let end = own.get(place + 1).map_or(lines.len(), |(next, _)| *next);
                takes[number + 1..end].fill(Take::Whole);
            } else if prompt.configures && !prompt.typed.is_empty() {
                takes[*number] = Take::Typed;
            }
        }
        Log { takes: Some(takes), stray: None }
    }

    fn content<'a>(&self, number: usize, line: &'a str) -> &'a str {
        let take = match (&self.takes, &self.stray) {
            (Some(takes), _) => takes[number],
            (None, Some(name)) => match bare_prompt(line) {
                Some((session, host)) if session || host == name => Take::Nothing,
                _ => Take::Whole,
            },
            (None, None) => Take::Whole,
        };
        match take {
            Take::Nothing => "",
            Take::Typed => typed(line).unwrap_or(line),
            Take::Whole if is_heading(line.as_bytes()) => "",
            Take::Whole => line,
        }
    }
}

fn is_heading(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    HEADINGS.iter().any(|heading| {
        let start = line.get(..heading.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(heading.as_bytes()))
    })
}

/// The device's name in the prompts of that configuration.
fn configured_name(grammar: &Grammar, lines: &[Cow<'_, str>]) -> String {
    let Some(root) = root_mode(grammar) else { return DEFAULT_DEVICE_NAME.to_owned() };
    let name = lines.iter().rev().find_map(|line| {
        let words = words::split(line);
        let hit = matcher::match_in(grammar, root, &words, line).ok().filter(|hit| !hit.negated)?;
        let storage = grammar.command(hit.command).storage.as_ref()?;
        let name = words.last().map(|word| word.text.to_owned());
        name.filter(|_| storage.kept == Kept::Hostname)
    });
    name.unwrap_or_else(|| DEFAULT_DEVICE_NAME.to_owned())
}

fn root_mode(grammar: &Grammar) -> Option<ModeId> {
    grammar.modes.iter().position(|mode| mode.root).map(ModeId)
}

/// Whether a line is a display of a whole configuration, in any mode.
fn shows_configuration(grammar: &Grammar, typed: &str) -> bool {
    let words = words::split(typed);
    let words = &words[..words::pipe(&words).unwrap_or(words.len())];
    let Some(root) = root_mode(grammar).filter(|_| !words.is_empty()) else { return false };
    let Ok(hit) = matcher::match_in(grammar, root, words, typed) else { return false };
    let verb = &grammar.command(hit.command).verb;
    matches!(verb, Verb::Show(Report::RunningConfig | Report::StartupConfig))
}

/// Where a prompt ends: the host in front of `#` or `>`, or of the mode in parentheses. The host
/// and the session in front of it hold no blanks.
fn split_prompt(line: &str) -> Option<(&str, Option<&str>, &str)> {
    let end = line.find(['#', '>', '(', ' ', '\t'])?;
    let host = &line[..end];
    let is_name =
        |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | '.' | '@' | '/');
    if !host.starts_with(|one: char| one.is_ascii_alphanumeric()) || !host.chars().all(is_name) {
        return None;
    }
    let rest = &line[end..];
    if let Some(mode) = rest.strip_prefix('(') {
        let close = mode.find(")#")?;
        return Some((host, Some(&mode[..close]), &mode[close + 2..]));
    }
    let typed = rest.strip_prefix(['#', '>'])?;
    Some((host, None, typed))
}

fn prompt<'a>(grammar: &Grammar, line: &'a str) -> Option<Prompt<'a>> {
    let (host, mode, typed) = split_prompt(line)?;
    if let Some(mode) = mode {
        // The prompts of the grammar's modes: what stands between `(` and their first place.
        let known = grammar.modes.iter().any(|known| {
            known.prompt.split_once('(').is_some_and(|(_, text)| {
                let fixed = text.split(['{', ')']).next().unwrap_or_default();
                !fixed.is_empty() && mode.starts_with(fixed)
            })
        });
        if !known {
            return None;
        }
    }
    let host = host.split_once('@').map_or(host, |(_, host)| host);
    Some(Prompt { host, configures: mode.is_some(), typed: typed.trim() })
}

/// What was typed at the prompt of a line.
fn typed(line: &str) -> Option<&str> {
    split_prompt(line).map(|(_, _, typed)| typed.trim())
}

/// Whether a line is a prompt and nothing else: whether a session stands in front, and the host.
fn bare_prompt(line: &str) -> Option<(bool, &str)> {
    let (host, _, typed) = split_prompt(line)?;
    if !typed.trim().is_empty() {
        return None;
    }
    Some(host.split_once('@').map_or((false, host), |(_, host)| (true, host)))
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;

    fn cleaned(text: &str) -> String {
        static GRAMMAR: OnceLock<Grammar> = OnceLock::new();
        clean(GRAMMAR.get_or_init(|| Grammar::built_in().unwrap()), text).into_owned()
    }

    /// The lines on which something is left, with their numbers.
    fn left(text: &str) -> Vec<(usize, String)> {
        let cleaned = cleaned(text);
        assert_eq!(
            cleaned.split('\n').count(),
            text.split('\n').count(),
            "lines keep their number"
        );
        let lines = cleaned.split('\n').enumerate().filter(|(_, line)| !line.is_empty());
        lines.map(|(number, line)| (number + 1, line.to_owned())).collect()
    }

    #[test]
    fn a_plain_configuration_comes_back_as_it_is() {
        let text = "!\nhostname a\ngslb site A\n\tweight 5  \n!\n description \"x#y > z\"\nend";
        assert_eq!(cleaned(text), text);
        assert_eq!(cleaned(""), "");
        assert_eq!(cleaned("hostname a\n"), "hostname a\n");
    }

    #[test]
    fn line_ends_of_other_systems() {
        assert_eq!(cleaned("\u{feff}hostname a\r\nend\r\n"), "hostname a\nend\n");
        assert_eq!(cleaned("hostname a\r\0\nend"), "hostname a\nend");
        assert_eq!(cleaned("hostname a\rend\r"), "hostname a\nend\n");
    }

    #[test]
    fn what_the_pager_leaves_behind() {
        let pager = "--More--, next page: Space, next line: Return key, quit: Control-c";
        let back = "\u{8}".repeat(pager.len());
        let blanks = " ".repeat(pager.len());
        for erased in [
            format!("{pager}{back}{blanks}{back} weight 5"),
            format!("{pager}\r{blanks}\r weight 5"),
            format!("{pager} weight 5"),
            format!("\u{1b}[7m{pager}\u{1b}[0m\r\u{1b}[K{blanks}\r weight 5"),
        ] {
            assert_eq!(cleaned(&format!("gslb site A\n{erased}\n!")), "gslb site A\n weight 5\n!");
        }
        assert_eq!(cleaned(&format!("a\n{pager}\nb")), "a\n\nb", "not erased in the log");
    }

    #[test]
    fn only_the_last_display_of_a_log_counts() {
        let text = "\
Please Enter Login Name: admin
telnet@lab-1>enable
telnet@lab-1#show version
System Version 12.4.00T403
telnet@lab-1#sh run
!Building configuration...
hostname old
end
telnet@lab-1#write terminal
Building configuration...
Current configuration : 40 bytes
!
hostname lab-1
gslb site A
 weight 5
end

telnet@lab-1#exit";
        let expected = [(12, "!"), (13, "hostname lab-1"), (14, "gslb site A"), (15, " weight 5")];
        let left = left(text);
        assert_eq!(left[..4], expected.map(|(number, line)| (number, line.to_owned())));
        assert_eq!(left[4..], [(16, "end".to_owned())]);
    }

    #[test]
    fn commands_typed_in_configuration_modes_count() {
        let text = "\
ServerIronADX#conf t
ServerIronADX(config)#gslb site A
ServerIronADX(config-gslb-site-A)#weight 500
Error - 500 not between 0 and 100
ServerIronADX(config-gslb-site-A)# weight 50
ServerIronADX(config-gslb-site-A)#
ServerIronADX(config-gslb-site-A)#end
ServerIronADX#show clock
10:00:00";
        let lines: Vec<String> = left(text).into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, ["gslb site A", "weight 500", "weight 50", "end"]);
    }

    #[test]
    fn a_prompt_at_the_end_of_a_saved_file() {
        let text = "hostname lab-1\nother#\nend\n\nlab-1#\nSSH@lab-9#";
        assert_eq!(cleaned(text), "hostname lab-1\nother#\nend\n\n\n");
    }

    #[test]
    fn a_typed_line_that_was_corrected() {
        let text = "lab(config)#hosx\u{8} \u{8}tname b\nlab(config)#end";
        assert_eq!(cleaned(text), "hostname b\nend");
    }
}
