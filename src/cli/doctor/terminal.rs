//! Checks what the terminal can do, from the environment and from its replies to queries.

use super::facts::DoctorFacts;
use super::report::{CheckResult, ok, skipped, warning};
use crate::model::colors::{Background, Rgb};
use crate::runtime::opener::{OpenMethod, open_method};
use crate::runtime::theme_state::color_support;
use crate::runtime::{self, terminal_caps};
use crate::terminal::multiplexer::Multiplexer;
use crate::terminal::probe::{self, NotQueried};
use std::io::IsTerminal as _;

/// Reports the terminal, the multiplexer and whether docdeck runs over SSH.
pub(super) fn term(facts: &DoctorFacts<'_>) -> CheckResult {
    let environment = facts.environment;
    let term = environment.term.as_deref().unwrap_or_default();
    if let Err(remedy) = terminal_caps(environment) {
        return warning("dumb", remedy);
    }
    if term.is_empty() {
        return warning("not set", "export TERM=xterm-256color, or the name of your terminal");
    }
    let program = environment.term_program.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
    let multiplexer = match runtime::multiplexer(environment) {
        Multiplexer::None => "",
        Multiplexer::Tmux => ", in tmux",
        Multiplexer::Screen => ", in screen",
    };
    ok(format!("{term}{program}{multiplexer}{}", if environment.is_ssh { ", over SSH" } else { "" }))
}

pub(super) fn size(_: &DoctorFacts<'_>) -> CheckResult {
    let (columns, rows) = crossterm::terminal::size().ok().filter(|_| std::io::stdout().is_terminal())?;
    ok(format!("{columns} columns, {rows} rows"))
}

pub(super) fn colors(facts: &DoctorFacts<'_>) -> CheckResult {
    let colors = color_support(facts.display.color, facts.environment);
    ok(format!("{} ({})", colors.color_count, colors.reason))
}

pub(super) fn characters(facts: &DoctorFacts<'_>) -> CheckResult {
    let locale = if facts.environment.is_ascii_locale { "not UTF-8 (LC_ALL, LC_CTYPE, LANG)" } else { "UTF-8" };
    let drawn = if facts.display.ascii { "ASCII" } else { "Unicode" };
    ok(format!("locale: {locale}; drawn in {drawn}"))
}

/// Reports the two ways to copy text: through the terminal, and with a program.
pub(super) fn clipboard(facts: &DoctorFacts<'_>) -> CheckResult {
    let by_terminal = terminal_caps(facts.environment).is_ok_and(|caps| caps.is_modern);
    let through = match runtime::multiplexer(facts.environment) {
        _ if !by_terminal => "not supported by this terminal",
        Multiplexer::None => "OSC 52, if the terminal allows it",
        Multiplexer::Tmux => "OSC 52 through tmux; needs `set -g set-clipboard on`, or allow-passthrough on",
        Multiplexer::Screen => "OSC 52 through screen, in parts",
    };
    match facts.config.customization().clipboard.first() {
        Some(program) => ok(format!("{through}; also to {program} (clipboard under [ui])")),
        None if by_terminal => ok(through),
        None => {
            let remedy = "set clipboard under [ui] to a program that copies, like [\"wl-copy\"]";
            warning("not available in this terminal", remedy)
        }
    }
}

pub(super) fn mouse(facts: &DoctorFacts<'_>) -> CheckResult {
    ok(if facts.display.is_mouse_enabled {
        "on (SGR 1006); hold Shift to select text in most terminals, or press M to turn it off"
    } else {
        "off (mouse under [ui]); press M to turn it on"
    })
}

pub(super) fn links(facts: &DoctorFacts<'_>) -> CheckResult {
    let is_clickable =
        facts.display.shows_links && terminal_caps(facts.environment).is_ok_and(|caps| caps.supports_links);
    let look = if is_clickable { "clickable (OSC 8)" } else { "plain text" };
    let words = match open_method("https://example.com", facts.environment) {
        Ok(OpenMethod::Run(words)) => words,
        _ => return ok(format!("{look}; copied instead of opened (SSH or no display, and BROWSER is not set)")),
    };
    ok(format!("{look}; opened with {}", words.first().map_or("a browser", |word| word)))
}

pub(super) fn editor(facts: &DoctorFacts<'_>) -> CheckResult {
    let editor = facts.environment.editor.as_deref().filter(|editor| !editor.is_empty());
    ok(editor.unwrap_or("vi or nano (neither VISUAL nor EDITOR is set)"))
}

/// Reports whether the terminal has replied to all queries, and as which device it has identified itself.
pub(super) fn replies(facts: &DoctorFacts<'_>) -> CheckResult {
    let terminal_replies = match &facts.terminal_replies {
        Ok(replies) => replies,
        Err(NotQueried::NoTerminal) => return skipped("not queried: stdin or stdout is not a terminal"),
        Err(NotQueried::MayPrintSequences) => return skipped("not queried: this terminal may print unknown sequences"),
        Err(NotQueried::Failed) => return skipped("not queried: the system denies access to the terminal"),
    };
    if !terminal_replies.is_complete {
        let message = format!("some replies are missing after {} s", probe::REPLY_TIMEOUT.as_secs());
        return warning(message, "none needed: the dashboard doesn't wait for a slow or silent terminal");
    }
    ok(format!("{} (DA1)", terminal_replies.device.as_deref().unwrap_or("no device")))
}

pub(super) fn background(facts: &DoctorFacts<'_>) -> CheckResult {
    let Some([r, g, b]) = facts.terminal_replies.as_ref().ok()?.background else {
        return ok(
            "unknown: no reply (OSC 11), so docdeck uses colours for any background; to choose, set background = \
             \"dark\" or \"light\" under [ui]",
        );
    };
    let brightness = if Background::from_color(Rgb(r, g, b)) == Background::Light { "light" } else { "dark" };
    ok(format!("{brightness}, #{r:02x}{g:02x}{b:02x} (OSC 11)"))
}

pub(super) fn keyboard(facts: &DoctorFacts<'_>) -> CheckResult {
    ok(match facts.terminal_replies.as_ref().ok()?.supports_kitty_keyboard {
        true => "Ctrl-Enter works (kitty protocol)",
        false => "no reply: Ctrl-Enter may not work, Ctrl-S does (kitty protocol)",
    })
}
