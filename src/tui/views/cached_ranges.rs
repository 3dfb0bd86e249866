//! The dialog that lists the cached date ranges of page views, with their age and their total size on disk. Showing a
//! cached range uses no requests.

use super::super::dialog::Dialog;
use super::super::list_state::ListState;
use super::super::{App, Effect, Severity};
use crate::model::Time;
use crate::model::comparison::NotComparable;
use crate::model::failure::Failure;
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::{CachedRange, CachedViews};

#[derive(Debug)]
pub struct CachedRanges {
    pub cached: Load<CachedViews>,
    pub list: ListState,
}

impl CachedRanges {
    fn new() -> Self {
        Self { cached: Load::Loading { before: None }, list: ListState::default() }
    }

    fn ranges(&self) -> &[CachedRange] {
        self.cached.shown().map_or(&[], |cached| &cached.value.ranges)
    }

    /// Returns the selected range.
    pub fn selected(&self) -> Option<&CachedRange> {
        self.ranges().get(self.list.selected())
    }

    /// Returns the ranges that are visible in `rows` rows. The `bool` says whether the range is selected.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = (&CachedRange, bool)> {
        self.list.visible(self.ranges().iter(), rows)
    }
}

impl App {
    /// Opens the dialog and starts reading the list of cached ranges.
    pub(in crate::tui) fn open_cached_ranges(&mut self, effects: &mut Vec<Effect>) {
        self.dialogs.push(Dialog::CachedRanges(Box::new(CachedRanges::new())));
        effects.push(Effect::ListCachedRanges);
    }

    /// Closes the dialog and shows the page views of the selected range.
    pub(in crate::tui) fn show_cached_range(&mut self, effects: &mut Vec<Effect>) {
        if let Some(range) = self.close_cached_ranges() {
            effects.extend(self.views.set_custom_range(range));
        }
    }

    /// Compares the range on screen with the selected range.
    pub(in crate::tui) fn compare_with_cached(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let shown = self.views.query().range;
        let is_shown = |open: &CachedRanges| open.selected().is_some_and(|known| known.range == shown);
        if matches!(self.dialogs.last(), Some(Dialog::CachedRanges(cached)) if is_shown(cached)) {
            return self.notify(Severity::Info, &NotComparable::SameDays.to_string(), now);
        }
        if let Some(range) = self.close_cached_ranges() {
            self.compare_with(range, now, effects);
        }
    }

    /// Returns when each visible range was loaded. Empty unless the list is the topmost dialog.
    pub(in crate::tui) fn cached_ranges_as_of(&self) -> Vec<Time> {
        match self.dialogs.last() {
            Some(Dialog::CachedRanges(open)) => {
                open.visible(self.geometry().cached_rows()).map(|(known, _)| known.as_of).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Closes the dialog and returns the selected range. Leaves the dialog open if no range is selected.
    fn close_cached_ranges(&mut self) -> Option<DateRange> {
        let Some(Dialog::CachedRanges(cached)) = self.dialogs.last() else { return None };
        let range = cached.selected()?.range;
        self.dialogs.pop();
        Some(range)
    }

    /// Shows the list of cached ranges, or why it can't be read, if the dialog is still open.
    pub(in crate::tui) fn cached_ranges_loaded(&mut self, result: Result<CachedViews, Failure>, now: Time) {
        let open = self.dialogs.iter_mut().rev().find_map(|dialog| match dialog {
            Dialog::CachedRanges(open) => Some(open),
            _ => None,
        });
        if let Some(open) = open {
            open.cached.finish(result.map(|value| Timed { value, as_of: now }), now);
            open.list.set_len(open.ranges().len());
            self.dirty = true;
        }
    }
}
