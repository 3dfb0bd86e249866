//! Draws the movers: the pages that gained views and the pages that lost views, side by side if they fit, otherwise one
//! list above the other.

use super::{HEADING_ROWS, Metric, Mover, MoverMetric, Movers, MoversHalf, MoversLayout};
use crate::model::comparison::ComparedRanges;
use crate::model::job_state::SELECTED_SYMBOL;
use crate::model::views::DecimalCount;
use crate::tui::analytics::columns::MAX_TEXT_CELLS;
use crate::tui::draw::bars::{self, divided_bar};
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::rules::{DialogFrame, draw_separator};
use crate::tui::draw::text::{TextRow, selected_line, truncate_path};
use crate::tui::format::{format_views, more_below_text, plural};
use crate::tui::geometry::{title_area, without_top_rows};
use crate::tui::view::View;
use crate::tui::views::columns::PERCENT_CHANGE_WIDTH;
use crate::tui::views::draw::change::{ChangeWeight, larger_site_views};
use crate::tui::views::draw::table::{percent_change_text, signed_views};
use crate::tui::views::draw::totals::overlap_warning;
use crate::tui::views::range_line::short_range;
use crate::tui::widgets::table::{Column, Table, TableCell};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use std::ops::RangeInclusive;
use unicode_width::UnicodeWidthStr;

/// Minimum width of a half with the compared days as headings.
const MIN_WIDTH_WITH_DAYS: usize = 74;
/// Maximum width of the compared days as a heading.
const MAX_DAYS_HEADING_CELLS: usize = 16;
/// Minimum width of the paths. In a narrower half, the column of the earlier views is left out first, because readers
/// can calculate them from the current views and the difference.
const MIN_PATH_CELLS: usize = 26;
/// The minimum and the maximum width of a bar.
const BAR_CELLS: RangeInclusive<usize> = 8..=24;
/// The width that the columns other than the bars need. A bar gets half of the remaining width, within [`BAR_CELLS`].
const CELLS_BESIDE_BAR: usize = 60;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &Movers) {
    let g = view.app.geometry();
    let MoversLayout { halves: [upper, lower] } = MoversLayout::of(g);
    let title = movers_title(view, open, usize::from(title_area(g.upper_rule()).width));
    let has_bars = [(&open.gained, upper), (&open.lost, lower)]
        .iter()
        .any(|(half, area)| mover_table(half, open.ranges(), view, usize::from(area.width)).has(MoverColumn::Bar));
    let lower_left = match open.pages_without_counts {
        0 if has_bars => legend_line(view, open.metric),
        0 => Line::default(),
        pages => Line::styled(format!("{} left out: no counts", plural(pages, "page")), view.theme.warning),
    };
    DialogFrame { title, lower_left, ..DialogFrame::default() }.draw(frame, view, open);
    if upper.y == lower.y {
        draw_separator(frame, view, Rect { x: upper.right(), width: 1, ..upper });
    }
    let (gained, lost) = (MoverDirection::INCREASE, MoverDirection::DECREASE);
    let halves = [(gained, &open.gained, !open.is_lost_half_focused), (lost, &open.lost, open.is_lost_half_focused)];
    // Both halves have one scale, so that their bars can be compared.
    let largest = open.gained.largest_change().max(open.lost.largest_change());
    for (part, area) in halves.into_iter().zip([upper, lower]) {
        draw_half(frame, view, (open.ranges(), open.metric, largest), part, area);
    }
}

/// Returns what the symbols of the bars mean.
fn legend_line<'a>(view: View<'_>, metric: MoverMetric) -> Line<'a> {
    let theme = view.theme;
    let (human, ai) = (bars::symbol_and_style(Metric::Human, theme), bars::symbol_and_style(Metric::Ai, theme));
    let entry = |(symbol, style), name| [Span::styled(symbol, style), Span::styled(name, theme.muted)];
    match metric {
        MoverMetric::Human => Line::from_iter(entry(human, " human")),
        MoverMetric::Ai => Line::from_iter(entry(ai, " AI")),
        MoverMetric::Total => Line::from_iter(entry(human, " human  ").into_iter().chain(entry(ai, " AI"))),
    }
}

