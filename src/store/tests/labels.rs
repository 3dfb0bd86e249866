use super::*;

fn tag_texts(row: &Job) -> Vec<&str> {
    row.local.tags.iter().map(CleanText::as_str).collect()
}

#[tokio::test]
async fn a_custom_title_survives_responses_and_restarts_until_it_is_removed() {
    let folder = tempdir().expect("a folder");
    let store = open(folder.path());
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let named = store.change_one_job(row.key, LocalChange::Title(Some(line("Mine"))), at(1)).await;
    assert_eq!((named.local.title.as_str(), named.local.has_custom_title), ("Mine", true));
    store.apply_job(row.key, response_with_pr("j1", Status::Completed, 3), at(2)).await;
    let next = open(folder.path());
    let kept = next.job(row.key).await.expect("read").expect("there");
    assert_eq!((kept.local.title.as_str(), kept.local.has_custom_title), ("Mine", true));
    let back = next.change_one_job(row.key, LocalChange::Title(None), at(3)).await;
    assert_eq!((back.local.title.as_str(), back.local.has_custom_title), ("Prompt of j1", false));
    let blank = next.change_one_job(row.key, LocalChange::Title(Some(line("  "))), at(4)).await;
    assert_eq!((blank.local.title.as_str(), blank.local.has_custom_title), ("Prompt of j1", false));
}

#[tokio::test]
async fn an_edited_prompt_changes_the_title_unless_the_user_has_set_a_title() {
    let store = memory_store();
    let (prompt, row) = store.new_job("First line", at(0)).await;
    store.change_one_job(row.key, LocalChange::Title(Some(line("Mine"))), at(1)).await;
    store.permit(prompt, at(2)).await;
    store.finish(prompt, Delivery::Rejected(line("no")), at(3)).await;
    let row = store.requeue(prompt, Some("Second line"), at(4)).await.expect("queued");
    assert_eq!(row.local.title.as_str(), "Mine");
    let row = store.change_one_job(row.key, LocalChange::Title(None), at(5)).await;
    assert_eq!(row.local.title.as_str(), "Second line");
}

#[tokio::test]
async fn tags_are_replaced_added_and_removed_in_lower_case_without_duplicates() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let tags = |tag_texts: &[&str]| tag_texts.iter().map(|word| line(word)).collect::<Vec<_>>();
    let row = store.change_one_job(row.key, LocalChange::Tags(tags(&["Docs", "api", "docs", ""])), at(1)).await;
    assert_eq!(tag_texts(&row), ["docs", "api"]);
    let row = store.change_one_job(row.key, LocalChange::AddTags(tags(&["sso", "api"])), at(2)).await;
    assert_eq!(tag_texts(&row), ["docs", "api", "sso"]);
    let row = store.change_one_job(row.key, LocalChange::RemoveTags(tags(&["API", "none"])), at(3)).await;
    assert_eq!(tag_texts(&row), ["docs", "sso"]);
    assert_eq!(tag_texts(&store.jobs(&scope()).await.expect("rows")[0]), ["docs", "sso"]);
    let row = store.change_one_job(row.key, LocalChange::Tags(Vec::new()), at(4)).await;
    assert_eq!(tag_texts(&row), [""; 0]);
}

#[tokio::test]
async fn a_note_keeps_its_line_breaks_and_a_blank_text_removes_the_note() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let note = CleanText::block("ask Ana\nthen merge");
    let row = store.change_one_job(row.key, LocalChange::Note(Some(note.clone())), at(1)).await;
    assert_eq!(row.local.note, Some(note));
    let row = store.change_one_job(row.key, LocalChange::Note(Some(CleanText::block(" \n"))), at(2)).await;
    assert_eq!(row.local.note, None);
}

#[tokio::test]
async fn a_change_of_many_jobs_is_applied_to_all_or_none() {
    let store = memory_store();
    let one = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let two = store.add_accepted_job("j2", Status::Active, at(1)).await;
    let with_unknown = [one.key, JobKey(99), two.key];
    let refused = store.change_jobs(&with_unknown, LocalChange::Dismissed(true), at(2)).await;
    assert!(matches!(refused, Err(StoreError::NoSuchJob)));
    assert!(store.jobs(&scope()).await.expect("rows").iter().all(|row| !row.local.dismissed));
    let rows = store.change_jobs(&[two.key, one.key], LocalChange::Dismissed(true), at(3)).await.expect("done");
    assert_eq!(
        rows.iter().map(|row| (row.key, row.local.dismissed)).collect::<Vec<_>>(),
        [(two.key, true), (one.key, true)]
    );
}

