//! The dialog for new jobs from a list: prompts are typed, pasted or read from a file, reviewed with their cost, and
//! queued in the store. The engine sends them.

use super::draft_state::DraftState;
use super::editor::MAX_TEXT_COLUMNS;
use super::status_line::{EditorStatus, draft_state_text};
use crate::model::batch::parse_prompts;
use crate::model::failure::Failure;
use crate::model::job::Job;
use crate::model::ledger::{Budget, Quota, RATE_LIMIT_WINDOW};
use crate::model::prompt::DraftTarget;
use crate::model::text::CleanText;
use crate::tui::component::prelude::*;
use crate::tui::draw::boxes::{draw_line, draw_text_margin};
use crate::tui::draw::cursor;
use crate::tui::draw::rules::DialogFrame;
use crate::tui::draw::text::{TextRow, align_right, truncate};
use crate::tui::format::{format_count, plural};
use crate::tui::geometry::{Geometry, inside_margin, row_capacity, without_top_rows};
use crate::tui::input_dialog::InputField;
use crate::tui::message_fit::fit_message;
use crate::tui::widgets::list_state::ListState;
use crate::tui::widgets::text_input::TextInput;
use crate::tui::{PromptsEffect, PromptsMsg, StoreState, SubmitError};
use chrono::FixedOffset;

/// The maximum number of characters of a title in the review.
const MAX_BATCH_TITLE_CHARS: usize = 200;
/// Maximum number of lines for a message below the text.
const MAX_MESSAGE_LINES: usize = 3;

#[derive(Debug)]
pub struct BatchDialog {
    /// The text with all prompts, as typed or pasted.
    pub input: TextInput,
    /// Whether the text is saved as a draft.
    pub draft_state: DraftState,
    step: BatchStep,
    /// The number of prompts in the text; 0 if it can't be split into prompts.
    prompt_count: usize,
    /// The path of the last file, as typed, if the file could not be read; otherwise empty.
    unread_file: String,
    /// The reason why the prompts can't be queued, if there is one.
    pub message: Option<CleanText>,
}

#[derive(Debug)]
enum BatchStep {
    Writing,
    /// The prompts are being read from this file.
    Reading(CleanText),
    Preview(Preview),
}

/// The prompts that the user reviews before they are queued.
#[derive(Debug)]
struct Preview {
    /// The file that the prompts were read from; `None` if they were typed.
    file: Option<CleanText>,
    prompts: Vec<String>,
    titles: Vec<CleanText>,
    list: ListState,
}

impl Preview {
    fn new(file: Option<CleanText>, prompts: Vec<String>) -> Self {
        let titles = prompts.iter().map(|prompt| CleanText::title(prompt, MAX_BATCH_TITLE_CHARS)).collect();
        Self { file, list: ListState::new(prompts.len(), 0), prompts, titles }
    }
}

/// Describes when this many new jobs can start: `140 jobs: 63 now, 77 from 14:32 on`. `ahead` is the number of queued
/// prompts that are sent before them. A request becomes available again an hour after it was used.
pub fn schedule_text(jobs: usize, ahead: usize, budget: Budget, now: Time, offset: FixedOffset) -> String {
    let left = usize::try_from(budget.requests_left()).unwrap_or(usize::MAX).saturating_sub(ahead);
    let at_once = jobs.min(left);
    let later = jobs - at_once;
    let all = plural(jobs, "job");
    if later == 0 {
        return match jobs {
            1 => format!("{all}, can start now"),
            2 => format!("{all}, both can start now"),
            _ => format!("{all}, all can start now"),
        };
    }
    // If no request was used in the last hour, the first of these jobs starts now, and its request becomes available
    // again an hour from now.
    let from = budget.resets_at.filter(|at| *at > now).unwrap_or(now + RATE_LIMIT_WINDOW).with_timezone(&offset);
    let first = if at_once == 0 { "none now".to_owned() } else { format!("{} now", format_count(at_once)) };
    let limit_note = if later > usize::try_from(budget.limit).unwrap_or(usize::MAX) {
        format!(", at most {} per hour", budget.limit)
    } else {
        match ahead {
            0 => " (hourly limit)".to_owned(),
            _ => format!(" (hourly limit; {} already queued)", format_count(ahead)),
        }
    };
    let from = match budget.blocked {
        Some(wait) if wait.is_estimate => format!("in {} (an estimate)", wait.time_left_text(now)),
        _ => format!("from {} on", from.format("%H:%M")),
    };
    format!("{all}: {first}, {} {from}{limit_note}", format_count(later))
}

