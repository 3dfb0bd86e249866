//! From flags, environment and `config.toml` to one set of settings: a flag beats the environment, which beats the file.
//!
//! The key is found here but handed on only as [`KeySource`]; reading it may run a program, so the caller says when.

pub mod check;
pub mod customization;
pub mod environment;
pub mod file;
pub mod key;
mod key_command;
pub mod keys;
mod places;
pub mod profiles;
pub mod sources;
pub mod themes;
pub mod write;

use crate::api::{ClientOptions, ExtraRoots, RootsError};
use crate::model::colors::{Background, ThemeColours};
use crate::model::endpoint::Scope;
use crate::model::redaction::redacted_words;
use crate::model::setup::{AlreadySet, KnownKey};
use crate::model::text::CleanText;
use customization::Customization;
use environment::Environment;
use file::{ConfigFile, LoadedFile, ProfileConfig};
use key::KeySource;
use places::LineColumn;
use profiles::KnownProfile;
use serde::Deserialize;
use sources::{SettingSource, Sourced};
use std::path::{Path, PathBuf};
use themes::ThemeError;

/// GETs a minute for polling, unless `[poll]` says otherwise, and the most that it may say.
const PER_MINUTE: u32 = 60;
const PER_MINUTE_MAX: u32 = 600;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

/// The options that every command takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    pub profile: Option<String>,
    pub base_url: Option<String>,
    pub project: Option<String>,
    pub config: Option<PathBuf>,
    pub data_dir: Option<PathBuf>,
    pub color: Option<ColorChoice>,
    pub ascii: bool,
}

/// How things look, whatever is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplaySettings {
    pub color: ColorChoice,
    pub theme: ChosenTheme,
    /// The terminal's ground as the file says it; the terminal is then not asked.
    pub ground: Option<Background>,
    /// Only ASCII characters for lines, bars and signs.
    pub ascii: bool,
    /// Make links that the terminal can open, where it knows them.
    pub links: bool,
    /// No heartbeat: asked for, or over SSH.
    pub calm: bool,
    /// Whether the terminal reports the mouse at the start.
    pub mouse: bool,
    /// Whether the jobs of all profiles are listed at the start.
    pub all_profiles: bool,
}

impl DisplaySettings {
    /// Where no configuration says anything, and nothing can be read.
    pub fn plain() -> Self {
        Self {
            color: ColorChoice::Never,
            theme: ChosenTheme::default(),
            ground: None,
            ascii: true,
            links: false,
            calm: true,
            mouse: false,
            all_profiles: false,
        }
    }
}

/// The theme that the file names. It is read by who paints with it: most of what is written has no colours at all, and what
/// takes longer can be begun before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChosenTheme {
    /// None for the usual one.
    name: Option<String>,
    place: LineColumn,
    config: PathBuf,
}

impl ChosenTheme {
    /// As [`Self::read`], but none for the theme that is used where none is named: that can't be wrong, and need not be read
    /// before its colours are.
    ///
    /// # Errors
    /// As those of [`Self::read`].
    pub fn read_unless_usual(&self) -> Result<Option<ThemeColours>, ConfigError> {
        let is_usual = self.name.as_deref().is_none_or(|name| name == themes::AUTO);
        (!is_usual).then(|| self.read()).transpose()
    }

    /// Its colours. Themes of the user's own lie beside the configuration file.
    ///
    /// # Errors
    /// There is no such theme, or its file is wrong.
    pub fn read(&self) -> Result<ThemeColours, ConfigError> {
        let Some(name) = &self.name else { return Ok(themes::usual()) };
        themes::named(name, Some(&self.config.with_file_name("themes")))
            .map_err(|error| of_theme(error, self.place, &self.config))
    }
}

