//! Wraps sequences in a DCS string, so that tmux and GNU screen pass them on to the terminal.

use crate::config::environment::Environment;

/// The multiplexer between docdeck and the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplexer {
    None,
    Tmux,
    Screen,
}

/// Maximum length in bytes of a string that GNU screen passes on. It cuts off the rest.
const MAX_SCREEN_STRING_BYTES: usize = 512;

impl Multiplexer {
    /// Detects the multiplexer by its environment variable. If both variables are set, assumes that tmux was started
    /// inside screen, the usual case.
    pub fn of(environment: &Environment) -> Self {
        match (environment.tmux, environment.screen) {
            (true, _) => Self::Tmux,
            (false, true) => Self::Screen,
            (false, false) => Self::None,
        }
    }

    /// Wraps a sequence so that it reaches the terminal. From version 3.3 on, tmux drops wrapped sequences unless its
    /// option `allow-passthrough` is on.
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
            // The terminal receives the parts one after the other, and treats them as a single sequence.
            Self::Screen => {
                sequence.chunks(MAX_SCREEN_STRING_BYTES).flat_map(|part| [b"\x1bP", part, b"\x1b\\"].concat()).collect()
            }
        }
    }

    /// Wraps a sequence that copies text (OSC 52). tmux copies the text itself with `set-clipboard on`, and passes a
    /// wrapped sequence on with `allow-passthrough on`. The defaults differ by version, so tmux gets both sequences.
    /// Copying twice does no harm.
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
    fn a_long_sequence_is_split_into_strings_that_screen_does_not_cut() {
        assert_eq!(Multiplexer::Screen.wrap(COPY), b"\x1bP\x1b]52;c;YQ==\x07\x1b\\");
        let long = [b'a'; MAX_SCREEN_STRING_BYTES + 1];
        let sent = Multiplexer::Screen.wrap(&long);
        let parts: Vec<&[u8]> = sent.split(|&byte| byte == 0x1b).filter(|part| part.starts_with(b"P")).collect();
        assert_eq!(parts.iter().map(|part| part.len() - 1).collect::<Vec<_>>(), [MAX_SCREEN_STRING_BYTES, 1]);
    }

    #[test]
    fn a_copy_reaches_tmux_and_the_terminal_behind_it() {
        let sent = Multiplexer::Tmux.wrap_copy(COPY);
        assert!(sent.starts_with(COPY) && sent.ends_with(b"\x1bPtmux;\x1b\x1b]52;c;YQ==\x07\x1b\\"));
        assert_eq!(Multiplexer::None.wrap_copy(COPY), COPY);
    }

    #[test]
    fn the_multiplexer_is_detected_by_its_variable() {
        let detect = |name: &'static str| {
            Multiplexer::of(&Environment::from_lookup(|other| (other == name).then(|| "x".to_owned())))
        };
        assert_eq!(["TMUX", "STY", "TERM"].map(detect), [Multiplexer::Tmux, Multiplexer::Screen, Multiplexer::None]);
    }
}
