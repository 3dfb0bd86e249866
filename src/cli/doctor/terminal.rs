//! What the terminal can do: by its environment, and by what it answers when asked.

use super::report::DoctorReport;
use super::settings::ResolvedSettings;
use crate::config::DisplaySettings;
use crate::config::environment::Environment;
use crate::model::colors::{Background, Rgb};
use crate::runtime::multiplexer::Multiplexer;
use crate::runtime::opener::{OpenMethod, opening};
use crate::runtime::probe::{self, NotAsked, ProbeReplies};
use crate::runtime::signals::SignalStream;
use crate::runtime::terminal::{TerminalCaps, takes_links};

/// The smallest screen, and the one from which it is comfortable (design.md: the screens).
const SMALLEST: (u16, u16) = crate::app::geometry::MIN;
const COMFORTABLE: (u16, u16) = (80, 24);

/// Looks at the environment, and asks the terminal, where there is one.
pub(super) async fn check(report: &mut DoctorReport, known: &ResolvedSettings, environment: &Environment) {
    let look = &known.look;
    report.begin("Terminal");
    name(report, environment);
    size(report);
    let colours = probe::colours(look.color, environment);
    report.ok("colours", format!("{} ({})", colours.many, colours.why));
    let locale = match environment.ascii_locale {
        true => "no UTF-8 (LC_ALL, LC_CTYPE, LANG)",
        false => "UTF-8",
    };
    let drawn = if look.ascii { "drawn in ASCII" } else { "drawn in Unicode" };
    report.ok("characters", format!("locale: {locale}; {drawn}"));
    between(report, environment);
    copying(report, &known.clipboard, environment);
    mouse(report, look, environment);
    let links = if look.links && takes_links(environment) { "sent (OSC 8)" } else { "not sent" };
    report.ok("links", links);
    report.ok("opening", opener(environment));
    let (of_our_own, editor) =
        (environment.editor.as_deref().unwrap_or_default(), "vi, else nano (neither VISUAL nor EDITOR)");
    report.ok("editor", if of_our_own.is_empty() { editor.to_owned() } else { of_our_own.to_owned() });
    let environment = environment.clone();
    // From here on a signal that would end the program waits until the terminal is given back.
    let _signals = SignalStream::listen();
    let answers = tokio::task::spawn_blocking(move || probe::ask(&environment)).await;
    asked(report, answers.unwrap_or(Err(NotAsked::Refused)));
}

fn name(report: &mut DoctorReport, environment: &Environment) {
    let term = environment.term.as_deref().unwrap_or_default();
    match TerminalCaps::of(environment) {
        Err(dumb) => report.warning("TERM", "dumb", dumb.to_string()),
        Ok(_) if term.is_empty() => {
            report.warning("TERM", "not set", "export TERM=xterm-256color, or what the terminal is")
        }
        Ok(kind) => {
            let titles = if kind.titles { "title kept and given back" } else { "title left alone" };
            let program = environment.term_program.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
            report.ok("TERM", format!("{term}{program}; {titles}"));
        }
    }
}

fn size(report: &mut DoctorReport) {
    use std::io::IsTerminal as _;
    if !std::io::stdout().is_terminal() {
        return report.skipped("size", "stdout is no terminal");
    }
    match crossterm::terminal::size() {
        Ok((columns, rows)) if columns < SMALLEST.0 || rows < SMALLEST.1 => {
            let says = format!("{columns} columns, {rows} rows");
            report.warning(
                "size",
                says,
                format!("the dashboard needs {} by {}: make the window larger", SMALLEST.0, SMALLEST.1),
            );
        }
        Ok((columns, rows)) => {
            let small = if columns < COMFORTABLE.0 || rows < COMFORTABLE.1 { ", enough" } else { "" };
            report.ok("size", format!("{columns} columns, {rows} rows{small}"));
        }
        Err(_) => report.skipped("size", "the terminal does not tell"),
    }
}

/// What stands between docdeck and the terminal, and how a copy gets through it.
fn between(report: &mut DoctorReport, environment: &Environment) {
    let ssh = if environment.ssh { "over SSH" } else { "not over SSH" };
    let multiplexer = match Multiplexer::of(environment) {
        Multiplexer::None => "no multiplexer",
        Multiplexer::Tmux => "tmux",
        Multiplexer::Screen => "screen",
    };
    report.ok("between", format!("{multiplexer}, {ssh}"));
}

