//! `new` and `follow`: on disk before it is sent, sent once, and an exit code for every way in which it can end.

use crate::command_fixture::{CommandFixture, Ran};
use crate::http;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{DeliveryKind, Prompt};
use rustix::process::Signal;

/// All prompts of the record, oldest first.
fn prompts(world: &CommandFixture) -> Vec<Prompt> {
    world.store(async |store, scope| {
        let mut all = Vec::new();
        for row in store.jobs(scope).await.expect("rows") {
            all.extend(store.thread(row.key).await.expect("a thread").prompts);
        }
        all
    })
}

fn deliveries(world: &CommandFixture) -> Vec<DeliveryKind> {
    prompts(world).iter().map(|prompt| prompt.delivery.kind()).collect()
}

fn new(world: &CommandFixture, words: &[&str]) -> Ran {
    world.run(&[&["new"], words].concat())
}

#[test]
fn a_prompt_becomes_a_job_and_piped_its_id_is_all_that_is_written() {
    let world = CommandFixture::new(&[]);
    let ran = new(&world, &["Fix the links [sim:seconds=6000]"]).ends(0);
    let (id, text) = world.sim.prompts().into_iter().next().expect("received");
    assert_eq!((ran.out.trim_end(), text.as_str()), (id.as_str(), "Fix the links [sim:seconds=6000]"));
    assert_eq!(ran.err, "");
    assert_eq!(deliveries(&world), [DeliveryKind::Accepted]);
    let json = new(&world, &["Another [sim:seconds=6000]", "--json"]).ends(0).json();
    assert_eq!((json["status"].as_str(), json["delivery"].as_str()), (Some("active"), Some("accepted")));
    assert_eq!((json["title"].as_str(), json["error"].as_str()), (Some("Another [sim:seconds=6000]"), None));
}

#[test]
fn a_prompt_is_read_from_stdin_or_a_file_as_it_stands_there() {
    let world = CommandFixture::new(&[]);
    world.run_with(&["new", "-"], &[], "\u{feff}One\r\ntwo\n\n").ends(0);
    let file = world.home.path().join("prompt.md");
    std::fs::write(&file, "From a file\n").expect("written");
    new(&world, &["--file", "prompt.md"]).ends(0);
    let sent: Vec<String> = world.sim.prompts().into_iter().map(|(_, text)| text).collect();
    assert_eq!(sent, ["One\ntwo", "From a file"]);
}

#[test]
fn what_is_no_prompt_is_said_and_ends_with_2_before_anything_is_sent() {
    let world = CommandFixture::new(&[]);
    let large = "x".repeat((1 << 20) + 1);
    let cases: [(&[&str], &[u8], &str); 7] = [
        (&["new"], b"", "There is no prompt: give it as an argument, with --file, or as `-`"),
        (&["new", " \u{200b}"], b"", "The prompt is blank"),
        (&["new", "-"], b"", "The prompt is blank"),
        (&["new", "-"], b"\xff\xfe", "stdin is not UTF-8 text"),
        (&["new", "-"], large.as_bytes(), "stdin holds more than 1 MiB"),
        (&["new", "--file", "none.md"], b"", "There is no file none.md"),
        (&["new", "--file", "."], b"", ". can't be read"),
    ];
    for (words, stdin, sentence) in cases {
        let ran = world.run_with(words, &[], stdin).ends(2);
        assert!(ran.err.contains(sentence) && ran.out.is_empty(), "{words:?}: {ran:?}");
    }
    new(&world, &["a", "--file", "b"]).ends(2);
    assert_eq!(world.sim.requests(Operation::Create), 0);
}

#[test]
fn with_wait_the_exit_code_is_the_jobs() {
    let world = CommandFixture::new(&[]);
    let ran = new(&world, &["Do [sim:seconds=60] [sim:pr]", "--wait", "--json"]).ends(0);
    let json = ran.json();
    assert_eq!(json["status"], "completed");
    assert!(json["prLink"].as_str().is_some_and(|link| link.starts_with("http")), "{json}");
    for part in ["prompt on its way", "accepted: Do", "completed, pull request http"] {
        assert_eq!(ran.err.matches(part).count(), usize::from(part != "prompt on its way"), "{part}: {}", ran.err);
    }
    let failed = new(&world, &["Do [sim:seconds=60] [sim:fail]", "--wait", "--json"]).ends(1).json();
    assert_eq!((failed["status"].as_str(), failed["error"].as_str()), (Some("failed"), None));
    let archived = new(&world, &["Do [sim:seconds=60] [sim:archive]", "--wait", "--json"]).ends(0).json();
    assert_eq!(archived["status"], "archived");
}

