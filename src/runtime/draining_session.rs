//! The work for a profile that was turned away from: what is being written and a prompt that is on its way are waited for,
//! as at the end of the program, while the dashboard goes on with another one.

use super::effect_runner::Started;
use super::effects::{LAST_ANSWER, LAST_WRITES, LOOK_AGAIN};
use crate::app::Msg;
use crate::engine::Engine;
use crate::model::engine_event::EngineEvent;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

/// How long the engine may take to stop.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What is left of it.
#[derive(Debug)]
pub(super) struct DrainingSession {
    pub(super) engine: watch::Receiver<Started>,
    /// Kept until the last of them is done; what they end in is for nobody.
    pub(super) tasks: JoinSet<Option<Msg>>,
    pub(super) last_ordered: Option<oneshot::Receiver<()>>,
    pub(super) news: mpsc::Receiver<EngineEvent>,
    /// Where the news of its successor goes.
    pub(super) successor: mpsc::Sender<EngineEvent>,
    /// Whether the successor is of the same project, so that all news of this one is about its jobs.
    pub(super) is_same_project: bool,
}

impl DrainingSession {
    /// Ends it.
    pub(super) async fn end(self) {
        let Self { mut engine, tasks, last_ordered, mut news, successor, is_same_project } = self;
        let end = async {
            if let Some(last) = last_ordered {
                let _ = tokio::time::timeout(LAST_WRITES, last).await;
            }
            // One that is about to start could not be stopped later.
            let started = tokio::time::timeout(LAST_WRITES, engine.wait_for(Option::is_some)).await;
            let started = started.ok().and_then(Result::ok).and_then(|started| started.clone());
            if let Some(Ok(engine)) = started {
                engine.release_leases();
                let _ = tokio::time::timeout(LAST_ANSWER, answered(&engine)).await;
                // What the service has decided is tried to be recorded for as long as docdeck runs.
                while engine.has_unrecorded() {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                let _ = tokio::time::timeout(LAST_WORDS, engine.stop()).await;
            }
        };
        tokio::pin!(end);
        loop {
            tokio::select! {
                () = &mut end => break,
                // It could not go on if nobody listened.
                Some(told) = news.recv() => {
                    if is_same_project || matches!(told, EngineEvent::Unrecorded(_) | EngineEvent::Recorded(_)) {
                        let _ = successor.send(told).await;
                    }
                }
            }
        }
        drop(tasks);
    }
}

/// No prompt is on its way any more.
async fn answered(engine: &Engine) {
    while engine.has_sending() {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}
