//! The page-view loads that are running. All callers that wait for the same load share it.

use crate::model::failure::Failure;
use crate::model::load::Timed;
use crate::model::report::LoadOutcome;
use crate::model::views::ViewsPage;
use futures_util::future::{BoxFuture, Shared};
use tokio::task::AbortHandle;

/// The page views of one query, or why they could not be loaded.
pub(super) type LoadedViews = Result<Timed<ViewsPage>, Failure>;

/// A running load of one query, shared by all callers that wait for it.
pub(super) type PendingLoad = Shared<BoxFuture<'static, ViewsRequestResult>>;

/// The result of loading one query.
#[derive(Debug, Clone)]
pub(super) struct ViewsRequestResult {
    pub(super) loaded: LoadedViews,
    /// Whether the load used up one of the hour's requests.
    pub(super) used_request: bool,
    /// Whether the merge of the answer into the report on disk was already done or tried. If false, the caller
    /// has to merge the answer.
    pub(super) is_merged: bool,
}

impl ViewsRequestResult {
    /// Returns a result that was not merged into the report on disk.
    pub(super) fn not_merged(loaded: LoadedViews, used_request: bool) -> Self {
        Self { loaded, used_request, is_merged: false }
    }
}

/// The future outcome of a load of all pages, shared by all callers that wait for it.
pub(super) type SharedLoadOutcome = Shared<BoxFuture<'static, LoadOutcome>>;

/// A running load of all pages of a range.
#[derive(Debug)]
pub(super) struct RunningLoadAll {
    pub(super) outcome: SharedLoadOutcome,
    /// Whether the user has stopped the load. The load ends before its next request.
    pub(super) stop_requested: bool,
    pub(super) task: AbortHandle,
}
