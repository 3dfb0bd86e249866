//! The state of the exchange with a team. All tasks of the engine use it.

use crate::engine::lock::lock;
use crate::model::Time;
use crate::model::ledger::Quota;
use crate::model::team::{ReportKey, ReportVersion, TeamStatus, TeamUsage};
use crate::model::text::CleanText;
use crate::team::{TeamAddress, TeamConnection};
use chrono::Utc;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// How to reach the team's database, and this member's name.
#[derive(Debug, Clone)]
pub struct TeamAccess {
    pub address: TeamAddress,
    /// The name under which the team sees the prompts of this computer.
    pub name: CleanText,
}

/// The state of the exchange with a team. All tasks of the engine use it.
#[derive(Debug)]
pub(in crate::engine) struct TeamState {
    /// How to reach the team's database; `None` if no team is configured.
    access: Option<TeamAccess>,
    /// Wakes the task that exchanges changes.
    pub(super) wake: Notify,
    /// Whether the task that exchanges changes has a connection.
    pub(super) is_connected: watch::Sender<bool>,
    pub(super) status: Mutex<TeamStatus>,
    pub(super) poll_permission: Mutex<PollPermission>,
    /// Whether there are jobs to poll. If not, the team's polling lease is not needed.
    pub(super) has_jobs_to_poll: AtomicBool,
    /// How many requests of the hourly limits the team has used, as last read.
    pub(super) counts: Mutex<HashMap<Quota, TeamUsage>>,
    /// The limits that the team has used up, each with the end of the wait and the time at which the database was
    /// queried.
    pub(super) used_up_limits: Mutex<HashMap<Quota, (Time, Instant)>>,
    /// Whether the counts must be read again.
    pub(super) must_read_counts: AtomicBool,
    /// The versions of the shared reports at the last check, to detect reports that another instance on this computer
    /// has exchanged since then; `None` if the project is not shared.
    pub(super) seen_reports: tokio::sync::Mutex<Option<HashMap<ReportKey, ReportVersion>>>,
    /// The connection for booking requests, and when it was last used.
    pub(super) booking_connection: Arc<tokio::sync::Mutex<Option<(TeamConnection, Instant)>>>,
    /// No attempt to book is made before this moment, because the last one got no answer.
    pub(super) earliest_next_booking: Mutex<Option<Instant>>,
}

/// Whether this instance may poll the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PollPermission {
    /// The project is not shared, or the team's database can't be reached.
    Unrestricted,
    /// The first attempt to reach the database has not ended yet, another member polls, or there is nothing to poll.
    Denied,
    /// This instance has the team's polling lease until this time, on the monotonic clock and on the wall clock. The
    /// monotonic clock alone is not enough, because it stops while the computer sleeps.
    Until(Instant, Time),
}

impl TeamState {
    /// `reports` are the versions of the reports that were exchanged before the start; `None` if the project is not
    /// shared.
    pub(in crate::engine) fn new(
        access: Option<TeamAccess>,
        reports: Option<HashMap<ReportKey, ReportVersion>>,
    ) -> Self {
        let is_used = access.is_some() && reports.is_some();
        Self {
            access,
            wake: Notify::new(),
            is_connected: watch::Sender::new(false),
            status: Mutex::default(),
            poll_permission: Mutex::new(if is_used { PollPermission::Denied } else { PollPermission::Unrestricted }),
            has_jobs_to_poll: AtomicBool::new(false),
            counts: Mutex::default(),
            used_up_limits: Mutex::default(),
            must_read_counts: AtomicBool::new(false),
            seen_reports: tokio::sync::Mutex::new(reports),
            booking_connection: Arc::default(),
            earliest_next_booking: Mutex::default(),
        }
    }

    pub(in crate::engine) fn access(&self) -> Option<&TeamAccess> {
        self.access.as_ref()
    }

    /// Wakes the task that exchanges changes, because leases or the stored jobs may have changed.
    pub(in crate::engine) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Whether this instance may poll the jobs now.
    pub(in crate::engine) fn may_poll(&self) -> bool {
        match *lock(&self.poll_permission) {
            PollPermission::Unrestricted => true,
            PollPermission::Denied => false,
            PollPermission::Until(instant, time) => Instant::now() < instant && Utc::now() < time,
        }
    }

    /// Sets whether there are jobs to poll.
    pub(in crate::engine) fn set_has_jobs_to_poll(&self, has_jobs_to_poll: bool) {
        if self.has_jobs_to_poll.swap(has_jobs_to_poll, Ordering::Relaxed) != has_jobs_to_poll {
            self.wake();
        }
    }

    /// Requests the team's counts of the hourly limits from the database.
    pub(in crate::engine) fn refresh_counts(&self) {
        self.must_read_counts.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Whether the connection is open. Changes are exchanged only if `is_online` is true, too.
    pub(in crate::engine) fn is_connected(&self) -> bool {
        *self.is_connected.borrow()
    }

    /// Waits until the connection is closed, for at most `timeout`. The caller must have released the leases.
    pub(in crate::engine) async fn wait_until_disconnected(&self, timeout: Duration) {
        let mut connected = self.is_connected.subscribe();
        // An error means that the connection is still open. The server closes it when this process ends.
        let _ = tokio::time::timeout(timeout, connected.wait_for(|is_connected| !is_connected)).await;
    }

    /// Whether changes are exchanged over the connection.
    pub(super) fn is_online(&self) -> bool {
        matches!(*lock(&self.status), TeamStatus::Online | TeamStatus::Receiving(_))
    }

    /// Returns how many requests of a limit the team has used, and whether the database notifies this process of
    /// further requests. Returns `None` if the count is unknown.
    pub(in crate::engine) fn usage(&self, quota: Quota) -> Option<(TeamUsage, bool)> {
        let usage = lock(&self.counts).get(&quota).copied()?;
        Some((usage, self.is_online()))
    }
}
