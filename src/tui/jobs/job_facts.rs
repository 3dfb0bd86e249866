//! The labelled facts about a job and its pull request, in the details: which of them are known, and their values.

use crate::model::colors::ColorRole;
use crate::model::job::Job;
use crate::model::job_state::fact_shown_as_state;
use crate::model::link::{WebLink, short_display_url};
use crate::model::pull_request::{Checks, ChecksState, PullRequest, PullRequestFact, PullRequestLink, ReviewDecision};
use crate::model::text::CleanText;
use crate::tui::format::{display_width, format_count, plural};
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr as _;

/// The width in cells of the label before the value of a fact.
pub(in crate::tui) const LABEL_WIDTH: usize = 8;
/// The text between two facts of a row.
pub(super) const FACT_SEPARATOR: &str = " · ";
/// The minimum width at which the id of the job is shown.
const MIN_COLUMNS_WITH_ID: usize = 72;

/// A short fact. Several are shown in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactName {
    PullRequest,
    Checks,
    Review,
    Size,
    Author,
    Repository,
    Model,
    Branch,
    Id,
}

/// A piece of the value of a fact, with its colour.
type FactPiece<'a> = (Cow<'a, str>, ColorRole);

impl FactName {
    const ALL: [Self; 9] = [
        Self::PullRequest,
        Self::Checks,
        Self::Review,
        Self::Size,
        Self::Author,
        Self::Repository,
        Self::Model,
        Self::Branch,
        Self::Id,
    ];

    /// Returns the facts that are known about a job in rows of this width: first those about the pull request, then
    /// those about the source. Leaves out the id in a narrow pane, because it is rarely needed. If `shows_all` is
    /// false, returns only the important facts.
    pub(super) fn rows(job: &Job, columns: usize, shows_all: bool) -> Vec<Vec<Self>> {
        let mut rows: Vec<Vec<Self>> = Vec::new();
        let mut used = 0;
        let is_shown = |name: &Self| match name {
            Self::Id => shows_all && columns >= MIN_COLUMNS_WITH_ID,
            name => shows_all || name.is_important(),
        };
        for name in Self::ALL.into_iter().filter(|name| is_shown(name) && name.adds_information(job)) {
            let width = name.width(job, columns);
            match rows.last_mut().filter(|row| {
                let is_same_topic = |last: &Self| last.is_about_pull_request() == name.is_about_pull_request();
                row.last().is_some_and(is_same_topic) && used + FACT_SEPARATOR.width() + width <= columns
            }) {
                Some(row) => {
                    row.push(name);
                    used += FACT_SEPARATOR.width() + width;
                }
                None => {
                    rows.push(vec![name]);
                    used = width;
                }
            }
        }
        rows
    }

    /// Whether the fact is known, and neither another fact nor the state of the job shows it already.
    fn adds_information(self, job: &Job) -> bool {
        let state = job.pull_request.as_deref();
        match self {
            Self::PullRequest => job.remote.pr_link.is_some(),
            Self::Checks => state.is_some_and(|state| checks(state).is_some()),
            Self::Review => state
                .is_some_and(|state| state.main_fact() != PullRequestFact::ChangesRequested && review(state).is_some()),
            Self::Size => state.is_some_and(|state| state.additions.is_some() && state.deletions.is_some()),
            Self::Author => job.author().is_some(),
            Self::Repository => job.remote.source.repository.is_some(),
            Self::Branch => branch(job).is_some(),
            Self::Model => job.remote.model.is_some(),
            Self::Id => job.id.is_some(),
        }
    }

    /// Whether the fact is also shown in a pane with few rows.
    fn is_important(self) -> bool {
        matches!(self, Self::PullRequest | Self::Checks)
    }

    pub(super) fn is_about_pull_request(self) -> bool {
        matches!(self, Self::PullRequest | Self::Checks | Self::Review | Self::Size)
    }

    fn width(self, job: &Job, columns: usize) -> usize {
        self.value(job, columns).iter().map(|(text, _)| display_width(text)).sum()
    }

    /// Returns the value of a known fact in pieces. `width` is the space for a link.
    pub(super) fn value(self, job: &Job, width: usize) -> Vec<FactPiece<'_>> {
        let state = job.pull_request.as_deref();
        match self {
            Self::PullRequest => {
                // The first line already shows the state of a completed job's pull request, and the checks have a row
                // of their own.
                let state = state.filter(|state| {
                    let is_about_checks =
                        matches!(state.main_fact(), PullRequestFact::Failing | PullRequestFact::Pending);
                    let has_row = is_about_checks && !state.has_never_requested_checks() && checks(state).is_some();
                    fact_shown_as_state(job).is_none() && !has_row
                });
                let main_fact =
                    state.map(|state| (format!(" · {}", state.fact_text()).into(), state.main_fact().color_role()));
                [(link_text(job, width).into(), ColorRole::Text)].into_iter().chain(main_fact).collect()
            }
            Self::Checks => state.and_then(checks_without_label).into_iter().collect(),
            Self::Review => state.and_then(review).into_iter().collect(),
            Self::Size => state.map_or_else(Vec::new, size),
            Self::Author => {
                job.author().map(|name| (format!("by {name}").into(), ColorRole::Text)).into_iter().collect()
            }
            Self::Repository => {
                let link = job.remote.source.repository.as_ref().map_or("", |link| link.as_str());
                vec![(repository_text(link), ColorRole::Text)]
            }
            Self::Branch => branch(job).map(|branch| (branch.as_str().into(), ColorRole::Text)).into_iter().collect(),
            Self::Model => job.remote.model.iter().map(|model| (model.as_str().into(), ColorRole::Text)).collect(),
            Self::Id => {
                let id = job.id.as_ref().map(|id| id.to_clean_text().to_string()).unwrap_or_default();
                vec![(format!("job {id}").into(), ColorRole::Muted)]
            }
        }
    }
}

