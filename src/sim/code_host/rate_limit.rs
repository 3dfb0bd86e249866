//! The hourly limits of the simulated GitHub. As on GitHub, a GraphQL query costs points, and a REST request counts
//! toward a separate limit of the same size. Does not read the clock.

use crate::model::Time;
use axum::http::HeaderName;
use chrono::TimeDelta;

/// The maximum number of points per hour for a token, and also of REST requests per hour.
const HOURLY_LIMIT: u64 = 5000;
/// The number of requests to GitHub's database that cost one point.
const REQUESTS_PER_POINT: u64 = 100;

/// GitHub's name for the limit of the GraphQL API.
const GRAPHQL_RESOURCE: &str = "graphql";

/// What a request to a code host costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim) enum HostCost {
    /// Points of GitHub's GraphQL API.
    GraphQl(u64),
    /// A request to GitHub's REST API.
    Rest,
    /// A request to GitLab, whose limit is so high that it is not simulated.
    Free,
}

/// What is left of a limit after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim) struct RateLimit {
    /// GitHub's name for the limit: `graphql`, or `core` for REST.
    resource: &'static str,
    pub(super) cost: u64,
    pub(super) remaining: u64,
    pub(super) resets_at: Time,
    /// Whether the limit was already used up before this request.
    pub(super) is_exceeded: bool,
}

impl RateLimit {
    pub(super) fn is_graphql(&self) -> bool {
        self.resource == GRAPHQL_RESOURCE
    }

    /// Returns the headers of the response.
    pub(in crate::sim) fn headers(&self) -> [(HeaderName, String); 5] {
        let number = |name, number: u64| (HeaderName::from_static(name), number.to_string());
        let resets_at = u64::try_from(self.resets_at.timestamp()).unwrap_or(0);
        [
            number("x-ratelimit-limit", HOURLY_LIMIT),
            number("x-ratelimit-remaining", self.remaining),
            number("x-ratelimit-used", HOURLY_LIMIT - self.remaining),
            number("x-ratelimit-reset", resets_at),
            (HeaderName::from_static("x-ratelimit-resource"), self.resource.to_owned()),
        ]
    }
}

/// The limits of the token.
#[derive(Debug, Default)]
pub(in crate::sim) struct GitHubLimits {
    graphql: HourlyUsage,
    rest: HourlyUsage,
}

impl GitHubLimits {
    /// Counts a request. Returns what is left of its limit, or `None` if the request has no limit.
    pub(in crate::sim) fn spend(&mut self, cost: HostCost, now: Time) -> Option<RateLimit> {
        match cost {
            HostCost::GraphQl(points) => Some(self.graphql.spend(GRAPHQL_RESOURCE, points, now)),
            HostCost::Rest => Some(self.rest.spend("core", 1, now)),
            HostCost::Free => None,
        }
    }
}

/// An hour that starts with its first request, and what was spent in it.
#[derive(Debug, Default)]
struct HourlyUsage {
    ends_at: Option<Time>,
    used: u64,
}

impl HourlyUsage {
    fn spend(&mut self, resource: &'static str, cost: u64, now: Time) -> RateLimit {
        let resets_at = self.ends_at.filter(|end| now < *end).unwrap_or(now + TimeDelta::hours(1));
        if self.ends_at != Some(resets_at) {
            *self = Self { ends_at: Some(resets_at), used: 0 };
        }
        let is_exceeded = self.used >= HOURLY_LIMIT;
        self.used = (self.used + cost).min(HOURLY_LIMIT);
        RateLimit { resource, cost, remaining: HOURLY_LIMIT - self.used, resets_at, is_exceeded }
    }
}

/// Returns how many points a GraphQL request costs. GitHub counts one request to its database for each list in the
/// query. 100 such requests cost one point. The points are rounded to the nearest integer, and are at least 1. A list
/// counts as if it had as many entries as the query allows, even if it has fewer.
pub(super) fn query_points(query: &str) -> u64 {
    let (operation, fragment) = query.split_once("fragment ").unwrap_or((query, ""));
    let uses = u64::try_from(operation.matches("...Part").count()).unwrap_or(u64::MAX);
    let requests = count_lists(operation).saturating_add(count_lists(fragment).saturating_mul(uses));
    (requests.saturating_add(REQUESTS_PER_POINT / 2) / REQUESTS_PER_POINT).max(1)
}

