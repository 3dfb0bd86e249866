//! The history of the demo: jobs, prompts, titles, tags and notes, as if docdeck had been in use for a while.

use crate::model::Time;
use crate::model::backup::{BackupHeader, BackupLine, JobRecord, PromptRecord};
use crate::model::change::{LocalChange, QueueChange};
use crate::model::endpoint::Scope;
use crate::model::job::{JobId, Status};
use crate::model::prompt::{Delivery, EventKind, JobEvent, PromptId, PromptKind};
use crate::model::row::{Job, JobGroup, JobKey};
use crate::model::text::CleanText;
use crate::sim::{SeededChange, SeededJob};
use crate::store::{ExportFilter, ImportError, SendOutcome, Store, StoreError};
use chrono::TimeDelta;
use futures_util::FutureExt as _;
use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;

/// Jobs that are written before the first frame; more would delay it.
const FIRST: usize = 200;
/// The instance that sent the prompts of the history.
const INSTANCE: &str = "demo";
/// A finished job is not checked again after this time.
const LAST_CHECK: TimeDelta = TimeDelta::seconds(60);
/// A prompt whose answer was lost, so that the demo has one to resolve.
const LOST: &str = "Explain how to rotate API keys without downtime";
const LOST_WHY: &str =
    "The connection broke after the request went out, so the service may or may not have carried it out.";
const LOST_AGO: TimeDelta = TimeDelta::minutes(3);

/// A follow-up that the service rejected, and the one that waits behind it.
const REFUSED: &str = "Also translate the code samples";
const REFUSED_WHY: &str = "The service refused it: prompt is too vague, name the files (400).";
const HELD: &str = "And link the translations from the sidebar";
const REFUSED_AGO: TimeDelta = TimeDelta::minutes(9);
/// The paused rest of a batch.
const BATCH: [&str; 3] = [
    "Add a troubleshooting section to /guides/webhooks",
    "Add a troubleshooting section to /guides/single-sign-on",
    "Add a troubleshooting section to /guides/rate-limits",
];
const BATCH_AGO: TimeDelta = TimeDelta::minutes(26);

/// The pages of some jobs, by the first lines of their prompts: working, failed, finished days ago.
const ABOUT: [(&str, &[&str]); 5] = [
    ("Rewrite the SSO guide", &["/guides/sso"]),
    ("Shorten the introduction to one screen", &["/introduction"]),
    ("Remove the beta label from custom domains", &["/guides/custom-domains"]),
    ("Add curl examples beside every API operation", &["/api/create-job", "/api/get-job", "/api/send-message"]),
    ("Check the spelling of product names across the site", &["/quickstart", "/installation"]),
];

/// Writes the history into an empty store.
#[derive(Debug)]
pub(super) struct DemoHistory<'a> {
    pub(super) store: &'a Store,
    pub(super) scope: &'a Scope,
    pub(super) now: Time,
}

/// The lines of an export, generated while they are read.
struct Lines {
    jobs: std::vec::IntoIter<SeededJob>,
    scope: Scope,
    now: Time,
    line: Cursor<Vec<u8>>,
}

impl Lines {
    fn new(jobs: Vec<SeededJob>, scope: &Scope, now: Time) -> Self {
        let header = BackupLine::Header(BackupHeader { program: CleanText::line(INSTANCE), exported_at: now });
        let line = Cursor::new(header.write().unwrap_or_default().into_bytes());
        Self { jobs: jobs.into_iter(), scope: scope.clone(), now, line }
    }
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.line.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            let Some(job) = self.jobs.next() else { return Ok(0) };
            let Some(record) = job_record(&self.scope, &job, self.now) else { continue };
            let text = BackupLine::Job(Box::new(record)).write().map_err(io::Error::other)?;
            self.line = Cursor::new(format!("\n{text}").into_bytes());
        }
    }
}

