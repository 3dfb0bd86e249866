//! Creates `config.toml` with an example of every setting, or changes a profile, filter or theme in an existing file. A
//! change preserves all other text and comments. When docdeck creates the file or writes a profile into it, only the
//! owner can read the file afterwards, if the file system supports permissions.

use super::error::ConfigError;
use super::file::{self, system_message};
use super::positions::Mistake;
use crate::model::failure::Failure;
use crate::model::redaction::redacted_setting;
use crate::model::setup::{ConfigWritePermission, DEFAULT_BASE_URL, KeySourceInput, NewProfile};
use crate::model::text::CleanText;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};
use zeroize::Zeroizing;

/// The end of a new file: examples of settings, commented out.
const COMMENTED_EXAMPLES: &str = include_str!("../../assets/config/rest.toml");
/// The first line of a new file.
const NEW_FILE_HEADER: &str = "# docdeck's settings. An option overrides the environment, which overrides this file.\n";
/// The error message if `toml_edit`, which preserves the rest of the file, can't parse the file.
const UNEDITABLE_MESSAGE: &str = "docdeck can't edit it without changing its other settings";
/// A commented-out example at the start of a new file.
const ON_CHANGE_EXAMPLE: &str = "\n# Run for each change of a job, without a shell, with the job as JSON on its stdin.\n\
     #on_change = [\"sh\", \"-c\", \"jq -r .title | curl -s -d @- https://ntfy.sh/my-docs-jobs\"]\n\n";
const ORGANIZATION_EXAMPLE: &str = "#organization = \"…\"    # if several projects share the analytics limit\n";
const CA_FILE_EXAMPLE: &str =
    "#ca_file = \"corp-ca.pem\"    # certificates (PEM) trusted in addition to the system's\n";
const KEY_SOURCE_EXAMPLES: &str = "# This profile uses DOCDECK_API_KEY from the environment, which overrides these sources of the key.\n\
     #api_key_command = [\"pass\", \"show\", \"docdeck\"]    # a program, run without a shell\n\
     #api_key_file = \"~/.secrets/docdeck\"    # a file that only you can read\n";

/// The reason why the file was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The file or profile already exists. `needs` is the permission that is required to change it.
    #[error("{}", already_exists_message(path, *.needs))]
    AlreadyExists { path: PathBuf, needs: ConfigWritePermission },
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{} can't be written: {why}. Nothing was changed.", path.display())]
    Unwritable { path: PathBuf, why: CleanText },
    /// The API key was not written: the file system doesn't support permissions, so other users could read the file.
    #[error(
        "Others on this computer could read {}, so the key was not stored in it. Choose a command or a file for the key.",
        path.display()
    )]
    ReadableByOthers { path: PathBuf },
    #[error("{} already has a filter named “{name}”. Nothing was changed.", path.display())]
    FilterExists { path: PathBuf, name: CleanText },
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::local(&redacted_setting(&error.to_string()))
    }
}

impl WriteError {
    fn new(path: &Path, error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::AlreadyExists => Self::AlreadyExists { path: path.into(), needs: ConfigWritePermission::Add },
            ErrorKind::InvalidData => Self::ReadableByOthers { path: path.into() },
            _ => Self::Unwritable { path: path.into(), why: system_message(error) },
        }
    }
}

fn already_exists_message(path: &Path, needs: ConfigWritePermission) -> String {
    let path = path.display();
    match needs {
        ConfigWritePermission::Change => format!("{path} already has this profile. It was not changed."),
        _ => format!("{path} already exists. It was not changed."),
    }
}

/// Returns what the user has to allow before the profile `profile` can be written into the file at `path`.
///
/// # Errors
/// Fails if the file exists but can't be read or is invalid.
pub fn required_permission(path: &Path, profile: &str) -> Result<ConfigWritePermission, ConfigError> {
    Ok(match file::read_config_file(path)? {
        None => ConfigWritePermission::Nothing,
        Some(found) if found.file.profiles.contains_key(profile) => ConfigWritePermission::Change,
        Some(_) => ConfigWritePermission::Add,
    })
}

