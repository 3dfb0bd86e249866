//! The entries of the log screen, and which of them are visible.

use crate::model::log::LogEntry;
use crate::model::text::CleanText;
use crate::tui::widgets::scroll;
use chrono::{FixedOffset, NaiveDate};
use std::collections::VecDeque;

pub(super) const MAX_LOG_ENTRIES: usize = 500;

/// A line of the log screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogLine<'a> {
    /// The heading of a day.
    Day(NaiveDate),
    /// An entry, with its index.
    Entry(usize, &'a LogEntry),
}

#[derive(Debug, Default)]
pub struct LogEntries {
    entries: VecDeque<LogEntry>,
    /// The index of the first visible entry while `is_pinned` is true.
    top: usize,
    /// Whether the user has scrolled up, so that new entries don't move the visible ones.
    is_pinned: bool,
}

impl LogEntries {
    /// Adds an entry. If the log is full, drops the oldest entry.
    pub fn push(&mut self, entry: LogEntry) {
        self.entries.push_back(entry);
        if self.entries.len() > MAX_LOG_ENTRIES {
            self.entries.pop_front();
            if self.is_pinned {
                self.top = self.top.saturating_sub(1);
            }
        }
    }

    /// Sorts the `older` entries by time and inserts them before the current entries. If not all of them fit, leaves
    /// out the oldest.
    pub fn prepend(&mut self, mut older: Vec<LogEntry>) {
        older.sort_by_key(|entry| entry.at);
        for entry in older.into_iter().rev().take(MAX_LOG_ENTRIES.saturating_sub(self.entries.len())) {
            self.entries.push_front(entry);
        }
    }

    /// Replaces the ids of jobs with the titles of the jobs, which are easier to recognize.
    pub(super) fn replace_ids_with_titles(&mut self, title: impl Fn(&str) -> Option<CleanText>) {
        for entry in &mut self.entries {
            if let Some(title) = title(entry.subject.as_str()) {
                entry.subject = title;
            }
        }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the visible lines on a screen with `rows` lines. A heading precedes the first visible entry of each day,
    /// except at the top if the top entry is of today. Unless the user has scrolled up, the newest entry is the last
    /// line.
    pub(super) fn lines(&self, rows: usize, offset: FixedOffset, today: NaiveDate) -> Vec<LogLine<'_>> {
        let first = self.first_visible(rows);
        let from = |first: usize| {
            let mut day = today;
            let entries = self.entries.iter().enumerate().skip(first).take(rows);
            let lines = entries.flat_map(move |(n, entry)| {
                let of_entry = entry.at.with_timezone(&offset).date_naive();
                let heading = (std::mem::replace(&mut day, of_entry) != of_entry).then_some(LogLine::Day(of_entry));
                heading.into_iter().chain([LogLine::Entry(n, entry)])
            });
            lines.collect::<Vec<_>>()
        };
        let mut lines = from(first);
        if self.is_pinned {
            lines.truncate(rows);
            return lines;
        }
        for later in 1.. {
            if lines.len() <= rows {
                break;
            }
            lines = from(first + later);
        }
        lines
    }

    /// Returns the index of the entry that would be at the top of a screen with `rows` lines if headings took no lines.
    fn first_visible(&self, rows: usize) -> usize {
        let end = self.entries.len().saturating_sub(rows);
        if self.is_pinned { self.top.min(end) } else { end }
    }

    pub fn scroll_by(&mut self, by: isize, rows: usize) {
        let end = self.entries.len().saturating_sub(rows);
        let top = scroll::move_within(self.first_visible(rows), by, end + 1);
        self.top = top;
        self.is_pinned = top < end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::model::log::LogKind;
    use crate::tui::jobs::tests::at;
    use chrono::TimeDelta;

    fn entry(n: i64) -> LogEntry {
        LogEntry { at: at(n), subject: CleanText::line("job"), kind: LogKind::Note(CleanText::line("x")) }
    }

    fn utc() -> FixedOffset {
        FixedOffset::east_opt(0).expect("an offset")
    }

    fn times(log: &LogEntries, rows: usize) -> Vec<Time> {
        let time = |line: &LogLine<'_>| match line {
            LogLine::Entry(_, entry) => Some(entry.at),
            LogLine::Day(_) => None,
        };
        log.lines(rows, utc(), at(0).date_naive()).iter().filter_map(time).collect()
    }

    #[test]
    fn an_entry_with_the_id_of_a_job_gets_its_title() {
        let mut log = LogEntries::default();
        (0..2).for_each(|n| log.push(entry(n)));
        log.push(LogEntry { subject: CleanText::line("j1"), ..entry(2) });
        log.replace_ids_with_titles(|subject| (subject == "j1").then(|| CleanText::line("Fix the links")));
        let subjects: Vec<&str> = log.entries.iter().map(|entry| entry.subject.as_str()).collect();
        assert_eq!(subjects, ["job", "job", "Fix the links"]);
    }

    #[test]
    fn a_full_log_drops_its_oldest_entries() {
        let mut log = LogEntries::default();
        (0..600).for_each(|n| log.push(entry(n)));
        assert_eq!(log.len(), MAX_LOG_ENTRIES);
        assert_eq!(times(&log, 600).first(), Some(&at(100)));
    }

    #[test]
    fn new_entries_do_not_move_the_visible_ones_after_scrolling_up() {
        let mut log = LogEntries::default();
        (0..100).for_each(|n| log.push(entry(n)));
        log.scroll_by(-20, 10);
        let read = times(&log, 10);
        (100..120).for_each(|n| log.push(entry(n)));
        assert_eq!(times(&log, 10), read);
        log.scroll_by(isize::MAX, 10);
        log.push(entry(120));
        assert_eq!(times(&log, 10).last(), Some(&at(120)));
    }

    #[test]
    fn a_day_has_a_heading_unless_only_today_is_visible_and_the_newest_entry_stays_visible() {
        let day = |days| at(0) + TimeDelta::days(days);
        let mut log = LogEntries::default();
        for entry_at in [day(0), day(0), day(1), day(1), day(1)] {
            log.push(LogEntry { at: entry_at, ..entry(0) });
        }
        let shown = |log: &LogEntries, rows| -> String {
            let line = |line: &LogLine<'_>| match line {
                LogLine::Day(day) => format!("{} ", day.format("%d")),
                LogLine::Entry(n, _) => format!("{n} "),
            };
            log.lines(rows, utc(), day(1).date_naive()).iter().map(line).collect()
        };
        let [first, second] = [day(0), day(1)].map(|day| day.format("%d").to_string());
        assert_eq!(shown(&log, 3), "2 3 4 ");
        assert_eq!(shown(&log, 9), format!("{first} 0 1 {second} 2 3 4 "));
        assert_eq!(shown(&log, 5), format!("{first} 1 {second} 2 3 4 ").split_once(' ').map_or("", |_| "2 3 4 "));
        log.scroll_by(isize::MIN / 2, 4);
        assert_eq!(shown(&log, 4), format!("{first} 0 1 {second} "));
    }
}
