//! What can be sent to the terminal, judged by its name, without a query.

use super::multiplexer::Multiplexer;

/// What can be sent to the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalCaps {
    /// Whether newer sequences, such as synchronized output and keyboard flags, can be sent: every terminal supports or
    /// ignores them, except the Linux console. Also false on Unix if `TERM` is not set.
    pub is_modern: bool,
    /// Whether to set the window title. Always false if the terminal has no stack of titles, because the old title
    /// could not be restored then.
    pub sets_title: bool,
    /// Whether links (OSC 8) can be sent: every terminal supports or ignores them, except the Linux console. tmux
    /// passes links on to the terminal; GNU screen doesn't.
    pub supports_links: bool,
    pub multiplexer: Multiplexer,
}

impl TerminalCaps {
    /// Judges the terminal by `term`, the value of `TERM`. Returns `None` for a dumb terminal, which can't place text
    /// on the screen.
    pub fn detect(term: Option<&str>, multiplexer: Multiplexer) -> Option<Self> {
        let term = term.unwrap_or_default();
        if term == "dumb" {
            return None;
        }
        let is_modern = !(term.is_empty() && cfg!(unix) || term == "linux" || term.starts_with("linux-"));
        let with_stack =
            ["xterm", "tmux", "alacritty", "foot", "kitty", "wezterm", "ghostty", "contour", "konsole", "vte"];
        let (in_tmux, is_screen) = (multiplexer == Multiplexer::Tmux, term.starts_with("screen"));
        Some(Self {
            is_modern,
            sets_title: is_modern && (with_stack.iter().any(|name| term.starts_with(name)) || in_tmux && is_screen),
            supports_links: is_modern && (in_tmux || multiplexer == Multiplexer::None && !is_screen),
            multiplexer,
        })
    }

    /// Returns these capabilities, but never sets the window title if `wanted` is false.
    #[must_use]
    pub fn with_titles(self, wanted: bool) -> Self {
        Self { sets_title: self.sets_title && wanted, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caps(term: &str, multiplexer: Multiplexer) -> TerminalCaps {
        TerminalCaps::detect(Some(term), multiplexer).expect("not dumb")
    }

    #[test]
    fn a_dumb_terminal_is_rejected_and_the_console_gets_no_modern_sequences() {
        assert_eq!(TerminalCaps::detect(Some("dumb"), Multiplexer::None), None);
        let judged = |term| {
            let caps = caps(term, Multiplexer::None);
            (caps.is_modern, caps.sets_title)
        };
        assert_eq!(judged("linux"), (false, false));
        assert_eq!(judged("xterm-256color"), (true, true));
        assert_eq!(judged("screen-256color"), (true, false));
    }

    #[test]
    fn links_are_sent_if_they_are_supported_or_ignored() {
        for term in ["xterm-256color", "tmux-256color", "foot", "rxvt-unicode"] {
            assert!(caps(term, Multiplexer::None).supports_links, "{term}");
        }
        for term in ["linux", "screen", "screen-256color"] {
            assert!(!caps(term, Multiplexer::None).supports_links, "{term}");
        }
        assert!(caps("screen-256color", Multiplexer::Tmux).supports_links);
        assert!(!caps("xterm-256color", Multiplexer::Screen).supports_links);
    }
}
