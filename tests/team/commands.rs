//! The commands of `docdeck team`, with two computers and the simulated service.

use crate::support::command::{CommandFixture, CommandResult};
use crate::support::postgres::Postgres;
use docdeck::model::log::Operation;
use serde_json::Value;

/// The two computers of a team. They use the same service and project.
struct Computers {
    fixture: CommandFixture,
    server: Postgres,
}

impl Computers {
    /// Returns `None` if PostgreSQL is not installed.
    fn new() -> Option<Self> {
        Some(Self { server: Postgres::start(&[])?, fixture: CommandFixture::new(&[]) })
    }

    /// Runs docdeck on the computer of this user.
    fn run(&self, user: &str, words: &[&str]) -> CommandResult {
        let data = self.fixture.home.path().join(user).display().to_string();
        let url = self.server.url(user);
        let variables = [("DOCDECK_DATA_DIR", data.as_str()), ("DOCDECK_TEAM_URL", &url), ("USER", user)];
        self.fixture.run_with(words, &variables, "")
    }

    fn init(&self) {
        self.run("admin", &["team", "init", "--organization", "docs"]).expect_exit_code(0);
        self.server.sql("CREATE ROLE ana LOGIN IN ROLE docdeck_docs; CREATE ROLE bob LOGIN IN ROLE docdeck_docs");
    }
}

#[test]
fn a_job_is_shared_and_its_prompt_is_sent_once() {
    let Some(computers) = Computers::new() else { return };
    computers.init();
    let created = computers.run("ana", &["new", "Fix the links", "--json"]).expect_exit_code(0).json();
    let id = created.get("id").and_then(Value::as_str).expect("an id").to_owned();
    let joined = computers.run("ana", &["team", "join"]).expect_exit_code(0);
    assert!(joined.out.contains("All members can read all prompts"), "{joined:?}");
    computers.run("bob", &["team", "join"]).expect_exit_code(0);
    let shown = computers.run("bob", &["show", &id, "--json"]).expect_exit_code(0).json();
    let prompt = &shown.get("thread").and_then(Value::as_array).expect("a thread")[0];
    let author = prompt.get("author").and_then(Value::as_str).expect("an author");
    assert!(author.starts_with("ana@"), "{author}");
    assert_eq!(shown.get("title").and_then(Value::as_str), Some("Fix the links"));
    let text = computers.run("bob", &["show", &id]).expect_exit_code(0).out;
    assert!(text.contains(author) && !text.contains("you"), "{text}");
    // bob's docdeck polls and sends what is to be sent; the prompt is not.
    computers.run("bob", &["wait", &id, "--timeout", "30"]).expect_exit_code(0);
    computers.run("bob", &["follow", &id, "And the images"]).expect_exit_code(0);
    computers.run("bob", &["team", "sync"]).expect_exit_code(0);
    let synced = computers.run("ana", &["team", "sync", "--json"]).expect_exit_code(0).json();
    assert_eq!(synced.get("restarted"), Some(&Value::Bool(false)));
    let count = |synced: &Value, name: &str| synced.get(name).and_then(Value::as_u64).expect("a number");
    assert!(count(&synced, "received") > 0, "bob's follow-up: {synced}");
    let again = computers.run("ana", &["team", "sync", "--json"]).expect_exit_code(0).json();
    assert_eq!(count(&again, "received"), 0, "what ana sends is not new to ana: {again}");
    let thread = computers.run("ana", &["show", &id]).expect_exit_code(0).out;
    assert!(thread.contains("And the images") && thread.contains("bob@"), "{thread}");
    for operation in [Operation::Create, Operation::FollowUp] {
        assert_eq!(computers.fixture.sim.requests(operation), 1, "{operation:?}");
    }
    let status = computers.run("ana", &["team", "status", "--json"]).expect_exit_code(0).json();
    assert_eq!(status.get("joined"), Some(&Value::Bool(true)));
    assert_eq!(status.get("unsent").and_then(Value::as_u64), Some(0));
    assert_eq!(status.get("members").and_then(Value::as_array).map(Vec::len), Some(2));
    let status = computers.run("ana", &["team", "status"]).expect_exit_code(0).out;
    assert!(status.contains("shared with the organization docs") && status.contains("\tthis computer"), "{status}");
    computers.run("ana", &["team", "leave"]).expect_exit_code(0);
    let gone = computers.run("ana", &["team", "sync"]).expect_exit_code(2);
    assert!(gone.err.contains("docdeck team join"), "{gone:?}");
    assert!(computers.run("ana", &["jobs"]).expect_exit_code(0).out.contains("Fix the links"));
}

