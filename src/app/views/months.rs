//! Where the months of the calendar stand, with the line below them and the quick choices. Drawing and the mouse both ask
//! here, so that they agree.

use super::super::geometry::centered;
use super::super::keymap::PreviousPeriod;
use super::calendar::{Calendar, CalendarChoice, CalendarPurpose};
use crate::model::period::DateRange;
use chrono::{Datelike as _, Days, NaiveDate};
use ratatui::layout::{Position, Rect};

/// Cells of a day: a sign, two digits, a sign.
pub const DAY: usize = 4;
/// Cells of the week's number and the blank behind it.
pub const WEEK: usize = 3;
/// Cells of a month, and of the gap between two.
pub const MONTH: usize = WEEK + 7 * DAY;
pub const GAP: usize = 2;
/// Rows of weeks that a month can have; the small layer shows five of them.
const WEEKS: usize = 6;
const FEW_WEEKS: usize = 5;
/// Rows in the borders: the months' names, the days' names, the weeks, a gap, the line, two for what there is to say.
const ROWS: u16 = 12;
/// Rows of the quick choices with a gap above.
const QUICK_ROWS: u16 = 5;

/// How the calendar is laid out in the room that is there.
#[derive(Debug, Clone)]
pub struct Months {
    /// The layer with its borders.
    pub area: Rect,
    /// What is in it.
    pub inner: Rect,
    /// The first days of the months in sight.
    pub firsts: Vec<NaiveDate>,
    /// Whether the months' names have a row of their own, and all weeks are shown.
    pub roomy: bool,
    /// Whether the quick choices have rows of their own.
    pub quick: bool,
    /// The first week of the months that is shown, from 0.
    week: usize,
}

/// What can be clicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarTarget {
    /// A day that has come.
    Day(NaiveDate),
    /// The line in which a range is typed.
    Line,
    /// A quick choice of a comparison.
    Before(PreviousPeriod),
}

impl Months {
    /// In this part of the screen.
    pub fn of(open: &Calendar, body: Rect) -> Self {
        let fits = |n: usize| n * (MONTH + GAP) + 2 <= usize::from(body.width);
        let roomy = body.height >= ROWS + 2;
        let quick = open.purpose == CalendarPurpose::Compare && body.height >= ROWS + QUICK_ROWS + 2;
        let months: u32 = if fits(3) { 3 } else { 1 + u32::from(fits(2)) };
        let columns = usize::try_from(months).unwrap_or(1) * (MONTH + GAP) + 2;
        let width = u16::try_from(columns.max(62)).unwrap_or(u16::MAX);
        let area = centered(body, width, ROWS + 2 + if quick { QUICK_ROWS } else { 0 });
        // Between the borders, with a column of air on each side.
        let (width, height) = (area.width.saturating_sub(4), area.height.saturating_sub(2));
        let inner = Rect { x: area.x + 2, y: area.y + 1, width, height };
        let first = first_month(open, months);
        let firsts = (0..months).filter_map(|n| first.checked_add_months(chrono::Months::new(n))).collect();
        // Where there is no room for a sixth week, the first one gives way once the chosen day is in it.
        let week = usize::from(!roomy && week_of(open.seen()) >= FEW_WEEKS);
        Self { area, inner, firsts, roomy, quick, week }
    }

    /// The weeks that are shown of each month, from 0.
    pub fn weeks(&self) -> std::ops::Range<usize> {
        self.week..self.week + if self.roomy { WEEKS } else { FEW_WEEKS }
    }

    /// Row of the first week, under the names.
    fn first_week_row(&self) -> usize {
        1 + usize::from(self.roomy)
    }

    /// Row of the line in which a range is typed.
    pub fn line_row(&self) -> usize {
        self.first_week_row() + self.weeks().len() + usize::from(self.roomy)
    }

    /// Row of the first quick choice.
    pub fn quick_row(&self) -> usize {
        self.line_row() + 4
    }

    /// What stands in a cell of the screen.
    pub fn at(&self, open: &Calendar, cell: Position) -> Option<CalendarTarget> {
        if !self.inner.contains(cell) {
            return None;
        }
        let (column, row) = (usize::from(cell.x - self.inner.x), usize::from(cell.y - self.inner.y));
        if row == self.line_row() {
            return Some(CalendarTarget::Line);
        }
        if self.quick && row >= self.quick_row() {
            return PreviousPeriod::ALL.get(row - self.quick_row()).copied().map(CalendarTarget::Before);
        }
        let week = self.weeks().nth(row.checked_sub(self.first_week_row())?)?;
        let first = self.firsts.get(column / (MONTH + GAP))?;
        let day = (column % (MONTH + GAP)).checked_sub(WEEK)? / DAY;
        let day = days_of(*first, week).into_iter().nth(day)??;
        (day <= open.today).then_some(CalendarTarget::Day(day))
    }

    /// Whether the quick choices stand in the line that says what is chosen.
    pub fn says_quick(&self, open: &Calendar) -> bool {
        open.purpose == CalendarPurpose::Compare && !self.quick && open.choice() == CalendarChoice::Nothing
    }
}

/// The days of a week of a month, Monday first; none for those that lie in another month.
pub fn days_of(first: NaiveDate, week: usize) -> [Option<NaiveDate>; 7] {
    let back = Days::new(u64::from(first.weekday().num_days_from_monday()));
    let on = Days::new(u64::try_from(week).unwrap_or(0) * 7);
    let monday = first.checked_sub_days(back).and_then(|day| day.checked_add_days(on));
    [0, 1, 2, 3, 4, 5, 6].map(|n| monday?.checked_add_days(Days::new(n)).filter(|day| day.month() == first.month()))
}

/// The first day of the first month in sight: what is chosen is in the middle, unless that would show the future.
fn first_month(open: &Calendar, months: u32) -> NaiveDate {
    let month = |day: NaiveDate| DateRange::month_of(day).from();
    let seen = month(open.seen());
    let middle = seen.checked_add_months(chrono::Months::new((months - 1) / 2)).unwrap_or(seen);
    let last = middle.min(month(open.today)).max(seen);
    last.checked_sub_months(chrono::Months::new(months - 1)).unwrap_or(last)
}

/// In which week of its month a day lies, from 0, Monday first.
fn week_of(day: NaiveDate) -> usize {
    let first = DateRange::month_of(day).from();
    let before = first.weekday().num_days_from_monday() + day.day0();
    usize::try_from(before / 7).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_that_has_come_has_a_place_of_its_own() {
        let today: NaiveDate = "2026-11-20".parse().expect("a day");
        for (width, height) in [(40, 10), (80, 22), (160, 46)] {
            for purpose in [CalendarPurpose::Show, CalendarPurpose::Compare] {
                let present = DateRange::last_days(7, today);
                let open = Calendar::new(purpose, present, present.step(-1), today);
                let months = Months::of(&open, Rect::new(0, 1, width, height));
                let cells = months.area.positions().filter_map(|cell| months.at(&open, cell));
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
                assert_eq!(all, days.len() * DAY, "each has its cells at {width}");
                assert!(days.len() >= 20, "the present month is there at {width}");
            }
        }
    }
}
