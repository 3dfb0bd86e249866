//! Sends sequences through tmux and GNU screen to the terminal behind them, wrapped in a DCS string.

use crate::config::environment::Environment;

/// The program between docdeck and the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplexer {
    None,
    Tmux,
    Screen,
}

/// Maximum length of a string in screen, in bytes; the rest is cut.
const SCREEN_STRING: usize = 512;

impl Multiplexer {
    /// Detects the multiplexer by its variable. Inside both, tmux: people start tmux instead of or within screen.
    pub fn of(environment: &Environment) -> Self {
        match (environment.tmux, environment.screen) {
            (true, _) => Self::Tmux,
            (false, true) => Self::Screen,
            (false, false) => Self::None,
        }
    }

    /// Wraps a sequence for the terminal. tmux from 3.3 on drops it without `allow-passthrough on`.
    pub fn wrap(self, sequence: &[u8]) -> Vec<u8> {
        match self {
            Self::None => sequence.to_vec(),
            Self::Tmux => {
                let mut out = b"\x1bPtmux;".to_vec();
                for &byte in sequence {
                    // A single ESC in the content would end the string.
                    out.extend_from_slice(if byte == 0x1b { &[0x1b, 0x1b] } else { std::slice::from_ref(&byte) });
                }
                out.extend_from_slice(b"\x1b\\");
                out
            }
            // screen joins the parts, since none of them is complete for the terminal.
            Self::Screen => {
                sequence.chunks(SCREEN_STRING).flat_map(|part| [b"\x1bP", part, b"\x1b\\"].concat()).collect()
            }
        }
    }

    /// Wraps an OSC 52. tmux handles it with `set-clipboard on` and forwards it with `allow-passthrough on`; the
    /// defaults differ by version, so tmux gets both. Copying twice does no harm.
    pub fn wrap_copy(self, sequence: &[u8]) -> Vec<u8> {
        match self {
            Self::Tmux => [sequence.to_vec(), self.wrap(sequence)].concat(),
            other => other.wrap(sequence),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: &[u8] = b"\x1b]52;c;YQ==\x07";

    #[test]
    fn tmux_gets_a_string_with_each_escape_doubled() {
        assert_eq!(Multiplexer::Tmux.wrap(b"\x1b]9;a\x07"), b"\x1bPtmux;\x1b\x1b]9;a\x07\x1b\\");
    }

    #[test]
    fn screen_gets_strings_that_it_does_not_cut() {
        assert_eq!(Multiplexer::Screen.wrap(COPY), b"\x1bP\x1b]52;c;YQ==\x07\x1b\\");
        let long = [b'a'; SCREEN_STRING + 1];
        let sent = Multiplexer::Screen.wrap(&long);
        let parts: Vec<&[u8]> = sent.split(|&byte| byte == 0x1b).filter(|part| part.starts_with(b"P")).collect();
        assert_eq!(parts.iter().map(|part| part.len() - 1).collect::<Vec<_>>(), [SCREEN_STRING, 1]);
    }

    #[test]
    fn a_copy_reaches_tmux_and_the_terminal_behind_it() {
        let sent = Multiplexer::Tmux.wrap_copy(COPY);
        assert!(sent.starts_with(COPY) && sent.ends_with(b"\x1bPtmux;\x1b\x1b]52;c;YQ==\x07\x1b\\"));
        assert_eq!(Multiplexer::None.wrap_copy(COPY), COPY);
    }

    #[test]
    fn the_multiplexer_is_detected_by_its_variable() {
        let of = |name: &'static str| {
            Multiplexer::of(&Environment::from_lookup(|other| (other == name).then(|| "x".to_owned())))
        };
        assert_eq!(["TMUX", "STY", "TERM"].map(of), [Multiplexer::Tmux, Multiplexer::Screen, Multiplexer::None]);
    }
}