/// Returns how many lists GitHub has to read for a part of a query. A list within another list is counted once for each
/// entry of the outer list.
fn count_lists(part: &str) -> u64 {
    let (mut opened, mut entries_of_next) = (0_u64, 1_u64);
    // For each `{` that is still open: how often its content is evaluated.
    let mut counts = vec![1_u64];
    for (at, c) in part.char_indices() {
        let count = counts.last().copied().unwrap_or(1);
        match c {
            '(' => {
                if let Some(entries) = part.get(at + 1..).and_then(list_size) {
                    opened = opened.saturating_add(count);
                    entries_of_next = entries;
                }
            }
            '{' => {
                counts.push(count.saturating_mul(entries_of_next));
                entries_of_next = 1;
            }
            '}' => {
                counts.pop();
            }
            _ => {}
        }
    }
    opened
}

/// Returns the number of entries that arguments like `first: 100` ask for; `None` if there is no such argument.
fn list_size(arguments: &str) -> Option<u64> {
    let (arguments, _) = arguments.split_once(')')?;
    let sizes = arguments.split(',').filter_map(|argument| argument.split_once(':'));
    let mut sizes = sizes.filter(|(name, _)| matches!(name.trim(), "first" | "last"));
    sizes.next()?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECKS: &str = "fragment Part on PullRequest { number commits(last: 1) { nodes { commit { \
        statusCheckRollup { contexts(first: 100) { totalCount nodes { __typename } } } \
        checkSuites(last: 20) { nodes { status } } } } } }";

    fn query(pull_requests: usize, fragment: &str) -> String {
        let fields = "p: resource(url: $u) { ...Part } ".repeat(pull_requests);
        format!("query($u: URI!) {{ {fields} rateLimit {{ cost }} }} {fragment}")
    }

    #[test]
    fn a_query_costs_a_point_per_hundred_lists_and_at_least_one() {
        assert_eq!(query_points("query { rateLimit { cost remaining resetAt } }"), 1);
        assert_eq!(query_points(&query(25, "fragment Part on PullRequest { number title }")), 1);
        // The commits, the contexts and the suites of 25 pull requests: 75 lists. Of 60: 180.
        assert_eq!(
            (count_lists(CHECKS), query_points(&query(25, CHECKS)), query_points(&query(60, CHECKS))),
            (3, 1, 2)
        );
        // GitHub's example: 1 list of repositories, 100 of issues, 5,000 of labels.
        let nested = "query { viewer { repositories(first: 100) { edges { node { issues(first: 50) { edges { node { \
            labels(first: 60) { edges { node { id } } } } } } } } } } }";
        assert_eq!((count_lists(nested), query_points(nested)), (5101, 51));
    }

    #[test]
    fn an_hour_starts_with_its_first_request() {
        let at = |minute: i64| Time::from_timestamp(1_795_000_000 + 60 * minute, 0).expect("in range");
        let mut limits = GitHubLimits::default();
        let mut spend = |points, minute| limits.spend(HostCost::GraphQl(points), at(minute)).expect("a limit");
        let first = spend(10, 0);
        assert_eq!((first.remaining, first.resets_at, first.is_exceeded), (4990, at(60), false));
        assert_eq!((spend(4989, 10).remaining, spend(5, 20).remaining), (1, 0));
        let exceeded = spend(1, 59);
        assert_eq!((exceeded.remaining, exceeded.resets_at, exceeded.is_exceeded), (0, at(60), true));
        let next = spend(1, 60);
        assert_eq!((next.remaining, next.resets_at, next.is_exceeded), (4999, at(120), false));
        assert_eq!(limits.spend(HostCost::Rest, at(61)).map(|limit| limit.remaining), Some(4999), "a limit of its own");
        assert_eq!(limits.spend(HostCost::Free, at(61)), None);
    }
}
