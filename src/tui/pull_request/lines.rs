//! The lines about a pull request.

use super::check_lines::push_check_lines;
use super::facts::{counts_text, days_text, views_text};
use crate::model::Time;
use crate::model::colors::ColorRole;
use crate::model::job::JobKey;
use crate::model::load::Load;
use crate::model::preview::BuildState;
use crate::model::pull_request::{ChecksState, PullRequest, PullRequestFact, short_commit};
use crate::model::pull_request_details::{FileDiffStat, PullRequestDetails, ReviewEntry, ReviewKind, SiteFacts};
use crate::model::text::CleanText;
use crate::tui::App;
use crate::tui::draw::text::{align_left, align_right};
use crate::tui::format::{capitalized, format_count, plural, truncate, truncate_path};
use crate::tui::jobs::job_facts;
use crate::tui::message_fit::fit_message;
use crate::tui::state::PreviewBuild;
use crate::tui::wrap::wrap;
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr as _;

/// The maximum number of lines of a comment that are shown.
pub(super) const MAX_ENTRY_LINES: usize = 40;
/// The maximum number of lines of a fact. Enough for the longest branch names.
const MAX_FACT_LINES: usize = 20;
/// The width of the label before a fact.
const LABEL_WIDTH: usize = 9;
/// The maximum number of files that are requested for a pull request. If that many are known, there may be more.
const MAX_LISTED_FILES: usize = 100;
/// The minimum width of the column of paths if the views of the pages are shown beside it.
const MIN_PATH_WIDTH: usize = 24;
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
type LinePiece = (String, ColorRole);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PullRequestLine {
    pub(super) pieces: Vec<LinePiece>,
    pub(super) target: LineTarget,
}

/// Collects the lines about a pull request. `width` is the number of cells of a line.
pub(super) struct LineBuilder {
    lines: Vec<PullRequestLine>,
    pub(super) width: usize,
}

impl LineBuilder {
    pub(super) fn push(&mut self, pieces: Vec<LinePiece>, target: LineTarget) {
        self.lines.push(PullRequestLine { pieces, target });
    }

    fn push_text(&mut self, role: ColorRole, text: impl Into<String>) {
        self.push(vec![(text.into(), role)], LineTarget::Nothing);
    }

    /// Adds a fact with its label, wrapped.
    fn push_fact(&mut self, label: &str, value: &str, role: ColorRole) {
        let lines = wrap(value, self.width.saturating_sub(LABEL_WIDTH).max(8), MAX_FACT_LINES).0;
        for (n, line) in lines.into_iter().enumerate() {
            match n {
                0 => self.push(vec![(label_text(label), ColorRole::Muted), (line, role)], LineTarget::Nothing),
                _ => self.push_indented(line, role),
            }
        }
    }

    /// Adds a line below the value of a fact.
    fn push_indented(&mut self, text: String, role: ColorRole) {
        self.push(vec![(label_text(""), ColorRole::Text), (text, role)], LineTarget::Nothing);
    }

    pub(super) fn push_heading(&mut self, text: &str, count: usize) {
        self.push_heading_with_note(text, count, "");
    }

    /// Adds a heading with a number and, after the number, a note.
    fn push_heading_with_note(&mut self, text: &str, count: usize, note: &str) {
        self.push(Vec::new(), LineTarget::Nothing);
        let count = (format!(" {}{note}", format_count(count)), ColorRole::Muted);
        self.push(vec![(text.to_owned(), ColorRole::Title), count], LineTarget::Nothing);
    }
}

fn label_text(label: &str) -> String {
    align_left(label, LABEL_WIDTH)
}

