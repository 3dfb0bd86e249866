//! Reads the rows of a database file that SQLite refuses to read: pages are parsed one by one by the documented file
//! format (<https://sqlite.org/fileformat2.html>), and whatever is invalid is skipped.

use rusqlite::types::Value;
use std::collections::HashSet;

/// The page size of every file that docdeck creates, used if the header can't be read.
const USUAL_SIZE: usize = 4096;
/// Size of the file header at the start of the first page.
const FILE_HEADER: usize = 100;
/// A record with more columns is invalid.
const COLUMNS_MAX: usize = 64;

/// The type of a page: its level in a tree, and the type of tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    IndexInterior,
    TableInterior,
    IndexLeaf,
    TableLeaf,
}

/// A stored row: columns in the order of the table, without generated ones.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    /// 0 in an index and in a table without rowids.
    pub(super) rowid: i64,
    /// `None` for a column that can't be read; columns after the last one have their defaults.
    pub(super) values: Vec<Option<Value>>,
}

/// A file in memory, and the pages that were already read.
#[derive(Debug)]
pub(super) struct RawPages {
    bytes: Vec<u8>,
    size: usize,
    /// Bytes of a page without the reserved ones at its end.
    usable: usize,
    read: HashSet<usize>,
}

impl RawPages {
    pub(super) fn new(mut bytes: Vec<u8>) -> Self {
        let header = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let named = match usize::from(header(16)) << 8 | usize::from(header(17)) {
            1 => 65_536,
            size => size,
        };
        let has_header = bytes.starts_with(b"SQLite format 3\0") && named.is_power_of_two() && named >= 512;
        let size = if has_header { named } else { USUAL_SIZE };
        let reserved = if has_header { usize::from(header(20)) } else { 0 };
        // The file may have been cut off in the middle of a page.
        bytes.resize(bytes.len().next_multiple_of(size), 0);
        Self { bytes, size, usable: size.saturating_sub(reserved).max(480), read: HashSet::new() }
    }

    /// Page numbers start at 1.
    fn page(&self, number: usize) -> Option<&[u8]> {
        let start = number.checked_sub(1)?.checked_mul(self.size)?;
        self.bytes.get(start..start.checked_add(self.size)?)
    }

    /// Marks free pages as read, since their old content must not be recovered.
    pub(super) fn skip_free(&mut self) {
        let mut trunk = self.page(1).and_then(|page| number_at(page, 32)).unwrap_or(0);
        while trunk != 0 && self.read.insert(trunk) {
            let Some(page) = self.page(trunk) else { return };
            let next = number_at(page, 0).unwrap_or(0);
            let count = number_at(page, 4).unwrap_or(0).min(self.usable / 4);
            let leaves: Vec<usize> = (0..count).filter_map(|n| number_at(page, 8 + 4 * n)).collect();
            self.read.extend(leaves);
            trunk = next;
        }
    }

    /// All rows below a page that can be reached and read.
    pub(super) fn tree(&mut self, root: usize) -> Vec<Record> {
        let (mut records, mut waiting) = (Vec::new(), vec![root]);
        while let Some(number) = waiting.pop() {
            if !self.read.insert(number) {
                continue;
            }
            let Some(kind) = self.kind(number) else { continue };
            if matches!(kind, PageKind::TableInterior | PageKind::IndexInterior) {
                waiting.extend(self.children(number));
            }
            records.extend(self.records(number, kind));
        }
        records
    }

    /// Rows of the pages of one type that no tree led to, since a page above them is damaged.
    pub(super) fn unreached(&mut self, kind: PageKind) -> Vec<Vec<Record>> {
        let last = self.bytes.len() / self.size;
        let left: Vec<usize> = (1..=last).filter(|number| !self.read.contains(number)).collect();
        let found = left.into_iter().filter(|number| self.kind(*number) == Some(kind)).collect::<Vec<_>>();
        found.into_iter().map(|number| self.records(number, kind)).filter(|records| !records.is_empty()).collect()
    }

    fn start(number: usize) -> usize {
        if number == 1 { FILE_HEADER } else { 0 }
    }

