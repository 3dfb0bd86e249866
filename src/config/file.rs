//! Reads `config.toml` and reports the line and column of a mistake. Unknown fields are errors, so that a typo is never
//! silently ignored. [`super::resolve`] merges the file's values with command-line options and environment variables.

use super::analytics::AnalyticsConfig;
use super::customization::{self, CommandConfig, Customization, FilterConfig, NotifyConfig};
use super::error::ConfigError;
use super::global_options::ColorChoice;
use super::host_config::{self, HostConfig, PullRequestConfig};
use super::keys::{self, KeyOverride, ShortcutTables};
use super::positions::{LineColumn, Mistake, ValuePositions, line_and_column};
use super::privacy::PrivacyConfig;
use super::team_config::TeamConfig;
use crate::model::colors::Background;
use crate::model::text::CleanText;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use toml::Spanned;
use zeroize::Zeroizing;

/// The default of `[poll] per_minute`, the maximum number of GET requests per minute for polling.
const DEFAULT_POLLS_PER_MINUTE: u32 = 60;
/// The largest value that `[poll] per_minute` may have.
const MAX_POLLS_PER_MINUTE: u32 = 600;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// The profile to use if no command-line option or environment variable selects one.
    pub default_profile: Option<String>,
    #[serde(default)]
    pub profiles: BTreeMap<String, ProfileConfig>,
    #[serde(default)]
    pub poll: PollConfig,
    #[serde(default)]
    pub ui: UiConfig,
    #[serde(default)]
    keys: ShortcutTables,
    #[serde(default)]
    notify: NotifyConfig,
    #[serde(default)]
    filters: Vec<FilterConfig>,
    #[serde(default)]
    commands: Vec<CommandConfig>,
    on_change: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    pub(super) hosts: BTreeMap<String, HostConfig>,
    #[serde(default)]
    pub(super) pull_requests: PullRequestConfig,
    #[serde(default)]
    pub(super) privacy: PrivacyConfig,
    #[serde(default)]
    pub(super) analytics: AnalyticsConfig,
    #[serde(default)]
    pub(super) team: TeamConfig,
    /// The line and column of the keyboard key of each custom command, in the order of `commands`.
    #[serde(skip)]
    command_shortcut_positions: Vec<LineColumn>,
    #[serde(skip)]
    key_overrides: Vec<KeyOverride>,
    #[serde(skip)]
    pub(super) default_profile_position: LineColumn,
}

impl ConfigFile {
    /// Parses the text of a configuration file. `path` is only used in error messages.
    ///
    /// # Errors
    /// Fails if the text is not TOML or contains unknown fields or invalid values. The error contains the line and
    /// column.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        parse(text).map_err(|mistake| mistake.into_config_error(path))
    }

    /// Returns the maximum number of GET requests per minute for polling.
    pub fn polls_per_minute(&self) -> u32 {
        self.poll.per_minute.unwrap_or(DEFAULT_POLLS_PER_MINUTE)
    }

    /// Returns the user's custom filters, commands, keyboard keys and notifications.
    pub fn customization(&self) -> Customization {
        Customization {
            filters: self.filters.clone(),
            commands: self.commands.iter().cloned().zip(self.command_shortcut_positions.iter().copied()).collect(),
            keys: self.key_overrides.clone(),
            notify: self.notify,
            on_change: program_words(self.on_change.as_ref()),
            clipboard: program_words(self.ui.clipboard.as_ref()),
        }
    }
}

fn program_words(program: Option<&Spanned<Vec<String>>>) -> Vec<String> {
    program.map(|words| words.get_ref().clone()).unwrap_or_default()
}

