//! Leases determine which docdeck instance on this computer polls, which one dispatches, and which one queries code
//! hosts. Instance locks show which instances are running. Both are OS file locks, which the kernel releases when their
//! holder ends.

use crate::model::endpoint::Scope;
use crate::model::hash::stable_hash;
use std::collections::hash_map::RandomState;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many names an instance tries at its start. A name can't be used if another instance mistakes the new lock file
/// for a stale one and deletes it before this instance has locked it.
const MAX_NAME_ATTEMPTS: u32 = 16;

/// A task that only one instance on this computer does for a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseRole {
    /// Checking jobs.
    Poll,
    /// Sending queued prompts.
    Dispatch,
    /// Querying code hosts for the state of pull requests. The lease is held only during a round of requests, so that
    /// another instance can continue as soon as it gets the focus.
    RefreshPullRequests,
}

impl LeaseRole {
    fn name(self) -> &'static str {
        match self {
            Self::Poll => "poll",
            Self::Dispatch => "dispatch",
            Self::RefreshPullRequests => "refresh",
        }
    }
}

/// The roles whose leases an instance takes when they are free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseRoles {
    /// Polls, dispatches and queries code hosts: a dashboard, or a command that waits for its batch.
    All,
    /// Only polls: a command that waits for jobs.
    Poll,
    /// None: a command that ends after a request or two.
    None,
}

impl LeaseRoles {
    pub(super) fn includes(self, role: LeaseRole) -> bool {
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
    refresh_pull_requests: Option<HeldLease>,
    /// Whether leases must not be taken, because this instance is suspended or stopped.
    is_taking_forbidden: bool,
    /// Whether this instance leaves polling to other instances, because the service refuses its API key.
    should_yield_polling: bool,
}

/// A lease that this instance holds. Dropping it releases the lease.
#[derive(Debug)]
enum HeldLease {
    Locked {
        _file: File,
    },
    /// The lease is held without a file lock, because there can be no other instance, or files can't be locked.
    WithoutFileLock,
}

#[derive(Debug)]
pub(super) struct Leases {
    folder: Option<PathBuf>,
    scope: Scope,
    roles: LeaseRoles,
    held: Mutex<HeldLeases>,
}

impl Leases {
    /// Creates the leases, none of them held. Without a folder there is no other instance, so this instance
    /// gets every lease of its roles.
    pub(super) fn new(folder: Option<PathBuf>, scope: &Scope, roles: LeaseRoles) -> Self {
        Self { folder, scope: scope.clone(), roles, held: Mutex::new(HeldLeases::default()) }
    }

    /// Whether this instance holds the lease.
    pub(super) fn holds(&self, role: LeaseRole) -> bool {
        held_lease_mut(&mut self.lock(), role).is_some()
    }

    /// Tries to take the lease. Returns whether this instance holds the lease after the call.
    ///
    /// If files can't be locked at all, takes the lease without a lock. Two polling instances are better than
    /// none, and the store prevents a prompt from being sent twice.
    pub(super) fn try_take(&self, role: LeaseRole) -> bool {
        let mut held = self.lock();
        if !self.may_take(&held, role) {
            return false;
        }
        let slot = held_lease_mut(&mut held, role);
        if slot.is_none() {
            *slot = match &self.folder {
                None => Some(HeldLease::WithoutFileLock),
                Some(folder) => match lock_file(&lease_path(folder, role, &self.scope), true) {
                    Ok(file) => Some(HeldLease::Locked { _file: file }),
                    Err(LockFailure::Taken) => None,
                    Err(LockFailure::Missing | LockFailure::Unusable) => Some(HeldLease::WithoutFileLock),
                },
            };
        }
        slot.is_some()
    }

    /// Releases one lease. It can be taken again at once.
    pub(super) fn release_one(&self, role: LeaseRole) {
        *held_lease_mut(&mut self.lock(), role) = None;
    }

    /// Whether this instance may take the poll or dispatch lease, but doesn't hold it. (The refresh lease is taken only
    /// when it is needed.)
    pub(super) fn lacks_poll_or_dispatch_lease(&self) -> bool {
        let mut held = self.lock();
        [LeaseRole::Poll, LeaseRole::Dispatch]
            .into_iter()
            .any(|role| self.may_take(&held, role) && held_lease_mut(&mut held, role).is_none())
    }

    fn may_take(&self, held: &HeldLeases, role: LeaseRole) -> bool {
        !held.is_taking_forbidden
            && self.roles.includes(role)
            && !(held.should_yield_polling && role == LeaseRole::Poll)
    }

    /// Releases all leases. No lease can be taken until [`Leases::allow_taking_leases`].
    pub(super) fn release_all(&self) {
        let mut held = self.lock();
        *held = HeldLeases {
            is_taking_forbidden: true,
            should_yield_polling: held.should_yield_polling,
            ..HeldLeases::default()
        };
    }

