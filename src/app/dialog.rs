//! The layers over a screen. One enum, a stack: the topmost has the keys, Esc closes it.

use super::all_jobs::AllJobs;
use super::batch::{BatchDialog, BatchStep};
use super::bulk::{Bulk, Targets};
use super::editor::{DraftState, Editor};
use super::help::Help;
use super::keymap::Context;
use super::palette::CommandPalette;
use super::picker::Picker;
use super::profiles::ProfilesDialog;
use super::text_input::TextInput;
use super::tracking::parse_ids;
use super::views::cached_ranges::CachedRanges;
use super::views::calendar::{Calendar, Focus};
use super::views::export::ExportDialog;
use super::views::movers::Movers;
use super::views::page_detail::PageDetail;
use super::views::trend::TrendDialog;
use super::welcome::Welcome;
use super::{Effect, NewFile, SavedFilter};
use crate::model::Time;
use crate::model::job::JobId;
use crate::model::period::DateRange;
use crate::model::prompt::{DraftSlot, Prompt, PromptId, Resolution};
use crate::model::report::LoadPlan;
use crate::model::row::JobKey;
use crate::model::setup::WritePermission;
use crate::model::text::CleanText;
use crate::model::views::{LIMIT_MAX, LIMIT_MIN};

/// A layer.
#[derive(Debug)]
pub enum Dialog {
    Editor(Box<Editor>),
    Picker(Box<Picker>),
    Palette(Box<CommandPalette>),
    Batch(Box<BatchDialog>),
    Ask(Box<InputDialog>),
    Resolve(Box<UndeliveredDialog>),
    Question(ConfirmDialog),
    /// The filter of the jobs list, being typed; it stands in the list's title.
    Filter(Box<TextInput>),
    Help(Box<Help>),
    Calendar(Box<Calendar>),
    /// A page's own card.
    Card(Box<PageDetail>),
    Trend(Box<TrendDialog>),
    Movers(Movers),
    /// How to export the page views.
    Export(ExportDialog),
    /// What is kept of page views.
    Kept(Box<CachedRanges>),
    /// The profiles of the configuration.
    Profiles(ProfilesDialog),
    /// The form for one more profile.
    Setup(Box<Welcome>),
    /// The jobs of all profiles.
    AllJobs(Box<AllJobs>),
}

impl Dialog {
    /// Shows its text from the start, as far as the cursor allows: there is another amount of room now.
    pub(super) fn unscroll(&mut self) {
        match self {
            Self::Editor(editor) => editor.input.unscroll(),
            Self::Batch(batch) => batch.input.unscroll(),
            Self::Ask(ask) => ask.input.unscroll(),
            _ => {}
        }
    }

    /// The context whose keys hold while it is on top.
    pub fn context(&self) -> Context {
        match self {
            Self::Editor(_) => Context::Editor,
            Self::Palette(_) => Context::Palette,
            Self::Picker(picker) if picker.takes_text() => Context::Pick,
            Self::Picker(_) => Context::Drafts,
            Self::Batch(batch) => match batch.step {
                BatchStep::Writing => Context::BatchText,
                _ => Context::Batch,
            },
            Self::Ask(_) => Context::Ask,
            Self::Resolve(_) => Context::Resolve,
            Self::Question(_) => Context::Question,
            Self::Filter(_) => Context::Filter,
            Self::Help(help) if help.is_typing() => Context::Filter,
            Self::Help(_) => Context::Help,
            Self::Calendar(open) => match open.focus {
                Focus::Days => Context::Calendar,
                Focus::Line => Context::CalendarLine,
            },
            Self::Card(_) => Context::Card,
            Self::Trend(_) => Context::Trend,
            Self::Movers(_) => Context::Movers,
            Self::Export(_) => Context::Export,
            Self::Kept(_) => Context::Kept,
            Self::Profiles(_) => Context::Profiles,
            Self::Setup(form) => form.context(),
            Self::AllJobs(_) => Context::AllJobs,
        }
    }

    /// Whether it is the help, with only some of its lines.
    pub(super) fn is_narrowed_help(&self) -> bool {
        matches!(self, Self::Help(help) if help.words().is_some())
    }

    /// The editor, if it is one.
    pub(super) fn as_editor(&self) -> Option<&Editor> {
        match self {
            Self::Editor(editor) => Some(editor),
            _ => None,
        }
    }

