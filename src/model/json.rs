//! A job as JSON: the service's field names, and what only this computer knows (design.md: the command line). The one
//! place for this shape, whoever writes it: commands, an export, the program for changes.

use super::Time;
use super::job::Status;
use super::row::JobRow;
use super::text::CleanText;
use chrono::SecondsFormat;
use serde_json::{Value, json};

/// The service's object plus `title`, `prompt`, `tags`, `pages`, `delivery`. `prompt` is the text that created the job, none for
/// one made elsewhere.
///
/// `delivery` is the word of the thread's most pressing prompt; without one that is undelivered it is `accepted` for a
/// job that the service knows, else `dismissed`.
pub fn job(row: &JobRow, prompt: Option<&str>) -> Value {
    let settled = if row.id.is_some() { "accepted" } else { "dismissed" };
    json!({
        "id": row.id.as_ref().map(|id| id.as_str()),
        "status": row.status.as_ref().and_then(status),
        "source": { "repository": text(row.repository.as_ref()), "ref": text(row.git_ref.as_ref()) },
        "model": text(row.model.as_ref()),
        "prLink": text(row.pr_link.as_ref()),
        "createdAt": time(row.created_at),
        "archivedAt": row.archived_at.map(time),
        "title": row.title.as_str(),
        "prompt": prompt,
        "tags": row.tags.iter().map(CleanText::as_str).collect::<Vec<_>>(),
        "pages": row.pages.iter().map(CleanText::as_str).collect::<Vec<_>>(),
        "delivery": row.undelivered.map_or(settled, |kind| kind.word()),
    })
}

/// The service's word; none for an answer that had no status.
fn status(status: &Status) -> Option<&str> {
    match status {
        Status::Unknown(word) if word.is_empty() => None,
        status => Some(status.word()),
    }
}

fn text(text: Option<&CleanText>) -> Option<&str> {
    text.map(CleanText::as_str)
}

/// RFC 3339 in UTC, to the millisecond, as the service writes it.
fn time(time: Time) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::job::JobId;
    use crate::model::prompt::DeliveryKind;
    use crate::model::row::JobKey;

    fn row() -> JobRow {
        let at = Time::from_timestamp(1_800_000_000, 0).expect("in range");
        JobRow {
            id: JobId::new("j/1"),
            named: true,
            tags: vec![CleanText::line("docs"), CleanText::line("api")],
            pages: vec![CleanText::line("/quickstart")],
            status: Some(Status::Completed),
            repository: Some(CleanText::line("https://github.com/acme/docs")),
            model: Some(CleanText::line("sonnet")),
            pr_link: Some(CleanText::line("https://github.com/acme/docs/pull/7")),
            ..JobRow::new(JobKey(7), CleanText::line("My title"), at)
        }
    }

    #[test]
    fn a_job_has_the_services_names_and_what_is_known_here() {
        let expected = json!({
            "id": "j/1",
            "status": "completed",
            "source": { "repository": "https://github.com/acme/docs", "ref": null },
            "model": "sonnet",
            "prLink": "https://github.com/acme/docs/pull/7",
            "createdAt": "2027-01-15T08:00:00.000Z",
            "archivedAt": null,
            "title": "My title",
            "prompt": "Fix\nit",
            "tags": ["docs", "api"],
            "pages": ["/quickstart"],
            "delivery": "accepted",
        });
        assert_eq!(job(&row(), Some("Fix\nit")), expected);
    }

    #[test]
    fn what_is_not_known_is_null_and_an_undelivered_prompt_says_how_it_stands() {
        let queued = JobRow { id: None, status: None, undelivered: Some(DeliveryKind::Paused), ..row() };
        let written = job(&queued, None);
        assert_eq!(
            (&written["id"], &written["status"], &written["prompt"]),
            (&Value::Null, &Value::Null, &Value::Null)
        );
        assert_eq!(written["delivery"], "paused");
        let unsaid = JobRow { status: Some(Status::parse("")), ..row() };
        assert_eq!(job(&unsaid, None)["status"], Value::Null);
    }
}
