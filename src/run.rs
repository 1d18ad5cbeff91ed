//! Wiring: the parts that a command of the program needs, put together.

mod manual;
mod service;

use std::fmt::Write as _;
use std::io::{self, Write as _};
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
use adxemu::metrics::Metrics;
use adxemu::metrics::server::MetricsServer;
use adxemu::replay::appliance::Played;
use adxemu::replay::{self, Subject};
use adxemu::store::{self, StateDirectory, StoreError};
#[cfg(unix)]
use adxemu::term::console::Console;
use adxemu::term::lines;
#[cfg(unix)]
use adxemu::term::quiet;
use tokio::runtime::Runtime;

use crate::arguments::{Arguments, Command, FailOn, Format, Live, Options, Served};
use crate::remote_sessions::{Remote, RemoteError};
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
    Remote(#[from] RemoteError),
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
            service::serve(options, &started)
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
        Some(Command::Completions { shell }) => manual::completions(*shell),
        Some(Command::Man { folder }) => manual::pages(folder.as_deref()),
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

/// The folder that saved configurations are kept in, if they are.
fn state_folder(options: &Options, example: Option<Demo>) -> Option<PathBuf> {
    let given = options.config.is_some() || example.is_some();
    match (&options.state, options.ephemeral || given) {
        (Some(folder), _) => Some(folder.clone()),
        (None, true) => None,
        (None, false) => default_state(),
    }
}

/// An appliance as the options ask for it.
fn appliance(
    options: &Options,
    example: Option<Demo>,
    folder: Option<&Path>,
) -> Result<Arc<Appliance>, Failure> {
    let store = folder.map(StateDirectory::open).transpose()?;
    let appliance = Arc::new(Appliance::new(grammar(options)?, Arc::new(RealClock::new()), store));
    appliance.gate.open(allowed(options));
    start(&appliance, options, example)?;
    Ok(appliance)
}

/// Starts an appliance from the example, from the file that the options name, or from what is
/// saved.
fn start(
    appliance: &Appliance,
    options: &Options,
    example: Option<Demo>,
) -> Result<(), StoreError> {
    if let Some(example) = example {
        appliance.start_with(example.text());
    } else if let Some(path) = &options.config {
        let text = store::read_text(path)?;
        appliance.start_with(&capture::clean(&appliance.grammar, &text));
    } else {
        appliance.start_from_store()?;
    }
    Ok(())
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
    /// Where state is kept, if it is.
    state: Option<PathBuf>,
}

impl Started {
    fn one(options: &Options, example: Option<Demo>) -> Result<Self, Failure> {
        let state = state_folder(options, example);
        let appliance = appliance(options, example, state.as_deref())?;
        let responder = Arc::new(Responder { appliance, settings: settings(options)? });
        Ok(Started { responder, example, lab: None, state })
    }

    fn lab(options: &Options, folder: &Path) -> Result<Self, Failure> {
        let clock: Arc<dyn Clock> = Arc::new(RealClock::new());
        let lab = Lab::start(&grammar(options)?, &clock, settings(options)?, folder)?;
        lab.controller().responder.appliance.gate.open(allowed(options));
        let responder = Arc::clone(&lab.controller().responder);
        Ok(Started { responder, example: None, lab: Some(lab), state: options.state.clone() })
    }

    fn appliance(&self) -> &Arc<Appliance> {
        &self.responder.appliance
    }

    /// All appliances, with their names.
    fn appliances(&self) -> Vec<(String, Arc<Responder>)> {
        match &self.lab {
            None => vec![(String::new(), Arc::clone(&self.responder))],
            Some(lab) => {
                let members = lab.members().iter();
                members.map(|one| (one.name.clone(), Arc::clone(&one.responder))).collect()
            }
        }
    }

    /// Reads the configuration again from where it came from, and restarts from it.
    fn reload(&self, options: &Options) -> Result<(), Failure> {
        if let Some(lab) = &self.lab {
            return Ok(lab.reload()?);
        }
        Ok(start(self.appliance(), options, self.example)?)
    }

    /// Accepts remote sessions, if the options ask for them.
    fn remote(&self, options: &Options, runtime: &Runtime) -> Result<Option<Remote>, RemoteError> {
        let state = self.state.as_deref();
        Remote::start(options, runtime.handle(), &self.appliances(), state)
    }

    /// Gives metrics, if the options ask for them.
    fn metrics(
        &self,
        options: &Options,
        runtime: &Runtime,
    ) -> Result<Option<MetricsServer>, ListenError> {
        let Some(address) = options.metrics else { return Ok(None) };
        let appliances = self.appliances().into_iter();
        let named = appliances.map(|(name, one)| (name, Arc::clone(&one.appliance))).collect();
        MetricsServer::start(runtime.handle(), address, Metrics::new(named)).map(Some)
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

/// Threads on which lines of remote sessions run and passwords are checked. Each takes 20 MiB while
/// it checks a password.
const THREADS_FOR_LINES: usize = 8;

fn runtime() -> io::Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(THREADS_FOR_LINES)
        .enable_all()
        .build()?;
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
    let session = Session::new(Arc::clone(&started.responder));
    let mut text = started.complaints();
    let remote = started.remote(options, &runtime);
    let metrics = started.metrics(options, &runtime)?;
    if let Some(metrics) = &metrics {
        text += &metrics_text(started.appliance(), metrics);
    }
    text += &start_text(started.appliance(), server.as_ref(), &remote, started.example);
    converse(&runtime, session, &text)?;
    if let Ok(Some(remote)) = remote {
        runtime.block_on(remote.server.shutdown());
    }
    if let Some(Ok(server)) = server {
        runtime.block_on(server.shutdown());
    }
    Ok(ExitCode::SUCCESS)
}

/// Lets the user type, once it was said how the program has started.
#[cfg_attr(not(unix), allow(unused_variables, reason = "there is no console to drive"))]
fn converse(runtime: &Runtime, mut session: Session, text: &str) -> Result<(), Failure> {
    #[cfg(unix)]
    if Console::is_there() {
        io::stdout().lock().write_all(text.as_bytes())?;
        let console = Console::new(session)?;
        leave_when_told(runtime, console.settings())?;
        return Ok(console.run(runtime)?);
    }
    // A log of lines begins with the first of them; what the program has to say goes beside it.
    io::stderr().lock().write_all(text.as_bytes())?;
    lines::run(&mut session, &mut io::stdin().lock(), &mut io::stdout().lock())?;
    Ok(())
}

/// Where DNS answers.
fn listening_text(appliance: &Appliance, server: &Server) -> String {
    let addresses: Vec<String> = server.addresses().iter().map(ToString::to_string).collect();
    let places = [("address", addresses.join(", ")), ("transports", "UDP, TCP".to_owned())];
    let places = places.each_ref().map(|(place, value)| (*place, value.as_str()));
    appliance.grammar.message(Message::StartDns, &places)
}

/// Where metrics are.
fn metrics_text(appliance: &Appliance, server: &MetricsServer) -> String {
    let address = server.address().to_string();
    appliance.grammar.message(Message::StartMetrics, &[("address", &address)])
}

/// What is said at the start, at most three lines, and one for each kind of remote session
/// (decisions 1.2).
fn start_text(
    appliance: &Appliance,
    server: Option<&Result<Server, ListenError>>,
    remote: &Result<Option<Remote>, RemoteError>,
    example: Option<Demo>,
) -> String {
    let grammar = &appliance.grammar;
    let mut text = match remote {
        Ok(Some(remote)) => format!("{}{}", remote.text, remote.warning),
        Ok(None) => String::new(),
        Err(error) => grammar.message(Message::StartNoRemote, &[("reason", &error.to_string())]),
    };
    match server {
        None => {}
        Some(Ok(server)) => {
            text += &listening_text(appliance, server);
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

/// Lets what falls due happen beside the prompt, until the runtime ends.
fn keep_time(runtime: &Runtime, started: &Started) {
    let appliance = Arc::clone(started.appliance());
    let lab = started.lab.clone();
    match &lab {
        None => appliance.go_live(runtime.handle()),
        Some(lab) => {
            for member in lab.members() {
                member.responder.appliance.go_live(runtime.handle());
            }
        }
    }
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
    print(text.as_bytes())
}

/// Prints; a reader that goes away has seen enough.
fn print(bytes: &[u8]) -> Result<ExitCode, Failure> {
    match io::stdout().lock().write_all(bytes) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
