//! The dialog with a complete row of a report, such as a question with its answer.

use super::report_row::{ASSISTANT_PART_NAME, DetailPart, READER_PART_NAME};
use crate::model::text::CleanText;
use crate::tui::component::prelude::*;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::rules::DialogFrame;
use crate::tui::format::{format_count, plural};
use crate::tui::geometry::inside_margin;
use crate::tui::views::page_detail::PageDetail;
use crate::tui::widgets::list_state::ListState;
use crate::tui::wrap::wrap;
use ratatui::text::Span;

/// The maximum number of lines of a text.
const MAX_LINES_PER_TEXT: usize = 2_000;
/// The minimum width of the dialog at which each text has its name at its left. In a narrower dialog, the name is above
/// the text.
const MIN_WIDTH_SIDE_BY_SIDE: usize = 60;
/// The width of the column with the names of the texts.
const NAME_CELLS: usize = 22;

/// The content of the dialog: a complete row of a tab.
#[derive(Debug)]
pub(super) struct RowContent {
    pub title: String,
    pub parts: Vec<DetailPart>,
    /// The page that the row is about.
    pub page: Option<CleanText>,
    /// The id of the conversation that can be loaded.
    pub conversation_id: Option<CleanText>,
    /// The index of the row among the shown rows, and their number.
    pub position: (usize, usize),
}

/// The functions with which the dialog reads, changes and uses the selected row of its tab.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowFunctions {
    /// Returns the selected row; `None` if no row is shown.
    pub content: fn(&App) -> Option<RowContent>,
    /// Selects the row that is this many rows below the selected one.
    pub select_relative: fn(&mut App, isize),
    /// Starts a job about the selected row.
    pub start_job: fn(&mut App, Time, &mut Vec<Effect>),
}

/// The dialog with the complete selected row of a tab.
#[derive(Debug)]
pub(super) struct RowDetail {
    functions: RowFunctions,
    content: RowContent,
    /// The wrapped lines, each with a name: the first line of a text has the name of the text, its other lines have an
    /// empty name.
    lines: Vec<(&'static str, String)>,
    list: ListState,
}

impl RowDetail {
    /// Opens the dialog if a row is selected.
    pub(super) fn open(functions: RowFunctions, cx: &mut Cx<'_>) {
        if let Some(content) = (functions.content)(cx.app) {
            cx.open(Self { functions, content, lines: Vec::new(), list: ListState::default() });
        }
    }

    /// Shows the row that is `offset` rows below the shown one, or above it if `offset` is negative.
    fn show_row_at_offset(&mut self, offset: isize, cx: &mut Cx<'_>) {
        (self.functions.select_relative)(cx.app, offset);
        if let Some(content) = (self.functions.content)(cx.app) {
            self.content = content;
            self.list = ListState::default();
            self.refresh(cx.app);
        }
    }

    /// Returns the parts of the row that are not empty. If its conversation was requested, the conversation's messages
    /// replace the question and the answer. Until the messages are loaded, adds the state of the load.
    fn parts_with_conversation(&self, app: &App) -> Vec<DetailPart> {
        let given = || self.content.parts.iter().filter(|(_, text)| !text.is_empty()).cloned().collect();
        let found = self.content.conversation_id.as_ref().and_then(|id| app.analytics.conversations.get(id));
        let Some(conversation) = found else { return given() };
        let mut parts: Vec<DetailPart> = given();
        if let Some(messages) = conversation.shown().filter(|messages| !messages.value.is_empty()) {
            let is_message = |(name, _): &DetailPart| [READER_PART_NAME, ASSISTANT_PART_NAME].contains(name);
            let at = parts.iter().position(is_message).unwrap_or(parts.len());
            parts.retain(|part| !is_message(part));
            let names = |is_by_reader| if is_by_reader { READER_PART_NAME } else { ASSISTANT_PART_NAME };
            let messages = messages.value.iter();
            let messages = messages.map(|message| (names(message.is_by_reader()), message.content.to_string()));
            parts.splice(at..at, messages);
            return parts;
        }
        let state = match conversation.failure() {
            Some(failure) => failure.message.to_string(),
            None if conversation.is_loading() => "loading…".to_owned(),
            None => "No messages in this conversation.".to_owned(),
        };
        parts.push(("Conversation", state));
        parts
    }

