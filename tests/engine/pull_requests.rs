//! Tests of the requests to code hosts: when they are sent, what they change, and when they stop.

#[cfg(unix)]
use crate::changes::wait_for_lines;
use crate::support::engine::EngineFixture;
use crate::support::{create_folder, open_store, scope_of, start_sim};
use chrono::TimeDelta;
use docdeck::engine::{HostAccess, HostClients};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::job::{Job, JobGroup, JobKey};
use docdeck::model::pull_request::{ChecksState, HostKind, PullRequestState};
use docdeck::model::pull_request_action::{ActionOutcome, PullRequestAction};
use docdeck::model::remote_job::{JobId, RemoteJob, RemoteState, Status};
use docdeck::model::text::CleanText;
use docdeck::runtime::hosts::SimulatedHosts;
use docdeck::sim::{HostFault, Sim, SimOptions};
use docdeck::store::Store;
#[cfg(unix)]
use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;

async fn start_with_hosts(sim: &Sim) -> EngineFixture {
    EngineFixture::start_with_hosts(sim, Store::in_memory().expect("a store"), None).await
}

#[tokio::test]
async fn a_new_pull_request_is_read_with_its_checks_and_the_job_works_until_they_have_finished() {
    // At the usual speed, the checks take longer than the test.
    let sim = Sim::start(SimOptions { jobs: 0, ..SimOptions::default() }).await.expect("a simulator");
    let mut fixture = start_with_hosts(&sim).await;
    let (_, row) = fixture.submit_accepted_job("Fix it [sim:seconds=1]").await;
    let row = fixture.wait_for_job(row.key, "its state", |row| row.pull_request.is_some()).await;
    let state = row.pull_request.as_ref().expect("a state");
    assert_eq!(state.checks.state, ChecksState::Pending);
    assert_eq!(row.group(), JobGroup::Working);
    assert_eq!(sim.host_request_count(), 2, "one for the state, one for the checks");
    sim.advance(TimeDelta::minutes(10));
    fixture.engine.refresh_pull_requests(None);
    let row = fixture
        .wait_for_job(row.key, "finished checks", |row| {
            row.pull_request.as_ref().is_some_and(|state| state.checks.state != ChecksState::Pending)
        })
        .await;
    assert_eq!((row.group(), sim.host_request_count()), (JobGroup::NeedsYou, 4));
    fixture.engine.stop().await;
}

#[tokio::test]
async fn points_that_were_spent_before_the_start_count_and_the_user_is_told_that_none_are_left() {
    let sim = start_sim(&[]).await;
    let store = Store::in_memory().expect("a store");
    store.record_host_points("github.com", 498, chrono::Utc::now()).await.expect("written");
    let mut fixture = EngineFixture::start_with_hosts(&sim, store, None).await;
    fixture.submit_accepted_job("Fix it [sim:seconds=1]").await;
    let notice = fixture
        .wait_for_event("a notice", |event| match event {
            EngineEvent::Notice(text) => Some(text.to_string()),
            _ => None,
        })
        .await;
    assert!(notice.contains("share of the hourly limit of github.com (500 points)"), "{notice}");
    // GitLab has a limit of its own.
    let (_, row) = fixture.submit_accepted_job("Fix it [sim:seconds=1][sim:gitlab]").await;
    fixture.wait_for_job(row.key, "its state", |row| row.pull_request.is_some()).await;
    assert_eq!(fixture.host_requests().len(), 1);
    fixture.engine.stop().await;
}

#[tokio::test]
async fn pull_requests_of_two_hosts_are_read_with_the_token_of_each() {
    let sim = Sim::start(SimOptions { jobs: 0, ..SimOptions::default() }).await.expect("a simulator");
    let mut fixture = start_with_hosts(&sim).await;
    for (prompt, host) in
        [("Fix it [sim:seconds=1]", "github.com"), ("Fix it [sim:seconds=1][sim:gitlab]", "gitlab.com")]
    {
        let (_, row) = fixture.submit_accepted_job(prompt).await;
        let row = fixture.wait_for_job(row.key, "its state", |row| row.pull_request.is_some()).await;
        assert!(row.remote.pr_link.as_ref().is_some_and(|link| link.as_str().contains(host)), "{row:?}");
        assert_eq!(row.pull_request.expect("a state").checks.state, ChecksState::Pending);
    }
    assert!(fixture.host_requests().iter().all(|request| *request == (Some(200), None)));
    fixture.engine.stop().await;
}

