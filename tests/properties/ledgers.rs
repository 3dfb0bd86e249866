//! Properties of the ledgers that count requests against the hourly limits, for any changes of the clock and after a
//! restart: no rolling hour contains more requests than the limit, and no wait is longer than an hour (a day after a
//! 429 response).
//!
//! Hours are measured in counted time: setting the clock forward counts as time that has passed, and setting it back
//! changes nothing.

use chrono::TimeDelta;
use docdeck::model::Time;
use docdeck::model::endpoint::Scope;
use docdeck::model::ledger::{MAX_RATE_LIMIT_WAIT, Quota, RATE_LIMIT_WINDOW, Wait};
use docdeck::store::Store;
use proptest::prelude::*;

/// What happens between requests.
#[derive(Debug, Clone)]
enum Step {
    /// Sends up to this many requests, this many milliseconds apart, until one has to wait.
    Burst(usize, i64),
    /// Moves the clock forward by this many seconds, or back if the number is negative.
    Clock(i64),
    /// Reads the budget.
    ReadBudget,
    /// Refunds the last request, as if it had never reached the service.
    Refund,
    /// The service responds with 429 and this many seconds to wait.
    Limited(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let clock = prop_oneof![4 => -4000_i64..4000, 2 => -120_i64..120, 1 => -1_000_000_i64..1_000_000];
    let step = prop_oneof![
        5 => (1_usize..140, 0_i64..40_000).prop_map(|(n, apart)| Step::Burst(n, apart)),
        5 => clock.prop_map(Step::Clock),
        2 => Just(Step::ReadBudget),
        1 => Just(Step::Refund),
        1 => (1_i64..4000).prop_map(Step::Limited),
    ];
    prop::collection::vec(step, 1..14)
}

/// Returns the largest number of requests in any hour. It is enough to check the hours that end with a request.
fn max_in_an_hour(granted: &[i64]) -> usize {
    let hour = RATE_LIMIT_WINDOW.num_milliseconds();
    let inside = |end: i64| granted.iter().filter(|at| **at <= end && end - **at < hour).count();
    granted.iter().map(|end| inside(*end)).max().unwrap_or(0)
}

/// A clock that the test can move.
struct Clock {
    now: Time,
    /// Sum of all forward moves, in milliseconds.
    counted: i64,
}

impl Clock {
    fn move_by(&mut self, by: TimeDelta) {
        self.now += by;
        self.counted += by.num_milliseconds().max(0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_hour_exceeds_the_limit_and_no_wait_is_too_long_whatever_the_clock_does(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let store = Store::in_memory().expect("a store");
            let scope = Scope { base_url: "https://docs.example".to_owned(), project: "p".to_owned(), organization: None };
            let quota = Quota::Views;
            let mut clock = Clock { now: Time::from_timestamp(1_800_000_000, 0).expect("a time"), counted: 0 };
            let (mut granted, mut blocked): (Vec<(Time, i64)>, i64) = (vec![], 0);
            for step in steps {
                match step {
                    Step::Burst(n, apart) => for _ in 0..n {
                        clock.move_by(TimeDelta::milliseconds(apart));
                        match store.spend(&scope, quota, clock.now).await.expect("an answer") {
                            Ok(budget) => {
                                assert!(blocked <= clock.counted, "a 429 takes precedence over the count");
                                assert!(budget.used >= 1 && budget.used <= budget.limit, "{budget:?}");
                                granted.push((clock.now, clock.counted));
                            }
                            Err(wait) => {
                                let longest = if blocked > 0 { MAX_RATE_LIMIT_WAIT } else { RATE_LIMIT_WINDOW };
                                assert!(wait.until > clock.now && wait.until <= clock.now + longest, "{wait:?}");
                                break;
                            }
                        }
                    },
                    Step::Clock(seconds) => clock.move_by(TimeDelta::seconds(seconds)),
                    Step::ReadBudget => {
                        let budget = store.budget(&scope, quota, clock.now).await.expect("read");
                        let latest = clock.now + if blocked > 0 { MAX_RATE_LIMIT_WAIT } else { RATE_LIMIT_WINDOW };
                        assert!(budget.resets_at.is_none_or(|at| at > clock.now && at <= latest), "{budget:?}");
                    }
                    Step::Refund => if let Some((at, _)) = granted.pop() {
                        store.refund(&scope, quota, at).await.expect("refunded");
                    },
                    Step::Limited(seconds) => {
                        let wait = Wait { until: clock.now + TimeDelta::seconds(seconds), is_estimate: false };
                        store.record_rate_limit(&scope, quota, wait, clock.now).await.expect("recorded");
                        blocked = blocked.max(clock.counted + 1000 * seconds);
                    }
                }
                let counted: Vec<i64> = granted.iter().map(|(_, counted)| *counted).collect();
                assert!(max_in_an_hour(&counted) <= quota.limit() as usize, "{granted:?}");
            }
            // After the clock has run normally for 25 hours, longer than any wait, all requests are available.
            store.budget(&scope, quota, clock.now).await.expect("read");
            let mut after = clock.now;
            for _ in 0..25 {
                after += TimeDelta::hours(1);
                store.budget(&scope, quota, after).await.expect("read");
            }
            assert_eq!(store.budget(&scope, quota, after).await.expect("read").used, 0);
            assert!(store.spend(&scope, quota, after).await.expect("an answer").is_ok());
            store.close().await;
        });
    }

    /// The ledger survives a restart. Setting the clock back before the restart makes no request available.
    #[test]
    fn requests_before_a_restart_still_count(spent in 1_usize..100, back in 0_i64..100_000) {
        let folder = crate::create_folder();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let scope = Scope { base_url: "https://docs.example".to_owned(), project: "p".to_owned(), organization: None };
            let now = Time::from_timestamp(1_800_000_000, 0).expect("a time");
            let (store, _) = Store::open(folder.path(), now).expect("a store");
            for _ in 0..spent {
                store.spend(&scope, Quota::Create, now).await.expect("recorded").expect("a free request");
            }
            store.close().await;
            let restarted_at = now - TimeDelta::seconds(back);
            let (store, _) = Store::open(folder.path(), restarted_at).expect("a store");
            let budget = store.budget(&scope, Quota::Create, restarted_at).await.expect("read");
            assert_eq!(budget.used as usize, spent);
            store.close().await;
        });
    }
}
