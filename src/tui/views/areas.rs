//! Where the parts of the page views screen are. Drawing, paging and clicking use these areas.

use super::super::App;
use super::trend::chart::AXIS_ROWS;
use ratatui::layout::Rect;

/// The minimum height of the area below the header at which blank rows separate its parts.
const MIN_ROWS_WITH_BLANKS: u16 = 20;

/// The possible heights of the trend above the table. Each pair is the minimum height of the area below the header, and
/// the height of the bars in such an area, both in rows. If the area has fewer rows than the last minimum, there is no
/// trend.
const BAR_ROWS_BY_MIN_HEIGHT: [(u16, u16); 2] = [(46, 12), (34, 8)];

/// What is above the table on a screen that is high enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AboveTable {
    Nothing,
    /// One line: how to load the days of the trend.
    TrendNote,
    Trend,
}

/// The areas of the page views screen, from the top to the bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewsAreas {
    /// The current date range and the names of other ranges.
    pub range: Rect,
    /// The site's numbers.
    pub totals: Rect,
    /// The line that shows how old the listed rows are, or the progress of loading all pages.
    pub status: Rect,
    /// The trend, or the line about how to load its days; empty if there is neither.
    pub trend: Rect,
    pub headings: Rect,
    /// The lines of the table, one per page or folder.
    pub lines: Rect,
    /// The horizontal line below the table, with the text about which pages are listed.
    pub lower_rule_row: Rect,
}

impl ViewsAreas {
    /// Divides the area below the header.
    pub fn new(body: Rect, above_table: AboveTable) -> Self {
        let gap = u16::from(body.height >= MIN_ROWS_WITH_BLANKS);
        let rows = BAR_ROWS_BY_MIN_HEIGHT.into_iter().find(|(min, _)| body.height >= *min).map(|(_, rows)| rows);
        let (gap, trend, trend_gap) = match (above_table, rows) {
            (AboveTable::Trend, Some(rows)) => (gap, rows + AXIS_ROWS, 1),
            (AboveTable::TrendNote, Some(_)) => (0, 1, gap),
            _ => (gap, 0, 0),
        };
        let mut y = body.y;
        let mut take = |height: u16| {
            let area = Rect { y, height: height.min(body.bottom() - y), ..body };
            y = area.bottom();
            area
        };
        let [range, totals, status, _, trend, _, headings] = [1, 1, 1, gap, trend, trend_gap, 1].map(&mut take);
        let lines = take(body.bottom().saturating_sub(headings.bottom() + 1));
        Self { range, totals, status, trend, headings, lines, lower_rule_row: take(1) }
    }
}

impl App {
    pub(in crate::tui) fn views_areas(&self) -> ViewsAreas {
        ViewsAreas::new(self.geometry().body, self.views.above_table())
    }

    /// Whether the trend is drawn above the table of pages.
    pub(in crate::tui) fn shows_trend_above_table(&self) -> bool {
        self.views.above_table() == AboveTable::Trend && self.views_areas().trend.height > 0
    }

    pub(in crate::tui) fn visible_table_rows(&self) -> usize {
        usize::from(self.views_areas().lines.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::geometry::{PaneConstraints, compute_layout};

    #[test]
    fn the_trend_gets_rows_only_if_the_screen_is_high_enough() {
        use AboveTable::{Nothing, Trend, TrendNote};
        let areas = |rows, above_table| {
            ViewsAreas::new(compute_layout((120, rows), PaneConstraints::default()).body, above_table)
        };
        let trend = [35, 36, 47, 48, 60].map(|rows| areas(rows, Trend).trend.height);
        assert_eq!(trend, [0, 10, 10, 14, 14], "with the axis and its labels");
        assert_eq!([35, 36, 48].map(|rows| areas(rows, TrendNote).trend.height), [0, 1, 1]);
        let lines = [Nothing, TrendNote, Trend].map(|above_table| areas(48, above_table).lines.height);
        assert_eq!(lines, [40, 39, 25], "the chart is followed by a blank row");
        assert_eq!([12, 24].map(|rows| areas(rows, Trend).lines.height), [5, 16]);
    }
}