/// The direction of the changes in a half, and the texts of the half.
#[derive(Debug, Clone, Copy)]
struct MoverDirection {
    title: &'static str,
    empty_text: &'static str,
}

impl MoverDirection {
    const INCREASE: Self = Self { title: "Largest increases", empty_text: "No page has more views than before." };
    const DECREASE: Self = Self { title: "Largest decreases", empty_text: "No page has fewer views than before." };
}

/// Returns the title: what is compared, in the longest form that fits, and warnings about what makes the comparison
/// unfair. The days matter more than the warnings.
fn movers_title<'a>(view: View<'_>, open: &Movers, width: usize) -> Line<'a> {
    let theme = view.theme;
    let ranges = open.ranges();
    let unloaded = open.is_partial().then(|| "not all pages loaded".to_owned());
    let unfair = [unloaded, overlap_warning(ranges.current, ranges.previous)];
    let unfair: Vec<String> = unfair.into_iter().flatten().map(|text| format!(", {text}")).collect();
    let metric = format!("{} views", open.metric.name());
    let forms = [
        format!("Largest changes: {metric}, {}", open.label()),
        format!("Largest changes: {metric}, {}", ranges.dates_text()),
        format!("{metric}: {}", ranges.dates_text()),
    ];
    let needed = unfair.iter().map(|text| text.width()).sum::<usize>();
    // Without the days the numbers mean nothing, so a form with the days is used even if it leaves no space for
    // warnings.
    let form = forms
        .iter()
        .find(|form| form.width() + needed <= width)
        .or_else(|| forms.iter().find(|form| form.width() <= width));
    let mut row = TextRow::new(width);
    row.push(form.cloned().unwrap_or(metric), theme.focus);
    for text in unfair {
        if text.width() <= row.remaining_cells() {
            row.push(text, theme.warning);
        }
    }
    row.line()
}

fn draw_half(
    frame: &mut Frame<'_>,
    view: View<'_>,
    (ranges, metric, largest): (ComparedRanges, MoverMetric, DecimalCount),
    (direction, half, has_focus): (MoverDirection, &MoversHalf, bool),
    area: Rect,
) {
    let theme = view.theme;
    let lines = without_top_rows(area, HEADING_ROWS);
    let rows = usize::from(lines.height);
    draw_line(frame, area, 0, half_title(view, (direction, half, has_focus), rows, usize::from(area.width)));
    let table = mover_table(half, ranges, view, usize::from(area.width));
    draw_line(frame, area, 1, table.headings(theme.muted));
    if half.is_empty() {
        draw_line(frame, lines, 0, Line::styled(format!(" {}", direction.empty_text), theme.muted));
    }
    for (n, (mover, is_selected)) in half.visible(rows).enumerate() {
        let is_selected = is_selected && has_focus;
        let line =
            table.line(|column, width| mover_cell(view, *column, (mover, is_selected), (metric, largest), width));
        draw_line(frame, lines, n, if is_selected { selected_line(line, theme) } else { line });
    }
}

/// Returns the title of a half: the number of its pages, how many of them are listed, and how many follow below the
/// visible ones. Leaves out the parts that don't fit.
fn half_title<'a>(
    view: View<'_>,
    (direction, half, has_focus): (MoverDirection, &MoversHalf, bool),
    rows: usize,
    width: usize,
) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    row.push(" ", theme.text).push(direction.title, if has_focus { theme.mark } else { theme.title });
    let all = plural(half.page_count(), "page");
    let is_cut = half.len() < half.page_count();
    let of = format!("{} of {all}", half.len());
    let forms = if is_cut { [format!("  first {of}"), format!("  {of}")] } else { [format!("  {all}"), String::new()] };
    if let Some(listed) = forms.into_iter().find(|form| form.width() < row.remaining_cells() && !half.is_empty()) {
        row.push(listed, theme.muted);
    }
    let more = more_below_text(half.list.hidden_below(rows));
    // For the half with the focus, the lower rule shows how many pages follow.
    if !has_focus && more.width() + 2 < row.remaining_cells() {
        row.pad_to(width - more.width() - 1).push(more, theme.muted);
    }
    row.line()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MoverColumn {
    /// The mark of the selected row.
    SelectionMark,
    Page,
    Previous,
    Current,
    Difference,
    Change,
    Bar,
    /// A blank cell at the right.
    End,
}

