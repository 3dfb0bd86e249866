//! Actions on the marked jobs or, if no job is marked, on the selected job: open, copy, dismiss, mark as done, export.
//! Before an action on marked jobs, a confirmation lists the jobs. Tags are in `job_labels`, follow-ups in
//! `compose::bulk_follow_up`, and queued prompts in `queue`.

use super::bulk_action::{BulkAction, TagChanges, Targets};
use super::confirm::{ConfirmAction, ConfirmDialog};
use super::keymap::{Action, Context};
use super::{App, Effect, NewFile, Overwrite, Pane, Screen, Severity, format};
use crate::model::Time;
use crate::model::change::LocalChange;
use crate::model::job::{Job, JobKey};
use crate::model::json;
use crate::model::link::{self, WebLink};
use crate::model::prompt::DeliveryKind;
use crate::model::text::CleanText;
use crate::tui::{JobsEffect, PromptsEffect};

/// The text in the notice after `MarkDone` was undone: `Undone: back in “Needs you”.`
const UNDO_TEXT_OF_MARK_DONE: &str = "back in “Needs you”";
/// The text in the notice after `MarkNotDone` was undone.
const UNDO_TEXT_OF_MARK_NOT_DONE: &str = "done again";
/// The text in the notice after `Dismiss` was undone.
const UNDO_TEXT_OF_DISMISS: &str = "back in the list";
/// The text in the notice after `Restore` was undone.
const UNDO_TEXT_OF_RESTORE: &str = "dismissed again";

/// The reason for skipping a job that has an undelivered prompt.
const UNRESOLVED_PROMPT_REASON: &str = "unresolved prompt";

impl App {
    /// Whether key presses act on the marked jobs rather than on the selected job. While the job details have the
    /// focus, key presses act on the job in the details.
    pub fn acts_on_marks(&self) -> bool {
        let is_list = (self.screen == Screen::Jobs && self.pane == Pane::List) || self.all_jobs.is_some();
        is_list && self.active_list().marked_count() > 0
    }

    /// Returns the jobs that a key press acts on: the marked jobs in the list or, if key presses don't act on marks,
    /// the selected job. Empty if no job is selected.
    pub(super) fn target_keys(&self) -> Vec<JobKey> {
        let list = self.active_list();
        if self.acts_on_marks() {
            return list.marked_keys();
        }
        list.selected().map(|row| row.key).into_iter().collect()
    }

    fn jobs_with_keys<'a>(&'a self, keys: &'a [JobKey]) -> impl Iterator<Item = &'a Job> {
        keys.iter().filter_map(|key| self.active_list().get(*key))
    }

    /// Returns these jobs with their titles, and no skipped jobs.
    pub(super) fn job_targets(&self, keys: &[JobKey]) -> Targets {
        let titles = self.jobs_with_keys(keys).map(|row| row.local.title.clone()).collect();
        Targets { keys: keys.to_vec(), titles, ..Targets::default() }
    }

    /// Splits these jobs into the jobs that an action applies to and the jobs that it skips. `refusal` returns the
    /// reason for skipping a job, or `None` if the action applies to it.
    pub(super) fn split_targets(&self, keys: &[JobKey], refusal: impl Fn(&Job) -> Option<&'static str>) -> Targets {
        let mut targets = Targets::default();
        for row in self.jobs_with_keys(keys) {
            match refusal(row) {
                None => {
                    targets.keys.push(row.key);
                    targets.titles.push(row.local.title.clone());
                }
                Some(reason) => targets.skipped.push((row.local.title.clone(), reason)),
            }
        }
        targets
    }

    pub(super) fn ask_to_run_bulk(&mut self, text: String, bulk: BulkAction, targets: Targets) {
        self.open(ConfirmDialog { text, on_yes: ConfirmAction::Bulk(bulk, targets) });
    }

