//! Building a preview of the site with the changes of a pull request. A build is requested only after a key
//! press. Its state is then requested until the build ends, even if the dialog was closed in the meantime.

use crate::model::Time;
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::JobKey;
use crate::model::preview::{Build, BuildState, StartedBuild};
use crate::model::pull_request_details::page_of_file;
use crate::model::text::CleanText;
use crate::tui::state::PreviewBuild;
use crate::tui::{App, Effect, JobsEffect, Severity};

/// After this number of consecutive failed requests for the state of a build, the state is no longer requested.
const MAX_CONSECUTIVE_FAILURES: u8 = 5;
/// The maximum number of requests for the state of a build. At one request every three seconds, they take half an hour.
const MAX_STATE_REQUESTS: u16 = 600;

/// Returns the address of a page in a preview: `https://acme-1.example/guides/sso` for `guides/sso.mdx`. `None` if the
/// file is not a page.
pub(in crate::tui) fn page_url_in_preview(preview: &CleanText, path: &str) -> Option<CleanText> {
    let page = page_of_file(path)?;
    Some(CleanText::line(&format!("{}{page}", preview.as_str().trim_end_matches('/'))))
}

impl App {
    /// Starts building a preview, unless one is being built already.
    pub(in crate::tui) fn build_preview(&mut self, job: JobKey, effects: &mut Vec<Effect>) {
        if self.can_build_preview(job) {
            self.pull_request_work.builds.insert(job, PreviewBuild::default());
            effects.push(Effect::Jobs(JobsEffect::StartPreview(job)));
        }
    }

    pub(in crate::tui) fn can_build_preview(&self, job: JobKey) -> bool {
        !self.pull_request_work.builds.get(&job).is_some_and(PreviewBuild::is_running)
    }

    pub(in crate::tui) fn apply_started_build(
        &mut self,
        job: JobKey,
        result: Result<StartedBuild, Failure>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(build) = self.pull_request_work.builds.get_mut(&job) else { return };
        match result {
            Ok(started_build) => {
                build.started_build = Some(started_build.clone());
                effects.push(Effect::Jobs(JobsEffect::CheckBuild { job, build: started_build }));
            }
            Err(failure) => build.problem = Some(failure.message),
        }
    }

    /// Applies the state of a build, and requests the state again if the build is still running. If the build has
    /// succeeded or failed, shows a notice.
    pub(in crate::tui) fn apply_build(
        &mut self,
        job: JobKey,
        id: &CleanText,
        result: Result<Build, Failure>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let is_current = |build: &&mut PreviewBuild| {
            build.started_build.as_ref().is_some_and(|started_build| started_build.id == *id)
        };
        let Some(build) = self.pull_request_work.builds.get_mut(&job).filter(is_current) else { return };
        build.request_count = build.request_count.saturating_add(1);
        match result {
            Ok(last) => (build.last_known_build, build.consecutive_failures) = (Some(last), 0),
            // If the service refuses the key, the state is not requested again, because the key would be refused again.
            Err(failure)
                if failure.kind != FailureKind::KeyRefused
                    && build.consecutive_failures + 1 < MAX_CONSECUTIVE_FAILURES =>
            {
                build.consecutive_failures += 1;
            }
            Err(failure) => {
                let text = format!("The state of the build can't be read. {}", failure.message);
                build.problem = Some(CleanText::line(&text));
            }
        }
        if build.request_count >= MAX_STATE_REQUESTS && build.is_running() {
            build.problem = Some(CleanText::line("The build did not end within half an hour."));
        }
        if build.is_running() {
            effects
                .extend(build.started_build.clone().map(|build| Effect::Jobs(JobsEffect::CheckBuild { job, build })));
            return;
        }
        let state = build.last_known_build.as_ref().map(|last| last.state.clone());
        let number = self.jobs.get(job).and_then(|job| job.pr_number()).unwrap_or_default();
        match state {
            Some(BuildState::Success) => {
                let keys = self.keys_that_open_preview(job).map(|keys| format!(": {keys}")).unwrap_or_default();
                self.notify(Severity::Info, &format!("The preview of #{number} is ready{keys}."), now);
            }
            Some(BuildState::Failure) => {
                self.notify(Severity::Warning, &format!("The preview of #{number} could not be built."), now);
            }
            _ => {}
        }
    }
}