/// Returns all lines about the pull request of a job.
pub(super) fn lines(
    app: &App,
    job: JobKey,
    details: &Load<PullRequestDetails>,
    site: &SiteFacts,
    width: usize,
) -> Vec<PullRequestLine> {
    let mut out = LineBuilder { lines: Vec::new(), width };
    let state = app.jobs.get(job).and_then(|job| job.pull_request.as_deref());
    let shown = details.shown().map(|details| &details.value);
    match state {
        Some(state) => {
            out.push(state_line(state), LineTarget::Nothing);
            push_fact_lines(&mut out, app, state, shown);
        }
        None => out.push_text(ColorRole::Muted, "The state of the pull request is not known yet."),
    }
    let build = app.pull_request_work.builds.get(&job);
    push_preview_lines(&mut out, build, build.and_then(PreviewBuild::url).or(site.preview.as_ref()));
    if let Load::Failed { failure, .. } = details {
        out.push_text(ColorRole::Text, "");
        fit_message(failure.message.as_str(), width, 6)
            .into_iter()
            .for_each(|line| out.push_text(ColorRole::Bad, line));
    }
    if let Some(state) = state {
        push_check_lines(&mut out, state, shown.and_then(|details| details.checks.as_ref()));
    }
    if let Some(details) = shown {
        push_entry_lines(&mut out, app, &details.entries);
        push_commit_lines(&mut out, app, details);
        push_file_lines(&mut out, app, details, site);
    }
    out.lines
}

/// Returns the line with the most important fact and its symbol, followed by the facts that no line below shows.
fn state_line(state: &PullRequest) -> Vec<LinePiece> {
    let main_fact = state.main_fact();
    let is_unlisted =
        |main_fact: &PullRequestFact| matches!(main_fact, PullRequestFact::Draft | PullRequestFact::Queued);
    let others = state.facts().skip(1).filter(is_unlisted);
    let others: String = others.map(|main_fact| format!(" · {}", main_fact.word_and_meaning().1)).collect();
    let symbol = (format!("{} ", main_fact.symbol()), main_fact.color_role());
    vec![symbol, (capitalized(state.fact_text()), main_fact.color_role()), (others, ColorRole::Text)]
}

/// Adds the facts with their labels, from the checks to the author.
fn push_fact_lines(out: &mut LineBuilder, app: &App, state: &PullRequest, details: Option<&PullRequestDetails>) {
    let is_open = !state.state.is_final();
    // If a complete list of the checks follows below, the line about the checks is left out. If the checks are
    // outdated, the line is kept, because it shows the time of the checks.
    let listed = details.and_then(|details| details.checks.as_ref()).is_some_and(|checks| checks.head == state.head);
    if let Some((text, role)) = checks_text(app, state).filter(|_| !listed || !state.has_current_checks()) {
        out.push_fact("checks", &text, role);
    }
    if let Some((text, role)) = job_facts::review(state) {
        out.push_fact("review", &text, role);
    }
    if state.conflict.is_none() && is_open {
        out.push_fact("conflict", "not known yet", ColorRole::Muted);
    }
    let size = details
        .and_then(|details| change_size_summed_over_files(state, details))
        .unwrap_or_else(|| job_facts::size(state));
    if !size.is_empty() {
        let label = (label_text("size"), ColorRole::Muted);
        let pieces = size.into_iter().map(|(text, role)| (text.into_owned(), role));
        out.push([label].into_iter().chain(pieces).collect(), LineTarget::Nothing);
    }
    match details {
        Some(details) => out.push_fact("branch", &format!("{} → {}", state.branch, details.base), ColorRole::Text),
        None => out.push_fact("branch", state.branch.as_str(), ColorRole::Text),
    }
    if state.behind && is_open {
        out.push_fact("", "the base branch has newer commits", ColorRole::Warning);
    }
    out.push_fact("head", &short_commit(&state.head), ColorRole::Text);
    if let Some(details) = details {
        out.push_fact("author", details.author.as_str(), ColorRole::Text);
    }
}

/// Returns how many checks passed, if the host reports the number, otherwise the overall result. The failed checks
/// needn't be named here, because a list below names them.
fn checks_text(app: &App, state: &PullRequest) -> Option<LinePiece> {
    let checks = &state.checks;
    let (text, role) = job_facts::checks(state)?;
    let counted = checks.total > 0 && checks.state != ChecksState::Unavailable;
    let mut text = match counted {
        true => format!("{} of {} passed", format_count(checks.passed), format_count(checks.total)),
        false => text.into_owned(),
    };
    if let Some(at) = state.checks_as_of.filter(|_| !state.has_current_checks()) {
        let at = at.with_timezone(&app.config.offset).format("%H:%M");
        text.push_str(&format!(", as of {at}, not updated since"));
    }
    Some((text, role))
}

