//! The lease for polling, and its token.

use crate::support::postgres::Postgres;
use crate::{Member, connect, now, start_database};
use docdeck::model::remote_job::Status;
use docdeck::team::{Exchange, LEASE_DURATION};
use std::time::Duration;

fn expire(server: &Postgres) {
    server.sql("UPDATE docdeck.lease SET expires_at = now() - interval '1 second'");
}

#[tokio::test]
async fn only_one_member_has_the_lease_until_it_is_released_or_expires() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    let (one, two) = (connect(&ana.url).await.expect("connected"), connect(&bob.url).await.expect("connected"));
    let mut of_ana = Exchange::start(&one, &ana.store, &ana.scope, "ana").await.expect("started").expect("shared");
    let mut of_bob = Exchange::start(&two, &bob.store, &bob.scope, "bob").await.expect("started").expect("shared");
    of_bob.listen().await.expect("listening");
    assert_eq!(of_ana.take_lease("a").await.expect("taken"), None);
    assert_eq!(of_ana.take_lease("a").await.expect("renewed"), None);
    let wait = of_bob.take_lease("b").await.expect("an answer").expect("taken by ana");
    assert!(wait > Duration::ZERO && wait <= LEASE_DURATION && !of_bob.has_lease(), "{wait:?}");
    // Releasing notifies the others.
    of_ana.release_lease().await.expect("released");
    assert!(two.next_signals().await.expect("notified").is_lease_released);
    assert_eq!(of_bob.take_lease("b").await.expect("taken"), None);
    assert_eq!(server.sql("SELECT token FROM docdeck.lease"), "2");
    // bob's computer sleeps, and ana takes the lease over.
    expire(&server);
    assert_eq!(of_ana.take_lease("a").await.expect("taken over"), None);
    assert!(of_bob.take_lease("b").await.expect("an answer").is_some() && !of_bob.has_lease());
    // The former holder can't release the lease of the new one.
    of_bob.release_lease().await.expect("nothing to release");
    assert_eq!(server.sql("SELECT holder FROM docdeck.lease"), "a");
}

#[tokio::test]
async fn a_former_holder_notices_it_when_it_writes_a_result() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.track("j1", Status::Active).await;
    let (one, two) = (connect(&ana.url).await.expect("connected"), connect(&bob.url).await.expect("connected"));
    let mut of_ana = Exchange::start(&one, &ana.store, &ana.scope, "ana").await.expect("started").expect("shared");
    let mut of_bob = Exchange::start(&two, &bob.store, &bob.scope, "bob").await.expect("started").expect("shared");
    assert_eq!(of_ana.take_lease("a").await.expect("taken"), None);
    assert!(of_ana.send_next_batch().await.expect("sent") && of_ana.has_lease());
    expire(&server);
    assert_eq!(of_bob.take_lease("b").await.expect("taken over"), None);
    ana.track("j1", Status::Completed).await;
    assert!(of_ana.send_next_batch().await.expect("sent"));
    assert!(!of_ana.has_lease(), "the token is not the current one");
    of_bob.receive_page(now()).await.expect("received");
    assert_eq!(bob.job("j1").await.remote.status, Some(Status::Completed), "the response is newer than what bob has");
}
