//! The contexts in which key bindings apply and the actions that they run, with their names in the configuration.

use strum::{EnumIter, EnumString, IntoStaticStr};

/// Where a binding applies. The topmost dialog or screen decides which contexts are active, the most specific one
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Context {
    Everywhere,
    /// Every list: jobs, page views and log, and the text of the job details and the help.
    Lists,
    Jobs,
    /// The job details, when they have the focus.
    Detail,
    Views,
    Editor,
    /// Every text input, single-line or multi-line.
    Text,
    /// The picker: sent prompts or templates.
    #[strum(to_string = "picker", serialize = "pick")]
    Picker,
    /// The command palette.
    Palette,
    Drafts,
    /// The dialog for several jobs: the text.
    BatchText,
    /// The dialog for several jobs: the review.
    Batch,
    /// The filter, while it has the focus.
    Filter,
    Help,
    /// A dialog that asks for one value.
    #[strum(to_string = "input", serialize = "ask")]
    Input,
    /// The dialog of an undelivered prompt.
    Resolve,
    /// A confirmation.
    #[strum(to_string = "confirm", serialize = "question")]
    Confirm,
    /// The days of the calendar.
    Calendar,
    /// The input below the days of the calendar.
    CalendarLine,
    /// The page details.
    #[strum(to_string = "page-details", serialize = "card")]
    PageDetail,
    Trend,
    Movers,
    /// The export of page views.
    Export,
    /// The cached page views.
    #[strum(to_string = "cached", serialize = "kept")]
    CachedRanges,
    /// A choice in the setup form.
    Welcome,
    /// A text input in the setup form.
    WelcomeText,
    Profiles,
    AllJobs,
}

impl Context {
    /// The name of the context in the configuration: `[keys.NAME]`.
    pub fn config_name(self) -> &'static str {
        self.into()
    }

    /// Whether characters are typed in this context, so that they can't be shortcuts.
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
                | Self::Welcome
                | Self::WelcomeText
        )
    }

    /// A label of at most ten cells, for the command palette.
    pub fn short_name(self) -> &'static str {
        match self {
            Self::Detail => "detail",
            Self::Text => "text",
            Self::Picker => "picker",
            Self::Palette => "palette",
            Self::BatchText | Self::Batch => "new jobs",
            Self::Filter => "filter",
            Self::Help => "help",
            Self::Input => "input",
            Self::Resolve => "prompt",
            Self::Confirm => "confirm",
            Self::Calendar | Self::CalendarLine => "range",
            Self::PageDetail => "page",
            Self::Trend => "trend",
            Self::CachedRanges => "cached",
            Self::Welcome | Self::WelcomeText => "setup",
            Self::AllJobs => "all jobs",
            Self::Everywhere
            | Self::Lists
            | Self::Jobs
            | Self::Views
            | Self::Editor
            | Self::Drafts
            | Self::Movers
            | Self::Export
            | Self::Profiles => self.title(),
        }
    }

    /// The name of the context in messages about the configuration.
    pub fn title(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::Lists => "lists",
            Self::Jobs => "jobs",
            Self::Detail => "job details",
            Self::Views => "views",
            Self::Editor => "editor",
            Self::Text => "text inputs",
            Self::Picker => "picker",
            Self::Palette => "commands",
            Self::Drafts => "drafts",
            Self::BatchText => "new jobs, text",
            Self::Batch => "new jobs, review",
            Self::Filter => "filter",
            Self::Help => "help",
            Self::Input => "input",
            Self::Resolve => "undelivered prompt",
            Self::Confirm => "confirmation",
            Self::Calendar => "calendar",
            Self::CalendarLine => "typed range",
            Self::PageDetail => "page details",
            Self::Trend => "trend",
            Self::Movers => "movers",
            Self::Export => "export",
            Self::CachedRanges => "cached page views",
            Self::Welcome => "setup, choice",
            Self::WelcomeText => "setup, text",
            Self::Profiles => "profiles",
            Self::AllJobs => "jobs of all profiles",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Action {
    ShowJobs,
    ShowViews,
    ShowLog,
    NextPane,
    Help,
    Palette,
    Profiles,
    NewProfile,
    AllJobs,
    Refresh,
    Mouse,
    Repaint,
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
    CopyMain,
    NewJob,
    FollowUp,
    Open,
    Peek,
    ToggleDetail,
    OpenPr,
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
    FoldDismissed,
    Track,
    Resolve,
    NextPage,
    PreviousPage,
    JumpToPage,
    NextRange,
    CustomRange,
    PeriodBefore,
    PeriodAfter,
    PageSize,
    LoadAll,
    Compare,
    CompareWith,
    Movers,
    Trend,
    Metric,
    LogScale,
    Fold,
    ListCached,
    BeforeAfter,
    NextDay,
    PreviousDay,
    Today,
    /// Moves the focus between the days of the calendar and the input below them.
    OtherPart,
    CompareBefore(PreviousPeriod),
    NextChoice,
    PreviousChoice,
    NextField,
    TryOut,
    SaveTheme,
    Demo,
    Send,
    History,
    Templates,
    NextBlank,
    EditOutside,
    Drafts,
    DeleteDraft,
    Batch,
    ReadFile,
    QueuePause,
    QueueUp,
    QueueDown,
    QueueRemove,
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
    /// The name of the action in the configuration, in a `[keys.CONTEXT]` table.
    pub fn config_name(self) -> &'static str {
        match self {
            Self::Edit(edit) => edit.into(),
            Self::CompareBefore(period) => period.word(),
            other => other.into(),
        }
    }

    /// Whether the configuration can call the action by this name: the current one, or the one of earlier versions.
    pub fn has_name(self, name: &str) -> bool {
        let former = match self {
            Self::Discard => "let-go",
            Self::CheckJob => "look-at-job",
            Self::ListCached => "list-kept",
            Self::SaveTheme => "keep-theme",
            _ => "",
        };
        self.config_name() == name || (!former.is_empty() && former == name)
    }
}

/// The ranges that one key compares the range on screen with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PreviousPeriod {
    /// The previous period of the same length.
    Period,
    /// The same days a week earlier.
    Week,
    /// The same days four weeks earlier.
    FourWeeks,
    /// The same dates a year earlier.
    Year,
}

impl PreviousPeriod {
    /// In the order of the screen.
    pub const ALL: [Self; 4] = [Self::Period, Self::Week, Self::FourWeeks, Self::Year];

    pub const fn key(self) -> char {
        match self {
            Self::Period => 'b',
            Self::Week => 'w',
            Self::FourWeeks => 'm',
            Self::Year => 'y',
        }
    }

    /// The name of its action in the configuration.
    fn word(self) -> &'static str {
        match self {
            Self::Period => "period-before",
            Self::Week => "week-before",
            Self::FourWeeks => "four-weeks-before",
            Self::Year => "year-before",
        }
    }
}

/// A change to a text, or a move of the cursor in it.
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
