//! Formats a job and its thread as JSON, with the service's field names and further fields for local data. Commands,
//! copies from the dashboard and `on_change` programs use the same JSON.

use super::Time;
use super::job::Job;
use super::link;
use super::prompt::{EventKind, JobEvent, Prompt, Thread};
use super::remote_job::{RemoteState, Status};
use super::text::CleanText;
use super::time_format::json_time;
use serde_json::{Value, json};

/// Returns the job as the service's object plus `title`, `author`, `prompt`, `tags`, `pages`, `delivery` and
/// `pullRequest`. `prompt` is the text that created the job, or null if the job was created elsewhere. `author` is the
/// member of the team who created the job on another computer, or null. `pullRequest` is the state of the pull request
/// on the code host, or null if it is unknown.
///
/// `delivery` is the state of the most urgent undelivered prompt in the thread. If there is none, it is `accepted` for
/// a job that exists on the service, and `discarded` otherwise.
pub fn job_object(job: &Job, prompt: Option<&str>) -> Value {
    let Job { id, remote, local, .. } = job;
    let default_delivery = if id.is_some() { "accepted" } else { "discarded" };
    let mut object = json!({
        "id": id,
        "createdAt": json_time(job.created_at),
        "title": local.title,
        "author": job.author(),
        "prompt": prompt,
        "tags": local.tags.as_slice(),
        "pages": local.pages.as_slice(),
        "delivery": local.undelivered.map_or(default_delivery, |kind| kind.word()),
        "pullRequest": pull_request_object(job),
    });
    let status = remote.status.clone().filter(|status| !status.service_word().is_empty());
    let remote = json!(RemoteState { status, pr_link: job.pr_url(), ..remote.clone() });
    if let (Value::Object(object), Value::Object(remote)) = (&mut object, remote) {
        object.extend(remote);
    }
    object
}

/// Returns the state of the job's pull request on the code host, or null if it is unknown.
fn pull_request_object(job: &Job) -> Value {
    let Some(mut object) = job.pull_request.as_ref().map(|state| json!(state)) else { return Value::Null };
    if let Value::Object(fields) = &mut object {
        fields.insert("number".to_owned(), json!(job.pr_number()));
        fields.insert("url".to_owned(), json!(job.pr_url()));
        fields.remove("changedAt");
        // The stored form omits an empty list, but scripts iterate over it.
        if let Some(Value::Object(checks)) = fields.get_mut("checks") {
            checks.entry("failed").or_insert_with(|| json!([]));
        }
    }
    object
}

