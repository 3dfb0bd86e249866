//! `config.toml`: its fields, reading it, and saying where it is wrong. Unknown fields are an error, so that a typing
//! mistake is never a setting silently left out. What its values mean together with flags and environment is not here.

use super::customization::{self, CommandConfig, Customization, FilterConfig, Notify};
use super::keys::{self, KeyOverride, KeyTables};
use super::places::{KeyPositions, LineColumn};
use super::{ConfigError, PER_MINUTE, PER_MINUTE_MAX};
use crate::model::colors::Background;
use crate::model::redaction::redacted_words;
use crate::model::text::CleanText;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use toml::Spanned;
use zeroize::Zeroizing;

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// The profile to use unless a flag or the environment names one.
    pub default_profile: Option<String>,
    /// All profiles by name.
    #[serde(default)]
    pub profiles: BTreeMap<String, ProfileConfig>,
    #[serde(default)]
    pub poll: Poll,
    #[serde(default)]
    pub ui: Ui,
    #[serde(default)]
    keys: KeyTables,
    #[serde(default)]
    notify: Notify,
    #[serde(default)]
    filters: Vec<FilterConfig>,
    #[serde(default)]
    commands: Vec<CommandConfig>,
    on_change: Option<Spanned<Vec<String>>>,
    /// Of each command's key.
    #[serde(skip)]
    key_places: Vec<LineColumn>,
    #[serde(skip)]
    own_keys: Vec<KeyOverride>,
    #[serde(skip)]
    pub(super) default_place: LineColumn,
}

impl ConfigFile {
    /// What a text says; `path` is where it comes from, for the sentence.
    ///
    /// # Errors
    /// It is no TOML, or says what docdeck doesn't know, with line and column.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        parse(text).map_err(|mistake| mistake.of(path))
    }

    /// GETs a minute for polling.
    pub fn poll_rate(&self) -> u32 {
        self.poll.per_minute.unwrap_or(PER_MINUTE)
    }

    /// What the user adds of their own.
    pub fn own(&self) -> Customization {
        Customization {
            filters: self.filters.clone(),
            commands: self.commands.iter().cloned().zip(self.key_places.iter().copied()).collect(),
            keys: self.own_keys.clone(),
            notify: self.notify,
            on_change: words(self.on_change.as_ref()),
            clipboard: words(self.ui.clipboard.as_ref()),
        }
    }
}

fn words(program: Option<&Spanned<Vec<String>>>) -> Vec<String> {
    program.map(|words| words.get_ref().clone()).unwrap_or_default()
}

/// `[profiles.NAME]`: whom to talk to, and where the key comes from (one source of the three).
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileConfig {
    pub base_url: Option<String>,
    pub project_id: Option<String>,
    pub organization: Option<String>,
    /// A file of certificates (PEM) that are trusted beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// A program and its arguments; run without a shell, its first line of output is the key.
    pub api_key_command: Option<Vec<String>>,
    /// A file that holds nothing but the key.
    pub api_key_file: Option<PathBuf>,
    /// The key itself; accepted only while nobody else can read the file.
    pub api_key: Option<InlineKey>,
    #[serde(skip)]
    pub(super) base_url_place: LineColumn,
    /// Of these three, in the order of [`KEY_SOURCES`].
    #[serde(skip)]
    pub(super) key_places: [LineColumn; 3],
}

/// What names a source of the key.
pub(super) const KEY_SOURCES: [&str; 3] = ["api_key_command", "api_key_file", "api_key"];

/// A key written into the file. Wiped when dropped; prints as `***`.
#[derive(Deserialize)]
#[serde(from = "String")]
pub struct InlineKey(Zeroizing<String>);

impl From<String> for InlineKey {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl InlineKey {
    /// What stands in the file.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for InlineKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// `[poll]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Poll {
    /// GETs a minute for all jobs together, 1 to 600.
    pub per_minute: Option<u32>,
}

/// `[ui]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ui {
    pub color: Option<super::ColorChoice>,
    /// Only ASCII characters for lines, bars and signs; as the locale says, unless set here.
    pub ascii: Option<bool>,
    /// Make links that the terminal can open; yes, unless said otherwise.
    pub links: Option<bool>,
    /// A shipped theme, or a file in the folder `themes` beside this one.
    pub theme: Option<String>,
    #[serde(skip)]
    pub(super) theme_place: LineColumn,
    /// What the terminal's ground is, where it does not tell.
    pub ground: Option<GroundChoice>,
    /// Whether the mouse comes to docdeck at the start; else the terminal selects text with it.
    pub mouse: Option<bool>,
    /// The jobs of all profiles are listed at the start.
    pub all_profiles: Option<bool>,
    /// No heartbeat in the header.
    pub reduced_motion: Option<bool>,
    /// A program and its arguments that takes a copied text from its stdin; run without a shell.
    pub(super) clipboard: Option<Spanned<Vec<String>>>,
}

/// `ground` of `[ui]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GroundChoice {
    Dark,
    Light,
}

impl From<GroundChoice> for Background {
    fn from(choice: GroundChoice) -> Self {
        match choice {
            GroundChoice::Dark => Self::Dark,
            GroundChoice::Light => Self::Light,
        }
    }
}

/// A file as read: what it says, and whether it may hold a key.
#[derive(Debug)]
pub struct LoadedFile {
    pub file: ConfigFile,
    /// Somebody else on this computer can read it.
    pub readable_by_others: bool,
}

/// Largest file that is read: a configuration is a page, not a database.
const MAX_BYTES: u64 = 1024 * 1024;

