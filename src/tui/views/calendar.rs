//! The calendar dialog, in which the user picks the first and last day of a range, or types the range. Typed text takes
//! precedence over picked days.
//!
//! ```text
//! ┌ Date range ────────────────────────────────────────────────────────┐
//! │     October 2026                      November 2026                │
//! │ wk  Mo  Tu  We  Th  Fr  Sa  Su    wk  Mo  Tu  We  Th  Fr  Sa  Su   │
//! │ 42  12  13  14  15  16  17  18    46   9  10  11  12  13 [14  15   │
//! │ 43  19  20  21  22  23  24  25    47  16  17  18  19 >20<  –   –   │
//! │                                                                    │
//! │ or type: 2026-11-01 2026-11-20                                     │
//! │ Fri 20 Nov 2026, today: Enter sets the first day                   │
//! ```

use super::calendar_layout::{
    CalendarLayout, CalendarTarget, DAY_WIDTH, MONTH_GAP, MONTH_WIDTH, WEEK_NUMBER_WIDTH, days_of_week,
};
use crate::model::period::{DateRange, EnteredPeriod, Period, RangeError, parse_period};
use crate::tui::component::prelude::*;
use crate::tui::draw::boxes::{draw_box, draw_line};
use crate::tui::draw::cursor;
use crate::tui::draw::text::{TextRow, align_left, align_right, truncate};
use crate::tui::format;
use crate::tui::keymap::EarlierPeriod;
use crate::tui::widgets::text_input::TextInput;
use chrono::{Datelike as _, Days, Months, NaiveDate, TimeDelta};
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use ratatui::widgets::{Paragraph, Wrap};

/// Examples of ranges to type. The longest example that fits is shown.
const EXAMPLES: [&str; 3] =
    ["2026-11-01 2026-11-20 · 2026-q3 · last week · 7d", "2026-11-01 2026-11-20 · 7d", "2026-10 · 7d"];
const WEEKDAYS: [&str; 7] = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"];

/// The dialog, and the days to highlight.
type CalendarWithHighlight<'a> = (&'a Calendar, Option<DateRange>);

/// What happens with the chosen range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarPurpose {
    /// The chosen range is shown on the views screen.
    Show,
    /// The range on screen is compared with the chosen range.
    Compare,
}

/// The part of the dialog that receives key presses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarFocus {
    Days,
    /// The line in which a range is typed.
    TypedRange,
}

#[derive(Debug)]
pub struct Calendar {
    pub purpose: CalendarPurpose,
    pub focus: CalendarFocus,
    /// Today, the last day that can be chosen.
    pub today: NaiveDate,
    /// The range that the views screen shows.
    pub shown_range: DateRange,
    /// The period before the range on screen; `None` if it would begin before the first day of the calendar.
    pub previous_period: Option<DateRange>,
    /// The day under the cursor, at most today.
    pub cursor: NaiveDate,
    /// The day that was picked as one end of the range; `None` until a day is picked.
    pub anchor: Option<NaiveDate>,
    /// The text field in which a range is typed.
    pub input: TextInput,
}

/// The range that is picked or typed so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CalendarChoice {
    /// Nothing is picked or typed yet.
    Nothing,
    /// The days between the picked day and the cursor, including both.
    Picked(DateRange),
    Typed(Result<EnteredPeriod, RangeError>),
}

impl Calendar {
    /// Creates a calendar. If the user chooses a range to show, the cursor starts on the last day of the range on
    /// screen; if the user chooses a range to compare with, on the day before the range on screen.
    pub fn new(
        purpose: CalendarPurpose,
        shown_range: DateRange,
        previous_period: Option<DateRange>,
        today: NaiveDate,
    ) -> Self {
        let day = match purpose {
            CalendarPurpose::Show => shown_range.to(),
            CalendarPurpose::Compare => shown_range.from().pred_opt().unwrap_or(today),
        };
        Self {
            purpose,
            focus: CalendarFocus::Days,
            today,
            shown_range,
            previous_period,
            cursor: day.min(today),
            anchor: None,
            input: TextInput::single_line(""),
        }
    }

