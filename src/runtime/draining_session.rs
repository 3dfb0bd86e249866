//! Finishes the work for the previous profile after the user has switched to another one, while the dashboard continues
//! with the new profile. Waits for pending writes and for a prompt that is being sent, as at the end of the program.

use super::effect_runner::EngineStartup;
use crate::engine::Engine;
use crate::model::engine_event::EngineEvent;
use crate::tui::Msg;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

/// How long to wait for pending writes when a session or docdeck ends, so that nothing that was typed is lost.
pub(super) const PENDING_WRITES_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to wait for the service's response to a prompt when a session or docdeck ends.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(15);
/// How often to check whether the service has responded, or whether outcomes are recorded.
pub(super) const RESPONSE_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// How long the engine may take to stop.
const ENGINE_STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// The remaining work for the previous profile.
#[derive(Debug)]
pub(super) struct DrainingSession {
    pub(super) engine: watch::Receiver<EngineStartup>,
    /// The remaining tasks. Their messages are ignored, and tasks that still run when the session ends are aborted.
    pub(super) tasks: JoinSet<Option<Msg>>,
    /// Resolves when the last task that writes data has ended; `None` if there was none.
    pub(super) ordered_tasks_done: Option<oneshot::Receiver<()>>,
    pub(super) events: mpsc::Receiver<EngineEvent>,
    /// Receives the events of the previous engine that still matter to the dashboard.
    pub(super) forward_to: mpsc::Sender<EngineEvent>,
    /// Whether the new profile has the same project. If so, all events but [`EngineEvent::Team`] are forwarded, because
    /// they are about the jobs of that project.
    pub(super) is_project_unchanged: bool,
}

impl DrainingSession {
    /// Finishes the work and stops the engine.
    pub(super) async fn end(self) {
        let Self { mut engine, mut tasks, ordered_tasks_done, mut events, forward_to: successor, is_project_unchanged } =
            self;
        let end = async {
            if let Some(last) = ordered_tasks_done {
                let _ = tokio::time::timeout(PENDING_WRITES_TIMEOUT, last).await;
            }
            // Waits for an engine that is still starting, because nothing could stop it later.
            let started = tokio::time::timeout(PENDING_WRITES_TIMEOUT, engine.wait_for(Option::is_some)).await;
            let mut started = started.ok().and_then(Result::ok).and_then(|started| started.clone());
            if !matches!(started, Some(Ok(_))) {
                // Ends the task that tries to start the engine. It may have succeeded just now.
                tasks.shutdown().await;
                started.clone_from(&engine.borrow());
            }
            if let Some(Ok(engine)) = started {
                engine.release_leases();
                let responses = async {
                    wait_for_responses(&engine).await;
                    // A send may have started after the last check, so no further one may start, and the wait is
                    // repeated.
                    engine.stop_dispatching();
                    wait_for_responses(&engine).await;
                };
                let _ = tokio::time::timeout(RESPONSE_TIMEOUT, responses).await;
                // Waits without a time limit until the engine has recorded all outcomes that the service reported.
                while engine.has_unrecorded_outcomes() {
                    tokio::time::sleep(RESPONSE_CHECK_INTERVAL).await;
                }
                let _ = tokio::time::timeout(ENGINE_STOP_TIMEOUT, engine.stop()).await;
            }
        };
        tokio::pin!(end);
        loop {
            tokio::select! {
                () = &mut end => break,
                // The engine would block if nothing received its events.
                Some(event) = events.recv() => {
                    let is_forwarded = match event {
                        EngineEvent::Unrecorded(_) | EngineEvent::Recorded(_) => true,
                        // The new engine reports its own connections, and whether it sends queued prompts.
                        EngineEvent::Team(_) | EngineEvent::ConnectionState(_) | EngineEvent::QueueOwnership(_) => false,
                        _ => is_project_unchanged,
                    };
                    if is_forwarded {
                        let _ = successor.send(event).await;
                    }
                }
            }
        }
    }
}

/// Waits until no prompt is being sent.
async fn wait_for_responses(engine: &Engine) {
    while engine.is_sending() {
        tokio::time::sleep(RESPONSE_CHECK_INTERVAL).await;
    }
}
