//! Takes over the terminal, and guarantees that it is restored whatever happens. Sends no queries, because a reply may
//! be late or never come.

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

/// What can be sent to a terminal, judged by its name (`TERM`), without a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalCaps {
    /// Whether newer sequences, such as synchronized output and keyboard flags, can be sent: every terminal supports or
    /// ignores them, except the Linux console.
    pub modern: bool,
    /// Whether to set the window title: the terminal has a stack of titles, so that the old title can be restored.
    pub sets_title: bool,
}

/// The error for a terminal that can't show a full screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "This terminal (TERM=dumb) can't place text on the screen, so the dashboard can't run in it. Use another terminal, set TERM if it is wrong, or run `docdeck watch`, which prints each change on a line."
)]
pub struct DumbTerminal;

impl TerminalCaps {
    /// Detects the capabilities from the environment.
    ///
    /// # Errors
    /// `TERM` is `dumb`.
    pub fn of(environment: &Environment) -> Result<Self, DumbTerminal> {
        let term = environment.term.as_deref().unwrap_or_default();
        if term == "dumb" {
            return Err(DumbTerminal);
        }
        let plain = term.is_empty() && cfg!(unix) || term == "linux" || term.starts_with("linux-");
        let known = ["xterm", "tmux", "alacritty", "foot", "kitty", "wezterm", "ghostty", "contour", "konsole", "vte"];
        let stacks = known.iter().any(|name| term.starts_with(name)) || environment.tmux && term.starts_with("screen");
        Ok(Self { modern: !plain, sets_title: !plain && stacks })
    }

    /// Returns the same capabilities, but without titles if `wanted` is false.
    #[must_use]
    pub fn with_titles(self, wanted: bool) -> Self {
        Self { sets_title: self.sets_title && wanted, ..self }
    }
}

/// Whether links (OSC 8) can be sent: every terminal supports or ignores them, except the Linux console. tmux passes
/// links on to the terminal; GNU screen doesn't.
pub fn supports_links(environment: &Environment) -> bool {
    let under_screen = environment.screen || environment.term.as_deref().is_some_and(|term| term.starts_with("screen"));
    TerminalCaps::of(environment).is_ok_and(|caps| caps.modern) && (environment.tmux || !under_screen)
}

/// Whether the terminal is taken over, and what has to be undone to restore it. Shared with the panic hook.
#[derive(Debug)]
pub struct TerminalState {
    caps: TerminalCaps,
    is_taken_over: AtomicBool,
    /// Whether the terminal should report the mouse while it is taken over.
    reports_mouse: AtomicBool,
    /// Whether mouse reports were ever switched on. If not, they are not switched off either.
    had_mouse: AtomicBool,
}

/// Switches on reports of presses, drags and the wheel, also for cells beyond column 223. Does not switch on reports of
/// every motion (`?1003`), which would be a flood over SSH.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";

impl TerminalState {
    /// Creates the state of a terminal that is not taken over yet.
    pub fn new(caps: TerminalCaps, mouse: bool) -> Arc<Self> {
        Arc::new(Self {
            caps,
            is_taken_over: AtomicBool::new(false),
            reports_mouse: AtomicBool::new(mouse),
            had_mouse: AtomicBool::new(mouse),
        })
    }

    pub fn caps(&self) -> TerminalCaps {
        self.caps
    }

    /// Sets whether the terminal should report the mouse. Returns the sequence to send if the terminal is taken over.
    pub fn set_mouse(&self, on: bool) -> &'static str {
        self.reports_mouse.store(on, Ordering::SeqCst);
        self.had_mouse.fetch_or(on, Ordering::SeqCst);
        if on { MOUSE_ON } else { MOUSE_OFF }
    }

    /// Takes over the terminal: raw mode, alternate screen, hidden cursor, reports of pastes and focus, and of the
    /// mouse if enabled.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn take_over(&self) -> io::Result<()> {
        enable_raw_mode()?;
        self.is_taken_over.store(true, Ordering::SeqCst);
        send_sequences(&enter_sequences(self.caps, self.reports_mouse.load(Ordering::SeqCst)))
    }

    /// Restores the terminal, unless it is already restored. If a step fails, continues with the next step.
    pub fn restore(&self) {
        if self.is_taken_over.swap(false, Ordering::SeqCst) {
            // Errors are ignored: if the terminal is gone, nothing can be done; otherwise the next step still helps.
            let _ = send_sequences(&leave_sequences(self.caps, self.had_mouse.load(Ordering::SeqCst)));
            let _ = disable_raw_mode();
        }
    }
}

