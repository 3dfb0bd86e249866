//! A power failure in the middle of a transaction: whatever part of the journal and the pages had reached the disk, the
//! database is as it was before the transaction. If the journal is lost with half of the pages written, docdeck still
//! ends up with an intact database.

use crate::command_fixture::CommandFixture;
use crate::crash::{TestRng, database, integrity, journal, received, stored_prompts};
use docdeck::model::change::QueueChange;
use docdeck::model::prompt::DraftSlot;
use rusqlite::Connection;
use std::path::Path;

/// Size in bytes of a page, of a journal header, and of what a journal record adds to a page.
const PAGE: usize = 4_096;
const HEAD: usize = 512;
const RECORD: usize = 8;

/// A database with some prompts; returns it from before a large transaction that rewrites them, from the middle of it
/// (the pages are on disk), and the rollback journal.
fn interrupted_transaction(fixture: &CommandFixture) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    fixture.store(async |store, scope| {
        let texts: Vec<String> = (0..200).map(|n| format!("prompt {n:03} {}", "y".repeat(1_000))).collect();
        let rows = store.add_batch(scope, &texts, chrono::Utc::now()).await.expect("written");
        let keys: Vec<_> = rows.iter().map(|row| row.key).collect();
        store.change_queue(&keys, QueueChange::Pause, chrono::Utc::now()).await.expect("written");
        store.save_draft(scope, DraftSlot::NewJob, "half a thought", chrono::Utc::now()).await.expect("written");
    });
    let whole = std::fs::read(database(fixture)).expect("read");
    let db = Connection::open(database(fixture)).expect("opened");
    db.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; PRAGMA cache_spill = 1; BEGIN IMMEDIATE;")
        .expect("begun");
    db.execute("UPDATE prompt SET text = text || ' changed'", []).expect("rewritten");
    let (half, undo) = (std::fs::read(database(fixture)), std::fs::read(journal(&fixture.data())));
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
fn a_power_failure_in_a_transaction_leaves_the_database_as_it_was_before() {
    let fixture = CommandFixture::new(&[]);
    let (whole, half, undo) = interrupted_transaction(&fixture);
    let prompts = stored_prompts(&fixture);
    let mut tried = 0;
    // SQLite writes pages only after the journal: with a partial journal, no page is written.
    let mut images: Vec<(&[u8], &[u8])> = cuts(undo.len()).into_iter().map(|cut| (&whole[..], &undo[..cut])).collect();
    images.push((&half, &undo));
    for (pages, journal_part) in images {
        std::fs::write(database(&fixture), pages).expect("written");
        std::fs::write(journal(&fixture.data()), journal_part).expect("written");
        let ran = fixture.run(&["show", "--json", "no-such-job"]);
        assert_ne!(ran.code, 101, "{ran:?}");
        assert_eq!(stored_prompts(&fixture), prompts, "the journal was cut at {}", journal_part.len());
        let drafts = fixture.store(async |store, scope| store.drafts(scope).await.expect("drafts"));
        assert_eq!(drafts.first().map(|draft| draft.text.as_str()), Some("half a thought"));
        assert_eq!(integrity(&fixture.data()), "ok");
        tried += 1;
    }
    println!("{tried} power failures");
}

#[test]
fn a_lost_journal_with_half_written_pages_ends_in_an_intact_database_and_keeps_the_damaged_one() {
    let fixture = CommandFixture::new(&[]);
    let (_, half, undo) = interrupted_transaction(&fixture);
    for cut in cuts(undo.len() - 1) {
        std::fs::write(database(&fixture), &half).expect("written");
        std::fs::write(journal(&fixture.data()), &undo[..cut]).expect("written");
        let ran = fixture.run(&["new", &format!("after {cut} [sim:seconds=6000]")]).ends(0);
        assert_eq!(integrity(&fixture.data()), "ok", "{ran:?}");
        let aside = std::fs::read_dir(fixture.data()).expect("a folder").flatten();
        let aside = aside.filter(|entry| entry.file_name().to_string_lossy().starts_with("docdeck-corrupt-")).count();
        let tracked = stored_prompts(&fixture).len();
        assert!(
            tracked == 201 || aside > 0,
            "{tracked} prompts, {aside} files moved aside; the journal was cut at {cut}"
        );
    }
    received(&fixture);
}

/// The prompts and the drafts, read without docdeck.
fn content(folder: &Path) -> (Vec<String>, Vec<String>) {
    let db = Connection::open(folder.join("docdeck.db")).expect("opened");
    let texts = |sql: &str| -> Vec<String> {
        let mut read = db.prepare(sql).expect("a statement");
        let rows = read.query_map([], |row| row.get(0)).expect("rows");
        rows.map(|text| text.expect("a text")).collect()
    };
    (texts("SELECT text FROM prompt ORDER BY id"), texts("SELECT text FROM draft"))
}

#[test]
fn whatever_part_of_a_transaction_reached_the_disk_the_database_is_as_it_was_before() {
    let fixture = CommandFixture::new(&[]);
    let (whole, half, undo) = interrupted_transaction(&fixture);
    let before = content(&fixture.data());
    assert_eq!((before.0.len(), before.1.len()), (200, 1));
    let mut images: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    // The journal, cut at the start of each record, a byte before it, and at random positions: no page was written
    // then.
    let records = (0..).map(|n| HEAD + n * (PAGE + RECORD)).take_while(|at| *at <= undo.len());
    images.extend(records.flat_map(|at| [at - 1, at]).map(|at| (whole.clone(), undo[..at].to_vec())));
    let mut rng = TestRng(11);
    images.extend((0..40).map(|_| (whole.clone(), undo[..rng.below(undo.len())].to_vec())));
    // The complete journal, and any subset of the pages.
    for _ in 0..40 {
        let mut pages = whole.clone();
        for (n, page) in half.chunks(PAGE).enumerate().filter(|_| rng.below(2) == 0) {
            let at = n * PAGE;
            let end = (at + page.len()).min(pages.len());
            pages[at..end].copy_from_slice(&page[..end - at]);
        }
        images.push((pages, undo.clone()));
    }
    for (n, (pages, undo)) in images.iter().enumerate() {
        std::fs::write(database(&fixture), pages).expect("written");
        std::fs::write(journal(&fixture.data()), undo).expect("written");
        fixture.store(async |store, scope| {
            assert_eq!(store.jobs(scope).await.expect("rows").len(), 200, "image {n}");
        });
        assert_eq!(integrity(&fixture.data()), "ok", "image {n}");
        assert_eq!(content(&fixture.data()), before, "image {n}");
    }
    println!("{} images of a record after a power failure", images.len());
}
