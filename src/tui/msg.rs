//! The messages that the state machine handles, and the effects that it requests. Most effects are answered by a
//! message, even if they fail.

use super::keymap::Keymap;
use super::profiles::ProfileEntry;
use super::welcome::{ConfigWriteError, RelaunchTarget, Welcome};
use crate::model::Time;
use crate::model::change::{DiscardedPrompts, LocalChange, QueueChange};
use crate::model::endpoint::{ApiKey, Scope};
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::impact::{PageHistory, PageImpact};
use crate::model::job::JobId;
use crate::model::layout::Layout;
use crate::model::load::Timed;
use crate::model::log::LogEntry;
use crate::model::period::DateRange;
use crate::model::prompt::{DraftTarget, PromptId, Resolution, Thread};
use crate::model::report::{CachedViews, LoadOutcome, LoadPlan, StoredReport};
use crate::model::row::{InitialRows, Job, JobKey};
use crate::model::setup::{KeySourceInput, NewProfile, SetupProblem, WritePermission};
use crate::model::text::CleanText;
use crate::model::views::{Counts, ViewsPage, ViewsQuery};
use chrono::FixedOffset;

/// A message to the state machine.
#[derive(Debug)]
pub enum Msg {
    /// A key, a mouse event, a paste, a resize or a focus change of the terminal.
    Input(crossterm::event::Event),
    /// An event of the engine.
    Engine(EngineEvent),
    /// The first rows of the jobs list, which the store returns before all other data.
    FirstRows(Result<InitialRows, Failure>),
    /// The first attempt to write to the store has shown that the store is read-only.
    StoreReadOnly,
    /// The content of the store at the start.
    InitialDataLoaded(Result<Box<InitialData>, Failure>),
    /// The rows of jobs that another process changed.
    JobsChangedElsewhere(Vec<Job>),
    /// The thread of a job was read from the store, or could not be read.
    Thread { job: JobKey, result: Result<Thread, Failure> },
    /// Prefetched threads. Threads larger than [`super::MAX_THREAD_BYTES`] are left out.
    ThreadsPrefetched(Result<Vec<(JobKey, Thread)>, Failure>),
    /// The prompt from an editor was saved, or could not be saved.
    Submitted { slot: DraftTarget, result: Result<(PromptId, Job), SubmitError> },
    /// The user's decision about an undelivered prompt was carried out, or could not be.
    Resolved { prompt: PromptId, result: Result<Job, Failure> },
    /// A job was fetched from the service at the user's request, or could not be fetched.
    JobChecked { job: JobKey, result: Result<Job, Failure> },
    /// A job to track was fetched, or could not be fetched.
    Tracked { id: CleanText, result: Result<Job, Failure> },
    /// An undelivered prompt was discarded, or could not be. `sentence` tells the user what discarding means for this
    /// prompt.
    Discarded { sentence: CleanText, result: Result<DiscardedPrompts, Failure> },
    /// Queued prompts were removed from the queue.
    RemovedFromQueue(Result<DiscardedPrompts, Failure>),
    /// Discarded prompts were restored. On failure, none of them was restored.
    PromptsRestored(Result<Vec<Job>, Failure>),
    /// The local data of jobs was changed. On failure, none of the jobs was changed.
    LocalDataChanged(Result<Vec<Job>, Failure>),
    /// The jobs in whose prompts `text` occurs. Ignored if the filter has another text by now.
    PromptsFound { text: String, jobs: Result<Vec<JobKey>, Failure> },
    /// Prompts that were sent before, without duplicates, newest first.
    History(Result<Vec<String>, Failure>),
    /// The built-in templates and the user's own templates.
    Templates(Vec<Template>),
    /// The external editor has exited: its text, or why the text could not be edited.
    EditedExternally(Result<String, Failure>),
    /// The prompts that were read from a file.
    PromptsRead { file: String, result: Result<Vec<String>, Failure> },
    /// The jobs of a batch were saved and queued, or could not be saved.
    BatchAdded(Result<Vec<Job>, SubmitError>),
    /// The page views for a query. If the request failed, `old` is the cached answer to the query, if any.
    Views { query: ViewsQuery, result: Result<Timed<ViewsPage>, Failure>, old: Option<Timed<ViewsPage>> },
    /// The cached report of a range.
    CachedReport { range: DateRange, recalled: Result<StoredReport, Failure> },
    /// Loading all pages of a range ended, whether or not all pages were loaded.
    LoadEnded { range: DateRange, end: LoadOutcome },
    /// The cached site totals of the requested ranges.
    CachedTotals(Result<Vec<(DateRange, Timed<Counts>)>, Failure>),
    /// Loading site totals ended. The totals themselves arrived as engine events.
    TotalsLoaded(Result<(), Failure>),
    /// The cached history of a page.
    PageHistory { path: CleanText, result: Result<PageHistory, Failure> },
    /// The impact of a job on the pages that the job is about.
    JobImpact { job: JobKey, result: Result<Vec<PageImpact>, Failure> },
    /// The list of cached page views.
    CachedRanges(Result<CachedViews, Failure>),
    /// A draft was saved at the time in `result`, or could not be saved.
    DraftSaved { slot: DraftTarget, result: Result<Time, Failure> },
    /// The saved draft for an editor that was just opened. `text` is `None` if no draft is saved or it can't be read.
    DraftRead {
        slot: DraftTarget,
        text: Option<String>,
        /// The pages that the draft is about.
        pages: Vec<CleanText>,
    },
    /// The file was not written, because a file with its name already exists.
    FileExists(NewFile),
    /// A new profile was validated without a request.
    ProfileChecked { attempt: u64, result: Result<(), SetupProblem> },
    /// A new profile was added to the list of profiles. `key` is `None` if its key could not be read.
    ProfileAdded { profile: ProfileEntry, key: Option<ApiKey> },
    /// A filter was saved in the configuration, or could not be saved.
    FilterSaved { filter: SavedFilter, result: Result<(), Failure> },
    /// The API key of a new profile. Ignored if the attempt is over.
    KeyRead { attempt: u64, result: Result<ApiKey, Failure> },
    /// The service's answer to the test of a new profile.
    ProfileTested { attempt: u64, result: Result<CleanText, Failure> },
    /// A new profile was written to the configuration, or could not be written.
    ConfigWritten { attempt: u64, result: Result<(), ConfigWriteError> },
    /// The jobs of all profiles.
    AllJobs(Result<AllProfilesJobs, Failure>),
    /// The API key of the profile at this index.
    ProfileKey(usize, Result<ApiKey, Failure>),
    /// The result of testing the API key of the profile at this index. `Ok` has the key and, if the key could not be
    /// tested, the failure.
    ProfileKeyTested(usize, Result<(ApiKey, Option<Failure>), Failure>),
    /// An effect that only shows a notice finished, such as opening a URL or copying. `what` is the notice for success.
    ActionFinished { what: CleanText, result: Result<(), Failure> },
    /// The layout that the store has under this key. `None` if it has none.
    Layout(String, Option<Layout>),
    /// The time that `App::next_timer` returned is reached.
    Timer,
    /// docdeck continues after it was suspended.
    Resumed,
    /// docdeck has to exit because of a signal or the end of input.
    Terminate,
}

