//! Draws the calendar: months side by side, the line in which the user types a range, and the chosen range or what is
//! wrong with it.
//!
//! ```text
//! ┌ Date range ──────────────────────────────────────────────────────┐
//! │       October 2026                       November 2026           │
//! │     Mo  Tu  We  Th  Fr  Sa  Su      Mo  Tu  We  Th  Fr  Sa  Su   │
//! │ 46                                  9   10  11  12  13 [14──15── │
//! │ 47                                 ─16──17──18──19─>20< –   –    │
//! │                                                                  │
//! │ type: 2026-11-01 2026-11-20                                      │
//! │ Fri 2026-11-20, today: Enter sets the first day                  │
//! ```

use crate::model::period::DateRange;
use crate::tui::draw::text::{TextRow, fit, left, right};
use crate::tui::draw::{View, draw_box, draw_line};
use crate::tui::keymap::{Action, Context, PreviousPeriod};
use crate::tui::views::calendar::{Calendar, CalendarFocus, CalendarPurpose};
use crate::tui::views::calendar_layout::{
    CalendarLayout, DAY_WIDTH, MONTH_GAP, MONTH_WIDTH, WEEK_NUMBER_WIDTH, days_of_week,
};
use chrono::{Datelike as _, NaiveDate};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};

/// Examples of ranges to type. The longest example that fits is shown.
const EXAMPLES: [&str; 3] =
    ["2026-11-01 2026-11-20, 2026-q3, last week, 7d", "2026-11-01 2026-11-20, 7d", "2026-10, 7d"];
const WEEKDAYS: [&str; 7] = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"];

/// The dialog, and the days to highlight.
type CalendarDays<'a> = (&'a Calendar, Option<DateRange>);

pub(in crate::tui::draw) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &Calendar, area: Rect) {
    let theme = view.theme;
    let months = CalendarLayout::for_area(open, area);
    let what = if open.purpose == CalendarPurpose::Show { "Date range" } else { "Compare with" };
    let name = months.first_days.first().filter(|_| !months.is_tall).map(|first| first.format(": %B %Y").to_string());
    let title = format!(" {what}{} ", name.unwrap_or_default());
    draw_box(frame, months.area, Line::styled(title, theme.title), theme.focus);
    for (n, line) in month_lines(view, open, &months).into_iter().enumerate() {
        draw_line(frame, months.inner, n, line);
    }
    draw_input_and_choices(frame, view, open, &months);
}

/// Draws the line in which the user types a range, the text below it, and the quick choices.
fn draw_input_and_choices(frame: &mut Frame<'_>, view: View<'_>, open: &Calendar, months: &CalendarLayout) {
    let theme = view.theme;
    let inner = months.inner;
    let width = usize::from(inner.width);
    let typing = open.focus == CalendarFocus::TypedRange;
    let label = if typing { "▌type: " } else { " type: " };
    let line = months.typed_range_row();
    draw_line(frame, inner, line, Line::styled(label, if typing { theme.mark } else { theme.muted }));
    let at = |row: usize| u16::try_from(row).unwrap_or(u16::MAX).min(inner.height);
    let used = u16::try_from(label.chars().count()).unwrap_or(0).min(inner.width);
    let field = Rect { x: inner.x + used, y: inner.y + at(line), width: inner.width - used, height: 1 };
    let field = field.intersection(inner);
    if typing || !open.input.is_blank() {
        frame.render_widget(open.input.area(), field);
        if typing {
            crate::tui::draw::cursor::place_in_input(frame, view, field);
        }
    } else {
        let space = usize::from(field.width);
        let example = EXAMPLES.iter().find(|example| example.len() <= space).copied().unwrap_or_default();
        frame.render_widget(Line::styled(example, theme.muted), field);
    }
    let confirm = || view.app.key_label(Context::Calendar, Action::Confirm);
    let (text, style) = match open.summary() {
        Ok(text) if months.is_tall => match open.confirm_hint() {
            Some(hint) => (format!("{text}: {} {hint}", confirm()), theme.text),
            None => (text, theme.text),
        },
        Ok(text) => (text, theme.text),
        Err(error) if months.is_tall => (format!("Invalid: {error}."), theme.warning),
        Err(error) => (error, theme.warning),
    };
    let below = Rect { y: inner.y + at(line + 1), height: inner.height.saturating_sub(at(line + 1)).min(2), ..inner };
    if months.has_quick_line(open) {
        draw_line(frame, below, 0, quick_choices(view, width));
    } else if months.is_tall {
        frame.render_widget(Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true }), below);
    } else {
        draw_line(frame, below, 0, Line::styled(fit(&text, width), style));
    }
    if months.has_quick_rows {
        for (n, before) in PreviousPeriod::ALL.into_iter().enumerate() {
            draw_line(frame, inner, months.first_quick_choice_row() + n, quick_line(view, open, before, width));
        }
    }
}