/// Returns the area of the list in the review: below the cost and a gap, above a line for errors.
pub(in crate::tui) fn prompt_list_area(g: Geometry) -> Rect {
    let lines = without_top_rows(g.content, 2);
    Rect { height: lines.height.saturating_sub(1), ..lines }
}

impl BatchDialog {
    /// Saves the text as the draft, or deletes the draft if the text is blank. Returns whether there is a draft
    /// afterwards.
    fn save_or_delete_draft(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.input.is_blank() {
            let was_unsaved = self.draft_state.is_unsaved();
            self.draft_state = DraftState::Unchanged;
            if cx.app.drafts.remove(&DraftTarget::Batch).is_some() || was_unsaved {
                cx.run(Effect::Prompts(PromptsEffect::DeleteDraft(DraftTarget::Batch)));
            }
            return false;
        }
        cx.effects.extend(self.save_draft());
        cx.app.drafts.insert(DraftTarget::Batch, self.input.text());
        true
    }

    /// Goes from the text to the review, or queues the prompts that the user has reviewed. If that is not possible,
    /// shows the reason.
    fn confirm(&mut self, cx: &mut Cx<'_>) -> Flow {
        match &self.step {
            BatchStep::Writing => match parse_prompts(None, &self.input.text()) {
                Ok(prompts) => {
                    self.message = None;
                    self.step = BatchStep::Preview(Preview::new(None, prompts));
                    // Save the text now: when the prompts are queued, the store deletes the draft only if it contains
                    // exactly these prompts.
                    self.save_or_delete_draft(cx);
                }
                Err(error) => self.message = Some(CleanText::line(&error.to_string())),
            },
            BatchStep::Preview(_) if cx.app.config.read_only => {
                self.message = Some(CleanText::line("Not queued: the data folder can't be written."));
            }
            BatchStep::Preview(_) => return self.queue(cx),
            BatchStep::Reading(_) => {}
        }
        Flow::Handled
    }

    /// Queues the prompts. If the prompts come from a file, the typed text is kept as a draft.
    fn queue(&mut self, cx: &mut Cx<'_>) -> Flow {
        self.save_or_delete_draft(cx);
        let BatchStep::Preview(preview) = &mut self.step else { return Flow::Handled };
        let typed_text = match preview.file {
            Some(_) => None,
            None => cx.app.drafts.remove(&DraftTarget::Batch),
        };
        let prompts = std::mem::take(&mut preview.prompts);
        cx.run(Effect::Prompts(PromptsEffect::SubmitBatch { prompts, typed_text: typed_text.unwrap_or_default() }));
        Flow::Close
    }

    fn apply_file(&mut self, path: String, result: Result<Vec<String>, Failure>) {
        self.unread_file.clear();
        match result {
            Ok(prompts) => self.step = BatchStep::Preview(Preview::new(Some(CleanText::line(&path)), prompts)),
            Err(failure) => {
                self.unread_file = path;
                self.step = BatchStep::Writing;
                self.message = Some(failure.message);
            }
        }
    }

    /// Shows why the prompts could not be queued. Their text was restored as a draft.
    pub(super) fn show_failure(&mut self, why: &str, now: Time) {
        self.draft_state.mark_changed(now);
        self.message = Some(CleanText::line(why));
    }
}

impl App {
    pub(in crate::tui) fn open_batch(&mut self, now: Time) {
        if self.store != StoreState::Loaded {
            return;
        }
        let text = self.drafts.get(&DraftTarget::Batch).cloned().unwrap_or_default();
        if !text.trim().is_empty() {
            self.notify(Severity::Info, "Draft restored.", now);
        }
        let input = TextInput::multi_line(&text);
        let prompt_count = count_prompts(&input);
        let draft_state = DraftState::Unchanged;
        let (step, unread_file) = (BatchStep::Writing, String::new());
        self.open(BatchDialog { input, draft_state, step, prompt_count, unread_file, message: None });
    }

