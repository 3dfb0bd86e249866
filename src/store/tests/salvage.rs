//! Tests of damaged databases: what can be read is recovered, no recovered prompt is sent automatically, and the
//! damaged file is kept.

use super::*;
use crate::model::prompt::{Delivery, DeliveryKind, DraftTarget};
use crate::store::check::indexes_with_wrong_row_count;
use crate::store::{RecoveryCounts, salvage};
use crate::store::{StoreHealth, check::check_store, open as opening, schema};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use tokio::sync::OnceCell;

const PAGE_BYTES: usize = 4096;
const JOB_COUNT: i64 = 160;

fn file(folder: &Path) -> PathBuf {
    folder.join("docdeck.db")
}

/// Writes a database with prompts in every state, some of them longer than a page, and with everything else that
/// belongs to jobs.
async fn fill_database(folder: &Path) {
    // All tests copy one file, because filling it takes hundreds of transactions.
    static FILLED: OnceCell<Vec<u8>> = OnceCell::const_new();
    let create = || async {
        let folder = tempdir().expect("a folder");
        create_filled_database(folder.path()).await;
        fs::read(file(folder.path())).expect("bytes")
    };
    fs::write(file(folder), FILLED.get_or_init(create).await).expect("written");
}

async fn create_filled_database(folder: &Path) {
    let store = super::open(folder);
    for n in 0..JOB_COUNT {
        // Some texts are longer than a page.
        let text = format!("Prompt {n}\n{}", "words ".repeat(if n % 10 == 0 { 1500 } else { 40 }));
        let (prompt, row) = store.new_job(&text, at(n)).await;
        if n % 8 > 0 {
            // Each prompt is sent in a different hour of the service's time, so that the hourly limit is not reached.
            store.request_permit(prompt, "instance-1", at(n), at(n * 4000)).await.expect("an answer");
        }
        let id = format!("job_{n:04}");
        match n % 8 {
            0 | 1 => {}
            2 => drop(store.finish(prompt, Delivery::Unconfirmed(line("lost")), at(n)).await),
            3 => drop(store.finish(prompt, Delivery::NotSent(line("no network")), at(n)).await),
            4 => drop(store.finish(prompt, Delivery::Rejected(line("too vague")), at(n)).await),
            _ => {
                store.accept(prompt, response_with_pr(&id, Status::Active, 7), at(n)).await;
                store.apply_job(row.key, response_with_pr(&id, Status::Completed, 7), at(n + 60)).await;
            }
        }
        if n % 16 == 7 {
            store.follow_up(row.key, &format!("Follow-up {n}"), at(n)).await;
            store.change_jobs(&[row.key], LocalChange::Note(Some(line("mine"))), at(n)).await.expect("written");
        }
        if n % 16 == 13 {
            let slot = DraftTarget::FollowUp(row.key);
            store.save_draft(&scope(), slot, &format!("Draft {n}"), at(n)).await.expect("written");
        }
    }
    store.save_draft(&scope(), DraftTarget::NewJob, "Half a thought", at(1)).await.expect("written");
    store.set_value("layout", "wide").await.expect("written");
    store.close().await;
}

/// Returns the state and the job's id of every prompt, by its text.
fn prompts(db: &Connection) -> BTreeMap<String, (DeliveryKind, Option<String>)> {
    let mut statement = db
        .prepare("SELECT text, iif(paused, 'paused', state), job.id FROM prompt JOIN job ON job.key = prompt.job")
        .expect("a statement");
    let rows = statement.query_map([], |row| {
        let state = DeliveryKind::parse(&row.get::<_, String>(1)?).expect("a state");
        Ok((row.get(0)?, (state, row.get(2)?)))
    });
    rows.expect("rows").map(|row| row.expect("a row")).collect()
}

fn drafts(db: &Connection) -> Vec<String> {
    let mut statement = db.prepare("SELECT text FROM draft ORDER BY text").expect("a statement");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<rusqlite::Result<_>>().expect("texts")
}

