//! Runs the built simulator as a separate process, for commands that need a service.

use crate::support::pty;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A running simulator; it ends when dropped.
pub(crate) struct Service {
    child: Child,
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) project: String,
}

impl Service {
    /// Starts the simulator with these additional arguments.
    pub(crate) fn start(home: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(pty::program());
        command.env_clear().envs(pty::environment(home)).args(["sim", "--pages", "10", "--jobs", "0"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("started");
        let lines = BufReader::new(child.stdout.take().expect("its output"));
        let mut output = lines.lines().map_while(Result::ok);
        let mut value = |name: &str| {
            let start = format!("export {name}=");
            output.find_map(|line| line.strip_prefix(&start).map(str::to_owned)).expect("a line for a shell")
        };
        let (url, key) = (value("DOCDECK_BASE_URL"), value("DOCDECK_API_KEY"));
        let project = value("DOCDECK_PROJECT_ID");
        Self { child, url, key, project }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
