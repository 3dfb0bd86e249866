//! Reports with texts of readers: members share them, and nobody keeps them longer than the shortest setting allows.

use crate::support::postgres::Postgres;
use crate::{Member, TIMEOUT, address, connect, first_day, now, start_database, text};
use chrono::{Days, TimeDelta};
use docdeck::model::Time;
use docdeck::model::analytics::{AnalyticsRow, Feedback, Question, ReaderTextRetention, RowsResponse};
use docdeck::model::period::DateRange;
use docdeck::model::views::Counts;
use docdeck::store::{AnalyticsPruneFilter, ResponsePosition};
use docdeck::team::{self, OrganizationName, TeamConnection};

const DAY_MILLIS: i64 = 86_400_000;

/// A day that was not long ago.
fn range() -> DateRange {
    DateRange::day(first_day().checked_sub_days(Days::new(3)).expect("a day"))
}

fn hours_ago(hours: i64) -> Time {
    now() - TimeDelta::hours(hours)
}

fn comment(comment: &str) -> Feedback {
    Feedback { id: text("f1"), path: text("/a"), comment: Some(text(comment)), ..Feedback::default() }
}

impl Member {
    async fn join_with_days(server: &Postgres, name: &'static str, days: u16) -> Self {
        Self { reader_text_days: ReaderTextRetention(days), ..Self::join(server, name, "p").await }
    }

    async fn load_row<R: AnalyticsRow>(&self, row: R, as_of: Time) {
        let response =
            RowsResponse { rows: vec![row], totals: Counts::default(), next: None, has_unavailable_rows: false };
        let position =
            ResponsePosition { range: range(), number: 1, as_of, started_at: as_of, should_replace_unfinished: true };
        assert!(self.store.save_rows_response(&self.scope, &response, position).await.expect("stored"));
    }

    async fn comments(&self) -> Vec<String> {
        let stored = self.store.rows_report::<Feedback>(&self.scope, range()).await.expect("read");
        let rows = stored.report.into_iter().flat_map(|report| report.rows.clone());
        rows.filter_map(|row| row.comment.map(|comment| comment.to_string())).collect()
    }

    /// Deletes expired texts at this time, as docdeck does regularly.
    async fn delete_expired_at(&self, at: Time) -> usize {
        self.store.delete_expired_reader_texts(self.reader_text_days, at).await.expect("deleted")
    }
}

/// Returns the numbers of headers and parts with texts of readers in the database.
fn texts_in_database(server: &Postgres) -> String {
    server.sql(
        "SELECT (SELECT count(*) FROM docdeck.report WHERE kind IN ('feedback', 'questions')) || ' '
             || (SELECT count(*) FROM docdeck.report_part WHERE kind IN ('feedback', 'questions'))",
    )
}

/// Returns after how many days the report of feedback expires in the database.
fn days_in_database(server: &Postgres) -> String {
    server.sql(&format!("SELECT (expires_at - as_of) / {DAY_MILLIS} FROM docdeck.report WHERE kind = 'feedback'"))
}

/// Lets all texts in the database expire.
fn expire(server: &Postgres) {
    server.sql(
        "UPDATE docdeck.report SET expires_at = 1 WHERE expires_at IS NOT NULL;
         UPDATE docdeck.report_part SET expires_at = 1 WHERE expires_at IS NOT NULL",
    );
}

