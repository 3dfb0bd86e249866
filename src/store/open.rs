//! Creates the data folder and the store's file with narrow permissions, opens the file, and repairs a damaged file.
//!
//! If the folder can't be written, the store is opened for reading only. `schema` checks and migrates the tables of the
//! file.

use super::error::{StoreError, StoreResult};
use super::open_outcome::{OpenOutcome, RecoveryCounts};
use super::{Store, salvage, schema};
use crate::model::Time;
use rusqlite::{Connection, OpenFlags};
use std::convert::Infallible;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// The name of the store's file in the data folder.
pub const DATABASE_FILE: &str = "docdeck.db";
/// The name of the marker file that is created when a damaged page is found. While the marker exists, opening the store
/// checks every page.
const DAMAGE_MARKER: &str = "docdeck.db-damaged";
/// The file that is locked while a damaged store is repaired, so that no two processes repair it at the same time.
const REPAIR_LOCK: &str = "docdeck.db-moving";
/// The temporary name of the new file into which a damaged file is recovered.
const RECOVERY_FILE: &str = "docdeck.db-recovering";

/// Returns the path of the file that marks the store as damaged. While it exists, opening the store checks every page.
pub(super) fn damage_marker(folder: &Path) -> PathBuf {
    folder.join(DAMAGE_MARKER)
}

/// Delays the creation of the store of [`Store::in_memory_delayed`]: the store is created when this guard is dropped.
#[derive(Debug)]
pub struct StoreCreationHold {
    _hold: mpsc::Sender<Infallible>,
}

impl Store {
    /// Whether there is a store in `folder`, damaged or not. Creates nothing.
    pub fn exists(folder: &Path) -> bool {
        folder.join(DATABASE_FILE).exists()
    }

    /// Like [`Store::exists`], but fails if the folder can't be read.
    ///
    /// # Errors
    /// `folder` is not a folder, or this user may not read it.
    pub fn try_exists(folder: &Path) -> io::Result<bool> {
        folder.join(DATABASE_FILE).try_exists()
    }

    /// Opens [`DATABASE_FILE`] in `folder`, and creates both if they are missing (folder mode 0700, file mode 0600). If
    /// only indexes are damaged, rebuilds them. If anything else is damaged, recovers what can be read into a new file,
    /// and keeps the damaged file under a name that contains the date `now`. If the folder can't be written, existing
    /// data can still be read; without a file, the store is empty.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`], [`StoreError::OlderSchema`] (the file needs a migration, but can't be written) and
    /// [`StoreError::ForeignDatabase`]: the file is not changed. [`StoreError::Busy`]: another process has locked the
    /// file for longer than 5 s. [`StoreError::Unusable`]: the file can't be opened, or a damaged file can't be
    /// repaired.
    pub fn open(folder: &Path, now: Time) -> StoreResult<(Self, OpenOutcome)> {
        let (connection, opened) = open_or_create(folder, now, WriteCheckTime::Now)?;
        Ok((Self::start(connection, opened.is_read_only, Some(damage_marker(folder)))?, opened))
    }

    /// Checks every page of the file in `folder`. If the file is damaged, repairs it like [`Store::open`].
    ///
    /// # Errors
    /// The errors of [`Store::open`]; or the folder can't be written.
    pub async fn repair(folder: &Path, now: Time) -> StoreResult<OpenOutcome> {
        File::create(damage_marker(folder))?;
        let (store, opened) = Self::open(folder, now)?;
        store.close().await;
        Ok(opened)
    }

    /// Opens an existing store for reading only: creates, repairs, moves and migrates nothing, and doesn't wait for
    /// another process's lock.
    ///
    /// # Errors
    /// There is no store, another process has locked it, or its schema is not the current one ([`Store::open`] migrates
    /// an older schema).
    pub fn open_for_reading(folder: &Path) -> StoreResult<Self> {
        Self::start(open_for_reading(folder)?, true, None)
    }

    /// Creates an empty store in memory, for the demo, on the store's own thread. Calls made before the store exists
    /// wait until it does.
    ///
    /// # Errors
    /// The thread can't be started.
    pub fn in_memory() -> StoreResult<Self> {
        Self::start_in_memory(in_memory)
    }

    /// Like [`Store::in_memory`], but creates the store only when the returned [`StoreCreationHold`] is dropped. Until
    /// then, the store's thread needs no processor time.
    ///
    /// # Errors
    /// The thread can't be started.
    pub fn in_memory_delayed() -> StoreResult<(Self, StoreCreationHold)> {
        let (hold, released) = mpsc::channel();
        let create = move || {
            // Returns an error when the sender is dropped; nothing is ever sent.
            let _ = released.recv();
            in_memory()
        };
        Ok((Self::start_in_memory(create)?, StoreCreationHold { _hold: hold }))
    }
}

