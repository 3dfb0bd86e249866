//! Converts the model's values to and from columns: times to milliseconds UTC, states to their names, texts to cleaned
//! texts. Queries for complete jobs, prompts and events use the lists of columns in this module. The macro `job_column`
//! finds the position of a column in the list of a job's columns at compile time.

use crate::model::Time;
use crate::model::job::{Job, JobKey, LocalState, PullRequestEndedBy, TeamActivity};
use crate::model::prompt::{DeliveryKind, EventKind, JobEvent, Prompt, PromptId, PromptKind};
use crate::model::pull_request::{PullRequest, PullRequestFact, PullRequestTurn};
use crate::model::remote_job::{JobId, JobSource, RemoteState, Status};
use crate::model::text::CleanText;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Result, Row, RowIndex};
use std::sync::Arc;

/// A time that is stored as milliseconds UTC.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnixMillis(pub(super) Time);

impl ToSql for UnixMillis {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.0.timestamp_millis().into())
    }
}

impl FromSql for UnixMillis {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let millis = value.as_i64()?;
        Time::from_timestamp_millis(millis).map(Self).ok_or(FromSqlError::OutOfRange(millis))
    }
}

impl ToSql for CleanText {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

/// Reads one line of cleaned text, and cleans it again, since the file may have been edited by hand.
impl FromSql for CleanText {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(Self::line)
    }
}

/// Stores a newtype of `i64` as an integer.
macro_rules! integer_column {
    ($($id:ty),*) => {$(
        impl ToSql for $id {
            fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
                Ok(self.0.into())
            }
        }

        impl FromSql for $id {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                value.as_i64().map(Self)
            }
        }
    )*};
}

integer_column!(JobKey, PromptId);

impl ToSql for JobId {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl ToSql for PromptKind {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.word().into())
    }
}

impl FromSql for PromptKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(|word| word.parse().unwrap_or(Self::FollowUp))
    }
}

impl ToSql for DeliveryKind {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.stored_word().into())
    }
}

impl FromSql for DeliveryKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = value.as_str()?;
        Self::parse(word).ok_or_else(|| unknown_name_error(word))
    }
}

impl FromSql for Status {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(Self::parse)
    }
}

fn unknown_name_error(word: &str) -> FromSqlError {
    FromSqlError::Other(format!("unknown word {}", CleanText::title(word, 40)).into())
}

pub(super) fn read_time(row: &Row<'_>, column: impl RowIndex) -> Result<Time> {
    row.get(column).map(|UnixMillis(time)| time)
}

pub(super) fn read_optional_time(row: &Row<'_>, column: impl RowIndex) -> Result<Option<Time>> {
    Ok(row.get::<_, Option<UnixMillis>>(column)?.map(|UnixMillis(time)| time))
}

/// The columns that are read from the table `job`. `pages` stands for the pages that the job is about, which are read
/// from another table (see [`select_jobs_sql`]).
const JOB_COLUMNS: &str = "key, id, title, own_title, tags, note, status, repository, git_ref, model, pr_link, \
     created_at, archived_at, started_at, finished_at, changed_at, checked_at, viewed_at, handled_at, followed_up_at, \
     gone, gone_at, dismissed, undelivered, undelivered_at, queue_position, revision, pull_request, \
     author, followed_up_by, dismissed_by, pr_ended_by, pages";

/// Returns a query for jobs; `rest` is the part after `FROM job`.
pub(super) fn select_jobs_sql(rest: &str) -> String {
    let pages = "(SELECT group_concat(path, char(10) ORDER BY position) FROM job_page WHERE job_page.job = job.key)";
    format!("SELECT {} FROM job {rest}", JOB_COLUMNS.replace("pages", pages))
}

/// Like [`select_jobs_sql`], but without the pages that the jobs are about. If many jobs are read, it is faster to read
/// their pages with one further query.
pub(super) fn select_jobs_without_pages_sql(rest: &str) -> String {
    format!("SELECT {} FROM job {rest}", JOB_COLUMNS.replace("pages", "NULL"))
}

