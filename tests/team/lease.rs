//! The lease for polling, and its token.

use crate::support::postgres::Postgres;
use crate::{Member, connect, member_settings, now, start_database};
use docdeck::model::remote_job::Status;
use docdeck::team::{Exchange, LEASE_DURATION};
use std::pin::pin;
use std::time::Duration;

fn expire(server: &Postgres) {
    server.sql("UPDATE docdeck.lease SET expires_at = now() - interval '1 second'");
}

#[tokio::test]
async fn only_one_member_has_the_lease_until_it_is_released_or_expires() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    let (one, two) = (connect(&ana.url).await.expect("connected"), connect(&bob.url).await.expect("connected"));
    let mut of_ana =
        Exchange::start(&one, &ana.store, &ana.scope, member_settings("ana")).await.expect("started").expect("shared");
    let mut of_bob =
        Exchange::start(&two, &bob.store, &bob.scope, member_settings("bob")).await.expect("started").expect("shared");
    of_bob.listen().await.expect("listening");
    assert_eq!(of_ana.take_lease_or_get_wait("a").await.expect("taken"), None);
    assert_eq!(of_ana.take_lease_or_get_wait("a").await.expect("renewed"), None);
    let wait = of_bob.take_lease_or_get_wait("b").await.expect("an answer").expect("taken by ana");
    assert!(wait > Duration::ZERO && wait <= LEASE_DURATION && !of_bob.has_lease(), "{wait:?}");
    // Releasing notifies the others.
    of_ana.release_poll_lease().await.expect("released");
    assert!(two.next_notifications().await.expect("notified").is_lease_released);
    assert_eq!(of_bob.take_lease_or_get_wait("b").await.expect("taken"), None);
    assert_eq!(server.sql("SELECT token FROM docdeck.lease"), "2");
    // bob's computer sleeps, and ana takes the lease over.
    expire(&server);
    assert_eq!(of_ana.take_lease_or_get_wait("a").await.expect("taken over"), None);
    // The former holder can't release the lease of the new one, even before it knows about it.
    assert!(of_bob.has_lease());
    of_bob.release_poll_lease().await.expect("nothing to release");
    assert_eq!(server.sql("SELECT holder FROM docdeck.lease"), "a");
    assert!(of_bob.take_lease_or_get_wait("b").await.expect("an answer").is_some() && !of_bob.has_lease());
}

#[tokio::test]
async fn a_former_holder_notices_it_when_it_writes_a_result() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.track("j1", Status::Active).await;
    let (one, two) = (connect(&ana.url).await.expect("connected"), connect(&bob.url).await.expect("connected"));
    let mut of_ana =
        Exchange::start(&one, &ana.store, &ana.scope, member_settings("ana")).await.expect("started").expect("shared");
    let mut of_bob =
        Exchange::start(&two, &bob.store, &bob.scope, member_settings("bob")).await.expect("started").expect("shared");
    assert_eq!(of_ana.take_lease_or_get_wait("a").await.expect("taken"), None);
    assert!(of_ana.send_next_batch().await.expect("sent") && of_ana.has_lease());
    expire(&server);
    assert_eq!(of_bob.take_lease_or_get_wait("b").await.expect("taken over"), None);
    ana.track("j1", Status::Completed).await;
    assert!(of_ana.send_next_batch().await.expect("sent"));
    assert!(!of_ana.has_lease(), "the token is not the current one");
    of_bob.receive_next_changes(now()).await.expect("received");
    assert_eq!(bob.job("j1").await.remote.status, Some(Status::Completed), "the response is newer than what bob has");
}

#[tokio::test]
async fn nobody_takes_the_lease_over_while_its_holder_writes_a_result() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.track("j1", Status::Active).await;
    let (one, two) = (connect(&ana.url).await.expect("connected"), connect(&bob.url).await.expect("connected"));
    let mut of_ana =
        Exchange::start(&one, &ana.store, &ana.scope, ana.settings()).await.expect("started").expect("shared");
    let mut of_bob =
        Exchange::start(&two, &bob.store, &bob.scope, bob.settings()).await.expect("started").expect("shared");
    assert_eq!(of_ana.take_lease_or_get_wait("a").await.expect("taken"), None);
    expire(&server);
    // The transaction of ana has checked the lease, and waits for another writer.
    let writer = server.hold_lock("docdeck.project");
    {
        let mut send = pin!(of_ana.send_next_batch());
        tokio::select! {
            sent = &mut send => panic!("sent without the lock: {sent:?}"),
            () = wait_for_locks(&server, 1) => {}
        }
        let mut take = pin!(of_bob.take_lease_or_get_wait("b"));
        tokio::select! {
            taken = &mut take => panic!("taken over during the transaction: {taken:?}"),
            () = wait_for_locks(&server, 2) => {}
        }
        drop(writer);
        let (sent, taken) = tokio::join!(send, take);
        assert!(sent.expect("sent"));
        assert_eq!(taken.expect("taken over"), None);
    }
    assert!(of_ana.has_lease(), "it was the holder when it wrote");
}

/// Waits until so many connections wait for a lock.
async fn wait_for_locks(server: &Postgres, count: usize) {
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    while server.sql(waiting) != count.to_string() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
