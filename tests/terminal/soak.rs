//! The demo under random keys, clicks, pastes and sizes for a long time: its memory, threads and open files stay what they
//! were. Seeded, so that what was found can be done again.
//!
//! `cargo test --test terminal -- --ignored --nocapture soak` runs it for a quarter of an hour and prints what was measured
//! twice a minute; `DOCDECK_SOAK_SECONDS` and `DOCDECK_SOAK_SEED` choose otherwise.

use crate::pty::{Pty, Setup, program};
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// Between two measurements.
const INTERVAL: Duration = Duration::from_secs(30);
/// What is pressed after most keys comes within this time.
const PACE: Duration = Duration::from_millis(25);
/// Growth of the resident memory that new jobs, new days and the allocator's own habits explain, in kB.
const ROOM: u64 = 4_096;

/// What can be pressed: everything that is bound but what ends or suspends it.
const LETTERS: &str = "abcdefghijklmnoprstuvwxyzACDGHLMNPRSTVY!?+[]<>112233 -/#:";
const HELD: &str = "abdefghjklnoprstuwy";
const NAMED: [&str; 23] = [
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
/// What takes more than one key: a new job and a follow-up sent, a batch, all pages loaded, compared, a trend, a card.
const ORDERS: [&[&str]; 13] = [
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

/// Numbers that look random and are the same every time (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap_or_default() % end.max(1)
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        *all.get(self.below(all.len())).expect("there is one")
    }

    fn size(&mut self, end: u16) -> u16 {
        u16::try_from(self.below(usize::from(end)) + 1).unwrap_or(1)
    }
}

/// One thing that a hand on the keyboard does.
fn press(pty: &mut Pty, dice: &mut Dice, letters: &[char], held: &[char]) {
    match dice.below(100) {
        0..=49 => pty.send(&dice.of(letters).to_string()),
        // Out of whatever is open, which else would take most of the keys.
        50..=56 => pty.send("\x1b"),
        57..=79 => pty.send(dice.of(&NAMED)),
        80..=85 => {
            let held = u8::try_from(dice.of(held)).unwrap_or(b'l') & 0x1f;
            pty.send(&char::from(held).to_string());
        }
        86..=90 => {
            // Mostly one at which something is to be seen.
            let least = if dice.below(5) == 0 { (0, 0) } else { (39, 11) };
            pty.resize(least.0 + dice.size(150), least.1 + dice.size(45));
        }
        91..=94 => {
            // Click, its end, the wheel: wherever on the screen or beyond.
            let (button, end) = dice.of(&[(0, 'M'), (0, 'm'), (64, 'M'), (65, 'M'), (32, 'M')]);
            let (column, row) = (dice.size(200), dice.size(60));
            pty.send(&format!("\x1b[<{button};{column};{row}{end}"));
        }
        95 => pty.send("\x1b[200~Some text,\r\nfrom elsewhere\x1b[201~"),
        _ => {
            for keys in dice.of(&ORDERS) {
                pty.send(keys);
                pty.sends_within(PACE);
                if *keys == "\x13" {
                    // Letters are shortcuts again half a second after a text was sent.
                    pty.wait_for_quiet();
                    pty.sends_within(Duration::from_millis(500));
                }
            }
        }
    }
}

/// What the process holds at a moment.
#[derive(Debug, Clone, Copy)]
struct Held {
    /// Resident memory in kB.
    resident: u64,
    threads: u64,
    files: u64,
}

fn held(process: u32) -> Held {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line of it");
        line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
    };
    let files = std::fs::read_dir(format!("/proc/{process}/fd")).expect("it runs").count();
    Held { resident: number("VmRSS:"), threads: number("Threads:"), files: u64::try_from(files).expect("few") }
}

fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

/// Presses for so long; gives what was held at each interval, once it has settled.
fn soak(seconds: u64, seed: u64, interval: Duration) -> Vec<Held> {
    let setup = Setup::of(&[&program(), "demo", "--speed", "50"]).with("EDITOR", "true").with("BROWSER", "true");
    let mut pty = Pty::spawn_at(120, 40, setup);
    pty.wait_for_text("NEEDS YOU");
    let (letters, ctrl): (Vec<char>, Vec<char>) = (LETTERS.chars().collect(), HELD.chars().collect());
    let (mut dice, mut pressed, mut series) = (Dice(seed.max(1)), 0_u64, Vec::new());
    let (begin, mut next) = (Instant::now(), interval);
    let end = Duration::from_secs(seconds);
    println!("{:>5} {:>7} {:>8} {:>7} {:>5} {:>8}", "s", "presses", "RSS kB", "threads", "files", "sent kB");
    while next <= end {
        press(&mut pty, &mut dice, &letters, &ctrl);
        pressed += 1;
        pty.sends_within(PACE);
        if begin.elapsed() >= next {
            let process = pty.process();
            let now = held(process);
            let (at, sent) = (begin.elapsed().as_secs(), pty.sent_bytes() / 1_024);
            println!("{at:>5} {pressed:>7} {:>8} {:>7} {:>5} {sent:>8}", now.resident, now.threads, now.files);
            series.push(now);
            next += interval;
        }
    }
    // It is as well as at the start: it draws, and leaves as it should.
    pty.resize(80, 24);
    (0..8).for_each(|_| pty.send("\x1b"));
    pty.wait_for("a whole screen", |screen| screen.contents().contains(" docdeck "));
    pty.signal(Signal::TERM);
    assert_eq!(pty.wait_for_end(), 0);
    pty.assert_given_back();
    series
}

fn most(series: &[Held], of: impl Fn(&Held) -> u64) -> u64 {
    series.iter().map(of).max().expect("something was measured")
}

fn middle(series: &[Held]) -> u64 {
    let mut all: Vec<u64> = series.iter().map(|held| held.resident).collect();
    all.sort_unstable();
    *all.get(all.len() / 2).expect("something was measured")
}

#[test]
#[ignore = "runs for a quarter of an hour"]
fn under_random_keys_and_sizes_memory_threads_and_files_stay_what_they_were() {
    let (seconds, seed) = (from_environment("DOCDECK_SOAK_SECONDS", 900), from_environment("DOCDECK_SOAK_SEED", 7));
    let interval = INTERVAL.min(Duration::from_secs(seconds / 6));
    let series = soak(seconds, seed, interval);
    // The first third warms up: every screen was drawn, and the record has its size.
    let (_, warm) = series.split_at(series.len() / 3);
    let (before, after) = warm.split_at(warm.len() / 2);
    let (first, last) = (middle(before), middle(after));
    println!("seed {seed}: {first} kB in the second third, {last} kB in the last one");
    assert!(last <= first + ROOM, "{series:?}");
    assert!(most(after, |held| held.threads) <= most(before, |held| held.threads) + 1, "{series:?}");
    assert!(most(after, |held| held.files) <= most(before, |held| held.files) + 4, "{series:?}");
}
