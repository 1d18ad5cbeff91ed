//! The sockets of remote sessions.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{info, warn};

use super::admission::{Admission, Connected, Limits, Newcomer};
use super::host_keys::HostKeys;
use super::ssh::{self, Algorithms};
use super::telnet::{OFFER, Protocol};
use crate::cli::session::Session;
use crate::cli::sessions::{Line, LineKind};
use crate::dns::Responder;
use crate::dns::serve::ListenError;
use crate::listen;
use crate::term::connection::{self, Ending, Input, Sink, Source, line_settings};
use crate::term::shell::Shell;

/// How long a client may go on sending after its session is over, and how much.
const FAREWELL: Duration = Duration::from_secs(1);
const FAREWELL_BYTES: u64 = 1024 * 1024;

/// An address at which sessions of an appliance are accepted.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Whose sessions.
    pub responder: Arc<Responder>,
    /// Over what.
    pub kind: EndpointKind,
    /// The address; with port 0 the system picks one.
    pub address: SocketAddr,
}

/// Over what sessions are accepted.
#[derive(Clone, Debug)]
pub enum EndpointKind {
    /// Telnet.
    Telnet,
    /// SSH, with these host keys and algorithms.
    Ssh(HostKeys, Algorithms),
}

impl EndpointKind {
    /// The kind of lines that sessions come in on.
    pub fn line(&self) -> LineKind {
        match self {
            EndpointKind::Telnet => LineKind::Telnet,
            EndpointKind::Ssh(..) => LineKind::Ssh,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            EndpointKind::Telnet => "Telnet",
            EndpointKind::Ssh(..) => "SSH",
        }
    }
}

/// Sockets that accept sessions until the value is shut down or dropped.
#[derive(Debug)]
pub struct RemoteServer {
    addresses: Vec<SocketAddr>,
    stop: watch::Sender<bool>,
    loops: JoinSet<()>,
}

impl RemoteServer {
    /// Listens at all of these addresses. When this returns, every socket accepts sessions.
    ///
    /// # Errors
    ///
    /// If one of the addresses cannot be had; none is listened on then.
    pub fn start(
        runtime: &Handle,
        endpoints: Vec<Endpoint>,
        limits: Limits,
    ) -> Result<Self, ListenError> {
        let _runtime = runtime.enter();
        let bound = endpoints.into_iter().map(|endpoint| {
            let fail = |source| ListenError {
                address: endpoint.address,
                transport: endpoint.kind.name(),
                source,
            };
            let listener = listen::bind(endpoint.address).map_err(fail)?;
            let address = listener.local_addr().map_err(fail)?;
            Ok((endpoint, listener, address))
        });
        let bound = bound.collect::<Result<Vec<_>, ListenError>>()?;
        let (stop, stopped) = watch::channel(false);
        let admission = Arc::new(Admission::new(limits));
        let mut server = RemoteServer { addresses: Vec::new(), stop, loops: JoinSet::new() };
        for (endpoint, listener, address) in bound {
            server.addresses.push(address);
            let door = Door::new(endpoint, Arc::clone(&admission));
            server.loops.spawn(accept(listener, door, stopped.clone()));
        }
        Ok(server)
    }

    /// The addresses that are listened on, with their real ports, in the order asked for.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Closes every socket and ends every session, and waits until that is done.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        while self.loops.join_next().await.is_some() {}
    }
}

/// What is behind an address.
#[derive(Clone)]
struct Door {
    responder: Arc<Responder>,
    kind: DoorKind,
    admission: Arc<Admission>,
}

#[derive(Clone)]
enum DoorKind {
    Telnet,
    Ssh(Arc<russh::server::Config>),
}

impl Door {
    fn new(endpoint: Endpoint, admission: Arc<Admission>) -> Self {
        let kind = match endpoint.kind {
            EndpointKind::Telnet => DoorKind::Telnet,
            EndpointKind::Ssh(keys, algorithms) => {
                DoorKind::Ssh(ssh::config(&keys, algorithms, admission.limits()))
            }
        };
        Door { responder: endpoint.responder, kind, admission }
    }

