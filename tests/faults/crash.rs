//! Kills the built program inside and between its transactions and at random moments. After each kill, the database is
//! intact and contains every prompt that was sent, and the service has received no prompt twice. Also contains helpers
//! for other test modules that kill or block the program.

use crate::disk_errors::start_dashboard;
use crate::support::command::{CommandFixture, CommandResult, RunningCommand};
use crate::support::slow::sample;
use docdeck::api::{Client, ClientOptions};
use docdeck::engine::{Engine, EngineSetup, LeaseRoles, PollOptions};
use docdeck::model::analytics::{AnalyticsKind, AnalyticsSettings};
use docdeck::model::endpoint::ApiKey;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{DeliveryKind, DraftTarget};
use rusqlite::Connection;
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The time after which a wait fails the test; much longer than any wait takes.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + WAIT_TIMEOUT;
    while !holds() {
        assert!(Instant::now() < end, "timed out waiting for {what}");
        std::thread::yield_now();
    }
}

pub(crate) fn database_path(fixture: &CommandFixture) -> PathBuf {
    fixture.data_folder().join("docdeck.db")
}

pub(crate) fn journal_path(folder: &Path) -> PathBuf {
    folder.join("docdeck.db-journal")
}

/// Whether a write transaction is open. Between transactions, the journal is empty.
fn has_journal(fixture: &CommandFixture) -> bool {
    std::fs::metadata(journal_path(&fixture.data_folder())).is_ok_and(|found| found.len() > 0)
}

pub(crate) fn integrity_check(folder: &Path) -> String {
    let file = Connection::open(folder.join("docdeck.db")).expect("opened");
    file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked")
}

