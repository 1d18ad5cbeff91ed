//! The notation of session files: lines, directives, prompt lines, keys.
//!
//! A file is cut into lines and its directives are read before anything is played. Which of the
//! other lines are prompt lines can only be told while playing, since it depends on the name that
//! the device has at that moment: [`prompt_line`] is asked then.

use std::fs::{self, File};
use std::io::Read;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use nom::branch::alt;
use nom::bytes::complete::{is_not, tag, take_while, take_while1};
use nom::character::complete::{char, digit1, one_of, satisfy, space0, space1};
use nom::combinator::{all_consuming, consumed, opt, recognize, rest};
use nom::sequence::{preceded, terminated};
use nom::{IResult, Parser};

use super::Key;
use super::error::{Error, Problem};

/// The largest session file that is read, in bytes.
pub(super) const FILE_LIMIT: usize = 4 << 20;
/// The longest line of a session file, in bytes.
pub(super) const LINE_LIMIT: usize = 4096;
/// The lengths that `@page` takes.
pub(super) const PAGE_LENGTHS: RangeInclusive<usize> = 2..=1000;

/// A session file, cut into lines, its directives read.
#[derive(Clone, Debug)]
pub struct SessionFile {
    path: PathBuf,
    text: String,
    lines: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Line {
    /// Where the line stands in the text, its end not included.
    range: Range<usize>,
    kind: LineKind,
}

/// What a line is, as far as the line alone can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A prompt line or output.
    Text,
    /// A remark, or `@from`: says something to the reader only.
    Remark,
    /// `@pin`: the output of the next step is never rewritten.
    Pin,
    /// `@broken`: the next step must differ.
    Broken,
    /// `@page`: the pager is on for the next step, and these keys answer it.
    Page { length: usize, keys: Vec<Key> },
    /// A step that is not typed.
    Directive(Directive),
}

/// A directive that does something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    /// An `emulate` command without that word.
    Emulate(String),
    /// `@load FILE`
    Load(String),
    /// `@lab DIR`
    Lab(String),
    /// `@counters`
    Counters,
}

impl SessionFile {
    /// Reads a session file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is no regular file, or breaks a rule of the notation.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Read { path: path.to_owned(), source };
        // Asked before opening: to open a named pipe would wait for its other end.
        if !fs::metadata(path).map_err(failed)?.is_file() {
            return Err(Error::NotAFile { path: path.to_owned() });
        }
        let mut bytes = Vec::new();
        let limit = u64::try_from(FILE_LIMIT).unwrap_or(u64::MAX).saturating_add(1);
        File::open(path)
            .and_then(|file| file.take(limit).read_to_end(&mut bytes))
            .map_err(failed)?;
        Self::from_bytes(path, bytes)
    }

    /// Reads a session from the bytes of a file; `path` is for messages and relative names.
    ///
    /// # Errors
    ///
    /// If the bytes break a rule of the notation.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, Error> {
        if bytes.len() > FILE_LIMIT {
            return Err(Error::TooLarge { path: path.to_owned() });
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.split(|&byte| byte == b'\n').count();
            Error::Line { path: path.to_owned(), line, problem: Problem::NotUtf8 }
        })?;
        let mut lines = Vec::new();
        let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        for whole in text[start..].split_inclusive('\n') {
            let line = whole.strip_suffix('\n').unwrap_or(whole);
            let line = line.strip_suffix('\r').unwrap_or(line);
            let kind = line_kind(line).map_err(|problem| Error::Line {
                path: path.to_owned(),
                line: lines.len() + 1,
                problem,
            })?;
            lines.push(Line { range: start..start + line.len(), kind });
            start += whole.len();
        }
        Ok(SessionFile { path: path.to_owned(), text, lines })
    }

    /// The path that the file was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// A line without its end; lines count from 0 here.
    pub(super) fn line(&self, index: usize) -> &str {
        &self.text[self.lines[index].range.clone()]
    }

    /// What a line is.
    pub(super) fn kind(&self, index: usize) -> &LineKind {
        &self.lines[index].kind
    }

    /// Where a line begins in the text; the end of the text for the line behind the last.
    pub(super) fn start(&self, index: usize) -> usize {
        self.lines.get(index).map_or(self.text.len(), |line| line.range.start)
    }

    /// The error that a line breaks a rule.
    pub(super) fn problem(&self, index: usize, problem: Problem) -> Error {
        Error::Line { path: self.path.clone(), line: index + 1, problem }
    }
}