/// A section `[profiles.NAME]`: a service, a project, and at most one of the three sources of the API key.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileConfig {
    pub base_url: Option<String>,
    pub project_id: Option<String>,
    pub organization: Option<String>,
    /// A PEM file of certificates to trust in addition to the system's certificates.
    pub ca_file: Option<PathBuf>,
    /// A program that prints the API key, and its arguments. Runs without a shell.
    pub api_key_command: Option<Vec<String>>,
    /// A file that contains only the API key.
    pub api_key_file: Option<PathBuf>,
    /// The API key itself. Accepted only if no other user can read the configuration file.
    pub api_key: Option<InlineKey>,
    #[serde(skip)]
    pub(super) base_url_position: LineColumn,
    /// The lines and columns of the three sources of the API key, in the order of [`KEY_SOURCE_FIELDS`].
    #[serde(skip)]
    pub(super) key_source_positions: [LineColumn; 3],
}

/// The fields of a profile that set the source of the API key.
pub(super) const KEY_SOURCE_FIELDS: [&str; 3] = ["api_key_command", "api_key_file", "api_key"];

/// An API key in the configuration file. It is wiped from memory on drop, and its debug output is `***`.
#[derive(Deserialize)]
#[serde(from = "String")]
pub struct InlineKey(Zeroizing<String>);

impl From<String> for InlineKey {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl InlineKey {
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for InlineKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The section `[poll]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PollConfig {
    /// The maximum number of GET requests per minute to poll all jobs together, from 1 to 600.
    pub per_minute: Option<u32>,
}

/// The section `[ui]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UiConfig {
    pub color: Option<ColorChoice>,
    /// Whether to use only ASCII characters for lines, bars and symbols. By default, the locale decides.
    pub ascii: Option<bool>,
    /// Whether to print hyperlinks if the terminal supports them. On by default.
    pub links: Option<bool>,
    /// The name of a built-in theme, or of a file in the `themes` folder next to the configuration file.
    pub theme: Option<String>,
    #[serde(skip)]
    pub(super) theme_position: LineColumn,
    /// Whether the terminal's background is dark or light, for terminals that can't report it.
    #[serde(alias = "ground")]
    pub background: Option<BackgroundChoice>,
    /// Whether mouse support is on when the dashboard starts. If it is off, the user can select text with the mouse.
    pub mouse: Option<bool>,
    /// Whether the dashboard lists the jobs of all profiles when it starts.
    pub all_profiles: Option<bool>,
    /// Whether to turn off the heartbeat animation in the header.
    pub reduced_motion: Option<bool>,
    /// A program that copies its stdin to the clipboard, and its arguments. Runs without a shell.
    pub(super) clipboard: Option<Spanned<Vec<String>>>,
}

/// The values of `background` in `[ui]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackgroundChoice {
    Dark,
    Light,
}

impl From<BackgroundChoice> for Background {
    fn from(choice: BackgroundChoice) -> Self {
        match choice {
            BackgroundChoice::Dark => Self::Dark,
            BackgroundChoice::Light => Self::Light,
        }
    }
}

/// A loaded configuration file, and whether other users can read it.
#[derive(Debug)]
pub struct LoadedFile {
    pub file: ConfigFile,
    /// Whether other users of this computer can read the file. If true, the file must not contain an API key.
    pub is_readable_by_others: bool,
}

/// The maximum size of the configuration file in bytes.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// Reads the configuration file at `path`. Returns `None` if the file doesn't exist.
///
/// # Errors
/// Fails if the file can't be read, is too large, is not TOML, or contains unknown fields or invalid values.
pub fn read_config_file(path: &Path) -> Result<Option<LoadedFile>, ConfigError> {
    let unreadable = |error: &std::io::Error| ConfigError::Unreadable { path: path.into(), why: system_message(error) };
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    let is_readable_by_others = others_can_read(&file).map_err(|error| unreadable(&error))?;
    // Reserve enough space, because the file may contain an API key, and a buffer that grows leaves copies in memory
    // that are never wiped.
    let size = file.metadata().map_or(0, |metadata| metadata.len()).min(MAX_CONFIG_BYTES);
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1));
    let length = file.take(MAX_CONFIG_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if u64::try_from(length).is_ok_and(|length| length > MAX_CONFIG_BYTES) {
        return Err(ConfigError::TooLarge { path: path.into() });
    }
    let text = decode_utf8(&bytes).map_err(|mistake| mistake.into_config_error(path))?;
    Ok(Some(LoadedFile { file: ConfigFile::parse(path, text)?, is_readable_by_others }))
}

