//! Runs the commands for a pull request with every fault of its code host: what they print, their exit codes, and what
//! the host received.

use crate::case::{CaseError, check};
use crate::list::{ExpectedOutcome, Fault, faults};
use crate::support::command::{CommandFixture, CommandResult};
use crate::support::server::{ConnectionEnd, Server, ServerBehavior};
use crate::support::slow::sample;
use docdeck::model::pull_request::HostKind;
use docdeck::sim::HostFault;
use futures_util::StreamExt as _;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// The number of faults that are tried at the same time.
const CONCURRENT_FAULTS: usize = 16;

/// A command that requests more than the state of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostCommand {
    Diff,
    Approve,
    Merge,
}

impl HostCommand {
    const ALL: [Self; 3] = [Self::Diff, Self::Approve, Self::Merge];

    fn arguments(self, target: &Target) -> Vec<&str> {
        match self {
            Self::Diff => vec!["diff", &target.id],
            Self::Approve => vec!["approve", &target.id, "--head", &target.head],
            // Without a method, the details of the pull request determine it.
            Self::Merge => vec!["merge", &target.id, "--head", &target.head, "--yes"],
        }
    }
}

/// A job whose pull request can be merged.
#[derive(Debug, Clone)]
struct Target {
    kind: HostKind,
    id: String,
    head: String,
}

/// Returns a configuration that has these addresses in place of the real code hosts.
fn config(fixture: &CommandFixture, github_rest_url: &str) -> String {
    let [github, gitlab] = [HostKind::GitHub, HostKind::GitLab].map(|kind| fixture.sim.host_address(kind));
    format!(
        "[hosts.\"github.com\"]\nrest_url = \"{github_rest_url}\"\ngraphql_url = \"{}\"\ntoken_env = \"HUB_TOKEN\"\n\
         [hosts.\"gitlab.com\"]\nrest_url = \"{}\"\ntoken_env = \"LAB_TOKEN\"\n",
        github.graphql_url, gitlab.rest_url
    )
}

/// Runs the program with this configuration and data folder, and with the tokens of both code hosts.
fn run(fixture: &CommandFixture, folder: &Path, arguments: &[&str]) -> CommandResult {
    let [config, data] = ["config.toml", "data"].map(|name| folder.join(name).display().to_string());
    let variables = [
        ("HUB_TOKEN", fixture.sim.host_token(HostKind::GitHub)),
        ("LAB_TOKEN", fixture.sim.host_token(HostKind::GitLab)),
        ("DOCDECK_CONFIG", &config),
        ("DOCDECK_DATA_DIR", &data),
    ];
    fixture.run_with(arguments, &variables, "")
}

/// Returns a fixture with jobs on these code hosts, and those whose pull requests can be merged.
fn fixture_with_targets(kinds: &[HostKind], jobs_per_host: usize) -> (CommandFixture, Vec<Target>) {
    let fixture = CommandFixture::new(&[]);
    let folder = fixture.home.path();
    let address = fixture.sim.host_address(HostKind::GitHub);
    std::fs::write(folder.join("config.toml"), config(&fixture, &address.rest_url)).expect("written");
    let prompts = kinds.iter().flat_map(|kind| {
        let mark = if *kind == HostKind::GitLab { "[sim:gitlab]" } else { "" };
        (0..jobs_per_host).map(move |_| format!("Fix the links [sim:seconds=1][sim:pr]{mark}"))
    });
    // Each waits for its job most of the time.
    for some in prompts.collect::<Vec<_>>().chunks(CONCURRENT_FAULTS) {
        std::thread::scope(|scope| {
            for prompt in some {
                scope.spawn(|| run(&fixture, folder, &["new", prompt, "--wait"]).expect_exit_code(0));
            }
        });
    }
    fixture.sim.advance(chrono::TimeDelta::minutes(10));
    let answer = run(&fixture, folder, &["pr", "--json"]).expect_exit_code(0).json();
    let jobs = answer.get("jobs").and_then(Value::as_array).expect("jobs");
    (fixture, jobs.iter().filter_map(target).collect())
}

fn target(job: &Value) -> Option<Target> {
    let text = |path: &str| job.pointer(path).and_then(Value::as_str).map(str::to_owned);
    let is_mergeable = text("/pullRequest/state")? == "open"
        && job.pointer("/pullRequest/conflict")? == false
        && text("/pullRequest/checks/state")? == "passing";
    let is_gitlab = text("/prLink")?.starts_with("https://gitlab.com/");
    let kind = if is_gitlab { HostKind::GitLab } else { HostKind::GitHub };
    is_mergeable.then_some(Target { kind, id: text("/id")?, head: text("/pullRequest/head")? })
}

