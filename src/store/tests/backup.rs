use super::*;
use crate::model::analytics::signal_snapshot::{JobSnapshots, SignalSnapshot};
use crate::model::backup::{BackupHeader, BackupLine, DraftPurpose, DraftRecord, DraftText, JobRecord, PromptRecord};
use crate::model::change::QueueChange;
use crate::model::job::JobGroup;
use crate::model::period::DateRange;
use crate::model::prompt::{Delivery, DeliveryKind, DraftTarget, EventKind, JobEvent, PromptKind};
use crate::model::views::Count;
use crate::store::{ImportCounts, ImportError, MAX_LINE_BYTES, ScopeFilter, check_backup};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::io::{Cursor, Read as _, Seek as _};

pub(super) async fn export(store: &Store) -> String {
    let mut file = tempfile::tempfile().expect("a file");
    store.export(file.try_clone().expect("a file"), ScopeFilter::default(), "0.1.0", at(1000)).await.expect("written");
    file.rewind().expect("rewound");
    let mut text = String::new();
    file.read_to_string(&mut text).expect("text");
    text
}

pub(super) async fn import(store: &Store, lines: &str) -> ImportCounts {
    store.import(Cursor::new(lines.to_owned()), ScopeFilter::default(), false, at(2000)).await.expect("imported")
}

async fn failed_import_message(store: &Store, lines: &str) -> String {
    let error = store
        .import(Cursor::new(lines.to_owned()), ScopeFilter::default(), false, at(2000))
        .await
        .expect_err("refused");
    assert_eq!(check_backup(Cursor::new(lines), at(2000)).expect_err("refused").to_string(), error.to_string());
    error.to_string()
}

const HEADER: &str = r#"{"kind":"docdeck","version":1}"#;

/// Returns the deliveries of the prompts of the store's only job.
async fn deliveries(store: &Store) -> Vec<Delivery> {
    let rows = store.jobs(&scope()).await.expect("rows");
    assert_eq!(rows.len(), 1, "{rows:?}");
    store.thread_of(rows[0].key).await.prompts.into_iter().map(|prompt| prompt.delivery).collect()
}

fn is_unconfirmed(delivery: &Delivery) -> bool {
    matches!(delivery, Delivery::Unconfirmed(_))
}

/// Returns a store with at least one item of every kind that is exported.
async fn full_store() -> Store {
    let store = memory_store();
    let about = [line("/a"), line("/b")];
    let numbers = SignalSnapshot {
        path: line("/a"),
        range: DateRange::last_days(7, at(0).date_naive()),
        signals: [("thumbsDown".to_owned(), Count::Known(12))].into(),
    };
    let (prompt, row) = store
        .add_job_about_pages(&scope(), "Fix\nit", &about, std::slice::from_ref(&numbers), at(0))
        .await
        .expect("stored");
    store.replace_snapshots_after_job(row.key, vec![numbers]).await.expect("stored");
    store.permit(prompt, at(1)).await;
    store.accept(prompt, response_with_pr("j/1", Status::Completed, 7), at(2)).await;
    store.change_one_job(row.key, LocalChange::Title(Some(line("My title"))), at(3)).await;
    store.change_one_job(row.key, LocalChange::Tags(vec![line("docs"), line("api")]), at(3)).await;
    store.change_one_job(row.key, LocalChange::Note(Some(CleanText::block("two\nlines"))), at(3)).await;
    store.change_one_job(row.key, LocalChange::Viewed, at(4)).await;
    let refused = store.follow_up(row.key, "And more", at(5)).await;
    store.permit(refused, at(6)).await;
    store.finish(refused, Delivery::Rejected(line("too long")), at(7)).await;
    store.save_draft(&scope(), DraftTarget::Prompt(refused), "shorter", at(8)).await.expect("stored");
    store.save_draft(&scope(), DraftTarget::FollowUp(row.key), "then \x1b[2J", at(9)).await.expect("stored");
    store.save_draft(&scope(), DraftTarget::NewJob, "a new job", at(10)).await.expect("stored");
    store.save_draft(&scope(), DraftTarget::Batch, "one\n\ntwo", at(11)).await.expect("stored");
    store.save_draft_about_pages(&scope(), "about", &about, at(12)).await.expect("stored");
    let tracked = store.track(&scope(), response("tracked", Status::parse("reviewing")), at(13)).await.expect("stored");
    store.change_one_job(tracked.key, LocalChange::Dismissed(true), at(14)).await;
    store.apply_job_response(&tracked, JobResponse::NotFound, at(15)).await.expect("stored");
    let other = Scope { base_url: "https://other.example".to_owned(), project: "o".to_owned(), organization: None };
    store.track(&other, response("j/1", Status::Active), at(16)).await.expect("stored");
    store
}

