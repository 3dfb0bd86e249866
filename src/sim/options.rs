//! The options of the simulated service, and the function that applies its speed to a duration.

use super::faults::Fault;
use chrono::TimeDelta;
use std::time::Duration;

/// What to simulate, as set by the options of `docdeck sim` and `docdeck demo`.
#[derive(Debug, Clone)]
pub struct SimOptions {
    /// The port on 127.0.0.1; 0 for any free port.
    pub port: u16,
    /// The number of jobs at the start.
    pub jobs: u32,
    /// The number of pages of the site.
    pub pages: u32,
    /// The factor by which jobs run faster than usual; above 0.
    pub speed: f64,
    /// The seed for everything random. The same seed gives the same jobs and page views.
    pub seed: u64,
    /// The faults that are active from the start.
    pub faults: Vec<Fault>,
}

impl Default for SimOptions {
    fn default() -> Self {
        Self { port: 0, jobs: 24, pages: 1200, speed: 1.0, seed: 7, faults: Vec::new() }
    }
}

/// Returns the duration divided by the speed. Returns the unchanged duration if it is negative, or if the result would
/// be 100 years or longer.
pub(super) fn scaled(length: TimeDelta, speed: f64) -> TimeDelta {
    let Ok(length_std) = length.to_std() else { return length };
    let shorter = Duration::try_from_secs_f64(length_std.as_secs_f64() / speed);
    shorter.ok().and_then(|d| TimeDelta::from_std(d).ok()).filter(|d| *d < TimeDelta::days(36_500)).unwrap_or(length)
}
