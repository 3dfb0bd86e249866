//! Creates the history of the demo: jobs, prompts, titles, tags and notes, as if docdeck had been in use for a while.

use crate::model::Time;
use crate::model::analytics::signal_snapshot::JobSnapshots;
use crate::model::backup::{JobRecord, PromptRecord};
use crate::model::endpoint::Scope;
use crate::model::job::{FirstJobs, Job, JobGroup, JobKey, PullRequestCounts};
use crate::model::merge;
use crate::model::prompt::{Delivery, Prompt, PromptId, PromptKind, Thread, prompt_title};
use crate::model::remote_job::{JobId, RemoteJob};
use crate::model::text::CleanText;
use crate::sim::InitialJob;
use crate::store::{Store, StoreError};
use crate::tui::order::JobSorting;
use chrono::TimeDelta;

/// The maximum number of jobs in the first frame. More jobs would delay it.
const MAX_FIRST_FRAME_JOBS: usize = 200;
/// The time between the end of a job and its last check.
const CHECK_DELAY_AFTER_END: TimeDelta = TimeDelta::seconds(60);
/// A job that the user has viewed counts as handled if its last change is older than this. By then, the simulated code
/// host has merged most pull requests.
const ASSUME_HANDLED_AFTER: TimeDelta = TimeDelta::hours(6);
/// A prompt whose response was lost, so it is `Unconfirmed`. It lets users practise resolving such a prompt.
const UNCONFIRMED_PROMPT: &str = "Explain how to rotate API keys without downtime";
const UNCONFIRMED_REASON: &str = "The connection was lost before the answer arrived.";
const UNCONFIRMED_PROMPT_AGE: TimeDelta = TimeDelta::minutes(3);

/// A follow-up that the service rejected.
const REJECTED_FOLLOW_UP: &str = "Also translate the code samples";
const REJECTION_REASON: &str = "The service refused the request (400: “prompt is too vague, name the files”).";
/// A follow-up that waits until the user decides about the rejected follow-up.
const BLOCKED_FOLLOW_UP: &str = "And link the translations from the sidebar";
const REJECTED_FOLLOW_UP_AGE: TimeDelta = TimeDelta::minutes(9);
const BLOCKED_FOLLOW_UP_AGE: TimeDelta = TimeDelta::seconds(500);
/// The paused prompts of a batch that is partly sent.
const PAUSED_BATCH: [&str; 3] = [
    "Add a troubleshooting section to /guides/webhooks",
    "Add a troubleshooting section to /guides/single-sign-on",
    "Add a troubleshooting section to /guides/rate-limits",
];
const PAUSED_BATCH_AGE: TimeDelta = TimeDelta::minutes(26);

/// The first lines of some prompts, each with the pages that its job is about. Some of these jobs are working, some
/// have failed, and some finished days ago.
const PAGES_BY_PROMPT: [(&str, &[&str]); 5] = [
    ("Rewrite the SSO guide", &["/guides/sso"]),
    ("Shorten the introduction to one screen", &["/introduction"]),
    ("Remove the beta label from custom domains", &["/guides/custom-domains"]),
    ("Add curl examples beside every API operation", &["/api/create-job", "/api/get-job", "/api/send-message"]),
    ("Check the spelling of product names across the site", &["/quickstart", "/installation"]),
];

/// The history of the demo, which [`DemoHistory::write`] writes into an empty store.
#[derive(Debug)]
pub(super) struct DemoHistory {
    scope: Scope,
    now: Time,
    /// The newest jobs and the undelivered prompts, in the order in which they are written. Each job has the key that
    /// the store will assign to it.
    newest_records: Vec<JobRecord>,
    older_jobs: Vec<InitialJob>,
    /// The job with a rejected follow-up. Its next follow-up waits until the user decides about the rejected one.
    blocked_job: Option<JobKey>,
}

