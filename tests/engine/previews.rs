//! Tests of building previews of the site.

use crate::support::engine::EngineFixture;
use crate::support::{set_faults, start_sim};
use chrono::TimeDelta;
use docdeck::model::diff::{Diff, FileChange};
use docdeck::model::failure::FailureKind;
use docdeck::model::job::JobKey;
use docdeck::model::log::Operation;
use docdeck::model::preview::{BuildState, StartedBuild};
use docdeck::model::text::CleanText;
use docdeck::sim::{Sim, SimOptions};
use docdeck::store::Store;

async fn start_build(fixture: &EngineFixture, job: JobKey) -> StartedBuild {
    fixture.engine.start_preview(job).await.expect("a build")
}

async fn state(fixture: &EngineFixture, build: &StartedBuild) -> BuildState {
    fixture.engine.fetch_preview_build(&build.id).await.expect("a state").state
}

async fn start(sim: &Sim, prompt: &str) -> (EngineFixture, JobKey) {
    let mut fixture = EngineFixture::start_in_memory(sim).await;
    let (_, row) = fixture.submit_accepted_job(prompt).await;
    (fixture, row.key)
}

#[tokio::test]
async fn a_build_succeeds_or_fails_with_its_log() {
    let sim = start_sim(&[]).await;
    let (mut fixture, job) = start(&sim, "Fix it").await;
    let (_, broken) = fixture.submit_accepted_job("Repair the broken page [sim:pr]").await;
    let build = start_build(&fixture, job).await;
    assert!(build.url.as_ref().is_some_and(|url| url.as_str().starts_with("https://acme-docs-")), "{build:?}");
    let failing = start_build(&fixture, broken.key).await;
    sim.advance(TimeDelta::seconds(30));
    assert_eq!(state(&fixture, &build).await, BuildState::Success);
    let failed = fixture.engine.fetch_preview_build(&failing.id).await.expect("a state");
    assert_eq!(failed.state, BuildState::Failure);
    let is_changed = |path: &str| failed.files.iter().any(|(_, file)| file.as_str() == path);
    let position = |line: &CleanText| line.as_str().split_once(":14:").map(|(path, _)| path.to_owned());
    assert!(failed.log.iter().filter_map(position).any(|path| is_changed(&path)), "{failed:?}");
    fixture.engine.stop().await;
}

#[tokio::test]
async fn a_build_changes_the_same_files_as_the_pull_request_of_its_branch() {
    let sim = Sim::start(SimOptions { jobs: 0, ..SimOptions::default() }).await.expect("a simulator");
    let mut fixture = EngineFixture::start_with_hosts(&sim, Store::in_memory().expect("a store"), None).await;
    for prompt in ["Fix the links [sim:seconds=1]", "Fix the images [sim:seconds=1][sim:gitlab]"] {
        let (_, row) = fixture.submit_accepted_job(prompt).await;
        fixture.wait_for_job(row.key, "its state", |row| row.pull_request.is_some()).await;
        let build = start_build(&fixture, row.key).await;
        let built = fixture.engine.fetch_preview_build(&build.id).await.expect("a state").files;
        let diff = Diff::parse(fixture.engine.load_diff(row.key, false).await.expect("a diff").text);
        let mut changed: Vec<(FileChange, CleanText)> =
            diff.files.iter().map(|file| (file.change, file.path.clone())).collect();
        // A build lists the added files first.
        changed.sort_by_key(|(change, _)| *change != FileChange::Added);
        assert_eq!(built, changed, "{prompt}");
    }
    fixture.engine.stop().await;
}

#[tokio::test]
async fn five_builds_a_minute_are_sent_and_the_sixth_is_not() {
    let sim = start_sim(&[]).await;
    let (fixture, job) = start(&sim, "Fix it").await;
    for _ in 0..5 {
        start_build(&fixture, job).await;
    }
    let failure = fixture.engine.start_preview(job).await.expect_err("the limit is reached");
    assert!(matches!(failure.kind, FailureKind::Limited(_)), "{failure:?}");
    assert!(failure.message.as_str().starts_with("At most 5 previews a minute can be built. Try again in "));
    assert_eq!(sim.requests(Operation::Preview), 5);
    fixture.engine.stop().await;
}

#[tokio::test]
async fn a_refusal_names_the_plan_and_a_lost_response_is_not_repeated() {
    let sim = start_sim(&["preview=403"]).await;
    let (fixture, job) = start(&sim, "Fix it").await;
    let refused = fixture.engine.start_preview(job).await.expect_err("refused").message.to_string();
    assert!(refused.contains("the project's plan may not include previews"), "{refused}");
    set_faults(&sim, &["preview=lost"]);
    let lost = fixture.engine.start_preview(job).await.expect_err("lost").message.to_string();
    assert!(lost.contains("the preview may be built anyway"), "{lost}");
    assert_eq!(sim.requests(Operation::Preview), 2);
    // A wait that the service demands applies to the next build.
    set_faults(&sim, &["preview=429"]);
    fixture.engine.start_preview(job).await.expect_err("limited");
    set_faults(&sim, &[]);
    fixture.engine.start_preview(job).await.expect_err("still limited");
    assert_eq!(sim.requests(Operation::Preview), 3);
    fixture.engine.stop().await;
}
