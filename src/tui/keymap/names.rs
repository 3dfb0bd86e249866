//! The contexts in which key bindings apply, the actions that key bindings run, and their names in the configuration.

use strum::{EnumIter, EnumString, IntoStaticStr};

/// The part of the dashboard in which a key binding applies. The topmost dialog or screen determines which contexts are
/// active. A key is looked up in the most specific active context first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Context {
    Everywhere,
    /// Everything that scrolls: the lists of jobs, page views and log entries, the job details, the help, and most
    /// dialogs.
    Lists,
    Jobs,
    /// The job details while they have the focus.
    #[strum(to_string = "details", serialize = "detail")]
    Detail,
    /// The page views, which are the first tab of the analytics screen.
    Views,
    /// The tabs of the analytics screen other than the page views.
    Analytics,
    Editor,
    /// Any text input, single-line or multi-line.
    Text,
    /// The picker of earlier prompts or templates.
    #[strum(to_string = "picker", serialize = "pick")]
    Picker,
    /// The command palette.
    Palette,
    Drafts,
    /// The dialog for several new jobs while their text is written.
    #[strum(to_string = "batch-editor", serialize = "batch-text")]
    BatchText,
    /// The dialog for several new jobs while they are reviewed before sending.
    Batch,
    /// The filter input while it is open.
    Filter,
    Help,
    /// A dialog that asks for one value.
    #[strum(to_string = "input", serialize = "ask")]
    Input,
    /// The dialog in which the text of a review is written.
    Review,
    /// The dialog about an undelivered prompt.
    Resolve,
    /// A dialog that asks the user to confirm an action.
    #[strum(to_string = "confirm", serialize = "question")]
    Confirm,
    /// The calendar while its days have the focus.
    Calendar,
    /// The calendar while the input below its days has the focus.
    #[strum(to_string = "calendar-input", serialize = "calendar-line")]
    CalendarInput,
    /// The details of a page of the documentation.
    #[strum(to_string = "page-details", serialize = "card")]
    PageDetail,
    /// The complete row of a report.
    #[strum(to_string = "row-details")]
    RowDetail,
    PullRequest,
    /// The changes of a pull request.
    Changes,
    Trend,
    Movers,
    /// The dialog that exports page views.
    Export,
    /// The list of cached page views.
    #[strum(to_string = "cached-ranges", serialize = "cached", serialize = "kept")]
    CachedRanges,
    /// The setup form while a line without text input has the focus.
    #[strum(to_string = "setup", serialize = "welcome")]
    Welcome,
    /// The setup form while a text input has the focus.
    #[strum(to_string = "setup-text", serialize = "welcome-text")]
    WelcomeText,
    Profiles,
    AllJobs,
}

impl Context {
    /// Returns the name of the context in the configuration, as in `[keys.NAME]`.
    pub fn config_name(self) -> &'static str {
        self.into()
    }

    /// Whether character keys type text in this context, so that they can't be shortcuts of other contexts.
    pub fn takes_text(self) -> bool {
        matches!(
            self,
            Self::Editor
                | Self::Text
                | Self::BatchText
                | Self::Picker
                | Self::Palette
                | Self::Filter
                | Self::Input
                | Self::Review
                | Self::Welcome
                | Self::WelcomeText
        )
    }

    /// Returns the name of the context as the help and messages show it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::Lists => "lists",
            Self::Jobs => "jobs",
            Self::Detail => "details",
            Self::Views => "pages",
            Self::Analytics => "analytics",
            Self::Editor => "editor",
            Self::Text => "text inputs",
            Self::Picker => "prompts and templates",
            Self::Palette => "commands",
            Self::Drafts => "drafts",
            Self::BatchText => "list of new jobs",
            Self::Batch => "review of new jobs",
            Self::Filter => "filter",
            Self::Help => "help",
            Self::Input => "input",
            Self::Review => "review",
            Self::Resolve => "undelivered prompt",
            Self::Confirm => "confirmation",
            Self::Calendar => "calendar",
            Self::CalendarInput => "typed range",
            Self::PageDetail => "page details",
            Self::RowDetail => "row details",
            Self::PullRequest => "pull request",
            Self::Changes => "changes",
            Self::Trend => "trend",
            Self::Movers => "largest changes",
            Self::Export => "export",
            Self::CachedRanges => "cached ranges",
            Self::Welcome => "setup",
            Self::WelcomeText => "setup form",
            Self::Profiles => "profiles",
            Self::AllJobs => "jobs of all profiles",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Action {
    ShowJobs,
    ShowAnalytics,
    ShowLog,
    NextPane,
    PreviousPane,
    Help,
    Palette,
    Profiles,
    NewProfile,
    AllJobs,
    Refresh,
    Mouse,
    Redraw,
    Suspend,
    Close,
    Interrupt,
    Quit,
    Down,
    Up,
    Top,
    Bottom,
    PageDown,
    PageUp,
    Copy,
    NewJob,
    FollowUp,
    Retry,
    Open,
    /// Marks the selected job as seen, and shows its details if they are not visible.
    Peek,
    NextJob,
    PreviousJob,
    NextRow,
    PreviousRow,
    NextNeedsYou,
    ToggleDetail,
    OpenPr,
    PullRequest,
    /// Opens the preview of the site with the changes.
    Preview,
    Approve,
    RequestChanges,
    Comment,
    MarkReady,
    Merge,
    ClosePullRequest,
    /// Builds a preview of the site.
    BuildPreview,
    Changes,
    NextFile,
    PreviousFile,
    NextMatch,
    PreviousMatch,
    /// Shows or hides changes of whitespace.
    Whitespace,
    CopyId,
    Dismiss,
    MarkDone,
    Undo,
    Rename,
    Tags,
    Note,
    Filter,
    SaveFilter,
    NextSort,
    ReverseSort,
    Mark,
    MarkRange,
    Export,
    NextTab,
    PreviousTab,
    /// Shows or hides the dismissed jobs.
    FoldDismissed,
    Track,
    Resolve,
    NextPage,
    PreviousPage,
    JumpToPage,
    NextRange,
    CustomRange,
    /// Goes to the previous period of the same length.
    PreviousPeriod,
    /// Goes to the next period of the same length, up to today.
    NextPeriod,
    PageSize,
    LoadAll,
    Compare,
    CompareWith,
    Movers,
    Trend,
    Metric,
    Visitors,
    LogScale,
    /// Groups the rows, or ends the grouping. In the page details, lists all cached ranges, or only the latest.
    Fold,
    CachedRanges,
    /// Loads the page views before and after a job.
    BeforeAfter,
    NextDay,
    PreviousDay,
    Today,
    /// Moves the focus between the days of the calendar and the input below them.
    CalendarInput,
    /// Compares the range on screen with an earlier period.
    CompareBefore(EarlierPeriod),
    NextChoice,
    PreviousChoice,
    NextField,
    TestConnection,
    SaveTheme,
    Demo,
    Send,
    History,
    Templates,
    NextBlank,
    ExternalEditor,
    Drafts,
    DeleteDraft,
    Batch,
    ReadFile,
    PauseQueue,
    SendEarlier,
    SendLater,
    RemoveFromQueue,
    Edit(Edit),
    Confirm,
    SendAgain,
    EditPrompt,
    LinkJob,
    CheckJob,
    Discard,
    Yes,
}

