//! The colours of a theme and their contrast. A theme assigns colours to roles such as headings or warnings, not to
//! single screens or dialogs. How a terminal displays a colour is out of scope.

use strum::{EnumString, IntoStaticStr, VariantArray};

/// A colour as a theme file specifies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ThemeColor {
    /// The terminal's default foreground or background.
    Terminal,
    /// One of the 16 ANSI colours, 0 to 15; the terminal decides what it looks like.
    Ansi(u8),
    Rgb(Rgb),
}

/// A colour as red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// The names of the 16 ANSI colours, in the order of their numbers.
pub const ANSI_COLOR_NAMES: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright-black",
    "bright-red",
    "bright-green",
    "bright-yellow",
    "bright-blue",
    "bright-magenta",
    "bright-cyan",
    "bright-white",
];

/// The minimum contrast ratio of text and its background (WCAG 2.2, level AA).
pub const MIN_TEXT_CONTRAST: f64 = 4.5;
/// The minimum contrast ratio of symbols and lines and their background (WCAG 2.2, level AA).
pub const MIN_SYMBOL_CONTRAST: f64 = 3.0;

impl Rgb {
    /// Parses `#rrggbb`. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = |digits: &&str| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let digits = text.strip_prefix('#').filter(is_hex)?;
        let part = |at: usize| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        Some(Self(part(0)?, part(2)?, part(4)?))
    }

    /// Returns the relative luminance, 0 to 1 (WCAG 2.2).
    pub fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// Returns the contrast ratio, 1 to 21 (WCAG 2.2). Readable text needs at least 4.5.
    pub fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance() + 0.05, other.luminance() + 0.05);
        if one > two { one / two } else { two / one }
    }

    /// Whether light text is more readable on this colour than dark text.
    pub fn is_dark(self) -> bool {
        self.contrast(Self(255, 255, 255)) > self.contrast(Self(0, 0, 0))
    }
}

impl ThemeColor {
    /// Parses `default`, `#rrggbb` or the name of an ANSI colour.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "default" {
            return Some(Self::Terminal);
        }
        let index = ANSI_COLOR_NAMES.iter().position(|name| *name == text).and_then(|index| u8::try_from(index).ok());
        index.map(Self::Ansi).or_else(|| Rgb::parse(text).map(Self::Rgb))
    }
}

/// What a colour is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum ColorRole {
    Text,
    /// Secondary text: labels, ages, old data.
    Muted,
    /// Headings and the program's name.
    Title,
    Border,
    /// The border of the focused pane.
    Focus,
    /// The selected row, filled across its full width.
    Selected,
    /// The marker of the selected row, and active items.
    Mark,
    /// A keyboard key in the footer and the help.
    Key,
    Good,
    Bad,
    Warning,
    Working,
    Human,
    Ai,
}

impl ColorRole {
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Returns the role's name in a theme file.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the role is for text. The other roles are for lines, which need less contrast.
    pub fn is_text(self) -> bool {
        !matches!(self, Self::Border | Self::Focus)
    }
}

/// The style of one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleStyle {
    pub fg: ThemeColor,
    pub bg: ThemeColor,
    pub bold: bool,
    pub dim: bool,
    pub underlined: bool,
    pub reversed: bool,
}

impl Default for RoleStyle {
    /// The terminal's default colours.
    fn default() -> Self {
        Self {
            fg: ThemeColor::Terminal,
            bg: ThemeColor::Terminal,
            bold: false,
            dim: false,
            underlined: false,
            reversed: false,
        }
    }
}

/// The styles of all roles for one kind of terminal background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColorPalette {
    styles: [RoleStyle; ColorRole::ALL.len()],
    /// The background colour of the whole screen; [`ThemeColor::Terminal`] keeps the terminal's background.
    pub background: ThemeColor,
    /// The terminal background colours for which these styles are made, if `background` keeps the terminal's
    /// background. The tests of the built-in themes check the contrast with them.
    pub made_for_backgrounds: Vec<Rgb>,
}

impl Default for ColorPalette {
    fn default() -> Self {
        Self {
            styles: [RoleStyle::default(); ColorRole::ALL.len()],
            background: ThemeColor::Terminal,
            made_for_backgrounds: Vec::new(),
        }
    }
}

