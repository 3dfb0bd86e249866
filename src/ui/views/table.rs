//! The table of pages: columns for the present width, one line a page or folder.
//!
//! ```text
//!    #  path                    human        Δ       AI        Δ   AI %    total 0 ─────────── 13,430
//! ▌* 1  ▾ /api/ 12 pages        3,002   ▲ 4.1%    7,744    ▼ 12%    72%    █████▒▒▒▒▒▒▒▒▒▒▒▒▒▒
//!    2      create-job          9,120      new    4,310      new    32%    ████████████████▒▒▒▒▒▒▒▒
//! ```

use super::count_text;
use crate::app::format::{count, number, plural};
use crate::app::views::table::{Change, Column, Figures, Kind, Metric, Shown, Table, Then};
use crate::model::views::as_f64;
use crate::ui::text::{Row, fit, fit_end, left, right};
use crate::ui::{View, bars, put};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// Row of the column heads; the pages follow.
const HEADS: usize = 4;
const SHARE: usize = 6;
/// A change with its sign: ` ▲ <0.1%`.
const CHANGE: usize = 9;
/// Air before the bar.
const AIR: usize = 2;

/// Heads, pages, and what to say where there are none.
pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let table = &view.app.views.table;
    let columns = Columns::fitting(view, usize::from(area.width));
    put(frame, area, HEADS, columns.heads(view));
    for (n, shown) in table.visible(view.app.geometry().views_rows()).enumerate() {
        put(frame, area, HEADS + 1 + n, columns.row(view, &shown));
    }
    if table.is_empty() {
        let rows = view.app.geometry().views_rows().saturating_sub(1);
        for (n, text) in empty(view).into_iter().take(rows).enumerate() {
            let text = fit(&text, usize::from(area.width));
            put(frame, area, HEADS + 2 + n, Line::styled(text, view.theme.muted));
        }
    }
}

fn empty(view: View<'_>) -> Vec<String> {
    let views = &view.app.views;
    let table = &views.table;
    if table.is_filtered() && !table.rows().is_empty() {
        let none = format!("  None of the {} passes.", plural(table.rows().len(), "page"));
        let mut lines = vec![none, "  Esc clears the filter.".to_owned(), String::new()];
        lines.push("  words  !word  ai>50%  share<10%  human>1000  total<=1k".to_owned());
        if table.before().is_some() {
            lines.push("  Δ<-20%  Δhuman>100  Δai>5%  new  gone".to_owned());
        }
        return lines;
    }
    let beyond = !table.is_report() && views.load().shown().is_some_and(|shown| shown.value.query.page > 1);
    let text = if beyond { "  No rows on this page: ← goes back." } else { "  No page was viewed in this range." };
    vec![text.to_owned()]
}

/// One column of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Now(Metric),
    Change(Metric),
}

/// Widths of the columns at the present width.
#[derive(Debug)]
struct Columns {
    /// Digits of the largest place; 0 where places have no column.
    rank: usize,
    marks: bool,
    path: usize,
    /// With their widths.
    cells: Vec<(Cell, usize)>,
    /// The one of them with the sign on numbers that don't add up, by its place; else it stands before the bar.
    signed: Option<usize>,
    bar: usize,
    width: usize,
    /// Rows before the first one of an answer.
    offset: u64,
}

impl Columns {
    fn fitting(view: View<'_>, width: usize) -> Self {
        let views = &view.app.views;
        let table = &views.table;
        let offset = match views.load().shown() {
            Some(shown) if !table.is_report() => shown.value.query.offset(),
            _ => 0,
        };
        let rows = u64::try_from(table.rows().len()).unwrap_or(0);
        let rank = if width >= 60 { number(offset.saturating_add(rows)).len().max(2) } else { 0 };
        let mut columns = Self {
            rank,
            marks: rank > 0 || table.marked() > 0,
            path: 0,
            cells: Vec::new(),
            signed: None,
            bar: 0,
            width,
            offset,
        };
        // Numbers that would leave no path to read are cut, and say so.
        for most in [26, 14] {
            let shown = cells(table, width);
            // The sign on numbers that don't add up stands behind the last of them.
            columns.signed =
                shown.iter().rposition(|cell| matches!(cell, Cell::Now(metric) if *metric != Metric::Share));
            let with_width = |(n, cell): (usize, Cell)| {
                (cell, cell_width(cell, table, most) + usize::from(columns.signed == Some(n)))
            };
            columns.cells = shown.into_iter().enumerate().map(with_width).collect();
            let numbers: usize = columns.cells.iter().map(|(_, cells)| cells).sum();
            let room = width.saturating_sub(columns.lead() + numbers + AIR + 1);
            columns.bar = (room * 2 / 5).clamp(6, 60);
            columns.path = room.saturating_sub(columns.bar);
            if columns.path >= 16 {
                break;
            }
        }
        columns
    }