/// Why a prompt could not be saved. Includes the prompt's text, because its editor is already closed.
#[derive(Debug, Clone, PartialEq)]
pub struct SubmitError {
    pub failure: Failure,
    pub text: String,
    /// The pages that the new job would be about.
    pub pages: Vec<CleanText>,
}

/// The jobs of all profiles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AllProfilesJobs {
    /// The jobs, each with the index of its profile.
    pub jobs: Vec<(usize, Job)>,
    /// The number of jobs that belong to a project without a profile. Dismissed jobs are not counted.
    pub without_profile_count: usize,
}

/// A file to write into the current folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    pub name: String,
    pub text: String,
    /// What the file contains, for notices, such as `3 jobs`.
    pub what: CleanText,
}

/// What to do if the file already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// Add a number to the name of the new file.
    Never,
    /// Ask the user, without writing the file.
    Ask,
    /// Overwrite the file, because the user has confirmed it.
    Yes,
}

/// A text that the user can insert into a prompt and then complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub name: CleanText,
    /// The text, with blanks such as `{{path}}`.
    pub text: String,
}

/// A command from the user's configuration, bound to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomCommand {
    pub key: super::keymap::Chord,
    pub name: CleanText,
    /// The arguments, with the placeholders `{pr}`, `{id}`, `{path}`, `{repository}` and `{ref}`.
    pub args: Vec<String>,
}

