//! The cost of loading all pages, in requests. The service doesn't report how many rows a range has, so only a lower
//! bound is certain. If possible, the cost is also estimated from the last load, a similar range or the first rows. The
//! questions that ask to confirm a cost also show how many requests are left.

use super::super::App;
use super::super::format;
use super::all_pages::REQUESTS_PER_CONFIRMATION;
use crate::model::Time;
use crate::model::connection::ConnectionState;
use crate::model::ledger::Quota;
use crate::model::period::DateRange;
use crate::model::report::{
    EstimateBasis, LoadEstimate, LoadPlan, LoadProgress, SimilarRange, StoredReport, requests_for,
};
use crate::model::views::{MAX_PAGE_SIZE, ViewsQuery};

/// The cost of a load, in requests.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct LoadCost {
    /// The lower bound: requests that the load certainly needs.
    min_requests: u32,
    expected: Option<LoadEstimate>,
}

impl LoadCost {
    /// Adds up the costs of several loads. A load of unknown cost is expected to cost the mean of the known costs. But
    /// if all known costs are those of previous loads, a sum with an unknown cost has no expected cost: it would be
    /// shown as `last time 5`, although not all of these loads have been run before.
    fn of_all(costs: &[Self]) -> Self {
        let min_requests = costs.iter().fold(0_u32, |sum, cost| sum.saturating_add(cost.min_requests));
        let known: Vec<LoadEstimate> = costs.iter().filter_map(|cost| cost.expected).collect();
        // The basis of the sum is the previous loads only if they are the basis of every known cost.
        let basis = known
            .iter()
            .map(|known| known.basis)
            .reduce(|one, next| if one == EstimateBasis::PreviousLoad { next } else { one });
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let (unknown, estimated_ranges) = (count(costs.len() - known.len()), count(known.len()));
        let sum = known.iter().fold(0_u32, |sum, known| sum.saturating_add(known.requests));
        let expected = basis.filter(|basis| unknown == 0 || *basis != EstimateBasis::PreviousLoad).map(|basis| {
            let rest = unknown.saturating_mul(sum.div_ceil(estimated_ranges.max(1)));
            LoadEstimate { requests: sum.saturating_add(rest), basis }
        });
        Self { min_requests, expected }
    }

    /// Returns the expected number of requests: the estimate, but at least the lower bound.
    fn expected_requests(self) -> u32 {
        self.expected.map_or(self.min_requests, |expected| expected.requests.max(self.min_requests))
    }
}

/// Formats the cost: `at least 2 analytics requests, last time 5`, or an estimate and what it is based on.
pub fn cost_text(min_requests: u32, expected: Option<LoadEstimate>) -> String {
    cost_and_basis(min_requests, expected).concat()
}

/// Returns the two parts of the cost: the number of requests, and what it is based on.
fn cost_and_basis(min_requests: u32, expected: Option<LoadEstimate>) -> [String; 2] {
    let least = format!("at least {}", format::plural(min_requests as usize, "analytics request"));
    let Some(LoadEstimate { requests, basis }) = expected else { return [least, String::new()] };
    let about = format!("about {}", format::plural(requests.max(min_requests) as usize, "analytics request"));
    match basis {
        EstimateBasis::PreviousLoad => [format!("{least}, last time {requests}"), String::new()],
        EstimateBasis::Similar(SimilarRange { range, rows }) => {
            let pages = format::plural(rows as usize, "page");
            [about, format!(", estimated from the {pages} of {}", range.format_dates(true))]
        }
        EstimateBasis::FirstRows { rows, share } => {
            let (rows, share) = (format::grouped_number(rows), floor_percent(share));
            [about, format!(", estimated from the first {rows} rows ({share} of the views)")]
        }
    }
}

impl App {
    /// Returns how many requests for page views are left this hour.
    pub(in crate::tui) fn view_requests_left(&self) -> u32 {
        self.budget(Quota::Views).requests_left()
    }

