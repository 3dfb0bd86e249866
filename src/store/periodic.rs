//! What the store's thread does by itself, again and again, between the calls. It waits for calls anyway: a look of its own
//! wakes nobody else, while a caller's timer would wake that caller, the store and the caller again.

use rusqlite::Connection;
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

type Work = Box<dyn FnMut(&mut Connection) -> ControlFlow<()> + Send>;

/// Work that is due once in a while, until it breaks off.
pub(super) struct PeriodicTask {
    every: Duration,
    due: Instant,
    work: Work,
}

impl PeriodicTask {
    /// Due at once, then `every` so often.
    pub(super) fn new(every: Duration, work: impl FnMut(&mut Connection) -> ControlFlow<()> + Send + 'static) -> Self {
        Self { every, due: Instant::now(), work: Box::new(work) }
    }

    /// Whether it goes on. One that panics does not.
    fn run(&mut self, connection: &mut Connection) -> bool {
        let Self { every, due, work } = self;
        let goes_on = matches!(catch_unwind(AssertUnwindSafe(|| work(connection))), Ok(ControlFlow::Continue(())));
        *due = Instant::now() + *every;
        goes_on
    }
}

impl fmt::Debug for PeriodicTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Round").field("every", &self.every).finish_non_exhaustive()
    }
}

/// All rounds of one thread.
#[derive(Debug, Default)]
pub(super) struct Rounds(Vec<PeriodicTask>);

impl Rounds {
    pub(super) fn add(&mut self, round: PeriodicTask) {
        self.0.push(round);
    }

    /// How long until the next one is due; none when there is none.
    pub(super) fn pause(&self) -> Option<Duration> {
        let due = self.0.iter().map(|round| round.due).min()?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    /// Does what is due.
    pub(super) fn run(&mut self, connection: &mut Connection) {
        let now = Instant::now();
        self.0.retain_mut(|round| round.due > now || round.run(connection));
    }
}
