//! The pictures of the README and the guide: screens as SVG. If a picture no longer matches its screen, the test fails;
//! with `DOCDECK_PICTURES=write` it writes all pictures again.
//!
//! In the SVG, adjacent cells with the same style have a position and a width, so that columns line up in any font.

use crate::changes::{DIFF, open_pull_request};
use crate::screen_fixture::{ScreenFixture, now};
use crate::{render_with_theme, reports};
use docdeck::config::themes;
use docdeck::model::colors::Background;
use docdeck::tui::draw::{ColorDepth, Theme, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use std::fmt::Write as _;
use std::path::Path;
use unicode_width::UnicodeWidthStr;

const SIZE: (u16, u16) = (120, 34);
/// Width of the pictures of the themes.
const STRIP_COLUMNS: u16 = 80;
/// The first row of the job list on the screen.
const FIRST_LIST_ROW: u16 = 2;
/// Width and height of a cell in pixels.
const CELL: (usize, usize) = (9, 18);
/// Font size in pixels.
const FONT_SIZE: usize = 15;
/// Space around the screen in pixels.
const MARGIN: usize = 12;

/// Default foreground and background colour of a terminal.
type TerminalColors = (&'static str, &'static str);

const DARK: TerminalColors = ("#d8dee9", "#14161b");
const LIGHT: TerminalColors = ("#24292f", "#ffffff");

fn picture(fixture: &ScreenFixture, ground: Background) -> String {
    let theme = Theme::from_palette(themes::default_theme().for_background(ground), ColorDepth::TrueColor);
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a test terminal");
    terminal.draw(|frame| draw(frame, &fixture.app, &theme, now())).expect("a frame");
    svg(terminal.backend().buffer(), if ground == Background::Light { LIGHT } else { DARK })
}

fn svg(buffer: &Buffer, (letters, ground): TerminalColors) -> String {
    let (columns, rows) = (usize::from(buffer.area.width), usize::from(buffer.area.height));
    let (width, height) = (columns * CELL.0 + 2 * MARGIN, rows * CELL.1 + 2 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <style>text {{ font: {FONT_SIZE}px \"DejaVu Sans Mono\", \"SFMono-Regular\", Menlo, Consolas, monospace; white-space: pre; fill: {letters} }} \
         .b {{ font-weight: bold }} .u {{ text-decoration: underline }}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{ground}\"/>\n"
    );
    for (n, row) in buffer.content.chunks(columns).enumerate() {
        for run in runs(row) {
            run.write(n, (letters, ground), &mut out);
        }
    }
    out.push_str("</svg>\n");
    out
}

/// Adjacent cells with the same style.
struct Run<'a> {
    column: usize,
    cells: usize,
    text: String,
    style: &'a Cell,
}

fn runs(row: &[Cell]) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut column = 0;
    while let Some(cell) = row.get(column) {
        let cells = cell.symbol().width().max(1);
        match runs.last_mut() {
            // A wide character gets a separate run, because its width differs between fonts.
            Some(run) if cells == 1 && run.cells == run.text.chars().count() && has_same_style(run.style, cell) => {
                run.text.push_str(cell.symbol());
                run.cells += 1;
            }
            _ => runs.push(Run { column, cells, text: cell.symbol().to_owned(), style: cell }),
        }
        column += cells;
    }
    runs
}

fn has_same_style(one: &Cell, other: &Cell) -> bool {
    (one.fg, one.bg, one.modifier) == (other.fg, other.bg, other.modifier)
}

impl Run<'_> {
    fn write(&self, row: usize, (letters, ground): TerminalColors, out: &mut String) {
        let (mut fg, mut bg) = (color(self.style.fg), color(self.style.bg));
        if self.style.modifier.contains(Modifier::REVERSED) {
            (fg, bg) = (bg.or(Some(ground.to_owned())), fg.or(Some(letters.to_owned())));
        }
        let (x, y) = (MARGIN + self.column * CELL.0, MARGIN + row * CELL.1);
        let width = self.cells * CELL.0;
        if let Some(bg) = bg {
            let _ = writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" fill=\"{bg}\"/>", CELL.1);
        }
        if self.text.trim().is_empty() {
            return;
        }
        let classes: Vec<&str> = [(Modifier::BOLD, "b"), (Modifier::UNDERLINED, "u")]
            .into_iter()
            .filter_map(|(modifier, class)| self.style.modifier.contains(modifier).then_some(class))
            .collect();
        let class = if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) };
        let fill = fg.map(|fg| format!(" style=\"fill: {fg}\"")).unwrap_or_default();
        // Some SVG renderers drop blanks at the ends of a text and merge blanks in its middle. So the position replaces
        // the blanks before the text, and non-breaking spaces replace those in its middle.
        let cut = self.text.trim_end().chars().count();
        let before = self.text.chars().take_while(|c| *c == ' ').count();
        let (x, width) =
            (x + before * CELL.0, if self.cells > 1 && cut == 1 { width } else { (cut - before) * CELL.0 });
        let text =
            self.text.trim().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(' ', "\u{a0}");
        let base = y + FONT_SIZE - 1;
        let _ = writeln!(
            out,
            "<text x=\"{x}\" y=\"{base}\" textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\"{class}{fill}>{text}</text>"
        );
    }
}