#[tokio::test]
async fn an_empty_store_exports_exactly_what_it_has_imported() {
    let lines = export(&full_store().await).await;
    let empty = memory_store();
    let done = import(&empty, &lines).await;
    assert_eq!((done.jobs_added, done.prompts_added, done.in_flight_prompts, done.drafts_added), (3, 2, 0, 5));
    assert!(done.has_end_line);
    assert_eq!(export(&empty).await, lines);
    assert_eq!(empty.drafts(&scope()).await.expect("drafts").len(), 5);
}

#[tokio::test]
async fn exported_lines_have_the_documented_format() {
    let lines = export(&full_store().await).await;
    let read: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let kinds: Vec<&str> = read.iter().map(|line| line["kind"].as_str().expect("a kind")).collect();
    assert_eq!(kinds, ["docdeck", "job", "job", "draft", "draft", "draft", "job", "end"]);
    assert_eq!((&read[0]["version"], &read[0]["exportedAt"]), (&1.into(), &"2027-01-15T08:16:40.000Z".into()));
    let job = &read[1];
    assert_eq!((&job["id"], &job["title"], &job["named"]), (&"j/1".into(), &"My title".into(), &true.into()));
    assert_eq!(job["prompts"][1]["delivery"], "rejected");
    assert_eq!(job["prompts"][1]["reason"], "too long");
    assert_eq!(job["draft"]["text"], "then \u{1b}[2J", "kept as typed");
    assert_eq!(job["pages"], serde_json::json!(["/a", "/b"]));
    assert_eq!(read[7], serde_json::json!({ "kind": "end", "jobs": 3, "drafts": 3 }));
}

#[tokio::test]
async fn importing_an_export_again_changes_nothing_even_in_the_store_that_exported_it() {
    let store = full_store().await;
    let (one, two) = (store.new_job("waits", at(20)).await, store.new_job("goes", at(21)).await);
    assert!(matches!(store.permit(two.0, at(22)).await, SendPermit::Granted { .. }));
    let lines = export(&store).await;
    let done = import(&store, &lines).await;
    assert_eq!((done.jobs_added, done.jobs_changed, done.jobs_unchanged), (0, 0, 5));
    assert_eq!((done.prompts_added, done.drafts_added, done.drafts_skipped), (0, 0, 0));
    assert_eq!(export(&store).await, lines);
    assert_eq!(store.sendable_prompts_with_wait().await, [(one.0, None)], "its own queue is unchanged");
    let elsewhere = memory_store();
    import(&elsewhere, &lines).await;
    let once = export(&elsewhere).await;
    assert_eq!(import(&elsewhere, &lines).await.jobs_unchanged, 5);
    assert_eq!(export(&elsewhere).await, once);
}

