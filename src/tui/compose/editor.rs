//! The prompt editor: one text, the draft that the text belongs to, and whether the text is saved.

use super::about_pages::{are_same_pages, short_page_list, title_of_job_about_pages};
use super::blanks::split_at_template_blank;
use super::draft_state::{DraftState, join_drafts};
use super::picker::{Picker, PickerKind};
use super::status_line::{EditorStatus, draft_state_text};
use crate::model::failure::Failure;
use crate::model::job::{JobKey, JobsLeftAfterPrune};
use crate::model::prompt::{DraftTarget, PromptKind, PromptResolution};
use crate::model::text::CleanText;
use crate::tui::component::prelude::*;
use crate::tui::draw::boxes::{draw_line, draw_text_margin};
use crate::tui::draw::cursor;
use crate::tui::draw::rules::{DialogFrame, draw_separator};
use crate::tui::draw::text::truncate;
use crate::tui::geometry::{JobsArrangement, between_rules, inside_margin};
use crate::tui::keymap::{Edit, Keymap};
use crate::tui::message_fit::fit_message;
use crate::tui::widgets::text_input::TextInput;
use crate::tui::{PromptsEffect, PromptsMsg, Screen};
use unicode_width::UnicodeWidthStr;

/// Maximum number of lines for a message.
const MAX_MESSAGE_LINES: usize = 8;
/// Longer lines are hard to read, so the text is wrapped at this width.
pub(super) const MAX_TEXT_COLUMNS: u16 = 100;
const TEMPLATE_LABEL: &str = "template ";
/// The minimum height of an editor in the lower half of the screen, including its borders.
const MIN_ROWS_BELOW_THREAD: u16 = 5;
/// The minimum number of rows inside the borders of an editor in the lower half, at which a blank row follows the text.
const MIN_ROWS_WITH_GAP: u16 = 8;

#[derive(Debug)]
pub struct Editor {
    pub draft_target: DraftTarget,
    /// The kind of prompt that is sent. An undelivered prompt that the user edits keeps its kind.
    pub kind: PromptKind,
    /// The jobs that a bulk follow-up is sent to; empty for any other prompt. The draft belongs to the first of these
    /// jobs.
    pub targets: Vec<JobKey>,
    /// The pages that a new job is about; empty for any other prompt.
    pub pages: Vec<CleanText>,
    /// The title of the editor, such as `New job` or `Follow-up to …`.
    pub title: CleanText,
    pub input: TextInput,
    /// The initial text, if docdeck wrote it; otherwise empty. Until the user changes this text, the editor is treated
    /// as blank.
    prefilled_text: String,
    /// The text of the inserted template; empty if no template was inserted.
    template_text: String,
    /// The name of the last inserted template.
    template_name: Option<CleanText>,
    /// Whether the text is open in an external editor.
    pub is_in_external_editor: bool,
    /// The reason why the prompt was not delivered, if the user is editing an undelivered prompt.
    pub last_failure: Option<CleanText>,
    pub draft_state: DraftState,
    /// Whether this is a follow-up that was opened from the details. Its editor then starts with one line below the
    /// thread, and grows with its text.
    pub is_inline: bool,
    /// The height of the editor when it was drawn last.
    height: u16,
    /// A message below the text, such as the reason why the prompt was not sent.
    pub message: Option<CleanText>,
    /// Whether the user was warned about an unfilled `{{blank}}` since the text last changed. If so, the next attempt
    /// to send the prompt is not stopped.
    pub is_warned_about_template_blank: bool,
}

impl Editor {
    /// Replaces the content with a draft about `other_pages` that another docdeck process on this computer has saved.
    /// If `is_text_combined` is set, `text` combines that draft with the text of this editor. Returns the notice to
    /// show.
    pub(in crate::tui) fn load_draft_of_other_instance(
        &mut self,
        text: &str,
        other_pages: &[CleanText],
        is_text_combined: bool,
    ) -> String {
        let mut pages = other_pages.to_vec();
        if is_text_combined {
            pages.extend(self.pages.iter().filter(|page| !other_pages.contains(page)).cloned());
        }
        let is_other = !is_text_combined && !are_same_pages(&pages, &self.pages);
        let mut with = Self::new(DraftTarget::AboutPages, title_of_job_about_pages(&pages), text);
        with.pages = pages;
        *self = with;
        let notice =
            format!("Loaded a draft about {} from another docdeck on this computer", short_page_list(other_pages));
        if !is_other {
            return format!("{notice}.");
        }
        format!("{notice}. Send or clear it, then press n on your page again.")
    }

