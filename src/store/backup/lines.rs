//! Lines out of a file, one at a time and none too long, and what can be wrong with them.

use crate::model::Time;
use crate::model::backup::{BackupLine, BackupTotals, LineError};
use crate::store::StoreError;
use std::io::{self, BufRead, Read as _};

/// Bytes of a line at most: a job with its whole thread.
pub const LINE_MAX: u64 = 64 << 20;

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Lines count from 1.
    #[error("Line {line} {what}")]
    Line { line: u64, what: LineError },
    /// No export is so long in one line.
    #[error("Line {line} is longer than {} MiB, which no export of docdeck is", LINE_MAX >> 20)]
    TooLong { line: u64 },
    /// The text is not UTF-8.
    #[error("Line {line} is no text in UTF-8")]
    NoText { line: u64 },
    /// The file can't be read to its end.
    #[error("It can't be read: {0}")]
    Unreadable(#[from] io::Error),
    /// Nothing stands in it.
    #[error("It is empty: name a file that `docdeck export` wrote")]
    Empty,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for ImportError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Reads the lines of an export one after the other; headers are looked at and passed over.
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

    /// The next line that tells something; none at the end.
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
            let text = std::str::from_utf8(&self.buffer).map_err(|_| ImportError::NoText { line })?;
            let text = text.trim_start_matches('\u{feff}').trim();
            if text.is_empty() {
                continue;
            }
            let wrong = |what| ImportError::Line { line, what };
            match BackupLine::read(text, self.now) {
                // Also in the middle, where two files were put together.
                Ok(BackupLine::Header(_)) => self.has_header = true,
                Err(newer @ LineError::Newer(_)) => return Err(wrong(newer)),
                _ if !self.has_header => return Err(wrong(LineError::NoHeader)),
                Ok(told) => return Ok(Some(told)),
                Err(what) => return Err(wrong(what)),
            }
        }
    }
}

/// Looks all lines over, without a store: how many there are of each kind, and whether the end is there.
///
/// # Errors
/// The first line that can't be taken in.
pub fn check<B: BufRead>(from: B, now: Time) -> Result<(BackupTotals, bool), ImportError> {
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
