//! The dialog for new jobs from a list: prompts are typed, pasted or read from a file, reviewed with their cost, and
//! queued in the store. The engine sends them.

use super::dialog::Dialog;
use super::editor::DraftState;
use super::input_dialog::InputField;
use super::keymap::{Action, Context};
use super::list_state::ListState;
use super::text_input::TextInput;
use super::{App, Effect, Severity, StoreState, SubmitError, format};
use crate::model::Time;
use crate::model::batch;
use crate::model::failure::Failure;
use crate::model::ledger::{Budget, RATE_LIMIT_WINDOW, RateLimited};
use crate::model::prompt::DraftTarget;
use crate::model::row::{Job, JobGroup};
use crate::model::text::CleanText;
use chrono::FixedOffset;

/// The maximum number of characters of a title in the review.
const MAX_BATCH_TITLE_CHARS: usize = 200;

#[derive(Debug)]
pub struct BatchDialog {
    /// The text with all prompts, as typed or pasted.
    pub input: TextInput,
    /// Whether the text is saved as a draft.
    pub draft_state: DraftState,
    pub step: BatchStep,
    /// The reason why the prompts can't be queued, if there is one.
    pub message: Option<CleanText>,
}

#[derive(Debug)]
pub enum BatchStep {
    Writing,
    /// The prompts are being read from this file.
    Reading(CleanText),
    Preview(Preview),
}

/// The prompts that the user reviews before they are queued.
#[derive(Debug)]
pub struct Preview {
    /// The file that the prompts were read from; `None` if they were typed.
    pub file: Option<CleanText>,
    pub prompts: Vec<String>,
    pub titles: Vec<CleanText>,
    pub list: ListState,
}

impl Preview {
    fn new(file: Option<CleanText>, prompts: Vec<String>) -> Self {
        let titles = prompts.iter().map(|prompt| CleanText::title(prompt, MAX_BATCH_TITLE_CHARS)).collect();
        Self { file, list: ListState::new(prompts.len(), 0), prompts, titles }
    }
}

/// Describes when this many new jobs would start: `140 jobs: 63 now, 77 from 14:32 on`. `ahead` is the number of queued
/// prompts that are sent before them. A request becomes available again an hour after it was used.
pub fn schedule_text(jobs: usize, ahead: usize, budget: Budget, now: Time, offset: FixedOffset) -> String {
    let left = usize::try_from(budget.requests_left()).unwrap_or(usize::MAX).saturating_sub(ahead);
    let at_once = jobs.min(left);
    let later = jobs - at_once;
    let all = format::plural(jobs, "job");
    if later == 0 {
        return match jobs {
            1 => format!("{all}, starts now"),
            2 => format!("{all}, both start now"),
            _ => format!("{all}, all start now"),
        };
    }
    // If no request was used in the last hour, the first of these jobs starts now, and its request becomes available
    // again an hour from now.
    let from = budget.resets_at.filter(|at| *at > now).unwrap_or(now + RATE_LIMIT_WINDOW).with_timezone(&offset);
    let first = if at_once == 0 { "none now".to_owned() } else { format!("{} now", format::format_count(at_once)) };
    let limit_note = if later > usize::try_from(budget.limit).unwrap_or(usize::MAX) {
        format!(", at most {} per hour", budget.limit)
    } else {
        String::new()
    };
    let from = match budget.blocked {
        Some(wait) if wait.is_estimate => format!("in {} (an estimate)", wait.time_left(now)),
        _ => format!("from {} on", from.format("%H:%M")),
    };
    format!("{all}: {first}, {} {from}{limit_note}", format::format_count(later))
}

impl App {
    pub(super) fn open_batch(&mut self, now: Time) {
        if self.store != StoreState::Read {
            return;
        }
        let text = self.drafts.get(&DraftTarget::Batch).cloned().unwrap_or_default();
        if !text.trim().is_empty() {
            self.notify(Severity::Info, "Draft restored.", now);
        }
        let input = TextInput::block(&text);
        let batch = BatchDialog { input, draft_state: DraftState::Unchanged, step: BatchStep::Writing, message: None };
        self.dialogs.push(Dialog::Batch(Box::new(batch)));
    }

    fn batch_dialog(&mut self) -> Option<&mut BatchDialog> {
        self.dialogs.iter_mut().rev().find_map(|dialog| match dialog {
            Dialog::Batch(batch) => Some(batch.as_mut()),
            _ => None,
        })
    }

