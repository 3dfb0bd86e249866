//! `docdeck jobs` and `docdeck show`: print local data without an API key and without a request.

use crate::support::command::CommandFixture;
use docdeck::model::change::LocalChange;
use docdeck::model::log::Operation;
use docdeck::model::prompt::Delivery;
use docdeck::model::remote_job::{JobId, RemoteJob, Status};
use docdeck::model::text::CleanText;
use docdeck::store::JobResponse;
use serde_json::Value;

/// Creates a store with three jobs: one completed with a pull request, one failed and handled, one unconfirmed.
fn fixture() -> CommandFixture {
    let fixture = CommandFixture::new(&[]);
    fixture.with_store(async |store, scope| {
        let now = chrono::Utc::now();
        for (id, status, title) in
            [("job-a1", Status::Completed, "Fix the\tlinks"), ("job-b2", Status::Failed, "Translate")]
        {
            let (prompt, _) = store.add_new_job(scope, title, now).await.expect("written");
            store.request_permit(prompt, "test", now, now).await.expect("a turn");
            let link = (status == Status::Completed).then(|| CleanText::line("https://github.com/acme/docs/pull/7"));
            let mut job = RemoteJob::new(JobId::new(id).expect("an id"), Status::Active);
            job.created_at = Some(now);
            job.state.source.repository = Some(CleanText::line("https://github.com/acme/docs").into());
            let row = store.record_accepted_send(prompt, job.clone(), now).await.expect("accepted").job;
            (job.state.status, job.state.pr_link) = (Some(status), link);
            store.apply_job_response(&row, JobResponse::Job(job), now).await.expect("seen");
            if id == "job-b2" {
                store.change_jobs(&[row.key], LocalChange::Handled, now).await.expect("done");
            }
        }
        let (prompt, _) = store.add_new_job(scope, "Lost one", now).await.expect("written");
        store.request_permit(prompt, "test", now, now).await.expect("a turn");
        let lost = Delivery::Unconfirmed(CleanText::line("The answer was lost."));
        store.record_unaccepted_send(prompt, lost, None, now).await.expect("unconfirmed");
    });
    fixture
}

const NO_KEY: [(&str, &str); 1] = [("DOCDECK_API_KEY", "")];

fn request_count(fixture: &CommandFixture) -> u64 {
    Operation::ALL.iter().map(|operation| fixture.sim.requests(*operation)).sum()
}

#[test]
fn jobs_are_listed_by_group_without_an_api_key_or_a_request() {
    let fixture = fixture();
    let ran = fixture.run_with(&["jobs"], &NO_KEY, "").expect_exit_code(0);
    let rows: Vec<Vec<&str>> = ran.out.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 3, "{ran:?}");
    let of = |row: &[&str]| [row[0].to_owned(), row[1].to_owned(), row[2].to_owned(), row[4].to_owned()];
    assert_eq!(of(&rows[0]), ["", "unconfirmed", "", "Lost one"]);
    assert_eq!(of(&rows[1]), ["job-a1", "completed", "https://github.com/acme/docs/pull/7", "Fix the links"]);
    assert_eq!(of(&rows[2]), ["job-b2", "failed", "", "Translate"]);
    assert!(rows.iter().all(|row| row[3].ends_with('Z') && row[3].parse::<chrono::DateTime<chrono::Utc>>().is_ok()));
    assert_eq!((ran.err.as_str(), request_count(&fixture)), ("", 0));
}

#[test]
fn jobs_as_json_have_the_fields_of_the_service_and_local_ones() {
    let fixture = fixture();
    let json = fixture.run_with(&["jobs", "--json"], &NO_KEY, "").expect_exit_code(0).json();
    let jobs = json["jobs"].as_array().expect("a list");
    assert_eq!(json.as_object().map(|fields| fields.len()), Some(1));
    assert_eq!(jobs.len(), 3);
    assert_eq!((&jobs[0]["id"], jobs[0]["delivery"].as_str()), (&Value::Null, Some("unconfirmed")));
    assert_eq!(jobs[1]["source"]["repository"], "https://github.com/acme/docs");
    assert_eq!((jobs[1]["prompt"].as_str(), jobs[1]["delivery"].as_str()), (Some("Fix the\tlinks"), Some("accepted")));
}

