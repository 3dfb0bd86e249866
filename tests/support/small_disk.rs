//! A small disk for the data of a server: a file system in memory that only the server's processes see. If a test fills
//! it, writes to it fail as on a full real disk.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Returns the option with which `unshare` runs a program that may mount file systems. A user who is not root becomes
/// root in a namespace of users, if the system allows it.
pub(crate) fn mount_option() -> &'static str {
    if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" }
}

/// A small disk. It is mounted in the namespace of a separate process, and is gone when that process ends.
pub(crate) struct SmallDisk {
    /// The process in whose namespace the disk is mounted.
    namespace_process: Child,
    /// The standard input of that process, which ends when it is closed, even if the test is killed.
    _input: ChildStdin,
    path: PathBuf,
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.namespace_process.kill();
        let _ = self.namespace_process.wait();
    }
}

impl SmallDisk {
    /// Mounts a disk of this size at the folder and copies the folder's contents to it. Returns `None` if this process
    /// may not mount anything.
    pub(crate) fn mount_over(folder: &Path, size: &str) -> Option<Self> {
        let script = "mkdir \"$0.small\" && mount -t tmpfs -o size=\"$1\" tmpfs \"$0.small\" && cp -a \"$0/.\" \"$0.small\" \
             && mount --bind \"$0.small\" \"$0\" && shift && exec \"$@\"";
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        let is_root = user.is_root();
        let mut command = Command::new("unshare");
        // The server, which refuses to run as root, runs in a second namespace, in which the user has the usual id.
        command.arg(mount_option()).args(["sh", "-c", script]).arg(folder).arg(size);
        if !is_root {
            command.args(["unshare", "-Um"]);
            command.arg(format!("--map-user={}", user.as_raw())).arg(format!("--map-group={}", group.as_raw()));
        }
        command.args(["sh", "-c", "echo mounted && exec cat"]);
        let mut namespace_process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("util-linux");
        let input = namespace_process.stdin.take().expect("stdin");
        let mut line = String::new();
        BufReader::new(namespace_process.stdout.take().expect("stdout")).read_line(&mut line).expect("read");
        let disk = Self { namespace_process, _input: input, path: folder.to_owned() };
        if line.trim() == "mounted" {
            return Some(disk);
        }
        let mut error = String::new();
        let mut disk = disk;
        let _ = disk.namespace_process.stderr.take().expect("stderr").read_to_string(&mut error);
        eprintln!("skipped: nothing can be mounted here: {error}");
        None
    }

    /// Returns a command in the namespace with the disk. The caller must add a program and its arguments.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--target={}", self.namespace_process.id())).arg("--mount");
        if !rustix::process::geteuid().is_root() {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.arg("--");
        command
    }

    /// Fills the disk to the last byte.
    pub(crate) fn fill(&self) {
        let mut filler = std::fs::File::create(self.filler()).expect("created");
        let full = loop {
            if let Err(error) = filler.write_all(&[1; 4096]) {
                break error;
            }
        };
        assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    }

    pub(crate) fn free(&self) {
        std::fs::remove_file(self.filler()).expect("removed");
    }

    /// Returns the path of the file that fills the disk, as seen from outside of the namespace.
    fn filler(&self) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.namespace_process.id()));
        root.join(self.path.strip_prefix("/").expect("an absolute path")).join("filler")
    }
}