/// Recovers a damaged file into a database in memory.
fn recover_into_memory(file: &Path) -> (Connection, RecoveryCounts) {
    let found = salvage::salvage_tables(file).expect("read");
    let mut db = opening::in_memory().expect("a store");
    let recovered = salvage::write_recovered_rows(&mut db, &found, at(9_999)).expect("written");
    (db, recovered)
}

/// Asserts what must be true after any damage: the database is sound, and no prompt is sent automatically.
fn assert_safe(db: &Connection) {
    schema::check_readable(db, true).expect("sound");
    let mut broken = db.prepare("PRAGMA foreign_key_check").expect("a check");
    assert!(!broken.exists([]).expect("checked"), "a row refers to none");
    let automatically_sendable =
        "SELECT count(*) FROM prompt WHERE state = 'sending' OR state = 'queued' AND paused = 0";
    assert_eq!(db.query_row(automatically_sendable, [], |row| row.get::<_, i64>(0)).expect("a count"), 0);
    // All scopes, jobs, threads and drafts can be read.
    for (found, _) in crate::store::scopes::read_scopes(db).expect("scopes") {
        for row in crate::store::job_rows::load_jobs(db, found).expect("rows") {
            crate::store::prompts::read_thread(db, row.key).expect("a thread");
        }
        crate::store::drafts::list_drafts(db, found).expect("drafts");
    }
}

#[tokio::test]
async fn everything_is_recovered_from_an_undamaged_file() {
    let folder = tempdir().expect("a folder");
    fill_database(folder.path()).await;
    let before = Connection::open(file(folder.path())).expect("a database");
    let (db, recovered) = recover_into_memory(&file(folder.path()));
    assert_safe(&db);
    let (old, new) = (prompts(&before), prompts(&db));
    assert_eq!(old.len(), new.len());
    for (text, (state, id)) in &old {
        let expected = match state {
            DeliveryKind::Queued => DeliveryKind::Paused,
            DeliveryKind::Sending => DeliveryKind::Unconfirmed,
            other => *other,
        };
        assert_eq!(new.get(text), Some(&(expected, id.clone())), "{text}");
    }
    assert_eq!(drafts(&before), drafts(&db));
    for table in ["job", "prompt", "event", "draft", "ledger", "ledger_use", "key_value", "job_page", "scope"] {
        let count = format!("SELECT count(*) FROM {table}");
        let of = |db: &Connection| db.query_row(&count, [], |row| row.get::<_, i64>(0)).expect("a count");
        assert_eq!(of(&before), of(&db), "{table}");
    }
    let count = |kind| u64::try_from(old.values().filter(|(state, _)| *state == kind).count()).expect("few");
    let jobs = u64::try_from(JOB_COUNT).expect("few");
    let unconfirmed = count(DeliveryKind::Unconfirmed) + count(DeliveryKind::Sending);
    let prompts = u64::try_from(old.len()).expect("few");
    let drafts = u64::try_from(drafts(&before).len()).expect("few");
    assert_eq!(recovered, RecoveryCounts { jobs, prompts, drafts, unconfirmed, paused: count(DeliveryKind::Queued) });
}

/// Returns the type byte of each page. Pages with the rest of a long row have no valid type.
fn page_types(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(PAGE_BYTES).enumerate().map(|(n, page)| page[if n == 0 { 100 } else { 0 }]).collect()
}

