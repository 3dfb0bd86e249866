//! The environment variables that docdeck uses: docdeck's settings, and variables that describe the terminal.
//!
//! The variables are read once at startup and passed on as one value, so that tests don't have to change the
//! environment of the process. [`super::resolve`] decides which settings override others.

use crate::model::colors::Background;
use crate::model::endpoint::{API_KEY_VARIABLE, ApiKey, TEAM_URL_VARIABLE};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The environment variables that docdeck uses. An empty variable counts as unset.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `DOCDECK_API_KEY`. `None` if the variable is unset, `Some(None)` if it contains an invalid API key.
    pub api_key: Option<Option<ApiKey>>,
    /// `DOCDECK_TEAM_URL`, as an [`ApiKey`] because the URL contains a password. `None` if the variable is unset,
    /// `Some(None)` if its value can't be a URL.
    pub team_url: Option<Option<ApiKey>>,
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
    /// `DOCDECK_REDUCED_MOTION`: `Some(false)` if it is `0`, `false`, `no` or `off`, `Some(true)` for any other value.
    pub reduced_motion: Option<bool>,
    /// Whether `NO_COLOR` is set to any value.
    pub no_color: bool,
    /// Whether only ASCII is safe to print: the locale is not UTF-8, or no locale is set and the terminal is not known
    /// to support UTF-8. Always false on Windows. The locale is the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is
    /// set.
    pub is_ascii_locale: bool,
    /// Whether docdeck runs in an SSH session (`SSH_CONNECTION` or `SSH_TTY` is set).
    pub is_ssh: bool,
    /// Whether there is a graphical display for a browser (`DISPLAY` or `WAYLAND_DISPLAY` is set).
    pub has_display: bool,
    /// The first of `USER`, `USERNAME` and `LOGNAME` that is set.
    pub user: Option<String>,
    /// `BROWSER`.
    pub browser: Option<String>,
    /// `VISUAL`, or `EDITOR` if `VISUAL` is unset.
    pub editor: Option<String>,
    /// `PAGER`.
    pub pager: Option<String>,
    /// `TERM`.
    pub term: Option<String>,
    /// The name of the terminal program from `TERM_PROGRAM`, followed by `TERM_PROGRAM_VERSION` if set.
    pub term_program: Option<String>,
    /// Whether the terminal supports 256 colours or more, according to `TERM` or `COLORTERM`.
    pub has_256_colors: bool,
    /// Whether the terminal supports 24-bit colours, according to `COLORTERM`.
    pub has_true_color: bool,
    /// Whether the terminal's background is dark or light, according to `COLORFGBG`.
    pub background: Background,
    /// Whether docdeck runs inside tmux (`TMUX` is set).
    pub is_in_tmux: bool,
    /// Whether docdeck runs inside GNU screen (`STY` is set).
    pub is_in_screen: bool,
}

impl Environment {
    /// Reads the environment of the current process.
    pub fn from_process() -> Self {
        Self::from_lookup(|name| std::env::var_os(name)?.into_string().ok())
    }

    /// Reads each variable with `lookup`, which returns the value of the variable with the given name.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let is_set = |name: &str| get(name).is_some();
        // Inside GNU screen, COLORTERM describes the outer terminal, whose colours GNU screen doesn't support. So
        // COLORTERM is ignored if STY is set, unless TMUX is set, too.
        let color_term = get("COLORTERM").filter(|_| !is_set("STY") || is_set("TMUX"));
        Self {
            api_key: get(API_KEY_VARIABLE).map(Zeroizing::new).map(|raw| ApiKey::new(&raw)),
            team_url: get(TEAM_URL_VARIABLE).map(Zeroizing::new).map(|raw| ApiKey::new(&raw)),
            base_url: get("DOCDECK_BASE_URL"),
            project: get("DOCDECK_PROJECT_ID"),
            profile: get("DOCDECK_PROFILE"),
            config: get("DOCDECK_CONFIG").map(PathBuf::from),
            data_dir: get("DOCDECK_DATA_DIR").map(PathBuf::from),
            reduced_motion: get("DOCDECK_REDUCED_MOTION").map(|value| !means_no(&value)),
            no_color: is_set("NO_COLOR"),
            is_ascii_locale: is_ascii_only(
                ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(get).as_deref(),
                cfg!(windows)
                    || get("TERM_PROGRAM").is_some_and(|name| UTF8_TERMINALS_WITHOUT_LOCALE.contains(&name.as_str())),
            ),
            is_ssh: is_set("SSH_CONNECTION") || is_set("SSH_TTY"),
            has_display: is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"),
            user: ["USER", "USERNAME", "LOGNAME"].into_iter().find_map(get),
            browser: get("BROWSER"),
            editor: get("VISUAL").or_else(|| get("EDITOR")),
            pager: get("PAGER"),
            has_256_colors: color_term.is_some() || get("TERM").is_some_and(|term| has_many_colors(&term)),
            has_true_color: color_term.is_some_and(|value| value == "truecolor" || value == "24bit"),
            background: get("COLORFGBG").map(|value| parse_colorfgbg(&value)).unwrap_or_default(),
            term: get("TERM"),
            term_program: get("TERM_PROGRAM").map(|name| match get("TERM_PROGRAM_VERSION") {
                Some(version) => format!("{name} {version}"),
                None => name,
            }),
            is_in_tmux: is_set("TMUX"),
            is_in_screen: is_set("STY"),
        }
    }
}

