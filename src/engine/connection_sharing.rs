//! Emits the connection state, and shares it through the store: the polling instance writes it, and the other
//! instances read it. Otherwise an instance that does not poll could not distinguish an unreachable service
//! from a time without changes.

use super::lease::LeaseRole;
use super::lock::lock;
use super::poller_message::PollerMessage;
use super::state::EngineState;
use crate::model::connection::ConnectionState;
use crate::model::engine_event::EngineEvent;
use std::sync::Arc;

/// Emits each change of the connection state.
#[derive(Debug)]
pub(super) struct ConnectionReporter {
    inner: Arc<EngineState>,
    last_emitted: ConnectionState,
}

impl ConnectionReporter {
    pub(super) fn new(inner: Arc<EngineState>) -> Self {
        Self { inner, last_emitted: ConnectionState::Unknown }
    }

    /// Returns the connection state that was last emitted.
    pub(super) fn last_emitted(&self) -> &ConnectionState {
        &self.last_emitted
    }

    /// Emits and shares the connection state if it differs from the last emitted state.
    pub(super) async fn emit(&mut self, connection: ConnectionState) {
        if self.last_emitted != connection {
            self.last_emitted = connection.clone();
            self.inner.share_connection(&connection).await;
            self.inner.emit(EngineEvent::ConnectionState(connection)).await;
        }
    }

    /// Emits whether a request is in flight, as long as nothing else is known about the connection.
    pub(super) async fn emit_connecting(&mut self, is_requesting: bool) {
        match self.last_emitted {
            ConnectionState::Unknown if is_requesting => self.emit(ConnectionState::Connecting).await,
            ConnectionState::Connecting if !is_requesting => self.emit(ConnectionState::Unknown).await,
            _ => {}
        }
    }

    /// Replaces the stored connection state of the previous polling instance. Called when this instance takes
    /// the polling lease.
    pub(super) async fn overwrite_shared_connection(&self) {
        *lock(&self.inner.shared_connection) = self.inner.load_shared_connection().await;
        self.inner.share_connection(&self.last_emitted).await;
    }
}

impl EngineState {
    /// Saves the start or the end of an outage for the other instances, if this instance polls. If saving fails, the
    /// other instances still show how old their data is.
    async fn share_connection(&self, connection: &ConnectionState) {
        if self.leases.is_only_instance() || !self.leases.holds(LeaseRole::Poll) {
            return;
        }
        let text = connection.to_line();
        let is_worth_sharing =
            connection.is_outage() || lock(&self.shared_connection).as_ref().is_some_and(ConnectionState::is_outage);
        if is_worth_sharing && self.store.set_value(&self.scope.connection_state_store_key(), &text).await.is_ok() {
            *lock(&self.shared_connection) = Some(connection.clone());
        }
    }

    /// If another instance polls, reads its connection state from the store. Passes each change to the poller task.
    pub(super) async fn forward_shared_connection_to_poller(&self) {
        if self.leases.holds(LeaseRole::Poll) {
            return;
        }
        let shared = self.load_shared_connection().await;
        let mut last = lock(&self.shared_connection);
        if *last != shared {
            last.clone_from(&shared);
            drop(last);
            if let Some(connection) = shared {
                self.send_to_poller(PollerMessage::SharedConnection(connection));
            }
        }
    }

    async fn load_shared_connection(&self) -> Option<ConnectionState> {
        let text = self.store.value(&self.scope.connection_state_store_key()).await.ok()??;
        ConnectionState::parse(&text)
    }
}
