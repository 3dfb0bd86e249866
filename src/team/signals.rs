//! Notifications of the database: which of a team's data other members have changed.

use super::error::TeamError;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;
use tokio_postgres::{AsyncMessage, Connection};

/// What other members have changed since the last call of [`SignalReceiver::next`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TeamSignals {
    /// Jobs or prompts.
    pub changes: bool,
    /// Reports of analytics.
    pub reports: bool,
    /// The requests that are used of the hourly limits.
    pub ledger: bool,
    /// The lease for polling was released.
    pub lease: bool,
    is_closed: bool,
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

/// Returns the channel of an organization. Every login of the database can listen to it, so a payload has only numbers.
pub(super) fn channel(organization: &str) -> String {
    format!("docdeck_{organization}")
}

/// Collects notifications. However many arrive, they need no more memory than one.
#[derive(Debug, Default)]
pub(super) struct SignalReceiver {
    signals: Mutex<Subscription>,
    notify: Notify,
}

#[derive(Debug, Default)]
struct Subscription {
    pending: TeamSignals,
    /// The project whose notifications count, and the server process of this connection, whose notifications don't.
    project: Option<(i64, i32)>,
}

impl SignalReceiver {
    pub(super) fn subscribe(&self, project: i64, own_process: i32) {
        self.change(|signals| signals.project = Some((project, own_process)));
    }

    /// Waits for the next notifications.
    ///
    /// # Errors
    /// Returns `None` if the connection is closed.
    pub(super) async fn next(&self) -> Option<TeamSignals> {
        loop {
            let pending = self.change(|signals| {
                let is_closed = signals.pending.is_closed;
                std::mem::replace(&mut signals.pending, TeamSignals { is_closed, ..TeamSignals::default() })
            });
            match pending {
                TeamSignals { is_closed: true, .. } => return None,
                pending if pending != TeamSignals::default() => return Some(pending),
                _ => self.notify.notified().await,
            }
        }
    }

    fn receive(&self, process: i32, payload: &str) {
        self.change(|Subscription { pending, project }| match *project {
            // Anybody can send a notification, so one that is not known is ignored.
            Some((project, own)) if process != own => {
                pending.changes |= payload == changes_payload(project);
                pending.reports |= payload == reports_payload(project);
                pending.lease |= payload == lease_payload(project);
                pending.ledger |= payload == LEDGER_PAYLOAD;
            }
            _ => {}
        });
        self.notify.notify_one();
    }

    fn close(&self) {
        self.change(|signals| signals.pending.is_closed = true);
        self.notify.notify_one();
    }

    fn change<T>(&self, change: impl FnOnce(&mut Subscription) -> T) -> T {
        change(&mut self.signals.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Exchanges messages with the server until the connection is closed.
pub(super) async fn drive<S, T>(mut connection: Connection<S, T>, signals: Arc<SignalReceiver>)
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
    /// Waits until other members have changed something. Only a connection that listens gets notifications.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn next_signals(&self) -> Result<TeamSignals, TeamError> {
        self.signals.next().await.ok_or_else(|| self.lost())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_notifications_of_others_about_the_same_project_count() {
        let receiver = SignalReceiver::default();
        receiver.receive(8, "changes 1");
        receiver.subscribe(1, 7);
        for (process, payload) in [(7, "changes 1"), (8, "changes 11"), (8, "\u{1b}[2J"), (8, "")] {
            receiver.receive(process, payload);
        }
        receiver.receive(8, "changes 1");
        receiver.receive(9, "ledger");
        let expected = TeamSignals { changes: true, ledger: true, ..TeamSignals::default() };
        assert_eq!(receiver.next().await, Some(expected));
        receiver.receive(9, "lease 1");
        assert_eq!(receiver.next().await, Some(TeamSignals { lease: true, ..TeamSignals::default() }));
        receiver.receive(9, "reports 2");
        receiver.receive(9, "reports 1");
        assert_eq!(receiver.next().await, Some(TeamSignals { reports: true, ..TeamSignals::default() }));
        receiver.close();
        assert_eq!(receiver.next().await, None);
    }
}
