//! Takes the terminal over and guarantees that it is restored, whatever happens. Sends no queries, since an answer
//! may be late or never come.

use super::output::Tty;
use crate::config::environment::Environment;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{Command, cursor};
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a terminal can be sent without a query, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalCaps {
    /// Synchronized output and keyboard flags: ignored where unknown, except by the Linux console.
    pub modern: bool,
    /// It has a stack of titles, so that the old title can be restored.
    pub titles: bool,
}

/// The terminal can't show a full screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "This terminal (TERM=dumb) can't place text on the screen, so the dashboard can't run in it. Use another terminal, set TERM if it is wrong, or run `docdeck watch`, which prints each change on a line."
)]
pub struct DumbTerminal;

impl TerminalCaps {
    /// Detects the capabilities from the environment.
    ///
    /// # Errors
    /// `TERM=dumb`.
    pub fn of(environment: &Environment) -> Result<Self, DumbTerminal> {
        let term = environment.term.as_deref().unwrap_or_default();
        if term == "dumb" {
            return Err(DumbTerminal);
        }
        let plain = term.is_empty() && cfg!(unix) || term == "linux" || term.starts_with("linux-");
        let known = ["xterm", "tmux", "alacritty", "foot", "kitty", "wezterm", "ghostty", "contour", "konsole", "vte"];
        let stacks = known.iter().any(|name| term.starts_with(name)) || environment.tmux && term.starts_with("screen");
        Ok(Self { modern: !plain, titles: !plain && stacks })
    }

    /// The same capabilities, without titles unless `wanted`.
    #[must_use]
    pub fn with_titles(self, wanted: bool) -> Self {
        Self { titles: self.titles && wanted, ..self }
    }
}

/// Whether links (OSC 8) can be sent: ignored where unknown, except by the Linux console. GNU screen doesn't forward
/// them; tmux does.
pub fn supports_links(environment: &Environment) -> bool {
    let under_screen = environment.screen || environment.term.as_deref().is_some_and(|term| term.starts_with("screen"));
    TerminalCaps::of(environment).is_ok_and(|caps| caps.modern) && (environment.tmux || !under_screen)
}

/// The terminal, taken over or restored. Shared with the panic hook.
#[derive(Debug)]
pub struct TerminalState {
    caps: TerminalCaps,
    is_taken_over: AtomicBool,
    /// Whether the mouse should be reported.
    mouse: AtomicBool,
    /// Whether the mouse was ever reported: otherwise it isn't switched off either.
    had_mouse: AtomicBool,
}

/// Presses, drags and the wheel, with cells beyond 223. Not every motion (`?1003`), which would be a flood over SSH.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";

impl TerminalState {
    /// A terminal that is not taken over yet.
    pub fn new(caps: TerminalCaps, mouse: bool) -> Arc<Self> {
        Arc::new(Self {
            caps,
            is_taken_over: AtomicBool::new(false),
            mouse: AtomicBool::new(mouse),
            had_mouse: AtomicBool::new(mouse),
        })
    }

    pub fn caps(&self) -> TerminalCaps {
        self.caps
    }

    /// Sets whether the mouse is reported from now on, and returns the sequence for a terminal that is taken over.
    pub fn set_mouse(&self, on: bool) -> &'static str {
        self.mouse.store(on, Ordering::SeqCst);
        self.had_mouse.fetch_or(on, Ordering::SeqCst);
        if on { MOUSE_ON } else { MOUSE_OFF }
    }

    /// Takes the terminal over: raw mode, alternate screen, hidden cursor, reports of pastes and focus, and of the
    /// mouse if enabled.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn take_over(&self) -> io::Result<()> {
        enable_raw_mode()?;
        self.is_taken_over.store(true, Ordering::SeqCst);
        send_sequences(&entering(self.caps, self.mouse.load(Ordering::SeqCst)))
    }

    /// Restores the terminal. Does nothing if that was done already; continues if a part fails.
    pub fn restore(&self) {
        if self.is_taken_over.swap(false, Ordering::SeqCst) {
            // If the terminal is gone, nothing can be done; otherwise it also gets the rest.
            let _ = send_sequences(&leaving(self.caps, self.had_mouse.load(Ordering::SeqCst)));
            let _ = disable_raw_mode();
        }
    }
}

/// Restores the terminal when dropped.
#[derive(Debug)]
pub struct Guard(pub Arc<TerminalState>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.restore();
    }
}

fn send_sequences(sequences: &str) -> io::Result<()> {
    let mut tty = Tty::stdout()?;
    tty.write_all(sequences.as_bytes())?;
    tty.flush()
}

