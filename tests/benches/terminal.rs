//! Measures the complete program in a pseudo-terminal of 160×48, with 10,000 and 100,000 jobs and as the demo. For
//! comparison, the "floor" is a minimal program with the same library: a bordered list of 50 rows whose highlight
//! moves. Reports the median of three runs. Times vary between machines, their ratio to the floor much less. Counts
//! from Linux' `/proc` are omitted on other systems. Takes two to three minutes, and every wait has a timeout.
//!
//! `cargo bench --bench terminal`

#![expect(clippy::expect_used, clippy::panic, reason = "a bench that can't go on should stop")]

#[path = "../guard/record.rs"]
mod record;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use ratatui::crossterm::event::{self, Event, KeyCode};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, List, ListState};
use record::{ENVIRONMENT, record};
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
const PRESSES: usize = 80;
const FLOOD: usize = 500;
const IDLE: Duration = Duration::from_secs(10);
/// After this long without output, a key press has been fully handled.
const QUIET: Duration = Duration::from_millis(15);
/// The longest wait for a program that never stops sending.
const RESTLESS: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(30);
const DOWN: &str = "\x1b[B";
const UP: &str = "\x1b[A";

fn main() {
    if std::env::args().any(|word| word == FLOOR) {
        floor().expect("a terminal");
        return;
    }
    let own = std::env::current_exe().expect("a path").display().to_string();
    let (ten, hundred) = (filled(10_000), filled(100_000));
    let empty = tempfile::tempdir().expect("a folder");
    let programs: [(&str, &[&str], &str, &Path); 4] = [
        ("floor", &[&own, FLOOR], "row 000", empty.path()),
        ("10,000 jobs", &[DOCDECK], "topic", ten.path()),
        ("100,000 jobs", &[DOCDECK], "topic", hundred.path()),
        ("demo", &[DOCDECK, "demo"], "NEEDS YOU", empty.path()),
    ];
    let columns = programs.map(|(name, words, ready, home)| {
        eprintln!("{name} …");
        (name, measured(words, ready, home))
    });
    print!("{:<44}", "");
    columns.iter().for_each(|(name, _)| print!("{name:>14}"));
    println!();
    let rows = columns.first().map_or(0, |(_, values)| values.len());
    for at in 0..rows {
        for (column, (_, values)) in columns.iter().enumerate() {
            let Some((what, value)) = values.get(at) else { continue };
            if column == 0 {
                print!("{what:<44}");
            }
            print!("{value:>14.2}");
        }
        println!();
    }
    let size = std::fs::metadata(DOCDECK).expect("there").len();
    println!("{:<44}{:>28.2}", "size of the program, MB", whole(size) / 1e6);
}