#[test]
fn a_pull_request_link_is_normalized_in_the_same_way_in_every_output() {
    let links = [
        ("https://github.com/acme/docs/pull/7?a=1&b=2#top", "https://github.com/acme/docs/pull/7?a=1&b=2#top"),
        ("https://GitHub.com/acme/docs/pull/8", "https://github.com/acme/docs/pull/8"),
        ("https://g\u{456}thub.com/acme/pull/9", "https://xn--gthub-n2e.com/acme/pull/9"),
        ("https://github.com/a b/日本", "https://github.com/a%20b/%E6%97%A5%E6%9C%AC"),
        ("not a link\u{1b}[2J\tat all", "not a link at all"),
    ];
    let fixture = CommandFixture::new(&[]);
    fixture.with_store(async |store, scope| {
        let now = chrono::Utc::now();
        for (n, (link, _)) in links.iter().enumerate() {
            let mut job = RemoteJob::new(JobId::new(&format!("job-{n}")).expect("an id"), Status::Completed);
            (job.created_at, job.state.pr_link) = (Some(now), Some(CleanText::line(link)));
            store.track(scope, job, now).await.expect("tracked");
        }
    });
    for (n, (_, expected)) in links.iter().enumerate() {
        let id = format!("job-{n}");
        let listed = fixture.run(&["jobs", "--ascii"]).expect_exit_code(0).out;
        let row = listed.lines().find(|line| line.starts_with(&id)).expect("its row");
        let shown = fixture.run(&["show", &id, "--json"]).expect_exit_code(0).json();
        let jobs = fixture.run(&["jobs", "--json"]).expect_exit_code(0).json();
        let job = jobs["jobs"].as_array().and_then(|jobs| jobs.iter().find(|job| job["id"] == id.as_str()));
        let links = [row.split('\t').nth(2), shown["prLink"].as_str(), job.and_then(|job| job["prLink"].as_str())];
        assert_eq!(links, [Some(*expected); 3], "{listed}");
    }
}

#[test]
fn the_list_can_be_filtered_by_status_delivery_or_group() {
    let fixture = fixture();
    let ids = |status: &str| {
        let json = fixture.run(&["jobs", "--json", "--status", status]).expect_exit_code(0).json();
        let ids =
            json["jobs"].as_array().expect("a list").iter().map(|job| job["id"].as_str().unwrap_or("-").to_owned());
        ids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids("failed"), "job-b2");
    assert_eq!(ids("unconfirmed"), "-");
    assert_eq!(ids("needs-you"), "- job-a1");
    assert_eq!(ids("active"), "");
}

#[test]
fn an_unknown_status_is_a_usage_error_that_lists_the_valid_ones() {
    let fixture = fixture();
    let ran = fixture.run(&["jobs", "--status", "typo"]).expect_exit_code(2);
    let valid = "active, completed, failed, archived, gone, queued, paused, sending, not-sent, rejected, unconfirmed, \
                 discarded, needs-you, working, done, dismissed, ready";
    let sentence = format!("Unknown status “typo”; valid: {valid}.");
    assert_eq!((ran.out.as_str(), ran.err), ("", format!("docdeck: {sentence}\n")));
    let json = fixture.run(&["jobs", "--status", "typo", "--json"]).expect_exit_code(2).json();
    assert_eq!((json["error"].as_str(), json["exitCode"].as_i64()), (Some(sentence.as_str()), Some(2)));
    // A built-in status is valid even if no job has it.
    for word in ["active", "not_sent", "Dismissed", "discarded"] {
        let ran = fixture.run(&["jobs", "--status", word]).expect_exit_code(0);
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""), "{word}");
    }
    assert_eq!(CommandFixture::new(&[]).run(&["jobs", "--status", "failed"]).expect_exit_code(0).out, "");
}

#[test]
fn a_custom_status_of_the_service_is_valid_while_a_job_has_it() {
    let fixture = fixture();
    fixture.with_store(async |store, scope| {
        let row =
            store.jobs(scope).await.expect("rows").into_iter().find(|row| row.local.title.as_str() == "Translate");
        let row = row.expect("the failed one");
        let job = RemoteJob::new(row.id.clone().expect("an id"), Status::parse("In Review"));
        store.apply_job_response(&row, JobResponse::Job(job), chrono::Utc::now()).await.expect("seen");
    });
    let ran = fixture.run(&["jobs", "--status", "in-review"]).expect_exit_code(0);
    assert!(ran.out.contains("job-b2"), "{ran:?}");
    assert!(
        fixture.run(&["jobs", "--status", "typo"]).expect_exit_code(2).err.contains("dismissed, ready, In Review.\n")
    );
}

