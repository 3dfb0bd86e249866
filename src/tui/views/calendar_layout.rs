//! The layout of the calendar dialog: the months, below them the line in which a range is typed, and the quick choices.
//! Drawing and mouse input share the layout, so that they agree.

use super::super::geometry::centered;
use super::super::keymap::EarlierPeriod;
use super::calendar::{Calendar, CalendarChoice, CalendarPurpose};
use crate::model::period::DateRange;
use chrono::{Datelike as _, Days, NaiveDate};
use ratatui::layout::{Position, Rect};

/// Width of a day in cells: two digits, with a cell for a marker on each side, such as `>20<`.
pub const DAY_WIDTH: usize = 4;
/// Width of the week number and of the blank after it, in cells.
pub const WEEK_NUMBER_WIDTH: usize = 3;
/// Width of a month in cells.
pub const MONTH_WIDTH: usize = WEEK_NUMBER_WIDTH + 7 * DAY_WIDTH;
/// Number of blank cells between two months.
pub const MONTH_GAP: usize = 3;
/// The highest number of weeks that the days of a month can belong to. Each week has a row.
const MAX_WEEKS: usize = 6;
/// Number of visible weeks of each month if the dialog is not high enough for all six.
const MIN_WEEKS: usize = 5;
/// Rows between the borders: names of the months, names of the days, weeks, a gap, the typed line, and two lines of
/// text.
const CALENDAR_ROWS: u16 = 12;
/// Rows of the quick choices, including the gap above them.
const QUICK_CHOICE_ROWS: u16 = 5;

/// The layout of the calendar for the available space.
#[derive(Debug, Clone)]
pub struct CalendarLayout {
    /// The dialog with its borders.
    pub area: Rect,
    /// The area inside the borders.
    pub inner: Rect,
    /// The first day of each visible month.
    pub month_starts: Vec<NaiveDate>,
    /// Whether there is space for a separate row with the names of the months, and for all weeks.
    pub is_tall: bool,
    /// Whether the quick choices have their own rows.
    pub has_quick_choice_rows: bool,
    /// The index of the first visible week in each month, from 0.
    first_week: usize,
}

/// What a click in the calendar can hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarTarget {
    /// A day that is not in the future.
    Day(NaiveDate),
    /// The line in which a range is typed.
    TypedRange,
    /// A quick choice of the range to compare with.
    QuickChoice(EarlierPeriod),
}

impl CalendarLayout {
    /// Computes the layout for an area of the screen.
    pub fn for_area(open: &Calendar, body: Rect) -> Self {
        let fits = |n: usize| n * (MONTH_WIDTH + MONTH_GAP) + 2 <= usize::from(body.width);
        let is_tall = body.height >= CALENDAR_ROWS + 2;
        let quick = open.purpose == CalendarPurpose::Compare && body.height >= CALENDAR_ROWS + QUICK_CHOICE_ROWS + 2;
        let months: u32 = if fits(3) { 3 } else { 1 + u32::from(fits(2)) };
        let columns = usize::try_from(months).unwrap_or(1) * (MONTH_WIDTH + MONTH_GAP) + 2;
        let width = u16::try_from(columns.max(62)).unwrap_or(u16::MAX);
        let area = centered(body, width, CALENDAR_ROWS + 2 + if quick { QUICK_CHOICE_ROWS } else { 0 });
        // One blank column inside each border.
        let (width, height) = (area.width.saturating_sub(4), area.height.saturating_sub(2));
        let inner = Rect { x: area.x + 2, y: area.y + 1, width, height };
        let first = first_month(open, months);
        let firsts = (0..months).filter_map(|n| first.checked_add_months(chrono::Months::new(n))).collect();
        // If six weeks don't fit and the day that has to be visible is in the sixth week, the first week is left out.
        let week = usize::from(!is_tall && week_index_in_month(open.visible_day()) >= MIN_WEEKS);
        Self { area, inner, month_starts: firsts, is_tall, has_quick_choice_rows: quick, first_week: week }
    }

    /// Returns the indexes of the visible weeks in each month, from 0. They are the same for every month.
    pub fn weeks(&self) -> std::ops::Range<usize> {
        self.first_week..self.first_week + if self.is_tall { MAX_WEEKS } else { MIN_WEEKS }
    }

    /// Returns the row of the first visible week, counted from the top of `inner`.
    fn first_week_row(&self) -> usize {
        1 + usize::from(self.is_tall)
    }