#[tokio::test]
async fn only_the_rows_of_a_damaged_page_are_lost() {
    let folder = tempdir().expect("a folder");
    fill_database(folder.path()).await;
    let bytes = fs::read(file(folder.path())).expect("bytes");
    let before = Connection::open(file(folder.path())).expect("a database");
    let (old, old_drafts) = (prompts(&before), drafts(&before));
    let damaged = folder.path().join("damaged.db");
    let kinds = page_types(&bytes);
    assert!(kinds.contains(&5), "a table has pages above its rows");
    for (n, kind) in kinds.iter().enumerate() {
        let mut copy = bytes.clone();
        copy[n * PAGE_BYTES..(n + 1) * PAGE_BYTES].fill(0xee);
        fs::write(&damaged, &copy).expect("written");
        let (db, _) = recover_into_memory(&damaged);
        assert_safe(&db);
        let new = prompts(&db);
        let lost = old.keys().filter(|text| !new.contains_key(*text)).count();
        match kind {
            // These pages (interior pages and indexes) contain no rows of a table.
            2 | 5 | 10 => assert_eq!(lost, 0, "page {}", n + 1),
            _ if n == 0 => assert_eq!(lost, 0, "the schema"),
            _ => assert!(lost < 30, "page {}: {lost} prompts are lost", n + 1),
        }
        // An accepted prompt never becomes one that may be sent again, and an undelivered prompt never becomes
        // accepted.
        for (text, (state, _)) in &new {
            let Some((was, _)) = old.get(text) else { continue };
            let certain = matches!(state, DeliveryKind::Unconfirmed | DeliveryKind::Paused);
            assert!(certain || state == was, "{text}: {was:?} is {state:?}");
            assert!(*state != DeliveryKind::Paused || *was == DeliveryKind::Queued, "{text}: {was:?} is {state:?}");
        }
        let kept = drafts(&db).join("\n");
        let missing = old_drafts.iter().filter(|text| !kept.contains(*text)).count();
        assert!(missing == 0 || missing == old_drafts.len(), "page {}: {missing} drafts are lost", n + 1);
    }
}

#[tokio::test]
async fn jobs_with_lost_rows_are_restored_from_the_index_of_their_ids() {
    let folder = tempdir().expect("a folder");
    fill_database(folder.path()).await;
    let before = Connection::open(file(folder.path())).expect("a database");
    let ids = |db: &Connection| {
        let mut statement = db.prepare("SELECT id FROM job WHERE id IS NOT NULL ORDER BY id").expect("a statement");
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).expect("rows");
        rows.collect::<rusqlite::Result<Vec<_>>>().expect("ids")
    };
    let all = ids(&before);
    assert!(all.len() > 50);
    let root: usize = before
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'job'", [], |row| row.get::<_, i64>(0))
        .map(|root| usize::try_from(root).expect("small"))
        .expect("a root");
    let mut bytes = fs::read(file(folder.path())).expect("bytes");
    // The root page contains the numbers of the pages with rows.
    let page = &bytes[(root - 1) * PAGE_BYTES..root * PAGE_BYTES];
    let cells = usize::from(u16::from_be_bytes([page[3], page[4]]));
    let number = |at: usize| u32::from_be_bytes(page[at..at + 4].try_into().expect("four"));
    let mut leaves: Vec<u32> =
        (0..cells).map(|n| number(usize::from(u16::from_be_bytes([page[12 + 2 * n], page[13 + 2 * n]])))).collect();
    leaves.push(number(8));
    for leaf in leaves {
        let start = (usize::try_from(leaf).expect("small") - 1) * PAGE_BYTES;
        bytes[start..start + PAGE_BYTES].fill(0);
    }
    let damaged = folder.path().join("damaged.db");
    fs::write(&damaged, &bytes).expect("written");
    let (db, _) = recover_into_memory(&damaged);
    assert_safe(&db);
    assert_eq!(ids(&db), all);
    // The titles of the restored jobs come from their prompts, and accepted prompts stay accepted.
    let untitled = "SELECT count(*) FROM job WHERE title NOT LIKE 'Prompt %'";
    assert_eq!(db.query_row(untitled, [], |row| row.get::<_, i64>(0)).expect("a count"), 0);
    let (old, new) = (prompts(&before), prompts(&db));
    for (text, (state, _)) in old.iter().filter(|(_, (_, id))| id.is_some()) {
        let expected = if *state == DeliveryKind::Queued { DeliveryKind::Paused } else { *state };
        assert_eq!(new[text].0, expected, "{text}");
    }
}

/// A generator of pseudo-random numbers, which are the same in every run.
struct FixedRandom(u64);

impl FixedRandom {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % n
    }
}

