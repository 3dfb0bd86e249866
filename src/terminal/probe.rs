//! Finds the capabilities of the terminal, from the environment and from its replies to queries, for `docdeck
//! doctor`. The dashboard itself only asks for the background, after its first frame.

use super::modes::TerminalCaps;
use crate::config::ColorChoice;
use crate::config::environment::Environment;
use crate::model::colors::Rgb;
use crate::runtime::theme_state::color_depth;
use crate::tui::draw::ColorDepth;
use std::time::Duration;

/// How long to wait for all replies: two round trips of a slow connection.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(1);

/// The number of colours as text, and which setting determines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColorSupport {
    pub count: &'static str,
    pub reason: &'static str,
}

/// Returns how many colours the dashboard would use.
pub fn color_support(choice: ColorChoice, environment: &Environment) -> ColorSupport {
    let many = match color_depth(choice, environment) {
        ColorDepth::None => "none",
        ColorDepth::Sixteen => "16",
        ColorDepth::Indexed256 => "256",
        ColorDepth::True => "16 million",
    };
    let why = match (choice, color_depth(choice, environment)) {
        (ColorChoice::Never, _) if environment.no_color => "NO_COLOR, or --color never",
        (ColorChoice::Never, _) => "--color never, or color under [ui]",
        (_, ColorDepth::True) => "COLORTERM",
        (ColorChoice::Always, _) => "--color always, or color under [ui]",
        (ColorChoice::Auto, ColorDepth::Indexed256) => "TERM or COLORTERM",
        (ColorChoice::Auto, _) => "TERM and COLORTERM announce no more",
    };
    ColorSupport { count: many, reason: why }
}

/// The replies of the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProbeReplies {
    /// The background colour (OSC 11).
    pub background: Option<Rgb>,
    /// Whether the terminal supports the kitty keyboard protocol. It distinguishes keys that otherwise send the same
    /// bytes.
    pub supports_kitty_keyboard: bool,
    /// The device attributes of the terminal (DA1): numbers separated by semicolons.
    pub device: Option<String>,
    /// Whether the terminal has replied to DA1, the last query. Every terminal does, after it has handled the other
    /// queries.
    pub is_complete: bool,
}

/// Why the terminal was not queried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotQueried {
    /// stdin or stdout is not a terminal.
    NoTerminal,
    /// The terminal may print unknown sequences.
    Plain,
    /// The terminal's settings could not be changed, or the queries could not be sent.
    Refused,
}

/// The queries: background, keyboard protocol, DA1. Every terminal replies to DA1, which ends the wait.
const QUERIES: &[u8] = b"\x1b]11;?\x1b\\\x1b[?u\x1b[c";

/// Queries the terminal, waits at most a second for the replies, and restores the terminal. Drops what the user types
/// in the meantime, and late replies. Blocks the thread.
///
/// # Errors
/// The terminal was not queried.
pub fn query_terminal(environment: &Environment) -> Result<ProbeReplies, NotQueried> {
    if !std::io::IsTerminal::is_terminal(&std::io::stdin()) || !std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        return Err(NotQueried::NoTerminal);
    }
    if !TerminalCaps::of(environment).is_ok_and(|caps| caps.modern) {
        return Err(NotQueried::Plain);
    }
    unix::ask().ok_or(NotQueried::Refused)
}

/// Parses the replies.
fn parse_replies(bytes: &[u8]) -> ProbeReplies {
    let text = String::from_utf8_lossy(bytes);
    let background = text.split("\x1b]").find_map(|part| {
        let end = part.find(['\x07', '\x1b'])?;
        super::osc_replies::parse_background(part.get(..end)?)
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

    /// The previous settings of the terminal. Dropping it restores them.
    struct SavedTermios {
        stdin: Stdin,
        settings: Termios,
    }

    impl Drop for SavedTermios {
        fn drop(&mut self) {
            // `Flush` also drops unread input, because the shell would read a late reply as typed text.
            let _ = tcsetattr(&self.stdin, OptionalActions::Flush, &self.settings);
        }
    }

    pub(super) fn ask() -> Option<ProbeReplies> {
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
    pub(super) fn ask() -> Option<super::ProbeReplies> {
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
            background: Some(Rgb(0x1e, 0x1e, 0x2e)),
            supports_kitty_keyboard: true,
            device: Some("62;22;52".to_owned()),
            is_complete: true,
        };
        assert_eq!(parse_replies(all), complete);
        let bell = ProbeReplies {
            background: Some(Rgb(255, 255, 255)),
            supports_kitty_keyboard: false,
            device: Some("1;2".to_owned()),
            is_complete: true,
        };
        assert_eq!(parse_replies(b"\x1b[?1;2c\x1b]11;rgb:ffff/ffff/ffff\x07"), bell);
        assert_eq!(parse_replies(b"\x1b]11;rgb:ff"), ProbeReplies::default());
        assert_eq!(parse_replies(b"cu"), ProbeReplies::default());
    }

    #[test]
    fn the_number_of_colours_and_the_reason_for_it_are_reported() {
        let support = |choice, pairs: &[(&str, &str)]| {
            let value =
                |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            color_support(choice, &Environment::from_lookup(value))
        };
        assert_eq!(support(ColorChoice::Auto, &[("TERM", "xterm-256color")]).count, "256");
        assert_eq!(
            support(ColorChoice::Auto, &[("COLORTERM", "truecolor")]),
            ColorSupport { count: "16 million", reason: "COLORTERM" }
        );
        assert_eq!(support(ColorChoice::Auto, &[("TERM", "xterm")]).count, "16");
        assert_eq!(support(ColorChoice::Never, &[("NO_COLOR", "1")]).count, "none");
    }
}