#[tokio::test]
async fn texts_of_readers_are_shared_and_expire_after_the_shortest_number_of_days() {
    let Some(server) = start_database(&[]).await else { return };
    let ana = Member::join_with_days(&server, "ana", 20).await;
    let loaded_at = hours_ago(2);
    ana.load_row(comment("it does not work"), loaded_at).await;
    ana.load_row(Question { id: text("q1"), query: text("how?"), ..Question::default() }, loaded_at).await;
    assert_eq!(ana.exchange().await.sent_reports, 2);
    assert_eq!((days_in_database(&server).as_str(), texts_in_database(&server).as_str()), ("20", "2 2"));
    let bob = Member::join_with_days(&server, "bob", 40).await;
    let cam = Member::join_with_days(&server, "cam", 10).await;
    for member in [&bob, &cam] {
        assert_eq!(member.exchange().await.received_reports, 2, "{}", member.name);
        assert_eq!(member.comments().await, ["it does not work"], "{}", member.name);
        let questions = member.store.rows_report::<Question>(&member.scope, range()).await.expect("read");
        assert_eq!(questions.report.map(|report| report.rows[0].query.to_string()), Some("how?".to_owned()));
    }
    for (member, days) in [(&ana, 20), (&bob, 20), (&cam, 10)] {
        let expires_at = loaded_at + TimeDelta::days(days);
        assert_eq!(member.delete_expired_at(expires_at - TimeDelta::minutes(1)).await, 0, "{}", member.name);
        assert_eq!(member.delete_expired_at(expires_at + TimeDelta::minutes(1)).await, 2, "{}", member.name);
        // They don't come back.
        member.exchange().await;
        assert_eq!(member.comments().await, [""; 0], "{}", member.name);
    }
    // The setting of a member may be longer than the team allows.
    let dan = Member::join_with_days(&server, "dan", 400).await;
    dan.load_row(comment("newer"), hours_ago(1)).await;
    dan.exchange().await;
    assert_eq!(days_in_database(&server), "90");
}

#[tokio::test]
async fn a_member_that_stores_no_texts_of_readers_neither_sends_nor_requests_them() {
    let Some(server) = start_database(&[]).await else { return };
    let cam = Member::join_with_days(&server, "cam", 0).await;
    // From before the setting was changed.
    cam.load_row(comment("of cam"), hours_ago(2)).await;
    cam.load_any_report().await;
    assert_eq!(cam.exchange().await.sent_reports, 1, "page views");
    assert_eq!((texts_in_database(&server).as_str(), cam.comments().await.len()), ("0 0", 0));
    let ana = Member::join_with_days(&server, "ana", 30).await;
    ana.load_row(comment("of ana"), hours_ago(1)).await;
    ana.exchange().await;
    // A member that requests this report finds it unreadable.
    server.sql("UPDATE docdeck.report SET summary = 'changed' WHERE kind = 'feedback'");
    assert_eq!(Member::join_with_days(&server, "bob", 1).await.exchange().await.unreadable, 1);
    let report = cam.exchange().await;
    assert_eq!((report.unreadable, report.received_reports), (0, 0), "{report:?}");
    // A report that the member's own number of days excludes is not requested either.
    server.sql(&format!(
        "UPDATE docdeck.report SET as_of = as_of - {0}, version = (as_of - {0}) || '-0' WHERE kind = 'feedback'",
        2 * DAY_MILLIS
    ));
    assert_eq!(Member::join_with_days(&server, "dan", 1).await.exchange().await.unreadable, 0);
    assert_eq!(Member::join_with_days(&server, "eve", 3).await.exchange().await.unreadable, 1);
}

