//! The last requests and transitions, newest at the bottom; the view follows the end until the user scrolls up.

use super::scroll;
use crate::model::log::LogEntry;
use std::collections::VecDeque;

/// Lines that are kept.
pub const KEPT: usize = 500;

/// The log screen's state.
#[derive(Debug, Default)]
pub struct LogScreen {
    entries: VecDeque<LogEntry>,
    top: usize,
    /// Scrolled up: new lines don't move what is read.
    held: bool,
}

impl LogScreen {
    /// Adds a line, dropping the oldest beyond [`KEPT`].
    pub fn push(&mut self, entry: LogEntry) {
        self.entries.push_back(entry);
        if self.entries.len() > KEPT {
            self.entries.pop_front();
            if self.held {
                self.top = self.top.saturating_sub(1);
            }
        }
    }

    /// Puts older lines before those that are there, in the order of their times.
    pub fn prepend(&mut self, mut older: Vec<LogEntry>) {
        older.sort_by_key(|entry| entry.at);
        for entry in older.into_iter().rev().take(KEPT.saturating_sub(self.entries.len())) {
            self.entries.push_front(entry);
        }
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing happened yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The visible lines.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = &LogEntry> {
        self.entries.iter().skip(self.top_at(rows)).take(rows)
    }

    /// First visible line.
    pub fn top_at(&self, rows: usize) -> usize {
        let end = self.entries.len().saturating_sub(rows);
        if self.held { self.top.min(end) } else { end }
    }

    /// Scrolls by so many lines of a view of `rows`.
    pub fn scroll_by(&mut self, by: isize, rows: usize) {
        let end = self.entries.len().saturating_sub(rows);
        let top = scroll::moved(self.top_at(rows), by, end + 1);
        self.top = top;
        self.held = top < end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::jobs::tests::at;
    use crate::model::log::LogKind;
    use crate::model::text::CleanText;

    fn entry(n: i64) -> LogEntry {
        LogEntry { at: at(n), subject: CleanText::line("job"), what: LogKind::Note(CleanText::line("x")) }
    }

    #[test]
    fn the_oldest_lines_go_first() {
        let mut log = LogScreen::default();
        (0..600).for_each(|n| log.push(entry(n)));
        assert_eq!(log.len(), KEPT);
        assert_eq!(log.visible(600).next().map(|e| e.at), Some(at(100)));
    }

    #[test]
    fn new_lines_do_not_move_what_is_being_read() {
        let mut log = LogScreen::default();
        (0..100).for_each(|n| log.push(entry(n)));
        log.scroll_by(-20, 10);
        let read = log.visible(10).next().map(|e| e.at);
        (100..120).for_each(|n| log.push(entry(n)));
        assert_eq!(log.visible(10).next().map(|e| e.at), read);
        log.scroll_by(isize::MAX, 10);
        log.push(entry(120));
        assert_eq!(log.visible(10).last().map(|e| e.at), Some(at(120)));
    }
}
