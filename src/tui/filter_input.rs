//! The filter of the jobs, of the page views or of the rows of a report, while the user types it. The filter is shown
//! in the title of its list. While the user types, the list can still be scrolled and clicked.

use super::draw::cursor;
use crate::tui::Screen;
use crate::tui::component::prelude::*;
use crate::tui::widgets::text_input::TextInput;

#[derive(Debug)]
pub struct FilterInput {
    pub(super) input: TextInput,
}

impl Component for FilterInput {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Filter, Context::Text, Context::Everywhere]
    }

    fn is_modal(&self) -> bool {
        false
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        FooterLabel::default_if(action != Action::SaveFilter || app.can_save_filter())
    }

    fn handle_action(&mut self, action: Action, _cx: &mut Cx<'_>) -> Flow {
        if action == Action::Confirm { Flow::Close } else { Flow::Unhandled }
    }

    fn click(&mut self, _at: Position, _cx: &mut Cx<'_>) -> Flow {
        Flow::Unhandled
    }

    /// Clears the filter.
    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        cx.app.clear_filter();
        Flow::Close
    }

    fn input(&mut self) -> Option<&mut TextInput> {
        Some(&mut self.input)
    }

    fn input_changed(&mut self, cx: &mut Cx<'_>) {
        cx.app.apply_typed_filter(self.input.text());
    }

    /// Places the cursor in the filter, which is in the title of the list.
    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let (app, g) = (view.app, view.app.geometry());
        let line = match (&app.all_jobs, app.screen) {
            (Some(_), _) => g.upper_rule(),
            (None, Screen::Analytics) => g.upper_rule(),
            (None, _) => g.list_rule(),
        };
        cursor::place_cursor_in_input(frame, view, line);
    }
}

impl App {
    /// Returns the text input of the filter while the filter is being typed.
    pub fn filter_input(&self) -> Option<&TextInput> {
        self.find::<FilterInput>().map(|open| &open.input)
    }

    /// Closes the filter input and keeps the filter, as Enter does.
    pub(super) fn close_filter_input(&mut self) {
        self.dialogs.pop_if(|dialog| dialog.is::<FilterInput>());
    }
}
