//! Themes: TOML files that assign colours to roles. Built-in ones are in `assets/themes`, custom ones in `themes` next
//! to `config.toml`; a file overrides colours of the default theme.

use crate::model::colors::{ColorPalette, ColorRole, Paint, Rgb, ThemeColor, ThemePalettes};
use crate::model::redaction::redacted_setting;
use crate::model::text::CleanText;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;

/// Built-in themes by name, in display order. `auto` is not listed, because it is dark or light depending on the
/// terminal's background.
pub const SHIPPED: [(&str, &str); 5] = [
    ("dark", include_str!("../../assets/themes/dark.toml")),
    ("light", include_str!("../../assets/themes/light.toml")),
    ("high-contrast", include_str!("../../assets/themes/high-contrast.toml")),
    ("colour-blind-safe", include_str!("../../assets/themes/colour-blind-safe.toml")),
    ("terminal-16", include_str!("../../assets/themes/terminal-16.toml")),
];
/// The theme that follows the terminal's background.
pub const AUTO: &str = "auto";
/// The largest theme file.
const MAX_BYTES: u64 = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    #[error("There is no theme {name}. Themes: {known}.")]
    Unknown { name: CleanText, known: CleanText },
    #[error("{file}:{line}:{column}: {what}. Fix the line, or choose another theme.")]
    Invalid { file: CleanText, line: usize, column: usize, what: CleanText },
    #[error("{file} can't be read: {why}.")]
    Unreadable { file: CleanText, why: CleanText },
}

/// The colours of the default theme.
pub fn default_theme() -> ThemePalettes {
    let mut colours = ThemePalettes { unknown: ColorPalette::middle_tones(), ..ThemePalettes::default() };
    // A test reads the built-in files, so this can't fail; the terminal's colours would be used if it did.
    for (name, text) in SHIPPED.into_iter().take(2) {
        if let Ok(file) = deserialize_theme(name, text) {
            for (table, palette) in [(&file.dark, &mut colours.dark), (&file.light, &mut colours.light)] {
                if let Some(table) = table {
                    let _ = patch(table, palette, name, text);
                }
            }
        }
    }
    colours
}

/// Loads a theme by name: a file in `folder` before a built-in one.
///
/// # Errors
/// Fails if there is no such theme or its file is invalid.
pub fn load_theme(name: &str, folder: Option<&Path>) -> Result<ThemePalettes, ThemeError> {
    if name == AUTO {
        return Ok(default_theme());
    }
    if let Some((file, text)) = read_custom(name, folder)? {
        return parse(&file, &text);
    }
    match SHIPPED.into_iter().find(|(shipped, _)| *shipped == name) {
        Some((shipped, text)) => parse(shipped, text),
        None => {
            let known = theme_names(folder).join(", ");
            Err(ThemeError::Unknown { name: CleanText::line(name), known: CleanText::line(&known) })
        }
    }
}

/// The names of all themes: `auto`, the built-in and the custom ones.
pub fn theme_names(folder: Option<&Path>) -> Vec<String> {
    let mut names: Vec<String> =
        std::iter::once(AUTO).chain(SHIPPED.map(|(name, _)| name)).map(str::to_owned).collect();
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok());
    let mut own: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| is_name(name) && !names.contains(name))
        .collect();
    own.sort();
    names.extend(own);
    names
}

/// Whether the name can't lead out of the folder.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

/// The custom theme of this name, if there is one: its file name and text.
fn read_custom(name: &str, folder: Option<&Path>) -> Result<Option<(String, String)>, ThemeError> {
    use std::io::Read as _;
    let Some(folder) = folder.filter(|_| is_name(name)) else { return Ok(None) };
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
    let read = file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|error| unreadable(&error.to_string()))?;
    if u64::try_from(read).unwrap_or(u64::MAX) > MAX_BYTES {
        return Err(unreadable("the file is too large for a theme"));
    }
    Ok(Some((path.display().to_string(), text)))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    dark: Option<ColorTable>,
    light: Option<ColorTable>,
    unknown: Option<ColorTable>,
}

