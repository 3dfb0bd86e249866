//! Tests with a database that can't be written, because of a full disk, a read-only folder or file system, or a lock
//! held by another program. A prompt that can't be saved is not sent, and a response is saved as soon as it is
//! possible.

use crate::crash::{
    WAIT_TIMEOUT, assert_intact, database_path, journal_path, received_prompts, send_whole_queue, wait_until,
};
use crate::support::command::CommandFixture;
use crate::support::pty::{Pty, Setup};
#[cfg(target_os = "linux")]
use crate::support::small_disk::mount_option;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use rusqlite::Connection;
use std::process::{Child, Command, Output, Stdio};

#[test]
fn on_a_full_disk_no_prompt_is_saved_or_sent_until_there_is_space() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "before [sim:seconds=6000]"]).expect_exit_code(0);
    let size = std::fs::metadata(database_path(&fixture)).expect("a file").len();
    let large = fixture.home.path().join("large.md");
    std::fs::write(&large, "z".repeat(600_000)).expect("written");
    // Like a disk quota, this limit keeps every file from growing beyond the current size of the database.
    let limit = size.div_ceil(512);
    let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" new --file large.md");
    let mut shell = Command::new("/bin/sh");
    shell.env_clear().envs(fixture.environment_variables()).current_dir(fixture.home.path()).stdin(Stdio::null());
    let ran = shell.args(["-c", &script, env!("CARGO_BIN_EXE_docdeck")]).output().expect("it ran");
    let message = String::from_utf8_lossy(&ran.stderr);
    println!("on a full disk: {message}");
    assert_eq!(ran.status.code(), Some(2), "{message}");
    assert!(message.contains("nothing was saved or sent"), "{message}");
    assert_eq!(fixture.sim.requests(Operation::Create), 1, "{message}");
    assert_eq!(assert_intact(&fixture).len(), 1);
    fixture.run(&["new", "--file", "large.md"]).expect_exit_code(0);
    assert_eq!(assert_intact(&fixture).len(), 2);
}

#[test]
fn on_a_full_disk_an_export_to_stdout_works() {
    let fixture = CommandFixture::new(&[]);
    let texts: Vec<String> = (0..50).map(|n| format!("prompt {n} {}", "x".repeat(2_000))).collect();
    fixture.with_store(async |store, scope| {
        store.add_batch(scope, &texts, chrono::Utc::now()).await.expect("written");
    });
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" export";
    let mut shell = Command::new("/bin/sh");
    shell.env_clear().envs(fixture.environment_variables()).current_dir(fixture.home.path()).stdin(Stdio::null());
    let ran = shell.args(["-c", script, env!("CARGO_BIN_EXE_docdeck")]).output().expect("it ran");
    let message = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{message}");
    assert!(message.starts_with("Exported 50 jobs.\n"), "{message}");
    let lines = String::from_utf8(ran.stdout).expect("text");
    assert_eq!(lines.lines().count(), 52);
    assert!(lines.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
}

#[test]
fn in_a_read_only_folder_no_prompt_is_sent_but_jobs_can_be_listed() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "before [sim:seconds=6000]"]).expect_exit_code(0);
    // SQLite can't create its journal through this dangling link. Unlike a read-only folder, the link also stops root.
    std::fs::remove_file(journal_path(&fixture.data_folder())).expect("removed");
    std::os::unix::fs::symlink("/nonexistent/journal", journal_path(&fixture.data_folder())).expect("a link");
    let ran = fixture.run(&["new", "after"]).expect_exit_code(2);
    assert!(ran.err.contains("can't be written"), "{ran:?}");
    assert!(fixture.run(&["jobs"]).expect_exit_code(0).out.contains("before"));
    std::fs::remove_file(journal_path(&fixture.data_folder())).expect("removed");
    assert_eq!((assert_intact(&fixture).len(), fixture.sim.requests(Operation::Create)), (1, 1));
}

#[test]
fn while_the_database_is_locked_a_prompt_is_refused_and_not_sent() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "before [sim:seconds=6000]"]).expect_exit_code(0);
    let other = Connection::open(database_path(&fixture)).expect("opened");
    other.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    let ran = fixture.run(&["new", "locked out"]).expect_exit_code(2);
    assert!(ran.err.contains("locked"), "{ran:?}");
    other.execute_batch("ROLLBACK").expect("freed");
    assert_eq!((assert_intact(&fixture).len(), fixture.sim.requests(Operation::Create)), (1, 1));
}

