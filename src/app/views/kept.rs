//! What is kept of page views: the ranges, how old they are, and the room they take.

use super::super::{App, Effect};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::load::Load;
use crate::model::report::Kept;

/// The layer.
#[derive(Debug)]
pub struct KeptRanges {
    pub kept: Load<Kept>,
    pub selected: usize,
    pub top: usize,
}

impl App {
    /// The key that lists what is kept.
    pub(in crate::app) fn open_kept(&mut self, _effects: &mut Vec<Effect>) {}

    /// Enter: the selected range is shown.
    pub(in crate::app) fn show_kept(&mut self, _now: Time, _effects: &mut Vec<Effect>) {}

    pub(in crate::app) fn kept_listed(&mut self, _result: Result<Kept, Failure>, _now: Time) {
        self.dirty = true;
    }
}
