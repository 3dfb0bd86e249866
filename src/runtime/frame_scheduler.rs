//! The frame gate: the first frame after a quiet moment is drawn at once, then at most one per 16 ms, none when nothing
//! changed. A frame that came by itself is no reason to let a key wait: frames that answer the user count among themselves.
//! It only says when; what is drawn and what counts as a change is not its business.

use std::time::{Duration, Instant};

/// Shortest time between two frames.
pub const PAUSE: Duration = Duration::from_millis(16);
/// How long a frame waits for what is being read from the record: it makes one frame of two, and one with a loading line
/// that nobody could have read.
pub const READING: Duration = Duration::from_millis(5);

/// Says when the next frame is due.
#[derive(Debug, Default)]
pub struct FrameScheduler {
    wanted: bool,
    /// What is wanted answers the user.
    answers: bool,
    last: Option<Instant>,
    last_answer: Option<Instant>,
    /// Until when frames wait for the record; stays when that has passed, so that a slow disk holds up one frame alone.
    held: Option<Instant>,
}

impl FrameScheduler {
    /// Something on the screen changed.
    pub fn want(&mut self) {
        self.wanted = true;
    }

    /// What changed is what the user did.
    pub fn want_answer(&mut self) {
        self.wanted = true;
        self.answers = true;
    }

    /// Whether something that belongs on the screen is being read from the record at this moment.
    pub fn reading(&mut self, reading: bool, now: Instant) {
        self.held = reading.then(|| self.held.unwrap_or(now + READING));
    }

    /// The moment from which a frame may be drawn; none when nothing changed since the last one.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        let last = if self.answers { self.last_answer } else { self.last };
        let rested = last.map_or(now, |last| last + PAUSE);
        self.wanted.then_some(rested.max(self.held.unwrap_or(now)).max(now))
    }

    /// Whether nothing is left to draw.
    pub fn is_at_rest(&self) -> bool {
        !self.wanted
    }

    /// Whether a frame is to be drawn right now.
    pub fn is_open(&self, now: Instant) -> bool {
        self.due(now).is_some_and(|due| due <= now)
    }

    /// A frame was drawn at that moment.
    pub fn drawn(&mut self, at: Instant) {
        self.wanted = false;
        self.last = Some(at);
        if std::mem::take(&mut self.answers) {
            self.last_answer = self.last;
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
    fn the_first_frame_after_a_quiet_moment_is_drawn_at_once() {
        let start = Instant::now();
        let mut gate = FrameScheduler::default();
        gate.want();
        assert!(gate.is_open(start));
        gate.drawn(start);
        gate.want();
        assert!(gate.is_open(start + ms(500)));
    }

    #[test]
    fn a_flood_of_changes_gives_one_frame_per_pause() {
        let start = Instant::now();
        let mut gate = FrameScheduler::default();
        let mut frames = 0;
        for passed in 0..160 {
            gate.want();
            if gate.is_open(start + ms(passed)) {
                gate.drawn(start + ms(passed));
                frames += 1;
            }
        }
        assert_eq!(frames, 10);
    }

    #[test]
    fn a_change_during_the_pause_is_due_at_its_end() {
        let start = Instant::now();
        let mut gate = FrameScheduler::default();
        gate.drawn(start);
        gate.want();
        assert!(!gate.is_open(start + ms(3)));
        assert_eq!(gate.due(start + ms(3)), Some(start + PAUSE));
    }

    #[test]
    fn a_key_does_not_wait_for_a_frame_that_came_by_itself_but_for_one_that_answered() {
        let start = Instant::now();
        let mut gate = FrameScheduler::default();
        gate.want();
        gate.drawn(start);
        gate.want_answer();
        assert!(gate.is_open(start + ms(1)));
        gate.drawn(start + ms(1));
        gate.want_answer();
        assert_eq!(gate.due(start + ms(2)), Some(start + ms(1) + PAUSE));
        gate.drawn(start + ms(1) + PAUSE);
        gate.want();
        assert_eq!(gate.due(start + ms(20)), Some(start + ms(1) + 2 * PAUSE), "what comes by itself waits for both");
    }

    #[test]
    fn a_frame_waits_a_moment_for_the_record_and_no_longer() {
        let start = Instant::now();
        let mut gate = FrameScheduler::default();
        gate.want();
        gate.reading(true, start);
        assert_eq!(gate.due(start), Some(start + READING));
        gate.reading(false, start + ms(1));
        assert!(gate.is_open(start + ms(1)), "it was read");
        gate.reading(true, start + ms(1));
        assert!(gate.is_open(start + ms(1) + READING), "it takes too long");
        gate.drawn(start + ms(1) + READING);
        gate.want();
        gate.reading(true, start + ms(30));
        assert!(gate.is_open(start + ms(30)), "what is slow holds up one frame");
    }

    #[test]
    fn nothing_is_due_when_nothing_changed() {
        let start = Instant::now();
        let mut gate = FrameScheduler::default();
        assert_eq!(gate.due(start), None);
        gate.want();
        gate.drawn(start);
        assert_eq!(gate.due(start + ms(1000)), None);
    }
}