    /// The editor, if it is one.
    pub(super) fn as_editor_mut(&mut self) -> Option<&mut Editor> {
        match self {
            Self::Editor(editor) => Some(editor),
            _ => None,
        }
    }

    /// Whether what is typed into it is on disk; none where it is no draft (any more).
    pub(super) fn saved(&self) -> Option<&DraftState> {
        match self {
            Self::Editor(editor) if !editor.is_lent => Some(&editor.saved),
            Self::Batch(batch) => Some(&batch.saved),
            _ => None,
        }
    }

    /// The draft that is to be written now, if [`Overlay::saved`] is one that `is_due`; it counts as being written.
    pub(super) fn write_draft(&mut self, is_due: impl FnOnce(&DraftState) -> bool) -> Option<Effect> {
        if !self.saved().is_some_and(is_due) {
            return None;
        }
        let (slot, saved, input, pages) = match self {
            Self::Editor(editor) => (editor.slot, &mut editor.saved, &editor.input, editor.pages.as_slice()),
            Self::Batch(batch) => (DraftSlot::Batch, &mut batch.saved, &batch.input, [].as_slice()),
            _ => return None,
        };
        *saved = DraftState::Writing;
        Some(Effect::save_draft(slot, input.text(), pages))
    }

    /// Whether characters are typed into it rather than being commands.
    pub fn takes_text(&self) -> bool {
        match self {
            Self::Editor(_) | Self::Ask(_) | Self::Filter(_) | Self::Palette(_) | Self::Setup(_) => true,
            Self::Picker(picker) => picker.takes_text(),
            Self::Help(help) => help.is_typing(),
            Self::Batch(batch) => matches!(batch.step, BatchStep::Writing),
            // Digits and signs of a date are typed; arrows and some letters move.
            Self::Calendar(_) => true,
            Self::Resolve(_)
            | Self::Question(_)
            | Self::Card(_)
            | Self::Trend(_)
            | Self::Movers(_)
            | Self::Export(_)
            | Self::Kept(_)
            | Self::Profiles(_)
            | Self::AllJobs(_) => false,
        }
    }
}

/// A value that is asked for.
#[derive(Debug)]
pub struct InputDialog {
    pub wanted: InputField,
    pub input: TextInput,
    pub check: InputCheck,
    /// The job that the value is for, named in the heading.
    pub job: Option<CleanText>,
}

/// How far the check of a value is that the service has to confirm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputCheck {
    NotStarted,
    Running,
    Failed(CleanText),
}

/// Which value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputField {
    /// Ids of jobs created elsewhere.
    TrackId,
    /// The id of the job that an unconfirmed prompt made.
    LinkId(PromptId),
    /// A file of prompts.
    PromptsFile,
    /// A page of rows.
    Page,
    /// Rows per page.
    PageSize,
    /// A title of one's own for this job.
    Title(JobKey),
    /// Tags of these jobs.
    Tags(Vec<JobKey>),
    /// A note on this job.
    Note(JobKey),
    /// A name for the filter that holds.
    FilterName,
}

/// A value that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputValue {
    Id(JobId),
    Ids(Vec<JobId>),
    /// Any text; empty as well.
    Text(String),
    Number(u32),
}

impl InputDialog {
    /// Asks, with a text to start from.
    pub fn new(wanted: InputField, text: &str) -> Self {
        Self { wanted, input: TextInput::line(text), check: InputCheck::NotStarted, job: None }
    }

    /// Names the job that the value is for.
    pub fn about(mut self, job: &CleanText) -> Self {
        self.job = Some(job.clone());
        self
    }

    /// What is asked for, as a heading.
    pub fn title(&self) -> String {
        let title = match self.wanted {
            InputField::TrackId => "Track jobs created elsewhere",
            InputField::Title(_) => "Title",
            InputField::Tags(_) => "Tags",
            InputField::Note(_) => "Note",
            InputField::FilterName => "Save this filter",
            InputField::LinkId(_) => "Link to the job that it became",
            InputField::PromptsFile => "A file of prompts",
            InputField::Page => "Jump to a page of rows",
            InputField::PageSize => "Rows per page",
        };
        self.job.as_ref().map_or_else(|| title.to_owned(), |job| format!("{title}: {job}"))
    }