    /// Returns the hint that is shown while the text is empty. For a new job, the hint also explains where the title
    /// comes from.
    pub fn placeholder(&self) -> &'static str {
        match self.kind {
            PromptKind::FollowUp => "What should the agent do next?",
            PromptKind::Create => "What should the agent do? The first line becomes the title.",
        }
    }

    pub fn new(draft_target: DraftTarget, title: CleanText, text: &str) -> Self {
        let is_follow_up = matches!(draft_target, DraftTarget::FollowUp(_));
        Self {
            draft_target,
            kind: if is_follow_up { PromptKind::FollowUp } else { PromptKind::Create },
            targets: Vec::new(),
            pages: Vec::new(),
            title,
            input: TextInput::multi_line(text),
            prefilled_text: String::new(),
            template_text: String::new(),
            template_name: None,
            is_in_external_editor: false,
            last_failure: None,
            draft_state: DraftState::Unchanged,
            is_inline: false,
            height: 0,
            message: None,
            is_warned_about_template_blank: false,
        }
    }

    /// Sets the initial text and moves the cursor to the end of its first line.
    pub fn set_initial_text(&mut self, text: String) {
        self.input = TextInput::multi_line(&text);
        self.input.edit(Edit::TextStart);
        self.input.edit(Edit::LineEnd);
        self.prefilled_text = text;
    }

    /// Whether the text is blank or still the initial text.
    pub fn is_blank_or_initial(&self) -> bool {
        self.input.is_blank()
            || (!self.prefilled_text.is_empty() && self.input.text().trim_end() == self.prefilled_text.trim_end())
    }

    /// Inserts a template on lines of its own and selects its first blank. If the user has typed nothing (the text is
    /// blank or another template, for example), the template replaces the text. The draft is then saved only after the
    /// user has changed the template. Does nothing while the text is open in an external editor.
    pub fn insert_template(&mut self, name: &CleanText, text: &str, now: Time) {
        if self.is_in_external_editor {
            return;
        }
        if self.is_unchanged() {
            self.input.replace(text);
            self.input.edit(Edit::TextStart);
            self.input.select_next_template_blank();
            self.template_text = self.input.text();
            (self.message, self.is_warned_about_template_blank) = (None, false);
        } else {
            self.change(now, |input| input.insert_lines(text));
        }
        self.template_name = Some(name.clone());
    }

    /// Whether the user has not typed anything: the text is blank, the initial text or an unchanged template.
    pub fn is_unchanged(&self) -> bool {
        self.is_blank_or_initial()
            || (!self.template_text.is_empty() && self.input.text().trim_end() == self.template_text.trim_end())
    }

    /// Puts a text that could not be saved as a prompt back into the editor, above the text that the user has typed
    /// since then.
    pub fn restore_text(&mut self, text: String, mut pages: Vec<CleanText>) {
        let typed = if self.is_blank_or_initial() { String::new() } else { self.input.text() };
        if !typed.is_empty() {
            pages.extend(self.pages.iter().filter(|page| !pages.contains(page)).cloned().collect::<Vec<_>>());
        }
        if !pages.is_empty() {
            self.title = title_of_job_about_pages(&pages);
        }
        self.pages = pages;
        self.input.replace(&join_drafts(text, &typed));
    }

    /// Changes the text, unless it is open in an external editor. `change` returns whether the text changed.
    pub fn change(&mut self, now: Time, change: impl FnOnce(&mut TextInput) -> bool) {
        if !self.is_in_external_editor && change(&mut self.input) {
            self.mark_changed(now);
        }
    }

    /// Adds a quotation below the text, and moves the cursor below it.
    pub fn quote(&mut self, quoted: &str, now: Time) {
        self.change(now, |input| {
            input.edit(Edit::TextEnd);
            input.insert_lines(quoted);
            input.edit(Edit::TextEnd);
            input.edit(Edit::Newline);
            input.edit(Edit::Newline)
        });
    }

    /// Adds the numbers from reports about the pages (`snapshots`) below the text, unless the text contains them
    /// already. Moves the cursor to the end of the first line, where a template is inserted.
    pub fn append_evidence(&mut self, snapshots: &str, now: Time) {
        if self.input.text().contains(snapshots) {
            return;
        }
        self.change(now, |input| {
            input.edit(Edit::TextEnd);
            input.edit(Edit::Newline);
            input.insert_lines(snapshots);
            input.edit(Edit::TextStart);
            input.edit(Edit::LineEnd)
        });
    }

    /// Clears the message and schedules saving, after the text has changed.
    pub fn mark_changed(&mut self, now: Time) {
        self.message = None;
        self.is_warned_about_template_blank = false;
        self.draft_state.mark_changed(now);
    }

    /// Submits the text as a prompt. If the text can't be sent, the editor stays open with a message.
    fn send(&mut self, cx: &mut Cx<'_>) -> Flow {
        if let Some(why) = self.refusal_or_warning(cx) {
            self.message = Some(CleanText::line(&why));
            return Flow::Handled;
        }
        let text = self.save_and_take_text(cx);
        let pages = std::mem::take(&mut self.pages);
        let effect = match self.draft_target {
            DraftTarget::FollowUp(job) => Effect::Prompts(PromptsEffect::SubmitFollowUp(job, text)),
            // The prompts of a batch are submitted by another dialog, never by this editor.
            DraftTarget::NewJob | DraftTarget::Batch => Effect::Prompts(PromptsEffect::SubmitNewJob(text)),
            DraftTarget::AboutPages => {
                let snapshots = cx.app.signal_snapshots(&pages);
                Effect::Prompts(PromptsEffect::SubmitJobAbout(text, pages, snapshots))
            }
            DraftTarget::Prompt(prompt) => {
                Effect::Prompts(PromptsEffect::Resolve(prompt, PromptResolution::SendEdited(text)))
            }
        };
        cx.run(effect);
        Flow::Close
    }

    fn refusal_or_warning(&mut self, cx: &Cx<'_>) -> Option<String> {
        if self.is_blank_or_initial() {
            let is_empty = self.input.is_blank();
            let why = if is_empty { "the prompt is empty." } else { "describe what the agent should do." };
            return Some(format!("Nothing to send: {why}"));
        }
        if cx.app.config.read_only {
            let copy = cx.app.key_label(Context::Editor, Action::Copy);
            return Some(format!("Not sent: the data folder can't be written. {copy} copies the text."));
        }
        if self.input.has_template_blank() && !self.is_warned_about_template_blank {
            // This only warns, because the user may want to send the blank, for example in a text about templates.
            self.is_warned_about_template_blank = true;
            let [next, send] =
                [Action::NextBlank, Action::Send].map(|action| cx.app.key_label(Context::Editor, action));
            let text = self.input.text();
            let blank = split_at_template_blank(&text).map_or("A blank", |(_, blank, _)| blank);
            return Some(format!("{blank} is not filled in. Press {next} to go to it, or {send} to send as is."));
        }
        None
    }

    /// Returns the text to send, and removes its draft from memory. First saves the text as a draft on disk, so that
    /// the text survives a crash before the prompt is saved.
    pub(super) fn save_and_take_text(&mut self, cx: &mut Cx<'_>) -> String {
        cx.effects.extend(self.save_draft());
        cx.app.drafts.remove(&self.draft_target);
        self.input.text()
    }

    /// Saves the text as a draft and opens it in the external editor.
    fn open_external_editor(&mut self, cx: &mut Cx<'_>) {
        cx.effects.extend(self.save_draft());
        self.is_in_external_editor = true;
        cx.run(Effect::OpenExternalEditor(self.input.text()));
    }

    /// Applies the text that was saved in the external editor.
    fn apply_external_text(&mut self, result: Result<String, Failure>, now: Time) {
        self.is_in_external_editor = false;
        match result {
            Ok(text) => {
                // Many editors add a line feed at the end of a file. It is removed, unless the old text also ended with
                // a line feed.
                let ends = self.input.text().ends_with('\n');
                let text = if ends { text.as_str() } else { text.trim_end_matches(['\n', '\r']) };
                self.change(now, |input| input.replace(text));
            }
            Err(failure) => {
                self.message = Some(CleanText::line(&format!("{} Your text is unchanged.", failure.message)));
            }
        }
    }

    /// Loads `other`, a draft that another instance has saved, because the next save of this editor would overwrite
    /// that draft. If this instance has a different draft, joins the two, so that neither is lost. Does nothing if the
    /// user has changed the text since the editor was opened, or if this instance's draft contains `other`.
    fn merge_draft(&mut self, other: String, pages: &[CleanText], cx: &mut Cx<'_>) {
        let draft = cx.app.draft(self.draft_target).unwrap_or_default();
        let is_draft_blank = draft.trim().is_empty();
        if self.draft_state != DraftState::Unchanged || other.trim().is_empty() || draft.contains(other.as_str()) {
            return;
        }
        let text = if other.contains(draft) { other } else { join_drafts(other, draft) };
        let message = if self.draft_target == DraftTarget::AboutPages {
            let message = self.load_draft_of_other_instance(&text, pages, !is_draft_blank);
            cx.app.draft_pages.clone_from(&self.pages);
            // An open picker is closed, because its templates are filled in for the editor's previous pages.
            cx.app.close_dialogs_if::<Picker>(|_| true);
            message
        } else {
            self.input = TextInput::multi_line(&text);
            "Loaded a draft from another docdeck on this computer.".to_owned()
        };
        cx.app.drafts.insert(self.draft_target, text);
        cx.notify(Severity::Info, &message);
    }

    /// Describes the key that opens the draft again.
    fn reopen_hint(&self, app: &App) -> String {
        let has_several_targets = self.targets.len() > 1;
        match self.draft_target {
            DraftTarget::NewJob => app.key_label(Context::Jobs, Action::NewJob),
            DraftTarget::AboutPages => app.key_label(Context::Views, Action::NewJob) + " on a page",
            DraftTarget::FollowUp(_) if has_several_targets => {
                app.key_label(Context::Jobs, Action::FollowUp) + " on the first of these jobs"
            }
            DraftTarget::FollowUp(_) => app.key_label(Context::Jobs, Action::FollowUp) + " on this job",
            DraftTarget::Prompt(_) => app.key_label(Context::Jobs, Action::Resolve) + " on its job",
            DraftTarget::Batch => app.key_label(Context::Jobs, Action::Batch),
        }
    }
}

