//! Compares the allocations of a key press and a frame with the limits in `ceilings.toml`. These counts are the
//! same on every machine. Times are not, so the benchmarks only print them.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../benches/stage.rs"]
#[expect(dead_code, reason = "written for the benchmarks, which use all of it")]
mod stage;

use stage::{AppFixture, finished_jobs, key_press};

const JOBS: i64 = 10_000;
/// Number of measured steps. A few warm-up steps come before them, because their one-time allocations don't count.
const STEPS: u64 = 50;

/// Moves the selection down and up in turn. Returns the allocations of all key presses and those of all frames.
fn move_selection(fixture: &mut AppFixture, steps: u64) -> (u64, u64) {
    let (mut keys, mut frames) = (0, 0);
    for step in 0..steps {
        let key = key_press(if step.is_multiple_of(2) { "Down" } else { "Up" });
        keys += allocation_counter::measure(|| fixture.send(key)).count_total;
        frames += allocation_counter::measure(|| fixture.draw()).count_total;
    }
    (keys, frames)
}

fn ceiling(name: &str) -> u64 {
    let all: toml::Table = include_str!("ceilings.toml").parse().expect("TOML");
    let value = all.get("allocations").and_then(|table| table.get(name)).and_then(toml::Value::as_integer);
    value.and_then(|value| u64::try_from(value).ok()).expect("a ceiling")
}

#[test]
fn a_key_press_and_a_frame_allocate_no_more_than_the_limit() {
    let mut fixture = AppFixture::with_jobs(finished_jobs(JOBS));
    move_selection(&mut fixture, 10);
    let (keys, frames) = move_selection(&mut fixture, STEPS);
    for (name, counted) in [("key", keys.div_ceil(STEPS)), ("frame", frames.div_ceil(STEPS))] {
        println!("allocations of a {name}: {counted}, limit {}", ceiling(name));
        assert!(
            counted <= ceiling(name),
            "{counted} allocations per {name}, more than tests/guard/ceilings.toml allows"
        );
    }
}