    /// What to type.
    pub fn explanation(&self) -> &'static str {
        match &self.wanted {
            InputField::TrackId => {
                "A job's id, or a pasted list of ids, from the service's dashboard. One request each."
            }
            InputField::Title(_) => "Kept on this computer. Empty goes back to the prompt's first line.",
            InputField::Tags(jobs) if jobs.len() > 1 => "+docs adds a tag to each of these jobs, -docs takes it away.",
            InputField::Tags(_) => "Words, like docs api. +docs adds one, -docs takes one away. Kept on this computer.",
            InputField::Note(_) => "Kept on this computer, shown in the job's detail. Empty removes it.",
            InputField::FilterName => "A name for its tab. It is saved in config.toml.",
            InputField::LinkId(_) => {
                "The job's id, from the service's dashboard. One request asks for it; nothing is sent."
            }
            InputField::PromptsFile => {
                "Text with a blank line between two prompts, .csv with a column prompt, or .jsonl. ~/ is your home folder."
            }
            InputField::Page => "A number from 1. The service doesn't say how many pages there are.",
            InputField::PageSize => "A number from 1 to 250. One request loads one page of rows.",
        }
    }

    /// The value, or what is wrong with it, said while typing.
    pub fn value(&self) -> Result<InputValue, String> {
        let typed = self.input.text();
        let typed = typed.trim();
        let number = |low: u32, high: u32| {
            let n = typed.parse().ok().filter(|n| (low..=high).contains(n));
            n.map(InputValue::Number).ok_or_else(|| match high {
                u32::MAX => format!("a whole number from {low}"),
                _ => format!("a whole number from {low} to {high}"),
            })
        };
        match self.wanted {
            InputField::LinkId(_) => JobId::new(typed).map(InputValue::Id).ok_or_else(|| "an id".to_owned()),
            InputField::TrackId => match parse_ids(typed) {
                ids if ids.is_empty() => Err("an id, or several apart by spaces".to_owned()),
                ids => Ok(InputValue::Ids(ids)),
            },
            InputField::FilterName if CleanText::line(typed).is_empty() => Err("a name".to_owned()),
            InputField::PromptsFile if typed.is_empty() => Err("the name of a file".to_owned()),
            InputField::PromptsFile
            | InputField::Title(_)
            | InputField::Tags(_)
            | InputField::Note(_)
            | InputField::FilterName => Ok(InputValue::Text(typed.to_owned())),
            InputField::Page => number(1, u32::MAX),
            InputField::PageSize => number(LIMIT_MIN, LIMIT_MAX),
        }
    }
}

/// An undelivered prompt that the user decides about.
#[derive(Debug)]
pub struct UndeliveredDialog {
    pub job: JobKey,
    pub title: CleanText,
    pub prompt: Prompt,
    /// Whether the job exists at the service, so that it can be looked at.
    pub has_id: bool,
    /// When it went out.
    pub sent_at: Option<Time>,
    /// First visible line.
    pub scroll: usize,
}

/// A question for yes; anything else is no.
#[derive(Debug)]
pub struct ConfirmDialog {
    pub text: String,
    pub yes: ConfirmAction,
}

/// What yes leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmAction {
    Resolve(PromptId, Resolution),
    DeleteDraft(DraftSlot),
    /// The draft is gone on with.
    OpenDraft(DraftSlot),
    /// A new job about these pages is begun, whose draft was about others.
    BeginAbout(Vec<CleanText>),
    /// The same for each of these jobs.
    Bulk(Bulk, Targets),
    /// All pages of these ranges are loaded, one after the other.
    LoadAll(Vec<LoadPlan>),
    /// The totals of these ranges are asked for.
    LoadTotals(Vec<DateRange>),
    /// The profile of the welcome page is written, as far as that is allowed.
    SaveProfile(WritePermission),
    /// docdeck ends although prompts are queued.
    Quit,
    /// A file that is there is written over.
    Overwrite(NewFile),
    /// A saved filter is replaced by this one.
    ReplaceFilter(SavedFilter),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(wanted: InputField, text: &str) -> Result<InputValue, String> {
        InputDialog::new(wanted, text).value()
    }

    #[test]
    fn a_wrong_value_says_what_would_be_right() {
        assert_eq!(ask(InputField::PageSize, "251"), Err("a whole number from 1 to 250".to_owned()));
        assert_eq!(ask(InputField::PageSize, "250"), Ok(InputValue::Number(250)));
        assert_eq!(ask(InputField::Page, "0"), Err("a whole number from 1".to_owned()));
        assert!(ask(InputField::TrackId, "  ").is_err());
    }
}
