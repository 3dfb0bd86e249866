//! Assigns each action the group under which the help lists it, its name in the command palette, and the synonyms by
//! which the palette finds it.

use super::Context;
use super::names::{Action, EarlierPeriod, Edit};
use crate::tui::format::capitalized;

/// A group of actions, shown under its own heading in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyGroup {
    /// Actions of the screen or dialog.
    Screen,
    /// Filtering, sorting, marking and comparing.
    Find,
    /// Changes to what docdeck stores about a job.
    Label,
    /// Changes to the queue of prompts.
    Queue,
    /// Text editing.
    Edit,
    /// Moving the selection, and switching screens and panes.
    Move,
    /// Control of docdeck itself.
    Program,
}

impl KeyGroup {
    /// All groups, in the order of the help.
    pub const ALL: [Self; 7] =
        [Self::Screen, Self::Find, Self::Label, Self::Queue, Self::Edit, Self::Move, Self::Program];

    /// Returns the heading in the help. `None` for a screen's or dialog's own actions, which are listed
    /// under its name.
    pub fn heading(self) -> Option<&'static str> {
        match self {
            Self::Screen => None,
            Self::Find => Some("Find"),
            Self::Label => Some("Label"),
            Self::Queue => Some("Queue"),
            Self::Edit => Some("Edit text"),
            Self::Move => Some("Move"),
            Self::Program => Some("docdeck"),
        }
    }
}

/// Actions that the help shows on one line if all of them are possible. Each entry has the context, the actions, and a
/// text that describes the actions in the same order.
pub(in crate::tui) const COMBINED_ACTIONS: &[(Context, &[Action], &str)] = &[
    (Context::Lists, &[Action::Down, Action::Up], "down, up"),
    (Context::Lists, &[Action::Top, Action::Bottom], "first, last"),
    (Context::Lists, &[Action::PageDown, Action::PageUp], "a page down, up"),
    (Context::Everywhere, &[Action::ShowJobs, Action::ShowAnalytics, Action::ShowLog], "jobs, analytics, log"),
    (Context::Jobs, &[Action::NextJob, Action::PreviousJob], "next, previous job"),
    (Context::Jobs, &[Action::Mark, Action::MarkRange], "mark a job, mark all from the last mark to here"),
    (Context::Jobs, &[Action::PreviousTab, Action::NextTab], "previous, next saved filter"),
    (Context::Jobs, &[Action::SendEarlier, Action::SendLater], "move a queued prompt earlier, later"),
    (Context::Detail, &[Action::SendEarlier, Action::SendLater], "move a queued prompt earlier, later"),
    (Context::Detail, &[Action::NextJob, Action::PreviousJob], "next, previous job"),
    (Context::Changes, &[Action::PreviousFile, Action::NextFile], "previous, next file"),
    (Context::Changes, &[Action::NextMatch, Action::PreviousMatch], "next, previous match"),
    (Context::AllJobs, &[Action::Mark, Action::MarkRange], "mark a job, mark all from the last mark to here"),
    (Context::AllJobs, &[Action::PreviousTab, Action::NextTab], "previous, next saved filter"),
    (Context::Views, &[Action::Mark, Action::MarkRange], "mark a page, mark all from the last mark to here"),
    (Context::Views, &[Action::PreviousPeriod, Action::NextPeriod], "previous, next period"),
    (Context::Analytics, &[Action::PreviousPeriod, Action::NextPeriod], "previous, next period"),
    (Context::Trend, &[Action::Up, Action::Down], "previous, next bar"),
    (Context::Calendar, &[Action::PreviousDay, Action::NextDay], "previous, next day"),
    (Context::Calendar, &[Action::Up, Action::Down], "previous, next week"),
    (Context::Calendar, &[Action::PageUp, Action::PageDown], "previous, next month"),
    (Context::Calendar, &[Action::Top, Action::Bottom], "first, last day of the month"),
    (Context::Export, &[Action::PreviousChoice, Action::NextChoice], "previous, next option"),
    (Context::Picker, &[Action::Down, Action::Up], "down, up"),
    (Context::Picker, &[Action::PageDown, Action::PageUp], "a page down, up"),
    (Context::Filter, &[Action::Down, Action::Up], "down, up"),
    (Context::Filter, &[Action::PageDown, Action::PageUp], "a page down, up"),
    (Context::Editor, &[Action::Edit(Edit::PageDown), Action::Edit(Edit::PageUp)], "a page down, up"),
    (Context::BatchText, &[Action::Edit(Edit::PageDown), Action::Edit(Edit::PageUp)], "a page down, up"),
    (Context::Review, &[Action::Edit(Edit::PageDown), Action::Edit(Edit::PageUp)], "a page down, up"),
    (Context::Text, &[Action::Edit(Edit::Undo), Action::Edit(Edit::Redo)], "undo, redo the last change"),
    (Context::Text, &[Action::Edit(Edit::WordBack), Action::Edit(Edit::WordForward)], "move a word back, forward"),
    (Context::Text, &[Action::Edit(Edit::LineStart), Action::Edit(Edit::LineEnd)], "go to the start, end of the line"),
    (Context::Text, &[Action::Edit(Edit::TextStart), Action::Edit(Edit::TextEnd)], "go to the start, end of the text"),
    (
        Context::Text,
        &[Action::Edit(Edit::DeleteWordBack), Action::Edit(Edit::DeleteWordForward)],
        "delete the previous, next word",
    ),
    (
        Context::Text,
        &[Action::Edit(Edit::DeleteToLineStart), Action::Edit(Edit::DeleteToLineEnd)],
        "delete to the start, end of the line",
    ),
];