impl ColorPalette {
    /// Returns colours of medium brightness, which are readable on both dark and light backgrounds. Used while the
    /// background is unknown.
    pub fn medium_tones() -> Self {
        let mut palette = Self::default();
        let plain = |r, g, b| RoleStyle { fg: ThemeColor::Rgb(Rgb(r, g, b)), ..RoleStyle::default() };
        let bold = RoleStyle { bold: true, ..RoleStyle::default() };
        let styles = [
            (ColorRole::Muted, plain(0x80, 0x80, 0x80)),
            (ColorRole::Title, bold),
            (ColorRole::Border, plain(0x80, 0x80, 0x80)),
            (ColorRole::Focus, plain(0x00, 0x87, 0xaf)),
            (ColorRole::Selected, RoleStyle { reversed: true, ..bold }),
            (ColorRole::Mark, RoleStyle { bold: true, ..plain(0x00, 0x87, 0xaf) }),
            (ColorRole::Key, plain(0x00, 0x87, 0xaf)),
            (ColorRole::Good, plain(0x5f, 0x87, 0x00)),
            (ColorRole::Bad, plain(0xd7, 0x00, 0x00)),
            (ColorRole::Warning, plain(0xd7, 0x5f, 0x00)),
            (ColorRole::Working, plain(0x00, 0x87, 0xaf)),
            (ColorRole::Human, plain(0x00, 0x87, 0xaf)),
            (ColorRole::Ai, plain(0xd7, 0x5f, 0x00)),
        ];
        for (role, style) in styles {
            palette.set_role_style(role, style);
        }
        palette
    }

    pub fn role_style(&self, role: ColorRole) -> RoleStyle {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// Returns the contrast of a role's colour with the selected row. `None` if it is unknown, because the terminal
    /// decides what one of the two colours looks like, or because the selected row is reversed.
    pub fn contrast_with_selected(&self, role: ColorRole) -> Option<f64> {
        let selected = self.role_style(ColorRole::Selected);
        match (self.role_style(role).fg, selected.bg) {
            (ThemeColor::Rgb(fg), ThemeColor::Rgb(bg)) if !selected.reversed => Some(fg.contrast(bg)),
            _ => None,
        }
    }

    pub fn set_role_style(&mut self, role: ColorRole, style: RoleStyle) {
        if let Some(slot) = self.styles.get_mut(role as usize) {
            *slot = style;
        }
    }
}

/// Whether the terminal's background is dark or light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Background {
    Dark,
    Light,
    #[default]
    Unknown,
}

impl Background {
    /// Returns whether a background colour is dark or light.
    pub fn from_color(color: Rgb) -> Self {
        if color.is_dark() { Self::Dark } else { Self::Light }
    }
}

/// A theme: one set of styles for each kind of terminal background.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThemePalettes {
    pub dark: ColorPalette,
    pub light: ColorPalette,
    /// Used until the background is known, and if the terminal never reports it.
    pub unknown: ColorPalette,
}

impl ThemePalettes {
    /// Returns the styles for a kind of background.
    pub fn for_background(&self, background: Background) -> &ColorPalette {
        match background {
            Background::Dark => &self.dark,
            Background::Light => &self.light,
            Background::Unknown => &self.unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_follows_the_wcag_formula() {
        let (black, white) = (Rgb(0, 0, 0), Rgb(255, 255, 255));
        assert!((black.contrast(white) - 21.0).abs() < 1e-9);
        assert!((white.contrast(white) - 1.0).abs() < 1e-9);
        // According to WCAG, this grey on white has just enough contrast for text.
        assert!((Rgb(0x76, 0x76, 0x76).contrast(white) - 4.54).abs() < 0.01);
    }

    #[test]
    fn a_background_is_dark_or_light() {
        assert_eq!(Background::from_color(Rgb(0x28, 0x2c, 0x34)), Background::Dark);
        assert_eq!(Background::from_color(Rgb(0xfd, 0xf6, 0xe3)), Background::Light);
    }

    #[test]
    fn valid_colours_are_parsed_and_others_are_rejected() {
        assert_eq!(ThemeColor::parse("#5fafd7"), Some(ThemeColor::Rgb(Rgb(0x5f, 0xaf, 0xd7))));
        assert_eq!(ThemeColor::parse("bright-cyan"), Some(ThemeColor::Ansi(14)));
        assert_eq!(ThemeColor::parse("default"), Some(ThemeColor::Terminal));
        for bad in ["", "#12345", "#12345g", "#ééé", "blau", "#+1+1+1"] {
            assert_eq!(ThemeColor::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_role_has_a_style_and_a_name() {
        for (slot, &role) in ColorRole::ALL.iter().enumerate() {
            assert_eq!((role as usize, role.name().parse()), (slot, Ok(role)));
        }
    }
}
