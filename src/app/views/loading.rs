//! The loads themselves: begun once their price is agreed to, one after the other, and what becomes of each end.

use super::super::dialog::{ConfirmAction, ConfirmDialog, Dialog};
use super::super::keymap::{Action, Context};
use super::super::{App, Effect, Screen, Severity, format};
use super::all_pages::{AT_A_GO, UnderWay};
use super::request_cost::percent;
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::{LoadEnded, LoadOutcome, LoadPlan, LoadProgress};
use crate::model::views::{ViewsPage, ViewsQuery};

/// Shares of all views, in percent, at which the user is offered to stop: what is left has few views and takes most requests.
const OFFERS: [u8; 2] = [95, 99];

impl App {
    /// One answer came, or why there is none: said in full, since the line over what is listed may only have room for
    /// its kind.
    pub(in crate::app) fn views_came(
        &mut self,
        query: ViewsQuery,
        result: Result<Timed<ViewsPage>, Failure>,
        old: Option<Timed<ViewsPage>>,
        now: Time,
    ) {
        let failure = result.as_ref().err().map(|failure| failure.sentence.to_string());
        if !self.views.take(query, result, old, now) || self.screen != Screen::Views {
            return;
        }
        self.dirty = true;
        let lists_something = self.views.as_of().is_some();
        if let Some(sentence) = failure.filter(|_| lists_something) {
            self.notify(Severity::Problem, &sentence, now);
        }
    }

    /// Asks whether to begin, or says why nothing can be asked of the service now.
    pub(super) fn ask_before_loading(&mut self, text: String, mut orders: Vec<LoadPlan>, now: Time) {
        let left = self.views_left();
        if left == 0 {
            let text = self.nothing_left(now);
            self.notify(Severity::Problem, &text, now);
            return;
        }
        // Keys that are on their way to another layer must not answer it.
        let is_taken = self.dialogs.last().is_some_and(|top| top.takes_text() || matches!(top, Dialog::Question(_)));
        if is_taken {
            return;
        }
        orders.iter_mut().for_each(|order| order.at_most = AT_A_GO.min(left));
        self.dialogs.push(Dialog::Question(ConfirmDialog { text, yes: ConfirmAction::LoadAll(orders) }));
        self.dirty = true;
    }

    /// Loads these ranges one after the other; together they cost no more requests than the first one says.
    pub(in crate::app) fn load_in_turn(&mut self, orders: Vec<LoadPlan>, effects: &mut Vec<Effect>) {
        let all = &mut self.views.all;
        if all.under_way.is_some() {
            return;
        }
        all.left_of_go = orders.first().map_or(0, |order| order.at_most);
        all.waiting = orders.into();
        self.load_next(effects);
    }

    fn load_next(&mut self, effects: &mut Vec<Effect>) {
        let all = &mut self.views.all;
        let Some(order) = all.waiting.pop_front() else { return };
        all.trouble = None;
        let LoadPlan { range, afresh, .. } = order;
        all.under_way = Some(UnderWay { range, afresh, progress: None, stopping: false, offered: 0 });
        effects.push(Effect::LoadAll(LoadPlan { at_most: all.left_of_go, ..order }));
        self.dirty = true;
    }

    pub(in crate::app) fn loading(&mut self, progress: LoadProgress, now: Time) {
        if let Some(under_way) = self.views.all.under_way.as_mut().filter(|load| load.range == progress.range) {
            under_way.progress = Some(progress);
            self.dirty |= self.screen == Screen::Views;
            self.offer_to_stop(progress, now);
        }
    }

    /// Offers to stop once nearly all views are loaded and the rest still costs requests. It is a notice and no question:
    /// loading goes on unless the user presses the key.
    fn offer_to_stop(&mut self, progress: LoadProgress, now: Time) {
        let on_screen = self.screen == Screen::Views && self.dialogs.is_empty();
        let Some(load) = self.views.all.under_way.as_mut().filter(|load| on_screen && !load.stopping) else { return };
        let Some(share) = progress.share.filter(|_| !progress.is_complete) else { return };
        let reached = OFFERS.into_iter().rfind(|offer| share * 100.0 >= f64::from(*offer));
        let Some(reached) = reached.filter(|reached| *reached > load.offered) else { return };
        load.offered = reached;
        let rest = self
            .expected(progress.range)
            .and_then(|expected| expected.requests.checked_sub(progress.answers))
            .filter(|rest| *rest > 0);
        let rest = match rest {
            Some(rest) => format!("about {}", format::plural(rest as usize, "more request")),
            None => "more requests".to_owned(),
        };
        let stops = self.key_label(Context::Views, Action::Close);
        let text = format!("{reached}% of all views are loaded; the rest takes {rest}. {stops} stops here.");
        self.notify(Severity::Info, &text, now);
    }