fn color(color: Color) -> Option<String> {
    match color {
        Color::Rgb(r, g, b) => Some(format!("#{r:02x}{g:02x}{b:02x}")),
        // The sixteen colours as many terminals show them.
        Color::Red => Some("#cd3131".to_owned()),
        Color::Green => Some("#0dbc79".to_owned()),
        Color::Yellow => Some("#b5a000".to_owned()),
        Color::Blue => Some("#2472c8".to_owned()),
        Color::Magenta => Some("#bc3fbc".to_owned()),
        Color::Cyan => Some("#11a8cd".to_owned()),
        Color::DarkGray => Some("#8a8a8a".to_owned()),
        Color::LightRed => Some("#f14c4c".to_owned()),
        Color::LightCyan => Some("#29b8db".to_owned()),
        Color::White => Some("#ffffff".to_owned()),
        _ => None,
    }
}

/// Draws the first rows of the job list in each built-in theme, below the name of the theme.
fn theme_strip(ground: Background) -> String {
    const ROWS: u16 = 6;
    let mut fixture = ScreenFixture::new((STRIP_COLUMNS, 24));
    fixture.load_jobs();
    // These themes have the same colours on every background, so each of them is readable on only one.
    let other = if ground == Background::Light { "dark" } else { "light" };
    let names = themes::theme_names(None).into_iter().filter(|name| *name != themes::AUTO_THEME && name != other);
    let mut strip = Buffer::empty(Rect::new(0, 0, STRIP_COLUMNS, 0));
    for name in names {
        let palettes = themes::load_theme(&name, None).expect("a built-in theme");
        let depth = if name == "terminal-16" { ColorDepth::Sixteen } else { ColorDepth::TrueColor };
        let theme = Theme::from_palette(palettes.for_background(ground), depth);
        let screen = render_with_theme(&fixture.app, &theme);
        let top = strip.area.height;
        strip.resize(Rect { height: top + ROWS + 1, ..strip.area });
        let background = theme.background.unwrap_or(Color::Reset);
        strip.set_style(Rect { y: top, height: 1, ..strip.area }, Style::new().bg(background));
        strip.set_stringn(1, top, &name, usize::from(STRIP_COLUMNS), theme.key.patch(theme.title));
        for (y, x) in (0..ROWS).flat_map(|y| (0..STRIP_COLUMNS).map(move |x| (y, x))) {
            strip[(x, top + 1 + y)] = screen[(x, FIRST_LIST_ROW + y)].clone();
        }
    }
    svg(&strip, if ground == Background::Light { LIGHT } else { DARK })
}

