//! Copying by OSC 52: the terminal at the user's end takes the text, also over SSH. Only the sequence is made here; it
//! goes out between two frames.

use crate::model::export::COPY_LIMIT;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Bytes of text that terminals take.
pub const LIMIT: usize = COPY_LIMIT;

/// The text is too long to be copied through the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("It is too long to copy: {bytes} bytes, and a terminal takes at most {LIMIT}.")]
pub struct TooLong {
    pub bytes: usize,
}

/// The sequence that copies `text`.
///
/// # Errors
/// The text has more than [`LIMIT`] bytes.
pub fn copy_sequence(text: &str) -> Result<Vec<u8>, TooLong> {
    if text.len() > LIMIT {
        return Err(TooLong { bytes: text.len() });
    }
    Ok(format!("\x1b]52;c;{}\x07", STANDARD.encode(text)).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_travels_as_base64() {
        assert_eq!(copy_sequence("a ü\x1b").expect("short"), b"\x1b]52;c;YSDDvBs=\x07");
    }

    #[test]
    fn a_text_that_terminals_refuse_is_refused_here() {
        assert!(copy_sequence(&"x".repeat(LIMIT)).is_ok_and(|sequence| sequence.len() < 100_010));
        assert_eq!(copy_sequence(&"x".repeat(LIMIT + 1)), Err(TooLong { bytes: LIMIT + 1 }));
    }
}
