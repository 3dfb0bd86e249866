//! Takes over the terminal, and guarantees that it is restored whatever happens. Sends no queries, because a reply may
//! arrive late or never.

use super::caps::TerminalCaps;
use super::tty::Tty;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use std::io::{self, Write};
use std::panic::PanicHookInfo;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Enters the alternate screen, hides the cursor, and switches on reports of pastes and focus.
const ENTER_SEQUENCE: &str = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?1004h";
/// Undoes [`ENTER_SEQUENCE`] in reverse order, and resets the style that an incomplete frame may have left.
const LEAVE_SEQUENCE: &str = "\x1b[?1004l\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l";
/// Switches on reports of presses, drags and the wheel, also for cells beyond column 223. Does not switch on reports of
/// every motion (`?1003`), which would be a flood over SSH.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";
/// Asks the terminal to distinguish keys that otherwise send the same bytes (kitty keyboard protocol). Sent on the
/// alternate screen, because the main screen has separate flags.
const KEYBOARD_FLAGS_ON: &str = "\x1b[>1u";
/// Ends synchronized output, which an incomplete frame may have left on, and restores the keyboard flags.
const SYNC_AND_KEYBOARD_FLAGS_OFF: &str = "\x1b[?2026l\x1b[<1u";
const SAVE_TITLE: &str = "\x1b[22;2t";
const RESTORE_TITLE: &str = "\x1b[23;2t";

/// Whether the terminal is taken over, and what has to be undone to restore it. Shared with the panic hook.
#[derive(Debug)]
struct TerminalState {
    caps: TerminalCaps,
    is_taken_over: AtomicBool,
    /// Whether the terminal should report the mouse while it is taken over.
    reports_mouse: AtomicBool,
    /// Whether mouse reports were ever switched on. If not, they are not switched off either.
    was_mouse_ever_on: AtomicBool,
}

/// Takes over the terminal, and restores it when asked, when dropped, and when the program panics.
#[derive(Debug)]
pub(super) struct TerminalGuard(Arc<TerminalState>);

impl TerminalGuard {
    /// Creates the guard of a terminal that is not taken over yet, and installs a panic hook. The hook restores the
    /// terminal, then calls `report_panic`.
    pub(super) fn new(
        caps: TerminalCaps,
        reports_mouse: bool,
        report_panic: impl Fn(&PanicHookInfo<'_>) + Send + Sync + 'static,
    ) -> Self {
        let state = Arc::new(TerminalState {
            caps,
            is_taken_over: AtomicBool::new(false),
            reports_mouse: AtomicBool::new(reports_mouse),
            was_mouse_ever_on: AtomicBool::new(reports_mouse),
        });
        let shared = Arc::clone(&state);
        std::panic::set_hook(Box::new(move |info| {
            shared.restore();
            report_panic(info);
        }));
        Self(state)
    }

    pub(super) fn caps(&self) -> TerminalCaps {
        self.0.caps
    }

    /// Sets whether the terminal should report the mouse. Returns a sequence that the caller must send if the terminal
    /// is taken over.
    pub(super) fn set_mouse(&self, on: bool) -> &'static str {
        self.0.reports_mouse.store(on, Ordering::SeqCst);
        self.0.was_mouse_ever_on.fetch_or(on, Ordering::SeqCst);
        if on { MOUSE_ON } else { MOUSE_OFF }
    }

    /// Takes over the terminal: raw mode, alternate screen, hidden cursor, reports of pastes and focus, and of the
    /// mouse if enabled.
    ///
    /// # Errors
    /// Fails if the terminal is gone.
    pub(super) fn take_over(&self) -> io::Result<()> {
        enable_raw_mode()?;
        self.0.is_taken_over.store(true, Ordering::SeqCst);
        send(&enter_sequences(self.0.caps, self.0.reports_mouse.load(Ordering::SeqCst)))
    }

    /// Restores the terminal, unless it is already restored.
    pub(super) fn restore(&self) {
        self.0.restore();
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        self.0.restore();
    }
}

impl TerminalState {
    fn restore(&self) {
        if self.is_taken_over.swap(false, Ordering::SeqCst) {
            // An error is ignored, so that raw mode is switched off even if the sequences could not be sent.
            let _ = send(&leave_sequences(self.caps, self.was_mouse_ever_on.load(Ordering::SeqCst)));
            let _ = disable_raw_mode();
        }
    }
}

fn send(sequences: &str) -> io::Result<()> {
    let mut tty = Tty::stdout()?;
    tty.write_all(sequences.as_bytes())?;
    tty.flush()
}

fn enter_sequences(caps: TerminalCaps, reports_mouse: bool) -> String {
    let parts = [
        (caps.sets_title, SAVE_TITLE),
        (true, ENTER_SEQUENCE),
        (reports_mouse, MOUSE_ON),
        (caps.is_modern, KEYBOARD_FLAGS_ON),
    ];
    parts.into_iter().filter(|(is_sent, _)| *is_sent).map(|(_, sequence)| sequence).collect()
}

/// Returns the sequences that undo [`enter_sequences`]. If mouse reports were ever on, they are switched off again,
/// because an earlier sequence that switched them off may not have arrived.
fn leave_sequences(caps: TerminalCaps, was_mouse_ever_on: bool) -> String {
    let parts = [
        (caps.is_modern, SYNC_AND_KEYBOARD_FLAGS_OFF),
        (was_mouse_ever_on, MOUSE_OFF),
        (true, LEAVE_SEQUENCE),
        (caps.sets_title, RESTORE_TITLE),
    ];
    parts.into_iter().filter(|(is_sent, _)| *is_sent).map(|(_, sequence)| sequence).collect()
}

#[cfg(test)]
mod tests {
    use super::super::multiplexer::Multiplexer;
    use super::*;

    fn caps(term: &str) -> TerminalCaps {
        TerminalCaps::detect(Some(term), Multiplexer::None).expect("not dumb")
    }

    #[test]
    fn without_titles_no_title_is_saved_or_restored() {
        let quiet = caps("xterm-256color").with_titles(false);
        assert!(!enter_sequences(quiet, true).contains("22;2t") && !leave_sequences(quiet, true).contains("23;2t"));
    }

    #[test]
    fn every_mode_that_is_set_is_reset() {
        for term in ["xterm-256color", "linux", "rxvt-unicode"] {
            let caps = caps(term);
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
