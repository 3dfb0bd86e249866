//! A page's own card: its numbers now and before, its rank, what other ranges say of it, and the jobs about it.

use super::super::{App, Effect};
use crate::model::Time;
use crate::model::about::PageHistory;
use crate::model::failure::Failure;
use crate::model::load::Load;
use crate::model::text::CleanText;

/// The layer.
#[derive(Debug)]
pub struct Card {
    pub path: CleanText,
    pub history: Load<PageHistory>,
    /// First visible line.
    pub scroll: usize,
}

impl App {
    /// Enter on a page.
    pub(in crate::app) fn open_card(&mut self, _effects: &mut Vec<Effect>) {}

    pub(in crate::app) fn page_history(
        &mut self,
        _path: &CleanText,
        _result: Result<PageHistory, Failure>,
        _now: Time,
    ) {
        self.dirty = true;
    }
}
