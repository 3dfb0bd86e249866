//! Three kinds of time. Service time is the last Date header from the service plus the monotonic time since then; the
//! ledgers of the hourly limits use it. Steady time, which the scheduler uses, is the local wall time at the start plus
//! the monotonic time since then. Service time and steady time ignore jumps of the local clock, so a jump never makes
//! used requests available again. Local wall time is used for times in the store and on screen.

use crate::model::Time;
use chrono::{SubsecRound, TimeDelta, Utc};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The precision of a Date header. The header has whole seconds, so the service may have sent it at any moment of that
/// second.
const DATE_HEADER_PRECISION: TimeDelta = TimeDelta::seconds(1);
/// Smaller differences between two clocks are ignored, because Date headers have whole seconds.
const MIN_CLOCK_CHANGE: TimeDelta = TimeDelta::seconds(2);

/// Returns the local wall time in whole milliseconds, the precision of the store.
pub(super) fn local_now() -> Time {
    Utc::now().trunc_subsecs(3)
}

/// Sleeps until `wake`, or forever for `None`.
pub async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// A moment on the service's clock and the same moment on the monotonic clock.
#[derive(Debug, Clone, Copy)]
struct ClockAnchor {
    service_time: Time,
    /// The same moment on the monotonic clock.
    instant: Instant,
    /// Service time minus local wall time, as last saved in the store.
    saved_offset: TimeDelta,
}

/// The effect of a Date header on the clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ClockUpdate {
    /// Whether service time jumped by two seconds or more, so that sleeping tasks must recompute when to
    /// wake up.
    pub(super) has_jumped: bool,
    /// Service time minus local wall time; `None` if it changed too little to be saved again.
    pub(super) offset_to_save: Option<TimeDelta>,
}

/// The clock for service time and steady time.
#[derive(Debug)]
pub(super) struct ServiceClock {
    started: Instant,
    wall_time_at_start: Time,
    anchor: Mutex<ClockAnchor>,
}

impl ServiceClock {
    /// Starts the clock at the local wall time `wall`. Until the first Date header, service time is the
    /// local wall time plus the offset that an earlier run saved.
    pub(super) fn new(wall: Time, saved_offset: Option<TimeDelta>) -> Self {
        let offset = saved_offset.unwrap_or_default();
        let instant = Instant::now();
        let service_time = wall.checked_add_signed(offset).unwrap_or(wall);
        let anchor = Mutex::new(ClockAnchor { service_time, instant, saved_offset: offset });
        Self { started: instant, wall_time_at_start: wall, anchor }
    }

    /// Returns the service time now, in whole milliseconds.
    pub(super) fn now(&self) -> Time {
        let anchor = *self.lock();
        add_duration(anchor.service_time, anchor.instant.elapsed()).trunc_subsecs(3)
    }

    /// Sets service time from a Date header that arrived at the local wall time `wall`, unless service time is already
    /// within the header's second.
    pub(super) fn sync_to(&self, date: Time, wall: Time) -> ClockUpdate {
        let mut anchor = self.lock();
        let instant = Instant::now();
        let reading = add_duration(anchor.service_time, instant.saturating_duration_since(anchor.instant));
        let drift = date - reading;
        // The clock's reading is within the second of the header, so the reading may be exact. Setting the clock to
        // the start of that second would make it jitter.
        if drift > -DATE_HEADER_PRECISION && drift <= TimeDelta::zero() {
            return ClockUpdate::default();
        }
        // If the clock is less than two seconds ahead of the header, the response was probably slow. The clock is then
        // set to the end of the header's second, so that it moves back as little as possible and later events rarely
        // get earlier times than the events before them.
        let is_slow_response = drift <= -DATE_HEADER_PRECISION && drift > -MIN_CLOCK_CHANGE;
        let date = if is_slow_response { date + DATE_HEADER_PRECISION } else { date };
        anchor.service_time = date;
        anchor.instant = instant;
        let offset = date - wall;
        let save = ((offset - anchor.saved_offset).abs() >= MIN_CLOCK_CHANGE).then_some(offset);
        if save.is_some() {
            anchor.saved_offset = offset;
        }
        ClockUpdate { has_jumped: drift.abs() >= MIN_CLOCK_CHANGE, offset_to_save: save }
    }

    /// Returns the steady time now: the local wall time at the start plus the monotonic time since then.
    pub(super) fn steady_now(&self) -> Time {
        add_duration(self.wall_time_at_start, self.started.elapsed())
    }

    /// Converts steady time to the monotonic moment to sleep until. If the time has passed, returns the current
    /// moment.
    pub(super) fn steady_to_instant(&self, steady: Time) -> Instant {
        let ahead = (steady - self.steady_now()).to_std().unwrap_or(Duration::ZERO);
        let now = Instant::now();
        now.checked_add(ahead).unwrap_or(now)
    }

    /// Converts service time to steady time.
    pub(super) fn service_to_steady(&self, service: Time) -> Time {
        let steady = self.steady_now();
        steady.checked_add_signed(service - self.now()).unwrap_or(steady)
    }

    /// Converts steady time to local wall time, for the screen.
    pub(super) fn steady_to_local(&self, steady: Time) -> Time {
        let wall = local_now();
        wall.checked_add_signed(steady - self.steady_now()).unwrap_or(wall)
    }

    /// Converts service time to local wall time, so that the screen can compare the time with the local clock. If the
    /// two clocks differ by less than two seconds, returns the time unchanged.
    pub(super) fn service_to_local(&self, service: Time) -> Time {
        self.service_to_local_at(service, local_now())
    }

