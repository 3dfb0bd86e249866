//! All pages of a range: what is known of them, and the keys that load them, at a price that is said first. What that
//! price is stands in `price`, the loads themselves in `loading`, what two whole ranges are good for in `compare`.

use super::super::dialog::Dialog;
use super::super::keymap::{Action, Context};
use super::super::{App, Effect, Severity};
use super::compare::RequestedComparison;
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::load::Load;
use crate::model::period::DateRange;
use crate::model::report::{LoadEnded, LoadOutcome, LoadPlan, LoadProgress, Recalled, Report};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Requests that one go of loading may cost; then it asks again (design.md: views).
pub const AT_A_GO: u32 = 20;

/// What is known of whole ranges, and what is being loaded.
#[derive(Debug, Default)]
pub struct AllPages {
    /// Of the ranges that are listed, compared or asked for; others are read from disk again.
    known: HashMap<DateRange, Recalled>,
    pub(super) under_way: Option<UnderWay>,
    /// What is loaded after that, in this order.
    pub(super) waiting: VecDeque<LoadPlan>,
    /// Requests that the present go may still cost.
    pub(super) left_of_go: u32,
    wish: Option<LoadRequest>,
    pub(super) comparison: Option<RequestedComparison>,
    /// Why the last load of a range ended early.
    pub(super) trouble: Option<(DateRange, Failure)>,
}

/// A load that goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnderWay {
    pub range: DateRange,
    /// Whether it began anew instead of going on where one was broken off.
    pub(super) afresh: bool,
    /// None before the first answer.
    pub progress: Option<LoadProgress>,
    /// The user stopped it; the answer under way is still taken in.
    pub stopping: bool,
    /// The share of all views, in percent, at which the user was last offered to stop; 0 before the first offer.
    pub(super) offered: u8,
}

/// Ranges of which all pages are wanted, once it is known what that costs.
#[derive(Debug)]
struct LoadRequest {
    ranges: Vec<(DateRange, Need)>,
    /// Those of which the record is still being read.
    unread: Vec<DateRange>,
}

/// How much has to be known of a range so that nothing is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// All its pages, however old.
    Whole,
    /// All its pages, loaded after its last day had ended.
    Settled,
    /// All its pages, fresh.
    Fresh,
    /// More than is known in any case; a load that was broken off goes on.
    More,
    /// All its pages anew.
    Anew,
}

impl AllPages {
    /// How far loading is, while it goes on.
    pub fn progress(&self) -> Option<LoadProgress> {
        self.under_way.and_then(|under_way| under_way.progress)
    }

    /// What is being loaded.
    pub fn under_way(&self) -> Option<UnderWay> {
        self.under_way
    }

    /// Whether something is loaded that was not told to stop yet.
    pub fn can_stop(&self) -> bool {
        self.under_way.is_some_and(|under_way| !under_way.stopping)
    }

    /// What is known of a range, once it was read.
    pub fn known(&self, range: DateRange) -> Option<&Recalled> {
        self.known.get(&range)
    }

    /// The report of a range, whole or not.
    pub fn report(&self, range: DateRange) -> Option<&Arc<Report>> {
        self.known.get(&range)?.report.as_ref()
    }

    /// The whole report of a range.
    pub fn whole(&self, range: DateRange) -> Option<&Arc<Report>> {
        self.report(range).filter(|report| report.complete)
    }

    /// Rows after which a load that was broken off can go on.
    pub fn broken_off(&self, range: DateRange) -> Option<usize> {
        let known = self.known.get(&range)?;
        let answers = known.broken_off?;
        let partial = known.report.as_ref().filter(|report| !report.complete);
        Some(partial.map_or(answers as usize * crate::model::views::LIMIT_MAX as usize, |report| report.rows.len()))
    }

    /// Why the last load of this range ended early.
    pub fn trouble(&self, range: DateRange) -> Option<&Failure> {
        self.trouble.as_ref().filter(|(of, _)| *of == range).map(|(_, failure)| failure)
    }

