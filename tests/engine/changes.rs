//! Tests of the `on_change` program and of rows that turn out to be one job.

use crate::engine_fixture::{EngineFixture, open, scope_of, sim};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::FailureKind;
use docdeck::model::job::{JobId, Status};
use docdeck::model::log::{LogKind, Operation};
use docdeck::model::prompt::Resolution;

#[cfg(unix)]
#[tokio::test]
async fn the_program_gets_each_change_once_as_json_whichever_instance_polls() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let out = tempfile::tempdir().expect("a folder");
    let file = out.path().join("changes");
    let program: Vec<String> = ["tee", "-a"].map(str::to_owned).into();
    let program = [program, vec![file.to_str().expect("a path").to_owned()]].concat();
    let mut one = EngineFixture::begin_with_program(&sim, folder.path(), program.clone()).await;
    let _two = EngineFixture::begin_with_program(&sim, folder.path(), program).await;
    let (_, row) = one.accepted("Fix it\nplease [sim:seconds=30] [sim:pr]").await;
    one.row(row.key, "the end of the job", |row| row.status == Some(Status::Completed)).await;
    // The engine's next check comes after the run, which has written the file.
    let (_, other) = one.accepted("Another [sim:seconds=30] [sim:fail]").await;
    one.row(other.key, "the end of the other", |row| row.status == Some(Status::Failed)).await;
    let written = tokio::time::timeout(std::time::Duration::from_secs(10), async {
        loop {
            let written = std::fs::read_to_string(&file).unwrap_or_default();
            if written.lines().count() >= 2 {
                return written;
            }
            tokio::task::yield_now().await;
        }
    });
    let written = written.await.expect("both changes");
    let jobs: Vec<serde_json::Value> =
        written.lines().map(|line| serde_json::from_str(line).expect("one JSON object a line")).collect();
    assert_eq!(jobs.len(), 2, "{written}");
    assert_eq!((&jobs[0]["status"], &jobs[0]["title"]), (&"completed".into(), &"Fix it".into()));
    assert!(jobs[0]["prLink"].is_string() && jobs[0]["prompt"].as_str().is_some_and(|text| text.contains("please")));
    assert_eq!((&jobs[1]["status"], &jobs[1]["id"]), (&"failed".into(), &other.id.expect("an id").as_str().into()));
}

#[cfg(unix)]
#[tokio::test]
async fn a_follow_up_that_reactivates_a_job_runs_the_program_once() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let out = tempfile::tempdir().expect("a folder");
    let file = out.path().join("changes");
    let program = vec!["tee".to_owned(), "-a".to_owned(), file.to_str().expect("a path").to_owned()];
    let mut fixture = EngineFixture::begin_with_program(&sim, folder.path(), program.clone()).await;
    let _other = EngineFixture::begin_with_program(&sim, folder.path(), program).await;
    let (_, row) = fixture.accepted("Fix it [sim:seconds=30] [sim:pr]").await;
    fixture.row(row.key, "the end of the job", |row| row.status == Some(Status::Completed)).await;
    let (prompt, _) =
        fixture.engine.submit_follow_up(row.key, "More [sim:seconds=30] [sim:fail]").await.expect("on disk");
    fixture.outcome(prompt).await;
    fixture.row(row.key, "the second end", |row| row.status == Some(Status::Failed)).await;
    let written = tokio::time::timeout(std::time::Duration::from_secs(10), async {
        loop {
            let written = std::fs::read_to_string(&file).unwrap_or_default();
            if written.lines().count() >= 3 {
                return written;
            }
            tokio::task::yield_now().await;
        }
    });
    let written = written.await.expect("all three changes");
    let statuses: Vec<serde_json::Value> = written
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("one JSON object a line")["status"].clone())
        .collect();
    assert_eq!(statuses, ["completed", "active", "failed"]);
}

#[tokio::test]
async fn a_program_that_cannot_be_run_is_logged_and_polling_continues() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let program = vec!["docdeck-no-such-program".to_owned()];
    let mut fixture = EngineFixture::begin_with_program(&sim, folder.path(), program).await;
    fixture.accepted("Fix it [sim:seconds=30] [sim:fail]").await;
    let note = fixture.until("the note", |news| match news {
        EngineEvent::Logged(entry) => match &entry.kind {
            LogKind::Note(note) => Some(note.to_string()),
            _ => None,
        },
        _ => None,
    });
    let note = note.await;
    assert!(note.contains("docdeck-no-such-program") && note.contains("can't be started"), "{note}");
    fixture.accepted("Another [sim:seconds=6000]").await;
    fixture.look().await;
}

#[tokio::test]
async fn the_row_of_a_tracked_job_is_merged_into_the_prompt_that_created_it() {
    let (sim, folder) = (sim(&["create=lost"]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::begin(&sim, folder.path()).await;
    let mut two = EngineFixture::begin(&sim, folder.path()).await;
    let (prompt, row) = one.engine.submit_new_job("Translate [sim:seconds=6000]").await.expect("on disk");
    one.outcome(prompt).await;
    let id = JobId::new(&sim.prompts()[0].0).expect("an id");
    let tracked = one.engine.track(&id).await.expect("tracked");
    assert_ne!(tracked.key, row.key);
    one.engine.resolve(prompt, Resolution::Link(id)).await.expect("linked");
    let merged = |news: &EngineEvent| match news {
        EngineEvent::Merged { gone, into } => Some((*gone, *into)),
        _ => None,
    };
    assert_eq!(one.until("the row to go", merged).await, (tracked.key, row.key));
    assert_eq!(two.until("the row to go there too", merged).await, (tracked.key, row.key));
}

#[tokio::test]
async fn a_list_of_ids_is_tracked_at_once_and_each_unknown_one_is_reported() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let elsewhere = tempfile::tempdir().expect("a folder");
    let mut maker = EngineFixture::begin(&sim, elsewhere.path()).await;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(maker.accepted(&format!("Elsewhere {n} [sim:seconds=6000]")).await.1.id.expect("an id"));
    }
    maker.engine.stop().await;
    let gets = sim.requests(Operation::Get);
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    let (unknown, twice) = (JobId::new("no-such-job").expect("an id"), ids[0].clone());
    let asked: Vec<JobId> = [ids.clone(), vec![unknown.clone(), twice]].concat();
    let mut tasks = tokio::task::JoinSet::new();
    for id in asked.clone() {
        let engine = fixture.engine.clone();
        tasks.spawn(async move { (id.clone(), engine.track(&id).await) });
    }
    for (id, result) in tasks.join_all().await {
        match result {
            Ok(row) => assert_eq!(row.id, Some(id)),
            Err(failure) => assert_eq!((id, failure.kind), (unknown.clone(), FailureKind::NotFound)),
        }
    }
    assert_eq!(open(folder.path()).jobs(&scope_of(&sim)).await.expect("rows").len(), 5);
    assert!(sim.requests(Operation::Get) >= gets + 7);
}
