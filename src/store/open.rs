//! The data folder and the file in it: made with narrow permissions, opened, and repaired when it is damaged.
//!
//! A folder that can't be written still gives a store to read from. What is inside the file is `schema`'s business.

use super::error::StoreError;
use super::salvage::{self, Recovered};
use super::{Opened, schema};
use crate::model::Time;
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The store's file in the data folder.
pub const FILE: &str = "docdeck.db";
/// Left by a call that met a damaged page: the next opening reads every page.
const DAMAGE_NOTE: &str = "docdeck.db-damaged";
/// Held while a damaged file is repaired, so that two processes don't do it at once.
const REPAIR_LOCK: &str = "docdeck.db-moving";
/// What can be read of a damaged file is recovered into this one.
const UNFINISHED: &str = "docdeck.db-recovering";

/// Where a call leaves word that it met a damaged page.
pub(super) fn damage_note(folder: &Path) -> PathBuf {
    folder.join(DAMAGE_NOTE)
}

/// Whether there is a store in `folder`.
pub(super) fn is_there(folder: &Path) -> bool {
    folder.join(FILE).exists()
}

/// The same, told apart from a folder that can't be looked into.
pub(super) fn look_for(folder: &Path) -> std::io::Result<bool> {
    match std::fs::metadata(folder.join(FILE)) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens the file in `folder` to read it: with the right to write only where a process that was killed left a journal
/// to be rolled back.
pub(super) fn to_read(folder: &Path, may_roll_back: bool) -> Result<Connection, StoreError> {
    let path = folder.join(FILE);
    let access = if may_roll_back { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(&path, flags)
        .map_err(|_| StoreError::Unusable(format!("{} can't be opened", path.display())))
}

/// Opens the store in `folder` to be looked into, if it is there and of the known schema; waits for nobody.
pub(super) fn peek(folder: &Path) -> Result<Connection, StoreError> {
    let connection = to_read(folder, false)?;
    schema::prepare(&connection)?;
    connection.busy_timeout(std::time::Duration::ZERO)?;
    if schema::check_owner(&connection, folder)? != schema::known() {
        return Err(StoreError::Unusable(format!("the store in {} is of another schema", folder.display())));
    }
    Ok(connection)
}

/// Whether an opening tries if writes get through, or leaves that for later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    Tried,
    Untried,
}

/// Opens or makes the store in `folder`. `now` dates the name of a damaged file.
pub(super) fn open(folder: &Path, now: Time, writing: Writing) -> Result<(Connection, Opened), StoreError> {
    if make_folder(folder).is_err() && !folder.is_dir() {
        return nothing_to_write_to();
    }
    let path = folder.join(FILE);
    let note = damage_note(folder);
    match open_file(&path, note.exists(), writing) {
        Err(StoreError::Damaged) => {}
        other => {
            if note.exists() && other.is_ok() {
                let _ = fs::remove_file(&note);
            }
            return other;
        }
    }
    repair(folder, now, writing).map_err(|error| match error {
        StoreError::ReadOnly => StoreError::Unusable(format!("{FILE} is damaged and its folder can't be written")),
        StoreError::Full | StoreError::Refused => {
            StoreError::Unusable(format!("{FILE} is damaged and the disk has no space for what can be recovered"))
        }
        other => other,
    })
}

/// Repairs a damaged file, unless another process has done so by now: rebuilds its indexes if nothing else is wrong with it,
/// otherwise recovers what can be read into a new file and keeps the damaged one beside it.
fn repair(folder: &Path, now: Time, writing: Writing) -> Result<(Connection, Opened), StoreError> {
    let lock = for_us_alone().create(true).truncate(false).open(folder.join(REPAIR_LOCK))?;
    // On a file system without locks, two processes that start at this very moment are rarer than a damaged file.
    let _ = lock.lock();
    let (path, note) = (folder.join(FILE), damage_note(folder));
    match open_file(&path, note.exists(), writing) {
        Err(StoreError::Damaged) => {}
        other => return other,
    }
    if let Ok((mut connection, opened)) = open_file(&path, false, writing)
        && let Ok(rebuilt) = schema::rebuild_indexes(&mut connection)
    {
        let _ = fs::remove_file(&note);
        return Ok((connection, Opened { rebuilt, ..opened }));
    }
    let (aside, recovered) = recover(folder, now).inspect_err(|_| remove_unfinished(folder))?;
    let _ = fs::remove_file(&note);
    let (connection, opened) = open_file(&path, false, writing)?;
    Ok((connection, Opened { moved_aside: Some(aside), recovered, ..opened }))
}

/// Recovers into a file of its own and puts that in the place of the damaged one, whose new name it gives. Whenever this is
/// interrupted, either the damaged file or the complete new one is in place.
fn recover(folder: &Path, now: Time) -> Result<(PathBuf, Recovered), StoreError> {
    remove_unfinished(folder);
    let (path, new) = (folder.join(FILE), folder.join(UNFINISHED));
    let found = salvage::read(&path)?;
    create(&new)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&new, flags)?;
    schema::prepare(&connection)?;
    schema::migrate(&mut connection)?;
    let recovered = salvage::write(&mut connection, &found, now)?;
    connection.close().map_err(|(_, error)| error)?;
    let aside = keep_aside(folder, now)?;
    fs::rename(new, path)?;
    sync(folder);
    Ok((aside, recovered))
}

