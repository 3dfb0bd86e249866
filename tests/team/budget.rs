//! The team's ledger of the hourly limits.

use crate::proxy::{Cut, Proxy};
use crate::support::postgres::Postgres;
use crate::support::slow::sample;
use crate::{Member, address, connect, now, scope, start_database};
use chrono::TimeDelta;
use docdeck::model::ledger::Quota;
use docdeck::model::team::{MAX_SEND_DELAY_AFTER_BOOKING, TeamRequestPermission, booking_window};
use docdeck::team::{RateLimitWait, TeamConnection, TeamLimit};
use futures_util::future::join_all;
use std::time::Duration;

fn limit(scope: &docdeck::model::endpoint::Scope) -> TeamLimit<'_> {
    TeamLimit { organization: "docs", scope, quota: Quota::Create }
}

async fn connections(server: &Postgres, count: usize) -> Vec<TeamConnection> {
    join_all((0..count).map(|_| async { connect(&server.url("ana")).await.expect("connected") })).await
}

fn used(server: &Postgres) -> String {
    server.sql("SELECT count(*) FROM docdeck.request_slot WHERE used_at > 0")
}

#[tokio::test]
async fn twenty_members_at_the_same_time_book_exactly_the_limit() {
    let Some(server) = start_database(&[]).await else { return };
    let scope = scope("p");
    let members = connections(&server, 20).await;
    let book = async |member: usize| {
        let mut booked = 0;
        for n in 0..8 {
            booked += usize::from(
                members[member].try_book_request(limit(&scope), &format!("{member}-{n}")).await.expect("asked"),
            );
        }
        booked
    };
    let booked: usize = join_all((0..20).map(book)).await.into_iter().sum();
    // A row that another member is just taking may be skipped, so the last ones may need another attempt.
    let mut all = booked;
    while members[0].try_book_request(limit(&scope), &format!("last {all}")).await.expect("asked") {
        all += 1;
    }
    assert_eq!(all, 100);
    let counts = members[1].ledger_usage("docs", &scope).await.expect("read");
    assert_eq!((counts[0].used, counts[1].used), (100, 0));
    // Other limits, projects and organizations are counted on their own.
    let follow_up = TeamLimit { quota: Quota::FollowUp, ..limit(&scope) };
    assert!(members[0].try_book_request(follow_up, "f").await.expect("asked"));
    assert!(members[0].try_book_request(limit(&crate::scope("q")), "q").await.expect("asked"));
    let eve = connect(&server.url("eve")).await.expect("connected");
    assert!(eve.try_book_request(TeamLimit { organization: "other", ..limit(&scope) }, "e").await.expect("asked"));
    assert!(eve.try_book_request(limit(&scope), "e").await.is_err(), "not a member");
    // What was not used is returned.
    let booked = server.sql("SELECT booking FROM docdeck.request_slot WHERE booking LIKE '%-%' LIMIT 1");
    members[2].cancel_booking(limit(&scope), &booked).await.expect("returned");
    assert!(members[3].try_book_request(limit(&scope), "again").await.expect("asked"));
}

/// The database's clock is controlled by moving the times of all requests.
#[tokio::test]
async fn no_hour_ever_has_more_than_the_limit_whenever_the_requests_go_out() {
    let Some(server) = start_database(&[]).await else { return };
    let scope = scope("p");
    let members = connections(&server, 20).await;
    for seed in sample(0..12_u64, 12) {
        server.sql("UPDATE docdeck.request_slot SET used_at = 0, booking = ''");
        let mut random = fastrand::Rng::with_seed(seed);
        // The moments in milliseconds at which requests go out. Real time passes, too.
        let (mut moved, start, mut sent) = (0_i64, now(), Vec::new());
        for step in 0..40 {
            let passed = random.i64(0..600_000);
            moved += passed;
            server.sql(&format!("UPDATE docdeck.request_slot SET used_at = used_at - {passed} WHERE used_at > 0"));
            let wanted: Vec<usize> = (0..random.usize(0..40)).map(|_| random.usize(0..20)).collect();
            let asked_at = moved + (now() - start).num_milliseconds();
            let booked = join_all(wanted.iter().enumerate().map(|(n, member)| {
                let id = format!("{seed} {step} {n}");
                let (connection, limit) = (&members[*member], limit(&scope));
                async move { connection.try_book_request(limit, &id).await.expect("asked") }
            }));
            for _ in booked.await.into_iter().filter(|is_booked| *is_booked) {
                sent.push(asked_at + random.i64(0..MAX_SEND_DELAY_AFTER_BOOKING.num_milliseconds()));
            }
        }
        sent.sort_unstable();
        assert!(sent.len() >= 200, "seed {seed}: only {} requests", sent.len());
        for hour in sent.windows(101) {
            let length = hour[100] - hour[0];
            assert!(length > 3_600_000, "seed {seed}: 101 requests in {length} ms");
        }
    }
}

