//! Shares the connection state through the store: the polling instance writes it, the other
//! instances, which watch the store anyway, read it. Without this, an instance that does not poll
//! could not distinguish an unreachable service from one without changes.

use super::lease::LeaseRole;
use super::poll::PollerCommand;
use super::state::{EngineState, lock};
use crate::model::connection::Connection;

impl EngineState {
    /// Saves the connection state if other instances may run and it differs from what they have. If it
    /// can't be saved, the age of their data still shows that nothing is being checked.
    pub(super) async fn share_connection(&self, connection: &Connection) {
        if self.leases.is_alone() || !self.leases.holds(LeaseRole::Poll) {
            return;
        }
        let text = connection.to_line();
        let is_worth_sharing = connection.is_outage() || lock(&self.shared).as_ref().is_some_and(Connection::is_outage);
        if is_worth_sharing && self.store.set_value(&self.scope.connection_key(), &text).await.is_ok() {
            *lock(&self.shared) = Some(connection.clone());
        }
    }

    /// Called when this instance starts to poll: replaces the state left by the previous poller.
    pub(super) async fn take_over_sharing(&self, connection: &Connection) {
        *lock(&self.shared) = self.load_shared().await;
        self.share_connection(connection).await;
    }

    /// Forwards the state written by the polling instance to the poller task, once per change.
    pub(super) async fn read_shared_connection(&self) {
        if self.leases.holds(LeaseRole::Poll) {
            return;
        }
        let shared = self.load_shared().await;
        let mut last = lock(&self.shared);
        if *last != shared {
            last.clone_from(&shared);
            drop(last);
            if let Some(connection) = shared {
                self.order(PollerCommand::SharedConnection(connection));
            }
        }
    }

    async fn load_shared(&self) -> Option<Connection> {
        let text = self.store.value(&self.scope.connection_key()).await.ok()??;
        Connection::parse(&text)
    }
}
