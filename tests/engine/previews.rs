//! Tests of building previews of the site.

use crate::support::engine::EngineFixture;
use crate::support::{set_faults, start_sim};
use chrono::TimeDelta;
use docdeck::model::failure::FailureKind;
use docdeck::model::job::JobKey;
use docdeck::model::log::Operation;
use docdeck::model::preview::{BuildState, StartedBuild};
use docdeck::sim::Sim;

async fn start_build(fixture: &EngineFixture, job: JobKey) -> StartedBuild {
    fixture.engine.start_preview(job).await.expect("a build")
}

async fn state(fixture: &EngineFixture, build: &StartedBuild) -> BuildState {
    fixture.engine.preview_build(&build.id).await.expect("a state").state
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
    let (_, broken) = fixture.submit_accepted_job("Repair the broken page").await;
    let build = start_build(&fixture, job).await;
    assert!(build.url.as_ref().is_some_and(|url| url.as_str().starts_with("https://acme-docs-")), "{build:?}");
    let failing = start_build(&fixture, broken.key).await;
    sim.advance(TimeDelta::seconds(30));
    assert_eq!(state(&fixture, &build).await, BuildState::Success);
    let failed = fixture.engine.preview_build(&failing.id).await.expect("a state");
    assert_eq!(failed.state, BuildState::Failure);
    assert!(failed.log.iter().any(|line| line.as_str().contains("guides/webhooks.mdx:14")), "{failed:?}");
    assert_eq!(failed.files.len(), 1);
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
