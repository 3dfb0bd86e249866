//! Decodes the bytes from a terminal: keys, the mouse, pastes and the focus. Over SSH a sequence can arrive in pieces,
//! so the start of a sequence is held back briefly; if nothing follows, it counts as typed keys. Terminal replies are
//! removed, even late ones and those that a previous program requested, because they must not be handled as typed keys.
//! No typed key is lost.

use super::background;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use std::time::{Duration, Instant};
use termina::event as parsed;

/// How long an Esc, or a key with Alt, is held back in case the rest of a sequence follows.
pub const ESC_HOLD: Duration = Duration::from_millis(25);
/// How long Alt-`]` and Alt-P are held back after a reply was requested, because a reply starts with the same bytes.
const REPLY_START_HOLD: Duration = Duration::from_millis(150);
/// How long to wait for the rest of a sequence that can't be typed by hand. This is enough time to retransmit a lost
/// packet, even on a busy computer.
const INCOMPLETE_SEQUENCE_HOLD: Duration = Duration::from_millis(1000);
/// How long to wait for a requested reply before the program exits: the round trip of a slow connection.
const EXIT_REPLY_TIMEOUT: Duration = Duration::from_millis(400);
/// Maximum length of a sequence for a key or the mouse.
const MAX_SEQUENCE_BYTES: usize = 64;
/// Maximum length of a reply.
const MAX_REPLY_BYTES: usize = 4096;

const ESC: u8 = 0x1b;
const BELL: u8 = 0x07;
const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// The kind of sequence that starts with the held bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// No bytes are held.
    #[default]
    Ground,
    Escape,
    /// A control sequence, which starts with `ESC [`.
    Csi,
    /// A character in UTF-8, perhaps after Esc. This many more bytes have to follow.
    Character(usize),
    /// A key or a mouse report in an old format of fixed length. This many more bytes have to follow; they can have any
    /// value.
    FixedLength(usize),
    /// A key whose sequence starts with `ESC O`.
    Ss3,
    /// A reply, which starts with `ESC ]` or `ESC P`.
    Reply,
    /// A reply up to an Esc, which is the first half of the terminator `ESC \`.
    ReplyEscape,
    Paste,
}

/// How a byte continues the held bytes.
enum ByteStep {
    /// More bytes have to follow.
    Hold(State),
    /// The byte is the last one.
    Complete,
    /// The byte does not belong to the held bytes.
    Break,
}

/// The decoder, with the bytes that it holds back.
#[derive(Debug, Default)]
pub struct InputDecoder {
    state: State,
    held_bytes: Vec<u8>,
    /// Whether the held bytes start with an Esc that arrived on its own. The bytes after it may then be separate keys.
    starts_with_lone_esc: bool,
    /// When the last of the held bytes arrived.
    last_held_at: Option<Instant>,
    /// When the background was last requested.
    background_requested_at: Option<Instant>,
    /// The reported background, until [`Self::take_background`] returns it.
    background: Option<[u8; 3]>,
    /// Whether the reply to the last request for the background has arrived.
    has_reply_arrived: bool,
}

impl InputDecoder {
    /// Decodes the bytes of one read. Appends to `out`, in order, the events that don't have to wait.
    pub fn push(&mut self, bytes: &[u8], now: Instant, out: &mut impl Extend<Event>) {
        self.release_expired(now, out);
        self.starts_with_lone_esc |= self.state == State::Escape;
        for byte in bytes {
            self.push_byte(*byte, out);
        }
        self.last_held_at = (!self.held_bytes.is_empty()).then_some(now);
    }

    /// Records that the background was requested, so that a reply may arrive from now on.
    pub fn expect_reply(&mut self, now: Instant) {
        self.background_requested_at = Some(now);
        self.has_reply_arrived = false;
    }

    /// Returns the background colour (red, green and blue), once, if the terminal has reported it.
    pub fn take_background(&mut self) -> Option<[u8; 3]> {
        self.background.take()
    }

    /// Returns until when to wait for the requested reply before the terminal is given to the shell, which would read
    /// the reply as typed text. Returns `None` if no reply is expected.
    pub fn reply_deadline(&self) -> Option<Instant> {
        self.background_requested_at
            .filter(|_| !self.has_reply_arrived)
            .map(|requested_at| requested_at + EXIT_REPLY_TIMEOUT)
    }

