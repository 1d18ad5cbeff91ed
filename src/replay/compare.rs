//! Whether an output is what a block of a session file says.
//!
//! `...` alone stands for any number of lines, `[..]` for any characters within a line, and the
//! names of [`Shape`] for one thing of that shape. There are no regular expressions.
//!
//! Matching never goes back further than to the last elision: an elision that takes as little as
//! it can leaves the most for what follows, so an earlier one need not be tried again. The time is
//! at most the product of both lengths, however many elisions there are, and in practice their
//! sum.

use std::borrow::Cow;

use nom::branch::alt;
use nom::bytes::complete::{tag, take, take_while_m_n};
use nom::character::complete::{char, one_of, satisfy};
use nom::combinator::{map_res, not, opt, recognize, verify};
use nom::multi::many_m_n;
use nom::sequence::{preceded, terminated};
use nom::{IResult, Parser};

/// A line that stands for any number of lines.
pub(super) const LINES: &str = "...";
/// Any characters within a line.
pub(super) const CHARACTERS: &str = "[..]";

/// How exactly output is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Runs of blanks count as one, blanks at the ends of a line and blank lines do not count, and
    /// the two spellings of the product word are the same.
    Lenient,
    /// Every character counts.
    Strict,
}

impl Comparison {
    /// The form of a line that is compared.
    pub(super) fn normal(self, line: &str) -> Cow<'_, str> {
        match self {
            Comparison::Strict => Cow::Borrowed(line),
            Comparison::Lenient => {
                let words: Vec<_> = line.split_whitespace().map(product_word).collect();
                Cow::Owned(words.join(" "))
            }
        }
    }

    /// Whether a line does not count.
    fn ignores(self, line: &str) -> bool {
        self == Comparison::Lenient && line.trim().is_empty()
    }
}

/// The product word as the documents print it, and as the device itself does.
const PRODUCT_WORDS: (&str, &str) = ("ServerIronADX", "SI");

/// A word in which the product word has its short spelling.
fn product_word(word: &str) -> Cow<'_, str> {
    let (long, short) = PRODUCT_WORDS;
    if !word.contains(long) {
        return Cow::Borrowed(word);
    }
    let in_a_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let mut result = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once(long) {
        // Also in the plural.
        let next = after.strip_prefix('s').unwrap_or(after);
        result.push_str(before);
        let whole = !result.ends_with(in_a_name) && !next.starts_with(in_a_name);
        result.push_str(if whole { short } else { long });
        rest = after;
    }
    result.push_str(rest);
    Cow::Owned(result)
}

/// The output of one step as the session file has it.
#[derive(Debug)]
pub(super) struct Block<'a> {
    comparison: Comparison,
    items: Vec<Item<'a>>,
}

/// One line of a block.
#[derive(Debug)]
pub(super) struct Item<'a> {
    /// The line as it stands in the file.
    pub(super) written: &'a str,
    /// What it says; nothing for `...`.
    pub(super) pattern: Option<LinePattern>,
}

impl<'a> Block<'a> {
    /// Reads the lines of a block.
    pub(super) fn new(lines: &[&'a str], comparison: Comparison) -> Self {
        let item = |&written: &&'a str| Item {
            written,
            pattern: (written.trim() != LINES).then(|| {
                let line = if written.starts_with("@@") { &written[1..] } else { written };
                LinePattern::new(&comparison.normal(line))
            }),
        };
        Block { comparison, items: lines.iter().map(item).collect() }
    }

    /// The lines of the block.
    pub(super) fn items(&self) -> &[Item<'a>] {
        &self.items
    }

    /// Whether the output is what the block says.
    pub(super) fn fits(&self, output: &[&str]) -> bool {
        let comparison = self.comparison;
        let output: Vec<_> = output
            .iter()
            .filter(|line| !comparison.ignores(line))
            .map(|line| comparison.normal(line))
            .collect();
        let items: Vec<_> = self
            .items
            .iter()
            .filter(|item| !comparison.ignores(item.written))
            .map(|item| item.pattern.as_ref())
            .collect();

        let (mut item, mut line) = (0, 0);
        // The item behind the last elision, and the line that it was tried at.
        let mut again = None;
        while line < output.len() {
            match items.get(item) {
                Some(None) => {
                    item += 1;
                    again = Some((item, line));
                }
                Some(Some(pattern)) if pattern.matches(&output[line]) => {
                    item += 1;
                    line += 1;
                }
                _ => {
                    let Some((first, tried)) = again else { return false };
                    item = first;
                    line = tried + 1;
                    again = Some((item, line));
                }
            }
        }
        items[item..].iter().all(Option::is_none)
    }
}

/// What a line of a block says.
#[derive(Debug)]
pub(super) struct LinePattern {
    /// What stands between the `[..]` of the line; one more than there are of them.
    segments: Vec<Vec<Piece>>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Shape(Shape),
}

impl LinePattern {
    fn new(line: &str) -> Self {
        LinePattern { segments: line.split(CHARACTERS).map(pieces).collect() }
    }

