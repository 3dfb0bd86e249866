//! The dialog that asks for one value: ids, a file, a page, or a label of a job.

use super::component::prelude::*;
use super::draw::cursor;
use super::format::{format_count, truncate};
use super::tracking::parse_ids;
use super::wrap::wrap;
use crate::model::job::{JobKey, JobsLeftAfterPrune};
use crate::model::prompt::{PromptId, PromptResolution};
use crate::model::remote_job::JobId;
use crate::model::text::CleanText;
use crate::model::views::{MAX_PAGE_SIZE, MIN_PAGE_SIZE};
use crate::tui::draw::boxes::{box_title_columns, draw_box, underline_field};
use crate::tui::keymap::Keymap;
use crate::tui::widgets::text_input::TextInput;
use crate::tui::{PromptsEffect, PromptsMsg};
use ratatui::widgets::{Paragraph, Wrap};

/// Minimum height of the dialog, in rows.
const MIN_ROWS: u16 = 7;

/// A dialog that asks for one value.
#[derive(Debug)]
pub struct InputDialog {
    pub field: InputField,
    pub input: TextInput,
    pub check: InputCheck,
    /// The title of the job that the value is for. It is part of the title of the dialog.
    pub job_title: Option<CleanText>,
    /// Whether the user has tried to confirm this text although it is not valid.
    was_refused: bool,
}

/// The state of checking the value with a request to the service. Only the id of a job to link is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputCheck {
    NotStarted,
    Running,
    Failed(CleanText),
}

/// The value that an [`InputDialog`] asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputField {
    /// The ids of the jobs to track. These jobs were not created with docdeck.
    TrackId,
    /// The id of the job that an `Unconfirmed` prompt created.
    LinkId(PromptId),
    /// The path of a file with prompts.
    PromptsFile,
    /// The number of the block of rows to go to. The table of page views is loaded in blocks.
    RowBlock,
    /// The number of rows of a block.
    PageSize,
    Title(JobKey),
    Tags(Vec<JobKey>),
    Note(JobKey),
    /// A name under which to save the current filter.
    FilterName,
}

/// The parsed value of an [`InputDialog`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputValue {
    Id(JobId),
    Ids(Vec<JobId>),
    /// Any text, possibly empty.
    Text(String),
    Number(u32),
}

impl InputDialog {
    /// Creates the dialog with an initial text.
    pub fn new(field: InputField, text: &str) -> Self {
        let input = TextInput::single_line(text);
        Self { field, input, check: InputCheck::NotStarted, job_title: None, was_refused: false }
    }

    /// Adds the title of the job that the value is for to the title of the dialog.
    pub fn with_job(mut self, job_title: &CleanText) -> Self {
        self.job_title = Some(job_title.clone());
        self
    }

    /// Returns the title of the dialog, a short explanation of what to type, and the label of the key that confirms.
    fn title_help_and_label(&self) -> (&'static str, &'static str, &'static str) {
        match &self.field {
            InputField::TrackId => (
                "Track jobs created elsewhere",
                "A job id, or a list of ids, from your Mintlify dashboard. One request each.",
                "track",
            ),
            InputField::Title(_) => {
                ("Rename job", "Not sent to the service. Leave empty for the prompt's first line.", "save")
            }
            InputField::Tags(jobs) if jobs.len() > 1 => {
                ("Tags", "+docs adds a tag to each of these jobs, -docs removes it.", "save")
            }
            InputField::Tags(_) => {
                ("Tags (only in docdeck)", "Plain words replace all tags; +docs adds a tag, -docs removes it.", "save")
            }
            InputField::Note(_) => {
                ("Note", "Shown in the details only, not sent to the service. Leave empty to remove it.", "save")
            }
            InputField::FilterName => ("Save this filter", "The name of its tab. Saved in config.toml.", "save"),
            InputField::LinkId(_) => (
                "Link to an existing job",
                "The job id, from your Mintlify dashboard. One request checks it; no prompt is sent.",
                "link",
            ),
            InputField::PromptsFile => (
                "Prompts from a file",
                "The path of a text file (prompts separated by blank lines), .csv file (column “prompt”) or .jsonl file.",
                "open",
            ),
            InputField::RowBlock => (
                "Go to block of rows",
                "Type 1 for the first block, 2 for the second, and so on. Each takes one request.",
                "go",
            ),
            InputField::PageSize => {
                ("Rows per request", "How many rows a block has, from 1 to 250. One request loads one block.", "apply")
            }
        }
    }