    /// Returns the time at which [`Self::release_expired`] must be called for the held bytes. Returns `None` if no
    /// bytes are held, and during a paste: its end is awaited without limit, because the rest of the pasted text must
    /// not be handled as keys.
    pub fn release_deadline(&self) -> Option<Instant> {
        let starts_reply = self.state == State::Reply && self.background_requested_at.is_some();
        let hold = match self.state {
            State::Paste => return None,
            _ if self.cannot_be_typed() => INCOMPLETE_SEQUENCE_HOLD,
            _ if starts_reply => REPLY_START_HOLD,
            _ => ESC_HOLD,
        };
        self.last_held_at.map(|held_at| held_at + hold)
    }

    /// Releases the held bytes as typed keys if their deadline has passed, or drops them if they can't be typed.
    pub fn release_expired(&mut self, now: Instant, out: &mut impl Extend<Event>) {
        if self.release_deadline().is_some_and(|release_deadline| release_deadline <= now) {
            self.release(out);
        }
    }

    fn push_byte(&mut self, byte: u8, out: &mut impl Extend<Event>) {
        match self.step(byte) {
            ByteStep::Hold(state) => {
                self.held_bytes.push(byte);
                self.state = state;
            }
            ByteStep::Complete => {
                self.held_bytes.push(byte);
                self.complete(out);
            }
            ByteStep::Break => {
                let was_ending = self.state == State::ReplyEscape;
                self.release(out);
                if was_ending {
                    self.push_byte(ESC, out);
                }
                self.push_byte(byte, out);
            }
        }
    }

    fn step(&self, byte: u8) -> ByteStep {
        match self.state {
            State::Ground if byte == ESC => ByteStep::Hold(State::Escape),
            State::Ground => step_at_character_start(byte),
            State::Escape => match byte {
                b'[' => ByteStep::Hold(State::Csi),
                b'O' => ByteStep::Hold(State::Ss3),
                b']' | b'P' => ByteStep::Hold(State::Reply),
                ESC => ByteStep::Break,
                _ if self.starts_with_lone_esc => ByteStep::Break,
                byte => step_at_character_start(byte),
            },
            State::Csi => match (byte, self.held_bytes.len()) {
                // Mouse reports of old terminals, and function keys of the Linux console.
                (b'M', 2) if !self.starts_with_lone_esc => ByteStep::Hold(State::FixedLength(3)),
                (b'[', 2) if !self.starts_with_lone_esc => ByteStep::Hold(State::FixedLength(1)),
                (b'~', _) if PASTE_START.strip_suffix(b"~") == Some(&self.held_bytes) => ByteStep::Hold(State::Paste),
                (0x20..=0x3f, length) if length < MAX_SEQUENCE_BYTES => ByteStep::Hold(State::Csi),
                (0x40..=0x7e, _) => ByteStep::Complete,
                _ => ByteStep::Break,
            },
            State::Ss3 if matches!(byte, b'A'..=b'D' | b'F' | b'H' | b'P'..=b'S') => ByteStep::Complete,
            State::Ss3 => ByteStep::Break,
            State::Character(_) if !matches!(byte, 0x80..=0xbf) => ByteStep::Break,
            State::Character(..=1) | State::FixedLength(..=1) => ByteStep::Complete,
            State::Character(count) => ByteStep::Hold(State::Character(count - 1)),
            State::FixedLength(count) => ByteStep::Hold(State::FixedLength(count - 1)),
            State::Reply if self.is_reply() && byte == BELL => ByteStep::Complete,
            State::Reply if self.is_reply() && byte == ESC => ByteStep::Hold(State::ReplyEscape),
            State::Reply if self.continues_reply(byte) => ByteStep::Hold(State::Reply),
            State::Reply => ByteStep::Break,
            State::ReplyEscape if byte == b'\\' => ByteStep::Complete,
            State::ReplyEscape => ByteStep::Break,
            State::Paste if byte == b'~' && self.held_bytes.ends_with(b"\x1b[201") => ByteStep::Complete,
            State::Paste => ByteStep::Hold(State::Paste),
        }
    }

