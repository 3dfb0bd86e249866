//! The table of pages: columns for the present width, one line a page.

use super::{count_text, mark};
use crate::app::format::number;
use crate::model::views::{Count, PageRow};
use crate::ui::text::{Row, fit_end, left, right};
use crate::ui::{View, bars};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Widths of the columns at the present width.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    rank: usize,
    path: usize,
    number: usize,
    /// Whether human and AI have columns of their own.
    split: bool,
    bar: usize,
    width: usize,
}

const SHARE: usize = 6;

impl Columns {
    pub(super) fn fitting(view: View<'_>, width: usize) -> Self {
        let longest = view.app.views.rows().iter().flat_map(|row| {
            [&row.counts.human, &row.counts.ai, &row.counts.total].map(|count| count_text(count).chars().count())
        });
        let number = longest.max().unwrap_or(0).clamp(6, 14) + 1;
        let split = width >= 70;
        let rank = if width >= 60 { 6 } else { 0 };
        let fixed = rank + number * if split { 3 } else { 1 } + SHARE + 3;
        let room = width.saturating_sub(fixed + 2);
        let bar = (room * 2 / 5).clamp(6, 60);
        Self { rank, path: room.saturating_sub(bar), number, split, bar, width }
    }

    pub(super) fn heads<'a>(&self, view: View<'_>) -> Line<'a> {
        let theme = view.theme;
        let mut row = Row::new(self.width);
        if self.rank > 0 {
            row.push(right("#", self.rank - 2), theme.muted).push("  ", theme.muted);
        } else {
            row.push(" ", theme.muted);
        }
        row.push(left("path", self.path), theme.muted);
        if self.split {
            row.push(right("human", self.number), theme.human).push(right("AI", self.number), theme.ai);
        }
        row.push(right("total", self.number), theme.muted).push(right("AI %", SHARE), theme.muted);
        let full = whole_number(view.app.views.scale());
        row.push("   ", theme.muted).push(bars::scale(&full, self.bar), theme.muted);
        row.line()
    }

    pub(super) fn row<'a>(&self, view: View<'_>, offset: u64, n: usize, page: &PageRow) -> Line<'a> {
        let View { app, theme, .. } = view;
        let selected = app.views.table.selected() == n;
        let stale = !app.views.is_current();
        let text = match (selected, stale) {
            (true, _) => theme.selected,
            (false, true) => theme.muted,
            (false, false) => theme.text,
        };
        let mut row = Row::new(self.width);
        row.push(if selected { "▌" } else { " " }, theme.mark);
        if self.rank > 0 {
            // The service's order, not a rank: not all rows are known.
            let place = offset.saturating_add(u64::try_from(n).unwrap_or(0)).saturating_add(1);
            row.push(right(&number(place), self.rank - 3), theme.muted).push("  ", theme.text);
        }
        row.push(left(&fit_end(page.path.as_str(), self.path.saturating_sub(1)), self.path), text);
        let mut cell = |count: &Count, style: Style| {
            row.push(right(&count_text(count), self.number), style);
        };
        if self.split {
            cell(&page.counts.human, text);
            cell(&page.counts.ai, text);
        }
        cell(&page.counts.total, text);
        let share = page.counts.ai_share().map_or_else(|| "–".to_owned(), |share| format!("{:.0}%", share * 100.0));
        row.push(right(&share, SHARE), theme.muted);
        row.push(left(mark(&page.counts), 3), theme.warning);
        for Span { content, style, .. } in bars::stacked(&page.counts, app.views.scale(), self.bar, theme) {
            row.push(content, style);
        }
        row.line()
    }
}

fn whole_number(n: f64) -> String {
    let digits = format!("{n:.0}");
    digits.parse::<i128>().map(number).unwrap_or(digits)
}