    /// Converts local wall time to service time, the reverse of [`Self::service_to_local`].
    pub(super) fn local_to_service(&self, local: Time) -> Time {
        local.checked_sub_signed(self.service_to_local(local) - local).unwrap_or(local)
    }

    fn service_to_local_at(&self, service: Time, wall: Time) -> Time {
        let behind = wall - self.now();
        if behind.abs() < MIN_CLOCK_CHANGE {
            return service;
        }
        let seconds = TimeDelta::milliseconds(500) + behind;
        let whole = TimeDelta::seconds(seconds.num_milliseconds().div_euclid(1000));
        service.checked_add_signed(whole).unwrap_or(service)
    }

    /// Converts service time to the monotonic moment to sleep until.
    pub(super) fn service_to_instant(&self, service: Time) -> Instant {
        self.steady_to_instant(self.service_to_steady(service))
    }

    fn lock(&self) -> MutexGuard<'_, ClockAnchor> {
        self.anchor.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add_duration(time: Time, by: Duration) -> Time {
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
        clock.sync_to(at(500), at(0));
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
        clock.sync_to(at(10), at(0));
        tokio::time::advance(Duration::from_secs(1)).await;
        // The second header arrives when the local wall clock is two hours ahead.
        let observed = clock.sync_to(at(11), at(7200));
        assert_eq!((clock.now(), clock.steady_now()), (at(11), at(1)));
        assert!(!observed.has_jumped);
    }

    #[tokio::test(start_paused = true)]
    async fn date_headers_in_whole_seconds_do_not_make_the_clock_jitter() {
        let clock = ServiceClock::new(at(0), None);
        clock.sync_to(at(100), at(0));
        tokio::time::advance(Duration::from_millis(900)).await;
        clock.sync_to(at(100), at(0));
        assert_eq!(clock.now(), at(100) + TimeDelta::milliseconds(900));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_response_sets_the_clock_back_no_further_than_its_header_requires() {
        let clock = ServiceClock::new(at(0), None);
        clock.sync_to(at(100), at(0));
        tokio::time::advance(Duration::from_millis(1200)).await;
        clock.sync_to(at(100), at(0));
        assert_eq!(clock.now(), at(101));
        tokio::time::advance(Duration::from_secs(30)).await;
        clock.sync_to(at(100), at(0));
        assert_eq!(clock.now(), at(100), "the service's clock was set back");
    }

    #[tokio::test(start_paused = true)]
    async fn an_offset_is_saved_only_if_it_changed_by_two_seconds() {
        let clock = ServiceClock::new(at(0), None);
        assert_eq!(clock.sync_to(at(1), at(0)).offset_to_save, None);
        assert_eq!(clock.sync_to(at(30), at(0)).offset_to_save, Some(TimeDelta::seconds(30)));
        assert_eq!(clock.sync_to(at(31), at(0)).offset_to_save, None);
        assert_eq!(clock.sync_to(at(30), at(0)).offset_to_save, None);
        assert_eq!(
            clock.sync_to(at(-30), at(0)),
            ClockUpdate { has_jumped: true, offset_to_save: Some(TimeDelta::seconds(-30)) }
        );
    }

    #[tokio::test(start_paused = true)]
    async fn service_time_is_converted_to_the_local_clock() {
        let clock = ServiceClock::new(at(0), None);
        clock.sync_to(at(7200), at(0));
        assert_eq!(clock.service_to_local_at(at(7260), at(0)), at(60));
        assert_eq!(
            clock.service_to_local_at(at(7260), at(0) + TimeDelta::milliseconds(300)),
            at(60),
            "the same moment"
        );
        clock.sync_to(at(1), at(0));
        assert_eq!(clock.service_to_local_at(at(60), at(0)), at(60), "the clocks differ by less than two seconds");
    }

    #[tokio::test(start_paused = true)]
    async fn sleeping_until_a_service_time_uses_the_monotonic_clock() {
        let clock = ServiceClock::new(at(0), None);
        clock.sync_to(at(1000), at(0));
        assert_eq!(clock.service_to_instant(at(1060)), Instant::now() + Duration::from_secs(60));
        assert_eq!(clock.service_to_instant(at(900)), Instant::now());
    }

    proptest::proptest! {
        /// Two clocks that get the same headers at the same moments show the same service time, however the
        /// local clock is changed. So no request in a ledger expires early.
        #[test]
        fn changing_the_local_clock_changes_neither_service_time_nor_steady_time(
            steps in proptest::collection::vec((0_u64..3_000_000, 0_i64..1000, -100_000_000_i64..100_000_000), 1..40)
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
            runtime.expect("a runtime").block_on(async {
                let (reference, clock) = (ServiceClock::new(at(0), None), ServiceClock::new(at(0), None));
                let mut truth = at(700);
                for (millis, delay, wall) in steps {
                    tokio::time::advance(Duration::from_millis(millis)).await;
                    truth += TimeDelta::milliseconds(i64::try_from(millis).expect("small"));
                    // A header has whole seconds and arrives some time after the service wrote it.
                    let date = (truth - TimeDelta::milliseconds(delay)).trunc_subsecs(0);
                    let observed = reference.sync_to(date, at(0));
                    assert_eq!(clock.sync_to(date, at(wall)).has_jumped, observed.has_jumped);
                    assert_eq!((clock.now(), clock.steady_now()), (reference.now(), reference.steady_now()));
                    let error = truth - clock.now();
                    assert!(error.abs() <= TimeDelta::seconds(3), "{error} off the service's time");
                }
            });
        }
    }
}
