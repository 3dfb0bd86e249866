//! Movers: what gained and what lost, side by side where there is room, else one above the other.

use super::table::change_text;
use super::totals::{lengths, overlap};
use crate::app::format::{count, number, plural};
use crate::app::views::movers::{Half, Mover, Movers};
use crate::app::views::table::Change;
use crate::ui::text::{Row, fit, fit_end, left, right};
use crate::ui::{View, boxed, put};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// Cells of a change in percent.
const PERCENT: usize = 10;

pub(in crate::ui) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &Movers, area: Rect) {
    let theme = view.theme;
    let width = usize::from(area.width);
    boxed(frame, area, title(view, open, width.saturating_sub(2)), theme.focus);
    let g = view.app.geometry();
    let rows = g.movers_rows();
    let [upper, lower] = g.movers_halves();
    half(frame, view, ("gained", &open.gained, !open.on_lost), rows.0, upper);
    half(frame, view, ("lost", &open.lost, open.on_lost), rows.1, lower);
    if open.odd > 0 && width > 40 {
        let text = format!(" {} left out: no counts ", plural(open.odd, "page"));
        let cells = u16::try_from(text.chars().count()).unwrap_or(0).min(area.width.saturating_sub(4));
        let spot = Rect::new(area.x + 2, area.bottom().saturating_sub(1), cells, 1);
        frame.render_widget(Line::styled(text, theme.warning), spot);
    }
}

/// What is held against what, as far as that has room, and what makes that unfair.
fn title<'a>(view: View<'_>, open: &Movers, width: usize) -> Line<'a> {
    let theme = view.theme;
    let [before, now] = open.ranges();
    let partial = now.contains(view.now.date_naive()).then(|| "today partial".to_owned());
    let unfair = [lengths(now, before, width < 60), overlap(now, before), partial];
    let unfair: Vec<String> = unfair.into_iter().flatten().map(|text| format!(", {text}")).collect();
    let cells = |text: &str| text.chars().count();
    let by = format!(" Movers by {}", open.by.word());
    let whole = format!("{by}: {now} against {before}");
    let needed = unfair.iter().map(|text| cells(text)).sum::<usize>() + 1;
    let mut row = Row::new(width);
    row.push(if cells(&whole) + needed > width { by } else { whole }, theme.title);
    for text in unfair {
        if cells(&text) < row.room() {
            row.push(text, theme.warning);
        }
    }
    row.push(" ", theme.title);
    row.line()
}

fn half(frame: &mut Frame<'_>, view: View<'_>, (name, half, has_keys): (&str, &Half, bool), rows: usize, area: Rect) {
    let theme = view.theme;
    let width = usize::from(area.width);
    let columns = Columns::fitting(half, width);
    put(frame, area, 0, columns.head(view, (name, half, has_keys), rows));
    if half.is_empty() {
        put(frame, area, 1, Line::styled(format!("   No page {name} views."), theme.muted));
    }
    for (n, (mover, selected)) in half.visible(rows).enumerate() {
        put(frame, area, n + 1, columns.row(view, mover, selected && has_keys));
    }
}

/// Widths at the present width.
struct Columns {
    path: usize,
    number: usize,
    /// Whether the two numbers stand there, too.
    numbers: bool,
    width: usize,
}

impl Columns {
    fn fitting(half: &Half, width: usize) -> Self {
        let largest = half.largest();
        let number = number(largest).len().max(6) + 2;
        let numbers = width >= 58;
        let rest = 2 + number + PERCENT + if numbers { 2 * number + 2 } else { 0 };
        Self { path: width.saturating_sub(rest), number, numbers, width }
    }

    fn head<'a>(&self, view: View<'_>, (name, half, has_keys): (&str, &Half, bool), rows: usize) -> Line<'a> {
        let theme = view.theme;
        let mut row = Row::new(self.width);
        let style = if has_keys { theme.mark } else { theme.muted };
        let more = match half.hidden_below(rows) {
            0 => String::new(),
            n => format!(", {} more below", count(n)),
        };
        let title = format!("{name} {}", count(half.len()));
        let more = if title.len() + more.len() < self.path { more } else { String::new() };
        let title = format!("{title}{more}");
        row.push(if has_keys { "▌" } else { " " }, theme.mark).push(left(&fit(&title, self.path), self.path), style);
        if self.numbers {
            row.push(right("before", self.number), theme.muted).push("  ", theme.muted);
            row.push(right("now", self.number), theme.muted);
        }
        row.push(right("Δ", self.number), theme.muted).push(right("Δ%", PERCENT), theme.muted);
        row.line()
    }

    fn row<'a>(&self, view: View<'_>, mover: &Mover, selected: bool) -> Line<'a> {
        let theme = view.theme;
        let text = if selected { theme.selected } else { theme.text };
        let mut row = Row::new(self.width);
        row.push(if selected { "▌" } else { " " }, theme.mark);
        row.push(left(&fit_end(mover.path.as_str(), self.path.saturating_sub(1)), self.path), text);
        // A page that is not listed is new or gone; it did not have 0 views as others may.
        let told = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), number);
        if self.numbers {
            row.push(right(&told(mover.before), self.number), text).push(" →", theme.muted);
            row.push(right(&told(mover.now), self.number), text);
        }
        let delta = mover.delta();
        let sign = if delta > 0 { "+" } else { "" };
        row.push(right(&format!("{sign}{}", number(delta)), self.number), text);
        row.push(right(&percent(mover), PERCENT), theme.muted);
        row.line()
    }
}

fn percent(mover: &Mover) -> String {
    match (mover.before, mover.now) {
        (None, _) => "new".to_owned(),
        (_, None) => "gone".to_owned(),
        (Some(0), _) => "from 0".to_owned(),
        (Some(before), Some(now)) => change_text(Change::Of { now, before }),
    }
}
