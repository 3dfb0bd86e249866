//! The task for more than one instance on this computer: once a second it looks whether another one changed the store,
//! and now and then whether a lease is free or an instance has died. An instance alone by construction has none of it.

use super::inner::Inner;
use super::lease::Duty;
use crate::model::news::News;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// Between two looks at the store's data version.
const LOOK: Duration = Duration::from_secs(1);
/// A free lease is taken within this many looks (design.md: within 10 s).
const LEASES_EVERY: u32 = 3;
/// A dead instance is noticed within this many looks.
const DEATHS_EVERY: u32 = 10;

/// Watches until it is aborted. `version` is from before the record was first read.
pub(super) async fn run(inner: Arc<Inner>, mut version: i64) {
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut looks: u32 = 0;
    let mut led = false;
    inner.hear_shared().await;
    loop {
        tokio::select! {
            _ = ticks.tick() => looks = looks.wrapping_add(1),
            () = inner.watch_wake.notified() => {}
        }
        if looks.is_multiple_of(LEASES_EVERY) {
            inner.take_leases();
        }
        let leads = inner.leases.holds(Duty::Dispatch);
        if leads
            && (!led || looks.is_multiple_of(DEATHS_EVERY))
            && let Err(error) = inner.bury_the_dead().await
        {
            inner.trouble(error.failure()).await;
        }
        led = leads;
        match inner.store.data_version().await {
            Ok(now) if now == version => {}
            Ok(now) => {
                inner.dispatch_wake.notify_one();
                match inner.catch_up().await {
                    Ok(()) => {
                        version = now;
                        // What another instance spent counts here too.
                        inner.report_budgets().await;
                        inner.tell(News::OthersWrote).await;
                        inner.hear_shared().await;
                    }
                    Err(error) => inner.trouble(error.failure()).await,
                }
            }
            Err(error) => inner.trouble(error.failure()).await,
        }
    }
}