impl DemoHistory {
    /// Creates the history of `jobs`, which are sorted by age, oldest first. If there are more than two, adds
    /// undelivered prompts, labels and a paused batch.
    pub(super) fn new(scope: &Scope, mut jobs: Vec<InitialJob>, now: Time) -> Self {
        let newest = jobs.split_off(jobs.len().saturating_sub(MAX_FIRST_FRAME_JOBS));
        let mut newest_records: Vec<JobRecord> = newest.iter().filter_map(|job| job_record(scope, job, now)).collect();
        let mut blocked_job = None;
        if newest_records.len() > 2 {
            blocked_job = add_rejected_follow_up(&mut newest_records, now);
            add_labels(&mut newest_records);
            newest_records.extend(undelivered_jobs(scope, now));
        }
        for (record, key) in newest_records.iter_mut().zip(1..) {
            record.job.key = JobKey(key);
        }
        let blocked_job = blocked_job.and_then(|index| newest_records.get(index)).map(|record| record.job.key);
        Self { scope: scope.clone(), now, newest_records, older_jobs: jobs, blocked_job }
    }

    /// Returns what the store will return as the first rows of the jobs list, so that the first frame doesn't wait
    /// until the history is written.
    pub(super) fn first_jobs(&self) -> FirstJobs {
        let mut jobs: Vec<Job> = self.newest_records.iter().map(|record| record.job.clone()).collect();
        jobs.sort_by_cached_key(|row| JobSorting::default().key(row, row.group()));
        FirstJobs {
            group_counts: JobGroup::ALL.map(|group| jobs.iter().filter(|row| row.group() == group).count()),
            working_count: jobs.iter().filter(|row| row.counts_as_working()).count(),
            // No state of a pull request is known yet.
            pull_requests: PullRequestCounts::default(),
            thread: jobs.first().and_then(|selected| self.thread(selected.key)),
            jobs,
        }
    }

    /// Returns the thread of a job in `newest_records`. Its prompts have the ids that the store will assign to them,
    /// because the store numbers prompts in the order in which they are written.
    fn thread(&self, job: JobKey) -> Option<Thread> {
        let index = self.newest_records.iter().position(|record| record.job.key == job)?;
        let (before, record) = (self.newest_records.get(..index)?, self.newest_records.get(index)?);
        let prompts_before: usize = before.iter().map(|record| record.prompts.len()).sum();
        let ids = (i64::try_from(prompts_before).ok()? + 1..).map(PromptId);
        let prompts = record.prompts.iter().zip(ids).map(|(prompt, id)| Prompt {
            id,
            kind: prompt.kind,
            text: prompt.text.clone(),
            delivery: prompt.delivery.clone(),
            written_at: prompt.written_at,
            sent_at: prompt.sent_at,
            state_at: prompt.state_at,
            author: None,
        });
        Some(Thread { prompts: prompts.collect(), events: record.events.clone() })
    }

    /// Writes the history. Sends all requests to the store when the future is first polled, so that requests of other
    /// tasks find the complete history afterwards.
    pub(super) async fn write(self, store: Store) -> Result<(), StoreError> {
        let Self { scope, now, newest_records, older_jobs, blocked_job } = self;
        let older_jobs = older_jobs.into_iter().filter_map(move |job| job_record(&scope, &job, now));
        let jobs = store.import_jobs(newest_records.into_iter().chain(older_jobs), now);
        // An import never queues a prompt, so the blocked follow-up is added after the import.
        let follow_up = async {
            match blocked_job {
                Some(job) => store.add_follow_up(job, BLOCKED_FOLLOW_UP, now - BLOCKED_FOLLOW_UP_AGE).await.map(drop),
                None => Ok(()),
            }
        };
        let (imported, added) = tokio::join!(biased; jobs, follow_up);
        imported.and(added)
    }
}

/// Adds a rejected follow-up to the newest finished job that has a pull request and was created before the follow-up.
/// Returns the index of that job, or `None` if there is none.
fn add_rejected_follow_up(records: &mut [JobRecord], now: Time) -> Option<usize> {
    let at = now - REJECTED_FOLLOW_UP_AGE;
    let is_old = |row: &Job| row.group() == JobGroup::Done && row.created_at < at && row.remote.pr_link.is_some();
    let index = records.iter().rposition(|record| is_old(&record.job))?;
    let record = records.get_mut(index)?;
    let rejected = Delivery::Rejected(CleanText::line(REJECTION_REASON));
    (record.job.local.undelivered, record.job.local.undelivered_at) = (Some(rejected.kind()), Some(at));
    record.prompts.push(prompt_record(PromptKind::FollowUp, REJECTED_FOLLOW_UP, rejected, at));
    Some(index)
}

