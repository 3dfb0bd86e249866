//! Loading all pages of a range: one answer after the other at the largest page size, each taken into the report on disk
//! in the transaction that keeps it (`views`), so that whatever ends a load (the user, a 429, a lost connection, a killed
//! process) the next one goes on from there. An answer in the cache that is fresh costs no request.

use super::reports::unread;
use super::state::{EngineState, lock};
use super::views::{PaidAnswer, RequestPurpose, leads_nowhere, report_answer};
use crate::model::Time;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::{LoadEnded, LoadOutcome, LoadPlan, LoadProgress, Merge, Report};
use crate::model::views::{LIMIT_MAX, ViewsPage, ViewsQuery};
use crate::store::UnfinishedReport;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::sync::Arc;
use tokio::task::AbortHandle;

/// The end of a load, for everyone who waits for it.
type SharedLoadOutcome = Shared<BoxFuture<'static, LoadOutcome>>;

/// A load under way.
#[derive(Debug)]
pub(super) struct LoadingAll {
    ending: SharedLoadOutcome,
    /// The user wants it to end before the next request.
    stop: bool,
    task: AbortHandle,
}

impl EngineState {
    pub(super) async fn load_all(self: &Arc<Self>, order: LoadPlan) -> LoadOutcome {
        Arc::clone(self).join_load_all(order).await
    }

    pub(super) fn stop_loading(&self, range: DateRange) {
        if let Some(load) = lock(&self.loading_all).get_mut(&range) {
            load.stop = true;
        }
    }

    /// Ends all loads at once; an answer that is under way still ends in the cache and in the report on disk.
    pub(super) fn abort_loading(&self) {
        for (_, load) in lock(&self.loading_all).drain() {
            load.task.abort();
        }
    }

    /// The load of this range that is under way, or a new one. Who asks for one that was just told to stop wants it to
    /// go on.
    fn join_load_all(self: Arc<Self>, order: LoadPlan) -> SharedLoadOutcome {
        let mut loads = lock(&self.loading_all);
        if let Some(load) = loads.get_mut(&order.range) {
            load.stop = false;
            return load.ending.clone();
        }
        let inner = Arc::clone(&self);
        // A task of its own: whoever asked may stop waiting.
        let task = tokio::spawn(async move { inner.run_load(order).await });
        let abort = task.abort_handle();
        let ending = async move { task.await.unwrap_or_else(|_| broken_off()) }.boxed().shared();
        loads.insert(order.range, LoadingAll { ending: ending.clone(), stop: false, task: abort });
        ending
    }

    /// Whether the load of this range is to stop; if so, the next one is a new one.
    fn stops(&self, range: DateRange) -> bool {
        let mut loads = lock(&self.loading_all);
        let stop = loads.get(&range).is_some_and(|load| load.stop);
        if stop {
            loads.remove(&range);
        }
        stop
    }

    async fn run_load(self: Arc<Self>, order: LoadPlan) -> LoadOutcome {
        let mut load = LoadRun { inner: &self, order, report: None, since: None, requests: 0 };
        let ended = load.run().await;
        if ended != LoadEnded::Stopped {
            lock(&self.loading_all).remove(&order.range);
        }
        let LoadRun { report, requests, .. } = load;
        let known = match ended {
            LoadEnded::Complete => None,
            // A whole report from before is more than a part of a new one.
            _ => self.recall(order.range).await.ok().and_then(|recalled| recalled.report),
        };
        let own = || {
            report.map(|report| {
                let mut report = Arc::unwrap_or_clone(report).into_report();
                self.to_local_time(&mut report);
                Arc::new(report)
            })
        };
        LoadOutcome { report: known.or_else(own), ended, requests }
    }
}

/// One load, as far as it is.
struct LoadRun<'a> {
    inner: &'a Arc<EngineState>,
    order: LoadPlan,
    report: Option<Arc<Merge>>,
    /// No answer from before this moment is taken in.
    since: Option<Time>,
    requests: u32,
}