#[tokio::test]
async fn a_refused_token_is_reported_once_and_not_used_again_until_the_user_asks() {
    let sim = start_sim(&[]).await;
    sim.set_host_fault(Some(HostFault::ExpiredToken));
    let mut fixture = start_with_hosts(&sim).await;
    let (_, row) = fixture.submit_accepted_job("Fix it [sim:seconds=1]").await;
    let notice = fixture
        .wait_for_event("a notice", |event| match event {
            EngineEvent::Notice(text) => Some(text.to_string()),
            _ => None,
        })
        .await;
    assert!(
        notice.contains("github.com")
            && notice.contains("refused")
            && !notice.contains(sim.host_token(HostKind::GitHub))
    );
    let refused = "the token was refused (401); it is wrong, expired or revoked";
    assert_eq!(fixture.host_requests(), [(Some(401), Some(refused.to_owned()))]);
    fixture.engine.set_focused(false);
    fixture.engine.set_focused(true);
    let (_, other) = fixture.submit_accepted_job("Fix that too [sim:seconds=1]").await;
    fixture.wait_for_job(other.key, "its link", |row| row.remote.pr_link.is_some()).await;
    assert_eq!(sim.host_request_count(), 1);
    sim.set_host_fault(None);
    fixture.engine.refresh_pull_requests(Some(vec![row.key]));
    fixture.wait_for_job(row.key, "its state", |row| row.pull_request.is_some()).await;
    let logged = fixture.host_requests();
    assert!(logged.len() > 1 && logged[1..].iter().all(|request| *request == (Some(200), None)), "{logged:?}");
    fixture.engine.stop().await;
}

#[tokio::test]
async fn without_the_focus_nothing_is_requested() {
    let sim = start_sim(&[]).await;
    let mut fixture = start_with_hosts(&sim).await;
    fixture.engine.set_focused(false);
    let (_, row) = fixture.submit_accepted_job("Fix it [sim:seconds=1]").await;
    fixture.wait_for_job(row.key, "its link", |row| row.remote.pr_link.is_some()).await;
    let (_, other) = fixture.submit_accepted_job("Fix that too [sim:seconds=1]").await;
    fixture.wait_for_job(other.key, "its link", |row| row.remote.pr_link.is_some()).await;
    assert_eq!(sim.host_request_count(), 0);
    fixture.engine.set_focused(true);
    fixture.wait_for_job(row.key, "its state", |row| row.pull_request.is_some()).await;
    fixture.engine.stop().await;
}

/// Adds two jobs with the same pull request to the store.
async fn track_jobs_with_one_link(sim: &Sim, store: &Store) -> [JobKey; 2] {
    let jobs = sim.initial_jobs().into_iter().map(|job| RemoteJob {
        id: JobId::new(&job.id).expect("an id"),
        created_at: Some(job.created_at),
        state: job.body.state,
    });
    let jobs: Vec<RemoteJob> = jobs.collect();
    let linked = jobs.iter().find(|job| job.state.pr_link.is_some()).expect("a job with a link");
    let other = jobs.iter().find(|job| job.id != linked.id).expect("another job");
    let twin = RemoteJob { state: linked.state.clone(), ..other.clone() };
    let scope = scope_of(sim);
    let first = store.track(&scope, linked.clone(), sim.now()).await.expect("written");
    let second = store.track(&scope, twin, sim.now()).await.expect("written");
    [first.key, second.key]
}

/// Has a token for the simulated host only.
#[derive(Debug)]
struct OneToken(Arc<dyn HostClients>);