    pub fn choice(&self) -> CalendarChoice {
        if !self.input.is_blank() {
            return CalendarChoice::Typed(parse_period(&self.input.text(), self.today));
        }
        let Some(anchor) = self.anchor else { return CalendarChoice::Nothing };
        let picked = DateRange::new(anchor.min(self.cursor), anchor.max(self.cursor));
        picked.map_or(CalendarChoice::Nothing, CalendarChoice::Picked)
    }

    /// Returns the days to highlight: the chosen range, or the range on screen if none is chosen. `None` if the typed
    /// range is invalid.
    pub fn highlighted_days(&self) -> Option<DateRange> {
        match self.choice() {
            CalendarChoice::Nothing => Some(self.shown_range),
            CalendarChoice::Picked(range) => Some(range),
            CalendarChoice::Typed(typed) => typed.ok().map(|typed| typed.range),
        }
    }

    /// Returns the day whose month has to be visible: the last day of the typed range, or the day under the cursor if
    /// no valid range is typed.
    pub fn visible_day(&self) -> NaiveDate {
        match self.choice() {
            CalendarChoice::Typed(Ok(typed)) => typed.range.to(),
            _ => self.cursor,
        }
    }

    /// Returns the quick choices that are listed. Leaves out the choice of seven days earlier if it means the same
    /// range as the previous period.
    pub fn quick_choices(&self) -> impl Iterator<Item = EarlierPeriod> {
        let is_same = self.quick_range(EarlierPeriod::Week) == self.quick_range(EarlierPeriod::Period);
        EarlierPeriod::ALL.into_iter().filter(move |before| !is_same || *before != EarlierPeriod::Week)
    }

    /// Returns the range of a quick choice, such as the previous period; `None` if it would begin before the first day
    /// of the calendar.
    pub fn quick_range(&self, before: EarlierPeriod) -> Option<DateRange> {
        let shifted = |days: u64| {
            let back = |day: NaiveDate| day.checked_sub_days(Days::new(days));
            DateRange::new(back(self.shown_range.from())?, back(self.shown_range.to())?)
        };
        match before {
            EarlierPeriod::Period => self.previous_period,
            EarlierPeriod::Week => shifted(7),
            EarlierPeriod::FourWeeks => shifted(28),
            EarlierPeriod::Year => self.shown_range.months_before(12),
        }
    }

