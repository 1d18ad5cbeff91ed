//! SSH: one connection, its user, and its channels (RFC 4252, 4254).
//!
//! The protocol is the library's. Here is who may come in, and what a channel runs: a session, or
//! the lines of a command.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use russh::keys::{Algorithm, HashAlg};
use russh::server::{Auth, ChannelOpenHandle, Config, Handler, Msg, Session as Connection};
use russh::{
    Channel, ChannelId, ChannelMsg, ChannelReadHalf, ChannelWriteHalf, Disconnect, MethodKind,
    MethodSet, Preferred, Pty, Sig, SshId, cipher, kex, mac,
};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::spawn_blocking;
use tracing::{info, warn};

use super::admission::{Limits, Newcomer};
use super::host_keys::HostKeys;
use super::server::Visit;
use crate::appliance::Appliance;
use crate::cli::session::Session;
use crate::cli::sessions::Line;
use crate::dns::Responder;
use crate::model::access::{Access, User};
use crate::term::connection::{self, Ending, Guest as _, Input, Sink, Source};
use crate::term::shell::Shell;

/// Channels at a time on one connection.
const MOST_CHANNELS: usize = 8;

/// Tries to say who it is that a client has on one connection.
const MOST_TRIES: u8 = 3;

/// How often a client is asked whether it is still there, and how often it may not answer.
const ALIVE_EVERY: Duration = Duration::from_mins(1);
const ALIVE_AT_MOST: usize = 3;

/// How long a client may take to close a connection whose last session is over.
const FAREWELL: Duration = Duration::from_secs(2);

/// The longest command of an exec request, in bytes.
const LONGEST_COMMAND: usize = 64 * 1024;

/// Passwords that are checked at a time.
static CHECKS: Semaphore = Semaphore::const_new(2);

/// Which algorithms are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithms {
    /// Those that are thought safe.
    Safe,
    /// Also those that only old clients need.
    Legacy,
}

/// How connections are made.
pub(super) fn config(keys: &HostKeys, algorithms: Algorithms, limits: &Limits) -> Arc<Config> {
    Arc::new(Config {
        server_id: SshId::Standard(Cow::Borrowed("SSH-2.0-adxemu")),
        methods: MethodSet::from([MethodKind::None, MethodKind::Password].as_slice()),
        auth_rejection_time: limits.refusal_time,
        // Every client asks without a password first, to learn what it may use.
        auth_rejection_time_initial: Some(Duration::ZERO),
        keys: keys.keys(),
        preferred: preferred(algorithms),
        // Wrong passwords are counted below; this is for clients that try everything else.
        max_auth_attempts: 2 * usize::from(MOST_TRIES) + 4,
        inactivity_timeout: None,
        keepalive_interval: Some(ALIVE_EVERY),
        keepalive_max: ALIVE_AT_MOST,
        nodelay: true,
        ..Config::default()
    })
}

fn preferred(algorithms: Algorithms) -> Preferred {
    let safe = Preferred {
        key: Cow::Borrowed(&[
            Algorithm::Ed25519,
            Algorithm::Rsa { hash: Some(HashAlg::Sha512) },
            Algorithm::Rsa { hash: Some(HashAlg::Sha256) },
        ]),
        ..Preferred::DEFAULT
    };
    if algorithms == Algorithms::Safe {
        return safe;
    }
    let with = |safe: &[kex::Name]| {
        // Behind the safe ones, in front of what is no algorithm but says what the server can.
        let old = [kex::DH_GEX_SHA1, kex::DH_G14_SHA1, kex::DH_G1_SHA1];
        let is_extension = |name: &kex::Name| {
            name.as_ref().starts_with("ext-info") || name.as_ref().starts_with("kex-strict")
        };
        let place = safe.iter().position(is_extension).unwrap_or(safe.len());
        [&safe[..place], &old, &safe[place..]].concat()
    };
    Preferred {
        kex: Cow::Owned(with(&safe.kex)),
        key: Cow::Owned([&safe.key[..], &[Algorithm::Rsa { hash: None }]].concat()),
        cipher: Cow::Owned(
            [
                &safe.cipher[..],
                &[cipher::AES_256_CBC, cipher::AES_192_CBC, cipher::AES_128_CBC],
                &[cipher::TRIPLE_DES_CBC],
            ]
            .concat(),
        ),
        mac: Cow::Owned([&safe.mac[..], &[mac::HMAC_SHA1_ETM, mac::HMAC_SHA1]].concat()),
        ..safe
    }
}

