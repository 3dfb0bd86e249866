//! The service's time on this computer: the last Date header plus the monotonic time since then.
//! While the program runs, a jump of the local wall clock changes nothing, so it never frees a
//! request in a ledger.
//!
//! The module also provides the scheduler's steady time and the local wall time, in which the store
//! records.

use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::store::{Store, StoreError};
use chrono::{SubsecRound, TimeDelta, Utc};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A Date header has whole seconds: the clock is wrong only if it is outside of the header's
/// second.
const DATE_SECOND: TimeDelta = TimeDelta::seconds(1);
/// An offset is saved once it has changed by this much.
const WORTH_SAVING: TimeDelta = TimeDelta::seconds(2);

/// The local wall clock for the store, in whole milliseconds, its precision.
pub(super) fn local_now() -> Time {
    Utc::now().trunc_subsecs(3)
}

/// How far the service's clock was ahead of the local one when an instance last saw its Date
/// header; `None` if none has.
pub(super) async fn saved_offset(store: &Store, scope: &Scope) -> Result<Option<TimeDelta>, StoreError> {
    let saved = store.value(&scope.clock_key()).await?;
    Ok(saved.and_then(|millis| millis.parse().ok()).and_then(TimeDelta::try_milliseconds))
}

/// A moment of the service's time, tied to one of the monotonic clock.
#[derive(Debug, Clone, Copy)]
struct ClockAnchor {
    time: Time,
    at: Instant,
    /// Service minus local wall clock, as last saved in the store.
    saved_offset: TimeDelta,
}

/// The effect of a Date header on the clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Observed {
    /// The clock moved by more than the precision of a Date header: sleeping tasks must recompute their
    /// wake-up time.
    pub(super) moved: bool,
    /// The new offset to the local wall clock, if it changed enough to be saved.
    pub(super) save: Option<TimeDelta>,
}

/// Service time and steady time. Neither follows the local wall clock after the start.
#[derive(Debug)]
pub(super) struct ServiceClock {
    started: Instant,
    started_wall: Time,
    anchor: Mutex<ClockAnchor>,
}

impl ServiceClock {
    /// Until the first Date header the service's time is the local wall clock, corrected by the offset
    /// saved in an earlier run.
    pub(super) fn new(wall: Time, saved: Option<TimeDelta>) -> Self {
        let offset = saved.unwrap_or_default();
        let at = Instant::now();
        let time = wall.checked_add_signed(offset).unwrap_or(wall);
        Self { started: at, started_wall: wall, anchor: Mutex::new(ClockAnchor { time, at, saved_offset: offset }) }
    }

    /// The service's time, in whole milliseconds.
    pub(super) fn now(&self) -> Time {
        let anchor = *self.lock();
        later(anchor.time, anchor.at.elapsed()).trunc_subsecs(3)
    }

    /// Applies a Date header; `wall` is the local wall clock at that moment.
    pub(super) fn observe(&self, date: Time, wall: Time) -> Observed {
        let mut anchor = self.lock();
        let at = Instant::now();
        let reading = later(anchor.time, at.saturating_duration_since(anchor.at));
        let drift = date - reading;
        // Any reading within the header's second may be right; following it would make the clock jitter.
        if drift > -DATE_SECOND && drift <= TimeDelta::zero() {
            return Observed::default();
        }
        anchor.time = date;
        anchor.at = at;
        let offset = date - wall;
        let save = ((offset - anchor.saved_offset).abs() >= WORTH_SAVING).then_some(offset);
        if save.is_some() {
            anchor.saved_offset = offset;
        }
        Observed { moved: drift.abs() >= WORTH_SAVING, save }
    }

    /// The scheduler's time: local wall time at the start plus the monotonic time since then.
    pub(super) fn steady(&self) -> Time {
        later(self.started_wall, self.started.elapsed())
    }

    /// The moment to sleep until for a steady time; now if it has passed.
    pub(super) fn instant_of(&self, steady: Time) -> Instant {
        let ahead = (steady - self.steady()).to_std().unwrap_or(Duration::ZERO);
        let now = Instant::now();
        now.checked_add(ahead).unwrap_or(now)
    }

    /// Converts service time to steady time.
    pub(super) fn steady_of(&self, service: Time) -> Time {
        let steady = self.steady();
        steady.checked_add_signed(service - self.now()).unwrap_or(steady)
    }

    /// Converts steady time to local wall time, for the screen.
    pub(super) fn wall_of(&self, steady: Time) -> Time {
        let wall = local_now();
        wall.checked_add_signed(steady - self.steady()).unwrap_or(wall)
    }

    /// Converts service time to local wall time for the screen, which compares it with the local clock.
    /// If the clocks differ by no more than the precision of a Date header, the time is returned
    /// unchanged.
    pub(super) fn local_of(&self, service: Time) -> Time {
        self.local_at(service, local_now())
    }

    fn local_at(&self, service: Time, wall: Time) -> Time {
        let behind = wall - self.now();
        if behind.abs() < WORTH_SAVING {
            return service;
        }
        let seconds = TimeDelta::milliseconds(500) + behind;
        let whole = TimeDelta::seconds(seconds.num_milliseconds().div_euclid(1000));
        service.checked_add_signed(whole).unwrap_or(service)
    }

