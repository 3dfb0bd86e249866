//! Draws the movers: the pages that gained views and the pages that lost views, side by side if they fit, otherwise one
//! list above the other.

use super::{Mover, Movers, MoversHalf, MoversLayout};
use crate::model::comparison::ViewsChange;
use crate::model::views::ViewCount;
use crate::tui::draw::text::{TextRow, fit, fit_from_end, left, right};
use crate::tui::draw::{View, draw_box, draw_line, draw_more_below, hidden_lines_text};
use crate::tui::format::{format_count, format_views, plural};
use crate::tui::views::draw::table::change_cell;
use crate::tui::views::draw::totals::overlap_warning;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// Width of the text at the right of the lower border that shows how many pages are hidden. At most 250 pages are
/// listed, so the text is short.
const HIDDEN_PAGES_CELLS: usize = 16;
/// Width of a change in percent.
const PERCENT_CELLS: usize = 10;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &Movers) {
    let theme = view.theme;
    let MoversLayout { area, halves: [upper, lower] } = MoversLayout::of(view.app.geometry());
    let width = usize::from(area.width);
    draw_box(frame, area, movers_title(view, open, width.saturating_sub(2)), theme.focus);
    let halves = [("up", &open.gained, !open.is_lost_half_focused), ("down", &open.lost, open.is_lost_half_focused)];
    for (part, lines) in halves.into_iter().zip([upper, lower]) {
        let rows = usize::from(lines.height).saturating_sub(1);
        let hidden = part.1.list.hidden_below(rows);
        // The upper half has no border below it, so its head shows how many pages are hidden.
        let is_framed = lines.bottom() + 1 == area.bottom();
        draw_half(frame, view, part, (rows, if is_framed { 0 } else { hidden }), lines);
        if is_framed {
            draw_more_below(frame, view, Rect { width: lines.width + 1, height: lines.height + 1, ..lines }, hidden);
        }
    }
    if open.pages_without_counts > 0 && width > 40 {
        let text = format!(" {} left out: no counts ", plural(open.pages_without_counts, "page"));
        let text = fit(&text, usize::from(lower.width).saturating_sub(HIDDEN_PAGES_CELLS));
        let cells = u16::try_from(text.chars().count()).unwrap_or(0);
        let spot = Rect::new(area.x + 2, area.bottom().saturating_sub(1), cells, 1);
        frame.render_widget(Line::styled(text, theme.warning), spot);
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
        format!(" Top movers: {metric}, {}", open.label()),
        format!(" Top movers: {metric}, {}", ranges.dates()),
        format!(" {metric}: {}", ranges.dates()),
    ];
    let needed = unfair.iter().map(|text| text.width()).sum::<usize>() + 1;
    // Without the days the numbers mean nothing, so a form with the days is used even if it leaves no space for
    // warnings.
    let form = forms
        .iter()
        .find(|form| form.width() + needed <= width)
        .or_else(|| forms.iter().find(|form| form.width() < width));
    let mut row = TextRow::new(width);
    row.push(form.cloned().unwrap_or_else(|| format!(" {metric}")), theme.title);
    for text in unfair {
        if text.width() < row.remaining() {
            row.push(text, theme.warning);
        }
    }
    row.push(" ", theme.title);
    row.line()
}

fn draw_half(
    frame: &mut Frame<'_>,
    view: View<'_>,
    part: (&str, &MoversHalf, bool),
    (rows, hidden): (usize, usize),
    area: Rect,
) {
    let theme = view.theme;
    let (name, half, has_keys) = part;
    let width = usize::from(area.width);
    let columns = MoverColumns::fitting(half, width);
    draw_line(frame, area, 0, columns.head(view, part, hidden));
    if half.is_empty() {
        draw_line(frame, area, 1, Line::styled(format!("   No page is {name}."), theme.muted));
    }
    for (n, (mover, selected)) in half.visible(rows).enumerate() {
        draw_line(frame, area, n + 1, columns.row(view, mover, selected && has_keys));
    }
}

/// The widths of the columns.
struct MoverColumns {
    path: usize,
    number: usize,
    /// Whether the two compared numbers are shown beside their difference.
    shows_both_numbers: bool,
    width: usize,
}

impl MoverColumns {
    fn fitting(half: &MoversHalf, width: usize) -> Self {
        let number = half.numbers().map(|count| format_views(count).len()).fold(6, usize::max) + 2;
        let shows_both_numbers = width >= 58;
        let rest = 2 + number + PERCENT_CELLS + if shows_both_numbers { 2 * number + 2 } else { 0 };
        Self { path: width.saturating_sub(rest), number, shows_both_numbers, width }
    }

    fn head<'a>(&self, view: View<'_>, (name, half, has_keys): (&str, &MoversHalf, bool), hidden: usize) -> Line<'a> {
        let theme = view.theme;
        let mut row = TextRow::new(self.width);
        let style = if has_keys { theme.mark } else { theme.muted };
        let more = if hidden > 0 { format!(", {}", hidden_lines_text(hidden)) } else { String::new() };
        let all = format_count(half.page_count());
        let capped =
            if half.len() < half.page_count() { format!(": top {} of {all}", half.len()) } else { format!(" {all}") };
        let forms = [format!("{name}{capped}{more}"), format!("{name}{capped}"), format!("{name} {all}")];
        row.push(if has_keys { "▌" } else { " " }, theme.mark);
        // The head of the first number column is short, so the title uses the rest of that column's width.
        let first = if self.shows_both_numbers { "before" } else { "Δ" };
        let spare = self.number.saturating_sub(first.width() + 1);
        let space = self.path + spare;
        let title = forms.iter().find(|form| form.width() <= space).map_or("", String::as_str);
        row.push(left(title, space), style);
        row.push(right(first, self.number - spare), theme.muted);
        if self.shows_both_numbers {
            row.push("  ", theme.muted).push(right("now", self.number), theme.muted);
            row.push(right("Δ", self.number), theme.muted);
        }
        row.push(right("Δ%", PERCENT_CELLS), theme.muted);
        row.line()
    }

    fn row<'a>(&self, view: View<'_>, mover: &Mover, selected: bool) -> Line<'a> {
        let theme = view.theme;
        let text = if selected { theme.selected } else { theme.text };
        let mut row = TextRow::new(self.width);
        row.push(if selected { "▌" } else { " " }, theme.mark);
        row.push(left(&fit_from_end(mover.path.as_str(), self.path.saturating_sub(1)), self.path), text);
        // A page that is not listed in a range is new or gone, which is not the same as 0 views.
        let text_of = |n: Option<ViewCount>| n.map_or_else(|| "–".to_owned(), format_views);
        if self.shows_both_numbers {
            row.push(right(&text_of(mover.before), self.number), text).push(" →", theme.muted);
            row.push(right(&text_of(mover.now), self.number), text);
        }
        let delta = mover.delta();
        let sign = if delta > ViewCount::ZERO { "+" } else { "" };
        row.push(right(&format!("{sign}{}", format_views(delta)), self.number), text);
        row.push(right(&mover_change(mover), PERCENT_CELLS), theme.muted);
        row.line()
    }
}

fn mover_change(mover: &Mover) -> String {
    match (mover.before, mover.now) {
        (None, _) => "new".to_owned(),
        (_, None) => "gone".to_owned(),
        (Some(before), _) if before.is_zero() => "from 0".to_owned(),
        (Some(before), Some(now)) => change_cell(ViewsChange::InBoth { now, before }),
    }
}
