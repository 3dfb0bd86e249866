//! The messages that the state machine handles and the effects that it requests. Most effects are answered by a
//! message, also if they fail.

use super::keymap::Keymap;
use super::profiles::ProfileEntry;
use super::welcome::{ConfigWriteError, RelaunchTarget, Welcome};
use crate::model::Time;
use crate::model::change::{Discarded, LocalChange, QueueChange};
use crate::model::endpoint::{ApiKey, Scope};
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::impact::{PageHistory, PageImpact};
use crate::model::job::JobId;
use crate::model::layout::Layout;
use crate::model::load::Timed;
use crate::model::log::LogEntry;
use crate::model::period::DateRange;
use crate::model::prompt::{DraftSlot, PromptId, Resolution, Thread};
use crate::model::report::{CachedViews, LoadOutcome, LoadPlan, StoredReport};
use crate::model::row::{InitialRows, Job, JobKey};
use crate::model::setup::{KeySourceInput, NewProfile, SetupProblem, WritePermission};
use crate::model::text::CleanText;
use crate::model::views::{Counts, ViewsPage, ViewsQuery};
use chrono::FixedOffset;

/// A message to the state machine.
#[derive(Debug)]
pub enum Msg {
    /// A key, a paste, a resize or a focus change of the terminal.
    Input(crossterm::event::Event),
    /// An event of the engine.
    Engine(EngineEvent),
    /// The first rows of the jobs list, the store's first answer.
    FirstRows(Result<InitialRows, Failure>),
    /// The store can't be written, which was noticed on the first attempt.
    ReadOnly,
    /// The store's initial content.
    Loaded(Result<Box<InitialData>, Failure>),
    /// Rows that another process changed.
    JobsChanged(Vec<Job>),
    /// The thread of a job.
    Thread { job: JobKey, result: Result<Thread, Failure> },
    /// Prefetched threads, without those larger than [`super::MAX_THREAD_BYTES`].
    ThreadsPrefetched(Result<Vec<(JobKey, Thread)>, Failure>),
    /// The prompt was saved, or could not be.
    Submitted { slot: DraftSlot, result: Result<(PromptId, Job), SubmitError> },
    /// The user's decision about an undelivered prompt was carried out.
    Resolved { prompt: PromptId, result: Result<Job, Failure> },
    /// A job was checked, or changed locally.
    Refreshed { job: JobKey, result: Result<Job, Failure> },
    /// A job to track was fetched.
    Tracked { id: CleanText, result: Result<Job, Failure> },
    /// An undelivered prompt was discarded. The sentence explains what that means.
    Discarded { sentence: CleanText, result: Result<Discarded, Failure> },
    /// Queued prompts were discarded.
    RemovedFromQueue(Result<Discarded, Failure>),
    /// Discarded prompts were restored, all or none.
    Restored(Result<Vec<Job>, Failure>),
    /// Jobs were changed locally, all or none.
    Changed(Result<Vec<Job>, Failure>),
    /// Jobs in whose prompts a filter's text occurs. An answer about an older text is ignored.
    PromptsFound { text: String, jobs: Result<Vec<JobKey>, Failure> },
    /// Distinct prompts that were sent before, newest first.
    History(Result<Vec<String>, Failure>),
    /// The built-in templates and the user's own.
    Templates(Vec<Template>),
    /// The text as edited in the external editor.
    EditedExternally(Result<String, Failure>),
    /// The prompts of a file.
    PromptsRead { file: String, result: Result<Vec<String>, Failure> },
    /// A batch was saved and queued, or could not be saved.
    BatchAdded(Result<Vec<Job>, SubmitError>),
    /// Page views. `old` is the cached answer if the request failed.
    Views { query: ViewsQuery, result: Result<Timed<ViewsPage>, Failure>, old: Option<Timed<ViewsPage>> },
    /// The cached data of a range.
    CachedReport { range: DateRange, recalled: Result<StoredReport, Failure> },
    /// Loading all pages of a range ended; they may be incomplete.
    LoadEnded { range: DateRange, end: LoadOutcome },
    /// The cached site totals of the requested ranges.
    CachedTotals(Result<Vec<(DateRange, Timed<Counts>)>, Failure>),
    /// Loading totals ended. Each of them was reported by an engine event.
    TotalsLoaded(Result<(), Failure>),
    /// The cached history of a page.
    PageHistory { path: CleanText, result: Result<PageHistory, Failure> },
    /// The impact on the pages that a job was started about.
    JobImpact { job: JobKey, result: Result<Vec<PageImpact>, Failure> },
    /// The cached page views.
    CachedRanges(Result<CachedViews, Failure>),
    /// A draft was saved, at that time.
    DraftSaved { slot: DraftSlot, result: Result<Time, Failure> },
    /// The saved draft for an editor that was opened. `None` if there is none or it can't be read.
    DraftRead {
        slot: DraftSlot,
        text: Option<String>,
        /// The pages that the draft refers to.
        pages: Vec<CleanText>,
    },
    /// A file of that name already exists and was not changed.
    FileExists(NewFile),
    /// A new profile was validated without a request.
    ProfileChecked { attempt: u64, result: Result<(), SetupProblem> },
    /// A new profile was added, with its key if that could be read.
    ProfileAdded { profile: ProfileEntry, key: Option<ApiKey> },
    /// A filter was saved in the configuration, or could not be.
    FilterSaved { filter: SavedFilter, result: Result<(), Failure> },
    /// The key of a new profile. Ignored if the attempt is over.
    KeyRead { attempt: u64, result: Result<ApiKey, Failure> },
    /// The service's answer to the test of a new profile.
    ProfileTested { attempt: u64, result: Result<CleanText, Failure> },
    /// A new profile was written to the configuration, or could not be.
    ConfigWritten { attempt: u64, result: Result<(), ConfigWriteError> },
    /// The jobs of all profiles.
    AllJobs(Result<AllProfilesJobs, Failure>),
    /// The key of the profile at this index.
    ProfileKey(usize, Result<ApiKey, Failure>),
    /// The result of testing the key of the profile at this index: the key, with a failure if the service could not be
    /// reached.
    ProfileKeyTested(usize, Result<(ApiKey, Option<Failure>), Failure>),
    /// An opener, the clipboard or a command finished. The text is the notice for success.
    ActionFinished { what: CleanText, result: Result<(), Failure> },
    /// The saved layout of a key. `None` if none is saved.
    Layout(String, Option<Layout>),
    /// The time that `App::next_timer` returned has come.
    Timer,
    /// docdeck was resumed after a suspend.
    Resumed,
    /// The process was asked to exit, by a signal or the end of input.
    Terminate,
}