/// The two ways of a copy: through the terminal, and to a program.
fn copying(report: &mut DoctorReport, program: &[String], environment: &Environment) {
    let by_terminal = is_modern(environment);
    let through = match Multiplexer::of(environment) {
        _ if !by_terminal => "not through this terminal",
        Multiplexer::None => "OSC 52, which the terminal may have to allow",
        Multiplexer::Tmux => "OSC 52 through tmux; wants `set -g set-clipboard on`, or allow-passthrough on",
        Multiplexer::Screen => "OSC 52 through screen, in parts",
    };
    let setting = "name a program that takes copies as clipboard under [ui], like [\"wl-copy\"]";
    match program.first() {
        None if by_terminal => report.ok("copying", through),
        None => report.warning("copying", format!("{through}, and to no program"), setting),
        Some(first) if !is_installed(first) => {
            let says = format!("{through}; to {first} (clipboard under [ui]), which is not installed or not in PATH");
            report.warning("copying", says, format!("install it, or {setting}"));
        }
        Some(first) => {
            let what = if environment.ssh && by_terminal { "what is too long for the terminal" } else { "copies" };
            report.ok("copying", format!("{through}; {what} to {first} as well (clipboard under [ui])"));
        }
    }
}

fn mouse(report: &mut DoctorReport, look: &DisplaySettings, environment: &Environment) {
    let says = match (look.mouse, is_modern(environment)) {
        (true, true) => "reported to docdeck (SGR 1006): Shift selects text in most terminals, M hands it back",
        // Sent in any case: a console without one ignores it.
        (true, false) => "asked for (SGR 1006), which this terminal may not know",
        (false, _) => "left to the terminal (mouse under [ui]); M takes it",
    };
    report.ok("mouse", says);
}

fn is_modern(environment: &Environment) -> bool {
    TerminalCaps::of(environment).is_ok_and(|kind| kind.modern)
}

/// Whether a program of this name would be found.
fn is_installed(program: &str) -> bool {
    if program.contains('/') {
        return std::path::Path::new(program).is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

fn opener(environment: &Environment) -> String {
    match opening("https://example.com", environment) {
        Ok(OpenMethod::Run(words)) => {
            format!("links are opened by {}", words.first().map_or("a browser", String::as_str))
        }
        _ => "links are copied: over SSH or without a display, and no BROWSER".to_owned(),
    }
}

fn asked(report: &mut DoctorReport, answers: Result<ProbeReplies, NotAsked>) {
    let ProbeReplies { background, keyboard, device, is_complete } = match answers {
        Ok(answers) => answers,
        Err(why) => {
            let why = match why {
                NotAsked::NoTerminal => "not asked: stdin or stdout is no terminal",
                NotAsked::Plain => "not asked: one of this name may print what it doesn't know",
                NotAsked::Refused => "not asked: the system does not let it be asked",
            };
            return report.skipped("answers", why);
        }
    };
    match background {
        Some(Rgb(r, g, b)) => {
            let ground = match Background::of(Rgb(r, g, b)) {
                Background::Light => "light",
                Background::Dark | Background::Unknown => "dark",
            };
            report.ok("background", format!("asked (OSC 11), answered #{r:02x}{g:02x}{b:02x}: {ground}"));
        }
        None => report.ok(
            "background",
            "asked (OSC 11), no answer: the theme suits any ground; ground = \"dark\" or \"light\" under [ui] says it",
        ),
    }
    let flags =
        if keyboard { "answered: Ctrl-Enter is told apart" } else { "no answer: Ctrl-S sends, Ctrl-Enter may not" };
    report.ok("keyboard", format!("asked (kitty protocol), {flags}"));
    match device {
        Some(device) => report.ok("device", format!("asked (DA1), answered {device}")),
        None => report.ok("device", "asked (DA1), no answer"),
    }
    if !is_complete {
        let says = format!("not all that was asked was answered within {} s", probe::PATIENCE.as_secs());
        report.warning(
            "answers",
            says,
            "a slow line, or a terminal that answers nothing; the dashboard does not wait for it",
        );
    }
}
