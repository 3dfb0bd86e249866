//! The layers over a screen. One enum, a stack: the topmost has the keys, Esc closes it.

use super::all_jobs::AllJobs;
use super::batch::{Batch, Step};
use super::bulk::{Bulk, Targets};
use super::editor::{Editor, Saved};
use super::help::Help;
use super::keymap::Context;
use super::palette::Palette;
use super::picker::Picker;
use super::profiles::Profiles;
use super::text_input::TextInput;
use super::tracking::parse_ids;
use super::views::calendar::{Calendar, Focus};
use super::views::card::Card;
use super::views::export::Export;
use super::views::kept::KeptRanges;
use super::views::movers::Movers;
use super::views::trend::Trend;
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
pub enum Overlay {
    Editor(Box<Editor>),
    Picker(Box<Picker>),
    Palette(Box<Palette>),
    Batch(Box<Batch>),
    Ask(Box<Ask>),
    Resolve(Box<Resolve>),
    Question(Question),
    /// The filter of the jobs list, being typed; it stands in the list's title.
    Filter(Box<TextInput>),
    Help(Box<Help>),
    Calendar(Box<Calendar>),
    /// A page's own card.
    Card(Box<Card>),
    Trend(Box<Trend>),
    Movers(Movers),
    /// How to export the page views.
    Export(Export),
    /// What is kept of page views.
    Kept(Box<KeptRanges>),
    /// The profiles of the configuration.
    Profiles(Profiles),
    /// The form for one more profile.
    Setup(Box<Welcome>),
    /// The jobs of all profiles.
    AllJobs(Box<AllJobs>),
}

impl Overlay {
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
                Step::Writing => Context::BatchText,
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
    pub(super) fn saved(&self) -> Option<&Saved> {
        match self {
            Self::Editor(editor) if !editor.is_lent => Some(&editor.saved),
            Self::Batch(batch) => Some(&batch.saved),
            _ => None,
        }
    }

    /// The draft that is to be written now, if [`Overlay::saved`] is one that `is_due`; it counts as being written.
    pub(super) fn write_draft(&mut self, is_due: impl FnOnce(&Saved) -> bool) -> Option<Effect> {
        if !self.saved().is_some_and(is_due) {
            return None;
        }
        let (slot, saved, input, pages) = match self {
            Self::Editor(editor) => (editor.slot, &mut editor.saved, &editor.input, editor.pages.as_slice()),
            Self::Batch(batch) => (DraftSlot::Batch, &mut batch.saved, &batch.input, [].as_slice()),
            _ => return None,
        };
        *saved = Saved::Writing;
        Some(Effect::save_draft(slot, input.text(), pages))
    }

