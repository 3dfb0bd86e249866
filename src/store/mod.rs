//! The store: an SQLite database on its own thread, used through a handle that is cheap to clone.
//!
//! Every change is one transaction. Calls run in the order in which they were made, and run to the end even if the
//! caller stops waiting. Several processes may use the same file. The store guarantees that no prompt is lost and that
//! no two processes send the same prompt at the same time. The engine decides when to send, poll or reload.

mod analytics;
mod backup;
mod cached_ranges;
mod check;
mod columns;
mod diffs;
mod drafts;
mod error;
mod examination;
mod host_points;
mod job_rows;
mod jobs;
mod json_column;
mod kv;
mod labels;
mod ledgers;
mod loading;
mod open;
mod open_outcome;
mod open_store;
mod page_views;
mod pages;
mod prompts;
mod prune;
mod prune_jobs;
mod pull_requests;
mod query;
mod queue;
mod report_writer;
mod reports;
mod salvage;
mod schema;
mod scopes;
mod sending;
mod status_summary;
mod store_thread;
mod team;
mod team_reports;
mod team_times;
mod unreported_requests;
mod unsent_reviews;
mod views;

#[cfg(test)]
mod tests;

pub use analytics::{ResponsePosition, UnfinishedRows};
pub use backup::{ExportCounts, ImportCounts, ImportError, MAX_LINE_BYTES, check_backup};
pub use check::{StoreHealth, check_store};
pub use diffs::StoredDiff;
pub use drafts::Draft;
pub use error::StoreError;
pub use examination::{StoreContent, StoreExamination, examine};
pub use jobs::{JobChanges, JobMergeResult, JobResponse};
pub use loading::ReportResponse;
pub use open::{DATABASE_FILE, StoreCreationHold};
pub use open_outcome::{OpenOutcome, RecoveryCounts};
pub use open_store::OpenStore;
pub use prompts::RecentPrompt;
pub use prune::{AnalyticsPruneFilter, PruneOutcome, PrunedAnalyticsCounts};
pub use prune_jobs::{JobPruneFilter, PrunedJobCounts};
pub use pull_requests::{PullRequestUpdate, ReportedPullRequest, StoredPullRequest};
pub use queue::{PausedBy, SendablePrompt};
pub use reports::UnfinishedReport;
pub use scopes::ScopeFilter;
pub use sending::SendPermit;
pub use status_summary::StatusSummary;
pub use store_thread::Store;
pub use team::TeamMembership;
pub use team_reports::ReportMergeResult;
pub use team_times::TeamExchangeTimes;