#[tokio::test]
async fn a_booking_whose_answer_is_lost_counts_once() {
    let Some(server) = start_database(&[]).await else { return };
    let scope = scope("p");
    // The rows of the limit exist.
    let direct = connect(&server.url("ana")).await.expect("connected");
    assert!(direct.try_book_request(limit(&scope), "first").await.expect("booked"));
    for cut in [Cut::Request, Cut::Answer] {
        for at in 0..20 {
            server.sql("UPDATE docdeck.request_slot SET used_at = 0, booking = ''");
            let proxy = Proxy::start(server.folder(), at, cut);
            let booked = async {
                let connection =
                    TeamConnection::open_checked(&address(&proxy.url("ana")), Duration::from_secs(10)).await?;
                connection.try_book_request(limit(&scope), "lost").await
            };
            if booked.await.is_ok() {
                assert!(at > 3, "{at} messages");
                break;
            }
            // The request goes out by the local ledger, and is reported later.
            for _ in 0..2 {
                direct.add_unbooked_request(limit(&scope), "lost", now()).await.expect("reported");
            }
            assert_eq!(used(&server), "1", "{cut:?} {at}");
        }
    }
}

#[tokio::test]
async fn requests_that_were_sent_offline_are_reported_even_beyond_the_limit() {
    let Some(server) = start_database(&[]).await else { return };
    let scope = scope("p");
    let connection = connect(&server.url("ana")).await.expect("connected");
    for n in 0..95 {
        assert!(connection.try_book_request(limit(&scope), &format!("b{n}")).await.expect("booked"));
    }
    for n in 0..10 {
        let at = now() - TimeDelta::minutes(20) + TimeDelta::seconds(n);
        connection.add_unbooked_request(limit(&scope), &format!("r{n}"), at).await.expect("reported");
    }
    assert_eq!(used(&server), "100", "the latest requests are known");
    assert!(!connection.try_book_request(limit(&scope), "more").await.expect("asked"));
    // A wrong clock of a member blocks nothing for longer than an hour.
    connection.add_unbooked_request(limit(&scope), "future", now() + TimeDelta::days(9)).await.expect("reported");
    let shift = booking_window().num_milliseconds() + 60_000;
    server.sql(&format!("UPDATE docdeck.request_slot SET used_at = used_at - {shift}"));
    assert!(connection.try_book_request(limit(&scope), "more").await.expect("asked"));
    assert_eq!(connection.ledger_usage("docs", &scope).await.expect("read")[0].used, 1);
}

#[tokio::test]
async fn the_wait_after_a_429_is_shared_and_the_latest_end_counts() {
    let Some(server) = start_database(&[]).await else { return };
    let scope = scope("p");
    let [ana, bob] = <[TeamConnection; 2]>::try_from(connections(&server, 2).await).expect("two");
    let blocked = async |quota| {
        let counts = bob.ledger_usage("docs", &scope).await.expect("read");
        counts.into_iter().find(|count| count.quota == quota).and_then(|count| count.rate_limit_wait)
    };
    let share = async |minutes, is_estimate| {
        let blocked = RateLimitWait { remaining: TimeDelta::minutes(minutes), is_estimate };
        ana.share_rate_limit_wait(limit(&scope), blocked).await.expect("shared");
    };
    assert_eq!(blocked(Quota::Create).await, None);
    for (minutes, is_estimate, expected) in
        [(1, true, (1, true)), (9, false, (9, false)), (5, true, (9, false)), (9_000, false, (1_440, false))]
    {
        share(minutes, is_estimate).await;
        let RateLimitWait { remaining, is_estimate } = blocked(Quota::Create).await.expect("blocked");
        let expected_time = TimeDelta::minutes(expected.0);
        assert!(remaining <= expected_time && remaining > expected_time - TimeDelta::minutes(1), "{remaining}");
        assert_eq!(is_estimate, expected.1, "{minutes}");
    }
    assert_eq!(blocked(Quota::FollowUp).await, None);
    // A booking and a block of the same limit are counted separately.
    assert!(bob.try_book_request(limit(&scope), "b").await.expect("booked"));
    assert_eq!(bob.ledger_usage("docs", &scope).await.expect("read")[0].used, 1);
    assert!(blocked(Quota::Create).await.is_some());
    // A wait that is over, and one that was written with a wrong clock.
    for end in [1_i64, i64::MAX / 2] {
        server.sql(&format!("UPDATE docdeck.rate_limit_block SET blocked_until = {end}"));
        assert_eq!(blocked(Quota::Create).await, None, "{end}");
        share(3, false).await;
        assert!(
            blocked(Quota::Create).await.is_some_and(|blocked| blocked.remaining <= TimeDelta::minutes(3)),
            "{end}"
        );
    }
}

#[tokio::test]
async fn what_the_database_may_have_lost_is_reported_again() {
    let Some(server) = start_database(&[]).await else { return };
    let ana = Member::join(&server, "ana", "p").await;
    let spend = async |permission| {
        ana.store.spend_with_team_permission(&ana.scope, Quota::Views, now(), permission).await.expect("stored")
    };
    assert!(spend(TeamRequestPermission::Booked { booking_id: "b".to_owned() }).await.is_ok());
    assert!(spend(TeamRequestPermission::Unreachable { booking_id: "u".to_owned() }).await.is_ok());
    assert!(spend(TeamRequestPermission::LimitReached { until: now() }).await.is_err());
    let unreported =
        async || ana.store.unreported_requests(&ana.scope, now() - TimeDelta::hours(1)).await.expect("read");
    let uses = unreported().await;
    assert_eq!(uses.iter().map(|unreported| unreported.booking_id.as_str()).collect::<Vec<_>>(), ["u"]);
    ana.store.delete_reported_requests(&uses).await.expect("stored");
    assert_eq!(unreported().await, []);
    ana.store.reset_team_exchange(&ana.scope).await.expect("stored");
    assert_eq!(unreported().await.len(), 2);
}
