//! Export of what is shown or of all: CSV, JSON or Markdown, to a file or to the clipboard.

use super::super::{App, Effect};
use crate::model::Time;

/// The layer.
#[derive(Debug)]
pub struct Export {
    /// Place of the selected choice.
    pub selected: usize,
}

impl App {
    /// The key that exports.
    pub(in crate::app) fn open_export(&mut self, _now: Time) {}

    /// Carries the selected choice out.
    pub(in crate::app) fn export_views(&mut self, _now: Time, _effects: &mut Vec<Effect>) {}

    /// A file of that name is there already.
    pub(in crate::app) fn file_exists(&mut self, _name: String, _text: String) {
        self.dirty = true;
    }
}
