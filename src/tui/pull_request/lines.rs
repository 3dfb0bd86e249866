//! The lines about a pull request.

use super::check_lines::check_lines;
use super::facts::views_text;
use crate::model::Time;
use crate::model::colors::ColorRole;
use crate::model::load::Load;
use crate::model::preview::BuildState;
use crate::model::pull_request::{ChecksState, PullRequest, PullRequestFact, PullRequestState, Review, short_commit};
use crate::model::pull_request_details::{PullRequestDetails, ReviewEntry, ReviewKind, SiteFacts};
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use crate::tui::App;
use crate::tui::format::{capitalized, fit, format_count, plural, truncate_path};
use crate::tui::message_fit::fit_message;
use crate::tui::state::PreviewBuild;
use crate::tui::wrap::wrap;
use unicode_width::UnicodeWidthStr as _;

/// The most lines of a comment that are shown.
pub(super) const MAX_ENTRY_LINES: usize = 40;
/// The most lines about the branches, the author, the head commit and the size. Enough for the longest branches.
const MAX_SOURCE_LINES: usize = 20;
/// The width of the time before a comment or a commit.
const TIME_WIDTH: usize = 8;

/// What a line is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineTarget {
    Nothing,
    Link(CleanText),
    /// A changed file.
    File(CleanText),
    /// A review or comment, by its index.
    Entry(usize),
}

/// A piece of a line with its colour.
type Piece = (String, ColorRole);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PullRequestLine {
    pub(super) pieces: Vec<Piece>,
    pub(super) target: LineTarget,
}

/// The lines so far, and the width into which they have to fit.
pub(super) struct Lines {
    lines: Vec<PullRequestLine>,
    pub(super) width: usize,
}

impl Lines {
    pub(super) fn push(&mut self, pieces: Vec<Piece>, target: LineTarget) {
        self.lines.push(PullRequestLine { pieces, target });
    }

    fn text(&mut self, role: ColorRole, text: impl Into<String>) {
        self.push(vec![(text.into(), role)], LineTarget::Nothing);
    }

    /// Adds a line below the state of the preview.
    fn indented(&mut self, text: String, role: ColorRole) {
        self.push(vec![(" ".repeat(9), ColorRole::Text), (text, role)], LineTarget::Nothing);
    }

    pub(super) fn heading(&mut self, text: &str, count: usize) {
        self.push(Vec::new(), LineTarget::Nothing);
        let count = (format!(" {}", format_count(count)), ColorRole::Muted);
        self.push(vec![(text.to_owned(), ColorRole::Title), count], LineTarget::Nothing);
    }
}

/// Returns all lines about the pull request of a job.
pub(super) fn lines(
    app: &App,
    job: JobKey,
    details: &Load<PullRequestDetails>,
    site: &SiteFacts,
    width: usize,
) -> Vec<PullRequestLine> {
    let mut out = Lines { lines: Vec::new(), width };
    let state = app.jobs.get(job).and_then(|job| job.pull_request.as_deref());
    let shown = details.shown().map(|details| &details.value);
    match state {
        Some(state) => {
            let role = state.fact().role();
            wrap(&state_sentence(app, state), width, 4).0.into_iter().for_each(|line| out.text(role, line));
            source_lines(&mut out, state, shown);
        }
        None => out.text(ColorRole::Muted, "The state of the pull request is not known yet."),
    }
    let build = app.pull_request_work.builds.get(&job);
    preview_lines(&mut out, build, build.and_then(PreviewBuild::url).or(site.preview.as_ref()));
    if let Load::Failed { failure, .. } = details {
        out.text(ColorRole::Text, "");
        fit_message(failure.message.as_str(), width, 6).into_iter().for_each(|line| out.text(ColorRole::Bad, line));
    }
    if let Some(state) = state {
        check_lines(&mut out, state, shown.and_then(|details| details.checks.as_ref()));
    }
    if let Some(details) = shown {
        entry_lines(&mut out, app, &details.entries);
        commit_lines(&mut out, app, details);
        file_lines(&mut out, app, details, site);
    }
    out.lines
}

