//! Converts the lines of an export file from and to JSON, with the service's field names where they exist and RFC 3339
//! times in UTC. Texts are cleaned on reading, except for prompts and drafts, which are stored as typed and cleaned for
//! display.

use super::{
    BackupHeader, BackupTotals, DraftPurpose, DraftRecord, DraftText, EXPORT_FORMAT_VERSION, JobRecord, LineError,
    PromptRecord,
};
use crate::model::Time;
use crate::model::analytics::signal_snapshot::{JobSnapshots, SignalSnapshot};
use crate::model::change::normalized_tags;
use crate::model::endpoint::Scope;
use crate::model::job::{Job, JobKey, LocalState};
use crate::model::period::DateRange;
use crate::model::prompt::{
    Delivery, DeliveryKind, EventKind, JobEvent, MAX_AUTHOR_CHARS, MAX_TITLE_CHARS, PromptKind, prompt_title,
};
use crate::model::pull_request::PullRequest;
use crate::model::remote_job::{JobId, RemoteState};
use crate::model::text::CleanText;
use crate::model::time_format::JsonTime;
use crate::model::views::Count;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(super) enum WireLine {
    /// The header. Its kind, `docdeck`, identifies the file as an export of docdeck.
    Docdeck {
        /// The version of the format.
        version: u32,
        /// The version of docdeck that wrote the file.
        #[serde(default)]
        program: String,
        exported_at: Option<JsonTime>,
    },
    Job(Box<WireJob>),
    Draft(DraftLine),
    End {
        #[serde(default)]
        jobs: u64,
        #[serde(default)]
        drafts: u64,
    },
}

/// The kind and the version of a line that is not a [`WireLine`], for the error message.
#[derive(Deserialize)]
struct WireKind {
    kind: Option<String>,
    version: Option<u32>,
}

