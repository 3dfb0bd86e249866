use super::*;
use proptest::prelude::*;

fn at(seconds: i64) -> Time {
    Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
}

fn entries(times: impl IntoIterator<Item = i64>) -> Vec<LedgerEntry> {
    times.into_iter().map(|seconds| LedgerEntry { at: at(seconds), seen_ahead_at: None }).collect()
}

fn block(until: i64, received_at: Option<i64>) -> RateLimitBlock {
    RateLimitBlock { until: at(until), is_estimate: false, received_at: received_at.map(at), seen_ahead_at: None }
}

fn until_of(budget: Budget) -> Option<Time> {
    budget.wait().map(|wait| wait.until)
}

#[test]
fn a_request_is_available_again_after_one_hour() {
    let uses = entries([0, 10]);
    assert_eq!(compute_budget(Quota::Create, &uses, None, at(3599)).used, 2);
    let later = compute_budget(Quota::Create, &uses, None, at(3600));
    assert_eq!((later.used, later.resets_at), (1, Some(at(3610))));
}

#[test]
fn a_429_takes_precedence_over_the_count() {
    let blocked = compute_budget(Quota::Views, &[], Some(block(60, Some(0))), at(0));
    assert_eq!((blocked.used, blocked.requests_left(), until_of(blocked)), (0, 0, Some(at(60))));
    assert_eq!(compute_budget(Quota::Views, &[], Some(block(60, Some(0))), at(60)).requests_left(), 100);
}

#[test]
fn requests_in_the_future_count_for_an_hour_at_most() {
    let ten_days = 240 * 3600;
    let mut uses = entries(ten_days..ten_days + 100);
    let first = compute_budget(Quota::Create, &uses, None, at(0));
    assert_eq!((first.requests_left(), until_of(first)), (0, Some(at(3600))));
    assert!(
        uses.iter().all(|entry| entry.must_set_seen_ahead_at(at(0)) && !entry.must_be_deleted(Quota::Views, at(0)))
    );
    uses.iter_mut().for_each(|entry| entry.seen_ahead_at = Some(at(0)));
    assert_eq!(until_of(compute_budget(Quota::Create, &uses, None, at(3599))), Some(at(3600)));
    assert_eq!(compute_budget(Quota::Create, &uses, None, at(3600)).requests_left(), 100);
    assert!(
        uses.iter()
            .all(|entry| entry.must_be_deleted(Quota::Views, at(3600)) && !entry.must_set_seen_ahead_at(at(3600)))
    );
    // If the clock is set back again, the requests count for one more hour at most.
    let earlier = compute_budget(Quota::Create, &uses, None, at(-7200));
    assert_eq!((earlier.requests_left(), until_of(earlier)), (0, Some(at(-3600))));
}

#[test]
fn a_request_counts_for_an_hour_even_if_the_clock_was_behind() {
    let entry = LedgerEntry { at: at(0), seen_ahead_at: Some(at(-3600)) };
    assert_eq!(compute_budget(Quota::Create, &[entry], None, at(1)).resets_at, Some(at(3600)));
}

#[test]
fn a_short_wait_from_a_clock_ten_days_ahead_stays_short() {
    let ten_days = 240 * 3600;
    let stored = RateLimitBlock { until: at(ten_days + 10), ..block(0, Some(ten_days)) };
    assert_eq!(stored.wait(at(0)), Some(Wait { until: at(10), is_estimate: false }));
    assert!(stored.must_set_seen_ahead_at(at(0)) && !stored.must_be_deleted(at(0)));
    let marked = RateLimitBlock { seen_ahead_at: Some(at(0)), ..stored };
    assert_eq!(marked.wait(at(4)).map(|wait| wait.until), Some(at(10)), "it expires");
    assert!(!marked.must_be_deleted(at(9)) && marked.must_be_deleted(at(10)));
    assert_eq!(marked.wait(at(10)), None);
}

#[test]
fn no_wait_is_longer_than_a_day() {
    let day = MAX_RATE_LIMIT_WAIT.num_seconds();
    for stored in [block(400 * 3600, None), block(400 * 3600, Some(0)), block(400 * 3600, Some(300 * 3600))] {
        let wait = stored.wait(at(0)).expect("it lasts");
        assert_eq!(wait.until, at(day), "{stored:?}");
        assert_eq!(wait.time_left_text(at(0)), "24h");
    }
    assert_eq!(wait_text(TimeDelta::hours(241)), "24h");
}

#[test]
fn an_estimated_wait_is_shown_as_an_estimate() {
    let wait = |is_estimate| Wait { until: at(60), is_estimate };
    assert_eq!(wait(true).time_left_text(at(0)), "about a minute");
    assert_eq!(wait(true).time_left_text(at(40)), "under a minute");
    assert_eq!(wait(false).time_left_text(at(0)), "1m");
}

#[test]
fn a_budget_with_a_smaller_share_left_is_closer_to_its_limit() {
    let with = |used, limit| Budget { used, limit, ..Budget::unused(Quota::Create) };
    assert!(with(37, 100).is_closer_to_limit(&with(36, 100)));
    assert!(with(5, 10).is_closer_to_limit(&with(40, 100)));
    assert!(!with(0, 100).is_closer_to_limit(&with(0, 50)), "a tie");
    let blocked = Budget { blocked: Some(Wait { until: at(9), is_estimate: true }), ..with(0, 100) };
    assert!(blocked.is_closer_to_limit(&with(99, 100)));
}

proptest! {
    #[test]
    fn no_rolling_hour_contains_more_requests_than_the_limit(gaps in prop::collection::vec(0_i64..120, 1..600)) {
        let mut uses: Vec<LedgerEntry> = Vec::new();
        let mut now = at(0);
        for gap in gaps {
            now += TimeDelta::seconds(gap);
            if compute_budget(Quota::Create, &uses, None, now).wait().is_none() {
                uses.push(LedgerEntry { at: now, seen_ahead_at: None });
            }
        }
        for window in uses.windows(101) {
            let (first, last) = (window.first().expect("some"), window.last().expect("some"));
            prop_assert!(last.at - first.at >= RATE_LIMIT_WINDOW);
        }
    }

    #[test]
    fn no_wait_exceeds_its_maximum_whatever_times_are_stored(
        times in prop::collection::vec((-9_000_000_i64..9_000_000, prop::option::of(-9_000_000_i64..9_000_000)), 0..220),
        until in -9_000_000_i64..9_000_000,
        learned in prop::option::of(-9_000_000_i64..9_000_000),
    ) {
        let entry = |(made, seen): (i64, Option<i64>)| LedgerEntry { at: at(made), seen_ahead_at: seen.map(at) };
        let uses: Vec<LedgerEntry> = times.into_iter().map(entry).collect();
        let counted = compute_budget(Quota::Create, &uses, None, at(0));
        prop_assert!(counted.resets_at.is_none_or(|reset| reset > at(0) && reset <= at(3600)), "{counted:?}");
        let blocked = compute_budget(Quota::Create, &uses, Some(block(until, learned)), at(0));
        prop_assert!(blocked.wait().is_none_or(|wait| wait.until - at(0) <= MAX_RATE_LIMIT_WAIT), "{blocked:?}");
    }
}
