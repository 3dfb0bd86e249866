//! The first page of somebody who has configured nothing yet.
//!
//! ```text
//! Welcome to docdeck
//! Start agent jobs …                                          where there is room
//!
//! ▌key from     a program   a file  [typed here]  environment
//!  key          ••••••••
//!  project      acme-docs
//!  base URL     https://api.mintlify.com
//!  organization optional
//!  profile name default
//!
//! what the line is and where to get it
//! how the last attempt went
//! ```

use super::text::{Row, fit, left};
use super::{View, cursor, put};
use crate::app::welcome::{Form, Line as Field, Source, Step, Welcome};
use crate::app::wrap::wrap;
use crate::model::setup::{DEFAULT_BASE_URL, DEFAULT_PROFILE};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

/// Cells of a line before its value: the mark and the label.
const LABEL: u16 = 14;
/// Widest text that is easily read.
const WIDEST: u16 = 96;
/// Up to this many rows none is left empty.
const SMALLEST: u16 = 10;
/// From this many rows on there is room to say what docdeck is.
const ROOMY: u16 = 19;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let Some(welcome) = view.app.welcome.as_deref() else { return };
    let air = if area.width < 60 { 0 } else { 2 };
    let width = area.width.saturating_sub(2 * air).min(WIDEST);
    let mut rest = Rect { x: area.x + air, width, ..area };
    if area.height >= ROOMY {
        let lines = introduction(frame, view, Rect { y: rest.y + 1, height: rest.height - 1, ..rest });
        rest = below(rest, lines + 2);
    }
    for field in welcome.form.lines() {
        line(frame, view, welcome, field, rest);
        rest = below(rest, 1);
    }
    rest = below(rest, u16::from(area.height > SMALLEST));
    let text = Rect { x: rest.x + 1, width: rest.width.saturating_sub(1), ..rest };
    let (said, style) = said(view, welcome);
    let (mut lines, is_cut) = wrap(&said, usize::from(text.width), usize::from(text.height));
    if let Some(last) = lines.last_mut().filter(|_| is_cut) {
        *last = fit(&format!("{last} …"), usize::from(text.width));
    }
    for (n, said) in lines.into_iter().enumerate() {
        put(frame, text, n, Line::styled(said, style));
    }
}

/// What is left under so many rows.
fn below(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect { y: area.y + rows, height: area.height - rows, ..area }
}

/// What docdeck is; gives the rows that it took.
fn introduction(frame: &mut Frame<'_>, view: View<'_>, area: Rect) -> u16 {
    let theme = view.theme;
    let what = "Start agent jobs on your documentation, watch them live, open their pull requests, and see which pages \
                people and AI read. It takes a key and a project; the demo takes neither.";
    let lines = vec![Line::styled("Welcome to docdeck", theme.title), Line::default(), Line::raw(what)];
    let text = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    let rows = 2 + u16::try_from(what.width().div_ceil(usize::from(text.width.saturating_sub(8)).max(1))).unwrap_or(4);
    frame
        .render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }), Rect { height: rows.min(text.height), ..text });
    rows
}

/// One line of the form.
fn line(frame: &mut Frame<'_>, view: View<'_>, welcome: &Welcome, field: Field, area: Rect) {
    if area.height == 0 {
        return;
    }
    let (theme, form) = (view.theme, &welcome.form);
    let here = form.line == field;
    let mut row = Row::new(usize::from(area.width));
    row.push(if here { "▌" } else { " " }, theme.mark);
    row.push(left(label(form, field), usize::from(LABEL - 1)), if here { theme.selected } else { theme.muted });
    let value = Rect { x: area.x + LABEL, width: area.width.saturating_sub(LABEL), height: 1, ..area };
    let room = row.room();
    if field == Field::Source {
        choices(view, form, &mut row);
    } else if form.is_secret(field) {
        // The end is what is typed at.
        let dots = "•".repeat(form.secret.len().min(room.saturating_sub(1)));
        if dots.is_empty() && !here {
            row.push("needed", theme.muted);
        }
        row.push(dots, theme.text);
        if here {
            row.push(" ", theme.text.add_modifier(Modifier::REVERSED));
        }
    } else if let Some(input) = form.input(field).filter(|_| !here) {
        match (input.text(), placeholder(field)) {
            (text, hint) if text.is_empty() => row.push(fit(hint, room), theme.muted),
            (text, _) => row.push(fit(&text, room), theme.text),
        };
    }
    put(frame, area, 0, row.line());
    if here && let Some(input) = form.input(field) {
        frame.render_widget(input.area(), value);
    }
    if here && field != Field::Source {
        cursor::type_at(frame, view, value);
    }
}

