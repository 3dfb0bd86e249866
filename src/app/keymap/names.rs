//! What a binding is made of besides its keys: where it holds and what it does, with their names in the configuration.

use strum::{EnumIter, EnumString, IntoStaticStr};

/// Where a binding holds. The layer on top decides which contexts are asked, the most special one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Context {
    Everywhere,
    /// Every list: jobs, page views, log, and the text of a detail or the help.
    Lists,
    Jobs,
    /// The job's detail, when it has the keys.
    Detail,
    Views,
    Editor,
    /// Any text, of one line or several.
    Text,
    /// Prompts that were sent, or templates, narrowed by typing.
    Pick,
    /// Actions by name.
    Palette,
    Drafts,
    /// Many prompts, as typed.
    BatchText,
    /// Many prompts, looked over.
    Batch,
    /// The filter, while it is being typed.
    Filter,
    /// The keys of a moment.
    Help,
    /// A one-line question for a value.
    Ask,
    /// What to do with an undelivered prompt.
    Resolve,
    /// A yes-or-no question.
    Question,
    /// A range being picked on a calendar.
    Calendar,
    /// A range being typed below it.
    CalendarLine,
    /// A page's own card.
    Card,
    Trend,
    Movers,
    /// How to export the page views.
    Export,
    /// What is kept of page views.
    Kept,
    /// The setup form, on a line where something is chosen.
    Welcome,
    /// The setup form, on a line where something is typed.
    WelcomeText,
    /// The profiles of the configuration.
    Profiles,
    /// The jobs of all profiles.
    AllJobs,
}

impl Context {
    /// Its name in `[keys.NAME]` of the configuration.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Whether characters are typed where it holds, so that none of them can be a command.
    pub fn takes_text(self) -> bool {
        matches!(
            self,
            Self::Editor
                | Self::Text
                | Self::BatchText
                | Self::Pick
                | Self::Palette
                | Self::Filter
                | Self::Ask
                | Self::Welcome
                | Self::WelcomeText
        )
    }

    /// A word for where it holds, of at most ten cells.
    pub fn short_name(self) -> &'static str {
        match self {
            Self::Detail => "detail",
            Self::Text => "text",
            Self::Pick => "texts",
            Self::Palette => "palette",
            Self::BatchText | Self::Batch => "prompts",
            Self::Filter => "filter",
            Self::Help => "help",
            Self::Ask => "input",
            Self::Resolve => "prompt",
            Self::Question => "question",
            Self::Calendar | Self::CalendarLine => "range",
            Self::Card => "card",
            Self::Trend => "trend",
            Self::Kept => "kept",
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
            | Self::Profiles => self.name(),
        }
    }

    /// The heading over its keys in the help.
    pub fn name(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::Lists => "lists",
            Self::Jobs => "jobs",
            Self::Detail => "a job's detail",
            Self::Views => "views",
            Self::Editor => "editor",
            Self::Text => "any text",
            Self::Pick => "a list of texts",
            Self::Palette => "the palette",
            Self::Drafts => "drafts",
            Self::BatchText => "many prompts",
            Self::Batch => "many prompts, looked over",
            Self::Filter => "the filter",
            Self::Help => "the help",
            Self::Ask => "one-line input",
            Self::Resolve => "an undelivered prompt",
            Self::Question => "a question",
            Self::Calendar => "a range",
            Self::CalendarLine => "a typed range",
            Self::Card => "a page's card",
            Self::Trend => "the trend",
            Self::Movers => "movers",
            Self::Export => "export",
            Self::Kept => "kept page views",
            Self::Welcome => "setup, a choice",
            Self::WelcomeText => "setup, a text",
            Self::Profiles => "profiles",
            Self::AllJobs => "jobs of all profiles",
        }
    }
}

/// What a key does.
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
    ListKept,
    BeforeAfter,
    NextDay,
    PreviousDay,
    Today,
    /// From the days of a calendar to the line below them, or back.
    OtherPart,
    CompareBefore(PreviousPeriod),
    NextChoice,
    PreviousChoice,
    NextField,
    TryOut,
    KeepTheme,
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
    /// Its name in `[keys.CONTEXT]` of the configuration.
    pub fn word(self) -> &'static str {
        match self {
            Self::Edit(edit) => edit.into(),
            Self::CompareBefore(before) => before.word(),
            other => other.into(),
        }
    }
}

/// What a range is compared with by one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PreviousPeriod {
    /// The period before.
    Period,
    /// The same days a week before.
    Week,
    /// The same days four weeks before.
    FourWeeks,
    /// The same dates a year before.
    Year,
}

impl PreviousPeriod {
    /// In the order in which the screen shows them.
    pub const ALL: [Self; 4] = [Self::Period, Self::Week, Self::FourWeeks, Self::Year];

    /// Its key.
    pub const fn key(self) -> char {
        match self {
            Self::Period => 'b',
            Self::Week => 'w',
            Self::FourWeeks => 'm',
            Self::Year => 'y',
        }
    }

    /// Its name as an action.
    fn word(self) -> &'static str {
        match self {
            Self::Period => "period-before",
            Self::Week => "week-before",
            Self::FourWeeks => "four-weeks-before",
            Self::Year => "year-before",
        }
    }
}

/// A change or motion in a text.
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
