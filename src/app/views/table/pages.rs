//! The pages that there are to list, with those of the range that is compared with found beside them. Worked out once
//! when the source changes.

use super::RowSource;
use super::comparison::{ComparisonBaseline, PageMetrics};
use super::order::compare_paths;
use crate::model::comparison::Comparison;
use crate::model::report::{Report, Sums};
use crate::model::views::{Counts, PageRow};
use std::collections::HashMap;
use std::sync::Arc;

/// No place in a report: it doesn't have the page.
const ABSENT: u32 = u32::MAX;

/// Places of a page in the two reports that are compared.
#[derive(Debug, Clone, Copy)]
struct PageIndexes {
    now: u32,
    before: u32,
}

/// The pages by their entry: the source's rows in its order, then the pages that only a compared report has.
#[derive(Debug, Default)]
pub(super) struct PageData {
    source: RowSource,
    /// The pages that the source doesn't have. Their numbers are missing, since there are none.
    absent: Vec<PageRow>,
    /// By entry; empty if nothing is compared.
    places: Vec<PageIndexes>,
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

impl PageData {
    /// The rows of the source, in its order.
    pub(super) fn rows(&self) -> &[PageRow] {
        match &self.source {
            RowSource::Nothing => &[],
            RowSource::Answer(rows) => rows,
            RowSource::Report { shown, .. } => &shown.rows,
        }
    }

    /// Takes another source in.
    pub(super) fn replace(&mut self, source: RowSource) {
        let same = match (&self.source, &source) {
            (RowSource::Report { shown: old, .. }, RowSource::Report { shown: new, .. }) => Arc::ptr_eq(old, new),
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
        (self.places, self.absent) = match &self.source {
            RowSource::Report { shown, comparison: Some(comparison) } => join(shown, comparison),
            _ => Default::default(),
        };
        self.merge_absent(rows);
        self.place = vec![0; self.by_path.len()];
        for (place, entry) in self.by_path.iter().enumerate() {
            if let Some(kept) = self.place.get_mut(*entry as usize) {
                *kept = short(place);
            }
        }
    }

    /// Puts the pages that the source doesn't have among the others, in the order of their paths.
    fn merge_absent(&mut self, rows: usize) {
        let mut absent: Vec<u32> = (0..self.absent.len()).map(|n| short(rows + n)).collect();
        if absent.is_empty() {
            return;
        }
        absent.sort_unstable_by(|a, b| compare_paths(self.path(*a), self.path(*b)));
        let mut merged = Vec::with_capacity(self.by_path.len() + absent.len());
        let mut absent = absent.into_iter().peekable();
        for entry in &self.by_path {
            while let Some(other) = absent.next_if(|other| compare_paths(self.path(*other), self.path(*entry)).is_lt())
            {
                merged.push(other);
            }
            merged.push(*entry);
        }
        merged.extend(absent);
        self.by_path = merged;
    }

    /// Number of entries, pages that the source doesn't have included.
    pub(super) fn len(&self) -> usize {
        self.by_path.len()
    }

    /// Number of pages that the source doesn't have.
    pub(super) fn absent(&self) -> usize {
        self.absent.len()
    }

    /// The page of an entry.
    pub(super) fn row(&self, entry: u32) -> Option<&PageRow> {
        let at = entry as usize;
        let rows = self.rows();
        rows.get(at).or_else(|| self.absent.get(at.checked_sub(rows.len())?))
    }

    /// Its path.
    pub(super) fn path(&self, entry: u32) -> &str {
        self.row(entry).map_or("", |row| row.path.as_str())
    }

    /// Its numbers.
    pub(super) fn figures(&self, entry: u32) -> Option<PageMetrics<'_>> {
        let counts = &self.row(entry)?.counts;
        let is_listed = (entry as usize) < self.rows().len();
        let (Some(comparison), Some(places)) = (self.comparison(), self.places.get(entry as usize)) else {
            return Some(PageMetrics::of(counts, ComparisonBaseline::Uncompared));
        };
        let (now, before) = (&comparison.now, &comparison.before);
        let of_now = now.rows.get(places.now as usize).map(|row| &row.counts);
        let of_before = before.rows.get(places.before as usize).map(|row| &row.counts);
        let then = match (of_now, of_before) {
            (Some(_), Some(before)) => ComparisonBaseline::Counts(before),
            (Some(_), None) if before.complete => ComparisonBaseline::New,
            (None, Some(before)) if now.complete => ComparisonBaseline::Gone(before),
            (None, None) if now.complete && before.complete => ComparisonBaseline::Neither,
            _ => ComparisonBaseline::Unknown,
        };
        let ranges = Some(comparison.ranges());
        Some(PageMetrics { counts, is_listed, compared: of_now.unwrap_or(counts), then, ranges })
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
            RowSource::Report { shown, .. } => Some(shown),
            RowSource::Nothing | RowSource::Answer(_) => None,
        }
    }

    /// The reports that are compared.
    pub(super) fn comparison(&self) -> Option<&Comparison> {
        match &self.source {
            RowSource::Report { comparison, .. } => comparison.as_ref(),
            RowSource::Nothing | RowSource::Answer(_) => None,
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

/// Finds the pages of the compared reports among those of the listed one, by entry, and the pages that it doesn't have.
fn join(shown: &Arc<Report>, comparison: &Comparison) -> (Vec<PageIndexes>, Vec<PageRow>) {
    let nowhere = PageIndexes { now: ABSENT, before: ABSENT };
    let mut places = vec![nowhere; shown.rows.len()];
    let mut absent = Vec::new();
    let mut entries: HashMap<&str, usize> =
        shown.rows.iter().enumerate().map(|(entry, row)| (row.path.as_str(), entry)).collect();
    for (report, is_now) in [(&comparison.now, true), (&comparison.before, false)] {
        for (place, row) in report.rows.iter().enumerate() {
            let is_same = Arc::ptr_eq(report, shown);
            let known = if is_same { Some(place) } else { entries.get(row.path.as_str()).copied() };
            let entry = match known {
                Some(entry) => entry,
                // It may be on one of the answers that are not loaded.
                None if !shown.complete => continue,
                None => {
                    absent.push(PageRow { path: row.path.clone(), counts: Counts::default() });
                    places.push(nowhere);
                    entries.insert(row.path.as_str(), places.len() - 1);
                    places.len() - 1
                }
            };
            if let Some(kept) = places.get_mut(entry) {
                *(if is_now { &mut kept.now } else { &mut kept.before }) = short(place);
            }
        }
    }
    (places, absent)
}
