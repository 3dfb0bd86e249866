//! `docdeck views`: how many requests it sends, its output formats, and its exit codes if loading fails.

use crate::support::command::{CommandFixture, CommandResult};
use docdeck::model::ledger::Quota;
use docdeck::model::log::Operation;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Starts a site of which 501 to 750 pages have views in a week, so that loading them all takes three requests.
fn fixture(faults: &[&str]) -> CommandFixture {
    CommandFixture::with_pages(640, faults)
}

/// Whether `rows` is a number of rows that needs three requests, of 250 rows each.
fn needs_three_requests(rows: usize) -> bool {
    (501..=750).contains(&rows)
}

fn views_requests(fixture: &CommandFixture) -> u64 {
    fixture.sim.requests(Operation::Views)
}

/// Returns the paths in the JSON output, in their order there.
fn paths(answer: &Value) -> Vec<String> {
    let views = answer.get("views").and_then(Value::as_array).expect("views");
    let path = |page: &Value| page.get("path").and_then(Value::as_str).expect("a path").to_owned();
    views.iter().map(path).collect()
}

fn total(page: &Value) -> i64 {
    page.get("total").and_then(Value::as_i64).expect("a number")
}

#[test]
fn rows_are_tab_separated_in_a_pipe_and_cached() {
    let fixture = fixture(&[]);
    let ran = fixture.run(&["views"]).expect_exit_code(0);
    assert_eq!((ran.out.lines().count(), views_requests(&fixture)), (50, 1));
    for line in ran.out.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let [path, human, ai, total, share] = cells.as_slice() else { panic!("{line}") };
        let number = |text: &str| text.parse::<u64>().expect("a number");
        assert!(path.starts_with('/') && number(human) + number(ai) == number(total), "{line}");
        assert!((0.0..=1.0).contains(&share.parse::<f64>().expect("a share")), "{line}");
    }
    assert_eq!(ran.err, "docdeck: There are more rows: --page 2 prints the next set, --all prints all rows.\n");
    assert_eq!(fixture.run(&["views", "--last", "7d"]).expect_exit_code(0).out, ran.out);
    assert_eq!(views_requests(&fixture), 1);
    let json = fixture.run(&["views", "--json"]).expect_exit_code(0).out;
    assert_eq!(json, fixture.run(&["views", "--format", "json"]).expect_exit_code(0).out);
    assert_eq!(views_requests(&fixture), 1);
    fixture.run(&["views", "--fresh"]).expect_exit_code(0);
    assert_eq!(views_requests(&fixture), 2);
}

#[test]
fn cached_views_need_no_api_key_and_are_printed_with_the_time_of_loading() {
    let fixture = fixture(&[]);
    let without_key = |words: &[&str]| fixture.run_with(words, &[("DOCDECK_API_KEY", "")], "");
    let ran = without_key(&["views"]).expect_exit_code(2);
    assert!(ran.err.contains("The API key is not set yet."), "{}", ran.err);
    let page = fixture.run(&["views"]).expect_exit_code(0);
    let all = fixture.run(&["views", "--all", "--format", "csv"]).expect_exit_code(0);
    let asked_for = views_requests(&fixture);
    let kept = without_key(&["views"]).expect_exit_code(0);
    assert_eq!(kept.out, page.out);
    assert!(kept.err.contains("docdeck: Loaded at 20") && kept.err.contains("--fresh loads again."), "{}", kept.err);
    let kept = without_key(&["views", "--all", "--format", "csv"]).expect_exit_code(0);
    assert_eq!(kept.out, all.out);
    assert!(kept.err.contains(" rows as of 20") && kept.err.contains("no requests."), "{}", kept.err);
    assert_eq!(views_requests(&fixture), asked_for);
    // These commands have to send a request, so they need an API key.
    for words in [&["views", "--fresh"][..], &["views", "--all", "--fresh"], &["views", "--all", "--last", "30d"]] {
        assert!(without_key(words).expect_exit_code(2).err.contains("The API key is not set yet."), "{words:?}");
    }
}

