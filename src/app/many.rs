//! A follow-up to several jobs: one text, one prompt for each job, each on disk before anything is said to be.

use super::bulk::Bulk;
use super::overlay::Overlay;
use super::{App, Effect, SubmitError, Tone, format};
use crate::model::Time;
use crate::model::ledger::Limited;
use crate::model::prompt::{DraftSlot, PromptId};
use crate::model::row::{JobKey, JobRow};
use crate::model::text::CleanText;

/// One that is being written to disk.
#[derive(Debug)]
pub(super) struct Many {
    text: String,
    waiting: Vec<JobKey>,
    written: usize,
    failed: Vec<JobKey>,
    reason: Option<CleanText>,
}

impl App {
    /// `f`: to the marked jobs, else to the selected one.
    pub(super) fn follow_up(&mut self, now: Time) {
        let targets = self.targets();
        if let [key] = targets.as_slice() {
            self.jobs.select(*key);
            self.open_follow_up(now);
            return;
        }
        let takes = |key: &JobKey| self.jobs.get(*key).is_some_and(|row| row.id.is_some() && !row.gone);
        let able: Vec<JobKey> = targets.iter().copied().filter(takes).collect();
        let Some(first) = able.first().copied() else {
            if !targets.is_empty() {
                self.say(Tone::Info, "None of the marked jobs can take a follow-up yet.", now);
            }
            return;
        };
        let out = match targets.len() - able.len() {
            0 => String::new(),
            n => format!(", {n} more can't take one"),
        };
        let title = CleanText::line(&format!("Follow-up to {}{out}", format::plural(able.len(), "job")));
        self.open_editor(DraftSlot::FollowUp(first), title, now);
        if let Some(Overlay::Editor(editor)) = self.overlays.last_mut() {
            editor.targets = able;
        }
    }

    /// Sending to more than one job is asked about first; whether it was.
    pub(super) fn asks_before_sending(&mut self) -> bool {
        let (busy, read_only) = (self.many.is_some(), self.start.read_only);
        let Some(Overlay::Editor(editor)) = self.overlays.last_mut() else { return false };
        if editor.targets.len() < 2 || editor.is_lent || editor.input.is_blank() || read_only {
            return false;
        }
        if busy {
            editor.message =
                Some(CleanText::line("The previous follow-ups are still being saved: try again in a moment."));
            return true;
        }
        let keys = editor.targets.clone();
        let n = keys.len();
        let price = if self.knows_budget(Limited::FollowUp) {
            let left = self.budget(Limited::FollowUp).left();
            let waits =
                if usize::try_from(left).is_ok_and(|left| left < n) { " The rest waits for its turn." } else { "" };
            format!("It takes {n} of the {left} follow-ups left this hour, as known here.{waits}")
        } else {
            format!("It takes {n} follow-ups of this hour's.")
        };
        self.question(format!("Send this to {n} jobs? {price}"), Bulk::FollowUp, keys);
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
        self.many = Some(Many { text, waiting: keys, written: 0, failed: Vec::new(), reason: None });
    }

    /// One of them is on disk, or could not be written; false for an answer about something else.
    pub(super) fn submitted_to_one_of_many(
        &mut self,
        slot: DraftSlot,
        result: &Result<(PromptId, JobRow), SubmitError>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let (Some(many), DraftSlot::FollowUp(job)) = (&mut self.many, slot) else { return false };
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
        if self.many.as_ref().is_some_and(|many| many.waiting.is_empty())
            && let Some(done) = self.many.take()
        {
            self.many_are_written(done, now, effects);
        }
        true
    }

    fn many_are_written(&mut self, done: Many, now: Time, effects: &mut Vec<Effect>) {
        let written = format::plural(done.written, "follow-up");
        let Some(first) = done.failed.first().copied() else {
            self.say(Tone::Info, &format!("{written} saved; watch the list for progress."), now);
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
