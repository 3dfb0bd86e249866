//! The built program, ended at its worst moments: killed inside and between its transactions, on a disk that is full, on a
//! record that is locked or was cut by a power failure, and ten at a time. After each the record is sound, what was typed
//! and sent is in it, and the service has received nothing twice.

use crate::world::{Ran, Running, World};
use docdeck::api::{Client, ClientOptions};
use docdeck::engine::{Duties, Engine, PollOptions, Setup};
use docdeck::model::change::QueueChange;
use docdeck::model::endpoint::ApiKey;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{DeliveryKind, DraftSlot};
use rusqlite::Connection;
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than anything here takes; a wait that gets there has failed.
const TOO_LONG: Duration = Duration::from_secs(60);

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + TOO_LONG;
    while !holds() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::yield_now();
    }
}

fn file(world: &World) -> PathBuf {
    world.data().join("docdeck.db")
}

fn journal(folder: &Path) -> PathBuf {
    folder.join("docdeck.db-journal")
}

fn integrity(folder: &Path) -> String {
    let file = Connection::open(folder.join("docdeck.db")).expect("opened");
    file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked")
}

/// Every prompt of the record with where it stands.
fn kept(world: &World) -> BTreeMap<String, DeliveryKind> {
    world.store(async |store, scope| {
        let mut all = BTreeMap::new();
        for row in store.jobs(scope).await.expect("rows") {
            for prompt in store.thread(row.key).await.expect("a thread").prompts {
                let before = all.insert(prompt.text, prompt.delivery.kind());
                assert_eq!(before, None, "one prompt is there twice");
            }
        }
        all
    })
}

/// What the service took in, each text once.
fn received(world: &World) -> BTreeSet<String> {
    let prompts = world.sim.prompts();
    let texts: BTreeSet<String> = prompts.iter().map(|(_, text)| text.clone()).collect();
    assert_eq!(texts.len(), prompts.len(), "something went out twice: {prompts:?}");
    texts
}

/// What must hold whatever happened: a sound file, and all that the service has is in the record.
fn assert_sound(world: &World) -> BTreeMap<String, DeliveryKind> {
    let kept = kept(world);
    assert_eq!(integrity(&world.data()), "ok");
    let left_out: Vec<String> = received(world).into_iter().filter(|text| !kept.contains_key(text)).collect();
    assert!(left_out.is_empty(), "received, and not in the record: {left_out:?}");
    kept
}