/// Checks the exit code, that an error has a reason, and the rest as [`check_output`] does.
fn check_result(
    fixture: &CommandFixture,
    folder: &Path,
    result: &CommandResult,
    codes: &[i32],
) -> Result<(), CaseError> {
    check(codes.contains(&result.code), || format!("exit code {} instead of {codes:?}: {result:?}", result.code))?;
    check(result.code == 0 || !result.err.is_empty(), || format!("no reason: {result:?}"))?;
    check_output(fixture, folder, result)
}

/// Checks that neither the output nor a file contains a token or control characters.
fn check_output(fixture: &CommandFixture, folder: &Path, result: &CommandResult) -> Result<(), CaseError> {
    let is_plain = |c: char| matches!(c, '\n' | '\t') || !(c.is_control() || matches!(c, '\u{202a}'..='\u{202e}'));
    check([&result.out, &result.err].iter().all(|text| text.chars().all(is_plain)), || format!("hostile: {result:?}"))?;
    for token in [HostKind::GitHub, HostKind::GitLab].map(|kind| fixture.sim.host_token(kind)) {
        check(!result.out.contains(token) && !result.err.contains(token), || format!("a token: {result:?}"))?;
        for entry in std::fs::read_dir(folder.join("data")).expect("a folder").flatten() {
            let bytes = std::fs::read(entry.path()).expect("read");
            let has_token = bytes.windows(token.len()).any(|window| window == token.as_bytes());
            check(!has_token, || format!("a token is in {}", entry.path().display()))?;
        }
    }
    Ok(())
}

fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten().filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
    }
}

/// Runs the command with this fault of GitHub's REST API. The state of the pull request is read by GraphQL, which
/// works.
async fn run_with_wire_fault(
    fixture: Arc<CommandFixture>,
    target: Target,
    fault: &Fault,
    command: HostCommand,
) -> Result<(), CaseError> {
    let server = Server::start(fault.job.clone()).await;
    let folder = tempfile::tempdir().expect("a folder");
    copy_files(&fixture.data_folder(), &folder.path().join("data"));
    std::fs::write(folder.path().join("config.toml"), config(&fixture, &server.base_url())).expect("written");
    let [_, follow_up, ..] = &fault.expected;
    let codes: &[i32] = match (command, follow_up) {
        // An empty response is the diff of a pull request without changes.
        (HostCommand::Diff, ExpectedOutcome::Unconfirmed) => &[0, 4],
        (HostCommand::Diff, _) => &[4],
        // The reset may arrive before the connection is used.
        (_, ExpectedOutcome::Unconfirmed) if fault.job.may_refuse() => &[4, 6],
        (_, ExpectedOutcome::Unconfirmed | ExpectedOutcome::Accepted(..)) => &[6],
        _ => &[4],
    };
    let running = tokio::task::spawn_blocking(move || {
        let result = run(&fixture, folder.path(), &command.arguments(&target));
        check_result(&fixture, folder.path(), &result, codes).map(|()| result)
    });
    let result = running.await.expect("it ran")?;
    let requests = server.requests();
    let lines: Vec<&str> = requests.iter().map(|request| request.line()).collect();
    if command == HostCommand::Diff {
        check(result.out.is_empty(), || format!("printed {result:?}"))?;
        // A diff that is too large is requested again by files.
        check(lines.len() <= 2 && lines.iter().all(|line| line.starts_with("GET ")), || format!("{lines:?}"))
    } else {
        check(lines.len() == usize::from(fault.job.reads_requests()), || format!("requests were {lines:?}"))?;
        check(result.out.contains("\topen\t") || result.out.contains("\tready\t"), || format!("no state: {result:?}"))
    }
}

