//! Finds out from the lock files which instances run on this computer and whether one polls and one
//! sends for a scope. Creates no file.

use super::lease::{LeaseRole, lease_path};
use crate::model::endpoint::Scope;
use std::fs::{File, TryLockError};
use std::path::Path;

/// The running instances.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunningInstances {
    /// The names of the running instances, as in the store.
    pub instances: Vec<String>,
    /// An instance polls the jobs of the scope.
    pub polls: bool,
    /// An instance sends the queued prompts of the scope.
    pub dispatches: bool,
}

impl RunningInstances {
    /// Reads the lock files in `folder`.
    pub fn find(folder: &Path, scope: Option<&Scope>) -> Self {
        let is_taken = |role| scope.is_some_and(|scope| is_locked(&lease_path(folder, role, scope)));
        let mut instances: Vec<String> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name();
                let name = name.to_str()?.strip_prefix("instance-")?.strip_suffix(".lock")?.to_owned();
                is_locked(&entry.path()).then_some(name)
            })
            .collect();
        instances.sort();
        Self { instances, polls: is_taken(LeaseRole::Poll), dispatches: is_taken(LeaseRole::Dispatch) }
    }
}

/// Whether the file is locked. The test takes a shared lock and releases it at once; an instance
/// that tries to take the lease at this very moment tries again soon.
fn is_locked(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use super::super::lease::{Instance, LeaseRoles, Leases};
    use super::*;

    #[test]
    fn running_and_polling_instances_are_found_without_creating_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let scope =
            |project: &str| Scope { base_url: "https://a.example".into(), project: project.into(), organization: None };
        let (one, had) = Instance::begin(Some(folder.path().into()));
        assert!(had.is_ok());
        let leases = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::Poll);
        assert!(leases.try_take(LeaseRole::Poll));
        let names = || std::fs::read_dir(folder.path()).expect("read").count();
        let before = names();
        let alive = RunningInstances::find(folder.path(), Some(&scope("p")));
        assert_eq!(alive, RunningInstances { instances: vec![one.name().to_owned()], polls: true, dispatches: false });
        assert!(!RunningInstances::find(folder.path(), Some(&scope("q"))).polls);
        assert_eq!(names(), before);
    }
}
