use super::reports::{counts, page, part, range, week};
use super::*;
use crate::model::impact::{PagePeriod, PageViews};
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::views::{Count, Counts, ViewsQuery};
use crate::store::ReportAnswer;

fn known(value: Counts, seconds: i64) -> PageViews {
    PageViews::Known(Timed { value, as_of: at(seconds) })
}

impl Store {
    async fn of_page(&self, path: &str, range: DateRange) -> PageViews {
        let mut found = self.page_views(&scope(), &line(path), &[range]).await.expect("read");
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    async fn answered(&self, range: DateRange, limit: u32, rows: &[(&str, Counts)], seconds: i64) {
        let query = ViewsQuery { range, limit, page: 1 };
        self.save_views(&scope(), query, &page(rows, 9), at(seconds)).await.expect("kept");
    }
}

#[tokio::test]
async fn a_page_that_a_whole_report_does_not_list_is_told_apart_from_one_of_which_nothing_is_known() {
    let store = memory();
    assert_eq!(store.of_page("/a", week()).await, PageViews::Unknown);
    store.absorbs(part(1, page(&[("/a", counts(4, 1))], 9), false, 7)).await;
    assert_eq!(store.of_page("/a", week()).await, known(counts(4, 1), 7));
    assert_eq!(store.of_page("/b", week()).await, PageViews::Unknown, "there may be more");
    store.absorbs(part(2, page(&[("/c", counts(1, 1))], 9), true, 8)).await;
    assert_eq!(store.of_page("/b", week()).await, PageViews::NotListed(at(7)));
    assert_eq!(store.of_page("/c", range("2026-11-14", "2026-11-19")).await, PageViews::Unknown, "another range");
}

#[tokio::test]
async fn a_page_that_came_twice_while_loading_has_its_last_numbers() {
    let store = memory();
    store.absorbs(part(1, page(&[("/a", counts(4, 1)), ("/b", counts(1, 1))], 9), false, 7)).await;
    store.absorbs(part(2, page(&[("/a", counts(5, 1))], 9), false, 8)).await;
    assert_eq!(store.of_page("/a", week()).await, known(counts(5, 1), 8));
    assert_eq!(store.of_page("/b", week()).await, known(counts(1, 1), 7));
    let periods = store.page_periods(&scope(), &line("/a")).await.expect("read");
    assert_eq!(periods, [PagePeriod { range: week(), views: Timed { value: counts(5, 1), as_of: at(8) } }]);
}

#[tokio::test]
async fn ranges_are_answered_in_the_order_asked_and_without_a_scope_all_are_unknown() {
    let store = memory();
    let ranges = [range("2026-11-01", "2026-11-07"), week()];
    let asked = async |store: &Store| store.page_views(&scope(), &line("/a"), &ranges).await.expect("read");
    assert_eq!(asked(&store).await, [PageViews::Unknown, PageViews::Unknown]);
    store.absorbs(part(1, page(&[("/a", counts(4, 1))], 9), true, 7)).await;
    assert_eq!(asked(&store).await, [PageViews::Unknown, known(counts(4, 1), 7)]);
}

#[tokio::test]
async fn without_a_whole_report_the_newest_answer_about_just_this_range_counts() {
    let store = memory();
    let odd = Counts { human: Count::Odd(line("0.5")), ai: Count::Missing, total: Count::Known(-3) };
    store.answered(week(), 50, &[("/a", counts(1, 1)), ("/a/b", counts(7, 7))], 10).await;
    store.answered(week(), 250, &[("/ü \"q\"", odd.clone()), ("/a", counts(2, 1))], 20).await;
    store.answered(week(), 10, &[("/other", counts(5, 5))], 30).await;
    assert_eq!(store.of_page("/a", week()).await, known(counts(2, 1), 20));
    assert_eq!(store.of_page("/ü \"q\"", week()).await, known(odd, 20));
    assert_eq!(store.of_page("/a/b", week()).await, known(counts(7, 7), 10));
    assert_eq!(store.of_page("/a/", week()).await, PageViews::Unknown);
    assert_eq!(store.of_page("/a", range("2026-11-14", "2026-11-19")).await, PageViews::Unknown);
}

#[tokio::test]
async fn the_periods_of_a_page_come_newest_first_and_each_range_once() {
    let store = memory();
    let (september, october) = (range("2026-09-01", "2026-09-30"), range("2026-10-01", "2026-10-31"));
    let of = |range, part: ReportAnswer| ReportAnswer { range, ..part };
    store.absorbs(of(october, part(1, page(&[("/a", counts(40, 1))], 99), true, 5))).await;
    store.answered(october, 50, &[("/a", counts(39, 1))], 9).await;
    store.answered(september, 50, &[("/a", counts(30, 1))], 6).await;
    store.answered(september, 250, &[("/a", counts(31, 1))], 7).await;
    store.absorbs(part(1, page(&[("/a", counts(50, 1))], 99), false, 8)).await;
    let gone = range("2026-08-01", "2026-08-31");
    store.absorbs(of(gone, part(1, page(&[("/b", counts(1, 1))], 99), true, 5))).await;
    let period = |range, value, seconds| PagePeriod { range, views: Timed { value, as_of: at(seconds) } };
    let periods = store.page_periods(&scope(), &line("/a")).await.expect("read");
    let expected =
        [period(week(), counts(50, 1), 8), period(october, counts(40, 1), 5), period(september, counts(31, 1), 7)];
    assert_eq!(periods, expected);
    assert_eq!(store.page_periods(&scope(), &line("/none")).await.expect("read"), []);
    let other = Scope { project: "other".to_owned(), ..scope() };
    assert_eq!(store.page_periods(&other, &line("/a")).await.expect("read"), []);
}

#[tokio::test]
async fn a_page_known_from_answers_alone_has_its_periods_too() {
    let store = memory();
    store.answered(week(), 50, &[("/a", counts(3, 1))], 6).await;
    let periods = store.page_periods(&scope(), &line("/a")).await.expect("read");
    assert_eq!(periods.len(), 1);
    assert_eq!((periods[0].range, &periods[0].views.value), (week(), &counts(3, 1)));
}
