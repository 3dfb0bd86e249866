//! `docdeck export`, `import` and `prune --jobs`: what goes into the file, what comes out of it on another computer, and
//! what neither of them ever does.

use crate::command_fixture::{CommandFixture, Ran};
use docdeck::model::Time;
use docdeck::model::change::LocalChange;
use docdeck::model::job::{JobId, RemoteJob, Status};
use docdeck::model::log::Operation;
use docdeck::model::prompt::DraftSlot;
use docdeck::model::text::CleanText;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

fn job(id: &str, status: Status) -> RemoteJob {
    let id = JobId::new(id).expect("an id");
    RemoteJob {
        id,
        status,
        repository: None,
        git_ref: None,
        model: None,
        pr_link: None,
        created_at: None,
        archived_at: None,
    }
}

/// A record with a tracked job that has a tag, a prompt that waits, and a draft.
fn fill(world: &CommandFixture) {
    world.store(async |store, scope| {
        let now: Time = chrono::Utc::now();
        let row = store.track(scope, job("job-1", Status::Completed), now).await.expect("kept");
        store.change_jobs(&[row.key], LocalChange::Tags(vec![CleanText::line("docs")]), now).await.expect("kept");
        store.add_new_job(scope, "Fix\nthe links", now).await.expect("kept");
        store.save_draft(scope, DraftSlot::NewJob, "an idea", now).await.expect("kept");
    });
}

/// The program on another computer, with these words and this on its stdin.
fn elsewhere(world: &CommandFixture, words: &[&str], stdin: &str) -> Ran {
    let data = world.home.path().join("elsewhere");
    world.run_with(words, &[("DOCDECK_DATA_DIR", &data.display().to_string())], stdin)
}

fn file(world: &CommandFixture, name: &str) -> PathBuf {
    world.home.path().join(name)
}

/// The titles and tags of all jobs, whatever their group.
fn jobs(ran: &Ran) -> Vec<(Value, Value, Value)> {
    let answer = ran.json();
    let list = answer.get("jobs").and_then(Value::as_array).expect("jobs");
    let field = |job: &Value, name: &str| job.get(name).cloned().unwrap_or_default();
    let mut jobs: Vec<_> =
        list.iter().map(|job| (field(job, "title"), field(job, "tags"), field(job, "delivery"))).collect();
    jobs.sort_by_key(|job| job.0.to_string());
    jobs
}

#[test]
fn all_that_is_known_goes_to_another_computer_and_twice_is_once() {
    let world = CommandFixture::new(&[]);
    fill(&world);
    let ran = world.run(&["export", "all.jsonl"]).ends(0);
    assert_eq!(ran.out, "");
    assert!(
        ran.err.starts_with("Exported 2 jobs and 1 draft of a new job to all.jsonl.\n1 prompt waits here"),
        "{ran:?}"
    );
    let mode = std::fs::metadata(file(&world, "all.jsonl")).expect("written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let ran = elsewhere(&world, &["import", "all.jsonl"], "").ends(0);
    assert!(
        ran.out.starts_with("Added 2 jobs (1 prompt, 1 draft); changed 0; 0 known already.\n1 prompt was not"),
        "{ran:?}"
    );
    let there = elsewhere(&world, &["jobs", "--json"], "").ends(0);
    let expected =
        [(json!("Fix"), json!([]), json!("unconfirmed")), (json!("job-1"), json!(["docs"]), json!("accepted"))];
    assert_eq!(jobs(&there), expected);
    let again = elsewhere(&world, &["import", "all.jsonl", "--json"], "").ends(0).json();
    assert_eq!(again["jobs"], json!({ "added": 0, "changed": 0, "unchanged": 2 }));
    assert_eq!((&again["drafts"], &again["hasEnd"]), (&json!({ "added": 0, "leftOut": 0 }), &json!(true)));
    assert_eq!(world.sim.requests(Operation::Create), 0, "the service is not asked");
}

#[test]
fn it_passes_through_a_pipe_and_the_key_is_not_in_it() {
    let world = CommandFixture::new(&[]);
    fill(&world);
    for words in [&["export"][..], &["export", "-"]] {
        let ran = world.run(words).ends(0);
        assert_eq!(ran.out.lines().count(), 5);
        assert!(!ran.out.contains(world.sim.api_key()));
        let first: Value = serde_json::from_str(ran.out.lines().next().expect("a line")).expect("JSON");
        assert_eq!((&first["kind"], &first["version"]), (&json!("docdeck"), &json!(1)));
        let would = elsewhere(&world, &["import", "-", "--dry-run", "--json"], &ran.out).ends(0).json();
        assert_eq!((&would["dryRun"], &would["jobs"]["added"]), (&json!(true), &json!(2)));
        assert!(!file(&world, "elsewhere").exists(), "a dry run makes no store");
    }
    let lines = world.run(&["export"]).out;
    elsewhere(&world, &["import", "-"], &lines).ends(0);
    assert_eq!(jobs(&elsewhere(&world, &["jobs", "--json"], "")).len(), 2);
}

#[test]
fn a_reader_that_has_had_enough_ends_it_quietly() {
    let world = CommandFixture::new(&[]);
    fill(&world);
    let script = format!("{} export | head -n 1; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_docdeck"));
    let mut shell = assert_cmd::Command::new("bash");
    let output = shell.env_clear().envs(world.variables()).args(["-c", &script]).output().expect("it ran");
    let out = String::from_utf8(output.stdout).expect("text");
    assert_eq!(out.lines().last(), Some("0"), "{out}");
    let err = String::from_utf8(output.stderr).expect("text");
    assert!(!err.contains("docdeck:") && !err.contains("panic"), "{err}");
}

