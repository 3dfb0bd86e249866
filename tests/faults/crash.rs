//! The built program, killed: inside and between its transactions, and at any moment. After each the record is sound, what
//! was sent is in it, and the service has received nothing twice. What the other rooms of this kind need is here as well.

use crate::command_fixture::{CommandFixture, Ran, Running};
use crate::room::dashboard;
use docdeck::api::{Client, ClientOptions};
use docdeck::engine::{Engine, EngineSetup, LeaseRoles, PollOptions};
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
pub(crate) const TOO_LONG: Duration = Duration::from_secs(60);

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + TOO_LONG;
    while !holds() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::yield_now();
    }
}

pub(crate) fn file(world: &CommandFixture) -> PathBuf {
    world.data().join("docdeck.db")
}

pub(crate) fn journal(folder: &Path) -> PathBuf {
    folder.join("docdeck.db-journal")
}

/// Whether a transaction is under way: between two of them the journal is empty.
fn has_journal(world: &CommandFixture) -> bool {
    std::fs::metadata(journal(&world.data())).is_ok_and(|found| found.len() > 0)
}

pub(crate) fn integrity(folder: &Path) -> String {
    let file = Connection::open(folder.join("docdeck.db")).expect("opened");
    file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked")
}

/// Every prompt of the record with where it stands.
pub(crate) fn kept(world: &CommandFixture) -> BTreeMap<String, DeliveryKind> {
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
pub(crate) fn received(world: &CommandFixture) -> BTreeSet<String> {
    let prompts = world.sim.prompts();
    let texts: BTreeSet<String> = prompts.iter().map(|(_, text)| text.clone()).collect();
    assert_eq!(texts.len(), prompts.len(), "something went out twice: {prompts:?}");
    texts
}

/// What must hold whatever happened: a sound file, and all that the service has is in the record.
pub(crate) fn assert_sound(world: &CommandFixture) -> BTreeMap<String, DeliveryKind> {
    let kept = kept(world);
    assert_eq!(integrity(&world.data()), "ok");
    let left_out: Vec<String> = received(world).into_iter().filter(|text| !kept.contains_key(text)).collect();
    assert!(left_out.is_empty(), "received, and not in the record: {left_out:?}");
    kept
}

/// The program, where only its end is of interest.
pub(crate) fn spawn(world: &CommandFixture, words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docdeck"));
    command.env_clear().envs(world.variables()).args(words).current_dir(world.home.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

/// Kills the program as soon as it writes its n-th journal. False when it has ended well before.
fn killed_at(n: usize, world: &CommandFixture, words: &[&str]) -> bool {
    let mut child = spawn(world, words);
    let (mut seen, mut is_there) = (0, false);
    let end = Instant::now() + TOO_LONG;
    loop {
        let now = has_journal(world);
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

pub(crate) fn kill(running: Running) -> Ran {
    running.signal(Signal::KILL);
    running.end()
}

/// An engine of a dashboard on the record, until nothing of it waits any more.
pub(crate) fn dispatch_all(world: &CommandFixture) {
    world.store(async |store, scope| {
        let client =
            Client::new(scope.clone(), ApiKey::new(world.sim.api_key()).expect("a key"), ClientOptions::default());
        let (news, mut heard) = tokio::sync::mpsc::channel(64);
        let setup = EngineSetup {
            client: client.expect("a client"),
            store: store.clone(),
            scope: scope.clone(),
            poll: PollOptions::default(),
            duties: LeaseRoles::All,
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
pub(crate) fn reader(world: &CommandFixture) -> Connection {
    let reader = Connection::open(file(world)).expect("opened");
    reader.busy_timeout(TOO_LONG).expect("set");
    reader.execute_batch("BEGIN").expect("begun");
    let _: i64 = reader.query_row("SELECT count(*) FROM job", [], |row| row.get(0)).expect("read");
    reader
}

pub(crate) fn kill_at_the_commit(world: &CommandFixture, mut child: Child, reader: Connection) {
    wait_until("the journal", || has_journal(world));
    child.kill().expect("killed");
    child.wait().expect("a status");
    drop(reader);
}

#[test]
fn killed_at_the_commit_before_a_prompt_is_sent_nothing_went_out() {
    let world = CommandFixture::new(&[]);
    world.run(&["new", "first [sim:seconds=6000]"]).ends(0);
    let reader = reader(&world);
    let child = spawn(&world, &["new", "second"]);
    kill_at_the_commit(&world, child, reader);
    dispatch_all(&world);
    assert_eq!((assert_sound(&world).len(), world.sim.requests(Operation::Create)), (1, 1));
}

#[test]
fn killed_at_the_commit_of_an_answer_the_prompt_is_unconfirmed_and_not_sent_again() {
    let world = CommandFixture::new(&["create=latency-3000"]);
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
    let world = CommandFixture::new(&[]);
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
    assert_eq!(world.sim.requests(Operation::Create), sent, "what a killed command left is for the user to resume");
    let paused = kept.values().filter(|kind| **kind == DeliveryKind::Paused).count();
    println!("killed inside {cut} transactions of sending; {} prompts kept, {paused} of them paused", kept.len());
}

#[test]
fn a_command_that_is_killed_before_it_sent_its_prompt_leaves_it_paused() {
    let world = CommandFixture::new(&[]);
    let id = world.run(&["new", "first [sim:seconds=1]"]).ends(0).out.trim().to_owned();
    world.faults(&["create=429", "message=429"]);
    let new = world.start(&["new", "--wait", "a new job"]);
    wait_until("the refusal of the new job", || world.sim.requests(Operation::Create) == 2);
    let follow = world.start(&["follow", &id, "--wait", "a follow-up"]);
    wait_until("the refusal of the follow-up", || world.sim.requests(Operation::FollowUp) == 1);
    let states = || {
        let db = Connection::open(file(&world)).expect("opened");
        let mut ask = db.prepare("SELECT state FROM prompt WHERE state = 'sending'").expect("a question");
        ask.exists([]).expect("an answer")
    };
    wait_until("both wait for the limit", || !states());
    kill(new);
    kill(follow);
    world.faults(&[]);
    // The limit is over.
    let db = Connection::open(file(&world)).expect("opened");
    db.execute_batch("UPDATE prompt SET until = NULL; UPDATE ledger SET blocked_until = NULL").expect("written");
    drop(db);
    dispatch_all(&world);
    let kept = assert_sound(&world);
    assert_eq!(
        (kept.get("a new job"), kept.get("a follow-up")),
        (Some(&DeliveryKind::Paused), Some(&DeliveryKind::Paused))
    );
    assert_eq!((world.sim.requests(Operation::Create), world.sim.requests(Operation::FollowUp)), (2, 1));
}

#[test]
fn killed_while_sending_a_prompt_it_is_unconfirmed_and_after_the_answer_it_is_not_sent_again() {
    let world = CommandFixture::new(&["create=latency-60000"]);
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
    let world = CommandFixture::with_pages(1_200, &["views=latency-200"]);
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
fn killed_at_the_commit_of_an_answer_of_all_views_the_next_load_asks_for_that_answer_and_no_other_again() {
    let world = CommandFixture::with_pages(1_200, &["views=latency-1000"]);
    let child = spawn(&world, &["views", "--all", "--format", "json"]);
    wait_until("the third request", || world.sim.requests(Operation::Views) == 3);
    let reader = reader(&world);
    kill_at_the_commit(&world, child, reader);
    world.faults(&[]);
    let kept = |table: &str| -> u32 {
        let db = Connection::open(file(&world)).expect("opened");
        db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).expect("a count")
    };
    assert_eq!((kept("views_answer"), kept("views_part")), (2, 2), "of the third there is nothing");
    let whole = world.run(&["views", "--all", "--format", "json"]).ends(0).json_of_many_lines();
    assert_eq!(whole["complete"], true);
    let pages = whole["views"].as_array().expect("views").len().div_ceil(250);
    assert_eq!(usize::try_from(world.sim.requests(Operation::Views)).expect("small"), pages + 1);
    assert_sound(&world);
}

#[test]
fn an_import_that_is_killed_takes_in_all_or_nothing() {
    let world = CommandFixture::new(&[]);
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

/// Numbers that look random and are the same every time (an LCG's upper bits).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end.max(1)
    }
}

/// Kills the program after so many milliseconds, if it still runs.
pub(crate) fn kill_after(mut child: Child, millis: usize) -> bool {
    let end = Instant::now() + Duration::from_millis(u64::try_from(millis).expect("few"));
    while Instant::now() < end {
        if child.try_wait().expect("a status").is_some() {
            return false;
        }
        std::thread::yield_now();
    }
    child.kill().expect("killed");
    child.wait().expect("a status");
    true
}

#[test]
fn killed_at_any_moment_of_sending_nothing_is_lost_and_nothing_goes_out_twice() {
    let world = CommandFixture::new(&["create=latency-20"]);
    world.run(&["new", "first [sim:seconds=6000]"]).ends(0);
    let begin = Instant::now();
    world.run(&["new", "second [sim:seconds=6000]"]).ends(0);
    // As long as it takes on this computer now, and a little longer.
    let span = usize::try_from(begin.elapsed().as_millis()).expect("short") * 5 / 4;
    let (mut dice, mut killed) = (Dice(7), 0);
    for n in 0..24 {
        let text = format!("prompt {n:02} [sim:seconds=6000]");
        killed += usize::from(kill_after(spawn(&world, &["new", &text]), dice.below(span)));
        assert_eq!(integrity(&world.data()), "ok");
    }
    assert_sound(&world);
    dispatch_all(&world);
    let kept = assert_sound(&world);
    let unsettled = [DeliveryKind::Queued, DeliveryKind::Sending];
    assert!(!kept.values().any(|kind| unsettled.contains(kind)), "{kept:?}");
    let unconfirmed = kept.values().filter(|kind| **kind == DeliveryKind::Unconfirmed).count();
    println!("{killed} kills within {span} ms: {} prompts kept, {unconfirmed} of them unconfirmed", kept.len());
}

#[test]
fn killed_at_any_moment_of_a_batch_all_of_it_is_kept_and_nothing_goes_out_twice() {
    const PROMPTS: usize = 60;
    let world = CommandFixture::new(&["create=latency-60"]);
    let texts: Vec<String> = (0..PROMPTS).map(|n| format!("batch {n:02} [sim:seconds=6000]")).collect();
    std::fs::write(world.home.path().join("batch.txt"), texts.join("\n\n")).expect("written");
    let (mut dice, mut killed) = (Dice(11), 0);
    for _ in 0..16 {
        // Of a batch all is in the record or nothing is.
        let kept = kept(&world).len();
        assert!(kept == 0 || kept == PROMPTS, "{kept} of {PROMPTS}");
        let words: &[&str] =
            if kept == 0 { &["new", "--batch", "batch.txt"] } else { &["new", "--batch", "batch.txt", "--rest"] };
        killed += usize::from(kill_after(spawn(&world, words), dice.below(300)));
        assert_sound(&world);
    }
    dispatch_all(&world);
    let kept = assert_sound(&world);
    assert!(texts.iter().all(|text| kept.contains_key(text)), "{kept:?}");
    let unconfirmed = kept.values().filter(|kind| **kind == DeliveryKind::Unconfirmed).count();
    let paused = kept.values().filter(|kind| **kind == DeliveryKind::Queued).count();
    println!("{killed} kills: {PROMPTS} prompts kept, {unconfirmed} unconfirmed, {paused} still in the queue");
    assert!(world.sim.requests(Operation::Create) <= u64::try_from(PROMPTS).expect("few"));
}

#[test]
fn killed_while_a_draft_is_typed_what_was_on_disk_is_back_in_the_editor() {
    let world = CommandFixture::new(&[]);
    world.run(&["new", "before [sim:seconds=6000]"]).ends(0);
    let mut typed = String::new();
    for n in 0..3 {
        let mut pty = dashboard(&world);
        pty.wait_for_text("before");
        pty.send("n");
        pty.wait_for_text("New job");
        // What a killed docdeck had on disk is there again.
        pty.wait_for("the draft", |screen| screen.contents().contains(&typed));
        pty.send(&format!("sentence {n}. "));
        pty.wait_for_text("draft on disk since");
        typed.push_str(&format!("sentence {n}."));
        pty.send("too late");
        pty.wait_for_text("too late");
        pty.signal(Signal::KILL);
        drop(pty);
        assert_eq!(integrity(&world.data()), "ok");
        let drafts = world.store(async |store, scope| store.drafts(scope).await.expect("drafts"));
        let draft = drafts.first().map(|draft| draft.text.clone()).unwrap_or_default();
        // The last second may be missing, no more than that.
        assert!(draft.starts_with(&typed), "{draft:?} of {typed:?}");
        typed = draft;
    }
    assert_eq!(world.sim.requests(Operation::Create), 1, "a draft is not sent");
}

#[test]
fn killed_right_after_sending_the_text_is_either_a_draft_or_a_prompt() {
    let world = CommandFixture::new(&[]);
    world.run(&["new", "before [sim:seconds=6000]"]).ends(0);
    let (mut dice, mut prompts) = (Dice(5), 0);
    for n in 0..8 {
        let text = format!("sentence {n}");
        let mut pty = dashboard(&world);
        pty.wait_for_text("before");
        pty.send("n");
        pty.wait_for_text("New job");
        pty.send(&text);
        pty.wait_for_text("draft on disk since");
        pty.send("\x13");
        std::thread::sleep(Duration::from_millis(u64::try_from(dice.below(25)).expect("few")));
        pty.signal(Signal::KILL);
        drop(pty);
        let is_prompt = assert_sound(&world).contains_key(&text);
        let drafts = world.store(async |store, scope| {
            let drafts = store.drafts(scope).await.expect("drafts");
            store.delete_draft(scope, DraftSlot::NewJob).await.expect("deleted");
            drafts
        });
        let is_draft = drafts.iter().any(|draft| draft.text == text);
        assert_ne!(is_prompt, is_draft, "{text}");
        prompts += usize::from(is_prompt);
    }
    println!("8 kills right after sending: {prompts} prompts, {} drafts", 8 - prompts);
}

#[test]
fn ended_by_any_signal_that_can_be_caught_a_draft_younger_than_a_second_is_on_disk() {
    let world = CommandFixture::new(&[]);
    world.run(&["new", "before [sim:seconds=6000]"]).ends(0);
    let mut typed = String::new();
    let signals = [Signal::TERM, Signal::QUIT, Signal::USR1, Signal::USR2, Signal::ALARM, Signal::ABORT, Signal::HUP];
    for (n, signal) in signals.into_iter().enumerate() {
        let mut pty = dashboard(&world);
        pty.wait_for_text("before");
        pty.send("n");
        pty.wait_for("the draft", |screen| screen.contents().contains("New job") && screen.contents().contains(&typed));
        let word = format!("word{n} ");
        typed.push_str(&word);
        pty.send(&word);
        pty.wait_for_text(word.trim());
        pty.signal(signal);
        assert_eq!(pty.wait_for_end(), 0, "{signal:?}");
        pty.assert_given_back();
        let drafts = world.store(async |store, scope| store.drafts(scope).await.expect("drafts"));
        assert_eq!(drafts.first().map(|draft| draft.text.as_str()), Some(typed.as_str()), "{signal:?}");
        assert_eq!(integrity(&world.data()), "ok");
    }
}
