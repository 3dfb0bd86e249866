//! The dialogs that are shown over a screen. They form a stack: key presses go to the topmost dialog, and Esc closes
//! it.

use super::all_jobs::AllJobs;
use super::batch::{BatchDialog, BatchStep};
use super::bulk::{BulkAction, Targets};
use super::component::Component;
use super::editor::{DraftState, Editor};
use super::keymap::Context;
use super::picker::Picker;
use super::text_input::TextInput;
use super::tracking::parse_ids;
use super::{Effect, NewFile, SavedFilter};
use crate::model::Time;
use crate::model::job::JobId;
use crate::model::period::DateRange;
use crate::model::prompt::{DraftTarget, Prompt, PromptId, Resolution};
use crate::model::report::LoadPlan;
use crate::model::row::JobKey;
use crate::model::setup::WritePermission;
use crate::model::text::CleanText;
use crate::model::views::{MAX_PAGE_SIZE, MIN_PAGE_SIZE};

#[derive(Debug)]
pub enum Dialog {
    Editor(Box<Editor>),
    Picker(Box<Picker>),
    Batch(Box<BatchDialog>),
    Input(Box<InputDialog>),
    Undelivered(Box<UndeliveredDialog>),
    Confirm(ConfirmDialog),
    /// The filter of the jobs or of the page views, while the user edits it in place.
    Filter(Box<TextInput>),
    AllJobs(Box<AllJobs>),
    Component(Box<dyn Component>),
}

impl Dialog {
    /// Scrolls the text input towards its start, as far as possible without hiding the cursor. Called after the size of
    /// the dialog has changed.
    pub(super) fn scroll_to_start(&mut self) {
        match self {
            Self::Editor(editor) => editor.input.reset_scroll(),
            Self::Batch(batch) => batch.input.reset_scroll(),
            Self::Input(dialog) => dialog.input.reset_scroll(),
            Self::Component(dialog) => dialog.input().into_iter().for_each(TextInput::reset_scroll),
            _ => {}
        }
    }

    /// Returns the context whose key bindings apply while the dialog is on top.
    pub fn context(&self) -> Context {
        match self {
            Self::Editor(_) => Context::Editor,
            Self::Picker(picker) if picker.takes_text() => Context::Picker,
            Self::Picker(_) => Context::Drafts,
            Self::Batch(batch) => match batch.step {
                BatchStep::Writing => Context::BatchText,
                _ => Context::Batch,
            },
            Self::Input(_) => Context::Input,
            Self::Undelivered(_) => Context::Resolve,
            Self::Confirm(_) => Context::Confirm,
            Self::Filter(_) => Context::Filter,
            Self::AllJobs(_) => Context::AllJobs,
            Self::Component(dialog) => dialog.context(),
        }
    }

    pub(super) fn as_component(&self) -> Option<&dyn Component> {
        match self {
            Self::Component(dialog) => Some(dialog.as_ref()),
            _ => None,
        }
    }

    pub(super) fn as_component_mut(&mut self) -> Option<&mut dyn Component> {
        match self {
            Self::Component(dialog) => Some(dialog.as_mut()),
            _ => None,
        }
    }

    /// Whether the dialog is of this type.
    pub fn is<T: Component>(&self) -> bool {
        self.as_component().is_some_and(|dialog| dialog.downcast_ref::<T>().is_some())
    }

    pub(super) fn as_editor(&self) -> Option<&Editor> {
        match self {
            Self::Editor(editor) => Some(editor),
            _ => None,
        }
    }

    pub(super) fn as_editor_mut(&mut self) -> Option<&mut Editor> {
        match self {
            Self::Editor(editor) => Some(editor),
            _ => None,
        }
    }

    /// Returns whether the typed text is saved as a draft. Returns `None` if the dialog has no draft or its text is
    /// open in an external editor.
    pub(super) fn draft_state(&self) -> Option<&DraftState> {
        match self {
            Self::Editor(editor) if !editor.is_in_external_editor => Some(&editor.draft_state),
            Self::Batch(batch) => Some(&batch.draft_state),
            _ => None,
        }
    }

