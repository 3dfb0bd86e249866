//! The changes that a member made to a job since the member's last exchange with the database.

use super::{ObservedTimes, ServiceField, SharedJob, SharedPullRequest, SharedValue};
use crate::model::Time;
use crate::model::job::{Job, PullRequestEndedBy};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The changes of one member to a job. A field without a change is `None` or empty. `observation`, `service` and
/// `pull_request` have the time of the response from which they come. All other changes have no time yet: the database
/// adds the time of its clock when it stores them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observation: Option<ObservedTimes>,
    /// The changed texts of the service, with the time of the response that had them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub service: BTreeMap<ServiceField, SharedValue<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<SharedPullRequest>,
    /// The new title; empty to remove it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The new note; empty to remove it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dismissed: Option<bool>,
    /// The name of this member, if this member dismissed the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dismissed_by: Option<String>,
    /// The name of this member, if this member merged or closed the pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr_ended_by: Option<String>,
    /// The tags that were added (`true`) or removed (`false`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, bool>,
}

impl JobChange {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Sets `dismissed_by` to `name`, the name of this member, if the change dismisses the job. Sets `pr_ended_by` to
    /// `name` if the user of this computer merged or closed the pull request, unless `team_state` has a name there.
    pub fn add_member_name(&mut self, job: &Job, team_state: &SharedJob, name: &str) {
        let has_ended_pr = job.local.team.as_ref().and_then(|team| team.pr_ended_by.as_ref());
        let has_ended_pr = has_ended_pr == Some(&PullRequestEndedBy::User) && team_state.pr_ended_by.is_none();
        self.dismissed_by = (self.dismissed == Some(true)).then(|| name.to_owned());
        self.pr_ended_by = has_ended_pr.then(|| name.to_owned());
    }

    /// Converts the change to a state that can be merged. `now` is the time on the database's clock at which the change
    /// is stored.
    pub fn to_shared_job(&self, now: Time) -> SharedJob {
        fn shared_value<T: Clone>(now: Time, value: &T) -> SharedValue<T> {
            SharedValue { at: now, value: value.clone() }
        }
        SharedJob {
            observation: self.observation.clone(),
            service: self.service.clone(),
            pull_request: self.pull_request.clone(),
            title: self.title.as_ref().map(|title| shared_value(now, title)),
            note: self.note.as_ref().map(|note| shared_value(now, note)),
            dismissed: self.dismissed.as_ref().map(|dismissed| shared_value(now, dismissed)),
            dismissed_by: self.dismissed_by.as_ref().map(|name| shared_value(now, name)),
            pr_ended_by: self.pr_ended_by.as_ref().map(|name| shared_value(now, name)),
            tags: self.tags.iter().map(|(tag, has_tag)| (tag.clone(), shared_value(now, has_tag))).collect(),
        }
    }
}
