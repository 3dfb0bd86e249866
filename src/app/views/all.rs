//! All pages of a range: what is known of them, loading them at a price that is said first, and comparing two ranges.

use super::super::{App, Effect};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::period::DateRange;
use crate::model::report::{LoadEnd, LoadProgress, Recalled};

/// What is known of whole ranges, and what is being loaded.
#[derive(Debug, Default)]
pub struct All {
    progress: Option<LoadProgress>,
}

impl All {
    /// How far loading is, while it goes on.
    pub fn progress(&self) -> Option<LoadProgress> {
        self.progress
    }
}

impl App {
    /// The key that loads all pages, or stops that.
    pub(in crate::app) fn load_all(&mut self, _now: Time, _effects: &mut Vec<Effect>) {}

    /// The key that compares with the period before, or stops that.
    pub(in crate::app) fn compare(&mut self, _now: Time, _effects: &mut Vec<Effect>) {}

    /// Compares with this range.
    pub(in crate::app) fn compare_with(&mut self, _range: DateRange, _now: Time, _effects: &mut Vec<Effect>) {}

    pub(in crate::app) fn recalled(
        &mut self,
        _range: DateRange,
        _recalled: Result<Recalled, Failure>,
        _now: Time,
        _effects: &mut Vec<Effect>,
    ) {
        self.dirty = true;
    }

    pub(in crate::app) fn loading(&mut self, progress: LoadProgress) {
        self.views.all.progress = Some(progress);
        self.dirty = true;
    }

    pub(in crate::app) fn load_ended(
        &mut self,
        _range: DateRange,
        _end: LoadEnd,
        _now: Time,
        _effects: &mut Vec<Effect>,
    ) {
        self.views.all.progress = None;
        self.dirty = true;
    }
}
