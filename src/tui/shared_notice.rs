//! Joins notices about jobs that change at almost the same time.

use crate::model::Time;
use crate::model::job::JobKey;
use crate::model::text::CleanText;
use chrono::TimeDelta;

/// How long after its first job a notice is extended by further jobs.
const EXTENSION_TIME: TimeDelta = TimeDelta::seconds(1);

/// The jobs of one notice, each with the text that the notice shows if the job is the only one. Changed jobs arrive one
/// by one, even if they have changed at the same time, and a notice for each would hide the one before.
#[derive(Debug, Default)]
pub(super) struct SharedNotice {
    jobs: Vec<(JobKey, CleanText)>,
    /// When the first job was added; `None` if no job was ever added.
    begun_at: Option<Time>,
}

impl SharedNotice {
    /// Adds jobs, and returns all jobs of the notice. If the notice is too old to be extended, begins a new one.
    pub(super) fn extend(&mut self, added: Vec<(JobKey, CleanText)>, now: Time) -> &[(JobKey, CleanText)] {
        if self.begun_at.is_none_or(|begun| now < begun || now - begun > EXTENSION_TIME) {
            self.jobs.clear();
            self.begun_at = Some(now);
        }
        add_job_texts(&mut self.jobs, added);
        &self.jobs
    }
}

/// Adds jobs with their texts. If a job is there already, its new text replaces the old one, so that it counts once.
pub(super) fn add_job_texts(jobs: &mut Vec<(JobKey, CleanText)>, added: Vec<(JobKey, CleanText)>) {
    jobs.retain(|(job, _)| added.iter().all(|(other, _)| other != job));
    jobs.extend(added);
}
