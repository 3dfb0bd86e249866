//! Jobs as lists show them, with the service's data and local data.

use super::Time;
use super::link;
use super::prompt::{DeliveryKind, Thread};
use super::pull_request::{PullRequest, PullRequestFact, PullRequestLink, PullRequestTurn};
use super::remote_job::{JobId, RemoteState, Status, pr_number};
use super::text::CleanText;
use thin_vec::ThinVec;

/// A job's key in the store. It is assigned before the service gives the job an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct JobKey(pub i64);

/// The jobs that remain after some were removed by `docdeck prune`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobsLeftAfterPrune {
    /// The keys of the remaining jobs, sorted.
    pub keys: Vec<JobKey>,
    /// The largest job key that existed when this list was made. Jobs with larger keys are newer.
    pub largest_key: JobKey,
}

impl JobsLeftAfterPrune {
    /// Whether the job still exists. Jobs that are newer than this list count as existing.
    pub fn contains(&self, key: JobKey) -> bool {
        key > self.largest_key || self.keys.binary_search(&key).is_ok()
    }
}

/// A job. All jobs are in memory, so rarely used fields take little space and common values are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub key: JobKey,
    /// `None` until the service has accepted the job.
    pub id: Option<JobId>,
    /// When the service created the job (`createdAt`). As long as this is unknown, the time at which the prompt was
    /// written on this computer.
    pub created_at: Time,
    /// What the service reported last.
    pub remote: RemoteState,
    /// The state of the job's pull request on the code host; `None` if unknown.
    pub pull_request: Option<Box<PullRequest>>,
    /// The data that the service doesn't store.
    pub local: LocalState,
    /// Increases with every change of the job in the store. A job with a higher revision replaces a copy with a lower
    /// one.
    pub revision: i64,
}

/// The data of a job that only docdeck stores: what the user wrote and did, what was observed while polling, and the
/// state of the job's prompts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalState {
    /// A custom title, the first line of the prompt, or the id of a job that was created elsewhere.
    pub title: CleanText,
    /// Whether the title is a custom one.
    pub has_custom_title: bool,
    /// Tags that the user added, in lower case.
    pub tags: ThinVec<CleanText>,
    /// A note that the user wrote.
    pub note: Option<CleanText>,
    /// The pages that the job was started for, in the order in which they were chosen; empty for other jobs.
    pub pages: ThinVec<CleanText>,
    /// When the agent was last started: on creation, or by a follow-up to the finished job.
    pub started_at: Time,
    /// When docdeck first saw the job finished; `None` if it is not finished, or was already finished when it was added
    /// to the tracked jobs.
    pub finished_at: Option<Time>,
    /// When the service or the code host last reported a change that the user should see.
    pub changed_at: Time,
    /// When the service last responded about the job.
    pub checked_at: Option<Time>,
    /// When the user last viewed the job.
    pub viewed_at: Option<Time>,
    /// When the user last acted on the job: followed up, opened its pull request, or marked it as done.
    pub handled_at: Option<Time>,
    /// When the service accepted the last follow-up.
    pub followed_up_at: Option<Time>,
    /// Whether the service responded with 404 to the last request for the job.
    pub gone: bool,
    /// When the service responded with 404 for the first time; `None` if unknown.
    pub gone_at: Option<Time>,
    /// Whether the user or another member of the team dismissed the job.
    pub dismissed: bool,
    /// The delivery state of the most urgent undelivered prompt; `None` if there is no undelivered prompt. `Discarded`
    /// occurs only for the prompt that would have created the job.
    pub undelivered: Option<DeliveryKind>,
    /// When the prompt that `undelivered` describes entered its state; `None` if unknown.
    pub undelivered_at: Option<Time>,
    /// The position of the job's first queued or paused prompt in the send queue; smaller positions are sent first.
    pub queue_position: Option<i64>,
    /// What other members of the team did about the job; `None` if nothing is known.
    pub team: Option<Box<TeamActivity>>,
}

/// What other members of the team did about a job. A field is `None` if nobody did this, if the user of this computer
/// did it, or if it is unknown. Only `pr_ended_by` also names the user of this computer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TeamActivity {
    /// Who started the job.
    pub author: Option<CleanText>,
    /// Who wrote the last follow-up that the service accepted.
    pub followed_up_by: Option<CleanText>,
    /// Who dismissed the job; `None` if it is not dismissed.
    pub dismissed_by: Option<CleanText>,
    /// Who merged or closed the job's pull request with docdeck.
    pub pr_ended_by: Option<PullRequestEndedBy>,
}