/// A filter from the configuration, shown as a tab of the jobs list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedFilter {
    pub name: CleanText,
    pub text: String,
}

/// The content of the store at the start.
#[derive(Debug, Default)]
pub struct InitialData {
    pub jobs: Vec<Job>,
    pub drafts: Vec<(DraftTarget, String)>,
    /// The pages that the draft in [`DraftTarget::AboutPages`] is about.
    pub draft_pages: Vec<CleanText>,
    pub log: Vec<LogEntry>,
    /// The names of the screens and dialogs whose tip was shown, separated by spaces. `None` if tips are turned off.
    pub tips: Option<String>,
}

/// A side effect that the state machine requests and the runtime runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Loads this number of rows from the start of the jobs list; answered by [`Msg::FirstRows`].
    LoadFirstRows(u32),
    LoadInitialData,
    /// Loads the layout saved under this key; answered by [`Msg::Layout`].
    LoadLayout(String),
    /// Saves the layout in the store under this key, without a notice.
    SaveLayout {
        key: String,
        text: String,
    },
    /// Turns mouse reporting of the terminal on or off.
    SetMouse(bool),
    LoadThread(JobKey),
    /// Loads threads of jobs that may be selected next. Waits until there is nothing to draw. Fails until the engine
    /// runs, because cached threads would become stale without the engine's events about changes.
    PrefetchThreads(Vec<JobKey>),
    SubmitNewJob(String),
    /// Starts a new job with this prompt and stores the pages that the job is about.
    SubmitJobAbout(String, Vec<CleanText>),
    SubmitFollowUp(JobKey, String),
    Resolve(PromptId, Resolution),
    CheckJob(JobKey),
    Track(JobId),
    /// Changes the local data of jobs. On failure, none of the jobs is changed.
    ChangeLocalData(Vec<JobKey>, LocalChange),
    /// Moves, pauses or resumes the queued prompts of these jobs.
    ChangeQueue(Vec<JobKey>, QueueChange),
    /// Discards an undelivered prompt. Answered by [`Msg::Discarded`] with the same sentence, which explains to the
    /// user what discarding means for this prompt.
    Discard(PromptId, CleanText),
    /// Removes the prompts of these jobs from the queue without sending them; answered by [`Msg::RemovedFromQueue`].
    RemoveFromQueue(Vec<JobKey>),
    /// Restores discarded prompts; answered by [`Msg::PromptsRestored`]. On failure, none of them is restored.
    RestorePrompts(Vec<PromptId>),
    /// Searches the prompts of the current project for a text, ignoring case.
    FindPrompts(String),
    /// Searches the prompts of these projects for a text, ignoring case.
    FindPromptsIn(Vec<Scope>, String),
    LoadHistory,
    LoadTemplates,
    /// Opens the text in `$VISUAL` or `$EDITOR`, which uses the terminal until it exits.
    OpenExternalEditor(String),
    /// Switches to this theme, and saves it as the default if `save_as_default` is true; answered by
    /// [`Msg::ActionFinished`].
    UseTheme {
        name: String,
        save_as_default: bool,
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
    /// Adds a profile to the list of profiles after it was written to the configuration; answered by
    /// [`Msg::ProfileAdded`].
    AddProfile(Box<NewProfile>, Option<ApiKey>),
    /// Reads prompts from the file at this path; answered by [`Msg::PromptsRead`].
    ReadPrompts(String),
    /// Saves and queues new jobs, in this order.
    SubmitBatch {
        prompts: Vec<String>,
        /// The text from which the prompts were split. Empty if the prompts come from a file.
        typed_text: String,
    },
    /// Writes a file to the current folder; answered by [`Msg::ActionFinished`], or by [`Msg::FileExists`] if the user
    /// has to be asked before a file is overwritten.
    WriteFile(NewFile, Overwrite),
    /// Runs a custom command, which uses the terminal until it exits; answered by [`Msg::ActionFinished`].
    RunCommand(Vec<String>),
    /// Shows a desktop notification with this text, because jobs finished while the terminal was not focused.
    Notify(CleanText),
    SaveDraft(DraftTarget, String),
    /// Saves the draft of a new job about these pages.
    SaveDraftAbout(String, Vec<CleanText>),
    /// Reads a saved draft again, because another instance may have changed it.
    ReadDraft(DraftTarget),
    DeleteDraft(DraftTarget),
    LoadViews {
        query: ViewsQuery,
        force: bool,
    },
    /// Loads the cached report of a range, without a request; answered by [`Msg::CachedReport`].
    LoadCachedReport(DateRange),
    /// Loads all pages of a range, or continues a partial load; answered by [`Msg::LoadEnded`].
    LoadAll(LoadPlan),
    /// Stops the load of all pages of this range once its current request is answered.
    StopLoading(DateRange),
    /// Loads the cached site totals of these ranges, without a request; answered by [`Msg::CachedTotals`].
    LoadCachedTotals(Vec<DateRange>),
    /// Requests the site totals of these ranges in this order, with one request each, and stops if a request fails.
    LoadTotals(Vec<DateRange>),
    /// Loads the cached history of a page, without a request; answered by [`Msg::PageHistory`].
    LoadCachedPage(CleanText),
    /// Loads the impact of a job on its pages from cached data, without a request; answered by [`Msg::JobImpact`].
    LoadJobImpact(JobKey),
    /// Lists the cached page views; answered by [`Msg::CachedRanges`].
    ListCachedRanges,
    /// Reads the API key of a new profile; answered by [`Msg::KeyRead`]. A command that prints the key may use the
    /// terminal.
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
    /// Ends the current dashboard and starts the target in the same terminal.
    Relaunch(RelaunchTarget),
    /// Saves the names of the screens and dialogs whose tip was shown, separated by spaces.
    SaveSeenTips(String),
    /// Lists the jobs of these projects, each given with the index of its profile; answered by [`Msg::AllJobs`].
    ListAllJobs(Vec<(usize, Scope)>),
    /// Reads the API key of the profile at this index; answered by [`Msg::ProfileKey`].
    ReadProfileKey(usize),
    /// Tests the API key of the profile at this index with one GET request, which counts against no limit; answered by
    /// [`Msg::ProfileKeyTested`].
    TestProfileKey(usize, ApiKey),
    /// Switches to the profile at this index. All later effects apply to this profile.
    SwitchProfile(usize, ApiKey),
    /// Informs the engine which visible jobs the agent is working on. These jobs get a quarter of the polling budget.
    ReportVisibleJobs(Vec<JobKey>),
    /// Opens an http or https URL, without a shell.
    OpenUrl(CleanText),
    /// Copies a text to the clipboard; answered by [`Msg::ActionFinished`].
    Copy {
        /// The notice for success, as a sentence.
        what: CleanText,
        text: String,
    },
    /// Asks the engine to report the current budgets, because a limit was reset.
    ReportBudgets,
    Repaint,
    Suspend,
    /// Exits once the drafts that earlier effects save are on disk.
    Quit,
}

