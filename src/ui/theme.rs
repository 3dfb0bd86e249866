//! Colours by meaning. Nothing in the drawing names a colour; no meaning is carried by colour alone.

use ratatui::style::{Color, Modifier, Style};

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// None wanted: `NO_COLOR`, `--color never`.
    None,
    /// The sixteen of every terminal.
    Sixteen,
    /// The 256 of nearly every terminal.
    Many,
}

/// Styles by meaning.
#[derive(Debug, Clone)]
pub struct Theme {
    /// Draw nothing but ASCII.
    pub ascii: bool,
    pub text: Style,
    /// Beside the point: labels, ages, what is old.
    pub muted: Style,
    /// Headings and the name of the program.
    pub title: Style,
    pub border: Style,
    /// Border of the part that has the keys.
    pub focus: Style,
    /// The mark and text of the selected row.
    pub selected: Style,
    pub mark: Style,
    /// A key in footer and help.
    pub key: Style,
    pub good: Style,
    pub bad: Style,
    pub warning: Style,
    pub working: Style,
    pub human: Style,
    pub ai: Style,
}

impl Theme {
    /// Middle tones that read on dark and light grounds alike, since the ground is not known.
    pub fn new(depth: Depth) -> Self {
        let pick = |sixteen: Color, many: u8| match depth {
            Depth::None => Style::new(),
            Depth::Sixteen => Style::new().fg(sixteen),
            Depth::Many => Style::new().fg(Color::Indexed(many)),
        };
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let dim = match depth {
            Depth::None => Style::new(),
            Depth::Sixteen => Style::new().fg(Color::DarkGray),
            Depth::Many => Style::new().fg(Color::Indexed(244)),
        };
        Self {
            ascii: false,
            text: Style::new(),
            muted: dim,
            title: bold,
            border: if depth == Depth::Many { Style::new().fg(Color::Indexed(242)) } else { dim },
            focus: pick(Color::Cyan, 31),
            selected: bold,
            mark: pick(Color::Cyan, 31).add_modifier(Modifier::BOLD),
            key: pick(Color::Cyan, 31),
            good: pick(Color::Green, 64),
            bad: pick(Color::Red, 161),
            warning: pick(Color::Yellow, 166),
            working: pick(Color::Cyan, 32),
            human: pick(Color::Blue, 32),
            ai: pick(Color::Yellow, 166),
        }
    }
}
