//! The roles of the text on the main screens, and the styles that every shipped theme gives them. The snapshot contains
//! the text of each row and, below it, a letter for the style of each cell. The legend is at the end of the snapshot.
//! Rows with only the default style have no line with letters.

use crate::reports;
use crate::screen_fixture::ScreenFixture;
use crate::{LARGE, SMALL, Size, USUAL, assert_snapshot, render_with_theme, text};
use docdeck::config::themes;
use docdeck::model::colors::Background;
use docdeck::tui::draw::{ColorDepth, Theme};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier, Style};
use std::fmt::Write as _;

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

/// Theme, background and colour depth.
const THEMES: [(&str, Background, ColorDepth); 11] = [
    ("dark", Background::Dark, ColorDepth::TrueColor),
    ("light", Background::Light, ColorDepth::TrueColor),
    ("high-contrast", Background::Dark, ColorDepth::TrueColor),
    ("colour-blind-safe", Background::Dark, ColorDepth::TrueColor),
    ("catppuccin", Background::Dark, ColorDepth::TrueColor),
    ("gruvbox", Background::Light, ColorDepth::TrueColor),
    ("solarized", Background::Dark, ColorDepth::TrueColor),
    ("nord", Background::Light, ColorDepth::Indexed256),
    ("terminal-16", Background::Unknown, ColorDepth::Sixteen),
    ("dark", Background::Dark, ColorDepth::Indexed256),
    (themes::AUTO_THEME, Background::Unknown, ColorDepth::None),
];

