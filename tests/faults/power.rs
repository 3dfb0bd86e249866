//! Simulates a power failure in the middle of a transaction. Whatever part of the journal and of the database pages had
//! reached the disk, the next start restores the database as it was before the transaction. If half of the pages are
//! written but the journal is lost, docdeck still ends up with an intact database.

use crate::crash::{TestRng, database_path, integrity_check, journal_path, received_prompts, stored_prompts};
use crate::support::command::CommandFixture;
use crate::support::slow::sample;
use docdeck::model::change::QueueChange;
use docdeck::model::prompt::DraftTarget;
use rusqlite::Connection;
use std::path::Path;

/// Size of a database page in bytes.
const PAGE_BYTES: usize = 4_096;
/// Size of the journal's header in bytes.
const HEADER_BYTES: usize = 512;
/// Number of bytes that a journal record has in addition to a page.
const RECORD_OVERHEAD: usize = 8;

/// Fills the database with prompts, and starts a large transaction that rewrites them. Returns the database file before
/// the transaction, the file in the middle of it (half of the new pages are on disk), and the rollback journal.
fn interrupted_transaction(fixture: &CommandFixture) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    fixture.with_store(async |store, scope| {
        let texts: Vec<String> = (0..200).map(|n| format!("prompt {n:03} {}", "y".repeat(1_000))).collect();
        let rows = store.add_batch(scope, &texts, chrono::Utc::now()).await.expect("written");
        let keys: Vec<_> = rows.iter().map(|row| row.key).collect();
        store.change_queue(&keys, QueueChange::Pause, chrono::Utc::now()).await.expect("written");
        store.save_draft(scope, DraftTarget::NewJob, "half a thought", chrono::Utc::now()).await.expect("written");
    });
    let whole = std::fs::read(database_path(fixture)).expect("read");
    let db = Connection::open(database_path(fixture)).expect("opened");
    db.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; PRAGMA cache_spill = 1; BEGIN IMMEDIATE;")
        .expect("begun");
    db.execute("UPDATE prompt SET text = text || ' changed'", []).expect("rewritten");
    let (half, undo) = (std::fs::read(database_path(fixture)), std::fs::read(journal_path(&fixture.data_folder())));
    let (half, undo) = (half.expect("read"), undo.expect("a journal"));
    assert!(half != whole && undo.len() > 1_024, "nothing was spilled");
    db.execute_batch("ROLLBACK").expect("taken back");
    (whole, half, undo)
}

fn journal_cuts(length: usize) -> Vec<usize> {
    let mut cuts = vec![0, 1, 8, 27, 28, 511, 512, 513, 1_024, length / 3, length / 2, length - 1, length];
    cuts.retain(|cut| *cut <= length);
    cuts
}

#[test]
fn docdeck_rolls_back_a_transaction_that_a_power_failure_interrupted() {
    let fixture = CommandFixture::new(&[]);
    let (whole, half, undo) = interrupted_transaction(&fixture);
    let prompts = stored_prompts(&fixture);
    let mut tried = 0;
    // SQLite writes pages only after the complete journal. So while the journal is partial, no page has changed.
    let mut images: Vec<(&[u8], &[u8])> =
        journal_cuts(undo.len()).into_iter().map(|cut| (&whole[..], &undo[..cut])).collect();
    images.push((&half, &undo));
    for (pages, journal_part) in images {
        std::fs::write(database_path(&fixture), pages).expect("written");
        std::fs::write(journal_path(&fixture.data_folder()), journal_part).expect("written");
        let ran = fixture.run(&["show", "--json", "no-such-job"]);
        assert_ne!(ran.code, 101, "{ran:?}");
        assert_eq!(stored_prompts(&fixture), prompts, "the journal was cut at {}", journal_part.len());
        let drafts = fixture.with_store(async |store, scope| store.drafts(scope).await.expect("drafts"));
        assert_eq!(drafts.first().map(|draft| draft.text.as_str()), Some("half a thought"));
        assert_eq!(integrity_check(&fixture.data_folder()), "ok");
        tried += 1;
    }
    println!("{tried} power failures");
}