    pub(in crate::tui) fn read_prompts_from_file(&mut self, file: &str, effects: &mut Vec<Effect>) {
        if let Some(batch) = self.find_mut::<BatchDialog>() {
            batch.step = BatchStep::Reading(CleanText::line(file));
            batch.message = None;
            effects.push(Effect::Prompts(PromptsEffect::ReadPrompts(file.to_owned())));
        }
    }

    /// Describes when this many new jobs would start.
    fn batch_schedule(&self, jobs: usize, now: Time) -> String {
        if !self.is_budget_known(Quota::Create) {
            return format!("{}; requests left this hour: unknown", plural(jobs, "job"));
        }
        let ahead = self.jobs.count_queued_new_jobs();
        schedule_text(jobs, ahead, self.budget(Quota::Create), now, self.config.offset)
    }

    /// Whether the hourly limit lets this many new jobs start now. Returns false if the number of requests left is
    /// unknown.
    fn can_start_at_once(&self, jobs: usize) -> bool {
        let left = usize::try_from(self.budget(Quota::Create).requests_left()).unwrap_or(usize::MAX);
        self.is_budget_known(Quota::Create) && jobs + self.jobs.count_queued_new_jobs() <= left
    }

    pub(in crate::tui) fn apply_batch_result(
        &mut self,
        result: Result<Vec<Job>, SubmitError>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        self.is_dirty = true;
        match result {
            Ok(rows) => {
                let first = rows.first().map(|row| row.key);
                let jobs = plural(rows.len(), "job");
                let text = format!("{jobs} queued. Sent as the hourly limit allows, while docdeck is running.");
                rows.into_iter().for_each(|row| self.put_job(row));
                if let Some(key) = first {
                    self.jobs.select(key);
                }
                self.notify(Severity::Info, &text, now);
            }
            Err(error) => {
                let why = format!("Not queued: {}", error.failure.message);
                if error.text.is_empty() {
                    self.notify(Severity::Error, &why, now);
                } else {
                    self.restore_draft(DraftTarget::Batch, error.text, Vec::new(), &why, now, effects);
                }
            }
        }
    }
}

