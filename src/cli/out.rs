//! Writes the output of commands: results on stdout, everything else on stderr. Times are relative on a terminal and
//! RFC 3339 in a pipe; a pipe gets colours only if they are requested. If a reader closes the pipe, the command stops
//! writing but finishes its work.

use crate::config::environment::Environment;
use crate::config::{ColorChoice, DisplaySettings, GlobalOptions, themes};
use crate::model::Time;
use crate::model::ascii;
use crate::model::colors::{ColorPalette, ColorRole, Rgb, RoleStyle, ThemeColor};
use crate::model::endpoint::ApiKey;
use crate::model::redaction::{Redactor, redacted};
use crate::model::text::{CleanText, escaped_json, filter_output};
use crate::tui::format::short_age;
use anstyle::{Ansi256Color, Color, Effects, Style};
use chrono::SecondsFormat;
use serde_json::Value;
use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The width in columns that is assumed if the terminal doesn't report its width.
const DEFAULT_WIDTH: usize = 80;

/// The output streams of this process, and how text is written to them.
#[derive(Debug)]
pub(super) struct Out {
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
    palette: Option<ColorPalette>,
    /// Whether symbols on a terminal are written in ASCII. Piped results are UTF-8 unless `ascii_when_piped` is set.
    ascii: bool,
    ascii_when_piped: bool,
    /// Whether texts outside ASCII, such as titles, are written to a terminal as they are, even if `ascii` is set.
    shows_unicode_text: bool,
    /// Whether the live line, which shows the progress on stderr, is turned off.
    has_reduced_motion: bool,
    /// Whether [`Out::configure`] was called.
    is_configured: bool,
    /// The live line that is on the terminal; `None` if there is none.
    live_line: Option<String>,
    /// Whether nothing more is written to stdout, because the reader closed the pipe or another write error occurred.
    has_stopped_writing: bool,
    /// Why results could not be written; `None` if they could.
    output_error: Option<String>,
    /// The redactors that remove the API key and the URL of the team's database from the lines and notes that are
    /// written.
    redactors: Vec<Redactor>,
}

impl Out {
    /// Returns the output streams of this process, without colours or live lines until [`Out::configure`] is called.
    pub(super) fn from_process() -> Self {
        Self {
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            palette: None,
            ascii: false,
            ascii_when_piped: false,
            shows_unicode_text: true,
            has_reduced_motion: true,
            is_configured: false,
            live_line: None,
            has_stopped_writing: false,
            output_error: None,
            redactors: Vec::new(),
        }
    }

