//! The thread that owns the connection, and the handle through which calls reach it, one after the other.
//!
//! A call that was handed over is carried out whole, whether or not its caller still waits. The thread ends when the
//! last handle is gone or one of them closes the store; an error or a panic in a call ends that call alone. Calls may be
//! handed over while the thread still opens the file.

use super::error::StoreError;
use super::periodic::{PeriodicTask, Rounds};
use super::{Opened, schema, scopes};
use crate::model::endpoint::Scope;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;
use tokio::sync::oneshot;

type Task = Box<dyn FnOnce(&mut Connection) + Send>;

/// Where it is told what an opening found.
pub(super) type OpenReceiver = oneshot::Receiver<Result<Opened, StoreError>>;

enum StoreCommand {
    Run(Task),
    Repeat(PeriodicTask),
    Close(oneshot::Sender<()>),
}

/// The way to the store's thread; cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Handle {
    orders: mpsc::Sender<StoreCommand>,
    /// Whether every write is refused: known once the file is open.
    read_only: Arc<AtomicBool>,
    /// Where a call that met a damaged page leaves word for the next opening; none in memory.
    damage_note: Option<PathBuf>,
}

impl Handle {
    /// Gives the connection a thread of its own.
    pub(super) fn start(
        connection: Connection,
        read_only: bool,
        damage_note: Option<PathBuf>,
    ) -> Result<Self, StoreError> {
        let opened = Opened { read_only, ..Opened::default() };
        Ok(Self::launch(move || Ok((connection, opened)), read_only, damage_note)?.0)
    }

    /// Starts the thread, which opens the connection itself and then tells what it found. Calls that are handed over
    /// meanwhile wait for that; where it fails, they fail.
    pub(super) fn begin(
        open: impl FnOnce() -> Result<(Connection, Opened), StoreError> + Send + 'static,
        damage_note: Option<PathBuf>,
    ) -> Result<(Self, OpenReceiver), StoreError> {
        Self::launch(open, false, damage_note)
    }

    fn launch(
        open: impl FnOnce() -> Result<(Connection, Opened), StoreError> + Send + 'static,
        read_only: bool,
        damage_note: Option<PathBuf>,
    ) -> Result<(Self, OpenReceiver), StoreError> {
        let (orders, inbox) = mpsc::channel::<StoreCommand>();
        let (tell, told) = oneshot::channel();
        let read_only = Arc::new(AtomicBool::new(read_only));
        let known = Arc::clone(&read_only);
        std::thread::Builder::new().name("store".to_owned()).spawn(move || {
            // Whoever waits for the opening may have gone: it is done whole all the same.
            let mut connection = match open() {
                Ok((connection, opened)) => {
                    known.store(opened.read_only, Ordering::SeqCst);
                    let _ = tell.send(Ok(opened));
                    connection
                }
                Err(error) => {
                    let _ = tell.send(Err(error));
                    return;
                }
            };
            let closing = serve(&inbox, &mut connection);
            drop(connection);
            if let Some(done) = closing {
                // Nobody waiting is fine: the file is closed all the same.
                let _ = done.send(());
            }
        })?;
        Ok((Self { orders, read_only, damage_note }, told))
    }

    /// Whether every write is refused.
    pub(super) fn is_read_only(&self) -> bool {
        self.read_only.load(Ordering::SeqCst)
    }

    /// Tries whether a write would get through; where none would, all are refused from now on. Gives whether that is so.
    pub(super) async fn try_writing(&self) -> Result<bool, StoreError> {
        let known = Arc::clone(&self.read_only);
        self.bare(move |connection| {
            let is_writable = !known.load(Ordering::SeqCst) && schema::is_writable(connection)?;
            known.store(!is_writable, Ordering::SeqCst);
            Ok(is_writable)
        })
        .await
    }

