//! Checks what the terminal can do, from the environment and from its replies to queries.

use super::facts::Facts;
use super::report::{CheckResult, ok, skipped, warning};
use crate::model::colors::{Background, Rgb};
use crate::runtime::opener::{OpenMethod, open_method};
use crate::runtime::theme_state::color_support;
use crate::runtime::{self, terminal_caps};
use crate::terminal::multiplexer::Multiplexer;
use crate::terminal::probe::{self, NotQueried};
use std::io::IsTerminal as _;
use std::path::Path;

/// The minimum size of the dashboard, in columns and rows.
const MIN_SIZE: (u16, u16) = crate::tui::geometry::MIN_SCREEN_SIZE;
/// The minimum size for comfortable use, in columns and rows.
const COMFORTABLE_SIZE: (u16, u16) = (80, 24);

pub(super) fn term(facts: &Facts<'_>) -> CheckResult {
    let term = facts.environment.term.as_deref().unwrap_or_default();
    let caps = match terminal_caps(facts.environment) {
        Err(remedy) => return warning("dumb", remedy),
        Ok(_) if term.is_empty() => {
            return warning("not set", "export TERM=xterm-256color, or the name of your terminal");
        }
        Ok(caps) => caps,
    };
    let titles = if caps.sets_title { "title set and restored" } else { "title not changed" };
    let program = facts.environment.term_program.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
    ok(format!("{term}{program}; {titles}"))
}

pub(super) fn size(_: &Facts<'_>) -> CheckResult {
    if !std::io::stdout().is_terminal() {
        return skipped("stdout is not a terminal");
    }
    let Ok((columns, rows)) = crossterm::terminal::size() else { return skipped("the terminal doesn't report it") };
    let size = format!("{columns} columns, {rows} rows");
    let is_below = |(least_columns, least_rows)| columns < least_columns || rows < least_rows;
    if is_below(MIN_SIZE) {
        return warning(size, format!("enlarge the window to at least {} by {}", MIN_SIZE.0, MIN_SIZE.1));
    }
    ok(if is_below(COMFORTABLE_SIZE) { format!("{size}, small") } else { size })
}

pub(super) fn colors(facts: &Facts<'_>) -> CheckResult {
    let colors = color_support(facts.display.color, facts.environment);
    ok(format!("{} ({})", colors.count, colors.reason))
}

pub(super) fn characters(facts: &Facts<'_>) -> CheckResult {
    let locale = if facts.environment.is_ascii_locale { "not UTF-8 (LC_ALL, LC_CTYPE, LANG)" } else { "UTF-8" };
    let drawn = if facts.display.ascii { "ASCII" } else { "Unicode" };
    ok(format!("locale: {locale}; drawn in {drawn}"))
}

/// Reports whether docdeck runs in tmux or GNU screen, and whether it runs over SSH.
pub(super) fn multiplexer(facts: &Facts<'_>) -> CheckResult {
    let ssh = if facts.environment.is_ssh { "over SSH" } else { "not over SSH" };
    let multiplexer = match runtime::multiplexer(facts.environment) {
        Multiplexer::None => "no multiplexer",
        Multiplexer::Tmux => "tmux",
        Multiplexer::Screen => "screen",
    };
    ok(format!("{multiplexer}, {ssh}"))
}

/// Reports the two ways to copy text: through the terminal, and to a program.
pub(super) fn clipboard(facts: &Facts<'_>) -> CheckResult {
    let by_terminal = is_modern(facts);
    let through = match runtime::multiplexer(facts.environment) {
        _ if !by_terminal => "not supported by this terminal",
        Multiplexer::None => "OSC 52, if the terminal allows it",
        Multiplexer::Tmux => "OSC 52 through tmux; needs `set -g set-clipboard on`, or allow-passthrough on",
        Multiplexer::Screen => "OSC 52 through screen, in parts",
    };
    let setting = "set clipboard under [ui] to a program that copies, like [\"wl-copy\"]";
    match facts.config.customization().clipboard.first() {
        None if by_terminal => ok(through),
        None => warning("not available in this terminal", setting),
        Some(program) if !is_installed(program) => warning(
            format!("{through}; {program} (clipboard under [ui]) is not installed or not in PATH"),
            format!("install it, or {setting}"),
        ),
        Some(program) => {
            let what = if facts.environment.is_ssh && by_terminal { "long texts" } else { "all copies" };
            ok(format!("{through}; {what} also to {program} (clipboard under [ui])"))
        }
    }
}

