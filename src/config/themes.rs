//! Themes: TOML files that assign colours to roles. Built-in themes are in `assets/themes`, custom themes in the folder
//! `themes` next to `config.toml`. A role that a theme doesn't set has the colour of the default theme.

use crate::model::colors::{ColorPalette, ColorRole, Rgb, RoleStyle, ThemeColor, ThemePalettes};
use crate::model::redaction::redacted_setting;
use crate::model::text::CleanText;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;

/// The names and TOML texts of the built-in themes, in display order. The theme `auto` is not listed, because it has no
/// text of its own: it uses `dark` or `light`, depending on the terminal's background.
pub const BUILT_IN_THEMES: [(&str, &str); 9] = [
    ("dark", include_str!("../../assets/themes/dark.toml")),
    ("light", include_str!("../../assets/themes/light.toml")),
    ("high-contrast", include_str!("../../assets/themes/high-contrast.toml")),
    ("colour-blind-safe", include_str!("../../assets/themes/colour-blind-safe.toml")),
    ("catppuccin", include_str!("../../assets/themes/catppuccin.toml")),
    ("gruvbox", include_str!("../../assets/themes/gruvbox.toml")),
    ("solarized", include_str!("../../assets/themes/solarized.toml")),
    ("nord", include_str!("../../assets/themes/nord.toml")),
    ("terminal-16", include_str!("../../assets/themes/terminal-16.toml")),
];
/// The name of the default theme, which adapts to the terminal's background.
pub const AUTO_THEME: &str = "auto";
/// The maximum size of a custom theme file, in bytes.
const MAX_THEME_BYTES: u64 = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    #[error("There is no theme {name}. Themes: {known}.")]
    Unknown { name: CleanText, known: CleanText },
    #[error("{file}:{line}:{column}: {what}. Fix the line, or choose another theme.")]
    Invalid { file: CleanText, line: usize, column: usize, what: CleanText },
    #[error("{file} can't be read: {why}.")]
    Unreadable { file: CleanText, why: CleanText },
}

/// Returns the colours of the default theme for a terminal whose background is unknown. Faster than reading the theme.
pub fn default_palette_for_unknown_background() -> ColorPalette {
    ColorPalette::medium_tones()
}

/// Returns the colours of the default theme.
pub fn default_theme() -> ThemePalettes {
    let mut palettes = ThemePalettes { unknown: default_palette_for_unknown_background(), ..ThemePalettes::default() };
    // Errors are ignored, because a test makes sure that the built-in themes are valid. In an invalid theme, roles
    // would keep the terminal's colours.
    for (name, text) in BUILT_IN_THEMES.into_iter().take(2) {
        if let Ok(file) = deserialize_theme(name, text) {
            for (table, palette) in [(&file.dark, &mut palettes.dark), (&file.light, &mut palettes.light)] {
                if let Some(table) = table {
                    let _ = apply_overrides(table, palette, name, text);
                }
            }
        }
    }
    palettes
}

/// Loads a theme by name. A custom theme in `folder` overrides a built-in theme of the same name.
///
/// # Errors
/// Fails if there is no such theme or its file is invalid.
pub fn load_theme(name: &str, folder: Option<&Path>) -> Result<ThemePalettes, ThemeError> {
    if name == AUTO_THEME {
        return Ok(default_theme());
    }
    if let Some((file, text)) = read_custom_theme(name, folder)? {
        return parse(&file, &text);
    }
    match BUILT_IN_THEMES.into_iter().find(|(built_in, _)| *built_in == name) {
        Some((built_in, text)) => parse(built_in, text),
        None => {
            let known = theme_names(folder).join(", ");
            Err(ThemeError::Unknown { name: CleanText::line(name), known: CleanText::line(&known) })
        }
    }
}

/// Returns the names of all themes: `auto`, then the built-in themes, then the custom themes in `folder`.
pub fn theme_names(folder: Option<&Path>) -> Vec<String> {
    let mut names: Vec<String> =
        std::iter::once(AUTO_THEME).chain(BUILT_IN_THEMES.map(|(name, _)| name)).map(str::to_owned).collect();
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok());
    let mut custom: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| is_safe_theme_name(name) && !names.contains(name))
        .collect();
    custom.sort();
    names.extend(custom);
    names
}

/// Whether `name` is safe to use as a file name, so that it can't point to a file outside the folder of themes.
fn is_safe_theme_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