#[test]
fn a_lost_answer_is_unconfirmed_ends_with_6_and_is_not_sent_again() {
    for fault in ["create=lost", "create=500-done", "create=malformed"] {
        let world = CommandFixture::new(&[fault]);
        let ran = new(&world, &["Once only", "--json"]).ends(6);
        assert!(ran.err.contains("A script must not either") && ran.err.contains("`!` on the prompt"), "{}", ran.err);
        assert_eq!(ran.err.matches("send it again by itself").count(), 1, "{}", ran.err);
        let json = ran.json();
        assert_eq!((json["delivery"].as_str(), json["exitCode"].as_i64()), (Some("unconfirmed"), Some(6)));
        assert_eq!((json["id"].as_str(), json["prompt"].as_str()), (None, Some("Once only")));
        assert_eq!(deliveries(&world), [DeliveryKind::Unconfirmed]);
        assert_eq!(world.sim.requests(Operation::Create), 1, "{fault}");
    }
}

#[test]
fn a_refused_key_ends_with_3_and_a_refused_prompt_with_4() {
    let world = CommandFixture::new(&[]);
    let ran = world.run_with(&["new", "Fix"], &[("DOCDECK_API_KEY", world.sim.read_only_key())], "").ends(3);
    assert!(ran.err.contains("The key may not do this (403") && !ran.err.contains("mint_"), "{}", ran.err);
    world.run_with(&["new", "Fix"], &[("DOCDECK_API_KEY", "mint_wrong")], "").ends(3);
    world.faults(&["create=400"]);
    let json = new(&world, &["Fix", "--json"]).ends(4).json();
    assert_eq!(json["delivery"], "rejected");
    assert_eq!(deliveries(&world), [DeliveryKind::Rejected; 3], "nothing typed is lost");
}

#[test]
fn a_service_that_is_not_there_ends_with_4_and_the_prompt_is_kept_as_not_sent() {
    let world = CommandFixture::new(&[]);
    // A port that nobody listens on any more.
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a port").port();
    let url = format!("http://127.0.0.1:{port}");
    let ran = world.run_with(&["new", "Fix", "--json"], &[("DOCDECK_BASE_URL", &url)], "").ends(4);
    assert_eq!(ran.json()["delivery"], "not sent");
    assert!(ran.err.contains("is kept as not sent"), "{}", ran.err);
}

#[test]
fn when_the_limit_is_used_up_it_ends_with_5_and_the_prompt_waits_paused() {
    let world = CommandFixture::new(&["create=429-1"]);
    let ran = new(&world, &["Later", "--json"]).ends(5);
    for part in ["Hourly limit reached; the next request is free at", "kept in the queue, paused", "With --wait"] {
        assert!(ran.err.contains(part), "{part:?} in {}", ran.err);
    }
    assert_eq!(ran.json()["delivery"], "paused");
    assert_eq!(deliveries(&world), [DeliveryKind::Paused]);
    // One that sends all that is queued, once the limit is over, leaves it alone.
    world.faults(&[]);
    world.run_with(&["new", "--batch", "-"], &[], "Another [sim:seconds=6000]").ends(0);
    assert_eq!(deliveries(&world), [DeliveryKind::Paused, DeliveryKind::Accepted]);
    assert_eq!(world.sim.carried_out(Operation::Create), 1);
}

#[test]
fn with_wait_it_waits_for_the_limit() {
    let world = CommandFixture::new(&["create=429-2"]);
    let running = world.start(&["new", "Later [sim:seconds=60] [sim:fail]", "--wait"]);
    running.err_line("hourly limit reached; sending at");
    world.faults(&[]);
    let ran = running.end().ends(1);
    assert_eq!(world.sim.carried_out(Operation::Create), 1, "{ran:?}");
}

