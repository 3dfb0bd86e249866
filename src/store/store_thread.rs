//! The [`Store`]: a handle to the thread that owns the connection and runs every call.
//!
//! A submitted call runs to its end, whether or not its caller still waits. An error or a panic ends only the call that
//! caused it. The thread ends when the last handle is dropped, or when a handle closes the store. A store in memory is
//! created on its thread, and calls that are submitted earlier wait for it.

use super::error::{StoreError, StoreResult};
use super::{schema, scopes};
use crate::model::endpoint::Scope;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// The store. A clone is another handle to the same thread; the thread ends when the last handle is dropped.
#[derive(Debug, Clone)]
pub struct Store {
    commands: mpsc::Sender<StoreCommand>,
    /// Notifies its receivers of every transaction that changed something.
    commits: watch::Sender<()>,
}

enum StoreCommand {
    Run(Box<dyn FnOnce(&mut Worker) + Send>),
    Watch(VersionWatcher),
    Close(oneshot::Sender<()>),
}

/// The state of the store's thread.
pub(super) struct Worker {
    pub(super) connection: Connection,
    /// Whether every write is refused.
    pub(super) is_read_only: bool,
    /// The path of the file that marks the store as damaged (see `open`). `None` if no such file may be created: for a
    /// store in memory, or one that is opened for reading only.
    damage_marker: Option<PathBuf>,
    watchers: Vec<VersionWatcher>,
}

/// A function that is called once per interval with SQLite's data version, until it returns `Break` or panics.
struct VersionWatcher {
    interval: Duration,
    due: Instant,
    on_version: Box<dyn FnMut(StoreResult<i64>) -> ControlFlow<()> + Send>,
}

/// Calls that check, watch and close the store.
impl Store {
    /// Returns whether writing works. If it doesn't, every later write is refused.
    pub async fn check_writable(&self) -> StoreResult<bool> {
        self.call(|worker| {
            worker.is_read_only = worker.is_read_only || !schema::is_store_writable(&mut worker.connection)?;
            Ok(!worker.is_read_only)
        })
        .await
    }

    /// Waits for all calls made so far, then closes the file. Later calls through other handles return
    /// [`StoreError::Closed`].
    pub async fn close(self) {
        let (done, closed) = oneshot::channel();
        if self.send(StoreCommand::Close(done)).is_ok() {
            // An error means that another handle has already closed the store.
            let _ = closed.await;
        }
    }

    /// Returns a receiver that is notified of every transaction of this process that changed something.
    pub fn commits(&self) -> watch::Receiver<()> {
        self.commits.subscribe()
    }

    /// Returns SQLite's `data_version`, which changes when another connection (usually of another process) has written.
    pub async fn data_version(&self) -> StoreResult<i64> {
        self.run_without_transaction(|db| data_version(db)).await
    }

    /// Reads [`Store::data_version`] immediately and then once per `interval`, and passes it to `on_version` until
    /// `on_version` returns `Break`. All of this runs on the store's thread, so that no other thread has to wake up
    /// while nothing changes. Therefore `on_version` must not wait for the store: it would wait forever.
    ///
    /// # Errors
    /// The store is closed.
    pub fn watch_data_version(
        &self,
        interval: Duration,
        on_version: impl FnMut(StoreResult<i64>) -> ControlFlow<()> + Send + 'static,
    ) -> StoreResult<()> {
        self.send(StoreCommand::Watch(VersionWatcher {
            interval,
            due: Instant::now(),
            on_version: Box::new(on_version),
        }))
    }
}

