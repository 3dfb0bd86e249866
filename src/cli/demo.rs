//! `docdeck demo`: the dashboard on a simulated service in this process, over real HTTP. The record is in memory and
//! begins with what somebody who had used docdeck all along would have.

use super::dashboard::{local_offset, no_terminal, terminal};
use super::{Code, Refusal};
use crate::api::wire::JobBody;
use crate::api::{Client, ClientOptions};
use crate::app::Start;
use crate::config::environment::Environment;
use crate::config::file::Ui;
use crate::config::{Flags, look};
use crate::engine::PollOptions;
use crate::model::Time;
use crate::model::endpoint::{ApiKey, Scope};
use crate::model::job::{Job, JobId, Status};
use crate::model::prompt::PromptId;
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use crate::runtime::effects::Connection;
use crate::runtime::{self, Parts};
use crate::sim::{SeededChange, SeededJob, Sim, SimOptions};
use crate::store::{Fetched, Settled, Store, StoreError};
use chrono::{TimeDelta, Utc};

/// Who sent the prompts of the past.
const INSTANCE: &str = "demo";
/// After this long a finished job is not looked at again (design.md: polling).
const LATE: TimeDelta = TimeDelta::seconds(60);
/// A prompt whose answer was lost, so that the demo has one to resolve.
const LOST: &str = "Explain how to rotate API keys without downtime";
const LOST_WHY: &str =
    "The connection broke after the request went out, so the service may or may not have carried it out.";
const LOST_AGO: TimeDelta = TimeDelta::minutes(3);

/// Runs the dashboard on the simulated service.
pub(super) async fn run(flags: &Flags, environment: Environment, options: SimOptions) -> Result<Code, Refusal> {
    let kind = terminal(&environment)?;
    let look = look(flags, &environment, &Ui::default());
    let sim = Sim::start(options)
        .await
        .map_err(|error| Refusal::unusable(format!("The simulated service can't be started: {error}.")))?;
    let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
    let key = ApiKey::new(sim.api_key()).ok_or_else(|| Refusal::unusable("The simulated service has no key."))?;
    let client = Client::new(scope.clone(), key, ClientOptions::default())
        .map_err(|failure| Refusal::unusable(failure.sentence))?;
    let store = Store::in_memory().map_err(Refusal::unusable)?;
    Past { store: &store, scope: &scope, now: Utc::now() }.fill(&sim.seeded()).await.map_err(Refusal::unusable)?;
    let start = Start {
        scope,
        profile: CleanText::line("demo"),
        demo: true,
        size: (0, 0),
        calm: look.calm,
        notice: None,
        read_only: false,
        offset: local_offset(),
        missing: None,
    };
    let connection = Some(Connection { client, poll: PollOptions::default(), lock_folder: None });
    let parts = Parts { start, look, store, connection, environment, kind, log: None };
    let exit = runtime::run(parts).await.map_err(no_terminal)?;
    Ok(exit.into())
}

/// Writes a past into an empty store, as if it had been lived through.
#[derive(Debug)]
struct Past<'a> {
    store: &'a Store,
    scope: &'a Scope,
    now: Time,
}

/// Something in a job's past.
#[derive(Debug)]
enum Step<'a> {
    FollowUp(&'a str),
    Change(&'a SeededChange),
}

impl Past<'_> {
    async fn fill(&self, jobs: &[SeededJob]) -> Result<(), StoreError> {
        // The ledgers are to be empty: every prompt of the past is paid for in an hour of its own, long ago.
        let prompts: usize = jobs.iter().map(|job| 1 + job.follow_ups.len()).sum();
        let hours = i64::try_from(prompts).unwrap_or(i64::MAX).saturating_add(48);
        let mut paid = self.now - TimeDelta::try_hours(hours).unwrap_or_default();
        for job in jobs {
            self.live_through(job, &mut paid).await?;
        }
        if jobs.len() > 2 {
            let at = self.now - LOST_AGO;
            let (prompt, _) = self.store.add_new_job(self.scope, LOST, at).await?;
            self.send(prompt, Settled::Unconfirmed(CleanText::line(LOST_WHY)), at, &mut paid).await?;
        }
        Ok(())
    }

    async fn live_through(&self, seeded: &SeededJob, paid: &mut Time) -> Result<(), StoreError> {
        let Some(mut job) = job_at_first(&seeded.body, seeded.created_at) else { return Ok(()) };
        let (prompt, row) = self.store.add_new_job(self.scope, &seeded.prompt, seeded.created_at).await?;
        self.send(prompt, Settled::Accepted(job.clone()), seeded.created_at, paid).await?;
        let mut last = seeded.created_at;
        for (at, step) in steps(seeded) {
            match step {
                Step::FollowUp(text) => {
                    let (prompt, _) = self.store.add_follow_up(row.key, text, at).await?;
                    job.status = Status::Active;
                    self.send(prompt, Settled::Accepted(job.clone()), at, paid).await?;
                }
                Step::Change(change) => {
                    take_over(&mut job, change);
                    self.store.apply_fetched(row.key, Fetched::Job(job.clone()), at).await?;
                }
            }
            last = at;
        }
        self.last_look(row.key, job, last, seeded.seen).await
    }

    /// The look after which a finished job is left alone, and the user's own.
    async fn last_look(&self, key: JobKey, job: Job, last: Time, seen: bool) -> Result<(), StoreError> {
        let at = (last + LATE).min(self.now);
        if job.status.is_finished() {
            self.store.apply_fetched(key, Fetched::Job(job), at).await?;
        }
        if seen {
            self.store.mark_looked(key, at).await?;
        }
        Ok(())
    }

    async fn send(&self, prompt: PromptId, how: Settled, at: Time, paid: &mut Time) -> Result<(), StoreError> {
        *paid += TimeDelta::hours(1);
        self.store.take_turn(prompt, INSTANCE, at, *paid).await?;
        self.store.settle(prompt, how, at).await?;
        Ok(())
    }
}

