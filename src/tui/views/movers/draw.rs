//! Draws the movers: the pages that gained views and the pages that lost views, side by side if they fit, otherwise one
//! list above the other.

use super::{Mover, Movers, MoversHalf, MoversLayout};
use crate::model::views::ViewCount;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::rules::{DialogFrame, draw_separator};
use crate::tui::draw::text::{TextRow, truncate_path};
use crate::tui::format::{format_count, format_views, more_below_text, plural};
use crate::tui::geometry::title_area;
use crate::tui::view::View;
use crate::tui::views::columns::CHANGE_WIDTH;
use crate::tui::views::draw::change::{ChangeWeight, compared_site_views};
use crate::tui::views::draw::table::change_cell;
use crate::tui::views::draw::totals::overlap_warning;
use crate::tui::widgets::table::{Column, ListCell, ListRow, Table, TableCell};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &Movers) {
    let g = view.app.geometry();
    let MoversLayout { halves: [upper, lower] } = MoversLayout::of(g);
    let title = movers_title(view, open, usize::from(title_area(g.upper_rule()).width));
    let left_out = match open.pages_without_counts {
        0 => String::new(),
        pages => format!("{} left out: no counts", plural(pages, "page")),
    };
    let scope = Line::styled(left_out, view.theme.warning);
    DialogFrame { title, scope, ..DialogFrame::default() }.draw(frame, view, open);
    if upper.y == lower.y {
        draw_separator(frame, view, Rect { x: upper.right(), width: 1, ..upper });
    }
    let halves = [("up", &open.gained, !open.is_lost_half_focused), ("down", &open.lost, open.is_lost_half_focused)];
    for (part, lines) in halves.into_iter().zip([upper, lower]) {
        let rows = usize::from(lines.height).saturating_sub(1);
        let hidden = part.1.list.hidden_below(rows);
        draw_half(frame, view, part, (rows, hidden), lines);
    }
}

/// Returns the title: what is compared, in the longest form that fits, and warnings about what makes the comparison
/// unfair. The days matter more than the warnings.
fn movers_title<'a>(view: View<'_>, open: &Movers, width: usize) -> Line<'a> {
    let theme = view.theme;
    let ranges = open.ranges();
    let unloaded = open.is_partial().then(|| "not all pages loaded".to_owned());
    let unfair = [unloaded, overlap_warning(ranges.now, ranges.before)];
    let unfair: Vec<String> = unfair.into_iter().flatten().map(|text| format!(", {text}")).collect();
    let metric = open.metric.name();
    let forms = [
        format!("Movers: {metric}, {}", open.label()),
        format!("Movers: {metric}, {}", ranges.dates()),
        format!("{metric}: {}", ranges.dates()),
    ];
    let needed = unfair.iter().map(|text| text.width()).sum::<usize>();
    // Without the days the numbers mean nothing, so a form with the days is used even if it leaves no space for
    // warnings.
    let form = forms
        .iter()
        .find(|form| form.width() + needed <= width)
        .or_else(|| forms.iter().find(|form| form.width() <= width));
    let mut row = TextRow::new(width);
    row.push(form.cloned().unwrap_or_else(|| metric.to_owned()), theme.focus);
    for text in unfair {
        if text.width() <= row.remaining() {
            row.push(text, theme.warning);
        }
    }
    row.line()
}

fn draw_half(
    frame: &mut Frame<'_>,
    view: View<'_>,
    (name, half, has_keys): (&str, &MoversHalf, bool),
    (rows, hidden): (usize, usize),
    area: Rect,
) {
    let theme = view.theme;
    let mut table = mover_table(half, has_keys, view, usize::from(area.width));
    table.set_flexible_heading(|space| half_title(name, half, hidden, space));
    draw_line(frame, area, 0, table.headings(theme.muted));
    if half.is_empty() {
        draw_line(frame, area, 1, Line::styled(format!("  No page is {name}."), theme.muted));
    }
    for (n, (mover, is_selected)) in half.visible(rows).enumerate() {
        draw_line(frame, area, n + 1, table.row(view, mover, is_selected && has_keys));
    }
}

/// Returns the title of a half in the longest form that fits: its name and how many pages it has and lists.
fn half_title(name: &str, half: &MoversHalf, hidden: usize, width: usize) -> String {
    let more = if hidden > 0 { format!(", {}", more_below_text(hidden)) } else { String::new() };
    let all = format_count(half.page_count());
    let capped =
        if half.len() < half.page_count() { format!(": top {} of {all}", half.len()) } else { format!(" {all}") };
    let forms = [format!("{name}{capped}{more}"), format!("{name}{capped}"), format!("{name} {all}")];
    forms.into_iter().find(|form| form.width() <= width).unwrap_or_default()
}

fn mover_table(half: &MoversHalf, has_keys: bool, view: View<'_>, width: usize) -> Table<ListCell<Mover>> {
    type C = Column<ListCell<Mover>>;
    let theme = view.theme;
    let number = half.numbers().map(|count| format_views(count).len()).fold(7, usize::max) + 2;
    let columns = [
        C::left("", 1, |row, _| row.cursor()),
        C::flexible("", 20, |row, width| row.cell(truncate_path(row.item.path.as_str(), width.saturating_sub(1))))
            .with_heading_style(if has_keys { theme.mark } else { theme.title }),
        C::right("before", number, |row, _| row.muted(views_text(row.item.before))).optional(1),
        C::right("now", number, |row, _| row.cell(views_text(row.item.now))).optional(1),
        C::right("Δ", number, |row, _| row.cell(delta_text(row.item.delta()))),
        C::right("change ", CHANGE_WIDTH, change_in_percent),
    ];
    Table::new(columns, width)
}

fn change_in_percent<'a>(row: &ListRow<'a, Mover>, _width: usize) -> TableCell<'a> {
    let change = row.item.change();
    let weight = ChangeWeight::of(change, compared_site_views(row.view));
    TableCell::new(change_cell(change) + weight.sign(), weight.style(change, row.view.theme))
}

/// Formats the views of a page. A page that is not listed in a range is new or gone, which is not the same as 0 views.
fn views_text(views: Option<ViewCount>) -> String {
    views.map_or_else(|| "–".to_owned(), format_views)
}

fn delta_text(delta: ViewCount) -> String {
    format!("{}{}", if delta > ViewCount::ZERO { "+" } else { "" }, format_views(delta))
}