/// Access to the database for the other modules, each of which adds the calls about its tables.
impl Store {
    /// Runs `work`, which only reads, in one snapshot of the database.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.run_without_transaction(move |connection| {
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
        work: impl FnOnce(&Connection, i64) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let scope = scope.clone();
        self.read(move |db| scopes::find_scope(db, &scope)?.map_or_else(|| Ok(T::default()), |scope| work(db, scope)))
            .await
    }

    /// Runs `work` in one transaction that locks the database at its start. Afterwards either all changes are on disk
    /// or none.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let commits = self.commits.clone();
        self.call(move |Worker { connection, is_read_only, .. }| {
            if *is_read_only {
                return Err(StoreError::ReadOnly);
            }
            let changes_before = connection.total_changes();
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            if connection.total_changes() != changes_before {
                commits.send_replace(());
            }
            // The transaction is on disk, so a failure to reset the lock timeout doesn't matter.
            let _ = schema::set_lock_timeout(connection, false);
            Ok(result)
        })
        .await
    }

    /// Like [`Self::write`], but passes the scope's row id to `work`. Adds the scope if it is new.
    pub(super) async fn write_in_scope<T: Send + 'static>(
        &self,
        scope: &Scope,
        work: impl FnOnce(&Transaction<'_>, i64) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let scope = scope.clone();
        self.write(move |tx| work(tx, scopes::ensure_scope(tx, &scope)?)).await
    }

    /// Runs `work` outside of any transaction.
    pub(super) async fn run_without_transaction<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.call(|worker| work(&mut worker.connection)).await
    }

    /// Runs `work` on the store's thread and waits for its result.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Worker) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let (reply, response) = oneshot::channel();
        self.send(StoreCommand::Run(Box::new(move |worker| {
            let result = work(worker);
            worker.react_to_busy_or_damaged(&result);
            // If the caller has stopped waiting, sending fails; the call has run nevertheless.
            let _ = reply.send(result);
        })))?;
        // If `reply` was dropped, either the call panicked, or the store was closed before the call ran. In the second
        // case, sending another command fails.
        response.await.unwrap_or_else(|_| {
            self.send(StoreCommand::Run(Box::new(|_| {})))?;
            Err(StoreError::Unusable("internal error".to_owned()))
        })
    }

    fn send(&self, command: StoreCommand) -> StoreResult<()> {
        self.commands.send(command).map_err(|_| StoreError::Closed)
    }

    /// Starts a thread for an open connection.
    pub(super) fn start(
        connection: Connection,
        is_read_only: bool,
        damage_marker: Option<PathBuf>,
    ) -> StoreResult<Self> {
        Self::start_opening(move || Ok(Worker { connection, is_read_only, damage_marker, watchers: Vec::new() }))
    }

    /// Starts a thread for a database that `create` creates in memory, on that thread. If `create` fails, so do all
    /// calls.
    pub(super) fn start_in_memory(
        create: impl FnOnce() -> StoreResult<Connection> + Send + 'static,
    ) -> StoreResult<Self> {
        Self::start_opening(|| {
            let connection = create()?;
            Ok(Worker { connection, is_read_only: false, damage_marker: None, watchers: Vec::new() })
        })
    }

    fn start_opening(open: impl FnOnce() -> StoreResult<Worker> + Send + 'static) -> StoreResult<Self> {
        let (commands, receiver) = mpsc::channel();
        std::thread::Builder::new().name("store".to_owned()).spawn(move || {
            if let Some(done) = open().ok().and_then(|worker| worker.serve(&receiver)) {
                let _ = done.send(());
            }
        })?;
        Ok(Self { commands, commits: watch::Sender::new(()) })
    }
}

impl Worker {
    /// Runs calls and watchers until the last handle is dropped or a handle closes the store. If a handle closed the
    /// store, returns the sender with which to confirm to this handle that the file is closed.
    fn serve(mut self, receiver: &Receiver<StoreCommand>) -> Option<oneshot::Sender<()>> {
        loop {
            let command = match self.watchers.iter().map(|watcher| watcher.due).min() {
                Some(due) => receiver.recv_timeout(due.saturating_duration_since(Instant::now())),
                None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match command {
                // If the call panics, the panic hook runs, unwinding rolls the transaction back, and the caller gets an
                // error because the sender of its reply is dropped.
                Ok(StoreCommand::Run(task)) => drop(catch_unwind(AssertUnwindSafe(|| task(&mut self)))),
                Ok(StoreCommand::Watch(watcher)) => self.watchers.push(watcher),
                Ok(StoreCommand::Close(done)) => return Some(done),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
            self.run_due_watchers();
        }
    }

    fn run_due_watchers(&mut self) {
        let now = Instant::now();
        for mut watcher in self.watchers.extract_if(.., |watcher| watcher.due <= now).collect::<Vec<_>>() {
            let version = data_version(&self.connection);
            self.react_to_busy_or_damaged(&version);
            let flow = catch_unwind(AssertUnwindSafe(|| (watcher.on_version)(version)));
            if let Ok(ControlFlow::Continue(())) = flow {
                watcher.due = Instant::now() + watcher.interval;
                self.watchers.push(watcher);
            }
        }
    }

    /// Shortens the lock timeout if a call failed with `Busy`. Marks the store as damaged if it failed with `Damaged`.
    fn react_to_busy_or_damaged<T>(&self, result: &StoreResult<T>) {
        match (result, &self.damage_marker) {
            // If this fails, the longer lock timeout stays, which does no harm.
            (Err(StoreError::Busy), _) => drop(schema::set_lock_timeout(&self.connection, true)),
            // If the marker can't be created, the next opening does not check every page.
            (Err(StoreError::Damaged), Some(marker)) => drop(std::fs::File::create(marker)),
            _ => {}
        }
    }
}

fn data_version(db: &Connection) -> StoreResult<i64> {
    Ok(db.pragma_query_value(None, "data_version", |row| row.get(0))?)
}
