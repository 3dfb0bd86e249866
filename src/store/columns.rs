//! Converts the model's values to and from columns: times to milliseconds UTC, states to words, texts to cleaned texts.
//! Runs no queries.

use crate::model::Time;
use crate::model::job::{JobId, Status};
use crate::model::prompt::{Delivery, DeliveryKind, EventKind, JobEvent, Prompt, PromptId, PromptKind};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Result, Row};
use std::sync::Arc;
use thin_vec::ThinVec;

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

/// One line of cleaned text. It is cleaned again when it is read, since the file may have been edited by others.
#[derive(Debug, Clone)]
pub(super) struct CleanLine(pub(super) CleanText);

impl FromSql for CleanLine {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(|text| Self(CleanText::line(text)))
    }
}

/// Returns the service's word for a status. Unlike with [`Status::word`], a missing word stays empty.
pub(super) fn stored_status(status: &Status) -> &str {
    match status {
        Status::Unknown(word) => word.as_str(),
        known => known.word(),
    }
}

pub(super) fn text_param(value: Option<&CleanText>) -> Option<&str> {
    value.map(CleanText::as_str)
}

pub(super) fn millis_param(value: Option<Time>) -> Option<UnixMillis> {
    value.map(UnixMillis)
}

pub(super) fn stored_kind(kind: PromptKind) -> &'static str {
    match kind {
        PromptKind::Create => "create",
        PromptKind::FollowUp => "follow-up",
    }
}

