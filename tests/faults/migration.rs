//! Kills docdeck while it migrates the database of an older docdeck. Afterwards, the database has either the old schema
//! or the new one, and all of its data, and the next start migrates it.

use crate::crash::{
    TestRng, block_commits, database_path, integrity_check, kill_after, kill_in_write_transaction,
    spawn_without_output, stored_prompts,
};
use crate::support::command::CommandFixture;
use crate::support::slow::sample;
use docdeck::model::prompt::DeliveryKind;
use rusqlite::Connection;

const SCHEMAS: [&str; 24] = [
    include_str!("../../assets/schema/0001_begin.sql"),
    include_str!("../../assets/schema/0002_own_words.sql"),
    include_str!("../../assets/schema/0003_batch_draft.sql"),
    include_str!("../../assets/schema/0004_reports.sql"),
    include_str!("../../assets/schema/0005_first_rows.sql"),
    include_str!("../../assets/schema/0006_counts.sql"),
    include_str!("../../assets/schema/0007_loading.sql"),
    include_str!("../../assets/schema/0008_whole_order.sql"),
    include_str!("../../assets/schema/0009_job_states.sql"),
    include_str!("../../assets/schema/0010_clock_ahead.sql"),
    include_str!("../../assets/schema/0011_plain_columns.sql"),
    include_str!("../../assets/schema/0012_pull_requests.sql"),
    include_str!("../../assets/schema/0013_diffs.sql"),
    include_str!("../../assets/schema/0014_pull_request_details.sql"),
    include_str!("../../assets/schema/0015_pull_request_counts.sql"),
    include_str!("../../assets/schema/0016_previews.sql"),
    include_str!("../../assets/schema/0017_analytics.sql"),
    include_str!("../../assets/schema/0018_job_signals.sql"),
    include_str!("../../assets/schema/0019_job_signals_after.sql"),
    include_str!("../../assets/schema/0020_team.sql"),
    include_str!("../../assets/schema/0021_team_uses.sql"),
    include_str!("../../assets/schema/0022_authors.sql"),
    include_str!("../../assets/schema/0023_team_reports.sql"),
    include_str!("../../assets/schema/0024_reader_texts.sql"),
];
/// The number of jobs in an old database, each with a prompt.
const JOB_COUNT: i64 = 600;

/// Creates a database with this schema version. The database is so large that its migration takes a while.
fn create_old_database(fixture: &CommandFixture, schema: usize) {
    std::fs::create_dir_all(fixture.data_folder()).expect("a folder");
    let _ = std::fs::remove_file(database_path(fixture));
    let mut db = Connection::open(database_path(fixture)).expect("opened");
    let transaction = db.transaction().expect("begun");
    for sql in &SCHEMAS[..schema] {
        transaction.execute_batch(sql).expect("made");
    }
    transaction.pragma_update(None, "user_version", i64::try_from(schema).expect("small")).expect("set");
    let base_url = fixture.sim.base_url();
    transaction
        .execute("INSERT INTO scope (id, base_url, project) VALUES (1, ?1, ?2)", (base_url, fixture.sim.project()))
        .expect("written");
    let response = format!(r#"{{"totals":{{"human":1,"ai":2,"total":3}},"rows":[{}]}}"#, vec!["{}"; 200].join(","));
    for n in 1..=JOB_COUNT {
        let state = if n % 3 == 0 { "queued" } else { "unconfirmed" };
        transaction
            .execute(
                "INSERT INTO job (key, scope, title, created_at, started_at, changed_at, undelivered, revision)
             VALUES (?1, 1, 'a job', 1, 1, 1, ?2, ?1)",
                (n, state),
            )
            .expect("written");
        let text = format!("prompt {n} {}", "x".repeat(500));
        transaction.execute(
            "INSERT INTO prompt (job, kind, text, state, reason, written_at) VALUES (?1, 'create', ?2, ?3, 'why', 1)",
            (n, text, state),
        )
        .expect("written");
        transaction.execute("INSERT INTO views_answer (scope, date_from, date_to, row_limit, page, as_of, answer) VALUES (1, ?1, ?1, 50, 1, 1, ?2)", (format!("day {n}"), &response))
            .expect("written");
    }
    transaction
        .execute("INSERT INTO draft (scope, text, saved_at) VALUES (1, 'half a thought', 1)", ())
        .expect("written");
    transaction.commit().expect("written");
}

/// Returns the schema version, and data that must survive: the number and total length of the prompts, and the draft.
fn content(fixture: &CommandFixture) -> (usize, (i64, i64, String)) {
    let db = Connection::open(database_path(fixture)).expect("opened");
    let schema: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0)).expect("read");
    let sums = "SELECT count(*), sum(length(text)), (SELECT text FROM draft) FROM prompt";
    (
        usize::try_from(schema).expect("small"),
        db.query_row(sums, (), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("read"),
    )
}

/// Opens the store with the current docdeck. Asserts that every prompt is there, that the same third of them is queued,
/// and that the schema is current.
fn assert_complete(fixture: &CommandFixture) {
    let deliveries = stored_prompts(fixture);
    assert_eq!(deliveries.len(), usize::try_from(JOB_COUNT).expect("few"));
    assert_eq!(deliveries.values().filter(|kind| **kind == DeliveryKind::Queued).count(), deliveries.len() / 3);
    assert_eq!(content(fixture).0, SCHEMAS.len());
}

#[test]
fn after_a_kill_at_the_commit_of_a_migration_the_old_schema_is_kept_and_the_next_start_migrates_it() {
    let fixture = CommandFixture::new(&[]);
    for schema in 1..SCHEMAS.len() {
        create_old_database(&fixture, schema);
        let before = content(&fixture);
        let reader = block_commits(&fixture);
        let child = spawn_without_output(&fixture, &["jobs"]);
        kill_in_write_transaction(&fixture, child, reader);
        assert_eq!((content(&fixture), integrity_check(&fixture.data_folder()).as_str()), (before, "ok"));
        assert_complete(&fixture);
    }
}

/// Runs a sample, and all kills with `DOCDECK_SLOW_TESTS`.
#[test]
fn after_kills_at_random_moments_of_a_migration_no_data_is_lost() {
    let fixture = CommandFixture::new(&[]);
    let (mut rng, mut killed, mut migrated_later) = (TestRng(3), 0, 0);
    create_old_database(&fixture, 1);
    let begin = std::time::Instant::now();
    fixture.run(&["jobs"]);
    let span = usize::try_from(begin.elapsed().as_millis()).expect("short") * 5 / 4;
    for n in sample(0..12, 3) {
        let schema = n % (SCHEMAS.len() - 1) + 1;
        create_old_database(&fixture, schema);
        let (_, before) = content(&fixture);
        killed += usize::from(kill_after(spawn_without_output(&fixture, &["jobs"]), rng.below(span)));
        assert_eq!(integrity_check(&fixture.data_folder()), "ok");
        let (found, after) = content(&fixture);
        assert!(found == schema || found == SCHEMAS.len(), "neither old nor new: {found}");
        assert_eq!(after, before);
        migrated_later += usize::from(found == schema);
        assert_complete(&fixture);
    }
    println!(
        "{killed} kills within {span} ms of a start; {migrated_later} databases still had the old schema, and were migrated at the next start"
    );
}
