//! Exchanges that end in the middle: the connection is cut at each message, docdeck is killed at each message, the
//! server is killed or restored from an older copy. The next exchange always leads to the same state, and nothing
//! happens twice.

use crate::proxy::{Cut, Proxy};
use crate::support::postgres::{Postgres, copy_folder};
use crate::support::slow::sample;
use crate::{Member, SeenJob, now, start_database, text};
use docdeck::model::change::LocalChange;
use docdeck::model::prompt::Delivery;
use docdeck::model::remote_job::Status;
use docdeck::store::Store;
use docdeck::team::{ExchangeSummary, TeamError};

/// Prepares two members that have something to exchange in both directions.
async fn prepare(server: &Postgres, project: &str) -> (Member, Member) {
    let (ana, bob) = (Member::join(server, "ana", project).await, Member::join(server, "bob", project).await);
    bob.track("j1", Status::Active).await;
    bob.change("j1", LocalChange::Title(Some(text("of bob")))).await;
    bob.exchange().await;
    ana.exchange().await;
    bob.change("j1", LocalChange::AddTags(vec![text("b")])).await;
    bob.follow_up("j1", "prompt of bob", Delivery::Accepted).await;
    bob.exchange().await;
    ana.change("j1", LocalChange::Title(Some(text("of ana")))).await;
    ana.follow_up("j1", "prompt of ana", Delivery::Accepted).await;
    ana.follow_up("j1", "lost prompt", Delivery::Unconfirmed(text("lost"))).await;
    ana.track("j2", Status::Completed).await;
    (ana, bob)
}

/// Checks that both have everything, once, and that bob's later title is not overwritten by ana's repeated batch.
async fn check_complete(server: &Postgres, ana: &Member, bob: &Member, context: &str) {
    let seen: SeenJob = ana.seen("j1").await;
    assert_eq!(bob.seen("j1").await, seen, "{context}");
    assert_eq!(bob.seen("j2").await, ana.seen("j2").await, "{context}");
    assert_eq!(seen.tags, ["b"], "{context}");
    assert_eq!(seen.prompts.len(), 3, "{context}: {seen:?}");
    for member in [ana, bob] {
        assert_eq!(member.prompts("j1").await.len(), 3, "{context}");
        assert_eq!(member.store.jobs(&member.scope).await.expect("read").len(), 2, "{context}");
        assert_eq!(member.exchange().await, ExchangeSummary::default(), "{context}: {}", member.name);
    }
    let prompts = "SELECT count(*) FROM docdeck.prompt JOIN docdeck.project ON project.id = prompt.project
         WHERE project.project = ";
    assert_eq!(server.sql(&format!("{prompts}'{}'", ana.scope.project)), "3", "{context}");
}

#[tokio::test]
async fn a_connection_that_is_cut_at_any_message_loses_and_repeats_nothing() {
    let Some(server) = start_database(&[]).await else { return };
    for cut in [Cut::Request, Cut::Answer] {
        for at in sample(0..100, 5) {
            let context = format!("{cut:?} {at}");
            let (ana, bob) = prepare(&server, &context).await;
            let proxy = Proxy::start(server.folder(), at, cut);
            let result = ana.exchange_over(&proxy.url("ana")).await;
            // The last message only ends the connection.
            let Err(error) = result else {
                assert!(at > 10, "the exchange has only {at} messages");
                break;
            };
            assert!(error.is_temporary(), "{context}: {error}");
            // Someone else writes in the meantime. If ana's batch had arrived, this is the later write.
            bob.exchange().await;
            let had_arrived = bob.seen("j1").await.title.as_deref() == Some("of ana");
            bob.change("j1", LocalChange::Title(Some(text("of bob, later")))).await;
            bob.exchange().await;
            ana.exchange().await;
            bob.exchange().await;
            check_complete(&server, &ana, &bob, &context).await;
            let expected = if had_arrived { "of bob, later" } else { "of ana" };
            assert_eq!(ana.seen("j1").await.title.as_deref(), Some(expected), "{context}: a batch counted twice");
        }
    }
}

#[tokio::test]
async fn a_docdeck_that_is_killed_at_any_message_continues_later() {
    let Some(server) = start_database(&[]).await else { return };
    for at in sample(0..100, 7) {
        let context = format!("killed at {at}");
        let (ana, bob) = prepare(&server, &context).await;
        // The same data in a file, to open it again after the end of the process.
        let folder = tempfile::tempdir().expect("a folder");
        let file = crate::support::open_store(folder.path());
        let ana = copy_into(ana, file).await;
        let proxy = Proxy::start(server.folder(), usize::MAX, Cut::Request);
        let url = proxy.url("ana");
        let killed = tokio::select! {
            result = ana.exchange_over(&url) => {
                result.expect("exchanged");
                false
            }
            () = async { while proxy.messages() <= at { tokio::task::yield_now().await; } } => true,
        };
        if !killed {
            assert!(at > 10, "the exchange has only {at} messages");
            break;
        }
        ana.store.clone().close().await;
        let ana = Member { store: crate::support::open_store(folder.path()), ..ana };
        ana.exchange().await;
        bob.exchange().await;
        ana.exchange().await;
        check_complete(&server, &ana, &bob, &context).await;
    }
}

