//! The player: types a session file into a subject and compares what appears.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::align;
use super::compare::{Block, CHARACTERS, Comparison};
use super::error::{Error, Problem};
use super::notation::{self, Directive, Ending, LineKind, PromptLine, SessionFile};
use super::{Key, Subject};

/// What came of playing a session file.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How many lines, keys and directives were played.
    pub steps: usize,
    /// What differs, in the order of the file.
    pub differences: Vec<Difference>,
    /// The invariants that are broken at the end.
    pub invariants: Vec<String>,
}

impl Outcome {
    /// Whether the file says what the subject does.
    pub fn agrees(&self) -> bool {
        self.differences.is_empty() && self.invariants.is_empty()
    }

    /// Whether the session was typed where its author meant it to be.
    ///
    /// If not, a rewritten file would hold the output of another session.
    pub(super) fn is_in_step(&self) -> bool {
        self.differences.iter().all(|difference| match difference.kind {
            DifferenceKind::Output { .. } | DifferenceKind::NoLongerBroken => true,
            DifferenceKind::Prompt | DifferenceKind::Standing => false,
        })
    }
}

/// One place in which the file and the subject differ.
#[derive(Clone, Debug)]
pub struct Difference {
    /// What differs.
    pub kind: DifferenceKind,
    /// The line of the step, from 1.
    pub line: usize,
    /// What was typed, or the directive.
    pub typed: String,
    /// The prompt at which it was typed.
    pub prompt: String,
    /// The lines of the file that differ; the first is the line `first`.
    pub old: Vec<String>,
    /// What would have to stand there.
    pub new: Vec<String>,
    /// The number of the first line of `old`, from 1.
    pub first: usize,
}

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// The output of the step.
    Output {
        /// Why rewriting must leave it alone, if it must.
        keep: Option<Keep>,
    },
    /// The prompt that the line is written with.
    Prompt,
    /// The line does not begin with the text that help or Tab left there.
    Standing,
    /// The step should differ, but does not.
    NoLongerBroken,
}

/// Why the output of a step is not rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// It is pinned.
    Pinned,
    /// A line of it, counted from 1, may be a prompt line of a device with another name, which is
    /// input.
    Input(usize),
}

/// Plays a session file.
///
/// What appears is written to `screen` in the notation of session files, so that a session shown
/// is a session that can be played.
///
/// # Errors
///
/// If the file breaks a rule of the notation that only playing can tell, if what it loads cannot
/// be loaded, or if the screen cannot be written.
pub fn play(
    file: &SessionFile,
    subject: &mut dyn Subject,
    comparison: Comparison,
    screen: &mut dyn Write,
) -> Result<Outcome, Error> {
    let prompt = subject.prompt();
    let outcome = Outcome::default();
    let marks = Marks::default();
    let mut player = Player {
        file,
        subject,
        comparison,
        screen,
        next: 0,
        prompt,
        foreign: None,
        standing: String::new(),
        marks,
        outcome,
    };
    player.check_directives()?;
    while player.next < file.len() {
        player.play_line()?;
    }
    player.finish()
}

struct Player<'a> {
    file: &'a SessionFile,
    subject: &'a mut dyn Subject,
    comparison: Comparison,
    screen: &'a mut dyn Write,
    /// The line that is played next, from 0.
    next: usize,
    /// The prompt at which the subject waits.
    prompt: String,
    /// The name of the last prompt line, if the device has another one.
    foreign: Option<String>,
    /// The text that help or Tab left on the line.
    standing: String,
    marks: Marks,
    outcome: Outcome,
}

/// What directives said about the next step; each with its line, from 0.
#[derive(Debug, Default)]
struct Marks {
    pin: Option<usize>,
    broken: Option<usize>,
    page: Option<(usize, usize, Vec<Key>)>,
}

impl Marks {
    /// The first directive that still waits for its step.
    fn waiting(&self) -> Option<(usize, &'static str)> {
        let page = self.page.as_ref().map(|&(line, ..)| (line, "page"));
        let pin = self.pin.map(|line| (line, "pin"));
        let broken = self.broken.map(|line| (line, "broken"));
        [page, pin, broken].into_iter().flatten().min()
    }
}

/// A step that has been played and not yet compared.
struct Step {
    /// Its line, from 0.
    index: usize,
    typed: String,
    prompt: String,
    /// What differs in the line itself.
    difference: Option<Difference>,
    /// What appeared.
    output: String,
}

