//! The dialog with a complete row of a report, such as a question with its answer.

use super::report_row::{ANSWER, DetailPart, QUESTION};
use crate::model::text::CleanText;
use crate::tui::component::prelude::*;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::rules::DialogFrame;
use crate::tui::format::capitalized;
use crate::tui::geometry::with_margin;
use crate::tui::widgets::list_state::ListState;
use crate::tui::wrap::wrap;
use ratatui::text::Span;

/// The maximum number of lines of a text.
const MAX_LINES: usize = 2_000;
/// From this width on, the names are beside the texts.
const MIN_WIDTH_BESIDE: usize = 60;
/// The width of the names beside the texts.
const NAME_CELLS: usize = 22;

/// The dialog with a complete row.
#[derive(Debug)]
pub(super) struct RowDetail {
    title: String,
    parts: Vec<DetailPart>,
    /// The id of the conversation that can be loaded.
    conversation_id: Option<CleanText>,
    /// Wrapped lines: a name, or nothing, and a part of its text.
    lines: Vec<(&'static str, String)>,
    list: ListState,
}

impl RowDetail {
    pub(super) fn new(kind: &str, parts: Vec<DetailPart>) -> Self {
        let parts = parts.into_iter().filter(|(_, text)| !text.is_empty()).collect();
        Self { title: capitalized(kind), parts, conversation_id: None, lines: Vec::new(), list: ListState::default() }
    }

    /// Lets the user load this conversation.
    pub(super) fn with_conversation(self, id: Option<CleanText>) -> Self {
        Self { conversation_id: id, ..self }
    }

    /// Returns the parts of the row, with the messages of its conversation if they are loaded.
    fn parts_with_conversation(&self, app: &App) -> Vec<DetailPart> {
        let found = self.conversation_id.as_ref().and_then(|id| app.analytics.conversations.get(id));
        let Some(conversation) = found else { return self.parts.clone() };
        let mut parts = self.parts.clone();
        if let Some(messages) = conversation.shown().filter(|messages| !messages.value.is_empty()) {
            parts.retain(|(name, _)| ![QUESTION, ANSWER].contains(name));
            parts.extend(messages.value.iter().map(|message| {
                (if message.is_by_reader() { "Reader" } else { "Assistant" }, message.content.to_string())
            }));
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
            let (is_beside, before) = (width >= MIN_WIDTH_BESIDE, lines.len());
            let space = if is_beside { width.saturating_sub(NAME_CELLS) } else { width };
            if !is_beside {
                lines.push((*name, String::new()));
            }
            let (wrapped, _) = wrap(text, space, MAX_LINES);
            let named = |n: usize| if is_beside && n == 0 { *name } else { "" };
            lines.extend(wrapped.into_iter().enumerate().map(|(n, line)| (named(n), line)));
            if lines.len() > before + 1 {
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

    fn footer_label(&self, action: Action, app: &App) -> Option<Label> {
        match action {
            Action::LoadAll => {
                let conversation = app.analytics.conversations.get(self.conversation_id.as_ref()?);
                let can_load = conversation.is_none_or(|messages| messages.shown().is_none() && !messages.is_loading());
                Label::default_if(can_load)
            }
            _ => Some(Label::Default),
        }
    }

    fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match (action, &self.conversation_id) {
            (Action::LoadAll, Some(id)) => cx.app.load_conversation(id, cx.now, cx.effects),
            (Action::Copy, _) => {
                let lines = self.parts_with_conversation(cx.app).into_iter();
                let text: Vec<String> = lines.map(|(name, text)| format!("{name}: {text}")).collect();
                cx.run(Effect::copy("the row", text.join("\n")));
            }
            _ => return Flow::Pass,
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
        self.list.position_text(app.geometry().dialog_rows())
    }

    fn refresh(&mut self, app: &App) {
        self.lines = Self::wrap_parts(&self.parts_with_conversation(app), app.geometry().dialog_columns());
        self.list.set_len(self.lines.len());
        self.list.keep_selected_visible(app.geometry().dialog_rows().max(1));
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let inner = with_margin(DialogFrame::new(view, self.title.clone()).draw(frame, view, self));
        let is_beside = usize::from(inner.width) >= MIN_WIDTH_BESIDE;
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
