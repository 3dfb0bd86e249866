//! The data about jobs that the members of a team share, and the rules for merging it. The submodule `report` has the
//! rules for reports of analytics.
//!
//! The result doesn't depend on the order in which changes arrive, nor on how often the same change arrives
//! ([`SharedJob::merge`] is commutative, associative and idempotent):
//!
//! - What the service and the code host reported: the latest response wins. This applies to each text of the service
//!   separately, and a text that a response leaves out keeps its value. Times are compared on the database's clock, so
//!   a wrong clock of a member is harmless.
//! - Tags: for each tag separately, the last change by any member wins.
//! - Title, note and dismissal: the last write wins. A write has the time of the database's clock at which the database
//!   stored it.
//! - Threads: a thread has the prompts of all members. Only the computer on which a prompt was written changes its
//!   delivery.
//! - Reports of analytics: of the complete reports of a kind and range, the one that was loaded last wins.

mod batch;
mod change;
mod handled;
mod local;
mod permission;
mod prompt;
mod report;
mod status;

pub use batch::{IncomingChange, OutgoingChange, TeamBatch};
pub use change::JobChange;
pub use handled::handled_by_member_notice;
pub use local::{TeamClock, apply_shared_job, job_change};
pub use permission::{
    MAX_SEND_DELAY_AFTER_BOOKING, TeamRequestPermission, TeamUsage, UnreportedRequest, booking_window,
};
pub use prompt::{PromptUid, SharedPrompt};
pub use report::{
    MAX_REPORT_AGE, MAX_REPORT_PARTS, ReportHeader, ReportKey, ReportKind, ReportRules, ReportSummary, ReportVersion,
    SharedReport, is_valid_expiry,
};
pub use status::TeamStatus;

use super::Time;
use super::pull_request::PullRequest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A value with the time at which it was set, on the database's clock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SharedValue<T> {
    /// Must stay the first field, because the derived order compares the time first, then the value.
    #[serde(with = "super::time_format::required")]
    pub at: Time,
    pub value: T,
}

/// A text that the service reports about a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ServiceField {
    Status,
    Repository,
    Ref,
    Model,
    PrLink,
}

/// The times that belong to the last response about a job, on the database's clock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedTimes {
    /// When the service last responded about the job. Must stay the first field, because it is compared first.
    #[serde(with = "super::time_format::required")]
    pub answered_at: Time,
    #[serde(with = "super::time_format::required")]
    pub created_at: Time,
    #[serde(with = "super::time_format::required")]
    pub started_at: Time,
    #[serde(with = "super::time_format::required")]
    pub changed_at: Time,
    #[serde(default, with = "super::time_format")]
    pub finished_at: Option<Time>,
    #[serde(default, with = "super::time_format")]
    pub followed_up_at: Option<Time>,
    #[serde(default, with = "super::time_format")]
    pub archived_at: Option<Time>,
    #[serde(default)]
    pub gone: bool,
    #[serde(default, with = "super::time_format")]
    pub gone_at: Option<Time>,
}

/// A pull request: its link, and its state on the code host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedPullRequest {
    pub link: String,
    pub state: PullRequest,
}

/// The team's state of a job, without the job's prompts. All texts are as received: they are cleaned when they are
/// applied to the job of a member.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SharedJob {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observation: Option<ObservedTimes>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub service: BTreeMap<ServiceField, SharedValue<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<SharedPullRequest>,
    /// The custom title; empty if someone removed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<SharedValue<String>>,
    /// The note; empty if someone removed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<SharedValue<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dismissed: Option<SharedValue<bool>>,
    /// The name of the member who dismissed the job last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dismissed_by: Option<SharedValue<String>>,
    /// The name of the member who merged or closed the pull request with docdeck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr_ended_by: Option<SharedValue<String>>,
    /// Every tag that the job ever had, and whether the job still has it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, SharedValue<bool>>,
}

impl SharedJob {
    /// Merges another copy of the state. The result is the same in every order, and merging again changes nothing.
    pub fn merge(&mut self, other: &Self) {
        keep_later(&mut self.observation, &other.observation);
        keep_later(&mut self.title, &other.title);
        keep_later(&mut self.note, &other.note);
        keep_later(&mut self.dismissed, &other.dismissed);
        keep_later(&mut self.dismissed_by, &other.dismissed_by);
        keep_later(&mut self.pr_ended_by, &other.pr_ended_by);
        merge_shared_values(&mut self.service, &other.service);
        merge_shared_values(&mut self.tags, &other.tags);
        if other.pull_request.as_ref().map(pull_request_order) > self.pull_request.as_ref().map(pull_request_order) {
            self.pull_request.clone_from(&other.pull_request);
        }
    }

    /// Returns the tags that the job has now.
    pub fn current_tags(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().filter(|(_, has_tag)| has_tag.value).map(|(tag, _)| tag.as_str())
    }
}

/// Returns a sort key: the state that the code host reported last has the largest key. If the times are equal, the keys
/// are compared by the JSON of the states, so that only equal states have equal keys.
fn pull_request_order(shared: &SharedPullRequest) -> (Time, Option<Time>, String) {
    let SharedPullRequest { link, state } = shared;
    (state.as_of, state.checks_as_of, format!("{link}\n{}", serde_json::to_string(state).unwrap_or_default()))
}

fn keep_later<T: Ord + Clone>(current: &mut Option<T>, received: &Option<T>) {
    if received > current {
        current.clone_from(received);
    }
}

fn merge_shared_values<K: Ord + Clone, T: Ord + Clone>(
    current: &mut BTreeMap<K, SharedValue<T>>,
    received: &BTreeMap<K, SharedValue<T>>,
) {
    for (key, register) in received {
        match current.get(key) {
            Some(kept) if kept >= register => {}
            _ => drop(current.insert(key.clone(), register.clone())),
        }
    }
}