impl Action {
    /// Returns the group under which the help lists the action.
    pub fn group(self) -> KeyGroup {
        use Action as A;
        match self {
            A::Filter
            | A::SaveFilter
            | A::NextSort
            | A::ReverseSort
            | A::Mark
            | A::MarkRange
            | A::NextTab
            | A::PreviousTab
            | A::FoldDismissed
            | A::Fold
            | A::Metric
            | A::LogScale
            | A::PageSize
            | A::JumpToPage
            | A::NextMatch
            | A::PreviousMatch
            | A::Export => KeyGroup::Find,
            A::Rename | A::Tags | A::Note | A::Undo => KeyGroup::Label,
            A::PauseQueue | A::SendEarlier | A::SendLater | A::RemoveFromQueue => KeyGroup::Queue,
            A::ShowJobs
            | A::ShowAnalytics
            | A::ShowLog
            | A::NextPane
            | A::PreviousPane
            | A::NextJob
            | A::PreviousJob
            | A::ToggleDetail
            | A::Close
            | A::Down
            | A::Up
            | A::Top
            | A::Bottom
            | A::PageDown
            | A::PageUp
            | A::NextPage
            | A::PreviousPage
            | A::NextDay
            | A::PreviousDay
            | A::Today
            | A::CalendarInput
            | A::NextFile
            | A::PreviousFile
            | A::NextField => KeyGroup::Move,
            A::Edit(Edit::PageUp | Edit::PageDown) => KeyGroup::Move,
            A::Edit(_) => KeyGroup::Edit,
            A::Refresh
            | A::Help
            | A::Palette
            | A::Profiles
            | A::AllJobs
            | A::Mouse
            | A::Redraw
            | A::Suspend
            | A::Interrupt
            | A::Quit => KeyGroup::Program,
            _ => KeyGroup::Screen,
        }
    }

    /// Returns the name of the action in the command palette. By default, this is its name in the
    /// configuration, with spaces.
    pub fn title(self) -> String {
        use Action as A;
        let title = match self {
            A::NextPane => "Next pane or tab",
            A::NextPage => "Next rows",
            A::PreviousPage => "Previous rows",
            A::JumpToPage => "Go to rows",
            A::PageSize => "Rows per request",
            A::PreviousPane => "Previous tab",
            A::Copy => "Copy",
            A::ToggleDetail => "Show details",
            A::Peek => "Set as seen",
            A::NextNeedsYou => "Next for you",
            A::OpenPr => "Open pull request",
            A::ClosePullRequest => "Close PR",
            A::NextSort => "Sort",
            A::NextTab => "Next filter",
            A::PreviousTab => "Previous filter",
            A::FoldDismissed => "Dismissed jobs",
            A::NextRange => "Range",
            A::PreviousPeriod => "Previous period",
            A::NextPeriod => "Next period",
            A::CompareWith => "Compare with…",
            A::Fold => "Group or expand",
            A::Movers => "Largest changes",
            A::BeforeAfter => "Load views",
            A::CachedRanges => "Cached ranges",
            A::PauseQueue => "Pause",
            A::SendEarlier => "Earlier in queue",
            A::SendLater => "Later in queue",
            A::RemoveFromQueue => "Remove from queue",
            A::ExternalEditor => "External editor",
            A::CompareBefore(EarlierPeriod::Period) => "Compare previous",
            A::Edit(Edit::DeleteWordBack) => "Delete word",
            A::Edit(Edit::DeleteWordForward) => "Delete next word",
            A::Edit(Edit::DeleteToLineStart) => "Delete to start",
            A::Edit(Edit::DeleteToLineEnd) => "Delete to end",
            _ => return capitalized(&self.config_name().replace('-', " ")),
        };
        title.to_owned()
    }

