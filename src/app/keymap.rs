//! The one table of key bindings. Dispatch, footer and help all read it; nothing else knows a key.

use super::chord::{alt, ch, ctrl, key, with_alt, with_ctrl};
use crossterm::event::KeyCode;
use std::collections::HashMap;
use strum::{EnumIter, EnumString, IntoStaticStr};

pub use super::chord::Chord;

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
    /// Any text of several lines.
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
            Self::Editor | Self::Text | Self::BatchText | Self::Pick | Self::Palette | Self::Filter | Self::Ask
        )
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
    Refresh,
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
    OpenPr,
    CopyId,
    Dismiss,
    Undo,
    Rename,
    Tags,
    Note,
    Filter,
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
    CompareBefore(Before),
    NextChoice,
    PreviousChoice,
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
    LookAtJob,
    LetGo,
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
pub enum Before {
    /// The period before.
    Period,
    /// The same days a week before.
    Week,
    /// The same days four weeks before.
    FourWeeks,
    /// The same dates a year before.
    Year,
}

impl Before {
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
    DeleteToLineEnd,
    PageUp,
    PageDown,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    pub context: Context,
    pub keys: &'static [Chord],
    pub action: Action,
    /// A word or two for the footer; empty where the footer leaves it out.
    pub hint: &'static str,
    /// A phrase for the help.
    pub help: &'static str,
}

const fn row(
    context: Context,
    keys: &'static [Chord],
    action: Action,
    hint: &'static str,
    help: &'static str,
) -> Binding {
    Binding { context, keys, action, hint, help }
}

use Context as C;

