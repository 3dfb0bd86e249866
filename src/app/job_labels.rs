//! Titles, tags and notes of one's own, and taking back what was changed on this computer.

use super::dialog::{Dialog, InputDialog, InputField, InputValue};
use super::keymap::{Action, Context};
use super::{App, Effect, Severity, format};
use crate::model::Time;
use crate::model::change::{Discarded, LocalChange};
use crate::model::failure::Failure;
use crate::model::prompt::PromptId;
use crate::model::row::{Job, JobKey, RemainingJobs};
use crate::model::text::CleanText;

/// How many changes can be taken back.
const UNDO_MAX: usize = 200;

/// How a change is undone.
#[derive(Debug)]
pub(super) enum LabelUndo {
    /// By these changes, each for jobs that were alike before.
    Change {
        /// What is taken back, in the words of the notice.
        what: String,
        changes: Vec<(Vec<JobKey>, LocalChange)>,
    },
    /// By restoring these discarded prompts of these jobs.
    Restore { prompts: Vec<PromptId>, jobs: Vec<JobKey> },
}

impl LabelUndo {
    /// Forgets the jobs that are no more; whether any is left.
    pub(super) fn keep_only(&mut self, left: &RemainingJobs) -> bool {
        match self {
            Self::Change { changes, .. } => {
                changes.iter_mut().for_each(|(keys, _)| keys.retain(|key| left.has(*key)));
                changes.retain(|(keys, _)| !keys.is_empty());
                !changes.is_empty()
            }
            // All of them are restored or none.
            Self::Restore { jobs, .. } => jobs.iter().all(|key| left.has(*key)),
        }
    }
}

/// Typed tags as changes: which to add and which to take away. `+x` adds, `-x` takes away, a bare word adds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TagChanges {
    pub add: Vec<CleanText>,
    pub remove: Vec<CleanText>,
    /// Whether any word was bare, or there was none: then those of a single job are replaced.
    pub replaces: bool,
}

impl TagChanges {
    /// Reads typed tags; of two words about one tag the last one holds.
    pub fn parse(typed: &str) -> Self {
        let mut changes = Self::default();
        for word in typed.split([' ', ',', '\t']) {
            let (minus, rest) = match (word.strip_prefix('-'), word.strip_prefix('+')) {
                (Some(rest), _) => (true, rest),
                (_, Some(rest)) => (false, rest),
                _ => (false, word),
            };
            let tags = crate::model::change::parse_tags(rest);
            changes.replaces |= rest.len() == word.len() && !tags.is_empty();
            for tag in tags {
                changes.add.retain(|other| *other != tag);
                changes.remove.retain(|other| *other != tag);
                if minus { &mut changes.remove } else { &mut changes.add }.push(tag);
            }
        }
        changes.replaces |= changes.is_empty();
        changes
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty()
    }

    /// `+docs −old`, for a question.
    pub fn words(&self) -> String {
        let add = self.add.iter().map(|tag| format!("+{tag}"));
        let remove = self.remove.iter().map(|tag| format!("-{tag}"));
        add.chain(remove).collect::<Vec<_>>().join(" ")
    }

    /// The tags of one job after the change.
    fn over(&self, tags: &[CleanText]) -> Vec<CleanText> {
        let kept = if self.replaces { &[] } else { tags };
        let mut out: Vec<CleanText> = kept.iter().filter(|tag| !self.remove.contains(tag)).cloned().collect();
        out.extend(self.add.iter().filter(|tag| !kept.contains(tag)).cloned());
        out
    }
}

impl App {
    pub(super) fn ask_title(&mut self) {
        if let Some(row) = self.listed().selected() {
            let ask = InputDialog::new(InputField::Title(row.key), row.title.as_str()).about(&row.title);
            self.dialogs.push(Dialog::Ask(Box::new(ask)));
        }
    }

    pub(super) fn ask_note(&mut self) {
        if let Some(row) = self.listed().selected() {
            let ask = InputDialog::new(InputField::Note(row.key), row.note.as_ref().map_or("", CleanText::as_str))
                .about(&row.title);
            self.dialogs.push(Dialog::Ask(Box::new(ask)));
        }
    }