    fn wrap_parts(parts: &[DetailPart], width: usize) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        for (name, text) in parts {
            let is_beside = width >= MIN_WIDTH_SIDE_BY_SIDE;
            let space = if is_beside { width.saturating_sub(NAME_CELLS) } else { width };
            if !is_beside {
                lines.push((*name, String::new()));
            }
            let (wrapped, _) = wrap(text, space, MAX_LINES_PER_TEXT);
            let is_block = wrapped.len() > 1;
            if is_block && is_beside && lines.last().is_some_and(|(name, line)| !name.is_empty() || !line.is_empty()) {
                lines.push(("", String::new()));
            }
            let named = |n: usize| if is_beside && n == 0 { *name } else { "" };
            lines.extend(wrapped.into_iter().enumerate().map(|(n, line)| (named(n), line)));
            if is_block || !is_beside {
                lines.push(("", String::new()));
            }
        }
        lines
    }
}

impl Component for RowDetail {
    fn contexts(&self) -> &'static [Context] {
        &[Context::RowDetail, Context::Lists, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        match action {
            Action::LoadAll => {
                let conversation = app.analytics.conversations.get(self.content.conversation_id.as_ref()?);
                let can_load = conversation.is_none_or(|messages| messages.shown().is_none() && !messages.is_loading());
                FooterLabel::default_if(can_load)
            }
            Action::Open => FooterLabel::default_if(self.content.page.is_some()),
            Action::NextRow => FooterLabel::default_if(self.content.position.0 + 1 < self.content.position.1),
            Action::PreviousRow => FooterLabel::default_if(self.content.position.0 > 0),
            _ => Some(FooterLabel::Default),
        }
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match (action, &self.content.conversation_id) {
            (Action::LoadAll, Some(id)) => cx.app.load_conversation(id, cx.now, cx.effects),
            (Action::Open, _) => {
                if let Some(page) = self.content.page.clone() {
                    PageDetail::open(page, cx);
                }
            }
            (Action::NewJob, _) => (self.functions.start_job)(cx.app, cx.now, cx.effects),
            (Action::NextRow, _) => self.show_row_at_offset(1, cx),
            (Action::PreviousRow, _) => self.show_row_at_offset(-1, cx),
            (Action::Copy, _) => {
                let lines = self.parts_with_conversation(cx.app).into_iter();
                let text: Vec<String> = lines.map(|(name, text)| format!("{name}: {text}")).collect();
                cx.run(Effect::copy("the row", text.join("\n")));
            }
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    fn fills_screen(&self) -> bool {
        true
    }

    fn list(&mut self, app: &App) -> Option<(&mut ListState, Rect)> {
        Some((&mut self.list, app.geometry().content))
    }

    fn position_text(&self, app: &App) -> String {
        let (at, len) = self.content.position;
        let hidden = self.list.hidden_below(app.geometry().dialog_rows());
        let more = if hidden > 0 { format!(", {} ↓", plural(hidden, "more line")) } else { String::new() };
        format!("{} of {}{more}", format_count(at + 1), format_count(len))
    }

    fn refresh(&mut self, app: &App) {
        self.lines = Self::wrap_parts(&self.parts_with_conversation(app), app.geometry().dialog_columns());
        self.list.set_len(self.lines.len());
        self.list.keep_selected_visible(app.geometry().dialog_rows().max(1));
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let inner = inside_margin(DialogFrame::new(view, self.content.title.clone()).draw(frame, view, self));
        let is_beside = usize::from(inner.width) >= MIN_WIDTH_SIDE_BY_SIDE;
        let rows = usize::from(inner.height);
        for (n, ((name, text), _)) in self.list.visible(self.lines.iter(), rows).enumerate() {
            let line = match is_beside {
                true => Line::from(vec![
                    Span::styled(format!("{name:NAME_CELLS$}"), theme.muted),
                    Span::styled(text.clone(), theme.text),
                ]),
                false if name.is_empty() => Line::styled(text.clone(), theme.text),
                false => Line::styled(*name, theme.muted),
            };
            draw_line(frame, inner, n, line);
        }
    }
}
