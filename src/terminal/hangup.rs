//! Detects that the terminal is gone, even without SIGHUP (which is ignored under `nohup`), and even while another
//! program reads the terminal.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod watch {
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// Watches stdin only for its end. Input doesn't wake the task.
    #[derive(Debug)]
    pub(crate) struct HangupWatch(Option<AsyncFd<OwnedFd>>);

    impl HangupWatch {
        /// Starts to watch stdin. Watches nothing if the system doesn't support it.
        pub(crate) fn watch() -> Self {
            let fd = io::stdin().as_fd().try_clone_to_owned();
            #[expect(deprecated, reason = "its successor asks for unsafe code; the descriptor is owned and stays open")]
            Self(fd.and_then(|fd| AsyncFd::with_interest(fd, Interest::PRIORITY)).ok())
        }

        /// Waits until the terminal is gone. Never returns if nothing is watched.
        pub(crate) async fn wait_for_hangup(&self) {
            let Some(fd) = &self.0 else { return std::future::pending().await };
            loop {
                match fd.ready(Interest::PRIORITY).await {
                    Ok(mut guard) if !guard.ready().is_read_closed() => guard.clear_ready(),
                    _ => return,
                }
            }
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod watch {
    /// Watches nothing, because this system can't watch stdin only for its end.
    #[derive(Debug)]
    pub(crate) struct HangupWatch;

    impl HangupWatch {
        /// Watches nothing.
        pub(crate) fn watch() -> Self {
            Self
        }

        /// Never returns.
        pub(crate) async fn wait_for_hangup(&self) {
            std::future::pending().await
        }
    }
}

pub(super) use watch::HangupWatch;