/// Returns the position of a column in [`JOB_COLUMNS`].
#[expect(clippy::indexing_slicing, reason = "it runs at compile time, where a wrong index is a compile error")]
const fn job_column_position(name: &str) -> usize {
    let (columns, name) = (JOB_COLUMNS.as_bytes(), name.as_bytes());
    let (mut position, mut start, mut end) = (0, 0, 0);
    loop {
        while end < columns.len() && columns[end] != b',' {
            end += 1;
        }
        let mut matching_bytes = 0;
        while matching_bytes < name.len() && columns[start + matching_bytes] == name[matching_bytes] {
            matching_bytes += 1;
        }
        if matching_bytes == name.len() && start + matching_bytes == end {
            return position;
        }
        (position, start, end) = (position + 1, end + 2, end + 2);
    }
}

/// Expands to the position of a column in [`JOB_COLUMNS`], computed at compile time. If values were read by column
/// name, SQLite would compare the name with those of all columns for each value.
macro_rules! job_column {
    ($name:literal) => {
        const { job_column_position($name) }
    };
}

/// Texts that occur in many rows of a list. These rows share one allocation per text.
#[derive(Debug, Default)]
pub(super) struct SharedTexts {
    /// The most recently used text comes first.
    recent_texts: Vec<Arc<CleanText>>,
}

impl SharedTexts {
    /// Maximum number of shared texts; searching among more would take too long. When the list is full, a new text
    /// removes the text at the end of the list.
    const MAX_TEXTS: usize = 32;

    fn read_shared_text(&mut self, row: &Row<'_>, index: usize) -> Result<Option<Arc<CleanText>>> {
        let value = row.get_ref(index)?;
        let Some(raw) = value.as_str_or_null()? else { return Ok(None) };
        // The list contains cleaned texts. A text that isn't clean is never found: it is cleaned and added each time.
        match self.recent_texts.iter().position(|text| text.as_str() == raw) {
            Some(0) => {}
            Some(at) => self.recent_texts.swap(at, 0),
            None => {
                self.recent_texts.truncate(Self::MAX_TEXTS - 1);
                self.recent_texts.insert(0, Arc::new(CleanText::line(raw)));
            }
        }
        Ok(self.recent_texts.first().cloned())
    }
}

/// Reads a job from a row of [`select_jobs_sql`]. If several rows contain the same text, `shared` makes them share one
/// copy.
pub(super) fn read_job(row: &Row<'_>, shared: &mut SharedTexts) -> Result<Job> {
    let id: Option<String> = row.get(job_column!("id"))?;
    Ok(Job {
        key: row.get(job_column!("key"))?,
        id: id.as_deref().and_then(JobId::new),
        created_at: read_time(row, job_column!("created_at"))?,
        remote: read_remote_state(row, shared)?,
        pull_request: read_pull_request(row)?,
        local: read_local_state(row)?,
        revision: row.get(job_column!("revision"))?,
    })
}

fn read_remote_state(row: &Row<'_>, shared: &mut SharedTexts) -> Result<RemoteState> {
    Ok(RemoteState {
        status: row.get(job_column!("status"))?,
        source: JobSource {
            repository: shared.read_shared_text(row, job_column!("repository"))?,
            git_ref: row.get(job_column!("git_ref"))?,
        },
        model: shared.read_shared_text(row, job_column!("model"))?,
        pr_link: row.get(job_column!("pr_link"))?,
        archived_at: read_optional_time(row, job_column!("archived_at"))?,
    })
}

/// Reads the state of the pull request. Returns `None` if the stored value can't be read: the file may have been edited
/// by hand.
fn read_pull_request(row: &Row<'_>) -> Result<Option<Box<PullRequest>>> {
    parse_pull_request(row.get_ref(job_column!("pull_request"))?)
}

/// Like [`read_pull_request`], but takes the value of the column `pull_request` instead of the row.
pub(super) fn parse_pull_request(value: ValueRef<'_>) -> Result<Option<Box<PullRequest>>> {
    let json = value.as_str_or_null()?;
    Ok(json.and_then(|json| serde_json::from_str(json).ok()))
}