#[test]
fn a_response_that_arrives_while_the_database_is_locked_is_recorded_after_the_unlock() {
    let fixture = CommandFixture::new(&["create=latency-500"]);
    fixture.run(&["jobs"]);
    let running = fixture.start(&["new", "answered in vain? [sim:seconds=6000]"]);
    wait_until("the request", || fixture.sim.requests(Operation::Create) == 1);
    let other = Connection::open(database_path(&fixture)).expect("opened");
    other.busy_timeout(WAIT_TIMEOUT).expect("set");
    other.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    wait_until("the answer", || fixture.sim.carried_out_count(Operation::Create) == 1);
    // The program prints this line when its lock timeout has expired.
    running.wait_for_stderr_line("locked");
    other.execute_batch("ROLLBACK").expect("freed");
    running.wait_for_exit().expect_exit_code(0);
    let deliveries = assert_intact(&fixture);
    assert_eq!(deliveries.values().collect::<Vec<_>>(), [&DeliveryKind::Accepted]);
    assert_eq!(fixture.sim.requests(Operation::Create), 1);
}

/// Starts a script with a small private file system at `$SMALL`, which contains the database. At the end, the database
/// is copied back. In the script, `full N` fills the file system except for N KiB, and `freed` frees it again.
#[cfg(target_os = "linux")]
fn start_on_small_disk(fixture: &CommandFixture, script: &str) -> Child {
    let small = fixture.home.path().join("small");
    std::fs::create_dir(&small).expect("a folder");
    // The script works in every POSIX shell.
    let begin = "mount -t tmpfs -o size=1m,mode=700 tmpfs \"$SMALL\" || exit 99
        cp \"$DOCDECK_DATA_DIR\"/docdeck.db \"$SMALL\" || exit 98
        kept=$DOCDECK_DATA_DIR
        export DOCDECK_DATA_DIR=\"$SMALL\"
        full() { dd if=/dev/zero of=\"$SMALL/filler\" bs=4k 2>/dev/null; truncate -s -\"$1\"k \"$SMALL/filler\"; }
        until_there() { n=0; while [ ! -e \"$1\" ]; do n=$((n + 1)); [ $n -gt 3000 ] && exit 97; sleep 0.01; done; }
        freed() { rm -f \"$SMALL/filler\"; }";
    let end = "freed; cp \"$SMALL\"/docdeck.db* \"$kept\"/";
    let mut command = Command::new("unshare");
    command
        .args([mount_option(), "sh", "-c", &format!("{begin}\n{script}\n{end}")])
        .env_clear()
        .envs(fixture.environment_variables());
    command
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("SMALL", small)
        .env("DOCDECK", env!("CARGO_BIN_EXE_docdeck"));
    command.current_dir(fixture.home.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("util-linux is there")
}

/// Exports the store, and writes `many.jsonl`: an export with 200 large copies of the job in the store.
#[cfg(target_os = "linux")]
fn write_large_export(fixture: &CommandFixture) {
    fixture.run(&["export", "all.jsonl"]).expect_exit_code(0);
    let all = std::fs::read_to_string(fixture.home.path().join("all.jsonl")).expect("read");
    let (head, job) = (all.lines().next().expect("a head"), all.lines().find(|line| line.contains("\"prompts\"")));
    let mut job: serde_json::Value = serde_json::from_str(job.expect("a job")).expect("JSON");
    let mut lines = vec![head.to_owned()];
    for n in 0..200 {
        job["id"] = serde_json::json!(format!("imported-{n}"));
        job["note"] = serde_json::json!("n".repeat(2_000));
        lines.push(job.to_string());
    }
    std::fs::write(fixture.home.path().join("many.jsonl"), lines.join("\n") + "\n").expect("written");
}

/// Whether this process may mount a file system. If not, prints that the test is skipped.
#[cfg(target_os = "linux")]
fn may_mount(fixture: &CommandFixture) -> bool {
    let tried = Command::new("unshare")
        .args([mount_option(), "mount", "-t", "tmpfs", "tmpfs"])
        .arg(fixture.home.path())
        .output();
    let may = tried.as_ref().is_ok_and(|output| output.status.success());
    if !may {
        println!(
            "skipped: nothing can be mounted here ({tried:?}); the tests with a file size limit still cover a full disk"
        );
    }
    may
}

#[cfg(target_os = "linux")]
fn wait_for_success(script: Child) -> Output {
    let output = script.wait_with_output().expect("it ended");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    output
}

#[test]
#[cfg(target_os = "linux")]
fn on_a_mounted_full_disk_nothing_is_sent_but_jobs_can_be_read() {
    let fixture = CommandFixture::new(&[]);
    if !may_mount(&fixture) {
        return;
    }
    fixture.run(&["new", "before [sim:seconds=6000]"]).expect_exit_code(0);
    write_large_export(&fixture);
    let script = "full 0; \"$DOCDECK\" export \"$SMALL/all.jsonl\"; echo \"$?\"
        \"$DOCDECK\" export | wc -l; \"$DOCDECK\" doctor --offline | grep -c 'full at '; freed
        for left in 0 8 16 28; do
            full $left
            \"$DOCDECK\" new \"$(head -c 3000 /dev/zero | tr '\\0' x)\"; echo \"$?\"
            \"$DOCDECK\" jobs --json >/dev/null; echo \"$?\"
            \"$DOCDECK\" import many.jsonl; echo \"$?\"
            freed
        done
        \"$DOCDECK\" new after >/dev/null; echo \"$?\"
        mount -o remount,bind,ro \"$SMALL\" || exit 96
        \"$DOCDECK\" new read-only; echo \"$?\"
        \"$DOCDECK\" jobs --json >/dev/null; echo \"$?\"
        mount -o remount,bind,rw \"$SMALL\"";
    let output = wait_for_success(start_on_small_disk(&fixture, script));
    let codes = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(codes, "2 3 1 2 0 2 2 0 2 2 0 2 2 0 2 0 2 0", "{output:?}");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(err.matches("The disk is full, so nothing was saved or sent").count(), 4, "{err}");
    assert_eq!(err.matches("is full, so nothing was changed: free some space").count(), 4, "{err}");
    assert!(err.contains("so nothing was exported: free some space"), "{err}");
    assert_eq!(err.matches("can't be written, so no request was sent").count(), 1, "{err}");
    assert_eq!((assert_intact(&fixture).len(), fixture.sim.requests(Operation::Create)), (2, 2));
}

#[test]
#[cfg(target_os = "linux")]
fn a_prompt_that_can_be_queued_but_not_marked_as_being_sent_is_paused() {
    let fixture = CommandFixture::new(&[]);
    if !may_mount(&fixture) {
        return;
    }
    fixture.run(&["new", "before [sim:seconds=6000]"]).expect_exit_code(0);
    // At one of these sizes, the prompt can be queued but not marked as being sent. Which one depends on the pages that
    // a prompt takes.
    let script = "for left in 32 36 40 44 48 52 64; do
            full $left
            \"$DOCDECK\" new \"$(head -c 3000 /dev/zero | tr '\\0' x)\" >/dev/null; echo \"$?\"
            freed
        done";
    let output = wait_for_success(start_on_small_disk(&fixture, script));
    let codes = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(codes.split(' ').all(|code| code == "0" || code == "2") && codes.ends_with('0'), "{output:?}");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("could not be sent, because the send could not be recorded on disk first."), "{err}");
    assert!(err.contains("Nothing was sent. The prompt is paused in the queue"), "{err}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_response_that_arrives_while_the_disk_is_full_is_recorded_once_there_is_space() {
    let fixture = CommandFixture::new(&["create=latency-1000"]);
    if !may_mount(&fixture) {
        return;
    }
    // This call creates the database.
    fixture.with_store(async |_, _| ());
    let script = "\"$DOCDECK\" new 'waits for room [sim:seconds=6000]' & first=$!
        until_there sent; full 0; until_there answered
        sleep 0.3; freed; wait $first; echo \"$?\"
        rm sent answered; touch ready
        \"$DOCDECK\" new 'killed without room [sim:seconds=6000]' & second=$!
        until_there sent; full 0; until_there answered
        sleep 0.3; kill -9 $second; wait $second; echo \"$?\"";
    let script = start_on_small_disk(&fixture, script);
    let is_there = |name: &str| fixture.home.path().join(name).exists();
    for n in [1, 2] {
        let signal = |name: &str| std::fs::write(fixture.home.path().join(name), "").expect("written");
        wait_until("the request", || fixture.sim.requests(Operation::Create) == n);
        signal("sent");
        wait_until("the answer", || fixture.sim.carried_out_count(Operation::Create) == n);
        signal("answered");
        wait_until("the next one", || n == 2 || is_there("ready"));
    }
    let output = wait_for_success(script);
    let codes = String::from_utf8_lossy(&output.stdout).lines().last().map(str::to_owned);
    assert_eq!(codes.as_deref(), Some("137"), "{output:?}");
    send_whole_queue(&fixture);
    let deliveries = assert_intact(&fixture);
    assert_eq!(deliveries.get("waits for room [sim:seconds=6000]"), Some(&DeliveryKind::Accepted), "{output:?}");
    assert_eq!(
        deliveries.get("killed without room [sim:seconds=6000]"),
        Some(&DeliveryKind::Unconfirmed),
        "{output:?}"
    );
    assert_eq!((received_prompts(&fixture).len(), fixture.sim.requests(Operation::Create)), (2, 2));
}

/// Starts the dashboard on the database of this fixture.
pub(crate) fn start_dashboard(fixture: &CommandFixture) -> Pty {
    let setup =
        fixture.environment_variables().iter().fold(Setup::dashboard(), |setup, (name, value)| setup.with(name, value));
    Pty::spawn(setup)
}

#[test]
fn while_the_database_is_locked_the_dashboard_responds_and_no_typed_text_is_lost() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "before [sim:seconds=6000]"]).expect_exit_code(0);
    let mut pty = start_dashboard(&fixture);
    pty.wait_for_text("before");
    // The editor opens only after the dashboard has read the database, which must happen before the lock.
    pty.send("n");
    pty.wait_for_text("New job");
    pty.send("\x1b");
    pty.wait_for("the list", |screen| !screen.contents().contains("New job"));
    let other = Connection::open(database_path(&fixture)).expect("opened");
    other.busy_timeout(WAIT_TIMEOUT).expect("set");
    other.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    pty.send("?");
    pty.wait_for_text("Help: ");
    pty.send("\x1b");
    pty.wait_for("the list", |screen| !screen.contents().contains("Help: "));
    pty.send("nwritten meanwhile [sim:seconds=6000]\x13");
    // The dashboard shows this after its lock timeout, and the text stays in the editor.
    pty.wait_for_text("Not sent: ");
    assert!(pty.screen().contents().contains("written meanwhile"), "{}", pty.screen().contents());
    other.execute_batch("ROLLBACK").expect("freed");
    pty.send(" or later\x13");
    pty.wait_for_text("Accepted: written meanwhile");
    pty.send("\x03");
    assert_eq!(pty.wait_for_end(), 0);
    let deliveries = assert_intact(&fixture);
    assert_eq!(
        deliveries.get("written meanwhile [sim:seconds=6000] or later"),
        Some(&DeliveryKind::Accepted),
        "{deliveries:?}"
    );
    assert_eq!((received_prompts(&fixture).len(), fixture.sim.requests(Operation::Create)), (2, 2));
}

/// Runs a script on a small disk, and creates the files `sent` and `answered` (for which the script waits) when the
/// service has received a request and responded to it. Returns the output of the script.
#[cfg(target_os = "linux")]
fn run_on_a_small_disk(fixture: &CommandFixture, operation: Operation, script: &str) -> Output {
    let (sent, answered) = (fixture.sim.requests(operation) + 1, fixture.sim.carried_out_count(operation) + 1);
    let script = start_on_small_disk(fixture, script);
    let signal = |name: &str| std::fs::write(fixture.home.path().join(name), "").expect("written");
    wait_until("the request", || fixture.sim.requests(operation) == sent);
    signal("sent");
    wait_until("the answer", || fixture.sim.carried_out_count(operation) == answered);
    signal("answered");
    wait_for_success(script)
}

#[test]
#[cfg(target_os = "linux")]
fn an_accepted_prompt_that_a_full_disk_cannot_record_exits_with_6_and_its_id_at_the_timeout() {
    let fixture = CommandFixture::new(&["create=latency-700", "message=latency-700"]);
    if !may_mount(&fixture) {
        return;
    }
    fixture.with_store(async |_, _| ());
    let script = "\"$DOCDECK\" new 'costs a request [sim:seconds=6000]' --timeout 4 --json & first=$!
        until_there sent; full 0; wait $first; echo; echo \"$?\"";
    let output = run_on_a_small_disk(&fixture, Operation::Create, script);
    let (id, _) = fixture.sim.received_prompts().first().cloned().expect("a job");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let reason = "The outcome can't be recorded: the disk is full. Free some space. Don't send the prompt again.";
    assert!(err.contains(&format!("docdeck: Job {id} was created. {reason}")), "{err}");
    assert!(!err.contains("nothing was saved or sent"), "{err}");
    let json: serde_json::Value = serde_json::from_str(out.lines().next().expect("JSON")).expect("JSON");
    assert_eq!((json["exitCode"].as_i64(), json["id"].as_str()), (Some(6), Some(id.as_str())), "{json}");
    assert_eq!((json["recorded"].as_bool(), json["delivery"].as_str()), (Some(false), Some("accepted")));
    send_whole_queue(&fixture);
    let deliveries = assert_intact(&fixture);
    assert_eq!(deliveries.get("costs a request [sim:seconds=6000]"), Some(&DeliveryKind::Unconfirmed), "{err}");
    assert_eq!(fixture.sim.requests(Operation::Create), 1);
}

#[test]
#[cfg(target_os = "linux")]
fn the_first_ctrl_c_continues_to_record_a_response_and_the_second_one_exits_with_6() {
    let fixture = CommandFixture::new(&[]);
    if !may_mount(&fixture) {
        return;
    }
    let id = fixture.run(&["new", "before [sim:seconds=6000]"]).expect_exit_code(0).out.trim_end().to_owned();
    fixture.set_faults(&["message=latency-700"]);
    let script = format!(
        "\"$DOCDECK\" follow {id} 'and more' 2>err & first=$!
        said() {{ n=0; until grep -q \"$1\" err; do n=$((n + 1)); [ $n -gt 3000 ] && exit 95; sleep 0.01; done; }}
        until_there sent; full 0; said \"can't be recorded\"
        kill -INT $first; said 'Still trying to record the outcome'
        kill -INT $first; wait $first; echo \"$?\"; cat err"
    );
    let output = run_on_a_small_disk(&fixture, Operation::FollowUp, &script);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.starts_with("6\n"), "{output:?}");
    let sentence = format!("The follow-up to {id} was accepted. The outcome can't be recorded: the disk is full.");
    assert!(out.contains(&format!("docdeck: {sentence} Free some space. Don't send the prompt again.")), "{out}");
    assert_eq!((assert_intact(&fixture).len(), fixture.sim.requests(Operation::FollowUp)), (2, 1));
}

#[test]
#[cfg(target_os = "linux")]
fn sigterm_exits_with_6_at_once_whether_the_response_is_missing_or_cannot_be_recorded() {
    for has_response in [true, false] {
        let fixture = CommandFixture::new(&["create=latency-700"]);
        if !may_mount(&fixture) {
            return;
        }
        fixture.with_store(async |_, _| ());
        let until = if has_response { "said \"can't be recorded\"" } else { "sleep 0.1" };
        let script = format!(
            "\"$DOCDECK\" new 'and more [sim:seconds=6000]' 2>err & first=$!
            said() {{ n=0; until grep -q \"$1\" err; do n=$((n + 1)); [ $n -gt 3000 ] && exit 95; sleep 0.01; done; }}
            until_there sent; full 0; {until}
            kill -TERM $first; wait $first; echo \"$?\"; cat err"
        );
        let output = run_on_a_small_disk(&fixture, Operation::Create, &script);
        let (id, _) = fixture.sim.received_prompts().first().cloned().expect("a job");
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(out.starts_with("6\n") && out.contains(&format!("docdeck: Job {id} was created")), "{output:?}");
        assert!(!out.contains("again to stop"), "{out}");
    }
}

/// Starts the dashboard on a small private disk. Also returns the path of a file that is not there yet: writing to it
/// fills this disk.
#[cfg(target_os = "linux")]
fn start_dashboard_on_small_disk(fixture: &CommandFixture) -> (Pty, std::path::PathBuf) {
    let small = fixture.home.path().join("small");
    std::fs::create_dir(&small).expect("a folder");
    let mount = "mount -t tmpfs -o size=600k,mode=700 tmpfs \"$DOCDECK_DATA_DIR\" || exit 99; exec \"$0\" \"$@\"";
    let setup =
        fixture.environment_variables().iter().fold(Setup::dashboard(), |setup, (name, value)| setup.with(name, value));
    let setup = setup.with("DOCDECK_DATA_DIR", &small.display().to_string());
    let pty = Pty::spawn(setup.run_under(&["unshare", mount_option(), "sh", "-c", mount]));
    let seen = format!("/proc/{}/root{}/filler", pty.process(), small.display());
    (pty, seen.into())
}

#[cfg(target_os = "linux")]
fn fill(file: &std::path::Path) {
    use std::io::Write as _;
    let mut file = std::fs::File::create(file).expect("a file");
    while file.write_all(&[0; 512]).is_ok() {}
}

/// Sends a prompt from a dashboard on a small disk, and fills the disk before the response arrives. Returns the
/// dashboard, which shows that the response can't be recorded, and the path of the file that fills the disk, or `None`
/// if the tests may not mount a disk.
#[cfg(target_os = "linux")]
fn fill_disk_while_sending(fixture: &CommandFixture) -> Option<(Pty, std::path::PathBuf)> {
    if !may_mount(fixture) {
        return None;
    }
    let (mut pty, filler) = start_dashboard_on_small_disk(fixture);
    pty.wait_for_text("No jobs");
    pty.send("nDo it [sim:seconds=6000]\x13");
    wait_until("the request", || fixture.sim.requests(Operation::Create) == 1);
    fill(&filler);
    pty.wait_for_text("can't be recorded:");
    Some((pty, filler))
}

#[test]
#[cfg(target_os = "linux")]
fn the_dashboard_shows_an_accepted_prompt_until_the_full_disk_has_recorded_it() {
    let fixture = CommandFixture::new(&["create=latency-1000"]);
    let Some((mut pty, filler)) = fill_disk_while_sending(&fixture) else { return };
    let (id, _) = fixture.sim.received_prompts().first().cloned().expect("a job");
    let text = pty.screen().contents();
    assert!(text.contains(&format!("Job {id} was created")) && text.contains("Don't send the prompt again"), "{text}");
    assert!(!text.contains("nothing was saved or sent"), "{text}");
    // Opening the job also writes to the full disk. The error about that must not hide the alert that the
    // prompt was accepted for longer than one key press.
    pty.send("\r");
    pty.wait_for_text("so this was not saved");
    pty.send("j");
    pty.wait_for_text(&format!("! Job {}", id.get(..8).expect("an id")));
    assert!(!pty.screen().contents().contains("nothing was saved or sent"));
    pty.send("\x1b?");
    pty.wait_for_text("Don't send the prompt again");
    pty.send("\x1b");
    std::fs::remove_file(&filler).expect("removed");
    let recorded = format!("Recorded now: {id}");
    // The error about a check of the job, which was written while the disk was full, may arrive last and be shown
    // instead.
    pty.wait_for("the end of the alert", |screen| {
        let text = screen.contents();
        let is_over = text.contains(&recorded) || text.contains("so this was not saved");
        is_over && !text.contains("! Job ") && !text.contains("Don't send the prompt again")
    });
    pty.quit();
    assert_eq!(fixture.sim.requests(Operation::Create), 1);
}

#[test]
#[cfg(target_os = "linux")]
fn quitting_before_an_accepted_prompt_is_recorded_prints_the_id_and_exits_with_6() {
    let fixture = CommandFixture::new(&["create=latency-1000"]);
    let Some((mut pty, _)) = fill_disk_while_sending(&fixture) else { return };
    pty.send("q");
    pty.wait_for("the shell", |screen| !screen.alternate_screen() && screen.contents().contains("Still trying"));
    pty.send("\x03");
    assert_eq!(pty.wait_for_end(), 6);
    let (id, _) = fixture.sim.received_prompts().first().cloned().expect("a job");
    let text = pty.screen().contents();
    assert!(text.contains(&format!("Job {id} was created")), "{text}");
}
