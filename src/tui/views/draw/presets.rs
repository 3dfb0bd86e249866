//! Draws the horizontal rule above the page views: the tabs, the range, the filter, and the names of the presets.

use crate::tui::analytics::tab_names::tab_names;
use crate::tui::draw::list_title::filter_spans;
use crate::tui::draw::rules::draw_rule;
use crate::tui::geometry::title_area;
use crate::tui::view::View;
use crate::tui::views::draw::lower_rule::page_count_spans;
use crate::tui::views::range_line::{NAME_GAP, RangeName};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// The minimum number of cells for the filter beside the range. If fewer are left, the filter replaces the range.
const MIN_FILTER_CELLS: usize = 20;

pub(in crate::tui) fn draw_range_rule(frame: &mut Frame<'_>, view: View<'_>, row: Rect) {
    let View { app, theme, now, .. } = view;
    let (range, mut names) = app.range_line(usize::from(row.width), now);
    let is_filtered = app.filter_input().is_some() || app.views.table.is_filtered();
    let mut title = Line::from(tab_names(app.analytics.tab, view, row.width));
    let tabs = title.width();
    title.push_span(Span::styled(range, theme.title));
    if is_filtered {
        let cells = usize::from(title_area(row).width);
        let count = if app.views.table.lists_report() { page_count_spans(view) } else { Vec::new() };
        let count_cells = count.iter().map(Span::width).sum::<usize>() + 2;
        let space = |title: &Line<'_>| match title.width() {
            width if width == tabs => cells.saturating_sub(width + count_cells),
            width => cells.saturating_sub(width + 2 + count_cells),
        };
        if space(&title) < MIN_FILTER_CELLS {
            title.spans.pop();
        }
        if let Some(filter) = filter_spans(view, space(&title)) {
            let gap = || Span::raw("  ");
            if title.width() > tabs {
                title.push_span(gap());
            }
            let count = count.into_iter().filter(|span| !span.content.is_empty());
            title.extend(filter.into_iter().chain([gap()]).chain(count));
        }
        // The filter takes precedence over the names of the presets.
        let names_cells = names.iter().map(|name| name.text.width() + NAME_GAP).sum::<usize>() + 2;
        if title.width() + names_cells > cells {
            names.clear();
        }
    }
    draw_rule(frame, view, row, title, range_names_line(view, names));
}

/// Returns the names of ranges for the right end of the rule above the page views.
pub(in crate::tui) fn range_names_line<'a>(view: View<'_>, names: Vec<RangeName>) -> Line<'a> {
    let mut line = Line::default();
    for (n, name) in names.into_iter().enumerate() {
        let style = if name.is_current { view.theme.mark } else { view.theme.muted };
        line.push_span(Span::raw(" ".repeat(if n == 0 { 0 } else { NAME_GAP })));
        line.push_span(Span::styled(name.text, style));
    }
    line
}
