//! Previews of the site: starting a build, and reading its state.

use super::ApiResponse;
use super::client::{Client, OutgoingRequest};
use super::error::Unreadable;
use super::fields::{body_text, field_values, object_fields, parse_display_text, parse_rows, scalar_text};
use crate::model::diff::FileChange;
use crate::model::endpoint::ApiKey;
use crate::model::link::WebLink;
use crate::model::log::Operation;
use crate::model::preview::{Build, BuildState, StartedBuild};
use crate::model::redaction::Redactor;
use crate::model::text::CleanText;
use serde_json::value::RawValue;

/// The maximum number of characters of a text in a build, such as a line of its log.
const MAX_BUILD_TEXT_CHARS: usize = 500;

impl Client {
    /// Starts building a preview of a branch. Counts toward the organization's limit per minute.
    pub async fn start_preview(&self, branch: &CleanText) -> ApiResponse<StartedBuild> {
        let Some(url) = self.address().previews_url() else {
            return self.url_failure();
        };
        let body = Some(serde_json::json!({ "branch": branch.as_str() }).to_string());
        self.request(OutgoingRequest { operation: Operation::Preview, url, body }, decode_started_build).await
    }

    /// Reads the state of a build. The service documents no limit for this.
    pub async fn get_build(&self, id: &CleanText) -> ApiResponse<Build> {
        let Some(url) = self.address().build_state_url(id.as_str()) else {
            return self.url_failure();
        };
        self.request(OutgoingRequest { operation: Operation::Build, url, body: None }, decode_build).await
    }
}

/// Decodes the response to the start of a build. A response without an id is rejected, because the state of the build
/// could never be read.
fn decode_started_build(body: &[u8], key: &ApiKey) -> Result<StartedBuild, Unreadable> {
    let (body, redactor) = (body_text(body), Redactor::new(key));
    let [id, url] = object_fields(&body, &["statusId", "previewUrl"])?;
    let id = id.and_then(parse_display_text).filter(|id| !id.is_empty() && !redactor.finds_key_in(id.as_str()));
    let url = url.and_then(scalar_text).and_then(|url| WebLink::parse(&url));
    let url = url.map(|url| CleanText::line(url.as_str())).filter(|url| !redactor.finds_key_in(url.as_str()));
    Ok(StartedBuild { id: id.ok_or(Unreadable::NoBuild)?, url })
}

/// Decodes the state of a build. A response without a state is rejected.
fn decode_build(body: &[u8], key: &ApiKey) -> Result<Build, Unreadable> {
    let (body, redactor) = (body_text(body), Redactor::new(key));
    let clean = |raw: &RawValue| {
        let mut text = CleanText::title(&scalar_text(raw)?, MAX_BUILD_TEXT_CHARS);
        redactor.redact_line(&mut text);
        Some(text)
    };
    let [status, summary, logs, commit] = object_fields(&body, &["status", "summary", "logs", "commit"])?;
    let state = status.and_then(clean).ok_or(Unreadable::NoBuild)?;
    let texts = |raw: &RawValue| -> Vec<CleanText> {
        let rows = parse_rows(raw, &["message"]).unwrap_or_default();
        rows.into_iter().filter_map(|[line]| clean(line?)).collect()
    };
    let mut log = logs.map(texts).unwrap_or_default();
    log.drain(..log.len().saturating_sub(Build::MAX_LOG_LINES));
    let [changed] = commit.map_or([None], |raw| field_values(raw, &["filesChanged"]));
    let lists = changed.map_or([None; 3], |raw| field_values(raw, &["added", "modified", "removed"]));
    let changes = [FileChange::Added, FileChange::Modified, FileChange::Deleted];
    let files = changes
        .into_iter()
        .zip(lists)
        .flat_map(|(change, raw)| raw.map(texts).unwrap_or_default().into_iter().map(move |path| (change, path)));
    Ok(Build {
        state: BuildState::parse(state.as_str()),
        summary: summary.and_then(clean).unwrap_or_default(),
        log,
        files: files.take(Build::MAX_FILES).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> ApiKey {
        ApiKey::new("mint_secret_key_1234").expect("a key")
    }

    #[test]
    fn a_build_needs_an_id_and_its_address_must_be_a_web_link() {
        let started = |body: &str| decode_started_build(body.as_bytes(), &key());
        let expected =
            StartedBuild { id: CleanText::line("b1"), url: Some(CleanText::line("https://acme-1.mintlify.site/")) };
        assert_eq!(started(r#"{"statusId":"b1","previewUrl":"https://acme-1.mintlify.site/"}"#), Ok(expected));
        for url in ["javascript:alert(1)", "https://x.example/?k=mint_secret_key_1234", ""] {
            let body = format!(r#"{{"statusId":"b1","previewUrl":"{url}"}}"#);
            assert_eq!(started(&body).expect("a build").url, None, "{url}");
        }
        assert_eq!(started(r#"{"previewUrl":"https://acme-1.mintlify.site/"}"#), Err(Unreadable::NoBuild));
    }

    #[test]
    fn a_state_with_missing_or_odd_fields_is_still_read() {
        let build = |body: &str| decode_build(body.as_bytes(), &key());
        let full = build(
            r#"{"status":"failure","summary":"Bad MDX","logs":["one\u001b[31m","mint_secret_key_1234",{"message":"three"}],
                "commit":{"filesChanged":{"added":["a.mdx"],"modified":[],"removed":["b.mdx"]}}}"#,
        )
        .expect("a build");
        assert_eq!((full.state, full.summary.as_str()), (BuildState::Failure, "Bad MDX"));
        let log: Vec<&str> = full.log.iter().map(CleanText::as_str).collect();
        assert!(log[0].starts_with("one") && !log[0].contains('\u{1b}') && !log[1].contains("secret"), "{log:?}");
        assert_eq!(log[2], "three");
        let files = [(FileChange::Added, CleanText::line("a.mdx")), (FileChange::Deleted, CleanText::line("b.mdx"))];
        assert_eq!(full.files, files);
        let odd = build(r#"{"status":"paused","logs":7,"commit":[]}"#).expect("a build");
        assert_eq!((odd.state, odd.log.len()), (BuildState::Other(CleanText::line("paused")), 0));
        assert_eq!(build("{}"), Err(Unreadable::NoBuild));
    }
}