#[tokio::test]
async fn a_store_with_any_damage_can_be_opened_and_the_damaged_file_is_kept() {
    let folder = tempdir().expect("a folder");
    fill_database(folder.path()).await;
    let sound = fs::read(file(folder.path())).expect("bytes");
    let (mut dice, mut repaired) = (FixedRandom(7), 0);
    for _ in 0..60 {
        let folder = tempdir().expect("a folder");
        let mut bytes = sound.clone();
        match dice.below(4) {
            0 => bytes.truncate(dice.below(sound.len())),
            1 => {
                let start = dice.below(bytes.len());
                let end = (start + dice.below(60_000)).min(bytes.len());
                bytes[start..end].fill(0);
            }
            _ => {
                for _ in 0..=dice.below(400) {
                    let at = dice.below(bytes.len());
                    bytes[at] = u8::try_from(dice.below(256)).expect("a byte");
                }
            }
        }
        fs::write(file(folder.path()), &bytes).expect("written");
        fs::write(opening::damage_marker(folder.path()), "").expect("written");
        let opened = match Store::open(folder.path(), at(0)) {
            Ok((store, opened)) => {
                store.close().await;
                opened
            }
            // A file with an unknown schema version, or of another program, is left unchanged.
            Err(StoreError::NewerSchema { .. } | StoreError::ForeignDatabase(_)) => {
                assert_eq!(fs::read(file(folder.path())).expect("bytes"), bytes);
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        if let Some(damaged_file) = opened.damaged_file {
            repaired += 1;
            assert_eq!(fs::read(damaged_file).expect("the damaged file"), bytes);
            assert_safe(&Connection::open(file(folder.path())).expect("a database"));
        }
        assert!(
            !opening::damage_marker(folder.path()).exists() && !folder.path().join("docdeck.db-recovering").exists()
        );
    }
    assert!(repaired > 30, "{repaired}");
}

#[tokio::test]
async fn only_one_of_several_processes_repairs_the_file() {
    let folder = tempdir().expect("a folder");
    fill_database(folder.path()).await;
    let mut bytes = fs::read(file(folder.path())).expect("bytes");
    bytes[..16].fill(0);
    fs::write(file(folder.path()), &bytes).expect("written");
    let at_once: Vec<_> = (0..6)
        .map(|_| {
            let folder = folder.path().to_owned();
            std::thread::spawn(move || Store::open(&folder, at(0)).expect("opened"))
        })
        .collect();
    let opened: Vec<_> = at_once.into_iter().map(|thread| thread.join().expect("no panic")).collect();
    assert_eq!(opened.iter().filter(|(_, opened)| opened.damaged_file.is_some()).count(), 1);
    for (store, _) in &opened {
        assert_eq!(i64::try_from(store.jobs(&scope()).await.expect("rows").len()).expect("few"), JOB_COUNT);
    }
}

#[tokio::test]
async fn a_new_prompt_never_gets_the_id_of_a_lost_one() {
    let folder = tempdir().expect("a folder");
    let store = super::open(folder.path());
    for n in 0..5 {
        store.new_job(&format!("Prompt {n}"), at(n)).await;
    }
    // The last rows are deleted for good. Only the table with the last assigned keys still has their keys.
    store
        .with_connection(|db| {
            db.execute_batch("DELETE FROM prompt WHERE id > 2; DELETE FROM job WHERE key > 2").expect("done")
        })
        .await;
    store.close().await;
    let (db, _) = recover_into_memory(&file(folder.path()));
    let insert = "INSERT INTO prompt (job, kind, text, state, written_at) VALUES (1, 'create', 'x', 'queued', 1)";
    db.execute(insert, []).expect("written");
    assert_eq!(db.last_insert_rowid(), 6);
}

/// SQL that adds a row to every index.
const ROWS_FOR_EVERY_INDEX: &str = "
    INSERT INTO job (key, scope, id, title, status, created_at, started_at, changed_at, revision, undelivered,
            pr_need)
        VALUES (900, 1, 'late', 'Late', 'active', 1, 1, 1, 99999, 'queued', 'review'),
               (901, 1, NULL, 'Late', NULL, 1, 1, 1, 99998, NULL, NULL);
    UPDATE job SET merged_into = 900 WHERE key = 901;
    INSERT INTO prompt (id, job, kind, text, state, written_at, sent_at)
        VALUES (900, 900, 'create', 'Late', 'accepted', 1, 1), (901, 900, 'follow-up', 'More', 'queued', 2, NULL),
               (902, 900, 'follow-up', 'Even more', 'sending', 2, NULL);
    INSERT INTO event (job, at, kind) VALUES (900, 1, 'gone');
    INSERT INTO job_page (job, position, path) VALUES (900, 0, '/late');
    INSERT INTO ledger_use (ledger, at) VALUES (1, 1);
    INSERT INTO scope (id, base_url, project) VALUES (9, 'http://late', 'late');
    INSERT INTO draft (scope, text, saved_at) VALUES (9, 'Late', 1);
    INSERT INTO draft (scope, job, text, saved_at) VALUES (9, 900, 'Late', 1);
    INSERT INTO draft (scope, prompt, text, saved_at) VALUES (9, 900, 'Late', 1);
    INSERT INTO views_answer (scope, date_from, date_to, row_limit, page, as_of, answer) VALUES (9, 'a', 'b', 1, 1, 1, '{}');";

/// Writes rows without updating these indexes, which are then incorrect.
fn write_rows_without_indexes(folder: &Path, indexes: &[String], rows: &str) {
    let db = Connection::open(file(folder)).expect("a database");
    let names = indexes.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let hidden: Vec<(String, String, String, i64, String)> = db
        .prepare(&format!("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE name IN ({names})"))
        .expect("a statement")
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
        .expect("an answer")
        .collect::<rusqlite::Result<_>>()
        .expect("the indexes");
    assert_eq!(hidden.len(), indexes.len());
    let hide = format!("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name IN ({names})");
    db.execute_batch(&hide).expect("hidden");
    // A new connection is needed, since the old one has cached the schema.
    let db = Connection::open(file(folder)).expect("a database");
    db.execute_batch(rows).expect("written");
    db.execute_batch("PRAGMA writable_schema = ON").expect("set");
    for row in hidden {
        db.execute("INSERT INTO sqlite_schema VALUES (?1, ?2, ?3, ?4, ?5)", row).expect("shown again");
    }
}

fn one_index(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

#[tokio::test]
async fn if_only_an_index_is_damaged_it_is_rebuilt_and_prompts_are_not_paused() {
    let folder = tempdir().expect("a folder");
    fill_database(folder.path()).await;
    write_rows_without_indexes(folder.path(), &one_index("job_by_id"), ROWS_FOR_EVERY_INDEX);
    fs::write(opening::damage_marker(folder.path()), "").expect("written");
    let (store, opened) = Store::open(folder.path(), at(0)).expect("opened");
    assert!(opened.has_rebuilt_indexes && opened.damaged_file.is_none());
    let states = store.with_connection(|db| prompts(db)).await;
    assert!(states.values().any(|(state, _)| *state == DeliveryKind::Queued));
    store.with_connection(|db| schema::check_readable(db, true).expect("sound")).await;
}

#[tokio::test]
async fn a_check_reports_every_index_with_a_missing_row() {
    let sound = tempdir().expect("a folder");
    fill_database(sound.path()).await;
    let db = Connection::open(file(sound.path())).expect("a database");
    let all: Vec<String> = db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
        .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
        .expect("the indexes");
    assert!(all.len() > 14, "{all:?}");
    assert_eq!(check_store(sound.path()).expect("checked"), StoreHealth::Sound);
    assert!(indexes_with_wrong_row_count(&db).expect("counted").is_empty());
    for index in all {
        let folder = tempdir().expect("a folder");
        fs::copy(file(sound.path()), file(folder.path())).expect("copied");
        write_rows_without_indexes(folder.path(), std::slice::from_ref(&index), ROWS_FOR_EVERY_INDEX);
        let wrong: BTreeSet<String> = [index.clone()].into();
        assert_eq!(check_store(folder.path()).expect("checked"), StoreHealth::WrongIndexes(wrong.clone()), "{index}");
        assert_eq!(
            indexes_with_wrong_row_count(&Connection::open(file(folder.path())).expect("a database")).expect("counted"),
            wrong
        );
        let store = super::open(folder.path());
        store.rebuild_indexes(wrong).await.expect("rebuilt");
        store.close().await;
        assert_eq!(check_store(folder.path()).expect("checked"), StoreHealth::Sound, "{index}");
    }
}

#[tokio::test]
async fn after_a_check_finds_damaged_pages_the_next_opening_repairs_the_file() {
    let folder = tempdir().expect("a folder");
    fill_database(folder.path()).await;
    let mut bytes = fs::read(file(folder.path())).expect("bytes");
    let leaf = bytes.chunks(PAGE_BYTES).rposition(|page| page[0] == 13).expect("a page of rows");
    bytes[leaf * PAGE_BYTES..(leaf + 1) * PAGE_BYTES].fill(0xee);
    fs::write(file(folder.path()), &bytes).expect("written");
    assert_eq!(check_store(folder.path()).expect("checked"), StoreHealth::Damaged);
    let (_, opened) = Store::open(folder.path(), at(0)).expect("opened");
    assert!(opened.damaged_file.is_some());
    assert_eq!(check_store(folder.path()).expect("checked"), StoreHealth::Sound);
}

#[tokio::test]
async fn a_job_that_is_missing_from_its_indexes_is_found_and_the_indexes_are_rebuilt() {
    let folder = tempdir().expect("a folder");
    fill_database(folder.path()).await;
    let indexes = ["job_by_id", "prompt_by_job", "event_by_job"].map(str::to_owned);
    write_rows_without_indexes(folder.path(), &indexes, ROWS_FOR_EVERY_INDEX);
    let store = super::open(folder.path());
    let thread = store.thread(JobKey(900)).await.expect("a thread");
    assert_eq!(
        thread.prompts.iter().map(|prompt| prompt.text.as_str()).collect::<Vec<_>>(),
        ["Late", "More", "Even more"]
    );
    assert_eq!(store.job_by_id(&scope(), &job_id("late")).await.expect("read").map(|row| row.key), Some(JobKey(900)));
    store.close().await;
    assert_eq!(check_store(folder.path()).expect("checked"), StoreHealth::Sound);
}

#[tokio::test]
async fn a_job_with_a_damaged_key_is_listed_and_the_next_opening_repairs_it() {
    let folder = tempdir().expect("a folder");
    let store = super::open(folder.path());
    for n in 1..=4 {
        store.add_accepted_job(&format!("job_{n}"), Status::Active, at(n)).await;
    }
    let before = store.jobs(&scope()).await.expect("rows");
    let root: i64 = store
        .with_connection(|db| {
            db.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'job'", [], |row| row.get(0)).expect("a root")
        })
        .await;
    store.close().await;
    let mut bytes = fs::read(file(folder.path())).expect("bytes");
    let page = (usize::try_from(root).expect("small") - 1) * PAGE_BYTES;
    // The first row begins with its length, in one or two bytes, followed by its key.
    let cell = page + usize::from(u16::from_be_bytes([bytes[page + 8], bytes[page + 9]]));
    let key = if bytes[cell] & 0x80 == 0 { cell + 1 } else { cell + 2 };
    assert_eq!(bytes[key], 1);
    bytes[key] = 100;
    fs::write(file(folder.path()), &bytes).expect("written");

    let store = super::open(folder.path());
    let listed = store.jobs(&scope()).await.expect("rows");
    assert!(listed.iter().any(|row| row.key == JobKey(100)), "{listed:?}");
    store.thread(JobKey(100)).await.expect("a listed job has a thread");
    assert!(matches!(store.thread(JobKey(77)).await, Err(StoreError::NoSuchJob)));
    store.close().await;
    let (store, opened) = Store::open(folder.path(), at(0)).expect("opened");
    assert!(opened.damaged_file.is_some());
    assert_eq!(store.jobs(&scope()).await.expect("rows"), before);
    assert_eq!(store.thread_of(JobKey(1)).await.prompts.len(), 1);
}

#[test]
fn the_recovery_message_counts_what_was_recovered() {
    let all = RecoveryCounts { jobs: 12, prompts: 1, drafts: 0, unconfirmed: 2, paused: 1 };
    assert_eq!(
        all.message(),
        "Recovered 12 jobs, 1 prompt and 0 drafts; some may be missing. 2 prompts are unconfirmed, 1 queued prompt is paused."
    );
    let queued = RecoveryCounts { unconfirmed: 0, paused: 3, ..all };
    assert!(queued.message().ends_with(" 3 queued prompts are paused."), "{}", queued.message());
    assert_eq!(RecoveryCounts::default().message(), "No job, prompt or draft could be recovered from it.");
}

#[tokio::test]
async fn a_recovered_prompt_is_sent_when_the_user_resumes_it() {
    let folder = tempdir().expect("a folder");
    let store = super::open(folder.path());
    let (prompt, row) = store.new_job("Fix the links", at(1)).await;
    store.close().await;
    let mut bytes = fs::read(file(folder.path())).expect("bytes");
    bytes[..100].fill(0);
    fs::write(file(folder.path()), &bytes).expect("written");
    let (store, opened) = Store::open(folder.path(), at(2)).expect("opened");
    assert_eq!(opened.recovery_counts, RecoveryCounts { jobs: 1, prompts: 1, paused: 1, ..RecoveryCounts::default() });
    assert_eq!(store.permit(prompt, at(3)).await, SendPermit::Blocked);
    assert_eq!(store.thread_of(row.key).await.prompts[0].delivery, Delivery::Paused);
    store.change_queue(&[row.key], crate::model::change::QueueChange::Resume, at(4)).await.expect("resumed");
    assert!(matches!(store.permit(prompt, at(5)).await, SendPermit::Granted { .. }));
}

#[test]
fn files_with_every_older_schema_are_recovered() {
    for schema in 1..=schema::MIGRATIONS.len() {
        let folder = tempdir().expect("a folder");
        let old = Connection::open(file(folder.path())).expect("a database");
        old.execute_batch("BEGIN").expect("started");
        old.execute_batch(&schema::MIGRATIONS[..schema].concat()).expect("created");
        old.execute_batch(
            "INSERT INTO scope (id, base_url, project) VALUES (1, 'http://127.0.0.1:1', 'acme-docs');
             INSERT INTO job (key, scope, id, title, status, created_at, started_at, changed_at, revision)
                 VALUES (1, 1, 'j1', 'First', 'failed', 1, 1, 9, 1);
             INSERT INTO prompt (job, kind, text, state, written_at) VALUES (1, 'create', 'First', 'accepted', 1),
                 (1, 'follow-up', 'More', 'queued', 2);
             INSERT INTO ledger (id, base_url, owner, operation) VALUES (1, 'http://127.0.0.1:1', 'acme-docs', 'create');
             INSERT INTO ledger_use (ledger, at) VALUES (1, 5);",
        )
        .expect("filled");
        let (viewed_at, key_value) = if schema < 11 { ("looked_at", "memory") } else { ("viewed_at", "key_value") };
        let renamed = format!("UPDATE job SET {viewed_at} = 7; INSERT INTO {key_value} VALUES ('layout', 'wide')");
        old.execute_batch(&format!("{renamed}; COMMIT")).expect("filled");
        drop(old);
        let (db, recovered) = recover_into_memory(&file(folder.path()));
        assert_safe(&db);
        assert_eq!(
            recovered,
            RecoveryCounts { jobs: 1, prompts: 2, paused: 1, ..RecoveryCounts::default() },
            "schema {schema}"
        );
        let sql = "SELECT viewed_at, (SELECT value FROM key_value WHERE key = 'layout'), queue_position,
                       (SELECT count(*) FROM ledger_use) FROM job";
        let found: (i64, String, i64, i64) =
            db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).expect("a job");
        assert_eq!(found, (7, "wide".to_owned(), 2, 1), "schema {schema}");
    }
}
