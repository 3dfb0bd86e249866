//! A PostgreSQL server in a separate folder, which the tests start and stop. It listens only on a socket in this
//! folder, and on 127.0.0.1 if a test asks for TLS.

use super::small_disk::SmallDisk;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The minimum free space of the file system in memory, in bytes. With less space, the folders of servers are on the
/// disk. A server needs about 40 MB, and the same again for a copy of its data.
const MIN_MEMORY_SPACE: u64 = 2 << 30;
/// How long starting and stopping may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A running server. Dropping it kills the server that it started, and no other.
pub(crate) struct Postgres {
    folder: TempDir,
    bin: PathBuf,
    settings: Vec<String>,
    port: String,
    server: Option<Child>,
    /// The disk with the data folder, if it is a separate one.
    disk: Option<SmallDisk>,
}

/// Rows that a separate connection has locked. Dropping it ends the connection.
pub(crate) struct RowLock {
    psql: Child,
    input: Option<ChildStdin>,
}

impl Drop for RowLock {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.psql.wait();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Postgres {
    /// Starts a server with an empty database. Returns `None` and prints that the test is skipped if PostgreSQL is not
    /// installed.
    pub(crate) fn start(settings: &[&str]) -> Option<Self> {
        let mut server = Self::prepare(settings)?;
        server.restart();
        Some(server)
    }

    /// Like [`Self::start`], with the data on a separate small disk. Also returns `None` if the tests may not mount a
    /// disk.
    pub(crate) fn start_on_small_disk() -> Option<Self> {
        let mut server = Self::prepare(&["max_wal_size=32MB", "min_wal_size=32MB"])?;
        server.disk = Some(SmallDisk::mount_over(&server.data_folder(), "64m")?);
        server.restart();
        Some(server)
    }

    /// Returns a server that is not started yet.
    fn prepare(settings: &[&str]) -> Option<Self> {
        let Some(bin) = installed_programs() else {
            eprintln!("skipped: PostgreSQL is not installed on this computer");
            return None;
        };
        let folder = tempfile::tempdir_in(parent_folder(settings)).expect("a folder");
        copy_folder(&new_data_folder(&bin), &folder.path().join("data"));
        chown_to_server_user(folder.path());
        let port = settings.iter().find_map(|setting| setting.strip_prefix("port=")).unwrap_or("5432").to_owned();
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        Some(Self { folder, bin, settings, port, server: None, disk: None })
    }

    /// Starts the server again after [`Self::kill`], with the data of an older copy, which is moved.
    pub(crate) fn restart_with(&mut self, copy: &Path) {
        std::fs::remove_dir_all(self.data_folder()).expect("removed");
        std::fs::rename(copy, self.data_folder()).expect("restored");
        chown_to_server_user(&self.data_folder());
        self.restart();
    }

