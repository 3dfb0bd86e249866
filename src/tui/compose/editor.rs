//! The prompt editor: one text, the draft that the text belongs to, and whether the text is saved.

use super::drafts::{DraftState, close_key, draft_state_text, join_drafts};
use super::picker::{Picker, PickerKind};
use crate::model::failure::Failure;
use crate::model::ledger::RateLimited;
use crate::model::prompt::{DraftTarget, PromptKind, Resolution};
use crate::model::row::{JobKey, RemainingJobs};
use crate::model::text::CleanText;
use crate::tui::component::prelude::*;
use crate::tui::draw::text::{TextRow, fit};
use crate::tui::draw::{cursor, draw_box, draw_line};
use crate::tui::format::plural;
use crate::tui::geometry::{Geometry, centered, text_area_above};
use crate::tui::keymap::Edit;
use crate::tui::message_fit::fit_message;
use crate::tui::text_input::TextInput;
use crate::tui::views::page_job::{load_other_draft, title_of_job_about};
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

/// Maximum number of lines for a message.
const MESSAGE_LINES: usize = 8;

#[derive(Debug)]
pub struct Editor {
    pub slot: DraftTarget,
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
    initial: String,
    /// The text of the inserted template; empty if no template was inserted.
    template: String,
    /// Whether the text is open in an external editor.
    pub is_in_external_editor: bool,
    /// The reason why the prompt was not delivered, if the user is editing an undelivered prompt.
    pub last_failure: Option<CleanText>,
    pub draft_state: DraftState,
    /// A message below the text, such as the reason why the prompt was not sent.
    pub message: Option<CleanText>,
    /// Whether the user was warned about an unfilled `{{blank}}` since the text last changed. If so, the next attempt
    /// to send the prompt is not stopped.
    pub is_warned: bool,
}

