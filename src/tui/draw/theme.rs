//! Converts the colours of a theme to styles with the colours that the terminal supports. Drawing code uses only these
//! styles, and colour alone never carries a meaning.

use crate::model::colors::{
    ColorPalette, ColorRole, MIN_SYMBOL_CONTRAST, MIN_TEXT_CONTRAST, Rgb, RoleStyle, ThemeColor,
};
use ratatui::style::{Color, Modifier, Style};

/// How many colours the terminal supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorDepth {
    /// No colours: `NO_COLOR`, `--color never`.
    None,
    /// The sixteen colours that every terminal has.
    Sixteen,
    /// The 256 colours that nearly every terminal has.
    Indexed256,
    /// 24-bit colours.
    TrueColor,
}

/// The styles by meaning, and which features of the terminal are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// Whether to draw lines, bars and symbols in ASCII.
    pub ascii: bool,
    /// Whether the terminal shows texts outside ASCII, even if lines, bars and symbols are in ASCII.
    pub shows_unicode_text: bool,
    /// Whether the terminal's font has cells that are filled in eighths.
    pub has_eighth_blocks: bool,
    /// Whether to make links clickable (OSC 8).
    pub has_clickable_links: bool,
    /// Whether the terminal's cursor is visible in text inputs. If not, docdeck draws a cursor.
    pub shows_terminal_cursor: bool,
    /// The background colour; `None` for the terminal's own.
    pub background: Option<Color>,
    pub text: Style,
    pub muted: Style,
    pub title: Style,
    pub border: Style,
    pub focus: Style,
    pub selected: Style,
    pub mark: Style,
    pub key: Style,
    pub good: Style,
    pub bad: Style,
    pub warning: Style,
    pub working: Style,
    pub human: Style,
    pub ai: Style,
    /// The style of AI bars with a texture. Computed once, because finding the nearest colours is slow.
    pub ai_texture: Style,
    /// The style of a partly filled cell of an AI bar: the mean of the two tones of [`Self::ai_texture`].
    pub ai_texture_mean: Style,
    /// The colours that symbols and bars keep in the selected row, because their contrast with the row is high enough.
    pub symbol_colors_kept_on_selected: Vec<Color>,
    /// The colours that texts keep in the selected row.
    pub text_colors_kept_on_selected: Vec<Color>,
}

impl Theme {
    /// Creates the theme with middle tones, for an unknown background.
    pub fn new(depth: ColorDepth) -> Self {
        Self::from_palette(&ColorPalette::medium_tones(), depth)
    }

    /// Creates the theme from these colours, reduced to the colours of `depth`.
    pub fn from_palette(colors: &ColorPalette, depth: ColorDepth) -> Self {
        let style = |meaning| terminal_style(colors.role_style(meaning), depth);
        // With at most sixteen colours, two colours of a theme may be shown as the same one. The contrast on screen is
        // then unknown, so no colours are kept.
        let has_contrast = matches!(depth, ColorDepth::Indexed256 | ColorDepth::TrueColor);
        let kept = |min: f64| -> Vec<Color> {
            let roles = ColorRole::ALL.iter().copied();
            let kept = roles.filter(|role| has_contrast && colors.contrast_with_selected(*role) >= Some(min));
            kept.filter_map(|role| color(colors.role_style(role).fg, depth)).collect()
        };
        let mut theme = Self {
            ascii: false,
            shows_unicode_text: true,
            has_eighth_blocks: true,
            has_clickable_links: false,
            shows_terminal_cursor: false,
            background: color(colors.background, depth),
            text: style(ColorRole::Text),
            muted: style(ColorRole::Muted),
            title: style(ColorRole::Title),
            border: style(ColorRole::Border),
            focus: style(ColorRole::Focus),
            selected: style(ColorRole::Selected),
            mark: style(ColorRole::Mark),
            key: style(ColorRole::Key),
            good: style(ColorRole::Good),
            bad: style(ColorRole::Bad),
            warning: style(ColorRole::Warning),
            working: style(ColorRole::Working),
            human: style(ColorRole::Human),
            ai: style(ColorRole::Ai),
            ai_texture: Style::new(),
            ai_texture_mean: Style::new(),
            symbol_colors_kept_on_selected: kept(MIN_SYMBOL_CONTRAST),
            text_colors_kept_on_selected: kept(MIN_TEXT_CONTRAST),
        };
        theme.update_textures();
        let is_ai_kept = theme.ai.fg.is_some_and(|ai| theme.symbol_colors_kept_on_selected.contains(&ai));
        theme.symbol_colors_kept_on_selected.extend(theme.ai_partial_fill().fg.filter(|_| is_ai_kept));
        theme
    }

