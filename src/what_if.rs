//! `adxemu simulate`, `failures` and `audit`: from the command line to the reports.

use std::io::{self, IsTerminal as _, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use adxemu::dns::Settings;
use adxemu::dns::client::ClientQuery;
use adxemu::grammar::Grammar;
use adxemu::show;
use adxemu::store::StoreError;
use adxemu::whatif::Problem;
use adxemu::whatif::audit::audit;
use adxemu::whatif::change::{Change, When};
use adxemu::whatif::failures::failures;
use adxemu::whatif::log::{self, QueryLog};
use adxemu::whatif::population::{Draw, Place, WantedName};
use adxemu::whatif::report;
use adxemu::whatif::run::{Plan, Progress, Questions, simulate};
use adxemu::whatif::subject::Subject;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

/// What is simulated, with which questions, and where the report goes.
#[derive(Args, Debug)]
pub(crate) struct SimulateArguments {
    /// A configuration, or the folder of a lab
    path: PathBuf,
    #[command(flatten)]
    world: WorldArguments,
    /// How many questions
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100_000, conflicts_with = "log")]
    questions: u64,
    /// Questions a second
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "log")]
    rate: u32,
    /// How many different clients
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000_000), conflicts_with = "log")]
    clients: u32,
    /// Where clients are, with their part: 198.51.100.0/24=3, europe=1; may be repeated
    /// [default: a fifth in each region]
    #[arg(long, value_name = "PREFIX|REGION[=PART]", value_parser = read_place, conflicts_with = "log")]
    from: Vec<(Place, u32)>,
    /// What is asked for, with its part: www.example.com=3, www.example.com/AAAA; may be repeated
    /// [default: every host alike]
    #[arg(long, value_name = "NAME[/TYPE][=PART]", value_parser = read_name, conflicts_with = "log")]
    name: Vec<(WantedName, u32)>,
    /// Where all randomness comes from
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "log")]
    seed: u64,
    /// Takes the questions from a query log: text (time client name type), dnstap, pcap or pcapng,
    /// also compressed by gzip or zstd
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// The port of the servers whose questions a capture of packets holds
    #[arg(long, value_name = "PORT", default_value_t = 53, requires = "log")]
    log_port: u16,
    /// Sends the same questions through another configuration or lab
    #[arg(long, value_name = "PATH", conflicts_with = "change")]
    compare: Option<PathBuf>,
    /// Types the commands of a file at a prompt, as they would be pasted
    #[arg(long, value_name = "FILE")]
    change: Option<PathBuf>,
    /// When the change is made: after N questions, or after N seconds [default: half of --questions]
    #[arg(long, value_name = "N|Ns", value_parser = read_when, requires = "change")]
    at: Option<When>,
    /// Zeroes the counters with the change; the device itself keeps them
    #[arg(long, requires = "change")]
    clear: bool,
    /// Resolvers between clients and appliance
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    resolvers: u32,
    /// The resolvers keep answers for their TTL
    #[arg(long, requires = "resolvers")]
    cache: bool,
    /// Threads that answer [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    #[command(flatten)]
    outputs: Outputs,
}

/// What is left of a configuration when something fails.
#[derive(Args, Debug)]
pub(crate) struct FailuresArguments {
    /// A configuration, or the folder of a lab
    path: PathBuf,
    #[command(flatten)]
    world: WorldArguments,
    /// How many of the worst cases of each kind are told
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    worst: u16,
    #[command(flatten)]
    outputs: Outputs,
}