/// Reads the custom theme `name` from `folder`. Returns its path and text, or `None` if there is no such theme.
fn read_custom_theme(name: &str, folder: Option<&Path>) -> Result<Option<(String, String)>, ThemeError> {
    use std::io::Read as _;
    let Some(folder) = folder.filter(|_| is_safe_theme_name(name)) else { return Ok(None) };
    let path = folder.join(format!("{name}.toml"));
    let unreadable = |why: &str| ThemeError::Unreadable {
        file: CleanText::line(&path.display().to_string()),
        why: CleanText::line(why),
    };
    let file = match std::fs::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&error.to_string())),
    };
    let mut text = String::new();
    let read =
        file.take(MAX_THEME_BYTES + 1).read_to_string(&mut text).map_err(|error| unreadable(&error.to_string()))?;
    if u64::try_from(read).unwrap_or(u64::MAX) > MAX_THEME_BYTES {
        return Err(unreadable("the file is too large for a theme"));
    }
    Ok(Some((path.display().to_string(), text)))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThemeFile {
    dark: Option<ColorTable>,
    light: Option<ColorTable>,
    unknown: Option<ColorTable>,
}

/// The styles of a theme for one kind of background, by role, plus the settings `background` and `made_for`. The type
/// is a map instead of a struct, so that each entry has a position for error messages.
type ColorTable = BTreeMap<Spanned<String>, Spanned<ThemeValue>>;

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "there should be a colour in quotes, or a table like { fg = \"red\", bold = true }")]
enum ThemeValue {
    Color(String),
    Backgrounds(Vec<String>),
    Style(StyleTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StyleTable {
    fg: Option<String>,
    bg: Option<String>,
    #[serde(default)]
    bold: bool,
    #[serde(default)]
    dim: bool,
    #[serde(default)]
    underlined: bool,
    #[serde(default)]
    reversed: bool,
}

/// Parses the text of a theme. `name` names the theme's file in errors.
///
/// # Errors
/// Fails with line and column if the text is not TOML or contains an unknown role or an invalid colour.
pub fn parse(name: &str, text: &str) -> Result<ThemePalettes, ThemeError> {
    let file = deserialize_theme(name, text)?;
    let mut palettes = default_theme();
    let tables =
        [(&file.dark, &mut palettes.dark), (&file.light, &mut palettes.light), (&file.unknown, &mut palettes.unknown)];
    for (table, palette) in tables {
        if let Some(table) = table {
            apply_overrides(table, palette, name, text)?;
        }
    }
    // If a theme has colours for only one kind of background, use them on every background.
    match (&file.dark, &file.light, &file.unknown) {
        (Some(_), None, None) => {
            palettes.light = palettes.dark.clone();
            palettes.unknown = palettes.dark.clone();
        }
        (None, Some(_), None) => {
            palettes.dark = palettes.light.clone();
            palettes.unknown = palettes.light.clone();
        }
        // The dark palette paints its own background, so it is readable even if the terminal's background is unknown.
        (Some(_), Some(_), None) if palettes.dark.background != ThemeColor::Terminal => {
            palettes.unknown = palettes.dark.clone();
        }
        _ => {}
    }
    Ok(palettes)
}

fn deserialize_theme(name: &str, text: &str) -> Result<ThemeFile, ThemeError> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        invalid_theme(name, text, at, error.message())
    })
}

/// Returns an error at the byte offset `at` of `text`.
fn invalid_theme(name: &str, text: &str, at: usize, what: &str) -> ThemeError {
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    ThemeError::Invalid { file: CleanText::line(name), line, column, what: CleanText::line(&redacted_setting(what)) }
}