/// Returns the entries of a thread, oldest first: prompts and changes of the job.
///
/// A prompt has the `type` `prompt` and the fields `kind`, `text`, `delivery`, `reason`, `writtenAt` and `sentAt`. It
/// has the field `author` if a member of the team wrote the prompt on another computer. Its `at` is when the prompt was
/// last sent, or when it was written if it was never sent.
///
/// A change has the `type` `status` (with `from` and `to`), `pullRequest` (with `prLink`), `gone` or `back`. Its `at`
/// is when docdeck saw it.
pub fn thread_json(thread: &Thread) -> Vec<Value> {
    let prompts = thread.prompts.iter().map(|one| (one.sent_at.unwrap_or(one.written_at), prompt_json(one)));
    let mut entries: Vec<(Time, Value)> =
        prompts.chain(thread.events.iter().map(|one| (one.at, event_json(one)))).collect();
    // The sort is stable, so a prompt comes before a change that was seen at the same time.
    entries.sort_by_key(|(at, _)| *at);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

fn prompt_json(prompt: &Prompt) -> Value {
    let mut object = json!({
        "type": "prompt",
        "at": json_time(prompt.sent_at.unwrap_or(prompt.written_at)),
        "kind": prompt.kind.word(),
        "text": prompt.text,
        "delivery": prompt.delivery.kind().word(),
        "reason": optional_str(prompt.delivery.reason()),
        "writtenAt": json_time(prompt.written_at),
        "sentAt": prompt.sent_at.map(json_time),
    });
    if let (Value::Object(fields), Some(author)) = (&mut object, &prompt.author) {
        fields.insert("author".to_owned(), json!(author));
    }
    object
}

fn event_json(event: &JobEvent) -> Value {
    let at = json_time(event.at);
    match &event.kind {
        EventKind::Status { from, to } => {
            json!({ "type": "status", "at": at, "from": from.as_ref().and_then(service_status), "to": service_status(to) })
        }
        EventKind::PullRequest(link) => {
            json!({ "type": "pullRequest", "at": at, "prLink": link::display_url(link).as_str() })
        }
        EventKind::Gone => json!({ "type": "gone", "at": at }),
        EventKind::Back => json!({ "type": "back", "at": at }),
    }
}

/// Returns the status as the service writes it, or `None` if the service sent none.
fn service_status(status: &Status) -> Option<&str> {
    Some(status.service_word()).filter(|word| !word.is_empty())
}

fn optional_str(text: Option<&CleanText>) -> Option<&str> {
    text.map(CleanText::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::job::JobKey;
    use crate::model::prompt::{DeliveryKind, PromptKind};
    use crate::model::remote_job::JobId;

    fn row() -> Job {
        let at = Time::from_timestamp(1_800_000_000, 0).expect("in range");
        let mut job = Job::new(JobKey(7), CleanText::line("My title"), at);
        job.id = JobId::new("j/1");
        job.local.has_custom_title = true;
        job.local.tags = [CleanText::line("docs"), CleanText::line("api")].into();
        job.local.pages = [CleanText::line("/quickstart")].into();
        job.remote.status = Some(Status::Completed);
        job.remote.source.repository = Some(CleanText::line("https://github.com/acme/docs").into());
        job.remote.model = Some(CleanText::line("sonnet").into());
        job.remote.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
        job
    }

    #[test]
    fn a_job_has_the_services_field_names_and_local_data() {
        let expected = json!({
            "id": "j/1",
            "status": "completed",
            "source": { "repository": "https://github.com/acme/docs", "ref": null },
            "model": "sonnet",
            "prLink": "https://github.com/acme/docs/pull/7",
            "createdAt": "2027-01-15T08:00:00.000Z",
            "archivedAt": null,
            "title": "My title",
            "author": null,
            "prompt": "Fix\nit",
            "tags": ["docs", "api"],
            "pages": ["/quickstart"],
            "delivery": "accepted",
            "pullRequest": null,
        });
        assert_eq!(job_object(&row(), Some("Fix\nit")), expected);
    }

    #[test]
    fn a_pull_request_has_its_number_its_state_and_the_time_of_the_response() {
        let at = "2027-01-15T09:00:00Z".parse().expect("a time");
        let mut job = row();
        job.pull_request = Some(Box::new(crate::model::pull_request::tests::open_pull_request(at)));
        let expected = json!({
            "number": 7,
            "url": "https://github.com/acme/docs/pull/7",
            "title": "Fix broken links",
            "state": "open",
            "checks": { "state": "none", "passed": 0, "total": 0, "failed": [] },
            "review": "none",
            "conflict": false,
            "behind": false,
            "head": "7d40698",
            "branch": "agent/links",
            "additions": 48,
            "deletions": 12,
            "files": 3,
            "mergedAt": null,
            "asOf": "2027-01-15T09:00:00.000Z",
            "checksAsOf": "2027-01-15T09:00:00.000Z",
        });
        assert_eq!(job_object(&job, None)["pullRequest"], expected);
    }

    #[test]
    fn unknown_fields_are_null_and_an_undelivered_prompt_sets_the_delivery() {
        let mut queued = row();
        queued.id = None;
        queued.remote.status = None;
        queued.local.undelivered = Some(DeliveryKind::Paused);
        let written = job_object(&queued, None);
        assert_eq!(
            (&written["id"], &written["status"], &written["prompt"]),
            (&Value::Null, &Value::Null, &Value::Null)
        );
        assert_eq!(written["delivery"], "paused");
        let mut unsaid = row();
        unsaid.remote.status = Some(Status::parse(""));
        assert_eq!(job_object(&unsaid, None)["status"], Value::Null);
    }

    #[test]
    fn a_thread_lists_prompts_and_transitions_in_order_of_time() {
        use crate::model::prompt::{Delivery, PromptId};
        let at = |seconds| Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range");
        let prompt = |id, kind, delivery, written: i64, sent: Option<i64>| Prompt {
            id: PromptId(id),
            kind,
            text: "Do\nit".to_owned(),
            delivery,
            written_at: at(written),
            sent_at: sent.map(at),
            state_at: sent.map(at),
            author: None,
        };
        let lost = Delivery::Unconfirmed(CleanText::line("Lost."));
        let entries = thread_json(&Thread {
            prompts: vec![
                prompt(1, PromptKind::Create, Delivery::Accepted, 0, Some(1)),
                prompt(2, PromptKind::FollowUp, lost, 5, None),
            ],
            events: vec![
                JobEvent { at: at(1), kind: EventKind::Status { from: None, to: Status::Active } },
                JobEvent { at: at(9), kind: EventKind::PullRequest(CleanText::line("https://x.example/pull/1")) },
                JobEvent { at: at(10), kind: EventKind::Gone },
            ],
        });
        let types: Vec<&str> = entries.iter().filter_map(|entry| entry["type"].as_str()).collect();
        assert_eq!(types, ["prompt", "status", "prompt", "pullRequest", "gone"]);
        assert_eq!(
            entries[2],
            json!({
                "type": "prompt",
                "at": "2027-01-15T08:00:05.000Z",
                "kind": "follow-up",
                "text": "Do\nit",
                "delivery": "unconfirmed",
                "reason": "Lost.",
                "writtenAt": "2027-01-15T08:00:05.000Z",
                "sentAt": null,
            })
        );
        assert_eq!((&entries[1]["from"], &entries[1]["to"]), (&Value::Null, &json!("active")));
        assert_eq!(entries[3]["prLink"], "https://x.example/pull/1");
    }
}
