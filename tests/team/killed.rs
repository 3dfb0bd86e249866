//! Kills the built program at each message to the team's database while it books a request, with the request under way,
//! and while it takes or has the lease for polling. Nothing is sent twice, the ledger has every request that went out,
//! and another member continues.

use crate::holding_proxy::{HoldingProxy, Then};
use crate::programs::{End, Team, block_on, kill, wait_until};
use crate::proxy::Cut;
use crate::support::scope_of;
use crate::support::slow::{runs_all_cases, sample};
use crate::{connect, member_settings, now};
use docdeck::model::ledger::Quota;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use docdeck::store::Store;
use docdeck::team::{Exchange, LEASE_DURATION, TeamLimit};
use std::time::Instant;

/// Books requests of the team's limit until none is left, and returns how many.
fn book_the_rest(team: &Team) -> u64 {
    let scope = scope_of(&team.fixture.sim);
    let limit = TeamLimit { organization: "docs", scope: &scope, quota: Quota::Create };
    block_on(async {
        let connection = connect(&team.server.url("bob")).await.expect("connected");
        let mut booked = 0;
        while connection.try_book_request(limit, &format!("of bob {booked}")).await.expect("an answer") {
            booked += 1;
        }
        booked
    })
}

/// Returns how many requests the team's ledger counts.
fn used(team: &Team) -> u64 {
    team.server.sql("SELECT count(*) FROM docdeck.request_slot WHERE used_at > 0").parse().expect("a count")
}

#[test]
fn killed_at_any_message_while_it_books_docdeck_sends_nothing_twice_and_every_request_counts() {
    let Some(team) = Team::new() else { return };
    let sent = || team.fixture.sim.requests(Operation::Create);
    let mut kills: u64 = 0;
    for cut in [Cut::Request, Cut::Answer] {
        for at in sample(0..60, 7) {
            let prompt = format!("{cut:?} {at} [sim:seconds=6000]");
            if team.kill_at(at, cut, &["new", &prompt], || false) == End::Finished {
                assert!(at > 8, "only {at} messages");
                break;
            }
            kills += 1;
        }
    }
    // Killed while the request is under way, and when the service has carried it out; booked, and without the database.
    team.run("ana", &["team", "sync"]);
    let used_before = used(&team);
    let offline = HoldingProxy::start(team.server.folder(), 0, Cut::Request, Then::Close);
    let (booked, unbooked) = (team.server.url("ana"), offline.url("ana"));
    let mut interrupted = Vec::new();
    for (fault, carried_out) in [("create=latency-60000", false), ("create=latency-1000", true)] {
        for (url, how) in [(&booked, "booked"), (&unbooked, "offline")] {
            team.fixture.set_faults(&[fault]);
            let (before, done_before) = (sent(), team.fixture.sim.carried_out_count(Operation::Create));
            let prompt = format!("{fault} {how} [sim:seconds=6000]");
            let child = team.spawn("ana", url, &["new", &prompt]);
            wait_until("the request", || sent() > before);
            wait_until("the job", || {
                !carried_out || team.fixture.sim.carried_out_count(Operation::Create) > done_before
            });
            kill(child);
            kills += 1;
            interrupted.push((prompt, carried_out));
        }
    }
    assert!(offline.is_reached());
    team.fixture.set_faults(&[]);
    let before = sent();
    // The next start records what became of the prompts that were being sent, and sends none of them.
    team.run("ana", &["new", "The next one [sim:seconds=6000]"]);
    assert_eq!(sent(), before + 1);
    for user in ["ana", "bob", "ana", "bob"] {
        team.run(user, &["team", "sync"]);
    }
    let (received, of_ana, of_bob) = (team.received_prompts(), team.stored_prompts("ana"), team.stored_prompts("bob"));
    for (prompt, carried_out) in &interrupted {
        // If the service has carried the request out, its answer may have arrived before the end.
        let is_accepted = *carried_out && of_ana[prompt] == DeliveryKind::Accepted;
        assert!(is_accepted || of_ana[prompt] == DeliveryKind::Unconfirmed, "{prompt}: {:?}", of_ana[prompt]);
    }
    let unsettled = [DeliveryKind::Queued, DeliveryKind::Sending];
    assert!(!of_ana.values().any(|kind| unsettled.contains(kind)), "{of_ana:?}");
    assert!(received.iter().all(|prompt| of_ana.contains_key(prompt)), "{received:?} {of_ana:?}");
    let accepted: Vec<&String> =
        of_ana.iter().filter(|(_, kind)| **kind == DeliveryKind::Accepted).map(|of| of.0).collect();
    assert_eq!(of_bob.keys().collect::<Vec<_>>(), accepted, "what has an id is shared");
    // A booking of a killed docdeck may be lost, but no request goes out without one.
    let used = used(&team);
    assert!(used >= sent() && used <= sent() + kills, "{used} used, {} sent, {kills} kills", sent());
    let interrupted = u64::try_from(interrupted.len()).expect("small");
    assert_eq!(used - used_before, interrupted + 1, "requests that went out, each counted once");
    let rest = book_the_rest(&team);
    assert!(sent() + rest <= 100, "{} of ana and {rest} of others", sent());
    println!("killed {kills} times; {} requests went out, {used} are counted", sent());
}

