//! A socket between a running docdeck and the server that stops forwarding at a message, so that docdeck can be killed
//! exactly there, or has no network from then on.

use crate::proxy::Cut;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tempfile::TempDir;

/// Forwards all connections of one docdeck. Dropping it closes the socket.
pub(crate) struct HoldingProxy {
    folder: TempDir,
    hold: Arc<Hold>,
}

/// What happens to the connections when forwarding stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// They stay open, and nothing arrives any more.
    Silence,
    /// They are closed, also new ones.
    Close,
}

/// Where forwarding stops, and whether it has.
struct Hold {
    at: usize,
    cut: Cut,
    then: Then,
    messages: AtomicUsize,
    is_reached: AtomicBool,
    is_dropped: AtomicBool,
}

impl Drop for HoldingProxy {
    fn drop(&mut self) {
        self.hold.is_dropped.store(true, Ordering::SeqCst);
        // Ends the wait for the next connection.
        let _ = UnixStream::connect(socket_in(self.folder.path()));
    }
}

impl HoldingProxy {
    /// Forwards to the socket in the folder of a server, up to the message with this number, counted from 0 over all
    /// connections.
    pub(crate) fn start(server: &Path, at: usize, cut: Cut, then: Then) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(socket_in(folder.path())).expect("a socket");
        let server = socket_in(server);
        let (messages, is_reached, is_dropped) = (AtomicUsize::new(0), AtomicBool::new(false), AtomicBool::new(false));
        let hold = Arc::new(Hold { at, cut, then, messages, is_reached, is_dropped });
        let held = Arc::clone(&hold);
        std::thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                if held.is_dropped.load(Ordering::SeqCst) {
                    return;
                }
                if held.then == Then::Close && held.is_reached.load(Ordering::SeqCst) {
                    continue;
                }
                forward(&held, client, UnixStream::connect(&server).expect("the server"));
            }
        });
        Self { folder, hold }
    }

    /// Forwards and counts all messages.
    pub(crate) fn counting(server: &Path) -> Self {
        Self::start(server, usize::MAX, Cut::Request, Then::Silence)
    }

    pub(crate) fn url(&self, user: &str) -> String {
        format!("postgres://{user}@/postgres?host={}", self.folder.path().display())
    }

    /// Returns how many messages docdeck has sent, over all connections.
    pub(crate) fn messages(&self) -> usize {
        self.hold.messages.load(Ordering::SeqCst)
    }

    /// Whether the message has arrived.
    pub(crate) fn is_reached(&self) -> bool {
        self.hold.is_reached.load(Ordering::SeqCst)
    }
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join(".s.PGSQL.5432")
}

/// Forwards both directions in threads, which end when one side closes the connection.
fn forward(hold: &Arc<Hold>, client: UnixStream, server: UnixStream) {
    let copy = |stream: &UnixStream| stream.try_clone().expect("a copy");
    let (mut from_client, mut to_server, requests) = (copy(&client), copy(&server), Arc::clone(hold));
    std::thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from_client.read(&mut bytes) {
            let number = requests.messages.fetch_add(1, Ordering::SeqCst);
            if number >= requests.at {
                requests.is_reached.store(true, Ordering::SeqCst);
            }
            let is_forwarded = number < requests.at || (number == requests.at && requests.cut == Cut::Answer);
            if is_forwarded && to_server.write_all(&bytes[..length]).is_err() {
                break;
            }
            if number >= requests.at && requests.then == Then::Close {
                let _ = from_client.shutdown(std::net::Shutdown::Both);
                break;
            }
        }
        let _ = to_server.shutdown(std::net::Shutdown::Both);
    });
    let (mut from_server, mut to_client, answers) = (server, client, Arc::clone(hold));
    std::thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from_server.read(&mut bytes) {
            if !answers.is_reached.load(Ordering::SeqCst) && to_client.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        let _ = to_client.shutdown(std::net::Shutdown::Both);
    });
}
