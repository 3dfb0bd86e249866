//! Exchanges between members: what arrives, what is kept, and what never happens.

use crate::support::slow::sample;
use crate::{Member, answer, connect, now, start_database, text};
use docdeck::model::change::LocalChange;
use docdeck::model::job::JobGroup;
use docdeck::model::prompt::Delivery;
use docdeck::model::remote_job::Status;
use docdeck::store::{SendPermit, StoreError};
use docdeck::team::{self, ExchangeSummary, ForgetSummary, TeamError};

#[tokio::test]
async fn what_one_member_changes_the_other_sees_with_its_author() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.track("j1", Status::Active).await;
    ana.change("j1", LocalChange::Title(Some(text("Fix the links")))).await;
    ana.change("j1", LocalChange::Tags(vec![text("docs"), text("api")])).await;
    ana.change("j1", LocalChange::Note(Some(docdeck::model::text::CleanText::block("two\nlines")))).await;
    ana.follow_up("j1", "accepted one", Delivery::Accepted).await;
    ana.follow_up("j1", "lost one", Delivery::Unconfirmed(text("the answer was lost"))).await;
    ana.follow_up("j1", "waiting one", Delivery::Queued { until: None }).await;
    assert_eq!(ana.exchange().await.sent, 1);
    bob.exchange().await;
    let mut expected = ana.seen("j1").await;
    assert_eq!(expected.prompts.remove("waiting one").as_deref(), Some("queued"), "a queue is private");
    assert_eq!(bob.seen("j1").await, expected);
    for prompt in bob.prompts("j1").await {
        assert_eq!(prompt.author, Some(text("ana")));
    }
    let activity = async |member: &Member| member.job("j1").await.local.team.map(|team| *team).unwrap_or_default();
    assert_eq!(activity(&bob).await.followed_up_by, Some(text("ana")));
    // The other direction, and a removal.
    bob.change("j1", LocalChange::RemoveTags(vec![text("api")])).await;
    bob.change("j1", LocalChange::Note(None)).await;
    bob.follow_up("j1", "of bob", Delivery::Accepted).await;
    bob.change("j1", LocalChange::Dismissed(true)).await;
    bob.exchange().await;
    ana.exchange().await;
    let seen = ana.seen("j1").await;
    assert_eq!((seen.tags, seen.note, seen.dismissed), (vec!["docs".to_owned()], None, true));
    assert_eq!(seen.prompts.get("of bob").map(String::as_str), Some("accepted"));
    let of_bob = activity(&ana).await;
    assert_eq!((of_bob.followed_up_by, of_bob.dismissed_by), (Some(text("bob")), Some(text("bob"))));
    assert_eq!(activity(&bob).await.dismissed_by, None, "bob did it");
    ana.change("j1", LocalChange::Dismissed(false)).await;
    assert_eq!(activity(&ana).await.dismissed_by, None);
    ana.change("j1", LocalChange::Dismissed(true)).await;
    ana.exchange().await;
    assert_eq!(activity(&ana).await.dismissed_by, None, "ana did it");
    bob.exchange().await;
    // Nothing is left to send, and nothing echoes.
    for member in [&ana, &bob, &ana, &bob] {
        assert_eq!(member.exchange().await, ExchangeSummary::default(), "{}", member.name);
    }
}

#[tokio::test]
async fn edits_on_both_sides_lose_nothing_but_an_earlier_title() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.track("j1", Status::Active).await;
    ana.change("j1", LocalChange::Tags(vec![text("old")])).await;
    ana.exchange().await;
    bob.exchange().await;
    ana.change("j1", LocalChange::Title(Some(text("of ana")))).await;
    ana.change("j1", LocalChange::AddTags(vec![text("a")])).await;
    ana.change("j1", LocalChange::RemoveTags(vec![text("old")])).await;
    ana.follow_up("j1", "prompt of ana", Delivery::Accepted).await;
    bob.change("j1", LocalChange::Title(Some(text("of bob")))).await;
    bob.change("j1", LocalChange::AddTags(vec![text("b")])).await;
    bob.change("j1", LocalChange::Note(Some(text("note of bob")))).await;
    bob.follow_up("j1", "prompt of bob", Delivery::Accepted).await;
    ana.exchange().await;
    bob.exchange().await;
    ana.exchange().await;
    let seen = ana.seen("j1").await;
    assert_eq!(bob.seen("j1").await, seen);
    assert_eq!(seen.title.as_deref(), Some("of bob"), "the last write counts");
    assert_eq!((seen.tags, seen.note.as_deref()), (vec!["a".to_owned(), "b".to_owned()], Some("note of bob")));
    assert_eq!(seen.prompts.keys().collect::<Vec<_>>(), ["prompt of ana", "prompt of bob"]);
}