/// Returns the size as the sum over the files, for a host that reports it only by file. `None` if the host reports the
/// size itself, or if not all files of the head commit are known.
fn change_size_summed_over_files(
    state: &PullRequest,
    details: &PullRequestDetails,
) -> Option<Vec<(Cow<'static, str>, ColorRole)>> {
    let (files, count) = (&details.files, u64::try_from(details.files.len()).ok()?);
    let is_complete = state.files.is_none_or(|files| files == count) && files.len() < MAX_LISTED_FILES;
    if state.additions.is_some() || files.is_empty() || details.head != state.head || !is_complete {
        return None;
    }
    let sum = |lines: fn(&FileDiffStat) -> u64| files.iter().map(lines).sum();
    Some(job_facts::change_size_pieces(sum(|file| file.additions), sum(|file| file.deletions), Some(count)))
}

/// Adds the address of the preview and, if the user has started a build, the state of the build. Also adds the log of a
/// failed build, and the changed files of a build that has ended.
fn push_preview_lines(out: &mut LineBuilder, build: Option<&PreviewBuild>, preview: Option<&CleanText>) {
    let width = out.width.saturating_sub(LABEL_WIDTH);
    if let Some(build) = build {
        let last = build.last_known_build.as_ref();
        let (role, text) = match last.map(|last| &last.state) {
            _ if build.problem.is_some() && build.started_build.is_none() => (ColorRole::Bad, "not built"),
            _ if build.problem.is_some() => (ColorRole::Bad, "result unknown"),
            None if build.started_build.is_none() => (ColorRole::Working, "starting the build"),
            None | Some(BuildState::Queued) => (ColorRole::Working, "build queued"),
            Some(BuildState::InProgress) => (ColorRole::Working, "building"),
            Some(BuildState::Success) => (ColorRole::Good, "built"),
            Some(BuildState::Failure) => (ColorRole::Bad, "the build failed"),
            Some(BuildState::Other(word)) => (ColorRole::Working, word.as_str()),
        };
        let summary = last.map(|last| last.summary.as_str()).filter(|summary| !summary.is_empty());
        let summary = summary.map(|summary| format!(": {summary}")).unwrap_or_default();
        let files = last.filter(|last| !last.files.is_empty() && last.state == BuildState::Success);
        let files = files.map(|last| format!(" ({})", plural(last.files.len(), "changed file"))).unwrap_or_default();
        let text = format!("{text}{files}{summary}");
        out.push_fact("preview", &text, role);
        if let Some(problem) = &build.problem {
            fit_message(problem.as_str(), width, 6)
                .into_iter()
                .for_each(|line| out.push_indented(line, ColorRole::Bad));
        }
        let failed = last.filter(|last| last.state == BuildState::Failure);
        for line in failed.iter().flat_map(|last| &last.log) {
            wrap(line.as_str(), width.max(8), 3)
                .0
                .into_iter()
                .for_each(|line| out.push_indented(line, ColorRole::Muted));
        }
        let ended = last.filter(|last| last.state.is_final());
        for (change, path) in ended.iter().flat_map(|last| &last.files) {
            out.push_indented(truncate(&format!("{} {path}", change.word()), width), ColorRole::Muted);
        }
    }
    if let Some(link) = preview {
        let shown = truncate(link.as_str(), width);
        let label = label_text(if build.is_none() { "preview" } else { "" });
        out.push(vec![(label, ColorRole::Muted), (shown, ColorRole::Text)], LineTarget::Link(link.clone()));
    }
}