    /// Decodes the held bytes, which are complete. Stores the background that a reply contains; drops other replies,
    /// and unknown sequences unless they may be separate keys.
    fn complete(&mut self, out: &mut impl Extend<Event>) {
        match self.state {
            State::ReplyEscape | State::Reply => self.handle_reply(),
            State::Paste => {
                let text = self.held_bytes.strip_prefix(PASTE_START).and_then(|text| text.strip_suffix(PASTE_END));
                out.extend([Event::Paste(String::from_utf8_lossy(text.unwrap_or_default()).into_owned())]);
            }
            _ => match self.parse() {
                Some(event) => out.extend(to_event(event)),
                None if self.starts_with_lone_esc => self.release(out),
                None => {}
            },
        }
        self.discard_held();
    }

    /// Parses the held bytes, which are a complete sequence. Returns `None` if the sequence is unknown.
    fn parse(&self) -> Option<termina::Event> {
        // If a sequence starts with these bytes, the parser gives up and handles the rest of the sequence as typed
        // keys.
        let is_unknown = matches!(self.held_bytes.get(1..3), Some([b'[', b' '..=b'/' | b':' | b';' | b'=']));
        // After some unknown sequences, a parser waits for more bytes, so each sequence gets a new parser.
        let mut parser = termina::Parser::default();
        parser.parse(&self.held_bytes, false);
        parser.pop().filter(|_| !is_unknown)
    }

    fn handle_reply(&mut self) {
        let text = self.held_bytes.get(1..).map(String::from_utf8_lossy).unwrap_or_default();
        let reply = text.trim_end_matches(['\x07', '\\', '\x1b']).strip_prefix(']');
        let background = reply.and_then(background::parse_reply);
        self.has_reply_arrived |= background.is_some();
        self.background = background.or(self.background);
    }

    /// Passes on the held bytes as typed keys, or drops them if they can't be typed.
    fn release(&mut self, out: &mut impl Extend<Event>) {
        let mut typed =
            if self.cannot_be_typed() { "" } else { std::str::from_utf8(&self.held_bytes).unwrap_or_default() }.chars();
        if self.held_bytes.first() == Some(&ESC) && typed.next().is_some() {
            match typed.clone().next().filter(|_| !self.starts_with_lone_esc) {
                Some(c) => {
                    typed.next();
                    out.extend([typed_key(c, KeyModifiers::ALT)]);
                }
                None => out.extend([Event::Key(KeyCode::Esc.into())]),
            }
        }
        out.extend(typed.map(|c| typed_key(c, KeyModifiers::NONE)));
        self.discard_held();
    }

    fn discard_held(&mut self) {
        self.held_bytes.clear();
        self.state = State::Ground;
        self.starts_with_lone_esc = false;
        self.last_held_at = None;
    }

    /// Whether the held bytes can't be separate key presses: they are a part of a reply, of a character of several
    /// bytes, or of a sequence whose Esc and `[` arrived in one read.
    fn cannot_be_typed(&self) -> bool {
        match self.state {
            State::Ground | State::Escape | State::Ss3 => false,
            State::Csi => !self.starts_with_lone_esc && self.held_bytes.len() > 2,
            State::Character(_) | State::FixedLength(_) | State::Paste | State::ReplyEscape => true,
            State::Reply => self.is_reply(),
        }
    }

    /// Whether the held bytes can only be a reply: they start with `ESC ] NUMBER ;` (a colour or another setting) or
    /// with `ESC P > |` (the terminal's name and version).
    fn is_reply(&self) -> bool {
        match self.held_bytes.get(1..) {
            Some([b']', number @ ..]) => {
                let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
                digits > 0 && number.get(digits) == Some(&b';')
            }
            Some([b'P', rest @ ..]) => rest.starts_with(b">|"),
            _ => false,
        }
    }

    fn continues_reply(&self, byte: u8) -> bool {
        if self.is_reply() {
            // A colour consists of these characters. Any other byte does not belong to the reply: the reply was cut
            // off, and the byte was typed after it.
            let is_color = matches!(self.held_bytes.get(1..), Some([b']', b'1', _, b';', b'r', b'g', b'b', ..]));
            let belongs = if is_color { byte.is_ascii_hexdigit() || b":/".contains(&byte) } else { byte >= b' ' };
            return belongs && self.held_bytes.len() < MAX_REPLY_BYTES;
        }
        match self.held_bytes.get(1..) {
            Some([b']']) => byte.is_ascii_digit(),
            Some([b']', digits @ ..]) => (byte.is_ascii_digit() && digits.len() < 4) || byte == b';',
            Some([b'P']) => byte == b'>',
            Some([b'P', b'>']) => byte == b'|',
            _ => false,
        }
    }
}

