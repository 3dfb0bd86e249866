//! The current theme: the colours of the selected theme, adapted to the background of the terminal and to the number of
//! colours that it supports.

use crate::config::environment::Environment;
use crate::config::themes::{self, ThemeError};
use crate::config::{ColorChoice, DisplaySettings};
use crate::model::colors::{Background, Rgb, ThemePalettes};
use crate::terminal::caps::TerminalCaps;
use crate::tui::draw::{ColorDepth, Theme};
use std::cell::OnceCell;
use std::path::Path;

/// Everything on which the current theme depends.
#[derive(Debug)]
pub(super) struct ThemeState {
    /// The colours of the selected theme. Empty if this is the default theme and has not been read yet: the first frame
    /// usually doesn't need it.
    palettes: OnceCell<ThemePalettes>,
    depth: ColorDepth,
    ascii: bool,
    shows_unicode_text: bool,
    /// Whether the terminal can show the block glyphs that fill eighths of a cell. The font of the Linux console has
    /// none.
    has_eighth_blocks: bool,
    has_clickable_links: bool,
    background: Background,
    /// Whether the background is set in the configuration.
    is_background_configured: bool,
    /// Whether the terminal has reported its background.
    is_background_reported: bool,
}

impl ThemeState {
    /// `palettes` are the colours of the selected theme; `None` for the default theme.
    pub(super) fn new(
        display: &DisplaySettings,
        palettes: Option<ThemePalettes>,
        caps: TerminalCaps,
        environment: &Environment,
    ) -> Self {
        let depth = color_depth(display.color, environment);
        let links = display.shows_links && caps.supports_links;
        Self {
            palettes: theme_for_depth(palettes, depth),
            depth,
            ascii: display.ascii,
            shows_unicode_text: display.shows_unicode_text,
            has_eighth_blocks: caps.is_modern,
            has_clickable_links: links,
            background: display.background.unwrap_or(environment.background),
            is_background_configured: display.background.is_some(),
            is_background_reported: false,
        }
    }

    /// Selects a theme by name. `folder` contains the user's own themes.
    pub(super) fn select(&mut self, name: &str, folder: Option<&Path>) -> Result<(), ThemeError> {
        self.palettes = theme_for_depth(Some(themes::load_theme(name, folder)?), self.depth);
        Ok(())
    }

    /// Returns the current theme.
    pub(super) fn theme(&self) -> Theme {
        let palette = match (self.palettes.get(), self.background) {
            (None, Background::Unknown) => &themes::default_palette_for_unknown_background(),
            _ => self.palettes.get_or_init(themes::default_theme).for_background(self.background),
        };
        Theme {
            ascii: self.ascii,
            shows_unicode_text: self.shows_unicode_text,
            has_eighth_blocks: self.has_eighth_blocks,
            has_clickable_links: self.has_clickable_links,
            shows_terminal_cursor: true,
            ..Theme::from_palette(palette, self.depth)
        }
    }

    /// Whether to ask the terminal for its background: it is neither configured nor reported yet, and could change the
    /// theme.
    pub(super) fn should_request_background(&self) -> bool {
        let differs = |theme: &ThemePalettes| theme.dark != theme.light || theme.unknown != theme.dark;
        let is_background_unknown = !self.is_background_configured && !self.is_background_reported;
        is_background_unknown && self.depth != ColorDepth::None && self.palettes.get().is_none_or(differs)
    }

    /// Applies the background that the terminal reported, unless the configuration sets one.
    pub(super) fn set_reported_background(&mut self, color: Rgb) {
        if !self.is_background_configured {
            self.background = Background::from_color(color);
            self.is_background_reported = true;
        }
    }
}

/// The number of colours as text, and which setting determines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColorSupport {
    pub color_count: &'static str,
    pub reason: &'static str,
}

/// Returns how many colours the dashboard would use.
pub fn color_support(choice: ColorChoice, environment: &Environment) -> ColorSupport {
    let many = match color_depth(choice, environment) {
        ColorDepth::None => "none",
        ColorDepth::Sixteen => "16",
        ColorDepth::Indexed256 => "256",
        ColorDepth::TrueColor => "16 million",
    };
    let why = match (choice, color_depth(choice, environment)) {
        (ColorChoice::Never, _) if environment.no_color => "NO_COLOR, or --color never",
        (ColorChoice::Never, _) => "--color never, or color under [ui]",
        (_, ColorDepth::TrueColor) => "COLORTERM",
        (ColorChoice::Always, _) => "--color always, or color under [ui]",
        (ColorChoice::Auto, ColorDepth::Indexed256) => "TERM or COLORTERM",
        (ColorChoice::Auto, _) => "TERM and COLORTERM",
    };
    ColorSupport { color_count: many, reason: why }
}

/// Returns how many colours to use, according to the setting `choice` and the environment.
fn color_depth(choice: ColorChoice, environment: &Environment) -> ColorDepth {
    match choice {
        ColorChoice::Never => ColorDepth::None,
        _ if environment.has_true_color => ColorDepth::TrueColor,
        ColorChoice::Always => ColorDepth::Indexed256,
        ColorChoice::Auto if environment.has_256_colors => ColorDepth::Indexed256,
        ColorChoice::Auto => ColorDepth::Sixteen,
    }
}

