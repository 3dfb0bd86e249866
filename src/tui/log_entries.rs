//! The entries of the log screen, and which of them are visible.

use crate::model::log::LogEntry;
use crate::tui::widgets::scroll;
use std::collections::VecDeque;

pub(super) const MAX_LOG_ENTRIES: usize = 500;

#[derive(Debug, Default)]
pub struct LogEntries {
    entries: VecDeque<LogEntry>,
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

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entries that are visible on a screen with `rows` lines.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = &LogEntry> {
        self.entries.iter().skip(self.first_visible(rows)).take(rows)
    }

    /// Returns the index of the first visible entry on a screen with `rows` lines.
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
    use crate::model::log::LogKind;
    use crate::model::text::CleanText;
    use crate::tui::jobs::tests::at;

    fn entry(n: i64) -> LogEntry {
        LogEntry { at: at(n), subject: CleanText::line("job"), kind: LogKind::Note(CleanText::line("x")) }
    }

    #[test]
    fn a_full_log_drops_its_oldest_entries() {
        let mut log = LogEntries::default();
        (0..600).for_each(|n| log.push(entry(n)));
        assert_eq!(log.len(), MAX_LOG_ENTRIES);
        assert_eq!(log.visible(600).next().map(|e| e.at), Some(at(100)));
    }

    #[test]
    fn new_entries_do_not_move_the_visible_ones_after_scrolling_up() {
        let mut log = LogEntries::default();
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