#[tokio::test]
async fn the_next_exchange_of_any_member_deletes_expired_texts_from_the_database() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join_with_days(&server, "bob", 0).await);
    let elsewhere = Member::join(&server, "cam", "q").await;
    ana.load_row(comment("older"), hours_ago(3)).await;
    ana.load_any_report().await;
    ana.exchange().await;
    ana.load_row(comment("newer"), hours_ago(2)).await;
    ana.exchange().await;
    assert_eq!(texts_in_database(&server), "1 2", "an older version is in the other slot");
    // An interrupted upload.
    server.sql(
        "INSERT INTO docdeck.report_part SELECT project, 'questions', date_from, date_to, 1, number, version, content, expires_at
             FROM docdeck.report_part WHERE kind = 'feedback' AND slot = 0",
    );
    bob.exchange().await;
    assert_eq!(texts_in_database(&server), "1 3", "not expired yet");
    expire(&server);
    elsewhere.exchange().await;
    assert_eq!(texts_in_database(&server), "1 3", "of another project");
    bob.exchange().await;
    assert_eq!(texts_in_database(&server), "0 0");
    assert_eq!(server.sql("SELECT count(*) FROM docdeck.report"), "1", "page views stay");
    // The computer that loaded them keeps them, and doesn't send them again.
    ana.exchange().await;
    assert_eq!((ana.comments().await, texts_in_database(&server).as_str()), (vec!["newer".to_owned()], "0 0"));
    // A newer version is shared.
    ana.load_row(comment("newest"), hours_ago(1)).await;
    ana.exchange().await;
    let dan = Member::join(&server, "dan", "p").await;
    dan.exchange().await;
    assert_eq!(dan.comments().await, ["newest"]);
    // An expired report that no exchange has deleted yet is not received.
    ana.load_row(comment("expires while it is received"), now()).await;
    ana.exchange().await;
    expire(&server);
    let connection = connect(&server.url("ana")).await.expect("connected");
    let mut exchange = team::Exchange::start(&connection, &dan.store, &dan.scope, dan.settings())
        .await
        .expect("started")
        .expect("a shared project");
    ana.load_row(comment("expires later"), now()).await;
    ana.exchange().await;
    expire(&server);
    while exchange.receive_next_reports(now()).await.expect("received") == team::ExchangeStep::HasMore {}
    assert_eq!(dan.comments().await, ["newest"]);
}

#[tokio::test]
async fn members_delete_nothing_but_expired_texts() {
    let Some(server) = start_database(&[]).await else { return };
    let ana = Member::join(&server, "ana", "p").await;
    ana.load_row(comment("a comment"), hours_ago(2)).await;
    ana.load_any_report().await;
    ana.exchange().await;
    let rows =
        || server.sql("SELECT (SELECT count(*) FROM docdeck.report), (SELECT count(*) FROM docdeck.report_part)");
    let before = rows();
    for table in ["report", "report_part"] {
        assert!(server.try_sql(&format!("SET ROLE ana; DELETE FROM docdeck.{table}")).0, "allowed, deletes nothing");
        assert_eq!(rows(), before, "{table}");
        let has_no_expiry = format!("UPDATE docdeck.{table} SET expires_at = NULL WHERE kind = 'feedback'");
        let expires = format!("UPDATE docdeck.{table} SET expires_at = 1 WHERE kind <> 'feedback'");
        for sql in [has_no_expiry, expires] {
            assert!(!server.try_sql(&format!("SET ROLE ana; {sql}")).0, "{sql}");
        }
    }
    let too_long =
        format!("UPDATE docdeck.report SET expires_at = as_of + {} WHERE kind = 'feedback'", 91 * DAY_MILLIS);
    assert!(!server.try_sql(&format!("SET ROLE ana; {too_long}")).0);
    expire(&server);
    for table in ["report", "report_part"] {
        server.sql(&format!("SET ROLE eve; DELETE FROM docdeck.{table}"));
    }
    assert_eq!(rows(), before, "of another organization");
    for table in ["report", "report_part"] {
        server.sql(&format!("SET ROLE ana; DELETE FROM docdeck.{table}"));
    }
    assert_eq!(texts_in_database(&server), "0 0");
    assert_eq!(server.sql("SELECT count(*) FROM docdeck.report"), "1", "page views");
}

