//! A range of one's own: months side by side, the line in which a range is typed, and what is chosen or wrong.
//!
//! ```text
//! ┌ A range to show ─────────────────────────────────────────────────┐
//! │       October 2026                       November 2026           │
//! │     Mo  Tu  We  Th  Fr  Sa  Su      Mo  Tu  We  Th  Fr  Sa  Su   │
//! │ 46                                  9   10  11  12  13 [14──15── │
//! │ 47                                 ─16──17──18──19─>20< –   –    │
//! │                                                                  │
//! │ type: 2026-11-01 2026-11-20                                      │
//! │ Fri 2026-11-20, today: Enter picks a first day                   │
//! ```

use crate::app::geometry::centered;
use crate::app::keymap::Before;
use crate::app::views::calendar::{Calendar, Choice, Focus, Purpose};
use crate::model::period::DateRange;
use crate::ui::text::{Row, fit, left, right};
use crate::ui::{View, boxed, put};
use chrono::{Datelike as _, Days, Months, NaiveDate};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};

/// Cells of a day: a sign, two digits, a sign.
const DAY: usize = 4;
/// Cells of the week's number and the blank behind it.
const WEEK: usize = 3;
/// Cells of a month, and of the gap between two.
const MONTH: usize = WEEK + 7 * DAY;
const GAP: usize = 2;
/// Rows of weeks that a month can have; the small layer shows five of them.
const WEEKS: usize = 6;
const FEW_WEEKS: usize = 5;
/// Rows in the borders: the months' names, the days' names, the weeks, a gap, the line, two for what there is to say.
const ROWS: u16 = 12;
/// Rows of the quick choices with a gap above.
const QUICK_ROWS: u16 = 5;
/// What can be typed; the longest one that fits is shown.
const EXAMPLES: [&str; 3] = ["2026-11-01 2026-11-20, 2026-10, 2026-q3, 7d", "2026-11-01 2026-11-20, 7d", "2026-10, 7d"];
const WEEKDAYS: [&str; 7] = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"];

/// How it is laid out in the room that is there.
#[derive(Debug, Clone, Copy)]
struct Layout {
    months: u32,
    /// Whether the months' names have a row of their own, and all weeks are shown.
    roomy: bool,
    /// Whether the quick choices have rows of their own.
    quick: bool,
    /// The days to highlight.
    span: Option<DateRange>,
}

/// The layer with the days to highlight.
type Picked<'a> = (&'a Calendar, Option<DateRange>);

pub(in crate::ui) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &Calendar, area: Rect) {
    let theme = view.theme;
    let fits = |n: usize| n * (MONTH + GAP) + 2 <= usize::from(area.width);
    let roomy = area.height >= ROWS + 2;
    let quick = open.purpose == Purpose::Compare && area.height >= ROWS + QUICK_ROWS + 2;
    let months = if fits(3) { 3 } else { 1 + u32::from(fits(2)) };
    let layout = Layout { months, roomy, quick, span: open.span() };
    let columns = usize::try_from(months).unwrap_or(1) * (MONTH + GAP) + 2;
    let width = u16::try_from(columns.max(62)).unwrap_or(u16::MAX);
    let place = centered(area, width, ROWS + 2 + if quick { QUICK_ROWS } else { 0 });
    let what = if open.purpose == Purpose::Show { "A range to show" } else { "Compare with" };
    let first = first_month(open, months);
    let title = if roomy { format!(" {what} ") } else { format!(" {what}: {} ", first.format("%B %Y")) };
    let inner = boxed(frame, place, Line::styled(title, theme.title), theme.focus);
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let lines = month_lines(view, open, first, layout);
    let after = lines.len();
    for (n, line) in lines.into_iter().enumerate() {
        put(frame, inner, n, line);
    }
    below(frame, view, open, layout, inner, after);
}

