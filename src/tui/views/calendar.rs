//! The calendar dialog, in which the user picks the first and last day of a range, or types the range. Typed text takes
//! precedence over picked days.

use super::super::dialog::Dialog;
use super::super::keymap::PreviousPeriod;
use super::super::scroll::Scroll;
use super::super::text_input::TextInput;
use super::super::{App, Effect, Severity, format};
use crate::model::Time;
use crate::model::period::{DateRange, Period, RangeError, TypedPeriod, parse_period};
use chrono::{Datelike as _, Days, Months, NaiveDate, TimeDelta};

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
    Typed(Result<TypedPeriod, RangeError>),
}

impl Calendar {
    /// Creates a calendar. `present` is the range on screen, and `previous` is the period before it. To choose a range
    /// to show, the cursor starts on the last day of `present`; to choose a range to compare with, on the day before
    /// `present`.
    pub fn new(purpose: CalendarPurpose, present: DateRange, previous: Option<DateRange>, today: NaiveDate) -> Self {
        let day = match purpose {
            CalendarPurpose::Show => present.to(),
            CalendarPurpose::Compare => present.from().pred_opt().unwrap_or(today),
        };
        Self {
            purpose,
            focus: CalendarFocus::Days,
            today,
            shown_range: present,
            previous_period: previous,
            cursor: day.min(today),
            anchor: None,
            input: TextInput::line(""),
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

    /// Returns the range that a quick choice stands for; `None` if it would begin before the first day of the calendar.
    pub fn quick_range(&self, before: PreviousPeriod) -> Option<DateRange> {
        let shifted = |days: u64| {
            let back = |day: NaiveDate| day.checked_sub_days(Days::new(days));
            DateRange::new(back(self.shown_range.from())?, back(self.shown_range.to())?)
        };
        match before {
            PreviousPeriod::Period => self.previous_period,
            PreviousPeriod::Week => shifted(7),
            PreviousPeriod::FourWeeks => shifted(28),
            PreviousPeriod::Year => self.shown_range.months_before(12),
        }
    }

    /// Returns what Enter does, to be shown after the summary; `None` if no hint is needed.
    pub fn confirm_hint(&self) -> Option<&'static str> {
        match (self.choice(), self.focus) {
            (CalendarChoice::Nothing, CalendarFocus::Days) => Some("sets the first day"),
            (CalendarChoice::Picked(_), _) if self.purpose == CalendarPurpose::Show => Some("shows it"),
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
        let days = usize::try_from(range.days()).unwrap_or(usize::MAX);
        Ok(format!("{range}, {}", format::plural(days, "day")))
    }

    fn day_label(&self) -> String {
        let today = if self.cursor == self.today { ", today" } else { "" };
        format!("{}{today}", self.cursor.format("%a %Y-%m-%d"))
    }

    /// Moves the cursor to a day, or to today if that day is in the future, and clears the typed text. If `to` is
    /// `None`, the cursor stays.
    fn move_cursor(&mut self, to: Option<NaiveDate>) {
        self.input = TextInput::line("");
        self.cursor = to.filter(|day| day.year() > 0).unwrap_or(self.cursor).min(self.today);
    }

    /// Moves the cursor forward by this many days, or back if negative.
    pub fn move_days(&mut self, days: i64) {
        self.move_cursor(self.cursor.checked_add_signed(TimeDelta::days(days)));
    }

    /// Moves the cursor by weeks or months, or to the first or last day of the month.
    pub(in crate::tui) fn scroll(&mut self, by: Scroll) {
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

    /// Moves the cursor to today.
    pub fn go_to_today(&mut self) {
        self.move_cursor(Some(self.today));
    }

    /// Whether to draw the cursor on this day. The cursor is hidden while a range is typed.
    pub fn has_cursor_on(&self, day: NaiveDate) -> bool {
        day == self.cursor && self.focus == CalendarFocus::Days && self.input.is_blank()
    }

    /// Moves the cursor to this day and the focus to the days.
    pub(in crate::tui) fn focus_day(&mut self, day: NaiveDate) {
        self.move_cursor(Some(day));
        self.focus = CalendarFocus::Days;
    }

    /// Moves the focus to the line in which a range is typed.
    pub(in crate::tui) fn focus_line(&mut self) {
        self.focus = CalendarFocus::TypedRange;
    }

    /// Moves the focus from the days to the typed line, or back.
    pub fn toggle_focus(&mut self) {
        self.focus = if self.focus == CalendarFocus::Days { CalendarFocus::TypedRange } else { CalendarFocus::Days };
    }

    /// Undoes one step: clears the typed text and moves the focus to the days. If the days have the focus already and
    /// there is no text, forgets the picked day. Returns `false` if there is nothing to undo.
    pub fn step_back(&mut self) -> bool {
        if !self.input.is_blank() || self.focus == CalendarFocus::TypedRange {
            self.input = TextInput::line("");
            self.focus = CalendarFocus::Days;
            return true;
        }
        self.anchor.take().is_some()
    }

    /// Edits the typed text. If the text changes, moves the focus to the typed line.
    pub(in crate::tui) fn edit_input(&mut self, change: impl FnOnce(&mut TextInput) -> bool) {
        if change(&mut self.input) {
            self.focus = CalendarFocus::TypedRange;
        }
    }
}

impl App {
    pub(in crate::tui) fn open_calendar(&mut self, purpose: CalendarPurpose, now: Time) {
        let (present, previous) = (self.views.query().range, self.views.previous_period());
        let calendar = Calendar::new(purpose, present, previous, now.date_naive());
        self.dialogs.push(Dialog::Calendar(Box::new(calendar)));
    }

    /// Returns the calendar, if it is the topmost dialog.
    pub(in crate::tui) fn calendar_on_top(&mut self) -> Option<&mut Calendar> {
        match self.dialogs.last_mut() {
            Some(Dialog::Calendar(open)) => Some(open),
            _ => None,
        }
    }

    /// Confirms the picked or typed range. If nothing is picked or typed yet, picks the day under the cursor as one end
    /// of the range.
    pub(in crate::tui) fn confirm_range(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(open) = self.calendar_on_top() else { return };
        let (choice, purpose) = (open.choice(), open.purpose);
        if choice == CalendarChoice::Nothing && open.focus == CalendarFocus::Days {
            open.anchor = Some(open.cursor);
        }
        // An invalid choice can't be confirmed. The dialog already shows why it is invalid.
        let typed = match (open.summary(), choice) {
            (Err(_), _) | (_, CalendarChoice::Nothing | CalendarChoice::Typed(Err(_))) => return,
            (Ok(_), CalendarChoice::Typed(Ok(typed))) => typed,
            (Ok(_), CalendarChoice::Picked(range)) => {
                TypedPeriod { period: Period::days(range), preset: None, range, future_end: None }
            }
        };
        self.dialogs.pop();
        match purpose {
            CalendarPurpose::Show => effects.extend(self.views.set_period(typed.period, typed.preset, now)),
            CalendarPurpose::Compare => self.compare_with(typed.range, now, effects),
        }
        // A named month, week or quarter in progress obviously has future days, so no notice is needed. For any other
        // range, a notice reports that future days are left out.
        if let (Some(last), None) = (typed.future_end, typed.period.name()) {
            self.notify(Severity::Info, &format!("Cut at today: days up to {last} are in the future."), now);
        }
    }

    /// Compares with the range of a quick choice. If the calendar chooses a range to show, quick choices don't apply,
    /// and their keys type text.
    pub(in crate::tui) fn choose_quick_range(&mut self, before: PreviousPeriod, now: Time, effects: &mut Vec<Effect>) {
        let Some(open) = self.calendar_on_top() else { return };
        if open.purpose == CalendarPurpose::Show {
            open.edit_input(|input| input.paste(before.key().encode_utf8(&mut [0; 4])));
            return;
        }
        if let Some(range) = open.quick_range(before) {
            self.dialogs.pop();
            self.compare_with(range, now, effects);
        }
    }
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

    fn typed(text: &str) -> Calendar {
        let mut calendar = calendar(CalendarPurpose::Show);
        calendar.edit_input(|input| input.paste(text));
        calendar
    }

    #[test]
    fn two_picked_days_are_a_range_in_either_order() {
        let mut calendar = calendar(CalendarPurpose::Show);
        calendar.anchor = Some(calendar.cursor);
        calendar.move_days(-3);
        assert_eq!(calendar.summary().as_deref(), Ok("2026-11-17 … 2026-11-20, 4 days"));
        assert_eq!(calendar.confirm_hint(), Some("shows it"));
        assert_eq!(calendar.highlighted_days().map(|span| span.days()), Some(4));
    }

    #[test]
    fn the_cursor_never_goes_past_today_and_jumps_within_the_month() {
        let mut calendar = calendar(CalendarPurpose::Show);
        calendar.move_days(1);
        assert_eq!(calendar.cursor, day("2026-11-20"));
        calendar.scroll(Scroll::Bottom);
        assert_eq!(calendar.cursor, day("2026-11-20"));
        calendar.scroll(Scroll::Page(-1));
        calendar.scroll(Scroll::Bottom);
        assert_eq!(calendar.cursor, day("2026-10-31"));
        calendar.scroll(Scroll::Page(-1));
        assert_eq!(calendar.cursor, day("2026-09-30"), "the last day of a shorter month");
        calendar.scroll(Scroll::Top);
        calendar.scroll(Scroll::By(-1));
        assert_eq!(calendar.cursor, day("2026-08-25"));
        calendar.go_to_today();
        assert_eq!(calendar.cursor, day("2026-11-20"));
    }

    #[test]
    fn typed_text_takes_precedence_until_the_cursor_moves() {
        let mut calendar = typed("2026-10");
        assert_eq!((calendar.focus, calendar.visible_day()), (CalendarFocus::TypedRange, day("2026-10-31")));
        assert_eq!(calendar.summary().as_deref(), Ok("2026-10-01 … 2026-10-31, 31 days"));
        calendar.move_days(-1);
        assert!(calendar.input.is_blank());
        assert_eq!(calendar.choice(), CalendarChoice::Nothing);
    }

    #[test]
    fn an_invalid_range_is_reported_while_it_is_typed() {
        let error = |text: &str| typed(text).summary().expect_err("wrong");
        assert_eq!(error("2026-1"), "2026-1 is not a complete date yet: YYYY-MM-DD");
        assert!(error("2026-11-05 2026-11-01").contains("comes after"));
        assert!(error("2026-12-01").contains("is in the future"));
        assert!(typed("2026-11-10 2026-12-24").summary().is_ok_and(|text| text.ends_with("cut at today")));
    }

    #[test]
    fn going_back_clears_the_text_then_the_picked_day() {
        let mut calendar = calendar(CalendarPurpose::Show);
        calendar.anchor = Some(calendar.cursor);
        calendar.edit_input(|input| input.paste("x"));
        assert!(calendar.step_back());
        assert!(calendar.input.is_blank() && calendar.anchor.is_some());
        assert!(calendar.step_back());
        assert!(!calendar.step_back());
    }

    #[test]
    fn each_quick_choice_has_its_range() {
        let calendar = calendar(CalendarPurpose::Compare);
        let before = |before| calendar.quick_range(before).map(|range| range.to_string()).expect("a range");
        assert_eq!(before(PreviousPeriod::Period), "2026-11-07 … 2026-11-13");
        assert_eq!(before(PreviousPeriod::Week), "2026-11-07 … 2026-11-13");
        assert_eq!(before(PreviousPeriod::FourWeeks), "2026-10-17 … 2026-10-23");
        assert_eq!(before(PreviousPeriod::Year), "2025-11-14 … 2025-11-20");
    }

    #[test]
    fn a_range_cannot_be_compared_with_itself() {
        let mut calendar = calendar(CalendarPurpose::Compare);
        calendar.edit_input(|input| input.paste("7d"));
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
                    1 => calendar.scroll(Scroll::By(by)),
                    2 => calendar.scroll(Scroll::Page(by)),
                    3 => calendar.scroll(Scroll::Top),
                    _ => calendar.scroll(Scroll::Bottom),
                }
                prop_assert!(calendar.cursor <= calendar.today);
                let span = calendar.highlighted_days().expect("a range");
                prop_assert!(span.contains(calendar.cursor) && span.to() <= calendar.today);
            }
        }
    }
}
