//! Wiring of remote sessions: which appliances listen where, and what is said about it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use adxemu::cli::sessions::LineKind;
use adxemu::dns::Responder;
use adxemu::dns::serve::ListenError;
use adxemu::grammar::link::Message;
use adxemu::remote::host_keys::{HostKeyError, HostKeys};
use adxemu::remote::server::{Endpoint, EndpointKind, RemoteServer};
use adxemu::remote::{Algorithms, Limits};
use tokio::runtime::Handle;

use crate::arguments::Options;

/// Why there are no remote sessions.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error(transparent)]
    HostKey(#[from] HostKeyError),
    #[error("no port is left for {name}: the range begins at {first}")]
    NoPort { name: String, first: SocketAddr },
}

/// Remote sessions that are accepted, and what the user must know about it.
pub(crate) struct Remote {
    pub(crate) server: RemoteServer,
    pub(crate) text: String,
    /// What is dangerous about it; empty if nothing is.
    pub(crate) warning: String,
}

impl Remote {
    /// Listens where the options say, for these appliances with their names. `state` is where host
    /// keys are kept. `None` if the options ask for nothing.
    pub(crate) fn start(
        options: &Options,
        runtime: &Handle,
        appliances: &[(String, Arc<Responder>)],
        state: Option<&Path>,
    ) -> Result<Option<Self>, RemoteError> {
        let mut endpoints = Vec::new();
        if let Some(first) = options.telnet {
            push_range(&mut endpoints, appliances, first, &EndpointKind::Telnet)?;
        }
        if let Some(first) = options.ssh {
            let algorithms = if options.ssh_legacy { Algorithms::Legacy } else { Algorithms::Safe };
            let kind = EndpointKind::Ssh(HostKeys::open(state)?, algorithms);
            push_range(&mut endpoints, appliances, first, &kind)?;
        }
        let Some(first) = endpoints.first() else { return Ok(None) };
        raise_file_limit();
        let grammar = Arc::clone(&first.1.responder.appliance.grammar);
        let kinds: Vec<(String, LineKind)> =
            endpoints.iter().map(|(name, one)| (name.clone(), one.kind.line())).collect();
        let endpoints = endpoints.into_iter().map(|(_, endpoint)| endpoint).collect();
        let server = RemoteServer::start(runtime, endpoints, Limits::default())?;
        let mut text = String::new();
        for (kind, message) in
            [(LineKind::Ssh, Message::StartSsh), (LineKind::Telnet, Message::StartTelnet)]
        {
            let of_kind = kinds.iter().zip(server.addresses()).filter(|((_, one), _)| *one == kind);
            let addresses: Vec<String> = of_kind
                .map(|((name, _), address)| match appliances {
                    [_] => address.to_string(),
                    _ => format!("{address} ({name})"),
                })
                .collect();
            if !addresses.is_empty() {
                text += &grammar.message(message, &[("address", &addresses.join(", "))]);
            }
        }
        let warning = if options.ssh.is_some() && options.ssh_legacy {
            grammar.message(Message::StartSshLegacy, &[])
        } else {
            String::new()
        };
        Ok(Some(Remote { server, text, warning }))
    }
}

/// Every session needs an open file, and many systems let a program have only 1,024 of them unless
/// it asks for more.
fn raise_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        // If it is refused, fewer sessions are to be had, and the system says so to the next one.
        let _ =
            setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
}

/// One port for each appliance, from the first one on; each any port, if that is 0.
fn push_range(
    endpoints: &mut Vec<(String, Endpoint)>,
    appliances: &[(String, Arc<Responder>)],
    first: SocketAddr,
    kind: &EndpointKind,
) -> Result<(), RemoteError> {
    for (place, (name, responder)) in appliances.iter().enumerate() {
        let mut address = first;
        if first.port() != 0 {
            let port = u16::try_from(place).ok().and_then(|place| first.port().checked_add(place));
            let port = port.ok_or_else(|| RemoteError::NoPort { name: name.clone(), first })?;
            address.set_port(port);
        }
        let responder = Arc::clone(responder);
        endpoints.push((name.clone(), Endpoint { responder, kind: kind.clone(), address }));
    }
    Ok(())
}