    /// Whether a price is being worked out or a load goes on.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way.is_some() || self.wish.is_some() || !self.waiting.is_empty()
    }

    pub(super) fn learn(&mut self, range: DateRange, recalled: Recalled) {
        self.known.insert(range, recalled);
    }

    fn satisfies(&self, range: DateRange, need: Need, now: Time) -> bool {
        let whole = self.whole(range);
        match need {
            Need::Whole => whole.is_some(),
            Need::Settled => whole.is_some_and(|report| is_settled(range, report.as_of)),
            Need::Fresh => whole.is_some_and(|report| range.is_fresh(report.as_of, now)),
            Need::More | Need::Anew => false,
        }
    }

    /// Keeps what came of a load. A whole report outlives a later load that was broken off.
    pub(super) fn absorb(&mut self, range: DateRange, end: &LoadOutcome, load: Option<UnderWay>) {
        let known = self.known.entry(range).or_default();
        let taken_in = load.and_then(|load| load.progress).map(|progress| progress.answers);
        let part = end.report.as_ref().filter(|report| !report.complete).map(|report| report.answers);
        known.broken_off = match end.ended {
            LoadEnded::Complete => None,
            // What an earlier load had taken in is given up when one begins anew.
            _ if load.is_some_and(|load| load.afresh) => taken_in.or(part),
            _ => taken_in.or(part).or(known.broken_off),
        };
        let Some(report) = &end.report else { return };
        if end.ended == LoadEnded::Complete {
            known.last_time = Some(report.answers);
        }
        if report.complete || !known.report.as_ref().is_some_and(|old| old.complete) {
            known.report = Some(Arc::clone(report));
        }
    }

    /// Forgets ranges that nothing on screen or under way is about: they are on disk.
    pub(super) fn forget_others(&mut self, listed: DateRange) {
        let compared = self.comparison.as_ref().map(|request| [request.ranges.now, request.ranges.before]);
        let wished: Vec<DateRange> =
            self.wish.iter().flat_map(|wish| wish.ranges.iter().map(|(range, _)| *range)).collect();
        let (loading, waiting) = (self.under_way.map(|load| load.range), &self.waiting);
        self.known.retain(|range, _| {
            *range == listed
                || compared.is_some_and(|compared| compared.contains(range))
                || loading == Some(*range)
                || wished.contains(range)
                || waiting.iter().any(|order| order.range == *range)
        });
    }
}

/// Whether numbers of that moment hold the whole of the range's last day.
pub(super) fn is_settled(range: DateRange, as_of: Time) -> bool {
    as_of.date_naive() > range.to()
}

impl App {
    /// The key that loads all pages, or stops that.
    pub(in crate::app) fn load_all(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if matches!(self.dialogs.last(), Some(Dialog::Trend(_))) {
            self.load_trend(now, effects);
            return;
        }
        if self.stop_loading(effects) {
            return;
        }
        let range = self.views.query().range;
        if self.lists_all_fresh(now) {
            let again = self.key_label(Context::Views, Action::Refresh);
            let text = format!("All pages of this range are loaded; {again} asks for all of them anew.");
            self.notify(Severity::Info, &text, now);
            return;
        }
        self.wish_for(vec![(range, Need::More)], now, effects);
    }

    /// Whether `a` would have nothing to do: all pages are listed, fresh, and no load of them was broken off.
    pub(in crate::app) fn lists_all_fresh(&self, now: Time) -> bool {
        let (all, range) = (&self.views.all, self.views.query().range);
        all.satisfies(range, Need::Fresh, now) && all.broken_off(range).is_none()
    }

    /// Whether one of the keys about whole ranges would do something now.
    pub(in crate::app) fn views_offer(&self, action: Action) -> bool {
        let (all, range) = (&self.views.all, self.views.query().range);
        match action {
            Action::LoadAll if !self.dialogs.is_empty() => match self.dialogs.last() {
                Some(Dialog::Trend(open)) => open.bars(&self.views.totals).any(|bar| bar.totals.is_none()),
                Some(Dialog::Card(_)) => all.whole(range).is_none(),
                _ => false,
            },
            Action::LoadAll => all.under_way.is_some() || all.whole(range).is_none() || all.broken_off(range).is_some(),
            Action::Trend => true,
            Action::Compare => self.views.as_of().is_some(),
            _ => self.views.is_comparing(),
        }
    }

