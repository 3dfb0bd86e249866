//! Waiting for jobs: a line on stderr for each change, on a terminal a live line below them, until every job is over, the
//! time is up, or somebody asks to end. The jobs themselves go on whatever happens here.

use super::changes::{between, line};
use super::error::CliError;
use super::exit_code::Code;
use super::out::{Out, rfc3339};
use super::session::{Session, WaitEnd};
use crate::app::format::{duration, plural};
use crate::model::connection::Connection;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::FailureKind;
use crate::model::job::Status;
use crate::model::ledger::Wait;
use crate::model::poll::is_over;
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use crate::store::StoreError;
use chrono::{Local, TimeDelta, Utc};
use std::time::Duration;
use tokio::time::Instant;

/// How often the live line is drawn.
const TICK: Duration = Duration::from_secs(1);

/// Since when something is waited for, and until when at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timer {
    begun: Instant,
    end: Option<Instant>,
}

impl Timer {
    /// From now on, for so long at most.
    pub(super) fn start(patience: Option<Duration>) -> Self {
        let begun = Instant::now();
        Self { begun, end: patience.and_then(|patience| begun.checked_add(patience)) }
    }

    /// The moment at which nothing is waited for any more.
    pub(super) fn end(self) -> Option<Instant> {
        self.end
    }

    /// Whether that moment has come.
    pub(super) fn is_over(self) -> bool {
        self.end.is_some_and(|end| end <= Instant::now())
    }

    /// How long it has been, in words.
    pub(super) fn waited(self) -> String {
        duration(TimeDelta::from_std(self.begun.elapsed()).unwrap_or_default())
    }
}

/// Jobs that are waited for.
#[derive(Debug)]
pub(super) struct JobWait {
    pub(super) rows: Vec<Job>,
    timer: Timer,
    /// How the talk with the service goes, when that is worth a word.
    trouble: Option<CleanText>,
}

/// Why the wait ended.
#[derive(Debug)]
pub(super) enum WaitOutcome {
    /// Every job is over.
    Over,
    Late,
    Interrupted,
    /// The service does not accept the key, so nothing more will be learned.
    Refused(CleanText),
}

impl JobWait {
    /// For these jobs, as the record has them now.
    pub(super) fn new(rows: Vec<Job>, timer: Timer) -> Self {
        Self { rows, timer, trouble: None }
    }

    /// Waits.
    ///
    /// # Errors
    /// The record can't be read.
    pub(super) async fn wait(&mut self, desk: &mut Session, out: &mut Out) -> Result<WaitOutcome, StoreError> {
        self.read_again(desk, out).await?;
        loop {
            if self.left() == 0 {
                return Ok(WaitOutcome::Over);
            }
            out.live(&self.live_line());
            let tick = Instant::now() + TICK;
            match desk.next(Some(self.timer.end().map_or(tick, |end| end.min(tick)))).await {
                WaitEnd::Interrupted => return Ok(WaitOutcome::Interrupted),
                WaitEnd::Late if self.timer.is_over() => return Ok(WaitOutcome::Late),
                WaitEnd::Late => {}
                WaitEnd::News(news) => {
                    if let Some(end) = self.hear(*news, desk, out).await? {
                        return Ok(end);
                    }
                }
            }
        }
    }

    /// Jobs that are not over.
    pub(super) fn left(&self) -> usize {
        self.rows.iter().filter(|row| !is_over(row)).count()
    }

    /// What the jobs say together: the first of gone, failed and done that holds for any.
    pub(super) fn code(&self) -> Code {
        let any = |is: fn(&Job) -> bool| self.rows.iter().any(is);
        if any(|row| row.status == Some(Status::Failed) && !row.gone) {
            Code::Failed
        } else if any(|row| row.gone) {
            Code::Service
        } else {
            Code::Done
        }
    }

    /// The end as a refusal, for one that is not [`End::Over`]; `again` is the command that goes on.
    pub(super) fn refusal(&self, end: WaitOutcome, again: &str) -> Option<CliError> {
        let count = self.rows.len();
        let left = self.left();
        let stand = match (count, left) {
            (1, _) => "the job is not finished and goes on".to_owned(),
            (_, 1) => format!("1 of {count} jobs is not finished and goes on"),
            (_, left) => format!("{left} of {count} jobs are not finished and go on"),
        };
        let waited = self.timer.waited();
        Some(match end {
            WaitOutcome::Over => return None,
            WaitOutcome::Late => CliError::new(
                Code::TimedOut,
                format!("Timed out after {waited}: {stand} at the service. `{again}` waits again."),
            ),
            WaitOutcome::Interrupted => CliError::new(
                Code::Interrupted,
                format!("Interrupted after {waited}: {stand} at the service. `{again}` waits again."),
            ),
            WaitOutcome::Refused(reason) => {
                CliError::new(Code::KeyRefused, format!("{reason} Nothing more can be learned: {stand}."))
            }
        })
    }

