//! What the environment says: docdeck's own variables, and what tells where the program runs.
//!
//! Read once at the start and passed on as a value, so that every rule over it can be tested without touching the
//! process. What beats what is decided in [`super::resolve`].

use crate::model::colors::Background;
use crate::model::endpoint::{ApiKey, KEY_VARIABLE};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The environment, as far as docdeck looks at it. An empty variable counts as unset.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `DOCDECK_API_KEY`. `Some(None)` when it holds what can't be a key.
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
    /// The locale has no UTF-8, so a terminal may show no more than ASCII: `LC_ALL`, else `LC_CTYPE`, else `LANG`.
    pub ascii_locale: bool,
    /// Reached over SSH: `SSH_CONNECTION` or `SSH_TTY`.
    pub ssh: bool,
    /// There is a display to open a browser on: `DISPLAY` or `WAYLAND_DISPLAY`.
    pub display: bool,
    /// `BROWSER`.
    pub browser: Option<String>,
    /// `VISUAL`, else `EDITOR`.
    pub editor: Option<String>,
    /// `TERM`.
    pub term: Option<String>,
    /// The program that shows the text, where it says so: `TERM_PROGRAM`, with `TERM_PROGRAM_VERSION`.
    pub term_program: Option<String>,
    /// The terminal's name promises 256 colours or more: `TERM`, `COLORTERM`.
    pub many_colors: bool,
    /// More than 256: `COLORTERM` says so.
    pub true_color: bool,
    /// What the terminal's ground is, where `COLORFGBG` says so.
    pub ground: Background,
    /// Inside tmux: `TMUX`.
    pub tmux: bool,
    /// Inside GNU screen: `STY`.
    pub screen: bool,
}

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        Self::from_lookup(|name| std::env::var_os(name)?.into_string().ok())
    }

    /// The environment that `lookup` gives.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let is_set = |name: &str| get(name).is_some();
        // Inherited into GNU screen from the terminal around it, and not true there.
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
                cfg!(windows) || get("TERM_PROGRAM").is_some_and(|name| UTF_8_UNTOLD.contains(&name.as_str())),
            ),
            ssh: is_set("SSH_CONNECTION") || is_set("SSH_TTY"),
            display: is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"),
            browser: get("BROWSER"),
            editor: get("VISUAL").or_else(|| get("EDITOR")),
            many_colors: color_term.is_some() || get("TERM").is_some_and(|term| has_many_colors(&term)),
            true_color: color_term.is_some_and(|value| value == "truecolor" || value == "24bit"),
            ground: get("COLORFGBG").map(|value| ground(&value)).unwrap_or_default(),
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

/// Programs that show UTF-8 and are often without a locale: a shell started at the login of a Mac has none.
const UTF_8_UNTOLD: [&str; 2] = ["Apple_Terminal", "iTerm.app"];

/// Whether this locale has no UTF-8. Without one it is that of C, unless what shows the text is known to do better.
fn is_ascii(locale: Option<&str>, untold: bool) -> bool {
    match locale {
        None => !untold,
        // Windows has code pages of its own, whatever a ported shell says.
        Some(_) if cfg!(windows) => false,
        Some(locale) => {
            let locale = locale.to_ascii_lowercase();
            !(locale.contains("utf-8") || locale.contains("utf8"))
        }
    }
}

/// `FG;BG`, or with a word between them, in numbers of the sixteen colours.
fn ground(value: &str) -> Background {
    match value.rsplit(';').next().and_then(|last| last.trim().parse().ok()) {
        Some(0_u8..=6 | 8) => Background::Dark,
        Some(7 | 9..=15) => Background::Light,
        _ => Background::Unknown,
    }
}

fn is_no(value: &str) -> bool {
    matches!(value.trim().to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off")
}

/// Names that end in the number of colours, and terminals that never had fewer.
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
    fn reduced_motion_can_be_switched_off_by_a_plain_no() {
        assert_eq!(from(&[("DOCDECK_REDUCED_MOTION", "1")]).reduced_motion, Some(true));
        assert_eq!(from(&[("DOCDECK_REDUCED_MOTION", "0")]).reduced_motion, Some(false));
        assert_eq!(from(&[]).reduced_motion, None);
    }

    #[test]
    fn what_the_terminal_around_gnu_screen_can_show_is_not_believed_inside_it() {
        let around = [("COLORTERM", "truecolor"), ("TERM", "screen")];
        assert!(from(&around).true_color);
        let inside = from(&[around[0], around[1], ("STY", "1.tty")]);
        assert!(!inside.true_color && !inside.many_colors);
        assert!(from(&[around[0], ("TERM", "screen-256color"), ("STY", "1.tty")]).many_colors);
        assert!(from(&[around[0], around[1], ("STY", "1.tty"), ("TMUX", "/tmp/x")]).true_color);
    }

    #[cfg(not(windows))]
    #[test]
    fn the_locale_tells_whether_there_is_more_than_ascii() {
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
    fn a_terminal_that_is_known_needs_no_locale() {
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
