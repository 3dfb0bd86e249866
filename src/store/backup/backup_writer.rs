//! Writes the lines of a backup to a file.

use crate::model::backup::BackupLine;
use crate::store::error::StoreError;
use std::io::{BufWriter, Write};

/// A writer of backup lines, each of which ends with a line break.
#[derive(Debug)]
pub(super) struct LineWriter<W: Write> {
    out: BufWriter<W>,
}

impl<W: Write> LineWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out: BufWriter::with_capacity(64 << 10, out) }
    }

    pub(super) fn write(&mut self, line: &BackupLine) -> Result<(), StoreError> {
        let text = line.write().map_err(|error| StoreError::Unusable(format!("a line {error}")))?;
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")?;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), StoreError> {
        Ok(self.out.flush()?)
    }
}
