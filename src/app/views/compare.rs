//! Two ranges against each other: by `c` with the period before, by `C` with any other. Both have to be known whole.

use super::super::keymap::{Action, Context};
use super::super::overlay::{Consequence, Overlay, Question};
use super::super::{App, Effect, Tone};
use super::all::{All, Need, is_settled};
use crate::model::Time;
use crate::model::period::DateRange;
use crate::model::report::Report;
use crate::model::views::{Count, Counts};
use std::sync::Arc;

/// Which ranges are compared, or are to be once both are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) of: DateRange,
    pub(super) with: DateRange,
    /// It came along with a change of range: the record is being read, and nothing is asked of the service for it.
    follows: bool,
}

/// The totals that those of the listed range are held against.
#[derive(Debug, Clone, Copy)]
pub struct Before<'a> {
    pub range: DateRange,
    pub totals: &'a Counts,
    /// When the totals were true.
    pub as_of: Time,
    /// Whether the pages are compared, too, and not only the totals.
    pub by_page: bool,
}

impl Before<'_> {
    /// Whether the last day had not ended when the totals were taken.
    pub fn is_partial(&self) -> bool {
        !is_settled(self.range, self.as_of)
    }
}

/// Change of a count in percent of what it was; none where either is no count or it was nothing.
pub fn change(before: &Count, now: &Count) -> Option<f64> {
    let (before, now) = (before.value()?, now.value()?);
    (!before.is_zero()).then(|| (now.ratio_to(before) - 1.0) * 100.0)
}

impl All {
    /// The whole report that this range is compared with.
    pub(super) fn compared_with(&self, range: &DateRange) -> Option<&Arc<Report>> {
        let comparison = self.comparison.filter(|comparison| comparison.of == *range)?;
        self.whole(comparison.with)
    }
}

impl super::Views {
    /// What the listed totals are held against: the range that is compared, else the period before, as far as its totals
    /// are known and final.
    pub fn before(&self) -> Option<Before<'_>> {
        if !self.is_current() {
            return None;
        }
        if let Some(before) = self.table.before() {
            return Some(Before { range: before.range, totals: &before.totals, as_of: before.as_of, by_page: true });
        }
        let range = self.query().range.before()?;
        let known = self.totals.of(range).filter(|known| is_settled(range, known.as_of))?;
        Some(Before { range, totals: &known.value, as_of: known.as_of, by_page: false })
    }

    /// Whether pages are compared.
    pub fn is_comparing(&self) -> bool {
        self.table.before().is_some()
    }
}

impl App {
    /// The key that compares with the period before, or stops that.
    pub(in crate::app) fn compare(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if self.views.is_comparing() {
            self.views.all.comparison = None;
            self.list_whole();
            return;
        }
        match self.views.query().range.before() {
            Some(before) => self.compare_with(before, now, effects),
            None => self.say(Tone::Info, "There is no period before this one on the calendar.", now),
        }
    }

    /// Compares with this range.
    pub(in crate::app) fn compare_with(&mut self, range: DateRange, now: Time, effects: &mut Vec<Effect>) {
        let of = self.views.query().range;
        if range == of {
            self.say(Tone::Info, "That is the range that is shown: compare it with another one.", now);
            return;
        }
        if self.views.all.under_way().is_none() {
            self.views.all.comparison = Some(Comparison { of, with: range, follows: false });
        }
        self.wish_for(vec![(of, Need::Whole), (range, Need::Settled)], now, effects);
    }

    /// Compares what is known whole of the wanted pair of ranges.
    pub(super) fn show_comparison(&mut self) {
        let range = self.views.query().range;
        if self.views.all.compared_with(&range).is_some() && self.views.recalling.is_none() {
            self.list_whole();
        }
    }

    /// The range changed: it is compared with its own period before, if both are known.
    pub(super) fn move_comparison(&mut self, range: DateRange, now: Time, effects: &mut Vec<Effect>) {
        let Some(old) = self.views.all.comparison.filter(|comparison| comparison.of != range) else { return };
        let with = range.before().filter(|_| self.views.all.whole(range).is_some());
        self.views.all.comparison = with.map(|with| Comparison { of: range, with, follows: true });
        match with {
            Some(with) => effects.push(Effect::Recall(with)),
            None => self.say_no_longer(old.with, now),
        }
    }

    /// The record of a range was read: a comparison that follows a change of range is made, or given up.
    pub(super) fn follow_comparison(&mut self, range: DateRange, now: Time) {
        let Some(comparison) = self.views.all.comparison.filter(|c| c.follows && c.with == range) else { return };
        if self.views.all.whole(range).is_some() {
            self.views.all.comparison = Some(Comparison { follows: false, ..comparison });
            self.show_comparison();
        } else {
            self.views.all.comparison = None;
            self.say_no_longer(range, now);
        }
    }

    fn say_no_longer(&mut self, with: DateRange, now: Time) {
        let compare = self.told(Context::Views, Action::Compare);
        let text = format!("No longer compared: not all pages are known ({with}). {compare} says what they cost.");
        self.say(Tone::Info, &text, now);
    }

    /// A comparison is given up when its price was not agreed to, or loading for it ended early.
    pub(in crate::app) fn settle_comparison(&mut self) {
        let Some(comparison) = self.views.all.comparison else { return };
        let is_asked = self
            .overlays
            .iter()
            .any(|overlay| matches!(overlay, Overlay::Question(Question { yes: Consequence::LoadAll(_), .. })));
        let listed = self.views.table.report().map(|report| report.range) == Some(comparison.of)
            && self.views.table.before().map(|before| before.range) == Some(comparison.with);
        let goes_on = is_asked || comparison.follows || self.views.all.is_busy() || self.views.recalling.is_some();
        if !listed && !goes_on {
            self.views.all.comparison = None;
        }
    }
}