fn line_kind(line: &str) -> Result<LineKind, Problem> {
    if line.len() > LINE_LIMIT {
        return Err(Problem::LineTooLong);
    }
    let Some(behind) = line.strip_prefix('@') else { return Ok(LineKind::Text) };
    if behind.starts_with('@') {
        return Ok(LineKind::Text);
    }
    if behind.is_empty() || behind.starts_with([' ', '\t']) {
        return Ok(LineKind::Remark);
    }
    let (_, (word, text)) = directive(behind).map_err(|_| Problem::NotADirective)?;
    let text = text.trim();
    let needs = |directive, what| match text {
        "" => Err(Problem::Missing { directive, what }),
        text => Ok(text.to_owned()),
    };
    let alone = |directive| match text {
        "" => Ok(()),
        _ => Err(Problem::Surplus(directive)),
    };
    Ok(match word {
        "from" => needs("from", "the document and its page").map(|_| LineKind::Remark)?,
        "pin" => alone("pin").map(|()| LineKind::Pin)?,
        "broken" => needs("broken", "a reason").map(|_| LineKind::Broken)?,
        "page" => page(text)?,
        "load" => LineKind::Directive(Directive::Load(needs("load", "a file")?)),
        "lab" => LineKind::Directive(Directive::Lab(needs("lab", "a folder")?)),
        "counters" => alone("counters").map(|()| LineKind::Directive(Directive::Counters))?,
        _ => LineKind::Directive(Directive::Emulate(behind.trim().to_owned())),
    })
}

/// `word`, and what stands behind it.
fn directive(input: &str) -> IResult<&str, (&str, &str)> {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let word = recognize((satisfy(|c| c.is_ascii_alphabetic()), take_while(letters)));
    (word, alt((preceded(space1, rest), nom::combinator::eof))).parse(input)
}

/// The length and the keys of `@page`.
fn page(text: &str) -> Result<LineKind, Problem> {
    let mut words = text.split_whitespace();
    let length = words.next().and_then(|word| word.parse().ok()).ok_or(Problem::PageLength)?;
    if !PAGE_LENGTHS.contains(&length) {
        return Err(Problem::PageLength);
    }
    let keys = words
        .map(|word| match word {
            "<SPACE>" => Ok(Key::Space),
            "<CR>" => Ok(Key::Return),
            "<^C>" => Ok(Key::Interrupt),
            _ => Err(Problem::UnknownKey(word.to_owned())),
        })
        .collect::<Result<_, _>>()?;
    Ok(LineKind::Page { length, keys })
}

/// A prompt line: the prompt as written, its name, and what is typed behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PromptLine<'a> {
    /// `[session@]HOST[slot/cpu][(MODE)]` and `#` or `>`.
    pub(super) prompt: &'a str,
    /// Where the name of the host stands in it.
    pub(super) host: &'a str,
    /// Everything behind.
    pub(super) typed: &'a str,
}

/// Reads a prompt line of the device with that name; `None` if the line is none.
///
/// Between the parts of the prompt a blank may stand, as manuals print it.
pub(super) fn prompt_line<'a>(host: &str, line: &'a str) -> Option<PromptLine<'a>> {
    if host.is_empty() {
        return None;
    }
    prompt_with(tag(host)).parse(line).ok().map(|(_, prompt)| prompt)
}

/// Reads the line that answers a question: the question stands where a prompt would stand, and ends
/// in neither `#` nor `>`.
pub(super) fn answer_line<'a>(question: &str, line: &'a str) -> Option<PromptLine<'a>> {
    let text = question.trim_end();
    if text.is_empty() || text.ends_with(['#', '>']) {
        return None;
    }
    let length = if line.starts_with(question) { question.len() } else { text.len() };
    let typed = line.strip_prefix(text).map(|_| &line[length..])?;
    Some(PromptLine { prompt: &line[..length], host: "", typed })
}

/// Reads a line that would be a prompt line if the device had the name that it begins with.
pub(super) fn any_prompt_line(line: &str) -> Option<PromptLine<'_>> {
    let letters = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    prompt_with(take_while1(letters)).parse(line).ok().map(|(_, prompt)| prompt)
}

fn prompt_with<'a, P>(
    host: P,
) -> impl Parser<&'a str, Output = PromptLine<'a>, Error = nom::error::Error<&'a str>>
where
    P: Parser<&'a str, Output = &'a str, Error = nom::error::Error<&'a str>>,
{
    let mode = (char('('), is_not("()"), char(')'));
    let prompt = (
        opt(session),
        host,
        opt((space0, slot_and_cpu)),
        opt((space0, mode)),
        space0,
        one_of("#>"),
    );
    (consumed(prompt), rest).map(|((prompt, (_, host, ..)), typed)| PromptLine {
        prompt,
        host,
        typed,
    })
}