    /// Runs an action that the user has confirmed.
    pub(super) fn run_bulk(&mut self, bulk: BulkAction, keys: Vec<JobKey>, now: Time, effects: &mut Vec<Effect>) {
        let (jobs, undo) = (format::plural(keys.len(), "job"), self.key_label(Context::Jobs, Action::Undo));
        match bulk {
            BulkAction::OpenPrs => self.open_pr_links(&keys, effects),
            BulkAction::CopyLinks => self.copy_links_or_ids(&keys, effects),
            BulkAction::Dismiss => {
                let text = format!("{jobs} dismissed. {}", self.text_after_dismissing(&keys));
                self.active_list_mut().move_selection_off(&keys);
                self.active_list_mut().clear_marks();
                self.notify(Severity::Info, &text, now);
                self.change_jobs(keys, LocalChange::Dismissed(true), UNDO_TEXT_OF_DISMISS, effects);
            }
            BulkAction::Restore => {
                self.active_list_mut().clear_marks();
                self.change_jobs(keys, LocalChange::Dismissed(false), UNDO_TEXT_OF_RESTORE, effects);
            }
            BulkAction::MarkDone => {
                self.active_list_mut().clear_marks();
                self.notify(Severity::Info, &format!("{jobs} marked as done. Press {undo} to undo."), now);
                self.change_jobs(keys, LocalChange::Handled, UNDO_TEXT_OF_MARK_DONE, effects);
            }
            BulkAction::MarkNotDone => {
                self.active_list_mut().clear_marks();
                self.notify(Severity::Info, &format!("{jobs} moved back to “Needs you”."), now);
                self.change_jobs(keys, LocalChange::RestoreHandledAt(None), UNDO_TEXT_OF_MARK_NOT_DONE, effects);
            }
            BulkAction::Tags(changes) => self.change_tags_of_several(&keys, &changes, now, effects),
            BulkAction::Export => self.export(&keys, now, effects),
            BulkAction::FollowUp => self.submit_bulk_follow_up(keys, now, effects),
            BulkAction::Queue(change) => effects.push(Effect::Jobs(JobsEffect::ChangeQueue(keys, change))),
            BulkAction::RemoveFromQueue => {
                if self.acts_on_marks() {
                    self.jobs.clear_marks();
                }
                effects.push(Effect::Prompts(PromptsEffect::RemoveFromQueue(keys)));
            }
        }
    }

    /// Marks these jobs as seen, except jobs that have not changed since the user last viewed them.
    pub(super) fn mark_seen(&mut self, keys: &[JobKey], effects: &mut Vec<Effect>) {
        let unseen: Vec<JobKey> = self.jobs_with_keys(keys).filter(|row| row.is_unseen()).map(|row| row.key).collect();
        if !unseen.is_empty() {
            effects.push(Effect::Jobs(JobsEffect::ChangeLocalData(unseen, LocalChange::Viewed)));
        }
    }

    pub(super) fn open_prs(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let keys = self.target_keys();
        let refusal = |row: &Job| match (web_link(row), &row.remote.pr_link) {
            (Some(_), _) => None,
            (None, Some(_)) => Some("no web link"),
            (None, None) => Some("no pull request"),
        };
        let targets = self.split_targets(&keys, refusal);
        match (targets.keys.len(), keys.as_slice()) {
            (_, []) => {}
            (0, _) if self.acts_on_marks() => {
                self.notify(Severity::Info, "None of the marked jobs has a pull request.", now)
            }
            (0, [key, ..]) => match self.active_list().get(*key).and_then(|row| row.remote.pr_link.clone()) {
                Some(link) => self.notify(Severity::Info, &format!("Not opened: not a web address: {link}"), now),
                None => self.notify(Severity::Info, "This job has no pull request.", now),
            },
            (n, _) if self.acts_on_marks() => {
                self.ask_to_run_bulk(
                    format!("Open {}?", format::plural(n, "pull request")),
                    BulkAction::OpenPrs,
                    targets,
                );
            }
            _ => self.open_pr_links(&targets.keys, effects),
        }
    }

    /// Opens the pull requests of these jobs and marks the jobs as done. A job with a pull request needs the user only
    /// until the pull request has been opened.
    fn open_pr_links(&mut self, keys: &[JobKey], effects: &mut Vec<Effect>) {
        let unhandled: Vec<JobKey> =
            self.jobs_with_keys(keys).filter(|row| !row.is_handled()).map(|row| row.key).collect();
        if !unhandled.is_empty() {
            effects.push(Effect::Jobs(JobsEffect::ChangeLocalData(unhandled.clone(), LocalChange::Handled)));
        }
        let handled: Vec<JobKey> = keys.iter().copied().filter(|key| !unhandled.contains(key)).collect();
        self.mark_seen(&handled, effects);
        effects.extend(self.jobs_with_keys(keys).filter_map(web_link).cloned().map(Effect::OpenUrl));
    }

    pub(super) fn copy_links(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let keys = self.target_keys();
        let nothing = |row: &Job| link_or_id(row).is_none().then_some("no link, no id");
        let targets = self.split_targets(&keys, nothing);
        match targets.keys.len() {
            _ if keys.is_empty() => {}
            0 => self.notify(Severity::Info, "Nothing to copy: this job has no pull request and no id yet.", now),
            n if self.acts_on_marks() => {
                self.ask_to_run_bulk(
                    format!("Copy the links or ids of {}?", format::plural(n, "job")),
                    BulkAction::CopyLinks,
                    targets,
                );
            }
            _ => self.copy_links_or_ids(&targets.keys, effects),
        }
    }

