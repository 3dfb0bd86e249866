//! A server whose disk is full, for its tables and for its journal: members continue on their own computers, and
//! everything arrives once, as soon as there is space again.

use crate::engines::{start_in_memory, wait_for_status, wait_for_team_budget};
use crate::support::postgres::Postgres;
use crate::support::start_sim;
use crate::{Member, connect, member_settings, now, scope, text, with_schema};
use docdeck::model::change::LocalChange;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::ledger::{CountedBy, Quota};
use docdeck::model::log::{LogEntry, LogKind, Operation};
use docdeck::model::prompt::Delivery;
use docdeck::model::remote_job::Status;
use docdeck::model::team::TeamStatus;
use docdeck::model::text::CleanText;
use docdeck::team::{Exchange, ExchangeSummary, TeamLimit};

/// Enough jobs that the database needs more space for them than its pages have.
const JOBS: usize = 40;

async fn start_database_on_small_disk() -> Option<Postgres> {
    Some(with_schema(Postgres::start_on_small_disk()?).await)
}

/// Tracks jobs with long notes that can't be compressed.
async fn add_jobs(member: &Member, prefix: &str) {
    let mut random = fastrand::Rng::with_seed(7);
    for n in 0..JOBS {
        let id = format!("{prefix}{n}");
        member.track(&id, Status::Completed).await;
        let note: String = (0..3000).map(|_| random.alphanumeric()).collect();
        member.change(&id, LocalChange::Note(Some(CleanText::block(&note)))).await;
    }
}

/// Checks that both members and the database have all jobs and prompts, once.
async fn check_complete(server: &Postgres, ana: &Member, bob: &Member, jobs: usize) {
    for member in [ana, bob, ana] {
        member.exchange().await;
    }
    for member in [ana, bob] {
        assert_eq!(member.exchange().await, ExchangeSummary::default(), "{}", member.name);
        let all = member.store.jobs(&member.scope).await.expect("read");
        assert_eq!(all.len(), jobs, "{}", member.name);
        for job in all {
            let id = job.id.expect("an id");
            assert_eq!(bob.seen(id.as_str()).await, ana.seen(id.as_str()).await);
        }
    }
    assert_eq!(server.sql("SELECT count(*) FROM docdeck.job"), jobs.to_string());
}

#[tokio::test]
async fn what_did_not_fit_into_the_tables_arrives_when_there_is_space_again() {
    let Some(server) = start_database_on_small_disk().await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.track("j1", Status::Active).await;
    ana.exchange().await;
    bob.exchange().await;
    server.disk().fill();
    add_jobs(&ana, "a").await;
    ana.change("j1", LocalChange::Title(Some(text("of ana")))).await;
    ana.follow_up("j1", "prompt of ana", Delivery::Accepted).await;
    ana.follow_up("j1", "lost prompt", Delivery::Unconfirmed(text("lost"))).await;
    for _ in 0..2 {
        let error = ana.exchange_over(&ana.url).await.expect_err("no space");
        assert!(error.is_temporary() && error.to_string().contains("temporary problem: could not"), "{error}");
        assert!(error.to_string().contains("No space left"), "{error}");
    }
    assert_eq!(server.sql("SELECT count(*) FROM docdeck.job"), "1", "nothing of an incomplete batch");
    // A small change of bob may still fit.
    bob.change("j1", LocalChange::AddTags(vec![text("b")])).await;
    let _ = bob.exchange_over(&bob.url).await;
    server.disk().free();
    check_complete(&server, &ana, &bob, JOBS + 1).await;
    let seen = bob.seen("j1").await;
    assert_eq!((seen.title.as_deref(), seen.tags), (Some("of ana"), vec!["b".to_owned()]));
    assert_eq!(seen.prompts.into_values().collect::<Vec<_>>(), ["unconfirmed", "accepted"]);
    assert_eq!(server.sql("SELECT count(*) FROM docdeck.prompt"), "2");
}

#[tokio::test]
async fn a_server_that_stops_because_its_journal_does_not_fit_has_everything_afterwards() {
    let Some(mut server) = start_database_on_small_disk().await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    add_jobs(&ana, "a").await;
    ana.exchange().await;
    // What the server writes next belongs into a new file of its journal.
    server.disk().fill();
    // The server may stop before it answers.
    let _ = server.try_sql("SELECT pg_switch_wal()");
    ana.follow_up("a1", "prompt of ana", Delivery::Accepted).await;
    ana.follow_up("a1", "lost prompt", Delivery::Unconfirmed(text("lost"))).await;
    let error = ana.exchange_over(&ana.url).await.expect_err("the server stops");
    assert!(error.is_temporary(), "{error}");
    let connection = connect(&ana.url).await;
    assert!(connection.is_err_and(|error| error.is_temporary()));
    let log = server.log();
    assert!(log.contains("PANIC") && log.contains("No space left"), "{log}");
    server.kill();
    server.disk().free();
    server.restart();
    check_complete(&server, &ana, &bob, JOBS).await;
    assert_eq!(bob.seen("a1").await.prompts.into_values().collect::<Vec<_>>(), ["unconfirmed", "accepted"]);
}

