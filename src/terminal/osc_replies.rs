//! Asks the terminal for its background (OSC 11) and filters the reply out of the input. crossterm has no event for
//! such a reply and reports keys instead: Alt-`]`, characters, then Alt-`\` or Ctrl-G. If the reply is split between
//! packets, it starts with a separate Esc. A reply must never be handled as typed keys, whenever it arrives, and no
//! typed key may be lost. Replies that a previous program requested (other colours, the terminal's name and version)
//! are filtered out too.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// The sequence that requests the background colour.
pub(super) const QUERY: &[u8] = b"\x1b]11;?\x1b\\";
/// How long after the request a single Esc may be the start of a split reply. A reply that is not split is filtered out
/// at any time.
const SPLIT_REPLY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait for the reply before the program exits: the round trip of a slow connection.
const EXIT_TIMEOUT: Duration = Duration::from_millis(400);
/// How long a lone Esc is held back, because it may start a reply. Kept short, because it may also be a typed key.
const ESC_HOLD: Duration = Duration::from_millis(25);
/// How long Alt-`]` is held back, which may be typed as well.
const START_HOLD: Duration = Duration::from_millis(150);
/// How long Alt-`]` and further keys of a reply are held back while the next one is awaited. Long enough for a lost packet
/// or a busy computer: nobody types these keys, but a reply in pieces must not end up in a prompt.
const REPLY_HOLD: Duration = Duration::from_millis(1000);
/// How replies start after ESC, where `#` stands for any digit: a colour; the terminal's name and version.
const REPLY_STARTS: [&str; 2] = ["]1#;rgb", "P>|"];
/// Maximum length of a reply. A terminal's name with its version can be long.
const MAX_REPLY_LENGTH: usize = 100;

/// Filters replies out of a stream of events.
#[derive(Debug, Default)]
pub struct OscReplyFilter {
    requested_at: Option<Instant>,
    held_keys: Vec<KeyEvent>,
    /// The characters of the held keys after ESC; `None` if no key, or only an Esc, is held.
    held_text: Option<String>,
    /// Whether the last held key is an Esc that may be the first half of the reply's terminator.
    is_ending: bool,
    last_held_at: Option<Instant>,
    background: Option<[u8; 3]>,
    is_answered: bool,
}

impl OscReplyFilter {
    /// Records that the request was sent, so that a reply may arrive from now on.
    pub fn expect_reply(&mut self, now: Instant) {
        self.requested_at = Some(now);
        self.is_answered = false;
    }

    /// Returns the background colour, once, if the terminal has reported it.
    pub fn take_background(&mut self) -> Option<[u8; 3]> {
        self.background.take()
    }

    /// Returns until when to wait for the reply before the terminal is given to the shell, which would read
    /// the reply as typed text. Returns `None` if no reply is expected.
    pub fn reply_deadline(&self) -> Option<Instant> {
        self.requested_at.filter(|_| !self.is_answered).map(|asked| asked + EXIT_TIMEOUT)
    }

    /// Returns when [`Self::expire`] must be called for the held keys, or `None` if no keys are held.
    pub fn deadline(&self) -> Option<Instant> {
        let hold = match &self.held_text {
            Some(text) if text.len() > 1 => REPLY_HOLD,
            Some(_) => START_HOLD,
            None => ESC_HOLD,
        };
        self.last_held_at.map(|since| since + hold)
    }