impl Action {
    /// Returns the name of the action in the configuration, in a `[keys.CONTEXT]` table.
    pub fn config_name(self) -> &'static str {
        match self {
            Self::Edit(edit) => edit.into(),
            Self::CompareBefore(period) => period.config_name(),
            other => other.into(),
        }
    }

    /// Whether `name` is the name of the action in the configuration, now or in an earlier version of docdeck.
    pub fn has_name(self, name: &str) -> bool {
        let former: &[&str] = match self {
            Self::Discard => &["let-go"],
            Self::CheckJob => &["look-at-job"],
            Self::CachedRanges => &["list-cached", "list-kept"],
            Self::SaveTheme => &["keep-theme"],
            Self::SendEarlier => &["queue-up"],
            Self::SendLater => &["queue-down"],
            Self::Copy => &["copy-main"],
            Self::PreviousPeriod => &["period-before"],
            Self::NextPeriod => &["period-after"],
            Self::TestConnection => &["try-out"],
            Self::ExternalEditor => &["edit-outside"],
            Self::CalendarInput => &["other-part"],
            Self::PauseQueue => &["queue-pause"],
            Self::RemoveFromQueue => &["queue-remove"],
            Self::ShowAnalytics => &["show-views"],
            Self::Redraw => &["repaint"],
            _ => &[],
        };
        self.config_name() == name || former.contains(&name)
    }
}

/// An earlier range that the calendar offers for a comparison with the range on screen. Each has its own key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EarlierPeriod {
    /// The previous period of the same length.
    Period,
    /// The same days a week earlier.
    Week,
    /// The same days four weeks earlier.
    FourWeeks,
    /// The same dates a year earlier.
    Year,
}

impl EarlierPeriod {
    /// All periods, in the order in which the calendar lists them.
    pub const ALL: [Self; 4] = [Self::Period, Self::Week, Self::FourWeeks, Self::Year];

    /// Returns the default key in the calendar for comparing the range on screen with this period.
    pub const fn key(self) -> char {
        match self {
            Self::Period => 'b',
            Self::Week => 'w',
            Self::FourWeeks => 'm',
            Self::Year => 'y',
        }
    }

    /// Returns the name of the period's action in the configuration.
    fn config_name(self) -> &'static str {
        match self {
            Self::Period => "period-before",
            Self::Week => "week-before",
            Self::FourWeeks => "four-weeks-before",
            Self::Year => "year-before",
        }
    }
}

/// A key command in a text input: changes the text or moves the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Edit {
    Newline,
    Tab,
    Undo,
    Redo,
    WordBack,
    WordForward,
    LineStart,
    LineEnd,
    TextStart,
    TextEnd,
    DeleteWordBack,
    DeleteWordForward,
    DeleteToLineStart,
    DeleteToLineEnd,
    PageUp,
    PageDown,
}
