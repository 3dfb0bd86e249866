//! Writes single glyphs into cells. Most glyphs on the screen are ASCII, lines, blocks or shapes. For these, there are
//! constant cells: copying one takes a quarter of the time of [`Cell::set_char`], because the compiler knows that the
//! text of a constant cell needs no memory of its own.

use ratatui::buffer::Cell;
use ratatui::style::Style;

/// Creates an array of cells from their glyphs.
macro_rules! cells {
    ($($glyph:literal)*) => { [$(Cell::new($glyph)),*] };
}

/// The printable ASCII characters, in order.
static ASCII: [Cell; 95] = cells! {
    " " "!" "\"" "#" "$" "%" "&" "'" "(" ")" "*" "+" "," "-" "." "/" "0" "1" "2" "3" "4" "5" "6" "7" "8" "9" ":"
    ";" "<" "=" ">" "?" "@" "A" "B" "C" "D" "E" "F" "G" "H" "I" "J" "K" "L" "M" "N" "O" "P" "Q" "R" "S" "T" "U"
    "V" "W" "X" "Y" "Z" "[" "\\" "]" "^" "_" "`" "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l" "m" "n" "o" "p"
    "q" "r" "s" "t" "u" "v" "w" "x" "y" "z" "{" "|" "}" "~"
};

/// The lines, blocks and shapes from U+2500 to U+25FC, in order.
static SHAPES: [Cell; 253] = cells! {
    "─" "━" "│" "┃" "┄" "┅" "┆" "┇" "┈" "┉" "┊" "┋" "┌" "┍" "┎" "┏" "┐" "┑" "┒" "┓" "└" "┕" "┖" "┗" "┘" "┙" "┚" "┛"
    "├" "┝" "┞" "┟" "┠" "┡" "┢" "┣" "┤" "┥" "┦" "┧" "┨" "┩" "┪" "┫" "┬" "┭" "┮" "┯" "┰" "┱" "┲" "┳" "┴" "┵" "┶" "┷"
    "┸" "┹" "┺" "┻" "┼" "┽" "┾" "┿" "╀" "╁" "╂" "╃" "╄" "╅" "╆" "╇" "╈" "╉" "╊" "╋" "╌" "╍" "╎" "╏" "═" "║" "╒" "╓"
    "╔" "╕" "╖" "╗" "╘" "╙" "╚" "╛" "╜" "╝" "╞" "╟" "╠" "╡" "╢" "╣" "╤" "╥" "╦" "╧" "╨" "╩" "╪" "╫" "╬" "╭" "╮" "╯"
    "╰" "╱" "╲" "╳" "╴" "╵" "╶" "╷" "╸" "╹" "╺" "╻" "╼" "╽" "╾" "╿" "▀" "▁" "▂" "▃" "▄" "▅" "▆" "▇" "█" "▉" "▊" "▋"
    "▌" "▍" "▎" "▏" "▐" "░" "▒" "▓" "▔" "▕" "▖" "▗" "▘" "▙" "▚" "▛" "▜" "▝" "▞" "▟" "■" "□" "▢" "▣" "▤" "▥" "▦" "▧"
    "▨" "▩" "▪" "▫" "▬" "▭" "▮" "▯" "▰" "▱" "▲" "△" "▴" "▵" "▶" "▷" "▸" "▹" "►" "▻" "▼" "▽" "▾" "▿" "◀" "◁" "◂" "◃"
    "◄" "◅" "◆" "◇" "◈" "◉" "◊" "○" "◌" "◍" "◎" "●" "◐" "◑" "◒" "◓" "◔" "◕" "◖" "◗" "◘" "◙" "◚" "◛" "◜" "◝" "◞" "◟"
    "◠" "◡" "◢" "◣" "◤" "◥" "◦" "◧" "◨" "◩" "◪" "◫" "◬" "◭" "◮" "◯" "◰" "◱" "◲" "◳" "◴" "◵" "◶" "◷" "◸" "◹" "◺" "◻"
    "◼"
};

/// Returns the constant cell of a glyph, if there is one.
fn constant_cell(glyph: char) -> Option<&'static Cell> {
    let index = |first: char| usize::try_from(u32::from(glyph).checked_sub(u32::from(first))?).ok();
    if glyph < '\u{7f}' { ASCII.get(index(' ')?) } else { SHAPES.get(index('\u{2500}')?) }
}

/// Writes ASCII characters into adjacent cells, one into each. The characters must be printable.
pub(super) fn write_ascii(cells: &mut [Cell], text: &[u8], style: Style) {
    for (cell, byte) in cells.iter_mut().zip(text) {
        match ASCII.get(usize::from(byte.wrapping_sub(b' '))) {
            Some(glyph) => copy_glyph(cell, glyph, style),
            None => debug_assert!(false, "not printable: {byte}"),
        }
    }
}

/// Writes the same glyph into all cells.
pub(super) fn fill_cells(cells: &mut [Cell], glyph: char, style: Style) {
    match constant_cell(glyph) {
        Some(constant) => cells.iter_mut().for_each(|cell| copy_glyph(cell, constant, style)),
        None => cells.iter_mut().for_each(|cell| {
            cell.set_char(glyph).set_style(style);
        }),
    }
}

/// Has the same effect as [`Cell::set_symbol`] and [`Cell::set_style`], but is faster.
#[inline]
fn copy_glyph(cell: &mut Cell, glyph: &Cell, style: Style) {
    let mut written = glyph.clone();
    written.fg = style.fg.unwrap_or(cell.fg);
    written.bg = style.bg.unwrap_or(cell.bg);
    written.modifier = cell.modifier.union(style.add_modifier).difference(style.sub_modifier);
    written.diff_option = cell.diff_option;
    *cell = written;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_cell_contains_its_glyph() {
        let glyphs = (' '..='~').chain('\u{2500}'..='\u{25fc}');
        assert_eq!(glyphs.clone().count(), ASCII.len() + SHAPES.len());
        for glyph in glyphs {
            assert_eq!(constant_cell(glyph), Some(&Cell::from(glyph)), "{glyph}");
        }
        for other in ['\0', '\u{1f}', '\u{7f}', 'é', '\u{24ff}', '\u{25fd}', '日'] {
            assert_eq!(constant_cell(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_run_is_written_as_ratatui_writes_it() {
        let before = || {
            let mut cell = Cell::new("x");
            cell.set_style(Style::new().red().on_blue().bold().underlined());
            cell
        };
        let styles = [Style::new(), Style::new().green().not_bold(), Style::new().on_white().italic()];
        for (glyph, style) in ['a', '█', 'é'].into_iter().zip(styles) {
            let (mut ours, mut theirs) = (vec![before(); 3], vec![before(); 3]);
            fill_cells(&mut ours, glyph, style);
            theirs.iter_mut().for_each(|cell| {
                cell.set_char(glyph).set_style(style);
            });
            assert_eq!(ours, theirs, "{glyph}");
        }
    }
}
