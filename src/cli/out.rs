//! What commands write: results to stdout, all else to stderr. Times are relative on a terminal and RFC 3339 when piped;
//! colours are meanings, and there are none when piped unless they are asked for. A pipe that nobody reads any more ends
//! the writing, not the work.

use crate::app::format::coarse;
use crate::config::environment::Environment;
use crate::config::{ColorChoice, DisplaySettings, Flags, themes};
use crate::model::Time;
use crate::model::ascii;
use crate::model::colors::{ColorRole, Colour, Paint, Rgb, ThemeColors};
use crate::model::endpoint::ApiKey;
use crate::model::redaction::{Redactor, redacted};
use crate::model::text::{CleanText, escaped_json, gated};
use chrono::SecondsFormat;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Columns where the terminal tells none.
const WIDTH: usize = 80;

/// The two streams of this process, and how text looks on them.
#[derive(Debug)]
pub(super) struct Out {
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
    colours: Option<ThemeColors>,
    /// What is drawn has to be ASCII; results that are piped are text in UTF-8 unless this was asked for by name.
    ascii: bool,
    ascii_when_piped: bool,
    /// No line is drawn over itself.
    calm: bool,
    /// Whether it looks as configured.
    dressed: bool,
    /// The live line that stands on the terminal.
    live: Option<String>,
    /// Nobody reads what is written.
    closed: bool,
    /// Why results could not be written.
    failed: Option<String>,
    /// Takes the key out of what is written for people.
    redactor: Option<Redactor>,
}

impl Out {
    /// The streams of this process, plain until [`Out::dress`].
    pub(super) fn of_process() -> Self {
        Self {
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            colours: None,
            ascii: false,
            ascii_when_piped: false,
            calm: true,
            dressed: false,
            live: None,
            closed: false,
            failed: None,
            redactor: None,
        }
    }