/// The program, where only its end is of interest.
fn spawn(world: &World, words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docdeck"));
    command.env_clear().envs(world.variables()).args(words).current_dir(world.home.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

/// Kills the program as soon as it writes its n-th journal. False when it has ended well before.
fn killed_at(n: usize, world: &World, words: &[&str]) -> bool {
    let mut child = spawn(world, words);
    let (mut seen, mut is_there) = (0, false);
    let end = Instant::now() + TOO_LONG;
    loop {
        let now = journal(&world.data()).exists();
        seen += usize::from(now && !is_there);
        is_there = now;
        if seen >= n {
            child.kill().expect("killed");
            child.wait().expect("a status");
            return true;
        }
        if let Some(status) = child.try_wait().expect("a status") {
            assert!(status.success(), "{status}");
            return false;
        }
        assert!(Instant::now() < end, "it does not end");
    }
}

fn kill(running: Running) -> Ran {
    running.signal(Signal::KILL);
    running.end()
}

/// An engine of a dashboard on the record, until nothing of it waits any more.
fn dispatch_all(world: &World) {
    world.store(async |store, scope| {
        let client =
            Client::new(scope.clone(), ApiKey::new(world.sim.api_key()).expect("a key"), ClientOptions::default());
        let (news, mut heard) = tokio::sync::mpsc::channel(64);
        let setup = Setup {
            client: client.expect("a client"),
            store: store.clone(),
            scope: scope.clone(),
            poll: PollOptions::default(),
            duties: Duties::All,
            lock_folder: Some(world.data()),
            on_change: None,
            news,
        };
        let engine = Engine::start(setup).await.expect("an engine");
        let end = tokio::time::Instant::now() + TOO_LONG;
        while !store.queued(scope).await.expect("read").is_empty()
            || !store.senders(scope).await.expect("read").is_empty()
        {
            assert!(tokio::time::Instant::now() < end, "it does not go on");
            // What another engine does makes no news at once.
            let _ = tokio::time::timeout(Duration::from_millis(50), heard.recv()).await;
        }
        engine.stop().await;
    });
}

/// Somebody who reads: nobody can commit until that is over, so that a transaction stands still with its journal on disk.
fn reader(world: &World) -> Connection {
    let reader = Connection::open(file(world)).expect("opened");
    reader.busy_timeout(TOO_LONG).expect("set");
    reader.execute_batch("BEGIN").expect("begun");
    let _: i64 = reader.query_row("SELECT count(*) FROM job", [], |row| row.get(0)).expect("read");
    reader
}

fn kill_at_the_commit(world: &World, mut child: Child, reader: Connection) {
    wait_until("the journal", || journal(&world.data()).exists());
    child.kill().expect("killed");
    child.wait().expect("a status");
    drop(reader);
}

#[test]
fn killed_at_the_commit_before_a_prompt_is_sent_nothing_went_out() {
    let world = World::new(&[]);
    world.run(&["new", "first [sim:seconds=6000]"]).ends(0);
    let reader = reader(&world);
    let child = spawn(&world, &["new", "second"]);
    kill_at_the_commit(&world, child, reader);
    dispatch_all(&world);
    assert_eq!((assert_sound(&world).len(), world.sim.requests(Operation::Create)), (1, 1));
}

#[test]
fn killed_at_the_commit_of_an_answer_the_prompt_is_unconfirmed_and_not_sent_again() {
    let world = World::new(&["create=latency-3000"]);
    world.run(&["new", "first [sim:seconds=6000]"]).ends(0);
    let child = spawn(&world, &["new", "second [sim:seconds=6000]"]);
    wait_until("the request", || world.sim.requests(Operation::Create) == 2);
    let reader = reader(&world);
    wait_until("the answer", || world.sim.carried_out(Operation::Create) == 2);
    kill_at_the_commit(&world, child, reader);
    dispatch_all(&world);
    let kept = assert_sound(&world);
    assert_eq!(kept.get("second [sim:seconds=6000]"), Some(&DeliveryKind::Unconfirmed));
    assert_eq!((received(&world).len(), world.sim.requests(Operation::Create)), (2, 2));
}

#[test]
fn killed_whenever_a_journal_is_seen_nothing_goes_out_twice() {
    let world = World::new(&[]);
    world.run(&["new", "first [sim:seconds=6000]"]).ends(0);
    let mut cut = 0;
    // Of journals that are there for a moment only some are seen: how many differs from run to run.
    for n in 1..40 {
        let text = format!("prompt {n:02} [sim:seconds=6000]");
        if !killed_at(n, &world, &["new", &text]) {
            break;
        }
        cut += 1;
        assert_sound(&world);
    }
    let sent = world.sim.requests(Operation::Create);
    dispatch_all(&world);
    let kept = assert_sound(&world);
    let unsettled = [DeliveryKind::Queued, DeliveryKind::Sending];
    assert!(!kept.values().any(|kind| unsettled.contains(kind)), "{kept:?}");
    let queued = world.sim.requests(Operation::Create) - sent;
    assert!(queued <= cut, "{queued} were sent later");
    println!("killed inside {cut} transactions of sending; {} prompts kept, {queued} of them sent later", kept.len());
}

#[test]
fn killed_while_sending_a_prompt_it_is_unconfirmed_and_after_the_answer_it_is_not_sent_again() {
    let world = World::new(&["create=latency-60000"]);
    let running = world.start(&["new", "on its way"]);
    wait_until("the request", || world.sim.requests(Operation::Create) == 1);
    kill(running);
    world.faults(&[]);
    let running = world.start(&["new", "--wait", "answered [sim:seconds=60000]"]);
    wait_until("the answer", || world.sim.carried_out(Operation::Create) == 1);
    kill(running);
    dispatch_all(&world);
    let kept = assert_sound(&world);
    assert_eq!(kept.get("on its way"), Some(&DeliveryKind::Unconfirmed));
    let answered = kept.get("answered [sim:seconds=60000]").copied();
    assert!(matches!(answered, Some(DeliveryKind::Accepted | DeliveryKind::Unconfirmed)), "{answered:?}");
    assert_eq!(world.sim.requests(Operation::Create), 2);
}

#[test]
fn killed_while_all_views_are_loaded_the_next_load_goes_on_from_there() {
    let world = World::with_pages(1_200, &["views=latency-200"]);
    let running = world.start(&["views", "--all", "--format", "json"]);
    wait_until("the third request", || world.sim.requests(Operation::Views) == 3);
    kill(running);
    world.faults(&[]);
    let whole = world.run(&["views", "--all", "--format", "json"]).ends(0).json_of_many_lines();
    assert_eq!(whole["complete"], true);
    let rows = whole["views"].as_array().expect("views").len();
    let pages = rows.div_ceil(250);
    let asked = usize::try_from(world.sim.requests(Operation::Views)).expect("small");
    assert!(pages >= 3 && asked <= pages + 2, "{asked} requests for {pages} answers");
    assert_sound(&world);
}

#[test]
fn an_import_that_is_killed_takes_in_all_or_nothing() {
    let world = World::new(&[]);
    let texts: Vec<String> = (0..400).map(|n| format!("prompt {n} {}", "x".repeat(2_000))).collect();
    world.store(async |store, scope| {
        store.add_batch(scope, &texts, chrono::Utc::now()).await.expect("written");
    });
    world.run(&["export", "all.jsonl"]).ends(0);
    std::fs::remove_file(file(&world)).expect("removed");
    // A record to import into.
    assert_eq!(kept(&world).len(), 0);
    let reader = reader(&world);
    let child = spawn(&world, &["import", "all.jsonl"]);
    kill_at_the_commit(&world, child, reader);
    let after = kept(&world).len();
    assert!(after == 0 || after == texts.len(), "{after} prompts");
    assert_eq!(integrity(&world.data()), "ok");
    world.run(&["import", "all.jsonl"]).ends(0);
    assert_eq!(kept(&world).len(), texts.len());
    assert_eq!(world.sim.requests(Operation::Create), 0, "what comes from a file is not sent");
}

/// A record with some prompts, and its file as it is in the middle of a large transaction that rewrites them: the pages
/// are on disk, and the journal that takes them back.
fn torn(world: &World) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    world.store(async |store, scope| {
        let texts: Vec<String> = (0..200).map(|n| format!("prompt {n:03} {}", "y".repeat(1_000))).collect();
        let rows = store.add_batch(scope, &texts, chrono::Utc::now()).await.expect("written");
        let keys: Vec<_> = rows.iter().map(|row| row.key).collect();
        store.change_queue(&keys, QueueChange::Pause, chrono::Utc::now()).await.expect("written");
        store.save_draft(scope, DraftSlot::NewJob, "half a thought", chrono::Utc::now()).await.expect("written");
    });
    let whole = std::fs::read(file(world)).expect("read");
    let db = Connection::open(file(world)).expect("opened");
    db.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; PRAGMA cache_spill = 1; BEGIN IMMEDIATE;")
        .expect("begun");
    db.execute("UPDATE prompt SET text = text || ' changed'", []).expect("rewritten");
    let (half, undo) = (std::fs::read(file(world)), std::fs::read(journal(&world.data())));
    let (half, undo) = (half.expect("read"), undo.expect("a journal"));
    assert!(half != whole && undo.len() > 1_024, "nothing was spilled");
    db.execute_batch("ROLLBACK").expect("taken back");
    (whole, half, undo)
}

fn cuts(length: usize) -> Vec<usize> {
    let mut cuts = vec![0, 1, 8, 27, 28, 511, 512, 513, 1_024, length / 3, length / 2, length - 1, length];
    cuts.retain(|cut| *cut <= length);
    cuts
}

#[test]
fn a_power_failure_in_the_middle_of_a_transaction_leaves_the_record_as_it_was_before() {
    let world = World::new(&[]);
    let (whole, half, undo) = torn(&world);
    let prompts = kept(&world);
    let mut tried = 0;
    // Pages are written once the journal is: with the whole of it, else with none of them.
    let mut images: Vec<(&[u8], &[u8])> = cuts(undo.len()).into_iter().map(|cut| (&whole[..], &undo[..cut])).collect();
    images.push((&half, &undo));
    for (pages, journal_part) in images {
        std::fs::write(file(&world), pages).expect("written");
        std::fs::write(journal(&world.data()), journal_part).expect("written");
        let ran = world.run(&["show", "--json", "no-such-job"]);
        assert_ne!(ran.code, 101, "{ran:?}");
        assert_eq!(kept(&world), prompts, "the journal was cut at {}", journal_part.len());
        let drafts = world.store(async |store, scope| store.drafts(scope).await.expect("drafts"));
        assert_eq!(drafts.first().map(|draft| draft.text.as_str()), Some("half a thought"));
        assert_eq!(integrity(&world.data()), "ok");
        tried += 1;
    }
    println!("{tried} power failures");
}

#[test]
fn a_journal_that_is_lost_with_pages_half_written_ends_in_a_sound_record_and_keeps_the_damaged_one() {
    let world = World::new(&[]);
    let (_, half, undo) = torn(&world);
    for cut in cuts(undo.len() - 1) {
        std::fs::write(file(&world), &half).expect("written");
        std::fs::write(journal(&world.data()), &undo[..cut]).expect("written");
        let ran = world.run(&["new", &format!("after {cut} [sim:seconds=6000]")]).ends(0);
        assert_eq!(integrity(&world.data()), "ok", "{ran:?}");
        let aside = std::fs::read_dir(world.data()).expect("a folder").flatten();
        let aside = aside.filter(|entry| entry.file_name().to_string_lossy().starts_with("docdeck-corrupt-")).count();
        let known = kept(&world).len();
        assert!(known == 201 || aside > 0, "{known} prompts, {aside} files moved aside; the journal was cut at {cut}");
    }
    received(&world);
}

#[test]
fn on_a_full_disk_nothing_is_sent_what_was_there_stays_and_later_it_goes_on() {
    let world = World::new(&[]);
    world.run(&["new", "before [sim:seconds=6000]"]).ends(0);
    let size = std::fs::metadata(file(&world)).expect("a file").len();
    let large = world.home.path().join("large.md");
    std::fs::write(&large, "z".repeat(600_000)).expect("written");
    // As a quota does: no file gets larger than the record is now.
    let limit = size.div_ceil(512);
    let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" new --file large.md");
    let mut shell = Command::new("/bin/sh");
    shell.env_clear().envs(world.variables()).current_dir(world.home.path()).stdin(Stdio::null());
    let ran = shell.args(["-c", &script, env!("CARGO_BIN_EXE_docdeck")]).output().expect("it ran");
    let said = String::from_utf8_lossy(&ran.stderr);
    println!("on a full disk: {said}");
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("nothing was saved or sent"), "{said}");
    assert_eq!(world.sim.requests(Operation::Create), 1, "{said}");
    assert_eq!(assert_sound(&world).len(), 1);
    world.run(&["new", "--file", "large.md"]).ends(0);
    assert_eq!(assert_sound(&world).len(), 2);
}

