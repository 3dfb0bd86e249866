//! What is done to the marked jobs, else to the selected one: opening, copying, dismissing, exporting, and the question
//! before it is done to more than one. Tags are `local`'s, follow-ups `many`'s.

use super::keymap::{Action, Context};
use super::local::TagChanges;
use super::overlay::{Consequence, Overlay, Question};
use super::{App, Effect, NewFile, Overwrite, Pane, Tone, format};
use crate::model::Time;
use crate::model::change::LocalChange;
use crate::model::json;
use crate::model::link::{self, WebLink};
use crate::model::prompt::DeliveryKind;
use crate::model::row::{JobKey, JobRow};
use crate::model::text::CleanText;

/// What is done to each of several jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bulk {
    OpenPrs,
    CopyLinks,
    Dismiss,
    TakeBack,
    Tags(TagChanges),
    Export,
    /// The text of the editor below the question.
    FollowUp,
}

impl App {
    /// The jobs that a key works on: the marked ones that have a line, else the selected one. A detail is of one job.
    pub(super) fn targets(&self) -> Vec<JobKey> {
        let list = self.listed();
        let is_list = self.pane == Pane::List || self.all_jobs().is_some();
        if is_list && list.marked() > 0 {
            return list.marked_keys();
        }
        list.selected().map(|row| row.key).into_iter().collect()
    }

    fn rows<'a>(&'a self, keys: &'a [JobKey]) -> impl Iterator<Item = &'a JobRow> {
        keys.iter().filter_map(|key| self.listed().get(*key))
    }

    pub(super) fn question(&mut self, text: String, bulk: Bulk, keys: Vec<JobKey>) {
        self.overlays.push(Overlay::Question(Question { text, yes: Consequence::Bulk(bulk, keys) }));
    }

    /// Yes was said.
    pub(super) fn carry_out(&mut self, bulk: Bulk, keys: Vec<JobKey>, now: Time, effects: &mut Vec<Effect>) {
        match bulk {
            Bulk::OpenPrs => self.open_all(&keys, effects),
            Bulk::CopyLinks => self.copy_all(&keys, effects),
            Bulk::Dismiss => {
                self.listed_mut().leave(&keys);
                self.listed_mut().clear_marks();
                let (jobs, back) = (format::plural(keys.len(), "job"), self.told(Context::Jobs, Action::Undo));
                self.say(Tone::Info, &format!("{jobs} dismissed; {back} takes it back."), now);
                self.change(keys, LocalChange::Dismissed(true), "dismissing", effects);
            }
            Bulk::TakeBack => {
                self.listed_mut().clear_marks();
                self.change(keys, LocalChange::Dismissed(false), "taking back", effects);
            }
            Bulk::Tags(changes) => self.tag_many(&keys, &changes, now, effects),
            Bulk::Export => self.export(&keys, now, effects),
            Bulk::FollowUp => self.submit_to_many(keys, effects),
        }
    }

    /// These jobs were looked at.
    pub(super) fn look_at(&mut self, keys: &[JobKey], effects: &mut Vec<Effect>) {
        let unseen: Vec<JobKey> = self.rows(keys).filter(|row| row.is_unseen()).map(|row| row.key).collect();
        if !unseen.is_empty() {
            effects.push(Effect::Change(unseen, LocalChange::Looked));
        }
    }

    pub(super) fn open_prs(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let targets = self.targets();
        let (keys, rest): (Vec<JobKey>, Vec<JobKey>) =
            targets.iter().partition(|key| self.listed().get(**key).is_some_and(|row| web_link(row).is_some()));
        match (keys.len(), targets.as_slice()) {
            (_, []) => {}
            (0, [key]) => match self.listed().get(*key).and_then(|row| row.pr_link.clone()) {
                Some(link) => self.say(Tone::Problem, &format!("Not opened, since it is no web address: {link}"), now),
                None => self.say(Tone::Info, "This job has no pull request.", now),
            },
            (0, _) => self.say(Tone::Info, "None of the marked jobs has a pull request.", now),
            (1, _) => self.open_all(&keys, effects),
            (n, _) => {
                let text = format!("Open {n} pull requests?{}", left_out(rest.len(), "has none", "have none"));
                self.question(text, Bulk::OpenPrs, keys);
            }
        }
    }

    fn open_all(&mut self, keys: &[JobKey], effects: &mut Vec<Effect>) {
        self.look_at(keys, effects);
        effects.extend(self.rows(keys).filter_map(web_link).cloned().map(Effect::OpenUrl));
    }