    fn copy_links_or_ids(&mut self, keys: &[JobKey], effects: &mut Vec<Effect>) {
        self.mark_seen(keys, effects);
        let texts: Vec<(&str, String)> = self.jobs_with_keys(keys).filter_map(link_or_id).collect();
        let copy = match texts.as_slice() {
            [] => return,
            [(what, text)] => Effect::copy(&format!("the {what} {text}"), text.clone()),
            many => {
                let lines: Vec<&str> = many.iter().map(|(_, text)| text.as_str()).collect();
                let is_all = |kind| many.iter().all(|(what, _)| *what == kind);
                let kinds = match () {
                    () if is_all(LINK) => "links",
                    () if is_all(JOB_ID) => "job ids",
                    () => "links or ids",
                };
                Effect::copy(&format!("{} {kinds}", format::format_count(many.len())), lines.join("\n"))
            }
        };
        effects.push(copy);
    }

    pub(super) fn dismiss_or_restore(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let keys = self.target_keys();
        let undecided =
            |row: &Job| row.local.undelivered.is_some_and(|kind| kind.needs_user() || kind == DeliveryKind::Sending);
        let free: Vec<&Job> = self.jobs_with_keys(&keys).filter(|row| !undecided(row)).collect();
        let restores = !free.is_empty() && free.iter().all(|row| row.local.dismissed);
        let targets = self.split_targets(&keys, |row| match undecided(row) {
            true => Some(UNRESOLVED_PROMPT_REASON),
            false => (row.local.dismissed != restores).then_some("already dismissed"),
        });
        match targets.keys.len() {
            _ if keys.is_empty() => {}
            0 => {
                let key = self.key_label(Context::Jobs, Action::Resolve);
                let text = format!(
                    "Not dismissed: a prompt is still being sent, or is unresolved. Press {key} to resolve it."
                );
                self.notify(Severity::Info, &text, now);
            }
            n if self.acts_on_marks() => {
                let (verb, bulk) =
                    if restores { ("Restore", BulkAction::Restore) } else { ("Dismiss", BulkAction::Dismiss) };
                self.ask_to_run_bulk(format!("{verb} {}?", format::plural(n, "job")), bulk, targets);
            }
            _ if restores => {
                self.change_jobs(targets.keys, LocalChange::Dismissed(false), UNDO_TEXT_OF_RESTORE, effects)
            }
            _ => {
                let text = format!("Dismissed. {}", self.text_after_dismissing(&targets.keys));
                self.active_list_mut().move_selection_off(&targets.keys);
                self.change_jobs(targets.keys, LocalChange::Dismissed(true), UNDO_TEXT_OF_DISMISS, effects);
                self.notify(Severity::Info, &text, now);
            }
        }
    }

    /// Returns the sentences of the notice after these jobs were dismissed: how to undo this and, because dismissing a
    /// job doesn't stop its queued prompts, that they are still sent.
    fn text_after_dismissing(&self, keys: &[JobKey]) -> String {
        let undo = self.key_label(Context::Jobs, Action::Undo);
        let is_queued = |row: &&Job| row.local.undelivered == Some(DeliveryKind::Queued);
        let prompts = match (self.jobs_with_keys(keys).filter(is_queued).count(), keys.len()) {
            (0, _) => return format!("Press {undo} to undo."),
            (_, 1) => "Its queued prompt is",
            (_, _) => "Queued prompts are",
        };
        // The list of all profiles' jobs has no key that removes a prompt.
        if self.all_jobs.is_some() {
            return format!("{prompts} still sent. Press {undo} to undo.");
        }
        let remove = self.key_label(Context::Jobs, Action::RemoveFromQueue);
        let prompt = if keys.len() == 1 { "the prompt" } else { "a prompt" };
        format!("{prompts} still sent. Press {undo} to undo, then {remove} to remove {prompt}.")
    }