    /// Applies the settings for colours, ASCII and motion. The first call prints a note if the theme can't be read.
    pub(super) fn configure(
        &mut self,
        display: &DisplaySettings,
        environment: &Environment,
        global_options: &GlobalOptions,
    ) {
        let is_dumb = environment.term.as_deref() == Some("dumb");
        let wanted = match display.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => self.stdout_is_terminal && !is_dumb,
        };
        let background = display.background.unwrap_or(environment.background);
        let chosen = wanted.then(|| display.theme.read());
        self.palette = chosen.as_ref().map(|chosen| {
            // A terminal without true colour gets a theme that is made for 16 colours.
            let palettes = match chosen {
                Ok(Some(palettes)) if environment.has_true_color => palettes.clone(),
                _ if environment.has_true_color => themes::default_theme(),
                _ => themes::load_theme("terminal-16", None).unwrap_or_default(),
            };
            palettes.for_background(background).clone()
        });
        self.ascii = display.ascii;
        self.ascii_when_piped = global_options.ascii;
        self.shows_unicode_text = display.shows_unicode_text;
        self.has_reduced_motion = display.has_reduced_motion || is_dumb;
        let is_first = !std::mem::replace(&mut self.is_configured, true);
        if let (Some(Err(error)), true) = (chosen, is_first) {
            self.note(&format!("docdeck: {error} Using the default colours."));
        }
    }

    /// For a command that reads no configuration file: turns live lines on, unless the environment forbids them.
    pub(super) fn configure_live_lines(&mut self, environment: &Environment) {
        let is_dumb = environment.term.as_deref() == Some("dumb");
        self.has_reduced_motion = is_dumb || environment.reduced_motion.unwrap_or(false);
    }

    pub(super) fn stdout_is_terminal(&self) -> bool {
        self.stdout_is_terminal
    }

    pub(super) fn stderr_is_terminal(&self) -> bool {
        self.stderr_is_terminal
    }

    /// Whether a line that redraws itself may be shown on stderr.
    pub(super) fn can_animate(&self) -> bool {
        self.stderr_is_terminal && !self.has_reduced_motion
    }

    /// Whether drawings on stderr must be ASCII.
    pub(super) fn draws_ascii(&self) -> bool {
        self.ascii
    }

    /// Returns the width of the terminal on stdout in columns, or `None` if stdout is not a terminal.
    pub(super) fn width(&self) -> Option<usize> {
        self.stdout_is_terminal.then(terminal_columns)
    }

    /// Returns why results could not be written, or `None` if they could. A closed pipe is not an error.
    pub(super) fn output_error(&self) -> Option<&str> {
        self.output_error.as_deref()
    }

    /// Records why results could not be written; only the first reason is kept.
    pub(super) fn set_output_error(&mut self, why: String) {
        self.output_error.get_or_insert(why);
    }

    /// Returns a line of the result in the encoding for stdout. The caller writes it on another thread.
    pub(super) fn sanitized_line(&self, line: &str) -> String {
        self.sanitized(line, self.stdout_is_terminal).into_owned()
    }

    /// Writes a line of the result.
    pub(super) fn print_line(&mut self, text: &str) {
        self.print_lines(&[text]);
    }

    /// Writes lines of the result and flushes them.
    pub(super) fn print_lines(&mut self, lines: &[impl AsRef<str>]) {
        self.clear_live_line();
        let mut text = String::new();
        for line in lines {
            text.push_str(&self.sanitized(line.as_ref(), self.stdout_is_terminal));
            text.push('\n');
        }
        self.write(&text);
    }

    /// Writes a result as one line of JSON and flushes it.
    pub(super) fn print_json(&mut self, value: &Value) {
        self.clear_live_line();
        self.write(&format!("{}\n", escaped_json(&value.to_string())));
    }

    /// Writes text as it is, except that control sequences are removed. Adds no line break, and doesn't hide the API
    /// key.
    pub(super) fn write(&mut self, text: &str) {
        if self.has_stopped_writing {
            return;
        }
        let text = filter_output(text);
        let mut stdout = io::stdout().lock();
        if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            self.has_stopped_writing = true;
            if error.kind() != ErrorKind::BrokenPipe {
                self.output_error = Some(format!("Can't write the output: {error}."));
            }
        }
    }

    /// Writes a message and a line break to stderr. Escapes the line breaks of command-line arguments that the message
    /// quotes.
    pub(super) fn note(&mut self, text: &str) {
        self.clear_live_line();
        let text = &escape_quoted_arguments(std::env::args_os().filter_map(|typed| typed.into_string().ok()), text);
        let text = self.sanitized(text, self.stderr_is_terminal);
        // The error is ignored: if stderr is closed, it can't be reported anywhere.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Replaces the live line on stderr. Does nothing if stderr is not a terminal or motion is reduced.
    pub(super) fn show_live_line(&mut self, text: &str) {
        if !self.can_animate() {
            return;
        }
        let line = cut_to_width(text, terminal_columns().saturating_sub(1));
        let line = self.sanitized(&line, true).into_owned();
        if self.live_line.as_ref() == Some(&line) {
            return;
        }
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "\r{line}\x1b[K").and_then(|()| stderr.flush());
        self.live_line = Some(line);
    }

    pub(super) fn clear_live_line(&mut self) {
        if self.live_line.take().is_some() {
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "\r\x1b[K").and_then(|()| stderr.flush());
        }
    }

    /// Returns the text in the colour of the role, or unchanged if colours are off.
    pub(super) fn paint(&self, role: ColorRole, text: &str) -> String {
        let style = self.palette.as_ref().map_or(Style::new(), |palette| style_of(palette.role_style(role)));
        if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
    }

    /// Formats a past time: its rounded age on a terminal (`14m`), RFC 3339 in a pipe.
    pub(super) fn format_time(&self, at: Time, now: Time) -> String {
        if self.stdout_is_terminal { short_age(now - at) } else { rfc3339_seconds(at) }
    }

    /// Formats a past time like [`Out::format_time`], but for a sentence: `14m ago`, or `at 2026-…` in a pipe.
    pub(super) fn time_in_words(&self, at: Time, now: Time) -> String {
        match short_age(now - at) {
            _ if !self.stdout_is_terminal => format!("at {}", rfc3339_seconds(at)),
            age if age == "now" => "just now".to_owned(),
            age => format!("{age} ago"),
        }
    }

    /// Removes this API key, or the URL of the team's database, from all lines and notes that are written from now on.
    pub(super) fn hide_key(&mut self, key: &ApiKey) {
        self.redactors.push(Redactor::new(key));
    }

    /// Returns the text without the hidden keys, and without anything that looks like an API key.
    pub(super) fn without_key<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redactors.iter().fold(redacted(text), |text, redactor| match redactor.redacted(&text) {
            Cow::Owned(redacted) => Cow::Owned(redacted),
            Cow::Borrowed(_) => text,
        })
    }

    /// Returns the text without API keys and control sequences, in ASCII if required.
    fn sanitized<'a>(&self, text: &'a str, on_terminal: bool) -> Cow<'a, str> {
        let to_ascii = if on_terminal { self.ascii } else { self.ascii_when_piped };
        let text = self.without_key(text);
        let text = match filter_output(&text) {
            Cow::Owned(gated) => Cow::Owned(gated),
            Cow::Borrowed(_) => text,
        };
        let keeps_unicode_text = on_terminal && self.shows_unicode_text;
        if to_ascii && !text.is_ascii() { Cow::Owned(ascii::to_ascii(&text, keeps_unicode_text)) } else { text }
    }
}

