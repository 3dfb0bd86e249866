//! A line that is typed and not shown: held where it is wiped, without a history that would keep what was taken away.

use std::fmt;
use zeroize::Zeroizing;

/// Longest text that is taken, in bytes; a key is far shorter. The room is made once: what a text outgrew would not be
/// wiped.
const LONGEST: usize = 4096;

/// What is typed, at the end of the line alone.
#[derive(PartialEq, Eq)]
pub struct SecretInput(Zeroizing<String>);

impl Default for SecretInput {
    fn default() -> Self {
        Self(Zeroizing::new(String::with_capacity(LONGEST)))
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
    /// The secret itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Number of characters, each shown as a dot.
    pub fn len(&self) -> usize {
        self.0.chars().count()
    }

    /// Whether nothing was typed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds what is typed or pasted, as far as there is room; line breaks and other control characters are left out.
    pub fn push(&mut self, text: &str) {
        for c in text.chars().filter(|c| !c.is_control()) {
            if self.0.len() + c.len_utf8() <= LONGEST {
                self.0.push(c);
            }
        }
    }

    /// Takes the last character away.
    pub fn pop(&mut self) {
        self.0.pop();
    }

    /// Takes all of it away.
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
        let room = input.0.capacity();
        input.push("mint_a\r\nb");
        assert_eq!((input.expose(), input.len()), ("mint_ab", 7));
        input.push(&"é".repeat(LONGEST));
        assert!(input.0.len() <= LONGEST && input.0.capacity() == room);
        assert_eq!(format!("{input:?}"), "***");
        input.clear();
        assert!(input.is_empty());
    }
}
