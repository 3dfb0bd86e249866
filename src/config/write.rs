//! Creates `config.toml` with an example of every setting, or changes a profile, filter or theme in an existing file. A
//! change preserves all other text and comments. When docdeck creates the file or writes a profile into it, the file
//! becomes readable only for its owner.

use super::error::ConfigError;
use super::file::{self, system_message};
use super::positions::Mistake;
use crate::model::endpoint::ApiKey;
use crate::model::setup::{DEFAULT_BASE_URL, KeySourceInput, NewProfile, WritePermission};
use crate::model::text::CleanText;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Key, Table, TableLike, Value};
use zeroize::Zeroizing;

/// The end of a new file: examples of settings, commented out.
const COMMENTED_EXAMPLES: &str = include_str!("../../assets/config/rest.toml");
/// The first line of a new file.
const NEW_FILE_HEADER: &str = "# docdeck's settings. An option overrides the environment, which overrides this file.\n";
/// The error message if the TOML editor can't parse the file.
const UNCHANGEABLE: &str = "it can't be changed without changing other settings in it";
/// The maximum number of names to try for the temporary file.
const MAX_TEMPORARY_NAMES: u32 = 100;

/// The reason why the file was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The file or profile already exists. `needs` is the permission that is required to change it.
    #[error("{}", already_exists_message(path, *.needs))]
    AlreadyExists { path: PathBuf, needs: WritePermission },
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

fn already_exists_message(path: &Path, needs: WritePermission) -> String {
    let path = path.display();
    match needs {
        WritePermission::Change => format!("{path} already has this profile. It was not changed."),
        _ => format!("{path} already exists. It was not changed."),
    }
}

/// Returns the permission that is required to write the profile `profile` into the file at `path`.
///
/// # Errors
/// Fails if the file exists but can't be read or is invalid.
pub fn required_permission(path: &Path, profile: &str) -> Result<WritePermission, ConfigError> {
    Ok(match file::read_config_file(path)? {
        None => WritePermission::Nothing,
        Some(found) if found.file.profiles.contains_key(profile) => WritePermission::Change,
        Some(_) => WritePermission::Add,
    })
}

/// Writes the profile into the file at `path`, and creates the file if it doesn't exist.
///
/// # Errors
/// Fails without changing the file if `allowed` doesn't permit the change, or if the file can't be read or written.
pub fn write_profile(path: &Path, profile: &NewProfile, allowed: WritePermission) -> Result<(), WriteError> {
    let needs = required_permission(path, &profile.name)?;
    if needs > allowed {
        return Err(WriteError::AlreadyExists { path: path.into(), needs });
    }
    let unwritable = |error: io::Error| match error.kind() {
        ErrorKind::AlreadyExists => WriteError::AlreadyExists { path: path.into(), needs: WritePermission::Add },
        ErrorKind::InvalidData => WriteError::ReadableByOthers { path: path.into() },
        _ => WriteError::Unwritable { path: path.into(), why: system_message(&error) },
    };
    let access = if matches!(profile.key, KeySourceInput::Typed(_)) {
        FileAccess::OwnerOnlyOrFail
    } else {
        FileAccess::OwnerIfSupported
    };
    if needs == WritePermission::Nothing {
        return write_atomically(path, &new_file_text(profile), false, access).map_err(unwritable);
    }
    // If the path is a symbolic link, replace the file that it points to.
    let real = path.canonicalize().map_err(unwritable)?;
    let old = Zeroizing::new(fs::read_to_string(&real).map_err(unwritable)?);
    let text = text_with_profile(path, &old, profile)?;
    write_atomically(&real, &text, true, access).map_err(unwritable)
}

/// Writes a filter into the file at `path`, and creates the file if it doesn't exist. If `replace` is true, the new
/// filter replaces a filter of the same name.
///
/// # Errors
/// Fails without changing the file if the file is invalid or can't be written, or if it contains a filter of the same
/// name and `replace` is false.
pub fn save_filter(path: &Path, name: &str, filter: &str, replace: bool) -> Result<(), WriteError> {
    edit_file(path, |document| {
        let filters = document.entry("filters").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        let has_name = |item: Option<&Item>| item.and_then(Item::as_str) == Some(name);
        let exists = || WriteError::FilterExists { path: path.into(), name: CleanText::line(name) };
        if let Some(tables) = filters.as_array_of_tables_mut() {
            if let Some(table) = tables.iter_mut().find(|table| has_name(table.get("name"))) {
                if !replace {
                    return Err(exists());
                }
                set_field(table, "filter", Some(filter.into()));
                return Ok(());
            }
            let mut table = Table::new();
            table.decor_mut().set_prefix("\n");
            set_field(&mut table, "name", Some(name.into()));
            set_field(&mut table, "filter", Some(filter.into()));
            tables.push(table);
        } else if let Some(array) = filters.as_array_mut() {
            let is_same = |table: &InlineTable| table.get("name").and_then(Value::as_str) == Some(name);
            let index = array.iter().position(|value| value.as_inline_table().is_some_and(is_same));
            if let Some(table) = index.and_then(|index| array.get_mut(index)).and_then(Value::as_inline_table_mut) {
                if !replace {
                    return Err(exists());
                }
                set_field(table, "filter", Some(filter.into()));
                return Ok(());
            }
            array.push(InlineTable::from_iter([("name", Value::from(name)), ("filter", Value::from(filter))]));
        }
        Ok(())
    })
}