/// `telnet@`, `SSH@`
fn session(input: &str) -> IResult<&str, &str> {
    terminated(take_while1(|c: char| c.is_ascii_alphanumeric() || c == '-'), char('@')).parse(input)
}

/// `1/1`, as `rconsole` adds it to the name.
fn slot_and_cpu(input: &str) -> IResult<&str, &str> {
    recognize((digit1, char('/'), digit1)).parse(input)
}

/// The name of the host in a prompt that stands at the left of the next line.
///
/// A slot and a processor are not part of it. A slot has one digit, which tells it from the
/// digits of a name.
pub(super) fn host_name(prompt: &str) -> &str {
    let (prompt, _) = opt(session).parse(prompt).unwrap_or((prompt, None));
    let end = prompt.find(['(', '#', '>']).unwrap_or(prompt.len());
    let name = prompt[..end].trim_end();
    let Some((left, cpu)) = name.rsplit_once('/') else { return name };
    let is_cpu = all_consuming(digit1::<_, nom::error::Error<_>>).parse(cpu).is_ok();
    match left.strip_suffix(|c: char| c.is_ascii_digit()) {
        Some(host) if is_cpu && !host.trim_end().is_empty() => host.trim_end(),
        _ => name,
    }
}

/// A prompt without its session and without blanks: what must agree in a lenient comparison.
pub(super) fn bare_prompt(prompt: &str) -> String {
    let (bare, _) = opt(session).parse(prompt).unwrap_or((prompt, None));
    bare.split_whitespace().collect()
}

/// How a typed line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Enter, which nothing stands for.
    Enter,
    /// `?`, the help key.
    Help,
    /// `<TAB>`
    Tab,
    /// `<^C>`
    Interrupt,
    /// `<^Z>`
    End,
}

/// The keys that end a typed line, as they are written.
const ENDINGS: [(&str, Ending); 3] =
    [("<TAB>", Ending::Tab), ("<^C>", Ending::Interrupt), ("<^Z>", Ending::End)];

