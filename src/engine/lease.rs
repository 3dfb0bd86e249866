//! Leases (which instance on this computer polls and which dispatches) and instance locks (which
//! instances are alive): OS file locks, which the kernel frees when their holder dies.

use crate::model::endpoint::Scope;
use std::collections::hash_map::RandomState;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many names an instance tries at its start: a name is lost only if another instance cleans up
/// at that very moment.
const NAME_ATTEMPTS: u32 = 16;

/// A task that only one instance does for a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseRole {
    /// Checking jobs.
    Poll,
    /// Sending queued prompts.
    Dispatch,
}

impl LeaseRole {
    fn name(self) -> &'static str {
        match self {
            Self::Poll => "poll",
            Self::Dispatch => "dispatch",
        }
    }
}

/// The roles that an instance takes when they are free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseRoles {
    /// Polls and dispatches: a dashboard, or a command that waits for its batch.
    All,
    /// Only polls: a command that waits for jobs.
    Poll,
    /// Neither: a command that ends after a request or two.
    None,
}

impl LeaseRoles {
    pub(super) fn include(self, role: LeaseRole) -> bool {
        match self {
            Self::All => true,
            Self::Poll => role == LeaseRole::Poll,
            Self::None => false,
        }
    }
}

#[derive(Debug, Default)]
struct HeldLeases {
    poll: Option<HeldLease>,
    dispatch: Option<HeldLease>,
    /// Between `release` and `allow`: no lease may be taken.
    forbidden: bool,
    /// The service refuses this instance's key; another instance may have a valid one.
    yields_polling: bool,
}

/// A lease that is held; dropping the file releases it.
#[derive(Debug)]
enum HeldLease {
    Locked {
        _file: File,
    },
    /// Alone by construction, or on a file system without locks.
    Unlocked,
}

#[derive(Debug)]
pub(super) struct Leases {
    folder: Option<PathBuf>,
    scope: Scope,
    roles: LeaseRoles,
    held: Mutex<HeldLeases>,
}

impl Leases {
    /// Without a folder this instance is alone and gets every lease of its roles.
    pub(super) fn new(folder: Option<PathBuf>, scope: &Scope, roles: LeaseRoles) -> Self {
        Self { folder, scope: scope.clone(), roles, held: Mutex::new(HeldLeases::default()) }
    }

    /// Whether this instance holds the lease.
    pub(super) fn holds(&self, role: LeaseRole) -> bool {
        slot(&mut self.lock(), role).is_some()
    }

    /// Tries to take the lease. Returns true if this instance holds it now, newly or already.
    ///
    /// If files can't be locked at all, the lease is taken without a lock: doing work twice is better
    /// than not doing it, and the store prevents what must not happen twice.
    pub(super) fn try_take(&self, role: LeaseRole) -> bool {
        let mut held = self.lock();
        if !self.may_take(&held, role) {
            return false;
        }
        let slot = slot(&mut held, role);
        if slot.is_none() {
            *slot = match &self.folder {
                None => Some(HeldLease::Unlocked),
                Some(folder) => match lock_file(&lease_path(folder, role, &self.scope), true) {
                    Ok(file) => Some(HeldLease::Locked { _file: file }),
                    Err(LockFailure::Taken) => None,
                    Err(LockFailure::Missing | LockFailure::Unusable) => Some(HeldLease::Unlocked),
                },
            };
        }
        slot.is_some()
    }

    /// Whether this instance lacks a lease that it may take.
    pub(super) fn lacks_any(&self) -> bool {
        let mut held = self.lock();
        [LeaseRole::Poll, LeaseRole::Dispatch]
            .into_iter()
            .any(|role| self.may_take(&held, role) && slot(&mut held, role).is_none())
    }

    fn may_take(&self, held: &HeldLeases, role: LeaseRole) -> bool {
        !held.forbidden && self.roles.include(role) && !(held.yields_polling && role == LeaseRole::Poll)
    }

    /// Releases all leases and takes none until [`Leases::allow`].
    pub(super) fn release(&self) {
        let mut held = self.lock();
        *held = HeldLeases { forbidden: true, yields_polling: held.yields_polling, ..HeldLeases::default() };
    }

    /// Whether there can be no other instance.
    pub(super) fn is_alone(&self) -> bool {
        self.folder.is_none()
    }

    /// Whether to leave polling to other instances, because the service refuses this instance's key.
    pub(super) fn yield_polling(&self, yields_polling: bool) {
        let mut held = self.lock();
        held.yields_polling = yields_polling;
        if yields_polling {
            held.poll = None;
        }
    }

    /// Allows taking leases again.
    pub(super) fn allow(&self) {
        self.lock().forbidden = false;
    }

