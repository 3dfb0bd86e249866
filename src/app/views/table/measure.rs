//! What is worked out over all lines once they change, so that drawing needn't: widths, the scale, ranks, counts.

use super::metric::{Metric, Scale};
use super::pages::short;
use super::tree::TreeItem;
use super::{ComparisonBaseline, PageColumn, PageTable};
use crate::app::format;
use crate::model::views::{Count, Counts, ViewCount};
use unicode_width::UnicodeWidthStr;

/// Widths, scale and counts over all lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    /// Cells of the longest human, AI and total number, thousands apart.
    pub human: usize,
    pub ai: usize,
    pub total: usize,
    pub scale: Scale,
    /// Pages that pass the filter, those included that only a compared report has.
    pub passing: usize,
    /// Those of them that only a compared report has.
    pub absent: usize,
    /// Those of them that are gone.
    pub gone: usize,
    /// The largest change, gained or lost, if the pages are sorted by it.
    pub largest_change: ViewCount,
    /// Marked pages that pass the filter.
    pub marked: usize,
    /// Share of the site's views that the rows of the report hold, 0 to 1; none where it is not known.
    pub loaded: Option<f64>,
}

impl Default for Measures {
    fn default() -> Self {
        let scale = Scale::Linear(ViewCount::ONE);
        let largest_change = ViewCount::ZERO;
        Self {
            human: 0,
            ai: 0,
            total: 0,
            scale,
            passing: 0,
            absent: 0,
            gone: 0,
            largest_change,
            marked: 0,
            loaded: None,
        }
    }
}

/// Cells of a number with its thousands apart; of what is no number as it is shown.
fn cells(count: &Count) -> usize {
    match count {
        Count::Known(n) => {
            let digits = n.unsigned_abs().checked_ilog10().map_or(1, |log| log as usize + 1);
            digits + (digits - 1) / 3 + usize::from(*n < 0)
        }
        Count::Odd(text) => text.as_str().width(),
        Count::Fraction(_) | Count::Missing => format::views_or_received(count).len(),
    }
}

impl Measures {
    fn take(&mut self, counts: &Counts, extra: usize) {
        self.human = self.human.max(cells(&counts.human) + extra);
        self.ai = self.ai.max(cells(&counts.ai) + extra);
        self.total = self.total.max(cells(&counts.total) + extra);
    }

    /// Cells of the longest number of this metric.
    pub fn cells(&self, metric: Metric) -> usize {
        match metric {
            Metric::Human => self.human,
            Metric::Ai => self.ai,
            Metric::Total | Metric::Share => self.total,
        }
    }
}

impl PageTable {
    /// Works out what holds over all lines.
    pub(super) fn measure(&mut self) {
        let mut measures = Measures::default();
        let mut longest = ViewCount::ZERO;
        let sorted_change = match self.sorting().by {
            PageColumn::Change(metric) if metric != Metric::Share => Some(metric),
            _ => None,
        };
        for line in &self.lines {
            let figures = match line.what {
                TreeItem::Page(entry) => self.pages.figures(entry),
                TreeItem::Folder(at) => self.folders.get(at as usize).map(super::Folder::figures),
            };
            let Some(figures) = figures else { continue };
            // Numbers of the range before stand in brackets.
            measures.take(figures.counts_shown(), if figures.is_listed { 0 } else { 2 });
            if let Some(metric) = sorted_change {
                let change = figures.change(metric).difference().unwrap_or_default();
                measures.largest_change = measures.largest_change.max(change.abs());
            }
            longest = longest.max(self.metric.length(figures.counts).unwrap_or_default());
        }
        measures.scale = match (self.metric, self.is_log()) {
            (Metric::Share, _) => Scale::Share,
            (_, false) => Scale::Linear(longest.max(ViewCount::ONE)),
            (_, true) => Scale::Log(longest.max(ViewCount::ONE)),
        };
        let (rows, is_compared) = (self.rows().len(), self.comparison().is_some());
        for (entry, _) in self.passing.iter().enumerate().filter(|(_, passes)| **passes) {
            measures.passing += 1;
            measures.absent += usize::from(entry >= rows);
            let figures = if is_compared { self.pages.figures(short(entry)) } else { None };
            measures.gone +=
                usize::from(figures.is_some_and(|figures| matches!(figures.then, ComparisonBaseline::Gone(_))));
            measures.marked += usize::from(self.marks.has(short(entry)));
        }
        measures.loaded = self.loaded_share();
        self.measures = measures;
    }

    fn loaded_share(&self) -> Option<f64> {
        let total = self.report()?.totals.total.value().filter(|total| !total.is_zero())?;
        Some(self.sums().total.ratio_to(total).min(1.0))
    }

    /// Works out the places by the metric, once all pages are there. Equal pages share a place.
    pub(super) fn rank_all(&mut self) {
        self.ranks.clear();
        if !self.report().is_some_and(|report| report.complete) {
            return;
        }
        let rows = self.rows();
        let number = |row: &crate::model::views::PageRow| self.metric.key(&row.counts);
        let mut numbers: Vec<(i128, u32)> =
            rows.iter().enumerate().filter_map(|(entry, row)| Some((number(row)?, short(entry)))).collect();
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        let mut ranks = vec![0; rows.len()];
        let (mut rank, mut last) = (0, None);
        for (place, (number, entry)) in numbers.into_iter().enumerate() {
            if last != Some(number) {
                (rank, last) = (short(place + 1), Some(number));
            }
            if let Some(kept) = ranks.get_mut(entry as usize) {
                *kept = rank;
            }
        }
        self.ranks = ranks;
    }
}