/// Describes the state in one sentence.
fn state_sentence(app: &App, state: &PullRequest) -> String {
    let checks = &state.checks;
    let are_unread = state.checks_as_of.is_none() && checks.state == ChecksState::Unavailable;
    let mut fact = match are_unread && state.fact() == PullRequestFact::Pending {
        true => "Open".to_owned(),
        false => capitalized(state.fact().word_and_meaning().1),
    };
    let mut parts = Vec::new();
    // The most important fact may be another one.
    match state.state {
        PullRequestState::Draft if state.fact() != PullRequestFact::Draft => {
            parts.push(std::mem::replace(&mut fact, "Draft".to_owned()).to_lowercase());
        }
        PullRequestState::Queued if state.fact() != PullRequestFact::Queued => {
            parts.push(std::mem::replace(&mut fact, "In the merge queue".to_owned()).to_lowercase());
        }
        _ => {}
    }
    match checks.state {
        _ if state.state.is_final() => {}
        _ if are_unread => parts.push("the checks could not be read yet".to_owned()),
        ChecksState::None => parts.push("no checks".to_owned()),
        ChecksState::Unavailable => parts.push("the checks are not available".to_owned()),
        _ if checks.total > 0 => parts.push(format!("{} of {} checks passed", checks.passed, checks.total)),
        ChecksState::Passing => parts.push("checks passed".to_owned()),
        ChecksState::Failing | ChecksState::Pending => {}
    }
    if let Some(at) = state.checks_as_of.filter(|_| !state.state.is_final() && !state.has_current_checks()) {
        let at = at.with_timezone(&app.config.offset).format("%H:%M");
        parts.push(format!("the checks are as of {at} and could not be read since"));
    }
    if !state.state.is_final() {
        match state.review {
            Some(Review::Approved) => parts.push("approved".to_owned()),
            Some(Review::Required) => parts.push("a review is required".to_owned()),
            Some(Review::ChangesRequested) if state.fact() != PullRequestFact::ChangesRequested => {
                parts.push("changes requested".to_owned());
            }
            Some(Review::ChangesRequested | Review::None) | None => {}
        }
        if state.conflict.is_none() {
            parts.push("it is not known yet whether there are conflicts".to_owned());
        }
        if state.behind {
            parts.push("the base branch has newer commits".to_owned());
        }
    }
    if parts.is_empty() { format!("{fact}.") } else { format!("{fact}: {}.", parts.join(", ")) }
}

/// Adds the branches, the author, the head commit and the size.
fn source_lines(out: &mut Lines, state: &PullRequest, details: Option<&PullRequestDetails>) {
    let mut parts = Vec::new();
    match details {
        Some(details) => parts.push(format!("{} → {} by {}", state.branch, details.base, details.author)),
        None => parts.push(state.branch.to_string()),
    }
    parts.push(format!("head {}", short_commit(&state.head)));
    if let (Some(added), Some(deleted)) = (state.additions, state.deletions) {
        let files = state.files.map(|files| format!(" in {}", plural(files, "file"))).unwrap_or_default();
        parts.push(format!("+{} −{}{files}", format_count(added), format_count(deleted)));
    }
    let lines = wrap(&parts.join(" · "), out.width, MAX_SOURCE_LINES).0;
    lines.into_iter().for_each(|line| out.text(ColorRole::Muted, line));
}

/// Adds the address of the preview, and the state of its build if the user has asked for one. The log is shown if the
/// build has failed.
fn preview_lines(out: &mut Lines, build: Option<&PreviewBuild>, preview: Option<&CleanText>) {
    let label = || ("preview  ".to_owned(), ColorRole::Muted);
    let width = out.width.saturating_sub(9);
    if let Some(build) = build {
        let last = build.last.as_ref();
        let (role, text) = match last.map(|last| &last.state) {
            _ if build.problem.is_some() => (ColorRole::Bad, "not built"),
            None if build.started.is_none() => (ColorRole::Working, "starting the build"),
            None | Some(BuildState::Queued) => (ColorRole::Working, "build queued"),
            Some(BuildState::InProgress) => (ColorRole::Working, "building"),
            Some(BuildState::Success) => (ColorRole::Good, "built"),
            Some(BuildState::Failure) => (ColorRole::Bad, "the build failed"),
            Some(BuildState::Other(word)) => (ColorRole::Working, word.as_str()),
        };
        let summary = last.map(|last| last.summary.as_str()).filter(|summary| !summary.is_empty());
        let summary = summary.map(|summary| format!(": {summary}")).unwrap_or_default();
        let files = last.filter(|last| !last.files.is_empty() && last.state.is_final());
        let files = files.map(|last| format!(" ({})", plural(last.files.len(), "changed file"))).unwrap_or_default();
        let text = format!("{text}{files}{summary}");
        for (n, line) in wrap(&text, width.max(8), 4).0.into_iter().enumerate() {
            match n {
                0 => out.push(vec![label(), (line, role)], LineTarget::Nothing),
                _ => out.indented(line, role),
            }
        }
        if let Some(problem) = &build.problem {
            fit_message(problem.as_str(), width, 6).into_iter().for_each(|line| out.indented(line, ColorRole::Bad));
        }
        let failed = last.filter(|last| last.state == BuildState::Failure);
        for line in failed.iter().flat_map(|last| &last.log) {
            wrap(line.as_str(), width.max(8), 3).0.into_iter().for_each(|line| out.indented(line, ColorRole::Muted));
        }
        let ended = last.filter(|last| last.state.is_final());
        for (change, path) in ended.iter().flat_map(|last| &last.files) {
            out.indented(fit(&format!("{} {path}", change.word()), width), ColorRole::Muted);
        }
    }
    if let Some(link) = preview {
        let shown = fit(link.as_str(), width);
        let label = if build.is_none() { label() } else { (" ".repeat(9), ColorRole::Text) };
        out.push(vec![label, (shown, ColorRole::Text)], LineTarget::Link(link.clone()));
    }
}

