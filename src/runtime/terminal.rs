//! The guard of the terminal: what is switched on when the dashboard takes it over, and that all of it is given back,
//! whatever happens. Nothing here asks the terminal anything, since an answer may come late or never.

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

/// What a terminal is told unasked, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalCaps {
    /// Synchronized output and the keyboard flags: ignored where unknown, but not by the Linux console.
    pub modern: bool,
    /// It keeps a stack of titles, so the old one can be given back.
    pub titles: bool,
}

/// The terminal can't show a full screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "This terminal (TERM=dumb) can't place text on the screen, so the dashboard can't run in it. `docdeck watch` tells of each change in a line; else use another terminal, or set TERM if it is one."
)]
pub struct Dumb;

impl TerminalCaps {
    /// Judges by the environment.
    ///
    /// # Errors
    /// `TERM=dumb`.
    pub fn of(environment: &Environment) -> Result<Self, Dumb> {
        let term = environment.term.as_deref().unwrap_or_default();
        if term == "dumb" {
            return Err(Dumb);
        }
        let plain = term.is_empty() && cfg!(unix) || term == "linux" || term.starts_with("linux-");
        let known = ["xterm", "tmux", "alacritty", "foot", "kitty", "wezterm", "ghostty", "contour", "konsole", "vte"];
        let stacks = known.iter().any(|name| term.starts_with(name)) || environment.tmux && term.starts_with("screen");
        Ok(Self { modern: !plain, titles: !plain && stacks })
    }

    /// The same, with its title left alone unless `wanted`.
    #[must_use]
    pub fn with_titles(self, wanted: bool) -> Self {
        Self { titles: self.titles && wanted, ..self }
    }
}

/// Whether links (OSC 8) can be sent: ignored where unknown, but not by the Linux console, and GNU screen keeps them from
/// the terminal. tmux hands them on itself.
pub fn takes_links(environment: &Environment) -> bool {
    let under_screen = environment.screen || environment.term.as_deref().is_some_and(|term| term.starts_with("screen"));
    TerminalCaps::of(environment).is_ok_and(|kind| kind.modern) && (environment.tmux || !under_screen)
}

/// The terminal, taken over or given back. Shared with the panic hook.
#[derive(Debug)]
pub struct TerminalState {
    kind: TerminalCaps,
    taken: AtomicBool,
    /// Whether the mouse is to be reported.
    mouse: AtomicBool,
    /// Whether it ever was: what was never switched on is not switched off either.
    moused: AtomicBool,
}

/// Presses, drags and the wheel, with cells beyond 223. Not every motion (`?1003`): over SSH that would be a flood.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";

impl TerminalState {
    /// Not taken over yet.
    pub fn new(kind: TerminalCaps, mouse: bool) -> Arc<Self> {
        Arc::new(Self {
            kind,
            taken: AtomicBool::new(false),
            mouse: AtomicBool::new(mouse),
            moused: AtomicBool::new(mouse),
        })
    }

    /// What the terminal is told.
    pub fn kind(&self) -> TerminalCaps {
        self.kind
    }

    /// Whether the mouse is to be reported, from now on; gives the sequences that say so to a terminal that is taken over.
    pub fn set_mouse(&self, on: bool) -> &'static str {
        self.mouse.store(on, Ordering::SeqCst);
        self.moused.fetch_or(on, Ordering::SeqCst);
        if on { MOUSE_ON } else { MOUSE_OFF }
    }

    /// Takes the terminal over: raw mode, alternate screen, no cursor, pastes and focus reported, the mouse where it is
    /// wanted.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn take(&self) -> io::Result<()> {
        enable_raw_mode()?;
        self.taken.store(true, Ordering::SeqCst);
        send(&taking(self.kind, self.mouse.load(Ordering::SeqCst)))
    }

    /// Gives everything back. Does nothing when it was given back already; goes on where a part fails.
    pub fn give_back(&self) {
        if self.taken.swap(false, Ordering::SeqCst) {
            // Nothing can be done for a terminal that is gone; one that is there gets the rest in any case.
            let _ = send(&giving_back(self.kind, self.moused.load(Ordering::SeqCst)));
            let _ = disable_raw_mode();
        }
    }
}

