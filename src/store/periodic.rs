//! Tasks that the store's thread runs at intervals, between the calls. The thread waits for calls anyway, so this wakes
//! up no other thread; with a timer of the caller, the caller and the store would both have to wake up.

use rusqlite::Connection;
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

type Work = Box<dyn FnMut(&mut Connection) -> ControlFlow<()> + Send>;

/// Work that runs at intervals until it returns `Break`.
pub(super) struct PeriodicTask {
    every: Duration,
    due: Instant,
    work: Work,
}

impl PeriodicTask {
    /// Due at once, then at every interval.
    pub(super) fn new(every: Duration, work: impl FnMut(&mut Connection) -> ControlFlow<()> + Send + 'static) -> Self {
        Self { every, due: Instant::now(), work: Box::new(work) }
    }

    /// Returns whether the task continues. A task that panics does not.
    fn run(&mut self, connection: &mut Connection) -> bool {
        let Self { every, due, work } = self;
        let continues = matches!(catch_unwind(AssertUnwindSafe(|| work(connection))), Ok(ControlFlow::Continue(())));
        *due = Instant::now() + *every;
        continues
    }
}

impl fmt::Debug for PeriodicTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeriodicTask").field("every", &self.every).finish_non_exhaustive()
    }
}

/// All periodic tasks of a thread.
#[derive(Debug, Default)]
pub(super) struct PeriodicTasks(Vec<PeriodicTask>);

impl PeriodicTasks {
    pub(super) fn add(&mut self, task: PeriodicTask) {
        self.0.push(task);
    }

    /// How long until the next task is due; `None` if there is none.
    pub(super) fn time_until_next(&self) -> Option<Duration> {
        let due = self.0.iter().map(|task| task.due).min()?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    /// Runs the tasks that are due.
    pub(super) fn run(&mut self, connection: &mut Connection) {
        let now = Instant::now();
        self.0.retain_mut(|task| task.due > now || task.run(connection));
    }
}
