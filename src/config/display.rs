//! The settings that control how docdeck looks on screen, merged from options, environment and configuration file.

use super::environment::Environment;
use super::error::ConfigError;
use super::file::UiConfig;
use super::global_options::{ColorChoice, GlobalOptions};
use super::positions::LineColumn;
use super::themes::{self, ThemeError};
use crate::model::colors::{Background, ThemePalettes};
use std::path::{Path, PathBuf};

/// The settings that control how docdeck looks on screen, and the initial state of the mouse and the job list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplaySettings {
    pub color: ColorChoice,
    pub theme: ChosenTheme,
    /// Whether the terminal's background is dark or light, as set in the file. If `None`, docdeck asks the terminal.
    pub background: Option<Background>,
    /// Whether to draw lines, bars and symbols in ASCII.
    pub ascii: bool,
    /// Whether texts such as titles may contain non-ASCII characters, because the locale allows them. Doesn't depend on
    /// `ascii`.
    pub shows_unicode_text: bool,
    /// Whether to print hyperlinks if the terminal supports them.
    pub shows_links: bool,
    /// Whether the heartbeat animation is off: if the user asked for reduced motion, and always over SSH.
    pub has_reduced_motion: bool,
    /// Whether mouse support is on when the dashboard starts.
    pub is_mouse_enabled: bool,
    /// Whether the dashboard lists the jobs of all profiles when it starts.
    pub shows_all_profiles: bool,
}

/// The theme that the configuration file selects. The theme's own file is read only when colours are needed, because
/// the output of most commands has no colours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChosenTheme {
    /// `None` for the default theme.
    name: Option<String>,
    /// Where the configuration file sets the theme, for error messages.
    position: LineColumn,
    config_path: PathBuf,
}

impl ChosenTheme {
    /// Reads the theme's colours. Returns `None` if the default theme is chosen, which can be read later. Custom themes
    /// are in the `themes` folder next to the configuration file.
    ///
    /// # Errors
    /// Fails if the theme doesn't exist or its file is invalid.
    pub fn read(&self) -> Result<Option<ThemePalettes>, ConfigError> {
        let Some(name) = &self.name else { return Ok(None) };
        themes::load_theme(name, Some(&self.config_path.with_file_name("themes")))
            .map(Some)
            .map_err(|error| theme_config_error(error, self.position, &self.config_path))
    }
}

/// Merges the display settings. `path` is the path of the configuration file: theme errors name it, and custom themes
/// are in the `themes` folder next to it.
pub fn display_settings(
    global_options: &GlobalOptions,
    environment: &Environment,
    ui: &UiConfig,
    path: &Path,
) -> DisplaySettings {
    let from_environment = environment.no_color.then_some(ColorChoice::Never);
    // `--color auto` doesn't override NO_COLOR.
    let option = global_options.color.filter(|option| *option != ColorChoice::Auto || from_environment.is_none());
    let choice = option.or(from_environment).or(ui.color).unwrap_or_default();
    DisplaySettings {
        color: choice,
        theme: ChosenTheme { name: ui.theme.clone(), position: ui.theme_position, config_path: path.into() },
        background: ui.background.map(Background::from),
        ascii: global_options.ascii || ui.ascii.unwrap_or(environment.is_ascii_locale),
        shows_unicode_text: !environment.is_ascii_locale,
        shows_links: ui.links.unwrap_or(true),
        has_reduced_motion: environment.is_ssh || environment.reduced_motion.or(ui.reduced_motion).unwrap_or(false),
        is_mouse_enabled: ui.mouse.unwrap_or(true),
        shows_all_profiles: ui.all_profiles.unwrap_or(false),
    }
}

/// Converts a theme error. An unknown theme name becomes an error at the line of the configuration file that sets the
/// theme; any other error is about the theme's own file and stays as it is.
fn theme_config_error(error: ThemeError, (line, column): LineColumn, path: &Path) -> ConfigError {
    match error {
        ThemeError::Unknown { name, known } => {
            let what = format!("there is no theme {name}; valid: {known}");
            ConfigError::invalid(path, (line, column), &what)
        }
        other => other.into(),
    }
}
