//! The terminal's background: the question (OSC 11), and taking the answer out of what arrives. crossterm knows no such
//! answer and hands it on as keys: Alt-`]`, characters, then Alt-`\` or Ctrl-G; split between packets it begins with an
//! Esc of its own. Whenever it comes, no piece of it may count as typed, and no typed key may be lost to it. What another
//! program asked for just before, the other colours and the terminal's name and version, is taken out with it.

use crate::model::colors::Rgb;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// Asks for the background's colour.
pub(super) const QUESTION: &[u8] = b"\x1b]11;?\x1b\\";
/// How long an answer that is split is looked for; one in a piece is taken out whenever it comes.
const PATIENCE: Duration = Duration::from_secs(5);
/// A slow connection's way there and back.
const ROUND_TRIP: Duration = Duration::from_millis(400);
/// How long the first pieces wait for the next, which may be typed keys.
const HOLD: Duration = Duration::from_millis(25);
/// How long what began as no key of anybody's does, `ESC ]`, waits for the next piece.
const HOLD_BEGUN: Duration = Duration::from_millis(150);
/// How long what can be nothing but an answer waits for its next piece.
const HOLD_ANSWER: Duration = Duration::from_millis(1000);
/// What only an answer begins with, after its ESC, `#` for any digit: a colour, the terminal's name and version.
const BEGINNINGS: [&str; 2] = ["]1#;rgb", "P>|"];
/// Longest answer, as a name that is said with everything.
const LONGEST: usize = 100;

/// Takes answers out of a stream of events.
#[derive(Debug, Default)]
pub struct OscReplyFilter {
    asked: Option<Instant>,
    held: Vec<KeyEvent>,
    /// What the held keys spell after ESC; none while only an Esc is held.
    spelled: Option<String>,
    /// An Esc came within the answer: the first half of its end.
    ending: bool,
    since: Option<Instant>,
    answer: Option<Rgb>,
    is_answered: bool,
}

impl OscReplyFilter {
    /// The question was sent: from now on an answer may come.
    pub fn ask(&mut self, now: Instant) {
        self.asked = Some(now);
        self.is_answered = false;
    }

    /// An answer that came.
    pub fn take_answer(&mut self) -> Option<Rgb> {
        self.answer.take()
    }

    /// Until when a program that ends had better wait for the answer, which would else be typed into the shell; none when
    /// none is awaited.
    pub fn awaited_until(&self) -> Option<Instant> {
        self.asked.filter(|_| !self.is_answered).map(|asked| asked + ROUND_TRIP)
    }

    /// When what is held has waited long enough; none when nothing is held.
    pub fn deadline(&self) -> Option<Instant> {
        let hold = match self.spelled {
            Some(_) if self.is_surely_an_answer() => HOLD_ANSWER,
            Some(_) => HOLD_BEGUN,
            None => HOLD,
        };
        self.since.map(|since| since + hold)
    }

