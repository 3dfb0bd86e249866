//! Tests of a batch of new jobs while the service fails in several ways.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, scope_of, set_faults, start_sim};
use chrono::TimeDelta;
use docdeck::api::{Client, ClientOptions};
use docdeck::model::endpoint::ApiKey;
use docdeck::model::job::{Job, JobGroup};
use docdeck::model::ledger::Quota;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use docdeck::sim::Sim;
use docdeck::store::{SendPermit, Store};
use std::time::Duration;

/// Queues `count` new jobs with the keys that a user presses.
async fn queue_jobs(dashboard: &mut DashboardFixture, count: usize) {
    dashboard.wait_until_shown("new jobs: 100 of 100 left").await;
    let texts: Vec<String> = (0..count).map(|n| format!("Page {n:02} [sim:seconds=6000]")).collect();
    dashboard.press_chars("b");
    dashboard.paste(&texts.join("\n\n"));
    dashboard.press_ctrl('s');
    dashboard.assert_shows(&format!("{count} jobs, all can start now"));
    dashboard.press_chars("y");
}

fn assert_each_sent_once(sim: &Sim, count: usize) {
    let mut texts: Vec<String> = sim.received_prompts().into_iter().map(|(_, text)| text).collect();
    texts.sort();
    let all: Vec<String> = (0..count).map(|n| format!("Page {n:02} [sim:seconds=6000]")).collect();
    assert_eq!(texts, all);
}

#[tokio::test]
async fn a_lost_response_in_a_batch_makes_one_prompt_unconfirmed_and_the_rest_is_sent() {
    let (sim, folder) = (start_sim(&["create=lost"]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    queue_jobs(&mut dashboard, 12).await;
    // docdeck sends four prompts at a time, so at most four responses are lost.
    dashboard.wait_until("a lost answer", |_| sim.carried_out_count(Operation::Create) > 0).await;
    set_faults(&sim, &[]);
    dashboard.wait_until("the rest", |_| sim.carried_out_count(Operation::Create) == 12).await;
    let is_settled = |row: &Job| row.id.is_some() || row.local.undelivered == Some(DeliveryKind::Unconfirmed);
    dashboard
        .wait_until("the last answer", |dashboard| {
            dashboard.app.jobs.shown_rows().filter(|row| is_settled(row)).count() == 12
        })
        .await;
    let lost = dashboard.app.jobs.count_of(JobGroup::NeedsYou);
    assert!((1..=4).contains(&lost), "{lost}");
    let mut unconfirmed = 0;
    for row in dashboard.store.jobs(&dashboard.scope).await.expect("rows") {
        let is_unconfirmed = row.local.undelivered == Some(DeliveryKind::Unconfirmed);
        assert_eq!(row.id.is_none(), is_unconfirmed, "{row:?}");
        unconfirmed += usize::from(is_unconfirmed);
    }
    assert_eq!(unconfirmed, lost);
    assert_each_sent_once(&sim, 12);
    assert_eq!(sim.requests(Operation::Create), 12);
    dashboard.assert_shows(&format!("Needs you {lost}"));
}

#[tokio::test]
async fn after_a_429_in_a_batch_the_rest_is_sent_once_when_the_limit_resets() {
    // The latency leaves time to set the next fault, and the limit holds until the screen was checked, even on a busy
    // computer.
    let (sim, folder) = (start_sim(&["create=latency-100"]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    queue_jobs(&mut dashboard, 12).await;
    dashboard.wait_until("some of it", |_| sim.carried_out_count(Operation::Create) >= 2).await;
    set_faults(&sim, &["create=429-3"]);
    dashboard.wait_until_shown("new jobs: limit reached, next request in").await;
    let before = sim.carried_out_count(Operation::Create);
    assert!(before < 12, "{before}");
    dashboard.assert_shows("Queued");
    set_faults(&sim, &[]);
    dashboard
        .wait_until("the rest", |dashboard| {
            dashboard.app.jobs.shown_rows().filter(|row| row.id.is_some()).count() == 12
        })
        .await;
    assert_each_sent_once(&sim, 12);
    assert!(sim.requests(Operation::Create) <= 12 + 4, "only prompts that were being sent got a 429");
}

#[tokio::test]
async fn after_the_clock_is_set_back_an_hour_the_limit_still_holds_and_no_prompt_is_lost() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let (scope, ahead) = (scope_of(&sim), sim.now() + TimeDelta::hours(1));
    // Records a hundred requests as if this computer's clock were an hour ahead. The last request creates a job.
    let (store, _) = Store::open(folder.path(), ahead).expect("a store");
    for _ in 0..99 {
        store.spend(&scope, Quota::Create, ahead).await.expect("written").expect("a place");
    }
    let (prompt, row) =
        store.add_new_job(&scope, "From later on [sim:seconds=6000] [sim:pr]", ahead).await.expect("on disk");
    let SendPermit::Granted { text, .. } = store.request_permit(prompt, "dead", ahead, ahead).await.expect("a turn")
    else {
        panic!("no turn")
    };
    let key = ApiKey::new(sim.api_key()).expect("a key");
    let client = Client::new(scope.clone(), key, ClientOptions::default()).expect("a client");
    let job = client.create_job(&text).await.result.expect("a job");
    store.record_accepted_send(prompt, job, ahead).await.expect("written");
    store.close().await;

    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.wait_until_shown("new jobs: 0 of 100 left").await;
    dashboard.send_new("Too early");
    dashboard
        .wait_until("the prompt in the line", |dashboard| {
            dashboard.app.dialogs.is_empty() && dashboard.shows("Queued 1")
        })
        .await;
    // Two minutes later, the job has finished. The user refreshes it instead of waiting for the next automatic check.
    sim.advance(TimeDelta::minutes(2));
    dashboard.press_chars("g");
    assert_eq!(dashboard.selected_job().key, row.key);
    dashboard.press_chars("r");
    dashboard
        .wait_until("the end of the job", |dashboard| {
            dashboard.app.jobs.get(row.key).is_some_and(|row| row.remote.pr_link.is_some())
        })
        .await;
    dashboard.wait_until_shown("Needs you 1").await;
    dashboard.run_for(Duration::from_millis(100)).await;
    assert_eq!(
        (sim.requests(Operation::Create), sim.received_prompts().len()),
        (1, 1),
        "only the request of the test itself was sent"
    );
}
