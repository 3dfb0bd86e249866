//! Assigns each action the group under which the help lists it, and the synonyms by which the command palette finds it.

use super::names::Action;

/// A group of actions, shown under its own heading in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyGroup {
    /// Actions on the selected row, and actions that start something new.
    Act,
    /// Filtering, sorting and comparing.
    Find,
    /// Grouping, marking and labelling of jobs and pages.
    Organise,
    /// Changes to the queue of prompts.
    Queue,
    /// Moving the selection, and opening and closing screens and dialogs.
    Navigate,
    /// Text editing.
    Edit,
    /// Control of docdeck itself.
    Program,
}

impl KeyGroup {
    /// All groups, in the order of the help.
    pub const ALL: [Self; 7] =
        [Self::Act, Self::Find, Self::Organise, Self::Queue, Self::Navigate, Self::Edit, Self::Program];

    /// Returns the heading in the help, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::Find => "find",
            Self::Organise => "organise",
            Self::Queue => "queue",
            Self::Navigate => "navigate",
            Self::Edit => "edit text",
            Self::Program => "docdeck",
        }
    }
}

impl Action {
    /// Returns the group under which the help lists the action.
    pub fn group(self) -> KeyGroup {
        use Action as A;
        match self {
            A::Filter
            | A::SaveFilter
            | A::NextSort
            | A::ReverseSort
            | A::NextTab
            | A::PreviousTab
            | A::NextRange
            | A::CustomRange
            | A::PeriodBefore
            | A::PeriodAfter
            | A::Compare
            | A::CompareWith
            | A::Movers
            | A::Trend
            | A::Metric
            | A::LogScale => KeyGroup::Find,
            A::Mark
            | A::MarkRange
            | A::Rename
            | A::Tags
            | A::Note
            | A::Dismiss
            | A::MarkDone
            | A::Undo
            | A::FoldDismissed
            | A::Fold
            | A::PageSize
            | A::ListCached => KeyGroup::Organise,
            A::QueuePause | A::QueueUp | A::QueueDown | A::QueueRemove | A::Batch => KeyGroup::Queue,
            A::ShowJobs
            | A::ShowViews
            | A::ShowLog
            | A::AllJobs
            | A::NextPane
            | A::Open
            | A::Peek
            | A::NextJob
            | A::PreviousJob
            | A::NextNeedsYou
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
            | A::JumpToPage
            | A::NextDay
            | A::PreviousDay
            | A::Today
            | A::OtherPart
            | A::NextField => KeyGroup::Navigate,
            A::Edit(_) => KeyGroup::Edit,
            A::Help | A::Palette | A::Profiles | A::Mouse | A::Repaint | A::Suspend | A::Interrupt | A::Quit => {
                KeyGroup::Program
            }
            _ => KeyGroup::Act,
        }
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
            A::QueuePause => "hold resume stop queue",
            A::QueueUp | A::QueueDown => "reorder move queue",
            A::QueueRemove => "cancel delete queue",
            A::Open => "enter show details",
            A::NextNeedsYou => "attention waiting jump review failed",
            A::OpenPr => "pull request browser github link",
            A::CopyMain | A::CopyId => "clipboard yank",
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
            A::ShowJobs | A::ShowViews | A::ShowLog => "screen tab go to",
            A::NextRange | A::CustomRange => "date dates days calendar period month quarter",
            A::PeriodBefore | A::PeriodAfter => "date previous next range",
            A::Compare | A::CompareWith => "difference change previous period delta",
            A::Movers => "gained lost biggest change",
            A::Trend => "chart graph history time",
            A::LoadAll => "fetch complete everything",
            A::Fold => "tree folder group expand collapse",
            A::ListCached => "cache cached stored ranges",
            A::Mouse => "select text pointer",
            A::Repaint => "redraw refresh screen clear",
            A::Suspend => "background shell stop",
            A::Help => "keys shortcuts symbols manual",
            A::Palette => "commands actions",
            A::Quit => "exit leave close bye",
            A::Demo => "try example look around",
            A::Templates => "snippet template",
            A::History => "previous earlier prompts",
            A::EditOutside => "vim emacs external editor",
            _ => "",
        }
    }
}