/// Runs a sample, and all faults with `DOCDECK_SLOW_TESTS`. Only then does it wait for timeouts, which are those of the
/// program.
#[tokio::test]
async fn commands_for_pull_requests_end_as_documented_with_every_fault_of_the_network() {
    let redirect_target = Server::start(ServerBehavior::response(
        b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec(),
        ConnectionEnd::Keep,
    ))
    .await;
    let (fixture, targets) =
        tokio::task::spawn_blocking(|| fixture_with_targets(&[HostKind::GitHub], 8)).await.expect("a fixture");
    let (fixture, target) = (Arc::new(fixture), targets.into_iter().next().expect("a pull request to merge"));
    let waits = sample([false, true], 2);
    let faults: Vec<Fault> =
        faults(redirect_target.port()).into_iter().filter(|fault| waits.contains(&fault.short_timeout)).collect();
    let faults = sample(faults, 12);
    let cases = faults.iter().flat_map(|fault| HostCommand::ALL.map(|command| (fault, command)));
    let results = futures_util::stream::iter(cases).map(async |(fault, command)| {
        let result = run_with_wire_fault(Arc::clone(&fixture), target.clone(), fault, command).await;
        result.map_err(|wrong| format!("{command:?} {}: {wrong}", fault.name))
    });
    let results: Vec<Result<(), String>> = results.buffer_unordered(CONCURRENT_FAULTS).collect().await;
    let wrong: Vec<String> = results.iter().filter_map(|result| result.clone().err()).collect();
    println!("{} cases, {} wrong", results.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), results.len(), wrong.join("\n"));
    assert_eq!(redirect_target.connection_count(), 0, "no redirect is followed, so the token stays with its host");
    assert_eq!(fixture.sim.host_action_count(), 0, "an action is sent to its address only");
}

/// Runs `docdeck doctor` with this fault of both code hosts, which have no pull request of a job.
async fn run_doctor(fixture: Arc<CommandFixture>, fault: &Fault) -> Result<(), CaseError> {
    let server = Server::start(fault.job.clone()).await;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("data")).expect("a folder");
    let base = server.base_url();
    let config = format!(
        "[hosts.\"github.com\"]\nrest_url = \"{base}\"\ngraphql_url = \"{base}/graphql\"\ntoken_env = \"HUB_TOKEN\"\n\
         [hosts.\"gitlab.com\"]\nrest_url = \"{base}\"\ntoken_env = \"LAB_TOKEN\"\n"
    );
    std::fs::write(folder.path().join("config.toml"), config).expect("written");
    let running = tokio::task::spawn_blocking(move || {
        let result = run(&fixture, folder.path(), &["doctor", "--json"]);
        check(result.code < 2 && result.err.is_empty(), || format!("an error: {result:?}"))?;
        check_output(&fixture, folder.path(), &result).map(|()| result)
    });
    let report = running.await.expect("it ran")?.multiline_json();
    let checks = report.get("checks").and_then(Value::as_array).expect("checks");
    let state = |kind: &str| {
        let of_kind = |check: &&Value| check.get("check").and_then(Value::as_str) == Some(kind);
        checks.iter().find(of_kind).and_then(|check| check.get("state")?.as_str()).unwrap_or("missing")
    };
    check(["problem", "warning"].contains(&state("GitHub")), || format!("GitHub: {report:#}"))?;
    // GitLab has no other sign that it accepts the token than the status.
    check(["problem", "warning"].contains(&state("GitLab")), || format!("GitLab: {report:#}"))?;
    let requests = server.requests();
    let lines: Vec<&str> = requests.iter().map(|request| request.line()).collect();
    let expected = ["POST /graphql HTTP/1.1", "GET /user HTTP/1.1"];
    check(if fault.job.reads_requests() { lines == expected } else { lines.is_empty() }, || format!("{lines:?}"))
}

/// Runs a sample, and all faults with `DOCDECK_SLOW_TESTS`. Does not wait for timeouts, which are those of the program.
#[tokio::test]
async fn doctor_reports_every_fault_of_the_network_to_a_code_host() {
    let redirect_target = Server::start(ServerBehavior::json(200, "{}")).await;
    let fixture = tokio::task::spawn_blocking(|| CommandFixture::new(&[])).await.expect("a fixture");
    let fixture = Arc::new(fixture);
    let faults = faults(redirect_target.port()).into_iter().filter(|fault| !fault.short_timeout);
    let faults: Vec<Fault> = sample(faults, 12);
    let results = futures_util::stream::iter(&faults).map(async |fault| {
        run_doctor(Arc::clone(&fixture), fault).await.map_err(|wrong| format!("{}: {wrong}", fault.name))
    });
    let results: Vec<Result<(), String>> = results.buffer_unordered(CONCURRENT_FAULTS).collect().await;
    let wrong: Vec<String> = results.iter().filter_map(|result| result.clone().err()).collect();
    println!("{} cases, {} wrong", results.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), results.len(), wrong.join("\n"));
    assert_eq!(redirect_target.connection_count(), 0, "no redirect is followed, so the token stays with its host");
}

