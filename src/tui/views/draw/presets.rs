//! Draws the rule above the page views: the range, the filter, and the names of the presets.

use crate::tui::draw::list_title::filter_spans;
use crate::tui::draw::rules::draw_rule;
use crate::tui::geometry::title_area;
use crate::tui::view::View;
use crate::tui::views::draw::position_line::page_count;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// The minimum number of cells for the filter beside the range. Without these, it takes the place of the range.
const MIN_FILTER_CELLS: usize = 20;

pub(in crate::tui) fn draw_range_rule(frame: &mut Frame<'_>, view: View<'_>, row: Rect) {
    let View { app, theme, now } = view;
    let (range, mut names) = app.range_line(usize::from(row.width), now);
    let mut title = Line::styled(range, theme.title);
    let is_filtered = app.filter_input().is_some() || app.views.table.is_filtered();
    if is_filtered {
        let cells = usize::from(title_area(row).width);
        let count = if app.views.table.is_report() { page_count(view) } else { Vec::new() };
        let count_cells = count.iter().map(Span::width).sum::<usize>() + 2;
        let space = |title: &Line<'_>| match title.width() {
            0 => cells.saturating_sub(count_cells),
            width => cells.saturating_sub(width + 2 + count_cells),
        };
        if space(&title) < MIN_FILTER_CELLS {
            title = Line::default();
        }
        if let Some(filter) = filter_spans(view, space(&title)) {
            let gap = || Span::raw("  ");
            if title.width() > 0 {
                title.push_span(gap());
            }
            let count = count.into_iter().filter(|span| !span.content.is_empty());
            title.extend(filter.into_iter().chain([gap()]).chain(count));
        }
        // The filter takes precedence over the names.
        let names_cells = names.iter().map(|name| name.text.width() + 1).sum::<usize>() + 2;
        if title.width() + names_cells > cells {
            names.clear();
        }
    }
    let mut right = Line::default();
    for (n, name) in names.into_iter().enumerate() {
        let style = if name.is_current { theme.mark } else { theme.muted };
        right.push_span(Span::raw(if n == 0 { "" } else { " " }));
        right.push_span(Span::styled(name.text, style));
    }
    draw_rule(frame, view, row, title, right);
}