/// Why a prompt could not be saved, with its text: its editor is already closed.
#[derive(Debug, Clone, PartialEq)]
pub struct SubmitError {
    pub failure: Failure,
    pub text: String,
    /// The pages that a new job is about.
    pub pages: Vec<CleanText>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct AllProfilesJobs {
    /// The jobs, each with the index of its profile.
    pub jobs: Vec<(usize, Job)>,
    /// How many jobs belong to projects without a profile, dismissed ones excluded.
    pub without_profile: usize,
}

/// A file to write into the current folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    pub name: String,
    pub text: String,
    /// The counted content, as the notice names it: `3 jobs`.
    pub what: CleanText,
}

/// What happens if the file already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// A number is added to the name.
    Never,
    Ask,
    /// The user confirmed.
    Yes,
}

/// A text to start a prompt from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub name: CleanText,
    /// The text, with blanks like `{{path}}`.
    pub text: String,
}

/// A command of the user, bound to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomCommand {
    pub key: super::keymap::Chord,
    pub name: CleanText,
    /// The arguments, with the placeholders `{pr}`, `{id}`, `{path}`, `{repository}` and `{ref}`.
    pub args: Vec<String>,
}

/// A filter of the configuration, shown as a tab of the jobs list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedFilter {
    pub name: CleanText,
    pub text: String,
}

/// The store's content at the start.
#[derive(Debug, Default)]
pub struct InitialData {
    pub jobs: Vec<Job>,
    pub drafts: Vec<(DraftSlot, String)>,
    /// The pages that the draft about pages refers to.
    pub draft_pages: Vec<CleanText>,
    pub log: Vec<LogEntry>,
    /// The names of the screens whose tip was shown, as stored. `None` if tips are turned off.
    pub tips: Option<String>,
}

