//! Which instance on this computer polls and dispatches, and which instances are alive: OS file locks, freed by the
//! kernel when their holder dies (design.md: polling). What holding a lease means is decided by the tasks.

use crate::model::endpoint::Scope;
use std::collections::hash_map::RandomState;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many names an instance tries to begin with: one is lost only to another instance that tidies at that moment.
const NAMES: u32 = 16;

/// What only one instance does for a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseRole {
    /// Looking at jobs.
    Poll,
    /// Sending what is queued.
    Dispatch,
}

impl LeaseRole {
    fn word(self) -> &'static str {
        match self {
            Self::Poll => "poll",
            Self::Dispatch => "dispatch",
        }
    }
}

/// Which duties an instance takes when they are free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseRoles {
    /// Polls and sends what is queued: a dashboard, or a command that waits for its batch.
    All,
    /// Polls only: a command that waits for jobs.
    Poll,
    /// Neither: a command that is done after a request or two.
    None,
}

impl LeaseRoles {
    pub(super) fn include(self, duty: LeaseRole) -> bool {
        match self {
            Self::All => true,
            Self::Poll => duty == LeaseRole::Poll,
            Self::None => false,
        }
    }
}

#[derive(Debug, Default)]
struct HeldLeases {
    poll: Option<Holding>,
    dispatch: Option<Holding>,
    /// Between `release` and `allow`: nothing may be taken.
    forbidden: bool,
    /// The service does not take this instance's key: another one may have a better one.
    stands_back: bool,
}

/// A lease in hand; dropping the file gives it back.
#[derive(Debug)]
enum Holding {
    Locked {
        _file: File,
    },
    /// Alone by construction, or on a file system without locks.
    Unlocked,
}

/// The leases of one scope.
#[derive(Debug)]
pub(super) struct Leases {
    folder: Option<PathBuf>,
    scope: Scope,
    duties: LeaseRoles,
    held: Mutex<HeldLeases>,
}

impl Leases {
    /// Without a folder this instance is alone and gets every lease that it is for.
    pub(super) fn new(folder: Option<PathBuf>, scope: &Scope, duties: LeaseRoles) -> Self {
        Self { folder, scope: scope.clone(), duties, held: Mutex::new(HeldLeases::default()) }
    }

    /// Whether the duty is this instance's.
    pub(super) fn holds(&self, duty: LeaseRole) -> bool {
        slot(&mut self.lock(), duty).is_some()
    }

    /// Tries to take the duty. True when it is this instance's now, whether new or from before.
    ///
    /// Where files can't be locked at all the lease is taken without one: work done twice is better than none, and what
    /// must not happen twice is guarded by the store.
    pub(super) fn try_take(&self, duty: LeaseRole) -> bool {
        let mut held = self.lock();
        if !self.may_take(&held, duty) {
            return false;
        }
        let slot = slot(&mut held, duty);
        if slot.is_none() {
            *slot = match &self.folder {
                None => Some(Holding::Unlocked),
                Some(folder) => match lock_file(&lease_path(folder, duty, &self.scope), true) {
                    Ok(file) => Some(Holding::Locked { _file: file }),
                    Err(LockFailure::Taken) => None,
                    Err(LockFailure::Missing | LockFailure::Unusable) => Some(Holding::Unlocked),
                },
            };
        }
        slot.is_some()
    }

    /// Whether there is a duty that this instance would take and does not have.
    pub(super) fn lacks_any(&self) -> bool {
        let mut held = self.lock();
        [LeaseRole::Poll, LeaseRole::Dispatch]
            .into_iter()
            .any(|duty| self.may_take(&held, duty) && slot(&mut held, duty).is_none())
    }

    fn may_take(&self, held: &HeldLeases, duty: LeaseRole) -> bool {
        !held.forbidden && self.duties.include(duty) && !(held.stands_back && duty == LeaseRole::Poll)
    }

    /// Gives all leases back, and takes none until [`Leases::allow`].
    pub(super) fn release(&self) {
        let mut held = self.lock();
        *held = HeldLeases { forbidden: true, stands_back: held.stands_back, ..HeldLeases::default() };
    }

    /// Whether there can be no other instance.
    pub(super) fn is_alone(&self) -> bool {
        self.folder.is_none()
    }

