//! `docdeck new` and `docdeck follow`: a prompt is saved before it is sent, sent once, and each outcome has an exit
//! code.

use crate::support::command::{CommandFixture, CommandResult};
use crate::support::http;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{DeliveryKind, Prompt};
use rustix::process::Signal;

/// Returns the prompts of all jobs in the store, job by job.
fn prompts(fixture: &CommandFixture) -> Vec<Prompt> {
    fixture.with_store(async |store, scope| {
        let mut all = Vec::new();
        for row in store.jobs(scope).await.expect("rows") {
            all.extend(store.thread(row.key).await.expect("a thread").prompts);
        }
        all
    })
}

fn deliveries(fixture: &CommandFixture) -> Vec<DeliveryKind> {
    prompts(fixture).iter().map(|prompt| prompt.delivery.kind()).collect()
}

fn run_new(fixture: &CommandFixture, words: &[&str]) -> CommandResult {
    fixture.run(&[&["new"], words].concat())
}

#[test]
fn a_prompt_creates_a_job_and_a_pipe_gets_only_its_id() {
    let fixture = CommandFixture::new(&[]);
    let ran = run_new(&fixture, &["Fix the links [sim:seconds=6000]"]).expect_exit_code(0);
    let (id, text) = fixture.sim.received_prompts().into_iter().next().expect("received");
    assert_eq!((ran.out.trim_end(), text.as_str()), (id.as_str(), "Fix the links [sim:seconds=6000]"));
    assert_eq!(ran.err, "");
    assert_eq!(deliveries(&fixture), [DeliveryKind::Accepted]);
    let json = run_new(&fixture, &["Another [sim:seconds=6000]", "--json"]).expect_exit_code(0).json();
    assert_eq!((json["status"].as_str(), json["delivery"].as_str()), (Some("active"), Some("accepted")));
    assert_eq!((json["title"].as_str(), json["error"].as_str()), (Some("Another [sim:seconds=6000]"), None));
}

#[test]
fn a_prompt_is_read_from_stdin_or_a_file() {
    let fixture = CommandFixture::new(&[]);
    fixture.run_with(&["new", "-"], &[], "\u{feff}One\r\ntwo\n\n").expect_exit_code(0);
    let file = fixture.home.path().join("prompt.md");
    std::fs::write(&file, "From a file\n").expect("written");
    run_new(&fixture, &["--file", "prompt.md"]).expect_exit_code(0);
    let sent: Vec<String> = fixture.sim.received_prompts().into_iter().map(|(_, text)| text).collect();
    assert_eq!(sent, ["One\ntwo", "From a file"]);
}

#[test]
fn an_invalid_prompt_exits_with_2_before_anything_is_sent() {
    let fixture = CommandFixture::new(&[]);
    let large = "x".repeat((1 << 20) + 1);
    let cases: [(&[&str], &[u8], &str); 7] = [
        (&["new"], b"", "No prompt. Give it as an argument or with --file, or use `-`"),
        (&["new", " \u{200b}"], b"", "the prompt is blank"),
        (&["new", "-"], b"", "the prompt is blank"),
        (&["new", "-"], b"\xff\xfe", "stdin is not UTF-8 text"),
        (&["new", "-"], large.as_bytes(), "stdin contains more than 1 MiB"),
        (&["new", "--file", "none.md"], b"", "File none.md not found"),
        (&["new", "--file", "."], b"", "Can't read . ("),
    ];
    for (words, stdin, sentence) in cases {
        let ran = fixture.run_with(words, &[], stdin).expect_exit_code(2);
        assert!(ran.err.contains(sentence) && ran.out.is_empty(), "{words:?}: {ran:?}");
    }
    run_new(&fixture, &["a", "--file", "b"]).expect_exit_code(2);
    assert_eq!(fixture.sim.requests(Operation::Create), 0);
}

#[test]
fn with_wait_the_exit_code_depends_on_the_status_of_the_job() {
    let fixture = CommandFixture::new(&[]);
    let ran = run_new(&fixture, &["Do [sim:seconds=60] [sim:pr]", "--wait", "--json"]).expect_exit_code(0);
    let json = ran.json();
    assert_eq!(json["status"], "completed");
    assert!(json["prLink"].as_str().is_some_and(|link| link.starts_with("http")), "{json}");
    for part in ["sending the prompt", "accepted: Do", "completed, pull request http"] {
        assert_eq!(ran.err.matches(part).count(), usize::from(part != "sending the prompt"), "{part}: {}", ran.err);
    }
    let failed = run_new(&fixture, &["Do [sim:seconds=60] [sim:fail]", "--wait", "--json"]).expect_exit_code(1).json();
    assert_eq!((failed["status"].as_str(), failed["error"].as_str()), (Some("failed"), None));
    let archived =
        run_new(&fixture, &["Do [sim:seconds=60] [sim:archive]", "--wait", "--json"]).expect_exit_code(0).json();
    assert_eq!(archived["status"], "archived");
}