    /// Releases the held keys if their deadline has passed, or drops them if they can only be a reply.
    pub fn expire(&mut self, now: Instant, out: &mut impl Extend<Event>) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            self.release_held(out);
        }
    }

    /// Processes one event. Pushes events that are not part of a reply to `out`, in order.
    pub fn push(&mut self, event: Event, now: Instant, out: &mut impl Extend<Event>) {
        self.expire(now, out);
        let key = match event {
            Event::Key(key) if self.requested_at.is_some() && key.kind == KeyEventKind::Press => key,
            other => {
                self.release_held(out);
                out.extend([other]);
                return;
            }
        };
        if self.try_continue(key) {
            self.last_held_at = Some(now);
            return;
        }
        self.release_held(out);
        if self.try_begin(key, now) {
            self.held_keys.push(key);
            self.last_held_at = Some(now);
        } else {
            out.extend([Event::Key(key)]);
        }
    }

    /// Returns whether the key continues or ends the reply that the held keys start. A key that continues the reply is
    /// held. A key that ends the reply is dropped, with all held keys.
    fn try_continue(&mut self, key: KeyEvent) -> bool {
        let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        let Some(spelled) = &mut self.held_text else {
            // No key, or only an Esc, is held.
            let opener = reply_opener(key).filter(|_| !self.held_keys.is_empty() && plain);
            if let Some(opener) = opener {
                self.held_text = Some(opener.to_owned());
                self.held_keys.push(key);
            }
            return opener.is_some();
        };
        let ends = match key.code {
            KeyCode::Char('g') => key.modifiers == KeyModifiers::CONTROL,
            KeyCode::Char('\\') => key.modifiers == KeyModifiers::ALT || (plain && self.is_ending),
            _ => false,
        };
        if ends {
            let background = spelled.strip_prefix(']').and_then(parse_background);
            if background.is_none() && (spelled.starts_with("]11") || !is_surely_a_reply(spelled)) {
                return false;
            }
            self.background = background.or(self.background);
            self.is_answered |= background.is_some();
            self.forget();
            return true;
        }
        if self.is_ending {
            return false;
        }
        if key.code == KeyCode::Esc && plain && is_surely_a_reply(spelled) {
            self.is_ending = true;
        } else if let KeyCode::Char(c) = key.code
            && plain
            && can_continue(spelled, c)
        {
            spelled.push(c);
        } else {
            return false;
        }
        self.held_keys.push(key);
        true
    }

    fn try_begin(&mut self, key: KeyEvent, now: Instant) -> bool {
        let opener = reply_opener(key).filter(|_| key.modifiers.difference(KeyModifiers::SHIFT) == KeyModifiers::ALT);
        self.held_text = opener.map(str::to_owned);
        let awaited = self.requested_at.is_some_and(|asked| now < asked + SPLIT_REPLY_TIMEOUT);
        opener.is_some() || (awaited && key.code == KeyCode::Esc && key.modifiers.is_empty())
    }

    /// Releases the held keys as typed keys, or drops them if they can only be the start of a reply.
    fn release_held(&mut self, out: &mut impl Extend<Event>) {
        if !self.is_surely_a_reply() {
            out.extend(self.held_keys.drain(..).map(Event::Key));
        }
        self.forget();
    }

    fn is_surely_a_reply(&self) -> bool {
        self.held_text.as_deref().is_some_and(is_surely_a_reply)
    }

    fn forget(&mut self) {
        self.held_keys.clear();
        self.held_text = None;
        self.is_ending = false;
        self.last_held_at = None;
    }
}

/// Returns the key's character if a reply can start with it after ESC.
fn reply_opener(key: KeyEvent) -> Option<&'static str> {
    match key.code {
        KeyCode::Char(']') => Some("]"),
        KeyCode::Char('P') => Some("P"),
        _ => None,
    }
}

/// Whether these characters after ESC can only be a reply.
fn is_surely_a_reply(spelled: &str) -> bool {
    REPLY_STARTS.iter().any(|beginning| spelled.len() >= beginning.len() && share_prefix(beginning, spelled))
}

/// Whether one of the two texts starts with the other; `#` in `beginning` stands for any digit.
fn share_prefix(beginning: &str, spelled: &str) -> bool {
    beginning.chars().zip(spelled.chars()).all(|(expected, c)| expected == c || expected == '#' && c.is_ascii_digit())
}

/// Whether a reply that starts with `spelled` may continue with this character.
fn can_continue(spelled: &str, c: char) -> bool {
    let has_begun = REPLY_STARTS.iter().any(|beginning| share_prefix(beginning, &format!("{spelled}{c}")));
    let is_printable = spelled.starts_with('P') && (c == ' ' || c.is_ascii_graphic());
    let belongs = !is_surely_a_reply(spelled) || is_printable || c.is_ascii_hexdigit() || matches!(c, ':' | '/');
    has_begun && belongs && spelled.len() < MAX_REPLY_LENGTH
}

/// Parses `11;rgb:RRRR/GGGG/BBBB`, with one to four digits per colour, and `11;rgba:…`, whose alpha value is ignored.
pub(super) fn parse_background(answer: &str) -> Option<[u8; 3]> {
    let (kind, colors) = answer.strip_prefix("11;")?.split_once(':')?;
    let mut parts = colors.split('/').map(|digits| {
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| (1..=4).contains(&digits.len()))?;
        let max_value = 16_u32.pow(u32::try_from(digits.len()).ok()?) - 1;
        u8::try_from(value * 255 / max_value).ok()
    });
    let rgb = [parts.next()??, parts.next()??, parts.next()??];
    let rest = parts.count();
    matches!((kind, rest), ("rgb", 0) | ("rgba", 1)).then_some(rgb)
}

