//! Reads the rows of a database file that SQLite refuses to read. Parses the pages one by one in the documented file
//! format (<https://sqlite.org/fileformat2.html>), and skips whatever is invalid.

use rusqlite::types::Value;
use std::collections::HashSet;

/// The page size of every file that docdeck creates. It is assumed if the file header can't be read.
const DEFAULT_PAGE_BYTES: usize = 4096;
/// Size in bytes of the file header at the start of the first page.
const FILE_HEADER_BYTES: usize = 100;
/// Maximum number of columns: a row with more columns is invalid.
const MAX_COLUMNS: usize = 64;

/// The type of a page: whether it belongs to a table or an index, and whether it is a leaf of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    IndexInterior,
    TableInterior,
    IndexLeaf,
    TableLeaf,
}

/// A stored row of a table or an index: its columns in their stored order, without generated ones.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawRecord {
    /// The row's key; 0 in an index and in a table without rowids.
    pub(super) rowid: i64,
    /// The column values; `None` for a column that can't be read. If the row has fewer columns than the table, the
    /// missing last columns have their default values.
    pub(super) values: Vec<Option<Value>>,
}

/// A database file in memory, and the numbers of its pages that were already read.
#[derive(Debug)]
pub(super) struct RawPages {
    bytes: Vec<u8>,
    /// Size of a page in bytes.
    page_bytes: usize,
    /// Size in bytes of the part of a page that contains data. SQLite may reserve the bytes after it.
    usable_bytes: usize,
    visited_pages: HashSet<usize>,
}

impl RawPages {
    pub(super) fn new(mut bytes: Vec<u8>) -> Self {
        let header = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let stated_size = match usize::from(header(16)) << 8 | usize::from(header(17)) {
            1 => 65_536,
            size => size,
        };
        let has_header = bytes.starts_with(b"SQLite format 3\0") && stated_size.is_power_of_two() && stated_size >= 512;
        let size = if has_header { stated_size } else { DEFAULT_PAGE_BYTES };
        let reserved = if has_header { usize::from(header(20)) } else { 0 };
        // The file may have been cut off in the middle of a page. The missing end of that page is filled with zeros.
        bytes.resize(bytes.len().next_multiple_of(size), 0);
        Self {
            bytes,
            page_bytes: size,
            usable_bytes: size.saturating_sub(reserved).max(480),
            visited_pages: HashSet::new(),
        }
    }

    /// Returns the page with this number. Page numbers start at 1.
    fn page(&self, number: usize) -> Option<&[u8]> {
        let start = number.checked_sub(1)?.checked_mul(self.page_bytes)?;
        self.bytes.get(start..start.checked_add(self.page_bytes)?)
    }

    /// Marks the pages on SQLite's list of free pages as read, since their old content must not be recovered.
    pub(super) fn mark_free_pages_as_read(&mut self) {
        let mut trunk = self.page(1).and_then(|page| u32_at(page, 32)).unwrap_or(0);
        while trunk != 0 && self.visited_pages.insert(trunk) {
            let Some(page) = self.page(trunk) else { return };
            let next = u32_at(page, 0).unwrap_or(0);
            let count = u32_at(page, 4).unwrap_or(0).min(self.usable_bytes / 4);
            let leaves: Vec<usize> = (0..count).filter_map(|n| u32_at(page, 8 + 4 * n)).collect();
            self.visited_pages.extend(leaves);
            trunk = next;
        }
    }

    /// Returns all rows that can be read in the tree whose root is the page with the number `root`.
    pub(super) fn read_tree(&mut self, root: usize) -> Vec<RawRecord> {
        let (mut records, mut pending_pages) = (Vec::new(), vec![root]);
        while let Some(number) = pending_pages.pop() {
            if !self.visited_pages.insert(number) {
                continue;
            }
            let Some(kind) = self.page_kind(number) else { continue };
            if matches!(kind, PageKind::TableInterior | PageKind::IndexInterior) {
                pending_pages.extend(self.child_pages(number));
            }
            records.extend(self.read_records(number, kind));
        }
        records
    }

    /// Returns the rows of each page of this type that was not read yet. Usually such a page was not found because the
    /// page above it in its tree is damaged. Leaves out pages without readable rows.
    pub(super) fn read_unreachable_pages(&mut self, kind: PageKind) -> Vec<Vec<RawRecord>> {
        let last = self.bytes.len() / self.page_bytes;
        let unread: Vec<usize> = (1..=last).filter(|number| !self.visited_pages.contains(number)).collect();
        let matching = unread.into_iter().filter(|number| self.page_kind(*number) == Some(kind)).collect::<Vec<_>>();
        matching
            .into_iter()
            .map(|number| self.read_records(number, kind))
            .filter(|records| !records.is_empty())
            .collect()
    }

    fn header_offset(number: usize) -> usize {
        if number == 1 { FILE_HEADER_BYTES } else { 0 }
    }

    fn page_kind(&self, number: usize) -> Option<PageKind> {
        match self.page(number)?.get(Self::header_offset(number))? {
            2 => Some(PageKind::IndexInterior),
            5 => Some(PageKind::TableInterior),
            10 => Some(PageKind::IndexLeaf),
            13 => Some(PageKind::TableLeaf),
            _ => None,
        }
    }