/// Returns the quick choices in one line, as many as fit.
fn quick_choices<'a>(view: View<'_>, width: usize) -> Line<'a> {
    let mut row = TextRow::new(width);
    for (n, before) in PreviousPeriod::ALL.into_iter().enumerate() {
        let name = match before {
            PreviousPeriod::Period => "prev",
            PreviousPeriod::Week => "week",
            PreviousPeriod::FourWeeks => "4 weeks",
            PreviousPeriod::Year => "year",
        };
        let key = view.app.key_label(Context::Calendar, Action::CompareBefore(before));
        row.push(if n == 0 { "" } else { "  " }, view.theme.text).push(key, view.theme.key);
        row.push(format!(" {name}"), view.theme.muted);
    }
    row.line()
}

fn quick_line<'a>(view: View<'_>, open: &Calendar, before: PreviousPeriod, width: usize) -> Line<'a> {
    let name = match before {
        PreviousPeriod::Period => "previous period",
        PreviousPeriod::Week => "one week earlier",
        PreviousPeriod::FourWeeks => "four weeks earlier",
        PreviousPeriod::Year => "one year earlier",
    };
    let mut row = TextRow::new(width);
    let key = view.app.key_label(Context::Calendar, Action::CompareBefore(before));
    row.push(key, view.theme.key).push(format!("  {}", left(name, 20)), view.theme.text);
    let range = open.quick_range(before).map(|range| range.to_string()).unwrap_or_default();
    row.push(range, view.theme.muted);
    row.line()
}

/// Returns the lines of the months, which are side by side.
fn month_lines<'a>(view: View<'_>, open: &Calendar, months: &CalendarLayout) -> Vec<Line<'a>> {
    let firsts = &months.first_days;
    let span = open.highlighted_days();
    let width = firsts.len() * (MONTH_WIDTH + MONTH_GAP);
    let theme = view.theme;
    let mut lines = Vec::new();
    if months.is_tall {
        let mut row = TextRow::new(width);
        for first in firsts {
            let name = first.format("%B %Y").to_string();
            row.push(
                left(&format!("{}{name}", " ".repeat(WEEK_NUMBER_WIDTH + 1)), MONTH_WIDTH + MONTH_GAP),
                theme.title,
            );
        }
        lines.push(row.line());
    }
    let mut heads = TextRow::new(width);
    for _ in firsts {
        heads.push(" ".repeat(WEEK_NUMBER_WIDTH), theme.muted);
        for day in WEEKDAYS {
            heads.push(format!(" {day} "), theme.muted);
        }
        heads.push(" ".repeat(MONTH_GAP), theme.muted);
    }
    lines.push(heads.line());
    for week in months.weeks() {
        let mut row = TextRow::new(width);
        for first in firsts {
            push_week(&mut row, view, (open, span), *first, week);
            row.push(" ".repeat(MONTH_GAP), theme.text);
        }
        lines.push(row.line());
    }
    lines
}

/// Adds one week of a month: the number of the week, and its days, except days of other months.
fn push_week(row: &mut TextRow<'_>, view: View<'_>, picked: CalendarDays<'_>, first: NaiveDate, week: usize) {
    let theme = view.theme;
    let days = days_of_week(first, week);
    let number = days.iter().flatten().next().map(|day| day.iso_week().week().to_string()).unwrap_or_default();
    row.push(right(&number, WEEK_NUMBER_WIDTH - 1), theme.muted).push(" ", theme.text);
    for day in days {
        match day {
            Some(day) => push_day(row, view, picked, day),
            None => {
                row.push(" ".repeat(DAY_WIDTH), theme.text);
            }
        }
    }
}

/// Adds a day. The highlighted range is drawn as `[14──15]`, the day under the cursor as `>20<`, a day with known
/// totals as `12·`, and a day after today as `–`.
fn push_day(row: &mut TextRow<'_>, view: View<'_>, (open, span): CalendarDays<'_>, day: NaiveDate) {
    let theme = view.theme;
    if day > open.today {
        row.push("  – ", theme.muted);
        return;
    }
    let (from, to) = (span.map(|span| span.from()), span.map(|span| span.to()));
    let within = span.is_some_and(|span| span.contains(day));
    let cursor = open.has_cursor_on(day);
    let known = DateRange::new(day, day).is_some_and(|day| view.app.views.totals.get(day).is_some());
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
    // Inside the highlighted range, the line also fills the blank before a single digit.
    let gap = if before == "─" { "─" } else { " " }.repeat(2_usize.saturating_sub(number.len()));
    row.push(before, signs).push(gap, signs).push(number, digits).push(after, signs);
}
