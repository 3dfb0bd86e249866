//! The arguments that all drawing functions share.

use super::app::App;
use super::draw::KeptCells;
use super::draw::theme::Theme;
use crate::model::Time;

/// What all drawing functions need: the state, the theme, the current time, and the cells of the last frame that can be
/// reused.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub app: &'a App,
    pub theme: &'a Theme,
    pub now: Time,
    pub kept_cells: &'a KeptCells,
}

impl View<'_> {
    /// Formats the time at which data was loaded: `as of 14:02`, with the date if that was not today.
    pub fn as_of_text(self, as_of: Time) -> String {
        let at = as_of.with_timezone(&self.app.config.offset);
        let is_today = at.date_naive() == self.now.with_timezone(&self.app.config.offset).date_naive();
        format!("as of {}", at.format(if is_today { "%H:%M" } else { "%-d %b %H:%M" }))
    }
}
