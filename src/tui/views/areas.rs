//! Where the parts of the page views screen are. Drawing, paging and clicking use these areas.

use crate::tui::geometry::{Geometry, row_capacity};
use ratatui::layout::Rect;

/// The number of rows above the page views: range, status, totals, changes, column headings.
const VIEWS_HEAD_ROWS: u16 = 5;

impl Geometry {
    /// Returns the row above the page views that shows the current date range and the names of other ranges.
    pub fn views_range(&self) -> Rect {
        Rect { height: self.body.height.min(1), ..self.body }
    }

    /// Returns the row with the column headings of the page views.
    pub fn views_headings(&self) -> Rect {
        Rect { y: self.body.y + VIEWS_HEAD_ROWS - 1, height: 1, ..self.body }
    }

    /// Returns the area of the page views, between the column headings and the position line.
    pub fn views_lines(&self) -> Rect {
        let height = self.body.height.saturating_sub(VIEWS_HEAD_ROWS + 1);
        Rect { y: self.body.y + VIEWS_HEAD_ROWS, height, ..self.body }
    }

    pub fn views_rows(&self) -> usize {
        row_capacity(self.views_lines())
    }
}
