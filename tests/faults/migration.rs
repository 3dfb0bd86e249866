//! A record of an older docdeck, and a docdeck that is killed while it brings it up to date: it is of the old schema or of the
//! new one, all of it is there, and the next start goes on.

use crate::command_fixture::CommandFixture;
use crate::crash::{Dice, file, integrity, kept, kill_after, kill_at_the_commit, reader, spawn};
use docdeck::model::prompt::DeliveryKind;
use rusqlite::Connection;

const SCHEMAS: [&str; 10] = [
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
];
/// Jobs in an old record, each with a prompt.
const JOBS: i64 = 600;

/// A record of this schema, large enough that bringing it up to date takes a while.
fn old(world: &CommandFixture, schema: usize) {
    std::fs::create_dir_all(world.data()).expect("a folder");
    let _ = std::fs::remove_file(file(world));
    let mut db = Connection::open(file(world)).expect("opened");
    let all = db.transaction().expect("begun");
    for sql in &SCHEMAS[..schema] {
        all.execute_batch(sql).expect("made");
    }
    all.pragma_update(None, "user_version", i64::try_from(schema).expect("small")).expect("set");
    let base_url = world.sim.base_url();
    all.execute("INSERT INTO scope (id, base_url, project) VALUES (1, ?1, ?2)", (base_url, world.sim.project()))
        .expect("written");
    let answer = format!(r#"{{"totals":{{"human":1,"ai":2,"total":3}},"rows":[{}]}}"#, vec!["{}"; 200].join(","));
    for n in 1..=JOBS {
        let state = if n % 3 == 0 { "queued" } else { "unconfirmed" };
        all.execute(
            "INSERT INTO job (key, scope, title, created_at, started_at, changed_at, undelivered, revision)
             VALUES (?1, 1, 'a job', 1, 1, 1, ?2, ?1)",
            (n, state),
        )
        .expect("written");
        let text = format!("prompt {n} {}", "x".repeat(500));
        all.execute(
            "INSERT INTO prompt (job, kind, text, state, reason, written_at) VALUES (?1, 'create', ?2, ?3, 'why', 1)",
            (n, text, state),
        )
        .expect("written");
        all.execute("INSERT INTO views_answer (scope, date_from, date_to, row_limit, page, as_of, answer) VALUES (1, ?1, ?1, 50, 1, 1, ?2)", (format!("day {n}"), &answer))
            .expect("written");
    }
    all.execute("INSERT INTO draft (scope, text, saved_at) VALUES (1, 'half a thought', 1)", ()).expect("written");
    all.commit().expect("written");
}

/// The schema, and what nobody may lose: how many prompts of how many characters, and the draft.
fn content(world: &CommandFixture) -> (usize, (i64, i64, String)) {
    let db = Connection::open(file(world)).expect("opened");
    let schema: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0)).expect("read");
    let sums = "SELECT count(*), sum(length(text)), (SELECT text FROM draft) FROM prompt";
    (
        usize::try_from(schema).expect("small"),
        db.query_row(sums, (), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("read"),
    )
}

/// Nothing is in the line that the dispatcher would send, and all of the prompts are read.
fn assert_whole(world: &CommandFixture) {
    let kept = kept(world);
    assert_eq!(kept.len(), usize::try_from(JOBS).expect("few"));
    assert_eq!(kept.values().filter(|kind| **kind == DeliveryKind::Queued).count(), kept.len() / 3);
    assert_eq!(content(world).0, SCHEMAS.len());
}

#[test]
fn killed_at_the_commit_of_a_migration_the_record_is_the_old_one_and_the_next_start_goes_on() {
    let world = CommandFixture::new(&[]);
    for schema in 1..SCHEMAS.len() {
        old(&world, schema);
        let before = content(&world);
        let reader = reader(&world);
        let child = spawn(&world, &["jobs"]);
        kill_at_the_commit(&world, child, reader);
        assert_eq!((content(&world), integrity(&world.data()).as_str()), (before, "ok"));
        assert_whole(&world);
    }
}

#[test]
fn killed_at_any_moment_of_a_migration_nothing_is_lost() {
    let world = CommandFixture::new(&[]);
    let (mut dice, mut killed, mut gone_on) = (Dice(3), 0, 0);
    old(&world, 1);
    let begin = std::time::Instant::now();
    world.run(&["jobs"]);
    let span = usize::try_from(begin.elapsed().as_millis()).expect("short") * 5 / 4;
    for n in 0..12 {
        let schema = n % (SCHEMAS.len() - 1) + 1;
        old(&world, schema);
        let (_, before) = content(&world);
        killed += usize::from(kill_after(spawn(&world, &["jobs"]), dice.below(span)));
        assert_eq!(integrity(&world.data()), "ok");
        let (found, after) = content(&world);
        assert!(found == schema || found == SCHEMAS.len(), "neither old nor new: {found}");
        assert_eq!(after, before);
        gone_on += usize::from(found == schema);
        assert_whole(&world);
    }
    println!("{killed} kills within {span} ms of a start; {gone_on} records were still old, and came up to date later");
}
