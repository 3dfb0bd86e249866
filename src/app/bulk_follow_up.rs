//! A follow-up to several jobs: the same text as one prompt per job. The result is reported once all of them are saved.

use super::bulk::{Bulk, Targets};
use super::dialog::Dialog;
use super::{App, Effect, Severity, SubmitError, format};
use crate::model::Time;
use crate::model::ledger::RateLimited;
use crate::model::prompt::{DeliveryKind, DraftSlot, PromptId};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;

/// A follow-up to several jobs that is being saved.
#[derive(Debug)]
pub(super) struct BulkFollowUp {
    text: String,
    waiting: Vec<JobKey>,
    written: usize,
    failed: Vec<JobKey>,
    reason: Option<CleanText>,
}

impl App {
    /// Opens the editor for a follow-up to the marked jobs, or to the selected one if none is marked.
    pub(super) fn follow_up(&mut self, now: Time) {
        if !self.acts_on_marks() {
            return self.open_follow_up(now);
        }
        let targets = self.follow_up_targets();
        let Some(first) = targets.keys.first().copied() else {
            return self.notify(Severity::Info, "None of the marked jobs can take a follow-up yet.", now);
        };
        let out = match targets.left_out.len() {
            0 => String::new(),
            n => format!(", {n} skipped"),
        };
        let jobs = format::plural(targets.keys.len(), "marked job");
        let titles: Vec<&str> = targets.titles.iter().map(CleanText::as_str).collect();
        let title = CleanText::line(&format!("Follow-up to {jobs}{out}: {}", titles.join(", ")));
        self.open_editor(DraftSlot::FollowUp(first), title, now);
        if let Some(Dialog::Editor(editor)) = self.dialogs.last_mut() {
            editor.targets = targets.keys;
        }
    }

    /// The marked jobs that can take a follow-up, and those to skip.
    fn follow_up_targets(&self) -> Targets {
        self.split_targets(&self.targets(), |row| match row.undelivered {
            Some(DeliveryKind::Discarded) => Some("discarded"),
            _ if row.id.is_none() => Some("no id yet"),
            _ if row.gone => Some("gone"),
            _ => None,
        })
    }

    /// Asks before a follow-up is sent to the marked jobs, and lists them. Returns false if there is nothing to ask.
    pub(super) fn asks_before_sending(&mut self) -> bool {
        let (busy, read_only) = (self.bulk_follow_up.is_some(), self.config.read_only);
        let Some(Dialog::Editor(editor)) = self.dialogs.last_mut() else { return false };
        if editor.targets.is_empty() || editor.is_in_external_editor || editor.input.is_blank() || read_only {
            return false;
        }
        if busy {
            editor.message =
                Some(CleanText::line("The previous follow-ups are still being saved. Try again in a moment."));
            return true;
        }
        let keys = editor.targets.clone();
        let n = keys.len();
        let cost = if self.has_budget(RateLimited::FollowUp) {
            let left = self.budget(RateLimited::FollowUp).left();
            let waits = if usize::try_from(left).is_ok_and(|left| left < n) { " The rest is queued." } else { "" };
            format!("Uses {n} of {left} follow-ups left this hour, this computer.{waits}")
        } else {
            format!("Uses {} of this hour's limit.", format::plural(n, "follow-up"))
        };
        let targets = Targets { left_out: self.follow_up_targets().left_out, ..self.job_targets(&keys) };
        self.confirm_bulk(format!("Send this to {}? {cost}", format::plural(n, "job")), Bulk::FollowUp, targets);
        true
    }

    /// Submits one prompt per job, after the user has confirmed.
    pub(super) fn submit_bulk_follow_up(&mut self, keys: Vec<JobKey>, effects: &mut Vec<Effect>) {
        let Some(editor) = self.close_sent_editor(effects) else { return };
        self.jobs.clear_marks();
        let text = editor.input.text();
        self.drafts
            .retain(|slot, draft| !(matches!(slot, DraftSlot::FollowUp(job) if keys.contains(job)) && *draft == text));
        effects.extend(keys.iter().map(|key| Effect::SubmitFollowUp(*key, text.clone())));
        self.bulk_follow_up = Some(BulkFollowUp { text, waiting: keys, written: 0, failed: Vec::new(), reason: None });
    }

    /// Applies the result of saving one of the prompts. Returns false if the result belongs to another prompt.
    pub(super) fn bulk_follow_up_saved(
        &mut self,
        slot: DraftSlot,
        result: &Result<(PromptId, Job), SubmitError>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let (Some(bulk), DraftSlot::FollowUp(job)) = (&mut self.bulk_follow_up, slot) else { return false };
        let Some(at) = bulk.waiting.iter().position(|key| *key == job) else { return false };
        bulk.waiting.remove(at);
        let row = match result {
            Ok((_, row)) => {
                bulk.written += 1;
                // Saving the prompt deletes the draft of the job from the store; a different draft is saved again.
                match self.drafts.get(&slot) {
                    Some(draft) if *draft != bulk.text => effects.push(Effect::SaveDraft(slot, draft.clone())),
                    _ => {}
                }
                Some(row.clone())
            }
            Err(error) => {
                bulk.failed.push(job);
                bulk.reason = Some(error.failure.message.clone());
                None
            }
        };
        row.into_iter().for_each(|row| self.put_job(row));
        self.dirty = true;
        if self.bulk_follow_up.as_ref().is_some_and(|bulk| bulk.waiting.is_empty())
            && let Some(done) = self.bulk_follow_up.take()
        {
            self.finish_bulk_follow_up(done, now, effects);
        }
        true
    }

    fn finish_bulk_follow_up(&mut self, done: BulkFollowUp, now: Time, effects: &mut Vec<Effect>) {
        let written = format::plural(done.written, "follow-up");
        let Some(first) = done.failed.first().copied() else {
            self.notify(Severity::Info, &format!("{written} saved; watch the list for progress."), now);
            return;
        };
        let reason = done.reason.unwrap_or_default();
        let why = format!("{written} saved, {} not: {reason} Send again to retry these.", done.failed.len());
        let slot = DraftSlot::FollowUp(first);
        self.restore_draft(slot, done.text, Vec::new(), &why, now, effects);
        if let Some(editor) = self.editor().filter(|editor| editor.slot == slot) {
            editor.targets = done.failed;
        }
    }
}