/// The sequences that take the terminal over. The keyboard flags are per screen, so they follow the alternate screen.
fn entering(caps: TerminalCaps, mouse: bool) -> String {
    let mut out = String::new();
    if caps.titles {
        out.push_str("\x1b[22;2t");
    }
    append_ansi(&mut out, EnterAlternateScreen);
    append_ansi(&mut out, cursor::Hide);
    append_ansi(&mut out, EnableBracketedPaste);
    append_ansi(&mut out, EnableFocusChange);
    if mouse {
        out.push_str(MOUSE_ON);
    }
    if caps.modern {
        append_ansi(&mut out, PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES));
    }
    out
}

/// The sequences that undo [`entering`] in reverse order, and what an incomplete frame may have left.
fn leaving(caps: TerminalCaps, mouse: bool) -> String {
    let mut out = String::new();
    if caps.modern {
        out.push_str("\x1b[?2026l");
        append_ansi(&mut out, PopKeyboardEnhancementFlags);
    }
    // Even if it was switched off since: that sequence may not have arrived.
    if mouse {
        out.push_str(MOUSE_OFF);
    }
    append_ansi(&mut out, DisableFocusChange);
    append_ansi(&mut out, DisableBracketedPaste);
    out.push_str("\x1b[0m");
    append_ansi(&mut out, cursor::Show);
    append_ansi(&mut out, LeaveAlternateScreen);
    if caps.titles {
        out.push_str("\x1b[23;2t");
    }
    out
}

fn append_ansi(out: &mut String, command: impl Command) {
    // Writing to a string can't fail, and none of these commands does.
    let _: fmt::Result = command.write_ansi(out);
}

/// The sequence that sets the window title, which must be clean text.
pub fn title_sequence(title: &crate::model::text::CleanText) -> Vec<u8> {
    format!("\x1b]2;{title}\x07").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caps(term: &str) -> Result<TerminalCaps, DumbTerminal> {
        TerminalCaps::of(&Environment { term: Some(term.into()), ..Environment::default() })
    }

    #[test]
    fn a_dumb_terminal_is_rejected_and_the_console_gets_no_modern_sequences() {
        assert_eq!(caps("dumb"), Err(DumbTerminal));
        assert_eq!(caps("linux"), Ok(TerminalCaps { modern: false, titles: false }));
        assert_eq!(caps("xterm-256color"), Ok(TerminalCaps { modern: true, titles: true }));
        assert_eq!(caps("screen-256color"), Ok(TerminalCaps { modern: true, titles: false }));
    }

    #[test]
    fn links_are_sent_if_they_are_supported_or_ignored() {
        let takes = |pairs: &[(&str, &str)]| {
            let value =
                |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            supports_links(&Environment::from_lookup(value))
        };
        for term in ["xterm-256color", "tmux-256color", "foot", "rxvt-unicode"] {
            assert!(takes(&[("TERM", term)]), "{term}");
        }
        for term in ["linux", "dumb", "screen", "screen-256color"] {
            assert!(!takes(&[("TERM", term)]), "{term}");
        }
        assert!(takes(&[("TERM", "screen-256color"), ("TMUX", "x")]));
        assert!(!takes(&[("TERM", "xterm-256color"), ("STY", "x")]));
    }

    #[test]
    fn without_titles_none_is_saved_or_restored() {
        let quiet = caps("xterm-256color").expect("not dumb").with_titles(false);
        assert!(!entering(quiet, true).contains("22;2t") && !leaving(quiet, true).contains("23;2t"));
    }

    #[test]
    fn every_mode_that_is_set_is_reset() {
        for term in ["xterm-256color", "linux", "rxvt-unicode"] {
            let caps = caps(term).expect("not dumb");
            let (on, off) = (entering(caps, true), leaving(caps, true));
            for mode in ["?1049", "?2004", "?1004", "?1000", "?1002", "?1006"] {
                assert!(on.contains(&format!("{mode}h")) && off.contains(&format!("{mode}l")), "{term} {mode}");
            }
            assert!(!on.contains("?1003"), "{term}");
            let without = [entering(caps, false), leaving(caps, false)].concat();
            assert!(["?1000", "?1002", "?1006"].iter().all(|mode| !without.contains(mode)), "{term}");
            assert!(on.contains("?25l") && off.contains("?25h"), "{term}");
            assert_eq!(on.contains("\x1b[>1u"), off.contains("\x1b[<1u"), "{term}");
            assert_eq!(on.contains("\x1b[22;2t"), off.contains("\x1b[23;2t"), "{term}");
        }
    }
}
