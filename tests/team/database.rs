//! The schema, the rights of members, and errors of the connection.

use crate::support::postgres::{Postgres, chown_to_server_user};
use crate::{Member, TIMEOUT, address, connect, start_database};
use chrono::TimeDelta;
use docdeck::api::ExtraRoots;
use docdeck::model::endpoint::ApiKey;
use docdeck::model::ledger::Quota;
use docdeck::model::remote_job::Status;
use docdeck::model::team::{ReportKey, ReportKind};
use docdeck::team::{
    self, Exchange, OrganizationName, RateLimitWait, TeamAddress, TeamConnection, TeamError, TeamLimit,
};
use std::path::Path;

fn organization(name: &str) -> OrganizationName {
    OrganizationName::new(name).expect("a name")
}

#[tokio::test]
async fn the_schema_is_created_once_even_by_several_at_the_same_time() {
    let Some(server) = Postgres::start(&[]) else { return };
    let url = server.url("admin");
    let missing = TeamConnection::open_checked(&address(&url), TIMEOUT).await.expect_err("no schema");
    assert!(matches!(missing, TeamError::NoSchema { .. }), "{missing}");
    let create = async || {
        let connection = connect(&url).await.expect("connected");
        team::set_up_schema(&connection, &organization("docs")).await.expect("created")
    };
    let found = tokio::join!(create(), create(), create());
    let mut found = [found.0, found.1, found.2];
    found.sort_unstable();
    assert_eq!(found, [0, team::supported_version(), team::supported_version()]);
    assert_eq!(server.sql("SELECT count(*) FROM docdeck.organization"), "1");
    TeamConnection::open_checked(&address(&url), TIMEOUT).await.expect("usable");
    // An administrator without all rights can do it, too.
    server
        .sql("DROP SCHEMA docdeck CASCADE; CREATE ROLE dba LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO dba");
    let connection = connect(&server.url("dba")).await.expect("connected");
    assert_eq!(team::set_up_schema(&connection, &organization("acme")).await.expect("created"), 0);
    assert_eq!(team::organizations(&connection).await.expect("read"), ["acme"]);
    // What an administrator runs by hand is the same.
    server.sql(
        "CREATE TABLE was AS SELECT table_name, column_name FROM information_schema.columns
                WHERE table_schema = 'docdeck'; DROP SCHEMA docdeck CASCADE",
    );
    server.sql(&team::setup_sql_for_administrator(&organization("docs")));
    let difference =
        "SELECT count(*) FROM was FULL JOIN (SELECT table_name, column_name FROM information_schema.columns
                      WHERE table_schema = 'docdeck') AS now USING (table_name, column_name)
                      WHERE was.* IS NULL OR now.* IS NULL";
    assert_eq!(server.sql(difference), "0");
}

#[tokio::test]
async fn another_version_of_the_schema_is_refused_with_what_to_do() {
    let Some(server) = start_database(&[]).await else { return };
    for (version, part) in [(team::supported_version() + 1, "newer docdeck"), (0, "docdeck team init")] {
        server.sql(&format!("UPDATE docdeck.schema_version SET version = {version}"));
        let error = TeamConnection::open_checked(&address(&server.url("ana")), TIMEOUT).await.expect_err("refused");
        assert!(error.to_string().contains(part), "{error}");
    }
    let connection = connect(&server.url("admin")).await.expect("connected");
    server.sql(&format!("UPDATE docdeck.schema_version SET version = {}", team::supported_version() + 1));
    let error = team::set_up_schema(&connection, &organization("docs")).await.expect_err("refused");
    assert!(matches!(error, TeamError::NewerSchema { .. }), "{error}");
}

#[tokio::test]
async fn the_first_schema_is_updated_and_keeps_its_data() {
    let Some(server) = Postgres::start(&[]) else { return };
    server.sql(include_str!("../../assets/team/0001_begin.sql"));
    server.sql(
        "INSERT INTO docdeck.schema_version VALUES (true, 1);
         CREATE ROLE docdeck_docs NOLOGIN; GRANT docdeck_member TO docdeck_docs; CREATE ROLE ana LOGIN IN ROLE docdeck_docs;
         INSERT INTO docdeck.organization VALUES ('docs', 'docdeck_docs');
         INSERT INTO docdeck.project (organization, base_url, project) VALUES ('docs', 'https://docs.example', 'p')",
    );
    let older = TeamConnection::open_checked(&address(&server.url("ana")), TIMEOUT).await.expect_err("older");
    assert!(matches!(older, TeamError::OlderSchema { .. }), "{older}");
    let connection = connect(&server.url("admin")).await.expect("connected");
    assert_eq!(team::set_up_schema(&connection, &organization("docs")).await.expect("updated"), 1);
    let ana = Member::join(&server, "ana", "p").await;
    ana.track("j1", Status::Active).await;
    ana.exchange().await;
    assert_eq!(server.sql("SELECT count(*) FROM docdeck.project"), "1");
}

