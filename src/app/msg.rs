//! What reaches the state machine and what it asks for. Every effect ends in a message, also when it failed.

use super::keymap::Keymap;
use super::profiles::ProfileEntry;
use super::welcome::{Begin, NotWritten, Welcome};
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
use crate::model::report::{CachedViews, LoadOutcome, LoadPlan, Recalled};
use crate::model::row::{FirstRows, Job, JobKey};
use crate::model::setup::{KeySourceInput, NewProfile, SetupProblem, WritePermission};
use crate::model::text::CleanText;
use crate::model::views::{Counts, ViewsPage, ViewsQuery};
use chrono::FixedOffset;

/// What reaches the state machine.
#[derive(Debug)]
pub enum Msg {
    /// From the terminal: a key, a paste, a resize, focus.
    Input(crossterm::event::Event),
    /// From the engine.
    News(EngineEvent),
    /// First answer of the store: the head of the jobs list.
    FirstRows(Result<FirstRows, Failure>),
    /// The store can't be written: that showed only when it was tried.
    ReadOnly,
    /// All that the store knows at the start.
    Loaded(Result<Box<InitialData>, Failure>),
    /// Another process wrote: these rows changed.
    JobsChanged(Vec<Job>),
    /// A thread that was asked for.
    Thread { job: JobKey, result: Result<Thread, Failure> },
    /// Threads that were asked for ahead; those that are larger than [`super::MOST_READ_AHEAD`] are not among them.
    ReadAhead(Result<Vec<(JobKey, Thread)>, Failure>),
    /// The prompt is on disk, or could not be saved.
    Submitted { slot: DraftSlot, result: Result<(PromptId, Job), SubmitError> },
    /// A decision about an undelivered prompt was carried out.
    Resolved { prompt: PromptId, result: Result<Job, Failure> },
    /// A job was asked for again, or changed locally.
    Refreshed { job: JobKey, result: Result<Job, Failure> },
    /// A job made elsewhere was asked for.
    Tracked { id: CleanText, result: Result<Job, Failure> },
    /// An undelivered prompt was discarded; the sentence says what that means.
    Discarded { sentence: CleanText, result: Result<Discarded, Failure> },
    /// Queued prompts were discarded.
    RemovedFromQueue(Result<Discarded, Failure>),
    /// Discarded prompts were restored, or none of them was.
    Restored(Result<Vec<Job>, Failure>),
    /// Local changes were carried out, or none of them was.
    Changed(Result<Vec<Job>, Failure>),
    /// Jobs in whose prompts a filter's text stands; an answer to an older text is dropped.
    PromptsFound { text: String, jobs: Result<Vec<JobKey>, Failure> },
    /// Prompts that were sent before, the newest first, each once.
    History(Result<Vec<String>, Failure>),
    /// Templates, the shipped ones and the user's own.
    Templates(Vec<Template>),
    /// The text as the user's own editor left it.
    EditedOutside(Result<String, Failure>),
    /// A file of prompts was read.
    PromptsRead { file: String, result: Result<Vec<String>, Failure> },
    /// A batch is on disk, queued, or could not be saved.
    BatchAdded(Result<Vec<Job>, SubmitError>),
    /// Page views; `old` is what the cache still has when the request failed.
    Views { query: ViewsQuery, result: Result<Timed<ViewsPage>, Failure>, old: Option<Timed<ViewsPage>> },
    /// What is known of a range.
    CachedReport { range: DateRange, recalled: Result<Recalled, Failure> },
    /// Loading all pages of a range ended, whole or not.
    LoadEnded { range: DateRange, end: LoadOutcome },
    /// The site's totals of those of the ranges asked for that are known.
    TotalsRecalled(Result<Vec<(DateRange, Timed<Counts>)>, Failure>),
    /// Asking for totals ended; each that came was told as news.
    TotalsLoaded(Result<(), Failure>),
    /// All that is known of a page.
    PageHistory { path: CleanText, result: Result<PageHistory, Failure> },
    /// The pages that a job was started about.
    About { job: JobKey, result: Result<Vec<PageImpact>, Failure> },
    /// What is kept of page views.
    Kept(Result<CachedViews, Failure>),
    /// A draft is on disk, with the time it was written.
    DraftSaved { slot: DraftSlot, result: Result<Time, Failure> },
    /// The draft as the disk has it, for an editor that was opened; none when it has none or can't be read.
    DraftRead {
        slot: DraftSlot,
        text: Option<String>,
        /// What a new job about pages is about.
        pages: Vec<CleanText>,
    },
    /// A file of that name is there already, and was left as it is.
    FileExists(NewFile),
    /// A new profile was checked on this computer, without a request.
    ProfileChecked { attempt: u64, result: Result<(), SetupProblem> },
    /// A new profile can be switched to, with its key if that was read; or why not.
    ProfileAdded { profile: ProfileEntry, key: Option<ApiKey> },
    /// A filter was saved in the configuration, or why not.
    FilterSaved { filter: SavedFilter, result: Result<(), Failure> },
    /// The key of a new profile was read; of an attempt that is over it is dropped.
    KeyRead { attempt: u64, result: Result<ApiKey, Failure> },
    /// The service was asked whether a new profile works; what its answer shows.
    ProfileTried { attempt: u64, result: Result<CleanText, Failure> },
    /// A new profile was written.
    ConfigWritten { attempt: u64, result: Result<(), NotWritten> },
    /// The jobs of all profiles.
    AllJobs(Result<AllProfilesJobs, Failure>),
    /// The key of the profile at this place was read, or why not.
    ProfileKey(usize, Result<ApiKey, Failure>),
    /// The service takes the key of the profile at this place, or could not be asked just now (why); or why the key can't
    /// be used.
    KeyTried(usize, Result<(ApiKey, Option<Failure>), Failure>),
    /// An opener or the clipboard answered; the text says what was handed over.
    ActionFinished { what: CleanText, result: Result<(), Failure> },
    /// How the dashboard was left, by its key; none where nothing is remembered.
    Layout(String, Option<Layout>),
    /// The moment that `App::next_wake` named.
    Wake,
    /// Back from a suspend.
    Resumed,
    /// The process was asked to end: a signal, or the end of input.
    Terminate,
}