#[tokio::test]
async fn a_prompt_that_another_computer_may_send_is_never_sent_by_this_one() {
    let store = memory_store();
    for (n, text) in ["queued", "sending", "paused"].into_iter().enumerate() {
        let (prompt, row) = store.new_job(text, at(i64::try_from(n).expect("small"))).await;
        match text {
            "sending" => drop(store.permit(prompt, at(9)).await),
            "paused" => drop(store.change_queue(&[row.key], QueueChange::Pause, at(9)).await.expect("paused")),
            _ => {}
        }
    }
    let lines = export(&store).await;
    let elsewhere = memory_store();
    assert_eq!(import(&elsewhere, &lines).await.in_flight_prompts, 2);
    assert_eq!(elsewhere.sendable_prompts_with_wait().await, []);
    assert_eq!(elsewhere.sending_instances(&scope()).await.expect("none"), Vec::<String>::new());
    for row in elsewhere.jobs(&scope()).await.expect("rows") {
        let prompt = elsewhere.thread_of(row.key).await.prompts.remove(0);
        match prompt.text.as_str() {
            "paused" => assert_eq!(prompt.delivery, Delivery::Paused),
            _ => assert!(is_unconfirmed(&prompt.delivery), "{prompt:?}"),
        }
        assert!(!matches!(elsewhere.permit(prompt.id, at(3000)).await, SendPermit::Granted { .. }));
    }
}

#[tokio::test]
async fn an_import_updates_a_delivery_and_sets_the_id_of_its_job() {
    let (here, there) = (memory_store(), memory_store());
    let (prompt, _) = here.new_job("Do it", at(0)).await;
    import(&there, &export(&here).await).await;
    assert!(is_unconfirmed(&deliveries(&there).await[0]));
    here.permit(prompt, at(1)).await;
    here.accept(prompt, response("j", Status::Active), at(2)).await;
    let done = import(&there, &export(&here).await).await;
    assert_eq!((done.jobs_added, done.jobs_changed), (0, 1));
    assert_eq!(deliveries(&there).await, [Delivery::Accepted]);
    let row = there.job_by_id(&scope(), &job_id("j")).await.expect("read").expect("there");
    assert_eq!((row.local.undelivered, row.remote.status), (None, Some(Status::Active)));
    // Importing the other store's export into the first store changes nothing.
    assert_eq!(import(&here, &export(&there).await).await.jobs_unchanged, 1);
}

#[tokio::test]
async fn a_tracked_job_and_its_unconfirmed_copy_are_merged() {
    let (here, there) = (memory_store(), memory_store());
    let (prompt, _) = here.new_job("Do it", at(0)).await;
    import(&there, &export(&here).await).await;
    there.track(&scope(), response("j", Status::Active), at(3)).await.expect("tracked");
    here.permit(prompt, at(1)).await;
    here.accept(prompt, response("j", Status::Active), at(2)).await;
    import(&there, &export(&here).await).await;
    let rows = there.jobs(&scope()).await.expect("rows");
    assert_eq!(rows.iter().filter(|row| row.local.undelivered.is_some()).count(), 0);
    assert_eq!(there.thread_of(rows[0].key).await.prompts.len(), 1);
    assert_eq!(rows.iter().map(|row| row.local.title.as_str()).collect::<Vec<_>>(), ["Do it"]);
}

#[tokio::test]
async fn two_equal_prompts_written_at_the_same_moment_stay_two_jobs() {
    let (here, there) = (memory_store(), memory_store());
    let twice = ["same".to_owned(), "same".to_owned()];
    here.add_batch(&scope(), &twice, at(0)).await.expect("queued");
    let lines = export(&here).await;
    for _ in 0..2 {
        import(&there, &lines).await;
        assert_eq!(there.jobs(&scope()).await.expect("rows").len(), 2);
    }
    let first = here.sendable_prompts_with_wait().await[0].0;
    here.permit(first, at(1)).await;
    here.accept(first, response("j", Status::Active), at(2)).await;
    import(&there, &export(&here).await).await;
    let rows = there.jobs(&scope()).await.expect("rows");
    assert_eq!((rows.len(), rows.iter().filter(|row| row.id.is_some()).count()), (2, 1));
}