    /// Returns the row of the line in which a range is typed, counted from the top of `inner`.
    pub fn typed_range_row(&self) -> usize {
        self.first_week_row() + self.weeks().len() + usize::from(self.is_tall)
    }

    /// Returns the row of the first quick choice, counted from the top of `inner`.
    pub fn first_quick_choice_row(&self) -> usize {
        self.typed_range_row() + 4
    }

    /// Returns what a click at a screen position hits; `None` if nothing there can be chosen.
    pub fn target_at(&self, open: &Calendar, cell: Position) -> Option<CalendarTarget> {
        if !self.inner.contains(cell) {
            return None;
        }
        let (column, row) = (usize::from(cell.x - self.inner.x), usize::from(cell.y - self.inner.y));
        if row == self.typed_range_row() {
            return Some(CalendarTarget::TypedRange);
        }
        if self.has_quick_choice_rows && row >= self.first_quick_choice_row() {
            return open.quick_choices().nth(row - self.first_quick_choice_row()).map(CalendarTarget::QuickChoice);
        }
        let week = self.weeks().nth(row.checked_sub(self.first_week_row())?)?;
        let first = self.month_starts.get(column / (MONTH_WIDTH + MONTH_GAP))?;
        let day = (column % (MONTH_WIDTH + MONTH_GAP)).checked_sub(WEEK_NUMBER_WIDTH)? / DAY_WIDTH;
        let day = days_of_week(*first, week).into_iter().nth(day)??;
        (day <= open.today).then_some(CalendarTarget::Day(day))
    }

    /// Whether the quick choices are in the line that otherwise describes the chosen range. This is so if they have no
    /// rows of their own and no range is chosen yet.
    pub fn shows_quick_choices_in_line(&self, open: &Calendar) -> bool {
        open.purpose == CalendarPurpose::Compare
            && !self.has_quick_choice_rows
            && open.choice() == CalendarChoice::Nothing
    }
}

/// Returns the days from Monday to Sunday of one week of the month that begins on `first`; `None` for days of another
/// month. `week` is counted from 0.
pub fn days_of_week(first: NaiveDate, week: usize) -> [Option<NaiveDate>; 7] {
    let back = Days::new(u64::from(first.weekday().num_days_from_monday()));
    let on = Days::new(u64::try_from(week).unwrap_or(0) * 7);
    let monday = first.checked_sub_days(back).and_then(|day| day.checked_add_days(on));
    [0, 1, 2, 3, 4, 5, 6].map(|n| monday?.checked_add_days(Days::new(n)).filter(|day| day.month() == first.month()))
}

/// Returns the first day of the first visible month. Of three months, the month of [`Calendar::visible_day`] is in the
/// middle; of two months, it is the last. The current month is never followed by another month, because that would be
/// in the future.
fn first_month(open: &Calendar, months: u32) -> NaiveDate {
    let month = |day: NaiveDate| DateRange::month_of(day).from();
    let seen = month(open.visible_day());
    let middle = seen.checked_add_months(chrono::Months::new((months - 1) / 2)).unwrap_or(seen);
    let last = middle.min(month(open.today)).max(seen);
    last.checked_sub_months(chrono::Months::new(months - 1)).unwrap_or(last)
}

/// Returns in which week of its month a day is, counted from 0. Weeks start on Monday.
fn week_index_in_month(day: NaiveDate) -> usize {
    let first = DateRange::month_of(day).from();
    let before = first.weekday().num_days_from_monday() + day.day0();
    usize::try_from(before / 7).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_up_to_today_can_be_clicked() {
        let today: NaiveDate = "2026-11-20".parse().expect("a day");
        for (width, height) in [(40, 10), (80, 22), (160, 46)] {
            for purpose in [CalendarPurpose::Show, CalendarPurpose::Compare] {
                let present = DateRange::last_days(7, today);
                let open = Calendar::new(purpose, present, present.step(-1), today);
                let months = CalendarLayout::for_area(&open, Rect::new(0, 1, width, height));
                let cells = months.area.positions().filter_map(|cell| months.target_at(&open, cell));
                let mut days: Vec<NaiveDate> = Vec::new();
                for target in cells {
                    if let CalendarTarget::Day(day) = target {
                        days.push(day);
                    }
                }
                assert!(days.iter().all(|day| *day <= today), "{width}");
                assert!(days.contains(&today), "{width}");
                let all = days.len();
                days.sort_unstable();
                days.dedup();
                assert_eq!(all, days.len() * DAY_WIDTH, "each has its cells at {width}");
                assert!(days.len() >= 20, "the present month is there at {width}");
            }
        }
    }
}
