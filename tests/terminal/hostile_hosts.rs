//! Tests of code hosts that put attack texts into every string of their responses: names and links of checks, authors,
//! branches, titles, comments, paths and diffs.

use crate::hostile::{
    HostileService, Reply, assert_no_foreign_sequences, assert_plain, assert_readable, attacks, run_with_variables,
};
use crate::support::pty::{Pty, Setup};
use crate::support::slow::sample;
use docdeck::model::pull_request::PullRequestLink;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Times of the responses, long ago, so that the order on the screen doesn't depend on the day of the test.
const AT: &str = "2026-01-02T10:00:00Z";

const HOST_TOKEN: &str = "host_5ecret";

/// Responds to a request for pull requests. The number of a pull request selects the attack text in it. Returns `None`
/// if the request is for the service.
pub(crate) fn reply(line: &str, body: &[u8]) -> Option<Reply> {
    let (method, rest) = line.split_once(' ')?;
    let path = rest.split(' ').next()?.split('?').next()?;
    match method {
        "POST" if path == "/hub/graphql" => Some(Reply::new(200, graphql_response(body).to_string())),
        "GET" if path.starts_with("/hub/") => {
            let number = path.rsplit('/').next()?.parse().ok()?;
            Some(Reply::new(200, diff(&attack(number))))
        }
        "GET" if path.starts_with("/lab/") => {
            let (_, rest) = path.split_once("/merge_requests/")?;
            let (number, part) = rest.split_once('/').unwrap_or((rest, ""));
            Some(Reply::new(200, gitlab_response(number.parse().ok()?, part).to_string()))
        }
        _ => None,
    }
}

/// Returns the attack text with this number, or all short ones for 0.
fn attack(number: usize) -> String {
    let mut texts = attacks().into_iter().map(|(_, text)| text);
    match number.checked_sub(1) {
        Some(n) => texts.nth(n).unwrap_or_default(),
        None => texts.filter(|text| text.len() < 100).collect(),
    }
}

fn without_line_breaks(text: &str) -> String {
    text.replace('\n', "")
}

fn diff(text: &str) -> String {
    let line = without_line_breaks(text);
    format!(
        "diff --git a/{line} b/{line}\n--- a/{line}\n+++ b/{line}\n@@ -1,2 +1,2 @@ {line}\n {line}\n-{line}\n+{line} new\n"
    )
}

fn graphql_response(body: &[u8]) -> Value {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let query = request.get("query").and_then(Value::as_str).unwrap_or_default();
    let mut data = Map::new();
    for n in 0..25 {
        let Some(url) = request.pointer(&format!("/variables/u{n}")).and_then(Value::as_str) else { break };
        let number = PullRequestLink::parse(url).and_then(|link| usize::try_from(link.number).ok()).unwrap_or(0);
        let text = attack(number);
        let node = match () {
            () if query.contains("statusCheckRollup") => checks_node(&text),
            () if query.contains("reviews(") => details_node(&text),
            () if query.contains("deployments(") => {
                json!({ "commits": { "nodes": [{ "commit": { "deployments": { "nodes": [
                { "environment": text, "latestStatus": { "state": "SUCCESS", "environmentUrl": format!("https://preview.example/{text}") } },
            ] } } }] } })
            }
            () => state_node(&text),
        };
        let Value::Object(mut node) = node else { break };
        node.extend([("number".to_owned(), number.into()), ("url".to_owned(), url.into())]);
        data.insert(format!("p{n}"), Value::Object(node));
    }
    json!({ "data": data })
}

fn state_node(text: &str) -> Value {
    json!({ "title": text, "state": "OPEN", "isDraft": false, "headRefOid": text, "headRefName": text, "additions": 3,
            "deletions": 1, "changedFiles": 1, "mergeable": "MERGEABLE", "mergeStateStatus": text,
            "reviewDecision": text, "isInMergeQueue": false })
}

