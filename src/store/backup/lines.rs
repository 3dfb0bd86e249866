//! Reads the lines of a backup one at a time, with a limit on their length, and defines the errors of an import.

use crate::model::Time;
use crate::model::backup::{BackupLine, BackupTotals, LineError};
use crate::store::StoreError;
use std::io::{self, BufRead, Read as _};

/// Maximum length of a line in bytes. A line contains a job with its complete thread.
pub const MAX_LINE_BYTES: u64 = 64 << 20;

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The content of the line is invalid. Line numbers start at 1.
    #[error("Line {line} {what}")]
    InvalidLine { line: u64, what: LineError },
    #[error("Line {line} is longer than {} MiB, so this is not a docdeck export", MAX_LINE_BYTES >> 20)]
    TooLong { line: u64 },
    #[error("Line {line} is not valid UTF-8")]
    NotUtf8 { line: u64 },
    #[error("It can't be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error("It is empty; choose a file written by `docdeck export`")]
    Empty,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for ImportError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Reads the lines of a backup one after the other. Checks the header lines and skips them.
#[derive(Debug)]
pub(super) struct BackupReader<B> {
    source: B,
    buffer: Vec<u8>,
    /// The number of the last line that was read.
    line: u64,
    has_header: bool,
    now: Time,
}

impl<B: BufRead> BackupReader<B> {
    pub(super) fn new(from: B, now: Time) -> Self {
        Self { source: from, buffer: Vec::new(), line: 0, has_header: false, now }
    }

    /// Returns the next line with content; `None` at the end of the backup.
    pub(super) fn next(&mut self) -> Result<Option<BackupLine>, ImportError> {
        loop {
            self.buffer.clear();
            let read = (&mut self.source).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut self.buffer)?;
            if read == 0 {
                return if self.has_header { Ok(None) } else { Err(ImportError::Empty) };
            }
            self.line += 1;
            let line = self.line;
            if u64::try_from(read).unwrap_or(u64::MAX) > MAX_LINE_BYTES {
                return Err(ImportError::TooLong { line });
            }
            let text = std::str::from_utf8(&self.buffer).map_err(|_| ImportError::NotUtf8 { line })?;
            let text = text.trim_start_matches('\u{feff}').trim();
            if text.is_empty() {
                continue;
            }
            let line_error = |what| ImportError::InvalidLine { line, what };
            match BackupLine::parse(text, self.now) {
                // A header is also in the middle of the file if two backups were concatenated.
                Ok(header @ BackupLine::Header(_)) => {
                    self.has_header = true;
                    return Ok(Some(header));
                }
                Err(newer @ LineError::NewerVersion(_)) => return Err(line_error(newer)),
                _ if !self.has_header => return Err(line_error(LineError::NoHeader)),
                Ok(line) => return Ok(Some(line)),
                Err(what) => return Err(line_error(what)),
            }
        }
    }
}

/// Checks all lines of a backup without a store. Counts the jobs and drafts. Also returns whether the backup contains
/// the line that marks its end: without that line, something may have been cut off.
///
/// # Errors
/// The error of the first line that can't be imported.
pub fn check_backup<B: BufRead>(from: B, now: Time) -> Result<(BackupTotals, bool), ImportError> {
    let mut lines = BackupReader::new(from, now);
    let (mut totals, mut has_end_line) = (BackupTotals::default(), false);
    while let Some(line) = lines.next()? {
        match line {
            BackupLine::Header(_) => {}
            BackupLine::Job(_) => totals.jobs += 1,
            BackupLine::Draft(_) => totals.drafts += 1,
            BackupLine::End(_) => has_end_line = true,
        }
    }
    Ok((totals, has_end_line))
}