impl HostClients for OneToken {
    fn access<'a>(&'a self, host: &'a str, kind: HostKind) -> Pin<Box<dyn Future<Output = HostAccess> + Send + 'a>> {
        if host == "github.com" { self.0.access(host, kind) } else { Box::pin(async { HostAccess::NoToken }) }
    }
}

#[tokio::test]
async fn many_pull_requests_of_a_host_without_a_token_do_not_keep_others_from_being_read() {
    let sim = start_sim_with_jobs().await;
    let store = Store::in_memory().expect("a store");
    let [oldest, _] = track_jobs_with_one_link(&sim, &store).await;
    for n in 0..220 {
        let link = CleanText::line(&format!("https://ghe.corp/acme/docs/pull/{n}"));
        let state = RemoteState { status: Some(Status::Completed), pr_link: Some(link), ..RemoteState::default() };
        let job = RemoteJob { id: JobId::new(&format!("other-{n}")).expect("an id"), created_at: None, state };
        store.track(&scope_of(&sim), job, sim.now()).await.expect("written");
    }
    let directory = OneToken(SimulatedHosts::clients(&sim).expect("a host"));
    let mut fixture = EngineFixture::start_with_directory(&sim, store, Arc::new(directory)).await;
    let missing = |event: &EngineEvent| match event {
        EngineEvent::MissingToken { host, .. } => Some(host.to_string()),
        _ => None,
    };
    assert_eq!(fixture.wait_for_event("a missing token", missing).await, "ghe.corp");
    fixture.wait_for_job(oldest, "its state", |row| row.pull_request.is_some()).await;
    fixture.engine.stop().await;
}

async fn start_sim_with_jobs() -> Sim {
    Sim::start(SimOptions { jobs: 60, ..SimOptions::default() }).await.expect("a simulator")
}

#[tokio::test]
async fn a_pull_request_of_two_jobs_is_requested_once_and_both_get_its_state() {
    let sim = start_sim_with_jobs().await;
    let store = Store::in_memory().expect("a store");
    let jobs = track_jobs_with_one_link(&sim, &store).await;
    let mut fixture = EngineFixture::start_with_hosts(&sim, store, None).await;
    // The events of both jobs follow each other, newest job first.
    fixture.wait_for_job(jobs[0], "its state", |row| row.pull_request.is_some()).await;
    let mut states = Vec::new();
    for key in jobs {
        let row = fixture.store.job(key).await.expect("read").expect("there");
        states.push(row.pull_request.expect("a state"));
    }
    assert_eq!(states[0], states[1]);
    assert_eq!(states[0].state, PullRequestState::Merged);
    assert_eq!(sim.host_request_count(), 1, "the checks of a merged pull request are not requested");
    fixture.engine.stop().await;
}

#[tokio::test]
async fn the_focused_instance_refreshes_although_another_one_polls() {
    let (sim, folder) = (start_sim_with_jobs().await, create_folder());
    let store = open_store(folder.path());
    let mut polling = EngineFixture::start_with_hosts(&sim, store, Some(folder.path())).await;
    polling.engine.set_focused(false);
    let store = open_store(folder.path());
    let jobs = track_jobs_with_one_link(&sim, &store).await;
    let mut focused = EngineFixture::start_with_hosts(&sim, store, Some(folder.path())).await;
    focused.wait_for_job(jobs[0], "its state", |row| row.pull_request.is_some()).await;
    polling.wait_for_job(jobs[0], "the state from the store", |row| row.pull_request.is_some()).await;
    polling.engine.stop().await;
    focused.engine.stop().await;
    assert_eq!(sim.host_request_count(), 1, "the instance without the focus requests nothing");
}

