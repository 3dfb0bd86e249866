//! Draws the setup form: the screen of the first start, or a dialog for another profile.
//!
//! ```text
//! Welcome to docdeck
//! Start agent jobs …                                          if the screen is high enough
//!
//!  key from     a command   a file  [typed here]  environment
//! ▌key          ••••••••
//!  project id   needed
//!  more         ▸ base URL, organization, certificates, profile name
//!
//! what the field is and where to get it
//! how the last attempt ended
//! ```

use super::{Form, FormLine as Field, KeySourceChoice, SetupPurpose, SetupStep, Welcome};
use crate::model::setup::{DEFAULT_BASE_URL, DEFAULT_PROFILE};
use crate::tui::draw::text::{TextRow, fit, left};
use crate::tui::draw::{View, cursor, draw_box, draw_line};
use crate::tui::keymap::{Action, Context};
use crate::tui::wrap::wrap;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

/// Width of the part of a line before the value: the mark of the selected field, and the label.
const LABEL_CELLS: u16 = 14;
/// Maximum width of the form, so that its texts are readable.
const MAX_FORM_WIDTH: u16 = 96;
/// Up to this height of the form, there is no empty row between the fields and the message.
const MAX_DENSE_HEIGHT: u16 = 10;
/// Minimum height of the screen at which there is space for the introduction.
const MIN_INTRODUCTION_HEIGHT: u16 = 19;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, welcome: &Welcome) {
    let g = view.app.geometry();
    if welcome.is_screen() {
        return draw_screen(frame, view, welcome, g.body);
    }
    let title = Line::styled(" New profile ", view.theme.title);
    let inner = draw_box(frame, g.full_dialog(), title, view.theme.focus);
    draw_form(frame, view, welcome, Rect { width: inner.width.min(MAX_FORM_WIDTH), ..inner });
}

/// Draws the screen of the first start.
fn draw_screen(frame: &mut Frame<'_>, view: View<'_>, welcome: &Welcome, area: Rect) {
    let margin = if area.width < 60 { 0 } else { 2 };
    let width = area.width.saturating_sub(2 * margin).min(MAX_FORM_WIDTH);
    let mut rest = Rect { x: area.x + margin, width, ..area };
    if area.height >= MIN_INTRODUCTION_HEIGHT {
        let lines = draw_introduction(frame, view, Rect { y: rest.y + 1, height: rest.height - 1, ..rest });
        rest = area_below_rows(rest, lines + 2);
    }
    draw_form(frame, view, welcome, rest);
}

/// Draws the fields of the form, and the message below them. Draws only as many fields as leave two rows for the
/// message.
fn draw_form(frame: &mut Frame<'_>, view: View<'_>, welcome: &Welcome, area: Rect) {
    let lines = welcome.form.lines();
    let rows = lines.len().min(usize::from(area.height.saturating_sub(2)).max(1));
    let at = lines.iter().position(|line| *line == welcome.form.line).unwrap_or(0);
    let mut rest = area;
    for field in lines.into_iter().skip((at + 1).saturating_sub(rows)).take(rows) {
        draw_field(frame, view, welcome, field, rest);
        rest = area_below_rows(rest, 1);
    }
    rest = area_below_rows(rest, u16::from(area.height > MAX_DENSE_HEIGHT));
    let text = Rect { x: rest.x + 1, width: rest.width.saturating_sub(1), ..rest };
    let (message, style) = welcome_message(view, welcome);
    let (mut lines, is_cut) = wrap(&message, usize::from(text.width), usize::from(text.height));
    if let Some(last) = lines.last_mut().filter(|_| is_cut) {
        *last = fit(&format!("{last} …"), usize::from(text.width));
    }
    for (n, message) in lines.into_iter().enumerate() {
        draw_line(frame, text, n, Line::styled(message, style));
    }
}

/// Returns the area below the first `rows` rows.
fn area_below_rows(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect { y: area.y + rows, height: area.height - rows, ..area }
}

/// Draws an introduction to docdeck, and returns the number of rows that it uses.
fn draw_introduction(frame: &mut Frame<'_>, view: View<'_>, area: Rect) -> u16 {
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

/// Draws one field of the form.
fn draw_field(frame: &mut Frame<'_>, view: View<'_>, welcome: &Welcome, field: Field, area: Rect) {
    if area.height == 0 {
        return;
    }
    let (theme, form) = (view.theme, &welcome.form);
    let is_focused = form.line == field;
    let mut row = TextRow::new(usize::from(area.width));
    row.push(if is_focused { "▌" } else { " " }, theme.mark);
    let label_style = if is_focused { theme.selected } else { theme.muted };
    row.push(left(label(field), usize::from(LABEL_CELLS - 1)), label_style);
    let value = Rect { x: area.x + LABEL_CELLS, width: area.width.saturating_sub(LABEL_CELLS), height: 1, ..area };
    let space = row.remaining();
    if field == Field::Source {
        push_key_sources(view, form, &mut row);
    } else if field == Field::More {
        row.push(if form.shows_optional_lines { "▾ " } else { "▸ " }, theme.mark);
        row.push(fit(&more_fields_text(form), space.saturating_sub(2)), theme.muted);
    } else if field == Field::Secret {
        // Shows one dot per character. The last cell stays free for the cursor, even if the key is too long to fit.
        let dots = "•".repeat(form.secret.len().min(space.saturating_sub(1)));
        if dots.is_empty() && !is_focused {
            row.push("needed", theme.muted);
        }
        row.push(dots, theme.text);
        if is_focused {
            row.push(" ", theme.text.add_modifier(Modifier::REVERSED));
        }
    } else if let Some(input) = form.input(field).filter(|_| !is_focused) {
        match (input.text(), placeholder(form, field)) {
            (text, hint) if text.is_empty() => row.push(fit(hint, space), theme.muted),
            (text, _) => row.push(fit(&text, space), theme.text),
        };
    }
    draw_line(frame, area, 0, row.line());
    if is_focused && let Some(input) = form.input(field) {
        frame.render_widget(input.area(), value);
    }
    if is_focused && !form.is_choice() {
        cursor::place_in_input(frame, view, value);
    }
}

fn label(field: Field) -> &'static str {
    match field {
        Field::Source => "key from",
        Field::Command => "command",
        Field::File => "file",
        Field::Secret => "key",
        Field::Project => "project id",
        Field::More => "more",
        Field::BaseUrl => "base URL",
        Field::Organization => "organization",
        Field::CaFile => "certificates",
        Field::Name => "profile name",
    }
}

