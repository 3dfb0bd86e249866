//! Passes inputs and messages to the open dialogs and the current screen. Handles the actions that work everywhere,
//! unless a dialog or the screen has handled them.

use super::analytics::AnalyticsTab;
use super::analytics::needs_work_screen::NeedsWorkScreen;
use super::analytics::question_groups_screen::QuestionGroupsScreen;
use super::analytics::screen::ReportScreen;
use super::app::screen_of;
use super::component::{Component, Cx, Flow, TextEntry};
use super::compose::editor::Editor;
use super::help::Help;
use super::jobs::screen::JobsScreen;
use super::keymap::{Action, Context};
use super::log::LogScreen;
use super::views::screen::ViewsScreen;
use super::{App, Effect, Msg, Pane, Screen, Severity};
use crate::model::Time;
use crate::model::analytics::{Feedback, PageFeedback, Question, Search};
use crate::tui::PromptsEffect;
use crate::tui::widgets::scroll::Scroll;

impl App {
    /// Opens a dialog on top of all others.
    pub fn open(&mut self, dialog: impl Component) {
        self.dialogs.push(Box::new(dialog));
    }

    /// Returns the topmost dialog if it has this type.
    pub fn top<T: Component>(&self) -> Option<&T> {
        self.dialogs.last()?.downcast_ref()
    }

    /// Returns the open dialog of this type. If there are several, returns the topmost of them.
    pub fn find<T: Component>(&self) -> Option<&T> {
        self.dialogs.iter().rev().find_map(|dialog| dialog.downcast_ref())
    }

    /// Returns the open dialog of this type. If there are several, returns the topmost of them.
    pub fn find_mut<T: Component>(&mut self) -> Option<&mut T> {
        self.dialogs.iter_mut().rev().find_map(|dialog| dialog.downcast_mut())
    }

    /// Closes the open dialogs of this type for which `should_close` returns true.
    pub(super) fn close_dialogs_if<T: Component>(&mut self, should_close: impl Fn(&T) -> bool) {
        self.dialogs.retain(|dialog| !dialog.downcast_ref().is_some_and(&should_close));
    }

    /// Returns the topmost dialog or, if none is open, the current screen. Returns `None` if the setup screen is shown
    /// and no dialog is open, because that screen consists of a dialog only.
    pub(super) fn top_component(&self) -> Option<&dyn Component> {
        match self.dialogs.last() {
            Some(dialog) => Some(dialog.as_ref()),
            None => self.screen_component(),
        }
    }