    /// Hands on, or drops, what has waited long enough.
    pub fn expire(&mut self, now: Instant, out: &mut impl Extend<Event>) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            self.give_up(out);
        }
    }

    /// Takes one event; what is none of an answer is pushed to `out`, in order.
    pub fn push(&mut self, event: Event, now: Instant, out: &mut impl Extend<Event>) {
        self.expire(now, out);
        let key = match event {
            Event::Key(key) if self.asked.is_some() && key.kind == KeyEventKind::Press => key,
            other => {
                self.give_up(out);
                out.extend([other]);
                return;
            }
        };
        if self.continues(key) {
            self.since = Some(now);
            return;
        }
        self.give_up(out);
        if self.begins(key, now) {
            self.held.push(key);
            self.since = Some(now);
        } else {
            out.extend([Event::Key(key)]);
        }
    }

    /// Whether the key is the next piece of what is held; then it is held as well, or ends it.
    fn continues(&mut self, key: KeyEvent) -> bool {
        let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        let Some(spelled) = &mut self.spelled else {
            // An Esc alone is held.
            let opener = opener(key).filter(|_| !self.held.is_empty() && plain);
            if let Some(opener) = opener {
                self.spelled = Some(opener.to_owned());
                self.held.push(key);
            }
            return opener.is_some();
        };
        let ends = match key.code {
            KeyCode::Char('g') => key.modifiers == KeyModifiers::CONTROL,
            KeyCode::Char('\\') => key.modifiers == KeyModifiers::ALT || (plain && self.ending),
            _ => false,
        };
        if ends {
            let background = spelled.strip_prefix(']').and_then(parse);
            if background.is_none() && (spelled.starts_with("]11") || !is_surely_an_answer(spelled)) {
                return false;
            }
            self.answer = background.or(self.answer);
            self.is_answered |= background.is_some();
            self.forget();
            return true;
        }
        if self.ending {
            return false;
        }
        if key.code == KeyCode::Esc && plain && is_surely_an_answer(spelled) {
            self.ending = true;
        } else if let KeyCode::Char(c) = key.code
            && plain
            && fits(spelled, c)
        {
            spelled.push(c);
        } else {
            return false;
        }
        self.held.push(key);
        true
    }

    fn begins(&mut self, key: KeyEvent, now: Instant) -> bool {
        let whole = opener(key).filter(|_| key.modifiers.difference(KeyModifiers::SHIFT) == KeyModifiers::ALT);
        self.spelled = whole.map(str::to_owned);
        let awaited = self.asked.is_some_and(|asked| now < asked + PATIENCE);
        whole.is_some() || (awaited && key.code == KeyCode::Esc && key.modifiers.is_empty())
    }

    /// What is held is no whole answer: typed keys go on, the beginning of an answer goes away.
    fn give_up(&mut self, out: &mut impl Extend<Event>) {
        if !self.is_surely_an_answer() {
            out.extend(self.held.drain(..).map(Event::Key));
        }
        self.forget();
    }

    fn is_surely_an_answer(&self) -> bool {
        self.spelled.as_deref().is_some_and(is_surely_an_answer)
    }

    fn forget(&mut self) {
        self.held.clear();
        self.spelled = None;
        self.ending = false;
        self.since = None;
    }
}

/// What an answer's ESC is followed by.
fn opener(key: KeyEvent) -> Option<&'static str> {
    match key.code {
        KeyCode::Char(']') => Some("]"),
        KeyCode::Char('P') => Some("P"),
        _ => None,
    }
}

/// Whether nobody types what has come.
fn is_surely_an_answer(spelled: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| spelled.len() >= beginning.len() && agree(beginning, spelled))
}

/// Whether one goes as the other as far as both reach.
fn agree(beginning: &str, spelled: &str) -> bool {
    beginning.chars().zip(spelled.chars()).all(|(expected, c)| expected == c || expected == '#' && c.is_ascii_digit())
}

/// Whether an answer may go on with this character.
fn fits(spelled: &str, c: char) -> bool {
    let is_begun = BEGINNINGS.iter().any(|beginning| agree(beginning, &format!("{spelled}{c}")));
    let is_printable = spelled.starts_with('P') && (c == ' ' || c.is_ascii_graphic());
    let belongs = !is_surely_an_answer(spelled) || is_printable || c.is_ascii_hexdigit() || matches!(c, ':' | '/');
    is_begun && belongs && spelled.len() < LONGEST
}