/// Sets the theme in the file at `path`, and creates the file if it doesn't exist.
///
/// # Errors
/// Fails without changing the file if the file is invalid or can't be written.
pub fn save_theme(path: &Path, theme: &str) -> Result<(), WriteError> {
    edit_file(path, |document| {
        if let Some(ui) = document.entry("ui").or_insert_with(new_table).as_table_like_mut() {
            set_field(ui, "theme", Some(theme.into()));
        }
        Ok(())
    })
}

/// Applies `change` to the file at `path`, and creates the file if it doesn't exist. Preserves the comments, order and
/// permissions of an existing file. Validates the new text before it replaces the old text.
fn edit_file(path: &Path, change: impl FnOnce(&mut DocumentMut) -> Result<(), WriteError>) -> Result<(), WriteError> {
    let unwritable = |error: io::Error| WriteError::Unwritable { path: path.into(), why: system_message(&error) };
    if file::read_config_file(path)?.is_none() {
        let mut document = DocumentMut::new();
        change(&mut document)?;
        return write_atomically(
            path,
            &format!("{NEW_FILE_HEADER}{document}\n{COMMENTED_EXAMPLES}"),
            false,
            FileAccess::OwnerIfSupported,
        )
        .map_err(unwritable);
    }
    let real = path.canonicalize().map_err(unwritable)?;
    let access = FileAccess::Unchanged(fs::metadata(&real).map_err(unwritable)?.permissions());
    let old = Zeroizing::new(fs::read_to_string(&real).map_err(unwritable)?);
    let wrong = |mistake: Mistake| mistake.into_config_error(path);
    let mut document: DocumentMut = old.parse().map_err(|_| wrong(Mistake::at(&old, 0, UNCHANGEABLE)))?;
    change(&mut document)?;
    let text = Zeroizing::new(document.to_string());
    file::parse(&text).map_err(wrong)?;
    write_atomically(&real, &text, true, access).map_err(unwritable)
}

/// Returns the text of a new configuration file that contains the profile.
fn new_file_text(profile: &NewProfile) -> Zeroizing<String> {
    let quoted = |text: &str| Value::from(text).to_string();
    let name = Key::new(&profile.name).to_string();
    let mut head = format!(
        "{NEW_FILE_HEADER}\n\
         default_profile = {}\n\n\
         # Run for each change of a job, without a shell, with the job as JSON on its stdin.\n\
         #on_change = [\"sh\", \"-c\", \"jq -r .title | curl -s -d @- https://ntfy.sh/my-docs-jobs\"]\n\n\
         [profiles.{name}]\nproject_id = {}\n",
        quoted(&profile.name),
        quoted(&profile.project),
    );
    match &profile.base_url {
        Some(url) => head.push_str(&format!("base_url = {}\n", quoted(url))),
        None => head.push_str(&format!("#base_url = {}\n", quoted(DEFAULT_BASE_URL))),
    }
    match &profile.organization {
        Some(organization) => head.push_str(&format!("organization = {}\n", quoted(organization))),
        None => head.push_str("#organization = \"…\"    # if several projects share the page view limit\n"),
    }
    match &profile.ca_file {
        Some(file) => head.push_str(&format!("ca_file = {}\n", quoted(&file.to_string_lossy()))),
        None => {
            head.push_str("#ca_file = \"corp-ca.pem\"    # certificates (PEM) trusted in addition to the system's\n")
        }
    }
    head.push_str(
        "# One source of the key: a program (run without a shell), a file that only you can read, or the key itself.\n",
    );
    let mut key = Zeroizing::new(String::new());
    match &profile.key {
        KeySourceInput::SetElsewhere => head.push_str(
            "# This profile uses DOCDECK_API_KEY from the environment, which overrides the other sources.\n\
             #api_key_command = [\"pass\", \"show\", \"docdeck\"]\n#api_key_file = \"~/.secrets/docdeck\"\n",
        ),
        KeySourceInput::Command(words) => head.push_str(&format!("api_key_command = {}\n", toml_array(words))),
        KeySourceInput::File(path) => head.push_str(&format!("api_key_file = {}\n", quoted(&path.to_string_lossy()))),
        KeySourceInput::Typed(typed) => key = api_key_line(typed),
    }
    let mut text = Zeroizing::new(String::with_capacity(head.len() + key.len() + COMMENTED_EXAMPLES.len() + 1));
    text.push_str(&head);
    text.push_str(&key);
    text.push('\n');
    text.push_str(COMMENTED_EXAMPLES);
    text
}