/// All that a run needs to know.
#[derive(Debug)]
pub struct Settings {
    pub scope: Scope,
    pub key: KeySource,
    pub profile: CleanText,
    /// Where store and log lie.
    pub data_folder: PathBuf,
    /// Where templates of the user's own lie: beside the configuration file.
    pub templates: PathBuf,
    /// A file of certificates that are trusted beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// All profiles by name, and the place of this one among them.
    pub profiles: Vec<KnownProfile>,
    pub current: usize,
    /// The place of `default_profile` among them.
    pub default: Option<usize>,
    /// GETs a minute for polling.
    pub per_minute: u32,
    pub look: DisplaySettings,
    pub own: Customization,
    /// The file that it comes from, for what is found wrong later.
    pub config: PathBuf,
}

impl Settings {
    /// How the client talks to the service. Reads the file of certificates, where one is named.
    ///
    /// # Errors
    /// It can't be read, or is none.
    pub fn client_options(&self) -> Result<ClientOptions, ConfigError> {
        let roots = self.ca_file.as_deref().map(ExtraRoots::read).transpose()?;
        Ok(ClientOptions { roots, ..ClientOptions::default() })
    }
}

/// Whether there is enough to begin with.
#[derive(Debug)]
pub enum SetupState {
    Ready(Box<Settings>),
    Missing(Box<Missing>),
}

/// What has to be set before docdeck can talk to a service.
#[derive(Debug, Clone)]
pub struct Missing {
    pub key: bool,
    pub project: bool,
    /// Whom the record would be about, where the project is set: what is known here can be read without a key.
    pub scope: Option<Scope>,
    /// What is set already.
    pub known: AlreadySet,
    /// The source of the key that is set already.
    pub source: Option<KeySource>,
    /// Where the configuration file lies or would lie.
    pub config: PathBuf,
    pub look: DisplaySettings,
    pub own: Customization,
}

impl Missing {
    /// What is missing, as a sentence.
    fn what(&self) -> &'static str {
        match (self.key, self.project) {
            (true, true) => "The API key and the project id are not set yet.",
            (true, false) => "The API key is not set yet.",
            (false, _) => "The project id is not set yet.",
        }
    }

    /// How to set docdeck up, for where there is no terminal to show a page on.
    pub fn how_to(&self) -> String {
        let mut lines = vec![
            self.what().to_owned(),
            "In the shell (both are on the API keys page of the service's dashboard):".into(),
        ];
        if self.key {
            lines.push("  export DOCDECK_API_KEY=mint_…".into());
        }
        if self.project {
            lines.push("  export DOCDECK_PROJECT_ID=…".into());
        }
        let name = &self.known.profile;
        let name = if file::is_bare(name) { name.clone() } else { format!("{name:?}") };
        lines.push(format!("or for good, in {}:", self.config.display()));
        lines.push(format!("  [profiles.{name}]"));
        if self.project {
            lines.push("  project_id = \"…\"".into());
        }
        if self.key {
            lines.push("  api_key_command = [\"pass\", \"show\", \"docdeck\"]".into());
        }
        lines.push(
            "`docdeck init` asks for them and writes that file; `docdeck demo`, in a terminal, needs nothing.".into(),
        );
        lines.join("\n")
    }

    /// The same for who only reads what is known here.
    pub fn how_to_read(&self) -> String {
        Self { key: false, ..self.clone() }.how_to()
    }
}