fn checks_node(text: &str) -> Value {
    let (link, run, status) = (format!("https://ci.example/{text}"), "CheckRun", "COMPLETED");
    let contexts = json!([
        { "__typename": run, "name": text, "status": status, "conclusion": "FAILURE", "detailsUrl": link },
        { "__typename": run, "name": format!("{text} again"), "status": status, "conclusion": "FAILURE", "detailsUrl": text },
        { "__typename": "StatusContext", "context": text, "state": "ERROR", "targetUrl": link },
        { "__typename": run, "name": text, "status": text, "conclusion": text, "detailsUrl": text },
    ]);
    let rollup = json!({ "state": "FAILURE", "contexts": { "totalCount": 4, "nodes": contexts } });
    let commit = json!({ "oid": text, "statusCheckRollup": rollup, "checkSuites": { "nodes": [] } });
    json!({ "headRefOid": text, "commits": { "nodes": [{ "commit": commit }] } })
}

fn details_node(text: &str) -> Value {
    let author = json!({ "login": text });
    let body = format!("[View Preview](https://preview.example/{text}) {text}");
    let commit = json!({ "abbreviatedOid": text, "messageHeadline": text, "committedDate": AT });
    json!({
        "baseRefName": text, "author": author,
        "reviews": { "nodes": [
            { "author": author, "state": "CHANGES_REQUESTED", "body": text, "submittedAt": AT },
            { "author": author, "state": "APPROVED", "body": format!("{text}\n{text}"), "submittedAt": text },
        ] },
        "comments": { "nodes": [{ "author": author, "body": body, "createdAt": AT }] },
        "commits": { "totalCount": 1, "nodes": [{ "commit": commit }] },
        "files": { "nodes": [{ "path": format!("{text}.mdx"), "additions": 3, "deletions": 1 }] },
        "baseRepository": { "mergeCommitAllowed": true, "viewerDefaultMergeMethod": text },
    })
}

fn gitlab_response(number: usize, part: &str) -> Value {
    let text = attack(number);
    let (author, line) = (json!({ "username": text }), without_line_breaks(&text));
    match part {
        "notes" => json!([{ "body": text, "system": false, "author": author, "created_at": AT }]),
        "commits" => json!([{ "short_id": text, "title": text, "created_at": AT }]),
        "approvals" => json!({ "approved_by": [{ "user": author }] }),
        "diffs" => json!([{ "old_path": text, "new_path": format!("{text}.mdx"), "renamed_file": true,
                            "diff": format!("@@ -1 +1 @@ {line}\n-{line}\n+{line} new\n") }]),
        _ => json!({
            "iid": number, "web_url": format!("https://gitlab.com/acme/docs/-/merge_requests/{number}"), "title": text,
            "state": "opened", "draft": false, "sha": text, "source_branch": text, "target_branch": text,
            "author": author, "detailed_merge_status": text, "has_conflicts": false, "changes_count": text,
            "head_pipeline": { "status": "failed", "web_url": format!("https://ci.example/{text}") },
        }),
    }
}

/// Starts the service and tracks a job with a pull request on each host for each of these attack texts, given by their
/// numbers. Returns the ids of the jobs.
fn track_jobs_with_pull_requests(home: &Path, attack_numbers: &[usize]) -> Vec<String> {
    let on_github = attack_numbers.iter().map(|n| format!("https://github.com/acme/docs/pull/{n}"));
    let on_gitlab = attack_numbers.iter().map(|n| format!("https://gitlab.com/acme/docs/-/merge_requests/{n}"));
    let links: Vec<String> = on_github.chain(on_gitlab).collect();
    let ids: Vec<String> = (0..links.len()).map(|n| format!("l{n}")).collect();
    let url = HostileService::with_links(links).url;
    let config = format!(
        "[profiles.p]\nbase_url = \"{url}\"\nproject_id = \"p\"\n[hosts.\"github.com\"]\n\
         rest_url = \"{url}/hub\"\ngraphql_url = \"{url}/hub/graphql\"\ntoken_env = \"HOST_TOKEN\"\n\
         [hosts.\"gitlab.com\"]\nrest_url = \"{url}/lab\"\ntoken_env = \"HOST_TOKEN\"\n"
    );
    std::fs::write(home.join("config.toml"), config).expect("written");
    let words: Vec<&str> = ["track"].into_iter().chain(ids.iter().map(String::as_str)).collect();
    let (code, out, err) = run(home, &words);
    assert_eq!(code, 0, "{out}{err}");
    ids
}

