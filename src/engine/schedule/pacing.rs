//! How far apart checks are: how often a job wants one, and the jitter that keeps jobs from being
//! checked all at once.

use chrono::TimeDelta;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// The interval in which requests are counted.
pub(super) const MINUTE: TimeDelta = TimeDelta::minutes(1);
/// A rate is counted per hour, since the slowest is less than one request a minute.
const MINUTES_PER_HOUR: i64 = 60;
/// Pauses grow by half: after the shortest, there are six checks in the next minute.
const MAX_PER_MINUTE: i64 = 6;

/// The number of requests wanted per hour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rate(i64);

impl Rate {
    /// The rate of a job with this pause before its next check.
    pub(super) fn with(pause: TimeDelta) -> Self {
        Self(
            (MINUTES_PER_HOUR * MINUTE.num_milliseconds() / pause.num_milliseconds().max(1))
                .min(MAX_PER_MINUTE * MINUTES_PER_HOUR),
        )
    }

    /// A rate of n requests per minute.
    pub(super) fn of(per_minute: usize) -> Self {
        Self(i64::try_from(per_minute).unwrap_or(i64::MAX).saturating_mul(MINUTES_PER_HOUR))
    }

    /// The slots per minute that such a rate needs: one more than on average, since pauses are
    /// jittered.
    pub(super) fn slots(self) -> usize {
        if self.0 > 0 { usize::try_from(self.0 / MINUTES_PER_HOUR + 1).unwrap_or(0) } else { 0 }
    }
}

impl Add for Rate {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Rate {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl AddAssign for Rate {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Rate {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Rate {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// Small seeded generator for jitter (xorshift64*); not for secrets.
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

    /// Uniformly distributed over 0 … `span`.
    pub(super) fn within(&mut self, span: TimeDelta) -> TimeDelta {
        let millis = span.num_milliseconds().clamp(0, i64::from(u32::MAX));
        TimeDelta::milliseconds(millis * i64::from(self.next()) / i64::from(u32::MAX))
    }

    /// The pause, up to a tenth longer or shorter.
    pub(super) fn with_jitter(&mut self, pause: TimeDelta) -> TimeDelta {
        let tenth = pause / 10;
        pause - tenth + self.within(tenth * 2)
    }
}