/// Returns the bytes as text, or a mistake at the first byte that is not valid UTF-8.
fn decode_utf8(bytes: &[u8]) -> Result<&str, Mistake> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).and_then(|bytes| std::str::from_utf8(bytes).ok());
        let before = before.unwrap_or_default();
        Mistake::at(before, before.len(), "this is not valid UTF-8; save the file in that encoding")
    })
}

/// Parses the text of a configuration file and checks its values.
pub(super) fn parse(text: &str) -> Result<ConfigFile, Mistake> {
    let mut file: ConfigFile = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Mistake::at(text, at, &reword_toml_error(error.message()))
    })?;
    let programs = [("on_change", file.on_change.as_ref()), ("clipboard", file.ui.clipboard.as_ref())];
    customization::check_customization(&file.filters, &file.commands, programs)
        .map_err(|mistake| customization::locate_mistake(text, mistake))?;
    file.command_shortcut_positions =
        file.commands.iter().map(|command| line_and_column(text, command.key.span().start)).collect();
    file.key_overrides = keys::key_overrides(&file.keys, |byte| line_and_column(text, byte));
    let positions = ValuePositions::parse(text);
    if let Some(rate) = file.poll.per_minute.filter(|rate| !(1..=MAX_POLLS_PER_MINUTE).contains(rate)) {
        let (line, column) = positions.position_of(&["poll"], "per_minute");
        let what = format!("per_minute is {rate}, but must be between 1 and {MAX_POLLS_PER_MINUTE}");
        return Err(Mistake { line, column, what: CleanText::line(&what) });
    }
    let mistake = host_config::find_mistake(&file.hosts, &positions).or_else(|| file.team.find_mistake(&positions));
    if let Some(((line, column), what)) = mistake {
        return Err(Mistake { line, column, what: CleanText::line(&what) });
    }
    file.default_profile_position = positions.position_of(&[], "default_profile");
    file.ui.theme_position = positions.position_of(&["ui"], "theme");
    for (name, profile) in &mut file.profiles {
        profile.base_url_position = positions.position_of(&["profiles", name], "base_url");
        profile.key_source_positions =
            KEY_SOURCE_FIELDS.map(|source| positions.position_of(&["profiles", name], source));
    }
    Ok(file)
}

/// The old names of renamed settings. They are still accepted, but error messages don't suggest them.
const FORMER_SETTING_NAMES: [&str; 2] = ["ground", "how"];

/// Rewrites an error message of the TOML parser for users. Removes a quoted value of the wrong type, because it may be
/// an API key in the wrong field.
fn reword_toml_error(message: &str) -> String {
    let wrong = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    // The quoted value may itself contain ", expected ", so split at the last occurrence.
    if let Some((found, expected)) = wrong.and_then(|wrong| wrong.rsplit_once(", expected ")) {
        return format!("expected {}, found {}", reword_expected_type(expected), reword_found_type(found));
    }
    // If the file contains an array instead of a table, Serde reports a wrong length, because Serde can read a struct
    // from an array.
    if message.starts_with("invalid length ") && message.contains(", expected struct ") {
        return "expected a table, found an array".to_owned();
    }
    match message.strip_prefix("unknown variant `").and_then(|rest| rest.split_once("`, expected ")) {
        Some((value, expected)) => format!("unknown value `{value}`, expected {expected}"),
        None => FORMER_SETTING_NAMES
            .iter()
            .fold(message.to_owned(), |message, name| message.replace(&format!("`{name}`, "), "")),
    }
}