    pub(super) fn copy_links(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let targets = self.targets();
        let (keys, rest): (Vec<JobKey>, Vec<JobKey>) =
            targets.iter().partition(|key| self.listed().get(**key).is_some_and(|row| main_text(row).is_some()));
        match (keys.len(), targets.len()) {
            (_, 0) => {}
            (0, _) => self.say(Tone::Info, "There is nothing to copy: no pull request and no id yet.", now),
            (1, _) => self.copy_all(&keys, effects),
            (n, _) => {
                let text = format!("Copy {n} links or ids?{}", left_out(rest.len(), "has neither", "have neither"));
                self.question(text, Bulk::CopyLinks, keys);
            }
        }
    }

    fn copy_all(&mut self, keys: &[JobKey], effects: &mut Vec<Effect>) {
        self.look_at(keys, effects);
        let texts: Vec<(&str, String)> = self.rows(keys).filter_map(main_text).collect();
        let copy = match texts.as_slice() {
            [] => return,
            [(what, text)] => Effect::copy(&format!("the {what} {text}"), text.clone()),
            many => {
                let lines: Vec<&str> = many.iter().map(|(_, text)| text.as_str()).collect();
                Effect::copy(&format!("{} links", many.len()), lines.join("\n"))
            }
        };
        effects.push(copy);
    }

    pub(super) fn dismiss(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let targets = self.targets();
        let undecided =
            |row: &&JobRow| row.undelivered.is_some_and(|kind| kind.needs_user() || kind == DeliveryKind::Sending);
        let kept = self.rows(&targets).filter(undecided).count();
        let free: Vec<&JobRow> = self.rows(&targets).filter(|row| !undecided(row)).collect();
        let back = !free.is_empty() && free.iter().all(|row| row.dismissed);
        let keys: Vec<JobKey> = free.iter().filter(|row| row.dismissed == back).map(|row| row.key).collect();
        match (keys.len(), targets.len()) {
            (_, 0) => {}
            (0, _) => {
                self.say(Tone::Info, "It has a prompt that was not delivered: press ! to decide about that first.", now)
            }
            (1, 1) if back => self.change(keys, LocalChange::Dismissed(false), "taking back", effects),
            (1, 1) => {
                self.listed_mut().leave(&keys);
                self.change(keys, LocalChange::Dismissed(true), "dismissing", effects);
                let back = self.told(Context::Jobs, Action::Undo);
                self.say(Tone::Info, &format!("Dismissed; {back} takes it back."), now);
            }
            (n, _) => {
                let (verb, bulk) = if back { ("Take back", Bulk::TakeBack) } else { ("Dismiss", Bulk::Dismiss) };
                let rest = left_out(kept, "has an undelivered prompt and stays", "have undelivered prompts and stay");
                self.question(format!("{verb} {}?{rest}", format::plural(n, "job")), bulk, keys);
            }
        }
    }

    pub(super) fn ask_export(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let keys = self.targets();
        match keys.len() {
            0 => {}
            1 => self.export(&keys, now, effects),
            n => self.question(format!("Export {n} jobs as JSON into the current folder?"), Bulk::Export, keys),
        }
    }

    fn export(&self, keys: &[JobKey], now: Time, effects: &mut Vec<Effect>) {
        let jobs: Vec<serde_json::Value> = self.rows(keys).map(exported).collect();
        let at = now.with_timezone(&self.start.offset).format("%Y%m%d-%H%M%S");
        let text = format!("{:#}\n", serde_json::Value::Array(jobs));
        let what = CleanText::line(&format::plural(keys.len(), "job"));
        let file = NewFile { name: format!("docdeck-jobs-{at}.json"), text, what };
        effects.push(Effect::WriteFile(file, Overwrite::Never));
    }

    pub(super) fn ask_about_tags(&mut self, keys: Vec<JobKey>, changes: TagChanges) {
        let text = format!("Change the tags of {} jobs: {}?", keys.len(), changes.words());
        self.question(text, Bulk::Tags(changes), keys);
    }
}

/// What a question says of the marked jobs that are left out.
fn left_out(n: usize, one: &str, several: &str) -> String {
    match n {
        0 => String::new(),
        1 => format!(" 1 more {one}."),
        n => format!(" {n} more {several}."),
    }
}

/// What `y` copies of a job.
fn main_text(row: &JobRow) -> Option<(&'static str, String)> {
    match (&row.pr_link, &row.id) {
        (Some(link), _) => Some(("link", link::shown(link).to_string())),
        (None, Some(id)) => Some(("job's id", id.clean().to_string())),
        (None, None) => None,
    }
}

/// The pull request, where docdeck gives it to an opener: http and https alone.
fn web_link(row: &JobRow) -> Option<&CleanText> {
    row.pr_link.as_ref().filter(|link| WebLink::parse(link.as_str()).is_some())
}

/// A job as the commands write it, with its note and without its prompt.
fn exported(row: &JobRow) -> serde_json::Value {
    let mut job = json::job(row, None);
    if let Some(fields) = job.as_object_mut() {
        fields.remove("prompt");
        fields.insert("note".to_owned(), row.note.as_ref().map(CleanText::as_str).into());
    }
    job
}