/// An event of a job's history.
#[derive(Debug)]
enum HistoryStep<'a> {
    FollowUp(&'a str),
    Change(&'a SeededChange),
}

impl DemoHistory<'_> {
    /// Writes the newest jobs. Returns the older ones if there are many.
    pub(super) async fn fill(&self, mut jobs: Vec<SeededJob>) -> Result<Vec<SeededJob>, ImportError> {
        let first = jobs.split_off(jobs.len().saturating_sub(FIRST));
        let is_full = first.len() > 2;
        self.import(first).await?;
        if is_full {
            // The cost is charged two days ago, so that the ledgers start empty.
            let mut paid = self.now - TimeDelta::hours(48);
            let at = self.now - LOST_AGO;
            let (prompt, _) = self.store.add_new_job(self.scope, LOST, at).await?;
            self.send(prompt, SendOutcome::Unconfirmed(CleanText::line(LOST_WHY)), at, &mut paid).await?;
            self.add_rejected_follow_up(&mut paid).await?;
            self.add_labels().await?;
            self.pause_a_batch().await?;
        }
        Ok(jobs)
    }

    /// Queues the older jobs in the store, which writes them after the earlier requests.
    pub(super) fn add_rest(&self, rest: Vec<SeededJob>) {
        let (store, lines, now) = (self.store.clone(), Lines::new(rest, self.scope, self.now), self.now);
        let mut import = Box::pin(async move {
            store.import(BufReader::new(lines), ExportFilter::default(), false, now).await.map(|_| ())
        });
        if (&mut import).now_or_never().is_none() {
            // The store is in memory, so this can fail only because of a bug in the demo.
            tokio::spawn(import);
        }
    }

    /// Imports the service's jobs in one transaction.
    async fn import(&self, jobs: Vec<SeededJob>) -> Result<(), ImportError> {
        let lines = Lines::new(jobs, self.scope, self.now);
        self.store.import(BufReader::new(lines), ExportFilter::default(), false, self.now).await?;
        Ok(())
    }

    /// Adds a rejected follow-up, and one that waits behind it.
    async fn add_rejected_follow_up(&self, paid: &mut Time) -> Result<(), StoreError> {
        let at = self.now - REFUSED_AGO;
        let rows = self.store.jobs(self.scope).await?;
        let is_old = |row: &&Job| row.group() == JobGroup::Done && row.created_at < at && row.pr_link.is_some();
        let Some(row) = rows.iter().rev().find(is_old) else { return Ok(()) };
        let (prompt, _) = self.store.add_follow_up(row.key, REFUSED, at).await?;
        self.send(prompt, SendOutcome::Rejected(CleanText::line(REFUSED_WHY)), at, paid).await?;
        self.store.add_follow_up(row.key, HELD, at + TimeDelta::seconds(40)).await?;
        Ok(())
    }

    /// Adds tags to two jobs, and a title and a note to one of them.
    async fn add_labels(&self) -> Result<(), StoreError> {
        let rows = self.store.jobs(self.scope).await?;
        let mut done = rows.iter().rev().filter(|row| row.group() == JobGroup::Done);
        let line = CleanText::line;
        if let Some(row) = done.next() {
            self.change(row.key, LocalChange::Tags(vec![line("release"), line("api")])).await?;
            self.change(row.key, LocalChange::Title(Some(line("Release notes, before Friday")))).await?;
            self.change(row.key, LocalChange::Note(Some(line("Ana reviews it; merge after the release")))).await?;
        }
        if let Some(row) = done.next() {
            self.change(row.key, LocalChange::Tags(vec![line("api")])).await?;
        }
        Ok(())
    }

    async fn change(&self, key: JobKey, change: LocalChange) -> Result<(), StoreError> {
        self.store.change_jobs(&[key], change, self.now).await?;
        Ok(())
    }

    async fn pause_a_batch(&self) -> Result<(), StoreError> {
        let at = self.now - BATCH_AGO;
        let rows = self.store.add_batch(self.scope, &BATCH.map(str::to_owned), at).await?;
        let keys: Vec<JobKey> = rows.iter().map(|row| row.key).collect();
        self.store.change_queue(&keys, QueueChange::Pause, at).await?;
        Ok(())
    }

    async fn send(&self, prompt: PromptId, how: SendOutcome, at: Time, paid: &mut Time) -> Result<(), StoreError> {
        *paid += TimeDelta::hours(1);
        self.store.take_turn(prompt, INSTANCE, at, *paid).await?;
        self.store.finish_send(prompt, how, at).await?;
        Ok(())
    }
}