/// The parts of an editor, which drawing and clicking use.
#[derive(Debug)]
struct EditorParts {
    text: Rect,
    /// The lines of the message below the text. Empty if there is none.
    message: Vec<String>,
    /// The number of rows between the text and what is below it.
    gap: u16,
    /// Whether there is space for the status line.
    has_status_line: bool,
}

/// The layouts of an editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EditorLayout {
    FullScreen,
    /// In the lower half of the screen, with the thread above.
    LowerHalf,
    /// Below the thread, as high as its text needs.
    Inline,
}

/// Returns the area of the text inside the borders. In an inline follow-up, the sign `›` is to the left of this area.
fn text_area(inner: Rect, layout: EditorLayout) -> Rect {
    let indent = if layout == EditorLayout::Inline { 3 } else { 2 };
    Rect { x: inner.x + indent, width: inner.width.saturating_sub(indent + 1).min(MAX_TEXT_COLUMNS), ..inner }
}

impl App {
    pub(in crate::tui) fn open_editor(&mut self, draft_target: DraftTarget, title: CleanText, now: Time) {
        let editor = self.new_editor(draft_target, title, now);
        self.open(editor);
    }

    /// Creates an editor for a target. If there is a draft for it, restores the draft and shows a notice.
    pub(in crate::tui) fn new_editor(&mut self, target: DraftTarget, title: CleanText, now: Time) -> Editor {
        let text = self.drafts.get(&target).cloned().unwrap_or_default();
        let mut editor = Editor::new(target, title, &text);
        if !text.trim().is_empty() {
            self.notify(Severity::Info, "Draft restored.", now);
            if target == DraftTarget::AboutPages {
                editor.pages.clone_from(&self.draft_pages);
            }
        }
        editor
    }
}

