//! Receives signals as values, and stops the process group for the job control of a shell. The event loop decides how
//! to react to a signal.

use std::io;

/// A signal that the program handles.
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
pub use unix::{ResizeStream, SignalStream, stop_process_group};

#[cfg(not(unix))]
pub use not_unix::{ResizeStream, SignalStream, stop_process_group};

#[cfg(unix)]
mod unix {
    use super::{Signal, io};
    // nix is used instead of rustix, which assumes that a process id is never 0. In a container, the id of a session or
    // group is 0 if its leader is outside the container's PID namespace.
    use nix::sys::signal::{Signal as Number, killpg};
    use nix::unistd::{getpgrp, getppid, getsid};
    use std::task::Poll;
    use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

    /// The signals that end the program.
    const END_SIGNALS: [(Number, Signal); 8] = [
        (Number::SIGHUP, Signal::Hangup),
        (Number::SIGINT, Signal::Interrupt),
        (Number::SIGQUIT, Signal::Quit),
        (Number::SIGTERM, Signal::Terminate),
        (Number::SIGUSR1, Signal::Terminate),
        (Number::SIGUSR2, Signal::Terminate),
        (Number::SIGALRM, Signal::Terminate),
        // If the program itself calls `abort`, it still ends: `abort` then raises the signal again, uncaught.
        (Number::SIGABRT, Signal::Terminate),
    ];
    /// The signals for the job control of a shell.
    const JOB_CONTROL_SIGNALS: [(Number, Signal); 2] =
        [(Number::SIGTSTP, Signal::Stop), (Number::SIGCONT, Signal::Continue)];

    /// Signals as one stream.
    #[derive(Debug)]
    pub struct SignalStream(Vec<(Stream, Signal)>);

    impl SignalStream {
        /// Starts to receive the signals that end the program and those for job control. They remain caught for the
        /// rest of the process.
        ///
        /// # Errors
        /// Fails if the system refuses a handler.
        pub fn listen() -> io::Result<Self> {
            Self::listen_to(&[END_SIGNALS.as_slice(), &JOB_CONTROL_SIGNALS].concat())
        }

        /// Like [`Self::listen`], but only for the signals that end the program.
        ///
        /// # Errors
        /// Fails if the system refuses a handler.
        pub fn listen_for_end_signals() -> io::Result<Self> {
            Self::listen_to(&END_SIGNALS)
        }

        fn listen_to(signals: &[(Number, Signal)]) -> io::Result<Self> {
            let listen = |(number, kind): &(Number, Signal)| Ok((signal(SignalKind::from_raw(*number as i32))?, *kind));
            signals.iter().map(listen).collect::<io::Result<_>>().map(Self)
        }

        /// Waits for the next signal. Cancel safe.
        pub async fn next(&mut self) -> Signal {
            std::future::poll_fn(|cx| {
                for (stream, kind) in &mut self.0 {
                    if stream.poll_recv(cx) == Poll::Ready(Some(())) {
                        return Poll::Ready(*kind);
                    }
                }
                Poll::Pending
            })
            .await
        }
    }

    /// The signals for a possible change of the terminal's size (SIGWINCH).
    #[derive(Debug)]
    pub struct ResizeStream(Stream);

    impl ResizeStream {
        /// Starts to receive the signals.
        ///
        /// # Errors
        /// Fails if the system refuses a handler.
        pub fn listen() -> io::Result<Self> {
            signal(SignalKind::window_change()).map(Self)
        }

        /// Waits for the next signal. Several signals in a row may be received as one. Cancel safe.
        pub async fn next(&mut self) {
            if self.0.recv().await.is_none() {
                std::future::pending().await
            }
        }
    }

    /// Stops the process group, as Ctrl-Z does in a terminal outside raw mode, and returns true when the group is
    /// continued. The whole group stops, because with `cargo run` or a script between the shell and the program, the
    /// shell would not notice that only the program has stopped. Returns false and stops nothing if there is no shell
    /// that could continue the group.
    pub fn stop_process_group() -> bool {
        has_job_control() && killpg(getpgrp(), Number::SIGSTOP).is_ok()
    }

    /// Whether a shell could continue the process group. Approximates the kernel's rule for SIGTSTP: there is no such
    /// shell if the parent of this process is in another session (a terminal emulator, sshd, tmux), or if the leader of
    /// the group is also the leader of the session.
    fn has_job_control() -> bool {
        let parent = getppid();
        // The id of a parent outside the PID namespace is 0, which `getsid` would take for the current process.
        let parent_session = (parent.as_raw() > 0).then(|| getsid(Some(parent)).ok()).flatten();
        let session = getsid(None).ok();
        session.is_some() && session == parent_session && session != Some(getpgrp())
    }
}

#[cfg(not(unix))]
mod not_unix {
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

        /// # Errors
        /// Never fails.
        pub fn listen_for_end_signals() -> io::Result<Self> {
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

    /// The signals for a possible change of the terminal's size; none on this system.
    #[derive(Debug)]
    pub struct ResizeStream;

    impl ResizeStream {
        /// # Errors
        /// Never fails.
        pub fn listen() -> io::Result<Self> {
            Ok(Self)
        }

        /// Never returns.
        pub async fn next(&mut self) {
            std::future::pending().await
        }
    }

    /// Returns false, because this system has no job control.
    pub fn stop_process_group() -> bool {
        false
    }
}
