//! Checks what the terminal can do, from the environment and from its replies to queries.

use super::report::DoctorReport;
use super::settings::ResolvedSettings;
use crate::config::DisplaySettings;
use crate::config::environment::Environment;
use crate::model::colors::{Background, Rgb};
use crate::runtime::multiplexer::Multiplexer;
use crate::runtime::opener::{OpenMethod, open_method};
use crate::runtime::probe::{self, NotQueried, ProbeReplies};
use crate::runtime::signals::SignalStream;
use crate::runtime::terminal::{TerminalCaps, supports_links};

/// The minimum size of the dashboard, in columns and rows.
const MIN_SIZE: (u16, u16) = crate::tui::geometry::MIN_SCREEN_SIZE;
/// The minimum size for comfortable use, in columns and rows.
const COMFORTABLE_SIZE: (u16, u16) = (80, 24);

/// Checks what the environment states about the terminal. If there is a terminal, queries it too.
pub(super) async fn check_terminal(report: &mut DoctorReport, settings: &ResolvedSettings, environment: &Environment) {
    let look = &settings.display;
    report.begin_section("Terminal");
    check_term(report, environment);
    check_window_size(report);
    let colours = probe::color_support(look.color, environment);
    report.ok("colours", format!("{} ({})", colours.count, colours.reason));
    let locale = match environment.is_ascii_locale {
        true => "not UTF-8 (LC_ALL, LC_CTYPE, LANG)",
        false => "UTF-8",
    };
    let drawn = if look.ascii { "drawn in ASCII" } else { "drawn in Unicode" };
    report.ok("characters", format!("locale: {locale}; {drawn}"));
    report_multiplexer(report, environment);
    report_clipboard(report, &settings.clipboard, environment);
    report_mouse(report, look, environment);
    let links = if look.links && supports_links(environment) { "clickable (OSC 8)" } else { "plain text" };
    report.ok("links", links);
    report.ok("browser", describe_opener(environment));
    let editor = environment.editor.as_deref().unwrap_or_default();
    let default = "vi or nano (neither VISUAL nor EDITOR is set)";
    report.ok("editor", if editor.is_empty() { default.to_owned() } else { editor.to_owned() });
    let environment = environment.clone();
    // Until `_signals` is dropped, a signal that would end the program is delayed, so that the terminal is restored
    // first.
    let _signals = SignalStream::listen();
    let answers = tokio::task::spawn_blocking(move || probe::query_terminal(&environment)).await;
    report_replies(report, answers.unwrap_or(Err(NotQueried::Refused)));
}

fn check_term(report: &mut DoctorReport, environment: &Environment) {
    let term = environment.term.as_deref().unwrap_or_default();
    match TerminalCaps::of(environment) {
        Err(dumb) => report.warning("TERM", "dumb", dumb.to_string()),
        Ok(_) if term.is_empty() => {
            report.warning("TERM", "not set", "export TERM=xterm-256color, or the name of your terminal")
        }
        Ok(kind) => {
            let titles = if kind.sets_title { "title set and restored" } else { "title not changed" };
            let program = environment.term_program.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
            report.ok("TERM", format!("{term}{program}; {titles}"));
        }
    }
}

fn check_window_size(report: &mut DoctorReport) {
    use std::io::IsTerminal as _;
    if !std::io::stdout().is_terminal() {
        return report.skipped("size", "stdout is not a terminal");
    }
    match crossterm::terminal::size() {
        Ok((columns, rows)) if columns < MIN_SIZE.0 || rows < MIN_SIZE.1 => {
            let message = format!("{columns} columns, {rows} rows");
            report.warning("size", message, format!("enlarge the window to at least {} by {}", MIN_SIZE.0, MIN_SIZE.1));
        }
        Ok((columns, rows)) => {
            let small = if columns < COMFORTABLE_SIZE.0 || rows < COMFORTABLE_SIZE.1 { ", small" } else { "" };
            report.ok("size", format!("{columns} columns, {rows} rows{small}"));
        }
        Err(_) => report.skipped("size", "the terminal doesn't report it"),
    }
}

/// Reports whether docdeck runs in tmux or GNU screen, and whether it runs over SSH.
fn report_multiplexer(report: &mut DoctorReport, environment: &Environment) {
    let ssh = if environment.is_ssh { "over SSH" } else { "not over SSH" };
    let multiplexer = match Multiplexer::of(environment) {
        Multiplexer::None => "no multiplexer",
        Multiplexer::Tmux => "tmux",
        Multiplexer::Screen => "screen",
    };
    report.ok("multiplexer", format!("{multiplexer}, {ssh}"));
}

