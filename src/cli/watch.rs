//! `docdeck watch`: a line per change, as it happens: for logs, for screen readers, and as JSON for programs. Plain words,
//! no cursor movement.

use super::changes::{between, line};
use super::error::CliError;
use super::exit_code::Code;
use super::jobs::created_by;
use super::line_writer::LineWriterHandle;
use super::out::Out;
use super::session::{Session, WaitEnd};
use super::waiting::{connection_words, moment, tell};
use crate::app::format::plural;
use crate::config::Flags;
use crate::config::environment::Environment;
use crate::engine::LeaseRoles;
use crate::model::connection::Connection;
use crate::model::engine_event::EngineEvent;
use crate::model::json;
use crate::model::row::{Job, JobGroup, JobKey};
use crate::model::text::CleanText;
use crate::model::text::escaped_json;
use crate::store::StoreError;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What `--json` gives.
pub(super) const JSON: &str = "\
Runs until Ctrl-C, a refused key, or until nobody reads it any more. Looks at the jobs itself, or hears of \
them from the dashboard that looks.

With --json one object a line, flushed: a JOB as `docdeck jobs --help` tells, plus at and changes, a list of new, status, \
pullRequest, gone, back, delivery. Only changes are written; `docdeck jobs --json` says how things stand. When it ends by a failure, the last line has error and \
exitCode.

Exit code: 0 nobody reads it any more, 2 usage, configuration or store, 3 the key was refused, 130 Ctrl-C.";

/// How to tell it.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// One JSON object a line
    #[arg(long)]
    pub(super) json: bool,
}

/// Watches until it is ended.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let mut desk = Session::open(flags, environment, LeaseRoles::Poll, out).await?;
    let result = watch(&mut desk, options.json, out).await;
    desk.close(out).await;
    result
}

/// What is known of the jobs.
struct Watch<'a> {
    rows: BTreeMap<JobKey, Job>,
    lines: LineWriterHandle,
    in_json: bool,
    out: &'a mut Out,
    trouble: Option<CleanText>,
}

async fn watch(desk: &mut Session, in_json: bool, out: &mut Out) -> Result<Code, CliError> {
    let rows = desk.store.jobs(&desk.scope).await?;
    let known = beginning(&rows);
    let rows = rows.into_iter().map(|row| (row.key, row)).collect();
    let lines = LineWriterHandle::start()?;
    if in_json {
        tell(&known, out);
    } else {
        lines.write(format!("{} {known}", moment(out.is_terminal())), out);
    }
    let mut watch = Watch { rows, lines, in_json, out, trouble: None };
    let end = watch.run(desk).await;
    let Watch { lines, out, .. } = watch;
    if let Some(why) = lines.finish().await {
        out.fail(why);
    }
    end
}

/// What is known in the beginning.
fn beginning(rows: &[Job]) -> String {
    let working = rows.iter().filter(|row| row.counts_as_working()).count();
    let needs = rows.iter().filter(|row| row.group() == JobGroup::NeedsYou).count();
    let verb = if needs == 1 { "needs" } else { "need" };
    format!("watching {} known here: {working} working, {needs} {verb} you", plural(rows.len(), "job"))
}

impl Watch<'_> {
    async fn run(&mut self, desk: &mut Session) -> Result<Code, CliError> {
        loop {
            let happening = tokio::select! {
                happening = desk.next(None) => happening,
                () = self.lines.ended() => return Ok(Code::Done),
            };
            match happening {
                WaitEnd::Interrupted => {
                    self.out.note("Interrupted. The jobs go on; nothing was changed.");
                    return Ok(Code::Interrupted);
                }
                WaitEnd::Late => {}
                WaitEnd::News(news) => {
                    if let Some(reason) = self.hear(*news, desk).await? {
                        return Err(CliError::new(Code::KeyRefused, reason));
                    }
                }
            }
        }
    }

    /// The reason, when the key was refused.
    async fn hear(&mut self, news: EngineEvent, desk: &Session) -> Result<Option<CleanText>, StoreError> {
        match news {
            EngineEvent::Job(row) => self.put(*row, desk).await?,
            EngineEvent::Prompt { job, .. } => self.put(*job, desk).await?,
            EngineEvent::Merged { gone, .. } => {
                self.rows.remove(&gone);
            }
            EngineEvent::Left(left) => self.rows.retain(|key, _| left.has(*key)),
            EngineEvent::Connection(Connection::Refused { reason }) => return Ok(Some(reason)),
            EngineEvent::Connection(connection) => self.connect(&connection),
            EngineEvent::Trouble(failure) => tell(failure.sentence.as_str(), self.out),
            EngineEvent::Notice(text) => tell(text.as_str(), self.out),
            _ => {}
        }
        Ok(None)
    }

    async fn put(&mut self, new: Job, desk: &Session) -> Result<(), StoreError> {
        let old = self.rows.get(&new.key);
        if old.is_some_and(|old| old.revision >= new.revision) {
            return Ok(());
        }
        let changes = between(old, &new);
        if !changes.is_empty() {
            if self.in_json {
                let thread = desk.store.thread(new.key).await?;
                let mut job = json::job(&new, created_by(&thread));
                if let Value::Object(fields) = &mut job {
                    fields.insert("at".to_owned(), json!(json::time(chrono::Utc::now())));
                    let words: Vec<&str> = changes.iter().map(|change| change.word()).collect();
                    fields.insert("changes".to_owned(), json!(words));
                }
                self.lines.write(escaped_json(&job.to_string()).into_owned(), self.out);
            } else {
                let text = format!("{} {}", moment(self.out.is_terminal()), line(&changes, &new));
                self.lines.write(text, self.out);
            }
        }
        self.rows.insert(new.key, new);
        Ok(())
    }

    fn connect(&mut self, connection: &Connection) {
        let words = connection_words(connection);
        if self.trouble != words {
            tell(words.as_ref().map_or("the service answers again", CleanText::as_str), self.out);
            self.trouble = words;
        }
    }
}
