//! The style of glyphs (SGR), and the shortest sequence that changes it. Sequences are appended directly to the output,
//! because the style changes dozens of times in a frame.

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

/// Modifiers with the codes that switch them on and off.
const MODIFIER_CODES: [(Modifier, u8, u8); 9] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::RAPID_BLINK, 6, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

/// The style with which the terminal draws the next glyph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SgrState {
    pub(super) fg: Color,
    pub(super) bg: Color,
    pub(super) modifier: Modifier,
}

impl SgrState {
    pub(super) fn of(cell: &Cell) -> Self {
        Self { fg: cell.fg, bg: cell.bg, modifier: cell.modifier }
    }

    /// Returns the number of bytes of the sequence that changes the default style to this one.
    pub(super) fn sequence_length(self) -> usize {
        let mut sequence = String::new();
        Self::default().append_change(self, &mut sequence);
        sequence.len()
    }

    /// Appends the shortest sequence that changes the style from `self` to `to`, or nothing if they are equal.
    pub(super) fn append_change(self, to: Self, out: &mut String) {
        if self == to {
            return;
        }
        if to == Self::default() {
            out.push_str("\x1b[m");
            return;
        }
        let begin = out.len();
        let mut step = SgrWriter::begin(out);
        self.write_differences(to, &mut step);
        step.end();
        let ends = |was: Color, is: Color| is == Color::Reset && was != is;
        let removes = !to.modifier.contains(self.modifier);
        if removes || ends(self.fg, to.fg) || ends(self.bg, to.bg) {
            replace_if_shorter(out, begin, |out| {
                let mut full = SgrWriter::begin(out);
                full.add(0);
                full.add_modifiers(to.modifier);
                for (color, base) in [(to.fg, 30), (to.bg, 40)] {
                    if color != Color::Reset {
                        full.add_color(color, base);
                    }
                }
                full.end();
            });
        }
    }

    /// Adds the codes for the differences between `self` and `to`.
    fn write_differences(self, to: Self, codes: &mut SgrWriter<'_>) {
        if self.modifier != to.modifier {
            let removed = self.modifier.difference(to.modifier);
            let mut remaining = self.modifier.intersection(to.modifier);
            let mut switched_off = 0;
            for (modifier, _, off) in MODIFIER_CODES {
                if removed.contains(modifier) && switched_off != off {
                    codes.add(off);
                    switched_off = off;
                }
            }
            if removed.intersects(Modifier::BOLD | Modifier::DIM) {
                // Code 22 switches off both bold and dim, so neither counts as remaining. If `to` has one of them, it
                // is switched on again below.
                remaining.remove(Modifier::BOLD | Modifier::DIM);
            }
            codes.add_modifiers(to.modifier.difference(remaining));
        }
        for (was, is, base) in [(self.fg, to.fg, 30), (self.bg, to.bg, 40)] {
            if was != is {
                codes.add_color(is, base);
            }
        }
    }
}

/// Replaces the output from byte `begin` on with what `other` writes, if that is shorter. Returns whether the output
/// was replaced.
pub(super) fn replace_if_shorter(out: &mut String, begin: usize, other: impl FnOnce(&mut String)) -> bool {
    let end = out.len();
    other(out);
    let is_shorter = out.len() - end < end - begin;
    if is_shorter {
        out.drain(begin..end);
    } else {
        out.truncate(end);
    }
    is_shorter
}

/// Writes one SGR sequence, which consists of several codes.
struct SgrWriter<'a> {
    out: &'a mut String,
    is_first_code: bool,
}

impl<'a> SgrWriter<'a> {
    fn begin(out: &'a mut String) -> Self {
        out.push_str("\x1b[");
        Self { out, is_first_code: true }
    }

    fn end(self) {
        self.out.push('m');
    }

    fn add(&mut self, code: u8) {
        if !self.is_first_code {
            self.out.push(';');
        }
        self.is_first_code = false;
        push_number(self.out, u32::from(code));
    }

    fn add_modifiers(&mut self, all: Modifier) {
        for (modifier, on, _) in MODIFIER_CODES {
            if all.contains(modifier) {
                self.add(on);
            }
        }
    }