/// All bindings, in the order in which footer and help show them.
pub const BINDINGS: &[Binding] = &[
    row(C::Jobs, &[ch('n')], Action::NewJob, "new", "new job"),
    row(C::Jobs, &[ch('D')], Action::Drafts, "drafts", "texts that were not sent yet"),
    row(C::Jobs, &[ch('p')], Action::QueuePause, "pause", "hold a queued prompt, or release it"),
    row(C::Jobs, &[ch('<'), with_alt(KeyCode::Up)], Action::QueueUp, "forward", "a queued prompt one place forward"),
    row(C::Jobs, &[ch('>'), with_alt(KeyCode::Down)], Action::QueueDown, "back", "a queued prompt one place back"),
    row(C::Jobs, &[ch('x')], Action::QueueRemove, "remove", "take a queued prompt out of the queue"),
    row(C::Jobs, &[ch('f')], Action::FollowUp, "follow-up", "follow-up to the selected job"),
    row(C::Jobs, &[ch('!')], Action::Resolve, "resolve", "decide about an undelivered or unconfirmed prompt"),
    row(C::Jobs, &[key(KeyCode::Enter)], Action::Open, "", "open the job's detail"),
    row(C::Jobs, &[ch('o')], Action::OpenPr, "open PR", "open the pull request"),
    row(C::Jobs, &[ch(' ')], Action::Peek, "", "mark as looked at; peek where no detail is shown"),
    row(C::Jobs, &[ch('y')], Action::CopyMain, "copy link", "copy the pull request's link, else the job's id"),
    row(C::Jobs, &[ch('Y')], Action::CopyId, "", "copy the job's id"),
    row(C::Jobs, &[ch('/')], Action::Filter, "filter", "filter: words s:failed m:sonnet #1423 tag:x !not"),
    row(C::Jobs, &[ch('s')], Action::NextSort, "sort", "sort by need, age, last change, status"),
    row(C::Jobs, &[ch('d')], Action::Dismiss, "dismiss", "dismiss the job, or take it back"),
    row(C::Jobs, &[ch('v')], Action::Mark, "mark", "mark or unmark, go down; o y f T d e take marked"),
    row(C::Jobs, &[ch('V')], Action::MarkRange, "", "mark all from the last mark to here"),
    row(C::Jobs, &[ch('S')], Action::ReverseSort, "", "reverse the order"),
    row(C::Jobs, &[ch('R')], Action::Rename, "", "rename: a title of your own"),
    row(C::Jobs, &[ch('T')], Action::Tags, "", "tags"),
    row(C::Jobs, &[ch('N')], Action::Note, "", "a note of your own"),
    row(C::Jobs, &[ch('u')], Action::Undo, "", "undo the last dismissal, tags, title or note"),
    row(C::Jobs, &[ch('e')], Action::Export, "", "export as JSON into the current folder"),
    row(C::Jobs, &[ch(']')], Action::NextTab, "", "next saved filter"),
    row(C::Jobs, &[ch('[')], Action::PreviousTab, "", "saved filter before"),
    row(C::Jobs, &[ch('z')], Action::FoldDismissed, "", "show or hide dismissed jobs"),
    row(C::Jobs, &[ch('b')], Action::Batch, "batch", "many new jobs at once"),
    row(C::Jobs, &[ch('+')], Action::Track, "track", "track jobs created elsewhere, by their ids"),
    row(C::Jobs, &[ch('a')], Action::BeforeAfter, "before/after", "its pages' views before and after it, at a price"),
    row(C::Detail, &[ch('f')], Action::FollowUp, "follow-up", "follow-up to this job"),
    row(C::Detail, &[ch('!')], Action::Resolve, "resolve", "decide about an undelivered or unconfirmed prompt"),
    row(C::Detail, &[ch('o')], Action::OpenPr, "open PR", "open the pull request"),
    row(C::Detail, &[ch('y')], Action::CopyMain, "copy link", "copy the pull request's link, else the job's id"),
    row(C::Detail, &[ch('Y')], Action::CopyId, "", "copy the job's id"),
    row(C::Detail, &[ch('a')], Action::BeforeAfter, "before/after", "its pages' views before and after it, at a price"),
    row(C::Detail, &[ch('R')], Action::Rename, "rename", "rename: a title of your own"),
    row(C::Detail, &[ch('T')], Action::Tags, "tags", "tags"),
    row(C::Detail, &[ch('N')], Action::Note, "note", "a note of your own"),
    row(C::Detail, &[ch('u')], Action::Undo, "", "undo the last dismissal, tags, title or note"),
    row(C::Detail, &[ch('n')], Action::NewJob, "", "new job"),
    row(C::Detail, &[key(KeyCode::Enter), ch(' ')], Action::Close, "", "back to the list"),
    row(
        C::Views,
        &[key(KeyCode::Right), ch('l')],
        Action::NextPage,
        "next page",
        "next page of rows; in a tree: into the folder",
    ),
    row(
        C::Views,
        &[key(KeyCode::Left), ch('h')],
        Action::PreviousPage,
        "previous",
        "page of rows before; in a tree: out of the folder",
    ),
    row(C::Views, &[ch('a')], Action::LoadAll, "load all", "load all pages, at a price said first; again: stop"),
    row(C::Views, &[ch('c')], Action::Compare, "compare", "compare with the period before; again: not"),
    row(C::Views, &[ch('C')], Action::CompareWith, "", "compare with a range of your own"),
    row(C::Views, &[ch('t')], Action::Trend, "trend", "the trend, by day or by week"),
    row(C::Views, &[ch('n')], Action::NewJob, "job about it", "new job about this page, or the marked ones"),
    row(C::Views, &[key(KeyCode::Enter)], Action::Open, "card", "the page's own card; on a folder: open or close it"),
    row(C::Views, &[ch('/')], Action::Filter, "filter", "filter: words !word ai>50% human>1k Δ<-20% new gone"),
    row(C::Views, &[ch('s')], Action::NextSort, "sort", "sort by the next column: path, numbers, changes"),
    row(C::Views, &[ch('S')], Action::ReverseSort, "", "reverse the order"),
    row(C::Views, &[ch('m')], Action::Metric, "metric", "bars and rank by human, AI, total or share"),
    row(C::Views, &[ch('x')], Action::LogScale, "log", "logarithmic bars, or linear ones"),
    row(C::Views, &[ch('z')], Action::Fold, "fold", "fold by path into a tree, or unfold"),
    row(C::Views, &[ch('w')], Action::Movers, "movers", "what moved most since the other range"),
    row(C::Views, &[ch('v')], Action::Mark, "mark", "mark or unmark the page or folder, go down"),
    row(C::Views, &[ch('V')], Action::MarkRange, "", "mark all from the last mark to here"),
    row(C::Views, &[ch('e')], Action::Export, "export", "export what is shown or all"),
    row(C::Views, &[ch('H')], Action::ListKept, "", "what is kept of page views on this computer"),
    row(C::Views, &[ch('p')], Action::JumpToPage, "jump", "jump to a page of rows"),
    row(C::Views, &[ch('d')], Action::NextRange, "range", "next range: days, this and last month and quarter"),
    row(C::Views, &[ch('D')], Action::CustomRange, "custom", "a range of your own, picked or typed"),
    row(C::Views, &[ch('[')], Action::PeriodBefore, "", "the period before: as many days, or the month"),
    row(C::Views, &[ch(']')], Action::PeriodAfter, "", "the period after, up to today"),
    row(C::Views, &[ch('L')], Action::PageSize, "page size", "rows per page, 1 to 250"),
    row(C::Views, &[ch('y')], Action::CopyMain, "", "copy the page's path"),
    row(C::Card, &[key(KeyCode::Enter)], Action::Open, "to the job", "go to the selected job"),
    row(C::Card, &[ch('n')], Action::NewJob, "job about it", "new job about this page"),
    row(C::Card, &[ch('a')], Action::LoadAll, "load all", "load all pages of the range, at a price"),
    row(C::Card, &[ch('y')], Action::CopyMain, "copy path", "copy the page's path"),
    row(C::Trend, &[ch('a')], Action::LoadAll, "ask for the rest", "ask for what is not known, after its price"),
    row(C::Trend, &[key(KeyCode::Left), ch('h')], Action::Up, "", "the bar before"),
    row(C::Trend, &[key(KeyCode::Right), ch('l')], Action::Down, "", "the bar after"),
    row(C::Trend, &[ch('t')], Action::Close, "", "close the trend"),
    row(C::Movers, &[key(KeyCode::Enter)], Action::Open, "card", "the page's own card"),
    row(C::Movers, &[key(KeyCode::Tab), key(KeyCode::BackTab)], Action::NextPane, "other half", "gained, or lost"),
    row(C::Movers, &[ch('m')], Action::Metric, "human, AI, total", "by human, by AI or by all views"),
    row(C::Movers, &[ch('w')], Action::Close, "", "close the movers"),
    row(C::Lists, &[ch('j'), key(KeyCode::Down)], Action::Down, "", "one down"),
    row(C::Lists, &[ch('k'), key(KeyCode::Up)], Action::Up, "", "one up"),
    row(C::Lists, &[ch('g'), key(KeyCode::Home)], Action::Top, "", "to the first"),
    row(C::Lists, &[ch('G'), key(KeyCode::End)], Action::Bottom, "", "to the last"),
    row(C::Lists, &[key(KeyCode::PageDown), ctrl('d')], Action::PageDown, "", "a screenful down"),
    row(C::Lists, &[key(KeyCode::PageUp), ctrl('b')], Action::PageUp, "", "a screenful up"),
    row(C::Editor, &[ctrl('s'), with_ctrl(KeyCode::Enter)], Action::Send, "send", "send the prompt"),
    row(C::Editor, &[key(KeyCode::Esc), ctrl('c')], Action::Close, "close, draft kept", "close; the draft is kept"),
    row(
        C::Editor,
        &[key(KeyCode::Tab)],
        Action::NextBlank,
        "next blank",
        "to the next {{blank}} of a template, taking it out",
    ),
    row(C::Editor, &[ctrl('r')], Action::History, "history", "take in a prompt that was sent before"),
    row(C::Editor, &[ctrl('t')], Action::Templates, "templates", "take in a template"),
    row(C::Editor, &[ctrl('g')], Action::EditOutside, "$EDITOR", "go on in $VISUAL or $EDITOR"),
    row(
        C::BatchText,
        &[ctrl('s'), with_ctrl(KeyCode::Enter)],
        Action::Confirm,
        "look over",
        "look the prompts over, with their price",
    ),
    row(C::BatchText, &[ctrl('f')], Action::ReadFile, "a file", "read the prompts from a file"),
    row(C::BatchText, &[key(KeyCode::Esc), ctrl('c')], Action::Close, "close", "close; the text is kept"),
    row(
        C::Batch,
        &[key(KeyCode::Enter), ctrl('s')],
        Action::Confirm,
        "queue them",
        "queue them on disk, after a question",
    ),
    row(C::Batch, &[key(KeyCode::Esc), ctrl('c')], Action::Close, "back", "back to the text"),
    row(C::Pick, &[key(KeyCode::Enter)], Action::Confirm, "take it", "take it into the editor"),
    row(C::Pick, &[key(KeyCode::Up), ctrl('p')], Action::Up, "", "one up"),
    row(C::Pick, &[key(KeyCode::Down), ctrl('n')], Action::Down, "", "one down"),
    row(C::Pick, &[key(KeyCode::PageUp)], Action::PageUp, "", "a screenful up"),
    row(C::Pick, &[key(KeyCode::PageDown)], Action::PageDown, "", "a screenful down"),
    row(C::Pick, &[ctrl('w')], Action::Edit(Edit::DeleteWordBack), "", "delete the typed word"),
    row(C::Pick, &[key(KeyCode::Esc), ctrl('c')], Action::Close, "close", "close"),
    row(C::Palette, &[key(KeyCode::Enter)], Action::Confirm, "do it", "do what is chosen"),
    row(C::Palette, &[key(KeyCode::Up), ctrl('p')], Action::Up, "", "one up"),
    row(C::Palette, &[key(KeyCode::Down), ctrl('n')], Action::Down, "", "one down"),
    row(C::Palette, &[key(KeyCode::PageUp)], Action::PageUp, "", "a screenful up"),
    row(C::Palette, &[key(KeyCode::PageDown)], Action::PageDown, "", "a screenful down"),
    row(C::Palette, &[ctrl('w')], Action::Edit(Edit::DeleteWordBack), "", "delete the typed word"),
    row(C::Palette, &[key(KeyCode::Esc), ctrl('c')], Action::Close, "close", "close"),
    row(C::Drafts, &[key(KeyCode::Enter)], Action::Confirm, "open", "go on with the draft"),
    row(C::Drafts, &[ch('x')], Action::DeleteDraft, "delete", "delete the draft, after a question"),
    row(C::Text, &[ctrl('u')], Action::Edit(Edit::Undo), "undo", "undo"),
    row(C::Text, &[alt('u')], Action::Edit(Edit::Redo), "", "redo"),
    row(C::Editor, &[ctrl('y')], Action::CopyMain, "copy", "copy the whole text"),
    row(C::Text, &[key(KeyCode::Enter), ctrl('j')], Action::Edit(Edit::Newline), "", "new line"),
    row(C::Text, &[with_ctrl(KeyCode::Left), alt('b')], Action::Edit(Edit::WordBack), "", "a word back"),
    row(C::Text, &[with_ctrl(KeyCode::Right), alt('f')], Action::Edit(Edit::WordForward), "", "a word forward"),
    row(C::Text, &[key(KeyCode::Home), ctrl('a')], Action::Edit(Edit::LineStart), "", "start of the line"),
    row(C::Text, &[key(KeyCode::End), ctrl('e')], Action::Edit(Edit::LineEnd), "", "end of the line"),
    row(C::Text, &[with_ctrl(KeyCode::Home), alt('<')], Action::Edit(Edit::TextStart), "", "start of the text"),
    row(C::Text, &[with_ctrl(KeyCode::End), alt('>')], Action::Edit(Edit::TextEnd), "", "end of the text"),
    row(C::Text, &[key(KeyCode::PageUp)], Action::Edit(Edit::PageUp), "", "a screenful up"),
    row(C::Text, &[key(KeyCode::PageDown)], Action::Edit(Edit::PageDown), "", "a screenful down"),
    row(
        C::Text,
        &[ctrl('w'), with_alt(KeyCode::Backspace), with_ctrl(KeyCode::Backspace)],
        Action::Edit(Edit::DeleteWordBack),
        "",
        "delete the word before",
    ),
    row(
        C::Text,
        &[alt('d'), with_ctrl(KeyCode::Delete)],
        Action::Edit(Edit::DeleteWordForward),
        "",
        "delete the word after",
    ),
    row(C::Text, &[ctrl('k')], Action::Edit(Edit::DeleteToLineEnd), "", "delete to the end of the line"),
    row(C::Filter, &[key(KeyCode::Enter)], Action::Confirm, "keep it", "keep the filter"),
    row(C::Filter, &[key(KeyCode::Esc), ctrl('c')], Action::Close, "clear it", "clear the filter"),
    row(C::Filter, &[key(KeyCode::Down)], Action::Down, "", "one down"),
    row(C::Filter, &[key(KeyCode::Up)], Action::Up, "", "one up"),
    row(C::Filter, &[key(KeyCode::PageDown)], Action::PageDown, "", "a screenful down"),
    row(C::Filter, &[key(KeyCode::PageUp)], Action::PageUp, "", "a screenful up"),
    row(C::Filter, &[ctrl('u')], Action::Edit(Edit::Undo), "", "undo"),
    row(C::Filter, &[key(KeyCode::Home), ctrl('a')], Action::Edit(Edit::LineStart), "", "start of the line"),
    row(C::Filter, &[key(KeyCode::End), ctrl('e')], Action::Edit(Edit::LineEnd), "", "end of the line"),
    row(C::Filter, &[ctrl('w')], Action::Edit(Edit::DeleteWordBack), "", "delete the word before"),
    row(C::Ask, &[key(KeyCode::Enter), ctrl('s')], Action::Confirm, "take it", "take the value"),
    row(C::Ask, &[key(KeyCode::Esc), ctrl('c')], Action::Close, "close", "close"),
    row(C::Ask, &[ctrl('u')], Action::Edit(Edit::Undo), "", "undo"),
    row(C::Ask, &[key(KeyCode::Home), ctrl('a')], Action::Edit(Edit::LineStart), "", "start of the line"),
    row(C::Ask, &[key(KeyCode::End), ctrl('e')], Action::Edit(Edit::LineEnd), "", "end of the line"),
    row(C::Ask, &[ctrl('w')], Action::Edit(Edit::DeleteWordBack), "", "delete the word before"),
    row(C::Resolve, &[ch('s')], Action::SendAgain, "send again", "send it again"),
    row(C::Resolve, &[ch('e')], Action::EditPrompt, "edit", "edit it first (not an unconfirmed one)"),
    row(C::Resolve, &[ch('l')], Action::LinkJob, "link to a job", "it is a job that exists: link it by id"),
    row(C::Resolve, &[ch('g')], Action::LookAtJob, "look at the job", "ask the service about the job, one request"),
    row(C::Resolve, &[ch('y')], Action::CopyMain, "copy", "copy the prompt"),
    row(C::Resolve, &[ch('d')], Action::LetGo, "let it go", "let it go: it stays in the record"),
    row(C::Calendar, &[key(KeyCode::Enter), ch(' ')], Action::Confirm, "pick", "pick the first day, then the last one"),
    row(C::Calendar, &[key(KeyCode::Tab)], Action::OtherPart, "type", "type a range; digits do so at once"),
    row(C::Calendar, &[key(KeyCode::Right), ch('l')], Action::NextDay, "", "a day on"),
    row(C::Calendar, &[key(KeyCode::Left), ch('h')], Action::PreviousDay, "", "a day back"),
    row(C::Calendar, &[key(KeyCode::Down), ch('j')], Action::Down, "", "a week on"),
    row(C::Calendar, &[key(KeyCode::Up), ch('k')], Action::Up, "", "a week back"),
    row(C::Calendar, &[key(KeyCode::PageDown)], Action::PageDown, "", "a month on"),
    row(C::Calendar, &[key(KeyCode::PageUp)], Action::PageUp, "month back", "a month back"),
    row(C::Calendar, &[key(KeyCode::Home)], Action::Top, "", "first day of the month"),
    row(C::Calendar, &[key(KeyCode::End)], Action::Bottom, "", "last day of the month"),
    row(C::Calendar, &[ch('t')], Action::Today, "today", "to today"),
    row(
        C::Calendar,
        &[ch(Before::Period.key())],
        Action::CompareBefore(Before::Period),
        "",
        "comparing: the period before",
    ),
    row(C::Calendar, &[ch(Before::Week.key())], Action::CompareBefore(Before::Week), "", "comparing: a week before"),
    row(
        C::Calendar,
        &[ch(Before::FourWeeks.key())],
        Action::CompareBefore(Before::FourWeeks),
        "",
        "comparing: four weeks before",
    ),
    row(C::Calendar, &[ch(Before::Year.key())], Action::CompareBefore(Before::Year), "", "comparing: a year before"),
    row(C::Calendar, &[key(KeyCode::Esc), ctrl('c')], Action::Close, "close", "give up the picked day, then close"),
    row(C::CalendarLine, &[key(KeyCode::Enter), ctrl('s')], Action::Confirm, "take it", "take the typed range"),
    row(C::CalendarLine, &[key(KeyCode::Tab)], Action::OtherPart, "to the days", "back to the days"),
    row(C::CalendarLine, &[key(KeyCode::Esc), ctrl('c')], Action::Close, "clear it", "clear the text"),
    row(C::Export, &[key(KeyCode::Enter)], Action::Confirm, "export", "do it"),
    row(
        C::Export,
        &[key(KeyCode::Right), ch('l'), ch(' ')],
        Action::NextChoice,
        "change",
        "the next choice of this line",
    ),
    row(C::Export, &[key(KeyCode::Left), ch('h')], Action::PreviousChoice, "", "the choice before"),
    row(C::Export, &[key(KeyCode::Tab)], Action::Down, "", "the next line"),
    row(C::Export, &[key(KeyCode::BackTab)], Action::Up, "", "the line before"),
    row(C::Kept, &[key(KeyCode::Enter)], Action::Confirm, "show", "show this range, at no cost"),
    row(C::Kept, &[ch('c')], Action::CompareWith, "compare", "compare the shown range with this one"),
    row(C::Question, &[ch('y'), ch('Y')], Action::Yes, "yes", "yes"),
    row(C::Question, &[ch('n'), key(KeyCode::Esc)], Action::Close, "no", "no, as is anything else"),
    row(C::Everywhere, &[ch('1')], Action::ShowJobs, "", "jobs"),
    row(C::Everywhere, &[ch('2')], Action::ShowViews, "", "views"),
    row(C::Everywhere, &[ch('3')], Action::ShowLog, "", "log"),
    row(C::Everywhere, &[key(KeyCode::Tab), key(KeyCode::BackTab)], Action::NextPane, "", "the other pane"),
    row(C::Everywhere, &[ch('r')], Action::Refresh, "refresh", "ask the service again"),
    row(C::Everywhere, &[key(KeyCode::Esc)], Action::Close, "close", "close the topmost layer"),
    row(C::Everywhere, &[ch('?'), key(KeyCode::F(1))], Action::Help, "help", "the keys of this moment"),
    row(C::Everywhere, &[ch(':'), ctrl('p'), key(KeyCode::F(2))], Action::Palette, "", "what to do, by name"),
    row(C::Everywhere, &[ctrl('l')], Action::Repaint, "", "repaint the screen"),
    row(C::Everywhere, &[ctrl('z')], Action::Suspend, "", "suspend; fg comes back"),
    row(C::Everywhere, &[ctrl('c')], Action::Interrupt, "", "close the topmost layer; quit where there is none"),
    row(C::Everywhere, &[ch('q')], Action::Quit, "quit", "quit"),
];

