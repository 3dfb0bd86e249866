//! Requests the changes of a pull request as a unified diff. If the host reports the changes file by file, in pages,
//! combines them into one diff.

use super::error::HostErrorKind;
use super::{HostClient, HostRequest, HostRequestStats, HostResponse, json};
use crate::api::address::{BaseUrl, encode_segment};
use crate::api::excerpt;
use crate::model::pull_request::{HostKind, PullRequestLink};
use crate::model::redaction::redacted;
use crate::model::text::clean_source_code;
use reqwest::Url;
use serde_json::Value;
use std::fmt::Write as _;

/// The maximum size of a diff in bytes. The rest of a larger diff is left out.
const MAX_DIFF_BYTES: usize = 10 * 1024 * 1024;
/// The maximum size in bytes of a response that lists changed files. Such a response is larger than the diff, because
/// it contains the lines of the diff as JSON strings.
const MAX_FILE_LIST_PAGE_BYTES: usize = 24 * 1024 * 1024;
const FILES_PER_PAGE: usize = 100;
/// The most files that are requested, which is GitHub's limit.
const MAX_FILES: usize = 3000;
/// The most pages that are requested. A page of GitLab has up to 30 files.
const MAX_FILE_LIST_PAGES: usize = 100;
/// GitHub's media type for a diff instead of JSON.
const DIFF_MEDIA_TYPE: &str = "application/vnd.github.diff";
/// The beginning of the diff of a file.
const DIFF_START: &str = "diff --git ";

/// The diff of a pull request, as the code host reported it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedDiff {
    pub text: String,
    /// Whether files are missing at the end, because the diff is too large.
    pub is_truncated: bool,
}

impl HostClient {
    /// Requests the changes of a pull request. If the host can't report all changes in one response, sends one request
    /// per page of files. The response doesn't contain the head commit to which the changes belong.
    pub async fn diff(&self, link: &PullRequestLink) -> HostResponse<ReportedDiff> {
        if self.0.kind == HostKind::GitLab {
            return self.diff_from_file_list(link).await;
        }
        let url = github_url(&self.0.rest_url, link, "");
        let request = HostRequest { url, accept: DIFF_MEDIA_TYPE, ..HostRequest::get_without_url() };
        let response = self.send_with_body_limit(request, MAX_DIFF_BYTES).await;
        match response.result.as_ref().map_err(|error| &error.kind) {
            // Status 406: the diff has too many files or lines for one response.
            Err(HostErrorKind::Failed { status: 406, .. }) => self.diff_from_file_list(link).await,
            _ => response.map(|body| {
                let text = String::from_utf8_lossy(&body.bytes);
                // A pull request without changes has an empty diff. Any other text, such as a proxy's page, is not a
                // diff.
                if !text.is_empty() && !text.starts_with(DIFF_START) {
                    let excerpt = excerpt::excerpt(&body.bytes, &self.0.token);
                    return Err(self.error(HostErrorKind::Unreadable(excerpt)));
                }
                Ok(self.clean_diff(&text, body.is_truncated))
            }),
        }
    }

