//! The messages and effects about jobs.

use crate::model::Time;
use crate::model::change::{LocalChange, QueueChange};
use crate::model::diff::LoadedDiff;
use crate::model::endpoint::Scope;
use crate::model::failure::Failure;
use crate::model::impact::PageImpact;
use crate::model::job::{FirstJobs, Job, JobKey};
use crate::model::load::Timed;
use crate::model::log::LogEntry;
use crate::model::preview::{Build, StartedBuild};
use crate::model::prompt::{DraftTarget, Thread};
use crate::model::pull_request_action::{ActionOutcome, PullRequestAction, SeenHeadCommit, UnsentReviewKind};
use crate::model::pull_request_details::{PullRequestDetails, SiteFacts};
use crate::model::remote_job::JobId;
use crate::model::text::CleanText;
use std::collections::HashMap;

/// A message about jobs.
#[derive(Debug)]
pub enum JobsMsg {
    /// The first rows of the jobs list, which the store returns before all other data.
    FirstRowsLoaded(Result<FirstJobs, Failure>),
    /// The content of the store at the start.
    InitialDataLoaded(Result<Box<InitialData>, Failure>),
    /// The thread of a job was read from the store, or could not be read.
    ThreadLoaded { job: JobKey, result: Result<Thread, Failure> },
    /// Prefetched threads. Threads larger than [`crate::tui::MAX_PREFETCHED_THREAD_BYTES`] are left out.
    ThreadsPrefetched(Result<Vec<(JobKey, Thread)>, Failure>),
    /// A job was fetched from the service at the user's request, or could not be fetched.
    Checked(Result<Job, Failure>),
    /// A job to track was fetched, or could not be fetched.
    Tracked { id: CleanText, result: Result<Job, Failure> },
    /// The local data of jobs was changed. On failure, none of the jobs was changed.
    LocalDataChanged(Result<Vec<Job>, Failure>),
    /// The jobs in whose prompts `text` occurs. Ignored if the filter no longer contains `text`.
    JobsFoundByPrompt { text: String, jobs: Result<Vec<JobKey>, Failure> },
    /// The impact of a job on the pages that the job is about.
    ImpactLoaded { job: JobKey, result: Result<Vec<PageImpact>, Failure> },
    /// The changes of a job's pull request were read, or could not be read.
    DiffLoaded { job: JobKey, result: Result<Box<LoadedDiff>, Failure> },
    /// The outcome of an action on a job's pull request.
    PullRequestActionEnded { job: JobKey, action: PullRequestAction, outcome: ActionOutcome },
    /// The details of a job's pull request, `None` if none are stored.
    PullRequestDetailsLoaded {
        job: JobKey,
        result: Result<Option<Timed<PullRequestDetails>>, Failure>,
        site: SiteFacts,
    },
    /// The build of a preview was accepted, or not started.
    PreviewStarted { job: JobKey, result: Result<StartedBuild, Failure> },
    /// The state of the build of a preview.
    BuildChecked { job: JobKey, id: CleanText, result: Result<Build, Failure> },
    /// The text of a review was saved at the time in `result`, or could not be saved.
    UnsentReviewSaved { links: Vec<CleanText>, kind: UnsentReviewKind, result: Result<Time, Failure> },
    /// The jobs of all profiles.
    AllJobsListed(Result<AllProfilesJobs, Failure>),
}

/// A side effect about jobs.
#[derive(Debug, Clone, PartialEq)]
pub enum JobsEffect {
    /// Loads this number of rows from the start of the jobs list; answered by [`JobsMsg::FirstRowsLoaded`].
    LoadFirstRows(u32),
    LoadInitialData,
    LoadThread(JobKey),
    /// Loads threads of jobs that may be selected next. Waits until there is nothing to draw. Fails until the engine
    /// runs, because cached threads would become stale without the engine's events about changes.
    PrefetchThreads(Vec<JobKey>),
    Check(JobKey),
    Track(JobId),
    /// Changes the local data of jobs. On failure, none of the jobs is changed.
    ChangeLocalData(Vec<JobKey>, LocalChange),
    /// Moves, pauses or resumes the queued prompts of these jobs.
    ChangeQueue(Vec<JobKey>, QueueChange),
    /// Searches the prompts of the current project for a text, ignoring case.
    FindJobsByPrompt(String),
    /// Searches the prompts of these projects for a text, ignoring case.
    FindJobsByPromptIn(Vec<Scope>, String),
    /// Loads the impact of a job on its pages from cached data, without a request; answered by
    /// [`JobsMsg::ImpactLoaded`].
    LoadJobImpact(JobKey),
    /// Lists the jobs of these projects, each given with the index of its profile; answered by
    /// [`JobsMsg::AllJobsListed`].
    ListAllJobs(Vec<(usize, Scope)>),
    /// Informs the engine which visible jobs the agent is working on. Up to a quarter of the polling budget is reserved
    /// for these jobs.
    ReportVisibleJobs(Vec<JobKey>),
    /// Informs the engine whether the terminal has the focus.
    ReportFocus(bool),
    /// Reads the changes of a job's pull request: from its code host if they are not stored, or if `is_reload` is set;
    /// answered by [`JobsMsg::DiffLoaded`].
    LoadDiff {
        job: JobKey,
        is_reload: bool,
    },
    /// Performs an action on a job's pull request, unless the head commit of the pull request has changed; answered by
    /// [`JobsMsg::PullRequestActionEnded`].
    RunPullRequestAction {
        target: SeenHeadCommit,
        action: PullRequestAction,
    },
    /// Saves the text of a review that was not sent yet, for the pull requests with these links. If `text` is blank,
    /// deletes the saved text. Answered by [`JobsMsg::UnsentReviewSaved`].
    SaveUnsentReview {
        links: Vec<CleanText>,
        kind: UnsentReviewKind,
        text: String,
    },
    /// Reads the stored details of a job's pull request if `reads_stored` is set, otherwise requests the details from
    /// the code host; answered by [`JobsMsg::PullRequestDetailsLoaded`].
    LoadPullRequestDetails {
        job: JobKey,
        reads_stored: bool,
    },
    /// Builds a preview of the site with the changes of this job; answered by [`JobsMsg::PreviewStarted`].
    StartPreview(JobKey),
    /// Waits a moment, then requests the state of a build; answered by [`JobsMsg::BuildChecked`].
    CheckBuild {
        job: JobKey,
        build: StartedBuild,
    },
    /// Requests the state of the pull requests of these jobs from their code hosts, even if the stored state is
    /// final.
    RefreshPullRequests(Vec<JobKey>),
}

/// The jobs of all profiles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AllProfilesJobs {
    /// The jobs, each with the index of its profile.
    pub jobs: Vec<(usize, Job)>,
    /// The number of jobs that belong to a project without a profile. Dismissed jobs are not counted.
    pub jobs_without_profile_count: usize,
}

/// The content of the store at the start.
#[derive(Debug, Default)]
pub struct InitialData {
    pub jobs: Vec<Job>,
    pub drafts: Vec<(DraftTarget, String)>,
    /// The pages that the draft in [`DraftTarget::AboutPages`] is about.
    pub draft_pages: Vec<CleanText>,
    /// The texts of reviews and comments that were not sent, by the links of their pull requests.
    pub unsent_reviews: HashMap<(CleanText, UnsentReviewKind), String>,
    pub log: Vec<LogEntry>,
    /// The names of the screens and dialogs whose tip was shown, separated by spaces. `None` if tips are turned off.
    pub seen_tips: Option<String>,
    /// Whether the project is shared with a team.
    pub is_project_shared: bool,
}