/// The colours for one kind of background: roles, `ground` and `made_for`, validated one by one for precise errors.
type ColorTable = BTreeMap<Spanned<String>, Spanned<Value>>;

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "there should be a colour in quotes, or a table like { fg = \"red\", bold = true }")]
enum Value {
    Colour(String),
    Grounds(Vec<String>),
    Paint(PaintTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PaintTable {
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

/// Parses a theme; `name` is the file's name, for errors.
///
/// # Errors
/// Fails with line and column if the text is not TOML or contains an unknown role.
pub fn parse(name: &str, text: &str) -> Result<ThemePalettes, ThemeError> {
    let file = deserialize_theme(name, text)?;
    let mut colours = default_theme();
    let tables =
        [(&file.dark, &mut colours.dark), (&file.light, &mut colours.light), (&file.unknown, &mut colours.unknown)];
    for (table, palette) in tables {
        if let Some(table) = table {
            patch(table, palette, name, text)?;
        }
    }
    // A theme for one kind of background looks the same on all.
    match (&file.dark, &file.light, &file.unknown) {
        (Some(_), None, None) => {
            colours.light = colours.dark.clone();
            colours.unknown = colours.dark.clone();
        }
        (None, Some(_), None) => {
            colours.dark = colours.light.clone();
            colours.unknown = colours.light.clone();
        }
        // The theme sets its background, so it is readable before the terminal's background is known.
        (Some(_), Some(_), None) if colours.dark.background != ThemeColor::Terminal => {
            colours.unknown = colours.dark.clone();
        }
        _ => {}
    }
    Ok(colours)
}

fn deserialize_theme(name: &str, text: &str) -> Result<File, ThemeError> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        invalid(name, text, at, error.message())
    })
}

fn invalid(name: &str, text: &str, at: usize, what: &str) -> ThemeError {
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    ThemeError::Invalid { file: CleanText::line(name), line, column, what: CleanText::line(&redacted_setting(what)) }
}

fn patch(table: &ColorTable, palette: &mut ColorPalette, name: &str, text: &str) -> Result<(), ThemeError> {
    for (key, value) in table {
        let wrong = |what: &str| invalid(name, text, value.span().start, what);
        let colour = |text: &str| {
            let expected = "write \"#rrggbb\", \"default\" or a name like \"bright-blue\"";
            ThemeColor::parse(text).ok_or_else(|| wrong(&format!("{text} is not a colour: {expected}")))
        };
        match (key.get_ref().as_str(), value.get_ref()) {
            ("ground", Value::Colour(text)) => palette.background = colour(text)?,
            ("made_for", Value::Grounds(list)) => {
                let invalid = |text: &str| wrong(&format!("{text} is not in the form #rrggbb"));
                let parsed = list.iter().map(|text| Rgb::parse(text).ok_or_else(|| invalid(text)));
                palette.made_for = parsed.collect::<Result<_, _>>()?;
            }
            (other, value) => {
                let meaning = ColorRole::parse(other).ok_or_else(|| {
                    let known = ColorRole::ALL.map(ColorRole::name).join(", ");
                    invalid(name, text, key.span().start, &format!("unknown style {other}; valid styles: {known}"))
                })?;
                palette.set(
                    meaning,
                    painted(value, &colour)
                        .map_err(|error| error.unwrap_or_else(|| wrong("expected a colour or a table")))?,
                );
            }
        }
    }
    Ok(())
}