#[tokio::test]
async fn members_see_only_their_organization_and_can_delete_no_job() {
    let Some(server) = start_database(&[]).await else { return };
    server.sql("CREATE ROLE stranger LOGIN");
    let ana = Member::join(&server, "ana", "p").await;
    ana.track("j1", Status::Active).await;
    ana.load_any_report().await;
    ana.exchange().await;
    let connection = connect(&ana.url).await.expect("connected");
    let limit = TeamLimit { organization: "docs", scope: &ana.scope, quota: Quota::Create };
    assert!(connection.try_book_request(limit, "b1").await.expect("booked"));
    let blocked = RateLimitWait { remaining: TimeDelta::seconds(1), is_estimate: false };
    connection.share_rate_limit_wait(limit, blocked).await.expect("shared");
    let team = ana.store.team_membership(&ana.scope).await.expect("read").expect("shared");
    let key = ReportKey { kind: ReportKind::PageViews, range: crate::reports::range() };
    assert!(connection.begin_report_load(&ana.scope, &team, key).await.expect("begun"));
    let exchange = Exchange::start(&connection, &ana.store, &ana.scope, ana.settings()).await.expect("started");
    assert_eq!(exchange.expect("shared").take_lease_or_get_wait("ana's process").await.expect("taken"), None);
    let names = async |user: &str| {
        let connection = connect(&server.url(user)).await.expect("connected");
        team::organizations(&connection).await
    };
    assert_eq!(names("ana").await.expect("read"), ["docs"]);
    assert_eq!(names("eve").await.expect("read"), ["other"]);
    let error = TeamConnection::open_checked(&address(&server.url("stranger")), TIMEOUT).await.expect_err("refused");
    assert!(matches!(error, TeamError::NoOrganization), "{error}");
    // The other organization sees no row of this one and can't write into its project.
    for table in [
        "project",
        "member",
        "job",
        "prompt",
        "batch",
        "lease",
        "request_slot",
        "rate_limit_block",
        "report",
        "report_part",
        "report_load",
    ] {
        let count = format!("SET ROLE eve; SELECT count(*) FROM docdeck.{table}");
        assert_eq!(server.sql(&count), "0", "{table}");
        if table != "prompt" {
            assert_ne!(server.sql(&format!("SELECT count(*) FROM docdeck.{table}")), "0", "{table}");
        }
    }
    let eve = Member { url: server.url("eve"), ..Member::join(&server, "eve", "p").await };
    let error = eve.exchange_over(&eve.url).await.expect_err("refused");
    assert!(matches!(error, TeamError::NotAMember { .. }), "{error}");
    for (sql, user) in [
        ("DELETE FROM docdeck.job", "ana"),
        ("TRUNCATE docdeck.batch", "ana"),
        ("DROP TABLE docdeck.job", "ana"),
        ("ALTER TABLE docdeck.job DISABLE ROW LEVEL SECURITY", "ana"),
        ("INSERT INTO docdeck.organization VALUES ('mine', 'docdeck_docs')", "ana"),
        ("UPDATE docdeck.job SET project = 2", "ana"),
        ("INSERT INTO docdeck.project (organization, base_url, project) VALUES ('docs', 'x', 'y')", "eve"),
        ("INSERT INTO docdeck.job SELECT id, 'j', '{}', 9 FROM generate_series(1, 9) AS id", "eve"),
        ("DELETE FROM docdeck.lease", "ana"),
        ("UPDATE docdeck.report SET kind = 'x'", "ana"),
        (
            "INSERT INTO docdeck.report SELECT id, 'x', '', '', 0, '', '', 0, 0, 9, NULL FROM generate_series(1, 9) AS id",
            "eve",
        ),
        (
            "INSERT INTO docdeck.report_part SELECT id, 'x', '', '', 0, 1, '', '', NULL FROM generate_series(1, 9) AS id",
            "eve",
        ),
        ("DELETE FROM docdeck.request_slot", "ana"),
        ("DELETE FROM docdeck.rate_limit_block", "ana"),
        ("DELETE FROM docdeck.report_load", "ana"),
        ("INSERT INTO docdeck.report_load VALUES ('docs', 'x', 'p', 'searches', '', '', 'm', 1)", "eve"),
        ("INSERT INTO docdeck.rate_limit_block VALUES ('docs', 'x', 'p', 'creates', 1, false)", "eve"),
        ("UPDATE docdeck.request_slot SET number = 101 WHERE number = 100", "ana"),
        (
            "INSERT INTO docdeck.request_slot SELECT organization, base_url, owner, operation, 101 FROM docdeck.request_slot",
            "ana",
        ),
        ("INSERT INTO docdeck.request_slot VALUES ('docs', 'x', 'p', 'creates', 1)", "eve"),
        ("INSERT INTO docdeck.lease SELECT id, 'poll', 'x', 9, now() FROM generate_series(1, 9) AS id", "eve"),
        ("SELECT pg_read_file('/etc/passwd')", "ana"),
    ] {
        let refused = server.try_sql(&format!("SET ROLE {user}; {sql}"));
        assert!(!refused.0, "{user}: {sql}");
    }
}

