//! Signals as values, and stopping for the job control of a shell. The event loop decides what a signal does.

use std::io;

/// A signal that docdeck handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM; also SIGUSR1, SIGUSR2, SIGALRM and SIGABRT from outside, which would end the program without
    /// restoring the terminal.
    Terminate,
    /// SIGHUP, or the terminal is gone.
    Hangup,
    /// SIGINT from outside (if typed, it is a key).
    Interrupt,
    /// SIGQUIT from outside (if typed, it is a key).
    Quit,
    /// SIGTSTP from outside.
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
    // Not rustix: it assumes that an id is never 0, but a process gets 0 for a session or group whose leader is
    // outside its PID namespace (of a container).
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
        /// Handles the signals for the rest of the process.
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
                // A call of `abort` in the program itself still ends it: its second signal is not caught.
                abort: listen(Number::SIGABRT)?,
            })
        }

        /// The next signal. Cancel safe.
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
        /// Handles the signals for the rest of the process.
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

        /// The next signal. Cancel safe.
        pub async fn next(&mut self) -> Signal {
            tokio::select! {
                signal = self.end.next() => signal,
                _ = self.stop.recv() => Signal::Stop,
                _ = self.continued.recv() => Signal::Continue,
            }
        }
    }

    /// Stops the process group, as Ctrl-Z in a cooked terminal would, and returns when it continues: with `cargo run`
    /// or a script between the shell and docdeck, the shell only notices a stopped job if the complete group stops.
    /// Returns false and stops nothing if there is no shell that could continue it.
    pub fn stop_group() -> bool {
        has_job_control() && killpg(getpgrp(), Number::SIGSTOP).is_ok()
    }

    /// Approximates the kernel's rule for SIGTSTP: a group whose parent is in another session (a terminal emulator,
    /// sshd, tmux), or which the session's leader leads, has no parent that could continue it.
    fn has_job_control() -> bool {
        let parent = getppid();
        // A parent outside the namespace is 0, which `getsid` would take for the current process.
        let parents = (parent.as_raw() > 0).then(|| getsid(Some(parent)).ok()).flatten();
        let session = getsid(None).ok();
        session.is_some() && session == parents && session != Some(getpgrp())
    }
}

#[cfg(not(unix))]
mod other {
    use super::{Signal, io};

    /// Only Ctrl-C is supported.
    #[derive(Debug)]
    pub struct SignalStream;

    impl SignalStream {
        /// # Errors
        /// Never.
        pub fn listen() -> io::Result<Self> {
            Ok(Self)
        }

        /// The next signal.
        pub async fn next(&mut self) -> Signal {
            match tokio::signal::ctrl_c().await {
                Ok(()) => Signal::Interrupt,
                Err(_) => std::future::pending().await,
            }
        }
    }

    /// The same, since no other signal ends the program.
    pub type EndSignals = SignalStream;

    /// There is no job control on this system.
    pub fn stop_group() -> bool {
        false
    }
}
