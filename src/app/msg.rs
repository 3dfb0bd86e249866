//! What reaches the state machine and what it asks for. Every effect ends in a message, also when it failed.

use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::failure::Failure;
use crate::model::job::JobId;
use crate::model::load::Stamped;
use crate::model::log::LogEntry;
use crate::model::news::News;
use crate::model::prompt::{DraftSlot, PromptId, Resolution, Thread};
use crate::model::row::{JobKey, JobRow};
use crate::model::text::CleanText;
use crate::model::views::{ViewsPage, ViewsQuery};
use chrono::FixedOffset;

/// What reaches the state machine.
#[derive(Debug)]
pub enum Msg {
    /// From the terminal: a key, a paste, a resize, focus.
    Input(crossterm::event::Event),
    /// From the engine.
    News(News),
    /// First answer of the store.
    Loaded(Result<Box<Known>, Failure>),
    /// Another process wrote: these rows changed.
    JobsChanged(Vec<JobRow>),
    /// A thread that was asked for.
    Thread { job: JobKey, result: Result<Thread, Failure> },
    /// The prompt is on disk, or could not be written: then the text stays in the editor.
    Submitted { slot: DraftSlot, result: Result<(PromptId, JobRow), Failure> },
    /// A decision about an undelivered prompt was carried out.
    Resolved { prompt: PromptId, result: Result<JobRow, Failure> },
    /// A job was asked for again, or changed locally.
    Refreshed { job: JobKey, result: Result<JobRow, Failure> },
    /// A job made elsewhere was asked for.
    Tracked { id: CleanText, result: Result<JobRow, Failure> },
    /// Page views; `old` is what the cache still has when the request failed.
    Views { query: ViewsQuery, result: Result<Stamped<ViewsPage>, Failure>, old: Option<Stamped<ViewsPage>> },
    /// A draft is on disk, with the time it was written.
    DraftSaved { slot: DraftSlot, result: Result<Time, Failure> },
    /// An opener or the clipboard answered; the text says what was handed over.
    Handed { what: CleanText, result: Result<(), Failure> },
    /// The moment that `App::next_wake` named.
    Wake,
    /// Back from a suspend.
    Resumed,
    /// The process was asked to end: a signal, or the end of input.
    Terminate,
}

/// What the store knew at the start.
#[derive(Debug, Default)]
pub struct Known {
    pub jobs: Vec<JobRow>,
    pub drafts: Vec<(DraftSlot, String)>,
    pub log: Vec<LogEntry>,
}

/// What the state machine asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    LoadKnown,
    LoadThread(JobKey),
    SubmitNewJob(String),
    SubmitFollowUp(JobKey, String),
    Resolve(PromptId, Resolution),
    Refresh(JobKey),
    Track(JobId),
    MarkLooked(JobKey),
    SetDismissed(JobKey, bool),
    SaveDraft(DraftSlot, String),
    DeleteDraft(DraftSlot),
    LoadViews {
        query: ViewsQuery,
        force: bool,
    },
    /// Jobs on screen that the agent works on: a quarter of the polling budget is theirs.
    OnScreen(Vec<JobKey>),
    /// An http or https address, given to an opener without a shell.
    OpenUrl(CleanText),
    Copy {
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

/// What the dashboard is told at its start.
#[derive(Debug, Clone)]
pub struct Start {
    pub scope: Scope,
    pub profile: CleanText,
    /// The demo: said in the header, nothing is kept.
    pub demo: bool,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Over SSH or with reduced motion: no heartbeat, seconds step by ten.
    pub calm: bool,
    /// Something to say first: a store that was moved aside.
    pub notice: Option<CleanText>,
    /// The store can't be written: reading works, sending is refused.
    pub read_only: bool,
    /// Offset of local time, for times of day.
    pub offset: FixedOffset,
    /// What is not configured yet: the welcome page is shown instead of the dashboard.
    pub missing: Option<CleanText>,
}