    /// Asks for tags: for one job those that it has are there to be changed.
    pub(super) fn ask_tags(&mut self) {
        let keys = self.targets();
        let text = match keys.as_slice() {
            [] => return,
            [key] if !self.acts_on_marks() => {
                let tags = self.listed().get(*key).map(|row| row.tags.as_slice()).unwrap_or_default();
                tags.iter().map(CleanText::as_str).collect::<Vec<_>>().join(" ")
            }
            _ => String::new(),
        };
        self.dialogs.push(Dialog::Ask(Box::new(InputDialog::new(InputField::Tags(keys), &text))));
    }

    /// A title, tags or a note were typed.
    pub(super) fn confirm_local(
        &mut self,
        wanted: InputField,
        value: InputValue,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let InputValue::Text(text) = value else { return };
        let line = Some(CleanText::line(&text)).filter(|line| !line.is_empty());
        match wanted {
            InputField::Title(key) => {
                let same = self.listed().get(key).is_none_or(|row| line.as_ref() == Some(&row.title));
                if !same {
                    self.change(vec![key], LocalChange::Title(line), "the title", effects);
                }
            }
            InputField::Note(key) if self.listed().get(key).is_some_and(|row| row.note != line) => {
                self.change(vec![key], LocalChange::Note(line), "the note", effects);
            }
            InputField::Tags(keys) => self.tag(keys, TagChanges::parse(&text), now, effects),
            _ => {}
        }
    }

    fn tag(&mut self, keys: Vec<JobKey>, changes: TagChanges, now: Time, effects: &mut Vec<Effect>) {
        match keys.as_slice() {
            [key] if !self.acts_on_marks() => {
                let Some(row) = self.listed().get(*key) else { return };
                let tags = changes.over(&row.tags);
                if row.tags != tags {
                    self.change(keys, LocalChange::Tags(tags), "the tags", effects);
                }
            }
            _ if changes.is_empty() => self.notify(Severity::Info, "No tags were named, so nothing changed.", now),
            _ => self.ask_about_tags(&keys, changes),
        }
    }

    /// Changes the tags of many jobs, after the question.
    pub(super) fn tag_many(&mut self, keys: &[JobKey], changes: &TagChanges, now: Time, effects: &mut Vec<Effect>) {
        self.remember(keys, &LocalChange::Tags(Vec::new()), "the tags");
        if !changes.add.is_empty() {
            effects.push(Effect::Change(keys.to_vec(), LocalChange::AddTags(changes.add.clone())));
        }
        if !changes.remove.is_empty() {
            effects.push(Effect::Change(keys.to_vec(), LocalChange::RemoveTags(changes.remove.clone())));
        }
        let (jobs, back) = (format::plural(keys.len(), "job"), self.key_label(Context::Jobs, Action::Undo));
        self.notify(Severity::Info, &format!("{jobs}: {}; {back} takes it back.", changes.words()), now);
    }

    /// Asks the store for a change that `u` can take back.
    pub(super) fn change(&mut self, keys: Vec<JobKey>, change: LocalChange, what: &str, effects: &mut Vec<Effect>) {
        self.remember(&keys, &change, what);
        effects.push(Effect::Change(keys, change));
    }

    fn remember(&mut self, keys: &[JobKey], change: &LocalChange, what: &str) {
        let mut changes: Vec<(Vec<JobKey>, LocalChange)> = Vec::new();
        for row in keys.iter().filter_map(|key| self.listed().get(*key)) {
            let Some(before) = before(row, change) else { continue };
            match changes.iter_mut().find(|(_, other)| *other == before) {
                Some((keys, _)) => keys.push(row.key),
                None => changes.push((vec![row.key], before)),
            }
        }
        if changes.is_empty() {
            return;
        }
        let what = if keys.len() == 1 { what.to_owned() } else { format!("{what} of {} jobs", keys.len()) };
        self.push_undo(LabelUndo::Change { what, changes });
    }

    fn push_undo(&mut self, undo: LabelUndo) {
        self.undo.push(undo);
        if self.undo.len() > UNDO_MAX {
            self.undo.remove(0);
        }
    }

    /// Takes the last change back; a bulk one as a whole.
    pub(super) fn take_back(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(undo) = self.undo.pop() else {
            self.notify(Severity::Info, "Nothing to undo.", now);
            return;
        };
        match undo {
            LabelUndo::Change { what, changes } => {
                effects.extend(changes.into_iter().map(|(keys, change)| Effect::Change(keys, change)));
                self.notify(Severity::Info, &format!("Taken back: {what}."), now);
            }
            // The store has to agree: something may have happened to the prompts since.
            LabelUndo::Restore { prompts, .. } => effects.push(Effect::RestorePrompts(prompts)),
        }
    }