/// Returns the member with a copy of its jobs in another store.
async fn copy_into(member: Member, store: Store) -> Member {
    store.join_team(&member.scope, "docs").await.expect("joined");
    let copy = Member { store, ..member };
    copy.track("j1", Status::Active).await;
    copy.exchange().await;
    copy.change("j1", LocalChange::Title(Some(text("of ana")))).await;
    copy.follow_up("j1", "prompt of ana", Delivery::Accepted).await;
    copy.follow_up("j1", "lost prompt", Delivery::Unconfirmed(text("lost"))).await;
    copy.track("j2", Status::Completed).await;
    copy
}

#[tokio::test]
async fn a_server_that_is_killed_during_an_exchange_loses_nothing() {
    let Some(mut server) = start_database(&[]).await else { return };
    for at in [2, 6, 9, 11, 15] {
        let context = format!("server killed at {at}");
        let (ana, bob) = prepare(&server, &context).await;
        let proxy = Proxy::start(server.folder(), usize::MAX, Cut::Request);
        let url = proxy.url("ana");
        let exchange = ana.exchange_over(&url);
        tokio::pin!(exchange);
        let result = tokio::select! {
            result = &mut exchange => Some(result),
            () = async { while proxy.messages() <= at { tokio::task::yield_now().await; } } => None,
        };
        if result.is_none() {
            server.kill();
            let error = exchange.await.expect_err(&context);
            assert!(error.is_temporary(), "{context}: {error}");
        }
        let offline = if result.is_none() { ana.exchange_over(&ana.url).await } else { Ok(ExchangeSummary::default()) };
        assert!(result.is_some() || offline.is_err_and(|error| matches!(error, TeamError::Unreachable { .. })));
        if result.is_none() {
            server.restart();
        }
        ana.exchange().await;
        bob.exchange().await;
        ana.exchange().await;
        check_complete(&server, &ana, &bob, &context).await;
    }
}

#[tokio::test]
async fn after_the_database_is_restored_from_an_older_copy_everyone_still_has_everything() {
    let Some(mut server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.track("j1", Status::Active).await;
    ana.change("j1", LocalChange::Tags(vec![text("kept"), text("removed")])).await;
    ana.exchange().await;
    bob.exchange().await;
    server.kill();
    let copy = server.folder().join("copy");
    copy_folder(&server.data_folder(), &copy);
    server.restart();
    // What happens after the copy was made.
    bob.change("j1", LocalChange::RemoveTags(vec![text("removed")])).await;
    bob.change("j1", LocalChange::Title(Some(text("of bob")))).await;
    bob.follow_up("j1", "prompt of bob", Delivery::Accepted).await;
    bob.track("j2", Status::Completed).await;
    bob.exchange().await;
    ana.exchange().await;
    ana.follow_up("j1", "prompt of ana", Delivery::Unconfirmed(text("lost"))).await;
    ana.exchange().await;
    bob.exchange().await;
    let expected = (ana.seen("j1").await, ana.seen("j2").await);
    server.kill();
    server.restart_with(&copy);
    // A new member writes first, so that the numbers of changes go on differently.
    let cam = Member::join(&server, "cam", "p").await;
    for n in 0..9 {
        cam.track(&format!("c{n}"), Status::Active).await;
        cam.exchange().await;
    }
    assert!(ana.exchange().await.was_database_restored);
    assert!(bob.exchange().await.was_database_restored);
    for member in [&ana, &bob, &cam, &ana] {
        member.exchange().await;
    }
    for member in [&ana, &bob, &cam] {
        assert_eq!((member.seen("j1").await, member.seen("j2").await), expected, "{}", member.name);
        assert_eq!(member.store.jobs(&member.scope).await.expect("read").len(), 11, "{}", member.name);
        assert_eq!(member.exchange().await, ExchangeSummary::default(), "{}", member.name);
    }
    let permit = bob.store.request_permit(bob.prompts("j1").await[0].id, "bob", now(), now()).await.expect("an answer");
    assert_eq!(permit, docdeck::store::SendPermit::NotQueued);
}