    /// Cells before the path: what is selected, what is marked, the place.
    fn lead(&self) -> usize {
        1 + usize::from(self.marks) + if self.rank > 0 { self.rank + 2 } else { 0 }
    }

    fn heads<'a>(&self, view: View<'_>) -> Line<'a> {
        let theme = view.theme;
        let table = &view.app.views.table;
        let sorting = table.is_report().then(|| table.sorting());
        let arrow = |column: Column| sorting.filter(|sorting| sorting.by == column).map(|sorting| sorting.arrow());
        let style = |column: Column, style: Style| if arrow(column).is_some() { theme.mark } else { style };
        let mut row = Row::new(self.width);
        let lead = self.lead();
        row.push(if self.rank > 0 { format!("{}  ", right("#", lead - 2)) } else { " ".repeat(lead) }, theme.muted);
        let mut path = format!("path{}", arrow(Column::Path).map(|arrow| format!(" {arrow}")).unwrap_or_default());
        // The places count by the metric, whatever the order.
        if self.rank > 0
            && table.report().is_some_and(|report| report.complete)
            && sorting.is_some_and(|sorting| sorting.by != Column::Now(table.metric()))
        {
            path = format!("{path}  (# by {})", table.metric().name());
        }
        row.push(left(&path, self.path), style(Column::Path, theme.muted));
        for (n, (cell, width)) in self.cells.iter().enumerate() {
            let (name, column, usual) = match *cell {
                Cell::Now(metric) => (metric.name(), Column::Now(metric), head_style(metric, view)),
                Cell::Change(metric) => ("Δ", Column::Change(metric), head_style(metric, view)),
            };
            let name = format!("{name}{}", arrow(column).unwrap_or_default());
            let sign = usize::from(self.signed == Some(n));
            row.push(right(&name, width - sign), style(column, usual)).push(" ".repeat(sign), theme.muted);
        }
        if table.is_empty() {
            return row.line();
        }
        row.push(" ".repeat(AIR), theme.muted);
        row.push(bars::scale(table.metric(), table.scale(), self.bar), theme.muted);
        row.line()
    }

    fn row<'a>(&self, view: View<'_>, shown: &Shown<'_>) -> Line<'a> {
        let View { app, theme, .. } = view;
        let table = &app.views.table;
        let selected = table.selected() == shown.at;
        let gone = matches!(shown.figures.then, Then::Gone(_));
        let text = match (selected, gone || is_stale(view)) {
            (true, _) => theme.selected,
            (false, true) => theme.muted,
            (false, false) => theme.text,
        };
        let mut row = Row::new(self.width);
        row.push(if selected { "▌" } else { " " }, theme.mark);
        if self.marks {
            row.push(if shown.marked { "*" } else { " " }, theme.mark);
        }
        if self.rank > 0 {
            let (place, style) = self.place(view, shown);
            row.push(right(&place, self.rank), style).push("  ", theme.text);
        }
        self.name(&mut row, view, shown, text);
        let mark = if shown.adds_up { " " } else { "≠" };
        for (n, (cell, width)) in self.cells.iter().enumerate() {
            let sign = usize::from(self.signed == Some(n));
            let width = width - sign;
            let (said, style) = cell_text(*cell, &shown.figures, view, text);
            // What is cut still stands apart from the column before.
            row.push(right(&fit(&said, width - 1), width), style);
            row.push(if sign > 0 { mark } else { "" }, theme.warning);
        }
        row.push(left(if self.signed.is_none() { mark } else { "" }, AIR), theme.warning);
        for Span { content, style, .. } in bars::of(&shown.figures, table.metric(), table.scale(), self.bar, theme) {
            row.push(content, if is_stale(view) { theme.muted } else { style });
        }
        row.line()
    }

    /// The place by the metric where all pages are known, else that in the service's order, which is no rank.
    fn place(&self, view: View<'_>, shown: &Shown<'_>) -> (String, Style) {
        let theme = view.theme;
        let table = &view.app.views.table;
        match shown.kind {
            Kind::Folder(_) => (String::new(), theme.muted),
            Kind::Page { rank: Some(rank), .. } => (number(rank), theme.text),
            Kind::Page { .. } if table.report().is_some_and(|report| report.complete) => ("–".to_owned(), theme.muted),
            Kind::Page { order, .. } => {
                let order = order.and_then(|order| u64::try_from(order).ok());
                let place = order.map(|order| self.offset.saturating_add(order).saturating_add(1));
                (place.map_or_else(|| "–".to_owned(), number), theme.muted)
            }
        }
    }

    /// The path, or in a tree what the folders around it don't say; with a folder its number of pages.
    fn name(&self, row: &mut Row<'_>, view: View<'_>, shown: &Shown<'_>, text: Style) {
        let indent = " ".repeat((shown.depth * 2).min(self.path / 2));
        let (sign, pages) = match shown.kind {
            Kind::Folder(folder) => (if folder.open { "▾ " } else { "▸ " }, format!(" {} pages", count(folder.pages))),
            Kind::Page { .. } if view.app.views.table.is_tree() => ("  ", String::new()),
            Kind::Page { .. } => ("", String::new()),
        };
        let pages = if self.path < 24 { String::new() } else { pages };
        let room = self.path.saturating_sub(indent.len() + sign.width() + pages.len() + 1);
        let name = fit_end(shown.name, room);
        let used = indent.len() + sign.width() + name.width() + pages.len();
        row.push(indent, text).push(sign, view.theme.key).push(name, text).push(pages, view.theme.muted);
        row.push(" ".repeat(self.path.saturating_sub(used)), text);
    }
}

