//! A single-line input for secrets. Its text is not shown, is wiped from memory, and can't be restored by undo.

use std::fmt;
use zeroize::Zeroizing;

/// The maximum length in bytes; an API key is far shorter. The buffer is allocated once with this capacity, because a
/// reallocation would leave a copy that is not wiped.
const MAX_SECRET_BYTES: usize = 4096;

/// The typed secret. The cursor is always at its end.
#[derive(PartialEq, Eq)]
pub struct SecretInput(Zeroizing<String>);

impl Default for SecretInput {
    fn default() -> Self {
        Self(Zeroizing::new(String::with_capacity(MAX_SECRET_BYTES)))
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

    /// Returns the number of characters. The screen shows a dot for each of them.
    pub fn len(&self) -> usize {
        self.0.chars().count()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends typed or pasted text without line breaks and other control characters. Ignores characters beyond the
    /// maximum length.
    pub fn push(&mut self, text: &str) {
        for c in text.chars().filter(|c| !c.is_control()) {
            if self.0.len() + c.len_utf8() <= MAX_SECRET_BYTES {
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
    fn a_secret_is_never_reallocated_and_never_printed() {
        let mut input = SecretInput::default();
        let capacity = input.0.capacity();
        input.push("mint_a\r\nb");
        assert_eq!((input.expose(), input.len()), ("mint_ab", 7));
        input.push(&"é".repeat(MAX_SECRET_BYTES));
        assert!(input.0.len() <= MAX_SECRET_BYTES && input.0.capacity() == capacity);
        assert_eq!(format!("{input:?}"), "***");
        input.clear();
        assert!(input.is_empty());
    }
}
