//! All pages of a range: what is known of them, loading them at a price that is said first, and comparing two ranges.

use super::super::overlay::{Consequence, Overlay, Question};
use super::super::{App, Effect};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::period::DateRange;
use crate::model::report::{LoadEnd, LoadOrder, LoadProgress, Recalled};

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

    /// Asks before all pages of these ranges are loaded, with what is known of the price.
    pub(in crate::app) fn ask_to_load(&mut self, ranges: Vec<DateRange>, _now: Time, _effects: &mut Vec<Effect>) {
        let names: Vec<String> = ranges.iter().map(ToString::to_string).collect();
        let text = format!("Load all pages of {}? It takes at least one request for each.", names.join(" and of "));
        let order = |range: DateRange| LoadOrder { range, afresh: false, at_most: 20 };
        let yes = Consequence::LoadAll(ranges.into_iter().map(order).collect());
        self.overlays.push(Overlay::Question(Question { text, yes }));
    }

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