/// Why a prompt could not be saved, and what was typed: the editor that it came from is closed.
#[derive(Debug, Clone, PartialEq)]
pub struct SubmitError {
    pub failure: Failure,
    pub text: String,
    /// The pages that a new job is about.
    pub pages: Vec<CleanText>,
}

/// The jobs of all profiles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AllProfilesJobs {
    /// Each with the place of its profile.
    pub jobs: Vec<(usize, Job)>,
    /// How many are known here of projects that no profile leads to, those that were put away apart.
    pub left_out: usize,
}

/// A file that is to be written into the current folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    pub name: String,
    pub text: String,
    /// What is in it, counted, as it is said once it is written: `3 jobs`.
    pub what: CleanText,
}

/// What happens when a file of that name is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// Another name is taken, with a number.
    Never,
    /// The user is asked.
    Ask,
    /// The user said yes.
    Yes,
}

/// A text to start a prompt from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub name: CleanText,
    /// With its blanks, like `{{path}}`, still in it.
    pub text: String,
}

/// A command of the user's own, bound to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomCommand {
    pub key: super::keymap::Chord,
    pub name: CleanText,
    /// With `{pr}`, `{id}`, `{path}`, `{repository}`, `{ref}` still in them.
    pub args: Vec<String>,
}

/// A filter that the configuration names; a tab of the jobs list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedFilter {
    pub name: CleanText,
    pub text: String,
}

/// What the store knew at the start.
#[derive(Debug, Default)]
pub struct InitialData {
    pub jobs: Vec<Job>,
    pub drafts: Vec<(DraftSlot, String)>,
    /// What the draft of a new job about pages is about.
    pub draft_pages: Vec<CleanText>,
    pub log: Vec<LogEntry>,
    /// Where tips were given already, in words; none where none are to be given.
    pub tips: Option<String>,
}