    /// Returns the expected cost of loading all pages of a range: from stored data, otherwise estimated from the rows
    /// on screen. `None` if neither is possible.
    pub(super) fn expected_cost(&self, range: DateRange) -> Option<LoadEstimate> {
        let stored = self.views.all_pages.stored_report(range).and_then(StoredReport::estimate_load);
        stored.or_else(|| {
            let shown = self.views.load().shown()?;
            let (query, page) = (shown.value.query, &shown.value.page);
            let is_first = query.range == range && query.page == 1;
            is_first.then(|| LoadEstimate::from_first_rows(&page.rows, &page.totals))?
        })
    }

    /// Returns the minimum number of rows of the range according to the response on screen, and whether these are all
    /// rows. `None` if no response about the range is on screen, or if the response is beyond the last row.
    fn min_rows(&self, range: DateRange) -> Option<(u64, bool)> {
        let shown = self.views.load().shown().filter(|shown| shown.value.query.range == range)?;
        let (query, page) = (shown.value.query, &shown.value.page);
        let rows = query.offset().saturating_add(u64::try_from(page.rows.len()).unwrap_or(0));
        // An empty page of rows beyond the end proves nothing about the number of rows before it.
        (!page.rows.is_empty() || query.page == 1).then(|| (rows, !query.has_next(page)))
    }

    /// Whether the first response that a load needs is on screen and fresh, so that the load takes it from the cache.
    fn has_first_response(&self, range: DateRange, now: Time) -> bool {
        let first = ViewsQuery { range, limit: MAX_PAGE_SIZE, page: 1 };
        let shown = self.views.load().shown().filter(|shown| shown.value.query == first);
        shown.is_some_and(|shown| range.is_fresh(shown.as_of, now))
    }

    fn load_cost(&self, range: DateRange, from_start: bool, now: Time) -> LoadCost {
        let known = self.views.all_pages.stored_report(range);
        let responses_before_interruption = known.and_then(|known| known.responses_before_interruption);
        let loaded_responses = match responses_before_interruption.filter(|_| !from_start) {
            Some(responses) => responses,
            None => u32::from(!from_start && self.has_first_response(range, now)),
        };
        let all = match self.min_rows(range) {
            Some((rows, true)) => requests_for(rows),
            Some((rows, false)) => requests_for(rows.saturating_add(1)),
            None => 1,
        };
        let rest = |requests: u32| requests.saturating_sub(loaded_responses).max(1);
        let expected = self.expected_cost(range).map(|known| LoadEstimate { requests: rest(known.requests), ..known });
        LoadCost { min_requests: rest(all), expected }
    }

    /// Whether one request is probably enough for this load.
    pub(super) fn is_one_request_enough(&self, plan: &LoadPlan) -> bool {
        let all = &self.views.all_pages;
        let was_one = all.complete_report(plan.range).is_some_and(|report| report.responses <= 1);
        let fits = self.min_rows(plan.range).is_some_and(|(rows, is_all)| is_all && requests_for(rows) == 1);
        all.rows_of_interrupted_load(plan.range).is_none() && (was_one || fits)
    }

    /// Returns the question before a load: which ranges it loads, and what it costs.
    pub(super) fn load_question(&self, plans: &[LoadPlan], now: Time) -> String {
        let what = match plans {
            [one] => {
                let rows = self.views.all_pages.rows_of_interrupted_load(one.range).filter(|_| !one.from_start);
                let continuing = rows.map(|rows| format!(", continuing after {} rows", format::format_count(rows)));
                format!("{}{}", one.range.format_dates(true), continuing.unwrap_or_default())
            }
            [one, other] => format!("{} and {}", one.range.format_dates(true), other.range.format_dates(true)),
            [one, two, three] => {
                let [one, two, three] = [one, two, three].map(|plan| plan.range.format_dates(true));
                format!("{one}, {two} and {three}")
            }
            many => format!("{} ranges", many.len()),
        };
        let costs: Vec<LoadCost> = plans.iter().map(|plan| self.load_cost(plan.range, plan.from_start, now)).collect();
        let cost = LoadCost::of_all(&costs);
        let is_known = |plan: &LoadPlan| plan.from_start && self.views.all_pages.complete_report(plan.range).is_some();
        let again = if !plans.is_empty() && plans.iter().all(is_known) { " again" } else { "" };
        let [requests, basis] = cost_and_basis(cost.min_requests, cost.expected);
        let (limits, left) = (self.limit_warning(cost), self.view_requests_left());
        format!(
            "{}Load all pages of {what}{again}? Uses {requests} ({left} left this hour){basis}.{limits}",
            self.offline_warning()
        )
    }

