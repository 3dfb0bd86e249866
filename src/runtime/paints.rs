//! Which theme is drawn with: the chosen one, on the ground that the terminal has, in the colours that it shows.

use super::terminal::takes_links;
use crate::config::environment::Environment;
use crate::config::themes::{self, ThemeError};
use crate::config::{ColorChoice, Look};
use crate::model::palette::{Ground, Rgb, ThemeColours};
use crate::ui::{Depth, Theme};
use std::path::Path;

/// What the theme depends on.
#[derive(Debug)]
pub(super) struct Paints {
    colours: ThemeColours,
    depth: Depth,
    ascii: bool,
    links: bool,
    ground: Ground,
    /// The file says what the ground is.
    is_said: bool,
    /// The terminal has told it.
    is_told: bool,
}

impl Paints {
    pub(super) fn new(look: &Look, colours: ThemeColours, environment: &Environment) -> Self {
        let depth = depth(look.color, environment);
        let colours = fitting(colours, depth);
        let ground = look.ground.unwrap_or(environment.ground);
        let links = look.links && takes_links(environment);
        let is_said = look.ground.is_some();
        Self { colours, depth, ascii: look.ascii, links, ground, is_said, is_told: false }
    }

    /// Takes the theme of this name; themes of the user's own lie in `folder`.
    pub(super) fn choose(&mut self, name: &str, folder: Option<&Path>) -> Result<(), ThemeError> {
        self.colours = fitting(themes::named(name, folder)?, self.depth);
        Ok(())
    }

    /// The theme as things stand.
    pub(super) fn theme(&self) -> Theme {
        Theme {
            ascii: self.ascii,
            links: self.links,
            terminal_cursor: true,
            ..Theme::of(self.colours.on(self.ground), self.depth)
        }
    }

    /// Whether the terminal has to be asked: its answer would change something, and it has not come yet.
    pub(super) fn depends_on_ground(&self) -> bool {
        let colours = &self.colours;
        !self.is_said
            && !self.is_told
            && self.depth != Depth::None
            && (colours.dark != colours.light || colours.unknown != colours.dark)
    }

    /// The terminal told its background.
    pub(super) fn background(&mut self, colour: Rgb) {
        if !self.is_said {
            self.ground = Ground::of(colour);
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

    fn paints(look: Look, variables: &[(&str, &str)]) -> Paints {
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Paints::new(&look, themes::usual(), &Environment::from_lookup(lookup))
    }

    fn look() -> Look {
        Look {
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
    fn colours(paints: &Paints) -> Theme {
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
    fn what_the_file_says_of_the_ground_outranks_the_terminal() {
        let mut paints = paints(Look { ground: Some(Ground::Light), ..look() }, &[("COLORTERM", "truecolor")]);
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
        assert!(!paints(Look { color: ColorChoice::Never, ..look() }, &[]).depends_on_ground());
        assert!(paints(look(), &[]).depends_on_ground());
    }
}