/// Parses a style; `Err(None)` if the value has the wrong type.
fn painted(
    value: &Value,
    colour: &impl Fn(&str) -> Result<ThemeColor, ThemeError>,
) -> Result<Paint, Option<ThemeError>> {
    match value {
        Value::Colour(text) => Ok(Paint { fg: colour(text)?, ..Paint::default() }),
        Value::Paint(table) => {
            let read = |text: &Option<String>| text.as_deref().map_or(Ok(ThemeColor::Terminal), colour);
            let PaintTable { bold, dim, underlined, reversed, .. } = *table;
            Ok(Paint { fg: read(&table.fg)?, bg: read(&table.bg)?, bold, dim, underlined, reversed })
        }
        Value::Grounds(_) => Err(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::colors::ANSI;

    /// xterm's default ANSI colours.
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

    fn rgb(colour: ThemeColor) -> Option<Rgb> {
        match colour {
            ThemeColor::Terminal => None,
            ThemeColor::Rgb(rgb) => Some(rgb),
            ThemeColor::Ansi(n) => {
                let [_, r, g, b] = XTERM[usize::from(n)].to_be_bytes();
                Some(Rgb(r, g, b))
            }
        }
    }

    /// Pairs of text and background colour that a theme draws, with the role.
    fn pairs(palette: &ColorPalette) -> Vec<(ColorRole, Rgb, Rgb)> {
        let grounds: Vec<Rgb> = match rgb(palette.background) {
            Some(own) => vec![own],
            None => palette.made_for.clone(),
        };
        assert!(!grounds.is_empty(), "the theme declares its backgrounds");
        let mut pairs = Vec::new();
        for meaning in ColorRole::ALL {
            let paint = palette.paint(meaning);
            for ground in &grounds {
                // If neither is set, the terminal's user chose both colours.
                let Some(fg) = rgb(paint.fg) else { continue };
                pairs.push((meaning, fg, rgb(paint.bg).unwrap_or(*ground)));
            }
        }
        pairs
    }

    #[test]
    fn the_text_of_every_built_in_theme_has_enough_contrast() {
        for (name, _) in SHIPPED {
            let theme = load_theme(name, None).expect("a good file");
            for (kind, palette) in [("dark", &theme.dark), ("light", &theme.light)] {
                for (meaning, letters, ground) in pairs(palette) {
                    let least = if meaning.is_text() { 4.5 } else { 3.0 };
                    let contrast = letters.contrast(ground);
                    assert!(contrast >= least, "{name} {kind}: {meaning:?} {letters:?} on {ground:?} is {contrast:.2}");
                }
            }
        }
    }

    #[test]
    fn high_contrast_is_seven_to_one_everywhere() {
        let theme = load_theme("high-contrast", None).expect("a good file");
        for palette in [&theme.dark, &theme.light, &theme.unknown] {
            assert!(pairs(palette).iter().all(|(_, letters, ground)| letters.contrast(*ground) >= 7.0));
        }
    }

    #[test]
    fn human_and_ai_colours_differ_in_every_built_in_theme() {
        for (name, _) in SHIPPED {
            let theme = load_theme(name, None).expect("a good file");
            for palette in [&theme.dark, &theme.light, &theme.unknown] {
                assert_ne!(palette.paint(ColorRole::Human), palette.paint(ColorRole::Ai), "{name}");
            }
        }
    }

    #[test]
    fn a_custom_theme_overrides_the_default_one() {
        let colours = parse("mine", "[dark]\nbad = \"bright-red\"\nmark = { fg = \"#123456\", underlined = true }\n")
            .expect("good");
        assert_eq!(colours.dark.paint(ColorRole::Bad).fg, ThemeColor::Ansi(9));
        assert!(colours.dark.paint(ColorRole::Mark).underlined);
        assert_eq!(colours.dark.paint(ColorRole::Good), default_theme().dark.paint(ColorRole::Good));
        assert_eq!(colours.light, colours.dark, "one table applies to every background");
    }

    #[test]
    fn every_mistake_is_reported_with_its_position() {
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
    fn an_unknown_theme_is_an_error_that_lists_the_themes_and_never_leaves_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("mine.toml"), "[light]\nbad = \"red\"\n").expect("written");
        assert!(load_theme("mine", Some(folder.path())).is_ok());
        let error = load_theme("../mine", Some(&folder.path().join("themes"))).expect_err("no such theme").to_string();
        assert!(error.contains("auto, dark, light, high-contrast, colour-blind-safe, terminal-16"), "{error}");
        assert_eq!(theme_names(Some(folder.path())).last().map(String::as_str), Some("mine"));
    }

    #[test]
    fn the_ansi_colours_can_be_named() {
        assert!(ANSI.iter().all(|name| ThemeColor::parse(name).is_some()));
    }
}