#[test]
fn a_wait_for_the_limit_that_times_out_ends_with_124_and_leaves_the_prompt_paused() {
    let world = CommandFixture::new(&["create=429-3600"]);
    let ran = new(&world, &["Later", "--wait", "--timeout", "1", "--json"]).ends(124);
    assert!(ran.err.contains("Timed out. Hourly limit reached") && ran.err.contains("paused"), "{}", ran.err);
    assert_eq!((ran.json()["delivery"].as_str(), ran.json()["exitCode"].as_i64()), (Some("paused"), Some(124)));
    assert_eq!(deliveries(&world), [DeliveryKind::Paused]);
}

#[test]
fn a_wait_for_the_job_that_times_out_ends_with_124_and_the_job_goes_on() {
    let world = CommandFixture::new(&[]);
    let ran = new(&world, &["Long [sim:seconds=60000]", "--wait", "--timeout", "1", "--json"]).ends(124);
    assert!(ran.err.contains("`docdeck wait "), "{}", ran.err);
    assert_eq!((ran.json()["status"].as_str(), ran.json()["exitCode"].as_i64()), (Some("active"), Some(124)));
}

#[test]
fn a_signal_while_the_job_works_leaves_it_alone() {
    let world = CommandFixture::new(&[]);
    let running = world.start(&["new", "Long [sim:seconds=60000]", "--wait"]);
    running.err_line("accepted: Long");
    running.signal(Signal::INT);
    let ran = running.end().ends(130);
    assert!(ran.err.contains("goes on at the service"), "{}", ran.err);
}

#[test]
fn a_signal_while_the_limit_is_waited_for_pauses_the_prompt() {
    let world = CommandFixture::new(&["create=429-3600"]);
    let running = world.start(&["new", "Later", "--wait"]);
    running.err_line("sending at");
    running.signal(Signal::TERM);
    let ran = running.end().ends(130);
    assert!(ran.err.contains("Interrupted.") && ran.err.contains("paused"), "{}", ran.err);
    assert_eq!(deliveries(&world), [DeliveryKind::Paused]);
}

/// Waits until the service has got the prompt, whose answer is late.
fn is_there(world: &CommandFixture, operation: Operation) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while world.sim.requests(operation) == 0 {
        assert!(std::time::Instant::now() < end, "no request came");
        std::thread::yield_now();
    }
}

#[test]
fn a_signal_while_the_answer_is_awaited_takes_the_answer_in_when_it_comes() {
    let world = CommandFixture::new(&["create=latency-700"]);
    let running = world.start(&["new", "Slowly [sim:seconds=6000]"]);
    is_there(&world, Operation::Create);
    running.signal(Signal::INT);
    let ran = running.end().ends(130);
    assert!(ran.err.contains("answer is waited for a moment") && ran.err.contains("was accepted"), "{}", ran.err);
    assert_eq!(deliveries(&world), [DeliveryKind::Accepted]);
}

#[test]
fn a_second_signal_leaves_it_unconfirmed_and_the_record_says_so_at_once() {
    let world = CommandFixture::new(&["create=latency-60000"]);
    let running = world.start(&["new", "Never"]);
    is_there(&world, Operation::Create);
    running.signal(Signal::INT);
    running.err_line("answer is waited for a moment");
    running.signal(Signal::INT);
    let ran = running.end().ends(130);
    assert!(ran.err.contains("the prompt is unconfirmed"), "{}", ran.err);
    assert_eq!(deliveries(&world), [DeliveryKind::Unconfirmed]);
}

#[test]
fn a_store_that_can_not_be_written_refuses_before_anything_is_sent() {
    let world = CommandFixture::new(&[]);
    new(&world, &["First [sim:seconds=6000]"]).ends(0);
    // A journal that can't be made, as in a folder that can't be written; works for root as well.
    let journal = world.data().join("docdeck.db-journal");
    std::fs::remove_file(&journal).expect("the empty one of the last transaction");
    std::os::unix::fs::symlink("/nonexistent/journal", journal).expect("a link");
    let ran = new(&world, &["Second", "--json"]).ends(2);
    assert!(ran.err.contains("can't be written, so nothing could be kept and no request was made"), "{}", ran.err);
    assert_eq!(ran.json()["exitCode"], 2);
    assert_eq!(world.sim.requests(Operation::Create), 1);
}

