//! Joins key sequences that arrive in pieces. Over SSH an arrow key can be split between packets, and is then read as
//! the three keys Esc, `[` and `A`. No typed key is lost or reordered.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// How long an Esc is held back in case the rest of a sequence follows.
pub const HOLD: Duration = Duration::from_millis(25);
/// Maximum length of a sequence without its Esc, such as `[24~`.
const MAX_SEQUENCE_LENGTH: usize = 4;

/// Keys that are held back because they may be the start of a split sequence, and when the last of them arrived.
#[derive(Debug, Default)]
pub struct EscapeReassembler {
    pending: Vec<KeyEvent>,
    last_held_at: Option<Instant>,
}

impl EscapeReassembler {
    /// Processes one event. Appends to `out`, in order, the events that don't have to wait.
    pub fn push(&mut self, event: Event, now: Instant, out: &mut impl Extend<Event>) {
        let key = match event {
            Event::Key(key) if key.kind == KeyEventKind::Release => return,
            Event::Key(key)
                if key.kind == KeyEventKind::Press && key.modifiers.difference(KeyModifiers::SHIFT).is_empty() =>
            {
                key
            }
            other => {
                self.release(out);
                out.extend([other]);
                return;
            }
        };
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            self.release(out);
        }
        if self.pending.is_empty() {
            self.begin(key, now, out);
            return;
        }
        self.pending.push(key);
        match self.parse_held_keys() {
            HeldKeys::Complete(code, modifiers) => {
                self.drop_held();
                out.extend([Event::Key(KeyEvent::new(code, modifiers))]);
            }
            HeldKeys::Partial => self.last_held_at = Some(now),
            HeldKeys::NoSequence => {
                self.pending.pop();
                self.release(out);
                self.begin(key, now, out);
            }
        }
    }

    /// Returns when [`Self::expire`] must be called to release the held keys, or `None` if no keys are held.
    pub fn deadline(&self) -> Option<Instant> {
        self.last_held_at.map(|since| since + HOLD)
    }

    /// Releases the held keys if their deadline has passed.
    pub fn expire(&mut self, now: Instant, out: &mut impl Extend<Event>) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            self.release(out);
        }
    }

    fn begin(&mut self, key: KeyEvent, now: Instant, out: &mut impl Extend<Event>) {
        if key.code == KeyCode::Esc && key.modifiers.is_empty() {
            self.pending.push(key);
            self.last_held_at = Some(now);
        } else {
            out.extend([Event::Key(key)]);
        }
    }

    fn release(&mut self, out: &mut impl Extend<Event>) {
        self.last_held_at = None;
        out.extend(self.pending.drain(..).map(Event::Key));
    }

    fn drop_held(&mut self) {
        self.last_held_at = None;
        self.pending.clear();
    }

    fn parse_held_keys(&self) -> HeldKeys {
        let after = self.pending.get(1..).unwrap_or_default();
        let typed: Option<String> = after
            .iter()
            .map(|key| match key.code {
                KeyCode::Char(c) => Some(c),
                _ => None,
            })
            .collect();
        let Some(typed) = typed else { return HeldKeys::NoSequence };
        let Some(rest) = typed.strip_prefix('[') else { return HeldKeys::NoSequence };
        let none = KeyModifiers::NONE;
        let code = match rest {
            "" => return HeldKeys::Partial,
            "A" => KeyCode::Up,
            "B" => KeyCode::Down,
            "C" => KeyCode::Right,
            "D" => KeyCode::Left,
            "H" | "1~" | "7~" => KeyCode::Home,
            "F" | "4~" | "8~" => KeyCode::End,
            "2~" => KeyCode::Insert,
            "3~" => KeyCode::Delete,
            "5~" => KeyCode::PageUp,
            "6~" => KeyCode::PageDown,
            "Z" => return HeldKeys::Complete(KeyCode::BackTab, KeyModifiers::SHIFT),
            digits if digits.bytes().all(|b| b.is_ascii_digit()) && typed.len() < MAX_SEQUENCE_LENGTH => {
                return HeldKeys::Partial;
            }
            _ => return HeldKeys::NoSequence,
        };
        HeldKeys::Complete(code, none)
    }
}

