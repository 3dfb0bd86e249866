//! The main screens with their styles, in every shipped theme and at three sizes. A snapshot contains the text of each
//! row and, below it, a letter for the style of each cell. The legend is at the end of the snapshot. Rows with only the
//! default style have no line with letters.

use crate::reports;
use crate::screen_fixture::ScreenFixture;
use docdeck::config::themes;
use docdeck::model::colors::Background;
use docdeck::tui::draw::{ColorDepth, Theme};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::fmt::Write as _;

const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (160, 48)];

type Build = fn(&mut ScreenFixture);

/// The main screens, each with the steps that open it.
const SCREENS: [(&str, Build); 10] = [
    ("jobs with the detail", ScreenFixture::load_jobs),
    ("editor", |fixture| {
        fixture.load_jobs();
        fixture.press_keys("n");
        fixture.paste("Add a Python quickstart\n\nCover installation and errors. 日本語も見る。");
    }),
    ("views", |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
    }),
    ("trend", reports::open_month_trend),
    ("compare", reports::open_site_comparison),
    ("card", |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("Enter");
        fixture.load_long_page_history();
    }),
    ("palette", |fixture| {
        fixture.load_jobs();
        fixture.press_keys(": t h e");
    }),
    ("help", |fixture| {
        fixture.load_jobs();
        fixture.press_keys("?");
    }),
    ("question", |fixture| {
        fixture.load_jobs();
        fixture.select_unconfirmed_job();
        fixture.press_keys("! s");
    }),
    ("job alone", |fixture| {
        fixture.load_jobs();
        fixture.press_keys("Enter");
    }),
];

/// Snapshot name, theme, background and colour depth.
const THEMES: [(&str, &str, Background, ColorDepth); 7] = [
    ("dark", "dark", Background::Dark, ColorDepth::True),
    ("light", "light", Background::Light, ColorDepth::True),
    ("high-contrast", "high-contrast", Background::Dark, ColorDepth::True),
    ("colour-blind-safe", "colour-blind-safe", Background::Dark, ColorDepth::True),
    ("terminal-16", "terminal-16", Background::Unknown, ColorDepth::Sixteen),
    ("dark-256", "dark", Background::Dark, ColorDepth::Indexed256),
    ("none", themes::AUTO_THEME, Background::Unknown, ColorDepth::None),
];

/// The styles found so far. The position of a style determines its letter.
#[derive(Default)]
struct Legend(Vec<(Color, Color, Modifier)>);

impl Legend {
    /// Returns the letter of a cell's style, or a blank for the terminal's default style. Adds the style if it is new.
    fn letter(&mut self, cell: &Cell) -> char {
        let style = (cell.fg, cell.bg, cell.modifier);
        if style == (Color::Reset, Color::Reset, Modifier::empty()) {
            return ' ';
        }
        let known = self.0.iter().position(|known| *known == style);
        let position = known.unwrap_or_else(|| {
            self.0.push(style);
            self.0.len() - 1
        });
        let letters = ('a'..='z').chain('A'..='Z').chain('0'..='9');
        letters.clone().nth(position).expect("few styles")
    }

    fn write(&self, out: &mut String) {
        let letters = ('a'..='z').chain('A'..='Z').chain('0'..='9');
        for (letter, (fg, bg, modifier)) in letters.zip(&self.0) {
            let ground = if *bg == Color::Reset { String::new() } else { format!(" on {bg}") };
            let how: Vec<String> = modifier.iter_names().map(|(name, _)| format!(" {}", name.to_lowercase())).collect();
            let _ = writeln!(out, "{letter} {fg}{ground}{}", how.concat());
        }
    }
}

fn write_screen(buffer: &Buffer, legend: &mut Legend, out: &mut String) {
    let glyphs = crate::text(buffer);
    for (glyphs, row) in glyphs.lines().zip(buffer.content.chunks(usize::from(buffer.area.width))) {
        let styles: String = row.iter().map(|cell| legend.letter(cell)).collect();
        let _ = writeln!(out, "|{glyphs}");
        if !styles.trim().is_empty() {
            let _ = writeln!(out, ":{}", encode_runs(&styles));
        }
    }
}

/// Encodes four or more equal letters as the letter and their number.
fn encode_runs(styles: &str) -> String {
    let letters: Vec<char> = styles.trim_end().chars().collect();
    let run = |run: &[char]| match run {
        [letter, _, _, _, ..] => format!("{letter}{}.", run.len()),
        short => short.iter().collect(),
    };
    letters.chunk_by(|one, other| one == other).map(run).collect()
}

fn theme(name: &str, ground: Background, depth: ColorDepth) -> Theme {
    Theme::of(themes::load_theme(name, None).expect("a shipped theme").for_background(ground), depth)
}

fn draw_state(build: Build, size: (u16, u16), theme: &Theme) -> Buffer {
    let mut fixture = ScreenFixture::new(size);
    build(&mut fixture);
    crate::render_with_theme(&fixture.app, theme)
}

#[test]
fn every_theme_draws_the_main_screens_as_approved() {
    for (name, file, ground, depth) in THEMES {
        let theme = theme(file, ground, depth);
        for size in SIZES {
            let (mut legend, mut out) = (Legend::default(), String::new());
            for (screen, build) in SCREENS {
                let _ = writeln!(out, "=== {screen}");
                write_screen(&draw_state(build, size, &theme), &mut legend, &mut out);
            }
            let _ = writeln!(out, "=== welcome");
            write_screen(
                &crate::render_with_theme(&ScreenFixture::unconfigured(size).app, &theme),
                &mut legend,
                &mut out,
            );
            let _ = writeln!(out, "=== styles");
            legend.write(&mut out);
            insta::assert_snapshot!(format!("styles_{name}_{}x{}", size.0, size.1), out);
        }
    }
}

#[test]
fn every_shipped_theme_is_covered() {
    for name in themes::theme_names(None) {
        let is_there = THEMES.iter().any(|(_, file, ..)| *file == name);
        assert!(is_there || name == themes::AUTO_THEME, "{name}");
    }
}

#[test]
fn the_selection_is_marked_by_more_than_colour_in_every_theme() {
    for (name, file, ground, depth) in THEMES {
        let theme = theme(file, ground, depth);
        let buffer = draw_state(ScreenFixture::load_jobs, (80, 24), &theme);
        let rows: Vec<&[Cell]> = buffer.content.chunks(80).collect();
        let selected: Vec<_> = rows.iter().filter(|row| row.iter().any(|cell| cell.symbol() == "▌")).collect();
        assert_eq!(selected.len(), 1, "{name}: the sign");
    }
}