fn read_local_state(row: &Row<'_>) -> Result<LocalState> {
    let custom_title: Option<CleanText> = row.get(job_column!("own_title"))?;
    let undelivered: Option<String> = row.get(job_column!("undelivered"))?;
    let note: Option<String> = row.get(job_column!("note"))?;
    Ok(LocalState {
        has_custom_title: custom_title.is_some(),
        title: custom_title.map_or_else(|| row.get(job_column!("title")), Ok)?,
        tags: split_lines(row, job_column!("tags"))?,
        note: note.as_deref().map(CleanText::block),
        pages: split_lines(row, job_column!("pages"))?,
        started_at: read_time(row, job_column!("started_at"))?,
        finished_at: read_optional_time(row, job_column!("finished_at"))?,
        changed_at: read_time(row, job_column!("changed_at"))?,
        checked_at: read_optional_time(row, job_column!("checked_at"))?,
        viewed_at: read_optional_time(row, job_column!("viewed_at"))?,
        handled_at: read_optional_time(row, job_column!("handled_at"))?,
        followed_up_at: read_optional_time(row, job_column!("followed_up_at"))?,
        gone: row.get(job_column!("gone"))?,
        gone_at: read_optional_time(row, job_column!("gone_at"))?,
        dismissed: row.get(job_column!("dismissed"))?,
        undelivered: undelivered.as_deref().and_then(DeliveryKind::parse),
        undelivered_at: read_optional_time(row, job_column!("undelivered_at"))?,
        queue_position: row.get(job_column!("queue_position"))?,
        team: read_team_activity(row)?,
    })
}

fn read_team_activity(row: &Row<'_>) -> Result<Option<Box<TeamActivity>>> {
    let activity = TeamActivity {
        author: row.get(job_column!("author"))?,
        followed_up_by: row.get(job_column!("followed_up_by"))?,
        dismissed_by: row.get(job_column!("dismissed_by"))?,
        pr_ended_by: row.get::<_, Option<CleanText>>(job_column!("pr_ended_by"))?.map(|name| {
            // An empty name is stored if the user of this computer ended the pull request.
            if name.is_empty() { PullRequestEndedBy::User } else { PullRequestEndedBy::Member(name) }
        }),
    };
    Ok((activity != TeamActivity::default()).then(|| Box::new(activity)))
}

/// Returns the columns that [`super::job_rows::update_job`] writes, with their values. The user's title, tags and note
/// are written by `labels` instead.
pub(super) fn written_columns(job: &Job) -> [(&'static str, ToSqlOutput<'_>); 23] {
    let time = |time: Option<Time>| time.map_or(NULL, |time| time.timestamp_millis().into());
    // All fields are named, so that a new one can't be forgotten.
    let Job { key: _, id, created_at, remote, pull_request, local, revision: _ } = job;
    let RemoteState { status, source: JobSource { repository, git_ref }, model, pr_link, archived_at } = remote;
    let LocalState {
        title: _,
        has_custom_title: _,
        tags: _,
        note: _,
        pages: _,
        started_at,
        finished_at,
        changed_at,
        checked_at,
        viewed_at,
        handled_at,
        followed_up_at,
        gone,
        gone_at,
        dismissed,
        undelivered: _,
        undelivered_at: _,
        queue_position: _,
        team,
    } = local;
    let dismissed_by = team.as_ref().and_then(|team| team.dismissed_by.as_ref()).filter(|_| *dismissed);
    let pr_ended_by = team.as_ref().and_then(|team| team.pr_ended_by.as_ref()).map(|ender| match ender {
        PullRequestEndedBy::User => "",
        PullRequestEndedBy::Member(name) => name.as_str(),
    });
    let pull_request = pull_request.as_ref().and_then(|state| serde_json::to_string(state).ok());
    let turn = job.pr_turn().map(|turn| match turn {
        PullRequestTurn::User => "user",
        PullRequestTurn::Host => "host",
        PullRequestTurn::Nobody => "nobody",
    });
    let need = job.pr_fact().and_then(|fact| match fact {
        PullRequestFact::Ready => Some("review"),
        PullRequestFact::Failing => Some("fix"),
        _ => None,
    });
    [
        ("id", text_or_null(id.as_ref().map(JobId::as_str))),
        ("created_at", time(Some(*created_at))),
        ("status", text_or_null(status.as_ref().map(Status::service_word))),
        ("repository", text_or_null(repository.as_ref().map(|text| text.as_str()))),
        ("git_ref", text_or_null(git_ref.as_ref().map(CleanText::as_str))),
        ("model", text_or_null(model.as_ref().map(|text| text.as_str()))),
        ("pr_link", text_or_null(pr_link.as_ref().map(CleanText::as_str))),
        ("archived_at", time(*archived_at)),
        ("started_at", time(Some(*started_at))),
        ("finished_at", time(*finished_at)),
        ("changed_at", time(Some(*changed_at))),
        ("checked_at", time(*checked_at)),
        ("viewed_at", time(*viewed_at)),
        ("gone", (*gone).into()),
        ("dismissed", (*dismissed).into()),
        ("dismissed_by", text_or_null(dismissed_by.map(CleanText::as_str))),
        ("pr_ended_by", text_or_null(pr_ended_by)),
        ("handled_at", time(*handled_at)),
        ("followed_up_at", time(*followed_up_at)),
        ("gone_at", time(*gone_at)),
        ("pull_request", pull_request.map_or(NULL, |json| ToSqlOutput::Owned(Value::Text(json)))),
        ("pr_turn", text_or_null(turn)),
        ("pr_need", text_or_null(need)),
    ]
}