/// Returns every prompt in the database with its delivery.
pub(crate) fn stored_prompts(fixture: &CommandFixture) -> BTreeMap<String, DeliveryKind> {
    fixture.with_store(async |store, scope| {
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

/// Returns the prompts that the service has accepted. Asserts that it got each of them only once.
pub(crate) fn received_prompts(fixture: &CommandFixture) -> BTreeSet<String> {
    let prompts = fixture.sim.received_prompts();
    let texts: BTreeSet<String> = prompts.iter().map(|(_, text)| text.clone()).collect();
    assert_eq!(texts.len(), prompts.len(), "something went out twice: {prompts:?}");
    texts
}

/// Asserts that the database is intact and contains every prompt that the service has. Returns the prompts in the
/// database.
pub(crate) fn assert_intact(fixture: &CommandFixture) -> BTreeMap<String, DeliveryKind> {
    let deliveries = stored_prompts(fixture);
    assert_eq!(integrity_check(&fixture.data_folder()), "ok");
    let missing: Vec<String> =
        received_prompts(fixture).into_iter().filter(|text| !deliveries.contains_key(text)).collect();
    assert!(missing.is_empty(), "received, but not in the database: {missing:?}");
    deliveries
}

/// Starts the program without reading its output.
pub(crate) fn spawn_without_output(fixture: &CommandFixture, words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docdeck"));
    command.env_clear().envs(fixture.environment_variables()).args(words).current_dir(fixture.home.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

/// Starts the program and kills it in its n-th write transaction. Returns false if the program exits before that.
fn kill_at_journal(n: usize, fixture: &CommandFixture, words: &[&str]) -> bool {
    let mut child = spawn_without_output(fixture, words);
    let (mut seen, mut is_there) = (0, false);
    let end = Instant::now() + WAIT_TIMEOUT;
    loop {
        let now = has_journal(fixture);
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

pub(crate) fn kill(running: RunningCommand) -> CommandResult {
    running.send_signal(Signal::KILL);
    running.wait_for_exit()
}

/// Runs an engine on the store, like the dashboard's, until no prompt is waiting or being sent.
pub(crate) fn send_whole_queue(fixture: &CommandFixture) {
    fixture.with_store(async |store, scope| {
        let client =
            Client::new(scope.clone(), ApiKey::new(fixture.sim.api_key()).expect("a key"), ClientOptions::default());
        let (sender, mut events) = tokio::sync::mpsc::channel(64);
        let setup = EngineSetup {
            client: client.expect("a client"),
            store: store.clone(),
            scope: scope.clone(),
            poll: PollOptions::default(),
            analytics: AnalyticsSettings::default(),
            roles: LeaseRoles::All,
            lock_folder: Some(fixture.data_folder()),
            on_change: None,
            hosts: None,
            team: None,
            events: sender,
        };
        let engine = Engine::start(setup).await.expect("an engine");
        let end = tokio::time::Instant::now() + WAIT_TIMEOUT;
        while !store.sendable_prompts(scope).await.expect("read").is_empty()
            || !store.sending_instances(scope).await.expect("read").is_empty()
        {
            assert!(tokio::time::Instant::now() < end, "it does not go on");
            // Changes by another engine emit no event at once, so the queue is also checked every 50 ms.
            let _ = tokio::time::timeout(Duration::from_millis(50), events.recv()).await;
        }
        engine.stop().await;
    });
}

/// Opens a read transaction. Until it ends, no write transaction can commit: it stops with its journal on disk.
pub(crate) fn block_commits(fixture: &CommandFixture) -> Connection {
    let reader = Connection::open(database_path(fixture)).expect("opened");
    reader.busy_timeout(WAIT_TIMEOUT).expect("set");
    reader.execute_batch("BEGIN").expect("begun");
    let _: i64 = reader.query_row("SELECT count(*) FROM job", [], |row| row.get(0)).expect("read");
    reader
}

pub(crate) fn kill_in_write_transaction(fixture: &CommandFixture, mut child: Child, reader: Connection) {
    wait_until("the journal", || has_journal(fixture));
    child.kill().expect("killed");
    child.wait().expect("a status");
    drop(reader);
}

#[test]
fn after_a_kill_at_the_commit_before_sending_the_prompt_is_not_sent() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "first [sim:seconds=6000]"]).expect_exit_code(0);
    let reader = block_commits(&fixture);
    let child = spawn_without_output(&fixture, &["new", "second"]);
    kill_in_write_transaction(&fixture, child, reader);
    send_whole_queue(&fixture);
    assert_eq!((assert_intact(&fixture).len(), fixture.sim.requests(Operation::Create)), (1, 1));
}

#[test]
fn after_a_kill_at_the_commit_of_the_response_the_prompt_is_unconfirmed_and_not_resent() {
    let fixture = CommandFixture::new(&["create=latency-3000"]);
    fixture.run(&["new", "first [sim:seconds=6000]"]).expect_exit_code(0);
    let child = spawn_without_output(&fixture, &["new", "second [sim:seconds=6000]"]);
    wait_until("the request", || fixture.sim.requests(Operation::Create) == 2);
    let reader = block_commits(&fixture);
    wait_until("the answer", || fixture.sim.carried_out_count(Operation::Create) == 2);
    kill_in_write_transaction(&fixture, child, reader);
    send_whole_queue(&fixture);
    let deliveries = assert_intact(&fixture);
    assert_eq!(deliveries.get("second [sim:seconds=6000]"), Some(&DeliveryKind::Unconfirmed));
    assert_eq!((received_prompts(&fixture).len(), fixture.sim.requests(Operation::Create)), (2, 2));
}

#[test]
fn after_kills_in_any_transaction_no_prompt_is_sent_twice() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "first [sim:seconds=6000]"]).expect_exit_code(0);
    let mut killed = 0;
    // The test misses journals that exist very briefly, so the number of kills differs between runs.
    for n in 1..40 {
        let text = format!("prompt {n:02} [sim:seconds=6000]");
        if !kill_at_journal(n, &fixture, &["new", &text]) {
            break;
        }
        killed += 1;
        assert_intact(&fixture);
    }
    let sent = fixture.sim.requests(Operation::Create);
    send_whole_queue(&fixture);
    let deliveries = assert_intact(&fixture);
    let unsettled = [DeliveryKind::Queued, DeliveryKind::Sending];
    assert!(!deliveries.values().any(|kind| unsettled.contains(kind)), "{deliveries:?}");
    assert_eq!(
        fixture.sim.requests(Operation::Create),
        sent,
        "a prompt of a killed command is sent only after the user resumes it"
    );
    let paused = deliveries.values().filter(|kind| **kind == DeliveryKind::Paused).count();
    println!(
        "killed inside {killed} transactions of sending; {} prompts kept, {paused} of them paused",
        deliveries.len()
    );
}

#[test]
fn a_kill_while_a_command_waits_for_the_limit_leaves_its_prompt_paused() {
    let fixture = CommandFixture::new(&[]);
    let id = fixture.run(&["new", "first [sim:seconds=1]"]).expect_exit_code(0).out.trim().to_owned();
    fixture.set_faults(&["create=429", "message=429"]);
    let new = fixture.start(&["new", "--wait", "a new job"]);
    wait_until("the refusal of the new job", || fixture.sim.requests(Operation::Create) == 2);
    let follow = fixture.start(&["follow", &id, "--wait", "a follow-up"]);
    wait_until("the refusal of the follow-up", || fixture.sim.requests(Operation::FollowUp) == 1);
    let states = || {
        let db = Connection::open(database_path(&fixture)).expect("opened");
        let mut ask = db.prepare("SELECT state FROM prompt WHERE state = 'sending'").expect("a question");
        ask.exists([]).expect("an answer")
    };
    wait_until("both wait for the limit", || !states());
    kill(new);
    kill(follow);
    fixture.set_faults(&[]);
    // The following statements reset the limit.
    let db = Connection::open(database_path(&fixture)).expect("opened");
    db.execute_batch("UPDATE prompt SET until = NULL; UPDATE ledger SET blocked_until = NULL").expect("written");
    drop(db);
    send_whole_queue(&fixture);
    let deliveries = assert_intact(&fixture);
    assert_eq!(
        (deliveries.get("a new job"), deliveries.get("a follow-up")),
        (Some(&DeliveryKind::Paused), Some(&DeliveryKind::Paused))
    );
    assert_eq!((fixture.sim.requests(Operation::Create), fixture.sim.requests(Operation::FollowUp)), (2, 1));
}

#[test]
fn after_a_kill_during_or_after_the_request_the_prompt_is_not_resent() {
    let fixture = CommandFixture::new(&["create=latency-60000"]);
    let running = fixture.start(&["new", "on its way"]);
    wait_until("the request", || fixture.sim.requests(Operation::Create) == 1);
    kill(running);
    fixture.set_faults(&[]);
    let running = fixture.start(&["new", "--wait", "answered [sim:seconds=60000]"]);
    wait_until("the answer", || fixture.sim.carried_out_count(Operation::Create) == 1);
    kill(running);
    send_whole_queue(&fixture);
    let deliveries = assert_intact(&fixture);
    assert_eq!(deliveries.get("on its way"), Some(&DeliveryKind::Unconfirmed));
    let answered = deliveries.get("answered [sim:seconds=60000]").copied();
    assert!(matches!(answered, Some(DeliveryKind::Accepted | DeliveryKind::Unconfirmed)), "{answered:?}");
    assert_eq!(fixture.sim.requests(Operation::Create), 2);
}

#[test]
fn after_a_kill_while_loading_all_pages_the_next_load_continues() {
    let fixture = CommandFixture::with_pages(1_200, &["views=latency-200"]);
    let running = fixture.start(&["views", "--all", "--format", "json"]);
    wait_until("the third request", || fixture.sim.requests(Operation::Views) == 3);
    kill(running);
    fixture.set_faults(&[]);
    let whole = fixture.run(&["views", "--all", "--format", "json"]).expect_exit_code(0).multiline_json();
    assert_eq!(whole["complete"], true);
    let rows = whole["views"].as_array().expect("views").len();
    let pages = rows.div_ceil(250);
    let asked = usize::try_from(fixture.sim.requests(Operation::Views)).expect("small");
    assert!(pages >= 3 && asked <= pages + 2, "{asked} requests for {pages} answers");
    assert_intact(&fixture);
}

#[test]
fn after_a_kill_at_the_commit_of_a_response_the_next_load_requests_only_that_response_again() {
    let fixture = CommandFixture::with_pages(1_200, &["views=latency-1000"]);
    let child = spawn_without_output(&fixture, &["views", "--all", "--format", "json"]);
    wait_until("the third request", || fixture.sim.requests(Operation::Views) == 3);
    let reader = block_commits(&fixture);
    kill_in_write_transaction(&fixture, child, reader);
    fixture.set_faults(&[]);
    let rows_of = |table: &str| -> u32 {
        let db = Connection::open(database_path(&fixture)).expect("opened");
        db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).expect("a count")
    };
    assert_eq!((rows_of("views_answer"), rows_of("views_part")), (2, 2), "nothing of the third answer");
    let whole = fixture.run(&["views", "--all", "--format", "json"]).expect_exit_code(0).multiline_json();
    assert_eq!(whole["complete"], true);
    let pages = whole["views"].as_array().expect("views").len().div_ceil(250);
    assert_eq!(usize::try_from(fixture.sim.requests(Operation::Views)).expect("small"), pages + 1);
    assert_intact(&fixture);
}

