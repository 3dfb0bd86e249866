//! From pages to a job about them, and back: what a job's pages were viewed before and after it.

use super::super::{App, Effect};
use crate::model::Time;
use crate::model::about::AboutPage;
use crate::model::failure::Failure;
use crate::model::row::JobKey;

impl App {
    /// The key that opens the editor for a job about the chosen pages.
    pub(in crate::app) fn open_job_about_pages(&mut self, _now: Time, _effects: &mut Vec<Effect>) {}

    pub(in crate::app) fn about_read(&mut self, _job: JobKey, _result: Result<Vec<AboutPage>, Failure>, _now: Time) {
        self.dirty = true;
    }
}