    /// Converts service time to the moment to sleep until.
    pub(super) fn instant_of_service(&self, service: Time) -> Instant {
        self.instant_of(self.steady_of(service))
    }

    fn lock(&self) -> MutexGuard<'_, ClockAnchor> {
        self.anchor.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn later(time: Time, by: Duration) -> Time {
    TimeDelta::from_std(by).ok().and_then(|by| time.checked_add_signed(by)).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
    }

    #[tokio::test(start_paused = true)]
    async fn service_time_is_the_last_date_header_plus_monotonic_time() {
        let clock = ServiceClock::new(at(0), None);
        clock.observe(at(500), at(0));
        tokio::time::advance(Duration::from_secs(90)).await;
        assert_eq!(clock.now(), at(590));
    }

    #[tokio::test(start_paused = true)]
    async fn until_the_first_date_header_the_saved_offset_corrects_the_local_clock() {
        let clock = ServiceClock::new(at(0), Some(TimeDelta::seconds(-40)));
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(clock.now(), at(-35));
    }

    #[tokio::test(start_paused = true)]
    async fn a_jump_of_the_local_wall_clock_moves_neither_service_nor_steady_time() {
        let clock = ServiceClock::new(at(0), None);
        clock.observe(at(10), at(0));
        tokio::time::advance(Duration::from_secs(1)).await;
        // The next header arrives while the wall clock is two hours ahead.
        let seen = clock.observe(at(11), at(7200));
        assert_eq!((clock.now(), clock.steady()), (at(11), at(1)));
        assert!(!seen.moved);
    }

    #[tokio::test(start_paused = true)]
    async fn the_coarse_seconds_of_date_headers_do_not_make_the_clock_jitter() {
        let clock = ServiceClock::new(at(0), None);
        clock.observe(at(100), at(0));
        tokio::time::advance(Duration::from_millis(900)).await;
        clock.observe(at(100), at(0));
        assert_eq!(clock.now(), at(100) + TimeDelta::milliseconds(900));
    }

    #[tokio::test(start_paused = true)]
    async fn an_offset_is_saved_only_if_it_changed_by_two_seconds() {
        let clock = ServiceClock::new(at(0), None);
        assert_eq!(clock.observe(at(1), at(0)).save, None);
        assert_eq!(clock.observe(at(30), at(0)).save, Some(TimeDelta::seconds(30)));
        assert_eq!(clock.observe(at(31), at(0)).save, None);
        assert_eq!(clock.observe(at(30), at(0)).save, None);
        assert_eq!(clock.observe(at(-30), at(0)), Observed { moved: true, save: Some(TimeDelta::seconds(-30)) });
    }

    #[tokio::test(start_paused = true)]
    async fn service_time_is_converted_to_the_local_clock() {
        let clock = ServiceClock::new(at(0), None);
        clock.observe(at(7200), at(0));
        assert_eq!(clock.local_at(at(7260), at(0)), at(60));
        assert_eq!(clock.local_at(at(7260), at(0) + TimeDelta::milliseconds(300)), at(60), "the same moment");
        clock.observe(at(1), at(0));
        assert_eq!(clock.local_at(at(60), at(0)), at(60), "the clocks differ by less than two seconds");
    }

    #[tokio::test(start_paused = true)]
    async fn sleeping_until_a_service_time_uses_the_monotonic_clock() {
        let clock = ServiceClock::new(at(0), None);
        clock.observe(at(1000), at(0));
        assert_eq!(clock.instant_of_service(at(1060)), Instant::now() + Duration::from_secs(60));
        assert_eq!(clock.instant_of_service(at(900)), Instant::now());
    }

    proptest::proptest! {
        /// With the same headers at the same moments and arbitrary local clocks, the service's time is the
        /// same, so no entry of a ledger expires early.
        #[test]
        fn changing_the_local_clock_changes_neither_time(
            steps in proptest::collection::vec((0_u64..3_000_000, 0_i64..1000, -100_000_000_i64..100_000_000), 1..40)
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
            runtime.expect("a runtime").block_on(async {
                let (steady, set) = (ServiceClock::new(at(0), None), ServiceClock::new(at(0), None));
                let mut truth = at(700);
                for (millis, late, wall) in steps {
                    tokio::time::advance(Duration::from_millis(millis)).await;
                    truth += TimeDelta::milliseconds(i64::try_from(millis).expect("small"));
                    // A header has whole seconds and arrives some time after it was written.
                    let date = (truth - TimeDelta::milliseconds(late)).trunc_subsecs(0);
                    let seen = steady.observe(date, at(0));
                    assert_eq!(set.observe(date, at(wall)).moved, seen.moved);
                    assert_eq!((set.now(), set.steady()), (steady.now(), steady.steady()));
                    let off = truth - set.now();
                    assert!(off.abs() <= TimeDelta::seconds(3), "{off} off the service's time");
                }
            });
        }
    }
}