#[tokio::test]
async fn a_prompt_of_another_member_can_not_be_sent_from_here() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.track("j1", Status::Active).await;
    ana.follow_up("j1", "being sent", Delivery::Sending).await;
    ana.exchange().await;
    bob.exchange().await;
    let theirs = bob.prompts("j1").await.remove(0);
    assert_eq!((theirs.delivery.clone(), theirs.author.clone()), (Delivery::Sending, Some(text("ana"))));
    let permit = bob.store.request_permit(theirs.id, "bob", now(), now()).await.expect("an answer");
    assert_eq!(permit, SendPermit::NotQueued);
    let again = bob.store.requeue(theirs.id, None, now()).await;
    assert!(matches!(again, Err(StoreError::WrittenElsewhere)), "{again:?}");
    assert_eq!(bob.store.sendable_prompts(&bob.scope).await.expect("read"), []);
    // A colleague's prompt neither blocks nor asks for a decision.
    assert_eq!(bob.job("j1").await.local.undelivered, None);
    // docdeck ends on ana's computer while it is being sent.
    ana.store.abandon_sends(&ana.scope, "ana", now()).await.expect("stored");
    ana.exchange().await;
    bob.exchange().await;
    assert_eq!(bob.seen("j1").await, ana.seen("j1").await);
    assert_eq!(bob.job("j1").await.group(), JobGroup::Working);
    assert_eq!(ana.job("j1").await.group(), JobGroup::NeedsYou);
    bob.follow_up("j1", "not blocked", Delivery::Accepted).await;
}

#[tokio::test]
async fn a_computer_restored_from_a_backup_does_not_send_again_what_was_accepted() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    let folder = tempfile::tempdir().expect("a folder");
    let open = || crate::support::open_store(folder.path());
    let mut ana = Member { store: open(), ..ana };
    ana.store.join_team(&ana.scope, "docs").await.expect("joined");
    ana.track("j1", Status::Active).await;
    ana.follow_up("j1", "only once", Delivery::Queued { until: None }).await;
    ana.exchange().await;
    ana.store.clone().close().await;
    let (file, copy) = (folder.path().join("docdeck.db"), folder.path().join("copy.db"));
    std::fs::copy(&file, &copy).expect("a backup");
    ana.store = open();
    let queued = ana.prompts("j1").await.remove(0);
    let permit = ana.store.request_permit(queued.id, "ana", now(), now()).await.expect("an answer");
    assert!(matches!(permit, SendPermit::Granted { .. }));
    ana.store.record_accepted_send(queued.id, answer("j1", Status::Active), now()).await.expect("stored");
    ana.exchange().await;
    ana.store.clone().close().await;
    std::fs::copy(&copy, &file).expect("restored");
    ana.store = open();
    assert_eq!(ana.prompts("j1").await.remove(0).delivery, Delivery::Queued { until: None });
    ana.exchange().await;
    assert_eq!(ana.prompts("j1").await.remove(0).delivery, Delivery::Accepted);
    let permit = ana.store.request_permit(queued.id, "ana", now(), now()).await.expect("an answer");
    assert_eq!(permit, SendPermit::NotQueued);
    // Its later changes count, although its revisions have started again.
    ana.follow_up("j1", "after it", Delivery::Unconfirmed(text("lost"))).await;
    ana.exchange().await;
    bob.exchange().await;
    assert_eq!(bob.seen("j1").await, ana.seen("j1").await);
}

#[tokio::test]
async fn joining_again_and_importing_a_backup_add_no_second_copy() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.track("j1", Status::Active).await;
    ana.follow_up("j1", "accepted one", Delivery::Accepted).await;
    ana.follow_up("j1", "lost one", Delivery::Unconfirmed(text("lost"))).await;
    // bob has a backup of ana's before they form a team.
    let mut file = tempfile::tempfile().expect("a file");
    ana.store.export(file.try_clone().expect("a handle"), Default::default(), "test", now()).await.expect("exported");
    std::io::Seek::rewind(&mut file).expect("rewound");
    let lines = std::io::BufReader::new(file);
    bob.store.import(lines, Default::default(), false, now()).await.expect("imported");
    let cam = Member::join(&server, "cam", "p").await;
    for member in [&bob, &ana, &cam, &bob, &ana, &cam] {
        member.exchange().await;
    }
    ana.store.leave_team(&ana.scope).await.expect("left");
    ana.store.join_team(&ana.scope, "docs").await.expect("joined");
    for member in [&ana, &bob, &cam, &ana, &bob, &cam] {
        member.exchange().await;
        assert_eq!(member.prompts("j1").await.len(), 2, "{}: {:?}", member.name, member.prompts("j1").await);
        assert_eq!(member.store.jobs(&member.scope).await.expect("read").len(), 1);
    }
}

