//! Draws the setup form: the screen of the first start, or a dialog for another profile.
//!
//! ```text
//!  Welcome to docdeck
//!
//!  Start agent jobs …                                           if everything fits on the screen
//!
//! ▌key            ••••••••
//!  project id     needed
//!
//!                 [ Test and save ]  Ctrl-S
//!
//!  more           ▸ key source, base URL, organization, certificates, profile
//!
//!  what the field is and where to get it, or how the last attempt ended
//! ```

use super::{FormLine, SetupStep, Welcome};
use crate::model::setup::{KeySourceChoice, SetupField};
use crate::tui::draw::boxes::{draw_line, underline_field};
use crate::tui::draw::cursor;
use crate::tui::draw::rules::{DialogFrame, draw_rule};
use crate::tui::draw::text::{TextRow, truncate};
use crate::tui::keymap::{Action, Context};
use crate::tui::view::View;
use crate::tui::wrap::wrap;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// Width of the part of a line before the value: the mark of the focused field, and the label.
const LABEL_CELLS: u16 = 15;
/// Maximum width of the form, so that its texts are readable.
const MAX_FORM_WIDTH: u16 = 97;
/// Minimum width of the screen at which the form has a margin.
const MIN_WIDTH_WITH_MARGIN: u16 = 60;
/// Minimum height of the screen at which there are rules above and below the form.
const MIN_ROWS_WITH_RULES: u16 = 20;
/// Maximum width of a text field.
const MAX_FIELD_WIDTH: u16 = 60;
/// How many rows of the message stay visible if the fields don't all fit.
const MIN_MESSAGE_ROWS: usize = 2;
/// Usual number of rows of the message. They are reserved, so that the form doesn't move when the message changes.
const MESSAGE_ROWS: usize = 4;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, welcome: &Welcome) {
    let g = view.app.geometry();
    let area = match welcome.is_screen() {
        true if g.body.height < MIN_ROWS_WITH_RULES => g.body,
        true => {
            draw_rule(frame, view, g.upper_rule(), Line::styled("Setup", view.theme.focus), Line::default());
            draw_rule(frame, view, g.lower_rule(), Line::default(), Line::default());
            g.content
        }
        false => DialogFrame::new(view, "New profile").draw(frame, view, welcome),
    };
    let margin = u16::from(area.width >= MIN_WIDTH_WITH_MARGIN);
    let width = area.width.saturating_sub(2 * margin).min(MAX_FORM_WIDTH);
    draw_form(frame, view, welcome, Rect { x: area.x + margin, width, ..area });
}

/// Draws the introduction, the fields and the message below them. If they don't all fit, leaves out the introduction,
/// then the blank rows, then fields far from the focused one.
fn draw_form(frame: &mut Frame<'_>, view: View<'_>, welcome: &Welcome, area: Rect) {
    let text = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    let wrapped = |text_to_wrap: &str| wrap(text_to_wrap, usize::from(text.width), usize::from(text.height));
    let height = usize::from(area.height);
    let (message, style) = welcome_message(view, welcome);
    let (mut message, is_cut) = wrapped(&message);
    let fields: Vec<Option<FormLine>> = welcome.lines().into_iter().map(Some).collect();
    let has_gap = |line: &Option<FormLine>| matches!(line, Some(FormLine::Save | FormLine::More));
    let spaced: Vec<_> =
        fields.iter().flat_map(|line| has_gap(line).then_some(None).into_iter().chain([*line])).collect();
    let fits = |rows: usize| rows + 1 + message.len().max(MESSAGE_ROWS) <= height;
    let mut rows = if fits(spaced.len()) { spaced } else { fields };
    let mut y = 0;
    if welcome.is_screen() {
        let (introduction, _) = wrapped(&introduction(view));
        if fits(introduction.len() + 2 + rows.len()) {
            for (n, line) in introduction.into_iter().enumerate() {
                let style = if n == 0 { view.theme.title } else { view.theme.text };
                draw_line(frame, text, n + 1, Line::styled(line, style));
                y = n + 3;
            }
        }
    }
    if rows.len() + y + 1 + message.len() <= height {
        rows.push(None);
    } else {
        let visible = height.saturating_sub(message.len().min(MIN_MESSAGE_ROWS)).max(1);
        let focused = rows.iter().position(|line| *line == Some(welcome.line)).unwrap_or(0);
        rows = rows.into_iter().skip((focused + 1).saturating_sub(visible)).take(visible).collect();
    }
    for line in rows {
        if let (Some(line), Ok(row)) = (line, u16::try_from(y)) {
            draw_field(frame, view, welcome, line, Rect { y: area.y + row, height: 1, ..area });
        }
        y += 1;
    }
    let space = height.saturating_sub(y);
    if message.len() > space || is_cut {
        message.truncate(space);
        if let Some(last) = message.last_mut() {
            *last = truncate(&format!("{last} …"), usize::from(text.width));
        }
    }
    for (n, line) in message.into_iter().enumerate() {
        draw_line(frame, text, y + n, Line::styled(line, style));
    }
}

fn introduction(view: View<'_>) -> String {
    let demo = view.app.key_label(Context::WelcomeText, Action::Demo);
    format!(
        "Welcome to docdeck\n\n\
         Start agent jobs on your documentation, watch them live, open their pull requests, and see which pages humans \
         and AI read.\n\n\
         You need an API key and a project id; both are on the API keys page of your Mintlify dashboard. To look around \
         first, press {demo} for the demo."
    )
}

