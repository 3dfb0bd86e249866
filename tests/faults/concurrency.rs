//! Runs many commands and dashboards on one database at the same time. Each prompt is sent once and counted once
//! against the hourly limit.

use crate::crash::{assert_intact, received_prompts, send_whole_queue};
use crate::disk_errors::start_dashboard;
use crate::support::command::{CommandFixture, RunningCommand};
use docdeck::model::ledger::Quota;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use std::collections::BTreeSet;

#[test]
fn ten_concurrent_commands_on_one_database_each_send_their_prompt_once() {
    let fixture = CommandFixture::new(&[]);
    let texts: Vec<String> = (0..10).map(|n| format!("prompt {n} [sim:seconds=6000]")).collect();
    let running: Vec<RunningCommand> = texts.iter().map(|text| fixture.start(&["new", text])).collect();
    for running in running {
        running.wait_for_exit().expect_exit_code(0);
    }
    let deliveries = assert_intact(&fixture);
    assert_eq!(deliveries.keys().cloned().collect::<BTreeSet<_>>(), texts.into_iter().collect());
    assert!(deliveries.values().all(|kind| *kind == DeliveryKind::Accepted), "{deliveries:?}");
    assert_eq!(
        (received_prompts(&fixture).len(), fixture.sim.requests(Operation::Create), creates_used(&fixture)),
        (10, 10, 10)
    );
}

#[test]
fn ten_engines_on_one_queue_send_each_prompt_once() {
    let fixture = CommandFixture::new(&["create=latency-20"]);
    let texts: Vec<String> = (0..24).map(|n| format!("prompt {n} [sim:seconds=6000]")).collect();
    fixture.with_store(async |store, scope| {
        store.add_batch(scope, &texts, chrono::Utc::now()).await.expect("written");
    });
    std::thread::scope(|threads| {
        for _ in 0..10 {
            threads.spawn(|| send_whole_queue(&fixture));
        }
    });
    let deliveries = assert_intact(&fixture);
    assert!(deliveries.values().all(|kind| *kind == DeliveryKind::Accepted), "{deliveries:?}");
    assert_eq!((received_prompts(&fixture).len(), fixture.sim.requests(Operation::Create)), (24, 24));
}

#[test]
fn two_dashboards_and_ten_commands_on_one_database_send_and_count_each_prompt_once() {
    let fixture = CommandFixture::new(&["create=latency-50"]);
    fixture.run(&["new", "before [sim:seconds=60000]"]).expect_exit_code(0);
    let mut dashboards = [start_dashboard(&fixture), start_dashboard(&fixture)];
    dashboards.iter_mut().for_each(|pty| pty.wait_for_text("before"));
    let running: Vec<RunningCommand> =
        (0..10).map(|n| fixture.start(&["new", &format!("command {n} [sim:seconds=60000]")])).collect();
    for (n, pty) in dashboards.iter_mut().enumerate() {
        pty.send(&format!("ntyped {n} [sim:seconds=60000]\x13"));
    }
    for running in running {
        running.wait_for_exit().expect_exit_code(0);
    }
    // Each dashboard also shows the jobs of the commands and of the other dashboard.
    dashboards.iter_mut().for_each(|pty| pty.wait_for_text(" of 13"));
    for pty in &mut dashboards {
        pty.wait_for("the editor to close", |screen| !screen.contents().contains("New job"));
        pty.send("\x03");
        assert_eq!(pty.wait_for_end(), 0);
    }
    let deliveries = assert_intact(&fixture);
    assert!(deliveries.values().all(|kind| *kind == DeliveryKind::Accepted), "{deliveries:?}");
    assert_eq!(
        (deliveries.len(), received_prompts(&fixture).len(), fixture.sim.requests(Operation::Create)),
        (13, 13, 13)
    );
    assert_eq!(creates_used(&fixture), 13);
}

/// Returns the number of new jobs that the ledger counts against the hourly limit.
fn creates_used(fixture: &CommandFixture) -> u32 {
    fixture.with_store(async |store, scope| {
        store.budget(scope, Quota::Create, fixture.sim.now()).await.expect("read").used
    })
}

#[test]
fn ten_concurrent_commands_with_four_requests_left_send_four_prompts() {
    let fixture = CommandFixture::new(&[]);
    fixture.with_store(async |store, scope| {
        for _ in 0..96 {
            store.spend(scope, Quota::Create, fixture.sim.now()).await.expect("written").expect("a place");
        }
    });
    let running: Vec<RunningCommand> =
        (0..10).map(|n| fixture.start(&["new", &format!("prompt {n} [sim:seconds=60000]")])).collect();
    let mut codes: Vec<i32> = running.into_iter().map(|running| running.wait_for_exit().code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 0, 0, 0, 5, 5, 5, 5, 5, 5]);
    assert_eq!(
        (received_prompts(&fixture).len(), fixture.sim.requests(Operation::Create), creates_used(&fixture)),
        (4, 4, 100)
    );
    assert_eq!(assert_intact(&fixture).len(), 10, "prompts that were not sent are stored");
}