    /// Whether there can be no other instance, because this instance has no folder for lock files.
    pub(super) fn is_only_instance(&self) -> bool {
        self.folder.is_none()
    }

    /// Sets whether to leave polling to other instances, because the service refuses this instance's API
    /// key.
    pub(super) fn set_should_yield_polling(&self, should_yield_polling: bool) {
        let mut held = self.lock();
        held.should_yield_polling = should_yield_polling;
        if should_yield_polling {
            held.poll = None;
        }
    }

    /// Allows taking leases again after [`Leases::release_all`].
    pub(super) fn allow_taking_leases(&self) {
        self.lock().is_taking_forbidden = false;
    }

    fn lock(&self) -> MutexGuard<'_, HeldLeases> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn held_lease_mut(held: &mut HeldLeases, role: LeaseRole) -> &mut Option<HeldLease> {
    match role {
        LeaseRole::Poll => &mut held.poll,
        LeaseRole::Dispatch => &mut held.dispatch,
        LeaseRole::RefreshPullRequests => &mut held.refresh_pull_requests,
    }
}

/// This process, with its name in the store. Other instances consider it alive while its lock file is locked.
#[derive(Debug)]
pub(super) struct Instance {
    name: String,
    lock: Mutex<Option<(PathBuf, File)>>,
    folder: Option<PathBuf>,
}

impl Instance {
    /// Chooses a unique name and, if there is a folder, creates and locks the instance's lock file. On `Err`
    /// there is no lock, but the instance and its name are usable.
    pub(super) fn register(folder: Option<PathBuf>) -> (Self, io::Result<()>) {
        let mut instance = Self { name: new_instance_name(), lock: Mutex::new(None), folder };
        let Some(folder) = instance.folder.clone() else { return (instance, Ok(())) };
        remove_stale_locks(&folder);
        let mut result = Err(LockFailure::Missing);
        for _ in 0..MAX_NAME_ATTEMPTS {
            let path = instance_lock_path(&folder, &instance.name);
            result = lock_file(&path, true).and_then(|file| {
                // Another instance may have deleted the file between its creation and its locking.
                if path.exists() { Ok((path, file)) } else { Err(LockFailure::Missing) }
            });
            match result {
                Err(LockFailure::Missing | LockFailure::Taken) => instance.name = new_instance_name(),
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

    /// Returns the name of this instance in the store.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the instance `name` has ended: its lock file is missing or can be locked. Deletes the lock file of an
    /// instance that has ended. Returns false if the lock file can't be checked.
    pub(super) fn is_dead(&self, name: &str) -> bool {
        if name == self.name {
            return false;
        }
        // The names of instances contain only ASCII letters, digits and hyphens, so a name with another character
        // belongs to no living instance. Such a name must not become part of a path.
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return true;
        }
        let Some(folder) = &self.folder else { return true };
        let path = instance_lock_path(folder, name);
        match lock_file(&path, false) {
            Err(LockFailure::Missing) => true,
            Ok(_) => {
                // A failed deletion is ignored, because a leftover file does no harm.
                let _ = fs::remove_file(path);
                true
            }
            Err(LockFailure::Taken | LockFailure::Unusable) => false,
        }
    }

    /// Releases the instance lock.
    pub(super) fn unregister(&self) {
        if let Some((path, file)) = self.lock.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // If the file can't be deleted, unlocking it is enough to show that this instance has ended.
            let _ = fs::remove_file(path);
            drop(file);
        }
    }
}

/// Returns the path of the role's lease file, which need not exist.
pub(super) fn lease_path(folder: &Path, role: LeaseRole, scope: &Scope) -> PathBuf {
    folder.join(format!("{}-{}.lock", role.name(), scope_hash(scope)))
}

fn instance_lock_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("instance-{name}.lock"))
}

#[derive(Debug)]
enum LockFailure {
    /// Another process has locked the file.
    Taken,
    /// The file or its folder does not exist.
    Missing,
    /// The file can't be opened or locked.
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

/// Deletes the lock files of killed instances. Locks each file while deleting it, because another instance
/// may just have created it. That instance then finds its file locked or gone, and chooses another name.
fn remove_stale_locks(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_lock = name.to_str().is_some_and(|name| name.starts_with("instance-") && name.ends_with(".lock"));
        if is_lock && let Ok(_held) = lock_file(&entry.path(), false) {
            // A failed deletion is ignored, because a leftover file does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn new_instance_name() -> String {
    format!("{}-{:016x}", std::process::id(), random())
}

/// Hashes the scope for a file name. All versions of docdeck must get the same hash, because their instances must use
/// the same lease file.
fn scope_hash(scope: &Scope) -> String {
    format!("{:016x}", stable_hash(scope.base_url.bytes().chain([0]).chain(scope.project.bytes())))
}

/// Returns a random number, derived from the random seed of the standard library's hash maps.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(project: &str) -> Scope {
        Scope { base_url: "https://a.example".into(), project: project.into(), organization: None }
    }

