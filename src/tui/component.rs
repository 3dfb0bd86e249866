//! The trait of every screen and dialog: its shortcuts and their actions, its clicks, and its drawing. A dialog is one
//! file (or folder) that implements [`Component`]. Only the code that opens a dialog depends on it, apart from features
//! that treat some dialogs differently, such as tips.
//!
//! A key press goes to the topmost dialog. If a dialog doesn't handle the key, the component below gets it, unless the
//! dialog is modal. A key that no component handles goes to the app.

use super::keymap::{Action, Context, Edit, Keymap};
use super::{App, Effect, Msg, Severity};
use crate::model::Time;
use crate::model::job::JobsLeftAfterPrune;
use crate::tui::view::View;
use crate::tui::widgets::list_state::{ClickedRow, ListState};
use crate::tui::widgets::scroll::Scroll;
use crate::tui::widgets::text_input::TextInput;
use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;

/// What a dialog has done with an input, and whether the dialog stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The dialog stays open.
    Handled,
    /// The dialog stays open. If it is not modal, the component below gets the input.
    Unhandled,
    /// The dialog is closed.
    Close,
}

/// The imports that most dialogs need.
pub mod prelude {
    pub use super::{Component, Cx, Flow, FooterLabel};
    pub use crate::model::Time;
    pub use crate::tui::keymap::{Action, Context};
    pub use crate::tui::view::View;
    pub use crate::tui::widgets::scroll::Scroll;
    pub use crate::tui::{App, Effect, Msg, Severity};
    pub use ratatui::Frame;
    pub use ratatui::layout::{Position, Rect};
    pub use ratatui::text::Line;
}

/// Typed or pasted text, or a command that edits text.
#[derive(Debug, Clone, Copy)]
pub enum TextEntry<'a> {
    Key(KeyEvent),
    Paste(&'a str),
    Edit(Edit),
}

impl TextEntry<'_> {
    /// Applies the entry to a text input. Returns whether the text has changed.
    pub(super) fn apply(self, input: &mut TextInput) -> bool {
        match self {
            Self::Key(key) => input.type_key(key),
            Self::Paste(text) => input.paste(text),
            Self::Edit(edit) => input.edit(edit),
        }
    }
}

/// The label of a shortcut in the footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FooterLabel {
    /// The label in the table of key bindings.
    Default,
    Text(Cow<'static, str>),
}

impl FooterLabel {
    /// Returns the default label if `is_offered`.
    pub fn default_if(is_offered: bool) -> Option<Self> {
        is_offered.then_some(Self::Default)
    }
}

impl From<&'static str> for FooterLabel {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}

/// What a component can use while it handles an input. A dialog is not on the app's stack of dialogs during that time.
#[derive(Debug)]
pub struct Cx<'a> {
    pub app: &'a mut App,
    pub now: Time,
    pub effects: &'a mut Vec<Effect>,
}

impl Cx<'_> {
    pub fn notify(&mut self, severity: Severity, text: &str) {
        self.app.notify(severity, text, self.now);
    }

    pub fn run(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Opens a dialog on top of all others.
    pub fn open(&mut self, dialog: impl Component) {
        self.app.open(dialog);
    }
}

/// A screen or a dialog.
pub trait Component: Any + Debug + Send {
    /// Returns the contexts whose shortcuts apply while the component is on top, the most specific first. The first is
    /// the component's own.
    fn contexts(&self) -> &'static [Context];

    /// Returns the first of [`Self::contexts`].
    fn context(&self) -> Context {
        self.contexts().first().copied().unwrap_or(Context::Everywhere)
    }

    /// Whether the dialog keeps all input from the components below it. If not, input that the dialog doesn't handle
    /// goes to the component below, as with the filter input. [`Self::fills_screen`] decides what is visible.
    fn is_modal(&self) -> bool {
        true
    }

    /// Whether nothing of the components below is visible, so that they need not be drawn.
    fn fills_screen(&self) -> bool {
        false
    }

    /// Whether typed characters go to the text input rather than to shortcuts.
    fn takes_text(&self) -> bool {
        self.context().takes_text()
    }

    /// Returns the label of an action in the footer. `None` if the action would do nothing now.
    fn footer_label(&self, _action: Action, _app: &App) -> Option<FooterLabel> {
        Some(FooterLabel::Default)
    }

