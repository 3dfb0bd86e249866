//! Shared by the tests: a simulated service on a separate thread, a home folder, and the built program.

use crate::http;
use assert_cmd::Command;
use docdeck::model::endpoint::Scope;
use docdeck::sim::{Fault, Sim, SimOptions};
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

/// A program that takes longer has failed.
const TOO_LONG: Duration = Duration::from_secs(30);

/// The service, and a computer without any data.
pub(crate) struct CommandFixture {
    pub(crate) sim: Arc<Sim>,
    pub(crate) home: TempDir,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Stdout as one line of JSON.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.out).expect("JSON")
    }

    /// Stdout as JSON of one or more lines.
    pub(crate) fn multiline_json(&self) -> Value {
        serde_json::from_str(&self.out).expect("JSON")
    }

    /// Asserts the exit code.
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

impl CommandFixture {
    /// A service with these faults, whose jobs run a hundred times faster than in reality.
    pub(crate) fn new(faults: &[&str]) -> Self {
        Self::with_pages(10, faults)
    }

    /// As [`CommandFixture::new`], with this number of pages.
    pub(crate) fn with_pages(pages: u32, faults: &[&str]) -> Self {
        let faults = faults.iter().map(|fault| fault.parse::<Fault>().expect("a fault")).collect();
        let options = SimOptions { jobs: 0, pages, speed: 100.0, faults, ..SimOptions::default() };
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
        let home = tempfile::tempdir().expect("a folder");
        Self { sim, home, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn faults(&self, faults: &[&str]) {
        self.sim.set_faults(faults.iter().map(|fault| fault.parse().expect("a fault")).collect());
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// The environment of a configured program.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let home = self.home.path().display().to_string();
        let data = self.data().display().to_string();
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

    /// Runs the program to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.run_with(words, &[], "")
    }

    /// As [`CommandFixture::run`], with other variables (an empty one counts as unset) and this stdin.
    pub(crate) fn run_with(&self, words: &[&str], variables: &[(&str, &str)], stdin: impl Into<Vec<u8>>) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_docdeck"));
        command.env_clear().envs(self.variables()).envs(variables.iter().copied()).current_dir(self.home.path());
        let output = command.args(words).write_stdin(stdin.into()).timeout(TOO_LONG).output().expect("it ran");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        let code = output.status.code().unwrap_or(-1);
        Ran { code, out: text(output.stdout), err: text(output.stderr) }
    }

    /// Starts the program with an empty stdin.
    pub(crate) fn start(&self, words: &[&str]) -> Running {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_docdeck"));
        command.env_clear().envs(self.variables()).args(words).current_dir(self.home.path());
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let out = lines(child.stdout.take().expect("stdout"));
        let err = lines(child.stderr.take().expect("stderr"));
        Running { child, out, err }
    }

    /// Creates a job that this computer doesn't track. Returns its id.
    pub(crate) fn created_elsewhere(&self, prompt: &str) -> String {
        let url = format!("{}/v2/agent/{}/job", self.sim.base_url(), self.sim.project());
        let answer = http::post(&url, self.sim.api_key(), &serde_json::json!({ "prompt": prompt }).to_string());
        let job: Value = serde_json::from_str(&answer).expect("a job");
        job.get("id").and_then(Value::as_str).expect("an id").to_owned()
    }

    /// Runs `work` on the store, while no program uses it.
    pub(crate) fn store<T>(&self, work: impl AsyncFnOnce(&Store, &Scope) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let scope = Scope { base_url: self.sim.base_url(), project: self.sim.project().to_owned(), organization: None };
        runtime.block_on(async {
            let (store, _) = Store::open(&self.data(), chrono::Utc::now()).expect("a store");
            let done = work(&store, &scope).await;
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

/// The running program, with its output line by line.
pub(crate) struct Running {
    child: Child,
    out: mpsc::Receiver<String>,
    err: mpsc::Receiver<String>,
}

impl Running {
    /// Waits for the first line on stdout that contains this; skips those before it.
    pub(crate) fn out_line(&self, part: &str) -> String {
        line_with(&self.out, part)
    }

    /// As [`Running::out_line`], on stderr.
    pub(crate) fn err_line(&self, part: &str) -> String {
        line_with(&self.err, part)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("an id");
        kill_process(id, signal).expect("it runs");
    }

    /// The exit code and the unread output.
    pub(crate) fn end(mut self) -> Ran {
        // Both streams end with the program; a line that does not come in time is a failure.
        let rest = |lines: &mpsc::Receiver<String>| {
            let mut text = String::new();
            loop {
                match lines.recv_timeout(TOO_LONG) {
                    Ok(line) => text.push_str(&format!("{line}\n")),
                    Err(mpsc::RecvTimeoutError::Disconnected) => return text,
                    Err(mpsc::RecvTimeoutError::Timeout) => panic!("it does not end; so far: {text}"),
                }
            }
        };
        let (out, err) = (rest(&self.out), rest(&self.err));
        let code = self.child.wait().expect("a status").code().unwrap_or(-1);
        Ran { code, out, err }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It is still running only if a test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(stream: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
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

fn line_with(lines: &mpsc::Receiver<String>, part: &str) -> String {
    let mut before = Vec::new();
    loop {
        match lines.recv_timeout(TOO_LONG) {
            Ok(line) if line.contains(part) => return line,
            Ok(line) => before.push(line),
            Err(why) => panic!("no line with {part:?} ({why}); before it came {before:#?}"),
        }
    }
}
