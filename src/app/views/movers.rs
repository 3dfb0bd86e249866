//! Movers: the pages that gained and lost most between two ranges, by human or by AI views.

use super::super::App;
use crate::model::Time;

/// The layer.
#[derive(Debug)]
pub struct Movers {
    /// By AI views instead of human ones.
    pub by_ai: bool,
}

impl App {
    /// The key that shows what moved.
    pub(in crate::app) fn open_movers(&mut self, _now: Time) {}
}