impl App {
    /// Whether another dialog is behind the editor, rather than the screen.
    pub(in crate::tui) fn has_dialog_under_editor(&self) -> bool {
        let under = self.dialogs.iter().take_while(|dialog| !dialog.is::<Editor>());
        under.into_iter().any(|dialog| dialog.is_modal())
    }
}

impl Component for Editor {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Editor, Context::Text, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, _app: &App) -> Option<FooterLabel> {
        FooterLabel::default_if(match action {
            Action::NextBlank => !self.is_in_external_editor && self.input.has_template_blank(),
            Action::Close if self.is_unchanged() => return Some("close".into()),
            Action::Send | Action::Edit(_) | Action::History | Action::Templates | Action::ExternalEditor => {
                !self.is_in_external_editor
            }
            _ => true,
        })
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Copy => cx.run(Effect::copy("the text", self.input.text())),
            Action::Send | Action::History | Action::Templates | Action::ExternalEditor
                if self.is_in_external_editor => {}
            Action::Send if self.intercept_bulk_follow_up(cx) => {}
            Action::Send => return self.send(cx),
            Action::History => cx.app.open_picker(PickerKind::History, cx.effects),
            Action::Templates => cx.app.open_picker(PickerKind::Templates, cx.effects),
            Action::ExternalEditor => self.open_external_editor(cx),
            Action::NextBlank => {
                self.change(cx.now, |input| !input.select_next_template_blank() && input.edit(Edit::Tab))
            }
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    /// Saves the text as a draft, or deletes the draft if the user has typed nothing, and closes the editor. While an
    /// external editor is open, this editor stays open to receive the text.
    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        if self.is_in_external_editor {
            return Flow::Handled;
        }
        let text = self.input.text();
        if self.is_unchanged() {
            // A draft may have been saved before the text was deleted again.
            let was_saved =
                self.draft_state.is_unsaved() || (self.draft_state != DraftState::Unchanged && !text.trim().is_empty());
            if cx.app.drafts.remove(&self.draft_target).is_some() || was_saved {
                cx.run(Effect::Prompts(PromptsEffect::DeleteDraft(self.draft_target)));
            }
            return Flow::Close;
        }
        cx.effects.extend(self.save_draft());
        cx.app.drafts.insert(self.draft_target, text);
        if self.draft_target == DraftTarget::AboutPages {
            cx.app.draft_pages = std::mem::take(&mut self.pages);
        }
        let again = self.reopen_hint(cx.app);
        cx.notify(Severity::Info, &format!("Draft saved. Press {again} to continue."));
        Flow::Close
    }

    fn input(&mut self) -> Option<&mut TextInput> {
        (!self.is_in_external_editor).then_some(&mut self.input)
    }

    fn input_changed(&mut self, cx: &mut Cx<'_>) {
        self.mark_changed(cx.now);
    }

    fn resized(&mut self) {
        self.input.reset_scroll();
    }

    /// After the height has changed, resets the scroll position, so that as much of the text as possible is visible.
    /// Does nothing while text is selected, such as a template blank, because resetting would clear the selection.
    fn refresh(&mut self, app: &App) {
        let height = self.area(app).height;
        if std::mem::replace(&mut self.height, height) != height && !self.input.has_selection() {
            self.input.reset_scroll();
        }
    }

    fn save_draft(&mut self) -> Option<Effect> {
        let saves = !self.is_in_external_editor && self.draft_state.start_saving();
        saves.then(|| Effect::Prompts(PromptsEffect::save_draft(self.draft_target, self.input.text(), &self.pages)))
    }

    fn retain_jobs(&mut self, remaining: &JobsLeftAfterPrune, keymap: &Keymap) -> bool {
        self.targets.retain(|key| remaining.contains(*key));
        let DraftTarget::FollowUp(key) = self.draft_target else { return true };
        if remaining.contains(key) {
            return true;
        }
        if let Some(first) = self.targets.first() {
            self.draft_target = DraftTarget::FollowUp(*first);
            return true;
        }
        let copy = keymap.key_label(Context::Editor, Action::Copy);
        self.message = Some(CleanText::line(&format!(
            "The job was deleted by `docdeck prune`: nothing can be sent to it. {copy} copies the text."
        )));
        !self.is_blank_or_initial()
    }

    /// Places the cursor.
    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        let text = self.text_area(cx.app);
        self.input.click(text, at);
        Flow::Handled
    }

    fn area(&self, app: &App) -> Rect {
        let g = app.geometry();
        match self.rows_below_thread(app) {
            0 => g.body,
            rows => Rect { y: g.body.bottom().saturating_sub(rows), height: rows, ..g.body },
        }
    }

    fn scroll_with_wheel(&mut self, _at: Position, by: isize, _cx: &mut Cx<'_>) {
        self.input.move_cursor_by_lines(by);
    }

    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        match msg {
            Msg::Prompts(PromptsMsg::DraftSaved { draft_target, result }) if draft_target == self.draft_target => {
                self.draft_state.apply_saved(result)
            }
            Msg::Prompts(PromptsMsg::DraftRead { draft_target, text, pages }) if draft_target == self.draft_target => {
                self.merge_draft(text.unwrap_or_default(), &pages, cx);
            }
            Msg::Prompts(PromptsMsg::EditedExternally(result)) if self.is_in_external_editor => {
                self.apply_external_text(result, cx.now)
            }
            msg => {
                if matches!(msg, Msg::Timer) && self.draft_state.is_due(cx.now) {
                    cx.effects.extend(self.save_draft());
                }
                return Err(msg);
            }
        }
        Ok(Flow::Handled)
    }

    fn next_timer(&self, _app: &App, _now: Time) -> Option<Time> {
        self.draft_state.due_at().filter(|_| !self.is_in_external_editor)
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let layout = self.layout(view.app);
        let title = match layout {
            EditorLayout::Inline => "Follow-up",
            // The title of the job is left out, because the details above the editor show it.
            EditorLayout::LowerHalf if !view.app.geometry().shows_both_panes() => "Follow-up",
            _ => self.title.as_str(),
        };
        let is_alone = !view.app.has_dialog_under_editor();
        let is_below_panes = layout != EditorLayout::FullScreen && is_alone;
        // If the editor covers no other dialog, panes may be visible above the editor. The heavy rule shows that the
        // editor has the focus.
        let mut texts = DialogFrame { is_heavy: is_alone, ..DialogFrame::new(view, title) };
        if layout == EditorLayout::Inline {
            let space = usize::from(self.area(view.app).width.saturating_sub(14));
            let (cost, style) = self.status(view).cost(view, space);
            texts.upper_right = Line::styled(cost, style);
        }
        let inner = texts.draw(frame, view, self);
        let g = view.app.geometry();
        if is_below_panes && g.arrangement == JobsArrangement::SideBySide {
            draw_separator(frame, view, g.divider());
        }
        let EditorParts { text, message, gap, has_status_line } = self.parts(view.app);
        match layout {
            EditorLayout::Inline => draw_line(frame, inner, 0, Line::styled(" ›", theme.muted)),
            EditorLayout::LowerHalf | EditorLayout::FullScreen => draw_text_margin(frame, view, text),
        }
        frame.render_widget(self.input.area(), text);
        cursor::place_cursor_in_input(frame, view, text);
        if self.input.is_blank() && self.input.line_and_char_counts().1 == 0 {
            let hint = self.placeholder();
            let rect = Rect { x: text.x + 1, width: text.width.saturating_sub(1), height: text.height.min(1), ..text };
            // In a narrow terminal, only the question at the start of the hint is shown.
            let question = hint.split_inclusive('?').next().unwrap_or(hint);
            let width = usize::from(rect.width);
            let hint = if hint.width() <= width { hint } else { question };
            frame.render_widget(Line::styled(truncate(hint, width), theme.muted), rect);
        }
        let text_rows = usize::from(text.height);
        let below = inside_margin(inner);
        let style = if self.message.is_none() && self.is_in_external_editor { theme.working } else { theme.warning };
        for (n, line) in message.into_iter().enumerate() {
            draw_line(frame, below, text_rows + usize::from(gap) + n, Line::styled(line, style));
        }
        if has_status_line {
            let line = self.status(view).line(view, usize::from(below.width));
            draw_line(frame, below, usize::from(below.height.saturating_sub(1)), line);
        }
    }
}

