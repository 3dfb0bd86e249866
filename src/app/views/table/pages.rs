//! The pages that there are to list, with those of the range that is compared with found beside them. Worked out once
//! when the source changes.

use super::Source;
use super::change::{Figures, Then};
use super::order::compare_paths;
use crate::model::report::{Report, Sums};
use crate::model::views::{Counts, PageRow};
use std::collections::HashMap;
use std::sync::Arc;

/// No place among the rows of the range before: the page is new.
const NEW: u32 = u32::MAX;
/// No place among the rows that are known of the range before.
const UNKNOWN: u32 = u32::MAX - 1;

/// The pages by their entry: the source's rows in its order, then the pages that are gone.
#[derive(Debug, Default)]
pub(super) struct Pages {
    source: Source,
    /// Pages that are gone; their numbers are missing, since there are none now.
    gone: Vec<PageRow>,
    /// Place among the rows before, by entry; empty where nothing is compared.
    then: Vec<u32>,
    /// All entries in the order of their paths.
    by_path: Vec<u32>,
    /// Place in that order, by entry.
    place: Vec<u32>,
    sums: Sums,
    /// Rows whose total is no count.
    unread: usize,
}

/// A place in memory as it is kept: 2³² rows never come.
pub(super) fn short(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl Pages {
    /// The rows of the source, in its order.
    pub(super) fn rows(&self) -> &[PageRow] {
        match &self.source {
            Source::Nothing => &[],
            Source::Answer(rows) => rows,
            Source::Report { now, .. } => &now.rows,
        }
    }

    /// Takes another source in.
    pub(super) fn replace(&mut self, source: Source) {
        let same = match (&self.source, &source) {
            (Source::Report { now: old, .. }, Source::Report { now: new, .. }) => Arc::ptr_eq(old, new),
            _ => false,
        };
        self.source = source;
        let rows = self.rows().len();
        if same {
            // Sorting paths is the dear part; a comparison that comes or goes leaves the order of the others.
            self.by_path.retain(|entry| (*entry as usize) < rows);
        } else {
            let mut by_path: Vec<(&str, u32)> =
                self.rows().iter().enumerate().map(|(n, row)| (row.path.as_str(), short(n))).collect();
            by_path.sort_unstable_by(|a, b| compare_paths(a.0, b.0).then(a.1.cmp(&b.1)));
            self.by_path = by_path.into_iter().map(|(_, entry)| entry).collect();
            self.sums = self.rows().iter().fold(Sums::default(), |sums, row| sums.with(&row.counts));
            self.unread = self.rows().iter().filter(|row| row.counts.total.value().is_none()).count();
        }
        (self.then, self.gone) = match &self.source {
            Source::Report { now, before: Some(before) } => join(now, before),
            _ => Default::default(),
        };
        self.merge_gone(rows);
        self.place = vec![0; self.by_path.len()];
        for (place, entry) in self.by_path.iter().enumerate() {
            if let Some(kept) = self.place.get_mut(*entry as usize) {
                *kept = short(place);
            }
        }
    }

    /// Puts the pages that are gone among the others, in the order of their paths.
    fn merge_gone(&mut self, rows: usize) {
        let mut gone: Vec<u32> = (0..self.gone.len()).map(|n| short(rows + n)).collect();
        if gone.is_empty() {
            return;
        }
        gone.sort_unstable_by(|a, b| compare_paths(self.path(*a), self.path(*b)));
        let mut merged = Vec::with_capacity(self.by_path.len() + gone.len());
        let mut gone = gone.into_iter().peekable();
        for entry in &self.by_path {
            while let Some(other) = gone.next_if(|other| compare_paths(self.path(*other), self.path(*entry)).is_lt()) {
                merged.push(other);
            }
            merged.push(*entry);
        }
        merged.extend(gone);
        self.by_path = merged;
    }

    /// Number of entries, pages that are gone included.
    pub(super) fn len(&self) -> usize {
        self.by_path.len()
    }

    /// Number of pages that are gone.
    pub(super) fn gone(&self) -> usize {
        self.gone.len()
    }

    /// The page of an entry.
    pub(super) fn row(&self, entry: u32) -> Option<&PageRow> {
        let at = entry as usize;
        let rows = self.rows();
        rows.get(at).or_else(|| self.gone.get(at.checked_sub(rows.len())?))
    }

    /// Its path.
    pub(super) fn path(&self, entry: u32) -> &str {
        self.row(entry).map_or("", |row| row.path.as_str())
    }

    /// Its numbers.
    pub(super) fn figures(&self, entry: u32) -> Option<Figures<'_>> {
        let counts = &self.row(entry)?.counts;
        let is_gone = entry as usize >= self.rows().len();
        let before = |place: u32| self.before()?.rows.get(place as usize).map(|row| &row.counts);
        let then = match self.then.get(entry as usize) {
            None => Then::Uncompared,
            Some(&NEW) => Then::New,
            Some(&UNKNOWN) => Then::Unknown,
            Some(&place) => match before(place) {
                Some(counts) if is_gone => Then::Gone(counts),
                Some(counts) => Then::Counts(counts),
                None => Then::Unknown,
            },
        };
        Some(Figures { counts, then })
    }

    /// The entry of a path.
    pub(super) fn find(&self, path: &str) -> Option<u32> {
        let at = self.by_path.binary_search_by(|entry| compare_paths(self.path(*entry), path)).ok()?;
        self.by_path.get(at).copied()
    }

    /// All entries in the order of their paths.
    pub(super) fn by_path(&self) -> &[u32] {
        &self.by_path
    }

    /// Place of an entry in the order of the paths.
    pub(super) fn place(&self, entry: u32) -> u32 {
        self.place.get(entry as usize).copied().unwrap_or(u32::MAX)
    }

    /// The report that is listed, if it is one.
    pub(super) fn report(&self) -> Option<&Arc<Report>> {
        match &self.source {
            Source::Report { now, .. } => Some(now),
            Source::Nothing | Source::Answer(_) => None,
        }
    }

    /// The report that it is compared with.
    pub(super) fn before(&self) -> Option<&Arc<Report>> {
        match &self.source {
            Source::Report { before, .. } => before.as_ref(),
            Source::Nothing | Source::Answer(_) => None,
        }
    }

    /// Sums over all rows.
    pub(super) fn sums(&self) -> Sums {
        self.sums
    }

    /// How many rows have no total that could be summed.
    pub(super) fn unread(&self) -> usize {
        self.unread
    }
}

/// Finds the pages of `now` among those of `before`, by entry, and the pages that are gone.
fn join(now: &Report, before: &Report) -> (Vec<u32>, Vec<PageRow>) {
    let absent = if before.complete { NEW } else { UNKNOWN };
    let mut then = vec![absent; now.rows.len()];
    let mut gone = Vec::new();
    let mut gone_then = Vec::new();
    let places: HashMap<&str, usize> =
        now.rows.iter().enumerate().map(|(place, row)| (row.path.as_str(), place)).collect();
    for (place, row) in before.rows.iter().enumerate() {
        match places.get(row.path.as_str()).and_then(|at| then.get_mut(*at)) {
            Some(kept) => *kept = short(place),
            // What is absent from a report that is not whole may be on one of the answers that are not loaded.
            None if now.complete => {
                gone.push(PageRow { path: row.path.clone(), counts: Counts::default() });
                gone_then.push(short(place));
            }
            None => {}
        }
    }
    then.extend(gone_then);
    (then, gone)
}