/// Who merged or closed a pull request with docdeck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullRequestEndedBy {
    /// The user of this computer.
    User,
    /// Another member of the team.
    Member(CleanText),
}

/// The groups of the jobs list, most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobGroup {
    /// A prompt is `Unconfirmed`, `Rejected` or `NotSent`. Or the user has not acted yet, although the job failed or
    /// its pull request may wait for the user.
    NeedsYou,
    /// A prompt is being sent, the agent is working, the pull request waits for its checks or the merge queue, or the
    /// status is unknown.
    Working,
    /// A prompt waits for its turn or for the rate limit, or is paused.
    Queued,
    /// Nothing is left to do.
    Done,
    /// Dismissed by the user or by another member of the team, and without a prompt that needs the user.
    Dismissed,
}

impl JobGroup {
    pub const ALL: [Self; 5] = [Self::NeedsYou, Self::Working, Self::Queued, Self::Done, Self::Dismissed];

    /// Returns the group's name, in lower case.
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

/// Of the jobs in [`JobGroup::NeedsYou`], how many have a pull request that needs the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PullRequestCounts {
    /// Jobs whose pull request is ready for review.
    pub to_review: usize,
    /// Jobs whose pull request has failing checks.
    pub failing: usize,
}

impl PullRequestCounts {
    /// Adds `by` to the number of jobs whose pull request has this fact. Only jobs in [`JobGroup::NeedsYou`] are
    /// counted, and only if the fact is `Ready` or `Failing`.
    pub fn adjust(&mut self, group: JobGroup, fact: Option<PullRequestFact>, by: isize) {
        let count = match fact {
            Some(PullRequestFact::Ready) => &mut self.to_review,
            Some(PullRequestFact::Failing) => &mut self.failing,
            _ => return,
        };
        if group == JobGroup::NeedsYou {
            *count = count.saturating_add_signed(by);
        }
    }
}

/// The top of the jobs list, which the first frame shows before all jobs are loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FirstJobs {
    /// The first jobs, grouped by urgency. Each group is sorted by [`Job::sort_time`], latest first, except that
    /// queued jobs are in the order in which they are sent.
    pub jobs: Vec<Job>,
    /// The number of jobs in each group, in the order of [`JobGroup::ALL`].
    pub group_counts: [usize; JobGroup::ALL.len()],
    /// The number of working jobs, including dismissed ones.
    pub working_count: usize,
    pub pull_requests: PullRequestCounts,
    /// The thread of the first job, which is selected; `None` if there are no jobs.
    pub thread: Option<Thread>,
}

impl Job {
    /// Creates a job when only its title and its creation time are known.
    pub fn new(key: JobKey, title: CleanText, written_at: Time) -> Self {
        let local = LocalState {
            title,
            has_custom_title: false,
            tags: ThinVec::new(),
            note: None,
            pages: ThinVec::new(),
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
            undelivered: None,
            undelivered_at: None,
            queue_position: None,
            team: None,
        };
        let (id, pull_request, remote) = (None, None, RemoteState::default());
        Self { key, id, created_at: written_at, remote, pull_request, local, revision: 0 }
    }

    /// Returns the member of the team who started the job on another computer; `None` if it was started on this one, or
    /// if that is unknown.
    pub fn author(&self) -> Option<&CleanText> {
        self.local.team.as_ref()?.author.as_ref()
    }

    /// Whether the job has changed since the user last viewed it.
    pub fn is_unseen(&self) -> bool {
        self.local.viewed_at.is_none_or(|viewed| viewed < self.local.changed_at)
    }

    /// Whether the user has acted on the job since it last changed.
    pub fn is_handled(&self) -> bool {
        self.local.handled_at.is_some_and(|handled| handled >= self.local.changed_at)
    }

    /// Whether the job ended in a way that requires the user to act: it failed, or it completed with a pull request on
    /// which the user may have to act. False if the job has an undelivered prompt or is gone.
    pub fn needs_action(&self) -> bool {
        let ended = match &self.remote.status {
            Some(Status::Failed) => true,
            Some(Status::Completed) => {
                self.remote.pr_link.is_some()
                    && !matches!(self.pr_turn(), Some(PullRequestTurn::Host | PullRequestTurn::Nobody))
            }
            _ => false,
        };
        ended && self.local.undelivered.is_none() && !self.local.gone && self.id.is_some()
    }

    /// Returns the most important fact about the job's pull request; `None` if its state is unknown.
    pub fn pr_fact(&self) -> Option<PullRequestFact> {
        self.pull_request.as_ref().map(|pull_request| pull_request.main_fact())
    }