impl LoadRun<'_> {
    async fn run(&mut self) -> LoadEnded {
        let begun = if self.order.afresh { self.begin_anew().await } else { self.take_up().await };
        if let Err(failure) = begun {
            return LoadEnded::Failed(failure);
        }
        // A whole report that is fresh: every answer is there already.
        while !self.so_far().is_some_and(|report| report.complete) {
            if self.inner.stops(self.order.range) {
                return LoadEnded::Stopped;
            }
            if self.has_enough() {
                return LoadEnded::Enough;
            }
            let query = self.next_query();
            let (answer, handed_on) = match self.next_answer(query).await {
                Ok(answer) => answer,
                Err(ended) => return ended,
            };
            if let Some(failure) = leads_nowhere(query, &answer.value, self.report.as_deref()) {
                return LoadEnded::Failed(failure);
            }
            if !handed_on {
                self.write_down(query, &answer).await;
            }
            self.absorb(query, answer).await;
        }
        LoadEnded::Complete
    }

    fn so_far(&self) -> Option<&Report> {
        self.report.as_deref().map(Merge::report)
    }

    /// Whether the share of all views that the order asks for is loaded.
    fn has_enough(&self) -> bool {
        let share = self.report.as_deref().and_then(Merge::loaded_share);
        share.zip(self.order.until).is_some_and(|(share, until)| share * 100.0 >= f64::from(until))
    }

    async fn begin_anew(&mut self) -> Result<(), Failure> {
        self.since = Some(self.inner.clock.now());
        if let Err(error) = self.inner.store.drop_unfinished(&self.inner.scope, self.order.range).await {
            // Loaded and shown all the same, as with a single answer that can't be kept.
            self.inner.trouble(error.failure()).await;
        }
        Ok(())
    }

    /// Goes on where the last load was broken off, however old that is: the report says how old it is.
    async fn take_up(&mut self) -> Result<(), Failure> {
        let (inner, range) = (self.inner, self.order.range);
        if let Some(UnfinishedReport { report, since }) =
            inner.store.unfinished_report(&inner.scope, range).await.map_err(unread)?
        {
            (self.report, self.since) = (Some(Arc::new(Merge::of(report))), since);
            return Ok(());
        }
        let known = inner.store.recall_views(&inner.scope, range).await.map_err(unread)?.report;
        let fresh = known.filter(|report| inner.is_fresh(range, report.as_of));
        self.report = fresh.map(Arc::unwrap_or_clone).map(Merge::of).map(Arc::new);
        Ok(())
    }

    fn next_query(&self) -> ViewsQuery {
        let page = self.so_far().map_or(0, |report| report.answers).saturating_add(1);
        ViewsQuery { range: self.order.range, limit: LIMIT_MAX, page }
    }

    /// From the cache, else asked for; and whether it was handed to the report on disk.
    async fn next_answer(&mut self, query: ViewsQuery) -> Result<(Timed<ViewsPage>, bool), LoadEnded> {
        let cached = if self.order.afresh { None } else { self.inner.fresh_views(query).await };
        let is_of_use = |cached: &Timed<ViewsPage>| {
            self.since.is_none_or(|since| cached.as_of > since)
                && leads_nowhere(query, &cached.value, self.report.as_deref()).is_none()
        };
        let force = match cached {
            Some(cached) if is_of_use(&cached) => return Ok((cached, false)),
            Some(_) => true,
            None => self.order.afresh,
        };
        // One answer of another size is as good where it holds all pages.
        if !self.order.afresh && self.report.is_none() {
            let whole = self.inner.fresh_whole_views(query.range).await;
            if let Some(whole) = whole.filter(is_of_use) {
                return Ok((whole, false));
            }
        }
        if self.requests >= self.order.at_most {
            return Err(LoadEnded::AtMost);
        }
        let purpose = RequestPurpose::Report { since: self.since, so_far: self.report.clone() };
        let PaidAnswer { loaded, asked, handed_on } = self.inner.ask_for_views(query, force, purpose).await;
        self.requests = self.requests.saturating_add(u32::from(asked));
        loaded.map(|answer| (answer, handed_on)).map_err(LoadEnded::Failed)
    }

    /// Takes an answer that was kept already into the report on disk.
    async fn write_down(&self, query: ViewsQuery, answer: &Timed<ViewsPage>) {
        let next = report_answer(query, answer.clone(), self.since);
        if let Err(error) = self.inner.store.absorb_answer(&self.inner.scope, next).await {
            // Shown all the same; the next load has to begin before this answer.
            self.inner.trouble(error.failure()).await;
        }
    }

    /// Takes the answer in and tells how far the load is.
    async fn absorb(&mut self, query: ViewsQuery, answer: Timed<ViewsPage>) {
        let (complete, Timed { value: page, as_of }) = (!query.has_next(&answer.value), answer);
        // Whoever kept an answer by it has let go of it by now: nothing is copied.
        let so_far = self.report.take().map(Arc::unwrap_or_clone);
        let report = Merge::with(so_far, query.range, page, complete, as_of);
        let progress = LoadProgress {
            range: query.range,
            rows: report.report().rows.len(),
            answers: report.report().answers,
            requests: self.requests,
            share: report.loaded_share(),
            is_complete: complete,
        };
        self.report = Some(Arc::new(report));
        self.inner.emit(EngineEvent::Loading(progress)).await;
    }
}

fn broken_off() -> LoadOutcome {
    let sentence = "Loading all pages broke off inside docdeck; what came is kept: load again to go on.";
    let failure = Failure::new(FailureKind::Local, sentence);
    LoadOutcome { report: None, ended: LoadEnded::Failed(failure), requests: 0 }
}
