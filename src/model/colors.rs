//! Colours by meaning, and whether they can be read: a theme paints meanings, never places. What a terminal makes of a
//! colour is not known here.

/// A colour as a theme names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Colour {
    /// The terminal's own foreground or background.
    Terminal,
    /// One of the sixteen that every terminal has, 0 to 15; what it looks like is the terminal's.
    Ansi(u8),
    Rgb(Rgb),
}

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// Names of the sixteen, in their order.
pub const ANSI: [&str; 16] = [
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

impl Rgb {
    /// Reads `#rrggbb`.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = |digits: &&str| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let digits = text.strip_prefix('#').filter(is_hex)?;
        let part = |at: usize| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        Some(Self(part(0)?, part(2)?, part(4)?))
    }

    /// Relative luminance, 0 to 1 (WCAG 2.2).
    pub fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// Contrast ratio, 1 to 21 (WCAG 2.2): 4.5 is the least for text.
    pub fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance() + 0.05, other.luminance() + 0.05);
        if one > two { one / two } else { two / one }
    }

    /// Whether light text reads better on it than dark text.
    pub fn is_dark(self) -> bool {
        self.contrast(Self(255, 255, 255)) > self.contrast(Self(0, 0, 0))
    }
}

impl Colour {
    /// Reads `default`, `#rrggbb` or a name of [`ANSI`].
    pub fn parse(text: &str) -> Option<Self> {
        if text == "default" {
            return Some(Self::Terminal);
        }
        let named = ANSI.iter().position(|name| *name == text).and_then(|place| u8::try_from(place).ok());
        named.map(Self::Ansi).or_else(|| Rgb::parse(text).map(Self::Rgb))
    }
}

/// What is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColorRole {
    Text,
    /// Beside the point: labels, ages, what is old.
    Muted,
    /// Headings and the name of the program.
    Title,
    Border,
    /// Border of the part that has the keys.
    Focus,
    /// The text of the selected row.
    Selected,
    /// The mark of the selected row, and what is on.
    Mark,
    /// A key in footer and help.
    Key,
    Good,
    Bad,
    Warning,
    Working,
    Human,
    Ai,
}

impl ColorRole {
    /// All meanings.
    pub const ALL: [Self; 14] = [
        Self::Text,
        Self::Muted,
        Self::Title,
        Self::Border,
        Self::Focus,
        Self::Selected,
        Self::Mark,
        Self::Key,
        Self::Good,
        Self::Bad,
        Self::Warning,
        Self::Working,
        Self::Human,
        Self::Ai,
    ];

    /// Its name in a theme file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Muted => "muted",
            Self::Title => "title",
            Self::Border => "border",
            Self::Focus => "focus",
            Self::Selected => "selected",
            Self::Mark => "mark",
            Self::Key => "key",
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Warning => "warning",
            Self::Working => "working",
            Self::Human => "human",
            Self::Ai => "ai",
        }
    }

    /// The meaning that a name names.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|meaning| meaning.name() == name)
    }

    /// Whether words are written in it; the others are lines, for which less contrast is enough.
    pub fn is_text(self) -> bool {
        !matches!(self, Self::Border | Self::Focus)
    }
}

/// How one meaning is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint {
    pub fg: Colour,
    pub bg: Colour,
    pub bold: bool,
    pub dim: bool,
    pub underlined: bool,
    pub reversed: bool,
}

impl Default for Paint {
    /// The terminal's own colours.
    fn default() -> Self {
        Self { fg: Colour::Terminal, bg: Colour::Terminal, bold: false, dim: false, underlined: false, reversed: false }
    }
}

/// All meanings painted, for one kind of ground.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThemeColors {
    paints: [Paint; ColorRole::ALL.len()],
    /// Painted behind everything; [`Colour::Terminal`] leaves the terminal's own.
    pub ground: Colour,
    /// Grounds of terminals that it is made for, where it paints none itself.
    pub made_for: Vec<Rgb>,
}

impl Default for ThemeColors {
    fn default() -> Self {
        Self { paints: [Paint::default(); ColorRole::ALL.len()], ground: Colour::Terminal, made_for: Vec::new() }
    }
}