#[tokio::test]
async fn merging_two_rows_keeps_what_the_user_wrote_for_both() {
    let store = memory_store();
    let (prompt, row) = store.new_job("Fix it", at(0)).await;
    store.permit(prompt, at(1)).await;
    store.finish(prompt, Delivery::Unconfirmed(line("?")), at(2)).await;
    let tracked = store.track(&scope(), response("j1", Status::Active), at(3)).await.expect("tracked");
    store.change_one_job(row.key, LocalChange::Tags(vec![line("a")]), at(4)).await;
    store.change_one_job(row.key, LocalChange::Note(Some(line("mine"))), at(4)).await;
    store.change_one_job(tracked.key, LocalChange::Title(Some(line("Named"))), at(5)).await;
    store.change_one_job(tracked.key, LocalChange::Tags(vec![line("b"), line("a")]), at(5)).await;
    store.change_one_job(tracked.key, LocalChange::Note(Some(line("theirs"))), at(5)).await;
    let one = store.link_job(prompt, response("j1", Status::Active), at(6)).await.expect("linked");
    assert_eq!((one.key, one.local.title.as_str(), one.local.has_custom_title), (row.key, "Named", true));
    assert_eq!(tag_texts(&one), ["a", "b"]);
    assert_eq!(one.local.note, Some(CleanText::block("mine\ntheirs")));
    let back = store.change_one_job(one.key, LocalChange::Title(None), at(7)).await;
    assert_eq!(back.local.title.as_str(), "Fix it");
}

#[tokio::test]
async fn a_search_for_prompts_takes_the_text_literally_and_ignores_case() {
    let store = memory_store();
    let (_, first) = store.new_job("Fix the LINKS in 100% of\nall_pages", at(0)).await;
    let (_, second) = store.new_job("Übersetze C:\\docs", at(1)).await;
    store.follow_up(second.key, "and the links", at(2)).await;
    let found = async |text: &str| store.find_jobs_by_prompt(&scope(), text).await.expect("found");
    assert_eq!(found("links").await, [first.key, second.key]);
    assert_eq!(found("00% OF").await, [first.key]);
    assert_eq!(found("l%s").await, []);
    assert_eq!(found("all_p").await, [first.key]);
    assert_eq!(found("all.p").await, []);
    assert_eq!(found("C:\\D").await, [second.key]);
    assert_eq!(found("üBERSETZE").await, [second.key]);
    assert_eq!(found(&"x".repeat(60_000)).await, []);
    let other = Scope { project: "other".to_owned(), ..scope() };
    assert_eq!(store.find_jobs_by_prompt(&other, "links").await.expect("found"), []);
}

#[tokio::test]
async fn sent_prompts_are_listed_newest_first_without_duplicates() {
    let store = memory_store();
    for (n, text) in ["one", "two", "one", "three"].into_iter().enumerate() {
        let seconds = i64::try_from(n).expect("small");
        let (prompt, _) = store.new_job(text, at(seconds)).await;
        store.permit(prompt, at(10 - seconds)).await;
    }
    store.new_job("never sent", at(20)).await;
    assert_eq!(store.sent_prompts(&scope()).await.expect("texts"), ["one", "two", "three"]);
}

#[tokio::test]
async fn at_most_a_thousand_sent_prompts_are_returned() {
    let store = memory_store();
    store.add_accepted_job("j1", Status::Active, at(0)).await;
    store
        .with_connection(|db| {
            db.execute_batch(
                "INSERT INTO prompt (job, kind, text, state, written_at, sent_at)
                 WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
                 SELECT 1, 'follow-up', 'p' || i, 'accepted', i, 9000000000000 + i FROM n",
            )
            .expect("filled");
        })
        .await;
    let texts = store.sent_prompts(&scope()).await.expect("texts");
    assert_eq!((texts.len(), texts[0].as_str(), texts[999].as_str()), (1000, "p1200", "p201"));
}