    /// If the prompts are being reviewed or a file is being read, goes back to the text. Otherwise, saves the text as a
    /// draft and closes the dialog.
    pub(super) fn close_batch(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(Dialog::Batch(batch)) = self.dialogs.last_mut() else { return };
        match batch.step {
            BatchStep::Reading(_) | BatchStep::Preview(_) => batch.step = BatchStep::Writing,
            BatchStep::Writing => {
                if self.save_batch_draft(effects) {
                    let again = self.key_label(Context::Jobs, Action::Batch);
                    self.notify(Severity::Info, &format!("Draft saved; {again} opens it again."), now);
                }
                self.dialogs.pop();
            }
        }
    }

    /// Saves the text as the draft, or deletes the draft if the text is blank. Returns whether there is a draft
    /// afterwards.
    fn save_batch_draft(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(batch) = self.batch_dialog() else { return false };
        if batch.input.is_blank() {
            let was_unsaved = batch.draft_state.is_unsaved();
            batch.draft_state = DraftState::Unchanged;
            if self.drafts.remove(&DraftTarget::Batch).is_some() || was_unsaved {
                effects.push(Effect::DeleteDraft(DraftTarget::Batch));
            }
            return false;
        }
        let text = batch.input.text();
        if batch.draft_state.is_unsaved() {
            batch.draft_state = DraftState::Saving;
            effects.push(Effect::SaveDraft(DraftTarget::Batch, text.clone()));
        }
        self.drafts.insert(DraftTarget::Batch, text);
        true
    }

    pub(super) fn ask_for_file(&mut self) {
        if matches!(self.dialogs.last(), Some(Dialog::Batch(batch)) if matches!(batch.step, BatchStep::Writing)) {
            self.open_input(InputField::PromptsFile, "");
        }
    }

    pub(super) fn read_file(&mut self, file: &str, effects: &mut Vec<Effect>) {
        if let Some(batch) = self.batch_dialog() {
            batch.step = BatchStep::Reading(CleanText::line(file));
            batch.message = None;
            effects.push(Effect::ReadPrompts(file.to_owned()));
        }
    }

    /// Goes from the text to the review, or queues the prompts that the user has reviewed.
    pub(super) fn confirm_batch(&mut self, effects: &mut Vec<Effect>) {
        let rows = self.geometry().batch_rows();
        let read_only = self.config.read_only;
        let Some(Dialog::Batch(batch)) = self.dialogs.last_mut() else { return };
        match &batch.step {
            BatchStep::Writing => match batch::parse_prompts(None, &batch.input.text()) {
                Ok(prompts) => {
                    let mut preview = Preview::new(None, prompts);
                    preview.list.keep_selected_visible(rows);
                    batch.message = None;
                    batch.step = BatchStep::Preview(preview);
                    // Save the text now: when the prompts are queued, the store deletes the draft only if it contains
                    // exactly these prompts.
                    self.save_batch_draft(effects);
                }
                Err(error) => batch.message = Some(CleanText::line(&error.to_string())),
            },
            BatchStep::Preview(_) if read_only => {
                let text = "Not queued: the data folder can't be written.";
                batch.message = Some(CleanText::line(text));
            }
            BatchStep::Preview(_) => self.queue_batch(effects),
            BatchStep::Reading(_) => {}
        }
    }

    /// Returns the number of jobs that the topmost dialog would queue. Returns `None` if it is not the review of new
    /// jobs.
    pub(super) fn batch_size(&self) -> Option<usize> {
        match self.dialogs.last() {
            Some(Dialog::Batch(batch)) => match &batch.step {
                BatchStep::Preview(preview) => Some(preview.prompts.len()),
                BatchStep::Writing | BatchStep::Reading(_) => None,
            },
            _ => None,
        }
    }

    /// Describes when the jobs in the topmost dialog would start. Returns `None` if it is not the review of new jobs.
    pub fn batch_schedule(&self, now: Time) -> Option<String> {
        let jobs = self.batch_size()?;
        if !self.has_budget(RateLimited::Create) {
            return Some(format!("{}; requests left this hour: unknown", format::plural(jobs, "job")));
        }
        let ahead = self.jobs.count_of(JobGroup::Queued);
        Some(schedule_text(jobs, ahead, self.budget(RateLimited::Create), now, self.config.offset))
    }