/// The line in which a range is typed, what there is to say, and the quick choices.
fn below(frame: &mut Frame<'_>, view: View<'_>, open: &Calendar, layout: Layout, inner: Rect, after: usize) {
    let theme = view.theme;
    let width = usize::from(inner.width);
    let gap = usize::from(layout.roomy);
    let typing = open.focus == Focus::Line;
    let label = if typing { "▌type: " } else { " type: " };
    let line = after + gap;
    put(frame, inner, line, Line::styled(label, if typing { theme.mark } else { theme.muted }));
    let at = |row: usize| u16::try_from(row).unwrap_or(u16::MAX).min(inner.height);
    let used = u16::try_from(label.chars().count()).unwrap_or(0).min(inner.width);
    let field = Rect { x: inner.x + used, y: inner.y + at(line), width: inner.width - used, height: 1 };
    let field = field.intersection(inner);
    if typing || !open.input.is_blank() {
        frame.render_widget(open.input.area(), field);
        if typing {
            crate::ui::cursor::type_at(frame, view, field);
        }
    } else {
        let room = usize::from(field.width);
        let example = EXAMPLES.iter().find(|example| example.len() <= room).copied().unwrap_or_default();
        frame.render_widget(Line::styled(example, theme.muted), field);
    }
    let (text, style) = match open.said() {
        Ok(said) if layout.roomy => (format!("{said}{}", open.hint()), theme.text),
        Ok(said) => (said, theme.text),
        Err(wrong) if layout.roomy => (format!("Not yet right: {wrong}."), theme.warning),
        Err(wrong) => (wrong, theme.warning),
    };
    let quick_here = open.purpose == Purpose::Compare && !layout.quick && open.choice() == Choice::Nothing;
    let said = Rect { y: inner.y + at(line + 1), height: inner.height.saturating_sub(at(line + 1)).min(2), ..inner };
    if quick_here {
        put(frame, said, 0, Line::styled(fit("b before  w week  m 4 weeks  y year", width), theme.key));
    } else if layout.roomy {
        frame.render_widget(Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true }), said);
    } else {
        put(frame, said, 0, Line::styled(fit(&text, width), style));
    }
    if layout.quick {
        for (n, before) in Before::ALL.into_iter().enumerate() {
            put(frame, inner, line + 4 + n, quick_line(view, open, before, width));
        }
    }
}

fn quick_line<'a>(view: View<'_>, open: &Calendar, before: Before, width: usize) -> Line<'a> {
    let name = match before {
        Before::Period => "the period before",
        Before::Week => "a week before",
        Before::FourWeeks => "four weeks before",
        Before::Year => "a year before",
    };
    let mut row = Row::new(width);
    row.push(before.key().to_string(), view.theme.key).push(format!("  {}", left(name, 20)), view.theme.text);
    let range = open.before(before).map(|range| range.to_string()).unwrap_or_default();
    row.push(range, view.theme.muted);
    row.line()
}

/// The first day of the first month in sight: what is chosen is in the middle, unless that would show the future.
fn first_month(open: &Calendar, months: u32) -> NaiveDate {
    let month = |day: NaiveDate| DateRange::month_of(day).from();
    let seen = month(open.seen());
    let middle = seen.checked_add_months(Months::new((months - 1) / 2)).unwrap_or(seen);
    let last = middle.min(month(open.today)).max(seen);
    last.checked_sub_months(Months::new(months - 1)).unwrap_or(last)
}