    pub(super) fn screen_component(&self) -> Option<&'static dyn Component> {
        match (self.screen, self.pane) {
            (Screen::Jobs, Pane::List) => Some(&JobsScreen(Pane::List)),
            (Screen::Jobs, Pane::Detail) => Some(&JobsScreen(Pane::Detail)),
            (Screen::Analytics, _) => Some(self.analytics_component()),
            (Screen::Log, _) => Some(&LogScreen),
            (Screen::Welcome, _) => None,
        }
    }

    /// Returns the component of the current tab of the analytics screen.
    fn analytics_component(&self) -> &'static dyn Component {
        match (self.analytics.tab, self.analytics.is_feedback_by_page) {
            (AnalyticsTab::Questions, _) if self.analytics.are_questions_grouped() => &QuestionGroupsScreen,
            (AnalyticsTab::Pages, _) => &ViewsScreen,
            (AnalyticsTab::Searches, _) => &ReportScreen::<Search>::NEW,
            (AnalyticsTab::Feedback, false) => &ReportScreen::<Feedback>::NEW,
            (AnalyticsTab::Feedback, true) => &ReportScreen::<PageFeedback>::NEW,
            (AnalyticsTab::Questions, _) => &ReportScreen::<Question>::NEW,
            (AnalyticsTab::NeedsWork, _) => &NeedsWorkScreen,
        }
    }

    /// Returns the index of the topmost modal dialog. What is below it gets no input. `None` if no dialog is modal.
    pub(super) fn topmost_modal_index(&self) -> Option<usize> {
        self.dialogs.iter().rposition(|dialog| dialog.is_modal())
    }

    /// Lets the topmost dialog handle an input. If the dialog doesn't handle it and is not modal, the next dialog gets
    /// the input, and finally the current screen.
    pub(super) fn dispatch(
        &mut self,
        now: Time,
        effects: &mut Vec<Effect>,
        mut handle: impl FnMut(&mut dyn Component, &mut Cx<'_>) -> Flow,
    ) -> Flow {
        let base = self.topmost_modal_index();
        for at in (base.unwrap_or(0)..self.dialogs.len()).rev() {
            let flow = self.dispatch_to(at, now, effects, &mut handle);
            if flow != Flow::Unhandled {
                return flow;
            }
        }
        if base.is_some() { Flow::Unhandled } else { self.dispatch_to_screen(now, effects, handle) }
    }

    /// Passes an input to the topmost modal dialog, or to the current screen if no dialog is modal.
    pub(super) fn dispatch_to_modal_or_screen(
        &mut self,
        now: Time,
        effects: &mut Vec<Effect>,
        handle: impl FnOnce(&mut dyn Component, &mut Cx<'_>) -> Flow,
    ) -> Flow {
        match self.topmost_modal_index() {
            Some(at) => self.dispatch_to(at, now, effects, handle),
            None => self.dispatch_to_screen(now, effects, handle),
        }
    }

    pub(super) fn dispatch_to_screen(
        &mut self,
        now: Time,
        effects: &mut Vec<Effect>,
        handle: impl FnOnce(&mut dyn Component, &mut Cx<'_>) -> Flow,
    ) -> Flow {
        let (screen, pane) = (self.screen, self.pane);
        let mut cx = Cx { app: self, now, effects };
        match screen {
            Screen::Jobs => handle(&mut JobsScreen(pane), &mut cx),
            Screen::Analytics => match (cx.app.analytics.tab, cx.app.analytics.is_feedback_by_page) {
                (AnalyticsTab::Questions, _) if cx.app.analytics.are_questions_grouped() => {
                    handle(&mut QuestionGroupsScreen, &mut cx)
                }
                (AnalyticsTab::Pages, _) => handle(&mut ViewsScreen, &mut cx),
                (AnalyticsTab::Searches, _) => handle(&mut ReportScreen::<Search>::new(), &mut cx),
                (AnalyticsTab::Feedback, false) => handle(&mut ReportScreen::<Feedback>::new(), &mut cx),
                (AnalyticsTab::Feedback, true) => handle(&mut ReportScreen::<PageFeedback>::new(), &mut cx),
                (AnalyticsTab::Questions, _) => handle(&mut ReportScreen::<Question>::new(), &mut cx),
                (AnalyticsTab::NeedsWork, _) => handle(&mut NeedsWorkScreen, &mut cx),
            },
            Screen::Log => handle(&mut LogScreen, &mut cx),
            Screen::Welcome => Flow::Unhandled,
        }
    }

    /// Lets the dialog at an index of the stack handle an input. During that time, the dialog is not on the stack, so
    /// that it can change the app and open other dialogs.
    fn dispatch_to(
        &mut self,
        at: usize,
        now: Time,
        effects: &mut Vec<Effect>,
        handle: impl FnOnce(&mut dyn Component, &mut Cx<'_>) -> Flow,
    ) -> Flow {
        if at >= self.dialogs.len() {
            return Flow::Unhandled;
        }
        let mut dialog = self.dialogs.remove(at);
        let flow = handle(dialog.as_mut(), &mut Cx { app: self, now, effects });
        if flow != Flow::Close {
            self.dialogs.insert(at.min(self.dialogs.len()), dialog);
        }
        self.is_dirty |= flow != Flow::Unhandled;
        flow
    }

    /// Offers a message to the dialogs, from the top down, until one handles it. Returns the message if none does.
    pub(super) fn deliver(&mut self, msg: Msg, now: Time, effects: &mut Vec<Effect>) -> Option<Msg> {
        let mut unhandled = Some(msg);
        for at in (0..self.dialogs.len()).rev() {
            let msg = unhandled.take()?;
            self.dispatch_to(at, now, effects, |dialog, cx| match dialog.receive(msg, cx) {
                Ok(flow) => flow,
                Err(msg) => {
                    unhandled = Some(msg);
                    Flow::Unhandled
                }
            });
        }
        unhandled
    }

    /// Adapts all dialogs to changed data or a changed size of the terminal.
    pub(super) fn refresh_dialogs(&mut self) {
        let mut dialogs = std::mem::take(&mut self.dialogs);
        dialogs.iter_mut().for_each(|dialog| dialog.refresh(self));
        self.dialogs = dialogs;
    }

    /// Runs the action of a shortcut.
    pub(super) fn run_action(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        self.end_notices_about(action);
        if self.dispatch(now, effects, |component, cx| component.handle_action(action, cx)) != Flow::Unhandled {
            return;
        }
        if let Some(by) = Scroll::of_action(action) {
            return self.scroll(by, now, effects);
        }
        if let Some(screen) = screen_of(action) {
            return self.switch_screen(screen, now, effects);
        }
        match action {
            Action::Help => self.open(Help::new(self)),
            Action::Palette => self.open_palette(),
            Action::Profiles => self.open_profiles(now),
            Action::NewProfile => self.open_new_profile(now),
            Action::SaveFilter => self.ask_filter_name(now),
            Action::AllJobs => self.open_all_jobs(now, effects),
            Action::Mouse => self.toggle_mouse(now, effects),
            Action::Redraw => effects.push(Effect::Redraw),
            Action::Suspend => effects.push(Effect::Suspend),
            Action::Close => self.close(now, effects),
            Action::Interrupt if self.has_something_to_close() && !self.is_asking_to_quit() => {
                self.close(now, effects);
            }
            Action::Quit if self.has_dialog_or_detail() => self.close(now, effects),
            Action::Interrupt | Action::Quit => self.quit(effects),
            Action::Edit(edit) => {
                self.enter_text(TextEntry::Edit(edit), now, effects);
            }
            _ => {}
        }
    }

    /// Whether an action of [`Context::Everywhere`] would do something now.
    pub(super) fn offers_global_action(&self, action: Action) -> bool {
        let context = self.top_component().map(Component::context);
        self.is_available_on_screen(action)
            && match action {
                Action::Profiles => self.config.config_path.is_some() || self.config.profiles.len() > 1,
                Action::AllJobs => self.config.profiles.len() > 1,
                Action::NewProfile => self.config.config_path.is_some(),
                Action::SaveFilter => self.can_save_filter(),
                Action::Close => self.has_something_to_close(),
                Action::NextPane => matches!(context, Some(Context::Jobs | Context::Detail)),
                Action::Refresh => matches!(
                    context,
                    Some(
                        Context::Jobs
                            | Context::Detail
                            | Context::AllJobs
                            | Context::PullRequest
                            | Context::Changes
                            | Context::Views
                            | Context::Analytics
                    )
                ),
                _ => true,
            }
    }

    /// Whether an action is available on this screen. The setup screen has no actions that need the dashboard.
    pub(super) fn is_available_on_screen(&self, action: Action) -> bool {
        let needs_dashboard =
            screen_of(action).is_some() || matches!(action, Action::NextPane | Action::Refresh | Action::Profiles);
        self.screen != Screen::Welcome || !needs_dashboard
    }

    /// Whether a dialog is open, or the job details are shown in place of the list.
    pub(super) fn has_dialog_or_detail(&self) -> bool {
        !self.dialogs.is_empty() || (self.pane == Pane::Detail && !self.geometry().shows_both_panes())
    }

    /// Whether Esc has something to close, clear or stop.
    pub(super) fn has_something_to_close(&self) -> bool {
        !self.dialogs.is_empty()
            || self.screen_component().is_some_and(|screen| screen.footer_label(Action::Close, self).is_some())
    }

    /// Goes one step back: in the topmost dialog or, if none is open, on the current screen. If there is nothing to
    /// close, clears the notice.
    pub(super) fn close(&mut self, now: Time, effects: &mut Vec<Effect>) {
        // If no dialog is open, a warning or error that the user has seen is cleared before anything is closed.
        let is_read = self.notice.as_ref().is_some_and(|notice| notice.severity.stays_until_read() && notice.is_seen);
        let is_first = self.dialogs.is_empty() && is_read && self.unrecorded.is_empty();
        if is_first || self.dispatch(now, effects, |component, cx| component.close(cx)) == Flow::Unhandled {
            self.end_notice();
        }
    }

    /// Scrolls the topmost modal dialog or, if no dialog is modal, the current screen.
    fn scroll(&mut self, by: Scroll, now: Time, effects: &mut Vec<Effect>) {
        self.only_moves_selection = true;
        self.dispatch_to_modal_or_screen(now, effects, |component, cx| {
            component.scroll(by, cx);
            Flow::Handled
        });
    }

    pub(super) fn paste(&mut self, text: &str, now: Time, effects: &mut Vec<Effect>) {
        self.is_dirty = true;
        if !self.enter_text(TextEntry::Paste(text), now, effects) && self.screen != Screen::Welcome {
            let new = self.key_label(Context::Jobs, Action::NewJob);
            let text = format!("Nothing to paste into here. {new} opens the editor for a new job.");
            self.notify(Severity::Info, &text, now);
        }
    }

    /// Passes typed text to the dialogs and the screen as `dispatch` does. Returns false if none of them takes text.
    pub(super) fn enter_text(&mut self, entry: TextEntry<'_>, now: Time, effects: &mut Vec<Effect>) -> bool {
        self.dispatch(now, effects, |component, cx| component.enter_text(entry, cx)) != Flow::Unhandled
    }

    /// Closes all dialogs and switches to a screen. If a dialog can't be closed, stays on the current screen. Does
    /// nothing during the setup.
    pub(super) fn switch_screen(&mut self, screen: Screen, now: Time, effects: &mut Vec<Effect>) {
        if self.screen == Screen::Welcome {
            return;
        }
        // `close` goes back one step, and a dialog may need two steps until it is closed. A dialog that is being saved
        // stays open.
        for _ in 0..2 * self.dialogs.len() {
            if !self.dialogs.is_empty() {
                self.close(now, effects);
            }
        }
        if !self.dialogs.is_empty() {
            return;
        }
        self.screen = screen;
        self.pane = Pane::List;
        if screen == Screen::Analytics {
            if !self.views.has_been_shown() && !self.analytics.has_been_shown() {
                // The range was chosen at startup, which may have been on another day.
                self.views.update_for_today(now);
            }
            effects.extend(self.views.load_if_idle());
        }
    }

    /// If an editor was just opened, reads its saved draft. `count_before` is the number of dialogs that were open
    /// before.
    pub(super) fn read_draft_of_new_editor(&mut self, count_before: usize, effects: &mut Vec<Effect>) {
        let opened = self.dialogs.get(count_before).and_then(|dialog| dialog.downcast_ref::<Editor>());
        effects.extend(opened.map(|editor| Effect::Prompts(PromptsEffect::ReadDraft(editor.draft_target))));
    }
}
