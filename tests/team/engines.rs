//! Engines of several members: changes arrive by themselves, one of them polls, and all share the hourly limits.

use crate::support::engine::EngineFixture;
use crate::support::postgres::Postgres;
use crate::support::{create_folder, open_store, start_sim};
use crate::{address, start_database, text};
use docdeck::engine::TeamAccess;
use docdeck::model::change::LocalChange;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::job::Job;
use docdeck::model::ledger::{Budget, CountedBy, Quota};
use docdeck::model::log::Operation;
use docdeck::model::prompt::Delivery;
use docdeck::model::team::TeamStatus;
use docdeck::sim::Sim;
use docdeck::store::Store;
use std::time::Duration;

async fn start(sim: &Sim, server: &Postgres, name: &str, store: Store) -> EngineFixture {
    start_over(sim, &server.url("ana"), name, store).await
}

/// Starts the engine of a member that reaches the database over this URL.
pub(crate) async fn start_over(sim: &Sim, url: &str, name: &str, store: Store) -> EngineFixture {
    let scope = crate::support::scope_of(sim);
    store.join_team(&scope, "docs").await.expect("joined");
    let access = TeamAccess { address: address(url), name: text(name) };
    EngineFixture::start_as_member(sim, store, access).await
}

pub(crate) async fn start_in_memory(sim: &Sim, server: &Postgres, name: &str) -> EngineFixture {
    start(sim, server, name, Store::in_memory().expect("a store")).await
}

pub(crate) async fn wait_for_status(member: &mut EngineFixture, wanted: fn(TeamStatus) -> bool) {
    member
        .wait_for_event("the state of the exchange", |event| match event {
            EngineEvent::Team(status) if wanted(*status) => Some(()),
            _ => None,
        })
        .await;
}

pub(crate) async fn wait_for_title(member: &mut EngineFixture, title: &str) -> Job {
    member
        .wait_for_event("the new title", |event| match event {
            EngineEvent::Job(row) if row.local.title.as_str() == title => Some((**row).clone()),
            _ => None,
        })
        .await
}

pub(crate) async fn wait_for_team_budget(member: &mut EngineFixture, wanted: impl Fn(&Budget) -> bool) -> Budget {
    // An earlier event may have had it.
    member.engine.emit_budgets().await;
    member
        .wait_for_event("the team's budget", |event| match event {
            EngineEvent::Budget(Quota::Create, budget) if wanted(budget) => Some(*budget),
            _ => None,
        })
        .await
}

pub(crate) async fn rename(member: &EngineFixture, job: &Job, title: &str) {
    let title = LocalChange::Title(Some(text(title)));
    member.store.change_jobs(&[job.key], title, crate::now()).await.expect("changed");
}