/// Compares the picture with its file in `assets`. Writes the file first if `DOCDECK_PICTURES` is set.
fn assert_picture_matches(name: &str, drawn: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(format!("{name}.svg"));
    if std::env::var_os("DOCDECK_PICTURES").is_some() {
        std::fs::write(&path, drawn).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == drawn,
        "assets/{name}.svg does not show what is drawn: look at the screen, then run the tests with DOCDECK_PICTURES=write"
    );
}

fn assert_both_pictures_match(name: &str, fixture: &ScreenFixture) {
    assert_picture_matches(&format!("{name}-dark"), &picture(fixture, Background::Dark));
    assert_picture_matches(&format!("{name}-light"), &picture(fixture, Background::Light));
}

#[test]
fn the_pictures_of_the_themes_match_the_screens() {
    assert_picture_matches("themes-dark", &theme_strip(Background::Dark));
    assert_picture_matches("themes-light", &theme_strip(Background::Light));
}

#[test]
fn the_pictures_match_the_screens() {
    let mut fixture = ScreenFixture::new(SIZE);
    fixture.load_jobs();
    assert_both_pictures_match("jobs", &fixture);
    fixture.press_keys("n");
    fixture.paste(
        "Rewrite the page on single sign-on\n\n- Say first what it is for.\n- Show the whole set-up for one provider.",
    );
    assert_both_pictures_match("editor", &fixture);
}

#[test]
fn the_picture_of_changes_matches_the_screen() {
    let mut fixture = ScreenFixture::new(SIZE);
    fixture.open_changes();
    fixture.load_diff(Ok(DIFF));
    fixture.press_keys("j j j j j j j j j j");
    assert_both_pictures_match("changes", &fixture);
}

#[test]
fn the_picture_of_a_pull_request_matches_the_screen() {
    let mut fixture = ScreenFixture::new(SIZE);
    open_pull_request(&mut fixture);
    assert_both_pictures_match("pull-request", &fixture);
}

#[test]
fn the_pictures_of_page_views_match_the_screens() {
    let mut fixture = ScreenFixture::new(SIZE);
    reports::open_site_comparison(&mut fixture);
    assert_both_pictures_match("compare", &fixture);
    let mut fixture = ScreenFixture::new(SIZE);
    reports::open_month_trend(&mut fixture);
    assert_both_pictures_match("trend", &fixture);
    let mut fixture = ScreenFixture::new(SIZE);
    fixture.load_jobs();
    fixture.load_views(50, true);
    assert_both_pictures_match("views", &fixture);
}

#[test]
fn the_picture_of_pages_that_need_work_matches_the_screen() {
    let mut fixture = ScreenFixture::new(SIZE);
    crate::analytics::load_signals(&mut fixture, true);
    assert_both_pictures_match("needs-work", &fixture);
}

#[test]
fn readme_and_guide_show_every_picture_and_link_to_no_missing_file() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let names = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("a file").file_name().into_string().expect("a name")).collect::<Vec<_>>()
    };
    let text = |path: &Path| std::fs::read_to_string(path).expect("a page");
    let mut pages = text(&assets.join("../README.md"));
    for name in names(&assets.join("guide")) {
        pages.push_str(&text(&assets.join("guide").join(name)).replace("\"../", "\"assets/"));
    }
    for name in names(&assets) {
        assert!(!name.ends_with(".svg") || pages.contains(&format!("\"assets/{name}\"")), "{name} is not shown");
    }
    for part in pages.split("\"assets/").skip(1) {
        let name = part.split('"').next().expect("a name");
        assert!(assets.join(name).is_file(), "assets/{name} is missing");
    }
}

#[test]
fn the_readme_is_short_and_its_links_lead_to_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).expect("a README");
    assert!(readme.lines().count() <= 150, "move details to assets/guide");
    for link in readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(link.contains("://") || root.join(link).is_file(), "{link}");
    }
}