    pub fn title(&self) -> String {
        let title = self.title_help_and_label().0;
        self.job_title.as_ref().map_or_else(|| title.to_owned(), |job_title| format!("{title}: {job_title}"))
    }

    /// Parses the value.
    ///
    /// # Errors
    /// Returns a short description of a valid value, which is shown while the user types.
    pub fn value(&self) -> Result<InputValue, String> {
        let typed = self.input.text();
        let typed = typed.trim();
        let number = |low: u32, high: u32| {
            let n = typed.parse().ok().filter(|n| (low..=high).contains(n));
            n.map(InputValue::Number).ok_or_else(|| match high {
                u32::MAX => format!("a whole number, {low} or more"),
                _ => format!("a whole number from {low} to {high}"),
            })
        };
        match &self.field {
            InputField::LinkId(_) => JobId::new(typed).map(InputValue::Id).ok_or_else(|| "an id".to_owned()),
            InputField::TrackId => match parse_ids(typed) {
                ids if ids.is_empty() => Err("one or more ids, separated by spaces".to_owned()),
                ids => Ok(InputValue::Ids(ids)),
            },
            InputField::FilterName if CleanText::line(typed).is_empty() => Err("a name".to_owned()),
            InputField::PromptsFile if typed.is_empty() => Err("a file name".to_owned()),
            InputField::PromptsFile
            | InputField::Title(_)
            | InputField::Tags(_)
            | InputField::Note(_)
            | InputField::FilterName => Ok(InputValue::Text(typed.to_owned())),
            InputField::RowBlock => number(1, u32::MAX),
            InputField::PageSize => number(MIN_PAGE_SIZE, MAX_PAGE_SIZE),
        }
    }

    /// Applies the value. While the value is invalid, only shows why.
    fn confirm(&mut self, cx: &mut Cx<'_>) -> Flow {
        let Ok(value) = self.value() else {
            self.was_refused = true;
            return Flow::Handled;
        };
        let Cx { app, now, effects } = cx;
        match (self.field.clone(), value) {
            // The dialog stays open until the service has responded.
            (InputField::LinkId(prompt), InputValue::Id(id)) => {
                if self.check != InputCheck::Running {
                    self.check = InputCheck::Running;
                    effects.push(Effect::Prompts(PromptsEffect::Resolve(prompt, PromptResolution::Link(id))));
                }
                return Flow::Handled;
            }
            (InputField::TrackId, InputValue::Ids(ids)) => app.track(ids, *now, effects),
            (InputField::PromptsFile, InputValue::Text(file)) => app.read_prompts_from_file(&file, effects),
            (InputField::FilterName, InputValue::Text(name)) => effects.extend(app.save_filter(&name)),
            (InputField::RowBlock, InputValue::Number(page)) => effects.extend(app.views.go_to_page(page)),
            (InputField::PageSize, InputValue::Number(limit)) => effects.extend(app.views.set_page_size(limit)),
            (field, value) => app.apply_title_tags_or_note(field, value, *now, effects),
        }
        Flow::Close
    }
}

impl App {
    pub(super) fn open_input(&mut self, field: InputField, text: &str) {
        self.open(InputDialog::new(field, text));
    }
}

