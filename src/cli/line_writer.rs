//! Writes lines to stdout on a separate thread, so that a slow or stopped reader doesn't block the engine. The engine
//! may be polling and sending for all docdeck processes on this computer.

use super::error::CliError;
use super::out::Out;
use std::io::{self, ErrorKind, Write as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tokio::sync::watch;

/// The maximum time that [`LineWriterHandle::finish`] waits for the last lines to be written.
const FINISH_TIMEOUT: Duration = Duration::from_secs(1);

/// How the thread that writes the lines ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WriterEnd {
    /// Everything is written, or the reader closed the pipe.
    Done,
    Failed(String),
}

/// The sender of lines to the thread that writes them.
#[derive(Debug)]
pub(super) struct LineWriterHandle {
    sender: mpsc::Sender<String>,
    end: watch::Receiver<Option<WriterEnd>>,
}

impl LineWriterHandle {
    /// Starts the thread that writes the lines.
    ///
    /// # Errors
    /// Fails if the system can't start a thread.
    pub(super) fn start() -> Result<Self, CliError> {
        let (sender, inbox) = mpsc::channel::<String>();
        let (ended, end) = watch::channel(None);
        thread::Builder::new()
            .name("stdout".to_owned())
            .spawn(move || {
                let end = write_lines(&inbox);
                ended.send_replace(Some(end));
            })
            .map_err(|error| CliError::local_error(format!("Can't start a thread to write the output: {error}.")))?;
        Ok(Self { sender, end })
    }

    /// Sends a line to the thread, which writes and flushes it.
    pub(super) fn write(&self, line: String, out: &Out) {
        // Sending fails only after the thread has ended, which `wait_for_end` reports.
        let _ = self.sender.send(out.sanitized_line(&line));
    }

    /// Waits until the thread has ended. After that, no more lines can be written.
    pub(super) async fn wait_for_end(&mut self) {
        let _ = self.end.wait_for(Option::is_some).await;
    }

    /// Waits up to [`FINISH_TIMEOUT`] until the last lines are written. Returns the error if writing failed. Returns
    /// `None` if everything was written or the time is up.
    pub(super) async fn finish(self) -> Option<String> {
        let Self { sender, mut end } = self;
        drop(sender);
        let ended = tokio::time::timeout(FINISH_TIMEOUT, end.wait_for(Option::is_some)).await;
        match ended.ok()?.ok()?.clone() {
            Some(WriterEnd::Failed(why)) => Some(why),
            Some(WriterEnd::Done) | None => None,
        }
    }
}

fn write_lines(inbox: &mpsc::Receiver<String>) -> WriterEnd {
    while let Ok(line) = inbox.recv() {
        let mut stdout = io::stdout().lock();
        match writeln!(stdout, "{line}").and_then(|()| stdout.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return WriterEnd::Done,
            Err(error) => return WriterEnd::Failed(format!("Can't write the output: {error}.")),
        }
    }
    WriterEnd::Done
}
