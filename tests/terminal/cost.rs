//! Checks costs that hardly differ between runs and machines: the bytes sent when the selection moves, and the bytes
//! and memory of an idle dashboard. Each ceiling is about 1.5 times the measured value; if a change exceeds one, make
//! it cheaper, or raise the ceiling in the same commit and give the reason. Benchmarks measure times and everything
//! else.

use crate::backup::{ENVIRONMENT, backup_of_jobs, backup_with_pull_requests};
use crate::support::pty::{Pty, Setup, program};
use std::process::{Command, Stdio};
use std::time::Duration;

const SIZE: (u16, u16) = (160, 48);
const JOBS: u32 = 10_000;
/// Number of moves of the selection whose bytes are measured. Their median must be below the ceiling.
const MOVES: usize = 8;
/// Time for which an idle dashboard must send nothing.
const IDLE_TIME: Duration = Duration::from_secs(5);
/// Largest number of measurements. One is not enough if a tip or notice ends during it, or work from the start still
/// runs.
const MAX_IDLE_TRIES: usize = 6;
/// Most bytes of a move of the selection among 10,000 jobs at 160x48 with 24-bit colours: 307 when measured,
/// because both rows of the selection are drawn across their full width.
const MAX_MOVE_BYTES: u64 = 460;
/// The same with the details beside the list: 383 when measured.
const MAX_MOVE_BYTES_WITH_DETAIL: u64 = 580;
/// Most memory of a dashboard with 10,000 jobs in kB, without the pages of the program's file: 9,570 when measured.
const MAX_MEMORY: u64 = 14_400;
/// The same with the states of four in five pull requests: 12,404 when measured.
const MAX_MEMORY_WITH_PULL_REQUESTS: u64 = 18_600;

/// Returns the backups to measure, each with its description.
fn backups() -> [(&'static str, String); 2] {
    [("without pull requests", backup_of_jobs(JOBS)), ("with pull requests", backup_with_pull_requests(JOBS))]
}

/// Prints the measured value and fails if it is above `ceiling`.
fn assert_at_most(ceiling: u64, what: &str, measured: u64) {
    println!("{what}: {measured}, at most {ceiling}");
    assert!(measured <= ceiling, "{what}: {measured}, at most {ceiling}");
}

/// Prepares a dashboard with the jobs of this backup. Nothing responds at its base URL, and it sends no requests.
fn with_jobs(backup: &str) -> Setup {
    let setup = ENVIRONMENT.into_iter().fold(Setup::dashboard(), |setup, (name, value)| setup.with(name, value));
    let import = Command::new(program())
        .args(["import", "-"])
        .env_clear()
        .envs(setup.variables().iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let mut import = import.expect("started");
    let written = std::io::Write::write_all(import.stdin.as_mut().expect("piped"), backup.as_bytes());
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
    // At the same time, because most of the time is spent waiting until nothing more is sent.
    std::thread::scope(|scope| {
        for (what, backup) in backups() {
            scope.spawn(move || {
                let mut pty = start_and_wait(with_jobs(&backup));
                let bytes = median_bytes_of_a_move(&mut pty);
                assert_at_most(MAX_MOVE_BYTES_WITH_DETAIL, &format!("bytes of a move with the details, {what}"), bytes);
                pty.send("i");
                pty.wait_for_quiet();
                assert_at_most(MAX_MOVE_BYTES, &format!("bytes of a move, {what}"), median_bytes_of_a_move(&mut pty));
                pty.send("q");
                assert_eq!(pty.wait_for_end(), 0);
            });
        }
    });
}

#[test]
fn an_idle_dashboard_sends_nothing() {
    let mut pty = start_and_wait(with_jobs(&backup_of_jobs(JOBS)));
    // On a slow computer, the database check after the start may still run.
    assert!((0..MAX_IDLE_TRIES).any(|_| !pty.sends_within(IDLE_TIME)), "the output never stopped");
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
}

#[test]
fn many_jobs_stay_under_the_memory_ceiling() {
    for ((what, backup), ceiling) in backups().into_iter().zip([MAX_MEMORY, MAX_MEMORY_WITH_PULL_REQUESTS]) {
        let mut pty = start_and_wait(with_jobs(&backup));
        let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", pty.process())) else {
            println!("Skipped: memory is read from /proc.");
            return;
        };
        let anonymous = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kilobytes = anonymous.and_then(|value| value.split_whitespace().next()?.parse().ok());
        assert_at_most(ceiling, &format!("kB of memory, {what}"), kilobytes.expect("Linux reports it"));
        pty.send("q");
        assert_eq!(pty.wait_for_end(), 0);
    }
}
