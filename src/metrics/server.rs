//! The HTTP endpoint from which metrics are fetched.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::Metrics;
use crate::dns::serve::ListenError;
use crate::listen::{self, PAUSE_AFTER_ERROR};

/// Where the metrics are.
const PATH: &str = "/metrics";

/// The form that they have.
const FORM: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Connections at a time; further ones wait.
const CONNECTIONS: usize = 16;

/// How long a client may take to say what it wants, and how long it may stay in all.
const PATIENCE: Duration = Duration::from_secs(10);
const STAY: Duration = Duration::from_mins(5);

/// A socket that gives metrics until the value is shut down or dropped.
#[derive(Debug)]
pub struct MetricsServer {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    loops: JoinSet<()>,
}

impl MetricsServer {
    /// Listens at an address; with port 0 the system picks one.
    ///
    /// # Errors
    ///
    /// The address cannot be had.
    pub fn start(
        runtime: &Handle,
        address: SocketAddr,
        metrics: Metrics,
    ) -> Result<Self, ListenError> {
        let _runtime = runtime.enter();
        let fail = |source| ListenError { address, transport: "metrics", source };
        let listener = listen::bind(address).map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let (stop, stopped) = watch::channel(false);
        let mut loops = JoinSet::new();
        loops.spawn(accept(listener, Arc::new(metrics), stopped));
        Ok(MetricsServer { address, stop, loops })
    }

    /// The address that is listened on, with its real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the socket and every connection, and waits until that is done.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        while self.loops.join_next().await.is_some() {}
    }
}

async fn accept(listener: TcpListener, metrics: Arc<Metrics>, mut stopped: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let place = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => break,
            place = Arc::clone(&places).acquire_owned() => place,
        };
        let accepted = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => break,
            accepted = listener.accept() => accepted,
        };
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = accepted else {
            // Usually too many open files: some will be closed soon.
            tokio::time::sleep(PAUSE_AFTER_ERROR).await;
            continue;
        };
        let metrics = Arc::clone(&metrics);
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let response = respond(&metrics, &request);
                async { Ok::<_, Infallible>(response) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .serve_connection(TokioIo::new(stream), service);
            // A connection that breaks concerns its client only, and the client knows.
            let _ = tokio::time::timeout(STAY, connection).await;
            drop(place);
        });
    }
    connections.shutdown().await;
}

fn respond(metrics: &Metrics, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let (status, text) = if request.uri().path() != PATH {
        (StatusCode::NOT_FOUND, format!("The metrics are at {PATH}\n"))
    } else if !matches!(*request.method(), Method::GET | Method::HEAD) {
        (StatusCode::METHOD_NOT_ALLOWED, String::new())
    } else {
        match metrics.text() {
            Ok(text) => (StatusCode::OK, text),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
        }
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let form = if status == StatusCode::OK { FORM } else { "text/plain; charset=utf-8" };
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(form));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        let methods = hyper::header::HeaderValue::from_static("GET, HEAD");
        response.headers_mut().insert(ALLOW, methods);
    }
    response
}
