//! What open dashboards send to the database: nothing while nothing happens, and little for a change.

use crate::engines::{rename, start_over, wait_for_status, wait_for_title};
use crate::holding_proxy::HoldingProxy;
use crate::support::slow::runs_all_cases;
use crate::support::start_sim;
use crate::{Member, connect, now, start_database};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::prompt::Delivery;
use docdeck::model::remote_job::Status;
use docdeck::model::team::TeamStatus;
use docdeck::store::Store;
use docdeck::team::{Exchange, ExchangeStep, UnreceivedData};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long nothing may be sent.
const IDLE: Duration = Duration::from_secs(4);
/// After a minute, a member looks for changes even if nobody has notified it.
const BEFORE_REGULAR_LOOK: Duration = Duration::from_secs(55);
/// How often a count is read that should not change any more.
const INTERVAL: Duration = Duration::from_secs(1);

/// Returns the number of messages of both, once it has not changed for a while.
async fn settled(proxies: &[HoldingProxy; 2]) -> [usize; 2] {
    let count = || [proxies[0].messages(), proxies[1].messages()];
    let mut before = count();
    loop {
        sleep(INTERVAL).await;
        let now = count();
        if now == before {
            return now;
        }
        before = now;
    }
}

#[tokio::test]
async fn idle_members_send_no_statement_and_a_change_needs_few() {
    let Some(server) = start_database(&[]).await else { return };
    let sim = start_sim(&[]).await;
    let proxies = [HoldingProxy::counting(server.folder()), HoldingProxy::counting(server.folder())];
    let start = Instant::now();
    let store = || Store::in_memory().expect("a store");
    let mut ana = start_over(&sim, &proxies[0].url("ana"), "ana", store()).await;
    let mut bob = start_over(&sim, &proxies[1].url("ana"), "bob", store()).await;
    wait_for_status(&mut ana, |status| status == TeamStatus::Online).await;
    wait_for_status(&mut bob, |status| status == TeamStatus::Online).await;
    // A job that is done needs no polling, so nobody needs the lease.
    let (_, job) = ana.submit_accepted_job("Soon done [sim:seconds=0]").await;
    let of_bob = bob
        .wait_for_event("the end of the job", |event| match event {
            EngineEvent::Job(row) if row.id == job.id && row.remote.status == Some(Status::Completed) => {
                Some((**row).clone())
            }
            _ => None,
        })
        .await;
    let idle = settled(&proxies).await;
    sleep(IDLE).await;
    if start.elapsed() < BEFORE_REGULAR_LOOK {
        let after = [proxies[0].messages(), proxies[1].messages()];
        assert_eq!(after, idle, "messages of two idle members in {} s", IDLE.as_secs());
    }
    rename(&bob, &of_bob, "from bob").await;
    wait_for_title(&mut ana, "from bob").await;
    let after = settled(&proxies).await;
    let [of_ana, of_bob] = [after[0] - idle[0], after[1] - idle[1]];
    println!("a change needs {of_bob} messages of the member that made it and {of_ana} of each other member");
    if start.elapsed() < BEFORE_REGULAR_LOOK {
        assert!((1..=2).contains(&of_ana) && (4..=7).contains(&of_bob), "{of_ana} {of_bob}");
    }
    if runs_all_cases() {
        let before = [proxies[0].messages(), proxies[1].messages()];
        while proxies[0].messages() == before[0] || proxies[1].messages() == before[1] {
            sleep(INTERVAL).await;
        }
        let after = settled(&proxies).await;
        assert_eq!([after[0] - before[0], after[1] - before[1]], [1, 1], "the regular look needs one message");
    }
    for member in [&ana, &bob] {
        member.engine.stop().await;
    }
}

#[tokio::test]
async fn one_message_shows_whether_there_is_anything_to_receive() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    let proxy = HoldingProxy::counting(server.folder());
    let connection = connect(&proxy.url("ana")).await.expect("connected");
    let started = Exchange::start(&connection, &ana.store, &ana.scope, ana.settings()).await.expect("started");
    let mut exchange = started.expect("a shared project");
    let nothing = UnreceivedData { has_changes: false, has_reports: false };
    let before = proxy.messages();
    assert_eq!(exchange.record_presence_and_check_for_data().await.expect("registered"), nothing);
    assert_eq!(proxy.messages() - before, 1);
    bob.track("j1", Status::Active).await;
    bob.exchange().await;
    assert_eq!(
        exchange.record_presence_and_check_for_data().await.expect("registered"),
        UnreceivedData { has_changes: true, ..nothing }
    );
    exchange.receive_next_changes(now()).await.expect("received");
    assert_eq!(exchange.record_presence_and_check_for_data().await.expect("registered"), nothing);
    bob.follow_up("j1", "prompt of bob", Delivery::Accepted).await;
    bob.exchange().await;
    assert!(exchange.record_presence_and_check_for_data().await.expect("registered").has_changes);
    exchange.receive_next_changes(now()).await.expect("received");
    bob.load_any_report().await;
    bob.exchange().await;
    assert_eq!(
        exchange.record_presence_and_check_for_data().await.expect("registered"),
        UnreceivedData { has_reports: true, ..nothing }
    );
    while exchange.receive_next_reports(now()).await.expect("received") == ExchangeStep::HasMore {}
    assert_eq!(exchange.record_presence_and_check_for_data().await.expect("registered"), nothing);
}
