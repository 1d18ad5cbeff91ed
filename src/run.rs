//! Wiring: the parts that a command of the program needs, put together.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use adxemu::appliance::Appliance;
use adxemu::check::{self, rule::Severity};
use adxemu::cli::session::Session;
use adxemu::clock::{Clock, RealClock, every_second};
use adxemu::config::capture;
use adxemu::demo::Demo;
use adxemu::dns::cookie::Secret;
use adxemu::dns::rate::RateLimit;
use adxemu::dns::serve::{ListenError, Server, TcpLimits};
use adxemu::dns::{Responder, Settings};
use adxemu::grammar::link::Message;
use adxemu::grammar::{Grammar, GrammarError, reference};
use adxemu::lab::{Lab, LabError};
use adxemu::live::checker::Checker;
use adxemu::live::gate::Allowed;
use adxemu::replay::appliance::Played;
use adxemu::replay::{self, Subject};
use adxemu::store::{self, StateDirectory, StoreError};
use adxemu::term::console::Console;
use adxemu::term::{lines, quiet};
use tokio::runtime::Runtime;

use crate::arguments::{Arguments, Command, FailOn, Format, Live, Options, Served};
use crate::what_if;

/// Why the program ends with status 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error(transparent)]
    Lab(#[from] LabError),
    #[error(transparent)]
    WhatIf(#[from] adxemu::whatif::Problem),
    #[error("the system gives no random numbers: {0}")]
    Random(#[from] getrandom::Error),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("no example is called {name}; there are: {known}")]
    NoDemo { name: String, known: String },
}

/// Where DNS answers if nothing else is said.
const DEFAULT_DNS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 5300);

/// Runs the command that the arguments name.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let options = &arguments.options;
    match &arguments.command {
        None | Some(Command::Shell) => interactive(options, &Started::one(options, None)?),
        Some(Command::Demo { name }) => {
            interactive(options, &Started::one(options, Some(demo(name.as_deref())?))?)
        }
        Some(Command::Lab { folder }) => interactive(options, &Started::lab(options, folder)?),
        Some(Command::Serve { what }) => {
            let started = match what {
                None | Some(Served::Shell) => Started::one(options, None)?,
                Some(Served::Demo { name }) => Started::one(options, Some(demo(name.as_deref())?))?,
                Some(Served::Lab { folder }) => Started::lab(options, folder)?,
            };
            serve(options, &started)
        }
        Some(Command::Replay { paths, strict, show }) => play(options, paths, *strict, *show),
        Some(Command::Check { files, format, fail_on }) => {
            check_files(options, files, *format, *fail_on)
        }
        Some(Command::Simulate(what)) => {
            Ok(what_if::run(&grammar(options)?, settings(options)?, what)?)
        }
        Some(Command::Failures(what)) => {
            Ok(what_if::run_failures(&grammar(options)?, settings(options)?, what)?)
        }
        Some(Command::Audit(what)) => {
            Ok(what_if::run_audit(&grammar(options)?, settings(options)?, what)?)
        }
        Some(Command::Commands { markdown }) => print_commands(options, *markdown),
    }
}

fn demo(name: Option<&str>) -> Result<Demo, Failure> {
    let Some(name) = name else { return Ok(Demo::DEFAULT) };
    Demo::from_name(name).ok_or_else(|| Failure::NoDemo {
        name: name.to_owned(),
        known: Demo::ALL.iter().map(|demo| demo.name()).collect::<Vec<_>>().join(", "),
    })
}

fn grammar(options: &Options) -> Result<Arc<Grammar>, Failure> {
    Ok(Arc::new(match &options.grammar {
        None => Grammar::built_in()?,
        Some(folder) => Grammar::load(&grammar_files(folder)?)?,
    }))
}

/// The grammar files of a folder, in the order of their names.
fn grammar_files(folder: &Path) -> Result<Vec<(String, String)>, Failure> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|source| StoreError::File { path: folder.to_owned(), source })?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            let is_grammar = path.extension().is_some_and(|extension| extension == "grammar");
            is_grammar || path.file_name().is_some_and(|name| name == "messages")
        })
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let text = store::read_text(&path)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, text))
        })
        .collect()
}