/// Returns the jobs whose first prompt was not delivered: the job of the unconfirmed prompt, and those of the paused
/// batch.
fn undelivered_jobs(scope: &Scope, now: Time) -> impl Iterator<Item = JobRecord> {
    let unconfirmed = Delivery::Unconfirmed(CleanText::line(UNCONFIRMED_REASON));
    let unconfirmed = prompt_record(PromptKind::Create, UNCONFIRMED_PROMPT, unconfirmed, now - UNCONFIRMED_PROMPT_AGE);
    let paused_at = now - PAUSED_BATCH_AGE;
    let paused = PAUSED_BATCH.map(|text| prompt_record(PromptKind::Create, text, Delivery::Paused, paused_at));
    std::iter::once(unconfirmed).chain(paused).zip(0..).map(|(prompt, position)| {
        let mut row = Job::new(JobKey(0), prompt_title(&prompt.text), prompt.written_at);
        row.local.undelivered = Some(prompt.delivery.kind());
        row.local.undelivered_at = prompt.state_at;
        row.local.queue_position = (prompt.delivery == Delivery::Paused).then_some(position);
        JobRecord {
            scope: scope.clone(),
            job: row,
            prompts: vec![prompt],
            events: Vec::new(),
            draft: None,
            signals: JobSnapshots::default(),
        }
    })
}

/// Adds tags to the two newest finished jobs, and a title and a note to the newest.
fn add_labels(records: &mut [JobRecord]) {
    let line = CleanText::line;
    let mut done = records.iter_mut().rev().map(|record| &mut record.job).filter(|job| job.group() == JobGroup::Done);
    if let Some(Job { local, .. }) = done.next() {
        local.tags = [line("release"), line("api")].into();
        (local.title, local.has_custom_title) = (line("Release notes, before Friday"), true);
        local.note = Some(line("Ana reviews it; merge after the release"));
    }
    if let Some(row) = done.next() {
        row.local.tags = [line("api")].into();
    }
}

/// Returns the pages that a job of the history is about.
fn pages_of(job: &InitialJob) -> Vec<CleanText> {
    let known =
        PAGES_BY_PROMPT.iter().find(|(title, _)| !job.is_prompt_a_repeat && job.prompt.lines().next() == Some(title));
    known.map_or_else(Vec::new, |(_, pages)| pages.iter().map(|page| CleanText::line(page)).collect())
}

/// Returns the job as the store would have it if the job had been sent from this computer and polled ever since.
/// Returns `None` if the job's id is invalid.
fn job_record(scope: &Scope, job: &InitialJob, now: Time) -> Option<JobRecord> {
    let created = job.created_at;
    let id = JobId::new(&job.body.id)?;
    let mut row = Job::new(JobKey(0), CleanText::default(), created);
    row.id = Some(id.clone());
    row.local.pages = pages_of(job).into();
    let mut events = Vec::new();
    for (at, state) in &job.changes {
        let response = RemoteJob { id: id.clone(), created_at: Some(created), state: state.clone() };
        events.extend(merge::merge_response(&mut row, &response, *at));
    }
    row.local.started_at = job.follow_up_times.last().copied().unwrap_or(created);
    let last = (row.local.checked_at.unwrap_or(created) + CHECK_DELAY_AFTER_END).min(now);
    if row.remote.is_finished() {
        row.local.checked_at = Some(last);
    }
    row.local.viewed_at = job.is_seen.then_some(last.max(row.local.changed_at));
    row.local.handled_at = row.local.viewed_at.filter(|_| now - row.local.changed_at > ASSUME_HANDLED_AFTER);
    let follow_ups = job.follow_ups.iter().zip(&job.follow_up_times);
    let follow_ups = follow_ups.map(|(text, at)| prompt_record(PromptKind::FollowUp, text, Delivery::Accepted, *at));
    let first = prompt_record(PromptKind::Create, &job.prompt, Delivery::Accepted, created);
    let prompts = std::iter::once(first).chain(follow_ups).collect();
    let mut record =
        JobRecord { scope: scope.clone(), job: row, prompts, events, draft: None, signals: JobSnapshots::default() };
    record.job.local.title = record.default_title();
    Some(record)
}