#[test]
fn after_a_kill_while_loading_a_report_the_next_load_continues_without_losing_or_repeating_rows() {
    for (kind, command, list) in [
        (AnalyticsKind::Feedback, "feedback", "feedback"),
        (AnalyticsKind::Questions, "questions", "conversations"),
        (AnalyticsKind::Visitors, "visitors", "visitors"),
    ] {
        let fault = format!("{command}=latency-200");
        let fixture = CommandFixture::with_pages(1_200, &[&fault]);
        // Without today, whose numbers grow.
        let today = chrono::Utc::now().date_naive();
        let [from, to] = [90, 1].map(|days| (today - chrono::Days::new(days)).to_string());
        let words = [command, "--from", &from, "--to", &to, "--max-requests", "90", "--json"];
        let requests = || fixture.sim.requests(Operation::Analytics(kind));
        let running = fixture.start(&words);
        wait_until("the second request", || requests() == 2);
        kill(running);
        fixture.set_faults(&[]);
        let continued = fixture.run(&words).expect_exit_code(0).multiline_json();
        let asked = requests();
        let again = fixture.run(&[words.as_slice(), &["--fresh"]].concat()).expect_exit_code(0).multiline_json();
        let responses = requests() - asked;
        assert!(responses >= 2, "{command}: {responses} responses are too few to interrupt the load");
        assert!(asked <= responses + 2, "{command}: {asked} requests for {responses} responses");
        assert_eq!((&continued["complete"], &again["complete"]), (&true.into(), &true.into()), "{command}");
        assert_eq!(continued[list], again[list], "{command}");
        assert_intact(&fixture);
    }
}

