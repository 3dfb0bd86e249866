//! The user's own titles, tags and notes, and undo of changes made on this computer.

use super::bulk_action::TagChanges;
use super::input_dialog::{InputDialog, InputField, InputValue};
use super::keymap::{Action, Context};
use super::state::JobUndo;
use super::{App, Effect, Severity, format};
use crate::model::Time;
use crate::model::change::{DiscardedPrompts, LocalChange};
use crate::model::failure::Failure;
use crate::model::job::{Job, JobKey, LocalState};
use crate::model::text::CleanText;
use crate::tui::{JobsEffect, PromptsEffect};

/// The maximum number of changes that can be undone.
const MAX_UNDO: usize = 200;

impl App {
    pub(super) fn ask_title(&mut self) {
        if let Some(row) = self.active_list().selected() {
            let ask = InputDialog::new(InputField::Title(row.key), row.local.title.as_str()).with_job(&row.local.title);
            self.open(ask);
        }
    }

    pub(super) fn ask_note(&mut self) {
        if let Some(row) = self.active_list().selected() {
            let ask =
                InputDialog::new(InputField::Note(row.key), row.local.note.as_ref().map_or("", CleanText::as_str))
                    .with_job(&row.local.title);
            self.open(ask);
        }
    }

    /// Asks for tags. For a single job, the input starts with the current tags of the job.
    pub(super) fn ask_tags(&mut self) {
        let keys = self.target_keys();
        let text = match keys.as_slice() {
            [] => return,
            [key] if !self.acts_on_marks() => {
                let tags = self.active_list().get(*key).map(|row| row.local.tags.as_slice()).unwrap_or_default();
                tags.iter().map(CleanText::as_str).collect::<Vec<_>>().join(" ")
            }
            _ => String::new(),
        };
        self.open_input(InputField::Tags(keys), &text);
    }

    /// Applies a typed title, tags or note.
    pub(super) fn apply_title_tags_or_note(
        &mut self,
        field: InputField,
        value: InputValue,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let InputValue::Text(text) = value else { return };
        let line = Some(CleanText::line(&text)).filter(|line| !line.is_empty());
        match field {
            InputField::Title(key) => {
                let same = self.active_list().get(key).is_none_or(|row| line.as_ref() == Some(&row.local.title));
                if !same {
                    self.change_jobs(vec![key], LocalChange::Title(line), "the previous title is back", effects);
                }
            }
            InputField::Note(key) if self.active_list().get(key).is_some_and(|row| row.local.note != line) => {
                self.change_jobs(vec![key], LocalChange::Note(line), "the previous note is back", effects);
            }
            InputField::Tags(keys) => self.change_tags(keys, TagChanges::parse(&text), now, effects),
            _ => {}
        }
    }

    fn change_tags(&mut self, keys: Vec<JobKey>, changes: TagChanges, now: Time, effects: &mut Vec<Effect>) {
        match keys.as_slice() {
            [key] if !self.acts_on_marks() => {
                let Some(row) = self.active_list().get(*key) else { return };
                let tags = changes.apply_to(&row.local.tags);
                if row.local.tags != tags {
                    self.change_jobs(keys, LocalChange::Tags(tags), "the previous tags are back", effects);
                }
            }
            _ if changes.is_empty() => self.notify(Severity::Info, "No tags given. Nothing changed.", now),
            _ => self.ask_to_change_tags(&keys, changes),
        }
    }

    /// Changes the tags of several jobs, after the user confirmed.
    pub(super) fn change_tags_of_several(
        &mut self,
        keys: &[JobKey],
        changes: &TagChanges,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        self.record_undo(keys, &LocalChange::Tags(Vec::new()), "the previous tags are back");
        if !changes.add.is_empty() {
            effects.push(Effect::Jobs(JobsEffect::ChangeLocalData(
                keys.to_vec(),
                LocalChange::AddTags(changes.add.clone()),
            )));
        }
        if !changes.remove.is_empty() {
            effects.push(Effect::Jobs(JobsEffect::ChangeLocalData(
                keys.to_vec(),
                LocalChange::RemoveTags(changes.remove.clone()),
            )));
        }
        let (jobs, undo) = (format::plural(keys.len(), "job"), self.key_label(Context::Jobs, Action::Undo));
        self.notify(Severity::Info, &format!("{jobs}: {}. Press {undo} to undo.", changes.summary()), now);
    }

    /// Changes jobs in the store, and adds the change to the undo stack if it can be undone. The notice after the undo
    /// shows `undo_text` after the word `Undone:`.
    pub(super) fn change_jobs(
        &mut self,
        keys: Vec<JobKey>,
        change: LocalChange,
        undo_text: &str,
        effects: &mut Vec<Effect>,
    ) {
        self.record_undo(&keys, &change, undo_text);
        effects.push(Effect::Jobs(JobsEffect::ChangeLocalData(keys, change)));
    }

    fn record_undo(&mut self, keys: &[JobKey], change: &LocalChange, undo_text: &str) {
        let mut changes: Vec<(Vec<JobKey>, LocalChange)> = Vec::new();
        for row in keys.iter().filter_map(|key| self.active_list().get(*key)) {
            let Some(before) = inverse(row, change) else { continue };
            match changes.iter_mut().find(|(_, other)| *other == before) {
                Some((keys, _)) => keys.push(row.key),
                None => changes.push((vec![row.key], before)),
            }
        }
        if changes.is_empty() {
            return;
        }
        let job_count = keys.len();
        let undo_text = if job_count == 1 { undo_text.to_owned() } else { format!("{undo_text} ({job_count} jobs)") };
        self.push_undo(JobUndo::Change { undo_text, changes });
    }