/// An appliance as the options ask for it.
fn appliance(options: &Options, example: Option<Demo>) -> Result<Arc<Appliance>, Failure> {
    let given = options.config.is_some() || example.is_some();
    let folder = match (&options.state, options.ephemeral || given) {
        (Some(folder), _) => Some(folder.clone()),
        (None, true) => None,
        (None, false) => default_state(),
    };
    let store = folder.as_deref().map(StateDirectory::open).transpose()?;
    let appliance = Arc::new(Appliance::new(grammar(options)?, Arc::new(RealClock::new()), store));
    appliance.gate.open(allowed(options));
    if let Some(example) = example {
        appliance.start_with(example.text());
    } else if let Some(path) = &options.config {
        let text = store::read_text(path)?;
        appliance.start_with(&capture::clean(&appliance.grammar, &text));
    } else {
        appliance.start_from_store()?;
    }
    Ok(appliance)
}

/// The folder for state that the system's conventions name, if they name one.
fn default_state() -> Option<PathBuf> {
    let from = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty());
    from("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(|| from("HOME").map(|home| PathBuf::from(home).join(".local/state")))
        .map(|base| base.join("adxemu"))
}

fn settings(options: &Options) -> Result<Settings, Failure> {
    let slip = options.rate_limit_slip;
    Ok(Settings {
        client_subnet: options.client_subnet,
        strict_dns: options.strict_dns,
        cookies: Some(Secret::from_system()?),
        rate_limit: options.rate_limit.map(|per_second| RateLimit { per_second, slip }),
    })
}

/// Whom the program may reach over the network.
fn allowed(options: &Options) -> Allowed {
    match options.live {
        None => Allowed::Nothing,
        Some(Live::Mapped) => Allowed::Mapped,
        Some(Live::All) => Allowed::All,
    }
}

/// What a command of the program starts.
struct Started {
    /// What answers questions and gets the first console.
    responder: Arc<Responder>,
    /// The built-in example, if it is one.
    example: Option<Demo>,
    /// The lab that it stands in, if it is one.
    lab: Option<Arc<Lab>>,
}

impl Started {
    fn one(options: &Options, example: Option<Demo>) -> Result<Self, Failure> {
        let appliance = appliance(options, example)?;
        let responder = Arc::new(Responder { appliance, settings: settings(options)? });
        Ok(Started { responder, example, lab: None })
    }

    fn lab(options: &Options, folder: &Path) -> Result<Self, Failure> {
        let clock: Arc<dyn Clock> = Arc::new(RealClock::new());
        let lab = Lab::start(&grammar(options)?, &clock, settings(options)?, folder)?;
        lab.controller().responder.appliance.gate.open(allowed(options));
        let responder = Arc::clone(&lab.controller().responder);
        Ok(Started { responder, example: None, lab: Some(lab) })
    }

    fn appliance(&self) -> &Arc<Appliance> {
        &self.responder.appliance
    }

    /// What is to be said about the files of a lab.
    fn complaints(&self) -> String {
        let mut text = String::new();
        for complaint in self.lab.iter().flat_map(|lab| lab.complaints()) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{complaint}");
        }
        text
    }
}

fn listen(
    options: &Options,
    runtime: &Runtime,
    responder: &Arc<Responder>,
    default_workers: NonZeroUsize,
) -> Option<Result<Server, ListenError>> {
    if options.no_dns {
        return None;
    }
    let addresses = if options.dns.is_empty() { vec![DEFAULT_DNS] } else { options.dns.clone() };
    let workers = options
        .workers
        .and_then(|count| NonZeroUsize::new(count.into()))
        .unwrap_or(default_workers);
    let limits = TcpLimits::default();
    Some(Server::start_with(runtime.handle(), responder, &addresses, limits, workers))
}

/// Workers of a program that does nothing but answer: more than this take more memory and wake-ups
/// than most machines have questions for.
const MOST_DEFAULT_WORKERS: usize = 4;

/// One worker for each core, within bounds.
fn workers_of_a_server() -> NonZeroUsize {
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    cores.min(NonZeroUsize::new(MOST_DEFAULT_WORKERS).unwrap_or(NonZeroUsize::MIN))
}

