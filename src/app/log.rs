//! The latest requests and transitions, newest at the bottom. The view follows the end until the user scrolls up.

use super::scroll;
use crate::model::log::LogEntry;
use std::collections::VecDeque;

pub const MAX_LINES: usize = 500;

#[derive(Debug, Default)]
pub struct LogScreen {
    entries: VecDeque<LogEntry>,
    top: usize,
    /// Scrolled up: new lines don't move the view.
    is_pinned: bool,
}

impl LogScreen {
    /// Adds a line and drops the oldest beyond [`MAX_LINES`].
    pub fn push(&mut self, entry: LogEntry) {
        self.entries.push_back(entry);
        if self.entries.len() > MAX_LINES {
            self.entries.pop_front();
            if self.is_pinned {
                self.top = self.top.saturating_sub(1);
            }
        }
    }

    /// Inserts older lines before the current ones, sorted by time.
    pub fn prepend(&mut self, mut older: Vec<LogEntry>) {
        older.sort_by_key(|entry| entry.at);
        for entry in older.into_iter().rev().take(MAX_LINES.saturating_sub(self.entries.len())) {
            self.entries.push_front(entry);
        }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn visible(&self, rows: usize) -> impl Iterator<Item = &LogEntry> {
        self.entries.iter().skip(self.first_visible(rows)).take(rows)
    }

    /// The first visible line.
    pub fn first_visible(&self, rows: usize) -> usize {
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
    use crate::app::jobs::tests::at;
    use crate::model::log::LogKind;
    use crate::model::text::CleanText;

    fn entry(n: i64) -> LogEntry {
        LogEntry { at: at(n), subject: CleanText::line("job"), kind: LogKind::Note(CleanText::line("x")) }
    }

    #[test]
    fn the_oldest_lines_go_first() {
        let mut log = LogScreen::default();
        (0..600).for_each(|n| log.push(entry(n)));
        assert_eq!(log.len(), MAX_LINES);
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