    /// Confirms that an undelivered prompt was discarded; `sentence` says what that means.
    pub(super) fn discarded(&mut self, sentence: &CleanText, result: Result<Discarded, Failure>, now: Time) {
        match result {
            Ok(discarded) => {
                let undo = self.key_label(Context::Jobs, Action::Undo);
                self.notify(Severity::Info, &format!("{sentence} {undo} undoes this."), now);
                self.take_discarded(discarded);
            }
            Err(failure) => self.notify_failure(&failure, now),
        }
    }

    /// Confirms that queued prompts were discarded.
    pub(super) fn removed_from_queue(&mut self, result: Result<Discarded, Failure>, now: Time) {
        match result {
            Ok(removed) if removed.prompts.is_empty() => {
                self.notify(Severity::Info, "Nothing was removed: no prompt of it is queued any more.", now);
            }
            Ok(removed) => {
                let undo = self.key_label(Context::Jobs, Action::Undo);
                let text = match removed.prompts.len() {
                    1 => format!("Removed from the queue before it was sent; {undo} puts it back."),
                    n => format!(
                        "{} removed from the queue before they were sent; {undo} puts them back.",
                        format::plural(n, "prompt")
                    ),
                };
                self.notify(Severity::Info, &text, now);
                self.take_discarded(removed);
            }
            Err(failure) => self.notify_failure(&failure, now),
        }
    }

    fn take_discarded(&mut self, discarded: Discarded) {
        let Discarded { prompts, rows } = discarded;
        self.push_undo(LabelUndo::Restore { prompts, jobs: rows.iter().map(|row| row.key).collect() });
        rows.into_iter().for_each(|row| self.put(row));
    }

    /// Confirms that discarded prompts have the state again that they had.
    pub(super) fn restored(&mut self, result: Result<Vec<Job>, Failure>, now: Time) {
        match result {
            Ok(rows) => {
                let text = match rows.as_slice() {
                    [Job { undelivered: Some(kind), .. }] => format!("Undone: the prompt is {} again.", kind.word()),
                    rows => format!("Undone: the prompts of {} are restored.", format::plural(rows.len(), "job")),
                };
                self.notify(Severity::Info, &text, now);
                rows.into_iter().for_each(|row| self.put(row));
            }
            Err(failure) => {
                let text = format!("Not undone. {}", failure.sentence);
                self.notify(Severity::Problem, &text, now);
            }
        }
    }
}

/// The change that brings back what a row has now.
fn before(row: &Job, change: &LocalChange) -> Option<LocalChange> {
    Some(match change {
        LocalChange::Title(_) => LocalChange::Title(row.has_own_title.then(|| row.title.clone())),
        LocalChange::Tags(_) | LocalChange::AddTags(_) | LocalChange::RemoveTags(_) => {
            LocalChange::Tags(row.tags.to_vec())
        }
        LocalChange::Note(_) => LocalChange::Note(row.note.clone()),
        LocalChange::Dismissed(_) => LocalChange::Dismissed(row.dismissed),
        LocalChange::Handled | LocalChange::HandledAt(_) => LocalChange::HandledAt(row.handled_at),
        LocalChange::Looked => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(words: &[&str]) -> Vec<CleanText> {
        words.iter().map(|word| CleanText::line(word)).collect()
    }

    #[test]
    fn signs_add_and_take_away_and_bare_words_replace() {
        let before = tags(&["docs", "old"]);
        assert_eq!(TagChanges::parse("+api -old").over(&before), tags(&["docs", "api"]));
        assert_eq!(TagChanges::parse("sso, #api").over(&before), tags(&["sso", "api"]));
        assert_eq!(TagChanges::parse("docs old -old").over(&before), tags(&["docs"]));
        assert_eq!(TagChanges::parse("docs +api").over(&before), tags(&["docs", "api"]));
        assert_eq!(TagChanges::parse("").over(&before), tags(&[]));
        assert_eq!(TagChanges::parse("+x -x").words(), "-x");
    }
}