    /// Carries out `work` outside of any transaction.
    pub(super) async fn bare<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let note = self.damage_note.clone();
        let task: Task = Box::new(move |connection| {
            let result = work(connection);
            learn(&result, connection, note.as_ref());
            // The caller may have gone; its call has been carried out nevertheless.
            let _ = reply.send(result);
        });
        self.orders.send(StoreCommand::Run(task)).map_err(|_| StoreError::Closed)?;
        match answer.await {
            Ok(result) => result,
            Err(_) => Err(self.why_no_answer()),
        }
    }

    /// Carries out `work` at once and then `every` so often, between the calls, until `seen` breaks off. Both run on the
    /// store's thread.
    pub(super) fn repeat<T>(
        &self,
        every: Duration,
        mut work: impl FnMut(&Connection) -> Result<T, StoreError> + Send + 'static,
        mut seen: impl FnMut(Result<T, StoreError>) -> ControlFlow<()> + Send + 'static,
    ) -> Result<(), StoreError> {
        let note = self.damage_note.clone();
        let round = PeriodicTask::new(every, move |connection| {
            let result = work(connection);
            learn(&result, connection, note.as_ref());
            seen(result)
        });
        self.orders.send(StoreCommand::Repeat(round)).map_err(|_| StoreError::Closed)
    }

    /// Reads in one snapshot.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.bare(move |connection| {
            let snapshot = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
            work(&snapshot)
        })
        .await
    }

    /// As [`Self::read`], by the scope's number; the empty answer for a scope of which nothing was ever written.
    pub(super) async fn read_of<T: Default + Send + 'static>(
        &self,
        scope: &Scope,
        work: impl FnOnce(&Connection, i64) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let scope = scope.clone();
        self.read(move |db| scopes::find(db, &scope)?.map_or_else(|| Ok(T::default()), |scope| work(db, scope))).await
    }

    /// Writes in one transaction that takes the lock at its start: all of it is on disk afterwards, or nothing.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let read_only = Arc::clone(&self.read_only);
        self.bare(move |connection| {
            // Only now: what was asked for before may have found it out.
            if read_only.load(Ordering::SeqCst) {
                return Err(StoreError::ReadOnly);
            }
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            // It is on disk, whatever comes of this.
            let _ = schema::wait_for_locks(connection, false);
            Ok(result)
        })
        .await
    }

    /// Closes the file and waits until it is closed, after all calls made before. Later calls give `Closed`.
    pub(super) async fn close(self) {
        let (done, closed) = oneshot::channel();
        if self.orders.send(StoreCommand::Close(done)).is_ok() {
            // An error means that another handle closed it first.
            let _ = closed.await;
        }
    }

    /// A reply that was dropped: the call panicked, or the store was closed before its turn came.
    fn why_no_answer(&self) -> StoreError {
        let alive = self.orders.send(StoreCommand::Run(Box::new(|_| {}))).is_ok();
        if alive {
            StoreError::Unusable("a call of the store failed inside docdeck".to_owned())
        } else {
            StoreError::Closed
        }
    }
}

/// Carries out what is asked for and what is due until the last handle is gone, or one of them closes the store: then gives
/// where to say that it is closed.
fn serve(inbox: &Receiver<StoreCommand>, connection: &mut Connection) -> Option<oneshot::Sender<()>> {
    let mut rounds = Rounds::default();
    loop {
        let order = match rounds.pause() {
            Some(pause) => inbox.recv_timeout(pause),
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match order {
            // The panic hook has spoken by now; the caller hears of it by its dropped reply, and unwinding has rolled the
            // transaction back.
            Ok(StoreCommand::Run(task)) => drop(catch_unwind(AssertUnwindSafe(|| task(connection)))),
            Ok(StoreCommand::Repeat(round)) => rounds.add(round),
            Ok(StoreCommand::Close(done)) => return Some(done),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
        rounds.run(connection);
    }
}

/// What a result says beside itself.
fn learn<T>(result: &Result<T, StoreError>, connection: &Connection, damage_note: Option<&PathBuf>) {
    match (result, damage_note) {
        // An error leaves the longer wait, which loses nothing.
        (Err(StoreError::Busy), _) => drop(schema::wait_for_locks(connection, true)),
        // Without the note the next opening looks less closely, no more than that.
        (Err(StoreError::Damaged), Some(note)) => drop(std::fs::File::create(note)),
        _ => {}
    }
}

impl std::fmt::Debug for StoreCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Run(_) => "Run",
            Self::Repeat(_) => "Repeat",
            Self::Close(_) => "Close",
        })
    }
}
