//! Shares the connection state through the store: the polling instance writes it, and the other
//! instances read it. Otherwise an instance that does not poll could not tell whether the service is
//! unreachable or just has no changes.

use super::lease::LeaseRole;
use super::poll::PollerCommand;
use super::state::{EngineState, lock};
use crate::model::connection::Connection;

impl EngineState {
    /// Saves the start or the end of an outage for the other instances. If it can't be saved, the other
    /// instances still show how old their data is.
    pub(super) async fn share_connection(&self, connection: &Connection) {
        if self.leases.is_alone() || !self.leases.holds(LeaseRole::Poll) {
            return;
        }
        let text = connection.to_line();
        let is_worth_sharing =
            connection.is_outage() || lock(&self.shared_connection).as_ref().is_some_and(Connection::is_outage);
        if is_worth_sharing && self.store.set_value(&self.scope.connection_key(), &text).await.is_ok() {
            *lock(&self.shared_connection) = Some(connection.clone());
        }
    }

    /// Replaces the stored connection state of the previous polling instance. Called when this instance takes
    /// the polling lease.
    pub(super) async fn take_over_sharing(&self, connection: &Connection) {
        *lock(&self.shared_connection) = self.load_shared().await;
        self.share_connection(connection).await;
    }

    /// Reads the connection state of the polling instance from the store. Passes each change to the poller
    /// task.
    pub(super) async fn read_shared_connection(&self) {
        if self.leases.holds(LeaseRole::Poll) {
            return;
        }
        let shared = self.load_shared().await;
        let mut last = lock(&self.shared_connection);
        if *last != shared {
            last.clone_from(&shared);
            drop(last);
            if let Some(connection) = shared {
                self.send_to_poller(PollerCommand::SharedConnection(connection));
            }
        }
    }

    async fn load_shared(&self) -> Option<Connection> {
        let text = self.store.value(&self.scope.connection_key()).await.ok()??;
        Connection::parse(&text)
    }
}