    /// Returns the offsets of a page's cells. A cell contains a row, the number of a child page, or both (in an
    /// interior page of an index).
    fn cell_offsets(&self, number: usize) -> Vec<usize> {
        let Some(page) = self.page(number) else { return Vec::new() };
        let start = Self::header_offset(number);
        let is_interior = matches!(page.get(start), Some(2 | 5));
        let first = start + if is_interior { 12 } else { 8 };
        let count = u16_at(page, start + 3).unwrap_or(0).min(self.usable_bytes / 2);
        let cells = (0..count).filter_map(|n| u16_at(page, first + 2 * n));
        cells.filter(|at| *at >= first && *at < self.usable_bytes).collect()
    }

    fn child_pages(&self, number: usize) -> Vec<usize> {
        let Some(page) = self.page(number) else { return Vec::new() };
        let last = u32_at(page, Self::header_offset(number) + 8);
        self.cell_offsets(number).into_iter().filter_map(|at| u32_at(page, at)).chain(last).collect()
    }

    fn read_records(&mut self, number: usize, kind: PageKind) -> Vec<RawRecord> {
        if kind == PageKind::TableInterior {
            return Vec::new();
        }
        let cells = self.cell_offsets(number);
        cells.into_iter().filter_map(|at| self.read_record(number, kind, at)).collect()
    }

    fn read_record(&mut self, number: usize, kind: PageKind, at: usize) -> Option<RawRecord> {
        let mut cell = self.page(number)?.get(at..self.usable_bytes)?;
        if kind == PageKind::IndexInterior {
            cell = cell.get(4..)?;
        }
        let length = usize::try_from(take_varint(&mut cell)?).ok().filter(|length| *length <= self.bytes.len())?;
        let rowid = if kind == PageKind::TableLeaf { take_varint(&mut cell)? } else { 0 };
        let local = self.local_length(length, kind);
        let mut payload = cell.get(..local)?.to_vec();
        if local < length {
            let next = u32_at(cell, local)?;
            self.read_overflow(next, length, &mut payload);
        }
        Some(RawRecord { rowid, values: decode_row(&payload)? })
    }

    /// Returns how many bytes of a row of this length are in the row's own page. The rest are in overflow pages.
    fn local_length(&self, length: usize, kind: PageKind) -> usize {
        let max =
            if kind == PageKind::TableLeaf { self.usable_bytes - 35 } else { (self.usable_bytes - 12) * 64 / 255 - 23 };
        let min = (self.usable_bytes - 12) * 32 / 255 - 23;
        if length <= max {
            return length;
        }
        let part = min + (length - min) % (self.usable_bytes - 4);
        if part <= max { part } else { min }
    }

    /// Appends the rest of a long row to `payload`, beginning with the overflow page `next`. Stops if an overflow page
    /// can't be read.
    fn read_overflow(&mut self, mut next: usize, length: usize, payload: &mut Vec<u8>) {
        while payload.len() < length && self.page(next).is_some() && self.visited_pages.insert(next) {
            let Some(page) = self.page(next) else { return };
            let part = page.get(4..self.usable_bytes).unwrap_or_default();
            payload.extend(part.iter().take(length - payload.len()));
            next = u32_at(page, 0).unwrap_or(0);
        }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    let [a, b] = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(usize::from(u16::from_be_bytes([a, b])))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(four)).ok()
}

/// Removes a number of one to nine bytes (a varint of SQLite) from the front of `bytes` and returns it.
fn take_varint(bytes: &mut &[u8]) -> Option<i64> {
    let mut value: u64 = 0;
    for n in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if n == 8 {
            value = value << 8 | u64::from(*byte);
        } else {
            value = value << 7 | u64::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                break;
            }
        }
    }
    Some(value.cast_signed())
}

/// Splits the bytes of a row into its column values; `None` if the row's header is invalid.
fn decode_row(payload: &[u8]) -> Option<Vec<Option<Value>>> {
    let mut rest = payload;
    let header = usize::try_from(take_varint(&mut rest)?).ok()?;
    let mut types = payload.get(payload.len() - rest.len()..header)?;
    let mut body = payload.get(header..)?;
    let mut values = Vec::new();
    while !types.is_empty() {
        let kind = take_varint(&mut types)?;
        if values.len() == MAX_COLUMNS {
            return None;
        }
        values.push(read_column(kind, &mut body)?);
    }
    (!values.is_empty()).then_some(values)
}

/// Removes the value of a column of type `kind` from the front of `body` and returns it. Returns `Some(None)` if the
/// value's bytes are missing, and `None` if there is no such type.
fn read_column(kind: i64, body: &mut &[u8]) -> Option<Option<Value>> {
    let length = match kind {
        0 | 8 | 9 => 0,
        1..=4 => usize::try_from(kind).ok()?,
        5 => 6,
        6 | 7 => 8,
        12.. => usize::try_from((kind - 12) / 2).ok()?,
        _ => return None,
    };
    let is_text = kind >= 13 && kind % 2 == 1;
    // The beginning of a truncated text is worth keeping; part of a number is not.
    let Some((bytes, rest)) = body.split_at_checked(if is_text { length.min(body.len()) } else { length }) else {
        *body = &[];
        return Some(None);
    };
    *body = rest;
    Some(Some(match kind {
        0 => Value::Null,
        8 => Value::Integer(0),
        9 => Value::Integer(1),
        7 => Value::Real(f64::from_be_bytes(bytes.try_into().ok()?)),
        1..=6 => {
            let sign = if bytes.first().is_some_and(|first| first & 0x80 != 0) { -1 } else { 0 };
            Value::Integer(bytes.iter().fold(sign, |value: i64, byte| value << 8 | i64::from(*byte)))
        }
        _ if is_text && bytes.is_empty() && length > 0 => return Some(None),
        _ if is_text => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        _ => Value::Blob(bytes.to_vec()),
    }))
}
