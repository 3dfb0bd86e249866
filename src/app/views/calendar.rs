//! A range of one's own: picked on a calendar or typed. What is typed wins over what is picked.

use super::super::dialog::Dialog;
use super::super::keymap::PreviousPeriod;
use super::super::scroll::Scroll;
use super::super::text_input::TextInput;
use super::super::{App, Effect, Severity, format};
use crate::model::Time;
use crate::model::period::{DateRange, Period, RangeError, Typed, parse_period};
use chrono::{Datelike as _, Days, Months, NaiveDate, TimeDelta};

/// What the range is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarPurpose {
    /// The range that is shown.
    Show,
    /// The range that the shown one is compared with.
    Compare,
}

/// Which part has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    Days,
    Line,
}

/// The layer.
#[derive(Debug)]
pub struct Calendar {
    pub purpose: CalendarPurpose,
    pub focus: Focus,
    /// The last day that can be picked.
    pub today: NaiveDate,
    /// The range that is shown now.
    pub present: DateRange,
    /// Its previous period; none beyond the calendar.
    pub previous: Option<DateRange>,
    /// The day under the cursor, no later than today.
    pub cursor: NaiveDate,
    /// The other end, once one is picked.
    pub anchor: Option<NaiveDate>,
    /// The range as typed.
    pub input: TextInput,
}

/// What there is to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CalendarChoice {
    /// Neither picked nor typed yet.
    Nothing,
    /// From the first picked day to the cursor.
    Picked(DateRange),
    Typed(Result<Typed, RangeError>),
}

impl Calendar {
    /// Opens on the last day of the present range, or on that of the period before it.
    pub fn new(purpose: CalendarPurpose, present: DateRange, previous: Option<DateRange>, today: NaiveDate) -> Self {
        let day = match purpose {
            CalendarPurpose::Show => present.to(),
            CalendarPurpose::Compare => present.from().pred_opt().unwrap_or(today),
        };
        Self {
            purpose,
            focus: Focus::Days,
            today,
            present,
            previous,
            cursor: day.min(today),
            anchor: None,
            input: TextInput::line(""),
        }
    }

    /// What Enter would take.
    pub fn choice(&self) -> CalendarChoice {
        if !self.input.is_blank() {
            return CalendarChoice::Typed(parse_period(&self.input.text(), self.today));
        }
        let Some(anchor) = self.anchor else { return CalendarChoice::Nothing };
        let picked = DateRange::new(anchor.min(self.cursor), anchor.max(self.cursor));
        picked.map_or(CalendarChoice::Nothing, CalendarChoice::Picked)
    }

    /// The days to highlight: those that are chosen, else the present range.
    pub fn span(&self) -> Option<DateRange> {
        match self.choice() {
            CalendarChoice::Nothing => Some(self.present),
            CalendarChoice::Picked(range) => Some(range),
            CalendarChoice::Typed(typed) => typed.ok().map(|typed| typed.range),
        }
    }

    /// The day whose month is in sight: the cursor, or where what is typed ends.
    pub fn seen(&self) -> NaiveDate {
        match self.choice() {
            CalendarChoice::Typed(Ok(typed)) => typed.range.to(),
            _ => self.cursor,
        }
    }

    /// The range of a quick choice for a comparison; none beyond the calendar.
    pub fn before(&self, before: PreviousPeriod) -> Option<DateRange> {
        let shifted = |days: u64| {
            let back = |day: NaiveDate| day.checked_sub_days(Days::new(days));
            DateRange::new(back(self.present.from())?, back(self.present.to())?)
        };
        match before {
            PreviousPeriod::Period => self.previous,
            PreviousPeriod::Week => shifted(7),
            PreviousPeriod::FourWeeks => shifted(28),
            PreviousPeriod::Year => self.present.months_before(12),
        }
    }