/// The state of a pull request, with the number and the link that the JSON of commands also has.
#[derive(Serialize, Deserialize)]
struct WirePullRequest {
    #[serde(default)]
    number: Option<u64>,
    #[serde(default)]
    url: Option<String>,
    #[serde(flatten)]
    state: Box<PullRequest>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireJob {
    base_url: String,
    project: String,
    id: Option<String>,
    created_at: Option<JsonTime>,
    #[serde(flatten)]
    remote: RemoteState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pull_request: Option<WirePullRequest>,
    title: Option<String>,
    #[serde(default)]
    named: bool,
    #[serde(default)]
    tags: Vec<String>,
    note: Option<String>,
    #[serde(default)]
    pages: Vec<String>,
    started_at: Option<JsonTime>,
    finished_at: Option<JsonTime>,
    changed_at: Option<JsonTime>,
    checked_at: Option<JsonTime>,
    /// Older versions of docdeck named this field `lookedAt`.
    #[serde(alias = "lookedAt")]
    viewed_at: Option<JsonTime>,
    /// The outer `None` means that an older version of docdeck wrote the file. In these versions, viewing a job counted
    /// as handling it.
    #[serde(default, deserialize_with = "double_option")]
    handled_at: Option<Option<JsonTime>>,
    followed_up_at: Option<JsonTime>,
    #[serde(default)]
    gone: bool,
    gone_at: Option<JsonTime>,
    #[serde(default)]
    dismissed: bool,
    #[serde(default)]
    prompts: Vec<WirePrompt>,
    #[serde(default)]
    events: Vec<WireEvent>,
    draft: Option<WireDraftText>,
    /// The reports' numbers about each of the job's pages when the job was started.
    #[serde(default, rename = "signals", skip_serializing_if = "Vec::is_empty")]
    signals_before: Vec<WireSignals>,
    /// The reports' numbers about each of the job's pages in the days after the job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    signals_after: Vec<WireSignals>,
}

/// The numbers about a page in the reports of a range. The key of a number is the name of its signal, such as
/// `unansweredQuestions`.
#[derive(Serialize, Deserialize)]
struct WireSignals {
    path: String,
    from: String,
    to: String,
    numbers: BTreeMap<String, Count>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WirePrompt {
    kind: String,
    text: String,
    delivery: String,
    reason: Option<String>,
    written_at: Option<JsonTime>,
    sent_at: Option<JsonTime>,
    state_at: Option<JsonTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discarded_from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    draft: Option<WireDraftText>,
}

#[derive(Serialize, Deserialize)]
struct WireEvent {
    at: JsonTime,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireDraftText {
    text: String,
    saved_at: Option<JsonTime>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DraftLine {
    base_url: String,
    project: String,
    #[serde(rename = "of")]
    purpose: String,
    text: String,
    saved_at: Option<JsonTime>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pages: Vec<String>,
}

/// Deserializes a null field as `Some(None)`, so that it differs from a missing field.
fn double_option<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<JsonTime>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl From<&super::BackupLine> for WireLine {
    fn from(line: &super::BackupLine) -> Self {
        match line {
            super::BackupLine::Header(header) => Self::Docdeck {
                version: EXPORT_FORMAT_VERSION,
                program: header.docdeck_version.to_string(),
                exported_at: Some(JsonTime(header.exported_at)),
            },
            super::BackupLine::Job(record) => Self::Job(Box::new(wire_job(record))),
            super::BackupLine::Draft(record) => Self::Draft(draft_line(record)),
            super::BackupLine::End(totals) => Self::End { jobs: totals.jobs, drafts: totals.drafts },
        }
    }
}

fn wire_job(record: &JobRecord) -> WireJob {
    let (job, moment) = (&record.job, |time: Option<Time>| time.map(JsonTime));
    WireJob {
        base_url: record.scope.base_url.clone(),
        project: record.scope.project.clone(),
        id: job.id.as_ref().map(|id| id.as_str().to_owned()),
        created_at: moment(Some(job.created_at)),
        remote: job.remote.clone(),
        pull_request: job.pull_request.clone().map(|state| {
            let url = job.pr_url().map(|url| url.to_string());
            WirePullRequest { number: job.pr_number(), url, state }
        }),
        title: Some(job.local.title.to_string()),
        named: job.local.has_custom_title,
        tags: owned_strings(&job.local.tags),
        note: optional_string(job.local.note.as_ref()),
        pages: owned_strings(&job.local.pages),
        started_at: moment(Some(job.local.started_at)),
        finished_at: moment(job.local.finished_at),
        changed_at: moment(Some(job.local.changed_at)),
        checked_at: moment(job.local.checked_at),
        viewed_at: moment(job.local.viewed_at),
        handled_at: Some(moment(job.local.handled_at)),
        followed_up_at: moment(job.local.followed_up_at),
        gone: job.local.gone,
        gone_at: moment(job.local.gone_at),
        dismissed: job.local.dismissed,
        prompts: record.prompts.iter().map(wire_prompt).collect(),
        events: record.events.iter().map(wire_event).collect(),
        draft: record.draft.as_ref().map(wire_draft_text),
        signals_before: record.signals.before.iter().map(wire_signals).collect(),
        signals_after: record.signals.after.iter().map(wire_signals).collect(),
    }
}

fn wire_signals(signals: &SignalSnapshot) -> WireSignals {
    WireSignals {
        path: signals.path.to_string(),
        from: signals.range.from().to_string(),
        to: signals.range.to().to_string(),
        numbers: signals.signals.clone(),
    }
}

/// Reads the numbers of a page. Returns `None` if the range is invalid.
fn parse_signals(line: &WireSignals) -> Option<SignalSnapshot> {
    let range = DateRange::new(line.from.parse().ok()?, line.to.parse().ok()?)?;
    Some(SignalSnapshot { path: CleanText::line(&line.path), range, signals: line.numbers.clone() })
}

fn wire_prompt(prompt: &PromptRecord) -> WirePrompt {
    let discarded_from = match prompt.delivery {
        Delivery::Discarded { from } => from.map(|from| from.word().to_owned()),
        _ => None,
    };
    WirePrompt {
        kind: prompt.kind.word().to_owned(),
        text: prompt.text.clone(),
        delivery: prompt.delivery.kind().stored_word().to_owned(),
        reason: optional_string(prompt.delivery.reason()),
        written_at: Some(JsonTime(prompt.written_at)),
        sent_at: prompt.sent_at.map(JsonTime),
        state_at: prompt.state_at.map(JsonTime),
        discarded_from,
        author: optional_string(prompt.author.as_ref()),
        draft: prompt.draft.as_ref().map(wire_draft_text),
    }
}

fn wire_event(event: &JobEvent) -> WireEvent {
    let (kind, from, to) = event.kind.parts();
    let text = |text: Option<&str>| text.map(str::to_owned);
    WireEvent { at: JsonTime(event.at), kind: kind.to_owned(), from: text(from), to: text(to) }
}

fn draft_line(record: &DraftRecord) -> DraftLine {
    let (purpose, pages) = match &record.purpose {
        DraftPurpose::NewJob => ("new job", Vec::new()),
        DraftPurpose::AboutPages(pages) => ("job about pages", owned_strings(pages)),
        DraftPurpose::Batch => ("many jobs", Vec::new()),
    };
    DraftLine {
        base_url: record.scope.base_url.clone(),
        project: record.scope.project.clone(),
        purpose: purpose.to_owned(),
        text: record.draft.text.clone(),
        saved_at: Some(JsonTime(record.draft.saved_at)),
        pages,
    }
}

fn wire_draft_text(draft: &DraftText) -> WireDraftText {
    WireDraftText { text: draft.text.clone(), saved_at: Some(JsonTime(draft.saved_at)) }
}

fn optional_string(text: Option<&CleanText>) -> Option<String> {
    text.map(CleanText::to_string)
}

fn owned_strings(owned_strings: &[CleanText]) -> Vec<String> {
    owned_strings.iter().map(CleanText::to_string).collect()
}

pub(super) fn parse_backup_line(text: &str, now: Time) -> Result<super::BackupLine, LineError> {
    match serde_json::from_str(text) {
        Ok(WireLine::Docdeck { version, .. }) if version > EXPORT_FORMAT_VERSION => {
            Err(LineError::NewerVersion(version))
        }
        Ok(WireLine::Docdeck { program, exported_at, .. }) => Ok(super::BackupLine::Header(BackupHeader {
            docdeck_version: CleanText::line(&program),
            exported_at: exported_at.map_or(now, |JsonTime(at)| at),
        })),
        Ok(WireLine::Job(line)) => parse_job(*line, now).map(|record| super::BackupLine::Job(Box::new(record))),
        Ok(WireLine::Draft(line)) => parse_draft(line, now).map(super::BackupLine::Draft),
        Ok(WireLine::End { jobs, drafts }) => Ok(super::BackupLine::End(BackupTotals { jobs, drafts })),
        Err(error) => Err(line_parse_error(text, &error)),
    }
}

/// Returns the reason why a line can't be parsed.
fn line_parse_error(text: &str, error: &serde_json::Error) -> LineError {
    let Ok(WireKind { kind, version }) = serde_json::from_str(text) else { return LineError::malformed(error) };
    match (kind.as_deref(), version) {
        (Some("docdeck"), Some(version)) if version > EXPORT_FORMAT_VERSION => LineError::NewerVersion(version),
        (Some("docdeck" | "job" | "draft" | "end"), _) => LineError::malformed(error),
        (Some(other), _) => LineError::UnknownKind(CleanText::title(other, MAX_TITLE_CHARS)),
        (None, _) => LineError::malformed("it has no \"kind\""),
    }
}

fn parse_job(line: WireJob, now: Time) -> Result<JobRecord, LineError> {
    let created_at = line.created_at.map_or(now, |JsonTime(at)| at);
    let prompts = line.prompts.into_iter().map(|line| parse_prompt(line, created_at));
    let prompts = prompts.collect::<Result<Vec<PromptRecord>, _>>()?;
    let id = line.id.as_deref().and_then(JobId::new);
    let first = prompts.iter().find(|prompt| prompt.kind == PromptKind::Create);
    let default_title = first.map(|first| prompt_title(&first.text)).or_else(|| id.as_ref().map(JobId::to_clean_text));
    let default_title = default_title.ok_or(LineError::Unidentified)?;
    let given = line.title.map(|given| CleanText::title(&given, MAX_TITLE_CHARS)).filter(|given| !given.is_empty());
    let has_custom_title = line.named && given.is_some();
    let time = |moment: Option<JsonTime>| moment.map(|JsonTime(at)| at);
    let viewed_at = time(line.viewed_at);
    let job = Job::new(JobKey(0), given.unwrap_or(default_title), created_at);
    let local = LocalState {
        has_custom_title,
        tags: normalized_tags(line.tags.iter().map(String::as_str)).into(),
        note: line.note.map(|note| CleanText::block(&note)).filter(|note| !note.as_str().trim().is_empty()),
        pages: parse_pages(&line.pages).into(),
        started_at: time(line.started_at).unwrap_or(created_at),
        finished_at: time(line.finished_at),
        changed_at: time(line.changed_at).unwrap_or(created_at),
        checked_at: time(line.checked_at),
        handled_at: line.handled_at.map_or(viewed_at, time),
        viewed_at,
        followed_up_at: time(line.followed_up_at),
        gone: line.gone,
        gone_at: time(line.gone_at),
        dismissed: line.dismissed,
        ..job.local
    };
    let job = Job { id, remote: line.remote, pull_request: line.pull_request.map(|wire| wire.state), local, ..job };
    let events = line.events.into_iter().map(parse_event).collect::<Result<_, _>>()?;
    let draft = line.draft.and_then(|line| draft_text(line.text, line.saved_at, now));
    let pages = |lines: &[WireSignals]| lines.iter().filter_map(parse_signals).collect();
    let signals = JobSnapshots { before: pages(&line.signals_before), after: pages(&line.signals_after) };
    Ok(JobRecord { scope: parse_scope(&line.base_url, line.project)?, job, prompts, events, draft, signals })
}

fn parse_prompt(line: WirePrompt, written_at: Time) -> Result<PromptRecord, LineError> {
    if prompt_title(&line.text).is_empty() {
        return Err(LineError::BlankPrompt);
    }
    let kind = line.kind.parse().map_err(|_| unknown_word_error("kind of prompt", &line.kind))?;
    let reason = CleanText::line(line.reason.as_deref().unwrap_or_default());
    let delivery = DeliveryKind::parse(&line.delivery).ok_or_else(|| unknown_word_error("delivery", &line.delivery))?;
    let discarded_from = line.discarded_from.as_deref().and_then(DeliveryKind::parse);
    Ok(PromptRecord {
        kind,
        text: line.text,
        delivery: delivery.with_data(reason, None, discarded_from),
        written_at: line.written_at.map_or(written_at, |JsonTime(at)| at),
        sent_at: line.sent_at.map(|JsonTime(at)| at),
        state_at: line.state_at.map(|JsonTime(at)| at),
        author: line.author.map(|name| CleanText::title(&name, MAX_AUTHOR_CHARS)).filter(|name| !name.is_empty()),
        draft: line.draft.and_then(|line| draft_text(line.text, line.saved_at, written_at)),
    })
}

fn parse_event(line: WireEvent) -> Result<JobEvent, LineError> {
    if line.to.is_none() && matches!(line.kind.as_str(), "status" | "pull request") {
        return Err(LineError::malformed("an event without \"to\""));
    }
    let kind = EventKind::from_parts(&line.kind, line.from.as_deref(), line.to.as_deref());
    let kind = kind.ok_or_else(|| unknown_word_error("kind of event", &line.kind))?;
    Ok(JobEvent { at: line.at.0, kind })
}

fn parse_draft(line: DraftLine, now: Time) -> Result<DraftRecord, LineError> {
    let purpose = match line.purpose.as_str() {
        "new job" => DraftPurpose::NewJob,
        "job about pages" => DraftPurpose::AboutPages(parse_pages(&line.pages)),
        "many jobs" => DraftPurpose::Batch,
        other => return Err(unknown_word_error("kind of draft", other)),
    };
    let draft = draft_text(line.text, line.saved_at, now).ok_or_else(|| LineError::malformed("an empty draft"))?;
    Ok(DraftRecord { scope: parse_scope(&line.base_url, line.project)?, purpose, draft })
}

fn draft_text(text: String, saved_at: Option<JsonTime>, now: Time) -> Option<DraftText> {
    (!text.is_empty()).then(|| DraftText { text, saved_at: saved_at.map_or(now, |JsonTime(at)| at) })
}

fn parse_scope(base_url: &str, project: String) -> Result<Scope, LineError> {
    let base_url = base_url.trim().trim_end_matches('/').to_owned();
    if base_url.is_empty() || project.trim().is_empty() {
        return Err(LineError::NoScope);
    }
    Ok(Scope { base_url, project, organization: None })
}

fn parse_pages(given: &[String]) -> Vec<CleanText> {
    given.iter().map(|path| CleanText::line(path)).filter(|path| !path.is_empty()).collect()
}

fn unknown_word_error(field: &'static str, word: &str) -> LineError {
    LineError::UnknownWord { field, word: CleanText::title(word, 40) }
}