    /// Whether the pattern says nothing at all: a blank line.
    pub(super) fn is_blank(&self) -> bool {
        matches!(&self.segments[..], [only] if only.iter().all(
            |piece| matches!(piece, Piece::Text(text) if text.trim().is_empty())
        ))
    }

    /// Whether a line, in the form that is compared, is what the pattern says.
    pub(super) fn matches(&self, line: &str) -> bool {
        let [first, others @ ..] = &self.segments[..] else { return line.is_empty() };
        let Some(mut at) = segment_end(first, line, 0) else { return false };
        let [middle @ .., last] = others else { return at == line.len() };
        for segment in middle {
            match starts(segment, line, at).find_map(|start| segment_end(segment, line, start)) {
                Some(end) => at = end,
                None => return false,
            }
        }
        match &last[..] {
            [] => true,
            [Piece::Text(text)] => line[at..].ends_with(text.as_str()),
            _ => starts(last, line, at)
                .any(|start| segment_end(last, line, start) == Some(line.len())),
        }
    }
}

/// Cuts the text between two `[..]` at the names of shapes.
fn pieces(mut text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let next_shape = |text: &str| {
        Shape::ALL
            .iter()
            .filter_map(|&shape| text.find(shape.name()).map(|at| (at, shape)))
            .min_by_key(|&(at, _)| at)
    };
    // The nearest place of each name is looked up again for each piece; a line is short.
    while let Some((at, shape)) = next_shape(text) {
        if at > 0 {
            pieces.push(Piece::Text(text[..at].to_owned()));
        }
        pieces.push(Piece::Shape(shape));
        text = &text[at + shape.name().len()..];
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text.to_owned()));
    }
    pieces
}

/// Where a segment that begins at `at` ends. Each shape takes as much as it can.
fn segment_end(segment: &[Piece], line: &str, mut at: usize) -> Option<usize> {
    for piece in segment {
        at += match piece {
            Piece::Text(text) => line[at..].starts_with(text.as_str()).then_some(text.len())?,
            Piece::Shape(shape) => shape.length(&line[at..])?,
        };
    }
    Some(at)
}

/// The places from `at` on at which a segment could begin.
fn starts<'a>(
    segment: &'a [Piece],
    line: &'a str,
    at: usize,
) -> Box<dyn Iterator<Item = usize> + 'a> {
    let rest = &line[at..];
    match segment {
        [Piece::Text(text), ..] => {
            let mut from = 0;
            Box::new(std::iter::from_fn(move || {
                let found = from + rest.get(from..)?.find(text.as_str())?;
                from = found + rest[found..].chars().next().map_or(1, char::len_utf8);
                Some(at + found)
            }))
        }
        _ => Box::new((0..=rest.len()).filter(|&i| rest.is_char_boundary(i)).map(move |i| at + i)),
    }
}

/// The named shapes.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// `3 days 4 hours 5 minutes 6 seconds` or `00d00h01m28s`; leading parts may be missing.
    Uptime,
    /// A time of day, `14:07:08`, perhaps with a fraction of a second.
    Time,
    /// A port number from 1 to 65535.
    Port,
}

impl Shape {
    /// Every shape.
    const ALL: [Shape; 3] = [Shape::Uptime, Shape::Time, Shape::Port];

    /// How the shape is written.
    const fn name(self) -> &'static str {
        match self {
            Shape::Uptime => "[UPTIME]",
            Shape::Time => "[TIME]",
            Shape::Port => "[PORT]",
        }
    }

    /// How many bytes of the text the thing of this shape takes that the text begins with.
    fn length(self, text: &str) -> Option<usize> {
        let shape = match self {
            Shape::Uptime => uptime(text),
            Shape::Time => time(text),
            Shape::Port => port(text),
        };
        shape.ok().map(|(_, found)| found.len())
    }
}

/// A number of at most so many digits. The limit keeps the time for a place in a line constant.
fn number(digits: usize) -> impl Fn(&str) -> IResult<&str, &str> {
    move |input| {
        let is_digit = |c: char| c.is_ascii_digit();
        terminated(take_while_m_n(1, digits, is_digit), not(satisfy(is_digit))).parse(input)
    }
}

fn uptime(input: &str) -> IResult<&str, &str> {
    fn part(input: &str) -> IResult<&str, &str> {
        let unit = (alt((tag("day"), tag("hour"), tag("minute"), tag("second"))), opt(char('s')));
        recognize((number(10), char(' '), unit)).parse(input)
    }
    let words = recognize((part, many_m_n(0, 3, preceded(char(' '), part))));
    let letters = recognize(many_m_n(1, 4, (number(10), one_of("dhms"))));
    alt((words, letters)).parse(input)
}