    /// Whether looking at jobs is left to others, for it can't be done with this instance's key.
    pub(super) fn yield_polling(&self, stands_back: bool) {
        let mut held = self.lock();
        held.stands_back = stands_back;
        if stands_back {
            held.poll = None;
        }
    }

    /// Leases may be taken again.
    pub(super) fn allow(&self) {
        self.lock().forbidden = false;
    }

    fn lock(&self) -> MutexGuard<'_, HeldLeases> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn slot(held: &mut HeldLeases, duty: LeaseRole) -> &mut Option<Holding> {
    match duty {
        LeaseRole::Poll => &mut held.poll,
        LeaseRole::Dispatch => &mut held.dispatch,
    }
}

/// This process as the store names it, alive for as long as its lock file is locked.
#[derive(Debug)]
pub(super) struct Instance {
    name: String,
    lock: Mutex<Option<(PathBuf, File)>>,
    folder: Option<PathBuf>,
}

impl Instance {
    /// A name of its own and, with a folder, the lock that says that it lives. An `Err` means that no lock could be
    /// had; the name holds all the same.
    pub(super) fn begin(folder: Option<PathBuf>) -> (Self, io::Result<()>) {
        let mut instance = Self { name: new_name(), lock: Mutex::new(None), folder };
        let Some(folder) = instance.folder.clone() else { return (instance, Ok(())) };
        tidy(&folder);
        let mut result = Err(LockFailure::Missing);
        for _ in 0..NAMES {
            let path = lock_path(&folder, &instance.name);
            result = lock_file(&path, true).and_then(|file| {
                // Another instance that tidied may have come between making and locking it.
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

    /// Whether the instance of that name has ended: its lock file is gone or can be locked. When in doubt it lives.
    pub(super) fn is_dead(&self, name: &str) -> bool {
        if name == self.name {
            return false;
        }
        // A name that this program never gives can't be that of a living instance (and must not become a path).
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return true;
        }
        let Some(folder) = &self.folder else { return true };
        let path = lock_path(folder, name);
        match lock_file(&path, false) {
            Err(LockFailure::Missing) => true,
            Ok(_) => {
                // Litter in the way of nothing: it does not matter when it can't be deleted.
                let _ = fs::remove_file(path);
                true
            }
            Err(LockFailure::Taken | LockFailure::Unusable) => false,
        }
    }

    /// Says that this instance has ended.
    pub(super) fn end(&self) {
        if let Some((path, file)) = self.lock.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // An undeleted file is found unlocked by the others, which means the same.
            let _ = fs::remove_file(path);
            drop(file);
        }
    }
}

/// Where the lease of this duty lies, whether or not anybody holds it.
pub(super) fn lease_path(folder: &Path, duty: LeaseRole, scope: &Scope) -> PathBuf {
    folder.join(format!("{}-{}.lock", duty.word(), scope_hash(scope)))
}

fn lock_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("instance-{name}.lock"))
}

/// Why a lock could not be had.
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