    async fn diff_from_file_list(&self, link: &PullRequestLink) -> HostResponse<ReportedDiff> {
        let (mut text, mut budget) = (String::new(), HostRequestStats::NONE);
        let (mut is_truncated, mut file_count) = (true, 0);
        for page in 1..=MAX_FILE_LIST_PAGES {
            let Some(url) = files_url(self.0.kind, &self.0.rest_url, link, page) else {
                return self.failure(HostErrorKind::InvalidAddress);
            };
            let response = self.send_with_body_limit(HostRequest::get(url), MAX_FILE_LIST_PAGE_BYTES).await;
            budget = budget.plus(response.budget);
            let body = match response.result {
                Ok(received) => received,
                Err(error) => return HostResponse { result: Err(error), budget },
            };
            if body.is_truncated {
                break;
            }
            let files = serde_json::from_slice(&body.bytes).ok().and_then(|files| match files {
                Value::Array(files) if files.iter().all(|file| has_file_name(self.0.kind, file)) => Some(files),
                _ => None,
            });
            let Some(files) = files else {
                let excerpt = excerpt::excerpt(&body.bytes, &self.0.token);
                return HostResponse { result: Err(self.error(HostErrorKind::Unreadable(excerpt))), budget };
            };
            files.iter().for_each(|file| append_file(self.0.kind, file, &mut text));
            file_count += files.len();
            // GitLab's pages may be smaller than requested. Only the header `x-next-page` shows which page is the last.
            let has_next_page = !files.is_empty() && body.has_next_page.unwrap_or(files.len() >= FILES_PER_PAGE);
            is_truncated = text.len() > MAX_DIFF_BYTES
                || (has_next_page && (file_count >= MAX_FILES || page == MAX_FILE_LIST_PAGES));
            if is_truncated || !has_next_page {
                break;
            }
        }
        let end = (0..=MAX_DIFF_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        HostResponse { result: Ok(self.clean_diff(&text, is_truncated)), budget }
    }

    /// Removes control and hidden characters, the token, keys of the service, and the incomplete file at the end of a
    /// cut diff.
    fn clean_diff(&self, text: &str, is_truncated: bool) -> ReportedDiff {
        let end = text.rfind("\ndiff --git ").filter(|_| is_truncated).map_or(text.len(), |at| at + 1);
        // Hidden characters are removed first, because they could split the token, which is removed next.
        let text = clean_source_code(text.get(..end).unwrap_or_default());
        ReportedDiff { text: redacted(&self.redactor().redacted(&text)).into_owned(), is_truncated }
    }
}

/// Returns the URL of a pull request in GitHub's REST API, followed by `path`.
pub(super) fn github_url(base: &BaseUrl, link: &PullRequestLink, path: &str) -> Option<Url> {
    let (owner, name) = link.repository.split_once('/')?;
    let (owner, name) = (encode_segment(owner)?, encode_segment(name)?);
    Url::parse(&format!("{}/repos/{owner}/{name}/pulls/{}{path}", base.as_str(), link.number)).ok()
}

fn files_url(kind: HostKind, base: &BaseUrl, link: &PullRequestLink, page: usize) -> Option<Url> {
    let query = format!("?per_page={FILES_PER_PAGE}&page={page}");
    match kind {
        HostKind::GitHub => github_url(base, link, &format!("/files{query}")),
        HostKind::GitLab => {
            let url = super::gitlab::merge_request_url(base, link)?;
            Url::parse(&format!("{url}/diffs{query}")).ok()
        }
    }
}

/// Whether an entry of a list of files has a file name.
fn has_file_name(kind: HostKind, file: &Value) -> bool {
    let field = match kind {
        HostKind::GitHub => "filename",
        HostKind::GitLab => "new_path",
    };
    json::str_field(file, field).is_some_and(|name| !name.is_empty())
}

/// Adds a file to the diff, with the header that Git would write.
fn append_file(kind: HostKind, file: &Value, diff: &mut String) {
    let text = |field: &str| json::str_field(file, field).unwrap_or_default();
    let is = |github: &str, gitlab: &str| match kind {
        HostKind::GitHub => text("status") == github,
        HostKind::GitLab => json::bool_field(file, gitlab),
    };
    let (old, new, hunks) = match kind {
        HostKind::GitHub => {
            let new = text("filename");
            (json::str_field(file, "previous_filename").unwrap_or(new), new, json::str_field(file, "patch"))
        }
        HostKind::GitLab => {
            let is_missing = json::bool_field(file, "too_large") || json::bool_field(file, "collapsed");
            (text("old_path"), text("new_path"), json::str_field(file, "diff").filter(|_| !is_missing))
        }
    };
    let (old, new) = (quoted_name("a/", old), quoted_name("b/", new));
    let _ = writeln!(diff, "diff --git {old} {new}");
    let (is_added, is_deleted) = (is("added", "new_file"), is("removed", "deleted_file"));
    if is_added {
        let _ = writeln!(diff, "new file mode 100644");
    } else if is_deleted {
        let _ = writeln!(diff, "deleted file mode 100644");
    } else if is("renamed", "renamed_file") {
        let name = |quoted: &str| quoted.replacen("a/", "", 1);
        let _ = writeln!(diff, "rename from {}\nrename to {}", name(&old), new.replacen("b/", "", 1));
    }
    // The hunks begin at the first `@@`. Some versions of GitLab put lines with the file names before it. These lines
    // are left out, because this function writes such lines itself.
    if let Some(hunks) = hunks.and_then(|hunks| hunks.get(hunks.find("@@")?..)) {
        let old = if is_added { "/dev/null" } else { &old };
        let new = if is_deleted { "/dev/null" } else { &new };
        let _ = writeln!(diff, "--- {old}\n+++ {new}\n{}", hunks.trim_end_matches('\n'));
    }
}

/// Returns a file name as Git writes it: in quotes if it contains control characters, quotes or backslashes.
fn quoted_name(side: &str, name: &str) -> String {
    if !name.contains(|c: char| c.is_control() || c == '"' || c == '\\') {
        return format!("{side}{name}");
    }
    let mut quoted = format!("\"{side}");
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_ascii_control() => {
                let _ = write!(quoted, "\\{:03o}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::diff::{Diff, FileChange, FileContent};

    #[test]
    fn files_of_both_hosts_become_one_diff() {
        let mut text = String::new();
        let hunk = "@@ -1,2 +1,2 @@\n a\n-b\n+c";
        for file in [
            serde_json::json!({ "filename": "a.mdx", "status": "modified", "patch": hunk }),
            serde_json::json!({ "filename": "new \"x\".mdx", "previous_filename": "old.mdx", "status": "renamed" }),
            serde_json::json!({ "filename": "huge.json", "status": "modified" }),
        ] {
            append_file(HostKind::GitHub, &file, &mut text);
        }
        let added = serde_json::json!({ "old_path": "n.md", "new_path": "n.md", "new_file": true, "diff": "@@ -0,0 +1 @@\n+n\n" });
        let large = serde_json::json!({ "old_path": "l.md", "new_path": "l.md", "too_large": true, "diff": "" });
        [added, large].iter().for_each(|file| append_file(HostKind::GitLab, file, &mut text));
        let diff = Diff::parse(text);
        let files: Vec<_> = diff.files.iter().map(|f| (f.path.as_str(), f.change, f.content, f.additions)).collect();
        assert_eq!(
            files,
            [
                ("a.mdx", FileChange::Modified, FileContent::Complete, 1),
                ("new \"x\".mdx", FileChange::Renamed, FileContent::Complete, 0),
                ("huge.json", FileChange::Modified, FileContent::Missing, 0),
                ("n.md", FileChange::Added, FileContent::Complete, 1),
                ("l.md", FileChange::Modified, FileContent::Missing, 0),
            ]
        );
    }
}