    /// What the key that picks does now, as a phrase behind it; none where there is nothing to add to [`Self::said`].
    pub fn hint(&self) -> Option<&'static str> {
        match (self.choice(), self.focus) {
            (CalendarChoice::Nothing, Focus::Days) => Some("picks a first day"),
            (CalendarChoice::Picked(_), _) => Some("takes it"),
            _ => None,
        }
    }

    /// What is chosen, or the day under the cursor, in a line; an error is what is wrong.
    pub fn said(&self) -> Result<String, String> {
        match self.choice() {
            CalendarChoice::Nothing => Ok(self.day_words()),
            CalendarChoice::Picked(range) => self.fitting(range),
            CalendarChoice::Typed(Err(wrong)) => Err(wrong.to_string()),
            CalendarChoice::Typed(Ok(typed)) => {
                let words = self.fitting(typed.range)?;
                Ok(if typed.cut.is_some() { format!("{words}, cut at today") } else { words })
            }
        }
    }

    fn fitting(&self, range: DateRange) -> Result<String, String> {
        if self.purpose == CalendarPurpose::Compare && range == self.present {
            return Err("choose a different range to compare with".to_owned());
        }
        let days = usize::try_from(range.days()).unwrap_or(usize::MAX);
        Ok(format!("{range}, {}", format::plural(days, "day")))
    }

    fn day_words(&self) -> String {
        let today = if self.cursor == self.today { ", today" } else { "" };
        format!("{}{today}", self.cursor.format("%a %Y-%m-%d"))
    }

    /// Moves the cursor, no further than today; what was typed gives way.
    fn go(&mut self, to: Option<NaiveDate>) {
        self.input = TextInput::line("");
        self.cursor = to.filter(|day| day.year() > 0).unwrap_or(self.cursor).min(self.today);
    }

    /// So many days on.
    pub fn move_days(&mut self, days: i64) {
        self.go(self.cursor.checked_add_signed(TimeDelta::days(days)));
    }

    /// Weeks, months, or the first or last day of the month.
    pub(in crate::app) fn scroll(&mut self, by: Scroll) {
        let month = DateRange::month_of(self.cursor);
        match by {
            Scroll::By(weeks) => self.move_days(i64::try_from(weeks).unwrap_or(0).saturating_mul(7)),
            Scroll::Page(months) => {
                let by = Months::new(u32::try_from(months.unsigned_abs()).unwrap_or(0));
                let to =
                    if months < 0 { self.cursor.checked_sub_months(by) } else { self.cursor.checked_add_months(by) };
                self.go(to);
            }
            Scroll::Top => self.go(Some(month.from())),
            Scroll::Bottom => self.go(Some(month.to())),
        }
    }

    /// To today.
    pub fn to_today(&mut self) {
        self.go(Some(self.today));
    }

    /// Whether the cursor is seen on this day.
    pub fn has_cursor_on(&self, day: NaiveDate) -> bool {
        day == self.cursor && self.focus == Focus::Days && self.input.is_blank()
    }

    /// The cursor goes to this day, which has the keys from then on.
    pub(in crate::app) fn point_at(&mut self, day: NaiveDate) {
        self.go(Some(day));
        self.focus = Focus::Days;
    }

    /// The line has the keys.
    pub(in crate::app) fn focus_line(&mut self) {
        self.focus = Focus::Line;
    }

    /// The other part has the keys.
    pub fn turn_focus(&mut self) {
        self.focus = if self.focus == Focus::Days { Focus::Line } else { Focus::Days };
    }

    /// One step back: what is typed goes, then the first picked day; false when there is neither.
    pub fn step_back(&mut self) -> bool {
        if !self.input.is_blank() || self.focus == Focus::Line {
            self.input = TextInput::line("");
            self.focus = Focus::Days;
            return true;
        }
        self.anchor.take().is_some()
    }

    /// Types into the line, which has the keys from then on.
    pub(in crate::app) fn type_with(&mut self, change: impl FnOnce(&mut TextInput) -> bool) {
        if change(&mut self.input) {
            self.focus = Focus::Line;
        }
    }
}

impl App {
    /// The keys that choose a range.
    pub(in crate::app) fn open_calendar(&mut self, purpose: CalendarPurpose, now: Time) {
        let (present, previous) = (self.views.query().range, self.views.previous_period());
        let calendar = Calendar::new(purpose, present, previous, now.date_naive());
        self.dialogs.push(Dialog::Calendar(Box::new(calendar)));
    }

    /// The calendar, when it is on top.
    pub(in crate::app) fn calendar_on_top(&mut self) -> Option<&mut Calendar> {
        match self.dialogs.last_mut() {
            Some(Dialog::Calendar(open)) => Some(open),
            _ => None,
        }
    }

    /// Takes the picked or typed range; the first of two picked days only stays as one end.
    pub(in crate::app) fn take_range(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(open) = self.calendar_on_top() else { return };
        let (choice, purpose) = (open.choice(), open.purpose);
        if choice == CalendarChoice::Nothing && open.focus == Focus::Days {
            open.anchor = Some(open.cursor);
        }
        // What is wrong stands below the line already.
        let typed = match (open.said(), choice) {
            (Err(_), _) | (_, CalendarChoice::Nothing | CalendarChoice::Typed(Err(_))) => return,
            (Ok(_), CalendarChoice::Typed(Ok(typed))) => typed,
            (Ok(_), CalendarChoice::Picked(range)) => {
                Typed { period: Period::days(range), preset: None, range, cut: None }
            }
        };
        self.dialogs.pop();
        match purpose {
            CalendarPurpose::Show => effects.extend(self.views.choose(typed.period, typed.preset, now)),
            CalendarPurpose::Compare => self.compare_with(typed.range, now, effects),
        }
        // A month that goes on is known to; days that were asked for and left out are told.
        if let (Some(last), None) = (typed.cut, typed.period.name()) {
            self.notify(Severity::Info, &format!("Cut at today: the days up to {last} have not come yet."), now);
        }
    }

