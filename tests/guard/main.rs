//! What a key and a frame allocate, beside the ceilings in `ceilings.toml`. Counts do not vary from machine to machine,
//! times do: those are measured by the benches and fail on nothing.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../benches/stage.rs"]
#[expect(dead_code, reason = "made for the benches, which use all of it")]
mod stage;

use stage::{Stage, input, rows};

const JOBS: i64 = 10_000;
/// Steps that are counted, after some that are not: what is made once and kept is no cost of a step.
const STEPS: u64 = 50;

/// Down and up in turn, as many as asked for; gives the allocations of keys and of frames.
fn walk(stage: &mut Stage, steps: u64) -> (u64, u64) {
    let (mut keys, mut frames) = (0, 0);
    for step in 0..steps {
        let key = input(if step.is_multiple_of(2) { "Down" } else { "Up" });
        keys += allocation_counter::measure(|| stage.tell(key)).count_total;
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
fn a_key_and_a_frame_allocate_no_more_than_they_may() {
    let mut stage = Stage::of(rows(JOBS));
    walk(&mut stage, 10);
    let (keys, frames) = walk(&mut stage, STEPS);
    for (name, counted) in [("key", keys.div_ceil(STEPS)), ("frame", frames.div_ceil(STEPS))] {
        println!("allocations of a {name}: {counted}, at most {}", ceiling(name));
        assert!(counted <= ceiling(name), "{counted} allocations a {name}; tests/guard/ceilings.toml allows fewer");
    }
}
