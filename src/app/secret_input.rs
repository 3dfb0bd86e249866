//! A single-line input for secrets: its text is not shown, is wiped from memory, and has no history.

use std::fmt;
use zeroize::Zeroizing;

/// The maximal length in bytes; a key is far shorter. The buffer is allocated once, because a reallocation would leave
/// an unwiped copy behind.
const MAX_BYTES: usize = 4096;

/// The typed text. The cursor is always at its end.
#[derive(PartialEq, Eq)]
pub struct SecretInput(Zeroizing<String>);

impl Default for SecretInput {
    fn default() -> Self {
        Self(Zeroizing::new(String::with_capacity(MAX_BYTES)))
    }
}

impl Clone for SecretInput {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.push(&self.0);
        copy
    }
}

impl fmt::Debug for SecretInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl SecretInput {
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The number of characters, each shown as a dot.
    pub fn len(&self) -> usize {
        self.0.chars().count()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends typed or pasted text up to the maximal length, without line breaks and other control characters.
    pub fn push(&mut self, text: &str) {
        for c in text.chars().filter(|c| !c.is_control()) {
            if self.0.len() + c.len_utf8() <= MAX_BYTES {
                self.0.push(c);
            }
        }
    }

    /// Deletes the last character.
    pub fn pop(&mut self) {
        self.0.pop();
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_grows_and_never_prints() {
        let mut input = SecretInput::default();
        let capacity = input.0.capacity();
        input.push("mint_a\r\nb");
        assert_eq!((input.expose(), input.len()), ("mint_ab", 7));
        input.push(&"é".repeat(MAX_BYTES));
        assert!(input.0.len() <= MAX_BYTES && input.0.capacity() == capacity);
        assert_eq!(format!("{input:?}"), "***");
        input.clear();
        assert!(input.is_empty());
    }
}