    fn lock(&self) -> MutexGuard<'_, HeldLeases> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn slot(held: &mut HeldLeases, role: LeaseRole) -> &mut Option<HeldLease> {
    match role {
        LeaseRole::Poll => &mut held.poll,
        LeaseRole::Dispatch => &mut held.dispatch,
    }
}

/// This process under its name in the store, alive as long as its lock file is locked.
#[derive(Debug)]
pub(super) struct Instance {
    name: String,
    lock: Mutex<Option<(PathBuf, File)>>,
    folder: Option<PathBuf>,
}

impl Instance {
    /// Picks a unique name and, with a folder, locks the instance's lock file. `Err` means that there
    /// is no lock; the name is valid anyway.
    pub(super) fn begin(folder: Option<PathBuf>) -> (Self, io::Result<()>) {
        let mut instance = Self { name: new_name(), lock: Mutex::new(None), folder };
        let Some(folder) = instance.folder.clone() else { return (instance, Ok(())) };
        remove_stale_locks(&folder);
        let mut result = Err(LockFailure::Missing);
        for _ in 0..NAME_ATTEMPTS {
            let path = lock_path(&folder, &instance.name);
            result = lock_file(&path, true).and_then(|file| {
                // Another instance may have cleaned up between creating and locking the file.
                if path.exists() { Ok((path, file)) } else { Err(LockFailure::Missing) }
            });
            match result {
                Err(LockFailure::Missing | LockFailure::Taken) => instance.name = new_name(),
                Ok(_) | Err(LockFailure::Unusable) => break,
            }
        }
        match result {
            Ok(locked) => {
                instance.lock = Mutex::new(Some(locked));
                (instance, Ok(()))
            }
            Err(why) => (instance, Err(io::Error::other(format!("{why:?}")))),
        }
    }

    /// The name in the store.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the instance of that name has ended: its lock file is gone or can be locked. If in
    /// doubt, it is alive.
    pub(super) fn is_dead(&self, name: &str) -> bool {
        if name == self.name {
            return false;
        }
        // A name that this program never assigns can't belong to a living instance (and must not become a
        // path).
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return true;
        }
        let Some(folder) = &self.folder else { return true };
        let path = lock_path(folder, name);
        match lock_file(&path, false) {
            Err(LockFailure::Missing) => true,
            Ok(_) => {
                // Only cleanup: a failure does not matter.
                let _ = fs::remove_file(path);
                true
            }
            Err(LockFailure::Taken | LockFailure::Unusable) => false,
        }
    }

    /// Releases the instance lock.
    pub(super) fn end(&self) {
        if let Some((path, file)) = self.lock.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A file that can't be deleted is unlocked, which means the same to others.
            let _ = fs::remove_file(path);
            drop(file);
        }
    }
}

/// The path of the role's lease file, whether or not it is locked.
pub(super) fn lease_path(folder: &Path, role: LeaseRole, scope: &Scope) -> PathBuf {
    folder.join(format!("{}-{}.lock", role.name(), scope_hash(scope)))
}

fn lock_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("instance-{name}.lock"))
}

#[derive(Debug)]
enum LockFailure {
    Taken,
    Missing,
    Unusable,
}

fn lock_file(path: &Path, create: bool) -> Result<File, LockFailure> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(create).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => LockFailure::Missing,
        _ => LockFailure::Unusable,
    })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(LockFailure::Taken),
        Err(TryLockError::Error(_)) => Err(LockFailure::Unusable),
    }
}