/// The minimal program for comparison.
fn floor() -> std::io::Result<()> {
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

/// A home folder with this many tracked jobs.
fn filled(jobs: u32) -> tempfile::TempDir {
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
    let written = import.stdin.take().map(|mut stdin| stdin.write_all(record(jobs).as_bytes()));
    assert!(matches!(written, Some(Ok(()))) && import.wait().expect("ended").success(), "no record");
    home
}

type Values = Vec<(&'static str, f64)>;

/// Names and medians of all runs. Idle behaviour is measured only once, because it takes long.
fn measured(words: &[&str], ready: &str, home: &Path) -> Values {
    let runs: Vec<Values> = (0..RUNS).map(|_| one_run(words, ready, home)).collect();
    let names = runs.first().into_iter().flatten().map(|(name, _)| *name).enumerate();
    let medians = names.map(|(at, name)| {
        let values = runs.iter().filter_map(|run| run.get(at).map(|(_, value)| *value)).collect();
        (name, quantile(values, 50))
    });
    medians.chain(left_alone(words, ready, home)).collect()
}

fn one_run(words: &[&str], ready: &str, home: &Path) -> Values {
    let mut out = Values::new();
    let mut record = |what: &'static str, value: f64| out.push((what, value));
    let mut run = Run::start(words, home);
    record("first rows, ms", ms(run.until(ready)));
    run.until_quiet(Duration::from_secs(1));
    let (mut first, mut settled, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    let spent = run.spent();
    for press in 0..PRESSES {
        // At varying times, from 20 to 60 ms apart, so as not to coincide with a timer of the program.
        std::thread::sleep(Duration::from_millis(20 + u64::try_from(press * 7919 % 41).unwrap_or_default()));
        let answer = run.press(if press.is_multiple_of(2) { DOWN } else { UP });
        first.push(ms(answer.first));
        settled.push(ms(answer.last));
        bytes.push(f64::from(answer.bytes));
    }
    let spent = since(&spent, &run.spent());
    record("key to the first byte, ms, middle", quantile(first.clone(), 50));
    record("key to the first byte, ms, 99 of 100", quantile(first, 99));
    record("key to the settled screen, ms, 99 of 100", quantile(settled, 99));
    record("bytes of a key, middle", quantile(bytes, 50));
    record("CPU of a key, ms", ms(Duration::from_nanos(spent)) / whole(u64::try_from(PRESSES).unwrap_or(1)));
    record("500 keys at once, ms", ms(run.press(&DOWN.repeat(FLOOD)).last));
    run.until_quiet(Duration::from_millis(500));
    record("resident memory, MB", run.resident("VmRSS:"));
    record("resident memory at its peak, MB", run.resident("VmHWM:"));
    run.end();
    out
}

/// Ten seconds without key presses.
fn left_alone(words: &[&str], ready: &str, home: &Path) -> Values {
    let mut run = Run::start(words, home);
    run.until(ready);
    run.until_quiet(Duration::from_secs(1));
    let (sent, switches, spent) = (run.sent, run.switches(), run.spent());
    run.take_for(IDLE);
    let busy = Duration::from_nanos(since(&spent, &run.spent()));
    let out = vec![
        ("ten idle seconds: bytes", whole(u64::try_from(run.sent - sent).unwrap_or_default())),
        ("ten idle seconds: wake-ups a second", whole(since(&switches, &run.switches())) / IDLE.as_secs_f64()),
        ("ten idle seconds: CPU, % of a core", busy.as_secs_f64() / IDLE.as_secs_f64() * 100.0),
    ];
    run.end();
    out
}

/// The times from a key press to the first byte and to the last one.
struct Answered {
    first: Duration,
    last: Duration,
    bytes: u32,
}

/// A program in a pseudo-terminal.
struct Run {
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    parts: Receiver<(Instant, Vec<u8>)>,
    started: Instant,
    sent: usize,
    _master: Box<dyn MasterPty + Send>,
}

impl Run {
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

    /// The time from the start until this text was sent.
    fn until(&mut self, text: &str) -> Duration {
        let mut all = Vec::new();
        loop {
            // A program with a heartbeat never stops sending.
            let left = PATIENCE.saturating_sub(self.started.elapsed());
            let (at, bytes) = self.parts.recv_timeout(left).expect("the first rows are drawn");
            self.sent += bytes.len();
            all.extend_from_slice(&bytes);
            if all.windows(text.len()).any(|part| part == text.as_bytes()) {
                return at - self.started;
            }
        }
    }

    /// Reads output until there is none for this long. A program with a heartbeat is never quiet, so the wait is
    /// limited.
    fn until_quiet(&mut self, quiet: Duration) {
        let end = Instant::now() + RESTLESS;
        while Instant::now() < end
            && let Ok((_, bytes)) = self.parts.recv_timeout(quiet)
        {
            self.sent += bytes.len();
        }
    }

    /// Reads output for this long.
    fn take_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            match self.parts.recv_timeout(left) {
                Ok((_, bytes)) => self.sent += bytes.len(),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => panic!("the program has ended by itself"),
            }
        }
    }

    fn press(&mut self, keys: &str) -> Answered {
        self.until_quiet(Duration::ZERO);
        let pressed = Instant::now();
        self.writer.write_all(keys.as_bytes()).and_then(|()| self.writer.flush()).expect("sent");
        let (at, bytes) = self.parts.recv_timeout(PATIENCE).expect("a key is answered");
        let mut answered = Answered { first: at - pressed, last: at - pressed, bytes: 0 };
        let mut count = |bytes: Vec<u8>, answered: &mut Answered| {
            self.sent += bytes.len();
            answered.bytes += u32::try_from(bytes.len()).unwrap_or_default();
        };
        count(bytes, &mut answered);
        while pressed.elapsed() < RESTLESS
            && let Ok((at, bytes)) = self.parts.recv_timeout(QUIET)
        {
            answered.last = at - pressed;
            count(bytes, &mut answered);
        }
        answered
    }

    fn end(mut self) {
        let _ = self.writer.write_all(b"q");
        let end = Instant::now() + RESTLESS;
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

    /// A value from a file of each thread.
    fn of_threads(&self, file: &str, read: impl Fn(&str) -> Option<u64>) -> OfThreads {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.id())).into_iter().flatten().flatten();
        let counted = tasks
            .filter_map(|task| Some((task.file_name(), read(&std::fs::read_to_string(task.path().join(file)).ok()?)?)));
        counted.collect()
    }

    /// CPU time so far, in nanoseconds.
    fn spent(&self) -> OfThreads {
        self.of_threads("schedstat", |text| text.split_whitespace().next()?.parse().ok())
    }

    /// The number of voluntary context switches of each thread.
    fn switches(&self) -> OfThreads {
        self.of_threads("status", |text| field(text, "voluntary_ctxt_switches:"))
    }

    /// A line of its status file in MB (1,024 kB).
    fn resident(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        whole(field(&status, name).unwrap_or_default()) / 1024.0
    }
}

/// A count for each thread, by its id.
type OfThreads = HashMap<OsString, u64>;

/// The increase over all threads; the count of a thread that has ended is lost.
fn since(before: &OfThreads, now: &OfThreads) -> u64 {
    now.iter().map(|(thread, count)| count.saturating_sub(before.get(thread).copied().unwrap_or(0))).sum()
}

/// The number after a name at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
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

fn whole(n: u64) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}