    /// Returns words that users may type to find the action, in addition to its name and its help text.
    pub fn synonyms(self) -> &'static str {
        use Action as A;
        match self {
            A::NewJob => "create start send prompt agent write",
            A::FollowUp => "send reply answer continue message prompt",
            A::Send | A::SendAgain => "submit retry deliver",
            A::Retry => "again rerun repeat failed",
            A::Drafts => "draft drafts unsent unfinished saved text",
            A::Resolve => "retry send again unconfirmed not sent rejected fix",
            A::PauseQueue => "hold resume stop queue",
            A::SendEarlier | A::SendLater => "reorder move queue",
            A::RemoveFromQueue => "cancel delete queue",
            A::Open => "enter show details",
            A::NextNeedsYou => "attention waiting jump review failed",
            A::OpenPr => "pull request browser github link",
            A::PullRequest => "checks reviews comments commits github gitlab",
            A::Approve => "review accept lgtm",
            A::RequestChanges => "review reject",
            A::Comment => "review write",
            A::MarkReady => "draft undraft review",
            A::Merge => "squash rebase land ship",
            A::ClosePullRequest => "reject abandon",
            A::Preview | A::BuildPreview => "deployment staging site browser",
            A::Changes => "diff files review pull request",
            A::Whitespace => "spaces indentation ignore",
            A::Copy | A::CopyId => "clipboard yank",
            A::Filter => "search find query grep",
            A::NextTab | A::PreviousTab => "saved filter tab",
            A::NextSort | A::ReverseSort => "order sort",
            A::Dismiss => "hide archive remove delete",
            A::MarkDone => "finish complete resolve seen read",
            A::Undo => "revert restore take back",
            A::Mark | A::MarkRange => "select multiple bulk",
            A::Rename => "title name",
            A::Tags => "label labels",
            A::Note => "comment",
            A::Export => "save file json csv download",
            A::Batch => "bulk import many jobs list",
            A::Track => "add import existing id",
            A::Refresh => "reload update fetch",
            A::Profiles => "profile account project switch setup settings configuration new add",
            A::NewProfile => "setup create account project settings",
            A::SaveFilter => "keep tab",
            A::SaveTheme => "save colors",
            A::AllJobs => "all profiles every project",
            A::ToggleDetail => "panel split layout",
            A::ShowJobs | A::ShowAnalytics | A::ShowLog => "screen tab go to",
            A::NextRange | A::CustomRange => "date dates days calendar period month quarter",
            A::PreviousPeriod | A::NextPeriod => "date previous next range",
            A::Compare | A::CompareWith => "difference change previous period delta",
            A::Movers => "gained lost biggest change",
            A::Trend => "chart graph history time",
            A::LoadAll => "fetch complete everything",
            A::NextPage | A::PreviousPage | A::JumpToPage | A::PageSize => "page size limit jump",
            A::Fold => "tree folder group expand collapse",
            A::CachedRanges => "cache cached stored ranges",
            A::Mouse => "select text pointer",
            A::Redraw => "redraw refresh screen clear",
            A::Suspend => "background shell stop",
            A::Help => "keys shortcuts symbols manual",
            A::Palette => "commands actions",
            A::Quit => "exit leave close bye",
            A::Demo => "try example look around",
            A::Templates => "snippet template",
            A::History => "previous earlier prompts",
            A::ExternalEditor => "vim emacs external editor",
            _ => "",
        }
    }
}
