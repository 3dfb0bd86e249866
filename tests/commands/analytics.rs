//! `docdeck searches`, `feedback`, `questions`, `visitors`, `needs-work` and `views --check`: the requests that they
//! send, their output formats and their exit codes.

use crate::support::command::CommandFixture;
use docdeck::model::analytics::AnalyticsKind;
use docdeck::model::log::Operation;
use serde_json::Value;

fn requests(fixture: &CommandFixture, kind: AnalyticsKind) -> u64 {
    fixture.sim.requests(Operation::Analytics(kind))
}

fn all_requests(fixture: &CommandFixture) -> u64 {
    AnalyticsKind::ALL.into_iter().map(|kind| requests(fixture, kind)).sum()
}

/// Returns the rows in a field of a JSON answer.
fn rows<'a>(answer: &'a Value, field: &str) -> &'a [Value] {
    answer.get(field).and_then(Value::as_array).map(Vec::as_slice).expect("rows")
}

#[test]
fn rows_are_cached_and_then_need_neither_a_request_nor_a_key() {
    let fixture = CommandFixture::new(&[]);
    let loaded = fixture.run(&["searches"]).expect_exit_code(0);
    assert!(loaded.err.contains("Loading searches of ") && loaded.err.contains(" rows as of 20"), "{}", loaded.err);
    let hits = |line: &str| line.split('\t').nth(1).and_then(|hits| hits.parse::<u64>().ok()).expect("a number");
    let hits: Vec<u64> = loaded.out.lines().map(hits).collect();
    assert!(hits.len() > 5 && hits.is_sorted_by(|a, b| a >= b), "the highest number first: {hits:?}");
    let sent = requests(&fixture, AnalyticsKind::Searches);
    let cached = fixture.run_with(&["searches"], &[("DOCDECK_API_KEY", "")], "").expect_exit_code(0);
    assert_eq!(cached.out, loaded.out);
    assert!(cached.err.contains("no requests."), "{}", cached.err);
    assert_eq!(requests(&fixture, AnalyticsKind::Searches), sent);
    let fresh = fixture.run_with(&["searches", "--fresh"], &[("DOCDECK_API_KEY", "")], "").expect_exit_code(2);
    assert!(fresh.err.contains("The API key is not set yet."), "{}", fresh.err);
    fixture.run(&["searches", "--fresh"]).expect_exit_code(0);
    assert!(requests(&fixture, AnalyticsKind::Searches) > sent);
}

#[test]
fn each_report_has_each_format() {
    let fixture = CommandFixture::new(&[]);
    let commands: [(&[&str], &str, &str); 5] = [
        (&["searches"], "searches", "searchQuery,hits,ctr"),
        (&["feedback"], "feedback", "createdAt,path"),
        (&["feedback", "--by-page"], "feedback", "path,thumbsUp"),
        (&["questions"], "conversations", "timestamp,"),
        (&["visitors"], "visitors", "path,"),
    ];
    for (command, field, heads) in commands {
        let run = |format: &str| fixture.run(&[command, &["--format", format]].concat()).expect_exit_code(0);
        let json = run("json").multiline_json();
        let count = rows(&json, field).len();
        assert!(count > 0 && json.get("complete") == Some(&Value::Bool(true)), "{command:?}");
        let csv = run("csv").out;
        assert_eq!((csv.starts_with(heads), csv.lines().count()), (true, count + 1), "{command:?}: {csv}");
        let markdown = run("md").out;
        assert_eq!(markdown.lines().filter(|line| line.starts_with("| ")).count(), count + 2, "{command:?}");
        assert_eq!(run("table").out.lines().count(), count, "{command:?}");
    }
}