    /// Marks the jobs of [`Self::target_keys`] as done. If all of them are done already, moves them back to the group
    /// “Needs you” instead. Skips jobs for which [`Job::needs_action`] is false, dismissed jobs, and jobs with an
    /// unresolved prompt. If the user chose the jobs by marking them in the list, asks first.
    pub(super) fn toggle_done(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let keys = self.target_keys();
        let can_be_done = |row: &Job| row.needs_action() && !row.local.dismissed;
        let candidates: Vec<&Job> = self.jobs_with_keys(&keys).filter(|row| can_be_done(row)).collect();
        let moves_back = !candidates.is_empty() && candidates.iter().all(|row| row.is_handled());
        let targets = self.split_targets(&keys, |row| match row.local.undelivered {
            Some(kind) if kind.needs_user() => Some(UNRESOLVED_PROMPT_REASON),
            _ if !can_be_done(row) => Some("doesn't need you"),
            _ => (row.is_handled() != moves_back).then_some("already done"),
        });
        let undo = self.key_label(Context::Jobs, Action::Undo);
        match targets.keys.len() {
            _ if keys.is_empty() => {}
            0 if self.acts_on_marks() => {
                self.notify(Severity::Info, "None of the marked jobs can be marked as done.", now)
            }
            0 if targets.skipped.iter().any(|(_, reason)| *reason == UNRESOLVED_PROMPT_REASON) => {
                let key = self.key_label(Context::Jobs, Action::Resolve);
                let text = format!("This job has an unresolved prompt: press {key} to resolve it first.");
                self.notify(Severity::Info, &text, now)
            }
            0 => {
                let text = "Only failed jobs and jobs with a pull request can be marked as done.";
                self.notify(Severity::Info, text, now);
            }
            n if self.acts_on_marks() => {
                let jobs = format::plural(n, "job");
                if moves_back {
                    self.ask_to_run_bulk(format!("Move {jobs} back to “Needs you”?"), BulkAction::MarkNotDone, targets);
                } else {
                    self.ask_to_run_bulk(format!("Mark {jobs} as done?"), BulkAction::MarkDone, targets);
                }
            }
            _ if moves_back => {
                self.change_jobs(
                    targets.keys,
                    LocalChange::RestoreHandledAt(None),
                    UNDO_TEXT_OF_MARK_NOT_DONE,
                    effects,
                );
                self.notify(Severity::Info, "Moved back to “Needs you”.", now);
            }
            _ => {
                self.change_jobs(targets.keys, LocalChange::Handled, UNDO_TEXT_OF_MARK_DONE, effects);
                self.notify(Severity::Info, &format!("Marked as done. Press {undo} to undo."), now);
            }
        }
    }

    pub(super) fn export_or_ask(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let keys = self.target_keys();
        match keys.len() {
            0 => {}
            n if self.acts_on_marks() => {
                let text = format!("Export {} as JSON to the current folder?", format::plural(n, "job"));
                let targets = self.job_targets(&keys);
                self.ask_to_run_bulk(text, BulkAction::Export, targets);
            }
            _ => self.export(&keys, now, effects),
        }
    }

    fn export(&self, keys: &[JobKey], now: Time, effects: &mut Vec<Effect>) {
        let jobs: Vec<serde_json::Value> = self.jobs_with_keys(keys).map(job_json).collect();
        let at = now.with_timezone(&self.config.offset).format("%Y%m%d-%H%M%S");
        let text = format!("{:#}\n", serde_json::Value::Array(jobs));
        let what = CleanText::line(&format::plural(keys.len(), "job"));
        let file = NewFile { name: format!("docdeck-jobs-{at}.json"), text, description: what };
        effects.push(Effect::WriteFile(file, Overwrite::Never));
    }

    pub(super) fn ask_to_change_tags(&mut self, keys: &[JobKey], changes: TagChanges) {
        let text = format!("Change the tags of {}: {}?", format::plural(keys.len(), "job"), changes.summary());
        let targets = self.job_targets(keys);
        self.ask_to_run_bulk(text, BulkAction::Tags(changes), targets);
    }
}

/// The names of what can be copied from a job.
const LINK: &str = "link";
const JOB_ID: &str = "job id";

/// Returns what can be copied from a job, as a name and a text: the pull request link or, if the job has no pull
/// request, the job id. Returns `None` if the job has neither.
fn link_or_id(row: &Job) -> Option<(&'static str, String)> {
    match (&row.remote.pr_link, &row.id) {
        (Some(link), _) => Some((LINK, link::display_url(link).to_string())),
        (None, Some(id)) => Some((JOB_ID, id.to_clean_text().to_string())),
        (None, None) => None,
    }
}

/// Returns the pull request link, if docdeck may open it: only http and https links are opened.
fn web_link(row: &Job) -> Option<&CleanText> {
    row.remote.pr_link.as_ref().filter(|link| WebLink::parse(link.as_str()).is_some())
}

/// Converts a job to the JSON format of the command line, with its note and without its prompt.
fn job_json(row: &Job) -> serde_json::Value {
    let mut job = json::job_object(row, None);
    if let Some(fields) = job.as_object_mut() {
        fields.remove("prompt");
        fields.insert("note".to_owned(), row.local.note.as_ref().map(CleanText::as_str).into());
    }
    job
}