#[test]
fn without_a_database_commands_say_so_and_local_ones_work() {
    let Some(mut computers) = Computers::new() else { return };
    computers.init();
    computers.run("ana", &["team", "join"]).expect_exit_code(0);
    computers.server.kill();
    computers.run("ana", &["new", "Offline work"]).expect_exit_code(0);
    let offline = computers.run("ana", &["team", "sync"]).expect_exit_code(4);
    assert!(offline.err.contains("can't be reached"), "{offline:?}");
    let status = computers.run("ana", &["team", "status"]).expect_exit_code(0).out;
    assert!(status.contains("1 changed job not sent yet") && status.contains("can't be reached"), "{status}");
    computers.server.restart();
    let sent = computers.run("ana", &["team", "sync"]).expect_exit_code(0).out;
    assert!(sent.starts_with("Sent 1 changed job"), "{sent}");
}

#[test]
fn commands_exchange_before_they_print_and_after_they_change_something() {
    let Some(mut computers) = Computers::new() else { return };
    computers.init();
    for user in ["ana", "bob"] {
        computers.run(user, &["team", "join"]).expect_exit_code(0);
    }
    computers.run("ana", &["new", "Fix the links"]).expect_exit_code(0);
    // No command of bob but this one.
    let listed = computers.run("bob", &["jobs", "--json"]).expect_exit_code(0);
    let job = &listed.json()["jobs"][0];
    assert_eq!(job["title"], "Fix the links");
    assert!(job["author"].as_str().is_some_and(|author| author.starts_with("ana@")), "{job}");
    let id = job["id"].as_str().expect("an id").to_owned();
    assert_eq!(computers.run("ana", &["jobs", "--json"]).json()["jobs"][0]["author"], Value::Null);
    let titles = |user: &str, words: &[&str]| computers.run(user, words).expect_exit_code(0).out.lines().count();
    assert_eq!((titles("bob", &["jobs", "--by", "ana"]), titles("bob", &["jobs", "--mine"])), (1, 0));
    assert_eq!((titles("ana", &["jobs", "--by", "ana"]), titles("ana", &["jobs", "--mine"])), (0, 1));
    computers.run("bob", &["follow", &id, "And the images"]).expect_exit_code(0);
    let shown = computers.run("ana", &["show", &id]).expect_exit_code(0).out;
    assert!(shown.contains("And the images") && shown.contains("bob@"), "{shown}");
    let members = computers.run("ana", &["team"]).expect_exit_code(0).out;
    assert!(members.contains("bob@") && members.contains("\tthis computer"), "{members}");
    // Without a database, commands print what is known, and only mention an old exchange.
    computers.server.kill();
    let offline = computers.run("bob", &["jobs"]).expect_exit_code(0);
    assert!(offline.out.contains("Fix the links") && offline.err.is_empty(), "{offline:?}");
    let database = computers.fixture.home.path().join("bob/docdeck.db");
    let database = rusqlite::Connection::open(database).expect("opened");
    database.execute("UPDATE team SET exchanged_at = exchanged_at - 7200000", []).expect("aged");
    let offline = computers.run("bob", &["jobs"]).expect_exit_code(0);
    assert!(
        offline.out.contains("Fix the links") && offline.err.contains("Last exchange with the team"),
        "{offline:?}"
    );
}