/// The events of a job after its creation, in order; a follow-up comes before the change that it caused.
fn steps(seeded: &SeededJob) -> Vec<(Time, HistoryStep<'_>)> {
    let follow_ups = seeded.follow_up_at.iter().zip(&seeded.follow_ups);
    let mut steps: Vec<(Time, HistoryStep<'_>)> =
        follow_ups.map(|(at, text)| (*at, HistoryStep::FollowUp(text))).collect();
    steps.extend(seeded.changes.iter().map(|change| (change.at, HistoryStep::Change(change))));
    steps.sort_by_key(|(at, _)| *at);
    steps
}

/// The pages that a job of the history is about.
fn pages_of(job: &SeededJob) -> Vec<CleanText> {
    let known = ABOUT.iter().find(|(title, _)| !job.is_variation && job.prompt.lines().next() == Some(title));
    known.map_or_else(Vec::new, |(_, pages)| pages.iter().map(|page| CleanText::line(page)).collect())
}

/// The stored job, as if it was sent from this computer and checked all the time.
fn job_record(scope: &Scope, job: &SeededJob, now: Time) -> Option<JobRecord> {
    let created = job.created_at;
    let row = Job {
        id: Some(JobId::new(&job.body.id)?),
        repository: Some(Arc::new(CleanText::line(&job.body.source.repository))),
        git_ref: job.body.source.git_ref.as_deref().map(CleanText::line),
        model: Some(Arc::new(CleanText::line(&job.body.model))),
        pages: pages_of(job).into(),
        ..Job::new(JobKey(0), CleanText::default(), created)
    };
    let prompts = vec![sent(PromptKind::Create, &job.prompt, created)];
    let mut record = JobRecord { scope: scope.clone(), row, prompts, events: Vec::new(), draft: None };
    record.row.title = record.default_title();
    apply_answer(&mut record, created, Status::Active, None);
    for (at, step) in steps(job) {
        match step {
            HistoryStep::FollowUp(text) => {
                record.prompts.push(sent(PromptKind::FollowUp, text, at));
                apply_answer(&mut record, at, Status::Active, None);
                record.row.started_at = at;
            }
            HistoryStep::Change(change) => {
                apply_answer(&mut record, at, Status::parse(&change.status), change.pr_link.as_deref())
            }
        }
    }
    let row = &mut record.row;
    let last = (row.checked_at.unwrap_or(created) + LAST_CHECK).min(now);
    if row.status.as_ref().is_some_and(Status::is_finished) {
        row.checked_at = Some(last);
    }
    row.viewed_at = job.seen.then_some(last.max(row.changed_at));
    row.handled_at = row.viewed_at;
    Some(record)
}

fn sent(kind: PromptKind, text: &str, at: Time) -> PromptRecord {
    let text = text.to_owned();
    PromptRecord {
        kind,
        text,
        delivery: Delivery::Accepted,
        written_at: at,
        sent_at: Some(at),
        state_at: Some(at),
        draft: None,
    }
}

/// Applies an answer of the service to the job, as the store does.
fn apply_answer(record: &mut JobRecord, at: Time, status: Status, pr_link: Option<&str>) {
    let JobRecord { row, events, .. } = record;
    row.checked_at = Some(at);
    let was_finished = row.status.as_ref().is_some_and(Status::is_finished);
    if row.status.as_ref() != Some(&status) {
        let from = row.status.replace(status.clone());
        row.finished_at =
            if status.is_finished() { row.finished_at.filter(|_| was_finished).or(Some(at)) } else { None };
        row.archived_at = (status == Status::Archived).then_some(at);
        row.changed_at = at;
        events.push(JobEvent { at, kind: EventKind::Status { from, to: status } });
    }
    let pr_link = pr_link.map(CleanText::line);
    if pr_link.is_some() && pr_link != row.pr_link {
        row.pr_link.clone_from(&pr_link);
        row.changed_at = at;
        events.extend(pr_link.map(|link| JobEvent { at, kind: EventKind::PullRequest(link) }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ledger::RateLimited;
    use crate::model::prompt::{Delivery, DeliveryKind};
    use crate::sim::{Sim, SimOptions};
    use chrono::Utc;

    async fn filled() -> (Sim, Store, Scope) {
        let sim = Sim::start(SimOptions { pages: 10, ..SimOptions::default() }).await.expect("a simulator");
        let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
        let store = Store::in_memory().expect("a store");
        DemoHistory { store: &store, scope: &scope, now: Utc::now() }.fill(sim.seeded()).await.expect("filled");
        (sim, store, scope)
    }

    #[tokio::test]
    async fn the_demo_has_every_job_of_the_service() {
        let (sim, store, scope) = filled().await;
        for seeded in sim.seeded() {
            let id = JobId::new(&seeded.id).expect("an id");
            let row = store.job_by_id(&scope, &id).await.expect("read").expect("known");
            assert_eq!(row.status.map(|status| status.word().to_owned()), Some(seeded.body.status), "{}", seeded.id);
            // After a follow-up the answer has no link; the earlier one is kept.
            if let Some(link) = seeded.body.pr_link {
                assert_eq!(row.pr_link.map(|link| link.to_string()), Some(link), "{}", seeded.id);
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
        let about: Vec<&Job> = rows.iter().filter(|row| !row.pages.is_empty()).collect();
        assert_eq!(about.len(), ABOUT.len());
        for page in about.iter().flat_map(|row| &row.pages) {
            assert!(site.contains(&page.as_str()), "{page}");
        }
        assert!(about.iter().any(|row| row.status == Some(Status::Completed)), "one has finished");
        // A draft would open instead of the templates that the demo shows for a page.
        assert_eq!(store.drafts(&scope).await.expect("drafts"), []);
    }

    #[tokio::test]
    async fn of_many_jobs_the_newest_are_written_first_and_the_rest_after_earlier_requests() {
        let options = SimOptions { pages: 10, jobs: 1_000, ..SimOptions::default() };
        let sim = Sim::start(options).await.expect("a simulator");
        let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
        let store = Store::in_memory().expect("a store");
        let history = DemoHistory { store: &store, scope: &scope, now: Utc::now() };
        let rest = history.fill(sim.seeded()).await.expect("filled");
        assert_eq!(rest.len(), 1_000 - FIRST);
        let before = store.jobs(&scope).await.expect("jobs");
        history.add_rest(rest);
        let after = store.jobs(&scope).await.expect("jobs");
        assert_eq!(after.len(), before.len() + 1_000 - FIRST);
        // The jobs that are not done are all there from the start.
        let needs = |rows: &[Job]| rows.iter().filter(|row| row.group() < JobGroup::Done).count();
        assert_eq!(needs(&after), needs(&before));
    }

    #[tokio::test]
    async fn the_demo_opens_with_empty_ledgers() {
        let (_sim, store, scope) = filled().await;
        for limited in RateLimited::ALL {
            assert_eq!(store.budget(&scope, limited, Utc::now()).await.expect("a budget").used, 0, "{limited:?}");
        }
    }

    #[tokio::test]
    async fn the_demo_has_jobs_in_every_group() {
        let (_sim, store, scope) = filled().await;
        let groups: Vec<JobGroup> = store.jobs(&scope).await.expect("jobs").iter().map(|row| row.group()).collect();
        for group in [JobGroup::NeedsYou, JobGroup::Working, JobGroup::Queued, JobGroup::Done] {
            assert!(groups.contains(&group), "{group:?}");
        }
        assert!(store.queued(&scope).await.expect("read").is_empty());
    }

    #[tokio::test]
    async fn the_demo_has_labels_a_blocked_follow_up_and_a_paused_batch() {
        let (_sim, store, scope) = filled().await;
        let rows = store.jobs(&scope).await.expect("jobs");
        assert_eq!(rows.iter().filter(|row| !row.tags.is_empty()).count(), 2);
        assert_eq!(rows.iter().filter(|row| row.has_own_title && row.note.is_some()).count(), 1);
        let paused = rows.iter().filter(|row| row.undelivered == Some(DeliveryKind::Paused));
        assert_eq!(paused.count(), BATCH.len());
        let refused: Vec<&Job> = rows.iter().filter(|row| row.undelivered == Some(DeliveryKind::Rejected)).collect();
        let [refused] = refused[..] else { panic!("{refused:?}") };
        let thread = store.thread(refused.key).await.expect("a thread");
        let last: Vec<DeliveryKind> = thread.prompts.iter().rev().take(2).map(|p| p.delivery.kind()).collect();
        assert_eq!(last, [DeliveryKind::Queued, DeliveryKind::Rejected]);
        assert!(!refused.dismissed && refused.id.is_some());
    }
}
