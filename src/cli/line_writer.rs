//! Lines on stdout from a thread of their own: a reader that is slow, or that stopped reading, must not keep the engine
//! from its duties for all of this computer.

use super::error::CliError;
use super::out::Out;
use std::io::{self, ErrorKind, Write as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tokio::sync::watch;

/// How long the last lines are waited for.
const LAST_LINES: Duration = Duration::from_secs(1);

/// How the writing ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WriterEnd {
    /// All is written, or nobody reads any more.
    Done,
    Failed(String),
}

/// The way to the thread.
#[derive(Debug)]
pub(super) struct LineWriterHandle {
    sender: mpsc::Sender<String>,
    end: watch::Receiver<Option<WriterEnd>>,
}

impl LineWriterHandle {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system gives none.
    pub(super) fn start() -> Result<Self, CliError> {
        let (sender, inbox) = mpsc::channel::<String>();
        let (ended, end) = watch::channel(None);
        thread::Builder::new()
            .name("stdout".to_owned())
            .spawn(move || {
                let end = write_all(&inbox);
                ended.send_replace(Some(end));
            })
            .map_err(|error| CliError::unusable(format!("The system gives no thread to write with: {error}.")))?;
        Ok(Self { sender, end })
    }

    /// Hands a line over; it is written and flushed in its turn.
    pub(super) fn write(&self, line: String, out: &Out) {
        // A thread that has ended says so by itself.
        let _ = self.sender.send(out.as_written(&line));
    }

    /// Returns once nothing can be written any more.
    pub(super) async fn ended(&mut self) {
        let _ = self.end.wait_for(Option::is_some).await;
    }

    /// Waits a moment for the last lines; why they could not be written, if so.
    pub(super) async fn finish(self) -> Option<String> {
        let Self { sender, mut end } = self;
        drop(sender);
        let ended = tokio::time::timeout(LAST_LINES, end.wait_for(Option::is_some)).await;
        match ended.ok()?.ok()?.clone() {
            Some(WriterEnd::Failed(why)) => Some(why),
            Some(WriterEnd::Done) | None => None,
        }
    }
}

fn write_all(inbox: &mpsc::Receiver<String>) -> WriterEnd {
    while let Ok(line) = inbox.recv() {
        let mut stdout = io::stdout().lock();
        match writeln!(stdout, "{line}").and_then(|()| stdout.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return WriterEnd::Done,
            Err(error) => return WriterEnd::Failed(format!("The answer can't be written: {error}.")),
        }
    }
    WriterEnd::Done
}
