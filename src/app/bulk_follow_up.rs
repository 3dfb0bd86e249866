//! A follow-up to several jobs: one text, one prompt for each job, each on disk before anything is said to be.

use super::bulk::{Bulk, Targets};
use super::dialog::Dialog;
use super::{App, Effect, Severity, SubmitError, format};
use crate::model::Time;
use crate::model::ledger::RateLimited;
use crate::model::prompt::{DeliveryKind, DraftSlot, PromptId};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;

/// One that is being written to disk.
#[derive(Debug)]
pub(super) struct BulkFollowUp {
    text: String,
    waiting: Vec<JobKey>,
    written: usize,
    failed: Vec<JobKey>,
    reason: Option<CleanText>,
}

impl App {
    /// `f`: to the marked jobs, or without marks to the selected one.
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
            n => format!(", {n} left out"),
        };
        let jobs = format::plural(targets.keys.len(), "marked job");
        let titles: Vec<&str> = targets.titles.iter().map(CleanText::as_str).collect();
        let title = CleanText::line(&format!("Follow-up to {jobs}{out}: {}", titles.join(", ")));
        self.open_editor(DraftSlot::FollowUp(first), title, now);
        if let Some(Dialog::Editor(editor)) = self.dialogs.last_mut() {
            editor.targets = targets.keys;
        }
    }

    /// The marked jobs that take a follow-up, and those that don't.
    fn follow_up_targets(&self) -> Targets {
        self.split_targets(&self.targets(), |row| match row.undelivered {
            Some(DeliveryKind::Discarded) => Some("discarded"),
            _ if row.id.is_none() => Some("no id yet"),
            _ if row.gone => Some("gone"),
            _ => None,
        })
    }

    /// Sending to marked jobs is asked about first, and names them; whether it was.
    pub(super) fn asks_before_sending(&mut self) -> bool {
        let (busy, read_only) = (self.bulk_follow_up.is_some(), self.config.read_only);
        let Some(Dialog::Editor(editor)) = self.dialogs.last_mut() else { return false };
        if editor.targets.is_empty() || editor.is_lent || editor.input.is_blank() || read_only {
            return false;
        }
        if busy {
            editor.message =
                Some(CleanText::line("The previous follow-ups are still being saved: try again in a moment."));
            return true;
        }
        let keys = editor.targets.clone();
        let n = keys.len();
        let cost = if self.knows_budget(RateLimited::FollowUp) {
            let left = self.budget(RateLimited::FollowUp).left();
            let waits = if usize::try_from(left).is_ok_and(|left| left < n) { " The rest is queued." } else { "" };
            format!("Uses {n} of {left} follow-ups left this hour, this computer.{waits}")
        } else {
            format!("Uses {} of this hour's limit.", format::plural(n, "follow-up"))
        };
        let targets = Targets { left_out: self.follow_up_targets().left_out, ..self.job_targets(&keys) };
        self.question(format!("Send this to {}? {cost}", format::plural(n, "job")), Bulk::FollowUp, targets);
        true
    }

    /// Yes was said: one prompt for each job.
    pub(super) fn submit_to_many(&mut self, keys: Vec<JobKey>, effects: &mut Vec<Effect>) {
        let Some(editor) = self.take_editor(effects) else { return };
        self.jobs.clear_marks();
        let text = editor.input.text();
        self.drafts
            .retain(|slot, draft| !(matches!(slot, DraftSlot::FollowUp(job) if keys.contains(job)) && *draft == text));
        effects.extend(keys.iter().map(|key| Effect::SubmitFollowUp(*key, text.clone())));
        self.bulk_follow_up = Some(BulkFollowUp { text, waiting: keys, written: 0, failed: Vec::new(), reason: None });
    }

    /// One of them is on disk, or could not be written; false for an answer about something else.
    pub(super) fn submitted_to_one_of_many(
        &mut self,
        slot: DraftSlot,
        result: &Result<(PromptId, Job), SubmitError>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let (Some(many), DraftSlot::FollowUp(job)) = (&mut self.bulk_follow_up, slot) else { return false };
        let Some(at) = many.waiting.iter().position(|key| *key == job) else { return false };
        many.waiting.remove(at);
        let row = match result {
            Ok((_, row)) => {
                many.written += 1;
                // With the prompt the store takes the job's draft away; one about something else is put back.
                match self.drafts.get(&slot) {
                    Some(own) if *own != many.text => effects.push(Effect::SaveDraft(slot, own.clone())),
                    _ => {}
                }
                Some(row.clone())
            }
            Err(error) => {
                many.failed.push(job);
                many.reason = Some(error.failure.sentence.clone());
                None
            }
        };
        row.into_iter().for_each(|row| self.put(row));
        self.dirty = true;
        if self.bulk_follow_up.as_ref().is_some_and(|many| many.waiting.is_empty())
            && let Some(done) = self.bulk_follow_up.take()
        {
            self.many_are_written(done, now, effects);
        }
        true
    }

    fn many_are_written(&mut self, done: BulkFollowUp, now: Time, effects: &mut Vec<Effect>) {
        let written = format::plural(done.written, "follow-up");
        let Some(first) = done.failed.first().copied() else {
            self.notify(Severity::Info, &format!("{written} saved; watch the list for progress."), now);
            return;
        };
        let reason = done.reason.unwrap_or_default();
        let why = format!("{written} saved, {} not: {reason} Sending again goes only to those.", done.failed.len());
        let slot = DraftSlot::FollowUp(first);
        self.restore_draft(slot, done.text, Vec::new(), &why, now, effects);
        if let Some(editor) = self.editor().filter(|editor| editor.slot == slot) {
            editor.targets = done.failed;
        }
    }
}
