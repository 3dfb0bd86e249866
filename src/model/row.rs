//! A job as the lists show it: the service's data together with local data.

use super::Time;
use super::job::{JobId, Status, pr_number};
use super::link;
use super::prompt::{DeliveryKind, Thread};
use super::text::CleanText;
use std::sync::Arc;
use thin_vec::ThinVec;

/// A job's key in the local store; assigned before the service gives the job an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct JobKey(pub i64);

/// The jobs that remain after some were removed by `docdeck prune`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemainingJobs {
    /// Sorted.
    pub keys: Vec<JobKey>,
    /// The largest key when this list was made; larger keys are newer jobs.
    pub up_to: JobKey,
}

impl RemainingJobs {
    /// Whether the job still exists. Jobs that are newer than this list count as existing.
    pub fn contains(&self, key: JobKey) -> bool {
        key > self.up_to || self.keys.binary_search(&key).is_ok()
    }
}

/// A row of the jobs list. All rows are in memory, so rarely used fields are small and common values are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub key: JobKey,
    /// `None` until the service has accepted the job.
    pub id: Option<JobId>,
    /// A custom title, the first line of the prompt, or the id of a job that was created elsewhere.
    pub title: CleanText,
    /// Whether the title is a custom one.
    pub has_own_title: bool,
    /// Added by the user, in lower case.
    pub tags: ThinVec<CleanText>,
    /// Written by the user.
    pub note: Option<CleanText>,
    /// The pages that the job was started for, in the order in which they were chosen; empty for other jobs.
    pub pages: ThinVec<CleanText>,
    /// The last known status; `None` until the service has answered.
    pub status: Option<Status>,
    pub repository: Option<Arc<CleanText>>,
    pub git_ref: Option<CleanText>,
    pub model: Option<Arc<CleanText>>,
    pub pr_link: Option<CleanText>,
    /// The service's `createdAt`, or when the prompt was written on this computer.
    pub created_at: Time,
    pub archived_at: Option<Time>,
    /// When the agent was last started: on creation, or by a follow-up to the finished job.
    pub started_at: Time,
    /// When the job was first seen finished; `None` if it was already finished when it was imported.
    pub finished_at: Option<Time>,
    /// When the service last reported a change that the user should see.
    pub changed_at: Time,
    /// When the service last answered about the job.
    pub checked_at: Option<Time>,
    /// When the user last viewed the job.
    pub viewed_at: Option<Time>,
    /// When the user last acted on the job: followed up, opened its pull request, or marked it as done.
    pub handled_at: Option<Time>,
    /// When the service accepted the last follow-up.
    pub followed_up_at: Option<Time>,
    /// The service answered 404.
    pub gone: bool,
    /// When the service first answered 404; `None` if unknown.
    pub gone_at: Option<Time>,
    /// Dismissed by the user.
    pub dismissed: bool,
    /// The state of the undelivered prompt that is furthest from delivery, if there is one. Discarded only if that is
    /// the prompt that would have created the job, which then has no id.
    pub undelivered: Option<DeliveryKind>,
    /// When that prompt entered its state; `None` if unknown.
    pub undelivered_at: Option<Time>,
    /// The position of the job's first queued or paused prompt in the send queue; smaller positions are sent first.
    pub queue_position: Option<i64>,
    /// Increases with every change in the store; a row with a higher revision replaces an older one.
    pub revision: i64,
}

/// The groups of the jobs list, most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobGroup {
    /// The job failed or has a pull request and the user has not acted yet, or a prompt is unconfirmed or undelivered.
    NeedsYou,
    /// The agent is working, or the status is unknown.
    Working,
    /// A prompt is waiting for its turn or for the limit.
    Queued,
    Done,
    /// Dismissed by the user.
    Dismissed,
}

impl JobGroup {
    pub const ALL: [Self; 5] = [Self::NeedsYou, Self::Working, Self::Queued, Self::Done, Self::Dismissed];

    /// The name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs you",
            Self::Working => "working",
            Self::Queued => "queued",
            Self::Done => "done",
            Self::Dismissed => "dismissed",
        }
    }
}

/// The top of the jobs list, which the first frame shows before all rows are loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InitialRows {
    /// The first rows, grouped by urgency, newest first in each group; queued ones in send order.
    pub rows: Vec<Job>,
    /// The number of rows of each group, in the order of [`JobGroup::ALL`].
    pub sizes: [usize; JobGroup::ALL.len()],
    /// The number of working jobs, dismissed ones included.
    pub working: usize,
    /// The thread of the first row, which is selected; `None` if there are no rows.
    pub thread: Option<Thread>,
}