/// Returns the text that is shown in an empty field.
fn placeholder(form: &Form, field: Field) -> &'static str {
    match field {
        Field::BaseUrl => DEFAULT_BASE_URL,
        Field::Organization | Field::CaFile => "optional",
        Field::Name if form.purpose == SetupPurpose::FirstProfile => DEFAULT_PROFILE,
        _ => "needed",
    }
}

/// Returns the text of the line that opens the optional fields: the fields that are set, with their values. If none is
/// set, returns the names of the fields. Returns an empty text while the fields are open.
fn more_fields_text(form: &Form) -> String {
    if form.shows_optional_lines {
        return String::new();
    }
    let set: Vec<String> = form
        .optional_lines()
        .filter_map(|field| Some((field, form.input(field).filter(|input| !input.is_blank())?)))
        .map(|(field, input)| format!("{} {}", label(field), input.text()))
        .collect();
    if set.is_empty() { form.optional_lines().map(label).collect::<Vec<_>>().join(", ") } else { set.join(", ") }
}

/// Adds the sources of the API key, with the selected source in brackets. If they don't all fit, adds only the selected
/// source.
fn push_key_sources(view: View<'_>, form: &Form, row: &mut TextRow<'_>) {
    let theme = view.theme;
    let all = form.sources();
    if all.iter().map(|source| source.name().width() + 2).sum::<usize>() > row.remaining() {
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

/// Returns the message below the fields, and its style: the progress or result of the setup, or else an explanation of
/// the focused field.
fn welcome_message(view: View<'_>, welcome: &Welcome) -> (String, Style) {
    let theme = view.theme;
    match (welcome.step, &welcome.message) {
        (SetupStep::Checking, _) => ("Checking…".to_owned(), theme.working),
        (SetupStep::ReadingKey, _) => ("Reading the key…".to_owned(), theme.working),
        (SetupStep::Testing, _) => ("Testing the key, one request…".to_owned(), theme.working),
        (SetupStep::Saving, _) => (format!("Writing {}…", welcome.config_path), theme.working),
        (SetupStep::Filling, Some(message)) if message.is_success => (format!("✓ {}", message.text), theme.good),
        (SetupStep::Filling, Some(message)) => (format!("! {}", message.text), theme.warning),
        (SetupStep::Filling, None) => (explanation(view, welcome), theme.muted),
    }
}

/// Returns what the focused field is, and where to get its value.
fn explanation(view: View<'_>, welcome: &Welcome) -> String {
    let form = &welcome.form;
    // A user who adds another profile has created a key before.
    let where_from = match form.purpose {
        SetupPurpose::FirstProfile => "\nCreate an admin key on the API keys page of the service's dashboard.",
        SetupPurpose::AnotherProfile => "",
    };
    let text = match form.line {
        Field::Source => {
            let source = form.source;
            let what = match source {
                KeySourceChoice::Unchanged => "Keeps the key source of the configuration.",
                KeySourceChoice::Command => "A command that prints the key at each start, e.g. `pass show docdeck`.",
                KeySourceChoice::File => "A file that contains only the key. Readable only by you.",
                KeySourceChoice::Typed => "The key is stored in the configuration, in a file that only you can read.",
                KeySourceChoice::Variable if form.has_variable() => {
                    "DOCDECK_API_KEY is set in this shell. It is used instead of any key in a file."
                }
                KeySourceChoice::Variable => {
                    "DOCDECK_API_KEY is not set in this shell. Add export DOCDECK_API_KEY=… to your shell's startup file."
                }
            };
            let is_unused = form.has_variable() && source != KeySourceChoice::Variable;
            let unused = if is_unused { " DOCDECK_API_KEY is set in this shell and is used instead." } else { "" };
            return format!("{what}{unused}{where_from}");
        }
        Field::Command => {
            "The command and its arguments, like: pass show docdeck. It runs without a shell; quotes keep spaces. The first line of its output is the key."
        }
        Field::File => "Path of the file; ~/ is your home folder. It must be readable only by you: chmod 600.",
        Field::Secret => return format!("Paste or type it; it is shown as dots.{where_from}"),
        Field::Project => "The project id is on the API keys page of the service's dashboard.",
        Field::More => {
            let open = view.app.key_label(Context::Welcome, Action::NextField);
            return format!("{open} opens the optional fields.");
        }
        Field::BaseUrl => {
            "Address of the service; leave it empty for the default. http:// works for this computer only."
        }
        Field::Organization => {
            "Page views are limited per organization: enter yours if you use several of its projects, so that they share one count."
        }
        Field::CaFile => "PEM file of extra CA certificates to trust.",
        Field::Name => "A name for this key and project. It is [profiles.NAME] in the configuration.",
    };
    text.to_owned()
}
