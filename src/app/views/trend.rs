//! The trend: human and AI views per day of the range, or per week of a long one, from the site's totals.

use super::super::{App, Effect};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::load::Stamped;
use crate::model::period::DateRange;
use crate::model::views::Counts;
use std::collections::HashMap;

/// The site's totals by range, as far as they are known.
#[derive(Debug, Default)]
pub struct Totals {
    known: HashMap<DateRange, Stamped<Counts>>,
}

impl Totals {
    /// What is known of this range.
    pub fn of(&self, range: DateRange) -> Option<&Stamped<Counts>> {
        self.known.get(&range)
    }
}

/// The layer.
#[derive(Debug)]
pub struct Trend {
    pub range: DateRange,
}

impl App {
    /// The key that shows the trend.
    pub(in crate::app) fn open_trend(&mut self, _now: Time, _effects: &mut Vec<Effect>) {}

    pub(in crate::app) fn totals_told(&mut self, range: DateRange, totals: Stamped<Counts>) {
        self.views.totals.known.insert(range, totals);
        self.dirty = true;
    }

    pub(in crate::app) fn totals_recalled(
        &mut self,
        result: Result<Vec<(DateRange, Stamped<Counts>)>, Failure>,
        _now: Time,
        _effects: &mut Vec<Effect>,
    ) {
        self.views.totals.known.extend(result.unwrap_or_default());
        self.dirty = true;
    }

    pub(in crate::app) fn totals_loaded(&mut self, result: Result<(), Failure>, now: Time) {
        if let Err(failure) = result {
            self.say_failure(&failure, now);
        }
        self.dirty = true;
    }
}