    /// Whether the condition becomes true within two seconds. A lock is not always free at once: a child
    /// process that another test has just forked keeps a copy of the open file until its exec.
    fn eventually(condition: impl Fn() -> bool) -> bool {
        (0..400).any(|_| {
            let is_met = condition();
            if !is_met {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            is_met
        })
    }

    #[test]
    fn only_one_instance_holds_a_lease_and_another_gets_it_after_its_release() {
        let folder = tempfile::tempdir().expect("a folder");
        let one = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        let two = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        assert!(one.try_take(LeaseRole::Poll) && one.try_take(LeaseRole::Poll));
        assert!(!two.try_take(LeaseRole::Poll));
        assert!(two.try_take(LeaseRole::Dispatch), "each role has its own lease");
        one.release_all();
        assert!(!one.holds(LeaseRole::Poll) && !one.try_take(LeaseRole::Poll));
        assert!(eventually(|| two.try_take(LeaseRole::Poll)));
        one.allow_taking_leases();
        assert!(!one.try_take(LeaseRole::Poll));
    }

    #[test]
    fn a_lease_is_free_once_its_holder_is_dropped_and_applies_to_one_project() {
        let folder = tempfile::tempdir().expect("a folder");
        let one = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        let other = Leases::new(Some(folder.path().into()), &scope("q"), LeaseRoles::All);
        assert!(one.try_take(LeaseRole::Poll) && other.try_take(LeaseRole::Poll));
        drop(one);
        let next = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        assert!(eventually(|| next.try_take(LeaseRole::Poll)));
    }

    #[test]
    fn an_instance_without_a_folder_gets_every_lease() {
        let alone = Leases::new(None, &scope("p"), LeaseRoles::All);
        assert!(alone.try_take(LeaseRole::Poll) && alone.try_take(LeaseRole::Dispatch));
    }

    #[test]
    fn an_instance_is_dead_once_its_lock_is_free() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, locked) = Instance::register(Some(folder.path().into()));
        let (two, _) = Instance::register(Some(folder.path().into()));
        assert!(locked.is_ok() && one.name() != two.name());
        assert!(!one.is_dead(two.name()) && !one.is_dead(one.name()));
        two.unregister();
        assert!(one.is_dead(two.name()));
        let (three, _) = Instance::register(Some(folder.path().into()));
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
        let (alive, _) = Instance::register(Some(folder.path().into()));
        assert!(eventually(|| {
            let (next, _) = Instance::register(Some(folder.path().into()));
            let lock_file_count = lock_files(folder.path());
            assert!(!next.is_dead(alive.name()));
            next.unregister();
            lock_file_count == 2
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
                        let (instance, locked) = Instance::register(Some(folder.path().into()));
                        locked.expect("a lock");
                        // The instance is dropped without `unregister`, as if killed, so the cleanup finds its lock
                        // file.
                        let other = Instance {
                            name: "1-other".into(),
                            lock: Mutex::default(),
                            folder: Some(folder.path().into()),
                        };
                        assert!(instance_lock_path(folder.path(), instance.name()).exists());
                        assert!(!other.is_dead(instance.name()));
                    }
                });
            }
            start.wait();
            (0..2000).for_each(|_| remove_stale_locks(folder.path()));
        });
    }

    #[test]
    fn an_instance_is_missing_a_lease_that_it_may_take_and_does_not_hold() {
        let folder = tempfile::tempdir().expect("a folder");
        let leases = |roles| Leases::new(Some(folder.path().into()), &scope("p"), roles);
        let (polls, takes_none) = (leases(LeaseRoles::Poll), leases(LeaseRoles::None));
        assert!(polls.lacks_poll_or_dispatch_lease() && !takes_none.lacks_poll_or_dispatch_lease());
        assert!(polls.try_take(LeaseRole::Poll) && !polls.lacks_poll_or_dispatch_lease());
        polls.set_should_yield_polling(true);
        assert!(!polls.lacks_poll_or_dispatch_lease(), "an instance with a refused key must not poll");
        polls.set_should_yield_polling(false);
        assert!(polls.lacks_poll_or_dispatch_lease());
        polls.release_all();
        assert!(!polls.lacks_poll_or_dispatch_lease(), "suspended");
    }

    #[test]
    fn an_instance_takes_only_the_leases_of_its_roles() {
        let folder = tempfile::tempdir().expect("a folder");
        let polls = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::Poll);
        let takes_none = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::None);
        let takes_all = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        assert!(!takes_none.try_take(LeaseRole::Poll) && !takes_none.try_take(LeaseRole::Dispatch));
        assert!(polls.try_take(LeaseRole::Poll) && !polls.try_take(LeaseRole::Dispatch));
        assert!(takes_all.try_take(LeaseRole::Dispatch) && !takes_all.try_take(LeaseRole::Poll));
    }
}