/// Restores the terminal when dropped.
#[derive(Debug)]
pub struct TerminalGuard(pub Arc<TerminalState>);

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        self.0.restore();
    }
}

fn send_sequences(sequences: &str) -> io::Result<()> {
    let mut tty = Tty::stdout()?;
    tty.write_all(sequences.as_bytes())?;
    tty.flush()
}

/// Returns the sequences that take over the terminal. The main and the alternate screen have separate keyboard flags,
/// so the flags are set after the switch to the alternate screen.
fn enter_sequences(caps: TerminalCaps, mouse: bool) -> String {
    let mut out = String::new();
    if caps.sets_title {
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

/// Returns the sequences that restore the terminal: they undo the sequences that took it over, in reverse order, and
/// whatever an incomplete frame may have left.
fn leave_sequences(caps: TerminalCaps, mouse: bool) -> String {
    let mut out = String::new();
    if caps.modern {
        out.push_str("\x1b[?2026l");
        append_ansi(&mut out, PopKeyboardEnhancementFlags);
    }
    // Sent even if mouse reports were switched off in the meantime, because that sequence may not have arrived.
    if mouse {
        out.push_str(MOUSE_OFF);
    }
    append_ansi(&mut out, DisableFocusChange);
    append_ansi(&mut out, DisableBracketedPaste);
    out.push_str("\x1b[0m");
    append_ansi(&mut out, cursor::Show);
    append_ansi(&mut out, LeaveAlternateScreen);
    if caps.sets_title {
        out.push_str("\x1b[23;2t");
    }
    out
}

fn append_ansi(out: &mut String, command: impl Command) {
    // Neither writing to a string nor any of these commands can fail.
    let _: fmt::Result = command.write_ansi(out);
}

/// Returns the sequence that sets the window title.
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
        assert_eq!(caps("linux"), Ok(TerminalCaps { modern: false, sets_title: false }));
        assert_eq!(caps("xterm-256color"), Ok(TerminalCaps { modern: true, sets_title: true }));
        assert_eq!(caps("screen-256color"), Ok(TerminalCaps { modern: true, sets_title: false }));
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
    fn without_titles_no_title_is_saved_or_restored() {
        let quiet = caps("xterm-256color").expect("not dumb").with_titles(false);
        assert!(!enter_sequences(quiet, true).contains("22;2t") && !leave_sequences(quiet, true).contains("23;2t"));
    }

    #[test]
    fn every_mode_that_is_set_is_reset() {
        for term in ["xterm-256color", "linux", "rxvt-unicode"] {
            let caps = caps(term).expect("not dumb");
            let (on, off) = (enter_sequences(caps, true), leave_sequences(caps, true));
            for mode in ["?1049", "?2004", "?1004", "?1000", "?1002", "?1006"] {
                assert!(on.contains(&format!("{mode}h")) && off.contains(&format!("{mode}l")), "{term} {mode}");
            }
            assert!(!on.contains("?1003"), "{term}");
            let without = [enter_sequences(caps, false), leave_sequences(caps, false)].concat();
            assert!(["?1000", "?1002", "?1006"].iter().all(|mode| !without.contains(mode)), "{term}");
            assert!(on.contains("?25l") && off.contains("?25h"), "{term}");
            assert_eq!(on.contains("\x1b[>1u"), off.contains("\x1b[<1u"), "{term}");
            assert_eq!(on.contains("\x1b[22;2t"), off.contains("\x1b[23;2t"), "{term}");
        }
    }
}
