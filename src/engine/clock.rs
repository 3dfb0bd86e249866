//! The service's time on this computer: the last Date header carried on by the monotonic clock. A jump of the local wall
//! clock moves nothing while the program runs, so it never frees a place in a ledger.
//!
//! The scheduler's own steady time is kept here too; what is written into the record is local wall time.

use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::store::{Store, StoreError};
use chrono::{SubsecRound, TimeDelta, Utc};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A Date header counts whole seconds: only what lies outside its second says that the clock is off.
const DATE_SECOND: TimeDelta = TimeDelta::seconds(1);
/// An offset is worth a write once it has moved by this much.
const WORTH_KEEPING: TimeDelta = TimeDelta::seconds(2);

/// The local wall clock, for the record: in whole milliseconds, as the store keeps them.
pub(super) fn local_now() -> Time {
    Utc::now().trunc_subsecs(3)
}

/// How far the service's clock was ahead of the local one when an instance last saw its Date header; none before any.
pub(super) async fn remembered_offset(store: &Store, scope: &Scope) -> Result<Option<TimeDelta>, StoreError> {
    let remembered = store.recall(&scope.clock_key()).await?;
    Ok(remembered.and_then(|millis| millis.parse().ok()).and_then(TimeDelta::try_milliseconds))
}

/// A moment of the service's time, tied to one of the monotonic clock.
#[derive(Debug, Clone, Copy)]
struct ClockAnchor {
    time: Time,
    at: Instant,
    /// Service minus local wall clock, as last kept in the store.
    kept_offset: TimeDelta,
}

/// What a Date header did to the clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Observed {
    /// The clock moved by more than a Date header's own coarseness: whoever sleeps until a moment looks again.
    pub(super) moved: bool,
    /// The offset to the local wall clock, when it changed enough to be kept.
    pub(super) keep: Option<TimeDelta>,
}

/// Service time and steady time. Readings never follow the local wall clock.
#[derive(Debug)]
pub(super) struct ServiceClock {
    started: Instant,
    started_wall: Time,
    anchor: Mutex<ClockAnchor>,
}

impl ServiceClock {
    /// Before any Date header the service's time is the local wall clock, corrected by the offset seen in an earlier run.
    pub(super) fn new(wall: Time, remembered: Option<TimeDelta>) -> Self {
        let offset = remembered.unwrap_or_default();
        let at = Instant::now();
        let time = wall.checked_add_signed(offset).unwrap_or(wall);
        Self { started: at, started_wall: wall, anchor: Mutex::new(ClockAnchor { time, at, kept_offset: offset }) }
    }

    /// The service's time, in whole milliseconds.
    pub(super) fn now(&self) -> Time {
        let anchor = *self.lock();
        later(anchor.time, anchor.at.elapsed()).trunc_subsecs(3)
    }

    /// Takes in a Date header; `wall` is the local wall clock at that moment.
    pub(super) fn observe(&self, date: Time, wall: Time) -> Observed {
        let mut anchor = self.lock();
        let at = Instant::now();
        let reading = later(anchor.time, at.saturating_duration_since(anchor.at));
        let drift = date - reading;
        // Anywhere inside the header's second the reading may be right; to follow it would make the clock jitter.
        if drift > -DATE_SECOND && drift <= TimeDelta::zero() {
            return Observed::default();
        }
        anchor.time = date;
        anchor.at = at;
        let offset = date - wall;
        let keep = ((offset - anchor.kept_offset).abs() >= WORTH_KEEPING).then_some(offset);
        if keep.is_some() {
            anchor.kept_offset = offset;
        }
        Observed { moved: drift.abs() >= WORTH_KEEPING, keep }
    }

    /// Local wall time at the start plus what the monotonic clock counted since: the scheduler's time.
    pub(super) fn steady(&self) -> Time {
        later(self.started_wall, self.started.elapsed())
    }

    /// The moment to sleep until for a steady time; now for one that has passed.
    pub(super) fn instant_of(&self, steady: Time) -> Instant {
        let ahead = (steady - self.steady()).to_std().unwrap_or(Duration::ZERO);
        let now = Instant::now();
        now.checked_add(ahead).unwrap_or(now)
    }

    /// A moment of the service's time as steady time.
    pub(super) fn steady_of(&self, service: Time) -> Time {
        let steady = self.steady();
        steady.checked_add_signed(service - self.now()).unwrap_or(steady)
    }

