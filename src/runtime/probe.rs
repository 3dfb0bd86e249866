//! Finds the capabilities of the terminal, from the environment and from its replies to queries, for `docdeck
//! doctor`. The dashboard itself only asks for the background, after its first frame.

use super::terminal::TerminalCaps;
use super::theme_state::depth;
use crate::config::ColorChoice;
use crate::config::environment::Environment;
use crate::model::colors::Rgb;
use crate::ui::Depth;
use std::time::Duration;

/// How long to wait for a reply: two round trips of a slow connection.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// The number of colours and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColorSupport {
    pub many: &'static str,
    pub why: &'static str,
}

/// The colours that the dashboard would use.
pub fn color_support(choice: ColorChoice, environment: &Environment) -> ColorSupport {
    let many = match depth(choice, environment) {
        Depth::None => "none",
        Depth::Sixteen => "16",
        Depth::Indexed256 => "256",
        Depth::True => "16 million",
    };
    let why = match (choice, depth(choice, environment)) {
        (ColorChoice::Never, _) if environment.no_color => "NO_COLOR, or --color never",
        (ColorChoice::Never, _) => "--color never, or color under [ui]",
        (_, Depth::True) => "COLORTERM",
        (ColorChoice::Always, _) => "--color always, or color under [ui]",
        (ColorChoice::Auto, Depth::Indexed256) => "TERM or COLORTERM",
        (ColorChoice::Auto, _) => "TERM and COLORTERM announce no more",
    };
    ColorSupport { many, why }
}

/// The replies of the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProbeReplies {
    /// The background colour (OSC 11).
    pub background: Option<Rgb>,
    /// It distinguishes keys that are the same otherwise (the kitty keyboard protocol).
    pub keyboard: bool,
    /// The kind of terminal (DA1): numbers separated by semicolons.
    pub device: Option<String>,
    /// Whether DA1 was answered, which every terminal does after all earlier queries.
    pub is_complete: bool,
}

/// Why the terminal was not queried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotQueried {
    /// stdin or stdout is not a terminal.
    NoTerminal,
    /// It may print unknown sequences.
    Plain,
    /// The system refused.
    Refused,
}

/// The queries. Every terminal answers the last one, which ends the wait.
const QUERIES: &[u8] = b"\x1b]11;?\x1b\\\x1b[?u\x1b[c";

/// Queries the terminal for at most a second, and restores it. What the user types in the meantime is dropped, and so
/// is a late reply. Blocks.
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
    // The numbers of each report, and the letter at its end.
    let reports = || {
        text.split("\x1b[?").skip(1).filter_map(|part| {
            let end = part.find(|c: char| !c.is_ascii_digit() && c != ';')?;
            Some((part.get(..end)?, part.get(end..)?.chars().next()?))
        })
    };
    let device = reports().find(|(_, end)| *end == 'c').map(|(numbers, _)| numbers.to_owned());
    ProbeReplies { background, keyboard: reports().any(|(_, end)| end == 'u'), is_complete: device.is_some(), device }
}

#[cfg(unix)]
mod unix {
    use super::{PATIENCE, ProbeReplies, QUERIES, parse_replies};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
    use std::io::{Stdin, Write, stdin, stdout};
    use std::time::Instant;

    /// The previous settings of the terminal.
    struct SavedTermios {
        stdin: Stdin,
        settings: Termios,
    }

    impl Drop for SavedTermios {
        fn drop(&mut self) {
            // Drops unread input too: a late reply would be typed into the shell.
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
        let deadline = Instant::now() + PATIENCE;
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
            keyboard: true,
            device: Some("62;22;52".to_owned()),
            is_complete: true,
        };
        assert_eq!(parse_replies(all), complete);
        let bell = ProbeReplies {
            background: Some(Rgb(255, 255, 255)),
            keyboard: false,
            device: Some("1;2".to_owned()),
            is_complete: true,
        };
        assert_eq!(parse_replies(b"\x1b[?1;2c\x1b]11;rgb:ffff/ffff/ffff\x07"), bell);
        assert_eq!(parse_replies(b"\x1b]11;rgb:ff"), ProbeReplies::default());
        assert_eq!(parse_replies(b"cu"), ProbeReplies::default());
    }

    #[test]
    fn the_source_of_the_colours_is_reported() {
        let of = |choice, pairs: &[(&str, &str)]| {
            let value =
                |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            color_support(choice, &Environment::from_lookup(value))
        };
        assert_eq!(of(ColorChoice::Auto, &[("TERM", "xterm-256color")]).many, "256");
        assert_eq!(
            of(ColorChoice::Auto, &[("COLORTERM", "truecolor")]),
            ColorSupport { many: "16 million", why: "COLORTERM" }
        );
        assert_eq!(of(ColorChoice::Auto, &[("TERM", "xterm")]).many, "16");
        assert_eq!(of(ColorChoice::Never, &[("NO_COLOR", "1")]).many, "none");
    }
}