#[test]
fn status_exchanges_at_most_once_a_minute() {
    let Some(computers) = Computers::new() else { return };
    computers.init();
    for user in ["ana", "bob"] {
        computers.run(user, &["team", "join"]).expect_exit_code(0);
    }
    let tracked = || {
        let database = computers.fixture.home.path().join("bob/docdeck.db");
        let database = rusqlite::Connection::open(database).expect("opened");
        database.query_row("SELECT count(*) FROM job", [], |row| row.get::<_, u32>(0)).expect("a count")
    };
    computers.run("ana", &["new", "The first one [sim:seconds=6000]"]).expect_exit_code(0);
    computers.run("bob", &["status"]).expect_exit_code(0);
    assert_eq!(tracked(), 0, "bob has just joined, which was an exchange");
    let database = computers.fixture.home.path().join("bob/docdeck.db");
    let database = rusqlite::Connection::open(database).expect("opened");
    database.execute("UPDATE team SET exchanged_at = exchanged_at - 61000", []).expect("aged");
    let status = computers.run("bob", &["status"]).expect_exit_code(0).out;
    assert!(status.contains("1 working"), "{status}");
    computers.run("ana", &["new", "The second one"]).expect_exit_code(0);
    computers.run("bob", &["status"]).expect_exit_code(0);
    assert_eq!(tracked(), 1);
}

#[test]
fn the_command_for_the_url_runs_once_per_command() {
    let Some(computers) = Computers::new() else { return };
    computers.init();
    let home = computers.fixture.home.path();
    let (config, calls) = (home.join("config.toml"), home.join("calls"));
    let configure = |prints: &str| {
        let script = format!("echo >> {}; {prints}", calls.display());
        std::fs::write(&config, format!("[team]\nurl_command = ['sh', '-c', '{script}']\n")).expect("written");
    };
    let run = |words: &[&str]| {
        let variables = [("DOCDECK_CONFIG", config.display().to_string()), ("DOCDECK_TEAM_URL", String::new())];
        let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
        std::fs::write(&calls, "").expect("written");
        let result = computers.fixture.run_with(words, &variables, "").expect_exit_code(0);
        (std::fs::read_to_string(&calls).expect("read").len(), result)
    };
    configure(&format!("echo \"{}\"", computers.server.url("ana")));
    assert_eq!(run(&["team", "join"]).0, 1);
    let (count, created) = run(&["new", "Fix the links"]);
    assert_eq!(count, 1);
    assert_eq!(computers.server.sql("SELECT count(*) FROM docdeck.job"), "1", "it was sent afterwards");
    assert_eq!(run(&["wait", created.out.trim()]).0, 1);
    assert_eq!(run(&["status"]).0, 0);
    // A command that fails is not tried again either.
    configure("exit 1");
    let (count, failed) = run(&["new", "Fix the images"]);
    assert_eq!(count, 1);
    assert!(failed.err.contains("url_command"), "{failed:?}");
}

#[test]
fn analytics_that_one_member_has_loaded_cost_the_other_no_request() {
    let Some(mut computers) = Computers::new() else { return };
    computers.init();
    for user in ["ana", "bob"] {
        computers.run(user, &["team", "join"]).expect_exit_code(0);
    }
    let load = |user: &str| {
        let loaded = computers.run(user, &["views", "--all", "--json"]).expect_exit_code(0);
        serde_json::from_str::<Value>(&loaded.out).expect("JSON")
    };
    let of_ana = load("ana");
    let requests = computers.fixture.sim.requests(Operation::Views);
    assert!(requests > 0);
    // No command of bob but this one.
    let of_bob = load("bob");
    assert_eq!(of_bob, of_ana);
    assert!(of_ana["views"].as_array().is_some_and(|rows| !rows.is_empty()), "{of_ana}");
    assert_eq!(computers.fixture.sim.requests(Operation::Views), requests, "bob needs no request");
    let unsent = |computers: &Computers| {
        let status = computers.run("ana", &["team", "status", "--json"]).expect_exit_code(0).json();
        status["unsentReports"].as_u64()
    };
    assert_eq!(unsent(&computers), Some(0));
    // Without the database, the report waits.
    computers.server.kill();
    computers.run("ana", &["searches"]).expect_exit_code(0);
    assert_eq!(unsent(&computers), Some(1));
    let text = computers.run("ana", &["team", "status"]).expect_exit_code(0).out;
    assert!(text.contains("1 analytics report not sent yet"), "{text}");
    computers.server.restart();
    let synced = computers.run("ana", &["team", "sync", "--json"]).expect_exit_code(0).json();
    assert_eq!(synced["sentReports"], 1, "{synced}");
}