/// Opens the file in `folder` for reading. If a killed process left a journal, SQLite must undo the interrupted
/// transaction first, which writes to the file; `may_roll_back` allows that.
pub(super) fn connect_for_reading(folder: &Path, may_roll_back: bool) -> Result<Connection, StoreError> {
    let path = folder.join(DATABASE_FILE);
    let access = if may_roll_back { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(&path, flags)
        .map_err(|_| StoreError::Unusable(format!("{} can't be opened", path.display())))
}

/// Opens the store in `folder` for reading; doesn't wait for locks. Fails if there is no store or if it doesn't have
/// the current schema.
pub(super) fn open_for_reading(folder: &Path) -> Result<Connection, StoreError> {
    let connection = connect_for_reading(folder, false)?;
    schema::configure_connection(&connection, Duration::ZERO)?;
    if schema::check_version(&connection, folder)? != schema::supported_version() {
        return Err(StoreError::Unusable(format!("the database in {} has another schema", folder.display())));
    }
    Ok(connection)
}

/// When to check whether the store can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteCheckTime {
    /// While the store is opened.
    Now,
    /// When the caller asks for it.
    Later,
}

/// Opens or creates the store in `folder`. Repairs a damaged file; `now` becomes part of the name under which the
/// damaged file is kept. If the folder can't be created, returns an empty read-only store in memory.
pub(super) fn open_or_create(
    folder: &Path,
    now: Time,
    write_check: WriteCheckTime,
) -> Result<(Connection, OpenOutcome), StoreError> {
    if make_folder(folder).is_err() && !folder.is_dir() {
        return empty_read_only_store();
    }
    let path = folder.join(DATABASE_FILE);
    let marker = damage_marker(folder);
    match open_database(&path, marker.exists(), write_check) {
        Err(StoreError::Damaged) => {}
        other => {
            if marker.exists() && other.is_ok() {
                let _ = fs::remove_file(&marker);
            }
            return other;
        }
    }
    repair(folder, now, write_check).map_err(|error| match error {
        StoreError::ReadOnly => {
            StoreError::Unusable(format!("{DATABASE_FILE} is damaged, and its folder can't be written"))
        }
        StoreError::DiskFull | StoreError::WriteRefused => {
            StoreError::Unusable(format!("{DATABASE_FILE} is damaged, and the disk has no space to recover it"))
        }
        other => other,
    })
}

/// Repairs a damaged file, unless another process has just repaired it. If only indexes are damaged, rebuilds them;
/// otherwise recovers what can be read into a new file and keeps the damaged file beside it.
fn repair(folder: &Path, now: Time, write_check: WriteCheckTime) -> Result<(Connection, OpenOutcome), StoreError> {
    let lock = private_file_options().create(true).truncate(false).open(folder.join(REPAIR_LOCK))?;
    // If the file system has no locks, repair without one: it is very unlikely that two processes repair at the same
    // moment.
    let _ = lock.lock();
    let (path, marker) = (folder.join(DATABASE_FILE), damage_marker(folder));
    match open_database(&path, marker.exists(), write_check) {
        Err(StoreError::Damaged) => {}
        other => return other,
    }
    if let Ok((mut connection, opened)) = open_database(&path, false, write_check)
        && let Ok(rebuilt) = schema::rebuild_damaged_indexes(&mut connection)
    {
        let _ = fs::remove_file(&marker);
        return Ok((connection, OpenOutcome { has_rebuilt_indexes: rebuilt, ..opened }));
    }
    let (damaged_file, recovered) = recover(folder, now).inspect_err(|_| remove_recovery_files(folder))?;
    let _ = fs::remove_file(&marker);
    let (connection, opened) = open_database(&path, false, write_check)?;
    Ok((connection, OpenOutcome { damaged_file: Some(damaged_file), recovery_counts: recovered, ..opened }))
}

/// Recovers the data of the damaged file into a new file that takes its place. Returns the path to which the damaged
/// file was moved. If this is interrupted, either the damaged file or the complete new file is in place.
fn recover(folder: &Path, now: Time) -> Result<(PathBuf, RecoveryCounts), StoreError> {
    remove_recovery_files(folder);
    let (path, new) = (folder.join(DATABASE_FILE), folder.join(RECOVERY_FILE));
    let found = salvage::salvage_tables(&path)?;
    create_if_missing(&new)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&new, flags)?;
    schema::configure_connection(&connection, schema::LOCK_TIMEOUT)?;
    schema::migrate(&mut connection)?;
    let recovered = salvage::write_recovered_rows(&mut connection, &found, now)?;
    connection.close().map_err(|(_, error)| error)?;
    let damaged_file = preserve_damaged_file(folder, now)?;
    fs::rename(new, path)?;
    sync_folder(folder);
    Ok((damaged_file, recovered))
}

/// Removes the files of an interrupted recovery.
fn remove_recovery_files(folder: &Path) {
    for name in [RECOVERY_FILE.to_owned(), format!("{RECOVERY_FILE}-journal")] {
        let _ = fs::remove_file(folder.join(name));
    }
}