/// Serves one connection up to its end.
pub(super) async fn serve(visit: Visit, responder: Arc<Responder>, config: Arc<Config>) {
    let Visit { stream, client, connected, newcomer, mut stopped } = visit;
    let appliance = Arc::clone(&responder.appliance);
    let door = Arc::new(Door {
        newcomer: Mutex::new(Some(newcomer)),
        channels: AtomicUsize::new(0),
        closed: Notify::new(),
    });
    let handler = Client {
        line: Line::Ssh(client.ip().to_canonical()),
        responder,
        user: None,
        tries: 0,
        door: Arc::clone(&door),
    };
    let mut bells = appliance.log.subscribe();
    let running = tokio::select! {
        running = russh::server::run_stream(config, stream, handler) => running,
        () = door.late(&appliance, &mut bells) => return,
        _ = stopped.wait_for(|stopped| *stopped) => return,
    };
    let Ok(running) = running else { return };
    let handle = running.handle();
    let reason = tokio::select! {
        result = running => {
            if let Err(error) = result {
                info!(client = %client, %error, "SSH connection broke");
            }
            return;
        }
        () = door.late(&appliance, &mut bells) => "no session was begun in time",
        () = door.deserted() => "",
        _ = stopped.wait_for(|stopped| *stopped) => "the emulator ends",
    };
    // Whether it arrives or not, the connection ends with this.
    let farewell = handle.disconnect(Disconnect::ByApplication, reason.to_owned(), String::new());
    let _ = tokio::time::timeout(FAREWELL, farewell).await;
    drop(connected);
}

/// What the parts of a connection share.
#[derive(Debug)]
struct Door {
    /// Given back when the first session begins.
    newcomer: Mutex<Option<Newcomer>>,
    /// Channels that are open.
    channels: AtomicUsize,
    /// Rings when the last one was closed.
    closed: Notify,
}

