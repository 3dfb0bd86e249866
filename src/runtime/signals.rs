//! Signals as values, and stopping for a shell's job control. Which signal does what is decided in the event loop.

use std::io;

/// A signal that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM; and SIGUSR1, SIGUSR2, SIGALRM and SIGABRT from outside, which would end the program without giving the terminal
    /// back.
    Terminate,
    /// SIGHUP, or the terminal is gone.
    Hangup,
    /// SIGINT from outside (typed, it comes as a key).
    Interrupt,
    /// SIGQUIT from outside (typed, it comes as a key).
    Quit,
    /// SIGTSTP from outside.
    Stop,
    /// SIGCONT.
    Continue,
}

#[cfg(unix)]
pub use unix::{EndSignals, SignalStream, stop_group};

#[cfg(not(unix))]
pub use other::{EndSignals, Signals, stop_group};

#[cfg(unix)]
mod unix {
    use super::{Signal, io};
    // Not rustix here: it takes an id of 0 for impossible, but that is what a process gets for a session or group whose
    // leader is outside its PID namespace (a container's).
    use nix::sys::signal::{Signal as Number, killpg};
    use nix::unistd::{getpgrp, getppid, getsid};
    use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

    /// The signals that ask the program to end, as one stream.
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
        /// Takes the signals over for the rest of the process.
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

        /// The next one. Nothing is lost when this is dropped while waiting.
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

    /// All signals that matter, as one stream.
    #[derive(Debug)]
    pub struct SignalStream {
        end: EndSignals,
        stop: Stream,
        go_on: Stream,
    }

    impl SignalStream {
        /// Takes the signals over for the rest of the process.
        ///
        /// # Errors
        /// The system refuses a handler.
        pub fn listen() -> io::Result<Self> {
            Ok(Self {
                end: EndSignals::listen()?,
                stop: signal(SignalKind::from_raw(Number::SIGTSTP as i32))?,
                go_on: signal(SignalKind::from_raw(Number::SIGCONT as i32))?,
            })
        }

        /// The next one. Nothing is lost when this is dropped while waiting.
        pub async fn next(&mut self) -> Signal {
            tokio::select! {
                signal = self.end.next() => signal,
                _ = self.stop.recv() => Signal::Stop,
                _ = self.go_on.recv() => Signal::Continue,
            }
        }
    }

    /// Stops the process group, as Ctrl-Z in a cooked terminal would, and returns once it is continued: with
    /// `cargo run` or a script between the shell and us, the shell sees a stopped job only when all of it stops. False
    /// (and nothing is stopped) where there is no shell that could continue us.
    pub fn stop_group() -> bool {
        has_job_control() && killpg(getpgrp(), Number::SIGSTOP).is_ok()
    }

    /// The kernel's rule for SIGTSTP, as far as it can be seen from here: a group whose parent is in another session
    /// (a terminal emulator, sshd, tmux), or which is led by the session's leader, has nobody to continue it.
    fn has_job_control() -> bool {
        let parent = getppid();
        // A parent outside the namespace is 0, which `getsid` would take for ourselves.
        let parents = (parent.as_raw() > 0).then(|| getsid(Some(parent)).ok()).flatten();
        let own = getsid(None).ok();
        own.is_some() && own == parents && own != Some(getpgrp())
    }
}

#[cfg(not(unix))]
mod other {
    use super::{Signal, io};

    /// Ctrl-C from outside is all there is.
    #[derive(Debug)]
    pub struct Signals;

    impl SignalStream {
        /// # Errors
        /// None here.
        pub fn listen() -> io::Result<Self> {
            Ok(Self)
        }

        /// The next one.
        pub async fn next(&mut self) -> Signal {
            match tokio::signal::ctrl_c().await {
                Ok(()) => Signal::Interrupt,
                Err(_) => std::future::pending().await,
            }
        }
    }

    /// The same: nothing else asks to end here.
    pub type EndSignals = SignalStream;

    /// There is no job control here.
    pub fn stop_group() -> bool {
        false
    }
}
