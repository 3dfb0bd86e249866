//! A socket between docdeck and the server that is cut after a number of messages.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

/// When the connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Before the server gets the message.
    Request,
    /// After the server has got the message, and before docdeck gets the answer.
    Answer,
}

/// Forwards one connection. Dropping it closes the socket.
pub(crate) struct Proxy {
    folder: TempDir,
    messages: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proxy {
    /// Forwards to the socket in the folder of a server, and cuts the connection at the message with this number,
    /// counted from 0.
    pub(crate) fn start(server: &Path, at: usize, cut: Cut) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).expect("a socket");
        let server = server.join(".s.PGSQL.5432");
        let messages = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&messages);
        let task = tokio::spawn(async move {
            let (mut client, _) = listener.accept().await.expect("a connection");
            let mut server = UnixStream::connect(server).await.expect("the server");
            let (mut from_client, mut from_server) = (vec![0; 1 << 16], vec![0; 1 << 16]);
            let mut is_cut = false;
            loop {
                tokio::select! {
                    read = client.read(&mut from_client) => {
                        let Ok(length @ 1..) = read else { return };
                        let number = counted.fetch_add(1, Ordering::SeqCst);
                        if number == at && cut == Cut::Request {
                            return;
                        }
                        is_cut = number >= at;
                        if server.write_all(&from_client[..length]).await.is_err() {
                            return;
                        }
                    }
                    read = server.read(&mut from_server) => {
                        let Ok(length @ 1..) = read else { return };
                        if is_cut {
                            return;
                        }
                        if client.write_all(&from_server[..length]).await.is_err() {
                            return;
                        }
                    }
                }
            }
        });
        Self { folder, messages, task }
    }

    pub(crate) fn url(&self, user: &str) -> String {
        format!("postgres://{user}@/postgres?host={}", self.folder.path().display())
    }

    /// Returns how many messages docdeck has sent.
    pub(crate) fn messages(&self) -> usize {
        self.messages.load(Ordering::SeqCst)
    }
}