    /// Looks from now on as configured.
    pub(super) fn dress(&mut self, look: &DisplaySettings, environment: &Environment, flags: &Flags) {
        let is_dumb = environment.term.as_deref() == Some("dumb");
        let wanted = match look.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => self.stdout_is_terminal && !is_dumb,
        };
        let ground = look.ground.unwrap_or(environment.ground);
        let chosen = wanted.then(|| look.theme.read());
        self.colours = chosen.as_ref().map(|chosen| {
            // A terminal with fewer colours gets a theme made for it.
            let colours = match chosen {
                Ok(colours) if environment.true_color => colours.clone(),
                Err(_) if environment.true_color => themes::usual(),
                _ => themes::named("terminal-16", None).unwrap_or_default(),
            };
            colours.on(ground).clone()
        });
        self.ascii = look.ascii;
        self.ascii_when_piped = flags.ascii;
        self.calm = look.calm || is_dumb;
        let is_first = !std::mem::replace(&mut self.dressed, true);
        if let (Some(Err(error)), true) = (chosen, is_first) {
            self.note(&format!("docdeck: {error} These are the usual colours."));
        }
    }

    /// Lets live lines be drawn for a command that reads no configuration file.
    pub(super) fn allow_live_lines(&mut self, environment: &Environment) {
        let is_dumb = environment.term.as_deref() == Some("dumb");
        self.calm = is_dumb || environment.reduced_motion.unwrap_or(false);
    }

    /// Whether people read the results as they come.
    pub(super) fn is_terminal(&self) -> bool {
        self.stdout_is_terminal
    }

    /// Whether notes are read on a terminal.
    pub(super) fn notes_are_seen(&self) -> bool {
        self.stderr_is_terminal
    }

    /// Whether something may be drawn over itself beside the results.
    pub(super) fn moves(&self) -> bool {
        self.stderr_is_terminal && !self.calm
    }

    /// Whether what is drawn beside the results has to be ASCII.
    pub(super) fn draws_ascii(&self) -> bool {
        self.ascii
    }

    /// Columns of the terminal that results go to; none when piped.
    pub(super) fn width(&self) -> Option<usize> {
        self.stdout_is_terminal.then(columns)
    }

    /// Why results are not where they should be, other than that nobody reads them.
    pub(super) fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// Results could not be written for this reason.
    pub(super) fn fail(&mut self, why: String) {
        self.failed.get_or_insert(why);
    }

    /// A line of the result as it is written, for whoever writes it elsewhere.
    pub(super) fn as_written(&self, line: &str) -> String {
        self.spelled(line, self.stdout_is_terminal).into_owned()
    }

    /// A line of the result.
    pub(super) fn line(&mut self, text: &str) {
        self.lines(&[text]);
    }

    /// Lines of the result, written and flushed at once.
    pub(super) fn lines(&mut self, lines: &[impl AsRef<str>]) {
        self.clear_live();
        let mut whole = String::new();
        for line in lines {
            whole.push_str(&self.spelled(line.as_ref(), self.stdout_is_terminal));
            whole.push('\n');
        }
        self.write(&whole);
    }

    /// A result as one line of JSON, flushed.
    pub(super) fn json(&mut self, value: &Value) {
        self.clear_live();
        self.write(&format!("{}\n", escaped_json(&value.to_string())));
    }

    /// A result as it is, without a line break at its end.
    pub(super) fn write(&mut self, text: &str) {
        if self.closed {
            return;
        }
        let text = gated(text);
        let mut stdout = io::stdout().lock();
        if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            self.closed = true;
            if error.kind() != ErrorKind::BrokenPipe {
                self.failed = Some(format!("The answer can't be written: {error}."));
            }
        }
    }

    /// A line beside the result. Line breaks in what it quotes of the arguments are escaped.
    pub(super) fn note(&mut self, text: &str) {
        self.clear_live();
        let text = &without_breaks_of(std::env::args_os().filter_map(|typed| typed.into_string().ok()), text);
        let text = self.spelled(text, self.stderr_is_terminal);
        // Nobody may be reading; there is nobody else to tell.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Draws a line beside the result over the one before, on a terminal with motion; elsewhere nothing.
    pub(super) fn live(&mut self, text: &str) {
        if !self.stderr_is_terminal || self.calm {
            return;
        }
        let line = cut(text, columns().saturating_sub(1));
        let line = self.spelled(&line, true).into_owned();
        if self.live.as_ref() == Some(&line) {
            return;
        }
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "\r{line}\x1b[K").and_then(|()| stderr.flush());
        self.live = Some(line);
    }

    /// Takes the live line away.
    pub(super) fn clear_live(&mut self) {
        if self.live.take().is_some() {
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "\r\x1b[K").and_then(|()| stderr.flush());
        }
    }

    /// The text in the colour of what it means, where there are colours.
    pub(super) fn paint(&self, meaning: ColorRole, text: &str) -> String {
        let Some(palette) = &self.colours else { return text.to_owned() };
        let codes = codes(palette.paint(meaning));
        if codes.is_empty() || text.is_empty() { text.to_owned() } else { format!("\x1b[{codes}m{text}\x1b[0m") }
    }

    /// When something was: its coarse age on a terminal (`14m`), RFC 3339 when piped.
    pub(super) fn when(&self, at: Time, now: Time) -> String {
        if self.stdout_is_terminal { coarse(now - at) } else { rfc3339(at) }
    }

    /// As [`Out::when`], as words of a sentence: `14m ago`, `at 2026-…`.
    pub(super) fn when_in_words(&self, at: Time, now: Time) -> String {
        match coarse(now - at) {
            _ if !self.stdout_is_terminal => format!("at {}", rfc3339(at)),
            age if age == "now" => "just now".to_owned(),
            age => format!("{age} ago"),
        }
    }

    /// From now on no line has this key.
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

    fn spelled<'a>(&self, text: &'a str, on_terminal: bool) -> Cow<'a, str> {
        let to_ascii = if on_terminal { self.ascii } else { self.ascii_when_piped };
        let text = self.without_key(text);
        let text = match gated(&text) {
            Cow::Owned(gated) => Cow::Owned(gated),
            Cow::Borrowed(_) => text,
        };
        if to_ascii && !text.is_ascii() { Cow::Owned(ascii::line(&text)) } else { text }
    }
}