fn time(input: &str) -> IResult<&str, &str> {
    fn below(limit: u8) -> impl Fn(&str) -> IResult<&str, &str> {
        move |input| {
            let two_digits = verify(take(2_usize), |digits: &str| {
                digits.bytes().all(|byte| byte.is_ascii_digit())
                    && digits.parse().is_ok_and(|number: u8| number < limit)
            });
            recognize(two_digits).parse(input)
        }
    }
    let fraction = opt((char('.'), number(9)));
    recognize((below(24), char(':'), below(60), char(':'), below(60), fraction)).parse(input)
}

fn port(input: &str) -> IResult<&str, &str> {
    recognize(map_res(number(5), str::parse::<std::num::NonZeroU16>)).parse(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Comparison::{Lenient, Strict};

    fn fits(block: &str, output: &str, comparison: Comparison) -> bool {
        let lines: Vec<_> = block.lines().collect();
        Block::new(&lines, comparison).fits(&output.lines().collect::<Vec<_>>())
    }

    #[test]
    fn elided_lines() {
        for (block, output, expected) in [
            ("...", "", true),
            ("...", "a\nb", true),
            ("...\nb", "a\nb", true),
            ("...\nb", "a\nb\nc", false),
            ("a\n...", "a", true),
            ("a\n...\na", "a", false),
            ("...\na\nb\n...\nc", "a\na\nb\nx\na\nc", true),
            ("...\na\nb\n...\nc", "a\nx\nb\nc", false),
            ("...\n...\na", "a", true),
            ("", "a", false),
            ("a", "", false),
        ] {
            for comparison in [Lenient, Strict] {
                assert_eq!(fits(block, output, comparison), expected, "{block:?} {output:?}");
            }
        }
    }

    #[test]
    fn elided_characters() {
        for (pattern, line, expected) in [
            ("[..]", "x y", true),
            ("a [..] c", "a b c", true),
            ("a[..]c", "ac", true),
            ("a[..]c", "acb", false),
            ("a[..]b[..]c", "a1b2c", true),
            ("a[..]b[..]b", "ab", false),
            ("[..]b", "abab", true),
            ("[..]b", "aba", false),
            ("[..]a[..]a[..]", "aa", true),
            ("é[..]é", "é-é", true),
            ("é[..]é", "é", false),
        ] {
            assert_eq!(fits(pattern, line, Strict), expected, "{pattern} {line}");
        }
    }

    #[test]
    fn named_shapes() {
        for (pattern, line, expected) in [
            ("up [UPTIME].", "up 3 days 4 hours 5 minutes 6 seconds.", true),
            ("up [UPTIME] in idle", "up 1 minute 4 seconds in idle", true),
            ("[UPTIME]:N:x", "00d00h01m28s:N:x", true),
            ("[UPTIME]", "3 weeks", false),
            ("at [TIME], GMT", "at 12:00:00, GMT", true),
            ("[TIME]", "23:59:59.123", true),
            ("[TIME]", "24:00:00", false),
            ("[TIME]", "+1:00:00", false),
            ("[TIME]", "é:00", false),
            ("127.0.0.1:[PORT] ([..])", "127.0.0.1:5300 (UDP)", true),
            ("[PORT]", "65536", false),
            ("[PORT]", "0", false),
            ("[PORT]", "000080", false),
            ("[UPTIME] left", "1 hour left", true),
            ("[..][PORT]", "port 53", true),
            ("[..][PORT]", "port 53x", false),
            ("[..][PORT]x[..]", "port 53x", true),
        ] {
            assert_eq!(fits(pattern, line, Strict), expected, "{pattern} {line}");
        }
    }

    #[test]
    fn lenient_comparison_forgives_what_copying_loses() {
        assert!(fits("a b", "  a    b  \n\n", Lenient));
        assert!(!fits("a b", "a  b", Strict));
        assert!(!fits("a", "a ", Strict));
        assert!(!fits("a", "a\n\n", Strict));
        assert!(!fits("ab", "a b", Lenient));
        assert!(fits("ServerIronADX's limit", "SI's limit", Lenient));
        assert!(fits("all ServerIronADXs (ServerIronADX)", "all SIs (SI)", Lenient));
        assert!(!fits("ServerIronADX", "SI", Strict));
        for name in ["GSLB-ServerIronADX", "ServerIronADX-1", "ServerIronADXServerIronADX"] {
            assert_eq!(product_word(name), name);
        }
    }

    #[test]
    fn output_may_begin_with_the_sign_of_a_directive() {
        assert!(fits("@@home", "@home", Strict));
        assert!(fits("@@@home", "@@home", Strict));
    }

    #[test]
    fn many_elisions_take_no_longer_than_few() {
        let line = format!("{}x", "[..]a".repeat(800));
        assert!(!fits(&line, &"a".repeat(4000), Strict));
        for shape in Shape::ALL {
            let line = format!("{}x", "[..]a".replace('a', shape.name()).repeat(300));
            assert!(!fits(&line, &"1".repeat(4000), Strict));
            assert!(!fits(&line, &"1d".repeat(2000), Strict));
        }
        let block = "...\na\n".repeat(20_000) + "b";
        assert!(!fits(&block, &"a\n".repeat(20_000), Strict));
    }
}