impl Effect {
    /// Returns the effect that saves a draft. `pages` is used only for the draft of a new job about pages.
    pub(super) fn save_draft(slot: DraftTarget, text: String, pages: &[CleanText]) -> Self {
        match slot {
            DraftTarget::AboutPages => Self::SaveDraftAbout(text, pages.to_vec()),
            slot => Self::SaveDraft(slot, text),
        }
    }
}

impl Effect {
    /// Returns the effect that copies a text. `what` completes the notice "Copied …". Control characters other than
    /// tabs and line breaks are removed, because the text may be pasted into a shell.
    pub fn copy(what: &str, mut text: String) -> Self {
        text.retain(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'));
        Self::Copy { what: CleanText::line(&format!("Copied {what}.")), text }
    }
}

/// What the dashboard needs to start: its settings, and data that is known before the store is read.
#[derive(Debug, Clone)]
pub struct AppConfig {
    pub scope: Scope,
    pub profile: CleanText,
    /// All profiles.
    pub profiles: Vec<ProfileEntry>,
    /// The index of the current profile in `profiles`.
    pub current_profile: usize,
    /// The index of the default profile in `profiles`.
    pub default_profile: Option<usize>,
    /// Whether this is the demo, which saves nothing.
    pub is_demo: bool,
    /// The columns and rows of the terminal.
    pub size: (u16, u16),
    /// Whether to draw less often, because docdeck runs over SSH or the user prefers it. There is no heartbeat then,
    /// and seconds are shown in steps of ten.
    pub reduced_motion: bool,
    /// Whether mouse support is on at the start.
    pub mouse_enabled: bool,
    /// The layout to restore: the saved layout or, if there is none, the default. `None` if the layout can't be saved.
    pub layout: Option<Layout>,
    /// A problem to show at the start, such as a damaged store that was moved aside.
    pub notice: Option<CleanText>,
    /// Good news to show at the start, unless there is a problem.
    pub greeting: Option<CleanText>,
    /// Whether the service has accepted the API key.
    pub is_verified: bool,
    /// Whether the store can't be written. Prompts can't be sent then.
    pub read_only: bool,
    /// The offset of local time from UTC.
    pub offset: FixedOffset,
    /// The setup form, if docdeck is not configured yet.
    pub welcome: Option<Box<Welcome>>,
    /// The path of the configuration file, where settings are saved. `None` in the demo.
    pub config_path: Option<CleanText>,
    /// The names of all themes.
    pub themes: Vec<String>,
    pub keymap: Keymap,
    pub filters: Vec<SavedFilter>,
    pub commands: Vec<CustomCommand>,
    /// Whether the list of all profiles' jobs opens at the start. It never does with a single profile.
    pub opens_all_jobs: bool,
    /// Whether long texts can be copied. This needs a copy command in the configuration, because terminals limit the
    /// length of copied text.
    pub can_copy_long_texts: bool,
}

impl AppConfig {
    /// Returns the configuration of a dashboard for this scope, with defaults for everything else.
    pub fn new(scope: Scope, offset: FixedOffset) -> Self {
        Self {
            scope,
            profile: CleanText::default(),
            profiles: Vec::new(),
            current_profile: 0,
            default_profile: None,
            is_demo: false,
            size: (0, 0),
            reduced_motion: false,
            mouse_enabled: true,
            layout: None,
            notice: None,
            greeting: None,
            is_verified: false,
            read_only: false,
            offset,
            welcome: None,
            config_path: None,
            themes: Vec::new(),
            keymap: Keymap::default(),
            filters: Vec::new(),
            commands: Vec::new(),
            opens_all_jobs: false,
            can_copy_long_texts: false,
        }
    }
}
