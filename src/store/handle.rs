//! The thread that owns the connection, and the handle that sends calls to this thread, one after the other.
//!
//! A submitted call runs to its end, whether or not its caller still waits. An error or a panic ends only the call that
//! caused it. The thread ends when the last handle is dropped, or when a handle closes the store. Calls may be
//! submitted while the thread is still opening the file.

use super::error::StoreError;
use super::periodic::{PeriodicTask, PeriodicTasks};
use super::{OpenOutcome, schema, scopes};
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

/// The receiver of the result of opening the file.
pub(super) type OpenReceiver = oneshot::Receiver<Result<OpenOutcome, StoreError>>;

enum StoreCommand {
    Run(Task),
    Repeat(PeriodicTask),
    Close(oneshot::Sender<()>),
}

/// A cheap-to-clone handle to the store's thread.
#[derive(Debug, Clone)]
pub(super) struct Handle {
    commands: mpsc::Sender<StoreCommand>,
    /// Whether every write is refused. Set when the file has been opened, and again by [`Self::try_writing`].
    read_only: Arc<AtomicBool>,
    /// The path of the file that tells the next opening that the database is damaged. `None` if no such file is to be
    /// created: for a store in memory, or one that is opened for reading only.
    damage_note: Option<PathBuf>,
}

impl Handle {
    /// Starts a thread for an open connection.
    pub(super) fn start(
        connection: Connection,
        read_only: bool,
        damage_note: Option<PathBuf>,
    ) -> Result<Self, StoreError> {
        let opened = OpenOutcome { read_only, ..OpenOutcome::default() };
        Ok(Self::launch(move || Ok((connection, opened)), read_only, damage_note)?.0)
    }

    /// Starts a thread that opens the connection itself and then sends the result to the receiver. Calls that are
    /// submitted before the connection is open wait for it, and fail if opening fails.
    pub(super) fn start_and_open(
        open: impl FnOnce() -> Result<(Connection, OpenOutcome), StoreError> + Send + 'static,
        damage_note: Option<PathBuf>,
    ) -> Result<(Self, OpenReceiver), StoreError> {
        Self::launch(open, false, damage_note)
    }

    fn launch(
        open: impl FnOnce() -> Result<(Connection, OpenOutcome), StoreError> + Send + 'static,
        read_only: bool,
        damage_note: Option<PathBuf>,
    ) -> Result<(Self, OpenReceiver), StoreError> {
        let (commands, receiver) = mpsc::channel::<StoreCommand>();
        let (opened_sender, opened_receiver) = oneshot::channel();
        let read_only = Arc::new(AtomicBool::new(read_only));
        let read_only_flag = Arc::clone(&read_only);
        std::thread::Builder::new().name("store".to_owned()).spawn(move || {
            // The receiver of the result may be gone; the file is opened nevertheless.
            let mut connection = match open() {
                Ok((connection, opened)) => {
                    read_only_flag.store(opened.read_only, Ordering::SeqCst);
                    let _ = opened_sender.send(Ok(opened));
                    connection
                }
                Err(error) => {
                    let _ = opened_sender.send(Err(error));
                    return;
                }
            };
            let closed_sender = serve(&receiver, &mut connection);
            drop(connection);
            if let Some(done) = closed_sender {
                // The receiver of the confirmation may be gone; the file is closed nevertheless.
                let _ = done.send(());
            }
        })?;
        Ok((Self { commands, read_only, damage_note }, opened_receiver))
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.read_only.load(Ordering::SeqCst)
    }

    /// Returns whether writing works. If it doesn't, all later writes are refused.
    pub(super) async fn try_writing(&self) -> Result<bool, StoreError> {
        let read_only_flag = Arc::clone(&self.read_only);
        self.run(move |connection| {
            let is_writable = !read_only_flag.load(Ordering::SeqCst) && schema::is_store_writable(connection)?;
            read_only_flag.store(!is_writable, Ordering::SeqCst);
            Ok(is_writable)
        })
        .await
    }

