//! The lines about the checks of a pull request: those that failed, those without a result, and those that passed.

use super::lines::{LineBuilder, LineTarget};
use crate::model::colors::ColorRole;
use crate::model::pull_request::{ChecksState, PullRequest, PullRequestFact};
use crate::model::pull_request_details::{PassedAndPendingChecks, PendingCheck};
use crate::model::text::CleanText;
use crate::tui::draw::text::align_left;
use crate::tui::format::{format_count, truncate};
use crate::tui::message_fit::fit_message;
use unicode_width::UnicodeWidthStr as _;

/// The maximum number of lines with the names of the checks that passed.
const MAX_PASSED_LINES: usize = 3;
/// The width of the symbol before a check, with the space after it.
const SYMBOL_WIDTH: usize = 2;

/// The checks of the head commit that have not failed.
#[derive(Default)]
struct NonFailedChecks<'a> {
    pending: Vec<&'a PendingCheck>,
    passed: Vec<&'a CleanText>,
}

impl<'a> NonFailedChecks<'a> {
    /// Leaves out the checks of `listed` that have failed by now according to `state`, which may be newer than
    /// `listed`.
    fn new(state: &PullRequest, listed: &'a PassedAndPendingChecks) -> Self {
        let has_failed = |name: &CleanText| state.checks.failed.iter().any(|failed| failed.name == *name);
        let pending = listed.pending.iter().filter(|check| !has_failed(&check.name));
        let passed = listed.passed.iter().filter(|name| !has_failed(name));
        match state.checks.state {
            // All checks have passed by now, including those that were pending when they were listed.
            ChecksState::Passing => {
                Self { pending: Vec::new(), passed: passed.chain(pending.map(|check| &check.name)).collect() }
            }
            _ => Self { pending: pending.collect(), passed: passed.collect() },
        }
    }
}

/// Adds the checks, the failed ones first. `listed` has the checks that had not failed when they were listed. If
/// `listed` is `None` or belongs to another head commit, adds only the failed checks.
pub(super) fn push_check_lines(out: &mut LineBuilder, state: &PullRequest, listed: Option<&PassedAndPendingChecks>) {
    let failed = &state.checks.failed;
    let listed = listed.filter(|listed| listed.head == state.head).map(|listed| NonFailedChecks::new(state, listed));
    let is_complete = listed.is_some();
    let NonFailedChecks { pending, passed } = listed.unwrap_or_default();
    let check_count = failed.len() + pending.len() + passed.len();
    if check_count == 0 {
        return;
    }
    out.push_heading(if is_complete { "Checks" } else { "Failed checks" }, check_count);
    let names = failed.iter().map(|check| &check.name).chain(pending.iter().map(|check| &check.name));
    let name_width = names.map(|name| name.as_str().width()).max().unwrap_or(0).min(out.width / 2);
    for check in failed {
        push_check_line(out, PullRequestFact::Failing, name_width, &check.name, check.url.as_ref());
    }
    for check in pending {
        push_check_line(out, PullRequestFact::Pending, name_width, &check.name, check.url.as_ref());
    }
    push_passed_lines(out, &passed);
}

/// Adds a check with its link. `fact` determines the symbol and the colour of the check: they are the same as those of
/// a pull request that has such a check.
fn push_check_line(
    out: &mut LineBuilder,
    fact: PullRequestFact,
    name_width: usize,
    name: &CleanText,
    url: Option<&CleanText>,
) {
    let link = url.map_or("", |url| url.as_str());
    let rest = out.width.saturating_sub(name_width + SYMBOL_WIDTH + 2);
    let link = truncate(link.strip_prefix("https://").unwrap_or(link), rest);
    let name = align_left(name.as_str(), name_width);
    let pieces = vec![
        (format!("{} ", fact.symbol()), fact.color_role()),
        (format!("{name}  "), ColorRole::Text),
        (link, ColorRole::Muted),
    ];
    out.push(pieces, url.cloned().map_or(LineTarget::Nothing, LineTarget::Link));
}

/// Adds the number and the names of the checks that passed, as many as fit.
fn push_passed_lines(out: &mut LineBuilder, passed: &[&CleanText]) {
    if passed.is_empty() {
        return;
    }
    let names: Vec<&str> = passed.iter().map(|name| name.as_str()).collect();
    let text = format!("{} passed: {}", format_count(passed.len()), names.join(", "));
    let width = out.width.saturating_sub(SYMBOL_WIDTH).max(8);
    for (n, line) in fit_message(&text, width, MAX_PASSED_LINES).into_iter().enumerate() {
        let fact = PullRequestFact::Ready;
        let symbol = if n == 0 { format!("{} ", fact.symbol()) } else { " ".repeat(SYMBOL_WIDTH) };
        out.push(vec![(symbol, fact.color_role()), (line, ColorRole::Muted)], LineTarget::Nothing);
    }
}
