//! The watcher: the task that notices what other docdeck instances on this computer changed in the store,
//! takes free leases, and detects instances that died. It does not run in the demo, which can have no other
//! instance.
//!
//! The store's thread checks the store for changes once a second and wakes the watcher only when there is
//! something to do.

use super::clock::sleep_until;
use super::lease::LeaseRole;
use super::lock::lock;
use super::state::EngineState;
use crate::model::engine_event::EngineEvent;
use crate::store::StoreError;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The interval between two checks of the store's data version.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// After this many checks, the watcher tries again to take a lease that it lacks. The number must be so small that an
/// instance takes over from a dead one within 10 s.
const CHECKS_PER_LEASE_ATTEMPT: u32 = 3;
/// How often to check whether another instance that is sending has died.
const ABANDONED_SEND_CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// The result of the last check by the store's thread.
#[derive(Debug)]
struct VersionCheck {
    /// The store's data version, which changes with each write by another instance.
    version: i64,
    /// The error of a failed check, until the watcher emits it.
    error: Option<StoreError>,
}

struct ChangeWatcher {
    inner: Arc<EngineState>,
    last_check: Arc<Mutex<VersionCheck>>,
    /// The data version up to which the watcher has read the changes.
    last_read_version: i64,
    had_dispatch_lease: bool,
    /// When to check again for sends that were abandoned because their instance died; `None` while no other instance
    /// is sending.
    next_abandoned_send_check: Option<Instant>,
    /// When to read the changes again after a failed read; `None` if the last read succeeded.
    retry_at: Option<Instant>,
}

/// Watches until it is aborted. `version` is the store's data version before the engine first read the
/// store.
pub(super) async fn run_watcher(inner: Arc<EngineState>, version: i64) {
    let last_check = Arc::new(Mutex::new(VersionCheck { version, error: None }));
    if let Err(error) = start_checks(&inner, &last_check) {
        inner.emit_problem(error.failure()).await;
    }
    inner.forward_shared_connection_to_poller().await;
    let mut watcher = ChangeWatcher {
        inner,
        last_check,
        last_read_version: version,
        had_dispatch_lease: false,
        next_abandoned_send_check: None,
        retry_at: None,
    };
    loop {
        watcher.inner.take_leases();
        watcher.read_changes().await;
        let wake = watcher.next_abandoned_send_check.into_iter().chain(watcher.retry_at).min();
        tokio::select! {
            () = watcher.inner.watch_wake.notified() => {}
            () = sleep_until(wake), if wake.is_some() => {}
        }
    }
}

/// Makes the store's thread check regularly for changes, until `last_check` is dropped with the watcher.
fn start_checks(inner: &Arc<EngineState>, last_check: &Arc<Mutex<VersionCheck>>) -> Result<(), StoreError> {
    let (inner_weak, last_check_weak) = (Arc::downgrade(inner), Arc::downgrade(last_check));
    let mut checks: u32 = 0;
    inner.store.watch_data_version(CHECK_INTERVAL, move |found| {
        let (Some(inner), Some(last_check)) = (inner_weak.upgrade(), last_check_weak.upgrade()) else {
            return ControlFlow::Break(());
        };
        checks = checks.wrapping_add(1);
        let has_changed = match found {
            Ok(version) => std::mem::replace(&mut lock(&last_check).version, version) != version,
            Err(error) => {
                lock(&last_check).error = Some(error);
                true
            }
        };
        if has_changed
            || (checks.is_multiple_of(CHECKS_PER_LEASE_ATTEMPT) && inner.leases.lacks_poll_or_dispatch_lease())
        {
            inner.watch_wake.notify_one();
        }
        ControlFlow::Continue(())
    })
}

impl ChangeWatcher {
    async fn read_changes(&mut self) {
        let (version, failed) = {
            let mut seen = lock(&self.last_check);
            (seen.version, seen.error.take())
        };
        if let Some(error) = failed {
            self.inner.emit_problem(error.failure()).await;
        }
        let have_others_written = version != self.last_read_version;
        self.recover_after_instance_death(have_others_written).await;
        self.retry_at = None;
        if !have_others_written {
            return;
        }
        self.inner.dispatch_wake.notify_one();
        self.inner.team.wake();
        match self.emit_changes().await {
            Ok(()) => {
                self.last_read_version = version;
                // Requests of other instances count toward the same hourly limits.
                self.inner.emit_budgets().await;
                self.inner.emit(EngineEvent::ExternalChange).await;
                self.inner.forward_shared_connection_to_poller().await;
            }
            Err(error) => {
                self.retry_at = Instant::now().checked_add(CHECK_INTERVAL);
                self.inner.emit_problem(error.failure()).await;
            }
        }
    }

    async fn emit_changes(&self) -> Result<(), StoreError> {
        self.inner.emit_changed_jobs().await?;
        self.inner.emit_reports_of_other_instances().await
    }

    /// Marks as `Unconfirmed` the prompts that another instance was sending when it died. The dispatcher of every
    /// instance does this once at its start. After that, only the instance with the dispatch lease does it, here: when
    /// it gets the lease, after each write by another instance (every send begins with a write), and regularly while
    /// another instance is sending.
    async fn recover_after_instance_death(&mut self, have_others_written: bool) {
        let has_lease = self.inner.leases.holds(LeaseRole::Dispatch);
        let is_due = self.next_abandoned_send_check.is_some_and(|at| at <= Instant::now());
        if has_lease && (!self.had_dispatch_lease || have_others_written || is_due) {
            let are_others_sending = match self.inner.recover_abandoned_sends().await {
                Ok(are_others_sending) => are_others_sending,
                Err(error) => {
                    self.inner.emit_problem(error.failure()).await;
                    true
                }
            };
            self.next_abandoned_send_check =
                if are_others_sending { Instant::now().checked_add(ABANDONED_SEND_CHECK_INTERVAL) } else { None };
        }
        if !has_lease {
            self.next_abandoned_send_check = None;
        }
        self.had_dispatch_lease = has_lease;
    }
}