#[test]
fn a_complete_report_has_every_page_of_rows() {
    let fixture = fixture(&[]);
    let ago = |days: i64| (fixture.sim.now() - chrono::TimeDelta::days(days)).date_naive().to_string();
    let (from, to) = (ago(10), ago(4));
    let days =
        |more: &[&'static str]| [&["views", "--from", from.as_str(), "--to", to.as_str(), "--json"][..], more].concat();
    let read = |ran: &CommandResult| -> Value { serde_json::from_str(&ran.out).expect("JSON") };
    let without_key = |more| fixture.run_with(&days(more), &[("DOCDECK_API_KEY", "")], "").expect_exit_code(0);
    let all = read(&fixture.run(&days(&["--all"])).expect_exit_code(0));
    let (rows, sent) = (paths(&all).len(), views_requests(&fixture));
    let pages: Vec<CommandResult> =
        [&["--limit", "30"][..], &["--page", "2"], &["--limit", "240", "--page", "3"]].map(without_key).into();
    assert_eq!(views_requests(&fixture), sent, "a complete report is stored");
    for (page, count) in pages.iter().zip([30, 50, rows - 480]) {
        let answer = read(page);
        assert_eq!((paths(&answer).len(), &answer["complete"]), (count, &json!(false)));
        assert_eq!((&answer["totals"], &answer["asOf"]), (&all["totals"], &all["asOf"]));
        assert!(page.err.contains("docdeck: Loaded at 20") && page.err.contains("--fresh loads again."), "{page:?}");
    }
    let beyond = without_key(&["--page", "99"]);
    assert!(beyond.err.contains("docdeck: Set 99 has no rows."), "{beyond:?}");
    // The service returns the same rows in the same order.
    for (more, cached) in [&["--limit", "30", "--fresh"][..], &["--page", "2", "--fresh"]].into_iter().zip(&pages) {
        let fresh = read(&fixture.run(&days(more)).expect_exit_code(0));
        assert_eq!(paths(&fresh), paths(&read(cached)));
    }
    assert_eq!(views_requests(&fixture), sent + 2);
}

#[test]
fn the_recorded_pages_of_yesterday_answer_any_page_size() {
    let fixture = CommandFixture::new(&[]);
    // The recorder requests the largest page size.
    fixture.run(&["views", "--last", "yesterday", "--limit", "250"]).expect_exit_code(0);
    for more in [&[][..], &["--limit", "3", "--page", "2"], &["--all"]] {
        let words = [&["views", "--last", "yesterday", "--json"][..], more].concat();
        let cached = fixture.run_with(&words, &[("DOCDECK_API_KEY", "")], "").expect_exit_code(0);
        let answer: Value = serde_json::from_str(&cached.out).expect("JSON");
        let is_complete = !more.contains(&"--limit");
        assert_eq!((answer["complete"] == json!(true), paths(&answer).is_empty()), (is_complete, false), "{words:?}");
    }
    assert_eq!(views_requests(&fixture), 1);
}

#[test]
fn the_first_rows_answer_a_smaller_page() {
    let fixture = fixture(&[]);
    fixture.run(&["views", "--limit", "100"]).expect_exit_code(0);
    let second = fixture.run(&["views", "--page", "2", "--json"]).expect_exit_code(0);
    let second: Value = serde_json::from_str(&second.out).expect("JSON");
    assert_eq!((paths(&second).len(), &second["complete"], views_requests(&fixture)), (50, &json!(false), 1));
    fixture.run(&["views", "--page", "3"]).expect_exit_code(0);
    assert_eq!(views_requests(&fixture), 2, "these rows are not cached");
}

#[test]
fn each_format_has_a_range_that_includes_both_days_and_marks_partial_data() {
    let fixture = fixture(&[]);
    let ago = |days: i64| (fixture.sim.now() - chrono::TimeDelta::days(days)).date_naive().to_string();
    let (from, to) = (ago(10), ago(8));
    let days = |more: &[&'static str]| {
        [&["views", "--from", from.as_str(), "--to", to.as_str(), "--limit", "20"][..], more].concat()
    };
    let read = fixture.run(&days(&["--format", "json"])).expect_exit_code(0);
    let read: Value = serde_json::from_str(&read.out).expect("JSON");
    assert_eq!((&read["range"], paths(&read).len()), (&json!({ "from": from, "to": to }), 20));
    assert_eq!((&read["complete"], read["asOf"].is_string()), (&json!(false), true));
    assert!(read["totals"]["total"].is_number());
    let csv = fixture.run(&days(&["--format", "csv"])).expect_exit_code(0).out;
    assert_eq!(
        (csv.lines().next().map(|line| line.starts_with("path,human,ai,total")), csv.lines().count()),
        (Some(true), 21)
    );
    let md = fixture.run(&days(&["--format", "md"])).expect_exit_code(0).out;
    assert!(
        md.contains(&format!("**Page views {from} … {to} (UTC)**")) && md.contains("Partial: not all pages"),
        "{md}"
    );
    assert_eq!(views_requests(&fixture), 1, "a range that has ended is asked for once");
    let second = fixture.run(&days(&["--format", "json", "--page", "2"])).expect_exit_code(0);
    let second: Value = serde_json::from_str(&second.out).expect("JSON");
    assert!(paths(&second).iter().all(|path| !paths(&read).contains(path)));
    let beyond = fixture.run(&days(&["--page", "99"])).expect_exit_code(0);
    assert_eq!(
        (beyond.out.as_str(), beyond.err.as_str()),
        ("", "docdeck: Set 99 has no rows. Choose a lower --page.\n")
    );
}

#[test]
fn with_all_the_cost_is_printed_first_and_the_sorted_pages_are_cached() {
    let fixture = fixture(&[]);
    let ran = fixture.run(&["views", "--all", "--format", "json"]).expect_exit_code(0);
    let read: Value = serde_json::from_str(&ran.out).expect("JSON");
    let rows = paths(&read).len();
    assert_eq!((needs_three_requests(rows), &read["complete"], views_requests(&fixture)), (true, &json!(true), 3));
    let totals: Vec<i64> = read["views"].as_array().expect("views").iter().map(total).collect();
    assert!(totals.is_sorted_by(|a, b| a >= b));
    let lines: Vec<&str> = ran.err.lines().collect();
    assert!(
        lines[0].starts_with("Loading all pages of ")
            && lines[0].ends_with(": at least 1 analytics request, 100 requests left this hour."),
        "{ran:?}"
    );
    assert!(
        lines[1].ends_with("250 rows, 1 request")
            && lines[3].ends_with(&format!("% of the views, {rows} rows, 3 requests")),
        "{ran:?}"
    );
    assert!(lines[4].starts_with(&format!("{rows} rows as of ")) && lines[4].ends_with(", 3 requests."), "{ran:?}");
    let again = fixture.run(&["views", "--all", "--format", "csv"]).expect_exit_code(0);
    assert_eq!((again.out.lines().count(), views_requests(&fixture)), (rows + 1, 3));
    assert!(
        again.err.starts_with(&format!("{rows} rows as of ")) && again.err.ends_with("no requests.\n"),
        "{again:?}"
    );
    let afresh = fixture.run(&["views", "--all", "--fresh"]).expect_exit_code(0);
    assert_eq!((afresh.out.lines().count(), views_requests(&fixture)), (rows, 6));
    assert!(
        afresh.err.contains("at least 1 analytics request, last time 3, 97 requests left this hour."),
        "{afresh:?}"
    );
}

#[test]
fn until_loads_a_share_of_the_views_and_a_later_run_loads_the_rest() {
    let fixture = fixture(&[]);
    let part = fixture.run(&["views", "--all", "--until", "50%", "--format", "json"]).expect_exit_code(0);
    let read: Value = serde_json::from_str(&part.out).expect("JSON");
    let rows = read["views"].as_array().expect("rows").len();
    assert_eq!(
        (rows, &read["complete"], views_requests(&fixture)),
        (250, &json!(false), 1),
        "the first answer holds more than half"
    );
    assert!(part.err.contains("of the views because of --until."), "{}", part.err);
    let again = fixture.run(&["views", "--all", "--until", "50", "--format", "csv"]).expect_exit_code(0);
    assert_eq!((again.out.lines().count(), views_requests(&fixture)), (251, 1), "there is enough already");
    let rest = fixture.run(&["views", "--all", "--format", "csv"]).expect_exit_code(0);
    assert!(needs_three_requests(rest.out.lines().count() - 1) && views_requests(&fixture) == 3, "{rest:?}");
    for wrong in ["0", "101", "all"] {
        let refused = fixture.run(&["views", "--all", "--until", wrong]).expect_exit_code(2);
        assert!(refused.err.contains("a whole number from 1 to 100"), "{}", refused.err);
    }
    fixture.run(&["views", "--until", "95%"]).expect_exit_code(2);
}

#[test]
fn at_the_hourly_limit_partial_rows_are_marked_and_the_next_run_continues() {
    let fixture = fixture(&[]);
    let paid = fixture.with_store(async |store, scope| {
        let mut paid = chrono::Utc::now();
        for _ in 0..98 {
            paid = chrono::Utc::now();
            store.spend(scope, Quota::Views, paid).await.expect("written").expect("a place");
        }
        paid
    });
    let ran = fixture.run(&["views", "--all", "--format", "json"]).expect_exit_code(5);
    let read = ran.multiline_json();
    assert_eq!((paths(&read).len(), &read["complete"], &read["exitCode"]), (500, &json!(false), &json!(5)));
    let reached = "analytics requests is reached, as counted by this computer";
    assert!(read["error"].as_str().is_some_and(|error| error.contains(reached)), "{read}");
    assert!(ran.err.contains("at least 1 analytics request, 2 requests left this hour."), "{ran:?}");
    let table = fixture.run(&["views", "--all"]).expect_exit_code(5);
    assert_eq!((table.out.lines().count(), views_requests(&fixture)), (500, 2));
    assert!(table.err.contains("docdeck: Partial: 500 rows of "), "{table:?}");
    fixture.with_store(async |store, scope| store.refund(scope, Quota::Views, paid).await.expect("given back"));
    let rest = fixture.run(&["views", "--all"]).expect_exit_code(0);
    assert_eq!((needs_three_requests(rest.out.lines().count()), views_requests(&fixture)), (true, 3));
    assert!(
        rest.err
            .contains(", continuing after 500 rows: about 1 analytics request, estimated from the first 500 rows ("),
        "{rest:?}"
    );
}

#[test]
fn ctrl_c_keeps_the_loaded_rows() {
    let fixture = fixture(&["views=latency-400"]);
    let running = fixture.start(&["views", "--all"]);
    running.wait_for_stderr_line("250 rows, 1 request");
    running.send_signal(Signal::INT);
    let ran = running.wait_for_exit().expect_exit_code(130);
    assert_eq!(ran.out, "");
    assert!(
        ran.err.contains("250 rows of ") && ran.err.contains("are cached (1 request). Run the same command again"),
        "{ran:?}"
    );
    fixture.set_faults(&[]);
    let rest = fixture.run(&["views", "--all"]).expect_exit_code(0);
    assert!(needs_three_requests(rest.out.lines().count()), "{rest:?}");
    assert!(rest.err.contains(", continuing after 250 rows: "), "{rest:?}");
}

#[test]
fn a_failure_exits_with_its_code_and_writes_no_rows() {
    for (fault, code) in [
        ("views=401", 3),
        ("views=403", 3),
        ("views=503", 4),
        ("views=html", 4),
        ("views=refuse", 4),
        ("views=429-60", 5),
    ] {
        let fixture = fixture(&[fault]);
        for words in [&["views"][..], &["views", "--all"]] {
            let ran = fixture.run(words).expect_exit_code(code);
            assert_eq!(ran.out, "", "{fault}");
        }
        let ran = fixture.run(&["views", "--format", "json"]).expect_exit_code(code);
        assert_eq!(ran.json()["exitCode"], code);
    }
    let fixture = fixture(&[]);
    let ran = fixture.run_with(&["views"], &[("DOCDECK_API_KEY", "")], "").expect_exit_code(2);
    assert!(ran.err.contains("export DOCDECK_API_KEY"), "{ran:?}");
}

#[test]
fn invalid_options_are_errors_without_a_request() {
    let fixture = fixture(&[]);
    for (words, sentence) in [
        (&["--last", "0d"][..], "docdeck: --last: a range has 1 to 3660 days. Nothing was loaded.\n"),
        (
            &["--last", "soon"],
            "--last: soon is not a date: write 2026-11-20, 2026-10, 2026-q3, 2026-w47, 7d or last week",
        ),
        (&["--from", "2026-11-05", "--to", "2026-11-01"], "--from, --to: 2026-11-05 comes after 2026-11-01"),
        (&["--from", "2026-02-30"], "February 2026 has 28 days, so there is no 30"),
        (&["--from", "2999-01-01", "--to", "2999-01-02"], "2999-01-01 is in the future"),
        (&["--to", "2026-11-01"], "--from <D>"),
        (&["--last", "7d", "--from", "2026-11-01"], "cannot be used with"),
        (&["--limit", "251"], "it must be a whole number from 1 to 250"),
        (&["--limit", "0"], "it must be a whole number from 1 to 250"),
        (&["--page", "0"], "it must be a whole number, 1 or more"),
        (&["--all", "--page", "2"], "cannot be used with"),
        (&["--format", "xml"], "[possible values: table, csv, json, md]"),
    ] {
        let ran = fixture.run(&[&["views"], words].concat()).expect_exit_code(2);
        assert!(ran.err.contains(sentence) && ran.out.is_empty(), "{words:?}: {ran:?}");
    }
    assert_eq!(views_requests(&fixture), 0);
}

#[test]
fn future_days_are_left_out_with_a_note() {
    let fixture = fixture(&[]);
    let today = fixture.sim.now().date_naive();
    let (from, to) =
        (today.pred_opt().expect("a day"), today.succ_opt().and_then(|day| day.succ_opt()).expect("a day"));
    let words = ["views", "--format", "json", "--from", &from.to_string(), "--to", &to.to_string()];
    let ran = fixture.run(&words).expect_exit_code(0);
    assert!(ran.err.starts_with(&format!("docdeck: {to} is in the future, so the range ends today, ")), "{ran:?}");
    let read: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(read["range"]["to"], today.to_string());
}

#[test]
fn a_closed_pipe_ends_views_quietly() {
    let fixture = fixture(&[]);
    let script = format!("{} views --all | head -n 1; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_docdeck"));
    let mut shell = assert_cmd::Command::new("bash");
    let output =
        shell.env_clear().envs(fixture.environment_variables()).args(["-c", &script]).output().expect("it ran");
    let out = String::from_utf8(output.stdout).expect("text");
    assert_eq!((out.lines().count(), out.lines().last()), (2, Some("0")), "{out}");
    assert!(!String::from_utf8(output.stderr).expect("text").contains("panic"));
}
