//! Whatever the service's clock does between two requests, and however often docdeck is begun anew: no rolling hour of its time
//! holds more requests than are allowed.

use chrono::TimeDelta;
use docdeck::model::Time;
use docdeck::model::endpoint::Scope;
use docdeck::model::ledger::{Limited, WINDOW};
use docdeck::store::Store;
use proptest::prelude::*;

/// What happens between requests.
#[derive(Debug, Clone)]
enum Step {
    /// As many requests as may go out, this far apart (ms).
    Burst(usize, i64),
    /// The service's clock goes on, or is set, by so many seconds.
    Clock(i64),
    /// The last request never reached the service.
    Refund,
    /// A 429, for so many seconds.
    Limited(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let clock = prop_oneof![4 => -4000_i64..4000, 2 => -120_i64..120, 1 => -1_000_000_i64..1_000_000];
    let step = prop_oneof![
        5 => (1_usize..140, 0_i64..40_000).prop_map(|(n, apart)| Step::Burst(n, apart)),
        5 => clock.prop_map(Step::Clock),
        1 => Just(Step::Refund),
        1 => (1_i64..4000).prop_map(Step::Limited),
    ];
    prop::collection::vec(step, 1..14)
}

/// The most requests in any hour that ends with one of them.
fn most_in_an_hour(granted: &[Time]) -> usize {
    let inside = |end: Time| granted.iter().filter(|at| **at <= end && end - **at < WINDOW).count();
    granted.iter().map(|end| inside(*end)).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_hour_of_the_services_time_holds_more_than_the_limit_whatever_the_order_of_times(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let store = Store::in_memory().expect("a store");
            let scope = Scope { base_url: "https://docs.example".to_owned(), project: "p".to_owned(), organization: None };
            let limited = Limited::Views;
            let (mut now, mut granted, mut rests) = (Time::from_timestamp(1_800_000_000, 0).expect("a time"), vec![], None);
            for step in steps {
                match step {
                    Step::Burst(n, apart) => for _ in 0..n {
                        now += TimeDelta::milliseconds(apart);
                        match store.spend(&scope, limited, now).await.expect("an answer") {
                            Ok(budget) => {
                                assert!(rests.is_none_or(|until| until <= now), "a 429 outranks the count");
                                assert!(budget.used >= 1 && budget.used <= budget.limit, "{budget:?}");
                                granted.push(now);
                            }
                            Err(until) => {
                                assert!(until > now, "there is something to wait for");
                                break;
                            }
                        }
                    },
                    Step::Clock(seconds) => now += TimeDelta::seconds(seconds),
                    Step::Refund => if let Some(at) = granted.pop() {
                        store.refund(&scope, limited, at).await.expect("given back");
                    },
                    Step::Limited(seconds) => {
                        let until = now + TimeDelta::seconds(seconds);
                        store.mark_full(&scope, limited, until).await.expect("kept");
                        rests = rests.max(Some(until));
                    }
                }
                assert!(most_in_an_hour(&granted) <= limited.limit() as usize, "{granted:?}");
            }
            store.close().await;
        });
    }

    /// The record outlives the program, and a clock that is set back in between frees nothing.
    #[test]
    fn what_was_spent_before_a_restart_still_counts(spent in 1_usize..100, back in 0_i64..100_000) {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let scope = Scope { base_url: "https://docs.example".to_owned(), project: "p".to_owned(), organization: None };
            let now = Time::from_timestamp(1_800_000_000, 0).expect("a time");
            let (store, _) = Store::open(folder.path(), now).expect("a store");
            for _ in 0..spent {
                store.spend(&scope, Limited::Create, now).await.expect("kept").expect("a place");
            }
            store.close().await;
            let then = now - TimeDelta::seconds(back);
            let (store, _) = Store::open(folder.path(), then).expect("a store");
            let budget = store.budget(&scope, Limited::Create, then).await.expect("read");
            assert_eq!(budget.used as usize, spent);
            store.close().await;
        });
    }
}
