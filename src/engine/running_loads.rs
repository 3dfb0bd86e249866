//! The loads that are running. All callers that wait for the same load share it.

use super::lock::lock;
use crate::model::failure::Failure;
use crate::model::load::Timed;
use crate::model::views::ViewsResponse;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::Mutex;
use tokio::task::AbortHandle;

/// The page views of one query, or why they could not be loaded.
pub(super) type LoadedViews = Result<Timed<ViewsResponse>, Failure>;

/// A running load of one query, shared by all callers that wait for it.
pub(super) type SharedViewsLoad = Shared<BoxFuture<'static, ViewsRequestResult>>;

/// The result of loading one query.
#[derive(Debug, Clone)]
pub(super) struct ViewsRequestResult {
    pub(super) loaded: LoadedViews,
    /// Whether the load used up one of the hour's requests.
    pub(super) has_used_request: bool,
    /// Whether the load has already merged the response into the report on disk, or has failed to. If false, the
    /// caller has to merge the response.
    pub(super) has_tried_merge: bool,
}

impl ViewsRequestResult {
    /// Returns a result that was not merged into the report on disk.
    pub(super) fn not_merged(loaded: LoadedViews, has_used_request: bool) -> Self {
        Self { loaded, has_used_request, has_tried_merge: false }
    }
}

/// A future that returns the outcome of loading a complete report, shared by all callers that wait for it.
pub(super) type SharedOutcome<O> = Shared<BoxFuture<'static, O>>;

/// A running load of a complete report.
struct RunningLoad<O> {
    outcome: SharedOutcome<O>,
    /// Whether the user has stopped the load. The load ends before its next request.
    is_stop_requested: bool,
    task: AbortHandle,
}

/// The running loads of complete reports. The key states which report is loaded.
pub(super) struct RunningLoads<K, O>(Mutex<HashMap<K, RunningLoad<O>>>);

impl<K, O> Default for RunningLoads<K, O> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K, O> fmt::Debug for RunningLoads<K, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningLoads").finish_non_exhaustive()
    }
}

impl<K: Copy + Eq + Hash, O: Clone + Send + Sync + 'static> RunningLoads<K, O> {
    /// Joins the running load of `key`, or starts `load`. `load` must call [`Self::take_stop_request`] before each
    /// request and, unless it was stopped, [`Self::remove`] at its end. Joining a load cancels a requested stop. If the
    /// load panics, `crashed` returns its outcome.
    pub(super) fn join_or_start(
        &self,
        key: K,
        load: impl Future<Output = O> + Send + 'static,
        crashed: impl FnOnce() -> O + Send + 'static,
    ) -> SharedOutcome<O> {
        let mut loads = lock(&self.0);
        if let Some(load) = loads.get_mut(&key) {
            load.is_stop_requested = false;
            return load.outcome.clone();
        }
        // The load is a separate task, so that it continues if the caller stops waiting.
        let task = tokio::spawn(load);
        let abort = task.abort_handle();
        let outcome = async move { task.await.unwrap_or_else(|_| crashed()) }.boxed().shared();
        loads.insert(key, RunningLoad { outcome: outcome.clone(), is_stop_requested: false, task: abort });
        outcome
    }

    /// Stops the load of `key` as soon as its request in flight has its response.
    pub(super) fn request_stop(&self, key: K) {
        if let Some(load) = lock(&self.0).get_mut(&key) {
            load.is_stop_requested = true;
        }
    }

    /// Whether the user has stopped the load of `key`. If so, removes it from the running loads, so that the next
    /// [`Self::join_or_start`] starts a new load.
    pub(super) fn take_stop_request(&self, key: K) -> bool {
        let mut loads = lock(&self.0);
        let is_stop_requested = loads.get(&key).is_some_and(|load| load.is_stop_requested);
        if is_stop_requested {
            loads.remove(&key);
        }
        is_stop_requested
    }

    pub(super) fn remove(&self, key: K) {
        lock(&self.0).remove(&key);
    }

    /// Aborts every running load.
    pub(super) fn abort_all(&self) {
        for (_, load) in lock(&self.0).drain() {
            load.task.abort();
        }
    }
}