    /// If the dialog has a draft and `is_due` returns true for the state of the draft, sets the state to `Saving` and
    /// returns the effect that saves the draft.
    pub(super) fn save_draft_if(&mut self, is_due: impl FnOnce(&DraftState) -> bool) -> Option<Effect> {
        if !self.draft_state().is_some_and(is_due) {
            return None;
        }
        let (slot, saved, input, pages) = match self {
            Self::Editor(editor) => (editor.slot, &mut editor.draft_state, &editor.input, editor.pages.as_slice()),
            Self::Batch(batch) => (DraftTarget::Batch, &mut batch.draft_state, &batch.input, [].as_slice()),
            _ => return None,
        };
        *saved = DraftState::Saving;
        Some(Effect::save_draft(slot, input.text(), pages))
    }

    /// Whether typed characters go to a text input rather than to key bindings.
    pub fn takes_text(&self) -> bool {
        match self {
            Self::Component(dialog) => dialog.takes_text(),
            Self::Editor(_) | Self::Input(_) | Self::Filter(_) => true,
            Self::Picker(picker) => picker.takes_text(),
            Self::Batch(batch) => matches!(batch.step, BatchStep::Writing),
            Self::Undelivered(_) | Self::Confirm(_) | Self::AllJobs(_) => false,
        }
    }
}

/// A dialog that asks for one value.
#[derive(Debug)]
pub struct InputDialog {
    pub field: InputField,
    pub input: TextInput,
    pub check: InputCheck,
    /// The title of the job that the value is for. It is part of the title of the dialog.
    pub job: Option<CleanText>,
}

/// The state of checking the value with a request to the service. Only the id of a job to link is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputCheck {
    NotStarted,
    Running,
    Failed(CleanText),
}

/// The value that an [`InputDialog`] asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputField {
    /// The ids of the jobs to track. These jobs were not created with docdeck.
    TrackId,
    /// The id of the job that an `Unconfirmed` prompt created.
    LinkId(PromptId),
    /// The path of a file with prompts.
    PromptsFile,
    /// The number of the page of rows to go to.
    Page,
    /// The number of rows per page.
    PageSize,
    Title(JobKey),
    Tags(Vec<JobKey>),
    Note(JobKey),
    /// A name under which to save the current filter.
    FilterName,
}

/// The parsed value of an [`InputDialog`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputValue {
    Id(JobId),
    Ids(Vec<JobId>),
    /// Any text, possibly empty.
    Text(String),
    Number(u32),
}

impl InputDialog {
    /// Creates the dialog with an initial text.
    pub fn new(field: InputField, text: &str) -> Self {
        Self { field, input: TextInput::line(text), check: InputCheck::NotStarted, job: None }
    }

    /// Adds the title of the job that the value is for to the title of the dialog.
    pub fn with_job(mut self, job: &CleanText) -> Self {
        self.job = Some(job.clone());
        self
    }

    /// Returns the title of the dialog.
    pub fn title(&self) -> String {
        let title = match self.field {
            InputField::TrackId => "Track jobs created elsewhere",
            InputField::Title(_) => "Rename job",
            InputField::Tags(_) => "Tags",
            InputField::Note(_) => "Note",
            InputField::FilterName => "Save this filter",
            InputField::LinkId(_) => "Link to an existing job",
            InputField::PromptsFile => "Prompts from a file",
            InputField::Page => "Go to a page of rows",
            InputField::PageSize => "Rows per page",
        };
        self.job.as_ref().map_or_else(|| title.to_owned(), |job| format!("{title}: {job}"))
    }