/// Overrides the styles of `palette` with those in `table`.
fn apply_overrides(table: &ColorTable, palette: &mut ColorPalette, name: &str, text: &str) -> Result<(), ThemeError> {
    for (key, value) in table {
        let wrong = |what: &str| invalid_theme(name, text, value.span().start, what);
        let color = |text: &str| {
            let expected = "write \"#rrggbb\", \"default\" or a name like \"bright-blue\"";
            ThemeColor::parse(text).ok_or_else(|| wrong(&format!("{text} is not a colour: {expected}")))
        };
        match (key.get_ref().as_str(), value.get_ref()) {
            ("background" | "ground", ThemeValue::Color(text)) => palette.background = color(text)?,
            ("made_for", ThemeValue::Backgrounds(list)) => {
                let invalid = |text: &str| wrong(&format!("{text} is not in the form #rrggbb"));
                let parsed = list.iter().map(|text| Rgb::parse(text).ok_or_else(|| invalid(text)));
                palette.made_for_backgrounds = parsed.collect::<Result<_, _>>()?;
            }
            (other, value) => {
                let role = other.parse().map_err(|_| {
                    let known = ColorRole::ALL.iter().map(|role| role.name()).collect::<Vec<_>>().join(", ");
                    invalid_theme(
                        name,
                        text,
                        key.span().start,
                        &format!("unknown style {other}; valid styles: {known}"),
                    )
                })?;
                palette.set_role_style(
                    role,
                    parse_style(value, &color)
                        .map_err(|error| error.unwrap_or_else(|| wrong("expected a colour or a table")))?,
                );
            }
        }
    }
    Ok(())
}

