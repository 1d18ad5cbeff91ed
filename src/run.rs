//! Wiring: the parts that a command of the program needs, put together.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use adxemu::appliance::Appliance;
use adxemu::cli::session::Session;
use adxemu::clock::RealClock;
use adxemu::demo::Demo;
use adxemu::dns::serve::{ListenError, Server, TcpLimits};
use adxemu::dns::{Responder, Settings};
use adxemu::grammar::link::Message;
use adxemu::grammar::{Grammar, GrammarError, reference};
use adxemu::replay::appliance::Played;
use adxemu::replay::{self, Subject};
use adxemu::store::{self, StateDirectory, StoreError};
use adxemu::term::console::Console;
use adxemu::term::{lines, quiet};
use tokio::runtime::Runtime;

use crate::arguments::{Arguments, Command, Options, Served};

/// Why the program ends with status 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Listen(#[from] ListenError),
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
        None | Some(Command::Shell) => interactive(options, None),
        Some(Command::Demo { name }) => interactive(options, Some(demo(name.as_deref())?)),
        Some(Command::Serve { what }) => {
            let example = match what {
                None | Some(Served::Shell) => None,
                Some(Served::Demo { name }) => Some(demo(name.as_deref())?),
            };
            serve(options, example)
        }
        Some(Command::Replay { paths, strict, show }) => play(options, paths, *strict, *show),
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
    if let Some(example) = example {
        appliance.start_with(example.text());
    } else if let Some(path) = &options.config {
        appliance.start_with(&store::read_text(path)?);
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

fn responder(options: &Options, appliance: Arc<Appliance>) -> Arc<Responder> {
    let settings =
        Settings { client_subnet: options.client_subnet, strict_dns: options.strict_dns };
    Arc::new(Responder { appliance, settings })
}

fn listen(
    options: &Options,
    runtime: &Runtime,
    responder: &Arc<Responder>,
) -> Option<Result<Server, ListenError>> {
    if options.no_dns {
        return None;
    }
    let addresses = if options.dns.is_empty() { vec![DEFAULT_DNS] } else { options.dns.clone() };
    Some(Server::start(runtime.handle(), responder, &addresses, TcpLimits::default()))
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
fn interactive(options: &Options, example: Option<Demo>) -> Result<ExitCode, Failure> {
    let appliance = appliance(options, example)?;
    let responder = responder(options, Arc::clone(&appliance));
    let runtime = runtime()?;
    let server = listen(options, &runtime, &responder);
    let mut session = Session::new(responder);
    let mut output = io::stdout().lock();
    let is_terminal = io::stdin().is_terminal() && output.is_terminal();
    let text = start_text(&appliance, server.as_ref(), example);
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
                text += &grammar.message(Message::StartTry, &places);
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
fn serve(options: &Options, example: Option<Demo>) -> Result<ExitCode, Failure> {
    let appliance = appliance(options, example)?;
    let responder = responder(options, Arc::clone(&appliance));
    let runtime = runtime()?;
    let server = listen(options, &runtime, &responder).transpose()?;
    let mut stderr = io::stderr();
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

/// Prints the command reference.
fn print_commands(options: &Options, markdown: bool) -> Result<ExitCode, Failure> {
    let grammar = grammar(options)?;
    let text = if markdown { reference::markdown(&grammar) } else { reference::text(&grammar) };
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