/// Gives the terminal back when dropped.
#[derive(Debug)]
pub struct Guard(pub Arc<TerminalState>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.give_back();
    }
}

fn send(sequences: &str) -> io::Result<()> {
    let mut tty = Tty::stdout()?;
    tty.write_all(sequences.as_bytes())?;
    tty.flush()
}

/// The sequences that take the terminal over. The keyboard flags belong to the alternate screen.
fn taking(kind: TerminalCaps, mouse: bool) -> String {
    let mut out = String::new();
    if kind.titles {
        out.push_str("\x1b[22;2t");
    }
    add(&mut out, EnterAlternateScreen);
    add(&mut out, cursor::Hide);
    add(&mut out, EnableBracketedPaste);
    add(&mut out, EnableFocusChange);
    if mouse {
        out.push_str(MOUSE_ON);
    }
    if kind.modern {
        add(&mut out, PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES));
    }
    out
}

/// The sequences that undo [`taking`], in the opposite order, and what a frame cut short may have left.
fn giving_back(kind: TerminalCaps, mouse: bool) -> String {
    let mut out = String::new();
    if kind.modern {
        out.push_str("\x1b[?2026l");
        add(&mut out, PopKeyboardEnhancementFlags);
    }
    // Also where it was switched off since: that may never have arrived.
    if mouse {
        out.push_str(MOUSE_OFF);
    }
    add(&mut out, DisableFocusChange);
    add(&mut out, DisableBracketedPaste);
    out.push_str("\x1b[0m");
    add(&mut out, cursor::Show);
    add(&mut out, LeaveAlternateScreen);
    if kind.titles {
        out.push_str("\x1b[23;2t");
    }
    out
}

fn add(out: &mut String, command: impl Command) {
    // Writing to a string can't fail, and none of these commands refuses.
    let _: fmt::Result = command.write_ansi(out);
}

/// The sequence that sets the window's title; the text has to be clean.
pub fn title_sequence(title: &crate::model::text::CleanText) -> Vec<u8> {
    format!("\x1b]2;{title}\x07").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(term: &str) -> Result<TerminalCaps, Dumb> {
        TerminalCaps::of(&Environment { term: Some(term.into()), ..Environment::default() })
    }

    #[test]
    fn a_dumb_terminal_is_refused_and_the_console_is_told_nothing_modern() {
        assert_eq!(kind("dumb"), Err(Dumb));
        assert_eq!(kind("linux"), Ok(TerminalCaps { modern: false, titles: false }));
        assert_eq!(kind("xterm-256color"), Ok(TerminalCaps { modern: true, titles: true }));
        assert_eq!(kind("screen-256color"), Ok(TerminalCaps { modern: true, titles: false }));
    }

    #[test]
    fn links_go_where_they_are_known_or_ignored() {
        let takes = |pairs: &[(&str, &str)]| {
            let value =
                |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            takes_links(&Environment::from_lookup(value))
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
    fn a_title_that_is_not_wanted_is_neither_kept_nor_given_back() {
        let quiet = kind("xterm-256color").expect("not dumb").with_titles(false);
        assert!(!taking(quiet, true).contains("22;2t") && !giving_back(quiet, true).contains("23;2t"));
    }

    #[test]
    fn every_mode_that_is_set_is_reset() {
        for term in ["xterm-256color", "linux", "rxvt-unicode"] {
            let kind = kind(term).expect("not dumb");
            let (on, off) = (taking(kind, true), giving_back(kind, true));
            for mode in ["?1049", "?2004", "?1004", "?1000", "?1002", "?1006"] {
                assert!(on.contains(&format!("{mode}h")) && off.contains(&format!("{mode}l")), "{term} {mode}");
            }
            assert!(!on.contains("?1003"), "{term}");
            let without = [taking(kind, false), giving_back(kind, false)].concat();
            assert!(["?1000", "?1002", "?1006"].iter().all(|mode| !without.contains(mode)), "{term}");
            assert!(on.contains("?25l") && off.contains("?25h"), "{term}");
            assert_eq!(on.contains("\x1b[>1u"), off.contains("\x1b[<1u"), "{term}");
            assert_eq!(on.contains("\x1b[22;2t"), off.contains("\x1b[23;2t"), "{term}");
        }
    }
}