    /// Returns a short explanation of what to type.
    pub fn explanation(&self) -> &'static str {
        match &self.field {
            InputField::TrackId => "A job id, or a list of ids, from the service's dashboard. One request each.",
            InputField::Title(_) => "Saved on this computer. Empty: the prompt's first line.",
            InputField::Tags(jobs) if jobs.len() > 1 => "+docs adds a tag to each of these jobs, -docs removes it.",
            InputField::Tags(_) => "Tags, e.g. docs api; +docs adds, -docs removes. Saved on this computer.",
            InputField::Note(_) => "Saved on this computer, shown in the job details. Empty removes it.",
            InputField::FilterName => "The name of its tab. Saved in config.toml.",
            InputField::LinkId(_) => {
                "The job id, from the service's dashboard. One request checks it; no prompt is sent."
            }
            InputField::PromptsFile => "A path: text (blank lines between prompts), .csv (column “prompt”) or .jsonl.",
            InputField::Page => "A number from 1. The total number of pages is unknown.",
            InputField::PageSize => "A number from 1 to 250. One request loads one page of rows.",
        }
    }

    /// Parses the value.
    ///
    /// # Errors
    /// Returns a short description of a valid value, which is shown while the user types.
    pub fn value(&self) -> Result<InputValue, String> {
        let typed = self.input.text();
        let typed = typed.trim();
        let number = |low: u32, high: u32| {
            let n = typed.parse().ok().filter(|n| (low..=high).contains(n));
            n.map(InputValue::Number).ok_or_else(|| match high {
                u32::MAX => format!("a whole number from {low} up"),
                _ => format!("a whole number from {low} to {high}"),
            })
        };
        match self.field {
            InputField::LinkId(_) => JobId::new(typed).map(InputValue::Id).ok_or_else(|| "an id".to_owned()),
            InputField::TrackId => match parse_ids(typed) {
                ids if ids.is_empty() => Err("one or more ids, separated by spaces".to_owned()),
                ids => Ok(InputValue::Ids(ids)),
            },
            InputField::FilterName if CleanText::line(typed).is_empty() => Err("a name".to_owned()),
            InputField::PromptsFile if typed.is_empty() => Err("a file name".to_owned()),
            InputField::PromptsFile
            | InputField::Title(_)
            | InputField::Tags(_)
            | InputField::Note(_)
            | InputField::FilterName => Ok(InputValue::Text(typed.to_owned())),
            InputField::Page => number(1, u32::MAX),
            InputField::PageSize => number(MIN_PAGE_SIZE, MAX_PAGE_SIZE),
        }
    }
}

/// The dialog in which the user decides about an undelivered prompt.
#[derive(Debug)]
pub struct UndeliveredDialog {
    pub job: JobKey,
    pub title: CleanText,
    pub prompt: Prompt,
    /// Whether the job has an id, so that it can be checked.
    pub has_id: bool,
    /// When the prompt was last sent; `None` if it was never sent.
    pub sent_at: Option<Time>,
    /// The index of the first visible line.
    pub scroll: usize,
}

/// A question that the user confirms or cancels. Every keyboard key except the key for yes cancels.
#[derive(Debug)]
pub struct ConfirmDialog {
    pub text: String,
    pub on_yes: ConfirmAction,
}

/// The action that runs when the user confirms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmAction {
    Resolve(PromptId, Resolution),
    DeleteDraft(DraftTarget),
    OpenDraft(DraftTarget),
    /// Starts a draft about these pages. An existing draft about other pages becomes the draft of a new job.
    NewDraftAbout(Vec<CleanText>),
    /// Runs an action on each of these jobs.
    Bulk(BulkAction, Targets),
    /// Loads all page views of these date ranges, one range after the other.
    LoadAll(Vec<LoadPlan>),
    /// Fetches the total page views of these date ranges.
    LoadTotals(Vec<DateRange>),
    /// Saves the profile of the setup form. The permission limits what may be written to the configuration file.
    SaveProfile(WritePermission),
    /// Quits although prompts are queued.
    Quit,
    /// Overwrites an existing file.
    Overwrite(NewFile),
    /// Replaces the saved filter with the same name.
    ReplaceFilter(SavedFilter),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(wanted: InputField, text: &str) -> Result<InputValue, String> {
        InputDialog::new(wanted, text).value()
    }

    #[test]
    fn the_error_for_an_invalid_value_describes_a_valid_value() {
        assert_eq!(ask(InputField::PageSize, "251"), Err("a whole number from 1 to 250".to_owned()));
        assert_eq!(ask(InputField::PageSize, "250"), Ok(InputValue::Number(250)));
        assert_eq!(ask(InputField::Page, "0"), Err("a whole number from 1 up".to_owned()));
        assert!(ask(InputField::TrackId, "  ").is_err());
    }
}