/// What an appliance does today.
#[derive(Args, Debug)]
pub(crate) struct AuditArguments {
    /// A configuration, or the folder of a lab
    path: PathBuf,
    #[command(flatten)]
    world: WorldArguments,
    /// Writes a page; `-` is the standard output, in the place of Markdown
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Writes the data as JSON; docs/what-if.md specifies it
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Where a report goes beside the terminal; `-` is the standard output, in the place of the tables.
#[derive(Args, Debug)]
pub(crate) struct Outputs {
    /// Writes a page with tables and charts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Writes the data as JSON; docs/what-if.md specifies it
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes the figures as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// What the world of a configuration is like, beside what its own lines say.
#[derive(Args, Debug)]
pub(crate) struct WorldArguments {
    /// Commands of the emulated world, typed before anything else; may be repeated
    #[arg(long, value_name = "FILE")]
    scenario: Vec<PathBuf>,
}

fn read_place(text: &str) -> Result<(Place, u32), String> {
    let (place, part) = read_part(text)?;
    let place = Place::read(place).ok_or("no prefix, no address and no region")?;
    Ok((place, part))
}

fn read_name(text: &str) -> Result<(WantedName, u32), String> {
    let (name, part) = read_part(text)?;
    let (name, record_type) = match name.split_once('/') {
        Some((name, record_type)) => (name, Some(record_type)),
        None => (name, None),
    };
    let query = ClientQuery::new(name, record_type).map_err(|error| error.to_string())?;
    let record_type = record_type.map(|_| query.record_type());
    Ok((WantedName { name: name.to_owned(), record_type }, part))
}

/// What stands before `=`, and the part behind it.
fn read_part(text: &str) -> Result<(&str, u32), String> {
    match text.split_once('=') {
        None => Ok((text, 1)),
        Some((before, part)) => {
            let part = part.parse().map_err(|_| format!("{part} is no part: a number"))?;
            Ok((before, part))
        }
    }
}

fn read_when(text: &str) -> Result<When, String> {
    When::read(text).ok_or_else(|| "neither a number of questions nor seconds like 30s".to_owned())
}

/// Simulates, and prints the report.
pub(crate) fn run(
    grammar: &Arc<Grammar>,
    settings: Settings,
    arguments: &SimulateArguments,
) -> Result<ExitCode, Problem> {
    let read = |path: &Path| Subject::read(grammar, settings, path, &arguments.world.scenario);
    let mut subjects = vec![read(&arguments.path)?];
    if let Some(other) = &arguments.compare {
        subjects.push(read(other)?);
    }
    let when = match (arguments.at, &arguments.log) {
        (Some(when), _) => when,
        (None, None) => When::Questions(arguments.questions / 2),
        (None, Some(_)) if arguments.change.is_some() => {
            return Err(Problem::NoChange("with --log, --at must say when".to_owned()));
        }
        (None, Some(_)) => When::Questions(0),
    };
    let change = arguments
        .change
        .as_ref()
        .map(|path| Change::read(path, when, arguments.clear))
        .transpose()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let plan = Plan {
        subjects,
        change,
        resolvers: arguments.resolvers,
        caches: arguments.cache && arguments.resolvers > 0,
        threads: arguments.threads.map_or(cores, usize::from),
    };
    let questions = match &arguments.log {
        Some(path) => {
            let options = log::Options {
                port: arguments.log_port,
                resolvers: arguments.resolvers,
                client_subnet: settings.client_subnet,
            };
            let log = QueryLog::open(path, options)?;
            Questions::Log { name: path.to_string_lossy().into_owned(), log }
        }
        None => Questions::Drawn(Draw {
            questions: arguments.questions,
            rate: arguments.rate,
            clients: arguments.clients,
            places: arguments.from.clone(),
            names: arguments.name.clone(),
            seed: arguments.seed,
        }),
    };
    let bar = Bar::new();
    let found = simulate(&plan, questions, &mut |progress| {
        bar.show(progress);
        ControlFlow::Continue(())
    });
    bar.clear();
    let found = found?;
    arguments.outputs.write(
        || show::simulation(&found),
        || report::simulation::html(&found),
        |out| report::simulation::json(&found, out),
        |out| report::simulation::csv(&found, out),
    )
}

/// Looks at every failure, and prints the report.
pub(crate) fn run_failures(
    grammar: &Arc<Grammar>,
    settings: Settings,
    arguments: &FailuresArguments,
) -> Result<ExitCode, Problem> {
    let subject = Subject::read(grammar, settings, &arguments.path, &arguments.world.scenario)?;
    let found = failures(&subject, arguments.worst.into());
    arguments.outputs.write(
        || show::failures(&found),
        || report::failures::html(&found),
        |out| report::failures::json(&found, out),
        |out| report::failures::csv(&found, out),
    )
}

/// Audits, and prints the report.
pub(crate) fn run_audit(
    grammar: &Arc<Grammar>,
    settings: Settings,
    arguments: &AuditArguments,
) -> Result<ExitCode, Problem> {
    let subject = Subject::read(grammar, settings, &arguments.path, &arguments.world.scenario)?;
    let found = audit(&subject);
    let outputs = Outputs { html: arguments.html.clone(), json: arguments.json.clone(), csv: None };
    outputs.write(
        || report::audit::markdown(&found),
        || report::audit::html(&found),
        |out| report::audit::json(&found, out),
        |_| Ok(()),
    )
}

impl Outputs {
    /// Writes a report in every form that is asked for, and as text if nothing else goes to the
    /// standard output.
    fn write(
        &self,
        text: impl FnOnce() -> String,
        html: impl FnOnce() -> String,
        json: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        csv: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<ExitCode, Problem> {
        if let Some(path) = &self.html {
            write_to(path, |out| out.write_all(html().as_bytes()))?;
        }
        if let Some(path) = &self.json {
            write_to(path, json)?;
        }
        if let Some(path) = &self.csv {
            write_to(path, csv)?;
        }
        let mut all = [&self.html, &self.json, &self.csv].into_iter().flatten();
        if all.any(|path| is_stdout(path)) {
            return Ok(ExitCode::SUCCESS);
        }
        print(&text())
    }
}

/// The name of the standard output.
fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes a report to a file, or to the standard output.
fn write_to(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Problem> {
    if is_stdout(path) {
        let mut out = io::BufWriter::new(io::stdout().lock());
        let written = write(&mut out).and_then(|()| out.flush());
        return match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        };
    }
    let fail = |source| StoreError::File { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(fail)?;
    std::fs::write(path, &bytes).map_err(fail)?;
    Ok(())
}

/// Prints a text; a reader that has gone away is none of our business.
fn print(text: &str) -> Result<ExitCode, Problem> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// The progress on a terminal; nothing elsewhere.
struct Bar(Option<ProgressBar>);

impl Bar {
    fn new() -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::no_length();
            let style = "{bar:40} {percent}%  {msg}  {elapsed}, {eta} left";
            if let Ok(style) = ProgressStyle::with_template(style) {
                bar.set_style(style);
            }
            bar
        });
        Bar(bar)
    }

    fn show(&self, progress: Progress) {
        let Some(bar) = &self.0 else { return };
        if progress.total > 0 {
            bar.set_length(progress.total);
        }
        bar.set_position(progress.done);
        let seconds = bar.elapsed().as_secs_f64();
        #[allow(clippy::cast_precision_loss, reason = "a rate that people read")]
        let rate = if seconds > 0.0 { progress.questions as f64 / seconds } else { 0.0 };
        bar.set_message(format!("{} questions, {rate:.0}/s,", progress.questions));
    }

    fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