#[tokio::test]
async fn a_failure_that_concerns_one_pull_request_does_not_stop_the_requests_to_its_host() {
    let sim = Sim::start(SimOptions { jobs: 0, ..SimOptions::default() }).await.expect("a simulator");
    let mut fixture = start_with_hosts(&sim).await;
    let (_, row) = fixture.submit_accepted_job("Fix it [sim:seconds=1]").await;
    fixture.wait_for_job(row.key, "its state", |row| row.pull_request.is_some()).await;
    for (fault, is_of_host) in [(HostFault::OtherRepository, false), (HostFault::LimitInStatus, true)] {
        sim.set_host_fault(Some(fault));
        fixture.engine.load_diff(row.key, true).await.expect_err("no diff");
        sim.set_host_fault(None);
        let details = fixture.engine.load_pull_request_details(row.key).await;
        assert_eq!(details.is_err(), is_of_host, "{fault:?}: {details:?}");
    }
    let limited = fixture.engine.load_diff(row.key, true).await.expect_err("still limited").message;
    assert!(limited.as_str().starts_with("The rate limit of github.com is reached. Try again in "), "{limited}");
    fixture.engine.stop().await;
}

#[tokio::test]
async fn checks_that_could_not_be_read_are_neither_ready_nor_lost() {
    let sim = Sim::start(SimOptions { jobs: 0, ..SimOptions::default() }).await.expect("a simulator");
    let mut fixture = start_with_hosts(&sim).await;
    let (_, row) = fixture.submit_accepted_job("Fix it [sim:seconds=1]").await;
    fixture.wait_for_job(row.key, "its state", |row| row.pull_request.is_some()).await;
    sim.advance(TimeDelta::minutes(10));
    fixture.engine.refresh_pull_requests(None);
    let is_finished = |row: &Job| row.group() == JobGroup::NeedsYou;
    let read = fixture.wait_for_job(row.key, "finished checks", is_finished).await;
    let read = read.pull_request.expect("a state");
    assert!(read.has_current_checks());
    sim.set_host_fault(Some(HostFault::ForbiddenChecks));
    fixture.engine.refresh_pull_requests(None);
    let is_newer = |row: &Job| row.pull_request.as_ref().is_some_and(|state| state.as_of > read.as_of);
    let forbidden = fixture.wait_for_job(row.key, "a newer state", is_newer).await.pull_request.expect("a state");
    assert_eq!((forbidden.checks.state, forbidden.has_current_checks()), (ChecksState::Unavailable, true));
    fixture.engine.stop().await;
}

#[cfg(unix)]
#[tokio::test]
async fn the_on_change_program_runs_when_the_checks_have_finished() {
    let folder = create_folder();
    let file = folder.path().join("changes");
    let program = ["sh", "-c", "cat >>\"$0\"", &file.display().to_string()].map(str::to_owned).to_vec();
    let sim = Sim::start(SimOptions { jobs: 0, ..SimOptions::default() }).await.expect("a simulator");
    let mut fixture = EngineFixture::start_with_hosts_and_on_change(&sim, program).await;
    let (_, row) = fixture.submit_accepted_job("Fix it [sim:seconds=1]").await;
    fixture.wait_for_job(row.key, "its state", |row| row.pull_request.is_some()).await;
    sim.advance(TimeDelta::minutes(10));
    fixture.engine.refresh_pull_requests(None);
    fixture.wait_for_job(row.key, "finished checks", |row| row.group() == JobGroup::NeedsYou).await;
    let written = wait_for_lines(&file, 3).await;
    let checks = written
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("one JSON object a line"))
        .map(|job| job["pullRequest"]["checks"]["state"].as_str().unwrap_or("unknown").to_owned());
    // The programs of changes that follow each other closely run at the same time.
    let checks: BTreeSet<String> = checks.collect();
    assert_eq!(checks.len(), 3, "{written}");
    assert!(checks.contains("unknown") && checks.contains("pending"), "{written}");
    fixture.engine.stop().await;
}

