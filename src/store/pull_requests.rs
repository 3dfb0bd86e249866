//! The state of pull requests on their code hosts, stored with the job.

use super::Store;
use super::columns;
use super::error::StoreResult;
use super::job_rows::{find_job, query_jobs, set_default_title, update_job};
use super::query::Query as _;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::job::{Job, JobKey, PullRequestEndedBy};
use crate::model::merge;
use crate::model::prompt::prompt_title;
use crate::model::pull_request::{PullRequest, PullRequestFact};
use crate::model::text::CleanText;

/// What a code host reported about the pull request of a job.
#[derive(Debug, Clone)]
pub struct ReportedPullRequest {
    pub job: JobKey,
    /// The link for which the state was requested. If the job has another link by now, the state is ignored.
    pub link: CleanText,
    pub state: PullRequest,
}

/// A job that [`Store::apply_pull_requests`] has updated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestUpdate {
    pub job: Job,
    /// The most important fact about the pull request before the update; `None` if its state was unknown.
    pub previous_fact: Option<PullRequestFact>,
}

/// A pull request that a job links to, and its stored state if it is known.
#[derive(Debug, Clone, Copy)]
pub struct StoredPullRequest<'a> {
    pub job: JobKey,
    pub link: &'a CleanText,
    pub state: Option<&'a PullRequest>,
}

impl Store {
    /// Passes each pull request of the scope's jobs to `visit`, from the newest job to the oldest, and returns what
    /// `visit` collects. Keeps only one pull request in memory at a time. Leaves out jobs that the service no longer
    /// has. Leaves out merged and closed pull requests unless `include_merged_and_closed` is set.
    pub async fn visit_pull_requests<T: Default + Send + 'static>(
        &self,
        scope: &Scope,
        include_merged_and_closed: bool,
        visit: impl Fn(&mut T, StoredPullRequest<'_>) + Send + 'static,
    ) -> StoreResult<T> {
        self.read_in_scope(scope, move |db, scope| {
            let open_condition = if include_merged_and_closed { "" } else { "AND pr_turn IS NOT 'nobody'" };
            let mut statement = db.prepare_cached(&format!(
                "SELECT key, pr_link, pull_request FROM job NOT INDEXED
                 WHERE scope = ?1 AND merged_into IS NULL AND gone = 0 AND pr_link IS NOT NULL {open_condition} ORDER BY key DESC"
            ))?;
            let mut rows = statement.query([scope])?;
            let mut collected = T::default();
            while let Some(row) = rows.next()? {
                let link: CleanText = row.get(1)?;
                let state = columns::parse_pull_request(row.get_ref(2)?)?;
                visit(&mut collected, StoredPullRequest { job: row.get(0)?, link: &link, state: state.as_deref() });
            }
            Ok(collected)
        })
        .await
    }

    /// Returns the jobs of the scope that have a pull request, oldest first. Leaves out jobs that the service no longer
    /// has. Leaves out jobs whose pull request is merged or closed unless `include_merged_and_closed` is set.
    pub async fn jobs_with_pull_requests(
        &self,
        scope: &Scope,
        include_merged_and_closed: bool,
    ) -> StoreResult<Vec<Job>> {
        self.read_in_scope(scope, move |db, scope| {
            let open_condition = if include_merged_and_closed { "" } else { "AND pr_turn IS NOT 'nobody'" };
            let all = format!(
                "NOT INDEXED WHERE scope = ?1 AND merged_into IS NULL AND gone = 0 AND pr_link IS NOT NULL {open_condition}
                 ORDER BY key"
            );
            query_jobs(db, &all, [scope])
        })
        .await
    }

    /// Merges the state of pull requests into their jobs, in one transaction. If the title of a job is only its id, the
    /// job gets the title of its pull request. Returns all updated jobs.
    pub async fn apply_pull_requests(
        &self,
        reported: Vec<ReportedPullRequest>,
        now: Time,
    ) -> StoreResult<Vec<PullRequestUpdate>> {
        self.write(move |tx| {
            let mut rows = Vec::new();
            for ReportedPullRequest { job, link, state } in &reported {
                let row = find_job(tx, *job)?.filter(|row| row.remote.pr_link.as_ref() == Some(link));
                if let Some(mut row) = row {
                    let previous_fact = row.pull_request.as_ref().map(|state| state.main_fact());
                    merge::apply_pull_request_state(&mut row, state.clone(), now);
                    let title = prompt_title(state.title.as_str());
                    if row.is_named_by_id() && !title.is_empty() {
                        set_default_title(tx, row.key, &title)?;
                    }
                    rows.push(PullRequestUpdate { job: update_job(tx, &row)?, previous_fact });
                }
            }
            Ok(rows)
        })
        .await
    }

    /// Records that the user of this computer merged or closed the pull request of these jobs, so that the team sees
    /// who did it. Does nothing for projects that are not shared.
    pub async fn record_pull_request_ended_by_user(&self, jobs: &[JobKey]) -> StoreResult<()> {
        let jobs = jobs.to_vec();
        self.write(move |tx| {
            for job in jobs {
                let Some(mut row) = find_job(tx, job)? else { continue };
                let is_shared =
                    "SELECT EXISTS (SELECT 1 FROM team JOIN job ON job.scope = team.scope WHERE job.key = ?1)";
                if tx.query_value(is_shared, [job])? {
                    row.local.team.get_or_insert_default().pr_ended_by = Some(PullRequestEndedBy::User);
                    update_job(tx, &row)?;
                }
            }
            Ok(())
        })
        .await
    }

    /// Deletes the stored state of pull requests that were neither merged nor closed. For use when code hosts are no
    /// longer queried, since the state would then never change. Returns the changed jobs.
    pub async fn forget_open_pull_requests(&self, scope: &Scope) -> StoreResult<Vec<Job>> {
        const OPEN_PULL_REQUESTS_SQL: &str =
            "NOT INDEXED WHERE scope = ?1 AND merged_into IS NULL AND pr_turn <> 'nobody' ORDER BY key";
        let open = self.read_in_scope(scope, |db, scope| query_jobs(db, OPEN_PULL_REQUESTS_SQL, [scope])).await?;
        if open.is_empty() {
            return Ok(Vec::new());
        }
        self.write_in_scope(scope, |tx, scope| {
            let forget = |mut job: Job| {
                job.pull_request = None;
                update_job(tx, &job)
            };
            query_jobs(tx, OPEN_PULL_REQUESTS_SQL, [scope])?.into_iter().map(forget).collect()
        })
        .await
    }
}