#[tokio::test]
async fn an_import_applies_a_later_response_and_makes_the_job_unseen() {
    let (here, there) = (memory_store(), memory_store());
    let row = here.track(&scope(), response("j", Status::Active), at(0)).await.expect("tracked");
    import(&there, &export(&here).await).await;
    here.apply_job(row.key, response_with_pr("j", Status::Completed, 3), at(10)).await;
    let copy = there.jobs(&scope()).await.expect("rows").remove(0);
    there.change_one_job(copy.key, LocalChange::Viewed, at(50)).await;
    import(&there, &export(&here).await).await;
    let copy = there.jobs(&scope()).await.expect("rows").remove(0);
    assert_eq!(
        (copy.remote.status.clone(), copy.pr_number(), copy.local.finished_at),
        (Some(Status::Completed), Some(3), Some(at(10)))
    );
    assert!(copy.is_unseen(), "the change at 10 was not visible here at 50");
    // Importing an older file doesn't undo a newer response.
    there.apply_job(copy.key, response("j", Status::Archived), at(20)).await;
    import(&there, &export(&here).await).await;
    assert_eq!(there.jobs(&scope()).await.expect("rows")[0].remote.status, Some(Status::Archived));
    let kinds: Vec<EventKind> = there.thread_of(copy.key).await.events.into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds.len(), 4, "{kinds:?}");
}

#[tokio::test]
async fn an_imported_job_is_handled_if_the_export_has_it_as_handled_or_an_older_export_as_viewed() {
    let (here, there, old) = (memory_store(), memory_store(), memory_store());
    for id in ["seen", "handled"] {
        let row = here.track(&scope(), response(id, Status::Active), at(0)).await.expect("tracked");
        here.apply_job(row.key, response_with_pr(id, Status::Completed, 3), at(10)).await;
        here.change_one_job(row.key, LocalChange::Viewed, at(20)).await;
    }
    import(&there, &export(&here).await).await;
    let handled = here.job_by_id(&scope(), &job_id("handled")).await.expect("read").expect("known");
    here.change_one_job(handled.key, LocalChange::Handled, at(30)).await;
    let lines = export(&here).await;
    import(&there, &lines).await;
    let groups = async |store: &Store| {
        let rows = store.jobs(&scope()).await.expect("rows");
        rows.iter().map(Job::group).collect::<Vec<_>>()
    };
    assert_eq!(groups(&there).await, [JobGroup::NeedsYou, JobGroup::Done], "seen, and handled");
    // Without these fields, the lines are like those of an older docdeck, which did not store when a job was handled.
    let without: Vec<String> = lines
        .lines()
        .map(|line| {
            let mut line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let fields = line.as_object_mut().expect("an object");
            for field in ["handledAt", "followedUpAt", "goneAt"] {
                fields.remove(field);
            }
            line.to_string()
        })
        .collect();
    import(&old, &without.join("\n")).await;
    assert_eq!(groups(&old).await, [JobGroup::Done, JobGroup::Done]);
}