#[test]
fn what_readers_wrote_leaves_the_terminal_only_on_request() {
    let fixture = CommandFixture::new(&[]);
    let all = fixture.run(&["feedback", "--json", "--with-comments"]).expect_exit_code(0).multiline_json();
    let comment = |row: &Value| row.get("comment").and_then(Value::as_str).map(str::to_owned);
    let comments: Vec<String> = rows(&all, "feedback").iter().filter_map(comment).collect();
    assert!(!comments.is_empty());
    for format in ["table", "csv", "json", "md"] {
        let out = fixture.run(&["feedback", "--format", format]).expect_exit_code(0).out;
        assert!(!comments.iter().any(|comment| out.contains(comment.as_str())), "{format}");
    }
    let csv = fixture.run(&["feedback", "--format", "csv", "--with-comments"]).expect_exit_code(0).out;
    assert!(comments.iter().any(|comment| csv.contains(comment.as_str())));
}

#[test]
fn all_loads_every_row_and_limit_prints_the_first_ones() {
    let fixture = CommandFixture::with_pages(640, &[]);
    let words = ["feedback", "--last", "30d", "--json"];
    let some = fixture.run(&[&words[..], &["--max-requests", "1"]].concat()).expect_exit_code(0).multiline_json();
    let all = fixture.run(&[&words[..], &["--all"]].concat()).expect_exit_code(0).multiline_json();
    assert_eq!([&some, &all].map(|json| json.get("complete").and_then(Value::as_bool)), [Some(false), Some(true)]);
    let (some, all) = (rows(&some, "feedback"), rows(&all, "feedback"));
    assert!(some.len() < all.len() && all.starts_with(some));
    let first = fixture.run(&[&words[..], &["--limit", "3"]].concat()).expect_exit_code(0).multiline_json();
    assert_eq!(rows(&first, "feedback"), &all[..3]);
    fixture.run(&["feedback", "--all", "--max-requests", "2"]).expect_exit_code(2);
}

#[test]
fn a_check_exits_with_1_if_rows_are_found_and_never_passes_on_partial_rows() {
    let fixture = CommandFixture::with_pages(640, &[]);
    let check = ["feedback", "--last", "30d", "--check", "page /no/such/page", "--max-requests", "1"];
    let partial = fixture.run(&check).expect_exit_code(5);
    assert!(partial.err.contains("Run the same command again to continue."), "{}", partial.err);
    assert!(partial.err.contains("not all rows are loaded."), "{}", partial.err);
    fixture.run(&["feedback", "--check", "page /no/such/page"]).expect_exit_code(0);
    let found = fixture.run(&["searches", "--check", "hits>0"]).expect_exit_code(1);
    assert!(found.out.lines().count() > 5);
    assert_eq!(fixture.run(&["searches", "--check", "hits>999999999"]).expect_exit_code(0).out, "");
    let wrong = fixture.run(&["searches", "--check", "clicks>3", "--fresh"]).expect_exit_code(2);
    assert!(wrong.err.contains("--check: ") && wrong.err.contains("Nothing was loaded."), "{}", wrong.err);
}

#[test]
fn a_check_of_views_prints_the_pages_that_pass_the_filter() {
    let fixture = CommandFixture::new(&[]);
    let found = fixture.run(&["views", "--check", "human>0"]).expect_exit_code(1);
    assert!(found.out.lines().count() > 2 && found.out.starts_with('/'), "{}", found.out);
    assert_eq!(fixture.run(&["views", "--check", "human>999999999"]).expect_exit_code(0).out, "");
    fixture.run(&["views", "--check", "Δ<-100%", "--json"]).expect_exit_code(0);
    let wrong = fixture.run(&["views", "--check", "hits>3"]).expect_exit_code(2);
    assert!(wrong.err.contains("hits> is unknown") && wrong.err.contains("Nothing was loaded."), "{}", wrong.err);
}