#[tokio::test]
async fn an_administrator_without_all_rights_forgets_texts_that_have_not_expired() {
    let Some(server) = Postgres::start(&[]) else { return };
    server.sql("CREATE ROLE dba LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO dba");
    let connection = connect(&server.url("dba")).await.expect("connected");
    team::set_up_schema(&connection, &OrganizationName::new("docs").expect("a name")).await.expect("created");
    server.sql("CREATE ROLE ana LOGIN IN ROLE docdeck_docs");
    let ana = Member::join(&server, "ana", "p").await;
    for hours in [3, 2] {
        ana.load_row(comment("a comment"), hours_ago(hours)).await;
        ana.exchange().await;
    }
    server.sql(
        "INSERT INTO docdeck.report_part SELECT project, 'questions', date_from, date_to, 1, number, version, content, expires_at
             FROM docdeck.report_part WHERE slot = 0",
    );
    assert_eq!(texts_in_database(&server), "1 3");
    let forgotten = team::forget(&connection, &ana.scope, "docs", hours_ago(24), false).await.expect("forgotten");
    assert_eq!(forgotten.map(|forgotten| forgotten.reports), Some(0));
    assert_eq!(texts_in_database(&server), "1 1", "the parts that no header refers to");
    let bob = Member::join(&server, "bob", "p").await;
    bob.exchange().await;
    assert_eq!(bob.comments().await, ["a comment"]);
    let forgotten = team::forget(&connection, &ana.scope, "docs", now(), false).await.expect("forgotten");
    assert_eq!(forgotten.map(|forgotten| forgotten.reports), Some(1));
    for member in [&ana, &bob] {
        member.exchange().await;
        assert_eq!(texts_in_database(&server), "0 0", "{}", member.name);
    }
}

#[tokio::test]
async fn after_the_database_is_restored_texts_keep_their_expiry_and_pruned_ones_stay_away() {
    let Some(server) = start_database(&[]).await else { return };
    let ana = Member::join_with_days(&server, "ana", 5).await;
    let (bob, cam) = (Member::join(&server, "bob", "p").await, Member::join(&server, "cam", "p").await);
    ana.load_row(comment("a comment"), hours_ago(2)).await;
    ana.exchange().await;
    for member in [&bob, &cam] {
        member.exchange().await;
        assert_eq!(member.comments().await, ["a comment"], "{}", member.name);
    }
    let all = AnalyticsPruneFilter { should_delete_all: true, ..AnalyticsPruneFilter::default() };
    cam.store.prune_analytics(all).await.expect("pruned");
    for _ in 0..2 {
        cam.exchange().await;
        assert_eq!(cam.comments().await, [""; 0]);
        cam.store.reset_team_exchange(&cam.scope).await.expect("restarted");
    }
    // The database loses the report, and a member that had received it sends it again.
    server.sql("DELETE FROM docdeck.report; DELETE FROM docdeck.report_part");
    bob.store.reset_team_exchange(&bob.scope).await.expect("restarted");
    assert_eq!(bob.exchange().await.sent_reports, 1);
    assert_eq!(days_in_database(&server), "5", "not the 30 days of bob");
    cam.exchange().await;
    assert_eq!(cam.comments().await, [""; 0]);
    // A newer version arrives.
    ana.load_row(comment("a newer comment"), hours_ago(1)).await;
    ana.exchange().await;
    cam.exchange().await;
    assert_eq!(cam.comments().await, ["a newer comment"]);
}

#[tokio::test]
async fn reports_of_texts_without_a_valid_expiry_are_refused() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.load_row(comment("a comment"), hours_ago(2)).await;
    ana.exchange().await;
    server.sql("ALTER TABLE docdeck.report DROP CONSTRAINT reader_texts_expire");
    for expiry in ["NULL".to_owned(), format!("as_of + {}", 91 * DAY_MILLIS)] {
        server.sql(&format!("UPDATE docdeck.report SET expires_at = {expiry}"));
        let connection = TeamConnection::open_checked(&address(&bob.url), TIMEOUT).await.expect("connected");
        bob.store.reset_team_exchange(&bob.scope).await.expect("restarted");
        let report =
            team::exchange(&connection, &bob.store, &bob.scope, bob.settings(), now()).await.expect("exchanged");
        assert_eq!((report.unreadable, report.received_reports), (1, 0), "{expiry}");
    }
}
