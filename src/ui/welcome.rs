//! The setup form: the page of a first start, or a dialog for one more profile.
//!
//! ```text
//! Welcome to docdeck
//! Start agent jobs …                                          if the page is high enough
//!
//!  key from     a command   a file  [typed here]  environment
//! ▌key          ••••••••
//!  project id   needed
//!  more         ▸ base URL, organization, certificates, profile name
//!
//! what the line is and where to get it
//! how the last attempt went
//! ```

use super::text::{TextRow, fit, left};
use super::{View, boxed, cursor, put};
use crate::app::keymap::{Action, Context};
use crate::app::welcome::{Form, FormLine as Field, KeySourceChoice, Purpose, SetupStep, Welcome};
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

/// The page of a first start.
pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let Some(welcome) = view.app.welcome.as_deref() else { return };
    let air = if area.width < 60 { 0 } else { 2 };
    let width = area.width.saturating_sub(2 * air).min(WIDEST);
    let mut rest = Rect { x: area.x + air, width, ..area };
    if area.height >= ROOMY {
        let lines = introduction(frame, view, Rect { y: rest.y + 1, height: rest.height - 1, ..rest });
        rest = below(rest, lines + 2);
    }
    form(frame, view, welcome, rest);
}

/// The dialog for one more profile.
pub(super) fn dialog(frame: &mut Frame<'_>, view: View<'_>, welcome: &Welcome, area: Rect) {
    let inner = boxed(frame, area, Line::styled(" New profile ", view.theme.title), view.theme.focus);
    form(frame, view, welcome, Rect { width: inner.width.min(WIDEST), ..inner });
}

/// The lines of the form, as many as leave two rows for the text below them, and that text.
fn form(frame: &mut Frame<'_>, view: View<'_>, welcome: &Welcome, area: Rect) {
    let lines = welcome.form.lines();
    let rows = lines.len().min(usize::from(area.height.saturating_sub(2)).max(1));
    let at = lines.iter().position(|line| *line == welcome.form.line).unwrap_or(0);
    let mut rest = area;
    for field in lines.into_iter().skip((at + 1).saturating_sub(rows)).take(rows) {
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
    let demo = view.app.key_label(Context::WelcomeText, Action::Demo);
    let what = format!(
        "Start agent jobs on your documentation, watch them live, open their pull requests, and see which pages people and \
         AI read. You need an API key and a project id. To look around first, press {demo} for the demo."
    );
    let text = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    let rows = 2 + u16::try_from(what.width().div_ceil(usize::from(text.width.saturating_sub(8)).max(1))).unwrap_or(4);
    let lines = vec![Line::styled("Welcome to docdeck", theme.title), Line::default(), Line::raw(what)];
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
    let mut row = TextRow::new(usize::from(area.width));
    row.push(if here { "▌" } else { " " }, theme.mark);
    row.push(left(label(form, field), usize::from(LABEL - 1)), if here { theme.selected } else { theme.muted });
    let value = Rect { x: area.x + LABEL, width: area.width.saturating_sub(LABEL), height: 1, ..area };
    let room = row.room();
    if field == Field::Source {
        choices(view, form, &mut row);
    } else if field == Field::More {
        row.push(if form.is_open { "▾ " } else { "▸ " }, theme.mark);
        row.push(fit(&folded(form), room.saturating_sub(2)), theme.muted);
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
        match (input.text(), placeholder(form, field)) {
            (text, hint) if text.is_empty() => row.push(fit(hint, room), theme.muted),
            (text, _) => row.push(fit(&text, room), theme.text),
        };
    }
    put(frame, area, 0, row.line());
    if here && let Some(input) = form.input(field) {
        frame.render_widget(input.area(), value);
    }
    if here && !form.is_choice() {
        cursor::type_at(frame, view, value);
    }
}

fn label(form: &Form, field: Field) -> &'static str {
    match (field, form.source) {
        (Field::Source, _) => "key from",
        (Field::Key, KeySourceChoice::Program) => "command",
        (Field::Key, KeySourceChoice::File) => "file",
        (Field::Key, _) => "key",
        (Field::Project, _) => "project id",
        (Field::More, _) => "more",
        (Field::BaseUrl, _) => "base URL",
        (Field::Organization, _) => "organization",
        (Field::CaFile, _) => "certificates",
        (Field::Name, _) => "profile name",
    }
}