#[test]
fn a_file_that_is_there_is_written_over_only_when_that_is_said() {
    let world = CommandFixture::new(&[]);
    fill(&world);
    std::fs::write(file(&world, "mine"), "mine").expect("written");
    let ran = world.run(&["export", "mine"]).ends(2);
    assert!(ran.err.contains("mine is there already, so nothing was exported: choose another name, or say --force."));
    assert_eq!(std::fs::read_to_string(file(&world, "mine")).expect("there"), "mine");
    world.run(&["export", "mine", "--force"]).ends(0);
    assert!(std::fs::read_to_string(file(&world, "mine")).expect("there").starts_with("{\"kind\":\"docdeck\""));
    let mode = std::fs::metadata(file(&world, "mine")).expect("written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let ran = world.run(&["export", "no/such/folder/file"]).ends(2);
    assert!(ran.err.contains("can't be written to no/such/folder/file"), "{ran:?}");
    std::fs::create_dir(file(&world, "folder")).expect("made");
    assert!(world.run(&["export", "folder", "--force"]).ends(2).err.contains("folder is no file"));
}

#[test]
fn without_a_store_there_is_nothing_to_export() {
    let world = CommandFixture::new(&[]);
    let ran = world.run(&["export", "all.jsonl"]).ends(2);
    assert!(ran.err.contains("nothing is known here that could be exported"), "{ran:?}");
    assert!(!file(&world, "all.jsonl").exists() && !world.data().exists());
}

#[test]
fn a_line_that_is_wrong_is_named_and_nothing_is_imported() {
    let world = CommandFixture::new(&[]);
    fill(&world);
    let mut lines = world.run(&["export"]).out;
    lines.push_str("{\"kind\":\"job\",\"project\":7}\n");
    let ran = elsewhere(&world, &["import", "-"], &lines).ends(2);
    assert_eq!(ran.out, "");
    assert!(ran.err.starts_with("docdeck: The standard input: Line 6 can't be read: "), "{ran:?}");
    assert!(ran.err.trim_end().ends_with("Nothing was imported."), "{ran:?}");
    assert!(!file(&world, "elsewhere/docdeck.db").exists());
    let ran = elsewhere(&world, &["import", "nowhere.jsonl", "--json"], "").ends(2);
    assert_eq!(ran.json()["exitCode"], 2);
    assert!(ran.err.contains("nowhere.jsonl can't be read (no such file or directory): check its name"), "{ran:?}");
    for (wrong, said) in [("hello\n", "Line 1 is not the header of a docdeck export: "), ("", "It is empty: ")] {
        let ran = elsewhere(&world, &["import", "-"], wrong).ends(2);
        let remedy = "name a file that `docdeck export` wrote. Nothing was imported.\n";
        assert_eq!(ran.err, format!("docdeck: The standard input: {said}{remedy}"));
    }
    let newer = "{\"kind\":\"docdeck\",\"version\":2}\n";
    assert!(elsewhere(&world, &["import", "-"], newer).ends(2).err.contains("update docdeck"));
}

#[test]
fn a_file_that_was_cut_off_is_taken_in_and_said() {
    let world = CommandFixture::new(&[]);
    fill(&world);
    let lines = world.run(&["export"]).out;
    let cut: String = lines.lines().take(2).map(|line| format!("{line}\n")).collect();
    let ran = elsewhere(&world, &["import", "-"], &cut).ends(0);
    assert!(ran.out.starts_with("Added 1 job; changed 0"), "{ran:?}");
    assert!(ran.err.contains("has no end line, as an export has: something may have been cut off"), "{ran:?}");
}

#[test]
fn what_is_here_already_stays_and_what_was_left_out_is_said() {
    let world = CommandFixture::new(&[]);
    fill(&world);
    let lines = world.run(&["export"]).out;
    world.store(async |store, scope| {
        store.save_draft(scope, DraftSlot::NewJob, "another idea", chrono::Utc::now()).await.expect("kept");
    });
    let ran = world.run_with(&["import", "-"], &[], lines).ends(0);
    assert!(
        ran.out.contains("1 draft was left out: another text is in its place here. The file still has it."),
        "{ran:?}"
    );
    world.store(async |store, scope| {
        let drafts = store.drafts(scope).await.expect("drafts");
        assert_eq!(drafts.iter().map(|draft| draft.text.as_str()).collect::<Vec<_>>(), ["another idea"]);
        assert_eq!(store.queued(scope).await.expect("read").len(), 1, "what waits here goes on waiting");
    });
}

#[test]
fn one_project_can_be_exported_and_imported_alone() {
    let world = CommandFixture::new(&[]);
    fill(&world);
    let none = world.run(&["export", "--project", "another"]).ends(0);
    assert_eq!(none.out.lines().count(), 2, "a header and an end");
    let lines = world.run(&["export", "--project", world.sim.project()]).ends(0).out;
    assert_eq!(lines.lines().count(), 5);
    let ran = elsewhere(&world, &["import", "-", "--json", "--project", "another"], &lines).ends(0).json();
    assert_eq!(ran["jobs"]["added"], 0);
}

#[test]
fn jobs_that_are_over_go_only_when_their_age_is_said_and_unseen_ones_never() {
    let world = CommandFixture::new(&[]);
    let long_ago = chrono::Utc::now() - chrono::TimeDelta::days(100);
    world.store(async |store, scope| {
        for id in ["seen", "unseen"] {
            let at = Some(long_ago);
            let job = RemoteJob { created_at: at, ..job(id, Status::Completed) };
            let row = store.track(scope, job, long_ago).await.expect("kept");
            if id == "seen" {
                store.change_jobs(&[row.key], LocalChange::Handled, long_ago).await.expect("kept");
            }
        }
    });
    assert!(world.run(&["prune", "--jobs"]).ends(2).err.contains("--older-than <DAYS>"));
    assert_eq!(world.run(&["prune", "--json"]).ends(0).json()["ranges"], 0);
    let would = world.run(&["prune", "--jobs", "--older-than", "30", "--dry-run"]).ends(0);
    assert!(would.out.starts_with("Would remove 1 job with 0 prompts.\n1 more is as old and stays: "), "{would:?}");
    assert_eq!(jobs(&world.run(&["jobs", "--json"])).len(), 2);
    let young = world.run(&["prune", "--jobs", "--older-than", "200", "--json"]).ends(0).json();
    assert_eq!((&young["jobs"], &young["spared"]), (&json!(0), &json!(0)));
    world.run(&["prune", "--jobs", "--older-than", "30"]).ends(0);
    assert_eq!(jobs(&world.run(&["jobs", "--json"])), [(json!("unseen"), json!([]), json!("accepted"))]);
}