fn mover_table(half: &MoversHalf, ranges: ComparedRanges, view: View<'_>, width: usize) -> Table<MoverColumn> {
    type C = Column<MoverColumn>;
    let number = half.view_counts().map(|count| format_views(count).len()).fold(7, usize::max) + 2;
    // Dates are better headings than “before” and “now”, if they are short.
    let heading = |range, name: &str| {
        let days = short_range(range, view.now);
        if days.width() <= MAX_DAYS_HEADING_CELLS && width >= MIN_WIDTH_WITH_DAYS { days } else { name.to_owned() }
    };
    let (previous, current) = (heading(ranges.previous, "before"), heading(ranges.current, "now"));
    let number_width = |heading: &str| number.max(heading.width() + 2);
    let bar = (width.saturating_sub(CELLS_BESIDE_BAR) / 2).clamp(*BAR_CELLS.start(), *BAR_CELLS.end());
    let columns = [
        C::left_aligned("", 1, MoverColumn::SelectionMark),
        C::flexible("page", MIN_PATH_CELLS, MoverColumn::Page).with_max_width(MAX_TEXT_CELLS),
        C::right_aligned(previous.clone(), number_width(&previous), MoverColumn::Previous).optional(3),
        C::right_aligned(current.clone(), number_width(&current), MoverColumn::Current).optional(1),
        C::right_aligned("difference", number.max(12), MoverColumn::Difference),
        C::right_aligned("change", PERCENT_CHANGE_WIDTH, MoverColumn::Change),
        C::left_aligned("", bar, MoverColumn::Bar).with_gap_before(2).optional(2),
        C::left_aligned("", 1, MoverColumn::End),
    ];
    Table::new(columns, width)
}

fn mover_cell<'a>(
    view: View<'_>,
    column: MoverColumn,
    (mover, is_selected): (&Mover, bool),
    (metric, largest): (MoverMetric, DecimalCount),
    width: usize,
) -> TableCell<'a> {
    let theme = view.theme;
    let change = mover.change();
    let weight = ChangeWeight::of(change, larger_site_views(view));
    match column {
        MoverColumn::SelectionMark => TableCell::new(if is_selected { SELECTED_SYMBOL } else { "" }, theme.mark),
        MoverColumn::Page => TableCell::new(truncate_path(mover.path.as_str(), width.saturating_sub(1)), theme.text),
        MoverColumn::Previous => TableCell::new(views_text(mover.previous), theme.muted),
        MoverColumn::Current => TableCell::new(views_text(mover.current), theme.text),
        MoverColumn::Difference => TableCell::new(signed_views(mover.delta()), theme.text),
        MoverColumn::Change => TableCell::new(percent_change_text(change), weight.style(change, theme)),
        MoverColumn::Bar => {
            let change = mover.delta().abs();
            let (human, ai) = match metric {
                MoverMetric::Human => (change, DecimalCount::ZERO),
                MoverMetric::Ai => (DecimalCount::ZERO, change),
                MoverMetric::Total => mover.human_and_ai_contributions,
            };
            TableCell::Spans(divided_bar((human, ai), change, largest, width, theme))
        }
        MoverColumn::End => TableCell::new("", theme.text),
    }
}

/// Formats the views of a page. A page that is not listed in a range is new or gone, which is not the same as 0 views.
fn views_text(views: Option<DecimalCount>) -> String {
    views.map_or_else(|| "–".to_owned(), format_views)
}
