//! What a terminal is sent so that it tells the user of a finished job: OSC 9, OSC 777 or the bell, as configured.

use super::multiplexer::Multiplexer;
use crate::config::customization::How;
use crate::model::text::CleanText;

/// For a terminal that would print what it doesn't know.
pub fn plain(how: How) -> How {
    match how {
        How::Off => How::Off,
        How::Osc9 | How::Osc777 | How::Bell => How::Bell,
    }
}

/// The bytes to send; none when it is off. A multiplexer takes a bell as its own: it marks the window that rang.
pub fn sequence(how: How, text: &CleanText, multiplexer: Multiplexer) -> Vec<u8> {
    // A semicolon parts the fields of an OSC; control characters are gone from a clean text already.
    let text: String = text.as_str().chars().map(|c| if c == ';' { ',' } else { c }).collect();
    match how {
        How::Off => Vec::new(),
        How::Bell => b"\x07".to_vec(),
        How::Osc9 => multiplexer.through(format!("\x1b]9;{text}\x07").as_bytes()),
        How::Osc777 => multiplexer.through(format!("\x1b]777;notify;docdeck;{text}\x07").as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(how: How, text: &str, multiplexer: Multiplexer) -> String {
        String::from_utf8(sequence(how, &CleanText::line(text), multiplexer)).expect("text")
    }

    #[test]
    fn each_way_has_its_sequence() {
        let none = Multiplexer::None;
        assert_eq!(sent(How::Osc9, "completed: a; b", none), "\x1b]9;completed: a, b\x07");
        assert_eq!(sent(How::Osc777, "completed: a; b", none), "\x1b]777;notify;docdeck;completed: a, b\x07");
        assert_eq!(sent(How::Bell, "completed: a", none), "\x07");
        assert_eq!(sent(How::Off, "completed: a", none), "");
    }

    #[test]
    fn nothing_of_the_text_ends_the_sequence() {
        let text = "completed: x\x07y\x1b\\z\u{9c}";
        assert_eq!(sent(How::Osc9, text, Multiplexer::None), "\x1b]9;completed: xyz\x07");
    }

    #[test]
    fn it_goes_through_tmux_and_screen_while_a_bell_is_theirs() {
        assert_eq!(sent(How::Osc9, "a", Multiplexer::Tmux), "\x1bPtmux;\x1b\x1b]9;a\x07\x1b\\");
        assert_eq!(sent(How::Osc9, "a", Multiplexer::Screen), "\x1bP\x1b]9;a\x07\x1b\\");
        assert_eq!(sent(How::Bell, "a", Multiplexer::Tmux), "\x07");
    }

    #[test]
    fn a_terminal_that_prints_what_it_does_not_know_gets_the_bell() {
        assert_eq!([How::Osc9, How::Osc777, How::Off].map(plain), [How::Bell, How::Bell, How::Off]);
    }
}
