//! Properties of the reports that a team shares: the order in which they arrive doesn't matter, a report survives being
//! sent and stored, and no content stops docdeck.

#![expect(clippy::indexing_slicing, reason = "a wrong index should fail the test")]

use crate::slow::sample;
use docdeck::model::Time;
use docdeck::model::analytics::ReaderTextRetention;
use docdeck::model::endpoint::Scope;
use docdeck::model::team::{ReportHeader, ReportKey, ReportRules, ReportSummary, ReportVersion, SharedReport};
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, PageRow};
use docdeck::store::{ReportMergeResult, Store};
use proptest::prelude::*;
use std::collections::HashSet;

fn count() -> impl Strategy<Value = Count> {
    prop_oneof![
        4 => any::<i64>().prop_map(Count::Known),
        1 => (-1e12..1e12).prop_map(|number: f64| Count::from_f64(number).unwrap_or_default()),
        1 => any::<String>().prop_map(|text| Count::Other(CleanText::line(&text))),
        1 => Just(Count::Missing),
    ]
}

fn counts() -> impl Strategy<Value = Counts> {
    (count(), count(), count()).prop_map(|(human, ai, total)| Counts::new(human, ai, total))
}

/// Rows of different pages.
fn rows() -> impl Strategy<Value = Vec<PageRow>> {
    let row = (any::<String>(), counts()).prop_map(|(path, counts)| PageRow { path: CleanText::line(&path), counts });
    prop::collection::vec(row, 0..8).prop_map(|mut rows| {
        let mut paths = HashSet::new();
        rows.retain(|row| paths.insert(row.path.clone()));
        rows
    })
}

fn time(second: i64) -> Time {
    Time::from_timestamp(1_800_000_000 + second, 0).expect("in range")
}

fn rules() -> ReportRules {
    ReportRules { now: time(0), reader_text_days: ReaderTextRetention::default() }
}

fn report(second: i64, totals: Counts, rows: &[PageRow]) -> SharedReport {
    let key = ReportKey::parse("page-views", "2026-11-01", "2026-11-20").expect("a key");
    let summary = ReportSummary { totals, responses: 1, ..ReportSummary::default() };
    SharedReport::new(key, time(second), &summary, rows).expect("small")
}

/// Stores the reports in this order, and returns the rows and the totals that are then cached.
fn store_all(reports: &[&SharedReport]) -> Option<(Time, Counts, Vec<PageRow>)> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let store = Store::in_memory().expect("a store");
        let scope = Scope { base_url: "https://docs.example".to_owned(), project: "p".to_owned(), organization: None };
        for report in reports {
            let merged = store.merge_team_reports(&scope, vec![(*report).clone()], rules()).await.expect("stored");
            assert_ne!(merged[0].1, ReportMergeResult::Unreadable);
        }
        let range = reports.first()?.key.range;
        let stored = store.cached_report(&scope, range).await.expect("read").report?;
        Some((stored.as_of, stored.totals.clone(), stored.rows.clone()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: u32::try_from(sample(0..200, 4).len()).expect("few"), ..ProptestConfig::default() })]

    #[test]
    fn the_same_report_counts_in_every_order_and_repetition(
        contents in prop::collection::vec((0_i64..3, counts(), rows()), 1..6),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let reports: Vec<SharedReport> =
            contents.into_iter().map(|(second, totals, rows)| report(second, totals, &rows)).collect();
        let latest = reports.iter().max_by_key(|report| report.version).expect("a report");
        let expected = store_all(&[latest]);
        let forward: Vec<&SharedReport> = order.iter().map(|at| at.get(&reports)).chain(&reports).collect();
        let backward: Vec<&SharedReport> = forward.iter().rev().copied().collect();
        prop_assert_eq!(&store_all(&forward), &expected);
        prop_assert_eq!(&store_all(&backward), &expected);
    }

    #[test]
    fn a_report_that_was_received_has_the_same_version_when_it_is_sent_again(totals in counts(), rows in rows()) {
        let sent = report(1, totals, &rows);
        let SharedReport { key, version, summary, expires_at, parts } = sent.clone();
        let header = ReportHeader { key, version, summary, expires_at, parts: parts.len() };
        let received = SharedReport::from_parts(header, parts).expect("unchanged");
        let summary = received.read_summary().expect("readable");
        let rows = received.read_rows::<PageRow>().expect("readable");
        prop_assert_eq!(SharedReport::new(key, version.as_of, &summary, &rows), Some(sent));
    }

    #[test]
    fn a_report_that_lists_a_page_twice_is_refused(
        totals in counts(),
        rows in rows(),
        row in any::<prop::sample::Index>(),
    ) {
        prop_assume!(!rows.is_empty());
        let repeated: Vec<PageRow> = rows.iter().chain([row.get(&rows)]).cloned().collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let merged = runtime.block_on(async {
            let scope = Scope { base_url: "https://docs.example".to_owned(), project: "p".to_owned(), organization: None };
            let store = Store::in_memory().expect("a store");
            store.merge_team_reports(&scope, vec![report(1, totals, &repeated)], rules()).await.expect("no failure")
        });
        prop_assert_eq!(merged[0].1, ReportMergeResult::Unreadable);
    }

    #[test]
    fn any_content_is_read_or_refused(summary in any::<String>(), parts in prop::collection::vec(any::<String>(), 0..3)) {
        let key = ReportKey::parse("page-views", "2026-11-01", "2026-11-20").expect("a key");
        let version = ReportVersion { as_of: time(0), hash: 0 };
        let report = SharedReport { key, version, summary, expires_at: None, parts };
        let readable = report.read_summary().is_some() && report.read_rows::<PageRow>().is_some();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let merged = runtime.block_on(async {
            let scope = Scope { base_url: "https://docs.example".to_owned(), project: "p".to_owned(), organization: None };
            Store::in_memory().expect("a store").merge_team_reports(&scope, vec![report], rules()).await.expect("no failure")
        });
        prop_assert_eq!(merged[0].1, if readable { ReportMergeResult::New } else { ReportMergeResult::Unreadable });
    }
}