#[tokio::test]
async fn projects_that_are_not_joined_stay_private() {
    let Some(server) = start_database(&[]).await else { return };
    let ana = Member::join(&server, "ana", "p").await;
    let secret = crate::scope("private");
    ana.store.track(&secret, answer("s1", Status::Active), now()).await.expect("tracked");
    ana.track("j1", Status::Active).await;
    ana.exchange().await;
    assert_eq!(server.sql("SELECT id FROM docdeck.job"), "j1");
    // After leaving, nothing is sent any more and everything stays.
    ana.store.leave_team(&ana.scope).await.expect("left");
    ana.track("j2", Status::Active).await;
    assert_eq!(ana.exchange().await, ExchangeSummary::default());
    assert_eq!(server.sql("SELECT count(*) FROM docdeck.job"), "1");
    assert_eq!(ana.store.jobs(&ana.scope).await.expect("read").len(), 2);
}

#[tokio::test]
async fn hostile_and_newer_rows_are_cleaned_or_left_out() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.track("j1", Status::Active).await;
    ana.exchange().await;
    let time = "2026-11-20T14:02:30.000Z";
    let state = format!(
        r#"{{"title":{{"at":"{time}","value":"a\u001b[2Jb\u202ec"}},"note":{{"at":"{time}","value":"x\u001b]0;y\u0007\nz"}},
            "dismissed":{{"at":"{time}","value":true}},"dismissedBy":{{"at":"{time}","value":"d\u001b[2Jan"}},
            "tags":{{"UP\u001b[1mPER":{{"at":"{time}","value":true}}}},"service":{{"prLink":{{"at":"{time}","value":"https://x.example/\u001b[31m"}}}}}}"#
    );
    let prompt = format!(
        r#"{{"uid":"evil-1-1","author":"e\u001b[2Jve","kind":"follow-up","text":"p\u001b[2J","delivery":"unconfirmed",
            "reason":"r\u001b[2J","writtenAt":"{time}","version":1}}"#
    );
    let insert = |table: &str, values: &str| {
        server.sql(&format!(
            "WITH next AS (UPDATE docdeck.project SET last_change = last_change + 1 RETURNING id, last_change)
             INSERT INTO docdeck.{table} SELECT next.id, {values}, next.last_change FROM next"
        ));
    };
    insert("job", &format!("E'h\\x1b[2J1', '{state}'"));
    insert("prompt", &format!("'evil-1-1', 'j1', '{prompt}'"));
    insert("job", "'n1', '{\"title\": 7}'");
    insert("prompt", "'evil-2-1', 'j1', 'nonsense'");
    server.sql("INSERT INTO docdeck.batch SELECT id, 'by hand', last_change, 0, 'evil' FROM docdeck.project");
    let report = bob.exchange().await;
    assert_eq!(report.unreadable, 2, "{report:?}");
    let hostile = bob.store.jobs(&bob.scope).await.expect("read");
    let hostile =
        hostile.iter().find(|job| job.id.as_ref().is_some_and(|id| id.as_str().starts_with('h'))).expect("listed");
    assert_eq!(hostile.local.title.as_str(), "abc");
    assert_eq!(hostile.local.team.as_ref().and_then(|team| team.dismissed_by.clone()), Some(text("dan")));
    assert_eq!(hostile.local.note.as_ref().map(|note| note.as_str()), Some("x\nz"));
    let shown = format!("{:?} {:?}", hostile.local, bob.prompts("j1").await[0].author);
    assert!(!shown.contains("\\u{1b}") && !shown.contains("\\u{202e}"), "{shown}");
    assert_eq!(bob.prompts("j1").await.len(), 1);
    // Both still exchange.
    bob.change("j1", LocalChange::AddTags(vec![text("fine")])).await;
    bob.exchange().await;
    ana.exchange().await;
    assert_eq!(ana.seen("j1").await.tags, ["fine"]);
}