/// An effect that the state machine requests.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Loads the first rows of the jobs list; answered by [`Msg::FirstRows`].
    LoadFirstRows(u32),
    LoadInitialData,
    /// Loads the layout saved under this key; answered by [`Msg::Layout`].
    LoadLayout(String),
    /// Saves the layout under a key, without a notice.
    SaveLayout {
        key: String,
        text: String,
    },
    /// Turns mouse reporting of the terminal on or off.
    Mouse(bool),
    LoadThread(JobKey),
    /// Loads threads of jobs that may be selected next, when there is nothing left to draw. Fails before the engine
    /// runs, because the cache depends on its reports of every change.
    PrefetchThreads(Vec<JobKey>),
    SubmitNewJob(String),
    /// Starts a new job and stores the pages that it is about.
    SubmitJobAbout(String, Vec<CleanText>),
    SubmitFollowUp(JobKey, String),
    Resolve(PromptId, Resolution),
    Refresh(JobKey),
    Track(JobId),
    /// Changes the local data of jobs, all or none.
    Change(Vec<JobKey>, LocalChange),
    /// Changes the queue positions of prompts, given by their jobs.
    ChangeQueue(Vec<JobKey>, QueueChange),
    /// Discards an undelivered prompt. The sentence explains what that means. Answered by [`Msg::Discarded`].
    Discard(PromptId, CleanText),
    /// Discards the queued prompts of these jobs; answered by [`Msg::RemovedFromQueue`].
    RemoveFromQueue(Vec<JobKey>),
    /// Restores discarded prompts, all or none; answered by [`Msg::Restored`].
    RestorePrompts(Vec<PromptId>),
    /// Searches all prompts for a text, ignoring case.
    FindPrompts(String),
    /// Searches the prompts of these projects for a text.
    FindPromptsIn(Vec<Scope>, String),
    LoadHistory,
    LoadTemplates,
    /// Opens the text in `$VISUAL` or `$EDITOR`, in the foreground.
    OpenExternalEditor(String),
    /// Draws with this theme from now on, and saves it as the default if `keep` is set; answered by
    /// [`Msg::ActionFinished`].
    UseTheme {
        name: String,
        keep: bool,
    },
    /// Saves a filter in the configuration; answered by [`Msg::FilterSaved`].
    SaveFilter {
        filter: SavedFilter,
        replace: bool,
    },
    /// Validates a new profile without a request; answered by [`Msg::ProfileChecked`].
    CheckProfile {
        attempt: u64,
        profile: Box<NewProfile>,
    },
    /// Adds a newly written profile to the list of profiles; answered by [`Msg::ProfileAdded`].
    AddProfile(Box<NewProfile>, Option<ApiKey>),
    /// Reads the prompts of a file.
    ReadPrompts(String),
    /// Saves and queues new jobs, in this order.
    SubmitBatch {
        prompts: Vec<String>,
        /// The text that the prompts were typed as. Empty if they come from a file.
        typed: String,
    },
    /// Writes a file to the current folder; answered by [`Msg::ActionFinished`], or by [`Msg::FileExists`] if it must
    /// not be overwritten.
    WriteFile(NewFile, Overwrite),
    /// Runs a custom command in the foreground; answered by [`Msg::ActionFinished`].
    RunCommand(Vec<String>),
    /// Shows a desktop notification: a job finished while the terminal was not focused.
    Notify(CleanText),
    SaveDraft(DraftSlot, String),
    /// Saves the draft of a new job about these pages.
    SaveDraftAbout(String, Vec<CleanText>),
    /// Reads a saved draft, which another instance may have changed.
    ReadDraft(DraftSlot),
    DeleteDraft(DraftSlot),
    LoadViews {
        query: ViewsQuery,
        force: bool,
    },
    /// Loads the cached data of a range, without a request.
    LoadCached(DateRange),
    /// Loads all pages of a range, or continues a partial load; answered by [`Msg::LoadEnded`].
    LoadAll(LoadPlan),
    /// Stops loading all pages of this range, after the current request.
    StopLoading(DateRange),
    /// Loads the cached totals of these ranges, without a request.
    LoadCachedTotals(Vec<DateRange>),
    /// Requests the totals of these ranges, one request each, in this order, until one fails.
    LoadTotals(Vec<DateRange>),
    /// Loads the cached data of a page, without a request.
    LoadCachedPage(CleanText),
    /// Loads the cached impact of a job on its pages, without a request.
    LoadJobImpact(JobKey),
    /// Lists the cached page views.
    ListCachedRanges,
    /// Reads the key of a new profile. The command that prints it runs in the foreground. Answered by [`Msg::KeyRead`].
    ReadKey {
        attempt: u64,
        key: KeySourceInput,
    },
    /// Tests a new profile with one GET request; answered by [`Msg::ProfileTested`].
    TestProfile {
        attempt: u64,
        profile: Box<NewProfile>,
        key: ApiKey,
    },
    /// Writes a new profile to the configuration; answered by [`Msg::ConfigWritten`].
    WriteConfig {
        attempt: u64,
        profile: Box<NewProfile>,
        allowed: WritePermission,
    },
    /// Ends this run and starts another one in the same terminal.
    Relaunch(RelaunchTarget),
    /// Saves which tips were shown.
    SaveSeenTips(String),
    /// Lists the jobs of these projects, each with the index of its profile; answered by [`Msg::AllJobs`].
    ListAllJobs(Vec<(usize, Scope)>),
    /// Reads the key of the profile at this index; answered by [`Msg::ProfileKey`].
    ReadProfileKey(usize),
    /// Tests that key with one GET request that no limit counts; answered by [`Msg::ProfileKeyTested`].
    TestProfileKey(usize, ApiKey),
    /// Switches to the profile at this index. All later effects apply to it.
    SwitchProfile(usize, ApiKey),
    /// The visible jobs that the agent is working on, which get a quarter of the polling budget.
    OnScreen(Vec<JobKey>),
    /// Opens an http or https URL, without a shell.
    OpenUrl(CleanText),
    /// Copies a text to the terminal's clipboard; answered by [`Msg::ActionFinished`].
    Copy {
        /// The notice for success, a sentence.
        what: CleanText,
        text: String,
    },
    /// Requests the current budgets, because a limit was reset.
    ReportBudgets,
    Repaint,
    Suspend,
    /// Exits once the drafts saved before are on disk.
    Quit,
}

