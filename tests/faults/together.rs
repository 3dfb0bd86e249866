//! Many at once on one record: commands and dashboards. Each prompt goes out once, and the ledger counts each once.

use crate::command_fixture::{CommandFixture, Running};
use crate::crash::{assert_sound, dispatch_all, received};
use crate::room::dashboard;
use docdeck::model::ledger::RateLimited;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use std::collections::BTreeSet;

#[test]
fn ten_at_once_on_one_record_all_get_through_and_each_once() {
    let world = CommandFixture::new(&[]);
    let texts: Vec<String> = (0..10).map(|n| format!("prompt {n} [sim:seconds=6000]")).collect();
    let running: Vec<Running> = texts.iter().map(|text| world.start(&["new", text])).collect();
    for running in running {
        running.end().ends(0);
    }
    let kept = assert_sound(&world);
    assert_eq!(kept.keys().cloned().collect::<BTreeSet<_>>(), texts.into_iter().collect());
    assert!(kept.values().all(|kind| *kind == DeliveryKind::Accepted), "{kept:?}");
    assert_eq!((received(&world).len(), world.sim.requests(Operation::Create), used(&world)), (10, 10, 10));
}

#[test]
fn ten_engines_on_one_queue_send_each_prompt_once() {
    let world = CommandFixture::new(&["create=latency-20"]);
    let texts: Vec<String> = (0..24).map(|n| format!("prompt {n} [sim:seconds=6000]")).collect();
    world.store(async |store, scope| {
        store.add_batch(scope, &texts, chrono::Utc::now()).await.expect("written");
    });
    std::thread::scope(|threads| {
        for _ in 0..10 {
            threads.spawn(|| dispatch_all(&world));
        }
    });
    let kept = assert_sound(&world);
    assert!(kept.values().all(|kind| *kind == DeliveryKind::Accepted), "{kept:?}");
    assert_eq!((received(&world).len(), world.sim.requests(Operation::Create)), (24, 24));
}

#[test]
fn two_dashboards_and_ten_commands_on_one_record_send_each_prompt_once_and_count_it_once() {
    let world = CommandFixture::new(&["create=latency-50"]);
    world.run(&["new", "before [sim:seconds=60000]"]).ends(0);
    let mut dashboards = [dashboard(&world), dashboard(&world)];
    dashboards.iter_mut().for_each(|pty| pty.wait_for_text("before"));
    let running: Vec<Running> =
        (0..10).map(|n| world.start(&["new", &format!("command {n} [sim:seconds=60000]")])).collect();
    for (n, pty) in dashboards.iter_mut().enumerate() {
        pty.send(&format!("ntyped {n} [sim:seconds=60000]\x13"));
    }
    for running in running {
        running.end().ends(0);
    }
    // Each shows what the others did.
    dashboards.iter_mut().for_each(|pty| pty.wait_for_text("1 Jobs 13"));
    for pty in &mut dashboards {
        pty.wait_for("the editor to close", |screen| !screen.contents().contains("New job"));
        pty.send("\x03");
        assert_eq!(pty.wait_for_end(), 0);
    }
    let kept = assert_sound(&world);
    assert!(kept.values().all(|kind| *kind == DeliveryKind::Accepted), "{kept:?}");
    assert_eq!((kept.len(), received(&world).len(), world.sim.requests(Operation::Create)), (13, 13, 13));
    assert_eq!(used(&world), 13);
}

/// Creates that the ledger counts.
fn used(world: &CommandFixture) -> u32 {
    world
        .store(async |store, scope| store.budget(scope, RateLimited::Create, world.sim.now()).await.expect("read").used)
}

#[test]
fn ten_at_once_for_the_last_four_places_of_the_ledger_send_four() {
    let world = CommandFixture::new(&[]);
    world.store(async |store, scope| {
        for _ in 0..96 {
            store.spend(scope, RateLimited::Create, world.sim.now()).await.expect("written").expect("a place");
        }
    });
    let running: Vec<Running> =
        (0..10).map(|n| world.start(&["new", &format!("prompt {n} [sim:seconds=60000]")])).collect();
    let mut codes: Vec<i32> = running.into_iter().map(|running| running.end().code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 0, 0, 0, 5, 5, 5, 5, 5, 5]);
    assert_eq!((received(&world).len(), world.sim.requests(Operation::Create), used(&world)), (4, 4, 100));
    assert_eq!(assert_sound(&world).len(), 10, "what was not sent is kept");
}