/// Each fault of the simulated code hosts, with the exit codes of the commands in the order of [`HostCommand::ALL`],
/// and the number of actions that arrive.
const HOST_FAULTS: [(HostFault, [i32; 3], u64); 14] = [
    (HostFault::ForbiddenChecks, [0, 0, 0], 2),
    (HostFault::LimitInBody, [4, 4, 4], 0),
    (HostFault::LimitInStatus, [4, 4, 4], 0),
    (HostFault::SecondaryLimit, [4, 4, 4], 0),
    (HostFault::ExpiredToken, [4, 4, 4], 0),
    (HostFault::BadGateway, [4, 4, 4], 0),
    (HostFault::OtherRepository, [4, 4, 4], 0),
    (HostFault::UnknownConflicts, [0, 0, 4], 2),
    (HostFault::ManyFiles, [0, 0, 0], 2),
    (HostFault::MovingHead, [4, 4, 4], 0),
    (HostFault::MovedBeforeMerge, [0, 0, 4], 2),
    (HostFault::LostActionResponse, [0, 6, 6], 2),
    (HostFault::LostAction, [0, 6, 6], 2),
    (HostFault::HostileText, [0, 0, 0], 2),
];

/// Runs a sample, and all faults with `DOCDECK_SLOW_TESTS`.
#[test]
fn commands_for_pull_requests_end_as_documented_with_every_fault_of_a_code_host() {
    let faults = sample(HOST_FAULTS, 4);
    // Some pull requests are drafts, have conflicts or failing checks.
    let (fixture, targets) = fixture_with_targets(&[HostKind::GitHub, HostKind::GitLab], faults.len() + 6);
    let mut wrong = Vec::new();
    for kind in [HostKind::GitHub, HostKind::GitLab] {
        let mut of_kind = targets.iter().filter(|target| target.kind == kind).peekable();
        for (fault, codes, action_count) in &faults {
            // A pull request on which nothing can be done serves for the next fault, too.
            let target = if *action_count == 0 { of_kind.peek().copied() } else { of_kind.next() };
            let target = target.expect("enough pull requests to merge");
            fixture.sim.set_host_fault(Some(*fault));
            let before = fixture.sim.host_action_count();
            for (command, code) in HostCommand::ALL.into_iter().zip(codes) {
                let result = run(&fixture, fixture.home.path(), &command.arguments(target));
                if let Err(why) = check_result(&fixture, fixture.home.path(), &result, &[*code]) {
                    wrong.push(format!("{kind:?} {fault:?} {command:?}: {why}"));
                }
            }
            let arrived = fixture.sim.host_action_count() - before;
            if arrived != *action_count {
                wrong.push(format!("{kind:?} {fault:?}: {arrived} actions arrived instead of {action_count}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn after_a_push_right_before_a_merge_the_new_head_is_shown_and_can_be_merged() {
    let kinds = [HostKind::GitHub, HostKind::GitLab];
    // So many that some can be merged on each host, whichever numbers its pull requests get.
    let (fixture, targets) = fixture_with_targets(&kinds, 14);
    for kind in kinds {
        let folder = fixture.home.path();
        fixture.sim.set_host_fault(Some(HostFault::MovedBeforeMerge));
        // GitLab refuses some of them because they need an approval.
        let has_moved = |target: &&Target| {
            let result = run(&fixture, folder, &HostCommand::Merge.arguments(target)).expect_exit_code(4);
            result.err.contains("new commits")
        };
        let old = targets.iter().filter(|target| target.kind == kind).find(has_moved).expect("a pull request to merge");
        fixture.sim.set_host_fault(None);
        run(&fixture, folder, &HostCommand::Merge.arguments(old)).expect_exit_code(4);
        let answer = run(&fixture, folder, &["pr", &old.id, "--json"]).expect_exit_code(0).json();
        let new = answer.get("jobs").and_then(|jobs| target(jobs.get(0)?)).expect("still open");
        assert_ne!(new.head, old.head, "{kind:?}");
        run(&fixture, folder, &HostCommand::Merge.arguments(&new)).expect_exit_code(0);
    }
}