#[test]
fn an_administrator_removes_old_jobs_after_a_confirmation() {
    let Some(computers) = Computers::new() else { return };
    computers.init();
    computers.run("ana", &["team", "join"]).expect_exit_code(0);
    computers.run("ana", &["new", "Fix the links"]).expect_exit_code(0);
    computers.run("ana", &["views", "--all"]).expect_exit_code(0);
    assert_ne!(computers.server.sql("SELECT count(*) FROM docdeck.report_part"), "0");
    let tomorrow = (chrono::Utc::now() + chrono::TimeDelta::days(1)).format("%Y-%m-%d").to_string();
    let forget = |user: &str, more: &[&str]| {
        computers.run(user, &[&["team", "forget", "--organization", "docs", "--before", &tomorrow], more].concat())
    };
    assert!(forget("admin", &[]).expect_exit_code(2).err.contains("--yes"));
    assert!(forget("ana", &["--yes"]).expect_exit_code(2).err.contains("administrator"));
    let planned = forget("admin", &["--dry-run"]).expect_exit_code(0).out;
    assert!(planned.starts_with("Would remove 1 job with 1 prompt"), "{planned}");
    let removed = forget("admin", &["--yes", "--json"]).expect_exit_code(0).json();
    assert_eq!(removed, serde_json::json!({ "dryRun": false, "jobs": 1, "prompts": 1, "reports": 1 }));
    assert_eq!(computers.server.sql("SELECT count(*) FROM docdeck.report_part"), "0");
    assert!(forget("admin", &["--yes"]).expect_exit_code(0).out.starts_with("Nothing to remove"));
    assert!(computers.run("ana", &["jobs"]).expect_exit_code(0).out.contains("Fix the links"));
}

#[test]
fn the_url_is_never_printed() {
    let Some(computers) = Computers::new() else { return };
    computers.init();
    let file = computers.fixture.home.path().join("url");
    let url = format!("postgres://ana:hunter22@/nothing?host={}", computers.server.folder().display());
    std::fs::write(&file, &url).expect("written");
    let config = computers.fixture.home.path().join("config.toml");
    let text = format!("[team]\nname = \"Ana\"\nurl_file = \"{}\"\n", file.display());
    std::fs::write(&config, text).expect("written");
    let run = |words: &[&str], url: &str| {
        let config = config.display().to_string();
        computers.fixture.run_with(words, &[("DOCDECK_CONFIG", config.as_str()), ("DOCDECK_TEAM_URL", url)], "")
    };
    // The file can be read by others.
    let result = run(&["team", "join"], "").expect_exit_code(2);
    assert!(result.err.contains("chmod 600"), "{result:?}");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("private");
    for words in [["team", "join"], ["team", "status"], ["team", "init"], ["doctor", "--offline"], ["export", "-"]] {
        for url in
            ["", &url, "postgres://ana:hunter22@db.example/x?sslmode=disable", "hunter22", "postgres://hunter22:a b"]
        {
            let CommandResult { out, err, .. } = run(&words, url);
            assert!(!format!("{out}{err}").contains("hunter22"), "{words:?} {out} {err}");
        }
    }
}

#[test]
fn the_statements_for_an_administrator_need_no_configuration() {
    let fixture = CommandFixture::new(&[]);
    let sql = fixture.run(&["team", "init", "--print-sql", "--organization", "acme"]).expect_exit_code(0).out;
    assert!(sql.contains("CREATE SCHEMA docdeck") && sql.contains("docdeck_acme"), "{sql}");
    fixture.run(&["team", "init", "--organization", "Not A Name"]).expect_exit_code(2);
    let missing = fixture.run(&["team", "sync"]).expect_exit_code(2);
    assert!(missing.err.contains("DOCDECK_TEAM_URL"), "{missing:?}");
    let status = fixture.run(&["team", "status"]).expect_exit_code(0);
    assert!(status.out.contains("not shared"), "{status:?}");
}
