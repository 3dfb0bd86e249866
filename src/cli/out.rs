//! The output of commands: results on stdout, everything else on stderr. Times are relative on a terminal and RFC 3339
//! in a pipe; a pipe gets colours only if they are requested. If a reader closes the pipe, the command stops writing
//! but finishes its work.

use crate::app::format::short_age;
use crate::config::environment::Environment;
use crate::config::{ColorChoice, DisplaySettings, Flags, themes};
use crate::model::Time;
use crate::model::ascii;
use crate::model::colors::{ColorPalette, ColorRole, Paint, Rgb, ThemeColor};
use crate::model::endpoint::ApiKey;
use crate::model::redaction::{Redactor, redacted};
use crate::model::text::{CleanText, escaped_json, filter_output};
use chrono::SecondsFormat;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The width if the terminal doesn't report one.
const DEFAULT_WIDTH: usize = 80;

/// The output streams of this process, and how text is written to them.
#[derive(Debug)]
pub(super) struct Out {
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
    colours: Option<ColorPalette>,
    /// Whether everything on a terminal is ASCII. Piped results are UTF-8 unless `ascii_when_piped` is set.
    ascii: bool,
    ascii_when_piped: bool,
    /// Whether the live line is off.
    reduced_motion: bool,
    /// Whether [`Out::configure`] was called.
    is_configured: bool,
    /// The live line that is on the terminal.
    live: Option<String>,
    /// Whether the reader closed the pipe.
    closed: bool,
    /// Why results could not be written.
    failed: Option<String>,
    /// Removes the key from text for people.
    redactor: Option<Redactor>,
}

impl Out {
    /// The streams of this process, plain until [`Out::configure`].
    pub(super) fn of_process() -> Self {
        Self {
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            colours: None,
            ascii: false,
            ascii_when_piped: false,
            reduced_motion: true,
            is_configured: false,
            live: None,
            closed: false,
            failed: None,
            redactor: None,
        }
    }

