//! `docdeck export`, `import` and `prune --jobs`: what the exported file contains, what another computer imports from
//! it, and what these commands never change.

use crate::support::command::{CommandFixture, CommandResult};
use docdeck::model::Time;
use docdeck::model::change::LocalChange;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DraftTarget;
use docdeck::model::remote_job::{JobId, RemoteJob, Status};
use docdeck::model::text::CleanText;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

fn job(id: &str, status: Status) -> RemoteJob {
    RemoteJob::new(JobId::new(id).expect("an id"), status)
}

/// Fills the store with a tracked job that has a tag, a new job whose prompt is queued, and a draft.
fn fill(fixture: &CommandFixture) {
    fixture.with_store(async |store, scope| {
        let now: Time = chrono::Utc::now();
        let row = store.track(scope, job("job-1", Status::Completed), now).await.expect("kept");
        store.change_jobs(&[row.key], LocalChange::Tags(vec![CleanText::line("docs")]), now).await.expect("kept");
        store.add_new_job(scope, "Fix\nthe links", now).await.expect("kept");
        store.save_draft(scope, DraftTarget::NewJob, "an idea", now).await.expect("kept");
    });
}

/// Runs the program with a different data folder, as if on another computer.
fn run_on_another_computer(fixture: &CommandFixture, words: &[&str], stdin: &str) -> CommandResult {
    let data = fixture.home.path().join("elsewhere");
    fixture.run_with(words, &[("DOCDECK_DATA_DIR", &data.display().to_string())], stdin)
}

fn home_file(fixture: &CommandFixture, name: &str) -> PathBuf {
    fixture.home.path().join(name)
}

/// Returns the title, tags and delivery of each job in the output of `jobs --json`, sorted by title.
fn job_summaries(ran: &CommandResult) -> Vec<(Value, Value, Value)> {
    let answer = ran.json();
    let list = answer.get("jobs").and_then(Value::as_array).expect("jobs");
    let field = |job: &Value, name: &str| job.get(name).cloned().unwrap_or_default();
    let mut jobs: Vec<_> =
        list.iter().map(|job| (field(job, "title"), field(job, "tags"), field(job, "delivery"))).collect();
    jobs.sort_by_key(|job| job.0.to_string());
    jobs
}

#[test]
fn importing_an_export_twice_on_another_computer_makes_no_duplicates() {
    let fixture = CommandFixture::new(&[]);
    fill(&fixture);
    let ran = fixture.run(&["export", "all.jsonl"]).expect_exit_code(0);
    assert_eq!(ran.out, "");
    assert!(
        ran.err.starts_with("Exported 2 jobs and 1 draft of a new job to all.jsonl.\n1 prompt is queued"),
        "{ran:?}"
    );
    let mode = std::fs::metadata(home_file(&fixture, "all.jsonl")).expect("written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let ran = run_on_another_computer(&fixture, &["import", "all.jsonl"], "").expect_exit_code(0);
    assert!(
        ran.out.starts_with("Added 2 jobs (1 prompt, 1 draft); changed 0; 0 unchanged.\n1 prompt is unconfirmed"),
        "{ran:?}"
    );
    let there = run_on_another_computer(&fixture, &["jobs", "--json"], "").expect_exit_code(0);
    let expected =
        [(json!("Fix"), json!([]), json!("unconfirmed")), (json!("job-1"), json!(["docs"]), json!("accepted"))];
    assert_eq!(job_summaries(&there), expected);
    let again = run_on_another_computer(&fixture, &["import", "all.jsonl", "--json"], "").expect_exit_code(0).json();
    assert_eq!(again["jobs"], json!({ "added": 0, "changed": 0, "unchanged": 2 }));
    assert_eq!((&again["drafts"], &again["hasEnd"]), (&json!({ "added": 0, "leftOut": 0 }), &json!(true)));
    assert_eq!(fixture.sim.requests(Operation::Create), 0, "the service is not asked");
}

#[test]
fn concatenated_exports_of_two_computers_add_a_shared_prompt_once() {
    let fixture = CommandFixture::new(&[]);
    fill(&fixture);
    let first = fixture.run(&["export"]).out;
    run_on_another_computer(&fixture, &["import", "-"], &first).expect_exit_code(0);
    let second = run_on_another_computer(&fixture, &["export"], "").expect_exit_code(0).out;
    let data = fixture.home.path().join("third").display().to_string();
    let run = |words: &[&str], stdin: &str| fixture.run_with(words, &[("DOCDECK_DATA_DIR", &data)], stdin);
    let ran = run(&["import", "-", "--json"], &format!("{first}{second}")).expect_exit_code(0).json();
    assert_eq!(ran["jobs"]["added"], 2, "{ran}");
    assert_eq!(job_summaries(&run(&["jobs", "--json"], "")).len(), 2);
}

#[test]
fn an_export_passes_through_a_pipe_and_contains_no_api_key() {
    let fixture = CommandFixture::new(&[]);
    fill(&fixture);
    for words in [&["export"][..], &["export", "-"]] {
        let ran = fixture.run(words).expect_exit_code(0);
        assert_eq!(ran.out.lines().count(), 5);
        assert!(!ran.out.contains(fixture.sim.api_key()));
        let first: Value = serde_json::from_str(ran.out.lines().next().expect("a line")).expect("JSON");
        assert_eq!((&first["kind"], &first["version"]), (&json!("docdeck"), &json!(1)));
        let would = run_on_another_computer(&fixture, &["import", "-", "--dry-run", "--json"], &ran.out)
            .expect_exit_code(0)
            .json();
        assert_eq!((&would["dryRun"], &would["jobs"]["added"]), (&json!(true), &json!(2)));
        assert!(!home_file(&fixture, "elsewhere").exists(), "a dry run makes no store");
    }
    let lines = fixture.run(&["export"]).out;
    run_on_another_computer(&fixture, &["import", "-"], &lines).expect_exit_code(0);
    assert_eq!(job_summaries(&run_on_another_computer(&fixture, &["jobs", "--json"], "")).len(), 2);
}

#[test]
fn a_closed_pipe_ends_the_export_quietly() {
    let fixture = CommandFixture::new(&[]);
    fill(&fixture);
    let script = format!("{} export | head -n 1; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_docdeck"));
    let mut shell = assert_cmd::Command::new("bash");
    let output =
        shell.env_clear().envs(fixture.environment_variables()).args(["-c", &script]).output().expect("it ran");
    let out = String::from_utf8(output.stdout).expect("text");
    assert_eq!(out.lines().last(), Some("0"), "{out}");
    let err = String::from_utf8(output.stderr).expect("text");
    assert!(!err.contains("docdeck:") && !err.contains("panic"), "{err}");
}