/// What happened to the job after its creation, in order; a follow-up comes before the change that it caused.
fn steps(seeded: &SeededJob) -> Vec<(Time, Step<'_>)> {
    let follow_ups = seeded.follow_up_at.iter().zip(&seeded.follow_ups);
    let mut steps: Vec<(Time, Step<'_>)> = follow_ups.map(|(at, text)| (*at, Step::FollowUp(text))).collect();
    steps.extend(seeded.changes.iter().map(|change| (change.at, Step::Change(change))));
    steps.sort_by_key(|(at, _)| *at);
    steps
}

/// The job as its creation was answered.
fn job_at_first(body: &JobBody, created_at: Time) -> Option<Job> {
    Some(Job {
        id: JobId::new(&body.id)?,
        status: Status::Active,
        repository: Some(CleanText::line(&body.source.repository)),
        git_ref: body.source.git_ref.as_deref().map(CleanText::line),
        model: Some(CleanText::line(&body.model)),
        pr_link: None,
        created_at: Some(created_at),
        archived_at: None,
    })
}

fn take_over(job: &mut Job, change: &SeededChange) {
    job.status = Status::parse(&change.status);
    job.archived_at = (job.status == Status::Archived).then_some(change.at);
    job.pr_link = change.pr_link.as_deref().map(CleanText::line).or(job.pr_link.take());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ledger::Limited;
    use crate::model::row::Group;

    async fn filled() -> (Sim, Store, Scope) {
        let sim = Sim::start(SimOptions { pages: 10, ..SimOptions::default() }).await.expect("a simulator");
        let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
        let store = Store::in_memory().expect("a store");
        Past { store: &store, scope: &scope, now: Utc::now() }.fill(&sim.seeded()).await.expect("filled");
        (sim, store, scope)
    }

    #[tokio::test]
    async fn the_demo_knows_every_job_of_the_service_as_it_is() {
        let (sim, store, scope) = filled().await;
        for seeded in sim.seeded() {
            let id = JobId::new(&seeded.id).expect("an id");
            let row = store.job_by_id(&scope, &id).await.expect("read").expect("known");
            assert_eq!(row.status.map(|status| status.word().to_owned()), Some(seeded.body.status), "{}", seeded.id);
            // A job that a follow-up woke up has no link in its answer; the one it had is still known.
            if let Some(link) = seeded.body.pr_link {
                assert_eq!(row.pr_link.map(|link| link.to_string()), Some(link), "{}", seeded.id);
            }
            let thread = store.thread(row.key).await.expect("a thread");
            assert_eq!(thread.prompts.len(), 1 + seeded.follow_ups.len());
        }
    }

    #[tokio::test]
    async fn the_demo_opens_with_empty_ledgers() {
        let (_sim, store, scope) = filled().await;
        for limited in Limited::ALL {
            assert_eq!(store.budget(&scope, limited, Utc::now()).await.expect("a budget").used, 0, "{limited:?}");
        }
    }

    #[tokio::test]
    async fn the_demo_opens_on_jobs_that_need_the_user_that_work_and_that_are_done() {
        let (_sim, store, scope) = filled().await;
        let groups: Vec<Group> = store.jobs(&scope).await.expect("jobs").iter().map(|row| row.group()).collect();
        for group in [Group::NeedsYou, Group::Working, Group::Done] {
            assert!(groups.contains(&group), "{group:?}");
        }
        assert!(store.queued(&scope).await.expect("read").is_empty());
    }
}
