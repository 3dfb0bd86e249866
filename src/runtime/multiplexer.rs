//! Getting a sequence through tmux and GNU screen to the terminal behind them: both hand on what stands in a DCS string.

use crate::config::environment::Environment;

/// What stands between docdeck and the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplexer {
    None,
    Tmux,
    Screen,
}

/// Bytes that screen keeps of one string; a longer one is cut off there.
const SCREEN_STRING: usize = 512;

impl Multiplexer {
    /// By the variables that they set. Inside both, tmux: it is the one that people start in screen's place or within it.
    pub fn of(environment: &Environment) -> Self {
        match (environment.tmux, environment.screen) {
            (true, _) => Self::Tmux,
            (false, true) => Self::Screen,
            (false, false) => Self::None,
        }
    }

    /// The sequence as it reaches the terminal. tmux from 3.3 on wants `allow-passthrough on` for it, else it drops it.
    pub fn through(self, sequence: &[u8]) -> Vec<u8> {
        match self {
            Self::None => sequence.to_vec(),
            Self::Tmux => {
                let mut out = b"\x1bPtmux;".to_vec();
                for &byte in sequence {
                    // An ESC of the content would else end the string.
                    out.extend_from_slice(if byte == 0x1b { &[0x1b, 0x1b] } else { std::slice::from_ref(&byte) });
                }
                out.extend_from_slice(b"\x1b\\");
                out
            }
            // It puts the parts together again, since none of them is complete for the terminal.
            Self::Screen => {
                sequence.chunks(SCREEN_STRING).flat_map(|part| [b"\x1bP", part, b"\x1b\\"].concat()).collect()
            }
        }
    }

    /// An OSC 52 as it reaches the terminal. tmux takes it as its own with `set-clipboard on` and hands it on with
    /// `allow-passthrough on`; its default differs by version, so it gets both, and copying twice does no harm.
    pub fn copying(self, sequence: &[u8]) -> Vec<u8> {
        match self {
            Self::Tmux => [sequence.to_vec(), self.through(sequence)].concat(),
            other => other.through(sequence),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: &[u8] = b"\x1b]52;c;YQ==\x07";

    #[test]
    fn tmux_gets_a_string_with_each_escape_doubled() {
        assert_eq!(Multiplexer::Tmux.through(b"\x1b]9;a\x07"), b"\x1bPtmux;\x1b\x1b]9;a\x07\x1b\\");
    }

    #[test]
    fn screen_gets_strings_that_it_does_not_cut() {
        assert_eq!(Multiplexer::Screen.through(COPY), b"\x1bP\x1b]52;c;YQ==\x07\x1b\\");
        let long = [b'a'; SCREEN_STRING + 1];
        let sent = Multiplexer::Screen.through(&long);
        let parts: Vec<&[u8]> = sent.split(|&byte| byte == 0x1b).filter(|part| part.starts_with(b"P")).collect();
        assert_eq!(parts.iter().map(|part| part.len() - 1).collect::<Vec<_>>(), [SCREEN_STRING, 1]);
    }

    #[test]
    fn a_copy_reaches_tmux_and_the_terminal_behind_it() {
        let sent = Multiplexer::Tmux.copying(COPY);
        assert!(sent.starts_with(COPY) && sent.ends_with(b"\x1bPtmux;\x1b\x1b]52;c;YQ==\x07\x1b\\"));
        assert_eq!(Multiplexer::None.copying(COPY), COPY);
    }

    #[test]
    fn the_variables_tell_which_it_is() {
        let of = |name: &'static str| {
            Multiplexer::of(&Environment::from_lookup(|other| (other == name).then(|| "x".to_owned())))
        };
        assert_eq!(["TMUX", "STY", "TERM"].map(of), [Multiplexer::Tmux, Multiplexer::Screen, Multiplexer::None]);
    }
}