/// Adds the reviews and comments, the newest last.
fn entry_lines(out: &mut Lines, app: &App, entries: &[ReviewEntry]) {
    // The comment with the preview is a table of the service's bot, and the preview is shown above.
    let shown: Vec<_> = entries.iter().enumerate().filter(|(_, entry)| entry.preview().is_none()).collect();
    if shown.is_empty() {
        return;
    }
    out.heading("Reviews and comments", shown.len());
    for (n, entry) in shown {
        let role = match entry.kind {
            ReviewKind::Approval => ColorRole::Good,
            ReviewKind::ChangeRequest => ColorRole::Warning,
            ReviewKind::Comment | ReviewKind::Dismissed => ColorRole::Text,
        };
        let head = vec![
            (time_column(app, entry.at), ColorRole::Muted),
            (format!("{} ", fit(entry.author.as_str(), out.width / 2)), ColorRole::Title),
            (entry.kind.verb().to_owned(), role),
        ];
        out.push(head, LineTarget::Entry(n));
        let (lines, is_cut) = wrap(&entry.text, out.width.saturating_sub(TIME_WIDTH).max(8), MAX_ENTRY_LINES);
        let more = is_cut.then(|| "…".to_owned());
        for line in lines.into_iter().chain(more) {
            out.push(vec![(" ".repeat(TIME_WIDTH), ColorRole::Text), (line, ColorRole::Text)], LineTarget::Entry(n));
        }
    }
}

fn commit_lines(out: &mut Lines, app: &App, details: &PullRequestDetails) {
    out.heading("Commits", usize::try_from(details.commit_count).unwrap_or(usize::MAX));
    for commit in &details.commits {
        let title = fit(commit.title.as_str(), out.width.saturating_sub(TIME_WIDTH + 9));
        let pieces = vec![
            (time_column(app, commit.at), ColorRole::Muted),
            (format!("{}  ", commit.id), ColorRole::Muted),
            (title, ColorRole::Text),
        ];
        out.push(pieces, LineTarget::Nothing);
    }
}

/// Adds the changed files. Those that are pages have their views.
fn file_lines(out: &mut Lines, app: &App, details: &PullRequestDetails, site: &SiteFacts) {
    if details.files.is_empty() {
        return;
    }
    out.heading("Files", details.files.len());
    for file in &details.files {
        let numbers = format!("  +{} −{}", format_count(file.additions), format_count(file.deletions));
        let views = site.page_views(file.path.as_str()).map(|(_, views)| format!("  {}", views_text(app, views)));
        let views = views.unwrap_or_default();
        let space = out.width.saturating_sub(numbers.width());
        let path = truncate_path(file.path.as_str(), space);
        let views = fit(&views, space.saturating_sub(path.width()));
        let pieces = vec![(path, ColorRole::Text), (numbers, ColorRole::Muted), (views, ColorRole::Muted)];
        out.push(pieces, LineTarget::File(file.path.clone()));
    }
}

/// Returns the time of day, or the date if it was not today.
fn time_column(app: &App, at: Option<Time>) -> String {
    let Some(at) = at else { return " ".repeat(TIME_WIDTH) };
    let (at, today) = (at.with_timezone(&app.config.offset), app.updated_at.with_timezone(&app.config.offset));
    let format = if at.date_naive() == today.date_naive() { "%H:%M   " } else { "%m-%d   " };
    at.format(format).to_string()
}