#[tokio::test]
async fn a_discarded_job_is_imported_as_discarded() {
    let (here, there) = (memory_store(), memory_store());
    let (prompt, _) = here.new_job("Fix it", at(0)).await;
    here.permit(prompt, at(1)).await;
    here.finish(prompt, Delivery::Unconfirmed(line("lost")), at(2)).await;
    here.discard_prompt(prompt, at(3)).await.expect("discarded");
    let lines = export(&here).await;
    assert!(lines.contains(r#""delivery":"dismissed""#), "older versions read it as well");
    import(&there, &lines).await;
    let row = there.jobs(&scope()).await.expect("rows").remove(0);
    assert_eq!((row.group(), row.local.undelivered), (JobGroup::Done, Some(DeliveryKind::Discarded)));
    assert_eq!(row.state_since(), Some(at(3)));
    let prompt = there.thread_of(row.key).await.prompts.remove(0);
    assert_eq!(prompt.discard_explanation(), Some("Discarded. The service may still have started it."));
}

#[tokio::test]
async fn an_event_that_both_computers_stored_is_not_imported_again() {
    let (here, there) = (memory_store(), memory_store());
    for (store, seconds) in [(&here, 0), (&there, 5)] {
        let row = store.track(&scope(), response("j", Status::Active), at(seconds)).await.expect("tracked");
        store.apply_job(row.key, response_with_pr("j", Status::Completed, 3), at(20 + seconds)).await;
    }
    import(&there, &export(&here).await).await;
    let row = there.jobs(&scope()).await.expect("rows").remove(0);
    assert_eq!(there.thread_of(row.key).await.events.len(), 3);
}

#[tokio::test]
async fn an_import_keeps_local_labels_and_drafts_and_counts_those_that_it_skips() {
    let (here, there) = (full_store().await, memory_store());
    import(&there, &export(&here).await).await;
    let row = there.job_by_id(&scope(), &job_id("j/1")).await.expect("read").expect("there");
    there.change_one_job(row.key, LocalChange::Note(Some(line("mine"))), at(30)).await;
    there.change_one_job(row.key, LocalChange::Tags(vec![line("mine")]), at(30)).await;
    there.save_draft(&scope(), DraftTarget::NewJob, "mine", at(31)).await.expect("stored");
    let done = import(&there, &export(&here).await).await;
    assert_eq!((done.drafts_skipped, done.labels_skipped, done.drafts_added), (1, 1, 0));
    let row = there.job(row.key).await.expect("read").expect("there");
    assert_eq!(row.local.note.as_ref().map(CleanText::as_str), Some("mine"));
    assert_eq!(row.local.tags, [line("mine"), line("docs"), line("api")]);
    let drafts = there.drafts(&scope()).await.expect("drafts");
    assert!(drafts.iter().any(|draft| draft.slot == DraftTarget::NewJob && draft.text == "mine"));
}

#[tokio::test]
async fn an_edited_prompt_becomes_a_second_job_on_import_once_the_service_has_accepted_it() {
    let (here, there) = (memory_store(), memory_store());
    let (prompt, _) = here.new_job("Do it", at(0)).await;
    here.permit(prompt, at(1)).await;
    here.finish(prompt, Delivery::Rejected(line("no")), at(2)).await;
    import(&there, &export(&here).await).await;
    here.requeue(prompt, Some("Do it well"), at(3)).await.expect("queued");
    import(&there, &export(&here).await).await;
    assert_eq!(deliveries(&there).await.len(), 1, "an older text of the same prompt");
    here.permit(prompt, at(4)).await;
    here.accept(prompt, response("j", Status::Active), at(5)).await;
    import(&there, &export(&here).await).await;
    let rows = there.jobs(&scope()).await.expect("rows");
    let titles: Vec<&str> = rows.iter().map(|row| row.local.title.as_str()).collect();
    assert_eq!(titles, ["Do it", "Do it well"], "the local text was not the accepted one");
}

#[tokio::test]
async fn an_invalid_line_is_reported_and_nothing_is_imported() {
    let store = memory_store();
    let job = r#"{"kind":"job","baseUrl":"https://x.example","project":"p","id":"1"}"#;
    let cases = [
        (String::new(), "It is empty; choose a file written by `docdeck export`"),
        (
            "{\"kind\":\"job\"}".to_owned(),
            "Line 1 is not the header of a docdeck export; choose a file written by `docdeck export`",
        ),
        ("hello".to_owned(), "Line 1 is not the header of a docdeck export; choose a file written by `docdeck export`"),
        (
            r#"{"kind":"docdeck","version":9,"exportedAt":{"odd":1}}"#.to_owned(),
            "Line 1 was written by a newer docdeck (format 9, supported up to 1); update docdeck",
        ),
        (
            format!("{HEADER}\n{job}\n\n{{\"kind\":\"job\""),
            "Line 4 can't be read: EOF while parsing an object at line 1 column 13",
        ),
        (format!("{HEADER}\n{job}\n{{\"kind\":\"page\"}}"), "Line 3 has the unknown kind page"),
        (format!("{HEADER}\n{job}\n[1]"), "Line 3 can't be read: "),
        (format!("{HEADER}\n{}", job.replace(",\"id\":\"1\"", "")), "Line 2 is a job with neither an id nor a prompt"),
        (format!("{HEADER}\n{}", job.replace("\"p\"", "\" \"")), "Line 2 has an empty baseUrl or project"),
        (
            format!("{HEADER}\n{}", job.replace("\"1\"", "\"1\",\"createdAt\":\"soon\"")),
            "Line 2 can't be read: \"soon\" is not a time like 2026-11-20T14:02:30Z",
        ),
        (
            format!(
                "{HEADER}\n{}",
                job.replace("\"1\"", r#""1","prompts":[{"kind":"create","text":"x","delivery":"lost"}]"#)
            ),
            "Line 2 has the unknown delivery \"lost\"",
        ),
        (
            format!(
                "{HEADER}\n{}",
                job.replace("\"1\"", r#""1","prompts":[{"kind":"create","text":" ","delivery":"accepted"}]"#)
            ),
            "Line 2 has a prompt that is blank",
        ),
    ];
    for (lines, expected) in cases {
        let message = failed_import_message(&store, &lines).await;
        assert!(message.starts_with(expected), "{message} for {lines}");
    }
    let no_text = store
        .import(Cursor::new(b"\xff\xfe\n".to_vec()), ScopeFilter::default(), false, at(0))
        .await
        .expect_err("refused");
    assert!(matches!(no_text, ImportError::NotUtf8 { line: 1 }));
    let long = std::io::BufReader::new(std::io::repeat(b'x').take(MAX_LINE_BYTES + 5));
    assert!(matches!(
        store.import(long, ScopeFilter::default(), false, at(0)).await,
        Err(ImportError::TooLong { line: 1 })
    ));
    let x = Scope { base_url: "https://x.example".to_owned(), project: "p".to_owned(), organization: None };
    assert!(store.jobs(&x).await.expect("rows").is_empty(), "all or nothing");
}

#[tokio::test]
async fn missing_and_unknown_fields_of_a_backup_are_ignored() {
    let store = memory_store();
    let lines = format!(
        "\u{feff}{HEADER}\r\n{}\r\n{HEADER}\n",
        r#"{"kind":"job","baseUrl":"https://x.example/","project":"p","id":"1\u001b[2J","later":{"a":[1]},"tags":["A","a"]}"#
    );
    let done = import(&store, &lines).await;
    assert_eq!((done.jobs_added, done.has_end_line), (1, false));
    let x = Scope { base_url: "https://x.example".to_owned(), project: "p".to_owned(), organization: None };
    let row = store.jobs(&x).await.expect("rows").remove(0);
    assert_eq!(
        (row.local.title.as_str(), row.created_at, row.local.tags.as_slice()),
        ("1", at(2000), [line("a")].as_slice())
    );
}

#[tokio::test]
async fn an_export_and_an_import_can_be_limited_to_one_service() {
    let (store, part) = (full_store().await, memory_store());
    let other = || ScopeFilter { base_url: Some("https://other.example".to_owned()), ..ScopeFilter::default() };
    let lines = export(&store).await;
    let done = part.import(Cursor::new(lines.clone()), other(), false, at(0)).await.expect("imported");
    assert_eq!((done.jobs_added, done.drafts_added), (1, 0));
    let mut file = tempfile::tempfile().expect("a file");
    let done = store.export(file.try_clone().expect("a file"), other(), "0.1.0", at(1000)).await.expect("written");
    assert_eq!((done.totals.jobs, done.totals.drafts, done.in_flight_prompts), (1, 0, 0));
    file.rewind().expect("rewound");
    let mut text = String::new();
    file.read_to_string(&mut text).expect("text");
    assert_eq!(text, export(&part).await);
}

#[tokio::test]
async fn a_dry_run_returns_the_same_counts_and_changes_nothing() {
    let lines = export(&full_store().await).await;
    let store = memory_store();
    let planned = store.import(Cursor::new(lines.clone()), ScopeFilter::default(), true, at(2000)).await.expect("read");
    assert!(store.jobs(&scope()).await.expect("rows").is_empty());
    assert_eq!(import(&store, &lines).await, planned);
}

// Strategies for arbitrary backups.

fn any_delivery() -> impl Strategy<Value = (Delivery, bool)> {
    let why = line("why");
    prop::sample::select(vec![
        (Delivery::Queued { until: None }, false),
        (Delivery::Paused, false),
        (Delivery::Sending, true),
        (Delivery::Accepted, true),
        (Delivery::NotSent(why.clone()), true),
        (Delivery::Rejected(why.clone()), true),
        (Delivery::Unconfirmed(why), true),
        (Delivery::Discarded { from: Some(DeliveryKind::Rejected) }, false),
    ])
}

fn optional_time() -> impl Strategy<Value = Option<Time>> {
    prop::option::of((0_i64..40).prop_map(at))
}

prop_compose! {
    /// Generates follow-ups that were written at a few different times; the text depends on the time.
    fn any_follow_ups()(
        chosen in prop::collection::btree_map(0_i64..6, (any_delivery(), 0_i64..20), 0..4),
    ) -> Vec<PromptRecord> {
        chosen.into_iter().map(|(moment, ((delivery, sent), after))| PromptRecord {
            kind: PromptKind::FollowUp,
            text: format!("follow-up {moment}"),
            delivery,
            written_at: at(moment),
            sent_at: sent.then(|| at(moment + after)),
            state_at: sent.then(|| at(moment + after)),
            author: None,
            draft: None,
        }).collect()
    }
}

prop_compose! {
    fn any_events()(kinds in prop::collection::vec((0_i64..30, 0..5), 0..6)) -> Vec<JobEvent> {
        let mut events: Vec<JobEvent> = kinds.into_iter().map(|(second, kind)| JobEvent {
            at: at(second),
            kind: match kind {
                0 => EventKind::Status { from: None, to: Status::Active },
                1 => EventKind::Status { from: Some(Status::Active), to: Status::Completed },
                2 => EventKind::PullRequest(line("https://x.example/pull/1")),
                3 => EventKind::Gone,
                _ => EventKind::Back,
            },
        }).collect();
        events.sort_by_key(|event| event.at);
        events
    }
}

prop_compose! {
    fn any_job()(
        n in 0_i64..8,
        has_id in any::<bool>(),
        (delivery, sent) in any_delivery(),
        follow_ups in any_follow_ups(),
        events in any_events(),
        status in prop::sample::select(vec![None, Some(Status::Active), Some(Status::Completed), Some(Status::Failed)]),
        times in (optional_time(), optional_time(), optional_time(), 0_i64..40),
        tags in prop::collection::btree_set("[a-c]", 0..3),
        words in (prop::option::of("[x-z]{1,3}"), prop::option::of("[x-z]{1,3}"), prop::option::of("[x-z]{1,3}")),
    ) -> JobRecord {
        let text = format!("prompt {n}");
        let id = has_id.then(|| job_id(&n.to_string()));
        let (note, title, draft) = words;
        let create = PromptRecord {
            kind: PromptKind::Create,
            text: text.clone(),
            delivery: if has_id { Delivery::Accepted } else { delivery },
            written_at: at(n),
            sent_at: (has_id || sent).then(|| at(n + 1)),
            state_at: None,
            author: None,
            draft: None,
        };
        let mut row = Job::new(JobKey(0), line(&title.clone().unwrap_or(text)), at(n));
        row.id = id;
        row.remote.status = status.filter(|_| has_id);
        row.local.checked_at = times.0.filter(|_| has_id);
        row.local.viewed_at = times.1;
        row.local.finished_at = times.2;
        row.local.changed_at = at(times.3);
        row.local.has_custom_title = title.is_some();
        row.local.note = note.map(|note| line(&note));
        row.local.tags = tags.iter().map(|tag| line(tag)).collect();
        let prompts = std::iter::once(create).chain(follow_ups).collect();
        let draft = draft.map(|text| DraftText { text, saved_at: at(n) });
        JobRecord { scope: scope(), job: row, prompts, events, draft, signals: JobSnapshots::default() }
    }
}

fn any_backup() -> impl Strategy<Value = String> {
    let jobs = prop::collection::vec(any_job(), 0..8);
    (jobs, prop::option::of("[d-f]{1,3}")).prop_map(|(jobs, draft)| {
        let mut lines = vec![BackupLine::Header(BackupHeader { docdeck_version: line("x"), exported_at: at(0) })];
        lines.extend(jobs.into_iter().map(|job| BackupLine::Job(Box::new(job))));
        lines.extend(draft.map(|text| {
            let draft = DraftText { text, saved_at: at(3) };
            BackupLine::Draft(DraftRecord { scope: scope(), purpose: DraftPurpose::NewJob, draft })
        }));
        lines.iter().map(|line| line.to_json().expect("written") + "\n").collect()
    })
}

/// Returns the jobs, each with the texts of its prompts. A job is identified by its id or, if it has none, by its first
/// prompt.
async fn content(store: &Store) -> BTreeSet<(String, BTreeSet<String>)> {
    let mut content = BTreeSet::new();
    for row in store.jobs(&scope()).await.expect("rows") {
        let thread = store.thread_of(row.key).await;
        let name = row.id.as_ref().map_or_else(|| thread.prompts[0].text.clone(), |id| id.as_str().to_owned());
        content.insert((name, thread.prompts.into_iter().map(|prompt| prompt.text).collect()));
    }
    content
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn after_importing_any_backup_an_export_survives_another_import_and_export(file in any_backup()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let (store, empty) = (memory_store(), memory_store());
            import(&store, &file).await;
            let lines = export(&store).await;
            prop_assert_eq!(import(&store, &lines).await.jobs_changed, 0);
            prop_assert_eq!(&export(&store).await, &lines);
            import(&empty, &lines).await;
            prop_assert_eq!(export(&empty).await, lines);
            prop_assert_eq!(store.sendable_prompts_with_wait().await, []);
            Ok(())
        })?;
    }

    #[test]
    fn two_stores_that_import_each_others_exports_end_with_the_same_content(one in any_backup(), two in any_backup()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let (here, there) = (memory_store(), memory_store());
            import(&here, &one).await;
            import(&there, &two).await;
            let before: BTreeSet<_> = content(&here).await.into_iter().chain(content(&there).await).collect();
            import(&there, &export(&here).await).await;
            import(&here, &export(&there).await).await;
            import(&there, &export(&here).await).await;
            prop_assert_eq!(content(&here).await, content(&there).await);
            let after = content(&here).await;
            for (_, prompts) in before {
                prop_assert!(after.iter().any(|(_, all)| prompts.is_subset(all)), "lost {prompts:?}: {after:?}");
            }
            prop_assert_eq!(import(&here, &export(&there).await).await.jobs_added, 0);
            prop_assert_eq!(here.sendable_prompts_with_wait().await, []);
            prop_assert_eq!(there.sendable_prompts_with_wait().await, []);
            Ok(())
        })?;
    }
}
