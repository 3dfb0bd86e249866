//! Runs the demo under random keys, clicks, pastes and sizes for a long time: its memory, threads and open files must
//! not grow. Runs are seeded, so that a failure can be repeated.
//!
//! `cargo test --test terminal -- --ignored --nocapture soak` runs for 15 minutes and prints the measurements twice a
//! minute; `DOCDECK_SOAK_SECONDS` and `DOCDECK_SOAK_SEED` override time and seed.

use crate::support::pty::{Pty, Setup, program};
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// Time between two measurements.
const INTERVAL: Duration = Duration::from_secs(30);
/// Longest pause after a key press.
const MAX_PAUSE: Duration = Duration::from_millis(25);
/// Growth of the resident memory, in kB, that is allowed because of new jobs, new days and the allocator.
const ALLOWED_GROWTH: u64 = 4_096;

/// The keys to press: everything that is bound, except what ends or suspends the program.
const LETTERS: &str = "abcdefghijklmnoprstuvwxyzACDGHLMNPRSTVY!?+[]<>112233 -/#:";
const CTRL_LETTERS: &str = "abdefghjklnoprstuwy";
const SPECIAL_KEYS: [&str; 23] = [
    "\r",
    "\r",
    "\x1b",
    "\x1b",
    "\t",
    "\x7f",
    "\x1b[A",
    "\x1b[A",
    "\x1b[B",
    "\x1b[B",
    "\x1b[C",
    "\x1b[D",
    "\x1b[H",
    "\x1b[F",
    "\x1b[5~",
    "\x1b[6~",
    "\x1bOQ",
    "\x1b[Z",
    "\x1bu",
    "\x1b[1;3A",
    "\x1b[1;3B",
    "\x1b[I",
    "\x1b[O",
];
/// Actions of more than one key: sending a new job and a follow-up, a batch, loading all pages, comparing, a trend,
/// page details.
const ACTIONS: [&[&str]; 13] = [
    &["\x1b", "\x1b", "1", "n", "Soak it [sim:seconds=60]", "\x13"],
    &["\x1b", "\x1b", "1", "f", "and again", "\x13"],
    &["\x1b", "\x1b", "1", "b", "\x1b[200~One\n\nTwo\n\nThree\x1b[201~", "\x13", "y"],
    &["\x1b", "\x1b", "2", "a", "y"],
    &["\x1b", "\x1b", "2", "c", "y"],
    &["\x1b", "\x1b", "2", "t", "a", "y"],
    &["\x1b", "\x1b", "2", "\r", "b", "y"],
    &["\x1b", "\x1b", "2", "D", "2026-01-01..2026-01-31", "\r"],
    &["\x1b", "\x1b", "2", "e", "\r"],
    &["\x1b", "\x1b", "1", "n", "\x07"],
    &["\x1b", "\x1b", "?", "/", "sort"],
    &["\x1b", "\x1b", "3"],
    &["\x1b", "\x1b", "\x1b", "1", "P", "\r"],
];

/// A seeded generator (xorshift64*): the numbers are the same in every run.
struct TestRng(u64);

impl TestRng {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap_or_default() % end.max(1)
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        *all.get(self.below(all.len())).expect("there is one")
    }

    fn size(&mut self, end: u16) -> u16 {
        u16::try_from(self.below(usize::from(end)) + 1).unwrap_or(1)
    }
}

/// Performs one random user action.
fn press(pty: &mut Pty, rng: &mut TestRng, letters: &[char], ctrl: &[char]) {
    match rng.below(100) {
        0..=49 => pty.send(&rng.pick(letters).to_string()),
        // Closes open dialogs, which would otherwise receive most of the keys.
        50..=56 => pty.send("\x1b"),
        57..=79 => pty.send(rng.pick(&SPECIAL_KEYS)),
        80..=85 => {
            let ctrl = u8::try_from(rng.pick(ctrl)).unwrap_or(b'l') & 0x1f;
            pty.send(&char::from(ctrl).to_string());
        }
        86..=90 => {
            // Usually a size that is large enough to draw the screen.
            let minimum = if rng.below(5) == 0 { (0, 0) } else { (39, 11) };
            pty.resize(minimum.0 + rng.size(150), minimum.1 + rng.size(45));
        }
        91..=94 => {
            // A press, release, wheel or drag event, at a position on or outside the screen.
            let (button, end) = rng.pick(&[(0, 'M'), (0, 'm'), (64, 'M'), (65, 'M'), (32, 'M')]);
            let (column, row) = (rng.size(200), rng.size(60));
            pty.send(&format!("\x1b[<{button};{column};{row}{end}"));
        }
        95 => pty.send("\x1b[200~Some text,\r\nfrom elsewhere\x1b[201~"),
        _ => {
            for keys in rng.pick(&ACTIONS) {
                pty.send(keys);
                pty.sends_within(MAX_PAUSE);
                if *keys == "\x13" {
                    // For half a second after a prompt was sent, letters are not shortcuts.
                    pty.wait_for_quiet();
                    pty.sends_within(Duration::from_millis(500));
                }
            }
        }
    }
}