#[test]
fn a_follow_up_goes_to_the_job_that_the_beginning_of_an_id_means() {
    let world = CommandFixture::new(&[]);
    let id = new(&world, &["Do [sim:seconds=60] [sim:pr]", "--wait"]).ends(0).out.trim_end().to_owned();
    let beginning: String = id.chars().take(id.len() - 2).collect();
    let ran = world.run(&["follow", &beginning, "And [sim:seconds=60] [sim:fail]", "--wait", "--json"]).ends(1);
    let json = ran.json();
    assert_eq!((json["id"].as_str(), json["status"].as_str()), (Some(id.as_str()), Some("failed")));
    assert_eq!(json["followUp"]["delivery"], "accepted");
    assert_eq!(json["followUp"]["prompt"], "And [sim:seconds=60] [sim:fail]");
    assert_eq!(world.sim.carried_out(Operation::FollowUp), 1);
}

#[test]
fn a_follow_up_to_an_unknown_job_names_track_and_ends_with_4() {
    let world = CommandFixture::new(&[]);
    let ran = world.run(&["follow", "nope", "And"]).ends(4);
    assert!(ran.err.contains("`docdeck track nope`"), "{}", ran.err);
}

#[test]
fn a_follow_up_behind_one_that_holds_is_not_sent_and_says_which() {
    let world = CommandFixture::new(&["message=lost"]);
    let id = new(&world, &["Do [sim:seconds=6000]"]).ends(0).out.trim_end().to_owned();
    let ran = world.run(&["follow", &id, "First", "--json"]).ends(6);
    assert_eq!(ran.json()["followUp"]["delivery"], "unconfirmed");
    world.faults(&[]);
    let ran = world.run(&["follow", &id, "Second"]).ends(2);
    assert!(ran.err.contains("an earlier prompt of job") && ran.err.contains("is unconfirmed"), "{}", ran.err);
    assert_eq!(world.sim.requests(Operation::FollowUp), 1);
    assert_eq!(deliveries(&world).len(), 2, "nothing was queued");
}

#[test]
fn a_rejected_follow_up_is_discarded_for_the_next_one_and_stays_in_the_thread() {
    let world = CommandFixture::new(&["message=400"]);
    let id = new(&world, &["Do [sim:seconds=6000]"]).ends(0).out.trim_end().to_owned();
    world.run(&["follow", &id, "Bad wording"]).ends(4);
    assert_eq!(deliveries(&world), [DeliveryKind::Accepted, DeliveryKind::Rejected]);
    world.faults(&[]);
    let ran = world.run(&["follow", &id, "Better wording", "--json"]).ends(0);
    assert!(ran.err.contains("Discarded the earlier prompt “Bad wording”, which was rejected."), "{ran:?}");
    let json = ran.json();
    assert_eq!(
        (json["followUp"]["delivery"].as_str(), json["delivery"].as_str()),
        (Some("accepted"), Some("accepted"))
    );
    assert_eq!(json["discarded"], serde_json::json!([{ "prompt": "Bad wording", "delivery": "rejected" }]));
    assert_eq!(deliveries(&world), [DeliveryKind::Accepted, DeliveryKind::Discarded, DeliveryKind::Accepted]);
    assert!(world.run(&["show", &id]).ends(0).out.contains("Bad wording"));
    assert_eq!(world.sim.carried_out(Operation::FollowUp), 1);
}

