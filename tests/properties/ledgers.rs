//! Properties of ledgers for any changes of the clock and any number of restarts: no rolling hour contains more
//! requests than the limit, and no wait is longer than an hour, or a day after a 429.
//!
//! Hours are measured in time that the clock counted: setting it back subtracts nothing, and setting it forward counts
//! as time that has passed.

use chrono::TimeDelta;
use docdeck::model::Time;
use docdeck::model::endpoint::Scope;
use docdeck::model::ledger::{LONGEST_WAIT, RateLimited, WINDOW, Wait};
use docdeck::store::Store;
use proptest::prelude::*;

/// What happens between requests.
#[derive(Debug, Clone)]
enum Step {
    /// As many requests as possible, up to this number, this far apart (ms).
    Burst(usize, i64),
    /// Moves the clock by this many seconds, possibly back.
    Clock(i64),
    /// Reads the budget.
    ReadBudget,
    /// The last request never reached the service, so it is refunded.
    Refund,
    /// A 429 with this many seconds to wait.
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

/// The largest number of requests in an hour that ends with one of them.
fn most_in_an_hour(granted: &[i64]) -> usize {
    let hour = WINDOW.num_milliseconds();
    let inside = |end: i64| granted.iter().filter(|at| **at <= end && end - **at < hour).count();
    granted.iter().map(|end| inside(*end)).max().unwrap_or(0)
}

/// A clock that can be changed.
struct Clock {
    now: Time,
    /// The total time that it counted, in ms.
    counted: i64,
}

impl Clock {
    fn go(&mut self, by: TimeDelta) {
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
            let limited = RateLimited::Views;
            let mut clock = Clock { now: Time::from_timestamp(1_800_000_000, 0).expect("a time"), counted: 0 };
            let (mut granted, mut blocked): (Vec<(Time, i64)>, i64) = (vec![], 0);
            for step in steps {
                match step {
                    Step::Burst(n, apart) => for _ in 0..n {
                        clock.go(TimeDelta::milliseconds(apart));
                        match store.spend(&scope, limited, clock.now).await.expect("an answer") {
                            Ok(budget) => {
                                assert!(blocked <= clock.counted, "a 429 takes precedence over the count");
                                assert!(budget.used >= 1 && budget.used <= budget.limit, "{budget:?}");
                                granted.push((clock.now, clock.counted));
                            }
                            Err(wait) => {
                                let longest = if blocked > 0 { LONGEST_WAIT } else { WINDOW };
                                assert!(wait.until > clock.now && wait.until <= clock.now + longest, "{wait:?}");
                                break;
                            }
                        }
                    },
                    Step::Clock(seconds) => clock.go(TimeDelta::seconds(seconds)),
                    Step::ReadBudget => {
                        let budget = store.budget(&scope, limited, clock.now).await.expect("read");
                        let latest = clock.now + if blocked > 0 { LONGEST_WAIT } else { WINDOW };
                        assert!(budget.resets_at.is_none_or(|at| at > clock.now && at <= latest), "{budget:?}");
                    }
                    Step::Refund => if let Some((at, _)) = granted.pop() {
                        store.refund(&scope, limited, at).await.expect("refunded");
                    },
                    Step::Limited(seconds) => {
                        let wait = Wait { until: clock.now + TimeDelta::seconds(seconds), is_estimate: false };
                        store.mark_full(&scope, limited, wait, clock.now).await.expect("recorded");
                        blocked = blocked.max(clock.counted + 1000 * seconds);
                    }
                }
                let counted: Vec<i64> = granted.iter().map(|(_, counted)| *counted).collect();
                assert!(most_in_an_hour(&counted) <= limited.limit() as usize, "{granted:?}");
            }
            // If the clock then runs normally, two hours or the end of the 429 make all requests available.
            store.budget(&scope, limited, clock.now).await.expect("read");
            let mut after = clock.now;
            for _ in 0..25 {
                after += TimeDelta::hours(1);
                store.budget(&scope, limited, after).await.expect("read");
            }
            assert_eq!(store.budget(&scope, limited, after).await.expect("read").used, 0);
            assert!(store.spend(&scope, limited, after).await.expect("an answer").is_ok());
            store.close().await;
        });
    }

    /// The ledger survives a restart, and setting the clock back in between frees nothing.
    #[test]
    fn requests_before_a_restart_still_count(spent in 1_usize..100, back in 0_i64..100_000) {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let scope = Scope { base_url: "https://docs.example".to_owned(), project: "p".to_owned(), organization: None };
            let now = Time::from_timestamp(1_800_000_000, 0).expect("a time");
            let (store, _) = Store::open(folder.path(), now).expect("a store");
            for _ in 0..spent {
                store.spend(&scope, RateLimited::Create, now).await.expect("recorded").expect("a free request");
            }
            store.close().await;
            let then = now - TimeDelta::seconds(back);
            let (store, _) = Store::open(folder.path(), then).expect("a store");
            let budget = store.budget(&scope, RateLimited::Create, then).await.expect("read");
            assert_eq!(budget.used as usize, spent);
            store.close().await;
        });
    }
}