impl Editor {
    pub(in crate::tui) fn text_area(&self, app: &App) -> Rect {
        self.parts(app).text
    }

    fn layout(&self, app: &App) -> EditorLayout {
        let selected = app.jobs.selected().map(|job| job.key);
        match self.draft_target {
            // Only the thread of the selected job can be shown above the editor.
            DraftTarget::FollowUp(job)
                if app.screen == Screen::Jobs && selected == Some(job) && self.targets.is_empty() =>
            {
                if self.is_inline {
                    EditorLayout::Inline
                } else {
                    EditorLayout::LowerHalf
                }
            }
            _ => EditorLayout::FullScreen,
        }
    }

    /// Returns the height of the editor, including its borders, if it is below a thread; otherwise 0.
    pub(in crate::tui) fn rows_below_thread(&self, app: &App) -> u16 {
        let body = app.geometry().body;
        let half = (body.height / 2).max(MIN_ROWS_BELOW_THREAD).min(body.height);
        match self.layout(app) {
            EditorLayout::FullScreen => 0,
            EditorLayout::LowerHalf => half,
            EditorLayout::Inline => {
                let width = usize::from(text_area(between_rules(body), EditorLayout::Inline).width);
                let lines = self.input.wrapped_row_count(width, usize::from(half))
                    + self.message_lines(width, MAX_MESSAGE_LINES).len();
                u16::try_from(lines + 2).unwrap_or(half).min(half)
            }
        }
    }