#[tokio::test]
async fn changes_and_used_requests_reach_the_other_member_by_themselves() {
    let Some(mut server) = start_database(&[]).await else { return };
    let sim = start_sim(&[]).await;
    let mut ana = start_in_memory(&sim, &server, "ana").await;
    let mut bob = start_in_memory(&sim, &server, "bob").await;
    wait_for_status(&mut ana, |status| status == TeamStatus::Online).await;
    wait_for_status(&mut bob, |status| status == TeamStatus::Online).await;
    let (_, of_ana) = ana.submit_accepted_job("Shared [sim:seconds=6000]").await;
    let of_bob = bob
        .wait_for_event("the job", |event| match event {
            EngineEvent::Job(row) if row.id == of_ana.id => Some((**row).clone()),
            _ => None,
        })
        .await;
    let budget = wait_for_team_budget(&mut bob, |budget| budget.used == 1).await;
    assert_eq!(budget.counted_by, CountedBy::Team { as_of: None });
    rename(&bob, &of_bob, "from bob").await;
    let seen = wait_for_title(&mut ana, "from bob").await;
    assert_eq!(seen.id, of_ana.id);
    // Without the database, everything else works. The team's number shows its age.
    server.kill();
    wait_for_status(&mut ana, |status| matches!(status, TeamStatus::Offline { .. })).await;
    wait_for_status(&mut bob, |status| matches!(status, TeamStatus::Offline { .. })).await;
    let (_, offline) = bob.submit_accepted_job("Sent offline [sim:seconds=6000]").await;
    let is_old = |budget: &Budget| matches!(budget.counted_by, CountedBy::Team { as_of: Some(_) });
    assert_eq!(wait_for_team_budget(&mut bob, |budget| is_old(budget) && budget.used == 2).await.limit, 100);
    rename(&ana, &of_ana, "offline").await;
    server.restart();
    wait_for_title(&mut bob, "offline").await;
    ana.wait_for_event("the job that was sent offline", |event| match event {
        EngineEvent::Job(row) if row.id == offline.id => Some(()),
        _ => None,
    })
    .await;
    let current = |budget: &Budget| budget.counted_by == CountedBy::Team { as_of: None } && budget.used == 2;
    wait_for_team_budget(&mut ana, current).await;
    for member in [&ana, &bob] {
        while member.engine.has_team_connection() {
            member.engine.release_leases_and_close_team_connection().await;
        }
        member.engine.stop().await;
    }
    assert_eq!(server.sql("SELECT holder FROM docdeck.lease"), "", "released at the end");
}

#[tokio::test]
async fn one_member_polls_and_another_takes_over() {
    let Some(server) = start_database(&[]).await else { return };
    let sim = start_sim(&[]).await;
    let mut ana = start_in_memory(&sim, &server, "ana").await;
    // With several jobs, checks are more frequent.
    for _ in 0..5 {
        ana.submit_accepted_job("Shared [sim:seconds=6000]").await;
    }
    let (_, job) = ana.submit_accepted_job("Shared [sim:seconds=6000]").await;
    ana.wait_for_check().await;
    let mut bob = start_in_memory(&sim, &server, "bob").await;
    bob.wait_for_event("the job", |event| match event {
        EngineEvent::Job(row) if row.id == job.id => Some(()),
        _ => None,
    })
    .await;
    wait_for_status(&mut bob, |status| status == TeamStatus::Online).await;
    for _ in 0..2 {
        ana.wait_for_check().await;
    }
    // A request that bob makes himself is not polling.
    assert!(bob.wait_for_event_within(Duration::ZERO, |_| None::<()>).await.is_none());
    assert_eq!(bob.request_count_of(Operation::GetJob), 0);
    // When ana suspends docdeck, bob polls, and afterwards ana doesn't.
    ana.engine.release_leases_and_close_team_connection().await;
    assert!(!ana.engine.has_team_connection());
    bob.wait_for_check().await;
    let holder = server.sql("SELECT holder FROM docdeck.lease");
    ana.engine.resume();
    wait_for_status(&mut ana, |status| status == TeamStatus::Online).await;
    bob.wait_for_check().await;
    assert_eq!(server.sql("SELECT holder FROM docdeck.lease"), holder);
    bob.engine.stop().await;
    ana.wait_for_check().await;
    // The computer of a third member has the lease and loses its power, so nothing releases it.
    server.sql("UPDATE docdeck.lease SET holder = 'gone', token = token + 1, expires_at = now() + interval '1 second'");
    while server.sql("SELECT holder FROM docdeck.lease") == "gone" {
        ana.wait_for_check().await;
    }
    ana.engine.stop().await;
}