impl Editor {
    /// Returns the hint that is shown while the text is empty. Only a new job takes its title from its prompt.
    pub fn placeholder(&self) -> &'static str {
        match self.kind {
            PromptKind::FollowUp => "What should the agent do next?",
            PromptKind::Create => "What should the agent do? The first line becomes the title.",
        }
    }

    pub fn new(slot: DraftTarget, title: CleanText, text: &str) -> Self {
        let is_follow_up = matches!(slot, DraftTarget::FollowUp(_));
        Self {
            slot,
            kind: if is_follow_up { PromptKind::FollowUp } else { PromptKind::Create },
            targets: Vec::new(),
            pages: Vec::new(),
            title,
            input: TextInput::block(text),
            initial: String::new(),
            template: String::new(),
            is_in_external_editor: false,
            last_failure: None,
            draft_state: DraftState::Unchanged,
            message: None,
            is_warned: false,
        }
    }

    /// Sets the initial text and moves the cursor to the end of its first line.
    pub fn set_initial_text(&mut self, text: String) {
        self.input = TextInput::block(&text);
        self.input.edit(Edit::TextStart);
        self.input.edit(Edit::LineEnd);
        self.initial = text;
    }

    /// Whether the text is blank or still the initial text.
    pub fn is_blank_or_initial(&self) -> bool {
        self.input.is_blank() || (!self.initial.is_empty() && self.input.text().trim_end() == self.initial.trim_end())
    }

    /// Replaces the text with a template and moves the cursor to its start. The template is saved as a draft only once
    /// the user changes it. Does nothing while the text is open in an external editor.
    pub fn insert_template(&mut self, text: &str) {
        if !self.is_in_external_editor {
            self.input.replace(text);
            self.input.edit(Edit::TextStart);
            self.template = self.input.text();
            (self.message, self.is_warned) = (None, false);
        }
    }

    /// Whether the user has not typed anything: the text is blank, the initial text or an unchanged template.
    pub fn is_unchanged(&self) -> bool {
        self.is_blank_or_initial()
            || (!self.template.is_empty() && self.input.text().trim_end() == self.template.trim_end())
    }

    /// Puts a text that could not be saved as a prompt back into the editor, above the text that the user has typed
    /// since then.
    pub fn restore_text(&mut self, text: String, mut pages: Vec<CleanText>) {
        let typed = if self.is_blank_or_initial() { String::new() } else { self.input.text() };
        if !typed.is_empty() {
            pages.extend(self.pages.iter().filter(|page| !pages.contains(page)).cloned().collect::<Vec<_>>());
        }
        if !pages.is_empty() {
            self.title = title_of_job_about(&pages);
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

    /// Clears the message and schedules saving, after the text has changed.
    pub fn mark_changed(&mut self, now: Time) {
        self.message = None;
        self.is_warned = false;
        self.draft_state.mark_changed(now);
    }

    /// Submits the text as a prompt. If the text can't be sent, the editor stays open with a message.
    fn send(&mut self, cx: &mut Cx<'_>) -> Flow {
        if let Some(why) = self.reason_not_to_send(cx) {
            self.message = Some(CleanText::line(&why));
            return Flow::Handled;
        }
        let text = self.take_text(cx);
        let pages = std::mem::take(&mut self.pages);
        cx.run(match self.slot {
            DraftTarget::FollowUp(job) => Effect::SubmitFollowUp(job, text),
            // The prompts of a batch are submitted by another dialog, never by this editor.
            DraftTarget::NewJob | DraftTarget::Batch => Effect::SubmitNewJob(text),
            DraftTarget::AboutPages => Effect::SubmitJobAbout(text, pages),
            DraftTarget::Prompt(prompt) => Effect::Resolve(prompt, Resolution::SendEdited(text)),
        });
        Flow::Close
    }

    fn reason_not_to_send(&mut self, cx: &Cx<'_>) -> Option<String> {
        if self.is_blank_or_initial() {
            let is_empty = self.input.is_blank();
            let why = if is_empty { "the prompt is empty." } else { "describe what the agent should do." };
            return Some(format!("Nothing to send: {why}"));
        }
        if cx.app.config.read_only {
            let copy = cx.app.key_label(Context::Editor, Action::CopyMain);
            return Some(format!("Not sent: the data folder can't be written. {copy} copies the text."));
        }
        if self.input.has_blank() && !self.is_warned {
            // This only warns, because the user may want to send the blank, for example in a text about templates.
            self.is_warned = true;
            let next = cx.app.key_label(Context::Editor, Action::NextBlank);
            return Some(format!("A {{{{blank}}}} is left: {next} goes to it. Send again to keep it."));
        }
        None
    }

    /// Returns the text, which becomes a prompt. Saves it as a draft first, so that it survives a crash before the
    /// prompt is saved.
    pub(super) fn take_text(&mut self, cx: &mut Cx<'_>) -> String {
        cx.effects.extend(self.save_draft());
        cx.app.drafts.remove(&self.slot);
        self.input.text()
    }

    /// Saves the text as a draft and opens it in the external editor.
    fn open_external_editor(&mut self, cx: &mut Cx<'_>) {
        cx.effects.extend(self.save_draft());
        self.is_in_external_editor = true;
        cx.run(Effect::OpenExternalEditor(self.input.text()));
    }

    /// Takes over the text of the external editor, which has exited.
    fn apply_external_text(&mut self, result: Result<String, Failure>, now: Time) {
        self.is_in_external_editor = false;
        match result {
            Ok(text) => {
                // Many editors add a line feed at the end of a file, so it is removed unless the old text ended with
                // one.
                let ends = self.input.text().ends_with('\n');
                let text = if ends { text.as_str() } else { text.trim_end_matches(['\n', '\r']) };
                self.change(now, |input| input.replace(text));
            }
            Err(failure) => {
                self.message = Some(CleanText::line(&format!("{} Your text is unchanged.", failure.message)));
            }
        }
    }

    /// Merges `other`, a draft that another instance has saved, into the text if it is unchanged. Otherwise the next
    /// save would overwrite that draft. If the own draft has a different text, the two texts are joined, so that neither
    /// is lost.
    fn merge_draft(&mut self, other: String, pages: &[CleanText], cx: &mut Cx<'_>) {
        let own = cx.app.draft(self.slot).unwrap_or_default();
        let own_is_blank = own.trim().is_empty();
        if self.draft_state != DraftState::Unchanged || other.trim().is_empty() || own.contains(other.as_str()) {
            return;
        }
        let text = if other.contains(own) { other } else { join_drafts(other, own) };
        let message = if self.slot == DraftTarget::AboutPages {
            let message = load_other_draft(self, &text, pages, !own_is_blank);
            cx.app.draft_pages.clone_from(&self.pages);
            // An open picker is closed, because its templates are filled in for the editor's previous pages.
            cx.app.close_all::<Picker>(|_| true);
            message
        } else {
            self.input = TextInput::block(&text);
            "Loaded a draft from another docdeck on this computer.".to_owned()
        };
        cx.app.drafts.insert(self.slot, text);
        cx.notify(Severity::Info, &message);
    }

    /// Describes the key that opens the draft again.
    fn reopen_hint(&self, app: &App) -> String {
        let has_several_targets = self.targets.len() > 1;
        match self.slot {
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

/// Returns the area of the editor, including its borders.
pub(in crate::tui) fn editor_area(g: Geometry) -> Rect {
    // On a small screen, the editor takes the full height, because the reason why a prompt was not delivered takes some
    // lines.
    centered(g.body, 100, g.body.height.saturating_sub(g.body.height / 5).max(14))
}

/// Returns the area of the text, above a horizontal line and at least two lines of status.
pub(in crate::tui) fn editor_text_area(g: Geometry) -> Rect {
    text_area_above(editor_area(g), 3)
}

impl App {
    pub(in crate::tui) fn open_editor(&mut self, slot: DraftTarget, title: CleanText, now: Time) {
        let editor = self.new_editor(slot, title, now);
        self.open(editor);
    }

    /// Creates an editor with the draft of the slot, and shows a notice if there is one.
    pub(in crate::tui) fn new_editor(&mut self, slot: DraftTarget, title: CleanText, now: Time) -> Editor {
        let text = self.drafts.get(&slot).cloned().unwrap_or_default();
        let mut editor = Editor::new(slot, title, &text);
        if !text.trim().is_empty() {
            self.notify(Severity::Info, "Draft restored.", now);
            if slot == DraftTarget::AboutPages {
                editor.pages.clone_from(&self.draft_pages);
            }
        }
        editor
    }
}

impl Component for Editor {
    fn context(&self) -> Context {
        Context::Editor
    }

    fn offers(&self, action: Action, _app: &App) -> Option<Label> {
        Label::default_if(match action {
            Action::NextBlank => !self.is_in_external_editor && self.input.has_blank(),
            Action::Send | Action::Edit(_) | Action::History | Action::Templates | Action::EditOutside => {
                !self.is_in_external_editor
            }
            _ => true,
        })
    }

    fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::CopyMain => cx.run(Effect::copy("the text", self.input.text())),
            Action::Send | Action::History | Action::Templates | Action::EditOutside if self.is_in_external_editor => {}
            Action::Send if self.confirm_bulk_follow_up(cx) => {}
            Action::Send => return self.send(cx),
            Action::History => cx.app.open_picker(PickerKind::History, cx.effects),
            Action::Templates => cx.app.open_picker(PickerKind::Templates, cx.effects),
            Action::EditOutside => self.open_external_editor(cx),
            Action::NextBlank => self.change(cx.now, |input| input.next_blank() || input.edit(Edit::Tab)),
            _ => return Flow::Pass,
        }
        Flow::Handled
    }

    /// Saves the text as a draft. The editor stays open while an external editor is open, because that one returns the
    /// text to it on exit.
    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        if self.is_in_external_editor {
            return Flow::Handled;
        }
        let text = self.input.text();
        if self.is_unchanged() {
            // A draft may have been saved before the text was deleted again.
            let was_saved =
                self.draft_state.is_unsaved() || (self.draft_state != DraftState::Unchanged && !text.trim().is_empty());
            if cx.app.drafts.remove(&self.slot).is_some() || was_saved {
                cx.run(Effect::DeleteDraft(self.slot));
            }
            return Flow::Close;
        }
        cx.effects.extend(self.save_draft());
        cx.app.drafts.insert(self.slot, text);
        if self.slot == DraftTarget::AboutPages {
            cx.app.draft_pages = std::mem::take(&mut self.pages);
        }
        let again = self.reopen_hint(cx.app);
        cx.notify(Severity::Info, &format!("Draft saved; {again} opens it again."));
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

    fn save_draft(&mut self) -> Option<Effect> {
        let saves = !self.is_in_external_editor && self.draft_state.start_saving();
        saves.then(|| Effect::save_draft(self.slot, self.input.text(), &self.pages))
    }

    fn retain_jobs(&mut self, remaining: &RemainingJobs) -> bool {
        self.targets.retain(|key| remaining.contains(*key));
        let DraftTarget::FollowUp(key) = self.slot else { return true };
        if remaining.contains(key) {
            return true;
        }
        if let Some(first) = self.targets.first() {
            self.slot = DraftTarget::FollowUp(*first);
            return true;
        }
        self.message = Some(CleanText::line(
            "The job was deleted by `docdeck prune`: nothing can be sent to it. Ctrl-Y copies the text.",
        ));
        !self.is_blank_or_initial()
    }

    /// Places the cursor.
    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        self.input.click(editor_text_area(cx.app.geometry()), at);
        Flow::Handled
    }

    fn area(&self, app: &App) -> Rect {
        editor_area(app.geometry())
    }

    fn wheel(&mut self, _at: Position, by: isize, _cx: &mut Cx<'_>) {
        self.input.move_lines(by);
    }

    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        match msg {
            Msg::DraftSaved { slot, result } if slot == self.slot => self.draft_state.apply_saved(result),
            Msg::DraftRead { slot, text, pages } if slot == self.slot => {
                self.merge_draft(text.unwrap_or_default(), &pages, cx);
            }
            Msg::EditedExternally(result) if self.is_in_external_editor => self.apply_external_text(result, cx.now),
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
        let area = editor_area(view.app.geometry());
        let title = fit(self.title.as_str(), usize::from(area.width.saturating_sub(4)));
        let inner = draw_box(frame, area, Line::styled(format!(" {title} "), theme.title), theme.focus);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        let (message, style) = editor_message(view, self);
        let width = usize::from(inner.width).max(1);
        // A failure message may use the line with the size of the text, but one line of the text and the rule stay visible.
        let space = usize::from(inner.height).saturating_sub(2).max(1);
        let message = fit_message(&message, width, space.min(MESSAGE_LINES));
        let below = u16::try_from(message.len() + if message.len() < space { 2 } else { 1 }).unwrap_or(inner.height);
        let text = Rect { height: inner.height.saturating_sub(below), ..inner };
        frame.render_widget(self.input.area(), text);
        cursor::place_in_input(frame, view, text);
        if self.input.is_blank() && self.input.size().1 == 0 {
            let hint = self.placeholder();
            let spot = Rect { x: text.x + 1, width: text.width.saturating_sub(1), height: text.height.min(1), ..text };
            // In a narrow terminal, only the question at the start of the hint is shown.
            let question = hint.split_inclusive('?').next().unwrap_or(hint);
            let hint = if hint.width() < width { hint } else { question };
            frame.render_widget(Line::styled(fit(hint, width - 1), theme.muted), spot);
        }
        let rule = usize::from(text.height);
        draw_line(frame, inner, rule, Line::styled("─".repeat(width), theme.border));
        if message.len() < space {
            draw_line(frame, inner, usize::from(inner.height.saturating_sub(1)), size_line(view, self, width));
        }
        for (n, line) in message.into_iter().enumerate() {
            draw_line(frame, inner, rule + 1 + n, Line::styled(line, style));
        }
    }
}

/// Returns the text below the editor and its style: a message, why the prompt was not delivered, or the state of the
/// draft.
fn editor_message(view: View<'_>, editor: &Editor) -> (String, Style) {
    let theme = view.theme;
    if let Some(message) = &editor.message {
        return (message.to_string(), theme.warning);
    }
    if editor.is_in_external_editor {
        return ("open in your editor".to_owned(), theme.working);
    }
    if let Some(reason) = &editor.last_failure {
        return (format!("Last attempt: {reason}"), theme.warning);
    }
    if editor.draft_state == DraftState::Unchanged && editor.is_unchanged() && !editor.input.is_blank() {
        return (format!("Nothing to save; {} closes", close_key(view)), theme.muted);
    }
    draft_state_text(view, &editor.draft_state)
}

fn size_line<'a>(view: View<'_>, editor: &Editor, width: usize) -> Line<'a> {
    let theme = view.theme;
    let (lines, characters) = editor.input.size();
    let line_count = plural(lines, "line");
    let both = format!("{line_count}, {}", plural(characters, "character"));
    let mut row = TextRow::new(width);
    let limited = match editor.kind {
        PromptKind::FollowUp => RateLimited::FollowUp,
        PromptKind::Create => RateLimited::Create,
    };
    if view.app.has_budget(limited) {
        let budget = view.app.budget(limited);
        let short = format!("{} {} left", budget.requests_left(), limited.label());
        let long = format!("{short} this hour");
        let size = [both, line_count];
        let fits = |size: &str, left: &str| size.width() + 2 + left.width() <= width;
        // In a narrow terminal, the number of requests left matters more than the number of characters.
        let size = if fits(&size[0], &long) { &size[0] } else { &size[1] };
        let left = if fits(size, &long) { long } else { short };
        row.push(size, theme.muted);
        row.pad_to(width.saturating_sub(left.width()).max(width - row.remaining() + 2));
        row.push(left, if budget.requests_left() == 0 { theme.warning } else { theme.muted });
    } else {
        row.push(both, theme.muted);
    }
    row.line()
}
