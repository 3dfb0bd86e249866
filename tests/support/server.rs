//! A server on 127.0.0.1 that sends the same bytes to every request or fails in a given way, and that stores all
//! requests.

use super::tls;
use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;

/// A URL whose host name is rejected without a DNS query, because a part of a host name has at most 63 characters.
const UNRESOLVABLE_URL: &str =
    "https://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid";

/// The behaviour of the server at the base URL.
#[derive(Clone)]
pub(crate) enum ServerBehavior {
    /// No server listens on the port.
    NotListening,
    /// The host name can't be resolved.
    UnresolvableHost,
    /// A server that fails before the TLS handshake is complete.
    Tls(TlsFailure),
    /// A server that accepts the connection, reads nothing, and ends the connection in this way.
    ReadNothing(ConnectionEnd),
    /// A server that reads the request, sends these bytes, and ends in this way.
    Response(Arc<[u8]>, ConnectionEnd),
}

/// What the server does instead of a valid TLS handshake.
#[derive(Clone, Copy)]
pub(crate) enum TlsFailure {
    /// Sends a response without TLS.
    NoTls,
    /// Sends nothing.
    Silent,
    /// Resets the connection.
    Reset,
    /// Closes the connection.
    Closed,
    /// Sends a certificate that the client doesn't trust.
    Untrusted,
}

/// What the server does with the connection after it has sent its bytes.
#[derive(Clone, Copy)]
pub(crate) enum ConnectionEnd {
    Close,
    Reset,
    /// Keeps it open and sends nothing more.
    Stall,
    /// Sends a byte every 20 ms, forever.
    Trickle,
    /// Sends up to this many bytes, as fast as the client reads them.
    Flood(u64),
    /// Keeps it open for the next request, as a normal server does.
    Keep,
}

impl ServerBehavior {
    /// Sends these bytes to each request.
    pub(crate) fn response(bytes: impl Into<Vec<u8>>, end: ConnectionEnd) -> Self {
        Self::Response(bytes.into().into(), end)
    }

    /// Sends a complete HTTP response with extra headers, each ending in CRLF.
    pub(crate) fn http(status: u16, headers: &str, body: &[u8]) -> Self {
        Self::response(http_response(status, headers, body), ConnectionEnd::Keep)
    }

    /// Sends a complete JSON response.
    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self::http(status, "content-type: application/json\r\n", body.as_bytes())
    }

    /// Whether the server may reset the connection before a request is sent.
    pub(crate) fn may_refuse(&self) -> bool {
        matches!(self, Self::ReadNothing(ConnectionEnd::Reset))
    }

    /// Whether the server accepts a connection, but reads nothing.
    pub(crate) fn reads_nothing(&self) -> bool {
        matches!(self, Self::ReadNothing(_))
    }

    /// Whether the server reads a complete request.
    pub(crate) fn reads_requests(&self) -> bool {
        matches!(self, Self::Response(..))
    }
}

/// Returns a complete HTTP response with extra headers, each ending in CRLF.
pub(crate) fn http_response(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status} Status\r\n{headers}content-length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// Reserves a port; connections to it are refused until the returned socket is dropped.
pub(crate) fn bind_refusing_port() -> (TcpSocket, u16) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let port = socket.local_addr().expect("an address").port();
    (socket, port)
}

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Request line and headers.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        let found = values.find(|(known, _)| known.eq_ignore_ascii_case(name))?.1;
        assert!(!values.any(|(known, _)| known.eq_ignore_ascii_case(name)), "{name} came twice");
        Some(found)
    }
}

#[derive(Default)]
struct ReceivedTraffic {
    connections: AtomicUsize,
    requests: Mutex<Vec<Request>>,
    /// The number of bytes of [`ConnectionEnd::Flood`] that the client took.
    flooded: AtomicU64,
}

/// A running server, which stops when it is dropped.
pub(crate) struct Server {
    base_url: String,
    received: Arc<ReceivedTraffic>,
    task: Option<JoinHandle<()>>,
    /// Reserves the port, so that no other program listens on it.
    _reserved_port: Option<TcpSocket>,
}

impl Server {
    pub(crate) async fn start(behavior: ServerBehavior) -> Self {
        Self::start_with_first(None, behavior).await
    }

    /// Starts a server that sends this response to the requests on the first connection, and behaves like `behavior` on
    /// all others.
    pub(crate) async fn start_after(first_response: Vec<u8>, behavior: ServerBehavior) -> Self {
        Self::start_with_first(Some(ServerBehavior::response(first_response, ConnectionEnd::Keep)), behavior).await
    }