#[test]
fn without_a_store_the_list_is_empty_and_no_store_is_created() {
    let fixture = CommandFixture::new(&[]);
    let ran = fixture.run_with(&["jobs"], &NO_KEY, "").expect_exit_code(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    assert_eq!(fixture.run(&["jobs", "--json"]).expect_exit_code(0).json()["jobs"], Value::Array(Vec::new()));
    assert!(!fixture.data_folder().exists());
}

#[test]
fn without_a_project_the_error_names_the_missing_setting() {
    let fixture = CommandFixture::new(&[]);
    let ran = fixture.run_with(&["jobs", "--json"], &[("DOCDECK_PROJECT_ID", ""), NO_KEY[0]], "").expect_exit_code(2);
    assert!(ran.err.contains("The project id is not set yet.") && !ran.err.contains("API_KEY"), "{}", ran.err);
    let json = ran.json();
    assert_eq!(json["exitCode"], 2);
    assert!(json["error"].as_str().is_some_and(|error| error.contains("DOCDECK_PROJECT_ID")), "{json}");
}

#[test]
fn show_accepts_a_prefix_of_an_id_and_prints_the_thread() {
    let fixture = fixture();
    let ran = fixture.run_with(&["show", "job-a"], &NO_KEY, "").expect_exit_code(0);
    for part in [
        "Fix the links\n",
        "completed at 20",
        "PR       https://github.com/acme/docs/pull/7",
        "  you\n",
        "pull request",
    ] {
        assert!(ran.out.contains(part), "{part:?} in {}", ran.out);
    }
    assert!(!ran.out.contains('\x1b'), "{:?}", ran.out);
    let json = fixture.run(&["show", "job-a1", "--json"]).expect_exit_code(0).json();
    let types: Vec<&str> =
        json["thread"].as_array().expect("a thread").iter().filter_map(|e| e["type"].as_str()).collect();
    assert_eq!(types, ["prompt", "status", "status", "pullRequest"]);
    assert_eq!((json["id"].as_str(), json["thread"][0]["text"].as_str()), (Some("job-a1"), Some("Fix the\tlinks")));
    assert_eq!(request_count(&fixture), 0);
}

#[test]
fn an_ambiguous_or_unknown_id_is_an_error() {
    let fixture = fixture();
    let ran = fixture.run(&["show", "job-"]).expect_exit_code(2);
    assert!(ran.err.contains("job-a1, job-b2. Give more of the id."), "{}", ran.err);
    let ran = fixture.run(&["show", "other", "--json"]).expect_exit_code(4);
    assert!(ran.err.contains("`docdeck track other`"), "{}", ran.err);
    assert_eq!(ran.json()["exitCode"], 4);
}

#[test]
fn output_in_a_pipe_has_colours_only_if_requested() {
    let fixture = fixture();
    assert!(!fixture.run(&["jobs"]).out.contains('\x1b'));
    let painted = fixture.run(&["jobs", "--color", "always"]);
    assert!(painted.out.contains("\x1b[") && painted.out.contains("failed\x1b[0m"), "{:?}", painted.out);
    assert!(!fixture.run_with(&["jobs"], &[("NO_COLOR", "1")], "").out.contains('\x1b'));
}

#[test]
fn a_full_disk_is_an_error_but_a_closed_pipe_is_not() {
    let fixture = fixture();
    let run = |stdout: std::process::Stdio| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_docdeck"));
        let command =
            command.env_clear().envs(fixture.environment_variables()).arg("jobs").stdin(std::process::Stdio::null());
        let output = command.stdout(stdout).output().expect("it ran");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    assert_eq!(run(writer.into()), (Some(0), String::new()));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
    let (code, printed) = run(full.into());
    assert_eq!(code, Some(2));
    assert!(printed.contains("Can't write the output"), "{printed}");
}