/// Returns the line `api_key = "…"`. Reserves enough space, because a buffer that grows leaves copies of the API key in
/// memory that are never wiped.
fn api_key_line(key: &ApiKey) -> Zeroizing<String> {
    let mut line = Zeroizing::new(String::with_capacity(2 * key.expose().len() + 16));
    line.push_str("api_key = \"");
    push_escaped_key(key, &mut line);
    line.push_str("\"\n");
    line
}

/// Appends the API key to `into`, escaped for a TOML string. An API key contains only printable ASCII, so quotes and
/// backslashes are the only characters to escape.
fn push_escaped_key(key: &ApiKey, into: &mut String) {
    for c in key.expose().chars() {
        if matches!(c, '"' | '\\') {
            into.push('\\');
        }
        into.push(c);
    }
}

/// Formats the words as a TOML array.
fn toml_array(words: &[String]) -> String {
    words.iter().collect::<Array>().to_string()
}

/// Returns the text `old` with the profile added or changed. Preserves all other text and comments. Writes no file;
/// `path` is only used in errors.
///
/// # Errors
/// Fails if the profile can't be written into the text.
pub fn text_with_profile(path: &Path, old: &str, profile: &NewProfile) -> Result<Zeroizing<String>, ConfigError> {
    insert_profile(old, profile).map_err(|mistake| mistake.into_config_error(path))
}

fn insert_profile(old: &str, profile: &NewProfile) -> Result<Zeroizing<String>, Mistake> {
    let wrong = |what: &str| Mistake::at(old, 0, what);
    let mut document: DocumentMut = old.parse().map_err(|_| wrong(UNCHANGEABLE))?;
    let profiles = document.entry("profiles").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let is_inline = profiles.is_inline_table();
    let profiles = profiles.as_table_like_mut().ok_or_else(|| wrong("profiles is not a table"))?;
    let table = profiles
        .entry(&profile.name)
        .or_insert_with(|| if is_inline { Item::Value(Value::InlineTable(Default::default())) } else { new_table() });
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
        push_escaped_key(key, &mut with_key);
        with_key.push_str(after);
        text = with_key;
    }
    // Make sure that docdeck can read the new text.
    file::parse(&text).map(|_| text)
}

/// Returns an empty table with a blank line before its header.
fn new_table() -> Item {
    let mut table = Table::new();
    table.decor_mut().set_prefix("\n");
    Item::Table(table)
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
    let (mut file, new) = create_temporary_file(path)?;
    let protected = match &access {
        FileAccess::OwnerOnlyOrFail => file::others_can_read(&file)
            .and_then(|readable| if readable { Err(io::Error::from(ErrorKind::InvalidData)) } else { Ok(()) }),
        FileAccess::Unchanged(before) => file.set_permissions(before.clone()),
        FileAccess::OwnerIfSupported => Ok(()),
    };
    let written = protected.and_then(|()| file.write_all(text.as_bytes())).and_then(|()| file.sync_all());
    let done = written
        .and_then(|()| if replace_existing { fs::rename(&new, path) } else { rename_without_replacing(&new, path) });
    // Remove the temporary file. After a rename it no longer exists, so an error is ignored.
    let _ = fs::remove_file(&new);
    done?;
    if let Ok(folder) = File::open(folder) {
        // Makes sure that the new file name survives a power failure. Not every file system supports that.
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Gives the file `new` the name `path`. Fails with `AlreadyExists` if `path` already exists.
fn rename_without_replacing(new: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(new, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            // The file system doesn't support hard links. Check and then rename, although the two steps are not atomic.
            if fs::symlink_metadata(path).is_ok() {
                return Err(io::Error::from(ErrorKind::AlreadyExists));
            }
            fs::rename(new, path)
        }
        done => done,
    }
}

/// Creates a temporary file next to `path`. Only the owner can read the temporary file, whatever the umask is.
fn create_temporary_file(path: &Path) -> io::Result<(File, PathBuf)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for n in 0..MAX_TEMPORARY_NAMES {
        let new = path.with_file_name(format!(".{name}.{}-{n}.new", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&new) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => {
                #[cfg(unix)]
                file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
                return Ok((file, new));
            }
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "no free name for a temporary file"))
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