    /// A steady time as local wall time, for the screen.
    pub(super) fn wall_of(&self, steady: Time) -> Time {
        let wall = local_now();
        wall.checked_add_signed(steady - self.steady()).unwrap_or(wall)
    }

    /// A moment of the service's time as local wall time, for the screen, which compares it with the local clock. Clocks
    /// that agree but for a Date header's coarseness are taken as one, so that the same moment stays the same.
    pub(super) fn local_of(&self, service: Time) -> Time {
        self.local_at(service, local_now())
    }

    fn local_at(&self, service: Time, wall: Time) -> Time {
        let behind = wall - self.now();
        if behind.abs() < WORTH_KEEPING {
            return service;
        }
        let seconds = TimeDelta::milliseconds(500) + behind;
        let whole = TimeDelta::seconds(seconds.num_milliseconds().div_euclid(1000));
        service.checked_add_signed(whole).unwrap_or(service)
    }

    /// A moment of the service's time as the one to sleep until.
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
    async fn service_time_is_the_last_date_header_carried_on_by_the_monotonic_clock() {
        let clock = ServiceClock::new(at(0), None);
        clock.observe(at(500), at(0));
        tokio::time::advance(Duration::from_secs(90)).await;
        assert_eq!(clock.now(), at(590));
    }

    #[tokio::test(start_paused = true)]
    async fn before_any_date_header_the_remembered_offset_corrects_the_local_clock() {
        let clock = ServiceClock::new(at(0), Some(TimeDelta::seconds(-40)));
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(clock.now(), at(-35));
    }

    #[tokio::test(start_paused = true)]
    async fn a_jump_of_the_local_wall_clock_moves_neither_service_nor_steady_time() {
        let clock = ServiceClock::new(at(0), None);
        clock.observe(at(10), at(0));
        tokio::time::advance(Duration::from_secs(1)).await;
        // The next header comes while the wall clock stands two hours ahead.
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
    async fn an_offset_is_kept_only_when_it_changed_by_two_seconds() {
        let clock = ServiceClock::new(at(0), None);
        assert_eq!(clock.observe(at(1), at(0)).keep, None);
        assert_eq!(clock.observe(at(30), at(0)).keep, Some(TimeDelta::seconds(30)));
        assert_eq!(clock.observe(at(31), at(0)).keep, None);
        assert_eq!(clock.observe(at(30), at(0)).keep, None);
        assert_eq!(clock.observe(at(-30), at(0)), Observed { moved: true, keep: Some(TimeDelta::seconds(-30)) });
    }

    #[tokio::test(start_paused = true)]
    async fn a_moment_of_the_service_is_shown_as_the_local_clock_has_it() {
        let clock = ServiceClock::new(at(0), None);
        clock.observe(at(7200), at(0));
        assert_eq!(clock.local_at(at(7260), at(0)), at(60));
        assert_eq!(clock.local_at(at(7260), at(0) + TimeDelta::milliseconds(300)), at(60), "the same moment");
        clock.observe(at(1), at(0));
        assert_eq!(clock.local_at(at(60), at(0)), at(60), "as good as the same clock");
    }

    #[tokio::test(start_paused = true)]
    async fn a_moment_of_the_service_is_slept_until_by_the_monotonic_clock() {
        let clock = ServiceClock::new(at(0), None);
        clock.observe(at(1000), at(0));
        assert_eq!(clock.instant_of_service(at(1060)), Instant::now() + Duration::from_secs(60));
        assert_eq!(clock.instant_of_service(at(900)), Instant::now());
    }

    proptest::proptest! {
        /// The same headers at the same moments, and local clocks that are set at will: the service's time is the same, so
        /// no entry of a ledger leaves its hour any sooner.
        #[test]
        fn a_local_clock_that_is_set_at_will_moves_nothing(
            steps in proptest::collection::vec((0_u64..3_000_000, 0_i64..1000, -100_000_000_i64..100_000_000), 1..40)
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
            runtime.expect("a runtime").block_on(async {
                let (steady, set) = (ServiceClock::new(at(0), None), ServiceClock::new(at(0), None));
                let mut truth = at(700);
                for (millis, late, wall) in steps {
                    tokio::time::advance(Duration::from_millis(millis)).await;
                    truth += TimeDelta::milliseconds(i64::try_from(millis).expect("small"));
                    // A header counts whole seconds, and arrives after it was written.
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