/// The `TERM_PROGRAM` values of macOS terminals that support UTF-8, although their login shell often sets no locale.
const UTF8_TERMINALS_WITHOUT_LOCALE: [&str; 2] = ["Apple_Terminal", "iTerm.app"];

/// Whether only ASCII is safe to print: the locale is not UTF-8, or the locale is unset and the terminal is not known
/// to support UTF-8. Always false on Windows.
fn is_ascii_only(locale: Option<&str>, supports_utf8: bool) -> bool {
    match locale {
        None => !supports_utf8,
        // On Windows, the locale variables of a Unix shell such as Git Bash don't affect the terminal.
        Some(_) if cfg!(windows) => false,
        Some(locale) => {
            let locale = locale.to_ascii_lowercase();
            !(locale.contains("utf-8") || locale.contains("utf8"))
        }
    }
}

/// Parses `COLORFGBG`, which is `FG;BG` or `FG;default;BG`. `BG` is the number of one of the 16 ANSI colours.
fn parse_colorfgbg(value: &str) -> Background {
    match value.rsplit(';').next().and_then(|last| last.trim().parse().ok()) {
        Some(0_u8..=6 | 8) => Background::Dark,
        Some(7 | 9..=15) => Background::Light,
        _ => Background::Unknown,
    }
}

fn means_no(value: &str) -> bool {
    matches!(value.trim().to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off")
}

/// Whether the terminal `term` (the value of `TERM`) supports at least 256 colours. True if the name ends in a word
/// such as `256color`, or if every version of this terminal supports that many.
fn has_many_colors(term: &str) -> bool {
    let known = ["alacritty", "foot", "kitty", "xterm-kitty", "xterm-ghostty", "wezterm", "contour", "vte"];
    ["256color", "direct", "truecolor"].iter().any(|end| term.ends_with(end)) || known.contains(&term)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pairs: &[(&str, &str)]) -> Environment {
        Environment::from_lookup(|name| {
            pairs.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
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
    fn reduced_motion_can_be_turned_off_with_zero() {
        assert_eq!(from(&[("DOCDECK_REDUCED_MOTION", "1")]).reduced_motion, Some(true));
        assert_eq!(from(&[("DOCDECK_REDUCED_MOTION", "0")]).reduced_motion, Some(false));
        assert_eq!(from(&[]).reduced_motion, None);
    }

    #[test]
    fn colours_of_the_outer_terminal_are_ignored_inside_gnu_screen() {
        let outer = [("COLORTERM", "truecolor"), ("TERM", "screen")];
        assert!(from(&outer).has_true_color);
        let inside = from(&[outer[0], outer[1], ("STY", "1.tty")]);
        assert!(!inside.has_true_color && !inside.has_256_colors);
        assert!(from(&[outer[0], ("TERM", "screen-256color"), ("STY", "1.tty")]).has_256_colors);
        assert!(from(&[outer[0], outer[1], ("STY", "1.tty"), ("TMUX", "/tmp/x")]).has_true_color);
    }

    #[cfg(not(windows))]
    #[test]
    fn the_locale_decides_whether_only_ascii_is_used() {
        for utf8 in ["C.UTF-8", "en_US.UTF-8", "de_DE.utf8", "UTF-8", "ja_JP.UTF-8@mod"] {
            assert!(!from(&[("LANG", utf8)]).is_ascii_locale, "{utf8}");
        }
        for other in ["C", "POSIX", "", "de_DE", "de_DE.ISO-8859-1", "ja_JP.eucJP"] {
            assert!(from(&[("LANG", other)]).is_ascii_locale, "{other}");
        }
        let (c, utf8) = ("C", "C.UTF-8");
        assert!(from(&[("LC_ALL", c), ("LC_CTYPE", utf8), ("LANG", utf8)]).is_ascii_locale);
        assert!(!from(&[("LC_ALL", ""), ("LC_CTYPE", utf8), ("LANG", c)]).is_ascii_locale);
        assert!(from(&[("LC_CTYPE", c), ("LANG", utf8)]).is_ascii_locale);
    }

    #[test]
    fn a_terminal_known_to_support_utf8_needs_no_locale() {
        for program in ["Apple_Terminal", "iTerm.app"] {
            assert!(!from(&[("TERM_PROGRAM", program)]).is_ascii_locale);
        }
        assert_eq!(from(&[("TERM_PROGRAM", "other")]).is_ascii_locale, cfg!(not(windows)));
    }

    #[test]
    fn the_debug_output_of_the_environment_does_not_contain_the_api_key() {
        let environment = from(&[("DOCDECK_API_KEY", "mint_secret")]);
        assert!(!format!("{environment:?}").contains("secret"));
    }
}
