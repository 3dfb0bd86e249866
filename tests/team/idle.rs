//! What open dashboards send to the database: nothing while nothing happens, and little for a change.

use crate::engines::{rename, start_over, wait_for_status, wait_for_title};
use crate::holding_proxy::HoldingProxy;
use crate::start_database;
use crate::support::start_sim;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::remote_job::Status;
use docdeck::model::team::TeamStatus;
use docdeck::store::Store;
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
    for member in [&ana, &bob] {
        member.engine.stop().await;
    }
}
