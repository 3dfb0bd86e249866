//! Checks the cost of moving the selection against the ceilings in `tests/guard/ceilings.toml`: bytes sent and, for a
//! release build (`DOCDECK_PROGRAM`), instructions counted by callgrind and the size of the binary. Also counts how
//! often an idle dashboard wakes up. Unlike times, these values hardly differ between machines.

use crate::pty::{Pty, Setup, program};
use crate::record::{ENVIRONMENT, backup_of_jobs};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const SIZE: (u16, u16) = (160, 48);
const JOBS: u32 = 10_000;
/// Number of moves of the selection whose bytes are measured. Their median must be below the ceiling.
const MOVES: usize = 20;
/// Time for which an idle dashboard must send nothing.
const IDLE_TIME: Duration = Duration::from_secs(5);
/// Largest number of measurements. One is not enough if a tip or notice ends during it, or work from the start still
/// runs.
const MAX_IDLE_TRIES: usize = 6;
/// Number of key presses in the baseline run, and in the measured run.
const KEYS: (u64, u64) = (10, 70);

fn ceiling(table: &str, name: &str) -> u64 {
    let all: toml::Table = include_str!("../guard/ceilings.toml").parse().expect("TOML");
    let value = all.get(table).and_then(|table| table.get(name)).and_then(toml::Value::as_integer);
    value.and_then(|value| u64::try_from(value).ok()).expect("a ceiling")
}

/// Prints the measured value and fails if it is over its ceiling.
fn assert_below_ceiling(what: &str, measured: u64, table: &str, name: &str) {
    let ceiling = ceiling(table, name);
    println!("{what}: {measured}, at most {ceiling}");
    assert!(measured <= ceiling, "{what}: {measured}; tests/guard/ceilings.toml allows {ceiling}");
}

/// Prepares a dashboard with many finished jobs. Nothing answers at its base URL, and it sends no requests.
fn with_many_jobs() -> Setup {
    let setup = ENVIRONMENT.into_iter().fold(Setup::dashboard(), |setup, (name, value)| setup.with(name, value));
    let import = Command::new(program())
        .args(["import", "-"])
        .env_clear()
        .envs(setup.variables().iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let mut import = import.expect("started");
    let written = std::io::Write::write_all(import.stdin.as_mut().expect("piped"), backup_of_jobs(JOBS).as_bytes());
    drop(import.stdin.take());
    assert!(import.wait().expect("ended").success() && written.is_ok(), "the jobs were not imported");
    setup
}

fn start_and_wait(setup: Setup) -> Pty {
    let mut pty = Pty::spawn_at(SIZE.0, SIZE.1, setup);
    pty.wait_for_text("10,000");
    pty.wait_for_quiet();
    pty
}

/// Moves the selection down if `n` is even and up otherwise, and waits until the output is quiet. Returns the number of
/// bytes sent.
fn move_selection(pty: &mut Pty, n: u64) -> usize {
    let (before, selected) = (pty.sent_bytes(), selected_row(pty.screen()));
    pty.send(if n.is_multiple_of(2) { "\x1b[B" } else { "\x1b[A" });
    pty.wait_for("the next selection", |screen| self::selected_row(screen) != selected);
    pty.wait_for_quiet();
    pty.sent_bytes() - before
}

/// Returns the number of the screen's row with the selection marker.
fn selected_row(screen: &vt100::Screen) -> Option<usize> {
    screen.rows(0, 4).position(|line| line.contains('▌'))
}

fn median_bytes_of_a_move(pty: &mut Pty) -> u64 {
    move_selection(pty, 0);
    move_selection(pty, 1);
    let mut bytes: Vec<usize> = (0..MOVES).map(|n| move_selection(pty, u64::try_from(n).unwrap_or_default())).collect();
    bytes.sort_unstable();
    bytes.get(MOVES / 2).and_then(|bytes| u64::try_from(*bytes).ok()).expect("moves")
}

#[test]
fn a_move_of_the_selection_stays_under_its_byte_ceiling() {
    let mut pty = start_and_wait(with_many_jobs());
    assert_below_ceiling(
        "bytes of a move, with the detail beside it",
        median_bytes_of_a_move(&mut pty),
        "bytes",
        "move_with_detail",
    );
    pty.send("i");
    pty.wait_for_quiet();
    assert_below_ceiling("bytes of a move", median_bytes_of_a_move(&mut pty), "bytes", "move");
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
}

#[test]
fn an_idle_dashboard_sends_nothing_and_stays_under_its_wake_up_ceiling() {
    if !cfg!(target_os = "linux") {
        println!("Skipped: wake-ups are counted in Linux' /proc.");
        return;
    }
    let this = std::fs::read_link("/proc/self").ok().and_then(|name| name.to_str()?.parse().ok());
    if this != Some(std::process::id()) {
        println!("Skipped: /proc belongs to another PID namespace.");
        return;
    }
    let mut pty = start_and_wait(with_many_jobs());
    let mut quiet = Vec::new();
    for _ in 0..MAX_IDLE_TRIES {
        let before = wake_ups(pty.process());
        let sends = pty.sends_within(IDLE_TIME);
        pty.wait_for_quiet();
        if !sends {
            quiet.push(wake_ups(pty.process()) - before);
        }
        // Otherwise measures again: on a slow computer the database check after the start may still run.
        if quiet.last().is_some_and(|measured| *measured <= ceiling("wake_ups", "idle_5_s")) {
            break;
        }
    }
    assert_below_ceiling(
        "wake-ups in 5 s",
        quiet.into_iter().min().expect("the output never stopped"),
        "wake_ups",
        "idle_5_s",
    );
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
}

/// Returns how often the threads of the process have gone to sleep so far.
fn wake_ups(process: u32) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("it runs").flatten();
    let of = |status: String| {
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse::<u64>().ok()
    };
    threads.filter_map(|thread| of(std::fs::read_to_string(thread.path().join("status")).ok()?)).sum()
}