#[test]
fn two_new_jobs_with_the_same_id_are_reported_and_show_both_prompts() {
    let world = CommandFixture::new(&[]);
    let url = http::answering(r#"{"id":"job-7","status":"completed"}"#);
    let service = [("DOCDECK_BASE_URL", url.as_str())];
    let first = world.run_with(&["new", "Fix the links", "--json"], &service, "").ends(0);
    assert_eq!((first.err.as_str(), first.json().get("sharesIdWith")), ("", None));
    let second = world.run_with(&["new", "Translate the guide", "--json"], &service, "").ends(0);
    assert!(second.err.contains("answered two new jobs with the same id, job-7"), "{second:?}");
    assert_eq!(second.json()["sharesIdWith"], serde_json::json!(["Fix the links"]));
    let shown = world.run_with(&["show", "job-7"], &service, "").ends(0).out;
    assert!(shown.contains("Fix the links") && shown.contains("Translate the guide"), "{shown}");
    let log = std::fs::read_to_string(world.data().join("docdeck.log")).expect("a log");
    assert!(log.contains("the service gave the id job-7 to two new jobs"), "{log}");
}

#[test]
fn a_follow_up_beyond_the_limit_is_paused_alone() {
    let world = CommandFixture::new(&["message=429-3600"]);
    let id = new(&world, &["Do [sim:seconds=6000]"]).ends(0).out.trim_end().to_owned();
    let ran = world.run(&["follow", &id, "Later"]).ends(5);
    assert!(ran.err.contains("The follow-up is kept in the queue, paused"), "{}", ran.err);
    assert_eq!(deliveries(&world), [DeliveryKind::Accepted, DeliveryKind::Paused]);
}

#[test]
fn the_users_program_for_changes_is_run_to_its_end() {
    let world = CommandFixture::new(&[]);
    let (config, told) = (world.home.path().join("config.toml"), world.home.path().join("told"));
    let script = format!("cat >{}.new && mv {0}.new {0}", told.display());
    std::fs::write(&config, format!("on_change = [\"sh\", \"-c\", \"{script}\"]\n")).expect("written");
    let config = config.display().to_string();
    new(&world, &["Do [sim:seconds=60] [sim:fail]", "--wait", "--config", &config]).ends(1);
    let job: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(told).expect("told")).expect("JSON");
    assert_eq!(job["status"], "failed");
}

#[test]
fn the_recipe_for_all_that_failed_follows_up_on_each_of_them_and_on_no_other() {
    let world = CommandFixture::new(&[]);
    new(&world, &["Well [sim:seconds=60] [sim:pr]", "--wait"]).ends(0);
    for name in ["One", "Two"] {
        new(&world, &[&format!("{name} [sim:seconds=60] [sim:fail]"), "--wait"]).ends(1);
    }
    let recipe = "$D jobs --status failed | cut -f1 | xargs -r -I{} $D follow {} 'Try again [sim:seconds=6000]'";
    let mut shell = std::process::Command::new("sh");
    let shell = shell.env_clear().envs(world.variables()).env("D", env!("CARGO_BIN_EXE_docdeck"));
    let output = shell.args(["-c", recipe]).output().expect("a shell");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(world.sim.carried_out(Operation::FollowUp), 2);
    let statuses = world.run(&["jobs", "--status", "active", "--json"]).json();
    assert_eq!(statuses["jobs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn an_accepted_prompt_whose_id_can_not_be_written_is_said_with_its_id_and_not_to_be_sent_again() {
    let world = CommandFixture::new(&[]);
    let on_a_full_disk = |words: &[&str]| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_docdeck"));
        command.env_clear().envs(world.variables()).current_dir(world.home.path()).args(words);
        let output = command.stdin(std::process::Stdio::null()).stdout(full).output().expect("it ran");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for words in [&["new", "Fix the links"][..], &["new", "Fix the menu", "--json"]] {
        let (code, said) = on_a_full_disk(words);
        let (id, _) = world.sim.prompts().last().cloned().expect("a job");
        assert_eq!(code, Some(6), "{said}");
        assert!(said.contains(&format!("was accepted: {} (job {id})", words[1])), "{said}");
        assert!(said.contains("must not be sent again") && said.contains("No space left"), "{said}");
    }
    let (id, _) = world.sim.prompts().last().cloned().expect("a job");
    let (code, said) = on_a_full_disk(&["follow", &id, "And the footer"]);
    assert_eq!(code, Some(6), "{said}");
    assert!(said.contains("The follow-up was accepted: ") && said.contains(&id), "{said}");
}