#[test]
fn a_killed_import_stores_everything_or_nothing() {
    let fixture = CommandFixture::new(&[]);
    let texts: Vec<String> = (0..400).map(|n| format!("prompt {n} {}", "x".repeat(2_000))).collect();
    fixture.with_store(async |store, scope| {
        store.add_batch(scope, &texts, chrono::Utc::now()).await.expect("written");
    });
    fixture.run(&["export", "all.jsonl"]).expect_exit_code(0);
    std::fs::remove_file(database_path(&fixture)).expect("removed");
    // This call creates an empty database for the import.
    assert_eq!(stored_prompts(&fixture).len(), 0);
    let reader = block_commits(&fixture);
    let child = spawn_without_output(&fixture, &["import", "all.jsonl"]);
    kill_in_write_transaction(&fixture, child, reader);
    let after = stored_prompts(&fixture).len();
    assert!(after == 0 || after == texts.len(), "{after} prompts");
    assert_eq!(integrity_check(&fixture.data_folder()), "ok");
    fixture.run(&["import", "all.jsonl"]).expect_exit_code(0);
    assert_eq!(stored_prompts(&fixture).len(), texts.len());
    assert_eq!(fixture.sim.requests(Operation::Create), 0, "what comes from a file is not sent");
}

/// A seeded random number generator (the upper bits of an LCG), whose numbers are the same in every run.
pub(crate) struct TestRng(pub(crate) u64);

