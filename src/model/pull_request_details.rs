//! The details of a pull request that are not part of its state: reviews, comments, commits, checks and the preview.

use super::Time;
use super::impact::PageViewsInRange;
use super::link::WebLink;
use super::pull_request_action::MergeMethod;
use super::text::CleanText;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The details of a pull request. They are stored as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PullRequestDetails {
    /// The head commit that the commits, the files and the preview belong to; empty if unknown.
    #[serde(default)]
    pub head: CleanText,
    pub author: CleanText,
    /// The branch that the pull request is merged into.
    pub base: CleanText,
    /// The reviews and comments, oldest first.
    pub entries: Vec<ReviewEntry>,
    /// The newest commits, oldest first.
    pub commits: Vec<Commit>,
    /// The number of all commits.
    pub commit_count: u64,
    /// The first changed files, up to 100. Empty if the host reports files only together with their changed lines.
    #[serde(default)]
    pub files: Vec<FileDiffStat>,
    /// The checks that passed or are pending. `None` if the token may not read them.
    #[serde(default)]
    pub checks: Option<PassedAndPendingChecks>,
    /// The merge methods that the repository allows, the preferred one first. Empty if unknown.
    #[serde(default)]
    pub merge_methods: Vec<MergeMethod>,
    /// The address of the preview of the site with the changes.
    pub preview: Option<CleanText>,
}

/// The checks of a commit that passed or are pending. [`Checks`](super::pull_request::Checks) has those that failed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PassedAndPendingChecks {
    /// The commit that is checked.
    pub head: CleanText,
    pub pending: Vec<PendingCheck>,
    /// The names of the checks that passed.
    pub passed: Vec<CleanText>,
}

/// A check without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCheck {
    pub name: CleanText,
    /// The web page with the details of the check.
    pub url: Option<CleanText>,
}

/// What somebody wrote about a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewEntry {
    pub author: CleanText,
    /// Whether the author is a program.
    #[serde(default)]
    pub is_bot: bool,
    pub kind: ReviewKind,
    /// The text; empty if a review has none. May have several lines.
    pub text: String,
    #[serde(with = "super::time_format")]
    pub at: Option<Time>,
}

impl ReviewEntry {
    /// Returns the link to the preview that the service's bot writes into a comment as `[View Preview](LINK)`. Links in
    /// comments of people are ignored, because they can't be trusted.
    pub fn preview_link(&self) -> Option<CleanText> {
        if !self.is_bot {
            return None;
        }
        let (_, rest) = self.text.split_once("[View Preview](")?;
        let (link, _) = rest.split_once(')')?;
        WebLink::parse(link).map(|link| CleanText::line(link.as_str()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewKind {
    Comment,
    Approval,
    ChangeRequest,
    /// A review that was withdrawn.
    Dismissed,
}

impl ReviewKind {
    /// Returns what the author did.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Comment => "commented",
            Self::Approval => "approved",
            Self::ChangeRequest => "requested changes",
            Self::Dismissed => "reviewed (dismissed)",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    pub id: CleanText,
    pub title: CleanText,
    #[serde(with = "super::time_format")]
    pub at: Option<Time>,
}

/// A changed file, and how many of its lines were added and removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiffStat {
    pub path: CleanText,
    pub additions: u64,
    pub deletions: u64,
}

/// Facts about the site that a pull request changes. Reading them needs no request to the code host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SiteFacts {
    /// The address of the preview of the site with the changes.
    pub preview: Option<CleanText>,
    /// The views of the changed pages in their newest cached range.
    pub views: HashMap<CleanText, PageViewsInRange>,
}

impl SiteFacts {
    /// Returns the page that a file contains, and its views. `None` if the file is not a page, or if the views are not
    /// cached.
    pub fn page_views(&self, file: &str) -> Option<(&CleanText, &PageViewsInRange)> {
        self.views.get_key_value(&CleanText::line(&page_of_file(file)?))
    }
}

/// Returns the page that a file of the repository contains: `/guides/sso` for `guides/sso.mdx`. `None` if the file is
/// not a page.
pub fn page_of_file(path: &str) -> Option<String> {
    let name = [".mdx", ".md"].iter().find_map(|ending| path.strip_suffix(ending))?;
    let name = name.strip_suffix("/index").unwrap_or(name);
    Some(if name == "index" { "/".to_owned() } else { format!("/{name}") })
}

impl PullRequestDetails {
    /// Returns the changed pages.
    pub fn pages(&self) -> Vec<CleanText> {
        let pages = self.files.iter().filter_map(|file| page_of_file(file.path.as_str()));
        pages.map(|page| CleanText::line(&page)).collect()
    }

    /// Returns the link to the preview in the newest comment that has one.
    pub fn preview_in_comments(&self) -> Option<CleanText> {
        self.entries.iter().rev().find_map(ReviewEntry::preview_link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(text: &str) -> ReviewEntry {
        let kind = ReviewKind::Comment;
        ReviewEntry { author: CleanText::line("bot"), is_bot: true, kind, text: text.to_owned(), at: None }
    }

    #[test]
    fn only_markdown_files_are_pages() {
        let pages = ["guides/sso.mdx", "index.md", "api/index.mdx", "docs.json"].map(page_of_file);
        assert_eq!(pages, [Some("/guides/sso".to_owned()), Some("/".to_owned()), Some("/api".to_owned()), None]);
    }

    #[test]
    fn details_that_an_older_version_stored_are_readable() {
        let details =
            PullRequestDetails { checks: Some(PassedAndPendingChecks::default()), ..PullRequestDetails::default() };
        let mut json = serde_json::to_value(&details).expect("JSON");
        assert_eq!(serde_json::from_value::<PullRequestDetails>(json.clone()).expect("readable"), details);
        json.as_object_mut().expect("an object").remove("checks");
        assert_eq!(serde_json::from_value::<PullRequestDetails>(json).expect("readable").checks, None);
    }

    #[test]
    fn the_preview_is_the_newest_link_of_the_bot() {
        let mut details = PullRequestDetails::default();
        assert_eq!(details.preview_in_comments(), None);
        details.entries = vec![
            comment("| Preview | [View Preview](https://old.example/) |"),
            comment("| Preview | [View Preview](https://acme-fix.mintlify.site/) |"),
            comment("[View Preview](javascript:alert(1))"),
            ReviewEntry { is_bot: false, ..comment("[View Preview](https://evil.example/)") },
        ];
        assert_eq!(details.preview_in_comments(), Some(CleanText::line("https://acme-fix.mintlify.site/")));
    }
}