/// Returns the number of the pull request. If the pull request is in another repository than the job, the name of that
/// repository precedes the number, if it fits. If the link contains no number, returns a short form of the link.
pub(super) fn link_text(job: &Job, width: usize) -> String {
    let link = job.remote.pr_link.as_ref();
    let Some(number) = job.pr_number() else { return link.map(short_display_url).unwrap_or_default() };
    let named = repository_of_pull_request(job).map(|name| format!("{name}#{number}"));
    named.filter(|text| text.width() <= width).unwrap_or_else(|| format!("#{number}"))
}

/// Returns the repository of the pull request, if that is not the repository of the job.
fn repository_of_pull_request(job: &Job) -> Option<String> {
    let link = job.remote.pr_link.as_ref()?.as_str();
    let source = job.remote.source.repository.as_ref().map_or("", |source| source.as_str());
    // Compares texts first. This function runs several times per frame, and parsing a link is slow.
    if link.strip_prefix(source).is_some_and(|rest| rest.starts_with("/pull/")) {
        return None;
    }
    let PullRequestLink { host, repository, .. } = PullRequestLink::parse(link)?;
    let name = if host == "github.com" { repository } else { format!("{host}/{repository}") };
    (name != repository_text(source)).then_some(name)
}

/// Returns the address of a repository without the scheme, and without the host if it is GitHub's.
fn repository_text(link: &str) -> Cow<'_, str> {
    let name = link.strip_prefix("https://github.com/").map(Cow::Borrowed);
    let parsed = || WebLink::parse(link).map(|link| link.without_https().to_owned().into());
    name.or_else(parsed).unwrap_or(Cow::Borrowed(link))
}

fn branch(job: &Job) -> Option<&CleanText> {
    let of_pull_request = || job.pull_request.as_deref().map(|state| &state.branch);
    job.remote.source.git_ref.as_ref().or_else(of_pull_request).filter(|branch| !branch.is_empty())
}

/// Returns the result of the checks, for a row labelled "checks": `8 of 8 passed`. `None` without checks, and after the
/// pull request was merged or closed.
pub(in crate::tui) fn checks(state: &PullRequest) -> Option<FactPiece<'static>> {
    checks_text(state, |_| "")
}

/// Returns the result of the checks as [`checks`] does, for a place without a label: `8 of 8 checks passed`.
pub(in crate::tui) fn checks_without_label(state: &PullRequest) -> Option<FactPiece<'static>> {
    checks_text(state, |count| if count == 1 { "check " } else { "checks " })
}

fn checks_text(state: &PullRequest, noun: fn(usize) -> &'static str) -> Option<FactPiece<'static>> {
    let Checks { state: result, passed, total, failed } = &state.checks;
    let total_checks = usize::try_from(*total).unwrap_or(usize::MAX);
    let counted = || format!("{} of {} {}passed", format_count(*passed), format_count(*total), noun(total_checks));
    let checks = noun(0);
    let (text, role) = match result {
        _ if state.state.is_final() => return None,
        ChecksState::None => return None,
        _ if state.has_never_requested_checks() => (format!("{checks}not loaded yet"), ColorRole::Muted),
        ChecksState::Unavailable => (format!("{checks}not available"), ColorRole::Muted),
        ChecksState::Failing if !failed.is_empty() => {
            let names: Vec<&str> = failed.iter().map(|check| check.name.as_str()).collect();
            let count = failed.len();
            (format!("{} {}failed: {}", format_count(count), noun(count), names.join(", ")), ColorRole::Bad)
        }
        ChecksState::Failing => (format!("{checks}failed"), ColorRole::Bad),
        ChecksState::Pending if *total > 0 => (format!("{}, running", counted()), ColorRole::Working),
        ChecksState::Pending => (format!("{checks}running"), ColorRole::Working),
        ChecksState::Passing if *total > 0 => (counted(), ColorRole::Good),
        ChecksState::Passing => (format!("{checks}passed"), ColorRole::Good),
    };
    Some((text.into(), role))
}

/// Returns what the reviewers decided or, if a required review is missing, that a review is required. `None` if neither
/// applies or the decision is unknown, and after the pull request was merged or closed.
pub(in crate::tui) fn review(state: &PullRequest) -> Option<FactPiece<'static>> {
    let review = state.review.filter(|review| *review != ReviewDecision::None && !state.state.is_final())?;
    let role = match review {
        ReviewDecision::Approved => ColorRole::Good,
        ReviewDecision::ChangesRequested => ColorRole::Warning,
        ReviewDecision::Required | ReviewDecision::None => ColorRole::Text,
    };
    Some((review.word().into(), role))
}

/// Returns the numbers of added and removed lines and, if known, of files. Empty if the host doesn't report the numbers
/// of lines.
pub(in crate::tui) fn size(state: &PullRequest) -> Vec<FactPiece<'static>> {
    let (Some(added), Some(deleted)) = (state.additions, state.deletions) else { return Vec::new() };
    change_size_pieces(added, deleted, state.files)
}

/// Returns the size of a change in pieces: `+48 −12 in 3 files`.
pub(in crate::tui) fn change_size_pieces(added: u64, deleted: u64, files: Option<u64>) -> Vec<FactPiece<'static>> {
    let files = files.map(|files| (format!(" in {}", plural(files, "file")).into(), ColorRole::Muted));
    let lines = [
        (format!("+{}", format_count(added)).into(), ColorRole::Good),
        (format!(" −{}", format_count(deleted)).into(), ColorRole::Bad),
    ];
    lines.into_iter().chain(files).collect()
}
