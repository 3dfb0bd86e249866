//! How the talk with the service goes, told by the instance that looks at jobs to those that leave that to it: through the
//! store, which they watch anyway. Without it, an instance that does not poll would take a service that can't be reached
//! for one that has nothing new to say.

use super::lease::LeaseRole;
use super::poll::PollerCommand;
use super::state::{EngineState, lock};
use crate::model::connection::Connection;

impl EngineState {
    /// Writes down what holds, where others are there to read it and it says more than what they know. What can't be
    /// written is not said to them: they see by the age of what they show that nobody looks.
    pub(super) async fn share(&self, connection: &Connection) {
        if self.leases.is_alone() || !self.leases.holds(LeaseRole::Poll) {
            return;
        }
        let words = connection.words();
        let is_news = connection.is_trouble() || lock(&self.shared).as_ref().is_some_and(Connection::is_trouble);
        if is_news && self.store.remember(&self.scope.connection_key(), &words).await.is_ok() {
            *lock(&self.shared) = Some(connection.clone());
        }
    }

    /// This instance looks at jobs from now on: what the one before it left there is not true any more.
    pub(super) async fn begin_to_share(&self, connection: &Connection) {
        *lock(&self.shared) = self.recall_shared().await;
        self.share(connection).await;
    }

    /// Passes on what the instance that looks at jobs wrote down, once for each change.
    pub(super) async fn hear_shared(&self) {
        if self.leases.holds(LeaseRole::Poll) {
            return;
        }
        let shared = self.recall_shared().await;
        let mut last = lock(&self.shared);
        if *last != shared {
            last.clone_from(&shared);
            drop(last);
            if let Some(connection) = shared {
                self.order(PollerCommand::Told(connection));
            }
        }
    }

    async fn recall_shared(&self) -> Option<Connection> {
        let words = self.store.recall(&self.scope.connection_key()).await.ok()??;
        Connection::parse(&words)
    }
}