    async fn start_with_first(first: Option<ServerBehavior>, behavior: ServerBehavior) -> Self {
        let received = Arc::new(ReceivedTraffic::default());
        match &behavior {
            ServerBehavior::UnresolvableHost => {
                return Self { base_url: UNRESOLVABLE_URL.to_owned(), received, task: None, _reserved_port: None };
            }
            ServerBehavior::NotListening => {
                let (socket, port) = bind_refusing_port();
                let base_url = format!("http://127.0.0.1:{port}");
                return Self { base_url, received, task: None, _reserved_port: Some(socket) };
            }
            ServerBehavior::Tls(_) | ServerBehavior::ReadNothing(_) | ServerBehavior::Response(..) => {}
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let scheme = if matches!(behavior, ServerBehavior::Tls(_)) { "https" } else { "http" };
        let base_url = format!("{scheme}://{}", listener.local_addr().expect("an address"));
        let task = tokio::spawn(accept(listener, first, behavior, Arc::clone(&received)));
        Self { base_url, received, task: Some(task), _reserved_port: None }
    }

    pub(crate) fn base_url(&self) -> String {
        self.base_url.clone()
    }

    pub(crate) fn port(&self) -> u16 {
        self.base_url.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port")
    }

    pub(crate) fn connection_count(&self) -> usize {
        self.received.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn flooded_bytes(&self) -> u64 {
        self.received.flooded.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.received.requests.lock().expect("no poison").clone()
    }

    /// Returns the only request. Fails unless the server received exactly one request over exactly one connection.
    pub(crate) fn only_request(&self) -> Request {
        assert_eq!(self.connection_count(), 1, "connections");
        let requests = self.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests.into_iter().next().expect("one")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

async fn accept(
    listener: TcpListener,
    mut first: Option<ServerBehavior>,
    behavior: ServerBehavior,
    received: Arc<ReceivedTraffic>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        received.connections.fetch_add(1, Ordering::SeqCst);
        let behavior = first.take().unwrap_or_else(|| behavior.clone());
        tokio::spawn(serve(stream, behavior, Arc::clone(&received)));
    }
}

async fn serve(mut stream: TcpStream, behavior: ServerBehavior, received: Arc<ReceivedTraffic>) {
    match behavior {
        ServerBehavior::NotListening | ServerBehavior::UnresolvableHost => {}
        ServerBehavior::Tls(failure) => fail_handshake(stream, failure).await,
        ServerBehavior::ReadNothing(end) => {
            finish(&mut stream, end, &received).await;
        }
        ServerBehavior::Response(bytes, end) => {
            while let Some(request) = read_request(&mut stream).await {
                received.requests.lock().expect("no poison").push(request);
                // Writing fails if the client stops reading early.
                let sent = stream.write_all(&bytes).await;
                if sent.is_err() || !finish(&mut stream, end, &received).await {
                    return;
                }
            }
        }
    }
}

/// Ends the connection in this way. Returns true if the connection stays open for another request.
async fn finish(stream: &mut TcpStream, end: ConnectionEnd, received: &ReceivedTraffic) -> bool {
    match end {
        ConnectionEnd::Keep => return true,
        ConnectionEnd::Close => {}
        ConnectionEnd::Reset => stream.set_zero_linger().expect("linger"),
        ConnectionEnd::Stall => std::future::pending().await,
        ConnectionEnd::Trickle => {
            while stream.write_all(b" ").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        ConnectionEnd::Flood(bytes) => {
            let part = vec![b' '; 64 * 1024];
            let mut left = bytes;
            while left > 0 && stream.write_all(&part).await.is_ok() {
                let length = u64::try_from(part.len()).expect("small");
                received.flooded.fetch_add(length, Ordering::SeqCst);
                left = left.saturating_sub(length);
            }
        }
    }
    false
}

async fn fail_handshake(mut stream: TcpStream, failure: TlsFailure) {
    match failure {
        TlsFailure::NoTls => {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            let _ = stream.read(&mut [0; 4096]).await;
        }
        TlsFailure::Silent => std::future::pending().await,
        TlsFailure::Closed => {
            let _ = stream.read(&mut [0; 4096]).await;
        }
        TlsFailure::Reset => stream.set_zero_linger().expect("linger"),
        TlsFailure::Untrusted => {
            let stream = stream.into_std().expect("a socket");
            stream.set_nonblocking(false).expect("blocking");
            // The thread ends when the client, which doesn't trust the certificate, closes the connection.
            std::thread::spawn(move || serve_untrusted(stream));
        }
    }
}

fn serve_untrusted(stream: std::net::TcpStream) {
    let mut stream = tls::session(stream);
    // A client that completes the handshake trusts the certificate. It gets a response that no case expects, so the
    // case fails.
    if matches!(stream.read(&mut [0; 4096]), Ok(1..)) {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{\"id\":\"job_1\"}");
    }
}

/// Reads a complete request. Returns `None` if the connection was closed.
async fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let mut body = bytes.split_off(end + 4);
            let request = Request { head: String::from_utf8(bytes).expect("text"), body: Vec::new() };
            let length = request.header("content-length").map_or(0, |length| length.parse().expect("a number"));
            let read = body.len();
            body.resize(length, 0);
            stream.read_exact(&mut body[read..]).await.ok()?;
            return Some(Request { body, ..request });
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
