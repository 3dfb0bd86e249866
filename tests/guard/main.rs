//! Compares the allocations of a key press and a frame with the limits in `ceilings.toml`. Counts don't vary between
//! machines; times do, so the benchmarks measure them without failing.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../benches/stage.rs"]
#[expect(dead_code, reason = "written for the benchmarks, which use all of it")]
mod stage;

use stage::{Stage, input, rows};

const JOBS: i64 = 10_000;
/// Steps to measure, after a few warm-up steps whose one-time allocations don't count.
const STEPS: u64 = 50;

/// Moves down and up in turn; returns the allocations of the key presses and of the frames.
fn walk(stage: &mut Stage, steps: u64) -> (u64, u64) {
    let (mut keys, mut frames) = (0, 0);
    for step in 0..steps {
        let key = input(if step.is_multiple_of(2) { "Down" } else { "Up" });
        keys += allocation_counter::measure(|| stage.send(key)).count_total;
        frames += allocation_counter::measure(|| stage.draw()).count_total;
    }
    (keys, frames)
}

fn ceiling(name: &str) -> u64 {
    let all: toml::Table = include_str!("ceilings.toml").parse().expect("TOML");
    let value = all.get("allocations").and_then(|table| table.get(name)).and_then(toml::Value::as_integer);
    value.and_then(|value| u64::try_from(value).ok()).expect("a ceiling")
}

#[test]
fn a_key_and_a_frame_allocate_no_more_than_the_limit() {
    let mut stage = Stage::of(rows(JOBS));
    walk(&mut stage, 10);
    let (keys, frames) = walk(&mut stage, STEPS);
    for (name, counted) in [("key", keys.div_ceil(STEPS)), ("frame", frames.div_ceil(STEPS))] {
        println!("allocations of a {name}: {counted}, limit {}", ceiling(name));
        assert!(
            counted <= ceiling(name),
            "{counted} allocations per {name}, more than tests/guard/ceilings.toml allows"
        );
    }
}