    pub(in crate::app) fn load_ended(
        &mut self,
        range: DateRange,
        end: LoadOutcome,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        self.dirty = true;
        let all = &mut self.views.all;
        let ours = all.under_way.take_if(|under_way| under_way.range == range);
        all.absorb(range, &end, ours);
        all.left_of_go = all.left_of_go.saturating_sub(end.requests);
        let progress = ours.and_then(|under_way| under_way.progress);
        match end.ended {
            LoadEnded::Complete => self.loaded_whole(range, now, effects),
            LoadEnded::AtMost => {
                let mut rest = vec![LoadPlan { range, afresh: false, at_most: AT_A_GO, until: None }];
                rest.extend(std::mem::take(&mut self.views.all.waiting));
                self.ask_to_go_on(rest, progress, now);
            }
            // The dashboard sets no share that is enough.
            LoadEnded::Stopped | LoadEnded::Enough => {
                self.views.all.waiting.clear();
                let rows = self.views.all.broken_off(range).map(format::count);
                let text = match rows {
                    Some(rows) => {
                        let on = self.key_label(Context::Views, Action::LoadAll);
                        let share = progress.and_then(|progress| progress.share);
                        let share =
                            share.map(|share| format!(" ({} of the views)", percent(share))).unwrap_or_default();
                        format!("Stopped after {rows} rows{share}, which are kept: {on} goes on from there.")
                    }
                    None => "Stopped; nothing was loaded.".to_owned(),
                };
                self.notify(Severity::Info, &text, now);
            }
            LoadEnded::Failed(failure) => self.load_failed(range, failure, now),
        }
        self.list_what_came(range);
        self.show_comparison();
        self.views.all.forget_others(self.views.query().range);
    }

    fn loaded_whole(&mut self, range: DateRange, now: Time, effects: &mut Vec<Effect>) {
        let rows = self.views.all.whole(range).map_or(0, |report| report.rows.len());
        if self.screen != Screen::Views || range != self.views.query().range {
            let text = format!("All pages of {range} are loaded: {}.", format::plural(rows, "row"));
            self.notify(Severity::Info, &text, now);
        }
        if self.views.all.left_of_go > 0 {
            self.load_next(effects);
        } else if !self.views.all.waiting.is_empty() {
            let rest = std::mem::take(&mut self.views.all.waiting).into();
            self.ask_to_go_on(rest, None, now);
        }
    }

    fn load_failed(&mut self, range: DateRange, failure: Failure, now: Time) {
        self.views.all.waiting.clear();
        let goes_on = match self.views.all.broken_off(range) {
            None => String::new(),
            Some(_) if range == self.views.query().range => {
                format!(" {} goes on where it stopped.", self.key_label(Context::Views, Action::LoadAll))
            }
            Some(_) => " Asked for again, it goes on where it stopped.".to_owned(),
        };
        self.notify(Severity::Problem, &format!("{}{goes_on}", failure.sentence), now);
        self.views.all.trouble = Some((range, failure));
    }

    /// What was agreed to is used up: the user decides again, where the question can't be answered by accident.
    fn ask_to_go_on(&mut self, rest: Vec<LoadPlan>, progress: Option<LoadProgress>, now: Time) {
        let looks_at_views = self.screen == Screen::Views && self.dialogs.is_empty();
        if looks_at_views {
            let text = self.question_to_go_on(&rest, progress);
            self.ask_before_loading(text, rest, now);
        } else {
            let text = "Loading all pages has used the requests that were agreed to: asked for again, it goes on.";
            self.notify(Severity::Info, text, now);
        }
    }

    /// Lists what a load of the wanted range brought; a whole report that is older stays where the new one is not whole.
    fn list_what_came(&mut self, range: DateRange) {
        if range != self.views.query().range || self.list_whole() {
            return;
        }
        if let Some(report) = self.views.all.report(range).cloned() {
            self.views.list_part(report);
            self.views.load = Load::Idle;
        }
    }
}