impl TestRng {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end.max(1)
    }
}

/// Kills the program after this many milliseconds. Returns false if the program exited before that.
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

/// Runs a sample, and all kills with `DOCDECK_SLOW_TESTS`.
#[test]
fn after_kills_at_random_moments_of_sending_no_prompt_is_lost_or_sent_twice() {
    let fixture = CommandFixture::new(&["create=latency-20"]);
    fixture.run(&["new", "first [sim:seconds=6000]"]).expect_exit_code(0);
    let begin = Instant::now();
    fixture.run(&["new", "second [sim:seconds=6000]"]).expect_exit_code(0);
    // The kills happen within this time, which is slightly longer than a run takes on this computer.
    let span = usize::try_from(begin.elapsed().as_millis()).expect("short") * 5 / 4;
    let (mut rng, mut killed) = (TestRng(7), 0);
    for n in sample(0..24, 4) {
        let text = format!("prompt {n:02} [sim:seconds=6000]");
        killed += usize::from(kill_after(spawn_without_output(&fixture, &["new", &text]), rng.below(span)));
        assert_eq!(integrity_check(&fixture.data_folder()), "ok");
    }
    assert_intact(&fixture);
    send_whole_queue(&fixture);
    let deliveries = assert_intact(&fixture);
    let unsettled = [DeliveryKind::Queued, DeliveryKind::Sending];
    assert!(!deliveries.values().any(|kind| unsettled.contains(kind)), "{deliveries:?}");
    let unconfirmed = deliveries.values().filter(|kind| **kind == DeliveryKind::Unconfirmed).count();
    println!("{killed} kills within {span} ms: {} prompts kept, {unconfirmed} of them unconfirmed", deliveries.len());
}

/// Runs a sample, and all kills with `DOCDECK_SLOW_TESTS`.
#[test]
fn after_kills_at_random_moments_a_batch_is_stored_completely_and_no_prompt_is_sent_twice() {
    const PROMPTS: usize = 60;
    let fixture = CommandFixture::new(&["create=latency-60"]);
    let texts: Vec<String> = (0..PROMPTS).map(|n| format!("batch {n:02} [sim:seconds=6000]")).collect();
    std::fs::write(fixture.home.path().join("batch.txt"), texts.join("\n\n")).expect("written");
    let (mut rng, mut killed) = (TestRng(11), 0);
    for _ in sample(0..16, 4) {
        // A batch is stored completely or not at all.
        let deliveries = stored_prompts(&fixture).len();
        assert!(deliveries == 0 || deliveries == PROMPTS, "{deliveries} of {PROMPTS}");
        let words: &[&str] =
            if deliveries == 0 { &["new", "--batch", "batch.txt"] } else { &["new", "--batch", "batch.txt", "--rest"] };
        killed += usize::from(kill_after(spawn_without_output(&fixture, words), rng.below(300)));
        assert_intact(&fixture);
    }
    // On a busy computer, all kills can come before the batch is stored.
    if stored_prompts(&fixture).is_empty() {
        fixture.run(&["new", "--batch", "batch.txt", "--queue"]).expect_exit_code(0);
    }
    send_whole_queue(&fixture);
    let deliveries = assert_intact(&fixture);
    assert!(texts.iter().all(|text| deliveries.contains_key(text)), "{deliveries:?}");
    let unconfirmed = deliveries.values().filter(|kind| **kind == DeliveryKind::Unconfirmed).count();
    let paused = deliveries.values().filter(|kind| **kind == DeliveryKind::Queued).count();
    println!("{killed} kills: {PROMPTS} prompts kept, {unconfirmed} unconfirmed, {paused} still in the queue");
    assert!(fixture.sim.requests(Operation::Create) <= u64::try_from(PROMPTS).expect("few"));
}

