//! A server of raw bytes on 127.0.0.1 that fails in a given way and counts what reached it.

use crate::tls;
use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;

/// A name that is rejected without a DNS query: a label has at most 63 characters.
const NO_NAME: &str = "https://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid";

/// What a client meets at the base URL.
#[derive(Clone)]
pub(crate) enum Wire {
    /// A port on which nothing listens.
    Refused,
    /// A host that doesn't resolve.
    NoName,
    /// A server that fails before the TLS handshake is complete.
    Tls(Greeting),
    /// A server that closes the connection before reading anything.
    Early(End),
    /// A server that reads the request, sends these bytes, and ends in this way.
    Answer(Arc<[u8]>, End),
}

/// What the server sends instead of a valid TLS handshake.
#[derive(Clone, Copy)]
pub(crate) enum Greeting {
    Plain,
    Silent,
    Reset,
    Closed,
    Untrusted,
}

/// How a connection continues after the sent bytes.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Close,
    Reset,
    /// It stays open, and nothing more comes.
    Stall,
    /// A byte now and then, forever.
    Trickle,
    /// Data as fast as the client takes it, up to this many bytes.
    Flood(u64),
    /// Waits for the next request, as a normal server does.
    Keep,
}

impl Wire {
    /// Whether a complete request can reach this server.
    pub(crate) fn can_receive(&self) -> bool {
        matches!(self, Self::Answer(..))
    }
}

#[derive(Default)]
struct Received {
    connections: AtomicUsize,
    /// The first line of each request.
    requests: Mutex<Vec<String>>,
    /// Bytes of a flood that the client took.
    flooded: AtomicU64,
}

/// A running server; it ends when dropped.
pub(crate) struct Server {
    base_url: String,
    received: Arc<Received>,
    task: Option<JoinHandle<()>>,
    /// Reserves the port so that nothing else gets it.
    _held: Option<TcpSocket>,
}

impl Server {
    pub(crate) async fn start(wire: Wire) -> Self {
        let received = Arc::new(Received::default());
        match &wire {
            Wire::NoName => return Self { base_url: NO_NAME.to_owned(), received, task: None, _held: None },
            Wire::Refused => {
                let socket = TcpSocket::new_v4().expect("a socket");
                socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
                let base_url = format!("http://{}", socket.local_addr().expect("an address"));
                return Self { base_url, received, task: None, _held: Some(socket) };
            }
            Wire::Tls(_) | Wire::Early(_) | Wire::Answer(..) => {}
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let scheme = if matches!(wire, Wire::Tls(_)) { "https" } else { "http" };
        let base_url = format!("{scheme}://{}", listener.local_addr().expect("an address"));
        let task = tokio::spawn(accept(listener, wire, Arc::clone(&received)));
        Self { base_url, received, task: Some(task), _held: None }
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    pub(crate) fn port(&self) -> u16 {
        self.base_url.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port")
    }

    pub(crate) fn connections(&self) -> usize {
        self.received.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn flooded(&self) -> u64 {
        self.received.flooded.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.received.requests.lock().expect("no poison").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

async fn accept(listener: TcpListener, wire: Wire, received: Arc<Received>) {
    while let Ok((stream, _)) = listener.accept().await {
        received.connections.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(serve(stream, wire.clone(), Arc::clone(&received)));
    }
}

async fn serve(mut stream: TcpStream, wire: Wire, received: Arc<Received>) {
    match wire {
        Wire::Refused | Wire::NoName => {}
        Wire::Tls(greeting) => greet(stream, greeting).await,
        Wire::Early(end) => {
            finish(&mut stream, end, &received).await;
        }
        Wire::Answer(bytes, end) => {
            while let Some(line) = read_request(&mut stream).await {
                received.requests.lock().expect("no poison").push(line);
                // The client may stop reading early.
                let sent = stream.write_all(&bytes).await;
                if sent.is_err() || !finish(&mut stream, end, &received).await {
                    return;
                }
            }
        }
    }
}

/// Ends the connection; returns true if it stays open instead.
async fn finish(stream: &mut TcpStream, end: End, received: &Received) -> bool {
    match end {
        End::Keep => return true,
        End::Close => {}
        End::Reset => stream.set_zero_linger().expect("linger"),
        End::Stall => std::future::pending().await,
        End::Trickle => {
            while stream.write_all(b" ").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        End::Flood(bytes) => {
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

async fn greet(mut stream: TcpStream, greeting: Greeting) {
    match greeting {
        Greeting::Plain => {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            let _ = stream.read(&mut [0; 4096]).await;
        }
        Greeting::Silent => std::future::pending().await,
        Greeting::Closed => {
            let _ = stream.read(&mut [0; 4096]).await;
        }
        Greeting::Reset => stream.set_zero_linger().expect("linger"),
        Greeting::Untrusted => {
            let stream = stream.into_std().expect("a socket");
            stream.set_nonblocking(false).expect("blocking");
            // A client that doesn't trust the certificate closes the connection during the handshake; nothing waits for
            // this thread.
            std::thread::spawn(move || handshake(stream));
        }
    }
}

fn handshake(stream: std::net::TcpStream) {
    let mut stream = tls::session(stream);
    // A client that gets this far has trusted the certificate; it receives an answer that no case expects.
    if matches!(stream.read(&mut [0; 4096]), Ok(1..)) {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{\"id\":\"job_1\"}");
    }
}

/// Reads one complete request and returns its first line.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length").then(|| value.parse().expect("a number"))
            });
            let mut rest = vec![0; (end + 4 + length.unwrap_or(0)).saturating_sub(bytes.len())];
            stream.read_exact(&mut rest).await.ok()?;
            return head.lines().next().map(str::to_owned);
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