impl Component for BatchDialog {
    fn contexts(&self) -> &'static [Context] {
        match self.step {
            BatchStep::Writing => &[Context::BatchText, Context::Text, Context::Everywhere],
            _ => &[Context::Batch, Context::Lists, Context::Everywhere],
        }
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        match (action, &self.step) {
            (Action::Confirm, BatchStep::Reading(_)) => None,
            (Action::Confirm, BatchStep::Preview(preview)) => {
                let jobs = preview.prompts.len();
                let verb = if app.can_start_at_once(jobs) { "start" } else { "queue" };
                Some(FooterLabel::Text(format!("{verb} {}", plural(jobs, "job")).into()))
            }
            (Action::Close, BatchStep::Writing) if self.input.is_blank() => Some("close".into()),
            _ => Some(FooterLabel::Default),
        }
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Confirm => return self.confirm(cx),
            Action::ReadFile => cx.app.open_input(InputField::PromptsFile, &self.unread_file),
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    /// Goes back to the text or, if the text is shown, saves it as a draft and closes the dialog.
    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        if !matches!(self.step, BatchStep::Writing) {
            self.step = BatchStep::Writing;
            return Flow::Handled;
        }
        if self.save_or_delete_draft(cx) {
            let again = cx.app.key_label(Context::Jobs, Action::Batch);
            cx.notify(Severity::Info, &format!("Draft saved. Press {again} to continue."));
        }
        Flow::Close
    }

    fn list(&mut self, app: &App) -> Option<(&mut ListState, Rect)> {
        match &mut self.step {
            BatchStep::Preview(preview) => Some((&mut preview.list, prompt_list_area(app.geometry()))),
            BatchStep::Writing | BatchStep::Reading(_) => None,
        }
    }

    fn input(&mut self) -> Option<&mut TextInput> {
        self.takes_text().then_some(&mut self.input)
    }

    fn input_changed(&mut self, cx: &mut Cx<'_>) {
        self.message = None;
        self.draft_state.mark_changed(cx.now);
        self.prompt_count = count_prompts(&self.input);
    }

    fn resized(&mut self) {
        self.input.reset_scroll();
    }

    fn save_draft(&mut self) -> Option<Effect> {
        self.draft_state
            .start_saving()
            .then(|| Effect::Prompts(PromptsEffect::SaveDraft(DraftTarget::Batch, self.input.text())))
    }

    /// Places the cursor, or selects a prompt. A second click doesn't confirm, because that would queue all prompts.
    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        let (text, _) = self.text_and_message(cx.app);
        if let Some((list, lines)) = self.list(cx.app) {
            list.click(lines, at);
        } else if let Some(input) = self.input() {
            input.click(text, at);
        }
        Flow::Handled
    }

    fn scroll_with_wheel(&mut self, _at: Position, by: isize, cx: &mut Cx<'_>) {
        match self.input() {
            Some(input) => input.move_cursor_by_lines(by),
            None => self.scroll(Scroll::By(by), cx),
        }
    }

    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        match msg {
            Msg::Prompts(PromptsMsg::PromptsRead { file, result }) => {
                if matches!(&self.step, BatchStep::Reading(wanted) if *wanted == CleanText::line(&file)) {
                    self.apply_file(file, result);
                }
            }
            Msg::Prompts(PromptsMsg::DraftSaved { draft_target: DraftTarget::Batch, result }) => {
                self.draft_state.apply_saved(result)
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
        self.draft_state.due_at()
    }

    fn position_text(&self, app: &App) -> String {
        match &self.step {
            BatchStep::Preview(preview) => preview.list.position_text(row_capacity(prompt_list_area(app.geometry()))),
            BatchStep::Writing | BatchStep::Reading(_) => String::new(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        match &self.step {
            BatchStep::Writing | BatchStep::Reading(_) => draw_input(frame, view, self),
            BatchStep::Preview(preview) => draw_preview(frame, view, self, preview),
        }
    }
}

fn count_prompts(input: &TextInput) -> usize {
    parse_prompts(None, &input.text()).map_or(0, |prompts| prompts.len())
}

impl BatchDialog {
    /// Returns the area of the text, and the lines of the message below it.
    fn text_and_message(&self, app: &App) -> (Rect, Vec<String>) {
        let inner = app.geometry().content;
        let width = usize::from(inner.width.saturating_sub(2)).max(1);
        let message = match (&self.step, &self.message) {
            (BatchStep::Reading(file), _) => Some(format!("Reading {file}…")),
            (_, Some(message)) => Some(message.to_string()),
            _ => self.draft_state.failure_text(),
        };
        let message = message.map_or_else(Vec::new, |text| fit_message(&text, width, MAX_MESSAGE_LINES));
        let below = u16::try_from(message.len() + 2).unwrap_or(inner.height);
        let (width, height) = (inner.width.saturating_sub(3), inner.height.saturating_sub(below));
        (Rect { x: inner.x + 2, width: width.min(MAX_TEXT_COLUMNS), height, ..inner }, message)
    }

    fn status(&self, app: &App) -> EditorStatus {
        let prompts = plural(self.prompt_count, "prompt");
        EditorStatus {
            label_and_value: match self.prompt_count {
                0 => None,
                1 => Some(("", [prompts.clone(), prompts])),
                _ => Some(("", [format!("{prompts}, separated by blank lines"), prompts])),
            },
            draft: draft_state_text(app, DraftTarget::Batch, &self.draft_state),
            quota: Quota::Create,
            requests: self.prompt_count,
        }
    }
}

fn draw_input(frame: &mut Frame<'_>, view: View<'_>, batch: &BatchDialog) {
    let theme = view.theme;
    let frame_texts = DialogFrame { is_heavy: true, ..DialogFrame::new(view, "New jobs from a list") };
    let inner = frame_texts.draw(frame, view, batch);
    let (text, message) = batch.text_and_message(view.app);
    draw_text_margin(frame, view, text);
    frame.render_widget(batch.input.area(), text);
    cursor::place_cursor_in_input(frame, view, text);
    if batch.input.is_blank() && batch.input.line_and_char_counts().1 == 0 {
        let rect = Rect { x: text.x + 1, width: text.width.saturating_sub(1), height: text.height.min(1), ..text };
        let hint = truncate("Prompts, separated by blank lines.", usize::from(rect.width));
        frame.render_widget(Line::styled(hint, theme.muted), rect);
    }
    let text_rows = usize::from(text.height);
    let below = inside_margin(inner);
    let style = if matches!(batch.step, BatchStep::Reading(_)) { theme.working } else { theme.warning };
    for (n, line) in message.into_iter().enumerate() {
        draw_line(frame, below, text_rows + 1 + n, Line::styled(line, style));
    }
    let line = batch.status(view.app).line(view, usize::from(below.width));
    draw_line(frame, below, usize::from(below.height.saturating_sub(1)), line);
}

fn draw_preview(frame: &mut Frame<'_>, view: View<'_>, batch: &BatchDialog, preview: &Preview) {
    let View { app, theme, now, .. } = view;
    let prompts = plural(preview.prompts.len(), "prompt");
    let title = match &preview.file {
        Some(file) => format!("Review {prompts} from {file}"),
        None => format!("Review {prompts}"),
    };
    let inner = DialogFrame::new(view, title).draw(frame, view, batch);
    let width = usize::from(inner.width);
    let cost = app.batch_schedule(preview.prompts.len(), now);
    draw_line(frame, inner, 0, Line::styled(truncate(&format!(" {cost}"), width), theme.title));
    let lines = prompt_list_area(app.geometry());
    let rows = usize::from(lines.height).max(1);
    let digits = format_count(preview.titles.len()).len();
    for (n, ((at, title), chosen)) in preview.list.visible(preview.titles.iter().enumerate(), rows).enumerate() {
        let mut row = TextRow::new(width);
        row.push(if chosen { "▌" } else { " " }, theme.mark);
        row.push(align_right(&format_count(at + 1), digits), theme.muted).push("  ", theme.text);
        row.push(title.as_str(), theme.text);
        draw_line(frame, lines, n, row.list_line(chosen, theme));
    }
    if let Some(message) = &batch.message {
        let last = usize::from(inner.height.saturating_sub(1));
        draw_line(frame, inner, last, Line::styled(truncate(&format!(" {message}"), width), theme.warning));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ledger::Wait;

    fn now() -> Time {
        "2026-11-20T14:02:30Z".parse().expect("a time")
    }

    fn schedule(jobs: usize, ahead: usize, used: u32, resets: Option<&str>) -> String {
        let resets_at = resets.map(|at| at.parse().expect("a time"));
        let budget = Budget { used, limit: 100, resets_at, ..Budget::unused(Quota::Create) };
        schedule_text(jobs, ahead, budget, now(), FixedOffset::east_opt(3600).expect("an offset"))
    }

    #[test]
    fn the_schedule_shows_how_many_jobs_start_now_and_when_the_others_start() {
        let reset = Some("2026-11-20T14:32:00Z");
        assert_eq!(schedule(140, 0, 37, reset), "140 jobs: 63 now, 77 from 15:32 on (hourly limit)");
        assert_eq!(schedule(63, 0, 37, reset), "63 jobs, all can start now");
        assert_eq!(schedule(1, 0, 99, reset), "1 job, can start now");
        assert_eq!(schedule(5, 0, 100, reset), "5 jobs: none now, 5 from 15:32 on (hourly limit)");
    }

    #[test]
    fn queued_prompts_are_sent_before_new_jobs() {
        assert_eq!(schedule(10, 95, 0, None), "10 jobs: 5 now, 5 from 16:02 on (hourly limit; 95 already queued)");
        assert_eq!(
            schedule(10, 200, 0, None),
            "10 jobs: none now, 10 from 16:02 on (hourly limit; 200 already queued)"
        );
    }

    #[test]
    fn the_schedule_shows_the_hourly_limit_if_more_jobs_are_waiting() {
        assert_eq!(schedule(350, 0, 0, None), "350 jobs: 100 now, 250 from 16:02 on, at most 100 per hour");
    }

    #[test]
    fn after_a_429_no_job_starts_before_the_wait_is_over() {
        let until = Some("2026-11-20T14:03:30Z".parse().expect("a time"));
        let blocked = until.map(|until| Wait { until, is_estimate: false });
        let budget = Budget { used: 3, limit: 100, resets_at: until, blocked, ..Budget::unused(Quota::Create) };
        let text = schedule_text(2, 0, budget, now(), FixedOffset::east_opt(0).expect("UTC"));
        assert_eq!(text, "2 jobs: none now, 2 from 14:03 on (hourly limit)");
    }
}