    /// Applies colours, ASCII and motion settings.
    pub(super) fn configure(&mut self, look: &DisplaySettings, environment: &Environment, flags: &Flags) {
        let is_dumb = environment.term.as_deref() == Some("dumb");
        let wanted = match look.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => self.stdout_is_terminal && !is_dumb,
        };
        let ground = look.background.unwrap_or(environment.background);
        let chosen = wanted.then(|| look.theme.read());
        self.colours = chosen.as_ref().map(|chosen| {
            // A terminal with fewer colours gets a theme made for it.
            let colours = match chosen {
                Ok(colours) if environment.true_color => colours.clone(),
                Err(_) if environment.true_color => themes::default_theme(),
                _ => themes::load_theme("terminal-16", None).unwrap_or_default(),
            };
            colours.for_background(ground).clone()
        });
        self.ascii = look.ascii;
        self.ascii_when_piped = flags.ascii;
        self.reduced_motion = look.calm || is_dumb;
        let is_first = !std::mem::replace(&mut self.is_configured, true);
        if let (Some(Err(error)), true) = (chosen, is_first) {
            self.note(&format!("docdeck: {error} Using the default colours."));
        }
    }

    /// Enables live lines for a command that reads no configuration file.
    pub(super) fn allow_live_lines(&mut self, environment: &Environment) {
        let is_dumb = environment.term.as_deref() == Some("dumb");
        self.reduced_motion = is_dumb || environment.reduced_motion.unwrap_or(false);
    }

    /// Whether stdout is a terminal.
    pub(super) fn is_terminal(&self) -> bool {
        self.stdout_is_terminal
    }

    /// Whether stderr is a terminal.
    pub(super) fn stderr_is_terminal(&self) -> bool {
        self.stderr_is_terminal
    }

    /// Whether stderr may show a line that redraws itself.
    pub(super) fn can_animate(&self) -> bool {
        self.stderr_is_terminal && !self.reduced_motion
    }

    /// Whether drawings on stderr must be ASCII.
    pub(super) fn draws_ascii(&self) -> bool {
        self.ascii
    }

    /// The width of the terminal that results go to. Returns `None` for a pipe.
    pub(super) fn width(&self) -> Option<usize> {
        self.stdout_is_terminal.then(columns)
    }

    /// Why results could not be written. A closed pipe is not an error.
    pub(super) fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// Records why results could not be written; only the first reason is kept.
    pub(super) fn fail(&mut self, why: String) {
        self.failed.get_or_insert(why);
    }

    /// A line of the result as it must be written, for a caller that writes it on another thread.
    pub(super) fn encoded_line(&self, line: &str) -> String {
        self.encoded(line, self.stdout_is_terminal).into_owned()
    }

    /// Writes a line of the result.
    pub(super) fn line(&mut self, text: &str) {
        self.lines(&[text]);
    }

    /// Writes lines of the result and flushes them.
    pub(super) fn lines(&mut self, lines: &[impl AsRef<str>]) {
        self.clear_live();
        let mut text = String::new();
        for line in lines {
            text.push_str(&self.encoded(line.as_ref(), self.stdout_is_terminal));
            text.push('\n');
        }
        self.write(&text);
    }

    /// Writes a result as one line of JSON and flushes it.
    pub(super) fn json(&mut self, value: &Value) {
        self.clear_live();
        self.write(&format!("{}\n", escaped_json(&value.to_string())));
    }

    /// Writes text unchanged, without adding a line break.
    pub(super) fn write(&mut self, text: &str) {
        if self.closed {
            return;
        }
        let text = filter_output(text);
        let mut stdout = io::stdout().lock();
        if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            self.closed = true;
            if error.kind() != ErrorKind::BrokenPipe {
                self.failed = Some(format!("Can't write the output: {error}."));
            }
        }
    }

    /// Writes a line to stderr. Escapes line breaks in quoted arguments.
    pub(super) fn note(&mut self, text: &str) {
        self.clear_live();
        let text = &without_breaks_of(std::env::args_os().filter_map(|typed| typed.into_string().ok()), text);
        let text = self.encoded(text, self.stderr_is_terminal);
        // If stderr is closed, there is nowhere to report that.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Replaces the live line on stderr. Does nothing if stderr is not a terminal or motion is reduced.
    pub(super) fn live(&mut self, text: &str) {
        if !self.can_animate() {
            return;
        }
        let line = cut_to_width(text, columns().saturating_sub(1));
        let line = self.encoded(&line, true).into_owned();
        if self.live.as_ref() == Some(&line) {
            return;
        }
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "\r{line}\x1b[K").and_then(|()| stderr.flush());
        self.live = Some(line);
    }

    /// Removes the live line.
    pub(super) fn clear_live(&mut self) {
        if self.live.take().is_some() {
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "\r\x1b[K").and_then(|()| stderr.flush());
        }
    }

    /// The text in the colour of its role, if colours are on.
    pub(super) fn paint(&self, role: ColorRole, text: &str) -> String {
        let Some(palette) = &self.colours else { return text.to_owned() };
        let codes = codes(palette.paint(role));
        if codes.is_empty() || text.is_empty() { text.to_owned() } else { format!("\x1b[{codes}m{text}\x1b[0m") }
    }

    /// A past time: its rounded age on a terminal (`14m`), RFC 3339 in a pipe.
    pub(super) fn when(&self, at: Time, now: Time) -> String {
        if self.stdout_is_terminal { short_age(now - at) } else { rfc3339_seconds(at) }
    }

    /// As [`Out::when`], for a sentence: `14m ago`, `at 2026-…`.
    pub(super) fn when_in_words(&self, at: Time, now: Time) -> String {
        match short_age(now - at) {
            _ if !self.stdout_is_terminal => format!("at {}", rfc3339_seconds(at)),
            age if age == "now" => "just now".to_owned(),
            age => format!("{age} ago"),
        }
    }

    /// Removes this key from everything that is written from now on.
    pub(super) fn protect(&mut self, key: &ApiKey) {
        self.redactor = Some(Redactor::new(key));
    }

    /// The text without the key, and without what looks like one.
    pub(super) fn without_key<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = redacted(text);
        match self.redactor.as_ref().map(|redactor| redactor.redacted(&text)) {
            Some(Cow::Owned(redacted)) => Cow::Owned(redacted),
            Some(Cow::Borrowed(_)) | None => text,
        }
    }

    /// The text without keys and control sequences, as ASCII if required.
    fn encoded<'a>(&self, text: &'a str, on_terminal: bool) -> Cow<'a, str> {
        let to_ascii = if on_terminal { self.ascii } else { self.ascii_when_piped };
        let text = self.without_key(text);
        let text = match filter_output(&text) {
            Cow::Owned(gated) => Cow::Owned(gated),
            Cow::Borrowed(_) => text,
        };
        if to_ascii && !text.is_ascii() { Cow::Owned(ascii::to_ascii(&text)) } else { text }
    }
}