#[test]
fn an_existing_file_is_overwritten_only_with_force() {
    let fixture = CommandFixture::new(&[]);
    fill(&fixture);
    std::fs::write(home_file(&fixture, "mine"), "mine").expect("written");
    let ran = fixture.run(&["export", "mine"]).expect_exit_code(2);
    assert!(
        ran.err.contains(
            "mine already exists, so nothing was exported: choose another name, or overwrite it with --force."
        )
    );
    assert_eq!(std::fs::read_to_string(home_file(&fixture, "mine")).expect("there"), "mine");
    fixture.run(&["export", "mine", "--force"]).expect_exit_code(0);
    assert!(std::fs::read_to_string(home_file(&fixture, "mine")).expect("there").starts_with("{\"kind\":\"docdeck\""));
    let mode = std::fs::metadata(home_file(&fixture, "mine")).expect("written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let ran = fixture.run(&["export", "no/such/folder/file"]).expect_exit_code(2);
    assert!(ran.err.contains("Can't write the export to no/such/folder/file"), "{ran:?}");
    std::fs::create_dir(home_file(&fixture, "folder")).expect("made");
    assert!(fixture.run(&["export", "folder", "--force"]).expect_exit_code(2).err.contains("folder is not a file"));
}

#[test]
fn without_a_store_there_is_nothing_to_export() {
    let fixture = CommandFixture::new(&[]);
    let ran = fixture.run(&["export", "all.jsonl"]).expect_exit_code(2);
    assert!(ran.err.contains("Nothing to export"), "{ran:?}");
    assert!(!home_file(&fixture, "all.jsonl").exists() && !fixture.data_folder().exists());
}

#[test]
fn an_import_names_an_invalid_line_and_imports_nothing() {
    let fixture = CommandFixture::new(&[]);
    fill(&fixture);
    let mut lines = fixture.run(&["export"]).out;
    lines.push_str("{\"kind\":\"job\",\"project\":7}\n");
    let ran = run_on_another_computer(&fixture, &["import", "-"], &lines).expect_exit_code(2);
    assert_eq!(ran.out, "");
    assert!(ran.err.starts_with("docdeck: The standard input: Line 6 can't be read: "), "{ran:?}");
    assert!(ran.err.trim_end().ends_with("Nothing was imported."), "{ran:?}");
    assert!(!home_file(&fixture, "elsewhere/docdeck.db").exists());
    let ran = run_on_another_computer(&fixture, &["import", "nowhere.jsonl", "--json"], "").expect_exit_code(2);
    assert_eq!(ran.json()["exitCode"], 2);
    assert!(ran.err.contains("nowhere.jsonl can't be read (no such file or directory): check its name"), "{ran:?}");
    for (wrong, expected) in [("hello\n", "Line 1 is not the header of a docdeck export; "), ("", "It is empty; ")] {
        let ran = run_on_another_computer(&fixture, &["import", "-"], wrong).expect_exit_code(2);
        let remedy = "choose a file written by `docdeck export`. Nothing was imported.\n";
        assert_eq!(ran.err, format!("docdeck: The standard input: {expected}{remedy}"));
    }
    let newer = "{\"kind\":\"docdeck\",\"version\":2}\n";
    assert!(
        run_on_another_computer(&fixture, &["import", "-"], newer).expect_exit_code(2).err.contains("update docdeck")
    );
}

#[test]
fn a_truncated_file_is_imported_with_a_warning() {
    let fixture = CommandFixture::new(&[]);
    fill(&fixture);
    let lines = fixture.run(&["export"]).out;
    let cut: String = lines.lines().take(2).map(|line| format!("{line}\n")).collect();
    let ran = run_on_another_computer(&fixture, &["import", "-"], &cut).expect_exit_code(0);
    assert!(ran.out.starts_with("Added 1 job; changed 0"), "{ran:?}");
    assert!(ran.err.contains("has no end line: it may have been cut off"), "{ran:?}");
}

#[test]
fn an_import_keeps_existing_drafts_and_reports_the_ones_that_it_left_out() {
    let fixture = CommandFixture::new(&[]);
    fill(&fixture);
    let lines = fixture.run(&["export"]).out;
    fixture.with_store(async |store, scope| {
        store.save_draft(scope, DraftTarget::NewJob, "another idea", chrono::Utc::now()).await.expect("kept");
    });
    let ran = fixture.run_with(&["import", "-"], &[], lines).expect_exit_code(0);
    assert!(
        ran.out.contains(
            "1 draft was skipped: this computer already has a different draft. The text is still in the file."
        ),
        "{ran:?}"
    );
    fixture.with_store(async |store, scope| {
        let drafts = store.drafts(scope).await.expect("drafts");
        assert_eq!(drafts.iter().map(|draft| draft.text.as_str()).collect::<Vec<_>>(), ["another idea"]);
        assert_eq!(store.sendable_prompts(scope).await.expect("read").len(), 1, "the queued prompt stays queued");
    });
}

#[test]
fn a_single_project_can_be_exported_or_imported() {
    let fixture = CommandFixture::new(&[]);
    fill(&fixture);
    let none = fixture.run(&["export", "--project", "another"]).expect_exit_code(0);
    assert_eq!(none.out.lines().count(), 2, "a header and an end");
    let lines = fixture.run(&["export", "--project", fixture.sim.project()]).expect_exit_code(0).out;
    assert_eq!(lines.lines().count(), 5);
    let ran = run_on_another_computer(&fixture, &["import", "-", "--json", "--project", "another"], &lines)
        .expect_exit_code(0)
        .json();
    assert_eq!(ran["jobs"]["added"], 0);
}

#[test]
fn prune_deletes_only_old_finished_jobs_that_no_longer_need_the_user() {
    let fixture = CommandFixture::new(&[]);
    let long_ago = chrono::Utc::now() - chrono::TimeDelta::days(100);
    fixture.with_store(async |store, scope| {
        for id in ["seen", "unseen"] {
            let at = Some(long_ago);
            let job = RemoteJob { created_at: at, ..job(id, Status::Completed) };
            let row = store.track(scope, job, long_ago).await.expect("kept");
            if id == "seen" {
                store.change_jobs(&[row.key], LocalChange::Handled, long_ago).await.expect("kept");
            }
        }
    });
    assert!(fixture.run(&["prune", "--jobs"]).expect_exit_code(2).err.contains("--older-than <DAYS>"));
    assert_eq!(fixture.run(&["prune", "--json"]).expect_exit_code(0).json()["ranges"], 0);
    let would = fixture.run(&["prune", "--jobs", "--older-than", "30", "--dry-run"]).expect_exit_code(0);
    assert!(would.out.starts_with("Would delete 1 job with 0 prompts.\n1 old job is kept: "), "{would:?}");
    assert_eq!(job_summaries(&fixture.run(&["jobs", "--json"])).len(), 2);
    let young = fixture.run(&["prune", "--jobs", "--older-than", "200", "--json"]).expect_exit_code(0).json();
    assert_eq!((&young["jobs"], &young["kept"]), (&json!(0), &json!(0)));
    fixture.run(&["prune", "--jobs", "--older-than", "30"]).expect_exit_code(0);
    assert_eq!(job_summaries(&fixture.run(&["jobs", "--json"])), [(json!("unseen"), json!([]), json!("accepted"))]);
}
