//! The fixture of the command tests: a simulated service on a separate thread, a home folder, and the built program.

use super::{create_folder, http, open_store, parse_faults, scope_of, sim_options};
use assert_cmd::Command;
use docdeck::model::endpoint::Scope;
use docdeck::sim::Sim;
use docdeck::store::Store;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::oneshot;

/// The time after which a run of the program, or the wait for its output, fails the test.
const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// A simulated service, and a computer on which docdeck has no data yet.
pub(crate) struct CommandFixture {
    pub(crate) sim: Arc<Sim>,
    pub(crate) home: TempDir,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The exit code and output of a finished run of the program.
#[derive(Debug)]
pub(crate) struct CommandResult {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl CommandResult {
    /// Parses stdout, which must be a single line of JSON.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.out).expect("JSON")
    }

    /// Parses stdout as JSON, which may have several lines.
    pub(crate) fn multiline_json(&self) -> Value {
        serde_json::from_str(&self.out).expect("JSON")
    }

    /// Asserts that the program exited with `code`.
    pub(crate) fn expect_exit_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

impl CommandFixture {
    /// Starts a service with these faults, whose jobs run a hundred times faster than in reality.
    pub(crate) fn new(faults: &[&str]) -> Self {
        Self::with_pages(10, faults)
    }

    /// Like [`CommandFixture::new`], for a site with this number of pages.
    pub(crate) fn with_pages(pages: u32, faults: &[&str]) -> Self {
        let options = sim_options(pages, faults);
        let (sender, receiver) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let sim = Arc::new(Sim::start(options).await.expect("a simulator"));
                sender.send(sim).expect("somebody waits for it");
                let _ = stopped.await;
            });
        });
        let sim = receiver.recv().expect("a simulator");
        Self { sim, home: create_folder(), stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn set_faults(&self, faults: &[&str]) {
        self.sim.set_faults(parse_faults(faults));
    }

    pub(crate) fn data_folder(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// Returns environment variables that configure the program for the simulated service.
    pub(crate) fn environment_variables(&self) -> Vec<(String, String)> {
        let home = self.home.path().display().to_string();
        let data = self.data_folder().display().to_string();
        let pairs = [
            ("HOME", home.as_str()),
            ("PATH", "/usr/bin:/bin"),
            ("LANG", "C.UTF-8"),
            ("TERM", "xterm-256color"),
            ("TZ", "UTC"),
            ("DOCDECK_DATA_DIR", data.as_str()),
            ("DOCDECK_BASE_URL", &self.sim.base_url()),
            ("DOCDECK_PROJECT_ID", self.sim.project()),
            ("DOCDECK_API_KEY", self.sim.api_key()),
        ];
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// Runs the program with these arguments until it exits.
    pub(crate) fn run(&self, words: &[&str]) -> CommandResult {
        self.run_with(words, &[], "")
    }

    /// Like [`CommandFixture::run`], with additional environment variables and this stdin. A variable with an empty
    /// value counts as unset.
    pub(crate) fn run_with(
        &self,
        words: &[&str],
        variables: &[(&str, &str)],
        stdin: impl Into<Vec<u8>>,
    ) -> CommandResult {
        let mut command = Command::new(env!("CARGO_BIN_EXE_docdeck"));
        command
            .env_clear()
            .envs(self.environment_variables())
            .envs(variables.iter().copied())
            .current_dir(self.home.path());
        let output = command.args(words).write_stdin(stdin.into()).timeout(RUN_TIMEOUT).output().expect("it ran");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        let code = output.status.code().unwrap_or(-1);
        CommandResult { code, out: text(output.stdout), err: text(output.stderr) }
    }

    /// Starts the program with an empty stdin, and returns while it runs.
    pub(crate) fn start(&self, words: &[&str]) -> RunningCommand {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_docdeck"));
        command.env_clear().envs(self.environment_variables()).args(words).current_dir(self.home.path());
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let out = read_lines(child.stdout.take().expect("stdout"));
        let err = read_lines(child.stderr.take().expect("stderr"));
        RunningCommand { child, out, err }
    }

    /// Creates a job on the service that this computer doesn't track. Returns the job's id.
    pub(crate) fn create_untracked_job(&self, prompt: &str) -> String {
        let url = format!("{}/v2/agent/{}/job", self.sim.base_url(), self.sim.project());
        let response = http::post(&url, self.sim.api_key(), &serde_json::json!({ "prompt": prompt }).to_string());
        let job: Value = serde_json::from_str(&response).expect("a job");
        job.get("id").and_then(Value::as_str).expect("an id").to_owned()
    }

    /// Runs `work` with the store. The program must not be running.
    pub(crate) fn with_store<T>(&self, work: impl AsyncFnOnce(&Store, &Scope) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let store = open_store(&self.data_folder());
            let done = work(&store, &scope_of(&self.sim)).await;
            store.close().await;
            done
        })
    }
}

impl Drop for CommandFixture {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The running program, and channels that receive the lines of its output.
pub(crate) struct RunningCommand {
    child: Child,
    out: mpsc::Receiver<String>,
    err: mpsc::Receiver<String>,
}

impl RunningCommand {
    /// Waits for a line on stdout that contains `part`, and skips the lines before it.
    pub(crate) fn wait_for_stdout_line(&self, part: &str) -> String {
        line_containing(&self.out, part)
    }

    /// Like [`RunningCommand::wait_for_stdout_line`], but on stderr.
    pub(crate) fn wait_for_stderr_line(&self, part: &str) -> String {
        line_containing(&self.err, part)
    }

    pub(crate) fn send_signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("an id");
        kill_process(id, signal).expect("it runs");
    }

    /// Waits until the program exits. Returns its exit code and the output that was not read yet.
    pub(crate) fn wait_for_exit(mut self) -> CommandResult {
        // The channels of both streams close when the program exits.
        let rest = |lines: &mpsc::Receiver<String>| {
            let mut text = String::new();
            loop {
                match lines.recv_timeout(RUN_TIMEOUT) {
                    Ok(line) => text.push_str(&format!("{line}\n")),
                    Err(mpsc::RecvTimeoutError::Disconnected) => return text,
                    Err(mpsc::RecvTimeoutError::Timeout) => panic!("it does not end; so far: {text}"),
                }
            }
        };
        let (out, err) = (rest(&self.out), rest(&self.err));
        let code = self.child.wait().expect("a status").code().unwrap_or(-1);
        CommandResult { code, out, err }
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        // The program is still running only if the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_lines(stream: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        while matches!(reader.by_ref().read_until(b'\n', &mut line), Ok(1..)) {
            let text = String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned();
            line.clear();
            if sender.send(text).is_err() {
                return;
            }
        }
    });
    receiver
}

fn line_containing(lines: &mpsc::Receiver<String>, part: &str) -> String {
    let mut before = Vec::new();
    loop {
        match lines.recv_timeout(RUN_TIMEOUT) {
            Ok(line) if line.contains(part) => return line,
            Ok(line) => before.push(line),
            Err(why) => panic!("no line with {part:?} ({why}); before it came {before:#?}"),
        }
    }
}
