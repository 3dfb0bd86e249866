//! The task for more than one instance on this computer: what another one changed in the store, whether a lease is free, and
//! whether an instance has died. An instance alone by construction has none of it.
//!
//! Once a second the store's own thread looks; this task wakes up only when there is something to do.

use super::lease::LeaseRole;
use super::poll::sleep_until;
use super::state::{EngineState, lock};
use crate::model::engine_event::EngineEvent;
use crate::store::StoreError;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// Between two looks at the store's data version.
const LOOK: Duration = Duration::from_secs(1);
/// A free lease is taken within this many looks (design.md: within 10 s).
const LEASES_EVERY: u32 = 3;
/// While another instance is sending, this long passes between two looks whether it has died.
const DEATHS_EVERY: Duration = Duration::from_secs(10);

/// What the store's thread saw last.
#[derive(Debug)]
struct StoreSnapshot {
    version: i64,
    failed: Option<StoreError>,
}

struct Watcher {
    inner: Arc<EngineState>,
    seen: Arc<Mutex<StoreSnapshot>>,
    /// The version up to which the record was read.
    version: i64,
    led: bool,
    /// When to look again for instances that died while sending; none while no other one is sending.
    deaths: Option<Instant>,
    /// When to read again what could not be read.
    again: Option<Instant>,
}

/// Watches until it is aborted. `version` is from before the record was first read.
pub(super) async fn run(inner: Arc<EngineState>, version: i64) {
    let seen = Arc::new(Mutex::new(StoreSnapshot { version, failed: None }));
    if let Err(error) = look(&inner, &seen) {
        inner.trouble(error.failure()).await;
    }
    inner.hear_shared().await;
    let mut watcher = Watcher { inner, seen, version, led: false, deaths: None, again: None };
    loop {
        watcher.inner.take_leases();
        watcher.take_in().await;
        let wake = watcher.deaths.into_iter().chain(watcher.again).min();
        tokio::select! {
            () = watcher.inner.watch_wake.notified() => {}
            () = sleep_until(wake), if wake.is_some() => {}
        }
    }
}

/// Has the store's thread look, for as long as the task lives that has `seen`.
fn look(inner: &Arc<EngineState>, seen: &Arc<Mutex<StoreSnapshot>>) -> Result<(), StoreError> {
    let (of, left) = (Arc::downgrade(inner), Arc::downgrade(seen));
    let mut looks: u32 = 0;
    inner.store.watch(LOOK, move |found| {
        let (Some(inner), Some(seen)) = (of.upgrade(), left.upgrade()) else { return ControlFlow::Break(()) };
        looks = looks.wrapping_add(1);
        let is_news = match found {
            Ok(version) => std::mem::replace(&mut lock(&seen).version, version) != version,
            Err(error) => {
                lock(&seen).failed = Some(error);
                true
            }
        };
        if is_news || (looks.is_multiple_of(LEASES_EVERY) && inner.leases.lacks_any()) {
            inner.watch_wake.notify_one();
        }
        ControlFlow::Continue(())
    })
}

impl Watcher {
    async fn take_in(&mut self) {
        let (version, failed) = {
            let mut seen = lock(&self.seen);
            (seen.version, seen.failed.take())
        };
        if let Some(error) = failed {
            self.inner.trouble(error.failure()).await;
        }
        let others_wrote = version != self.version;
        self.look_for_deaths(others_wrote).await;
        self.again = None;
        if !others_wrote {
            return;
        }
        self.inner.dispatch_wake.notify_one();
        match self.inner.catch_up().await {
            Ok(()) => {
                self.version = version;
                // What another instance spent counts here too.
                self.inner.report_budgets().await;
                self.inner.emit(EngineEvent::OthersWrote).await;
                self.inner.hear_shared().await;
            }
            Err(error) => {
                self.again = Instant::now().checked_add(LOOK);
                self.inner.trouble(error.failure()).await;
            }
        }
    }

    /// The instance that sends what is queued looks after the others: when it has just begun to, when one of them wrote,
    /// which is how it begins to send, and now and then for as long as one of them is sending.
    async fn look_for_deaths(&mut self, others_wrote: bool) {
        let leads = self.inner.leases.holds(LeaseRole::Dispatch);
        let is_due = self.deaths.is_some_and(|at| at <= Instant::now());
        if leads && (!self.led || others_wrote || is_due) {
            let others_send = match self.inner.recover_abandoned_sends().await {
                Ok(others_send) => others_send,
                Err(error) => {
                    self.inner.trouble(error.failure()).await;
                    true
                }
            };
            self.deaths = if others_send { Instant::now().checked_add(DEATHS_EVERY) } else { None };
        }
        if !leads {
            self.deaths = None;
        }
        self.led = leads;
    }
}