#[test]
fn a_prompt_whose_response_is_lost_is_unconfirmed_and_not_resent() {
    for fault in ["create=lost", "create=500-done", "create=malformed"] {
        let fixture = CommandFixture::new(&[fault]);
        let ran = run_new(&fixture, &["Once only", "--json"]).expect_exit_code(6);
        assert!(
            ran.err.contains("Scripts must not send the prompt again either") && ran.err.contains("`!` on the prompt"),
            "{}",
            ran.err
        );
        assert_eq!(ran.err.matches("does not resend the prompt").count(), 1, "{}", ran.err);
        let json = ran.json();
        assert_eq!((json["delivery"].as_str(), json["exitCode"].as_i64()), (Some("unconfirmed"), Some(6)));
        assert_eq!((json["id"].as_str(), json["prompt"].as_str()), (None, Some("Once only")));
        assert_eq!(deliveries(&fixture), [DeliveryKind::Unconfirmed]);
        assert_eq!(fixture.sim.requests(Operation::Create), 1, "{fault}");
    }
}

#[test]
fn a_rejected_api_key_exits_with_3_and_a_rejected_prompt_with_4() {
    let fixture = CommandFixture::new(&[]);
    let ran =
        fixture.run_with(&["new", "Fix"], &[("DOCDECK_API_KEY", fixture.sim.read_only_key())], "").expect_exit_code(3);
    assert!(ran.err.contains("The key isn't allowed to do this (403") && !ran.err.contains("mint_"), "{}", ran.err);
    fixture.run_with(&["new", "Fix"], &[("DOCDECK_API_KEY", "mint_wrong")], "").expect_exit_code(3);
    fixture.set_faults(&["create=400"]);
    let json = run_new(&fixture, &["Fix", "--json"]).expect_exit_code(4).json();
    assert_eq!(json["delivery"], "rejected");
    assert_eq!(deliveries(&fixture), [DeliveryKind::Rejected; 3], "nothing typed is lost");
}

#[test]
fn an_unreachable_service_exits_with_4_and_the_prompt_is_saved_as_not_sent() {
    let fixture = CommandFixture::new(&[]);
    // No program listens on this port: its listener is closed at once.
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a port").port();
    let url = format!("http://127.0.0.1:{port}");
    let ran = fixture.run_with(&["new", "Fix", "--json"], &[("DOCDECK_BASE_URL", &url)], "").expect_exit_code(4);
    assert_eq!(ran.json()["delivery"], "not sent");
    assert!(ran.err.contains("is saved as not sent"), "{}", ran.err);
}

#[test]
fn a_reached_limit_exits_with_5_and_the_prompt_is_paused() {
    let fixture = CommandFixture::new(&["create=429-1"]);
    let ran = run_new(&fixture, &["Later", "--json"]).expect_exit_code(5);
    for part in ["Hourly limit reached; the next request is possible at", "paused in the queue", "no need to repeat"] {
        assert!(ran.err.contains(part), "{part:?} in {}", ran.err);
    }
    assert_eq!(ran.json()["delivery"], "paused");
    assert_eq!(deliveries(&fixture), [DeliveryKind::Paused]);
    // A later batch sends the queue after the limit, but not the paused prompt.
    fixture.set_faults(&[]);
    fixture.run_with(&["new", "--batch", "-"], &[], "Another [sim:seconds=6000]").expect_exit_code(0);
    assert_eq!(deliveries(&fixture), [DeliveryKind::Paused, DeliveryKind::Accepted]);
    assert_eq!(fixture.sim.carried_out_count(Operation::Create), 1);
}

#[test]
fn with_wait_the_prompt_is_sent_when_the_limit_allows_it() {
    let fixture = CommandFixture::new(&["create=429-2"]);
    let running = fixture.start(&["new", "Later [sim:seconds=60] [sim:fail]", "--wait"]);
    running.wait_for_stderr_line("hourly limit reached; sending at");
    fixture.set_faults(&[]);
    let ran = running.wait_for_exit().expect_exit_code(1);
    assert_eq!(fixture.sim.carried_out_count(Operation::Create), 1, "{ran:?}");
}