#[tokio::test]
async fn a_merge_looks_up_the_changed_pages_of_the_job() {
    let sim = Sim::start(SimOptions { jobs: 0, ..SimOptions::default() }).await.expect("a simulator");
    let mut fixture = start_with_hosts(&sim).await;
    let (_, row) = fixture.submit_accepted_job("Fix it [sim:seconds=1]").await;
    let row = fixture.wait_for_job(row.key, "its state", |row| row.pull_request.is_some()).await;
    assert!(row.local.pages.is_empty());
    let head = row.pull_request.expect("a state").head;
    let merged = fixture.engine.perform_pull_request_action(row.key, head, PullRequestAction::Merge(None)).await;
    assert_eq!(merged, ActionOutcome::Done);
    fixture.wait_for_job(row.key, "the pages", |row| !row.local.pages.is_empty()).await;
    fixture.engine.stop().await;
}

/// Tries 50 pull requests, and 200 with `DOCDECK_SLOW_TESTS`.
#[tokio::test]
async fn a_round_of_two_hundred_open_pull_requests_takes_at_most_twenty_requests() {
    let is_slow = std::env::var_os("DOCDECK_SLOW_TESTS").is_some();
    let (count, jobs, expected) = if is_slow { (200, 3_000, 17..=20) } else { (50, 750, 5..=6) };
    let sim = Sim::start(SimOptions { jobs, ..SimOptions::default() }).await.expect("a simulator");
    let is_on_github = |job: &RemoteJob| {
        job.state.pr_link.as_ref().is_some_and(|link| link.as_str().starts_with("https://github.com/"))
    };
    let jobs = sim.initial_jobs().into_iter().map(|job| RemoteJob {
        id: JobId::new(&job.id).expect("an id"),
        created_at: Some(job.created_at),
        state: job.body.state,
    });
    let jobs: Vec<RemoteJob> = jobs.filter(is_on_github).collect();
    let all = Store::in_memory().expect("a store");
    let mut keys = Vec::new();
    for job in &jobs {
        keys.push(all.track(&scope_of(&sim), job.clone(), sim.now()).await.expect("written").key);
    }
    // Rounds of 200 show which of them are open.
    let fixture = EngineFixture::start_with_hosts(&sim, all, None).await;
    let is_open = |job: &Job| job.pull_request.as_ref().is_some_and(|state| state.state == PullRequestState::Open);
    let mut open: Vec<JobId> = Vec::new();
    for keys in keys.chunks(200) {
        fixture.engine.refresh_pull_requests(Some(keys.to_vec()));
        wait_for_states(&fixture, keys).await;
        let known = fixture.store.jobs(&fixture.scope).await.expect("read");
        open = known.into_iter().filter(is_open).filter_map(|job| job.id).collect();
        if open.len() >= count {
            break;
        }
    }
    fixture.engine.stop().await;
    open.truncate(count);
    assert_eq!(open.len(), count);

    let store = Store::in_memory().expect("a store");
    let mut keys = Vec::new();
    for job in jobs.iter().filter(|job| open.contains(&job.id)) {
        keys.push(store.track(&scope_of(&sim), job.clone(), sim.now()).await.expect("written").key);
    }
    // Conflicts that the host has not computed yet are requested once more.
    sim.set_host_fault(Some(HostFault::UnknownConflicts));
    let before = sim.host_request_count();
    let fixture = EngineFixture::start_with_hosts(&sim, store, None).await;
    wait_for_states(&fixture, &keys).await;
    fixture.engine.stop().await;
    let requests = sim.host_request_count() - before;
    assert!(expected.contains(&requests), "{requests} requests");
    assert_eq!(fixture.store.spent_host_points("github.com", chrono::Utc::now()).await.expect("read"), requests as u64);
}

/// Waits until the states of all these pull requests are stored.
async fn wait_for_states(fixture: &EngineFixture, keys: &[JobKey]) {
    let started = std::time::Instant::now();
    loop {
        let jobs = fixture.store.jobs(&fixture.scope).await.expect("read");
        let missing = |job: &&Job| job.pull_request.is_none() && keys.contains(&job.key);
        let Some(missing) = jobs.iter().find(missing) else { return };
        assert!(started.elapsed() < std::time::Duration::from_secs(30), "not read: {:?}", missing.remote.pr_link);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}