/// Returns the user's title, tags and note, with their columns.
pub(super) fn label_columns(job: &Job) -> [(&'static str, ToSqlOutput<'_>); 3] {
    let tags = (!job.local.tags.is_empty()).then(|| ToSqlOutput::Owned(Value::Text(join_lines(&job.local.tags))));
    [
        ("own_title", text_or_null(job.local.has_custom_title.then_some(job.local.title.as_str()))),
        ("tags", tags.unwrap_or(NULL)),
        ("note", text_or_null(job.local.note.as_ref().map(CleanText::as_str))),
    ]
}

const NULL: ToSqlOutput<'static> = ToSqlOutput::Owned(Value::Null);

fn text_or_null(text: Option<&str>) -> ToSqlOutput<'_> {
    text.map_or(NULL, Into::into)
}

/// Joins tags or paths for one column, one per line.
pub(super) fn join_lines(lines: &[CleanText]) -> String {
    lines.iter().map(CleanText::as_str).collect::<Vec<_>>().join("\n")
}

/// Reads a column with lines that were joined by [`join_lines`].
pub(super) fn split_lines<L: FromIterator<CleanText>>(row: &Row<'_>, column: impl RowIndex) -> Result<L> {
    let joined: Option<String> = row.get(column)?;
    let lines = joined.iter().flat_map(|joined| joined.lines()).map(CleanText::line);
    Ok(lines.filter(|line| !line.is_empty()).collect())
}

/// The SQL expression for a prompt's state as the model defines it. The table stores a paused prompt as `queued` with
/// `paused` set.
pub(super) const STATE_SQL: &str = "CASE WHEN state = 'queued' AND paused = 1 THEN 'paused' ELSE state END";

/// The columns of the table `prompt` that [`read_prompt`] reads.
pub(super) const PROMPT_COLUMNS: &str = "id, kind, text, state, paused, until, reason, written_at, sent_at, state_at, \
     discarded_at, discarded_from, author";

pub(super) fn read_prompt(row: &Row<'_>) -> Result<Prompt> {
    let kind = read_delivery_kind(row)?;
    let reason = row.get::<_, Option<CleanText>>("reason")?.unwrap_or_default();
    let discarded_from: Option<String> = row.get("discarded_from")?;
    let discarded_from = discarded_from.as_deref().and_then(DeliveryKind::parse);
    let state_at = if kind == DeliveryKind::Discarded { "discarded_at" } else { "state_at" };
    Ok(Prompt {
        id: row.get("id")?,
        kind: row.get("kind")?,
        text: row.get("text")?,
        delivery: kind.with_data(reason, read_optional_time(row, "until")?, discarded_from),
        written_at: read_time(row, "written_at")?,
        sent_at: read_optional_time(row, "sent_at")?,
        state_at: read_optional_time(row, state_at)?,
        author: row.get("author")?,
    })
}

/// Reads a prompt's state from the columns `state` and `paused`.
pub(super) fn read_delivery_kind(row: &Row<'_>) -> Result<DeliveryKind> {
    let kind = row.get("state")?;
    Ok(if kind == DeliveryKind::Queued && row.get("paused")? { DeliveryKind::Paused } else { kind })
}

/// The columns of the table `event` that [`read_event`] reads.
pub(super) const EVENT_COLUMNS: &str = "at, kind, before, after";

pub(super) fn read_event(row: &Row<'_>) -> Result<JobEvent> {
    let word: String = row.get("kind")?;
    let (before, after): (Option<String>, Option<String>) = (row.get("before")?, row.get("after")?);
    let kind = EventKind::from_parts(&word, before.as_deref(), after.as_deref());
    let kind = kind.ok_or_else(|| unknown_name_error(&word))?;
    Ok(JobEvent { at: read_time(row, "at")?, kind })
}
