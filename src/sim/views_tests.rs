use super::*;
use std::collections::HashSet;

fn now() -> Time {
    "2026-11-20T14:02:33Z".parse().expect("a time")
}

fn parameters(from: &str, to: &str, limit: &str, offset: &str) -> Parameters {
    let text = |value: &str| (!value.is_empty()).then(|| value.to_owned());
    Parameters {
        date_from: text(from),
        date_to: text(to),
        limit: text(limit),
        offset: text(offset),
        ..Parameters::default()
    }
}

fn query(from: &str, to: &str) -> SimViewsQuery {
    parameters(from, to, "", "").parse().expect("good parameters")
}

fn errors(from: &str, to: &str, limit: &str, offset: &str) -> Vec<String> {
    let details = parameters(from, to, limit, offset).parse().expect_err("bad parameters");
    details.into_iter().map(|detail| detail.message).collect()
}

fn day(text: &str) -> NaiveDate {
    text.parse().expect("a day")
}

#[test]
fn dates_and_times_are_parsed_and_the_end_is_exclusive() {
    let week = query("2026-11-14", "2026-11-21");
    assert_eq!((week.from, week.exclusive_end, week.limit, week.offset), (day("2026-11-14"), day("2026-11-21"), 50, 0));
    let midnight = query("2026-11-14T00:00:00Z", "2026-11-21T00:00:00.000Z");
    assert_eq!((midnight.from, midnight.exclusive_end), (week.from, week.exclusive_end));
    assert_eq!(query("2026-11-14T23:30:00-02:00", "2026-11-20T10:00:00").from, day("2026-11-15"));
    assert_eq!(query("2026-11-14", "2026-11-20T10:00:00").exclusive_end, day("2026-11-21"));
}

#[test]
fn the_error_lists_all_invalid_parameters() {
    assert_eq!(errors("", "", "", "").len(), 2);
    assert_eq!(errors("", "x", "0", "-1").len(), 4);
    for odd in ["2026-1-5", "20261105", "2026-02-30", "yesterday", "2026-11-14 00:00:00", "+2026-11-1"] {
        assert_eq!(errors(odd, "2026-11-21", "", "").len(), 1, "{odd}");
    }
    for limit in ["0", "251", "-1", "1.5", "ten", "+5", "99999999999"] {
        assert!(errors("2026-11-14", "2026-11-21", limit, "")[0].contains("1 to 250"), "{limit}");
    }
    assert_eq!(errors("2026-11-21", "2026-11-14", "", ""), ["dateFrom must be before dateTo"]);
    assert_eq!(errors("2026-11-21", "2026-11-21", "", "").len(), 1);
}

/// Loads all rows with `limit` rows per request. Returns the totals, the rows and the number of requests.
fn load_all(views: &SimViews, limit: usize) -> (CountsBody, Vec<PageBody>, usize) {
    let mut query = SimViewsQuery { limit, ..query("2026-11-14", "2026-11-21") };
    let mut rows = Vec::new();
    for requests in 1.. {
        let response = views.response(query, now());
        assert!(response.views.len() <= limit);
        rows.extend(response.views);
        if !response.has_more {
            return (response.totals, rows, requests);
        }
        query.offset += limit;
    }
    unreachable!()
}

#[test]
fn the_totals_are_the_sum_of_all_rows_whatever_the_page_size() {
    let views = SimViews::new(Site::new(7, 300, now()));
    for limit in [1, 50, 250] {
        let (totals, rows, requests) = load_all(&views, limit);
        let sum = |of: fn(&CountsBody) -> u64| rows.iter().map(|row| of(&row.counts)).sum::<u64>();
        assert_eq!((totals.human, totals.ai, totals.total), (sum(|c| c.human), sum(|c| c.ai), sum(|c| c.total)));
        assert!(rows.iter().all(|row| row.counts.total == row.counts.human + row.counts.ai));
        let paths: HashSet<&str> = rows.iter().map(|row| row.path.as_str()).collect();
        assert_eq!(paths.len(), rows.len());
        assert_eq!(requests, rows.len().div_ceil(limit), "no request in vain at the end");
    }
}

#[test]
fn rows_are_sorted_and_pages_without_views_are_left_out() {
    let views = SimViews::new(Site::new(7, 300, now()));
    let (_, rows, _) = load_all(&views, 250);
    let in_order = |a: &PageBody, b: &PageBody| (b.counts.total, &a.path) < (a.counts.total, &b.path);
    assert!(rows.is_sorted_by(in_order));
    assert!(rows.iter().all(|row| row.counts.total > 0));
    assert!(rows.len() < 300, "vanished pages are left out");
}

#[test]
fn an_offset_beyond_the_end_returns_only_the_totals() {
    let views = SimViews::new(Site::new(7, 300, now()));
    let whole = views.response(query("2026-11-14", "2026-11-21"), now());
    let behind = views.response(SimViewsQuery { offset: 300, ..query("2026-11-14", "2026-11-21") }, now());
    assert_eq!((behind.views.len(), behind.has_more, behind.totals.total), (0, false, whole.totals.total));
}

#[test]
fn the_cached_ranking_is_never_used_for_another_range_or_minute() {
    let views = SimViews::new(Site::new(7, 300, now()));
    let ask = |views: &SimViews, from: &str, now: Time| views.response(query(from, "2026-11-21"), now).totals.total;
    let (week, today) = (ask(&views, "2026-11-14", now()), ask(&views, "2026-11-20", now()));
    assert!(today < week);
    let later = now() + chrono::TimeDelta::minutes(30);
    assert!(ask(&views, "2026-11-20", later) > today);
    assert_eq!(ask(&views, "2026-11-14", now()), week);
}