/// The months beside each other, line by line.
fn month_lines<'a>(view: View<'_>, open: &Calendar, first: NaiveDate, layout: Layout) -> Vec<Line<'a>> {
    let firsts: Vec<NaiveDate> = (0..layout.months).filter_map(|n| first.checked_add_months(Months::new(n))).collect();
    let width = firsts.len() * (MONTH + GAP);
    let theme = view.theme;
    let mut lines = Vec::new();
    if layout.roomy {
        let mut row = Row::new(width);
        for first in &firsts {
            let name = first.format("%B %Y").to_string();
            row.push(left(&format!("{}{name}", " ".repeat(WEEK + 1)), MONTH + GAP), theme.title);
        }
        lines.push(row.line());
    }
    let mut heads = Row::new(width);
    for _ in &firsts {
        heads.push(" ".repeat(WEEK), theme.muted);
        for day in WEEKDAYS {
            heads.push(format!(" {day} "), theme.muted);
        }
        heads.push(" ".repeat(GAP), theme.muted);
    }
    lines.push(heads.line());
    let weeks = if layout.roomy { WEEKS } else { FEW_WEEKS };
    // Where there is no room for a sixth week, the first one gives way once the chosen day is in it.
    let skipped = if week_of(open.seen()) >= weeks { 1 } else { 0 };
    for week in skipped..skipped + weeks {
        let mut row = Row::new(width);
        for first in &firsts {
            week_cells(&mut row, view, (open, layout.span), *first, week);
            row.push(" ".repeat(GAP), theme.text);
        }
        lines.push(row.line());
    }
    lines
}

/// In which week of its month a day lies, from 0, Monday first.
fn week_of(day: NaiveDate) -> usize {
    let first = DateRange::month_of(day).from();
    let before = first.weekday().num_days_from_monday() + day.day0();
    usize::try_from(before / 7).unwrap_or(0)
}

/// One week of a month: its number, and its days that lie in the month.
fn week_cells(row: &mut Row<'_>, view: View<'_>, picked: Picked<'_>, first: NaiveDate, week: usize) {
    let theme = view.theme;
    let back = Days::new(u64::from(first.weekday().num_days_from_monday()));
    let on = Days::new(u64::try_from(week).unwrap_or(0) * 7);
    let monday = first.checked_sub_days(back).and_then(|day| day.checked_add_days(on));
    let days: Vec<Option<NaiveDate>> =
        (0..7).map(|n| monday?.checked_add_days(Days::new(n)).filter(|day| day.month() == first.month())).collect();
    let number = days.iter().flatten().next().map(|day| day.iso_week().week().to_string()).unwrap_or_default();
    row.push(right(&number, WEEK - 1), theme.muted).push(" ", theme.text);
    for day in days {
        match day {
            Some(day) => day_cell(row, view, picked, day),
            None => {
                row.push(" ".repeat(DAY), theme.text);
            }
        }
    }
}

/// A day: the chosen span is `[14──15]`, the cursor `>20<`, a day whose total is known `12·`, one after today `–`.
fn day_cell(row: &mut Row<'_>, view: View<'_>, (open, span): Picked<'_>, day: NaiveDate) {
    let theme = view.theme;
    if day > open.today {
        row.push("  – ", theme.muted);
        return;
    }
    let (from, to) = (span.map(|span| span.from()), span.map(|span| span.to()));
    let within = span.is_some_and(|span| span.contains(day));
    let cursor = day == open.cursor && open.focus == Focus::Days && open.input.is_blank();
    let known = DateRange::new(day, day).is_some_and(|day| view.app.views.totals.of(day).is_some());
    let before = match () {
        () if cursor => ">",
        () if from == Some(day) => "[",
        () if within => "─",
        () => " ",
    };
    let after = match () {
        () if cursor => "<",
        () if to == Some(day) => "]",
        () if known => "·",
        () if within => "─",
        () => " ",
    };
    let signs = if cursor || within { theme.mark } else { theme.muted };
    let mut digits: Style = if within || cursor { theme.selected } else { theme.text };
    if cursor {
        digits = digits.add_modifier(Modifier::REVERSED);
    }
    if day == open.today {
        digits = digits.add_modifier(Modifier::UNDERLINED);
    }
    let number = day.day().to_string();
    // Inside the span the line goes through, also before a single digit.
    let gap = if before == "─" { "─" } else { " " }.repeat(2_usize.saturating_sub(number.len()));
    row.push(before, signs).push(gap, signs).push(number, digits).push(after, signs);
}
