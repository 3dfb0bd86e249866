//! Reads the lines of a backup, one at a time and with a limit on their length, and the errors in them.

use crate::model::Time;
use crate::model::backup::{BackupLine, BackupTotals, LineError};
use crate::store::StoreError;
use std::io::{self, BufRead, Read as _};

/// Maximum length of a line in bytes: a job with its complete thread.
pub const LINE_MAX: u64 = 64 << 20;

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Line numbers start at 1.
    #[error("Line {line} {what}")]
    Line { line: u64, what: LineError },
    #[error("Line {line} is longer than {} MiB, so this is no export of docdeck", LINE_MAX >> 20)]
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

/// Reads the lines of an export one after the other; skips headers after checking them.
#[derive(Debug)]
pub(super) struct BackupReader<B> {
    from: B,
    buffer: Vec<u8>,
    line: u64,
    has_header: bool,
    now: Time,
}

impl<B: BufRead> BackupReader<B> {
    pub(super) fn new(from: B, now: Time) -> Self {
        Self { from, buffer: Vec::new(), line: 0, has_header: false, now }
    }

    /// The next line with content; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<BackupLine>, ImportError> {
        loop {
            self.buffer.clear();
            let read = (&mut self.from).take(LINE_MAX + 1).read_until(b'\n', &mut self.buffer)?;
            if read == 0 {
                return if self.has_header { Ok(None) } else { Err(ImportError::Empty) };
            }
            self.line += 1;
            let line = self.line;
            if u64::try_from(read).unwrap_or(u64::MAX) > LINE_MAX {
                return Err(ImportError::TooLong { line });
            }
            let text = std::str::from_utf8(&self.buffer).map_err(|_| ImportError::NotUtf8 { line })?;
            let text = text.trim_start_matches('\u{feff}').trim();
            if text.is_empty() {
                continue;
            }
            let wrong = |what| ImportError::Line { line, what };
            match BackupLine::read(text, self.now) {
                // Also in the middle, if two files were concatenated.
                Ok(BackupLine::Header(_)) => self.has_header = true,
                Err(newer @ LineError::Newer(_)) => return Err(wrong(newer)),
                _ if !self.has_header => return Err(wrong(LineError::NoHeader)),
                Ok(line) => return Ok(Some(line)),
                Err(what) => return Err(wrong(what)),
            }
        }
    }
}

/// Checks all lines without a store: counts them by kind, and returns whether the last line is complete.
///
/// # Errors
/// The first line that can't be imported.
pub fn check_backup<B: BufRead>(from: B, now: Time) -> Result<(BackupTotals, bool), ImportError> {
    let mut lines = BackupReader::new(from, now);
    let (mut totals, mut has_end) = (BackupTotals::default(), false);
    while let Some(line) = lines.next()? {
        match line {
            BackupLine::Header(_) => {}
            BackupLine::Job(_) => totals.jobs += 1,
            BackupLine::Draft(_) => totals.drafts += 1,
            BackupLine::End(_) => has_end = true,
        }
    }
    Ok((totals, has_end))
}
