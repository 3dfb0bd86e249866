//! What is kept of page views: the ranges, how old they are, and the room they take. Showing one costs no request.

use super::super::dialog::Dialog;
use super::super::{App, Effect, Severity, scroll};
use crate::model::Time;
use crate::model::comparison::NotComparable;
use crate::model::failure::Failure;
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::{CachedViews, KnownRange};

/// The layer.
#[derive(Debug)]
pub struct CachedRanges {
    pub kept: Load<CachedViews>,
    selected: usize,
    top: usize,
}

impl CachedRanges {
    fn new() -> Self {
        Self { kept: Load::Loading { before: None }, selected: 0, top: 0 }
    }

    fn ranges(&self) -> &[KnownRange] {
        self.kept.shown().map_or(&[], |kept| &kept.value.ranges)
    }

    /// The selected range.
    pub fn selected(&self) -> Option<&KnownRange> {
        self.ranges().get(self.selected)
    }

    /// The visible ranges, each with whether it is the selected one.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = (&KnownRange, bool)> {
        let window = self.ranges().iter().enumerate().skip(self.top).take(rows);
        window.map(|(at, known)| (known, at == self.selected))
    }

    /// How many ranges are out of sight below.
    pub fn below(&self, rows: usize) -> usize {
        self.ranges().len().saturating_sub(self.top + rows)
    }

    /// Moves the selection.
    pub(in crate::app) fn move_to(&mut self, to: impl FnOnce(usize, usize) -> usize, rows: usize) {
        self.selected = to(self.selected, self.ranges().len());
        self.keep_in_sight(rows);
    }

    /// Keeps the selection in sight.
    pub(in crate::app) fn keep_in_sight(&mut self, rows: usize) {
        self.top = scroll::follow(self.top, self.selected, rows, self.ranges().len());
    }
}

impl App {
    /// The key that lists what is kept.
    pub(in crate::app) fn open_kept(&mut self, effects: &mut Vec<Effect>) {
        self.dialogs.push(Dialog::Kept(Box::new(CachedRanges::new())));
        effects.push(Effect::ListKept);
    }

    /// Enter: the selected range is shown.
    pub(in crate::app) fn show_kept(&mut self, effects: &mut Vec<Effect>) {
        if let Some(range) = self.take_kept() {
            effects.extend(self.views.custom(range));
        }
    }

    /// The shown range is compared with the selected one.
    pub(in crate::app) fn compare_with_kept(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let present = self.views.query().range;
        let is_present = |kept: &CachedRanges| kept.selected().is_some_and(|known| known.range == present);
        if matches!(self.dialogs.last(), Some(Dialog::Kept(kept)) if is_present(kept)) {
            return self.notify(Severity::Info, &NotComparable::SameDays.to_string(), now);
        }
        if let Some(range) = self.take_kept() {
            self.compare_with(range, now, effects);
        }
    }

    /// The times of what the list shows, when it is on top.
    pub(in crate::app) fn kept_as_of(&self) -> Vec<Time> {
        match self.dialogs.last() {
            Some(Dialog::Kept(open)) => {
                open.visible(self.geometry().kept_rows()).map(|(known, _)| known.as_of).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Closes the list and gives the selected range.
    fn take_kept(&mut self) -> Option<DateRange> {
        let Some(Dialog::Kept(kept)) = self.dialogs.last() else { return None };
        let range = kept.selected()?.range;
        self.dialogs.pop();
        Some(range)
    }

    /// What is kept was listed.
    pub(in crate::app) fn kept_listed(&mut self, result: Result<CachedViews, Failure>, now: Time) {
        let open = self.dialogs.iter_mut().rev().find_map(|overlay| match overlay {
            Dialog::Kept(open) => Some(open),
            _ => None,
        });
        if let Some(open) = open {
            open.kept.finish(result.map(|value| Timed { value, as_of: now }), now);
            self.dirty = true;
        }
    }
}
