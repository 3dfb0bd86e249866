//! Values computed over all lines when they change, so that drawing stays fast: widths, the scale, ranks, counts.

use super::metric::{BarScale, Metric};
use super::pages::to_u32;
use super::tree::TreeItem;
use super::{ComparisonBaseline, PageColumn, PageTable};
use crate::app::format;
use crate::model::views::{Count, Counts, ViewCount};
use unicode_width::UnicodeWidthStr;

/// Widths, scale and counts over all lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    /// Widths of the longest human, AI and total number, with thousands separators.
    pub human: usize,
    pub ai: usize,
    pub total: usize,
    pub scale: BarScale,
    /// Pages that pass the filter, including those that only a compared report has.
    pub passing: usize,
    /// Of these, the pages that only a compared report has.
    pub absent: usize,
    /// Of these, the pages that are gone.
    pub gone: usize,
    /// The largest absolute change, if the pages are sorted by it.
    pub largest_change: ViewCount,
    /// Marked pages that pass the filter.
    pub marked: usize,
    /// Share of the site's views that the rows of the report cover, 0 to 1; `None` if it is unknown.
    pub loaded: Option<f64>,
}

impl Default for Measures {
    fn default() -> Self {
        let scale = BarScale::Linear(ViewCount::ONE);
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

/// Width of a count with thousands separators; of an invalid one, as it is shown.
fn count_width(count: &Count) -> usize {
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
    fn include(&mut self, counts: &Counts, extra: usize) {
        self.human = self.human.max(count_width(&counts.human) + extra);
        self.ai = self.ai.max(count_width(&counts.ai) + extra);
        self.total = self.total.max(count_width(&counts.total) + extra);
    }

    /// Width of the longest number of this metric.
    pub fn cells(&self, metric: Metric) -> usize {
        match metric {
            Metric::Human => self.human,
            Metric::Ai => self.ai,
            Metric::Total | Metric::Share => self.total,
        }
    }
}

impl PageTable {
    /// Recomputes the measures.
    pub(super) fn measure(&mut self) {
        let mut measures = Measures::default();
        let mut longest = ViewCount::ZERO;
        let sorted_change = match self.sorting().by {
            PageColumn::Change(metric) if metric != Metric::Share => Some(metric),
            _ => None,
        };
        for line in &self.lines {
            let figures = match line.item {
                TreeItem::Page(entry) => self.pages.metrics(entry),
                TreeItem::Folder(at) => self.folders.get(at as usize).map(super::Folder::metrics),
            };
            let Some(figures) = figures else { continue };
            // Numbers of the previous range are shown in parentheses.
            measures.include(figures.counts_shown(), if figures.is_listed { 0 } else { 2 });
            if let Some(metric) = sorted_change {
                let change = figures.change(metric).difference().unwrap_or_default();
                measures.largest_change = measures.largest_change.max(change.abs());
            }
            longest = longest.max(self.metric.bar_length(figures.counts).unwrap_or_default());
        }
        measures.scale = match (self.metric, self.is_log()) {
            (Metric::Share, _) => BarScale::Share,
            (_, false) => BarScale::Linear(longest.max(ViewCount::ONE)),
            (_, true) => BarScale::Log(longest.max(ViewCount::ONE)),
        };
        let (rows, is_compared) = (self.rows().len(), self.comparison().is_some());
        for (entry, _) in self.passing.iter().enumerate().filter(|(_, passes)| **passes) {
            measures.passing += 1;
            measures.absent += usize::from(entry >= rows);
            let figures = if is_compared { self.pages.metrics(to_u32(entry)) } else { None };
            measures.gone +=
                usize::from(figures.is_some_and(|figures| matches!(figures.baseline, ComparisonBaseline::Gone(_))));
            measures.marked += usize::from(self.marks.has(to_u32(entry)));
        }
        measures.loaded = self.loaded_share();
        self.measures = measures;
    }

    fn loaded_share(&self) -> Option<f64> {
        let total = self.report()?.totals.total.value().filter(|total| !total.is_zero())?;
        Some(self.sums().total.ratio_to(total).min(1.0))
    }

    /// Ranks all pages by the metric, once all of them are loaded. Equal pages share a rank.
    pub(super) fn rank_all(&mut self) {
        self.ranks.clear();
        if !self.report().is_some_and(|report| report.complete) {
            return;
        }
        let rows = self.rows();
        let number = |row: &crate::model::views::PageRow| self.metric.key(&row.counts);
        let mut numbers: Vec<(i128, u32)> =
            rows.iter().enumerate().filter_map(|(entry, row)| Some((number(row)?, to_u32(entry)))).collect();
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        let mut ranks = vec![0; rows.len()];
        let (mut rank, mut last) = (0, None);
        for (index, (number, entry)) in numbers.into_iter().enumerate() {
            if last != Some(number) {
                (rank, last) = (to_u32(index + 1), Some(number));
            }
            if let Some(entry_rank) = ranks.get_mut(entry as usize) {
                *entry_rank = rank;
            }
        }
        self.ranks = ranks;
    }
}