/// Joins tags for one column, one tag per line; `None` if there are none.
pub(super) fn join_tags(tags: &[CleanText]) -> Option<String> {
    let lines: Vec<&str> = tags.iter().map(CleanText::as_str).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn read_tags(row: &Row<'_>, index: usize) -> Result<ThinVec<CleanText>> {
    let joined: Option<String> = row.get(index)?;
    let tags = joined.iter().flat_map(|joined| joined.lines()).map(CleanText::line);
    Ok(tags.filter(|tag| !tag.is_empty()).collect())
}

/// The columns of the table `job`, in the order in which [`read_job_row`] reads them.
pub(super) const JOB_COLUMNS: &str = "key, id, coalesce(own_title, title), status, repository, git_ref, model, pr_link, \
     created_at, archived_at, started_at, finished_at, changed_at, checked_at, viewed_at, gone, dismissed, \
     undelivered, revision, own_title IS NOT NULL, tags, note, queue_position, handled_at, followed_up_at, gone_at, \
     undelivered_at, \
     (SELECT group_concat(path, char(10) ORDER BY position) FROM job_page WHERE job_page.job = job.key)";

/// Like [`JOB_COLUMNS`], but with NULL in place of the pages that the job is about. For reading many rows, whose pages
/// are then read with one further query.
pub(super) const JOB_WITHOUT_PAGES: &str = "key, id, coalesce(own_title, title), status, repository, git_ref, model, \
     pr_link, created_at, archived_at, started_at, finished_at, changed_at, checked_at, viewed_at, gone, dismissed, \
     undelivered, revision, own_title IS NOT NULL, tags, note, queue_position, handled_at, followed_up_at, gone_at, \
     undelivered_at, NULL";

/// Texts that many rows of a list have in common. The rows share one allocation per text.
#[derive(Debug, Default)]
pub(super) struct SharedTexts {
    /// The most recently used text comes first.
    recent: Vec<Arc<CleanText>>,
}

impl SharedTexts {
    /// Maximum number of shared texts; searching among more would take too long. Once it is reached, a new text
    /// replaces the last one.
    const MAX: usize = 32;

    fn line(&mut self, row: &Row<'_>, index: usize) -> Result<Option<Arc<CleanText>>> {
        let value = row.get_ref(index)?;
        let Some(raw) = value.as_str_or_null()? else { return Ok(None) };
        // The list contains cleaned texts. A text that isn't clean is never found: it is cleaned and added each time.
        match self.recent.iter().position(|text| text.as_str() == raw) {
            Some(0) => {}
            Some(at) => self.recent.swap(at, 0),
            None => {
                self.recent.truncate(Self::MAX - 1);
                self.recent.insert(0, Arc::new(CleanText::line(raw)));
            }
        }
        Ok(self.recent.first().cloned())
    }
}

/// Reads a job from a row with the columns [`JOB_COLUMNS`].
pub(super) fn read_job_row(row: &Row<'_>) -> Result<Job> {
    read_job_row_sharing(row, &mut SharedTexts::default())
}

/// Like [`read_job_row`], for one of many rows: rows with equal texts share them through `shared`.
pub(super) fn read_job_row_sharing(row: &Row<'_>, shared: &mut SharedTexts) -> Result<Job> {
    let id: Option<String> = row.get(1)?;
    let undelivered: Option<String> = row.get(17)?;
    let note: Option<String> = row.get(21)?;
    let pages: Option<String> = row.get(27)?;
    Ok(Job {
        has_custom_title: row.get(19)?,
        tags: read_tags(row, 20)?,
        note: note.as_deref().map(CleanText::block),
        queue_position: row.get(22)?,
        pages: pages.as_deref().map(|joined| super::pages::split_joined_paths(joined).into()).unwrap_or_default(),
        key: JobKey(row.get(0)?),
        id: id.as_deref().and_then(JobId::new),
        title: read_clean_line(row, 2)?.unwrap_or_default(),
        status: read_status(row, 3)?,
        repository: shared.line(row, 4)?,
        git_ref: read_clean_line(row, 5)?,
        model: shared.line(row, 6)?,
        pr_link: read_clean_line(row, 7)?,
        created_at: read_time(row, 8)?,
        archived_at: read_optional_time(row, 9)?,
        started_at: read_time(row, 10)?,
        finished_at: read_optional_time(row, 11)?,
        changed_at: read_time(row, 12)?,
        checked_at: read_optional_time(row, 13)?,
        viewed_at: read_optional_time(row, 14)?,
        handled_at: read_optional_time(row, 23)?,
        followed_up_at: read_optional_time(row, 24)?,
        gone: row.get(15)?,
        gone_at: read_optional_time(row, 25)?,
        dismissed: row.get(16)?,
        undelivered: undelivered.as_deref().and_then(DeliveryKind::parse),
        undelivered_at: read_optional_time(row, 26)?,
        revision: row.get(18)?,
    })
}

/// SQL for a prompt's state in the model. The table stores a paused prompt as `queued` with `paused` set.
pub(super) const STATE_SQL: &str = "CASE WHEN state = 'queued' AND paused = 1 THEN 'paused' ELSE state END";

/// SQL for the time at which the prompt entered its current state.
pub(super) const STATE_AT_SQL: &str = "iif(state = 'dismissed', discarded_at, state_at)";

/// Returns the columns of the table `prompt`, in the order in which [`read_prompt_row`] reads them.
pub(super) fn prompt_columns() -> String {
    format!("id, kind, text, {STATE_SQL}, until, reason, written_at, sent_at, {STATE_AT_SQL}, discarded_from")
}

/// Reads a prompt from a row with the [`prompt_columns`].
pub(super) fn read_prompt_row(row: &Row<'_>) -> Result<Prompt> {
    Ok(Prompt {
        id: PromptId(row.get(0)?),
        kind: read_prompt_kind(row, 1)?,
        text: row.get(2)?,
        delivery: read_delivery(row)?,
        written_at: read_time(row, 6)?,
        sent_at: read_optional_time(row, 7)?,
        state_at: read_optional_time(row, 8)?,
    })
}

pub(super) fn read_prompt_kind(row: &Row<'_>, index: usize) -> Result<PromptKind> {
    let word: String = row.get(index)?;
    Ok(if word == stored_kind(PromptKind::Create) { PromptKind::Create } else { PromptKind::FollowUp })
}

pub(super) fn read_delivery_kind(row: &Row<'_>, index: usize) -> Result<DeliveryKind> {
    let word: String = row.get(index)?;
    DeliveryKind::parse(&word).ok_or_else(|| unknown_word_error(index, word))
}

fn read_delivery(row: &Row<'_>) -> Result<Delivery> {
    let reason = read_clean_line(row, 5)?.unwrap_or_default();
    Ok(match read_delivery_kind(row, 3)? {
        DeliveryKind::Queued => Delivery::Queued { until: read_optional_time(row, 4)? },
        DeliveryKind::Paused => Delivery::Paused,
        DeliveryKind::Sending => Delivery::Sending,
        DeliveryKind::Accepted => Delivery::Accepted,
        DeliveryKind::NotSent => Delivery::NotSent(reason),
        DeliveryKind::Rejected => Delivery::Rejected(reason),
        DeliveryKind::Unconfirmed => Delivery::Unconfirmed(reason),
        DeliveryKind::Discarded => {
            let from: Option<String> = row.get(9)?;
            Delivery::Discarded { from: from.as_deref().and_then(DeliveryKind::parse) }
        }
    })
}

/// Returns the values of an event's columns: kind, before, after.
pub(super) fn event_columns(kind: &EventKind) -> (&'static str, Option<&str>, Option<&str>) {
    match kind {
        EventKind::Status { from, to } => ("status", from.as_ref().map(stored_status), Some(stored_status(to))),
        EventKind::PullRequest(link) => ("pull request", None, Some(link.as_str())),
        EventKind::Gone => ("gone", None, None),
        EventKind::Back => ("back", None, None),
    }
}

/// Reads an event from the first four columns of a row: at, kind, before, after.
pub(super) fn read_event(row: &Row<'_>) -> Result<JobEvent> {
    let word: String = row.get(1)?;
    let kind = match word.as_str() {
        "status" => EventKind::Status {
            from: read_status(row, 2)?,
            to: read_status(row, 3)?.unwrap_or_else(|| Status::Unknown(CleanText::default())),
        },
        "pull request" => EventKind::PullRequest(read_clean_line(row, 3)?.unwrap_or_default()),
        "gone" => EventKind::Gone,
        "back" => EventKind::Back,
        _ => return Err(unknown_word_error(1, word)),
    };
    Ok(JobEvent { at: read_time(row, 0)?, kind })
}

pub(super) fn read_time(row: &Row<'_>, index: usize) -> Result<Time> {
    row.get(index).map(|UnixMillis(time)| time)
}

pub(super) fn read_optional_time(row: &Row<'_>, index: usize) -> Result<Option<Time>> {
    let value: Option<UnixMillis> = row.get(index)?;
    Ok(value.map(|UnixMillis(time)| time))
}

pub(super) fn read_clean_line(row: &Row<'_>, index: usize) -> Result<Option<CleanText>> {
    let value: Option<CleanLine> = row.get(index)?;
    Ok(value.map(|CleanLine(text)| text))
}

fn read_status(row: &Row<'_>, index: usize) -> Result<Option<Status>> {
    let word: Option<String> = row.get(index)?;
    Ok(word.as_deref().map(Status::parse))
}

fn unknown_word_error(index: usize, word: String) -> rusqlite::Error {
    let what = format!("unknown word {}", CleanText::title(&word, 40));
    rusqlite::Error::FromSqlConversionFailure(index, rusqlite::types::Type::Text, what.into())
}