impl Door {
    /// Waits until the time to begin a session has passed; for ever, once one was begun.
    async fn late(&self, appliance: &Appliance, bells: &mut watch::Receiver<()>) {
        loop {
            if self.lock().as_ref().is_some_and(|one| one.is_late(appliance.clock.now())) {
                return;
            }
            if bells.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until the client had time to go behind its last session.
    async fn deserted(&self) {
        loop {
            self.closed.notified().await;
            while tokio::time::timeout(FAREWELL, self.closed.notified()).await.is_ok() {}
            if self.channels.load(Ordering::Acquire) == 0 {
                return;
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Newcomer>> {
        self.newcomer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place for a channel, given back when it is dropped.
struct Place(Arc<Door>);

impl Place {
    fn take(door: &Arc<Door>) -> Option<Self> {
        let place = Place(Arc::clone(door));
        // Counted before it is looked at: giving it back is what the drop does.
        let before = door.channels.fetch_add(1, Ordering::AcqRel);
        (before < MOST_CHANNELS).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.0.channels.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.closed.notify_one();
        }
    }
}

/// The client of a connection.
struct Client {
    line: Line,
    responder: Arc<Responder>,
    user: Option<User>,
    tries: u8,
    door: Arc<Door>,
}

impl Client {
    fn access(&self) -> Access {
        let appliance = &self.responder.appliance;
        let configuration = appliance.configuration();
        Access::read(&appliance.grammar, &configuration.trees.configuration)
    }
}

/// Refuses, but leaves the way by a password open: the library would close it.
fn try_a_password() -> Auth {
    let methods = MethodSet::from([MethodKind::Password].as_slice());
    Auth::Reject { proceed_with_methods: Some(methods), partial_success: false }
}

impl Handler for Client {
    type Error = russh::Error;

    async fn auth_none(&mut self, user: &str) -> Result<Auth, Self::Error> {
        self.user = self.access().open_to_all(user);
        Ok(if self.user.is_some() { Auth::Accept } else { try_a_password() })
    }

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        if self.tries >= MOST_TRIES {
            return Err(russh::Error::Disconnect);
        }
        let (access, name, password) = (self.access(), user.to_owned(), password.to_owned());
        // A password takes long to check and much memory, by design: those of strangers are checked
        // few at a time, and take no thread from the sessions while they wait.
        let Ok(_place) = CHECKS.acquire().await else { return Ok(Auth::reject()) };
        let found = spawn_blocking(move || access.remote_user(&name, &password));
        self.user = found.await.ok().flatten();
        if self.user.is_some() {
            return Ok(Auth::Accept);
        }
        self.tries = self.tries.saturating_add(1);
        let (line, appliance) = (self.line, &self.responder.appliance);
        Session::record_refusal(appliance, line, user, self.tries);
        warn!(client = ?line.client(), user, attempt = self.tries, "SSH login refused");
        Ok(try_a_password())
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _connection: &mut Connection,
    ) -> Result<(), Self::Error> {
        // A handle that is dropped refuses.
        if let (Some(place), Some(user)) = (Place::take(&self.door), &self.user) {
            reply.accept().await;
            let (responder, line) = (Arc::clone(&self.responder), self.line);
            tokio::spawn(converse(channel, responder, line, user.clone(), place));
        }
        Ok(())
    }

    async fn pty_request(
        &mut self,
        channel: ChannelId,
        _terminal: &str,
        _columns: u32,
        _rows: u32,
        _width: u32,
        _height: u32,
        _modes: &[(Pty, u32)],
        connection: &mut Connection,
    ) -> Result<(), Self::Error> {
        connection.channel_success(channel)
    }

    async fn window_change_request(
        &mut self,
        channel: ChannelId,
        _columns: u32,
        _rows: u32,
        _width: u32,
        _height: u32,
        connection: &mut Connection,
    ) -> Result<(), Self::Error> {
        connection.channel_success(channel)
    }

    async fn shell_request(
        &mut self,
        channel: ChannelId,
        connection: &mut Connection,
    ) -> Result<(), Self::Error> {
        connection.channel_success(channel)
    }

    async fn exec_request(
        &mut self,
        channel: ChannelId,
        _command: &[u8],
        connection: &mut Connection,
    ) -> Result<(), Self::Error> {
        connection.channel_success(channel)
    }

    async fn env_request(
        &mut self,
        channel: ChannelId,
        _name: &str,
        _value: &str,
        connection: &mut Connection,
    ) -> Result<(), Self::Error> {
        connection.channel_failure(channel)
    }

    async fn subsystem_request(
        &mut self,
        channel: ChannelId,
        _name: &str,
        connection: &mut Connection,
    ) -> Result<(), Self::Error> {
        connection.channel_failure(channel)
    }
}

/// Serves one channel.
async fn converse(
    channel: Channel<Msg>,
    responder: Arc<Responder>,
    line: Line,
    user: User,
    place: Place,
) {
    let (reader, writer) = channel.split();
    let mut source = Reader { half: reader };
    let mut columns = 0;
    while let Some(message) = source.half.wait().await {
        match message {
            ChannelMsg::RequestPty { col_width, .. }
            | ChannelMsg::WindowChange { col_width, .. } => {
                columns = usize::try_from(col_width).unwrap_or(0);
            }
            ChannelMsg::RequestShell { .. } => {
                let newcomer = place.0.lock().take();
                let mut shell = Shell::new(Session::of_user(responder, line, &user));
                shell.set_width(columns);
                let mut sink = Writer { half: &writer };
                let ending = connection::run(shell, &mut source, &mut sink, newcomer).await;
                info!(client = ?line.client(), user = user.name, ?ending, "SSH session ended");
                finish(&writer, u32::from(ending == Ending::Fault)).await;
                return;
            }
            ChannelMsg::Exec { command, .. } => {
                drop(place.0.lock().take());
                let ran = spawn_blocking(move || run_command(responder, line, &user, &command));
                let status = match ran.await {
                    Ok(text) => u32::from(writer.data_bytes(text.into_bytes()).await.is_err()),
                    Err(_) => 1,
                };
                finish(&writer, status).await;
                return;
            }
            ChannelMsg::Close => return,
            _ => {}
        }
    }
}

/// Says that the channel is over; a client that has gone knows.
async fn finish(writer: &ChannelWriteHalf<Msg>, status: u32) {
    let _ = writer.exit_status(status).await;
    let _ = writer.eof().await;
    let _ = writer.close().await;
}

/// Runs the lines of an exec request, without pages. A question is answered by the next line.
fn run_command(responder: Arc<Responder>, line: Line, user: &User, command: &[u8]) -> String {
    let command = &command[..command.len().min(LONGEST_COMMAND)];
    let mut session = Session::of_user(responder, line, user);
    session.page.on = Some(false);
    let mut text = String::new();
    for line in String::from_utf8_lossy(command).lines() {
        text += &session.run(line);
        if session.is_over() {
            break;
        }
    }
    text
}

struct Reader {
    half: ChannelReadHalf,
}

impl Source for Reader {
    async fn next(&mut self) -> Option<Input> {
        loop {
            match self.half.wait().await? {
                ChannelMsg::Data { data } => return Some(Input::Typed(data.to_vec())),
                ChannelMsg::WindowChange { col_width, .. } => {
                    return Some(Input::Width(usize::try_from(col_width).unwrap_or(0)));
                }
                ChannelMsg::Signal { signal: Sig::INT } => return Some(Input::Typed(vec![0x03])),
                ChannelMsg::Eof => return Some(Input::End),
                ChannelMsg::Close => return None,
                _ => {}
            }
        }
    }
}

struct Writer<'w> {
    half: &'w ChannelWriteHalf<Msg>,
}

impl Sink for Writer<'_> {
    async fn send(&mut self, bytes: Vec<u8>) -> std::io::Result<()> {
        self.half.data_bytes(bytes).await.map_err(std::io::Error::other)
    }
}
