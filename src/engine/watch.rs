//! The task for several instances on this computer: it notices what another instance changed in the
//! store, takes free leases, and detects dead instances. An instance that is alone by construction
//! does not run it.
//!
//! The store's thread checks once a second; this task wakes up only if there is something to do.

use super::lease::LeaseRole;
use super::poll::sleep_until;
use super::state::{EngineState, lock};
use crate::model::engine_event::EngineEvent;
use crate::store::StoreError;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The interval between two checks of the store's data version.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// A free lease is taken within this many checks, well below the required 10 s.
const CHECKS_PER_LEASE: u32 = 3;
/// While another instance is sending, the interval between two checks whether it has died.
const DEATH_CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// What the store's thread saw last.
#[derive(Debug)]
struct StoreSnapshot {
    version: i64,
    failed: Option<StoreError>,
}

struct Watcher {
    inner: Arc<EngineState>,
    seen: Arc<Mutex<StoreSnapshot>>,
    /// The version up to which changes were read.
    version: i64,
    had_lease: bool,
    /// When to check again for instances that died while sending; `None` while no other instance is
    /// sending.
    next_death_check: Option<Instant>,
    /// When to retry a failed read.
    retry_at: Option<Instant>,
}

/// Watches until it is aborted. `version` is the data version before the store was first read.
pub(super) async fn run_watcher(inner: Arc<EngineState>, version: i64) {
    let seen = Arc::new(Mutex::new(StoreSnapshot { version, failed: None }));
    if let Err(error) = start_checks(&inner, &seen) {
        inner.trouble(error.failure()).await;
    }
    inner.read_shared_connection().await;
    let mut watcher = Watcher { inner, seen, version, had_lease: false, next_death_check: None, retry_at: None };
    loop {
        watcher.inner.take_leases();
        watcher.read_changes().await;
        let wake = watcher.next_death_check.into_iter().chain(watcher.retry_at).min();
        tokio::select! {
            () = watcher.inner.watch_wake.notified() => {}
            () = sleep_until(wake), if wake.is_some() => {}
        }
    }
}

/// Makes the store's thread check regularly, until the task that owns `seen` ends.
fn start_checks(inner: &Arc<EngineState>, seen: &Arc<Mutex<StoreSnapshot>>) -> Result<(), StoreError> {
    let (inner_weak, seen_weak) = (Arc::downgrade(inner), Arc::downgrade(seen));
    let mut checks: u32 = 0;
    inner.store.watch(CHECK_INTERVAL, move |found| {
        let (Some(inner), Some(seen)) = (inner_weak.upgrade(), seen_weak.upgrade()) else {
            return ControlFlow::Break(());
        };
        checks = checks.wrapping_add(1);
        let has_changed = match found {
            Ok(version) => std::mem::replace(&mut lock(&seen).version, version) != version,
            Err(error) => {
                lock(&seen).failed = Some(error);
                true
            }
        };
        if has_changed || (checks.is_multiple_of(CHECKS_PER_LEASE) && inner.leases.lacks_any()) {
            inner.watch_wake.notify_one();
        }
        ControlFlow::Continue(())
    })
}

impl Watcher {
    async fn read_changes(&mut self) {
        let (version, failed) = {
            let mut seen = lock(&self.seen);
            (seen.version, seen.failed.take())
        };
        if let Some(error) = failed {
            self.inner.trouble(error.failure()).await;
        }
        let others_wrote = version != self.version;
        self.recover_from_deaths(others_wrote).await;
        self.retry_at = None;
        if !others_wrote {
            return;
        }
        self.inner.dispatch_wake.notify_one();
        match self.inner.catch_up().await {
            Ok(()) => {
                self.version = version;
                // Requests of another instance count here too.
                self.inner.report_budgets().await;
                self.inner.emit(EngineEvent::ExternalChange).await;
                self.inner.read_shared_connection().await;
            }
            Err(error) => {
                self.retry_at = Instant::now().checked_add(CHECK_INTERVAL);
                self.inner.trouble(error.failure()).await;
            }
        }
    }

    /// The dispatching instance recovers the sends of dead instances: when it gets the lease, when
    /// another instance writes (which is how a send begins), and regularly while another instance is
    /// sending.
    async fn recover_from_deaths(&mut self, others_wrote: bool) {
        let has_lease = self.inner.leases.holds(LeaseRole::Dispatch);
        let is_due = self.next_death_check.is_some_and(|at| at <= Instant::now());
        if has_lease && (!self.had_lease || others_wrote || is_due) {
            let others_send = match self.inner.recover_abandoned_sends().await {
                Ok(others_send) => others_send,
                Err(error) => {
                    self.inner.trouble(error.failure()).await;
                    true
                }
            };
            self.next_death_check = if others_send { Instant::now().checked_add(DEATH_CHECK_INTERVAL) } else { None };
        }
        if !has_lease {
            self.next_death_check = None;
        }
        self.had_lease = has_lease;
    }
}