/// Escapes the line breaks and tabs of the text.
pub(super) fn escape_line_breaks(text: &str) -> String {
    text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
}

/// Escapes the line breaks of arguments that the text quotes, because they could make the text look like several
/// messages.
fn escape_quoted_arguments(arguments: impl Iterator<Item = String>, text: &str) -> String {
    let has_break = |typed: &String| typed.trim().contains(['\n', '\r']);
    arguments.filter(has_break).fold(text.to_owned(), |text, typed| {
        // If the argument is `--option=value`, the text may contain the value without the option. Messages trim the
        // value, so it is trimmed here too.
        let value =
            typed.split_once('=').filter(|_| typed.starts_with("--")).map_or(typed.as_str(), |(_, value)| value);
        let value = value.trim();
        let quoted_as_block = value.replace("\r\n", "\n").replace('\r', "\n");
        text.replace(value, &escape_line_breaks(value)).replace(&quoted_as_block, &escape_line_breaks(value))
    })
}

/// Formats the time as RFC 3339 in UTC, to the second.
pub(super) fn rfc3339_seconds(at: Time) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Cuts the text to `width` cells. A text that was cut ends in `…`.
pub(super) fn cut_to_width(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return Cow::Borrowed(text);
    }
    let mut cells = 0;
    let max_cells = width.saturating_sub(1);
    let prefix = text.graphemes(true).take_while(|symbol| {
        cells += symbol.width();
        cells <= max_cells
    });
    let mut prefix: String = prefix.collect();
    prefix.push_str(if width > 0 { "…" } else { "" });
    Cow::Owned(prefix)
}

