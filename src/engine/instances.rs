//! Which instances run on this computer, and whether somebody polls and sends for a scope, as their locks tell. Makes and
//! keeps nothing.

use super::lease::{LeaseRole, lease_path};
use crate::model::endpoint::Scope;
use std::fs::{File, TryLockError};
use std::path::Path;

/// What the locks tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunningInstances {
    /// Names of the instances that run, as the store has them.
    pub instances: Vec<String>,
    /// Somebody looks at the jobs of the scope.
    pub polls: bool,
    /// Somebody sends what is queued for the scope.
    pub dispatches: bool,
}

impl RunningInstances {
    /// Looks at the lock files in `folder`.
    pub fn look(folder: &Path, scope: Option<&Scope>) -> Self {
        let held = |duty| scope.is_some_and(|scope| is_held(&lease_path(folder, duty, scope)));
        let mut instances: Vec<String> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name();
                let name = name.to_str()?.strip_prefix("instance-")?.strip_suffix(".lock")?.to_owned();
                is_held(&entry.path()).then_some(name)
            })
            .collect();
        instances.sort();
        Self { instances, polls: held(LeaseRole::Poll), dispatches: held(LeaseRole::Dispatch) }
    }
}

/// Whether somebody has the lock. Asked for with a lock that many may have at once, given back right away: whoever takes the
/// lease at this very moment tries again soon.
fn is_held(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use super::super::lease::{Instance, LeaseRoles, Leases};
    use super::*;

    #[test]
    fn who_runs_and_who_polls_is_seen_without_making_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let scope =
            |project: &str| Scope { base_url: "https://a.example".into(), project: project.into(), organization: None };
        let (one, had) = Instance::begin(Some(folder.path().into()));
        assert!(had.is_ok());
        let leases = Leases::new(Some(folder.path().into()), &scope("p"), LeaseRoles::Poll);
        assert!(leases.try_take(LeaseRole::Poll));
        let names = || std::fs::read_dir(folder.path()).expect("read").count();
        let before = names();
        let alive = RunningInstances::look(folder.path(), Some(&scope("p")));
        assert_eq!(alive, RunningInstances { instances: vec![one.name().to_owned()], polls: true, dispatches: false });
        assert!(!RunningInstances::look(folder.path(), Some(&scope("q"))).polls);
        assert_eq!(names(), before);
    }
}