/// Adds the reviews and comments, the newest last.
fn push_entry_lines(out: &mut LineBuilder, app: &App, entries: &[ReviewEntry]) {
    // Leaves out the comment of the service's bot about the preview, because the preview is shown above.
    let shown: Vec<_> = entries.iter().enumerate().filter(|(_, entry)| entry.preview_link().is_none()).collect();
    if shown.is_empty() {
        return;
    }
    out.push_heading("Reviews and comments", shown.len());
    for (n, entry) in shown {
        let role = match entry.kind {
            ReviewKind::Approval => ColorRole::Good,
            ReviewKind::ChangeRequest => ColorRole::Warning,
            ReviewKind::Comment | ReviewKind::Dismissed => ColorRole::Text,
        };
        let head = vec![
            (time_column(app, entry.at), ColorRole::Muted),
            (format!("{} ", truncate(entry.author.as_str(), out.width / 2)), ColorRole::Title),
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

fn push_commit_lines(out: &mut LineBuilder, app: &App, details: &PullRequestDetails) {
    out.push_heading("Commits", usize::try_from(details.commit_count).unwrap_or(usize::MAX));
    for commit in &details.commits {
        let title = truncate(commit.title.as_str(), out.width.saturating_sub(TIME_WIDTH + 9));
        let pieces = vec![
            (time_column(app, commit.at), ColorRole::Muted),
            (format!("{}  ", short_commit(&commit.id)), ColorRole::Muted),
            (title, ColorRole::Text),
        ];
        out.push(pieces, LineTarget::Nothing);
    }
}

/// Adds the changed files in columns: the path, the added and the removed lines and, if the file is a page, its views.
fn push_file_lines(out: &mut LineBuilder, app: &App, details: &PullRequestDetails, site: &SiteFacts) {
    if details.files.is_empty() {
        return;
    }
    // If all views are from the same days, only the heading has the days.
    let periods = details.files.iter().filter_map(|file| site.page_views(file.path.as_str())).map(|(_, views)| views);
    let mut ranges = periods.map(|period| period.range);
    let range = ranges.next().filter(|first| ranges.all(|range| range == *first));
    let views_of = |file: &FileDiffStat| match (site.page_views(file.path.as_str()), range) {
        (Some((_, views)), Some(_)) => counts_text(&views.views.value),
        (Some((_, views)), None) => views_text(app, views),
        (None, _) => String::new(),
    };
    let views: Vec<String> = details.files.iter().map(views_of).collect();
    let signed = |sign: char, lines: u64| format!("{sign}{}", format_count(lines));
    let widest = |sign: char, lines: fn(&FileDiffStat) -> u64| {
        details.files.iter().map(|file| signed(sign, lines(file)).width()).max().unwrap_or(0)
    };
    let (added, deleted) = (widest('+', |file| file.additions), widest('−', |file| file.deletions));
    let views_width = views.iter().map(|text| text.width()).max().unwrap_or(0);
    let numbers = 2 + added + 1 + deleted;
    let space = out.width.saturating_sub(numbers);
    // In a narrow terminal, the views are left out, because the paths matter more.
    let views_width = if space >= MIN_PATH_WIDTH + 2 + views_width { views_width } else { 0 };
    let space = space.saturating_sub(if views_width > 0 { 2 + views_width } else { 0 });
    let days = range.filter(|_| views_width > 0).map(|range| format!(" · views {}", days_text(app, range)));
    out.push_heading_with_note("Files", details.files.len(), &days.unwrap_or_default());
    let path_width = details.files.iter().map(|file| file.path.as_str().width()).max().unwrap_or(0).min(space);
    for (file, views) in details.files.iter().zip(views) {
        let path = truncate_path(file.path.as_str(), path_width);
        let mut pieces = vec![
            (align_left(&path, path_width), ColorRole::Text),
            (format!("  {}", align_right(&signed('+', file.additions), added)), ColorRole::Good),
            (format!(" {}", align_right(&signed('−', file.deletions), deleted)), ColorRole::Bad),
        ];
        if views_width > 0 {
            pieces.push((format!("  {}", align_right(&views, views_width)), ColorRole::Muted));
        }
        out.push(pieces, LineTarget::File(file.path.clone()));
    }
}

/// Returns the time of day or, if `at` is not today, the date. Blank if `at` is `None`.
fn time_column(app: &App, at: Option<Time>) -> String {
    let Some(at) = at else { return " ".repeat(TIME_WIDTH) };
    let (at, today) = (at.with_timezone(&app.config.offset), app.updated_at.with_timezone(&app.config.offset));
    let format = if at.date_naive() == today.date_naive() { "%H:%M" } else { "%-d %b" };
    align_left(&at.format(format).to_string(), TIME_WIDTH)
}