#[tokio::test]
async fn no_message_contains_the_url_and_each_error_says_what_to_do() {
    let Some(mut server) = start_database(&[]).await else { return };
    server.sql("ALTER ROLE ana PASSWORD 'hunter22'");
    server.restart_with_access("local all admin trust\nlocal all all scram-sha-256\n");
    let folder = server.folder().display();
    for (url, part) in [
        (format!("postgres://ana:hunter23@/postgres?host={folder}"), "refused the login"),
        (format!("postgres://ana:hunter22@/nothing?host={folder}"), "refused the login"),
        (format!("postgres://nobody:hunter22@/postgres?host={folder}"), "refused the login"),
        (format!("postgres://ana:hunter22@/postgres?host={folder}&port=1"), "can't be reached"),
        ("postgres://ana:hunter22@127.0.0.1:1/postgres".to_owned(), "can't be reached"),
        ("postgres://ana:hunter22@no-such-host.invalid/postgres".to_owned(), "can't be reached"),
    ] {
        let error = connect(&url).await.expect_err(&url);
        let text = format!("{error} {error:?}");
        assert!(error.to_string().contains(part), "{error}");
        assert!(!text.contains("hunter2"), "{text}");
    }
    connect(&format!("postgres://ana:hunter22@/postgres?host={folder}")).await.expect("the right password");
}

#[tokio::test]
async fn the_certificate_of_the_server_is_checked() {
    let port = free_port();
    let certificates = tempfile::tempdir().expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/client");
    for name in ["leaf.pem", "leaf.key"] {
        std::fs::copy(source.join(name), certificates.path().join(name)).expect("copied");
    }
    let restrict = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(certificates.path().join("leaf.key"), restrict).expect("private");
    chown_to_server_user(certificates.path());
    let folder = certificates.path().display();
    let settings = [
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        "ssl=on".to_owned(),
        format!("ssl_cert_file={folder}/leaf.pem"),
        format!("ssl_key_file={folder}/leaf.key"),
    ];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let Some(mut server) = Postgres::start(&settings) else { return };
    server.restart_with_access("local all all trust\nhostssl all all 127.0.0.1/32 trust\n");
    let roots = ExtraRoots::read(&source.join("ca.pem")).expect("an authority");
    let open = async |url: &str, roots: Option<ExtraRoots>| {
        let address = TeamAddress::new(&ApiKey::new(url).expect("a URL"), roots).expect("valid");
        TeamConnection::open(&address, TIMEOUT).await
    };
    let url = format!("postgres://admin@localhost:{port}/postgres?sslmode=verify-full");
    open(&url, Some(roots.clone())).await.expect("trusted");
    let error = open(&url, None).await.expect_err("an unknown authority").to_string();
    assert!(error.contains("issuer"), "{error}");
    // Without TLS, this server refuses the login.
    let error = open(&format!("postgres://admin@localhost:{port}/postgres"), None).await.expect_err("no TLS");
    assert!(matches!(error, TeamError::LoginRefused { .. }), "{error}");
    // A server without TLS is not talked to if TLS is needed.
    let port = free_port().to_string();
    let plain = Postgres::start(&["listen_addresses=127.0.0.1", &format!("port={port}")]);
    assert!(plain.is_some());
    let url = format!("postgres://admin@localhost:{port}/postgres?sslmode=verify-full");
    let error = open(&url, Some(roots)).await.expect_err("no TLS").to_string();
    assert!(error.to_lowercase().contains("tls"), "{error}");
}

/// Returns a port that no server uses at the moment.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port()
}