#[test]
fn a_wait_for_the_limit_that_times_out_exits_with_124_and_leaves_the_prompt_paused() {
    let fixture = CommandFixture::new(&["create=429-3600"]);
    let ran = run_new(&fixture, &["Later", "--wait", "--timeout", "1", "--json"]).expect_exit_code(124);
    assert!(ran.err.contains("Timed out. Hourly limit reached") && ran.err.contains("paused"), "{}", ran.err);
    assert_eq!((ran.json()["delivery"].as_str(), ran.json()["exitCode"].as_i64()), (Some("paused"), Some(124)));
    assert_eq!(deliveries(&fixture), [DeliveryKind::Paused]);
}

#[test]
fn a_wait_for_the_job_that_times_out_exits_with_124_and_the_job_continues() {
    let fixture = CommandFixture::new(&[]);
    let ran =
        run_new(&fixture, &["Long [sim:seconds=60000]", "--wait", "--timeout", "1", "--json"]).expect_exit_code(124);
    assert!(ran.err.contains("`docdeck wait "), "{}", ran.err);
    assert_eq!((ran.json()["status"].as_str(), ran.json()["exitCode"].as_i64()), (Some("active"), Some(124)));
}

#[test]
fn a_signal_leaves_a_working_job_running() {
    let fixture = CommandFixture::new(&[]);
    let running = fixture.start(&["new", "Long [sim:seconds=60000]", "--wait"]);
    running.wait_for_stderr_line("accepted: Long");
    running.send_signal(Signal::INT);
    let ran = running.wait_for_exit().expect_exit_code(130);
    assert!(ran.err.contains("keeps running on the service"), "{}", ran.err);
}

#[test]
fn a_signal_during_the_wait_for_the_limit_pauses_the_prompt() {
    let fixture = CommandFixture::new(&["create=429-3600"]);
    let running = fixture.start(&["new", "Later", "--wait"]);
    running.wait_for_stderr_line("sending at");
    running.send_signal(Signal::TERM);
    let ran = running.wait_for_exit().expect_exit_code(130);
    assert!(ran.err.contains("Interrupted.") && ran.err.contains("paused"), "{}", ran.err);
    assert_eq!(deliveries(&fixture), [DeliveryKind::Paused]);
}

/// Waits until the service has received a request of this kind.
fn wait_for_request(fixture: &CommandFixture, operation: Operation) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while fixture.sim.requests(operation) == 0 {
        assert!(std::time::Instant::now() < end, "no request came");
        std::thread::yield_now();
    }
}

#[test]
fn a_signal_during_the_request_still_saves_the_response() {
    let fixture = CommandFixture::new(&["create=latency-700"]);
    let running = fixture.start(&["new", "Slowly [sim:seconds=6000]"]);
    wait_for_request(&fixture, Operation::Create);
    running.send_signal(Signal::INT);
    let ran = running.wait_for_exit().expect_exit_code(130);
    assert!(
        ran.err.contains("waiting a few seconds for the answer") && ran.err.contains("was accepted"),
        "{}",
        ran.err
    );
    assert_eq!(deliveries(&fixture), [DeliveryKind::Accepted]);
}

#[test]
fn a_second_signal_leaves_the_prompt_unconfirmed() {
    let fixture = CommandFixture::new(&["create=latency-60000"]);
    let running = fixture.start(&["new", "Never"]);
    wait_for_request(&fixture, Operation::Create);
    running.send_signal(Signal::INT);
    running.wait_for_stderr_line("waiting a few seconds for the answer");
    running.send_signal(Signal::INT);
    let ran = running.wait_for_exit().expect_exit_code(130);
    assert!(ran.err.contains("the prompt is unconfirmed"), "{}", ran.err);
    assert_eq!(deliveries(&fixture), [DeliveryKind::Unconfirmed]);
}

#[test]
fn a_read_only_store_is_an_error_before_anything_is_sent() {
    let fixture = CommandFixture::new(&[]);
    run_new(&fixture, &["First [sim:seconds=6000]"]).expect_exit_code(0);
    // SQLite can't create its journal through this dangling link. Unlike a read-only folder, the link also stops root.
    let journal = fixture.data_folder().join("docdeck.db-journal");
    std::fs::remove_file(&journal).expect("the empty journal of the last transaction");
    std::os::unix::fs::symlink("/nonexistent/journal", journal).expect("a link");
    let ran = run_new(&fixture, &["Second", "--json"]).expect_exit_code(2);
    assert!(ran.err.contains("can't be written, so no request was sent"), "{}", ran.err);
    assert_eq!(ran.json()["exitCode"], 2);
    assert_eq!(fixture.sim.requests(Operation::Create), 1);
}