    /// What the key that loads all would do now.
    pub(in crate::app) fn load_all_hint(&self) -> &'static str {
        let all = &self.views.all;
        match all.under_way {
            Some(_) => "stop loading",
            None if all.broken_off(self.views.query().range).is_some() => "go on loading",
            None => "load all",
        }
    }

    /// Stops what is being loaded after the answer under way. Whether there was something.
    pub(in crate::app) fn stop_loading(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(under_way) = self.views.all.under_way.as_mut() else { return false };
        if !under_way.stopping {
            under_way.stopping = true;
            effects.push(Effect::StopLoading(under_way.range));
        }
        self.dirty = true;
        true
    }

    /// Asks for what is listed anew. The days of a preset are counted from today.
    pub(in crate::app) fn refresh_views(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if !self.dialogs.is_empty() || self.views.load().is_loading() {
            return;
        }
        let lists_all = self.views.table.report().is_some();
        if self.views.follow_today(now) && lists_all {
            effects.push(self.views.recall());
        } else if lists_all {
            let mut ranges = vec![(self.views.query().range, Need::Anew)];
            ranges.extend(self.renew_comparison(now));
            self.wish_for(ranges, now, effects);
        } else {
            effects.push(self.views.ask(true));
        }
    }

    /// Loads all pages of these ranges, one after the other, once the price of all together was said and agreed to.
    /// Ranges that are known whole and fresh cost nothing.
    pub(in crate::app) fn ask_to_load(&mut self, ranges: Vec<DateRange>, now: Time, effects: &mut Vec<Effect>) {
        self.wish_for(ranges.into_iter().map(|range| (range, Need::Fresh)).collect(), now, effects);
    }

    pub(super) fn wish_for(&mut self, ranges: Vec<(DateRange, Need)>, now: Time, effects: &mut Vec<Effect>) {
        if let Some(under_way) = self.views.all.under_way {
            let text =
                format!("All pages of {} are being loaded: wait for that, or a on views stops it.", under_way.range);
            self.notify(Severity::Info, &text, now);
            return;
        }
        let all = &mut self.views.all;
        let unread = ranges.iter().map(|(range, _)| *range).filter(|range| !all.known.contains_key(range));
        let unread: Vec<DateRange> = unread.collect();
        effects.extend(unread.iter().copied().map(Effect::LoadCached));
        all.wish = Some(LoadRequest { ranges, unread });
        self.price_when_read(now, effects);
    }

    /// What is known of a range was read.
    pub(in crate::app) fn recalled(
        &mut self,
        range: DateRange,
        recalled: Result<Recalled, Failure>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        self.dirty = true;
        // What can't be read counts as unknown; the store says so itself where it matters.
        self.views.all.learn(range, recalled.unwrap_or_default());
        if let Some(wish) = &mut self.views.all.wish {
            wish.unread.retain(|unread| *unread != range);
        }
        if self.views.recalling == Some(range) {
            self.views.recalling = None;
            self.begin_range(range, now, effects);
        }
        self.follow_comparison(range, now);
        self.price_when_read(now, effects);
        self.views.all.forget_others(self.views.query().range);
    }

    /// The range that is wanted now: all its pages where they are known, else one answer.
    fn begin_range(&mut self, range: DateRange, now: Time, effects: &mut Vec<Effect>) {
        if range != self.views.query().range {
            return;
        }
        if !self.list_whole() {
            effects.push(self.views.ask(false));
        }
        let totals = self.views.totals_to_compare(now);
        if !totals.is_empty() {
            effects.push(Effect::RecallTotals(totals));
        }
        self.move_comparison(range, now, effects);
    }

    /// Lists all pages of the range that is wanted, if they are known.
    pub(super) fn list_whole(&mut self) -> bool {
        let Some(whole) = self.views.all.whole(self.views.query().range).cloned() else { return false };
        let comparison = self.views.all.comparison_of(self.views.query().range);
        self.views.table.show_compared(whole, comparison);
        self.views.load = Load::Idle;
        true
    }

    /// Says the price once all that it depends on is read, or begins where that is one request at most.
    fn price_when_read(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(wish) = self.views.all.wish.take_if(|wish| wish.unread.is_empty()) else { return };
        let all = &self.views.all;
        let missing = wish.ranges.iter().filter(|(range, need)| !all.satisfies(*range, *need, now));
        let orders: Vec<LoadPlan> = missing
            .map(|(range, need)| LoadPlan { range: *range, afresh: *need == Need::Anew, at_most: AT_A_GO, until: None })
            .collect();
        self.show_comparison();
        match orders.as_slice() {
            [] if self.views.is_comparing() => {}
            [] => self.notify(Severity::Info, "All of that is known already: nothing to ask for.", now),
            [order] if self.is_one_request(order) && self.views_left() > 0 => {
                // Whatever the service says, it is no more than one without a question.
                self.load_in_turn(vec![LoadPlan { at_most: 1, ..*order }], effects);
            }
            _ => {
                let text = self.price_question(&orders, now);
                self.ask_before_loading(text, orders, now);
            }
        }
    }
}

#[cfg(test)]
#[path = "all_tests.rs"]
mod tests;