/// The table as it holds for a user: some rows have keys of the user's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keymap {
    changed: HashMap<(Context, Action), Vec<Chord>>,
}

impl Keymap {
    /// Gives a row of the table these keys instead of its own; none takes them away. False where there is no such row.
    pub fn change(&mut self, context: Context, action: &str, keys: Vec<Chord>) -> bool {
        let row = BINDINGS.iter().find(|row| row.context == context && row.action.word() == action);
        let row = row.map(|row| self.changed.insert((context, row.action), keys));
        row.is_some()
    }

    /// The keys of a row.
    pub fn keys<'a>(&'a self, row: &'a Binding) -> &'a [Chord] {
        self.changed.get(&(row.context, row.action)).map_or(row.keys, Vec::as_slice)
    }

    /// The action of a key in the first of these contexts that binds it.
    pub fn action(&self, contexts: &[Context], chord: Chord) -> Option<Action> {
        contexts.iter().find_map(|&context| self.binding(context, chord)).map(|row| row.action)
    }

    /// The rows that hold in these contexts and have a key, the most special context first; one whose keys are all taken by
    /// a more special one is left out.
    pub fn rows<'a>(&'a self, contexts: &'a [Context]) -> impl Iterator<Item = &'static Binding> + 'a {
        contexts.iter().enumerate().flat_map(move |(rank, &context)| {
            BINDINGS.iter().filter(move |row| {
                let shadowed =
                    |chord: &Chord| contexts.iter().take(rank).any(|&above| self.binding(above, *chord).is_some());
                row.context == context && !self.keys(row).iter().all(shadowed)
            })
        })
    }

    /// The row of a context that has this key.
    pub fn binding(&self, context: Context, chord: Chord) -> Option<&'static Binding> {
        BINDINGS.iter().find(|row| row.context == context && self.keys(row).contains(&chord))
    }

    /// Two rows of a context that have the same key, if there are any.
    pub fn conflict(&self) -> Option<(Chord, &'static Binding, &'static Binding)> {
        let mut seen: HashMap<(Context, Chord), &'static Binding> = HashMap::new();
        BINDINGS.iter().find_map(|row| {
            self.keys(row).iter().find_map(|&chord| {
                let before = seen.insert((row.context, chord), row)?;
                Some((chord, before, row))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyEvent, KeyModifiers};
    use std::collections::HashSet;

    #[test]
    fn no_key_is_bound_twice_in_a_context() {
        assert!(Keymap::default().conflict().is_none());
    }

    #[test]
    fn every_row_has_a_name_of_its_own_in_its_context() {
        let mut seen = HashSet::new();
        for row in BINDINGS {
            assert!(seen.insert((row.context, row.action.word())), "{row:?}");
        }
    }

    #[test]
    fn keys_of_ones_own_take_the_place_of_the_tables() {
        let mut keymap = Keymap::default();
        assert!(keymap.change(Context::Jobs, "new-job", vec![ch('N'), key(KeyCode::F(5))]));
        assert!(keymap.change(Context::Jobs, "note", Vec::new()));
        assert!(!keymap.change(Context::Jobs, "next-page", vec![ch('q')]), "a row of another context");
        assert_eq!(keymap.action(&[Context::Jobs], ch('N')), Some(Action::NewJob));
        assert_eq!(keymap.action(&[Context::Jobs], ch('n')), None);
        assert!(keymap.rows(&[Context::Jobs]).all(|row| row.action != Action::Note), "without a key it is not listed");
        assert_eq!(keymap.conflict(), None);
        keymap.change(Context::Jobs, "tags", vec![ch('N')]);
        let (chord, ..) = keymap.conflict().expect("N twice");
        assert_eq!(chord, ch('N'));
    }

    #[test]
    fn every_row_has_keys_and_says_what_it_does() {
        for row in BINDINGS {
            assert!(!row.keys.is_empty() && !row.help.is_empty(), "{row:?}");
        }
    }

    #[test]
    fn a_shifted_letter_and_a_control_chord_match_however_the_terminal_reports_them() {
        let shifted = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT);
        let keymap = Keymap::default();
        assert_eq!(keymap.action(&[Context::Lists], Chord::from_event(shifted)), Some(Action::Bottom));
        let control = KeyEvent::new(KeyCode::Char('S'), KeyModifiers::CONTROL);
        assert_eq!(keymap.action(&[Context::Editor], Chord::from_event(control)), Some(Action::Send));
    }

    #[test]
    fn a_key_that_a_special_context_takes_is_not_listed_for_the_general_one() {
        let contexts = [Context::Editor, Context::Everywhere];
        let listed: Vec<Action> = Keymap::default().rows(&contexts).map(|row| row.action).collect();
        assert!(!listed.contains(&Action::Interrupt), "Ctrl-C closes the editor");
    }

    #[test]
    fn every_key_of_the_table_is_read_back_from_what_is_printed() {
        for chord in BINDINGS.iter().flat_map(|row| row.keys) {
            assert_eq!(Chord::parse(&chord.to_string()), Some(*chord), "{chord}");
        }
    }
}
