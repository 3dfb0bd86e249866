//! Wraps sequences in a DCS string, so that tmux and GNU screen pass them on to the terminal.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The multiplexer between the program and the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplexer {
    None,
    Tmux,
    Screen,
}

/// Maximum length in bytes of a string that GNU screen passes on. It cuts off the rest.
const MAX_GNU_SCREEN_STRING_BYTES: usize = 512;

impl Multiplexer {
    /// Returns the multiplexer in use: tmux if `TMUX` is set, GNU screen if `STY` is set. If both variables are set,
    /// assumes that tmux was started inside screen, the usual case.
    pub fn detect(has_tmux: bool, has_sty: bool) -> Self {
        match (has_tmux, has_sty) {
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
                    // Each ESC is doubled, because a single ESC would end the string.
                    out.extend_from_slice(if byte == 0x1b { &[0x1b, 0x1b] } else { std::slice::from_ref(&byte) });
                }
                out.extend_from_slice(b"\x1b\\");
                out
            }
            // A long sequence is split into several strings. The terminal receives their contents one after the other,
            // as a single sequence.
            Self::Screen => sequence
                .chunks(MAX_GNU_SCREEN_STRING_BYTES)
                .flat_map(|part| [b"\x1bP", part, b"\x1b\\"].concat())
                .collect(),
        }
    }

    /// Returns the sequence that copies `text` (OSC 52). With `set-clipboard on`, tmux itself copies the text; with
    /// `allow-passthrough on`, it passes a wrapped sequence on to the terminal. The defaults differ by version, so tmux
    /// gets both sequences. Copying twice does no harm.
    pub fn clipboard_sequence(self, text: &str) -> Vec<u8> {
        let sequence = format!("\x1b]52;c;{}\x07", STANDARD.encode(text)).into_bytes();
        match self {
            Self::Tmux => [sequence.clone(), self.wrap(&sequence)].concat(),
            other => other.wrap(&sequence),
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
    fn a_long_sequence_is_split_into_strings_short_enough_for_gnu_screen() {
        assert_eq!(Multiplexer::Screen.wrap(COPY), b"\x1bP\x1b]52;c;YQ==\x07\x1b\\");
        let long = [b'a'; MAX_GNU_SCREEN_STRING_BYTES + 1];
        let sent = Multiplexer::Screen.wrap(&long);
        let parts: Vec<&[u8]> = sent.split(|&byte| byte == 0x1b).filter(|part| part.starts_with(b"P")).collect();
        assert_eq!(parts.iter().map(|part| part.len() - 1).collect::<Vec<_>>(), [MAX_GNU_SCREEN_STRING_BYTES, 1]);
    }

    #[test]
    fn a_copy_reaches_tmux_and_the_terminal_behind_it() {
        let sent = Multiplexer::Tmux.clipboard_sequence("a");
        assert!(sent.starts_with(COPY) && sent.ends_with(b"\x1bPtmux;\x1b\x1b]52;c;YQ==\x07\x1b\\"));
        assert_eq!(Multiplexer::None.clipboard_sequence("a"), COPY);
    }

    #[test]
    fn only_base64_is_sent_for_any_text() {
        let controls = (0..0x20).chain(0x7f..0xa0).filter_map(char::from_u32);
        let texts = [
            "a ü".to_owned(),
            "\x1b]52;c;AAAA\x07".to_owned(),
            "\u{9d}0;x\u{9c}\u{9b}2J".to_owned(),
            controls.collect(),
        ];
        for text in texts {
            let sequence = String::from_utf8(Multiplexer::None.clipboard_sequence(&text)).expect("ASCII");
            let payload =
                sequence.strip_prefix("\x1b]52;c;").and_then(|rest| rest.strip_suffix('\x07')).expect("both ends");
            assert!(payload.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b)), "{payload:?}");
            assert_eq!(STANDARD.decode(payload).expect("base64"), text.as_bytes());
        }
    }

    #[test]
    fn tmux_inside_screen_counts_as_tmux() {
        let detected = [(true, true), (true, false), (false, true), (false, false)]
            .map(|(has_tmux, has_sty)| Multiplexer::detect(has_tmux, has_sty));
        assert_eq!(detected, [Multiplexer::Tmux, Multiplexer::Tmux, Multiplexer::Screen, Multiplexer::None]);
    }
}