impl Player<'_> {
    /// Refuses a file with a directive that the subject does not know, before anything is played.
    fn check_directives(&self) -> Result<(), Error> {
        for index in 0..self.file.len() {
            if let LineKind::Directive(Directive::Emulate(command)) = self.file.kind(index) {
                let word = command.split_whitespace().next().unwrap_or_default();
                if !self.subject.knows(word) {
                    let problem = Problem::UnknownDirective(word.to_owned());
                    return Err(self.file.problem(index, problem));
                }
            }
        }
        Ok(())
    }

    fn play_line(&mut self) -> Result<(), Error> {
        let file = self.file;
        let index = self.next;
        let line = file.line(index);
        match file.kind(index) {
            LineKind::Text if line.trim().is_empty() => {}
            LineKind::Text => return self.play_text(line),
            LineKind::Directive(directive) => return self.play_directive(directive),
            LineKind::Remark => {}
            LineKind::Pin => {
                let before = self.marks.pin.replace(index);
                self.once(before.is_some(), "pin")?;
            }
            LineKind::Broken => {
                let before = self.marks.broken.replace(index);
                self.once(before.is_some(), "broken")?;
            }
            LineKind::Page { length, keys } => {
                let before = self.marks.page.replace((index, *length, keys.clone()));
                self.once(before.is_some(), "page")?;
            }
        }
        writeln!(self.screen, "{line}")?;
        self.next += 1;
        Ok(())
    }

    fn once(&self, twice: bool, directive: &'static str) -> Result<(), Error> {
        if twice { Err(self.problem(Problem::Twice(directive))) } else { Ok(()) }
    }

    /// The error that the present line breaks a rule.
    fn problem(&self, problem: Problem) -> Error {
        self.file.problem(self.next, problem)
    }

    /// The prompt line that a line is, if it is one: of the device, or of the name that the file
    /// has been using instead.
    fn prompt_line<'l>(&self, line: &'l str) -> Option<PromptLine<'l>> {
        if let Some(answer) = notation::answer_line(&self.prompt, line) {
            return Some(answer);
        }
        let host = notation::host_name(&self.prompt);
        notation::prompt_line(host, line)
            .or_else(|| notation::prompt_line(self.foreign.as_deref()?, line))
    }

    /// Plays a line that cannot be output, since no step is open.
    fn play_text(&mut self, line: &str) -> Result<(), Error> {
        let prompt_line = self.prompt_line(line).or_else(|| notation::any_prompt_line(line));
        let Some(prompt_line) = prompt_line else {
            return Err(self.problem(Problem::Orphan { prompt: self.prompt.clone() }));
        };
        if prompt_line.host.is_empty() {
            return self.play_prompt_line(line, prompt_line);
        }
        let host = notation::host_name(prompt_line.prompt);
        self.foreign = (host != notation::host_name(&self.prompt)).then(|| host.to_owned());
        self.play_prompt_line(line, prompt_line)
    }

    fn play_prompt_line(&mut self, line: &str, written: PromptLine<'_>) -> Result<(), Error> {
        let index = self.next;
        let (text, ending) = notation::typed(written.typed).map_err(|why| self.problem(why))?;
        let page = self.marks.page.take();
        if page.is_some() && ending != Ending::Enter {
            return Err(self.problem(Problem::PageWithoutLine));
        }
        let prompt = self.prompt.clone();
        let differs = |kind, new: String| Difference {
            kind,
            line: index + 1,
            typed: written.typed.to_owned(),
            prompt: prompt.clone(),
            old: vec![line.to_owned()],
            new: vec![new],
            first: index + 1,
        };
        let mut difference = (!self.is_prompt(written.prompt))
            .then(|| differs(DifferenceKind::Prompt, format!("{prompt}{}", written.typed)));
        let rest = behind(&self.standing, text).unwrap_or_else(|| {
            let stands = format!("{prompt}{}", self.standing);
            difference.get_or_insert_with(|| differs(DifferenceKind::Standing, stands));
            self.subject.interrupt();
            text
        });
        if ending == Ending::End && !rest.trim().is_empty() {
            return Err(self.problem(Problem::TextBeforeEnd));
        }
        writeln!(self.screen, "{prompt}{}", written.typed)?;

        self.standing = match ending {
            Ending::Help => text.to_owned(),
            Ending::Enter | Ending::Tab | Ending::Interrupt | Ending::End => String::new(),
        };
        let output = match (ending, page) {
            (Ending::Enter, Some((_, length, keys))) => self.subject.page(length, &keys, rest),
            (Ending::Enter, None) => self.subject.line(rest),
            (Ending::Help, _) => self.subject.help(rest),
            (Ending::Tab, _) => {
                let completion = self.subject.complete(rest);
                self.standing = completion.line;
                completion.list
            }
            (Ending::Interrupt, _) => self.subject.interrupt(),
            (Ending::End, _) => self.subject.end(),
        };
        let typed = written.typed.to_owned();
        self.compare(Step { index, typed, prompt, difference, output })
    }

    fn is_prompt(&self, written: &str) -> bool {
        match self.comparison {
            Comparison::Strict => written == self.prompt,
            Comparison::Lenient => {
                notation::bare_prompt(written) == notation::bare_prompt(&self.prompt)
            }
        }
    }

    fn play_directive(&mut self, directive: &Directive) -> Result<(), Error> {
        let index = self.next;
        let line = self.file.line(index);
        if self.marks.page.is_some() {
            return Err(self.problem(Problem::PageWithoutLine));
        }
        writeln!(self.screen, "{line}")?;
        let prompt = self.prompt.clone();
        let output = match directive {
            Directive::Emulate(command) => self.subject.emulate(command),
            Directive::Counters => self.subject.counters(),
            Directive::Load(name) => {
                let path = self.beside(name, fs::Metadata::is_file, "not a file")?;
                self.standing.clear();
                self.subject.load(&path).map_err(|why| self.problem(Problem::Load(why)))?
            }
            Directive::Lab(name) => {
                let path = self.beside(name, fs::Metadata::is_dir, "not a folder")?;
                self.standing.clear();
                self.subject.lab(&path).map_err(|why| self.problem(Problem::Load(why)))?
            }
        };
        self.compare(Step { index, typed: line.to_owned(), prompt, difference: None, output })
    }

    /// The path of something named relative to the session file.
    fn beside(
        &self,
        name: &str,
        is_right: fn(&fs::Metadata) -> bool,
        otherwise: &str,
    ) -> Result<PathBuf, Error> {
        let path = self.file.path().parent().unwrap_or(Path::new("")).join(name);
        match fs::metadata(&path) {
            Ok(metadata) if is_right(&metadata) => Ok(path),
            Ok(_) => Err(self.problem(Problem::Load(format!("{}: {otherwise}", path.display())))),
            Err(why) => Err(self.problem(Problem::Load(format!("{}: {why}", path.display())))),
        }
    }

    /// Compares the output of a step with the lines behind it, and goes on behind those.
    fn compare(&mut self, step: Step) -> Result<(), Error> {
        self.prompt = self.subject.prompt();
        self.outcome.steps += 1;
        let first = step.index + 1;
        let end = self.end_of_output(first);
        self.next = end;

        let written: Vec<_> = (first..end).map(|index| self.file.line(index)).collect();
        let output: Vec<_> = step.output.lines().map(|line| line.trim_end_matches('\r')).collect();
        for line in &output {
            writeln!(self.screen, "{}", self.written(line))?;
        }
        self.screen.flush()?;

        let block = Block::new(&written, self.comparison);
        let fits = block.fits(&output);
        let pinned = self.marks.pin.take().is_some();
        if let Some(broken) = self.marks.broken.take() {
            if fits && step.difference.is_none() {
                self.report_repaired(step, broken);
            }
            return Ok(());
        }
        self.outcome.differences.extend(step.difference);
        if !fits {
            let new = align::mended(&block, &output, self.comparison, |line| self.written(line));
            let input = written.iter().position(|line| notation::any_prompt_line(line).is_some());
            let keep = match input {
                _ if pinned => Some(Keep::Pinned),
                Some(offset) => Some(Keep::Input(first + offset + 1)),
                None => None,
            };
            self.outcome.differences.push(Difference {
                kind: DifferenceKind::Output { keep },
                line: step.index + 1,
                typed: step.typed,
                prompt: step.prompt,
                old: written.iter().copied().map(str::to_owned).collect(),
                new,
                first: first + 1,
            });
        }
        Ok(())
    }

    fn report_repaired(&mut self, step: Step, broken: usize) {
        self.outcome.differences.push(Difference {
            kind: DifferenceKind::NoLongerBroken,
            line: step.index + 1,
            typed: step.typed,
            prompt: step.prompt,
            old: vec![self.file.line(broken).to_owned()],
            new: Vec::new(),
            first: broken + 1,
        });
    }

    /// The first line from `first` on that is not output.
    fn end_of_output(&self, first: usize) -> usize {
        (first..self.file.len())
            .find(|&index| {
                *self.file.kind(index) != LineKind::Text
                    || self.prompt_line(self.file.line(index)).is_some()
            })
            .unwrap_or(self.file.len())
    }

    /// A line of output as a session file must have it, so that it is read as output again.
    fn written(&self, line: &str) -> String {
        match self.prompt_line(line) {
            Some(prompt) if !prompt.host.is_empty() => line.replacen(prompt.host, CHARACTERS, 1),
            None if line.starts_with('@') => format!("@{line}"),
            Some(_) | None => line.to_owned(),
        }
    }

    fn finish(mut self) -> Result<Outcome, Error> {
        if let Some((line, directive)) = self.marks.waiting() {
            return Err(self.file.problem(line, Problem::NoStepAfter(directive)));
        }
        if self.outcome.steps == 0 {
            return Err(self.file.problem(0, Problem::NoStep));
        }
        self.outcome.invariants = self.subject.invariants();
        Ok(self.outcome)
    }
}

/// What is typed behind the text that stands on the line; `None` if the line does not begin so.
///
/// A blank at the end of that text may be missing if nothing follows it, since editors remove it.
fn behind<'a>(standing: &str, text: &'a str) -> Option<&'a str> {
    text.strip_prefix(standing).or_else(|| (text == standing.trim_end()).then_some(""))
}