    fn message_lines(&self, width: usize, max: usize) -> Vec<String> {
        self.message_text().map(|text| fit_message(&text, width, max)).unwrap_or_default()
    }

    /// Lays out the parts. A long message takes the place of the status line, but one line of the text and the gap
    /// below the text stay visible.
    fn parts(&self, app: &App) -> EditorParts {
        let layout = self.layout(app);
        let inner = between_rules(self.area(app));
        let gap = match layout {
            EditorLayout::FullScreen => 1,
            EditorLayout::LowerHalf => u16::from(inner.height >= MIN_ROWS_WITH_GAP),
            EditorLayout::Inline => 0,
        };
        let width = usize::from(inner.width.saturating_sub(2)).max(1);
        let space = usize::from(inner.height.saturating_sub(1 + gap)).max(1);
        let message = self.message_lines(width, space.min(MAX_MESSAGE_LINES));
        let has_status_line = layout != EditorLayout::Inline && message.len() < space;
        let below = u16::try_from(message.len()).unwrap_or(inner.height) + gap + u16::from(has_status_line);
        let text = text_area(Rect { height: inner.height.saturating_sub(below), ..inner }, layout);
        EditorParts { text, message, gap, has_status_line }
    }

    /// Returns what is shown below the text, if anything: `message`, or the information that the text is open in an
    /// external editor, or why the prompt was not delivered, or why the draft was not saved.
    fn message_text(&self) -> Option<String> {
        if let Some(message) = &self.message {
            return Some(message.to_string());
        }
        if self.is_in_external_editor {
            return Some("The text is open in your external editor.".to_owned());
        }
        if let Some(reason) = &self.last_failure {
            return Some(format!("Last attempt: {reason}"));
        }
        self.draft_state.failure_text()
    }

    fn status(&self, view: View<'_>) -> EditorStatus {
        let app = view.app;
        let inserted = self.template_name.as_ref().filter(|_| !self.input.is_blank());
        let shows_text = !view.theme.ascii || view.theme.shows_unicode_text;
        let label_and_value = match inserted {
            _ if !shows_text && !self.input.text().is_ascii() => {
                Some(("", ["shown in ASCII, sent as typed".to_owned(), "sent as typed".to_owned()]))
            }
            Some(name) => Some((TEMPLATE_LABEL, [name.to_string(), name.to_string()])),
            // Follow-ups rarely use templates, so the line of a follow-up without a template doesn't mention templates.
            None if self.kind == PromptKind::FollowUp => None,
            None => Some((TEMPLATE_LABEL, ["none".to_owned(), "no template".to_owned()])),
        };
        EditorStatus {
            label_and_value,
            draft: draft_state_text(app, self.draft_target, &self.draft_state),
            quota: self.kind.quota(),
            requests: self.targets.len().max(1),
        }
    }
}
