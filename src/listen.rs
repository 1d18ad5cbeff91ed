//! What every server over TCP does: listen, and take connections until it is to end.

use std::future::Future;
use std::io;
use std::net::{self, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long a loop rests after an error of its socket, so that a lasting one does not spin.
pub(crate) const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(50);

/// A socket that listens at an address; with port 0 the system picks one.
///
/// # Errors
///
/// The address cannot be had.
pub(crate) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    // A port whose last connections are still being forgotten can be had again: so the standard
    // library has it.
    let listener = net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

/// Takes connections until the server stops or is gone, then returns those that are at work.
///
/// `open` says what is to be done with one; `None` closes it.
pub(crate) async fn accept<Work>(
    listener: TcpListener,
    mut stopped: watch::Receiver<bool>,
    mut open: impl FnMut(TcpStream, SocketAddr) -> Option<Work>,
) -> JoinSet<()>
where
    Work: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => return connections,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, client)) => {
                if let Some(work) = open(stream, client) {
                    connections.spawn(work);
                }
            }
            // Usually too many open files: some will be closed soon.
            Err(_) => tokio::time::sleep(PAUSE_AFTER_ERROR).await,
        }
    }
}
