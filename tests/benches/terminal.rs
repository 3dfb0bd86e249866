//! Measures the complete program in a pseudo-terminal of 160×48: with 10,000 jobs (without and with the states of their
//! pull requests), with 100,000 jobs, and as the demo. For comparison, also measures the “floor”, a minimal program
//! with the same library: a bordered list of 50 rows whose highlight moves. Prints the median of 15 starts and of three
//! runs. Times vary between machines; their ratio to the floor varies much less. CPU time, memory and wake-ups come from
//! `/proc` and are 0 on systems other than Linux. Takes three to four minutes. Every wait has a timeout.
//!
//! `cargo bench --bench terminal`

#![expect(clippy::expect_used, clippy::panic, reason = "a bench that can't go on should stop")]

#[path = "backup.rs"]
mod backup;

use backup::{ENVIRONMENT, backup_of_jobs, backup_with_pull_requests};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use ratatui::crossterm::event::{self, Event, KeyCode};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, List, ListState};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{Read as _, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

const DOCDECK: &str = env!("CARGO_BIN_EXE_docdeck");
const FLOOR: &str = "floor";
const FLOOR_ROWS: usize = 50;
const RUNS: usize = 3;
const STARTS: usize = 15;
const KEY_PRESSES: usize = 80;
const BURST_KEYS: usize = 500;
const IDLE_TIME: Duration = Duration::from_secs(10);
/// Time after the first rows until everything is done that follows a start, such as reading the other jobs and the
/// certificates of the system.
const START_TIME: Duration = Duration::from_secs(4);
/// Time without output after which a key press counts as fully handled.
const QUIET: Duration = Duration::from_millis(15);
/// Longest wait for the output to become quiet. A program may send output all the time.
const MAX_SETTLE_TIME: Duration = Duration::from_secs(2);
const TIMEOUT: Duration = Duration::from_secs(30);
const DOWN: &str = "\x1b[B";
const UP: &str = "\x1b[A";

fn main() {
    if std::env::args().any(|word| word == FLOOR) {
        run_floor().expect("a terminal");
        return;
    }
    let bench_program = std::env::current_exe().expect("a path").display().to_string();
    let [ten, with_states, hundred] =
        [backup_of_jobs(10_000), backup_with_pull_requests(10_000), backup_of_jobs(100_000)].map(home_with_jobs);
    let empty = tempfile::tempdir().expect("a folder");
    let programs: [Program<'_>; 5] = [
        ("floor", &[&bench_program, FLOOR], "row 000", empty.path()),
        ("10,000 jobs", &[DOCDECK], "topic", ten.path()),
        ("with PR states", &[DOCDECK], "topic", with_states.path()),
        ("100,000 jobs", &[DOCDECK], "topic", hundred.path()),
        ("demo", &[DOCDECK, "demo", "--no-tour"], "Needs you", empty.path()),
    ];
    eprintln!("starts …");
    let starts = measure_starts(&programs);
    let columns: Vec<(&str, Values)> = programs
        .into_iter()
        .zip(starts)
        .map(|((name, words, ready, home), start)| {
            eprintln!("{name} …");
            (name, [("first rows, ms", start)].into_iter().chain(measure(words, ready, home)).collect())
        })
        .collect();
    print!("{:<44}", "");
    columns.iter().for_each(|(name, _)| print!("{name:>16}"));
    println!();
    let rows = columns.first().map_or(0, |(_, values)| values.len());
    for at in 0..rows {
        for (column, (_, values)) in columns.iter().enumerate() {
            let Some((what, value)) = values.get(at) else { continue };
            if column == 0 {
                print!("{what:<44}");
            }
            print!("{value:>16.2}");
        }
        println!();
    }
    let size = std::fs::metadata(DOCDECK).expect("there").len();
    println!("{:<44}{:>32.2}", "size of the program, MB", to_f64(size) / 1e6);
}

/// Runs the minimal program for comparison.
fn run_floor() -> std::io::Result<()> {
    let rows: Vec<String> =
        (0..FLOOR_ROWS).map(|n| format!("row {n:03}  some text that fills a part of the line")).collect();
    let mut state = ListState::default().with_selected(Some(0));
    let mut terminal = ratatui::init();
    'run: loop {
        terminal.draw(|frame| {
            let list = List::new(rows.iter().map(String::as_str))
                .block(Block::bordered().title("floor"))
                .highlight_style(Style::new().add_modifier(Modifier::REVERSED));
            frame.render_stateful_widget(list, frame.area(), &mut state);
        })?;
        loop {
            if let Event::Key(key) = event::read()? {
                let at = state.selected().unwrap_or(0);
                match key.code {
                    KeyCode::Down => state.select(Some((at + 1) % FLOOR_ROWS)),
                    KeyCode::Up => state.select(Some((at + FLOOR_ROWS - 1) % FLOOR_ROWS)),
                    KeyCode::Char('q') => break 'run,
                    _ => {}
                }
            }
            if !event::poll(Duration::ZERO)? {
                break;
            }
        }
    }
    ratatui::restore();
    Ok(())
}