    fn push_undo(&mut self, undo: JobUndo) {
        self.undo_stack.push(undo);
        if self.undo_stack.len() > MAX_UNDO {
            self.undo_stack.remove(0);
        }
    }

    /// Undoes the last change. A change of several jobs is undone as a whole.
    pub(super) fn undo_last_change(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(undo) = self.undo_stack.pop() else {
            self.notify(Severity::Info, "Nothing to undo.", now);
            return;
        };
        match undo {
            JobUndo::Change { undo_text, changes } => {
                effects.extend(
                    changes.into_iter().map(|(keys, change)| Effect::Jobs(JobsEffect::ChangeLocalData(keys, change))),
                );
                self.notify(Severity::Info, &format!("Undone: {undo_text}."), now);
            }
            // The store may refuse to restore the prompts, because they may have changed since they were discarded.
            JobUndo::Restore { prompts, .. } => effects.push(Effect::Prompts(PromptsEffect::RestorePrompts(prompts))),
        }
    }

    /// Shows a notice that an undelivered prompt was discarded, or why not. `explanation` is a sentence about what
    /// discarding means for the job.
    pub(super) fn apply_discard_result(
        &mut self,
        explanation: &CleanText,
        result: Result<DiscardedPrompts, Failure>,
        now: Time,
    ) {
        match result {
            Ok(discarded) => {
                let undo = self.key_label(Context::Jobs, Action::Undo);
                self.notify(Severity::Info, &format!("{explanation} Press {undo} to undo."), now);
                self.apply_discarded(discarded);
            }
            Err(failure) => self.notify_failure(&failure, now),
        }
    }

    /// Shows a notice that queued prompts were removed from the queue, or why not.
    pub(super) fn apply_queue_removal_result(&mut self, result: Result<DiscardedPrompts, Failure>, now: Time) {
        match result {
            Ok(removed) if removed.prompts.is_empty() => {
                self.notify(Severity::Info, "Nothing was removed: no prompt is queued any more.", now);
            }
            Ok(removed) => {
                let undo = self.key_label(Context::Jobs, Action::Undo);
                let text = match removed.prompts.len() {
                    1 => format!("Removed from the queue, not sent. Press {undo} to undo."),
                    n => {
                        format!(
                            "{} removed from the queue, not sent. Press {undo} to undo.",
                            format::plural(n, "prompt")
                        )
                    }
                };
                self.notify(Severity::Info, &text, now);
                self.apply_discarded(removed);
            }
            Err(failure) => self.notify_failure(&failure, now),
        }
    }

    fn apply_discarded(&mut self, discarded: DiscardedPrompts) {
        let DiscardedPrompts { prompts, jobs } = discarded;
        self.push_undo(JobUndo::Restore { prompts, jobs: jobs.iter().map(|row| row.key).collect() });
        jobs.into_iter().for_each(|row| self.put_job(row));
    }

    /// Shows a notice that discarded prompts have their previous state again, or why not.
    pub(super) fn apply_restore_result(&mut self, result: Result<Vec<Job>, Failure>, now: Time) {
        match result {
            Ok(rows) => {
                let text = match rows.as_slice() {
                    [Job { local: LocalState { undelivered: Some(kind), .. }, .. }] => {
                        format!("Undone: the prompt is {} again.", kind.word())
                    }
                    rows => format!("Undone: the prompts of {} are restored.", format::plural(rows.len(), "job")),
                };
                self.notify(Severity::Info, &text, now);
                rows.into_iter().for_each(|row| self.put_job(row));
            }
            Err(failure) => {
                let text = format!("Not undone. {}", failure.message);
                self.notify(Severity::Error, &text, now);
            }
        }
    }
}

/// Returns the change that undoes `change` by restoring the current values of a row. Returns `None` if `change` can't
/// be undone.
fn inverse(row: &Job, change: &LocalChange) -> Option<LocalChange> {
    Some(match change {
        LocalChange::Title(_) => LocalChange::Title(row.local.has_custom_title.then(|| row.local.title.clone())),
        LocalChange::Tags(_) | LocalChange::AddTags(_) | LocalChange::RemoveTags(_) => {
            LocalChange::Tags(row.local.tags.to_vec())
        }
        LocalChange::Note(_) => LocalChange::Note(row.local.note.clone()),
        LocalChange::Dismissed(_) => LocalChange::Dismissed(row.local.dismissed),
        LocalChange::Handled | LocalChange::RestoreHandledAt(_) => LocalChange::RestoreHandledAt(row.local.handled_at),
        LocalChange::Viewed => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(words: &[&str]) -> Vec<CleanText> {
        words.iter().map(|word| CleanText::line(word)).collect()
    }

    #[test]
    fn signed_tags_are_added_or_removed_and_bare_tags_replace_all() {
        let before = tags(&["docs", "old"]);
        assert_eq!(TagChanges::parse("+api -old").apply_to(&before), tags(&["docs", "api"]));
        assert_eq!(TagChanges::parse("sso, #api").apply_to(&before), tags(&["sso", "api"]));
        assert_eq!(TagChanges::parse("docs old -old").apply_to(&before), tags(&["docs"]));
        assert_eq!(TagChanges::parse("docs +api").apply_to(&before), tags(&["docs", "api"]));
        assert_eq!(TagChanges::parse("").apply_to(&before), tags(&[]));
        assert_eq!(TagChanges::parse("+x -x").summary(), "-x");
    }
}