/// Writes the profile into the file at `path`, and creates the file if it doesn't exist.
///
/// # Errors
/// Fails without changing the file if `allowed` doesn't permit the change, or if the file can't be read or written.
pub fn write_profile(path: &Path, profile: &NewProfile, allowed: ConfigWritePermission) -> Result<(), WriteError> {
    let needs = required_permission(path, &profile.name)?;
    if needs > allowed {
        return Err(WriteError::AlreadyExists { path: path.into(), needs });
    }
    let access = match profile.key {
        KeySourceInput::Typed(_) => FileAccess::OwnerOnlyOrFail,
        _ => FileAccess::OwnerIfSupported,
    };
    if needs == ConfigWritePermission::Nothing {
        return create_file(path, &new_file_text(path, profile)?, access);
    }
    replace_text(path, Some(access), |old| text_with_profile(path, old, profile))
}

/// Writes a filter into the file at `path`, and creates the file if it doesn't exist. If `replace` is true, the new
/// filter replaces a filter of the same name.
///
/// # Errors
/// Fails without changing the file if the file is invalid or can't be written, or if it contains a filter of the same
/// name and `replace` is false.
pub fn save_filter(path: &Path, name: &str, filter: &str, replace: bool) -> Result<(), WriteError> {
    edit_file(path, |document| {
        if !document.contains_key("filters") {
            let mut table = new_table_at_end(document);
            set_field(&mut table, "name", Some(name.into()));
            set_field(&mut table, "filter", Some(filter.into()));
            document.insert("filters", Item::ArrayOfTables(ArrayOfTables::from_iter([table])));
            return Ok(());
        }
        let Some(filters) = document.get_mut("filters") else { return Ok(()) };
        let mut tables = filter_definitions(filters).into_iter();
        if let Some(table) = tables.find(|table| table.get("name").and_then(Item::as_str) == Some(name)) {
            if !replace {
                return Err(WriteError::FilterExists { path: path.into(), name: CleanText::line(name) });
            }
            set_field(table, "filter", Some(filter.into()));
            return Ok(());
        }
        let new = InlineTable::from_iter([("name", name), ("filter", filter)]);
        match filters {
            Item::ArrayOfTables(tables) => {
                let mut table = new.into_table();
                table.decor_mut().set_prefix("\n");
                tables.push(table);
            }
            Item::Value(Value::Array(array)) => array.push(new),
            _ => {}
        }
        Ok(())
    })
}

/// Returns the tables of the setting `filters`, which is an array of tables or an inline array.
fn filter_definitions(filters: &mut Item) -> Vec<&mut dyn TableLike> {
    match filters {
        Item::ArrayOfTables(tables) => tables.iter_mut().map(|table| table as &mut dyn TableLike).collect(),
        Item::Value(Value::Array(array)) => {
            array.iter_mut().filter_map(Value::as_inline_table_mut).map(|table| table as &mut dyn TableLike).collect()
        }
        _ => Vec::new(),
    }
}

/// Sets the theme in the file at `path`, and creates the file if it doesn't exist.
///
/// # Errors
/// Fails without changing the file if the file is invalid or can't be written.
pub fn save_theme_setting(path: &Path, theme: &str) -> Result<(), WriteError> {
    edit_file(path, |document| {
        if !document.contains_key("ui") {
            let ui = new_table_at_end(document);
            document.insert("ui", Item::Table(ui));
        }
        if let Some(ui) = document.get_mut("ui").and_then(Item::as_table_like_mut) {
            set_field(ui, "theme", Some(theme.into()));
        }
        Ok(())
    })
}

/// Applies `change` to the file at `path`, and creates the file if it doesn't exist. Preserves the comments, order and
/// permissions of an existing file. Validates the new text before it replaces the old text.
fn edit_file(path: &Path, change: impl FnOnce(&mut DocumentMut) -> Result<(), WriteError>) -> Result<(), WriteError> {
    if file::read_config_file(path)?.is_none() {
        let mut document = DocumentMut::new();
        change(&mut document)?;
        let text = format!("{NEW_FILE_HEADER}{document}\n{COMMENTED_EXAMPLES}");
        return create_file(path, &text, FileAccess::OwnerIfSupported);
    }
    replace_text(path, None, |old| {
        let wrong = |mistake: Mistake| mistake.into_config_error(path);
        let mut document: DocumentMut = old.parse().map_err(|_| wrong(Mistake::at(old, 0, UNEDITABLE_MESSAGE)))?;
        change(&mut document)?;
        let text = Zeroizing::new(document.to_string());
        file::parse(&text).map_err(wrong)?;
        Ok(text)
    })
}

