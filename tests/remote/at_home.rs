//! An appliance with its servers, at home on the loopback device.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use adxemu::appliance::Appliance;
use adxemu::cli::session::Session;
use adxemu::cli::sessions::Line;
use adxemu::clock::{Clock as _, DrivenClock};
use adxemu::dns::{Responder, Settings};
use adxemu::remote::host_keys::HostKeys;
use adxemu::remote::server::{Endpoint, EndpointKind, RemoteServer};
use adxemu::remote::{Algorithms, Limits};
use adxemu::term::shell::Shell;
use tokio::runtime::Runtime;

/// How long a server may be silent while a test waits for it.
pub(crate) const SILENCE: Duration = Duration::from_mins(1);

/// A login that asks for name and password, of a user that may do everything; `enable` asks too.
pub(crate) const ACCOUNTS: &str = "aaa authentication login default local\n\
    aaa authentication enable default local\nusername admin password one\n\
    username oper privilege 5 password two\n";

/// An appliance with this configuration.
pub(crate) fn responder(configuration: &str) -> (Arc<Responder>, Arc<DrivenClock>) {
    let clock = Arc::new(DrivenClock::new());
    let appliance = Arc::new(Appliance::in_memory(Arc::clone(&clock) as _));
    appliance.start_with(configuration);
    (Arc::new(Responder { appliance, settings: Settings::default() }), clock)
}

/// A shell without sockets.
pub(crate) struct Typist {
    pub(crate) shell: Shell,
    pub(crate) responder: Arc<Responder>,
    pub(crate) clock: Arc<DrivenClock>,
}

impl Typist {
    /// A Telnet session at its first prompt.
    pub(crate) fn telnet(configuration: &str) -> Self {
        let (responder, clock) = responder(configuration);
        Self::beside(responder, clock)
    }

    /// A Telnet session of an appliance that others use too.
    pub(crate) fn beside(responder: Arc<Responder>, clock: Arc<DrivenClock>) -> Self {
        let client = IpAddr::from([192, 0, 2, 77]);
        let session = Session::remote(Arc::clone(&responder), Line::Telnet(client));
        Typist { shell: Shell::new(session), responder, clock }
    }

    /// The console of an appliance.
    pub(crate) fn console(configuration: &str) -> Self {
        let (responder, clock) = responder(configuration);
        let shell = Shell::new(Session::new(Arc::clone(&responder)));
        Typist { shell, responder, clock }
    }

    /// What appears when these keys are pressed.
    pub(crate) fn types(&mut self, keys: impl AsRef<[u8]>) -> String {
        self.shell.receive(keys.as_ref());
        let mut shown = self.shell.take_output();
        while self.shell.can_go_on() {
            self.shell.go_on();
            shown += &self.shell.take_output();
        }
        shown
    }

    /// Lets time pass.
    pub(crate) fn waits(&mut self, seconds: u64) -> String {
        self.clock.advance(seconds);
        self.responder.appliance.pass_time();
        self.shell.pass_time();
        self.types("")
    }
}

/// Servers on the loopback device.
pub(crate) struct Home {
    pub(crate) responder: Arc<Responder>,
    pub(crate) clock: Arc<DrivenClock>,
    pub(crate) runtime: Runtime,
    server: Option<RemoteServer>,
    /// Where Telnet and SSH are.
    pub(crate) telnet: SocketAddr,
    pub(crate) ssh: SocketAddr,
}

impl Home {
    /// An appliance with this configuration that accepts both.
    pub(crate) fn start(configuration: &str) -> Self {
        let limits = Limits { refusal_time: Duration::ZERO, ..Limits::default() };
        Self::with(configuration, limits, Algorithms::Safe)
    }

    /// The same with other limits and algorithms.
    pub(crate) fn with(configuration: &str, limits: Limits, algorithms: Algorithms) -> Self {
        let (responder, clock) = responder(configuration);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let kinds =
            [EndpointKind::Telnet, EndpointKind::Ssh(HostKeys::brief().unwrap(), algorithms)];
        let endpoints = kinds.map(|kind| Endpoint {
            responder: Arc::clone(&responder),
            kind,
            address: (Ipv4Addr::LOCALHOST, 0).into(),
        });
        let server = RemoteServer::start(runtime.handle(), endpoints.into(), limits).unwrap();
        let (telnet, ssh) = (server.addresses()[0], server.addresses()[1]);
        Home { responder, clock, runtime, server: Some(server), telnet, ssh }
    }

    /// Lets time pass.
    pub(crate) fn waits(&self, seconds: u64) {
        self.clock.advance(seconds);
        self.responder.appliance.pass_time();
    }

    /// Ends the servers.
    pub(crate) fn ends(&mut self) {
        let server = self.server.take().unwrap();
        self.runtime.block_on(server.shutdown());
    }
}

/// A Telnet client that only reads and writes bytes.
pub(crate) struct Wire {
    pub(crate) stream: TcpStream,
    /// Everything that came, without what belongs to the protocol.
    pub(crate) shown: String,
    seen: usize,
}

impl Wire {
    /// Connects.
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(SILENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Wire { stream, shown: String::new(), seen: 0 }
    }

    /// Sends bytes in one write.
    pub(crate) fn types(&mut self, keys: impl AsRef<[u8]>) {
        self.stream.write_all(keys.as_ref()).unwrap();
    }

    /// Waits until this appears behind what was waited for before; gives all up to its end.
    pub(crate) fn waits_for(&mut self, text: &str) -> String {
        loop {
            if let Some(place) = self.shown[self.seen..].find(text) {
                let end = self.seen + place + text.len();
                let all = self.shown[self.seen..end].to_owned();
                self.seen = end;
                return all;
            }
            assert!(self.reads(), "waited for {text:?}; there is\n{}", self.shown);
        }
    }

    /// Waits until the server closes the connection.
    pub(crate) fn waits_for_end(&mut self) -> &str {
        while self.reads() {}
        &self.shown[self.seen..]
    }

    fn reads(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let length = match self.stream.read(&mut buffer) {
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("{error}; there is\n{}", self.shown),
        };
        // All that the server sends of the protocol are commands of three bytes.
        let mut bytes = buffer[..length].iter();
        let mut text = Vec::new();
        while let Some(byte) = bytes.next() {
            if *byte == 255 {
                bytes.nth(1);
            } else {
                text.push(*byte);
            }
        }
        self.shown += &String::from_utf8(text).unwrap();
        length > 0
    }
}
