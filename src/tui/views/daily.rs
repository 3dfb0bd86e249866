//! The views of each page per day, from the cached pages of single days. A row of the table shows them as a sparkline.

use super::table::Metric;
use crate::model::period::DateRange;
use crate::model::report::Report;
use crate::model::views::DecimalCount;
use crate::tui::draw::bars::bar_cells;
use chrono::NaiveDate;
use std::collections::HashMap;

/// The symbols of a sparkline, the lowest first. The full block `█` is left out, because it would touch the row above.
const LEVELS: [&str; 7] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇"];
/// The symbols of a sparkline in a terminal that can't fill eighths of a cell.
const ASCII_LEVELS: [&str; 7] = ["_", ".", "-", "=", "+", "*", "#"];

/// Human and AI views of a page on one day.
type DayViews = (DecimalCount, DecimalCount);

#[derive(Debug)]
pub(in crate::tui) struct DailyViews {
    pub(super) range: DateRange,
    /// The days of the range for which a report is cached.
    days: Vec<NaiveDate>,
    /// The views of each page on each of `days`; `None` if the views are unknown.
    by_path: HashMap<String, Vec<Option<DayViews>>>,
}

impl DailyViews {
    /// The lengths, in days, of the ranges for which the reports of single days are read.
    pub(super) const RANGE_LENGTHS: std::ops::RangeInclusive<u32> = 2..=31;

    pub(super) fn new(range: DateRange, reports: &[Report]) -> Option<Self> {
        let mut by_path: HashMap<String, Vec<Option<DayViews>>> = HashMap::new();
        // A page that a complete report doesn't list had no views.
        let none = (DecimalCount::ZERO, DecimalCount::ZERO);
        let unlisted: Vec<Option<DayViews>> = reports.iter().map(|report| report.complete.then_some(none)).collect();
        for (at, report) in reports.iter().enumerate() {
            // If a report has several rows of one page, the first of them is the newest. The rows are read from the
            // last to the first, so that the newest row replaces the others.
            for row in report.rows.iter().rev() {
                let days = by_path.entry(row.path.to_string()).or_insert_with(|| unlisted.clone());
                if let Some(day) = days.get_mut(at) {
                    *day = row.counts.human.value().zip(row.counts.ai.value());
                }
            }
        }
        // A sparkline needs at least two days.
        by_path.retain(|_, days| days.iter().flatten().count() > 1);
        let days: Vec<NaiveDate> = reports.iter().map(|report| report.range.from()).collect();
        (!by_path.is_empty()).then_some(Self { range, days, by_path })
    }

    /// Returns one symbol per day of the range: the more views, the higher the symbol. A day with unknown views is
    /// blank. `None` if the views of the page are known on fewer than two days, or if `metric` counts visitors.
    pub(in crate::tui) fn sparkline(&self, path: &str, metric: Metric, has_eighth_blocks: bool) -> Option<String> {
        // The cached reports of single days contain no visitors.
        let views = self.by_path.get(path).filter(|_| !metric.counts_visitors())?;
        let value = |(human, ai): DayViews| match metric {
            Metric::Human => human,
            Metric::Ai => ai,
            _ => human + ai,
        };
        let most = views.iter().flatten().copied().map(value).max()?;
        let levels = if has_eighth_blocks { LEVELS } else { ASCII_LEVELS };
        let cell = |day: NaiveDate| {
            let at = self.days.iter().position(|known| *known == day)?;
            let views = value((*views.get(at)?)?);
            levels.get(bar_cells(views, most.as_f64(), levels.len()).saturating_sub(1)).copied()
        };
        let days = self.range.from().iter_days().take_while(|day| *day <= self.range.to());
        Some(days.map(|day| cell(day).unwrap_or(" ")).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::text::CleanText;
    use crate::model::views::{Count, Counts, PageRow, ViewsResponse};

    fn report(day: &str, rows: &[(&str, i64, i64)], complete: bool) -> Report {
        let day = day.parse().expect("a day");
        let rows = rows.iter().map(|(path, human, ai)| PageRow {
            path: CleanText::line(path),
            counts: Counts::new(Count::Known(*human), Count::Known(*ai), Count::Known(human + ai)),
        });
        let page = ViewsResponse { rows: rows.collect(), ..ViewsResponse::default() };
        Report::from_first_response(DateRange::last_days(1, day), page, complete, crate::model::Time::default())
    }

    #[test]
    fn a_sparkline_has_one_cell_per_day_and_a_blank_for_a_day_that_is_not_cached() {
        let range = DateRange::last_days(4, "2026-11-19".parse().expect("a day"));
        let reports = [
            report("2026-11-16", &[("/a", 80, 0), ("/b", 1, 0)], true),
            report("2026-11-18", &[("/a", 40, 40)], true),
            report("2026-11-19", &[("/a", 10, 0), ("/b", 0, 3)], true),
        ];
        let daily = DailyViews::new(range, &reports).expect("three days");
        let line = |path: &str, metric| daily.sparkline(path, metric, true);
        assert_eq!(line("/a", Metric::Total).as_deref(), Some("▇ ▇▁"));
        assert_eq!(line("/a", Metric::Human).as_deref(), Some("▇ ▃▁"));
        assert_eq!(line("/b", Metric::Total).as_deref(), Some("▂ ▁▇"), "a page that is not listed had no views");
        assert_eq!(daily.sparkline("/b", Metric::Ai, false).as_deref(), Some("_ _#"));
        assert_eq!(line("/c", Metric::Total), None);
        assert!(DailyViews::new(range, &reports[..1]).is_none(), "one day is no line");
        let partial = reports.map(|report| Report { complete: false, ..report });
        let daily = DailyViews::new(range, &partial).expect("three days");
        assert_eq!(daily.sparkline("/b", Metric::Total, true).as_deref(), Some("▂  ▇"), "it may have been viewed");
    }
}