#[tokio::test]
async fn removed_jobs_stay_with_their_members_and_come_back_only_if_one_changes_them() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    for id in ["old", "old too", "new"] {
        ana.track(id, Status::Active).await;
        ana.follow_up(id, &format!("prompt of {id}"), Delivery::Accepted).await;
    }
    ana.exchange().await;
    bob.exchange().await;
    let day_later = now() + chrono::TimeDelta::days(1);
    let forget = async |user: &str, before, is_dry_run| {
        let connection = connect(&server.url(user)).await.expect("connected");
        team::forget(&connection, &ana.scope, "docs", before, is_dry_run).await
    };
    let error = forget("ana", day_later, false).await.expect_err("only the administrator");
    assert!(matches!(error, TeamError::NotAdministrator), "{error}");
    // After all changes so far, and not after the next one.
    let middle: i64 = server.sql("SELECT max(stamp) + 1 FROM docdeck.batch").parse().expect("a time");
    let middle = docdeck::model::Time::from_timestamp_millis(middle).expect("in range");
    bob.change("new", LocalChange::AddTags(vec![text("fine")])).await;
    bob.exchange().await;
    let none = forget("admin", middle - chrono::TimeDelta::hours(1), false).await.expect("done");
    assert_eq!(none, Some(ForgetSummary::default()));
    let expected = Some(ForgetSummary { jobs: 2, prompts: 2, reports: 0 });
    assert_eq!(forget("admin", middle, true).await.expect("counted"), expected);
    assert_eq!(server.sql("SELECT count(*) FROM docdeck.prompt"), "3", "nothing was removed yet");
    assert_eq!(forget("admin", middle, false).await.expect("removed"), expected);
    assert_eq!(server.sql("SELECT string_agg(id, ',') FROM docdeck.job WHERE state <> '{}'"), "new");
    assert_eq!(server.sql("SELECT count(*) FROM docdeck.prompt"), "1");
    // Members keep their copies, and a new member receives only what is left.
    let eva = Member::join(&server, "eva", "p").await;
    for member in [&ana, &bob, &eva] {
        let report = member.exchange().await;
        assert!(!report.was_database_restored, "{}: {report:?}", member.name);
    }
    assert_eq!(eva.store.jobs(&eva.scope).await.expect("read").len(), 1);
    assert_eq!(bob.prompts("old").await.len(), 1);
    // Joining again brings nothing back.
    ana.store.leave_team(&ana.scope).await.expect("left");
    ana.store.join_team(&ana.scope, "docs").await.expect("joined");
    ana.exchange().await;
    eva.exchange().await;
    assert_eq!(eva.store.jobs(&eva.scope).await.expect("read").len(), 1);
    // A change does.
    bob.change("old", LocalChange::Title(Some(text("Again")))).await;
    bob.exchange().await;
    eva.exchange().await;
    let seen = eva.seen("old").await;
    assert_eq!((seen.title.as_deref(), seen.status.as_deref(), seen.prompts.len()), (Some("Again"), Some("active"), 0));
    assert_eq!(eva.store.jobs(&eva.scope).await.expect("read").len(), 2);
    for member in [&ana, &bob, &eva] {
        member.exchange().await;
        assert_eq!(member.exchange().await, ExchangeSummary::default(), "{}", member.name);
    }
}

/// A small generator of random numbers, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit
    }
}

#[tokio::test]
async fn five_members_converge_after_random_changes() {
    let Some(server) = start_database(&[]).await else { return };
    for seed in sample(0..6, 3) {
        let mut random = Random(seed);
        let project = format!("random {seed}");
        let mut members = Vec::new();
        for name in ["ana", "bob", "cam", "dan", "eli"] {
            members.push(Member::join(&server, name, &project).await);
        }
        let ids = ["j0", "j1", "j2"];
        for member in &members {
            for id in ids {
                member.track(id, Status::Active).await;
            }
        }
        for n in 0..60 {
            let member = &members[random.below(5)];
            let id = ids[random.below(3)];
            let tag = text(["x", "y", "z"][random.below(3)]);
            match random.below(9) {
                0 => drop(
                    member
                        .track(id, [Status::Active, Status::Completed, Status::Failed][random.below(3)].clone())
                        .await,
                ),
                1 => member.change(id, LocalChange::Title(Some(text(&format!("title {n}"))))).await,
                2 => member.change(id, LocalChange::AddTags(vec![tag])).await,
                3 => member.change(id, LocalChange::RemoveTags(vec![tag])).await,
                4 => member.change(id, LocalChange::Dismissed(random.below(2) == 0)).await,
                5 => member.follow_up(id, &format!("prompt {n}"), Delivery::Accepted).await,
                _ => drop(member.exchange().await),
            }
        }
        for _ in 0..2 {
            for member in &members {
                member.exchange().await;
            }
        }
        for id in ids {
            let expected = members[0].seen(id).await;
            for member in &members {
                assert_eq!(member.seen(id).await, expected, "seed {seed}, {id}, {}", member.name);
            }
        }
        for member in &members {
            assert_eq!(member.exchange().await, ExchangeSummary::default(), "seed {seed}, {}", member.name);
        }
    }
}
