//! What the terminal can do: as the environment tells, and as the terminal itself answers when it is asked. For people who
//! want to know; the dashboard asks for its background alone, and after its first frame.

use super::terminal::TerminalCaps;
use super::theme_state::depth;
use crate::config::ColorChoice;
use crate::config::environment::Environment;
use crate::model::colors::Rgb;
use crate::ui::Depth;
use std::time::Duration;

/// How long an answer is waited for: a slow connection's way there and back, twice.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// How many colours there are, and what tells so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colours {
    pub many: &'static str,
    pub why: &'static str,
}

/// The colours that the dashboard would use.
pub fn colours(choice: ColorChoice, environment: &Environment) -> Colours {
    let many = match depth(choice, environment) {
        Depth::None => "none",
        Depth::Sixteen => "16",
        Depth::Many => "256",
        Depth::True => "16 million",
    };
    let why = match (choice, depth(choice, environment)) {
        (ColorChoice::Never, _) if environment.no_color => "NO_COLOR, or --color never",
        (ColorChoice::Never, _) => "--color never, or color under [ui]",
        (_, Depth::True) => "COLORTERM",
        (ColorChoice::Always, _) => "--color always, or color under [ui]",
        (ColorChoice::Auto, Depth::Many) => "TERM or COLORTERM",
        (ColorChoice::Auto, _) => "neither TERM nor COLORTERM promises more",
    };
    Colours { many, why }
}

/// What the terminal answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProbeReplies {
    /// Its background (OSC 11).
    pub background: Option<Rgb>,
    /// It tells keys apart that look alike otherwise (the kitty keyboard protocol).
    pub keyboard: bool,
    /// What it says that it is (DA1): numbers, with semicolons between them.
    pub device: Option<String>,
    /// That answer came, which every terminal gives after what was asked before.
    pub is_complete: bool,
}

/// Why the terminal was not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAsked {
    /// stdin or stdout is none.
    NoTerminal,
    /// It may print what it doesn't know.
    Plain,
    /// The system does not let it be asked.
    Refused,
}

/// The questions; what the last one asks is answered by every terminal, and ends the wait.
const QUESTIONS: &[u8] = b"\x1b]11;?\x1b\\\x1b[?u\x1b[c";

/// Asks the terminal, for a second at most, and gives it back as it was. What is typed meanwhile is dropped, as is an answer
/// that comes just after. Blocks.
///
/// # Errors
/// It was not asked.
pub fn ask(environment: &Environment) -> Result<ProbeReplies, NotAsked> {
    if !std::io::IsTerminal::is_terminal(&std::io::stdin()) || !std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        return Err(NotAsked::NoTerminal);
    }
    if !TerminalCaps::of(environment).is_ok_and(|kind| kind.modern) {
        return Err(NotAsked::Plain);
    }
    unix::ask().ok_or(NotAsked::Refused)
}

/// Reads answers out of what came.
fn read(bytes: &[u8]) -> ProbeReplies {
    let text = String::from_utf8_lossy(bytes);
    let background = text.split("\x1b]").find_map(|part| {
        let end = part.find(['\x07', '\x1b'])?;
        super::osc_replies::parse(part.get(..end)?)
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
    use super::{PATIENCE, ProbeReplies, QUESTIONS, read};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
    use std::io::{Stdin, Write, stdin, stdout};
    use std::time::Instant;

    /// The settings of the terminal as they were.
    struct SavedTermios {
        stdin: Stdin,
        settings: Termios,
    }

    impl Drop for SavedTermios {
        fn drop(&mut self) {
            // What came and was not read is dropped with it: a late answer would be typed into the shell.
            let _ = tcsetattr(&self.stdin, OptionalActions::Flush, &self.settings);
        }
    }

    pub(super) fn ask() -> Option<ProbeReplies> {
        let before = SavedTermios { stdin: stdin(), settings: tcgetattr(stdin()).ok()? };
        let mut raw = before.settings.clone();
        raw.make_raw();
        tcsetattr(&before.stdin, OptionalActions::Now, &raw).ok()?;
        let mut out = stdout().lock();
        out.write_all(QUESTIONS).and_then(|()| out.flush()).ok()?;
        let deadline = Instant::now() + PATIENCE;
        let mut came = Vec::new();
        let mut part = [0; 256];
        while !read(&came).is_complete {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).ok().filter(|left| left.tv_sec > 0 || left.tv_nsec > 0);
            let Some(left) = left else { break };
            let mut ready = [PollFd::new(&before.stdin, PollFlags::IN)];
            if !poll(&mut ready, Some(&left)).is_ok_and(|ready| ready > 0) {
                break;
            }
            match rustix::io::read(&before.stdin, &mut part) {
                Ok(n @ 1..) => came.extend_from_slice(part.get(..n).unwrap_or_default()),
                _ => break,
            }
        }
        Some(read(&came))
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
    fn answers_are_found_wherever_they_stand() {
        let all = b"x\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b[?0u\x1b[?62;22;52c";
        let whole = ProbeReplies {
            background: Some(Rgb(0x1e, 0x1e, 0x2e)),
            keyboard: true,
            device: Some("62;22;52".to_owned()),
            is_complete: true,
        };
        assert_eq!(read(all), whole);
        let bell = ProbeReplies {
            background: Some(Rgb(255, 255, 255)),
            keyboard: false,
            device: Some("1;2".to_owned()),
            is_complete: true,
        };
        assert_eq!(read(b"\x1b[?1;2c\x1b]11;rgb:ffff/ffff/ffff\x07"), bell);
        assert_eq!(read(b"\x1b]11;rgb:ff"), ProbeReplies::default());
        assert_eq!(read(b"cu"), ProbeReplies::default());
    }

    #[test]
    fn what_tells_the_colours_is_named() {
        let of = |choice, pairs: &[(&str, &str)]| {
            let value =
                |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            colours(choice, &Environment::from_lookup(value))
        };
        assert_eq!(of(ColorChoice::Auto, &[("TERM", "xterm-256color")]).many, "256");
        assert_eq!(
            of(ColorChoice::Auto, &[("COLORTERM", "truecolor")]),
            Colours { many: "16 million", why: "COLORTERM" }
        );
        assert_eq!(of(ColorChoice::Auto, &[("TERM", "xterm")]).many, "16");
        assert_eq!(of(ColorChoice::Never, &[("NO_COLOR", "1")]).many, "none");
    }
}