    /// Returns the warning at the start of a question about loading; empty unless docdeck is offline.
    fn offline_warning(&self) -> &'static str {
        let is_offline = matches!(self.connection, ConnectionState::Offline { .. });
        if is_offline { "Offline: this may fail. " } else { "" }
    }

    fn limit_warning(&self, cost: LoadCost) -> String {
        let left = self.view_requests_left();
        if cost.expected_requests() > left {
            return format!(" That is more than is left: loading stops after {left} and can continue later.");
        }
        if cost.expected_requests() > REQUESTS_PER_CONFIRMATION {
            format!(" docdeck asks again after {REQUESTS_PER_CONFIRMATION} requests.")
        } else {
            String::new()
        }
    }

    /// Returns the question whether to continue, for a load that has used the confirmed number of requests.
    pub(super) fn continue_question(&self, remaining_plans: &[LoadPlan], progress: Option<LoadProgress>) -> String {
        let so_far = progress.map(|progress| {
            let share =
                progress.share.map(|share| format!(" ({} of the views)", floor_percent(share))).unwrap_or_default();
            let requests = format::plural(progress.requests as usize, "request");
            format!("{} rows{share} loaded with {requests}. ", format::format_count(progress.rows))
        });
        let range = match remaining_plans {
            [one] => format!("loading all pages of {}", one.range.format_dates(true)),
            many => format!("with {} ranges", many.len()),
        };
        let left = self.view_requests_left();
        let most = format::plural(REQUESTS_PER_CONFIRMATION.min(left) as usize, "more request");
        let so_far = format!("{}{}", self.offline_warning(), so_far.unwrap_or_default());
        format!("{so_far}Continue {range}? Uses at most {most} ({left} left this hour).")
    }

    /// Shows a warning that no requests are left. The warning ends when the next request is possible, or after 15
    /// seconds if that time is unknown.
    pub(in crate::tui) fn notify_no_requests_left(&mut self, now: Time) {
        let wait = self.budget(Quota::Views).wait().filter(|wait| wait.until > now);
        let until = wait.map_or(now + chrono::TimeDelta::seconds(15), |wait| wait.until);
        let text = self.no_requests_left_text(now);
        self.notify_until_time(until, crate::tui::Severity::Warning, &text, now);
    }

    /// Returns the message that no requests are left, with the time at which the next request is possible and what
    /// works without requests.
    pub(in crate::tui) fn no_requests_left_text(&self, now: Time) -> String {
        let when = match self.budget(Quota::Views).wait().filter(|wait| wait.until > now) {
            Some(wait) => format!("the next one is possible {}", self.wait_end_text(wait, now)),
            None => "the next one is possible in a moment".to_owned(),
        };
        format!("No analytics requests are left this hour; {when}. {AVAILABLE_WITHOUT_REQUESTS}")
    }
}

/// The sentence that names what works without requests.
pub const AVAILABLE_WITHOUT_REQUESTS: &str = "Trends and ranges that are already loaded can still be shown.";

/// Formats a share in whole percent, rounded down so that 100% always means all.
pub fn floor_percent(share: f64) -> String {
    format!("{:.0}%", (share * 100.0).floor())
}
