//! A TCP server on 127.0.0.1 for tests. It stores every request that it receives, and always sends the same reply.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;

/// What the server does after each request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Sends these bytes and waits for the next request.
    Answer(Vec<u8>),
    /// Sends these bytes and closes the connection.
    AnswerAndClose(Vec<u8>),
    /// Sends these bytes and then nothing more.
    Stall(Vec<u8>),
    /// Resets the connection.
    Reset,
}

impl Reply {
    /// A complete JSON answer.
    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self::Answer(http(status, "content-type: application/json\r\n", body.as_bytes()))
    }

    /// A complete answer with extra headers, each ending in CRLF.
    pub(crate) fn with(status: u16, headers: &str, body: &[u8]) -> Self {
        Self::Answer(http(status, headers, body))
    }
}

pub(crate) fn http(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status} Status\r\n{headers}content-length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
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
struct Traffic {
    connections: AtomicUsize,
    requests: Mutex<Vec<Request>>,
}

pub(crate) struct Server {
    port: u16,
    traffic: Arc<Traffic>,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let traffic = Arc::new(Traffic::default());
        let task = tokio::spawn(accept(listener, reply, Arc::clone(&traffic)));
        Self { port, traffic, task }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn connections(&self) -> usize {
        self.traffic.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.traffic.requests.lock().expect("no poison").clone()
    }

    /// Returns the only request. Fails unless the server received exactly one request over exactly one connection.
    pub(crate) fn only_request(&self) -> Request {
        assert_eq!(self.connections(), 1, "connections");
        let requests = self.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests.into_iter().next().expect("one")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reserves a port; connections to it are refused until the returned socket is dropped.
pub(crate) fn bind_refusing_port() -> (TcpSocket, u16) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let port = socket.local_addr().expect("an address").port();
    (socket, port)
}

async fn accept(listener: TcpListener, reply: Reply, traffic: Arc<Traffic>) {
    while let Ok((stream, _)) = listener.accept().await {
        traffic.connections.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(serve_connection(stream, reply.clone(), Arc::clone(&traffic)));
    }
}

async fn serve_connection(mut stream: TcpStream, reply: Reply, traffic: Arc<Traffic>) {
    while let Some(request) = read_request(&mut stream).await {
        traffic.requests.lock().expect("no poison").push(request);
        match &reply {
            Reply::Answer(bytes) => stream.write_all(bytes).await.expect("written"),
            // An error is ignored, because the client may stop reading early.
            Reply::AnswerAndClose(bytes) => {
                let _ = stream.write_all(bytes).await;
                return;
            }
            Reply::Stall(bytes) => {
                let _ = stream.write_all(bytes).await;
                std::future::pending::<()>().await;
            }
            Reply::Reset => {
                stream.set_zero_linger().expect("linger");
                return;
            }
        }
    }
}

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