    /// Returns what an action does in this component, for the help. `None` if the text of its key binding applies.
    fn help_text(&self, _action: Action) -> Option<&'static str> {
        None
    }

    /// Whether the component shows the key of an action itself, so that the footer leaves it out.
    fn shows_key(&self, _action: Action) -> bool {
        false
    }

    fn handle_action(&mut self, _action: Action, _cx: &mut Cx<'_>) -> Flow {
        Flow::Unhandled
    }

    /// Handles a key that is not bound to an action.
    fn handle_unbound_key(&mut self) -> Flow {
        Flow::Unhandled
    }

    /// Goes one step back. Called, for example, when the user presses Esc or switches to another screen.
    fn close(&mut self, _cx: &mut Cx<'_>) -> Flow {
        Flow::Close
    }

    /// Returns the list of the dialog and the area of its rows. A dialog that returns its list needs no further code
    /// for scrolling and clicking: a click selects a row, and a click on the selected row confirms.
    fn list(&mut self, _app: &App) -> Option<(&mut ListState, Rect)> {
        None
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        if let Some((list, rows)) = self.list(cx.app) {
            list.scroll(by, usize::from(rows.height).max(1));
        }
    }

    /// Returns the text input that typed and pasted text goes to. `None` if text can't be typed now.
    fn input(&mut self) -> Option<&mut TextInput> {
        None
    }

    /// Handles typed or pasted text, or a command that edits text.
    fn enter_text(&mut self, entry: TextEntry<'_>, cx: &mut Cx<'_>) -> Flow {
        let Some(input) = self.input() else {
            return if self.takes_text() { Flow::Handled } else { Flow::Unhandled };
        };
        if entry.apply(input) {
            self.input_changed(cx);
        }
        Flow::Handled
    }

    /// Called after the text of [`Self::input`] has changed.
    fn input_changed(&mut self, _cx: &mut Cx<'_>) {}

    /// Called after the size of the dialog has changed. Scrolls the text input toward its start, as far as possible
    /// without hiding the cursor.
    fn resized(&mut self) {
        if let Some(input) = self.input() {
            input.reset_scroll();
        }
    }

    /// Returns the effect that saves the typed text as a draft. `None` if the dialog has no draft, or if its draft is
    /// already saved.
    fn save_draft(&mut self) -> Option<Effect> {
        None
    }

    /// Handles a click outside of the footer, at any position of the screen.
    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        match self.list(cx.app).and_then(|(list, rows)| list.click(rows, at)) {
            Some(ClickedRow::AlreadySelected) => self.handle_action(Action::Confirm, cx),
            _ => Flow::Handled,
        }
    }

    /// Returns the area of the dialog with its rules or borders.
    fn area(&self, app: &App) -> Rect {
        app.geometry().body
    }

    /// Returns the text at the right of the lower rule: the position in the list, and how many rows follow.
    fn position_text(&self, _app: &App) -> String {
        String::new()
    }

    /// Handles the mouse wheel at a position in [`Self::area`].
    fn scroll_with_wheel(&mut self, _at: Position, by: isize, cx: &mut Cx<'_>) {
        self.scroll(Scroll::By(by), cx);
    }

    /// Handles a message that is meant for this dialog.
    ///
    /// # Errors
    /// Returns the message if another component has to handle it.
    #[expect(clippy::result_large_err, reason = "a message is handed back to at most a few dialogs")]
    fn receive(&mut self, msg: Msg, _cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        Err(msg)
    }

    /// Removes jobs that no longer exist from the dialog. Returns whether the dialog stays open. `keymap` is for
    /// messages that name a key.
    fn retain_jobs(&mut self, _remaining: &JobsLeftAfterPrune, _keymap: &Keymap) -> bool {
        true
    }

    /// Adapts the dialog to changed data or a changed size of the terminal. Called after each message.
    fn refresh(&mut self, app: &App) {
        if let Some((list, rows)) = self.list(app) {
            list.keep_selected_visible(usize::from(rows.height).max(1));
        }
    }

    /// Returns the time at which the component has to be drawn again, even if no message arrives before.
    fn next_timer(&self, _app: &App, _now: Time) -> Option<Time> {
        None
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>);
}

impl dyn Component {
    /// Whether the component is of this type.
    pub fn is<T: Component>(&self) -> bool {
        self.downcast_ref::<T>().is_some()
    }

    pub fn downcast_ref<T: Component>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    pub fn downcast_mut<T: Component>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }
}