/// Parses a style. Returns `Err(None)` if the value is neither a colour nor a table.
fn parse_style(
    value: &ThemeValue,
    color: &impl Fn(&str) -> Result<ThemeColor, ThemeError>,
) -> Result<RoleStyle, Option<ThemeError>> {
    match value {
        ThemeValue::Color(text) => Ok(RoleStyle { fg: color(text)?, ..RoleStyle::default() }),
        ThemeValue::Style(table) => {
            let read = |text: &Option<String>| text.as_deref().map_or(Ok(ThemeColor::Terminal), color);
            let StyleTable { bold, dim, underlined, reversed, .. } = *table;
            Ok(RoleStyle { fg: read(&table.fg)?, bg: read(&table.bg)?, bold, dim, underlined, reversed })
        }
        ThemeValue::Backgrounds(_) => Err(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::colors::ANSI_COLOR_NAMES;
    use crate::model::colors::MIN_SYMBOL_CONTRAST;

    /// The RGB values of xterm's 16 default ANSI colours.
    const XTERM: [u32; 16] = [
        0x0000_0000,
        0x00cd_0000,
        0x0000_cd00,
        0x00cd_cd00,
        0x0000_00ee,
        0x00cd_00cd,
        0x0000_cdcd,
        0x00e5_e5e5,
        0x007f_7f7f,
        0x00ff_0000,
        0x0000_ff00,
        0x00ff_ff00,
        0x005c_5cff,
        0x00ff_00ff,
        0x0000_ffff,
        0x00ff_ffff,
    ];

    fn rgb(color: ThemeColor) -> Option<Rgb> {
        match color {
            ThemeColor::Terminal => None,
            ThemeColor::Rgb(rgb) => Some(rgb),
            ThemeColor::Ansi(n) => {
                let [_, r, g, b] = XTERM[usize::from(n)].to_be_bytes();
                Some(Rgb(r, g, b))
            }
        }
    }

    /// Returns each role with its text colour and each background colour on which that text can appear.
    fn text_and_background_pairs(palette: &ColorPalette) -> Vec<(ColorRole, Rgb, Rgb)> {
        let backgrounds: Vec<Rgb> = match rgb(palette.background) {
            Some(background) => vec![background],
            None => palette.made_for_backgrounds.clone(),
        };
        assert!(!backgrounds.is_empty(), "the theme declares its backgrounds");
        let mut pairs = Vec::new();
        for &role in ColorRole::ALL {
            let style = palette.role_style(role);
            for background in &backgrounds {
                // Without a text colour, the text has the terminal's own colours, whose contrast is unknown.
                let Some(fg) = rgb(style.fg) else { continue };
                pairs.push((role, fg, rgb(style.bg).unwrap_or(*background)));
            }
        }
        pairs
    }

    #[test]
    fn the_text_of_every_built_in_theme_has_enough_contrast() {
        for (name, _) in BUILT_IN_THEMES {
            let theme = load_theme(name, None).expect("a good file");
            for (kind, palette) in [("dark", &theme.dark), ("light", &theme.light)] {
                for (role, text, background) in text_and_background_pairs(palette) {
                    let min_contrast = if role.is_text() { 4.5 } else { 3.0 };
                    let contrast = text.contrast(background);
                    assert!(
                        contrast >= min_contrast,
                        "{name} {kind}: {role:?} {text:?} on {background:?} is {contrast:.2}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_selected_row_of_every_built_in_theme_is_readable_and_its_symbols_keep_their_colours() {
        let symbols = [ColorRole::Good, ColorRole::Bad, ColorRole::Warning, ColorRole::Working, ColorRole::Mark];
        for (name, _) in BUILT_IN_THEMES {
            let theme = load_theme(name, None).expect("a good file");
            for (kind, palette) in [("dark", &theme.dark), ("light", &theme.light)] {
                let selected = palette.role_style(ColorRole::Selected);
                let (fg, bg) = (rgb(selected.fg).expect("a text colour"), rgb(selected.bg).expect("a fill"));
                assert!(fg.contrast(bg) >= 4.5, "{name} {kind}: {:.2}", fg.contrast(bg));
                for role in symbols.into_iter().chain([ColorRole::Human, ColorRole::Ai]) {
                    let contrast = palette.contrast_with_selected(role);
                    let may_differ = ["high-contrast", "terminal-16"].contains(&name);
                    let is_seen = contrast >= Some(MIN_SYMBOL_CONTRAST);
                    assert!(may_differ || is_seen, "{name} {kind}: {role:?} {contrast:?}");
                }
            }
        }
    }

    #[test]
    fn the_high_contrast_theme_has_a_contrast_of_at_least_seven_to_one() {
        let theme = load_theme("high-contrast", None).expect("a good file");
        for palette in [&theme.dark, &theme.light, &theme.unknown] {
            assert!(
                text_and_background_pairs(palette)
                    .iter()
                    .all(|(_, text, background)| text.contrast(*background) >= 7.0)
            );
        }
    }

    #[test]
    fn human_and_ai_colours_differ_in_every_built_in_theme() {
        for (name, _) in BUILT_IN_THEMES {
            let theme = load_theme(name, None).expect("a good file");
            for palette in [&theme.dark, &theme.light, &theme.unknown] {
                assert_ne!(palette.role_style(ColorRole::Human), palette.role_style(ColorRole::Ai), "{name}");
            }
        }
    }

    #[test]
    fn a_custom_theme_overrides_colours_of_the_default_theme() {
        let palettes = parse("mine", "[dark]\nbad = \"bright-red\"\nmark = { fg = \"#123456\", underlined = true }\n")
            .expect("good");
        assert_eq!(palettes.dark.role_style(ColorRole::Bad).fg, ThemeColor::Ansi(9));
        assert!(palettes.dark.role_style(ColorRole::Mark).underlined);
        assert_eq!(palettes.dark.role_style(ColorRole::Good), default_theme().dark.role_style(ColorRole::Good));
        assert_eq!(palettes.light, palettes.dark, "one table applies to every background");
    }

    #[test]
    fn every_mistake_in_a_theme_is_reported_with_line_and_column() {
        let cases = [
            ("[dark]\nbad = \"rad\"\n", 2, 7, "rad is not a colour"),
            ("[dark]\ntext = \"red\"\nbald = \"red\"\n", 3, 1, "unknown style bald"),
            ("[dusk]\n", 1, 2, "unknown field `dusk`"),
            ("[dark]\nmade_for = [\"#12\"]\n", 2, 12, "#12 is not in the form #rrggbb"),
            ("[dark\n", 1, 6, ""),
        ];
        for (text, line, column, what) in cases {
            match parse("mine.toml", text) {
                Err(ThemeError::Invalid { line: l, column: c, what: w, .. }) => {
                    assert_eq!((l, c), (line, column), "{text}: {w}");
                    assert!(w.as_str().contains(what), "{text}: {w}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_theme_outside_the_folder_is_unknown_and_the_error_lists_all_themes() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("mine.toml"), "[light]\nbad = \"red\"\n").expect("written");
        assert!(load_theme("mine", Some(folder.path())).is_ok());
        let error = load_theme("../mine", Some(&folder.path().join("themes"))).expect_err("no such theme").to_string();
        assert!(error.contains("auto, dark, light, high-contrast, colour-blind-safe, catppuccin"), "{error}");
        assert_eq!(theme_names(Some(folder.path())).last().map(String::as_str), Some("mine"));
    }

    #[test]
    fn every_ansi_colour_name_is_a_valid_colour() {
        assert!(ANSI_COLOR_NAMES.iter().all(|name| ThemeColor::parse(name).is_some()));
    }
}