#[test]
fn pages_that_need_work_are_found_in_cached_reports_and_loaded_with_at_most_five_requests() {
    let fixture = CommandFixture::new(&[]);
    let empty = fixture.run_with(&["needs-work"], &[("DOCDECK_API_KEY", "")], "").expect_exit_code(0);
    assert_eq!((empty.out.as_str(), all_requests(&fixture)), ("", 0));
    assert!(
        empty.err.contains("Not loaded: page views, feedback by page, feedback, questions, searches."),
        "{}",
        empty.err
    );
    let unknown = fixture.run(&["needs-work", "--check", "score>=5%"]).expect_exit_code(2);
    assert!(unknown.err.contains("not all reports are loaded"), "{}", unknown.err);
    let loaded = fixture.run(&["needs-work", "--load", "--json"]).expect_exit_code(0);
    let sent = |fixture: &CommandFixture| (all_requests(fixture), fixture.sim.requests(Operation::Views));
    assert_eq!(sent(&fixture), (4, 1));
    let answer: Value = serde_json::from_str(&loaded.out).expect("JSON");
    assert_eq!((rows(&answer, "missing").len(), answer.get("asOf").is_some_and(Value::is_string)), (0, true));
    let scores: Vec<f64> =
        rows(&answer, "pages").iter().filter_map(|page| page.get("score").and_then(Value::as_f64)).collect();
    assert!(scores.len() > 2 && scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    let cached = fixture.run_with(&["needs-work", "--json"], &[("DOCDECK_API_KEY", "")], "").expect_exit_code(0);
    assert_eq!(cached.json().get("pages"), answer.get("pages"));
    fixture.run(&["needs-work", "--load"]).expect_exit_code(0);
    assert_eq!(sent(&fixture), (4, 1), "cached reports are not requested again");
    let above = fixture.run(&["needs-work", "--check", "score>=1%"]).expect_exit_code(1);
    assert!(!above.out.is_empty());
    assert_eq!(fixture.run(&["needs-work", "--check", "score>=100%"]).expect_exit_code(0).out, "");
    let wrong = fixture.run(&["needs-work", "--check", "5%>score"]).expect_exit_code(2);
    assert!(wrong.err.contains("--check: ") && wrong.err.contains("Nothing was loaded."), "{}", wrong.err);
    let by_votes = fixture.run(&["needs-work", "--sort", "down", "--filter", "down>0"]).expect_exit_code(0).out;
    let votes: Vec<u64> = by_votes.lines().filter_map(|line| line.split('\t').nth(4)?.parse().ok()).collect();
    assert!(votes.len() > 2 && votes.is_sorted_by(|a, b| a >= b), "{by_votes}");
    let csv = fixture.run(&["needs-work", "--format", "csv", "--limit", "2"]).expect_exit_code(0).out;
    assert!(csv.starts_with("path,score,views,lostViews,") && csv.lines().count() == 3, "{csv}");
}

#[test]
fn the_cost_of_loading_missing_reports_counts_only_the_requests_that_it_takes() {
    let fixture = CommandFixture::new(&[]);
    let cost = |words: &[&str]| {
        let ran = fixture.run(&[&["needs-work", "--load"], words].concat()).expect_exit_code(0);
        ran.err.lines().find(|line| line.starts_with("Loading the reports of ")).map(str::to_owned)
    };
    let sent = || all_requests(&fixture) + fixture.sim.requests(Operation::Views);
    // The first rows that `views` requests can be all rows of the site, so they need not be loaded again.
    fixture.run(&["views", "--limit", "250"]).expect_exit_code(0);
    fixture.run(&["searches"]).expect_exit_code(0);
    let before = sent();
    let line = cost(&[]).expect("a line");
    assert!(line.contains(": uses 3 of the ") && line.ends_with(" analytics requests left this hour."), "{line}");
    assert_eq!(sent(), before + 3);
    assert_eq!((cost(&[]), sent()), (None, before + 3), "all reports are cached");
    let line = cost(&["--fresh"]).expect("a line");
    assert!(line.contains(": uses 5 of the "), "{line}");
    assert_eq!(sent(), before + 8);
}

#[test]
fn if_a_report_of_needs_work_fails_the_others_are_printed_with_the_error() {
    let fixture = CommandFixture::new(&["searches=500"]);
    let failed = fixture.run(&["needs-work", "--load", "--json"]).expect_exit_code(4);
    let answer = failed.json();
    assert!(answer.get("error").is_some_and(Value::is_string), "{failed:?}");
    assert_eq!(answer.get("exitCode"), Some(&Value::from(4)));
    assert_eq!(rows(&answer, "missing"), ["searches"]);
    assert!(rows(&answer, "pages").len() > 2 && answer.get("asOf").is_some_and(Value::is_string), "{failed:?}");
    let table = fixture.run(&["needs-work", "--load"]).expect_exit_code(4);
    assert_eq!(table.out, fixture.run(&["needs-work"]).expect_exit_code(0).out);
    assert!(!table.out.is_empty() && table.err.contains("Not loaded: searches.\n"), "{table:?}");
    assert!(table.err.lines().last().is_some_and(|line| line.starts_with("docdeck: ")), "{table:?}");
    // A check can't pass if a report is missing.
    let check = fixture.run(&["needs-work", "--load", "--check", "score>=100%"]).expect_exit_code(4);
    assert_eq!(check.out, "");
    // Without any report there are no rows to print.
    fixture.set_faults(&["all=500"]);
    let failed = fixture.run(&["needs-work", "--load", "--json", "--last", "30d"]).expect_exit_code(4).json();
    assert_eq!(
        failed.as_object().map(|fields| fields.keys().cloned().collect::<Vec<_>>().join(" ")).as_deref(),
        Some("error exitCode")
    );
}

#[test]
fn if_loading_fails_the_loaded_rows_are_printed_with_the_error() {
    let fixture = CommandFixture::with_pages(640, &["searches=stuck"]);
    let failed = fixture.run(&["searches", "--json", "--last", "30d"]).expect_exit_code(4);
    let answer = failed.json();
    assert!(answer.get("error").is_some_and(Value::is_string), "{failed:?}");
    assert_eq!((&answer["exitCode"], &answer["complete"]), (&Value::from(4), &Value::Bool(false)));
    let count = rows(&answer, "searches").len();
    assert!(count > 0, "{failed:?}");
    let table = fixture.run(&["searches", "--last", "30d"]).expect_exit_code(4);
    assert_eq!(table.out.lines().count(), count, "{table:?}");
    assert!(table.err.lines().last().is_some_and(|line| line.starts_with("docdeck: ")), "{table:?}");
    let csv = fixture.run(&["searches", "--last", "30d", "--format", "csv"]).expect_exit_code(4);
    assert_eq!(csv.out.lines().count(), count + 1, "{csv:?}");
    // A check can't pass if rows are missing.
    let check = ["searches", "--last", "30d", "--check", "hits>999999999"];
    assert_eq!(fixture.run(&check).expect_exit_code(4).out, "");
}

#[test]
fn reports_that_are_not_stored_are_nevertheless_printed() {
    let fixture = CommandFixture::with_pages(640, &[]);
    let config = fixture.home.path().join("config.toml");
    std::fs::write(&config, "[privacy]\nreader_text_days = 0\n").expect("written");
    let path = config.display().to_string();
    let variables = [("DOCDECK_CONFIG", path.as_str())];
    let loaded = fixture.run_with(&["needs-work", "--load", "--json"], &variables, "").expect_exit_code(0);
    assert_eq!(loaded.json().get("missing"), Some(&Value::Array(Vec::new())), "{}", loaded.err);
    let words = ["feedback", "--last", "30d", "--max-requests", "1"];
    let feedback = fixture.run_with(&words, &variables, "").expect_exit_code(0);
    assert!(feedback.err.contains("Partial: there are more rows. Add --all."), "{}", feedback.err);
    let before = requests(&fixture, AnalyticsKind::Feedback);
    fixture.run_with(&words, &variables, "").expect_exit_code(0);
    assert_eq!(requests(&fixture, AnalyticsKind::Feedback), before + 1, "nothing was stored");
}