impl ThemeColors {
    /// Middle tones that can be told from dark and light grounds alike: what is used while the ground is not known.
    pub fn middle_tones() -> Self {
        let mut palette = Self::default();
        let plain = |r, g, b| Paint { fg: Colour::Rgb(Rgb(r, g, b)), ..Paint::default() };
        let bold = Paint { bold: true, ..Paint::default() };
        let paints = [
            (ColorRole::Muted, plain(0x80, 0x80, 0x80)),
            (ColorRole::Title, bold),
            (ColorRole::Border, plain(0x6c, 0x6c, 0x6c)),
            (ColorRole::Focus, plain(0x00, 0x87, 0xaf)),
            (ColorRole::Selected, bold),
            (ColorRole::Mark, Paint { bold: true, ..plain(0x00, 0x87, 0xaf) }),
            (ColorRole::Key, plain(0x00, 0x87, 0xaf)),
            (ColorRole::Good, plain(0x5f, 0x87, 0x00)),
            (ColorRole::Bad, plain(0xd7, 0x00, 0x00)),
            (ColorRole::Warning, plain(0xd7, 0x5f, 0x00)),
            (ColorRole::Working, plain(0x00, 0x87, 0xd7)),
            (ColorRole::Human, plain(0x00, 0x87, 0xd7)),
            (ColorRole::Ai, plain(0xd7, 0x5f, 0x00)),
        ];
        for (meaning, paint) in paints {
            palette.set(meaning, paint);
        }
        palette
    }

    /// How a meaning is painted.
    pub fn paint(&self, meaning: ColorRole) -> Paint {
        self.paints.get(meaning as usize).copied().unwrap_or_default()
    }

    /// Paints a meaning.
    pub fn set(&mut self, meaning: ColorRole, paint: Paint) {
        if let Some(place) = self.paints.get_mut(meaning as usize) {
            *place = paint;
        }
    }
}

/// What a terminal's background is, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Background {
    Dark,
    Light,
    #[default]
    Unknown,
}

impl Background {
    /// Judges a background's colour.
    pub fn of(colour: Rgb) -> Self {
        if colour.is_dark() { Self::Dark } else { Self::Light }
    }
}

/// A theme: one palette for each kind of ground.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThemeColours {
    pub dark: ThemeColors,
    pub light: ThemeColors,
    /// While nothing is known of the ground, or the terminal never tells.
    pub unknown: ThemeColors,
}

impl ThemeColours {
    /// The palette for a ground.
    pub fn on(&self, ground: Background) -> &ThemeColors {
        match ground {
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
    fn contrast_is_as_the_guidelines_say() {
        let (black, white) = (Rgb(0, 0, 0), Rgb(255, 255, 255));
        assert!((black.contrast(white) - 21.0).abs() < 1e-9);
        assert!((white.contrast(white) - 1.0).abs() < 1e-9);
        // The grey that the guidelines' examples call just enough on white.
        assert!((Rgb(0x76, 0x76, 0x76).contrast(white) - 4.54).abs() < 0.01);
    }

    #[test]
    fn a_ground_is_dark_or_light() {
        assert_eq!(Background::of(Rgb(0x28, 0x2c, 0x34)), Background::Dark);
        assert_eq!(Background::of(Rgb(0xfd, 0xf6, 0xe3)), Background::Light);
    }

    #[test]
    fn colours_are_read_and_nonsense_is_not() {
        assert_eq!(Colour::parse("#5fafd7"), Some(Colour::Rgb(Rgb(0x5f, 0xaf, 0xd7))));
        assert_eq!(Colour::parse("bright-cyan"), Some(Colour::Ansi(14)));
        assert_eq!(Colour::parse("default"), Some(Colour::Terminal));
        for bad in ["", "#12345", "#12345g", "#ééé", "blau", "#+1+1+1"] {
            assert_eq!(Colour::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_meaning_has_a_place_and_a_name() {
        for (place, meaning) in ColorRole::ALL.into_iter().enumerate() {
            assert_eq!((meaning as usize, ColorRole::parse(meaning.name())), (place, Some(meaning)));
        }
    }
}