#[tokio::test]
async fn at_the_team_s_limit_a_prompt_waits_until_the_team_has_a_request_left() {
    let Some(server) = start_database(&[]).await else { return };
    let sim = start_sim(&[]).await;
    let folder = create_folder();
    let mut ana = start(&sim, &server, "ana", open_store(folder.path())).await;
    ana.submit_accepted_job("The first one").await;
    // Other members use the rest.
    server.sql(
        "UPDATE docdeck.request_slot SET booking = 'x', used_at = extract(epoch FROM now()) * 1000 - 600000;
         SELECT pg_notify('docdeck_docs', 'ledger')",
    );
    wait_for_team_budget(&mut ana, |budget| budget.requests_left() == 0).await;
    let (prompt, _) = ana.engine.submit_new_job("One too many").await.expect("on disk");
    let (delivery, _) = ana.wait_for_delivery(prompt).await;
    let Delivery::Queued { until: Some(until) } = delivery else { panic!("{delivery:?}") };
    assert!(until > crate::now() + chrono::TimeDelta::minutes(45), "{until}");
    assert_eq!(sim.carried_out_count(Operation::Create), 1);
    server.sql(
        "UPDATE docdeck.request_slot SET booking = '', used_at = 0 WHERE number <= 3;
         SELECT pg_notify('docdeck_docs', 'ledger')",
    );
    let (delivery, _) = ana.wait_for_delivery(prompt).await;
    assert_eq!((delivery, sim.carried_out_count(Operation::Create)), (Delivery::Accepted, 2));
    ana.engine.stop().await;
}

#[tokio::test]
async fn after_a_429_of_one_member_the_others_wait_without_a_request() {
    let Some(server) = start_database(&[]).await else { return };
    let sim = start_sim(&["create=429-600"]).await;
    let folder = create_folder();
    let mut ana = start_in_memory(&sim, &server, "ana").await;
    let mut bob = start(&sim, &server, "bob", open_store(folder.path())).await;
    wait_for_status(&mut bob, |status| status == TeamStatus::Online).await;
    let (refused, _) = ana.engine.submit_new_job("Refused").await.expect("on disk");
    let (delivery, _) = ana.wait_for_delivery(refused).await;
    assert!(matches!(delivery, Delivery::Queued { until: Some(_) }), "{delivery:?}");
    // bob learns of it without doing anything.
    let budget = wait_for_team_budget(&mut bob, |budget| budget.blocked.is_some()).await;
    assert_eq!((budget.requests_left(), budget.blocked.map(|wait| wait.is_estimate)), (0, Some(false)));
    let requests = sim.requests(Operation::Create);
    let (prompt, _) = bob.engine.submit_new_job("Waits, too").await.expect("on disk");
    let (delivery, _) = bob.wait_for_delivery(prompt).await;
    let Delivery::Queued { until: Some(until) } = delivery else { panic!("{delivery:?}") };
    let left = until - crate::now();
    assert!(left > chrono::TimeDelta::minutes(8) && left < chrono::TimeDelta::minutes(11), "{left}");
    assert_eq!((sim.requests(Operation::Create), requests), (1, 1));
    // A member who starts later waits, too, and other kinds of requests go on.
    let mut cam = start_in_memory(&sim, &server, "cam").await;
    wait_for_team_budget(&mut cam, |budget| budget.blocked.is_some()).await;
    let totals = crate::reports::range().single_days().take(1).collect::<Vec<_>>();
    cam.engine.load_totals(&totals).await.expect("loaded");
    for member in [&ana, &bob, &cam] {
        member.engine.stop().await;
    }
}

#[tokio::test]
async fn an_outdated_docdeck_says_so_once_and_works_locally() {
    let Some(server) = start_database(&[]).await else { return };
    server.sql("UPDATE docdeck.schema_version SET version = 1000");
    let sim = start_sim(&[]).await;
    let mut ana = start_in_memory(&sim, &server, "ana").await;
    let notice = ana
        .wait_for_event("a notice", |event| match event {
            EngineEvent::Notice(text) => Some(text.to_string()),
            _ => None,
        })
        .await;
    assert!(notice.contains("newer docdeck"), "{notice}");
    ana.submit_accepted_job("Local [sim:seconds=6000]").await;
    ana.wait_for_check().await;
    ana.engine.stop().await;
}
