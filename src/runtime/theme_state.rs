//! The current theme: the selected one, for the background of the terminal, in the colours that it supports.

use super::terminal::supports_links;
use crate::config::environment::Environment;
use crate::config::themes::{self, ThemeError};
use crate::config::{ColorChoice, DisplaySettings};
use crate::model::colors::{Background, ColorPalette, Rgb, ThemePalettes};
use crate::ui::{Depth, Theme};
use std::path::Path;

/// What the theme depends on.
#[derive(Debug)]
pub(super) struct ThemeState {
    /// `None` for the default colours while they are not loaded: the first frame only needs those that fit any
    /// background.
    colours: Option<ThemePalettes>,
    depth: Depth,
    ascii: bool,
    links: bool,
    background: Background,
    /// Whether the background is configured.
    is_configured: bool,
    /// Whether the terminal has reported it.
    is_reported: bool,
}

impl ThemeState {
    /// Uses these colours, or the default ones.
    pub(super) fn new(look: &DisplaySettings, colours: Option<ThemePalettes>, environment: &Environment) -> Self {
        let depth = depth(look.color, environment);
        let links = look.links && supports_links(environment);
        let (background, is_configured) = (Background::Unknown, look.background.is_some());
        let colours = colours.map(|colours| for_depth(colours, depth));
        let ascii = look.ascii;
        let mut theme_state = Self { colours, depth, ascii, links, background, is_configured, is_reported: false };
        theme_state.set_background(look.background.unwrap_or(environment.background));
        theme_state
    }

    /// Sets the background, and loads the default colours if it needs them.
    fn set_background(&mut self, background: Background) {
        self.background = background;
        if self.colours.is_none() && (background != Background::Unknown || self.depth == Depth::Sixteen) {
            self.colours = Some(for_depth(themes::default_theme(), self.depth));
        }
    }

    /// Selects a theme by name; the user's own themes are in `folder`.
    pub(super) fn choose(&mut self, name: &str, folder: Option<&Path>) -> Result<(), ThemeError> {
        self.colours = Some(for_depth(themes::load_theme(name, folder)?, self.depth));
        Ok(())
    }

    /// The current theme.
    pub(super) fn theme(&self) -> Theme {
        Theme {
            ascii: self.ascii,
            links: self.links,
            terminal_cursor: true,
            ..match &self.colours {
                Some(colours) => Theme::of(colours.for_background(self.background), self.depth),
                None => Theme::of(&ColorPalette::middle_tones(), self.depth),
            }
        }
    }

    /// Whether the terminal should be asked for its background: it could change the theme and has not been reported
    /// yet.
    pub(super) fn depends_on_background(&self) -> bool {
        let uses_background =
            |colours: &ThemePalettes| colours.dark != colours.light || colours.unknown != colours.dark;
        let is_open = !self.is_configured && !self.is_reported;
        is_open && self.depth != Depth::None && self.colours.as_ref().is_none_or(uses_background)
    }

    /// Applies the background that the terminal reported.
    pub(super) fn background(&mut self, colour: Rgb) {
        if !self.is_configured {
            self.set_background(Background::of(colour));
            self.is_reported = true;
        }
    }
}

/// How many colours the terminal supports, according to the environment.
pub(super) fn depth(choice: ColorChoice, environment: &Environment) -> Depth {
    match choice {
        ColorChoice::Never => Depth::None,
        _ if environment.true_color => Depth::True,
        ColorChoice::Always => Depth::Indexed256,
        ColorChoice::Auto if environment.many_colors => Depth::Indexed256,
        ColorChoice::Auto => Depth::Sixteen,
    }
}

/// The default theme needs more than sixteen colours; with sixteen, a separate theme replaces it.
fn for_depth(theme: ThemePalettes, depth: Depth) -> ThemePalettes {
    if depth == Depth::Sixteen && theme == themes::default_theme() {
        return themes::load_theme("terminal-16", None).unwrap_or(theme);
    }
    theme
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ChosenTheme;

    fn theme_state(display: DisplaySettings, variables: &[(&str, &str)]) -> ThemeState {
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        ThemeState::new(&display, None, &Environment::from_lookup(lookup))
    }

    fn display() -> DisplaySettings {
        DisplaySettings {
            color: ColorChoice::Auto,
            theme: ChosenTheme::default(),
            background: None,
            ascii: false,
            links: true,
            calm: false,
            mouse: false,
            all_profiles: false,
        }
    }

    /// The theme without the terminal's other capabilities.
    fn colours(theme_state: &ThemeState) -> Theme {
        Theme { links: false, terminal_cursor: false, ..theme_state.theme() }
    }

    #[test]
    fn the_reply_of_the_terminal_selects_dark_or_light() {
        let mut theme_state = theme_state(display(), &[("TERM", "xterm-256color"), ("COLORFGBG", "0;15")]);
        let usual = themes::default_theme();
        assert_eq!(
            colours(&theme_state),
            Theme::of(&usual.light, Depth::Indexed256),
            "a hint, until the terminal replies"
        );
        theme_state.background(Rgb(0x1e, 0x1e, 0x2e));
        assert_eq!(colours(&theme_state), Theme::of(&usual.dark, Depth::Indexed256));
    }

    #[test]
    fn the_default_colours_are_loaded_only_when_needed_and_are_the_same() {
        for variables in [[("COLORTERM", "truecolor")], [("TERM", "xterm-256color")], [("TERM", "xterm")]] {
            let unread = theme_state(display(), &variables);
            let default = for_depth(themes::default_theme(), unread.depth);
            let read = ThemeState { colours: Some(default), ..theme_state(display(), &variables) };
            assert_eq!(unread.colours.is_none(), unread.depth != Depth::Sixteen);
            assert_eq!((unread.theme(), unread.depends_on_background()), (read.theme(), read.depends_on_background()));
        }
    }

    #[test]
    fn a_configured_background_overrides_the_reply_of_the_terminal() {
        let mut theme_state = theme_state(
            DisplaySettings { background: Some(Background::Light), ..display() },
            &[("COLORTERM", "truecolor")],
        );
        assert!(!theme_state.depends_on_background());
        theme_state.background(Rgb(0, 0, 0));
        assert_eq!(colours(&theme_state), Theme::of(&themes::default_theme().light, Depth::True));
    }

    #[test]
    fn sixteen_colours_have_a_separate_theme() {
        let theme_state = theme_state(display(), &[("TERM", "xterm")]);
        let sixteen = themes::load_theme("terminal-16", None).expect("shipped");
        assert_eq!(colours(&theme_state), Theme::of(&sixteen.unknown, Depth::Sixteen));
    }

    #[test]
    fn the_default_theme_looks_the_same_when_selected_again() {
        let mut theme_state = theme_state(display(), &[("TERM", "xterm")]);
        let before = theme_state.theme();
        theme_state.choose("high-contrast", None).expect("shipped");
        assert_ne!(theme_state.theme(), before);
        theme_state.choose(themes::AUTO, None).expect("there");
        assert_eq!(theme_state.theme(), before);
    }

    #[test]
    fn a_terminal_that_has_reported_its_background_is_not_asked_again() {
        let mut theme_state = theme_state(display(), &[("TERM", "xterm-256color")]);
        assert!(theme_state.depends_on_background());
        theme_state.background(Rgb(0, 0, 0));
        assert!(!theme_state.depends_on_background());
    }

    #[test]
    fn without_colours_the_terminal_is_not_asked() {
        assert!(!theme_state(DisplaySettings { color: ColorChoice::Never, ..display() }, &[]).depends_on_background());
        assert!(theme_state(display(), &[]).depends_on_background());
    }
}
