//! Keeps the memory of this process, which holds the key, out of core dumps and away from other processes.

/// Forbids core dumps of this process for the rest of its life; call it before the key is read. On Linux this also keeps
/// other processes of the same user from reading its memory (`ptrace`, `/proc/PID/mem`). Programs that docdeck starts get
/// the system's default again.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn forbid() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // A kernel that refuses this leaves nothing else to try.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Forbids core dumps of this process and, as a limit is inherited, of the programs that it starts; call it before the key is
/// read.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
pub fn forbid() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = Rlimit { current: Some(0), ..getrlimit(Resource::Core) };
    // A system that refuses this leaves nothing else to try.
    let _ = setrlimit(Resource::Core, limit);
}

/// There are no core dumps here that a process could forbid by itself.
#[cfg(not(unix))]
pub fn forbid() {}