    /// Whether characters are typed into it rather than being commands.
    pub fn takes_text(&self) -> bool {
        match self {
            Self::Editor(_) | Self::Ask(_) | Self::Filter(_) | Self::Palette(_) | Self::Setup(_) => true,
            Self::Picker(picker) => picker.takes_text(),
            Self::Help(help) => help.is_typing(),
            Self::Batch(batch) => matches!(batch.step, Step::Writing),
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
pub struct Ask {
    pub wanted: Wanted,
    pub input: TextInput,
    pub check: Check,
    /// The job that the value is for, named in the heading.
    pub job: Option<CleanText>,
}

/// How far the check of a value is that the service has to confirm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    NotStarted,
    Running,
    Failed(CleanText),
}

/// Which value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
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
pub enum Value {
    Id(JobId),
    Ids(Vec<JobId>),
    /// Any text; empty as well.
    Text(String),
    Number(u32),
}

impl Ask {
    /// Asks, with a text to start from.
    pub fn new(wanted: Wanted, text: &str) -> Self {
        Self { wanted, input: TextInput::line(text), check: Check::NotStarted, job: None }
    }

    /// Names the job that the value is for.
    pub fn about(mut self, job: &CleanText) -> Self {
        self.job = Some(job.clone());
        self
    }

    /// What is asked for, as a heading.
    pub fn title(&self) -> String {
        let title = match self.wanted {
            Wanted::TrackId => "Track jobs created elsewhere",
            Wanted::Title(_) => "Title",
            Wanted::Tags(_) => "Tags",
            Wanted::Note(_) => "Note",
            Wanted::FilterName => "Save this filter",
            Wanted::LinkId(_) => "Link to the job that it became",
            Wanted::PromptsFile => "A file of prompts",
            Wanted::Page => "Jump to a page of rows",
            Wanted::PageSize => "Rows per page",
        };
        self.job.as_ref().map_or_else(|| title.to_owned(), |job| format!("{title}: {job}"))
    }

    /// What to type.
    pub fn explanation(&self) -> &'static str {
        match &self.wanted {
            Wanted::TrackId => "A job's id, or a pasted list of ids, from the service's dashboard. One request each.",
            Wanted::Title(_) => "Kept on this computer. Empty goes back to the prompt's first line.",
            Wanted::Tags(jobs) if jobs.len() > 1 => "+docs adds a tag to each of these jobs, -docs takes it away.",
            Wanted::Tags(_) => "Words, like docs api. +docs adds one, -docs takes one away. Kept on this computer.",
            Wanted::Note(_) => "Kept on this computer, shown in the job's detail. Empty removes it.",
            Wanted::FilterName => "A name for its tab. It is saved in config.toml.",
            Wanted::LinkId(_) => {
                "The job's id, from the service's dashboard. One request asks for it; nothing is sent."
            }
            Wanted::PromptsFile => {
                "Text with a blank line between two prompts, .csv with a column prompt, or .jsonl. ~/ is your home folder."
            }
            Wanted::Page => "A number from 1. The service doesn't say how many pages there are.",
            Wanted::PageSize => "A number from 1 to 250. One request loads one page of rows.",
        }
    }

    /// The value, or what is wrong with it, said while typing.
    pub fn value(&self) -> Result<Value, String> {
        let typed = self.input.text();
        let typed = typed.trim();
        let number = |low: u32, high: u32| {
            let n = typed.parse().ok().filter(|n| (low..=high).contains(n));
            n.map(Value::Number).ok_or_else(|| match high {
                u32::MAX => format!("a whole number from {low}"),
                _ => format!("a whole number from {low} to {high}"),
            })
        };
        match self.wanted {
            Wanted::LinkId(_) => JobId::new(typed).map(Value::Id).ok_or_else(|| "an id".to_owned()),
            Wanted::TrackId => match parse_ids(typed) {
                ids if ids.is_empty() => Err("an id, or several apart by spaces".to_owned()),
                ids => Ok(Value::Ids(ids)),
            },
            Wanted::FilterName if CleanText::line(typed).is_empty() => Err("a name".to_owned()),
            Wanted::PromptsFile if typed.is_empty() => Err("the name of a file".to_owned()),
            Wanted::PromptsFile | Wanted::Title(_) | Wanted::Tags(_) | Wanted::Note(_) | Wanted::FilterName => {
                Ok(Value::Text(typed.to_owned()))
            }
            Wanted::Page => number(1, u32::MAX),
            Wanted::PageSize => number(LIMIT_MIN, LIMIT_MAX),
        }
    }
}

/// An undelivered prompt that the user decides about.
#[derive(Debug)]
pub struct Resolve {
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
pub struct Question {
    pub text: String,
    pub yes: Consequence,
}

/// What yes leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consequence {
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

    fn ask(wanted: Wanted, text: &str) -> Result<Value, String> {
        Ask::new(wanted, text).value()
    }

    #[test]
    fn a_wrong_value_says_what_would_be_right() {
        assert_eq!(ask(Wanted::PageSize, "251"), Err("a whole number from 1 to 250".to_owned()));
        assert_eq!(ask(Wanted::PageSize, "250"), Ok(Value::Number(250)));
        assert_eq!(ask(Wanted::Page, "0"), Err("a whole number from 1".to_owned()));
        assert!(ask(Wanted::TrackId, "  ").is_err());
    }
}
