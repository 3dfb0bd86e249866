//! Determines from the lock files which docdeck instances run on this computer, and whether any of them polls jobs or
//! sends prompts for a scope. Creates no file.

use super::lease::{LeaseRole, lease_path};
use crate::model::endpoint::Scope;
use std::fs::{File, TryLockError};
use std::path::Path;

/// The docdeck instances that run on this computer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunningInstances {
    /// The names of the running instances, as used in the store.
    pub instance_names: Vec<String>,
    /// Whether an instance polls the jobs of the scope.
    pub has_poller: bool,
    /// Whether an instance sends the queued prompts of the scope.
    pub has_dispatcher: bool,
}

impl RunningInstances {
    /// Reads the lock files in `folder`. Without a scope, `has_poller` and `has_dispatcher` are false.
    pub fn find(folder: &Path, scope: Option<&Scope>) -> Self {
        let is_taken = |role| scope.is_some_and(|scope| is_locked(&lease_path(folder, role, scope)));
        let mut instance_names: Vec<String> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name();
                let name = name.to_str()?.strip_prefix("instance-")?.strip_suffix(".lock")?.to_owned();
                is_locked(&entry.path()).then_some(name)
            })
            .collect();
        instance_names.sort();
        Self { instance_names, has_poller: is_taken(LeaseRole::Poll), has_dispatcher: is_taken(LeaseRole::Dispatch) }
    }
}

/// Whether the file is locked. The check takes a shared lock for a moment. If this makes an instance fail to take the
/// lease, that instance tries again soon.
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
        let (instance, locked) = Instance::register(Some(folder.path().into()));
        assert!(locked.is_ok());
        let leases = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::Poll);
        assert!(leases.try_take(LeaseRole::Poll));
        let file_count = || std::fs::read_dir(folder.path()).expect("read").count();
        let before = file_count();
        let found = RunningInstances::find(folder.path(), Some(&scope("p")));
        let instance_names = vec![instance.name().to_owned()];
        assert_eq!(found, RunningInstances { instance_names, has_poller: true, has_dispatcher: false });
        assert!(!RunningInstances::find(folder.path(), Some(&scope("q"))).has_poller);
        assert_eq!(file_count(), before);
    }
}
