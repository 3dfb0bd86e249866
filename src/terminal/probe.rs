//! Finds the capabilities of the terminal by its replies to queries, for diagnostics. Not for an event loop, because it
//! blocks the thread until the replies have arrived.

use super::caps::TerminalCaps;
use std::time::Duration;

/// How long to wait for all replies: two round trips of a slow connection.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(1);

/// The replies of the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProbeReplies {
    /// The background colour (OSC 11): red, green and blue.
    pub background: Option<[u8; 3]>,
    /// Whether the terminal supports the kitty keyboard protocol. It distinguishes keys that otherwise send the same
    /// bytes.
    pub supports_kitty_keyboard: bool,
    /// The device attributes of the terminal (DA1): numbers separated by semicolons.
    pub device: Option<String>,
    /// Whether the terminal has replied to DA1, the last query. Every terminal replies to DA1, and only after it has
    /// handled the other queries.
    pub is_complete: bool,
}

/// The reason why the terminal was not queried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotQueried {
    /// stdin or stdout is not a terminal.
    NoTerminal,
    /// The terminal may print the queries as text, because it doesn't ignore unknown sequences.
    MayPrintSequences,
    /// The terminal's settings could not be changed, the queries could not be sent, or the system is not Unix.
    Failed,
}

/// The queries: background, keyboard protocol, DA1. Every terminal replies to DA1, which ends the wait.
const QUERIES: &[u8] = b"\x1b]11;?\x1b\\\x1b[?u\x1b[c";

/// Queries the terminal, waits at most a second for the replies, and restores the terminal. Drops what the user types
/// in the meantime, and late replies. Blocks the thread.
///
/// # Errors
/// Fails if the terminal was not queried. `caps` is `None` for a dumb terminal.
pub fn query_terminal(caps: Option<TerminalCaps>) -> Result<ProbeReplies, NotQueried> {
    if !std::io::IsTerminal::is_terminal(&std::io::stdin()) || !std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        return Err(NotQueried::NoTerminal);
    }
    if !caps.is_some_and(|caps| caps.is_modern) {
        return Err(NotQueried::MayPrintSequences);
    }
    unix::query().ok_or(NotQueried::Failed)
}

fn parse_replies(bytes: &[u8]) -> ProbeReplies {
    let text = String::from_utf8_lossy(bytes);
    let background = text.split("\x1b]").find_map(|part| {
        let end = part.find(['\x07', '\x1b'])?;
        super::background::parse_reply(part.get(..end)?)
    });
    // Returns the numbers and the letter of each reply of the form `ESC [ ? NUMBERS LETTER`.
    let reports = || {
        text.split("\x1b[?").skip(1).filter_map(|part| {
            let end = part.find(|c: char| !c.is_ascii_digit() && c != ';')?;
            Some((part.get(..end)?, part.get(end..)?.chars().next()?))
        })
    };
    let device = reports().find(|(_, end)| *end == 'c').map(|(numbers, _)| numbers.to_owned());
    ProbeReplies {
        background,
        supports_kitty_keyboard: reports().any(|(_, end)| end == 'u'),
        is_complete: device.is_some(),
        device,
    }
}

#[cfg(unix)]
mod unix {
    use super::{ProbeReplies, QUERIES, REPLY_TIMEOUT, parse_replies};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
    use std::io::{Stdin, Write, stdin, stdout};
    use std::time::Instant;

    /// The previous settings of the terminal. They are restored on drop.
    struct SavedTermios {
        stdin: Stdin,
        settings: Termios,
    }

    impl Drop for SavedTermios {
        fn drop(&mut self) {
            // `Flush` also drops unread input. Otherwise the shell would read a late reply as typed text.
            let _ = tcsetattr(&self.stdin, OptionalActions::Flush, &self.settings);
        }
    }

    pub(super) fn query() -> Option<ProbeReplies> {
        let before = SavedTermios { stdin: stdin(), settings: tcgetattr(stdin()).ok()? };
        let mut raw = before.settings.clone();
        raw.make_raw();
        tcsetattr(&before.stdin, OptionalActions::Now, &raw).ok()?;
        let mut out = stdout().lock();
        out.write_all(QUERIES).and_then(|()| out.flush()).ok()?;
        let deadline = Instant::now() + REPLY_TIMEOUT;
        let mut received = Vec::new();
        let mut part = [0; 256];
        while !parse_replies(&received).is_complete {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).ok().filter(|left| left.tv_sec > 0 || left.tv_nsec > 0);
            let Some(left) = left else { break };
            let mut ready = [PollFd::new(&before.stdin, PollFlags::IN)];
            if !poll(&mut ready, Some(&left)).is_ok_and(|ready| ready > 0) {
                break;
            }
            match rustix::io::read(&before.stdin, &mut part) {
                Ok(n @ 1..) => received.extend_from_slice(part.get(..n).unwrap_or_default()),
                _ => break,
            }
        }
        Some(parse_replies(&received))
    }
}

#[cfg(not(unix))]
mod unix {
    pub(super) fn query() -> Option<super::ProbeReplies> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_found_at_any_position() {
        let all = b"x\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b[?0u\x1b[?62;22;52c";
        let complete = ProbeReplies {
            background: Some([0x1e, 0x1e, 0x2e]),
            supports_kitty_keyboard: true,
            device: Some("62;22;52".to_owned()),
            is_complete: true,
        };
        assert_eq!(parse_replies(all), complete);
        let bell = ProbeReplies {
            background: Some([255, 255, 255]),
            supports_kitty_keyboard: false,
            device: Some("1;2".to_owned()),
            is_complete: true,
        };
        assert_eq!(parse_replies(b"\x1b[?1;2c\x1b]11;rgb:ffff/ffff/ffff\x07"), bell);
        assert_eq!(parse_replies(b"\x1b]11;rgb:ff"), ProbeReplies::default());
        assert_eq!(parse_replies(b"cu"), ProbeReplies::default());
    }
}
