//! Which theme is drawn with: the chosen one, on the ground that the terminal has, in the colours that it shows.

use super::terminal::takes_links;
use crate::config::environment::Environment;
use crate::config::themes::{self, ThemeError};
use crate::config::{ColorChoice, DisplaySettings};
use crate::model::colors::{Background, Rgb, ThemeColors, ThemeColours};
use crate::ui::{Depth, Theme};
use std::path::Path;

/// What the theme depends on.
#[derive(Debug)]
pub(super) struct ThemeState {
    /// None for the usual ones while they are not read: of them a first frame needs nothing but what fits any ground.
    colours: Option<ThemeColours>,
    depth: Depth,
    ascii: bool,
    links: bool,
    ground: Background,
    /// The file says what the ground is.
    is_said: bool,
    /// The terminal has told it.
    is_told: bool,
}

impl ThemeState {
    /// With these colours, or the usual ones.
    pub(super) fn new(look: &DisplaySettings, colours: Option<ThemeColours>, environment: &Environment) -> Self {
        let depth = depth(look.color, environment);
        let links = look.links && takes_links(environment);
        let (ground, is_said) = (Background::Unknown, look.ground.is_some());
        let colours = colours.map(|colours| fitting(colours, depth));
        let mut paints = Self { colours, depth, ascii: look.ascii, links, ground, is_said, is_told: false };
        paints.stand_on(look.ground.unwrap_or(environment.ground));
        paints
    }

    /// Takes the ground, and reads the usual colours where that one needs them.
    fn stand_on(&mut self, ground: Background) {
        self.ground = ground;
        if self.colours.is_none() && (ground != Background::Unknown || self.depth == Depth::Sixteen) {
            self.colours = Some(fitting(themes::usual(), self.depth));
        }
    }

    /// Takes the theme of this name; themes of the user's own lie in `folder`.
    pub(super) fn choose(&mut self, name: &str, folder: Option<&Path>) -> Result<(), ThemeError> {
        self.colours = Some(fitting(themes::named(name, folder)?, self.depth));
        Ok(())
    }

    /// The theme as things stand.
    pub(super) fn theme(&self) -> Theme {
        Theme {
            ascii: self.ascii,
            links: self.links,
            terminal_cursor: true,
            ..match &self.colours {
                Some(colours) => Theme::of(colours.on(self.ground), self.depth),
                None => Theme::of(&ThemeColors::middle_tones(), self.depth),
            }
        }
    }

    /// Whether the terminal has to be asked: its answer would change something, and it has not come yet.
    pub(super) fn depends_on_ground(&self) -> bool {
        let of_ground = |colours: &ThemeColours| colours.dark != colours.light || colours.unknown != colours.dark;
        !self.is_said && !self.is_told && self.depth != Depth::None && self.colours.as_ref().is_none_or(of_ground)
    }

    /// The terminal told its background.
    pub(super) fn background(&mut self, colour: Rgb) {
        if !self.is_said {
            self.stand_on(Background::of(colour));
            self.is_told = true;
        }
    }
}

/// How many colours the terminal shows, as far as the environment tells.
pub(super) fn depth(choice: ColorChoice, environment: &Environment) -> Depth {
    match choice {
        ColorChoice::Never => Depth::None,
        _ if environment.true_color => Depth::True,
        ColorChoice::Always => Depth::Many,
        ColorChoice::Auto if environment.many_colors => Depth::Many,
        ColorChoice::Auto => Depth::Sixteen,
    }
}

/// Made for more colours, the usual theme looks poor in sixteen: one of their own takes its place.
fn fitting(theme: ThemeColours, depth: Depth) -> ThemeColours {
    if depth == Depth::Sixteen && theme == themes::usual() {
        return themes::named("terminal-16", None).unwrap_or(theme);
    }
    theme
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ChosenTheme;

    fn paints(look: DisplaySettings, variables: &[(&str, &str)]) -> ThemeState {
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        ThemeState::new(&look, None, &Environment::from_lookup(lookup))
    }

    fn look() -> DisplaySettings {
        DisplaySettings {
            color: ColorChoice::Auto,
            theme: ChosenTheme::default(),
            ground: None,
            ascii: false,
            links: true,
            calm: false,
            mouse: false,
            all_profiles: false,
        }
    }

    /// The theme, apart from what the terminal can do beside colours.
    fn colours(paints: &ThemeState) -> Theme {
        Theme { links: false, terminal_cursor: false, ..paints.theme() }
    }

    #[test]
    fn the_answer_of_the_terminal_decides_between_dark_and_light() {
        let mut paints = paints(look(), &[("TERM", "xterm-256color"), ("COLORFGBG", "0;15")]);
        let usual = themes::usual();
        assert_eq!(colours(&paints), Theme::of(&usual.light, Depth::Many), "a hint, until the terminal tells");
        paints.background(Rgb(0x1e, 0x1e, 0x2e));
        assert_eq!(colours(&paints), Theme::of(&usual.dark, Depth::Many));
    }

    #[test]
    fn the_usual_colours_are_read_no_sooner_than_they_are_needed_and_are_the_same() {
        for variables in [[("COLORTERM", "truecolor")], [("TERM", "xterm-256color")], [("TERM", "xterm")]] {
            let unread = paints(look(), &variables);
            let read =
                ThemeState { colours: Some(fitting(themes::usual(), unread.depth)), ..paints(look(), &variables) };
            assert_eq!(unread.colours.is_none(), unread.depth != Depth::Sixteen);
            assert_eq!((unread.theme(), unread.depends_on_ground()), (read.theme(), read.depends_on_ground()));
        }
    }

    #[test]
    fn what_the_file_says_of_the_ground_outranks_the_terminal() {
        let mut paints =
            paints(DisplaySettings { ground: Some(Background::Light), ..look() }, &[("COLORTERM", "truecolor")]);
        assert!(!paints.depends_on_ground());
        paints.background(Rgb(0, 0, 0));
        assert_eq!(colours(&paints), Theme::of(&themes::usual().light, Depth::True));
    }

    #[test]
    fn sixteen_colours_have_a_theme_of_their_own() {
        let paints = paints(look(), &[("TERM", "xterm")]);
        let sixteen = themes::named("terminal-16", None).expect("shipped");
        assert_eq!(colours(&paints), Theme::of(&sixteen.unknown, Depth::Sixteen));
    }

    #[test]
    fn the_usual_theme_chosen_again_looks_as_it_did() {
        let mut paints = paints(look(), &[("TERM", "xterm")]);
        let before = paints.theme();
        paints.choose("high-contrast", None).expect("shipped");
        assert_ne!(paints.theme(), before);
        paints.choose(themes::AUTO, None).expect("there");
        assert_eq!(paints.theme(), before);
    }

    #[test]
    fn a_terminal_that_has_told_its_ground_is_not_asked_again() {
        let mut paints = paints(look(), &[("TERM", "xterm-256color")]);
        assert!(paints.depends_on_ground());
        paints.background(Rgb(0, 0, 0));
        assert!(!paints.depends_on_ground());
    }

    #[test]
    fn without_colours_nothing_is_asked() {
        assert!(!paints(DisplaySettings { color: ColorChoice::Never, ..look() }, &[]).depends_on_ground());
        assert!(paints(look(), &[]).depends_on_ground());
    }
}