fn runtime() -> io::Result<Runtime> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let _context = runtime.enter();
        // A limit on the size of files is an error of the write then, not the end of the program.
        let _ = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?;
    }
    Ok(runtime)
}

/// One appliance at a prompt, or with lines from standard input.
fn interactive(options: &Options, started: &Started) -> Result<ExitCode, Failure> {
    let runtime = runtime()?;
    let server = listen(options, &runtime, &started.responder, NonZeroUsize::MIN);
    keep_time(&runtime, started);
    check_servers(&runtime, started);
    let mut session = Session::new(Arc::clone(&started.responder));
    let mut output = io::stdout().lock();
    let is_terminal = io::stdin().is_terminal() && output.is_terminal();
    let mut text = started.complaints();
    text += &start_text(started.appliance(), server.as_ref(), started.example);
    if is_terminal {
        output.write_all(text.as_bytes())?;
        let console = Console::new(session)?;
        if let Some(settings) = console.settings() {
            leave_when_told(&runtime, settings)?;
        }
        console.run(&mut output)?;
    } else {
        // A log of lines begins with the first of them; what the program has to say goes beside it.
        io::stderr().lock().write_all(text.as_bytes())?;
        lines::run(&mut session, &mut io::stdin().lock(), &mut output)?;
    }
    if let Some(Ok(server)) = server {
        runtime.block_on(server.shutdown());
    }
    Ok(ExitCode::SUCCESS)
}

/// What is said at the start, at most three lines (decisions 1.2).
fn start_text(
    appliance: &Appliance,
    server: Option<&Result<Server, ListenError>>,
    example: Option<Demo>,
) -> String {
    let grammar = &appliance.grammar;
    let mut text = String::new();
    match server {
        None => {}
        Some(Ok(server)) => {
            let addresses: Vec<String> =
                server.addresses().iter().map(ToString::to_string).collect();
            let address = addresses.join(", ");
            text += &grammar
                .message(Message::StartDns, &[("address", &address), ("transports", "UDP, TCP")]);
            if let (Some(first), Some(example)) = (server.addresses().first(), example) {
                let (host, port) = (first.ip().to_string(), first.port().to_string());
                let places =
                    [("host", host.as_str()), ("port", &port), ("name", example.question())];
                text += &grammar.message(example.hint(), &places);
            }
        }
        Some(Err(error)) => {
            let reason = error.to_string();
            text += &grammar.message(Message::StartNoDns, &[("reason", &reason)]);
        }
    }
    text += &grammar.message(Message::StartHelp, &[]);
    let rejected = appliance.configuration().rejected.len();
    if rejected > 0 {
        // Ours: a user must learn that a line of the file does not count.
        let _ = writeln!(text, "{rejected} lines rejected: show emulate rejected");
    }
    text
}

/// One appliance without a prompt, until it is told to stop.
fn serve(options: &Options, started: &Started) -> Result<ExitCode, Failure> {
    let runtime = runtime()?;
    let server =
        listen(options, &runtime, &started.responder, workers_of_a_server()).transpose()?;
    keep_time(&runtime, started);
    check_servers(&runtime, started);
    let appliance = started.appliance();
    let mut stderr = io::stderr();
    stderr.write_all(started.complaints().as_bytes())?;
    if let Some(server) = &server {
        let addresses: Vec<String> = server.addresses().iter().map(ToString::to_string).collect();
        let places = [("address", addresses.join(", "))];
        let text = appliance.grammar.message(
            Message::StartDns,
            &[("address", places[0].1.as_str()), ("transports", "UDP, TCP")],
        );
        stderr.write_all(text.as_bytes())?;
    }
    runtime.block_on(stop_signal())?;
    if let Some(server) = server {
        runtime.block_on(server.shutdown());
    }
    Ok(ExitCode::SUCCESS)
}