/// Returns an empty read-only store in memory, so that the dashboard runs and shows that it can't send.
fn empty_read_only_store() -> Result<(Connection, OpenOutcome), StoreError> {
    Ok((in_memory()?, OpenOutcome { is_read_only: true, ..OpenOutcome::default() }))
}

/// Returns an empty store in memory with the current schema.
pub(super) fn in_memory() -> Result<Connection, StoreError> {
    let mut connection = Connection::open_in_memory()?;
    schema::configure_connection(&connection, schema::LOCK_TIMEOUT)?;
    schema::migrate(&mut connection)?;
    Ok(connection)
}

fn open_database(
    path: &Path,
    check_every_page: bool,
    write_check: WriteCheckTime,
) -> Result<(Connection, OpenOutcome), StoreError> {
    match create_if_missing(path) {
        Ok(()) => {}
        Err(_) if path.exists() => {}
        // There is no space or no permission to create the file; the dashboard runs nevertheless.
        Err(_) => return empty_read_only_store(),
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // If the file can't be written, SQLite itself opens it for reading only.
    let mut connection = Connection::open_with_flags(path, flags)
        .map_err(|_| StoreError::Unusable(format!("{} can't be opened", path.display())))?;
    schema::configure_connection(&connection, schema::LOCK_TIMEOUT)?;
    let found = schema::check_version(&connection, path)?;
    let mut is_read_only = connection.is_readonly(rusqlite::MAIN_DB)?;
    if !is_read_only {
        restrict_permissions(path);
        schema::enable_secure_delete(&connection)?;
        let prepared = schema::use_rollback_journal(&connection);
        let is_old = found < schema::supported_version();
        match prepared.and_then(|()| if is_old { schema::migrate(&mut connection) } else { Ok(()) }) {
            Ok(()) => {}
            Err(StoreError::ReadOnly) => is_read_only = true,
            Err(StoreError::DiskFull | StoreError::WriteRefused) if found == 0 => return empty_read_only_store(),
            Err(error) => return Err(error),
        }
    }
    if is_read_only && found == 0 {
        return empty_read_only_store();
    }
    if is_read_only && found < schema::supported_version() {
        return Err(StoreError::OlderSchema { path: path.to_owned(), found, supported: schema::supported_version() });
    }
    schema::check_readable(&connection, check_every_page)?;
    let is_read_only =
        is_read_only || write_check == WriteCheckTime::Now && !schema::is_store_writable(&mut connection)?;
    Ok((connection, OpenOutcome { is_read_only, ..OpenOutcome::default() }))
}

/// Creates the file, since SQLite would create it with wider permissions. An existing file is never opened here:
/// closing it again would drop the locks that SQLite holds on it in this process.
fn create_if_missing(path: &Path) -> io::Result<()> {
    match private_file_options().create_new(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Returns the options for opening a file to write to it. If the file is created, only its owner can read it.
fn private_file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mode = fs::metadata(folder)?.permissions().mode();
    // A folder that also contains files of other programs (a home, /tmp) keeps its permissions; only the owner can read
    // the store's file anyway.
    if mode & 0o077 != 0 && contains_only_our_files(folder) {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn contains_only_our_files(folder: &Path) -> bool {
    let is_ours = |name: &str| name.starts_with("docdeck") || name.ends_with(".lock");
    fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(is_ours)))
    })
}

#[cfg(unix)]
fn restrict_permissions(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let is_too_wide = fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0);
    if is_too_wide {
        // This fails for a file of another user, which keeps its permissions.
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
    }
}

#[cfg(not(unix))]
fn restrict_permissions(_path: &Path) {}

/// Copies or links the damaged file to a new name that contains the date `now`, and renames its journal accordingly:
/// otherwise SQLite would apply the journal to the recovered file.
fn preserve_damaged_file(folder: &Path, now: Time) -> Result<PathBuf, StoreError> {
    let stem = format!("docdeck-corrupt-{}", now.format("%Y%m%d-%H%M%S"));
    let mut damaged_file = folder.join(format!("{stem}.db"));
    let mut number = 2;
    while fs::symlink_metadata(&damaged_file).is_ok() {
        damaged_file = folder.join(format!("{stem}-{number}.db"));
        number += 1;
    }
    let path = folder.join(DATABASE_FILE);
    // The file system may not support hard links.
    fs::hard_link(&path, &damaged_file).or_else(|_| fs::copy(&path, &damaged_file).map(|_| ()))?;
    restrict_permissions(&damaged_file);
    let journal = folder.join(format!("{DATABASE_FILE}-journal"));
    if fs::symlink_metadata(&journal).is_ok() {
        let mut name = damaged_file.clone().into_os_string();
        name.push("-journal");
        fs::rename(journal, name)?;
    }
    sync_folder(folder);
    Ok(damaged_file)
}

/// Waits until the new file names in the folder are on disk, if the file system supports this.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