    /// Returns what Enter does, to be shown after the summary; `None` if no hint is needed.
    pub fn confirm_hint(&self) -> Option<&'static str> {
        match (self.choice(), self.focus) {
            (CalendarChoice::Nothing, CalendarFocus::Days) => Some("sets the first day"),
            (CalendarChoice::Picked(_), _) if self.purpose == CalendarPurpose::Show => Some("shows this range"),
            (CalendarChoice::Picked(_), _) => Some("compares"),
            _ => None,
        }
    }

    /// Describes the chosen range, or the day under the cursor if no range is chosen. Fails if the range is invalid, or
    /// if the range on screen would be compared with itself.
    pub fn summary(&self) -> Result<String, String> {
        match self.choice() {
            CalendarChoice::Nothing => Ok(self.day_label()),
            CalendarChoice::Picked(range) => self.range_summary(range),
            CalendarChoice::Typed(Err(wrong)) => Err(wrong.to_string()),
            CalendarChoice::Typed(Ok(typed)) => {
                let words = self.range_summary(typed.range)?;
                Ok(if typed.future_end.is_some() { format!("{words}, cut at today") } else { words })
            }
        }
    }

    fn range_summary(&self, range: DateRange) -> Result<String, String> {
        if self.purpose == CalendarPurpose::Compare && range == self.shown_range {
            return Err("choose a different range to compare with".to_owned());
        }
        Ok(format!("{} UTC, {}", range.format_dates(true), format::plural(range.days(), "day")))
    }

    fn day_label(&self) -> String {
        let today = if self.cursor == self.today { ", today" } else { "" };
        format!("{}{today}", self.cursor.format("%a %-d %b %Y"))
    }

    /// Moves the cursor to a day, or to today if that day is in the future, and clears the typed text. If `to` is
    /// `None`, the cursor stays.
    fn move_cursor(&mut self, to: Option<NaiveDate>) {
        self.input = TextInput::single_line("");
        self.cursor = to.filter(|day| day.year() > 0).unwrap_or(self.cursor).min(self.today);
    }

    /// Moves the cursor forward by this many days, or back if negative.
    pub fn move_days(&mut self, days: i64) {
        self.move_cursor(self.cursor.checked_add_signed(TimeDelta::days(days)));
    }

    /// Moves the cursor by weeks or months, or to the first or last day of its month.
    fn move_by(&mut self, by: Scroll) {
        let month = DateRange::month_of(self.cursor);
        match by {
            Scroll::By(weeks) => self.move_days(i64::try_from(weeks).unwrap_or(0).saturating_mul(7)),
            Scroll::Page(months) => {
                let by = Months::new(u32::try_from(months.unsigned_abs()).unwrap_or(0));
                let to =
                    if months < 0 { self.cursor.checked_sub_months(by) } else { self.cursor.checked_add_months(by) };
                self.move_cursor(to);
            }
            Scroll::Top => self.move_cursor(Some(month.from())),
            Scroll::Bottom => self.move_cursor(Some(month.to())),
        }
    }

    /// Whether to draw the cursor on this day. The cursor is hidden while a range is typed.
    pub fn has_cursor_on(&self, day: NaiveDate) -> bool {
        day == self.cursor && self.focus == CalendarFocus::Days && self.input.is_blank()
    }

    /// Undoes one step: clears the typed text and moves the focus to the days. If the days have the focus already and
    /// there is no text, forgets the picked day. Returns `false` if there is nothing to undo.
    pub fn step_back(&mut self) -> bool {
        if !self.input.is_blank() || self.focus == CalendarFocus::TypedRange {
            self.input = TextInput::single_line("");
            self.focus = CalendarFocus::Days;
            return true;
        }
        self.anchor.take().is_some()
    }

    pub fn open(purpose: CalendarPurpose, cx: &mut Cx<'_>) {
        let views = &cx.app.views;
        cx.open(Self::new(purpose, views.query().range, views.previous_period(), cx.now.date_naive()));
    }

    /// Shows the chosen range or compares with it, and closes the dialog. If no range is chosen yet and the days have
    /// the focus, picks the day under the cursor. Does nothing if the choice is invalid.
    fn confirm(&mut self, cx: &mut Cx<'_>) -> Flow {
        let choice = self.choice();
        if choice == CalendarChoice::Nothing && self.focus == CalendarFocus::Days {
            self.anchor = Some(self.cursor);
        }
        let typed = match (self.summary(), choice) {
            (Err(_), _) | (_, CalendarChoice::Nothing | CalendarChoice::Typed(Err(_))) => return Flow::Handled,
            (Ok(_), CalendarChoice::Typed(Ok(typed))) => typed,
            (Ok(_), CalendarChoice::Picked(range)) => {
                EnteredPeriod { period: Period::from_range(range), preset: None, range, future_end: None }
            }
        };
        match self.purpose {
            CalendarPurpose::Show => cx.effects.extend(cx.app.views.set_period(typed.period, typed.preset, cx.now)),
            CalendarPurpose::Compare => cx.app.compare_tab_with(typed.range, cx.now, cx.effects),
        }
        // A named month, week or quarter in progress obviously has future days, so no notice is needed.
        if let (Some(last), None) = (typed.future_end, typed.period.name()) {
            cx.notify(Severity::Info, &format!("Cut at today: {last} is in the future."));
        }
        Flow::Close
    }

    /// Compares the range on screen with an earlier range, and closes the dialog. If the calendar was opened to choose
    /// the range to show, types the letter of the quick choice into the text input instead, and moves the focus there.
    fn choose_quick_range(&mut self, before: EarlierPeriod, cx: &mut Cx<'_>) -> Flow {
        if self.purpose == CalendarPurpose::Show {
            self.input.paste(before.key().encode_utf8(&mut [0; 4]));
            self.focus = CalendarFocus::TypedRange;
            return Flow::Handled;
        }
        let Some(range) = self.quick_range(before) else { return Flow::Handled };
        cx.app.compare_with(range, cx.now, cx.effects);
        Flow::Close
    }
}