    /// Runs `work` outside of any transaction.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let note = self.damage_note.clone();
        let task: Task = Box::new(move |connection| {
            let result = work(connection);
            react_to_error(&result, connection, note.as_ref());
            // The caller may be gone; the call has run nevertheless.
            let _ = reply.send(result);
        });
        self.commands.send(StoreCommand::Run(task)).map_err(|_| StoreError::Closed)?;
        match answer.await {
            Ok(result) => result,
            Err(_) => Err(self.missing_answer_error()),
        }
    }

    /// Runs `work` immediately and then once per `interval`, between the calls, and passes each result to `on_result`
    /// until `on_result` returns `Break`. Both closures run on the store's thread.
    pub(super) fn repeat<T>(
        &self,
        interval: Duration,
        mut work: impl FnMut(&Connection) -> Result<T, StoreError> + Send + 'static,
        mut on_result: impl FnMut(Result<T, StoreError>) -> ControlFlow<()> + Send + 'static,
    ) -> Result<(), StoreError> {
        let note = self.damage_note.clone();
        let task = PeriodicTask::new(interval, move |connection| {
            let result = work(connection);
            react_to_error(&result, connection, note.as_ref());
            on_result(result)
        });
        self.commands.send(StoreCommand::Repeat(task)).map_err(|_| StoreError::Closed)
    }

    /// Runs `work`, which only reads, in one snapshot of the database.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(move |connection| {
            let snapshot = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
            work(&snapshot)
        })
        .await
    }

    /// Like [`Self::read`], but passes the scope's row id to `work`. Returns the default value if nothing was ever
    /// stored for the scope.
    pub(super) async fn read_in_scope<T: Default + Send + 'static>(
        &self,
        scope: &Scope,
        work: impl FnOnce(&Connection, i64) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let scope = scope.clone();
        self.read(move |db| scopes::find_scope(db, &scope)?.map_or_else(|| Ok(T::default()), |scope| work(db, scope)))
            .await
    }

    /// Runs `work` in one transaction that locks the database at its start. Afterwards either all changes are on disk
    /// or none.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let read_only = Arc::clone(&self.read_only);
        self.run(move |connection| {
            // This is checked on the store's thread, since an earlier call in the queue may have changed `read_only`.
            if read_only.load(Ordering::SeqCst) {
                return Err(StoreError::ReadOnly);
            }
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            // The transaction is on disk, so a failure to reset the lock timeout doesn't matter.
            let _ = schema::set_lock_timeout(connection, false);
            Ok(result)
        })
        .await
    }

    /// Closes the file after all earlier calls, and waits until the file is closed. Later calls return `Closed`.
    pub(super) async fn close(self) {
        let (done, closed) = oneshot::channel();
        if self.commands.send(StoreCommand::Close(done)).is_ok() {
            // An error means that another handle has already closed the store.
            let _ = closed.await;
        }
    }

    /// Returns the error for a call whose reply was dropped: the call panicked, or the store was closed before the call
    /// ran.
    fn missing_answer_error(&self) -> StoreError {
        let is_running = self.commands.send(StoreCommand::Run(Box::new(|_| {}))).is_ok();
        if is_running { StoreError::Unusable("internal error".to_owned()) } else { StoreError::Closed }
    }
}

/// Runs calls and periodic tasks until the last handle is dropped or a handle closes the store. If a handle closes it,
/// returns the sender that confirms the closing to that handle.
fn serve(receiver: &Receiver<StoreCommand>, connection: &mut Connection) -> Option<oneshot::Sender<()>> {
    let mut tasks = PeriodicTasks::default();
    loop {
        let command = match tasks.time_until_next() {
            Some(timeout) => receiver.recv_timeout(timeout),
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match command {
            // The panic hook has already run. The caller gets an error because its reply sender was dropped, and
            // unwinding has rolled the transaction back.
            Ok(StoreCommand::Run(task)) => drop(catch_unwind(AssertUnwindSafe(|| task(connection)))),
            Ok(StoreCommand::Repeat(task)) => tasks.add(task),
            Ok(StoreCommand::Close(done)) => return Some(done),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
        tasks.run(connection);
    }
}

/// Shortens the lock timeout if the call failed with `Busy`, and leaves a damage note if it failed with `Damaged`.
fn react_to_error<T>(result: &Result<T, StoreError>, connection: &Connection, damage_note: Option<&PathBuf>) {
    match (result, damage_note) {
        // If this fails, the longer lock timeout stays, which does no harm.
        (Err(StoreError::Busy), _) => drop(schema::set_lock_timeout(connection, true)),
        // If the note can't be created, the next opening checks less thoroughly.
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