/// Creates a home folder with the jobs of this backup.
fn home_with_jobs(backup: String) -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a folder");
    let import = Command::new(DOCDECK)
        .args(["import", "-"])
        .env_clear()
        .env("HOME", home.path())
        .envs(ENVIRONMENT)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let mut import = import.expect("started");
    let written = import.stdin.take().map(|mut stdin| stdin.write_all(backup.as_bytes()));
    assert!(matches!(written, Some(Ok(()))) && import.wait().expect("ended").success(), "the jobs were not imported");
    home
}

/// A program to measure: its name, its command line, a text that is among its first rows, and its home folder.
type Program<'a> = (&'a str, &'a [&'a str], &'a str, &'a Path);

/// Measured values, each with its description.
type Values = Vec<(&'static str, f64)>;

/// Returns the median time until each program has drawn its first rows, in milliseconds. The programs start in turns,
/// so that a busy moment of the computer affects all of them.
fn measure_starts(programs: &[Program<'_>]) -> Vec<f64> {
    let mut times = vec![Vec::new(); programs.len()];
    for _ in 0..STARTS {
        for (times, (_, words, ready, home)) in times.iter_mut().zip(programs) {
            let mut run = PtyProgram::start(words, home);
            times.push(ms(run.wait_for_text(ready)));
            run.end();
        }
    }
    times.into_iter().map(|times| quantile(times, 50)).collect()
}

/// Returns the median of each value over all runs. Idle behaviour is measured only once, because that takes long.
fn measure(words: &[&str], ready: &str, home: &Path) -> Values {
    let runs: Vec<Values> = (0..RUNS).map(|_| measure_run(words, ready, home)).collect();
    let names = runs.first().into_iter().flatten().map(|(name, _)| *name).enumerate();
    let medians = names.map(|(at, name)| {
        let values = runs.iter().filter_map(|run| run.get(at).map(|(_, value)| *value)).collect();
        (name, quantile(values, 50))
    });
    medians.chain(measure_idle(words, ready, home)).collect()
}

fn measure_run(words: &[&str], ready: &str, home: &Path) -> Values {
    let mut out = Values::new();
    let mut add = |what: &'static str, value: f64| out.push((what, value));
    let mut run = PtyProgram::start(words, home);
    run.wait_for_text(ready);
    run.read_for(START_TIME);
    let (mut first, mut settled, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    let spent = run.cpu_times();
    for press in 0..KEY_PRESSES {
        // The pause varies from 20 to 60 ms, so that key presses don't coincide with a timer of the program.
        std::thread::sleep(Duration::from_millis(20 + u64::try_from(press * 7919 % 41).unwrap_or_default()));
        let response = run.press(if press.is_multiple_of(2) { DOWN } else { UP });
        first.push(ms(response.first));
        settled.push(ms(response.last));
        bytes.push(f64::from(response.bytes));
    }
    let spent = increase(&spent, &run.cpu_times());
    add("key to the first byte, ms, middle", quantile(first.clone(), 50));
    add("key to the first byte, ms, 99 of 100", quantile(first, 99));
    add("key to the settled screen, ms, 99 of 100", quantile(settled, 99));
    add("bytes of a key, middle", quantile(bytes, 50));
    add("CPU of a key, ms", ms(Duration::from_nanos(spent)) / to_f64(u64::try_from(KEY_PRESSES).unwrap_or(1)));
    add("500 keys at once, ms", ms(run.press(&DOWN.repeat(BURST_KEYS)).last));
    run.wait_for_quiet(Duration::from_millis(500));
    add("resident memory, MB", run.memory_mb("VmRSS:"));
    add("resident memory at its peak, MB", run.memory_mb("VmHWM:"));
    run.end();
    out
}

/// Measures ten seconds without key presses.
fn measure_idle(words: &[&str], ready: &str, home: &Path) -> Values {
    let mut run = PtyProgram::start(words, home);
    run.wait_for_text(ready);
    run.read_for(START_TIME);
    let (sent, switches, spent) = (run.sent, run.context_switches(), run.cpu_times());
    run.read_for(IDLE_TIME);
    let busy = Duration::from_nanos(increase(&spent, &run.cpu_times()));
    let wake_ups = to_f64(increase(&switches, &run.context_switches()));
    let out = vec![
        ("ten idle seconds: bytes", to_f64(u64::try_from(run.sent - sent).unwrap_or_default())),
        ("ten idle seconds: wake-ups a second", wake_ups / IDLE_TIME.as_secs_f64()),
        ("ten idle seconds: CPU, % of a core", busy.as_secs_f64() / IDLE_TIME.as_secs_f64() * 100.0),
    ];
    run.end();
    out
}

/// The output after a key press: the times until its first and its last byte, and its size.
struct KeyResponse {
    first: Duration,
    last: Duration,
    bytes: u32,
}

/// A program in a pseudo-terminal.
struct PtyProgram {
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    parts: Receiver<(Instant, Vec<u8>)>,
    started: Instant,
    sent: usize,
    _master: Box<dyn MasterPty + Send>,
}

impl PtyProgram {
    fn start(words: &[&str], home: &Path) -> Self {
        let size = PtySize { rows: 48, cols: 160, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pty");
        let mut command = CommandBuilder::from_argv(words.iter().map(Into::into).collect());
        command.env_clear();
        command.env("HOME", home);
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        ENVIRONMENT.iter().for_each(|(name, value)| command.env(name, value));
        command.cwd(home);
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let writer = pair.master.take_writer().expect("a writer");
        let (sender, parts) = channel();
        std::thread::spawn(move || {
            let mut part = vec![0; 65_536];
            while let Ok(n @ 1..) = reader.read(&mut part) {
                let bytes = part.get(..n).unwrap_or_default().to_vec();
                if sender.send((Instant::now(), bytes)).is_err() {
                    return;
                }
            }
        });
        let started = Instant::now();
        let child = pair.slave.spawn_command(command).expect("started");
        Self { child, writer, parts, started, sent: 0, _master: pair.master }
    }

    /// Waits until the program has sent this text; returns the time since the program's start.
    fn wait_for_text(&mut self, text: &str) -> Duration {
        let mut all = Vec::new();
        loop {
            // The timeout covers the complete wait, because a program may send output all the time.
            let left = TIMEOUT.saturating_sub(self.started.elapsed());
            let (at, bytes) = self.parts.recv_timeout(left).expect("the first rows are drawn");
            self.sent += bytes.len();
            all.extend_from_slice(&bytes);
            if all.windows(text.len()).any(|part| part == text.as_bytes()) {
                return at - self.started;
            }
        }
    }

    /// Reads output until there is none for `quiet`, but at most for [`MAX_SETTLE_TIME`].
    fn wait_for_quiet(&mut self, quiet: Duration) {
        let end = Instant::now() + MAX_SETTLE_TIME;
        while Instant::now() < end
            && let Ok((_, bytes)) = self.parts.recv_timeout(quiet)
        {
            self.sent += bytes.len();
        }
    }

    /// Reads output for this long.
    fn read_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            match self.parts.recv_timeout(left) {
                Ok((_, bytes)) => self.sent += bytes.len(),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => panic!("the program has ended by itself"),
            }
        }
    }

    fn press(&mut self, keys: &str) -> KeyResponse {
        self.wait_for_quiet(Duration::ZERO);
        let pressed = Instant::now();
        self.writer.write_all(keys.as_bytes()).and_then(|()| self.writer.flush()).expect("sent");
        let (at, bytes) = self.parts.recv_timeout(TIMEOUT).expect("a key is answered");
        let mut response = KeyResponse { first: at - pressed, last: at - pressed, bytes: 0 };
        let mut count = |bytes: Vec<u8>, response: &mut KeyResponse| {
            self.sent += bytes.len();
            response.bytes += u32::try_from(bytes.len()).unwrap_or_default();
        };
        count(bytes, &mut response);
        while pressed.elapsed() < MAX_SETTLE_TIME
            && let Ok((at, bytes)) = self.parts.recv_timeout(QUIET)
        {
            response.last = at - pressed;
            count(bytes, &mut response);
        }
        response
    }

    fn end(mut self) {
        let _ = self.writer.write_all(b"q");
        let end = Instant::now() + MAX_SETTLE_TIME;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > end {
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn id(&self) -> u32 {
        self.child.process_id().unwrap_or_default()
    }

    /// Reads a number from this file in `/proc/PID/task/TID` for each thread. Empty on systems without `/proc`.
    fn per_thread(&self, file: &str, read: impl Fn(&str) -> Option<u64>) -> ThreadCounts {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.id())).into_iter().flatten().flatten();
        let counted = tasks
            .filter_map(|task| Some((task.file_name(), read(&std::fs::read_to_string(task.path().join(file)).ok()?)?)));
        counted.collect()
    }

    /// Returns the CPU time that each thread has used so far, in nanoseconds.
    fn cpu_times(&self) -> ThreadCounts {
        self.per_thread("schedstat", |text| text.split_whitespace().next()?.parse().ok())
    }

    /// Returns the number of voluntary context switches of each thread.
    fn context_switches(&self) -> ThreadCounts {
        self.per_thread("status", |text| number_after(text, "voluntary_ctxt_switches:"))
    }

    /// Returns a memory value of the process in MB of 1,024 kB; `name` is the start of its line in `/proc/PID/status`.
    fn memory_mb(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        to_f64(number_after(&status, name).unwrap_or_default()) / 1024.0
    }
}

/// A number for each thread, by thread id.
type ThreadCounts = HashMap<OsString, u64>;

/// Returns the sum of the increases of all threads. A thread that has ended is not included.
fn increase(before: &ThreadCounts, now: &ThreadCounts) -> u64 {
    now.iter().map(|(thread, count)| count.saturating_sub(before.get(thread).copied().unwrap_or(0))).sum()
}

/// Returns the number that follows `name` in the line that starts with `name`.
fn number_after(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

fn quantile(mut values: Vec<f64>, of_hundred: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (values.len() * of_hundred / 100).min(values.len().saturating_sub(1));
    values.get(at).copied().unwrap_or(f64::NAN)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn to_f64(n: u64) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}