/// Returns the step for the first byte of a character.
fn step_at_character_start(byte: u8) -> ByteStep {
    match byte {
        0xc0..=0xdf => ByteStep::Hold(State::Character(1)),
        0xe0..=0xef => ByteStep::Hold(State::Character(2)),
        0xf0..=0xf7 => ByteStep::Hold(State::Character(3)),
        _ => ByteStep::Complete,
    }
}

fn typed_key(c: char, modifiers: KeyModifiers) -> Event {
    let shift = if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    Event::Key(KeyEvent::new(KeyCode::Char(c), modifiers | shift))
}

/// Converts an event. Returns `None` for replies, for the release of a key, and for unsupported keys, such as a
/// modifier key alone.
fn to_event(event: termina::Event) -> Option<Event> {
    match event {
        termina::Event::Key(key) => {
            let kind = match key.kind {
                parsed::KeyEventKind::Press => KeyEventKind::Press,
                parsed::KeyEventKind::Repeat => KeyEventKind::Repeat,
                parsed::KeyEventKind::Release => return None,
            };
            Some(Event::Key(KeyEvent::new_with_kind(to_key_code(key.code)?, to_modifiers(key.modifiers), kind)))
        }
        termina::Event::Mouse(mouse) => Some(Event::Mouse(MouseEvent {
            kind: to_mouse_kind(mouse.kind),
            column: mouse.column,
            row: mouse.row,
            modifiers: to_modifiers(mouse.modifiers),
        })),
        termina::Event::FocusIn => Some(Event::FocusGained),
        termina::Event::FocusOut => Some(Event::FocusLost),
        _ => None,
    }
}

fn to_key_code(code: parsed::KeyCode) -> Option<KeyCode> {
    use parsed::KeyCode as Parsed;
    Some(match code {
        Parsed::Char(c) => KeyCode::Char(c),
        Parsed::Enter => KeyCode::Enter,
        Parsed::Backspace => KeyCode::Backspace,
        Parsed::Tab => KeyCode::Tab,
        Parsed::Escape => KeyCode::Esc,
        Parsed::Left => KeyCode::Left,
        Parsed::Right => KeyCode::Right,
        Parsed::Up => KeyCode::Up,
        Parsed::Down => KeyCode::Down,
        Parsed::Home => KeyCode::Home,
        Parsed::End => KeyCode::End,
        Parsed::BackTab => KeyCode::BackTab,
        Parsed::PageUp => KeyCode::PageUp,
        Parsed::PageDown => KeyCode::PageDown,
        Parsed::Insert => KeyCode::Insert,
        Parsed::Delete => KeyCode::Delete,
        Parsed::Function(number) => KeyCode::F(number),
        _ => return None,
    })
}

fn to_modifiers(modifiers: parsed::Modifiers) -> KeyModifiers {
    [
        (parsed::Modifiers::SHIFT, KeyModifiers::SHIFT),
        (parsed::Modifiers::ALT, KeyModifiers::ALT),
        (parsed::Modifiers::CONTROL, KeyModifiers::CONTROL),
        (parsed::Modifiers::SUPER, KeyModifiers::SUPER),
        (parsed::Modifiers::HYPER, KeyModifiers::HYPER),
        (parsed::Modifiers::META, KeyModifiers::META),
    ]
    .into_iter()
    .filter(|(from, _)| modifiers.contains(*from))
    .fold(KeyModifiers::NONE, |all, (_, to)| all | to)
}