/// In a terminal with sixteen colours, replaces the default theme with the theme `terminal-16`, because the default
/// theme needs more colours.
fn theme_for_depth(theme: Option<ThemePalettes>, depth: ColorDepth) -> OnceCell<ThemePalettes> {
    let is_default = || theme.as_ref().is_none_or(|theme| *theme == themes::default_theme());
    let theme = match depth {
        ColorDepth::Sixteen if is_default() => themes::load_theme("terminal-16", None).ok().or(theme),
        _ => theme,
    };
    theme.map_or_else(OnceCell::new, OnceCell::from)
}

#[cfg(test)]
mod tests {
    use super::super::terminal_caps;
    use super::*;
    use crate::config::ChosenTheme;

    fn theme_state(display: DisplaySettings, variables: &[(&str, &str)]) -> ThemeState {
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let environment = Environment::from_lookup(lookup);
        let caps = terminal_caps(&environment).expect("not dumb");
        ThemeState::new(&display, None, caps, &environment)
    }

    fn display() -> DisplaySettings {
        DisplaySettings {
            color: ColorChoice::Auto,
            theme: ChosenTheme::default(),
            background: None,
            ascii: false,
            shows_unicode_text: true,
            shows_links: true,
            has_reduced_motion: false,
            is_mouse_enabled: false,
            shows_all_profiles: false,
        }
    }

    /// Returns the theme without links and without the terminal's cursor.
    fn theme(theme_state: &ThemeState) -> Theme {
        Theme { has_clickable_links: false, shows_terminal_cursor: false, ..theme_state.theme() }
    }

    #[test]
    fn the_reply_of_the_terminal_selects_dark_or_light() {
        let mut theme_state = theme_state(display(), &[("TERM", "xterm-256color"), ("COLORFGBG", "0;15")]);
        let usual = themes::default_theme();
        assert_eq!(
            theme(&theme_state),
            Theme::from_palette(&usual.light, ColorDepth::Indexed256),
            "a hint, until the terminal replies"
        );
        theme_state.set_reported_background(Rgb(0x1e, 0x1e, 0x2e));
        assert_eq!(theme(&theme_state), Theme::from_palette(&usual.dark, ColorDepth::Indexed256));
    }

    #[test]
    fn a_configured_background_overrides_the_reply_of_the_terminal() {
        let mut theme_state = theme_state(
            DisplaySettings { background: Some(Background::Light), ..display() },
            &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")],
        );
        assert!(!theme_state.should_request_background());
        theme_state.set_reported_background(Rgb(0, 0, 0));
        assert_eq!(theme(&theme_state), Theme::from_palette(&themes::default_theme().light, ColorDepth::TrueColor));
    }

    #[test]
    fn sixteen_colours_have_a_separate_theme() {
        let theme_state = theme_state(display(), &[("TERM", "xterm")]);
        let sixteen = themes::load_theme("terminal-16", None).expect("shipped");
        assert_eq!(theme(&theme_state), Theme::from_palette(&sixteen.unknown, ColorDepth::Sixteen));
    }

    #[test]
    fn the_default_theme_looks_the_same_before_it_is_read() {
        for terminal in [&[("TERM", "xterm-256color")][..], &[("TERM", "xterm-256color"), ("COLORFGBG", "15;0")]] {
            let unread = theme_state(display(), terminal);
            let background = unread.background;
            let read = themes::default_theme();
            assert_eq!(theme(&unread), Theme::from_palette(read.for_background(background), ColorDepth::Indexed256));
            assert_eq!(unread.palettes.get().is_none(), background == Background::Unknown);
        }
    }

    #[test]
    fn the_default_theme_looks_the_same_when_selected_again() {
        let mut theme_state = theme_state(display(), &[("TERM", "xterm")]);
        let before = theme_state.theme();
        theme_state.select("high-contrast", None).expect("shipped");
        assert_ne!(theme_state.theme(), before);
        theme_state.select(themes::AUTO_THEME, None).expect("there");
        assert_eq!(theme_state.theme(), before);
    }

    #[test]
    fn a_terminal_that_has_reported_its_background_is_not_asked_again() {
        let mut theme_state = theme_state(display(), &[("TERM", "xterm-256color")]);
        assert!(theme_state.should_request_background());
        theme_state.set_reported_background(Rgb(0, 0, 0));
        assert!(!theme_state.should_request_background());
    }

    #[test]
    fn without_colours_the_terminal_is_not_asked_for_its_background() {
        assert!(
            !theme_state(DisplaySettings { color: ColorChoice::Never, ..display() }, &[]).should_request_background()
        );
        assert!(theme_state(display(), &[]).should_request_background());
    }

    #[test]
    fn the_number_of_colours_and_the_reason_for_it_are_reported() {
        let support = |choice, pairs: &[(&str, &str)]| {
            let value =
                |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            color_support(choice, &Environment::from_lookup(value))
        };
        assert_eq!(support(ColorChoice::Auto, &[("TERM", "xterm-256color")]).color_count, "256");
        assert_eq!(
            support(ColorChoice::Auto, &[("COLORTERM", "truecolor")]),
            ColorSupport { color_count: "16 million", reason: "COLORTERM" }
        );
        assert_eq!(support(ColorChoice::Auto, &[("TERM", "xterm")]).color_count, "16");
        assert_eq!(support(ColorChoice::Never, &[("NO_COLOR", "1")]).color_count, "none");
    }
}