/// The text with its line breaks and tabs escaped.
pub(super) fn on_one_line(text: &str) -> String {
    text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
}

/// Escapes line breaks of arguments that the text quotes, because they could make it look like several messages.
fn without_breaks_of(arguments: impl Iterator<Item = String>, text: &str) -> String {
    let has_break = |typed: &String| typed.trim().contains(['\n', '\r']);
    arguments.filter(has_break).fold(text.to_owned(), |text, typed| {
        // The text may quote only the value of `--option=value`, and trims blanks at its ends.
        let value =
            typed.split_once('=').filter(|_| typed.starts_with("--")).map_or(typed.as_str(), |(_, value)| value);
        let value = value.trim();
        let quoted_as_block = value.replace("\r\n", "\n").replace('\r', "\n");
        text.replace(value, &on_one_line(value)).replace(&quoted_as_block, &on_one_line(value))
    })
}

/// The time as RFC 3339 in UTC, to the second.
pub(super) fn rfc3339_seconds(at: Time) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The text cut to `width` cells, ending in `…` if it was cut.
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

/// Text from outside, made safe for a message on stderr.
pub(super) fn clean_line(text: impl std::fmt::Display) -> CleanText {
    CleanText::line(&text.to_string())
}

fn columns() -> usize {
    crossterm::terminal::size().map_or(DEFAULT_WIDTH, |(columns, _)| usize::from(columns.max(1)))
}

/// The SGR parameters of a paint; empty for the terminal's default.
fn codes(paint: Paint) -> String {
    let mut codes: Vec<String> = Vec::new();
    let attributes = [(paint.bold, "1"), (paint.dim, "2"), (paint.underlined, "4"), (paint.reversed, "7")];
    codes.extend(attributes.iter().filter(|(on, _)| *on).map(|(_, code)| (*code).to_owned()));
    codes.extend(colour(paint.fg, 30));
    codes.extend(colour(paint.bg, 40));
    codes.join(";")
}

/// `base` is 30 for the text, 40 for the background.
fn colour(colour: ThemeColor, base: u8) -> Option<String> {
    match colour {
        ThemeColor::Terminal => None,
        ThemeColor::Ansi(n @ 0..=7) => Some((base + n).to_string()),
        ThemeColor::Ansi(n) => Some((base + 60 + n.min(15) - 8).to_string()),
        ThemeColor::Rgb(Rgb(r, g, b)) => {
            let mut code = String::new();
            // Writing to a string can't fail.
            let _ = write!(code, "{};2;{r};{g};{b}", base + 8);
            Some(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_of_arguments_are_escaped_and_those_of_the_message_stay() {
        let typed = ["docdeck", "--data-dir=/tmp/a\nb", "x\r\ny"].map(str::to_owned);
        let text = "No store in /tmp/a\nb/docdeck.db.\nNo file x\ny.";
        assert_eq!(without_breaks_of(typed.into_iter(), text), "No store in /tmp/a\\nb/docdeck.db.\nNo file x\\r\\ny.");
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
    fn a_paint_becomes_sgr_parameters() {
        let paint = Paint { fg: ThemeColor::Ansi(9), bold: true, ..Paint::default() };
        assert_eq!(codes(paint), "1;91");
        assert_eq!(codes(Paint { fg: ThemeColor::Ansi(2), bg: ThemeColor::Ansi(12), ..Paint::default() }), "32;104");
        assert_eq!(codes(Paint { fg: ThemeColor::Rgb(Rgb(1, 2, 3)), ..Paint::default() }), "38;2;1;2;3");
        assert_eq!(codes(Paint::default()), "");
    }

    #[test]
    fn without_colours_text_is_unchanged() {
        assert_eq!(Out::of_process().paint(ColorRole::Bad, "failed"), "failed");
    }
}
