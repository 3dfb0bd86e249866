//! A keyboard key with its modifiers. Created from a terminal event or from its name in the configuration, and
//! formatted as a label for the screen.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt;

/// A keyboard key with its modifiers, normalized so that key bindings and key presses can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chord {
    pub code: KeyCode,
    pub modifiers: KeyModifiers,
}

impl Chord {
    /// Normalizes a key event. Drops Shift from characters, which Shift has already changed, and from `BackTab`, which
    /// means Shift-Tab.
    pub fn from_event(event: KeyEvent) -> Self {
        let mut modifiers = event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        let mut code = event.code;
        if let KeyCode::Char(c) = code {
            modifiers -= KeyModifiers::SHIFT;
            // With Control, some terminals report the letter in upper case, others in lower case. Use lower case.
            if modifiers.contains(KeyModifiers::CONTROL) {
                code = KeyCode::Char(match c {
                    // Most terminals send the same byte for Ctrl-/, Ctrl-7 and Ctrl-_.
                    '/' | '7' => '_',
                    '-' if event.modifiers.contains(KeyModifiers::SHIFT) => '_',
                    c => to_latin_letter(c).to_ascii_lowercase(),
                });
            }
        }
        if code == KeyCode::BackTab {
            modifiers -= KeyModifiers::SHIFT;
        }
        Self { code, modifiers }
    }
}

/// The letters of the Cyrillic ЙЦУКЕН layouts, each with the character on the same key of a US keyboard.
const CYRILLIC_TO_LATIN: &[(char, char)] = &[
    ('й', 'q'),
    ('ц', 'w'),
    ('у', 'e'),
    ('к', 'r'),
    ('е', 't'),
    ('н', 'y'),
    ('г', 'u'),
    ('ш', 'i'),
    ('щ', 'o'),
    ('ў', 'o'),
    ('з', 'p'),
    ('х', '['),
    ('ъ', ']'),
    ('ї', ']'),
    ('ф', 'a'),
    ('ы', 's'),
    ('і', 's'),
    ('в', 'd'),
    ('а', 'f'),
    ('п', 'g'),
    ('р', 'h'),
    ('о', 'j'),
    ('л', 'k'),
    ('д', 'l'),
    ('ж', ';'),
    ('э', '\''),
    ('є', '\''),
    ('я', 'z'),
    ('ч', 'x'),
    ('с', 'c'),
    ('м', 'v'),
    ('и', 'b'),
    ('т', 'n'),
    ('ь', 'm'),
    ('б', ','),
    ('ю', '.'),
    ('ё', '`'),
];

/// Translates a Cyrillic letter that was pressed with Control to the character on the same key of a US keyboard.
/// Returns any other character unchanged.
///
/// With the kitty keyboard protocol, a terminal reports the letter of the current keyboard layout and, on request, also
/// the Latin letter of the same key. termina, which decodes the input (`terminal::input_decoder`), drops that Latin
/// letter, so it is not requested, and has to be found here. Terminals without the protocol report the Latin letter.
fn to_latin_letter(c: char) -> char {
    let small = c.to_lowercase().next().unwrap_or(c);
    CYRILLIC_TO_LATIN.iter().find(|(letter, _)| *letter == small).map_or(c, |(_, latin)| *latin)
}