/// Returns the theme's styles by the names of their roles.
fn roles(theme: &mut Theme) -> [(&'static str, &mut Style); 14] {
    [
        ("text", &mut theme.text),
        ("muted", &mut theme.muted),
        ("title", &mut theme.title),
        ("border", &mut theme.border),
        ("focus", &mut theme.focus),
        ("selected", &mut theme.selected),
        ("mark", &mut theme.mark),
        ("key", &mut theme.key),
        ("good", &mut theme.good),
        ("bad", &mut theme.bad),
        ("warning", &mut theme.warning),
        ("working", &mut theme.working),
        ("human", &mut theme.human),
        ("ai", &mut theme.ai),
    ]
}

/// Returns a theme whose colours identify the roles: the colour of a role is its position.
fn role_theme() -> Theme {
    let mut theme = Theme::new(ColorDepth::None);
    for ((_, style), position) in roles(&mut theme).into_iter().zip(0..) {
        *style = Style::new().fg(Color::Indexed(position));
    }
    theme.symbol_colors_kept_on_selected = (0..14).map(Color::Indexed).collect();
    theme.text_colors_kept_on_selected = theme.symbol_colors_kept_on_selected.clone();
    theme.update_textures();
    theme
}

type CellStyle = (Color, Color, Modifier);

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The styles found so far. The position of a style determines its letter.
#[derive(Default)]
struct Legend(Vec<CellStyle>);

impl Legend {
    /// Returns the letter of a cell's style, or a blank for the terminal's default style. Adds the style if it is new.
    fn letter(&mut self, cell: &Cell) -> char {
        let style = cell_style(cell);
        if style == (Color::Reset, Color::Reset, Modifier::empty()) {
            return ' ';
        }
        let known = self.0.iter().position(|known| *known == style);
        let position = known.unwrap_or_else(|| {
            self.0.push(style);
            self.0.len() - 1
        });
        LETTERS.chars().nth(position).expect("few styles")
    }

    fn write(&self, out: &mut String) {
        let mut theme = role_theme();
        let roles = roles(&mut theme);
        for (letter, (fg, _, modifier)) in LETTERS.chars().zip(&self.0) {
            let role = roles.iter().find(|(_, style)| style.fg == Some(*fg)).map_or("no role", |(name, _)| name);
            let how: Vec<String> = modifier.iter_names().map(|(name, _)| format!(" {}", name.to_lowercase())).collect();
            let _ = writeln!(out, "{letter} {role}{}", how.concat());
        }
    }
}

fn cell_style(cell: &Cell) -> CellStyle {
    (cell.fg, cell.bg, cell.modifier)
}

fn write_screen(buffer: &Buffer, legend: &mut Legend, out: &mut String) {
    let glyphs = text(buffer);
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

fn load_theme((name, ground, depth): (&str, Background, ColorDepth)) -> Theme {
    Theme::from_palette(themes::load_theme(name, None).expect("a shipped theme").for_background(ground), depth)
}

fn draw_state(build: Build, size: Size, theme: &Theme) -> Buffer {
    let mut fixture = ScreenFixture::new(size);
    build(&mut fixture);
    render_with_theme(&fixture.app, theme)
}

#[test]
fn the_main_screens_style_each_text_by_its_role() {
    let (mut legend, mut out) = (Legend::default(), String::new());
    for (screen, build) in SCREENS {
        let _ = writeln!(out, "=== {screen}");
        write_screen(&draw_state(build, USUAL, &role_theme()), &mut legend, &mut out);
    }
    let _ = writeln!(out, "=== welcome");
    write_screen(&render_with_theme(&ScreenFixture::unconfigured(USUAL).app, &role_theme()), &mut legend, &mut out);
    let _ = writeln!(out, "=== styles");
    legend.write(&mut out);
    assert_snapshot("styles", &out);
}

#[test]
fn every_theme_draws_the_same_texts_and_the_same_roles() {
    for (build, size) in SCREENS.iter().flat_map(|(_, build)| [SMALL, USUAL, LARGE].map(|size| (build, size))) {
        let mut fixture = ScreenFixture::new(size);
        build(&mut fixture);
        let mut textured = role_theme();
        textured.ai_texture.bg = textured.ai.fg;
        let by_role = [role_theme(), textured].map(|theme| render_with_theme(&fixture.app, &theme));
        for theme in THEMES {
            let loaded = load_theme(theme);
            // With the colours of the texture, AI views fill cells in part.
            let [plain, textured] = &by_role;
            let by_role = if loaded.ai_texture.bg.is_some() { textured } else { plain };
            let mut drawn = render_with_theme(&fixture.app, &loaded);
            if theme.2 == ColorDepth::None {
                // Without colours, the line of the mean would be a hole in a bar.
                let cells = drawn.content.iter_mut().zip(&by_role.content);
                cells.filter(|(_, role)| role.symbol() == "━").for_each(|(cell, role)| *cell = role.clone());
            }
            assert_eq!(text(&drawn), text(by_role), "{theme:?}");
            assert_styled_by_role(theme, by_role, &drawn);
        }
    }
}

/// Fails if a text doesn't have the colours and modifiers that the theme gives its role.
fn assert_styled_by_role(theme: (&str, Background, ColorDepth), by_role: &Buffer, drawn: &Buffer) {
    let (mut named, mut themed) = (role_theme(), load_theme(theme));
    let colors = roles(&mut named).map(|(_, style)| style.fg);
    let (themed_ai, part_of_ai) = (themed.ai.fg, themed.ai_partial_fill().fg);
    let themed_selection = (themed.selected.fg, themed.selected.bg);
    let styles = roles(&mut themed);
    for (role, cell) in by_role.content.iter().zip(&drawn.content).filter(|(cell, _)| cell.symbol() != " ") {
        let position = colors.iter().position(|color| *color == Some(role.fg));
        let Some((name, style)) = position.and_then(|position| styles.get(position)) else { continue };
        // In the selected row, a symbol whose own colour would be unreadable has the colour of the row.
        let is_selected =
            cell.modifier.contains(Modifier::REVERSED) || themed_selection == (Some(cell.fg), Some(cell.bg));
        // The texture of AI views is a darker tone on their colour.
        let is_texture = cell.symbol() == "▒" && style.fg == Some(cell.bg);
        let is_part = style.fg == themed_ai && Some(cell.fg) == part_of_ai;
        let is_styled = is_selected
            || is_texture
            || is_part
            || style.fg.is_none_or(|fg| fg == cell.fg)
                && style.bg.is_none_or(|bg| bg == cell.bg)
                && cell.modifier.contains(style.add_modifier);
        assert!(is_styled, "{theme:?}: {cell:?} has the role {name}: {style:?}");
    }
}

#[test]
fn every_shipped_theme_is_covered() {
    for name in themes::theme_names(None) {
        let is_there = THEMES.iter().any(|(file, ..)| *file == name);
        assert!(is_there || name == themes::AUTO_THEME, "{name}");
    }
}

#[test]
fn the_selection_is_marked_by_more_than_colour_in_every_theme() {
    for theme in THEMES {
        let buffer = draw_state(ScreenFixture::load_jobs, USUAL, &load_theme(theme));
        let rows: Vec<&[Cell]> = buffer.content.chunks(80).collect();
        let selected: Vec<_> = rows.iter().filter(|row| row.iter().any(|cell| cell.symbol() == "▌")).collect();
        assert_eq!(selected.len(), 1, "{theme:?}: the sign");
    }
}