impl Component for Calendar {
    fn contexts(&self) -> &'static [Context] {
        match self.focus {
            CalendarFocus::Days => &[Context::Calendar, Context::Everywhere],
            CalendarFocus::TypedRange => &[Context::CalendarInput, Context::Input, Context::Text, Context::Everywhere],
        }
    }

    /// Characters go to the text input, although arrow keys and some letters are shortcuts.
    fn takes_text(&self) -> bool {
        true
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::NextDay => self.move_days(1),
            Action::PreviousDay => self.move_days(-1),
            Action::Today => self.move_cursor(Some(self.today)),
            Action::CalendarInput if self.focus == CalendarFocus::Days => self.focus = CalendarFocus::TypedRange,
            Action::CalendarInput => self.focus = CalendarFocus::Days,
            Action::CompareBefore(before) => return self.choose_quick_range(before, cx),
            Action::Confirm => return self.confirm(cx),
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    fn close(&mut self, _cx: &mut Cx<'_>) -> Flow {
        if self.step_back() { Flow::Handled } else { Flow::Close }
    }

    fn scroll(&mut self, by: Scroll, _cx: &mut Cx<'_>) {
        self.move_by(by);
    }

    fn input(&mut self) -> Option<&mut TextInput> {
        Some(&mut self.input)
    }

    fn input_changed(&mut self, _cx: &mut Cx<'_>) {
        self.focus = CalendarFocus::TypedRange;
    }

    /// Moves the cursor to the clicked day or, if the cursor is already there, does what Enter does. A click on the
    /// line of the typed range gives it the focus, and a click on a quick choice chooses it.
    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        match CalendarLayout::for_area(self, cx.app.geometry().body).target_at(self, at) {
            Some(CalendarTarget::Day(day)) if self.has_cursor_on(day) => return self.confirm(cx),
            Some(CalendarTarget::Day(day)) => {
                self.move_cursor(Some(day));
                self.focus = CalendarFocus::Days;
            }
            Some(CalendarTarget::TypedRange) => self.focus = CalendarFocus::TypedRange,
            Some(CalendarTarget::QuickChoice(before)) => return self.choose_quick_range(before, cx),
            None => {}
        }
        Flow::Handled
    }

    fn area(&self, app: &App) -> Rect {
        CalendarLayout::for_area(self, app.geometry().body).area
    }

    fn scroll_with_wheel(&mut self, _at: Position, by: isize, _cx: &mut Cx<'_>) {
        self.move_by(Scroll::By(by.signum()));
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let months = CalendarLayout::for_area(self, view.app.geometry().body);
        let what = if self.purpose == CalendarPurpose::Show { "Date range" } else { "Compare with" };
        let name =
            months.month_starts.first().filter(|_| !months.is_tall).map(|first| first.format(" · %B %Y").to_string());
        let title = format!(" {what}{} ", name.clone().unwrap_or_default());
        let legend = Span::styled("(· = day's total loaded) ", theme.muted);
        let is_shown = |day: NaiveDate| {
            let month = |day: &NaiveDate| (day.year(), day.month());
            months.month_starts.iter().any(|first| month(first) == month(&day))
        };
        let mut ranges = view.app.views.totals.by_range.keys();
        let has_dots = ranges.any(|range| range.days() == 1 && is_shown(range.from()));
        let legend = Some(legend).filter(|_| name.is_none() && has_dots);
        let title = Line::from_iter([Span::styled(title, theme.title)].into_iter().chain(legend));
        draw_box(frame, months.area, title, theme.focus);
        for (n, line) in month_lines(view, self, &months).into_iter().enumerate() {
            draw_line(frame, months.inner, n, line);
        }
        draw_input_and_choices(frame, view, self, &months);
    }
}