/// From now on ends the program when it is told to or its terminal goes away, with the terminal as
/// it was. Nothing else must be done: what is saved is whole at every moment.
#[cfg(unix)]
fn leave_when_told(runtime: &Runtime, settings: quiet::Settings) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (terminate, hangup) = (SignalKind::terminate(), SignalKind::hangup());
    let _context = runtime.enter();
    let (mut terminated, mut hung_up) = (signal(terminate)?, signal(hangup)?);
    runtime.spawn(async move {
        let kind = tokio::select! {
            _ = terminated.recv() => terminate,
            _ = hung_up.recv() => hangup,
        };
        settings.restore();
        #[allow(clippy::exit, reason = "the main thread waits for a key and cannot be woken")]
        std::process::exit(128 + kind.as_raw_value());
    });
    Ok(())
}

#[cfg(not(unix))]
fn leave_when_told(_runtime: &Runtime, _settings: quiet::Settings) -> io::Result<()> {
    Ok(())
}

/// Lets what falls due happen beside the prompt, until the runtime ends.
fn keep_time(runtime: &Runtime, started: &Started) {
    let appliance = Arc::clone(started.appliance());
    let lab = started.lab.clone();
    runtime.spawn(every_second(move || match &lab {
        Some(lab) => lab.pass_time(),
        None => appliance.pass_time(),
    }));
}

/// Checks servers over the network beside all that, if the program may reach any.
fn check_servers(runtime: &Runtime, started: &Started) {
    if started.appliance().gate.allowed() == Allowed::Nothing {
        return;
    }
    let appliances = match &started.lab {
        Some(lab) => {
            lab.members().iter().map(|member| Arc::clone(&member.responder.appliance)).collect()
        }
        None => vec![Arc::clone(started.appliance())],
    };
    if let Some(checker) = Checker::new(appliances) {
        runtime.spawn(every_second(move || checker.tick()));
    }
}

/// Waits until the program is told to stop.
async fn stop_signal() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            result = tokio::signal::ctrl_c() => result,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// Plays session files, each against an appliance of its own.
fn play(
    options: &Options,
    paths: &[PathBuf],
    strict: bool,
    show: bool,
) -> Result<ExitCode, Failure> {
    let grammar = grammar(options)?;
    let mut fresh = || -> Box<dyn Subject> { Box::new(Played::fresh(Arc::clone(&grammar))) };
    let how = replay::Options { strict, show, rewrite: false };
    let status = replay::run(paths, &mut fresh, how, &mut io::stdout().lock())?;
    Ok(ExitCode::from(status.code()))
}

/// Checks configuration files.
fn check_files(
    options: &Options,
    files: &[PathBuf],
    format: Format,
    fail_on: FailOn,
) -> Result<ExitCode, Failure> {
    let grammar = grammar(options)?;
    let mut checked = Vec::with_capacity(files.len());
    let mut unreadable = false;
    for path in files {
        let found = if path.is_dir() {
            check::check_lab(&grammar, path).map_err(Failure::from)
        } else {
            store::read_text(path).map_err(Failure::from).map(|text| {
                let text = capture::clean(&grammar, &text);
                vec![check::check(&grammar, &path.to_string_lossy(), &text)]
            })
        };
        match found {
            Ok(found) => checked.extend(found),
            Err(error) => {
                unreadable = true;
                writeln!(io::stderr(), "adxemu: {error}")?;
            }
        }
    }
    let stdout = io::stdout().lock();
    let written = match format {
        Format::Text => check::text::write(&checked, &mut anstream::AutoStream::auto(stdout)),
        Format::Json => check::json::write(&grammar, &checked, &mut io::BufWriter::new(stdout)),
        Format::Sarif => check::sarif::write(&checked, &mut io::BufWriter::new(stdout)),
    };
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    let least = match fail_on {
        FailOn::Note => Severity::Note,
        FailOn::Warning => Severity::Warning,
        FailOn::Error => Severity::Error,
    };
    let has_findings = checked.iter().any(|file| file.gravest() >= Some(least));
    Ok(ExitCode::from(if unreadable { 2 } else { u8::from(has_findings) }))
}

/// Prints the command reference.
fn print_commands(options: &Options, markdown: bool) -> Result<ExitCode, Failure> {
    let grammar = grammar(options)?;
    let text = if markdown { reference::markdown(&grammar) } else { reference::text(&grammar) };
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