/// Reads `11;rgb:RRRR/GGGG/BBBB`, with one to four digits a colour, and `rgba:` with an alpha that doesn't matter.
pub(super) fn parse(answer: &str) -> Option<Rgb> {
    let (kind, colours) = answer.strip_prefix("11;")?.split_once(':')?;
    let mut parts = colours.split('/').map(|digits| {
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| (1..=4).contains(&digits.len()))?;
        let most = 16_u32.pow(u32::try_from(digits.len()).ok()?) - 1;
        u8::try_from(value * 255 / most).ok()
    });
    let rgb = Rgb(parts.next()??, parts.next()??, parts.next()??);
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

    /// An answer as crossterm hands it on.
    fn answer(text: &str, bell: bool) -> Vec<Event> {
        let end = if bell { key(Char('g'), KeyModifiers::CONTROL) } else { alt('\\') };
        [vec![alt(']')], typed(text), vec![end]].concat()
    }

    /// Feeds the events, with this pause before each, and lets the last wait end.
    fn feed(events: Vec<Event>, pause: Duration) -> (Vec<Event>, Option<Rgb>) {
        let (mut filter, mut out, mut now) = (OscReplyFilter::default(), Vec::new(), Instant::now());
        filter.ask(now);
        for event in events {
            now += pause;
            filter.push(event, now, &mut out);
        }
        filter.expire(now + HOLD_ANSWER, &mut out);
        let answer = filter.take_answer();
        (out, answer)
    }

    const AT_ONCE: Duration = Duration::from_millis(1);

    #[test]
    fn an_answer_is_taken_out_between_typed_keys() {
        for (text, rgb) in [
            ("11;rgb:1e1e/1e1e/2e2e", Rgb(0x1e, 0x1e, 0x2e)),
            ("11;rgb:ff/ff/ff", Rgb(255, 255, 255)),
            ("11;rgb:0/8/f", Rgb(0, 136, 255)),
            ("11;rgba:0000/0000/0000/ffff", Rgb(0, 0, 0)),
        ] {
            for bell in [false, true] {
                let events = [typed("jj"), answer(text, bell), typed("k")].concat();
                assert_eq!(feed(events, AT_ONCE), (typed("jjk"), Some(rgb)), "{text}");
            }
        }
    }

    #[test]
    fn an_answer_in_pieces_is_one_all_the_same() {
        let esc = || key(Esc, KeyModifiers::NONE);
        let pieces = [vec![esc()], typed("]11;rgb:ffff/ffff/ffff"), vec![esc()], typed("\\q")].concat();
        let white = Some(Rgb(255, 255, 255));
        assert_eq!(feed(pieces, Duration::from_millis(20)), (typed("q"), white));
        for pause in [20, 140] {
            let slow = answer("11;rgb:ffff/ffff/ffff", true);
            assert_eq!(feed(slow, Duration::from_millis(pause)), (vec![], white));
        }
    }

    #[test]
    fn an_answer_that_breaks_off_is_dropped_and_the_key_after_it_is_not() {
        let events = [vec![alt(']')], typed("11;rgb:ffff/ffz")].concat();
        assert_eq!(feed(events, AT_ONCE), (typed("z"), None));
    }

    #[test]
    fn what_only_begins_like_one_was_typed() {
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
    fn what_another_program_asked_for_is_taken_out_as_well() {
        let version = |end: Event| {
            let shifted = KeyModifiers::ALT | KeyModifiers::SHIFT;
            [vec![key(Char('P'), shifted)], typed(">|XTerm(370) beta"), vec![end]].concat()
        };
        for events in [answer("10;rgb:ffff/ffff/ffff", false), answer("12;rgb:ff/ff/ff", true), version(alt('\\'))] {
            let around = [typed("j"), events, typed("k")].concat();
            assert_eq!(feed(around, AT_ONCE), (typed("jk"), None));
        }
        let own = [vec![alt('P')], typed("x")].concat();
        assert_eq!(feed(own.clone(), AT_ONCE), (own, None));
    }

    #[test]
    fn unasked_nothing_is_held() {
        let (mut filter, mut out) = (OscReplyFilter::default(), Vec::new());
        filter.push(alt(']'), Instant::now(), &mut out);
        assert_eq!((out, filter.deadline()), (vec![alt(']')], None));
    }

    #[test]
    fn colours_that_are_none_are_no_answer() {
        for bad in [
            "11;rgb:",
            "11;rgb:12/34",
            "11;rgb:12345/0/0",
            "11;rgb:0/0/0/0",
            "11;rgba:0/0/0",
            "11;rgbx:0/0/0",
            "12;rgb:0/0/0",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn typed_keys_come_through_in_order_around_an_answer(
            before in "[a-z\\]1;:rgb\\\\]{0,12}",
            after in "[a-z\\]1;:rgb\\\\]{0,12}",
        ) {
            let events = [typed(&before), answer("11;rgb:ffff/0000/8080", false), typed(&after)].concat();
            let (out, rgb) = feed(events, AT_ONCE);
            prop_assert_eq!(out, typed(&format!("{before}{after}")));
            prop_assert_eq!(rgb, Some(Rgb(255, 0, 128)));
        }
    }
}
