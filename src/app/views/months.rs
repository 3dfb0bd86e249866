//! The layout of the calendar: the months, the line below them and the quick choices. Shared by drawing and mouse
//! input, so that they agree.

use super::super::geometry::centered;
use super::super::keymap::PreviousPeriod;
use super::calendar::{Calendar, CalendarChoice, CalendarPurpose};
use crate::model::period::DateRange;
use chrono::{Datelike as _, Days, NaiveDate};
use ratatui::layout::{Position, Rect};

/// Width of a day: a sign, two digits, a sign.
pub const DAY: usize = 4;
/// Width of the week number and the blank after it.
pub const WEEK: usize = 3;
/// Width of a month, and of the gap between two.
pub const MONTH: usize = WEEK + 7 * DAY;
pub const GAP: usize = 2;
/// Rows of weeks that a month can have; a low dialog shows five of them.
const WEEKS: usize = 6;
const FEW_WEEKS: usize = 5;
/// Rows between the borders: names of the months, names of the days, weeks, a gap, the line, and two lines of text.
const ROWS: u16 = 12;
/// Rows of the quick choices, with a gap above.
const QUICK_ROWS: u16 = 5;

/// The layout of the calendar for the available space.
#[derive(Debug, Clone)]
pub struct Months {
    /// The dialog with its borders.
    pub area: Rect,
    /// The area inside the borders.
    pub inner: Rect,
    /// The first days of the visible months.
    pub firsts: Vec<NaiveDate>,
    /// Whether the names of the months have their own row, and all weeks are shown.
    pub is_tall: bool,
    /// Whether the quick choices have their own rows.
    pub has_quick_rows: bool,
    /// The first visible week of each month, from 0.
    first_week: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarTarget {
    /// A day that is not in the future.
    Day(NaiveDate),
    /// The line in which a range is typed.
    Line,
    /// A quick choice of a comparison.
    Before(PreviousPeriod),
}

impl Months {
    /// Computes the layout for an area of the screen.
    pub fn for_area(open: &Calendar, body: Rect) -> Self {
        let fits = |n: usize| n * (MONTH + GAP) + 2 <= usize::from(body.width);
        let is_tall = body.height >= ROWS + 2;
        let quick = open.purpose == CalendarPurpose::Compare && body.height >= ROWS + QUICK_ROWS + 2;
        let months: u32 = if fits(3) { 3 } else { 1 + u32::from(fits(2)) };
        let columns = usize::try_from(months).unwrap_or(1) * (MONTH + GAP) + 2;
        let width = u16::try_from(columns.max(62)).unwrap_or(u16::MAX);
        let area = centered(body, width, ROWS + 2 + if quick { QUICK_ROWS } else { 0 });
        // One blank column inside each border.
        let (width, height) = (area.width.saturating_sub(4), area.height.saturating_sub(2));
        let inner = Rect { x: area.x + 2, y: area.y + 1, width, height };
        let first = first_month(open, months);
        let firsts = (0..months).filter_map(|n| first.checked_add_months(chrono::Months::new(n))).collect();
        // If a sixth week doesn't fit, the first week is left out when the chosen day is in the sixth.
        let week = usize::from(!is_tall && week_of(open.visible_day()) >= FEW_WEEKS);
        Self { area, inner, firsts, is_tall, has_quick_rows: quick, first_week: week }
    }

    /// The visible weeks of each month, from 0.
    pub fn weeks(&self) -> std::ops::Range<usize> {
        self.first_week..self.first_week + if self.is_tall { WEEKS } else { FEW_WEEKS }
    }

    /// Row of the first week, below the names.
    fn first_week_row(&self) -> usize {
        1 + usize::from(self.is_tall)
    }

    /// Row of the line in which a range is typed.
    pub fn line_row(&self) -> usize {
        self.first_week_row() + self.weeks().len() + usize::from(self.is_tall)
    }

    /// Row of the first quick choice.
    pub fn quick_row(&self) -> usize {
        self.line_row() + 4
    }

    /// What is at a position of the screen.
    pub fn target_at(&self, open: &Calendar, cell: Position) -> Option<CalendarTarget> {
        if !self.inner.contains(cell) {
            return None;
        }
        let (column, row) = (usize::from(cell.x - self.inner.x), usize::from(cell.y - self.inner.y));
        if row == self.line_row() {
            return Some(CalendarTarget::Line);
        }
        if self.has_quick_rows && row >= self.quick_row() {
            return PreviousPeriod::ALL.get(row - self.quick_row()).copied().map(CalendarTarget::Before);
        }
        let week = self.weeks().nth(row.checked_sub(self.first_week_row())?)?;
        let first = self.firsts.get(column / (MONTH + GAP))?;
        let day = (column % (MONTH + GAP)).checked_sub(WEEK)? / DAY;
        let day = days_of(*first, week).into_iter().nth(day)??;
        (day <= open.today).then_some(CalendarTarget::Day(day))
    }

    /// Whether the quick choices are shown in the line with the chosen range.
    pub fn has_quick_line(&self, open: &Calendar) -> bool {
        open.purpose == CalendarPurpose::Compare && !self.has_quick_rows && open.choice() == CalendarChoice::Nothing
    }
}

/// The days of a week of a month, starting on Monday; `None` for days of another month.
pub fn days_of(first: NaiveDate, week: usize) -> [Option<NaiveDate>; 7] {
    let back = Days::new(u64::from(first.weekday().num_days_from_monday()));
    let on = Days::new(u64::try_from(week).unwrap_or(0) * 7);
    let monday = first.checked_sub_days(back).and_then(|day| day.checked_add_days(on));
    [0, 1, 2, 3, 4, 5, 6].map(|n| monday?.checked_add_days(Days::new(n)).filter(|day| day.month() == first.month()))
}

/// The first day of the first visible month. The chosen day is in the middle, unless that would show future months.
fn first_month(open: &Calendar, months: u32) -> NaiveDate {
    let month = |day: NaiveDate| DateRange::month_of(day).from();
    let seen = month(open.visible_day());
    let middle = seen.checked_add_months(chrono::Months::new((months - 1) / 2)).unwrap_or(seen);
    let last = middle.min(month(open.today)).max(seen);
    last.checked_sub_months(chrono::Months::new(months - 1)).unwrap_or(last)
}

/// The week of its month that a day is in, from 0, starting on Monday.
fn week_of(day: NaiveDate) -> usize {
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
                let months = Months::for_area(&open, Rect::new(0, 1, width, height));
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
                assert_eq!(all, days.len() * DAY, "each has its cells at {width}");
                assert!(days.len() >= 20, "the present month is there at {width}");
            }
        }
    }
}