#[test]
fn a_prefix_of_an_id_selects_the_job_of_a_follow_up() {
    let fixture = CommandFixture::new(&[]);
    let id =
        run_new(&fixture, &["Do [sim:seconds=60] [sim:pr]", "--wait"]).expect_exit_code(0).out.trim_end().to_owned();
    let beginning: String = id.chars().take(id.len() - 2).collect();
    let ran =
        fixture.run(&["follow", &beginning, "And [sim:seconds=60] [sim:fail]", "--wait", "--json"]).expect_exit_code(1);
    let json = ran.json();
    assert_eq!((json["id"].as_str(), json["status"].as_str()), (Some(id.as_str()), Some("failed")));
    assert_eq!(json["followUp"]["delivery"], "accepted");
    assert_eq!(json["followUp"]["prompt"], "And [sim:seconds=60] [sim:fail]");
    assert_eq!(fixture.sim.carried_out_count(Operation::FollowUp), 1);
}

#[test]
fn a_follow_up_to_an_unknown_job_suggests_track_and_exits_with_4() {
    let fixture = CommandFixture::new(&[]);
    let ran = fixture.run(&["follow", "nope", "And"]).expect_exit_code(4);
    assert!(ran.err.contains("`docdeck track nope`"), "{}", ran.err);
}

#[test]
fn a_follow_up_behind_an_unconfirmed_one_is_not_sent() {
    let fixture = CommandFixture::new(&["message=lost"]);
    let id = run_new(&fixture, &["Do [sim:seconds=6000]"]).expect_exit_code(0).out.trim_end().to_owned();
    let ran = fixture.run(&["follow", &id, "First", "--json"]).expect_exit_code(6);
    assert_eq!(ran.json()["followUp"]["delivery"], "unconfirmed");
    fixture.set_faults(&[]);
    let ran = fixture.run(&["follow", &id, "Second"]).expect_exit_code(2);
    assert!(ran.err.contains("an earlier prompt of job") && ran.err.contains("is unconfirmed"), "{}", ran.err);
    assert_eq!(fixture.sim.requests(Operation::FollowUp), 1);
    assert_eq!(deliveries(&fixture).len(), 2, "nothing was queued");
}

#[test]
fn a_new_follow_up_discards_the_rejected_one_which_stays_in_the_thread() {
    let fixture = CommandFixture::new(&["message=400"]);
    let id = run_new(&fixture, &["Do [sim:seconds=6000]"]).expect_exit_code(0).out.trim_end().to_owned();
    fixture.run(&["follow", &id, "Bad wording"]).expect_exit_code(4);
    assert_eq!(deliveries(&fixture), [DeliveryKind::Accepted, DeliveryKind::Rejected]);
    fixture.set_faults(&[]);
    let ran = fixture.run(&["follow", &id, "Better wording", "--json"]).expect_exit_code(0);
    assert!(ran.err.contains("Discarded the earlier prompt “Bad wording”, which was rejected."), "{ran:?}");
    let json = ran.json();
    assert_eq!(
        (json["followUp"]["delivery"].as_str(), json["delivery"].as_str()),
        (Some("accepted"), Some("accepted"))
    );
    assert_eq!(json["discarded"], serde_json::json!([{ "prompt": "Bad wording", "delivery": "rejected" }]));
    assert_eq!(deliveries(&fixture), [DeliveryKind::Accepted, DeliveryKind::Discarded, DeliveryKind::Accepted]);
    assert!(fixture.run(&["show", &id]).expect_exit_code(0).out.contains("Bad wording"));
    assert_eq!(fixture.sim.carried_out_count(Operation::FollowUp), 1);
}

