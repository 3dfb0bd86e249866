//! A PostgreSQL server in a temporary folder, for the demo of a team. It listens only on a socket in this folder, and
//! stops when docdeck ends, even if docdeck is killed.

use crate::cli::error::CliError;
use crate::model::endpoint::ApiKey;
use crate::team::{TeamAddress, TeamConnection};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

/// How often to try to connect while the server starts.
const CONNECT_RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// The folder in which Debian and distributions based on it install the programs of each PostgreSQL version.
const VERSIONS_FOLDER: &str = "/usr/lib/postgresql";
const NOT_INSTALLED_MESSAGE: &str = "docdeck demo --team needs PostgreSQL on this computer (the programs initdb and postgres). \
                             Install it, for example with `apt install postgresql`, or try `docdeck demo`.";
/// A shell script that runs the server until docdeck ends. The end of docdeck closes the script's stdin. The script
/// then stops the server and removes the folder with the server's data.
const WRAPPER_SCRIPT: &str = r#"folder=$1; shift
"$@" >"$folder/log" 2>&1 </dev/null &
server=$!
cat >/dev/null
kill -INT $server
wait $server
rm -rf "$folder""#;

/// The running server. Dropping it ends the server and removes the folder.
pub(super) struct PostgresServer {
    wrapper: Child,
    folder: TempDir,
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        drop(self.wrapper.stdin.take());
        let _ = self.wrapper.wait();
    }
}

impl PostgresServer {
    /// Creates a database and starts the server, which may need some time before it accepts connections.
    ///
    /// # Errors
    /// Fails if PostgreSQL is not installed, or its programs fail.
    pub(super) fn start() -> Result<Self, String> {
        let programs = find_postgres_programs(std::env::var_os("PATH").as_deref().unwrap_or_default());
        let programs = programs.ok_or_else(|| NOT_INSTALLED_MESSAGE.to_owned())?;
        let failed = |error: io::Error| format!("PostgreSQL for the demo can't be started: {error}.");
        let only_owner: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        let mut folder = tempfile::Builder::new();
        let folder = folder.prefix("docdeck-demo-").permissions(only_owner).tempdir().map_err(failed)?;
        let account = server_account()?;
        account.set_owner(folder.path()).map_err(failed)?;
        let data = folder.path().join("data");
        let mut initdb = account.command(&programs.join("initdb"));
        initdb.args(["--username=docdeck", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--pgdata"]);
        let created = initdb.arg(&data).current_dir(folder.path()).stdin(Stdio::null()).output().map_err(failed)?;
        if !created.status.success() {
            let why = String::from_utf8_lossy(&created.stderr).trim().to_owned();
            return Err(format!("PostgreSQL for the demo can't be started: {why}"));
        }
        let mut wrapper = account.command(Path::new("/bin/sh"));
        wrapper.args(["-c", WRAPPER_SCRIPT, "docdeck-demo"]).arg(folder.path()).arg(programs.join("postgres"));
        wrapper.arg("-D").arg(&data).arg("-k").arg(folder.path());
        for setting in ["listen_addresses=", "fsync=off", "max_connections=20", "shared_buffers=16MB"] {
            wrapper.args(["-c", setting]);
        }
        wrapper.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { wrapper: wrapper.spawn().map_err(failed)?, folder })
    }

    /// Returns the URL of the database.
    ///
    /// # Errors
    /// Fails if the name of the temporary folder can't be part of a URL.
    pub(super) fn url(&self) -> Result<ApiKey, CliError> {
        let folder = self.folder.path().to_string_lossy();
        let folder = utf8_percent_encode(&folder, NON_ALPHANUMERIC);
        ApiKey::new(&format!("postgres://docdeck@/postgres?host={folder}"))
            .ok_or_else(|| CliError::local_error("The temporary folder has an unusable name."))
    }

    /// Waits until the server accepts connections, and connects to it.
    ///
    /// # Errors
    /// Fails if the server doesn't accept connections within `timeout`.
    pub(super) async fn connect_when_ready(
        &self,
        address: &TeamAddress,
        timeout: Duration,
    ) -> Result<TeamConnection, CliError> {
        let end = Instant::now() + timeout;
        loop {
            match TeamConnection::open(address, end.saturating_duration_since(Instant::now())).await {
                Ok(connection) => return Ok(connection),
                Err(error) if Instant::now() >= end => return Err(error.into()),
                Err(_) => sleep(CONNECT_RETRY_INTERVAL).await,
            }
        }
    }
}

/// Returns the folder with the programs `initdb` and `postgres`: the first folder in `path` that has them, otherwise
/// the folder of the newest installed version.
fn find_postgres_programs(path: &std::ffi::OsStr) -> Option<PathBuf> {
    let has_programs = |bin: &PathBuf| ["initdb", "postgres"].iter().all(|name| bin.join(name).is_file());
    let versions = std::fs::read_dir(VERSIONS_FOLDER).into_iter().flatten().flatten();
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let mut versions: Vec<PathBuf> = versions.map(|entry| entry.path()).collect();
    versions.sort_by_key(|path| std::cmp::Reverse(number(path)));
    let installed = versions.into_iter().map(|version| version.join("bin"));
    std::env::split_paths(path).chain(installed).find(has_programs)
}

/// The account under which the server runs.
struct ServerAccount {
    /// The user id and the group id; `None` if the server runs as the same user as docdeck.
    user_and_group: Option<(u32, u32)>,
}

/// Returns the account for the server: that of docdeck or, if docdeck runs as root, `postgres`, because the server
/// refuses to run as root.
///
/// # Errors
/// Fails if docdeck runs as root, and the computer has no account `postgres`.
fn server_account() -> Result<ServerAccount, String> {
    if !rustix::process::geteuid().is_root() {
        return Ok(ServerAccount { user_and_group: None });
    }
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let user_and_group = accounts.lines().find_map(|line| {
        let mut fields = line.strip_prefix("postgres:")?.split(':').skip(1);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    });
    match user_and_group {
        Some(_) => Ok(ServerAccount { user_and_group }),
        None => Err("PostgreSQL refuses to run as root. Run `docdeck demo --team` as another user.".to_owned()),
    }
}

impl ServerAccount {
    fn set_owner(&self, folder: &Path) -> io::Result<()> {
        self.user_and_group.map_or(Ok(()), |(user, group)| std::os::unix::fs::chown(folder, Some(user), Some(group)))
    }

    /// Returns a command that runs the program as this account, in a separate process group, so that signals of the
    /// terminal don't reach it.
    fn command(&self, program: &Path) -> Command {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new(program);
        command.process_group(0);
        if let Some((user, group)) = self.user_and_group {
            command.uid(user).gid(group);
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_are_found_in_the_path_first() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["initdb", "postgres"] {
            std::fs::write(folder.path().join(name), "").expect("written");
        }
        let path = std::env::join_paths([Path::new("/nowhere"), folder.path()]).expect("a path");
        assert_eq!(find_postgres_programs(&path).as_deref(), Some(folder.path()));
    }
}