    /// Computes the textures of AI bars again, after [`Self::ai`] was changed.
    pub fn update_textures(&mut self) {
        (self.ai_texture, self.ai_texture_mean) = texture_styles(self.ai);
    }

    /// Returns the style of a role.
    pub(in crate::tui) fn role(&self, role: ColorRole) -> Style {
        match role {
            ColorRole::Text => self.text,
            ColorRole::Muted => self.muted,
            ColorRole::Title => self.title,
            ColorRole::Border => self.border,
            ColorRole::Focus => self.focus,
            ColorRole::Selected => self.selected,
            ColorRole::Mark => self.mark,
            ColorRole::Key => self.key,
            ColorRole::Good => self.good,
            ColorRole::Bad => self.bad,
            ColorRole::Warning => self.warning,
            ColorRole::Working => self.working,
            ColorRole::Human => self.human,
            ColorRole::Ai => self.ai,
        }
    }

    /// Returns the number of parts of a cell that a bar can fill separately: 8 if the terminal can draw eighths,
    /// otherwise 1.
    pub(in crate::tui) fn parts_per_cell(&self) -> usize {
        if self.has_eighth_blocks && !self.ascii { 8 } else { 1 }
    }

    /// Whether one cell can show both human and AI views. This needs a background colour behind the texture of AI bars.
    pub(in crate::tui) fn can_show_human_and_ai_in_one_cell(&self) -> bool {
        self.ai_texture.bg.is_some() && self.parts_per_cell() > 1
    }

    /// Returns the style of the full cells of an AI bar. If the terminal can draw eighths, full cells have a texture: a
    /// darker tone on the colour of AI views.
    pub(in crate::tui) fn ai_fill(&self) -> Style {
        if self.parts_per_cell() > 1 { self.ai_texture } else { self.ai }
    }

    /// Returns the style of a partly filled cell at the end of an AI bar: the mean of the two tones of the texture,
    /// because the texture fits only a full cell.
    pub fn ai_partial_fill(&self) -> Style {
        if self.parts_per_cell() > 1 { self.ai_texture_mean } else { self.ai }
    }
}

/// Returns the styles for the full cells and for the partly filled cell of a bar in the colour of `style`. Full cells
/// have a texture: a darker tone on that colour. The partly filled cell has the mean of both tones. If no darker tone
/// is known, both styles are `style` itself.
fn texture_styles(style: Style) -> (Style, Style) {
    let tones = style.fg.and_then(|color| Some((color, darker(color)?)));
    let Some((color, darker)) = tones else { return (style, style) };
    let texture = Style { fg: Some(darker), bg: Some(color), ..style };
    (texture, mean(color, darker).map_or(style, |mean| Style { fg: Some(mean), ..style }))
}

fn terminal_style(paint: RoleStyle, depth: ColorDepth) -> Style {
    let mut style = Style { fg: color(paint.fg, depth), bg: color(paint.bg, depth), ..Style::new() };
    // Without colours, a style with a background is drawn reversed, so that it still stands out.
    let reversed = paint.reversed || (depth == ColorDepth::None && paint.bg != ThemeColor::Terminal);
    let modifiers = [
        (paint.bold, Modifier::BOLD),
        (paint.dim, Modifier::DIM),
        (paint.underlined, Modifier::UNDERLINED),
        (reversed, Modifier::REVERSED),
    ];
    for (_, modifier) in modifiers.into_iter().filter(|(on, _)| *on) {
        style = style.add_modifier(modifier);
    }
    style
}

