//! Terminal sequences that notify the user of a finished job: OSC 9, OSC 777 or the bell, as configured.

use crate::config::customization::NotifyMethod;
use crate::model::text::CleanText;
use crate::terminal::multiplexer::Multiplexer;

/// Returns the method for a terminal that would print unknown sequences: the bell, unless notifications are off.
pub fn fallback_method(method: NotifyMethod) -> NotifyMethod {
    match method {
        NotifyMethod::Off => NotifyMethod::Off,
        NotifyMethod::Osc9 | NotifyMethod::Osc777 | NotifyMethod::Bell => NotifyMethod::Bell,
    }
}

/// Returns the bytes to send; empty if notifications are off. OSC sequences are wrapped so that a multiplexer passes
/// them through to the terminal. The bell is not wrapped: a multiplexer then marks the window in which it rang.
pub fn notification_sequence(method: NotifyMethod, text: &CleanText, multiplexer: Multiplexer) -> Vec<u8> {
    // Semicolons are replaced, because they separate the fields of an OSC. A clean text contains no control characters.
    let text: String = text.as_str().chars().map(|c| if c == ';' { ',' } else { c }).collect();
    match method {
        NotifyMethod::Off => Vec::new(),
        NotifyMethod::Bell => b"\x07".to_vec(),
        NotifyMethod::Osc9 => multiplexer.wrap(format!("\x1b]9;{text}\x07").as_bytes()),
        NotifyMethod::Osc777 => multiplexer.wrap(format!("\x1b]777;notify;docdeck;{text}\x07").as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(method: NotifyMethod, text: &str, multiplexer: Multiplexer) -> String {
        String::from_utf8(notification_sequence(method, &CleanText::line(text), multiplexer)).expect("text")
    }

    #[test]
    fn each_method_has_its_sequence() {
        let none = Multiplexer::None;
        assert_eq!(sequence(NotifyMethod::Osc9, "completed: a; b", none), "\x1b]9;completed: a, b\x07");
        assert_eq!(
            sequence(NotifyMethod::Osc777, "completed: a; b", none),
            "\x1b]777;notify;docdeck;completed: a, b\x07"
        );
        assert_eq!(sequence(NotifyMethod::Bell, "completed: a", none), "\x07");
        assert_eq!(sequence(NotifyMethod::Off, "completed: a", none), "");
    }

    #[test]
    fn no_text_can_end_the_sequence() {
        let text = "completed: x\x07y\x1b\\z\u{9c}";
        assert_eq!(sequence(NotifyMethod::Osc9, text, Multiplexer::None), "\x1b]9;completed: xyz\x07");
    }

    #[test]
    fn sequences_are_wrapped_for_tmux_and_screen_but_a_bell_is_not() {
        assert_eq!(sequence(NotifyMethod::Osc9, "a", Multiplexer::Tmux), "\x1bPtmux;\x1b\x1b]9;a\x07\x1b\\");
        assert_eq!(sequence(NotifyMethod::Osc9, "a", Multiplexer::Screen), "\x1bP\x1b]9;a\x07\x1b\\");
        assert_eq!(sequence(NotifyMethod::Bell, "a", Multiplexer::Tmux), "\x07");
    }

    #[test]
    fn a_terminal_that_prints_unknown_sequences_gets_the_bell() {
        assert_eq!(
            [NotifyMethod::Osc9, NotifyMethod::Osc777, NotifyMethod::Off].map(fallback_method),
            [NotifyMethod::Bell, NotifyMethod::Bell, NotifyMethod::Off]
        );
    }
}
