//! Schedules frames: the first frame after a pause is drawn at once, then at most one per 16 ms, and none if nothing
//! changed. Frames that respond to the user's input have their own interval, so that a key press never waits because of
//! a frame that was drawn for another reason.

use std::time::{Duration, Instant};

/// Minimum time between two frames.
pub const MIN_FRAME_INTERVAL: Duration = Duration::from_millis(16);
/// Maximum time for which a frame waits for a read from the store. The wait avoids a frame with “Loading…” that would
/// be replaced before anybody could read it.
pub const MAX_FRAME_DELAY_FOR_READ: Duration = Duration::from_millis(5);

/// Decides when the next frame is due.
#[derive(Debug, Default)]
pub struct FrameScheduler {
    is_frame_requested: bool,
    /// Whether the requested frame responds to the user's input.
    is_for_input: bool,
    last_frame: Option<Instant>,
    last_input_frame: Option<Instant>,
    /// Until when frames wait for a read from the store; `None` if nothing is being read. Stays set after that time has
    /// passed, so that a slow read delays only one frame.
    delayed_until: Option<Instant>,
}

impl FrameScheduler {
    /// Requests a frame because something on the screen changed.
    pub fn request_frame(&mut self) {
        self.is_frame_requested = true;
    }

    /// Requests a frame that responds to the user's input.
    pub fn request_input_frame(&mut self) {
        self.is_frame_requested = true;
        self.is_for_input = true;
    }

    /// Sets whether something on the screen is being read from the store.
    pub fn set_reading_store(&mut self, reading: bool, now: Instant) {
        self.delayed_until = reading.then(|| self.delayed_until.unwrap_or(now + MAX_FRAME_DELAY_FOR_READ));
    }

    /// Returns the time at which the requested frame may be drawn, or `None` if no frame is requested.
    pub fn due_at(&self, now: Instant) -> Option<Instant> {
        let last = if self.is_for_input { self.last_input_frame } else { self.last_frame };
        let interval_end = last.map_or(now, |last| last + MIN_FRAME_INTERVAL);
        self.is_frame_requested.then_some(interval_end.max(self.delayed_until.unwrap_or(now)).max(now))
    }

    /// Whether no frame is requested.
    pub fn is_idle(&self) -> bool {
        !self.is_frame_requested
    }

    /// Whether a frame should be drawn now.
    pub fn is_due(&self, now: Instant) -> bool {
        self.due_at(now).is_some_and(|due| due <= now)
    }

    /// Records that a frame was drawn at this time.
    pub fn record_frame(&mut self, at: Instant) {
        self.is_frame_requested = false;
        self.last_frame = Some(at);
        if std::mem::take(&mut self.is_for_input) {
            self.last_input_frame = self.last_frame;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn the_first_frame_after_a_pause_is_drawn_at_once() {
        let start = Instant::now();
        let mut scheduler = FrameScheduler::default();
        scheduler.request_frame();
        assert!(scheduler.is_due(start));
        scheduler.record_frame(start);
        scheduler.request_frame();
        assert!(scheduler.is_due(start + ms(500)));
    }

    #[test]
    fn a_flood_of_changes_causes_one_frame_per_interval() {
        let start = Instant::now();
        let mut scheduler = FrameScheduler::default();
        let mut frames = 0;
        for passed in 0..160 {
            scheduler.request_frame();
            if scheduler.is_due(start + ms(passed)) {
                scheduler.record_frame(start + ms(passed));
                frames += 1;
            }
        }
        assert_eq!(frames, 10);
    }

    #[test]
    fn a_change_during_the_interval_is_due_at_its_end() {
        let start = Instant::now();
        let mut scheduler = FrameScheduler::default();
        scheduler.record_frame(start);
        scheduler.request_frame();
        assert!(!scheduler.is_due(start + ms(3)));
        assert_eq!(scheduler.due_at(start + ms(3)), Some(start + MIN_FRAME_INTERVAL));
    }

    #[test]
    fn a_frame_for_input_waits_only_for_earlier_frames_for_input() {
        let start = Instant::now();
        let mut scheduler = FrameScheduler::default();
        scheduler.request_frame();
        scheduler.record_frame(start);
        scheduler.request_input_frame();
        assert!(scheduler.is_due(start + ms(1)));
        scheduler.record_frame(start + ms(1));
        scheduler.request_input_frame();
        assert_eq!(scheduler.due_at(start + ms(2)), Some(start + ms(1) + MIN_FRAME_INTERVAL));
        scheduler.record_frame(start + ms(1) + MIN_FRAME_INTERVAL);
        scheduler.request_frame();
        assert_eq!(
            scheduler.due_at(start + ms(20)),
            Some(start + ms(1) + 2 * MIN_FRAME_INTERVAL),
            "other changes wait for both"
        );
    }

    #[test]
    fn a_frame_waits_for_the_store_only_for_a_limited_time() {
        let start = Instant::now();
        let mut scheduler = FrameScheduler::default();
        scheduler.request_frame();
        scheduler.set_reading_store(true, start);
        assert_eq!(scheduler.due_at(start), Some(start + MAX_FRAME_DELAY_FOR_READ));
        scheduler.set_reading_store(false, start + ms(1));
        assert!(scheduler.is_due(start + ms(1)), "it was read");
        scheduler.set_reading_store(true, start + ms(1));
        assert!(scheduler.is_due(start + ms(1) + MAX_FRAME_DELAY_FOR_READ), "it takes too long");
        scheduler.record_frame(start + ms(1) + MAX_FRAME_DELAY_FOR_READ);
        scheduler.request_frame();
        scheduler.set_reading_store(true, start + ms(30));
        assert!(scheduler.is_due(start + ms(30)), "a slow read delays only one frame");
    }

    #[test]
    fn nothing_is_due_when_nothing_changed() {
        let start = Instant::now();
        let mut scheduler = FrameScheduler::default();
        assert_eq!(scheduler.due_at(start), None);
        scheduler.request_frame();
        scheduler.record_frame(start);
        assert_eq!(scheduler.due_at(start + ms(1000)), None);
    }
}