/// Creates the file at `path`, which must not exist.
fn create_file(path: &Path, text: &str, access: FileAccess) -> Result<(), WriteError> {
    write_atomically(path, text, false, access).map_err(|error| WriteError::new(path, &error))
}

/// Replaces the text of the file at `path` with the text that `change` returns. If the path is a symbolic link,
/// replaces the file that it points to. Without `access`, the permissions of the file are preserved.
fn replace_text(
    path: &Path,
    access: Option<FileAccess>,
    change: impl FnOnce(&str) -> Result<Zeroizing<String>, WriteError>,
) -> Result<(), WriteError> {
    let unwritable = |error: io::Error| WriteError::new(path, &error);
    let real = path.canonicalize().map_err(unwritable)?;
    let old = Zeroizing::new(fs::read_to_string(&real).map_err(unwritable)?);
    let unchanged = || fs::metadata(&real).map(|found| FileAccess::Unchanged(found.permissions()));
    let access = access.map_or_else(unchanged, Ok).map_err(unwritable)?;
    write_atomically(&real, &change(&old)?, true, access).map_err(unwritable)
}

/// Returns the text of a new configuration file with the profile, followed by commented-out examples of the other
/// settings.
fn new_file_text(path: &Path, profile: &NewProfile) -> Result<Zeroizing<String>, WriteError> {
    let name = Value::from(&profile.name);
    let start =
        text_with_profile(path, &format!("{NEW_FILE_HEADER}{ON_CHANGE_EXAMPLE}default_profile = {name}\n"), profile)?;
    let examples = [
        (profile.base_url.is_none(), format!("#base_url = \"{DEFAULT_BASE_URL}\"\n")),
        (profile.organization.is_none(), ORGANIZATION_EXAMPLE.to_owned()),
        (profile.ca_file.is_none(), CA_FILE_EXAMPLE.to_owned()),
        (profile.key == KeySourceInput::SetElsewhere, KEY_SOURCE_EXAMPLES.to_owned()),
    ];
    let examples: String = examples.into_iter().filter(|(is_unset, _)| *is_unset).map(|(_, example)| example).collect();
    // The complete text is created with enough space, because a buffer that grows leaves copies of the API key in
    // memory that are never wiped.
    let mut text = Zeroizing::new(String::with_capacity(start.len() + examples.len() + COMMENTED_EXAMPLES.len() + 1));
    [start.as_str(), &examples, "\n", COMMENTED_EXAMPLES].iter().for_each(|part| text.push_str(part));
    Ok(text)
}

/// Returns the text `old` with the profile added or changed. Preserves all other text and comments. Writes no file;
/// `path` is only used in errors.
///
/// # Errors
/// Fails if the profile can't be written into the text.
pub fn text_with_profile(path: &Path, old: &str, profile: &NewProfile) -> Result<Zeroizing<String>, WriteError> {
    insert_profile(old, profile).map_err(|mistake| mistake.into_config_error(path).into())
}