/// Converts a colour to the nearest one that the terminal supports. Returns `None` for the terminal's own colour.
fn color(theme_color: ThemeColor, depth: ColorDepth) -> Option<Color> {
    match (theme_color, depth) {
        (ThemeColor::Terminal, _) | (_, ColorDepth::None) => None,
        (ThemeColor::Ansi(n), _) => Some(ansi_color(n)),
        (ThemeColor::Rgb(rgb), ColorDepth::Sixteen) => {
            Some(ansi_color(nearest_index(rgb, SIXTEEN_COLORS.into_iter().zip(0..))))
        }
        (ThemeColor::Rgb(rgb), ColorDepth::Indexed256) => Some(Color::Indexed(nearest_index(rgb, fixed_colors()))),
        (ThemeColor::Rgb(Rgb(r, g, b)), ColorDepth::TrueColor) => Some(Color::Rgb(r, g, b)),
    }
}

/// The values that are assumed for the terminal's sixteen colours: those of PC text mode, in which dark yellow is
/// brown. Of the usual values, these have the hues nearest to those of the themes.
const SIXTEEN_COLORS: [Rgb; 16] = [
    Rgb(0, 0, 0),
    Rgb(170, 0, 0),
    Rgb(0, 170, 0),
    Rgb(170, 85, 0),
    Rgb(0, 0, 170),
    Rgb(170, 0, 170),
    Rgb(0, 170, 170),
    Rgb(170, 170, 170),
    Rgb(85, 85, 85),
    Rgb(255, 85, 85),
    Rgb(85, 255, 85),
    Rgb(255, 255, 85),
    Rgb(85, 85, 255),
    Rgb(255, 85, 255),
    Rgb(85, 255, 255),
    Rgb(255, 255, 255),
];

/// Returns the 240 of the 256 colours that look the same in every terminal, with their numbers. They are a cube of
/// 6 × 6 × 6 colours, then 24 greys.
fn fixed_colors() -> impl Iterator<Item = (Rgb, u8)> {
    let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    let cube = (0..216_u8).map(move |n| Rgb(level(n / 36), level(n / 6 % 6), level(n % 6)));
    let greys = (0..24_u8).map(|n| Rgb(8 + 10 * n, 8 + 10 * n, 8 + 10 * n));
    cube.chain(greys).zip(16..=255)
}

/// Returns the values of a colour; `None` for one of the sixteen colours that the terminal defines.
fn rgb(color: Color) -> Option<Rgb> {
    match color {
        Color::Rgb(r, g, b) => Some(Rgb(r, g, b)),
        Color::Indexed(n) => fixed_colors().find(|(_, index)| *index == n).map(|(rgb, _)| rgb),
        _ => None,
    }
}

/// Returns the mean of two colours. For two fixed colours, returns the fixed colour nearest to their mean or, if two
/// are equally near, the lighter one.
fn mean(one: Color, other: Color) -> Option<Color> {
    let ((first, Rgb(r, g, b)), is_fixed) = ((rgb(one)?, rgb(other)?), matches!(one, Color::Indexed(_)));
    let mean = Rgb(first.0.midpoint(r), first.1.midpoint(g), first.2.midpoint(b));
    let lightest_first = || fixed_colors().collect::<Vec<_>>().into_iter().rev();
    Some(if is_fixed {
        Color::Indexed(nearest_index(mean, lightest_first()))
    } else {
        Color::Rgb(mean.0, mean.1, mean.2)
    })
}

/// Returns a slightly darker colour, for the texture of [`texture_styles`]. If it were much darker, the full cells of a
/// bar would look different from its partly filled cell, which has the mean of both tones. For a fixed colour, returns
/// another fixed colour: the one nearest to the darker colour.
fn darker(color: Color) -> Option<Color> {
    let Rgb(r, g, b) = rgb(color)?;
    let darker = [r, g, b].map(|part| part - part / 5);
    let [r, g, b] = darker;
    let others = || fixed_colors().filter(|(_, index)| Color::Indexed(*index) != color);
    Some(match color {
        Color::Indexed(_) => Color::Indexed(nearest_index(Rgb(r, g, b), others())),
        _ => Color::Rgb(r, g, b),
    })
}