/// Deletes lock files that killed instances left. Each is locked while it is deleted, so that an instance that has made it
/// and is about to lock it finds it taken or gone, and makes another one.
fn tidy(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_one = name.to_str().is_some_and(|name| name.starts_with("instance-") && name.ends_with(".lock"));
        if is_one && let Ok(_held) = lock_file(&entry.path(), false) {
            // Litter in the way of nothing: it does not matter when it can't be deleted.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn new_name() -> String {
    format!("{}-{:016x}", std::process::id(), random())
}

/// FNV-1a: the same in every version of the program, since instances of different versions must meet at the same file.
fn scope_hash(scope: &Scope) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in scope.base_url.bytes().chain([0]).chain(scope.project.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// From the randomness that the standard library seeds its hash maps with.
pub(super) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(project: &str) -> Scope {
        Scope { base_url: "https://a.example".into(), project: project.into(), organization: None }
    }

    /// A program that another test starts has our files open until it has begun, and a lock is free once all are closed.
    fn soon(holds: impl Fn() -> bool) -> bool {
        (0..400).any(|_| {
            let held = holds();
            if !held {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            held
        })
    }

    #[test]
    fn one_of_two_instances_gets_a_lease_and_the_other_when_it_is_given_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let one = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        let two = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        assert!(one.try_take(LeaseRole::Poll) && one.try_take(LeaseRole::Poll));
        assert!(!two.try_take(LeaseRole::Poll));
        assert!(two.try_take(LeaseRole::Dispatch), "each duty is a lease of its own");
        one.release();
        assert!(!one.holds(LeaseRole::Poll) && !one.try_take(LeaseRole::Poll));
        assert!(soon(|| two.try_take(LeaseRole::Poll)));
        one.allow();
        assert!(!one.try_take(LeaseRole::Poll));
    }

    #[test]
    fn a_lease_dies_with_its_holder_and_belongs_to_one_project() {
        let folder = tempfile::tempdir().expect("a folder");
        let one = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        let other = Leases::new(Some(folder.path().into()), &scope("q"), LeaseRoles::All);
        assert!(one.try_take(LeaseRole::Poll) && other.try_take(LeaseRole::Poll));
        drop(one);
        let next = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        assert!(soon(|| next.try_take(LeaseRole::Poll)));
    }

    #[test]
    fn without_a_folder_every_lease_is_had() {
        let alone = Leases::new(None, &scope("p"), LeaseRoles::All);
        assert!(alone.try_take(LeaseRole::Poll) && alone.try_take(LeaseRole::Dispatch));
    }

    #[test]
    fn an_instance_is_dead_once_its_lock_is_free() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, had) = Instance::begin(Some(folder.path().into()));
        let (two, _) = Instance::begin(Some(folder.path().into()));
        assert!(had.is_ok() && one.name() != two.name());
        assert!(!one.is_dead(two.name()) && !one.is_dead(one.name()));
        two.end();
        assert!(one.is_dead(two.name()));
        let (three, _) = Instance::begin(Some(folder.path().into()));
        let name = three.name().to_owned();
        drop(three);
        assert!(soon(|| one.is_dead(&name)), "killed: the file is there, its lock is not");
        assert!(one.is_dead("../../etc/passwd") && one.is_dead("1-never"));
    }

    fn lock_files(folder: &Path) -> usize {
        let names = fs::read_dir(folder).expect("read").flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().starts_with("instance-")).count()
    }

    #[test]
    fn what_killed_instances_left_is_tidied_by_the_next_one_and_nothing_else_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for name in ["instance-1-aa.lock", "instance-2-bb.lock", "poll-cc.lock", "instances.txt"] {
            fs::write(path(name), "").expect("written");
        }
        let (lives, _) = Instance::begin(Some(folder.path().into()));
        assert!(soon(|| {
            let (next, _) = Instance::begin(Some(folder.path().into()));
            let left = lock_files(folder.path());
            assert!(!next.is_dead(lives.name()));
            next.end();
            left == 2
        }));
        assert!(path("poll-cc.lock").exists() && path("instances.txt").exists());
    }

    #[test]
    fn an_instance_that_begins_while_others_tidy_keeps_its_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let begun = std::sync::Barrier::new(9);
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    begun.wait();
                    for _ in 0..60 {
                        let (instance, had) = Instance::begin(Some(folder.path().into()));
                        had.expect("a lock");
                        // As killed: the file stays, for the others to tidy.
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
            begun.wait();
            (0..2000).for_each(|_| tidy(folder.path()));
        });
    }

    #[test]
    fn a_duty_is_lacked_while_it_may_be_taken_and_is_not_held() {
        let folder = tempfile::tempdir().expect("a folder");
        let leases = |duties| Leases::new(Some(folder.path().into()), &scope("p"), duties);
        let (polls, helps_nobody) = (leases(LeaseRoles::Poll), leases(LeaseRoles::None));
        assert!(polls.lacks_any() && !helps_nobody.lacks_any());
        assert!(polls.try_take(LeaseRole::Poll) && !polls.lacks_any());
        polls.yield_polling(true);
        assert!(!polls.lacks_any(), "it must not take it with this key");
        polls.yield_polling(false);
        assert!(polls.lacks_any());
        polls.release();
        assert!(!polls.lacks_any(), "suspended");
    }

    #[test]
    fn a_duty_that_an_instance_is_not_for_is_left_to_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let polls = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::Poll);
        let helps_nobody = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::None);
        let does_all = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::All);
        assert!(!helps_nobody.try_take(LeaseRole::Poll) && !helps_nobody.try_take(LeaseRole::Dispatch));
        assert!(polls.try_take(LeaseRole::Poll) && !polls.try_take(LeaseRole::Dispatch));
        assert!(does_all.try_take(LeaseRole::Dispatch) && !does_all.try_take(LeaseRole::Poll));
    }
}