/// Rewords the parser's description of the value in the file for the user.
fn reword_found_type(found: &str) -> &str {
    match found.split(' ').next() {
        Some("string") => "a string",
        Some("integer" | "floating") => "a number",
        Some("boolean") => "true or false",
        Some("sequence") => "an array",
        Some("map") => "a table",
        _ => "something else",
    }
}

/// Rewords the parser's description of the expected value for the user.
fn reword_expected_type(expected: &str) -> &str {
    match expected {
        "a string" => "a string in quotes",
        "path string" => "a path in quotes",
        "a boolean" => "true or false",
        "a sequence" => "an array",
        "u32" => "a whole number above 0",
        "u16" => "a whole number from 0 to 65535",
        "f64" => "a number, 0 or more",
        "a map" => "a table",
        table if table.starts_with("struct ") => "a table",
        choice if choice.starts_with("enum ") => "a word in quotes",
        other => other,
    }
}

/// Whether `name` can be used as a name in TOML without quotes.
pub(super) fn is_bare_toml_key(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Returns the operating system's error message in lower case, without the error number.
pub fn system_message(error: &std::io::Error) -> CleanText {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    CleanText::line(&text.to_lowercase())
}

/// Whether other users may be able to read the file. To be safe, any permission of anyone but the owner counts. Always
/// `false` on systems without Unix permissions.
pub(super) fn others_can_read(file: &std::fs::File) -> std::io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        file.metadata().map(|_| false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_all_sections_are_read() {
        let file = parse(
            "default_profile = \"acme\"\n[profiles.acme]\nproject_id = \"p\"\napi_key_command = [\"pass\", \"x\"]\n\
             [poll]\nper_minute = 30\n[ui]\ncolor = \"never\"\nascii = true\n",
        )
        .expect("a good file");
        assert_eq!(file.default_profile.as_deref(), Some("acme"));
        assert_eq!(file.profiles["acme"].project_id.as_deref(), Some("p"));
        assert_eq!(file.poll.per_minute, Some(30));
        assert_eq!(file.ui.color, Some(crate::config::ColorChoice::Never));
    }

    #[test]
    fn an_unknown_field_is_an_error_with_line_and_column() {
        let mistake = parse("[profiles.acme]\nproject_id = \"p\"\n  projetc = \"x\"\n").expect_err("unknown field");
        assert_eq!((mistake.line, mistake.column), (3, 3));
        assert!(mistake.what.as_str().contains("projetc"), "{mistake:?}");
    }

    #[test]
    fn a_file_that_is_too_large_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        let text = |size: usize| format!("default_profile = \"a\"\n{}", "#".repeat(size - 22));
        std::fs::write(&path, text(1024 * 1024)).expect("written");
        assert!(read_config_file(&path).is_ok_and(|file| file.is_some()));
        std::fs::write(&path, text(1024 * 1024 + 1)).expect("written");
        let error = read_config_file(&path).expect_err("too large").to_string();
        assert!(error.contains("config.toml is larger than 1 MiB."), "{error}");
    }

    #[test]
    fn a_syntax_error_is_reported_with_its_line() {
        let mistake = parse("default_profile = \"a\"\nnonsense\n").expect_err("no toml");
        assert_eq!(mistake.line, 2);
    }

    #[test]
    fn an_api_key_in_the_wrong_field_is_not_shown_in_the_error() {
        let texts = [
            "[profiles.a]\napi_key_command = \"mint_\\\", expected secret\"\n",
            "poll = \"mint_secret\"\n",
            "ui.color = \"mint_secret\"\n",
        ];
        for text in texts {
            let mistake = parse(text).expect_err("wrong type");
            assert!(!mistake.what.as_str().contains("mint_"), "{mistake:?}");
        }
    }

    #[test]
    fn the_debug_output_of_the_file_does_not_contain_the_api_key() {
        let file = parse("[profiles.a]\napi_key = \"mint_secret\"\n").expect("a good file");
        assert!(!format!("{file:?}").contains("secret"));
    }
}
