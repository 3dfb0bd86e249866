//! Keeps the memory of this process, which contains the API key, out of core dumps and away from other processes.

/// Forbids core dumps for the rest of this process. Must be called before the API key is read. On Linux this also keeps
/// other processes of the same user from reading the memory of this process (`ptrace`, `/proc/PID/mem`). Child
/// processes get the system's default again.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn forbid() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // If the kernel refuses, there is nothing else to try.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Forbids core dumps of this process and, because limits are inherited, of its child processes. Must be called before
/// the API key is read.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
pub fn forbid() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = Rlimit { current: Some(0), ..getrlimit(Resource::Core) };
    // If the system refuses, there is nothing else to try.
    let _ = setrlimit(Resource::Core, limit);
}

/// Does nothing, because a process can't forbid core dumps on this system.
#[cfg(not(unix))]
pub fn forbid() {}