    fn kind(&self, number: usize) -> Option<PageKind> {
        match self.page(number)?.get(Self::start(number))? {
            2 => Some(PageKind::IndexInterior),
            5 => Some(PageKind::TableInterior),
            10 => Some(PageKind::IndexLeaf),
            13 => Some(PageKind::TableLeaf),
            _ => None,
        }
    }

    /// The offsets of a page's cells.
    fn cells(&self, number: usize) -> Vec<usize> {
        let Some(page) = self.page(number) else { return Vec::new() };
        let start = Self::start(number);
        let is_interior = matches!(page.get(start), Some(2 | 5));
        let first = start + if is_interior { 12 } else { 8 };
        let count = short_at(page, start + 3).unwrap_or(0).min(self.usable / 2);
        let cells = (0..count).filter_map(|n| short_at(page, first + 2 * n));
        cells.filter(|at| *at >= first && *at < self.usable).collect()
    }

    fn children(&self, number: usize) -> Vec<usize> {
        let Some(page) = self.page(number) else { return Vec::new() };
        let last = number_at(page, Self::start(number) + 8);
        self.cells(number).into_iter().filter_map(|at| number_at(page, at)).chain(last).collect()
    }

    fn records(&mut self, number: usize, kind: PageKind) -> Vec<Record> {
        if kind == PageKind::TableInterior {
            return Vec::new();
        }
        let cells = self.cells(number);
        cells.into_iter().filter_map(|at| self.record(number, kind, at)).collect()
    }

    fn record(&mut self, number: usize, kind: PageKind, at: usize) -> Option<Record> {
        let mut cell = self.page(number)?.get(at..self.usable)?;
        if kind == PageKind::IndexInterior {
            cell = cell.get(4..)?;
        }
        let length = usize::try_from(varint(&mut cell)?).ok().filter(|length| *length <= self.bytes.len())?;
        let rowid = if kind == PageKind::TableLeaf { varint(&mut cell)? } else { 0 };
        let local = self.local_part(length, kind);
        let mut payload = cell.get(..local)?.to_vec();
        if local < length {
            let next = number_at(cell, local)?;
            self.read_overflow(next, length, &mut payload);
        }
        Some(Record { rowid, values: decode(&payload)? })
    }

    /// Bytes of a row that are in its own page.
    fn local_part(&self, length: usize, kind: PageKind) -> usize {
        let most = if kind == PageKind::TableLeaf { self.usable - 35 } else { (self.usable - 12) * 64 / 255 - 23 };
        let least = (self.usable - 12) * 32 / 255 - 23;
        if length <= most {
            return length;
        }
        let part = least + (length - least) % (self.usable - 4);
        if part <= most { part } else { least }
    }

    /// Reads the rest of a long row; stops if a page on the way can't be read.
    fn read_overflow(&mut self, mut next: usize, length: usize, payload: &mut Vec<u8>) {
        while payload.len() < length && self.page(next).is_some() && self.read.insert(next) {
            let Some(page) = self.page(next) else { return };
            let part = page.get(4..self.usable).unwrap_or_default();
            payload.extend(part.iter().take(length - payload.len()));
            next = number_at(page, 0).unwrap_or(0);
        }
    }
}

fn short_at(bytes: &[u8], at: usize) -> Option<usize> {
    let [a, b] = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(usize::from(u16::from_be_bytes([a, b])))
}

fn number_at(bytes: &[u8], at: usize) -> Option<usize> {
    let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(four)).ok()
}

/// Removes a number of one to nine bytes from the front.
fn varint(bytes: &mut &[u8]) -> Option<i64> {
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

/// The columns of a row; `None` if its header is invalid.
fn decode(payload: &[u8]) -> Option<Vec<Option<Value>>> {
    let mut rest = payload;
    let header = usize::try_from(varint(&mut rest)?).ok()?;
    let mut types = payload.get(payload.len() - rest.len()..header)?;
    let mut body = payload.get(header..)?;
    let mut values = Vec::new();
    while !types.is_empty() {
        let kind = varint(&mut types)?;
        if values.len() == COLUMNS_MAX {
            return None;
        }
        values.push(read_column(kind, &mut body)?);
    }
    (!values.is_empty()).then_some(values)
}

/// One column; `Some(None)` if its bytes are missing, `None` if there is no such type.
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
    // The beginning of a text is worth keeping; half of a number is not.
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
