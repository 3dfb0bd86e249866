//! What a move of the selection costs beside the ceilings in `tests/guard/ceilings.toml`: bytes, and for a release build
//! (`DOCDECK_PROGRAM`) instructions, counted by callgrind, and its size; and how often a quiet dashboard wakes up. None of it
//! varies from machine to machine as times do.

use crate::pty::{Pty, Setup, program};
use crate::record::{ENVIRONMENT, record};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const SIZE: (u16, u16) = (160, 48);
const JOBS: u32 = 10_000;
/// Bytes are taken from so many moves; the middle one counts.
const MOVES: usize = 20;
/// For so long nothing is sent while wake-ups are counted; begun again that often while a tip or a notice ends meanwhile, or
/// what follows the start still runs.
const IDLE: Duration = Duration::from_secs(5);
const IDLE_TRIES: usize = 6;
/// Keys whose instructions are not counted, and those that are.
const KEYS: (u64, u64) = (10, 70);

fn ceiling(table: &str, name: &str) -> u64 {
    let all: toml::Table = include_str!("../guard/ceilings.toml").parse().expect("TOML");
    let value = all.get(table).and_then(|table| table.get(name)).and_then(toml::Value::as_integer);
    value.and_then(|value| u64::try_from(value).ok()).expect("a ceiling")
}

/// Says what was measured, and fails where it is over its ceiling.
fn hold(what: &str, measured: u64, table: &str, name: &str) {
    let ceiling = ceiling(table, name);
    println!("{what}: {measured}, at most {ceiling}");
    assert!(measured <= ceiling, "{what}: {measured}; tests/guard/ceilings.toml allows {ceiling}");
}

/// A dashboard with many jobs, all of them over, on a service that is not there and is never asked.
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
    let written = std::io::Write::write_all(import.stdin.as_mut().expect("piped"), record(JOBS).as_bytes());
    drop(import.stdin.take());
    assert!(import.wait().expect("ended").success() && written.is_ok(), "the jobs were not taken in");
    setup
}

fn started(setup: Setup) -> Pty {
    let mut pty = Pty::spawn_at(SIZE.0, SIZE.1, setup);
    pty.wait_for_text("10,000");
    pty.wait_for_quiet();
    pty
}

/// One step of the selection, and all that it brings; gives the bytes that were sent for it.
fn step(pty: &mut Pty, n: u64) -> usize {
    let (before, selected) = (pty.sent_bytes(), selected(pty.screen()));
    pty.send(if n.is_multiple_of(2) { "\x1b[B" } else { "\x1b[A" });
    pty.wait_for("the next selection", |screen| self::selected(screen) != selected);
    pty.wait_for_quiet();
    pty.sent_bytes() - before
}

/// The line with the mark of the selection.
fn selected(screen: &vt100::Screen) -> Option<usize> {
    screen.rows(0, 4).position(|line| line.contains('▌'))
}

fn middle_of_moves(pty: &mut Pty) -> u64 {
    step(pty, 0);
    step(pty, 1);
    let mut bytes: Vec<usize> = (0..MOVES).map(|n| step(pty, u64::try_from(n).unwrap_or_default())).collect();
    bytes.sort_unstable();
    bytes.get(MOVES / 2).and_then(|bytes| u64::try_from(*bytes).ok()).expect("moves")
}

#[test]
fn a_move_sends_no_more_bytes_than_it_may() {
    let mut pty = started(with_many_jobs());
    hold("bytes of a move, with the detail beside it", middle_of_moves(&mut pty), "bytes", "move_with_detail");
    pty.send("i");
    pty.wait_for_quiet();
    hold("bytes of a move", middle_of_moves(&mut pty), "bytes", "move");
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
}

#[test]
fn a_quiet_dashboard_sends_nothing_and_wakes_up_no_more_often_than_it_may() {
    if !cfg!(target_os = "linux") {
        println!("Skipped: wake-ups are counted in Linux' /proc.");
        return;
    }
    let this = std::fs::read_link("/proc/self").ok().and_then(|name| name.to_str()?.parse().ok());
    if this != Some(std::process::id()) {
        println!("Skipped: /proc tells of other processes than those that are started here.");
        return;
    }
    let mut pty = started(with_many_jobs());
    let mut quiet = Vec::new();
    for _ in 0..IDLE_TRIES {
        let before = wake_ups(pty.process());
        let sends = pty.sends_within(IDLE);
        pty.wait_for_quiet();
        if !sends {
            quiet.push(wake_ups(pty.process()) - before);
        }
        // The check of the database after the start may take longer than this computer lets it.
        if quiet.last().is_some_and(|measured| *measured <= ceiling("wake_ups", "idle_5_s")) {
            break;
        }
    }
    hold("wake-ups in 5 s", quiet.into_iter().min().expect("never quiet"), "wake_ups", "idle_5_s");
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
}

/// How often any thread of the process has gone to sleep so far.
fn wake_ups(process: u32) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("it runs").flatten();
    let of = |status: String| {
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse::<u64>().ok()
    };
    threads.filter_map(|thread| of(std::fs::read_to_string(thread.path().join("status")).ok()?)).sum()
}

#[test]
fn a_key_takes_no_more_instructions_than_it_may() {
    if std::env::var_os("DOCDECK_PROGRAM").is_none() {
        println!("Skipped: instructions are counted of a release build, which DOCDECK_PROGRAM names.");
        return;
    }
    if !Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
        println!("Skipped: valgrind, which counts instructions, is not installed.");
        return;
    }
    let (few, many) = (instructions(KEYS.0), instructions(KEYS.1));
    hold("instructions of a key", many.saturating_sub(few) / (KEYS.1 - KEYS.0), "instructions", "key");
}

/// Instructions of a whole run with so many keys in it, of all threads.
fn instructions(keys: u64) -> u64 {
    let out = tempfile::NamedTempFile::new().expect("a file");
    let file = format!("--callgrind-out-file={}", out.path().display());
    let valgrind = ["valgrind", "-q", "--tool=callgrind", "--log-file=/dev/null", file.as_str()];
    let mut pty = started(with_many_jobs().under(&valgrind));
    // A thread that is read for the detail comes with the key's frame or after it, as it happens; without it a key is a frame.
    pty.send("i");
    pty.wait_for_quiet();
    for n in 0..keys {
        step(&mut pty, n);
    }
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
    counted(out.path())
}

/// What callgrind counted in all.
fn counted(out: &Path) -> u64 {
    let text = std::fs::read_to_string(out).expect("callgrind's file");
    let mut totals = text.lines().filter_map(|line| line.strip_prefix("totals:").or(line.strip_prefix("summary:")));
    totals.next_back().and_then(|total| total.trim().parse().ok()).expect("a number of instructions")
}

#[test]
fn the_release_build_is_no_larger_than_it_may_be() {
    let Ok(program) = std::env::var("DOCDECK_PROGRAM") else {
        println!("Skipped: the size is that of a release build, which DOCDECK_PROGRAM names.");
        return;
    };
    hold("bytes of the program", std::fs::metadata(program).expect("there").len(), "program", "size");
}
