//! Runs a program in a pseudo-terminal: a thread collects its output and a terminal emulator parses it. Every wait has
//! a timeout.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Returns the path of the program to test: `DOCDECK_PROGRAM` if that is set, otherwise the program built with the
/// tests.
pub(crate) fn program() -> String {
    std::env::var("DOCDECK_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_docdeck").to_owned())
}

/// Timeout of every wait, long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The key that redraws the complete screen.
const REPAINT: &str = "\x0c";
/// Time without output that counts as quiet.
const QUIET: Duration = Duration::from_millis(150);

/// Returns environment variables without any settings of the user who runs the tests.
pub(crate) fn environment(home: &Path) -> Vec<(String, String)> {
    let home = home.display().to_string();
    let pairs = [("HOME", home.as_str()), ("TERM", "xterm-256color"), ("LANG", "C.UTF-8"), ("PATH", "/usr/bin:/bin")];
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// A program to run, with its arguments, environment and home folder.
pub(crate) struct Setup {
    words: Vec<String>,
    variables: Vec<(String, String)>,
    home: TempDir,
}

impl Setup {
    pub(crate) fn of(words: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let variables = environment(home.path());
        Self { words: words.iter().map(|word| (*word).to_owned()).collect(), variables, home }
    }

    pub(crate) fn dashboard() -> Self {
        Self::of(&[&program()])
    }

    /// Returns the demo without animation and without the tour, which would handle the first key.
    pub(crate) fn demo() -> Self {
        Self::of(&[&program(), "demo", "--no-tour"]).with("DOCDECK_REDUCED_MOTION", "1")
    }

    /// Returns the demo with additional arguments, and with this configuration file in its home folder.
    pub(crate) fn demo_with(arguments: &[&str], config: &str) -> Self {
        let mut setup = Self::demo();
        let path = setup.home.path().join("config.toml");
        std::fs::write(&path, config).expect("written");
        setup.words.extend(arguments.iter().map(|word| (*word).to_owned()));
        setup.words.extend(["--config".to_owned(), path.display().to_string()]);
        setup
    }

    /// Returns a docdeck command.
    pub(crate) fn command(arguments: &[&str]) -> Self {
        Self::of(&[&[program().as_str()], arguments].concat())
    }

    /// Returns the dashboard with this configuration file in its home folder, readable only by its owner.
    pub(crate) fn dashboard_with(config: &str) -> Self {
        use std::os::unix::fs::OpenOptionsExt;
        let mut setup = Self::dashboard();
        let path = setup.home.path().join("config.toml");
        let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(config.as_bytes())).expect("written");
        setup.words.extend(["--config".to_owned(), path.display().to_string()]);
        setup
    }

    /// Returns `docdeck doctor` without a configuration.
    pub(crate) fn doctor() -> Self {
        Self::of(&[&program(), "doctor", "--offline"])
    }

    pub(crate) fn simulator() -> Self {
        Self::of(&[&program(), "sim", "--pages", "10"])
    }

    /// Returns a shell with job control; `$DOCDECK` is the program to test.
    pub(crate) fn shell() -> Self {
        Self::of(&["sh", "-i"]).with("DOCDECK", &program()).with("DOCDECK_REDUCED_MOTION", "1")
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// Puts these words before the command line, for programs such as `valgrind` that run another program.
    pub(crate) fn run_under(mut self, words: &[&str]) -> Self {
        let front: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        self.words.splice(0..0, front);
        self
    }
}

#[derive(Default)]
struct CollectedOutput {
    bytes: Vec<u8>,
    /// Whether all output was collected.
    is_complete: bool,
    /// Whether the collecting thread has to end.
    should_stop: bool,
}

type SharedOutput = Arc<(Mutex<CollectedOutput>, Condvar)>;

/// A running program and its terminal.
pub(crate) struct Pty {
    child: Box<dyn Child + Send + Sync>,
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    shared: SharedOutput,
    parser: vt100::Parser,
    parsed: usize,
    termios: String,
    home: TempDir,
}

impl Pty {
    /// Starts the program at 80 × 24.
    pub(crate) fn spawn(setup: Setup) -> Self {
        Self::spawn_at(80, 24, setup)
    }

    pub(crate) fn spawn_at(columns: u16, rows: u16, setup: Setup) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pty");
        let mut command = CommandBuilder::from_argv(setup.words.iter().map(Into::into).collect());
        command.env_clear();
        setup.variables.iter().for_each(|(name, value)| command.env(name, value));
        command.cwd(setup.home.path());
        let termios = format!("{:?}", pair.master.get_termios());
        let child = pair.slave.spawn_command(command).expect("started");
        drop(pair.slave);
        let shared = SharedOutput::default();
        let reader = pair.master.try_clone_reader().expect("a reader");
        let into = Arc::clone(&shared);
        std::thread::spawn(move || collect(reader, &into));
        Self {
            child,
            writer: Some(pair.master.take_writer().expect("a writer")),
            master: Some(pair.master),
            shared,
            parser: vt100::Parser::new(cells(rows), cells(columns), 0),
            parsed: 0,
            termios,
            home: setup.home,
        }
    }

    /// Returns the home folder, in which the program runs.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn send(&mut self, keys: &str) {
        let writer = self.writer.as_mut().expect("not hung up");
        writer.write_all(keys.as_bytes()).and_then(|()| writer.flush()).expect("sent");
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.read();
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.as_ref().expect("not hung up").resize(size).expect("resized");
        self.parser.screen_mut().set_size(cells(rows), cells(columns));
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = self.child.process_id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        kill_process(id.expect("an id"), signal).expect("it runs");
    }

    /// Closes the terminal. Makes the program repaint, because the collecting thread also has a handle to the terminal,
    /// which it drops only when it receives more output.
    pub(crate) fn hang_up(&mut self) {
        self.lock().should_stop = true;
        self.send(REPAINT);
        self.writer = None;
        self.master = None;
    }

    /// Clears the emulated screen.
    pub(crate) fn clear_screen(&mut self) {
        self.read();
        self.parser = vt100::Parser::new(cells(24), cells(80), 0);
    }

    /// Returns all bytes that the program has sent so far, as text.
    pub(crate) fn sent(&self) -> String {
        String::from_utf8_lossy(&self.lock().bytes).into_owned()
    }

    /// Returns the number of bytes that the program has sent so far.
    pub(crate) fn sent_bytes(&self) -> usize {
        self.lock().bytes.len()
    }

    /// Returns the process id of the program.
    #[cfg(target_os = "linux")]
    pub(crate) fn process(&self) -> u32 {
        self.child.process_id().expect("it runs")
    }

    pub(crate) fn screen(&mut self) -> &vt100::Screen {
        self.read();
        self.parser.screen()
    }

    pub(crate) fn wait_for_text(&mut self, text: &str) {
        self.wait_for(text, |screen| screen.contents().contains(text));
    }

    pub(crate) fn wait_for(&mut self, what: &str, holds: impl Fn(&vt100::Screen) -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !holds(self.screen()) {
            let sent = self.lock();
            let parsed = self.parsed;
            if sent.bytes.len() == parsed && (sent.is_complete || !self.wait(sent, deadline)) {
                panic!("timed out waiting for {what}; the screen:\n{}", self.parser.screen().contents());
            }
        }
    }

    /// Presses these keys repeatedly until the text is shown, because keys have no effect right after a prompt is sent.
    pub(crate) fn press_until(&mut self, keys: &str, text: &str) {
        let deadline = Instant::now() + TIMEOUT;
        while !self.screen().contents().contains(text) {
            assert!(Instant::now() < deadline, "no {text:?}; the screen:\n{}", self.screen().contents());
            self.send(keys);
            self.sends_within(QUIET);
        }
    }

    /// Waits until the program has sent this sequence. Works for sequences that the emulated screen doesn't show.
    pub(crate) fn wait_for_sent(&mut self, what: &str) {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            self.read();
            // Bytes that arrive after this check make the lengths differ and are checked in the next iteration.
            if self.sent().contains(what) {
                return;
            }
            let sent = self.lock();
            if sent.bytes.len() == self.parsed && (sent.is_complete || !self.wait(sent, deadline)) {
                panic!("timed out waiting for {what:?}; the screen:\n{}", self.parser.screen().contents());
            }
        }
    }

    /// Waits until the program has sent nothing for the duration [`QUIET`].
    pub(crate) fn wait_for_quiet(&mut self) {
        let deadline = Instant::now() + TIMEOUT;
        while self.sends_within(QUIET) {
            assert!(Instant::now() < deadline, "the output never stopped");
        }
    }

    /// Whether the program sends anything within this time.
    pub(crate) fn sends_within(&mut self, time: Duration) -> bool {
        self.read();
        let sent = self.lock();
        sent.bytes.len() > self.parsed || self.wait(sent, Instant::now() + time)
    }

    /// Waits for the end of the program and all of its output; returns the exit code.
    pub(crate) fn wait_for_end(&mut self) -> u32 {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().expect("a status") {
                let mut sent = self.lock();
                while self.master.is_some() && !sent.is_complete && Instant::now() < deadline {
                    sent = self.wait_once(sent, Duration::from_millis(20));
                }
                drop(sent);
                assert_eq!(status.signal(), None, "ended by a signal");
                return status.exit_code();
            }
            assert!(Instant::now() < deadline, "it does not end; the screen:\n{}", self.screen().contents());
            drop(self.wait_once(self.lock(), Duration::from_millis(5)));
        }
    }

    /// Presses `q` until the program ends with code 0, and asserts that the terminal is restored. One `q` is needed for
    /// every open dialog, and another while letters have no effect.
    pub(crate) fn quit(&mut self) {
        let deadline = Instant::now() + TIMEOUT;
        while self.child.try_wait().expect("a status").is_none() {
            assert!(Instant::now() < deadline, "it does not end; the screen:\n{}", self.screen().contents());
            // The program may end at this moment.
            let _ = self.writer.as_mut().map(|writer| writer.write_all(b"q").and_then(|()| writer.flush()));
            drop(self.wait_once(self.lock(), QUIET));
        }
        assert_eq!(self.wait_for_end(), 0);
        self.assert_restored();
    }

    /// Asserts that the terminal is as it was before the program started.
    pub(crate) fn assert_restored(&mut self) {
        let now = format!("{:?}", self.master.as_ref().expect("not hung up").get_termios());
        assert_eq!(now, self.termios, "the terminal's settings");
        self.assert_modes_off();
    }

    /// Asserts that every mode is off again. Uses the emulator's state if it supports the mode, and otherwise the sent
    /// sequences.
    pub(crate) fn assert_modes_off(&mut self) {
        let screen = self.screen();
        assert!(!screen.alternate_screen(), "alternate screen");
        assert!(!screen.hide_cursor(), "cursor");
        assert!(!screen.bracketed_paste(), "bracketed paste");
        assert!(!screen.application_cursor(), "cursor keys");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None, "mouse");
        let sent = self.sent();
        let last = |a: &str, b: &str| sent.rfind(a) <= sent.rfind(b);
        assert!(last("\x1b[?1004h", "\x1b[?1004l"), "focus reports");
        assert!(last("\x1b[?2026h", "\x1b[?2026l"), "synchronized output");
        for (on, off) in [("\x1b[>1u", "\x1b[<1u"), ("\x1b[22;2t", "\x1b[23;2t")] {
            assert_eq!(sent.matches(on).count(), sent.matches(off).count(), "{on:?}");
        }
    }

    fn read(&mut self) {
        let sent = self.shared.0.lock().expect("no panic while collecting");
        self.parser.process(sent.bytes.get(self.parsed..).unwrap_or_default());
        self.parsed = sent.bytes.len();
    }

    fn lock(&self) -> MutexGuard<'_, CollectedOutput> {
        self.shared.0.lock().expect("no panic while collecting")
    }

    /// Waits for more bytes or the end of the output; returns `false` if the deadline passes first.
    fn wait(&self, sent: MutexGuard<'_, CollectedOutput>, deadline: Instant) -> bool {
        let before = (sent.bytes.len(), sent.is_complete);
        let time = deadline.saturating_duration_since(Instant::now());
        let (_sent, result) = self
            .shared
            .1
            .wait_timeout_while(sent, time, |sent| (sent.bytes.len(), sent.is_complete) == before)
            .expect("no panic while collecting");
        !result.timed_out()
    }

    fn wait_once<'a>(&self, sent: MutexGuard<'a, CollectedOutput>, time: Duration) -> MutexGuard<'a, CollectedOutput> {
        self.shared.1.wait_timeout(sent, time).expect("no panic while collecting").0
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // The program has already ended, unless a test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn cells(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n).unwrap_or(NonZeroU16::MIN)
}

fn collect(mut reader: Box<dyn Read + Send>, shared: &(Mutex<CollectedOutput>, Condvar)) {
    let mut part = [0; 4096];
    loop {
        let read = reader.read(&mut part);
        let mut sent = shared.0.lock().expect("no panic while waiting");
        match read {
            Ok(n @ 1..) => {
                sent.bytes.extend_from_slice(part.get(..n).unwrap_or_default());
            }
            _ => sent.is_complete = true,
        }
        sent.is_complete |= sent.should_stop;
        let ended = sent.is_complete;
        drop(sent);
        shared.1.notify_all();
        if ended {
            return;
        }
    }
}