/// Draws the line in which the user types a range, the text below it, and the quick choices.
fn draw_input_and_choices(frame: &mut Frame<'_>, view: View<'_>, open: &Calendar, months: &CalendarLayout) {
    let theme = view.theme;
    let inner = months.inner;
    let width = usize::from(inner.width);
    let typing = open.focus == CalendarFocus::TypedRange;
    let label = "or type: ";
    let line = months.typed_range_row();
    draw_line(frame, inner, line, Line::styled(label, if typing { theme.mark } else { theme.muted }));
    if typing {
        let margin = Rect { x: inner.x.saturating_sub(1), width: 1, ..inner };
        draw_line(frame, margin, line, Line::styled("▌", theme.mark));
    }
    let at = |row: usize| u16::try_from(row).unwrap_or(u16::MAX).min(inner.height);
    let used = u16::try_from(label.chars().count()).unwrap_or(0).min(inner.width);
    let field = Rect { x: inner.x + used, y: inner.y + at(line), width: inner.width - used, height: 1 };
    let field = field.intersection(inner);
    if typing || !open.input.is_blank() {
        frame.render_widget(open.input.area(), field);
        if typing {
            cursor::place_cursor_in_input(frame, view, field);
        }
    } else {
        let space = usize::from(field.width);
        let example = EXAMPLES.iter().find(|example| example.chars().count() <= space).copied().unwrap_or_default();
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
    if months.shows_quick_choices_in_line(open) {
        draw_line(frame, below, 0, quick_choices_line(view, open, width));
    } else if months.is_tall {
        frame.render_widget(Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true }), below);
    } else {
        draw_line(frame, below, 0, Line::styled(truncate(&text, width), style));
    }
    if months.has_quick_choice_rows {
        for (n, before) in open.quick_choices().enumerate() {
            draw_line(
                frame,
                inner,
                months.first_quick_choice_row() + n,
                earlier_period_line(view, open, before, width),
            );
        }
    }
}

/// Returns the quick choices in one line, which is cut at `width` cells.
fn quick_choices_line<'a>(view: View<'_>, open: &Calendar, width: usize) -> Line<'a> {
    let mut row = TextRow::new(width);
    for (n, before) in open.quick_choices().enumerate() {
        let name = match before {
            EarlierPeriod::Period => "prev",
            EarlierPeriod::Week => "week",
            EarlierPeriod::FourWeeks => "4 weeks",
            EarlierPeriod::Year => "year",
        };
        let key = view.app.key_label(Context::Calendar, Action::CompareBefore(before));
        row.push(if n == 0 { "" } else { "  " }, view.theme.text).push(key, view.theme.key);
        row.push(format!(" {name}"), view.theme.muted);
    }
    row.line()
}

fn earlier_period_line<'a>(view: View<'_>, open: &Calendar, before: EarlierPeriod, width: usize) -> Line<'a> {
    let name = match before {
        EarlierPeriod::Period => "previous period",
        EarlierPeriod::Week => "one week earlier",
        EarlierPeriod::FourWeeks => "four weeks earlier",
        EarlierPeriod::Year => "one year earlier",
    };
    let mut row = TextRow::new(width);
    let key = view.app.key_label(Context::Calendar, Action::CompareBefore(before));
    row.push(key, view.theme.key).push(format!("  {}", align_left(name, 20)), view.theme.text);
    let range = open.quick_range(before).map(|range| range.format_dates(true)).unwrap_or_default();
    row.push(range, view.theme.muted);
    row.line()
}