    /// Queues the prompts and closes the dialog. If the prompts come from a file, the typed text is kept as a draft.
    fn queue_batch(&mut self, effects: &mut Vec<Effect>) {
        let typed = self.save_batch_draft(effects).then(|| self.drafts.get(&DraftTarget::Batch).cloned());
        let Some(Dialog::Batch(batch)) = self.dialogs.pop_if(|dialog| matches!(dialog, Dialog::Batch(_))) else {
            return;
        };
        let BatchStep::Preview(preview) = batch.step else { return };
        let is_typed = preview.file.is_none();
        if is_typed {
            self.drafts.remove(&DraftTarget::Batch);
        }
        let typed = typed.flatten().filter(|_| is_typed).unwrap_or_default();
        effects.push(Effect::SubmitBatch { prompts: preview.prompts, typed_text: typed });
    }

    pub(super) fn apply_prompts_file(&mut self, file: &str, result: Result<Vec<String>, Failure>) {
        let rows = self.geometry().batch_rows();
        let file = CleanText::line(file);
        let Some(batch) = self.batch_dialog() else { return };
        if !matches!(&batch.step, BatchStep::Reading(wanted) if *wanted == file) {
            return;
        }
        match result {
            Ok(prompts) => {
                let mut preview = Preview::new(Some(file), prompts);
                preview.list.keep_selected_visible(rows);
                batch.step = BatchStep::Preview(preview);
            }
            Err(failure) => {
                batch.step = BatchStep::Writing;
                batch.message = Some(failure.message);
            }
        }
        self.dirty = true;
    }

    pub(super) fn apply_queued_batch(
        &mut self,
        result: Result<Vec<Job>, SubmitError>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        self.dirty = true;
        match result {
            Ok(rows) => {
                let first = rows.first().map(|row| row.key);
                let jobs = format::plural(rows.len(), "job");
                let text = format!("{jobs} queued. Sent as the hourly limit allows, while docdeck is running.");
                rows.into_iter().for_each(|row| self.put_job(row));
                if let Some(key) = first {
                    self.jobs.select(key);
                }
                self.notify(Severity::Info, &text, now);
            }
            Err(error) => {
                let why = format!("Not queued: {}", error.failure.message);
                if error.text.is_empty() {
                    self.notify(Severity::Problem, &why, now);
                } else {
                    self.restore_draft(DraftTarget::Batch, error.text, Vec::new(), &why, now, effects);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ledger::Wait;

    fn now() -> Time {
        "2026-11-20T14:02:30Z".parse().expect("a time")
    }

    fn schedule(jobs: usize, ahead: usize, used: u32, resets: Option<&str>) -> String {
        let resets_at = resets.map(|at| at.parse().expect("a time"));
        let budget = Budget { used, limit: 100, resets_at, blocked: None };
        schedule_text(jobs, ahead, budget, now(), FixedOffset::east_opt(3600).expect("an offset"))
    }

    #[test]
    fn the_schedule_shows_how_many_jobs_start_now_and_when_the_others_start() {
        let reset = Some("2026-11-20T14:32:00Z");
        assert_eq!(schedule(140, 0, 37, reset), "140 jobs: 63 now, 77 from 15:32 on");
        assert_eq!(schedule(63, 0, 37, reset), "63 jobs, all start now");
        assert_eq!(schedule(1, 0, 99, reset), "1 job, starts now");
        assert_eq!(schedule(5, 0, 100, reset), "5 jobs: none now, 5 from 15:32 on");
    }

    #[test]
    fn queued_prompts_are_sent_before_new_jobs() {
        assert_eq!(schedule(10, 95, 0, None), "10 jobs: 5 now, 5 from 16:02 on");
        assert_eq!(schedule(10, 200, 0, None), "10 jobs: none now, 10 from 16:02 on");
    }

    #[test]
    fn the_schedule_shows_the_hourly_limit_if_more_jobs_are_waiting() {
        assert_eq!(schedule(350, 0, 0, None), "350 jobs: 100 now, 250 from 16:02 on, at most 100 per hour");
    }

    #[test]
    fn after_a_429_no_job_starts_before_the_wait_is_over() {
        let until = Some("2026-11-20T14:03:30Z".parse().expect("a time"));
        let blocked = until.map(|until| Wait { until, is_estimate: false });
        let budget = Budget { used: 3, limit: 100, resets_at: until, blocked };
        let text = schedule_text(2, 0, budget, now(), FixedOffset::east_opt(0).expect("UTC"));
        assert_eq!(text, "2 jobs: none now, 2 from 14:03 on");
    }
}