/// Reports the two ways to copy text: through the terminal, and to a program.
fn report_clipboard(report: &mut DoctorReport, program: &[String], environment: &Environment) {
    let by_terminal = is_modern(environment);
    let through = match Multiplexer::of(environment) {
        _ if !by_terminal => "not supported by this terminal",
        Multiplexer::None => "OSC 52, if the terminal allows it",
        Multiplexer::Tmux => "OSC 52 through tmux; needs `set -g set-clipboard on`, or allow-passthrough on",
        Multiplexer::Screen => "OSC 52 through screen, in parts",
    };
    let setting = "set clipboard under [ui] to a program that copies, like [\"wl-copy\"]";
    match program.first() {
        None if by_terminal => report.ok("clipboard", through),
        None => report.warning("clipboard", "not available in this terminal", setting),
        Some(first) if !is_installed(first) => {
            let message = format!("{through}; {first} (clipboard under [ui]) is not installed or not in PATH");
            report.warning("clipboard", message, format!("install it, or {setting}"));
        }
        Some(first) => {
            let what = if environment.is_ssh && by_terminal { "long texts" } else { "all copies" };
            report.ok("clipboard", format!("{through}; {what} also to {first} (clipboard under [ui])"));
        }
    }
}

fn report_mouse(report: &mut DoctorReport, look: &DisplaySettings, environment: &Environment) {
    let message = match (look.mouse, is_modern(environment)) {
        (true, true) => "on (SGR 1006); hold Shift to select text in most terminals, or press M to turn it off",
        // The dashboard requests mouse events from every terminal. A terminal without mouse support ignores the
        // request.
        (true, false) => "requested (SGR 1006), but this terminal may not support it",
        (false, _) => "off (mouse under [ui]); press M to turn it on",
    };
    report.ok("mouse", message);
}

fn is_modern(environment: &Environment) -> bool {
    TerminalCaps::of(environment).is_ok_and(|kind| kind.modern)
}

/// Whether the program exists: as a file if `program` contains a slash, otherwise in a folder of PATH.
fn is_installed(program: &str) -> bool {
    if program.contains('/') {
        return std::path::Path::new(program).is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

fn describe_opener(environment: &Environment) -> String {
    match open_method("https://example.com", environment) {
        Ok(OpenMethod::Run(words)) => {
            format!("links open with {}", words.first().map_or("a browser", String::as_str))
        }
        _ => "links are copied (SSH or no display, and BROWSER is not set)".to_owned(),
    }
}

fn report_replies(report: &mut DoctorReport, answers: Result<ProbeReplies, NotQueried>) {
    let ProbeReplies { background, supports_kitty_keyboard: keyboard, device, is_complete } = match answers {
        Ok(answers) => answers,
        Err(why) => {
            let why = match why {
                NotQueried::NoTerminal => "not queried: stdin or stdout is not a terminal",
                NotQueried::Plain => "not queried: this terminal may print unknown sequences",
                NotQueried::Refused => "not queried: the system denies access to the terminal",
            };
            return report.skipped("replies", why);
        }
    };
    match background {
        Some(Rgb(r, g, b)) => {
            let brightness = match Background::of(Rgb(r, g, b)) {
                Background::Light => "light",
                Background::Dark | Background::Unknown => "dark",
            };
            report.ok("background", format!("{brightness}, #{r:02x}{g:02x}{b:02x} (OSC 11)"));
        }
        None => report.ok(
            "background",
            "unknown, no reply (OSC 11): using colours for any background; or set ground = \"dark\" or \"light\" under [ui]",
        ),
    }
    let flags = if keyboard { "Ctrl-Enter works" } else { "no reply: Ctrl-Enter may not work, Ctrl-S does" };
    report.ok("keyboard", format!("{flags} (kitty protocol)"));
    match device {
        Some(device) => report.ok("device", format!("{device} (DA1)")),
        None => report.ok("device", "no reply (DA1)"),
    }
    if !is_complete {
        let message = format!("some replies are missing after {} s", probe::REPLY_TIMEOUT.as_secs());
        report.warning("replies", message, "none needed: the dashboard doesn't wait for a slow or silent terminal");
    }
}
