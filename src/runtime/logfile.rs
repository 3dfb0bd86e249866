//! `docdeck.log` in the data folder: one line per request, and per event such as a state change of a job. The file is
//! rotated by size, and readable only by its owner.
//! It contains neither the API key nor prompts. Job titles are left out too, because a title is the start of a prompt.

use crate::model::log::{LogEntry, LogKind};
use crate::model::text::CleanText;
use chrono::Utc;
use std::convert::Infallible;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::time::Duration;

/// The name of the newest file. The names of older files end in `.1` to `.3`.
pub const LOG_FILE_NAME: &str = "docdeck.log";
/// Size at which a file is rotated.
const ROTATION_BYTES: u64 = 1024 * 1024;
/// Maximum number of lines that wait to be written, enough for some minutes of requests. Memory for them is allocated
/// when the log is opened. Further lines are dropped, so that the log never blocks the program.
const MAX_WAITING_LINES: usize = 1024;
/// Maximum time for writing the pending lines when the program ends.
const MAX_CLOSE_TIME: Duration = Duration::from_secs(1);
/// Number of older files that are kept.
const MAX_OLD_LOG_FILES: u32 = 3;

/// The open log file, which a thread writes. Dropping it writes pending lines.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    /// `None` while the file is being closed.
    lines: Option<SyncSender<String>>,
    /// Disconnected when the thread has ended.
    ended: Receiver<Infallible>,
}

impl LogFile {
    /// Opens the log file in `folder`.
    ///
    /// # Errors
    /// Fails if the file can't be written, or the thread can't be started.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let mut file = RotatingFile::open(folder, ROTATION_BYTES)?;
        let (lines, waiting) = sync_channel::<String>(MAX_WAITING_LINES);
        let (running, ended) = channel();
        std::thread::Builder::new().name("log".to_owned()).spawn(move || {
            // A line that can't be written is lost: an error could only be reported in the log.
            waiting.iter().for_each(|line| drop(file.write_all(line.as_bytes())));
            drop(running);
        })?;
        Ok(Self { path: folder.join(LOG_FILE_NAME), lines: Some(lines), ended })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one entry.
    pub fn record(&self, entry: &LogEntry) {
        if let Some(lines) = &self.lines {
            let _ = lines.try_send(stamped_line("INFO", &log_line(entry)));
        }
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        self.lines = None;
        let _ = self.ended.recv_timeout(MAX_CLOSE_TIME);
    }
}

/// Returns a line of the file, with the current time at its start.
fn stamped_line(level: &str, text: &str) -> String {
    format!("{} {level:>5} {text}\n", Utc::now().format("%Y-%m-%dT%H:%M:%S%.6fZ"))
}

/// Formats an entry as a line of the file, without the time at its start.
fn log_line(entry: &LogEntry) -> String {
    match &entry.kind {
        LogKind::Request { operation, status, millis, reason } => {
            request_line(operation.name(), *status, *millis, reason.as_ref())
        }
        LogKind::HostRequest { status, millis, reason } => {
            request_line(entry.subject.as_str(), *status, *millis, reason.as_ref())
        }
        LogKind::Transition(text) => format!("seen: {text}"),
        LogKind::Note(text) => format!("note: {text}"),
    }
}

fn request_line(name: &str, status: Option<u16>, millis: u32, reason: Option<&CleanText>) -> String {
    let status = status.map_or_else(|| "-".to_owned(), |status| status.to_string());
    format!("{name} {status} {millis} ms {}", reason.map_or("", CleanText::as_str)).trim_end().to_owned()
}

/// Appends one line directly, since a panic may have broken the writer thread.
pub fn append(path: &Path, text: &CleanText) {
    if let Ok(mut file) = open_log(path) {
        // The program is ending, so an error can't be reported.
        let _ = file.write_all(stamped_line("ERROR", text.as_str()).as_bytes());
    }
}

fn open_log(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// A file that is rotated when its size has reached `limit`.
#[derive(Debug)]
struct RotatingFile {
    path: PathBuf,
    file: File,
    size: u64,
    limit: u64,
}

impl RotatingFile {
    fn open(folder: &Path, limit: u64) -> io::Result<Self> {
        let path = folder.join(LOG_FILE_NAME);
        let file = open_log(&path)?;
        let size = file.metadata()?.len();
        Ok(Self { path, file, size, limit })
    }

    fn rotate(&mut self) -> io::Result<()> {
        // If the file at this path is small, another instance has already rotated it, and it only has to be reopened.
        if std::fs::metadata(&self.path).is_ok_and(|meta| meta.len() >= self.limit) {
            let numbered = |n: u32| PathBuf::from(format!("{}.{n}", self.path.display()));
            for n in (1..MAX_OLD_LOG_FILES).rev() {
                if numbered(n).exists() {
                    std::fs::rename(numbered(n), numbered(n + 1))?;
                }
            }
            std::fs::rename(&self.path, numbered(1))?;
        }
        self.file = open_log(&self.path)?;
        self.size = self.file.metadata()?.len();
        Ok(())
    }
}

impl Write for RotatingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.size >= self.limit {
            self.rotate()?;
        }
        let n = self.file.write(bytes)?;
        self.size = self.size.saturating_add(u64::try_from(n).unwrap_or(0));
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::log::Operation;

    #[test]
    fn a_full_file_is_rotated_and_three_older_ones_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut file = RotatingFile::open(folder.path(), 10).expect("opened");
        for n in 0..7 {
            file.write_all(format!("line {n} ....\n").as_bytes()).expect("written");
        }
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
        assert_eq!(read(LOG_FILE_NAME), "line 6 ....\n");
        assert_eq!(read("docdeck.log.1"), "line 5 ....\n");
        assert_eq!(read("docdeck.log.3"), "line 3 ....\n");
        assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 4);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_of_the_log_file_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let file = RotatingFile::open(folder.path(), 10).expect("opened");
        assert_eq!(file.file.metadata().expect("meta").permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn dropping_the_log_writes_the_waiting_lines_with_their_times() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = LogFile::open(folder.path()).expect("opened");
        for n in 1..=3 {
            let kind = LogKind::Note(CleanText::line(&format!("line {n}")));
            log.record(&LogEntry { at: crate::model::Time::default(), subject: CleanText::default(), kind });
        }
        drop(log);
        let text = std::fs::read_to_string(folder.path().join(LOG_FILE_NAME)).expect("written");
        let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(' ')).collect();
        assert_eq!(
            lines.iter().map(|(_, rest)| *rest).collect::<Vec<_>>(),
            [" INFO note: line 1", " INFO note: line 2", " INFO note: line 3"]
        );
        assert!(lines.iter().all(|(at, _)| chrono::DateTime::parse_from_rfc3339(at).is_ok()), "{text}");
    }

    #[test]
    fn a_request_is_written_without_the_title_of_its_job() {
        let entry = LogEntry {
            at: crate::model::Time::default(),
            subject: CleanText::line("Rewrite the secret guide"),
            kind: LogKind::Request {
                operation: Operation::GetJob,
                status: Some(429),
                millis: 12,
                reason: Some(CleanText::line("limit reached, retry in 60 s")),
            },
        };
        assert_eq!(log_line(&entry), "get 429 12 ms limit reached, retry in 60 s");
        let kind = LogKind::HostRequest { status: Some(200), millis: 340, reason: None };
        let entry = LogEntry { subject: CleanText::line("github.com"), kind, ..entry };
        assert_eq!(log_line(&entry), "github.com 200 340 ms");
    }
}