#[test]
fn two_new_jobs_with_the_same_id_are_reported_and_show_both_prompts() {
    let fixture = CommandFixture::new(&[]);
    let url = http::start_fixed_response_server(r#"{"id":"job-7","status":"completed"}"#);
    let service = [("DOCDECK_BASE_URL", url.as_str())];
    let first = fixture.run_with(&["new", "Fix the links", "--json"], &service, "").expect_exit_code(0);
    assert_eq!((first.err.as_str(), first.json().get("sharesIdWith")), ("", None));
    let second = fixture.run_with(&["new", "Translate the guide", "--json"], &service, "").expect_exit_code(0);
    assert!(second.err.contains("returned the same id for two new jobs, job-7"), "{second:?}");
    assert_eq!(second.json()["sharesIdWith"], serde_json::json!(["Fix the links"]));
    let shown = fixture.run_with(&["show", "job-7"], &service, "").expect_exit_code(0).out;
    assert!(shown.contains("Fix the links") && shown.contains("Translate the guide"), "{shown}");
    let log = std::fs::read_to_string(fixture.data_folder().join("docdeck.log")).expect("a log");
    assert!(log.contains("the service returned the id job-7 for two new jobs"), "{log}");
}

#[test]
fn a_follow_up_over_the_limit_is_paused() {
    let fixture = CommandFixture::new(&["message=429-3600"]);
    let id = run_new(&fixture, &["Do [sim:seconds=6000]"]).expect_exit_code(0).out.trim_end().to_owned();
    let ran = fixture.run(&["follow", &id, "Later"]).expect_exit_code(5);
    assert!(ran.err.contains("The follow-up is paused in the queue"), "{}", ran.err);
    assert_eq!(deliveries(&fixture), [DeliveryKind::Accepted, DeliveryKind::Paused]);
}

#[test]
fn the_on_change_program_can_finish_before_docdeck_exits() {
    let fixture = CommandFixture::new(&[]);
    let (config, hook_output) = (fixture.home.path().join("config.toml"), fixture.home.path().join("told"));
    let script = format!("cat >{}.new && mv {0}.new {0}", hook_output.display());
    std::fs::write(&config, format!("on_change = [\"sh\", \"-c\", \"{script}\"]\n")).expect("written");
    let config = config.display().to_string();
    run_new(&fixture, &["Do [sim:seconds=60] [sim:fail]", "--wait", "--config", &config]).expect_exit_code(1);
    let job: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(hook_output).expect("told")).expect("JSON");
    assert_eq!(job["status"], "failed");
}

#[test]
fn the_shell_recipe_for_failed_jobs_sends_a_follow_up_to_each_failed_job_only() {
    let fixture = CommandFixture::new(&[]);
    run_new(&fixture, &["Well [sim:seconds=60] [sim:pr]", "--wait"]).expect_exit_code(0);
    for name in ["One", "Two"] {
        run_new(&fixture, &[&format!("{name} [sim:seconds=60] [sim:fail]"), "--wait"]).expect_exit_code(1);
    }
    let recipe = "$D jobs --status failed | cut -f1 | xargs -r -I{} $D follow {} 'Try again [sim:seconds=6000]'";
    let mut shell = std::process::Command::new("sh");
    let shell = shell.env_clear().envs(fixture.environment_variables()).env("D", env!("CARGO_BIN_EXE_docdeck"));
    let output = shell.args(["-c", recipe]).output().expect("a shell");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fixture.sim.carried_out_count(Operation::FollowUp), 2);
    let statuses = fixture.run(&["jobs", "--status", "active", "--json"]).json();
    assert_eq!(statuses["jobs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn an_accepted_prompt_whose_id_can_not_be_printed_is_reported_with_its_id() {
    let fixture = CommandFixture::new(&[]);
    let on_a_full_disk = |words: &[&str]| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_docdeck"));
        command.env_clear().envs(fixture.environment_variables()).current_dir(fixture.home.path()).args(words);
        let output = command.stdin(std::process::Stdio::null()).stdout(full).output().expect("it ran");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for words in [&["new", "Fix the links"][..], &["new", "Fix the menu", "--json"]] {
        let (code, printed) = on_a_full_disk(words);
        let (id, _) = fixture.sim.received_prompts().last().cloned().expect("a job");
        assert_eq!(code, Some(6), "{printed}");
        assert!(printed.contains(&format!("was accepted: {} (job {id})", words[1])), "{printed}");
        assert!(printed.contains("Don't send it again") && printed.contains("No space left"), "{printed}");
    }
    let (id, _) = fixture.sim.received_prompts().last().cloned().expect("a job");
    let (code, printed) = on_a_full_disk(&["follow", &id, "And the footer"]);
    assert_eq!(code, Some(6), "{printed}");
    assert!(printed.contains("The follow-up was accepted: ") && printed.contains(&id), "{printed}");
}