/// The resources that the process uses at a moment.
#[derive(Debug, Clone, Copy)]
struct ResourceUsage {
    /// Resident memory in kB.
    resident: u64,
    threads: u64,
    files: u64,
}

fn resource_usage(process: u32) -> ResourceUsage {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line of it");
        line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
    };
    let files = std::fs::read_dir(format!("/proc/{process}/fd")).expect("it runs").count();
    ResourceUsage { resident: number("VmRSS:"), threads: number("Threads:"), files: u64::try_from(files).expect("few") }
}

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Performs random actions for this long; returns the resource usage at the end of each interval.
fn soak(seconds: u64, seed: u64, interval: Duration) -> Vec<ResourceUsage> {
    let setup =
        Setup::of(&[&program(), "demo", "--no-tour", "--speed", "50"]).with("EDITOR", "true").with("BROWSER", "true");
    let mut pty = Pty::spawn_at(120, 40, setup);
    pty.wait_for_text("Needs you");
    let (letters, ctrl): (Vec<char>, Vec<char>) = (LETTERS.chars().collect(), CTRL_LETTERS.chars().collect());
    let (mut rng, mut pressed, mut series) = (TestRng(seed.max(1)), 0_u64, Vec::new());
    let (begin, mut next) = (Instant::now(), interval);
    let end = Duration::from_secs(seconds);
    println!("{:>5} {:>7} {:>8} {:>7} {:>5} {:>8}", "s", "presses", "RSS kB", "threads", "files", "sent kB");
    while next <= end {
        press(&mut pty, &mut rng, &letters, &ctrl);
        pressed += 1;
        pty.sends_within(MAX_PAUSE);
        if begin.elapsed() >= next {
            let process = pty.process();
            let now = resource_usage(process);
            let (at, sent) = (begin.elapsed().as_secs(), pty.sent_bytes() / 1_024);
            println!("{at:>5} {pressed:>7} {:>8} {:>7} {:>5} {sent:>8}", now.resident, now.threads, now.files);
            series.push(now);
            next += interval;
        }
    }
    // The program must still be able to draw and to end normally.
    pty.resize(80, 24);
    (0..8).for_each(|_| pty.send("\x1b"));
    pty.wait_for("a complete screen", |screen| screen.contents().contains(" docdeck "));
    pty.signal(Signal::TERM);
    assert_eq!(pty.wait_for_end(), 0);
    pty.assert_restored();
    series
}

fn maximum(series: &[ResourceUsage], of: impl Fn(&ResourceUsage) -> u64) -> u64 {
    series.iter().map(of).max().expect("something was measured")
}

fn median_memory(series: &[ResourceUsage]) -> u64 {
    let mut all: Vec<u64> = series.iter().map(|usage| usage.resident).collect();
    all.sort_unstable();
    *all.get(all.len() / 2).expect("something was measured")
}

#[test]
#[ignore = "runs for a quarter of an hour"]
fn under_random_keys_and_sizes_memory_threads_and_files_do_not_grow() {
    let (seconds, seed) = (from_environment("DOCDECK_SOAK_SECONDS", 900), from_environment("DOCDECK_SOAK_SEED", 7));
    let interval = INTERVAL.min(Duration::from_secs(seconds / 6));
    let series = soak(seconds, seed, interval);
    // The first third is the warm-up, after which every screen was drawn and the database has its usual size.
    let (_, warm) = series.split_at(series.len() / 3);
    let (before, after) = warm.split_at(warm.len() / 2);
    let (first, last) = (median_memory(before), median_memory(after));
    println!("seed {seed}: {first} kB in the second third, {last} kB in the last one");
    assert!(last <= first + ALLOWED_GROWTH, "{series:?}");
    assert!(maximum(after, |usage| usage.threads) <= maximum(before, |usage| usage.threads) + 1, "{series:?}");
    assert!(maximum(after, |usage| usage.files) <= maximum(before, |usage| usage.files) + 4, "{series:?}");
}