#[test]
fn in_a_folder_that_cannot_be_written_nothing_is_sent_and_the_record_is_read() {
    let world = World::new(&[]);
    world.run(&["new", "before [sim:seconds=6000]"]).ends(0);
    // A journal that can't be made, for root as well.
    std::os::unix::fs::symlink("/nonexistent/journal", journal(&world.data())).expect("a link");
    let ran = world.run(&["new", "after"]).ends(2);
    assert!(ran.err.contains("can't be written"), "{ran:?}");
    assert!(world.run(&["jobs"]).ends(0).out.contains("before"));
    std::fs::remove_file(journal(&world.data())).expect("removed");
    assert_eq!((assert_sound(&world).len(), world.sim.requests(Operation::Create)), (1, 1));
}

#[test]
fn a_record_that_is_locked_before_a_prompt_is_written_refuses_it_and_nothing_is_sent() {
    let world = World::new(&[]);
    world.run(&["new", "before [sim:seconds=6000]"]).ends(0);
    let other = Connection::open(file(&world)).expect("opened");
    other.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    let ran = world.run(&["new", "locked out"]).ends(2);
    assert!(ran.err.contains("locked"), "{ran:?}");
    other.execute_batch("ROLLBACK").expect("freed");
    assert_eq!((assert_sound(&world).len(), world.sim.requests(Operation::Create)), (1, 1));
}