/// What the state machine asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// So many rows of the jobs list; ends in [`Msg::FirstRows`].
    LoadFirstRows(u32),
    LoadKnown,
    /// Reads what is kept of the layout under this key; answers with `Layout`.
    RecallLayout(String),
    /// Keeps the layout under a key, quietly.
    RememberLayout {
        key: String,
        text: String,
    },
    /// Whether the terminal reports the mouse from now on.
    Mouse(bool),
    LoadThread(JobKey),
    /// Reads the threads of jobs that may be selected next, once nothing is left to draw: never in the way of what is shown.
    /// Fails before the engine runs, since what is kept has to hear of every change.
    ReadAhead(Vec<JobKey>),
    SubmitNewJob(String),
    /// A new job that keeps the pages that it is about.
    SubmitJobAbout(String, Vec<CleanText>),
    SubmitFollowUp(JobKey, String),
    Resolve(PromptId, Resolution),
    Refresh(JobKey),
    Track(JobId),
    /// Changes the local side of jobs, all or none.
    Change(Vec<JobKey>, LocalChange),
    /// Changes the places of queued prompts, by their jobs.
    ChangeQueue(Vec<JobKey>, QueueChange),
    /// Discards an undelivered prompt; the sentence says what that means. Answers with `Discarded`.
    Discard(PromptId, CleanText),
    /// Discards the queued prompts of these jobs; answers with `RemovedFromQueue`.
    RemoveFromQueue(Vec<JobKey>),
    /// Restores discarded prompts, all or none; answers with `Restored`.
    RestorePrompts(Vec<PromptId>),
    /// Looks for a text in all prompts (case doesn't matter).
    FindPrompts(String),
    /// The same in the prompts of these projects.
    FindPromptsIn(Vec<Scope>, String),
    LoadHistory,
    LoadTemplates,
    /// Lends the terminal to `$VISUAL` or `$EDITOR` with this text.
    EditOutside(String),
    /// Draws with this theme from now on, and saves it as the usual one if it is to be kept; answers with `Handed`.
    UseTheme {
        name: String,
        keep: bool,
    },
    /// Saves a filter in the configuration; answers with `FilterSaved`.
    SaveFilter {
        filter: SavedFilter,
        replace: bool,
    },
    /// Checks a new profile without a request; answers with `ProfileChecked`.
    CheckProfile {
        attempt: u64,
        profile: Box<NewProfile>,
    },
    /// Adds a profile that was written to those that can be switched to; answers with `ProfileAdded`.
    AddProfile(Box<NewProfile>, Option<ApiKey>),
    /// Reads a file of prompts.
    ReadPrompts(String),
    /// Queues many new jobs on disk, in this order.
    SubmitBatch {
        prompts: Vec<String>,
        /// The text that they were typed as; empty for those of a file.
        typed: String,
    },
    /// Writes text to a file in the current folder; answers with `Handed`, or with `FileExists` where nothing may be
    /// overwritten.
    WriteFile(NewFile, Overwrite),
    /// Runs a command of the user's own with the terminal lent to it; answers with `Handed`.
    RunCommand(Vec<String>),
    /// A job finished while nobody looked: a terminal notification.
    Notify(CleanText),
    SaveDraft(DraftSlot, String),
    /// Saves the draft of a new job about these pages.
    SaveDraftAbout(String, Vec<CleanText>),
    /// Read what the disk has: another instance may have written there.
    ReadDraft(DraftSlot),
    DeleteDraft(DraftSlot),
    LoadViews {
        query: ViewsQuery,
        force: bool,
    },
    /// What is known of a range, at no cost.
    LoadCached(DateRange),
    /// Loads all pages of a range, or goes on where that was broken off; answers with `LoadEnded`.
    LoadAll(LoadPlan),
    /// Stops loading all pages of this range after the answer under way.
    StopLoading(DateRange),
    /// Which of these ranges' totals are known, at no cost.
    RecallTotals(Vec<DateRange>),
    /// Asks for the totals of these ranges, one request each, in this order, until one fails.
    LoadTotals(Vec<DateRange>),
    /// All that is known of a page, at no cost.
    RecallPage(CleanText),
    /// The pages that a job was started about, at no cost.
    RecallAbout(JobKey),
    /// What is kept of page views.
    ListKept,
    /// Reads the key of a new profile, with the terminal lent to the program that prints it; answers with `KeyRead`.
    ReadKey {
        attempt: u64,
        key: KeySourceInput,
    },
    /// One GET with this key; answers with `ProfileTried`.
    TryProfile {
        attempt: u64,
        profile: Box<NewProfile>,
        key: ApiKey,
    },
    /// Writes a new profile into the configuration; answers with `ConfigWritten`.
    WriteConfig {
        attempt: u64,
        profile: Box<NewProfile>,
        allowed: WritePermission,
    },
    /// Ends this run for another one in the same terminal.
    Relaunch(Begin),
    /// Keeps where tips were given.
    RememberTips(String),
    /// What is known of the jobs of these projects, each with the place of its profile; answers with `AllJobs`.
    ListAllJobs(Vec<(usize, Scope)>),
    /// Reads the key of the profile at this place; answers with `ProfileKey`.
    ReadProfileKey(usize),
    /// One GET with that key, which no limit counts; answers with `KeyTried`.
    TryProfileKey(usize, ApiKey),
    /// From here on all effects are about the profile at this place; the one before is left as at the end.
    SwitchProfile(usize, ApiKey),
    /// Jobs on screen that the agent works on: a quarter of the polling budget is theirs.
    OnScreen(Vec<JobKey>),
    /// An http or https address, given to an opener without a shell.
    OpenUrl(CleanText),
    /// Gives a text to the terminal's clipboard; answers with `Handed`.
    Copy {
        /// What is said then, a sentence.
        what: CleanText,
        text: String,
    },
    /// The ledgers as they stand now, since a place became free.
    ReportBudgets,
    Repaint,
    Suspend,
    /// Ends the program once the drafts asked for before it are on disk.
    Quit,
}