    /// Starts the server again after [`Self::kill`].
    pub(crate) fn restart(&mut self) {
        let program = self.bin.join("postgres");
        let mut command = match &self.disk {
            Some(disk) => {
                let mut command = disk.command();
                let server = as_server_user(&program);
                command.arg(server.get_program()).args(server.get_args());
                command
            }
            None => as_server_user(&program),
        };
        command.arg("-D").arg(self.data_folder()).arg("-k").arg(self.folder.path());
        // With `mmap`, a killed server leaves nothing outside of its folder.
        let defaults = [
            "listen_addresses=",
            "fsync=off",
            "max_connections=60",
            "shared_buffers=16MB",
            "dynamic_shared_memory_type=mmap",
        ];
        for setting in defaults.into_iter().chain(self.settings.iter().map(String::as_str)) {
            command.args(["-c", setting]);
        }
        let log = std::fs::File::create(self.folder.path().join("log")).expect("a log");
        command.current_dir(self.folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.server = Some(command.spawn().expect("the server starts"));
        let start = Instant::now();
        while !self.try_sql("SELECT 1").0 {
            assert!(start.elapsed() < TIMEOUT, "{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the server at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            // SIGQUIT also ends the server's own processes at once. The next start recovers as after a crash.
            let id = rustix::process::Pid::from_child(&server);
            let _ = rustix::process::kill_process(id, rustix::process::Signal::QUIT);
            let _ = server.wait();
        }
    }

    /// Restarts the server with these lines as its `pg_hba.conf`, which sets who may log in, and how.
    pub(crate) fn restart_with_access(&mut self, lines: &str) {
        self.kill();
        std::fs::write(self.data_folder().join("pg_hba.conf"), lines).expect("written");
        self.restart();
    }

    /// Returns the disk of a server that was started with [`Self::start_on_small_disk`].
    pub(crate) fn disk(&self) -> &SmallDisk {
        self.disk.as_ref().expect("a disk of its own")
    }

    pub(crate) fn data_folder(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Returns the URL for this user over the socket.
    pub(crate) fn url(&self, user: &str) -> String {
        format!("postgres://{user}@/postgres?host={}", self.folder.path().display())
    }

    /// Runs SQL as the administrator, and returns what psql prints.
    pub(crate) fn sql(&self, sql: &str) -> String {
        let (succeeded, text) = self.try_sql(sql);
        assert!(succeeded, "{sql}: {text}");
        text
    }

    /// Locks the rows of a table for writing, until the returned lock is dropped.
    pub(crate) fn hold_lock(&self, table: &str) -> RowLock {
        let mut command = self.psql();
        let mut psql = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("psql runs");
        let mut input = psql.stdin.take().expect("stdin");
        writeln!(input, "BEGIN; SELECT 1 FROM {table} FOR UPDATE;").expect("written");
        let mut line = String::new();
        BufReader::new(psql.stdout.take().expect("stdout")).read_line(&mut line).expect("read");
        assert_eq!(line, "1\n", "{table}");
        RowLock { psql, input: Some(input) }
    }

    /// Returns whether the statement succeeded, and what psql prints.
    pub(crate) fn try_sql(&self, sql: &str) -> (bool, String) {
        let output = self.psql().args(["-c", sql]).output().expect("psql runs");
        let text = if output.status.success() { output.stdout } else { output.stderr };
        (output.status.success(), String::from_utf8_lossy(&text).trim().to_owned())
    }

    /// Returns a command that runs psql as the administrator.
    fn psql(&self) -> Command {
        let mut command = Command::new(self.bin.join("psql"));
        command.args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "admin",
            "-d",
            "postgres",
            "-p",
            &self.port,
        ]);
        command.arg("-h").arg(self.folder.path());
        command
    }
}

/// Returns the parent of a server's folder. It is in memory if possible, because copying a thousand files to a disk
/// takes a second. It is on the disk if the settings make the server wait for the disk.
fn parent_folder(settings: &[&str]) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let has_space = rustix::fs::statvfs(memory)
        .is_ok_and(|found| found.f_bavail.saturating_mul(found.f_frsize) >= MIN_MEMORY_SPACE);
    if has_space && !settings.contains(&"fsync=on") { memory.to_owned() } else { std::env::temp_dir() }
}

/// Returns a data folder with an empty database, to be copied. It is created only once and kept for later test runs,
/// because creating it takes seconds.
fn new_data_folder(bin: &Path) -> PathBuf {
    static CREATED: Mutex<()> = Mutex::new(());
    let _one_at_a_time = CREATED.lock();
    let version = bin.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("postgres-{}", version.unwrap_or_default()));
    if kept.exists() {
        return kept;
    }
    let folder = tempfile::tempdir().expect("a folder");
    chown_to_server_user(folder.path());
    let data = folder.path().join("data");
    let mut command = as_server_user(&bin.join("initdb"));
    command.args(["--username=admin", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--pgdata"]);
    let output = command.arg(&data).current_dir(folder.path()).output().expect("initdb runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Another test process may create it at the same time.
    let part = kept.with_extension(std::process::id().to_string());
    copy_folder(&data, &part);
    if std::fs::rename(&part, &kept).is_err() {
        std::fs::remove_dir_all(&part).expect("removed");
    }
    kept
}

/// Copies a folder with its permissions.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    let output = Command::new("cp").arg("-a").args([from, to]).output().expect("cp runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the folder of the newest installed version.
fn installed_programs() -> Option<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let version = path.file_name()?.to_str()?.parse().ok()?;
            let bin = path.join("bin");
            ["initdb", "postgres", "psql"].iter().all(|name| bin.join(name).exists()).then_some((version, bin))
        })
        .collect();
    versions.sort();
    versions.pop().map(|(_, bin)| bin)
}

/// Returns a command that runs the program as the server's user, because the server refuses to run as root.
fn as_server_user(program: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}

/// Makes the server's user the owner of the folder, so that the server can write to it.
pub(crate) fn chown_to_server_user(path: &Path) {
    if rustix::process::geteuid().is_root() {
        let output = Command::new("chown").args(["-R", "postgres:postgres"]).arg(path).output().expect("chown runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