fn label(form: &Form, field: Field) -> &'static str {
    match (field, form.source) {
        (Field::Source, _) => "key from",
        (Field::Key, Source::Program) => "program",
        (Field::Key, Source::File) => "file",
        (Field::Key, _) => "key",
        (Field::Project, _) => "project id",
        (Field::BaseUrl, _) => "base URL",
        (Field::Organization, _) => "organization",
        (Field::Name, _) => "profile name",
    }
}

/// What stands in a line where nothing is typed.
fn placeholder(field: Field) -> &'static str {
    match field {
        Field::BaseUrl => DEFAULT_BASE_URL,
        Field::Organization => "optional",
        Field::Name => DEFAULT_PROFILE,
        Field::Source | Field::Key | Field::Project => "needed",
    }
}

/// The sources, the chosen one in brackets; that one alone where there is no room for all.
fn choices(view: View<'_>, form: &Form, row: &mut Row<'_>) {
    let theme = view.theme;
    let all = form.sources();
    if all.iter().map(|source| source.name().width() + 2).sum::<usize>() > row.room() {
        row.push(format!("‹ {} ›", form.source.name()), theme.mark);
        return;
    }
    for source in all {
        match source == form.source {
            true => row.push(format!("[{}]", source.name()), theme.mark),
            false => row.push(format!(" {} ", source.name()), theme.muted),
        };
    }
}

/// How it goes, or how it went; else what the line is that has the keys.
fn said(view: View<'_>, welcome: &Welcome) -> (String, Style) {
    let theme = view.theme;
    match (welcome.step, &welcome.said) {
        (Step::Reading, _) => ("Reading the key…".to_owned(), theme.working),
        (Step::Trying, _) => ("Asking the service, one request…".to_owned(), theme.working),
        (Step::Saving, _) => (format!("Writing {}…", welcome.config), theme.working),
        (Step::Filling, Some(said)) if said.is_good => (format!("✓ {}", said.text), theme.good),
        (Step::Filling, Some(said)) => (format!("! {}", said.text), theme.warning),
        (Step::Filling, None) => (explanation(welcome), theme.muted),
    }
}

/// What a line is, and where to get what it takes.
fn explanation(welcome: &Welcome) -> String {
    let form = &welcome.form;
    let where_from = "An admin key is made on the API keys page of the service's dashboard.";
    let text = match (form.line, form.source) {
        (Field::Source, source) => {
            let what = match source {
                Source::Kept => "The configuration names a source of the key already; it stays as it is.",
                Source::Program => "A password manager prints the key, at each start.",
                Source::File => "A file holds nothing but the key. One that others can read is refused.",
                Source::Typed => "The key is kept in the configuration, in a file that only you can read.",
                Source::Variable if form.has_variable() => {
                    "DOCDECK_API_KEY is set in this shell, and beats what any file says."
                }
                Source::Variable => {
                    "Not set in this shell, and docdeck can't set it there. Put export DOCDECK_API_KEY=… where your shell begins."
                }
            };
            let beaten = form.has_variable() && source != Source::Variable;
            let beaten = if beaten { " DOCDECK_API_KEY is set in this shell, and beats it there." } else { "" };
            return format!("{what}{beaten}\n{where_from}");
        }
        (Field::Key, Source::Program) => {
            "The program and its arguments, like: pass show docdeck. No shell reads them; quotes keep blanks. Its first line is the key."
        }
        (Field::Key, Source::File) => "Its path; ~/ is your home folder. Make it yours alone: chmod 600.",
        (Field::Key, _) => return format!("Paste or type it; it is shown as dots.\n{where_from}"),
        (Field::Project, _) => "The project's id stands on the API keys page of the service's dashboard.",
        (Field::BaseUrl, _) => {
            "Where the service is; leave it empty for the usual one. http:// is for this computer only."
        }
        (Field::Organization, _) => {
            "Page views are limited per organization: name yours if several of its projects are used here, to count them together."
        }
        (Field::Name, _) => {
            "What this key and project are called here; each further [profiles.NAME] in the configuration is another one."
        }
    };
    text.to_owned()
}
