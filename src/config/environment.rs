//! The environment variables that docdeck uses: its own settings and the properties of the terminal.
//!
//! They are read once at the start and passed on as a value, so that all rules can be tested without changing the
//! process. Precedence is decided in [`super::resolve`].

use crate::model::colors::Background;
use crate::model::endpoint::{ApiKey, KEY_VARIABLE};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The environment variables that docdeck uses. An empty variable counts as unset.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `DOCDECK_API_KEY`. `Some(None)` if it contains an invalid key.
    pub api_key: Option<Option<ApiKey>>,
    /// `DOCDECK_BASE_URL`.
    pub base_url: Option<String>,
    /// `DOCDECK_PROJECT_ID`.
    pub project: Option<String>,
    /// `DOCDECK_PROFILE`.
    pub profile: Option<String>,
    /// `DOCDECK_CONFIG`.
    pub config: Option<PathBuf>,
    /// `DOCDECK_DATA_DIR`.
    pub data_dir: Option<PathBuf>,
    /// `DOCDECK_REDUCED_MOTION`, anything but `0`, `false` and `no`.
    pub reduced_motion: Option<bool>,
    /// `NO_COLOR`, set to anything.
    pub no_color: bool,
    /// The locale is not UTF-8, so the terminal may show only ASCII: `LC_ALL`, otherwise `LC_CTYPE`, otherwise `LANG`.
    pub ascii_locale: bool,
    /// The session runs over SSH: `SSH_CONNECTION` or `SSH_TTY`.
    pub ssh: bool,
    /// There is a display for a browser: `DISPLAY` or `WAYLAND_DISPLAY`.
    pub display: bool,
    /// `BROWSER`.
    pub browser: Option<String>,
    /// `VISUAL`, otherwise `EDITOR`.
    pub editor: Option<String>,
    pub pager: Option<String>,
    /// `TERM`.
    pub term: Option<String>,
    /// The terminal program, if it identifies itself: `TERM_PROGRAM`, with `TERM_PROGRAM_VERSION`.
    pub term_program: Option<String>,
    /// The terminal supports 256 colours or more, according to `TERM` or `COLORTERM`.
    pub many_colors: bool,
    /// The terminal supports 24-bit colours, according to `COLORTERM`.
    pub true_color: bool,
    /// The terminal's background according to `COLORFGBG`.
    pub background: Background,
    /// Inside tmux: `TMUX`.
    pub tmux: bool,
    /// Inside GNU screen: `STY`.
    pub screen: bool,
}

impl Environment {
    pub fn of_process() -> Self {
        Self::from_lookup(|name| std::env::var_os(name)?.into_string().ok())
    }

    /// Reads the variables through `lookup`.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let is_set = |name: &str| get(name).is_some();
        // GNU screen inherits the variable from the outer terminal but doesn't support its colours.
        let color_term = get("COLORTERM").filter(|_| !is_set("STY") || is_set("TMUX"));
        Self {
            api_key: get(KEY_VARIABLE).map(Zeroizing::new).map(|raw| ApiKey::new(&raw)),
            base_url: get("DOCDECK_BASE_URL"),
            project: get("DOCDECK_PROJECT_ID"),
            profile: get("DOCDECK_PROFILE"),
            config: get("DOCDECK_CONFIG").map(PathBuf::from),
            data_dir: get("DOCDECK_DATA_DIR").map(PathBuf::from),
            reduced_motion: get("DOCDECK_REDUCED_MOTION").map(|value| !is_no(&value)),
            no_color: is_set("NO_COLOR"),
            ascii_locale: is_ascii(
                ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(get).as_deref(),
                cfg!(windows) || get("TERM_PROGRAM").is_some_and(|name| UTF_8_WITHOUT_LOCALE.contains(&name.as_str())),
            ),
            ssh: is_set("SSH_CONNECTION") || is_set("SSH_TTY"),
            display: is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"),
            browser: get("BROWSER"),
            editor: get("VISUAL").or_else(|| get("EDITOR")),
            pager: get("PAGER"),
            many_colors: color_term.is_some() || get("TERM").is_some_and(|term| has_many_colors(&term)),
            true_color: color_term.is_some_and(|value| value == "truecolor" || value == "24bit"),
            background: get("COLORFGBG").map(|value| parse_colorfgbg(&value)).unwrap_or_default(),
            term: get("TERM"),
            term_program: get("TERM_PROGRAM").map(|name| match get("TERM_PROGRAM_VERSION") {
                Some(version) => format!("{name} {version}"),
                None => name,
            }),
            tmux: is_set("TMUX"),
            screen: is_set("STY"),
        }
    }
}

