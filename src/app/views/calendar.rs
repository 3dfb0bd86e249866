//! A range of one's own: picked on a calendar or typed.

use super::super::text_input::TextInput;
use super::super::{App, Effect};
use crate::model::Time;
use chrono::NaiveDate;

/// What the range is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The range that is shown.
    Show,
    /// The range that the shown one is compared with.
    Compare,
}

/// The layer.
#[derive(Debug)]
pub struct Calendar {
    pub purpose: Purpose,
    /// The day under the cursor.
    pub cursor: NaiveDate,
    /// The other end, once one is picked.
    pub anchor: Option<NaiveDate>,
    /// The range as typed.
    pub input: TextInput,
}

impl App {
    /// The keys that choose a range.
    pub(in crate::app) fn open_calendar(&mut self, _purpose: Purpose, _now: Time) {}

    /// Takes the picked or typed range.
    pub(in crate::app) fn take_range(&mut self, _now: Time, _effects: &mut Vec<Effect>) {}
}