#[test]
fn killed_at_any_message_while_it_takes_or_has_the_lease_docdeck_blocks_nobody_for_long() {
    let Some(team) = Team::new() else { return };
    let id = team.run("ana", &["new", "Shared [sim:seconds=6000]"]).trim().to_owned();
    team.run("bob", &["team", "sync"]);
    let store = Store::in_memory().expect("a store");
    let scope = scope_of(&team.fixture.sim);
    let mut token: i64 = 0;
    let mut ends = Vec::new();
    for cut in [Cut::Request, Cut::Answer] {
        for at in sample(0..60, 7) {
            let context = format!("{cut:?} {at}");
            // After the lease, docdeck sends nothing until it renews it.
            ends.push(team.kill_at(at, cut, &["wait", &id], || !team.holder().is_empty()));
            let limit = LEASE_DURATION.as_secs();
            let too_long =
                format!("SELECT count(*) FROM docdeck.lease WHERE expires_at > now() + interval '{limit} seconds'");
            assert_eq!(team.server.sql(&too_long), "0", "{context}");
            // The time after which the lease expires passes.
            team.server.sql("UPDATE docdeck.lease SET expires_at = now()");
            token = block_on(async {
                store.join_team(&scope, "docs").await.expect("joined");
                let connection = connect(&team.server.url("bob")).await.expect("connected");
                let mut exchange = Exchange::start(&connection, &store, &scope, member_settings("bob"))
                    .await
                    .expect("started")
                    .expect("shared");
                while exchange.receive_next_changes(now()).await.expect("received") != docdeck::team::ExchangeStep::Last
                {
                }
                assert_eq!(exchange.take_lease_or_get_wait("of bob").await.expect("taken over"), None, "{context}");
                let after: i64 = team.server.sql("SELECT token FROM docdeck.lease").parse().expect("a number");
                assert!(after > token, "{context}: {after} after {token}");
                exchange.release_poll_lease().await.expect("released");
                after
            });
            if ends.last() == Some(&End::Enough) {
                break;
            }
        }
    }
    assert!(ends.contains(&End::AtMessage) && ends.contains(&End::Enough), "{ends:?}");
    assert_eq!(team.received_prompts().len(), 1);
}

#[test]
fn when_the_docdeck_with_the_lease_is_killed_another_one_polls() {
    let Some(team) = Team::new() else { return };
    let id = team.run("ana", &["new", "Shared [sim:seconds=6000]"]).trim().to_owned();
    team.run("bob", &["team", "sync"]);
    let polls = || team.fixture.sim.requests(Operation::GetJob);
    let of_ana = team.spawn("ana", &team.server.url("ana"), &["wait", &id]);
    wait_until("the lease", || !team.holder().is_empty());
    let holder = team.holder();
    // Without the slow tests, the lease expires earlier than it would.
    let mut of_bob = None;
    if runs_all_cases() {
        of_bob = Some(team.spawn("bob", &team.server.url("bob"), &["wait", &id]));
        let members = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'bob'";
        wait_until("bob", || team.server.sql(members) == "1");
    }
    kill(of_ana);
    let killed_at = Instant::now();
    assert_eq!(team.holder(), holder, "a killed docdeck releases nothing");
    let of_bob = of_bob.unwrap_or_else(|| {
        team.server.sql("UPDATE docdeck.lease SET expires_at = now() + interval '1 second'");
        team.spawn("bob", &team.server.url("bob"), &["wait", &id])
    });
    wait_until("bob's lease", || ![String::new(), holder.clone()].contains(&team.holder()));
    println!("taken over after {:.1} s", killed_at.elapsed().as_secs_f64());
    let before = polls();
    wait_until("bob's poll", || polls() > before);
    kill(of_bob);
    assert_eq!(team.received_prompts().len(), 1);
}
