//! Converts the pause between two checks of a job to a request rate, and varies the pauses at random, so
//! that the jobs are not all checked at the same moment.

use chrono::TimeDelta;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// Requests are counted over this interval.
pub(super) const MINUTE: TimeDelta = TimeDelta::minutes(1);
/// Rates are counted per hour, because a job with a long pause is checked less than once a minute.
const MINUTES_PER_HOUR: i64 = 60;
/// The most checks that one job gets in a minute. Its pauses begin with the shortest one and grow by half with
/// each check, so six checks fit into the first minute.
const MAX_PER_MINUTE: i64 = 6;

/// How many requests per hour are needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rate(i64);

impl Rate {
    /// Returns the rate for a job with this pause between two checks.
    pub(super) fn for_pause(pause: TimeDelta) -> Self {
        Self(
            (MINUTES_PER_HOUR * MINUTE.num_milliseconds() / pause.num_milliseconds().max(1))
                .min(MAX_PER_MINUTE * MINUTES_PER_HOUR),
        )
    }

    /// Returns the rate of `per_minute` requests a minute.
    pub(super) fn per_minute(per_minute: usize) -> Self {
        Self(i64::try_from(per_minute).unwrap_or(i64::MAX).saturating_mul(MINUTES_PER_HOUR))
    }

    /// Returns the number of requests per minute to reserve for this rate: one more than the average,
    /// because the pauses vary at random.
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

/// A small random number generator (xorshift64*) for pauses, not for secrets.
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

    /// Returns a random time from 0 to `span`, uniformly distributed.
    pub(super) fn random_up_to(&mut self, span: TimeDelta) -> TimeDelta {
        let millis = span.num_milliseconds().clamp(0, i64::from(u32::MAX));
        TimeDelta::milliseconds(millis * i64::from(self.next()) / i64::from(u32::MAX))
    }

    /// Returns the pause, made up to a tenth longer or shorter at random.
    pub(super) fn with_jitter(&mut self, pause: TimeDelta) -> TimeDelta {
        let tenth = pause / 10;
        pause - tenth + self.random_up_to(tenth * 2)
    }
}
