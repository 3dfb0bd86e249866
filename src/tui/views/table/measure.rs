//! Computes widths, scale, ranks and counts over all lines when the lines change, so that drawing stays fast.

use super::metric::{BarScale, Metric};
use super::pages::to_u32;
use super::tree::TreeItem;
use super::{ComparisonBaseline, PageColumn, PageTable};
use crate::model::views::{Count, Counts, DecimalCount};
use crate::tui::format;
use unicode_width::UnicodeWidthStr;

/// Widths, scale and counts over all lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    /// Width of the longest count of each metric, with thousands separators, in the order of [`Metric::ALL`].
    count_widths: [usize; Metric::ALL.len()],
    pub scale: BarScale,
    /// Number of pages that pass the filter, including pages that only a compared report has.
    pub passing_count: usize,
    /// Number of pages that pass the filter and that only a compared report has.
    pub compared_only_count: usize,
    /// Number of pages that pass the filter and are gone.
    pub gone_count: usize,
    /// The largest absolute change in views, if the pages are sorted by a change in views; otherwise 0.
    pub largest_change: DecimalCount,
    /// Number of marked pages that pass the filter.
    pub marked_count: usize,
    /// Share of the site's views that the rows of the report cover, 0 to 1; `None` if the share is unknown.
    pub loaded_share: Option<f64>,
}

impl Default for Measures {
    fn default() -> Self {
        let scale = BarScale::Linear(DecimalCount::ONE);
        let largest_change = DecimalCount::ZERO;
        Self {
            count_widths: [0; Metric::ALL.len()],
            scale,
            passing_count: 0,
            compared_only_count: 0,
            gone_count: 0,
            largest_change,
            marked_count: 0,
            loaded_share: None,
        }
    }
}

/// Returns the width of a count as it is shown: with thousands separators if it is valid.
fn count_width(count: &Count) -> usize {
    match count {
        Count::Known(n) => {
            let digits = n.unsigned_abs().checked_ilog10().map_or(1, |log| log as usize + 1);
            digits + (digits - 1) / 3 + usize::from(*n < 0)
        }
        Count::Other(text) => text.as_str().width(),
        Count::NonInteger(_) | Count::Missing => format::count_text(count).len(),
    }
}

/// The metrics of views, which come first in [`Metric::ALL`].
const VIEW_METRICS: &[Metric] = &[Metric::Human, Metric::Ai, Metric::Total, Metric::Share];

impl Measures {
    fn widen_columns_for(&mut self, counts: &Counts, extra_width: usize) {
        // Usually no visitors are loaded. The metrics of visitors are then skipped.
        let metrics = if counts.visitors.is_some() { Metric::ALL.as_slice() } else { VIEW_METRICS };
        for (widest, metric) in self.count_widths.iter_mut().zip(metrics) {
            *widest = metric.count(counts).map_or(0, |count| count_width(count) + extra_width).max(*widest);
        }
    }

    /// Returns the width of the longest count of this metric; for the share, of the longest total.
    pub fn width_of(&self, metric: Metric) -> usize {
        let counted = if metric == Metric::Share { Metric::Total } else { metric };
        let at = Metric::ALL.iter().position(|known| *known == counted);
        at.and_then(|at| self.count_widths.get(at)).copied().unwrap_or(0)
    }
}

impl PageTable {
    /// Recomputes the measures over all lines.
    pub(super) fn measure(&mut self) {
        let mut measures = Measures::default();
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
            // A page that is gone shows its previous numbers in parentheses.
            measures.widen_columns_for(figures.counts_shown(), if figures.is_listed { 0 } else { 2 });
            if let Some(metric) = sorted_change {
                let change = figures.change(metric).difference().unwrap_or_default();
                measures.largest_change = measures.largest_change.max(change.abs());
            }
        }
        measures.scale = self.bar_scale();
        let (rows, is_compared) = (self.rows().len(), self.comparison().is_some());
        for (entry, _) in self.passes_filter.iter().enumerate().filter(|(_, passes)| **passes) {
            measures.passing_count += 1;
            measures.compared_only_count += usize::from(entry >= rows);
            let figures = if is_compared { self.pages.metrics(to_u32(entry)) } else { None };
            measures.gone_count +=
                usize::from(figures.is_some_and(|figures| matches!(figures.baseline, ComparisonBaseline::Gone(_))));
            measures.marked_count += usize::from(self.marks.is_marked(to_u32(entry)));
        }
        measures.loaded_share = self.loaded_share();
        self.measures = measures;
    }

    /// Returns the scale of the bars. It covers all rows, also those that the filter hides, so that bars keep their
    /// lengths while a filter is typed.
    fn bar_scale(&self) -> BarScale {
        let metric = self.metric();
        let counts = self.rows().iter().map(|row| &row.counts).chain(self.folders.iter().map(|folder| &folder.counts));
        let longest = counts.filter_map(|counts| metric.bar_length(counts)).max();
        let end = BarScale::rounded_end_for(longest.unwrap_or_default());
        match (metric, self.has_log_scale()) {
            (Metric::Share, _) => BarScale::Share,
            (_, false) => BarScale::Linear(end),
            (_, true) => BarScale::Log(end),
        }
    }

    fn loaded_share(&self) -> Option<f64> {
        let total = self.report()?.totals.total.value().filter(|total| !total.is_zero())?;
        Some(self.sums().total.ratio_to(total).min(1.0))
    }

    /// Ranks all pages by the metric, if all of them are loaded. Pages with equal numbers share a rank.
    pub(super) fn rank_all(&mut self) {
        self.ranks.clear();
        if !self.report().is_some_and(|report| report.complete) {
            return;
        }
        let (rows, metric) = (self.rows(), self.metric());
        let number = |row: &crate::model::views::PageRow| metric.value_sort_key(&row.counts);
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