pub(super) fn mouse(facts: &Facts<'_>) -> CheckResult {
    ok(match (facts.display.mouse, is_modern(facts)) {
        (true, true) => "on (SGR 1006); hold Shift to select text in most terminals, or press M to turn it off",
        // The dashboard requests mouse events from every terminal. A terminal without mouse support ignores the
        // request.
        (true, false) => "requested (SGR 1006), but this terminal may not support it",
        (false, _) => "off (mouse under [ui]); press M to turn it on",
    })
}

fn is_modern(facts: &Facts<'_>) -> bool {
    terminal_caps(facts.environment).is_ok_and(|caps| caps.modern)
}

/// Whether the program exists: as a file if `program` contains a slash, otherwise in a folder of PATH.
fn is_installed(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

pub(super) fn links(facts: &Facts<'_>) -> CheckResult {
    let is_clickable = facts.display.links && terminal_caps(facts.environment).is_ok_and(|caps| caps.supports_links);
    ok(if is_clickable { "clickable (OSC 8)" } else { "plain text" })
}

pub(super) fn browser(facts: &Facts<'_>) -> CheckResult {
    match open_method("https://example.com", facts.environment) {
        Ok(OpenMethod::Run(words)) => ok(format!("links open with {}", words.first().map_or("a browser", |word| word))),
        _ => ok("links are copied (SSH or no display, and BROWSER is not set)"),
    }
}

pub(super) fn editor(facts: &Facts<'_>) -> CheckResult {
    let editor = facts.environment.editor.as_deref().filter(|editor| !editor.is_empty());
    ok(editor.unwrap_or("vi or nano (neither VISUAL nor EDITOR is set)"))
}

/// Reports why the terminal was not queried.
pub(super) fn no_replies(facts: &Facts<'_>) -> CheckResult {
    let why = match facts.replies.as_ref().err()? {
        NotQueried::NoTerminal => "stdin or stdout is not a terminal",
        NotQueried::Plain => "this terminal may print unknown sequences",
        NotQueried::Refused => "the system denies access to the terminal",
    };
    skipped(format!("not queried: {why}"))
}

pub(super) fn background(facts: &Facts<'_>) -> CheckResult {
    let Some([r, g, b]) = facts.replies.as_ref().ok()?.background else {
        return ok(
            "unknown, no reply (OSC 11): using colours for any background; or set ground = \"dark\" or \"light\" under [ui]",
        );
    };
    let brightness = if Background::of(Rgb(r, g, b)) == Background::Light { "light" } else { "dark" };
    ok(format!("{brightness}, #{r:02x}{g:02x}{b:02x} (OSC 11)"))
}

pub(super) fn keyboard(facts: &Facts<'_>) -> CheckResult {
    ok(match facts.replies.as_ref().ok()?.supports_kitty_keyboard {
        true => "Ctrl-Enter works (kitty protocol)",
        false => "no reply: Ctrl-Enter may not work, Ctrl-S does (kitty protocol)",
    })
}

pub(super) fn device(facts: &Facts<'_>) -> CheckResult {
    let device = &facts.replies.as_ref().ok()?.device;
    ok(format!("{} (DA1)", device.as_deref().unwrap_or("no reply")))
}

pub(super) fn missing_replies(facts: &Facts<'_>) -> CheckResult {
    facts.replies.as_ref().ok().filter(|replies| !replies.is_complete)?;
    let message = format!("some replies are missing after {} s", probe::REPLY_TIMEOUT.as_secs());
    warning(message, "none needed: the dashboard doesn't wait for a slow or silent terminal")
}
