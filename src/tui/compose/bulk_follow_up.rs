//! A follow-up to several jobs: the same text is saved as one prompt per job. A notice shows the result once all
//! prompts have been saved. If some could not be saved, the text becomes a draft again.

use super::editor::Editor;
use crate::model::job::{Job, JobKey};
use crate::model::ledger::Quota;
use crate::model::prompt::{DeliveryKind, DraftTarget, PromptId};
use crate::model::text::CleanText;
use crate::tui::bulk_action::{BulkAction, Targets};
use crate::tui::component::prelude::*;
use crate::tui::state::BulkFollowUp;
use crate::tui::{PromptsEffect, SubmitError, format};

impl App {
    /// Opens the editor for a follow-up to the marked jobs or, if no job is marked, to the selected job.
    pub(in crate::tui) fn open_follow_up_to_marked_or_selected(&mut self, now: Time) {
        if !self.acts_on_marks() {
            return self.open_follow_up(now);
        }
        let targets = self.follow_up_targets();
        let Some(first) = targets.keys.first().copied() else {
            return self.notify(Severity::Info, "None of the marked jobs can take a follow-up yet.", now);
        };
        let out = match targets.skipped.len() {
            0 => String::new(),
            n => format!(" ({n} skipped)"),
        };
        let jobs = format::plural(targets.keys.len(), "marked job");
        let titles: Vec<&str> = targets.titles.iter().map(CleanText::as_str).collect();
        let title = CleanText::line(&format!("Follow-up to {jobs}{out}: {}", titles.join(", ")));
        let mut editor = self.new_editor(DraftTarget::FollowUp(first), title, now);
        editor.targets = targets.keys;
        self.open(editor);
    }

    /// Returns the marked jobs that can take a follow-up, and the marked jobs to skip.
    fn follow_up_targets(&self) -> Targets {
        self.split_targets(&self.target_keys(), |row| match row.local.undelivered {
            Some(DeliveryKind::Discarded) => Some("discarded"),
            _ if row.id.is_none() => Some("no id yet"),
            _ if row.local.gone => Some("gone"),
            _ => None,
        })
    }

    /// Submits one prompt per job, after the user has confirmed.
    pub(in crate::tui) fn submit_bulk_follow_up(&mut self, keys: Vec<JobKey>, now: Time, effects: &mut Vec<Effect>) {
        let mut taken = None;
        self.dispatch(now, effects, |dialog, cx| {
            let Some(editor) = dialog.downcast_mut::<Editor>() else { return Flow::Unhandled };
            taken = Some(editor.save_and_take_text(cx));
            Flow::Close
        });
        let Some(text) = taken else { return };
        self.jobs.clear_marks();
        self.drafts.retain(|draft_target, draft| {
            !(matches!(draft_target, DraftTarget::FollowUp(job) if keys.contains(job)) && *draft == text)
        });
        effects.extend(keys.iter().map(|key| Effect::Prompts(PromptsEffect::SubmitFollowUp(*key, text.clone()))));
        self.bulk_follow_up = Some(BulkFollowUp {
            text,
            pending_jobs: keys,
            saved_count: 0,
            failed_jobs: Vec::new(),
            failure_message: None,
        });
    }

    /// Applies the result of saving one prompt of the bulk follow-up. Returns false if the prompt doesn't belong to it.
    pub(in crate::tui) fn apply_bulk_follow_up_result(
        &mut self,
        draft_target: DraftTarget,
        result: &Result<(PromptId, Job), SubmitError>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let (Some(bulk), DraftTarget::FollowUp(job)) = (&mut self.bulk_follow_up, draft_target) else { return false };
        let Some(at) = bulk.pending_jobs.iter().position(|key| *key == job) else { return false };
        bulk.pending_jobs.remove(at);
        let row = match result {
            Ok((_, row)) => {
                bulk.saved_count += 1;
                // Saving the prompt deletes the draft of the job from the store. A draft with a different text must not
                // be lost, so it is saved again.
                match self.drafts.get(&draft_target) {
                    Some(draft) if *draft != bulk.text => {
                        effects.push(Effect::Prompts(PromptsEffect::SaveDraft(draft_target, draft.clone())))
                    }
                    _ => {}
                }
                Some(row.clone())
            }
            Err(error) => {
                bulk.failed_jobs.push(job);
                bulk.failure_message = Some(error.failure.message.clone());
                None
            }
        };
        row.into_iter().for_each(|row| self.put_job(row));
        self.is_dirty = true;
        if self.bulk_follow_up.as_ref().is_some_and(|bulk| bulk.pending_jobs.is_empty())
            && let Some(done) = self.bulk_follow_up.take()
        {
            self.finish_bulk_follow_up(done, now, effects);
        }
        true
    }

    fn finish_bulk_follow_up(&mut self, done: BulkFollowUp, now: Time, effects: &mut Vec<Effect>) {
        let written = format::plural(done.saved_count, "follow-up");
        let Some(first) = done.failed_jobs.first().copied() else {
            self.notify(Severity::Info, &format!("{written} saved; watch the list for progress."), now);
            return;
        };
        let reason = done.failure_message.unwrap_or_default();
        let why = format!("{written} saved, {} not: {reason} Send again to retry these.", done.failed_jobs.len());
        let draft_target = DraftTarget::FollowUp(first);
        self.restore_draft(draft_target, done.text, Vec::new(), &why, now, effects);
        if let Some(editor) = self.find_mut::<Editor>().filter(|editor| editor.draft_target == draft_target) {
            editor.targets = done.failed_jobs;
        }
    }
}

impl Editor {
    /// Asks for confirmation before a follow-up is sent to several jobs. Returns true if the text must not be sent now,
    /// because the user has to confirm first or because the previous follow-ups are still being saved.
    pub(super) fn intercept_bulk_follow_up(&mut self, cx: &mut Cx<'_>) -> bool {
        let app = &mut *cx.app;
        if self.targets.is_empty() || self.input.is_blank() || app.config.read_only {
            return false;
        }
        if app.bulk_follow_up.is_some() {
            self.message =
                Some(CleanText::line("The previous follow-ups are still being saved. Try again in a moment."));
            return true;
        }
        let n = self.targets.len();
        let cost = if app.is_budget_known(Quota::FollowUp) {
            let left = app.budget(Quota::FollowUp).requests_left();
            match usize::try_from(left) {
                Ok(left) if left < n => {
                    format!("Only {left} of {n} can be sent now (counted on this computer). The rest is queued.")
                }
                _ => format!("Uses {n} of {left} follow-ups left this hour (counted on this computer)."),
            }
        } else {
            format!("Uses {} of this hour's limit.", format::plural(n, "follow-up"))
        };
        let targets = Targets { skipped: app.follow_up_targets().skipped, ..app.job_targets(&self.targets) };
        app.ask_to_run_bulk(
            format!("Send this to {}? {cost}", format::plural(n, "job")),
            BulkAction::FollowUp,
            targets,
        );
        true
    }
}