    /// A quick choice of what to compare with; where a range is chosen to be shown its key is typed.
    pub(in crate::app) fn take_before(&mut self, before: PreviousPeriod, now: Time, effects: &mut Vec<Effect>) {
        let Some(open) = self.calendar_on_top() else { return };
        if open.purpose == CalendarPurpose::Show {
            open.type_with(|input| input.paste(before.key().encode_utf8(&mut [0; 4])));
            return;
        }
        if let Some(range) = open.before(before) {
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
        calendar.type_with(|input| input.paste(text));
        calendar
    }

    #[test]
    fn two_days_in_either_order_make_a_range() {
        let mut calendar = calendar(CalendarPurpose::Show);
        calendar.anchor = Some(calendar.cursor);
        calendar.move_days(-3);
        assert_eq!(calendar.said().as_deref(), Ok("2026-11-17 … 2026-11-20, 4 days"));
        assert_eq!(calendar.hint(), Some("takes it"));
        assert_eq!(calendar.span().map(|span| span.days()), Some(4));
    }

    #[test]
    fn the_cursor_stays_out_of_the_future_and_in_the_month_when_asked() {
        let mut calendar = calendar(CalendarPurpose::Show);
        calendar.move_days(1);
        assert_eq!(calendar.cursor, day("2026-11-20"));
        calendar.scroll(Scroll::Bottom);
        assert_eq!(calendar.cursor, day("2026-11-20"));
        calendar.scroll(Scroll::Page(-1));
        calendar.scroll(Scroll::Bottom);
        assert_eq!(calendar.cursor, day("2026-10-31"));
        calendar.scroll(Scroll::Page(-1));
        assert_eq!(calendar.cursor, day("2026-09-30"), "no day is skipped where the month is shorter");
        calendar.scroll(Scroll::Top);
        calendar.scroll(Scroll::By(-1));
        assert_eq!(calendar.cursor, day("2026-08-25"));
        calendar.to_today();
        assert_eq!(calendar.cursor, day("2026-11-20"));
    }

    #[test]
    fn what_is_typed_wins_until_the_cursor_moves() {
        let mut calendar = typed("2026-10");
        assert_eq!((calendar.focus, calendar.seen()), (Focus::Line, day("2026-10-31")));
        assert_eq!(calendar.said().as_deref(), Ok("2026-10-01 … 2026-10-31, 31 days"));
        calendar.move_days(-1);
        assert!(calendar.input.is_blank());
        assert_eq!(calendar.choice(), CalendarChoice::Nothing);
    }

    #[test]
    fn a_wrong_range_is_said_while_it_is_typed() {
        let said = |text: &str| typed(text).said().expect_err("wrong");
        assert_eq!(said("2026-1"), "2026-1 is not a whole date yet: YYYY-MM-DD");
        assert!(said("2026-11-05 2026-11-01").contains("comes after"));
        assert!(said("2026-12-01").contains("has not come yet"));
        assert!(typed("2026-11-10 2026-12-24").said().is_ok_and(|said| said.ends_with("cut at today")));
    }

    #[test]
    fn going_back_takes_the_text_then_the_picked_day() {
        let mut calendar = calendar(CalendarPurpose::Show);
        calendar.anchor = Some(calendar.cursor);
        calendar.type_with(|input| input.paste("x"));
        assert!(calendar.step_back());
        assert!(calendar.input.is_blank() && calendar.anchor.is_some());
        assert!(calendar.step_back());
        assert!(!calendar.step_back());
    }

    #[test]
    fn the_quick_choices_of_a_comparison_are_what_they_say() {
        let calendar = calendar(CalendarPurpose::Compare);
        let before = |before| calendar.before(before).map(|range| range.to_string()).expect("a range");
        assert_eq!(before(PreviousPeriod::Period), "2026-11-07 … 2026-11-13");
        assert_eq!(before(PreviousPeriod::Week), "2026-11-07 … 2026-11-13");
        assert_eq!(before(PreviousPeriod::FourWeeks), "2026-10-17 … 2026-10-23");
        assert_eq!(before(PreviousPeriod::Year), "2025-11-14 … 2025-11-20");
    }

    #[test]
    fn a_range_is_not_compared_with_itself() {
        let mut calendar = calendar(CalendarPurpose::Compare);
        calendar.type_with(|input| input.paste("7d"));
        assert!(calendar.said().is_err());
    }

    proptest! {
        #[test]
        fn wherever_the_cursor_goes_it_is_a_day_that_has_come(moves in prop::collection::vec((0_u8..5, -400_isize..400), 0..40)) {
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
                let span = calendar.span().expect("a range");
                prop_assert!(span.contains(calendar.cursor) && span.to() <= calendar.today);
            }
        }
    }
}