impl Effect {
    /// Saves a draft; `pages` are those that a new job about pages refers to.
    pub(super) fn save_draft(slot: DraftSlot, text: String, pages: &[CleanText]) -> Self {
        match slot {
            DraftSlot::AboutPages => Self::SaveDraftAbout(text, pages.to_vec()),
            slot => Self::SaveDraft(slot, text),
        }
    }
}

impl Effect {
    /// Copies a text; `what` completes the notice "Copied …". Control characters other than tabs and line breaks are
    /// removed, because the text may be pasted into a shell.
    pub fn copy(what: &str, mut text: String) -> Self {
        text.retain(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'));
        Self::Copy { what: CleanText::line(&format!("Copied {what}.")), text }
    }
}

/// The configuration of the dashboard.
#[derive(Debug, Clone)]
pub struct AppConfig {
    pub scope: Scope,
    pub profile: CleanText,
    /// All profiles, and the index of the current one.
    pub profiles: Vec<ProfileEntry>,
    pub current_profile: usize,
    /// The index of the default profile.
    pub default_profile: Option<usize>,
    /// Whether this is the demo, which saves nothing.
    pub demo: bool,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Over SSH or with reduced motion: no heartbeat, and seconds are shown in steps of ten.
    pub reduced_motion: bool,
    /// Whether mouse reporting is on at the start.
    pub mouse: bool,
    /// The saved layout. `None` if none is saved.
    pub layout: Option<Layout>,
    /// A problem to show first, such as a store that was moved aside.
    pub notice: Option<CleanText>,
    /// Good news to show first, unless there is a problem.
    pub greeting: Option<CleanText>,
    /// Whether the service has accepted the key.
    pub is_verified: bool,
    /// The store can't be written: reading works, sending doesn't.
    pub read_only: bool,
    /// The offset of local time.
    pub offset: FixedOffset,
    /// The setup form, if docdeck is not configured yet.
    pub welcome: Option<Box<Welcome>>,
    /// The path of the configuration file, where settings are saved. `None` in the demo.
    pub config: Option<CleanText>,
    /// The names of all themes.
    pub themes: Vec<String>,
    pub keymap: Keymap,
    pub filters: Vec<SavedFilter>,
    pub commands: Vec<CustomCommand>,
    /// Whether the list of all profiles' jobs opens at the start, if there are several profiles.
    pub all_profiles: bool,
    /// Whether long texts can be copied: a command of the user takes them, rather than the terminal.
    pub long_copies: bool,
}

impl AppConfig {
    /// The configuration of a dashboard for this scope, with defaults for all settings.
    pub fn new(scope: Scope, offset: FixedOffset) -> Self {
        Self {
            scope,
            profile: CleanText::default(),
            profiles: Vec::new(),
            current_profile: 0,
            default_profile: None,
            demo: false,
            size: (0, 0),
            reduced_motion: false,
            mouse: true,
            layout: None,
            notice: None,
            greeting: None,
            is_verified: false,
            read_only: false,
            offset,
            welcome: None,
            config: None,
            themes: Vec::new(),
            keymap: Keymap::default(),
            filters: Vec::new(),
            commands: Vec::new(),
            all_profiles: false,
            long_copies: false,
        }
    }
}
