//! The messages and effects about the reports of the analytics screen other than page views.

use crate::model::analytics::{
    AnalyticsKind, ConversationMessage, Feedback, PageFeedback, Question, RowsLoadOutcome, RowsLoadPlan, RowsReport,
    Search,
};
use crate::model::failure::Failure;
use crate::model::period::DateRange;
use crate::model::report::{LoadOutcome, LoadPlan, Report};
use crate::model::text::CleanText;
use crate::model::views::PageRow;
use std::sync::Arc;

/// A message about a report.
#[derive(Debug)]
pub enum AnalyticsMsg {
    Visitors(RowsMsg<PageRow>),
    Searches(RowsMsg<Search>),
    Feedback(RowsMsg<Feedback>),
    FeedbackByPage(RowsMsg<PageFeedback>),
    Questions(RowsMsg<Question>),
    /// The cached page views of a range, if there are any.
    CachedViews(Option<Arc<Report>>),
    /// A load of page views that the Needs work tab started has ended.
    ViewsLoaded {
        range: DateRange,
        outcome: LoadOutcome,
    },
    /// The messages of a conversation with the assistant.
    Conversation {
        id: CleanText,
        result: Result<Vec<ConversationMessage>, Failure>,
    },
}

/// A message about a report with rows of one kind.
#[derive(Debug)]
pub enum RowsMsg<R> {
    /// The cached report of a range, if there is one, and whether it is fresh.
    Cached { range: DateRange, report: Option<Arc<RowsReport<R>>>, is_fresh: bool },
    /// Loading ended, whether or not all rows were loaded.
    Ended { range: DateRange, outcome: RowsLoadOutcome<R> },
}

/// A side effect about a report.
#[derive(Debug, Clone, PartialEq)]
pub enum AnalyticsEffect {
    /// Reads the cached report of a range, without a request; answered by [`RowsMsg::Cached`].
    LoadCached(AnalyticsKind, DateRange),
    /// Reads a complete report that another member of the team has loaded, without a request; answered by
    /// [`RowsMsg::Ended`], as if this computer had loaded it.
    LoadReceivedReport(AnalyticsKind, DateRange),
    /// Loads a report, or continues a partial one; answered by [`RowsMsg::Ended`].
    Load(AnalyticsKind, RowsLoadPlan),
    /// Stops the load of a report once its current request has its response.
    Stop(AnalyticsKind, DateRange),
    /// Reads the cached page views of a range, without a request; answered by [`AnalyticsMsg::CachedViews`].
    LoadCachedViews(DateRange),
    /// Loads page views; answered by [`AnalyticsMsg::ViewsLoaded`].
    LoadViews(LoadPlan),
    /// Loads a conversation with the assistant; answered by [`AnalyticsMsg::Conversation`].
    LoadConversation(CleanText),
}