impl Component for InputDialog {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Input, Context::Text, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, _app: &App) -> Option<FooterLabel> {
        Some(if action == Action::Confirm { self.title_help_and_label().2.into() } else { FooterLabel::Default })
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        if action == Action::Confirm { self.confirm(cx) } else { Flow::Unhandled }
    }

    fn input(&mut self) -> Option<&mut TextInput> {
        Some(&mut self.input)
    }

    fn input_changed(&mut self, _cx: &mut Cx<'_>) {
        self.was_refused = false;
        if self.check != InputCheck::Running {
            self.check = InputCheck::NotStarted;
        }
    }

    /// Handles the result of linking a prompt to the job with the typed id.
    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        match msg {
            Msg::Prompts(PromptsMsg::Resolved { prompt, result })
                if self.field == InputField::LinkId(prompt) && self.check == InputCheck::Running =>
            {
                match result {
                    Ok(row) => {
                        cx.app.close_undelivered(prompt);
                        cx.app.put_job(row);
                        return Ok(Flow::Close);
                    }
                    Err(failure) => self.check = InputCheck::Failed(failure.message),
                }
                Ok(Flow::Handled)
            }
            msg => Err(msg),
        }
    }

    fn retain_jobs(&mut self, remaining: &JobsLeftAfterPrune, _keymap: &Keymap) -> bool {
        match &mut self.field {
            InputField::Title(key) | InputField::Note(key) => remaining.contains(*key),
            InputField::Tags(keys) => {
                keys.retain(|key| remaining.contains(*key));
                !keys.is_empty()
            }
            _ => true,
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let g = view.app.geometry();
        let mut area = g.small_dialog(MIN_ROWS);
        if let InputCheck::Failed(why) = &self.check {
            let width = usize::from(area.width.saturating_sub(4)).max(1);
            let lines = wrap(why.as_str(), width, usize::from(MIN_ROWS)).0.len();
            area = g.small_dialog(u16::try_from(lines + 4).unwrap_or(MIN_ROWS).max(MIN_ROWS));
        }
        let title = truncate(&self.title(), box_title_columns(area));
        let inner = draw_box(frame, area, Line::styled(format!(" {title} "), theme.title), theme.focus);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        let field = Rect { height: inner.height.min(1), ..inner };
        frame.render_widget(self.input.area(), field);
        underline_field(frame, view, field);
        cursor::place_cursor_in_input(frame, view, field);
        let message = match (&self.check, self.value()) {
            (InputCheck::Running, _) => Line::styled("Checking with the service…", theme.working),
            (InputCheck::Failed(why), _) => Line::styled(why.as_str(), theme.warning),
            (_, Err(wrong)) if self.was_refused || !self.input.is_blank() => {
                Line::styled(format!("Type {wrong}."), theme.warning)
            }
            (_, Ok(InputValue::Ids(ids))) if ids.len() > 1 => {
                Line::styled(format!("{} ids, one request for each.", format_count(ids.len())), theme.muted)
            }
            _ => Line::styled(self.title_help_and_label().1, theme.muted),
        };
        let below = Rect { y: inner.y + 2, height: inner.height.saturating_sub(2), ..inner };
        frame.render_widget(Paragraph::new(message).wrap(Wrap { trim: true }), below);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(wanted: InputField, text: &str) -> Result<InputValue, String> {
        InputDialog::new(wanted, text).value()
    }

    #[test]
    fn the_error_for_an_invalid_value_describes_a_valid_value() {
        assert_eq!(ask(InputField::PageSize, "251"), Err("a whole number from 1 to 250".to_owned()));
        assert_eq!(ask(InputField::PageSize, "250"), Ok(InputValue::Number(250)));
        assert_eq!(ask(InputField::RowBlock, "0"), Err("a whole number, 1 or more".to_owned()));
        assert!(ask(InputField::TrackId, "  ").is_err());
    }

    /// Returns the screen with this dialog, at the smallest size, as text.
    fn screen_with(dialog: InputDialog) -> String {
        let mut app = crate::tui::finish_alerts::tests::app(Vec::new());
        app.size = crate::tui::geometry::MIN_SCREEN_SIZE;
        app.open(dialog);
        crate::tui::pull_request::tests::screen(&app, crate::tui::jobs::tests::at(0))
    }

    #[test]
    fn a_title_that_is_cut_ends_with_an_ellipsis() {
        let job_title = CleanText::line("Fix the code samples that no longer compile");
        let dialog = InputDialog::new(InputField::Title(JobKey(1)), "").with_job(&job_title);
        let shown = screen_with(dialog);
        assert!(shown.lines().any(|line| line.contains("Rename job: Fix the code") && line.contains('…')), "{shown}");
    }

    #[test]
    fn confirming_an_empty_dialog_shows_what_to_type_until_the_text_changes() {
        for (field, expected) in [
            (InputField::TrackId, "Type one or more ids, separated by"),
            (InputField::FilterName, "Type a name."),
            (InputField::PromptsFile, "Type a file name."),
        ] {
            let mut app = crate::tui::finish_alerts::tests::app(Vec::new());
            app.size = crate::tui::geometry::MIN_SCREEN_SIZE;
            app.open(InputDialog::new(field, ""));
            let screen = |app: &App| crate::tui::pull_request::tests::screen(app, crate::tui::jobs::tests::at(0));
            assert!(!screen(&app).contains("Type "), "{}", screen(&app));
            crate::tui::pull_request::tests::press(&mut app, "Enter");
            assert!(screen(&app).contains(expected), "{}", screen(&app));
            crate::tui::finish_alerts::tests::press(&mut app, ' ');
            assert!(app.find::<InputDialog>().is_some_and(|dialog| !dialog.was_refused));
        }
    }
}