/// Deletes lock files left by killed instances. Each file is locked while it is deleted, so that an
/// instance that has just created it finds it locked or gone and picks another name.
fn remove_stale_locks(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_one = name.to_str().is_some_and(|name| name.starts_with("instance-") && name.ends_with(".lock"));
        if is_one && let Ok(_held) = lock_file(&entry.path(), false) {
            // Only cleanup: a failure does not matter.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn new_name() -> String {
    format!("{}-{:016x}", std::process::id(), random())
}

/// FNV-1a: stable across versions of the program, because instances of different versions must use
/// the same file.
fn scope_hash(scope: &Scope) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in scope.base_url.bytes().chain([0]).chain(scope.project.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// Uses the randomness with which the standard library seeds its hash maps.
pub(super) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(project: &str) -> Scope {
        Scope { base_url: "https://a.example".into(), project: project.into(), organization: None }
    }

    /// A child process of another test keeps our files open until its exec, and a lock is free only
    /// when all copies are closed.
    fn eventually(holds: impl Fn() -> bool) -> bool {
        (0..400).any(|_| {
            let held = holds();
            if !held {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            held
        })
    }

    #[test]
    fn one_instance_holds_a_lease_and_another_gets_it_when_it_is_released() {
        let folder = tempfile::tempdir().expect("a folder");
        let one = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        let two = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        assert!(one.try_take(LeaseRole::Poll) && one.try_take(LeaseRole::Poll));
        assert!(!two.try_take(LeaseRole::Poll));
        assert!(two.try_take(LeaseRole::Dispatch), "each role has its own lease");
        one.release();
        assert!(!one.holds(LeaseRole::Poll) && !one.try_take(LeaseRole::Poll));
        assert!(eventually(|| two.try_take(LeaseRole::Poll)));
        one.allow();
        assert!(!one.try_take(LeaseRole::Poll));
    }

    #[test]
    fn a_lease_ends_with_its_holder_and_is_for_one_project() {
        let folder = tempfile::tempdir().expect("a folder");
        let one = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        let other = Leases::new(Some(folder.path().into()), &scope("q"), LeaseRoles::All);
        assert!(one.try_take(LeaseRole::Poll) && other.try_take(LeaseRole::Poll));
        drop(one);
        let next = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        assert!(eventually(|| next.try_take(LeaseRole::Poll)));
    }

    #[test]
    fn without_a_folder_every_lease_is_taken() {
        let alone = Leases::new(None, &scope("p"), LeaseRoles::All);
        assert!(alone.try_take(LeaseRole::Poll) && alone.try_take(LeaseRole::Dispatch));
    }

    #[test]
    fn an_instance_is_dead_once_its_lock_is_free() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, locked) = Instance::begin(Some(folder.path().into()));
        let (two, _) = Instance::begin(Some(folder.path().into()));
        assert!(locked.is_ok() && one.name() != two.name());
        assert!(!one.is_dead(two.name()) && !one.is_dead(one.name()));
        two.end();
        assert!(one.is_dead(two.name()));
        let (three, _) = Instance::begin(Some(folder.path().into()));
        let name = three.name().to_owned();
        drop(three);
        assert!(eventually(|| one.is_dead(&name)), "killed: the file exists, its lock does not");
        assert!(one.is_dead("../../etc/passwd") && one.is_dead("1-never"));
    }

    fn lock_files(folder: &Path) -> usize {
        let names = fs::read_dir(folder).expect("read").flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().starts_with("instance-")).count()
    }

    #[test]
    fn the_next_instance_removes_only_the_lock_files_of_killed_instances() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for name in ["instance-1-aa.lock", "instance-2-bb.lock", "poll-cc.lock", "instances.txt"] {
            fs::write(path(name), "").expect("written");
        }
        let (alive, _) = Instance::begin(Some(folder.path().into()));
        assert!(eventually(|| {
            let (next, _) = Instance::begin(Some(folder.path().into()));
            let left = lock_files(folder.path());
            assert!(!next.is_dead(alive.name()));
            next.end();
            left == 2
        }));
        assert!(path("poll-cc.lock").exists() && path("instances.txt").exists());
    }

    #[test]
    fn an_instance_that_starts_during_a_cleanup_keeps_its_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let start = std::sync::Barrier::new(9);
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    start.wait();
                    for _ in 0..60 {
                        let (instance, locked) = Instance::begin(Some(folder.path().into()));
                        locked.expect("a lock");
                        // As if killed: the file stays, for the others to clean up.
                        let other = Instance {
                            name: "1-other".into(),
                            lock: Mutex::default(),
                            folder: Some(folder.path().into()),
                        };
                        assert!(lock_path(folder.path(), instance.name()).exists());
                        assert!(!other.is_dead(instance.name()));
                    }
                });
            }
            start.wait();
            (0..2000).for_each(|_| remove_stale_locks(folder.path()));
        });
    }

    #[test]
    fn a_lease_is_lacking_while_it_may_be_taken_and_is_not_held() {
        let folder = tempfile::tempdir().expect("a folder");
        let leases = |roles| Leases::new(Some(folder.path().into()), &scope("p"), roles);
        let (polls, takes_none) = (leases(LeaseRoles::Poll), leases(LeaseRoles::None));
        assert!(polls.lacks_any() && !takes_none.lacks_any());
        assert!(polls.try_take(LeaseRole::Poll) && !polls.lacks_any());
        polls.yield_polling(true);
        assert!(!polls.lacks_any(), "it must not take it with this key");
        polls.yield_polling(false);
        assert!(polls.lacks_any());
        polls.release();
        assert!(!polls.lacks_any(), "suspended");
    }

    #[test]
    fn a_role_that_an_instance_does_not_have_is_left_to_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let polls = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::Poll);
        let takes_none = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::None);
        let takes_all = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        assert!(!takes_none.try_take(LeaseRole::Poll) && !takes_none.try_take(LeaseRole::Dispatch));
        assert!(polls.try_take(LeaseRole::Poll) && !polls.try_take(LeaseRole::Dispatch));
        assert!(takes_all.try_take(LeaseRole::Dispatch) && !takes_all.try_take(LeaseRole::Poll));
    }
}