impl Chord {
    /// Parses a key such as `x`, `X`, `Ctrl-x`, `Alt-x`, `Shift-F5` or `Enter`. Case matters only for a letter without
    /// Control or Alt. Returns `None` if the text is not a key.
    pub fn parse(text: &str) -> Option<Self> {
        const MODIFIERS: [(&str, KeyModifiers); 3] =
            [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT), ("shift-", KeyModifiers::SHIFT)];
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = text.trim();
        while let Some((after, new)) = MODIFIERS.iter().find_map(|(word, new)| {
            let (begin, after) = rest.split_at_checked(word.len())?;
            (begin.eq_ignore_ascii_case(word) && !after.is_empty() && !modifiers.contains(*new))
                .then_some((after, *new))
        }) {
            modifiers |= new;
            rest = after;
        }
        let mut chars = rest.chars();
        let mut code = match (named_key(rest), chars.next(), chars.next()) {
            (Some(code), ..) => code,
            (None, Some(c), None) if !c.is_control() && !c.is_whitespace() => KeyCode::Char(c),
            _ => return None,
        };
        if let (KeyCode::Char(c), true) = (code, modifiers.contains(KeyModifiers::SHIFT)) {
            code = KeyCode::Char(c.to_uppercase().next().unwrap_or(c));
        }
        if let (KeyCode::Char(c), true) = (code, modifiers == KeyModifiers::ALT) {
            // `Alt-X` means the key x with Alt, without Shift.
            code = KeyCode::Char(c.to_ascii_lowercase());
        }
        if code == KeyCode::Tab && modifiers.contains(KeyModifiers::SHIFT) {
            code = KeyCode::BackTab;
        }
        Some(Self::from_event(KeyEvent::new(code, modifiers)))
    }

    /// Whether the key inserts text into a text input, so that it can't be a shortcut there.
    pub fn types_text(&self) -> bool {
        let has_modifier = self.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        !has_modifier && matches!(self.code, KeyCode::Char(_) | KeyCode::Tab | KeyCode::BackTab)
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.modifiers.contains(KeyModifiers::CONTROL) {
            f.write_str("Ctrl-")?;
        }
        if self.modifiers.contains(KeyModifiers::ALT) {
            f.write_str("Alt-")?;
        }
        if self.modifiers.contains(KeyModifiers::SHIFT) {
            f.write_str("Shift-")?;
        }
        match self.code {
            KeyCode::Char(' ') => f.write_str("Space"),
            KeyCode::Char(c) if self.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
                write!(f, "{}", c.to_ascii_uppercase())
            }
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::Up => f.write_str("↑"),
            KeyCode::Down => f.write_str("↓"),
            KeyCode::Left => f.write_str("←"),
            KeyCode::Right => f.write_str("→"),
            KeyCode::PageUp => f.write_str("PgUp"),
            KeyCode::PageDown => f.write_str("PgDn"),
            KeyCode::Delete => f.write_str("Del"),
            KeyCode::BackTab => f.write_str("Shift-Tab"),
            KeyCode::F(n) => write!(f, "F{n}"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// Returns the keyboard key with this name, ignoring case. Returns `None` if there is no such key.
fn named_key(name: &str) -> Option<KeyCode> {
    let name = name.to_ascii_lowercase();
    Some(match name.as_str() {
        "enter" | "return" => KeyCode::Enter,
        "tab" => KeyCode::Tab,
        "backtab" => KeyCode::BackTab,
        "space" => KeyCode::Char(' '),
        "esc" | "escape" => KeyCode::Esc,
        "backspace" => KeyCode::Backspace,
        "del" | "delete" => KeyCode::Delete,
        "ins" | "insert" => KeyCode::Insert,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pgup" | "pageup" => KeyCode::PageUp,
        "pgdn" | "pagedown" => KeyCode::PageDown,
        "up" | "↑" => KeyCode::Up,
        "down" | "↓" => KeyCode::Down,
        "left" | "←" => KeyCode::Left,
        "right" | "→" => KeyCode::Right,
        _ => {
            let number = name.strip_prefix('f').filter(|number| number.chars().all(|c| c.is_ascii_digit()))?;
            KeyCode::F(number.parse().ok().filter(|n| (1..=24).contains(n))?)
        }
    })
}

pub(super) const fn plain_key(code: KeyCode) -> Chord {
    Chord { code, modifiers: KeyModifiers::NONE }
}
pub(super) const fn ch(c: char) -> Chord {
    plain_key(KeyCode::Char(c))
}
pub(super) const fn ctrl(c: char) -> Chord {
    Chord { code: KeyCode::Char(c), modifiers: KeyModifiers::CONTROL }
}
pub(super) const fn alt(c: char) -> Chord {
    Chord { code: KeyCode::Char(c), modifiers: KeyModifiers::ALT }
}
pub(super) const fn with_ctrl(code: KeyCode) -> Chord {
    Chord { code, modifiers: KeyModifiers::CONTROL }
}
pub(super) const fn with_alt(code: KeyCode) -> Chord {
    Chord { code, modifiers: KeyModifiers::ALT }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_parsed_in_all_notations() {
        let shift = |code| Chord { code, modifiers: KeyModifiers::SHIFT };
        for (text, chord) in [
            ("x", ch('x')),
            ("X", ch('X')),
            ("Shift-x", ch('X')),
            ("Ctrl-x", ctrl('x')),
            ("ctrl-X", ctrl('x')),
            ("Alt-x", alt('x')),
            ("Ctrl--", ctrl('-')),
            ("-", ch('-')),
            ("ü", ch('ü')),
            ("F5", plain_key(KeyCode::F(5))),
            ("Shift-F5", shift(KeyCode::F(5))),
            ("Enter", plain_key(KeyCode::Enter)),
            ("Ctrl-Enter", with_ctrl(KeyCode::Enter)),
            ("Space", ch(' ')),
            ("Shift-Tab", plain_key(KeyCode::BackTab)),
            ("PgDn", plain_key(KeyCode::PageDown)),
        ] {
            assert_eq!(Chord::parse(text), Some(chord), "{text}");
        }
        for bad in ["", " ", "xy", "Ctrl-", "Hyper-x", "F0", "F25", "f+1", "Ctrl-Ctrl-x", "\t\u{7}", "é́x"] {
            assert_eq!(Chord::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_control_chord_on_a_cyrillic_layout_equals_the_latin_chord_of_the_same_key() {
        let pressed = |c, modifiers| Chord::from_event(KeyEvent::new(KeyCode::Char(c), modifiers));
        // Each of these letters is on the key of a default binding, such as Ctrl-S.
        for (letter, latin) in [('ы', 's'), ('с', 'c'), ('з', 'p'), ('е', 't'), ('п', 'g'), ('Ы', 's'), ('і', 's')]
        {
            assert_eq!(pressed(letter, KeyModifiers::CONTROL), ctrl(latin), "{letter}");
        }
        let shifted = pressed('Ы', KeyModifiers::CONTROL | KeyModifiers::SHIFT);
        assert_eq!(shifted, ctrl('s'), "shift is dropped as with Latin letters");
        assert_eq!(Chord::parse("Ctrl-Ы"), Some(ctrl('s')));
        // Letters without Control, and letters that are not Cyrillic, are not translated.
        assert_eq!(pressed('ы', KeyModifiers::NONE), ch('ы'));
        assert_eq!(pressed('ы', KeyModifiers::ALT), alt('ы'));
        assert_eq!(pressed('ü', KeyModifiers::CONTROL), ctrl('ü'));
    }

    #[test]
    fn keys_that_send_the_same_byte_are_the_same_chord() {
        let pressed =
            |c, modifiers| Chord::from_event(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL | modifiers));
        let plain = KeyModifiers::NONE;
        for (c, modifiers) in [('_', plain), ('/', plain), ('7', plain), ('-', KeyModifiers::SHIFT)] {
            assert_eq!(pressed(c, modifiers), ctrl('_'), "{c}");
        }
        assert_eq!(pressed('-', plain), ctrl('-'));
        assert_eq!(Chord::parse("Ctrl-/"), Some(ctrl('_')));
    }

    #[test]
    fn every_latin_letter_has_a_cyrillic_letter_on_the_same_key() {
        for latin in 'a'..='z' {
            assert!(CYRILLIC_TO_LATIN.iter().any(|(_, on)| *on == latin), "{latin}");
        }
    }

    #[test]
    fn chords_are_printed_with_the_usual_names() {
        assert_eq!(ctrl('s').to_string(), "Ctrl-S");
        assert_eq!(with_ctrl(KeyCode::Enter).to_string(), "Ctrl-Enter");
        assert_eq!(ch(' ').to_string(), "Space");
        assert_eq!(plain_key(KeyCode::BackTab).to_string(), "Shift-Tab");
    }
}
