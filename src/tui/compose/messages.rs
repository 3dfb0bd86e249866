//! The messages and effects about prompts and drafts.

use crate::model::Time;
use crate::model::analytics::signal_snapshot::SignalSnapshot;
use crate::model::change::DiscardedPrompts;
use crate::model::failure::Failure;
use crate::model::job::{Job, JobKey};
use crate::model::prompt::{DraftTarget, PromptId, PromptResolution};
use crate::model::text::CleanText;

/// A message about prompts and drafts.
#[derive(Debug)]
pub enum PromptsMsg {
    /// The prompt from an editor was saved, or could not be saved.
    Submitted { draft_target: DraftTarget, result: Result<(PromptId, Job), SubmitError> },
    /// The user retried the failed job `job`: a copy of its last prompt was saved, or could not be. The result is the
    /// job that got the copy: a new job or, if the prompt was a follow-up, the same job.
    Retried { job: JobKey, result: Result<Job, Failure> },
    /// The user's decision about an undelivered prompt was carried out, or could not be.
    Resolved { prompt: PromptId, result: Result<Job, Failure> },
    /// An undelivered prompt was discarded, or could not be. `sentence` states what discarding means for this
    /// prompt.
    Discarded { sentence: CleanText, result: Result<DiscardedPrompts, Failure> },
    /// Queued prompts were removed from the queue.
    RemovedFromQueue(Result<DiscardedPrompts, Failure>),
    /// Discarded prompts were restored. On failure, none of them was restored.
    PromptsRestored(Result<Vec<Job>, Failure>),
    /// Prompts that were sent before, without duplicates, newest first.
    HistoryLoaded(Result<Vec<String>, Failure>),
    /// The built-in templates and the user's own templates.
    TemplatesLoaded(Vec<Template>),
    /// The external editor has exited: its text, or why the text could not be edited.
    EditedExternally(Result<String, Failure>),
    /// The prompts that were read from a file.
    PromptsRead { file: String, result: Result<Vec<String>, Failure> },
    /// The jobs of a batch were saved and queued, or could not be saved.
    BatchAdded(Result<Vec<Job>, SubmitError>),
    /// A draft was saved at the time in `result`, or could not be saved.
    DraftSaved { draft_target: DraftTarget, result: Result<Time, Failure> },
    /// The saved draft for an editor that was just opened. `text` is `None` if no draft is saved or it can't be read.
    DraftRead {
        draft_target: DraftTarget,
        text: Option<String>,
        /// The pages that the draft is about.
        pages: Vec<CleanText>,
    },
}

/// A side effect about prompts and drafts.
#[derive(Debug, Clone, PartialEq)]
pub enum PromptsEffect {
    SubmitNewJob(String),
    /// Starts a new job with this prompt, and stores the pages that the job is about and their numbers.
    SubmitJobAbout(String, Vec<CleanText>, Vec<SignalSnapshot>),
    SubmitFollowUp(JobKey, String),
    /// Submits the last prompt of this failed job once more; answered by [`PromptsMsg::Retried`].
    Retry(JobKey),
    Resolve(PromptId, PromptResolution),
    /// Discards an undelivered prompt. Answered by [`PromptsMsg::Discarded`] with the same sentence, which states what
    /// discarding means for this prompt.
    Discard(PromptId, CleanText),
    /// Removes the prompts of these jobs from the queue without sending them; answered by
    /// [`PromptsMsg::RemovedFromQueue`].
    RemoveFromQueue(Vec<JobKey>),
    /// Restores discarded prompts; answered by [`PromptsMsg::PromptsRestored`]. On failure, none of them is restored.
    RestorePrompts(Vec<PromptId>),
    LoadHistory,
    LoadTemplates,
    /// Reads prompts from the file at this path; answered by [`PromptsMsg::PromptsRead`].
    ReadPrompts(String),
    /// Saves and queues new jobs, in this order.
    SubmitBatch {
        prompts: Vec<String>,
        /// The text from which the prompts were split. Empty if the prompts come from a file.
        typed_text: String,
    },
    SaveDraft(DraftTarget, String),
    /// Saves the draft of a new job about these pages.
    SaveDraftAbout(String, Vec<CleanText>),
    /// Reads a saved draft again, because another instance may have changed it.
    ReadDraft(DraftTarget),
    DeleteDraft(DraftTarget),
}

impl PromptsEffect {
    /// Returns the effect that saves a draft. `pages` is used only for the draft of a new job about pages.
    pub(in crate::tui) fn save_draft(draft_target: DraftTarget, text: String, pages: &[CleanText]) -> Self {
        match draft_target {
            DraftTarget::AboutPages => Self::SaveDraftAbout(text, pages.to_vec()),
            draft_target => Self::SaveDraft(draft_target, text),
        }
    }
}

/// Why a prompt could not be saved. Includes the prompt's text, because its editor is already closed.
#[derive(Debug, Clone, PartialEq)]
pub struct SubmitError {
    pub failure: Failure,
    pub text: String,
    /// The pages that the new job would be about.
    pub pages: Vec<CleanText>,
}

/// A text that the user can insert into a prompt and then complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub name: CleanText,
    /// The text, with blanks such as `{{path}}`.
    pub text: String,
}