/// What is wrong with the configuration, each as a sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("{}:{line}:{column}: {what}. Mend the line, or try another file with --config.", path.display())]
    Invalid { path: PathBuf, line: usize, column: usize, what: CleanText },
    #[error("{} can't be read: {why}. Make it a file that you can read, or name another one with --config.", path.display())]
    Unreadable { path: PathBuf, why: CleanText },
    #[error("The API key can't be read from {}: {why}. Write the key there for yourself alone (chmod 600), or name another file as api_key_file.", path.display())]
    KeyFile { path: PathBuf, why: CleanText },
    #[error("There is no configuration file {}, which --config or DOCDECK_CONFIG names; docdeck init, with the same, makes one.", path.display())]
    NotThere { path: PathBuf },
    #[error(
        "There is no profile {name} in {}. Known there: {known}. Name one of these with --profile, or add it: docdeck \
         init, with the same.", path.display()
    )]
    NoProfile { name: CleanText, path: PathBuf, known: CleanText },
    #[error(
        "There are several profiles in {}: {known}. Choose one with --profile, or name one as default_profile.",
        path.display()
    )]
    WhichProfile { path: PathBuf, known: CleanText },
    #[error("Others on this computer can read {0}, which holds the API key, so it is not used. Make it yours alone: chmod 600 {0}", path.display())]
    KeyForAll { path: PathBuf },
    #[error("The API key command {program} {why}. Try it in a shell; docdeck runs it without one.")]
    KeyCommand { program: CleanText, why: CleanText },
    #[error(
        "There is no usable API key in {source_name}: it has to be one line with nothing but the key, without blanks in it."
    )]
    NoKey { source_name: String },
    #[error(
        "The project id ({from}) looks like an API key, so it is not used. Correct it, and set the key as DOCDECK_API_KEY or with `docdeck init`."
    )]
    ProjectIsKey { from: SettingSource },
    #[error(transparent)]
    Theme(#[from] ThemeError),
    #[error(transparent)]
    Roots(#[from] RootsError),
    #[error("There is no home folder to keep files in. Name one with --data-dir, and the configuration with --config.")]
    NoHome,
}

impl ConfigError {
    /// A mistake in the file at this path; no piece of a key that stands in the wrong place gets into the sentence.
    pub fn invalid(path: &Path, (line, column): (usize, usize), what: &str) -> Self {
        Self::Invalid { path: path.into(), line, column, what: CleanText::line(&redacted_words(what)) }
    }
}

/// Joins flags, environment and file. Reads the file, nothing else; runs nothing.
///
/// # Errors
/// A file that is wrong or not where it was said to be, an unknown profile, a key that others can read.
pub fn resolve(flags: &Flags, environment: &Environment) -> Result<SetupState, ConfigError> {
    let path = sources::config_path(flags, environment)?;
    let found = found(&path)?;
    join(flags, environment, &path.value, &found)
}

/// What the file says; one that was not named need not be there.
fn found(path: &Sourced<PathBuf>) -> Result<LoadedFile, ConfigError> {
    match (file::read(&path.value)?, path.from) {
        (Some(found), _) => Ok(found),
        (None, SettingSource::Default) => Ok(LoadedFile { file: ConfigFile::default(), readable_by_others: false }),
        (None, _) => Err(ConfigError::NotThere { path: path.value.clone() }),
    }
}

/// Where the configuration file lies or would lie.
///
/// # Errors
/// None is named, and there is no home.
pub fn path(flags: &Flags, environment: &Environment) -> Result<PathBuf, ConfigError> {
    sources::config_path(flags, environment).map(|path| path.value)
}

/// The name of the profile that is used.
///
/// # Errors
/// A file that is wrong, or has no such profile.
pub fn profile_of(flags: &Flags, environment: &Environment) -> Result<String, ConfigError> {
    let path = path(flags, environment)?;
    let file = file::read(&path)?.map(|found| found.file).unwrap_or_default();
    sources::profile(flags, environment, &path, &file).map(|(name, _)| name.value)
}

fn join(flags: &Flags, environment: &Environment, path: &Path, found: &LoadedFile) -> Result<SetupState, ConfigError> {
    let look = look(flags, environment, &found.file.ui, path);
    let per_minute = found.file.poll_rate();
    let nothing = ProfileConfig::default();
    let (name, profile) = sources::profile(flags, environment, path, &found.file)?;
    let (name, profile) = (name.value, profile.unwrap_or(&nothing));
    let key = key::source(environment, &name, profile, path, found.readable_by_others)?;
    if let Some(mistake) = sources::base_url_mistake(&sources::base_url(flags, environment, profile), profile, path) {
        return Err(mistake);
    }
    if let Some(mistake) = sources::project(flags, environment, profile).and_then(|id| sources::project_mistake(&id)) {
        return Err(mistake);
    }
    let scope = sources::scope(flags, environment, profile);
    let (key, scope) = match (key, scope) {
        (Some(key), Some(scope)) => (key, scope),
        (key, scope) => {
            let known_key = match (&key, &environment.api_key) {
                (None, _) => KnownKey::No,
                (Some(_), Some(_)) => KnownKey::Environment,
                (Some(_), None) => KnownKey::File,
            };
            return Ok(SetupState::Missing(Box::new(Missing {
                key: key.is_none(),
                project: scope.is_none(),
                scope,
                known: sources::already_set(flags, environment, &name, profile, known_key),
                source: key,
                config: path.into(),
                look,
                own: found.file.own(),
            })));
        }
    };
    let ca_file = profile.ca_file.as_deref().map(|file| key::beside(path, file));
    let chosen = KnownProfile {
        name: CleanText::line(&name),
        scope: Some(scope.clone()),
        key: Ok(Some(key.clone())),
        ca_file: ca_file.clone(),
    };
    let (profiles, current) = profiles::known(&chosen, &name, environment, path, found);
    Ok(SetupState::Ready(Box::new(Settings {
        scope,
        key,
        profile: CleanText::line(&name),
        data_folder: data_folder(flags, environment)?,
        templates: path.with_file_name("templates"),
        ca_file,
        default: found.file.default_profile.as_deref().and_then(|name| {
            let name = CleanText::line(name);
            profiles.iter().position(|profile| profile.name == name)
        }),
        profiles,
        current,
        per_minute,
        look,
        own: found.file.own(),
        config: path.into(),
    })))
}

/// What a run without a service of its own (the demo) takes from a file, and where that lies: only from one that was
/// named.
///
/// # Errors
/// A file that is wrong or not where it was said to be.
pub fn named_file(flags: &Flags, environment: &Environment) -> Result<(ConfigFile, PathBuf), ConfigError> {
    let Some(path) = flags.config.clone().or_else(|| environment.config.clone()) else {
        return Ok((ConfigFile::default(), PathBuf::new()));
    };
    match file::read(&path)? {
        Some(found) => Ok((found.file, path)),
        None => Err(ConfigError::NotThere { path }),
    }
}

/// How things look; themes of the user's own lie beside the file at `path`.
pub fn look(flags: &Flags, environment: &Environment, ui: &file::Ui, path: &Path) -> DisplaySettings {
    let from_environment = environment.no_color.then_some(ColorChoice::Never);
    // `--color auto` asks for what the terminal and the environment say, NO_COLOR among it.
    let flag = flags.color.filter(|flag| *flag != ColorChoice::Auto || from_environment.is_none());
    let choice = flag.or(from_environment).or(ui.color).unwrap_or_default();
    DisplaySettings {
        color: choice,
        theme: ChosenTheme { name: ui.theme.clone(), place: ui.theme_place, config: path.into() },
        ground: ui.ground.map(Background::from),
        ascii: flags.ascii || ui.ascii.unwrap_or(environment.ascii_locale),
        links: ui.links.unwrap_or(true),
        calm: environment.ssh || environment.reduced_motion.or(ui.reduced_motion).unwrap_or(false),
        mouse: ui.mouse.unwrap_or(true),
        all_profiles: ui.all_profiles.unwrap_or(false),
    }
}

/// A name that no theme has is wrong where the name stands, all else in the theme's own file.
fn of_theme(error: ThemeError, (line, column): LineColumn, path: &Path) -> ConfigError {
    match error {
        ThemeError::Unknown { name, known } => {
            let what = format!("there is no theme {name}; there are {known}");
            ConfigError::invalid(path, (line, column), &what)
        }
        other => other.into(),
    }
}

/// Where store and log lie.
///
/// # Errors
/// None is named, and there is no home.
pub fn data_folder(flags: &Flags, environment: &Environment) -> Result<PathBuf, ConfigError> {
    sources::data_folder(flags, environment).map(|folder| folder.value)
}

fn folders() -> Option<directories::ProjectDirs> {
    directories::ProjectDirs::from("", "", "docdeck")
}

#[cfg(test)]
mod tests;