/// Cleans text from outside, so that it is safe in a message on stderr.
pub(super) fn clean_line(text: impl std::fmt::Display) -> CleanText {
    CleanText::line(&text.to_string())
}

fn terminal_columns() -> usize {
    crossterm::terminal::size().map_or(DEFAULT_WIDTH, |(columns, _)| usize::from(columns.max(1)))
}

fn style_of(style: RoleStyle) -> Style {
    let effects = [
        (style.bold, Effects::BOLD),
        (style.dim, Effects::DIMMED),
        (style.underlined, Effects::UNDERLINE),
        (style.reversed, Effects::INVERT),
    ];
    let effects = effects.into_iter().filter(|(is_on, _)| *is_on).map(|(_, effect)| effect);
    let effects = effects.fold(Effects::new(), |all, effect| all | effect);
    Style::new().effects(effects).fg_color(terminal_color(style.fg)).bg_color(terminal_color(style.bg))
}

/// Returns the colour, or `None` for the terminal's default colour.
fn terminal_color(color: ThemeColor) -> Option<Color> {
    match color {
        ThemeColor::Terminal => None,
        ThemeColor::Ansi(n) => Ansi256Color(n.min(15)).into_ansi().map(Color::from),
        ThemeColor::Rgb(Rgb(r, g, b)) => Some(Color::from((r, g, b))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_of_arguments_are_escaped_and_other_line_breaks_are_kept() {
        let typed = ["docdeck", "--data-dir=/tmp/a\nb", "x\r\ny"].map(str::to_owned);
        let text = "No store in /tmp/a\nb/docdeck.db.\nNo file x\ny.";
        assert_eq!(
            escape_quoted_arguments(typed.into_iter(), text),
            "No store in /tmp/a\\nb/docdeck.db.\nNo file x\\r\\ny."
        );
    }

    #[test]
    fn a_cut_text_ends_in_an_ellipsis_and_fits_the_width() {
        assert_eq!(cut_to_width("abcdef", 6), "abcdef");
        assert_eq!(cut_to_width("abcdef", 5), "abcd…");
        assert_eq!(cut_to_width("世界世界", 5), "世界…");
        assert_eq!(cut_to_width("世界世界", 4), "世…");
        assert_eq!((cut_to_width("ab", 1), cut_to_width("ab", 0)), ("…".into(), "".into()));
    }

    #[test]
    fn a_style_becomes_sgr_sequences() {
        let sgr = |style: RoleStyle| style_of(style).to_string();
        let red = RoleStyle { fg: ThemeColor::Ansi(9), bold: true, ..RoleStyle::default() };
        assert_eq!(sgr(red), "\x1b[1m\x1b[91m");
        let green = RoleStyle { fg: ThemeColor::Ansi(2), bg: ThemeColor::Ansi(12), ..RoleStyle::default() };
        assert_eq!(sgr(green), "\x1b[32m\x1b[104m");
        let rgb = RoleStyle { fg: ThemeColor::Rgb(Rgb(1, 2, 3)), ..RoleStyle::default() };
        assert_eq!(sgr(rgb), "\x1b[38;2;1;2;3m");
        assert_eq!(sgr(RoleStyle::default()), "");
    }

    #[test]
    fn every_hidden_key_is_removed() {
        let mut out = Out::from_process();
        let keys = ["postgres://ana:correct-horse@db/team", "key-with-battery-staple"];
        for key in keys {
            out.hide_key(&ApiKey::new(key).expect("a key"));
        }
        let text = out.without_key("postgres://ana:correct-horse@db/team and key-with-battery-staple").into_owned();
        assert!(keys.iter().all(|key| !text.contains(key)) && text.contains(" and "), "{text}");
    }

    #[test]
    fn without_colours_text_is_unchanged() {
        assert_eq!(Out::from_process().paint(ColorRole::Bad, "failed"), "failed");
    }
}