fn insert_profile(old: &str, profile: &NewProfile) -> Result<Zeroizing<String>, Mistake> {
    let wrong = |what: &str| Mistake::at(old, 0, what);
    let mut document: DocumentMut = old.parse().map_err(|_| wrong(UNEDITABLE_MESSAGE))?;
    if !document.contains_key("profiles") {
        let mut table = Table::new();
        table.set_implicit(true);
        document.insert("profiles", Item::Table(table));
    }
    let is_inline = document.get("profiles").is_some_and(Item::is_inline_table);
    let is_new =
        document.get("profiles").and_then(Item::as_table_like).is_some_and(|table| !table.contains_key(&profile.name));
    let new = match (is_new, is_inline) {
        (false, _) => Item::None,
        (true, true) => Item::Value(Value::InlineTable(Default::default())),
        (true, false) => Item::Table(new_table_at_end(&mut document)),
    };
    let profiles = document.get_mut("profiles").and_then(Item::as_table_like_mut);
    let profiles = profiles.ok_or_else(|| wrong("profiles is not a table"))?;
    let table = profiles.entry(&profile.name).or_insert(new);
    let table = table.as_table_like_mut().ok_or_else(|| wrong("the profile is not a table"))?;
    set_field(table, "project_id", Some(profile.project.as_str().into()));
    set_field(table, "base_url", profile.base_url.as_deref().map(Value::from));
    set_field(table, "organization", profile.organization.as_deref().map(Value::from));
    if let Some(file) = &profile.ca_file {
        set_field(table, "ca_file", Some(Value::from(file.to_string_lossy().as_ref())));
    }
    // The memory of the document is not wiped. So the document contains a placeholder, which is replaced with the API
    // key in the finished text.
    let mut placeholder = "the-key-goes-here".to_owned();
    while old.contains(&placeholder) {
        placeholder.push('-');
    }
    let (mut command, mut path, mut typed) = (None, None, None);
    match &profile.key {
        KeySourceInput::SetElsewhere => {}
        KeySourceInput::Command(words) => command = Some(Value::Array(words.iter().collect())),
        KeySourceInput::File(file) => path = Some(Value::from(file.to_string_lossy().as_ref())),
        KeySourceInput::Typed(_) => typed = Some(Value::from(placeholder.as_str())),
    }
    if profile.key != KeySourceInput::SetElsewhere {
        set_field(table, "api_key_command", command);
        set_field(table, "api_key_file", path);
        set_field(table, "api_key", typed);
    }
    let mut text = Zeroizing::new(document.to_string());
    if let (KeySourceInput::Typed(key), Some((before, after))) = (&profile.key, text.split_once(&placeholder)) {
        let mut with_key = Zeroizing::new(String::with_capacity(text.len() + 2 * key.expose().len()));
        with_key.push_str(before);
        // An API key contains only printable ASCII, so only quotation marks and backslashes must be escaped in the TOML
        // string.
        for c in key.expose().chars() {
            with_key.extend(matches!(c, '"' | '\\').then_some('\\').into_iter().chain([c]));
        }
        with_key.push_str(after);
        text = with_key;
    }
    // Make sure that docdeck can read the new text.
    file::parse(&text).map(|_| text)
}

/// Returns an empty table that is written at the end of the document, with a blank line before its header. Comments at
/// the end of the document, such as examples of a profile's settings, stay before this header. After it, they would
/// belong to the new table.
fn new_table_at_end(document: &mut DocumentMut) -> Table {
    let mut before = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    if !before.is_empty() && !before.ends_with('\n') {
        before.push('\n');
    }
    let mut table = Table::new();
    table.decor_mut().set_prefix(before + "\n");
    table.set_position(Some(isize::MAX));
    table
}

/// Sets the field `name`, or removes it if `value` is `None`. Preserves the comment after a changed value.
fn set_field(table: &mut dyn TableLike, name: &str, value: Option<Value>) {
    match (value, table.get_mut(name)) {
        (None, _) => {
            table.remove(name);
        }
        (Some(mut value), Some(Item::Value(old))) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        (Some(value), _) => {
            table.insert(name, Item::Value(value));
        }
    }
}

/// Who can access a written file.
enum FileAccess {
    /// Only the owner, if the file system supports permissions.
    OwnerIfSupported,
    /// Only the owner. Writing fails if the file system doesn't support permissions.
    OwnerOnlyOrFail,
    /// The same permissions as the file that is replaced.
    Unchanged(fs::Permissions),
}

/// Writes the file atomically: a reader sees either the old text or the new text. If `replace_existing` is false and
/// the file exists, fails with `AlreadyExists`. If `access` is [`FileAccess::OwnerOnlyOrFail`] but other users could
/// read the file, fails with `InvalidData`.
fn write_atomically(path: &Path, text: &str, replace_existing: bool, access: FileAccess) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_config_folder(folder)?;
    let mut new = NamedTempFile::new_in(folder)?;
    // Set the permissions, because the umask may have removed even those of the owner.
    #[cfg(unix)]
    new.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    match access {
        FileAccess::OwnerOnlyOrFail if file::others_can_read(new.as_file())? => {
            return Err(io::Error::from(ErrorKind::InvalidData));
        }
        FileAccess::Unchanged(before) => new.as_file().set_permissions(before)?,
        FileAccess::OwnerOnlyOrFail | FileAccess::OwnerIfSupported => {}
    }
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    if replace_existing { new.persist(path) } else { new.persist_noclobber(path) }?;
    if let Ok(folder) = File::open(folder) {
        // Makes sure that the new file name survives a power failure. Not every file system supports that.
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Creates a folder that only its owner can access. Doesn't change an existing folder.
fn create_config_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    #[cfg(unix)]
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(())
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