/// Draws one line of the form.
fn draw_field(frame: &mut Frame<'_>, view: View<'_>, welcome: &Welcome, line: FormLine, area: Rect) {
    let (theme, form) = (view.theme, &welcome.form);
    let is_focused = welcome.line == line;
    let mut row = TextRow::new(usize::from(area.width));
    row.push(if is_focused { "▌" } else { " " }, theme.mark);
    let style = |style| if is_focused { theme.selected } else { style };
    let label = match line {
        FormLine::Field(field) => field.label(),
        FormLine::More => "more",
        FormLine::Save => "",
    };
    row.push(label, style(theme.muted)).pad_to(usize::from(LABEL_CELLS));
    let space = row.remaining_cells();
    match line {
        FormLine::Save => {
            let key = view.app.key_label(Context::WelcomeText, Action::Confirm);
            row.push("[ Test and save ]", style(theme.title)).push(format!("  {key}"), theme.key);
        }
        FormLine::More => {
            row.push(if welcome.shows_optional_fields { "▾ " } else { "▸ " }, theme.mark);
            row.push(truncate(&more_fields_text(welcome), space.saturating_sub(2)), theme.muted);
        }
        FormLine::Field(SetupField::Source) => push_key_sources(view, welcome, &mut row),
        FormLine::Field(SetupField::Key)
            if form.source == KeySourceChoice::Typed && (is_focused || !form.secret.is_empty()) =>
        {
            // Shows one dot per character. The last cell stays free for the cursor, even if the key is too long to fit.
            row.push("•".repeat(form.secret.len().min(space.saturating_sub(1))), theme.text);
        }
        FormLine::Field(field) if !is_focused || field == SetupField::Key => match form.text(field) {
            "" => _ = row.push(truncate(form.placeholder(field), space), theme.muted),
            text => _ = row.push(truncate(text, space), theme.text),
        },
        FormLine::Field(_) => {}
    }
    if is_focused && line == FormLine::Field(SetupField::Key) {
        row.push(" ", theme.text.add_modifier(Modifier::REVERSED));
    }
    draw_line(frame, area, 0, row.line());
    let value = Rect { x: area.x + LABEL_CELLS, width: area.width.saturating_sub(LABEL_CELLS), ..area };
    if let Some(input) = welcome.input.as_ref().filter(|_| is_focused) {
        frame.render_widget(input.area(), value);
    }
    if matches!(line, FormLine::Field(field) if field != SetupField::Source) {
        underline_field(frame, view, Rect { width: value.width.min(MAX_FIELD_WIDTH), ..value });
    }
    if is_focused && !welcome.is_choice_or_button() {
        cursor::place_cursor_in_input(frame, view, value);
    }
}

/// Returns the text of the line that opens the other fields: the fields that are set, with their values. If none is
/// set, returns the names of the fields. Returns an empty text while the fields are open.
fn more_fields_text(welcome: &Welcome) -> String {
    let form = &welcome.form;
    if welcome.shows_optional_fields {
        return String::new();
    }
    let value = |field: SetupField| match field {
        SetupField::Source if form.source == KeySourceChoice::Typed => "",
        SetupField::Source => form.source.name(),
        field => form.text(field),
    };
    let fields = form.optional_fields();
    let set: Vec<String> = fields
        .iter()
        .filter(|field| !value(**field).trim().is_empty())
        .map(|field| format!("{} {}", field.label(), value(*field)))
        .collect();
    if set.is_empty() {
        fields.into_iter().map(SetupField::label).collect::<Vec<_>>().join(", ")
    } else {
        set.join(", ")
    }
}

/// Adds the sources of the API key, with the selected source in brackets. If they don't all fit, adds only the selected
/// source.
fn push_key_sources(view: View<'_>, welcome: &Welcome, row: &mut TextRow<'_>) {
    let (theme, all, chosen) = (view.theme, welcome.form.sources(), welcome.form.source);
    if all.iter().map(|source| source.name().width() + 2).sum::<usize>() > row.remaining_cells() {
        row.push(format!("‹ {} ›", chosen.name()), theme.mark);
        return;
    }
    for source in all {
        match source == chosen {
            true => row.push(format!("[{}]", source.name()), theme.mark),
            false => row.push(format!(" {} ", source.name()), theme.muted),
        };
    }
}

/// Returns the message below the fields, and its style: the progress or result of the setup, or else an explanation of
/// the focused line.
fn welcome_message(view: View<'_>, welcome: &Welcome) -> (String, Style) {
    let theme = view.theme;
    let key = |action| view.app.key_label(Context::Welcome, action);
    match (welcome.step, &welcome.message) {
        (SetupStep::Checking, _) => ("Checking…".to_owned(), theme.working),
        (SetupStep::ReadingKey, _) => ("Reading the key…".to_owned(), theme.working),
        (SetupStep::Testing, _) => ("Testing the key (one request)…".to_owned(), theme.working),
        (SetupStep::Saving, _) => (format!("Writing {}…", welcome.config_path), theme.working),
        (SetupStep::Filling, Some(message)) if message.is_success => (format!("✓ {}", message.text), theme.good),
        (SetupStep::Filling, Some(message)) => (format!("! {}", message.text), theme.warning),
        (SetupStep::Filling, None) => {
            let text = match welcome.line {
                FormLine::Field(field) => welcome.form.explanation(field),
                FormLine::Save => format!(
                    "{} tests the key with one request (not subject to any limit), then saves {}.",
                    key(Action::NextField),
                    welcome.config_path
                ),
                FormLine::More => format!("{} opens the optional fields.", key(Action::NextField)),
            };
            (text, theme.muted)
        }
    }
}