/// Reads the file at `path`. None when there is none.
///
/// # Errors
/// A file that can't be read, is no TOML, or says what docdeck doesn't know (with line and column).
pub fn read(path: &Path) -> Result<Option<LoadedFile>, ConfigError> {
    let unreadable = |error: &std::io::Error| ConfigError::Unreadable { path: path.into(), why: plain(error) };
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    let readable_by_others = others_can_read(&file).map_err(|error| unreadable(&error))?;
    // Large enough for all of it: it may hold a key, and bytes that grow leave copies behind that nobody wipes.
    let size = file.metadata().map_or(0, |known| known.len()).min(MAX_BYTES);
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1));
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    let text = as_text(&bytes).map_err(|mistake| mistake.of(path))?;
    Ok(Some(LoadedFile { file: ConfigFile::parse(path, text)?, readable_by_others }))
}

/// The file's text, or where it is none.
fn as_text(bytes: &[u8]) -> Result<&str, Mistake> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).and_then(|bytes| std::str::from_utf8(bytes).ok());
        let before = before.unwrap_or_default();
        Mistake::at(before, before.len(), "what stands here is no text in UTF-8; save the file in that encoding")
    })
}

/// What is wrong with the text of a file, and where (both counted from 1).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) what: CleanText,
}

impl Mistake {
    /// At this byte of the text.
    pub(super) fn at(text: &str, byte: usize, what: &str) -> Self {
        let (line, column) = place(text, byte);
        Self { line, column, what: CleanText::line(&redacted_words(what)) }
    }

    /// In the file that lies there.
    pub(super) fn of(self, path: &Path) -> ConfigError {
        ConfigError::invalid(path, (self.line, self.column), self.what.as_str())
    }
}

/// Line and column of a byte, both from 1.
pub(super) fn place(text: &str, byte: usize) -> LineColumn {
    let before = text.get(..byte).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    (line, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)
}

pub(super) fn parse(text: &str) -> Result<ConfigFile, Mistake> {
    let mut file: ConfigFile = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Mistake::at(text, at, &in_words(error.message()))
    })?;
    let programs = [("on_change", file.on_change.as_ref()), ("clipboard", file.ui.clipboard.as_ref())];
    customization::check(&file.filters, &file.commands, programs)
        .map_err(|wrong| customization::mistake(text, wrong))?;
    file.key_places = file.commands.iter().map(|command| place(text, command.key.span().start)).collect();
    file.own_keys = keys::of(&file.keys, |byte| place(text, byte));
    let places = KeyPositions::of(text);
    if let Some(wrong) = file.poll.per_minute.filter(|rate| !(1..=PER_MINUTE_MAX).contains(rate)) {
        let (line, column) = places.at(&["poll"], "per_minute");
        let what = format!("per_minute is {wrong}, and has to be from 1 to {PER_MINUTE_MAX}");
        return Err(Mistake { line, column, what: CleanText::line(&what) });
    }
    file.default_place = places.at(&[], "default_profile");
    file.ui.theme_place = places.at(&["ui"], "theme");
    for (name, profile) in &mut file.profiles {
        profile.base_url_place = places.at(&["profiles", name], "base_url");
        profile.key_places = KEY_SOURCES.map(|source| places.at(&["profiles", name], source));
    }
    Ok(file)
}

/// The reader's message in words for users, without the texts that it quotes: a key in the wrong place must not reach the
/// screen.
fn in_words(message: &str) -> String {
    let wrong = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    // The value is quoted and may hold anything; what was expected comes after its last quote.
    if let Some((found, expected)) = wrong.and_then(|wrong| wrong.rsplit_once(", expected ")) {
        return format!("{} stands where there should be {}", kind(found), wanted(expected));
    }
    // A table as well can be read from a list of all its values.
    if message.starts_with("invalid length ") && message.contains(", expected struct ") {
        return "an array stands where there should be a table".to_owned();
    }
    match message.strip_prefix("unknown variant `").and_then(|rest| rest.split_once("`, expected ")) {
        Some((value, expected)) => format!("unknown value `{value}`, expected {expected}"),
        None => message.to_owned(),
    }
}

/// A value by its kind.
fn kind(found: &str) -> &str {
    match found.split(' ').next() {
        Some("string") => "a text",
        Some("integer" | "floating") => "a number",
        Some("boolean") => "true or false",
        Some("sequence") => "an array",
        Some("map") => "a table",
        _ => "something else",
    }
}

fn wanted(expected: &str) -> &str {
    match expected {
        "a string" => "a text in quotes",
        "path string" => "a path in quotes",
        "a boolean" => "true or false",
        "a sequence" => "an array",
        "u32" => "a whole number above 0",
        "a map" => "a table",
        table if table.starts_with("struct ") => "a table",
        choice if choice.starts_with("enum ") => "a word in quotes",
        other => other,
    }
}

/// Whether a name stands in a file without quotes.
pub(super) fn is_bare(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// The system's words for an error, without its number.
pub fn plain(error: &std::io::Error) -> CleanText {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    CleanText::line(&text.to_lowercase())
}

/// Whether the group or everybody can read the file. Always no where there are no such permissions.
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
    fn a_full_file_is_read() {
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
    fn a_line_that_is_no_toml_is_pointed_at() {
        let mistake = parse("default_profile = \"a\"\nnonsense\n").expect_err("no toml");
        assert_eq!(mistake.line, 2);
    }

    #[test]
    fn a_key_in_the_wrong_place_is_not_repeated_in_the_error() {
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
    fn a_key_in_the_file_is_not_printed() {
        let file = parse("[profiles.a]\napi_key = \"mint_secret\"\n").expect("a good file");
        assert!(!format!("{file:?}").contains("secret"));
    }
}
