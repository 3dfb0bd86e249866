//! How far apart looks lie: the pace of a job, and the jitter that keeps jobs from going out in one heap.

use super::budget::MINUTE;
use chrono::TimeDelta;

/// A pace is counted by the hour, since the slowest is one request a minute or less.
pub(super) const PACE_MINUTES: i64 = 60;

/// Small seeded generator for jitter (xorshift64*); nothing secret depends on it.
#[derive(Debug)]
pub(super) struct Jitter(u64);

impl Jitter {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        u32::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32).unwrap_or(0)
    }

    /// Evenly spread over 0 … `span`.
    pub(super) fn within(&mut self, span: TimeDelta) -> TimeDelta {
        let millis = span.num_milliseconds().clamp(0, i64::from(u32::MAX));
        TimeDelta::milliseconds(millis * i64::from(self.next()) / i64::from(u32::MAX))
    }

    /// A pause, a tenth longer or shorter.
    pub(super) fn around(&mut self, pause: TimeDelta) -> TimeDelta {
        let tenth = pause / 10;
        pause - tenth + self.within(tenth * 2)
    }
}

/// Requests in an hour with this pause between them.
pub(super) fn pace(pause: TimeDelta) -> i64 {
    PACE_MINUTES * MINUTE.num_milliseconds() / pause.num_milliseconds().max(1)
}