#[test]
fn a_key_press_stays_under_its_instruction_ceiling() {
    if std::env::var_os("DOCDECK_PROGRAM").is_none() {
        println!("Skipped: instructions are counted of a release build, which DOCDECK_PROGRAM names.");
        return;
    }
    if !Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
        println!("Skipped: valgrind, which counts instructions, is not installed.");
        return;
    }
    // Some runs end before the database check that follows the start. So the most expensive of three runs is used.
    let most = |keys| (0..3).map(|_| instructions(keys)).max().expect("three runs");
    let (few, many) = (most(KEYS.0), most(KEYS.1));
    assert_below_ceiling("instructions of a key", many.saturating_sub(few) / (KEYS.1 - KEYS.0), "instructions", "key");
}

/// Runs the dashboard with this many key presses; returns the instructions of all its threads.
fn instructions(keys: u64) -> u64 {
    let out = tempfile::NamedTempFile::new().expect("a file");
    let file = format!("--callgrind-out-file={}", out.path().display());
    let valgrind = ["valgrind", "-q", "--tool=callgrind", "--log-file=/dev/null", file.as_str()];
    let mut pty = start_and_wait(with_many_jobs().under(&valgrind));
    // The detail pane would need one or two frames for each key press, because it loads the job's thread. With the pane
    // hidden, each key press causes exactly one frame.
    pty.send("i");
    pty.wait_for_quiet();
    wait_for_idle(pty.process());
    for n in 0..keys {
        move_selection(&mut pty, n);
    }
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
    total_instructions(out.path())
}

/// Waits until the process uses almost no CPU time, which means that the database check after the start has ended.
fn wait_for_idle(process: u32) {
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
        let (_, fields) = stat.rsplit_once(')').expect("a name");
        fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>()
    };
    // The database check begins some seconds after the first frame.
    std::thread::sleep(Duration::from_secs(3));
    let mut before = ticks();
    let is_idle = (0..60).any(|_| {
        std::thread::sleep(Duration::from_secs(1));
        let now = ticks();
        now - std::mem::replace(&mut before, now) <= 10
    });
    assert!(is_idle, "the program is never idle");
}

/// Returns the total number of instructions in callgrind's output file.
fn total_instructions(out: &Path) -> u64 {
    let text = std::fs::read_to_string(out).expect("callgrind's file");
    let mut totals = text.lines().filter_map(|line| line.strip_prefix("totals:").or(line.strip_prefix("summary:")));
    totals.next_back().and_then(|total| total.trim().parse().ok()).expect("a number of instructions")
}

#[test]
fn the_release_build_stays_under_its_size_ceiling() {
    let Ok(program) = std::env::var("DOCDECK_PROGRAM") else {
        println!("Skipped: the size is that of a release build, which DOCDECK_PROGRAM names.");
        return;
    };
    assert_below_ceiling("bytes of the program", std::fs::metadata(program).expect("there").len(), "program", "size");
}