/// What is typed on a prompt line, and how the line ends.
///
/// A question mark inside an open double quote is an ordinary character.
pub(super) fn typed(text: &str) -> Result<(&str, Ending), Problem> {
    let end = text.trim_end();
    let mut found = (text, Ending::Enter);
    if let Some(before) = end.strip_suffix('?')
        && before.matches('"').count().is_multiple_of(2)
    {
        found = (before, Ending::Help);
    }
    for (key, ending) in ENDINGS {
        if let Some(before) = end.strip_suffix(key) {
            found = (before, ending);
        }
    }
    match ENDINGS.iter().find(|(key, _)| found.0.contains(key)) {
        Some((key, _)) => Err(Problem::KeyInside(key)),
        None => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Result<Vec<LineKind>, String> {
        SessionFile::from_bytes(Path::new("x.session"), text.into())
            .map(|file| file.lines.into_iter().map(|line| line.kind).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn lines_are_told_apart() {
        let text = "@ a remark\n@\n@from \"guide p. 41\"\n@pin\n@broken not yet\n@page 24 <SPACE> \
                    <CR>\n@query www.gslb.com a\n@load a b.cfg\n@lab two\n@counters\n@@ output\nSI#\n";
        let emulate = LineKind::Directive(Directive::Emulate("query www.gslb.com a".into()));
        let expected = vec![
            LineKind::Remark,
            LineKind::Remark,
            LineKind::Remark,
            LineKind::Pin,
            LineKind::Broken,
            LineKind::Page { length: 24, keys: vec![Key::Space, Key::Return] },
            emulate,
            LineKind::Directive(Directive::Load("a b.cfg".into())),
            LineKind::Directive(Directive::Lab("two".into())),
            LineKind::Directive(Directive::Counters),
            LineKind::Text,
            LineKind::Text,
        ];
        assert_eq!(kinds(text).unwrap(), expected);
    }

    #[test]
    fn bad_lines_are_errors_with_file_and_line() {
        for (line, problem) in [
            ("@5", "`@` needs a blank or a word behind it"),
            ("@pin it", "`@pin` takes nothing behind it"),
            ("@counters all", "`@counters` takes nothing behind it"),
            ("@broken", "`@broken` needs a reason"),
            ("@from ", "`@from` needs the document and its page"),
            ("@load", "`@load` needs a file"),
            ("@page", "`@page` needs a number of lines from 2 to 1000"),
            ("@page 1", "`@page` needs a number of lines from 2 to 1000"),
            ("@page 24 <TAB>", "`<TAB>` is no key of the pager"),
            ("@query\u{e9}", "`@` needs a blank or a word behind it"),
        ] {
            let error = kinds(&format!("\r\n\n{line}\n")).unwrap_err();
            assert!(error.starts_with(&format!("x.session:3: {problem}")), "{error}");
        }
        let long = "x".repeat(LINE_LIMIT + 1);
        assert!(kinds(&long).unwrap_err().starts_with("x.session:1: a line of more than"));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let read = |bytes: Vec<u8>| {
            SessionFile::from_bytes(Path::new("x"), bytes).unwrap_err().to_string()
        };
        assert_eq!(read(b"one\ntwo\nthr\xffee\n".to_vec()), "x:3: not UTF-8");
        assert_eq!(read(vec![b'\n'; FILE_LIMIT + 1]), "x: more than 4194304 bytes");
    }

    #[test]
    fn lines_end_in_either_way_and_a_byte_order_mark_is_no_text() {
        let file = SessionFile::from_bytes(Path::new("x"), "\u{feff}a\r\nb\nc".into()).unwrap();
        let lines: Vec<_> = (0..file.len()).map(|index| file.line(index)).collect();
        assert_eq!(lines, ["a", "b", "c"]);
        assert_eq!(file.start(3), file.text().len());
    }

    #[test]
    fn prompt_lines_are_recognised_by_name_and_shape() {
        let parts = |line| prompt_line("lab-1", line).map(|line| (line.prompt, line.typed));
        assert_eq!(parts("lab-1#show x"), Some(("lab-1#", "show x")));
        assert_eq!(parts("lab-1>"), Some(("lab-1>", "")));
        assert_eq!(parts("lab-1(config)#a > b # c"), Some(("lab-1(config)#", "a > b # c")));
        assert_eq!(parts("lab-11/1#x"), Some(("lab-11/1#", "x")));
        assert_eq!(parts("lab-1 2/3 #x"), Some(("lab-1 2/3 #", "x")));
        assert_eq!(parts("telnet@lab-1>en"), Some(("telnet@lab-1>", "en")));
        assert_eq!(parts("SLB-telnet@lab-1#"), Some(("SLB-telnet@lab-1#", "")));
        for output in ["lab-2#x", "lab-1", "lab-1 is up #", "x lab-1#", "lab-1()#", "LAB-1#", ""] {
            assert_eq!(parts(output), None, "{output}");
        }
        assert_eq!(prompt_line("", "#x"), None);
        assert_eq!(any_prompt_line("other.2(config)#x").unwrap().host, "other.2");
        assert_eq!(any_prompt_line("  lab-1#"), None);
    }

    #[test]
    fn the_name_is_taken_from_the_prompt() {
        for (prompt, name) in [
            ("ServerIronADX#", "ServerIronADX"),
            ("ServerIronADX(config-gslb-site-a#b)#", "ServerIronADX"),
            ("telnet@ServerIronADX>", "ServerIronADX"),
            ("ServerIronADX1/1#", "ServerIronADX"),
            ("lab12/10#", "lab1"),
            ("Virtual ADX#", "Virtual ADX"),
            ("a/b#", "a/b"),
            ("1/1#", "1/1"),
            ("", ""),
        ] {
            assert_eq!(host_name(prompt), name, "{prompt}");
        }
    }

    #[test]
    fn keys_end_a_line() {
        assert_eq!(typed("show "), Ok(("show ", Ending::Enter)));
        assert_eq!(typed("gslb ?"), Ok(("gslb ", Ending::Help)));
        assert_eq!(typed("gs? "), Ok(("gs", Ending::Help)));
        assert_eq!(typed("banner \"what?"), Ok(("banner \"what?", Ending::Enter)));
        assert_eq!(typed("banner \"what\" ?"), Ok(("banner \"what\" ", Ending::Help)));
        assert_eq!(typed("sh<TAB>"), Ok(("sh", Ending::Tab)));
        assert_eq!(typed("<^C>"), Ok(("", Ending::Interrupt)));
        assert_eq!(typed("<^Z>"), Ok(("", Ending::End)));
        assert_eq!(typed("a<TAB>b"), Err(Problem::KeyInside("<TAB>")));
        assert_eq!(typed("a<^C>?"), Err(Problem::KeyInside("<^C>")));
    }
}
