//! Tests of the `on_change` program, of rows that are merged because they turn out to be the same job, and of tracking.

use crate::support::engine::EngineFixture;
use crate::support::{open_store, scope_of, start_sim};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::FailureKind;
use docdeck::model::log::{LogKind, Operation};
use docdeck::model::prompt::PromptResolution;
use docdeck::model::remote_job::{JobId, Status};

/// Waits until a file has this many lines, and returns its text.
#[cfg(unix)]
pub(crate) async fn wait_for_lines(file: &std::path::Path, lines: usize) -> String {
    let written = tokio::time::timeout(std::time::Duration::from_secs(10), async {
        loop {
            let written = std::fs::read_to_string(file).unwrap_or_default();
            if written.lines().count() >= lines {
                return written;
            }
            tokio::task::yield_now().await;
        }
    });
    written.await.expect("all lines")
}

#[cfg(unix)]
#[tokio::test]
async fn the_on_change_program_gets_each_change_once_as_json_although_two_instances_run() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let out = tempfile::tempdir().expect("a folder");
    let file = out.path().join("changes");
    let program: Vec<String> = ["tee", "-a"].map(str::to_owned).into();
    let program = [program, vec![file.to_str().expect("a path").to_owned()]].concat();
    let mut one = EngineFixture::start_with_on_change(&sim, folder.path(), program.clone()).await;
    let _two = EngineFixture::start_with_on_change(&sim, folder.path(), program).await;
    let (_, row) = one.submit_accepted_job("Fix it\nplease [sim:seconds=30] [sim:pr]").await;
    one.wait_for_job(row.key, "the end of the job", |row| row.remote.status == Some(Status::Completed)).await;
    // The engine waits for the `on_change` program before it checks the next job, so the first change is in the file.
    let (_, other) = one.submit_accepted_job("Another [sim:seconds=30] [sim:fail]").await;
    one.wait_for_job(other.key, "the end of the other", |row| row.remote.status == Some(Status::Failed)).await;
    let written = wait_for_lines(&file, 2).await;
    let jobs: Vec<serde_json::Value> =
        written.lines().map(|line| serde_json::from_str(line).expect("one JSON object a line")).collect();
    assert_eq!(jobs.len(), 2, "{written}");
    assert_eq!((&jobs[0]["status"], &jobs[0]["title"]), (&"completed".into(), &"Fix it".into()));
    assert!(jobs[0]["prLink"].is_string() && jobs[0]["prompt"].as_str().is_some_and(|text| text.contains("please")));
    assert_eq!((&jobs[1]["status"], &jobs[1]["id"]), (&"failed".into(), &other.id.expect("an id").as_str().into()));
}

#[cfg(unix)]
#[tokio::test]
async fn a_follow_up_that_reactivates_a_job_runs_the_on_change_program_once() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let out = tempfile::tempdir().expect("a folder");
    let file = out.path().join("changes");
    let program = vec!["tee".to_owned(), "-a".to_owned(), file.to_str().expect("a path").to_owned()];
    let mut fixture = EngineFixture::start_with_on_change(&sim, folder.path(), program.clone()).await;
    let _other = EngineFixture::start_with_on_change(&sim, folder.path(), program).await;
    let (_, row) = fixture.submit_accepted_job("Fix it [sim:seconds=30] [sim:pr]").await;
    fixture.wait_for_job(row.key, "the end of the job", |row| row.remote.status == Some(Status::Completed)).await;
    let (prompt, _) =
        fixture.engine.submit_follow_up(row.key, "More [sim:seconds=30] [sim:fail]").await.expect("on disk");
    fixture.wait_for_delivery(prompt).await;
    fixture.wait_for_job(row.key, "the second end", |row| row.remote.status == Some(Status::Failed)).await;
    let written = wait_for_lines(&file, 3).await;
    let statuses: Vec<serde_json::Value> = written
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("one JSON object a line")["status"].clone())
        .collect();
    assert_eq!(statuses, ["completed", "active", "failed"]);
}

#[tokio::test]
async fn polling_continues_after_an_on_change_program_that_cannot_be_started_is_logged() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let program = vec!["docdeck-no-such-program".to_owned()];
    let mut fixture = EngineFixture::start_with_on_change(&sim, folder.path(), program).await;
    fixture.submit_accepted_job("Fix it [sim:seconds=30] [sim:fail]").await;
    let note = fixture.wait_for_event("the note", |event| match event {
        EngineEvent::Logged(entry) => match &entry.kind {
            LogKind::Note(note) => Some(note.to_string()),
            _ => None,
        },
        _ => None,
    });
    let note = note.await;
    assert!(note.contains("docdeck-no-such-program") && note.contains("can't be started"), "{note}");
    fixture.submit_accepted_job("Another [sim:seconds=6000]").await;
    fixture.wait_for_check().await;
}

#[tokio::test]
async fn the_row_of_a_tracked_job_is_merged_into_the_row_of_the_prompt_that_created_the_job() {
    let (sim, folder) = (start_sim(&["create=lost"]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let mut two = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (prompt, row) = one.engine.submit_new_job("Translate [sim:seconds=6000]").await.expect("on disk");
    one.wait_for_delivery(prompt).await;
    let id = JobId::new(&sim.received_prompts()[0].0).expect("an id");
    let tracked = one.engine.track(&id).await.expect("tracked");
    assert_ne!(tracked.key, row.key);
    one.engine.resolve(prompt, PromptResolution::Link(id)).await.expect("linked");
    let merged = |event: &EngineEvent| match event {
        EngineEvent::Merged { gone, into } => Some((*gone, *into)),
        _ => None,
    };
    assert_eq!(one.wait_for_event("the row to go", merged).await, (tracked.key, row.key));
    assert_eq!(two.wait_for_event("the row to go there too", merged).await, (tracked.key, row.key));
}

#[tokio::test]
async fn several_jobs_can_be_tracked_concurrently_and_an_unknown_id_is_an_error() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let elsewhere = tempfile::tempdir().expect("a folder");
    let mut other = EngineFixture::start_on_folder(&sim, elsewhere.path()).await;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(other.submit_accepted_job(&format!("Elsewhere {n} [sim:seconds=6000]")).await.1.id.expect("an id"));
    }
    other.engine.stop().await;
    let gets = sim.requests(Operation::GetJob);
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (unknown, twice) = (JobId::new("no-such-job").expect("an id"), ids[0].clone());
    let requested: Vec<JobId> = [ids.clone(), vec![unknown.clone(), twice]].concat();
    let mut tasks = tokio::task::JoinSet::new();
    for id in requested.clone() {
        let engine = fixture.engine.clone();
        tasks.spawn(async move { (id.clone(), engine.track(&id).await) });
    }
    for (id, result) in tasks.join_all().await {
        match result {
            Ok(row) => assert_eq!(row.id, Some(id)),
            Err(failure) => assert_eq!((id, failure.kind), (unknown.clone(), FailureKind::NotFound)),
        }
    }
    assert_eq!(open_store(folder.path()).jobs(&scope_of(&sim)).await.expect("rows").len(), 5);
    assert!(sim.requests(Operation::GetJob) >= gets + 7);
}
