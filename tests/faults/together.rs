//! Many commands and dashboards on one database at once: each prompt is sent once, and the ledger counts it once.

use crate::command_fixture::{CommandFixture, Running};
use crate::crash::{assert_intact, dispatch_all, received};
use crate::disk_errors::start_dashboard;
use docdeck::model::ledger::RateLimited;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use std::collections::BTreeSet;

#[test]
fn ten_concurrent_commands_on_one_database_each_send_their_prompt_once() {
    let fixture = CommandFixture::new(&[]);
    let texts: Vec<String> = (0..10).map(|n| format!("prompt {n} [sim:seconds=6000]")).collect();
    let running: Vec<Running> = texts.iter().map(|text| fixture.start(&["new", text])).collect();
    for running in running {
        running.end().ends(0);
    }
    let deliveries = assert_intact(&fixture);
    assert_eq!(deliveries.keys().cloned().collect::<BTreeSet<_>>(), texts.into_iter().collect());
    assert!(deliveries.values().all(|kind| *kind == DeliveryKind::Accepted), "{deliveries:?}");
    assert_eq!(
        (received(&fixture).len(), fixture.sim.requests(Operation::Create), creates_used(&fixture)),
        (10, 10, 10)
    );
}

#[test]
fn ten_engines_on_one_queue_send_each_prompt_once() {
    let fixture = CommandFixture::new(&["create=latency-20"]);
    let texts: Vec<String> = (0..24).map(|n| format!("prompt {n} [sim:seconds=6000]")).collect();
    fixture.store(async |store, scope| {
        store.add_batch(scope, &texts, chrono::Utc::now()).await.expect("written");
    });
    std::thread::scope(|threads| {
        for _ in 0..10 {
            threads.spawn(|| dispatch_all(&fixture));
        }
    });
    let deliveries = assert_intact(&fixture);
    assert!(deliveries.values().all(|kind| *kind == DeliveryKind::Accepted), "{deliveries:?}");
    assert_eq!((received(&fixture).len(), fixture.sim.requests(Operation::Create)), (24, 24));
}

#[test]
fn two_dashboards_and_ten_commands_on_one_database_send_and_count_each_prompt_once() {
    let fixture = CommandFixture::new(&["create=latency-50"]);
    fixture.run(&["new", "before [sim:seconds=60000]"]).ends(0);
    let mut dashboards = [start_dashboard(&fixture), start_dashboard(&fixture)];
    dashboards.iter_mut().for_each(|pty| pty.wait_for_text("before"));
    let running: Vec<Running> =
        (0..10).map(|n| fixture.start(&["new", &format!("command {n} [sim:seconds=60000]")])).collect();
    for (n, pty) in dashboards.iter_mut().enumerate() {
        pty.send(&format!("ntyped {n} [sim:seconds=60000]\x13"));
    }
    for running in running {
        running.end().ends(0);
    }
    // Each dashboard shows the jobs of all others.
    dashboards.iter_mut().for_each(|pty| pty.wait_for_text("1 Jobs 13"));
    for pty in &mut dashboards {
        pty.wait_for("the editor to close", |screen| !screen.contents().contains("New job"));
        pty.send("\x03");
        assert_eq!(pty.wait_for_end(), 0);
    }
    let deliveries = assert_intact(&fixture);
    assert!(deliveries.values().all(|kind| *kind == DeliveryKind::Accepted), "{deliveries:?}");
    assert_eq!((deliveries.len(), received(&fixture).len(), fixture.sim.requests(Operation::Create)), (13, 13, 13));
    assert_eq!(creates_used(&fixture), 13);
}

/// Number of creates that the ledger counts.
fn creates_used(fixture: &CommandFixture) -> u32 {
    fixture.store(async |store, scope| {
        store.budget(scope, RateLimited::Create, fixture.sim.now()).await.expect("read").used
    })
}

#[test]
fn ten_concurrent_commands_with_four_requests_left_send_four_prompts() {
    let fixture = CommandFixture::new(&[]);
    fixture.store(async |store, scope| {
        for _ in 0..96 {
            store.spend(scope, RateLimited::Create, fixture.sim.now()).await.expect("written").expect("a place");
        }
    });
    let running: Vec<Running> =
        (0..10).map(|n| fixture.start(&["new", &format!("prompt {n} [sim:seconds=60000]")])).collect();
    let mut codes: Vec<i32> = running.into_iter().map(|running| running.end().code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 0, 0, 0, 5, 5, 5, 5, 5, 5]);
    assert_eq!(
        (received(&fixture).len(), fixture.sim.requests(Operation::Create), creates_used(&fixture)),
        (4, 4, 100)
    );
    assert_eq!(assert_intact(&fixture).len(), 10, "what was not sent is kept");
}