#[test]
fn after_a_lost_journal_the_database_is_repaired_and_the_damaged_one_is_kept() {
    let fixture = CommandFixture::new(&[]);
    let (_, half, undo) = interrupted_transaction(&fixture);
    for cut in journal_cuts(undo.len() - 1) {
        std::fs::write(database_path(&fixture), &half).expect("written");
        std::fs::write(journal_path(&fixture.data_folder()), &undo[..cut]).expect("written");
        let ran = fixture.run(&["new", &format!("after {cut} [sim:seconds=6000]")]).expect_exit_code(0);
        assert_eq!(integrity_check(&fixture.data_folder()), "ok", "{ran:?}");
        let aside = std::fs::read_dir(fixture.data_folder()).expect("a folder").flatten();
        let aside = aside.filter(|entry| entry.file_name().to_string_lossy().starts_with("docdeck-corrupt-")).count();
        let tracked = stored_prompts(&fixture).len();
        assert!(
            tracked == 201 || aside > 0,
            "{tracked} prompts, {aside} files moved aside; the journal was cut at {cut}"
        );
    }
    received_prompts(&fixture);
}

/// Reads the texts of all prompts and drafts without docdeck.
fn content(folder: &Path) -> (Vec<String>, Vec<String>) {
    let db = Connection::open(folder.join("docdeck.db")).expect("opened");
    let texts = |sql: &str| -> Vec<String> {
        let mut read = db.prepare(sql).expect("a statement");
        let rows = read.query_map([], |row| row.get(0)).expect("rows");
        rows.map(|text| text.expect("a text")).collect()
    };
    (texts("SELECT text FROM prompt ORDER BY id"), texts("SELECT text FROM draft"))
}

/// Runs a sample, and all images with `DOCDECK_SLOW_TESTS`.
#[test]
fn any_part_of_a_transaction_that_reached_the_disk_is_rolled_back() {
    let fixture = CommandFixture::new(&[]);
    let (whole, half, undo) = interrupted_transaction(&fixture);
    let before = content(&fixture.data_folder());
    assert_eq!((before.0.len(), before.1.len()), (200, 1));
    let mut images: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    // Images with a partial journal, cut at the start of each record, a byte before it, and at random positions. No
    // page has changed yet.
    let records = (0..).map(|n| HEADER_BYTES + n * (PAGE_BYTES + RECORD_OVERHEAD)).take_while(|at| *at <= undo.len());
    images.extend(records.flat_map(|at| [at - 1, at]).map(|at| (whole.clone(), undo[..at].to_vec())));
    let mut rng = TestRng(11);
    images.extend((0..40).map(|_| (whole.clone(), undo[..rng.below(undo.len())].to_vec())));
    // Images with the complete journal and a random subset of the changed pages.
    for _ in 0..40 {
        let mut pages = whole.clone();
        for (n, page) in half.chunks(PAGE_BYTES).enumerate().filter(|_| rng.below(2) == 0) {
            let at = n * PAGE_BYTES;
            let end = (at + page.len()).min(pages.len());
            pages[at..end].copy_from_slice(&page[..end - at]);
        }
        images.push((pages, undo.clone()));
    }
    let images = sample(images, 8);
    for (n, (pages, undo)) in images.iter().enumerate() {
        std::fs::write(database_path(&fixture), pages).expect("written");
        std::fs::write(journal_path(&fixture.data_folder()), undo).expect("written");
        fixture.with_store(async |store, scope| {
            assert_eq!(store.jobs(scope).await.expect("rows").len(), 200, "image {n}");
        });
        assert_eq!(integrity_check(&fixture.data_folder()), "ok", "image {n}");
        assert_eq!(content(&fixture.data_folder()), before, "image {n}");
    }
    println!("{} images of a record after a power failure", images.len());
}
