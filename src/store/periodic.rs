//! Tasks that the store's thread runs at intervals, between the calls. Only this thread wakes up for a task. With a
//! timer in the caller, the caller's thread would have to wake up as well.

use rusqlite::Connection;
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

type Work = Box<dyn FnMut(&mut Connection) -> ControlFlow<()> + Send>;

/// A task that runs at intervals until it returns `Break` or panics.
pub(super) struct PeriodicTask {
    interval: Duration,
    due: Instant,
    work: Work,
}

impl PeriodicTask {
    /// Creates a task that is due immediately, and then once per `interval`.
    pub(super) fn new(
        interval: Duration,
        work: impl FnMut(&mut Connection) -> ControlFlow<()> + Send + 'static,
    ) -> Self {
        Self { interval, due: Instant::now(), work: Box::new(work) }
    }

    /// Runs the task once. Returns `false` if the task has ended, since it returned `Break` or panicked.
    fn run(&mut self, connection: &mut Connection) -> bool {
        let Self { interval, due, work } = self;
        let continues = matches!(catch_unwind(AssertUnwindSafe(|| work(connection))), Ok(ControlFlow::Continue(())));
        *due = Instant::now() + *interval;
        continues
    }
}

impl fmt::Debug for PeriodicTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeriodicTask").field("interval", &self.interval).finish_non_exhaustive()
    }
}

/// The periodic tasks of a store's thread.
#[derive(Debug, Default)]
pub(super) struct PeriodicTasks(Vec<PeriodicTask>);

impl PeriodicTasks {
    pub(super) fn add(&mut self, task: PeriodicTask) {
        self.0.push(task);
    }

    /// Returns the time until the next task is due; `None` if there is no task.
    pub(super) fn time_until_next(&self) -> Option<Duration> {
        let due = self.0.iter().map(|task| task.due).min()?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    /// Runs the tasks that are due, and removes the tasks that have ended.
    pub(super) fn run(&mut self, connection: &mut Connection) {
        let now = Instant::now();
        self.0.retain_mut(|task| task.due > now || task.run(connection));
    }
}