/// Returns a prompt that was written at `at` and, unless it is paused, sent at the same time.
fn prompt_record(kind: PromptKind, text: &str, delivery: Delivery, at: Time) -> PromptRecord {
    let text = text.to_owned();
    PromptRecord {
        kind,
        text,
        sent_at: (delivery != Delivery::Paused).then_some(at),
        delivery,
        written_at: at,
        state_at: Some(at),
        author: None,
        draft: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ledger::Quota;
    use crate::model::prompt::{Delivery, DeliveryKind};
    use crate::model::remote_job::Status;
    use crate::sim::{Sim, SimOptions};
    use chrono::Utc;

    async fn filled() -> (Sim, Store, Scope) {
        let sim = Sim::start(SimOptions { pages: 10, ..SimOptions::default() }).await.expect("a simulator");
        let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
        let store = Store::in_memory().expect("a store");
        DemoHistory::new(&scope, sim.initial_jobs(), Utc::now()).write(store.clone()).await.expect("written");
        (sim, store, scope)
    }

    #[tokio::test]
    async fn the_demo_has_every_job_of_the_service() {
        let (sim, store, scope) = filled().await;
        for seeded in sim.initial_jobs() {
            let id = JobId::new(&seeded.id).expect("an id");
            let row = store.job_by_id(&scope, &id).await.expect("read").expect("known");
            assert_eq!(row.remote.status, seeded.body.state.status, "{}", seeded.id);
            // After a follow-up the service's response has no link, but the store keeps the earlier link.
            if seeded.body.state.pr_link.is_some() {
                assert_eq!(row.remote.pr_link, seeded.body.state.pr_link, "{}", seeded.id);
            }
            let thread = store.thread(row.key).await.expect("a thread");
            let accepted = thread.prompts.iter().filter(|prompt| prompt.delivery == Delivery::Accepted);
            assert_eq!(accepted.count(), 1 + seeded.follow_ups.len());
        }
    }

    #[tokio::test]
    async fn the_demo_has_jobs_about_pages_that_the_simulated_site_has() {
        let (_sim, store, scope) = filled().await;
        let site: Vec<&str> = include_str!("../../../assets/demo/pages.txt").lines().collect();
        let rows = store.jobs(&scope).await.expect("jobs");
        let about: Vec<&Job> = rows.iter().filter(|row| !row.local.pages.is_empty()).collect();
        assert_eq!(about.len(), PAGES_BY_PROMPT.len());
        for page in about.iter().flat_map(|row| &row.local.pages) {
            assert!(site.contains(&page.as_str()), "{page}");
        }
        assert!(about.iter().any(|row| row.remote.status == Some(Status::Completed)), "one has finished");
        // There must be no draft: it would open instead of the templates that the demo shows for a page.
        assert_eq!(store.drafts(&scope).await.expect("drafts"), []);
    }

    /// Shortens the times in the text to milliseconds, which is what the store keeps.
    fn milliseconds(text: &str) -> String {
        let shorten = |part: &str| match part.rsplit_once('.') {
            Some((before, digits)) if digits.chars().all(|c| c.is_ascii_digit()) => format!("{before}.{digits:.3}"),
            _ => part.to_owned(),
        };
        text.split('Z').map(shorten).collect::<Vec<_>>().join("Z")
    }

    #[tokio::test]
    async fn the_first_rows_are_those_that_the_store_returns() {
        for jobs in [0, 1, 2, 3, 24, 300] {
            let sim = Sim::start(SimOptions { pages: 10, jobs, ..SimOptions::default() }).await.expect("a simulator");
            let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
            let store = Store::in_memory().expect("a store");
            let history = DemoHistory::new(&scope, sim.initial_jobs(), Utc::now());
            let first = history.first_jobs();
            history.write(store.clone()).await.expect("written");
            let stored = store.first_jobs(&scope, 30).await.expect("read");
            let newest = usize::try_from(jobs).expect("a number").min(MAX_FIRST_FRAME_JOBS);
            assert_eq!(first.jobs.len(), newest + if jobs > 2 { 4 } else { 0 });
            // The store has numbered the revisions and the queue.
            let shown = |row: &Job| {
                let mut row = row.clone();
                (row.revision, row.local.queue_position) = (0, None);
                milliseconds(&format!("{row:?}"))
            };
            for (row, stored) in first.jobs.iter().zip(&stored.jobs) {
                assert_eq!(shown(row), shown(stored), "{jobs}");
            }
            let thread = |rows: &FirstJobs| milliseconds(&format!("{:?}", rows.thread));
            assert_eq!(thread(&first), thread(&stored), "{jobs}");
            if jobs <= 200 {
                let counts = |rows: &FirstJobs| (rows.group_counts, rows.working_count, rows.pull_requests);
                assert_eq!(counts(&first), counts(&stored));
            }
        }
    }

    #[tokio::test]
    async fn requests_that_are_sent_while_the_history_is_written_find_all_of_it() {
        let options = SimOptions { pages: 10, jobs: 1_000, ..SimOptions::default() };
        let sim = Sim::start(options).await.expect("a simulator");
        let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
        let store = Store::in_memory().expect("a store");
        let history = DemoHistory::new(&scope, sim.initial_jobs(), Utc::now());
        let first = history.first_jobs();
        let writing = tokio::spawn(history.write(store.clone()));
        tokio::task::yield_now().await;
        let jobs = store.jobs(&scope).await.expect("jobs");
        assert_eq!(jobs.len(), 1_004);
        let blocked = jobs.iter().find(|row| row.local.undelivered == Some(DeliveryKind::Rejected)).expect("a job");
        assert!(blocked.local.queue_position.is_some(), "the follow-up behind the rejected one is queued");
        // All jobs that are not done are among the first rows.
        let open = |rows: &[Job]| rows.iter().filter(|row| row.group() < JobGroup::Done).count();
        assert_eq!(open(&jobs), open(&first.jobs));
        writing.await.expect("no panic").expect("written");
    }

    #[tokio::test]
    async fn the_demo_opens_with_unused_hourly_limits() {
        let (_sim, store, scope) = filled().await;
        for quota in Quota::HOURLY {
            assert_eq!(store.budget(&scope, quota, Utc::now()).await.expect("a budget").used, 0, "{quota:?}");
        }
    }

    #[tokio::test]
    async fn the_demo_has_jobs_in_every_group() {
        let (_sim, store, scope) = filled().await;
        let groups: Vec<JobGroup> = store.jobs(&scope).await.expect("jobs").iter().map(|row| row.group()).collect();
        for group in [JobGroup::NeedsYou, JobGroup::Working, JobGroup::Queued, JobGroup::Done] {
            assert!(groups.contains(&group), "{group:?}");
        }
        assert!(store.sendable_prompts(&scope).await.expect("read").is_empty());
    }

    #[tokio::test]
    async fn recent_failures_and_pull_requests_need_the_user() {
        let (_sim, store, scope) = filled().await;
        let rows = store.jobs(&scope).await.expect("jobs");
        let is_recent = |row: &&Job| row.needs_action() && Utc::now() - row.local.changed_at < TimeDelta::hours(5);
        assert!(rows.iter().filter(is_recent).count() > 3);
        assert!(rows.iter().filter(is_recent).all(|row| row.group() == JobGroup::NeedsYou));
    }

    #[tokio::test]
    async fn the_demo_has_labels_a_blocked_follow_up_and_a_paused_batch() {
        let (_sim, store, scope) = filled().await;
        let rows = store.jobs(&scope).await.expect("jobs");
        assert_eq!(rows.iter().filter(|row| !row.local.tags.is_empty()).count(), 2);
        assert_eq!(rows.iter().filter(|row| row.local.has_custom_title && row.local.note.is_some()).count(), 1);
        let paused = rows.iter().filter(|row| row.local.undelivered == Some(DeliveryKind::Paused));
        assert_eq!(paused.count(), PAUSED_BATCH.len());
        let refused: Vec<&Job> =
            rows.iter().filter(|row| row.local.undelivered == Some(DeliveryKind::Rejected)).collect();
        let [refused] = refused[..] else { panic!("{refused:?}") };
        let thread = store.thread(refused.key).await.expect("a thread");
        let last: Vec<DeliveryKind> = thread.prompts.iter().rev().take(2).map(|p| p.delivery.kind()).collect();
        assert_eq!(last, [DeliveryKind::Queued, DeliveryKind::Rejected]);
        assert!(!refused.local.dismissed && refused.id.is_some());
    }
}