impl Job {
    /// A new job, of which only the title and the creation time are known.
    pub fn new(key: JobKey, title: CleanText, written_at: Time) -> Self {
        Self {
            key,
            id: None,
            title,
            has_own_title: false,
            tags: ThinVec::new(),
            note: None,
            pages: ThinVec::new(),
            status: None,
            repository: None,
            git_ref: None,
            model: None,
            pr_link: None,
            created_at: written_at,
            archived_at: None,
            started_at: written_at,
            finished_at: None,
            changed_at: written_at,
            checked_at: None,
            viewed_at: None,
            handled_at: None,
            followed_up_at: None,
            gone: false,
            gone_at: None,
            dismissed: false,
            queue_position: None,
            undelivered: None,
            undelivered_at: None,
            revision: 0,
        }
    }

    /// Whether the job has changed since the user last viewed it.
    pub fn is_unseen(&self) -> bool {
        self.viewed_at.is_none_or(|looked| looked < self.changed_at)
    }

    /// Whether the user has acted on the job since it last changed.
    pub fn is_handled(&self) -> bool {
        self.handled_at.is_some_and(|handled| handled >= self.changed_at)
    }

    /// Whether the job ended in a way that requires the user to act: it failed, or it has a pull request.
    pub fn wants_action(&self) -> bool {
        let ended = match &self.status {
            Some(Status::Failed) => true,
            Some(Status::Completed) => self.pr_link.is_some(),
            _ => false,
        };
        ended && self.undelivered.is_none() && !self.gone && self.id.is_some()
    }

    /// The group that the job is listed in.
    pub fn group(&self) -> JobGroup {
        if self.dismissed && !self.undelivered.is_some_and(DeliveryKind::needs_user) {
            return JobGroup::Dismissed;
        }
        self.undismissed_group()
    }

    /// Whether the agent is working on the job; dismissing it makes no difference.
    pub fn counts_as_working(&self) -> bool {
        self.undismissed_group() == JobGroup::Working
    }

    fn undismissed_group(&self) -> JobGroup {
        match self.undelivered {
            Some(DeliveryKind::Unconfirmed | DeliveryKind::Rejected | DeliveryKind::NotSent) => {
                return JobGroup::NeedsYou;
            }
            Some(DeliveryKind::Queued | DeliveryKind::Paused) => return JobGroup::Queued,
            Some(DeliveryKind::Sending) => return JobGroup::Working,
            Some(DeliveryKind::Discarded) => return JobGroup::Done,
            Some(DeliveryKind::Accepted) | None => {}
        }
        if self.gone || self.id.is_none() {
            return JobGroup::Done;
        }
        match &self.status {
            None | Some(Status::Active | Status::Unknown(_)) => JobGroup::Working,
            Some(Status::Failed | Status::Completed) if self.wants_action() && !self.is_handled() => JobGroup::NeedsYou,
            Some(Status::Completed | Status::Archived | Status::Failed) => JobGroup::Done,
        }
    }

    /// Whether the agent is working on the job, according to the last known status.
    pub fn is_working(&self) -> bool {
        !self.gone && self.id.is_some() && !self.status.as_ref().is_some_and(Status::is_finished)
    }

    /// When the service last accepted a prompt of the job. The job is checked often after that.
    pub fn last_accepted_at(&self) -> Time {
        self.followed_up_at.map_or(self.started_at, |at| at.max(self.started_at))
    }

    /// When the displayed state began: that of the undelivered prompt, otherwise the service's. `None` if unknown.
    pub fn state_since(&self) -> Option<Time> {
        if self.undelivered.is_some() {
            return self.undelivered_at;
        }
        if self.gone {
            return self.gone_at;
        }
        match &self.status {
            Some(Status::Archived) => self.archived_at,
            Some(Status::Completed | Status::Failed) => self.finished_at,
            Some(Status::Active | Status::Unknown(_)) | None => Some(self.started_at),
        }
    }

    /// The time to sort by: [`Job::state_since`], or the last known time before it.
    pub fn age_from(&self) -> Time {
        self.state_since().or(self.finished_at).unwrap_or(self.created_at)
    }

    /// The URL of the pull request in all outputs: as a browser would open it, or the service's text if it is not a web
    /// link.
    pub fn pr_address(&self) -> Option<CleanText> {
        self.pr_link.as_ref().map(link::display_url)
    }

    /// The pull request's number, if the link has a common form.
    pub fn pr_number(&self) -> Option<u64> {
        self.pr_link.as_ref().and_then(|link| pr_number(link.as_str()))
    }
}