#[tokio::test]
async fn every_request_counts_once_even_if_it_could_not_be_booked() {
    let Some(server) = start_database_on_small_disk().await else { return };
    let (ana, scope) = (Member::join(&server, "ana", "p").await, scope("p"));
    ana.exchange().await;
    let connection = connect(&ana.url).await.expect("connected");
    let mut exchange = Exchange::start(&connection, &ana.store, &scope, member_settings("ana"))
        .await
        .expect("started")
        .expect("shared");
    let limit = |quota| TeamLimit { organization: "docs", scope: &scope, quota };
    assert!(connection.try_book_request(limit(Quota::Create), "first").await.expect("booked"));
    server.disk().fill();
    // The rows of one limit are there, those of another have no space.
    let mut unbooked = Vec::new();
    for n in 0..30 {
        for quota in [Quota::Create, Quota::FollowUp] {
            let booking = format!("{quota:?} {n}");
            match connection.try_book_request(limit(quota), &booking).await {
                Ok(is_booked) => assert!(is_booked && quota == Quota::Create, "{booking}"),
                Err(error) => {
                    assert!(error.is_temporary(), "{error}");
                    unbooked.push((quota, booking, now()));
                }
            }
        }
    }
    assert!(unbooked.len() >= 30, "{} of 60", unbooked.len());
    let error = exchange.take_lease_or_get_wait("ana's process").await.expect_err("its row does not exist");
    assert!(error.is_temporary() && !exchange.has_lease(), "{error}");
    server.disk().free();
    for _ in 0..2 {
        exchange.add_unbooked_requests(&unbooked).await.expect("reported");
    }
    let counts = exchange.ledger_usage().await.expect("read");
    assert_eq!((counts[0].used, counts[1].used), (31, 30));
    assert_eq!(exchange.take_lease_or_get_wait("ana's process").await.expect("taken"), None);
}

#[tokio::test]
async fn open_dashboards_continue_without_the_server_and_with_it_when_there_is_space_again() {
    let Some(server) = start_database_on_small_disk().await else { return };
    let sim = start_sim(&[]).await;
    let mut ana = start_in_memory(&sim, &server, "ana").await;
    let mut bob = start_in_memory(&sim, &server, "bob").await;
    wait_for_status(&mut ana, |status| status == TeamStatus::Online).await;
    wait_for_status(&mut bob, |status| status == TeamStatus::Online).await;
    server.disk().fill();
    // Neither the request nor the job, nor the lease for polling it has space.
    let (prompt, _) = ana.engine.submit_new_job("Without space [sim:seconds=6000]").await.expect("on disk");
    let (mut job, mut is_offline, mut is_checked) = (None, false, false);
    // This happens in any order.
    while job.is_none() || !is_offline || !is_checked {
        ana.wait_for_event("an accepted job, a request about it and the end of the exchange", |event| {
            match event {
                EngineEvent::Prompt { prompt: of, delivery: Delivery::Accepted, job: row } if *of == prompt => {
                    job = Some((**row).clone());
                }
                EngineEvent::Team(TeamStatus::Offline { .. }) => is_offline = true,
                EngineEvent::Logged(LogEntry {
                    kind: LogKind::Request { operation: Operation::GetJob, .. }, ..
                }) => {
                    is_checked = true;
                }
                _ => return None,
            }
            Some(())
        })
        .await;
    }
    let job = job.expect("accepted");
    assert_eq!(server.sql("SELECT count(*) FROM docdeck.job"), "0");
    server.disk().free();
    bob.wait_for_event("the job", |event| match event {
        EngineEvent::Job(row) if row.id == job.id => Some(()),
        _ => None,
    })
    .await;
    for member in [&mut ana, &mut bob] {
        let current = |counted_by| counted_by == CountedBy::Team { as_of: None };
        wait_for_team_budget(member, |budget| budget.used == 1 && current(budget.counted_by)).await;
    }
    assert_eq!((sim.carried_out_count(Operation::Create), sim.received_prompts().len()), (1, 1));
    for member in [&ana, &bob] {
        member.engine.stop().await;
    }
}