/// The most telling columns for the width: all where there is room, at the least the one that is sorted by.
fn cells(table: &Table, width: usize) -> Vec<Cell> {
    let metric = table.metric();
    let sorted = match table.sorting().by {
        Column::Now(sorted) | Column::Change(sorted) if table.is_report() => sorted,
        _ => metric,
    };
    let of = |metrics: &[Metric], changes: &[Metric]| {
        let cells = Metric::ALL.map(|metric| [Cell::Now(metric), Cell::Change(metric)]).concat();
        let is_shown = |cell: &Cell| match cell {
            Cell::Now(metric) => metrics.contains(metric),
            Cell::Change(metric) => changes.contains(metric),
        };
        cells.into_iter().filter(is_shown).collect()
    };
    // Its change has a place where the share is what matters.
    let of_share = if [metric, sorted].contains(&Metric::Share) { Metric::Share } else { Metric::Ai };
    match (table.before().is_some(), width) {
        (false, 70..) => of(&Metric::ALL, &[]),
        (false, _) if metric != sorted => of(&[metric, sorted], &[]),
        (true, 160..) => of(&Metric::ALL, &Metric::ALL),
        (true, 120..) if sorted == Metric::Total => of(&Metric::ALL, &[Metric::Human, Metric::Ai, sorted, of_share]),
        (true, 120..) => of(&[Metric::Human, Metric::Ai, Metric::Share], &[Metric::Human, Metric::Ai, of_share]),
        (true, 60..) if metric != sorted => of(&[metric, sorted], &[sorted]),
        (true, ..60) => of(&[sorted], &[sorted]),
        // The share alone says nothing of how much was read.
        (compared, _) => {
            let other = if metric == Metric::Share { Metric::Total } else { Metric::Share };
            let changes = if compared { vec![sorted] } else { Vec::new() };
            of(&[metric, other], &changes)
        }
    }
}

/// Whether a column is shown at this width; its head then says which way it is sorted.
pub(super) fn has_column(table: &Table, width: usize, column: Column) -> bool {
    let cells = cells(table, width);
    match column {
        Column::Path => true,
        Column::Now(metric) => cells.contains(&Cell::Now(metric)),
        Column::Change(metric) => cells.contains(&Cell::Change(metric)),
    }
}

fn cell_width(cell: Cell, table: &Table, most: usize) -> usize {
    match cell {
        Cell::Change(_) => CHANGE,
        Cell::Now(Metric::Share) => SHARE,
        Cell::Now(metric) => table.measures().cells(metric).clamp(6, most) + 1,
    }
}

fn head_style(metric: Metric, view: View<'_>) -> Style {
    match metric {
        Metric::Human => view.theme.human,
        Metric::Ai => view.theme.ai,
        Metric::Total | Metric::Share => view.theme.muted,
    }
}

fn cell_text(cell: Cell, figures: &Figures<'_>, view: View<'_>, text: Style) -> (String, Style) {
    let theme = view.theme;
    let said = match cell {
        Cell::Change(metric) => {
            let said = match metric {
                Metric::Share => points_text(figures),
                metric => change_text(figures.change(metric)),
            };
            let style = match said.chars().next() {
                Some('▲') => theme.good,
                Some('▼') => theme.bad,
                _ => theme.muted,
            };
            return (said, style);
        }
        Cell::Now(Metric::Share) => {
            let share = figures.counts_shown().ai_share();
            share.map_or_else(|| "–".to_owned(), |share| format!("{:.0}%", share * 100.0))
        }
        Cell::Now(metric) => metric.count(figures.counts_shown()).map(count_text).unwrap_or_default(),
    };
    let style = if cell == Cell::Now(Metric::Share) { theme.muted } else { text };
    // Numbers of the range before stand in brackets.
    if matches!(figures.then, Then::Gone(_)) { (format!("({said})"), theme.muted) } else { (said, style) }
}