/// What a line shows while it is empty.
fn placeholder(form: &Form, field: Field) -> &'static str {
    match field {
        Field::BaseUrl => DEFAULT_BASE_URL,
        Field::Organization | Field::CaFile => "optional",
        Field::Name if form.purpose == Purpose::FirstProfile => DEFAULT_PROFILE,
        Field::Source | Field::Key | Field::Project | Field::More | Field::Name => "needed",
    }
}

/// The line that opens the others: what is set in them, or which they are.
fn folded(form: &Form) -> String {
    if form.is_open {
        return String::new();
    }
    let mut fields = vec![Field::BaseUrl, Field::Organization, Field::CaFile];
    fields.extend((form.purpose == Purpose::FirstProfile).then_some(Field::Name));
    let set: Vec<String> = fields
        .iter()
        .filter_map(|field| Some((field, form.input(*field).filter(|input| !input.is_blank())?)))
        .map(|(field, input)| format!("{} {}", label(form, *field), input.text()))
        .collect();
    if set.is_empty() {
        fields.into_iter().map(|field| label(form, field)).collect::<Vec<_>>().join(", ")
    } else {
        set.join(", ")
    }
}

/// The sources, the chosen one in brackets; that one alone where there is no room for all.
fn choices(view: View<'_>, form: &Form, row: &mut TextRow<'_>) {
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
        (SetupStep::Checking, _) => ("Checking…".to_owned(), theme.working),
        (SetupStep::Reading, _) => ("Reading the key…".to_owned(), theme.working),
        (SetupStep::Trying, _) => ("Asking the service, one request…".to_owned(), theme.working),
        (SetupStep::Saving, _) => (format!("Writing {}…", welcome.config), theme.working),
        (SetupStep::Filling, Some(said)) if said.is_good => (format!("✓ {}", said.text), theme.good),
        (SetupStep::Filling, Some(said)) => (format!("! {}", said.text), theme.warning),
        (SetupStep::Filling, None) => (explanation(view, welcome), theme.muted),
    }
}

/// What a line is, and where to get what it takes.
fn explanation(view: View<'_>, welcome: &Welcome) -> String {
    let form = &welcome.form;
    // Whoever adds a profile has created a key before.
    let where_from = match form.purpose {
        Purpose::FirstProfile => "\nCreate an admin key on the API keys page of the service's dashboard.",
        Purpose::AnotherProfile => "",
    };
    let text = match (form.line, form.source) {
        (Field::Source, source) => {
            let what = match source {
                KeySourceChoice::Kept => "The configuration already names a source of the key; it stays as it is.",
                KeySourceChoice::Program => {
                    "A command such as `pass show docdeck` prints the key each time docdeck starts."
                }
                KeySourceChoice::File => "A file that contains only the key. Nobody but you may be able to read it.",
                KeySourceChoice::Typed => "The key is stored in the configuration, in a file that only you can read.",
                KeySourceChoice::Variable if form.has_variable() => {
                    "DOCDECK_API_KEY is set in this shell. It is used instead of any key in a file."
                }
                KeySourceChoice::Variable => {
                    "DOCDECK_API_KEY is not set in this shell. Put export DOCDECK_API_KEY=… where your shell starts."
                }
            };
            let is_unused = form.has_variable() && source != KeySourceChoice::Variable;
            let unused = if is_unused { " DOCDECK_API_KEY is set in this shell and is used instead." } else { "" };
            return format!("{what}{unused}{where_from}");
        }
        (Field::Key, KeySourceChoice::Program) => {
            "The command and its arguments, like: pass show docdeck. It runs without a shell; quotes keep spaces. The first line of its output is the key."
        }
        (Field::Key, KeySourceChoice::File) => {
            "Its path; ~/ is your home folder. Only you may be able to read it: chmod 600."
        }
        (Field::Key, _) => return format!("Paste or type it; it is shown as dots.{where_from}"),
        (Field::Project, _) => "The project id is on the API keys page of the service's dashboard.",
        (Field::More, _) => {
            let open = view.app.key_label(Context::Welcome, Action::NextField);
            return format!("{open} opens the optional fields.");
        }
        (Field::BaseUrl, _) => {
            "Where the service is; leave it empty for the usual one. http:// is for this computer only."
        }
        (Field::Organization, _) => {
            "Page views are limited per organization: name yours if you use several of its projects here, to count them together."
        }
        (Field::CaFile, _) => {
            "A file of certificates (PEM) to trust in addition to those of the system, like a company's own."
        }
        (Field::Name, _) => "A name for this key and project. It is [profiles.NAME] in the configuration.",
    };
    text.to_owned()
}