    async fn serve(self, visit: Visit) {
        match self.kind {
            DoorKind::Telnet => serve_telnet(visit, self.responder).await,
            DoorKind::Ssh(config) => ssh::serve(visit, self.responder, config).await,
        }
    }
}

/// A client that has come in.
pub(super) struct Visit {
    pub(super) stream: TcpStream,
    pub(super) client: SocketAddr,
    /// Its place among all connections.
    pub(super) connected: Connected,
    /// Its place among those that have not said who they are.
    pub(super) newcomer: Newcomer,
    /// Whether the server is to end.
    pub(super) stopped: watch::Receiver<bool>,
}

/// Takes connections until the server stops or is gone, then closes them all.
async fn accept(listener: TcpListener, door: Door, stopped: watch::Receiver<bool>) {
    let open = |stream, client: SocketAddr| {
        let now = door.responder.appliance.clock.now();
        let login_time = match door.kind {
            DoorKind::Telnet => None,
            DoorKind::Ssh(_) => line_settings(&door.responder.appliance).ssh_login,
        };
        let Some((connected, newcomer)) = door.admission.admit(client.ip(), now, login_time) else {
            warn!(%client, "too many connections");
            return None;
        };
        let visit = Visit { stream, client, connected, newcomer, stopped: stopped.clone() };
        Some(door.clone().serve(visit))
    };
    let mut connections = listen::accept(listener, stopped.clone(), open).await;
    // Each has seen that the server ends and says farewell; then it ends, whether it has or not.
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(2 * FAREWELL, all).await;
    connections.shutdown().await;
}

async fn serve_telnet(visit: Visit, responder: Arc<Responder>) {
    let Visit { mut stream, client, connected, newcomer, mut stopped } = visit;
    if !line_settings(&responder.appliance).telnet {
        return;
    }
    // Single characters go out at once; without it they would wait for more.
    let _ = stream.set_nodelay(true);
    let line = Line::Telnet(client.ip().to_canonical());
    let (reader, writer) = stream.split();
    let mut source = Reader {
        half: reader,
        protocol: Protocol::default(),
        buffer: vec![0; READ_BYTES].into(),
        arrived: VecDeque::from([Input::Answer(OFFER.to_vec())]),
    };
    let mut sink = Writer { half: writer };
    let shell = Shell::new(Session::remote(responder, line));
    let ending = tokio::select! {
        ending = connection::run(shell, &mut source, &mut sink, Some(newcomer)) => ending,
        _ = stopped.wait_for(|stopped| *stopped) => Ending::Over,
    };
    info!(%client, ?ending, "Telnet session ended");
    // What is still on its way is taken, so that the client gets the last of what was sent: a
    // system that closes a connection with bytes unread tells the other end to forget it all.
    let _ = stream.shutdown().await;
    let mut rest = stream.take(FAREWELL_BYTES);
    let _ =
        tokio::time::timeout(FAREWELL, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
    drop(connected);
}

/// Bytes that are read at once.
const READ_BYTES: usize = 2048;

struct Reader<'s> {
    half: ReadHalf<'s>,
    protocol: Protocol,
    buffer: Box<[u8]>,
    /// What arrived together and was not handed on yet.
    arrived: VecDeque<Input>,
}

impl Source for Reader<'_> {
    async fn next(&mut self) -> Option<Input> {
        loop {
            if let Some(input) = self.arrived.pop_front() {
                return Some(input);
            }
            let length = self.half.read(&mut self.buffer).await.ok()?;
            if length == 0 {
                // Whoever has closed its side still reads what its last line says.
                self.arrived.push_back(Input::End);
                continue;
            }
            let arrived = self.protocol.receive(&self.buffer[..length]);
            if !arrived.answer.is_empty() {
                self.arrived.push_back(Input::Answer(arrived.answer));
            }
            self.arrived.extend(arrived.width.map(Input::Width));
            if !arrived.typed.is_empty() {
                self.arrived.push_back(Input::Typed(arrived.typed));
            }
        }
    }
}

struct Writer<'s> {
    half: WriteHalf<'s>,
}

impl Sink for Writer<'_> {
    async fn send(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        self.half.write_all(&bytes).await
    }
}