    /// Returns who has to act on the job's pull request; `None` if unknown.
    pub fn pr_turn(&self) -> Option<PullRequestTurn> {
        self.pr_fact().map(PullRequestFact::turn)
    }

    /// Whether the job's last prompt can be sent again, because the job failed.
    pub fn can_retry(&self) -> bool {
        self.remote.status == Some(Status::Failed) && self.needs_action()
    }

    /// Returns the group in which the job is listed. The store computes the same in SQL, as the column `list_group`;
    /// `store::tests::job_counts` compares both.
    pub fn group(&self) -> JobGroup {
        if self.local.dismissed && !self.local.undelivered.is_some_and(DeliveryKind::needs_user) {
            return JobGroup::Dismissed;
        }
        self.undismissed_group()
    }

    /// Whether the job is in the group of working jobs, or would be if it weren't dismissed.
    pub fn counts_as_working(&self) -> bool {
        self.undismissed_group() == JobGroup::Working
    }

    fn undismissed_group(&self) -> JobGroup {
        match self.local.undelivered {
            Some(DeliveryKind::Unconfirmed | DeliveryKind::Rejected | DeliveryKind::NotSent) => {
                return JobGroup::NeedsYou;
            }
            Some(DeliveryKind::Queued | DeliveryKind::Paused) => return JobGroup::Queued,
            Some(DeliveryKind::Sending) => return JobGroup::Working,
            Some(DeliveryKind::Discarded) => return JobGroup::Done,
            Some(DeliveryKind::Accepted) | None => {}
        }
        if self.local.gone || self.id.is_none() {
            return JobGroup::Done;
        }
        match &self.remote.status {
            None | Some(Status::Active | Status::Unknown(_)) => JobGroup::Working,
            Some(Status::Completed) if self.pr_turn() == Some(PullRequestTurn::Host) => JobGroup::Working,
            Some(Status::Failed | Status::Completed) if self.needs_action() && !self.is_handled() => JobGroup::NeedsYou,
            Some(Status::Completed | Status::Archived | Status::Failed) => JobGroup::Done,
        }
    }

    /// Whether the agent is working on the job, according to the last known status.
    pub fn is_working(&self) -> bool {
        !self.local.gone && self.id.is_some() && !self.remote.is_finished()
    }

    /// Returns when the service last accepted a prompt of the job. Shortly after that time, the job is checked more
    /// often.
    pub fn last_accepted_at(&self) -> Time {
        self.local.followed_up_at.map_or(self.local.started_at, |at| at.max(self.local.started_at))
    }

    /// Returns when the displayed state began, or `None` if the time is unknown. The displayed state is the delivery
    /// state of the undelivered prompt if there is one, otherwise the state of the job on the service.
    pub fn state_since(&self) -> Option<Time> {
        if self.local.undelivered.is_some() {
            return self.local.undelivered_at;
        }
        if self.local.gone {
            return self.local.gone_at;
        }
        match &self.remote.status {
            Some(Status::Archived) => self.remote.archived_at,
            Some(Status::Completed | Status::Failed) => self.local.finished_at,
            Some(Status::Active | Status::Unknown(_)) | None => Some(self.local.started_at),
        }
    }

    /// Returns the time by which lists sort the job: [`Job::state_since`] if it is known, otherwise when the job
    /// finished, otherwise when it was created. The store computes the same in SQL, as the column `list_order`.
    pub fn sort_time(&self) -> Time {
        self.state_since().or(self.local.finished_at).unwrap_or(self.created_at)
    }

    /// Returns the URL of the pull request for all outputs: as a browser would open it, or the service's text if it is
    /// not a web link.
    pub fn pr_url(&self) -> Option<CleanText> {
        self.remote.pr_link.as_ref().map(link::display_url)
    }

    /// Whether the job has a pull request on a kind of code host that docdeck supports.
    pub fn has_supported_pr_link(&self) -> bool {
        self.supported_pr_link().is_some()
    }

    /// Returns the link to the pull request; `None` if there is none, or if docdeck doesn't support its kind of code
    /// host.
    pub fn supported_pr_link(&self) -> Option<PullRequestLink> {
        PullRequestLink::parse(self.remote.pr_link.as_ref()?.as_str())
    }

    /// Whether the title is only the id of the job.
    pub fn is_named_by_id(&self) -> bool {
        let is_title = |id: &JobId| id.to_clean_text() == self.local.title;
        !self.local.has_custom_title && self.id.as_ref().is_some_and(is_title)
    }

    /// Returns the pull request's number, or `None` if there is no link or its form is unknown.
    pub fn pr_number(&self) -> Option<u64> {
        self.remote.pr_link.as_ref().and_then(|link| pr_number(link.as_str()))
    }
}