fn to_mouse_kind(kind: parsed::MouseEventKind) -> MouseEventKind {
    use parsed::MouseEventKind as Parsed;
    let button = |button| match button {
        parsed::MouseButton::Left => MouseButton::Left,
        parsed::MouseButton::Right => MouseButton::Right,
        parsed::MouseButton::Middle => MouseButton::Middle,
    };
    match kind {
        Parsed::Down(pressed) => MouseEventKind::Down(button(pressed)),
        Parsed::Up(released) => MouseEventKind::Up(button(released)),
        Parsed::Drag(pressed) => MouseEventKind::Drag(button(pressed)),
        Parsed::Moved => MouseEventKind::Moved,
        Parsed::ScrollDown => MouseEventKind::ScrollDown,
        Parsed::ScrollUp => MouseEventKind::ScrollUp,
        Parsed::ScrollLeft => MouseEventKind::ScrollLeft,
        Parsed::ScrollRight => MouseEventKind::ScrollRight,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use KeyCode::{Char, Esc};
    use proptest::prelude::*;

    fn key(code: KeyCode) -> Event {
        Event::Key(code.into())
    }

    fn alt(c: char) -> Event {
        typed_key(c, KeyModifiers::ALT)
    }

    fn typed(text: &str) -> Vec<Event> {
        text.chars().map(|c| typed_key(c, KeyModifiers::NONE)).collect()
    }

    /// Feeds the reads, each after a pause in ms, waits for the last deadline, and returns the events and the
    /// background.
    fn feed_paused(reads: &[(u64, &[u8])]) -> (Vec<Event>, Option<[u8; 3]>) {
        let (mut decoder, mut out, mut now) = (InputDecoder::default(), Vec::new(), Instant::now());
        decoder.expect_reply(now);
        for (pause, bytes) in reads {
            now += Duration::from_millis(*pause);
            decoder.push(bytes, now, &mut out);
        }
        decoder.release_expired(now + INCOMPLETE_SEQUENCE_HOLD, &mut out);
        assert_eq!(decoder.release_deadline(), None);
        let background = decoder.take_background();
        (out, background)
    }

    /// Feeds the reads in quick succession.
    fn feed(reads: &[&str]) -> Vec<Event> {
        feed_paused(&reads.iter().map(|read| (1, read.as_bytes())).collect::<Vec<_>>()).0
    }

    #[test]
    fn keys_are_decoded() {
        for (sequence, code) in [
            ("\x1b[A", KeyCode::Up),
            ("\x1bOB", KeyCode::Down),
            ("\x1b[5~", KeyCode::PageUp),
            ("\x1b[15~", KeyCode::F(5)),
            ("\x1b[[A", KeyCode::F(1)),
            ("\x1bOP", KeyCode::F(1)),
            ("\x1b[27u", Esc),
            ("\r", KeyCode::Enter),
            ("\t", KeyCode::Tab),
            ("\x7f", KeyCode::Backspace),
            ("ü", Char('ü')),
            ("日", Char('日')),
            ("🦀", Char('🦀')),
        ] {
            assert_eq!(feed(&[sequence]), [key(code)], "{sequence:?}");
        }
        let with = |code, modifiers| vec![Event::Key(KeyEvent::new(code, modifiers))];
        assert_eq!(feed(&["\x03"]), with(Char('c'), KeyModifiers::CONTROL));
        assert_eq!(feed(&["\x1b[1;5C"]), with(KeyCode::Right, KeyModifiers::CONTROL));
        assert_eq!(feed(&["\x1b[Z"]), with(KeyCode::BackTab, KeyModifiers::SHIFT));
        assert_eq!(feed(&["\x1b\r"]), with(KeyCode::Enter, KeyModifiers::ALT));
        assert_eq!(feed(&["\x1bü"]), [alt('ü')]);
        assert_eq!(feed(&["\x1b[97;1:3u"]), [], "the release of a key");
        assert_eq!(feed(&["A"]), with(Char('A'), KeyModifiers::SHIFT));
    }

    #[test]
    fn the_mouse_and_the_focus_are_decoded() {
        let press = MouseEventKind::Down(MouseButton::Left);
        let at = |kind, column, row| Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
        assert_eq!(feed(&["\x1b[<0;300;4M"]), [at(press, 299, 3)]);
        assert_eq!(feed(&["\x1b[<0;300;4m"]), [at(MouseEventKind::Up(MouseButton::Left), 299, 3)]);
        assert_eq!(feed(&["\x1b[<65;1;1M"]), [at(MouseEventKind::ScrollDown, 0, 0)]);
        assert_eq!(feed(&["\x1b[M !!"]), [at(press, 0, 0)]);
        let far_right: &[u8] = b"\x1b[M \xb6!";
        assert_eq!(feed_paused(&[(0, far_right)]).0, [at(press, 149, 0)]);
        assert_eq!(feed(&["\x1b[I\x1b[O"]), [Event::FocusGained, Event::FocusLost]);
    }

    #[test]
    fn a_sequence_in_pieces_is_the_same_as_in_one() {
        assert_eq!(feed(&["\x1b", "[", "A"]), [key(KeyCode::Up)]);
        assert_eq!(feed(&["\x1b", "[6", "~"]), [key(KeyCode::PageDown)]);
        assert_eq!(feed(&["\x1b[", "A"]), [key(KeyCode::Up)]);
        let slow: Vec<(u64, &[u8])> = vec![(0, b"\x1b[<0;3"), (900, b"00;"), (900, b"4M")];
        assert_eq!(feed_paused(&slow).0.len(), 1, "a mouse report can't be typed");
        let bytes: [&[u8]; 3] = [b"\xf0", b"\x9f\xa6", b"\x80"];
        assert_eq!(feed_paused(&bytes.map(|byte| (20, byte))).0, [key(Char('🦀'))]);
    }

    #[test]
    fn keys_typed_slowly_are_not_joined() {
        let reads: [(u64, &[u8]); 3] = [(0, b"\x1b"), (40, b"["), (40, b"A")];
        assert_eq!(feed_paused(&reads).0, [key(Esc), key(Char('[')), typed_key('A', KeyModifiers::NONE)]);
        let reads: [(u64, &[u8]); 3] = [(0, b"\x1b"), (10, b"["), (40, b"x")];
        assert_eq!(feed_paused(&reads).0, [vec![key(Esc)], typed("[x")].concat());
        let reads: [(u64, &[u8]); 2] = [(0, b"\x1b["), (40, b"x")];
        assert_eq!(feed_paused(&reads).0, [vec![alt('[')], typed("x")].concat());
    }

    #[test]
    fn an_esc_is_released_at_its_deadline_and_not_before() {
        let (mut decoder, mut out, now) = (InputDecoder::default(), Vec::new(), Instant::now());
        decoder.push(b"\x1b", now, &mut out);
        decoder.release_expired(now + ESC_HOLD / 2, &mut out);
        assert_eq!(out, []);
        decoder.release_expired(now + ESC_HOLD, &mut out);
        assert_eq!((out, decoder.release_deadline()), (vec![key(Esc)], None));
    }

    #[test]
    fn an_esc_comes_before_the_key_that_follows_it() {
        assert_eq!(feed(&["\x1b", "q"]), [key(Esc), key(Char('q'))]);
        assert_eq!(feed(&["\x1b", "\x1b", "[B"]), [key(Esc), key(KeyCode::Down)]);
        assert_eq!(feed(&["\x1b\x1b"]), [key(Esc), key(Esc)]);
        assert_eq!(feed(&["\x1bq"]), [alt('q')]);
    }

    #[test]
    fn a_paste_is_one_event_however_it_arrives() {
        let paste = "\x1b[200~two\nlines \x1b[A\x1b[201~";
        let expected = vec![Event::Paste("two\nlines \x1b[A".into())];
        for end in 0..paste.len() {
            let (before, after) = paste.split_at(end);
            assert_eq!(feed(&[before, after]), expected, "{end}");
        }
        let (mut decoder, mut out, now) = (InputDecoder::default(), Vec::new(), Instant::now());
        decoder.push(b"\x1b[200~qq", now, &mut out);
        assert_eq!((out, decoder.release_deadline()), (vec![], None), "the rest of a paste is never typed");
    }

    #[test]
    fn unknown_sequences_are_dropped_and_later_keys_are_kept() {
        for unknown in [
            "\x1b[?2026;2$y",
            "\x1b[?9999;2$y",
            "\x1b[?62;22c",
            "\x1b[3;4R",
            "\x1b[99~",
            "\x1b[?1x",
            "\x1b[; r",
            "\x1b[=1u",
            "\x1b[!p",
            "\x1b[>0q",
        ] {
            assert_eq!(feed(&[unknown, "cu"]), typed("cu"), "{unknown:?}");
            assert_eq!(feed(&[&format!("j{unknown}k")]), typed("jk"), "{unknown:?}");
        }
        assert_eq!(feed_paused(&[(0, b"a\xffb\xc3c")]).0, typed("abc"), "invalid UTF-8");
    }

    #[test]
    fn a_reply_is_removed_from_between_typed_keys() {
        for (text, rgb) in [
            ("11;rgb:1e1e/1e1e/2e2e", [0x1e, 0x1e, 0x2e]),
            ("11;rgb:ff/ff/ff", [255, 255, 255]),
            ("11;rgb:0/8/f", [0, 136, 255]),
            ("11;rgba:0000/0000/0000/ffff", [0, 0, 0]),
        ] {
            for end in ["\x07", "\x1b\\"] {
                let sent = format!("jj\x1b]{text}{end}k");
                assert_eq!(feed_paused(&[(0, sent.as_bytes())]), (typed("jjk"), Some(rgb)), "{text}");
            }
        }
        for reply in ["\x1b]10;rgb:ffff/ffff/ffff\x1b\\", "\x1b]52;c;aGk=\x07", "\x1bP>|XTerm(370) beta\x1b\\"] {
            assert_eq!(feed(&[&format!("j{reply}k")]), typed("jk"), "{reply:?}");
        }
    }

    #[test]
    fn a_reply_in_pieces_is_recognized() {
        let white = Some([255, 255, 255]);
        let reply = b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\";
        let pieces: Vec<(u64, &[u8])> = reply.chunks(1).map(|byte| (20, byte)).collect();
        assert_eq!(feed_paused(&pieces), (vec![], white));
        let (start, rest) = reply.split_at(2);
        assert_eq!(feed_paused(&[(0, start), (140, rest)]), (vec![], white));
        let (start, rest) = reply.split_at(12);
        assert_eq!(feed_paused(&[(0, start), (990, rest)]), (vec![], white));
    }

    #[test]
    fn a_reply_that_is_cut_off_is_dropped_and_the_keys_after_it_are_kept() {
        assert_eq!(feed(&["\x1b]11;rgb:ffff/ffz"]), typed("z"));
        assert_eq!(feed(&["\x1b]11;rgb:ff", "\x1b", "[A"]), [key(KeyCode::Up)]);
        assert_eq!(feed_paused(&[(0, b"\x1b]11;rgb:ff"), (1000, b"x")]).0, typed("x"));
    }

    #[test]
    fn keys_that_only_start_like_a_reply_are_kept() {
        assert_eq!(feed(&["\x1b]"]), [alt(']')]);
        assert_eq!(feed(&["\x1b]1"]), [vec![alt(']')], typed("1")].concat());
        assert_eq!(feed(&["\x1b", "]x"]), [vec![key(Esc)], typed("]x")].concat());
        assert_eq!(feed(&["\x1bP>x"]), [vec![alt('P')], typed(">x")].concat());
    }

    proptest! {
        #[test]
        fn no_typed_key_is_lost_or_reordered(keys in prop::collection::vec((0_u64..60, prop::sample::select(b"\x1b[AZ]q".to_vec())), 0..40)) {
            let reads: Vec<(u64, [u8; 1])> = keys.iter().map(|(pause, byte)| (*pause, [*byte])).collect();
            let reads: Vec<(u64, &[u8])> = reads.iter().map(|(pause, byte)| (*pause, byte.as_slice())).collect();
            let spelled: String = feed_paused(&reads)
                .0
                .into_iter()
                .filter_map(|event| event.as_key_event())
                .map(|key| match key.code {
                    Esc => "\x1b".to_owned(),
                    Char(c) => c.to_string(),
                    KeyCode::Up => "\x1b[A".to_owned(),
                    KeyCode::BackTab => "\x1b[Z".to_owned(),
                    other => format!("{other:?}"),
                })
                .collect();
            let sent: String = keys.iter().map(|(_, byte)| char::from(*byte)).collect();
            prop_assert_eq!(spelled, sent);
        }

        #[test]
        fn typed_keys_around_a_reply_keep_their_order(
            before in "[a-z\\]1;:rgb\\\\]{0,12}",
            after in "[a-z\\]1;:rgb\\\\]{0,12}",
        ) {
            let sent = format!("{before}\x1b]11;rgb:ffff/0000/8080\x1b\\{after}");
            let (out, rgb) = feed_paused(&[(0, sent.as_bytes())]);
            prop_assert_eq!(out, typed(&format!("{before}{after}")));
            prop_assert_eq!(rgb, Some([255, 0, 128]));
        }

        #[test]
        fn where_a_read_ends_does_not_matter(bytes in prop::collection::vec(any::<u8>(), 0..80), end in 0_usize..80) {
            let (before, after) = bytes.split_at(end.min(bytes.len()));
            prop_assume!(before.last() != Some(&ESC));
            prop_assert_eq!(feed_paused(&[(0, before), (1, after)]), feed_paused(&[(0, &bytes)]));
        }
    }
}
