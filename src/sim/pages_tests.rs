use super::*;
use chrono::TimeDelta;

fn now() -> Time {
    "2026-11-20T14:02:33Z".parse().expect("a time")
}

fn day(text: &str) -> NaiveDate {
    text.parse().expect("a day")
}

fn total(site: &Site, from: &str, before: &str) -> HumanAndAiCounts {
    let mut all = HumanAndAiCounts::default();
    let days = site.days(day(from), day(before), now());
    for sum in site.view_sums(&days) {
        all.add(sum);
    }
    all
}

#[test]
fn only_the_same_seed_gives_the_same_views() {
    let sums = |seed| {
        let site = Site::new(seed, 300, now());
        let days = site.days(day("2026-10-01"), day("2026-10-08"), now());
        site.view_sums(&days).collect::<Vec<_>>()
    };
    assert_eq!(sums(7), sums(7));
    assert_ne!(sums(7), sums(8));
}

#[test]
fn views_are_the_same_after_a_restart_if_the_history_begins_in_the_same_month() {
    let sums = |site: &Site| {
        let days = site.days(day("2026-10-01"), day("2026-10-08"), now());
        site.view_sums(&days).collect::<Vec<_>>()
    };
    let earlier = Site::new(7, 300, now() - TimeDelta::days(3));
    assert_eq!(sums(&earlier), sums(&Site::new(7, 300, now())));
}

#[test]
fn there_are_no_views_before_the_history_or_after_today() {
    let site = Site::new(7, 100, now());
    assert_eq!(site.days(day("2020-01-01"), day("2030-01-01"), now()).len(), 120);
    assert_eq!(total(&site, "2026-01-01", "2026-07-24"), HumanAndAiCounts::default());
    assert!(total(&site, "2026-07-24", "2026-07-25").total() > 0);
    assert_eq!(total(&site, "2026-11-21", "2027-01-01"), HumanAndAiCounts::default());
}

#[test]
fn todays_views_grow_during_the_day_and_never_shrink() {
    let site = Site::new(7, 200, now());
    let midnight = day("2026-11-20").and_time(chrono::NaiveTime::MIN).and_utc();
    let at = |minutes: i64| {
        let days = site.days(day("2026-11-20"), day("2026-11-21"), midnight + TimeDelta::minutes(minutes));
        site.view_sums(&days).collect::<Vec<_>>()
    };
    let whole = {
        let tomorrow = midnight + TimeDelta::days(1);
        let days = site.days(day("2026-11-20"), day("2026-11-21"), tomorrow);
        site.view_sums(&days).collect::<Vec<_>>()
    };
    let mut before = at(0);
    assert!(before.iter().all(|sum| sum.total() == 0));
    for minutes in (7..1440).step_by(61) {
        let later = at(minutes);
        let grew = before.iter().zip(&later).all(|(a, b)| a.human <= b.human && a.ai <= b.ai);
        assert!(grew && before != later, "{minutes}");
        before = later;
    }
    assert!(before.iter().zip(&whole).all(|(a, b)| a.human <= b.human && a.ai <= b.ai));
}

#[test]
fn weekends_have_fewer_views_especially_by_people() {
    let site = Site::new(7, 1200, now());
    let (tuesday, sunday) = (total(&site, "2026-11-10", "2026-11-11"), total(&site, "2026-11-15", "2026-11-16"));
    assert!(sunday.human * 2 < tuesday.human);
    assert!(sunday.ai * 10 > tuesday.ai * 7);
}

#[test]
fn the_share_of_ai_grows_and_is_higher_for_references() {
    let site = Site::new(7, 1200, now());
    let share = |sum: HumanAndAiCounts| sum.ai * 1000 / sum.total();
    let (early, late) = (total(&site, "2026-07-27", "2026-08-03"), total(&site, "2026-11-09", "2026-11-16"));
    assert!(share(late) > share(early) + 50, "{} {}", share(early), share(late));
    let days = site.days(day("2026-11-09"), day("2026-11-16"), now());
    let view_sums: Vec<HumanAndAiCounts> = site.view_sums(&days).collect();
    let share_of =
        |path: &str| share(view_sums[site.pages.iter().position(|page| &*page.path == path).expect("a page")]);
    assert!(share_of("/api/create-job") > share_of("/quickstart") + 100);
}

#[test]
fn a_few_pages_are_read_often_and_most_pages_hardly_ever() {
    let site = Site::new(7, 1200, now());
    let days = site.days(day("2026-11-09"), day("2026-11-16"), now());
    let mut totals: Vec<u64> = site.view_sums(&days).map(HumanAndAiCounts::total).collect();
    assert_eq!(totals.iter().max(), totals.first(), "the quickstart leads");
    totals.sort_unstable_by(|a, b| b.cmp(a));
    let all: u64 = totals.iter().sum();
    let top: u64 = totals.iter().take(60).sum();
    assert!(top * 10 > all * 6 && top * 10 < all * 9, "{top} of {all}");
    assert!((100_000..400_000).contains(&all), "{all}");
}

#[test]
fn some_pages_are_new_or_disappear_and_some_rise_or_fall() {
    let site = Site::new(7, 1200, now());
    let month = |from, before| {
        let days = site.days(day(from), day(before), now());
        site.view_sums(&days).map(HumanAndAiCounts::total).collect::<Vec<_>>()
    };
    let (old, new) = (month("2026-07-24", "2026-08-21"), month("2026-10-23", "2026-11-20"));
    let count = |what: fn(u64, u64) -> bool| old.iter().zip(&new).filter(|&(a, b)| what(*a, *b)).count();
    assert!(count(|a, b| a == 0 && b > 30) > 20);
    assert!(count(|a, b| a > 30 && b == 0) > 20);
    assert!(count(|a, b| a > 30 && b > a * 3 / 2) > 50);
    assert!(count(|a, b| b > 0 && a > b * 3 / 2) > 50);
}
