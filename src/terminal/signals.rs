//! Receives signals as values, and stops the process group for the job control of a shell. The event loop decides how
//! to react to a signal.

use std::io;

/// A signal that docdeck handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM. Also SIGUSR1, SIGUSR2, SIGALRM and SIGABRT from other processes, which would otherwise end the program
    /// without restoring the terminal.
    Terminate,
    /// SIGHUP, or the terminal is gone.
    Hangup,
    /// SIGINT from another process. (A typed Ctrl-C is a key.)
    Interrupt,
    /// SIGQUIT from another process. (A typed Ctrl-\ is a key.)
    Quit,
    /// SIGTSTP from another process. (A typed Ctrl-Z is a key.)
    Stop,
    Continue,
}

#[cfg(unix)]
pub use unix::{EndSignals, SignalStream, stop_group};

#[cfg(not(unix))]
pub use other::{EndSignals, SignalStream, stop_group};

#[cfg(unix)]
mod unix {
    use super::{Signal, io};
    // nix is used instead of rustix, which assumes that a process id is never 0. In a container, the id of a session or
    // group is 0 if its leader is outside the container's PID namespace.
    use nix::sys::signal::{Signal as Number, killpg};
    use nix::unistd::{getpgrp, getppid, getsid};
    use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

    /// The signals that end the program, as one stream.
    #[derive(Debug)]
    pub struct EndSignals {
        hangup: Stream,
        interrupt: Stream,
        quit: Stream,
        terminate: Stream,
        user_1: Stream,
        user_2: Stream,
        alarm: Stream,
        abort: Stream,
    }

    impl EndSignals {
        /// Starts to receive the signals. They remain caught for the rest of the process.
        ///
        /// # Errors
        /// The system refuses a handler.
        pub fn listen() -> io::Result<Self> {
            let listen = |number: Number| signal(SignalKind::from_raw(number as i32));
            Ok(Self {
                hangup: listen(Number::SIGHUP)?,
                interrupt: listen(Number::SIGINT)?,
                quit: listen(Number::SIGQUIT)?,
                terminate: listen(Number::SIGTERM)?,
                user_1: listen(Number::SIGUSR1)?,
                user_2: listen(Number::SIGUSR2)?,
                alarm: listen(Number::SIGALRM)?,
                // If the program itself calls `abort`, it still ends: `abort` then raises the signal again, uncaught.
                abort: listen(Number::SIGABRT)?,
            })
        }

        /// Waits for the next signal. Cancel safe.
        pub async fn next(&mut self) -> Signal {
            tokio::select! {
                _ = self.hangup.recv() => Signal::Hangup,
                _ = self.interrupt.recv() => Signal::Interrupt,
                _ = self.quit.recv() => Signal::Quit,
                _ = self.terminate.recv() => Signal::Terminate,
                _ = self.user_1.recv() => Signal::Terminate,
                _ = self.user_2.recv() => Signal::Terminate,
                _ = self.alarm.recv() => Signal::Terminate,
                _ = self.abort.recv() => Signal::Terminate,
            }
        }
    }

    /// All handled signals as one stream.
    #[derive(Debug)]
    pub struct SignalStream {
        end: EndSignals,
        stop: Stream,
        continued: Stream,
    }

    impl SignalStream {
        /// Starts to receive the signals. They remain caught for the rest of the process.
        ///
        /// # Errors
        /// The system refuses a handler.
        pub fn listen() -> io::Result<Self> {
            Ok(Self {
                end: EndSignals::listen()?,
                stop: signal(SignalKind::from_raw(Number::SIGTSTP as i32))?,
                continued: signal(SignalKind::from_raw(Number::SIGCONT as i32))?,
            })
        }

        /// Waits for the next signal. Cancel safe.
        pub async fn next(&mut self) -> Signal {
            tokio::select! {
                signal = self.end.next() => signal,
                _ = self.stop.recv() => Signal::Stop,
                _ = self.continued.recv() => Signal::Continue,
            }
        }
    }

    /// Stops the process group, as Ctrl-Z does in a terminal outside raw mode, and returns true when the group is
    /// continued. The whole group stops, because with `cargo run` or a script between the shell and docdeck, the shell
    /// would not notice that only docdeck has stopped. Returns false and stops nothing if there is no shell that could
    /// continue the group.
    pub fn stop_group() -> bool {
        has_job_control() && killpg(getpgrp(), Number::SIGSTOP).is_ok()
    }

    /// Whether a shell could continue the process group. Approximates the kernel's rule for SIGTSTP: there is no such
    /// shell if docdeck's parent is in another session (a terminal emulator, sshd, tmux), or if the leader of the group
    /// is also the leader of the session.
    fn has_job_control() -> bool {
        let parent = getppid();
        // The id of a parent outside the PID namespace is 0, which `getsid` would take for the current process.
        let parent_session = (parent.as_raw() > 0).then(|| getsid(Some(parent)).ok()).flatten();
        let session = getsid(None).ok();
        session.is_some() && session == parent_session && session != Some(getpgrp())
    }
}

#[cfg(not(unix))]
mod other {
    use super::{Signal, io};

    /// Receives Ctrl-C, the only supported signal.
    #[derive(Debug)]
    pub struct SignalStream;

    impl SignalStream {
        /// # Errors
        /// Never fails.
        pub fn listen() -> io::Result<Self> {
            Ok(Self)
        }

        /// Waits for the next signal.
        pub async fn next(&mut self) -> Signal {
            match tokio::signal::ctrl_c().await {
                Ok(()) => Signal::Interrupt,
                Err(_) => std::future::pending().await,
            }
        }
    }

    /// The same stream, because Ctrl-C is also the only signal that ends the program.
    pub type EndSignals = SignalStream;

    /// There is no job control on this system.
    pub fn stop_group() -> bool {
        false
    }
}