/// Programs that support UTF-8 although the locale is often unset: a login shell on macOS has none.
const UTF_8_WITHOUT_LOCALE: [&str; 2] = ["Apple_Terminal", "iTerm.app"];

/// Whether the locale is not UTF-8. An unset locale is `C`, unless the terminal program is known to support UTF-8.
fn is_ascii(locale: Option<&str>, supports_utf8: bool) -> bool {
    match locale {
        None => !supports_utf8,
        // Windows uses code pages, whatever locale a ported shell sets.
        Some(_) if cfg!(windows) => false,
        Some(locale) => {
            let locale = locale.to_ascii_lowercase();
            !(locale.contains("utf-8") || locale.contains("utf8"))
        }
    }
}

/// Parses `FG;BG`, possibly with a word in between, as numbers of the 16 ANSI colours.
fn parse_colorfgbg(value: &str) -> Background {
    match value.rsplit(';').next().and_then(|last| last.trim().parse().ok()) {
        Some(0_u8..=6 | 8) => Background::Dark,
        Some(7 | 9..=15) => Background::Light,
        _ => Background::Unknown,
    }
}

fn is_no(value: &str) -> bool {
    matches!(value.trim().to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off")
}

/// Names that end in the number of colours, and terminals that always had at least 256.
fn has_many_colors(term: &str) -> bool {
    let known = ["alacritty", "foot", "kitty", "xterm-kitty", "xterm-ghostty", "wezterm", "contour", "vte"];
    ["256color", "direct", "truecolor"].iter().any(|end| term.ends_with(end)) || known.contains(&term)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pairs: &[(&str, &str)]) -> Environment {
        Environment::from_lookup(|name| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let environment = from(&[("DOCDECK_BASE_URL", ""), ("NO_COLOR", ""), ("DOCDECK_API_KEY", "")]);
        assert_eq!(environment.base_url, None);
        assert!(!environment.no_color);
        assert!(environment.api_key.is_none());
    }

    #[test]
    fn reduced_motion_can_be_turned_off_with_no() {
        assert_eq!(from(&[("DOCDECK_REDUCED_MOTION", "1")]).reduced_motion, Some(true));
        assert_eq!(from(&[("DOCDECK_REDUCED_MOTION", "0")]).reduced_motion, Some(false));
        assert_eq!(from(&[]).reduced_motion, None);
    }

    #[test]
    fn colours_of_the_outer_terminal_are_ignored_inside_gnu_screen() {
        let around = [("COLORTERM", "truecolor"), ("TERM", "screen")];
        assert!(from(&around).true_color);
        let inside = from(&[around[0], around[1], ("STY", "1.tty")]);
        assert!(!inside.true_color && !inside.many_colors);
        assert!(from(&[around[0], ("TERM", "screen-256color"), ("STY", "1.tty")]).many_colors);
        assert!(from(&[around[0], around[1], ("STY", "1.tty"), ("TMUX", "/tmp/x")]).true_color);
    }

    #[cfg(not(windows))]
    #[test]
    fn the_locale_decides_whether_only_ascii_is_used() {
        for utf8 in ["C.UTF-8", "en_US.UTF-8", "de_DE.utf8", "UTF-8", "ja_JP.UTF-8@mod"] {
            assert!(!from(&[("LANG", utf8)]).ascii_locale, "{utf8}");
        }
        for other in ["C", "POSIX", "", "de_DE", "de_DE.ISO-8859-1", "ja_JP.eucJP"] {
            assert!(from(&[("LANG", other)]).ascii_locale, "{other}");
        }
        let (c, utf8) = ("C", "C.UTF-8");
        assert!(from(&[("LC_ALL", c), ("LC_CTYPE", utf8), ("LANG", utf8)]).ascii_locale);
        assert!(!from(&[("LC_ALL", ""), ("LC_CTYPE", utf8), ("LANG", c)]).ascii_locale);
        assert!(from(&[("LC_CTYPE", c), ("LANG", utf8)]).ascii_locale);
    }

    #[test]
    fn a_known_terminal_needs_no_locale() {
        for program in ["Apple_Terminal", "iTerm.app"] {
            assert!(!from(&[("TERM_PROGRAM", program)]).ascii_locale);
        }
        assert_eq!(from(&[("TERM_PROGRAM", "other")]).ascii_locale, cfg!(not(windows)));
    }

    #[test]
    fn the_key_is_not_printed_with_the_environment() {
        let environment = from(&[("DOCDECK_API_KEY", "mint_secret")]);
        assert!(!format!("{environment:?}").contains("secret"));
    }
}