/// Returns the lines of the months, which are side by side.
fn month_lines<'a>(view: View<'_>, open: &Calendar, months: &CalendarLayout) -> Vec<Line<'a>> {
    let firsts = &months.month_starts;
    let span = open.highlighted_days();
    let width = firsts.len() * (MONTH_WIDTH + MONTH_GAP);
    let theme = view.theme;
    let mut lines = Vec::new();
    if months.is_tall {
        let mut row = TextRow::new(width);
        for first in firsts {
            let name = first.format("%B %Y").to_string();
            row.push(
                align_left(&format!("{}{name}", " ".repeat(WEEK_NUMBER_WIDTH + 1)), MONTH_WIDTH + MONTH_GAP),
                theme.title,
            );
        }
        lines.push(row.line());
    }
    let mut heads = TextRow::new(width);
    for _ in firsts {
        heads.push(align_left("wk", WEEK_NUMBER_WIDTH), theme.muted);
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
fn push_week(
    row: &mut TextRow<'_>,
    view: View<'_>,
    highlight: CalendarWithHighlight<'_>,
    first: NaiveDate,
    week: usize,
) {
    let theme = view.theme;
    let days = days_of_week(first, week);
    let number = days.iter().flatten().next().map(|day| day.iso_week().week().to_string()).unwrap_or_default();
    row.push(align_right(&number, WEEK_NUMBER_WIDTH - 1), theme.muted).push(" ", theme.text);
    for day in days {
        match day {
            Some(day) => push_day(row, view, highlight, day),
            None => {
                row.push(" ".repeat(DAY_WIDTH), theme.text);
            }
        }
    }
}

/// Adds a day. The highlighted range is drawn as `[14  15]` on the background of a selected row, the day under the
/// cursor as `>20<`, a day with known totals as `12·`, and a day after today as `–`.
fn push_day(row: &mut TextRow<'_>, view: View<'_>, (open, span): CalendarWithHighlight<'_>, day: NaiveDate) {
    let theme = view.theme;
    if day > open.today {
        row.push("  – ", theme.muted);
        return;
    }
    let (from, to) = (span.map(|span| span.from()), span.map(|span| span.to()));
    let within = span.is_some_and(|span| span.contains(day));
    let cursor = open.has_cursor_on(day);
    let known = view.app.views.totals.get(DateRange::day(day)).is_some();
    let before = match () {
        () if cursor => ">",
        () if from == Some(day) => "[",
        () => " ",
    };
    let after = match () {
        () if cursor => "<",
        () if to == Some(day) => "]",
        () if known => "·",
        () => " ",
    };
    let background = Style { bg: theme.selected.bg.filter(|_| within), ..Style::new() };
    let signs = if cursor || before == "[" || after == "]" { theme.mark } else { theme.muted };
    let signs = signs.patch(background);
    let mut digits: Style = if within || cursor { theme.title } else { theme.text };
    if cursor {
        digits = digits.add_modifier(Modifier::REVERSED);
    }
    if day == open.today {
        digits = digits.add_modifier(Modifier::UNDERLINED);
    }
    let number = day.day().to_string();
    row.push(before, signs).push(" ".repeat(2_usize.saturating_sub(number.len())), signs);
    row.push(number, digits.patch(background)).push(after, signs);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a date")
    }

    fn calendar(purpose: CalendarPurpose) -> Calendar {
        let today = day("2026-11-20");
        let present = DateRange::last_days(7, today);
        Calendar::new(purpose, present, present.step(-1), today)
    }

    fn type_text(calendar: &mut Calendar, text: &str) {
        calendar.input.paste(text);
        calendar.focus = CalendarFocus::TypedRange;
    }

    fn typed(text: &str) -> Calendar {
        let mut calendar = calendar(CalendarPurpose::Show);
        type_text(&mut calendar, text);
        calendar
    }

    #[test]
    fn two_picked_days_are_a_range_in_either_order() {
        let mut calendar = calendar(CalendarPurpose::Show);
        calendar.anchor = Some(calendar.cursor);
        calendar.move_days(-3);
        assert_eq!(calendar.summary().as_deref(), Ok("17–20 Nov 2026 UTC, 4 days"));
        assert_eq!(calendar.confirm_hint(), Some("shows this range"));
        assert_eq!(calendar.highlighted_days().map(|span| span.days()), Some(4));
    }

    #[test]
    fn the_cursor_never_goes_past_today_and_jumps_within_the_month() {
        let mut calendar = calendar(CalendarPurpose::Show);
        calendar.move_days(1);
        assert_eq!(calendar.cursor, day("2026-11-20"));
        calendar.move_by(Scroll::Bottom);
        assert_eq!(calendar.cursor, day("2026-11-20"));
        calendar.move_by(Scroll::Page(-1));
        calendar.move_by(Scroll::Bottom);
        assert_eq!(calendar.cursor, day("2026-10-31"));
        calendar.move_by(Scroll::Page(-1));
        assert_eq!(calendar.cursor, day("2026-09-30"), "the last day of a shorter month");
        calendar.move_by(Scroll::Top);
        calendar.move_by(Scroll::By(-1));
        assert_eq!(calendar.cursor, day("2026-08-25"));
        calendar.move_cursor(Some(calendar.today));
        assert_eq!(calendar.cursor, day("2026-11-20"));
    }

    #[test]
    fn typed_text_takes_precedence_until_the_cursor_moves() {
        let mut calendar = typed("2026-10");
        assert_eq!((calendar.focus, calendar.visible_day()), (CalendarFocus::TypedRange, day("2026-10-31")));
        assert_eq!(calendar.summary().as_deref(), Ok("1–31 Oct 2026 UTC, 31 days"));
        calendar.move_days(-1);
        assert!(calendar.input.is_blank());
        assert_eq!(calendar.choice(), CalendarChoice::Nothing);
    }

    #[test]
    fn an_invalid_range_is_reported_while_it_is_typed() {
        let error = |text: &str| typed(text).summary().expect_err("wrong");
        assert_eq!(error("2026-1"), "2026-1 is not a complete date: write YYYY-MM-DD");
        assert!(error("2026-11-05 2026-11-01").contains("comes after"));
        assert!(error("2026-12-01").contains("is in the future"));
        assert!(typed("2026-11-10 2026-12-24").summary().is_ok_and(|text| text.ends_with("cut at today")));
    }

    #[test]
    fn going_back_clears_the_text_then_the_picked_day() {
        let mut calendar = calendar(CalendarPurpose::Show);
        calendar.anchor = Some(calendar.cursor);
        type_text(&mut calendar, "x");
        assert!(calendar.step_back());
        assert!(calendar.input.is_blank() && calendar.anchor.is_some());
        assert!(calendar.step_back());
        assert!(!calendar.step_back());
    }

    #[test]
    fn each_quick_choice_has_its_range() {
        let calendar = calendar(CalendarPurpose::Compare);
        let before = |before| calendar.quick_range(before).map(|range| range.to_string()).expect("a range");
        assert_eq!(before(EarlierPeriod::Period), "2026-11-07 … 2026-11-13");
        assert_eq!(before(EarlierPeriod::Week), "2026-11-07 … 2026-11-13");
        assert_eq!(before(EarlierPeriod::FourWeeks), "2026-10-17 … 2026-10-23");
        assert_eq!(before(EarlierPeriod::Year), "2025-11-14 … 2025-11-20");
    }

    #[test]
    fn a_range_cannot_be_compared_with_itself() {
        let mut calendar = calendar(CalendarPurpose::Compare);
        type_text(&mut calendar, "7d");
        assert!(calendar.summary().is_err());
    }

    proptest! {
        #[test]
        fn the_cursor_is_never_in_the_future(moves in prop::collection::vec((0_u8..5, -400_isize..400), 0..40)) {
            let mut calendar = calendar(CalendarPurpose::Show);
            calendar.anchor = Some(calendar.cursor);
            for (kind, by) in moves {
                match kind {
                    0 => calendar.move_days(i64::try_from(by).expect("small")),
                    1 => calendar.move_by(Scroll::By(by)),
                    2 => calendar.move_by(Scroll::Page(by)),
                    3 => calendar.move_by(Scroll::Top),
                    _ => calendar.move_by(Scroll::Bottom),
                }
                prop_assert!(calendar.cursor <= calendar.today);
                let span = calendar.highlighted_days().expect("a range");
                prop_assert!(span.contains(calendar.cursor) && span.to() <= calendar.today);
            }
        }
    }
}
