use super::reports::{counts, part, range, views_response, week};
use super::*;
use crate::model::impact::{PageViewsInRange, PageViewsState};
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::views::{Count, Counts, ViewsQuery};
use crate::store::ReportResponse;

fn known_views(value: Counts, seconds: i64) -> PageViewsState {
    PageViewsState::Known(Timed { value, as_of: at(seconds) })
}

impl Store {
    async fn views_of_page(&self, path: &str, range: DateRange) -> PageViewsState {
        let mut found = self.page_views(&scope(), &line(path), &[range]).await.expect("read");
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    async fn save_response(&self, range: DateRange, limit: u32, rows: &[(&str, Counts)], seconds: i64) {
        let query = ViewsQuery { range, limit, page: 1 };
        self.save_views(&scope(), query, &views_response(rows, 9), at(seconds)).await.expect("stored");
    }
}

#[tokio::test]
async fn only_a_complete_report_shows_that_a_page_is_not_listed() {
    let store = memory_store();
    assert_eq!(store.views_of_page("/a", week()).await, PageViewsState::Unknown);
    store.add_part(part(1, views_response(&[("/a", counts(4, 1))], 9), false, 7)).await;
    assert_eq!(store.views_of_page("/a", week()).await, known_views(counts(4, 1), 7));
    assert_eq!(store.views_of_page("/b", week()).await, PageViewsState::Unknown, "there may be more");
    store.add_part(part(2, views_response(&[("/c", counts(1, 1))], 9), true, 8)).await;
    assert_eq!(store.views_of_page("/b", week()).await, PageViewsState::NotListed(at(7)));
    assert_eq!(
        store.views_of_page("/c", range("2026-11-14", "2026-11-19")).await,
        PageViewsState::Unknown,
        "another range"
    );
}

#[tokio::test]
async fn while_a_report_is_loading_a_duplicate_page_has_the_counts_of_its_last_row() {
    let store = memory_store();
    store.add_part(part(1, views_response(&[("/a", counts(4, 1)), ("/b", counts(1, 1))], 9), false, 7)).await;
    store.add_part(part(2, views_response(&[("/a", counts(5, 1))], 9), false, 8)).await;
    assert_eq!(store.views_of_page("/a", week()).await, known_views(counts(5, 1), 8));
    assert_eq!(store.views_of_page("/b", week()).await, known_views(counts(1, 1), 7));
    let periods = store.page_views_by_range(&scope(), &line("/a")).await.expect("read");
    assert_eq!(periods, [PageViewsInRange { range: week(), views: Timed { value: counts(5, 1), as_of: at(8) } }]);
}

#[tokio::test]
async fn an_unfinished_reload_does_not_replace_a_complete_report_without_the_page() {
    let store = memory_store();
    store.add_part(part(1, views_response(&[("/b", counts(1, 1))], 9), true, 7)).await;
    store.add_part(part(1, views_response(&[("/a", counts(4, 1))], 9), false, 8)).await;
    assert_eq!(store.views_of_page("/a", week()).await, PageViewsState::NotListed(at(7)));
}

#[tokio::test]
async fn page_views_are_returned_in_the_order_of_the_ranges_and_are_unknown_in_an_empty_store() {
    let store = memory_store();
    let ranges = [range("2026-11-01", "2026-11-07"), week()];
    let asked = async |store: &Store| store.page_views(&scope(), &line("/a"), &ranges).await.expect("read");
    assert_eq!(asked(&store).await, [PageViewsState::Unknown, PageViewsState::Unknown]);
    store.add_part(part(1, views_response(&[("/a", counts(4, 1))], 9), true, 7)).await;
    assert_eq!(asked(&store).await, [PageViewsState::Unknown, known_views(counts(4, 1), 7)]);
}

#[tokio::test]
async fn without_a_complete_report_the_newest_response_for_exactly_this_range_is_used() {
    let store = memory_store();
    let odd = Counts::new(Count::Other(line("0.5")), Count::Missing, Count::Known(-3));
    store.save_response(week(), 50, &[("/a", counts(1, 1)), ("/a/b", counts(7, 7))], 10).await;
    store.save_response(week(), 250, &[("/ü \"q\"", odd.clone()), ("/a", counts(2, 1))], 20).await;
    store.save_response(week(), 10, &[("/other", counts(5, 5))], 30).await;
    assert_eq!(store.views_of_page("/a", week()).await, known_views(counts(2, 1), 20));
    assert_eq!(store.views_of_page("/ü \"q\"", week()).await, known_views(odd, 20));
    assert_eq!(store.views_of_page("/a/b", week()).await, known_views(counts(7, 7), 10));
    assert_eq!(store.views_of_page("/a/", week()).await, PageViewsState::Unknown);
    assert_eq!(store.views_of_page("/a", range("2026-11-14", "2026-11-19")).await, PageViewsState::Unknown);
}

#[tokio::test]
async fn the_periods_of_a_page_are_listed_newest_first_without_duplicates() {
    let store = memory_store();
    let (september, october) = (range("2026-09-01", "2026-09-30"), range("2026-10-01", "2026-10-31"));
    let of = |range, part: ReportResponse| ReportResponse { range, ..part };
    store.add_part(of(october, part(1, views_response(&[("/a", counts(40, 1))], 99), true, 5))).await;
    store.save_response(october, 50, &[("/a", counts(39, 1))], 9).await;
    store.save_response(september, 50, &[("/a", counts(30, 1))], 6).await;
    store.save_response(september, 250, &[("/a", counts(31, 1))], 7).await;
    store.add_part(part(1, views_response(&[("/a", counts(50, 1))], 99), false, 8)).await;
    let gone = range("2026-08-01", "2026-08-31");
    store.add_part(of(gone, part(1, views_response(&[("/b", counts(1, 1))], 99), true, 5))).await;
    let period = |range, value, seconds| PageViewsInRange { range, views: Timed { value, as_of: at(seconds) } };
    let periods = store.page_views_by_range(&scope(), &line("/a")).await.expect("read");
    let expected =
        [period(week(), counts(50, 1), 8), period(october, counts(40, 1), 5), period(september, counts(31, 1), 7)];
    assert_eq!(periods, expected);
    assert_eq!(store.page_views_by_range(&scope(), &line("/none")).await.expect("read"), []);
    let other = Scope { project: "other".to_owned(), ..scope() };
    assert_eq!(store.page_views_by_range(&other, &line("/a")).await.expect("read"), []);
}

#[tokio::test]
async fn a_page_that_is_in_no_report_but_in_a_response_has_periods() {
    let store = memory_store();
    store.save_response(week(), 50, &[("/a", counts(3, 1))], 6).await;
    let periods = store.page_views_by_range(&scope(), &line("/a")).await.expect("read");
    assert_eq!(periods.len(), 1);
    assert_eq!((periods[0].range, &periods[0].views.value), (week(), &counts(3, 1)));
}
