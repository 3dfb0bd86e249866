//! A job as the list shows it: what the service said of it, joined with what only this computer knows.

use super::Time;
use super::job::{JobId, Status, pr_number};
use super::link;
use super::prompt::{DeliveryKind, Thread};
use super::text::CleanText;
use std::sync::Arc;
use thin_vec::ThinVec;

/// Key of a job in the store on this computer; there before the service has given an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct JobKey(pub i64);

/// Which rows of a scope are left after some were let go of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemainingJobs {
    /// In their order.
    pub keys: Vec<JobKey>,
    /// What this tells about: keys beyond it were given out later.
    pub up_to: JobKey,
}

impl RemainingJobs {
    /// Whether the row of this key is still there, as far as this tells.
    pub fn has(&self, key: JobKey) -> bool {
        key > self.up_to || self.keys.binary_search(&key).is_ok()
    }
}

/// One row of the jobs list. All rows of a list are in memory, so what most of them don't have takes little room in
/// each, and what many of them have in common is there once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub key: JobKey,
    /// None until the service has accepted it.
    pub id: Option<JobId>,
    /// The user's own, or the first line of its prompt, or the id of a job made elsewhere.
    pub title: CleanText,
    /// Whether the title is the user's own.
    pub has_own_title: bool,
    /// The user's own, in lower case.
    pub tags: ThinVec<CleanText>,
    /// The user's own.
    pub note: Option<CleanText>,
    /// The pages that it was started about, in the order in which they were chosen; empty for any other job.
    pub pages: ThinVec<CleanText>,
    /// As last seen; none until the service has answered.
    pub status: Option<Status>,
    pub repository: Option<Arc<CleanText>>,
    pub git_ref: Option<CleanText>,
    pub model: Option<Arc<CleanText>>,
    pub pr_link: Option<CleanText>,
    /// The service's `createdAt`, or else when it was written here.
    pub created_at: Time,
    pub archived_at: Option<Time>,
    /// When the agent was last set to work: creation, or the follow-up that woke the finished job.
    pub started_at: Time,
    /// When it was first seen finished; none for a job that was finished before it was known here.
    pub finished_at: Option<Time>,
    /// Last change of what the service says that is worth a look.
    pub changed_at: Time,
    /// Last answer of the service about it.
    pub checked_at: Option<Time>,
    /// Last time that the user looked at it.
    pub looked_at: Option<Time>,
    /// Last time that the user acted on it: followed up, opened its pull request, or marked it as done.
    pub handled_at: Option<Time>,
    /// When the service accepted the last follow-up.
    pub followed_up_at: Option<Time>,
    /// The service answered 404.
    pub gone: bool,
    /// When it first did; `None` if that is unknown.
    pub gone_at: Option<Time>,
    /// Put away by the user.
    pub dismissed: bool,
    /// The prompt of its thread that is furthest from delivered, if any is undelivered. Discarded only if that was the
    /// prompt for the job itself, which then has no id.
    pub undelivered: Option<DeliveryKind>,
    /// When that prompt entered its state; `None` if that is unknown.
    pub undelivered_at: Option<Time>,
    /// Its first queued prompt's place in the line (paused ones keep theirs): smaller goes out first. None without one.
    pub queue_position: Option<i64>,
    /// Grows with every change in the store; a newer row replaces an older one.
    pub revision: i64,
}

/// Groups of the jobs list, in the order of need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobGroup {
    /// A pull request or failure on which the user has not acted, an unconfirmed or undelivered prompt.
    NeedsYou,
    /// The agent is at it, or the status is unknown.
    Working,
    /// A prompt waits for its turn or for the limit.
    Queued,
    Done,
    /// Put away by the user.
    Dismissed,
}

impl JobGroup {
    /// All groups, in order.
    pub const ALL: [Self; 5] = [Self::NeedsYou, Self::Working, Self::Queued, Self::Done, Self::Dismissed];

    /// The name, lower case.
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

/// The head of the jobs list: what a screen can show before all rows are read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FirstRows {
    /// The first rows in groups by need, the newest first in each; the queued ones as they go out.
    pub rows: Vec<Job>,
    /// How many rows each group has, in the order of [`Group::ALL`].
    pub sizes: [usize; JobGroup::ALL.len()],
    /// How many jobs the agent works on, dismissed ones included.
    pub working: usize,
    /// The thread of the first row, which is the one that is selected; none without rows.
    pub thread: Option<Thread>,
}

impl Job {
    /// A job of which nothing is known but its title and when it was written here.
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
            looked_at: None,
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

    /// Whether something worth a look happened since the user last looked.
    pub fn is_unseen(&self) -> bool {
        self.looked_at.is_none_or(|looked| looked < self.changed_at)
    }

    /// Whether the user has acted on it since it last changed.
    pub fn is_handled(&self) -> bool {
        self.handled_at.is_some_and(|handled| handled >= self.changed_at)
    }

    /// Whether it ended in a way that the user has to act on: it failed, or it has a pull request.
    pub fn wants_action(&self) -> bool {
        let ended = match &self.status {
            Some(Status::Failed) => true,
            Some(Status::Completed) => self.pr_link.is_some(),
            _ => false,
        };
        ended && self.undelivered.is_none() && !self.gone && self.id.is_some()
    }

    /// The group it belongs to by its own state.
    pub fn group(&self) -> JobGroup {
        if self.dismissed && !self.undelivered.is_some_and(DeliveryKind::needs_user) {
            return JobGroup::Dismissed;
        }
        self.undismissed_group()
    }

    /// Whether it counts as a job that the agent works on; dismissing it doesn't change that.
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

    /// Whether the agent is at work on it, as far as is known.
    pub fn is_working(&self) -> bool {
        !self.gone && self.id.is_some() && !self.status.as_ref().is_some_and(Status::is_finished)
    }

    /// When the service last accepted a prompt of it: its changes are worth a look soon after that.
    pub fn last_accepted_at(&self) -> Time {
        self.followed_up_at.map_or(self.started_at, |at| at.max(self.started_at))
    }

    /// When the state began that is shown for the job: that of its undelivered prompt, otherwise the service's. `None` if
    /// that is unknown.
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

    /// The time by which it is sorted: [`JobRow::state_since`], or the last time before that which is known.
    pub fn age_from(&self) -> Time {
        self.state_since().or(self.finished_at).unwrap_or(self.created_at)
    }

    /// The address of its pull request as every output writes it: the one that a browser would open, or the service's text
    /// if that is no web address.
    pub fn pr_address(&self) -> Option<CleanText> {
        self.pr_link.as_ref().map(link::shown)
    }

    /// The number of its pull request, where the link has the usual form.
    pub fn pr_number(&self) -> Option<u64> {
        self.pr_link.as_ref().and_then(|link| pr_number(link.as_str()))
    }
}
