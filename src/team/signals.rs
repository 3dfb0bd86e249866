//! Notifications from the team's database about changes by other members.

use super::error::TeamError;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;
use tokio_postgres::{AsyncMessage, Connection};

/// The kinds of data that other members have changed since the last call of [`NotificationReceiver::next`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TeamNotifications {
    /// Whether jobs or prompts changed.
    pub has_changes: bool,
    /// Whether analytics reports changed.
    pub has_reports: bool,
    /// Whether the team's ledger changed: requests of an hourly limit were used, bookings were canceled, or a limit was
    /// blocked.
    pub has_ledger_changes: bool,
    /// Whether the polling lease was released.
    pub is_lease_released: bool,
    is_connection_closed: bool,
}

/// The payload of a notification about changed jobs or prompts of a project.
pub(super) fn changes_payload(project: i64) -> String {
    format!("changes {project}")
}

/// The payload of a notification about reports of a project.
pub(super) fn reports_payload(project: i64) -> String {
    format!("reports {project}")
}

/// The payload of a notification about a released lease of a project.
pub(super) fn lease_payload(project: i64) -> String {
    format!("lease {project}")
}

/// The payload of a notification about used requests.
pub(super) const LEDGER_PAYLOAD: &str = "ledger";

/// Returns the name of the notification channel of an organization. Every login of the database can listen to it, so a
/// payload contains at most what kind of data has changed and the number of the project.
pub(super) fn channel(organization: &str) -> String {
    format!("docdeck_{organization}")
}

/// Collects notifications. Stores only which kinds have arrived, so any number of notifications needs the same memory.
#[derive(Debug, Default)]
pub(super) struct NotificationReceiver {
    state: Mutex<NotificationState>,
    notify: Notify,
}

#[derive(Debug, Default)]
struct NotificationState {
    pending: TeamNotifications,
    /// The project whose notifications are received, and the server process of this connection, whose notifications are
    /// ignored.
    subscription: Option<(i64, i32)>,
}

impl NotificationReceiver {
    pub(super) fn subscribe(&self, project: i64, this_process: i32) {
        self.update(|state| state.subscription = Some((project, this_process)));
    }

    /// Waits for the next notifications. Returns `None` if the connection is closed.
    pub(super) async fn next(&self) -> Option<TeamNotifications> {
        loop {
            let pending = self.update(|state| {
                let is_connection_closed = state.pending.is_connection_closed;
                let pending = TeamNotifications { is_connection_closed, ..TeamNotifications::default() };
                std::mem::replace(&mut state.pending, pending)
            });
            match pending {
                TeamNotifications { is_connection_closed: true, .. } => return None,
                pending if pending != TeamNotifications::default() => return Some(pending),
                _ => self.notify.notified().await,
            }
        }
    }

    fn receive(&self, process: i32, payload: &str) {
        self.update(|NotificationState { pending, subscription }| match *subscription {
            // Notifications that this connection itself has caused are ignored. So are unknown payloads, because every
            // login can send notifications.
            Some((project, this_process)) if process != this_process => {
                pending.has_changes |= payload == changes_payload(project);
                pending.has_reports |= payload == reports_payload(project);
                pending.is_lease_released |= payload == lease_payload(project);
                pending.has_ledger_changes |= payload == LEDGER_PAYLOAD;
            }
            _ => {}
        });
        self.notify.notify_one();
    }

    fn close(&self) {
        self.update(|state| state.pending.is_connection_closed = true);
        self.notify.notify_one();
    }

    fn update<T>(&self, change: impl FnOnce(&mut NotificationState) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Runs the connection until it is closed, and passes its notifications to `signals`.
pub(super) async fn run_connection<S, T>(mut connection: Connection<S, T>, signals: Arc<NotificationReceiver>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = std::future::poll_fn(|cx| connection.poll_message(cx)).await {
        if let AsyncMessage::Notification(notification) = message {
            signals.receive(notification.process_id(), notification.payload());
        }
    }
    signals.close();
}

impl super::connection::TeamConnection {
    /// Waits until other members have changed something. Only a connection that has subscribed receives notifications.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn next_notifications(&self) -> Result<TeamNotifications, TeamError> {
        self.notification_receiver.next().await.ok_or_else(|| self.closed_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_notifications_of_other_members_about_the_same_project_are_received() {
        let receiver = NotificationReceiver::default();
        receiver.receive(8, "changes 1");
        receiver.subscribe(1, 7);
        for (process, payload) in [(7, "changes 1"), (8, "changes 11"), (8, "\u{1b}[2J"), (8, "")] {
            receiver.receive(process, payload);
        }
        receiver.receive(8, "changes 1");
        receiver.receive(9, "ledger");
        let expected =
            TeamNotifications { has_changes: true, has_ledger_changes: true, ..TeamNotifications::default() };
        assert_eq!(receiver.next().await, Some(expected));
        receiver.receive(9, "lease 1");
        assert_eq!(
            receiver.next().await,
            Some(TeamNotifications { is_lease_released: true, ..TeamNotifications::default() })
        );
        receiver.receive(9, "reports 2");
        receiver.receive(9, "reports 1");
        assert_eq!(
            receiver.next().await,
            Some(TeamNotifications { has_reports: true, ..TeamNotifications::default() })
        );
        receiver.close();
        assert_eq!(receiver.next().await, None);
    }
}