#[test]
fn after_a_kill_the_editor_restores_the_draft_that_was_saved() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "before [sim:seconds=6000]"]).expect_exit_code(0);
    let mut typed = String::new();
    for n in 0..3 {
        let mut pty = start_dashboard(&fixture);
        pty.wait_for_text("before");
        pty.send("n");
        pty.wait_for_text("New job");
        // The editor restores the draft that the killed program had saved.
        pty.wait_for("the draft", |screen| screen.contents().contains(typed.trim_end()));
        pty.send(&format!("sentence {n}. "));
        typed.push_str(&format!("sentence {n}."));
        wait_until("the draft to be saved", || {
            std::thread::sleep(Duration::from_millis(100));
            fixture.with_store(async |store, scope| {
                let drafts = store.drafts(scope).await.expect("drafts");
                drafts.first().is_some_and(|draft| draft.text.starts_with(&typed))
            })
        });
        pty.send("too late");
        pty.wait_for_text("too late");
        pty.signal(Signal::KILL);
        drop(pty);
        assert_eq!(integrity_check(&fixture.data_folder()), "ok");
        let drafts = fixture.with_store(async |store, scope| store.drafts(scope).await.expect("drafts"));
        let draft = drafts.first().map(|draft| draft.text.clone()).unwrap_or_default();
        // The text of the last second before the kill may be missing, but nothing before that.
        assert!(draft.starts_with(&typed), "{draft:?} of {typed:?}");
        typed = draft;
    }
    assert_eq!(fixture.sim.requests(Operation::Create), 1, "a draft is not sent");
}

/// Runs a sample, and all kills with `DOCDECK_SLOW_TESTS`.
#[test]
fn after_a_kill_right_after_sending_the_text_is_either_a_draft_or_a_prompt() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "before [sim:seconds=6000]"]).expect_exit_code(0);
    let (mut rng, mut prompts) = (TestRng(5), 0);
    for n in sample(0..8, 3) {
        let text = format!("sentence {n}");
        let mut pty = start_dashboard(&fixture);
        pty.wait_for_text("before");
        pty.send("n");
        pty.wait_for_text("New job");
        pty.send(&text);
        pty.wait_for_text("draft saved");
        pty.send("\x13");
        std::thread::sleep(Duration::from_millis(u64::try_from(rng.below(25)).expect("few")));
        pty.signal(Signal::KILL);
        drop(pty);
        let is_prompt = assert_intact(&fixture).contains_key(&text);
        let drafts = fixture.with_store(async |store, scope| {
            let drafts = store.drafts(scope).await.expect("drafts");
            store.delete_draft(scope, DraftTarget::NewJob).await.expect("deleted");
            drafts
        });
        let is_draft = drafts.iter().any(|draft| draft.text == text);
        assert_ne!(is_prompt, is_draft, "{text}");
        prompts += usize::from(is_prompt);
    }
    println!("8 kills right after sending: {prompts} prompts, {} drafts", 8 - prompts);
}

#[test]
fn on_any_signal_that_can_be_caught_the_draft_is_saved_at_once() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "before [sim:seconds=6000]"]).expect_exit_code(0);
    let mut typed = String::new();
    let signals = [Signal::TERM, Signal::QUIT, Signal::USR1, Signal::USR2, Signal::ALARM, Signal::ABORT, Signal::HUP];
    for (n, signal) in signals.into_iter().enumerate() {
        let mut pty = start_dashboard(&fixture);
        pty.wait_for_text("before");
        pty.send("n");
        pty.wait_for("the draft", |screen| {
            screen.contents().contains("New job") && screen.contents().contains(typed.trim_end())
        });
        let word = format!("word{n} ");
        typed.push_str(&word);
        pty.send(&word);
        pty.wait_for_text(word.trim());
        pty.signal(signal);
        assert_eq!(pty.wait_for_end(), 0, "{signal:?}");
        pty.assert_restored();
        let drafts = fixture.with_store(async |store, scope| store.drafts(scope).await.expect("drafts"));
        assert_eq!(drafts.first().map(|draft| draft.text.as_str()), Some(typed.as_str()), "{signal:?}");
        assert_eq!(integrity_check(&fixture.data_folder()), "ok");
    }
}
