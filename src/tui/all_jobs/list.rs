//! The jobs of all profiles, each with the profile under which it is listed.

use crate::model::job::{Job, JobKey};
use crate::model::load::Load;
use crate::tui::filter::JobFilter;
use crate::tui::jobs::JobList;
use std::collections::HashMap;

/// The jobs of all profiles.
#[derive(Debug)]
pub struct AllJobs {
    /// The state of reading the jobs from the store. The jobs themselves are in `list`.
    pub read_state: Load<()>,
    pub list: JobList,
    /// For each job, the index of the profile that Enter switches to. If several profiles share the project of a job,
    /// this is the profile that Enter tries first.
    pub(super) profile_indexes: HashMap<JobKey, usize>,
    /// The filter that the user has typed for this list.
    pub(super) filter: String,
    /// The job to select once the list has been read.
    pub(super) initial_job: Option<JobKey>,
    /// The number of jobs that are not listed because no profile has their project.
    pub(super) omitted_count: usize,
}

impl AllJobs {
    pub(super) fn new(initial_job: Option<JobKey>) -> Self {
        Self {
            read_state: Load::Loading { previous: None },
            list: JobList::default(),
            profile_indexes: HashMap::new(),
            filter: String::new(),
            initial_job,
            omitted_count: 0,
        }
    }

    pub fn is_loaded(&self) -> bool {
        self.read_state.shown().is_some()
    }

    /// Returns the index of the profile under which a job is listed. Returns `None` if the job is not in the list.
    pub fn profile_of(&self, row: &Job) -> Option<usize> {
        self.profile_indexes.get(&row.key).copied()
    }

    pub fn filter(&self) -> &str {
        &self.filter
    }

    pub fn has_filter(&self) -> bool {
        !self.filter.trim().is_empty()
    }

    /// Returns the number of tracked jobs that are not listed because no profile has their project.
    pub fn omitted_count(&self) -> usize {
        self.omitted_count
    }

    /// Shows only the jobs that match both the saved filter `saved` and the typed filter `typed`.
    pub(in crate::tui) fn set_filter(&mut self, saved: &str, typed: &str) {
        typed.clone_into(&mut self.filter);
        self.list.set_filter(JobFilter::parse(&format!("{saved} {typed}")));
    }
}