#[cfg(test)]
mod tests {
    use super::*;
    use KeyCode::{Char, Esc};
    use proptest::prelude::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(code, modifiers))
    }

    fn typed(text: &str) -> Vec<Event> {
        text.chars().map(|c| key(Char(c), KeyModifiers::NONE)).collect()
    }

    fn alt(c: char) -> Event {
        key(Char(c), KeyModifiers::ALT)
    }

    /// Returns the keys that crossterm reports for a reply.
    fn answer(text: &str, bell: bool) -> Vec<Event> {
        let end = if bell { key(Char('g'), KeyModifiers::CONTROL) } else { alt('\\') };
        [vec![alt(']')], typed(text), vec![end]].concat()
    }

    /// Feeds the events with a pause before each, waits for the last deadline, and returns the released events and the
    /// background.
    fn feed(events: Vec<Event>, pause: Duration) -> (Vec<Event>, Option<[u8; 3]>) {
        let (mut filter, mut out, mut now) = (OscReplyFilter::default(), Vec::new(), Instant::now());
        filter.expect_reply(now);
        for event in events {
            now += pause;
            filter.push(event, now, &mut out);
        }
        filter.expire(now + REPLY_HOLD, &mut out);
        let answer = filter.take_background();
        (out, answer)
    }

    const AT_ONCE: Duration = Duration::from_millis(1);

    #[test]
    fn a_reply_is_filtered_out_between_typed_keys() {
        for (text, rgb) in [
            ("11;rgb:1e1e/1e1e/2e2e", [0x1e, 0x1e, 0x2e]),
            ("11;rgb:ff/ff/ff", [255, 255, 255]),
            ("11;rgb:0/8/f", [0, 136, 255]),
            ("11;rgba:0000/0000/0000/ffff", [0, 0, 0]),
        ] {
            for bell in [false, true] {
                let events = [typed("jj"), answer(text, bell), typed("k")].concat();
                assert_eq!(feed(events, AT_ONCE), (typed("jjk"), Some(rgb)), "{text}");
            }
        }
    }

    #[test]
    fn a_reply_in_pieces_is_recognized() {
        let esc = || key(Esc, KeyModifiers::NONE);
        let pieces = [vec![esc()], typed("]11;rgb:ffff/ffff/ffff"), vec![esc()], typed("\\q")].concat();
        let white = Some([255, 255, 255]);
        assert_eq!(feed(pieces, Duration::from_millis(20)), (typed("q"), white));
        let slow = answer("11;rgb:ffff/ffff/ffff", true);
        assert_eq!(feed(slow, Duration::from_millis(140)), (vec![], white));
    }

    #[test]
    fn a_reply_may_pause_after_its_second_character() {
        let (mut filter, mut out, mut now) = (OscReplyFilter::default(), Vec::new(), Instant::now());
        filter.expect_reply(now);
        for (n, event) in answer("11;rgb:ffff/ffff/ffff", true).into_iter().enumerate() {
            now += if n < 2 { START_HOLD / 2 } else { REPLY_HOLD - Duration::from_millis(1) };
            filter.expire(now, &mut out);
            filter.push(event, now, &mut out);
        }
        assert_eq!((out, filter.take_background()), (vec![], Some([255, 255, 255])));
    }

    #[test]
    fn a_partial_reply_is_dropped_and_the_key_after_it_is_kept() {
        let events = [vec![alt(']')], typed("11;rgb:ffff/ffz")].concat();
        assert_eq!(feed(events, AT_ONCE), (typed("z"), None));
    }

    #[test]
    fn keys_that_only_start_like_a_reply_are_kept() {
        for events in [
            vec![alt(']')],
            [vec![alt(']')], typed("1")].concat(),
            [vec![key(Esc, KeyModifiers::NONE)], typed("]x")].concat(),
            [vec![alt('P'), key(Esc, KeyModifiers::NONE)], typed(">|")].concat(),
        ] {
            assert_eq!(feed(events.clone(), AT_ONCE), (events, None));
        }
    }

    #[test]
    fn replies_that_another_program_requested_are_filtered_out() {
        let version = |end: Event| {
            let shifted = KeyModifiers::ALT | KeyModifiers::SHIFT;
            [vec![key(Char('P'), shifted)], typed(">|XTerm(370) beta"), vec![end]].concat()
        };
        for events in [answer("10;rgb:ffff/ffff/ffff", false), answer("12;rgb:ff/ff/ff", true), version(alt('\\'))] {
            let around = [typed("j"), events, typed("k")].concat();
            assert_eq!(feed(around, AT_ONCE), (typed("jk"), None));
        }
        let typed_keys = [vec![alt('P')], typed("x")].concat();
        assert_eq!(feed(typed_keys.clone(), AT_ONCE), (typed_keys, None));
    }

    #[test]
    fn no_key_is_held_back_before_a_request() {
        let (mut filter, mut out) = (OscReplyFilter::default(), Vec::new());
        filter.push(alt(']'), Instant::now(), &mut out);
        assert_eq!((out, filter.deadline()), (vec![alt(']')], None));
    }

    #[test]
    fn invalid_colours_are_not_a_reply() {
        for bad in [
            "11;rgb:",
            "11;rgb:12/34",
            "11;rgb:12345/0/0",
            "11;rgb:0/0/0/0",
            "11;rgba:0/0/0",
            "11;rgbx:0/0/0",
            "12;rgb:0/0/0",
        ] {
            assert_eq!(parse_background(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn typed_keys_around_a_reply_keep_their_order(
            before in "[a-z\\]1;:rgb\\\\]{0,12}",
            after in "[a-z\\]1;:rgb\\\\]{0,12}",
        ) {
            let events = [typed(&before), answer("11;rgb:ffff/0000/8080", false), typed(&after)].concat();
            let (out, rgb) = feed(events, AT_ONCE);
            prop_assert_eq!(out, typed(&format!("{before}{after}")));
            prop_assert_eq!(rgb, Some([255, 0, 128]));
        }
    }
}