    /// What changed before anybody listened.
    async fn read_again(&mut self, desk: &Session, out: &mut Out) -> Result<(), StoreError> {
        let keys: Vec<JobKey> = self.rows.iter().map(|row| row.key).collect();
        for key in keys {
            if let Some(row) = desk.store.job(key).await? {
                self.put(row, out);
            }
        }
        Ok(())
    }

    async fn hear(
        &mut self,
        news: EngineEvent,
        desk: &Session,
        out: &mut Out,
    ) -> Result<Option<WaitOutcome>, StoreError> {
        match news {
            EngineEvent::Job(row) => self.put(*row, out),
            EngineEvent::Prompt { job, .. } => self.put(*job, out),
            EngineEvent::Merged { gone, into } => self.merge(gone, desk.store.job(into).await?),
            EngineEvent::Connection(Connection::Refused { reason }) => return Ok(Some(WaitOutcome::Refused(reason))),
            EngineEvent::Connection(connection) => self.connect(&connection, out),
            EngineEvent::Trouble(failure) if failure.kind == FailureKind::Store => out.note(failure.sentence.as_str()),
            EngineEvent::Trouble(failure) => tell(failure.sentence.as_str(), out),
            EngineEvent::Notice(text) => tell(text.as_str(), out),
            _ => {}
        }
        Ok(None)
    }

    /// A job turned out to be another one: everything of it is there now.
    fn merge(&mut self, gone: JobKey, into: Option<Job>) {
        let Some(into) = into else { return };
        if self.rows.iter().any(|row| row.key == into.key) {
            self.rows.retain(|row| row.key != gone);
        } else if let Some(row) = self.rows.iter_mut().find(|row| row.key == gone) {
            *row = into;
        }
    }

    fn put(&mut self, new: Job, out: &mut Out) {
        let Some(old) = self.rows.iter_mut().find(|row| row.key == new.key && row.revision < new.revision) else {
            return;
        };
        let changes = between(Some(old), &new);
        if !changes.is_empty() {
            tell(&line(&changes, &new), out);
        }
        *old = new;
    }

    fn connect(&mut self, connection: &Connection, out: &mut Out) {
        let words = connection_words(connection);
        if self.trouble != words {
            match &words {
                Some(words) => tell(words.as_str(), out),
                None => tell("the service answers again", out),
            }
            self.trouble = words;
        }
    }

    fn live_line(&self) -> String {
        let (left, count) = (self.left(), self.rows.len());
        let what = if count == 1 {
            "waiting for the job".to_owned()
        } else {
            format!("waiting for {left} of {}", plural(count, "job"))
        };
        let looked = self.rows.iter().filter(|row| !is_over(row)).filter_map(|row| row.checked_at).min();
        let looked = looked.map(|at| format!(" · last look {} ago", duration(Utc::now() - at))).unwrap_or_default();
        let trouble = self.trouble.as_ref().map(|trouble| format!(" · {trouble}")).unwrap_or_default();
        format!("{what} · {}{looked}{trouble}", self.timer.waited())
    }
}

/// What is said of a connection that is not as it should be.
pub(super) fn connection_words(connection: &Connection) -> Option<CleanText> {
    let moment = |at: &crate::model::Time| at.with_timezone(&Local).format("%H:%M:%S").to_string();
    let words = match connection {
        Connection::Unknown | Connection::Connecting | Connection::Ready => return None,
        Connection::Unusable { reason } => format!("no answer could be used: {reason}"),
        Connection::Offline { reason, next_try: Some(at) } => format!("offline, next try at {}: {reason}", moment(at)),
        Connection::Offline { reason, next_try: None } => format!("offline: {reason}"),
        Connection::Limited(wait) if wait.is_estimate => {
            "rate limited by the service: checking again in about a minute (an estimate)".to_owned()
        }
        Connection::Limited(wait) => format!("rate limited by the service: checking again at {}", moment(&wait.until)),
        Connection::Refused { reason } => reason.to_string(),
    };
    Some(CleanText::line(&words))
}

/// When a wait is over: the time of day and how long that is, or an estimate.
pub(super) fn when(wait: Wait) -> String {
    let left = wait.words(Utc::now());
    match wait.is_estimate {
        true => format!("in {left} (an estimate: the service named no time)"),
        false => format!("at {} (in {left})", wait.until.with_timezone(&Local).format("%H:%M:%S")),
    }
}

/// A line of progress with its time: of day on a terminal, else RFC 3339.
pub(super) fn tell(text: &str, out: &mut Out) {
    let time = moment(out.notes_are_seen());
    out.note(&format!("{time} {text}"));
}

/// Now, for a line of a log.
pub(super) fn moment(is_seen: bool) -> String {
    if is_seen { Local::now().format("%H:%M:%S").to_string() } else { rfc3339(Utc::now()) }
}