#[test]
fn an_answer_that_comes_while_the_record_is_locked_is_written_down_once_it_is_free() {
    let world = World::new(&["create=latency-500"]);
    world.run(&["jobs"]);
    let running = world.start(&["new", "answered in vain? [sim:seconds=6000]"]);
    wait_until("the request", || world.sim.requests(Operation::Create) == 1);
    let other = Connection::open(file(&world)).expect("opened");
    other.busy_timeout(TOO_LONG).expect("set");
    other.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    wait_until("the answer", || world.sim.carried_out(Operation::Create) == 1);
    // Longer than it waits for a lock.
    running.err_line("locked");
    other.execute_batch("ROLLBACK").expect("freed");
    running.end().ends(0);
    let kept = assert_sound(&world);
    assert_eq!(kept.values().collect::<Vec<_>>(), [&DeliveryKind::Accepted]);
    assert_eq!(world.sim.requests(Operation::Create), 1);
}

#[test]
fn ten_at_once_on_one_record_all_get_through_and_each_once() {
    let world = World::new(&[]);
    let texts: Vec<String> = (0..10).map(|n| format!("prompt {n} [sim:seconds=6000]")).collect();
    let running: Vec<Running> = texts.iter().map(|text| world.start(&["new", text])).collect();
    for running in running {
        running.end().ends(0);
    }
    let kept = assert_sound(&world);
    assert_eq!(kept.keys().cloned().collect::<BTreeSet<_>>(), texts.into_iter().collect());
    assert!(kept.values().all(|kind| *kind == DeliveryKind::Accepted), "{kept:?}");
    assert_eq!((received(&world).len(), world.sim.requests(Operation::Create)), (10, 10));
}

#[test]
fn ten_engines_on_one_queue_send_each_prompt_once() {
    let world = World::new(&["create=latency-20"]);
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