/// Removes what an interrupted recovery has left.
fn remove_unfinished(folder: &Path) {
    for name in [UNFINISHED.to_owned(), format!("{UNFINISHED}-journal")] {
        let _ = fs::remove_file(folder.join(name));
    }
}

/// An empty store in memory that takes nothing: the dashboard runs, and says that it can't send.
fn nothing_to_write_to() -> Result<(Connection, Opened), StoreError> {
    Ok((in_memory()?, Opened { read_only: true, ..Opened::default() }))
}

/// A store in memory with the known schema.
pub(super) fn in_memory() -> Result<Connection, StoreError> {
    let mut connection = Connection::open_in_memory()?;
    schema::prepare(&connection)?;
    schema::migrate(&mut connection)?;
    Ok(connection)
}

fn open_file(path: &Path, every_page: bool, writing: Writing) -> Result<(Connection, Opened), StoreError> {
    match create(path) {
        Ok(()) => {}
        Err(_) if path.exists() => {}
        // No room or no right to make it: the dashboard runs nevertheless.
        Err(_) => return nothing_to_write_to(),
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // SQLite itself falls back to reading when the file can't be written.
    let mut connection = Connection::open_with_flags(path, flags)
        .map_err(|_| StoreError::Unusable(format!("{} can't be opened", path.display())))?;
    schema::prepare(&connection)?;
    let found = schema::check_owner(&connection, path)?;
    let mut read_only = connection.is_readonly(rusqlite::MAIN_DB)?;
    if !read_only {
        narrow_file(path);
        let prepared = schema::use_rollback_journal(&connection);
        let is_old = found < schema::known();
        match prepared.and_then(|()| if is_old { schema::migrate(&mut connection) } else { Ok(()) }) {
            Ok(()) => {}
            Err(StoreError::ReadOnly) => read_only = true,
            Err(StoreError::Full | StoreError::Refused) if found == 0 => return nothing_to_write_to(),
            Err(error) => return Err(error),
        }
    }
    if read_only && found == 0 {
        return nothing_to_write_to();
    }
    if read_only && found < schema::known() {
        return Err(StoreError::Older { path: path.to_owned(), found, known: schema::known() });
    }
    schema::check_sound(&connection, every_page)?;
    let read_only = read_only || writing == Writing::Tried && !schema::is_writable(&mut connection)?;
    Ok((connection, Opened { read_only, ..Opened::default() }))
}

/// Makes the file, before SQLite would make it with wider permissions. An existing file is never opened here: closing
/// it again would drop the locks that SQLite holds on it in this process.
fn create(path: &Path) -> io::Result<()> {
    match for_us_alone().create_new(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// To write a file that nobody else can read, if it is made now.
fn for_us_alone() -> OpenOptions {
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
    // A folder that holds other things as well (a home, /tmp) is not docdeck's to close; the file is narrow anyway.
    if mode & 0o077 != 0 && holds_only_ours(folder) {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn holds_only_ours(folder: &Path) -> bool {
    let is_ours = |name: &str| name.starts_with("docdeck") || name.ends_with(".lock");
    fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(is_ours)))
    })
}

#[cfg(unix)]
fn narrow_file(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let too_wide = fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0);
    if too_wide {
        // Somebody else's file that we may write: it stays as its owner wants it.
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
    }
}

#[cfg(not(unix))]
fn narrow_file(_path: &Path) {}

/// Gives the damaged file a second, dated name that is not taken yet, and its journal as well: a new file must not be rolled
/// back by the journal of the old one.
fn keep_aside(folder: &Path, now: Time) -> Result<PathBuf, StoreError> {
    let stem = format!("docdeck-corrupt-{}", now.format("%Y%m%d-%H%M%S"));
    let mut aside = folder.join(format!("{stem}.db"));
    let mut number = 2;
    while fs::symlink_metadata(&aside).is_ok() {
        aside = folder.join(format!("{stem}-{number}.db"));
        number += 1;
    }
    let path = folder.join(FILE);
    // A file system without hard links.
    fs::hard_link(&path, &aside).or_else(|_| fs::copy(&path, &aside).map(|_| ()))?;
    narrow_file(&aside);
    let journal = folder.join(format!("{FILE}-journal"));
    if fs::symlink_metadata(&journal).is_ok() {
        let mut name = aside.clone().into_os_string();
        name.push("-journal");
        fs::rename(journal, name)?;
    }
    sync(folder);
    Ok(aside)
}

/// Makes new names last; not every file system can.
fn sync(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