    /// Adds the code of a colour; `base` is 30 for the foreground and 40 for the background.
    fn add_color(&mut self, color: Color, base: u8) {
        let extended = base + 8;
        let code = match color {
            Color::Reset => base + 9,
            Color::Indexed(n) => return self.add_all(&[extended, 5, n]),
            Color::Rgb(r, g, b) => {
                return match palette_index(r, g, b) {
                    Some(n) => self.add_all(&[extended, 5, n]),
                    None => self.add_all(&[extended, 2, r, g, b]),
                };
            }
            Color::Black => base,
            Color::Red => base + 1,
            Color::Green => base + 2,
            Color::Yellow => base + 3,
            Color::Blue => base + 4,
            Color::Magenta => base + 5,
            Color::Cyan => base + 6,
            Color::Gray => base + 7,
            Color::DarkGray => base + 60,
            Color::LightRed => base + 61,
            Color::LightGreen => base + 62,
            Color::LightYellow => base + 63,
            Color::LightBlue => base + 64,
            Color::LightMagenta => base + 65,
            Color::LightCyan => base + 66,
            Color::White => base + 67,
        };
        self.add(code);
    }

    fn add_all(&mut self, codes: &[u8]) {
        for code in codes {
            self.add(*code);
        }
    }
}

/// Returns the index of a colour in the 256-colour palette. Sending the index takes half the bytes of the RGB values.
/// Returns `None` if the palette doesn't contain exactly this colour. Ignores the colours 16 to 21 of the palette,
/// which some terminal themes redefine.
fn palette_index(r: u8, g: u8, b: u8) -> Option<u8> {
    let level = |value: u8| match value {
        0 => Some(0),
        95..=255 if (value - 55).is_multiple_of(40) => Some((value - 55) / 40),
        _ => None,
    };
    let cube = || Some(16 + 36 * level(r)? + 6 * level(g)? + level(b)?);
    let is_grey = r == g && g == b && (8..=238).contains(&r) && (r - 8).is_multiple_of(10);
    let grey = is_grey.then(|| 232 + (r.wrapping_sub(8)) / 10);
    cube().or(grey).filter(|n| *n > 21)
}

/// Appends a number in decimal.
pub(super) fn push_number(out: &mut String, n: u32) {
    if n >= 10 {
        push_number(out, n / 10);
    }
    out.push(char::from_digit(n % 10, 10).unwrap_or('0'));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_palette_colours_have_an_index() {
        let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
        let cube = (22..232_u8).map(|n| (n, [(n - 16) / 36, (n - 16) / 6 % 6, (n - 16) % 6].map(level)));
        let greys = (232..=255_u8).map(|n| (n, [8 + 10 * (n - 232); 3]));
        let all: Vec<_> = cube.chain(greys).collect();
        for (n, [r, g, b]) in &all {
            assert_eq!(palette_index(*r, *g, *b), Some(*n));
        }
        let others =
            (0..=255_u8).flat_map(|r| (0..=255).step_by(5).flat_map(move |g| [(r, g, g), (r, g, 95), (g, g, r)]));
        for (r, g, b) in others.filter(|(r, g, b)| !all.iter().any(|(_, rgb)| *rgb == [*r, *g, *b])) {
            assert_eq!(palette_index(r, g, b), None, "{r} {g} {b}");
        }
    }

    #[test]
    fn the_shorter_of_two_sequences_is_used() {
        let change = |from: SgrState, to: SgrState| {
            let mut out = "x".to_owned();
            from.append_change(to, &mut out);
            out
        };
        let plain = SgrState { fg: Color::Red, ..SgrState::default() };
        let loud = SgrState { modifier: Modifier::BOLD | Modifier::ITALIC | Modifier::UNDERLINED, ..plain };
        assert_eq!(change(plain, plain), "x");
        assert_eq!(change(plain, SgrState::default()), "x\x1b[m");
        assert_eq!(change(plain, loud), "x\x1b[1;3;4m");
        assert_eq!(change(loud, plain), "x\x1b[0;31m", "not 22;23;24");
        assert_eq!(change(SgrState { modifier: Modifier::BOLD, ..plain }, plain), "x\x1b[22m");
        let dim = SgrState { modifier: Modifier::DIM, ..plain };
        assert_eq!(change(SgrState { modifier: Modifier::BOLD | Modifier::DIM, ..plain }, dim), "x\x1b[22;2m");
    }

    #[test]
    fn numbers_are_written_in_decimal() {
        for n in [0, 7, 10, 99, 100, 65_536] {
            let mut out = String::new();
            push_number(&mut out, n);
            assert_eq!(out, n.to_string());
        }
    }
}
