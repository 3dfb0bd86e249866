//! The trend of a page: its views per day of the range, or per week of a long range, from what is cached about it. The
//! days that are missing can be loaded, after a question that shows the cost.

use super::super::range_totals::{MIN_DAYS_FOR_WEEKLY_BARS, RangeTotals};
use super::super::trend::TrendDialog;
use super::super::trend::chart::AXIS_ROWS;
use super::PageDetail;
use crate::model::Time;
use crate::model::impact::PageHistory;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::views::{Count, Counts, DEFAULT_PAGE_SIZE};
use crate::tui::component::prelude::*;
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::format::plural;

/// The height of the bars for each minimum height of the dialog, both in rows: a dialog of at least 44 rows has bars of
/// 12 rows. A dialog with fewer rows than the last minimum has no trend.
const BAR_ROWS_BY_MIN_HEIGHT: [(usize, usize); 3] = [(44, 12), (34, 8), (18, 6)];

/// Returns the number of rows of the trend with its axis in a dialog of `rows`; 0 if it would not fit.
pub(super) fn chart_rows(rows: usize) -> usize {
    let chart = BAR_ROWS_BY_MIN_HEIGHT.into_iter().find(|(min, _)| rows >= *min);
    chart.map_or(0, |(_, chart)| chart + usize::from(AXIS_ROWS))
}

/// Returns the days for which the history has to show whether the page had views: the days of the range and of the
/// previous range. Returns no days for a range that is shown by week, because only weeks in which the page is listed
/// are shown.
pub(super) fn days_to_read(range: DateRange) -> Vec<DateRange> {
    if range.days() >= MIN_DAYS_FOR_WEEKLY_BARS {
        return Vec::new();
    }
    [Some(range), range.step(-1)].into_iter().flatten().flat_map(DateRange::single_days).collect()
}

/// Returns the page's views in all cached ranges.
pub(super) fn totals_of(history: &PageHistory) -> RangeTotals {
    let mut totals = RangeTotals::default();
    let none = || Counts::new(Count::Known(0), Count::Known(0), Count::Known(0));
    let days = history.days_without_views.iter();
    totals.by_range.extend(days.map(|day| (day.value, Timed { value: none(), as_of: day.as_of })));
    totals.by_range.extend(history.periods.iter().map(|period| (period.range, period.views.clone())));
    totals
}

impl PageDetail {
    /// Whether the range has a trend. A single day has none.
    pub(super) fn has_trend(&self) -> bool {
        self.numbers.range.days() > 1
    }

    /// Whether the views of at least one day or week of the trend are known.
    pub(super) fn has_known_bars(&self) -> bool {
        TrendDialog::new(self.numbers.range).bars(&self.totals).any(|bar| bar.totals.is_some())
    }

    /// Whether a day or week of the trend is missing or outdated.
    pub(super) fn has_missing_days(&self, now: Time) -> bool {
        !TrendDialog::new(self.numbers.range).missing_ranges(&self.totals, now).is_empty()
    }

    /// Whether one request per missing day is enough. The response contains only the most viewed pages, so one request
    /// is enough only if this page is one of them. It is not enough for a day whose totals are loaded and fresh: that
    /// day was already requested in this way, and the response did not contain the page.
    pub(super) fn is_one_request_per_day_enough(&self, app: &App, missing: &[DateRange], now: Time) -> bool {
        let is_top = app.views.rows().iter().take(DEFAULT_PAGE_SIZE as usize).any(|row| row.path == self.path);
        let is_new = |day: &DateRange| {
            day.days() == 1 && app.views.totals.get(*day).is_none_or(|known| !day.is_fresh(known.as_of, now))
        };
        is_top && missing.iter().all(is_new)
    }

    pub(super) fn ask_to_load_missing_days(&self, cx: &mut Cx<'_>) {
        if !self.has_trend() {
            return cx.notify(Severity::Info, "A single day has no trend.");
        }
        let trend = TrendDialog::new(self.numbers.range);
        let mut missing = trend.missing_ranges(&self.totals, cx.now);
        let left = cx.app.view_requests_left();
        if missing.is_empty() {
            return cx.notify(Severity::Info, &format!("Every {} is loaded and up to date.", trend.unit()));
        }
        if cx.app.views.totals.pending_count() > 0 {
            return cx.notify(Severity::Info, "Already loading.");
        }
        if !self.is_one_request_per_day_enough(cx.app, &missing, cx.now) {
            return cx.app.ask_to_load(missing, cx.now, cx.effects);
        }
        if left == 0 {
            return cx.app.notify_no_requests_left(cx.now);
        }
        missing.truncate(left as usize);
        let days = plural(missing.len(), "day");
        let text = format!(
            "Load the {DEFAULT_PAGE_SIZE} most viewed pages of {days} for the trend of {}? Uses {} ({left} left this \
             hour).",
            self.path,
            plural(missing.len(), "request")
        );
        cx.open(ConfirmDialog { text, on_yes: ConfirmAction::LoadTotals(missing) });
    }
}
