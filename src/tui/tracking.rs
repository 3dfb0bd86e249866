//! Tracks existing jobs, given their ids. A list of ids gets a single notice about all results.

use super::state::TrackingProgress;
use super::{App, Effect, Severity, format};
use crate::model::Time;
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::Job;
use crate::model::remote_job::JobId;
use crate::model::text::CleanText;
use crate::tui::JobsEffect;

/// How many ids a notice names; further ids are only counted.
const MAX_NAMED_IDS: usize = 3;

/// Returns the ids in a text, without duplicates. Ids are separated by white space or commas.
pub(super) fn parse_ids(typed: &str) -> Vec<JobId> {
    let mut ids: Vec<JobId> = Vec::new();
    for id in typed.split(|c: char| c.is_whitespace() || c == ',').filter_map(JobId::new) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

impl App {
    /// Requests the job of each id.
    pub(super) fn track(&mut self, ids: Vec<JobId>, now: Time, effects: &mut Vec<Effect>) {
        match ids.len() {
            1 => self.notify(Severity::Info, "Checking this job…", now),
            n => self.notify(Severity::Info, &format!("Checking {n} jobs…"), now),
        }
        if ids.len() > 1 || self.tracking.is_some() {
            let tracking = self.tracking.get_or_insert_default();
            tracking.pending_ids.extend(ids.iter().map(JobId::to_clean_text));
        }
        // Ids are opaque, so they are sent exactly as typed.
        effects.extend(ids.into_iter().map(JobsEffect::Track).map(Effect::Jobs));
    }

    /// Handles the result of tracking the job with this id. If the user entered a single id, selects the job and shows
    /// a notice. If the user entered several ids, shows one notice about all results after the last result.
    pub(super) fn apply_track_result(&mut self, id: &CleanText, result: Result<Job, Failure>, now: Time) {
        let key = result.as_ref().ok().map(|row| row.key);
        let failure = match result {
            Ok(row) => {
                self.put_job(row);
                None
            }
            Err(failure) => Some(failure),
        };
        let list = self.tracking.as_mut().and_then(|list| {
            let at = list.pending_ids.iter().position(|waiting| waiting == id)?;
            list.pending_ids.remove(at);
            Some(list)
        });
        let Some(list) = list else {
            key.into_iter().for_each(|key| self.jobs.select(key));
            match failure {
                None => self.notify(Severity::Info, &format!("Tracking {id}."), now),
                Some(failure) => self.notify_failure(&failure, now),
            }
            return;
        };
        match failure {
            None => list.tracked_count += 1,
            Some(failure) if failure.kind == FailureKind::NotFound => list.unknown_ids.push(id.clone()),
            Some(failure) => {
                list.ids_with_failed_request.push(id.clone());
                list.failure_reason = Some(failure.message);
            }
        }
        if list.pending_ids.is_empty()
            && let Some(done) = self.tracking.take()
        {
            let severity = if done.unknown_ids.is_empty() && done.ids_with_failed_request.is_empty() {
                Severity::Info
            } else {
                Severity::Warning
            };
            self.notify(severity, &done.summary(), now);
        }
    }
}

impl TrackingProgress {
    fn summary(&self) -> String {
        let mut text = format!("{} tracked", format::format_count(self.tracked_count));
        for (what, ids) in [("not found", &self.unknown_ids), ("failed", &self.ids_with_failed_request)] {
            if !ids.is_empty() {
                text.push_str(&format!("; {what}: {}", join_ids(ids)));
            }
        }
        match &self.failure_reason {
            Some(reason) => format!("{text}. {reason}"),
            None => format!("{text}."),
        }
    }
}

fn join_ids(ids: &[CleanText]) -> String {
    let named: Vec<&str> = ids.iter().take(MAX_NAMED_IDS).map(CleanText::as_str).collect();
    match ids.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