fn run(home: &Path, words: &[&str]) -> (i32, String, String) {
    run_with_variables(home, words, "", &[("DOCDECK_API_KEY", "mint_k"), ("HOST_TOKEN", HOST_TOKEN)])
}

/// Returns the numbers of every `step`-th attack text, or of all with `DOCDECK_SLOW_TESTS`.
fn attack_numbers(step: usize) -> Vec<usize> {
    sample(0..=attacks().len(), step)
}

/// Runs a sample, and all attacks with `DOCDECK_SLOW_TESTS`.
#[test]
fn no_piped_command_prints_a_control_character_of_a_code_host() {
    let home = tempfile::tempdir().expect("a folder");
    let ids = track_jobs_with_pull_requests(home.path(), &attack_numbers(11));
    let (code, out, err) = run(home.path(), &["pr"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(out.lines().count(), ids.len(), "{out}");
    assert_readable("pr", &out);
    for words in [&["pr", "--json"][..], &["jobs", "--json"], &["export"]] {
        let (code, out, err) = run(home.path(), words);
        assert_eq!(code, 0, "{err}");
        assert_plain(&format!("{words:?}"), &(out + &err));
    }
    for id in &ids {
        for words in [&["show", id][..], &["diff", id, "--stat"], &["jobs"], &["status"]] {
            let (code, out, err) = run(home.path(), words);
            assert_eq!(code, 0, "{words:?} {err}");
            assert_readable(&format!("{words:?}"), &(out + &err));
        }
        let (code, out, err) = run(home.path(), &["diff", id]);
        assert_eq!(code, 0, "{id}: {err}");
        assert_plain(&format!("diff {id}"), &(out + &err));
    }
}

/// Runs a sample, and all attacks with `DOCDECK_SLOW_TESTS`.
#[test]
fn no_screen_about_a_pull_request_contains_a_control_character() {
    let home = tempfile::tempdir().expect("a folder");
    let ids = track_jobs_with_pull_requests(home.path(), &attack_numbers(25));
    let at = |name: &str| home.path().join(name).display().to_string();
    let setup = Setup::dashboard().with("DOCDECK_DATA_DIR", &at("data")).with("DOCDECK_CONFIG", &at("config.toml"));
    let mut pty = Pty::spawn_at(120, 40, setup.with("DOCDECK_API_KEY", "mint_k").with("HOST_TOKEN", HOST_TOKEN));
    pty.wait_for_text("✗ failing");
    pty.wait_for_quiet();
    for id in &ids {
        pty.send("O");
        pty.wait_for_text("Reviews and comments");
        // Long texts push the commits and files to the end.
        for keys in ["", "G"] {
            pty.send(keys);
            pty.wait_for_quiet();
            assert_readable(&format!("the pull request of {id}"), &pty.screen().contents());
        }
        pty.send("\t");
        pty.wait_for_text("+1 −1");
        assert_readable(&format!("the changes of {id}"), &pty.screen().contents());
        pty.send("\x1b");
        pty.wait_for_quiet();
        pty.send("\x1b[B");
        pty.wait_for_quiet();
    }
    pty.quit();
    assert_no_foreign_sequences("the dashboard", &pty.sent());
    assert!(!pty.sent().contains(HOST_TOKEN));
    let log = std::fs::read_to_string(home.path().join("data/docdeck.log")).expect("a log");
    assert_readable("the log", &log);
}
