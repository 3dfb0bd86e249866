//! The labelled facts about a job and its pull request, in the details: which of them are known, and their values.

use crate::model::colors::ColorRole;
use crate::model::job::Job;
use crate::model::job_state::fact_shown_as_state;
use crate::model::link::{WebLink, short_display_url};
use crate::model::pull_request::{Checks, ChecksState, PullRequest, Review};
use crate::model::text::CleanText;
use crate::tui::format::{format_count, plural};
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr as _;

/// A fact that is shown with a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactName {
    PullRequest,
    Checks,
    Review,
    Size,
    Author,
    Repository,
    Branch,
    Model,
    Id,
}

/// A part of a value, with its colour.
type Piece<'a> = (Cow<'a, str>, ColorRole);

impl FactName {
    const ALL: [Self; 9] = [
        Self::PullRequest,
        Self::Checks,
        Self::Review,
        Self::Size,
        Self::Author,
        Self::Repository,
        Self::Branch,
        Self::Model,
        Self::Id,
    ];

    /// Returns the facts that are known about a job, in their order on screen.
    pub(super) fn known(job: &Job) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|name| name.is_known(job))
    }

    fn is_known(self, job: &Job) -> bool {
        let state = job.pull_request.as_deref();
        match self {
            Self::PullRequest => job.remote.pr_link.is_some(),
            Self::Checks => state.is_some_and(|state| checks(state).is_some()),
            Self::Review => state.is_some_and(|state| review(state).is_some()),
            Self::Size => state.is_some_and(|state| state.additions.is_some() && state.deletions.is_some()),
            Self::Author => job.author().is_some(),
            Self::Repository => job.remote.source.repository.is_some(),
            Self::Branch => branch(job).is_some(),
            Self::Model => job.remote.model.is_some(),
            Self::Id => job.id.is_some(),
        }
    }

    /// Whether the fact is also shown in a pane with few rows.
    pub(super) fn is_important(self) -> bool {
        matches!(self, Self::PullRequest | Self::Checks)
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::PullRequest => "PR",
            Self::Checks => "checks",
            Self::Review => "review",
            Self::Size => "size",
            Self::Author => "by",
            Self::Repository => "repo",
            Self::Branch => "branch",
            Self::Model => "model",
            Self::Id => "job",
        }
    }

    /// Returns the value in pieces; none if it is unknown. `width` is the space for a link.
    pub(super) fn value(self, job: &Job, width: usize) -> Vec<Piece<'_>> {
        let state = job.pull_request.as_deref();
        match self {
            Self::PullRequest => {
                // The first line already shows the state of a completed job's pull request.
                let state = state.filter(|_| fact_shown_as_state(job).is_none());
                let fact = state.map(|state| (format!(" · {}", state.fact_text()).into(), state.fact().color_role()));
                [(link_text(job, width).into(), ColorRole::Text)].into_iter().chain(fact).collect()
            }
            Self::Checks => state.and_then(checks).into_iter().collect(),
            Self::Review => state.and_then(review).into_iter().collect(),
            Self::Size => state.map_or_else(Vec::new, size),
            Self::Author => job.author().map(|name| (name.as_str().into(), ColorRole::Text)).into_iter().collect(),
            Self::Repository => {
                let link = job.remote.source.repository.as_ref().map_or("", |link| link.as_str());
                let short = link.strip_prefix("https://github.com/").map(str::to_owned);
                let short = short.or_else(|| WebLink::parse(link).map(|web| web.short().to_owned()));
                vec![(short.map_or(Cow::Borrowed(link), Cow::Owned), ColorRole::Text)]
            }
            Self::Branch => branch(job).map(|branch| (branch.as_str().into(), ColorRole::Text)).into_iter().collect(),
            Self::Model => job.remote.model.iter().map(|model| (model.as_str().into(), ColorRole::Text)).collect(),
            Self::Id => {
                let id = job.id.as_ref().map(|id| id.to_clean_text().to_string()).unwrap_or_default();
                vec![(id.into(), ColorRole::Muted)]
            }
        }
    }
}

/// Returns the link to the pull request, or its number if the link doesn't fit.
pub(super) fn link_text(job: &Job, width: usize) -> String {
    let link = job.remote.pr_link.as_ref().map(short_display_url).unwrap_or_default();
    match job.pr_number().filter(|_| link.width() > width) {
        Some(number) => format!("#{number}"),
        None => link,
    }
}

fn branch(job: &Job) -> Option<&CleanText> {
    let of_pull_request = || job.pull_request.as_deref().map(|state| &state.branch);
    job.remote.source.git_ref.as_ref().or_else(of_pull_request).filter(|branch| !branch.is_empty())
}

/// Returns the result of the checks; `None` without checks, and after the pull request was merged or closed.
pub(in crate::tui) fn checks(state: &PullRequest) -> Option<Piece<'static>> {
    let Checks { state: result, passed, total, failed } = &state.checks;
    let counted = format!("{} of {}", format_count(*passed), format_count(*total));
    let (text, role): (Cow<'static, str>, _) = match result {
        _ if state.state.is_final() => return None,
        ChecksState::None => return None,
        _ if state.has_unread_checks() => ("not read yet".into(), ColorRole::Muted),
        ChecksState::Unavailable => ("not available".into(), ColorRole::Muted),
        ChecksState::Failing if !failed.is_empty() => {
            let names: Vec<&str> = failed.iter().map(|check| check.name.as_str()).collect();
            (format!("{} failed: {}", format_count(failed.len()), names.join(", ")).into(), ColorRole::Bad)
        }
        ChecksState::Failing => ("failed".into(), ColorRole::Bad),
        ChecksState::Pending if *total > 0 => (format!("{counted} passed, running").into(), ColorRole::Working),
        ChecksState::Pending => ("running".into(), ColorRole::Working),
        ChecksState::Passing if *total > 0 => (format!("{counted} passed").into(), ColorRole::Good),
        ChecksState::Passing => ("passed".into(), ColorRole::Good),
    };
    Some((text, role))
}

/// Returns what the reviewers decided; `None` if nothing is required, and after the pull request was merged or closed.
pub(in crate::tui) fn review(state: &PullRequest) -> Option<Piece<'static>> {
    let review = state.review.filter(|review| *review != Review::None && !state.state.is_final())?;
    let role = match review {
        Review::Approved => ColorRole::Good,
        Review::ChangesRequested => ColorRole::Warning,
        Review::Required | Review::None => ColorRole::Text,
    };
    Some((review.word().into(), role))
}

/// Returns the numbers of added and removed lines and of files; nothing if the host doesn't report them.
pub(in crate::tui) fn size(state: &PullRequest) -> Vec<Piece<'static>> {
    let (Some(added), Some(deleted)) = (state.additions, state.deletions) else { return Vec::new() };
    size_of(added, deleted, state.files)
}

/// Returns a size in pieces: `+48 −12 in 3 files`.
pub(in crate::tui) fn size_of(added: u64, deleted: u64, files: Option<u64>) -> Vec<Piece<'static>> {
    let files = files.map(|files| (format!(" in {}", plural(files, "file")).into(), ColorRole::Muted));
    let lines = [
        (format!("+{}", format_count(added)).into(), ColorRole::Good),
        (format!(" −{}", format_count(deleted)).into(), ColorRole::Bad),
    ];
    lines.into_iter().chain(files).collect()
}
