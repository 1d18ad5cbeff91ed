//! The check of a UDP port of which nothing is known: it must not be closed.

use tokio::time::{Duration, timeout};

use super::words;
use crate::live::gate::Route;

/// How long an ICMP message that the port is closed may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// Sends one byte. Most servers say nothing to that, which is as good as an answer.
pub(super) async fn knock(route: &Route) -> Result<(), String> {
    let socket = route.datagrams().await.map_err(|error| words(&error))?;
    socket.send(&[0]).await.map_err(|error| words(&error))?;
    let mut answer = [0; 64];
    match timeout(PATIENCE, socket.recv(&mut answer)).await {
        Ok(Err(error)) => Err(words(&error)),
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}