fn nearest_index(wanted: Rgb, among: impl Iterator<Item = (Rgb, u8)>) -> u8 {
    let distance = |rgb: Rgb| {
        let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        square(rgb.0, wanted.0) + square(rgb.1, wanted.1) + square(rgb.2, wanted.2)
    };
    among.min_by_key(|(rgb, _)| distance(*rgb)).map_or(0, |(_, index)| index)
}

/// Returns one of the sixteen colours by its number.
fn ansi_color(n: u8) -> Color {
    match n {
        0 => Color::Black,
        1 => Color::Red,
        2 => Color::Green,
        3 => Color::Yellow,
        4 => Color::Blue,
        5 => Color::Magenta,
        6 => Color::Cyan,
        7 => Color::Gray,
        8 => Color::DarkGray,
        9 => Color::LightRed,
        10 => Color::LightGreen,
        11 => Color::LightYellow,
        12 => Color::LightBlue,
        13 => Color::LightMagenta,
        14 => Color::LightCyan,
        _ => Color::White,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rgb: Rgb, depth: ColorDepth) -> Option<Color> {
        color(ThemeColor::Rgb(rgb), depth)
    }

    #[test]
    fn a_colour_becomes_the_nearest_that_the_terminal_has() {
        let blue = Rgb(0x5f, 0xaf, 0xd7);
        assert_eq!(shown(blue, ColorDepth::TrueColor), Some(Color::Rgb(0x5f, 0xaf, 0xd7)));
        assert_eq!(shown(blue, ColorDepth::Indexed256), Some(Color::Indexed(74)));
        assert_eq!(shown(Rgb(0x80, 0x80, 0x80), ColorDepth::Indexed256), Some(Color::Indexed(244)));
        assert_eq!(shown(Rgb(0xd7, 0x5f, 0x00), ColorDepth::Sixteen), Some(Color::Yellow));
        assert_eq!(shown(blue, ColorDepth::None), None);
    }

    #[test]
    fn the_texture_of_ai_views_is_a_darker_tone_on_their_colour() {
        let theme = |depth| {
            let mut colors = ColorPalette::default();
            colors.set_role_style(
                ColorRole::Ai,
                RoleStyle { fg: ThemeColor::Rgb(Rgb(255, 175, 95)), ..RoleStyle::default() },
            );
            Theme::from_palette(&colors, depth)
        };
        let fill = theme(ColorDepth::TrueColor).ai_fill();
        assert_eq!((fill.fg, fill.bg), (Some(Color::Rgb(204, 140, 76)), Some(Color::Rgb(255, 175, 95))));
        assert_eq!(
            theme(ColorDepth::TrueColor).ai_partial_fill().fg,
            Some(Color::Rgb(229, 157, 85)),
            "the mean of both"
        );
        let indexed = theme(ColorDepth::Indexed256);
        assert!(indexed.ai_fill().bg == indexed.ai.fg && indexed.ai_fill().fg != indexed.ai.fg);
        for depth in [ColorDepth::Sixteen, ColorDepth::None] {
            assert_eq!(theme(depth).ai_fill(), theme(depth).ai);
            assert_eq!((theme(depth).can_show_human_and_ai_in_one_cell(), theme(depth).parts_per_cell()), (false, 8));
        }
        let ascii = Theme { ascii: true, ..theme(ColorDepth::TrueColor) };
        assert_eq!(ascii.ai_fill(), ascii.ai, "a sign on a background would be hard to see");
    }

    #[test]
    fn a_style_with_a_background_is_reversed_without_colours() {
        let mut colors = ColorPalette::default();
        let white = ThemeColor::Ansi(15);
        colors.set_role_style(ColorRole::Selected, RoleStyle { bg: white, ..RoleStyle::default() });
        assert_eq!(
            Theme::from_palette(&colors, ColorDepth::None).selected,
            Style::new().add_modifier(Modifier::REVERSED)
        );
        assert_eq!(Theme::from_palette(&colors, ColorDepth::Sixteen).selected, Style::new().bg(Color::White));
    }
}