/// How a number of views changed, in at most 8 cells.
pub(super) fn change_text(change: Change) -> String {
    let (now, before) = match change {
        Change::Unknown => return "–".to_owned(),
        Change::New(_) => return "new".to_owned(),
        Change::Gone(_) => return "gone".to_owned(),
        Change::Of { now, before } if now == before => return "=".to_owned(),
        Change::Of { now, before } => (now, before),
    };
    let sign = if now > before { "▲" } else { "▼" };
    let Some(percent) = change.percent().map(f64::abs) else {
        return format!("{sign} +{}", bars::short(now));
    };
    match percent {
        ..0.05 => format!("{sign} <0.1%"),
        0.05..9.95 => format!("{sign} {percent:.1}%"),
        9.95..999.5 => format!("{sign} {percent:.0}%"),
        _ => format!("{sign} ×{:.0}", (as_f64(now) / as_f64(before)).min(99_999.0)),
    }
}

/// How the share of AI changed, in percentage points.
fn points_text(figures: &Figures<'_>) -> String {
    match (figures.then, figures.share_change()) {
        (Then::New, _) => "new".to_owned(),
        (Then::Gone(_), _) => "gone".to_owned(),
        (_, None) => "–".to_owned(),
        (_, Some(points)) if points.abs() < 0.05 => "=".to_owned(),
        (_, Some(points)) => {
            let sign = if points > 0.0 { "▲" } else { "▼" };
            if points.abs() < 9.95 {
                format!("{sign} {:.1}pp", points.abs())
            } else {
                format!("{sign} {:.0}pp", points.abs())
            }
        }
    }
}

/// Whether what is listed is not what is asked for.
fn is_stale(view: View<'_>) -> bool {
    !view.app.views.is_current()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_said_with_a_sign_in_little_room() {
        let of = |now: u64, before: u64| change_text(Change::Of { now, before });
        assert_eq!(of(1041, 1000), "▲ 4.1%");
        assert_eq!(of(80, 100), "▼ 20%");
        assert_eq!(of(0, 100), "▼ 100%");
        assert_eq!(of(10_000, 9_999), "▲ <0.1%");
        assert_eq!(of(12_000, 1000), "▲ ×12");
        assert_eq!(of(7, 7), "=");
        assert_eq!([of(12, 0), of(12_345, 0)], ["▲ +12", "▲ +12k"], "no percentage of nothing");
        assert_eq!([Change::New(3), Change::Gone(3), Change::Unknown].map(change_text), ["new", "gone", "–"]);
    }

    #[test]
    fn what_is_sorted_by_has_a_column_at_every_width_and_its_change_when_comparing() {
        use crate::model::period::DateRange;
        use crate::model::report::Report;
        use crate::model::views::ViewsPage;
        let range = DateRange::last_days(7, chrono::NaiveDate::default());
        let report =
            || std::sync::Arc::new(Report::begin(range, ViewsPage::default(), true, crate::model::Time::default()));
        let mut table = Table::default();
        for compared in [false, true] {
            table.show_report(report(), compared.then(report));
            for (sorted, metric) in
                Metric::ALL.into_iter().flat_map(|sorted| Metric::ALL.map(|metric| (sorted, metric)))
            {
                table.set_metric(metric);
                for width in [40, 60, 80, 120, 160] {
                    let mut orders = vec![Column::Now(sorted)];
                    orders.extend(compared.then_some(Column::Change(sorted)));
                    for by in orders {
                        table.sort(crate::app::views::table::Sorting::by(by));
                        let shown = cells(&table, width);
                        assert!(has_column(&table, width, by), "{by:?} of {metric:?} at {width}: {shown:?}");
                        assert!(!compared || shown.contains(&Cell::Change(sorted)), "{by:?} at {width}: {shown:?}");
                    }
                }
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn a_change_fits_its_column(now: u64, before: u64, small in 0_u64..2000) {
            for (now, before) in [(now, before), (small, before), (now, small), (small, 1), (small, 1000)] {
                if before > 0 || now < 1_000_000_000 {
                    let change = Change::Of { now, before };
                    proptest::prop_assert!(change_text(change).width() < CHANGE);
                }
            }
        }
    }
}
