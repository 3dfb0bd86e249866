//! Starts building previews of the site with the changes of a job, and requests the state of a build. Each method makes
//! at most one request.

use super::Engine;
use super::state::EngineState;
use crate::api::RequestEffect;
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::JobKey;
use crate::model::ledger::Quota;
use crate::model::log::Operation;
use crate::model::preview::{Build, StartedBuild};
use crate::model::text::CleanText;

impl Engine {
    /// Starts building a preview of the branch that a job works on.
    ///
    /// # Errors
    /// The branch is unknown, the limit of builds per minute is reached, or the request failed.
    pub async fn start_preview(&self, job: JobKey) -> Result<StartedBuild, Failure> {
        self.inner.start_preview(job).await
    }

    /// Requests the state of a build.
    ///
    /// # Errors
    /// The request failed.
    pub async fn fetch_preview_build(&self, id: &CleanText) -> Result<Build, Failure> {
        let response = self.inner.client.get_build(id).await;
        let result = self.inner.record_response(Operation::Build, id.clone(), response).await;
        result.map_err(|error| error.failure(self.inner.clock.now()))
    }
}

impl EngineState {
    async fn start_preview(&self, job: JobKey) -> Result<StartedBuild, Failure> {
        let row = self.store.job(job).await.map_err(|error| error.failure())?;
        let branch = row.and_then(|row| {
            let pull_request_branch = row.pull_request.as_ref().map(|state| state.branch.clone());
            row.remote.source.git_ref.clone().or(pull_request_branch).filter(|branch| !branch.is_empty())
        });
        let Some(branch) = branch else {
            return Err(Failure::local("The branch of this job is unknown, so no preview can be built."));
        };
        let spent_at = self.clock.now();
        let quota = Quota::Previews;
        if let Err(wait) = self.store.spend(&self.scope, quota, spent_at).await.map_err(|error| error.failure())? {
            let (limit, left) = (quota.limit(), wait.time_left_text(spent_at));
            let text = format!("At most {limit} previews a minute can be built. Try again in {left}.");
            return Err(Failure::new(FailureKind::Limited(wait), &text));
        }
        let response = self.client.start_preview(&branch).await;
        let result = self.record_response(Operation::Preview, branch, response).await;
        let now = self.clock.now();
        if let Err(error) = &result {
            let recorded = match error.wait(now) {
                Some(wait) => self.store.record_rate_limit(&self.scope, quota, wait, now).await,
                None if error.request_effect() == RequestEffect::NotReached => {
                    self.store.refund(&self.scope, quota, spent_at).await
                }
                None => Ok(()),
            };
            if let Err(error) = recorded {
                self.emit_problem(error.failure()).await;
            }
        }
        result.map_err(|error| error.failure(now))
    }
}