/// The meaning of the held keys: a complete sequence, the start of one, or no sequence.
enum HeldKeys {
    Complete(KeyCode, KeyModifiers),
    Partial,
    NoSequence,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(code: KeyCode) -> Event {
        Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn codes(events: &[Event]) -> Vec<KeyCode> {
        events.iter().filter_map(|event| event.as_key_event()).map(|key| key.code).collect()
    }

    /// Feeds the keys, each after a pause in ms, waits for the last deadline, and returns the released keys.
    fn feed(keys: &[(u64, KeyCode)]) -> Vec<KeyCode> {
        let (mut filter, mut out, mut now) = (EscapeReassembler::default(), Vec::new(), Instant::now());
        for (pause, code) in keys {
            now += Duration::from_millis(*pause);
            filter.push(key(*code), now, &mut out);
        }
        filter.expire(now + HOLD, &mut out);
        codes(&out)
    }

    use KeyCode::{Char, Esc};

    #[test]
    fn an_arrow_split_across_packets_is_an_arrow() {
        assert_eq!(feed(&[(0, Esc), (5, Char('[')), (5, Char('A'))]), [KeyCode::Up]);
        assert_eq!(feed(&[(0, Esc), (5, Char('[')), (0, Char('6')), (0, Char('~'))]), [KeyCode::PageDown]);
    }

    #[test]
    fn keys_typed_slowly_are_not_joined() {
        assert_eq!(feed(&[(0, Esc), (40, Char('[')), (40, Char('A'))]), [Esc, Char('['), Char('A')]);
        assert_eq!(feed(&[(0, Esc), (10, Char('[')), (40, Char('A'))]), [Esc, Char('['), Char('A')]);
    }

    #[test]
    fn a_single_esc_is_released_at_its_deadline_and_not_before() {
        let (mut filter, mut out, now) = (EscapeReassembler::default(), Vec::new(), Instant::now());
        filter.push(key(Esc), now, &mut out);
        filter.expire(now + HOLD / 2, &mut out);
        assert_eq!(codes(&out), []);
        filter.expire(now + HOLD, &mut out);
        assert_eq!(codes(&out), [Esc]);
        assert_eq!(filter.deadline(), None);
    }

    #[test]
    fn an_esc_is_released_before_the_key_that_follows_it() {
        assert_eq!(feed(&[(0, Esc), (1, Char('q'))]), [Esc, Char('q')]);
        assert_eq!(feed(&[(0, Esc), (1, Esc), (1, Char('[')), (1, Char('B'))]), [Esc, KeyCode::Down]);
    }

    #[test]
    fn a_paste_or_a_chord_releases_held_keys_first() {
        let (mut filter, mut out, now) = (EscapeReassembler::default(), Vec::new(), Instant::now());
        filter.push(key(Esc), now, &mut out);
        filter.push(Event::Paste("x".into()), now, &mut out);
        assert_eq!(out, [key(Esc), Event::Paste("x".into())]);
    }

    #[test]
    fn a_released_key_is_dropped() {
        let (mut filter, mut out) = (EscapeReassembler::default(), Vec::new());
        let release = KeyEvent::new_with_kind(Char('a'), KeyModifiers::NONE, KeyEventKind::Release);
        filter.push(Event::Key(release), Instant::now(), &mut out);
        assert!(out.is_empty());
    }

    proptest! {
        #[test]
        fn no_typed_key_is_lost_or_reordered(typed in prop::collection::vec((0_u64..60, prop::sample::select(vec!['\x1b', '[', 'A', '5', '~', 'q'])), 0..40)) {
            let keys: Vec<(u64, KeyCode)> =
                typed.iter().map(|(pause, c)| (*pause, if *c == '\x1b' { Esc } else { Char(*c) })).collect();
            let spelled: String = feed(&keys)
                .into_iter()
                .map(|code| match code {
                    Esc => "\x1b".to_owned(),
                    Char(c) => c.to_string(),
                    KeyCode::Up => "\x1b[A".to_owned(),
                    KeyCode::PageUp => "\x1b[5~".to_owned(),
                    other => format!("{other:?}"),
                })
                .collect();
            prop_assert_eq!(spelled, typed.iter().map(|(_, c)| *c).collect::<String>());
        }
    }
}