/// The text with its line breaks and tabs escaped.
pub(super) fn on_one_line(text: &str) -> String {
    text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
}

/// The text, in which an argument with line breaks is quoted with these escaped: it could look like another message.
fn without_breaks_of(arguments: impl Iterator<Item = String>, text: &str) -> String {
    let has_break = |typed: &String| typed.trim().contains(['\n', '\r']);
    arguments.filter(has_break).fold(text.to_owned(), |text, typed| {
        // Of `--option=value` the value alone may be quoted; how it is quoted leaves out blanks at its ends.
        let value =
            typed.split_once('=').filter(|_| typed.starts_with("--")).map_or(typed.as_str(), |(_, value)| value);
        let value = value.trim();
        let quoted_as_block = value.replace("\r\n", "\n").replace('\r', "\n");
        text.replace(value, &on_one_line(value)).replace(&quoted_as_block, &on_one_line(value))
    })
}

/// A moment for machines: RFC 3339 in UTC, to the second.
pub(super) fn rfc3339(at: Time) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// At most so many cells of a text, with `…` where it was cut.
pub(super) fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return Cow::Borrowed(text);
    }
    let mut cells = 0;
    let room = width.saturating_sub(1);
    let kept = text.graphemes(true).take_while(|symbol| {
        cells += symbol.width();
        cells <= room
    });
    let mut kept: String = kept.collect();
    kept.push_str(if width > 0 { "…" } else { "" });
    Cow::Owned(kept)
}

/// A sentence for stderr out of a text from outside.
pub(super) fn clean(text: impl std::fmt::Display) -> CleanText {
    CleanText::line(&text.to_string())
}

fn columns() -> usize {
    crossterm::terminal::size().map_or(WIDTH, |(columns, _)| usize::from(columns.max(1)))
}

/// The parameters of the sequence that switches a paint on; none for the terminal's own.
fn codes(paint: Paint) -> String {
    let mut codes: Vec<String> = Vec::new();
    let attributes = [(paint.bold, "1"), (paint.dim, "2"), (paint.underlined, "4"), (paint.reversed, "7")];
    codes.extend(attributes.iter().filter(|(on, _)| *on).map(|(_, code)| (*code).to_owned()));
    codes.extend(colour(paint.fg, 30));
    codes.extend(colour(paint.bg, 40));
    codes.join(";")
}

/// `base` is 30 for letters, 40 for the ground behind them.
fn colour(colour: Colour, base: u8) -> Option<String> {
    match colour {
        Colour::Terminal => None,
        Colour::Ansi(n @ 0..=7) => Some((base + n).to_string()),
        Colour::Ansi(n) => Some((base + 60 + n.min(15) - 8).to_string()),
        Colour::Rgb(Rgb(r, g, b)) => {
            let mut code = String::new();
            // A string takes everything.
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
    fn a_cut_text_ends_in_an_ellipsis_and_keeps_to_its_cells() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 5), "abcd…");
        assert_eq!(cut("世界世界", 5), "世界…");
        assert_eq!(cut("世界世界", 4), "世…");
        assert_eq!((cut("ab", 1), cut("ab", 0)), ("…".into(), "".into()));
    }

    #[test]
    fn a_paint_becomes_the_sequence_of_its_colours() {
        let paint = Paint { fg: Colour::Ansi(9), bold: true, ..Paint::default() };
        assert_eq!(codes(paint), "1;91");
        assert_eq!(codes(Paint { fg: Colour::Ansi(2), bg: Colour::Ansi(12), ..Paint::default() }), "32;104");
        assert_eq!(codes(Paint { fg: Colour::Rgb(Rgb(1, 2, 3)), ..Paint::default() }), "38;2;1;2;3");
        assert_eq!(codes(Paint::default()), "");
    }

    #[test]
    fn without_colours_a_meaning_leaves_no_trace() {
        assert_eq!(Out::of_process().paint(ColorRole::Bad, "failed"), "failed");
    }
}