impl Effect {
    /// Saves a draft; `pages` are what a new job about pages is about.
    pub(super) fn save_draft(slot: DraftSlot, text: String, pages: &[CleanText]) -> Self {
        match slot {
            DraftSlot::AboutPages => Self::SaveDraftAbout(text, pages.to_vec()),
            slot => Self::SaveDraft(slot, text),
        }
    }
}

impl Effect {
    /// Copies a text; `what` it is, as the end of "Copied …". Where it is pasted it may be typed into a shell: no control
    /// character goes along but those that part lines and words.
    pub fn copy(what: &str, mut text: String) -> Self {
        text.retain(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'));
        Self::Copy { what: CleanText::line(&format!("Copied {what}.")), text }
    }
}

/// What the dashboard is told at its start.
#[derive(Debug, Clone)]
pub struct AppConfig {
    pub scope: Scope,
    pub profile: CleanText,
    /// All profiles, and the place of this one among them.
    pub profiles: Vec<ProfileEntry>,
    pub current: usize,
    /// The place of the one that holds where none is named.
    pub default: Option<usize>,
    /// The demo: said in the header, nothing is kept.
    pub demo: bool,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Over SSH or with reduced motion: no heartbeat, seconds step by ten.
    pub calm: bool,
    /// Whether the terminal reports the mouse at the start.
    pub mouse: bool,
    /// How the dashboard was left the last time; none where nothing is remembered.
    pub layout: Option<Layout>,
    /// Something to say first: a store that was moved aside.
    pub notice: Option<CleanText>,
    /// Something good to say first, unless there is a notice.
    pub greeting: Option<CleanText>,
    /// The service has accepted the key already.
    pub is_verified: bool,
    /// The store can't be written: reading works, sending is refused.
    pub read_only: bool,
    /// Offset of local time, for times of day.
    pub offset: FixedOffset,
    /// Something is not configured yet: this page is shown instead of the dashboard.
    pub welcome: Option<Box<Welcome>>,
    /// The path of the configuration file, to which settings are saved; none in the demo.
    pub config: Option<CleanText>,
    /// Names of the themes that there are.
    pub themes: Vec<String>,
    pub keymap: Keymap,
    pub filters: Vec<SavedFilter>,
    pub commands: Vec<CustomCommand>,
    /// The list of the jobs of all profiles opens at the start, where there are several.
    pub all_profiles: bool,
    /// Copies may be longer than a terminal takes: a program of the user's takes them.
    pub long_copies: bool,
}

impl AppConfig {
    /// A configured dashboard on this scope, with nothing of the user's own.
    pub fn new(scope: Scope, offset: FixedOffset) -> Self {
        Self {
            scope,
            profile: CleanText::default(),
            profiles: Vec::new(),
            current: 0,
            default: None,
            demo: false,
            size: (0, 0),
            calm: false,
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
