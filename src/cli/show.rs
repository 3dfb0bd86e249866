//! `docdeck show`: prints a tracked job and its thread from the store. Needs no key and sends no request.

use super::error::CliError;
use super::exit_code::Code;
use super::job_format::state_and_role;
use super::out::Out;
use super::pull_requests::checks_text;
use super::resolve_id;
use super::session::StoreSession;
use crate::model::Time;
use crate::model::colors::ColorRole;
use crate::model::job::{Job, JobGroup};
use crate::model::json;
use crate::model::link;
use crate::model::prompt::{DeliveryKind, EventKind, JobEvent, Prompt, Thread};
use crate::model::pull_request::PullRequest;
use crate::model::text::CleanText;
use crate::tui::format::format_duration;
use clap::Args;
use serde_json::{Value, json};

/// Help text about the JSON output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
With --json: JOB as in `docdeck jobs --help`, plus \"thread\", oldest first. Each entry has \"type\" and \"at\". The \
type \"prompt\" also has \"kind\" (create, follow-up), \"text\", \"delivery\", \"reason\", \"writtenAt\", \
\"sentAt\", and \"author\" if a member of the team wrote it on another computer; the type \"status\" has \"from\" and \"to\"; the type \"pullRequest\" has \"prLink\". The types \
\"gone\" and \"back\" mean that the job disappeared from the service, or reappeared.

Exit codes: 0 shown; 2 usage, configuration or database error; 4 the job is not tracked.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// id of a tracked job, or a unique prefix of it
    #[arg(value_name = "ID", add = super::completion_candidates::job_ids())]
    id: String,
    /// print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs `docdeck show`.
pub(super) async fn run(session: &StoreSession, options: &Options, out: &mut Out) -> Result<Code, CliError> {
    let rows = session.store.jobs(&session.scope).await?;
    let row = resolve_id::find_by_id_prefix(&rows, &options.id)?;
    let thread = session.store.thread(row.key).await?;
    if options.json {
        let mut job = json::job_object(row, thread.creation_prompt());
        if let Value::Object(fields) = &mut job {
            fields.insert("thread".to_owned(), json!(json::thread_json(&thread)));
        }
        out.print_json(&job);
        return Ok(Code::Done);
    }
    let now = chrono::Utc::now();
    let mut lines = job_header(row, now, out);
    lines.push(String::new());
    lines.extend(thread_lines(&thread, now, out));
    out.print_lines(&lines);
    Ok(Code::Done)
}

/// Returns the lines about the job: title, state, and one line for each known field.
fn job_header(row: &Job, now: Time, out: &Out) -> Vec<String> {
    let (word, role) = state_and_role(row);
    let mut state = out.paint(role, word);
    if let Some(since) = row.state_since() {
        state.push_str(&format!(" {}", out.time_in_words(since, now)));
    }
    let is_finished = row.local.undelivered.is_none() && row.remote.is_finished();
    if let Some(finished) = row.local.finished_at.filter(|finished| is_finished && *finished >= row.local.started_at) {
        state.push_str(&format!(", took {}", format_duration(finished - row.local.started_at)));
    }
    let mark = if row.group() == JobGroup::NeedsYou {
        out.paint(ColorRole::Warning, "● needs you · ")
    } else {
        String::new()
    };
    let mut lines = vec![out.paint(ColorRole::Title, row.local.title.as_str()), format!("{mark}{state}")];
    let text = |text: Option<&CleanText>| text.map(|text| text.to_string());
    let words = |texts: &[CleanText]| {
        let texts: Vec<&str> = texts.iter().map(CleanText::as_str).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    };
    let fields = [
        ("id", row.id.as_ref().map(|id| id.to_clean_text().to_string())),
        ("PR", text(row.pr_url().as_ref())),
        ("PR state", row.pull_request.as_deref().map(|state| pull_request_text(state, out, now))),
        ("repo", text(row.remote.source.repository.as_deref())),
        ("branch", text(row.remote.source.git_ref.as_ref())),
        ("by", text(row.author())),
        ("model", text(row.remote.model.as_deref())),
        ("tags", words(&row.local.tags)),
        ("pages", words(&row.local.pages)),
        ("note", text(row.local.note.as_ref())),
        ("checked", Some(row.local.checked_at.map_or_else(|| "never".to_owned(), |at| out.time_in_words(at, now)))),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            lines.push(format!("{} {value}", out.paint(ColorRole::Muted, &format!("{name:<8}"))));
        }
    }
    lines
}

/// Describes a pull request in three parts: its most important fact, its checks, and how long ago its state was read.
fn pull_request_text(state: &PullRequest, out: &Out, now: Time) -> String {
    let main_fact = state.main_fact();
    let checks = checks_text(state);
    let read = out.time_in_words(state.as_of, now);
    format!("{}, checks {checks}, read {read}", out.paint(main_fact.color_role(), main_fact.word_and_meaning().0))
}

/// Returns the lines for prompts and events, oldest first.
fn thread_lines(thread: &Thread, now: Time, out: &Out) -> Vec<String> {
    let mut entries: Vec<(Time, Vec<String>)> = Vec::new();
    for prompt in &thread.prompts {
        let at = prompt.sent_at.unwrap_or(prompt.written_at);
        entries.push((at, painted_prompt_lines(prompt, &out.format_time(at, now), out)));
    }
    for event in &thread.events {
        entries.push((event.at, vec![event_line(event, &out.format_time(event.at, now), out)]));
    }
    entries.sort_by_key(|(at, _)| *at);
    entries.into_iter().flat_map(|(_, lines)| lines).collect()
}

fn painted_prompt_lines(prompt: &Prompt, when: &str, out: &Out) -> Vec<String> {
    let kind = prompt.delivery.kind();
    let author = prompt.author.as_ref().map_or("you", CleanText::as_str);
    let who = match kind {
        DeliveryKind::Accepted => author.to_owned(),
        kind => format!("{author} ({})", kind.word()),
    };
    let mut lines =
        vec![format!("{}  {}", out.paint(ColorRole::Muted, &format!("{when:>4}")), out.paint(ColorRole::Title, &who))];
    lines.extend(CleanText::block(&prompt.text).as_str().trim_end().lines().map(|line| format!("      {line}")));
    if let Some(sentence) = prompt.discard_explanation() {
        lines.push(format!("      {}", out.paint(ColorRole::Muted, sentence)));
    }
    if let Some(reason) = prompt.delivery.reason() {
        lines.push(format!("      {}", out.paint(ColorRole::Warning, &format!("{}: {reason}", kind.word()))));
    }
    lines
}

fn event_line(event: &JobEvent, when: &str, out: &Out) -> String {
    let what = match &event.kind {
        EventKind::Status { to, .. } => to.to_string(),
        EventKind::PullRequest(link) => format!("pull request {}", link::display_url(link)),
        EventKind::Gone => "gone from the service".to_owned(),
        EventKind::Back => "back on the service".to_owned(),
    };
    format!("{}  {what}", out.paint(ColorRole::Muted, &format!("{when:>4}")))
}
